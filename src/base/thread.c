/* SPDX-License-Identifier: MIT */
/* Threads of the library's own, and the processors that they may use. */
#include <config.h>

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "src/base/cpu-quota.h"
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

/* The set grows until the kernel's fits into it. */
static unsigned
count_allowed (void)
{
#ifdef CPU_COUNT_S
  for (int room = 1024; room <= 1 << 20; room *= 2) {
    cpu_set_t *set = CPU_ALLOC (room);
    if (!set)
      break;
    size_t nbytes = CPU_ALLOC_SIZE (room);
    int n = sched_getaffinity (0, nbytes, set) == 0
      ? CPU_COUNT_S (nbytes, set) : 0;
    CPU_FREE (set);
    if (n > 0)
      return (unsigned) n;
  }
#endif
  long n = sysconf (_SC_NPROCESSORS_ONLN);
  return n > 0 ? (unsigned) n : 1;
}

unsigned
rd_count_cpus (void)
{
  struct rd_cpu_quota quota;
  unsigned n = count_allowed ();
  if (n == 1 || !rd_cpu_quota_read ("", &quota) || quota.cpus >= n)
    return n;
  unsigned whole = (unsigned) quota.cpus;
  return whole + (quota.cpus > whole);
}
