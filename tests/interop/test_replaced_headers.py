# SPDX-License-Identifier: MIT
"""Commands that replace a volume die, or fail, at each rename, unlink and
fsync: validate finds nothing bad, and zarr-python reads a header."""

import base64
import json
import os
import shutil
import signal
import subprocess

import pytest
from conftest import BUILD, RADIO, missing

LIBRARY = BUILD / ".libs" / "libfail-calls.so"


def image(nib, np, file, comment):
    """Saves an image whose header has an extension of the comment."""
    made = nib.Nifti1Image(np.arange(60, dtype="i2").reshape(3, 4, 5),
                           np.eye(4))
    if comment:
        made.header.extensions.append(
            nib.nifti1.Nifti1Extension("comment", comment))
    nib.save(made, file)
    return file


@pytest.fixture(scope="module")
def begin(nib, np, radio, tmp_path_factory):
    """Returns a folder with a store whose volume was replaced once, so that
    there is something to remove, and another store to copy from."""
    if not LIBRARY.exists():
        missing(LIBRARY.name)
    folder = tmp_path_factory.mktemp("begin")
    for name, comment in ("first", b"the first"), ("second", b""), (
            "third", b"the third of them, with a much longer comment"):
        image(nib, np, folder / f"{name}.nii", comment)
    for name in "first", "second":
        shutil.copy(folder / f"{name}.nii", folder / "x.nii")
        radio("ingest", "-s", folder / "s.zarr", folder / "x.nii",
              "--overwrite")
    shutil.copy(folder / "third.nii", folder / "x.nii")
    radio("ingest", "-s", folder / "from.zarr", folder / "x.nii")
    return folder


def read_headers(zarr, volume):
    """Returns the header by the array's document, and by the volume's."""
    array = zarr.open_array(volume / "nifti", mode="r")[...]
    group = zarr.open_group(volume, mode="r")["nifti"][...]
    return array.tobytes(), group.tobytes()


@pytest.mark.parametrize("how", ["kill", "eio"])
@pytest.mark.parametrize("call", ["rename", "unlink", "fsync"])
@pytest.mark.parametrize("command", ["ingest", "cp"])
def test_a_header_decodes_after_each_end_of_a_replacement(
        radio, zarr, begin, tmp_path, command, call, how):
    headers = {name: (begin / f"{name}.nii").read_bytes()[:-120]
               for name in ("second", "third")}
    n, nstale, was_hit = 0, 0, True
    while was_hit:
        n += 1
        store, log = tmp_path / "s.zarr", tmp_path / "log"
        shutil.copytree(begin / "s.zarr", store)
        args = (["ingest", "-s", store, begin / "x.nii"]
                if command == "ingest" else ["cp", begin / "from.zarr", store])
        done = subprocess.run(
            [RADIO, *args, "--overwrite"], capture_output=True, text=True,
            env={**os.environ, "LD_PRELOAD": str(LIBRARY), "FAIL_CALLS": call,
                 "FAIL_NTH": str(n), "FAIL_HOW": how, "FAIL_LOG": str(log)})
        nhits = log.stat().st_size if log.exists() else 0
        was_hit = nhits >= n
        if how == "kill":
            assert done.returncode == (-signal.SIGKILL if was_hit else 0)
        state = json.loads(radio("validate", "-s", store, "x",
                                 "--json").stdout)["state"]
        assert state in ("ok", "stale"), (call, n)
        array, group = read_headers(zarr, store / "images" / "x")
        document = json.loads((store / "images/x/zarr.json").read_text())
        nifti = base64.b64decode(document["attributes"]["radio"]["nifti"])
        assert group == nifti and nifti in headers.values()
        assert array in headers.values()
        assert (array == nifti) == (state == "ok")
        nstale += state == "stale"
        if state == "stale":
            assert array == headers["second"]
            radio(*[["gc", "-s", store], [*args, "--overwrite"]][n % 2])
            array, group = read_headers(zarr, store / "images" / "x")
            assert array == group == headers["third"]
        shutil.rmtree(store)
        log.unlink(missing_ok=True)
    assert n > 2
    assert nstale > 0 or call == "unlink"
