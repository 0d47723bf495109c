/* SPDX-License-Identifier: MIT */
/* What a header says of its numbers: units, scaling, order in the file. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/nifti/nifti.h"

const char *
rd_nifti_space_unit (const struct rd_nifti *nifti)
{
  switch (nifti->xyzt_units & 0x07) {
  case 1: return "meter";
  case 2: return "millimeter";
  case 3: return "micrometer";
  default: return "";
  }
}

/* Hertz, ppm and radians per second (32, 40, 48) are no units of time, and
 * OME has no axis for them. */
const char *
rd_nifti_time_unit (const struct rd_nifti *nifti)
{
  switch (nifti->xyzt_units & 0x38) {
  case 8: return "second";
  case 16: return "millisecond";
  case 24: return "microsecond";
  default: return "";
  }
}

void
rd_nifti_scaling (const struct rd_nifti *nifti, double *slope, double *inter)
{
  *slope = 1;
  *inter = 0;
  /* The standard exempts colours from scaling. */
  if (nifti->colour != RD_COLOUR_NONE || nifti->scl_slope == 0
      || !isfinite (nifti->scl_slope))
    return;
  *slope = nifti->scl_slope;
  if (isfinite (nifti->scl_inter))
    *inter = nifti->scl_inter;
}

/* NIfTI's axis (1 for x) for one of the array's; 0 for a colour's. */
size_t
rd_nifti_axis (const struct rd_nifti *nifti, size_t axis)
{
  switch (nifti->axes[axis]) {
  case 'x': return 1;
  case 'y': return 2;
  case 'z': return 3;
  case 't': return 4;
  default: return nifti->colour == RD_COLOUR_NONE ? 5 : 0;
  }
}

void
rd_nifti_file_strides (const struct rd_nifti *nifti, const uint64_t *shape,
                       int64_t *strides)
{
  uint64_t size[6] = { 1, 1, 1, 1, 1, 1 };
  for (size_t i = 0; i < nifti->rank; i++)
    if (rd_nifti_axis (nifti, i) > 0)
      size[rd_nifti_axis (nifti, i)] = shape[i];
  int64_t stride[6] = { 1 };
  stride[1] = (int64_t) nifti->voxel_nbytes;
  for (size_t i = 2; i < 6; i++)
    stride[i] = stride[i - 1] * (int64_t) size[i - 1];
  for (size_t i = 0; i < nifti->rank; i++)
    strides[i] = stride[rd_nifti_axis (nifti, i)];
}
