/* SPDX-License-Identifier: MIT */
/* Parsing.  json-c does it, but three things would pass it in silence, so
 * that the text is looked at while it is fed: integers beyond 64 bits and
 * "-0" (which lose their value), NUL bytes (which end the text for it), and
 * member names with a NUL character (which end there). */
#include <config.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"

#define MAX_DEPTH 64

/* json-c itself does not take NULL. */
static inline void
free_tokener (struct json_tokener *tokener)
{
  if (tokener)
    json_tokener_free (tokener);
}

RD_DEFINE_CLEANUP (tokener, struct json_tokener, free_tokener);

struct parse {
  struct json_tokener *tokener;
  const char *text;
  size_t nbytes;
  size_t fed;                 /* bytes of the text that json-c has */
  const char *where;
  struct json_object *value;
};

static enum radio_status
fail_at (const struct parse *parse, size_t at, const char *why)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: invalid JSON at byte %zu: %s",
                  parse->where, at, why);
}

/* Hand bytes to json-c; `at' is where they stand in the text. */
static enum radio_status
feed (struct parse *parse, const char *bytes, size_t nbytes, size_t at)
{
  if (parse->value)
    return RADIO_OK;
  parse->value = json_tokener_parse_ex (parse->tokener, bytes, (int) nbytes);
  enum json_tokener_error error = json_tokener_get_error (parse->tokener);
  if (error == json_tokener_success || error == json_tokener_continue)
    return RADIO_OK;
  return fail_at (parse, at + json_tokener_get_parse_end (parse->tokener),
                  json_tokener_error_desc (error));
}

static enum radio_status
feed_up_to (struct parse *parse, size_t end)
{
  size_t from = parse->fed;

  parse->fed = end;
  if (end == from)
    return RADIO_OK;
  return feed (parse, parse->text + from, end - from, from);
}

/* Whether digits stand for more than the largest number of their sign. */
static bool
is_beyond (const char *digits, size_t n, bool is_negative)
{
  const char *most = is_negative ? "9223372036854775808"
                                 : "18446744073709551615";
  size_t nmost = strlen (most);

  return n > nmost || (n == nmost && memcmp (digits, most, n) > 0);
}

/* Whether an integer would lose its value; it gets a fraction then. */
static bool
needs_double (const char *number, size_t n)
{
  bool is_negative = number[0] == '-';
  const char *digits = number + is_negative;

  n -= is_negative;
  for (size_t i = 0; i < n; i++)
    if (digits[i] < '0' || digits[i] > '9')
      return false;
  return is_beyond (digits, n, is_negative)
         || (is_negative && n == 1 && digits[0] == '0');
}

/* The end of a string that begins with a quote at `at'. */
static enum radio_status
scan_string (const struct parse *parse, size_t at, size_t *end)
{
  const char *text = parse->text;
  bool has_nul = false;

  for (at++; at < parse->nbytes && text[at] != '"'; at++)
    if (text[at] == '\\') {
      if (parse->nbytes - at > 5 && memcmp (text + at, "\\u0000", 6) == 0)
        has_nul = true;
      at++;
    }
  at = at < parse->nbytes ? at + 1 : parse->nbytes;
  *end = at;
  while (at < parse->nbytes && strchr (" \t\r\n", text[at]))
    at++;
  if (has_nul && at < parse->nbytes && text[at] == ':')
    return fail_at (parse, at, "a member's name has a NUL character in it");
  return RADIO_OK;
}

/* A number: up to what cannot belong to one. */
static enum radio_status
scan_number (struct parse *parse, size_t at, size_t *end)
{
  size_t n = 0;

  while (at + n < parse->nbytes && parse->text[at + n] != '\0'
         && strchr ("0123456789+-.eE", parse->text[at + n]))
    n++;
  *end = at + n;
  if (!needs_double (parse->text + at, n))
    return RADIO_OK;
  RD_TRY (feed_up_to (parse, *end));
  return feed (parse, ".0", 2, *end);
}

static enum radio_status
scan (struct parse *parse)
{
  for (size_t at = 0; at < parse->nbytes;) {
    char c = parse->text[at];
    if (c == '\0')
      return fail_at (parse, at, "a NUL byte");
    if (c == '"')
      RD_TRY (scan_string (parse, at, &at));
    else if (c == '-' || (c >= '0' && c <= '9'))
      RD_TRY (scan_number (parse, at, &at));
    else
      at++;
  }
  return feed_up_to (parse, parse->nbytes);
}

/* Tell json-c that no more comes, for values that end by themselves. */
static enum radio_status
finish (struct parse *parse)
{
  enum json_tokener_error error = json_tokener_get_error (parse->tokener);

  if (parse->nbytes > 0 && error == json_tokener_success)
    return RADIO_OK;
  return feed (parse, "", 1, parse->nbytes);
}

enum radio_status
rd_json_parse (const char *text, size_t nbytes, const char *where,
               struct json_object **value)
{
  RD_CLEANUP (rd_cleanup_tokener) struct json_tokener *tokener
    = json_tokener_new_ex (MAX_DEPTH);
  struct parse parse = { .tokener = tokener, .text = text, .nbytes = nbytes,
                         .where = where };

  if (tokener == NULL)
    return rd_fail_memory (sizeof *tokener);
  if (nbytes > INT_MAX)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: %zu bytes of JSON are too many",
                    where, nbytes);
  json_tokener_set_flags (tokener, JSON_TOKENER_STRICT
                                   | JSON_TOKENER_VALIDATE_UTF8);
  enum radio_status status = scan (&parse);
  if (status == RADIO_OK)
    status = finish (&parse);
  if (status != RADIO_OK) {
    json_object_put (parse.value);
    return status;
  }
  *value = parse.value;
  return RADIO_OK;
}
