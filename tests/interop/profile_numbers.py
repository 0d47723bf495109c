# SPDX-License-Identifier: MIT
"""The numbers that the page must show for a profile, computed from radio's
JSON of the same recording (document_reader.py), independently of the page's
code, and formatted as the page writes numbers.

    tree = whole(document)                  # or stretch(document, 0, 1000)
    tree.metric("work").total[node]
"""

import collections
import decimal
import math

from document_reader import ASYNC, PHASE

Site = collections.namedtuple("Site", "name category")
Metric = collections.namedtuple("Metric", "id label unit own total sum")
COLUMNS = ("calls", "total", "self", "work", "wait", "queue")


def union(intervals):
    """Returns the length of the union of intervals."""
    covered, reached = 0, 0
    for begin, end in sorted(intervals):
        if end > max(begin, reached):
            covered += end - max(begin, reached)
            reached = end
    return covered


class Tree:
    """Numbers by path: a path is a tuple of (site, edge); a root's edge is
    ignored."""

    def __init__(self, columns, counters=()):
        self.columns = columns
        # Nodes in the order of the profile, which breaks ties.
        self.paths = list(columns["total"])
        self.counters = dict(counters)
        self.columns = {**columns, "total": self.filled()}

    def filled(self):
        """Gives a node that did not run itself the duration of its
        children."""
        total = collections.Counter(self.columns["total"])
        for path in sorted(self.paths, key=len, reverse=True):
            if total[path] == 0 and self.columns["calls"][path] == 0:
                total[path] = sum(total[one] for one in self.children(path))
        return total

    def below(self, own):
        """Returns, for each path, the sum of its own value and those below
        it."""
        sums = collections.Counter()
        for path, value in own.items():
            for depth in range(1, len(path) + 1):
                sums[path[:depth]] += value
        return sums

    def whole(self, total):
        return sum(total[path] for path in self.paths if len(path) == 1)

    def metrics(self):
        """Returns all metrics that can be chosen: those without data are not
        offered."""
        made = [Metric("wall", "wall", "time", self.columns["self"],
                       self.columns["total"], None)]
        starved = self.columns.get("starved", {})
        if any(starved.values()):
            self.columns["cpu"] = collections.Counter({
                path: max(0, ns - starved[path])
                for path, ns in self.columns["work"].items()})
        for id_, label, unit in (
                ("work", "work", "time"), ("cpu", "on CPUs", "time"),
                ("starved", "no CPU", "time"), ("wait", "wait", "time"),
                ("self", "self", "time"), ("queue", "queued", "time"),
                ("calls", "calls", "count"),
                ("allocs", "allocations", "count"),
                ("alloc", "bytes allocated", "bytes")):
            own = self.columns.get(id_, collections.Counter())
            made.append(Metric(id_, label, unit, own, self.below(own), None))
        for (name, unit), own in self.counters.items():
            label = "bytes requested" if name == "bytes asked" else name
            made.append(Metric("c:" + name, label, unit, own,
                               self.below(own), None))
        made = [one._replace(sum=self.whole(one.total)) for one in made]
        return [one for i, one in enumerate(made) if i == 0 or one.sum > 0]

    def metric(self, id_):
        return next(one for one in self.metrics() if one.id == id_)

    def children(self, path):
        return [one for one in self.paths if one[:-1] == path]

    def widths(self, metric):
        """Returns (from, to) of each path on a width of 1, heaviest first;
        children that took longer than their parent together are scaled to its
        width."""
        found = {}

        def place(parent, begin, end, whole):
            children = sorted(self.children(parent),
                              key=lambda one: -metric.total[one])
            taken = max(whole, sum(metric.total[one] for one in children))
            at = begin
            for one in children:
                size = (end - begin) * metric.total[one] / (taken or 1)
                found[one] = (at, at + size)
                place(one, at, at + size, metric.total[one])
                at += size

        place((), 0.0, 1.0, 0)
        return found

    def matched_share(self, metric, matches):
        """Returns the fraction of the width that the matches cover, without
        counting overlaps twice."""
        widths = self.widths(metric)
        return union([tuple(round(at * 1e12) for at in widths[path])
                      for path in self.paths if matches(path[-1][0].name)]
                     ) / 1e12


def site(document, node):
    row = document.nodes[node]
    return Site(row["name"], row["category"])


def path_of(document, node):
    """Returns a path with its root's edge normalized."""
    stack = [(site(document, i), document.nodes[i]["edge"])
             for i in document.stack(node)]
    return rooted(tuple(stack))


def rooted(path):
    return ((path[0][0], 0),) + path[1:] if path else ()


def whole(document):
    """Returns the tree that the recorder counted."""
    names = {"calls": "calls", "total": "total_ns", "self": "self_ns",
             "work": "work_ns", "wait": "wait_ns", "queue": "queue_ns",
             "allocs": "alloc_count", "alloc": "alloc_nbytes",
             "starved": "starved_ns"}
    columns = {ours: collections.Counter() for ours in names}
    counters = {(one["name"], one["unit"]): collections.Counter()
                for one in (dict(zip(document.raw["counters"], values))
                            for values in zip(
                                *document.raw["counters"].values()))}
    for i, node in enumerate(document.nodes):
        path = path_of(document, i)
        for ours, theirs in names.items():
            columns[ours][path] += node.get(theirs, 0)
        for key, value in node["counters"].items():
            counters[key][path] += value
    return Tree(columns, counters)


def is_within(span, begin, end):
    """Whether a span counts in a stretch of time: one that only touches it
    does not, unless it has no duration."""
    last = span.begin + span.duration
    return span.begin <= end and last >= begin and (
        span.duration == 0 or min(last, end) > max(span.begin, begin))


def stretch(document, begin, end, lanes=None):
    """Returns the tree of the spans in a stretch of time, on some lanes."""
    paths = [path_of(document, i) for i in range(len(document.nodes))]
    columns = {name: collections.Counter(dict.fromkeys(paths, 0))
               for name in (*COLUMNS, "starved")}
    children = collections.defaultdict(list)
    for span in document.spans:
        children[span.parent].append(span)
    for span in document.spans:
        if not is_within(span, begin, end) \
                or lanes is not None and span.lane not in lanes:
            continue
        low, high = max(begin, span.begin), min(end, span.begin
                                                + span.duration)
        inside = [(max(low, one.begin), min(high, one.begin + one.duration),
                   one.lane) for one in children[span.id]]
        inside = [one for one in inside if one[1] > one[0]]
        called = union([one[:2] for one in inside if one[2] == span.lane])
        wait = span.wait * (high - low) / (span.duration or 1)
        add = {"calls": 1, "total": high - low,
               "self": high - low - union([one[:2] for one in inside]),
               "wait": wait, "work": max(0, high - low - called - wait),
               "queue": max(0, min(span.begin, end)
                            - max(span.submitted, begin))}
        if document.nodes[span.node]["edge"] in (ASYNC, PHASE):
            add["work"] = 0
        add["starved"] = (document.starved or {}).get(span.id, 0) \
            * (high - low) / (span.duration or 1)
        for name, value in add.items():
            columns[name][paths[span.node]] += value
    return Tree(columns)


# Maps a path by the kind of transform of a site; None: the path is left out.
# The second value says whether it remains a node itself, or is merged into its
# parent, which has its calls and its total already.

def focused(path, wanted):
    at = next((i for i, (one, _) in enumerate(path) if one == wanted), None)
    return (None, True) if at is None else (path[at:], True)


def hidden(path, wanted):
    return (None, True) if any(one == wanted for one, _ in path) \
        else (path, True)


def merged(path, wanted):
    left = tuple(one for one in path if one[0] != wanted)
    return left or None, path[-1][0] != wanted


def collapsed(path, wanted):
    at = [i for i, (one, _) in enumerate(path) if one == wanted]
    if len(at) < 2:
        return path, True
    return path[:at[0] + 1] + path[at[-1] + 1:], at[-1] != len(path) - 1


TRANSFORMS = {"Focus": focused, "Hide": hidden, "Merge into caller": merged,
              "Collapse recursion": collapsed}


def transformed(tree, kind, wanted):
    columns = {name: collections.Counter() for name in tree.columns}
    counters = {key: collections.Counter() for key in tree.counters}
    for path in tree.paths:
        to, is_itself = TRANSFORMS[kind](path, wanted)
        if to is None:
            continue
        for name, column in tree.columns.items():
            columns[name][rooted(to)] += column[path] \
                if is_itself or name not in ("calls", "total") else 0
        for key, own in tree.counters.items():
            counters[key][rooted(to)] += own[path]
    return Tree(columns, counters)


# ---------------------------------------------------------------------------
# Numbers as the page writes them
# ---------------------------------------------------------------------------

def fixed(value, digits):
    """Formats like JavaScript's toFixed."""
    step = decimal.Decimal(1).scaleb(-digits)
    return str(decimal.Decimal(value).quantize(step, decimal.ROUND_HALF_UP))


def three_digits(value, size):
    """Of value / size, with halves rounded up."""
    for digits in (2, 1):
        rounded = math.floor(value * 10 ** digits / size + 0.5)
        if rounded < 1000:
            return fixed(decimal.Decimal(rounded).scaleb(-digits), digits)
    return str(math.floor(value / size + 0.5))


def scaled(value, units):
    size, unit = next(((size, unit) for size, unit in reversed(units)
                       if value >= 0.9995 * size), units[0])
    text = str(int(value + 0.5)) if size == 1 else three_digits(value, size)
    return f"{text}\u00a0{unit}"


def time_text(ns):
    return scaled(ns, [(1, "ns"), (1e3, "\u00b5s"), (1e6, "ms"), (1e9, "s")])


def bytes_text(nbytes):
    return scaled(nbytes, [(1, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")])


def count_text(count):
    return f"{int(count + 0.5):,}"


def unit_text(value, unit):
    return {"time": time_text, "bytes": bytes_text,
            "count": count_text}[unit](value)


def change_text(text, before, after):
    """Returns both values, with one unit if it is the same."""
    was, now = text(before), text(after)
    number, *unit = was.split("\u00a0")
    return f"{number if unit == now.split(chr(160))[1:] else was} \u2192 {now}"


def signed_text(ns):
    return ("\u2212" if ns < 0 else "+") + time_text(abs(ns))


def share_text(part, whole_):
    percent = 100 * part / whole_ if whole_ > 0 else 0
    if 0 < percent < 0.1:
        return "<\u20090.1\u00a0%"
    return fixed(percent, 0 if percent >= 99.95 else 1) + "\u00a0%"


def share_of_all_text(part, whole_, of=""):
    return share_text(part, whole_) + of + (
        " (concurrent threads)" if part > 1.0005 * whole_ else "")
