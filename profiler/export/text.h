/* SPDX-License-Identifier: MIT */
/* Profiles as text for people: how numbers and names are put into columns.
 * Widths are in characters, each taken as one column of the terminal. */
#ifndef RD_TEXT_H
#define RD_TEXT_H

#include "src/base/text.h"
#include "profiler/export/export.h"

/* The beginning of a profile as text, by which its reader knows it. */
#define RD_TEXT_OPENING "radio profile: "

/* value / size with three digits, or more from 1000 on: "9.99", "99.9",
 * "999". */
void rd_text_multiple (uint64_t value, uint64_t size,
                    char text[RD_NUMBER_NBYTES]);

/* Three digits and a unit: "812 ms", "1.23 s", "45 ns". */
void rd_text_ns (uint64_t ns, char text[RD_NUMBER_NBYTES]);

/* The same: "33.5 MB" (10^6), "812 B". */
void rd_text_bytes (uint64_t nbytes, char text[RD_NUMBER_NBYTES]);

/* A count in at most seven characters: "1234567", "12.3M". */
void rd_text_short_count (uint64_t count, char text[RD_NUMBER_NBYTES]);

/* MB/s, three digits: "412", "9.81". */
void rd_text_mb_per_s (uint64_t nbytes, uint64_t ns,
                       char text[RD_NUMBER_NBYTES]);

/* Per cent with at most one decimal: "<0.1", "0.3", "71"; part may be above
 * whole. */
void rd_text_share (uint64_t part, uint64_t whole,
                    char text[RD_NUMBER_NBYTES]);

/* Write a text in at most `width' characters: a longer one loses its middle
 * ("bytes ..d written"), since names differ at both ends.  Returns how many
 * were written. */
size_t rd_write_cut (struct rd_writer *writer, const char *text,
                     size_t width);

/* Write a text at the right end of `width' characters. */
void rd_write_right (struct rd_writer *writer, const char *text,
                     size_t width);

/* Write n blanks. */
void rd_write_blanks (struct rd_writer *writer, size_t n);

/*------------------------------------------------------------------------
 * The parts of the page
 *----------------------------------------------------------------------*/

/* Shared by all parts. */
struct rd_text {
  struct rd_writer *writer;
  const struct radio_profile *profile;
  bool colour, utf8;
  size_t columns;
  uint64_t wall_ns;           /* of all parts */
  uint64_t roots_ns;          /* 100 % of the percentages of total */
};

enum rd_colour {
  RD_PLAIN = 0, RD_BOLD = 1, RD_DIM = 2, RD_RED = 31, RD_GREEN = 32,
  RD_YELLOW = 33, RD_CYAN = 36,
};

/* From here on; RD_PLAIN ends it.  Nothing without colours. */
void rd_text_colour (const struct rd_text *text, enum rd_colour colour);

/* The tree. */
enum radio_status rd_text_tree (const struct rd_text *text)
  RADIO_USE_RESULT;

#endif /* RD_TEXT_H */
