/* SPDX-License-Identifier: MIT */
/* radio mv: gives volumes other names in their store.  First each volume is
 * copied by the store itself, then the rows of tables, then the old volumes are
 * removed, and their rows last: whenever it ends, each volume has its old
 * name, or both, or the new one. */
#include <config.h>

#include <string.h>

#include "tools/interrupt.h"
#include "tools/jobs.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/rows.h"
#include "tools/text.h"

struct item {
  const char *path;           /* of the node */
  char *to_path;
  enum radio_status status;
  char *message;              /* of one that failed */
};

struct mv {
  const struct rd_args *args;
  const char *old_name, *new_name;
  struct radio_store *store;  /* not owned */
  const char *store_name;
  struct rd_nodes nodes;
  struct item *items;
  size_t n;
  struct radio_table **before;        /* of the old volumes' collections */
  size_t nbefore;
  bool is_removing;
  bool has_bad_table;                 /* that cannot be edited */
  int status;
  struct rd_jobs jobs;
};

/* Copies a volume, or removes one that was copied. */
static void
move_volume (void *data, size_t i)
{
  struct mv *mv = data;
  struct item *item = &mv->items[i];
  const struct radio_copy_options options = {
    .existing = mv->args->overwrite ? RADIO_EXISTING_REPLACE
                                    : RADIO_EXISTING_ERROR,
    .by_store = true,
    .progress = rd_interrupt_stop,
  };
  if (item->status != RADIO_OK)
    return;
  item->status = mv->is_removing
    ? radio_store_remove_copied (mv->store, item->path, item->to_path)
    : radio_volume_copy (mv->store, item->path, mv->store, item->to_path,
                         &options, NULL);
  if (item->status != RADIO_OK)
    item->message = strdup (radio_error_message ());
}

static bool
end_volume (void *data, size_t i)
{
  const struct mv *mv = data;
  bool is_full = !mv->is_removing
                 && mv->items[i].status == RADIO_ERROR_NO_SPACE;
  return !is_full && !rd_interrupted ();
}

static void
report_volume (void *data, size_t i)
{
  struct mv *mv = data;
  const struct item *item = &mv->items[i];
  const char *message = item->message ? item->message : "out of memory";
  if (item->status == RADIO_OK) {
    if (!mv->is_removing || mv->args->quiet)
      return;
    rd_text_print (stdout, item->path);
    fputs (" -> ", stdout);
    rd_text_print (stdout, item->to_path);
    putchar ('\n');
    return;
  }
  /* One that was not copied was reported then. */
  if (mv->is_removing && item->message == NULL)
    return;
  mv->status = RD_EXIT_FAILED;
  if (item->status == RADIO_ERROR_EXISTS && strstr (message, "exists already"))
    rd_error ("%s: exists already; see --overwrite, also after a move that "
              "was interrupted", item->to_path);
  else if (mv->is_removing)
    rd_error ("%s: is %s now, but the old one was not all removed: %s",
              item->path, item->to_path, message);
  else
    rd_error_message (item->path, message);
}

/* Runs a step for all volumes; false without memory, after an error, or if it
 * was interrupted. */
static bool
run_step (struct mv *mv, bool is_removing)
{
  mv->is_removing = is_removing;
  mv->jobs = (struct rd_jobs) {
    .n = rd_interrupted () ? 0 : mv->n,
    .nthreads = rd_nodes_nthreads (mv->args, &mv->nodes),
    .limit_nbytes = rd_jobs_limit_nbytes (mv->args),
    .run = move_volume,
    .end = end_volume,
    .report = report_volume,
    .data = mv,
  };
  if (!rd_jobs_run (&mv->jobs))
    return false;
  size_t ndone = mv->jobs.synced.nreported;
  for (size_t i = ndone; i < mv->n; i++)
    mv->items[i].status = RADIO_ERROR_CANCELLED;
  if (ndone < mv->n && !rd_interrupted ())
    mv->status = rd_error ("%s and all after it keep their names",
                           mv->items[ndone].path);
  return true;
}

/* Opens the table of a volume's collection, unless it is open or there is
 * none. */
static int
open_before (struct mv *mv, const char *path)
{
  int n = (int) strcspn (path, "/");
  RD_FREE char *table = rd_format (RADIO_TABLE_VOLUMES "/%.*s", n, path);
  if (table == NULL)
    return RD_EXIT_FAILED;
  for (size_t i = 0; i < mv->nbefore; i++) {
    struct radio_table_info info;
    radio_table_get_info (mv->before[i], &info);
    if (strcmp (info.path, table) == 0)
      return RD_EXIT_OK;
  }
  struct radio_table **before = reallocarray (mv->before, mv->nbefore + 1,
                                              sizeof *before);
  if (before == NULL)
    return rd_error_memory ();
  mv->before = before;
  enum radio_status status = radio_table_open (mv->store, table,
                                               &before[mv->nbefore]);
  mv->nbefore += status == RADIO_OK;
  return status == RADIO_OK || status == RADIO_ERROR_NOT_FOUND
         ? RD_EXIT_OK : rd_error_library (NULL);
}

/* Returns whether rows of a table are written: it is that of subjects, or of a
 * collection that a volume has before or after. */
static bool
is_written (const struct mv *mv, const char *collection)
{
  size_t n = collection ? strlen (collection) : 0;
  for (size_t i = 0; i < mv->n && n > 0; i++) {
    const char *const paths[] = { mv->items[i].path, mv->items[i].to_path };
    for (size_t k = 0; k < 2; k++)
      if (strncmp (paths[k], collection, n) == 0 && paths[k][n] == '/')
        return true;
  }
  return collection == NULL;
}

/* Commits an edit without changes: it fails as any edit would. */
static enum radio_status
try_edit (const struct radio_table_entry *entry, void *user_data)
{
  struct mv *mv = user_data;
  struct radio_table_edit *edit;
  if (!is_written (mv, entry->collection))
    return RADIO_OK;
  enum radio_status status = radio_table_edit_new (mv->store, entry->path,
                                                   &edit);
  if (status == RADIO_OK) {
    status = radio_table_edit_commit (edit, NULL);
    radio_table_edit_free (edit);
  }
  mv->has_bad_table = status != RADIO_OK;
  return status;
}

/* Checks that the tables can be edited, before anything has two names. */
static int
check_tables (struct mv *mv)
{
  (void) !radio_table_list (mv->store, try_edit, mv);
  return mv->has_bad_table
         ? rd_error ("%s: nothing was moved: %s", mv->old_name,
                     radio_error_message ())
         : RD_EXIT_OK;
}

/* Writes the rows of the copies, or removes those of the old volumes, in spite
 * of a signal: so each volume that there is has one, and no other. */
static int
write_rows (struct mv *mv, bool is_removing)
{
  RD_CLEANUP (rd_row_changes_clear) struct rd_row_changes rows = {
    .store = mv->store, .name = mv->store_name, .copies = { .replace = true },
    .ends_moves = is_removing, .before = mv->before, .nbefore = mv->nbefore,
  };
  rd_interrupt_finish ();
  for (size_t i = 0; i < mv->jobs.synced.nreported; i++) {
    const struct item *item = &mv->items[i];
    enum radio_node node;
    bool is_done = item->status == RADIO_OK;
    /* If its removal failed, only a part of its data may be left. */
    if (is_removing && !is_done && item->message)
      is_done = radio_store_node (mv->store, item->path, &node)
                == RADIO_ERROR_NOT_FOUND;
    if (is_done)
      rd_row_changes_add_copy (&rows, item->to_path, mv->store, item->path);
  }
  return rd_row_changes_write (&rows);
}

/* Forgets how copies ended: what was not copied stays as it is. */
static void
free_messages (struct mv *mv)
{
  for (size_t i = 0; mv->items && i < mv->n; i++) {
    free (mv->items[i].message);
    mv->items[i].message = NULL;
  }
}

static int
compare_new_names (const void *a, const void *b)
{
  const struct item *x = a, *y = b;
  return strcmp (x->to_path, y->to_path);
}

/* Else one of two would replace the other. */
static int
check_names (struct mv *mv)
{
  if (mv->n > 1)
    qsort (mv->items, mv->n, sizeof *mv->items, compare_new_names);
  for (size_t i = 1; i < mv->n; i++)
    if (strcmp (mv->items[i - 1].to_path, mv->items[i].to_path) == 0)
      return rd_error ("%s and %s would both be %s; move each by itself",
                       mv->items[i - 1].path, mv->items[i].path,
                       mv->items[i].to_path);
  return RD_EXIT_OK;
}

/* Names the volumes: NEW is one's path, or the collection of all.  A pattern
 * that matches one volume may give it either. */
static int
set_names (struct mv *mv)
{
  const struct rd_nodes *nodes = &mv->nodes;
  bool is_path = strchr (mv->new_name, '/') != NULL;
  bool is_pattern = !nodes->names_one && strpbrk (mv->old_name, "*?[");
  bool is_one = nodes->names_one || (is_pattern && nodes->n == 1);
  mv->items = calloc (nodes->n + 1, sizeof *mv->items);
  if (mv->items == NULL)
    return rd_error_memory ();
  if (is_path && is_pattern && !is_one)
    return rd_error ("%s: %zu volumes, which get the name of a collection, "
                     "not '%s'", mv->old_name, nodes->n, mv->new_name);
  if (is_path && !is_one)
    return rd_error ("%s: a collection, which gets the name of a collection, "
                     "not '%s'", mv->old_name, mv->new_name);
  if (!is_path && nodes->names_one)
    return rd_error ("%s: a volume, whose new name is COLLECTION/NAME, not "
                     "'%s'", mv->old_name, mv->new_name);
  for (size_t i = 0; i < nodes->n; i++) {
    const char *path = nodes->list[i].path;
    const char *slash = strrchr (path, '/');
    if (slash == NULL)
      return rd_error ("%s: a volume without a collection; copy its folder",
                       nodes->list[i].name);
    mv->items[mv->n] = (struct item) {
      .path = path,
      .to_path = is_path ? strdup (mv->new_name)
                         : rd_format ("%s%s", mv->new_name, slash),
    };
    if (mv->items[mv->n].to_path == NULL)
      return rd_error_memory ();
    if (strcmp (mv->items[mv->n++].to_path, path) == 0)
      return rd_error ("%s: has that name already", path);
  }
  return check_names (mv);
}

static int
move_volumes (struct mv *mv)
{
  struct rd_args args = *mv->args;
  char *operand = args.operands[0];
  args.operands = &operand;
  args.noperands = 1;
  int failed = rd_nodes_find (&args, RD_NODES_CLOSED | RD_NODES_STRICT
                                     | RD_NODES_SOME, &mv->nodes);
  if (failed)
    return failed;
  mv->store = mv->nodes.list[0].store;
  mv->store_name = mv->nodes.roots[0].name ? mv->nodes.roots[0].name
                                           : rd_store_name (mv->args);
  failed = set_names (mv);
  for (size_t i = 0; i < mv->n && !failed; i++)
    failed = open_before (mv, mv->items[i].path);
  if (!failed)
    failed = check_tables (mv);
  if (failed)
    return failed;
  if (!run_step (mv, false))
    return RD_EXIT_FAILED;
  free_messages (mv);
  if (write_rows (mv, false))
    return rd_error ("%s: nothing was removed: volumes that were copied have "
                     "both names, and the same command with --overwrite "
                     "moves them", mv->old_name);
  if (!run_step (mv, true))
    return RD_EXIT_FAILED;
  failed = write_rows (mv, true);
  if (rd_interrupted ())
    return rd_error ("interrupted: volumes have the old name, or both; the "
                     "same command with --overwrite moves the rest");
  return failed ? failed : mv->status;
}

static int
run_mv (struct rd_args *args)
{
  struct mv mv = { .args = args };
  int id;
  do
    id = rd_args_next (args);
  while (id > 0);
  if (id < 0 || !rd_args_want (args, 2, 2, args->noperands ? "NEW" : "OLD"))
    return args->status;
  mv.old_name = args->operands[0];
  mv.new_name = args->operands[1];
  args->newest_tables = true;
  rd_interrupt_catch ();
  int status = move_volumes (&mv);
  free_messages (&mv);
  for (size_t i = 0; i < mv.n; i++)
    free (mv.items[i].to_path);
  free (mv.items);
  for (size_t i = 0; i < mv.nbefore; i++)
    radio_table_close (mv.before[i]);
  free (mv.before);
  rd_nodes_clear (&mv.nodes);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_OVERWRITE, "overwrite", NULL, "replace volumes that exist" },
  RD_SINGLE_WRITER_OPTION,
  { 'q', "quiet", NULL, "print only errors" },
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_mv = {
  .name = "mv",
  .operands = "[OPTION]... OLD NEW",
  .summary = "rename volumes",
  .description =
    "Renames a volume of the store to NEW, a COLLECTION/NAME, or all volumes "
    "of a collection to the collection NEW. The rows of tables go with them. "
    "No data is read: shards get a second link on a disk, and are copied by "
    "the server in S3, before the old ones are removed. So whenever it ends, a "
    "volume has its old name, both, or the new one.",
  .options = options,
  .examples =
    "radio mv ct/sub-01 ct/sub-001\n"
    "radio mv -s study.zarr images ct",
  .run = run_mv,
};
