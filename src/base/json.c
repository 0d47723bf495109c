/* SPDX-License-Identifier: MIT */
/* The getters: a member that must be there and of a type.  A message says
 * what was found instead, cut short, since a value may be a megabyte. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/text.h"

#define BRIEF_NBYTES 48

/* A string in quotes; a long one ends in "..." at a whole character. */
static const char *
quote (const char *string, char text[BRIEF_NBYTES])
{
  size_t most = BRIEF_NBYTES - sizeof "\"...\"";
  size_t n = strnlen (string, most + 1);
  bool is_cut = n > most;

  if (is_cut)
    n = rd_utf8_cut (string, most);
  snprintf (text, BRIEF_NBYTES, "\"%.*s%s\"", (int) n, string,
            is_cut ? "..." : "");
  return text;
}

/* What a value is, in words: scalars as they are, the rest by kind. */
static const char *
brief (struct json_object *value, char text[BRIEF_NBYTES])
{
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
    return quote (json_object_get_string (value), text);
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

/* A member of a type.  One that is null is there, and is not of it. */
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

/* json-c keeps an integer as signed or unsigned, whichever holds it, and
 * answers a question for the other one with the nearest number. */
static bool
is_beyond_int64 (struct json_object *value)
{
  return json_object_get_uint64 (value) > INT64_MAX;
}

enum radio_status
rd_json_int (struct json_object *in, const char *member, const char *where,
             int64_t low, int64_t high, int64_t *value)
{
  struct json_object *found;

  RD_TRY (get_typed (in, member, where, json_type_int, "a whole number",
                     &found));
  int64_t number = json_object_get_int64 (found);
  if (is_beyond_int64 (found) || number < low || number > high)
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
  /* So that readers see that it is no integer. */
  if (strpbrk (text, ".e") == NULL)
    memcpy (text + strlen (text), ".0", sizeof ".0");
  return json_object_new_double_s (value, text);
}
