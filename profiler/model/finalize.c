/* SPDX-License-Identifier: MIT */
/* Completing a profile: its numbers and references are checked, since they may
 * come from an untrusted file, sums are made, which saturate, and findings. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/model/builder.h"
#include "profiler/model/sum.h"

/*------------------------------------------------------------------------
 * Checks: numbers must fit into signed 64 bits
 *----------------------------------------------------------------------*/

struct field {
  const char *name;
  size_t offset;
};

#define NODE_FIELD(name) { #name, offsetof (struct radio_profile_node, name) }
#define INFO_FIELD(name) { #name, offsetof (struct radio_profile_info, name) }

static const struct field node_fields[] = {
  NODE_FIELD (calls), NODE_FIELD (total_ns), NODE_FIELD (self_ns),
  NODE_FIELD (work_ns), NODE_FIELD (wait_ns), NODE_FIELD (queue_ns),
  NODE_FIELD (min_ns), NODE_FIELD (max_ns), NODE_FIELD (open_count),
  NODE_FIELD (late_count), NODE_FIELD (dropped_count),
  NODE_FIELD (alloc_count), NODE_FIELD (alloc_nbytes),
  NODE_FIELD (alloc_peak_nbytes), NODE_FIELD (alloc_live_nbytes),
  NODE_FIELD (starved_ns),
};

static const struct field info_fields[] = {
  INFO_FIELD (started_unix_ns), INFO_FIELD (wall_ns),
  INFO_FIELD (dropped_count), INFO_FIELD (scope_count),
  INFO_FIELD (alloc_count), INFO_FIELD (alloc_nbytes),
  INFO_FIELD (alloc_peak_nbytes), INFO_FIELD (alloc_live_nbytes),
};

#define NFIELDS(fields) (sizeof (fields) / sizeof (fields)[0])

/* The first field that is too large, or NULL. */
static const char *
find_too_large (const void *object, const struct field *fields, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t value;
    memcpy (&value, (const char *) object + fields[i].offset, sizeof value);
    if (value > RD_MAX_VALUE)
      return fields[i].name;
  }
  return NULL;
}

static enum radio_status
check_numbers (const struct radio_profile *profile)
{
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    const char *name = find_too_large (node, node_fields,
                                       NFIELDS (node_fields));
    for (size_t j = 0; name == NULL && j < RADIO_HISTOGRAM_BUCKETS; j++)
      if (node->histogram[j] > RD_MAX_VALUE)
        name = "histogram";
    if (name)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "node %zu '%s': %s is above 2^63", i, node->name, name);
  }

  const struct radio_profile_info *info = &profile->info;
  size_t nparts = profile->parts.n;
  const char *name = find_too_large (info, info_fields,
                                     NFIELDS (info_fields));
  if (name)
    return rd_fail (RADIO_ERROR_FORMAT, "info: %s is above 2^63", name);
  if (!isfinite (info->scope_cost_ns) || info->scope_cost_ns < 0
      || info->scope_cost_ns > 1e9)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "info: scope_cost_ns is not within 0 to 10^9");
  if ((unsigned) info->parts > RADIO_PARTS_RANKS)
    return rd_fail (RADIO_ERROR_FORMAT, "info: parts is %d, not 0 to 2",
                    (int) info->parts);
  if (info->parts == RADIO_PARTS_NONE && nparts > 1)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%zu parts, which are neither runs nor ranks", nparts);
  for (size_t i = 0; i < profile->parts.n; i++) {
    const struct rd_profile_part *part = &profile->parts.at[i];
    if (rd_max_u64 (rd_max_u64 (part->wall_ns, part->work_ns),
                    part->started_unix_ns) > RD_MAX_VALUE)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "part %zu '%s': a time above 2^63 ns", i, part->name);
  }
  return RADIO_OK;
}

static int
compare_notes (const void *a, const void *b)
{
  const struct rd_note *x = a, *y = b;
  int by = rd_compare_u64 (x->span, y->span);
  by = by ? by : rd_compare_u64 (x->node, y->node);
  by = by ? by : strcmp (x->key, y->key);
  return by ? by : strcmp (x->value, y->value);
}

static int
compare_samples (const void *a, const void *b)
{
  const struct rd_sample *x = a, *y = b;
  int by = rd_compare_u64 (x->time_ns, y->time_ns);
  by = by ? by : rd_compare_u64 (x->gauge, y->gauge);
  return by ? by : (x->value > y->value) - (x->value < y->value);
}

static void
count_tables (struct radio_profile *profile)
{
  struct radio_profile_info *info = &profile->info;
  info->nnodes = profile->nodes.n;
  info->ncounters = profile->counters.n;
  info->nlanes = profile->lanes.n;
  info->nspans = profile->spans.n;
  info->nparts = profile->parts.n;
  info->nfacts = profile->facts.n;
  info->nfindings = profile->findings.n;
}

/* Sums over the nodes.  Allocations and drops may happen outside of all
 * nodes: the builder's number is kept if it is larger. */
static void
sum_nodes (struct radio_profile *profile)
{
  struct radio_profile_info *info = &profile->info;
  struct radio_profile_node sum = { 0 };
  uint64_t peak = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    struct radio_profile_node *node = &profile->nodes.at[i];
    node->starved_ns = rd_min_u64 (node->starved_ns, node->work_ns);
    sum.calls = rd_sum (sum.calls, node->calls);
    sum.work_ns = rd_sum (sum.work_ns, node->work_ns);
    sum.wait_ns = rd_sum (sum.wait_ns, node->wait_ns);
    sum.starved_ns = rd_sum (sum.starved_ns, node->starved_ns);
    sum.open_count = rd_sum (sum.open_count, node->open_count);
    sum.late_count = rd_sum (sum.late_count, node->late_count);
    sum.dropped_count = rd_sum (sum.dropped_count, node->dropped_count);
    sum.alloc_count = rd_sum (sum.alloc_count, node->alloc_count);
    sum.alloc_nbytes = rd_sum (sum.alloc_nbytes, node->alloc_nbytes);
    sum.alloc_live_nbytes = rd_sum (sum.alloc_live_nbytes,
                                    node->alloc_live_nbytes);
    peak = rd_max_u64 (peak, node->alloc_peak_nbytes);
  }
  info->work_ns = sum.work_ns;
  info->wait_ns = sum.wait_ns;
  info->starved_ns = sum.starved_ns;
  info->open_count = sum.open_count;
  info->late_count = sum.late_count;
  info->dropped_count = rd_max_u64 (info->dropped_count, sum.dropped_count);
  info->alloc_count = rd_max_u64 (info->alloc_count, sum.alloc_count);
  info->alloc_nbytes = rd_max_u64 (info->alloc_nbytes, sum.alloc_nbytes);
  info->alloc_live_nbytes = rd_max_u64 (info->alloc_live_nbytes,
                                        sum.alloc_live_nbytes);
  info->alloc_peak_nbytes = rd_max_u64 (info->alloc_peak_nbytes, peak);
  info->scope_count = info->scope_count ? info->scope_count : sum.calls;
}

/* The whole's time and the recorder's share, from the spans and the sums. */
static void
sum_times (struct radio_profile *profile)
{
  struct radio_profile_info *info = &profile->info;
  uint64_t end = 0;
  for (size_t i = 0; i < profile->spans.n; i++)
    end = rd_max_u64 (end, profile->spans.at[i].begin_ns
                           + profile->spans.at[i].duration_ns);
  info->wall_ns = info->wall_ns ? info->wall_ns : end;
  double overhead = (double) info->scope_count * info->scope_cost_ns;
  info->overhead_ns = overhead < 9e18 ? (uint64_t) overhead : RD_MAX_VALUE;
}

/* Children come after their parents: in reverse order each is complete when
 * it is added to its parent. */
static void
sum_trees (struct radio_profile *profile)
{
  struct radio_profile_node *nodes = profile->nodes.at;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    nodes[i].tree_work_ns = nodes[i].work_ns;
    nodes[i].tree_wait_ns = nodes[i].wait_ns;
    nodes[i].tree_starved_ns = nodes[i].starved_ns;
  }
  for (size_t i = profile->nodes.n; i-- > 0;) {
    if (nodes[i].parent == RADIO_NO_PARENT)
      continue;
    struct radio_profile_node *above = &nodes[nodes[i].parent];
    above->tree_work_ns = rd_sum (above->tree_work_ns,
                                  nodes[i].tree_work_ns);
    above->tree_wait_ns = rd_sum (above->tree_wait_ns,
                                  nodes[i].tree_wait_ns);
    above->tree_starved_ns = rd_sum (above->tree_starved_ns,
                                     nodes[i].tree_starved_ns);
  }
}

/* Checks that lanes, notes and samples are of parts, nodes and gauges of the
 * profile. */
static enum radio_status
check_references (const struct radio_profile *profile)
{
  for (size_t i = 0; i < profile->lanes.n; i++)
    if (profile->lanes.at[i].part >= profile->parts.n)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "lane %zu is of part %" PRIu32 " where there are only "
                      "%zu", i, profile->lanes.at[i].part, profile->parts.n);
  for (size_t i = 0; i < profile->notes.n; i++) {
    const struct rd_note *note = &profile->notes.at[i];
    if (note->span != 0 && note->node == RD_NO_INDEX)
      continue;
    if (note->node >= profile->nodes.n)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "the text '%s' is of node %" PRIu32 " where there are "
                      "only %zu", note->key, note->node, profile->nodes.n);
  }
  for (size_t i = 0; i < profile->samples.n; i++) {
    const struct rd_sample *sample = &profile->samples.at[i];
    if (sample->gauge >= profile->gauges.n)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "sample %zu is of gauge %" PRIu32 " where there are "
                      "only %zu", i, sample->gauge, profile->gauges.n);
    if (sample->time_ns > RD_MAX_VALUE)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "sample %zu is later than 2^63 ns", i);
  }
  return RADIO_OK;
}

enum radio_status
rd_profile_finalize (struct radio_profile *profile)
{
  RD_TRY (check_numbers (profile));
  RD_TRY (rd_profile_check_spans (profile));
  RD_TRY (rd_profile_assign_lanes (profile));
  RD_TRY (rd_profile_sort_spans (profile));
  sum_nodes (profile);
  sum_times (profile);
  if (profile->parts.n == 0)
    RD_TRY (rd_profile_add_part (
      profile, &(struct rd_profile_part) {
        .name = "run 1",
        .wall_ns = profile->info.wall_ns,
        .work_ns = profile->info.work_ns,
        .starved_ns = profile->info.starved_ns,
        .started_unix_ns = profile->info.started_unix_ns,
        .pid = rd_profile_number (profile, RD_FACT_PID),
        .usage = rd_profile_usage (profile),
        .process = profile->process,
      }, NULL));
  RD_TRY (rd_profile_make_tables (profile));
  sum_trees (profile);
  RD_TRY (check_references (profile));
  if (profile->notes.n > 1)
    qsort (profile->notes.at, profile->notes.n, sizeof *profile->notes.at,
           compare_notes);
  if (profile->samples.n > 1)
    qsort (profile->samples.at, profile->samples.n,
           sizeof *profile->samples.at, compare_samples);
  count_tables (profile);
  RD_TRY (rd_profile_find_findings (profile));
  count_tables (profile);
  return RADIO_OK;
}
