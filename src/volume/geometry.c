/* SPDX-License-Identifier: MIT */
/* A volume's geometry: from its NIfTI header, which wins, or from OME-Zarr's
 * scale, translation and orientation. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/volume/geometry.h"
#include "src/volume/meta.h"

static const char *
or_empty (const char *text)
{
  return text ? text : "";
}

/* The index of an axis that check_axes found to be there. */
static size_t
axis_index (const char *axes, char letter)
{
  return (size_t) (strchr (axes, letter) - axes);
}

/* The world axis (0 right, 1 anterior, 2 superior) and the sign that each
 * of x, y, z has by RFC-4.  False unless all three are told and differ. */
static bool
told_orientation (const struct rd_volume_meta *meta, size_t world[3],
                  double sign[3])
{
  unsigned seen = 0;
  for (size_t i = 0; i < 3; i++) {
    const char *words = meta->orientation[axis_index (meta->axes, "xyz"[i])];
    char letter = words ? rd_orientation_letter (words) : 0;
    const char *found = letter ? strchr ("RASLPI", letter) : NULL;
    if (found == NULL)
      return false;
    size_t place = (size_t) (found - "RASLPI");
    world[i] = place % 3;
    sign[i] = place < 3 ? 1 : -1;
    seen |= 1u << world[i];
  }
  return seen == 7;
}

/* OME's coordinates rise along the axes; where the axes point to is RFC-4's
 * part.  Without it they are taken as right, anterior, superior. */
static void
ome_affine (const struct rd_volume_meta *meta, double affine[3][4])
{
  size_t world[3] = { 0, 1, 2 };
  double sign[3] = { 1, 1, 1 };
  if (!told_orientation (meta, world, sign))
    for (size_t i = 0; i < 3; i++) {
      world[i] = i;
      sign[i] = 1;
    }
  memset (affine, 0, 12 * sizeof (double));
  for (size_t i = 0; i < 3; i++) {
    size_t axis = axis_index (meta->axes, "xyz"[i]);
    affine[world[i]][i] = sign[i] * meta->scale[axis];
    affine[world[i]][3] = sign[i] * meta->translation[axis];
  }
}

static void
fill_geometry (const struct rd_volume_meta *meta,
               struct radio_volume_info *info)
{
  size_t axis_of[3];
  if (meta->has_nifti) {
    rd_nifti_affine (&meta->nifti, info->affine, &info->affine_source);
  } else {
    ome_affine (meta, info->affine);
    info->affine_source = "ome";
  }
  rd_orientation (info->affine, info->orientation, axis_of);
  for (size_t plane = 0; plane < 3; plane++)
    info->plane_axis[plane] = axis_index (meta->axes, "xyz"[axis_of[plane]]);
}

static void
fill_spacing (const struct rd_volume_meta *meta,
              struct radio_volume_info *info)
{
  if (meta->has_nifti)
    rd_meta_scale (&meta->nifti, info->spacing);
  else
    for (size_t i = 0; i < strlen (meta->axes); i++)
      info->spacing[i] = fabs (meta->scale[i]);
  info->space_unit = meta->has_nifti ? rd_nifti_space_unit (&meta->nifti)
                                     : or_empty (meta->space_unit);
  info->time_unit = meta->has_nifti ? rd_nifti_time_unit (&meta->nifti)
                                    : or_empty (meta->time_unit);
}

/* In scaled values: the header's own figures, or omero's, which are of
 * stored ones. */
static void
fill_window (const struct rd_volume_meta *meta,
             struct radio_volume_info *info)
{
  const struct rd_nifti *nifti = &meta->nifti;
  if (meta->has_nifti && nifti->cal_max > nifti->cal_min) {
    info->window_low = nifti->cal_min;
    info->window_high = nifti->cal_max;
  } else if (meta->has_window) {
    double a = meta->window_start * info->scl_slope + info->scl_inter;
    double b = meta->window_end * info->scl_slope + info->scl_inter;
    info->window_low = fmin (a, b);
    info->window_high = fmax (a, b);
  }
}

static void
fill_source (const struct rd_volume_meta *meta,
             struct radio_volume_info *info)
{
  info->source_name = or_empty (meta->source_name);
  info->source_sha256 = or_empty (meta->source_sha256);
  info->source_nbytes = meta->source_nbytes;
  info->tiling = or_empty (meta->tiling);
  info->codec = or_empty (meta->codec);
  info->nifti_type = meta->has_nifti ? meta->nifti.type_name : "";
  info->header = meta->has_nifti ? meta->prefix.data : NULL;
  info->header_nbytes = meta->has_nifti ? meta->prefix.nbytes : 0;
}

void
rd_volume_fill_info (struct radio_volume *volume)
{
  const struct rd_volume_meta *meta = &volume->meta;
  struct radio_volume_info *info = &volume->info;
  *info = (struct radio_volume_info) { .scl_slope = 1 };
  info->path = volume->path;
  info->axes = meta->axes;
  radio_array_info (volume->array, &info->array);
  if (meta->has_nifti)
    rd_nifti_scaling (&meta->nifti, &info->scl_slope, &info->scl_inter);
  fill_geometry (meta, info);
  fill_spacing (meta, info);
  fill_window (meta, info);
  fill_source (meta, info);
}
