/* SPDX-License-Identifier: MIT */
/* Makes pictures of planes, and writes them as PNG by libpng. */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include <radio/profile.h>

#include "tools/facts.h"
#include "tools/output.h"
#include "tools/slice/picture.h"

/* So few different integers are taken for labels. */
#define MAX_LABELS 64

/* The directions of a picture's rows and columns, from its left and its top,
 * by the letters of orientations. */
static const char runs[3][3] = {
  [RADIO_AXIAL] = "LP",
  [RADIO_CORONAL] = "LI",
  [RADIO_SAGITTAL] = "PI",
};

/* True if two letters name the directions of one line. */
static bool
is_same_line (char a, char b)
{
  static const char pairs[3][3] = { "LR", "AP", "IS" };
  for (int i = 0; i < 3; i++)
    if (strchr (pairs[i], a) != NULL)
      return strchr (pairs[i], b) != NULL;
  return false;
}

/* The direction in which an array axis increases; the rank is the axis that a
 * 2-D image lacks. */
static char
rises_to (const struct radio_volume_info *info, size_t axis)
{
  for (size_t i = 0; i < 3; i++) {
    const char *place = strchr (info->axes, "xyz"[i]);
    if (place ? (size_t) (place - info->axes) == axis
              : axis == info->array.rank)
      return info->orientation[i];
  }
  return '\0';
}

static double
spacing_of (const struct radio_volume_info *info, size_t axis)
{
  double spacing = axis < info->array.rank ? info->spacing[axis] : 1;
  return isfinite (spacing) && spacing > 0 ? spacing : 0;
}

void
rd_view_of_plane (const struct radio_volume_info *info,
                  enum radio_plane plane, struct rd_view *view)
{
  /* The array axes of rows and columns: the two axes of space that the plane
   * does not cut. */
  size_t axes[2] = { 0, 0 }, n = 0;
  for (size_t i = 0; i < info->array.rank && n < 2; i++)
    if (strchr ("xyz", info->axes[i]) && i != info->plane_axis[plane])
      axes[n++] = i;
  /* The one plane of a 2-D image, or one of its rows or columns. */
  if (n == 1) {
    axes[1] = axes[0];
    axes[0] = info->array.rank;
  }
  const char *run = runs[plane];
  if (*info->orientation == '\0') {
    /* As it is stored, as other programs show pictures. */
    *view = (struct rd_view) {
      .pixel_mm = { spacing_of (info, axes[1]), spacing_of (info, axes[0]) },
    };
    return;
  }
  view->transpose = is_same_line (rises_to (info, axes[0]), run[0]);
  size_t down = axes[view->transpose ? 1 : 0];
  size_t right = axes[view->transpose ? 0 : 1];
  view->flip_columns = rises_to (info, right) != run[0];
  view->flip_rows = rises_to (info, down) != run[1];
  view->pixel_mm[0] = spacing_of (info, right);
  view->pixel_mm[1] = spacing_of (info, down);
}

bool
rd_view_turn (const struct rd_view *view, const float *plane,
              const uint64_t shape[2], struct rd_raster *raster)
{
  RADIO_SCOPE ("turn");
  size_t rows = (size_t) shape[0], columns = (size_t) shape[1];
  size_t width = view->transpose ? rows : columns;
  size_t height = view->transpose ? columns : rows;
  raster->values = malloc (width * height * sizeof *raster->values);
  if (raster->values == NULL)
    return false;
  raster->width = width;
  raster->height = height;
  for (size_t y = 0; y < height; y++)
    for (size_t x = 0; x < width; x++) {
      size_t down = view->flip_rows ? height - 1 - y : y;
      size_t right = view->flip_columns ? width - 1 - x : x;
      size_t from = view->transpose ? right * columns + down
                                    : down * columns + right;
      raster->values[y * width + x] = plane[from];
    }
  return true;
}

bool
rd_square_size (size_t width, size_t height, const double pixel_mm[2],
                size_t most, size_t size[2])
{
  if (!(pixel_mm[0] > 0) || !(pixel_mm[1] > 0))
    return false;
  double pixel = fmin (pixel_mm[0], pixel_mm[1]);
  double w = round ((double) width * pixel_mm[0] / pixel);
  double h = round ((double) height * pixel_mm[1] / pixel);
  if (!(w <= (double) most) || !(h <= (double) most))
    return false;
  size[0] = (size_t) w;
  size[1] = (size_t) h;
  return true;
}

enum rd_interpolation
rd_raster_interpolation (const struct rd_raster *raster,
                         const struct radio_volume_info *info)
{
  if (rd_is_colour (info))
    return RD_LINEAR;
  if (info->is_labels)
    return RD_NEAREST;
  /* RADIO_BOOL to RADIO_UINT64 are the integers. */
  if (info->array.dtype < RADIO_BOOL || info->array.dtype > RADIO_UINT64)
    return RD_LINEAR;
  /* Labels have few different values, which are kept sorted. */
  float seen[MAX_LABELS];
  size_t nseen = 0, n = raster->width * raster->height;
  for (size_t i = 0; i < n; i++) {
    float value = raster->values[i];
    /* Finds the first that is not less. */
    size_t low = 0, high = nseen;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (seen[middle] < value)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < nseen && seen[low] == value)
      continue;
    if (nseen == MAX_LABELS)
      return RD_LINEAR;
    memmove (seen + low + 1, seen + low, (nseen - low) * sizeof *seen);
    seen[low] = value;
    nseen++;
  }
  return RD_NEAREST;
}

/* Where a pixel of n lies among `from' pixels that cover the same stretch:
 * between *index and the next one. */
static double
sample_place (size_t i, size_t n, size_t from, enum rd_interpolation how,
              size_t *index, size_t *next)
{
  double place = ((double) i + 0.5) * (double) from / (double) n - 0.5;
  place = fmin (fmax (place, 0), (double) (from - 1));
  *index = (size_t) place;
  *next = *index + 1 < from ? *index + 1 : *index;
  double weight = place - (double) *index;
  return how == RD_LINEAR ? weight : round (weight);
}

/* A weight of 0 or 1 must not let a neighbour's NaN or infinity through. */
static double
mix (double a, double b, double weight)
{
  if (weight == 1)
    return b;
  return weight == 0 ? a : a + (b - a) * weight;
}

bool
rd_raster_resize (struct rd_raster *raster, size_t width, size_t height,
                  enum rd_interpolation how)
{
  RADIO_SCOPE ("resize");
  if (width == raster->width && height == raster->height)
    return true;
  float *values = malloc (width * height * sizeof *values);
  if (values == NULL)
    return false;
  for (size_t y = 0; y < height; y++) {
    size_t y0, y1;
    double fy = sample_place (y, height, raster->height, how, &y0, &y1);
    const float *top = raster->values + y0 * raster->width;
    const float *bottom = raster->values + y1 * raster->width;
    for (size_t x = 0; x < width; x++) {
      size_t x0, x1;
      double fx = sample_place (x, width, raster->width, how, &x0, &x1);
      values[y * width + x] = (float) mix (mix (top[x0], top[x1], fx),
                                           mix (bottom[x0], bottom[x1], fx),
                                           fy);
    }
  }
  free (raster->values);
  *raster = (struct rd_raster) { width, height, values };
  return true;
}

static int
compare_floats (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;
  return (x > y) - (x < y);
}

bool
rd_robust_window (const float *values, size_t n, double *low, double *high)
{
  RADIO_SCOPE ("percentiles");
  float *finite = malloc (n * sizeof *finite + 1);
  if (finite == NULL)
    return false;
  size_t nfinite = 0;
  for (size_t i = 0; i < n; i++)
    if (isfinite (values[i]))
      finite[nfinite++] = values[i];
  *low = 0;
  *high = 0;
  if (nfinite > 0) {
    size_t last = nfinite - 1;
    qsort (finite, nfinite, sizeof *finite, compare_floats);
    *low = finite[last / 100];
    *high = finite[last - last / 100];
    /* Mostly background: the few other voxels count. */
    if (*low == *high) {
      *low = finite[0];
      *high = finite[last];
    }
  }
  if (*low == *high)
    *high = *low + fmax (1, fabs (*low) * 1e-6);
  free (finite);
  return true;
}

void
rd_raster_to_grey (const struct rd_raster *raster, double low, double high,
                   uint8_t *grey, size_t step)
{
  RADIO_SCOPE ("grey");
  size_t n = raster->width * raster->height;
  double scale = 255 / (high - low);
  for (size_t i = 0; i < n; i++) {
    double value = (raster->values[i] - low) * scale;
    if (!(value > 0))
      value = 0;
    if (value > 255)
      value = 255;
    grey[i * step] = (uint8_t) (value + 0.5);
  }
}

/*------------------------------------------------------------------------
 * PNG
 *----------------------------------------------------------------------*/

/* The message of libpng, which is not printed on stderr. */
struct png_writer {
  char message[128];
  int errnum;
};

static void
on_png_error (png_structp png, png_const_charp text)
{
  struct png_writer *writer = png_get_error_ptr (png);
  writer->errnum = errno;
  snprintf (writer->message, sizeof writer->message, "%s", text);
  png_longjmp (png, 1);
}

static void
on_png_warning (png_structp png, png_const_charp text)
{
  (void) png;
  (void) text;
}

/* Contains all calls that may jump back, after one setjmp, and no variables
 * that change after it. */
static bool
write_rows (png_structp png, png_infop info, FILE *file,
            const struct rd_picture *picture)
{
  static const int color_types[] = {
    [1] = PNG_COLOR_TYPE_GRAY, [3] = PNG_COLOR_TYPE_RGB,
    [4] = PNG_COLOR_TYPE_RGB_ALPHA
  };
  const double per_m[] = { 1000 / picture->pixel_mm[0],
                           1000 / picture->pixel_mm[1] };
  char key[] = "Title", software[] = "Software", radio[] = PACKAGE_STRING;
  png_text text[2] = {
    { .compression = PNG_TEXT_COMPRESSION_NONE, .key = software,
      .text = radio },
    { .compression = PNG_ITXT_COMPRESSION_NONE, .key = key,
      .text = (char *) picture->title },
  };
  size_t row_nbytes = picture->width * picture->nchannels;
  if (setjmp (png_jmpbuf (png)))
    return false;
  png_init_io (png, file);
  png_set_IHDR (png, info, (png_uint_32) picture->width,
                (png_uint_32) picture->height, 8,
                color_types[picture->nchannels], PNG_INTERLACE_NONE,
                PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (per_m[0] >= 1 && per_m[0] <= 1e9 && per_m[1] >= 1 && per_m[1] <= 1e9)
    png_set_pHYs (png, info, (png_uint_32) (per_m[0] + 0.5),
                  (png_uint_32) (per_m[1] + 0.5), PNG_RESOLUTION_METER);
  png_set_text (png, info, text, picture->title ? 2 : 1);
  png_write_info (png, info);
  for (size_t y = 0; y < picture->height; y++)
    png_write_row (png, picture->pixels + y * row_nbytes);
  png_write_end (png, info);
  return true;
}

static bool
write_png (FILE *file, const struct rd_picture *picture,
           struct png_writer *writer)
{
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, writer,
                                             on_png_error, on_png_warning);
  if (png == NULL)
    return false;
  /* Larger pictures than libpng's careful default of a million rows. */
  png_set_user_limits (png, 0x7fffffff, 0x7fffffff);
  png_infop info = png_create_info_struct (png);
  bool written = info != NULL && write_rows (png, info, file, picture);
  png_destroy_write_struct (&png, &info);
  return written;
}

int
rd_png_write (const char *file, const struct rd_picture *picture,
              bool overwrite)
{
  RADIO_SCOPE_FULL ("write PNG", "encode", RADIO_SCOPE_BLOCKING);
  struct png_writer writer = { "", 0 };
  struct rd_new_file new_file = { .name = file, .overwrite = overwrite };
  int failed = rd_new_file_open (&new_file);
  if (failed)
    return failed;
  errno = 0;
  bool written = write_png (new_file.stream, picture, &writer);
  int errnum = writer.errnum ? writer.errnum : errno;
  return rd_new_file_end (&new_file, written ? 0 : errnum ? errnum : EIO);
}
