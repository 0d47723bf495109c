#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print stats-table.h: numpy's statistics of the arrays of test-stats.c.

Both make the same numbers: bits of a 64-bit linear congruential generator,
read as each type's.  Floats that are not finite become 0, except where the
case asks for them; numpy gets them as float64, since radio computes so.
"""
import numpy as np

COUNT = 5003
PERCENTS = [1, 5, 25, 50, 75, 95, 99]


def words(seed):
    state, out = seed, []
    for _ in range(COUNT):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(state)
    return np.array(out, np.uint64)


def spread(dtype):
    """Values all over the type's range."""
    dtype = np.dtype(dtype)
    bits = words(dtype.itemsize) >> np.uint64(64 - 8 * dtype.itemsize)
    a = bits.astype(f"u{dtype.itemsize}").view(dtype)
    if dtype.kind == "f":
        a = np.where(np.isfinite(a), a, dtype.type(0))
        if dtype.itemsize == 8:     # squares would overflow
            a = np.where(np.abs(a) < 1e150, a, 1.0)
    return a


def close(dtype):
    """Values close together: 900 to 1399, in the upper bits' way."""
    bits = words(77) >> np.uint64(33)
    return (bits % np.uint64(500)).astype(dtype) + np.array(900, dtype)


def c_double(x):
    return float(x).hex()


def entry(name, dtype, kind, a, slope, inter):
    with np.errstate(all="ignore"):
        v = a.astype(np.float64) * slope + inter
    p = np.percentile(v, PERCENTS)
    h, e = np.histogram(v, bins=64)
    print(f"  {{ \"{name}\", RADIO_{dtype.upper()}, {kind},")
    print(f"    {c_double(slope)}, {c_double(inter)},")
    for pair in ((v.min(), v.max()), (v.mean(), v.std())):
        print("    " + ", ".join(c_double(x) for x in pair) + ",")
    print("    { " + ",\n      ".join(c_double(x) for x in p) + " },")
    rows = [", ".join(str(x) for x in h[i:i + 8]) for i in range(0, 64, 8)]
    print("    { " + ",\n      ".join(rows) + " },")
    print(f"    {c_double(e[0])}, {c_double(e[-1])} }},")


print("/* SPDX-License-Identifier: MIT */")
print("/* Made by stats-table.py with numpy; not to be edited. */")
print("static const struct stats_case stats_cases[] = {")
for t in ("int8", "uint8", "int16", "uint16", "float16", "int32", "uint32",
          "float32", "int64", "uint64", "float64"):
    entry(f"{t} all over", t, "SPREAD", spread(t), 1, 0)
for t in ("int16", "float16", "int32", "float32", "int64", "float64"):
    entry(f"{t} close together", t, "CLOSE", close(t), 1, 0)
for t in ("int16", "uint8", "int32", "float32"):
    entry(f"{t} scaled", t, "SPREAD", spread(t), 0.37, -1024)
    entry(f"{t} turned round", t, "SPREAD", spread(t), -2.5, 3)
print("};")
