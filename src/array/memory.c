/* SPDX-License-Identifier: MIT */
/* Arrays whose elements lie in the caller's memory, with any strides: a read
 * places them, and computes values of them, by parts that fit into the caches,
 * also where they are. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/array/derived.h"
#include "src/array/parts.h"
#include "src/array/linear.h"
#include "src/base/checked.h"
#include "src/element/box.h"

/* Parts of a read: at least some for each thread, so that one which begins late
 * takes fewer, of sizes between these.  A read smaller than two of the smallest
 * is done before another thread would have begun. */
#define THREAD_PARTS 4
#define LEAST_NBYTES ((uint64_t) 128 << 10)
#define MOST_NBYTES ((uint64_t) 512 << 10)

/* Elements of a part along the axes on which they are closest to each other: a
 * few cache lines, if the axes are that long. */
#define CLOSE_NELEMENTS 64

/* How a request is cut: into parts of `step' elements along each axis. */
struct cutting {
  uint64_t step[RADIO_MAX_RANK];
  uint64_t end;               /* parts of it and of the requests before */
};

struct memory_job {
  struct rd_job job;
  struct rd_tile_read *read;
  const struct cutting *cuttings;
};

/* Cuts a request into parts of about that many bytes: along axes whose elements
 * are far from each other on both sides first. */
static void
cut_request (const struct radio_array *array,
             const struct radio_request *request, uint64_t part_nbytes,
             struct cutting *cutting)
{
  const struct radio_box *box = &request->box;
  uint64_t item_nbytes = array->doc->type.item_nbytes;
  uint64_t nbytes = rd_mul_sat (radio_box_count (box), item_nbytes);
  uint64_t distance[RADIO_MAX_RANK], closest[2] = { UINT64_MAX, UINT64_MAX };
  uint64_t nparts = 1;
  int64_t to[RADIO_MAX_RANK];
  bool is_cut[RADIO_MAX_RANK] = { false };
  (void) rd_given_strides (request->strides, box->rank, box->size,
                           (size_t) item_nbytes, to);
  for (size_t i = 0; i < box->rank; i++) {
    uint64_t from = rd_abs_i64 (array->linear->strides[i]);
    cutting->step[i] = box->size[i];
    distance[i] = rd_min_u64 (from, rd_abs_i64 (to[i]));
    if (box->size[i] > 1) {
      closest[0] = rd_min_u64 (closest[0], from);
      closest[1] = rd_min_u64 (closest[1], rd_abs_i64 (to[i]));
    }
  }
  while (nbytes > part_nbytes) {
    size_t axis = box->rank;
    for (size_t i = 0; i < box->rank; i++)
      if (!is_cut[i] && (axis == box->rank || distance[i] > distance[axis]))
        axis = i;
    if (axis == box->rank)
      break;
    bool is_close = rd_abs_i64 (array->linear->strides[axis]) == closest[0]
                    || rd_abs_i64 (to[axis]) == closest[1];
    uint64_t size = box->size[axis];
    uint64_t n = rd_min_u64 (rd_div_up (nbytes, part_nbytes), size);
    uint64_t step = rd_div_up (size, n);
    if (is_close)
      step = rd_min_u64 (rd_div_up (step, CLOSE_NELEMENTS) * CLOSE_NELEMENTS,
                         size);
    cutting->step[axis] = step;
    nbytes = nbytes / size * step;
    is_cut[axis] = true;
  }
  for (size_t i = 0; i < box->rank; i++)
    nparts *= rd_div_up (box->size[i], cutting->step[i]);
  cutting->end = nparts;
}

/* Returns a part of a box. */
static struct radio_box
find_part (const struct cutting *cutting, const struct radio_box *box,
           uint64_t number)
{
  struct radio_box part = *box;
  for (size_t i = box->rank; i-- > 0;) {
    uint64_t n = rd_div_up (box->size[i], cutting->step[i]);
    uint64_t first = number % n * cutting->step[i];
    part.start[i] += first;
    part.size[i] = rd_min_u64 (cutting->step[i], box->size[i] - first);
    number /= n;
  }
  return part;
}

static const unsigned char *
find_element (const struct radio_array *array, const uint64_t *index)
{
  uint64_t offset = 0;
  for (size_t i = 0; i < array->doc->rank; i++)
    offset += index[i] * (uint64_t) array->linear->strides[i];
  return array->linear->memory + (int64_t) offset;
}

static enum radio_status
place_part (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  const struct memory_job *job = (const struct memory_job *) base;
  const struct radio_array *array = job->read->array;
  struct rd_view view = { .shuffled = false };
  uint64_t nbytes = 0;
  size_t i = 0, end = job->read->n;
  (void) scratch;
  RD_TRY (rd_read_stop_check (job->read->stop));
  while (i + 1 < end) {
    size_t middle = i + (end - i) / 2;
    if (job->cuttings[middle - 1].end <= task)
      i = middle;
    else
      end = middle;
  }
  const struct radio_box part = find_part (
    &job->cuttings[i], &job->read->requests[i].box,
    task - (i > 0 ? job->cuttings[i - 1].end : 0));
  view.data = find_element (array, part.start);
  memcpy (view.strides, array->linear->strides, sizeof view.strides);
  return job->read->place (job->read, i, &part, &view, &nbytes);
}

enum radio_status
rd_memory_read (struct rd_tile_read *read)
{
  const struct radio_array *array = read->array;
  const struct radio_context *context = array->store->context;
  struct cutting one, *cuttings = &one;
  struct cutting *several RD_FREE = NULL;
  uint64_t nbytes = 0, nparts = 0;
  if (read->n > 1)
    cuttings = several = rd_calloc (read->n, sizeof *several);
  if (!cuttings)
    return rd_fail_memory (read->n * sizeof *several);
  for (size_t i = 0; i < read->n; i++)
    nbytes = rd_add_sat (nbytes, rd_mul_sat (
      radio_box_count (&read->requests[i].box), array->doc->type.item_nbytes));
  if (nbytes == 0)
    return RADIO_OK;
  uint64_t part_nbytes = nbytes / ((uint64_t) THREAD_PARTS * context->nthreads);
  part_nbytes = rd_max_u64 (LEAST_NBYTES, rd_min_u64 (part_nbytes,
                                                      MOST_NBYTES));
  for (size_t i = 0; i < read->n; i++) {
    cuttings[i].end = 0;
    if (radio_box_count (&read->requests[i].box) > 0)
      cut_request (array, &read->requests[i], part_nbytes, &cuttings[i]);
    nparts = cuttings[i].end += nparts;
  }
  struct memory_job job = {
    .job = {
      .run = place_part, .n = nparts, .site = &rd_linear_runs_site,
      .spread = true, .max_active = nbytes < 2 * LEAST_NBYTES,
    },
    .read = read, .cuttings = cuttings,
  };
  return rd_pool_run (context->pool, &job.job);
}

/*------------------------------------------------------------------------
 * In place
 *----------------------------------------------------------------------*/

/* Axes with more than one element, those with larger strides first. */
struct axes {
  size_t n;
  uint64_t size[RADIO_MAX_RANK];
  int64_t stride[RADIO_MAX_RANK];
  int64_t span[RADIO_MAX_RANK + 1];   /* of the axes from this one on, between
                                         the first bytes of elements */
  int64_t item_nbytes;
  unsigned steps_left;                /* of the search */
};

/* Steps after which a search ends without a result.  Axes of which none reaches
 * into the next one take one for each. */
#define MOST_STEPS 10000

/* Lists the axes; false if elements share memory or are too far apart. */
static bool
list_axes (const struct radio_array *source, struct axes *axes)
{
  const struct rd_array_doc *doc = source->doc;
  uint64_t span = 0;
  *axes = (struct axes) {
    .item_nbytes = (int64_t) doc->type.item_nbytes, .steps_left = MOST_STEPS,
  };
  for (size_t i = 0; i < doc->rank; i++) {
    uint64_t stride = rd_abs_i64 (source->linear->strides[i]);
    span = rd_add_sat (span, rd_mul_sat (doc->shape[i] - 1, stride));
    if (doc->shape[i] == 1)
      continue;
    if (stride == 0 || span > INT64_MAX / 4)
      return false;
    size_t at = axes->n++;
    for (; at > 0 && axes->stride[at - 1] < (int64_t) stride; at--) {
      axes->stride[at] = axes->stride[at - 1];
      axes->size[at] = axes->size[at - 1];
    }
    axes->stride[at] = (int64_t) stride;
    axes->size[at] = doc->shape[i];
  }
  for (size_t i = axes->n; i-- > 0;)
    axes->span[i] = axes->span[i + 1]
                    + (int64_t) (axes->size[i] - 1) * axes->stride[i];
  return true;
}

/* True if two different elements share memory, whose places differ by this
 * along the axes before, or the search ends.  Those after it can make up for a
 * distance up to their span. */
static bool
finds_shared (struct axes *axes, size_t axis, int64_t distance, bool differs)
{
  if (axis == axes->n)
    return differs && distance < axes->item_nbytes
           && distance > -axes->item_nbytes;
  if (axes->steps_left-- == 0)
    return true;
  int64_t stride = axes->stride[axis];
  int64_t most = (int64_t) axes->size[axis] - 1;
  int64_t reach = axes->span[axis + 1] + axes->item_nbytes - 1;
  int64_t first = -((reach + distance) / stride);
  int64_t last = (reach - distance) / stride;
  for (int64_t i = first > -most ? first : -most; i <= last && i <= most; i++)
    if (finds_shared (axes, axis + 1, distance + i * stride,
                      differs || i != 0))
      return true;
  return false;
}

/* True if no elements share bytes by their strides. */
static bool
are_apart (const struct radio_array *source)
{
  struct axes axes;
  if (!list_axes (source, &axes))
    return false;
  return !finds_shared (&axes, 0, 0, false);
}

/* True if each element that a request delivers lies where it is read: in this
 * box of the source. */
static bool
is_in_place (const struct radio_array *array, const struct radio_array *source,
             const struct radio_request *request, const int64_t *strides,
             struct radio_box *from)
{
  const struct radio_box *box = &request->box;
  *from = *box;
  if (array->sampled)
    return false;
  if (array->derived) {
    struct rd_grid_cursor cursor;
    struct rd_grid_piece piece;
    if (rd_grid_cursor_init (&cursor, &array->derived->grid, box) != 1
        || !rd_grid_next (&cursor, &piece) || piece.fill > 0
        || array->derived->source != source)
      return false;
    for (size_t i = 0; i < box->rank; i++)
      if (array->derived->grid.axes[i].source != i
          || (piece.step[i] != 1 && box->size[i] > 1))
        return false;
    *from = piece.source;
  }
  for (size_t i = 0; i < box->rank; i++)
    if (box->size[i] > 1 && strides[i] != source->linear->strides[i])
      return false;
  return request->buffer == find_element (source, from->start);
}

/* The array in memory that an array is read from; NULL: from elsewhere. */
static const struct radio_array *
find_source (const struct radio_array *array)
{
  array = rd_array_root (array);
  return array->linear && array->linear->memory ? array : NULL;
}

/* A request that is delivered in place. */
struct in_place {
  struct radio_box from;
  size_t request;
};

static int
compare_starts (const void *a, const void *b)
{
  const struct in_place *x = a, *y = b;
  return rd_compare_u64 (x->from.start[0], y->from.start[0]);
}

/* Fails if a box that a request reads is in that of another one in place.
 * These are sorted by starts; the longest has that many elements along the
 * first axis. */
static enum radio_status
check_box (const struct radio_array *array, const struct radio_box *box,
           size_t request, const struct in_place *list, size_t n,
           uint64_t longest)
{
  size_t first = 0, end = n;
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    if (list[middle].from.start[0] + longest <= box->start[0])
      first = middle + 1;
    else
      end = middle;
  }
  for (size_t i = first; i < n; i++) {
    struct radio_box common;
    if (list[i].from.start[0] >= box->start[0] + box->size[0])
      break;
    if (list[i].request != request
        && rd_box_intersect (&list[i].from, box, &common))
      return rd_array_fail_in (array, rd_fail (
        RADIO_ERROR_ARGUMENT, "request %zu is delivered in place, and request "
        "%zu reads some of the same voxels; read them by another call",
        list[i].request, request));
  }
  return RADIO_OK;
}

/* Fails if a request reads what another one, in place, overwrites. */
static enum radio_status
check_others (const struct radio_array *array,
              const struct radio_request *requests, size_t n,
              struct in_place *list, size_t nlist)
{
  uint64_t longest = 0;
  qsort (list, nlist, sizeof *list, compare_starts);
  for (size_t i = 0; i < nlist; i++)
    longest = rd_max_u64 (longest, list[i].from.size[0]);
  for (size_t i = 0; i < n; i++) {
    struct rd_grid_cursor cursor;
    struct rd_grid_piece piece;
    if (radio_box_count (&requests[i].box) == 0)
      continue;
    if (!array->derived) {
      RD_TRY (check_box (array, &requests[i].box, i, list, nlist, longest));
      continue;
    }
    (void) rd_grid_cursor_init (&cursor, &array->derived->grid,
                                &requests[i].box);
    while (rd_grid_next (&cursor, &piece))
      if (piece.fill == 0)
        RD_TRY (check_box (array, &piece.source, i, list, nlist, longest));
  }
  return RADIO_OK;
}

enum radio_status
rd_memory_check (const struct radio_array *array,
                 const struct radio_request *requests, size_t n,
                 size_t item_nbytes, bool converts)
{
  const struct radio_array *source = find_source (array);
  if (!source)
    return RADIO_OK;
  const struct rd_array_doc *doc = source->doc;
  const struct radio_box whole = rd_box_whole (doc->rank, doc->shape);
  struct in_place *list RD_FREE = NULL;
  size_t nlist = 0;
  uintptr_t from, to;
  if (radio_box_count (&whole) == 0)
    return RADIO_OK;
  uint64_t nfrom = rd_strided_span (
    source->linear->memory, doc->rank, doc->shape, source->linear->strides,
    doc->type.item_nbytes, &from);
  for (size_t i = 0; i < n; i++) {
    const struct radio_request *request = &requests[i];
    struct in_place in_place = { .request = i };
    const struct radio_box *box = &request->box;
    int64_t strides[RADIO_MAX_RANK];
    if (radio_box_count (box) == 0)
      continue;
    (void) rd_given_strides (request->strides, box->rank, box->size,
                             item_nbytes, strides);
    uint64_t nto = rd_strided_span (request->buffer, box->rank, box->size,
                                    strides, item_nbytes, &to);
    if (to >= rd_add_sat (from, nfrom) || from >= rd_add_sat (to, nto))
      continue;
    if (item_nbytes != doc->type.item_nbytes || converts
        || !is_in_place (array, source, request, strides, &in_place.from))
      return rd_array_fail_in (array, rd_fail (
        RADIO_ERROR_ARGUMENT, "the result overlaps the voxels that are read, "
        "but not each voxel its own place and type; read it into other "
        "memory"));
    if (!are_apart (source))
      return rd_array_fail_in (array, rd_fail (
        RADIO_ERROR_ARGUMENT, "voxels share memory by their strides, so none "
        "can be delivered in place; read them into other memory"));
    if (n == 1)
      continue;
    if (!list)
      list = rd_calloc (n, sizeof *list);
    if (!list)
      return rd_fail_memory (n * sizeof *list);
    list[nlist++] = in_place;
  }
  return nlist > 0 ? check_others (array, requests, n, list, nlist) : RADIO_OK;
}

/*------------------------------------------------------------------------
 * Opening
 *----------------------------------------------------------------------*/

static void
close_memory (struct rd_linear *linear)
{
  rd_free (linear);
}

enum radio_status
rd_linear_memory_open (const struct rd_array_doc *doc, const void *elements,
                       size_t nbytes, const int64_t *strides,
                       struct rd_linear **result)
{
  const struct radio_box whole = rd_box_whole (doc->rank, doc->shape);
  uint64_t wanted = rd_mul_sat (radio_box_count (&whole),
                                doc->type.item_nbytes);
  if (wanted > 0 && !elements)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the memory is NULL");
  if (!strides && wanted > nbytes)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the memory has %zu bytes, the image "
                    "needs %" PRIu64, nbytes, wanted);
  struct rd_linear *linear = rd_calloc (1, sizeof *linear);
  if (!linear)
    return rd_fail_memory (sizeof *linear);
  linear->close = close_memory;
  linear->memory = elements;
  linear->nbytes = wanted;
  (void) rd_given_strides (strides, doc->rank, doc->shape,
                           doc->type.item_nbytes, linear->strides);
  *result = linear;
  return RADIO_OK;
}
