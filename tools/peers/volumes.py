# SPDX-License-Identifier: MIT
"""The volumes to measure the stores on: a real head CT.

Debian's package invesalius-examples has one of 108 x 256 x 256 voxels (z, y,
x).  It is repeated to 304 x 512 x 512, with a different symmetry of the square
in each quadrant and each block of z, so that all noise is real and codecs do
not find the copies.
"""

import hashlib
import shutil
import subprocess
import tarfile
import urllib.request
from pathlib import Path

import nibabel as nib
import numpy as np

INSTALLED = Path("/usr/share/doc/invesalius-examples/examples/Cranium.inv3")
DEB = ("invesalius-examples_3.1.99998-4_all.deb",
       "f2f14bdfef6dc3812eafc5013d133c6c18370aaab5666b78d54af2e7db432f97")
URLS = ("http://deb.debian.org/debian/pool/main/i/invesalius/",
        "https://snapshot.debian.org/archive/debian/20240901T000000Z/"
        "pool/main/i/invesalius/")
SHAPE = (304, 512, 512)
QUICK_SHAPE = (144, 256, 256)
DTYPES = {"int16": "<i2", "float32": "<f4"}


def download(folder):
    """Downloads the package's file from Debian's archive."""
    name, sha256 = DEB
    target = folder / name
    for url in URLS:
        if target.exists():
            break
        try:
            with urllib.request.urlopen(url + name, timeout=60) as answer:
                target.write_bytes(answer.read())
        except OSError as error:
            print(f"{url}{name}: {error}")
    if not target.exists():
        raise SystemExit("bench-peers: the CT can be had neither from the "
                         "package invesalius-examples nor from the network")
    if hashlib.sha256(target.read_bytes()).hexdigest() != sha256:
        target.unlink()
        raise SystemExit(f"bench-peers: {target.name}: it is not the file "
                         "that was expected; it was removed")
    return target


def find_cranium(folder):
    """Returns the archive with the CT: the installed one, or that of the
    package."""
    if INSTALLED.exists():
        return INSTALLED
    inside = folder / "package"
    found = inside / INSTALLED.relative_to("/")
    if not found.exists():
        if not shutil.which("dpkg-deb"):
            raise SystemExit("bench-peers: dpkg-deb is needed to unpack the "
                             "CT where invesalius-examples is not installed")
        subprocess.run(["dpkg-deb", "-x", download(folder), inside],
                       check=True)
    return found


def read_cranium(path):
    with tarfile.open(path) as archive:
        member = next(m for m in archive.getmembers()
                      if m.name.endswith("matrix.dat"))
        raw = archive.extractfile(member).read()
    return np.frombuffer(raw, "<i2").reshape(108, 256, 256)


def lay_out(head):
    """Returns 304 x 512 x 512 voxels made of one head."""
    def turned(planes):
        return planes.transpose(0, 2, 1)
    symmetries = [
        lambda s: s, lambda s: s[:, :, ::-1], turned,
        lambda s: turned(s)[:, :, ::-1], lambda s: s[:, ::-1],
        lambda s: s[:, ::-1, ::-1], lambda s: turned(s)[:, ::-1],
        lambda s: turned(s)[:, ::-1, ::-1]]
    blocks = []
    for b in range(3):
        q = [symmetries[(k + 3 * b) % 8](head) for k in range(4)]
        blocks.append(np.concatenate([np.concatenate(q[:2], 2),
                                      np.concatenate(q[2:], 2)], 1))
    return np.ascontiguousarray(np.concatenate(blocks)[:SHAPE[0]])


def save(folder, dtype, values):
    """Saves as .npy, .nii and .nii.gz, the last by zlib at nibabel's level."""
    np.save(folder / f"{dtype}.npy", values)
    image = nib.Nifti1Image(values.transpose(2, 1, 0),
                            np.diag([0.957, 0.957, 1.5, 1.0]))
    image.header.set_xyzt_units("mm")
    nib.save(image, folder / f"{dtype}.nii")
    # The final name appears only after everything was written.
    nib.save(image, folder / f"new-{dtype}.nii.gz")
    (folder / f"new-{dtype}.nii.gz").rename(folder / f"{dtype}.nii.gz")


def make(folder, quick, dtypes):
    """Makes the missing volumes of these types of voxels."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [d for d in dtypes if not (folder / f"{d}.nii.gz").exists()]
    if missing:
        volume = lay_out(read_cranium(find_cranium(folder)))
        if quick:
            volume = np.ascontiguousarray(
                volume[tuple(slice(n) for n in QUICK_SHAPE)])
        for dtype in missing:
            save(folder, dtype, volume.astype(DTYPES[dtype]))
