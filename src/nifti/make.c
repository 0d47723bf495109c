/* SPDX-License-Identifier: MIT */
/* Headers of images that come from no file. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/error.h"
#include "src/nifti/fields.h"
#include "src/nifti/nifti.h"
#include "src/nifti/types.h"

#define NIFTI1_MAX_DIM 32767

static enum radio_status
check_make (const struct rd_nifti_make *make, struct rd_field_layout *layout)
{
  if (rd_nifti_datatype_of (make->dtype) == 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "NIfTI has no data type %s",
                    radio_dtype_name (make->dtype));
  if (make->rank < 3 || make->rank > 5)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "an array of rank %zu does not become NIfTI", make->rank);
  *layout = (struct rd_field_layout) { 1, false };
  for (size_t i = 0; i < make->rank; i++) {
    if (make->shape[i] == 0 || make->shape[i] > INT64_MAX)
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "shape[%zu] is %" PRIu64 ", which NIfTI cannot hold",
                      i, make->shape[i]);
    if (make->shape[i] > NIFTI1_MAX_DIM)
      layout->version = 2;
  }
  return RADIO_OK;
}

static void
set_text (const struct rd_field_layout *layout, unsigned char *bytes,
          enum rd_field field, const char *text)
{
  size_t nbytes, at = rd_field_text (layout, field, &nbytes);
  if (text)
    memcpy (bytes + at, text, strnlen (text, nbytes - 1));
}

/* NIfTI's axis for the array's: x, y, z, t, c; 5-D arrays are t, c, z, y,
 * x. */
static size_t
nifti_axis (size_t rank, size_t i)
{
  if (rank == 5 && i < 2)
    return i == 0 ? 4 : 5;
  return rank - i;
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
    size_t axis = nifti_axis (make->rank, i);
    rd_field_set_int (layout, bytes, RD_FIELD_DIM, axis,
                      (int64_t) make->shape[i]);
    rd_field_set_real (layout, bytes, RD_FIELD_PIXDIM, axis,
                       make->spacing[i]);
  }
  rd_field_set_int (layout, bytes, RD_FIELD_SFORM_CODE, 0, 1);
  for (size_t i = 0; i < 12; i++)
    rd_field_set_real (layout, bytes, RD_FIELD_SROW, i,
                       make->affine[i / 4][i % 4]);
}

enum radio_status
rd_nifti_make (const struct rd_nifti_make *make, struct rd_buffer *out)
{
  struct rd_field_layout layout;
  RD_TRY (check_make (make, &layout));
  size_t header = rd_field_header_nbytes (&layout);
  size_t end = rd_field_single_nbytes (&layout);
  RD_TRY (rd_buffer_reserve (out, end));
  unsigned char *bytes = out->data;
  memset (bytes, 0, end);
  out->nbytes = end;
  rd_field_set_int (&layout, bytes, RD_FIELD_SIZEOF_HDR, 0,
                    (int64_t) header);
  size_t nbytes, magic = rd_field_text (&layout, RD_FIELD_MAGIC, &nbytes);
  memcpy (bytes + magic, layout.version == 2 ? "n+2\0\r\n\032\n" : "n+1",
          nbytes);
  rd_field_set_int (&layout, bytes, RD_FIELD_DATATYPE, 0,
                    rd_nifti_datatype_of (make->dtype));
  rd_field_set_int (&layout, bytes, RD_FIELD_BITPIX, 0,
                    (int64_t) radio_dtype_nbytes (make->dtype) * 8);
  rd_field_set_int (&layout, bytes, RD_FIELD_VOX_OFFSET, 0, (int64_t) end);
  rd_field_set_real (&layout, bytes, RD_FIELD_SCL_SLOPE, 0, 1);
  /* Millimetres and seconds. */
  rd_field_set_int (&layout, bytes, RD_FIELD_XYZT_UNITS, 0, 2 | 8);
  set_text (&layout, bytes, RD_FIELD_DESCRIP, make->descrip);
  set_axes (make, &layout, bytes);
  return RADIO_OK;
}
