/* SPDX-License-Identifier: MIT */
/* Building JSON without a check at each step: a failure to allocate is
 * remembered, and reported once at the end. */
#ifndef RD_JSON_MAKE_H
#define RD_JSON_MAKE_H

#include "src/base/json.h"

struct rd_json_make {
  bool failed;
};

/* Adds value, which is taken over, as a member or at the end of a list. */
void rd_json_add (struct rd_json_make *make, struct json_object *object,
                  const char *member, struct json_object *value);
void rd_json_append (struct rd_json_make *make, struct json_object *list,
                     struct json_object *value);

/* Short forms for frequent types. */
void rd_json_add_string (struct rd_json_make *make, struct json_object *object,
                         const char *member, const char *value);
void rd_json_add_double (struct rd_json_make *make, struct json_object *object,
                         const char *member, double value);
void rd_json_add_u64 (struct rd_json_make *make, struct json_object *object,
                      const char *member, uint64_t value);
struct json_object *rd_json_new_shape (struct rd_json_make *make, size_t rank,
                                       const uint64_t *shape);

/* Adds an object or list; NULL when that failed, which all of these
 * functions accept as their object. */
struct json_object *rd_json_add_object (struct rd_json_make *make,
                                        struct json_object *object,
                                        const char *member);
struct json_object *rd_json_add_list (struct rd_json_make *make,
                                      struct json_object *object,
                                      const char *member);

/* Sets *result to value; releases value and returns RADIO_ERROR_MEMORY if
 * any step failed. */
enum radio_status rd_json_make_end (struct rd_json_make *make,
                                    struct json_object *value,
                                    struct json_object **result)
  RADIO_USE_RESULT;

#endif /* RD_JSON_MAKE_H */
