# SPDX-License-Identifier: MIT
"""Measures the main thread of a page during panning and zooming, from the
browser's own trace: the CPU time of all its tasks, scripts, styles and the
drawing of canvases, from the end of a frame to the end of the next.  The time
of other processes is not included.

    for view, name, act, first in movements(end):
        show(page, {"view": view, **first})
        frames = work_of_frames(traced(page, view, act))
"""

import json
import time

STEPS = 40
# Start and end of a drag on the canvas, far from its edges.
LEFT, RIGHT = 400, 1100
# The address is updated 250 ms after the last movement.
REST = 0.4

TRACED = ("devtools.timeline", "disabled-by-default-devtools.timeline")

# An update of the address, and the first task after its frame.
CHANGED = """new Promise((done) => {
  radio.state.set(%s, { step: true });
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done();
    port2.postMessage('');
  });
})"""


def change(page, changes):
    page.evaluate(CHANGED % json.dumps(changes))


def show(page, changes):
    time.sleep(REST)
    change(page, changes)
    page.wait_drawn()


def zoom(page, y, step, modifiers=0):
    """Zooms in and out by the wheel."""
    for dy in (-step, step):
        for _ in range(STEPS):
            page.mouse("mouseWheel", (LEFT + RIGHT) // 2, y, deltaX=0,
                       deltaY=dy, modifiers=modifiers)


def zoom_timeline(page, y):
    zoom(page, y, 150)


def zoom_icicle(page, y):
    zoom(page, y, 25, modifiers=2)


def drag(page, y):
    """Drags there and back by the mouse."""
    page.mouse("mousePressed", LEFT, y, button="left", clickCount=1)
    way = [LEFT + (RIGHT - LEFT) * i // STEPS for i in range(1, STEPS + 1)]
    for x in way + way[::-1]:
        page.mouse("mouseMoved", x, y, button="left", buttons=1)
    page.mouse("mouseReleased", LEFT, y, button="left", clickCount=1)


def movements(end):
    """Returns view, name, action and initial state; end: of the profile."""
    half = f"{end // 3}-{end // 3 + end // 2}"
    part = f"{end // 3}-{end // 3 + end // 50}"
    return [
        ("timeline", "zoom", zoom_timeline, {"seen": ""}),
        ("timeline", "pan of a half", drag, {"seen": half}),
        ("timeline", "pan of 2 %", drag, {"seen": part}),
        ("icicle", "zoom", zoom_icicle, {"zoom": -1, "stretch": ""}),
        ("icicle", "pan of a half", drag,
         {"zoom": -1, "stretch": "250000000-750000000"}),
        ("icicle", "pan of 2 %", drag,
         {"zoom": -1, "stretch": "300000000-320000000"}),
    ]


def next_of_trace(browser):
    for i, one in enumerate(browser.events):
        if one["method"].startswith("Tracing."):
            return browser.events.pop(i)
    message = browser.receive(time.monotonic() + 240)
    browser.events.append(message)
    return None


def traced(page, view, act):
    """Returns the browser's trace events during an action on a canvas."""
    y = int(page.middle(f".{view} canvas")[1])
    return traced_act(page, lambda: act(page, y))


def traced_act(page, act):
    browser = page.browser
    browser.call("Tracing.start", traceConfig={
        "includedCategories": TRACED, "excludedCategories": ["*"]})
    act()
    page.wait_drawn()
    browser.call("Tracing.end")
    events = []
    while True:
        message = next_of_trace(browser)
        if message is None:
            continue
        if message["method"] == "Tracing.tracingComplete":
            return events
        events += message["params"].get("value", [])


def work_of_frames(events):
    """Returns milliseconds of the main thread's tasks, for each frame."""
    def thread(one):
        return one["pid"], one["tid"]

    drawn = [one for one in events if one["name"] == "FireAnimationFrame"]
    threads = [thread(one) for one in drawn]
    main = max(threads, key=threads.count)
    times = [one["ts"] for one in drawn if thread(one) == main]
    tasks = sorted((one["ts"], one["dur"], one["tdur"]) for one in events
                   if one["name"] == "RunTask" and "tdur" in one
                   and thread(one) == main)
    frames, work = [], 0
    for begin, took, cpu in tasks:
        work += cpu
        if any(begin <= at < begin + took for at in times):
            frames.append(work / 1000)
            work = 0
    return frames


def quantile(values, share):
    """Returns the quantile by the nearest rank."""
    values = sorted(values)
    return values[max(0, -int(-share * len(values) // 1) - 1)]
