/* SPDX-License-Identifier: MIT */
/* The fields of NIfTI-1 and -2 headers, read and written by byte offset in
 * either byte order.  One table serves the parser and the editor,
 * so that both always mean the same bytes. */
#ifndef RD_NIFTI_FIELDS_H
#define RD_NIFTI_FIELDS_H

#include "src/nifti/nifti.h"

/* Names are those of nifti1.h and nifti2.h.  Numbers first, texts last. */
enum rd_field {
  RD_FIELD_SIZEOF_HDR,
  RD_FIELD_DIM_INFO,
  RD_FIELD_DIM,                 /* 8 of them */
  RD_FIELD_INTENT_P,            /* 3 */
  RD_FIELD_INTENT_CODE,
  RD_FIELD_DATATYPE,
  RD_FIELD_BITPIX,
  RD_FIELD_SLICE_START,
  RD_FIELD_PIXDIM,              /* 8 */
  RD_FIELD_VOX_OFFSET,
  RD_FIELD_SCL_SLOPE,
  RD_FIELD_SCL_INTER,
  RD_FIELD_SLICE_END,
  RD_FIELD_SLICE_CODE,
  RD_FIELD_XYZT_UNITS,
  RD_FIELD_CAL_MAX,
  RD_FIELD_CAL_MIN,
  RD_FIELD_SLICE_DURATION,
  RD_FIELD_TOFFSET,
  RD_FIELD_QFORM_CODE,
  RD_FIELD_SFORM_CODE,
  RD_FIELD_QUATERN,             /* b, c, d */
  RD_FIELD_QOFFSET,             /* x, y, z */
  RD_FIELD_SROW,                /* 3 rows of 4 */
  RD_FIELD_MAGIC,
  RD_FIELD_DESCRIP,
  RD_FIELD_AUX_FILE,
  RD_FIELD_INTENT_NAME,
  RD_FIELD_DATA_TYPE,           /* unused in NIfTI-1, absent from -2 */
  RD_FIELD_DB_NAME,             /* the same */
  RD_FIELD_UNUSED,              /* unused_str of NIfTI-2 */
  RD_FIELD_COUNT
};

/* Selects the table and the byte order. */
struct rd_field_layout {
  int version;                  /* 1 or 2 */
  bool big_endian;
};

/* The magic of a single NIfTI-2 file, 8 bytes. */
#define RD_NIFTI2_MAGIC "n+2\0\r\n\032\n"

#define RD_HOST_IS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline struct rd_field_layout
rd_field_layout_of (const struct rd_nifti *nifti)
{
  return (struct rd_field_layout) {
    nifti->version, nifti->swapped != RD_HOST_IS_BIG_ENDIAN
  };
}

/* Bytes of the header: 348 or 540. */
size_t rd_field_header_nbytes (const struct rd_field_layout *layout);

/* Header and the 4 bytes of the extension flag: where the voxels of a
 * single file begin at the earliest, 352 or 544. */
size_t rd_field_single_nbytes (const struct rd_field_layout *layout);

/* Values of the i-th number of a field; the bytes hold a whole header.  A
 * floating-point field has no integer and the other way round, but
 * VOX_OFFSET, which is a float in NIfTI-1, can be set as an integer. */
int64_t rd_field_int (const struct rd_field_layout *layout,
                      const unsigned char *bytes, enum rd_field field,
                      size_t i);
double rd_field_real (const struct rd_field_layout *layout,
                      const unsigned char *bytes, enum rd_field field,
                      size_t i);
void rd_field_set_int (const struct rd_field_layout *layout,
                       unsigned char *bytes, enum rd_field field, size_t i,
                       int64_t value);
void rd_field_set_real (const struct rd_field_layout *layout,
                        unsigned char *bytes, enum rd_field field, size_t i,
                        double value);

/* Returns the offset of a text; *nbytes is 0 when the version has no such
 * field. */
size_t rd_field_text (const struct rd_field_layout *layout, enum rd_field field,
                      size_t *nbytes);

/* Makes the NIfTI-2 header with the values of a NIfTI-1 header, in the same
 * byte order, of a single file whose voxels follow it. */
void rd_field_make_version_2 (bool big_endian, const unsigned char *nifti1,
                              unsigned char nifti2[RD_NIFTI2_NBYTES]);

#endif /* RD_NIFTI_FIELDS_H */
