# SPDX-License-Identifier: MIT
"""Benchmarks radio and alternative stores in one run.

Steps: prepare (makes volumes and stores, and checks that all return the same
voxels), reads and writes (rounds, in which everything is measured once,
radio's layouts between the others, so that a temporary slowdown of the machine
affects all alike), scaling (radio compared with itself), images (layouts of
several images) and report.  All steps but the last resume where an earlier
call was interrupted, until there are enough rounds; with another build, or
other stores, they start again (prepared.py).
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import checks
import images
import places
import prepared
import report
import scaling
import stores
import volumes
import worker

STEPS = ["prepare", "reads", "writes", "scaling", "images", "report"]
READS = ["full", "axial", "coronal", "sagittal", "box32", "box64", "box128"]
# Scrolling takes long, so only the stores that matter are measured.
SCROLLERS = ["ts-shard", "ts-cache", "blosc2", "blosc2-nnunet"]
HERE = Path(__file__).resolve().parent


def parse():
    parser = argparse.ArgumentParser(prog="bench-peers")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--threads", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--step", action="append", choices=STEPS)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--dtype", action="append",
                        choices=list(volumes.DTYPES))
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--summary", type=Path)
    parser.add_argument("--readme", type=Path)
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.step = options.step or STEPS
    return options


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = options.folder.resolve()
        self.radio = options.build.resolve() / "tools" / "radio"
        wanted = stores.QUICK if options.quick else list(stores.BY_NAME)
        self.stores = [stores.find(n) for n in wanted if self.usable(n)]
        self.layouts = [(t, c) for t in stores.TILINGS
                        for c in stores.CODECS]
        if options.quick:
            self.layouts = [("balanced", "medium"), ("axial", "small")]
        self.prepared = prepared.Prepared(self.folder)
        self.build = prepared.build_of(options.build.resolve()) + (
            "-quick" if options.quick else "")
        self.commit = prepared.commit_of(options.build.resolve())
        self.scales = scaling.Scaling(self)
        self.checks = {}
        self.end = time.monotonic() + options.seconds
        kinds = {store.module for store in self.stores if store.module}
        if len(kinds) < 3:
            raise SystemExit("bench-peers: fewer than three of the other "
                             "stores can be imported: "
                             "pip install -r tools/peers/requirements.txt")

    @staticmethod
    def usable(name):
        module = stores.find(name).module
        if module is None or importlib.util.find_spec(module):
            return True
        print(f"bench-peers: {name} is left out: there is no {module}")
        return False

    # Paths.

    def data(self, dtype, suffix):
        return str(self.folder / "data" / f"{dtype}{suffix}")

    def path(self, dtype, name):
        """Returns the path of a store, or of the file that is read
        directly."""
        if name in stores.BY_NAME and stores.find(name).file:
            return self.data(dtype, stores.find(name).file)
        if name == "ts-cache":
            name = "ts-shard"
        if name.startswith("python-"):
            name = name.replace("python-", "radio-")
        suffix = {"h5": ".h5"}.get(name, "")
        if name.startswith("blosc2"):
            suffix = ".b2nd"
        return str(self.folder / "stores" / dtype / (name + suffix))

    def shape(self, dtype):
        return list(np.load(self.data(dtype, ".npy"), mmap_mode="r").shape)

    def checked(self, dtype):
        return self.checks.setdefault(dtype, checks.Checks(
            self.data(dtype, ".npy")))

    def results(self, dtype):
        return self.folder / f"results-{dtype}.jsonl"

    # Running commands.

    def work(self, store, dtype, phase, **task):
        """Runs one task in a process of its own."""
        task = {"store": store.name, "phase": phase, "dtype": dtype,
                "path": self.path(dtype, store.name),
                "threads": self.options.threads,
                "shape": self.shape(dtype), **task}
        env = {**os.environ, "RADIO_BENCH_DTYPE": dtype,
               "RADIO_TESTS_BUILDDIR": str(self.options.build.resolve()),
               "OMP_NUM_THREADS": str(self.options.threads),
               "RAYON_NUM_THREADS": str(self.options.threads)}
        done = subprocess.run(
            [sys.executable, HERE / "worker.py", json.dumps(task)], env=env,
            capture_output=True, text=True, timeout=1800, check=False)
        if done.returncode:
            raise SystemExit(f"bench-peers: {store.name}, {phase}:\n"
                             + done.stderr[-2000:])
        return json.loads(done.stdout.splitlines()[-1])

    def radio_json(self, *arguments, program=None):
        return json.loads(self.run_radio(*arguments, "--json",
                                         program=program))

    def run_radio(self, *arguments, program=None):
        """The output of radio, or of another program of its build."""
        program = program or self.radio
        done = subprocess.run([program, *map(str, arguments)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"bench-peers: {program.name}: {done.stderr}")
        return done.stdout

    def keep(self, dtype, record):
        if self.commit:
            record = {**record, "commit": self.commit}
        with open(self.results(dtype), "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    # Steps of the benchmark.

    def prepare(self):
        """Keeps what this build made already.  Renames results of other
        data."""
        data = self.folder / "data"
        volumes.make(data, self.options.quick, self.dtypes())
        if "int16" in self.dtypes():
            self.make("scaling", self.scales.folder, self.scales.make)
        for dtype in self.dtypes():
            (self.folder / "stores" / dtype).mkdir(parents=True,
                                                   exist_ok=True)
            for layout in self.layouts:
                self.make_layout(dtype, *layout)
            self.make_missing(dtype)
            self.verify(dtype, self.readers())
            self.prepared.update(dtype, self.identity(dtype),
                                 self.results(dtype))

    def make(self, name, path, how, *what):
        """Makes a store again if an earlier call was interrupted."""
        if os.path.exists(path) and self.prepared.is_made(name, self.build):
            return
        shutil.rmtree(path, ignore_errors=True)
        how(*what)
        self.prepared.made(name, self.build)

    def make_missing(self, dtype):
        """Makes the missing stores of others, which do not depend on the
        build.  Returns those."""
        missing = [store for store in self.stores if store.writes
                   and not os.path.exists(self.path(dtype, store.name))]
        for store in missing:
            print(f"writing {store.name}, {dtype}", flush=True)
            beside = self.path(dtype, f"new-{store.name}")
            self.time_write(store, dtype, "write", path=beside, times=1,
                            array=self.data(dtype, ".npy"))
            os.rename(beside, self.path(dtype, store.name))
        return missing

    def identity(self, dtype):
        """Returns everything that the results of a type of voxels depend
        on."""
        found = {"build": self.build, "threads": str(self.options.threads),
                 "voxels": str(self.checked(dtype).expected("full"))}
        for tiling, codec in self.layouts:
            name = f"radio-{tiling}-{codec}"
            found[name] = str(worker.disk_nbytes(self.path(dtype, name)))
        for store in self.stores:
            version = store.module and importlib.metadata.version(
                store.module.partition(".")[0])
            found[store.name] = (
                f"{version or self.build}, "
                f"{worker.disk_nbytes(self.path(dtype, store.name))}")
        return found

    def require(self, dtype):
        """Checks that the stores to measure were prepared by this build."""
        if not os.path.exists(self.path(dtype, "radio-balanced-medium")):
            raise SystemExit(f"bench-peers: {dtype} was not prepared yet: "
                             "run --step=prepare first")
        if not self.prepared.is_of(dtype, build=self.build,
                                   threads=str(self.options.threads)):
            raise SystemExit(f"bench-peers: {dtype} was prepared by another "
                             "build, or for another number of threads: run "
                             "--step=prepare again")

    def dtypes(self):
        return self.options.dtype or (
            ["int16"] if self.options.quick else list(volumes.DTYPES))

    def make_layout(self, dtype, tiling, codec):
        name = f"radio-{tiling}-{codec}"
        path = self.path(dtype, name)
        link = self.folder / "data" / dtype / "head.nii.gz"
        link.parent.mkdir(exist_ok=True)
        if not link.exists():
            os.link(self.data(dtype, ".nii.gz"), link)
        self.make(f"{dtype}/{name}", path, self.run_radio, "ingest", "-s",
                  path, "-c", "ct", "--tiling", tiling, "--codec", codec,
                  link)

    def readers(self):
        """Returns all stores, with every layout of radio."""
        through = [stores.Radio(*layout) for layout in self.layouts]
        names = {store.name for store in through}
        return through + [s for s in self.stores if s.name not in names]

    def verify(self, dtype, readers):
        """Checks that all readers return the same voxels as numpy."""
        for store in readers:
            rows = [r for r in READS if store.rows is None
                    or r in store.rows]
            if not rows:
                continue
            sums = self.work(store, dtype, "read", checked=rows, rows=[],
                             seed=0)["checksums"]
            self.checked(dtype).compare(store.name, sums)
        print(f"{len(readers)} stores return the same voxels, {dtype}")

    def turns(self):
        """Yields everything once: a layout of radio after each two others."""
        layouts, others = list(self.layouts), list(self.stores)
        while layouts or others:
            yield from (("store", s) for s in others[:2])
            others = others[2:]
            if layouts:
                yield "radio", layouts.pop(0)

    def all_turns(self, radio, store):
        """Returns names, functions to measure them, and their arguments."""
        found = []
        for who, what in self.turns():
            if who == "radio":
                found.append(("radio-" + "-".join(what), radio, *what))
            else:
                found.append((what.name, store, what))
        return found

    def each_round(self, dtype, kind, turns):
        """Runs the rounds, without those that an earlier call measured.
        Images have results of their own, as the types of voxels have."""
        done = {(r["round"], r["name"])
                for r in report.load(self.results(dtype))
                if r["kind"] == kind and not report.is_outdated(r)}
        for r in range(self.options.rounds):
            print(f"{kind} of {dtype}, round {r + 1}", flush=True)
            for name, measure, *what in turns:
                if time.monotonic() > self.end:
                    raise SystemExit(f"bench-peers: {kind} of {dtype}: ended "
                                     "after --seconds; resume by the same "
                                     "command")
                if (r, name) not in done:
                    measure(dtype, r, *what)

    def reads(self):
        turns = self.all_turns(self.read_radio, self.read_store)
        for dtype in self.dtypes():
            self.require(dtype)
            joined = self.make_missing(dtype)
            if joined:
                self.verify(dtype, joined)
            self.each_round(dtype, "reads", turns)

    def bench(self, *arguments):
        return self.radio_json("bench", "--rounds", 1, "--threads",
                               self.options.threads, *arguments)

    def read_radio(self, dtype, r, tiling, codec):
        """Reads into memory of numpy's allocator; the whole also into
        that of malloc."""
        path = self.path(dtype, f"radio-{tiling}-{codec}")
        common = ["-s", path, "ct/head", "--seed", r]
        rows = ",".join(READS + ["scroll", "open", "first-plane"])
        got = self.bench(*common, "--rows", rows, "--destination", "numpy")
        malloc = self.bench(*common, "--rows", "full")
        self.keep(dtype, {
            "kind": "reads", "round": r, "name": f"radio-{tiling}-{codec}",
            "stored_nbytes": got["layouts"][0]["stored_nbytes"],
            "times_s": {row["row"]: row["times_s"]
                        for row in got["layouts"][0]["rows"]
                        if "skipped" not in row},
            "malloc_full_s": malloc["layouts"][0]["rows"][0]["times_s"],
            "bench": strip(got)})

    def read_store(self, dtype, r, store):
        rows = READS + (["scroll"] if store.name in SCROLLERS
                        or store.name.startswith("python-") else [])
        rows = [row for row in rows
                if store.rows is None or row in store.rows]
        if not rows:
            return
        got = self.work(store, dtype, "read", seed=r, rows=rows,
                        checked=["box64"] if "box64" in rows else [])
        self.checked(dtype).compare(store.name, got.pop("checksums"), r)
        self.keep(dtype, {"kind": "reads", "round": r,
                          "name": got.pop("store"),
                          **report.SCROLLED_ALIKE, **got})

    def writes(self):
        turns = self.all_turns(self.write_radio, self.write_store)
        for dtype in self.dtypes():
            self.require(dtype)
            self.each_round(dtype, "writes", turns)

    def write_radio(self, dtype, r, tiling, codec):
        """Makes the temporary stores next to those of the others."""
        beside = self.path(dtype, "radio-beside")
        got = self.bench("-s", beside, self.data(dtype, ".nii.gz"),
                         "--tiling", tiling, "--codec", codec, "--rows",
                         "ingest-nii,ingest-gz", "--runs", 1, "--warmup", 1)
        times = {row["row"]: row["times_s"]
                 for row in got["layouts"][0]["rows"]}
        self.keep(dtype, {
            "kind": "writes", "round": r, "name": f"radio-{tiling}-{codec}",
            "write_s": times["ingest-nii"], "ingest_s": times["ingest-gz"],
            "inflate_s": (os.path.getsize(self.data(dtype, ".nii"))
                          / got["limits_bytes_per_s"]["inflate"]),
            "inflated_by": got["limits_bytes_per_s"]["inflated_by"]})

    def write_store(self, dtype, r, store):
        record = {"kind": "writes", "round": r, "name": store.name}
        path = self.path(dtype, f"new-{store.name}")
        times = 1 if self.options.quick else 2
        if store.writes:
            record["write_s"] = [self.time_write(
                store, dtype, "write", path=path, times=times,
                array=self.data(dtype, ".npy"))]
        if store.ingests:
            record["ingest_s"] = [self.time_write(
                store, dtype, "ingest", path=path, times=times,
                file=self.data(dtype, ".nii.gz"))]
        remove(path)
        if len(record) > 3:
            self.keep(dtype, record)

    def time_write(self, store, dtype, phase, **task):
        """Returns the seconds of a write, after checking every voxel."""
        got = self.work(store, dtype, phase, **task)
        self.checked(dtype).compare(f"what {store.name} made ({phase})",
                                    got["checksums"])
        return got["seconds"]

    def scaling(self):
        for dtype in self.dtypes():
            self.require(dtype)
            self.each_round(dtype, "scaling", [
                (name, self.scale, name, *what)
                for name, *what in self.scales.tasks(dtype)])

    def scale(self, dtype, r, name, measure, *what):
        self.keep(dtype, {"kind": "scaling", "round": r, "name": name,
                          **measure(r, *what)})

    def images(self):
        """Measures images, which need only the CT of the prepared data."""
        volumes.make(self.folder / "data", self.options.quick, ["int16"])
        self.prepared.update("images", self.identity_of_images(),
                             self.results("images"))
        self.each_round("images", "images", [
            (f"{name}-{codec}", self.measure_image, name, file, codec)
            for name, _, file in self.images_found()
            for codec in images.CODECS])

    def images_found(self):
        found = images.find(self.folder / "data", self.data("int16", ".npy"))
        return found[:1 if self.options.quick else None]

    def identity_of_images(self):
        return {"build": self.build, "threads": str(self.options.threads),
                **{name: str(os.path.getsize(file))
                   for name, _, file in self.images_found()}}

    def measure_image(self, kind, r, image, file, codec):
        self.keep(kind, {"kind": kind, "round": r, "image": image,
                         "name": f"{image}-{codec}",
                         **images.measure(self, r, file, codec)})

    def report_images(self):
        records = report.load(self.results("images"))
        titles = {name: what for name, what, _ in self.images_found()
                  } if records else {}
        by_image = {image: [r for r in records if r["image"] == image]
                    for image in titles}
        # An image is left out until every codec was measured.
        by_image = {image: found for image, found in by_image.items()
                    if len({r["name"] for r in found}) == len(images.CODECS)}
        if by_image:
            self.put("bench-images", images.text(by_image, titles))

    def report(self):
        """Writes all available types of voxels to the pages."""
        for dtype in self.dtypes():
            if not report.load(self.results(dtype)):
                raise SystemExit(f"bench-peers: nothing of {dtype} was "
                                 "measured yet")
        text = report.text(
            {d: report.load(self.results(d)) for d in self.dtypes()},
            {d: self.shape(d) for d in self.dtypes()}, self.options,
            self.run_radio("--version").strip())
        if self.options.docs and set(self.dtypes()) < set(volumes.DTYPES):
            print("bench-peers: no page is written, since pages are of all "
                  "types of voxels")
            self.options.docs = None
            self.options.summary = self.options.readme = None
        self.put("bench-peers", text)
        self.report_images()
        self.report_summary()
        self.report_readme()

    def report_summary(self):
        """Writes the ratios for int16 at the top of the summary page."""
        if self.options.summary:
            report.put(self.options.summary, "bench-ratios", report.summary(
                report.load(self.results("int16")), self.options))

    def report_readme(self):
        """Writes the figures of the same results to README.md."""
        records = report.load(self.results("int16"))
        table = report.readme(report.Results(records))
        if self.options.readme and table:
            report.put(self.options.readme, "bench-readme", table, "  ")
            print(f"some of them are in {self.options.readme}")

    def put(self, name, text):
        if self.options.docs:
            report.put(self.options.docs, name, text)
            print(f"the tables of {name} are in {self.options.docs}")
        else:
            print(text)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def strip(got):
    """Returns the parts of radio bench's figures that the report needs."""
    layout = got["layouts"][0]
    rows = {r["row"]: {k: r[k] for k in
                       ("nbytes", "decoded_nbytes", "counted_nbytes",
                        "limit_s", "median_s") if k in r}
            for r in layout["rows"]}
    return {"limits": got["limits_bytes_per_s"], "rows": rows,
            "decode_one": layout["decode_one_bytes_per_s"],
            "decode_all": layout["decode_all_bytes_per_s"],
            "tile": layout["tile"], "codecs": layout["codecs"]}


def main():
    bench = Bench(parse())
    for step in bench.options.step:
        getattr(bench, step)()


if __name__ == "__main__":
    main()
