/* SPDX-License-Identifier: MIT */
/* The calling thread's function that ends its operations. */
#include <config.h>

#include <stddef.h>

#include "src/base/cancel.h"

static _Thread_local struct {
  radio_cancel_fn *ask;
  void *user_data;
} thread_cancel;

void
radio_thread_set_cancel (radio_cancel_fn *cancel, void *user_data)
{
  thread_cancel.ask = cancel;
  thread_cancel.user_data = user_data;
}

radio_cancel_fn *
rd_thread_cancel (void **user_data)
{
  *user_data = thread_cancel.user_data;
  return thread_cancel.ask;
}

struct timespec
rd_cancel_next_time (void)
{
  struct timespec end;
  clock_gettime (CLOCK_REALTIME, &end);
  end.tv_nsec += RD_CANCEL_ASK_MS * 1000000;
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  return end;
}

bool
rd_cancel_wait (pthread_cond_t *cond, pthread_mutex_t *mutex, bool is_asked)
{
  if (!is_asked) {
    pthread_cond_wait (cond, mutex);
    return false;
  }
  const struct timespec end = rd_cancel_next_time ();
  return pthread_cond_timedwait (cond, mutex, &end) != 0;
}
