/* SPDX-License-Identifier: MIT */
/* Parsing JSON, and getting members of a type. */
#include <config.h>

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
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
 * By functions of json-c whose results can be checked.  Its own parser drops
 * members, or crashes, where an allocation fails; and it accepts silently
 * integers beyond 64 bits and "-0" (which lose their value), NUL bytes (which
 * end the text for it), and names with a NUL character (which end there).
 *----------------------------------------------------------------------*/

/* json-c itself does not take NULL. */
static inline void
free_tokener (struct json_tokener *tokener)
{
  if (tokener)
    json_tokener_free (tokener);
}

struct parse {
  const char *text;
  size_t nbytes;
  size_t at;
  const char *where;
  unsigned depth;
  struct rd_buffer string;    /* the last one, with a NUL after it */
  struct json_tokener *tokener;       /* for numbers with a fraction */
};

static void
free_parse (struct parse *parse)
{
  rd_buffer_free (&parse->string);
  free_tokener (parse->tokener);
}

static enum radio_status
fail_at (const struct parse *parse, size_t at, const char *why)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: invalid JSON at byte %zu: %s",
                  parse->where, at, why);
}

static bool
is_end (const struct parse *parse)
{
  return parse->at == parse->nbytes;
}

/* Called at a byte that is not one of those that are valid here. */
static enum radio_status
fail_here (const struct parse *parse, const char *wanted)
{
  return fail_at (parse, parse->at,
                  is_end (parse) ? "unexpected end of data"
                  : parse->text[parse->at] == '\0' ? "a NUL byte" : wanted);
}

static void
skip_blanks (struct parse *parse)
{
  while (!is_end (parse) && parse->text[parse->at] != '\0'
         && strchr (" \t\r\n", parse->text[parse->at]))
    parse->at++;
}

/* Steps past a character, if it comes next. */
static bool
skip (struct parse *parse, char c)
{
  if (is_end (parse) || parse->text[parse->at] != c)
    return false;
  parse->at++;
  return true;
}

/* Reads the four digits of "\u00e4". */
static enum radio_status
parse_hex (struct parse *parse, uint32_t *unit)
{
  *unit = 0;
  for (int i = 0; i < 4; i++, parse->at++) {
    int digit = is_end (parse) ? -1
                               : rd_hex_value (parse->text[parse->at]);
    if (digit < 0)
      return fail_here (parse, "not four hexadecimal digits");
    *unit = *unit << 4 | (uint32_t) digit;
  }
  return RADIO_OK;
}

/* Half of a surrogate pair is U+FFFD. */
static enum radio_status
append_unit (struct parse *parse)
{
  uint32_t c, low;
  char bytes[4];
  size_t n = 0;
  RD_TRY (parse_hex (parse, &c));
  if (c >= 0xd800 && c < 0xdc00 && parse->nbytes - parse->at > 1
      && memcmp (parse->text + parse->at, "\\u", 2) == 0) {
    size_t back = parse->at;
    parse->at += 2;
    RD_TRY (parse_hex (parse, &low));
    if (low >= 0xdc00 && low < 0xe000)
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    else
      parse->at = back;
  }
  if (c >= 0xd800 && c < 0xe000)
    c = 0xfffd;
  if (c < 0x80)
    bytes[n++] = (char) c;
  else if (c < 0x800)
    bytes[n++] = (char) (0xc0 | c >> 6);
  else if (c < 0x10000)
    bytes[n++] = (char) (0xe0 | c >> 12);
  else
    bytes[n++] = (char) (0xf0 | c >> 18);
  if (c >= 0x10000)
    bytes[n++] = (char) (0x80 | (c >> 12 & 0x3f));
  if (c >= 0x800)
    bytes[n++] = (char) (0x80 | (c >> 6 & 0x3f));
  if (c >= 0x80)
    bytes[n++] = (char) (0x80 | (c & 0x3f));
  return rd_buffer_append (&parse->string, bytes, n);
}

/* Returns the bytes of the character here, 0 when it is invalid. */
static size_t
character_nbytes (const struct parse *parse)
{
  char bytes[5] = "";
  memcpy (bytes, parse->text + parse->at,
          rd_min_u64 (4, parse->nbytes - parse->at));
  return rd_utf8_nbytes (bytes);
}

/* After its quote: the text is left in parse->string. */
static enum radio_status
parse_string (struct parse *parse)
{
  static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  parse->string.nbytes = 0;
  while (!skip (parse, '"')) {
    const char *from = parse->text + parse->at;
    size_t start = parse->at;
    while (!is_end (parse) && parse->text[parse->at] != '"'
           && parse->text[parse->at] != '\\') {
      size_t n = parse->text[parse->at] & 0x80 ? character_nbytes (parse) : 1;
      if (n == 0 || parse->text[parse->at] == '\0')
        return fail_here (parse, "not valid utf-8");
      parse->at += n;
    }
    RD_TRY (rd_buffer_append (&parse->string, from, parse->at - start));
    if (skip (parse, '\\')) {
      const char *escape = is_end (parse) || !parse->text[parse->at]
                           ? NULL
                           : strchr (escapes, parse->text[parse->at]);
      if (escape) {
        parse->at++;
        RD_TRY (rd_buffer_append (&parse->string,
                                  &meanings[escape - escapes], 1));
      } else if (skip (parse, 'u'))
        RD_TRY (append_unit (parse));
      else
        return fail_here (parse, "not an escape");
    } else if (is_end (parse))
      return fail_here (parse, "");
  }
  RD_TRY (rd_buffer_append (&parse->string, "", 1));
  parse->string.nbytes--;
  return RADIO_OK;
}

/* Without memory, the message is set. */
static enum radio_status
check_made (const struct json_object *made)
{
  return made ? RADIO_OK : rd_fail_memory (0);
}

/* A number that is no integer of 64 bits, by json-c, which reads it in any
 * locale and keeps its text: this shows that it read all of it. */
static enum radio_status
parse_double (struct parse *parse, const char *number, size_t n,
              bool is_integer, struct json_object **value)
{
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  RD_TRY (rd_buffer_append (&text, number, n));
  RD_TRY (rd_buffer_append (&text, ".0", is_integer ? 3 : 0));
  if (!is_integer)
    RD_TRY (rd_buffer_append (&text, "", 1));
  if (!parse->tokener)
    parse->tokener = json_tokener_new ();
  if (!parse->tokener || text.nbytes > INT_MAX)
    return rd_fail_memory (text.nbytes);
  json_tokener_reset (parse->tokener);
  *value = json_tokener_parse_ex (parse->tokener, (const char *) text.data,
                                  (int) text.nbytes);
  const char *kept = *value ? json_object_to_json_string (*value) : NULL;
  return kept && strcmp (kept, (const char *) text.data) == 0
         ? RADIO_OK : rd_fail_memory (text.nbytes);
}

static size_t
skip_digits (struct parse *parse)
{
  size_t start = parse->at;
  while (!is_end (parse) && parse->text[parse->at] >= '0'
         && parse->text[parse->at] <= '9')
    parse->at++;
  return parse->at - start;
}

static enum radio_status
parse_number (struct parse *parse, struct json_object **value)
{
  const char *number = parse->text + parse->at;
  size_t start = parse->at;
  bool is_negative = skip (parse, '-'), is_integer = true, fits = true;
  const char *digits = parse->text + parse->at;
  size_t n = skip_digits (parse);
  if (n == 0)
    return fail_here (parse, "not a digit");
  if (n > 1 && digits[0] == '0')
    return fail_at (parse, start + is_negative + 1, "a digit after 0");
  if (skip (parse, '.')) {
    is_integer = false;
    if (skip_digits (parse) == 0)
      return fail_here (parse, "not a digit");
  }
  if (skip (parse, 'e') || skip (parse, 'E')) {
    is_integer = false;
    if (!skip (parse, '-'))
      (void) skip (parse, '+');
    if (skip_digits (parse) == 0)
      return fail_here (parse, "not a digit");
  }
  uint64_t sum = 0;
  for (size_t i = 0; is_integer && fits && i < n; i++)
    fits = !rd_mul_overflows (sum, 10, &sum)
           && !rd_add_overflows (sum, (uint64_t) (digits[i] - '0'), &sum);
  fits &= !is_negative || (sum > 0 && sum <= (uint64_t) INT64_MAX + 1);
  if (!is_integer || !fits)
    return parse_double (parse, number, parse->at - start, is_integer,
                         value);
  *value = is_negative ? json_object_new_int64 ((int64_t) (0 - sum))
           : sum <= INT64_MAX ? json_object_new_int64 ((int64_t) sum)
                              : json_object_new_uint64 (sum);
  return check_made (*value);
}

static enum radio_status
parse_word (struct parse *parse, const char *word)
{
  for (; *word; word++)
    if (!skip (parse, *word))
      return fail_here (parse, "not a value");
  return RADIO_OK;
}

static enum radio_status parse_value (struct parse *parse,
                                      struct json_object **value);

static enum radio_status
parse_object (struct parse *parse, struct json_object *object)
{
  skip_blanks (parse);
  if (skip (parse, '}'))
    return RADIO_OK;
  do {
    skip_blanks (parse);
    if (!skip (parse, '"'))
      return fail_here (parse, "not the name of a member");
    RD_TRY (parse_string (parse));
    if (strlen ((const char *) parse->string.data) != parse->string.nbytes)
      return fail_at (parse, parse->at, "a member's name has a NUL character "
                      "in it");
    RD_BUFFER_SCOPE struct rd_buffer name = parse->string;
    parse->string = (struct rd_buffer) { 0 };
    skip_blanks (parse);
    if (!skip (parse, ':'))
      return fail_here (parse, "not ':'");
    struct json_object *value = NULL;
    RD_TRY (parse_value (parse, &value));
    if (json_object_object_add (object, (const char *) name.data, value)
        != 0) {
      json_object_put (value);
      return rd_fail_memory (name.nbytes);
    }
    skip_blanks (parse);
  } while (skip (parse, ','));
  return skip (parse, '}') ? RADIO_OK : fail_here (parse, "not ',' or '}'");
}

static enum radio_status
parse_array (struct parse *parse, struct json_object *array)
{
  skip_blanks (parse);
  if (skip (parse, ']'))
    return RADIO_OK;
  do {
    struct json_object *value = NULL;
    RD_TRY (parse_value (parse, &value));
    if (json_object_array_add (array, value) != 0) {
      json_object_put (value);
      return rd_fail_memory (0);
    }
    skip_blanks (parse);
  } while (skip (parse, ','));
  return skip (parse, ']') ? RADIO_OK : fail_here (parse, "not ',' or ']'");
}

/* *value is NULL for null, and after a failure. */
static enum radio_status
parse_value (struct parse *parse, struct json_object **value)
{
  enum radio_status status;
  *value = NULL;
  skip_blanks (parse);
  if (is_end (parse))
    return fail_here (parse, "");
  const char *rest = parse->text + parse->at;
  bool is_object = *rest == '{';
  switch (*rest) {
  case '{': case '[':
    if (parse->depth == MAX_DEPTH)
      return fail_at (parse, parse->at, "nesting is too deep");
    parse->at++;
    parse->depth++;
    *value = is_object ? json_object_new_object () : json_object_new_array ();
    status = check_made (*value);
    if (status == RADIO_OK)
      status = is_object ? parse_object (parse, *value)
                         : parse_array (parse, *value);
    parse->depth--;
    break;
  case '"':
    parse->at++;
    RD_TRY (parse_string (parse));
    *value = json_object_new_string_len ((const char *) parse->string.data,
                                         (int) parse->string.nbytes);
    status = check_made (*value);
    break;
  case 't': case 'f':
    RD_TRY (parse_word (parse, *rest == 't' ? "true" : "false"));
    *value = json_object_new_boolean (*rest == 't');
    status = check_made (*value);
    break;
  case 'n':
    return parse_word (parse, "null");
  case 'N':
    RD_TRY (parse_word (parse, "NaN"));
    *value = json_object_new_double (NAN);
    status = check_made (*value);
    break;
  case 'I':
    RD_TRY (parse_word (parse, "Infinity"));
    *value = json_object_new_double (INFINITY);
    status = check_made (*value);
    break;
  default:
    if (*rest == '-' && parse->nbytes - parse->at > 1 && rest[1] == 'I') {
      RD_TRY (parse_word (parse, "-Infinity"));
      *value = json_object_new_double (-INFINITY);
      status = check_made (*value);
    } else if (*rest == '-' || (*rest >= '0' && *rest <= '9'))
      status = parse_number (parse, value);
    else
      return fail_here (parse, "not a value");
  }
  if (status != RADIO_OK)
    json_object_put (RD_STEAL (*value));
  return status;
}

enum radio_status
rd_json_parse (const char *text, size_t nbytes, const char *where,
               struct json_object **value)
{
  RD_CLEANUP (free_parse) struct parse parse = {
    .text = text, .nbytes = nbytes, .where = where,
  };
  struct json_object *parsed;
  if (nbytes > INT_MAX)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: %zu bytes of JSON, more than %d",
                    where, nbytes, INT_MAX);
  RD_TRY (parse_value (&parse, &parsed));
  skip_blanks (&parse);
  if (!is_end (&parse)) {
    json_object_put (parsed);
    return fail_here (&parse, "more than one value");
  }
  *value = parsed;
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
                    "%s: %s has %zu entries; only rank 1 to %d is"
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

enum radio_status
rd_json_copy_text (struct json_object *value, char **text)
{
  const char *made = json_object_to_json_string_ext (
    value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
  *text = made ? rd_strdup (made) : NULL;
  return *text ? RADIO_OK : rd_fail_memory (made ? strlen (made) : 0);
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
