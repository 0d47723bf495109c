/* SPDX-License-Identifier: MIT */
/* A set of texts, each kept once, fit for any exporter: whole UTF-8
 * without control characters.  A profile has few different strings and very
 * many uses of them. */
#ifndef RD_STRING_TABLE_H
#define RD_STRING_TABLE_H

#include "src/base/cleanup.h"
#include "src/base/error.h"

struct rd_string_table;

/* An empty set, or NULL without memory. */
struct rd_string_table *rd_string_table_new (void);
void rd_string_table_free (struct rd_string_table *texts);

/* The set's copy of a text; NULL without memory.  Invalid bytes and control
 * characters become U+FFFD first. */
const char *rd_string_table_add (struct rd_string_table *texts,
                                 const char *text);

/* The same if it is there already, else NULL. */
const char *rd_string_table_find (const struct rd_string_table *texts,
                                  const char *text);

/* Different in every set: hash tables keyed by the content of a file mix it
 * in, so that no file can be made to fill one slot. */
uint64_t rd_string_table_seed (const struct rd_string_table *texts);

/* Scatter the bits of x. */
static inline uint64_t
rd_mix (uint64_t x)
{
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
  return x ^ x >> 32;
}

#endif /* RD_STRING_TABLE_H */
