# SPDX-License-Identifier: MIT
"""Volumes as the images of nibabel and SimpleITK, which are imported when
they are asked for."""
import io
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import UnsupportedError
from .volume import Volume

__all__ = ["LazyVoxels", "as_nibabel", "as_sitk"]


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

    def get_unscaled(self) -> NDArray[Any]:
        """Reads all voxels as they are stored."""
        return self._stored(...)

    def __getitem__(self, index: Any) -> Any:
        return self._scaled(self._stored(index))

    def __array__(self, dtype: DTypeLike | None = None,
                  copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("voxels are read into new memory; use copy=None")
        voxels: NDArray[Any] = self._scaled(self._stored(...))
        return voxels if dtype is None else voxels.astype(dtype, copy=False)

    def _scaled(self, stored: NDArray[Any]) -> Any:
        if self._dtype.names:
            return stored
        from nibabel.volumeutils import apply_read_scaling
        return apply_read_scaling(stored, self.slope, self.inter)

    def _stored(self, index: Any) -> NDArray[Any]:
        voxels: NDArray[Any]
        if self._dtype.names:
            voxels = self._colours()[index]
        elif self._shape == self._volume.shape:
            voxels = self._volume[index]
        else:
            # Axes of one voxel, of which the volume has more or less.
            voxels = self._volume.numpy().reshape(self._shape,
                                                  order="F")[index]
        return voxels

    def _colours(self) -> NDArray[Any]:
        # The volume has them as its last axis.
        channels = np.ascontiguousarray(self._volume.numpy())
        pixels: NDArray[Any] = channels.view(self._dtype)[..., 0]
        return pixels.reshape(self._shape, order="F")


def as_nibabel(volume: Volume) -> Any:
    """Returns a Nifti1Image (or Nifti2Image) with the header and extensions
    of the file that was ingested, whose voxels are read when they are used.

    >>> import libradio
    >>> volume = libradio.open("examples.zarr")["ct/head"]
    >>> image = libradio.as_nibabel(volume)
    >>> image.dataobj[:, :, 3].shape, image.get_fdata().dtype
    ((64, 48), dtype('float64'))
    """
    from nibabel.nifti1 import Nifti1Header, Nifti1Image
    from nibabel.nifti2 import Nifti2Header, Nifti2Image
    data = volume.header
    if not data:
        raise UnsupportedError(f"{volume.path}: has no NIfTI header; use"
                               " numpy() and affine")
    sizes = {int.from_bytes(data[:4], order) for order in ("little", "big")}
    header_type, image_type = ((Nifti2Header, Nifti2Image) if 540 in sizes
                               else (Nifti1Header, Nifti1Image))
    header = header_type.from_fileobj(io.BytesIO(data))
    voxels = LazyVoxels(volume, header.get_data_shape(),
                        header.get_data_dtype().newbyteorder("="))
    # With this affine nibabel leaves the header as it is.
    return image_type(voxels, header.get_best_affine(), header)


def as_sitk(volume: Volume, *, scaled: bool = True) -> Any:
    """Returns a SimpleITK image of 3 axes, or 4, with the volume's geometry;
    colours are vectors.  scaled: where the volume has a scaling, its values in
    float32 (float64 if stored so), as SimpleITK reads files.

    >>> import libradio
    >>> volume = libradio.open("examples.zarr")["ct/head"]
    >>> libradio.as_sitk(volume).GetSize()
    (64, 48, 32)
    """
    import SimpleITK
    if volume.ndim > 4:
        raise UnsupportedError(f"{volume.path}: has {volume.ndim} axes;"
                               " SimpleITK's images have at most 4")
    if scaled and volume.scaling != (1, 0):
        voxels = volume.numpy(np.float64 if volume.dtype == np.float64
                              else np.float32, scaled=True)
    else:
        voxels = volume.numpy()
    is_colour = volume.axes == "xyzc"
    image = SimpleITK.GetImageFromArray(
        voxels.transpose(2, 1, 0, 3) if is_colour else voxels.T,
        isVector=is_colour)
    # Its axes point to the left, the back and the head.
    affine = np.diag([-1.0, -1.0, 1.0, 1.0]) @ volume.affine
    spacing = np.sqrt((affine[:3, :3] ** 2).sum(0))
    rank = image.GetDimension()
    direction = np.eye(rank)
    direction[:3, :3] = affine[:3, :3] / spacing
    image.SetDirection(direction.ravel().tolist())
    image.SetSpacing([*spacing.tolist(), *volume.spacing[3:rank]])
    image.SetOrigin([*affine[:3, 3].tolist(), *[0.0] * (rank - 3)])
    return image
