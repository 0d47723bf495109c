# SPDX-License-Identifier: MIT
"""What a query of a cohort in S3 costs: rows of tools/bench/cohorts.

The server is Ceph's gateway on this machine, behind a proxy that delays each
way by half of a round trip.
"""

import os
import subprocess
import sys
from pathlib import Path

from delay import Link
from timing import cell, timed

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "interop"))
import gateway as ceph  # noqa: E402

TRIP_MS = 30


def measure(radio, read_cohort, server, bids, query, text, nrounds):
    """Yields what, its times in seconds, and its requests."""
    store = "s3://cohort/s.zarr"
    server.client().create_bucket(Bucket="cohort")

    def run(env, *args):
        return subprocess.run(list(map(str, args)), check=True, text=True,
                              env={**os.environ, **env},
                              stdout=subprocess.PIPE).stdout
    env = server.environment()
    run(env, radio, "ingest", "-q", "-s", store, "--layout", "bids", bids)
    run(env, radio, "table", "-q", "-s", store, "--import",
        bids / "participants.tsv")
    link = Link(server.port, TRIP_MS / 2000)
    env = server.environment(
        AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{link.port}")
    link.take_counts()
    done = run(env, read_cohort, nrounds, store, query, text)
    nrequests = link.take_counts()[0] / nrounds
    median = dict(line.split(" ", 1) for line in done.splitlines())["select"]
    yield ("open, query of two columns, open a volume",
           [float(median.split()[0]) / 1e3], nrequests)
    for how in ((), ("-l",)):
        seconds = timed(lambda how=how: run(env, radio, "ls", *how, "-s",
                                            store, "--where", query), nrounds)
        yield " ".join(["`radio ls", *how, "--where`"]), seconds, \
            link.take_counts()[0] / nrounds


def rows(radio, read_cohort, folder, make, query, text, nrounds):
    """Yields rows of a table of a cohort of 1,000 volumes."""
    where = f"S3 over {TRIP_MS} ms, 1,000 volumes"
    bids = folder / "remote"
    make(bids, 200)
    (folder / "gateway").mkdir()
    try:
        server = ceph.Gateway(folder / "gateway")
    except ceph.Absent as what:
        yield f"{where}, ms", "", f"not measured ({what})"
        return
    try:
        for name, seconds, nrequests in measure(
                radio, read_cohort, server, bids, query, text, nrounds):
            yield f"{where}: {name}, ms", "", cell(seconds, 1e3, 0)
            yield "the same, requests", "", f"{nrequests:.0f}"
    finally:
        server.stop()
