/* SPDX-License-Identifier: MIT */
/* Waiting for one call. */
#include <config.h>

#include "src/base/cleanup.h"
#include "io/waiter.h"

void
rd_waiter_wake (struct rd_waiter *waiter)
{
  RD_LOCK_SCOPE (&waiter->mutex);
  waiter->is_done = true;
  /* Under the mutex, since the waiter's frame is gone once it sees this. */
  pthread_cond_signal (&waiter->cond);
}

void
rd_waiter_wait (struct rd_waiter *waiter)
{
  {
    RD_LOCK_SCOPE (&waiter->mutex);
    while (!waiter->is_done)
      pthread_cond_wait (&waiter->cond, &waiter->mutex);
  }
  pthread_cond_destroy (&waiter->cond);
  pthread_mutex_destroy (&waiter->mutex);
}
