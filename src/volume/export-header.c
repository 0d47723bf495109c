/* SPDX-License-Identifier: MIT */
/* The headers of exported volumes. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/element/box.h"
#include "src/nifti/npy.h"
#include "src/volume/export.h"

static double
millimetres (const char *unit)
{
  static const struct {
    const char *unit;
    double factor;
  } units[] = {
    { "nanometer", 1e-6 }, { "micrometer", 1e-3 }, { "centimeter", 10 },
    { "decimeter", 100 }, { "meter", 1e3 }, { "inch", 25.4 },
  };
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp (unit, units[i].unit) == 0)
      return units[i].factor;
  return 1;
}

static double
seconds (const char *unit)
{
  static const struct {
    const char *unit;
    double factor;
  } units[] = {
    { "nanosecond", 1e-9 }, { "microsecond", 1e-6 },
    { "millisecond", 1e-3 }, { "minute", 60 }, { "hour", 3600 },
  };
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp (unit, units[i].unit) == 0)
      return units[i].factor;
  return 1;
}

/* The affine of a box in millimetres: its origin is that of the box's first
 * voxel. */
static void
set_affine (const struct radio_volume *volume, const struct radio_box *box,
            struct rd_nifti_make *make)
{
  const struct radio_volume_info *info = &volume->info;
  double unit = millimetres (info->space_unit);
  double start[6] = { 0 };
  for (size_t i = 0; i < box->rank; i++)
    start[rd_export_axis (volume, i)] = (double) box->start[i];
  for (size_t i = 0; i < 3; i++) {
    double origin = info->affine[i][3];
    for (size_t j = 0; j < 3; j++) {
      make->affine[i][j] = info->affine[i][j] * unit;
      origin += info->affine[i][j] * start[j + 1];
    }
    make->affine[i][3] = origin * unit;
  }
}

/* A header for an image that came from no NIfTI file.  Axes that it lacks
 * are of one element. */
static enum radio_status
make_header (const struct radio_volume *volume, const struct radio_box *box,
             struct rd_buffer *out)
{
  const struct radio_volume_info *info = &volume->info;
  /* x, y, z, t, c from 1 on. */
  uint64_t size[6] = { 1, 1, 1, 1, 1, 1 };
  double spacing[6] = { 1, 1, 1, 1, 1, 1 };
  size_t last = 3;
  for (size_t i = 0; i < box->rank; i++) {
    size_t axis = rd_export_axis (volume, i);
    size[axis] = box->size[i];
    spacing[axis] = info->spacing[i];
    last = axis > last ? axis : last;
  }
  double space = millimetres (info->space_unit);
  struct rd_nifti_make make = {
    .dtype = info->array.dtype, .rank = last, .descrip = "radio",
  };
  for (size_t i = 0; i < last; i++) {
    size_t axis = last == 5 && i < 2 ? 4 + i : last - i;
    make.shape[i] = size[axis];
    make.spacing[i] = axis <= 3 ? spacing[axis] * space
      : axis == 4 ? spacing[axis] * seconds (info->time_unit)
      : spacing[axis];
  }
  set_affine (volume, box, &make);
  return rd_nifti_make (&make, out);
}

enum radio_status
rd_export_nifti_header (const struct radio_volume *volume,
                        const struct radio_box *box, struct rd_buffer *out,
                        bool *swapped)
{
  const struct rd_volume_meta *meta = &volume->meta;
  const struct radio_box whole = rd_box_whole (
    volume->info.array.rank, volume->info.array.shape);
  out->nbytes = 0;
  if (!meta->has_nifti)
    RD_TRY (make_header (volume, box ? box : &whole, out));
  else if (box)
    RD_TRY (rd_nifti_box_header (&meta->nifti, &meta->prefix, box, out));
  else {
    RD_TRY (rd_buffer_append (out, meta->prefix.data, meta->prefix.nbytes));
    if (meta->nifti.is_pair)
      RD_TRY (rd_nifti_make_single (&meta->nifti, out));
  }
  struct rd_nifti nifti;
  RD_TRY (rd_nifti_parse (out->data, out->nbytes, volume->path, &nifti));
  *swapped = nifti.swapped;
  return RADIO_OK;
}

/* numpy's shape is the stream's order turned round, as it is Fortran's;
 * colours are in the type. */
static size_t
shape_of_box (const struct radio_volume *volume,
              const struct rd_stream *stream, uint64_t *shape)
{
  size_t n = 0;
  for (size_t place = stream->box.rank; place-- > 0;) {
    size_t axis = stream->order[place];
    if (rd_export_axis (volume, axis) > 0)
      shape[n++] = stream->box.size[axis];
  }
  return n;
}

/* All dimensions that the header has, also those of one element. */
static size_t
shape_of_header (const struct rd_nifti *nifti, uint64_t *shape)
{
  for (size_t i = 0; i < nifti->ndim; i++)
    shape[i] = (uint64_t) nifti->dim[i + 1];
  return nifti->ndim;
}

/* A voxel of some of its colours has no type. */
static enum radio_status
check_colours (const struct radio_volume *volume,
               const struct radio_box *box)
{
  const struct rd_nifti *nifti = &volume->meta.nifti;
  for (size_t i = 0; i < box->rank; i++)
    if (rd_export_axis (volume, i) == 0
        && box->size[i] != (uint64_t) nifti->colour)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: a box of %s must hold all "
                      "%d channels", volume->path, nifti->type_name,
                      (int) nifti->colour);
  return RADIO_OK;
}

enum radio_status
rd_export_npy_header (const struct radio_volume *volume,
                      const struct radio_box *box,
                      const struct rd_stream *stream, struct rd_buffer *out)
{
  const struct rd_volume_meta *meta = &volume->meta;
  RD_TRY (check_colours (volume, &stream->box));
  char room[RD_NPY_DESCR_NBYTES];
  uint64_t shape[RADIO_MAX_RANK];
  size_t rank = meta->has_nifti && box == NULL
    ? shape_of_header (&meta->nifti, shape)
    : shape_of_box (volume, stream, shape);
  const struct rd_type type = stream->scaling ? rd_type_of (stream->dtype)
                                             : volume->array->doc->type;
  const char *descr = rd_npy_descr (&type, room);
  if (meta->has_nifti && meta->nifti.colour != RD_COLOUR_NONE)
    descr = rd_npy_colour_descr (meta->nifti.colour);
  return rd_npy_header (descr, true, rank, shape, out);
}
