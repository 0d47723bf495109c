/* SPDX-License-Identifier: MIT */
/* Writes radio's own JSON (docs/profile-format.md). */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json.h"
#include "profiler/export/export.h"
#include "profiler/export/json.h"
#include "profiler/export/string-index.h"

struct json {
  struct rd_writer *writer;
  const struct radio_profile *profile;
  struct rd_string_index *strings;
};

static void
fail_memory (struct json *json)
{
  if (json->writer->status == RADIO_OK)
    json->writer->status = rd_fail_memory (sizeof (void *));
}

static void
write_member (struct json *json, const char *name)
{
  rd_write_text (json->writer, ",\n");
  rd_write_json_string (json->writer, name);
  rd_write_text (json->writer, ": ");
}

/*------------------------------------------------------------------------
 * Tables
 *----------------------------------------------------------------------*/

/* A member that is a char * or a const char *. */
static const char *
text_at (const void *at)
{
  const char *text;
  memcpy (&text, at, sizeof text);
  return text ? text : "";
}

static void
write_reference (struct json *json, uint64_t index, uint64_t none)
{
  if (index == none)
    rd_write_text (json->writer, "-1");
  else
    rd_write_u64 (json->writer, index);
}

static void
write_cell (struct json *json, const struct rd_column *column,
            const unsigned char *row)
{
  const void *at = row + column->offset;
  switch (column->kind) {
  case RD_COLUMN_TEXT:
    rd_write_json_string (json->writer, text_at (at));
    break;
  case RD_COLUMN_STRING: {
    uint32_t index = rd_string_index_add (json->strings, text_at (at));
    if (index == RD_NO_INDEX)
      fail_memory (json);
    rd_write_u64 (json->writer, index);
    break;
  }
  case RD_COLUMN_U64:
    rd_write_u64 (json->writer, *(const uint64_t *) at);
    break;
  case RD_COLUMN_U32:
    rd_write_u64 (json->writer, *(const uint32_t *) at);
    break;
  case RD_COLUMN_BOOL:
    rd_write_u64 (json->writer, *(const bool *) at);
    break;
  case RD_COLUMN_REF:
    write_reference (json, *(const size_t *) at, SIZE_MAX);
    break;
  case RD_COLUMN_REF32:
    write_reference (json, *(const uint32_t *) at, RD_NO_INDEX);
    break;
  }
}

static void
write_table (struct json *json, const struct rd_table *table,
             const void *rows, size_t n)
{
  write_member (json, table->name);
  rd_write_text (json->writer, "{\n");
  for (size_t i = 0; i < table->ncolumns; i++) {
    if (i > 0)
      rd_write_text (json->writer, ",\n");

    const struct rd_column *column = &table->columns[i];
    const unsigned char *row = rows;
    rd_write_json_string (json->writer, column->name);
    rd_write_text (json->writer, ": [");
    for (size_t j = 0; j < n; j++, row += table->row_nbytes) {
      if (j > 0)
        rd_write_text (json->writer, ",");
      write_cell (json, column, row);
    }
    rd_write_text (json->writer, "]");
  }
  rd_write_text (json->writer, "\n}");
}

/* Room for the next row of a table; NULL without memory. */
static void *
append_row (struct json *json, struct rd_buffer *rows, size_t nbytes)
{
  static const union {
    struct rd_value_row value;
    struct rd_bucket_row bucket;
    struct rd_share_row share;
    struct rd_lane_row lane;
  } zeros;
  if (rd_buffer_append (rows, &zeros, nbytes) != RADIO_OK) {
    fail_memory (json);
    return NULL;
  }
  return rows->data + rows->nbytes - nbytes;
}

/* Writes the rows, and empties them. */
static void
write_rows (struct json *json, const struct rd_table *table,
            struct rd_buffer *rows)
{
  write_table (json, table, rows->data, rows->nbytes / table->row_nbytes);
  rows->nbytes = 0;
}

static void
write_tables (struct json *json)
{
  const struct radio_profile *profile = json->profile;
  write_table (json, &rd_facts_table, profile->facts.at, profile->facts.n);
  write_table (json, &rd_parts_table, profile->parts.at, profile->parts.n);
  write_table (json, &rd_findings_table, profile->findings.at,
               profile->findings.n);
  write_table (json, &rd_counters_table, profile->counters.at,
               profile->counters.n);
  write_table (json, &rd_gauges_table, profile->gauges.at,
               profile->gauges.n);
  write_table (json, &rd_nodes_table, profile->nodes.at, profile->nodes.n);

  /* Sparse tables have rows for all values other than 0. */
  RD_BUFFER_SCOPE struct rd_buffer rows = { 0 };
  for (size_t i = 0; i < profile->values.n; i++) {
    const struct rd_value *value = &profile->values.at[i];
    struct rd_value_row *row = append_row (json, &rows, sizeof *row);
    if (row)
      *row = (struct rd_value_row) { value->node, value->counter,
                                     value->value };
  }
  write_rows (json, &rd_values_table, &rows);

  for (size_t node = 0; node < profile->nodes.n; node++)
    for (uint32_t bucket = 0; bucket < RADIO_HISTOGRAM_BUCKETS; bucket++) {
      uint64_t count = profile->nodes.at[node].histogram[bucket];
      struct rd_bucket_row *row
        = count ? append_row (json, &rows, sizeof *row) : NULL;
      if (row)
        *row = (struct rd_bucket_row) { (uint32_t) node, bucket, count };
    }
  write_rows (json, &rd_histograms_table, &rows);

  /* The shares of a single part equal the values of the nodes. */
  for (size_t i = 0; profile->parts.n > 1 && i < profile->shares.n; i++) {
    const struct rd_part_share *share = &profile->shares.at[i];
    struct rd_share_row *row = append_row (json, &rows, sizeof *row);
    if (row)
      *row = (struct rd_share_row) { share->node, share->part,
                                     share->share };
  }
  write_rows (json, &rd_shares_table, &rows);

  size_t span = 0;
  for (size_t i = 0; i < profile->lanes.n; i++) {
    size_t first = span;
    while (span < profile->spans.n && profile->spans.at[span].lane == i)
      span++;
    struct rd_lane_row *row = append_row (json, &rows, sizeof *row);
    if (row)
      *row = (struct rd_lane_row) { profile->lanes.at[i],
                                    (uint32_t) (span - first) };
  }
  write_rows (json, &rd_lanes_table, &rows);

  write_table (json, &rd_notes_table, profile->notes.at, profile->notes.n);
}

/* True unless threads had no CPU but no span says so: in profiles of programs
 * whose log did not have it. */
static bool
knows_starved_spans (const struct radio_profile *profile)
{
  bool knows = profile->info.starved_ns == 0;
  for (size_t i = 0; i < profile->spans.n && !knows; i++)
    knows = profile->spans.at[i].starved_ns != 0;
  return knows;
}

enum radio_status
rd_export_json (const struct radio_profile *profile,
                const struct radio_profile_write_options *options,
                struct rd_writer *writer)
{
  RD_CLEANUP (rd_string_index_free) struct rd_string_index strings = { 0 };
  struct json json = { writer, profile, &strings };
  if (rd_string_index_add (&strings, "") == RD_NO_INDEX)
    fail_memory (&json);
  rd_write_format (writer, "{\n\"format\": \"%s\",\n\"version\": %d",
                   RD_JSON_FORMAT, RD_JSON_VERSION);
  write_member (&json, "generator");
  rd_write_format (writer, "\"radio %s\"", radio_version ());

  const struct radio_profile_info *info = &profile->info;
  write_member (&json, "info");
  rd_write_text (writer, "{\n\"title\": ");
  rd_write_json_string (writer, info->title ? info->title : "");
  write_member (&json, "program");
  rd_write_json_string (writer, info->program ? info->program : "");
  write_member (&json, "clock");
  rd_write_json_string (writer, info->clock ? info->clock : "");
  write_member (&json, "parts");
  rd_write_json_string (writer, rd_parts_words[info->parts]);
  write_member (&json, "scope_cost_ns");
  RD_CLEANUP (rd_cleanup_json) struct json_object *number
    = rd_json_new_double (isfinite (info->scope_cost_ns)
                            ? info->scope_cost_ns : 0);
  if (number == NULL)
    fail_memory (&json);
  else
    rd_write_text (writer, json_object_to_json_string (number));
  for (size_t i = 0; i < rd_info_table.ncolumns; i++) {
    write_member (&json, rd_info_table.columns[i].name);
    write_cell (&json, &rd_info_table.columns[i],
                (const unsigned char *) info);
  }
  rd_write_text (writer, "\n}");

  write_tables (&json);

  write_member (&json, "strings");
  rd_write_text (json.writer, "[\n");
  for (uint32_t i = 0; i < strings.n; i++) {
    if (i > 0)
      rd_write_text (json.writer, ",\n");
    rd_write_json_string (json.writer, strings.texts[i]);
  }
  rd_write_text (json.writer, "\n]");

  write_member (&json, "samples");
  rd_write_block (writer, profile, RD_BLOCK_SAMPLES, options->plain_blocks);
  write_member (&json, "tiles");
  rd_write_block (writer, profile, RD_BLOCK_TILES, options->plain_blocks);
  if (knows_starved_spans (profile)) {
    write_member (&json, "starved");
    rd_write_block (writer, profile, RD_BLOCK_STARVED,
                    options->plain_blocks);
  }
  write_member (&json, "spans");
  rd_write_block (writer, profile, RD_BLOCK_SPANS, options->plain_blocks);
  rd_write_text (writer, "\n}\n");
  return writer->status;
}
