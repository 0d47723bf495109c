/* SPDX-License-Identifier: MIT */
/* JSON for programs that read the command's output. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json.h"
#include "tools/text.h"

void
rd_json_set (struct json_object *object, const char *key,
             struct json_object *value)
{
  json_object_object_add (object, key, value);
}

struct json_object *
rd_json_new_text (const char *text)
{
  RD_FREE char *clean = malloc (3 * strlen (text) + 1);
  if (clean == NULL)
    return NULL;
  rd_utf8_repair (text, clean);
  return json_object_new_string (clean);
}

/* JSON has no number for it. */
static struct json_object *
new_infinity (bool is_negative)
{
  return json_object_new_string (is_negative ? "-Infinity" : "Infinity");
}

struct json_object *
rd_json_new_cell (enum radio_column_type type, const char *text)
{
  if (text == NULL)
    return NULL;
  if (type == RADIO_COLUMN_BOOL)
    return json_object_new_boolean (strcmp (text, "true") == 0);
  if (type == RADIO_COLUMN_INTEGER)
    return *text == '-' ? json_object_new_int64 (strtoll (text, NULL, 10))
                        : json_object_new_uint64 (strtoull (text, NULL, 10));
  if (type == RADIO_COLUMN_FLOAT && strpbrk (text, "0123456789"))
    return json_object_new_double_s (0, text);
  if (type == RADIO_COLUMN_FLOAT && strcmp (text, "nan") != 0)
    return new_infinity (*text == '-');
  return rd_json_new_text (text);
}

struct json_object *
rd_json_double_or_null (double number)
{
  char text[RD_TEXT_NBYTES];
  if (isnan (number))
    return NULL;
  if (isinf (number))
    return new_infinity (number < 0);
  return json_object_new_double_s (number, rd_number_exact (number, text));
}

void
rd_json_set_text (struct json_object *object, const char *key,
                  const char *text)
{
  rd_json_set (object, key, rd_json_new_text (text));
}

void
rd_json_set_u64 (struct json_object *object, const char *key,
                 uint64_t number)
{
  rd_json_set (object, key, json_object_new_uint64 (number));
}

void
rd_json_set_double (struct json_object *object, const char *key,
                    double number)
{
  rd_json_set (object, key, rd_json_double_or_null (number));
}

void
rd_json_set_bool (struct json_object *object, const char *key, bool value)
{
  rd_json_set (object, key, json_object_new_boolean (value));
}

struct json_object *
rd_json_u64_list (const uint64_t *numbers, size_t n)
{
  struct json_object *list = json_object_new_array ();
  for (size_t i = 0; i < n; i++)
    json_object_array_add (list, json_object_new_uint64 (numbers[i]));
  return list;
}

struct json_object *
rd_json_u64_reversed (const uint64_t *numbers, size_t n)
{
  struct json_object *list = json_object_new_array ();
  while (n-- > 0)
    json_object_array_add (list, json_object_new_uint64 (numbers[n]));
  return list;
}

struct json_object *
rd_json_double_list (const double *numbers, size_t n)
{
  struct json_object *list = json_object_new_array ();
  for (size_t i = 0; i < n; i++)
    json_object_array_add (list, rd_json_double_or_null (numbers[i]));
  return list;
}

static const char *
one_line (struct json_object *value)
{
  return json_object_to_json_string_ext (value, JSON_C_TO_STRING_SPACED
                                         | JSON_C_TO_STRING_NOSLASHESCAPE);
}

void
rd_json_print (struct json_object *object)
{
  if (json_object_is_type (object, json_type_array)) {
    size_t n = json_object_array_length (object);
    puts (n > 0 ? "[" : "[]");
    for (size_t i = 0; i < n; i++)
      printf ("  %s%s\n", one_line (json_object_array_get_idx (object, i)),
              i + 1 < n ? "," : "\n]");
  } else {
    const char *before = "{\n";
    json_object_object_foreach (object, key, value) {
      struct json_object *quoted = json_object_new_string (key);
      printf ("%s  %s: ", before, one_line (quoted));
      fputs (one_line (value), stdout);
      json_object_put (quoted);
      before = ",\n";
    }
    puts ("\n}");
  }
  json_object_put (object);
}

void
rd_json_items_print (struct rd_json_items *items, struct json_object *object)
{
  if (!items->is_list) {
    rd_json_print (object);
    return;
  }
  printf ("%s  %s", items->n++ ? ",\n" : "[\n", one_line (object));
  json_object_put (object);
}

void
rd_json_items_end (const struct rd_json_items *items)
{
  if (items->is_list)
    puts (items->n ? "\n]" : "[]");
}
