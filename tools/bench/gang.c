/* SPDX-License-Identifier: MIT */
/* Threads that start together, for measuring what all processors can do at
 * once. */
#include <config.h>

#include <pthread.h>
#include <string.h>

#include "tools/bench/limits.h"
#include "tools/progress.h"

struct gang {
  pthread_barrier_t barrier;
  rd_gang_fn *fn;
  void *data;
};

struct member {
  struct gang *gang;
  pthread_t thread;
  unsigned i;
  int failed;
  double begin_s, end_s;
};

static void *
run_member (void *data)
{
  struct member *member = data;
  pthread_barrier_wait (&member->gang->barrier);
  member->begin_s = rd_clock_s ();
  member->failed = member->gang->fn (member->gang->data, member->i);
  member->end_s = rd_clock_s ();
  return NULL;
}

/* From the first begin to the last end; the first failure. */
static int
join (const struct member *members, unsigned n, double *seconds)
{
  double begin = members[0].begin_s, end = members[0].end_s;
  int failed = RD_EXIT_OK;
  for (unsigned i = 0; i < n; i++) {
    if (members[i].begin_s < begin)
      begin = members[i].begin_s;
    if (members[i].end_s > end)
      end = members[i].end_s;
    if (!failed)
      failed = members[i].failed;
  }
  *seconds = end - begin;
  return failed;
}

/* The calling thread is the last member.  A member without a thread of its
 * own would leave the others at the barrier for ever. */
int
rd_gang_run (unsigned n, rd_gang_fn *fn, void *data, double *seconds)
{
  struct gang gang = { .fn = fn, .data = data };
  RD_FREE struct member *members = calloc (n, sizeof *members);
  if (members == NULL || pthread_barrier_init (&gang.barrier, NULL, n) != 0)
    return rd_error_memory ();
  for (unsigned i = 0; i < n; i++) {
    members[i].gang = &gang;
    members[i].i = i;
    int number = i + 1 < n ? pthread_create (&members[i].thread, NULL,
                                             run_member, &members[i]) : 0;
    if (number != 0) {
      rd_error ("cannot start thread %u of %u: %s", i + 1, n,
                strerror (number));
      exit (RD_EXIT_FAILED);
    }
  }
  run_member (&members[n - 1]);
  for (unsigned i = 0; i + 1 < n; i++)
    pthread_join (members[i].thread, NULL);
  pthread_barrier_destroy (&gang.barrier);
  return join (members, n, seconds);
}
