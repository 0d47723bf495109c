/* SPDX-License-Identifier: MIT */
/* Reads of sampled arrays, part by part: of each the elements are read that
 * some output uses, without the gaps between them that are as large as a
 * tile. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/array/derived.h"
#include "src/array/parts.h"
#include "src/array/sampled.h"
#include "src/base/checked.h"
#include "src/base/reserve.h"
#include "src/element/box.h"

/* The rows that a task computes at once, with what they are computed of, fit
 * into the second-level cache. */
#define BAND_NBYTES ((uint64_t) 192 << 10)

/* More requests to the source than these are joined to one. */
#define MAX_REQUESTS ((uint64_t) 1 << 14)

void
rd_sampled_free (struct rd_sampled *sampled)
{
  if (!sampled)
    return;
  radio_array_close (sampled->source);
  rd_free (sampled);
}

enum radio_status
rd_sampled_open (struct rd_sampled *sampled, struct rd_array_doc *doc,
                 struct radio_array **result)
{
  struct rd_sampled *owned RD_CLEANUP (rd_cleanup_sampled) = sampled;
  const struct radio_array *source = sampled->source;
  struct radio_array *array;
  RD_TRY (rd_array_open_doc (source->store, source->path, doc, &array));
  array->sampled = RD_STEAL (owned);
  array->free_sampled = rd_sampled_free;
  *result = array;
  return RADIO_OK;
}

/* Elements of the source's axis that follow each other in memory. */
struct run {
  uint64_t start, n;
  uint64_t at;                        /* of the first one in the block */
};
struct runs {
  size_t n, capacity;
  struct run *list;
  uint64_t size;                      /* of all of them */
};

/* The computation of one box. */
struct sampling {
  struct rd_job job;                  /* first */
  struct rd_tile_read *read;
  size_t request;
  const struct rd_sampled *sampled;
  const struct radio_box *box;
  struct rd_sampled_block block;      /* of one place of the other axes */
  struct rd_weights weights[3];
  struct rd_gather_block gathered;
  bool is_outside;
  uint64_t first[3], n[3];            /* outputs along the sampled axes */
  struct runs runs[RADIO_MAX_RANK];
  size_t order[RADIO_MAX_RANK];       /* of the axes in memory: those that are
                                         sampled last */
  size_t nothers;                     /* the number of those before */
  uint64_t block_nbytes;
  uint64_t band, nbands;              /* rows of a task; of a plane */
  struct rd_buffer *elements;         /* of this and other blocks */
};

static void
free_sampling (struct sampling *s)
{
  for (size_t i = 0; i < 3; i++)
    rd_weights_free (&s->weights[i]);
  for (size_t i = 0; i < RADIO_MAX_RANK; i++)
    rd_free (s->runs[i].list);
}

/*------------------------------------------------------------------------
 * The elements of a box
 *----------------------------------------------------------------------*/

static enum radio_status
add_run (struct runs *runs, uint64_t start, uint64_t n)
{
  RD_TRY (rd_reserve (&runs->list, &runs->capacity, runs->n,
                      sizeof *runs->list));
  runs->list[runs->n++] = (struct run) { start, n, 0 };
  return RADIO_OK;
}

/* Lists the used parts of an axis, split at gaps of `gap' or more.  Positions
 * along an axis only rise, or only fall. */
static enum radio_status
list_runs (const struct rd_weights *weights, uint64_t gap, struct runs *runs)
{
  bool falls = weights->start[0] > weights->start[weights->n - 1];
  for (uint64_t k = 0; k < weights->n; k++) {
    uint64_t i = falls ? weights->n - 1 - k : k;
    uint64_t start = weights->start[i], end = start + weights->count[i];
    struct run *last = runs->n > 0 ? &runs->list[runs->n - 1] : NULL;
    if (!last || (start > last->start + last->n
                  && start - (last->start + last->n) >= gap))
      RD_TRY (add_run (runs, start, end - start));
    else {
      uint64_t last_end = rd_max_u64 (last->start + last->n, end);
      last->start = rd_min_u64 (last->start, start);
      last->n = last_end - last->start;
    }
  }
  return RADIO_OK;
}

/* Joins all runs to one. */
static void
join_runs (struct runs *runs)
{
  struct run *last = &runs->list[runs->n - 1];
  runs->list[0].n = last->start + last->n - runs->list[0].start;
  runs->n = 1;
}

/* Sets the places of runs in memory. */
static void
place_runs (struct runs *runs)
{
  runs->size = 0;
  for (size_t i = 0; i < runs->n; i++) {
    runs->list[i].at = runs->size;
    runs->size += runs->list[i].n;
  }
}

/* Makes starts those in memory. */
static void
move_starts (struct rd_weights *weights, const struct runs *runs)
{
  size_t k = 0;
  for (uint64_t i = 0; i < weights->n; i++) {
    uint64_t start = weights->start[i];
    while (start < runs->list[k].start)
      k--;
    while (start >= runs->list[k].start + runs->list[k].n)
      k++;
    weights->start[i] = start - runs->list[k].start + runs->list[k].at;
  }
  if (runs->n > 1) {
    weights->is_identity = weights->is_halved = false;
    weights->moved_n = 0;
  }
}

/* An axis that is missing has one element. */
static const struct rd_sampled_axis no_axis = {
  .source_size = 1, .size = 1, .scale = 1,
  .interpolation = RD_INTERPOLATE_LINEAR,
};

/* Lists the axes in their order in memory, and what is used of those that are
 * not sampled. */
static enum radio_status
order_axes (struct sampling *s)
{
  const struct rd_sampled *sampled = s->sampled;
  for (size_t i = 0; i < s->box->rank; i++)
    if (rd_find_axis (sampled->axes, i) == 3) {
      RD_TRY (add_run (&s->runs[i], s->box->start[i], s->box->size[i]));
      s->order[s->nothers++] = i;
    }
  size_t n = s->nothers;
  for (size_t k = 0; k < 3; k++)
    if (sampled->axes[k] < s->box->rank)
      s->order[n++] = sampled->axes[k];
  return RADIO_OK;
}

/* Finds the elements that a gathered box depends on; sets is_outside if there
 * are none. */
static enum radio_status
find_gathered (struct sampling *s)
{
  const struct rd_sampled *sampled = s->sampled;
  struct radio_box elements;
  RD_TRY (order_axes (s));
  s->is_outside = !rd_sampled_bounds (sampled, s->box, &elements);
  for (size_t k = 0; k < 3; k++) {
    size_t axis = sampled->axes[k];
    bool is_none = axis >= s->box->rank;
    s->first[k] = is_none ? 0 : s->box->start[axis];
    s->n[k] = is_none ? 1 : s->box->size[axis];
    s->gathered.size[k] = 1;
    if (is_none || s->is_outside)
      continue;
    s->gathered.start[k] = elements.start[axis];
    s->gathered.size[k] = elements.size[axis];
    RD_TRY (add_run (&s->runs[axis], elements.start[axis],
                     elements.size[axis]));
  }
  for (size_t i = 0; i < s->box->rank; i++)
    place_runs (&s->runs[i]);
  return RADIO_OK;
}

/* Finds the elements that the box depends on. */
static enum radio_status
find_elements (struct sampling *s)
{
  const struct rd_sampled *sampled = s->sampled;
  const struct radio_box *box = s->box;
  const uint64_t *tile = sampled->source->doc->tile_shape;
  uint64_t count = 1;
  RD_TRY (order_axes (s));
  for (size_t k = 0; k < 3; k++) {
    size_t axis = sampled->axes[k];
    bool is_none = axis >= box->rank;
    RD_TRY (rd_weights_make (is_none ? &no_axis : &sampled->along[k],
                             is_none ? 0 : box->start[axis],
                             is_none ? 1 : box->size[axis], &s->weights[k]));
    if (!is_none)
      RD_TRY (list_runs (&s->weights[k], tile[axis], &s->runs[axis]));
    s->n[k] = s->weights[k].n;
  }
  for (size_t i = 0; i < box->rank; i++)
    count = rd_mul_sat (count, s->runs[i].n);
  for (size_t i = 0; i < box->rank; i++) {
    if (count > MAX_REQUESTS)
      join_runs (&s->runs[i]);
    place_runs (&s->runs[i]);
  }
  for (size_t k = 0; k < 3; k++)
    if (sampled->axes[k] < box->rank)
      move_starts (&s->weights[k], &s->runs[sampled->axes[k]]);
  return RADIO_OK;
}

/* Sets box number k of those that the runs of the axes make; returns where it
 * begins in memory. */
static uint64_t
place_box (const struct sampling *s, size_t k, const int64_t *strides,
           struct radio_box *box)
{
  uint64_t offset = 0;
  box->rank = s->box->rank;
  for (size_t i = box->rank; i-- > 0;) {
    const struct runs *runs = &s->runs[i];
    const struct run *run = &runs->list[k % runs->n];
    k /= runs->n;
    box->start[i] = run->start;
    box->size[i] = run->n;
    offset += run->at * (uint64_t) strides[i];
  }
  return offset;
}

/* Reads the elements into memory. */
static enum radio_status
read_elements (struct sampling *s)
{
  size_t rank = s->box->rank, n = 1;
  struct radio_array *source = s->sampled->source;
  size_t item_nbytes = source->doc->type.item_nbytes;
  int64_t strides[RADIO_MAX_RANK];
  uint64_t nbytes = item_nbytes;
  for (size_t i = rank; i-- > 0;) {
    const struct runs *runs = &s->runs[s->order[i]];
    strides[s->order[i]] = (int64_t) nbytes;
    nbytes = rd_mul_sat (nbytes, runs->size);
    n *= runs->n;
  }
  RD_TRY (rd_context_allows (source->store->context, nbytes,
                             "interpolating a voxel"));
  RD_TRY (rd_buffer_reserve (s->elements, (size_t) nbytes));
  struct radio_request *requests RD_FREE
    = rd_calloc (n, sizeof *requests);
  if (!requests)
    return rd_fail_memory (n * sizeof *requests);
  for (size_t k = 0; k < n; k++) {
    struct radio_request *request = &requests[k];
    request->buffer = s->elements->data
                      + place_box (s, k, strides, &request->box);
    request->nbytes = SIZE_MAX;
    request->strides = strides;
  }
  return rd_array_read_within (source, requests, n, s->read->stop);
}

/*------------------------------------------------------------------------
 * Computing it
 *----------------------------------------------------------------------*/

static const struct radio_site interpolate_site = {
  "interpolate", RD_IN_PLACE, "rd_sampled_read", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* The work of a task, by operation, except placing its rows; the last counter
 * is of arithmetic operations. */
struct work {
  struct radio_site site;
  struct rd_counter_set set;
};

#define WORK(name)                                                      \
  {                                                                     \
    .site = { name, RD_IN_PLACE, "run_task", __FILE__, __LINE__,        \
              RADIO_SCOPE_WORK },                                       \
    .set.counters = {                                                   \
      [RD_AMOUNT_MAIN] = &rd_count_operated,                            \
      [RD_AMOUNT_BYTES] = &rd_count_sampled,                            \
      [RD_AMOUNT_MORE_BYTES] = &rd_count_computed,                      \
      [RD_AMOUNT_OTHER]                                                 \
        = &(const struct radio_counter) { "flop of " name, "flop" },    \
    },                                                                  \
  }

static const struct work operation_work[RD_NOPERATIONS] = {
  [RD_OP_RESAMPLE] = WORK ("resample"),
  [RD_OP_TO] = WORK ("to"),
  [RD_OP_SMOOTH] = WORK ("smooth"),
  [RD_OP_AFFINE] = WORK ("affine"),
  [RD_OP_LIKE] = WORK ("like"),
  [RD_OP_NOISE] = WORK ("noise"),
};
static const struct work prefilter_work = WORK ("prefilter");

/* Begins the scope of an operation, or of the prefilter of B-splines. */
static struct rd_counting
count_operation (const struct sampling *s, enum rd_operation operation)
{
  const struct work *work = &operation_work[operation];
  for (size_t k = 0; k < 3; k++)
    if (s->sampled->along[k].makes_coefficients)
      work = &prefilter_work;
  return rd_count_next_in (&work->site, &work->set);
}

/* Returns the number of the place of the other axes that a task is of, and the
 * box of its rows. */
static uint64_t
task_box (const struct sampling *s, uint64_t task, struct radio_box *part,
          uint64_t *plane, uint64_t *first, uint64_t *n)
{
  const struct rd_sampled *sampled = s->sampled;
  uint64_t band = task % s->nbands;
  task /= s->nbands;
  *plane = task % s->n[0];
  uint64_t place = task / s->n[0], number = place;
  *first = band * s->band;
  *n = rd_min_u64 (s->band, s->n[1] - *first);
  *part = *s->box;
  for (size_t i = s->nothers; i-- > 0;) {
    size_t axis = s->order[i];
    part->start[axis] += number % s->box->size[axis];
    part->size[axis] = 1;
    number /= s->box->size[axis];
  }
  if (sampled->axes[0] < part->rank) {
    part->start[sampled->axes[0]] += *plane;
    part->size[sampled->axes[0]] = 1;
  }
  if (sampled->axes[1] < part->rank) {
    part->start[sampled->axes[1]] += *first;
    part->size[sampled->axes[1]] = *n;
  }
  return place;
}

/* Adds noise to n rows of a part of the array; voxels count in the order of its
 * axes. */
static void
add_noise (const struct sampling *s, const struct radio_box *part, uint64_t n,
           size_t row_nbytes, unsigned char *rows)
{
  const uint64_t *shape = s->read->array->doc->shape;
  const size_t *axes = s->sampled->axes;
  uint64_t steps[RADIO_MAX_RANK + 1] = { 0 }, index = 0, step = 1;
  for (size_t i = part->rank; i-- > 0;) {
    steps[i] = step;
    index += part->start[i] * step;
    step *= shape[i];
  }
  steps[part->rank] = 0;
  const uint64_t count = rd_mul_sat (n, s->n[2]);
  RD_COUNTING_SCOPE struct rd_counting counting
    = count_operation (s, RD_OP_NOISE);
  counting.amounts[RD_AMOUNT_MAIN] = count;
  counting.amounts[RD_AMOUNT_BYTES] = counting.amounts[RD_AMOUNT_MORE_BYTES]
    = n * row_nbytes;
  counting.amounts[RD_AMOUNT_OTHER] = rd_mul_sat (count, RD_NOISE_FLOP);
  for (uint64_t i = 0; i < n; i++)
    rd_noise_add (&s->sampled->noise, s->block.type.dtype,
                  index + i * steps[axes[1]], steps[axes[2]],
                  rows + i * row_nbytes, (size_t) s->n[2]);
}

/* Computes the rows of a task: n of a plane, from `first' on, of the elements
 * of one place of the other axes, which are NULL if all is outside. */
static enum radio_status
compute_rows (const struct sampling *s, const unsigned char *elements,
              uint64_t plane, uint64_t first, uint64_t n, size_t row_nbytes,
              struct rd_scratch *scratch)
{
  const struct rd_sampled *sampled = s->sampled;
  struct rd_sampled_block block = s->block;
  struct rd_gather_block gathered = s->gathered;
  unsigned char *rows = scratch->fetched.data;
  /* Voxels that noise is added to are picked as they are. */
  RD_COUNTING_SCOPE struct rd_counting counting = sampled->adds_noise
    ? (struct rd_counting) { 0 } : count_operation (s, sampled->operation);
  counting.amounts[RD_AMOUNT_MAIN] = rd_mul_sat (n, s->n[2]);
  counting.amounts[RD_AMOUNT_MORE_BYTES] = n * row_nbytes;
  if (elements)
    counting.amounts[RD_AMOUNT_BYTES]
      = s->block_nbytes / (s->nbands * s->n[0]);
  block.elements = gathered.elements = elements;
  if (sampled->gathers) {
    uint64_t ninside = 0;
    for (uint64_t i = 0; i < n; i++) {
      const uint64_t at[3] = {
        s->first[0] + plane, s->first[1] + first + i, s->first[2]
      };
      ninside += rd_gather_row (&sampled->gather, &gathered, at, s->n[2],
                                rows + i * row_nbytes);
    }
    counting.amounts[RD_AMOUNT_OTHER]
      = rd_mul_sat (ninside, rd_gather_flop (&sampled->gather));
    return RADIO_OK;
  }
  size_t work_nbytes = rd_interpolate_nbytes (&block, first, n);
  RD_TRY (rd_buffer_reserve (&scratch->tile, work_nbytes));
  rd_interpolate_rows (&block, plane, first, n, scratch->tile.data, rows);
  if (counting.token != 0)
    counting.amounts[RD_AMOUNT_OTHER]
      = rd_interpolate_flop (&block, plane, first, n);
  return RADIO_OK;
}

static enum radio_status
run_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  const struct sampling *s = (const struct sampling *) job;
  struct radio_box part;
  uint64_t plane, first, n, nbytes = 0;
  RD_TRY (rd_read_stop_check (s->read->stop));
  uint64_t place = task_box (s, task, &part, &plane, &first, &n);
  const unsigned char *elements = s->is_outside ? NULL
    : s->elements->data + place * s->block_nbytes;
  size_t item_nbytes = s->block.type.item_nbytes;
  size_t row_nbytes = (size_t) s->n[2] * item_nbytes;
  RD_TRY (rd_buffer_reserve (&scratch->fetched, (size_t) n * row_nbytes));
  unsigned char *rows = scratch->fetched.data;
  RD_TRY (compute_rows (s, elements, plane, first, n, row_nbytes, scratch));
  if (s->sampled->adds_noise)
    add_noise (s, &part, n, row_nbytes, rows);
  struct rd_view view = { .data = rows };
  for (size_t k = 1; k < 3; k++)
    if (s->sampled->axes[k] < part.rank)
      view.strides[s->sampled->axes[k]]
        = (int64_t) (k == 1 ? row_nbytes : item_nbytes);
  return s->read->place (s->read, s->request, &part, &view, &nbytes);
}

/* Divides the rows of planes among tasks. */
static void
cut_bands (struct sampling *s, uint64_t nplanes)
{
  uint64_t nrows = s->n[1];
  uint64_t row_nbytes = rd_max_u64 (s->block.size[2], s->n[2])
                        * s->block.type.item_nbytes;
  /* For one row of outputs there may be some of elements. */
  uint64_t ratio = rd_div_up (s->block.size[1], nrows) + 1;
  uint64_t band = BAND_NBYTES / rd_mul_sat (row_nbytes, ratio);
  unsigned nthreads = s->sampled->source->store->context->nthreads;
  uint64_t wanted = rd_div_up (4 * (uint64_t) nthreads, nplanes);
  band = rd_min_u64 (band, rd_div_up (nrows, wanted));
  s->band = rd_max_u64 (band, 1);
  s->nbands = rd_div_up (nrows, s->band);
}

/* A request of a read. */
struct wanted {
  struct rd_tile_read *read;
  size_t request;
  struct rd_buffer elements;          /* of each part in turn */
};

static void
free_wanted (struct wanted *wanted)
{
  rd_buffer_free (&wanted->elements);
}

static enum radio_status
sample_part (const struct rd_sampled *sampled, const struct radio_box *box,
             void *data)
{
  struct wanted *wanted = data;
  struct rd_tile_read *read = wanted->read;
  const struct rd_array_doc *doc = sampled->source->doc;
  struct sampling s RD_CLEANUP (free_sampling) = {
    .read = read, .request = wanted->request, .sampled = sampled, .box = box,
    .elements = &wanted->elements,
    .block = {
      .type = doc->type, .interpolation = sampled->interpolation,
      .size = { 1, 1, 1 },
    },
  };
  RD_TRY (sampled->gathers ? find_gathered (&s) : find_elements (&s));
  if (!s.is_outside)
    RD_TRY (read_elements (&s));
  s.block_nbytes = doc->type.item_nbytes;
  for (size_t k = 0; k < 3; k++) {
    if (sampled->axes[k] < box->rank && !s.is_outside)
      s.block.size[k] = s.runs[sampled->axes[k]].size;
    s.block_nbytes *= s.block.size[k];
  }
  s.block.weights = s.weights;
  uint64_t nplanes = s.n[0];
  for (size_t i = 0; i < s.nothers; i++)
    nplanes *= box->size[s.order[i]];
  cut_bands (&s, nplanes);
  s.job.run = run_task;
  s.job.n = nplanes * s.nbands;
  s.job.site = &interpolate_site;
  return rd_pool_run (read->array->store->context->pool, &s.job);
}

/* Warns if the parts of a request inflate the same of a file. */
static void
warn_inflated (const struct rd_tile_read *read)
{
  const struct rd_sampled *sampled = read->array->sampled;
  const struct radio_context *context = sampled->source->store->context;
  if (!rd_array_is_inflated (sampled->source))
    return;
  for (size_t i = 0; i < read->n; i++) {
    const struct radio_box *box = &read->requests[i].box;
    struct rd_inflation inflation = { 0 };
    if (radio_box_count (box) == 0
        || rd_sampled_nbytes (sampled, box) <= rd_sampled_limit (context))
      continue;
    rd_inflation_add (&inflation, read->array, box);
    rd_inflation_warn (&inflation, read->array,
                       rd_mul_sat (rd_sampled_nbytes (sampled, box),
                                   RD_SAMPLED_SHARE));
  }
}

enum radio_status
rd_sampled_read (struct rd_tile_read *read)
{
  struct wanted wanted RD_CLEANUP (free_wanted) = { .read = read };
  warn_inflated (read);
  for (size_t i = 0; i < read->n; i++) {
    wanted.request = i;
    if (radio_box_count (&read->requests[i].box) > 0)
      RD_TRY (rd_sampled_cut (read->array->sampled, &read->requests[i].box,
                              sample_part, &wanted));
  }
  return RADIO_OK;
}

struct touching {
  rd_touched_fn *touched;
  void *user_data;
};

static enum radio_status
touch_part (const struct rd_sampled *sampled, const struct radio_box *box,
            void *data)
{
  static const int64_t strides[RADIO_MAX_RANK];
  const struct touching *touching = data;
  struct sampling s RD_CLEANUP (free_sampling) = {
    .sampled = sampled, .box = box,
  };
  size_t n = 1;
  RD_TRY (sampled->gathers ? find_gathered (&s) : find_elements (&s));
  for (size_t i = 0; i < box->rank; i++)
    n *= s.is_outside ? 0 : s.runs[i].n;
  for (size_t k = 0; k < n; k++) {
    struct radio_box source;
    (void) place_box (&s, k, strides, &source);
    RD_TRY (touching->touched (sampled->source, &source,
                               touching->user_data));
  }
  return RADIO_OK;
}

enum radio_status
rd_sampled_boxes (const struct rd_sampled *sampled,
                  const struct radio_box *box, rd_touched_fn *touched,
                  void *user_data)
{
  struct touching touching = { touched, user_data };
  return rd_sampled_cut (sampled, box, touch_part, &touching);
}
