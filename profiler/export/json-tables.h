/* SPDX-License-Identifier: MIT */
/* The tables of radio's JSON, as both its writer and its reader see them:
 * which column is which member of a row's struct.  docs/profile-format.md
 * describes the same for everybody else. */
#ifndef RD_JSON_TABLES_H
#define RD_JSON_TABLES_H

#include "profiler/model/profile.h"

#define RD_JSON_FORMAT "radio-profile"
#define RD_JSON_VERSION 1

/* What a page has in front of the document. */
#define RD_JSON_OPENING "<script type=\"application/json\"" \
                        " id=\"radio-profile\">"

/* Of a member, and what stands in the column. */
enum rd_column_kind {
  RD_COLUMN_TEXT,             /* char *: a string */
  RD_COLUMN_STRING,           /* const char *: an index into "strings" */
  RD_COLUMN_U64,              /* uint64_t */
  RD_COLUMN_U32,              /* uint32_t, unsigned and enum */
  RD_COLUMN_BOOL,             /* bool: 0 or 1 */
  RD_COLUMN_REF,              /* size_t: an index, or -1 for SIZE_MAX */
  RD_COLUMN_REF32,            /* uint32_t: the same for RD_NO_INDEX */
};

struct rd_column {
  const char *name;
  enum rd_column_kind kind;
  size_t offset;              /* in the row's struct */
  uint64_t most;              /* the largest number; 0: that of its kind */
};

struct rd_table {
  const char *name;
  size_t row_nbytes;
  size_t ncolumns;
  const struct rd_column *columns;
};

/* Rows of tables that are matrices in memory. */
struct rd_value_row {
  uint32_t node, counter;
  uint64_t value;
};

struct rd_bucket_row {
  uint32_t node, bucket;
  uint64_t count;
};

struct rd_share_row {
  uint32_t node, part;
  struct radio_profile_share share;
};

/* A lane, and how many spans it has. */
struct rd_lane_row {
  struct rd_lane lane;
  uint32_t nspans;
};

extern const struct rd_table rd_facts_table;      /* of struct rd_fact */
extern const struct rd_table rd_parts_table;      /* rd_profile_part */
extern const struct rd_table rd_findings_table;   /* radio_finding */
extern const struct rd_table rd_counters_table;   /* rd_counter */
extern const struct rd_table rd_gauges_table;     /* rd_counter */
extern const struct rd_table rd_nodes_table;      /* radio_profile_node */
extern const struct rd_table rd_values_table;     /* rd_value_row */
extern const struct rd_table rd_histograms_table; /* rd_bucket_row */
extern const struct rd_table rd_shares_table;     /* rd_share_row */
extern const struct rd_table rd_lanes_table;      /* rd_lane_row */
extern const struct rd_table rd_notes_table;      /* rd_note */

/* The numbers of "info": columns, as it were, of a table with one row. */
extern const struct rd_table rd_info_table;       /* radio_profile_info */

/* The word for info.parts, and back: "none", "runs", "ranks".  NULL and
 * false for what is neither. */
const char *rd_parts_word (enum radio_profile_parts parts);
bool rd_parts_of_word (const char *word, enum radio_profile_parts *parts);

#endif /* RD_JSON_TABLES_H */
