# SPDX-License-Identifier: MIT
"""Commands on a store of very many small volumes: over a link with latency,
and on the local disk.

The server is Ceph's gateway on this machine, behind a proxy that delays both
directions and counts requests.  Server, proxy and command share this
machine's processors, so that the times are upper bounds.  Two builds can be
compared: each round takes them in turn.  An old build that takes one volume
after the other is measured with fewer of them.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import report
from delay import Link

BUCKET = "many"
SHAPE = (20, 24, 24)
SECONDS = {"ls": 1, "ls -l": 2, "validate": 10, "ingest": 25,
           "local ingest": 6, "local ls -l": 0.5}


def write_images(folder, n):
    """Writes n images of 24 KB."""
    if len(list(folder.glob("*.nii"))) == n:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *reversed(SHAPE), 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 4, 16)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 0, 0, 0, 0)
    struct.pack_into("<2f", header, 108, 352, 1)
    header[344:348] = b"n+1\0"
    noise = np.random.default_rng(0)
    for i in range(n):
        voxels = noise.integers(0, 200, SHAPE, dtype=np.int16)
        (folder / f"v{i:06d}.nii").write_bytes(bytes(header)
                                               + voxels.tobytes())


def run(build, env, *args):
    """Runs a command; returns its seconds and its peak of memory in MB."""
    begin = time.perf_counter()
    done = subprocess.run(
        [shutil.which("time"), "-f", "peak-kb %M", build / "tools" / "radio",
         *args], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True)
    seconds = time.perf_counter() - begin
    peak = re.search(r"peak-kb (\d+)", done.stderr)
    if done.returncode or not peak:
        raise SystemExit(f"bench-s3: radio {args[0]}: {done.stderr}")
    return seconds, int(peak.group(1)) / 1000


def system_calls(build, env, *args):
    """Returns the number of system calls, and of fsyncs, of a command."""
    with tempfile.NamedTemporaryFile("r") as log:
        subprocess.run(["strace", "-f", "-c", "-o", log.name,
                        build / "tools" / "radio", *args], env=env,
                       stdout=subprocess.DEVNULL, check=True)
        rows = [line.split() for line in log.read().splitlines()]
    counts = {row[-1]: int(row[3]) for row in rows
              if len(row) >= 5 and row[0][0].isdigit()}
    return counts["total"], counts.get("fsync", 0)


class Bench:
    """Measures commands.  No store is removed before the end: for five minutes
    after files were deleted, an ext4 without a journal looks for inodes that
    were not in use recently, which doubles the time of creating files."""

    def __init__(self, options):
        self.options = options
        self.stores = options.folder / "stores"
        self.found = {}

    def add(self, title, row, *figures):
        self.found.setdefault((title, row), []).append(figures)
        print(f"{title}: {row}: " + ", ".join(f"{x:.5g}" for x in figures),
              file=sys.stderr)

    def remote(self, title, build, n, server, i):
        """Measures commands on a new store of n volumes behind the link."""
        options = self.options
        link = Link(server.port, options.delay_ms / 1000)
        env = server.environment(
            AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{link.port}",
            AWS_CONFIG_FILE=os.devnull, AWS_EC2_METADATA_DISABLED="true",
            AWS_SHARED_CREDENTIALS_FILE=os.devnull)
        store = f"s3://{BUCKET}/{title}-{i}"
        images = options.folder / f"images-{n}"
        write_images(images, n)
        paths = [f"ct/v{j:06d}" for j in range(n)]
        copy = self.stores / f"copy-{title}-{i}.zarr"
        for row, *args in (
                ("ingest", "ingest", "-q", "-c", "ct", images),
                ("ls", "ls"), ("ls -l", "ls", "-l"),
                ("validate", "validate", "-q"),
                ("stats", "stats", "ct"),
                ("gc", "gc"),
                ("cp", "cp", "-q", store, copy),
                ("rm", "rm", *paths)):
            link.take_counts()
            if row == "stats" and title == "before":
                continue  # of one volume alone, then
            where = [] if row == "cp" else ["-s", store]
            seconds, peak = run(build, env, args[0], *where, *args[1:])
            self.add(title, row, seconds, link.take_counts()[0], peak)
        link.stop()

    def local(self, title, build, i):
        """Measures commands on the local disk."""
        options = self.options
        images, env = options.folder / "images-local", dict(os.environ)
        store = self.stores / f"local-{title}-{i}.zarr"
        for row, *args in (
                ("local ingest", "ingest", "-q", "-c", "ct", images),
                ("local ls -l", "ls", "-l"), ("local ls", "ls"),
                ("local validate", "validate", "-q"),
                ("local gc", "gc")):
            if row == "local ingest":
                os.sync()
            seconds, peak = run(build, env, args[0], "-s", store, *args[1:])
            self.add(title, row, seconds, 0, peak)
        # The calls of 64 volumes, less those of none.
        some = options.folder / "images-some"
        store = self.stores / f"some-{title}-{i}.zarr"
        write_images(some, 64)
        more = system_calls(build, env, "ingest", "-q", "-s", store, "-c",
                            "ct", some)
        none = system_calls(build, env, "ingest", "-q", "-s", store, "-c",
                            "ct", "--skip-existing", some / "v000000.nii")
        self.add(title, "calls of a local ingest, each volume",
                 *((a - b) / 64 for a, b in zip(more, none)), 0)

    def table(self):
        titles = list(dict.fromkeys(title for title, _ in self.found))
        rows = dict.fromkeys(row for _, row in self.found)
        heads = ["command", "aim"] + [f"{title}: s / requests / peak MB"
                                      for title in titles]
        lines = []
        for row in rows:
            cells = [row, f"{SECONDS[row]} s" if row in SECONDS else ""]
            for title in titles:
                runs = self.found.get((title, row), [])
                if not runs:
                    cells.append("")
                elif row.startswith("calls"):
                    cells.append(f"{runs[0][0]:.0f} calls, "
                                 f"{runs[0][1]:.1f} fsyncs")
                else:
                    cells.append(" / ".join(
                        f"{median(run[i] for run in runs):{form}}"
                        for i, form in ((0, ".2f"), (1, ".0f"), (2, ".0f"))))
            lines.append(cells)
        return report.table(heads, lines)


def main(options, server):
    """Returns the text of the measurements."""
    options.folder = options.folder / "many"
    write_images(options.folder / "images-local", 5 * options.many)
    server.client().create_bucket(Bucket=BUCKET)
    builds = {"now": (options.build, options.many)}
    few = options.before_many or options.many
    if options.before:
        builds = {"before": (options.before, few), **builds}
    bench = Bench(options)
    shutil.rmtree(bench.stores, ignore_errors=True)
    bench.stores.mkdir()
    try:
        for i in range(options.rounds):
            for title, (build, n) in builds.items():
                bench.local(title, build, i)
                bench.remote(title, build, n, server, i)
    finally:
        shutil.rmtree(bench.stores)
    fewer = (f" ({few} of them before)"
             if options.before and few != options.many else "")
    return (f"{report.machine(options)}; {options.many} volumes of 24 KB in "
            f"S3{fewer}, each way {options.delay_ms:.0f} ms later; "
            f"{5 * options.many} on the local disk; median of "
            f"{options.rounds} rounds.\n\n{bench.table()}\n")
