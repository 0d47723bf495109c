# SPDX-License-Identifier: MIT
"""Drives a real browser, headless and without a network, by its DevTools
protocol over a pipe.  Needs no driver and no package except Debian's chromium.

    with Chromium.start() as browser:
        page = browser.open(path)
        page.press("Enter")
        page.evaluate("document.title")
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# The browser makes no requests of its own: no update, no sync, no proxy; and
# names resolve to nothing.  Containers may have little shared memory.
FLAGS = ("--headless --no-sandbox --disable-gpu --no-first-run "
         "--disable-background-networking --disable-component-update "
         "--disable-sync --disable-extensions --disable-dev-shm-usage "
         "--force-color-profile=srgb --remote-debugging-pipe").split() + [
             "--host-resolver-rules=MAP * ~NOTFOUND"]

KEYS = {"Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36,
        "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
        "Tab": 9}


def find():
    """Returns the path of the browser's program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") \
        or shutil.which("google-chrome")


class Failure(Exception):
    """An error from the browser, or from a script in it."""


class Chromium:
    def __init__(self, process, profile, to_browser, from_browser):
        self.process, self.profile = process, profile
        self.to_browser, self.from_browser = to_browser, from_browser
        self.received, self.events, self.number = b"", [], 0

    @classmethod
    def start(cls, program=None, flags=()):
        profile = tempfile.mkdtemp(prefix="radio-chromium-")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        shell = ('exec "$@" 3<&%d 4>&%d' % (theirs_in, theirs_out))
        process = subprocess.Popen(
            ["bash", "-c", shell, "chromium", program or find(), *FLAGS,
             *flags, "--user-data-dir=" + profile],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        return cls(process, profile, ours_out, ours_in)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (Failure, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        """Returns the next message."""
        while b"\0" not in self.received:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.from_browser], [], [],
                                        max(0, left))
            if not ready:
                raise Failure("the browser does not answer")
            data = os.read(self.from_browser, 1 << 20)
            if not data:
                raise Failure("the browser is gone")
            self.received += data
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, timeout=240, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        deadline = time.monotonic() + timeout
        while True:
            message = self.receive(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise Failure(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, path, fragment="", width=1400, height=900, dark=False,
             script=True):
        """Opens a file, or an address, in a new page, and returns the page
        once it is loaded."""
        target = self.call("Target.createTarget",
                           url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target,
                            flatten=True)["sessionId"]
        page = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(domain + ".enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)
        page.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])
        if not script:
            page.call("Emulation.setScriptExecutionDisabled", value=True)
        address = path if "://" in str(path) else f"file://{path}"
        page.call("Page.navigate", url=f"{address}{fragment}")
        page.wait_loaded()
        return page


class Page:
    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        self.loads = 0          # loads that were waited for

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def wait_loaded(self, timeout=240):
        """Waits until the page is loaded once more than was waited for
        before."""
        deadline = time.monotonic() + timeout
        self.loads += 1
        while sum(e.get("sessionId") == self.session
                  and e.get("method") == "Page.loadEventFired"
                  for e in self.browser.events) < self.loads:
            self.browser.events.append(self.browser.receive(deadline))

    def back(self):
        """Does what the browser's back button does."""
        history = self.call("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] - 1]
        self.call("Page.navigateToHistoryEntry", entryId=entry["id"])

    def evaluate(self, expression):
        """Returns the value of an expression; promises are awaited."""
        result = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failure(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def wait(self, expression, timeout=240):
        """Waits until an expression is true."""
        deadline = time.monotonic() + timeout
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > deadline:
                raise Failure(f"never became true: {expression}")
            time.sleep(0.02)

    def wait_drawn(self):
        """Waits until the page has drawn all pending changes.  A canvas has
        no width until the page is laid out, and nothing is drawn before."""
        self.evaluate("""new Promise(function wait (done) {
          requestAnimationFrame(() => requestAnimationFrame(() =>
            [...document.querySelectorAll('canvas')].every(one =>
              one.clientWidth > 0 || !one.checkVisibility()) ? done()
              : wait(done)));
        })""")

    def press(self, key, shift=False, control=False):
        text = key if len(key) == 1 and not control \
            else "\r" if key == "Enter" else None
        common = {"key": key,
                  "modifiers": (8 if shift else 0) + (2 if control else 0),
                  "windowsVirtualKeyCode":
                      KEYS.get(key) or (ord(key.upper()) if len(key) == 1
                                        and key.isalnum() else 0)}
        down = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent",
                  type="keyDown" if text else "rawKeyDown", **common, **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        for letter in text:
            self.press(letter)

    def mouse(self, kind, x, y, **parameters):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                  **parameters)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def drag(self, x0, y0, x1, y1):
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1)
        for share in (0.3, 0.7, 1):
            self.mouse("mouseMoved", x0 + share * (x1 - x0),
                       y0 + share * (y1 - y0), button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)

    def click_on(self, selector):
        self.click(*self.middle(selector))

    def middle(self, selector):
        box = self.evaluate(
            f"(e => {{ e.scrollIntoView({{block: 'center'}});"
            "const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })"
            f"(document.querySelector({json.dumps(selector)}))")
        return box

    def screenshot(self, path):
        import base64
        self.wait_drawn()
        data = self.call("Page.captureScreenshot")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def console_errors(self):
        """Returns uncaught errors, and warnings and errors on the console."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            if event["method"] in ("Runtime.exceptionThrown",
                                   "Log.entryAdded"):
                found.append(event["params"])
            elif event["method"] == "Runtime.consoleAPICalled" and \
                    event["params"]["type"] in ("error", "warning",
                                                "assert"):
                found.append(event["params"])
        return found

    def requests(self):
        """Returns the addresses that the page requested, without its own."""
        return [e["params"]["request"]["url"] for e in self.browser.events
                if e.get("sessionId") == self.session
                and e["method"] == "Network.requestWillBeSent"
                and e["params"].get("type") != "Document"]
