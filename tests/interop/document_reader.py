# SPDX-License-Identifier: MIT
"""Reads radio's own profile format as docs/profile-format.md describes it, and
computes times by path, for the whole profile and for each lane.

Views of the same profile in other programs are compared with this.
"""

import base64
import collections
import json
import zlib

CALL, HANDOFF, ASYNC, PHASE, INSTANT = range(5)

Span = collections.namedtuple(
    "Span",
    "lane id parent node begin duration submitted flags nbytes wait")


def varints(data, count):
    """Returns columns of count unsigned LEB128 numbers, one after the
    other."""
    at = 0
    while at < len(data):
        column = []
        for _ in range(count):
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            column.append(value)
        yield column


def signed(value):
    return value >> 1 ^ -(value & 1)


def rows(table):
    """Returns the rows of a table of columns, as dicts."""
    return [dict(zip(table, values)) for values in zip(*table.values())]


# Counters of bytes, the most specific first.
MOVES = ["delivered", "encoded", "decoded", "inflated", "written", "fetched",
         "asked"]


def moved(counters):
    """Returns the bytes that a node processed, from one counter, since all
    count the same bytes."""
    found = {name: value for (name, unit), value in counters.items()
             if unit == "bytes" and value}
    sizes = [found[f"bytes {move}"] for move in MOVES
             if f"bytes {move}" in found]
    return sizes[0] if sizes else max(found.values(), default=0)


class Document:
    """A parsed profile."""

    def __init__(self, path):
        self.raw = json.loads(path.read_text(encoding="utf-8"))
        assert self.raw["format"] == "radio-profile"
        assert self.raw["version"] == 1
        self.info = self.raw["info"]
        self.strings = self.raw["strings"]
        self.nodes = rows(self.raw["nodes"])
        for node in self.nodes:
            for key in ("name", "category", "function", "file"):
                node[key] = self.strings[node[key]]
            node["counters"] = collections.Counter()
        counters = rows(self.raw.get("counters", {}))
        for value in rows(self.raw.get("values", {})):
            counter = counters[value["counter"]]
            node = self.nodes[value["node"]]
            node["counters"][counter["name"], counter["unit"]] += \
                value["value"]
        self.lanes = rows(self.raw.get("lanes", {}))
        self.parts = rows(self.raw.get("parts", {}))
        self.shares = rows(self.raw.get("shares", {}))
        self.gauges = rows(self.raw.get("gauges", {}))
        self.spans = list(self.read_spans())
        self.by_id = {span.id: span for span in self.spans}
        self.starved = self.read_starved()

    def block(self, name):
        block = self.raw.get(name)
        if not block or not block["count"]:
            return None
        data = base64.b64decode(block["data"], validate=True)
        if block["encoding"] == "deflate":
            data = zlib.decompress(data, wbits=-15)
        assert len(data) == block["nbytes"]
        return list(varints(data, block["count"]))

    def read_spans(self):
        columns = self.block("spans")
        if columns is None:
            return
        begin, duration, queue, wait, ids, parents, nodes, flags, nbytes = \
            columns
        at = 0
        for lane, row in enumerate(self.lanes):
            time = id_ = 0
            for i in range(at, at + row["span_count"]):
                time += begin[i]
                id_ += signed(ids[i])
                parent = id_ - signed(parents[i]) if parents[i] else 0
                yield Span(lane, id_, parent, nodes[i], time, duration[i],
                           time - queue[i], flags[i], nbytes[i], wait[i])
            at += row["span_count"]

    def read_starved(self):
        """Returns the time without a CPU by span id, None if unknown."""
        if "starved" not in self.raw:
            return None
        at, found = -1, {}
        for skipped, ns in zip(*self.block("starved") or [[], []]):
            at += 1 + skipped
            found[self.spans[at].id] = ns
        return found

    def samples(self):
        """Returns values of gauges: (name, time, value)."""
        columns = self.block("samples")
        last = collections.Counter()
        time = 0
        for delta, gauge, value in zip(*columns or [[], [], []]):
            time += delta
            last[gauge] += signed(value)
            yield self.gauges[gauge]["name"], time, last[gauge]

    def stack(self, node):
        """Returns the nodes from the root to a node, by their indexes."""
        found = []
        while node >= 0:
            found.append(node)
            node = self.nodes[node]["parent"]
        return found[::-1]

    def path(self, node):
        return tuple(self.nodes[i]["name"] for i in self.stack(node))

    def value(self, node, kind):
        """Returns a node's own calls, wall, work, wait, bytes, requests, or
        work without a CPU."""
        node = self.nodes[node]
        if kind == "bytes":
            return moved(node["counters"])
        if kind == "requests":
            return sum(value for (name, _), value in node["counters"].items()
                       if name == "requests")
        if kind == "no_cpu":
            return node.get("starved_ns", 0)
        return node[{"calls": "calls", "wall": "self_ns", "work": "work_ns",
                     "wait": "wait_ns"}[kind]]

    def tree(self, kind="wall"):
        """Returns own values by path; values of 0 are left out."""
        sums = collections.Counter()
        for i in range(len(self.nodes)):
            sums[self.path(i)] += self.value(i, kind)
        return +sums

    def lane_spans(self, lane):
        return [s for s in self.spans if s.lane == lane
                and self.nodes[s.node]["edge"] != INSTANT]

    def name(self, node):
        return self.nodes[node]["name"]

    def place(self, node):
        """Returns a label that distinguishes frames of the same name."""
        node = self.nodes[node]
        return node["name"], node["file"], node["line"]

    def lane_tree(self, lane, label=name):
        """Returns self time by path within a lane, from nesting alone."""
        sums = collections.Counter()
        stack = []
        for span in self.lane_spans(lane):
            end = span.begin + span.duration
            while stack and end > stack[-1][1]:
                stack.pop()
            above = stack[-1][0] if stack else ()
            path = above + (label(self, span.node),)
            stack.append((path, end))
            sums[path] += span.duration
            if above:
                sums[above] -= span.duration
        return +sums


def self_by_name(tree):
    """Sums values by path over the last name of the path."""
    sums = collections.Counter()
    for path, value in tree.items():
        sums[path[-1]] += value
    return +sums


def total_by_name(tree):
    """Sums totals by name, with all below; a recursion counts once."""
    sums = collections.Counter()
    for path, value in tree.items():
        for name in set(path):
            sums[name] += value
    return +sums
