/* SPDX-License-Identifier: MIT */
/* Nodes, times and threads in the collector's profile. */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/profiler/causal/stage.h"

STAGE_SITE (read_site, "read", "operation");
STAGE_SITE (same_site, "read", "operation");
STAGE_SITE (read_disk_site, "read", "disk");
STAGE_SITE (a_site, "a", "x");
STAGE_SITE (b_site, "b", "x");

static const struct radio_site wait_site = {
  "wait", "queue", "f", "f.c", 1, RADIO_SCOPE_WAIT
};

static const struct radio_counter tiles = { "tiles", "count" };
static const struct radio_counter also_tiles = { "tiles", "count" };

STAGE_FIXTURE

static void
run (const struct radio_site *site, uint64_t ticks)
{
  uint64_t token = radio_scope_begin (site);
  stage.now += ticks;
  radio_scope_end (token);
}

/*------------------------------------------------------------------------
 * Counters and gauges
 *----------------------------------------------------------------------*/

/* One more than the limit. */
static struct radio_counter *
make_counters (char (*names)[16])
{
  struct radio_counter *counters
    = calloc (RD_MAX_KEYS + 1, sizeof *counters);
  assert_non_null (counters);
  for (unsigned i = 0; i <= RD_MAX_KEYS; i++) {
    snprintf (names[i], sizeof names[i], "counter %u", i);
    counters[i] = (struct radio_counter) { names[i], "count" };
  }
  return counters;
}

static void
the_first_of_too_many_counters_are_kept (void **state)
{
  (void) state;
  char (*names)[16] = calloc (RD_MAX_KEYS + 1, sizeof *names);
  assert_non_null (names);
  struct radio_counter *counters = make_counters (names);
  uint64_t top = radio_scope_begin (&read_site);
  for (unsigned i = 0; i <= RD_MAX_KEYS; i++)
    radio_scope_add (&counters[i], i + 1);
  run (&a_site, 10);
  radio_scope_end (top);
  run (&a_site, 10);
  uint64_t again = radio_scope_begin (&b_site);
  radio_scope_add (&counters[RD_MAX_KEYS - 1], 7);
  radio_scope_end (again);
  struct radio_profile *profile = stage_close (&stage);
  size_t read = stage_index (profile, "read"), b = stage_index (profile, "b");
  assert_int_equal (profile->info.ncounters, RD_MAX_KEYS);
  assert_int_equal (radio_profile_counter (profile, read, "counter 4095",
                                           false), 4096);
  assert_int_equal (radio_profile_counter (profile, read, "counter 4096",
                                           false), 0);
  assert_int_equal (radio_profile_counter (profile, b, "counter 4095",
                                           false), 7);
  assert_string_equal (rd_profile_find_fact (profile,
                                             "counter values not kept"), "1");
  radio_profile_close (profile);
  free (counters);
  free (names);
}

/* A table with the same numbers of nodes, counters and values. */
static void
a_recording_is_not_refused_for_its_empty_tables (void **state)
{
  (void) state;
  enum { n = 2100 };
  char (*names)[16] = calloc (RD_MAX_KEYS + 1, sizeof *names);
  struct radio_site *sites = calloc (n, sizeof *sites);
  assert_true (names && sites);
  struct radio_counter *counters = make_counters (names);
  for (unsigned i = 0; i < n; i++) {
    sites[i] = a_site;
    sites[i].name = names[i];
    uint64_t token = radio_scope_begin (&sites[i]);
    radio_scope_add (&counters[i], 5);
    radio_scope_end (token);
  }
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->info.ncounters, n);
  assert_int_equal (radio_profile_counter (profile, n - 1, names[n - 1],
                                           false), 5);
  radio_profile_close (profile);
  free (counters);
  free (sites);
  free (names);
}

/*------------------------------------------------------------------------
 * Nodes
 *----------------------------------------------------------------------*/

static void
equal_names_under_one_parent_are_one_node (void **state)
{
  (void) state;
  run (&read_site, 10);
  run (&same_site, 20);
  run (&read_disk_site, 40);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->nodes.n, 2);
  const struct radio_profile_node *node = radio_profile_get_node (profile, 0);
  assert_string_equal (node->category, "operation");
  assert_int_equal (node->calls, 2);
  assert_int_equal (node->total_ns, 30);
  assert_int_equal (node->min_ns, 10);
  assert_int_equal (node->max_ns, 20);
  assert_int_equal (radio_profile_get_node (profile, 1)->total_ns, 40);
  radio_profile_close (profile);
}

static void
threads_that_do_the_same_are_one_node (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  for (unsigned i = 0; i < STAGE_THREADS; i++) {
    stage_on (&stage, i);
    uint64_t far = radio_scope_receive (&handoff, &a_site);
    run (&b_site, 10);
    radio_scope_add (i % 2 ? &tiles : &also_tiles, 3);
    radio_scope_end (far);
  }
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->nodes.n, 3);
  assert_int_equal (stage_node (profile, "read/a/b")->calls,
                    STAGE_THREADS);
  assert_int_equal (stage_node (profile, "read/a/b")->total_ns,
                    10 * STAGE_THREADS);
  assert_int_equal (profile->counters.n, 1);
  assert_int_equal (radio_profile_counter (profile, 1, "tiles", false),
                    3 * STAGE_THREADS);
  radio_profile_close (profile);
}

static void
a_call_and_a_handoff_are_two_nodes (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  run (&a_site, 10);
  uint64_t far = radio_scope_receive (&handoff, &a_site);
  radio_scope_end (far);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->nodes.n, 3);
  assert_int_not_equal (
    rd_profile_find_node (profile, 0, "a", "x", RADIO_EDGE_CALL),
    rd_profile_find_node (profile, 0, "a", "x", RADIO_EDGE_HANDOFF));
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Nanoseconds
 *----------------------------------------------------------------------*/

static uint64_t
roll (uint64_t *random)
{
  *random = *random * UINT64_C (6364136223846793005)
            + UINT64_C (1442695040888963407);
  return *random >> 33;
}

/* Random nested scopes, of a few ticks each. */
static void
play_nested (uint64_t *random, unsigned depth)
{
  static const struct radio_site *const sites[] = {
    &a_site, &b_site, &wait_site
  };
  unsigned n = roll (random) % 4;
  for (unsigned i = 0; i < n; i++) {
    uint64_t token = radio_scope_begin (sites[roll (random) % 3]);
    stage.now += roll (random) % 5;
    if (depth < 8)
      play_nested (random, depth + 1);
    stage.now += roll (random) % 3;
    radio_scope_end (token);
  }
}

static void
check_node_sums (const struct radio_profile *profile, size_t i)
{
  const struct radio_profile_node *node = radio_profile_get_node (profile, i);
  uint64_t children = 0;
  for (size_t j = i + 1; j < profile->nodes.n; j++) {
    if (profile->nodes.at[j].parent == i)
      children += profile->nodes.at[j].total_ns;
  }
  assert_int_equal (node->total_ns, node->self_ns + children);
  assert_int_equal (node->self_ns, node->work_ns + node->wait_ns);
  assert_true (node->min_ns <= node->max_ns);
  assert_true (node->max_ns <= node->total_ns);
}

static void
check_sums (const struct radio_profile *profile)
{
  uint64_t self = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    check_node_sums (profile, i);
    self += profile->nodes.at[i].self_ns;
  }
  const struct radio_profile_node *root = radio_profile_get_node (profile, 0);
  assert_int_equal (self, root->total_ns);
  assert_int_equal (profile->info.wall_ns, root->total_ns);
  assert_int_equal (profile->info.work_ns + profile->info.wait_ns, self);
}

static void
on_one_thread_sums_are_exact_at_any_rate (void **state)
{
  (void) state;
  static const uint64_t rates[] = { 1000, 2600, 1700, 3333, 24, 999, 54 };
  struct radio_recorder_options options = { .max_spans = 4096 };
  radio_profile_close (stage_close (&stage));
  for (uint64_t seed = 1; seed <= 70; seed++) {
    uint64_t random = seed;
    stage_open (&stage, &options, rates[seed % 7]);
    uint64_t top = radio_scope_begin (&read_site);
    play_nested (&random, 0);
    play_nested (&random, 0);
    radio_scope_end (top);
    struct radio_profile *profile = stage_close (&stage);
    check_sums (profile);
    radio_profile_close (profile);
  }
}

static void
the_counter_has_the_rate_in_the_profile (void **state)
{
  (void) state;
  radio_profile_close (stage_close (&stage));
  stage_open (&stage, NULL, 2500);
  run (&read_site, UINT64_C (2500000) * 3600 * 1000);
  struct radio_profile *profile = stage_close (&stage);
  uint64_t hour_ns = UINT64_C (3600) * 1000000000;
  uint64_t total = radio_profile_get_node (profile, 0)->total_ns;
  assert_true (total > hour_ns - 10 && total < hour_ns + 10);
  assert_int_equal (profile->info.wall_ns, total);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * The log
 *----------------------------------------------------------------------*/

static void
children_of_dropped_parents_are_distinct (void **state)
{
  (void) state;
  enum { N = 3000 };
  radio_profile_close (stage_close (&stage));
  struct radio_recorder_options options = { .max_spans = 64 };
  stage_open (&stage, &options, 0);
  for (unsigned i = 0; i < N; i++) {
    uint64_t token = radio_scope_begin (&a_site);
    run (&b_site, 1 + i % 7);
    radio_scope_end (token);
  }
  struct radio_profile *profile = stage_close (&stage);
  const struct radio_profile_node *a = stage_node (profile, "a");
  const struct radio_profile_node *b = stage_node (profile, "a/b");
  assert_int_equal (a->calls, N);
  assert_int_equal (b->calls, N);
  assert_true (a->dropped_count + b->dropped_count > 0);
  assert_int_equal (profile->spans.n + a->dropped_count
                    + b->dropped_count, 2 * N);
  assert_int_equal (profile->info.dropped_count,
                    a->dropped_count + b->dropped_count);
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    assert_int_equal (span->parent != 0, span->node == 1);
  }
  radio_profile_close (profile);
}

static void
times_count_from_the_first_begin (void **state)
{
  (void) state;
  stage.now += 5000;
  radio_gauge_set (&tiles, 1);
  stage.now += 100;
  run (&a_site, 30);
  stage.now += 5000;
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->spans.at[0].begin_ns, 0);
  assert_int_equal (profile->info.wall_ns, 30);
  assert_int_equal (profile->samples.at[0].time_ns, 0);
  radio_profile_close (profile);
}

static void
an_empty_recording_is_a_profile (void **state)
{
  (void) state;
  struct radio_profile *profile = stage_close (&stage);
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  assert_int_equal (info.nnodes, 0);
  assert_int_equal (info.wall_ns, 0);
  assert_int_equal (info.nparts, 1);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * The whole
 *----------------------------------------------------------------------*/

static const struct rd_fact *
find_fact (const struct radio_profile *profile, const char *key)
{
  for (size_t i = 0; i < profile->facts.n; i++) {
    if (strcmp (profile->facts.at[i].key, key) == 0)
      return &profile->facts.at[i];
  }
  fail_msg ("no fact %s", key);
  return NULL;
}

static void
the_process_has_facts_with_names_marked (void **state)
{
  (void) state;
  uint64_t before = (uint64_t) time (NULL);
  struct radio_profile *profile = stage_close (&stage);
  const struct rd_fact *command = find_fact (profile, "command");
  assert_true (command->is_name);
  assert_non_null (strstr (command->value, "test-collect"));
  assert_true (find_fact (profile, "host")->is_name);
  const struct rd_fact *pid = find_fact (profile, "pid");
  assert_false (pid->is_name);
  assert_int_equal (strtol (pid->value, NULL, 10), getpid ());
  assert_int_equal (profile->parts.at[0].pid, getpid ());
#ifdef __linux__
  assert_in_range (profile->parts.at[0].process, 1, (1ull << 53) - 1);
#endif
  assert_true (strtol (find_fact (profile, "ncpus")->value, NULL, 10) > 0);
  assert_non_null (strstr (profile->info.program, "test-collect"));
  assert_string_equal (profile->info.title, profile->info.program);
  uint64_t started = profile->info.started_unix_ns / 1000000000;
  assert_true (started >= before - 10 && started <= before + 10);
  radio_profile_close (profile);
}

static void
the_callers_title_and_facts_override (void **state)
{
  (void) state;
  radio_profile_close (stage_close (&stage));
  struct radio_recorder_options options = { .title = "two reads" };
  stage_open (&stage, &options, 0);
  assert_ok (radio_recorder_fact (stage.recorder, "operation", "slice",
                                  RADIO_TEXT_PLAIN));
  assert_ok (radio_recorder_fact (stage.recorder, "command", "mine",
                                  RADIO_TEXT_PLAIN));
  struct radio_profile *profile = stage_close (&stage);
  assert_string_equal (profile->info.title, "two reads");
  assert_string_equal (find_fact (profile, "operation")->value, "slice");
  assert_string_equal (find_fact (profile, "command")->value, "mine");
  assert_false (find_fact (profile, "command")->is_name);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Threads
 *----------------------------------------------------------------------*/

static void *
run_named (void *arg)
{
  const struct radio_handoff *handoff = arg;
  radio_thread_name ("loader");
  radio_scope_end (radio_scope_receive (handoff, &a_site));
  return NULL;
}

static void *
run_unnamed (void *arg)
{
  const struct radio_handoff *handoff = arg;
  radio_scope_end (radio_scope_receive (handoff, &a_site));
  return NULL;
}

static bool
has_lane (const struct radio_profile *profile, const char *name)
{
  for (size_t i = 0; i < profile->lanes.n; i++) {
    if (strcmp (profile->lanes.at[i].name, name) == 0)
      return true;
  }
  return false;
}

/* Three threads, one after the other, below a scope of this one. */
static struct radio_profile *
record_threads (void *(*function) (void *))
{
  struct radio_recorder *recorder;
  struct radio_handoff handoff;
  struct radio_profile *profile;
  assert_ok (radio_recorder_start (NULL, &recorder));
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  for (size_t i = 0; i < 3; i++) {
    pthread_t thread;
    assert_int_equal (pthread_create (&thread, NULL, function, &handoff),
                      0);
    pthread_join (thread, NULL);
  }
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (stage_node (profile, "read/a")->calls, 3);
  assert_int_equal (profile->lanes.n, 4);
  assert_true (has_lane (profile, "main"));
  return profile;
}

static void
threads_of_one_name_are_numbered (void **state)
{
  (void) state;
  struct radio_profile *profile = record_threads (run_named);
  assert_true (has_lane (profile, "loader"));
  assert_true (has_lane (profile, "loader 2"));
  assert_true (has_lane (profile, "loader 3"));
  radio_profile_close (profile);
}

/* True if the system calls this thread, which has no name, as the program. */
static bool
is_named_as_program (void)
{
  char name[16];
  assert_int_equal (pthread_getname_np (pthread_self (), name, sizeof name),
                    0);
  return strncmp (name, program_invocation_short_name, sizeof name - 1) == 0;
}

static void
an_unnamed_thread_does_not_get_the_programs_name (void **state)
{
  (void) state;
  /* Within qemu-user it is called as the emulator. */
  if (!is_named_as_program ())
    skip ();
  struct radio_profile *profile = record_threads (run_unnamed);
  assert_true (has_lane (profile, "thread"));
  assert_true (has_lane (profile, "thread 2"));
  assert_true (has_lane (profile, "thread 3"));
  radio_profile_close (profile);
}

#define TEST(name) cmocka_unit_test_setup (name, open_stage)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (the_first_of_too_many_counters_are_kept),
    TEST (a_recording_is_not_refused_for_its_empty_tables),
    TEST (equal_names_under_one_parent_are_one_node),
    TEST (threads_that_do_the_same_are_one_node),
    TEST (a_call_and_a_handoff_are_two_nodes),
    TEST (on_one_thread_sums_are_exact_at_any_rate),
    TEST (the_counter_has_the_rate_in_the_profile),
    TEST (children_of_dropped_parents_are_distinct),
    TEST (times_count_from_the_first_begin),
    TEST (an_empty_recording_is_a_profile),
    TEST (the_process_has_facts_with_names_marked),
    TEST (the_callers_title_and_facts_override),
    cmocka_unit_test (threads_of_one_name_are_numbered),
    cmocka_unit_test (an_unnamed_thread_does_not_get_the_programs_name),
  };
  return run_recording_tests (tests);
}
