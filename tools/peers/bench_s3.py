# SPDX-License-Identifier: MIT
"""Reads from S3 over a link with latency: radio and its peers.

The server is Ceph's gateway on this machine, behind a proxy that delays both
directions and counts requests.  Each store is read in a process of its own,
round by round, from the same bucket; all must return the same voxels.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

import bench_many
import remote
import report
import stores
import volumes
from delay import Link

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, os.fspath(ROOT / "tests" / "interop"))
import gateway as ceph  # noqa: E402

ROWS = ("axial", "box64")
NWARM = 5
# Boxes at random places, as the loaders of a training read them at once.  A
# store whose single box takes longer than this is left out.
NBOXES, READERS = 96, (8, 32)
SLOW_BOX_S = 0.4
BUCKET = "bench"
DTYPE = "int16"


def arguments():
    parser = argparse.ArgumentParser(prog="tools/bench-s3")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--delay-ms", type=float, default=15)
    parser.add_argument("--rate", type=float, default=50,
                        help="MB/s, of the whole volume")
    parser.add_argument("--quick", action="store_true",
                        help="a small volume, one round, on stdout")
    parser.add_argument("--many", type=int, metavar="N",
                        help="measure commands on N small volumes instead")
    parser.add_argument("--before", type=Path, metavar="DIR",
                        help="an older build to compare with, with --many")
    parser.add_argument("--before-many", type=int, metavar="N",
                        help="of how many volumes that has its S3 rows")
    options = parser.parse_args()
    if options.quick:
        options.rounds = 1
    options.threads = os.cpu_count()
    return options


def write_layout(options, name, folder):
    """Writes a store as bench-peers does, if it is missing."""
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = folder.with_name(f"new-{folder.name}")
    data = options.folder / "data"
    if name.startswith("radio-"):
        tiling, codec = name.split("-")[1:]
        head = folder.with_name("head.nii")
        head.unlink(missing_ok=True)
        head.symlink_to((data / f"{DTYPE}.nii").resolve())
        subprocess.run(
            [options.build / "tools" / "radio", "ingest", "-q", "-s", new,
             "-c", "ct", "--tiling", tiling, "--codec", codec, head],
            check=True)
        head.unlink()
    else:
        stores.find(name).write(np.load(data / f"{DTYPE}.npy"),
                                os.fspath(new), 2)
    new.rename(folder)


def upload(client, folder, prefix):
    """Uploads the files of a folder; returns their total bytes."""
    nbytes = 0
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            key = f"{prefix}/{file.relative_to(folder).as_posix()}"
            client.put_object(Bucket=BUCKET, Key=key, Body=file.read_bytes())
            nbytes += file.stat().st_size
    return nbytes


class Client:
    """A process that reads one store through a link."""

    def __init__(self, options, server, name, link):
        env = server.environment(
            RADIO_TESTS_BUILDDIR=os.fspath(options.build.resolve()),
            RADIO_BENCH_DTYPE=DTYPE,
            RADIO_BENCH_SHAPE=json.dumps(options.shape),
            AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{link.port}",
            AWS_ENDPOINT_URL=f"http://127.0.0.1:{link.port}",
            AWS_CONFIG_FILE=os.devnull, AWS_EC2_METADATA_DISABLED="true",
            AWS_SHARED_CREDENTIALS_FILE=os.devnull)
        self.link = link
        self.process = subprocess.Popen(
            [sys.executable, Path(remote.__file__), name,
             f"http://127.0.0.1:{link.port}", BUCKET, name], env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n", name

    def read(self, row, seed, i, reopen, **more):
        self.link.take_counts()
        self.process.stdin.write(json.dumps(
            {"row": row, "seed": seed, "i": i, "reopen": reopen, **more})
            + "\n")
        self.process.stdin.flush()
        result = json.loads(self.process.stdout.readline())
        requests, nbytes, connections = self.link.take_counts()
        return {**result, "requests": requests, "nbytes": nbytes,
                "connections": connections}

    def end(self):
        self.process.stdin.close()
        if self.process.wait(timeout=60):
            raise SystemExit("bench-s3: a client failed")


def read_rows(options, server, name, seed):
    """Measures cold reads, and warm ones: the same places again, but without
    cached tiles."""
    found = {}
    for row in ROWS:
        link = Link(server.port, options.delay_ms / 1000)
        client = Client(options, server, name, link)
        found[f"{row} cold"] = [client.read(row, seed, 0, True)]
        for i in range(NWARM):
            client.read(row, seed, i, False)
        found[f"{row} warm"] = [client.read(row, seed, i, False)
                                for i in range(NWARM)]
        if row == "box64":
            read_many(client, seed, found)
        client.end()
        link.stop()
    for when, rate in (("cold", options.rate * 1e6), ("unlimited", 0)):
        link = Link(server.port, options.delay_ms / 1000, rate)
        client = Client(options, server, name, link)
        found[f"full {when}"] = [client.read("full", seed, 0, True)]
        client.end()
        link.stop()
    return found


def read_many(client, seed, found):
    """Measures boxes by several readers at once of a store that is open, and
    whose indexes were read."""
    if median(run["seconds"] for run in found["box64 warm"]) > SLOW_BOX_S:
        return
    def read(nboxes, readers, seed):
        return client.read("box64", seed, 0, False, boxes=nboxes,
                           readers=readers)
    read(NBOXES // 4, max(READERS), seed + 1000)
    for readers in READERS:
        found[f"boxes-{readers} warm"] = [read(NBOXES, readers, seed)]


def check(name, found, sums):
    """Checks that all stores return the same voxels."""
    for row, runs in found.items():
        for i, run in enumerate(runs):
            wanted = sums.setdefault((row.split()[0], i), run["sum"])
            if run["sum"] != wanted:
                raise SystemExit(f"bench-s3: {name}: {row}: not the voxels "
                                 "that the others deliver")


def measure(options, server, results):
    names = [store.name for store in remote.STORES]
    for seed in range(options.rounds):
        sums = {}
        random.Random(seed).shuffle(names)
        for name in names:
            found = read_rows(options, server, name, seed)
            check(name, found, sums)
            for row, runs in found.items():
                results.setdefault((name, row), []).append(
                    {key: median(run[key] for run in runs)
                     for key in ("seconds", "requests", "nbytes")})
            print(f"round {seed + 1}, {name}", file=sys.stderr)


def cell(runs):
    """Returns milliseconds, their range, and requests."""
    times = sorted(1000 * run["seconds"] for run in runs)
    text = f"{median(times):.0f}"
    if len(times) > 1:
        text += f" ({times[0]:.0f}-{times[-1]:.0f})"
    return f"{text} / {median(run['requests'] for run in runs):.0f}"


def make_table(options, results, sizes):
    columns = [f"{row} {when}" for row in ROWS for when in ("cold", "warm")]
    columns.append("full cold")
    heads = ["store", "MB"] + columns[:-1] + [
        f"whole at {options.rate:.0f} MB/s",
        "time / transfer time of its bytes"]
    rows = []
    for store in remote.STORES:
        full = results[store.name, "full cold"]
        needs = [run["seconds"] / (run["nbytes"] / (options.rate * 1e6))
                 for run in full]
        rows.append([store.title, f"{sizes[store.name] / 1e6:.1f}"]
                    + [cell(results[store.name, column])
                       for column in columns]
                    + [f"{median(needs):.2f}"])
    return report.table(heads, rows)


def rate_cell(runs):
    """Returns boxes per second, and requests and megabytes of a box."""
    if not runs:
        return ""
    rates = sorted(NBOXES / run["seconds"] for run in runs)
    text = f"{median(rates):.0f}"
    if len(rates) > 1:
        text += f" ({rates[0]:.0f}-{rates[-1]:.0f})"
    requests = median(run["requests"] for run in runs) / NBOXES
    nbytes = median(run["nbytes"] for run in runs) / NBOXES
    return f"{text} / {requests:.1f} / {nbytes / 1e6:.2f}"


def make_loader_table(results):
    heads = ["store", "whole, no limit"] + [
        f"boxes/s, {n} readers" for n in READERS]
    return report.table(heads, [
        [store.title, cell(results[store.name, "full unlimited"])]
        + [rate_cell(results.get((store.name, f"boxes-{n} warm")))
           for n in READERS]
        for store in remote.STORES])


def best_of_others(results, name, row):
    """Returns the ratio of the fastest other store's time to radio's."""
    def seconds(store):
        return median(run["seconds"] for run in results[store.name, row])
    others = [seconds(store) for store in remote.STORES
              if not store.name.startswith("radio-")]
    return min(others) / seconds(remote.find(name))


def make_text(options, results, sizes):
    rows = [f"{row} {when}" for row in ROWS for when in ("cold", "warm")]
    ratios = "; ".join(
        f"with {title} " + ", ".join(
            f"{row} {best_of_others(results, name, row):.2f}"
            for row in rows + ["full cold", "full unlimited"])
        for title, name in (
            ("`medium`", "radio-balanced-medium"),
            ("`small`", "radio-balanced-small"),
            ("`medium` and isotropic tiles", "radio-isotropic-medium")))
    return (f"{report.machine(options)}; {options.rounds} rounds, each way "
            f"{options.delay_ms:.0f} ms later; milliseconds in the median "
            "(and the range) of the rounds / requests.\n\n"
            + make_table(options, results, sizes)
            + f"\n\nThe whole volume without a limit of the rate, and {NBOXES} "
            "boxes of 64^3 at random places by several readers of one "
            "process, the store open and its indexes read: boxes per second "
            "/ requests / MB of a box. Stores whose single box takes more "
            f"than {SLOW_BOX_S} s are left out. The server and the proxy take "
            "their part of the same processors.\n\n"
            + make_loader_table(results)
            + f"\n\nTime of the fastest of the others relative to radio: "
            f"{ratios}.\n")


def measure_many(options):
    with tempfile.TemporaryDirectory() as folder:
        server = ceph.Gateway(Path(folder))
        try:
            text = bench_many.main(options, server)
        finally:
            server.stop()
    if options.docs and not options.quick:
        report.put(options.docs, "bench-many", text)
    else:
        print(text)


def main():
    options = arguments()
    if options.many:
        return measure_many(options)
    if options.quick:
        options.folder = options.folder / "quick"
    volumes.make(options.folder / "data", options.quick, [DTYPE])
    array = np.load(options.folder / "data" / f"{DTYPE}.npy", mmap_mode="r")
    options.shape = list(array.shape)
    for store in remote.STORES:
        write_layout(options, store.name, options.folder / "stores" / DTYPE
                     / store.name)
    results, sizes = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        server = ceph.Gateway(Path(folder))
        try:
            client = server.client()
            client.create_bucket(Bucket=BUCKET)
            for store in remote.STORES:
                sizes[store.name] = upload(
                    client, options.folder / "stores" / DTYPE / store.name,
                    store.name)
            measure(options, server, results)
        finally:
            server.stop()
    text = make_text(options, results, sizes)
    if options.docs and not options.quick:
        report.put(options.docs, "bench-s3", text)
    else:
        print(text)


if __name__ == "__main__":
    main()
