/* SPDX-License-Identifier: MIT */
/* The tables of a store: listing them, and removing the generations that no one
 * needs any more.  A generation is kept if one of the last heads names it, or
 * while its writer may be alive: that holds its lock, or, where locks do not
 * exclude other processes, it is younger than the grace time.  Heads are never
 * removed, so that no writer finds a number free again; but a table that never
 * had one is.  Nothing is removed from a table whose document names a missing
 * head, or whose newest head names a missing generation: another program is
 * still copying it, or the rest may be all that can be recovered. */
#include <config.h>

#include "src/base/checked.h"
#include "src/table/edit.h"
#include "src/table/heads.h"
#include "src/table/tables.h"
#include "profiler/counters.h"

/* Keeps a name with the NUL at its end. */
static enum radio_status
add_folder (const struct rd_io_entry *entry, void *user_data)
{
  const struct rd_slice name = { entry->name, strlen (entry->name) + 1 };
  return entry->is_prefix ? rd_text_list_add (user_data, name) : RADIO_OK;
}

/* Lists the names of the folders of a prefix. */
static enum radio_status
list_folders (struct radio_store *store, const char *prefix,
              struct radio_strings *names)
{
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  RD_TRY (store->io->ops->list (store->io, prefix, false, add_folder,
                                &texts));
  return rd_text_list_end (&texts, names);
}

/* Finds whether the node at a path is of a kind; false if it is missing. */
static enum radio_status
check_kind (struct radio_store *store, const char *path, const char *kind,
            bool *is_one)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  enum radio_status status = rd_store_read_document (store, path, &document);
  *is_one = rd_is_of_kind (document, kind);
  return status == RADIO_ERROR_NOT_FOUND ? RADIO_OK : status;
}

/* Finds which of some folders are tables, over a network all at the same
 * time. */
struct kinds_job {
  struct rd_job job;                  /* first */
  struct radio_store *store;
  const char *folder;
  const struct radio_strings *names;  /* with NULs */
  bool *are_tables;
};

static enum radio_status
do_kind (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  const struct kinds_job *job = (const struct kinds_job *) base;
  RD_FREE char *path = rd_key_join (job->folder,
                                    rd_string (job->names, task).at);
  (void) scratch;
  if (!path)
    return RADIO_ERROR_MEMORY;
  return check_kind (job->store, path, RD_KIND_OF_TABLE,
                     &job->are_tables[task]);
}

static enum radio_status
find_kinds (struct radio_store *store, const char *folder,
            const struct radio_strings *names, bool *are_tables)
{
  static const struct radio_site site = {
    "find tables", RD_IN_METADATA, "find_kinds", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  struct kinds_job job = {
    .job = { .run = do_kind, .n = names->n, .site = &site },
    .store = store, .folder = folder, .names = names,
    .are_tables = are_tables,
  };
  return rd_store_run (store, &job.job);
}

/* Calls fn for each table below a folder. */
static enum radio_status
list_tables (struct radio_store *store, const char *folder,
             radio_table_entry_fn *fn, void *user_data)
{
  RD_STRINGS_FREE struct radio_strings names = { 0 };
  bool is_volumes = strcmp (folder, RADIO_TABLE_VOLUMES) == 0;
  RD_TRY (list_folders (store, folder, &names));
  RD_FREE bool *are_tables = rd_calloc (names.n + 1, sizeof *are_tables);
  if (!are_tables)
    return rd_fail_memory (names.n + 1);
  RD_TRY (find_kinds (store, folder, &names, are_tables));
  for (size_t i = 0; i < names.n; i++) {
    RD_FREE char *path = rd_key_join (folder, rd_string (&names, i).at);
    if (!path)
      return RADIO_ERROR_MEMORY;
    if (strcmp (path, RADIO_TABLE_VOLUMES) == 0) {
      RD_TRY (list_tables (store, path, fn, user_data));
      continue;
    }
    const struct radio_table_entry entry = {
      path, is_volumes ? path + sizeof RADIO_TABLE_VOLUMES : NULL
    };
    if (are_tables[i])
      RD_TRY (fn (&entry, user_data));
  }
  return RADIO_OK;
}

/* Finds whether the store has tables, unless it is known. */
static enum radio_status
check_tables (struct radio_store *store, bool *exist)
{
  *exist = atomic_load (&store->has_tables);
  if (*exist)
    return RADIO_OK;
  RD_TRY (check_kind (store, RD_TABLES_NAME, RD_KIND_OF_TABLES, exist));
  if (*exist)
    atomic_store (&store->has_tables, true);
  return RADIO_OK;
}

static enum radio_status
list_all (struct radio_store *store, radio_table_entry_fn *fn,
          void *user_data)
{
  bool exist;
  RD_TRY (rd_store_read_root (store));
  RD_TRY (check_tables (store, &exist));
  return exist ? list_tables (store, RD_TABLES_NAME, fn, user_data)
               : RADIO_OK;
}

enum radio_status
radio_table_list (struct radio_store *store, radio_table_entry_fn *callback,
                  void *user_data)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (callback);
  RD_SCOPE ("list tables", RD_IN_OPERATION);
  return rd_scope_end_with (list_all (store, callback, user_data));
}

/* Searches that run at the same time. */
enum { FIND_ROOT, FIND_TABLES, FIND_FOLDERS, NFINDS };

struct find_job {
  struct rd_job job;                  /* first */
  struct radio_store *store;
  bool exist;
  struct radio_strings names;
  struct rd_error errors[NFINDS];
};

static enum radio_status
do_find (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct find_job *job = (struct find_job *) base;
  struct radio_store *store = job->store;
  (void) scratch;
  enum radio_status status
    = task == FIND_ROOT   ? rd_store_read_root (store)
    : task == FIND_TABLES ? check_tables (store, &job->exist)
                          : list_folders (store, RADIO_TABLE_VOLUMES,
                                          &job->names);
  if (status != RADIO_OK)
    rd_error_save (&job->errors[task], status);
  return RADIO_OK;
}

enum radio_status
rd_tables_find (struct radio_store *store, bool *has_tables,
                struct radio_strings *names)
{
  static const struct radio_site site = {
    "find tables", RD_IN_METADATA, "rd_tables_find", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  struct find_job job = {
    .job = { .run = do_find, .n = NFINDS, .site = &site }, .store = store,
  };
  for (size_t i = 0; i < NFINDS; i++)
    job.errors[i].status = RADIO_OK;
  enum radio_status status = rd_store_run (store, &job.job);
  /* Without tables it does not matter that nothing can be listed. */
  for (size_t i = 0; i < NFINDS && status == RADIO_OK; i++)
    if (i != FIND_FOLDERS || (job.exist && !store->io->ops->lists_nothing))
      status = rd_error_raise (&job.errors[i]);
  *has_tables = status == RADIO_OK && job.exist;
  if (*has_tables)
    *names = job.names;
  else
    radio_strings_free (&job.names);
  return status;
}

/*------------------------------------------------------------------------
 * Recovering
 *----------------------------------------------------------------------*/

RD_DEFINE_CLEANUP (edit, struct radio_table_edit, radio_table_edit_free);

struct recovering {
  struct radio_store *store;
  uint64_t nwritten;
};

static enum radio_status
recover_table (const struct radio_table_entry *entry, void *user_data)
{
  struct recovering *recovering = user_data;
  RD_CLEANUP (rd_cleanup_edit) struct radio_table_edit *edit = NULL;
  struct radio_table_result done;
  RD_TRY (radio_table_edit_new (recovering->store, entry->path, &edit));
  rd_edit_recover (edit);
  RD_TRY (radio_table_edit_commit (edit, &done));
  recovering->nwritten += done.head > 0;
  return RADIO_OK;
}

enum radio_status
rd_tables_recover (struct radio_store *store, uint64_t *nwritten)
{
  struct recovering recovering = { store, 0 };
  enum radio_status status = list_all (store, recover_table, &recovering);
  *nwritten = recovering.nwritten;
  return status;
}

/*------------------------------------------------------------------------
 * Collecting
 *----------------------------------------------------------------------*/

struct kept {
  char names[RD_KEPT_GENERATIONS][RD_GENERATION_NBYTES];
  size_t n;
  uint64_t newest;                    /* head; 0: none */
  uint64_t oldest;                    /* head of one of these; 0: none */
};

/* The generations of the last heads.  A head whose document is missing does not
 * count; nor does one whose generation is missing, where fewer are kept than
 * the format says. */
static enum radio_status
find_kept (struct radio_store *store, const char *path, struct kept *kept)
{
  uint64_t asked = store->generation_count;
  size_t nmost = asked > 0 && asked < RD_KEPT_GENERATIONS
                 ? (size_t) asked : RD_KEPT_GENERATIONS;
  RD_NUMBERS_SCOPE struct rd_numbers numbers = { 0 };
  kept->n = 0;
  kept->newest = kept->oldest = 0;
  RD_TRY (rd_heads_list (store, path, 0, &numbers));
  for (size_t i = 0; i < numbers.n && kept->n < nmost; i++) {
    uint64_t number = numbers.at[i];
    struct rd_head head;
    bool exists = true;
    enum radio_status status = rd_head_read (store, path, number, &head);
    if (status == RADIO_ERROR_NOT_FOUND)
      continue;
    RD_TRY (status);
    kept->newest = rd_max_u64 (kept->newest, number);
    if (nmost < RD_KEPT_GENERATIONS)
      RD_TRY (rd_heads_generation_exists (store, path, &head, &exists));
    if (!exists)
      continue;
    memcpy (kept->names[kept->n++], head.generation, sizeof head.generation);
    kept->oldest = number;
  }
  return RADIO_OK;
}

static bool
is_kept (const struct kept *kept, const char *name)
{
  for (size_t i = 0; i < kept->n; i++)
    if (strcmp (kept->names[i], name) == 0)
      return true;
  return false;
}

/* Returns whether a folder is a generation that may be removed. */
static bool
is_unkept (const struct kept *kept, const char *name)
{
  return rd_is_generation_name (name) && !is_kept (kept, name);
}

struct measure {
  uint64_t nbytes;
  uint64_t age_s;                     /* of the youngest object */
};

static enum radio_status
measure_object (const struct rd_io_entry *entry, void *user_data)
{
  struct measure *measure = user_data;
  measure->nbytes += entry->nbytes;
  measure->age_s = rd_min_u64 (measure->age_s, entry->age_s);
  return RADIO_OK;
}

static enum radio_status
collect_generation (struct radio_store *store, const char *table,
                    const char *name, bool dry_run,
                    struct radio_gc_result *result)
{
  struct rd_io *io = store->io;
  RD_CLEANUP (rd_cleanup_io_lock) struct rd_io_lock *lock = NULL;
  struct measure measure = { 0, UINT64_MAX };
  struct kept kept;
  char key[RD_KEY_NBYTES];
  RD_FREE char *path = rd_key_join (table, name);
  if (!path)
    return RADIO_ERROR_MEMORY;
  RD_TRY (io->ops->lock (io, path, false, &lock));
  RD_TRY (io->ops->list (io, path, true, measure_object, &measure));
  if (!lock || measure.age_s < io->grace_s) {
    result->busy_count++;
    return RADIO_OK;
  }
  /* Its writer may have put the head before the lock was free. */
  RD_TRY (find_kept (store, table, &kept));
  if (is_kept (&kept, name))
    return RADIO_OK;
  result->removed_count++;
  result->removed_nbytes += measure.nbytes;
  if (dry_run)
    return RADIO_OK;
  /* The document first: then a reader knows why the rest is missing. */
  rd_path_key (path, "zarr.json", key);
  RD_TRY (rd_io_remove (io, key));
  return io->ops->remove_tree (io, path);
}

/* The remains of a table without any head. */
struct headless {
  struct measure measure;
  bool is_plain;                      /* nothing but documents of groups */
};

static enum radio_status
check_object (const struct rd_io_entry *entry, void *user_data)
{
  struct headless *headless = user_data;
  headless->is_plain = headless->is_plain
                       && (strcmp (entry->name, "zarr.json") == 0
                           || strcmp (entry->name, "heads/zarr.json") == 0);
  return measure_object (entry, &headless->measure);
}

/* Removes the folder of a table whose first writer died before it put a head.
 * A live one holds the table's lock until then, or, where locks do not exclude
 * other processes, has written something that is younger than the grace time.
 * There a writer may have begun since the folder was listed: then the documents
 * are put again. */
static enum radio_status
collect_headless (struct radio_store *store, const char *path, bool dry_run,
                  struct radio_gc_result *result)
{
  struct rd_io *io = store->io;
  RD_CLEANUP (rd_cleanup_io_lock) struct rd_io_lock *lock = NULL;
  struct headless headless = { .measure.age_s = UINT64_MAX, .is_plain = true };
  struct kept kept;
  char key[RD_KEY_NBYTES];
  RD_FREE char *heads = rd_key_join (path, RD_HEADS_NAME);
  if (!heads)
    return RADIO_ERROR_MEMORY;
  RD_TRY (io->ops->lock (io, path, false, &lock));
  RD_TRY (find_kept (store, path, &kept));
  RD_TRY (io->ops->list (io, path, true, check_object, &headless));
  if (kept.n > 0 || !headless.is_plain)
    return RADIO_OK;
  if (!lock || headless.measure.age_s < io->grace_s) {
    result->busy_count++;
    return RADIO_OK;
  }
  result->removed_count++;
  result->removed_nbytes += headless.measure.nbytes;
  if (dry_run)
    return RADIO_OK;
  if (rd_io_excludes_all (io))
    return io->ops->remove_tree (io, path);
  rd_path_key (path, "zarr.json", key);
  RD_TRY (rd_io_remove (io, key));
  rd_path_key (heads, "zarr.json", key);
  RD_TRY (rd_io_remove (io, key));
  headless.measure = (struct measure) { 0, UINT64_MAX };
  RD_TRY (io->ops->list (io, path, true, measure_object, &headless.measure));
  return headless.measure.nbytes > 0 ? rd_heads_make (store, path) : RADIO_OK;
}

/* Finds whether heads are missing that the table had: it has a hint, which is
 * written after the head that it names, and not that head; or the generation of
 * the newest head.  The hint is read first, since a writer may put both
 * meanwhile. */
static enum radio_status
check_heads (struct radio_store *store, const char *path, bool *are_missing)
{
  struct kept kept;
  struct rd_head head;
  bool has_hint, exists;
  uint64_t hinted;
  RD_TRY (rd_heads_hinted (store, path, &has_hint, &hinted));
  RD_TRY (find_kept (store, path, &kept));
  *are_missing = has_hint && (kept.n == 0 || hinted > kept.newest);
  if (*are_missing || kept.newest == 0)
    return RADIO_OK;
  RD_TRY (rd_head_read (store, path, kept.newest, &head));
  RD_TRY (rd_heads_generation_exists (store, path, &head, &exists));
  *are_missing = !exists;
  return RADIO_OK;
}

struct collecting {
  struct radio_store *store;
  bool dry_run;
  struct radio_gc_result *result;
};

static enum radio_status
collect_table (const struct radio_table_entry *entry, void *user_data)
{
  const struct collecting *collecting = user_data;
  struct radio_store *store = collecting->store;
  RD_STRINGS_FREE struct radio_strings names = { 0 };
  struct kept kept;
  RD_SCOPE ("collect table", RD_IN_METADATA);
  RD_NOTE_NAME ("table", entry->path);
  RD_TRY (list_folders (store, entry->path, &names));
  RD_TRY (find_kept (store, entry->path, &kept));
  bool has_work = kept.n == 0, are_missing = false;
  for (size_t i = 0; i < names.n && !has_work; i++)
    has_work = is_unkept (&kept, rd_string (&names, i).at);
  if (has_work)
    RD_TRY (check_heads (store, entry->path, &are_missing));
  if (are_missing) {
    collecting->result->busy_count++;
    return RADIO_OK;
  }
  for (size_t i = 0; i < names.n; i++) {
    const char *name = rd_string (&names, i).at;
    if (rd_store_is_cancelled (store))
      return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled", entry->path);
    if (is_unkept (&kept, name))
      RD_TRY (collect_generation (store, entry->path, name,
                                  collecting->dry_run, collecting->result));
  }
  /* Also if an earlier collector was killed before it did. */
  if (kept.n > 0 && !collecting->dry_run)
    return rd_heads_shorten (store, entry->path, kept.oldest);
  return kept.n > 0 ? RADIO_OK
                    : collect_headless (store, entry->path,
                                        collecting->dry_run,
                                        collecting->result);
}

enum radio_status
rd_tables_collect (struct radio_store *store, bool dry_run,
                   struct radio_gc_result *result)
{
  struct collecting collecting = { store, dry_run, result };
  return list_all (store, collect_table, &collecting);
}
