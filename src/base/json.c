/* SPDX-License-Identifier: MIT */
/* Parsing JSON, and getting members of a type. */
#include <config.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/text.h"

#define MAX_DEPTH 64

/* Room for a value in a message, where it is cut short: it may be a
 * megabyte. */
#define BRIEF_NBYTES 48

/*------------------------------------------------------------------------
 * Parsing
 *
 * json-c would accept three things silently: integers beyond 64 bits and
 * "-0" (which lose their value), NUL bytes (which end the text for it), and
 * member names with a NUL character (which end there).  So the text is
 * scanned while it is fed.
 *----------------------------------------------------------------------*/

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

/* Hands bytes to json-c; `at' is their offset in the text. */
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

/* True if an integer would lose its value; it gets a fraction then. */
static bool
needs_double (const char *number, size_t n)
{
  bool is_negative = number[0] == '-';
  const char *digits = number + is_negative;

  n -= is_negative;
  for (size_t i = 0; i < n; i++)
    if (digits[i] < '0' || digits[i] > '9')
      return false;
  const char *most = is_negative ? "9223372036854775808"
                                 : "18446744073709551615";
  size_t nmost = strlen (most);
  return n > nmost || (n == nmost && memcmp (digits, most, n) > 0)
         || (is_negative && n == 1 && digits[0] == '0');
}

/* Finds the end of the string that begins with a quote at `at'. */
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

static enum radio_status
scan (struct parse *parse)
{
  for (size_t at = 0; at < parse->nbytes;) {
    const char *start = parse->text + at;
    if (*start == '\0')
      return fail_at (parse, at, "a NUL byte");
    if (*start == '"')
      RD_TRY (scan_string (parse, at, &at));
    else if (*start == '-' || (*start >= '0' && *start <= '9')) {
      size_t n = 0;
      while (at + n < parse->nbytes && start[n] != '\0'
             && strchr ("0123456789+-.eE", start[n]))
        n++;
      at += n;
      if (needs_double (start, n)) {
        RD_TRY (feed_up_to (parse, at));
        RD_TRY (feed (parse, ".0", 2, at));
      }
    } else
      at++;
  }
  return feed_up_to (parse, parse->nbytes);
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
  /* Numbers, null, true and false end only with the text. */
  if (status == RADIO_OK
      && (nbytes == 0
          || json_tokener_get_error (tokener) != json_tokener_success))
    status = feed (&parse, "", 1, nbytes);
  if (status != RADIO_OK) {
    json_object_put (parse.value);
    return status;
  }
  *value = parse.value;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Members
 *----------------------------------------------------------------------*/

/* Describes a value: scalars as they are, the rest by kind.  A long string
 * ends in "..." at a whole character. */
static const char *
brief (struct json_object *value, char text[BRIEF_NBYTES])
{
  const char *string;
  size_t most = BRIEF_NBYTES - sizeof "\"...\"";
  switch (json_object_get_type (value)) {
  case json_type_null:
    return "null";
  case json_type_object:
    return "an object";
  case json_type_array:
    return "a list";
  case json_type_boolean:
    return json_object_get_boolean (value) ? "true" : "false";
  case json_type_string:
    string = json_object_get_string (value);
    if (strlen (string) > most)
      snprintf (text, BRIEF_NBYTES, "\"%.*s...\"",
                (int) rd_utf8_cut (string, most), string);
    else
      snprintf (text, BRIEF_NBYTES, "\"%s\"", string);
    return text;
  default:
    snprintf (text, BRIEF_NBYTES, "%s", json_object_get_string (value));
    return text;
  }
}

struct json_object *
rd_json_member (struct json_object *in, const char *member)
{
  struct json_object *value = NULL;

  if (!json_object_object_get_ex (in, member, &value))
    return NULL;
  return value;
}

enum radio_status
rd_json_not (struct json_object *value, const char *what, const char *wanted,
             const char *where)
{
  char text[BRIEF_NBYTES];

  return rd_fail (RADIO_ERROR_FORMAT, "%s: %s is %s, not %s", where, what,
                  brief (value, text), wanted);
}

/* Gets a member of a type, which null is not. */
static enum radio_status
get_typed (struct json_object *in, const char *member, const char *where,
           enum json_type type, const char *wanted,
           struct json_object **value)
{
  struct json_object *found = NULL;

  if (!json_object_object_get_ex (in, member, &found))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s is missing", where, member);
  if (!json_object_is_type (found, type))
    return rd_json_not (found, member, wanted, where);
  *value = found;
  return RADIO_OK;
}

enum radio_status
rd_json_object (struct json_object *in, const char *member,
                const char *where, struct json_object **value)
{
  return get_typed (in, member, where, json_type_object, "an object", value);
}

enum radio_status
rd_json_array (struct json_object *in, const char *member, const char *where,
               struct json_object **value)
{
  return get_typed (in, member, where, json_type_array, "a list", value);
}

enum radio_status
rd_json_text (struct json_object *value, const char *what, const char *where,
              const char **text)
{
  if (!json_object_is_type (value, json_type_string))
    return rd_json_not (value, what, "a string", where);
  const char *found = json_object_get_string (value);
  if (strlen (found) != (size_t) json_object_get_string_len (value))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s has a NUL character in it",
                    where, what);
  *text = found;
  return RADIO_OK;
}

enum radio_status
rd_json_string (struct json_object *in, const char *member,
                const char *where, const char **value)
{
  struct json_object *found;

  RD_TRY (get_typed (in, member, where, json_type_string, "a string",
                     &found));
  return rd_json_text (found, member, where, value);
}

enum radio_status
rd_json_int (struct json_object *in, const char *member, const char *where,
             int64_t low, int64_t high, int64_t *value)
{
  struct json_object *found;

  RD_TRY (get_typed (in, member, where, json_type_int, "a whole number",
                     &found));
  int64_t number = json_object_get_int64 (found);
  /* json-c keeps an integer as signed or unsigned, whichever holds it, and
   * returns the nearest number for the other one. */
  if (json_object_get_uint64 (found) > INT64_MAX || number < low
      || number > high)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: %s is %s, not within %" PRId64 " to %" PRId64,
                    where, member, json_object_get_string (found), low,
                    high);
  *value = number;
  return RADIO_OK;
}

enum radio_status
rd_json_bool (struct json_object *in, const char *member, const char *where,
              bool *value)
{
  struct json_object *found;

  RD_TRY (get_typed (in, member, where, json_type_boolean, "true or false",
                     &found));
  *value = json_object_get_boolean (found);
  return RADIO_OK;
}

enum radio_status
rd_json_u64 (struct json_object *value, const char *what, const char *where,
             uint64_t *result)
{
  if (!json_object_is_type (value, json_type_int))
    return rd_json_not (value, what, "a whole number", where);
  if (json_object_get_int64 (value) < 0)
    return rd_json_not (value, what, "a number of 0 or more", where);
  *result = json_object_get_uint64 (value);
  return RADIO_OK;
}

enum radio_status
rd_json_shape (struct json_object *list, const char *what, const char *where,
               uint64_t low, size_t *rank, uint64_t *shape)
{
  uint64_t sizes[RADIO_MAX_RANK];

  if (!json_object_is_type (list, json_type_array))
    return rd_json_not (list, what, "a list", where);
  size_t n = json_object_array_length (list);
  if (n == 0 || n > RADIO_MAX_RANK)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: %s has %zu entries: arrays of rank 1 to %d are"
                    " supported", where, what, n, RADIO_MAX_RANK);
  for (size_t i = 0; i < n; i++) {
    char entry[64];
    snprintf (entry, sizeof entry, "%.40s[%zu]", what, i);
    RD_TRY (rd_json_u64 (json_object_array_get_idx (list, i), entry, where,
                         &sizes[i]));
    if (sizes[i] < low || sizes[i] > INT64_MAX)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: %s is %" PRIu64 ", not within %" PRIu64 " to %"
                      PRId64, where, entry, sizes[i], low, INT64_MAX);
  }
  memcpy (shape, sizes, n * sizeof sizes[0]);
  *rank = n;
  return RADIO_OK;
}

struct json_object *
rd_json_new_double (double value)
{
  char text[RD_NUMBER_NBYTES + 2];

  rd_number_exact (value, text);
  /* Readers shall not take it for an integer. */
  if (strpbrk (text, ".e") == NULL)
    memcpy (text + strlen (text), ".0", sizeof ".0");
  return json_object_new_double_s (value, text);
}
