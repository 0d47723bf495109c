/* SPDX-License-Identifier: MIT */
/* A hash of texts, for tables and to distinguish contents: not for secrets,
 * nor where names are chosen to collide. */
#ifndef RD_HASH_H
#define RD_HASH_H

#include <stdint.h>

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), of 64 bits. */
static inline uint64_t
rd_hash_text (const char *text)
{
  uint64_t hash = 0xcbf29ce484222325;
  for (; *text; text++)
    hash = (hash ^ (unsigned char) *text) * 0x100000001b3;
  return hash;
}

#endif /* RD_HASH_H */
