# SPDX-License-Identifier: MIT
"""Names on the page: hostile names pass through the recorder and are shown as
text; a redacted profile contains no names, neither in the file, with its
blocks unpacked, nor in any view."""

import base64
import json
import os
import re
import socket
import subprocess
import zlib
from xml.etree import ElementTree

import pytest

from conftest import BUILD, RADIO, missing, run_radio
from pages import (browser, drawn_text, hold_labels, open_all, opened, rows,
                   shown_tooltip, text_of)

__all__ = ["browser", "opened"]                # fixtures

NAMES = [
    b"</script><script>window.hacked=1</script>",
    b"<img src=x onerror=window.hacked=2>",
    b"--><svg onload=window.hacked=3>", b"]]></text><script>hacked()",
    b"javascript:window.hacked=4", b"\"'`&amp;<b>&#60;/script&#62;",
    b"\"\\u003c/script>\\\"", "\u202egpj.exe".encode(),
    "\u2066\u05e9\u05dc\u05d5\u05dd\u2069 1".encode(), "a\u2028b".encode(),
    b"a\x01b\x1f\x7f\t\r\n", b"\xff\xfe caf\xe9 \xe2\x82", b"\xed\xa0\x80",
    b"\xc2\x85\xc2\x9b31m", b"{{7*7}}", b"__proto__", b"constructor",
    "\U0001f9e0".encode() * 40, b"x" * 3000, b"", b" ",
]


def cleaned(name):
    """Returns the name as in the profile: each invalid UTF-8 byte and each
    control character becomes U+FFFD."""
    text = name.decode("utf-8", "surrogateescape")
    return re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", text)


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """Returns a recording whose names are all hostile, as a page and as
    JSON."""
    program = BUILD / "tests" / "profiler" / "view" / "record-names"
    if not program.exists():
        missing(f"{program} (make check builds it)")
    folder = tmp_path_factory.mktemp("names")
    page, data = folder / "names.html", folder / "names.json"
    subprocess.run([program, page, data, *NAMES], check=True, timeout=300)
    return page, json.loads(data.read_bytes().decode("utf-8"))


def check_harmless(page):
    assert page.evaluate("window.hacked === undefined")
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.querySelectorAll('script').length") == 4
    assert page.evaluate("document.querySelectorAll('a, [onerror], [onload],"
                         "svg script, iframe, object').length") == 0


def test_the_recorder_keeps_names_unchanged(named):
    document = named[1]
    wanted = {cleaned(name) for name in NAMES}
    strings, nodes = document["strings"], document["nodes"]
    for column in ("name", "category", "function", "file"):
        assert {strings[i] for i in nodes[column]} == wanted
    assert set(document["counters"]["name"]) == wanted
    assert set(document["gauges"]["name"]) == wanted
    assert wanted <= set(document["facts"]["key"])
    assert wanted <= set(document["facts"]["value"])
    notes = {strings[i] for i in document["notes"]["value"]}
    # Names in texts are shortened.
    assert {name[:1024] for name in wanted - {""}} <= notes


def test_harmful_names_are_text_in_every_view(opened, named):
    page = opened(named[0], fragment="")
    assert text_of(page, "h1") == cleaned(NAMES[0])
    assert page.evaluate("document.title") == cleaned(NAMES[0]) \
        + " - radio profile"
    views = page.evaluate("[...document.querySelectorAll('[role=tab]')]"
                          ".map(one => one.id.slice(4))")
    assert {"timeline", "icicle", "tree", "bottomup", "sandwich",
            "functions", "facts"} <= set(views)
    for view in views:
        page.click_on("#tab-" + view)
        page.wait_drawn()
        for canvas in range(page.evaluate(
                f"document.querySelectorAll('#view-{view} canvas').length")):
            x, y = page.middle(f"#view-{view} canvas")
            for down in range(-60, 61, 20):
                page.mouse("mouseMoved", x, y + down)
        svg = page.evaluate("radio.picture()")
        tags = {one.tag for one in ElementTree.fromstring(svg).iter()}
        assert {tag.rpartition("}")[2] for tag in tags} <= {
            "svg", "g", "rect", "text", "path", "clipPath", "image"}
        assert page.evaluate("radio.png().then(blob => blob.size)") > 1000
        check_harmless(page)


def test_harmful_names_have_rows_of_their_own_in_the_tree(opened, named):
    page = opened(named[0], fragment="#view=tree")
    open_all(page)
    shown = {row["name"] for row in rows(page).values()}
    assert shown == {cleaned(name) or "(no name)" for name in NAMES}
    # Text direction of a name must not reverse the numbers after it.
    assert page.evaluate("""[...document.querySelectorAll('.tree bdi')].every(
      one => getComputedStyle(one).unicodeBidi === 'isolate')""")
    check_harmless(page)


def test_harmful_names_are_found_selected_transformed_and_copied(
        opened, named):
    page = opened(named[0], fragment="#view=icicle")
    document = named[1]
    strings = document["strings"]
    for name in dict.fromkeys(map(cleaned, NAMES)):
        node = next(i for i, at in enumerate(document["nodes"]["name"])
                    if strings[at] == name)
        page.evaluate("radio.state.set({ query: %s, node: %d })"
                      % (json.dumps(name[:200]), node))
        if name:
            found = sum(name[:200].lower() in strings[at].lower()
                        for at in document["nodes"]["name"])
            assert text_of(page, "output").startswith(
                f"{found} match") or name.startswith("/")
        assert text_of(page, "aside h2") == (name or "(no name)")
        for kind in ("Focus", "Collapse recursion"):
            page.evaluate(f"""[...document.querySelectorAll('.deeds button')]
              .find(one => one.textContent === '{kind}')?.click()""")
        assert (name or "\u00d7") in text_of(page, ".chip")
        while page.evaluate("document.querySelector('.chip') !== null"):
            page.click_on(".chip button")
    hold_labels(page)
    for kind in ("Copy stack", "Copy as Markdown"):
        page.evaluate(f"""[...document.querySelectorAll('.deeds button')]
          .find(one => one.textContent === '{kind}').click()""")
    page.wait("document.querySelector('.deeds').textContent"
              ".includes('Copied')")
    check_harmless(page)


def test_lanes_facts_and_notes_of_harmful_names_are_text(opened, named):
    page = opened(named[0], fragment="#view=facts")
    text = page.evaluate("document.querySelector('#view-facts').textContent")
    for name in NAMES:
        assert cleaned(name) in text
    page.click_on("#tab-timeline")
    page.wait_drawn()
    lanes = {lane[:6] for lane in named[1]["lanes"]["name"] if lane.strip()}
    drawn = " ".join(text for text, _ in drawn_text(page))
    assert sum(lane in drawn for lane in lanes) > 8
    # A run's own notes, in the details and in the tooltip.
    spans = page.evaluate("""[...new Set(radio.profile.notes.filter(one =>
      one.span > 0).map(one => radio.profile.spans.id.indexOf(one.span)))]""")
    for span in spans:
        page.evaluate(f"""radio.state.set({{ span: {span},
          node: radio.profile.spans.node[{span}] }})""")
    assert len(spans) > 20
    check_harmless(page)


@pytest.fixture(params=["taken", "refused"])
def odd_files(request, tmp_path):
    """Records radio itself with files and folders of such names: a volume that
    it accepts, and one whose name it rejects with a reason."""
    folder = os.fsencode(tmp_path) + b"/x<"
    os.mkdir(folder)
    folder += b"/script><script>window.hacked=5<"
    os.mkdir(folder)
    bad = b"\x01\xff" if request.param == "refused" else b""
    image = folder + b"/script>\xe2\x80\xae\"'&<b>" + bad + b".nii.gz"
    store = folder + b"/<img src=x onerror=window.hacked=6>.zarr"
    run_radio("phantom", "-s", tmp_path / "plain.zarr", "head", "--size",
              "40")
    run_radio("export", "-s", tmp_path / "plain.zarr", "head", "-o",
              tmp_path / "plain.nii.gz")
    os.rename(tmp_path / "plain.nii.gz", image)
    page = tmp_path / "ingest.html"
    done = subprocess.run(
        [RADIO, "ingest", "-s", store, image],
        capture_output=True, timeout=300,
        env={**os.environ, "RADIO_PROFILE": str(page)})
    assert done.returncode == (request.param == "refused")
    return page, image, store


def test_files_of_harmful_names_are_text_on_the_page(opened, odd_files):
    path, image, store = odd_files
    page = opened(path, fragment="#view=facts")
    text = page.evaluate("document.querySelector('#view-facts').textContent")
    for name in (image, store):
        assert cleaned(os.path.basename(name)) in text
    findings = "[...document.querySelectorAll('.findings li')]" \
        ".map(one => one.textContent).join()"
    assert ("It failed" in page.evaluate(findings)) == (b"\xff" in image)
    views = page.evaluate("[...document.querySelectorAll('[role=tab]')]"
                          ".map(one => one.id.slice(4))")
    for view in views:
        page.click_on("#tab-" + view)
        for node in range(page.evaluate("radio.profile.tree.size")):
            page.evaluate(f"radio.state.set({{ node: {node} }})")
        page.wait_drawn()
        check_harmless(page)


def test_without_a_script_names_of_files_are_text_too(opened, odd_files):
    page = opened(odd_files[0], script=False)
    root = page.call("DOM.getDocument", depth=1)["root"]["nodeId"]
    for selector, count in (("img", 0), ("script", 4), ("svg", 0), ("a", 0)):
        found = page.call("DOM.querySelectorAll", nodeId=root,
                          selector=selector)["nodeIds"]
        assert len(found) == count, selector


# ---------------------------------------------------------------------------
# Redacted
# ---------------------------------------------------------------------------

# Secrets in the names of folders, of files, of volumes, of collections.
SECRETS = ("geheimklinik", "muellerstudy", "doejane", "kopfscan", "wardnine")


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """Returns an image and a store whose names must not be revealed."""
    top = tmp_path_factory.mktemp("redacted") / "geheimklinik"
    top.mkdir()
    plain = top / "plain.zarr"
    run_radio("phantom", "-s", plain, "head", "--size", "50")
    image = top / "doejane_1970-01-01_kopfscan.nii.gz"
    run_radio("export", "-s", plain, "head", "-o", image)
    store = top / "muellerstudy.zarr"
    run_radio("ingest", "-s", store, "-c", "wardnine", image)
    volume = next(word for word in run_radio("ls", "-s", store).stdout.split()
                  if "doejane" in word)
    return image, store, volume


def environment(path):
    return {**os.environ, "RADIO_PROFILE": str(path),
            "RADIO_PROFILE_REDACT": "1"}


def recorded(kind, patients, folder):
    """Returns a redacted page, made in one of the supported ways."""
    image, store, volume = patients
    out = folder / "out.html"
    plain = folder / "plain.json"
    at = ("-s", store, volume)
    if kind in ("roi", "slice", "full"):
        size = ("--roi", 20) if kind == "roi" else ()
        run_radio("profile", kind, *at, *size, "--runs", 2, "--redact", "-o",
                  out)
    elif kind == "ingest":
        run_radio("profile", "ingest", image, "-s", store, "--runs", 2,
                  "--redact", "-o", out)
    elif kind == "environment":
        run_radio("ingest", "-s", store, "--overwrite", image,
                  env=environment(out))
    elif kind == "failure":
        run_radio("slice", "-s", store, "wardnine/doejane-kopfscan-other",
                  "-o", folder / "x.png", env=environment(out), status=1)
    elif kind == "wrapped":
        run_radio("profile", "--redact", "-o", out, "--", RADIO,
                  "stats", *at)
    else:
        run_radio("profile", "roi", *at, "--runs", 2, "--roi", 20, "-o",
                  plain)
        more = {"convert": ("profile", "convert", plain, out),
                "diff": ("diff", plain, plain, "-o", out),
                "merge": ("profile", "merge", plain, plain, "-o", out)}
        run_radio(*more[kind], "--redact")
    return out


KINDS = ("roi", "slice", "full", "ingest", "environment", "failure",
         "wrapped", "convert", "diff", "merge")


def texts_within(value):
    """Returns all strings of a document, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from texts_within(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_within(one)


def data_of(text):
    """Returns the documents in a page."""
    return [json.loads(one) for one in re.findall(
        r'<script type="application/json" id="radio-[a-z]+">(.*?)</script>',
        text, re.DOTALL)]


def unpacked(document):
    """Returns the bytes of its blocks."""
    for block in document.values():
        if isinstance(block, dict) and "encoding" in block and block["count"]:
            data = base64.b64decode(block["data"])
            yield zlib.decompress(data, wbits=-15) \
                if block["encoding"] == "deflate" else data


def names_to_look_for(patients):
    """Returns the names, including parent folders and this machine's name."""
    image, store, volume = patients
    parts = {part for path in (image, store) for part in path.parent.parts
             if len(part) > 3}
    return {*SECRETS, image.name, store.name, volume, str(image.parent),
            "1970-01-01", *parts}


def check_no_name(text, names, what):
    for name in names:
        assert name.lower() not in text.lower(), (what, name)
    host = socket.gethostname()
    assert not re.search(rf"(?<![\w-]){re.escape(host)}(?![\w-])", text), \
        (what, host)


@pytest.mark.parametrize("kind", KINDS)
def test_a_redacted_page_holds_no_name(opened, patients, tmp_path, kind):
    path = recorded(kind, patients, tmp_path)
    names = names_to_look_for(patients)
    text = path.read_text(encoding="utf-8")
    documents = data_of(text)
    assert len(documents) == (2 if kind == "diff" else 1)
    # The packed code is the same in all pages.
    visible = re.sub(r'data-packed="\w+">[^<]*<', "", text)
    check_no_name(visible, names, "the file")
    for document in documents:
        check_no_name("\n".join(texts_within(document)), names, "the data")
        assert any("name-" in one for one in texts_within(document))
        for block in unpacked(document):
            for name in names:
                assert name.encode() not in block


@pytest.mark.parametrize("kind", ("roi", "environment", "failure", "diff",
                                  "merge"))
def test_a_redacted_page_shows_no_name(opened, patients, tmp_path, kind):
    path = recorded(kind, patients, tmp_path)
    names = names_to_look_for(patients)
    page = opened(path, fragment="")
    shown = []
    for view in page.evaluate("[...document.querySelectorAll('[role=tab]')]"
                              ".map(one => one.id.slice(4))"):
        page.click_on("#tab-" + view)
        page.wait_drawn()
        shown += [page.evaluate(f"document.querySelector('#view-{view}')"
                                ".outerHTML"),
                  page.evaluate("radio.picture()")]
        if page.evaluate(f"document.querySelector('#view-{view} canvas')"
                         " !== null"):
            page.mouse("mouseMoved", *page.middle(f"#view-{view} canvas"))
            shown.append(json.dumps(shown_tooltip(page)))
    for node in range(page.evaluate("radio.profile.tree.size")):
        page.evaluate(f"radio.state.set({{ node: {node} }})")
        shown.append(page.evaluate("document.querySelector('aside')"
                                   ".outerHTML"))
    shown += [page.evaluate("document.querySelector('header').outerHTML"),
              page.evaluate("document.querySelector('#static').outerHTML"),
              page.evaluate("document.title"),
              page.evaluate("location.hash")]
    for text in shown:
        check_no_name(text, names, "what is shown")
    assert "name-" in "".join(shown)


def test_names_are_there_without_redaction(patients, tmp_path):
    """Makes sure that the tests above search where names would be."""
    image, store, volume = patients
    out = tmp_path / "out.html"
    run_radio("profile", "roi", "-s", store, volume, "--roi", 20, "--runs", 2,
              "-o", out)
    text = out.read_text(encoding="utf-8")
    for name in ("geheimklinik", "muellerstudy", "doejane", "wardnine"):
        assert name in text
    with pytest.raises(AssertionError):
        check_no_name(text, names_to_look_for(patients), "the file")
    document, = data_of(text)
    facts = dict(zip(document["facts"]["key"], document["facts"]["value"]))
    assert facts["host"] == socket.gethostname()
