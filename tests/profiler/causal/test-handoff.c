/* SPDX-License-Identifier: MIT */
/* Parents on other threads: short histories, with figures computed by
 * hand. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/profiler/causal/stage.h"

SITE (read);
SITE (tiles);
SITE (decode);
SITE (plan);
SITE (other);

static const struct radio_site rest_site = {
  "rest", "queue", "f", "f.c", 2, RADIO_SCOPE_WAIT
};

STAGE_FIXTURE

static void
assert_times (const struct radio_profile *profile, const char *path,
              uint64_t total, uint64_t self, uint64_t work)
{
  const struct radio_profile_node *node = stage_node (profile, path);
  assert_int_equal (node->total_ns, total);
  assert_int_equal (node->self_ns, self);
  assert_int_equal (node->work_ns, work);
}

static void
concurrent_children_cover_their_union (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_pass (&stage, 10);
  stage_on (&stage, 1);
  uint64_t one = radio_scope_receive (&handoff, &tiles_site);        /* 10-50 */
  stage_pass (&stage, 20);
  stage_on (&stage, 2);
  uint64_t two = radio_scope_receive (&handoff, &tiles_site);        /* 30-80 */
  stage_pass (&stage, 20);
  stage_on (&stage, 1);
  radio_scope_end (one);
  stage_pass (&stage, 30);
  stage_on (&stage, 2);
  radio_scope_end (two);
  stage_pass (&stage, 5);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 85, 15, 85);
  assert_times (profile, "read/tiles", 90, 90, 90);
  assert_int_equal (stage_node (profile, "read/tiles")->edge,
                    RADIO_EDGE_HANDOFF);
  assert_int_equal (stage_node (profile, "read/tiles")->calls, 2);
  assert_int_equal (stage_node (profile, "read/tiles")->queue_ns, 40);
  assert_int_equal (profile->info.wall_ns, 85);
  assert_int_equal (profile->info.work_ns, 175);
  radio_profile_close (profile);
}

static void
a_parents_own_children_are_in_the_union (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);             /* 0-100 */
  stage_pass (&stage, 10);
  uint64_t first = radio_scope_begin (&plan_site);           /* 10-20 */
  stage_pass (&stage, 10);
  radio_scope_end (first);
  radio_handoff_give (&handoff);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);        /* 20-60 */
  stage_pass (&stage, 20);
  stage_on (&stage, 0);
  uint64_t near = radio_scope_begin (&plan_site);            /* 40-80 */
  stage_pass (&stage, 20);
  stage_on (&stage, 1);
  radio_scope_end (far);
  stage_pass (&stage, 20);
  stage_on (&stage, 0);
  radio_scope_end (near);
  stage_pass (&stage, 20);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 100, 30, 50);
  assert_times (profile, "read/plan", 50, 50, 50);
  assert_times (profile, "read/tiles", 40, 40, 40);
  radio_profile_close (profile);
}

static void
a_child_that_outlives_its_parent_is_late_and_cut (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);             /* 0-40 */
  radio_handoff_give (&handoff);
  stage_pass (&stage, 30);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);     /* 30-100 */
  stage_pass (&stage, 10);
  stage_on (&stage, 0);
  radio_scope_end (top);
  stage_pass (&stage, 60);
  stage_on (&stage, 1);
  radio_scope_end (far);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 40, 30, 40);
  assert_times (profile, "read/tiles", 70, 70, 70);
  assert_int_equal (stage_node (profile, "read/tiles")->late_count, 1);
  assert_int_equal (profile->info.late_count, 1);
  assert_int_equal (profile->info.wall_ns, 100);
  radio_profile_close (profile);
}

static void
a_child_of_an_ended_parent_does_not_cover_it (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_pass (&stage, 40);
  radio_scope_end (top);
  stage_pass (&stage, 10);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  stage_pass (&stage, 25);
  radio_scope_end (far);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 40, 40, 40);
  assert_times (profile, "read/tiles", 25, 25, 25);
  assert_int_equal (stage_node (profile, "read/tiles")->late_count, 1);
  assert_int_equal (stage_node (profile, "read/tiles")->queue_ns, 50);
  radio_profile_close (profile);
}

static void
a_chain_goes_over_three_threads_and_back (void **state)
{
  (void) state;
  struct radio_handoff handoffs[3];
  uint64_t tokens[4];
  tokens[0] = radio_scope_begin (&read_site);
  for (unsigned i = 0; i < 3; i++) {
    radio_handoff_give (&handoffs[i]);
    stage_pass (&stage, 10);
    stage_on (&stage, (i + 1) % 3);
    tokens[i + 1] = radio_scope_receive (&handoffs[i], &tiles_site);
  }
  for (unsigned i = 4; i-- > 0;) {
    stage_pass (&stage, 10);
    stage_on (&stage, i % 3);
    radio_scope_end (tokens[i]);
  }
  for (unsigned i = 0; i < 3; i++)
    radio_handoff_release (&handoffs[i]);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 70, 20, 60);   /* less the innermost */
  assert_times (profile, "read/tiles", 50, 20, 50);
  assert_times (profile, "read/tiles/tiles", 30, 20, 30);
  assert_times (profile, "read/tiles/tiles/tiles", 10, 10, 10);
  radio_profile_close (profile);
}

static void
recursion_across_threads_keeps_its_levels (void **state)
{
  (void) state;
  enum { DEPTH = 40 };
  struct radio_handoff handoffs[DEPTH];
  uint64_t tokens[DEPTH];
  uint64_t top = radio_scope_begin (&read_site);
  for (unsigned i = 0; i < DEPTH; i++) {
    radio_handoff_give (&handoffs[i]);
    stage_on (&stage, (i + 1) % STAGE_THREADS);
    tokens[i] = radio_scope_receive (&handoffs[i], &tiles_site);
    stage_pass (&stage, 1);
  }
  for (unsigned i = DEPTH; i-- > 0;) {
    stage_on (&stage, (i + 1) % STAGE_THREADS);
    radio_scope_end (tokens[i]);
    radio_handoff_release (&handoffs[i]);
  }
  stage_on (&stage, 0);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->nodes.n, DEPTH + 1);
  for (unsigned i = 1; i <= DEPTH; i++) {
    const struct radio_profile_node *node = radio_profile_get_node (profile, i);
    assert_int_equal (node->depth, i);
    assert_int_equal (node->total_ns, DEPTH + 1 - i);
    assert_int_equal (node->self_ns, 1);
  }
  radio_profile_close (profile);
}

static void
fan_in_is_charged_to_one_parent (void **state)
{
  (void) state;
  struct radio_handoff one, two;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&one);
  stage_pass (&stage, 10);
  radio_scope_end (top);
  top = radio_scope_begin (&other_site);
  radio_handoff_give (&two);
  stage_pass (&stage, 10);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&two, &tiles_site);
  stage_pass (&stage, 10);
  radio_scope_end (far);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&one);
  radio_handoff_release (&two);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 10, 10, 10);
  assert_times (profile, "other", 20, 10, 20);
  assert_times (profile, "other/tiles", 10, 10, 10);
  assert_int_equal (profile->nodes.n, 3);
  radio_profile_close (profile);
}

static void
a_received_scope_is_not_work_of_the_scope_below (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  uint64_t near = radio_scope_begin (&plan_site);            /* 0-60 */
  stage_pass (&stage, 10);
  uint64_t received = radio_scope_receive (&handoff, &tiles_site);   /* 10-40 */
  stage_pass (&stage, 30);
  radio_scope_end (received);
  stage_pass (&stage, 20);
  radio_scope_end (near);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 60, 0, 0);
  assert_times (profile, "read/plan", 60, 60, 30);
  assert_times (profile, "read/tiles", 30, 30, 30);
  assert_int_equal (profile->info.work_ns, 60);
  radio_profile_close (profile);
}

static void
waiting_for_workers_is_wait_and_covers (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  stage_on (&stage, 0);
  stage_pass (&stage, 5);
  uint64_t waiting = radio_scope_begin (&rest_site);
  stage_pass (&stage, 20);
  stage_on (&stage, 1);
  radio_scope_end (far);
  stage_on (&stage, 0);
  radio_scope_end (waiting);
  stage_pass (&stage, 3);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 28, 3, 8);
  assert_times (profile, "read/rest", 20, 20, 0);
  assert_int_equal (stage_node (profile, "read/rest")->wait_ns, 20);
  assert_int_equal (profile->info.work_ns, 33);
  assert_int_equal (profile->info.wait_ns, 20);
  radio_profile_close (profile);
}

static void
a_thread_is_recorded_only_in_received_scopes (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_on (&stage, 1);
  assert_int_equal (radio_scope_begin (&decode_site), 0);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  uint64_t inside = radio_scope_begin (&decode_site);
  assert_int_not_equal (inside, 0);
  stage_pass (&stage, 10);
  radio_scope_end (inside);
  radio_scope_end (far);
  assert_int_equal (radio_scope_begin (&decode_site), 0);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read/tiles/decode", 10, 10, 10);
  assert_int_equal (profile->nodes.n, 3);
  radio_profile_close (profile);
}

static void
an_inner_scope_left_open_ends_with_the_received_one (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  radio_scope_begin (&decode_site);
  stage_pass (&stage, 10);
  radio_scope_end (far);
  assert_int_equal (radio_scope_begin (&decode_site), 0);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read/tiles/decode", 10, 10, 10);
  assert_int_equal (stage_node (profile, "read/tiles/decode")->open_count,
                    1);
  assert_times (profile, "read/tiles", 10, 0, 0);
  radio_profile_close (profile);
}

/* A task that is queued a second time, from 30 on, and runs at 35. */
static void
a_handoff_given_again_is_queued_from_then_on (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_pass (&stage, 10);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);       /* 10-30 */
  stage_pass (&stage, 20);
  radio_scope_end (far);
  struct radio_handoff again = radio_handoff_again (&handoff);
  stage_pass (&stage, 5);
  far = radio_scope_receive (&again, &tiles_site);                  /* 35-36 */
  stage_pass (&stage, 1);
  radio_scope_end (far);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read/tiles", 21, 21, 21);
  assert_int_equal (stage_node (profile, "read/tiles")->queue_ns, 10 + 5);
  radio_profile_close (profile);
  handoff = radio_handoff_again (&handoff);
  assert_null (handoff.parent);
}

static void
a_received_scope_ends_with_its_block (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_pass (&stage, 10);
  stage_on (&stage, 1);
  {
    RADIO_SCOPE_RECEIVED (&handoff, "task");
    stage_pass (&stage, 20);
    RADIO_SCOPE ("step");
    stage_pass (&stage, 3);
  }
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read/task", 23, 20, 20);
  assert_times (profile, "read/task/step", 3, 3, 3);
  const struct radio_profile_node *task = stage_node (profile, "read/task");
  assert_int_equal (task->edge, RADIO_EDGE_HANDOFF);
  assert_int_equal (task->queue_ns, 10);
  assert_int_equal (task->open_count, 0);
  assert_string_equal (task->function, __func__);
  radio_profile_close (profile);
}

static void
a_handoff_outside_all_scopes_makes_a_root (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  radio_handoff_give (&handoff);
  assert_non_null (handoff.parent);
  stage_pass (&stage, 10);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  stage_pass (&stage, 10);
  radio_scope_end (far);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "tiles", 10, 10, 10);
  assert_int_equal (stage_node (profile, "tiles")->parent, RADIO_NO_PARENT);
  assert_int_equal (stage_node (profile, "tiles")->late_count, 0);
  assert_int_equal (stage_node (profile, "tiles")->queue_ns, 10);
  radio_profile_close (profile);
}

static void
scopes_received_too_deep_are_counted (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t tokens[RD_MAX_DEPTH];
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_on (&stage, 1);
  for (unsigned i = 0; i < RD_MAX_DEPTH; i++) {
    tokens[i] = radio_scope_receive (&handoff, &tiles_site);
    assert_int_not_equal (tokens[i], 0);
  }
  assert_int_equal (radio_scope_receive (&handoff, &tiles_site), 0);
  stage_pass (&stage, 1);
  for (unsigned i = RD_MAX_DEPTH; i-- > 0;)
    radio_scope_end (tokens[i]);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (stage_node (profile, "read/tiles")->calls,
                    RD_MAX_DEPTH);
  assert_times (profile, "read", 1, 0, 1);
  assert_int_equal (stage_node (profile, "read/tiles")->work_ns, 1);
  assert_string_equal (rd_profile_find_fact (profile,
                                             "scopes not recorded"), "1");
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Chains: each task gives the next one from inside its own scope
 *----------------------------------------------------------------------*/

#define NLINKS 5000
#define NDEEP (NLINKS - RD_MAX_NODE_DEPTH)      /* too deep for a profile */

static const struct radio_counter nbytes = { "read", "bytes" };

/* Receives a handoff, and replaces it by a new one; *handoff is zero at
 * first. */
static void
link_up (struct radio_handoff *handoff, unsigned i)
{
  struct radio_handoff next;
  stage_on (&stage, i % STAGE_THREADS);
  uint64_t token = radio_scope_receive (handoff, &tiles_site);
  radio_handoff_give (&next);
  radio_handoff_release (handoff);
  *handoff = next;
  radio_scope_text ("link", i % 2 ? "odd" : "even", RADIO_TEXT_PLAIN);
  radio_scope_add (&nbytes, 3);
  stage_pass (&stage, 2);
  radio_scope_end (token);
}

static struct radio_profile *
make_chain (void)
{
  struct radio_handoff handoff = { .parent = NULL };
  for (unsigned i = 0; i < NLINKS; i++)
    link_up (&handoff, i);
  radio_handoff_release (&handoff);
  return stage_close (&stage);
}

static void
a_chain_too_deep_for_a_profile_is_folded (void **state)
{
  (void) state;
  struct radio_profile *profile = make_chain ();
  assert_int_equal (profile->nodes.n, RD_MAX_NODE_DEPTH);
  uint64_t work = 0, total = 0, calls = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = radio_profile_get_node (profile, i);
    work += node->work_ns;
    total += node->total_ns;
    calls += node->calls;
    assert_true (node->self_ns <= node->total_ns);
  }
  const struct radio_profile_node *last
    = radio_profile_get_node (profile, RD_MAX_NODE_DEPTH - 1);
  assert_int_equal (last->depth, RD_MAX_NODE_DEPTH - 1);
  assert_int_equal (last->work_ns, 2 * (NDEEP + 1));
  assert_int_equal (last->calls, 1);
  assert_int_equal (last->max_ns, 2);
  assert_int_equal (work, 2 * NLINKS);
  assert_int_equal (profile->info.work_ns, work);
  assert_int_equal (total, 2 * RD_MAX_NODE_DEPTH);
  assert_int_equal (calls, RD_MAX_NODE_DEPTH);
  assert_int_equal (radio_profile_counter (profile, 0, "read", true),
                    3 * NLINKS);
  radio_profile_close (profile);
}

static void
folded_scopes_are_counted (void **state)
{
  (void) state;
  char ndeep[20];
  snprintf (ndeep, sizeof ndeep, "%d", NDEEP);
  struct radio_profile *profile = make_chain ();
  assert_string_equal (rd_profile_find_fact (profile,
                                             "scopes not recorded"), ndeep);
  assert_int_equal (profile->spans.n, RD_MAX_NODE_DEPTH);
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    assert_int_equal (span->nbytes, 3);
    assert_int_equal (span->begin_ns, 2 * span->node);
  }
  for (size_t i = 0; i < profile->notes.n; i++)
    assert_false (profile->notes.at[i].varies);
  assert_int_equal (profile->notes.n, 2 * RD_MAX_NODE_DEPTH);
  radio_profile_close (profile);
}

static void
a_zero_handoff_has_no_parent (void **state)
{
  (void) state;
  struct radio_handoff handoff = { .parent = NULL };
  uint64_t near = radio_scope_receive (&handoff, &tiles_site);
  stage_pass (&stage, 10);
  radio_scope_end (near);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "tiles", 10, 10, 10);
  assert_int_equal (stage_node (profile, "tiles")->edge, RADIO_EDGE_CALL);
  radio_profile_close (profile);
}

static void
the_token_zero_ends_nothing (void **state)
{
  (void) state;
  radio_scope_end (0);
  uint64_t top = radio_scope_begin (&read_site);
  radio_scope_end (0);
  stage_pass (&stage, 10);
  radio_scope_end (top);
  radio_scope_end (0);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "read", 10, 10, 10);
  assert_int_equal (profile->nodes.n, 1);
  radio_profile_close (profile);
}

static void
a_handoff_is_zero_without_a_recorder (void **state)
{
  (void) state;
  struct radio_handoff handoff = { &handoff, 1 };
  stage_on (&stage, 2);
  radio_handoff_give (&handoff);
  assert_null (handoff.parent);
  assert_int_equal (handoff.submitted, 0);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->nodes.n, 0);
  radio_profile_close (profile);
  handoff.parent = &handoff;
  radio_handoff_give (&handoff);
  assert_null (handoff.parent);
}

static void
a_handoff_of_a_stopped_recorder_is_ignored (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  radio_scope_end (top);
  radio_profile_close (stage_close (&stage));
  stage_open (&stage, NULL, 0);
  uint64_t near = radio_scope_receive (&handoff, &tiles_site);
  stage_pass (&stage, 10);
  radio_scope_end (near);
  stage_on (&stage, 1);
  assert_int_equal (radio_scope_receive (&handoff, &tiles_site), 0);
  assert_null (radio_async_receive (&handoff, &tiles_site));
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_times (profile, "tiles", 10, 10, 10);
  radio_profile_close (profile);
}

static void
open_scopes_of_other_threads_end_at_the_stop (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_pass (&stage, 10);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  stage_pass (&stage, 10);
  struct radio_profile *profile = NULL;
  assert_ok (radio_recorder_stop (stage.recorder, &profile));
  stage_pass (&stage, 10);
  radio_scope_end (far);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  stage_leave (&stage);
  assert_times (profile, "read", 20, 10, 20);
  assert_times (profile, "read/tiles", 10, 10, 10);
  assert_int_equal (profile->info.open_count, 2);
  assert_int_equal (profile->info.late_count, 0);
  for (size_t i = 0; i < profile->spans.n; i++)
    assert_int_equal (profile->spans.at[i].flags, RD_SPAN_OPEN);
  radio_profile_close (profile);
}

static void
spans_have_parents_on_other_threads (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  stage_pass (&stage, 10);
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  stage_pass (&stage, 10);
  radio_scope_end (far);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->spans.n, 2);
  const struct rd_span *spans = profile->spans.at;
  assert_int_equal (spans[1].parent, spans[0].id);
  assert_int_equal (spans[0].parent, 0);
  assert_int_not_equal (spans[0].lane, spans[1].lane);
  assert_int_equal (spans[1].submitted_ns, 0);
  assert_int_equal (spans[1].begin_ns, 10);
  assert_string_equal (profile->lanes.at[spans[1].lane].name, "thread 1");
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Two recorders
 *----------------------------------------------------------------------*/

static struct radio_recorder *
start_another (unsigned thread)
{
  struct radio_recorder *recorder;
  stage_on (&stage, thread);
  assert_ok (radio_recorder_start (NULL, &recorder));
  return recorder;
}

static struct radio_profile *
stop_another (struct radio_recorder *recorder)
{
  struct radio_profile *profile;
  assert_ok (radio_recorder_stop (recorder, &profile));
  return profile;
}

static void
a_received_scope_switches_recorders (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  struct radio_recorder *another = start_another (1);
  uint64_t own = radio_scope_begin (&other_site);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  radio_scope_end (radio_scope_begin (&decode_site));
  radio_scope_end (far);
  radio_scope_end (radio_scope_begin (&plan_site));
  radio_scope_end (own);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *theirs = stop_another (another);
  struct radio_profile *ours = stage_close (&stage);
  assert_int_equal (ours->nodes.n, 3);
  assert_int_equal (stage_node (ours, "read/tiles/decode")->calls, 1);
  assert_int_equal (theirs->nodes.n, 2);
  assert_int_equal (stage_node (theirs, "other/plan")->calls, 1);
  radio_profile_close (theirs);
  radio_profile_close (ours);
}

static void
a_thread_switched_twice_stays_with_the_last_recorder (void **state)
{
  (void) state;
  struct radio_handoff ours, theirs;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&ours);
  struct radio_recorder *another = start_another (1);
  uint64_t own = radio_scope_begin (&other_site);
  radio_handoff_give (&theirs);
  stage_on (&stage, 0);
  uint64_t lent = radio_scope_receive (&theirs, &tiles_site);
  uint64_t back = radio_scope_receive (&ours, &decode_site);
  radio_scope_end (back);
  radio_scope_end (lent);
  radio_scope_end (top);
  stage_on (&stage, 1);
  radio_scope_end (own);
  radio_handoff_release (&ours);
  radio_handoff_release (&theirs);
  struct radio_profile *second = stop_another (another);
  struct radio_profile *first = stage_close (&stage);
  assert_int_equal (first->nodes.n, 1);
  assert_int_equal (stage_node (second, "other/tiles/decode")->calls, 1);
  radio_profile_close (second);
  radio_profile_close (first);
}

static void
the_threads_own_recorder_may_stop_meanwhile (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  struct radio_recorder *another = start_another (1);
  uint64_t own = radio_scope_begin (&other_site);
  uint64_t far = radio_scope_receive (&handoff, &tiles_site);
  struct radio_profile *theirs = stop_another (another);
  radio_scope_end (radio_scope_begin (&decode_site));
  radio_scope_end (far);
  radio_scope_end (own);
  assert_int_equal (radio_scope_begin (&plan_site), 0);
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *ours = stage_close (&stage);
  assert_int_equal (stage_node (ours, "read/tiles/decode")->calls, 1);
  assert_int_equal (stage_node (theirs, "other")->open_count, 1);
  radio_profile_close (theirs);
  radio_profile_close (ours);
}

#define TEST(name) cmocka_unit_test_setup (name, open_stage)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (concurrent_children_cover_their_union),
    TEST (a_parents_own_children_are_in_the_union),
    TEST (a_child_that_outlives_its_parent_is_late_and_cut),
    TEST (a_child_of_an_ended_parent_does_not_cover_it),
    TEST (a_chain_goes_over_three_threads_and_back),
    TEST (recursion_across_threads_keeps_its_levels),
    TEST (fan_in_is_charged_to_one_parent),
    TEST (a_received_scope_is_not_work_of_the_scope_below),
    TEST (waiting_for_workers_is_wait_and_covers),
    TEST (a_thread_is_recorded_only_in_received_scopes),
    TEST (an_inner_scope_left_open_ends_with_the_received_one),
    TEST (a_handoff_given_again_is_queued_from_then_on),
    TEST (a_received_scope_ends_with_its_block),
    TEST (a_handoff_outside_all_scopes_makes_a_root),
    TEST (scopes_received_too_deep_are_counted),
    TEST (a_chain_too_deep_for_a_profile_is_folded),
    TEST (folded_scopes_are_counted),
    TEST (a_zero_handoff_has_no_parent),
    TEST (the_token_zero_ends_nothing),
    TEST (a_handoff_is_zero_without_a_recorder),
    TEST (a_handoff_of_a_stopped_recorder_is_ignored),
    TEST (open_scopes_of_other_threads_end_at_the_stop),
    TEST (spans_have_parents_on_other_threads),
    TEST (a_received_scope_switches_recorders),
    TEST (a_thread_switched_twice_stays_with_the_last_recorder),
    TEST (the_threads_own_recorder_may_stop_meanwhile),
  };
  return run_recording_tests (tests);
}
