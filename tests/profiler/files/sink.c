/* SPDX-License-Identifier: MIT */
/* Writes into memory, and compares profiles member by member without the
 * tables that the reader and the writer share. */
#include <config.h>

#include "tests/profiler/files/sink.h"

#include "profiler/export/read.h"

static enum radio_status
append (const void *data, size_t nbytes, void *user_data)
{
  struct sink *sink = user_data;
  char *text = realloc (sink->text, sink->nbytes + nbytes + 1);
  if (text == NULL)
    return RADIO_ERROR_MEMORY;
  memcpy (text + sink->nbytes, data, nbytes);
  sink->text = text;
  sink->nbytes += nbytes;
  text[sink->nbytes] = '\0';
  return RADIO_OK;
}

struct sink
sink_write (const struct radio_profile *profile,
            enum radio_profile_format format,
            const struct radio_profile_write_options *options)
{
  struct sink sink = { 0 };
  struct radio_profile_write_options chosen = { 0 };
  if (options)
    chosen = *options;
  chosen.format = format;
  assert_ok (radio_profile_write_to (profile, &chosen, append, &sink));
  assert_non_null (sink.text);
  return sink;
}

enum radio_status
sink_parse (const char *text, size_t nbytes, struct radio_profile **profile)
{
  return rd_profile_parse (text, nbytes, "file", profile);
}

char *
sink_replace (const char *text, const char *from, const char *to)
{
  const char *at = strstr (text, from);
  assert_non_null (at);
  size_t before = (size_t) (at - text), rest = strlen (at + strlen (from));
  char *made = malloc (before + strlen (to) + rest + 1);
  assert_non_null (made);
  memcpy (made, text, before);
  memcpy (made + before, to, strlen (to));
  memcpy (made + before + strlen (to), at + strlen (from), rest + 1);
  return made;
}

#define SAME(member) assert_true (x->member == y->member)
#define SAME_TEXT(member) assert_string_equal (x->member, y->member)

static void
compare_info (const struct radio_profile_info *x,
              const struct radio_profile_info *y)
{
  SAME_TEXT (title); SAME_TEXT (program); SAME_TEXT (clock);
  SAME (started_unix_ns); SAME (wall_ns); SAME (work_ns); SAME (wait_ns);
  SAME (nnodes); SAME (ncounters); SAME (nlanes); SAME (nspans);
  SAME (dropped_count); SAME (scope_count); SAME (scope_cost_ns);
  SAME (overhead_ns); SAME (open_count); SAME (late_count);
  SAME (alloc_count); SAME (alloc_nbytes); SAME (alloc_peak_nbytes);
  SAME (alloc_live_nbytes); SAME (parts); SAME (nparts);
  SAME (nfindings); SAME (nfacts); SAME (starved_ns);
}

static void
compare_node (const struct radio_profile_node *x,
              const struct radio_profile_node *y)
{
  SAME_TEXT (name); SAME_TEXT (category); SAME_TEXT (function);
  SAME_TEXT (file);
  SAME (line); SAME (parent); SAME (depth); SAME (edge); SAME (calls);
  SAME (total_ns); SAME (self_ns); SAME (work_ns); SAME (wait_ns);
  SAME (queue_ns); SAME (min_ns); SAME (max_ns); SAME (tree_work_ns);
  SAME (tree_wait_ns); SAME (open_count); SAME (late_count);
  SAME (dropped_count); SAME (alloc_count); SAME (alloc_nbytes);
  SAME (alloc_peak_nbytes); SAME (alloc_live_nbytes);
  SAME (starved_ns); SAME (tree_starved_ns);
  assert_memory_equal (x->histogram, y->histogram, sizeof x->histogram);
}

static void
compare_nodes (const struct radio_profile *a, const struct radio_profile *b)
{
  assert_int_equal (a->nodes.n, b->nodes.n);
  assert_int_equal (a->counters.n, b->counters.n);
  for (size_t i = 0; i < a->nodes.n; i++)
    compare_node (&a->nodes.at[i], &b->nodes.at[i]);
  assert_int_equal (a->values.n, b->values.n);
  for (size_t i = 0; i < a->values.n; i++) {
    const struct rd_value *x = &a->values.at[i], *y = &b->values.at[i];
    SAME (node); SAME (counter); SAME (value);
  }
  assert_int_equal (a->parts.n, b->parts.n);
  assert_int_equal (a->shares.n, b->shares.n);
  for (size_t i = 0; i < a->shares.n; i++) {
    const struct rd_part_share *x = &a->shares.at[i], *y = &b->shares.at[i];
    SAME (node); SAME (part);
    SAME (share.calls); SAME (share.total_ns); SAME (share.self_ns);
    SAME (share.work_ns); SAME (share.starved_ns);
  }
}

static void
compare_spans (const struct radio_profile *a, const struct radio_profile *b)
{
  assert_int_equal (a->spans.n, b->spans.n);
  for (size_t i = 0; i < a->spans.n; i++) {
    const struct rd_span *x = &a->spans.at[i], *y = &b->spans.at[i];
    SAME (begin_ns); SAME (duration_ns); SAME (submitted_ns); SAME (wait_ns);
    SAME (id); SAME (parent); SAME (node); SAME (lane); SAME (flags);
    SAME (nbytes); SAME (tile); SAME (stored_nbytes); SAME (starved_ns);
  }
  assert_int_equal (a->samples.n, b->samples.n);
  for (size_t i = 0; i < a->samples.n; i++) {
    const struct rd_sample *x = &a->samples.at[i], *y = &b->samples.at[i];
    SAME (time_ns); SAME (value); SAME (gauge);
  }
}

static void
compare_counters (const struct rd_counter *x, const struct rd_counter *y,
                  size_t n)
{
  for (size_t i = 0; i < n; i++, x++, y++) {
    SAME_TEXT (name);
    SAME_TEXT (unit);
  }
}

static void
compare_texts (const struct radio_profile *a, const struct radio_profile *b)
{
  assert_int_equal (a->notes.n, b->notes.n);
  for (size_t i = 0; i < a->notes.n; i++) {
    const struct rd_note *x = &a->notes.at[i], *y = &b->notes.at[i];
    SAME (span); SAME (node); SAME_TEXT (key); SAME_TEXT (value);
    SAME (is_name); SAME (varies);
  }
  assert_int_equal (a->facts.n, b->facts.n);
  for (size_t i = 0; i < a->facts.n; i++) {
    const struct rd_fact *x = &a->facts.at[i], *y = &b->facts.at[i];
    SAME_TEXT (key); SAME_TEXT (value); SAME (is_name);
  }
}

static void
compare_lanes (const struct radio_profile *a, const struct radio_profile *b)
{
  assert_int_equal (a->lanes.n, b->lanes.n);
  for (size_t i = 0; i < a->lanes.n; i++) {
    const struct rd_lane *x = &a->lanes.at[i], *y = &b->lanes.at[i];
    SAME_TEXT (name); SAME (is_async); SAME (os_tid); SAME (part);
  }
  for (size_t i = 0; i < a->parts.n; i++) {
    const struct rd_profile_part *x = &a->parts.at[i], *y = &b->parts.at[i];
    SAME_TEXT (name); SAME (wall_ns); SAME (work_ns); SAME (started_unix_ns);
    SAME (starved_ns); SAME (usage.minor_fault_count);
    SAME (usage.major_fault_count); SAME (usage.block_input_nbytes);
  }
}

static void
compare_findings (const struct radio_profile *a,
                  const struct radio_profile *b)
{
  assert_int_equal (a->findings.n, b->findings.n);
  for (size_t i = 0; i < a->findings.n; i++) {
    const struct radio_finding *x = &a->findings.at[i];
    const struct radio_finding *y = &b->findings.at[i];
    SAME_TEXT (id); SAME_TEXT (title); SAME_TEXT (evidence); SAME (weight);
    SAME (node);
  }
}

void
assert_same_profile (const struct radio_profile *a,
                     const struct radio_profile *b)
{
  compare_info (&a->info, &b->info);
  compare_nodes (a, b);
  compare_spans (a, b);
  compare_texts (a, b);
  compare_lanes (a, b);
  compare_findings (a, b);
  compare_counters (a->counters.at, b->counters.at, a->counters.n);
  assert_int_equal (a->gauges.n, b->gauges.n);
  compare_counters (a->gauges.at, b->gauges.at, a->gauges.n);
}
