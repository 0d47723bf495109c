/* SPDX-License-Identifier: MIT */
/* Copying a box of elements between strided memory (from a decoded tile to
 * the caller's memory, for example), with byte swapping and conversion. */
#ifndef RD_COPY_H
#define RD_COPY_H

#include <radio/base.h>

#include "src/element/rows.h"
#include "src/element/type.h"

/* Computes the elements of rows of a type from those of another, in the
 * machine's byte order; neither side needs to be aligned, and they do not
 * overlap. */
typedef enum radio_status rd_map_fn (const void *data,
                                     const struct rd_rows *rows);

struct rd_box_copy {
  size_t rank;
  uint64_t shape[RADIO_MAX_RANK];           /* elements to copy */

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

  /* The whole destination is too large for the caches, of which this may be a
   * part: where whole lines are written, they are written past them. */
  bool is_large;

  /* Computes rows instead of converting them; NULL: they are converted.  Only
   * then both sides may be the same memory. */
  rd_map_fn *map;
  const void *map_data;
};

/* Returns RADIO_ERROR_ARGUMENT, naming both types, when values of one type
 * cannot be delivered as the other. */
enum radio_status rd_box_copy_check (const struct rd_type *from,
                                     enum radio_dtype to, bool scaled)
  RADIO_USE_RESULT;

/* Copies the elements.  Rows that are contiguous on both sides and need no
 * conversion are copied whole.  RADIO_ERROR_RANGE names the first value that
 * does not fit; or it is what map returns. */
enum radio_status rd_box_copy_run (const struct rd_box_copy *copy)
  RADIO_USE_RESULT;

#endif /* RD_COPY_H */
