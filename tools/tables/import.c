/* SPDX-License-Identifier: MIT */
/* Columns of a text table into a table of the store, joined by ids.  An id of
 * subjects may lack "sub-" on one side; one of volumes may lack its
 * collection. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/tables/import.h"
#include "tools/text-set.h"
#include "tools/text.h"

enum radio_status
rd_table_read_text (struct radio_table *table, const char *column,
                    struct radio_strings *text)
{
  size_t number;
  enum radio_status status = radio_table_find_column (table, column, &number);
  return status == RADIO_OK
         ? radio_table_read_text (table, number, text, NULL) : status;
}

char *
rd_table_path (const char *collection)
{
  return collection ? rd_format ("%s/%s", RADIO_TABLE_VOLUMES, collection)
                    : rd_format ("%s", RADIO_TABLE_SUBJECTS);
}

/* A table's name in messages. */
static const char *
table_word (const char *collection)
{
  return collection ? collection : "subjects";
}

int
rd_table_missing (struct radio_store *store, const char *collection)
{
  RD_CLOSE_TABLE struct radio_table *found = NULL;
  struct radio_cohort *cohort = NULL;
  enum radio_status status = radio_cohort_open (store, &cohort);
  if (status == RADIO_OK)
    status = radio_cohort_table (cohort, collection, &found);
  if (status == RADIO_OK)
    rd_error ("%s: another process makes this table now; try again",
              table_word (collection));
  else
    rd_error_library (NULL);
  radio_cohort_close (cohort);
  return RD_EXIT_FAILED;
}

bool
rd_import_take_type (struct rd_args *args, struct rd_import *import)
{
  const char *equals = strrchr (args->value, '=');
  const enum radio_column_type all[] = {
    RADIO_COLUMN_BOOL, RADIO_COLUMN_INTEGER, RADIO_COLUMN_FLOAT,
    RADIO_COLUMN_TEXT,
  };
  size_t i = 4;
  if (equals && equals > args->value)
    for (i = 0; i < 4; i++)
      if (strcmp (equals + 1, radio_column_type_name (all[i])) == 0)
        break;
  if (equals && strcmp (equals + 1, "string") == 0)
    i = 3;
  if (i == 4) {
    rd_usage_error (args, "--type: '%s' is not COLUMN=TYPE with bool, integer, "
                    "float or text", args->value);
    return false;
  }
  size_t n = import->ntypes + 1;
  struct radio_csv_type *types = reallocarray (import->types, n,
                                               sizeof *types);
  if (types)
    import->types = types;
  char **names = reallocarray (import->names, n, sizeof *names);
  if (names)
    import->names = names;
  char *name = strndup (args->value, (size_t) (equals - args->value));
  if (types == NULL || names == NULL || name == NULL) {
    free (name);
    args->status = rd_error_memory ();
    return false;
  }
  names[import->ntypes] = name;
  types[import->ntypes++] = (struct radio_csv_type) { name, all[i] };
  return true;
}

void
rd_import_write_cell (FILE *file, const char *text, size_t n)
{
  fputc ('"', file);
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '"')
      fputc ('"', file);
    fputc (text[i], file);
  }
  fputc ('"', file);
}

void
rd_import_clear (struct rd_import *import)
{
  for (size_t i = 0; i < import->ntypes; i++)
    free (import->names[i]);
  free (import->names);
  free (import->types);
  *import = (struct rd_import) { 0 };
}

/*------------------------------------------------------------------------
 * Ids
 *----------------------------------------------------------------------*/

static bool
has_id (const struct rd_text_set *ids, const char *id)
{
  return rd_text_set_has (ids, id, strlen (id));
}

/* Reads the ids of a table; there are none if it is NULL.  Returns an exit
 * status. */
static int
read_ids (struct radio_table *table, const char *path,
          struct rd_text_set *known)
{
  RD_FREE_STRINGS struct radio_strings ids = { 0 };
  if (table == NULL)
    return RD_EXIT_OK;
  if (radio_table_read_ids (table, &ids) != RADIO_OK)
    return rd_error_library (path);
  if (!rd_text_set_add_all (known, &ids))
    return RD_EXIT_FAILED;
  rd_text_set_sort (known);
  return RD_EXIT_OK;
}

/* The subjects that have volumes, read when they are needed. */
struct imaged {
  struct radio_store *store;
  bool is_read;
  struct rd_text_set subjects;
};

static void
clear_imaged (struct imaged *imaged)
{
  rd_text_set_clear (&imaged->subjects);
}

/* Appends the subjects of a collection's volumes. */
static enum radio_status
add_imaged (const struct radio_table_entry *entry, void *user_data)
{
  struct imaged *imaged = user_data;
  RD_CLOSE_TABLE struct radio_table *table = NULL;
  RD_FREE_STRINGS struct radio_strings text = { 0 };
  if (entry->collection == NULL)
    return RADIO_OK;
  enum radio_status status = radio_table_open (imaged->store, entry->path,
                                               &table);
  if (status == RADIO_OK)
    status = rd_table_read_text (table, "subject", &text);
  /* Without a row, or that column, there is no volume. */
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  if (status != RADIO_OK)
    return status;
  return rd_text_set_add_all (&imaged->subjects, &text) ? RADIO_OK
                                                        : RADIO_ERROR_MEMORY;
}

/* False after an error. */
static bool
read_imaged (struct imaged *imaged)
{
  if (imaged->is_read)
    return true;
  if (radio_table_list (imaged->store, add_imaged, imaged) != RADIO_OK)
    return rd_error_library (NULL), false;
  rd_text_set_sort (&imaged->subjects);
  imaged->is_read = true;
  return true;
}

/* The id of a subject's row, which may have "sub-" where the text lacks it, or
 * the reverse: if both are there, as where subjects were imported before images
 * had other names, the one that has volumes (imaged is NULL: that of the
 * text). */
static char *
subject_id (const struct rd_text_set *known, struct imaged *imaged,
            const char *text)
{
  RD_FREE char *other = strncmp (text, "sub-", 4) == 0
                        ? rd_format ("%s", text + 4)
                        : rd_format ("sub-%s", text);
  if (other == NULL)
    return NULL;
  bool takes_other = has_id (known, other);
  if (takes_other && has_id (known, text)) {
    if (imaged && !read_imaged (imaged))
      return NULL;
    takes_other = imaged && has_id (&imaged->subjects, other)
                  && !has_id (&imaged->subjects, text);
  }
  return rd_format ("%s", takes_other ? other : text);
}

/* The id of a row by the text of its line: allocated, NULL after an error. */
static char *
row_id (const char *collection, const struct rd_text_set *known,
        struct imaged *imaged, const char *text)
{
  if (collection == NULL)
    return subject_id (known, imaged, text);
  return has_id (known, text) || strchr (text, '/')
         ? rd_format ("%s", text) : rd_format ("%s/%s", collection, text);
}

/* A row of the file, with its id. */
struct named_row {
  const char *id;
  size_t n;                   /* bytes of the id */
  uint64_t row;
};

static int
by_id (const void *a, const void *b)
{
  const struct named_row *x = a, *y = b;
  int order = memcmp (x->id, y->id, x->n < y->n ? x->n : y->n);
  if (order == 0)
    order = (x->n > y->n) - (x->n < y->n);
  return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

/* Checks that no two rows have one id, also as "1" and "sub-1". */
static int
check_ids (const struct radio_strings *ids, const char *name)
{
  RD_FREE struct named_row *rows = calloc (ids->n + 1, sizeof *rows);
  if (rows == NULL)
    return rd_error_memory ();
  for (uint64_t i = 0; i < ids->n; i++)
    rows[i] = (struct named_row) {
      ids->bytes + ids->offsets[i],
      (size_t) (ids->offsets[i + 1] - ids->offsets[i]), i + 1
    };
  if (ids->n > 0)
    qsort (rows, ids->n, sizeof *rows, by_id);
  for (uint64_t i = 1; i < ids->n; i++)
    if (rows[i - 1].n == rows[i].n
        && memcmp (rows[i - 1].id, rows[i].id, rows[i].n) == 0)
      return rd_error ("%s: rows %" PRIu64 " and %" PRIu64 " have the same id, "
                       "'%.*s'; keep one of them", name, rows[i - 1].row,
                       rows[i].row, (int) rows[i].n, rows[i].id);
  return RD_EXIT_OK;
}

/* Makes ids of a column's cells.  *nothers is the number of those that the
 * table does not have.  With only_existing they were typed: a subject's row is
 * the one of that id if there is one. */
static int
make_ids (struct radio_store *store, struct radio_table *opened,
          const char *collection, const char *path,
          const struct radio_strings *cells, const char *name,
          struct radio_strings *ids, bool only_existing, size_t *nothers)
{
  RD_CLEANUP (rd_text_set_clear) struct rd_text_set known = { 0 };
  RD_CLEANUP (clear_imaged) struct imaged imaged = { .store = store };
  size_t nbytes = 0, capacity = 0;
  int failed = read_ids (opened, path, &known);
  if (failed)
    return failed;
  ids->offsets = calloc (cells->n + 1, sizeof *ids->offsets);
  if (ids->offsets == NULL)
    return rd_error_memory ();
  for (uint64_t i = 0; i < cells->n; i++) {
    if (cells->offsets[i] == cells->offsets[i + 1])
      return rd_error ("%s: row %" PRIu64 " has no id", name, i + 1);
    RD_FREE char *text = rd_string_copy (cells, i);
    RD_FREE char *id = text ? row_id (collection, &known,
                                      only_existing ? NULL : &imaged, text)
                            : NULL;
    if (id == NULL)
      return RD_EXIT_FAILED;
    bool is_there = has_id (&known, id);
    if (!is_there && only_existing)
      return rd_error ("%s: no row '%s' in the table of %s", name, id,
                       table_word (collection));
    *nothers += !is_there;
    size_t n = strlen (id);
    if (nbytes + n > capacity) {
      capacity = 2 * (nbytes + n);
      char *bytes = realloc (ids->bytes, capacity);
      if (bytes == NULL)
        return rd_error_memory ();
      ids->bytes = bytes;
    }
    memcpy (ids->bytes + nbytes, id, n);
    nbytes += n;
    ids->offsets[i + 1] = (int64_t) nbytes;
    ids->n = i + 1;
  }
  return check_ids (ids, name);
}

static void
free_ids (struct radio_strings *ids)
{
  free (ids->offsets);
  free (ids->bytes);
}

/*------------------------------------------------------------------------
 * Importing
 *----------------------------------------------------------------------*/

/* True if types may change, and values may be lost. */
static bool
is_forced (struct rd_import_how how)
{
  return how.import->force && !how.fills;
}

/* True if a column's type was given by an option. */
static bool
is_type_given (const struct rd_import *import, const char *column)
{
  for (size_t i = 0; i < import->ntypes; i++)
    if (strcmp (import->types[i].column, column) == 0)
      return true;
  return false;
}

/* Prints the error of a cell that does not have its column's type; of an
 * operand without the line, since there is no file. */
static int
type_error (const char *name, bool is_operand)
{
  const char *message = radio_error_message ();
  const char *at = is_operand ? strstr (message, "column '") : NULL;
  return rd_error ("%s%s%s, the type of the column; --force gives it another "
                   "one", at ? name : "", at ? ": " : "", at ? at : message);
}

/* Gives the text's columns, whose types are inferred of its rows alone, those
 * of the table's.  Returns an exit status. */
static int
take_types (struct radio_table *table, struct radio_csv *csv, size_t key,
            const char *name, struct rd_import_how how)
{
  struct radio_csv_info info;
  radio_csv_get_info (csv, &info);
  if (table == NULL || is_forced (how))
    return RD_EXIT_OK;
  for (size_t i = 0; i < info.column_count; i++) {
    struct radio_csv_column column;
    struct radio_column_info there;
    size_t number;
    if (i == key || radio_csv_get_column (csv, i, &column) != RADIO_OK
        || is_type_given (how.import, column.name)
        || radio_table_find_column (table, column.name, &number) != RADIO_OK
        || radio_table_get_column (table, number, &there) != RADIO_OK
        || there.type == column.type)
      continue;
    enum radio_status status = radio_csv_set_type (csv, i, there.type);
    if (status == RADIO_ERROR_FORMAT)
      return type_error (name, how.only_existing);
    if (status != RADIO_OK)
      return rd_error_library (name);
  }
  return RD_EXIT_OK;
}

/* Adds all columns but the key to an edit. */
static enum radio_status
set_columns (struct radio_table_edit *edit, struct radio_csv *csv, size_t key,
             const struct radio_strings *ids, struct rd_import_how how)
{
  struct radio_csv_info info;
  enum radio_status status = RADIO_OK;
  radio_csv_get_info (csv, &info);
  for (size_t i = 0; status == RADIO_OK && i < info.column_count; i++) {
    struct radio_cells cells;
    if (i == key)
      continue;
    status = radio_csv_read (csv, i, &cells);
    cells.change_type = is_forced (how);
    cells.keep_existing = how.fills;
    /* An operand that sets a cell to n/a is meant to. */
    cells.refuse_loss = !is_forced (how) && !how.only_existing;
    if (status == RADIO_OK)
      status = radio_table_edit_set (edit, ids, &cells);
  }
  return status;
}

/* Queries of volumes then have to say which one they mean. */
static void
warn_of_name (const char *name, const char *column)
{
  RD_FREE char *line = rd_format (
    "%s: the column '%s' has the name of one that is derived from volumes; a "
    "query says subject.%s or volume.%s", name, column, column, column);
  if (line)
    rd_warn (line);
}

int
rd_import_csv (struct radio_store *store, const char *collection,
               struct radio_csv *csv, size_t key, const char *name,
               struct rd_import_how how)
{
  RD_CLOSE_TABLE struct radio_table *opened = NULL;
  RD_FREE_EDIT struct radio_table_edit *edit = NULL;
  RD_FREE_STRINGS struct radio_strings cells = { 0 };
  RD_CLEANUP (free_ids) struct radio_strings ids = { 0 };
  RD_FREE char *path = rd_table_path (collection);
  const char *word = table_word (collection);
  bool is_subjects = collection == NULL;
  struct radio_table_result result = { 0 };
  struct radio_csv_info info;
  size_t nothers = 0;
  if (path == NULL)
    return RD_EXIT_FAILED;
  radio_csv_get_info (csv, &info);
  for (size_t i = 0; !is_subjects && i < info.column_count; i++) {
    struct radio_csv_column column;
    if (radio_csv_get_column (csv, i, &column) == RADIO_OK && i != key
        && radio_index_is_derived (column.name))
      return rd_error ("%s: column '%s' is derived from volumes; use another "
                       "name", name, column.name);
  }
  for (size_t i = 0; is_subjects && i < info.column_count; i++) {
    struct radio_csv_column column;
    if (radio_csv_get_column (csv, i, &column) == RADIO_OK && i != key
        && radio_index_is_derived (column.name))
      warn_of_name (name, column.name);
  }
  if (radio_csv_read_text (csv, key, &cells) != RADIO_OK)
    return rd_error_library (name);
  enum radio_status status = radio_table_open (store, path, &opened);
  /* Rows of volumes are not made by an import. */
  if (status == RADIO_ERROR_NOT_FOUND && !is_subjects)
    return rd_table_missing (store, collection);
  if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND)
    return rd_error_library (path);
  int failed = take_types (opened, csv, key, name, how);
  if (!failed)
    failed = make_ids (store, opened, collection, path, &cells, name, &ids,
                       how.only_existing, &nothers);
  if (failed)
    return failed;
  status = radio_table_edit_new (store, path, &edit);
  if (status == RADIO_OK && how.removes)
    status = radio_table_edit_remove_rows (edit, &ids);
  else if (status == RADIO_OK && is_subjects)
    status = radio_table_edit_add_rows (edit, &ids);
  if (status == RADIO_OK)
    status = set_columns (edit, csv, key, &ids, how);
  if (status == RADIO_OK)
    status = radio_table_edit_commit (edit, &result);
  if (status == RADIO_ERROR_EXISTS && strstr (radio_error_message (),
                                              "column '"))
    return rd_error ("%s: %s; --force accepts that", name,
                     radio_error_message ());
  if (status != RADIO_OK)
    return rd_error_library (name);
  if (how.quiet)
    return RD_EXIT_OK;
  if (how.removes) {
    printf ("%s: %" PRIu64 " row%s removed\n", word, result.removed_count,
            rd_plural (result.removed_count));
    return RD_EXIT_OK;
  }
  printf ("%s: %zu column%s of %" PRIu64 " row%s", word,
          info.column_count - 1, info.column_count == 2 ? "" : "s", ids.n,
          rd_plural (ids.n));
  if (nothers > 0)
    printf ("; %zu %s", nothers, is_subjects ? "added"
                                             : "without a volume ignored");
  if (result.lost_count > 0)
    printf ("; %" PRIu64 " value%s lost", result.lost_count,
            rd_plural (result.lost_count));
  putchar ('\n');
  return RD_EXIT_OK;
}

/* Finds the column of ids; returns an exit status. */
static int
find_key (const struct radio_csv *csv, const char *collection,
          const char *file, const char *given, size_t *key)
{
  bool is_subjects = collection == NULL;
  const char *const names[] = {
    is_subjects ? "participant_id" : "id", is_subjects ? "subject" : "volume",
  };
  if (given)
    return radio_csv_find_column (csv, given, key) == RADIO_OK
           ? RD_EXIT_OK : rd_error_library (file);
  for (size_t i = 0; i < 2; i++)
    if (radio_csv_find_column (csv, names[i], key) == RADIO_OK)
      return RD_EXIT_OK;
  return rd_error ("%s: no column %s or %s; name one by --key",
                   file, names[0], names[1]);
}

/* Copies the types of columns that a file has; NULL without memory, after an
 * error. */
static struct radio_csv_type *
own_types (const struct rd_import *import, const char *file, size_t *n)
{
  static const struct radio_csv_options options = { .sidecar_file = "" };
  RD_CLOSE_CSV struct radio_csv *csv = NULL;
  struct radio_csv_type *types = calloc (import->ntypes + 1, sizeof *types);
  size_t number;
  *n = 0;
  if (types == NULL)
    return rd_error_memory (), NULL;
  /* Why it cannot be opened is said when it is opened again. */
  if (radio_csv_open (file, &options, &csv) != RADIO_OK)
    return types;
  for (size_t i = 0; i < import->ntypes; i++)
    if (radio_csv_find_column (csv, import->types[i].column, &number)
        == RADIO_OK)
      types[(*n)++] = import->types[i];
  return types;
}

/* Opens a text table, which is closed by the caller in any case, and finds its
 * column of ids; returns an exit status. */
static int
open_csv (const char *collection, const char *file,
          const struct rd_import *import, struct radio_csv **csv, size_t *key)
{
  struct radio_csv_options options = {
    .types = import->types, .type_count = import->ntypes,
  };
  RD_FREE struct radio_csv_type *types = NULL;
  if (import->is_of_many && import->ntypes > 0) {
    types = own_types (import, file, &options.type_count);
    if (types == NULL)
      return RD_EXIT_FAILED;
    options.types = types;
  }
  if (radio_csv_open (file, &options, csv) != RADIO_OK)
    return rd_error_library (file);
  return find_key (*csv, collection, file, import->key, key);
}

int
rd_import_check (const char *file, const struct rd_import *import)
{
  RD_CLOSE_CSV struct radio_csv *csv = NULL;
  struct radio_csv_info info;
  size_t key;
  int failed = open_csv (NULL, file, import, &csv, &key);
  if (failed)
    return failed;
  radio_csv_get_info (csv, &info);
  for (size_t i = 0; i < info.column_count; i++) {
    struct radio_csv_column column;
    if (i != key
        && (radio_csv_get_column (csv, i, &column) != RADIO_OK
            || radio_column_name_check (column.name) != RADIO_OK))
      return rd_error_library (file);
  }
  return RD_EXIT_OK;
}

int
rd_import_file (struct radio_store *store, const char *collection,
                const char *file, struct rd_import_how how)
{
  RD_CLOSE_CSV struct radio_csv *csv = NULL;
  size_t key;
  int failed = open_csv (collection, file, how.import, &csv, &key);
  return failed ? failed
                : rd_import_csv (store, collection, csv, key, file, how);
}
