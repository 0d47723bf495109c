/* SPDX-License-Identifier: MIT */
/* Paths of a profile's tree. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/model/profile.h"
#include "tests/profile-tree.h"

bool
tree_skip_all (void)
{
  struct radio_recorder *recorder;
  enum radio_status status = radio_recorder_start (NULL, &recorder);
  if (status == RADIO_OK)
    status = radio_recorder_stop (recorder, NULL);
  if (status == RADIO_ERROR_UNSUPPORTED)
    puts ("1..0 # SKIP built with --disable-profiler");
  return status == RADIO_ERROR_UNSUPPORTED;
}

struct radio_recorder *
tree_begin (void)
{
  struct radio_recorder *recorder = NULL;
  enum radio_status status = radio_recorder_start (NULL, &recorder);
  /* Built with --disable-profiler. */
  if (status == RADIO_ERROR_UNSUPPORTED)
    skip ();
  assert_ok (status);
  assert_non_null (recorder);
  return recorder;
}

struct radio_profile *
tree_end (struct radio_recorder *recorder)
{
  struct radio_profile *profile = NULL;
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_non_null (profile);
  return profile;
}

static size_t
count_nodes (const struct radio_profile *profile)
{
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  return info.nnodes;
}

/* True if the names from the root to a node are those of a path; compared from
 * the end on. */
static bool
has_path (const struct radio_profile *profile, size_t node, const char *path)
{
  size_t end = strlen (path);
  for (;;) {
    const struct radio_profile_node *n = radio_profile_get_node (profile, node);
    size_t length = strlen (n->name);
    if (length > end || memcmp (path + end - length, n->name, length) != 0)
      return false;
    end -= length;
    if (n->parent == RADIO_NO_PARENT)
      return end == 0;
    if (end == 0 || path[--end] != '/')
      return false;
    node = n->parent;
  }
}

size_t
tree_count (const struct radio_profile *profile, const char *path)
{
  size_t n = 0;
  for (size_t i = 0; i < count_nodes (profile); i++)
    n += has_path (profile, i, path);
  return n;
}

uint64_t
tree_calls (const struct radio_profile *profile, const char *path)
{
  uint64_t calls = 0;
  for (size_t i = 0; i < count_nodes (profile); i++)
    if (has_path (profile, i, path))
      calls += radio_profile_get_node (profile, i)->calls;
  return calls;
}

uint64_t
tree_wait_ns (const struct radio_profile *profile, const char *path)
{
  uint64_t wait = 0;
  for (size_t i = 0; i < count_nodes (profile); i++)
    if (has_path (profile, i, path))
      wait += radio_profile_get_node (profile, i)->wait_ns;
  return wait;
}

const struct radio_profile_node *
tree_node (const struct radio_profile *profile, const char *path,
           enum radio_edge edge)
{
  for (size_t i = 0; i < count_nodes (profile); i++)
    if (has_path (profile, i, path)
        && radio_profile_get_node (profile, i)->edge == edge)
      return radio_profile_get_node (profile, i);
  return NULL;
}

uint64_t
tree_counter (const struct radio_profile *profile, const char *path,
              const char *counter)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < count_nodes (profile); i++)
    if (has_path (profile, i, path))
      sum += radio_profile_counter (profile, i, counter, true);
  return sum;
}

uint64_t
tree_total (const struct radio_profile *profile, const char *counter)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < count_nodes (profile); i++)
    sum += radio_profile_counter (profile, i, counter, false);
  return sum;
}

uint64_t
tree_calls_of (const struct radio_profile *profile, const char *name)
{
  uint64_t calls = 0;
  for (size_t i = 0; i < count_nodes (profile); i++)
    if (strcmp (radio_profile_get_node (profile, i)->name, name) == 0)
      calls += radio_profile_get_node (profile, i)->calls;
  return calls;
}

/* A node's own and its children's work and wait are its tree's. */
static void
check_node (const struct radio_profile *profile, size_t node)
{
  const struct radio_profile_node *n = radio_profile_get_node (profile, node);
  uint64_t work = n->work_ns, wait = n->wait_ns;
  assert_true (n->self_ns <= n->total_ns);
  assert_true (n->min_ns <= n->max_ns && n->max_ns <= n->total_ns);
  for (size_t i = node + 1; i < count_nodes (profile); i++)
    if (radio_profile_get_node (profile, i)->parent == node) {
      work += radio_profile_get_node (profile, i)->tree_work_ns;
      wait += radio_profile_get_node (profile, i)->tree_wait_ns;
    }
  assert_int_equal (work, n->tree_work_ns);
  assert_int_equal (wait, n->tree_wait_ns);
}

void
tree_check_sums (const struct radio_profile *profile)
{
  struct radio_profile_info info;
  uint64_t work = 0, wait = 0;
  radio_profile_get_info (profile, &info);
  assert_true (info.nnodes > 0);
  for (size_t i = 0; i < info.nnodes; i++) {
    check_node (profile, i);
    work += radio_profile_get_node (profile, i)->work_ns;
    wait += radio_profile_get_node (profile, i)->wait_ns;
  }
  assert_int_equal (work, info.work_ns);
  assert_int_equal (wait, info.wait_ns);
  assert_int_equal (info.open_count, 0);
  assert_int_equal (info.late_count, 0);
  assert_int_equal (info.dropped_count, 0);
}

const char *
tree_note (const struct radio_profile *profile, const char *key,
           bool *is_name)
{
  for (size_t i = 0; i < profile->notes.n; i++) {
    const struct rd_note *note = &profile->notes.at[i];
    if (note->span == 0 && strcmp (note->key, key) == 0) {
      *is_name = note->is_name;
      return note->value;
    }
  }
  fail_msg ("no text '%s'", key);
  return NULL;
}

size_t
tree_count_names (const struct radio_profile *profile, const char *piece)
{
  size_t n = 0;
  for (size_t i = 0; i < profile->notes.n; i++)
    if (strstr (profile->notes.at[i].value, piece)) {
      n++;
      assert_true (profile->notes.at[i].is_name);
    }
  for (size_t i = 0; i < profile->nodes.n; i++)
    assert_null (strstr (profile->nodes.at[i].name, piece));
  return n;
}

void
tree_print (const struct radio_profile *profile)
{
  for (size_t i = 0; i < count_nodes (profile); i++) {
    const struct radio_profile_node *n = radio_profile_get_node (profile, i);
    print_message ("# %*s%s [%s %d] x%" PRIu64 " total %" PRIu64 " self %"
                   PRIu64 " work %" PRIu64 " wait %" PRIu64 " queue %" PRIu64
                   "\n", (int) n->depth * 2, "", n->name, n->category,
                   (int) n->edge, n->calls, n->total_ns, n->self_ns,
                   n->work_ns, n->wait_ns, n->queue_ns);
  }
}
