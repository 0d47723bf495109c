/* SPDX-License-Identifier: MIT */
/* radio table: shows and edits the tables of subjects and of volumes. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/interrupt.h"
#include "tools/json.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/report.h"
#include "tools/select.h"
#include "tools/tables/import.h"

/* The action: one of these. */
struct table_args {
  bool tsv, removes, drop, rename;
  const char *file, *set;
  const char **changed;       /* columns to drop, or to rename: OLD=NEW */
  size_t nchanged;
  struct rd_import import;
};

/* A table in memory, as text. */
struct column {
  const char *name;           /* belongs to the table */
  enum radio_column_type type;
  struct radio_strings text;
  bool *valid;                /* NULL: all, of the ids */
};

struct cells {
  size_t ncolumns;            /* with the ids, which are the first */
  const uint64_t *rows;       /* that are shown; NULL: all */
  uint64_t nrows;             /* of these */
  struct column *columns;
};

static void
clear_cells (struct cells *cells)
{
  for (size_t i = 0; i < cells->ncolumns; i++) {
    radio_strings_free (&cells->columns[i].text);
    free (cells->columns[i].valid);
  }
  free (cells->columns);
}

/* Those that --where, --subject, --sample and --head select: numbers in the
 * table's order, allocated; NULL: all. */
struct rows {
  uint64_t *at, n;
};

static void
cleanup_cohort (struct radio_cohort **cohort)
{
  radio_cohort_close (*cohort);
}

/* Warns if no row is selected since there is no such subject. */
static int
warn_of_none (const struct rd_args *args, struct radio_cohort *cohort)
{
  struct rd_cohort only = { .cohort = cohort };
  const struct rd_cohorts cohorts = { &only, 1 };
  RD_FREE char *why = rd_select_why_none (args, &cohorts);
  RD_FREE char *text = why ? rd_format ("no row is selected%s", why) : NULL;
  if (text == NULL)
    return RD_EXIT_FAILED;
  if (*why)
    rd_warn (text);
  return RD_EXIT_OK;
}

/* Chooses rows of a view, by --sample and --head. */
static int
choose_rows (const struct rd_args *args, struct radio_cohort *cohort,
             const struct radio_view *view, struct rows *rows)
{
  size_t n = (size_t) radio_view_count (view);
  RD_FREE const char **ids = calloc (n + 1, sizeof *ids);
  RD_FREE bool *chosen = calloc (n + 1, sizeof *chosen);
  rows->at = calloc (n + 1, sizeof *rows->at);
  if (ids == NULL || chosen == NULL || rows->at == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < n; i++)
    ids[i] = radio_view_id (view, i);
  int failed = n == 0 ? warn_of_none (args, cohort)
                      : rd_select_choose (&args->select, ids, n, chosen);
  for (size_t i = 0; i < n && !failed; i++)
    if (chosen[i])
      rows->at[rows->n++] = radio_view_row (view, i);
  return failed;
}

/* The collection whose table a word names; NULL: the table of subjects.  A
 * collection called subjects is named by the path of its table. */
static const char *
named_collection (const char *word)
{
  const char *below = RADIO_TABLE_VOLUMES "/";
  if (strcmp (word, "subjects") == 0
      || strcmp (word, RADIO_TABLE_SUBJECTS) == 0)
    return NULL;
  size_t n = strncmp (word, below, strlen (below)) == 0 ? strlen (below) : 0;
  return word + n;
}

/* Selects rows of a table, and opens it. */
static int
select_rows (const struct rd_args *args, struct radio_store *store,
             const char *collection, struct radio_table **table,
             struct rows *rows)
{
  RD_CLEANUP (cleanup_cohort) struct radio_cohort *cohort = NULL;
  RD_FREE_VIEW struct radio_view *view = NULL;
  if (radio_cohort_open (store, &cohort) != RADIO_OK)
    return rd_error_library (NULL);
  int failed = rd_select_view (args, cohort, collection, collection == NULL,
                               &view);
  if (failed)
    return failed;
  enum radio_status status = radio_cohort_table (cohort, collection, table);
  return status == RADIO_OK ? choose_rows (args, cohort, view, rows)
                            : rd_error_library (NULL);
}

static void
clear_rows (struct rows *rows)
{
  free (rows->at);
}

/* Reads all columns; returns an exit status. */
static int
read_cells (struct radio_table *table, struct cells *cells)
{
  struct radio_table_info info;
  radio_table_get_info (table, &info);
  cells->nrows = info.row_count;
  cells->columns = calloc (info.column_count + 1, sizeof *cells->columns);
  if (cells->columns == NULL)
    return rd_error_memory ();
  cells->ncolumns = info.column_count + 1;
  struct column *ids = &cells->columns[0];
  ids->name = info.index_name;
  ids->type = RADIO_COLUMN_TEXT;
  enum radio_status status = radio_table_read_ahead (table, NULL, 0);
  if (status == RADIO_OK)
    status = radio_table_read_ids (table, &ids->text);
  for (size_t i = 0; status == RADIO_OK && i < info.column_count; i++) {
    struct column *column = &cells->columns[i + 1];
    struct radio_column_info described;
    column->valid = calloc (info.row_count + 1, sizeof (bool));
    if (column->valid == NULL)
      return rd_error_memory ();
    status = radio_table_get_column (table, i, &described);
    column->name = described.name;
    column->type = described.type;
    if (status == RADIO_OK)
      status = radio_table_read_text (table, i, &column->text, column->valid);
  }
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (info.path);
}

/* A cell; allocated, NULL if it is missing or, after an error, without
 * memory. */
static char *
cell_text (const struct column *column, uint64_t row)
{
  if (column->valid && !column->valid[row])
    return NULL;
  return rd_string_copy (&column->text, row);
}

static void
print_json (const struct cells *cells)
{
  struct rd_json_items items = { .is_list = true };
  for (uint64_t k = 0; k < cells->nrows; k++) {
    uint64_t row = cells->rows ? cells->rows[k] : k;
    struct json_object *object = json_object_new_object ();
    for (size_t i = 0; i < cells->ncolumns; i++) {
      const struct column *column = &cells->columns[i];
      RD_FREE char *text = cell_text (column, row);
      rd_json_set (object, column->name, rd_json_new_cell (column->type, text));
    }
    rd_json_items_print (&items, object);
  }
  rd_json_items_end (&items);
}

/* Prints columns below each other; numbers are at the right. */
static int
print_aligned (const struct cells *cells)
{
  RD_CLEANUP (rd_table_clear) struct rd_table table = {
    .ncolumns = cells->ncolumns
  };
  RD_FREE char *alignment = calloc (cells->ncolumns + 1, 1);
  bool ok = true;
  if (alignment == NULL)
    return rd_error_memory ();
  for (size_t i = 0; ok && i < cells->ncolumns; i++) {
    const struct column *column = &cells->columns[i];
    bool is_number = column->type == RADIO_COLUMN_INTEGER
                     || column->type == RADIO_COLUMN_FLOAT;
    alignment[i] = is_number ? 'r' : 'l';
    ok = rd_table_add (&table, column->name);
  }
  table.alignment = alignment;
  for (uint64_t k = 0; k < cells->nrows; k++)
    for (size_t i = 0; ok && i < cells->ncolumns; i++) {
      RD_FREE char *text = cell_text (&cells->columns[i], cells->rows
                                      ? cells->rows[k] : k);
      ok = rd_table_add (&table, text ? text : "n/a");
    }
  if (ok)
    rd_table_print (&table, stdout);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static enum radio_status
write_text (const char *text, size_t nbytes, void *user_data)
{
  (void) user_data;
  /* A failure is found at the end, as for all output. */
  (void) !fwrite (text, 1, nbytes, stdout);
  return RADIO_OK;
}

static int
show_table (const struct rd_args *args, struct radio_store *store,
            const char *collection, const struct table_args *what)
{
  RD_CLOSE_TABLE struct radio_table *table = NULL;
  RD_CLEANUP (clear_cells) struct cells cells = { 0 };
  RD_CLEANUP (clear_rows) struct rows rows = { 0 };
  RD_FREE char *path = rd_table_path (collection);
  enum radio_status status = RADIO_OK;
  int failed = path ? RD_EXIT_OK : RD_EXIT_FAILED;
  if (!failed && rd_args_selects (args))
    failed = select_rows (args, store, collection, &table, &rows);
  else if (!failed)
    status = radio_table_open (store, path, &table);
  if (status != RADIO_OK)
    return status == RADIO_ERROR_NOT_FOUND
           ? rd_table_missing (store, collection) : rd_error_library (NULL);
  if (!failed && what->tsv) {
    status = radio_table_write_csv (table, '\t', NULL, 0, rows.at, rows.n,
                                    write_text, NULL);
    return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (path);
  }
  if (!failed)
    failed = read_cells (table, &cells);
  if (failed)
    return failed;
  if (rows.at) {
    cells.rows = rows.at;
    cells.nrows = rows.n;
  }
  if (!args->json)
    return print_aligned (&cells);
  print_json (&cells);
  return RD_EXIT_OK;
}

/*------------------------------------------------------------------------
 * Edits
 *----------------------------------------------------------------------*/

/* Sets cells by operands ID=VALUE, or removes the rows of operands ID: a text
 * table that is imported. */
static int
change_rows (const struct rd_args *args, struct radio_store *store,
             const char *collection, const struct table_args *what)
{
  RD_FREE char *text = NULL;
  const char *option = what->set ? "--set" : "--remove";
  size_t nbytes = 0;
  FILE *file = open_memstream (&text, &nbytes);
  if (file == NULL)
    return rd_error_memory ();
  fputs ("id", file);
  if (what->set) {
    fputc ('\t', file);
    rd_import_write_cell (file, what->set, strlen (what->set));
  }
  fputc ('\n', file);
  for (size_t i = 1; i < args->noperands; i++) {
    const char *operand = args->operands[i];
    size_t n = what->set ? strcspn (operand, "=") : strlen (operand);
    rd_import_write_cell (file, operand, n);
    if (what->set) {
      fputc ('\t', file);
      rd_import_write_cell (file, operand + n + 1, strlen (operand + n + 1));
    }
    fputc ('\n', file);
  }
  if (fclose (file) != 0)
    return rd_error_memory ();
  const struct radio_csv_options options = {
    .separator = '\t', .types = what->import.types,
    .type_count = what->import.ntypes, .sidecar_file = "",
  };
  RD_CLOSE_CSV struct radio_csv *csv = NULL;
  if (radio_csv_parse (text, nbytes, option, &options, &csv) != RADIO_OK)
    return rd_error_library (NULL);
  const struct rd_import_how how = {
    .import = &what->import, .quiet = args->quiet, .only_existing = true,
    .removes = what->removes,
  };
  return rd_import_csv (store, collection, csv, 0, option, how);
}

/* Drops or renames columns, in one edit. */
static int
change_column (struct radio_store *store, const char *collection,
               const struct table_args *what)
{
  RD_FREE_EDIT struct radio_table_edit *edit = NULL;
  RD_FREE char *path = rd_table_path (collection);
  if (path == NULL)
    return RD_EXIT_FAILED;
  enum radio_status status = radio_table_edit_new (store, path, &edit);
  for (size_t i = 0; i < what->nchanged && status == RADIO_OK; i++) {
    const char *value = what->changed[i];
    const char *equals = what->rename ? strchr (value, '=') : NULL;
    RD_FREE char *old = equals ? strndup (value, (size_t) (equals - value))
                               : strdup (value);
    if (old == NULL)
      return rd_error_memory ();
    if (collection && radio_index_is_derived (old))
      return rd_error ("%s: derived from volumes; it stays", old);
    status = equals ? radio_table_edit_rename (edit, old, equals + 1)
                    : radio_table_edit_drop (edit, old);
  }
  if (status == RADIO_OK)
    status = radio_table_edit_commit (edit, NULL);
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (path);
}

static int
do_table (const struct rd_args *args, const struct table_args *what)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  const char *collection
    = named_collection (args->noperands ? args->operands[0] : "subjects");
  int failed = rd_store_open (args, false, &store);
  if (failed)
    return failed;
  const struct rd_import_how how = {
    .import = &what->import, .quiet = args->quiet
  };
  if (what->file)
    return rd_import_file (store, collection, what->file, how);
  if (what->set || what->removes)
    return change_rows (args, store, collection, what);
  if (what->drop || what->rename)
    return change_column (store, collection, what);
  return show_table (args, store, collection, what);
}

static bool
check_table_args (struct rd_args *args, const struct table_args *what)
{
  int n = (what->tsv || args->json || rd_args_selects (args))
          + (what->file != NULL) + (what->set != NULL) + what->drop
          + what->rename + what->removes;
  bool has_ids = what->set || what->removes;
  if (n > 1 || (what->tsv && args->json)) {
    rd_usage_error (args, "%s, --import, --set, --remove, --drop and "
                    "--rename exclude each other", rd_args_selects (args)
                    ? "--where, --subject, --sample and --head"
                    : "--tsv, --json");
    return false;
  }
  for (size_t i = 0; what->rename && i < what->nchanged; i++) {
    const char *equals = strchr (what->changed[i], '=');
    if (equals == NULL || equals == what->changed[i]) {
      rd_usage_error (args, "--rename: '%s' is not OLD=NEW", what->changed[i]);
      return false;
    }
  }
  if (has_ids && args->noperands < 2) {
    const char *operand = what->set ? "ID=VALUE" : "ID";
    rd_usage_error (args, "%s is missing; the order is TABLE %s..., as "
                    "subjects sub-01%s", operand, operand,
                    what->set ? "=33" : "");
    return false;
  }
  if (!rd_args_want (args, 0, has_ids ? SIZE_MAX : 1, "TABLE"))
    return false;
  if (what->removes && named_collection (args->operands[0])) {
    rd_usage_error (args, "--remove: rows of volumes go with the volumes; use "
                    "'radio rm', or 'radio index' if these are gone");
    return false;
  }
  for (size_t i = 1; what->set && i < args->noperands; i++)
    if (strchr (args->operands[i], '=') == NULL
        || args->operands[i][0] == '=') {
      rd_usage_error (args, "'%s' is not ID=VALUE", args->operands[i]);
      return false;
    }
  return true;
}

static void
clear_table_args (struct table_args *what)
{
  rd_import_clear (&what->import);
  free (what->changed);
}

/* Keeps the value of --drop or --rename; false without memory. */
static bool
add_changed (struct rd_args *args, struct table_args *what)
{
  const char **more = reallocarray (what->changed, what->nchanged + 1,
                                    sizeof *more);
  if (more == NULL) {
    args->status = rd_error_memory ();
    return false;
  }
  what->changed = more;
  what->changed[what->nchanged++] = args->value;
  return true;
}

static int
run_table (struct rd_args *args)
{
  RD_CLEANUP (clear_table_args) struct table_args what = { 0 };
  bool ok = true;
  int id;
  while (ok && (id = rd_args_next (args)) > 0) {
    switch (id) {
    case RD_OPTION_TSV: what.tsv = true; break;
    case RD_OPTION_IMPORT: what.file = args->value; break;
    case RD_OPTION_KEY: what.import.key = args->value; break;
    case RD_OPTION_TYPE: ok = rd_import_take_type (args, &what.import); break;
    case RD_OPTION_FORCE: what.import.force = true; break;
    case RD_OPTION_SET: what.set = args->value; break;
    case RD_OPTION_REMOVE: what.removes = true; break;
    case RD_OPTION_DROP:
    case RD_OPTION_RENAME:
      what.drop |= id == RD_OPTION_DROP;
      what.rename |= id == RD_OPTION_RENAME;
      ok = add_changed (args, &what);
      break;
    default: break;
    }
  }
  if (!ok || id < 0 || !check_table_args (args, &what))
    return args->status;
  args->newest_tables = what.file || what.set || what.removes;
  rd_interrupt_catch ();
  return do_table (args, &what);
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_SELECT_OPTIONS,
  { RD_OPTION_TSV, "tsv", NULL, "print tab-separated values" },
  { RD_OPTION_JSON, "json", NULL, "print a list of JSON objects" },
  { RD_OPTION_IMPORT, "import", "FILE",
    "add the columns of a .tsv or .csv file" },
  { RD_OPTION_KEY, "key", "COLUMN",
    "its column of ids (default: participant_id or\n"
    "subject; of volumes id or volume)" },
  { RD_OPTION_TYPE, "type", "COLUMN=TYPE",
    "bool, integer, float or text (default: by the\n"
    "file's sidecar or its values)" },
  { RD_OPTION_SET, "set", "COLUMN", "set the cells ID=VALUE of a column" },
  { RD_OPTION_FORCE, "force", NULL,
    "columns may get another type" },
  { RD_OPTION_REMOVE, "remove", NULL,
    "remove the rows of the subjects ID" },
  { RD_OPTION_DROP, "drop", "COLUMN", "remove a column" },
  { RD_OPTION_RENAME, "rename", "OLD=NEW", "rename a column" },
  RD_SINGLE_WRITER_OPTION,
  { 'q', "quiet", NULL, "print only errors" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_table = {
  .name = "table",
  .operands = "[OPTION]... [TABLE [ID[=VALUE]]...]",
  .summary = "show and edit tables of subjects and volumes",
  .description =
    "Shows the table of subjects (also TABLE subjects), or that of the volumes "
    "of the collection TABLE; or edits it: columns of a file are joined by "
    "ids, cells set, rows removed, columns dropped and renamed. An edit is "
    "kept whole or not at all, also beside others.",
  .options = options,
  .examples =
    "radio table -s study.zarr ct --tsv --where 'age >= 18'\n"
    "radio table --import participants.tsv --type zip=text\n"
    "radio table --set diagnosis subjects sub-01=MS sub-02=n/a",
  .run = run_table,
};
