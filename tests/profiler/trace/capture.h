/* SPDX-License-Identifier: MIT */
/* What the exporters write, in memory, and as other programs see it: JSON by
 * json-c, pprof by a decoder of its own. */
#ifndef RD_TESTS_CAPTURE_H
#define RD_TESTS_CAPTURE_H

#include <json-c/json.h>

#include "src/base/buffer.h"
#include "tests/profiler/build.h"

/* All bytes of a format, and a NUL that is not counted. */
void capture_bytes (const struct radio_profile *profile,
                    enum radio_profile_format format, bool arguments,
                    struct rd_buffer *bytes);

/* A JSON format, parsed strictly; json_object_put it. */
struct json_object *capture_json (const struct radio_profile *profile,
                                  enum radio_profile_format format,
                                  bool arguments);

/* Members that must be there. */
struct json_object *json_at (struct json_object *object, const char *key);
const char *json_text (struct json_object *object, const char *key);
uint64_t json_u64 (struct json_object *object, const char *key);

/* A time in microseconds with three decimals, or six; rounded to ns. */
uint64_t json_ps (struct json_object *object, const char *key);
uint64_t json_ns (struct json_object *object, const char *key);

/* The events of a Chrome trace with this phase ("X"): a new array. */
struct json_object *chrome_events (struct json_object *trace,
                                   const char *phase);

/* The only one of them with this name, or the n-th. */
struct json_object *chrome_event (struct json_object *trace,
                                  const char *phase, const char *name,
                                  size_t n);

#endif /* RD_TESTS_CAPTURE_H */
