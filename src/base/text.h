/* SPDX-License-Identifier: MIT */
/* UTF-8, names in paths, and numbers and bytes as text in any locale, and read
 * from it.  Pure functions, which the command links as well. */
#ifndef RD_BASE_TEXT_H
#define RD_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of the UTF-8 character that the text begins with, 0 when
 * it is invalid.  Never reads beyond a NUL. */
size_t rd_utf8_nbytes (const char *text);

/* Returns how many of a text's bytes, which may be NUL, are UTF-8: nbytes, or
 * the place of the first character that is not. */
size_t rd_utf8_valid_nbytes (const char *text, size_t nbytes);

/* Decodes the character that the text begins with; returns its bytes.  A
 * byte that begins no valid character is U+FFFD of length 1. */
size_t rd_utf8_decode (const char *text, uint32_t *character);

/* Returns true for a character that can steer a terminal or break a line:
 * controls, line separators, and marks that change the direction of text. */
bool rd_utf8_is_control (uint32_t character);

/* Copies a text with U+FFFD for each byte that begins no valid character; to
 * has room for three times its bytes and a NUL. */
void rd_utf8_repair (const char *text, char *to);

/* Returns the number of characters; each invalid byte counts as one. */
size_t rd_utf8_count (const char *text);

/* Returns the largest length up to nbytes that does not split a character of
 * the text, which is longer. */
size_t rd_utf8_cut (const char *text, size_t nbytes);

/* Returns the name within a path, after the last '/', if any. */
const char *rd_base_name (const char *path);

/* True if a name ends in a suffix, in either case, and is not that alone. */
bool rd_ends_with (const char *name, const char *suffix);

/* Room for each of the numbers below. */
#define RD_NUMBER_NBYTES 32

/* "1,234,567". */
const char *rd_number_grouped (uint64_t number,
                               char text[RD_NUMBER_NBYTES]);

/* The shortest decimal number that reads back as exactly this double, which
 * is finite; whole numbers in full (100, not 1e+02). */
const char *rd_number_exact (double number, char text[RD_NUMBER_NBYTES]);

/* Writes two hexadecimal digits in lower case for each of n bytes, and a
 * NUL. */
void rd_hex_text (const unsigned char *bytes, size_t n, char *text);

/* Returns the value of a hexadecimal digit in either case, or -1. */
int rd_hex_value (char c);

/* Reads digits and steps past them; false when there are none or too many. */
bool rd_read_digits (const char **text, uint64_t *value);

/* All of a text is parsed or it is rejected: digits only, no overflow. */
bool rd_parse_u64 (const char *text, uint64_t *value);

/* A size: digits, then nothing, or K, M, G, T (powers of 1024), these also
 * followed by "iB"; or KB, MB, GB, TB (powers of 1000). */
bool rd_parse_size (const char *text, uint64_t *nbytes);

/* A time in milliseconds: digits, then "ms", "s" or "min". */
bool rd_parse_ms (const char *text, uint64_t *ms);

/* The Levenshtein distance of two texts, in half steps: 2 for an insertion,
 * removal or replacement of a byte, 1 for a change of case.  Texts are
 * compared up to 255 bytes. */
unsigned rd_edit_distance (const char *a, const char *b);

#endif /* RD_BASE_TEXT_H */
