# SPDX-License-Identifier: MIT
"""Servers that speak S3 besides Ceph's gateway, from package registries, and
a table of the checks that fail with each of them, for tools/check-s3-servers.

The checks are the tests of S3, with one of these servers in place of the
gateway, and each case of the conformance tests of stores."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

from gateway import (ACCESS_KEY, REGION, SECRET_KEY, Absent, Endpoint,
                     Gateway, free_ports)

HERE = Path(__file__).parent

# Where tools/check-s3-servers puts the servers.
FOLDER = Path(os.environ.get("RADIO_TESTS_S3_FOLDER", "build/s3-servers"))

S3RVER = """
const S3rver = require('s3rver');
const account = require('s3rver/lib/models/account');
account.DUMMY_ACCOUNT.createKeyPair(process.argv[1], process.argv[2]);
new S3rver({address: '127.0.0.1', port: +process.argv[3], silent: true,
            directory: process.argv[4], resetOnClose: false}).run();
"""


class Server(Endpoint):
    """A server of one program, without TLS and with path-style addresses."""
    conditions = True

    def __init__(self, folder):
        self.folder, self.port = folder, free_ports(1)[0]
        self.make_certificate()
        (folder / "data").mkdir()
        words = [str(word) for word in self.command()]
        if not Path(words[0]).exists():
            raise Absent(words[0])
        self.process = subprocess.Popen(
            words, stdout=(folder / "server.log").open("wb"),
            stderr=subprocess.STDOUT,
            env={**os.environ, "MINIO_ROOT_USER": ACCESS_KEY,
                 "MINIO_ROOT_PASSWORD": SECRET_KEY, "NODE_PATH":
                 str((FOLDER / "npm/node_modules").resolve())})
        self.wait(self.port)

    def url(self, secure=False, virtual=False):
        import pytest
        if secure or virtual:
            pytest.skip("without TLS and virtual-hosted addresses here")
        return super().url()

    def stop(self):
        self.process.kill()
        self.process.wait()


class Versitygw(Server):
    def command(self):
        return [FOLDER / "versitygw", "--access", ACCESS_KEY, "--secret",
                SECRET_KEY, "--port", f"127.0.0.1:{self.port}", "--quiet",
                "--keep-alive", "posix", self.folder / "data"]


class Minio(Server):
    def command(self):
        return [FOLDER / "minio", "server", "--quiet", "--address",
                f"127.0.0.1:{self.port}", self.folder / "data"]


class Moto(Server):
    def command(self):
        return [FOLDER / "venv/bin/moto_server", "-H", "127.0.0.1", "-p",
                self.port]


class S3rver(Server):
    """It ignores the conditions of writes."""
    conditions = False

    def environment(self, **more):
        more["RADIO_S3"] = ",".join(filter(None, [more.get("RADIO_S3"),
                                                  "single-writer"]))
        return super().environment(**more)

    def command(self):
        return [FOLDER / "node", "-e", S3RVER, ACCESS_KEY, SECRET_KEY,
                self.port, self.folder / "data"]


SERVERS = {"ceph": Gateway, "versitygw": Versitygw, "minio": Minio,
           "moto": Moto, "s3rver": S3rver}


def conformance(server):
    """Returns the cases of the conformance tests, and why they failed."""
    program = Path(os.environ["RADIO_TESTS_BUILDDIR"],
                   "tests/io/test-s3-conformance")
    server.client().create_bucket(Bucket="conformance")
    words = {"ENDPOINT": server.url(), "BUCKET": "conformance",
             "REGION": REGION, "ACCESS_KEY": ACCESS_KEY,
             "SECRET_KEY": SECRET_KEY}
    if not getattr(server, "conditions", True):
        words["SINGLE_WRITER"] = "1"
    env = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP",
           **{f"RADIO_TESTS_S3_{name}": word for name, word in words.items()}}
    done = subprocess.run([program], capture_output=True, text=True,
                          timeout=900, env=env)
    results, errors = {}, done.stderr.splitlines()
    for line in done.stdout.splitlines():
        match = re.match("(not )?ok [0-9]+ - (.*)", line)
        if match:
            results["conformance: " + match[2]] = "failed" * bool(match[1])
    for name in [name for name, why in results.items() if why]:
        results[name] = errors.pop(0) if errors else "failed"
    return results


def suite(name, more):
    """Returns the tests of S3, and why they failed; without those that were
    skipped, and those that need no server."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "junit.xml")
        files = sorted(HERE.glob("test_s3*.py"))
        env = {**os.environ, "RADIO_TESTS_S3_SERVER": name}
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
             "--junitxml", out, "-k", "not conformance and not botocore",
             *more, *files], env=env, stdout=subprocess.DEVNULL)
        cases = xml.etree.ElementTree.parse(out).iter("testcase")
        results = {}
        for case in cases:
            bad = [part for part in case if part.tag in ("failure", "error")]
            if case.find("skipped") is None:
                results[case.get("name")] = " ".join(
                    (bad[0].get("message") or "failed").split())[:600] \
                    if bad else ""
        return results


# What is known to fail, by server and a pattern of the check's name and why it
# failed: whose fault it is.  All else that fails is radio's until it is
# explained.
UNSIGNED = "the server: it accepts a wrong secret key"
UPLOADS = "the server: it does not list uploads"
KNOWN = {
    "versitygw": {
        "of_racing_writers_exactly_one":
            "the server: of 16 conditional writes up to 6 succeed",
        "test_a_copy_resumes_during.*ExistingObjectIsDirectory":
            "the server: sometimes ExistingObjectIsDirectory during removals",
    },
    "minio": {
        "test_a_killed_ingest|test_the_bytes_of_removed_uploads":
            "the server: it lists uploads of a whole key only, not of a prefix",
    },
    "moto": {
        "names_of_any_characters":
            "the server: it answers NoSuchKey to the PUT of an odd key",
        "test_wrong_keys": UNSIGNED,
        "test_the_bytes_of_removed_uploads":
            "the server: the root of its ListParts is ListPartsResponse",
    },
    "s3rver": {
        "not in order": "the server: it lists keys out of order",
        "test_wrong_keys": UNSIGNED,
        "test_a_volume_is_replaced_and_removed":
            "the server: it does not list folders that only have folders",
        "NotImplemented.*ListMultipartUploads": UPLOADS,
        "test_the_bytes_of_removed_uploads": UPLOADS,
        "test_a_cold_read_takes|test_a_warm_read_takes":
            "the server: its suffix ranges are of the beginning, so that the "
            "size is requested first",
        "test_a_copy_checks_each_shard_once|test_a_small_volume_takes":
            "the server: it ignores conditions, so that HEAD precedes a PUT",
    },
}


def explain(name, check, why):
    for pattern, fault in KNOWN.get(name, {}).items():
        if re.search(pattern, f"{check}: {why}"):
            return fault
    return None


def main(names):
    more = [word for word in names if word.startswith("-")]
    names = [word for word in names if word in SERVERS] or list(SERVERS)
    rows, failures, is_explained = [], [], True
    for name in names:
        results = {}
        with tempfile.TemporaryDirectory() as folder:
            try:
                server = SERVERS[name](Path(folder))
            except Absent as what:
                print(f"{name}: {what} is missing", file=sys.stderr)
                is_explained = False
                continue
            with contextlib.ExitStack() as stack:
                stack.callback(server.stop)
                results.update(conformance(server))
        results.update(suite(name, more))
        failed = {check: why for check, why in results.items() if why}
        unexplained = [check for check, why in failed.items()
                       if not explain(name, check, why)]
        is_explained &= not unexplained
        rows.append((name, len(results), len(results) - len(failed),
                     len(failed), len(unexplained)))
        failures += [(name, check, explain(name, check, why) or "?: " + why)
                     for check, why in failed.items()]
    print("| server | checks | passed | failed | unexplained |")
    print("|---|---:|---:|---:|---:|")
    for row in rows:
        print("|", " | ".join(map(str, row)), "|")
    if failures:
        print("\n| server | what fails | whose fault |\n|---|---|---|")
    for row in failures:
        print("|", " | ".join(row), "|")
    return 0 if is_explained else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
