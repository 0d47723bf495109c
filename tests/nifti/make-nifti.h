/* SPDX-License-Identifier: MIT */
/* NIfTI images for tests, of every version, byte order, type and shape,
 * made without the library's own tables: the offsets here were taken from
 * nifti1.h and nifti2.h a second time. */
#ifndef RD_TESTS_MAKE_NIFTI_H
#define RD_TESTS_MAKE_NIFTI_H

#include "src/base/buffer.h"

/* Zero means the default that a comment names. */
struct nifti_spec {
  int version;                  /* 1 */
  bool big_endian;
  bool is_pair;
  int datatype;                 /* 4, int16 */
  int64_t dim[8];               /* 3, 5, 4, 3 */
  double pixdim[8];             /* 1 each */
  uint64_t vox_offset;          /* after the extensions; of a pair 0 */
  int qform_code, sform_code;
  double quatern[3], qoffset[3];
  double srow[3][4];
  double scl_slope, scl_inter;
  double cal_min, cal_max;
  int xyzt_units, intent_code;
  const char *descrip, *aux_file, *intent_name, *db_name;
  const void *extension;        /* the bytes after the 4 of the flag */
  size_t extension_nbytes;
};

/* NIfTI's data types: 14 that the library takes. */
struct spec_type {
  int code;
  size_t nbytes;                /* of a voxel */
  size_t unit_nbytes;           /* that byte order applies to */
  bool is_float;
  const char *name;
};
#define SPEC_TYPE_COUNT 14
extern const struct spec_type spec_types[SPEC_TYPE_COUNT];
const struct spec_type *spec_find_type (int code);

/* Whatever stands before the voxels of a single file, or all of a .hdr.
 * The content of out is replaced. */
void spec_header (const struct nifti_spec *spec, struct rd_buffer *out);

/* Append the voxels: values that differ from their neighbours in every
 * byte; those of floating-point types are finite. */
void spec_voxels (const struct nifti_spec *spec, struct rd_buffer *out);
size_t spec_data_nbytes (const struct nifti_spec *spec);

/* A whole single file. */
void spec_image (const struct nifti_spec *spec, struct rd_buffer *out);

/* Overwrite a number at a byte offset. */
void spec_put (const struct nifti_spec *spec, struct rd_buffer *bytes,
               size_t offset, size_t nbytes, uint64_t value);
void spec_put_float (const struct nifti_spec *spec, struct rd_buffer *bytes,
                     size_t offset, float value);

/* gzip of any number of members, each of member_nbytes of plain; 0: one. */
void make_gzip (const void *plain, size_t nbytes, size_t member_nbytes,
                struct rd_buffer *out);

/* Append; a failure ends the test. */
void must_append (struct rd_buffer *buffer, const void *data, size_t nbytes);

/* Write FOLDER/NAME; a failure ends the test. */
void write_file (const char *folder, const char *name,
                 const struct rd_buffer *content);

#endif /* RD_TESTS_MAKE_NIFTI_H */
