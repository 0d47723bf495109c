/* SPDX-License-Identifier: MIT */
/* Jobs that a few threads do at the same time. */
#include <config.h>

#include <unistd.h>

#include "tools/jobs.h"
#include "tools/names.h"

#define DEFAULT_LIMIT_NBYTES ((uint64_t) 1 << 30)

/* Waits until there is memory for job i; false if no more are started
 * meanwhile, or another thread has started it. */
static bool
wait_for_memory (struct rd_jobs *jobs, size_t i, uint64_t nbytes)
{
  while (jobs->synced.nactive > 0 && jobs->synced.nstarted == i
         && !jobs->synced.is_stopped
         && jobs->synced.active_nbytes + nbytes > jobs->limit_nbytes)
    pthread_cond_wait (&jobs->ended, &jobs->mutex);
  return jobs->synced.nstarted == i && !jobs->synced.is_stopped;
}

static void *
run_jobs (void *argument)
{
  struct rd_jobs *jobs = argument;
  pthread_mutex_lock (&jobs->mutex);
  while (jobs->synced.nstarted < jobs->n && !jobs->synced.is_stopped) {
    size_t i = jobs->synced.nstarted;
    uint64_t nbytes = jobs->cost_nbytes ? jobs->cost_nbytes (jobs->data, i)
                                        : 0;
    if (!wait_for_memory (jobs, i, nbytes))
      continue;
    jobs->synced.nstarted++;
    jobs->synced.nactive++;
    jobs->synced.active_nbytes += nbytes;
    pthread_mutex_unlock (&jobs->mutex);
    jobs->run (jobs->data, i);
    pthread_mutex_lock (&jobs->mutex);
    jobs->synced.nactive--;
    jobs->synced.active_nbytes -= nbytes;
    if (jobs->end && !jobs->end (jobs->data, i))
      jobs->synced.is_stopped = true;
    jobs->synced.has_ended[i] = true;
    while (jobs->synced.nreported < jobs->synced.nstarted
           && jobs->synced.has_ended[jobs->synced.nreported])
      jobs->report (jobs->data, jobs->synced.nreported++);
    pthread_cond_broadcast (&jobs->ended);
  }
  pthread_mutex_unlock (&jobs->mutex);
  return NULL;
}

bool
rd_jobs_run (struct rd_jobs *jobs)
{
  pthread_t threads[RD_JOBS_MAX_THREADS];
  size_t nstarted = 0;
  size_t n = jobs->nthreads < jobs->n ? jobs->nthreads : jobs->n;
  if (n > RD_JOBS_MAX_THREADS)
    n = RD_JOBS_MAX_THREADS;
  RD_FREE bool *has_ended = calloc (jobs->n + 1, sizeof *has_ended);
  if (has_ended == NULL)
    return rd_error_memory (), false;
  jobs->synced.has_ended = has_ended;
  pthread_mutex_init (&jobs->mutex, NULL);
  pthread_cond_init (&jobs->ended, NULL);
  /* When a thread cannot be started, the others do its work. */
  while (nstarted + 1 < n
         && pthread_create (&threads[nstarted], NULL, run_jobs, jobs) == 0)
    nstarted++;
  run_jobs (jobs);
  for (size_t i = 0; i < nstarted; i++)
    pthread_join (threads[i], NULL);
  pthread_cond_destroy (&jobs->ended);
  pthread_mutex_destroy (&jobs->mutex);
  return true;
}

size_t
rd_jobs_nthreads (const struct rd_args *args, const char *store)
{
  long nprocessors = sysconf (_SC_NPROCESSORS_ONLN);
  if (args->nthreads > 0)
    return args->nthreads;
  if (rd_is_url (store))
    return RD_JOBS_MAX_THREADS;
  return nprocessors > 0 ? (size_t) nprocessors : 1;
}

uint64_t
rd_jobs_limit_nbytes (const struct rd_args *args)
{
  return args->memory_nbytes ? args->memory_nbytes : DEFAULT_LIMIT_NBYTES;
}
