/* SPDX-License-Identifier: MIT */
/* The header of a volume's image: the one that was ingested, or one made for
 * another program's image, or from a program's description. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/text.h"
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

/*------------------------------------------------------------------------
 * Images that a program describes
 *----------------------------------------------------------------------*/

static bool
is_zero (double affine[3][4])
{
  for (size_t i = 0; i < 12; i++)
    if (affine[i / 4][i % 4] != 0)
      return false;
  return true;
}

static enum radio_status
check_options (const struct radio_create_options *options)
{
  for (const char *p = options->source_name; p && *p;) {
    size_t n = rd_utf8_nbytes (p);
    if (n == 0)
      return rd_fail (RADIO_ERROR_ARGUMENT, "source_name: byte %zu (0x%02x) "
                      "is not UTF-8", (size_t) (p - options->source_name),
                      (unsigned) (unsigned char) *p);
    p += n;
  }
  for (size_t i = 0; i < 12; i++)
    if (!isfinite (options->affine[i / 4][i % 4]))
      return rd_fail (RADIO_ERROR_ARGUMENT, "affine[%zu][%zu] is not finite",
                      i / 4, i % 4);
  for (size_t i = 0; i < RADIO_MAX_RANK; i++)
    if (!isfinite (options->spacing[i]) || options->spacing[i] < 0)
      return rd_fail (RADIO_ERROR_ARGUMENT, "spacing[%zu] is %g, not a length",
                      i, options->spacing[i]);
  if (options->rank > RADIO_MAX_RANK)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "rank is %zu, not 3 to 5",
                    options->rank);
  if (options->like == NULL && options->rank == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "no shape; set rank and shape, or "
                    "like");
  if (options->like == NULL && options->dtype == RADIO_STORED)
    return rd_fail (RADIO_ERROR_ARGUMENT, "no type; set dtype or like");
  if (options->dtype == RADIO_BFLOAT16)
    return rd_fail (RADIO_ERROR_ARGUMENT, "dtype is bfloat16, which volumes do "
                    "not store; write float32");
  if ((unsigned) options->dtype > RADIO_RAW)
    return rd_fail (RADIO_ERROR_ARGUMENT, "dtype is %d, an unknown type",
                    (int) options->dtype);
  return RADIO_OK;
}

static int
units_of (const struct radio_volume *like)
{
  static const struct {
    const char *name;
    int code;
  } units[] = {
    { "meter", 1 }, { "millimeter", 2 }, { "micrometer", 3 },
    { "second", 8 }, { "millisecond", 16 }, { "microsecond", 24 },
  };
  if (like->meta.has_nifti)
    return like->meta.nifti.xyzt_units;
  int code = 0;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp (like->info.space_unit, units[i].name) == 0
        || strcmp (like->info.time_unit, units[i].name) == 0)
      code |= units[i].code;
  return code;
}

/* The code of the sform that has a volume's affine; 0 where the volume has
 * only a spacing. */
static int
sform_code_of (const struct radio_volume *like)
{
  const struct rd_nifti *nifti = &like->meta.nifti;
  if (!like->meta.has_nifti)
    return like->info.orientation[0] != '\0';
  return rd_nifti_has_sform (nifti) ? nifti->sform_code
    : rd_nifti_has_qform (nifti) ? nifti->qform_code : 0;
}

static enum radio_status
make_new_header (const struct radio_create_options *options, size_t rank,
                 const uint64_t *shape, enum radio_dtype dtype,
                 struct rd_buffer *out)
{
  static const char axes[] = "tczyx";
  const struct radio_volume *like = options->like;
  struct rd_nifti_make make = {
    .dtype = dtype, .rank = rank, .sform_code = 1,
    .xyzt_units = RD_NIFTI_MM | RD_NIFTI_SECONDS,
  };
  bool has_affine = like != NULL;
  memcpy (make.shape, shape, rank * sizeof *shape);
  memcpy (make.affine, options->affine, sizeof make.affine);
  if (like) {
    make.sform_code = sform_code_of (like);
    make.xyzt_units = units_of (like);
    memcpy (make.affine, like->info.affine, sizeof make.affine);
  } else if (is_zero (make.affine))
    make.sform_code = 0;
  else
    has_affine = true;
  for (size_t i = 0; i < rank && rank <= 5; i++) {
    char letter = rank == 4 && i == 0 ? 't' : axes[5 - rank + i];
    const char *found = like ? strchr (like->info.axes, letter) : NULL;
    bool is_space = letter >= 'x';
    double *spacing = &make.spacing[i];
    if (!(has_affine && is_space))
      *spacing = options->spacing[i];
    else if (!like)
      for (size_t k = 0; k < 3; k++)
        *spacing = hypot (*spacing, make.affine[k][letter - 'x']);
    if (*spacing == 0 && found)
      *spacing = like->info.spacing[found - like->info.axes];
    if (*spacing == 0)
      *spacing = 1;
  }
  return rd_nifti_make (&make, out);
}

static enum radio_status
make_header (const struct radio_create_options *options, struct rd_buffer *out)
{
  const struct radio_volume *like = options->like;
  RD_TRY (check_options (options));
  size_t rank = options->rank;
  const uint64_t *shape = options->shape;
  enum radio_dtype dtype = options->dtype;
  if (like) {
    const struct radio_array_info *array = &like->info.array;
    const struct rd_nifti *nifti = &like->meta.nifti;
    double affine[3][4];
    memcpy (affine, options->affine, sizeof affine);
    if (!is_zero (affine))
      return rd_fail (RADIO_ERROR_ARGUMENT, "affine and like exclude each "
                      "other; set one");
    if (rank == 0) {
      rank = array->rank;
      shape = array->shape;
    }
    bool is_same = rank == array->rank
                   && memcmp (shape, array->shape, rank * sizeof *shape) == 0;
    bool is_colour = like->meta.has_nifti && nifti->colour != RD_COLOUR_NONE;
    if (is_colour && is_same != (dtype == RADIO_STORED))
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "like (%s) is %s; set neither "
                      "shape nor dtype, or both, without the axis of colours",
                      like->path, nifti->type_name);
    if (is_same && like->meta.has_nifti) {
      RD_TRY (rd_buffer_append (out, like->meta.prefix.data,
                                like->meta.prefix.nbytes));
      return dtype == RADIO_STORED ? RADIO_OK
        : rd_nifti_set_type (nifti, dtype, out);
    }
    if (dtype == RADIO_STORED)
      dtype = array->dtype;
  }
  return make_new_header (options, rank, shape, dtype, out);
}

enum radio_status
rd_image_make_header (const struct radio_create_options *options,
                      const char *name, struct rd_buffer *out,
                      struct rd_nifti *nifti)
{
  enum radio_status status = make_header (options, out);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s", name);
  status = rd_nifti_parse (out->data, out->nbytes, name, nifti);
  /* The fields are the caller's: no file is damaged. */
  return status == RADIO_ERROR_FORMAT ? RADIO_ERROR_ARGUMENT : status;
}
