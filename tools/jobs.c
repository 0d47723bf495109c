/* SPDX-License-Identifier: MIT */
/* Jobs that a few threads do at the same time. */
#include <config.h>

#include <radio/profile.h>

#include "src/base/cpu-quota.h"
#include "tools/jobs.h"
#include "tools/names.h"

#define DEFAULT_LIMIT_NBYTES ((uint64_t) 1 << 30)

void
rd_jobs_reserve (struct rd_jobs *jobs, uint64_t nbytes)
{
  pthread_mutex_lock (&jobs->mutex);
  while (jobs->synced.nreserving > 0
         && jobs->synced.reserved_nbytes + nbytes > jobs->limit_nbytes) {
    RADIO_SCOPE_FULL ("wait for memory", "queue", RADIO_SCOPE_WAIT);
    pthread_cond_wait (&jobs->released, &jobs->mutex);
  }
  jobs->synced.nreserving++;
  jobs->synced.reserved_nbytes += nbytes;
  pthread_mutex_unlock (&jobs->mutex);
}

void
rd_jobs_release (struct rd_jobs *jobs, uint64_t nbytes)
{
  pthread_mutex_lock (&jobs->mutex);
  jobs->synced.nreserving--;
  jobs->synced.reserved_nbytes -= nbytes;
  pthread_cond_broadcast (&jobs->released);
  pthread_mutex_unlock (&jobs->mutex);
}

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
    if (jobs->end && !jobs->end (jobs->data, i))
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
  pthread_cond_init (&jobs->released, NULL);
  /* When a thread cannot be started, the others do its work. */
  while (nstarted + 1 < n
         && pthread_create (&threads[nstarted], NULL, run_jobs, jobs) == 0)
    nstarted++;
  run_jobs (jobs);
  if (nstarted > 0) {
    RADIO_SCOPE_FULL ("wait for threads", "queue", RADIO_SCOPE_WAIT);
    for (size_t i = 0; i < nstarted; i++)
      pthread_join (threads[i], NULL);
  }
  pthread_cond_destroy (&jobs->released);
  pthread_mutex_destroy (&jobs->mutex);
  return true;
}

size_t
rd_jobs_nthreads (const struct rd_args *args, const char *store)
{
  if (args->nthreads > 0)
    return args->nthreads;
  if (rd_is_url (store))
    return RD_JOBS_MAX_THREADS;
  return rd_count_cpus ();
}

size_t
rd_nodes_nthreads (const struct rd_args *args, const struct rd_nodes *nodes)
{
  size_t n = 1;
  for (size_t i = 0; i < nodes->nroots; i++) {
    const char *name = nodes->roots[i].name;
    size_t one = rd_jobs_nthreads (args, name ? name : rd_store_name (args));
    n = one > n ? one : n;
  }
  return n;
}

uint64_t
rd_jobs_limit_nbytes (const struct rd_args *args)
{
  return args->memory_nbytes ? args->memory_nbytes : DEFAULT_LIMIT_NBYTES;
}
