/* SPDX-License-Identifier: MIT */
/* Numbers as bytes in little-endian order, as files have them, on any
 * machine. */
#ifndef RD_LITTLE_H
#define RD_LITTLE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the lowest bytes of a number, at most 8. */
static inline void
rd_put_little (unsigned char *to, uint64_t number, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    to[i] = (unsigned char) (number >> 8 * i);
}

/* Reads a number of at most 8 bytes. */
static inline uint64_t
rd_get_little (const unsigned char *from, size_t nbytes)
{
  uint64_t number = 0;
  for (size_t i = 0; i < nbytes; i++)
    number |= (uint64_t) from[i] << 8 * i;
  return number;
}

#endif /* RD_LITTLE_H */
