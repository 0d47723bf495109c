/* SPDX-License-Identifier: MIT */
/* The tables, spelt out. */
#include <config.h>

#include <string.h>

#include "profiler/export/json.h"

#define COLUMN(row, member, kind) \
  { #member, RD_COLUMN_##kind, offsetof (struct row, member), 0, false }
#define OPTIONAL(row, member, kind) \
  { #member, RD_COLUMN_##kind, offsetof (struct row, member), 0, true }
#define NAMED(name, row, member, kind) \
  { name, RD_COLUMN_##kind, offsetof (struct row, member), 0, false }
#define OPTIONAL_NAMED(name, row, member, kind) \
  { name, RD_COLUMN_##kind, offsetof (struct row, member), 0, true }
#define ENUM(row, member, most) \
  { #member, RD_COLUMN_U32, offsetof (struct row, member), (most), \
    false }

#define TABLE(variable, name, row, columns)                     \
  const struct rd_table variable = {                            \
    name, sizeof (struct row),                                  \
    sizeof columns / sizeof columns[0], columns                 \
  }

/* Enums are read and written as 32 bits. */
_Static_assert (sizeof (enum radio_edge) == sizeof (uint32_t)
                && sizeof (unsigned) == sizeof (uint32_t),
                "enums of 32 bits");

static const struct rd_column fact_columns[] = {
  COLUMN (rd_fact, key, TEXT),
  COLUMN (rd_fact, value, TEXT),
  COLUMN (rd_fact, is_name, BOOL),
};
TABLE (rd_facts_table, "facts", rd_fact, fact_columns);

static const struct rd_column part_columns[] = {
  COLUMN (rd_profile_part, name, TEXT),
  COLUMN (rd_profile_part, wall_ns, U64),
  COLUMN (rd_profile_part, work_ns, U64),
  COLUMN (rd_profile_part, started_unix_ns, U64),
  OPTIONAL (rd_profile_part, pid, U64),
  OPTIONAL (rd_profile_part, starved_ns, U64),
  OPTIONAL_NAMED ("minor_fault_count", rd_profile_part,
                  usage.minor_fault_count, U64),
  OPTIONAL_NAMED ("major_fault_count", rd_profile_part,
                  usage.major_fault_count, U64),
  OPTIONAL_NAMED ("block_input_nbytes", rd_profile_part,
                  usage.block_input_nbytes, U64),
  OPTIONAL (rd_profile_part, process, U64),
};
TABLE (rd_parts_table, "parts", rd_profile_part, part_columns);

static const struct rd_column finding_columns[] = {
  COLUMN (radio_finding, id, TEXT),
  ENUM (radio_finding, weight, RADIO_FINDING_PROBLEM),
  COLUMN (radio_finding, title, TEXT),
  COLUMN (radio_finding, evidence, TEXT),
  COLUMN (radio_finding, node, REF),
};
TABLE (rd_findings_table, "findings", radio_finding, finding_columns);

static const struct rd_column counter_columns[] = {
  COLUMN (rd_counter, name, TEXT),
  COLUMN (rd_counter, unit, TEXT),
};
TABLE (rd_counters_table, "counters", rd_counter, counter_columns);
TABLE (rd_gauges_table, "gauges", rd_counter, counter_columns);

static const struct rd_column node_columns[] = {
  COLUMN (radio_profile_node, name, STRING),
  COLUMN (radio_profile_node, category, STRING),
  COLUMN (radio_profile_node, function, STRING),
  COLUMN (radio_profile_node, file, STRING),
  COLUMN (radio_profile_node, line, U32),
  COLUMN (radio_profile_node, parent, REF),
  ENUM (radio_profile_node, edge, RADIO_EDGE_INSTANT),
  COLUMN (radio_profile_node, calls, U64),
  COLUMN (radio_profile_node, total_ns, U64),
  COLUMN (radio_profile_node, self_ns, U64),
  COLUMN (radio_profile_node, work_ns, U64),
  COLUMN (radio_profile_node, wait_ns, U64),
  COLUMN (radio_profile_node, queue_ns, U64),
  COLUMN (radio_profile_node, min_ns, U64),
  COLUMN (radio_profile_node, max_ns, U64),
  COLUMN (radio_profile_node, open_count, U64),
  COLUMN (radio_profile_node, late_count, U64),
  COLUMN (radio_profile_node, dropped_count, U64),
  COLUMN (radio_profile_node, alloc_count, U64),
  COLUMN (radio_profile_node, alloc_nbytes, U64),
  COLUMN (radio_profile_node, alloc_peak_nbytes, U64),
  COLUMN (radio_profile_node, alloc_live_nbytes, U64),
  OPTIONAL (radio_profile_node, starved_ns, U64),
};
TABLE (rd_nodes_table, "nodes", radio_profile_node, node_columns);

static const struct rd_column value_columns[] = {
  COLUMN (rd_value_row, node, U32),
  COLUMN (rd_value_row, counter, U32),
  COLUMN (rd_value_row, value, U64),
};
TABLE (rd_values_table, "values", rd_value_row, value_columns);

static const struct rd_column bucket_columns[] = {
  COLUMN (rd_bucket_row, node, U32),
  ENUM (rd_bucket_row, bucket, RADIO_HISTOGRAM_BUCKETS - 1),
  COLUMN (rd_bucket_row, count, U64),
};
TABLE (rd_histograms_table, "histograms", rd_bucket_row, bucket_columns);

static const struct rd_column share_columns[] = {
  COLUMN (rd_share_row, node, U32),
  COLUMN (rd_share_row, part, U32),
  NAMED ("calls", rd_share_row, share.calls, U64),
  NAMED ("total_ns", rd_share_row, share.total_ns, U64),
  NAMED ("self_ns", rd_share_row, share.self_ns, U64),
  OPTIONAL_NAMED ("work_ns", rd_share_row, share.work_ns, U64),
  OPTIONAL_NAMED ("starved_ns", rd_share_row, share.starved_ns, U64),
};
TABLE (rd_shares_table, "shares", rd_share_row, share_columns);

static const struct rd_column lane_columns[] = {
  NAMED ("name", rd_lane_row, lane.name, TEXT),
  NAMED ("is_async", rd_lane_row, lane.is_async, BOOL),
  NAMED ("os_tid", rd_lane_row, lane.os_tid, U64),
  NAMED ("part", rd_lane_row, lane.part, U32),
  NAMED ("span_count", rd_lane_row, nspans, U32),
};
TABLE (rd_lanes_table, "lanes", rd_lane_row, lane_columns);

static const struct rd_column note_columns[] = {
  COLUMN (rd_note, span, U32),
  COLUMN (rd_note, node, REF32),
  COLUMN (rd_note, key, STRING),
  COLUMN (rd_note, value, STRING),
  COLUMN (rd_note, is_name, BOOL),
  COLUMN (rd_note, varies, BOOL),
};
TABLE (rd_notes_table, "notes", rd_note, note_columns);

static const struct rd_column info_columns[] = {
  COLUMN (radio_profile_info, started_unix_ns, U64),
  COLUMN (radio_profile_info, wall_ns, U64),
  COLUMN (radio_profile_info, work_ns, U64),
  COLUMN (radio_profile_info, wait_ns, U64),
  COLUMN (radio_profile_info, dropped_count, U64),
  COLUMN (radio_profile_info, scope_count, U64),
  COLUMN (radio_profile_info, overhead_ns, U64),
  COLUMN (radio_profile_info, open_count, U64),
  COLUMN (radio_profile_info, late_count, U64),
  COLUMN (radio_profile_info, alloc_count, U64),
  COLUMN (radio_profile_info, alloc_nbytes, U64),
  COLUMN (radio_profile_info, alloc_peak_nbytes, U64),
  COLUMN (radio_profile_info, alloc_live_nbytes, U64),
  OPTIONAL (radio_profile_info, starved_ns, U64),
};
TABLE (rd_info_table, "info", radio_profile_info, info_columns);

const char *const rd_parts_words[RADIO_PARTS_RANKS + 1] = {
  [RADIO_PARTS_NONE] = "none",
  [RADIO_PARTS_RUNS] = "runs",
  [RADIO_PARTS_RANKS] = "ranks",
};

