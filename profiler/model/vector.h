/* SPDX-License-Identifier: MIT */
/* Growing the arrays that RD_VECTOR declares. */
#ifndef RD_VECTOR_H
#define RD_VECTOR_H

#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/error.h"

/* Room for one more of item_nbytes in *at, which has n of *capacity. */
static inline enum radio_status
rd_vector_make_room (void **at, size_t n, size_t *capacity,
                     size_t item_nbytes)
{
  if (n < *capacity)
    return RADIO_OK;
  uint64_t wanted = n < 8 ? 8 : (uint64_t) n + n / 2;
  uint64_t nbytes;
  if (rd_mul_overflows (wanted, item_nbytes, &nbytes) || nbytes > SIZE_MAX)
    return rd_fail_memory (SIZE_MAX);
  void *grown = realloc (*at, nbytes);
  if (grown == NULL)
    return rd_fail_memory (nbytes);
  *at = grown;
  *capacity = wanted;
  return RADIO_OK;
}

/* Append a value to an RD_VECTOR; a status. */
#define rd_vector_append(vector, value)                                 \
  __extension__ ({                                                      \
    void *rd_at_ = (vector)->at;                                        \
    enum radio_status rd_status_ =                                      \
      rd_vector_make_room (&rd_at_, (vector)->n, &(vector)->capacity,   \
                           sizeof *(vector)->at);                       \
    (vector)->at = rd_at_;                                              \
    if (rd_status_ == RADIO_OK)                                         \
      (vector)->at[(vector)->n++] = (value);                            \
    rd_status_;                                                         \
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
