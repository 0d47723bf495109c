/* SPDX-License-Identifier: MIT */
/* Helpers for implementations of stores: keys, ranges, listings and locks. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cancel.h"
#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/reserve.h"
#include "io/store.h"

/*------------------------------------------------------------------------
 * Keys
 *----------------------------------------------------------------------*/

enum radio_status
rd_key_check (const struct rd_io *io, const char *key)
{
  for (const char *name = key;;) {
    size_t nbytes = strcspn (name, "/");
    if (nbytes <= 2 && memcmp (name, "..", nbytes) == 0)
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "%s: '%s' is not a key: no name in it may be '', '.' "
                      "or '..'", io->uri, key);
    if (name[nbytes] == '\0')
      return RADIO_OK;
    name += nbytes + 1;
  }
}

enum radio_status
rd_prefix_check (const struct rd_io *io, const char *prefix)
{
  return *prefix == '\0' ? RADIO_OK : rd_key_check (io, prefix);
}

const char *
rd_key_below (const char *key, const char *prefix)
{
  size_t nbytes = strlen (prefix);
  if (nbytes == 0)
    return key;
  if (strncmp (key, prefix, nbytes) != 0 || key[nbytes] != '/')
    return NULL;
  return key + nbytes + 1;
}

char *
rd_key_join (const char *prefix, const char *name)
{
  size_t prefix_nbytes = strlen (prefix);
  size_t name_nbytes = strlen (name);
  char *key = rd_malloc (prefix_nbytes + 1 + name_nbytes + 1);
  if (key == NULL) {
    rd_fail_memory (prefix_nbytes + name_nbytes + 2);
    return NULL;
  }
  char *p = key;
  if (prefix_nbytes > 0) {
    memcpy (p, prefix, prefix_nbytes);
    p += prefix_nbytes;
    *p++ = '/';
  }
  memcpy (p, name, name_nbytes + 1);
  return key;
}

/*------------------------------------------------------------------------
 * Reads and writes
 *----------------------------------------------------------------------*/

enum radio_status
rd_range_resolve (const struct rd_io *io, struct rd_io_get *get,
                  uint64_t object_nbytes, struct rd_byte_range *span)
{
  get->object_nbytes = object_nbytes;
  *span = (struct rd_byte_range) { 0, object_nbytes };
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
  /* A success has no message to copy. */
  if (status == RADIO_OK) {
    get->error.status = RADIO_OK;
    get->error.message[0] = '\0';
  } else {
    get->into->nbytes = 0;
    rd_error_save (&get->error, status);
  }
  get->done (get);
}

enum radio_status
rd_fail_uncommitted (const struct rd_io *io, const char *key,
                     enum radio_status status)
{
  return rd_fail (status, "%s/%s: not committed, since an earlier write "
                  "failed", io->uri, key);
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

/*------------------------------------------------------------------------
 * Listings
 *----------------------------------------------------------------------*/

enum radio_status
rd_entries_add (struct rd_entries *entries, const char *name,
                size_t name_nbytes, bool is_prefix, uint64_t nbytes)
{
  RD_TRY (rd_reserve (&entries->items, &entries->capacity, entries->n,
                      sizeof *entries->items));
  char *copy = rd_malloc (name_nbytes + 1);
  if (copy == NULL)
    return rd_fail_memory (name_nbytes + 1);
  memcpy (copy, name, name_nbytes);
  copy[name_nbytes] = '\0';
  entries->items[entries->n++] = (struct rd_io_entry) {
    .name = copy, .is_prefix = is_prefix, .nbytes = nbytes,
  };
  return RADIO_OK;
}

static int
compare_names (const void *a, const void *b)
{
  const struct rd_io_entry *x = a, *y = b;
  return strcmp (x->name, y->name);
}

enum radio_status
rd_entries_report (struct rd_entries *entries, rd_io_list_fn *fn,
                   void *user_data)
{
  if (entries->n > 1)
    qsort (entries->items, entries->n, sizeof *entries->items,
           compare_names);
  for (size_t i = 0; i < entries->n; i++)
    RD_TRY (fn (&entries->items[i], user_data));
  return RADIO_OK;
}

void
rd_entries_cut (struct rd_entries *entries, size_t n)
{
  while (entries->n > n)
    rd_free ((char *) entries->items[--entries->n].name);
}

void
rd_entries_free (struct rd_entries *entries)
{
  rd_entries_cut (entries, 0);
  rd_free (entries->items);
  *entries = (struct rd_entries) { 0 };
}

/*------------------------------------------------------------------------
 * Locks within a process: a list, since they are few
 *----------------------------------------------------------------------*/

struct rd_local_lock {
  struct rd_io_lock base;
  struct rd_local_locks *locks;
  struct rd_local_lock *next;
  char prefix[];
};

enum radio_status
rd_local_locks_init (struct rd_local_locks *locks)
{
  locks->first = NULL;
  if (pthread_mutex_init (&locks->mutex, NULL) != 0)
    return rd_fail_memory (sizeof locks->mutex);
  if (pthread_cond_init (&locks->was_unlocked, NULL) != 0) {
    pthread_mutex_destroy (&locks->mutex);
    return rd_fail_memory (sizeof locks->was_unlocked);
  }
  return RADIO_OK;
}

void
rd_local_locks_free (struct rd_local_locks *locks)
{
  pthread_cond_destroy (&locks->was_unlocked);
  pthread_mutex_destroy (&locks->mutex);
}

static void
unlock (struct rd_io_lock *base)
{
  struct rd_local_lock *lock = (struct rd_local_lock *) base;
  struct rd_local_locks *locks = lock->locks;
  {
    RD_LOCK_SCOPE (&locks->mutex);
    struct rd_local_lock **at = &locks->first;
    while (*at != lock)
      at = &(*at)->next;
    *at = lock->next;
    pthread_cond_broadcast (&locks->was_unlocked);
  }
  rd_free (lock);
}

enum radio_status
rd_local_locks_lock (struct rd_local_locks *locks, const char *prefix,
                     bool wait, struct rd_io_lock **result)
{
  RD_SCOPE_WAIT ("lock", RD_IN_QUEUE);
  RD_NOTE_NAME ("folder", prefix);
  size_t nbytes = strlen (prefix) + 1;
  RD_FREE struct rd_local_lock *lock = rd_malloc (sizeof *lock + nbytes);
  if (lock == NULL)
    return rd_fail_memory (sizeof *lock + nbytes);
  lock->base.unlock = unlock;
  lock->locks = locks;
  memcpy (lock->prefix, prefix, nbytes);
  RD_LOCK_SCOPE (&locks->mutex);
  for (;;) {
    const struct rd_local_lock *held = locks->first;
    while (held && strcmp (held->prefix, prefix) != 0)
      held = held->next;
    if (held == NULL)
      break;
    if (!wait)
      return RADIO_OK;
    pthread_cond_wait (&locks->was_unlocked, &locks->mutex);
  }
  lock->next = locks->first;
  locks->first = lock;
  *result = &RD_STEAL (lock)->base;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Waiting for one call
 *----------------------------------------------------------------------*/

void
rd_waiter_wake (struct rd_waiter *waiter)
{
  RD_LOCK_SCOPE (&waiter->mutex);
  waiter->is_done = true;
  /* Under the mutex, since the waiter's frame is gone once it sees this. */
  pthread_cond_signal (&waiter->cond);
}

static void
free_waiter (struct rd_waiter *waiter)
{
  pthread_cond_destroy (&waiter->cond);
  pthread_mutex_destroy (&waiter->mutex);
}

void
rd_waiter_wait (struct rd_waiter *waiter)
{
  {
    RD_LOCK_SCOPE (&waiter->mutex);
    while (!waiter->is_done)
      pthread_cond_wait (&waiter->cond, &waiter->mutex);
  }
  free_waiter (waiter);
}

/* Waits for a moment; returns whether the call is done. */
static bool
wait_briefly (struct rd_waiter *waiter)
{
  RD_LOCK_SCOPE (&waiter->mutex);
  if (!waiter->is_done)
    (void) rd_cancel_wait (&waiter->cond, &waiter->mutex, true);
  return waiter->is_done;
}

void
rd_waiter_wait_or_cancel (struct rd_waiter *waiter,
                          struct rd_io_stop *stop,
                          void (*wake) (void *engine), void *engine)
{
  while (!atomic_load (&stop->is_cancelled) && !wait_briefly (waiter))
    if (rd_thread_is_cancelled ()) {
      atomic_store (&stop->is_cancelled, true);
      wake (engine);
    }
  rd_waiter_wait (waiter);
}

enum radio_status
rd_io_remove_many (struct rd_io *io, char *const *keys, size_t n)
{
  if (io->ops->remove_many)
    return io->ops->remove_many (io, keys, n);
  for (size_t i = 0; i < n; i++) {
    enum radio_status status = io->ops->remove (io, keys[i]);
    if (status != RADIO_ERROR_NOT_FOUND)
      RD_TRY (status);
  }
  return RADIO_OK;
}
