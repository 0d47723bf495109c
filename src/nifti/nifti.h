/* SPDX-License-Identifier: MIT */
/* NIfTI-1 and -2 headers: parsed into one struct, checked, and the values
 * derived from them (geometry, types).  Sources: nifti1.h and nifti2.h of the
 * NIfTI Data Format Working Group; field names are theirs. */
#ifndef RD_NIFTI_H
#define RD_NIFTI_H

#include <radio/box.h>

#include "src/base/buffer.h"
#include "src/element/type.h"

#define RD_NIFTI1_NBYTES 348
#define RD_NIFTI2_NBYTES 540

/* Bytes before the voxels that are accepted: header and extensions. */
#define RD_NIFTI_PREFIX_MAX_NBYTES ((size_t) 16 << 20)

enum rd_nifti_colour { RD_COLOUR_NONE = 0, RD_COLOUR_RGB = 3,
                       RD_COLOUR_RGBA = 4 };

struct rd_nifti {
  int version;                /* 1 or 2 */
  bool swapped;               /* fields and voxels in the other byte order */
  bool is_pair;               /* magic ni1/ni2: voxels in an .img */
  int datatype;
  const char *type_name;      /* NIfTI's: "int16", "rgb24", ... */
  struct rd_type type;        /* of a stored element; uint8 for RGB */
  enum rd_nifti_colour colour;
  size_t voxel_nbytes;        /* in the file */
  size_t ndim;                /* dim[0] */
  int64_t dim[8];
  double pixdim[8];
  uint64_t vox_offset;
  double scl_slope, scl_inter;    /* as they are in the header */
  double cal_min, cal_max;
  int qform_code, sform_code;
  double quatern[3];          /* b, c, d */
  double qoffset[3];
  double srow[3][4];
  int xyzt_units;
  int intent_code;

  /* The members below: the array that it becomes, C order. */
  size_t rank;                        /* 3 to 7 */
  uint64_t shape[RADIO_MAX_RANK];     /* z,y,x; t,z,y,x; t,c,z,y,x;
                                         v,c,t,z,y,x; w,v,c,t,z,y,x;
                                         c,z,y,x or t,c,z,y,x for colours */
  const char *axes;                   /* "zyx", "tzyx", "czyx", "tczyx",
                                         "vctzyx", "wvctzyx" */
  uint64_t voxel_count;               /* of the file; no overflow */
  uint64_t data_nbytes;               /* voxel_count * voxel_nbytes */
};

/* Parse and check a header from the file's first bytes (at least 540 when
 * the file has them).  file names it in messages.  RADIO_ERROR_FORMAT names
 * the field and value; RADIO_ERROR_UNSUPPORTED names type or dimensions;
 * an ANALYZE 7.5 header (no magic) is UNSUPPORTED in words. */
enum radio_status rd_nifti_parse (const unsigned char *bytes, size_t nbytes,
                                  const char *file, struct rd_nifti *nifti)
  RADIO_USE_RESULT;

/* Voxel (x, y, z) to RAS+ millimetre-or-whatever: sform, else qform, else
 * method 1 of the standard (pixdim, no flip).  *source says which. */
void rd_nifti_affine (const struct rd_nifti *nifti, double affine[3][4],
                      const char **source);

/* The spacing along NIfTI's axis 1 to 7: pixdim without its sign; 1 where it
 * is 0 or not finite, as NIfTI's own library has it. */
double rd_nifti_spacing (const struct rd_nifti *nifti, size_t axis);

/* True if sform or qform are set and all finite; the qform's affine. */
bool rd_nifti_has_sform (const struct rd_nifti *nifti);
bool rd_nifti_has_qform (const struct rd_nifti *nifti);
void rd_nifti_qform (const struct rd_nifti *nifti, double affine[3][4]);

/* The rank up to which an image can be described by OME-Zarr. */
#define RD_NIFTI_MAX_OME_RANK 5

/* NIfTI's axis (1 to 7: x, y, z, t, c, v, w) for the array's; 0 for a
 * colour's. */
size_t rd_nifti_axis (const struct rd_nifti *nifti, size_t axis);

/* The anatomical axis closest to each voxel axis, as nibabel's
 * io_orientation: letters[i] is where axis x, y, z rises to ("RAS"), and
 * axis_of[plane] (enum radio_plane) is the voxel axis (0 = x) across it.
 * False, without letters and with the axes z, y, x across the planes, if the
 * affine is singular or not finite. */
bool rd_orientation (double affine[3][4], char letters[4],
                     size_t axis_of[3]);

/* The orthogonal factor of the polar decomposition of m: P Q^T of the
 * singular value decomposition P S Q^T, without those directions whose
 * singular value is lost in rounding (below the greatest, times 3 epsilon).
 * Returns the rank, 3 for an ordinary matrix.  All of m must be finite. */
size_t rd_polar3 (double m[3][3], double rotation[3][3]);

/* Names of OME's and UDUNITS' for xyzt_units; "" when unknown. */
const char *rd_nifti_space_unit (const struct rd_nifti *nifti);
const char *rd_nifti_time_unit (const struct rd_nifti *nifti);

/* The code for an element type; 0 when NIfTI has none. */
int rd_nifti_datatype_of (enum radio_dtype dtype);

/* Slope and intercept that apply: 1 and 0 when scl_slope is 0 or NaN. */
void rd_nifti_scaling (const struct rd_nifti *nifti, double *slope,
                       double *inter);

/* Blank the free-text fields (descrip, aux_file, intent_name, db_name and the
 * other unused texts of NIfTI-1) of a prefix and drop its extensions:
 * vox_offset and the extension flag follow.  report is called with a line for
 * each thing dropped; NULL is legal.  The prefix may become shorter, and
 * nifti's vox_offset is the old one: parse the prefix again. */
void rd_nifti_strip (const struct rd_nifti *nifti, struct rd_buffer *prefix,
                     void (*report) (const char *message, void *user_data),
                     void *user_data);

/* A header for a box (array order, rank of nifti) of the image: single
 * file, without extensions; dim and the origin of sform and qform are the
 * box's.  out is replaced by all bytes before the voxels. */
enum radio_status rd_nifti_box_header (const struct rd_nifti *nifti,
                                       const struct rd_buffer *prefix,
                                       const struct radio_box *box,
                                       struct rd_buffer *out)
  RADIO_USE_RESULT;

/* Turn the prefix of a pair into that of a single file: the same header and
 * extensions, but voxels follow, and the magic says so. */
enum radio_status rd_nifti_make_single (const struct rd_nifti *nifti,
                                        struct rd_buffer *prefix)
  RADIO_USE_RESULT;

/* Removes the intent code, which says what values mean, for example labels. */
void rd_nifti_clear_intent (const struct rd_nifti *nifti,
                            struct rd_buffer *prefix);

/* Change the data type.  Scaling and display range are reset: they are of the
 * values of the old one.  UNSUPPORTED when NIfTI has no such type. */
enum radio_status rd_nifti_set_type (const struct rd_nifti *nifti,
                                     enum radio_dtype dtype,
                                     struct rd_buffer *prefix)
  RADIO_USE_RESULT;

/* The grid of an image that is derived from another one. */
struct rd_nifti_grid {
  uint64_t shape[RADIO_MAX_RANK];     /* array order, rank of nifti */
  double spacing[3];                  /* along x, y, z */
  double affine[3][4];
  bool has_affine;                    /* it becomes the sform */
};

/* A header for such an image: single file, without extensions, sform instead
 * of qform; NIfTI-2 if an axis is longer than NIfTI-1 can say.  out is replaced
 * by all bytes before the voxels. */
enum radio_status rd_nifti_grid_header (const struct rd_nifti *nifti,
                                        const struct rd_buffer *prefix,
                                        const struct rd_nifti_grid *grid,
                                        struct rd_buffer *out)
  RADIO_USE_RESULT;

#define RD_NIFTI_MM 2
#define RD_NIFTI_SECONDS 8

/* A fresh NIfTI-1 header (NIfTI-2 when a dimension exceeds 32767) and 4
 * bytes of no extension, for images that come from no file. */
struct rd_nifti_make {
  enum radio_dtype dtype;
  size_t rank;                        /* 3 to 5 */
  uint64_t shape[RADIO_MAX_RANK];     /* array order */
  double spacing[RADIO_MAX_RANK];     /* array order; positive */
  int xyzt_units;                     /* NIfTI's codes of both */
  int sform_code;                     /* 0: there is only a spacing */
  double affine[3][4];                /* becomes the sform, unless that is 0 */
  const char *descrip;
};
enum radio_status rd_nifti_make (const struct rd_nifti_make *make,
                                 struct rd_buffer *out) RADIO_USE_RESULT;

/* Between the file's order of voxels and the array's: for a run of
 * consecutive file voxels nothing is to be done but swapping bytes, except
 * that colours are interleaved in the file.  Strides (bytes) by array axis
 * of file-order data of the given array shape. */
void rd_nifti_file_strides (const struct rd_nifti *nifti,
                            const uint64_t *shape, int64_t *strides);

#endif /* RD_NIFTI_H */
