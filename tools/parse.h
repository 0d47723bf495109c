/* SPDX-License-Identifier: MIT */
/* Values of options.  All of a text is parsed or it is rejected. */
#ifndef RD_TOOLS_PARSE_H
#define RD_TOOLS_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/text.h"

/* A finite decimal number. */
bool rd_parse_double (const char *text, double *value);

/* Such numbers between commas: 1 to `most', how many is set to n. */
bool rd_parse_doubles (const char *text, double *values, size_t most,
                       size_t *n);

/* "LO,HI": two numbers, LO < HI. */
bool rd_parse_range (const char *text, double *low, double *high);

/* "X,Y,Z" or, with one_for_all, also "N" for three times the same. */
bool rd_parse_triple (const char *text, bool one_for_all, uint64_t value[3]);

/* The edit distance of two words (of at most 63 bytes; else 64). */
size_t rd_text_distance (const char *a, const char *b);

#endif /* RD_TOOLS_PARSE_H */
