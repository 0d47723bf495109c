/* SPDX-License-Identifier: MIT */
/* Growing arrays: by half, with checked sizes. */
#ifndef RD_RESERVE_H
#define RD_RESERVE_H

#include <stdint.h>
#include <string.h>

#include "src/base/alloc.h"
#include "src/base/error.h"

/* A growing array: n in use of capacity. */
#define RD_VECTOR(type) struct { type *at; size_t n, capacity; }

/* Makes room for one more of n elements in an array, to whose pointer array_at
 * points, and which resize (realloc or rd_realloc) allocates; at most limit
 * elements.  *nbytes is the size that the array needs.  False: there are limit
 * elements, or no memory.  Sets no message. */
static inline bool
rd_reserve_by (void *array_at, size_t *capacity, size_t n, size_t limit,
               size_t element_nbytes,
               void *(*resize) (void *array, size_t nbytes), size_t *nbytes)
{
  void *array;
  *nbytes = 0;
  if (n < *capacity)
    return true;
  size_t wanted = n < 8 ? 8 : n + n / 2;
  if (n >= limit || wanted < n)
    return false;
  wanted = wanted < limit ? wanted : limit;
  if (__builtin_mul_overflow (wanted, element_nbytes, nbytes)) {
    *nbytes = SIZE_MAX;
    return false;
  }
  /* The pointer is of another type than void *. */
  memcpy (&array, array_at, sizeof array);
  array = resize (array, *nbytes);
  if (!array)
    return false;
  memcpy (array_at, &array, sizeof array);
  *capacity = wanted;
  return true;
}

/* The same for the library's memory, without a limit. */
static inline enum radio_status
rd_reserve (void *array_at, size_t *capacity, size_t n, size_t element_nbytes)
{
  size_t nbytes;
  return rd_reserve_by (array_at, capacity, n, SIZE_MAX, element_nbytes,
                        rd_realloc, &nbytes)
         ? RADIO_OK : rd_fail_memory (nbytes);
}

#endif /* RD_RESERVE_H */
