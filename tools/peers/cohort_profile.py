# SPDX-License-Identifier: MIT
"""Where `radio ls --where` spends its time over a cohort, on a local disk and
in S3 behind a delay: what tools/bench/cohorts --profile writes.

    cohort_profile.py RADIO FOLDER

FOLDER has the images and the table of cohorts.py make.  The store in S3 has the
tables and documents of the local one, and no voxels, which no query reads.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote

from cohorts import QUERY
from delay import Link

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "interop"))
import gateway as ceph  # noqa: E402
from gateway_proxy import Proxy  # noqa: E402

TRIP_MS = 30
BUCKET, NAME = "cohort", "s.zarr"

# Kinds of requests, by their method and path; the first that matches.
KINDS = [
    (r"prefix=[^&]*/heads/", "lists of a table's heads"),
    (r"prefix=[^&]*tables/volumes/", "lists of the tables of volumes"),
    (rf"prefix={NAME}/&|prefix={NAME}/$", "pages of the list of the root"),
    (r"list-type=2", "pages of the lists of volumes (1,000 each)"),
    (r"/t-[0-9a-f]{8}/", "chunks of columns"),
    (r"/tables/(subjects|volumes/[^/]+)/zarr.json",
     "documents of tables, which repeat those of generations"),
    (r"zarr.json", "documents of the root, of tables/ and of collections"),
]


def kind_of(path):
    return next(kind for pattern, kind in KINDS if re.search(pattern, path))


def is_document(path):
    """Tables, and the documents of the root, collections and volumes."""
    return path.parts[0] == "tables" or (path.name == "zarr.json"
                                         and len(path.parts) <= 3)


def upload(client, store):
    client.create_bucket(Bucket=BUCKET)
    files = [file for file in store.rglob("*") if file.is_file()
             and is_document(file.relative_to(store))]

    def put(file):
        client.put_object(Bucket=BUCKET, Body=file.read_bytes(),
                          Key=f"{NAME}/{file.relative_to(store)}")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, files))


def total_s(line):
    """The total time of a line of the tree."""
    number, unit = line[10:].split()[:2]
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def tree_of(text):
    """The call tree of a profile's text without the bars, the phases of
    requests, and what takes less than 5 % of the time; the times before it."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines)
                 if line.split()[:2] == ["total", "self"])
    tree = lines[first + 1:lines.index("", first)]
    start = next(i for i, line in enumerate(lines)
                 if line.startswith("time "))
    times = [lines[start][12:]]
    for line in lines[start + 1:]:
        if not line.startswith(" "):
            break
        times.append(line.strip())
    least_s = total_s(tree[0]) / 20
    return [" ".join(times), "", lines[first][10:]] + [
        line[10:].rstrip() for line in tree
        if total_s(line) >= least_s and "- ~ " not in line]


def profile(radio, store, folder, env):
    """Runs it until it is warm, and then with a profile."""
    text = folder / "profile.txt"
    for more in {}, {"RADIO_PROFILE": str(text)}:
        listed = subprocess.run(
            [radio, "ls", "-s", store, "--where", QUERY], check=True,
            env={**os.environ, **env, **more}, stdout=subprocess.PIPE,
            text=True).stdout
    return len(listed.splitlines()), tree_of(text.read_text())


def show(what, tree):
    print(f"{what}:\n\n```")
    print("\n".join(tree))
    print("```\n")


def main(radio, folder):
    store, bids = folder / NAME, folder / "bids"
    subprocess.run([radio, "ingest", "-q", "-s", store, "--layout", "bids",
                    bids], check=True)
    subprocess.run([radio, "table", "-q", "-s", store, "--import",
                    bids / "participants.tsv"], check=True)
    count, tree = profile(radio, store, folder, {})
    show(f"{count:,} volumes are selected. On a local disk", tree)
    (folder / "gateway").mkdir()
    try:
        server = ceph.Gateway(folder / "gateway")
    except ceph.Absent as what:
        print(f"In S3: not measured ({what}).")
        return
    try:
        upload(server.client(), store)
        proxy = Proxy(server, False)
        link = Link(proxy.server_address[1], TRIP_MS / 2000)
        env = server.environment(
            AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{link.port}")
        again, tree = profile(radio, f"s3://{BUCKET}/{NAME}", folder, env)
        assert again == count
        # The second run's.
        seen = [unquote(path) for _, path, _, _ in proxy.seen]
        seen = seen[len(seen) // 2:]
        show(f"In S3, with {TRIP_MS} ms for a round trip", tree)
        kinds = Counter(map(kind_of, seen))
        print(f"Its {len(seen)} requests, {len(seen) - len(set(seen))} of "
              "them made twice:\n")
        for _, kind in KINDS:
            if kinds[kind]:
                print(f"* {kind}: {kinds[kind]}")
    finally:
        server.stop()


if __name__ == "__main__":
    os.environ.pop("RADIO_STORE", None)
    main(sys.argv[1], Path(sys.argv[2]))
