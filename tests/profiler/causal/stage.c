/* SPDX-License-Identifier: MIT */
/* A clock and threads under the test's control. */
#include <config.h>

#include <stdio.h>

#include "tests/profiler/causal/stage.h"

#include "profiler/record/process.h"
#include "profiler/record/recorder.h"

static uint64_t
read_clock (void *user_data)
{
  const struct stage *stage = user_data;
  return stage->now;
}

static uint64_t
read_cpu_ns (void *user_data)
{
  const struct stage *stage = user_data;
  return stage->cpu_ns;
}

static void
name_threads (struct stage *stage)
{
  for (unsigned i = 0; i < STAGE_THREADS; i++) {
    struct rd_thread *thread = &stage->threads[i];
    *thread = (struct rd_thread) { .is_named = true };
    snprintf (thread->name, sizeof thread->name, "thread %u", i);
  }
}

void
stage_open (struct stage *stage,
            const struct radio_recorder_options *options,
            uint64_t ticks_per_us)
{
  *stage = (struct stage) { .now = 1000 };
  name_threads (stage);
  rd_this_thread = stage->threads[0];
  struct rd_recorder_setup setup = {
    .clock = {
      .read = read_clock, .read_cpu_ns = read_cpu_ns, .user_data = stage,
      .ticks_per_us = ticks_per_us,
    },
    .scope_cost_ns = 1,
  };
  assert_ok (rd_recorder_start (options, &setup, &stage->recorder));
}

void
stage_on (struct stage *stage, unsigned thread)
{
  stage->threads[stage->current] = rd_this_thread;
  rd_this_thread = stage->threads[thread];
  stage->current = thread;
}

void
stage_leave (struct stage *stage)
{
  for (unsigned i = 0; i < STAGE_THREADS; i++) {
    stage_on (stage, i);
    rd_thread_purge ();
  }
  rd_this_thread = (struct rd_thread) { .current = NULL };
}

struct radio_profile *
stage_close (struct stage *stage)
{
  struct radio_profile *profile = NULL;
  assert_ok (radio_recorder_stop (stage->recorder, &profile));
  stage_leave (stage);
  return profile;
}

/*------------------------------------------------------------------------
 * Nodes
 *----------------------------------------------------------------------*/

static bool
is_named (const struct radio_profile_node *node, const char *name, size_t n)
{
  return strlen (node->name) == n && memcmp (node->name, name, n) == 0;
}

static size_t
find_child (const struct radio_profile *profile, size_t parent,
            const char *name, size_t n)
{
  size_t found = RADIO_NO_PARENT;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    if (node->parent != parent || !is_named (node, name, n))
      continue;
    assert_int_equal (found, RADIO_NO_PARENT);
    found = i;
  }
  if (found == RADIO_NO_PARENT)
    fail_msg ("no node %.*s", (int) n, name);
  return found;
}

size_t
stage_index (const struct radio_profile *profile, const char *path)
{
  size_t node = RADIO_NO_PARENT;
  for (;;) {
    size_t n = strcspn (path, "/");
    node = find_child (profile, node, path, n);
    if (path[n] == '\0')
      return node;
    path += n + 1;
  }
}

const struct radio_profile_node *
stage_node (const struct radio_profile *profile, const char *path)
{
  return radio_profile_get_node (profile, stage_index (profile, path));
}
