/* SPDX-License-Identifier: MIT */
/* Reads that are finished later, out of order. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>

#include "io/deferred.h"
#include "io/range.h"
#include "io/wrap.h"

struct deferred {
  struct rd_wrap wrap;
  pthread_t thread;
  pthread_mutex_t mutex;      /* guards all below */
  pthread_cond_t has_work;
  struct rd_io_get **queue;
  size_t n;
  size_t capacity;
  uint64_t random;            /* never 0 */
  bool is_closing;
};

/* Marsaglia's xorshift64. */
static uint64_t
next_random (uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Take any one of the queue; NULL when it is closing and empty. */
static struct rd_io_get *
take_one (struct deferred *deferred)
{
  RD_LOCK_SCOPE (&deferred->mutex);
  while (deferred->n == 0) {
    if (deferred->is_closing)
      return NULL;
    pthread_cond_wait (&deferred->has_work, &deferred->mutex);
  }
  size_t i = next_random (&deferred->random) % deferred->n;
  struct rd_io_get *get = deferred->queue[i];
  deferred->queue[i] = deferred->queue[--deferred->n];
  return get;
}

static void *
work (void *arg)
{
  struct deferred *deferred = arg;
  struct rd_io *inner = deferred->wrap.inner;
  for (struct rd_io_get *get; (get = take_one (deferred)) != NULL;)
    inner->ops->get (inner, get, 1);
  return NULL;
}

static enum radio_status
enqueue (struct deferred *deferred, struct rd_io_get *gets, size_t n)
{
  RD_LOCK_SCOPE (&deferred->mutex);
  size_t needed = deferred->n + n;
  if (needed > deferred->capacity) {
    size_t nbytes = needed * 2 * sizeof *deferred->queue;
    struct rd_io_get **queue = rd_realloc (deferred->queue, nbytes);
    if (queue == NULL)
      return rd_fail_memory (nbytes);
    deferred->queue = queue;
    deferred->capacity = needed * 2;
  }
  for (size_t i = 0; i < n; i++)
    deferred->queue[deferred->n++] = &gets[i];
  pthread_cond_signal (&deferred->has_work);
  return RADIO_OK;
}

static void
deferred_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  if (n == 0)
    return;
  enum radio_status status = enqueue ((struct deferred *) io, gets, n);
  if (status == RADIO_OK)
    return;
  for (size_t i = 0; i < n; i++)
    rd_get_finish (&gets[i], status);
}

static void
deferred_close (struct rd_io *io)
{
  struct deferred *deferred = (struct deferred *) io;
  {
    RD_LOCK_SCOPE (&deferred->mutex);
    deferred->is_closing = true;
    pthread_cond_signal (&deferred->has_work);
  }
  pthread_join (deferred->thread, NULL);
  pthread_cond_destroy (&deferred->has_work);
  pthread_mutex_destroy (&deferred->mutex);
  rd_free (deferred->queue);
  rd_wrap_finish (&deferred->wrap);
  rd_free (deferred);
}

static enum radio_status
start (struct deferred *deferred)
{
  if (pthread_mutex_init (&deferred->mutex, NULL) != 0)
    return rd_fail_memory (sizeof deferred->mutex);
  if (pthread_cond_init (&deferred->has_work, NULL) != 0) {
    pthread_mutex_destroy (&deferred->mutex);
    return rd_fail_memory (sizeof deferred->has_work);
  }
  int errnum = pthread_create (&deferred->thread, NULL, work, deferred);
  if (errnum == 0)
    return RADIO_OK;
  pthread_cond_destroy (&deferred->has_work);
  pthread_mutex_destroy (&deferred->mutex);
  return rd_fail_errno (errnum, "%s: cannot start a thread",
                        deferred->wrap.base.uri);
}

enum radio_status
rd_io_deferred_open (struct rd_io *inner, uint64_t seed, struct rd_io **io)
{
  *io = NULL;
  RD_CLEANUP (rd_cleanup_io) struct rd_io *owned = inner;
  RD_FREE struct deferred *deferred = rd_calloc (1, sizeof *deferred);
  if (deferred == NULL)
    return rd_fail_memory (sizeof *deferred);
  RD_TRY (rd_wrap_init (&deferred->wrap, "deferred", inner));
  deferred->wrap.ops.is_blocking = false;
  deferred->wrap.ops.get = deferred_get;
  deferred->wrap.ops.close = deferred_close;
  deferred->random = seed | (uint64_t) 1 << 63;
  enum radio_status status = start (deferred);
  if (status != RADIO_OK) {
    rd_free (deferred->wrap.base.uri);
    return status;
  }
  (void) RD_STEAL (owned);
  *io = &RD_STEAL (deferred)->wrap.base;
  return RADIO_OK;
}
