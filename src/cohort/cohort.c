/* SPDX-License-Identifier: MIT */
/* The tables of a cohort, their ids and columns. */
#include <config.h>

#include <string.h>

#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "src/cohort/cohort.h"
#include "src/table/heads.h"

static void
free_stored (struct rd_stored *stored)
{
  if (!stored)
    return;
  rd_column_free (stored->values);
  rd_free (stored->codes);
  rd_free (stored);
}

RD_DEFINE_CLEANUP (stored, struct rd_stored, free_stored);

static void
free_member (struct rd_member *member)
{
  if (!member)
    return;
  for (size_t i = 0; i < member->columns.n; i++)
    free_stored (member->columns.at[i]);
  rd_free (member->columns.at);
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

/* Keeps the tables of subjects and of volumes. */
static enum radio_status
add_member (const struct radio_table_entry *entry, void *user_data)
{
  struct radio_cohort *cohort = user_data;
  bool of_subjects = strcmp (entry->path, RADIO_TABLE_SUBJECTS) == 0;
  if (!entry->collection && !of_subjects)
    return RADIO_OK;
  RD_CLEANUP (rd_cleanup_member) struct rd_member *member
    = rd_calloc (1, sizeof *member);
  if (!member)
    return rd_fail_memory (sizeof *member);
  member->path = rd_strdup (entry->path);
  if (!member->path)
    return rd_fail_memory (strlen (entry->path) + 1);
  if (entry->collection)
    member->collection = member->path + strlen (entry->path)
                         - strlen (entry->collection);
  RD_TRY (rd_reserve (&cohort->members.at, &cohort->members.capacity,
                      cohort->members.n, sizeof *cohort->members.at));
  if (of_subjects)
    cohort->subjects = member;
  cohort->members.at[cohort->members.n++] = RD_STEAL (member);
  return RADIO_OK;
}

enum radio_status
radio_cohort_open (struct radio_store *store, struct radio_cohort **result)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (result);
  RD_CLEANUP (rd_cleanup_cohort) struct radio_cohort *cohort
    = rd_calloc (1, sizeof *cohort);
  if (!cohort)
    return rd_fail_memory (sizeof *cohort);
  atomic_init (&cohort->nrefs, 1);
  cohort->store = rd_store_ref (store);
  pthread_mutex_init (&cohort->lock, NULL);
  RD_TRY (radio_table_list (store, add_member, cohort));
  *result = RD_STEAL (cohort);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Ids and columns
 *----------------------------------------------------------------------*/

enum radio_status
rd_member_open (struct radio_cohort *cohort, struct rd_member *member)
{
  struct radio_table_info info;
  if (member->table)
    return RADIO_OK;
  RD_TRY (radio_table_open (cohort->store, member->path, &member->table));
  radio_table_get_info (member->table, &info);
  if (info.row_count <= RD_COHORT_MAX_ROWS) {
    member->nrows = (size_t) info.row_count;
    return RADIO_OK;
  }
  radio_table_close (member->table);
  member->table = NULL;
  return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %u rows", member->path,
                  UINT32_MAX);
}

enum radio_status
rd_member_open_written (struct radio_cohort *cohort, struct rd_member *member,
                        bool *was_written)
{
  struct rd_head first;
  enum radio_status status = rd_member_open (cohort, member);
  *was_written = status == RADIO_OK;
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  /* Heads stay: with the first one, rows were lost. */
  status = rd_head_read (cohort->store, member->path, 1, &first);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  return status ? status : rd_member_open (cohort, member);
}

const struct rd_field *
rd_member_find (const struct rd_member *member, const char *name)
{
  const struct rd_dataframe *frame = member->table->frame;
  for (size_t i = 0; i < frame->n; i++)
    if (strcmp (frame->fields[i].name, name) == 0)
      return &frame->fields[i];
  return strcmp (frame->index.name, name) == 0 ? &frame->index : NULL;
}

enum radio_status
rd_member_read (struct rd_member *member, const struct rd_field *field,
                const struct rd_stored **result)
{
  for (size_t i = 0; i < member->columns.n; i++)
    if (member->columns.at[i]->field == field) {
      *result = member->columns.at[i];
      return RADIO_OK;
    }
  RD_CLEANUP (rd_cleanup_stored) struct rd_stored *stored
    = rd_calloc (1, sizeof *stored);
  if (!stored)
    return rd_fail_memory (sizeof *stored);
  stored->field = field;
  RD_TRY (rd_table_read_stored (member->table, field, &stored->values,
                                &stored->codes));
  RD_TRY (rd_reserve (&member->columns.at, &member->columns.capacity,
                      member->columns.n, sizeof *member->columns.at));
  *result = stored;
  member->columns.at[member->columns.n++] = RD_STEAL (stored);
  return RADIO_OK;
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
  size_t n = member->nrows;
  RD_TRY (rd_member_read (member, &member->table->frame->index, &stored));
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
  RD_TRY (rd_member_read_ids (cohort, cohort->subjects));
  const struct rd_field *field = rd_member_find (member, "subject");
  if (field && field->type == RADIO_COLUMN_TEXT)
    RD_TRY (rd_member_read (member, field, &stored));
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
