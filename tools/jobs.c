/* SPDX-License-Identifier: MIT */
/* Jobs that a few threads do at the same time. */
#include <config.h>

#include <unistd.h>

#include "tools/jobs.h"

#define MAX_THREADS 64

static void *
run_jobs (void *argument)
{
  struct rd_jobs *jobs = argument;
  pthread_mutex_lock (&jobs->mutex);
  while (jobs->synced.nstarted < jobs->n && !jobs->synced.is_stopped) {
    size_t i = jobs->synced.nstarted++;
    pthread_mutex_unlock (&jobs->mutex);
    jobs->run (jobs->data, i);
    pthread_mutex_lock (&jobs->mutex);
    if (!jobs->end (jobs->data, i))
      jobs->synced.is_stopped = true;
    jobs->synced.has_ended[i] = true;
    while (jobs->synced.nreported < jobs->synced.nstarted
           && jobs->synced.has_ended[jobs->synced.nreported])
      jobs->report (jobs->data, jobs->synced.nreported++);
  }
  pthread_mutex_unlock (&jobs->mutex);
  return NULL;
}

bool
rd_jobs_run (struct rd_jobs *jobs)
{
  pthread_t threads[MAX_THREADS];
  size_t nstarted = 0;
  size_t n = jobs->nthreads < jobs->n ? jobs->nthreads : jobs->n;
  if (n > MAX_THREADS)
    n = MAX_THREADS;
  RD_FREE bool *has_ended = calloc (jobs->n + 1, sizeof *has_ended);
  if (has_ended == NULL)
    return rd_error_memory (), false;
  jobs->synced.has_ended = has_ended;
  pthread_mutex_init (&jobs->mutex, NULL);
  /* When a thread cannot be started, the others do its work. */
  while (nstarted + 1 < n
         && pthread_create (&threads[nstarted], NULL, run_jobs, jobs) == 0)
    nstarted++;
  run_jobs (jobs);
  for (size_t i = 0; i < nstarted; i++)
    pthread_join (threads[i], NULL);
  pthread_mutex_destroy (&jobs->mutex);
  return true;
}

size_t
rd_jobs_nthreads (unsigned nthreads)
{
  long nprocessors = sysconf (_SC_NPROCESSORS_ONLN);
  return nthreads ? nthreads : nprocessors > 0 ? (size_t) nprocessors : 1;
}
