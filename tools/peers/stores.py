# SPDX-License-Identifier: MIT
"""The stores to compare, each used as its authors recommend it.

A store is written from an array (z, y, x) and opened to a function that reads
start and size into a new array.  Stores in x, y, z order, as nibabel has it,
return that order: nothing is transposed while the clock runs.
"""

import os
import sys
from pathlib import Path

import numpy as np

SHARD = (64, 512, 512)


def selection(start, size, flat):
    """Returns slices; an axis of one voxel is an index where planes are
    read."""
    return tuple(a if flat and n == 1 else slice(a, a + n)
                 for a, n in zip(start, size))


class Store:
    """The common base of all stores."""

    reversed = False            # stores x, y, z order
    rows = None                 # of reads, where only some make sense
    fresh_for_scroll = False    # reopened for each run of it
    ingests = False             # from a .nii.gz
    module = None               # the Python module that it needs
    writes = True
    file = None                 # the image that it reads, by its suffix

    def __init__(self, name, title):
        self.name, self.title = name, title

    def open_to_scroll(self, path, threads):
        return self.open(path, threads)

    def close(self, read):
        """Most stores are closed when their objects are freed."""

    def select(self, start, size, flat):
        if self.reversed:
            start, size = start[::-1], size[::-1]
        return selection(start, size, flat)


class TileDB(Store):
    module = "tiledb"
    reversed = True

    def __init__(self, name, title, tile):
        super().__init__(name, title)
        self.tile = tile

    @staticmethod
    def context(threads):
        import tiledb
        return tiledb.Ctx({"sm.compute_concurrency_level": threads,
                           "sm.io_concurrency_level": threads})

    def write(self, values, path, threads):
        import tiledb
        data = np.ascontiguousarray(values.T)
        dims = [tiledb.Dim(n, domain=(0, s - 1), tile=min(t, s),
                           dtype=np.int32)
                for n, s, t in zip("xyz", data.shape, self.tile)]
        filters = tiledb.FilterList([tiledb.ZstdFilter(3)])
        schema = tiledb.ArraySchema(
            tiledb.Domain(*dims), sparse=False,
            attrs=[tiledb.Attr("voxels", dtype=data.dtype, filters=filters)])
        tiledb.Array.create(path, schema)
        with tiledb.open(path, "w", ctx=self.context(threads)) as array:
            array[:] = data

    def open(self, path, threads):
        import tiledb
        context = self.context(threads)

        def read(start, size, flat):
            # Opens the array for every read, as RadiObject does.
            with tiledb.open(path, "r", ctx=context) as array:
                return array[self.select(start, size, flat)]["voxels"]
        return read


class RadiObject(Store):
    module = "radiobject"
    reversed = True
    ingests = True

    def __init__(self, name, title, orientation=None):
        super().__init__(name, title)
        self.orientation = orientation

    def configure(self):
        """Sets the chunk shape of new arrays; the default is a plane."""
        if self.orientation:
            from radiobject.ctx import TileConfig, WriteConfig, configure
            configure(write=WriteConfig(tile=TileConfig(
                orientation=self.orientation)))

    def write(self, values, path, threads):
        from radiobject import Volume
        self.configure()
        Volume.from_numpy(path, np.ascontiguousarray(values.T),
                          ctx=TileDB.context(threads))

    def ingest(self, file, path, threads):
        from radiobject import Volume
        self.configure()
        Volume.from_nifti(path, file, ctx=TileDB.context(threads))

    def open(self, path, threads):
        from radiobject import Volume
        volume = Volume(path, ctx=TileDB.context(threads))

        def read(start, size, flat):
            return volume.slice(*self.select(start, size, False))
        return read


class Zarr(Store):
    module = "zarr"

    def __init__(self, name, title, chunks, shards=None, pipeline=None):
        super().__init__(name, title)
        self.chunks, self.shards = chunks, shards
        self.pipeline = pipeline
        if pipeline:
            self.module = pipeline.partition(".")[0]

    def configure(self, threads):
        import zarr
        zarr.config.set({"threading.max_workers": threads})
        if self.pipeline:
            zarr.config.set({"codec_pipeline.path": self.pipeline,
                             "codec_pipeline.chunk_concurrent_maximum":
                             threads})
        return zarr

    def write(self, values, path, threads):
        zarr = self.configure(threads)
        codec = zarr.codecs.ZstdCodec(level=3)
        if self.shards:
            codec = zarr.codecs.BloscCodec(cname="zstd", clevel=3,
                                           shuffle="shuffle",
                                           typesize=values.itemsize)
        array = zarr.create_array(path, shape=values.shape,
                                  chunks=self.chunks, shards=self.shards,
                                  dtype=values.dtype, compressors=codec)
        array[:] = values

    def open(self, path, threads):
        array = self.configure(threads).open_array(path, mode="r")
        return lambda start, size, flat: array[selection(start, size, flat)]


class TensorStore(Store):
    module = "tensorstore"

    def __init__(self, name, title, chunks, shards=None, cache=0,
                 loader=None):
        super().__init__(name, title)
        self.chunks, self.shards = chunks, shards
        self.cache, self.loader = cache, loader
        if cache:
            self.rows, self.fresh_for_scroll = ["scroll"], True
            self.writes = False
        if loader:
            self.rows, self.ingests, self.writes = [], True, False
            self.module = loader

    def codecs(self, dtype):
        inner = [{"name": "bytes"}]
        if dtype.itemsize > 1:
            inner = [{"name": "bytes", "configuration": {"endian":
                                                         "little"}}]
        if not self.shards:
            return inner + [{"name": "zstd", "configuration": {"level": 3}}]
        inner.append({"name": "blosc", "configuration": {
            "cname": "zstd", "clevel": 3, "shuffle": "shuffle",
            "typesize": dtype.itemsize, "blocksize": 0}})
        return [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": list(self.chunks), "codecs": inner,
            "index_codecs": [{"name": "bytes", "configuration":
                              {"endian": "little"}}, {"name": "crc32c"}]}}]

    def handle(self, path, threads, **more):
        import tensorstore as ts
        context = ts.Context({
            "data_copy_concurrency": {"limit": threads},
            "file_io_concurrency": {"limit": max(4, threads)},
            "cache_pool": {"total_bytes_limit": self.cache}})
        spec = {"driver": "zarr3", "recheck_cached_data": "open",
                "kvstore": {"driver": "file", "path": path}}
        options = more.pop("options", {})
        spec.update(more)
        return ts.open(spec, context=context, **options).result()

    def write(self, values, path, threads):
        chunk = [min(n, s) for n, s in zip(self.shards or self.chunks,
                                           values.shape)]
        if self.shards:
            # A shard consists of whole chunks.
            chunk = [-(-n // c) * c for n, c in zip(chunk, self.chunks)]
        metadata = {"shape": list(values.shape),
                    "data_type": str(values.dtype),
                    "chunk_grid": {"name": "regular", "configuration":
                                   {"chunk_shape": chunk}},
                    "codecs": self.codecs(values.dtype)}
        array = self.handle(path, threads, metadata=metadata,
                            options={"create": True})
        array.write(values).result()

    def load(self, file):
        if self.loader == "nibabel":
            import nibabel as nib
            return np.asarray(nib.load(file).dataobj).T
        import medrs
        # The loader caches the inflated image.
        medrs.clear_decompression_cache()
        return medrs.load(os.fspath(file)).to_numpy_native().T

    def ingest(self, file, path, threads):
        self.write(np.ascontiguousarray(self.load(file)), path, threads)

    def open(self, path, threads):
        array = self.handle(path, threads)
        return lambda start, size, flat: \
            array[selection(start, size, flat)].read().result()


class Blosc2(Store):
    module = "blosc2"

    def __init__(self, name, title, **options):
        super().__init__(name, title)
        self.options = options

    def write(self, values, path, threads):
        import blosc2
        blosc2.set_nthreads(threads)
        options = dict(self.options)
        if "lz4hc" in options:
            options["cparams"] = {"codec": blosc2.Codec.LZ4HC,
                                  "clevel": options.pop("lz4hc"),
                                  "nthreads": threads}
            options["chunks"] = tuple(map(min, options["chunks"],
                                          values.shape))
        blosc2.asarray(values, urlpath=path, mode="w", **options)

    def open(self, path, threads):
        import blosc2
        blosc2.set_nthreads(threads)
        array = blosc2.open(path, mmap_mode="r",
                            dparams={"nthreads": threads})
        return lambda start, size, flat: array[selection(start, size, flat)]


class HDF5(Store):
    module = "h5py"

    def write(self, values, path, threads):
        import h5py
        with h5py.File(path, "w") as file:
            file.create_dataset("v", data=values, chunks=(64, 64, 64),
                                compression="gzip", compression_opts=4,
                                shuffle=True)

    def open(self, path, threads):
        import h5py
        data = h5py.File(path, "r")["v"]
        return lambda start, size, flat: data[selection(start, size, flat)]


class NiftiFile(Store):
    """The original file, read through nibabel."""

    module = "nibabel"
    reversed = True
    rows = ["box32", "box64", "box128"]
    writes = False
    file = ".nii"

    def open(self, path, threads):
        import nibabel as nib

        def read(start, size, flat):
            data = nib.load(path).dataobj
            return np.array(data[self.select(start, size, flat)])
        return read


class Crop(Store):
    """The original file, read through medrs, which reads only the needed parts
    of a .nii, and inflates all of a .nii.gz."""

    module = "medrs"
    reversed = True
    rows = ["box32", "box64", "box128"]
    writes = False

    def __init__(self, name, title, file):
        super().__init__(name, title)
        self.file = file

    def open(self, path, threads):
        import medrs

        def read(start, size, flat):
            # medrs caches the inflated image.
            medrs.clear_decompression_cache()
            return medrs.load_cropped(path, start[::-1],
                                      size[::-1]).to_numpy_native()
        return read


class Radio(Store):
    """libradio through ctypes, as Python programs use it.  As in radio bench
    no tiles are cached, except for scrolling."""

    writes = False
    fresh_for_scroll = True

    def __init__(self, tiling, codec):
        super().__init__(f"python-{tiling}-{codec}",
                         f"radio {tiling} {codec}, through ctypes")

    def open(self, path, threads):
        return self.open_with(path, threads, keeps_tiles=False)

    def open_to_scroll(self, path, threads):
        return self.open_with(path, threads, keeps_tiles=True)

    @staticmethod
    def open_with(path, threads, keeps_tiles):
        root = Path(__file__).resolve().parents[2]
        sys.path.insert(0, os.fspath(root / "tests" / "interop"))
        import radio_library as radio
        # None means the library's default.
        cache = 0 if keeps_tiles else radio.NO_CACHE
        store = radio.Store(path, threads=threads, cache_nbytes=cache)
        volume = store.open_volume("ct/head")
        dtype = np.dtype(os.environ["RADIO_BENCH_DTYPE"])
        planes = list(radio.Volume.PLANES)

        def read(start, size, flat):
            if not flat:
                return volume.read(start, size, dtype)
            axis = next(i for i in range(3) if size[i] == 1)
            return volume.plane(planes[axis], start[axis], dtype)
        read.opened = [volume, store]
        return read

    def close(self, read):
        for opened in read.opened:
            opened.__exit__()


TILINGS = ["balanced", "axial"]
CODECS = ["small", "medium", "fast"]

STORES = [
    TileDB("tiledb-axial", "TileDB zstd 3, tiles 1x512x512",
           (512, 512, 1)),
    TileDB("tiledb-64", "TileDB zstd 3, tiles 64^3", (64, 64, 64)),
    RadiObject("radiobject", "RadiObject, as it comes"),
    RadiObject("radiobject-iso", "RadiObject, isotropic tiles (64^3)",
               "isotropic"),
    Zarr("zarr-64", "zarr-python zstd 3, 64^3", (64, 64, 64)),
    Zarr("zarr-shard", "zarr-python shards, blosc-zstd", (8, 64, 64), SHARD),
    Zarr("zarrs-shard", "zarrs, shards, blosc-zstd", (8, 64, 64), SHARD,
         "zarrs.ZarrsCodecPipeline"),
    TensorStore("ts-64", "tensorstore zstd 3, 64^3", (64, 64, 64)),
    TensorStore("ts-shard", "tensorstore, shards, blosc-zstd", (8, 64, 64),
                SHARD),
    TensorStore("ts-axial", "tensorstore zstd 3, 1x512x512", (1, 512, 512)),
    TensorStore("ts-cache", "tensorstore, shards, cache on", (8, 64, 64),
                SHARD, cache=1 << 30),
    Blosc2("blosc2", "blosc2 b2nd defaults"),
    Blosc2("blosc2-nnunet", "blosc2 as nnU-Net has it", lz4hc=5,
           chunks=(128, 128, 128), blocks=(32, 32, 32)),
    HDF5("h5", "HDF5 gzip 4 + shuffle, 64^3"),
    NiftiFile("nii", "nibabel, the .nii file"),
    Crop("medrs-nii", "medrs, a crop of the .nii file", ".nii"),
    Crop("medrs-gz", "medrs, a crop of the .nii.gz file", ".nii.gz"),
    TensorStore("nibabel-ts", "nibabel, then tensorstore's shards",
                (8, 64, 64), SHARD, loader="nibabel"),
    TensorStore("medrs-ts", "medrs, then tensorstore's shards",
                (8, 64, 64), SHARD, loader="medrs"),
] + [Radio(t, c) for t in TILINGS for c in CODECS]

BY_NAME = {store.name: store for store in STORES}


def find(name):
    return BY_NAME[name]


# The stores of --quick: one of each kind.
QUICK = ["tiledb-64", "radiobject-iso", "zarr-shard", "zarrs-shard",
         "ts-shard", "ts-cache", "blosc2", "blosc2-nnunet", "h5", "nii",
         "medrs-nii", "medrs-gz", "nibabel-ts", "medrs-ts",
         "python-balanced-medium"]
