/* SPDX-License-Identifier: MIT */
/* radio's JSON, as its writer and its reader share it: which column of a
 * table is which member of a row's struct, and blocks, which hold many
 * numbers in columns, as varints in raw deflate in base64.
 * docs/profile-format.md describes the format. */
#ifndef RD_PROFILE_JSON_H
#define RD_PROFILE_JSON_H

#include "src/base/buffer.h"
#include "profiler/export/export.h"

#define RD_JSON_FORMAT "radio-profile"
#define RD_JSON_VERSION 1

/* Precedes the document in a page. */
#define RD_JSON_OPENING "<script type=\"application/json\"" \
                        " id=\"radio-profile\">"

/* Type of a member, and the content of its column. */
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
  bool is_optional;           /* files of older versions lack it */
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

/* The words for info.parts, by their enum. */
extern const char *const rd_parts_words[RADIO_PARTS_RANKS + 1];

#define RD_VARINT_MAX_NBYTES 10

enum {
  RD_SPAN_COLUMNS = 9, RD_SAMPLE_COLUMNS = 3, RD_TILE_COLUMNS = 3,
  RD_STARVED_COLUMNS = 2
};

/* Limits the compression ratio.  More would make a small file claim
 * memory without end; the writer then does not deflate. */
static inline bool
rd_block_is_honest (uint64_t nbytes, uint64_t packed_nbytes)
{
  return nbytes / 32 <= packed_nbytes + (1u << 17);
}

/* Signed numbers as unsigned ones, small where they are near 0. */
static inline uint64_t
rd_zigzag (uint64_t difference)
{
  return difference << 1 ^ -(difference >> 63);
}

static inline uint64_t
rd_unzigzag (uint64_t value)
{
  return value >> 1 ^ -(value & 1);
}

enum rd_block_kind {
  RD_BLOCK_SAMPLES, RD_BLOCK_TILES, RD_BLOCK_STARVED, RD_BLOCK_SPANS
};

/* Writes the value of the member "spans", "samples", "tiles" or "starved";
 * plain: without deflating. */
void rd_write_block (struct rd_writer *writer,
                     const struct radio_profile *profile,
                     enum rd_block_kind kind, bool plain);

#endif /* RD_PROFILE_JSON_H */
