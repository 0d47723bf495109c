/* SPDX-License-Identifier: MIT */
/* Locks of prefixes within one process, for stores that have no others. */
#ifndef RD_HOLDS_H
#define RD_HOLDS_H

#include "io/io.h"

struct rd_hold;

struct rd_holds {
  pthread_mutex_t mutex;
  pthread_cond_t was_unlocked;
  struct rd_hold *first;      /* guarded by the mutex */
};

enum radio_status rd_holds_init (struct rd_holds *holds) RADIO_USE_RESULT;

/* Nothing is held any more. */
void rd_holds_free (struct rd_holds *holds);

/* As lock of a store's table; the prefix was checked. */
enum radio_status rd_holds_lock (struct rd_holds *holds, const char *prefix,
                                 bool wait, struct rd_io_lock **lock)
  RADIO_USE_RESULT;

#endif /* RD_HOLDS_H */
