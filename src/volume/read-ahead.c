/* SPDX-License-Identifier: MIT */
/* Reading ahead: a ring of pieces, the first of which is read from, while the
 * others are requested. */
#include <config.h>

#include <string.h>
#include <time.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/context.h"
#include "src/volume/read-ahead.h"

/* As many active requests fill a link of some 200 MB/s and 20 ms. */
#define NPIECES 4
#define PIECE_NBYTES ((size_t) (RD_READ_AHEAD_NBYTES / NPIECES))

/* Where more was needed than expected. */
#define MORE_NBYTES ((size_t) 256 << 10)

/* How often a read's stop is checked while it waits. */
#define CHECK_MS 20

struct piece {
  struct rd_io_get get;
  struct rd_buffer bytes;
  struct rd_read_ahead *ahead;
  bool is_done;               /* under the mutex */
};

struct rd_read_ahead {
  struct rd_linear_object object;
  struct rd_io_file *file;
  struct rd_io_stop stop;     /* of its requests, which outlive a read */
  pthread_mutex_t mutex;
  pthread_cond_t done;
  struct piece pieces[NPIECES];
  size_t first, n;            /* those that were begun, in order */
};

enum radio_status
rd_read_ahead_open (const struct rd_linear_object *object,
                    struct rd_io_file *file, struct rd_read_ahead **result)
{
  struct rd_read_ahead *ahead = rd_calloc (1, sizeof *ahead);
  if (!ahead)
    return rd_fail_memory (sizeof *ahead);
  ahead->object = *object;
  ahead->file = file;
  ahead->stop.deadline_ns = UINT64_MAX;
  atomic_init (&ahead->stop.is_cancelled, false);
  pthread_mutex_init (&ahead->mutex, NULL);
  pthread_cond_init (&ahead->done, NULL);
  *result = ahead;
  return RADIO_OK;
}

static struct piece *
piece_at (struct rd_read_ahead *ahead, size_t i)
{
  return &ahead->pieces[(ahead->first + i) % NPIECES];
}

static bool
is_done (struct rd_read_ahead *ahead, const struct piece *piece)
{
  RD_LOCK_SCOPE (&ahead->mutex);
  return piece->is_done;
}

/* Cancels the requests, and drops their pieces. */
static void
reset (struct rd_read_ahead *ahead)
{
  bool is_active = false;
  for (size_t i = 0; i < ahead->n; i++)
    is_active |= !is_done (ahead, piece_at (ahead, i));
  if (is_active) {
    atomic_store (&ahead->stop.is_cancelled, true);
    rd_io_wake (ahead->object.store->io);
  }
  pthread_mutex_lock (&ahead->mutex);
  for (size_t i = 0; i < ahead->n; i++)
    while (!piece_at (ahead, i)->is_done)
      pthread_cond_wait (&ahead->done, &ahead->mutex);
  pthread_mutex_unlock (&ahead->mutex);
  atomic_store (&ahead->stop.is_cancelled, false);
  ahead->n = 0;
}

/* In a child of the process that opened it no request ends. */
void
rd_read_ahead_close (struct rd_read_ahead *ahead)
{
  if (!ahead
      || rd_pool_check (ahead->object.store->context->pool) != RADIO_OK)
    return;
  reset (ahead);
  for (size_t i = 0; i < NPIECES; i++)
    rd_buffer_free (&ahead->pieces[i].bytes);
  pthread_cond_destroy (&ahead->done);
  pthread_mutex_destroy (&ahead->mutex);
  rd_free (ahead);
}

/* On the thread of requests. */
static void
on_done (struct rd_io_get *get)
{
  struct piece *piece = get->user_data;
  struct rd_read_ahead *ahead = piece->ahead;
  RD_LOCK_SCOPE (&ahead->mutex);
  piece->is_done = true;
  pthread_cond_broadcast (&ahead->done);
}

/* Requests the next piece, which begins at an offset. */
static void
request_piece (struct rd_read_ahead *ahead, uint64_t offset, size_t nbytes)
{
  struct rd_io *io = ahead->object.store->io;
  struct piece *piece = piece_at (ahead, ahead->n++);
  piece->ahead = ahead;
  piece->is_done = false;
  piece->get = (struct rd_io_get) {
    .key = ahead->object.key, .file = ahead->file, .range = RD_RANGE_SPAN,
    .offset = offset, .nbytes = nbytes, .into = &piece->bytes,
    .object_nbytes = ahead->object.object_nbytes,
    .version = ahead->object.version, .stop = &ahead->stop,
    .done = on_done, .user_data = piece,
  };
  io->ops->get (io, &piece->get, 1);
}

static uint64_t
end_of (const struct piece *piece)
{
  return piece->get.offset + piece->get.nbytes;
}

/* Requests pieces up to an end: at least the piece at an offset, if there are
 * none yet, or the one after the last. */
static void
request_pieces (struct rd_read_ahead *ahead, uint64_t offset, uint64_t end)
{
  uint64_t next = ahead->n ? end_of (piece_at (ahead, ahead->n - 1)) : offset;
  end = rd_min_u64 (end, ahead->object.object_nbytes);
  while (ahead->n < NPIECES && next < end) {
    uint64_t nbytes = rd_min_u64 (end - next, PIECE_NBYTES);
    request_piece (ahead, next, (size_t) nbytes);
    next += nbytes;
  }
  if (ahead->n == 0)
    request_piece (ahead, offset,
                   (size_t) rd_min_u64 (ahead->object.object_nbytes - offset,
                                        MORE_NBYTES));
}

/* Drops the pieces before an offset, or all if it is in none. */
static void
drop_pieces (struct rd_read_ahead *ahead, uint64_t offset)
{
  while (ahead->n > 0) {
    const struct piece *piece = piece_at (ahead, 0);
    if (offset >= piece->get.offset && offset < end_of (piece))
      return;
    if (offset != end_of (piece) && ahead->n == 1)
      break;
    if (offset < piece->get.offset || !is_done (ahead, piece))
      break;
    ahead->first = (ahead->first + 1) % NPIECES;
    ahead->n--;
  }
  reset (ahead);
}

static enum radio_status
wait_for (struct rd_read_ahead *ahead, const struct piece *piece,
          struct rd_read_stop *stop)
{
  if (is_done (ahead, piece))
    return rd_error_raise (&piece->get.error);
  RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
  bool may_end = stop && (stop->cancel || stop->io.deadline_ns != UINT64_MAX);
  while (!is_done (ahead, piece)) {
    RD_TRY (rd_read_stop_check (stop));
    struct timespec until;
    clock_gettime (CLOCK_REALTIME, &until);
    until.tv_nsec += CHECK_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    RD_LOCK_SCOPE (&ahead->mutex);
    if (!piece->is_done && may_end)
      (void) pthread_cond_timedwait (&ahead->done, &ahead->mutex, &until);
    else if (!piece->is_done)
      pthread_cond_wait (&ahead->done, &ahead->mutex);
  }
  return rd_error_raise (&piece->get.error);
}

enum radio_status
rd_read_ahead_read (struct rd_read_ahead *ahead, struct rd_read_stop *stop,
                    uint64_t offset, uint64_t end, void *data, size_t nbytes,
                    size_t *got)
{
  *got = 0;
  if (offset >= ahead->object.object_nbytes)
    return RADIO_OK;
  drop_pieces (ahead, offset);
  bool was_requested = ahead->n > 0;
  request_pieces (ahead, offset, end);
  enum radio_status status = wait_for (ahead, piece_at (ahead, 0), stop);
  if (status != RADIO_OK && was_requested
      && is_done (ahead, piece_at (ahead, 0))) {
    /* It failed before it was needed, maybe long ago. */
    reset (ahead);
    request_pieces (ahead, offset, end);
    status = wait_for (ahead, piece_at (ahead, 0), stop);
  }
  RD_TRY (status);
  const struct piece *piece = piece_at (ahead, 0);
  if (piece->bytes.nbytes < piece->get.nbytes)
    return rd_fail (RADIO_ERROR_IO, "%s/%s: the response has %zu bytes "
                    "instead of %zu", ahead->object.store->io->uri,
                    ahead->object.key, piece->bytes.nbytes,
                    piece->get.nbytes);
  size_t at = (size_t) (offset - piece->get.offset);
  *got = rd_min_u64 (nbytes, piece->bytes.nbytes - at);
  memcpy (data, piece->bytes.data + at, *got);
  return RADIO_OK;
}
