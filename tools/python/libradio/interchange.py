# SPDX-License-Identifier: MIT
"""Volumes as the images of nibabel, SimpleITK, TorchIO and MONAI, which are
imported when they are asked for."""
import importlib
import io
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _arguments
from .errors import UnsupportedError
from .store import Store, check_store
from .volume import Volume, check_volume, open_file

__all__ = ["LazyVoxels", "MonaiReader", "as_nibabel", "as_sitk", "as_torchio"]


_MM = {"nanometer": 1e-6, "micrometer": 1e-3, "centimeter": 10.0,
       "decimeter": 100.0, "meter": 1e3, "inch": 25.4}
_SECONDS = {"nanosecond": 1e-9, "microsecond": 1e-6, "millisecond": 1e-3,
            "minute": 60.0, "hour": 3600.0}


class LazyVoxels:
    """The voxels of an image of nibabel's, read when they are indexed: scaled
    as nibabel scales those of a file, to the same types."""

    is_proxy = True

    def __init__(self, volume: Volume, shape: tuple[int, ...],
                 dtype: np.dtype[Any]) -> None:
        self._volume = volume
        self._shape = shape
        self._dtype = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the header."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that is stored."""
        return self._dtype

    @property
    def slope(self) -> float:
        """What stored values are multiplied by."""
        return self._volume.scaling[0]

    @property
    def inter(self) -> float:
        """What is added to them then."""
        return self._volume.scaling[1]

    def copy(self) -> "LazyVoxels":
        """Returns another one of the same volume."""
        return LazyVoxels(self._volume, self._shape, self._dtype)

    def reshape(self, shape: Sequence[int]) -> "LazyVoxels":
        """Returns the same voxels with another shape, in Fortran order, of
        which one number may be -1."""
        size = math.prod(self._shape)
        known = math.prod(n for n in shape if n != -1)
        whole = tuple(size // max(1, known) if n == -1 else int(n)
                      for n in shape)
        if min(whole, default=0) < 0 or math.prod(whole) != size:
            raise ValueError(f"{self._volume.path}: {self._shape} cannot be"
                             f" reshaped to {tuple(shape)}")
        return LazyVoxels(self._volume, whole, self._dtype)

    def get_unscaled(self) -> NDArray[Any]:
        """Reads all voxels as they are stored."""
        voxels: NDArray[Any] = self._stored(...)
        return voxels

    def __getitem__(self, index: Any) -> Any:
        return self._scaled(self._stored(index))

    def __array__(self, dtype: DTypeLike | None = None,
                  copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("voxels are read into new memory; use copy=None")
        voxels: NDArray[Any] = self._scaled(self._stored(...), dtype)
        return voxels if dtype is None else voxels.astype(dtype, copy=False)

    def _scaled(self, stored: NDArray[Any],
                dtype: DTypeLike | None = None) -> Any:
        if self._dtype.names:
            return stored
        from nibabel.volumeutils import apply_read_scaling
        kind = np.dtype(np.float64 if dtype is None else dtype)
        factors = np.array([self.slope, self.inter])
        if np.can_cast(factors.dtype, kind):
            factors = factors.astype(kind)
        scaled = apply_read_scaling(stored, *factors)
        return scaled if dtype is None else scaled.astype(
            np.promote_types(scaled.dtype, kind), copy=False)

    def _stored(self, index: Any) -> Any:
        # Of colours the volume's last axis are the channels.
        channels = (slice(None),) if self._dtype.names else ()
        rank = len(self._shape)
        shape = self._volume.shape
        if channels:
            shape = shape[:-1]
        if shape[:rank] != self._shape or math.prod(shape[rank:]) != 1:
            # Another shape; also axes of one voxel that the volume lacks.
            voxels = self._pixels(self._volume.numpy())
            return voxels.reshape(self._shape, order="F")[index]
        # The volume has z also of a 2-D image.
        more = (*(0 for _ in shape[rank:]), *channels)
        if not more:
            return self._volume[index]
        items = index if isinstance(index, tuple) else (index,)
        if all(item is not Ellipsis for item in items):
            given = sum(item is not None for item in items)
            items = items if given == rank else (*items, ...)
        return self._pixels(self._volume[(*items, *more)])

    def _pixels(self, channels: Any) -> Any:
        if not self._dtype.names:
            return channels
        pixels = np.ascontiguousarray(channels).view(self._dtype)
        return pixels[..., 0][()]


def as_nibabel(volume: Volume) -> Any:
    """Returns a Nifti1Image (Nifti2Image; Nifti1Pair, Nifti2Pair of .hdr and
    .img) with the header and extensions of the file that was ingested, whose
    voxels are read when they are used.

    >>> import libradio
    >>> volume = libradio.open("examples.zarr")["ct/head"]
    >>> image = libradio.as_nibabel(volume)
    >>> image.dataobj[:, :, 3].shape, image.get_fdata().dtype
    ((64, 48), dtype('float64'))
    """
    check_volume(volume, "volume")
    from nibabel import nifti1, nifti2
    data = volume.header
    if not data:
        raise UnsupportedError(f"{volume.path}: has no NIfTI header; use"
                               " numpy() and affine")
    sizes = {int.from_bytes(data[:4], order) for order in ("little", "big")}
    if 540 in sizes:
        image_type = (nifti2.Nifti2Pair if data[4:7] == b"ni2"
                      else nifti2.Nifti2Image)
    else:
        image_type = (nifti1.Nifti1Pair if data[344:347] == b"ni1"
                      else nifti1.Nifti1Image)
    header = image_type.header_class.from_fileobj(io.BytesIO(data))
    voxels = LazyVoxels(volume, header.get_data_shape(),
                        header.get_data_dtype().newbyteorder("="))
    # With this affine nibabel leaves the header as it is.
    return image_type(voxels, header.get_best_affine(), header)


def _values(volume: Volume, scaled: bool) -> NDArray[Any]:
    """Reads all voxels, scaled as ITK scales those of files."""
    if scaled and volume.scaling != (1, 0):
        return volume.numpy(np.float64 if volume.dtype == np.float64
                            else np.float32, scaled=True)
    return volume.numpy()


def as_sitk(volume: Volume, *, scaled: bool = True) -> Any:
    """Returns a SimpleITK image with the volume's axes and affine, in
    millimetres and seconds; colours are vectors.  scaled: where the volume has
    a scaling, its values in float32 (float64 if stored so), as SimpleITK reads
    files.

    It differs from sitk.ReadImage of the same file in what follows from the
    volume's: a 2-D image has one plane in z, and a series of one time its
    fourth axis.  The affine is the sform where its code is not 0; ITK prefers
    the qform where the sform's code is not 1, and takes spacing from pixdim.
    Without a form x runs to the right and y to the front, as NIfTI says; ITK
    takes neither.  An intercept with a slope of 0 is not added.

    >>> import libradio
    >>> volume = libradio.open("examples.zarr")["ct/head"]
    >>> libradio.as_sitk(volume).GetSize()
    (64, 48, 32)
    """
    check_volume(volume, "volume")
    is_scaled = _arguments.flag(scaled, "scaled")
    import SimpleITK
    if volume.ndim > 4:
        raise UnsupportedError(f"{volume.path}: has {volume.ndim} axes;"
                               " SimpleITK's images have at most 4")
    voxels = _values(volume, is_scaled)
    is_colour = volume.axes == "xyzc"
    image = SimpleITK.GetImageFromArray(
        voxels.transpose(2, 1, 0, 3) if is_colour else voxels.T,
        isVector=is_colour)
    space_unit, time_unit = volume.units
    mm, seconds = _MM.get(space_unit, 1.0), _SECONDS.get(time_unit, 1.0)
    # Its axes point to the left, the back and the head.
    affine = np.diag([-mm, -mm, mm, 1.0]) @ volume.affine
    spacing = np.sqrt((affine[:3, :3] ** 2).sum(0))
    rank = image.GetDimension()
    direction = np.eye(rank)
    if spacing.all():
        direction[:3, :3] = affine[:3, :3] / spacing
    if not spacing.all() or abs(np.linalg.det(direction)) < 1e-9:
        raise UnsupportedError(
            f"{volume.path}: its affine {volume.affine[:3].tolist()} has no"
            " inverse, which SimpleITK's images need; use numpy()")
    image.SetDirection(direction.ravel().tolist())
    image.SetSpacing([*spacing.tolist(),
                      *(step * seconds for step in volume.spacing[3:rank])])
    image.SetOrigin([*affine[:3, 3].tolist(), *[0.0] * (rank - 3)])
    return image


def as_torchio(volume: Volume, *, labels: bool = False,
               scaled: bool = True) -> Any:
    """Returns a ScalarImage of TorchIO's, or a LabelMap, in memory: times or
    colours are its channels.  Values and affine are as in ``as_sitk``, by
    which TorchIO reads files; like it, it has no unsigned integers of more
    than 8 bits: they are converted to wider ones.
    """
    check_volume(volume, "volume")
    is_labels = _arguments.flag(labels, "labels")
    is_scaled = _arguments.flag(scaled, "scaled")
    torchio = importlib.import_module("torchio")
    if volume.ndim > 4:
        raise UnsupportedError(f"{volume.path}: has {volume.ndim} axes;"
                               " TorchIO's images have at most 4")
    voxels = _values(volume, is_scaled)
    mm = _MM.get(volume.units[0], 1.0)
    image_type = torchio.LabelMap if is_labels else torchio.ScalarImage
    return image_type(
        tensor=voxels[np.newaxis] if volume.ndim == 3
        else np.moveaxis(voxels, 3, 0),
        affine=np.diag([mm, mm, mm, 1.0]) @ volume.affine)


class MonaiReader:
    """An ImageReader of MONAI's, for ``LoadImage(reader=...)``: names are
    paths of volumes in the store, or without one those of files or URLs, as for
    ``open_file``.  What it delivers is what MONAI's NibabelReader, which gets
    the other options, delivers of the files that were ingested.  Worker
    processes may use it.
    """

    def __init__(self, store: Store | None = None, **options: Any) -> None:
        if store is not None:
            check_store(store, "store")
        readers = importlib.import_module("monai.data.image_reader")
        readers.ImageReader.register(MonaiReader)
        self._store = store
        self._reader = readers.NibabelReader(**options)

    def verify_suffix(self, filename: Any) -> bool:
        """Returns True: names of volumes have no suffixes."""
        return True

    def read(self, data: Any, **options: Any) -> Any:
        """Opens a volume, or several; returns images of nibabel's, whose
        voxels ``get_data`` reads."""
        names = [data] if isinstance(data, (str, os.PathLike)) else list(data)
        self._reader.filenames = tuple(names)
        images = [self._image(os.fspath(name)) for name in names]
        return images if len(images) > 1 else images[0]

    def _image(self, name: str) -> Any:
        volume = (open_file(name) if self._store is None
                  else self._store[name])
        if volume.header:
            # As of files: where the header's spacing is not the affine's.
            utils = importlib.import_module("monai.data.utils")
            return utils.correct_nifti_header_if_necessary(as_nibabel(volume))
        from nibabel import nifti1
        return nifti1.Nifti1Image(volume.numpy(), volume.affine,
                                  dtype=volume.dtype)

    def get_data(self, img: Any) -> Any:
        """Returns the voxels, and a mapping of their metadata."""
        return self._reader.get_data(img)
