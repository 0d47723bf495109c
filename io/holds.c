/* SPDX-License-Identifier: MIT */
/* The prefixes that are held, as a list: they are few. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "io/holds.h"

struct rd_hold {
  struct rd_io_lock base;
  struct rd_holds *holds;
  struct rd_hold *next;
  char prefix[];
};

enum radio_status
rd_holds_init (struct rd_holds *holds)
{
  holds->first = NULL;
  if (pthread_mutex_init (&holds->mutex, NULL) != 0)
    return rd_fail_memory (sizeof holds->mutex);
  if (pthread_cond_init (&holds->was_unlocked, NULL) != 0) {
    pthread_mutex_destroy (&holds->mutex);
    return rd_fail_memory (sizeof holds->was_unlocked);
  }
  return RADIO_OK;
}

void
rd_holds_free (struct rd_holds *holds)
{
  pthread_cond_destroy (&holds->was_unlocked);
  pthread_mutex_destroy (&holds->mutex);
}

static bool
is_held (const struct rd_holds *holds, const char *prefix)
{
  for (const struct rd_hold *hold = holds->first; hold; hold = hold->next)
    if (strcmp (hold->prefix, prefix) == 0)
      return true;
  return false;
}

static void
unlock (struct rd_io_lock *lock)
{
  struct rd_hold *hold = (struct rd_hold *) lock;
  struct rd_holds *holds = hold->holds;
  {
    RD_LOCK_SCOPE (&holds->mutex);
    struct rd_hold **at = &holds->first;
    while (*at != hold)
      at = &(*at)->next;
    *at = hold->next;
    pthread_cond_broadcast (&holds->was_unlocked);
  }
  rd_free (hold);
}

enum radio_status
rd_holds_lock (struct rd_holds *holds, const char *prefix, bool wait,
               struct rd_io_lock **lock)
{
  RD_SCOPE_WAIT ("lock", RD_IN_QUEUE);
  RD_NOTE_NAME ("folder", prefix);
  size_t nbytes = strlen (prefix) + 1;
  RD_FREE struct rd_hold *hold = rd_malloc (sizeof *hold + nbytes);
  if (hold == NULL)
    return rd_fail_memory (sizeof *hold + nbytes);
  hold->base.unlock = unlock;
  hold->holds = holds;
  memcpy (hold->prefix, prefix, nbytes);
  RD_LOCK_SCOPE (&holds->mutex);
  while (is_held (holds, prefix)) {
    if (!wait)
      return RADIO_OK;
    pthread_cond_wait (&holds->was_unlocked, &holds->mutex);
  }
  hold->next = holds->first;
  holds->first = hold;
  *lock = &RD_STEAL (hold)->base;
  return RADIO_OK;
}
