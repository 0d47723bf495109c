/* SPDX-License-Identifier: MIT */
/* Building JSON, with one check at the end. */
#include <config.h>

#include "src/base/error.h"
#include "src/base/json-make.h"

/* Adds the value; returns it if that succeeded, since the object owns it
 * then. */
static struct json_object *
add_value (struct rd_json_make *make, struct json_object *object,
           const char *member, struct json_object *value)
{
  if (object && value
      && json_object_object_add (object, member, value) == 0)
    return value;
  json_object_put (value);
  make->failed = true;
  return NULL;
}

void
rd_json_add (struct rd_json_make *make, struct json_object *object,
             const char *member, struct json_object *value)
{
  add_value (make, object, member, value);
}

void
rd_json_append (struct rd_json_make *make, struct json_object *list,
                struct json_object *value)
{
  if (list && value && json_object_array_add (list, value) == 0)
    return;
  json_object_put (value);
  make->failed = true;
}

void
rd_json_add_string (struct rd_json_make *make, struct json_object *object,
                    const char *member, const char *value)
{
  rd_json_add (make, object, member, json_object_new_string (value));
}

void
rd_json_add_double (struct rd_json_make *make, struct json_object *object,
                    const char *member, double value)
{
  rd_json_add (make, object, member, rd_json_new_double (value));
}

void
rd_json_add_u64 (struct rd_json_make *make, struct json_object *object,
                 const char *member, uint64_t value)
{
  rd_json_add (make, object, member, json_object_new_uint64 (value));
}

struct json_object *
rd_json_new_shape (struct rd_json_make *make, size_t rank,
                   const uint64_t *shape)
{
  struct json_object *list = json_object_new_array ();
  for (size_t i = 0; i < rank; i++)
    rd_json_append (make, list, json_object_new_uint64 (shape[i]));
  return list;
}

struct json_object *
rd_json_add_object (struct rd_json_make *make, struct json_object *object,
                    const char *member)
{
  return add_value (make, object, member, json_object_new_object ());
}

struct json_object *
rd_json_add_list (struct rd_json_make *make, struct json_object *object,
                  const char *member)
{
  return add_value (make, object, member, json_object_new_array ());
}

enum radio_status
rd_json_make_end (struct rd_json_make *make, struct json_object *value,
                  struct json_object **result)
{
  if (make->failed || value == NULL) {
    json_object_put (value);
    return rd_fail (RADIO_ERROR_MEMORY, "out of memory for JSON metadata");
  }
  *result = value;
  return RADIO_OK;
}
