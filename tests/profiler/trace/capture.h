/* SPDX-License-Identifier: MIT */
/* Captures the output of exporters in memory, and parses it as other programs
 * do: JSON by json-c, pprof by a decoder of its own. */
#ifndef RD_TESTS_CAPTURE_H
#define RD_TESTS_CAPTURE_H

#include <json-c/json.h>

#include "src/base/buffer.h"
#include "tests/profiler/build.h"

/* Captures all bytes of a format, followed by a NUL that is not counted. */
void capture_bytes (const struct radio_profile *profile,
                    enum radio_profile_format format, bool arguments,
                    struct rd_buffer *bytes);

/* Returns the output of a JSON format, parsed strictly; the caller calls
 * json_object_put. */
struct json_object *capture_json (const struct radio_profile *profile,
                                  enum radio_profile_format format,
                                  bool arguments);

/* Return members that must exist. */
struct json_object *json_at (struct json_object *object, const char *key);
const char *json_text (struct json_object *object, const char *key);
uint64_t json_u64 (struct json_object *object, const char *key);

/* Return a time in picoseconds, or rounded to nanoseconds, from microseconds
 * with three or six decimals. */
uint64_t json_ps (struct json_object *object, const char *key);
uint64_t json_ns (struct json_object *object, const char *key);

/* Returns the events of a Chrome trace with this phase ("X"), as a new
 * array. */
struct json_object *chrome_events (struct json_object *trace,
                                   const char *phase);

/* Returns the only one of them with this name, or the n-th. */
struct json_object *chrome_event (struct json_object *trace,
                                  const char *phase, const char *name,
                                  size_t n);

#endif /* RD_TESTS_CAPTURE_H */
