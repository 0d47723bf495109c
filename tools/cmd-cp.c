/* SPDX-License-Identifier: MIT */
/* radio cp: copies volumes from store to store.  The volumes and the name of
 * each copy are determined before anything is written.  A volume is often a
 * single shard, which one thread copies, so several are copied at the same
 * time. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include <radio/index.h>

#include "tools/interrupt.h"
#include "tools/jobs.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/parse.h"
#include "tools/progress.h"
#include "tools/pseudonyms.h"
#include "tools/rows.h"
#include "tools/text.h"

/* The memory of one object, in pieces: mostly that of a whole volume. */
#define COPY_MEMORY_NBYTES ((uint64_t) 24 << 20)

/* A volume, the name of its copy, and the outcome. */
struct item {
  struct radio_store *from;           /* not owned */
  char *path, *to_path;
  enum radio_status status;
  char *message;                      /* NULL: none, or no memory for it */
  struct radio_copy_result result;
  struct rd_progress_part part;       /* in bytes */
};

struct cp {
  const struct rd_args *args;
  const char *to_name, *name;         /* the destination, the one volume */
  const char **columns;               /* of --columns; owned */
  struct rd_key key;                  /* of --subjects-key; without bytes:
                                         names stay */
  struct rd_nodes nodes;              /* the volumes that operands name */
  struct item *items;
  size_t n, capacity;
  struct radio_store *to;
  struct radio_copy_options options;
  size_t path_width;
  struct rd_jobs jobs;

  /* Protected by the lock of jobs. */
  struct rd_progress progress;
  struct rd_progress_sum sum;         /* in bytes */
  size_t ncopied, nskipped, nfailed;
  uint64_t sent_nbytes, there_nbytes;
  struct rd_row_changes rows;
};

/*------------------------------------------------------------------------
 * Copying
 *----------------------------------------------------------------------*/

/* One volume, for its callback. */
struct job {
  struct cp *cp;
  struct item *item;
};

static enum radio_status
on_copy_progress (const struct radio_progress *p, void *user_data)
{
  const struct job *job = user_data;
  struct cp *cp = job->cp;
  struct item *item = job->item;
  if (rd_interrupted ())
    return RADIO_ERROR_CANCELLED;
  pthread_mutex_lock (&cp->jobs.mutex);
  rd_progress_update_part (&cp->progress, &cp->sum, &item->part,
                           item->to_path, p->done_nbytes, p->total_nbytes);
  pthread_mutex_unlock (&cp->jobs.mutex);
  return RADIO_OK;
}

static void
copy_volume (void *data, size_t i)
{
  struct cp *cp = data;
  struct item *item = &cp->items[i];
  struct job job = { cp, item };
  struct radio_copy_options options = cp->options;
  options.progress = on_copy_progress;
  options.user_data = &job;
  rd_jobs_reserve (&cp->jobs, COPY_MEMORY_NBYTES);
  item->status = radio_volume_copy (item->from, item->path, cp->to,
                                    item->to_path, &options, &item->result);
  if (item->status != RADIO_OK)
    item->message = strdup (radio_error_message ());
  rd_jobs_release (&cp->jobs, COPY_MEMORY_NBYTES);
}

static bool
end_volume (void *data, size_t i)
{
  const struct cp *cp = data;
  return cp->items[i].status != RADIO_ERROR_NO_SPACE && !rd_interrupted ();
}

static void
report_volume (void *data, size_t i)
{
  struct cp *cp = data;
  const struct item *item = &cp->items[i];
  const struct radio_copy_result *result = &item->result;
  const char *message = item->message ? item->message : "out of memory";
  rd_progress_clear (&cp->progress);
  cp->sent_nbytes += result->sent_nbytes;
  cp->there_nbytes += result->there_nbytes;
  if (item->status != RADIO_OK) {
    cp->nfailed++;
    if (item->status == RADIO_ERROR_CANCELLED && rd_interrupted ())
      rd_error ("%s: interrupted; the same command resumes the copy",
                item->to_path);
    else if (item->status == RADIO_ERROR_EXISTS
             && strstr (message, "exists already"))
      rd_error ("%s: exists already; see --skip-existing and --overwrite",
                item->to_path);
    else
      rd_error_message (item->to_path, message);
    return;
  }
  cp->nskipped += result->skipped;
  cp->ncopied += !result->skipped;
  if (!cp->options.dry_run)
    rd_row_changes_add_copy (&cp->rows, item->to_path, item->from,
                             item->path);
  if (cp->args->quiet)
    return;
  char sent[RD_TEXT_NBYTES], there[RD_TEXT_NBYTES];
  rd_text_print (stdout, item->to_path);
  printf ("%*s  ", (int) (cp->path_width - rd_text_columns (item->to_path)),
          "");
  if (result->skipped) {
    puts (cp->options.existing == RADIO_EXISTING_SKIP
          ? "skipped: exists already" : "skipped: was copied already");
    return;
  }
  printf ("%8s %s", rd_text_size (result->sent_nbytes, sent),
          cp->options.dry_run ? "to send" : "sent");
  if (result->there_nbytes > 0)
    printf (", %s there already",
            rd_text_size (result->there_nbytes, there));
  putchar ('\n');
}

/*------------------------------------------------------------------------
 * What to copy
 *----------------------------------------------------------------------*/

/* Adds a volume; to_path NULL: the same as path.  False without memory, after
 * an error. */
static bool
add_item (struct cp *cp, struct radio_store *from, const char *path,
          const char *to_path)
{
  if (cp->n == cp->capacity) {
    size_t capacity = cp->capacity ? 2 * cp->capacity : 64;
    struct item *items = reallocarray (cp->items, capacity, sizeof *items);
    if (items == NULL)
      return rd_error_memory (), false;
    cp->items = items;
    cp->capacity = capacity;
  }
  struct item *item = &cp->items[cp->n++];
  *item = (struct item) {
    .from = from, .path = strdup (path),
    .to_path = strdup (to_path ? to_path : path)
  };
  if (item->path == NULL || item->to_path == NULL)
    return rd_error_memory (), false;
  return true;
}

/* The root of a source may be a volume, and no path gives its name; and that
 * of another program is not copied under any name. */
static int
fail_root (struct rd_target *node)
{
  struct radio_volume_info info;
  int failed = rd_node_open (node);
  if (failed)
    return failed;
  radio_volume_get_info (node->volume, &info);
  bool is_foreign = info.header_nbytes == 0;
  rd_node_close (node);
  return rd_error (is_foreign
                   ? "%s: another program's image, and only volumes that "
                   "radio wrote are copied; copy its files, or export and "
                   "ingest it"
                   : "%s: a volume without a store; use --name "
                   "COLLECTION/NAME", node->name);
}

static int
add_node (struct cp *cp, struct rd_target *node)
{
  if (*node->path == '\0' && cp->name == NULL)
    return fail_root (node);
  /* One without a collection fails later, under the name that it has. */
  bool renames = cp->key.nbytes > 0 && strchr (node->path, '/');
  RD_FREE char *renamed = renames ? rd_key_path (&cp->key, node->path) : NULL;
  if (renames && renamed == NULL)
    return RD_EXIT_FAILED;
  return add_item (cp, node->store, node->path, renamed ? renamed : cp->name)
         ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static int
compare_items (const void *a, const void *b)
{
  const struct item *x = a, *y = b;
  return strcmp (x->to_path, y->to_path);
}

static int
compare_names (const void *a, const void *b)
{
  const struct item *x = *(const struct item *const *) a;
  const struct item *y = *(const struct item *const *) b;
  return strcmp (rd_base_name (x->to_path), rd_base_name (y->to_path));
}

/* Two subjects that get one pseudonym would become one. */
static int
check_subjects (const struct cp *cp)
{
  RD_FREE const struct item **items = calloc (cp->n + 1, sizeof *items);
  if (items == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < cp->n; i++)
    items[i] = &cp->items[i];
  qsort (items, cp->n, sizeof *items, compare_names);
  for (size_t i = 1; i < cp->n; i++)
    if (rd_is_one_subject (items[i - 1]->to_path, items[i]->to_path)
        && !rd_is_one_subject (items[i - 1]->path, items[i]->path))
      return rd_error ("%s and %s get one pseudonym; use another key",
                       items[i - 1]->path, items[i]->path);
  return RD_EXIT_OK;
}

/* Only the subject at the beginning of a name gets a pseudonym. */
static void
warn_of_ids (const struct cp *cp)
{
  const struct item *first = NULL;
  size_t n = 0;
  for (size_t i = 0; i < cp->n; i++) {
    const struct item *item = &cp->items[i];
    if (!strchr (item->path, '/')
        || !rd_shows_subject (item->path, item->to_path))
      continue;
    first = first ? first : item;
    n++;
  }
  if (n == 0)
    return;
  const char *name = rd_base_name (first->path);
  RD_FREE char *others = n > 1
    ? rd_format (", as %zu other new names do theirs", n - 1) : NULL;
  RD_FREE char *line = rd_format (
    "%s: has the id %.*s still%s; rename what is copied first",
    first->to_path, (int) radio_name_subject (name), name,
    others ? others : "");
  if (line)
    rd_warn (line);
}

static void
free_item (struct item *item)
{
  free (item->path);
  free (item->to_path);
  free (item->message);
}

/* Lists the volumes to copy, sorted by name; without operands, all of the
 * store. */
static int
find_items (struct cp *cp)
{
  const struct rd_args *args = cp->args;
  unsigned how = RD_NODES_CLOSED
                 | (rd_args_selects (args) ? RD_NODES_SOME : 0);
  int failed = rd_nodes_find (args, how, &cp->nodes);
  for (size_t i = 0; i < cp->nodes.n && !failed; i++)
    failed = add_node (cp, &cp->nodes.list[i]);
  if (failed)
    return failed;
  if (cp->n > 1)
    qsort (cp->items, cp->n, sizeof *cp->items, compare_items);
  if (cp->name && cp->n > 1)
    return rd_error ("--name is for one volume, not for %zu", cp->n);
  for (size_t i = 1; i < cp->n; i++)
    if (strcmp (cp->items[i - 1].to_path, cp->items[i].to_path) == 0)
      return rd_error ("two volumes map to %s; copy each by itself, with "
                       "--name", cp->items[i].to_path);
  if (cp->key.nbytes == 0)
    return RD_EXIT_OK;
  warn_of_ids (cp);
  return check_subjects (cp);
}

/*------------------------------------------------------------------------
 * Columns
 *----------------------------------------------------------------------*/

/* Names of --columns, looked for in the tables of a store. */
struct search {
  struct radio_store *store;
  struct wanted {
    const char *name;
    bool is_there;
    char near[256];                   /* the most similar one; "": none */
    size_t distance;                  /* of it */
  } *wanted;
  size_t n;
};

static void
compare_column (struct wanted *wanted, const char *column)
{
  size_t distance = rd_text_distance (wanted->name, column);
  wanted->is_there |= strcmp (wanted->name, column) == 0;
  if (distance < wanted->distance) {
    wanted->distance = distance;
    snprintf (wanted->near, sizeof wanted->near, "%s", column);
  }
}

static enum radio_status
find_in_table (const struct radio_table_entry *entry, void *user_data)
{
  const struct search *search = user_data;
  RD_CLOSE_TABLE struct radio_table *table = NULL;
  struct radio_table_info info;
  enum radio_status status = radio_table_open (search->store, entry->path,
                                               &table);
  if (status == RADIO_ERROR_NOT_FOUND)        /* never written to */
    return RADIO_OK;
  if (status != RADIO_OK)
    return status;
  radio_table_get_info (table, &info);
  for (size_t i = 0; i < info.column_count; i++) {
    struct radio_column_info column;
    status = radio_table_get_column (table, i, &column);
    if (status != RADIO_OK)
      return status;
    for (size_t k = 0; k < search->n; k++)
      compare_column (&search->wanted[k], column.name);
  }
  return RADIO_OK;
}

/* Returns the first name that was not found, or NULL. */
static const struct wanted *
first_missing (const struct search *search)
{
  for (size_t i = 0; i < search->n; i++)
    if (!search->wanted[i].is_there)
      return &search->wanted[i];
  return NULL;
}

/* A name that no table has was misspelled. */
static int
check_columns (struct cp *cp, struct rd_args *args)
{
  struct search search = { .n = cp->rows.copies.ncolumns };
  RD_FREE struct wanted *wanted = calloc (search.n + 1, sizeof *wanted);
  if (wanted == NULL)
    return rd_error_memory ();
  search.wanted = wanted;
  for (size_t i = 0; i < search.n; i++)
    wanted[i] = (struct wanted) {
      .name = cp->columns[i], .distance = 3,
      .is_there = radio_index_is_derived (cp->columns[i]),
    };
  for (size_t i = 0; i < cp->nodes.nroots && first_missing (&search); i++) {
    search.store = cp->nodes.roots[i].store;
    if (search.store && radio_table_list (search.store, find_in_table, &search)
                        != RADIO_OK)
      return rd_error_library (NULL);
  }
  const struct wanted *missing = first_missing (&search);
  if (missing == NULL)
    return RD_EXIT_OK;
  return rd_usage_error (args, "--columns: no table has a column '%s'%s%s%s",
                         missing->name,
                         missing->near[0] ? "; did you mean " : "",
                         missing->near, missing->near[0] ? "?" : "");
}

/* Ids to look for in the cells of a store's tables that are copied. */
struct ids {
  const struct cp *cp;
  struct radio_store *store;
  struct rd_text_set subjects;           /* of the store */
  struct rd_text_set numbers;            /* of these: "12" of sub-012 */
  struct rd_text_set copied;             /* paths of volumes, and subjects */
};

static void
clear_ids (struct ids *ids)
{
  rd_text_set_clear (&ids->subjects);
  rd_text_set_clear (&ids->numbers);
  rd_text_set_clear (&ids->copied);
}

static bool
add_subject (struct ids *ids, const char *id, size_t n)
{
  size_t begin = n > 4 && strncmp (id, "sub-", 4) == 0 ? 4 : 0;
  if (!rd_ids_add_subject (&ids->subjects, id, n))
    return false;
  while (begin + 1 < n && id[begin] == '0')
    begin++;
  for (size_t i = begin; i < n; i++)
    if (id[i] < '0' || id[i] > '9')
      return true;
  return rd_text_set_add (&ids->numbers, id + begin, n - begin);
}

/* Adds what is copied, and all subjects that the store knows.  False after an
 * error. */
static bool
add_ids (struct ids *ids)
{
  const struct cp *cp = ids->cp;
  RD_CLOSE_TABLE struct radio_table *table = NULL;
  RD_CLEANUP (radio_strings_free) struct radio_strings all = { 0 };
  for (size_t i = 0; i < cp->n; i++) {
    const char *path = cp->items[i].path, *name = rd_base_name (path);
    size_t n = radio_name_subject (name);
    if (cp->items[i].from == ids->store
        && !(rd_text_set_add (&ids->copied, path, strlen (path))
             && rd_text_set_add (&ids->copied, name, n)
             && add_subject (ids, name, n)))
      return false;
  }
  enum radio_status status = radio_table_open (ids->store,
                                               RADIO_TABLE_SUBJECTS, &table);
  if (status == RADIO_OK)
    status = radio_table_read_ids (table, &all);
  if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND)
    return rd_error_library (NULL), false;
  for (uint64_t i = 0; i < all.n; i++)
    if (!add_subject (ids, all.bytes + all.offsets[i],
                      (size_t) (all.offsets[i + 1] - all.offsets[i])))
      return false;
  rd_text_set_sort (&ids->subjects);
  rd_text_set_sort (&ids->numbers);
  rd_text_set_sort (&ids->copied);
  return true;
}

static bool
copies_column (const struct cp *cp, const char *name, bool is_of_volumes)
{
  const struct radio_index_copies_options *copies = &cp->rows.copies;
  bool is_wanted = copies->columns == NULL;
  for (size_t i = 0; i < copies->ncolumns && !is_wanted; i++)
    is_wanted = strcmp (copies->columns[i], name) == 0;
  return is_wanted && !(is_of_volumes && radio_index_is_derived (name));
}

/* Counts the cells of a column that are copied and have an id.  An age may be
 * a subject's number, too: numbers are ids where each is one, and none is there
 * twice. */
static enum radio_status
count_ids (const struct ids *ids, struct radio_table *table,
           const struct radio_strings *rows, size_t column, bool are_numbers,
           uint64_t *n)
{
  RD_CLEANUP (radio_strings_free) struct radio_strings text = { 0 };
  RD_CLEANUP (rd_text_set_clear) struct rd_text_set seen = { 0 };
  enum radio_status status = radio_table_read_text (table, column, &text,
                                                    NULL);
  uint64_t ncells = 0;
  *n = 0;
  for (uint64_t i = 0; i < text.n && status == RADIO_OK; i++) {
    size_t nrow = (size_t) (rows->offsets[i + 1] - rows->offsets[i]);
    size_t ncell = (size_t) (text.offsets[i + 1] - text.offsets[i]);
    const char *cell = text.bytes + text.offsets[i];
    if (ncell == 0 || !rd_text_set_has (&ids->copied,
                                        rows->bytes + rows->offsets[i], nrow))
      continue;
    ncells++;
    *n += are_numbers ? rd_text_set_has (&ids->numbers, cell, ncell)
                      : rd_ids_are_in (&ids->subjects, cell, ncell);
    if (are_numbers && !rd_text_set_add (&seen, cell, ncell))
      status = RADIO_ERROR_MEMORY;
  }
  if (!are_numbers)
    return status;
  rd_text_set_sort (&seen);
  for (size_t i = 0; i < seen.n; i++)
    if (seen.n == 1 || *n < ncells
        || (i > 0 && strcmp (seen.list[i], seen.list[i - 1]) == 0))
      *n = 0;
  return status;
}

/* Warns if a copied column identifies subjects; table: its name for users. */
static void
warn_of_column (const struct ids *ids, const char *table,
                const struct radio_column_info *column, uint64_t n)
{
  RD_FREE char *line = NULL;
  if (rd_ids_are_in (&ids->subjects, column->name, strlen (column->name)))
    line = rd_format ("%s: the name of the column '%s' has an id of a subject; "
                      "leave it out by --columns", table, column->name);
  else if (n > 0)
    line = rd_format ("%s: the column '%s' has ids of subjects still, in "
                      "%" PRIu64 " row%s; leave it out by --columns", table,
                      column->name, n, rd_plural (n));
  else if (rd_ids_are_in (&ids->subjects, column->attributes_json,
                          strlen (column->attributes_json)))
    line = rd_format ("%s: what describes the column '%s' has ids of subjects "
                      "still; leave it out by --columns", table, column->name);
  if (line)
    rd_warn (line);
}

/* Warns of columns of a table; collection "": that of subjects. */
static enum radio_status
warn_in_table (const struct ids *ids, const char *path,
               const char *collection)
{
  RD_CLOSE_TABLE struct radio_table *table = NULL;
  RD_CLEANUP (radio_strings_free) struct radio_strings rows = { 0 };
  struct radio_table_info info = { 0 };
  enum radio_status status = radio_table_open (ids->store, path, &table);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  if (status == RADIO_OK)
    status = radio_table_read_ids (table, &rows);
  if (status == RADIO_OK)
    radio_table_get_info (table, &info);
  for (size_t i = 0; i < info.column_count && status == RADIO_OK; i++) {
    struct radio_column_info column;
    uint64_t n = 0;
    status = radio_table_get_column (table, i, &column);
    if (status != RADIO_OK
        || !copies_column (ids->cp, column.name, *collection != '\0'))
      continue;
    bool are_numbers = column.type == RADIO_COLUMN_INTEGER;
    if (are_numbers || column.type == RADIO_COLUMN_TEXT)
      status = count_ids (ids, table, &rows, i, are_numbers, &n);
    if (status == RADIO_OK)
      warn_of_column (ids, *collection ? collection : "subjects", &column, n);
  }
  return status;
}

/* The same of the tables of subjects and of all collections that are copied,
 * which are those of the copies: items are sorted. */
static enum radio_status
warn_in_tables (const struct ids *ids)
{
  const struct cp *cp = ids->cp;
  const char *last = "";
  enum radio_status status = warn_in_table (ids, RADIO_TABLE_SUBJECTS, "");
  for (size_t i = 0; i < cp->n && status == RADIO_OK; i++) {
    const char *path = cp->items[i].path, *slash = strchr (path, '/');
    size_t n = slash ? (size_t) (slash - path) + 1 : 0;
    if (cp->items[i].from != ids->store || n == 0
        || strncmp (path, last, n) == 0)
      continue;
    RD_FREE char *collection = strndup (path, n - 1);
    RD_FREE char *table = collection
      ? rd_format (RADIO_TABLE_VOLUMES "/%s", collection) : NULL;
    status = table ? warn_in_table (ids, table, collection)
                   : RADIO_ERROR_MEMORY;
    last = path;
  }
  return status;
}

/* Cells are copied as they are. */
static int
warn_of_cells (const struct cp *cp)
{
  for (size_t i = 0; i < cp->nodes.nroots; i++) {
    RD_CLEANUP (clear_ids) struct ids ids = {
      .cp = cp, .store = cp->nodes.roots[i].store
    };
    if (ids.store == NULL)
      continue;
    if (!add_ids (&ids))
      return RD_EXIT_FAILED;
    if (warn_in_tables (&ids) != RADIO_OK)
      return rd_error_library (NULL);
  }
  return RD_EXIT_OK;
}

/*------------------------------------------------------------------------
 * Where to
 *----------------------------------------------------------------------*/

/* Rejects a destination within another store: the last part of the path was
 * meant to be the name of the copy. */
static int
check_destination (const struct cp *cp)
{
  if (rd_is_url (cp->to_name))
    return rd_url_check_apart (cp->args, cp->to_name);
  RD_FREE char *above = strdup (cp->to_name);
  if (above == NULL)
    return rd_error_memory ();
  for (;;) {
    RD_FREE char *root = NULL, *path = NULL;
    bool is_node = rd_split_path (above, &root, &path);
    if (is_node && (*path != '\0' || strcmp (above, cp->to_name) != 0))
      return rd_error ("%s: in the store %s; use that store, and --name "
                       "for the copy", cp->to_name, root);
    char *slash = strrchr (above, '/');
    if (is_node || slash == NULL || slash == above || slash[-1] == '/'
        || slash[-1] == ':')
      return RD_EXIT_OK;
    *slash = '\0';
  }
}

/* Returns whether two names are those of one store. */
static bool
is_same_store (const char *a, const char *b)
{
  size_t n = rd_unslashed_nbytes (a), m = rd_unslashed_nbytes (b);
  if (rd_is_url (a) || rd_is_url (b))
    return n == m && memcmp (a, b, n) == 0;
  return rd_is_same_file (a, b);
}

/* Rejects copies of volumes onto themselves. */
static int
check_apart (const struct cp *cp)
{
  for (size_t k = 0; k < cp->nodes.nroots; k++) {
    const struct rd_root *root = &cp->nodes.roots[k];
    if (!is_same_store (root->name ? root->name : rd_store_name (cp->args),
                        cp->to_name))
      continue;
    for (size_t i = 0; i < cp->n; i++)
      if (cp->items[i].from == root->store
          && strcmp (cp->items[i].path, cp->items[i].to_path) == 0)
        return rd_error ("%s: in %s already, and a copy in one store needs "
                         "another name; give it by --name, or another store",
                         cp->items[i].path, cp->to_name);
  }
  return RD_EXIT_OK;
}

/* A dry run needs no store: an empty one in memory will do. */
static int
open_destination (struct cp *cp)
{
  struct rd_args args = *cp->args;
  struct radio_store_options options = { .create = true };
  args.store = cp->to_name;
  int failed = check_destination (cp);
  if (failed)
    return failed;
  if (!cp->options.dry_run)
    return rd_store_open (&args, true, &cp->to);
  enum radio_status status = rd_uri_open (&args, cp->to_name,
                                          RD_URI_EXISTING, &cp->to);
  enum radio_node node;
  if (status == RADIO_OK)
    status = radio_store_node (cp->to, "", &node);
  if (status == RADIO_ERROR_NOT_FOUND) {
    radio_store_close (cp->to);
    status = radio_store_open ("memory:", &options, &cp->to);
  }
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (cp->to_name);
}

static void
print_summary (const struct cp *cp)
{
  char a[RD_TEXT_NBYTES], b[RD_TEXT_NBYTES], c[RD_TEXT_NBYTES];
  double seconds = rd_clock_s () - cp->progress.start_s;
  double per_s = (double) cp->sent_nbytes / (seconds + 1e-9);
  bool is_dry = cp->options.dry_run;
  bool was_sent = cp->ncopied > 0 || cp->sent_nbytes > 0;
  printf ("%zu volume%s%s", cp->ncopied, rd_plural (cp->ncopied),
          is_dry ? " to copy" : "");
  if (was_sent)
    printf (", %s %s", rd_text_size (cp->sent_nbytes, a),
            is_dry ? "to send" : "sent");
  if (was_sent && !is_dry)
    printf (" in %s, %s/s", rd_text_time (seconds, b),
            rd_text_size ((uint64_t) per_s, c));
  if (cp->there_nbytes > 0)
    printf ("; %s there already", rd_text_size (cp->there_nbytes, a));
  if (cp->nskipped > 0)
    printf ("; %zu skipped", cp->nskipped);
  if (cp->nfailed > 0)
    printf ("; %zu failed", cp->nfailed);
  putchar ('\n');
}

static int
copy_volumes (struct cp *cp, struct rd_args *args)
{
  int failed = find_items (cp);
  if (!failed)
    failed = check_apart (cp);
  if (!failed)
    failed = check_columns (cp, args);
  if (!failed && cp->key.nbytes > 0)
    failed = warn_of_cells (cp);
  if (failed)
    return failed;
  /* Making a store is cancelled by Ctrl-C, too. */
  rd_interrupt_catch_once ();
  failed = open_destination (cp);
  if (failed)
    return failed;
  cp->rows.store = cp->to;
  cp->rows.name = cp->to_name;
  cp->rows.copies.replace = cp->options.existing == RADIO_EXISTING_REPLACE;
  for (size_t i = 0; i < cp->n; i++) {
    size_t width = rd_text_columns (cp->items[i].to_path);
    if (width > cp->path_width)
      cp->path_width = width;
  }
  /* Either store may be on a network. */
  size_t nfrom = rd_nodes_nthreads (cp->args, &cp->nodes);
  size_t nto = rd_jobs_nthreads (cp->args, cp->to_name);
  cp->jobs = (struct rd_jobs) {
    .n = cp->n,
    .nthreads = nfrom > nto ? nfrom : nto,
    .limit_nbytes = rd_jobs_limit_nbytes (cp->args),
    .run = copy_volume,
    .end = end_volume,
    .report = report_volume,
    .data = cp,
  };
  cp->sum.n = cp->n;
  rd_progress_start (&cp->progress, "copied");
  if (!rd_jobs_run (&cp->jobs))
    return RD_EXIT_FAILED;
  rd_progress_clear (&cp->progress);
  failed = rd_row_changes_write (&cp->rows);
  print_summary (cp);
  return cp->nfailed ? RD_EXIT_FAILED : failed;
}

/* Takes the value of --columns, which may be empty; false after an error. */
static bool
take_columns (struct rd_args *args, struct cp *cp)
{
  struct radio_index_copies_options *copies = &cp->rows.copies;
  free (cp->columns);
  copies->ncolumns = 0;
  if (*args->value == '\0')
    cp->columns = calloc (1, sizeof *cp->columns);
  else
    cp->columns = rd_args_names (args, &copies->ncolumns);
  if (cp->columns == NULL && *args->value == '\0')
    args->status = rd_error_memory ();
  copies->columns = cp->columns;
  return cp->columns != NULL;
}

/* Takes an option; false after an error. */
static bool
take_option (struct rd_args *args, int id, struct cp *cp,
             const char **key_name)
{
  switch (id) {
  case RD_OPTION_TO:
    cp->to_name = args->value;
    return true;
  case RD_OPTION_NAME:
    cp->name = args->value;
    return true;
  case RD_OPTION_COLUMNS:
    return take_columns (args, cp);
  case RD_OPTION_SUBJECTS_KEY:
    *key_name = args->value;
    return true;
  default:
    cp->options.no_read_back |= id == RD_OPTION_NO_READ_BACK;
    return true;
  }
}

/* The last operand is the destination, unless --to names it. */
static int
run (struct rd_args *args, struct cp *cp)
{
  const char *key_name = NULL;
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!take_option (args, id, cp, &key_name))
      return args->status;
  if (id < 0
      || !rd_args_want (args, cp->to_name ? 0 : 2, SIZE_MAX,
                        args->noperands == 0 ? "SOURCE" : "DESTINATION")
      || !rd_args_existing (args, &cp->options.existing))
    return args->status;
  if (key_name && cp->name)
    return rd_usage_error (args, "--subjects-key makes the names of copies; "
                           "give it without --name");
  if (cp->to_name == NULL)
    cp->to_name = args->operands[--args->noperands];
  args->newest_tables = rd_args_selects (args);
  cp->options.dry_run = args->dry_run;
  cp->options.strip = key_name != NULL;
  cp->rows.copies.renames_subjects = key_name != NULL;
  int failed = key_name ? rd_key_read (key_name, &cp->key) : RD_EXIT_OK;
  return failed ? failed : copy_volumes (cp, args);
}

static int
run_cp (struct rd_args *args)
{
  struct cp cp = { .args = args };
  int status = run (args, &cp);
  rd_row_changes_clear (&cp.rows);
  radio_store_close (cp.to);
  for (size_t i = 0; i < cp.n; i++)
    free_item (&cp.items[i]);
  free (cp.items);
  rd_nodes_clear (&cp.nodes);
  rd_key_clear (&cp.key);
  free (cp.columns);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_SELECT_OPTIONS,
  { RD_OPTION_TO, "to", "STORE",
    "the destination; then all operands are sources,\n"
    "and without any the whole store is copied" },
  { RD_OPTION_NAME, "name", "COLLECTION/NAME",
    "the name of the copy (of one volume)" },
  { RD_OPTION_COLUMNS, "columns", "LIST",
    "the user's columns that are copied (default: all)" },
  { RD_OPTION_SUBJECTS_KEY, "subjects-key", "FILE",
    "pseudonyms of subjects by this key; header texts\n"
    "and sources are blanked" },
  RD_EXISTING_OPTIONS,
  { RD_OPTION_DRY_RUN, "dry-run", NULL,
    "write nothing, print what would be sent" },
  { RD_OPTION_NO_READ_BACK, "no-read-back", NULL,
    "do not read back what was written" },
  RD_SINGLE_WRITER_OPTION,
  { 'q', "quiet", NULL, "print only the summary" },
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_cp = {
  .name = "cp",
  .operands = "[OPTION]... SOURCE... DESTINATION",
  .summary = "copy volumes from store to store",
  .description =
    "Copies volumes as they are into another store, which is created if "
    "needed. A source is a store, a collection or a volume: the path of its "
    "folder, or a name in the store. The rows of tables go with the volumes, "
    "also of those that a query selects. Checksums are verified on the way, "
    "and what was written is read back. A copy that was interrupted resumes "
    "when the same command is run again.",
  .options = options,
  .examples =
    "radio cp study.zarr adults.zarr --where 'age >= 18 and has(seg)'\n"
    "radio cp study.zarr share.zarr --subjects-key key --columns age,sex\n"
    "radio cp -s https://host/study.zarr ct/head mine.zarr",
  .run = run_cp,
};
