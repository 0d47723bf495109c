/* SPDX-License-Identifier: MIT */
/* Placing: move a box of elements from a decoded tile to where the caller
 * wants it, with any strides on both sides, swapping bytes and converting
 * on the way. */
#ifndef RD_COPY_H
#define RD_COPY_H

#include <radio/base.h>

#include "src/element/dtype.h"

struct rd_copy {
  size_t rank;
  uint64_t shape[RADIO_MAX_RANK];           /* elements to move */

  const unsigned char *from;
  int64_t from_strides[RADIO_MAX_RANK];     /* bytes; 0 repeats an element */
  struct rd_type from_type;
  bool from_swapped;                        /* units in the other order */

  unsigned char *to;
  int64_t to_strides[RADIO_MAX_RANK];       /* bytes */
  enum radio_dtype to_dtype;                /* as from_type, or another */

  /* value * slope + inter, for float32 and float64 destinations only. */
  bool scaled;
  double slope, inter;
};

/* Whether values of one type may be asked for as another, and why not:
 * RADIO_ERROR_ARGUMENT names both. */
enum radio_status rd_copy_check (const struct rd_type *from,
                                 enum radio_dtype to, bool scaled)
  RADIO_USE_RESULT;

/* Move the elements.  Rows that are contiguous on both sides and need no
 * conversion are copied whole.  RADIO_ERROR_RANGE names the first value that
 * does not fit. */
enum radio_status rd_copy_run (const struct rd_copy *copy) RADIO_USE_RESULT;

#endif /* RD_COPY_H */
