/* SPDX-License-Identifier: MIT */
/* Capturing what exporters write. */
#include <config.h>

#include "profiler/export/export.h"
#include "tests/profiler/trace/capture.h"

static enum radio_status
take (const void *data, size_t nbytes, void *user_data)
{
  return rd_buffer_append (user_data, data, nbytes);
}

void
capture_bytes (const struct radio_profile *profile,
               enum radio_profile_format format, bool arguments,
               struct rd_buffer *bytes)
{
  struct radio_profile_write_options options = {
    .format = format, .arguments = arguments
  };
  bytes->nbytes = 0;
  assert_ok (radio_profile_write_to (profile, &options, take, bytes));
  assert_ok (rd_buffer_append (bytes, "", 1));
  bytes->nbytes--;
}

struct json_object *
capture_json (const struct radio_profile *profile,
              enum radio_profile_format format, bool arguments)
{
  RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
  capture_bytes (profile, format, arguments, &bytes);
  struct json_tokener *tokener = json_tokener_new ();
  json_tokener_set_flags (tokener, JSON_TOKENER_STRICT
                                   | JSON_TOKENER_VALIDATE_UTF8);
  struct json_object *parsed = json_tokener_parse_ex (
    tokener, (const char *) bytes.data, (int) bytes.nbytes);
  if (parsed == NULL)
    fail_msg ("%s at %zu of: %s", json_tokener_error_desc (
                json_tokener_get_error (tokener)),
              json_tokener_get_parse_end (tokener),
              (const char *) bytes.data);
  json_tokener_free (tokener);
  return parsed;
}

struct json_object *
json_at (struct json_object *object, const char *key)
{
  struct json_object *member = NULL;
  if (!json_object_object_get_ex (object, key, &member))
    fail_msg ("no '%s' in %s", key, json_object_to_json_string (object));
  return member;
}

const char *
json_text (struct json_object *object, const char *key)
{
  struct json_object *member = json_at (object, key);
  assert_true (json_object_is_type (member, json_type_string));
  return json_object_get_string (member);
}

uint64_t
json_u64 (struct json_object *object, const char *key)
{
  struct json_object *member = json_at (object, key);
  assert_true (json_object_is_type (member, json_type_int));
  return json_object_get_uint64 (member);
}

uint64_t
json_ps (struct json_object *object, const char *key)
{
  const char *text = json_object_to_json_string (json_at (object, key));
  char *point, *end;
  uint64_t us = strtoull (text, &point, 10);
  assert_int_equal (*point, '.');
  uint64_t fraction = strtoull (point + 1, &end, 10);
  assert_int_equal (*end, '\0');
  if (end - point == 7)
    return us * 1000000 + fraction;
  assert_int_equal (end - point, 4);
  return (us * 1000 + fraction) * 1000;
}

uint64_t
json_ns (struct json_object *object, const char *key)
{
  return (json_ps (object, key) + 500) / 1000;
}

struct json_object *
chrome_events (struct json_object *trace, const char *phase)
{
  struct json_object *all = json_at (trace, "traceEvents");
  struct json_object *some = json_object_new_array ();
  for (size_t i = 0; i < json_object_array_length (all); i++) {
    struct json_object *event = json_object_array_get_idx (all, i);
    if (strcmp (json_text (event, "ph"), phase) == 0)
      json_object_array_add (some, json_object_get (event));
  }
  return some;
}

struct json_object *
chrome_event (struct json_object *trace, const char *phase,
              const char *name, size_t n)
{
  struct json_object *all = json_at (trace, "traceEvents");
  for (size_t i = 0; i < json_object_array_length (all); i++) {
    struct json_object *event = json_object_array_get_idx (all, i);
    if (strcmp (json_text (event, "ph"), phase) == 0
        && strcmp (json_text (event, "name"), name) == 0 && n-- == 0)
      return event;
  }
  fail_msg ("no %s event '%s'", phase, name);
  return NULL;
}
