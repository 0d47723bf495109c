/* SPDX-License-Identifier: MIT */
/* Growing the arrays that RD_VECTOR declares. */
#ifndef RD_VECTOR_H
#define RD_VECTOR_H

#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/reserve.h"

/* Append a value to an RD_VECTOR; a status. */
#define rd_vector_append(vector, value)                                 \
  __extension__ ({                                                      \
    size_t rd_nbytes_;                                                  \
    bool rd_has_room_                                                   \
      = rd_reserve_by (&(vector)->at, &(vector)->capacity, (vector)->n, \
                       SIZE_MAX, sizeof *(vector)->at, realloc,         \
                       &rd_nbytes_);                                    \
    if (rd_has_room_)                                                   \
      (vector)->at[(vector)->n++] = (value);                            \
    rd_has_room_ ? RADIO_OK : rd_fail_memory (rd_nbytes_);              \
  })

/* n zeroed elements of item_nbytes in *at; NULL if n is 0. */
static inline enum radio_status
rd_new_array (size_t n, size_t item_nbytes, void **at)
{
  *at = NULL;
  if (n == 0)
    return RADIO_OK;
  *at = calloc (n, item_nbytes);
  if (*at)
    return RADIO_OK;
  uint64_t nbytes;
  if (rd_mul_overflows (n, item_nbytes, &nbytes) || nbytes > SIZE_MAX)
    nbytes = SIZE_MAX;
  return rd_fail_memory (nbytes);
}

/* The largest time, count or sum in a profile: it may be taken as signed. */
#define RD_MAX_VALUE ((uint64_t) INT64_MAX)

/* a + b, or the largest value. */
static inline uint64_t
rd_sum (uint64_t a, uint64_t b)
{
  uint64_t sum;
  return rd_add_overflows (a, b, &sum) ? RD_MAX_VALUE
                                       : rd_min_u64 (sum, RD_MAX_VALUE);
}

#endif /* RD_VECTOR_H */
