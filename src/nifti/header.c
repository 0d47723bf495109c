/* SPDX-License-Identifier: MIT */
/* Parsing and checking a NIfTI header, and deriving types, units, scaling and
 * order of the voxels from its fields.  No field is trusted before it was
 * checked. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/nifti/fields.h"
#include "src/nifti/nifti.h"

/*------------------------------------------------------------------------
 * Data types
 *----------------------------------------------------------------------*/

/* Types that no array of ours can hold are in the table too, so that they
 * are refused by their names. */
struct nifti_type {
  int code;
  int bitpix;
  const char *name;
  enum radio_dtype dtype;       /* RADIO_STORED: not supported */
  enum rd_nifti_colour colour;
};

static const struct nifti_type nifti_types[] = {
  { 1, 1, "binary", RADIO_STORED, RD_COLOUR_NONE },
  { 2, 8, "uint8", RADIO_UINT8, RD_COLOUR_NONE },
  { 4, 16, "int16", RADIO_INT16, RD_COLOUR_NONE },
  { 8, 32, "int32", RADIO_INT32, RD_COLOUR_NONE },
  { 16, 32, "float32", RADIO_FLOAT32, RD_COLOUR_NONE },
  { 32, 64, "complex64", RADIO_COMPLEX64, RD_COLOUR_NONE },
  { 64, 64, "float64", RADIO_FLOAT64, RD_COLOUR_NONE },
  { 128, 24, "rgb24", RADIO_UINT8, RD_COLOUR_RGB },
  { 256, 8, "int8", RADIO_INT8, RD_COLOUR_NONE },
  { 512, 16, "uint16", RADIO_UINT16, RD_COLOUR_NONE },
  { 768, 32, "uint32", RADIO_UINT32, RD_COLOUR_NONE },
  { 1024, 64, "int64", RADIO_INT64, RD_COLOUR_NONE },
  { 1280, 64, "uint64", RADIO_UINT64, RD_COLOUR_NONE },
  { 1536, 128, "float128", RADIO_STORED, RD_COLOUR_NONE },
  { 1792, 128, "complex128", RADIO_COMPLEX128, RD_COLOUR_NONE },
  { 2048, 256, "complex256", RADIO_STORED, RD_COLOUR_NONE },
  { 2304, 32, "rgba32", RADIO_UINT8, RD_COLOUR_RGBA },
};

#define NIFTI_TYPE_COUNT (sizeof nifti_types / sizeof nifti_types[0])

static enum radio_status
read_type (const struct rd_field_layout *layout, const unsigned char *bytes,
           const char *file, struct rd_nifti *nifti)
{
  const int64_t datatype = rd_field_int (layout, bytes, RD_FIELD_DATATYPE, 0);
  const int64_t bitpix = rd_field_int (layout, bytes, RD_FIELD_BITPIX, 0);
  const struct nifti_type *type = nifti_types;
  const struct nifti_type *end = type + NIFTI_TYPE_COUNT;
  while (type < end && type->code != datatype)
    type++;
  if (type == end)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: datatype %" PRId64 " is unknown to NIfTI", file,
                    datatype);
  if (type->dtype == RADIO_STORED)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: datatype %s (%" PRId64 ") is not supported", file,
                    type->name, datatype);
  if (bitpix != type->bitpix)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: bitpix is %" PRId64 ", but datatype %s (%" PRId64
                    ") has %d bits", file, bitpix, type->name, datatype,
                    type->bitpix);
  nifti->datatype = type->code;
  nifti->type_name = type->name;
  nifti->type = rd_type_of (type->dtype);
  nifti->colour = type->colour;
  nifti->voxel_nbytes = (size_t) type->bitpix / 8;
  return RADIO_OK;
}

int
rd_nifti_datatype_of (enum radio_dtype dtype)
{
  if (dtype == RADIO_BOOL)
    return 2;
  for (size_t i = 0; i < NIFTI_TYPE_COUNT; i++)
    if (nifti_types[i].dtype == dtype && dtype != RADIO_STORED
        && nifti_types[i].colour == RD_COLOUR_NONE)
      return nifti_types[i].code;
  return 0;
}

/*------------------------------------------------------------------------
 * Parsing
 *----------------------------------------------------------------------*/

/* Finds the version and byte order by sizeof_hdr, the one field that has a
 * known value, and checks the magic. */
static enum radio_status
check_kind (const unsigned char *bytes, size_t nbytes, const char *file,
            struct rd_field_layout *layout, struct rd_nifti *nifti)
{
  if (nbytes < 4)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: not a NIfTI image: %zu bytes", file, nbytes);
  int64_t size = 0;
  for (int big = 0; big < 2; big++) {
    *layout = (struct rd_field_layout) { 1, big };
    size = rd_field_int (layout, bytes, RD_FIELD_SIZEOF_HDR, 0);
    if (size == RD_NIFTI1_NBYTES || size == RD_NIFTI2_NBYTES)
      break;
  }
  if (size != RD_NIFTI1_NBYTES && size != RD_NIFTI2_NBYTES)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: not a NIfTI image: its first 4 bytes are "
                    "%02x %02x %02x %02x instead of 348 or 540", file,
                    bytes[0], bytes[1], bytes[2], bytes[3]);
  if (nbytes < (uint64_t) size)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: the header is cut short: %zu of %zu bytes", file,
                    nbytes, (size_t) size);
  layout->version = size == RD_NIFTI2_NBYTES ? 2 : 1;
  nifti->version = layout->version;
  nifti->swapped = layout->big_endian != RD_HOST_IS_BIG_ENDIAN;
  size_t magic_nbytes;
  const unsigned char *magic
    = bytes + rd_field_text (layout, RD_FIELD_MAGIC, &magic_nbytes);
  if (layout->version == 1) {
    nifti->is_pair = memcmp (magic, "ni1", 4) == 0;
    if (nifti->is_pair || memcmp (magic, "n+1", 4) == 0)
      return RADIO_OK;
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: looks like an ANALYZE 7.5 image (348 bytes of "
                    "header without NIfTI's magic): convert it to NIfTI "
                    "first", file);
  }
  nifti->is_pair = memcmp (magic, "ni2", 4) == 0;
  if (!nifti->is_pair && memcmp (magic, "n+2", 4) != 0)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: not a NIfTI image: sizeof_hdr is 540, but the "
                    "magic is not n+2 or ni2", file);
  if (memcmp (magic + 4, "\r\n\032\n", 4) != 0)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: the line ends in NIfTI-2's magic were changed: the "
                    "file was copied as text and is damaged", file);
  return RADIO_OK;
}

/* Reads dim[0] and the dim that it counts, refuses dimensions that no volume
 * of ours can have, and counts voxels. */
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

  if (nifti->ndim < 2)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: a one-dimensional image (dim[0] is 1, dim[1] %"
                    PRId64 ") is not supported", file, nifti->dim[1]);
  for (size_t i = 5; i < 8; i++)
    if (nifti->colour != RD_COLOUR_NONE && nifti->dim[i] != 1)
      return rd_fail (RADIO_ERROR_UNSUPPORTED,
                      "%s: a %s image of %zu dimensions is not supported: "
                      "dim[%zu] is %" PRId64, file, nifti->type_name, i, i,
                      nifti->dim[i]);
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
                    "%s: the header claims %" PRIu64 " voxels of %zu bytes, "
                    "more than any file can hold", file, count,
                    nifti->voxel_nbytes);
  return RADIO_OK;
}

/* Shape and axes of the array, C order.  NIfTI's axes 1 to 7 are x, y, z,
 * t, c, v, w; a colour takes the place of c.  Up to five, c comes after t as
 * OME-Zarr wants it; of more the order is that of the file. */
static void
set_shape (struct rd_nifti *nifti)
{
  bool colour = nifti->colour != RD_COLOUR_NONE;
  if (nifti->dim[6] > 1 || nifti->dim[7] > 1) {
    nifti->rank = nifti->dim[7] > 1 ? 7 : 6;
    nifti->axes = nifti->rank == 7 ? "wvctzyx" : "vctzyx";
    for (size_t i = 0; i < nifti->rank; i++)
      nifti->shape[i] = (uint64_t) nifti->dim[nifti->rank - i];
    return;
  }
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
  } else {
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
  }
  size_t least = rd_field_single_nbytes (layout);
  if (!nifti->is_pair && nifti->vox_offset < least)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: vox_offset is %" PRIu64 ", but the voxels of a "
                    "single file cannot begin before byte %zu", file,
                    nifti->vox_offset, least);
  return RADIO_OK;
}

enum radio_status
rd_nifti_parse (const unsigned char *bytes, size_t nbytes, const char *file,
                struct rd_nifti *nifti)
{
  struct rd_nifti n = { 0 };
  struct rd_field_layout layout;
  RD_TRY (check_kind (bytes, nbytes, file, &layout, &n));
  RD_TRY (read_type (&layout, bytes, file, &n));
  RD_TRY (read_dims (&layout, bytes, file, &n));
  RD_TRY (read_vox_offset (&layout, bytes, file, &n));
  set_shape (&n);

  for (size_t i = 0; i < 8; i++)
    n.pixdim[i] = rd_field_real (&layout, bytes, RD_FIELD_PIXDIM, i);
  for (size_t i = 0; i < 3; i++) {
    n.quatern[i] = rd_field_real (&layout, bytes, RD_FIELD_QUATERN, i);
    n.qoffset[i] = rd_field_real (&layout, bytes, RD_FIELD_QOFFSET, i);
  }
  for (size_t i = 0; i < 12; i++)
    n.srow[i / 4][i % 4] = rd_field_real (&layout, bytes, RD_FIELD_SROW, i);
  n.qform_code = (int) rd_field_int (&layout, bytes, RD_FIELD_QFORM_CODE, 0);
  n.sform_code = (int) rd_field_int (&layout, bytes, RD_FIELD_SFORM_CODE, 0);
  n.xyzt_units
    = (int) (rd_field_int (&layout, bytes, RD_FIELD_XYZT_UNITS, 0) & 0xff);
  n.scl_slope = rd_field_real (&layout, bytes, RD_FIELD_SCL_SLOPE, 0);
  n.scl_inter = rd_field_real (&layout, bytes, RD_FIELD_SCL_INTER, 0);
  n.cal_min = rd_field_real (&layout, bytes, RD_FIELD_CAL_MIN, 0);
  n.cal_max = rd_field_real (&layout, bytes, RD_FIELD_CAL_MAX, 0);
  n.intent_code
    = (int) rd_field_int (&layout, bytes, RD_FIELD_INTENT_CODE, 0);
  *nifti = n;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Values derived from the fields
 *----------------------------------------------------------------------*/

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

/* Hertz, ppm and radians per second (32, 40, 48) are not units of time, and
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

size_t
rd_nifti_axis (const struct rd_nifti *nifti, size_t axis)
{
  switch (nifti->axes[axis]) {
  case 'x': return 1;
  case 'y': return 2;
  case 'z': return 3;
  case 't': return 4;
  case 'v': return 6;
  case 'w': return 7;
  default: return nifti->colour == RD_COLOUR_NONE ? 5 : 0;
  }
}

void
rd_nifti_file_strides (const struct rd_nifti *nifti, const uint64_t *shape,
                       int64_t *strides)
{
  uint64_t size[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
  for (size_t i = 0; i < nifti->rank; i++)
    if (rd_nifti_axis (nifti, i) > 0)
      size[rd_nifti_axis (nifti, i)] = shape[i];
  int64_t stride[8] = { 1 };
  stride[1] = (int64_t) nifti->voxel_nbytes;
  for (size_t i = 2; i < 8; i++)
    stride[i] = stride[i - 1] * (int64_t) size[i - 1];
  for (size_t i = 0; i < nifti->rank; i++)
    strides[i] = stride[rd_nifti_axis (nifti, i)];
}
