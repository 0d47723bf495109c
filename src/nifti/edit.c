/* SPDX-License-Identifier: MIT */
/* Headers made from headers: without what tells of a person, and for a box
 * of the image.  Bytes that have no reason to change stay as they are. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/element/box.h"
#include "src/nifti/fields.h"
#include "src/nifti/nifti.h"

static struct rd_field_layout
layout_of (const struct rd_nifti *nifti)
{
  const uint16_t one = 1;
  unsigned char first;
  memcpy (&first, &one, 1);
  return (struct rd_field_layout) { nifti->version,
                                    nifti->swapped != (first == 0) };
}

static bool
all_zero (const unsigned char *bytes, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    if (bytes[i] != 0)
      return false;
  return true;
}

static void
strip_texts (const struct rd_field_layout *layout, unsigned char *bytes,
             void (*tell) (const char *message, void *user_data),
             void *user_data)
{
  static const struct {
    enum rd_field field;
    const char *name;
  } texts[] = {
    { RD_FIELD_DESCRIP, "descrip" }, { RD_FIELD_AUX_FILE, "aux_file" },
    { RD_FIELD_INTENT_NAME, "intent_name" },
    { RD_FIELD_DATA_TYPE, "data_type" }, { RD_FIELD_DB_NAME, "db_name" },
    { RD_FIELD_UNUSED, "unused_str" },
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    size_t nbytes, at = rd_field_text (layout, texts[i].field, &nbytes);
    /* Text may also stand behind a NUL: all of the field counts. */
    if (all_zero (bytes + at, nbytes))
      continue;
    memset (bytes + at, 0, nbytes);
    char message[64];
    snprintf (message, sizeof message, "blanked the header's %s",
              texts[i].name);
    if (tell)
      tell (message, user_data);
  }
}

/* Whatever follows the header: flag, extensions, padding. */
static void
strip_extensions (const struct rd_nifti *nifti,
                  const struct rd_field_layout *layout,
                  struct rd_buffer *prefix,
                  void (*tell) (const char *message, void *user_data),
                  void *user_data)
{
  size_t header = rd_field_header_nbytes (layout);
  size_t end = rd_field_single_nbytes (layout);
  if (!all_zero (prefix->data + header, prefix->nbytes - header) && tell) {
    char message[96];
    snprintf (message, sizeof message,
              "dropped %zu bytes of extensions after the header",
              prefix->nbytes > end ? prefix->nbytes - end : 0);
    tell (message, user_data);
  }
  if (prefix->nbytes > end)
    prefix->nbytes = end;
  memset (prefix->data + header, 0, prefix->nbytes - header);
  if (!nifti->is_pair)
    rd_field_set_int (layout, prefix->data, RD_FIELD_VOX_OFFSET, 0,
                      (int64_t) end);
}

void
rd_nifti_strip (const struct rd_nifti *nifti, struct rd_buffer *prefix,
                void (*tell) (const char *message, void *user_data),
                void *user_data)
{
  struct rd_field_layout layout = layout_of (nifti);
  strip_texts (&layout, prefix->data, tell, user_data);
  strip_extensions (nifti, &layout, prefix, tell, user_data);
}

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

/* Put the box's first voxel where it was.  Method 1 of the standard has no
 * origin to move. */
static void
move_origin (const struct rd_nifti *nifti, const struct rd_field_layout *layout,
             unsigned char *bytes, const double start[3])
{
  double affine[3][4], origin[3];
  if (rd_nifti_has_sform (nifti)) {
    memcpy (affine, nifti->srow, sizeof affine);
    shift (affine, start, origin);
    for (size_t i = 0; i < 3; i++)
      rd_field_set_real (layout, bytes, RD_FIELD_SROW, 4 * i + 3, origin[i]);
  }
  if (rd_nifti_has_qform (nifti)) {
    rd_nifti_qform (nifti, affine);
    shift (affine, start, origin);
    for (size_t i = 0; i < 3; i++)
      rd_field_set_real (layout, bytes, RD_FIELD_QOFFSET, i, origin[i]);
  }
}

/* The order of acquisition says nothing of some of the slices. */
static void
clear_slices (const struct rd_field_layout *layout, unsigned char *bytes)
{
  rd_field_set_int (layout, bytes, RD_FIELD_SLICE_CODE, 0, 0);
  rd_field_set_int (layout, bytes, RD_FIELD_SLICE_START, 0, 0);
  rd_field_set_int (layout, bytes, RD_FIELD_SLICE_END, 0, 0);
}

static void
set_box (const struct rd_nifti *nifti, const struct rd_field_layout *layout,
         const struct radio_box *box, unsigned char *bytes)
{
  double start[6] = { 0 };
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
  if (start[1] > 0 || start[2] > 0 || start[3] > 0)
    move_origin (nifti, layout, bytes, start + 1);
  if (start[4] > 0)
    rd_field_set_real (layout, bytes, RD_FIELD_TOFFSET, 0,
                       rd_field_real (layout, bytes, RD_FIELD_TOFFSET, 0)
                         + start[4] * rd_nifti_spacing (nifti, 4));
  if (cut)
    clear_slices (layout, bytes);
}

static enum radio_status
check_box (const struct rd_nifti *nifti, const struct radio_box *box)
{
  if (!rd_box_fits (box, nifti->rank, nifti->shape)
      || radio_box_count (box) == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "the box is empty or not within the image");
  for (size_t i = 0; i < nifti->rank; i++)
    if (rd_nifti_axis (nifti, i) == 0 && box->size[i] != nifti->shape[i])
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "a box of a %s image must hold all %d channels to "
                      "become NIfTI", nifti->type_name, (int) nifti->colour);
  return RADIO_OK;
}

enum radio_status
rd_nifti_box_header (const struct rd_nifti *nifti,
                     const struct rd_buffer *prefix,
                     const struct radio_box *box, struct rd_buffer *out)
{
  RD_TRY (check_box (nifti, box));
  struct rd_field_layout layout = layout_of (nifti);
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
