/* SPDX-License-Identifier: MIT */
/* The header of a volume's image: the one that was ingested, or one that is
 * made for another program's image. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/element/box.h"
#include "src/volume/image-header.h"

size_t
rd_image_axis (const struct radio_volume *volume, size_t axis)
{
  if (volume->meta.has_nifti)
    return rd_nifti_axis (&volume->meta.nifti, axis);
  switch (volume->info.axes[axis]) {
  case 'x': return 1;
  case 'y': return 2;
  case 'z': return 3;
  case 't': return 4;
  default: return 5;
  }
}

/* The factor from OME-Zarr's unit of an axis to millimetres, or to seconds
 * for t. */
static double
unit_factor (const char *unit, bool is_time)
{
  static const struct {
    const char *unit;
    bool is_time;
    double factor;
  } units[] = {
    { "nanometer", false, 1e-6 }, { "micrometer", false, 1e-3 },
    { "centimeter", false, 10 }, { "decimeter", false, 100 },
    { "meter", false, 1e3 }, { "inch", false, 25.4 },
    { "nanosecond", true, 1e-9 }, { "microsecond", true, 1e-6 },
    { "millisecond", true, 1e-3 }, { "minute", true, 60 },
    { "hour", true, 3600 },
  };
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (units[i].is_time == is_time && strcmp (unit, units[i].unit) == 0)
      return units[i].factor;
  return 1;
}

/* Create a header for an image that has none.  Axes that it lacks have one
 * element.  The origin is that of the box's first voxel. */
static enum radio_status
make_nifti_header (const struct radio_volume *volume,
                   const struct radio_box *box, struct rd_buffer *out)
{
  const struct radio_volume_info *info = &volume->info;
  /* x, y, z, t, c from 1 on. */
  uint64_t size[6] = { 1, 1, 1, 1, 1, 1 };
  double spacing[6] = { 1, 1, 1, 1, 1, 1 }, start[6] = { 0 };
  size_t last = 3;
  for (size_t i = 0; i < box->rank; i++) {
    size_t axis = rd_image_axis (volume, i);
    size[axis] = box->size[i];
    spacing[axis] = info->spacing[i];
    start[axis] = (double) box->start[i];
    last = axis > last ? axis : last;
  }
  double mm = unit_factor (info->space_unit, false);
  struct rd_nifti_make make = {
    .dtype = info->array.dtype, .rank = last, .descrip = "radio",
    .xyzt_units = RD_NIFTI_MM | RD_NIFTI_SECONDS,
    /* An sform would say how the patient lies. */
    .sform_code = info->orientation[0] != '\0',
  };
  for (size_t i = 0; i < last; i++) {
    size_t axis = last == 5 && i < 2 ? 4 + i : last - i;
    make.shape[i] = size[axis];
    make.spacing[i] = axis <= 3 ? spacing[axis] * mm
      : axis == 4 ? spacing[axis] * unit_factor (info->time_unit, true)
      : spacing[axis];
  }
  for (size_t i = 0; i < 3; i++) {
    double origin = info->affine[i][3];
    for (size_t j = 0; j < 3; j++) {
      make.affine[i][j] = info->affine[i][j] * mm;
      origin += info->affine[i][j] * start[j + 1];
    }
    make.affine[i][3] = origin * mm;
  }
  return rd_nifti_make (&make, out);
}

void
rd_image_order (const struct radio_volume *volume,
                size_t order[RADIO_MAX_RANK])
{
  size_t n = 0, rank = volume->array->doc->rank;
  for (size_t wanted = 8; wanted-- > 0;)
    for (size_t i = 0; i < rank; i++)
      if (rd_image_axis (volume, i) == wanted)
        order[n++] = i;
}

enum radio_status
rd_image_header (const struct radio_volume *volume,
                 const struct radio_box *box, struct rd_buffer *out,
                 bool *swapped)
{
  const struct rd_volume_meta *meta = &volume->meta;
  const struct radio_box whole = rd_box_whole (
    volume->info.array.rank, volume->info.array.shape);
  enum radio_status status;
  out->nbytes = 0;
  if (!meta->has_nifti)
    status = make_nifti_header (volume, box ? box : &whole, out);
  else if (box)
    status = rd_nifti_box_header (&meta->nifti, &meta->prefix, box, out);
  else {
    status = rd_buffer_append (out, meta->prefix.data, meta->prefix.nbytes);
    if (status == RADIO_OK && meta->nifti.is_pair)
      status = rd_nifti_make_single (&meta->nifti, out);
  }
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s", volume->path);
  struct rd_nifti nifti;
  RD_TRY (rd_nifti_parse (out->data, out->nbytes, volume->path, &nifti));
  *swapped = nifti.swapped;
  return RADIO_OK;
}
