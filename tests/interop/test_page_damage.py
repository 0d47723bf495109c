# SPDX-License-Identifier: MIT
"""Opens pages that are truncated or damaged in a real browser: they report the
damage in words, and the summary for all readers remains."""

import base64
import json
import re
import zlib

import pytest

import profile_numbers as expected
from pages import (browser, local_read, opened, read_document, read_page,
                   text_of)

# Fixtures that tests import by name.
__all__ = ["browser", "local_read", "opened", "read_document", "read_page"]

BLOCKS = ("spans", "tiles")


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99])
def test_a_truncated_page_says_so(opened, read_page, tmp_path, share):
    text = read_page.read_text()
    begin = text.index('id="radio-profile">')
    cut = tmp_path / "cut.html"
    cut.write_text(text[:begin + int(share * (len(text) - begin))])
    page = opened(cut)
    notice = page.evaluate("document.getElementById('notice').textContent")
    assert "cut short" in notice
    assert page.evaluate("document.getElementById('static')"
                         ".getBoundingClientRect().height > 200")


# What a reader sees of a page, once it waited for the rest.
SEEN = """(() => {
  document.getAnimations().forEach(one => one.finish());
  const text = (id) => [...document.querySelectorAll(id)].map(one =>
    one.checkVisibility({ opacityProperty: true }) ? one.innerText : '')
    .join('');
  return { cut: text('#cut'), notice: text('#notice'),
           noscript: text('noscript'), summary: text('#static'),
           app: text('#app') };
})()"""

# Files are cut where a disk is full, between two of its blocks.
BLOCK = 4096


@pytest.mark.parametrize("script", [True, False])
def test_a_page_cut_anywhere_shows_that_and_the_summary(
        browser, local_read, tmp_path, script):
    text = local_read.page.read_bytes()
    at = {name: text.index(name) for name in (
        b'<main id="static">', b"</main>", b'data-packed="style">',
        b'data-packed="script">', b'id="radio-profile">', b'<i id="whole">')}
    assert at[b'<main id="static">'] < BLOCK
    # The sentence is the first that a page has.
    first = text.index(b'id="cut">') + 60
    assert first < text.index(b"<style>") < 1300
    ends = {first, text.index(b"<style>"), BLOCK - 1}
    ends |= {BLOCK, len(text) - len(b'<i id="whole"></i></body></html>')}
    ends |= {place + more for place in at.values() for more in (-1, 0, 30)}
    ends |= set(range(BLOCK, at[b'id="radio-profile">'], 2 * BLOCK))
    # The loader.
    ends |= set(range(text.index(b"<script>"), at[b'id="radio-profile">'],
                      300))
    # Within the end tag of the data, which is complete.
    end_tag = text.index(b"</script>", at[b'id="radio-profile">'])
    ends |= {end_tag + 1, end_tag + 8}
    for end in sorted(ends):
        cut = tmp_path / f"cut-{end}.html"
        cut.write_bytes(text[:end])
        page = browser.open(cut, script=script)
        if script and end > at[b'id="radio-profile">']:
            page.wait("window.radio || "
                      "document.getElementById('notice').textContent")
        seen = page.evaluate(SEEN)
        assert not re.search(r"-\d", seen["notice"]), end
        is_whole = end > at[b'<i id="whole">'] + 13
        if end >= BLOCK:
            assert (seen["noscript"] == "") == script, end
        if is_whole or seen["notice"]:
            assert seen["cut"] == "", end
        else:
            assert seen["cut"].startswith("This page is incomplete"), end
        if is_whole and script:
            assert seen["app"] and not seen["notice"], end
        elif not seen["app"] and end >= BLOCK:  # the summary has begun
            assert "40 x 40 x 40" in seen["summary"], end
        assert page.console_errors() == []
        page.close()


def test_a_page_truncated_before_its_second_profile_says_so(
        opened, local_read, tmp_path):
    text = local_read.compared_with_another().read_text()
    cut = tmp_path / "cut.html"
    cut.write_text(text[:text.index('<script type="application/json" '
                                    'id="radio-before"')])
    page = opened(cut)
    seen = page.evaluate(SEEN)
    assert seen["cut"].startswith("This page is incomplete")
    assert seen["app"] != "" and seen["notice"] == ""
    cut.write_text(text)
    page = opened(cut)
    seen = page.evaluate(SEEN)
    assert seen["app"] != "" and seen["notice"] + seen["cut"] == ""


def test_a_script_that_cannot_be_unpacked_is_reported(opened, read_page,
                                                      tmp_path):
    text = read_page.read_text()
    packed = re.search(r'data-packed="script">([^<]*)<', text)[1]
    bad = tmp_path / "bad.html"
    bad.write_text(text.replace(packed, packed[:len(packed) // 2]))
    page = opened(bad)
    assert text_of(page, "#notice") == (
        "This page cannot show its profile: its script is damaged. The "
        "static summary follows.")
    assert page.evaluate("document.getElementById('static')"
                         ".getBoundingClientRect().height > 200")


def test_a_script_that_differs_is_reported(browser, read_page, tmp_path):
    text = read_page.read_text()
    packed = re.search(r'data-packed="script">([^<]*)<', text)[1]
    for at in range(1000, len(packed), len(packed) // 6):
        bad = tmp_path / f"bad-{at}.html"
        letter = "b" if packed[at] == "a" else "a"
        bad.write_text(text.replace(packed, packed[:at] + letter
                                    + packed[at + 1:]))
        page = browser.open(bad)
        page.wait("document.getElementById('notice').textContent")
        assert text_of(page, "#notice") == (
            "This page cannot show its profile: its script is damaged. The "
            "static summary follows.")
        page.close()


def test_damaged_spans_are_reported_and_the_summary_stays(
        opened, read_page, tmp_path):
    text = read_page.read_text()
    data = re.search(r'"spans":\s*{[^}]*"data":\s*"([^"]{40,})"', text)[1]
    raw = bytearray(base64.b64decode(data))
    raw[len(raw) // 2] ^= 0x55
    bad = tmp_path / "bad.html"
    bad.write_text(text.replace(data, base64.b64encode(raw).decode()))
    page = opened(bad)
    assert "cannot show its profile" in page.evaluate(
        "document.getElementById('notice').textContent")
    assert page.evaluate("document.getElementById('app').hidden")


def check_reported(page, *words):
    """Checks that the page reports it in words and keeps the summary."""
    notice = page.evaluate("document.getElementById('notice').textContent")
    assert notice.startswith("This page cannot show its profile: its ")
    assert notice.endswith("The static summary follows.")
    for word in words:
        assert word in notice
    # A reader of the page cannot use these words.
    assert not re.search(r"undefined|NaN|TypeError|Failed to|atob|\[object|"
                         "function|propert|iterable|null", notice)
    assert page.evaluate("document.getElementById('app').hidden")
    assert page.evaluate("document.getElementById('static').checkVisibility()")
    assert "decode" in page.evaluate(
        "document.getElementById('static').innerText")


@pytest.mark.parametrize("share", [0.0, 0.4, 0.8, 0.999])
def test_a_truncated_real_recording_says_so(opened, local_read, tmp_path,
                                            share):
    text = local_read.page.read_text()
    begin = text.index('id="radio-profile">') + len('id="radio-profile">')
    cut = tmp_path / "cut.html"
    nbytes = text.index("</script>", begin) - begin
    cut.write_text(text[:begin + int(share * nbytes)])
    missing = nbytes - int(share * nbytes)
    check_reported(opened(cut), f"its file was cut short, "
                   f"{expected.bytes_text(missing)} of the "
                   f"{expected.bytes_text(nbytes)} of its data are missing; "
                   "copy or export it again. ")


def with_block(text, name, change):
    """Returns the page with a block of its data changed."""
    begin = text.index('id="radio-profile">') + len('id="radio-profile">')
    end = text.index("</script>", begin)
    document = json.loads(text[begin:end])
    change(document[name])
    return text[:begin] + json.dumps(document) + text[end:]


def cut_short(block):
    data = base64.b64decode(block["data"])
    block["data"] = base64.b64encode(data[:len(data) // 2]).decode()


def half_of_its_letters(block):
    block["data"] = block["data"][:len(block["data"]) // 2 // 4 * 4 + 1]


def no_letters_of_base64(block):
    block["data"] = "\u00e9*" + block["data"][2:]


def another_stream(block):
    block["data"] = base64.b64encode(b"\xff" * 200).decode()


def fewer_numbers(block):
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    data = deflate.compress(b"\1" * block["count"]) + deflate.flush()
    block["data"] = base64.b64encode(data).decode()
    block["nbytes"] = block["count"]


def more_than_it_claims(block):
    block["nbytes"] -= 1


def less_than_it_claims(block):
    block["nbytes"] += 1


def a_number_that_does_not_end(block):
    block.update(encoding="none", nbytes=9 * block["count"],
                 data=base64.b64encode(b"\xff" * 9 * block["count"]).decode())


def more_rows_than_it_holds(block):
    block["count"] *= 1000


DAMAGES = (cut_short, half_of_its_letters, no_letters_of_base64,
           another_stream, fewer_numbers, more_than_it_claims,
           less_than_it_claims, a_number_that_does_not_end,
           more_rows_than_it_holds)


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_block_is_reported_in_words(opened, local_read, tmp_path,
                                              damage, name):
    bad = tmp_path / "bad.html"
    bad.write_text(with_block(local_read.page.read_text(), name, damage))
    check_reported(opened(bad))


def without(*path):
    def change(document):
        for key in path[:-1]:
            document = document[key]
        del document[path[-1]]
    return change


def shorter(*path):
    def change(document):
        for key in path:
            document = document[key]
        document.pop()
    return change


def changed(value, *path):
    def change(document):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value
    return change


@pytest.mark.parametrize("change, words", [
    (without("nodes"), "lack nodes"), (without("strings"), "lack strings"),
    (without("info"), "lack info"),
    (without("nodes", "total_ns"), "damaged"),
    (shorter("nodes", "total_ns"), "nodes are damaged"),
    (shorter("values", "value"), "values are damaged"),
    (changed(7, "nodes", "name"), "nodes are damaged"),
    (changed([], "findings", "title"), "findings are damaged"),
    (changed(99, "values", "counter", 0), "value 0 points to nothing"),
    (changed(7, "strings"), "lack strings"),
    (changed("x", "lanes"), "lanes are damaged"),
    (changed("else", "format"), "no profile of radio"),
    (changed(9, "version"), "version 9"),
])
def test_a_damaged_document_is_reported_in_words(opened, local_read, tmp_path,
                                                 change, words):
    text = local_read.page.read_text()
    begin = text.index('id="radio-profile">') + len('id="radio-profile">')
    end = text.index("</script>", begin)
    document = json.loads(text[begin:end])
    change(document)
    bad = tmp_path / "bad.html"
    bad.write_text(text[:begin] + json.dumps(document) + text[end:])
    check_reported(opened(bad), words)


def test_a_page_without_an_object_is_reported(opened, local_read, tmp_path):
    text = local_read.page.read_text()
    begin = text.index('id="radio-profile">') + len('id="radio-profile">')
    end = text.index("</script>", begin)
    bad = tmp_path / "bad.html"
    bad.write_text(text[:begin] + "null" + text[end:])
    check_reported(opened(bad), "no profile of radio")


def test_a_page_that_lost_its_data_says_so(opened, local_read, tmp_path):
    text = local_read.page.read_text()
    bad = tmp_path / "bad.html"
    bad.write_text(text.replace('id="radio-profile"', 'id="else"'))
    check_reported(opened(bad), "data are missing")


def test_a_truncated_second_profile_is_reported(opened, local_read, tmp_path):
    text = local_read.compared_with_another().read_text()
    at = text.index('id="radio-before">')
    cut = tmp_path / "cut.html"
    cut.write_text(text[:at + (len(text) - at) // 2])
    check_reported(opened(cut), "its file was cut short, ")
