# SPDX-License-Identifier: MIT
"""What tools/check-python --sanitize runs besides the tests, each in a process
of its own: overflow LIBRARY must be reported; leaks FOLDER must not grow, nor
leave anything of the library's for LeakSanitizer at its end."""
import ctypes
import gc
import sys
from pathlib import Path
from statistics import median

import nibabel
import numpy as np
from images import voxels

import libradio
from libradio._native import ffi, lib

ROUNDS = 1000
# Of a round; Python keeps some memory, too.
LARGEST_NBYTES = 16


def overflow_library():
    key = ffi.new("char[1]")
    lib.radio_sample_key(1, b"sub-01", ffi.cast("uint64_t *", key))


def overflow_module():
    call, nbytes = ffi.new("struct python_call *"), ffi.new("char[1]")
    lib.python_get_progress(call, ffi.cast("uint64_t *", nbytes),
                            ffi.new("uint64_t *"))


def use(folder, i):
    """Opens, reads, profiles, writes, fails and closes."""
    with libradio.profile("leaks") as recorded:
        with libradio.open(folder / "a.zarr") as store:
            volume = store["ct/head"]
            with libradio.step(i), libradio.scope("reads"):
                volume[...]
                volume[3, ::2, -1]
                volume.read_many([((0, 0, 0), (4, 4, 4))] * 2)
            volume.stats()
            volume.histogram()
            volume.apply("clamp 10,50").axial(1)
            libradio.from_numpy(volume[:8, :8, :8], store, "ct/box",
                                existing="replace")
            for fails in [lambda: store["ct/none"], lambda: store.find("heat"),
                          lambda: volume.apply("none"),
                          lambda: libradio.open(folder / "none")]:
                try:
                    fails()
                except libradio.errors.RadioError:
                    pass
        with libradio.open_file(folder / "head.nii.gz") as file:
            file.numpy("float32", scaled=True)
    recorded.tree()
    recorded.findings


def leaks(folder):
    allocated = ctypes.CDLL(None).__sanitizer_get_current_allocated_bytes
    allocated.restype = ctypes.c_size_t
    file = Path(folder, "head.nii.gz")
    nibabel.save(nibabel.Nifti1Image(voxels((24, 20, 16), "int16"),
                                     np.eye(4)), file)
    with libradio.open(Path(folder, "a.zarr"), create=True) as store:
        libradio.ingest(file, store, collection="ct")
    # NumPy asks for this by a new str of a name each time, of which CPython's
    # cache of attributes keeps 4,096, where no address comes twice.
    for _ in range(20000):
        np.dtype("int16").name
    sizes = []
    for _ in range(0, ROUNDS + 1, 100):
        for i in range(100):
            use(Path(folder), i)
        gc.collect()
        sizes.append(allocated())
    # Of most: once CPython 3.11 makes its table of names larger, by 500 kB.
    grown = median(np.diff(sizes)) / 100
    print(f"a round of {ROUNDS} leaves {grown:.1f} bytes")
    sys.exit(0 if grown <= LARGEST_NBYTES else "memory is not freed")


what = "_".join(sys.argv[1:3])
if what.startswith("overflow"):
    {"overflow_library": overflow_library,
     "overflow_module": overflow_module}[what]()
else:
    leaks(sys.argv[2])
