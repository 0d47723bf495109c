/* SPDX-License-Identifier: MIT */
/* What the caches of indexes and of tiles share: the order in which their
 * entries were used, as a list that goes through the entries themselves, and
 * the hash of their keys.  Whoever has the cache's lock may use it. */
#ifndef RD_USES_H
#define RD_USES_H

#include <stddef.h>
#include <stdint.h>

/* An entry's place in the order. */
struct rd_use {
  struct rd_use *newer, *older;
};

struct rd_uses {
  struct rd_use *newest, *oldest;
};

/* The entry whose synced.use this is. */
#define RD_USED_ENTRY(entry_use, type)                                  \
  ((struct type *) (void *) ((char *) (entry_use)                       \
                             - offsetof (struct type, synced.use)))

static inline void
rd_uses_remove (struct rd_uses *uses, struct rd_use *use)
{
  *(use->newer ? &use->newer->older : &uses->newest) = use->older;
  *(use->older ? &use->older->newer : &uses->oldest) = use->newer;
}

static inline void
rd_uses_add_newest (struct rd_uses *uses, struct rd_use *use)
{
  use->newer = NULL;
  use->older = uses->newest;
  *(uses->newest ? &uses->newest->newer : &uses->oldest) = use;
  uses->newest = use;
}

/* It is used again. */
static inline void
rd_uses_renew (struct rd_uses *uses, struct rd_use *use)
{
  if (uses->newest == use)
    return;
  rd_uses_remove (uses, use);
  rd_uses_add_newest (uses, use);
}

/* A hash of n words, of which the low and the high bits may be used alone. */
static inline uint64_t
rd_hash_words (const uint64_t *words, size_t n)
{
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ words[i]) * 0xbf58476d1ce4e5b9;
    hash ^= hash >> 29;
  }
  return hash;
}

#endif /* RD_USES_H */
