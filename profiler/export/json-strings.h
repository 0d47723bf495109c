/* SPDX-License-Identifier: MIT */
/* Strings that stand in a file once, and are numbers elsewhere. */
#ifndef RD_JSON_STRINGS_H
#define RD_JSON_STRINGS_H

#include "src/base/cleanup.h"
#include "profiler/model/profile.h"

/* Starts zeroed. */
struct rd_json_strings {
  const char **texts;         /* the caller's, in the order they came */
  uint32_t n, capacity;
  uint32_t *slots;            /* open addressing: an index + 1, or 0 */
  uint32_t nslots;            /* a power of two */
};

/* The number of a text, which must stay; RD_NO_INDEX without memory. */
uint32_t rd_json_strings_add (struct rd_json_strings *strings,
                              const char *text);

void rd_json_strings_free (struct rd_json_strings *strings);
#define RD_JSON_STRINGS_SCOPE RD_CLEANUP (rd_json_strings_free)

#endif /* RD_JSON_STRINGS_H */
