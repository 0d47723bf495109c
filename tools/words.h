/* SPDX-License-Identifier: MIT */
/* A line of settings, "WORD,WORD=VALUE,...", as a variable of the
 * environment holds it: each word of a table sets a field of a struct. */
#ifndef RD_WORDS_H
#define RD_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* What follows the word, and the field's type. */
enum rd_word_kind {
  RD_WORD_FLAG,               /* nothing; bool */
  RD_WORD_NUMBER,             /* a number above 0; unsigned */
  RD_WORD_SIZE,               /* bytes, as 16M, above 0; uint64_t */
  RD_WORD_TIME,               /* milliseconds, as 5s, above 0; uint64_t */
  RD_WORD_ADDRESSING,         /* path, virtual; enum radio_s3_addressing */
};

struct rd_word {
  const char *name;           /* NULL ends the table */
  enum rd_word_kind kind;
  size_t offset;              /* of the field */
};

/* Set the fields that a text tells; NULL and "" tell none.  Of a word that
 * comes twice the last counts.  subject is what complaints call the text;
 * false after one: then fields may be set in part. */
bool rd_words_take (const char *text, const char *subject,
                    const struct rd_word *words, void *fields);

/* The words of RADIO_S3: fields of struct radio_s3_options. */
extern const struct rd_word rd_s3_words[];

#endif /* RD_WORDS_H */
