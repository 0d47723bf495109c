# SPDX-License-Identifier: MIT
"""Profiles made by hand, in the format of docs/profile-format.md: a second
writer of it, independent of the recorder.

    document = ProfileDocument("a title")
    main = document.lane("main")
    read = document.span(main, "read", "operation", 0, 1000)
    document.span(main, "decode", "decode", 100, 400, parent=read)
    text = document.json()

The tree is made from the spans: a path of names is a node.  Times are in
nanoseconds.
"""

import base64
import json
import zlib

NODE_NUMBERS = ("line edge calls total_ns self_ns work_ns wait_ns queue_ns "
                "min_ns max_ns open_count late_count dropped_count "
                "alloc_count alloc_nbytes alloc_peak_nbytes "
                "alloc_live_nbytes").split()


def varint(value, out):
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def zigzag(value):
    return value << 1 if value >= 0 else (-value << 1) - 1


def block(columns, count, encoding):
    """Returns columns of unsigned numbers as a block."""
    raw = bytearray()
    for column in columns:
        for value in column:
            varint(value, raw)
    data = bytes(raw)
    if encoding == "deflate":
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        data = packer.compress(data) + packer.flush()
    return {"count": count, "encoding": encoding, "nbytes": len(raw),
            "data": base64.b64encode(data).decode()}


def union(intervals, low, high):
    """Returns the length of the union of intervals within low..high."""
    covered, at = 0, low
    for begin, end in sorted(intervals):
        begin, end = max(begin, at), min(end, high)
        if end > begin:
            covered += end - begin
            at = end
    return covered


def table(names, rows):
    return {name: [row[i] for row in rows]
            for i, name in enumerate(names.split())}


class ProfileDocument:
    def __init__(self, title, **info):
        self.info = {
            "title": title, "program": "radio", "clock": "tsc",
            "parts": "none", "scope_cost_ns": 21.5,
            "started_unix_ns": 1790000000123456789, "wall_ns": 0,
            "work_ns": 0, "wait_ns": 0, "dropped_count": 0, "scope_count": 0,
            "overhead_ns": 0, "open_count": 0, "late_count": 0,
            "alloc_count": 0, "alloc_nbytes": 0, "alloc_peak_nbytes": 0,
            "alloc_live_nbytes": 0,
        }
        self.given = info
        self.lanes, self.spans, self.nodes = [], [], []
        self.paths, self.values = {}, {}
        self.counters, self.gauges, self.samples = [], [], []
        self.facts, self.findings, self.notes, self.parts = [], [], [], []
        self.shares = []

    def lane(self, name, is_async=0, part=0):
        self.lanes.append((name, is_async, 1000 + len(self.lanes), part))
        return len(self.lanes) - 1

    def node(self, name, category="user", parent=-1, edge=0, **numbers):
        """Returns the index of the node with this path; adds it if missing."""
        key = (parent, name, category, edge)
        if key not in self.paths:
            self.paths[key] = len(self.nodes)
            self.nodes.append({
                **dict.fromkeys(NODE_NUMBERS, 0), "name": name,
                "category": category, "function": name + "_function",
                "file": "src/file.c", "parent": parent, "edge": edge,
                "line": 7, "histogram": [0] * 48,
            })
        node = self.nodes[self.paths[key]]
        node.update(numbers)
        return self.paths[key]

    def span(self, lane, name, category, begin, duration, parent=None,
             edge=0, queue=0, wait=0, nbytes=0, flags=0, counters=None):
        above = self.spans[parent]["node"] if parent is not None else -1
        node = self.node(name, category, above, edge)
        self.spans.append({
            "lane": lane, "node": node, "begin": begin, "duration": duration,
            "parent": parent, "queue": queue, "wait": wait, "flags": flags,
            "nbytes": nbytes, "children": [],
        })
        if parent is not None:
            self.spans[parent]["children"].append(len(self.spans) - 1)
        for counter, value in (counters or {}).items():
            self.count(node, counter, value)
        return len(self.spans) - 1

    def count(self, node, counter, value, unit="bytes"):
        if (counter, unit) not in self.counters:
            self.counters.append((counter, unit))
        key = (node, self.counters.index((counter, unit)))
        self.values[key] = self.values.get(key, 0) + value

    def sum_up(self):
        """Computes the tree's times from the spans."""
        for span in self.spans:
            node = self.nodes[span["node"]]
            begin, duration = span["begin"], span["duration"]
            children = [self.spans[i] for i in span["children"]]
            inside = [(c["begin"], c["begin"] + c["duration"])
                      for c in children]
            here = [(c["begin"], c["begin"] + c["duration"])
                    for c in children if c["lane"] == span["lane"]]
            end = begin + duration
            node["min_ns"] = min(node["min_ns"], duration) \
                if node["calls"] else duration
            node["max_ns"] = max(node["max_ns"], duration)
            node["calls"] += 1
            node["total_ns"] += duration
            node["self_ns"] += duration - union(inside, begin, end)
            if not self.lanes[span["lane"]][1]:
                node["work_ns"] += (duration - union(here, begin, end)
                                    - span["wait"])
            node["wait_ns"] += span["wait"]
            node["queue_ns"] += span["queue"]
            node["open_count"] += span["flags"] & 1
            node["late_count"] += span["flags"] >> 1 & 1
            bucket = min(47, max(0, duration.bit_length() - 1))
            node["histogram"][bucket] += 1

    def span_block(self, encoding):
        for i, span in enumerate(self.spans):
            span["id"] = i + 1
        order = sorted(self.spans, key=lambda s: (s["lane"], s["begin"],
                                                  -s["duration"], s["id"]))
        columns = [[] for _ in range(9)]
        lane = None
        for span in order:
            if span["lane"] != lane:
                lane, time, number = span["lane"], 0, 0
            parent = 0 if span["parent"] is None else span["parent"] + 1
            row = (span["begin"] - time, span["duration"], span["queue"],
                   span["wait"], zigzag(span["id"] - number),
                   zigzag(span["id"] - parent) if parent else 0,
                   span["node"], span["flags"], span["nbytes"])
            for column, value in zip(columns, row):
                column.append(value)
            time, number = span["begin"], span["id"]
        return block(columns, len(order), encoding)

    def sample_block(self, encoding):
        last, time, columns = {}, 0, [[], [], []]
        for when, gauge, value in sorted(self.samples):
            columns[0].append(when - time)
            columns[1].append(gauge)
            columns[2].append(zigzag(value - last.get(gauge, 0)))
            last[gauge], time = value, when
        return block(columns, len(self.samples), encoding)

    def whole(self):
        ends = [s["begin"] + s["duration"] for s in self.spans]
        begins = [s["begin"] for s in self.spans]
        info = {**self.info, "scope_count": len(self.spans)}
        info["wall_ns"] = max(ends) - min(begins) if ends else 0
        info["work_ns"] = sum(n["work_ns"] for n in self.nodes)
        info["wait_ns"] = sum(n["wait_ns"] for n in self.nodes)
        info["overhead_ns"] = int(21.5 * len(self.spans))
        return {**info, **self.given}

    def document(self, encoding="deflate"):
        self.sum_up()
        strings = [""]

        def string(text):
            if text not in strings:
                strings.append(text)
            return strings.index(text)

        nodes = {"name": [], "category": [], "function": [], "file": [],
                 "parent": [n["parent"] for n in self.nodes]}
        for column in ("name", "category", "function", "file"):
            nodes[column] = [string(n[column]) for n in self.nodes]
        for column in NODE_NUMBERS:
            nodes[column] = [n[column] for n in self.nodes]
        if any("starved_ns" in n for n in self.nodes):
            nodes["starved_ns"] = [n.get("starved_ns", 0) for n in self.nodes]
        info = self.whole()
        parts = self.parts or [("run 1", info["wall_ns"], info["work_ns"],
                                info["started_unix_ns"])]
        counts = [0] * len(self.lanes)
        for span in self.spans:
            counts[span["lane"]] += 1
        return {
            "format": "radio-profile", "version": 1,
            "generator": "a test", "info": info,
            "facts": table("key value is_name", self.facts),
            "parts": table("name wall_ns work_ns started_unix_ns"
                           + " starved_ns" * (len(parts[0]) > 4), parts),
            "findings": table("id weight title evidence node",
                              self.findings),
            "counters": table("name unit", self.counters),
            "gauges": table("name unit", self.gauges),
            "nodes": nodes,
            "values": table("node counter value",
                            [(*k, v) for k, v in sorted(self.values.items())
                             if v]),
            "histograms": table("node bucket count", [
                (i, bucket, count) for i, node in enumerate(self.nodes)
                for bucket, count in enumerate(node["histogram"]) if count]),
            "shares": table("node part calls total_ns self_ns"
                            + " work_ns starved_ns" * any(
                                len(one) == 7 for one in self.shares),
                            sorted(self.shares)),
            "lanes": table("name is_async os_tid part span_count", [
                (*lane, count) for lane, count in zip(self.lanes, counts)]),
            "notes": table("span node key value is_name varies", [
                (span, node, string(key), string(value), 0, varies)
                for span, node, key, value, varies in self.notes]),
            "strings": strings,
            "samples": self.sample_block(encoding),
            "spans": self.span_block(encoding),
        }

    def json(self, encoding="deflate"):
        text = json.dumps(self.document(encoding), ensure_ascii=False,
                          separators=(",", ":"))
        for c in "<\u2028\u2029":
            text = text.replace(c, "\\u%04x" % ord(c))
        return text
