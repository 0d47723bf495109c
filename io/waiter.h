/* SPDX-License-Identifier: MIT */
/* A thread that waits for one call from another. */
#ifndef RD_WAITER_H
#define RD_WAITER_H

#include <pthread.h>
#include <stdbool.h>

struct rd_waiter {
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  bool is_done;               /* under the mutex */
};

#define RD_WAITER_INIT \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false }

/* The waiter is not touched any more once this lets it go. */
void rd_waiter_wake (struct rd_waiter *waiter);

/* Wait for that; it cannot be used again. */
void rd_waiter_wait (struct rd_waiter *waiter);

#endif /* RD_WAITER_H */
