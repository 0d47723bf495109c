/* SPDX-License-Identifier: MIT */
/* Pictures as PNG, by libpng. */
#include <config.h>

#include <errno.h>
#include <png.h>
#include <string.h>

#include "tools/new-file.h"
#include "tools/png.h"

/* What libpng says goes into the message instead of onto stderr. */
struct writer {
  char message[128];
  int errnum;
};

static void
on_error (png_structp png, png_const_charp text)
{
  struct writer *writer = png_get_error_ptr (png);
  writer->errnum = errno;
  snprintf (writer->message, sizeof writer->message, "%s", text);
  png_longjmp (png, 1);
}

static void
on_warning (png_structp png, png_const_charp text)
{
  (void) png;
  (void) text;
}

static int
color_type (size_t nchannels)
{
  if (nchannels == 1)
    return PNG_COLOR_TYPE_GRAY;
  return nchannels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA;
}

static void
put_physical_size (png_structp png, png_infop info,
                   const struct rd_picture *picture)
{
  double per_m[2];
  for (int i = 0; i < 2; i++) {
    per_m[i] = 1000 / picture->pixel_mm[i];
    if (!(per_m[i] >= 1 && per_m[i] <= 1e9))
      return;
  }
  png_set_pHYs (png, info, (png_uint_32) (per_m[0] + 0.5),
                (png_uint_32) (per_m[1] + 0.5), PNG_RESOLUTION_METER);
}

static void
put_text (png_structp png, png_infop info, const char *title)
{
  char key[] = "Title", software[] = "Software", radio[] = PACKAGE_STRING;
  png_text text[2];
  memset (text, 0, sizeof text);
  text[0].compression = PNG_TEXT_COMPRESSION_NONE;
  text[0].key = software;
  text[0].text = radio;
  text[1].compression = PNG_ITXT_COMPRESSION_NONE;
  text[1].key = key;
  text[1].text = (char *) title;
  png_set_text (png, info, text, title ? 2 : 1);
}

/* Everything that may jump back stands here, behind one setjmp and without
 * variables that change after it. */
static bool
write_rows (png_structp png, png_infop info, FILE *file,
            const struct rd_picture *picture)
{
  if (setjmp (png_jmpbuf (png)))
    return false;
  png_init_io (png, file);
  png_set_IHDR (png, info, (png_uint_32) picture->width,
                (png_uint_32) picture->height, 8,
                color_type (picture->nchannels), PNG_INTERLACE_NONE,
                PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  put_physical_size (png, info, picture);
  put_text (png, info, picture->title);
  png_write_info (png, info);
  size_t row_nbytes = picture->width * picture->nchannels;
  for (size_t y = 0; y < picture->height; y++)
    png_write_row (png, picture->pixels + y * row_nbytes);
  png_write_end (png, info);
  return true;
}

static bool
write_png (FILE *file, const struct rd_picture *picture,
           struct writer *writer)
{
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, writer,
                                             on_error, on_warning);
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
  struct writer writer = { "", 0 };
  struct rd_new_file new_file = { .name = file, .overwrite = overwrite };
  int failed = rd_new_file_open (&new_file);
  if (failed)
    return failed;
  errno = 0;
  bool written = write_png (new_file.stream, picture, &writer);
  int errnum = writer.errnum ? writer.errnum : errno;
  return rd_new_file_end (&new_file, written ? 0 : errnum ? errnum : EIO);
}
