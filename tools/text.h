/* SPDX-License-Identifier: MIT */
/* Text for people: widths of UTF-8, sizes and times in words, and numbers
 * from the command line, strictly. */
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

/* Room for each of the formats below. */
#define RD_TEXT_NBYTES RD_NUMBER_NBYTES

/* "512 B", "1.5 KB", "16.8 MB": powers of 1000, three figures. */
const char *rd_text_size (uint64_t nbytes, char text[RD_TEXT_NBYTES]);

/* "0.42 s", "12.3 s", "2 min 05 s", "1 h 02 min". */
const char *rd_text_time (double seconds, char text[RD_TEXT_NBYTES]);

/* A number with up to seven significant figures; "nan", "inf". */
const char *rd_text_number (double number, char text[RD_TEXT_NBYTES]);

/* The ratio of two sizes, "2.75x"; "-" when there is none. */
const char *rd_text_ratio (uint64_t raw, uint64_t stored,
                           char text[RD_TEXT_NBYTES]);

/* Digits only, all of the text, no overflow. */
bool rd_parse_u64 (const char *text, uint64_t *value);

/* A finite decimal number, all of the text. */
bool rd_parse_double (const char *text, double *value);

/* A size: digits, then nothing, or K, M, G, T (powers of 1024), these also
 * followed by "iB"; or KB, MB, GB, TB (powers of 1000). */
bool rd_parse_size (const char *text, uint64_t *nbytes);

/* A time in milliseconds: digits, then "ms", "s" or "min". */
bool rd_parse_ms (const char *text, uint64_t *ms);

/* "LO,HI": two numbers, the first the smaller one. */
bool rd_parse_range (const char *text, double *low, double *high);

/* "X,Y,Z" or, with one_for_all, also "N" for three times the same. */
bool rd_parse_triple (const char *text, bool one_for_all, uint64_t value[3]);

/* How many edits apart two words are (of at most 63 bytes; else 64). */
size_t rd_text_distance (const char *a, const char *b);

#endif /* RD_TOOLS_TEXT_H */
