/* SPDX-License-Identifier: MIT */
/* Parts of reads: boxes are halved until the data they depend on fits into
 * memory, in an order in which little of an inflated file is inflated again;
 * and the data needed is traced to the file's bytes, as reads do. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "src/array/derived.h"
#include "src/array/parts.h"
#include "src/base/checked.h"
#include "src/element/box.h"

/* The elements of a block for each thread, where they are read from a file as
 * it is: memory that was written to before and is in the caches is worth more
 * than few reads.  Blocks then overlap by one of this many elements at most. */
#define CACHED_NBYTES ((uint64_t) 4 << 20)
#define OVERLAP_SHARE 4

/* Inflating this many times is worth a warning; flips and halos need less. */
#define OFTEN 3

/*------------------------------------------------------------------------
 * The data that a box needs
 *----------------------------------------------------------------------*/

/* Finds the elements that a gathered box depends on, as a box of the source;
 * false if it depends on none. */
static bool
gathered_box (const struct rd_sampled *sampled, const struct radio_box *box,
              struct radio_box *elements)
{
  uint64_t first[3] = { 0 }, n[3] = { 1, 1, 1 }, start[3], size[3];
  for (size_t k = 0; k < 3; k++)
    if (sampled->axes[k] < box->rank) {
      first[k] = box->start[sampled->axes[k]];
      n[k] = box->size[sampled->axes[k]];
    }
  if (!rd_gather_span (&sampled->gather, first, n, start, size))
    return false;
  *elements = *box;
  for (size_t k = 0; k < 3; k++)
    if (sampled->axes[k] < box->rank) {
      elements->start[sampled->axes[k]] = start[k];
      elements->size[sampled->axes[k]] = size[k];
    }
  return true;
}

bool
rd_sampled_bounds (const struct rd_sampled *sampled,
                   const struct radio_box *box, struct radio_box *source)
{
  if (sampled->gathers)
    return gathered_box (sampled, box, source);
  *source = *box;
  for (size_t i = 0; i < box->rank; i++) {
    size_t k = rd_find_axis (sampled->axes, i);
    if (k < 3)
      rd_weights_span (&sampled->along[k], box->start[i], box->size[i],
                       &source->start[i], &source->size[i]);
  }
  return true;
}

uint64_t
rd_sampled_nbytes (const struct rd_sampled *sampled,
                   const struct radio_box *box)
{
  uint64_t more = 0;
  struct radio_box elements;
  if (!rd_sampled_bounds (sampled, box, &elements))
    return 0;
  for (size_t k = 0; k < 3 && !sampled->gathers; k++)
    if (sampled->axes[k] < box->rank)
      more = rd_add_sat (more, rd_weights_nbytes (&sampled->along[k],
                                                  box->size[sampled->axes[k]]));
  return rd_add_sat (rd_mul_sat (radio_box_count (&elements),
                                 sampled->source->doc->type.item_nbytes),
                     more);
}

const struct radio_array *
rd_array_root (const struct radio_array *array)
{
  while (array->derived || array->sampled)
    array = array->derived ? array->derived->source : array->sampled->source;
  return array;
}

bool
rd_array_is_inflated (const struct radio_array *array)
{
  const struct rd_linear *linear = rd_array_root (array)->linear;
  return linear && linear->is_inflated;
}

/* Finds the bytes from the first to the last that are needed for a box that is
 * not empty, among those of the array in a file that it is made of; false if
 * there are none. */
static bool
find_span (const struct radio_array *array, const struct radio_box *box,
           uint64_t *start, uint64_t *end)
{
  struct radio_box source;
  if (array->derived)
    return rd_grid_bounds (&array->derived->grid, box, &source)
           && find_span (array->derived->source, &source, start, end);
  if (array->sampled)
    return rd_sampled_bounds (array->sampled, box, &source)
           && find_span (array->sampled->source, &source, start, end);
  const int64_t *strides = array->linear->strides;
  *start = 0;
  *end = array->doc->type.item_nbytes;
  for (size_t i = 0; i < box->rank; i++) {
    *start += box->start[i] * (uint64_t) strides[i];
    *end += (box->start[i] + box->size[i] - 1) * (uint64_t) strides[i];
  }
  return true;
}

/*------------------------------------------------------------------------
 * Cutting
 *----------------------------------------------------------------------*/

/* True if the elements that two blocks share cost little more than to copy
 * them: they lie in a file, or in memory, as they are. */
static bool
is_read_again_cheaply (const struct radio_array *array)
{
  while (array->derived)
    array = array->derived->source;
  return array->linear
         && (array->linear->pieces_nbytes > 0 || array->linear->memory);
}

/* Returns how much of its file is inflated for a box, and where that starts. */
static uint64_t
inflated_nbytes (const struct rd_sampled *sampled, const struct radio_box *box,
                 uint64_t *start)
{
  struct radio_box elements;
  uint64_t end;
  *start = 0;
  return rd_sampled_bounds (sampled, box, &elements)
         && find_span (sampled->source, &elements, start, &end)
         ? end - *start : 0;
}

static void
cut_in_half (const struct radio_box *box, size_t axis,
             struct radio_box halves[2])
{
  halves[0] = halves[1] = *box;
  halves[0].size[axis] = box->size[axis] / 2;
  halves[1].start[axis] += halves[0].size[axis];
  halves[1].size[axis] -= halves[0].size[axis];
}

/* Returns what cutting a box in half along an axis costs: the share of the
 * memory that a half takes, which halos make more than a half; where a file is
 * inflated how much more of it is, for how much less memory. */
static double
cost_of_cut (const struct rd_sampled *sampled, const struct radio_box *box,
             size_t axis, bool is_inflated)
{
  struct radio_box halves[2];
  uint64_t start;
  cut_in_half (box, axis, halves);
  double share = (double) rd_max_u64 (rd_sampled_nbytes (sampled, &halves[0]),
                                      rd_sampled_nbytes (sampled, &halves[1]))
                 / (double) rd_max_u64 (rd_sampled_nbytes (sampled, box), 1);
  if (!is_inflated)
    return share;
  uint64_t all = inflated_nbytes (sampled, box, &start);
  uint64_t sum = inflated_nbytes (sampled, &halves[0], &start)
                 + inflated_nbytes (sampled, &halves[1], &start);
  double times = (double) rd_max_u64 (sum, 1) / (double) rd_max_u64 (all, 1);
  return share > 0 && share < 1 ? log (times) / -log (share) : INFINITY;
}

/* Faster axes are cut only if that costs so much less than for slower ones. */
#define WORTH 0.9

/* Chooses the axis along which a box is cut, and cuts it; false if it has one
 * element.  A box that fits into memory is cut along the slowest axis alone.
 * Where a file is inflated the halves mostly need different planes of it, and
 * are in the order of these. */
static bool
choose_halves (const struct rd_sampled *sampled, const struct radio_box *box,
               bool fits, struct radio_box halves[2])
{
  bool is_inflated = rd_array_is_inflated (sampled->source);
  double least = 0;
  size_t axis = box->rank;
  for (size_t i = 0; i < box->rank; i++) {
    if (box->size[i] < 2 || (fits && axis < box->rank))
      continue;
    double cost = cost_of_cut (sampled, box, i, is_inflated);
    if (axis == box->rank || cost < least * WORTH) {
      axis = i;
      least = cost;
    }
  }
  if (axis == box->rank)
    return false;
  cut_in_half (box, axis, halves);
  if (is_inflated) {
    uint64_t starts[2];
    (void) inflated_nbytes (sampled, &halves[0], &starts[0]);
    (void) inflated_nbytes (sampled, &halves[1], &starts[1]);
    if (starts[1] < starts[0]) {
      struct radio_box first = halves[1];
      halves[1] = halves[0];
      halves[0] = first;
    }
  }
  return true;
}

enum radio_status
rd_sampled_cut (const struct rd_sampled *sampled, const struct radio_box *box,
           rd_part_fn *use, void *data)
{
  const struct radio_array *source = sampled->source;
  const struct radio_context *context = source->store->context;
  const uint64_t limit = rd_sampled_limit (context);
  const uint64_t cached_nbytes = CACHED_NBYTES * context->nthreads;
  const uint64_t nbytes = rd_sampled_nbytes (sampled, box);
  struct radio_box halves[2];
  bool is_cached = nbytes <= cached_nbytes || sampled->gathers
                   || !is_read_again_cheaply (source);
  if ((nbytes <= limit && is_cached)
      || !choose_halves (sampled, box, nbytes <= limit, halves))
    return use (sampled, box, data);
  if (nbytes <= limit && rd_sampled_nbytes (sampled, &halves[1])
                         > nbytes / 2 + nbytes / 2 / OVERLAP_SHARE)
    return use (sampled, box, data);
  RD_TRY (rd_sampled_cut (sampled, &halves[0], use, data));
  return rd_sampled_cut (sampled, &halves[1], use, data);
}

/*------------------------------------------------------------------------
 * How much is inflated
 *----------------------------------------------------------------------*/

/* A part that is reached from a point, or from where the file was never
 * inflated before. */
static void
add_span (struct rd_inflation *inflation, uint64_t start, uint64_t end)
{
  uint64_t from = rd_min_u64 (start, inflation->reached_nbytes);
  inflation->nbytes = rd_add_sat (inflation->nbytes, end - from);
  inflation->reached_nbytes = rd_max_u64 (inflation->reached_nbytes, end);
}

/* Adds what a part reads of its source. */
static enum radio_status
add_part (const struct rd_sampled *sampled, const struct radio_box *box,
          void *inflation)
{
  struct radio_box source;
  if (rd_sampled_bounds (sampled, box, &source))
    rd_inflation_add (inflation, sampled->source, &source);
  return RADIO_OK;
}

void
rd_inflation_add (struct rd_inflation *inflation,
                  const struct radio_array *array, const struct radio_box *box)
{
  struct radio_box source;
  uint64_t start, end;
  if (array->derived) {
    if (rd_grid_bounds (&array->derived->grid, box, &source))
      rd_inflation_add (inflation, array->derived->source, &source);
  } else if (array->sampled)
    rd_sampled_cut (array->sampled, box, add_part, inflation);
  else if (!rd_array_is_inflated (array))
    inflation->nbytes = rd_add_sat (
      inflation->nbytes, rd_mul_sat (radio_box_count (box),
                                     array->doc->type.item_nbytes));
  else if (find_span (array, box, &start, &end))
    add_span (inflation, start, end);
}

double
rd_inflation_times (const struct rd_inflation *inflation)
{
  return inflation->reached_nbytes == 0
         ? 0 : (double) inflation->nbytes / (double) inflation->reached_nbytes;
}

void
rd_inflation_warn (const struct rd_inflation *inflation,
                   const struct radio_array *array, uint64_t needed_nbytes)
{
  struct rd_linear *linear = rd_array_root (array)->linear;
  const struct radio_context *context = array->store->context;
  double times = rd_inflation_times (inflation);
  char what[256];
  if (times < OFTEN)
    return;
  snprintf (what, sizeof what, "it is inflated %.0f times, since too few of "
            "its planes fit into memory at once (%" PRIu64 "M); raise --memory "
            "to %" PRIu64 "M (memory_limit_nbytes in C, memory in Python), or "
            "ingest it first", times, context->memory_limit_nbytes >> 20,
            (needed_nbytes >> 20) + 1);
  linear->warn (linear, what);
}
