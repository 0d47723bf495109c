/* SPDX-License-Identifier: MIT */
/* Reads that are finished later, out of order. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>

#include "profiler/counters.h"
#include "tests/io/deferred.h"
#include "io/store.h"
#include "tests/io/wrap.h"

/* A read that waits, and the request that profiles show (or NULL). */
struct waiting {
  struct rd_io_get *get;
  struct radio_async *request;
};

struct deferred {
  struct rd_wrap wrap;
  pthread_t thread;
  pthread_mutex_t mutex;      /* guards all below */
  pthread_cond_t has_work;
  struct waiting *queue;
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

/* Take any one of the queue; false when it is closing and empty. */
static bool
take_one (struct deferred *deferred, struct waiting *one)
{
  RD_LOCK_SCOPE (&deferred->mutex);
  while (deferred->n == 0) {
    if (deferred->is_closing)
      return false;
    pthread_cond_wait (&deferred->has_work, &deferred->mutex);
  }
  size_t i = next_random (&deferred->random) % deferred->n;
  *one = deferred->queue[i];
  deferred->queue[i] = deferred->queue[--deferred->n];
  return true;
}

static const struct radio_site request_site = {
  "fetch", RD_IN_NETWORK, "deferred_get", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};
static const struct radio_site queued_site = {
  "queued", RD_IN_QUEUE, "deferred_get", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};
static const struct radio_site transfer_site = {
  "transfer", RD_IN_NETWORK, "deferred_get", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* A read that is recorded is passed on as a copy, so that its request ends
 * before the caller, who may release it all, hears of it. */
struct passed {
  struct rd_io_get get;
  struct rd_io_get *outer;
  struct radio_async *request;
};

static void
count_passed (const struct passed *passed)
{
  struct rd_counting counting = { 0 };
  rd_get_count (&passed->get, &counting);
  for (size_t i = 0; i < RD_NAMOUNTS; i++)
    if (counting.amounts[i] > 0)
      radio_async_add (passed->request, rd_get_set.counters[i],
                       counting.amounts[i]);
}

static void
finish_passed (struct rd_io_get *get)
{
  struct passed *passed = get->user_data;
  struct rd_io_get *outer = passed->outer;
  outer->error = get->error;
  outer->object_nbytes = get->object_nbytes;
  outer->version = get->version;
  count_passed (passed);
  radio_async_text (passed->request, "key", get->key, RADIO_TEXT_NAME);
  radio_async_end (passed->request);
  outer->done (outer);
}

static void
pass_on (struct rd_io *inner, const struct waiting *one)
{
  if (one->request == NULL) {
    inner->ops->get (inner, one->get, 1);
    return;
  }
  radio_async_phase (one->request, &transfer_site);
  struct passed passed = { *one->get, one->get, one->request };
  passed.get.done = finish_passed;
  passed.get.user_data = &passed;
  inner->ops->get (inner, &passed.get, 1);
}

static void *
work (void *arg)
{
  struct deferred *deferred = arg;
  struct rd_io *inner = deferred->wrap.inner;
  for (struct waiting one; take_one (deferred, &one);)
    pass_on (inner, &one);
  return NULL;
}

static enum radio_status
make_room (struct deferred *deferred, size_t needed)
{
  if (needed <= deferred->capacity)
    return RADIO_OK;
  size_t nbytes = needed * 2 * sizeof *deferred->queue;
  struct waiting *queue = rd_realloc (deferred->queue, nbytes);
  if (queue == NULL)
    return rd_fail_memory (nbytes);
  deferred->queue = queue;
  deferred->capacity = needed * 2;
  return RADIO_OK;
}

static struct radio_async *
begin_request (void)
{
  if (!radio_profile_is_on ())
    return NULL;
  struct radio_async *request = radio_async_begin (&request_site);
  radio_async_phase (request, &queued_site);
  return request;
}

static enum radio_status
enqueue (struct deferred *deferred, struct rd_io_get *gets, size_t n)
{
  RD_LOCK_SCOPE (&deferred->mutex);
  RD_TRY (make_room (deferred, deferred->n + n));
  for (size_t i = 0; i < n; i++)
    deferred->queue[deferred->n++]
      = (struct waiting) { &gets[i], begin_request () };
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
