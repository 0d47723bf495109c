/* SPDX-License-Identifier: MIT */
/* Parsing and checking a NIfTI header.  Every number is taken for a lie
 * until it was checked; no field is followed before. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/nifti/fields.h"
#include "src/nifti/nifti.h"
#include "src/nifti/types.h"

/* Tell version and byte order by sizeof_hdr, the one field that has a known
 * value. */
static bool
find_layout (const unsigned char *bytes, struct rd_field_layout *layout)
{
  for (int big = 0; big < 2; big++) {
    *layout = (struct rd_field_layout) { 1, big };
    int64_t n = rd_field_int (layout, bytes, RD_FIELD_SIZEOF_HDR, 0);
    layout->version = n == RD_NIFTI2_NBYTES ? 2 : 1;
    if (n == RD_NIFTI1_NBYTES || n == RD_NIFTI2_NBYTES)
      return true;
  }
  return false;
}

static bool
host_is_big_endian (void)
{
  const uint16_t one = 1;
  unsigned char first;
  memcpy (&first, &one, 1);
  return first == 0;
}

static enum radio_status
check_magic_1 (const unsigned char *magic, const char *file, bool *is_pair)
{
  *is_pair = memcmp (magic, "ni1", 4) == 0;
  if (*is_pair || memcmp (magic, "n+1", 4) == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_UNSUPPORTED,
                  "%s: looks like an ANALYZE 7.5 image (348 bytes of header "
                  "without NIfTI's magic): convert it to NIfTI first", file);
}

static enum radio_status
check_magic_2 (const unsigned char *magic, const char *file, bool *is_pair)
{
  *is_pair = memcmp (magic, "ni2", 4) == 0;
  if (!*is_pair && memcmp (magic, "n+2", 4) != 0)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: is not a NIfTI image: sizeof_hdr is 540, but the "
                    "magic is not n+2 or ni2", file);
  if (memcmp (magic + 4, "\r\n\032\n", 4) != 0)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: the line ends in NIfTI-2's magic were changed: the "
                    "file was copied as text and is damaged", file);
  return RADIO_OK;
}

static enum radio_status
check_kind (const unsigned char *bytes, size_t nbytes, const char *file,
            struct rd_field_layout *layout, struct rd_nifti *nifti)
{
  if (nbytes < 4)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: is not a NIfTI image: %zu bytes", file, nbytes);
  if (!find_layout (bytes, layout))
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: is not a NIfTI image: its first 4 bytes are "
                    "%02x %02x %02x %02x instead of 348 or 540", file,
                    bytes[0], bytes[1], bytes[2], bytes[3]);
  size_t wanted = rd_field_header_nbytes (layout);
  if (nbytes < wanted)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: the header is cut short: %zu of %zu bytes", file,
                    nbytes, wanted);
  nifti->version = layout->version;
  nifti->swapped = layout->big_endian != host_is_big_endian ();
  size_t magic_nbytes;
  const unsigned char *magic
    = bytes + rd_field_text (layout, RD_FIELD_MAGIC, &magic_nbytes);
  if (layout->version == 1)
    return check_magic_1 (magic, file, &nifti->is_pair);
  return check_magic_2 (magic, file, &nifti->is_pair);
}

/* dim[0] and the dim that it counts. */
static enum radio_status
read_dims (const struct rd_field_layout *layout, const unsigned char *bytes,
           const char *file, struct rd_nifti *nifti)
{
  int64_t ndim = rd_field_int (layout, bytes, RD_FIELD_DIM, 0);
  if (ndim < 1 || ndim > 7)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: dim[0] is %" PRId64 ", not 1 to 7", file, ndim);
  nifti->ndim = (size_t) ndim;
  nifti->dim[0] = ndim;
  for (size_t i = 1; i < 8; i++)
    nifti->dim[i] = 1;
  for (size_t i = 1; i <= nifti->ndim; i++) {
    nifti->dim[i] = rd_field_int (layout, bytes, RD_FIELD_DIM, i);
    if (nifti->dim[i] < 1)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: dim[%zu] is %" PRId64 ", not positive", file, i,
                      nifti->dim[i]);
  }
  return RADIO_OK;
}

/* What no volume of ours can be. */
static enum radio_status
check_dims (const struct rd_nifti *nifti, const char *file)
{
  if (nifti->ndim < 2)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: a one-dimensional image (dim[0] is 1, dim[1] %"
                    PRId64 ") is not supported", file, nifti->dim[1]);
  for (size_t i = 6; i < 8; i++)
    if (nifti->dim[i] != 1)
      return rd_fail (RADIO_ERROR_UNSUPPORTED,
                      "%s: more than 5 dimensions are not supported: dim[%zu]"
                      " is %" PRId64, file, i, nifti->dim[i]);
  if (nifti->colour != RD_COLOUR_NONE && nifti->dim[5] != 1)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: a %s image of 5 dimensions is not supported: dim[5] "
                    "is %" PRId64, file, nifti->type_name, nifti->dim[5]);
  return RADIO_OK;
}

static enum radio_status
count_voxels (struct rd_nifti *nifti, const char *file)
{
  uint64_t count = 1;
  for (size_t i = 1; i < 8; i++)
    if (rd_mul_overflows (count, (uint64_t) nifti->dim[i], &count))
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: the product of dim[1] to dim[%zu] exceeds 2^64",
                      file, i);
  nifti->voxel_count = count;
  if (rd_mul_overflows (count, nifti->voxel_nbytes, &nifti->data_nbytes)
      || nifti->data_nbytes > INT64_MAX)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: claims %" PRIu64 " voxels of %zu bytes, more than "
                    "any file can hold", file, count, nifti->voxel_nbytes);
  return RADIO_OK;
}

/* Shape and axes of the array, C order.  NIfTI's axes 1 to 5 are x, y, z,
 * t, c; a colour takes the place of c. */
static void
set_shape (struct rd_nifti *nifti)
{
  bool colour = nifti->colour != RD_COLOUR_NONE;
  bool has_t = nifti->ndim > 3;
  bool has_c = nifti->ndim > 4 || colour;
  size_t n = 0;
  if (has_t || (has_c && !colour))
    nifti->shape[n++] = (uint64_t) nifti->dim[4];
  if (has_c)
    nifti->shape[n++] = colour ? (uint64_t) nifti->colour
                               : (uint64_t) nifti->dim[5];
  for (size_t i = 3; i > 0; i--)
    nifti->shape[n++] = (uint64_t) nifti->dim[i];
  nifti->rank = n;
  nifti->axes = n == 5 ? "tczyx" : n == 3 ? "zyx"
                : colour ? "czyx" : "tzyx";
}

/* A float in NIfTI-1, where only whole numbers up to 2^24 are exact. */
static enum radio_status
read_vox_offset (const struct rd_field_layout *layout,
                 const unsigned char *bytes,
                 const char *file, struct rd_nifti *nifti)
{
  if (layout->version == 2) {
    int64_t offset = rd_field_int (layout, bytes, RD_FIELD_VOX_OFFSET, 0);
    if (offset < 0)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: vox_offset is %" PRId64 ", negative", file,
                      offset);
    nifti->vox_offset = (uint64_t) offset;
    return RADIO_OK;
  }
  double offset = rd_field_real (layout, bytes, RD_FIELD_VOX_OFFSET, 0);
  if (isnan (offset) || offset < 0 || offset >= 0x1p63)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: vox_offset is %s", file,
                    isnan (offset) ? "NaN"
                    : offset < 0 ? "negative" : "beyond any file");
  if (offset != floor (offset))
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: vox_offset is between %" PRIu64 " and %" PRIu64
                    ", not a whole number", file, (uint64_t) offset,
                    (uint64_t) offset + 1);
  nifti->vox_offset = (uint64_t) offset;
  return RADIO_OK;
}

static enum radio_status
check_vox_offset (const struct rd_field_layout *layout, const char *file,
                  const struct rd_nifti *nifti)
{
  size_t least = rd_field_single_nbytes (layout);
  if (!nifti->is_pair && nifti->vox_offset < least)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: vox_offset is %" PRIu64 ", but the voxels of a "
                    "single file cannot begin before byte %zu", file,
                    nifti->vox_offset, least);
  return RADIO_OK;
}

static void
read_geometry (const struct rd_field_layout *layout, const unsigned char *bytes,
               struct rd_nifti *nifti)
{
  for (size_t i = 0; i < 8; i++)
    nifti->pixdim[i] = rd_field_real (layout, bytes, RD_FIELD_PIXDIM, i);
  for (size_t i = 0; i < 3; i++) {
    nifti->quatern[i] = rd_field_real (layout, bytes, RD_FIELD_QUATERN, i);
    nifti->qoffset[i] = rd_field_real (layout, bytes, RD_FIELD_QOFFSET, i);
    for (size_t j = 0; j < 4; j++)
      nifti->srow[i][j] = rd_field_real (layout, bytes, RD_FIELD_SROW,
                                         4 * i + j);
  }
  nifti->qform_code
    = (int) rd_field_int (layout, bytes, RD_FIELD_QFORM_CODE, 0);
  nifti->sform_code
    = (int) rd_field_int (layout, bytes, RD_FIELD_SFORM_CODE, 0);
  nifti->xyzt_units
    = (int) (rd_field_int (layout, bytes, RD_FIELD_XYZT_UNITS, 0) & 0xff);
}

static void
read_values (const struct rd_field_layout *layout, const unsigned char *bytes,
             struct rd_nifti *nifti)
{
  nifti->scl_slope = rd_field_real (layout, bytes, RD_FIELD_SCL_SLOPE, 0);
  nifti->scl_inter = rd_field_real (layout, bytes, RD_FIELD_SCL_INTER, 0);
  nifti->cal_min = rd_field_real (layout, bytes, RD_FIELD_CAL_MIN, 0);
  nifti->cal_max = rd_field_real (layout, bytes, RD_FIELD_CAL_MAX, 0);
  nifti->intent_code
    = (int) rd_field_int (layout, bytes, RD_FIELD_INTENT_CODE, 0);
}

enum radio_status
rd_nifti_parse (const unsigned char *bytes, size_t nbytes, const char *file,
                struct rd_nifti *nifti)
{
  struct rd_nifti n = { 0 };
  struct rd_field_layout layout;
  RD_TRY (check_kind (bytes, nbytes, file, &layout, &n));
  RD_TRY (rd_nifti_set_type (
            &n, rd_field_int (&layout, bytes, RD_FIELD_DATATYPE, 0),
            rd_field_int (&layout, bytes, RD_FIELD_BITPIX, 0), file));
  RD_TRY (read_dims (&layout, bytes, file, &n));
  RD_TRY (check_dims (&n, file));
  RD_TRY (count_voxels (&n, file));
  RD_TRY (read_vox_offset (&layout, bytes, file, &n));
  RD_TRY (check_vox_offset (&layout, file, &n));
  set_shape (&n);
  read_geometry (&layout, bytes, &n);
  read_values (&layout, bytes, &n);
  *nifti = n;
  return RADIO_OK;
}
