/* SPDX-License-Identifier: MIT */
/* Ending a read before it is complete: by its caller, or at a deadline. */
#ifndef RD_STOP_H
#define RD_STOP_H

#include <pthread.h>

#include <radio/array.h>

#include "io/io.h"

struct rd_read_stop {
  struct rd_io_stop io;       /* of its requests */
  struct rd_io *store;        /* that the requests are to */
  uint64_t deadline_ms;
  radio_cancel_fn *cancel;    /* called on the caller's thread; or NULL */
  void *user_data;
  pthread_t caller;
};

/* Begins a read by the calling thread, which is asked by the options' function,
 * else by the thread's own (radio_thread_set_cancel); the deadline runs from
 * now on. */
void rd_read_stop_init (struct rd_read_stop *stop, struct rd_io *store,
                        const struct radio_read_options *options);

/* The same without options; returns NULL if the thread has no function. */
struct rd_read_stop *rd_read_stop_of_thread (struct rd_read_stop *stop,
                                             struct rd_io *store);

/* Returns the part that the requests of a read check; NULL for NULL. */
static inline const struct rd_io_stop *
rd_read_stop_io (const struct rd_read_stop *stop)
{
  return stop ? &stop->io : NULL;
}

/* Fails if the read is to end; called before each tile, by any thread of the
 * read, without locks.  A read that is cancelled so ends its requests.  NULL is
 * legal. */
enum radio_status rd_read_stop_check (struct rd_read_stop *stop)
  RADIO_USE_RESULT;

/* Waits for a condition, for a moment only if there is a callback to be asked,
 * which is called without the mutex.  NULL is legal. */
void rd_read_stop_wait (struct rd_read_stop *stop, pthread_cond_t *cond,
                        pthread_mutex_t *mutex);

/* Locks a mutex that may be held for long, unless the read is to end before:
 * then it fails.  NULL is legal. */
enum radio_status rd_read_stop_lock (struct rd_read_stop *stop,
                                     pthread_mutex_t *mutex) RADIO_USE_RESULT;

/* Reads as rd_io_read does, but ends with the read; sets get's stop, which may
 * be NULL. */
enum radio_status rd_read_stop_io_read (struct rd_read_stop *stop,
                                        struct rd_io *io,
                                        struct rd_io_get *get)
  RADIO_USE_RESULT;

/* Reads n ranges at once in a store that does not block, else one after the
 * other; sets their stop, done and user_data.  Returns once all have ended,
 * with the first one's error in their order. */
enum radio_status rd_read_stop_io_read_all (struct rd_read_stop *stop,
                                            struct rd_io *io,
                                            struct rd_io_get *gets, size_t n)
  RADIO_USE_RESULT;

#endif /* RD_STOP_H */
