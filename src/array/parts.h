/* SPDX-License-Identifier: MIT */
/* The parts by which sampled arrays are read within the memory limit, and how
 * much of a .nii.gz is inflated for them.  To get at a byte all from a point of
 * entry before it on has to be inflated; and boxes that are wanted across the
 * planes of the file, one after the other, need all of it each time. */
#ifndef RD_PARTS_H
#define RD_PARTS_H

#include "src/array/sampled.h"

/* Returns the array that one is derived and sampled from, or itself. */
const struct radio_array *rd_array_root (const struct radio_array *array);

/* True if an array is derived from one whose file is inflated. */
bool rd_array_is_inflated (const struct radio_array *array);

/* Finds a box of the source that holds all elements that a box depends on,
 * which is not empty; false if there are none. */
bool rd_sampled_bounds (const struct rd_sampled *sampled,
                        const struct radio_box *box,
                        struct radio_box *source);

/* Returns a bound of the memory that a box takes, and how much may be taken. */
uint64_t rd_sampled_nbytes (const struct rd_sampled *sampled,
                            const struct radio_box *box);
#define RD_SAMPLED_SHARE 4
static inline uint64_t
rd_sampled_limit (const struct radio_context *context)
{
  return context->work_nbytes / RD_SAMPLED_SHARE;
}

/* The use of a part. */
typedef enum radio_status rd_part_fn (const struct rd_sampled *sampled,
                                      const struct radio_box *box, void *data);

/* Cuts a box that is not empty into halves until what they depend on fits into
 * the memory allowed, and into the caches where that costs little.  Fails only
 * if a use does. */
enum radio_status rd_sampled_cut (const struct rd_sampled *sampled,
                                  const struct radio_box *box, rd_part_fn *use,
                                  void *data);

/* Reads of a file that follow each other, none of them before; all is 0 at
 * first. */
struct rd_inflation {
  uint64_t nbytes;                    /* of voxels that they inflate; of another
                                         file, that they read */
  uint64_t reached_nbytes;            /* inflated of the file: they keep points;
                                         0 of another file */
};

/* Adds the read of a box, by the parts that the memory limit allows. */
void rd_inflation_add (struct rd_inflation *inflation,
                       const struct radio_array *array,
                       const struct radio_box *box);

/* Returns how often their data is inflated, on average; 0: not at all. */
double rd_inflation_times (const struct rd_inflation *inflation);

/* Gives a warning if that is often, to the caller who opened the file.
 * needed_nbytes: the memory limit by which it would not be. */
void rd_inflation_warn (const struct rd_inflation *inflation,
                        const struct radio_array *array,
                        uint64_t needed_nbytes);

#endif /* RD_PARTS_H */
