/* SPDX-License-Identifier: MIT */
/* The tables of NIfTI's header fields and the access through them.  No
 * struct is laid over the bytes: alignment, byte order and the two versions
 * are all one matter of offsets. */
#include <config.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "src/nifti/fields.h"
#include "src/nifti/nifti.h"

enum kind { NONE = 0, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, TEXT };

struct place {
  enum kind kind;
  uint16_t offset;              /* bytes */
  uint16_t count;               /* numbers, or bytes of a text */
};

static const struct place nifti1_places[RD_FIELD_COUNT] = {
  [RD_FIELD_SIZEOF_HDR] = { INT32, 0, 1 },
  [RD_FIELD_DATA_TYPE] = { TEXT, 4, 10 },
  [RD_FIELD_DB_NAME] = { TEXT, 14, 18 },
  [RD_FIELD_DIM_INFO] = { INT8, 39, 1 },
  [RD_FIELD_DIM] = { INT16, 40, 8 },
  [RD_FIELD_INTENT_P] = { FLOAT32, 56, 3 },
  [RD_FIELD_INTENT_CODE] = { INT16, 68, 1 },
  [RD_FIELD_DATATYPE] = { INT16, 70, 1 },
  [RD_FIELD_BITPIX] = { INT16, 72, 1 },
  [RD_FIELD_SLICE_START] = { INT16, 74, 1 },
  [RD_FIELD_PIXDIM] = { FLOAT32, 76, 8 },
  [RD_FIELD_VOX_OFFSET] = { FLOAT32, 108, 1 },
  [RD_FIELD_SCL_SLOPE] = { FLOAT32, 112, 1 },
  [RD_FIELD_SCL_INTER] = { FLOAT32, 116, 1 },
  [RD_FIELD_SLICE_END] = { INT16, 120, 1 },
  [RD_FIELD_SLICE_CODE] = { INT8, 122, 1 },
  [RD_FIELD_XYZT_UNITS] = { INT8, 123, 1 },
  [RD_FIELD_CAL_MAX] = { FLOAT32, 124, 1 },
  [RD_FIELD_CAL_MIN] = { FLOAT32, 128, 1 },
  [RD_FIELD_SLICE_DURATION] = { FLOAT32, 132, 1 },
  [RD_FIELD_TOFFSET] = { FLOAT32, 136, 1 },
  [RD_FIELD_DESCRIP] = { TEXT, 148, 80 },
  [RD_FIELD_AUX_FILE] = { TEXT, 228, 24 },
  [RD_FIELD_QFORM_CODE] = { INT16, 252, 1 },
  [RD_FIELD_SFORM_CODE] = { INT16, 254, 1 },
  [RD_FIELD_QUATERN] = { FLOAT32, 256, 3 },
  [RD_FIELD_QOFFSET] = { FLOAT32, 268, 3 },
  [RD_FIELD_SROW] = { FLOAT32, 280, 12 },
  [RD_FIELD_INTENT_NAME] = { TEXT, 328, 16 },
  [RD_FIELD_MAGIC] = { TEXT, 344, 4 },
};

static const struct place nifti2_places[RD_FIELD_COUNT] = {
  [RD_FIELD_SIZEOF_HDR] = { INT32, 0, 1 },
  [RD_FIELD_MAGIC] = { TEXT, 4, 8 },
  [RD_FIELD_DATATYPE] = { INT16, 12, 1 },
  [RD_FIELD_BITPIX] = { INT16, 14, 1 },
  [RD_FIELD_DIM] = { INT64, 16, 8 },
  [RD_FIELD_INTENT_P] = { FLOAT64, 80, 3 },
  [RD_FIELD_PIXDIM] = { FLOAT64, 104, 8 },
  [RD_FIELD_VOX_OFFSET] = { INT64, 168, 1 },
  [RD_FIELD_SCL_SLOPE] = { FLOAT64, 176, 1 },
  [RD_FIELD_SCL_INTER] = { FLOAT64, 184, 1 },
  [RD_FIELD_CAL_MAX] = { FLOAT64, 192, 1 },
  [RD_FIELD_CAL_MIN] = { FLOAT64, 200, 1 },
  [RD_FIELD_SLICE_DURATION] = { FLOAT64, 208, 1 },
  [RD_FIELD_TOFFSET] = { FLOAT64, 216, 1 },
  [RD_FIELD_SLICE_START] = { INT64, 224, 1 },
  [RD_FIELD_SLICE_END] = { INT64, 232, 1 },
  [RD_FIELD_DESCRIP] = { TEXT, 240, 80 },
  [RD_FIELD_AUX_FILE] = { TEXT, 320, 24 },
  [RD_FIELD_QFORM_CODE] = { INT32, 344, 1 },
  [RD_FIELD_SFORM_CODE] = { INT32, 348, 1 },
  [RD_FIELD_QUATERN] = { FLOAT64, 352, 3 },
  [RD_FIELD_QOFFSET] = { FLOAT64, 376, 3 },
  [RD_FIELD_SROW] = { FLOAT64, 400, 12 },
  [RD_FIELD_SLICE_CODE] = { INT32, 496, 1 },
  [RD_FIELD_XYZT_UNITS] = { INT32, 500, 1 },
  [RD_FIELD_INTENT_CODE] = { INT32, 504, 1 },
  [RD_FIELD_INTENT_NAME] = { TEXT, 508, 16 },
  [RD_FIELD_DIM_INFO] = { INT8, 524, 1 },
  [RD_FIELD_UNUSED] = { TEXT, 525, 15 },
};

static size_t
kind_nbytes (enum kind kind)
{
  switch (kind) {
  case INT16: return 2;
  case INT32: case FLOAT32: return 4;
  case INT64: case FLOAT64: return 8;
  default: return 1;
  }
}

static const struct place *
find_place (const struct rd_field_layout *layout, enum rd_field field)
{
  return layout->version == 2 ? &nifti2_places[field]
                              : &nifti1_places[field];
}

size_t
rd_field_header_nbytes (const struct rd_field_layout *layout)
{
  return layout->version == 2 ? RD_NIFTI2_NBYTES : RD_NIFTI1_NBYTES;
}

size_t
rd_field_single_nbytes (const struct rd_field_layout *layout)
{
  return rd_field_header_nbytes (layout) + 4;
}

/* The n bytes of a number, most significant last or first. */
static uint64_t
load (const unsigned char *bytes, size_t n, bool big_endian)
{
  uint64_t value = 0;
  for (size_t i = 0; i < n; i++)
    value |= (uint64_t) bytes[big_endian ? n - 1 - i : i] << (8 * i);
  return value;
}

static void
store (unsigned char *bytes, size_t n, bool big_endian, uint64_t value)
{
  for (size_t i = 0; i < n; i++)
    bytes[big_endian ? n - 1 - i : i] = (unsigned char) (value >> (8 * i));
}

int64_t
rd_field_int (const struct rd_field_layout *layout, const unsigned char *bytes,
              enum rd_field field, size_t i)
{
  const struct place *place = find_place (layout, field);
  size_t n = kind_nbytes (place->kind);
  uint64_t value = load (bytes + place->offset + i * n, n,
                         layout->big_endian);
  switch (place->kind) {
  case INT8: return (int8_t) value;
  case INT16: return (int16_t) value;
  case INT32: return (int32_t) value;
  default: return (int64_t) value;
  }
}

double
rd_field_real (const struct rd_field_layout *layout, const unsigned char *bytes,
               enum rd_field field, size_t i)
{
  const struct place *place = find_place (layout, field);
  size_t n = kind_nbytes (place->kind);
  uint64_t bits = load (bytes + place->offset + i * n, n,
                        layout->big_endian);
  if (place->kind == FLOAT32) {
    uint32_t bits32 = (uint32_t) bits;
    float value;
    memcpy (&value, &bits32, sizeof value);
    return value;
  }
  double value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

void
rd_field_set_int (const struct rd_field_layout *layout, unsigned char *bytes,
                  enum rd_field field, size_t i, int64_t value)
{
  const struct place *place = find_place (layout, field);
  if (place->kind == FLOAT32) {
    rd_field_set_real (layout, bytes, field, i, (double) value);
    return;
  }
  size_t n = kind_nbytes (place->kind);
  store (bytes + place->offset + i * n, n, layout->big_endian,
         (uint64_t) value);
}

void
rd_field_set_real (const struct rd_field_layout *layout, unsigned char *bytes,
                   enum rd_field field, size_t i, double value)
{
  const struct place *place = find_place (layout, field);
  size_t n = kind_nbytes (place->kind);
  uint64_t bits;
  if (place->kind == FLOAT32) {
    /* A double beyond float's range becomes infinite: converting it as it is
     * would be undefined. */
    bool is_beyond = isfinite (value) && fabs (value) > FLT_MAX;
    float value32 = !is_beyond ? (float) value
                    : value < 0 ? -INFINITY : INFINITY;
    uint32_t bits32;
    memcpy (&bits32, &value32, sizeof bits32);
    bits = bits32;
  } else
    memcpy (&bits, &value, sizeof bits);
  store (bytes + place->offset + i * n, n, layout->big_endian, bits);
}

size_t
rd_field_text (const struct rd_field_layout *layout, enum rd_field field,
               size_t *nbytes)
{
  const struct place *place = find_place (layout, field);
  *nbytes = place->kind == TEXT ? place->count : 0;
  return place->offset;
}

void
rd_field_make_version_2 (bool big_endian, const unsigned char *nifti1,
                         unsigned char nifti2[RD_NIFTI2_NBYTES])
{
  const struct rd_field_layout from = { 1, big_endian }, to = { 2, big_endian };
  memset (nifti2, 0, RD_NIFTI2_NBYTES);
  for (enum rd_field field = 0; field < RD_FIELD_COUNT; field++) {
    const struct place *old = &nifti1_places[field];
    const struct place *new = &nifti2_places[field];
    for (size_t i = 0; i < old->count && i < new->count; i++)
      if (new->kind == TEXT)
        nifti2[new->offset + i] = nifti1[old->offset + i];
      else if (new->kind == FLOAT64)
        rd_field_set_real (&to, nifti2, field, i,
                           rd_field_real (&from, nifti1, field, i));
      else if (old->kind != FLOAT32)
        rd_field_set_int (&to, nifti2, field, i,
                          rd_field_int (&from, nifti1, field, i));
  }
  rd_field_set_int (&to, nifti2, RD_FIELD_SIZEOF_HDR, 0, RD_NIFTI2_NBYTES);
  rd_field_set_int (&to, nifti2, RD_FIELD_VOX_OFFSET, 0,
                    (int64_t) rd_field_single_nbytes (&to));
  memcpy (nifti2 + nifti2_places[RD_FIELD_MAGIC].offset, RD_NIFTI2_MAGIC,
          sizeof RD_NIFTI2_MAGIC - 1);
}
