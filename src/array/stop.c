/* SPDX-License-Identifier: MIT */
/* The ends of reads: the caller's function is asked between tiles, and often
 * while requests are waited for; a deadline of requests is their store's. */
#include <config.h>

#include <inttypes.h>

#include "src/base/cancel.h"
#include "src/base/checked.h"
#include "src/base/now.h"
#include "profiler/counters.h"
#include "io/store.h"
#include "src/array/stop.h"

void
rd_read_stop_init (struct rd_read_stop *stop, struct rd_io *store,
                   const struct radio_read_options *options)
{
  *stop = (struct rd_read_stop) { .store = store, .caller = pthread_self () };
  atomic_init (&stop->io.is_cancelled, false);
  stop->cancel = options->cancel;
  stop->user_data = options->user_data;
  if (!stop->cancel)
    stop->cancel = rd_thread_cancel (&stop->user_data);
  stop->deadline_ms = options->deadline_ms;
  stop->io.deadline_ns = options->deadline_ms == 0 ? UINT64_MAX
    : rd_add_sat (rd_now_ns (), rd_mul_sat (options->deadline_ms, 1000000));
}

struct rd_read_stop *
rd_read_stop_of_thread (struct rd_read_stop *stop, struct rd_io *store)
{
  const struct radio_read_options defaults = { 0 };
  rd_read_stop_init (stop, store, &defaults);
  return stop->cancel ? stop : NULL;
}

/* True when the read was cancelled; asks the caller on its own thread.  The
 * first time, requests of other threads are ended, too. */
static bool
is_cancelled (struct rd_read_stop *stop)
{
  if (!atomic_load_explicit (&stop->io.is_cancelled, memory_order_relaxed)
      && stop->cancel && pthread_equal (stop->caller, pthread_self ())
      && stop->cancel (stop->user_data)) {
    atomic_store (&stop->io.is_cancelled, true);
    rd_io_wake (stop->store);
  }
  return atomic_load_explicit (&stop->io.is_cancelled, memory_order_relaxed);
}

enum radio_status
rd_read_stop_check (struct rd_read_stop *stop)
{
  if (!stop)
    return RADIO_OK;
  if (is_cancelled (stop))
    return rd_fail (RADIO_ERROR_CANCELLED, "cancelled");
  if (stop->io.deadline_ns != UINT64_MAX
      && rd_now_ns () >= stop->io.deadline_ns)
    return rd_fail (RADIO_ERROR_TIMEOUT, "more than %" PRIu64 " ms",
                    stop->deadline_ms);
  return RADIO_OK;
}

enum radio_status
rd_read_stop_lock (struct rd_read_stop *stop, pthread_mutex_t *mutex)
{
  if (!stop) {
    pthread_mutex_lock (mutex);
    return RADIO_OK;
  }
  for (;;) {
    RD_TRY (rd_read_stop_check (stop));
    const struct timespec end = rd_cancel_next_time ();
    if (pthread_mutex_timedlock (mutex, &end) == 0)
      return RADIO_OK;
  }
}

void
rd_read_stop_wait (struct rd_read_stop *stop, pthread_cond_t *cond,
                   pthread_mutex_t *mutex)
{
  bool is_asked = stop && stop->cancel
                  && !atomic_load_explicit (&stop->io.is_cancelled,
                                            memory_order_relaxed);
  if (!rd_cancel_wait (cond, mutex, is_asked))
    return;
  pthread_mutex_unlock (mutex);
  (void) is_cancelled (stop);
  pthread_mutex_lock (mutex);
}

/* Reads that have not ended. */
struct pending {
  pthread_mutex_t mutex;
  pthread_cond_t none;
  size_t n;                   /* under the mutex */
};

static void
count_ended (struct rd_io_get *get)
{
  struct pending *pending = get->user_data;
  RD_LOCK_SCOPE (&pending->mutex);
  if (--pending->n == 0)
    pthread_cond_signal (&pending->none);
}

enum radio_status
rd_read_stop_io_read_all (struct rd_read_stop *stop, struct rd_io *io,
                          struct rd_io_get *gets, size_t n)
{
  struct pending pending = { PTHREAD_MUTEX_INITIALIZER,
                             PTHREAD_COND_INITIALIZER, n };
  for (size_t i = 0; i < n && io->ops->is_blocking; i++) {
    RD_TRY (rd_read_stop_check (stop));
    RD_TRY (rd_read_stop_io_read (stop, io, &gets[i]));
  }
  if (io->ops->is_blocking || n == 0)
    return RADIO_OK;
  RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
  for (size_t i = 0; i < n; i++) {
    gets[i].stop = rd_read_stop_io (stop);
    gets[i].done = count_ended;
    gets[i].user_data = &pending;
  }
  io->ops->get (io, gets, n);
  pthread_mutex_lock (&pending.mutex);
  while (pending.n > 0)
    rd_read_stop_wait (stop, &pending.none, &pending.mutex);
  pthread_mutex_unlock (&pending.mutex);
  pthread_mutex_destroy (&pending.mutex);
  pthread_cond_destroy (&pending.none);
  for (size_t i = 0; i < n; i++)
    RD_TRY (rd_error_raise (&gets[i].error));
  return RADIO_OK;
}

enum radio_status
rd_read_stop_io_read (struct rd_read_stop *stop, struct rd_io *io,
                      struct rd_io_get *get)
{
  if (!io->ops->is_blocking && stop && stop->cancel
      && pthread_equal (stop->caller, pthread_self ()))
    return rd_read_stop_io_read_all (stop, io, get, 1);
  get->stop = rd_read_stop_io (stop);
  return rd_io_read (io, get);
}
