# SPDX-License-Identifier: MIT
"""Volumes: what they are, and every way to read them."""
import array as arrays
import gzip
import threading
import warnings

import nibabel
import numpy as np
import pytest
from images import voxels

import libradio


def test_it_describes_itself_as_nibabel_does(examples, head):
    volume, array = head
    image = nibabel.load(examples / "head.nii.gz")
    assert volume.shape == image.shape and volume.ndim == 3
    assert len(volume) == 64 and volume.size == array.size
    assert volume.dtype == image.get_data_dtype()
    assert np.array_equal(volume.affine, image.affine)
    assert volume.spacing == image.header.get_zooms()
    assert volume.axcodes == nibabel.aff2axcodes(image.affine)
    with gzip.open(examples / "head.nii.gz") as file:
        assert volume.header == file.read(352)
    assert volume.path == "ct/head"
    assert repr(volume) == "<libradio.Volume 'ct/head', 64 x 48 x 32, int16>"


def test_series_have_t_last(examples):
    volume = libradio.open(examples / "examples.zarr")["mr/brain"]
    array = voxels((20, 16, 12, 3), "float32")
    assert volume.shape == array.shape
    assert volume.spacing == (1, 1, 2, 0.5)
    assert volume.units == ("millimeter", "second")
    assert np.array_equal(volume[..., 1], array[..., 1])
    assert np.array_equal(volume.zyx[2], array[..., 2].T)
    assert np.array_equal(volume.axial(5, t=2), array[:, :, 5, 2])


def test_colours_are_the_last_axis(tmp_path):
    pixel = np.dtype([("R", "u1"), ("G", "u1"), ("B", "u1")])
    array = voxels((7, 6, 5, 3), "uint8")
    image = np.ascontiguousarray(array).view(pixel)[..., 0]
    nibabel.save(nibabel.Nifti1Image(image, np.eye(4)), tmp_path / "c.nii")
    volume = libradio.open_file(tmp_path / "c.nii")
    assert volume.shape == (7, 6, 5, 3)
    assert np.array_equal(volume.numpy(), array)
    assert np.array_equal(volume.axial(2, c=1), array[:, :, 2, 1])


def test_planes_follow_the_anatomy(tmp_path):
    """Of an image whose x runs to the head, y to the left, z to the back."""
    array = voxels((5, 6, 7), "uint8")
    affine = [[0, -1, 0, 0], [0, 0, -2, 0], [3, 0, 0, 0], [0, 0, 0, 1]]
    store = libradio.open(tmp_path / "s", create=True)
    volume = libradio.from_numpy(array, store, "a/b", affine=affine)
    assert volume.axcodes == ("S", "L", "P")
    assert np.array_equal(volume.axial(1), array[1])
    assert np.array_equal(volume.sagittal(2), array[:, 2])
    assert np.array_equal(volume.coronal(-1), array[:, :, -1])
    for plane, n in [(volume.axial, 5), (volume.sagittal, 6),
                     (volume.coronal, 7)]:
        for k in [n, -n - 1]:
            with pytest.raises(IndexError, match="out of bounds"):
                plane(k)
        for k in [slice(0, 2), None, 1.5, True]:
            with pytest.raises(IndexError, match="only integers"):
                plane(k)
        for options in [{"t": 1}, {"c": 99}]:
            with pytest.raises(IndexError, match="the axes xyz"):
                plane(0, **options)
        assert np.array_equal(plane(0, t=0, c=-1), plane(0))


def outs(shape):
    """Arrays of int16 of a shape, in several layouts."""
    c = np.zeros(shape, "int16")
    fortran = np.zeros(shape, "int16", order="F")
    spaced = np.zeros([2 * n for n in shape], "int16")[::2, 1::2, ::2]
    reversed_ = np.zeros(shape, "int16")[::-1, :, ::-1]
    turned = np.zeros((shape[1], shape[2], shape[0]),
                      "int16").transpose(2, 0, 1)
    return [c, fortran, spaced, reversed_, turned]


@pytest.mark.parametrize("i", range(5))
def test_out_is_filled_whatever_its_strides(head, i):
    volume, array = head
    out = outs(volume.shape)[i]
    assert volume.numpy(out=out) is out
    assert np.array_equal(out, array)
    part = outs((10, 8, 6))[i]
    assert volume.box((3, 4, 5), (10, 8, 6), out=part) is part
    assert np.array_equal(part, array[3:13, 4:12, 5:11])
    plane = outs((64, 48, 1))[i][:, :, 0]
    volume.axial(7, out=plane)
    assert np.array_equal(plane, array[:, :, 7])


def test_out_in_c_order_is_written_in_place_beside_its_neighbours(head):
    volume, array = head
    batch = np.full((3, 64, 48, 32), -7, "int16")
    volume.numpy(out=batch[1])
    assert np.array_equal(batch[1], array)
    assert (batch[::2] == -7).all()


class Tensor:
    """As a tensor of torch: memory that NumPy uses without a copy."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


class OnlyDLPack:
    """Memory that is shared by DLPack, and in no other way."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_out_may_be_a_view_of_other_memory(head):
    volume, array = head
    for kind in [Tensor, OnlyDLPack]:
        tensor = kind(np.zeros(volume.shape, "int16"))
        assert volume.numpy(out=tensor) is tensor
        assert np.array_equal(tensor.array, array)
    buffer = arrays.array("h", bytes(2 * 64))
    volume.read_many([((0, 5, 6), (64, 1, 1))],
                     out=[np.asarray(memoryview(buffer)).reshape(64, 1, 1)])
    assert buffer.tolist() == array[:, 5, 6].tolist()


def test_out_that_cannot_be_filled_is_refused(head):
    volume, array = head
    read_only = np.zeros(volume.shape, "int16")
    read_only.flags.writeable = False
    for out in [read_only, np.broadcast_to(np.int16(0), volume.shape),
                bytes(array.nbytes)]:
        with pytest.raises(ValueError, match="read-only"):
            volume.numpy(out=out)
    with pytest.raises(ValueError, match=r"\(64, 48, 32\)"):
        volume.numpy(out=np.zeros((64, 48, 31), "int16"))
    with pytest.raises(TypeError, match="copies"):
        volume.numpy(out=volume.apply("flip x"))
    with pytest.raises(TypeError, match="list"):
        volume.numpy(out=[0] * 5)
    with pytest.raises(TypeError, match="byte order"):
        volume.numpy(out=np.zeros(volume.shape, ">i2"))
    with pytest.raises(TypeError, match="datetime64"):
        volume.numpy(out=np.zeros(volume.shape, "M8[s]"))
    with pytest.raises(TypeError, match="float32"):
        volume.numpy("float32", out=np.zeros(volume.shape, "int16"))


def test_out_that_is_shared_otherwise_is_refused_the_same(head):
    """By memoryview, or by DLPack alone."""
    volume, array = head
    read_only = np.zeros(volume.shape, "int16")
    read_only.flags.writeable = False
    view = memoryview(bytearray(array.nbytes)).cast("h", volume.shape)
    assert volume.numpy(out=view) is view
    assert np.array_equal(np.asarray(view), array)
    with pytest.raises(ValueError, match="read-only"):
        volume.numpy(out=view.toreadonly())
    for wrap in [memoryview, OnlyDLPack]:
        with pytest.raises(ValueError, match=r"out: has the shape \(64, 48\)"):
            volume.numpy(out=wrap(np.zeros((64, 48), "int16")))
        with pytest.raises(TypeError, match="out: is of int16"):
            volume.numpy("int32", out=wrap(np.zeros(volume.shape, "int16")))
    with pytest.raises((ValueError, BufferError), match="read-?only"):
        volume.numpy(out=OnlyDLPack(read_only))


@pytest.mark.parametrize("strides", [
    (0, 0, 0), (2, 8, 0), (0, 2, 8), (2, 2, 2), (2, 6, 32), (-2, 0, 8),
    (2, 8, 30)])
def test_out_whose_elements_share_memory_is_refused(head, strides):
    memory = np.zeros(1000, "int16")
    out = np.lib.stride_tricks.as_strided(memory[500:], (4, 4, 4), strides)
    for kind in [np.asarray, Tensor]:
        with pytest.raises(ValueError, match="share memory"):
            head[0].box((0, 0, 0), (4, 4, 4), out=kind(out))
    with pytest.raises(ValueError, match="share memory"):
        head[0].read_many([((0, 0, 0), (4, 4, 4))] * 2,
                          out=np.lib.stride_tricks.as_strided(
                              memory, (2, 4, 4, 4), (0, 2, 8, 32)))
    assert not memory.any()


def test_arrays_of_boxes_that_share_memory_are_refused(head):
    """Also partly; those between each other's elements are filled."""
    volume, array = head
    rng = np.random.default_rng(7)
    refused = 0
    for _ in range(300):
        memory = np.zeros((8, 8, 8), "int16")[::rng.choice([1, -1])]
        outs, boxes = [], []
        for _ in range(rng.integers(2, 5)):
            step = rng.integers(1, 4, 3)
            at = rng.integers(0, 9 - 2 * step)
            outs.append(memory[tuple(
                slice(i, i + 2 * n, n) for i, n in zip(at, step))].transpose(
                    rng.permutation(3)))
            boxes.append((at, outs[-1].shape))
        if any(np.shares_memory(one, other) for i, one in enumerate(outs)
               for other in outs[:i]):
            refused += 1
            with pytest.raises(ValueError, match="boxes . and . share memory"):
                volume.read_many(boxes, out=outs)
            assert not memory.any()
            continue
        volume.read_many(boxes, out=outs)
        for (at, size), out in zip(boxes, outs):
            assert np.array_equal(out, array[tuple(map(slice, at, at + size))])
    assert 50 < refused < 250


@pytest.mark.parametrize("places", [range(6), [5, 0, 3], [0, 1, 5]])
def test_boxes_are_read_into_planes_of_one_array(head, places):
    volume, array = head
    batch = np.zeros((4, 4, 4, 6), "int16")
    volume.read_many([((i, i, i), (4, 4, 4)) for i in places],
                     out=[batch[..., i] for i in places])
    for i in places:
        assert np.array_equal(batch[..., i], array[i:i + 4, i:i + 4, i:i + 4])
    with pytest.raises(ValueError, match="boxes 1 and 2 share memory"):
        volume.read_many([((0, 0, 0), (4, 4, 4))] * 3,
                         out=[batch[..., i] for i in (0, 1, 1)])


def test_out_with_one_element_on_an_axis_may_have_any_stride_there(head):
    memory = np.zeros(16, "int16")
    out = np.lib.stride_tricks.as_strided(memory, (1, 4, 4), (0, 2, 8))
    head[0].box((3, 4, 5), (1, 4, 4), out=out)
    assert np.array_equal(out, head[1][3:4, 4:8, 5:9])


def test_types_are_converted_or_an_error(head):
    volume, array = head
    for dtype in ["float32", "float64", "float16", "int32", "uint64"]:
        assert np.array_equal(volume.numpy(dtype), array.astype(dtype))
    with pytest.raises(libradio.RangeError, match="does not fit"):
        (volume.apply("linear -1,0")).numpy("uint8")
    with pytest.raises(ValueError, match="copy"):
        volume.__array__(copy=False)


@pytest.mark.parametrize("dtype", [
    "int8", ">i2", ">f4", "float32", "longdouble", "complex64", "complex128",
    "bool", "m8[s]", object, "U5"])
def test_numpy_converts_to_each_of_its_types(head, dtype):
    got, want = np.asarray(head[0], dtype), np.asarray(head[1], dtype)
    assert got.dtype == want.dtype and np.array_equal(got, want)


def test_scaled_values_are_nibabels(tmp_path):
    image = nibabel.Nifti1Image(voxels((9, 8, 7), "int16"), np.eye(4))
    image.header.set_slope_inter(0.25, -3)
    nibabel.save(image, tmp_path / "s.nii.gz")
    want = nibabel.load(tmp_path / "s.nii.gz")
    volume = libradio.open_file(tmp_path / "s.nii.gz")
    assert volume.scaling == (0.25, -3)
    assert volume.numpy(scaled=True).dtype == np.float32
    assert np.array_equal(volume.numpy("float64", scaled=True),
                          want.get_fdata())
    with pytest.raises(libradio.ArgumentError):
        volume.numpy("int32", scaled=True)


def test_many_boxes_are_read_at_once(head):
    volume, array = head
    rng = np.random.default_rng(5)
    boxes = []
    for _ in range(50):
        at = rng.integers(0, [64, 48, 32])
        size = rng.integers(0, np.array([64, 48, 32]) - at + 1)
        boxes.append((at, size))
    for (at, size), got in zip(boxes, volume.read_many(boxes)):
        assert np.array_equal(got, array[tuple(map(slice, at, at + size))])
        assert got.flags.f_contiguous
    batch = np.zeros((4, 8, 8, 8), "float32")
    same = [((i, i, i), (8, 8, 8)) for i in range(4)]
    volume.read_many(same, out=batch, scaled=True)
    for i in range(4):
        assert np.array_equal(batch[i], array[i:i + 8, i:i + 8, i:i + 8])
    assert volume.read_many([]) == []
    with pytest.raises(ValueError, match="3 arrays for 4"):
        volume.read_many(same, out=batch[:3])


@pytest.mark.parametrize("at, size", [
    ((0, 0, 0), (65, 1, 1)), ((-1, 0, 0), (1, 1, 1)), ((64, 0, 0), (1, 1, 1)),
    ((0, 0, 0), (1, 1, -1)), ((2 ** 63, 0, 0), (2 ** 63, 1, 1))])
def test_boxes_outside_are_index_errors(head, at, size):
    with pytest.raises(IndexError, match="not inside"):
        head[0].box(at, size)
    with pytest.raises(IndexError, match="not inside"):
        head[0].read_many([(at, size)])


def test_boxes_may_be_of_numpys_integers(head):
    small = np.array([40, 40, 20], "uint8")
    assert np.array_equal(head[0].box(small, np.array([20, 8, 12], "uint8")),
                          head[1][40:60, 40:48, 20:32])
    with pytest.raises(TypeError):
        head[0].box((0.0, 0, 0), (1, 1, 1))


def test_boxes_of_another_rank_are_errors(head):
    with pytest.raises(ValueError, match="3 axes"):
        head[0].box((0, 0), (1, 1))


def test_other_packages_take_it(head):
    volume, array = head
    assert np.array_equal(np.asarray(volume), array)
    assert np.array_equal(np.from_dlpack(volume), array)
    assert np.array_equal(np.add(volume, 1), array + 1)


def test_pipelines_are_applied_as_it_is_read(head):
    volume, array = head
    derived = volume.apply("crop 8:40,:,4:20 | clamp 10,50")
    assert derived.shape == (32, 48, 16)
    assert derived.pipeline == "crop 8:40,:,4:20 | clamp 10,50"
    want = array[8:40, :, 4:20].clip(10, 50)
    assert np.array_equal(derived.numpy(), want)
    assert np.array_equal(derived[3, ::-2], want[3, ::-2])
    assert np.array_equal(
        volume.numpy(apply="crop 8:40,:,4:20 | clamp 10,50"), want)
    with pytest.raises(libradio.ArgumentError, match="unknown operation"):
        volume.apply("nothing")


def test_warnings_are_pythons(tmp_path):
    array = voxels((6, 5, 4), "float32")
    array[1, 2, 3] = np.nan
    store = libradio.open("memory:", create=True)
    volume = libradio.from_numpy(array, store, "a/b")
    with pytest.warns(libradio.RadioWarning, match="NaN") as caught:
        volume.numpy(apply="linear 2,1")
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        volume.numpy()
        with pytest.raises(libradio.RadioWarning):
            volume.apply("linear 2,1").numpy()
    with pytest.warns(libradio.RadioWarning, match="NaN"):
        exec("volume.numpy(apply='linear 2,1')", {"volume": volume})


def test_files_with_a_bad_end_are_warned_of_once(examples, head, tmp_path):
    file = tmp_path / "a.nii.gz"
    file.write_bytes((examples / "head.nii.gz").read_bytes() + b"no gzip data")
    whole = ((0, 0, 0), (64, 48, 32))
    for read in [lambda v: v.numpy(), lambda v: v.apply("flip x").numpy(),
                 lambda v: v.read_many([whole]), lambda v: v.stats(),
                 lambda v: v.histogram(),
                 lambda v: v.export(tmp_path / "b.nii", overwrite=True)]:
        volume = libradio.open_file(file)
        with pytest.warns(libradio.RadioWarning) as caught:
            read(volume)
        assert [each.filename for each in caught] == [__file__]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(volume)


def test_statistics_are_numpys(head):
    volume, array = head
    stats = volume.stats()
    assert (stats.count, stats.min, stats.max) == (
        array.size, array.min(), array.max())
    assert np.isclose(stats.mean, array.mean())
    assert np.isclose(stats.std, array.std())
    for percent, value in stats.percentiles.items():
        assert value == np.percentile(array, percent)
    for bins, limits in [(64, None), (10, None), (7, (20.0, 50.0)),
                         (5, (1, 1))]:
        counts, edges = volume.histogram(bins, limits)
        want = np.histogram(array, bins, limits)
        assert np.array_equal(counts, want[0])
        assert np.allclose(edges, want[1])
    with pytest.raises(ValueError):
        volume.histogram(0)
    for limits in [(5.0, 1.0), (np.nan, 1.0), (5.0,), (1.0, 2.0, 3.0)]:
        with pytest.raises(ValueError):
            volume.histogram(5, limits)


@pytest.mark.parametrize("shape, dtype", [
    ((9, 8, 7, 3), "float32"), ((5, 4, 3, 2, 3), "uint8"),
    ((6, 5, 4), "float64"), ((6, 5, 4), "uint64")])
def test_histograms_of_every_rank_and_type_are_numpys(shape, dtype):
    array = voxels(shape, dtype)
    store = libradio.open("memory:", create=True)
    volume = libradio.from_numpy(array, store, "a/b")
    assert np.array_equal(volume.histogram(13)[0], np.histogram(array, 13)[0])
    # All values are one.
    same = libradio.from_numpy(np.full(shape, 7, dtype), store, "a/c")
    counts, edges = same.histogram(5)
    want = np.histogram(np.full(shape, 7, dtype), 5)
    assert np.array_equal(counts, want[0]) and np.allclose(edges, want[1])


def test_exports_are_the_files(examples, head, tmp_path):
    volume, array = head
    volume.export(tmp_path / "a.nii.gz")
    image = nibabel.load(tmp_path / "a.nii.gz")
    source = nibabel.load(examples / "head.nii.gz")
    assert np.array_equal(np.asarray(image.dataobj), array)
    assert image.header.binaryblock == source.header.binaryblock
    volume.export(tmp_path / "b.npy", box=((3, 0, 5), (9, 48, 4)), scaled=True)
    saved = np.load(tmp_path / "b.npy")
    assert saved.dtype == np.float32
    assert np.array_equal(saved, array[3:12, :, 5:9])
    with pytest.raises(FileExistsError):
        volume.export(tmp_path / "b.npy")
    volume.export(tmp_path / "b.npy", overwrite=True)
    with pytest.raises(ValueError, match="must end in"):
        volume.export(tmp_path / "b.txt")


def test_damage_is_found(in_examples):
    store = libradio.open("examples.zarr")
    check = store["ct/head"].validate()
    assert check.tile_count > 0 and check.stored_nbytes > 0
    shard, = [path for path in (in_examples / "examples.zarr/ct").rglob("*")
              if path.is_file() and path.name == "0"
              and path.stat().st_size > 10_000]
    data = bytearray(shard.read_bytes())
    data[5000] ^= 1
    shard.write_bytes(data)
    with pytest.raises(libradio.ChecksumError) as caught:
        store["ct/head"].validate()
    assert caught.value.damage and isinstance(caught.value, OSError)
    with pytest.raises(libradio.ChecksumError, match="tile"):
        store["ct/head"].numpy()


def test_files_are_volumes(examples, head):
    for name in [examples / "head.nii.gz", str(examples / "head.nii.gz")]:
        with libradio.open_file(name) as volume:
            assert np.array_equal(volume[10:, 3], head[1][10:, 3])
            assert volume.path == str(examples / "head.nii.gz")
    with pytest.raises(FileNotFoundError):
        libradio.open_file(examples / "none.nii")
    (examples / "text.nii").write_text("no image" * 100)
    with pytest.raises(libradio.FormatError):
        libradio.open_file(examples / "text.nii")


def test_a_file_that_is_cut_or_removed_while_it_is_open(in_examples, head):
    """No read crashes; what is open stays readable if it is removed."""
    plain = in_examples / "head.nii"
    plain.write_bytes(gzip.decompress(
        (in_examples / "head.nii.gz").read_bytes()))
    for name in ["head.nii", "head.nii.gz"]:
        file = in_examples / name
        with libradio.open_file(file, cache=0) as cut:
            file.write_bytes(file.read_bytes()[:2000])
            for read in [cut.numpy, lambda: cut[:, :, -1], cut.stats]:
                with pytest.raises((libradio.FormatError, OSError)):
                    read()
            file.unlink()
            with pytest.raises((libradio.FormatError, OSError)):
                cut.numpy()


def test_it_is_closed_once_and_for_all(examples):
    store = libradio.open(examples / "examples.zarr")
    with store["ct/head"] as volume:
        derived = volume.apply("flip x")
        assert not volume.closed
    assert volume.closed and "closed" in repr(volume)
    for use in [lambda: volume[0], lambda: volume.shape, volume.stats,
                volume.validate, lambda: volume.apply("flip x"),
                lambda: np.asarray(volume)]:
        with pytest.raises(libradio.ClosedError, match="ct/head: is closed"):
            use()
    volume.close()
    assert derived[0, 0, 0] is not None


def test_threads_share_it_also_while_it_is_closed(examples, head):
    store = libradio.open(examples / "examples.zarr")
    errors = []

    def read(volume, seed):
        rng = np.random.default_rng(seed)
        try:
            for _ in range(200):
                x, y = rng.integers(0, 40, 2)
                want = head[1][x:x + 8, y:y + 8]
                if not np.array_equal(volume[x:x + 8, y:y + 8], want):
                    errors.append("voxels differ")
        except libradio.ClosedError:
            pass
        except BaseException as error:
            errors.append(error)

    for _ in range(5):
        volume = store["ct/head"]
        threads = [threading.Thread(target=read, args=(volume, i))
                   for i in range(6)]
        for thread in threads:
            thread.start()
        volume.close()
        for thread in threads:
            thread.join()
    assert errors == []
