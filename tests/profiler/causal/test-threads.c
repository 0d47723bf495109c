/* SPDX-License-Identifier: MIT */
/* Real threads: nothing is lost or counted twice, and recording may stop at
 * any moment.  Mostly for the sanitizers.
 */
#include <config.h>

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/profiler/causal/stage.h"

#include "profiler/record/recorder.h"
#include "src/base/alloc.h"

#define NTHREADS 4
#define NJOBS 200

SITE (read);
SITE (tiles);
SITE (decode);
SITE (get);
SITE (body);
SITE (top);

static const struct radio_site rest_site = {
  "rest", "queue", "f", "f.c", 1, RADIO_SCOPE_WAIT
};

static const struct radio_counter ntiles = { "tiles", "count" };

static void
start_threads (pthread_t *threads, void *(*run) (void *), void *arg)
{
  for (size_t i = 0; i < NTHREADS; i++)
    assert_int_equal (pthread_create (&threads[i], NULL, run, arg), 0);
}

static void
join_threads (pthread_t *threads)
{
  for (size_t i = 0; i < NTHREADS; i++)
    assert_int_equal (pthread_join (threads[i], NULL), 0);
}

/*------------------------------------------------------------------------
 * A pool
 *----------------------------------------------------------------------*/

struct pool {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  unsigned njob;              /* counts the jobs; UINT_MAX: no more */
  unsigned nleft;             /* workers that are not done with it */
  struct radio_handoff handoff;
  struct radio_async *request;
};

static void
do_job (struct pool *pool, const struct radio_handoff *handoff)
{
  uint64_t token = radio_scope_receive (handoff, &tiles_site);
  for (int i = 0; i < 3; i++) {
    uint64_t inside = radio_scope_begin (&decode_site);
    radio_scope_add (&ntiles, 1);
    radio_scope_end (inside);
  }
  radio_async_phase (pool->request, &body_site);
  radio_async_end (radio_async_begin (&get_site));
  radio_scope_end (token);
}

static void *
work (void *arg)
{
  struct pool *pool = arg;
  unsigned done = 0;
  pthread_mutex_lock (&pool->mutex);
  for (;;) {
    while (pool->njob == done)
      pthread_cond_wait (&pool->changed, &pool->mutex);
    if (pool->njob == UINT_MAX)
      break;
    done = pool->njob;
    pthread_mutex_unlock (&pool->mutex);
    do_job (pool, &pool->handoff);
    pthread_mutex_lock (&pool->mutex);
    pool->nleft--;
    pthread_cond_broadcast (&pool->changed);
  }
  pthread_mutex_unlock (&pool->mutex);
  return NULL;
}

static void
run_job (struct pool *pool)
{
  uint64_t token = radio_scope_begin (&read_site);
  pthread_mutex_lock (&pool->mutex);
  radio_handoff_give (&pool->handoff);
  pool->request = radio_async_begin (&get_site);
  pool->njob++;
  pool->nleft = NTHREADS;
  pthread_cond_broadcast (&pool->changed);
  pthread_mutex_unlock (&pool->mutex);
  uint64_t resting = radio_scope_begin (&rest_site);
  pthread_mutex_lock (&pool->mutex);
  while (pool->nleft > 0)
    pthread_cond_wait (&pool->changed, &pool->mutex);
  pthread_mutex_unlock (&pool->mutex);
  radio_scope_end (resting);
  radio_async_end (pool->request);
  radio_handoff_release (&pool->handoff);
  radio_scope_end (token);
}

static void
run_pool (void)
{
  static struct pool pool = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER
  };
  pthread_t threads[NTHREADS];
  pool.njob = 0;
  start_threads (threads, work, &pool);
  uint64_t token = radio_scope_begin (&top_site);
  for (unsigned i = 0; i < NJOBS; i++)
    run_job (&pool);
  radio_scope_end (token);
  pthread_mutex_lock (&pool.mutex);
  pool.njob = UINT_MAX;
  pthread_cond_broadcast (&pool.changed);
  pthread_mutex_unlock (&pool.mutex);
  join_threads (threads);
}

static void
check_pool (const struct radio_profile *profile)
{
  static const struct {
    const char *path;
    uint64_t calls;
  } nodes[] = {
    { "top", 1 },
    { "top/read", NJOBS },
    { "top/read/rest", NJOBS },
    { "top/read/get", NJOBS },
    { "top/read/get/body", NTHREADS * NJOBS },
    { "top/read/tiles", NTHREADS * NJOBS },
    { "top/read/tiles/get", NTHREADS * NJOBS },
    { "top/read/tiles/decode", 3 * NTHREADS * NJOBS },
  };
  size_t n = sizeof nodes / sizeof nodes[0];
  uint64_t sum = 0;
  assert_int_equal (profile->nodes.n, n);
  for (size_t i = 0; i < n; i++) {
    const struct radio_profile_node *node = stage_node (profile,
                                                        nodes[i].path);
    assert_int_equal (node->calls, nodes[i].calls);
    assert_true (node->self_ns <= node->total_ns);
    sum += node->work_ns;
  }
  assert_int_equal (profile->info.work_ns, sum);
  assert_int_equal (profile->info.open_count, 0);
  assert_int_equal (profile->info.late_count, 0);
  assert_int_equal (radio_profile_counter (profile, 0, "tiles", true),
                    3 * NTHREADS * NJOBS);
}

static void
work_of_a_pool_is_complete (void **state)
{
  (void) state;
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  assert_ok (radio_recorder_start (NULL, &recorder));
  run_pool ();
  assert_ok (radio_recorder_stop (recorder, &profile));
  check_pool (profile);
  const struct radio_profile_node *root = stage_node (profile, "top");
  assert_int_equal (root->total_ns, profile->info.wall_ns);
  uint64_t own = root->work_ns + root->wait_ns;
  assert_int_equal (root->total_ns, own
                    + stage_node (profile, "top/read")->total_ns);
  radio_profile_close (profile);
}

static void
work_of_a_pool_is_complete_for_a_whole_process (void **state)
{
  (void) state;
  struct radio_recorder_options options = { .whole_process = true };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  assert_ok (radio_recorder_start (&options, &recorder));
  run_pool ();
  assert_ok (radio_recorder_stop (recorder, &profile));
  check_pool (profile);
  radio_profile_close (profile);
}

static void
work_of_a_pool_is_complete_without_membarrier (void **state)
{
  (void) state;
  struct rd_recorder_setup setup = { .fences = true };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  assert_ok (rd_recorder_start (NULL, &setup, &recorder));
  run_pool ();
  assert_ok (radio_recorder_stop (recorder, &profile));
  check_pool (profile);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Stopping in the middle
 *----------------------------------------------------------------------*/

struct stress {
  const struct radio_handoff *handoff;
  atomic_bool ends;
  atomic_uint nturns;
  _Atomic (void *) block;     /* passed from thread to thread */
};

static void
take_turn (struct stress *stress)
{
  struct radio_handoff own;
  uint64_t token = radio_scope_receive (stress->handoff, &tiles_site);
  struct radio_async *async = radio_async_begin (&get_site);
  radio_scope_text ("turn", "any", RADIO_TEXT_PLAIN);
  radio_gauge_set (&ntiles, 1);
  radio_handoff_give (&own);
  uint64_t inside = radio_scope_receive (&own, &decode_site);
  rd_free (atomic_exchange (&stress->block, rd_malloc (64)));
  radio_async_phase (async, &body_site);
  radio_scope_end (inside);
  radio_handoff_release (&own);
  radio_scope_end (token);
  radio_async_end (async);
}

static void *
run_stress (void *arg)
{
  struct stress *stress = arg;
  while (!atomic_load (&stress->ends)) {
    take_turn (stress);
    atomic_fetch_add (&stress->nturns, 1);
  }
  return NULL;
}

static void
stop_under_stress (unsigned nturns)
{
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  struct radio_handoff handoff;
  struct stress stress = { .handoff = &handoff };
  struct radio_recorder_options options = { .max_spans = 4096 };
  pthread_t threads[NTHREADS];
  assert_ok (radio_recorder_start (&options, &recorder));
  uint64_t token = radio_scope_begin (&top_site);
  radio_handoff_give (&handoff);
  start_threads (threads, run_stress, &stress);
  while (atomic_load (&stress.nturns) < nturns)
    sched_yield ();
  assert_ok (radio_recorder_stop (recorder, &profile));
  unsigned then = atomic_load (&stress.nturns);
  while (atomic_load (&stress.nturns) < then + 10)
    sched_yield ();
  atomic_store (&stress.ends, true);
  join_threads (threads);
  radio_scope_end (token);
  radio_handoff_release (&handoff);
  rd_free (atomic_load (&stress.block));
  const struct radio_profile_node *tiles = stage_node (profile,
                                                       "top/tiles");
  assert_true (tiles->calls >= nturns && tiles->calls <= then + NTHREADS);
  assert_int_equal (stage_node (profile, "top")->open_count, 1);
  radio_profile_close (profile);
}

static void
recording_may_stop_at_any_moment (void **state)
{
  (void) state;
  for (unsigned nturns = 1; nturns <= 256; nturns *= 2)
    stop_under_stress (nturns);
}

/*------------------------------------------------------------------------
 * Threads that come and go, and children
 *----------------------------------------------------------------------*/

static void *
die_with_open_scopes (void *arg)
{
  radio_scope_receive (arg, &tiles_site);
  radio_scope_begin (&decode_site);
  return NULL;
}

static void
a_thread_that_ends_ends_its_received_scopes (void **state)
{
  (void) state;
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  struct radio_handoff handoff;
  assert_ok (radio_recorder_start (NULL, &recorder));
  uint64_t token = radio_scope_begin (&top_site);
  radio_handoff_give (&handoff);
  for (unsigned i = 0; i < 50; i++) {
    pthread_t thread;
    assert_int_equal (pthread_create (&thread, NULL, die_with_open_scopes,
                                      &handoff), 0);
    pthread_join (thread, NULL);
  }
  radio_scope_end (token);
  radio_handoff_release (&handoff);
  assert_ok (radio_recorder_stop (recorder, &profile));
  const struct radio_profile_node *tiles = stage_node (profile,
                                                       "top/tiles");
  assert_int_equal (tiles->calls, 50);
  assert_int_equal (tiles->open_count, 50);
  assert_int_equal (stage_node (profile, "top/tiles/decode")->open_count,
                    50);
  const struct radio_profile_node *top = stage_node (profile, "top");
  assert_true (top->total_ns - top->self_ns >= tiles->max_ns);
  assert_int_equal (top->open_count, 0);
  radio_profile_close (profile);
}

/* Uses all handles of the parent in a child of fork. */
static int
use_in_child (struct radio_handoff *handoff, struct radio_async *async)
{
  alarm (20);
  uint64_t token = radio_scope_receive (handoff, &tiles_site);
  radio_async_phase (async, &body_site);
  radio_async_end (async);
  struct radio_async *another = radio_async_receive (handoff, &get_site);
  radio_scope_end (token);
  radio_handoff_release (handoff);
  return token == 0 && another == NULL ? 0 : 1;
}

static void
handles_do_nothing_in_a_child_of_fork (void **state)
{
  (void) state;
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  struct radio_handoff handoff;
  assert_ok (radio_recorder_start (NULL, &recorder));
  uint64_t token = radio_scope_begin (&top_site);
  radio_handoff_give (&handoff);
  struct radio_async *async = radio_async_begin (&get_site);
  pid_t child = fork ();
  assert_int_not_equal (child, -1);
  if (child == 0)
    _exit (use_in_child (&handoff, async));
  int status;
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_int_equal (status, 0);
  radio_async_end (async);
  radio_handoff_release (&handoff);
  radio_scope_end (token);
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (profile->nodes.n, 2);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (work_of_a_pool_is_complete),
    cmocka_unit_test (work_of_a_pool_is_complete_for_a_whole_process),
    cmocka_unit_test (work_of_a_pool_is_complete_without_membarrier),
    cmocka_unit_test (recording_may_stop_at_any_moment),
    cmocka_unit_test (a_thread_that_ends_ends_its_received_scopes),
    cmocka_unit_test (handles_do_nothing_in_a_child_of_fork),
  };
  return run_recording_tests (tests);
}
