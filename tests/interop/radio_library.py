# SPDX-License-Identifier: MIT
"""The parts of libradio's public API that the interop tests need, via ctypes.

The shared library is that of the build in RADIO_TESTS_BUILDDIR.
"""

import ctypes as c
import json
import os
from pathlib import Path

import numpy as np

MAX_RANK = 8
BUILD = Path(os.environ["RADIO_TESTS_BUILDDIR"])
lib = c.CDLL(str(BUILD / ".libs" / "libradio.so"))
lib.radio_error_message.restype = c.c_char_p

DTYPES = ["stored", "bool", "int8", "int16", "int32", "int64", "uint8",
          "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "complex64", "complex128", "raw", "bfloat16", "string"]


class RadioError(Exception):
    """A call that failed: its status and the library's error message."""

    def __init__(self, status):
        self.status = status
        super().__init__(lib.radio_error_message().decode())


def check(status):
    if status:
        raise RadioError(status)


class Box(c.Structure):
    _fields_ = [("rank", c.c_size_t),
                ("start", c.c_uint64 * MAX_RANK),
                ("size", c.c_uint64 * MAX_RANK)]

    @classmethod
    def of(cls, start, size):
        n = len(size)
        return cls(n, (c.c_uint64 * MAX_RANK)(*start),
                   (c.c_uint64 * MAX_RANK)(*size))


class ContextOptions(c.Structure):
    _fields_ = [("nthreads", c.c_uint), ("memory_limit_nbytes", c.c_uint64),
                ("no_huge_pages", c.c_bool), ("cache_nbytes", c.c_uint64),
                ("reserved", c.c_uint64 * 8)]


NO_CACHE = 2**64 - 1


class S3Options(c.Structure):
    _fields_ = [("endpoint", c.c_char_p), ("region", c.c_char_p),
                ("addressing", c.c_int), ("access_key", c.c_char_p),
                ("secret_key", c.c_char_p), ("session_token", c.c_char_p),
                ("profile", c.c_char_p), ("anonymous", c.c_bool),
                ("hedge_percent", c.c_uint),
                ("ca_file", c.c_char_p), ("single_writer", c.c_bool),
                ("grace_s", c.c_uint64), ("gap_nbytes", c.c_uint64),
                ("cap_nbytes", c.c_uint64),
                ("connect_timeout_ms", c.c_uint64),
                ("first_byte_timeout_ms", c.c_uint64),
                ("stall_timeout_ms", c.c_uint64),
                ("deadline_ms", c.c_uint64),
                ("no_connect_ahead", c.c_bool),
                ("reserved", c.c_uint64 * 16)]


class StoreOptions(c.Structure):
    _fields_ = [("context", c.c_void_p), ("create", c.c_bool),
                ("s3", S3Options), ("cancel", c.c_void_p),
                ("user_data", c.c_void_p),
                ("reserved", c.c_uint64 * 8)]


class FileOptions(c.Structure):
    _fields_ = [("point_gap_nbytes", c.c_uint64),
                ("keep_index", c.c_bool),
                ("index_folder", c.c_char_p),
                ("s3", c.POINTER(S3Options)),
                ("map", c.c_uint64),
                ("reserved", c.c_uint64 * 4)]


class ArrayOptions(c.Structure):
    _fields_ = [("rank", c.c_size_t),
                ("shape", c.c_uint64 * MAX_RANK),
                ("chunk_shape", c.c_uint64 * MAX_RANK),
                ("data_type", c.c_char_p),
                ("codecs_json", c.c_char_p),
                ("fill_value_json", c.c_char_p),
                ("chunk_key_encoding", c.c_char_p),
                ("separator", c.c_char),
                ("dimension_names", c.POINTER(c.c_char_p)),
                ("attributes_json", c.c_char_p),
                ("reserved", c.c_uint64 * 8)]


class ArrayInfo(c.Structure):
    _fields_ = [("rank", c.c_size_t), ("shape", c.c_uint64 * MAX_RANK),
                ("rest", c.c_uint64 * 64)]


class Strings(c.Structure):
    _fields_ = [("n", c.c_uint64), ("offsets", c.POINTER(c.c_int64)),
                ("bytes", c.c_void_p)]


def list_strings(strings):
    ends = strings.offsets[:strings.n + 1]
    data = c.string_at(strings.bytes, ends[-1])
    return [data[a:b].decode() for a, b in zip(ends, ends[1:])]


class ReadOptions(c.Structure):
    _fields_ = [("strides", c.POINTER(c.c_int64)),
                ("scaled", c.c_bool),
                ("lead", c.c_uint64 * 2),
                ("cancel", c.c_void_p), ("user_data", c.c_void_p),
                ("deadline_ms", c.c_uint64), ("warning", c.c_void_p),
                ("reserved", c.c_uint64 * 7)]


class IngestOptions(c.Structure):
    _fields_ = [("tiling", c.c_char_p), ("codec", c.c_char_p),
                ("shard_nbytes", c.c_uint64), ("existing", c.c_int),
                ("strip", c.c_bool), ("progress", c.c_void_p),
                ("warning", c.c_void_p), ("user_data", c.c_void_p),
                ("labels", c.c_void_p), ("nlabels", c.c_size_t),
                ("is_labels", c.c_bool), ("reserved", c.c_uint64 * 5)]


class CreateOptions(c.Structure):
    _fields_ = [("rank", c.c_size_t), ("shape", c.c_uint64 * MAX_RANK),
                ("dtype", c.c_int), ("affine", c.c_double * 12),
                ("spacing", c.c_double * MAX_RANK), ("like", c.c_void_p),
                ("source_name", c.c_char_p), ("ingest", IngestOptions),
                ("reserved", c.c_uint64 * 8)]


class Request(c.Structure):
    _fields_ = [("box", Box), ("buffer", c.c_void_p),
                ("nbytes", c.c_size_t), ("strides", c.POINTER(c.c_int64))]


Done = c.CFUNCTYPE(None, c.c_int, c.c_void_p)


def write_strings(array, box, values):
    parts = [value.encode() for value in values.ravel()]
    ends = np.cumsum([0] + [len(part) for part in parts], dtype=np.int64)
    data = c.create_string_buffer(b"".join(parts))
    strings = Strings(len(parts), ends.ctypes.data_as(c.POINTER(c.c_int64)),
                      c.cast(data, c.c_void_p))
    check(lib.radio_array_write_strings(array, c.byref(box),
                                        c.byref(strings)))


class Store:
    def __init__(self, path, create=False, threads=0, cache_nbytes=0, **s3):
        self.handle = c.c_void_p()
        context = c.c_void_p()
        how = ContextOptions(nthreads=threads, cache_nbytes=cache_nbytes)
        check(lib.radio_context_open(c.byref(how), c.byref(context)))
        options = StoreOptions(context, create, S3Options(**s3))
        check(lib.radio_store_open(os.fsencode(path), c.byref(options),
                                   c.byref(self.handle)))
        lib.radio_context_close(context)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        lib.radio_store_close(self.handle)

    def write_array(self, path, values, chunk_shape, data_type, codecs,
                    fill_value, encoding="default", separator="/",
                    names=None, attributes=None):
        """Makes an array and writes values to all of it."""
        n = values.ndim
        text = [None if s is None else s.encode() for s in names or []]
        options = ArrayOptions(
            n, (c.c_uint64 * MAX_RANK)(*values.shape),
            (c.c_uint64 * MAX_RANK)(*chunk_shape), data_type.encode(),
            json.dumps(codecs).encode(), json.dumps(fill_value).encode(),
            encoding.encode(), separator.encode(),
            (c.c_char_p * n)(*text) if names else None,
            json.dumps(attributes).encode() if attributes else None)
        array = c.c_void_p()
        check(lib.radio_array_create(self.handle, path.encode(),
                                     c.byref(options), c.byref(array)))
        try:
            box = Box.of([0] * n, values.shape)
            if data_type == "string":
                write_strings(array, box, values)
                return
            data = np.ascontiguousarray(values)
            check(lib.radio_array_write(
                array, c.byref(box), data.ctypes.data_as(c.c_void_p),
                c.c_size_t(data.nbytes)))
        finally:
            lib.radio_array_close(array)

    def read_strings(self, path, start, size):
        """Reads a box of an array of strings into an array of objects."""
        array, strings = c.c_void_p(), Strings()
        check(lib.radio_array_open(self.handle, path.encode(),
                                   c.byref(array)))
        try:
            box = Box.of(start, size)
            check(lib.radio_array_read_strings(array, c.byref(box),
                                               c.byref(strings), None))
            values = list_strings(strings)
            lib.radio_strings_free(c.byref(strings))
        finally:
            lib.radio_array_close(array)
        out = np.empty(len(values), object)
        out[:] = values
        return out.reshape(size)

    def read_array(self, path, start, size, numpy_dtype, radio_dtype="stored"):
        """Reads a box of an array into a new numpy array."""
        array = c.c_void_p()
        check(lib.radio_array_open(self.handle, path.encode(),
                                   c.byref(array)))
        try:
            out = np.empty(size, numpy_dtype)
            box = Box.of(start, size)
            check(lib.radio_array_read(
                array, c.byref(box), DTYPES.index(radio_dtype),
                out.ctypes.data_as(c.c_void_p), c.c_size_t(out.nbytes), None))
            return out
        finally:
            lib.radio_array_close(array)

    def open_volume(self, path):
        return Volume(self, path)


class Volume:
    PLANES = {"axial": 0, "coronal": 1, "sagittal": 2}

    def __init__(self, store, path):
        self.handle = c.c_void_p()
        check(lib.radio_volume_open(store.handle, path.encode(),
                                    c.byref(self.handle)))

    @classmethod
    def of_file(cls, file, point_gap_nbytes=0, keep_index=False, mapped=False,
                **s3):
        volume = cls.__new__(cls)
        volume.handle = c.c_void_p()
        options = FileOptions(point_gap_nbytes, keep_index, None,
                              c.pointer(S3Options(**s3)) if s3 else None,
                              mapped)
        check(lib.radio_volume_open_file(None, os.fsencode(file),
                                         c.byref(options),
                                         c.byref(volume.handle)))
        return volume

    @classmethod
    def of_memory(cls, array, like=None, threads=0):
        """The voxels of an array, of any strides, where they are; with the
        geometry of a volume like it, or of none."""
        volume, context = cls.__new__(cls), c.c_void_p()
        volume.handle = c.c_void_p()
        volume.memory = array        # which must stay
        how = ContextOptions(nthreads=threads)
        check(lib.radio_context_open(c.byref(how), c.byref(context)))
        options = CreateOptions(
            array.ndim, (c.c_uint64 * MAX_RANK)(*array.shape),
            DTYPES.index(array.dtype.name),
            (c.c_double * 12)(), (c.c_double * MAX_RANK)(),
            like.handle if like else None)
        strides = (c.c_int64 * MAX_RANK)(*array.strides)
        try:
            check(lib.radio_volume_open_memory(
                context, c.byref(options), array.ctypes.data_as(c.c_void_p),
                c.c_size_t(array.nbytes), strides, c.byref(volume.handle)))
        finally:
            lib.radio_context_close(context)
        return volume

    def apply(self, text):
        """The volume with a pipeline."""
        pipeline = c.c_void_p()
        derived = Volume.__new__(Volume)
        derived.handle = c.c_void_p()
        check(lib.radio_pipeline_parse(text.encode(), c.byref(pipeline)))
        try:
            check(lib.radio_volume_apply(self.handle, pipeline,
                                         c.byref(derived.handle)))
        finally:
            lib.radio_pipeline_free(pipeline)
        return derived

    def __enter__(self):
        return self

    def __exit__(self, *_):
        lib.radio_volume_close(self.handle)

    def shape(self):
        """The shape of the array: z, y, x and what is before them."""
        info = ArrayInfo()
        lib.radio_volume_array.restype = c.c_void_p
        array = c.c_void_p(lib.radio_volume_array(self.handle))
        lib.radio_array_get_info(array, c.byref(info))
        return list(info.shape[:info.rank])

    def passes(self):
        """The statistics that are to be computed."""
        passes = c.c_size_t()
        check(lib.radio_volume_passes(self.handle, c.byref(passes)))
        return passes.value

    def read(self, start, size, numpy_dtype, radio_dtype="stored",
             scaled=False):
        out = np.empty(size, numpy_dtype)
        box = Box.of(start, size)
        options = ReadOptions(None, scaled)
        check(lib.radio_volume_read(
            self.handle, c.byref(box), DTYPES.index(radio_dtype),
            out.ctypes.data_as(c.c_void_p), c.c_size_t(out.nbytes),
            c.byref(options)))
        return out

    def read_into(self, start, out):
        """Reads a box into an array of any strides, of out's shape."""
        box = Box.of(start, out.shape)
        strides = (c.c_int64 * MAX_RANK)(*out.strides)
        options = ReadOptions(c.cast(strides, c.POINTER(c.c_int64)))
        check(lib.radio_volume_read(
            self.handle, c.byref(box), DTYPES.index(out.dtype.name),
            out.ctypes.data_as(c.c_void_p), c.c_size_t(out.nbytes),
            c.byref(options)))

    def plane(self, plane, index, numpy_dtype, lead=(0, 0)):
        shape = (c.c_uint64 * 2)()
        number = self.PLANES[plane]
        lib.radio_volume_plane_shape(self.handle, number, shape)
        out = np.empty(tuple(shape), numpy_dtype)
        options = ReadOptions(None, False, (c.c_uint64 * 2)(*lead))
        check(lib.radio_volume_read_plane(
            self.handle, number, c.c_uint64(index), 0,
            out.ctypes.data_as(c.c_void_p), c.c_size_t(out.nbytes),
            c.byref(options)))
        return out

    def start_read(self, start, size, numpy_dtype, deadline_ms=0):
        return Read(self, start, size, numpy_dtype, deadline_ms)


class Read:
    """An asynchronous read: of one thread, whichever started it."""

    def __init__(self, volume, start, size, numpy_dtype, deadline_ms):
        self.handle = c.c_void_p()
        self.out = np.empty(size, numpy_dtype)
        self.statuses = []            # of the calls of done
        self.done = Done(lambda status, _: self.statuses.append(status))
        request = Request(Box.of(start, size),
                          self.out.ctypes.data_as(c.c_void_p),
                          self.out.nbytes, None)
        options = ReadOptions(deadline_ms=deadline_ms)
        check(lib.radio_volume_read_async(
            volume.handle, c.byref(request), c.c_size_t(1), 0,
            c.byref(options), self.done, None, c.byref(self.handle)))

    def cancel(self):
        lib.radio_read_cancel(self.handle)

    def wait(self):
        """Waits for the end, releases the handle, and returns the elements."""
        status = lib.radio_read_wait(self.handle)
        lib.radio_read_close(self.handle)
        assert self.statuses == [status]
        check(status)
        return self.out
