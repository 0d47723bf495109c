/* SPDX-License-Identifier: MIT */
/* Pictures: planes turned into the radiological convention, with square
 * pixels and grey values, and written as PNG. */
#ifndef RD_TOOLS_SLICE_PICTURE_H
#define RD_TOOLS_SLICE_PICTURE_H

#include <radio/volume.h>

#include "tools/tool.h"

/* The transformation of a plane in stored order (rows, then columns) into a
 * picture. */
struct rd_view {
  bool transpose;             /* first: rows become columns */
  bool flip_columns;          /* then: left to right */
  bool flip_rows;             /* and top to bottom */
  double pixel_mm[2];         /* of the picture: width and height */
};

/* Patient's right at the left of the picture, anterior up in an axial
 * plane, superior up in the others, anterior at the left of a sagittal
 * one. */
void rd_view_of_plane (const struct radio_volume_info *info,
                       enum radio_plane plane, struct rd_view *view);

/* A picture of floats, rows from the top. */
struct rd_raster {
  size_t width, height;
  float *values;              /* allocated */
};

/* Turns a plane of shape[0] rows and shape[1] columns; false without memory.
 */
bool rd_view_turn (const struct rd_view *view, const float *plane,
                   const uint64_t shape[2], struct rd_raster *raster);

/* The size at which pixels are square, never less than the given one; false
 * when that is not possible (unknown spacing) or over `most' a side. */
bool rd_square_size (size_t width, size_t height, const double pixel_mm[2],
                     size_t most, size_t size[2]);

/* Values between pixel centres: of the nearest one, or in proportion. */
enum rd_interpolation {
  RD_NEAREST = 0,
  RD_LINEAR,
};

/* Chooses the interpolation of a plane.  A mean of labels is another label,
 * and wrong: so the nearest value for images whose header says that they are
 * labels (intent_code 1002), and for integers with so few different values in
 * the plane that they are most likely labels. */
enum rd_interpolation
rd_raster_interpolation (const struct rd_raster *raster,
                         const struct radio_volume_info *info);

/* Resamples to another size; false without memory. */
bool rd_raster_resize (struct rd_raster *raster, size_t width,
                       size_t height, enum rd_interpolation how);

/* The 1st and 99th percentile of the finite values, or the extremes when
 * these are equal; low < high in any case.  False without memory. */
bool rd_robust_window (const float *values, size_t n, double *low,
                       double *high);

/* Grey values: low and less is black, high and more is white, NaN black.
 * Every step-th byte of grey is written. */
void rd_raster_to_grey (const struct rd_raster *raster, double low,
                        double high, uint8_t *grey, size_t step);

struct rd_picture {
  size_t width, height;       /* pixels */
  size_t nchannels;           /* 1, 3 or 4 */
  double pixel_mm[2];         /* width and height of one; 0: unknown */
  const char *title;          /* UTF-8; kept in the file */
  uint8_t *pixels;            /* rows from the top */
};

/* Writes a picture; the file appears once it is complete.  Without overwrite
 * an existing file stays.  Returns an exit status; prints errors. */
int rd_png_write (const char *file, const struct rd_picture *picture,
                  bool overwrite);

#endif /* RD_TOOLS_SLICE_PICTURE_H */
