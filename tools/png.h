/* SPDX-License-Identifier: MIT */
/* Pictures: 8-bit grey, RGB or RGBA, written as PNG. */
#ifndef RD_PNG_H
#define RD_PNG_H

#include "tools/tool.h"

struct rd_picture {
  size_t width, height;       /* pixels */
  size_t nchannels;           /* 1, 3 or 4 */
  double pixel_mm[2];         /* width and height of one; 0: unknown */
  const char *title;          /* UTF-8; kept in the file */
  uint8_t *pixels;            /* rows from the top */
};

/* Write a picture; the file appears at once, when it is whole.  Without
 * overwrite a file that is there stays.  Returns an exit status, after
 * complaining. */
int rd_png_write (const char *file, const struct rd_picture *picture,
                  bool overwrite);

#endif /* RD_PNG_H */
