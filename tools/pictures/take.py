# SPDX-License-Identifier: MIT
"""Takes the pictures of docs/pictures in a real browser without a network,
does Perfetto's part of the tasks of docs/side-by-side.md, and measures the
pages for it.

usage: take.py FOLDER SPEEDSCOPE [OUT]

FOLDER: the output of tools/pictures/make; SPEEDSCOPE: the application's folder
`release'; OUT: the folder of the pictures; without it pages are measured, and
the table of docs/side-by-side.md is printed.
"""

import base64
import io
import json
import statistics
import sys
import time
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "interop"))
import chromium
import perfetto

WIDTH = 1280
LOADS = 9
# WebGL without a graphics card, and local scripts that load the profile:
# speedscope needs both.
FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--allow-file-access-from-files", *perfetto.FLAGS]

# The height of a window that shows a view without scrolling.
TALL = 1300
# Name, recording, address, and the selected scope.
VIEWS = [
    ("timeline", "boxes", "view=timeline&critical=1", ""),
    ("icicle", "boxes", "view=icicle", ""),
    ("tree", "boxes", "view=tree", ""),
    ("bottom-up", "boxes", "view=bottomup", ""),
    ("sandwich", "boxes", "view=sandwich", "tiles"),
    ("functions", "boxes", "view=functions", "fetch"),
    ("tiles", "boxes", "view=tiles", ""),
    ("runs", "boxes", "view=runs", ""),
    ("why", "boxes", "view=why", ""),
    ("ranks", "ranks", "view=parts", ""),
    ("recording", "redacted", "view=facts", ""),
    ("dark", "boxes", "view=tiles&theme=dark", ""),
    ("dark-timeline", "boxes", "view=timeline&critical=1&theme=dark", ""),
    ("dark-icicle", "boxes", "view=icicle&theme=dark", ""),
    ("dark-functions", "boxes", "view=functions&theme=dark", "fetch"),
    ("changes", "changes", "view=diff", ""),
    ("side-radio", "program", "view=timeline", ""),
]


def save(png, path):
    """Saves losslessly, apart from invisible steps of colours: for text this
    is sharper, and smaller, than webp's mode for photographs.  The steps are
    as large as the size that tests/api/test-links.sh allows needs."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    for step in (5, 7, 9):
        image.point(lambda value: (value + step // 2) // step * step).save(
            path, lossless=True, quality=100, method=6)
        if path.stat().st_size <= 60000:
            break
    print(f"{path.name}: {image.width} x {image.height}, "
          f"{path.stat().st_size / 1000:.1f} kB", file=sys.stderr)


def shoot(page, path, height):
    page.wait_drawn()
    data = page.call("Page.captureScreenshot", captureBeyondViewport=True,
                     clip={"x": 0, "y": 0, "width": WIDTH, "height": height,
                           "scale": 1})["data"]
    save(base64.b64decode(data), path)


def select(page, name):
    """Selects the scope of that name with the largest time."""
    page.evaluate(f"""(() => {{
      const {{ profile, state }} = window.radio;
      const named = Array.from(profile.total.keys()).filter(
        (node) => profile.names[node] === {json.dumps(name)});
      named.sort((a, b) => profile.total[b] - profile.total[a]);
      state.set({{ node: named[0] }});
    }})()""")


# The bottom of the contents, within limits; longer contents are cut between
# two lines, not through one.
END = """(() => {
  const bottom = (one) => one.getBoundingClientRect().bottom;
  let end = Math.min(1050, 16 + Math.max(820,
    bottom(document.querySelector('main .views'))));
  for (let tries = 0; tries < 8; tries++)
    for (const one of document.querySelectorAll(
        'main :is(dt, dd, tr, h2, h3, p, button, svg)')) {
      const { top, bottom, width } = one.getBoundingClientRect();
      if (width > 0 && top < end - 2 && bottom > end + 2
          && bottom - top < 80)
        end = Math.floor(top);
    }
  return end;
})()"""


def take_views(browser, folder, out):
    for name, recording, address, scope in VIEWS:
        page = browser.open(folder / f"{recording}.html",
                            fragment="#" + address, width=WIDTH, height=TALL)
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        page.wait("window.radio")
        if scope:
            select(page, scope)
        page.wait_drawn()
        shoot(page, out / f"{name}.webp", page.evaluate(END))
        assert page.console_errors() == [], page.console_errors()
        page.close()


def open_speedscope(browser, release, profile, folder):
    """Loads a file in speedscope's own way for local files."""
    script = folder / "speedscope-profile.js"
    data = base64.b64encode(profile.read_bytes()).decode()
    script.write_text(f"speedscope.loadFileFromBase64("
                      f"{json.dumps(profile.name)}, {json.dumps(data)});")
    return browser.open(release / "index.html",
                        fragment=f"#localProfilePath={script}",
                        width=WIDTH, height=800)


# How each page is opened, what is true when it is ready, and what it then
# waits for.
def openers(browser, folder, release, address):
    profile = folder / "program.speedscope.json"
    return {
        "pyinstrument": (lambda: browser.open(
            folder / "pyinstrument.html", width=WIDTH, height=800),
                         "document.querySelector('.frame')", "0"),
        "speedscope": (lambda: open_speedscope(browser, release, profile,
                                               folder),
                       "document.querySelectorAll('canvas').length > 1", "0"),
        "Perfetto": (lambda: perfetto.open_trace(browser, address, "program",
                                                 WIDTH),
                     perfetto.READY, perfetto.IDLE % 0),
        "radio": (lambda: browser.open(folder / "program.html", width=WIDTH,
                                       height=800),
                  "window.radio && document.querySelector('canvas')", "0"),
    }


# Milliseconds from the navigation until the page is drawn.
DRAWN = """new Promise((done) => {
  const look = () => !(%s) ? setTimeout(look, 1)
    : Promise.resolve(%s).then(() => requestAnimationFrame(
        () => requestAnimationFrame(() => done(performance.now()))));
  look();
})"""


def open_drawn(opener):
    """Returns the page, and the milliseconds until it was drawn."""
    open_page, *conditions = opener
    page = open_page()
    return page, page.evaluate(DRAWN % tuple(conditions))


def asked(page):
    """Returns the hosts that the page requests over a network."""
    hosts = {url.split("/")[2] for url in page.requests()
             if url.startswith("http")}
    return sorted(host for host in hosts if not host.startswith("127."))


def kilobytes(nbytes):
    return f"{nbytes / 1000:,.0f} kB"


def viewer_of(folder):
    size = sum(path.stat().st_size for path in folder.rglob("*")
               if path.is_file())
    return f"a folder, {kilobytes(size)}"


def measure(openers, folder, release):
    times = {name: [] for name in openers}
    hosts = {}
    for _ in range(LOADS):
        for name, opener in openers.items():
            page, ms = open_drawn(opener)
            times[name].append(ms)
            hosts[name] = asked(page)
            page.close()
    files = {"pyinstrument": "pyinstrument.html",
             "speedscope": "program.speedscope.json",
             "Perfetto": "program.trace.json", "radio": "program.html"}
    viewers = {"speedscope": viewer_of(release),
               "Perfetto": viewer_of(perfetto.application())}
    rows = [
        ["", *files],
        ["---"] + ["---:"] * len(files),
        ["the recording, as opened",
         *(kilobytes((folder / path).stat().st_size)
           for path in files.values())],
        ["the viewer",
         *(viewers.get(name, "in the file") for name in files)],
        ["hosts that it requests",
         *(", ".join(hosts[name]) or "none" for name in files)],
        [f"time to draw ({LOADS} times, in turn)",
         *(f"{statistics.median(times[name]):.0f} ms "
           f"({min(times[name]):.0f} to {max(times[name]):.0f})"
           for name in files)],
    ]
    for row in rows:
        print("|", " | ".join(row), "|")


def press_speedscope(page, key):
    for kind in ("keydown", "keypress"):
        page.evaluate(f"""window.dispatchEvent(new KeyboardEvent({kind!r},
          {{ key: {key!r}, bubbles: true }}))""")


def take_others(openers, out):
    page, _ = open_drawn(openers["pyinstrument"])
    shoot(page, out / "side-pyinstrument.webp", 640)
    page.close()
    page, _ = open_drawn(openers["speedscope"])
    for key, name in (("1", "time-order"), ("2", "left-heavy")):
        press_speedscope(page, key)
        time.sleep(0.5)         # it does not report when it has drawn
        shoot(page, out / f"side-speedscope-{name}.webp", 260)
    page.close()
    page, _ = open_drawn(openers["Perfetto"])
    perfetto.show_flame_graph(page)
    shoot(page, out / "side-perfetto.webp", 700)
    page.close()


def do_perfettos_tasks(browser, address, trace):
    print(f"Perfetto {perfetto.version()}, steps and what they show:",
          file=sys.stderr)
    page = perfetto.open_trace(browser, address, trace.name.split(".")[0],
                               WIDTH)
    page.wait(perfetto.READY)
    perfetto.do_tasks(page, trace)
    page.close()


def main():
    folder, release, *out = (Path(one).resolve() for one in sys.argv[1:])
    with perfetto.served(folder) as address, \
            chromium.Chromium.start(flags=FLAGS) as browser:
        others = openers(browser, folder, release, address)
        if out:
            take_views(browser, folder, *out)
            take_others(others, *out)
            do_perfettos_tasks(browser, address, folder / "boxes.trace.json")
        else:
            measure(others, folder, release)


if __name__ == "__main__":
    main()
