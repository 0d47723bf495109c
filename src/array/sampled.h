/* SPDX-License-Identifier: MIT */
/* Arrays that are interpolated from others as they are read.  A read goes by
 * blocks that fit into a share of the memory limit: the elements of the source
 * that a block depends on, and no others, are read into memory, then the pool
 * computes its rows and places them as those of a tile. */
#ifndef RD_SAMPLED_H
#define RD_SAMPLED_H

#include "src/array/fetch.h"
#include "src/operation/gather.h"
#include "src/operation/interpolate.h"
#include "src/operation/noise.h"

/* Returns which of three axes an axis is; 3: none. */
static inline size_t
rd_find_axis (const size_t axes[3], size_t axis)
{
  size_t i = 0;
  while (i < 3 && axes[i] != axis)
    i++;
  return i;
}

struct rd_sampled {
  struct radio_array *source;         /* owned; of the same rank, and of the
                                         type that is computed */
  enum rd_interpolation interpolation;
  enum rd_operation operation;        /* that asks for it; the last of several
                                         that are one interpolation */
  size_t axes[3];                     /* those that are sampled, the last one
                                         the fastest; the rank: none */
  struct rd_sampled_axis along[3];
  bool gathers;                       /* not along axes, but by: */
  struct rd_gather gather;
  bool adds_noise;                    /* to what is sampled */
  struct rd_noise noise;
};

/* Opens the array that sampled describes; its document is doc.  Both are taken,
 * also on failure. */
enum radio_status rd_sampled_open (struct rd_sampled *sampled,
                                   struct rd_array_doc *doc,
                                   struct radio_array **array)
  RADIO_USE_RESULT;

void rd_sampled_free (struct rd_sampled *sampled);
RD_DEFINE_CLEANUP (sampled, struct rd_sampled, rd_sampled_free);

/* Called with a box that is read of an array. */
typedef enum radio_status rd_touched_fn (const struct radio_array *array,
                                         const struct radio_box *box,
                                         void *user_data);

/* Calls touched with each box of the source that a read of a box reads; they
 * may overlap. */
enum radio_status rd_sampled_boxes (const struct rd_sampled *sampled,
                                    const struct radio_box *box,
                                    rd_touched_fn *touched, void *user_data)
  RADIO_USE_RESULT;

/* Reads all elements that the requests want, as rd_fetch_tiles does of tiles.
 */
enum radio_status rd_sampled_read (struct rd_tile_read *read)
  RADIO_USE_RESULT;

#endif /* RD_SAMPLED_H */
