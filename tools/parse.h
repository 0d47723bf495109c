/* SPDX-License-Identifier: MIT */
/* Values of options, and of variables that hold settings.  All of a text is
 * parsed or it is rejected. */
#ifndef RD_TOOLS_PARSE_H
#define RD_TOOLS_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Digits only, no overflow. */
bool rd_parse_u64 (const char *text, uint64_t *value);

/* A finite decimal number. */
bool rd_parse_double (const char *text, double *value);

/* A size: digits, then nothing, or K, M, G, T (powers of 1024), these also
 * followed by "iB"; or KB, MB, GB, TB (powers of 1000). */
bool rd_parse_size (const char *text, uint64_t *nbytes);

/* A time in milliseconds: digits, then "ms", "s" or "min". */
bool rd_parse_ms (const char *text, uint64_t *ms);

/* "LO,HI": two numbers, LO < HI. */
bool rd_parse_range (const char *text, double *low, double *high);

/* "X,Y,Z" or, with one_for_all, also "N" for three times the same. */
bool rd_parse_triple (const char *text, bool one_for_all, uint64_t value[3]);

/* The edit distance of two words (of at most 63 bytes; else 64). */
size_t rd_text_distance (const char *a, const char *b);

/* Settings, "NAME,NAME=VALUE,...": each name of a table sets a field of a
 * struct. */
enum rd_setting_kind {
  RD_SETTING_FLAG,            /* no value; bool */
  RD_SETTING_NUMBER,          /* a number above 0; unsigned */
  RD_SETTING_SIZE,            /* bytes, as 16M, above 0; uint64_t */
  RD_SETTING_TIME,            /* milliseconds, as 5s, above 0; uint64_t */
  RD_SETTING_ADDRESSING,      /* path, virtual; enum radio_s3_addressing */
};

struct rd_setting {
  const char *name;           /* NULL ends the table */
  enum rd_setting_kind kind;
  size_t offset;              /* of the field */
};

/* Sets the fields that a text names; NULL and "" name none, and the last
 * value of a name counts.  Errors call the text subject; false after one:
 * then some fields may be set. */
bool rd_settings_parse (const char *text, const char *subject,
                        const struct rd_setting *settings, void *fields);

/* The settings of RADIO_S3: fields of struct radio_s3_options. */
extern const struct rd_setting rd_s3_settings[];

#endif /* RD_TOOLS_PARSE_H */
