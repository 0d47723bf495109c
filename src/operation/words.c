/* SPDX-License-Identifier: MIT */
/* The words of a pipeline's text: blanks and '|' separate them, and an error
 * shows the byte and the word. */
#include <config.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/operation/words.h"

/* Positions and widths are less than this, so that sums of some fit. */
#define MAX_POSITION (INT64_C (1) << 62)

/* Messages show so much of a word. */
#define SHOWN_NBYTES 40

enum radio_status
rd_fail_word (const struct rd_parser *parser, struct rd_word word,
              const char *format, ...)
{
  char reason[512];
  va_list list;
  if (parser->lacks_memory)
    return rd_fail_memory (0);
  va_start (list, format);
  vsnprintf (reason, sizeof reason, format, list);
  va_end (list);
  size_t offset = (size_t) (word.at - parser->text);
  if (word.nbytes == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "pipeline, byte %zu: %s", offset,
                    reason);
  int shown = word.nbytes < SHOWN_NBYTES ? (int) word.nbytes : SHOWN_NBYTES;
  return rd_fail (RADIO_ERROR_ARGUMENT, "pipeline, byte %zu, '%.*s': %s",
                  offset, shown, word.at, reason);
}

static bool
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct rd_word
rd_peek_word (const struct rd_parser *parser)
{
  struct rd_word word = { parser->at, 0 };
  while (is_blank (*word.at))
    word.at++;
  while (word.at[word.nbytes] && word.at[word.nbytes] != '|'
         && !is_blank (word.at[word.nbytes]))
    word.nbytes++;
  return word;
}

struct rd_word
rd_take_word (struct rd_parser *parser)
{
  struct rd_word word = rd_peek_word (parser);
  parser->at = word.at + word.nbytes;
  return word;
}

bool
rd_word_is (struct rd_word word, const char *text)
{
  return word.nbytes == strlen (text)
         && memcmp (word.at, text, word.nbytes) == 0;
}

bool
rd_take_word_if (struct rd_parser *parser, const char *text)
{
  if (!rd_word_is (rd_peek_word (parser), text))
    return false;
  rd_take_word (parser);
  return true;
}

struct rd_word
rd_split_word (struct rd_word *rest, char separator)
{
  const char *end = rest->nbytes ? memchr (rest->at, separator, rest->nbytes)
                                 : NULL;
  struct rd_word part = { rest->at, end ? (size_t) (end - rest->at)
                                        : rest->nbytes };
  size_t skipped = part.nbytes + (end != NULL);
  rest->at += skipped;
  rest->nbytes -= skipped;
  return part;
}

size_t
rd_word_count (struct rd_word word, char c)
{
  size_t n = 0;
  for (size_t i = 0; i < word.nbytes; i++)
    n += word.at[i] == c;
  return n;
}

static size_t
count_digits (const char *at, const char *end)
{
  size_t n = 0;
  while (at + n < end && at[n] >= '0' && at[n] <= '9')
    n++;
  return n;
}

/* The syntax is checked here; JSON's parser, which
 * the locale does not change, makes the number. */
bool
rd_word_number (struct rd_parser *parser, struct rd_word word, double *value)
{
  char text[80];
  const char *at = word.at, *end = word.at + word.nbytes;
  if (word.nbytes + 3 > sizeof text)
    return false;
  bool is_negative = at < end && *at == '-';
  at += is_negative;
  size_t nwhole = count_digits (at, end), nzeros = 0;
  while (nzeros + 1 < nwhole && at[nzeros] == '0')
    nzeros++;
  const char *first = at + nzeros;
  at += nwhole;
  bool has_mark = false;
  if (nwhole == 0)
    return false;
  if (at < end && *at == '.') {
    size_t nfraction = count_digits (at + 1, end);
    has_mark = true;
    at += 1 + nfraction;
    if (nfraction == 0)
      return false;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at += 1 + (at + 1 < end && (at[1] == '-' || at[1] == '+'));
    size_t nexponent = count_digits (at, end);
    has_mark = true;
    at += nexponent;
    if (nexponent == 0)
      return false;
  }
  if (at != end)
    return false;
  int n = snprintf (text, sizeof text, "%s%.*s%s", is_negative ? "-" : "",
                    (int) (end - first), first, has_mark ? "" : ".0");
  struct json_object *json RD_CLEANUP (rd_cleanup_json) = NULL;
  enum radio_status status = rd_json_parse (text, (size_t) n, "number", &json);
  parser->lacks_memory = status == RADIO_ERROR_MEMORY;
  if (status != RADIO_OK)
    return false;
  *value = json_object_get_double (json);
  /* -0 reads back as 0. */
  if (*value == 0)
    *value = 0;
  return isfinite (*value);
}

bool
rd_word_position (struct rd_word word, bool may_be_negative, int64_t *value)
{
  const char *at = word.at, *end = word.at + word.nbytes;
  bool is_negative = may_be_negative && at < end && *at == '-';
  at += is_negative;
  int64_t result = 0;
  if (at == end || count_digits (at, end) != (size_t) (end - at))
    return false;
  for (; at < end; at++) {
    result = result * 10 + (*at - '0');
    if (result >= MAX_POSITION / 10)
      return false;
  }
  *value = is_negative ? -result : result;
  return true;
}

enum radio_status
rd_take_pair (struct rd_parser *parser, const char *what, double *a, double *b)
{
  struct rd_word rest = rd_take_word (parser), whole = rest;
  if (whole.nbytes == 0 || rd_word_count (whole, ',') != 1)
    return rd_fail_word (parser, whole, "expected %s, as 0,1", what);
  for (int i = 0; i < 2; i++) {
    struct rd_word part = rd_split_word (&rest, ',');
    if (!rd_word_number (parser, part, i == 0 ? a : b))
      return rd_fail_word (parser, part.nbytes ? part : whole, "not a number "
                           "such as -1, 0.5 or 1e3; expected %s", what);
  }
  return RADIO_OK;
}

enum radio_status
rd_take_triple (struct rd_parser *parser, struct rd_step *step,
                const char *what, bool one_for_all,
                bool (*parse) (struct rd_parser *parser, struct rd_word part,
                               struct rd_step *step, int axis))
{
  struct rd_word rest = rd_take_word (parser), whole = rest;
  bool is_one = one_for_all && rd_word_count (whole, ',') == 0;
  if (whole.nbytes == 0 || (!is_one && rd_word_count (whole, ',') != 2))
    return rd_fail_word (parser, whole, "expected %s", what);
  for (int i = 0; i < 3; i++) {
    struct rd_word part = is_one ? whole : rd_split_word (&rest, ',');
    if (!parse (parser, part, step, i))
      return rd_fail_word (parser, part.nbytes ? part : whole, "expected %s",
                           what);
  }
  return RADIO_OK;
}

enum radio_status
rd_word_name (const struct rd_parser *parser, struct rd_word word, char **name)
{
  /* Pipelines are printed and stored, and a query may have a signature. */
  if (memchr (word.at, '?', word.nbytes))
    return rd_fail_word (parser, (struct rd_word) { word.at, 0 }, "a URL with "
                         "a query, which may be secret, cannot be part of a "
                         "pipeline; download the file");
  char *copy = rd_strndup (word.at, word.nbytes);
  if (!copy)
    return rd_fail_memory (word.nbytes + 1);
  *name = copy;
  return RADIO_OK;
}
