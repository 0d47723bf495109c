# SPDX-License-Identifier: MIT
"""Starts worker processes, of parents that have read before, by each of
multiprocessing's methods, and counts what becomes of them: of libradio's,
of zarr-python's with its pipeline, of zarrs' and of tensorstore.

Stores are on a disk, on a web server, and in S3 by Ceph's gateway.  Each
parent is a process of its own: it reads the whole array, starts some workers
at once, again and again, and reads once more.  A worker gets the parent's open
array, inherited or pickled, reads boxes of it, and sends their checksum.
"""
import argparse
import collections
import contextlib
import importlib
import itertools
import json
import multiprocessing
import multiprocessing.connection
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "libradio": ["libradio"],
    "zarr, libradio": ["zarr", "libradio.zarr"],
    "tensorstore": ["tensorstore"],
    "zarr, zarrs": ["zarr", "zarrs", "obstore"],
}
WHERE = ["disk", "http", "S3"]
METHODS = ["fork", "forkserver", "spawn"]
WORKERS = 8
PATH, BUCKET = "ct/a", "starts"
# A program whose workers hang is not tried further.
HUNG_STARTS = 2
# Of parents at once: one whose workers hang does not hold up the others.
PARENTS = 2
EQUAL, OTHER, RAISED, ENDED, HUNG = [
    "equal", "other samples", "an exception", "crashed", "hung"]


def parse():
    parser = argparse.ArgumentParser(prog="bench-peers starts")
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--quick", action="store_true",
                        help="two starts, and few of peers")
    parser.add_argument("--starts", type=int,
                        help="of libradio; default: 200")
    parser.add_argument("--peer-starts", type=int,
                        help="of the others; default: 2")
    parser.add_argument("--timeout", type=float, default=60,
                        help="seconds after which a worker hangs")
    parser.add_argument("--program", action="append", choices=PROGRAMS)
    parser.add_argument("--where", action="append", choices=WHERE)
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--parent", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.starts = options.starts or (2 if options.quick else 200)
    options.peer_starts = options.peer_starts or (1 if options.quick else 2)
    return options


# The arrays.

class Tensorstore:
    """Waits for what it reads, as the others do."""

    def __init__(self, store):
        self.store = store
        self.shape = store.shape

    def __getitem__(self, index):
        return self.store[index].read().result()


def open_array(program, where, place, level):
    """Returns something that is indexed as an array of z, y, x."""
    if program == "libradio":
        import libradio
        return libradio.open(place)[PATH].zyx
    path = f"{PATH}/{level}"
    if program == "tensorstore":
        import tensorstore
        store = {"disk": {"driver": "file", "path": f"{place}/{path}"},
                 "http": {"driver": "http", "base_url": f"{place}/",
                          "path": path},
                 "S3": {"driver": "s3", "bucket": BUCKET, "path": path,
                        "endpoint": os.environ["AWS_ENDPOINT_URL_S3"],
                        "aws_region": os.environ["AWS_REGION"]}}[where]
        return Tensorstore(tensorstore.open(
            {"driver": "zarr3", "kvstore": store}, open=True).result())
    import zarr
    return zarr.open_array(zarr_store(where, place), path=path, mode="r")


def zarr_store(where, place):
    if where == "disk":
        return place
    import obstore.store
    from zarr.storage import ObjectStore
    if where == "http":
        return ObjectStore(obstore.store.HTTPStore(
            place, client_options={"allow_http": True}), read_only=True)
    return ObjectStore(obstore.store.S3Store(
        BUCKET, endpoint=os.environ["AWS_ENDPOINT_URL_S3"],
        region=os.environ["AWS_REGION"],
        client_options={"allow_http": True}), read_only=True)


def environment_of(program):
    """Returns the variables by which children know zarr's pipeline, too.
    NumPy starts no threads for linear algebra, which is not used here: they
    took 40 ms of the 185 of a spawned worker."""
    pipelines = {"zarr, libradio": "libradio.zarr.CodecPipeline",
                 "zarr, zarrs": "zarrs.ZarrsCodecPipeline"}
    variables = {"OPENBLAS_NUM_THREADS": "1"}
    if program in pipelines:
        variables["ZARR_CODEC_PIPELINE__PATH"] = pipelines[program]
    return variables


# A parent and its workers.

def sample(array, seed):
    """Returns the checksum of some boxes."""
    rng = np.random.default_rng(seed)
    total = 0
    for _ in range(4):
        at = [int(rng.integers(0, n - 15)) for n in array.shape]
        box = array[tuple(slice(i, i + 16) for i in at)]
        total = zlib.crc32(np.ascontiguousarray(box), total)
    return total


def work(modules, array, seed, sender):
    try:
        for module in modules:
            importlib.import_module(module)
        sender.send(sample(array, seed))
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}")


def start_workers(context, modules, array, want, timeout):
    """Starts workers at once; returns the outcome of each, and a line of the
    first that raised."""
    started = []
    for seed in range(WORKERS):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=work,
                                  args=(modules, array, seed, sender))
        process.start()
        sender.close()
        started.append((process, receiver))
    deadline = time.monotonic() + timeout
    outcomes, lines = [], []
    for (process, receiver), wanted in zip(started, want):
        # One that has sent must also end.
        got = None
        if receiver.poll(max(0, deadline - time.monotonic())):
            with contextlib.suppress(EOFError):
                got = receiver.recv()
        process.join(max(0, deadline - time.monotonic()))
        if process.exitcode is None:
            outcomes.append(HUNG)
            process.kill()
            process.join()
        elif got is None or process.exitcode != 0:
            outcomes.append(ENDED)
        elif isinstance(got, str):
            outcomes.append(RAISED)
            lines.append(got)
        else:
            outcomes.append(EQUAL if got == wanted else OTHER)
        receiver.close()
    return outcomes, lines[0] if lines else ""


def be_parent(program, where, method, place, level, starts, timeout):
    """Prints the outcomes of all workers as JSON."""
    # Python 3.12 warns of any fork beside threads.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    counts, line, nhung = collections.Counter(), "", 0
    modules = PROGRAMS[program]
    try:
        for module in modules:
            importlib.import_module(module)
        array = open_array(program, where, place, level)
        whole = zlib.crc32(np.ascontiguousarray(array[...]))
        want = [sample(array, seed) for seed in range(WORKERS)]
    except Exception as error:
        print(json.dumps({"line": f"{type(error).__name__}: {error}"}))
        return
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["numpy", *modules])
    for _ in range(starts):
        outcomes, more = start_workers(context, modules, array, want, timeout)
        counts.update(outcomes)
        line = line or more
        nhung += HUNG in outcomes
        if nhung == HUNG_STARTS:
            break
    if zlib.crc32(np.ascontiguousarray(array[...])) != whole:
        counts[OTHER] += 1
    print(json.dumps({"counts": counts, "line": line, "whole": whole}),
          flush=True)
    # Threads of peers may not end.
    os._exit(0)


def run_parent(program, where, method, place, level, starts, timeout):
    """Returns what be_parent prints, or a line that says how it ended."""
    arguments = [program, where, method, place, level, starts, timeout]
    limit = (starts + 1) * timeout
    with subprocess.Popen(
            [sys.executable, __file__, "--parent", json.dumps(arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | environment_of(program),
            start_new_session=True) as parent:
        try:
            out, _ = parent.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            out = json.dumps({"line": "the parent hangs"})
        # Its workers are in its session.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
    if not out:
        how = parent.returncode
        name = signal.Signals(-how).name if how < 0 else f"status {how}"
        return {"line": f"the parent ends by {name}"}
    return json.loads(out)


# The stores.

def make_store(folder):
    """Makes a store with one volume; returns the name of its full level."""
    import libradio
    with libradio.open(folder / "starts.zarr", create=True) as store:
        libradio.phantom(store, PATH, shape=(96, 96, 64), tiling="32,32,32")
    return next(path.name for path in sorted((folder / "starts.zarr" / PATH)
                                             .iterdir()) if path.is_dir())


def serve_http(folder):
    sys.path.append(str(ROOT / "tools/python/tests"))
    from server import Server
    Server.request_queue_size = 128
    server = Server(folder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/starts.zarr"


def serve_s3(folder, stack):
    """Starts the gateway, whose variables this process gets."""
    import libradio
    sys.path.append(str(ROOT / "tests/interop"))
    from gateway import Gateway
    (folder / "s3").mkdir()
    server = Gateway(folder / "s3")
    stack.callback(server.stop)
    server.client().create_bucket(Bucket=BUCKET)
    os.environ.update(server.environment())
    with (libradio.open(folder / "starts.zarr") as store,
          libradio.open(f"s3://{BUCKET}", create=True) as target):
        libradio.copy(store, PATH, target)
    return f"s3://{BUCKET}"


# The table.

def cell(result):
    """Returns "16 of 16", and what became of the others."""
    counts = result.get("counts")
    if counts is None:
        return result["line"].partition("\n")[0][:60].replace("|", "/")
    total = sum(counts.values())
    others = [f"{counts[name]:,} {name}" for name in
              [HUNG, ENDED, RAISED, OTHER] if counts.get(name)]
    return ", ".join([f"{counts.get(EQUAL, 0):,} of {total:,}", *others])


def report(options, results):
    wheres = options.where or WHERE
    lines = ["Workers that send the parent's samples and end, of all;"
             f" {WORKERS} at once, CPython {sys.version.split()[0]}.", "",
             f"| program | start | {' | '.join(wheres)} |",
             "|---|---|" + "---|" * len(wheres)]
    for program in options.program or PROGRAMS:
        for method in options.method or METHODS:
            cells = [cell(results[program, where, method]) for where in wheres]
            lines.append(f"| {program} | {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def is_here(module):
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def main():
    options = parse()
    if options.parent:
        be_parent(*options.parent)
        return
    wheres = options.where or WHERE
    for program in list(options.program or PROGRAMS):
        lacking = [name for name in PROGRAMS[program] if not is_here(name)]
        if lacking:
            print(f"bench-peers starts: {program} is left out:"
                  f" {lacking[0]} is not installed here", file=sys.stderr)
            options.program = [name for name in options.program or PROGRAMS
                               if name != program]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(
            tempfile.TemporaryDirectory(dir=options.folder))).resolve()
        level = make_store(folder)
        places = {"disk": str(folder / "starts.zarr")}
        if "http" in wheres:
            places["http"] = serve_http(folder)
        if "S3" in wheres:
            places["S3"] = serve_s3(folder, stack)

        def count(row):
            program, where, method = row
            starts = (options.starts if program == "libradio"
                      else options.peer_starts)
            result = run_parent(program, where, method, places[where], level,
                                starts, options.timeout)
            print(f"{program}, {where}, {method}: {cell(result)}"
                  f" {result.get('line', '')}", file=sys.stderr, flush=True)
            return row, result

        # Those that may hang begin first.
        rows = list(itertools.product(
            reversed(options.program or list(PROGRAMS)),
            options.method or METHODS, wheres))
        rows = [(program, where, method) for program, method, where in rows]
        # Spawned workers run this file: they need not import it.
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(PARENTS) as parents:
            results = dict(parents.map(count, rows))
    print(report(options, results))
    ours = [cell(result) for (program, _, _), result in results.items()
            if program == "libradio"]
    whole = f"{options.starts * WORKERS:,}"
    if any(each != f"{whole} of {whole}" for each in ours):
        sys.exit("bench-peers starts: not all of libradio's workers read")


if __name__ == "__main__":
    main()
