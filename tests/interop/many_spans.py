# SPDX-License-Identifier: MIT
"""Makes profiles with a given number of spans, by whole arrays: calls up to
six deep on 16 threads, of 2,400 paths; all below one operation, if wanted.

    text = json.dumps(many_spans(np, 1_000_000))
"""

import base64
import random
import zlib

from profile_document import ProfileDocument, zigzag

LANES = 16
# The number of spans of an operation, and of kinds of operations.
SPANS, KINDS = 12, 200
NAMES = ("read", "tiles", "fetch", "decode", "blosc", "place", "plan",
         "index", "wait", "checksum")
CATEGORIES = ("operation", "operation", "disk", "decode", "decode", "place",
              "metadata", "metadata", "queue", "user")


def packed(np, columns):
    """Returns columns of numbers below 2^63 as varints."""
    out = []
    for column in columns:
        column = np.asarray(column, np.uint64)
        sizes = np.ones(len(column), np.int64)
        for k in range(1, 9):
            sizes += column >= np.uint64(1 << 7 * k)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        data = np.zeros(int(sizes.sum()), np.uint8)
        for k in range(9):
            there = sizes > k
            part = (column[there] >> np.uint64(7 * k)) & np.uint64(127)
            more = (sizes[there] > k + 1).astype(np.uint8) << 7
            data[starts[there] + k] = part.astype(np.uint8) | more
        out.append(data.tobytes())
    return b"".join(out)


def kind_of_operation(rng):
    """Returns the spans of a kind of operation: [begin, end, parent], as
    fractions of its time, callers first."""
    spans = [[0.0, 1.0, -1]]
    free, depths = [0.02], [0]
    while len(spans) < SPANS:
        parent = rng.choice([i for i, depth in enumerate(depths)
                             if depth < 5 and depth >= max(depths) - 2])
        left = spans[parent][1] - free[parent]
        begin = free[parent] + left * rng.uniform(0.01, 0.1)
        end = begin + left * rng.uniform(0.2, 0.7)
        free[parent] = end
        spans.append([begin, end, parent])
        depths.append(depths[parent] + 1)
        free.append(begin)
    order = sorted(range(SPANS), key=lambda i: (spans[i][0], -spans[i][1]))
    place = {old: new for new, old in enumerate(order)}
    place[-1] = -1
    return [[spans[i][0], spans[i][1], place[spans[i][2]]] for i in order]


def add_nodes(made, kinds, rng, top):
    """Adds a path of the tree for each span of each kind, below a path."""
    for number, kind in enumerate(kinds):
        nodes = []
        for _, _, parent in kind:
            name = rng.randrange(len(NAMES))
            text = f"{NAMES[name]} {number if parent < 0 else len(nodes)}"
            nodes.append(made.node(text, CATEGORIES[name],
                                   nodes[parent] if parent >= 0 else top))


def sum_up(np, made, node, duration, parents):
    """Computes the tree's times from the spans; siblings do not overlap, but
    those of several threads."""
    calls = np.bincount(node, minlength=len(made.nodes))
    total = np.bincount(node, duration, len(made.nodes))
    inside = np.zeros(len(made.nodes))
    has = parents >= 0
    np.add.at(inside, parents[has], total[has])
    for i, one in enumerate(made.nodes):
        own = max(0, int(total[i] - inside[i]))
        one.update(calls=int(calls[i]), total_ns=int(total[i]), self_ns=own,
                   work_ns=own)


def many_spans(np, count, seed=7, rooted=False):
    """Returns a document of at least count spans; rooted: all of them in one
    operation of the first thread, a tenth of whose children only waits."""
    rng, rows = random.Random(seed), np.random.default_rng(seed)
    made = ProfileDocument("many spans")
    for i in range(LANES):
        made.lane(f"worker {i}")
    kinds = [kind_of_operation(rng) for _ in range(KINDS)]
    top = made.node("operation", "operation", -1) if rooted else -1
    add_nodes(made, kinds, rng, top)
    kinds = np.array(kinds)
    n = -(-count // (LANES * SPANS))
    columns = [[] for _ in range(9)]
    for lane in range(LANES):
        kind = rows.integers(0, KINDS, n)
        took = rows.lognormal(11.5, 0.8, n)
        starts = np.concatenate([[0], np.cumsum(took[:-1] + 500)])
        begin, end = ((starts[:, None] + kinds[kind, :, k]
                       * took[:, None]).astype(np.int64).ravel()
                      for k in (0, 1))
        parent = np.where(kinds[kind, :, 2] >= 0, np.arange(SPANS)
                          - kinds[kind, :, 2], 0).astype(np.int64).ravel()
        ids = np.full(n * SPANS, zigzag(1))
        first = 1 + rooted + lane * n * SPANS
        ids[0] = zigzag(first)
        wait = np.zeros(n * SPANS, np.int64)
        if rooted:
            parent[::SPANS] = first - 1 + np.arange(n) * SPANS
            wait[::10 * SPANS] = (end - begin)[::10 * SPANS]
        zeros = np.zeros(n * SPANS, np.int64)
        node = (rooted + kind[:, None] * SPANS
                + np.arange(SPANS)).ravel()
        for column, values in zip(columns, (
                np.diff(begin, prepend=0), end - begin, zeros, wait, ids,
                2 * parent, node, zeros, node % SPANS * 4096)):
            column.append(values)
    walls = [int(column.sum()) for column in columns[0]]
    if rooted:
        # It precedes the other spans of the first lane.
        columns[4][0][0] = zigzag(1)
        for column, value in zip(columns, (0, max(walls), 0, 0, zigzag(1), 0,
                                           0, 0, 0)):
            column[0] = np.concatenate([[value], column[0]])
    columns = [np.concatenate(column) for column in columns]
    sum_up(np, made, columns[6], columns[1],
           np.array([one["parent"] for one in made.nodes]))
    document = made.document()
    total = LANES * n * SPANS + rooted
    raw = packed(np, columns)
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    data = deflate.compress(raw) + deflate.flush()
    document["spans"] = {"count": total, "encoding": "deflate",
                         "nbytes": len(raw),
                         "data": base64.b64encode(data).decode()}
    document["lanes"]["span_count"] = [n * SPANS + rooted] \
        + [n * SPANS] * (LANES - 1)
    document["info"].update(wall_ns=max(walls), scope_count=total)
    return document
