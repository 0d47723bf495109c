/* SPDX-License-Identifier: MIT */
/* The index of volumes: their rows are collected for each collection, compared
 * with the ids of its table, and written in one edit. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <radio/index.h>

#include "profiler/counters.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/table/edit.h"
#include "src/table/tables.h"
#include "src/volume/index/rows.h"
#include "src/volume/list.h"
#include "src/volume/node.h"
#include "src/volume/strings.h"

/* How often a writer may be overtaken by another. */
#define MAX_TRIES 1000

struct indexing {
  struct radio_store *store;
  struct radio_index_options options;
  struct radio_index_result result;
  bool is_partial;                    /* only volumes at paths: other rows
                                         stay */
  const uint64_t *head;               /* NULL, or the only one of the table
                                         with which this is right */
  bool is_overtaken;                  /* another was the newest */

  /* The collection that is being collected. */
  char *collection;                   /* NULL: none */
  struct rd_rows rows;
  struct rd_text_list volumes;            /* all ids, also of damaged ones */
  struct rd_text_list gone;               /* of a partial one: paths that may be
                                         without a volume */

  struct rd_text_list subjects;           /* of all, in any order */
  struct rd_strings done;             /* collections that were compared */
  struct rd_lookup compared;          /* those of them that have volumes */
};

static void
clear_indexing (struct indexing *indexing)
{
  rd_free (indexing->collection);
  rd_rows_free (&indexing->rows);
  rd_text_list_free (&indexing->volumes);
  rd_text_list_free (&indexing->gone);
  rd_text_list_free (&indexing->subjects);
  rd_lookup_free (&indexing->compared);
  rd_strings_free (&indexing->done);
}

/* Reports a fault of each path. */
static enum radio_status
report_all (const struct indexing *indexing, enum radio_index_fault fault,
            const struct rd_text_list *paths)
{
  const struct radio_strings list = rd_list_strings (paths);
  if (indexing->options.report == NULL)
    return RADIO_OK;
  for (uint64_t i = 0; i < list.n; i++) {
    const struct rd_slice path = rd_string (&list, i);
    char *text RD_FREE = rd_strndup (path.at, path.n);
    if (text == NULL)
      return rd_fail_memory (path.n + 1);
    RD_TRY (indexing->options.report (fault, text,
                                      indexing->options.user_data));
  }
  return RADIO_OK;
}

/* Appends the strings of a that are not among those of b, in byte order. */
static enum radio_status
subtract (const struct rd_lookup *a, const struct rd_lookup *b,
          struct rd_text_list *found)
{
  for (size_t i = 0; i < a->n; i++)
    if (rd_lookup_find (b, a->keys[i].key) == RD_NOT_THERE)
      RD_TRY (rd_text_list_add (found, a->keys[i].key));
  return RADIO_OK;
}

/* Finds which of some paths are without a volume, over a network all at the
 * same time: others may have been published, or removed, since volumes were
 * listed. */
struct check_job {
  struct rd_job job;                  /* first */
  struct radio_store *store;
  const struct radio_strings *paths;
  bool *exist;
};

static enum radio_status
do_check (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  const struct check_job *job = (const struct check_job *) base;
  const struct rd_slice id = rd_string (job->paths, task);
  char *path RD_FREE = rd_strndup (id.at, id.n);
  (void) scratch;
  if (path == NULL)
    return rd_fail_memory (id.n + 1);
  return rd_store_node_exists (job->store, path, &job->exist[task]);
}

/* Appends those of the paths that have a volume now, and those that have none;
 * each list may be NULL. */
static enum radio_status
check_again (struct radio_store *store, const struct rd_text_list *paths,
             struct rd_text_list *there, struct rd_text_list *gone)
{
  static const struct radio_site site = {
    "find volumes", RD_IN_METADATA, "check_again", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  const struct radio_strings list = rd_list_strings (paths);
  bool *exist RD_FREE = rd_calloc (list.n + 1, sizeof *exist);
  struct check_job job = {
    .job = { .run = do_check, .n = list.n, .site = &site },
    .store = store, .paths = &list, .exist = exist,
  };
  if (exist == NULL)
    return rd_fail_memory (list.n + 1);
  if (list.n == 0)
    return RADIO_OK;
  RD_TRY (rd_store_run (store, &job.job));
  for (uint64_t i = 0; i < list.n; i++) {
    struct rd_text_list *to = exist[i] ? there : gone;
    if (to)
      RD_TRY (rd_text_list_add (to, rd_string (&list, i)));
  }
  return RADIO_OK;
}

/* Volumes that are opened again. */
struct again {
  const struct rd_strings *paths;     /* in order */
  size_t next;
  struct rd_rows *rows;
  struct rd_text_list *gone;
};

/* Counts the paths before the next existing one as gone; NULL: all. */
static enum radio_status
skip_gone (struct again *again, const char *path)
{
  for (; again->next < again->paths->n; again->next++) {
    const char *gone = again->paths->items[again->next];
    if (path && strcmp (gone, path) == 0)
      break;
    const struct rd_slice id = { gone, strlen (gone) };
    RD_TRY (rd_text_list_add (again->gone, id));
  }
  again->next++;
  return RADIO_OK;
}

static enum radio_status
take_again (const struct radio_entry *entry, struct radio_volume *volume,
            uint64_t stored_nbytes, void *user_data)
{
  struct again *again = user_data;
  (void) stored_nbytes;
  RD_TRY (skip_gone (again, entry->path));
  return volume ? rd_rows_add (again->rows, entry->path, volume) : RADIO_OK;
}

/* Opens the volumes again whose row is another volume's: it, or they, may be
 * newer than the other.  A writer that replaces one of them after this will
 * write its row after the head that was read. */
static enum radio_status
open_again (const struct indexing *indexing, const struct rd_lookup *rows,
            const struct radio_strings *levels, struct rd_rows *opened,
            struct rd_text_list *gone)
{
  struct rd_strings paths RD_STRINGS_SCOPE = { 0 };
  const struct radio_strings ids = rd_list_strings (&indexing->rows.ids);
  const struct radio_strings ours = rd_rows_levels (&indexing->rows);
  for (size_t i = 0; i < ids.n; i++) {
    const struct rd_slice id = rd_string (&ids, i);
    size_t row = rd_lookup_find (rows, id);
    bool is_same = row == RD_NOT_THERE
                   || (row < levels->n
                       && rd_slice_equal (rd_string (levels, row),
                                          rd_string (&ours, i)));
    if (!is_same)
      RD_TRY (rd_strings_add (&paths, id.at, id.n));
  }
  struct again again = { &paths, 0, opened, gone };
  if (paths.n == 0)
    return RADIO_OK;
  RD_TRY (rd_list_open_paths (indexing->store,
                              (const char *const *) paths.items, paths.n,
                              take_again, &again));
  return skip_gone (&again, NULL);
}

/* The changes that the table of a collection needs. */
struct comparison {
  uint64_t head;                      /* of the generation that was compared */
  struct rd_text_list missing;        /* volumes without a row */
  struct rd_text_list added;          /* those of them that are still there */
  struct rd_text_list stray;          /* rows without a volume */
  struct rd_text_list gone;           /* volumes that were removed since they
                                         were listed */
  struct rd_rows opened;              /* of those that were opened again */
};

static void
free_comparison (struct comparison *comparison)
{
  rd_text_list_free (&comparison->missing);
  rd_text_list_free (&comparison->added);
  rd_text_list_free (&comparison->stray);
  rd_text_list_free (&comparison->gone);
  rd_rows_free (&comparison->opened);
}

/* Writes the rows of the collection, but only after the head with which they
 * were compared: after another one a row, or its lack, may be what another
 * writer found since. */
static enum radio_status
write_rows (struct indexing *indexing, const char *path,
            const struct comparison *comparison)
{
  struct radio_table_edit *edit RD_CLEANUP (rd_cleanup_edit) = NULL;
  struct radio_table_result done;
  const struct radio_strings new_ids = rd_list_strings (&comparison->missing);
  const struct radio_strings old_ids = rd_list_strings (&comparison->stray);
  const struct radio_strings gone = rd_list_strings (&comparison->gone);
  if (indexing->rows.ids.n == 0 && new_ids.n == 0 && old_ids.n == 0)
    return RADIO_OK;
  RD_TRY (radio_table_edit_new (indexing->store, path, &edit));
  rd_edit_expect (edit, comparison->head, &indexing->is_overtaken);
  RD_TRY (radio_table_edit_add_rows (edit, &new_ids));
  RD_TRY (radio_table_edit_remove_rows (edit, &old_ids));
  if (indexing->rows.ids.n > 0)
    RD_TRY (rd_rows_set (&indexing->rows, edit));
  if (comparison->opened.ids.n > 0)
    RD_TRY (rd_rows_set (&comparison->opened, edit));
  RD_TRY (radio_table_edit_remove_rows (edit, &gone));
  RD_TRY (radio_table_edit_commit (edit, &done));
  indexing->result.written_count += done.head > 0;
  if (indexing->is_partial)
    indexing->result.no_volume_count += done.removed_count;
  return RADIO_OK;
}

/* Compares the collection with its table.  In S3 the first rows of a table are
 * not worth a request for each: no one else wrote any. */
static enum radio_status
compare (const struct indexing *indexing, const char *path,
         struct comparison *comparison)
{
  struct radio_strings ids RD_STRINGS_FREE = { 0 };
  struct radio_strings levels RD_STRINGS_FREE = { 0 };
  struct rd_lookup rows RD_LOOKUP_SCOPE = { 0 };
  struct rd_lookup found RD_LOOKUP_SCOPE = { 0 };
  struct rd_lookup asked RD_LOOKUP_SCOPE = { 0 };
  struct rd_text_list maybe RD_TEXT_LIST_SCOPE = { 0 };
  struct radio_store *store = indexing->store;
  bool is_check = indexing->options.check;
  RD_TRY (rd_index_read_ids (store, path, &ids, is_check ? NULL : &levels,
                             &comparison->head));
  const struct radio_strings volumes = rd_list_strings (&indexing->volumes);
  const struct radio_strings gone = rd_list_strings (&indexing->gone);
  RD_TRY (rd_lookup_strings (&ids, &rows));
  RD_TRY (rd_lookup_strings (&volumes, &found));
  RD_TRY (rd_lookup_strings (&gone, &asked));
  RD_TRY (subtract (&found, &rows, &comparison->missing));
  RD_TRY (subtract (indexing->is_partial ? &asked : &rows, &found, &maybe));
  RD_TRY (check_again (store, &maybe, NULL, &comparison->stray));
  if (comparison->head > 0 || rd_io_excludes_all (store->io))
    RD_TRY (check_again (store, &comparison->missing, &comparison->added,
                         &comparison->gone));
  else
    RD_TRY (subtract (&found, &rows, &comparison->added));
  return is_check ? RADIO_OK
                  : open_again (indexing, &rows, &levels, &comparison->opened,
                                &comparison->gone);
}

static enum radio_status
report_stale (const char *path, void *user_data)
{
  struct indexing *indexing = user_data;
  const struct radio_index_options *options = &indexing->options;
  indexing->result.stale_count++;
  return options->report ? options->report (RADIO_INDEX_STALE, path,
                                            options->user_data) : RADIO_OK;
}

/* Compares the collection that was collected with its table, and writes it. */
static enum radio_status
compare_collection (struct indexing *indexing, const char *path)
{
  struct comparison comparison RD_CLEANUP (free_comparison) = { 0 };
  RD_TRY (compare (indexing, path, &comparison));
  if (indexing->head && comparison.head != *indexing->head) {
    indexing->is_overtaken = true;
    return rd_fail (RADIO_ERROR_EXISTS, "%s: another writer was faster", path);
  }
  if (!indexing->options.check)
    RD_TRY (write_rows (indexing, path, &comparison));
  indexing->result.no_row_count += comparison.added.n;
  if (!indexing->is_partial)
    indexing->result.no_volume_count += comparison.stray.n;
  RD_TRY (report_all (indexing, RADIO_INDEX_NO_ROW, &comparison.added));
  RD_TRY (report_all (indexing, RADIO_INDEX_NO_VOLUME, &comparison.stray));
  return indexing->options.check_values
         ? rd_rows_find_stale (&indexing->rows, indexing->store, path,
                               report_stale, indexing)
         : RADIO_OK;
}

static enum radio_status
end_collection (struct indexing *indexing)
{
  enum radio_status status;
  if (indexing->collection == NULL)
    return RADIO_OK;
  char *path RD_FREE = rd_key_join (RADIO_TABLE_VOLUMES, indexing->collection);
  if (path == NULL)
    return RADIO_ERROR_MEMORY;
  size_t ntries = 0;
  do {
    indexing->is_overtaken = false;
    status = compare_collection (indexing, path);
  } while (status == RADIO_ERROR_EXISTS && indexing->is_overtaken
           && !indexing->head && ++ntries < MAX_TRIES);
  RD_TRY (status);
  RD_TRY (rd_strings_add (&indexing->done, indexing->collection,
                          strlen (indexing->collection)));
  rd_rows_free (&indexing->rows);
  rd_text_list_free (&indexing->volumes);
  rd_text_list_free (&indexing->gone);
  rd_free (indexing->collection);
  indexing->collection = NULL;
  return RADIO_OK;
}

/* Ends the collection before, unless it is the one named by n bytes. */
static enum radio_status
begin_collection (struct indexing *indexing, const char *collection, size_t n)
{
  const char *last = indexing->collection;
  if (last && strlen (last) == n && memcmp (last, collection, n) == 0)
    return RADIO_OK;
  RD_TRY (end_collection (indexing));
  indexing->collection = rd_strndup (collection, n);
  return indexing->collection ? RADIO_OK : rd_fail_memory (n + 1);
}

/* True if volumes are not opened. */
static bool
reads_names (const struct indexing *indexing)
{
  return indexing->options.check && !indexing->options.check_values;
}

/* Takes a volume of the listing; NULL: damaged, or not read. */
static enum radio_status
take_volume (const struct radio_entry *entry, struct radio_volume *volume,
             uint64_t stored_nbytes, void *user_data)
{
  struct indexing *indexing = user_data;
  size_t nsession;
  const char *session;
  (void) stored_nbytes;
  /* Images at the root of another program's tree are in no collection. */
  if (*entry->collection == '\0')
    return RADIO_OK;
  bool is_damaged = volume == NULL && !reads_names (indexing);
  indexing->result.volume_count++;
  if (is_damaged) {
    indexing->result.damaged_count++;
    if (indexing->options.report)
      RD_TRY (indexing->options.report (RADIO_INDEX_DAMAGED, entry->path,
                                        indexing->options.user_data));
  }
  RD_TRY (begin_collection (indexing, entry->collection,
                            strlen (entry->collection)));
  const struct rd_slice path = { entry->path, strlen (entry->path) };
  RD_TRY (rd_text_list_add (&indexing->volumes, path));
  if (volume == NULL)
    return RADIO_OK;
  RD_TRY (rd_rows_add (&indexing->rows, entry->path, volume));
  const struct rd_slice subject = {
    entry->name, rd_name_subject (entry->name, &session, &nsession)
  };
  return rd_text_list_add (&indexing->subjects, subject);
}

static enum radio_status
take_name (const struct radio_entry *entry, void *user_data)
{
  return take_volume (entry, NULL, 0, user_data);
}

/* Compares the table of a collection without volumes. */
static enum radio_status
take_table (const struct radio_table_entry *entry, void *user_data)
{
  struct indexing *indexing = user_data;
  if (entry->collection == NULL)
    return RADIO_OK;
  const struct rd_slice name = { entry->collection,
                                 strlen (entry->collection) };
  if (rd_lookup_find (&indexing->compared, name) != RD_NOT_THERE)
    return RADIO_OK;
  return begin_collection (indexing, entry->collection,
                           strlen (entry->collection));
}

/* Finds out whether the table of subjects can be read, in its newest
 * generation. */
static enum radio_status
check_subjects (struct radio_store *store)
{
  struct radio_table *table RD_CLEANUP (rd_cleanup_table) = NULL;
  enum radio_status status = radio_table_open (store, RADIO_TABLE_SUBJECTS,
                                               &table);
  return status == RADIO_ERROR_NOT_FOUND ? RADIO_OK : status;
}

/* Adds rows of the subjects that have none. */
static enum radio_status
write_subjects (struct indexing *indexing)
{
  struct radio_table_edit *edit RD_CLEANUP (rd_cleanup_edit) = NULL;
  struct rd_text_list unique RD_TEXT_LIST_SCOPE = { 0 };
  struct rd_lookup sorted RD_LOOKUP_SCOPE = { 0 };
  struct radio_table_result done;
  const struct radio_strings all = rd_list_strings (&indexing->subjects);
  if (indexing->options.check)
    return check_subjects (indexing->store);
  RD_TRY (rd_lookup_strings (&all, &sorted));
  for (size_t i = 0; i < sorted.n; i++)
    if (i == 0 || !rd_slice_equal (sorted.keys[i - 1].key, sorted.keys[i].key))
      RD_TRY (rd_text_list_add (&unique, sorted.keys[i].key));
  if (unique.n == 0)
    return RADIO_OK;
  const struct radio_strings ids = rd_list_strings (&unique);
  RD_TRY (radio_table_edit_new (indexing->store, RADIO_TABLE_SUBJECTS, &edit));
  RD_TRY (radio_table_edit_add_rows (edit, &ids));
  RD_TRY (radio_table_edit_commit (edit, &done));
  indexing->result.subject_count = done.added_count;
  indexing->result.written_count += done.head > 0;
  return RADIO_OK;
}

/* Compares the tables of all collections that have no volumes. */
static enum radio_status
take_tables (struct indexing *indexing)
{
  size_t n = indexing->done.n;
  struct rd_slice *names RD_FREE = rd_calloc (n + 1, sizeof *names);
  if (names == NULL)
    return rd_fail_memory ((n + 1) * sizeof *names);
  for (size_t i = 0; i < n; i++)
    names[i] = (struct rd_slice) { indexing->done.items[i],
                                   strlen (indexing->done.items[i]) };
  RD_TRY (rd_lookup_make (names, n, &indexing->compared));
  RD_TRY (radio_table_list (indexing->store, take_table, indexing));
  return end_collection (indexing);
}

static enum radio_status
run_indexing (struct indexing *indexing, const char *collection)
{
  struct radio_store *store = indexing->store;
  size_t n = collection ? 1 : 0;
  if (store->io->ops->lists_nothing)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: a store that cannot be "
                    "listed; index it where it is written", store->io->uri);
  if (indexing->options.recover && !indexing->options.check)
    RD_TRY (rd_tables_recover (store, &indexing->result.written_count));
  if (reads_names (indexing)) {
    RD_TRY (radio_store_list (store, collection, take_name, indexing));
  } else {
    RD_TRY (rd_list_check (store, &collection, n));
    RD_TRY (rd_list_open (store, &collection, n, take_volume, indexing));
  }
  RD_TRY (end_collection (indexing));
  if (collection == NULL)
    RD_TRY (take_tables (indexing));
  return write_subjects (indexing);
}

enum radio_status
(radio_store_index) (struct radio_store *store, const char *collection,
                     const struct radio_index_options *options,
                     struct radio_index_result *result, size_t result_nbytes)
{
  struct indexing indexing RD_CLEANUP (clear_indexing) = { .store = store };
  RD_NOT_NULL (store);
  if (options) {
    RD_TRY (RD_CHECK_RESERVED (radio_index_options, options));
    indexing.options = *options;
  }
  RD_SCOPE ("index", RD_IN_OPERATION);
  enum radio_status status = run_indexing (&indexing, collection);
  rd_fill_result (result, result_nbytes, &indexing.result,
                  sizeof indexing.result);
  return rd_scope_end_with (status);
}

static int
compare_paths (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Indexes the paths of one collection, which are sorted. */
static enum radio_status
index_paths (struct indexing *indexing, const char *const *paths, size_t n)
{
  const char *slash = strchr (paths[0], '/');
  RD_TRY (begin_collection (indexing, paths[0], (size_t) (slash - paths[0])));
  for (size_t i = 0; i < n; i++) {
    const struct rd_slice path = { paths[i], strlen (paths[i]) };
    RD_TRY (rd_text_list_add (&indexing->gone, path));
  }
  RD_TRY (rd_list_open_paths (indexing->store, paths, n, take_volume,
                              indexing));
  return end_collection (indexing);
}

static enum radio_status
run_paths (struct indexing *indexing, const char *const *paths, size_t n)
{
  const char **sorted RD_FREE = rd_calloc (n + 1, sizeof *sorted);
  if (sorted == NULL)
    return rd_fail_memory ((n + 1) * sizeof *sorted);
  for (size_t i = 0; i < n; i++) {
    const char *slash = strchr (paths[i], '/');
    if (slash == NULL || slash == paths[i] || strchr (slash + 1, '/'))
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: not COLLECTION/NAME",
                      paths[i]);
    sorted[i] = paths[i];
  }
  if (n > 0)
    qsort (sorted, n, sizeof *sorted, compare_paths);
  size_t ndifferent = 0;
  for (size_t i = 0; i < n; i++)
    if (ndifferent == 0 || strcmp (sorted[ndifferent - 1], sorted[i]) != 0)
      sorted[ndifferent++] = sorted[i];
  for (size_t i = 0, j; i < ndifferent; i = j) {
    size_t nfolder = strcspn (sorted[i], "/") + 1;
    for (j = i + 1; j < ndifferent; j++)
      if (strncmp (sorted[i], sorted[j], nfolder) != 0)
        break;
    RD_TRY (index_paths (indexing, sorted + i, j - i));
  }
  return write_subjects (indexing);
}

enum radio_status
rd_index_paths_at (struct radio_store *store, const char *const *paths,
                   size_t n, uint64_t head, bool *is_overtaken)
{
  struct indexing indexing RD_CLEANUP (clear_indexing) = {
    .store = store, .is_partial = true, .head = &head,
  };
  enum radio_status status = run_paths (&indexing, paths, n);
  *is_overtaken = status == RADIO_ERROR_EXISTS && indexing.is_overtaken;
  return status;
}

enum radio_status
(radio_store_index_volumes) (struct radio_store *store,
                             const char *const *paths, size_t n,
                             struct radio_index_result *result,
                             size_t result_nbytes)
{
  struct indexing indexing RD_CLEANUP (clear_indexing) = {
    .store = store, .is_partial = true,
  };
  RD_NOT_NULL (store);
  if (n > 0)
    RD_NOT_NULL (paths);
  RD_SCOPE ("index", RD_IN_OPERATION);
  enum radio_status status = run_paths (&indexing, paths, n);
  rd_fill_result (result, result_nbytes, &indexing.result,
                  sizeof indexing.result);
  return rd_scope_end_with (status);
}
