/* SPDX-License-Identifier: MIT */
/* JSON by json-c, with errors that name the document and the member.  Every
 * getter takes the object that holds a member and the member's name; `where'
 * names the document ("ct/a/zarr.json") in messages. */
#ifndef RD_JSON_H
#define RD_JSON_H

#include <json-c/json.h>

#include <radio/base.h>

#include "src/base/buffer.h"
#include "src/base/cleanup.h"

static inline void
rd_json_put (struct json_object *object)
{
  json_object_put (object);
}

RD_DEFINE_CLEANUP (json, struct json_object, rd_json_put);

/* Parse a whole document: one value, nothing after it, depth at most 64.
 * RADIO_ERROR_FORMAT gives the reason and the byte.  *value is NULL for null.
 *
 * Whole numbers beyond 64 bits, and "-0", become doubles: json-c would
 * silently make them the nearest integer.  The last one of members with one
 * name stays.  NaN and Infinity are accepted, as Python writes them. */
enum radio_status rd_json_parse (const char *text, size_t nbytes,
                                 const char *where,
                                 struct json_object **value)
  RADIO_USE_RESULT;

/* Required members of a type: RADIO_ERROR_FORMAT names the member, and its
 * actual type.  The results belong to the object. */
enum radio_status rd_json_object (struct json_object *in, const char *member,
                                  const char *where,
                                  struct json_object **value)
  RADIO_USE_RESULT;
enum radio_status rd_json_array (struct json_object *in, const char *member,
                                 const char *where,
                                 struct json_object **value)
  RADIO_USE_RESULT;
enum radio_status rd_json_string (struct json_object *in, const char *member,
                                  const char *where, const char **value)
  RADIO_USE_RESULT;
enum radio_status rd_json_int (struct json_object *in, const char *member,
                               const char *where, int64_t low, int64_t high,
                               int64_t *value) RADIO_USE_RESULT;
enum radio_status rd_json_bool (struct json_object *in, const char *member,
                                const char *where, bool *value)
  RADIO_USE_RESULT;

/* A value that must be a string; one with a NUL character in it is refused,
 * since it would be read short. */
enum radio_status rd_json_text (struct json_object *value, const char *what,
                                const char *where, const char **text)
  RADIO_USE_RESULT;

/* Makes a value's text on one line, '/' not escaped, for rd_free. */
enum radio_status rd_json_copy_text (struct json_object *value, char **text)
  RADIO_USE_RESULT;

/* RADIO_ERROR_FORMAT: "WHERE: WHAT is VALUE, not WANTED". */
enum radio_status rd_json_not (struct json_object *value, const char *what,
                               const char *wanted, const char *where);

/* A number of the fewest digits that read back as the same double, in any
 * locale.  It must be finite.  NULL without memory. */
struct json_object *rd_json_new_double (double value);

/* A value that must be a whole number of 0 to 2^64-1. */
enum radio_status rd_json_u64 (struct json_object *value, const char *what,
                               const char *where, uint64_t *result)
  RADIO_USE_RESULT;

/* A list of 1 to RADIO_MAX_RANK whole numbers, each at least low.  A longer
 * list is RADIO_ERROR_UNSUPPORTED. */
enum radio_status rd_json_shape (struct json_object *list, const char *what,
                                 const char *where, uint64_t low,
                                 size_t *rank, uint64_t *shape)
  RADIO_USE_RESULT;

/* The member, or NULL when it is missing. */
struct json_object *rd_json_member (struct json_object *in,
                                    const char *member);

#endif /* RD_JSON_H */
