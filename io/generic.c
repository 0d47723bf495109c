/* SPDX-License-Identifier: MIT */
/* What is the same for every store: closing, waiting for a read, and the
 * rule of which bytes a range means. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "io/io.h"
#include "io/range.h"
#include "io/waiter.h"

void
rd_io_close (struct rd_io *io)
{
  if (io)
    io->ops->close (io);
}

void
rd_io_writer_abort (struct rd_io_writer *writer)
{
  if (writer)
    writer->ops->abort (writer);
}

void
rd_io_unlock (struct rd_io_lock *lock)
{
  if (lock)
    lock->unlock (lock);
}

enum radio_status
rd_range_resolve (const struct rd_io *io, struct rd_io_get *get,
                  uint64_t object_nbytes, struct rd_span *span)
{
  get->object_nbytes = object_nbytes;
  *span = (struct rd_span) { 0, object_nbytes };
  switch (get->range) {
  case RD_RANGE_ALL:
    if (object_nbytes > get->nbytes)
      return rd_fail (RADIO_ERROR_LIMIT,
                      "%s/%s: %" PRIu64 " bytes, but at most %zu are "
                      "accepted here", io->uri, get->key, object_nbytes,
                      get->nbytes);
    break;
  case RD_RANGE_SPAN:
    span->offset = rd_min_u64 (get->offset, object_nbytes);
    span->nbytes = rd_min_u64 (get->nbytes, object_nbytes - span->offset);
    break;
  case RD_RANGE_SUFFIX:
    span->nbytes = rd_min_u64 (get->nbytes, object_nbytes);
    span->offset = object_nbytes - span->nbytes;
    break;
  }
  return RADIO_OK;
}

void
rd_get_finish (struct rd_io_get *get, enum radio_status status)
{
  /* A success has no message worth copying. */
  if (status == RADIO_OK) {
    get->error.status = RADIO_OK;
    get->error.message[0] = '\0';
  } else {
    get->into->nbytes = 0;
    rd_error_save (&get->error, status);
  }
  get->done (get);
}

static void
wake (struct rd_io_get *get)
{
  rd_waiter_wake (get->user_data);
}

static void
do_nothing (struct rd_io_get *get)
{
  (void) get;
}

const struct rd_counter_set rd_get_set = {
  .counters = {
    [RD_AMOUNT_MAIN] = &rd_count_requests,
    [RD_AMOUNT_BYTES] = &rd_count_asked,
    [RD_AMOUNT_MORE_BYTES] = &rd_count_fetched,
    [RD_AMOUNT_OTHER] = &rd_count_errors,
  },
  .text_key = "key",
};

void
rd_get_count (const struct rd_io_get *get, struct rd_counting *counting)
{
  enum radio_status status = get->error.status;
  uint64_t nbytes = get->into->nbytes;
  uint64_t needed = get->needed_nbytes ? get->needed_nbytes : nbytes;
  counting->amounts[RD_AMOUNT_MAIN] = 1;
  counting->amounts[RD_AMOUNT_BYTES] = rd_min_u64 (needed, nbytes);
  counting->amounts[RD_AMOUNT_MORE_BYTES] = nbytes;
  counting->amounts[RD_AMOUNT_OTHER]
    = status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND;
  counting->text = get->key;
}

static const struct radio_site fetch_site = {
  "fetch", RD_IN_DISK, "rd_io_read", __FILE__, __LINE__,
  RADIO_SCOPE_BLOCKING
};

static enum radio_status
read_blocking (struct rd_io *io, struct rd_io_get *get)
{
  RD_COUNTING_SCOPE struct rd_counting counting = io->ops->tells_blocking
    ? rd_count_running_in (&fetch_site, &rd_get_set)
    : rd_count_in (&fetch_site, &rd_get_set);
  get->done = do_nothing;
  io->ops->get (io, get, 1);
  if (counting.token != 0)
    rd_get_count (get, &counting);
  return rd_error_raise (&get->error);
}

enum radio_status
rd_io_read (struct rd_io *io, struct rd_io_get *get)
{
  if (io->ops->is_blocking)
    return read_blocking (io, get);
  struct rd_waiter waiter = RD_WAITER_INIT;
  get->done = wake;
  get->user_data = &waiter;
  io->ops->get (io, get, 1);
  {
    RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
    rd_waiter_wait (&waiter);
  }
  return rd_error_raise (&get->error);
}

enum radio_status
rd_io_read_all (struct rd_io *io, const char *key, size_t max_nbytes,
                struct rd_buffer *into)
{
  struct rd_io_get get = {
    .key = key, .range = RD_RANGE_ALL, .nbytes = max_nbytes, .into = into,
  };
  RD_TRY (rd_io_read (io, &get));
  if (into->nbytes == SIZE_MAX)
    return rd_fail_memory (SIZE_MAX);
  RD_TRY (rd_buffer_reserve (into, into->nbytes + 1));
  into->data[into->nbytes] = '\0';
  return RADIO_OK;
}

struct rd_io_file *
rd_io_hold (struct rd_io *io, const char *key, bool keep)
{
  return io->ops->hold ? io->ops->hold (io, key, keep) : NULL;
}

void
rd_io_release (struct rd_io *io, struct rd_io_file *file)
{
  if (file)
    io->ops->release (io, file);
}

void
rd_io_forget (struct rd_io *io, const char *prefix)
{
  if (io->ops->forget)
    io->ops->forget (io, prefix);
}

enum radio_status
rd_io_put (struct rd_io *io, const char *key, const void *data,
           size_t nbytes, enum rd_put how)
{
  const struct rd_part part = { data, nbytes };
  return io->ops->put (io, key, &part, 1, how);
}
