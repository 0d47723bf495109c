/* SPDX-License-Identifier: MIT */
/* The words of a pipeline's text: taken one after the other, split at commas
 * and colons, and made to numbers. */
#ifndef RD_WORDS_H
#define RD_WORDS_H

#include "src/operation/pipeline.h"

/* A word, or a part of one; empty at the end of a step. */
struct rd_word {
  const char *at;
  size_t nbytes;
};

struct rd_parser {
  const char *text;
  const char *at;
  struct rd_step *steps;
  size_t n, capacity;
  bool lacks_memory;          /* a number could not be parsed for that */
};

/* Fails with RADIO_ERROR_ARGUMENT: the word, its byte, and the reason, which
 * says what is expected; with RADIO_ERROR_MEMORY if that was the cause. */
enum radio_status rd_fail_word (const struct rd_parser *parser,
                                struct rd_word word, const char *format, ...)
  RADIO_PRINTF (3, 4);

/* Returns the next word of a step: _take_ moves past it, _take_if_ only if it
 * is this one. */
struct rd_word rd_peek_word (const struct rd_parser *parser);
struct rd_word rd_take_word (struct rd_parser *parser);
bool rd_take_word_if (struct rd_parser *parser, const char *text);

bool rd_word_is (struct rd_word word, const char *text);
size_t rd_word_count (struct rd_word word, char c);

/* Returns the text before the first separator, or all; rest begins after it. */
struct rd_word rd_split_word (struct rd_word *rest, char separator);

/* Copies the name of a volume or collection, for rd_free.  A URL with a query
 * is refused. */
enum radio_status rd_word_name (const struct rd_parser *parser,
                                struct rd_word word, char **name)
  RADIO_USE_RESULT;

/* Parses a finite decimal number; false if it is malformed. */
bool rd_word_number (struct rd_parser *parser, struct rd_word word,
                     double *value);

/* Parses a whole number, below 2^62 in magnitude. */
bool rd_word_position (struct rd_word word, bool may_be_negative,
                       int64_t *value);

/* Takes "A,B"; what names them in messages. */
enum radio_status rd_take_pair (struct rd_parser *parser, const char *what,
                                double *a, double *b) RADIO_USE_RESULT;

/* Takes "X,Y,Z" and calls parse with each part and its axis, 0 to 2; with
 * one_for_all "N" stands for three times N. */
enum radio_status
rd_take_triple (struct rd_parser *parser, struct rd_step *step,
                const char *what, bool one_for_all,
                bool (*parse) (struct rd_parser *parser, struct rd_word part,
                               struct rd_step *step, int axis))
  RADIO_USE_RESULT;

#endif /* RD_WORDS_H */
