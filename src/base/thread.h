/* SPDX-License-Identifier: MIT */
/* Threads of the library's own, and of the program. */
#ifndef RD_THREAD_H
#define RD_THREAD_H

#include <pthread.h>

#include "src/base/cleanup.h"

/* Starts a thread in which all signals are blocked: they are for the program's
 * own threads.  Returns an errno. */
int rd_start_thread (pthread_t *thread, void *(*run) (void *), void *data);

/* Until the end of the scope, pthread_cancel does not end the thread in a
 * system call: a lock that is held, or a state that is half changed, would stay
 * so for ever. */
#define RD_NO_CANCEL_SCOPE()                                      \
  RD_CLEANUP (rd_cleanup_cancel) __attribute__ ((__unused__))     \
  int RD_CONCAT (rd_cancel_, __LINE__) = rd_disable_cancel ()

static inline int
rd_disable_cancel (void)
{
  int state;
  pthread_setcancelstate (PTHREAD_CANCEL_DISABLE, &state);
  return state;
}

static inline void
rd_cleanup_cancel (int *state)
{
  pthread_setcancelstate (*state, state);
}

#endif /* RD_THREAD_H */
