/* SPDX-License-Identifier: MIT */
/* Headers written: for a box of the image, for a single file from a pair, and
 * new ones.  Other bytes stay as they are. */
#include <config.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/element/box.h"
#include "src/nifti/fields.h"
#include "src/nifti/nifti.h"

#define NIFTI1_MAX_DIM 32767

/* NIfTI wants the voxels to begin at a multiple of this. */
#define VOX_OFFSET_ALIGNMENT 16

/* A point of the voxel grid, from the affine's origin. */
static void
shift (double affine[3][4], const double start[3], double result[3])
{
  for (size_t i = 0; i < 3; i++) {
    result[i] = affine[i][3];
    for (size_t j = 0; j < 3; j++)
      result[i] += affine[i][j] * start[j];
  }
}

static void
set_box (const struct rd_nifti *nifti, const struct rd_field_layout *layout,
         const struct radio_box *box, unsigned char *bytes)
{
  double start[8] = { 0 }, affine[3][4], origin[3];
  bool cut = false;
  for (size_t i = 0; i < nifti->rank; i++) {
    size_t axis = rd_nifti_axis (nifti, i);
    if (axis == 0)
      continue;
    start[axis] = (double) box->start[i];
    cut = cut || (axis < 4 && box->size[i] != nifti->shape[i]);
    /* An axis that the header does not count has one element. */
    if (axis <= nifti->ndim)
      rd_field_set_int (layout, bytes, RD_FIELD_DIM, axis,
                        (int64_t) box->size[i]);
  }

  /* The box's first voxel stays where it was.  Method 1 of the standard has
   * no origin to move. */
  bool is_moved = start[1] > 0 || start[2] > 0 || start[3] > 0;
  if (is_moved && rd_nifti_has_sform (nifti)) {
    memcpy (affine, nifti->srow, sizeof affine);
    shift (affine, start + 1, origin);
    for (size_t i = 0; i < 3; i++)
      rd_field_set_real (layout, bytes, RD_FIELD_SROW, 4 * i + 3, origin[i]);
  }
  if (is_moved && rd_nifti_has_qform (nifti)) {
    rd_nifti_qform (nifti, affine);
    shift (affine, start + 1, origin);
    for (size_t i = 0; i < 3; i++)
      rd_field_set_real (layout, bytes, RD_FIELD_QOFFSET, i, origin[i]);
  }
  if (start[4] > 0)
    rd_field_set_real (layout, bytes, RD_FIELD_TOFFSET, 0,
                       rd_field_real (layout, bytes, RD_FIELD_TOFFSET, 0)
                         + start[4] * rd_nifti_spacing (nifti, 4));
  if (cut) {
    /* The order of acquisition is unknown for a part of the slices. */
    rd_field_set_int (layout, bytes, RD_FIELD_SLICE_CODE, 0, 0);
    rd_field_set_int (layout, bytes, RD_FIELD_SLICE_START, 0, 0);
    rd_field_set_int (layout, bytes, RD_FIELD_SLICE_END, 0, 0);
  }
}

enum radio_status
rd_nifti_box_header (const struct rd_nifti *nifti,
                     const struct rd_buffer *prefix,
                     const struct radio_box *box, struct rd_buffer *out)
{
  if (!rd_box_fits (box, nifti->rank, nifti->shape))
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "the box does not lie within the image");
  if (radio_box_count (box) == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the box is empty");
  for (size_t i = 0; i < nifti->rank; i++)
    if (rd_nifti_axis (nifti, i) == 0 && box->size[i] != nifti->shape[i])
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "a box of %s must hold all %d channels",
                      nifti->type_name, (int) nifti->colour);
  struct rd_field_layout layout = rd_field_layout_of (nifti);
  size_t header = rd_field_header_nbytes (&layout);
  size_t end = rd_field_single_nbytes (&layout);
  if (prefix->nbytes < header)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "the header has %zu of %zu bytes", prefix->nbytes,
                    header);
  out->nbytes = 0;
  RD_TRY (rd_buffer_append (out, prefix->data, header));
  RD_TRY (rd_buffer_append (out, "\0\0\0\0", 4));
  set_box (nifti, &layout, box, out->data);
  rd_field_set_int (&layout, out->data, RD_FIELD_VOX_OFFSET, 0,
                    (int64_t) end);
  size_t nbytes, magic = rd_field_text (&layout, RD_FIELD_MAGIC, &nbytes);
  memcpy (out->data + magic, layout.version == 2 ? "n+2" : "n+1", 4);
  return RADIO_OK;
}

enum radio_status
rd_nifti_make_single (const struct rd_nifti *nifti, struct rd_buffer *prefix)
{
  static const unsigned char zeros[VOX_OFFSET_ALIGNMENT];
  struct rd_field_layout layout = rd_field_layout_of (nifti);
  size_t least = rd_field_single_nbytes (&layout);
  while (prefix->nbytes < least)
    RD_TRY (rd_buffer_append (prefix, zeros, 1));
  size_t over = prefix->nbytes % VOX_OFFSET_ALIGNMENT;
  if (over > 0)
    RD_TRY (rd_buffer_append (prefix, zeros, VOX_OFFSET_ALIGNMENT - over));
  rd_field_set_int (&layout, prefix->data, RD_FIELD_VOX_OFFSET, 0,
                    (int64_t) prefix->nbytes);
  size_t nbytes, magic = rd_field_text (&layout, RD_FIELD_MAGIC, &nbytes);
  memcpy (prefix->data + magic, layout.version == 2 ? "n+2" : "n+1", 4);
  return RADIO_OK;
}

static enum radio_status
check_type (enum radio_dtype dtype)
{
  if (rd_nifti_datatype_of (dtype) == 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "NIfTI has no data type %s",
                    radio_dtype_name (dtype));
  return RADIO_OK;
}

static void
set_type (enum radio_dtype dtype, const struct rd_field_layout *layout,
          unsigned char *bytes)
{
  rd_field_set_int (layout, bytes, RD_FIELD_DATATYPE, 0,
                    rd_nifti_datatype_of (dtype));
  rd_field_set_int (layout, bytes, RD_FIELD_BITPIX, 0,
                    (int64_t) radio_dtype_nbytes (dtype) * 8);
  rd_field_set_real (layout, bytes, RD_FIELD_SCL_SLOPE, 0, 1);
  rd_field_set_real (layout, bytes, RD_FIELD_SCL_INTER, 0, 0);
  rd_field_set_real (layout, bytes, RD_FIELD_CAL_MIN, 0, 0);
  rd_field_set_real (layout, bytes, RD_FIELD_CAL_MAX, 0, 0);
}

enum radio_status
rd_nifti_set_type (const struct rd_nifti *nifti, enum radio_dtype dtype,
                   struct rd_buffer *prefix)
{
  struct rd_field_layout layout = rd_field_layout_of (nifti);
  RD_TRY (check_type (dtype));
  set_type (dtype, &layout, prefix->data);
  return RADIO_OK;
}

void
rd_nifti_clear_intent (const struct rd_nifti *nifti, struct rd_buffer *prefix)
{
  struct rd_field_layout layout = rd_field_layout_of (nifti);
  rd_field_set_int (&layout, prefix->data, RD_FIELD_INTENT_CODE, 0, 0);
}

/* The code for an affine of an image whose header has none: aligned to
 * something. */
#define SFORM_ALIGNED 2

/* Makes a prefix without extensions one of NIfTI-2. */
static enum radio_status
make_version_2 (struct rd_field_layout *layout, struct rd_buffer *prefix)
{
  unsigned char header[RD_NIFTI2_NBYTES];
  rd_field_make_version_2 (layout->big_endian, prefix->data, header);
  layout->version = 2;
  prefix->nbytes = 0;
  RD_TRY (rd_buffer_append (prefix, header, sizeof header));
  return rd_buffer_append (prefix, "\0\0\0\0", 4);
}

enum radio_status
rd_nifti_grid_header (const struct rd_nifti *nifti,
                      const struct rd_buffer *prefix,
                      const struct rd_nifti_grid *grid, struct rd_buffer *out)
{
  struct rd_field_layout layout = rd_field_layout_of (nifti);
  const struct radio_box whole = rd_box_whole (nifti->rank, nifti->shape);
  RD_TRY (rd_nifti_box_header (nifti, prefix, &whole, out));
  bool is_long = false;
  for (size_t i = 0; i < nifti->rank; i++)
    is_long = is_long || grid->shape[i] > NIFTI1_MAX_DIM;
  if (is_long && layout.version == 1)
    RD_TRY (make_version_2 (&layout, out));
  unsigned char *bytes = out->data;
  size_t ndim = nifti->ndim;
  for (size_t i = 0; i < nifti->rank; i++) {
    size_t axis = rd_nifti_axis (nifti, i);
    if (axis < 1 || axis > 3)
      continue;
    /* An axis that the header does not count has one element. */
    for (; ndim < axis && grid->shape[i] > 1; ndim++)
      rd_field_set_int (&layout, bytes, RD_FIELD_DIM, ndim + 1, 1);
    if (axis <= ndim)
      rd_field_set_int (&layout, bytes, RD_FIELD_DIM, axis,
                        (int64_t) grid->shape[i]);
    rd_field_set_real (&layout, bytes, RD_FIELD_PIXDIM, axis,
                       grid->spacing[axis - 1]);
  }
  rd_field_set_int (&layout, bytes, RD_FIELD_DIM, 0, (int64_t) ndim);
  /* The directions and the order of acquisition are lost. */
  rd_field_set_int (&layout, bytes, RD_FIELD_DIM_INFO, 0, 0);
  rd_field_set_int (&layout, bytes, RD_FIELD_SLICE_CODE, 0, 0);
  rd_field_set_int (&layout, bytes, RD_FIELD_SLICE_START, 0, 0);
  rd_field_set_int (&layout, bytes, RD_FIELD_SLICE_END, 0, 0);
  if (!grid->has_affine)
    return RADIO_OK;
  int code = rd_nifti_has_sform (nifti) ? nifti->sform_code
             : rd_nifti_has_qform (nifti) ? nifti->qform_code
             : SFORM_ALIGNED;
  rd_field_set_int (&layout, bytes, RD_FIELD_QFORM_CODE, 0, 0);
  rd_field_set_int (&layout, bytes, RD_FIELD_SFORM_CODE, 0, code);
  for (size_t i = 0; i < 12; i++)
    rd_field_set_real (&layout, bytes, RD_FIELD_SROW, i,
                       grid->affine[i / 4][i % 4]);
  return RADIO_OK;
}

static void
set_axes (const struct rd_nifti_make *make,
          const struct rd_field_layout *layout,
          unsigned char *bytes)
{
  rd_field_set_int (layout, bytes, RD_FIELD_DIM, 0, (int64_t) make->rank);
  for (size_t i = 1; i < 8; i++)
    rd_field_set_int (layout, bytes, RD_FIELD_DIM, i, 1);
  for (size_t i = 0; i < 8; i++)
    rd_field_set_real (layout, bytes, RD_FIELD_PIXDIM, i, 1);
  for (size_t i = 0; i < make->rank; i++) {
    /* 5-D arrays are t, c, z, y, x, but NIfTI's axes x, y, z, t, c. */
    size_t axis = make->rank == 5 && i < 2 ? 4 + i : make->rank - i;
    rd_field_set_int (layout, bytes, RD_FIELD_DIM, axis,
                      (int64_t) make->shape[i]);
    rd_field_set_real (layout, bytes, RD_FIELD_PIXDIM, axis,
                       make->spacing[i]);
  }
  if (make->sform_code == 0)
    return;
  rd_field_set_int (layout, bytes, RD_FIELD_SFORM_CODE, 0, make->sform_code);
  for (size_t i = 0; i < 12; i++)
    rd_field_set_real (layout, bytes, RD_FIELD_SROW, i,
                       make->affine[i / 4][i % 4]);
}

/* Returns the number as a header of the layout has it: a float or a double.  A
 * double beyond float's range is infinite. */
static double
as_stored (const struct rd_field_layout *layout, double value)
{
  if (layout->version == 2)
    return value;
  return fabs (value) > FLT_MAX ? copysign (INFINITY, value)
                                : (double) (float) value;
}

/* Readers ignore an sform that is not finite, and take 1 for a spacing of 0. */
static enum radio_status
check_geometry (const struct rd_nifti_make *make,
                const struct rd_field_layout *layout)
{
  for (size_t i = 0; i < 12 && make->sform_code > 0; i++) {
    double value = make->affine[i / 4][i % 4];
    if (!isfinite (as_stored (layout, value)))
      return rd_fail (RADIO_ERROR_ARGUMENT, "affine[%zu][%zu] is %g, which "
                      "NIfTI-%d cannot hold", i / 4, i % 4, value,
                      layout->version);
  }
  for (size_t i = 0; i < make->rank; i++) {
    double stored = as_stored (layout, make->spacing[i]);
    if (!isfinite (stored) || stored <= 0)
      return rd_fail (RADIO_ERROR_ARGUMENT, "spacing[%zu] is %g, which "
                      "NIfTI-%d cannot hold", i, make->spacing[i],
                      layout->version);
  }
  return RADIO_OK;
}

enum radio_status
rd_nifti_make (const struct rd_nifti_make *make, struct rd_buffer *out)
{
  struct rd_field_layout layout = { 1, false };
  RD_TRY (check_type (make->dtype));
  if (make->rank < 3 || make->rank > 5)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "rank is %zu, not 3 to 5", make->rank);
  for (size_t i = 0; i < make->rank; i++) {
    if (make->shape[i] == 0 || make->shape[i] > INT64_MAX)
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "shape[%zu] is %" PRIu64 ", which NIfTI cannot hold",
                      i, make->shape[i]);
    if (make->shape[i] > NIFTI1_MAX_DIM)
      layout.version = 2;
  }
  RD_TRY (check_geometry (make, &layout));
  size_t header = rd_field_header_nbytes (&layout);
  size_t end = rd_field_single_nbytes (&layout);
  RD_TRY (rd_buffer_reserve (out, end));
  unsigned char *bytes = out->data;
  memset (bytes, 0, end);
  out->nbytes = end;
  rd_field_set_int (&layout, bytes, RD_FIELD_SIZEOF_HDR, 0,
                    (int64_t) header);
  size_t nbytes, magic = rd_field_text (&layout, RD_FIELD_MAGIC, &nbytes);
  memcpy (bytes + magic, layout.version == 2 ? RD_NIFTI2_MAGIC : "n+1",
          nbytes);
  set_type (make->dtype, &layout, bytes);
  rd_field_set_int (&layout, bytes, RD_FIELD_VOX_OFFSET, 0, (int64_t) end);
  rd_field_set_int (&layout, bytes, RD_FIELD_XYZT_UNITS, 0,
                    make->xyzt_units);
  if (make->descrip) {
    size_t at = rd_field_text (&layout, RD_FIELD_DESCRIP, &nbytes);
    memcpy (bytes + at, make->descrip, strnlen (make->descrip, nbytes - 1));
  }
  set_axes (make, &layout, bytes);
  return RADIO_OK;
}
