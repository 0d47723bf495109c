/* SPDX-License-Identifier: MIT */
/* A set of texts, each kept once, fit for any exporter: whole UTF-8
 * without control characters.  A profile has few different strings and very
 * many uses of them. */
#ifndef RD_INTERN_H
#define RD_INTERN_H

#include "src/base/cleanup.h"
#include "src/base/error.h"

struct rd_intern;

/* An empty set, or NULL without memory. */
struct rd_intern *rd_intern_new (void);
void rd_intern_free (struct rd_intern *texts);

/* The set's copy of a text; NULL without memory.  Invalid bytes and control
 * characters become U+FFFD first. */
const char *rd_intern_add (struct rd_intern *texts, const char *text);

/* The same if it is there already, else NULL. */
const char *rd_intern_find (const struct rd_intern *texts,
                            const char *text);

/* Different in every set: hash tables keyed by what a file holds mix it in,
 * so that no file can be made to fill one slot. */
uint64_t rd_intern_seed (const struct rd_intern *texts);

/* Scatter the bits of x. */
static inline uint64_t
rd_mix (uint64_t x)
{
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
  return x ^ x >> 32;
}

#endif /* RD_INTERN_H */
