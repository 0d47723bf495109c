/* SPDX-License-Identifier: MIT */
/* The profile of one run, cut out of a whole one: its figures are those that
 * tests/profiler/build.c computes without the model. */
#include <config.h>

#include <inttypes.h>

#include "tests/profiler/build.h"

static const struct rd_span *
find_span (const struct radio_profile *profile, uint32_t id)
{
  for (size_t i = 0; i < profile->spans.n; i++)
    if (profile->spans.at[i].id == id)
      return &profile->spans.at[i];
  return NULL;
}

static struct radio_profile *
cut_run (const struct radio_profile *whole, uint32_t id)
{
  struct radio_profile *run;
  assert_ok (rd_profile_of_run (whole, id, &run));
  assert_ok (rd_profile_finalize (run));
  return run;
}

/* The node of the whole that a run's node is: its path begins at `top'. */
static size_t
node_of_whole (const struct radio_profile *whole, size_t top,
               const struct radio_profile *run, size_t i)
{
  const struct radio_profile_node *node = &run->nodes.at[i];
  if (node->parent == RADIO_NO_PARENT)
    return top;
  size_t parent = node_of_whole (whole, top, run, node->parent);
  size_t found = rd_profile_find_node (whole, (uint32_t) parent, node->name,
                                       node->category, node->edge);
  assert_true (found < whole->nodes.n);
  return found;
}

#define COMPARE(member) \
  assert_int_equal (sums[i].member, whole->nodes.at[i].member)

/* All runs that have no parent, added up: the whole's tree again. */
static void
check_sum_of_runs (struct radio_profile *whole)
{
  struct radio_profile_node *sums = calloc (whole->nodes.n, sizeof *sums);
  size_t nspans = 0;
  assert_non_null (sums);
  for (size_t i = 0; i < whole->spans.n; i++) {
    const struct rd_span *span = &whole->spans.at[i];
    if (span->parent != 0)
      continue;
    struct radio_profile *run = cut_run (whole, span->id);
    assert_int_equal (run->nodes.at[0].total_ns, span->duration_ns);
    assert_int_equal (run->nodes.at[0].calls, 1);
    for (size_t k = 0; k < run->nodes.n; k++) {
      const struct radio_profile_node *from = &run->nodes.at[k];
      struct radio_profile_node *to
        = &sums[node_of_whole (whole, span->node, run, k)];
      to->calls += from->calls;
      to->total_ns += from->total_ns;
      to->self_ns += from->self_ns;
      to->work_ns += from->work_ns;
      to->wait_ns += from->wait_ns;
      to->queue_ns += from->queue_ns;
      to->late_count += from->late_count;
      to->open_count += from->open_count;
      for (size_t b = 0; b < RADIO_HISTOGRAM_BUCKETS; b++)
        to->histogram[b] += from->histogram[b];
    }
    nspans += run->spans.n;
    radio_profile_close (run);
  }
  assert_int_equal (nspans, whole->spans.n);
  for (size_t i = 0; i < whole->nodes.n; i++) {
    COMPARE (calls);
    COMPARE (total_ns);
    COMPARE (self_ns);
    COMPARE (work_ns);
    COMPARE (wait_ns);
    COMPARE (queue_ns);
    COMPARE (late_count);
    COMPARE (open_count);
    assert_memory_equal (sums[i].histogram, whole->nodes.at[i].histogram,
                         sizeof sums[i].histogram);
  }
  free (sums);
  radio_profile_close (whole);
}

static void
runs_add_up_to_the_whole (void **state)
{
  (void) state;
  check_sum_of_runs (build_specimen ());
  for (uint64_t seed = 1; seed <= 20; seed++)
    check_sum_of_runs (build_random (seed, 300, 3));
}

static void
a_run_has_its_requests_texts_and_bytes (void **state)
{
  struct radio_profile *whole = build_specimen (), *run;
  const struct rd_span *read = find_span (whole, 2);
  bool varies;
  (void) state;
  run = cut_run (whole, read->id);
  assert_string_equal (run->info.title, "a specimen: read");
  assert_int_equal (run->info.started_unix_ns,
                    whole->info.started_unix_ns
                    ? whole->info.started_unix_ns + read->begin_ns : 0);
  const struct rd_span *top = find_span (run, 1);
  for (uint32_t id = 1; id <= run->spans.n; id++)
    if (find_span (run, id)->parent == 0)
      top = find_span (run, id);
  assert_int_equal (top->begin_ns, 0);
  assert_int_equal (top->duration_ns, read->duration_ns);

  uint32_t get = rd_profile_find_node (run, 0, "GET", "network",
                                       RADIO_EDGE_ASYNC);
  assert_true (get < run->nodes.n);
  assert_int_equal (run->nodes.at[get].calls, 2);
  assert_int_equal (run->nodes.at[get].work_ns, 0);
  assert_string_equal (rd_profile_node_note (run, get, "object", &varies),
                       "ct/Doe^Jane.zarr/c/0/0/0");
  assert_true (rd_profile_find_node (run, get, "connect", "network",
                                     RADIO_EDGE_PHASE) < run->nodes.n);
  assert_int_equal (radio_profile_counter (run, get, "bytes fetched", false),
                    3 << 19);
  assert_int_equal (run->samples.n, 4);
  assert_string_equal (rd_profile_find_fact (run, "host"), "scanner-7");

  /* Neither the scope around it, nor what was beside it. */
  for (size_t i = 0; i < run->nodes.n; i++) {
    assert_string_not_equal (run->nodes.at[i].name, "radio");
    assert_string_not_equal (run->nodes.at[i].name, "recursion");
  }
  radio_profile_close (run);
  radio_profile_close (whole);
}

static void
what_the_ring_lost_of_a_run_is_reported (void **state)
{
  static const struct {
    const char *ring_begin, *lost;
  } cases[] = {
    { "199999", NULL }, { "200000", NULL }, { "5200000", "5000000" },
  };
  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct radio_profile *whole = build_specimen (), *run;
    build_fact (whole, RD_FACT_RING_BEGIN, cases[i].ring_begin, false);
    build_fact (whole, RD_FACT_CPU_NS, "77", false);
    assert_ok (rd_profile_of_run (whole, 2, &run));
    const char *lost = rd_profile_find_fact (run, RD_FACT_RING_BEGIN);
    assert_int_equal (lost != NULL, cases[i].lost != NULL);
    if (lost)
      assert_string_equal (lost, cases[i].lost);
    assert_null (rd_profile_find_fact (run, RD_FACT_CPU_NS));
    build_fact (run, RD_FACT_SLOW_TRIGGER, "read > 1 ms", false);
    assert_ok (rd_profile_finalize (run));
    const struct radio_finding *finding = NULL;
    for (size_t k = 0; k < run->findings.n && !finding; k++)
      if (strcmp (run->findings.at[k].id, "slow-run") == 0)
        finding = &run->findings.at[k];
    assert_non_null (finding);
    assert_non_null (strstr (finding->evidence,
                             "'read' took 8 ms (trigger: read > 1 ms)"));
    assert_int_equal (strstr (finding->evidence,
                              "what ended in its first 5 ms had left the "
                              "ring") != NULL, lost != NULL);
    radio_profile_close (run);
    radio_profile_close (whole);
  }
}

/* If a thread waits for another one, that one's work is named, not the wait. */
static void
what_another_thread_did_for_a_run_is_named (void **state)
{
  (void) state;
  struct radio_profile *run, *profile = build_new ("waits");
  uint32_t lane = build_lane (profile, "main");
  uint32_t worker = build_lane (profile, "worker");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t wait = build_node (profile, read, "wait for job", "queue");
  uint32_t job = build_edge_node (profile, read, "job", "user",
                                  RADIO_EDGE_HANDOFF);
  uint32_t slow = build_node (profile, job, "slow disk", "user");
  uint32_t top = build_span (profile, lane, read, 0, 0, 1000);
  build_span (profile, lane, wait, top, 0, 950);
  build_last (profile)->wait_ns = 950;
  build_span (profile, worker, slow,
              build_span (profile, worker, job, top, 10, 930), 20, 900);
  build_finish (profile);
  assert_ok (rd_profile_of_run (profile, top, &run));
  build_fact (run, RD_FACT_SLOW_TRIGGER, "read > 1 us", false);
  assert_ok (rd_profile_finalize (run));
  for (size_t i = 0; i < run->findings.n; i++)
    if (strcmp (run->findings.at[i].id, "slow-run") == 0)
      assert_string_equal (run->nodes.at[run->findings.at[i].node].name,
                           "slow disk");
  assert_true (run->findings.n > 0);
  radio_profile_close (run);
  radio_profile_close (profile);
}

/* A run on its thread, then a wait for 8 that read at once: 5,040 ns in all. */
static void
threads_at_once_have_not_most_of_a_run_by_their_sum (void **state)
{
  enum { NREADERS = 8 };
  static const struct {
    const char *trigger, *most;
    uint64_t forward_ns;
  } cases[] = {
    { "step > 1 us", "forward", 3000 }, { "step > 1 us cpu", "forward", 3000 },
    { "step > 1 us", "read", 300 }, { "step > 1 us cpu", "forward", 300 },
  };
  (void) state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    struct radio_profile *run, *profile = build_new ("threads");
    uint32_t lane = build_lane (profile, "main");
    uint32_t step = build_node (profile, RD_NO_INDEX, "step", "user");
    uint32_t forward = build_node (profile, step, "forward", "user");
    uint32_t wait = build_node (profile, step, "wait", "queue");
    uint32_t read = build_edge_node (profile, step, "read", "user",
                                     RADIO_EDGE_HANDOFF);
    uint64_t ns = cases[c].forward_ns;
    uint32_t top = build_span (profile, lane, step, 0, 0, ns + 650);
    build_span (profile, lane, forward, top, 0, ns);
    build_span (profile, lane, wait, top, ns, 650);
    build_last (profile)->wait_ns = 650;
    for (size_t k = 0; k < NREADERS; k++)
      build_span (profile, build_lane (profile, "reader"), read, top, ns + 10,
                  630);
    build_finish (profile);
    assert_ok (rd_profile_of_run (profile, top, &run));
    build_fact (run, RD_FACT_SLOW_TRIGGER, cases[c].trigger, false);
    assert_ok (rd_profile_finalize (run));
    size_t nfound = 0;
    for (size_t i = 0; i < run->findings.n; i++)
      if (strcmp (run->findings.at[i].id, "slow-run") == 0) {
        nfound++;
        assert_string_equal (run->nodes.at[run->findings.at[i].node].name,
                             cases[c].most);
      }
    assert_int_equal (nfound, 1);
    radio_profile_close (run);
    radio_profile_close (profile);
  }
}

/* If a thread waits for a request, the request is named, not the wait. */
static void
what_a_run_waited_for_is_named (void **state)
{
  (void) state;
  for (uint64_t first_ns = 500; first_ns <= 900; first_ns += 400) {
    struct radio_profile *profile = build_new ("waits");
    uint32_t lane = build_lane (profile, "main");
    uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
    uint32_t wait = build_node (profile, read, "wait", "network");
    uint32_t get = build_edge_node (profile, read, "GET", "network",
                                    RADIO_EDGE_ASYNC);
    uint32_t first = build_edge_node (profile, get, "first byte", "network",
                                      RADIO_EDGE_PHASE);
    uint32_t top = build_span (profile, lane, read, 0, 0, 1000);
    build_span (profile, lane, wait, top, 0, 950);
    build_last (profile)->wait_ns = 950;
    uint32_t request = build_span (profile, RD_NO_INDEX, get, top, 0,
                                   first_ns);
    build_span (profile, RD_NO_INDEX, first, request, 0, first_ns);
    build_count (profile, get, "bytes asked", "bytes", 7);
    build_count (profile, get, "bytes fetched", "bytes", 7);
    profile->spans.at[request - 1].nbytes = 7;
    /* Another at the same time: together they take longer than the run. */
    if (first_ns == 900)
      build_span (profile, RD_NO_INDEX, first,
                  build_span (profile, RD_NO_INDEX, get, top, 0, first_ns), 0,
                  first_ns);
    build_finish (profile);
    struct radio_profile *run;
    assert_ok (rd_profile_of_run (profile, top, &run));
    build_fact (run, RD_FACT_SLOW_TRIGGER, "read > 1 us", false);
    assert_ok (rd_profile_finalize (run));
    const struct radio_finding *finding = NULL;
    for (size_t i = 0; i < run->findings.n && !finding; i++)
      if (strcmp (run->findings.at[i].id, "slow-run") == 0)
        finding = &run->findings.at[i];
    assert_non_null (finding);
    assert_string_equal (run->nodes.at[finding->node].name,
                         first_ns == 900 ? "first byte" : "wait");
    assert_non_null (strstr (finding->evidence, first_ns == 900
                             ? "'first byte': 1.8 us in 2 calls"
                             : "'wait': 950 ns"));
    assert_string_equal (run->counters.at[0].name, "bytes fetched");
    assert_int_equal (run->counters.n, 1);
    radio_profile_close (run);
    radio_profile_close (profile);
  }
}

static void
an_unknown_id_is_refused (void **state)
{
  struct radio_profile *whole = build_specimen (), *run = NULL;
  (void) state;
  assert_fails (rd_profile_of_run (whole, 0, &run), RADIO_ERROR_ARGUMENT,
                "id 0");
  assert_fails (rd_profile_of_run (whole, 99999, &run), RADIO_ERROR_ARGUMENT,
                "id 99999");
  assert_null (run);
  radio_profile_close (whole);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (runs_add_up_to_the_whole),
    cmocka_unit_test (a_run_has_its_requests_texts_and_bytes),
    cmocka_unit_test (what_the_ring_lost_of_a_run_is_reported),
    cmocka_unit_test (threads_at_once_have_not_most_of_a_run_by_their_sum),
    cmocka_unit_test (what_a_run_waited_for_is_named),
    cmocka_unit_test (what_another_thread_did_for_a_run_is_named),
    cmocka_unit_test (an_unknown_id_is_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
