/* SPDX-License-Identifier: MIT */
/* Edits: collecting changes, and committing them as a new generation that the
 * next head names. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "src/base/checked.h"
#include "src/base/reserve.h"
#include "src/base/structs.h"
#include "src/base/text.h"
#include "src/table/edit.h"
#include "src/table/heads.h"
#include "profiler/counters.h"

#define ID_MAX_NBYTES 1024
#define TABLES_PREFIX "tables/"
#define VOLUMES_PREFIX RADIO_TABLE_VOLUMES "/"

/* Generations of others that one commit is merged with: each time one of the
 * writers succeeds. */
#define MAX_MERGES 1000

struct radio_table_edit {
  struct radio_store *store;          /* a reference */
  char *path;
  RD_VECTOR (struct rd_change) changes;
  uint64_t expected_head;
  bool *is_overtaken;                 /* NULL: none is expected */
  bool recovers;                      /* a table that was lost */
};

void
radio_table_edit_free (struct radio_table_edit *edit)
{
  if (!edit)
    return;
  for (size_t i = 0; i < edit->changes.n; i++)
    rd_change_free (&edit->changes.at[i]);
  rd_free (edit->changes.at);
  rd_free (edit->path);
  radio_store_close (edit->store);
  rd_free (edit);
}

RD_DEFINE_CLEANUP (edit, struct radio_table_edit, radio_table_edit_free);

void
rd_edit_expect (struct radio_table_edit *edit, uint64_t head,
                bool *is_overtaken)
{
  edit->expected_head = head;
  edit->is_overtaken = is_overtaken;
}

void
rd_edit_recover (struct radio_table_edit *edit)
{
  edit->recovers = true;
}

/* "tables/NAME" or "tables/volumes/COLLECTION". */
static enum radio_status
check_path (const char *path)
{
  const char *name = path;
  if (strncmp (path, VOLUMES_PREFIX, sizeof VOLUMES_PREFIX - 1) == 0)
    name += sizeof VOLUMES_PREFIX - 1;
  else if (strncmp (path, TABLES_PREFIX, sizeof TABLES_PREFIX - 1) == 0
           && strcmp (path, RADIO_TABLE_VOLUMES) != 0)
    name += sizeof TABLES_PREFIX - 1;
  else
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: not the path of a table; they "
                    "are " RADIO_TABLE_SUBJECTS " and " VOLUMES_PREFIX
                    "COLLECTION", path);
  return rd_node_name_check (name);
}

enum radio_status
radio_table_edit_new (struct radio_store *store, const char *path,
                      struct radio_table_edit **result)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  RD_NOT_NULL (result);
  RD_TRY (check_path (path));
  RD_CLEANUP (rd_cleanup_edit) struct radio_table_edit *edit
    = rd_calloc (1, sizeof *edit);
  if (!edit)
    return rd_fail_memory (sizeof *edit);
  edit->store = rd_store_ref (store);
  edit->path = rd_strdup (path);
  if (!edit->path)
    return rd_fail_memory (strlen (path) + 1);
  *result = RD_STEAL (edit);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Changes
 *----------------------------------------------------------------------*/

static enum radio_status
check_id (struct rd_slice id, size_t i)
{
  if (id.n == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "id %zu is empty", i);
  if (id.n > ID_MAX_NBYTES)
    return rd_fail (RADIO_ERROR_ARGUMENT, "id %zu has %zu bytes; at most %d "
                    "are possible", i, id.n, ID_MAX_NBYTES);
  size_t nvalid = rd_utf8_valid_nbytes (id.at, id.n);
  if (nvalid < id.n)
    return rd_fail (RADIO_ERROR_ARGUMENT, "id %zu is not UTF-8 at its byte "
                    "%zu", i, nvalid);
  if (memchr (id.at, '\0', id.n))
    return rd_fail (RADIO_ERROR_ARGUMENT, "id %zu has a NUL", i);
  return RADIO_OK;
}

static bool
are_equal (const struct radio_strings *a, const struct radio_strings *b)
{
  if (a->n != b->n)
    return false;
  for (size_t i = 0; i < a->n; i++)
    if (!rd_slice_equal (rd_string (a, i), rd_string (b, i)))
      return false;
  return true;
}

/* Checks ids and copies them, or refers to those of the change before. */
static enum radio_status
take_ids (const struct radio_table_edit *edit, const struct radio_strings *from,
          struct rd_ids **result)
{
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  RD_TRY (rd_strings_check (from, "ids"));
  size_t nchanges = edit->changes.n;
  struct rd_ids *last = nchanges > 0 ? edit->changes.at[nchanges - 1].ids
                                     : NULL;
  if (last && are_equal (&last->strings, from)) {
    last->nrefs++;
    *result = last;
    return RADIO_OK;
  }
  for (size_t i = 0; i < from->n; i++)
    RD_TRY (check_id (rd_string (from, i), i));
  RD_TRY (rd_lookup_strings (from, &lookup));
  size_t repeated = rd_lookup_repeated (&lookup);
  if (repeated != RD_NOT_THERE) {
    struct rd_slice id = rd_string (from, repeated);
    return rd_fail (RADIO_ERROR_ARGUMENT, "the id '%.*s' is given twice, again "
                    "as number %zu", (int) rd_min_u64 (id.n, 100), id.at,
                    repeated);
  }
  RD_CLEANUP (rd_cleanup_ids) struct rd_ids *ids = rd_calloc (1, sizeof *ids);
  if (!ids)
    return rd_fail_memory (sizeof *ids);
  ids->nrefs = 1;
  RD_TRY (rd_strings_copy (from, &ids->strings));
  *result = RD_STEAL (ids);
  return RADIO_OK;
}

/* Adds a change, which is taken, also on failure. */
static enum radio_status
add_change (struct radio_table_edit *edit, struct rd_change *change)
{
  RD_TRY (rd_reserve (&edit->changes.at, &edit->changes.capacity,
                      edit->changes.n, sizeof *edit->changes.at));
  edit->changes.at[edit->changes.n++] = *change;
  *change = (struct rd_change) { 0 };
  return RADIO_OK;
}

static enum radio_status
add_rows_change (struct radio_table_edit *edit,
                 const struct radio_strings *ids, enum rd_change_kind kind)
{
  RD_CLEANUP (rd_change_free) struct rd_change change = { .kind = kind };
  RD_TRY (take_ids (edit, ids, &change.ids));
  return add_change (edit, &change);
}

enum radio_status
radio_table_edit_add_rows (struct radio_table_edit *edit,
                           const struct radio_strings *ids)
{
  RD_NOT_NULL (edit);
  RD_NOT_NULL (ids);
  return add_rows_change (edit, ids, RD_CHANGE_ADD_ROWS);
}

enum radio_status
radio_table_edit_remove_rows (struct radio_table_edit *edit,
                              const struct radio_strings *ids)
{
  RD_NOT_NULL (edit);
  RD_NOT_NULL (ids);
  return add_rows_change (edit, ids, RD_CHANGE_REMOVE_ROWS);
}

enum radio_status
radio_table_edit_set (struct radio_table_edit *edit,
                      const struct radio_strings *ids,
                      const struct radio_cells *cells)
{
  RD_NOT_NULL (edit);
  RD_NOT_NULL (ids);
  RD_NOT_NULL (cells);
  RD_NOT_NULL (cells->column);
  RD_TRY (RD_CHECK_RESERVED (radio_cells, cells));
  RD_TRY (radio_column_name_check (cells->column));
  if ((unsigned) cells->type > RADIO_COLUMN_TEXT)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the type is %d, no value of "
                    "enum radio_column_type", cells->column,
                    (int) cells->type);
  RD_CLEANUP (rd_change_free) struct rd_change change = {
    .kind = RD_CHANGE_SET, .change_type = cells->change_type,
    .keep_existing = cells->keep_existing, .refuse_loss = cells->refuse_loss,
  };
  RD_TRY (take_ids (edit, ids, &change.ids));
  RD_TRY (rd_column_of_cells (cells, ids->n, &change.cells));
  if (cells->attributes_json) {
    RD_TRY (rd_json_parse (cells->attributes_json,
                           strlen (cells->attributes_json), cells->column,
                           &change.attributes));
    if (!json_object_is_type (change.attributes, json_type_object))
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: attributes_json is not an "
                      "object", cells->column);
  }
  return add_change (edit, &change);
}

enum radio_status
radio_table_edit_drop (struct radio_table_edit *edit, const char *column)
{
  RD_NOT_NULL (edit);
  RD_NOT_NULL (column);
  RD_CLEANUP (rd_change_free) struct rd_change change
    = { .kind = RD_CHANGE_DROP, .column = rd_strdup (column) };
  if (!change.column)
    return rd_fail_memory (strlen (column) + 1);
  return add_change (edit, &change);
}

enum radio_status
radio_table_edit_rename (struct radio_table_edit *edit, const char *column,
                         const char *new_name)
{
  RD_NOT_NULL (edit);
  RD_NOT_NULL (column);
  RD_NOT_NULL (new_name);
  RD_TRY (radio_column_name_check (new_name));
  RD_CLEANUP (rd_change_free) struct rd_change change = {
    .kind = RD_CHANGE_RENAME, .column = rd_strdup (column),
    .new_name = rd_strdup (new_name),
  };
  if (!change.column || !change.new_name)
    return rd_fail_memory (strlen (column) + strlen (new_name) + 2);
  return add_change (edit, &change);
}

/* A legal name like one that is not: '/' becomes '_', what a name must not
 * begin with is dropped. */
static void
suggest_name (const char *name, char *to, size_t nbytes)
{
  size_t n = 0, skipped = strspn (name, "_. ");
  bool is_index = strcmp (name, "_index") == 0;
  for (const char *at = name + skipped; *at && n + 5 < nbytes;) {
    size_t length = rd_utf8_nbytes (at);
    bool is_bad = length == 0 || *at == '/' || *at == '\\'
                  || (unsigned char) *at < 0x20
                  || *at == 0x7f;
    if (is_bad)
      to[n++] = '_';
    else
      memcpy (to + n, at, length);
    n += is_bad ? 0 : length;
    at += length ? length : 1;
  }
  to[n] = '\0';
  if (n == 0 || is_index || strcmp (to, "zarr.json") == 0)
    snprintf (to, nbytes, "%s", is_index ? "index" : n == 0 ? "column"
                                                            : "zarr_json");
}

enum radio_status
radio_column_name_check (const char *name)
{
  char other[160];
  RD_NOT_NULL (name);
  enum radio_status status = rd_node_name_check (name);
  /* zarr-python takes a backslash for '/'. */
  if (status == RADIO_OK && strcmp (name, "_index") != 0
      && !strchr (name, '\\'))
    return RADIO_OK;
  suggest_name (name, other, sizeof other);
  return rd_fail (RADIO_ERROR_ARGUMENT, "'%.200s': not a name that a column "
                  "may have; use '%s'", name, other);
}

/*------------------------------------------------------------------------
 * Committing
 *----------------------------------------------------------------------*/

/* Returns whether the changes drop a column before they use its values. */
static bool
is_dropped (const struct radio_table_edit *edit, const char *column)
{
  for (size_t i = 0; i < edit->changes.n; i++) {
    const struct rd_change *change = &edit->changes.at[i];
    if (change->kind == RD_CHANGE_DROP && strcmp (change->column, column) == 0)
      return true;
    if (change->kind == RD_CHANGE_SET || change->kind == RD_CHANGE_RENAME)
      return false;
  }
  return false;
}

/* Returns whether the changes replace all cells of a column, and do not need
 * its values before. */
static bool
is_replaced (const struct radio_table_edit *edit, const struct rd_field *field,
             const struct rd_lookup *ids)
{
  for (size_t i = 0; i < edit->changes.n; i++) {
    const struct rd_change *change = &edit->changes.at[i];
    bool is_set = change->kind == RD_CHANGE_SET;
    if (change->kind == RD_CHANGE_DROP || change->kind == RD_CHANGE_RENAME)
      return false;
    if (!is_set || strcmp (change->cells->name, field->name) != 0)
      continue;
    size_t nfound = 0;
    for (size_t k = 0; k < change->ids->strings.n; k++)
      nfound += rd_lookup_find (ids, rd_string (&change->ids->strings, k))
                != RD_NOT_THERE;
    return nfound == ids->n && !change->keep_existing
           && (change->change_type || change->cells->type == field->type);
  }
  return false;
}

/* Loads a generation of which a column cannot be read: those whose cells are
 * all replaced are not needed.  Fails with the thread's message, and what can
 * be done, if another one is damaged. */
static enum radio_status
load_damaged (const struct radio_table_edit *edit, struct rd_dataframe *frame,
              enum radio_status status, const struct rd_field *failed,
              bool *are_empty, struct rd_data *data)
{
  RD_STRINGS_FREE struct radio_strings ids = { 0 };
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  struct rd_error error;
  if (!rd_dataframe_is_damaged (status) || !failed)
    return status;
  if (failed == &frame->index)
    return rd_dataframe_fail_unreadable (status);
  rd_error_save (&error, status);
  RD_TRY (rd_dataframe_read_ids (frame, &ids));
  RD_TRY (rd_lookup_strings (&ids, &lookup));
  for (size_t i = 0; i < frame->n; i++)
    are_empty[i] = are_empty[i]
                   || is_replaced (edit, &frame->fields[i], &lookup);
  if (are_empty[failed - frame->fields]) {
    rd_data_free (data);
    status = rd_dataframe_load (frame, are_empty, data, &failed);
    rd_error_save (&error, status);
  }
  if (status == RADIO_OK || !failed || failed == &frame->index)
    return status;
  return rd_fail (status, "%s; replace all values of the column '%s' at once, "
                  "or remove it by 'radio table --drop'", error.message,
                  failed->name);
}

/* Loads the newest generation, or makes an empty table.  A column that is
 * dropped is not read, since it may be damaged. */
static enum radio_status
load (const struct radio_table_edit *edit, const struct rd_newest *newest,
      struct rd_data *data)
{
  const char *path = edit->path;
  const struct rd_field *failed;
  RD_CLEANUP (rd_cleanup_dataframe) struct rd_dataframe *frame = NULL;
  if (newest->head.number == 0) {
    bool has_volumes = strncmp (path, VOLUMES_PREFIX,
                                sizeof VOLUMES_PREFIX - 1) == 0;
    data->index_name = rd_strdup (
      has_volumes ? "volume"
      : strcmp (path, RADIO_TABLE_SUBJECTS) == 0 ? "subject" : "id");
    return data->index_name ? RADIO_OK : rd_fail_memory (sizeof "subject");
  }
  RD_FREE char *generation = rd_key_join (path, newest->head.generation);
  if (!generation)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_dataframe_open (edit->store, generation, newest->generation, true,
                             &frame));
  RD_FREE bool *are_dropped = rd_calloc (frame->n + 1, sizeof *are_dropped);
  if (!are_dropped)
    return rd_fail_memory (frame->n + 1);
  for (size_t i = 0; i < frame->n; i++)
    are_dropped[i] = is_dropped (edit, frame->fields[i].name)
                     && strcmp (frame->fields[i].name, frame->index.name) != 0;
  enum radio_status status = rd_dataframe_load (frame, are_dropped, data,
                                                &failed);
  return status == RADIO_OK ? status
         : load_damaged (edit, frame, status, failed, are_dropped, data);
}

/* Writes a generation and its head.  *is_taken is set if another writer has put
 * a head of that number.  *document is the generation's. */
static enum radio_status
write_generation (const struct radio_table_edit *edit,
                  const struct rd_data *data, struct rd_head *head,
                  struct json_object **document, bool *is_taken)
{
  struct rd_io *io = edit->store->io;
  RD_CLEANUP (rd_cleanup_json) struct json_object *radio = NULL;
  RD_CLEANUP (rd_cleanup_io_lock) struct rd_io_lock *lock = NULL;
  struct rd_io_stage *stage;
  bool is_ours = false;
  *is_taken = false;
  RD_TRY (rd_generation_name (head->generation));
  RD_FREE char *path = rd_key_join (edit->path, head->generation);
  if (!path)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_kind_new (RD_KIND_OF_GENERATION, &radio));
  RD_TRY (io->ops->lock (io, path, true, &lock));
  RD_TRY (rd_io_stage (io, path, &stage));
  enum radio_status status = rd_dataframe_write (edit->store, path, data,
                                                 radio, document);
  bool is_written = status == RADIO_OK;
  if (is_written)
    status = rd_head_put (edit->store, edit->path, head, *document, stage,
                          &is_ours);
  rd_io_unstage (io, stage);
  if (status == RADIO_OK)
    return RADIO_OK;
  /* After any other failure over a network the head may have been put, or may
   * still be. */
  struct rd_error error;
  rd_error_save (&error, status);
  *is_taken = is_written && status == RADIO_ERROR_EXISTS;
  if (*is_taken || !is_written || rd_io_excludes_all (io)) {
    enum radio_status removed = io->ops->remove_tree (io, path);
    if (removed != RADIO_OK && *is_taken)
      return RADIO_OK;
  }
  return *is_taken ? RADIO_OK : rd_error_raise (&error);
}

/* Sets *is_lost unless the newest head is this one or follows it, head by head:
 * else an edit that was committed is not in what readers see. */
static enum radio_status
check_followed (const struct radio_table_edit *edit,
                const struct rd_head *head, bool *is_lost)
{
  RD_NUMBERS_SCOPE struct rd_numbers numbers = { 0 };
  struct rd_head last = *head, next;
  bool exists;
  *is_lost = false;
  /* Where locks hold, nothing can be removed or pass between. */
  if (rd_io_excludes_all (edit->store->io))
    return RADIO_OK;
  RD_TRY (rd_heads_list (edit->store, edit->path, head->number, &numbers));
  for (size_t i = numbers.n; i-- > 0;) {
    enum radio_status status = rd_head_read (edit->store, edit->path,
                                             numbers.at[i], &next);
    /* A folder without a document is no head. */
    if (status == RADIO_ERROR_NOT_FOUND)
      continue;
    RD_TRY (status);
    *is_lost = next.number != last.number + 1
               || strcmp (next.follows, last.generation) != 0;
    if (*is_lost)
      return RADIO_OK;
    last = next;
  }
  if (last.number > head->number)
    return RADIO_OK;
  /* A collector takes a generation that is older than the grace time for a
   * dead writer's. */
  RD_TRY (rd_heads_generation_exists (edit->store, edit->path, head,
                                      &exists));
  *is_lost = !exists;
  return RADIO_OK;
}

/* Fails if the next head would hide later ones than the newest that was found,
 * unless the only one is ours, whose generation a collector has removed. */
static enum radio_status
check_hides_none (const struct radio_table_edit *edit,
                  const struct rd_newest *newest, uint64_t lost_head)
{
  bool is_stale;
  if (newest->is_lost)
    return rd_heads_fail_lost (edit->path);
  if (lost_head > 0 && newest->highest == lost_head)
    return RADIO_OK;
  RD_TRY (rd_heads_find_stale (edit->store, edit->path, newest, &is_stale));
  return is_stale ? rd_heads_fail_lost (edit->path) : RADIO_OK;
}

/* Reads the generation of a head, to see whether its ids can be. */
static enum radio_status
read_generation (const struct radio_table_edit *edit,
                 const struct rd_head *head, struct json_object **document)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *read = NULL;
  RD_CLEANUP (rd_cleanup_dataframe) struct rd_dataframe *frame = NULL;
  RD_STRINGS_FREE struct radio_strings ids = { 0 };
  RD_FREE char *path = rd_key_join (edit->path, head->generation);
  if (!path)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_store_read_document (edit->store, path, &read));
  RD_TRY (rd_dataframe_open (edit->store, path, read, true, &frame));
  RD_TRY (rd_dataframe_read_ids (frame, &ids));
  *document = RD_STEAL (read);
  return RADIO_OK;
}

/* Goes on with the highest head whose generation can be read, in place of the
 * newest one.  Without any it fails as that did. */
static enum radio_status
find_readable (const struct radio_table_edit *edit, enum radio_status status,
               struct rd_newest *newest)
{
  RD_NUMBERS_SCOPE struct rd_numbers numbers = { 0 };
  struct json_object *document;
  struct rd_error error;
  rd_error_save (&error, status);
  RD_TRY (rd_heads_list (edit->store, edit->path, 0, &numbers));
  for (size_t i = 0; i < numbers.n; i++) {
    struct rd_head head;
    newest->highest = rd_max_u64 (newest->highest, numbers.at[i]);
    status = rd_head_read (edit->store, edit->path, numbers.at[i], &head);
    if (status == RADIO_OK)
      status = read_generation (edit, &head, &document);
    if (status == RADIO_OK) {
      json_object_put (newest->generation);
      newest->generation = document;
      newest->head = head;
      newest->is_lost = true;
      return RADIO_OK;
    }
    if (!rd_dataframe_is_damaged (status))
      return status;
  }
  return rd_error_raise (&error);
}

static enum radio_status
find_recovered (const struct radio_table_edit *edit, struct rd_newest *newest)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  enum radio_status status = rd_heads_recover (edit->store, edit->path,
                                               newest);
  if (status == RADIO_OK && newest->head.number > 0)
    status = read_generation (edit, &newest->head, &document);
  return rd_dataframe_is_damaged (status)
         ? find_readable (edit, status, newest) : status;
}

/* Tries once. *is_done is not set if another writer was faster, or a collector:
 * *lost_head is then ours, which it made void. */
static enum radio_status
try_commit (const struct radio_table_edit *edit, bool is_merge,
            uint64_t *lost_head, struct radio_table_result *result,
            bool *is_done)
{
  struct rd_io *io = edit->store->io;
  RD_CLEANUP (rd_cleanup_io_lock) struct rd_io_lock *first_lock = NULL;
  RD_NEWEST_SCOPE struct rd_newest newest = { 0 };
  RD_DATA_SCOPE struct rd_data data = { 0 };
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  struct rd_applied applied;
  struct rd_head head = { 0 };
  bool is_taken, is_lost;
  *is_done = false;
  if (edit->recovers)
    RD_TRY (find_recovered (edit, &newest));
  else {
    enum radio_status status = rd_heads_find (edit->store, edit->path, false,
                                              &newest);
    if (status != RADIO_OK)
      return status == RADIO_ERROR_FORMAT
             ? rd_dataframe_fail_unreadable (status) : status;
    RD_TRY (check_hides_none (edit, &newest, *lost_head));
  }
  if (newest.is_frame)
    return rd_fail (RADIO_ERROR_EXISTS, "%s: the node there is not a table of "
                    "radio's; remove it first", edit->path);
  if (edit->is_overtaken) {
    *edit->is_overtaken = newest.head.number != edit->expected_head;
    if (*edit->is_overtaken)
      return rd_fail (RADIO_ERROR_EXISTS, "%s: another writer was faster",
                      edit->path);
  }
  RD_TRY (load (edit, &newest, &data));
  RD_TRY (rd_changes_apply (edit->changes.at, edit->changes.n, is_merge,
                            edit->path, &data, &applied));
  result->row_count = data.ids.n;
  result->added_count = applied.nadded;
  result->removed_count = applied.nremoved;
  result->lost_count = applied.nlost;
  /* A recovered table gets another head, and a misleading hint is replaced. */
  bool is_newest = newest.head.number == newest.highest && !newest.is_lost;
  if (!applied.is_changed && is_newest) {
    if (rd_heads_is_misled (&newest, edit->path))
      rd_heads_hint (edit->store, edit->path, &newest.head,
                     newest.generation);
    *is_done = true;
    return RADIO_OK;
  }
  /* No collector removes the groups before they have a head. */
  if (newest.head.number == 0 || newest.is_lost) {
    RD_TRY (rd_heads_make_above (edit->store, edit->path));
    RD_TRY (io->ops->lock (io, edit->path, true, &first_lock));
    RD_TRY (rd_heads_make (edit->store, edit->path));
  }
  head.number = newest.highest + 1;
  memcpy (head.follows, newest.head.generation, sizeof head.follows);
  RD_TRY (write_generation (edit, &data, &head, &document, &is_taken));
  if (is_taken)
    return RADIO_OK;
  RD_TRY (check_followed (edit, &head, &is_lost));
  *lost_head = is_lost ? head.number : 0;
  if (is_lost)
    return RADIO_OK;
  /* Without such locks one that found the groups of a dead writer may have
   * removed them before the head was there; after that it repairs them. */
  if (newest.head.number == 0 && !rd_io_excludes_all (io))
    RD_TRY (rd_heads_make (edit->store, edit->path));
  rd_heads_hint (edit->store, edit->path, &head, document);
  result->head = head.number;
  *is_done = true;
  return RADIO_OK;
}

static enum radio_status
commit (const struct radio_table_edit *edit,
        struct radio_table_result *result)
{
  struct radio_store *store = edit->store;
  RD_TRY (rd_pool_check (store->context->pool));
  RD_TRY (rd_store_read_root (store));
  if (!store->is_radio)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: no store of radio's, which "
                    "has no tables", store->io->uri);
  uint64_t lost_head = 0;
  for (uint64_t i = 0; i < MAX_MERGES; i++) {
    bool is_done;
    if (rd_store_is_cancelled (store))
      return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled", edit->path);
    result->merge_count = i;
    RD_TRY (try_commit (edit, i > 0, &lost_head, result, &is_done));
    if (is_done)
      return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_IO, "%s: other writers were faster %d times; try "
                  "again", edit->path, MAX_MERGES);
}

enum radio_status
(radio_table_edit_commit) (struct radio_table_edit *edit,
                           struct radio_table_result *result,
                           size_t result_nbytes)
{
  RD_NOT_NULL (edit);
  RD_SCOPE ("commit table", RD_IN_OPERATION);
  RD_NOTE_NAME ("table", edit->path);
  struct radio_table_result full = { 0 };
  enum radio_status status = commit (edit, &full);
  rd_fill_result (result, result_nbytes, &full, sizeof full);
  return rd_scope_end_with (status);
}
