/* SPDX-License-Identifier: MIT */
/* Reading arrays without tiles: the box of a request is cut into runs of
 * bytes, along the slower axes, and each is placed as a tile is.  If the caller
 * wants another order, a run consists of separate pieces, so that writing it
 * fills cache lines. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/linear.h"
#include "src/element/box.h"
#include "src/element/pages.h"
#include "src/element/rows.h"

/* How a box is cut: along each axis into parts of `step' elements. */
struct cutting {
  size_t order[RADIO_MAX_RANK];       /* axes, the slowest first */
  uint64_t step[RADIO_MAX_RANK];
  uint64_t nruns;
  size_t apart;                       /* along this axis each element begins a
                                         piece of its own; the rank: none */
  uint64_t lead;                      /* the first part along it has that many
                                         more, so that others begin with a line
                                         of the caller's memory */
};

/* A run of pieces fills so much of the caller's memory in a row: some cache
 * lines. */
#define FILLED_NBYTES 256

static void
order_axes (const struct rd_linear *linear, size_t rank, size_t *order)
{
  for (size_t i = 0; i < rank; i++) {
    size_t at = i;
    for (; at > 0 && linear->strides[order[at - 1]] < linear->strides[i]; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

/* The bytes from the first to the last element of a box. */
static uint64_t
span_nbytes (const struct rd_linear *linear, const struct radio_box *box,
             uint64_t item_nbytes)
{
  uint64_t nbytes = item_nbytes;
  for (size_t i = 0; i < box->rank; i++)
    nbytes += (box->size[i] - 1) * (uint64_t) linear->strides[i];
  return nbytes;
}

/* Cuts axes so that a run has at most cap_nbytes: those before the first one
 * that does not fit are cut into single elements. */
static void
cut_axes (const struct rd_linear *linear, const struct radio_box *box,
          uint64_t item_nbytes, uint64_t cap_nbytes, struct cutting *cutting)
{
  uint64_t nbytes = item_nbytes;
  bool is_cut = false;
  for (size_t level = box->rank; level > 0; level--) {
    size_t axis = cutting->order[level - 1];
    uint64_t stride = (uint64_t) linear->strides[axis];
    uint64_t n = box->size[axis], most = 1;
    bool is_near = n == 1 || stride - nbytes <= linear->gap_nbytes;
    if (!is_cut && is_near && cap_nbytes > nbytes)
      most = rd_add_sat ((cap_nbytes - nbytes) / stride, 1);
    cutting->step[axis] = rd_min_u64 (most, n);
    is_cut = is_cut || most < n;
    nbytes += (n - 1) * stride;
  }
}

/* Returns the axis along which a request's elements are closest in the caller's
 * memory. */
static size_t
fastest_axis (const struct radio_request *request)
{
  size_t fastest = 0;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < request->box.rank; i++) {
    uint64_t step = request->strides ? rd_abs_i64 (request->strides[i]) : 0;
    if (request->box.size[i] > 1 && step <= least) {
      fastest = i;
      least = step;
    }
  }
  return fastest;
}

/* Returns the number of parts along an axis, and finds one of them. */
static uint64_t
nparts_along (const struct cutting *cutting, size_t axis, uint64_t size)
{
  uint64_t lead = axis == cutting->apart ? cutting->lead : 0;
  return rd_div_up (size - lead, cutting->step[axis]);
}

static void
find_part (const struct cutting *cutting, size_t axis, uint64_t number,
           struct radio_box *part)
{
  uint64_t lead = axis == cutting->apart ? cutting->lead : 0;
  uint64_t first = number > 0 ? lead + number * cutting->step[axis] : 0;
  uint64_t most = cutting->step[axis] + (number == 0 ? lead : 0);
  part->start[axis] += first;
  part->size[axis] = rd_min_u64 (most, part->size[axis] - first);
}

static void
cut_box (const struct rd_linear *linear, const struct radio_request *request,
         uint64_t item_nbytes, struct cutting *cutting)
{
  const struct radio_box *box = &request->box;
  order_axes (linear, box->rank, cutting->order);
  cut_axes (linear, box, item_nbytes, linear->cap_nbytes, cutting);
  cutting->apart = box->rank;
  cutting->lead = 0;
  if (box->rank > 0 && linear->pieces_nbytes > 0) {
    size_t fastest = fastest_axis (request);
    uint64_t filled = rd_min_u64 (rd_max_u64 (FILLED_NBYTES / item_nbytes, 1),
                                  box->size[fastest]);
    if (cutting->step[fastest] < filled) {
      cut_axes (linear, box, item_nbytes, linear->pieces_nbytes / filled,
                cutting);
      cutting->step[fastest] = filled;
      cutting->apart = fastest;
      uint64_t lead = rd_line_lead (request->buffer, request->strides
                                    ? request->strides[fastest] : 0);
      cutting->lead = lead < filled && lead < box->size[fastest] ? lead : 0;
    }
  }
  cutting->nruns = 1;
  for (size_t i = 0; i < box->rank; i++)
    cutting->nruns *= nparts_along (cutting, i, box->size[i]);
}

/* Returns the box of a run of a request. */
static struct radio_box
run_box (const struct cutting *cutting, const struct radio_box *box,
         uint64_t number)
{
  struct radio_box part = *box;
  for (size_t i = box->rank; i > 0; i--) {
    size_t axis = cutting->order[i - 1];
    uint64_t n = nparts_along (cutting, axis, box->size[axis]);
    find_part (cutting, axis, number % n, &part);
    number /= n;
  }
  return part;
}

static uint64_t
offset_of (const struct rd_linear *linear, const struct radio_box *box)
{
  uint64_t offset = 0;
  for (size_t i = 0; i < box->rank; i++)
    offset += box->start[i] * (uint64_t) linear->strides[i];
  return offset;
}

/* Returns the distance of pieces in memory, an odd number of cache lines: lines
 * at a power of two would evict each other. */
static uint64_t
piece_step (const struct rd_linear_run *run)
{
  return (rd_div_up (run->nbytes, RD_LINE_NBYTES) | 1) * RD_LINE_NBYTES;
}

/* Returns the memory that a run needs. */
static uint64_t
run_nbytes (const struct rd_linear_run *run)
{
  return run->npieces == 1 ? run->nbytes : run->npieces * piece_step (run);
}

enum radio_status
rd_linear_place (struct rd_tile_read *read, const struct rd_linear_run *run,
                 const unsigned char *bytes)
{
  const struct radio_array *array = read->array;
  const struct radio_request *request = &read->requests[run->request];
  struct cutting cutting;
  struct rd_view view = { .data = bytes, .swapped = array->linear->swapped };
  uint64_t nbytes = 0;
  RD_TRY (rd_read_stop_check (read->stop));
  cut_box (array->linear, request, array->doc->type.item_nbytes, &cutting);
  const struct radio_box part = run_box (&cutting, &request->box, run->number);
  memcpy (view.strides, array->linear->strides, sizeof view.strides);
  if (cutting.apart < part.rank && !array->linear->is_mapped)
    view.strides[cutting.apart] = (int64_t) piece_step (run);
  return read->place (read, run->request, &part, &view, &nbytes);
}

unsigned char *
rd_linear_destination (const struct rd_tile_read *read,
                       const struct rd_linear_run *run, bool *computes)
{
  const struct radio_array *array = read->array;
  const struct radio_request *request = &read->requests[run->request];
  uint64_t item_nbytes = array->doc->type.item_nbytes;
  struct cutting cutting;
  if (!read->find_destination
      || (array->linear->swapped && item_nbytes > 1))
    return NULL;
  cut_box (array->linear, request, item_nbytes, &cutting);
  const struct radio_box part = run_box (&cutting, &request->box, run->number);
  if (rd_mul_sat (radio_box_count (&part), item_nbytes) != run->nbytes)
    return NULL;
  unsigned char *to = read->find_destination (read, run->request, &part,
                                              array->linear->strides,
                                              computes);
  if (to)
    rd_pages_populate (read->pages, to, run->nbytes);
  return to;
}

static int
compare_runs (const void *a, const void *b)
{
  const struct rd_linear_run *x = a, *y = b;
  return rd_compare_u64 (x->offset, y->offset);
}

/* Lists the runs of all requests.  Returns their number, of which there may be
 * up to 2^64 - 1; runs may be NULL. */
static uint64_t
list_runs (const struct rd_tile_read *read, struct rd_linear_run *runs)
{
  const struct radio_array *array = read->array;
  uint64_t item_nbytes = array->doc->type.item_nbytes, n = 0;
  for (size_t i = 0; i < read->n; i++) {
    const struct radio_request *request = &read->requests[i];
    struct cutting cutting;
    if (radio_box_count (&request->box) == 0)
      continue;
    cut_box (array->linear, request, item_nbytes, &cutting);
    for (uint64_t k = 0; runs && k < cutting.nruns; k++) {
      struct radio_box part = run_box (&cutting, &request->box, k);
      struct rd_linear_run *run = &runs[n + k];
      *run = (struct rd_linear_run) {
        .offset = offset_of (array->linear, &part), .npieces = 1,
        .request = i, .number = k,
      };
      if (cutting.apart < part.rank) {
        run->npieces = part.size[cutting.apart];
        run->distance = (uint64_t) array->linear->strides[cutting.apart];
        part.size[cutting.apart] = 1;
      }
      run->nbytes = span_nbytes (array->linear, &part, item_nbytes);
    }
    n = rd_add_sat (n, cutting.nruns);
  }
  return n;
}

const struct radio_site rd_linear_runs_site = {
  "runs", RD_IN_OPERATION, "rd_linear_read", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Refuses runs that are not all there, before anything is read. */
static enum radio_status
check_runs (const struct radio_array *array,
            const struct rd_linear_run *runs, uint64_t n)
{
  const struct rd_linear *linear = array->linear;
  uint64_t present = linear->nbytes - linear->missing_nbytes, wanted = 0;
  if (linear->missing_nbytes == 0)
    return RADIO_OK;
  for (uint64_t i = 0; i < n; i++)
    wanted = rd_max_u64 (wanted, runs[i].offset + runs[i].nbytes
                                 + (runs[i].npieces - 1) * runs[i].distance);
  if (wanted <= present)
    return RADIO_OK;
  return rd_array_fail_in (array, rd_fail (
    RADIO_ERROR_FORMAT, "cut short: it has %" PRIu64 " of %" PRIu64 " bytes of "
    "voxels, and this needs those up to %" PRIu64, present, linear->nbytes,
    wanted));
}

enum radio_status
rd_linear_read (struct rd_tile_read *read)
{
  const struct radio_array *array = read->array;
  uint64_t n, nbytes;
  RD_FREE struct rd_linear_run *runs = NULL;
  if (array->linear->memory)
    return rd_memory_read (read);
  {
    RD_SCOPE ("plan", RD_IN_METADATA);
    n = list_runs (read, NULL);
    if (n == 0)
      return RADIO_OK;
    if (rd_mul_overflows (n, sizeof *runs, &nbytes))
      nbytes = UINT64_MAX;
    RD_TRY (rd_context_allows (array->store->context, nbytes, "the plan"));
    runs = rd_malloc ((size_t) nbytes);
    if (!runs)
      return rd_fail_memory ((size_t) nbytes);
    list_runs (read, runs);
    if (read->n > 1)
      qsort (runs, (size_t) n, sizeof *runs, compare_runs);
    RD_TRY (check_runs (array, runs, n));
  }
  return array->linear->read (array->linear, read, runs, (size_t) n);
}

void
rd_linear_identify (struct radio_array *array)
{
  struct rd_linear *linear = array->linear;
  bool is_stable;
  linear->is_identified = rd_io_identify (array->store->io, linear->file,
                                          &linear->identity, &is_stable)
                          && is_stable;
}

/* A store on a network refuses reads of another version. */
bool
rd_linear_is_unchanged (const struct radio_array *array,
                        struct rd_file_identity *now)
{
  const struct rd_linear *linear = array->linear;
  bool is_stable;
  *now = linear->identity;
  if (!array->store->io->ops->identify)
    return linear->is_identified;
  return rd_io_identify (array->store->io, linear->file, now, &is_stable)
         && linear->is_identified
         && memcmp (now, &linear->identity, sizeof *now) == 0;
}

/*------------------------------------------------------------------------
 * Objects as they are
 *----------------------------------------------------------------------*/

/* Requests in flight, each of which has a thread. */
#define MAX_REQUESTS 16

struct object {
  struct rd_linear base;
  struct rd_linear_object is;
  uint64_t offset;
  char key[];
};

struct object_job {
  struct rd_job job;
  struct object *object;
  struct rd_tile_read *read;
  const struct rd_linear_run *runs;
  const unsigned char *map;           /* the object in memory; or NULL */
  uint64_t map_nbytes;                /* that it has */
};

static enum radio_status
fail_short (const struct object *object, uint64_t object_nbytes)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s/%s: cut short since it was opened: "
                  "%" PRIu64 " bytes", object->is.store->io->uri, object->key,
                  object_nbytes);
}

/* Reads some of the array's bytes to a place with room for them. */
static enum radio_status
read_bytes (const struct object_job *job, uint64_t offset, uint64_t nbytes,
            struct rd_buffer *into)
{
  const struct object *object = job->object;
  struct rd_io *io = object->is.store->io;
  struct rd_io_get get = {
    .key = object->key, .file = object->base.file, .range = RD_RANGE_SPAN,
    .offset = object->offset + offset, .nbytes = (size_t) nbytes,
    .into = into,
    .object_nbytes = object->is.object_nbytes, .version = object->is.version,
  };
  RD_TRY (rd_read_stop_check (job->read->stop));
  RD_TRY (rd_read_stop_io_read (job->read->stop, io, &get));
  if (into->nbytes < nbytes)
    return fail_short (object, get.object_nbytes);
  return RADIO_OK;
}

/* The kernel copies a third faster if both sides are at the same distance from
 * a cache line.  So a long run is read to the next such place after the place
 * of its values, except its end, which would not fit. */
#define LONG_NBYTES ((uint64_t) 64 << 10)

/* Reads a run to where its values belong, and computes them. */
static enum radio_status
read_and_compute (const struct object_job *job,
                  const struct rd_linear_run *run, unsigned char *to)
{
  uint64_t item_nbytes = job->read->array->doc->type.item_nbytes;
  uint64_t rest_nbytes = (job->object->offset + run->offset - (uintptr_t) to)
                         % RD_LINE_NBYTES;
  unsigned char end[RD_LINE_NBYTES];
  if (run->nbytes < LONG_NBYTES || rest_nbytes % item_nbytes != 0)
    rest_nbytes = 0;
  uint64_t nbytes = run->nbytes - rest_nbytes;
  struct rd_buffer there = {
    .data = to + rest_nbytes, .capacity = (size_t) nbytes,
  };
  struct rd_buffer rest = { .data = end, .capacity = sizeof end };
  RD_TRY (read_bytes (job, run->offset, nbytes, &there));
  if (rest_nbytes > 0)
    RD_TRY (read_bytes (job, run->offset + nbytes, rest_nbytes, &rest));
  return job->read->compute (job->read, to, there.data, (size_t) nbytes, end,
                             (size_t) rest_nbytes);
}

static enum radio_status
read_run (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct object_job *job = (struct object_job *) base;
  const struct rd_linear_run *run = &job->runs[task];
  struct rd_buffer *fetched = &scratch->fetched;
  struct rd_buffer there = { .capacity = (size_t) run->nbytes };
  uint64_t offset = job->object->offset + run->offset;
  if (job->map) {
    if (offset + (run->npieces - 1) * run->distance + run->nbytes
        > job->map_nbytes)
      return fail_short (job->object, job->map_nbytes);
    return rd_linear_place (job->read, run, job->map + offset);
  }
  /* A store on a network may receive more than it keeps. */
  if (!job->object->is.store->io->ops->is_blocking) {
    RD_TRY (read_bytes (job, run->offset, run->nbytes, fetched));
    return rd_linear_place (job->read, run, fetched->data);
  }
  bool computes;
  there.data = rd_linear_destination (job->read, run, &computes);
  if (there.data) {
    if (computes)
      return read_and_compute (job, run, there.data);
    RD_TRY (read_bytes (job, run->offset, run->nbytes, &there));
    RD_COUNT (delivered, run->nbytes);
    return RADIO_OK;
  }
  RD_TRY (rd_buffer_reserve (fetched, (size_t) run_nbytes (run)));
  for (uint64_t i = 0; i < run->npieces; i++) {
    there.data = fetched->data + i * piece_step (run);
    RD_TRY (read_bytes (job, run->offset + i * run->distance, run->nbytes,
                        &there));
  }
  return rd_linear_place (job->read, run, fetched->data);
}

static enum radio_status
read_object (struct rd_linear *linear, struct rd_tile_read *read,
             const struct rd_linear_run *runs, size_t n)
{
  struct object *object = (struct object *) linear;
  const struct radio_context *context = object->is.store->context;
  bool is_blocking = object->is.store->io->ops->is_blocking;
  unsigned nthreads = is_blocking ? context->nthreads : MAX_REQUESTS;
  uint64_t most_nbytes = 1;
  for (size_t i = 0; i < n; i++)
    most_nbytes = rd_max_u64 (most_nbytes, run_nbytes (&runs[i]));
  struct object_job job = {
    .job = {
      .run = read_run, .n = n, .site = &rd_linear_runs_site, .spread = true,
      .max_active = rd_fetch_share_limit (read, RD_TILE_PARTS, most_nbytes,
                                          nthreads),
    },
    .object = object, .read = read, .runs = runs,
  };
  if (object->base.is_mapped)
    job.map = rd_io_map (object->is.store->io, object->base.file,
                         &job.map_nbytes);
  if (is_blocking)
    return rd_pool_run (context->pool, &job.job);
  return rd_pool_run_apart ((unsigned) rd_min_u64 (job.job.max_active, n),
                            &job.job);
}

static void
close_object (struct rd_linear *linear)
{
  struct object *object = (struct object *) linear;
  rd_io_release (object->is.store->io, object->base.file);
  rd_free (object);
}

/* Larger pieces than those of shards: nothing but copying follows. */
#define LOCAL_CAP_NBYTES ((uint64_t) 512 << 10)

/* A run of pieces is larger, since each of them is a call of the kernel. */
#define PIECES_NBYTES ((uint64_t) 4 << 20)

/* Unwanted bytes of a mapped object cost nothing; a run is what one thread
 * copies at a time. */
#define MAPPED_CAP_NBYTES ((uint64_t) 4 << 20)

/* Elements are aligned in memory, as the NIfTI standard wants them in files. */
#define MAPPED_ALIGNMENT 16

enum radio_status
rd_linear_object_open (const struct rd_linear_object *is, uint64_t offset,
                       struct rd_linear **result)
{
  size_t nbytes = strlen (is->key) + 1;
  struct rd_io *io = is->store->io;
  struct object *object = rd_calloc (1, sizeof *object + nbytes);
  if (!object)
    return rd_fail_memory (sizeof *object + nbytes);
  object->base = (struct rd_linear) {
    .read = read_object, .close = close_object,
    .gap_nbytes = io->coalesce_gap_nbytes,
    .cap_nbytes = rd_max_u64 (io->coalesce_cap_nbytes, LOCAL_CAP_NBYTES),
    .pieces_nbytes = io->ops->is_blocking ? PIECES_NBYTES : 0,
  };
  object->is = *is;
  object->offset = offset;
  object->is.key = memcpy (object->key, is->key, nbytes);
  object->base.file = rd_io_hold (io, object->key, false);
  uint64_t map_nbytes;
  if (is->map && offset % MAPPED_ALIGNMENT == 0
      && rd_io_map (io, object->base.file, &map_nbytes)) {
    object->base.is_mapped = true;
    object->base.gap_nbytes = object->base.cap_nbytes = MAPPED_CAP_NBYTES;
  }
  *result = &object->base;
  return RADIO_OK;
}
