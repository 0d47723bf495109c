/* SPDX-License-Identifier: MIT */
/* Applying changes to a frame in memory, by the ids of its rows. */
#include <config.h>

#include <inttypes.h>

#include "src/base/checked.h"
#include "src/table/edit.h"

void
rd_ids_release (struct rd_ids *ids)
{
  if (!ids || --ids->nrefs > 0)
    return;
  radio_strings_free (&ids->strings);
  rd_free (ids);
}

void
rd_change_free (struct rd_change *change)
{
  rd_ids_release (change->ids);
  rd_column_free (change->cells);
  json_object_put (change->attributes);
  rd_free (change->column);
  rd_free (change->new_name);
}

struct applying {
  struct rd_data *data;
  struct rd_applied *applied;
  const char *where;
  bool is_merge;
  struct rd_lookup lookup;            /* of the ids, if it has keys */
  const struct rd_ids *found;         /* whose rows are known; NULL: none */
  size_t *rows;                       /* of each of these, or RD_NOT_THERE */
};

static void
forget_rows (struct applying *applying)
{
  rd_lookup_free (&applying->lookup);
  rd_free (RD_STEAL (applying->rows));
  applying->found = NULL;
}

static enum radio_status
need_lookup (struct applying *applying)
{
  return applying->lookup.keys
         ? RADIO_OK
         : rd_lookup_strings (&applying->data->ids, &applying->lookup);
}

/* Finds the rows of ids, unless they are those of the change before. */
static enum radio_status
find_rows (struct applying *applying, const struct rd_ids *ids)
{
  if (applying->found == ids)
    return RADIO_OK;
  size_t n = ids->strings.n;
  RD_TRY (need_lookup (applying));
  RD_FREE size_t *rows = rd_malloc ((n + 1) * sizeof *rows);
  if (!rows)
    return rd_fail_memory ((n + 1) * sizeof *rows);
  for (size_t i = 0; i < n; i++)
    rows[i] = rd_lookup_find (&applying->lookup, rd_string (&ids->strings, i));
  rd_free (applying->rows);
  applying->rows = RD_STEAL (rows);
  applying->found = ids;
  return RADIO_OK;
}

/* Replaces the rows by n of them, by their numbers, or new ones with ids of
 * their own. */
static enum radio_status
take_rows (struct applying *applying, const size_t *rows, size_t n,
           struct radio_strings *ids)
{
  struct rd_data *data = applying->data;
  for (size_t i = 0; i < data->n; i++) {
    struct rd_column *taken;
    RD_TRY (rd_column_take (data->columns[i], rows, n, &taken));
    rd_column_free (data->columns[i]);
    data->columns[i] = taken;
  }
  /* The lookup points into the ids. */
  forget_rows (applying);
  radio_strings_free (&data->ids);
  data->ids = *ids;
  *ids = (struct radio_strings) { 0 };
  applying->applied->is_changed = true;
  return RADIO_OK;
}

static enum radio_status
add_rows (struct applying *applying, const struct rd_change *change)
{
  struct rd_data *data = applying->data;
  const struct radio_strings *added = &change->ids->strings;
  size_t nmost = data->ids.n + added->n, n = 0;
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  RD_STRINGS_FREE struct radio_strings ids = { 0 };
  RD_TRY (need_lookup (applying));
  RD_FREE size_t *rows = rd_malloc ((nmost + 1) * sizeof *rows);
  if (!rows)
    return rd_fail_memory ((nmost + 1) * sizeof *rows);
  for (; n < data->ids.n; n++) {
    rows[n] = n;
    RD_TRY (rd_text_list_add (&texts, rd_string (&data->ids, n)));
  }
  for (size_t i = 0; i < added->n; i++) {
    struct rd_slice id = rd_string (added, i);
    if (rd_lookup_find (&applying->lookup, id) != RD_NOT_THERE)
      continue;
    rows[n++] = RD_NOT_THERE;
    RD_TRY (rd_text_list_add (&texts, id));
  }
  if (n == data->ids.n)
    return RADIO_OK;
  if (n > RD_TABLE_MAX_ROWS)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: %zu rows; a table has at most %zu",
                    applying->where, n, RD_TABLE_MAX_ROWS);
  applying->applied->nadded += n - data->ids.n;
  RD_TRY (rd_text_list_end (&texts, &ids));
  return take_rows (applying, rows, n, &ids);
}

static enum radio_status
remove_rows (struct applying *applying, const struct rd_change *change)
{
  struct rd_data *data = applying->data;
  size_t n = 0;
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  RD_LOOKUP_SCOPE struct rd_lookup removed = { 0 };
  RD_STRINGS_FREE struct radio_strings ids = { 0 };
  RD_TRY (rd_lookup_strings (&change->ids->strings, &removed));
  RD_FREE size_t *rows = rd_malloc ((data->ids.n + 1) * sizeof *rows);
  if (!rows)
    return rd_fail_memory ((data->ids.n + 1) * sizeof *rows);
  for (size_t i = 0; i < data->ids.n; i++) {
    struct rd_slice id = rd_string (&data->ids, i);
    if (rd_lookup_find (&removed, id) != RD_NOT_THERE)
      continue;
    rows[n++] = i;
    RD_TRY (rd_text_list_add (&texts, id));
  }
  if (n == data->ids.n)
    return RADIO_OK;
  applying->applied->nremoved += data->ids.n - n;
  RD_TRY (rd_text_list_end (&texts, &ids));
  return take_rows (applying, rows, n, &ids);
}

/* A column of the type of others, in which all values are missing. */
static enum radio_status
new_missing (const struct rd_column *like, size_t n,
             struct rd_column **column)
{
  RD_FREE size_t *rows = rd_malloc ((n + 1) * sizeof *rows);
  if (!rows)
    return rd_fail_memory ((n + 1) * sizeof *rows);
  for (size_t i = 0; i < n; i++)
    rows[i] = RD_NOT_THERE;
  return rd_column_take (like, rows, n, column);
}

static bool
has_values (const struct rd_column *column)
{
  for (size_t i = 0; i < column->n; i++)
    if (rd_column_is_valid (column, i))
      return true;
  return false;
}

/* The column as it is before the cells are set, if it is new or has another
 * type than they. */
static enum radio_status
get_base (const struct applying *applying, const struct rd_change *change,
          size_t at, struct rd_column **base)
{
  const struct rd_data *data = applying->data;
  const struct rd_column *cells = change->cells;
  if (at == RD_NOT_THERE) {
    if (strcmp (cells->name, data->index_name) == 0)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: '%s' is the column of ids",
                      applying->where, cells->name);
    if (data->n == RADIO_TABLE_MAX_COLUMNS)
      return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %d columns",
                      applying->where, RADIO_TABLE_MAX_COLUMNS);
    return new_missing (cells, data->ids.n, base);
  }
  const struct rd_column *column = data->columns[at];
  if (change->change_type || !has_values (column))
    return rd_column_convert (column, cells->type, base);
  return rd_fail (RADIO_ERROR_EXISTS, "%s: the column '%s' is of type %s, not "
                  "%s", applying->where, cells->name,
                  radio_column_type_name (column->type),
                  radio_column_type_name (cells->type));
}

/* Makes the column's attributes, with members replaced or removed. */
static enum radio_status
set_attributes (struct rd_column *column, struct json_object *members)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *attributes = NULL;
  if (!members)
    return RADIO_OK;
  if (!column->attributes)
    attributes = json_object_new_object ();
  else if (json_object_deep_copy (column->attributes, &attributes, NULL) != 0)
    return rd_fail_memory (0);
  if (!attributes)
    return rd_fail_memory (0);
  json_object_object_foreach (members, name, value) {
    if (!value)
      json_object_object_del (attributes, name);
    else if (json_object_object_add (attributes, name, json_object_get (value))
             != 0) {
      json_object_put (value);
      return rd_fail_memory (0);
    }
  }
  json_object_put (column->attributes);
  column->attributes = RD_STEAL (attributes);
  return RADIO_OK;
}

/* Counts values of a column that its successor does not have. */
static uint64_t
count_lost (const struct rd_column *column, const struct rd_column *successor)
{
  uint64_t n = 0;
  for (size_t i = 0; i < column->n; i++)
    n += rd_column_is_valid (column, i) && !rd_column_is_valid (successor, i);
  return n;
}

static enum radio_status
set_cells (struct applying *applying, const struct rd_change *change)
{
  struct rd_data *data = applying->data;
  const struct rd_column *cells = change->cells;
  RD_CLEANUP (rd_cleanup_column) struct rd_column *converted = NULL;
  RD_CLEANUP (rd_cleanup_column) struct rd_column *set = NULL;
  size_t at = rd_data_find (data, cells->name), n = data->ids.n;
  const struct rd_column *base = NULL;
  RD_TRY (find_rows (applying, change->ids));
  if (at != RD_NOT_THERE && data->columns[at]->type == cells->type)
    base = data->columns[at];
  else {
    RD_TRY (get_base (applying, change, at, &converted));
    base = converted;
  }
  RD_FREE size_t *from = rd_malloc ((n + 1) * sizeof *from);
  if (!from)
    return rd_fail_memory ((n + 1) * sizeof *from);
  for (size_t i = 0; i < n; i++)
    from[i] = RD_NOT_THERE;
  for (size_t i = 0; i < change->ids->strings.n; i++) {
    size_t row = applying->rows[i];
    bool is_kept = row == RD_NOT_THERE
                   || (change->keep_existing
                       && rd_column_is_valid (base, row));
    if (!is_kept)
      from[row] = i;
  }
  RD_TRY (rd_column_set (base, cells, from, &set));
  RD_TRY (set_attributes (set, change->attributes));
  if (at != RD_NOT_THERE && rd_column_equals (set, data->columns[at]))
    return RADIO_OK;
  applying->applied->is_changed = true;
  if (at == RD_NOT_THERE)
    return rd_data_add (data, RD_STEAL (set));
  uint64_t nlost = count_lost (data->columns[at], set);
  if (nlost > 0 && change->refuse_loss)
    return rd_fail (RADIO_ERROR_EXISTS, "%s: %" PRIu64 " value%s of the column "
                    "'%s' would be lost", applying->where, nlost,
                    nlost == 1 ? "" : "s", cells->name);
  applying->applied->nlost += nlost;
  rd_column_free (data->columns[at]);
  data->columns[at] = RD_STEAL (set);
  return RADIO_OK;
}

static enum radio_status
fail_no_column (const struct applying *applying, const char *name)
{
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no column '%s'",
                  applying->where, name);
}

static enum radio_status
drop_column (struct applying *applying, const struct rd_change *change)
{
  struct rd_data *data = applying->data;
  size_t at = rd_data_find (data, change->column);
  if (at == RD_NOT_THERE)
    return applying->is_merge ? RADIO_OK
                              : fail_no_column (applying, change->column);
  rd_column_free (data->columns[at]);
  memmove (data->columns + at, data->columns + at + 1,
           (data->n - at - 1) * sizeof *data->columns);
  data->n--;
  applying->applied->is_changed = true;
  return RADIO_OK;
}

static enum radio_status
rename_column (struct applying *applying, const struct rd_change *change)
{
  struct rd_data *data = applying->data;
  size_t at = rd_data_find (data, change->column);
  bool is_taken = rd_data_find (data, change->new_name) != RD_NOT_THERE;
  if (at == RD_NOT_THERE)
    return applying->is_merge && is_taken
           ? RADIO_OK : fail_no_column (applying, change->column);
  if (strcmp (change->column, change->new_name) == 0)
    return RADIO_OK;
  if (is_taken || strcmp (change->new_name, data->index_name) == 0)
    return rd_fail (RADIO_ERROR_EXISTS, "%s: there is a column '%s' already",
                    applying->where, change->new_name);
  char *name = rd_strdup (change->new_name);
  if (!name)
    return rd_fail_memory (strlen (change->new_name) + 1);
  rd_free (data->columns[at]->name);
  data->columns[at]->name = name;
  applying->applied->is_changed = true;
  return RADIO_OK;
}

enum radio_status
rd_changes_apply (const struct rd_change *changes, size_t n, bool is_merge,
                  const char *where, struct rd_data *data,
                  struct rd_applied *applied)
{
  static enum radio_status (*const fns[]) (struct applying *applying,
                                           const struct rd_change *change) = {
    [RD_CHANGE_ADD_ROWS] = add_rows,
    [RD_CHANGE_REMOVE_ROWS] = remove_rows,
    [RD_CHANGE_SET] = set_cells,
    [RD_CHANGE_DROP] = drop_column,
    [RD_CHANGE_RENAME] = rename_column,
  };
  RD_CLEANUP (forget_rows) struct applying applying = {
    .data = data, .applied = applied, .where = where, .is_merge = is_merge,
  };
  *applied = (struct rd_applied) { 0 };
  for (size_t i = 0; i < n; i++)
    RD_TRY (fns[changes[i].kind] (&applying, &changes[i]));
  return RADIO_OK;
}
