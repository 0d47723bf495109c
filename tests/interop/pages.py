# SPDX-License-Identifier: MIT
"""Fixtures and helpers of the page tests: pages made by radio, opened in one
browser, and values read from them."""

import collections
import json
import random
import re

import pytest

import chromium
import profile_numbers as expected
from conftest import missing, run_radio
from document_reader import Document
from profile_document import ProfileDocument
from profile_readers import NPM


TIMELINE_GUTTER_PX, TIMELINE_AXIS_PX = 150, 24
TIMELINE_ROW_PX, TIMELINE_GAP_PX = 18, 6


@pytest.fixture(scope="session")
def browser():
    if not chromium.find():
        missing("chromium")
    with chromium.Chromium.start() as started:
        yield started


def write_page(document, folder, name="page", encoding="deflate"):
    """Writes a document as a page, by radio itself."""
    source = folder / (name + ".json")
    source.write_text(document if isinstance(document, str)
                      else document.json(encoding))
    page = folder / (name + ".html")
    run_radio("profile", "convert", source, page)
    return page


def made_read(seed=1, nreads=3, nthreads=3):
    """Returns a profile of reads as radio does them: plan, requests, tiles on
    several threads."""
    rng = random.Random(seed)
    made = ProfileDocument("radio slice ct/sub-01", dropped_count=12)
    main = made.lane("main")
    workers = [made.lane(f"worker {i + 1}") for i in range(nthreads)]
    requests = [made.lane(f"requests {i + 1}", 1) for i in range(2)]
    for i in range(nreads):
        t = i * 20_000_000
        read = made.span(main, "read plane", "operation", t, 18_000_000,
                         counters={"bytes asked": 4_000_000,
                                   "bytes delivered": 1_048_576})
        made.span(main, "plan", "metadata", t + 10_000, 120_000, read)
        for lane in requests:
            begin, took = t + 300_000, rng.randrange(2_000_000, 5_000_000)
            get = made.span(lane, "get", "network", begin, took, read,
                            edge=2, queue=50_000, nbytes=1 << 20,
                            counters={"bytes fetched": 1 << 20})
            made.span(lane, "first byte", "network", begin, took // 3, get,
                      edge=3)
        for k, lane in enumerate([main, *workers]):
            begin = t + 6_000_000 + 100_000 * k
            tiles = made.span(lane, "tiles", "operation", begin, 9_000_000,
                              read, edge=int(lane != main),
                              queue=100_000 * k)
            at = begin + 5_000
            while at + 1_000_000 < begin + 9_000_000:
                took = rng.randrange(300_000, 900_000)
                decode = made.span(lane, "decode", "decode", at, took, tiles,
                                   nbytes=524_288,
                                   counters={"bytes decoded": 524_288})
                made.span(lane, "blosc lz4", "decode", at + 5_000,
                          took - 50_000, decode)
                at += took + 60_000
        made.span(main, "wait for workers", "queue", t + 15_200_000, 600_000,
                  read, wait=600_000)
    made.facts = [("command", "radio slice ct/sub-01", 1)]
    made.gauges = [("requests in flight", "count")]
    made.samples = [(300_000, 0, 2), (5_000_000, 0, 1), (6_000_000, 0, 0)]
    made.notes = [(0, 0, "tile shape", "64,64,64", 0)]
    return made


@pytest.fixture(scope="session")
def read_document():
    return made_read()


@pytest.fixture(scope="session")
def read_page(read_document, tmp_path_factory):
    return write_page(read_document, tmp_path_factory.mktemp("page"))


@pytest.fixture
def opened(browser, request):
    """Opens pages; at the end each must have logged no error and made no
    network request."""
    pages = []

    def go(path, fragment="#view=tree", **keywords):
        page = browser.open(path, fragment=fragment, **keywords)
        pages.append(page)
        if keywords.get("script", True):
            page.wait("window.radio || "
                      "document.getElementById('notice').textContent")
        return page

    yield go
    for page in pages:
        console_errors, requests = page.console_errors(), page.requests()
        page.close()
        assert console_errors == [], console_errors
        # URLs of data within the page make no network request.
        assert [url for url in requests if not url.startswith("data:")] == []


def rows(page):
    """Returns the tree's rows: { node: { column: [text, title] } }, in
    order."""
    return dict(page.evaluate("""
      [...document.querySelectorAll('.tree tbody tr[data-node]')].map(row => [
        row.dataset.node, Object.fromEntries(
          [...row.querySelectorAll('td')].map(cell =>
            [cell.dataset.column, [cell.textContent, cell.title]])
          .concat([['name', row.querySelector('bdi').textContent],
                   ['level', row.getAttribute('aria-level')]]))])"""))


def drawn_text(page, pane="timeline"):
    """Returns [text, x] of all texts that a pane draws when it is redrawn,
    without those that it draws off-screen ahead of time."""
    page.wait_drawn()
    return page.evaluate("""((selector) => {
      const texts = [];
      const own = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
        if (this.canvas.isConnected)
          texts.push([text, at[0]]);
        return own.call(this, text, ...at);
      };
      document.querySelector(selector).dispatchEvent(new Event('scroll'));
      return new Promise(done => requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          CanvasRenderingContext2D.prototype.fillText = own;
          done(texts);
        })));
    })(%s)""" % json.dumps("." + pane))


def open_all(page, within=""):
    """Opens one row after the other: opening one replaces all row elements,
    and a click on an old row would be lost."""
    selector = within + " tr[aria-expanded=false] .marker"
    for _ in range(1000):
        closed = page.evaluate(f"""
          (one => (one?.click(), one != null))(
            document.querySelector('{selector}'))""")
        if not closed:
            return
    raise AssertionError("rows are still closed")


def rows_by_path(page, view):
    """Returns all rows of a view that is a table of the tree, once they are
    open: { ((name, edge), ...): { column: [text, title] } }."""
    page.click_on("#tab-" + view)
    open_all(page, "#view-" + view)
    found, path = {}, []
    for level, name, edge, cells in page.evaluate(f"""
      [...document.querySelectorAll('#view-{view} tr[data-node]')].map(row =>
        [Number(row.getAttribute('aria-level')),
         row.querySelector('bdi').textContent,
         row.querySelector('.edge')?.textContent ?? '',
         Object.fromEntries([...row.querySelectorAll('td')].map(cell =>
           [cell.dataset.column, [cell.textContent, cell.title]]))])"""):
        path[level - 1:] = [(name, edge if level > 1 else "")]
        assert tuple(path) not in found
        found[tuple(path)] = cells
    return found


def curve_rows(page):
    """Returns the texts in the table below the curves of sizes."""
    return page.evaluate("""[...document.querySelectorAll(
      '#curve tbody tr')].map(row => [...row.cells].map(one =>
        one.textContent))""")


def wait_for_address(page):
    """Waits until the address has what was done last: the page writes it
    250 ms after the last movement, and timers end in the order of their
    times."""
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    page.wait_drawn()


def reload(page):
    page.call("Page.reload")
    page.wait_loaded()
    page.wait("window.radio")


def text_of(page, selector):
    return page.evaluate(f"document.querySelector({json.dumps(selector)})"
                         ".textContent")


def shown_tooltip(page):
    """Returns the tooltip's title and its lines by name; None where it is
    hidden."""
    return page.evaluate("""(box => box.hidden ? null :
      [box.querySelector('.title').textContent, Object.fromEntries(
        [...box.querySelectorAll('dt')].map(one =>
          [one.textContent, one.nextSibling.textContent]))])(
      document.querySelector('.tooltip'))""")


def choose_metric(page, metric):
    """Chooses a metric in the field above the views, as a user does."""
    page.evaluate(f"""(field => {{ field.value = {json.dumps(metric)};
      field.dispatchEvent(new Event('change', {{ bubbles: true }})); }})(
      document.querySelector('.choice select'))""")
    assert state(page, "metric") == metric


def search(page, query):
    """Searches by keyboard, whichever element has the focus."""
    page.evaluate("document.activeElement.blur()")
    page.press("/")
    page.evaluate("document.activeElement.select()")
    page.type(query)


def hold_labels(page):
    """Makes buttons keep their confirmation text, so that slow tests see
    it."""
    page.evaluate("""window.setTimeout = (own => (f, ms, ...more) =>
      ms === 1500 ? 0 : own.call(window, f, ms, ...more))(window.setTimeout),
      0""")


def number(text):
    return int(re.sub(r"\D", "", text))


def state(page, key):
    return page.evaluate(f"radio.state.get({json.dumps(key)})")


@pytest.fixture(scope="session", params=["full", "slice", "roi", "ingest"])
def recording(request, tmp_path_factory):
    """Returns a real recording, as a page and as JSON."""
    folder = tmp_path_factory.mktemp("recording")
    page, data = folder / "out.html", folder / "out.json"
    run_radio("profile", request.param, "--runs", "2", "-o", page, "-o",
              data)
    return page, json.loads(data.read_text())


def is_shared(document):
    """Whether a worker placed ten tiles or more in a recording."""
    placed = collections.Counter(
        span.lane for span in document.spans
        if document.name(span.node) == "place")
    return any(count >= 10 for lane, count in placed.items()
               if document.lanes[lane]["name"] != "main")


def busiest_span(document):
    """Returns the longest span of the handling of tiles."""
    return max((span for span in document.spans
                if document.name(span.node) == "tiles"),
               key=lambda span: span.duration)


def is_even(document):
    """Whether no pause, as a busy machine has them, hides the rest of a
    recording: a quarter of it is the handling of tiles at one go, and the
    scopes below that have a twentieth of the width."""
    tree = expected.whole(document)
    widths = tree.widths(tree.metric("wall"))
    return 4 * busiest_span(document).duration > document.info["wall_ns"] \
        and any(end - begin > 0.05 for path, (begin, end) in widths.items()
                if len(path) > 2)


class LocalRead(collections.namedtuple("LocalRead", "page document store")):
    """A recording of reads of a local store by three threads."""

    @classmethod
    def make(cls, folder):
        store = folder / "study.zarr"
        run_radio("phantom", "-s", store, "ct/jane-doe", "--size",
                  "70,100,90", "--tiling", "14,15,30")
        cls.profile(store, folder / "read", 40, 3)
        return cls(folder / "read.html", Document(folder / "read.json"),
                   store)

    @staticmethod
    def profile(store, stem, size, runs):
        """Records reads; again where a busy machine left nothing to the
        workers, or suspended a thread for most of the time."""
        for _ in range(100):
            run_radio("profile", "roi", "-s", store, "ct/jane-doe", "--roi",
                      size, "--runs", runs, "--threads", 3, "--overwrite",
                      "-o", f"{stem}.html", "-o", f"{stem}.json")
            document = Document(stem.with_name(stem.name + ".json"))
            if is_shared(document) and is_even(document):
                return
        raise AssertionError("the workers are never given a processor")

    def compared_with_another(self):
        """Writes a page of reads of larger boxes, more.json, compared with
        this recording."""
        path = self.page.with_name("changes.html")
        if path.exists():
            return path
        self.profile(self.store, self.page.with_name("more"), 60, 4)
        run_radio("diff", self.page, self.page.with_name("more.json"), "-o",
                  path)
        return path

    def merge(self, path):
        """Writes a page of this recording and another as ranks, and its
        JSON."""
        more = self.page.with_name("rank.json")
        self.profile(self.store, more.with_suffix(""), 30, 2)
        run_radio("profile", "merge", self.page, more, "-o", path, "-o",
                  path.with_suffix(".json"))


@pytest.fixture(scope="session")
def local_read(tmp_path_factory):
    return LocalRead.make(tmp_path_factory.mktemp("local-read"))


@pytest.fixture(scope="session")
def axe():
    script = NPM / "axe-core" / "axe.min.js"
    return script.read_text() if script.exists() \
        else missing("the npm package axe-core")


AXE_RUN = """axe.run(document, { runOnly: { type: 'tag', values: ['wcag2a',
  'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] } })
  .then(({ passes, violations }) => ({ passed: passes.length, violations:
    violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 300),
                                       nodes[0].failureSummary]) }))"""
