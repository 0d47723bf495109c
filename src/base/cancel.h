/* SPDX-License-Identifier: MIT */
/* The function by which a program ends what one of its threads does
 * (radio_thread_set_cancel): asked by what reads and waits on that thread. */
#ifndef RD_CANCEL_H
#define RD_CANCEL_H

#include <pthread.h>
#include <time.h>

#include <radio/base.h>

/* How often a function is asked while its thread waits. */
#define RD_CANCEL_ASK_MS 20

/* Returns the time (CLOCK_REALTIME) to ask again while there is nothing to do
 * but to wait. */
struct timespec rd_cancel_next_time (void);

/* Waits for the condition, and with a function to ask for a moment at most.
 * Returns whether that is over: it is time to ask. */
bool rd_cancel_wait (pthread_cond_t *cond, pthread_mutex_t *mutex,
                     bool is_asked);

/* Returns the calling thread's function and its argument; NULL: it has none. */
radio_cancel_fn *rd_thread_cancel (void **user_data);

static inline bool
rd_thread_has_cancel (void)
{
  void *user_data;
  return rd_thread_cancel (&user_data) != NULL;
}

/* Asks it. */
static inline bool
rd_thread_is_cancelled (void)
{
  void *user_data;
  radio_cancel_fn *cancel = rd_thread_cancel (&user_data);
  return cancel && cancel (user_data);
}

#endif /* RD_CANCEL_H */
