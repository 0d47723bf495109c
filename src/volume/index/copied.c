/* SPDX-License-Identifier: MIT */
/* Rows of volumes that were copied: the user's columns go with them.  The pairs
 * of paths are sorted by the two collections; those of the same two are one
 * edit, and so are all subjects. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <radio/index.h>

#include "src/array/array.h"
#include "src/base/checked.h"
#include "src/base/structs.h"
#include "src/volume/index/rows.h"
#include "profiler/counters.h"

/* A volume, before and after. */
struct pair {
  const char *from, *to;
};

/* A table of the source; NULL if there is no such table. */
struct opened {
  char *path;
  struct radio_table *table;
};

struct copying {
  struct radio_store *from, *to;
  struct opened *opened;      /* those that rows are copied from */
  size_t nopened;
  const struct radio_index_copies_options *options;
  bool blanks;                /* missing values replace others, too */
  bool blanks_all;            /* as do those of columns and rows that `from'
                                 has not */
  const struct rd_lookup *known;      /* subjects that `to' had before */
  bool only_changes;          /* what is the same in the source's table as it
                                 was before is left */
  struct radio_table *const *read;    /* tables as they were before */
  size_t nread;
  struct radio_table *before;         /* of these the source's; NULL: none */
  const struct rd_lookup *before_ids; /* its rows */
  char clash[300];            /* the first column that was left out; "": none */
};

/* Rows of one table that become rows of another. */
struct transfer {
  size_t n;
  size_t *rows;               /* in the table of the source, or RD_NOT_THERE */
  struct rd_slice *keys;      /* ids there, */
  struct rd_slice *ids;       /* and in the other one */
};

/* A column's values in memory. */
struct values {
  struct radio_strings text;
  unsigned char *numbers;
  bool *valid;
};

static void
free_values (struct values *values)
{
  radio_strings_free (&values->text);
  rd_free (values->numbers);
  rd_free (values->valid);
}

static enum radio_status
read_values (struct radio_table *table, size_t number, size_t nrows,
             const struct radio_column_info *info, struct values *values)
{
  values->valid = rd_calloc (nrows + 1, sizeof *values->valid);
  if (!values->valid)
    return rd_fail_memory (nrows + 1);
  if (info->type == RADIO_COLUMN_TEXT)
    return radio_table_read_text (table, number, &values->text, values->valid);
  size_t item = radio_dtype_nbytes (info->dtype);
  values->numbers = rd_calloc (nrows + 1, item);
  if (!values->numbers)
    return rd_fail_memory (rd_mul_sat (nrows, item));
  return radio_table_read (table, number, RADIO_STORED, values->numbers,
                           nrows * item, values->valid);
}

/* Finds a column of a table by its name; false if the table (may be NULL) lacks
 * it. */
static bool
find_column (const struct radio_table *table, const char *name, size_t *number,
             struct radio_column_info *info)
{
  return table
         && radio_table_find_column (table, name, number) == RADIO_OK
         && radio_table_get_column (table, *number, info) == RADIO_OK;
}

/* Sets which rows of a transfer have the value that they had before. */
static enum radio_status
find_unchanged (const struct copying *copying,
                const struct radio_column_info *info,
                const struct values *values, const struct transfer *transfer,
                bool *unchanged)
{
  RD_CLEANUP (free_values) struct values before = { 0 };
  struct radio_column_info column;
  struct radio_table_info all;
  size_t number;
  bool was_there = find_column (copying->before, info->name, &number, &column)
                   && column.type == info->type
                   && column.dtype == info->dtype;
  bool is_text = info->type == RADIO_COLUMN_TEXT;
  size_t item = is_text ? 0 : radio_dtype_nbytes (info->dtype);
  if (!copying->only_changes)
    return RADIO_OK;
  if (was_there) {
    radio_table_get_info (copying->before, &all);
    RD_TRY (read_values (copying->before, number, (size_t) all.row_count,
                         &column, &before));
  }
  for (size_t i = 0; i < transfer->n; i++) {
    size_t row = transfer->rows[i];
    size_t old = was_there ? rd_lookup_find (copying->before_ids,
                                             transfer->keys[i]) : RD_NOT_THERE;
    bool is_valid = row != RD_NOT_THERE && values->valid[row];
    bool was_valid = old != RD_NOT_THERE && before.valid[old];
    if (!is_valid || !was_valid)
      unchanged[i] = is_valid == was_valid;
    else if (is_text)
      unchanged[i] = rd_slice_equal (rd_string (&values->text, row),
                                     rd_string (&before.text, old));
    else
      unchanged[i] = memcmp (values->numbers + row * item,
                             before.numbers + old * item, item) == 0;
  }
  return RADIO_OK;
}

/* Adds to an edit the values that a column has in the rows of a transfer. */
static enum radio_status
set_column (const struct copying *copying, struct radio_table *table,
            size_t number, const struct radio_column_info *info,
            const struct transfer *transfer, struct radio_table_edit *edit)
{
  RD_CLEANUP (free_values) struct values values = { 0 };
  RD_STRINGS_FREE struct radio_strings categories = { 0 };
  RD_TEXT_LIST_SCOPE struct rd_text_list ids = { 0 };
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer numbers = { 0 };
  RD_FREE bool *valid = rd_calloc (transfer->n + 1, sizeof *valid);
  RD_FREE bool *unchanged = rd_calloc (transfer->n + 1, sizeof *unchanged);
  static const unsigned char zeros[16] = { 0 };
  struct radio_table_info all;
  bool is_text = info->type == RADIO_COLUMN_TEXT;
  size_t item = is_text ? 0 : radio_dtype_nbytes (info->dtype);
  if (!valid || !unchanged)
    return rd_fail_memory (2 * (transfer->n + 1));
  radio_table_get_info (table, &all);
  RD_TRY (read_values (table, number, (size_t) all.row_count, info, &values));
  RD_TRY (find_unchanged (copying, info, &values, transfer, unchanged));
  for (size_t i = 0; i < transfer->n; i++) {
    size_t row = transfer->rows[i];
    bool is_valid = row != RD_NOT_THERE && values.valid[row];
    if (unchanged[i] || (!is_valid && !copying->blanks))
      continue;
    valid[ids.n] = is_valid;
    RD_TRY (rd_text_list_add (&ids, transfer->ids[i]));
    if (is_text)
      RD_TRY (rd_text_list_add (&texts, is_valid
                                        ? rd_string (&values.text, row)
                                        : (struct rd_slice) { "", 0 }));
    else
      RD_TRY (rd_buffer_append (&numbers,
                                is_valid ? values.numbers + row * item : zeros,
                                item));
  }
  const struct radio_strings text = rd_list_strings (&texts);
  const struct radio_strings rows = rd_list_strings (&ids);
  if (copying->only_changes && rows.n == 0)
    return RADIO_OK;
  bool has_order = is_text && info->is_ordered;
  if (has_order)
    RD_TRY (radio_table_read_categories (table, number, &categories));
  const struct radio_cells cells = {
    .column = info->name,
    .type = info->type,
    .values = is_text ? NULL : numbers.data,
    .dtype = is_text ? RADIO_STORED : info->dtype,
    .text = is_text ? &text : NULL,
    .valid = valid,
    .attributes_json = info->attributes_json,
    .keep_existing = !copying->options->replace,
    .categories = has_order ? &categories : NULL,
  };
  return radio_table_edit_set (edit, &rows, &cells);
}

/* Adds to an edit of a table that cells of the rows of a transfer are missing,
 * of the columns that the other table has not, or with another type; *nset
 * counts these. */
static enum radio_status
blank_columns (const struct radio_table *table,
               const struct radio_table *other,
               const struct transfer *transfer, struct radio_table_edit *edit,
               size_t *nset)
{
  RD_TEXT_LIST_SCOPE struct rd_text_list ids = { 0 };
  struct radio_table_info info;
  for (size_t i = 0; i < transfer->n; i++)
    RD_TRY (rd_text_list_add (&ids, transfer->ids[i]));
  const struct radio_strings rows = rd_list_strings (&ids);
  radio_table_get_info (table, &info);
  for (size_t i = 0; i < info.column_count; i++) {
    struct radio_column_info column, copied;
    size_t number;
    RD_TRY (radio_table_get_column (table, i, &column));
    bool is_set = find_column (other, column.name, &number, &copied)
                  && copied.type == column.type;
    if (is_set || radio_index_is_derived (column.name)
        || strcmp (column.name, info.index_name) == 0)
      continue;
    const struct radio_cells cells = {
      .column = column.name, .type = column.type,
    };
    RD_TRY (radio_table_edit_set (edit, &rows, &cells));
    (*nset)++;
  }
  return RADIO_OK;
}

/* Finds whether a column of a table goes with the rows: one of the user's that
 * is wanted. */
static bool
is_own (const struct copying *copying, const struct radio_table_info *table,
        const char *column, bool has_derived)
{
  const struct radio_index_copies_options *options = copying->options;
  bool is_wanted = options->columns == NULL;
  for (size_t i = 0; i < options->ncolumns && !is_wanted; i++)
    is_wanted = strcmp (options->columns[i], column) == 0;
  return is_wanted && !(has_derived && radio_index_is_derived (column))
         && strcmp (column, table->index_name) != 0;
}

/* Reads the ids and the columns that go with the rows, at the same time. */
static enum radio_status
read_ahead (const struct copying *copying, struct radio_table *table,
            bool has_derived)
{
  struct radio_table_info info;
  size_t n = 0;
  radio_table_get_info (table, &info);
  RD_FREE size_t *numbers = rd_calloc (info.column_count + 1,
                                       sizeof *numbers);
  if (!numbers)
    return rd_fail_memory (rd_mul_sat (info.column_count, sizeof *numbers));
  for (size_t i = 0; i < info.column_count; i++) {
    struct radio_column_info column;
    RD_TRY (radio_table_get_column (table, i, &column));
    if (is_own (copying, &info, column.name, has_derived))
      numbers[n++] = i;
  }
  return radio_table_read_ahead (table, numbers, n);
}

/* Sets the user's columns of a table (NULL: none) in the table at to_path,
 * whose rows must exist. */
static enum radio_status
set_columns (struct copying *copying, struct radio_table *table,
             const char *to_path, bool has_derived,
             const struct transfer *transfer)
{
  RD_CLEANUP (rd_cleanup_table) struct radio_table *other = NULL;
  RD_CLEANUP (rd_cleanup_edit) struct radio_table_edit *edit = NULL;
  struct radio_table_info info = { 0 };
  size_t nset = 0;
  enum radio_status status = radio_table_open (copying->to, to_path, &other);
  if (status != RADIO_ERROR_NOT_FOUND)
    RD_TRY (status);
  if (table)
    radio_table_get_info (table, &info);
  RD_TRY (radio_table_edit_new (copying->to, to_path, &edit));
  if (copying->blanks_all && other)
    RD_TRY (blank_columns (other, table, transfer, edit, &nset));
  for (size_t i = 0; i < info.column_count; i++) {
    struct radio_column_info column, there;
    size_t number;
    RD_TRY (radio_table_get_column (table, i, &column));
    bool is_copied = is_own (copying, &info, column.name, has_derived);
    bool does_clash = is_copied
                      && find_column (other, column.name, &number, &there)
                      && there.type != column.type;
    if (does_clash && !copying->clash[0])
      snprintf (copying->clash, sizeof copying->clash, "%.100s: the column "
                "'%.100s', of another type there", to_path, column.name);
    if (!is_copied || does_clash)
      continue;
    RD_TRY (set_column (copying, table, i, &column, transfer, edit));
    nset++;
  }
  return nset > 0 ? radio_table_edit_commit (edit, NULL) : RADIO_OK;
}

/* Copies the rows of one table (NULL: none), whose ids are keys, to ids of
 * another. */
static enum radio_status
copy_rows_of (struct copying *copying, struct radio_table *table,
              const char *to_path, bool has_derived,
              const struct rd_slice *keys, const struct rd_slice *ids,
              size_t n)
{
  RD_STRINGS_FREE struct radio_strings all = { 0 };
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  RD_FREE size_t *rows = rd_calloc (n + 1, sizeof *rows);
  RD_FREE struct rd_slice *found = rd_calloc (2 * n + 1, sizeof *found);
  if (!rows || !found)
    return rd_fail_memory ((n + 1) * (sizeof *rows + 2 * sizeof *found));
  struct transfer transfer = { 0, rows, found + n, found };
  if (table) {
    RD_TRY (radio_table_read_ids (table, &all));
    RD_TRY (rd_lookup_strings (&all, &lookup));
  }
  for (size_t i = 0; i < n; i++) {
    size_t row = rd_lookup_find (&lookup, keys[i]);
    if (row == RD_NOT_THERE && !copying->blanks_all)
      continue;
    rows[transfer.n] = row;
    transfer.keys[transfer.n] = keys[i];
    found[transfer.n++] = ids[i];
  }
  return set_columns (copying, table, to_path, has_derived, &transfer);
}

static enum radio_status
copy_rows (struct copying *copying, const char *from_path, const char *to_path,
           bool has_derived, const struct rd_slice *keys,
           const struct rd_slice *ids, size_t n)
{
  size_t i = 0;
  while (strcmp (copying->opened[i].path, from_path) != 0)
    i++;
  struct radio_table *table = copying->opened[i].table;
  return table || copying->blanks_all
         ? copy_rows_of (copying, table, to_path, has_derived, keys, ids, n)
         : RADIO_OK;
}

/* The collection of a path, with its '/'. */
static struct rd_slice
folder_of (const char *path)
{
  return (struct rd_slice) { path, strcspn (path, "/") + 1 };
}

static int
compare_pairs (const void *a, const void *b)
{
  const struct pair *x = a, *y = b;
  int order = rd_slice_compare (folder_of (x->from), folder_of (y->from));
  if (order == 0)
    order = rd_slice_compare (folder_of (x->to), folder_of (y->to));
  return order != 0 ? order : strcmp (x->to, y->to);
}

static char *
table_path (const char *path)
{
  RD_FREE char *collection = rd_strndup (path, strcspn (path, "/"));
  return collection ? rd_key_join (RADIO_TABLE_VOLUMES, collection)
                    : (rd_fail_memory (strlen (path)), NULL);
}

/* Volumes of one collection each. */
struct group {
  size_t n;
  char *from, *to;            /* paths of the tables */
  struct rd_slice *keys;      /* of n old rows and n new ones */
  const char **paths;         /* of the old volumes */
};

static void
free_group (struct group *group)
{
  rd_free (group->from);
  rd_free (group->to);
  rd_free (group->keys);
  rd_free (group->paths);
}

static enum radio_status
make_group (const struct pair *pairs, size_t n, struct group *group)
{
  group->n = n;
  group->from = table_path (pairs[0].from);
  group->to = table_path (pairs[0].to);
  group->keys = rd_calloc (2 * n, sizeof *group->keys);
  group->paths = rd_calloc (n, sizeof *group->paths);
  if (!group->from || !group->to)
    return RADIO_ERROR_MEMORY;
  if (!group->keys || !group->paths)
    return rd_fail_memory (n * (2 * sizeof *group->keys
                                + sizeof *group->paths));
  for (size_t i = 0; i < n; i++) {
    group->paths[i] = pairs[i].from;
    group->keys[i] = (struct rd_slice) { pairs[i].from,
                                         strlen (pairs[i].from) };
    group->keys[n + i] = (struct rd_slice) { pairs[i].to,
                                             strlen (pairs[i].to) };
  }
  return RADIO_OK;
}

static enum radio_status
copy_group (struct copying *copying, const struct group *group)
{
  /* The cells were of the voxels that are replaced, in one store also those of
   * columns that the volume had not. */
  copying->blanks = copying->options->replace;
  copying->blanks_all = copying->blanks && copying->from == copying->to;
  enum radio_status status = copy_rows (copying, group->from, group->to, true,
                                        group->keys, group->keys + group->n,
                                        group->n);
  copying->blanks = copying->blanks_all = false;
  return status;
}

static struct rd_slice
subject_of (const char *path)
{
  const char *name = path + strcspn (path, "/") + 1, *session;
  size_t nsession;
  return (struct rd_slice) {
    name, rd_name_subject (name, &session, &nsession)
  };
}

static int
compare_subjects (const void *a, const void *b)
{
  const struct pair *x = a, *y = b;
  int order = rd_slice_compare (subject_of (x->to), subject_of (y->to));
  return order != 0 ? order : strcmp (x->from, y->from);
}

/* Copies the rows of the subjects of all volumes, each once.  The row of
 * another subject says nothing of one that was there. */
static enum radio_status
copy_subjects (struct copying *copying, struct pair *pairs, size_t n)
{
  RD_FREE struct rd_slice *keys = rd_calloc (2 * n + 1, sizeof *keys);
  size_t nsubjects = 0;
  if (!keys)
    return rd_fail_memory ((2 * n + 1) * sizeof *keys);
  if (n > 1)
    qsort (pairs, n, sizeof *pairs, compare_subjects);
  for (size_t i = 0; i < n; i++) {
    struct rd_slice subject = subject_of (pairs[i].to);
    bool is_same = copying->options->renames_subjects
                   || rd_slice_equal (subject_of (pairs[i].from), subject);
    if (is_same ? copying->from == copying->to
                : rd_lookup_find (copying->known, subject) != RD_NOT_THERE)
      continue;
    if (nsubjects > 0 && rd_slice_equal (keys[n + nsubjects - 1], subject))
      continue;
    keys[nsubjects] = subject_of (pairs[i].from);
    keys[n + nsubjects++] = subject;
  }
  if (nsubjects == 0)
    return RADIO_OK;
  return copy_rows (copying, RADIO_TABLE_SUBJECTS, RADIO_TABLE_SUBJECTS,
                    false, keys, keys + n, nsubjects);
}

/* Makes pairs, sorted by their collections, which the caller frees. */
static enum radio_status
make_pairs (const char *const *from_paths, const char *const *to_paths,
            size_t n, struct pair **result)
{
  struct pair *pairs = *result = rd_calloc (n + 1, sizeof *pairs);
  if (!pairs)
    return rd_fail_memory ((n + 1) * sizeof *pairs);
  for (size_t i = 0; i < n; i++) {
    if (!strchr (from_paths[i], '/') || !strchr (to_paths[i], '/'))
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: not COLLECTION/NAME",
                      strchr (from_paths[i], '/') ? to_paths[i]
                                                  : from_paths[i]);
    pairs[i] = (struct pair) { from_paths[i], to_paths[i] };
  }
  if (n > 1)
    qsort (pairs, n, sizeof *pairs, compare_pairs);
  return RADIO_OK;
}

/* The end of the pairs that have the collections of one. */
static size_t
group_end (const struct pair *pairs, size_t i, size_t n)
{
  struct rd_slice from = folder_of (pairs[i].from);
  struct rd_slice to = folder_of (pairs[i].to);
  do
    i++;
  while (i < n && rd_slice_equal (from, folder_of (pairs[i].from))
         && rd_slice_equal (to, folder_of (pairs[i].to)));
  return i;
}

typedef enum radio_status group_fn (struct copying *copying,
                                    const struct group *group);

static enum radio_status
each_group (struct copying *copying, const struct pair *pairs, size_t n,
            group_fn *transfer)
{
  for (size_t i = 0, j; i < n; i = j) {
    RD_CLEANUP (free_group) struct group group = { 0 };
    j = group_end (pairs, i, n);
    RD_TRY (make_group (pairs + i, j - i, &group));
    RD_TRY (transfer (copying, &group));
  }
  return RADIO_OK;
}

static enum radio_status
check_clash (const struct copying *copying)
{
  if (!copying->clash[0])
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_EXISTS, "%s, was not copied", copying->clash);
}

static void
close_opened (struct copying *copying)
{
  for (size_t i = 0; i < copying->nopened; i++) {
    rd_free (copying->opened[i].path);
    radio_table_close (copying->opened[i].table);
  }
  rd_free (copying->opened);
}

struct open_job {
  struct rd_job job;          /* first */
  const struct copying *copying;
};

static enum radio_status
do_open (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  const struct copying *copying = ((const struct open_job *) base)->copying;
  struct opened *opened = &copying->opened[task];
  bool is_subjects = strcmp (opened->path, RADIO_TABLE_SUBJECTS) == 0;
  (void) scratch;
  enum radio_status status = radio_table_open (copying->from, opened->path,
                                               &opened->table);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  RD_TRY (status);
  return read_ahead (copying, opened->table, !is_subjects);
}

/* Adds a table that is to be opened; takes the path, NULL without memory. */
static enum radio_status
add_opened (struct copying *copying, char *path)
{
  if (!path)
    return rd_fail_memory (sizeof RADIO_TABLE_SUBJECTS);
  copying->opened[copying->nopened++].path = path;
  return RADIO_OK;
}

/* Opens the tables that rows are copied from, and reads what is copied, over a
 * network all at the same time.  The pairs are sorted by their collections. */
static enum radio_status
open_tables (struct copying *copying, const struct pair *pairs, size_t n)
{
  static const struct radio_site site = {
    "open tables", RD_IN_METADATA, "open_tables", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  copying->opened = rd_calloc (n + 1, sizeof *copying->opened);
  if (!copying->opened)
    return rd_fail_memory ((n + 1) * sizeof *copying->opened);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || !rd_slice_equal (folder_of (pairs[i - 1].from),
                                   folder_of (pairs[i].from)))
      RD_TRY (add_opened (copying, table_path (pairs[i].from)));
  RD_TRY (add_opened (copying, rd_strdup (RADIO_TABLE_SUBJECTS)));
  struct open_job job = {
    .job = { .run = do_open, .n = copying->nopened, .site = &site },
    .copying = copying,
  };
  return rd_store_run (copying->from, &job.job);
}

static enum radio_status
copy_all (struct copying *copying, const char *const *from_paths,
          const char *const *to_paths, size_t n)
{
  RD_FREE struct pair *pairs = NULL;
  RD_TRY (make_pairs (from_paths, to_paths, n, &pairs));
  RD_TRY (open_tables (copying, pairs, n));
  RD_TRY (each_group (copying, pairs, n, copy_group));
  RD_TRY (copy_subjects (copying, pairs, n));
  return check_clash (copying);
}

/* Reads which subjects a store has, if a copy is of another one than its
 * volume.  Paths are not checked yet. */
static enum radio_status
find_known (struct radio_store *store, const char *const *from_paths,
            const char *const *to_paths, size_t n, bool renames_subjects,
            struct radio_strings *ids, struct rd_lookup *known)
{
  bool is_needed = false;
  for (size_t i = 0; i < n && !is_needed && !renames_subjects; i++)
    is_needed = strchr (from_paths[i], '/') && strchr (to_paths[i], '/')
                && !rd_slice_equal (subject_of (from_paths[i]),
                                    subject_of (to_paths[i]));
  if (!is_needed)
    return RADIO_OK;
  uint64_t head;
  RD_TRY (rd_index_read_ids (store, RADIO_TABLE_SUBJECTS, ids, NULL, &head));
  return rd_lookup_strings (ids, known);
}

enum radio_status
(radio_store_index_copies) (struct radio_store *from,
                            const char *const *from_paths,
                            struct radio_store *to,
                            const char *const *to_paths, size_t n,
                            const struct radio_index_copies_options *options,
                            struct radio_index_result *result,
                            size_t result_nbytes)
{
  static const struct radio_index_copies_options defaults;
  RD_STRINGS_FREE struct radio_strings ids = { 0 };
  RD_LOOKUP_SCOPE struct rd_lookup known = { 0 };
  struct copying copying RD_CLEANUP (close_opened) = {
    .from = from, .to = to, .options = options ? options : &defaults,
    .known = &known,
  };
  const struct radio_index_result none = { 0 };
  RD_NOT_NULL (from);
  RD_NOT_NULL (to);
  if (n > 0) {
    RD_NOT_NULL (from_paths);
    RD_NOT_NULL (to_paths);
  }
  if (options)
    RD_TRY (RD_CHECK_RESERVED (radio_index_copies_options, options));
  /* That adds rows of subjects, so these are read ahead of it. */
  rd_fill_result (result, result_nbytes, &none, sizeof none);
  RD_TRY (find_known (to, from_paths, to_paths, n,
                      copying.options->renames_subjects, &ids, &known));
  RD_TRY ((radio_store_index_volumes) (to, to_paths, n, result,
                                       result_nbytes));
  RD_SCOPE ("copy rows", RD_IN_OPERATION);
  return rd_scope_end_with (copy_all (&copying, from_paths, to_paths, n));
}

/*------------------------------------------------------------------------
 * Moves
 *----------------------------------------------------------------------*/

/* How often a writer of the old rows may be faster. */
#define MAX_TRIES 1000

/* Copies what differs from before, and removes the old rows from the generation
 * that was compared.  If there is a newer one, *is_overtaken, and *now is the
 * table that was compared, to be closed. */
static enum radio_status
try_end (struct copying *copying, const struct group *group,
         struct radio_table **now, bool *is_overtaken)
{
  RD_CLEANUP (rd_cleanup_table) struct radio_table *table = NULL;
  RD_STRINGS_FREE struct radio_strings ids = { 0 };
  RD_LOOKUP_SCOPE struct rd_lookup before_ids = { 0 };
  struct radio_table_info info = { 0 };
  *is_overtaken = false;
  if (copying->before) {
    RD_TRY (read_ahead (copying, copying->before, true));
    RD_TRY (radio_table_read_ids (copying->before, &ids));
    RD_TRY (rd_lookup_strings (&ids, &before_ids));
  }
  copying->before_ids = &before_ids;
  enum radio_status status = radio_table_open (copying->from, group->from,
                                               &table);
  if (status != RADIO_ERROR_NOT_FOUND)
    RD_TRY (status);
  if (table) {
    radio_table_get_info (table, &info);
    RD_TRY (read_ahead (copying, table, true));
    RD_TRY (copy_rows_of (copying, table, group->to, true, group->keys,
                          group->keys + group->n, group->n));
  }
  if (copying->clash[0])
    return RADIO_OK;
  status = rd_index_paths_at (copying->from, group->paths, group->n,
                              info.head, is_overtaken);
  *now = *is_overtaken ? RD_STEAL (table) : NULL;
  return *is_overtaken ? RADIO_OK : status;
}

static enum radio_status
end_group (struct copying *copying, const struct group *group)
{
  RD_CLEANUP (rd_cleanup_table) struct radio_table *last = NULL;
  bool is_overtaken = true;
  copying->before = NULL;
  for (size_t i = 0; i < copying->nread; i++) {
    struct radio_table_info info;
    radio_table_get_info (copying->read[i], &info);
    if (strcmp (info.path, group->from) == 0)
      copying->before = copying->read[i];
  }
  for (size_t i = 0; i < MAX_TRIES; i++) {
    struct radio_table *now = NULL;
    RD_TRY (try_end (copying, group, &now, &is_overtaken));
    if (!is_overtaken)
      return RADIO_OK;
    radio_table_close (last);
    last = copying->before = now;
  }
  return rd_fail (RADIO_ERROR_IO, "%s: other writers were faster %d times; try "
                  "again", group->from, MAX_TRIES);
}

static enum radio_status
end_all (struct copying *copying, const char *const *from_paths,
         const char *const *to_paths, size_t n)
{
  RD_FREE struct pair *pairs = NULL;
  RD_TRY (make_pairs (from_paths, to_paths, n, &pairs));
  RD_TRY (each_group (copying, pairs, n, end_group));
  return check_clash (copying);
}

enum radio_status
radio_store_index_moved (struct radio_store *store,
                         struct radio_table *const *before, size_t nbefore,
                         const char *const *from_paths,
                         const char *const *to_paths, size_t n)
{
  static const struct radio_index_copies_options replace = { .replace = true };
  struct copying copying = {
    .from = store, .to = store, .options = &replace, .blanks = true,
    .only_changes = true, .read = before, .nread = nbefore,
  };
  RD_NOT_NULL (store);
  if (nbefore > 0)
    RD_NOT_NULL (before);
  if (n > 0) {
    RD_NOT_NULL (from_paths);
    RD_NOT_NULL (to_paths);
  }
  RD_SCOPE ("move rows", RD_IN_OPERATION);
  return rd_scope_end_with (end_all (&copying, from_paths, to_paths, n));
}
