/* SPDX-License-Identifier: MIT */
/* The string table of a file: texts by the number under which they are
 * written, each once. */
#ifndef RD_STRING_INDEX_H
#define RD_STRING_INDEX_H

#include "src/base/cleanup.h"
#include "profiler/model/profile.h"

/* Starts zeroed. */
struct rd_string_index {
  const char **texts;         /* the caller's, in the order they came */
  uint32_t n, capacity;
  uint32_t *slots;            /* open addressing: an index + 1, or 0 */
  uint32_t nslots;            /* a power of two */
};

/* The number of a text, which must stay; RD_NO_INDEX without memory. */
uint32_t rd_string_index_add (struct rd_string_index *strings,
                              const char *text);

void rd_string_index_free (struct rd_string_index *strings);

#endif /* RD_STRING_INDEX_H */
