/* SPDX-License-Identifier: MIT */
/* Derived arrays: their handles, and the cutting of requests. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/array/context.h"
#include "src/array/derived.h"
#include "src/base/checked.h"
#include "src/element/box.h"

/* Padding that a thread writes at a time. */
#define PART_NBYTES ((uint64_t) 1 << 20)

void
rd_derived_free (struct rd_derived *derived)
{
  if (!derived)
    return;
  rd_grid_clear (&derived->grid);
  if (derived->owns_source)
    radio_array_close (derived->source);
  if (derived->free_data)
    derived->free_data (derived->data);
  rd_free (derived->fills);
  rd_free (derived->program.kernels);
  pthread_mutex_destroy (&derived->mutex);
  rd_free (derived);
}

enum radio_status
rd_derived_open (struct rd_derived *derived, struct rd_array_doc *doc,
                 struct radio_array **result)
{
  const struct radio_array *source = derived->source;
  pthread_mutex_init (&derived->mutex, NULL);
  atomic_init (&derived->is_complete, derived->complete == NULL);
  atomic_init (&derived->has_nan, false);
  struct rd_derived *owned RD_CLEANUP (rd_cleanup_derived) = derived;
  struct radio_array *array;
  RD_TRY (rd_array_open_doc (source->store, source->path, doc, &array));
  array->derived = RD_STEAL (owned);
  array->free_derived = rd_derived_free;
  *result = array;
  return RADIO_OK;
}

enum radio_status
rd_derived_complete (struct rd_derived *derived, struct rd_read_stop *stop)
{
  if (atomic_load (&derived->is_complete))
    return RADIO_OK;
  RD_TRY (rd_read_stop_lock (stop, &derived->mutex));
  enum radio_status status = RADIO_OK;
  if (!atomic_load (&derived->is_complete))
    status = derived->complete (derived, stop);
  if (status == RADIO_OK)
    atomic_store (&derived->is_complete, true);
  pthread_mutex_unlock (&derived->mutex);
  return status;
}

void
rd_derived_warn (const struct radio_array *array, radio_warning_fn *warning,
                 void *user_data)
{
  char line[1024];
  if (!warning || !array->derived || !atomic_load (&array->derived->has_nan))
    return;
  snprintf (line, sizeof line, "%s%s%s: some results are NaN, of values that "
            "are NaN or infinite", array->store->io->uri,
            *array->path ? "/" : "", array->path);
  warning (line, user_data);
}

void
rd_pieces_free (struct rd_pieces *pieces)
{
  rd_free (pieces->requests);
  rd_free (pieces->list);
  *pieces = (struct rd_pieces) { 0 };
}

static const struct radio_site pad_site = {
  "pad", RD_IN_PLACE, "rd_derived_cut", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static const struct rd_counter_set pad_set = {
  .counters = { [RD_AMOUNT_BYTES] = &rd_count_delivered },
};

/* Returns the first element of a piece in a request's buffer. */
static unsigned char *
piece_start (const struct rd_grid_piece *piece,
             const struct radio_request *request, const int64_t *strides)
{
  uint64_t offset = 0;
  for (size_t i = 0; i < request->box.rank; i++)
    offset += piece->first[i] * (uint64_t) strides[i];
  return (unsigned char *) request->buffer + (int64_t) offset;
}

/* Padding of a piece, by tasks that each write some of its positions along one
 * axis. */
struct padding {
  struct rd_job job;
  const struct rd_box_copy *copy;
  size_t axis;
  uint64_t step;              /* positions of a task */
};

static enum radio_status
write_part (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  const struct padding *padding = (const struct padding *) job;
  struct rd_box_copy copy = *padding->copy;
  uint64_t start = task * padding->step, *size = &copy.shape[padding->axis];
  (void) scratch;
  copy.to += (int64_t) start * copy.to_strides[padding->axis];
  *size = rd_min_u64 (padding->step, *size - start);
  return rd_box_copy_run (&copy);
}

/* Writes it on this thread or, if it is much, on all of the pool. */
static enum radio_status
write_parts (const struct rd_derived *derived, const struct rd_box_copy *copy,
             uint64_t nbytes)
{
  struct padding padding = {
    .job = { .run = write_part, .site = &pad_site }, .copy = copy,
  };
  while (padding.axis + 1 < copy->rank && copy->shape[padding.axis] == 1)
    padding.axis++;
  uint64_t n = copy->rank > 0 ? copy->shape[padding.axis] : 1;
  if (nbytes < 2 * PART_NBYTES || n == 1)
    return rd_box_copy_run (copy);
  uint64_t each = nbytes / n;
  padding.step = each < PART_NBYTES ? PART_NBYTES / (each + !each) : 1;
  padding.job.n = (n - 1) / padding.step + 1;
  return rd_pool_run (derived->source->store->context->pool, &padding.job);
}

static enum radio_status
write_padding (const struct rd_derived *derived,
               const struct rd_grid_piece *piece,
               const struct radio_request *request, const int64_t *strides,
               const struct rd_box_copy *delivery, size_t item_nbytes)
{
  const struct rd_fill *fill = &derived->fills[piece->fill - 1];
  RD_COUNTING_SCOPE struct rd_counting counting
    = rd_count_next_in (&pad_site, &pad_set);
  struct rd_box_copy copy = *delivery;
  unsigned char *zeros RD_FREE = NULL;
  double wide;
  float narrow;
  copy.rank = request->box.rank;
  memcpy (copy.shape, piece->size, sizeof copy.shape);
  memcpy (copy.to_strides, strides, sizeof copy.to_strides);
  memset (copy.from_strides, 0, sizeof copy.from_strides);
  copy.to = piece_start (piece, request, strides);
  uint64_t count = 1;
  for (size_t i = 0; i < copy.rank; i++)
    count *= piece->size[i];
  uint64_t nbytes = rd_mul_sat (count, item_nbytes);
  counting.amounts[RD_AMOUNT_BYTES] = nbytes;
  copy.from = fill->stored;
  if (derived->computes) {
    wide = rd_row_value (&derived->program, fill->first_kernel, fill->value);
    narrow = (float) wide;
    copy.from = derived->program.compute == RADIO_FLOAT32
      ? (const unsigned char *) &narrow : (const unsigned char *) &wide;
  } else if (copy.from_type.item_nbytes > sizeof fill->stored) {
    /* Raw bytes are padded by zeros alone. */
    zeros = rd_calloc (1, copy.from_type.item_nbytes);
    if (!zeros)
      return rd_fail_memory (copy.from_type.item_nbytes);
    copy.from = zeros;
  }
  return write_parts (derived, &copy, nbytes);
}

/* Makes the request of a piece that is a box of the source. */
static void
make_request (const struct rd_derived *derived,
              const struct rd_grid_piece *piece,
              const struct radio_request *request, const int64_t *strides,
              struct rd_pieces *pieces)
{
  struct rd_piece *made = &pieces->list[pieces->n];
  unsigned char *start = piece_start (piece, request, strides);
  *made = (struct rd_piece) { .repeats = false };
  for (size_t i = 0; i < request->box.rank; i++) {
    size_t axis = derived->grid.axes[i].source;
    int64_t stride = strides[i];
    made->repeat[axis] = piece->step[i] == 0 ? piece->size[i] : 1;
    made->repeats = made->repeats || made->repeat[axis] > 1;
    if (piece->step[i] < 0) {
      start += (int64_t) ((piece->size[i] - 1) * (uint64_t) stride);
      stride = (int64_t) -(uint64_t) stride;
    }
    made->strides[axis] = stride;
  }
  pieces->requests[pieces->n++] = (struct radio_request) {
    .box = piece->source, .buffer = start, .nbytes = SIZE_MAX,
    .strides = made->strides,
  };
}

enum radio_status
rd_derived_cut (const struct rd_derived *derived,
                const struct radio_request *requests, size_t n,
                const struct rd_box_copy *delivery, size_t item_nbytes,
                struct rd_pieces *pieces)
{
  struct rd_grid_cursor cursor;
  uint64_t count = 0;
  for (size_t i = 0; i < n; i++)
    count = rd_add_sat (count, rd_grid_cursor_init (&cursor, &derived->grid,
                                                    &requests[i].box));
  RD_TRY (rd_context_allows (
    derived->source->store->context,
    rd_mul_sat (count, sizeof *pieces->requests + sizeof *pieces->list),
    "cutting the boxes of a pipeline"));
  pieces->requests = rd_calloc (count + 1, sizeof *pieces->requests);
  pieces->list = rd_calloc (count + 1, sizeof *pieces->list);
  if (!pieces->requests || !pieces->list)
    return rd_fail_memory ((count + 1) * sizeof *pieces->requests);
  for (size_t i = 0; i < n; i++) {
    const struct radio_request *request = &requests[i];
    struct rd_grid_piece piece;
    int64_t strides[RADIO_MAX_RANK] = { 0 };
    if (rd_grid_cursor_init (&cursor, &derived->grid, &request->box) == 0)
      continue;
    (void) rd_given_strides (request->strides, request->box.rank,
                             request->box.size, item_nbytes, strides);
    while (rd_grid_next (&cursor, &piece))
      if (piece.fill > 0)
        RD_TRY (write_padding (derived, &piece, request, strides, delivery,
                               item_nbytes));
      else
        make_request (derived, &piece, request, strides, pieces);
  }
  return RADIO_OK;
}
