# SPDX-License-Identifier: MIT
"""Servers that speak S3; and Ceph's object gateway, the real one, on loopback.

Runs one monitor, one object server that keeps everything in memory, and the
gateway that speaks S3; all in one folder, on free ports, without root's rights
or systemd.  Debian packages them as ceph-mon, ceph-osd and radosgw.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time
import uuid
from pathlib import Path

# Characters that a signature must encode correctly.
ACCESS_KEY = "AKIDRADIOTEST"
SECRET_KEY = "radio/secret+key"
REGION = "us-east-1"

CONF = """
[global]
fsid = {fsid}
mon host = [v2:127.0.0.1:{msgr2},v1:127.0.0.1:{msgr1}]
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = {folder}/keyring
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
osd pool default pg num = 1
osd pool default pgp num = 1
mon allow pool size one = true
mon max pg per osd = 1000
mon warn on pool no redundancy = false
run dir = {folder}/run
admin socket = {folder}/run/$cluster-$name.asok
log file = {folder}/$name.log
pid file = {folder}/run/$name.pid
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv4 = true
[mon.a]
mon data = {folder}/mon
[osd.0]
osd data = {folder}/osd
keyring = {folder}/keyring
osd objectstore = memstore
memstore device bytes = 2147483648
osd class load list = *
osd class default list = *
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:{port} ssl_endpoint=127.0.0.1:{tls} \
ssl_certificate={folder}/rgw.pem tcp_nodelay=1
rgw data = {folder}/rgw
keyring = {folder}/keyring
rgw enable usage log = false
rgw enable ops log = false
rgw dns name = s3.localhost
rgw relaxed s3 bucket names = true
rgw dynamic resharding = false
rgw run sync thread = false
rgw enable quota threads = false
rgw enable gc threads = false
"""

PROGRAMS = ["ceph", "ceph-authtool", "ceph-mon", "ceph-osd", "monmaptool",
            "radosgw", "radosgw-admin", "openssl"]
OWNERS = {
    "mon.": ["mon", "allow *"],
    "client.admin": ["mon", "allow *", "osd", "allow *", "mgr", "allow *"],
    "osd.0": ["mon", "allow profile osd", "osd", "allow *"],
    "client.rgw": ["mon", "allow rwx", "osd", "allow rwx"],
}


def free_ports(n):
    """Returns n ports on which no process listens now.  They are not among
    those that the system gives to connections, one of which could take a
    port before its server does, and each worker of pytest has its own."""
    taken = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    low, high = int(taken[0]), int(taken[1])
    ours = [port for port in range(10000, 65536) if not low <= port <= high]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    ours = ours[int(worker)::int(os.environ.get("PYTEST_XDIST_WORKER_COUNT",
                                                "1"))]
    found = []
    with contextlib.ExitStack() as stack:
        while len(found) < n:
            held = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                held.bind(("127.0.0.1", random.choice(ours) if ours else 0))
                found.append(held.getsockname()[1])
    return found


def wait_until(is_true, what):
    """Waits for a server; the limit only detects hangs."""
    deadline = time.monotonic() + 240
    while not is_true():
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


class Absent(Exception):
    """A program that the gateway needs is not installed."""


class Endpoint:
    """What tests need of a server that speaks S3: its addresses, the
    credentials of a client, and a certificate in its folder."""
    port = tls = None
    variables = {}

    def make_certificate(self):
        """Makes a self-signed certificate for the names of both styles of
        addressing; a wildcard needs at least two labels after it."""
        key = self.folder / "rgw.key"
        names = ("DNS:localhost,DNS:s3.localhost,DNS:*.s3.localhost,"
                 "IP:127.0.0.1")
        self.ca_file = self.folder / "rgw.crt"
        self.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                 "-days", "2", "-subj", "/CN=localhost", "-addext",
                 f"subjectAltName={names}", "-keyout", key, "-out",
                 self.ca_file)
        pem = key.read_text() + self.ca_file.read_text()
        (self.folder / "rgw.pem").write_text(pem)

    def run(self, program, *args):
        """Runs a program that ends, or that puts itself into the
        background."""
        log = self.folder / "setup.log"
        with log.open("ab") as out:
            done = subprocess.run(
                [program, *map(str, args)], stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, timeout=300,
                env={**os.environ, **self.variables})
        assert done.returncode == 0, (program, args, log.read_text()[-2000:])

    def wait(self, port):
        wait_until(lambda: listens(port),
                   lambda: "the gateway does not listen")

    def url(self, secure=False, virtual=False):
        """Returns the URL; with virtual, for virtual-hosted addressing."""
        host = "s3.localhost" if virtual else "127.0.0.1"
        port = self.tls if secure else self.port
        return f"http{'s' * secure}://{host}:{port}"

    def environment(self, **more):
        """Returns variables with the gateway's address and credentials for an
        S3 client."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("AWS_")}
        return {**kept, "AWS_ACCESS_KEY_ID": ACCESS_KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_REGION": REGION,
                "AWS_ENDPOINT_URL_S3": self.url(), **more}

    def client(self):
        """Returns a client of botocore, which is independent of the code
        under test."""
        try:
            import botocore.session
            from botocore.config import Config
        except ImportError:
            raise Absent("Python's botocore") from None
        return botocore.session.Session().create_client(
            "s3", region_name=REGION, endpoint_url=self.url(),
            aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY,
            config=Config(s3={"addressing_style": "path"},
                          request_checksum_calculation="when_required"))


class Gateway(Endpoint):
    """Ceph's gateway, and the certificate that its TLS port presents."""

    def __init__(self, folder):
        self.folder = folder
        for program in PROGRAMS:
            if not shutil.which(program):
                raise Absent(f"Ceph's gateway ({program})")
        msgr2, msgr1, self.port, self.tls = free_ports(4)
        self.names = {"folder": folder, "fsid": uuid.uuid4(),
                      "msgr2": msgr2, "msgr1": msgr1, "port": self.port,
                      "tls": self.tls}
        for name in ("mon", "osd", "rgw", "run"):
            (folder / name).mkdir()
        self.conf = folder / "ceph.conf"
        self.conf.write_text(CONF.format(**self.names))
        self.variables = {"CEPH_CONF": str(self.conf)}
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        self.make_keys()
        self.make_certificate()
        self.start_monitor()
        self.start_object_server()
        self.run("radosgw-admin", "-c", self.conf, "-n", "client.rgw",
                 "user", "create", "--uid=t", "--display-name=t",
                 f"--access-key={ACCESS_KEY}", f"--secret-key={SECRET_KEY}")
        self.run("radosgw", "-c", self.conf, "-n", "client.rgw")
        self.wait(self.port)
        self.wait(self.tls)

    def make_keys(self):
        keyring = self.folder / "keyring"
        for owner, caps in OWNERS.items():
            args = ["--create-keyring"] if owner == "mon." else []
            pairs = zip(caps[::2], caps[1::2])
            self.run("ceph-authtool", keyring, *args, "--gen-key", "-n",
                     owner, *[word for what, cap in pairs
                              for word in ("--cap", what, cap)])

    def start_monitor(self):
        folder, names = self.folder, self.names
        address = ("[v2:127.0.0.1:{msgr2},v1:127.0.0.1:{msgr1}]"
                   .format(**names))
        self.run("monmaptool", "--create", "--addv", "a", address, "--fsid",
                 names["fsid"], folder / "monmap")
        self.run("ceph-mon", "-c", self.conf, "--mkfs", "-i", "a",
                 "--monmap", folder / "monmap", "--keyring",
                 folder / "keyring")
        self.run("ceph-mon", "-c", self.conf, "-i", "a")

    def start_object_server(self):
        own = uuid.uuid4()
        self.run("ceph", "-c", self.conf, "osd", "new", own)
        self.run("ceph-osd", "-c", self.conf, "-i", "0", "--mkfs",
                 "--osd-uuid", own)
        self.run("ceph", "-c", self.conf, "osd", "crush", "add", "osd.0",
                 "1", "root=default", "host=h")
        self.run("ceph-osd", "-c", self.conf, "-i", "0")
        self.wait_for_object_server()

    def wait_for_object_server(self):
        """Waits for the object server, which pools need."""
        def is_up():
            done = subprocess.run(
                ["ceph", "-c", self.conf, "osd", "stat", "-f", "json"],
                capture_output=True, text=True, timeout=300)
            return json.loads(done.stdout or "{}").get("num_up_osds")

        wait_until(is_up,
                   lambda: (self.folder / "osd.0.log").read_text()[-2000:])

    def pids(self):
        for file in (self.folder / "run").glob("*.pid"):
            with contextlib.suppress(ValueError, OSError):
                yield int(file.read_text())

    def stop(self):
        """Kills all processes at once, since the data in memory are not
        needed."""
        for pid in list(self.pids()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
