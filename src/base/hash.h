/* SPDX-License-Identifier: MIT */
/* A hash of texts, for tables and to distinguish contents: not for secrets,
 * nor where names are chosen to collide. */
#ifndef RD_HASH_H
#define RD_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), of 64 bits. */
#define RD_HASH_START UINT64_C (0xcbf29ce484222325)
#define RD_HASH_FACTOR UINT64_C (0x100000001b3)

static inline uint64_t
rd_hash_text (const char *text)
{
  uint64_t hash = RD_HASH_START;
  for (; *text; text++)
    hash = (hash ^ (unsigned char) *text) * RD_HASH_FACTOR;
  return hash;
}

/* The same of any bytes. */
static inline uint64_t
rd_hash_bytes (const void *bytes, size_t nbytes)
{
  const unsigned char *byte = bytes;
  uint64_t hash = RD_HASH_START;
  for (size_t i = 0; i < nbytes; i++)
    hash = (hash ^ byte[i]) * RD_HASH_FACTOR;
  return hash;
}

#endif /* RD_HASH_H */
