/* SPDX-License-Identifier: MIT */
/* Making JSON without a check at each step: what fails for want of memory
 * is remembered, and told once at the end. */
#ifndef RD_JSON_MAKE_H
#define RD_JSON_MAKE_H

#include "src/base/json.h"

struct rd_json_make {
  bool failed;
};

/* Put value (taken) under a name, or at the end of a list. */
void rd_make_member (struct rd_json_make *make, struct json_object *object,
                     const char *member, struct json_object *value);
void rd_make_item (struct rd_json_make *make, struct json_object *list,
                   struct json_object *value);

/* Short forms for what a document holds most. */
void rd_make_string (struct rd_json_make *make, struct json_object *object,
                     const char *member, const char *value);
void rd_make_double (struct rd_json_make *make, struct json_object *object,
                     const char *member, double value);
void rd_make_u64 (struct rd_json_make *make, struct json_object *object,
                  const char *member, uint64_t value);
struct json_object *rd_make_shape (struct rd_json_make *make, size_t rank,
                                   const uint64_t *shape);

/* An object or list below another one; NULL when making it failed, which
 * all of these take. */
struct json_object *rd_make_object_in (struct rd_json_make *make,
                                       struct json_object *object,
                                       const char *member);
struct json_object *rd_make_list_in (struct rd_json_make *make,
                                     struct json_object *object,
                                     const char *member);

/* *result gets what was made, or RADIO_ERROR_MEMORY is returned and value
 * let go. */
enum radio_status rd_make_end (struct rd_json_make *make,
                               struct json_object *value,
                               struct json_object **result)
  RADIO_USE_RESULT;

#endif /* RD_JSON_MAKE_H */
