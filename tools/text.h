/* SPDX-License-Identifier: MIT */
/* Text for people: widths of UTF-8, sizes, times and numbers. */
#ifndef RD_TOOLS_TEXT_H
#define RD_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/text.h"

/* The columns that a text takes on a terminal, as rd_text_print shows it. */
size_t rd_text_columns (const char *text);

/* Print a text with control characters and broken UTF-8 as '?'. */
void rd_text_print (FILE *file, const char *text);

/* The ending of a noun in the plural. */
static inline const char *
rd_plural (uint64_t n)
{
  return n == 1 ? "" : "s";
}

/* Room for each of the formats below. */
#define RD_TEXT_NBYTES RD_NUMBER_NBYTES

/* "512 B", "1.5 kB", "16.8 MB": powers of 1000, three figures. */
const char *rd_text_size (uint64_t nbytes, char text[RD_TEXT_NBYTES]);

/* "0.42 s", "12.3 s", "2 min 05 s", "1 h 02 min". */
const char *rd_text_time (double seconds, char text[RD_TEXT_NBYTES]);

/* A number with up to seven significant figures; "nan", "inf". */
const char *rd_text_number (double number, char text[RD_TEXT_NBYTES]);

/* The ratio of two sizes, "2.75x"; "-" without one. */
const char *rd_text_ratio (uint64_t raw, uint64_t stored,
                           char text[RD_TEXT_NBYTES]);

#endif /* RD_TOOLS_TEXT_H */
