/* SPDX-License-Identifier: MIT */
/* The tables of a cohort, their ids and columns. */
#include <config.h>

#include <string.h>

#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "src/base/suggest.h"
#include "src/cohort/cohort.h"
#include "src/table/tables.h"
#include "profiler/counters.h"

/* The number of a member's columns, with the index. */
static size_t
ncolumns_of (const struct rd_member *member)
{
  return member->table ? member->table->frame->n + 1 : 0;
}

static void
free_member (struct rd_member *member)
{
  if (!member)
    return;
  for (size_t i = 0; member->columns && i < ncolumns_of (member); i++) {
    rd_column_free (member->columns[i].values);
    rd_free (member->columns[i].codes);
  }
  rd_free (member->columns);
  rd_lookup_free (&member->lookup);
  rd_free (member->ids);
  rd_free (member->offsets);
  rd_free (member->join);
  radio_table_close (member->table);
  rd_free (member->path);
  rd_free (member);
}

RD_DEFINE_CLEANUP (member, struct rd_member, free_member);

struct radio_cohort *
rd_cohort_ref (struct radio_cohort *cohort)
{
  atomic_fetch_add (&cohort->nrefs, 1);
  return cohort;
}

void
radio_cohort_close (struct radio_cohort *cohort)
{
  if (!cohort || atomic_fetch_sub (&cohort->nrefs, 1) != 1)
    return;
  for (size_t i = 0; i < cohort->members.n; i++)
    free_member (cohort->members.at[i]);
  rd_free (cohort->members.at);
  pthread_mutex_destroy (&cohort->lock);
  radio_store_close (cohort->store);
  rd_free (cohort);
}

RD_DEFINE_CLEANUP (cohort, struct radio_cohort, radio_cohort_close);

/* Adds the table of a path, which has the collection at its end, or is that of
 * subjects. */
static enum radio_status
add_member (struct radio_cohort *cohort, const char *folder, const char *name)
{
  RD_CLEANUP (rd_cleanup_member) struct rd_member *member
    = rd_calloc (1, sizeof *member);
  if (!member)
    return rd_fail_memory (sizeof *member);
  member->path = name ? rd_key_join (folder, name) : rd_strdup (folder);
  if (!member->path)
    return rd_fail_memory (strlen (folder) + 1);
  if (name)
    member->collection = member->path + strlen (folder) + 1;
  RD_TRY (rd_reserve (&cohort->members.at, &cohort->members.capacity,
                      cohort->members.n, sizeof *cohort->members.at));
  if (!name)
    cohort->subjects = member;
  cohort->members.at[cohort->members.n++] = RD_STEAL (member);
  return RADIO_OK;
}

static enum radio_status
find_members (struct radio_cohort *cohort)
{
  RD_STRINGS_FREE struct radio_strings names = { 0 };
  bool has_tables;
  RD_TRY (rd_tables_find (cohort->store, &has_tables, &names));
  cohort->is_unlisted = has_tables && cohort->store->io->ops->lists_nothing;
  if (cohort->is_unlisted) {
    size_t n = RD_COHORT_MAX_NAMED + 1;
    cohort->members.at = rd_calloc (n, sizeof *cohort->members.at);
    if (!cohort->members.at)
      return rd_fail_memory (n * sizeof *cohort->members.at);
    cohort->members.capacity = n;
  }
  if (has_tables)
    RD_TRY (add_member (cohort, RADIO_TABLE_SUBJECTS, NULL));
  for (size_t i = 0; i < names.n; i++)
    RD_TRY (add_member (cohort, RADIO_TABLE_VOLUMES,
                        rd_string (&names, i).at));
  return RADIO_OK;
}

enum radio_status
rd_cohort_name (struct radio_cohort *cohort, const char *collection)
{
  if (!cohort->is_unlisted || rd_node_name_check (collection) != RADIO_OK)
    return RADIO_OK;
  for (size_t i = 0; i < cohort->members.n; i++) {
    const char *name = cohort->members.at[i]->collection;
    if (name && strcmp (name, collection) == 0)
      return RADIO_OK;
  }
  if (cohort->members.n == cohort->members.capacity)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %d collections were "
                    "named of a store that cannot be listed",
                    cohort->store->io->uri, RD_COHORT_MAX_NAMED);
  return add_member (cohort, RADIO_TABLE_VOLUMES, collection);
}

enum radio_status
radio_cohort_open (struct radio_store *store, struct radio_cohort **result)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (result);
  RD_SCOPE ("open cohort", RD_IN_OPERATION);
  RD_CLEANUP (rd_cleanup_cohort) struct radio_cohort *cohort
    = rd_calloc (1, sizeof *cohort);
  if (!cohort)
    return rd_scope_end_with (rd_fail_memory (sizeof *cohort));
  atomic_init (&cohort->nrefs, 1);
  cohort->store = rd_store_ref (store);
  pthread_mutex_init (&cohort->lock, NULL);
  enum radio_status status = find_members (cohort);
  if (status == RADIO_OK)
    *result = RD_STEAL (cohort);
  return rd_scope_end_with (status);
}

bool
radio_cohort_has_tables (const struct radio_cohort *cohort)
{
  return cohort->members.n > 0;
}

/*------------------------------------------------------------------------
 * Opening
 *----------------------------------------------------------------------*/

static enum radio_status
open_member (struct radio_store *store, struct rd_member *member)
{
  struct radio_table_info info;
  RD_CLEANUP (rd_cleanup_table) struct radio_table *table = NULL;
  RD_TRY (rd_table_open_written (store, member->path, &table));
  if (table) {
    radio_table_get_info (table, &info);
    if (info.row_count > RD_COHORT_MAX_ROWS)
      return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %u rows",
                      member->path, UINT32_MAX);
    size_t n = table->frame->n + 1;
    member->columns = rd_calloc (n, sizeof *member->columns);
    if (!member->columns)
      return rd_fail_memory (n * sizeof *member->columns);
    member->nrows = (size_t) info.row_count;
  }
  member->table = RD_STEAL (table);
  member->is_open = true;
  return RADIO_OK;
}

static enum radio_status
fail_no_table (const struct radio_cohort *cohort, const char *name)
{
  char text[RD_ERROR_NBYTES];
  RD_SUGGESTIONS_SCOPE struct rd_suggestions near = { .wanted = name };
  for (size_t i = 0; i < cohort->members.n; i++) {
    const char *collection = cohort->members.at[i]->collection;
    if (!collection)
      collection = "subjects";
    if (strcmp (collection, name) != 0)
      RD_TRY (rd_suggest (&near, collection, collection));
  }
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such table in %s%s", name,
                  cohort->store->io->uri, near.n > 0
                  ? rd_suggestions_text (&near, text)
                  : "; 'radio index' makes those of subjects and of volumes");
}

static enum radio_status
open_table (struct radio_cohort *cohort, const char *collection,
            struct radio_table **table)
{
  RD_LOCK_SCOPE (&cohort->lock);
  if (collection)
    RD_TRY (rd_cohort_name (cohort, collection));
  for (size_t i = 0; i < cohort->members.n; i++) {
    struct rd_member *member = cohort->members.at[i];
    bool is_it = collection ? member->collection
                              && strcmp (member->collection, collection) == 0
                            : member == cohort->subjects;
    if (!is_it)
      continue;
    if (!member->is_open)
      RD_TRY (open_member (cohort->store, member));
    if (!member->table)
      continue;
    *table = rd_table_ref (member->table);
    return RADIO_OK;
  }
  return fail_no_table (cohort, collection ? collection : "subjects");
}

enum radio_status
radio_cohort_table (struct radio_cohort *cohort, const char *collection,
                    struct radio_table **table)
{
  RD_NOT_NULL (cohort);
  RD_NOT_NULL (table);
  RD_SCOPE ("open table", RD_IN_OPERATION);
  return rd_scope_end_with (open_table (cohort, collection, table));
}

struct open_job {
  struct rd_job job;                  /* first */
  struct radio_store *store;
  struct rd_member **members;
};

static enum radio_status
do_open (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  const struct open_job *job = (const struct open_job *) base;
  (void) scratch;
  return open_member (job->store, job->members[task]);
}

enum radio_status
rd_members_open_all (struct radio_cohort *cohort,
                 struct rd_member *const *members, size_t n)
{
  static const struct radio_site site = {
    "open tables", RD_IN_OPERATION, "rd_members_open_all", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  struct open_job job = {
    .job = { .run = do_open, .site = &site }, .store = cohort->store,
  };
  RD_FREE struct rd_member **closed = rd_calloc (n + 1, sizeof *closed);
  if (!closed)
    return rd_fail_memory ((n + 1) * sizeof *closed);
  job.members = closed;
  for (size_t i = 0; i < n; i++)
    if (!members[i]->is_open)
      closed[job.job.n++] = members[i];
  return job.job.n > 0 ? rd_store_run (cohort->store, &job.job) : RADIO_OK;
}

/*------------------------------------------------------------------------
 * Ids and columns
 *----------------------------------------------------------------------*/

const struct rd_field *
rd_member_find (const struct rd_member *member, const char *name)
{
  const struct rd_dataframe *frame = member->table->frame;
  for (size_t i = 0; i < frame->n; i++)
    if (strcmp (frame->fields[i].name, name) == 0)
      return &frame->fields[i];
  return strcmp (frame->index.name, name) == 0 ? &frame->index : NULL;
}

static struct rd_stored *
stored_of (const struct rd_member *member, const struct rd_field *field)
{
  const struct rd_dataframe *frame = member->table->frame;
  size_t number = field == &frame->index ? frame->n
                                         : (size_t) (field - frame->fields);
  return &member->columns[number];
}

void
rd_member_want (struct rd_member *member, const struct rd_field *field)
{
  stored_of (member, field)->is_wanted = true;
}

/* Counts the columns that are wanted and were not read, and with reads lists
 * them. */
static size_t
list_wanted (struct radio_cohort *cohort, struct rd_field_read *reads,
             struct radio_table **tables, struct rd_stored **places)
{
  size_t n = 0;
  for (size_t k = 0; k < cohort->members.n; k++) {
    struct rd_member *member = cohort->members.at[k];
    size_t ncolumns = ncolumns_of (member);
    for (size_t i = 0; i < ncolumns; i++) {
      struct rd_stored *stored = &member->columns[i];
      if (!stored->is_wanted || stored->values)
        continue;
      if (reads) {
        struct rd_dataframe *frame = member->table->frame;
        reads[n] = (struct rd_field_read) {
          .frame = frame,
          .field = i + 1 < ncolumns ? &frame->fields[i] : &frame->index,
        };
        tables[n] = member->table;
        places[n] = stored;
      }
      n++;
    }
  }
  return n;
}

enum radio_status
rd_members_read_wanted (struct radio_cohort *cohort)
{
  size_t n = list_wanted (cohort, NULL, NULL, NULL);
  if (n == 0)
    return RADIO_OK;
  RD_FREE struct rd_field_read *reads = rd_calloc (n, sizeof *reads);
  RD_FREE struct radio_table **tables = rd_calloc (n, sizeof *tables);
  RD_FREE struct rd_stored **places = rd_calloc (n, sizeof *places);
  if (!reads || !tables || !places)
    return rd_fail_memory (rd_mul_sat (n, sizeof *reads));
  list_wanted (cohort, reads, tables, places);
  enum radio_status status = rd_table_read_stored (tables, reads, n);
  for (size_t i = 0; i < n; i++) {
    /* One that failed is read again when it is wanted again. */
    places[i]->is_wanted = false;
    places[i]->values = reads[i].column;
    places[i]->codes = reads[i].codes;
  }
  return status;
}

enum radio_status
rd_member_read (struct radio_cohort *cohort, struct rd_member *member,
                const struct rd_field *field,
                const struct rd_stored **result)
{
  *result = stored_of (member, field);
  if ((*result)->values)
    return RADIO_OK;
  rd_member_want (member, field);
  return rd_members_read_wanted (cohort);
}

/* Copies the ids with a NUL after each, and finds them. */
enum radio_status
rd_member_read_ids (struct radio_cohort *cohort, struct rd_member *member)
{
  const struct rd_stored *stored;
  RD_BUFFER_SCOPE struct rd_buffer ids = { 0 };
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  if (member->ids)
    return RADIO_OK;
  RD_SCOPE ("index ids", RD_IN_METADATA);
  RD_NOTE_NAME ("table", member->path);
  size_t n = member->nrows;
  RD_TRY (rd_member_read (cohort, member, &member->table->frame->index,
                          &stored));
  RD_TRY (rd_context_allows (cohort->store->context,
                             rd_mul_sat (n, sizeof (size_t)
                                            + 2 * sizeof (struct rd_slice)),
                             "the ids of the table"));
  RD_FREE size_t *offsets = rd_calloc (n + 1, sizeof *offsets);
  RD_FREE struct rd_slice *keys = rd_calloc (n + 1, sizeof *keys);
  if (!offsets || !keys)
    return rd_fail_memory (rd_mul_sat (n + 1, sizeof *keys));
  /* There is a block also without rows. */
  RD_TRY (rd_buffer_reserve (&ids, 1));
  for (size_t i = 0; i < n; i++) {
    size_t value = rd_stored_value (stored, i);
    if (value == RD_NOT_THERE || stored->values->values)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: row %zu has no id of text",
                      member->path, i);
    keys[i] = rd_string (&stored->values->text, value);
    offsets[i] = ids.nbytes;
    if (keys[i].n == 0 || memchr (keys[i].at, '\0', keys[i].n))
      return rd_fail (RADIO_ERROR_FORMAT, "%s: row %zu has an id that is empty "
                      "or has a NUL", member->path, i);
    RD_TRY (rd_buffer_append (&ids, keys[i].at, keys[i].n));
    RD_TRY (rd_buffer_append (&ids, "", 1));
  }
  for (size_t i = 0; i < n; i++)
    keys[i].at = (const char *) ids.data + offsets[i];
  RD_TRY (rd_lookup_make (keys, n, &lookup));
  size_t repeated = rd_lookup_repeated (&lookup);
  if (repeated != RD_NOT_THERE)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: the id '%s' is there twice, the "
                    "second time in row %zu", member->path,
                    (const char *) ids.data + offsets[repeated], repeated);
  member->ids = (char *) ids.data;
  ids = (struct rd_buffer) { 0 };
  member->offsets = RD_STEAL (offsets);
  member->lookup = lookup;
  lookup = (struct rd_lookup) { 0 };
  return RADIO_OK;
}

enum radio_status
rd_member_join (struct radio_cohort *cohort, struct rd_member *member)
{
  const struct rd_stored *stored = NULL;
  size_t n = member->nrows;
  if (member->join)
    return RADIO_OK;
  RD_SCOPE ("join subjects", RD_IN_METADATA);
  RD_NOTE_NAME ("table", member->path);
  RD_TRY (rd_member_read_ids (cohort, cohort->subjects));
  const struct rd_field *field = rd_member_find (member, "subject");
  if (field && field->type == RADIO_COLUMN_TEXT)
    RD_TRY (rd_member_read (cohort, member, field, &stored));
  RD_FREE size_t *join = rd_calloc (n + 1, sizeof *join);
  if (!join)
    return rd_fail_memory (rd_mul_sat (n + 1, sizeof *join));
  for (size_t i = 0; i < n; i++) {
    size_t value = stored ? rd_stored_value (stored, i) : RD_NOT_THERE;
    join[i] = value == RD_NOT_THERE ? RD_NOT_THERE
      : rd_lookup_find (&cohort->subjects->lookup,
                        rd_string (&stored->values->text, value));
  }
  member->join = RD_STEAL (join);
  return RADIO_OK;
}
