/* SPDX-License-Identifier: MIT */
/* Appending to vectors of plain memory, and arrays of a known length. */
#ifndef RD_VECTOR_H
#define RD_VECTOR_H

#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/reserve.h"

/* Append a value to an RD_VECTOR (src/base/reserve.h); a status. */
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

#endif /* RD_VECTOR_H */
