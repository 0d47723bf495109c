/* SPDX-License-Identifier: MIT */
/* Threads of the library's own. */
#include <config.h>

#include <signal.h>

#include "src/base/thread.h"

int
rd_start_thread (pthread_t *thread, void *(*run) (void *), void *data)
{
  sigset_t all, before;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  int errnum = pthread_create (thread, NULL, run, data);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  return errnum;
}
