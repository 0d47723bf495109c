/* SPDX-License-Identifier: MIT */
/* Computes the call tree by brute force. */
#include <config.h>

#include <stdlib.h>

#include "tests/profiler/causal/model.h"

int
model_begin (struct model *model, const struct model_run *run)
{
  assert_true (model->n < MODEL_RUNS);
  model->runs[model->n] = *run;
  return model->n++;
}

void
model_end (struct model *model, int run, uint64_t now, bool is_open)
{
  struct model_run *r = &model->runs[run];
  assert_false (r->has_ended);
  r->end = now;
  r->is_open = is_open;
  /* A run that recording leaves open does not end before its children. */
  r->is_late = r->parent != MODEL_NONE
               && model->runs[r->parent].has_ended
               && !model->runs[r->parent].is_open;
  r->has_ended = true;
}

/*------------------------------------------------------------------------
 * Figures of one run
 *----------------------------------------------------------------------*/

struct interval {
  uint64_t begin, end;
};

static int
compare_intervals (const void *a, const void *b)
{
  const struct interval *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static uint64_t
union_of (struct interval *intervals, size_t n)
{
  uint64_t sum = 0, reached = 0;
  qsort (intervals, n, sizeof *intervals, compare_intervals);
  for (size_t i = 0; i < n; i++) {
    uint64_t begin = intervals[i].begin > reached ? intervals[i].begin
                                                  : reached;
    if (intervals[i].end > begin) {
      sum += intervals[i].end - begin;
      reached = intervals[i].end;
    }
  }
  return sum;
}

/* The interval less the union of its children. */
static uint64_t
self_of (const struct model *model, int run)
{
  const struct model_run *r = &model->runs[run];
  struct interval intervals[MODEL_RUNS];
  size_t n = 0;
  for (int i = 0; i < model->n; i++) {
    const struct model_run *child = &model->runs[i];
    if (child->parent != run || child->begin >= r->end)
      continue;
    intervals[n].begin = child->begin < r->begin ? r->begin : child->begin;
    intervals[n++].end = child->end > r->end ? r->end : child->end;
  }
  return r->end - r->begin - union_of (intervals, n);
}

/* The interval less the runs directly above it on its thread. */
static uint64_t
own_of (const struct model *model, int run)
{
  const struct model_run *r = &model->runs[run];
  uint64_t own = r->end - r->begin;
  if (r->thread == MODEL_REQUESTS)
    return 0;
  for (int i = 0; i < model->n; i++) {
    const struct model_run *above = &model->runs[i];
    if (above->below == run && above->thread == r->thread)
      own -= above->end - above->begin;
  }
  return own;
}

/*------------------------------------------------------------------------
 * Nodes
 *----------------------------------------------------------------------*/

static void
find_nodes (struct model *model, const struct radio_profile *profile)
{
  for (int i = 0; i < model->n; i++) {
    struct model_run *r = &model->runs[i];
    uint32_t parent = r->parent == MODEL_NONE
      ? RD_NO_INDEX
      : model->runs[r->parent].node;
    r->node = rd_profile_find_node (profile, parent, r->site->name,
                                    r->site->category, r->edge);
    assert_int_not_equal (r->node, RD_NO_INDEX);
  }
}

static void
add_run (const struct model *model, int run, struct radio_profile_node *sum)
{
  const struct model_run *r = &model->runs[run];
  uint64_t duration = r->end - r->begin, own = own_of (model, run);
  bool waits = r->site->kind == RADIO_SCOPE_WAIT;
  sum->calls++;
  sum->total_ns += duration;
  sum->self_ns += self_of (model, run);
  sum->work_ns += waits ? 0 : own;
  sum->wait_ns += waits ? own : 0;
  sum->queue_ns += r->begin - r->submitted;
  sum->min_ns = sum->calls == 1 || duration < sum->min_ns ? duration
                                                          : sum->min_ns;
  sum->max_ns = duration > sum->max_ns ? duration : sum->max_ns;
  sum->open_count += r->is_open;
  sum->late_count += r->is_late;
  unsigned bucket = duration ? 63u - (unsigned) __builtin_clzll (duration)
                             : 0;
  sum->histogram[bucket]++;
}

static void
assert_equal_nodes (const struct radio_profile_node *node,
                    const struct radio_profile_node *sum)
{
  assert_int_equal (node->calls, sum->calls);
  assert_int_equal (node->total_ns, sum->total_ns);
  assert_int_equal (node->self_ns, sum->self_ns);
  assert_int_equal (node->work_ns, sum->work_ns);
  assert_int_equal (node->wait_ns, sum->wait_ns);
  assert_int_equal (node->queue_ns, sum->queue_ns);
  assert_int_equal (node->min_ns, sum->min_ns);
  assert_int_equal (node->max_ns, sum->max_ns);
  assert_int_equal (node->open_count, sum->open_count);
  assert_int_equal (node->late_count, sum->late_count);
  assert_memory_equal (node->histogram, sum->histogram,
                       sizeof sum->histogram);
}

static void
check_nodes (const struct model *model, const struct radio_profile *profile)
{
  for (size_t i = 0; i < profile->nodes.n; i++) {
    struct radio_profile_node sum = { .calls = 0 };
    for (int j = 0; j < model->n; j++) {
      if (model->runs[j].node == i)
        add_run (model, j, &sum);
    }
    assert_equal_nodes (radio_profile_get_node (profile, i), &sum);
  }
}

/*------------------------------------------------------------------------
 * Spans
 *----------------------------------------------------------------------*/

/* A span of the profile, or one as expected from a run, in the same form. */
struct flat_span {
  uint64_t begin, duration, submitted, flags, node;
  uint64_t parent_begin, parent_node;
};

static int
compare_flat (const void *a, const void *b)
{
  const uint64_t *x = a, *y = b;
  for (size_t i = 0; i < sizeof (struct flat_span) / sizeof *x; i++) {
    if (x[i] != y[i])
      return x[i] > y[i] ? 1 : -1;
  }
  return 0;
}

static struct flat_span
flatten_run (const struct model *model, const struct model_run *r,
          uint64_t origin)
{
  uint64_t submitted = r->submitted > origin ? r->submitted - origin : 0;
  struct flat_span flat = {
    r->begin - origin, r->end - r->begin, submitted,
    (r->is_open ? RD_SPAN_OPEN : 0u) | (r->is_late ? RD_SPAN_LATE : 0u),
    r->node, UINT64_MAX, UINT64_MAX
  };
  if (r->parent != MODEL_NONE) {
    flat.parent_begin = model->runs[r->parent].begin - origin;
    flat.parent_node = model->runs[r->parent].node;
  }
  return flat;
}

static struct flat_span
flatten_span (const struct radio_profile *profile, const struct rd_span *span)
{
  struct flat_span flat = {
    span->begin_ns, span->duration_ns, span->submitted_ns, span->flags,
    span->node, UINT64_MAX, UINT64_MAX
  };
  for (size_t i = 0; span->parent != 0 && i < profile->spans.n; i++) {
    if (profile->spans.at[i].id != span->parent)
      continue;
    flat.parent_begin = profile->spans.at[i].begin_ns;
    flat.parent_node = profile->spans.at[i].node;
  }
  return flat;
}

static void
check_spans (const struct model *model, const struct radio_profile *profile)
{
  size_t n = (size_t) model->n;
  struct flat_span *expected = calloc (n + 1, sizeof *expected);
  struct flat_span *got = calloc (n + 1, sizeof *got);
  assert_int_equal (profile->spans.n, n);
  uint64_t origin = UINT64_MAX;
  for (size_t i = 0; i < n; i++) {
    if (model->runs[i].begin < origin)
      origin = model->runs[i].begin;
  }
  for (size_t i = 0; i < n; i++) {
    expected[i] = flatten_run (model, &model->runs[i], origin);
    got[i] = flatten_span (profile, &profile->spans.at[i]);
  }
  qsort (expected, n, sizeof *expected, compare_flat);
  qsort (got, n, sizeof *got, compare_flat);
  assert_memory_equal (expected, got, n * sizeof *got);
  free (expected);
  free (got);
}

void
model_check (struct model *model, const struct radio_profile *profile)
{
  find_nodes (model, profile);
  check_nodes (model, profile);
  check_spans (model, profile);
}
