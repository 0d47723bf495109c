/* SPDX-License-Identifier: MIT */
/* Reads a JSON document into a profile: table after table into the builder,
 * which checks consistency.  Findings are not read: the model computes
 * them again. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/alloc.h"
#include "src/base/error.h"
#include "profiler/export/read.h"
#include "profiler/model/format.h"

struct reading {
  struct json_object *document;
  const char *where;
  const char **strings;       /* the document's */
  size_t nstrings;
  struct radio_profile *profile;
};

/*------------------------------------------------------------------------
 * Columns of equal length into rows of structs
 *----------------------------------------------------------------------*/

static void
store_number (const struct rd_column *column, uint64_t number, void *at)
{
  switch (column->kind) {
  case RD_COLUMN_BOOL: *(bool *) at = number != 0; break;
  case RD_COLUMN_U32:
  case RD_COLUMN_REF32: *(uint32_t *) at = (uint32_t) number; break;
  case RD_COLUMN_REF: *(size_t *) at = (size_t) number; break;
  default: *(uint64_t *) at = number; break;
  }
}

static enum radio_status
read_cell (const struct reading *reading, const struct rd_table *table,
           const struct rd_column *column, size_t row,
           struct json_object *value, void *at)
{
  bool is_string = column->kind == RD_COLUMN_STRING;
  uint64_t most = UINT64_MAX;
  int least = 0;
  switch (column->kind) {
  case RD_COLUMN_TEXT: {
    const char *text;
    RD_TRY (rd_json_text (value, column->name, reading->where, &text));
    /* Some members are char *, some const char *. */
    memcpy (at, &text, sizeof text);
    return RADIO_OK;
  }
  case RD_COLUMN_BOOL: most = 1; break;
  case RD_COLUMN_U32: most = UINT32_MAX; break;
  case RD_COLUMN_REF:
  case RD_COLUMN_REF32: most = UINT32_MAX - 1; least = -1; break;
  case RD_COLUMN_STRING:
  case RD_COLUMN_U64: break;
  }
  if (column->most > 0)
    most = column->most;

  int64_t sign = json_object_is_type (value, json_type_int)
                   ? json_object_get_int64 (value) : INT64_MIN;
  uint64_t number = sign >= 0 ? json_object_get_uint64 (value) : UINT64_MAX;
  if (is_string && sign >= 0 && number < reading->nstrings) {
    memcpy (at, &reading->strings[number], sizeof reading->strings[number]);
    return RADIO_OK;
  }
  if (!is_string && sign >= least && (sign < 0 || number <= most)) {
    store_number (column, number, at);
    return RADIO_OK;
  }
  char what[128], wanted[64] = "one of the strings' indexes";
  snprintf (what, sizeof what, "%s.%s[%zu]", table->name, column->name, row);
  if (!is_string)
    snprintf (wanted, sizeof wanted, "a whole number of %d to %" PRIu64,
              least, most);
  return rd_json_not (value, what, wanted, reading->where);
}

/*------------------------------------------------------------------------
 * The document
 *----------------------------------------------------------------------*/

static void
free_reading (struct reading *reading)
{
  rd_free (reading->strings);
  radio_profile_close (reading->profile);
}

/* A member of info as the profile's own string. */
static enum radio_status
read_text (const struct reading *reading, struct json_object *info,
           const char *member, const char **text)
{
  const char *found;
  RD_TRY (rd_json_string (info, member, reading->where, &found));
  *text = rd_profile_string (reading->profile, found);
  return *text ? RADIO_OK : rd_fail_memory (strlen (found));
}

/* An index that a row of another table gives. */
static enum radio_status
check_row (const struct reading *reading, const char *table,
           const char *what, size_t index, size_t n)
{
  if (index < n)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: a row of %s is of %s %zu, there"
                  " are %zu", reading->where, table, what, index, n);
}

/* In the order in which they are read. */
enum table {
  FACTS, PARTS, COUNTERS, GAUGES, NODES, VALUES, HISTOGRAMS, SHARES, NOTES,
  LANES, NTABLES
};

static enum radio_status
add_row (struct reading *reading, enum table kind, const void *row)
{
  struct radio_profile *profile = reading->profile;
  size_t nnodes = profile->nodes.n, nparts = profile->parts.n;
  switch (kind) {
  case FACTS: {
    const struct rd_fact *fact = row;
    return rd_profile_add_fact (profile, fact->key, fact->value,
                                fact->is_name);
  }
  case PARTS:
    return rd_profile_add_part (profile, row, NULL);
  case COUNTERS:
  case GAUGES: {
    const struct rd_counter *counter = row;
    bool is_gauge = kind == GAUGES;
    size_t before = is_gauge ? profile->gauges.n : profile->counters.n;
    uint32_t index;
    RD_TRY ((is_gauge ? rd_profile_add_gauge : rd_profile_add_counter)
              (profile, counter->name, counter->unit, &index));
    /* Equal names would become one, and the numbers that follow be wrong. */
    if (index != before)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: two %s are named \"%.40s\"",
                      reading->where, is_gauge ? "gauges" : "counters",
                      counter->name);
    return RADIO_OK;
  }
  case NODES: {
    const struct radio_profile_node *node = row;
    if (node->parent != RADIO_NO_PARENT && node->parent >= nnodes)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: the parent of node %zu is node %zu, which does not"
                      " stand before it", reading->where, nnodes,
                      node->parent);
    return rd_profile_add_node (profile, node, NULL);
  }
  case VALUES: {
    const struct rd_value_row *value = row;
    RD_TRY (check_row (reading, "values", "node", value->node, nnodes));
    RD_TRY (check_row (reading, "values", "counter", value->counter,
                       profile->counters.n));
    return rd_profile_add_value (profile, value->node, value->counter,
                                 value->value);
  }
  case HISTOGRAMS: {
    const struct rd_bucket_row *bucket = row;
    RD_TRY (check_row (reading, "histograms", "node", bucket->node, nnodes));
    profile->nodes.at[bucket->node].histogram[bucket->bucket] = bucket->count;
    return RADIO_OK;
  }
  case SHARES: {
    const struct rd_share_row *share = row;
    RD_TRY (check_row (reading, "shares", "node", share->node, nnodes));
    RD_TRY (check_row (reading, "shares", "part", share->part, nparts));
    return rd_profile_add_share (profile, share->node, share->part,
                                 &share->share);
  }
  case NOTES:
    return rd_profile_add_note (profile, row);
  case LANES: {
    const struct rd_lane_row *lane = row;
    RD_TRY (check_row (reading, "lanes", "part", lane->lane.part, nparts));
    return rd_profile_add_lane (profile, &lane->lane, NULL);
  }
  case NTABLES:
    break;
  }
  return RADIO_OK;
}

/* Adds the rows of a table, which stay with the caller; texts belong to the
 * document.  A table that is missing has none. */
static enum radio_status
read_table (struct reading *reading, enum table kind, void **rows, size_t *n)
{
  static const struct rd_table *const tables[NTABLES] = {
    &rd_facts_table, &rd_parts_table, &rd_counters_table, &rd_gauges_table,
    &rd_nodes_table, &rd_values_table, &rd_histograms_table,
    &rd_shares_table, &rd_notes_table, &rd_lanes_table,
  };
  const struct rd_table *table = tables[kind];
  const char *where = reading->where;
  struct json_object *object;
  *rows = NULL;
  *n = 0;
  if (rd_json_member (reading->document, table->name) == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (reading->document, table->name, where, &object));
  RD_FREE unsigned char *made = NULL;
  size_t nrows = 0;
  for (size_t i = 0; i < table->ncolumns; i++) {
    const struct rd_column *column = &table->columns[i];
    struct json_object *cells;
    if (column->is_optional && rd_json_member (object, column->name) == NULL)
      continue;
    RD_TRY (rd_json_array (object, column->name, where, &cells));
    size_t ncells = json_object_array_length (cells);
    if (i == 0) {
      nrows = ncells;
      made = rd_calloc (nrows + 1, table->row_nbytes);
      if (made == NULL)
        return rd_fail_memory (nrows * table->row_nbytes);
    }
    if (ncells != nrows)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: %s has %zu entries, %s has %zu",
                      where, column->name, ncells, table->columns[0].name,
                      nrows);
    for (size_t row = 0; row < nrows; row++)
      RD_TRY (read_cell (reading, table, column, row,
                         json_object_array_get_idx (cells, row),
                         made + row * table->row_nbytes + column->offset));
  }
  for (size_t row = 0; row < nrows; row++)
    RD_TRY (add_row (reading, kind, made + row * table->row_nbytes));
  *rows = RD_STEAL (made);
  *n = nrows;
  return RADIO_OK;
}

static enum radio_status
read_info (const struct reading *reading, struct radio_profile_info *info)
{
  const char *where = reading->where;
  struct json_object *object;
  RD_TRY (rd_json_object (reading->document, "info", where, &object));
  RD_TRY (read_text (reading, object, "title", &info->title));
  RD_TRY (read_text (reading, object, "program", &info->program));
  RD_TRY (read_text (reading, object, "clock", &info->clock));

  const char *parts;
  unsigned word = 0;
  RD_TRY (rd_json_string (object, "parts", where, &parts));
  while (word <= RADIO_PARTS_RANKS
         && strcmp (parts, rd_parts_words[word]) != 0)
    word++;
  if (word > RADIO_PARTS_RANKS)
    return rd_json_not (rd_json_member (object, "parts"), "parts",
                        "\"none\", \"runs\" or \"ranks\"", where);
  info->parts = (enum radio_profile_parts) word;

  struct json_object *cost = rd_json_member (object, "scope_cost_ns");
  if (!json_object_is_type (cost, json_type_double)
      && !json_object_is_type (cost, json_type_int))
    return rd_json_not (cost, "scope_cost_ns", "a number", where);
  info->scope_cost_ns = json_object_get_double (cost);
  if (!(info->scope_cost_ns >= 0 && info->scope_cost_ns < 1e9))
    return rd_json_not (cost, "scope_cost_ns", "a number of 0 to 1e9", where);

  for (size_t i = 0; i < rd_info_table.ncolumns; i++) {
    const struct rd_column *column = &rd_info_table.columns[i];
    struct json_object *value = rd_json_member (object, column->name);
    uint64_t number;
    if (value == NULL && column->is_optional)
      continue;
    if (value == NULL)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: %s.%s is missing", where,
                      rd_info_table.name, column->name);
    RD_TRY (rd_json_u64 (value, column->name, where, &number));
    store_number (column, number, (unsigned char *) info + column->offset);
  }
  return RADIO_OK;
}

static enum radio_status
read_all (struct reading *reading)
{
  const char *where = reading->where;
  int64_t version;
  RD_TRY (rd_json_int (reading->document, "version", where, 1, INT64_MAX,
                       &version));
  if (version > RD_JSON_VERSION)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: a profile of version %" PRId64 ", made by a newer"
                    " radio; this one reads version %d",
                    where, version, RD_JSON_VERSION);
  if (rd_json_member (reading->document, "nodes") == NULL)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: nodes is missing", where);

  struct json_object *list;
  RD_TRY (rd_json_array (reading->document, "strings", where, &list));
  size_t n = json_object_array_length (list);
  reading->strings = rd_calloc (n + 1, sizeof (char *));
  if (reading->strings == NULL)
    return rd_fail_memory (n * sizeof (char *));
  for (size_t i = 0; i < n; i++)
    RD_TRY (rd_json_text (json_object_array_get_idx (list, i), "a string",
                          where, &reading->strings[i]));
  reading->nstrings = n;

  RD_TRY (read_info (reading, &reading->profile->info));

  for (unsigned i = 0; i < LANES; i++) {
    RD_FREE void *rows = NULL;
    RD_TRY (read_table (reading, (enum table) i, &rows, &n));
  }
  RD_FREE void *lanes = NULL;
  RD_TRY (read_table (reading, LANES, &lanes, &n));
  RD_TRY (rd_read_samples (reading->document, where, reading->profile));
  RD_TRY (rd_read_spans (reading->document, lanes, n, where,
                         reading->profile));
  RD_TRY (rd_read_tiles (reading->document, where, reading->profile));
  return rd_read_starved (reading->document, where, reading->profile);
}

/* The bytes of data that a page says it has, or 0. */
static uint64_t
data_nbytes (const char *page, size_t nbytes)
{
  static const char key[] = " data-nbytes=\"";
  const char *at = memmem (page, nbytes, key, strlen (key));
  uint64_t number = 0;
  if (at)
    for (at += strlen (key); at < page + nbytes && *at >= '0' && *at <= '9';
         at++)
      number = number * 10 + (uint64_t) (*at - '0');
  return number;
}

/* A document that ends too early; page: the bytes of the file before the
 * document. */
static enum radio_status
fail_cut (const char *page, size_t page_nbytes, size_t nbytes,
          const char *where)
{
  uint64_t all = data_nbytes (page, page_nbytes);
  if (all > nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: cut short, %s of the %s of its "
                    "data are missing; copy or write it again", where,
                    rd_format_nbytes (all - nbytes).text,
                    rd_format_nbytes (all).text);
  return rd_fail (RADIO_ERROR_FORMAT, "%s: cut short after %zu bytes of data; "
                  "copy or write it again", where, nbytes);
}

/* True if a document that rd_json_parse refused ended too early, which its
 * message says at its end. */
static bool
is_cut (void)
{
  static const char end[] = ": unexpected end of data";
  const char *message = radio_error_message ();
  size_t n = strlen (message);
  return n >= strlen (end) && strcmp (message + n - strlen (end), end) == 0;
}

enum radio_status
rd_profile_parse (const char *text, size_t nbytes, const char *where,
                  struct radio_profile **profile)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;

  /* Within a page, the document stands in an element of its own. */
  const char *json = memmem (text, nbytes, RD_JSON_OPENING,
                             strlen (RD_JSON_OPENING));
  size_t json_nbytes = nbytes, page_nbytes = 0;
  if (json == NULL) {
    json = text;
  }
  else {
    json += strlen (RD_JSON_OPENING);
    page_nbytes = (size_t) (json - text);
    json_nbytes -= page_nbytes;
    const char *end = memchr (json, '<', json_nbytes);
    if (end != NULL)
      json_nbytes = (size_t) (end - json);
  }

  /* The parser's message helps only where a profile was meant. */
  const char *key = "\"format\": \"" RD_JSON_FORMAT "\"";
  enum radio_status status = rd_json_parse (json, json_nbytes, where,
                                            &document);
  if (status == RADIO_ERROR_MEMORY || status == RADIO_ERROR_LIMIT)
    return status;
  if (status != RADIO_OK
      && (page_nbytes > 0
          || memmem (json, json_nbytes < 256 ? json_nbytes : 256, key,
                     strlen (key)) != NULL))
    return is_cut ()
             ? fail_cut (text, page_nbytes, json_nbytes, where) : status;
  struct json_object *format
    = json_object_is_type (document, json_type_object)
        ? rd_json_member (document, "format") : NULL;
  if (!json_object_is_type (format, json_type_string)
      || strcmp (json_object_get_string (format), RD_JSON_FORMAT) != 0)
    return rd_read_foreign (text, nbytes, document, where);

  RD_CLEANUP (free_reading)
  struct reading reading = { .document = document, .where = where };
  RD_TRY (rd_profile_new (&reading.profile));
  RD_TRY (read_all (&reading));
  status = rd_profile_finalize (reading.profile);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s", where);
  *profile = RD_STEAL (reading.profile);
  return RADIO_OK;
}
