/* SPDX-License-Identifier: MIT */
/* Reads a JSON document into a profile: table after table into the builder,
 * which checks consistency.  Findings are not read: the model computes
 * them again. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "profiler/export/read.h"

/*------------------------------------------------------------------------
 * Columns of equal length into rows of structs
 *----------------------------------------------------------------------*/

/* Where a value stands, for messages. */
struct cell {
  const char *where;
  const struct rd_table *table;
  const struct rd_column *column;
  size_t row;
};

static enum radio_status
fail_cell (const struct cell *cell, struct json_object *value,
           const char *wanted)
{
  char what[128];
  snprintf (what, sizeof what, "%s.%s[%zu]", cell->table->name,
            cell->column->name, cell->row);
  return rd_json_not (value, what, wanted, cell->where);
}

static bool
get_number (struct json_object *value, uint64_t most, uint64_t *number)
{
  if (!json_object_is_type (value, json_type_int)
      || json_object_get_int64 (value) < 0)
    return false;
  *number = json_object_get_uint64 (value);
  return *number <= most;
}

static uint64_t
largest (const struct rd_column *column)
{
  if (column->most > 0)
    return column->most;
  switch (column->kind) {
  case RD_COLUMN_BOOL: return 1;
  case RD_COLUMN_U32: return UINT32_MAX;
  case RD_COLUMN_REF:
  case RD_COLUMN_REF32: return UINT32_MAX - 1;
  default: return UINT64_MAX;
  }
}

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

static bool
is_reference (const struct rd_column *column)
{
  return column->kind == RD_COLUMN_REF || column->kind == RD_COLUMN_REF32;
}

static enum radio_status
read_number (const struct cell *cell, struct json_object *value, void *at)
{
  uint64_t number;
  if (is_reference (cell->column)
      && json_object_is_type (value, json_type_int)
      && json_object_get_int64 (value) == -1) {
    store_number (cell->column, UINT64_MAX, at);
    return RADIO_OK;
  }
  if (!get_number (value, largest (cell->column), &number)) {
    char wanted[64];
    snprintf (wanted, sizeof wanted, "a whole number of %d to %" PRIu64,
              is_reference (cell->column) ? -1 : 0, largest (cell->column));
    return fail_cell (cell, value, wanted);
  }
  store_number (cell->column, number, at);
  return RADIO_OK;
}

static enum radio_status
read_string (const struct cell *cell, struct json_object *value,
             const struct rd_read_strings *strings, const char **text)
{
  uint64_t index;
  if (!get_number (value, UINT32_MAX, &index) || index >= strings->n)
    return fail_cell (cell, value, "one of the strings' indexes");
  *text = strings->texts[index];
  return RADIO_OK;
}

static enum radio_status
read_cell (const struct cell *cell, struct json_object *value,
           const struct rd_read_strings *strings, unsigned char *row)
{
  void *at = row + cell->column->offset;
  const char *text;
  if (cell->column->kind == RD_COLUMN_TEXT)
    RD_TRY (rd_json_text (value, cell->column->name, cell->where, &text));
  else if (cell->column->kind == RD_COLUMN_STRING)
    RD_TRY (read_string (cell, value, strings, &text));
  else
    return read_number (cell, value, at);
  /* Some members are char *, some const char *. */
  memcpy (at, &text, sizeof text);
  return RADIO_OK;
}

/* A column; its length must be that of the table's first one. */
static enum radio_status
get_column (struct json_object *object, const struct rd_table *table,
            size_t i, const char *where, struct json_object **column)
{
  struct json_object *first;
  RD_TRY (rd_json_array (object, table->columns[0].name, where, &first));
  RD_TRY (rd_json_array (object, table->columns[i].name, where, column));
  if (json_object_array_length (*column) != json_object_array_length (first))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s has %zu entries, %s has %zu",
                    where, table->columns[i].name,
                    json_object_array_length (*column),
                    table->columns[0].name,
                    json_object_array_length (first));
  return RADIO_OK;
}

enum radio_status
rd_read_table (struct json_object *document, const struct rd_table *table,
               const struct rd_read_strings *strings, const char *where,
               void **rows, size_t *n)
{
  struct json_object *object, *column;
  *rows = NULL;
  *n = 0;
  if (rd_json_member (document, table->name) == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (document, table->name, where, &object));
  RD_TRY (get_column (object, table, 0, where, &column));
  size_t nrows = json_object_array_length (column);
  RD_FREE_PLAIN unsigned char *made = calloc (nrows + 1, table->row_nbytes);
  if (made == NULL)
    return rd_fail_memory (nrows * table->row_nbytes);
  for (size_t i = 0; i < table->ncolumns; i++) {
    struct cell cell = { where, table, &table->columns[i], 0 };
    RD_TRY (get_column (object, table, i, where, &column));
    size_t ncells = json_object_array_length (column);
    for (cell.row = 0; cell.row < ncells; cell.row++)
      RD_TRY (read_cell (&cell, json_object_array_get_idx (column, cell.row),
                         strings,
                         made + cell.row * cell.table->row_nbytes));
  }
  *rows = RD_STEAL (made);
  *n = nrows;
  return RADIO_OK;
}

enum radio_status
rd_read_members (struct json_object *object, const struct rd_table *table,
                 const char *where, void *row)
{
  for (size_t i = 0; i < table->ncolumns; i++) {
    const struct rd_column *column = &table->columns[i];
    struct json_object *value = rd_json_member (object, column->name);
    uint64_t number;
    if (value == NULL)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: %s.%s is missing", where,
                      table->name, column->name);
    RD_TRY (rd_json_u64 (value, column->name, where, &number));
    store_number (column, number, (unsigned char *) row + column->offset);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The document
 *----------------------------------------------------------------------*/

struct reading {
  struct json_object *document;
  const char *where;
  struct rd_read_strings strings;
  struct radio_profile *profile;
};

static void
free_reading (struct reading *reading)
{
  free (reading->strings.texts);
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

/*------------------------------------------------------------------------
 * Tables
 *----------------------------------------------------------------------*/

typedef enum radio_status add_row_fn (struct reading *reading,
                                      const void *row);

static enum radio_status
add_fact (struct reading *reading, const void *row)
{
  const struct rd_fact *fact = row;
  return rd_profile_add_fact (reading->profile, fact->key, fact->value,
                              fact->is_name);
}

static enum radio_status
add_part (struct reading *reading, const void *row)
{
  return rd_profile_add_part (reading->profile, row, NULL);
}

/* Equal names would become one, and the numbers that follow be wrong. */
static enum radio_status
check_index (const struct reading *reading, const char *what,
             const struct rd_counter *counter, size_t index, size_t before)
{
  if (index == before)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: two %s are named \"%.40s\"",
                  reading->where, what, counter->name);
}

static enum radio_status
add_counter (struct reading *reading, const void *row)
{
  const struct rd_counter *counter = row;
  size_t before = reading->profile->counters.n;
  uint32_t index;
  RD_TRY (rd_profile_add_counter (reading->profile, counter->name,
                                  counter->unit, &index));
  return check_index (reading, "counters", counter, index, before);
}

static enum radio_status
add_gauge (struct reading *reading, const void *row)
{
  const struct rd_counter *gauge = row;
  size_t before = reading->profile->gauges.n;
  uint32_t index;
  RD_TRY (rd_profile_add_gauge (reading->profile, gauge->name, gauge->unit,
                                &index));
  return check_index (reading, "gauges", gauge, index, before);
}

static enum radio_status
add_node (struct reading *reading, const void *row)
{
  const struct radio_profile_node *node = row;
  size_t n = reading->profile->nodes.n;
  if (node->parent != RADIO_NO_PARENT && node->parent >= n)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: the parent of node %zu is node %zu, which does not"
                    " stand before it", reading->where, n, node->parent);
  return rd_profile_add_node (reading->profile, node, NULL);
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

static enum radio_status
add_value (struct reading *reading, const void *row)
{
  const struct rd_value_row *value = row;
  struct radio_profile *profile = reading->profile;
  RD_TRY (check_row (reading, "values", "node", value->node,
                     profile->nodes.n));
  RD_TRY (check_row (reading, "values", "counter", value->counter,
                     profile->counters.n));
  return rd_profile_add_value (profile, value->node, value->counter,
                               value->value);
}

static enum radio_status
add_bucket (struct reading *reading, const void *row)
{
  const struct rd_bucket_row *bucket = row;
  struct radio_profile *profile = reading->profile;
  RD_TRY (check_row (reading, "histograms", "node", bucket->node,
                     profile->nodes.n));
  profile->nodes.at[bucket->node].histogram[bucket->bucket] = bucket->count;
  return RADIO_OK;
}

static enum radio_status
add_share (struct reading *reading, const void *row)
{
  const struct rd_share_row *share = row;
  struct radio_profile *profile = reading->profile;
  RD_TRY (check_row (reading, "shares", "node", share->node,
                     profile->nodes.n));
  RD_TRY (check_row (reading, "shares", "part", share->part,
                     profile->parts.n));
  return rd_profile_add_share (profile, share->node, share->part,
                               &share->share);
}

static enum radio_status
add_lane (struct reading *reading, const void *row)
{
  const struct rd_lane_row *lane = row;
  RD_TRY (check_row (reading, "lanes", "part", lane->lane.part,
                     reading->profile->parts.n));
  return rd_profile_add_lane (reading->profile, &lane->lane, NULL);
}

static enum radio_status
add_note (struct reading *reading, const void *row)
{
  return rd_profile_add_note (reading->profile, row);
}

/* Read a table and add its rows; they stay with the caller if rows is not
 * NULL. */
static enum radio_status
take_table (struct reading *reading, const struct rd_table *table,
            add_row_fn *add_row, void **rows, size_t *n)
{
  RD_FREE_PLAIN void *own = NULL;
  size_t nrows;
  RD_TRY (rd_read_table (reading->document, table, &reading->strings,
                         reading->where, &own, &nrows));
  for (size_t i = 0; i < nrows; i++)
    RD_TRY (add_row (reading, (unsigned char *) own + i * table->row_nbytes));
  if (rows) {
    *rows = RD_STEAL (own);
    *n = nrows;
  }
  return RADIO_OK;
}

static enum radio_status
read_all (struct reading *reading)
{
  RD_FREE_PLAIN void *lanes = NULL;
  size_t nlanes = 0;

  /* Checks the version of the document. */
  int64_t version;
  RD_TRY (rd_json_int (reading->document, "version", reading->where, 1,
                       INT64_MAX, &version));
  if (version > RD_JSON_VERSION)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: is a profile of version %" PRId64 ", this radio"
                    " reads version %d: a newer radio wrote it",
                    reading->where, version, RD_JSON_VERSION);

  if (rd_json_member (reading->document, "nodes") == NULL)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: nodes is missing",
                    reading->where);

  struct json_object *list;
  RD_TRY (rd_json_array (reading->document, "strings", reading->where,
                         &list));
  size_t n = json_object_array_length (list);
  reading->strings.texts = calloc (n + 1, sizeof (char *));
  if (reading->strings.texts == NULL)
    return rd_fail_memory (n * sizeof (char *));
  for (size_t i = 0; i < n; i++)
    RD_TRY (rd_json_text (json_object_array_get_idx (list, i), "a string",
                          reading->where, &reading->strings.texts[i]));
  reading->strings.n = n;

  struct radio_profile_info *info = &reading->profile->info;
  struct json_object *object;
  const char *parts;
  RD_TRY (rd_json_object (reading->document, "info", reading->where,
                          &object));
  RD_TRY (read_text (reading, object, "title", &info->title));
  RD_TRY (read_text (reading, object, "program", &info->program));
  RD_TRY (read_text (reading, object, "clock", &info->clock));
  RD_TRY (rd_json_string (object, "parts", reading->where, &parts));
  if (!rd_parts_of_word (parts, &info->parts))
    return rd_json_not (rd_json_member (object, "parts"), "parts",
                        "\"none\", \"runs\" or \"ranks\"", reading->where);

  double *cost = &info->scope_cost_ns;
  struct json_object *value = rd_json_member (object, "scope_cost_ns");
  if (!json_object_is_type (value, json_type_double)
      && !json_object_is_type (value, json_type_int))
    return rd_json_not (value, "scope_cost_ns", "a number", reading->where);
  *cost = json_object_get_double (value);
  if (!(*cost >= 0 && *cost < 1e9))
    return rd_json_not (value, "scope_cost_ns", "a number of 0 to 1e9",
                        reading->where);

  RD_TRY (rd_read_members (object, &rd_info_table, reading->where, info));

  static const struct {
    const struct rd_table *table;
    add_row_fn *add_row;
  } tables[] = {
    { &rd_facts_table, add_fact },
    { &rd_parts_table, add_part },
    { &rd_counters_table, add_counter },
    { &rd_gauges_table, add_gauge },
    { &rd_nodes_table, add_node },
    { &rd_values_table, add_value },
    { &rd_histograms_table, add_bucket },
    { &rd_shares_table, add_share },
    { &rd_notes_table, add_note },
  };
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
    RD_TRY (take_table (reading, tables[i].table, tables[i].add_row, NULL,
                        NULL));

  RD_TRY (take_table (reading, &rd_lanes_table, add_lane, &lanes, &nlanes));
  RD_TRY (rd_read_samples (reading->document, reading->where,
                           reading->profile));
  RD_TRY (rd_read_spans (reading->document, lanes, nlanes, reading->where,
                         reading->profile));
  return rd_read_tiles (reading->document, reading->where, reading->profile);
}

/* Finds the document within a page; other bytes are the document. */
static void
find_document (const char **text, size_t *nbytes)
{
  const char *opening = memmem (*text, *nbytes, RD_JSON_OPENING,
                                strlen (RD_JSON_OPENING));
  if (opening == NULL)
    return;
  const char *begin = opening + strlen (RD_JSON_OPENING);
  size_t rest = *nbytes - (size_t) (begin - *text);
  const char *end = memchr (begin, '<', rest);
  *text = begin;
  *nbytes = end ? (size_t) (end - begin) : rest;
}

static bool
is_profile (struct json_object *document)
{
  struct json_object *format
    = json_object_is_type (document, json_type_object)
        ? rd_json_member (document, "format") : NULL;
  return json_object_is_type (format, json_type_string)
         && strcmp (json_object_get_string (format), RD_JSON_FORMAT) == 0;
}

/* True if bytes that are no JSON were meant to be a profile: then the
 * parser's message helps. */
static bool
looks_like_profile (const char *text, size_t nbytes)
{
  const char *key = "\"format\": \"" RD_JSON_FORMAT "\"";
  return memmem (text, nbytes < 256 ? nbytes : 256, key, strlen (key));
}

enum radio_status
rd_profile_parse (const char *text, size_t nbytes, const char *where,
                  struct radio_profile **profile)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  const char *json = text;
  size_t json_nbytes = nbytes;
  find_document (&json, &json_nbytes);
  enum radio_status status = rd_json_parse (json, json_nbytes, where,
                                            &document);
  if (status == RADIO_ERROR_MEMORY || status == RADIO_ERROR_LIMIT
      || (status != RADIO_OK && looks_like_profile (json, json_nbytes)))
    return status;
  if (!is_profile (document))
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
