# SPDX-License-Identifier: MIT
"""Times of rounds, and the tables that show them."""

import statistics
import time


def timed(function, nrounds):
    """Seconds of each round."""
    seconds = []
    for _ in range(nrounds):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return seconds


def cell(values, scale=1, digits=0):
    """The median, and half of the values."""
    if len(values) == 1:
        return f"{values[0] * scale:.{digits}f}"
    low, middle, high = statistics.quantiles(values, n=4)
    return (f"{middle * scale:.{digits}f} "
            f"({low * scale:.{digits}f}-{high * scale:.{digits}f})")


def line(cells):
    return "| " + " | ".join(cells) + " |"


def table(titles, rows, alignment="---:"):
    """Returns a Markdown table; the first column is left-aligned, the others
    as given."""
    lines = [line(titles), "|---" + f"|{alignment}" * (len(titles) - 1) + "|"]
    return "\n".join(lines + [line(row) for row in rows])
