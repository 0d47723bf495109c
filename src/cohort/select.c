/* SPDX-License-Identifier: MIT */
/* Selecting rows of a cohort into a view. */
#include <config.h>

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/digest.h"
#include "src/base/structs.h"
#include "src/base/text.h"
#include "src/cohort/evaluate.h"

/* Shorter keys could be found by trying them. */
#define MIN_KEY_NBYTES 16

/* The members that are opened for a selection, each once. */
struct opening {
  struct rd_member **members;
  size_t n;
};

static bool
is_from (const struct radio_cohort *cohort,
         const struct radio_select_options *options,
         const struct rd_member *member)
{
  return (member == cohort->subjects) == options->subjects
         && (!options->collection
             || strcmp (member->collection, options->collection) == 0);
}

/* Adds the others that the names of a query may be of. */
static void
add_named (const struct radio_cohort *cohort,
           const struct radio_select_options *options,
           const struct rd_query *query, struct opening *opening)
{
  for (size_t i = 0; i < cohort->members.n; i++) {
    struct rd_member *member = cohort->members.at[i];
    bool is_named = false;
    if (is_from (cohort, options, member))
      continue;
    for (size_t k = 0; k < query->nsteps && !is_named; k++) {
      const struct rd_query_step *step = &query->steps[k];
      for (size_t j = step->first; j < step->first + step->n; j++) {
        const struct rd_value *value = &query->values[j];
        is_named |= step->op == RD_QUERY_HAS
          ? member->collection
            && strcmp (value->text, member->collection) == 0
          : value->kind == RD_VALUE_COLUMN && value->scope != RD_NAME_VOLUME
            && member == cohort->subjects;
      }
    }
    if (is_named)
      opening->members[opening->n++] = member;
  }
}

/* Adds the tables that a selection names, where they cannot be listed. */
static enum radio_status
name_members (struct radio_cohort *cohort,
              const struct radio_select_options *options,
              const struct rd_query *query)
{
  if (!cohort->is_unlisted)
    return RADIO_OK;
  if (options->collection)
    RD_TRY (rd_cohort_name (cohort, options->collection));
  else if (!options->subjects)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: collections cannot be listed "
                    "there; name one", cohort->store->io->uri);
  for (size_t k = 0; query && k < query->nsteps; k++) {
    const struct rd_query_step *step = &query->steps[k];
    size_t end = step->op == RD_QUERY_HAS ? step->first + step->n : 0;
    for (size_t i = step->first; i < end; i++)
      RD_TRY (rd_cohort_name (cohort, query->values[i].text));
  }
  return RADIO_OK;
}

/* Finds the members that a selection is from, allocated in order, and opens
 * them and those that its query (or NULL) may name.  Members without a row yet
 * are left out. */
static enum radio_status
find_members (struct radio_cohort *cohort,
              const struct radio_select_options *options,
              const struct rd_query *query, struct rd_member ***result,
              size_t *n)
{
  const char *collection = options->collection;
  struct opening opening = { NULL, 0 };
  RD_TRY (name_members (cohort, options, query));
  RD_FREE struct rd_member **members
    = rd_calloc (cohort->members.n + 1, sizeof *members);
  if (!members)
    return rd_fail_memory ((cohort->members.n + 1) * sizeof *members);
  opening.members = members;
  for (size_t i = 0; i < cohort->members.n; i++) {
    struct rd_member *member = cohort->members.at[i];
    if (is_from (cohort, options, member))
      members[opening.n++] = member;
  }
  size_t nfrom = opening.n;
  if (query)
    add_named (cohort, options, query, &opening);
  RD_TRY (rd_members_open_all (cohort, members, opening.n));
  *n = 0;
  for (size_t i = 0; i < nfrom; i++)
    if (members[i]->table)
      members[(*n)++] = members[i];
  if (*n == 0)
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s%s%s: no table of %s; make it by "
                    "radio index", cohort->store->io->uri,
                    collection ? ", collection " : "",
                    collection ? collection : "",
                    options->subjects ? "subjects" : "volumes");
  *result = RD_STEAL (members);
  return RADIO_OK;
}

static size_t
member_number (const struct radio_cohort *cohort,
               const struct rd_member *member)
{
  size_t i = 0;
  while (cohort->members.at[i] != member)
    i++;
  return i;
}

/* Appends the rows of a member whose condition is true (all: NULL). */
static enum radio_status
add_rows (struct radio_view *view, const struct rd_member *member,
          const unsigned char *truths)
{
  size_t number = member_number (view->cohort, member);
  for (size_t i = 0; i < member->nrows; i++) {
    if (truths && truths[i] != RD_TRUE)
      continue;
    RD_TRY (rd_reserve (&view->rows, &view->capacity, view->n,
                        sizeof *view->rows));
    view->rows[view->n++] = RD_VIEW_ROW (number, i);
  }
  return RADIO_OK;
}

RD_DEFINE_CLEANUP (view, struct radio_view, radio_view_free);

static enum radio_status
select_rows (struct radio_cohort *cohort,
             const struct radio_select_options *options,
             struct radio_view **result, size_t *error_at)
{
  RD_CLEANUP (rd_cleanup_query) struct rd_query *query = NULL;
  RD_FREE struct rd_member **members = NULL;
  RD_FREE struct rd_binding *bindings = NULL;
  size_t n;
  if (options->where)
    RD_TRY (rd_query_parse (options->where, &query, error_at));
  *error_at = SIZE_MAX;
  if (options->subjects && options->collection)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_select_options: subjects are "
                    "in no collection; query them by has ()");
  RD_CLEANUP (rd_cleanup_view) struct radio_view *view
    = rd_calloc (1, sizeof *view);
  if (!view)
    return rd_fail_memory (sizeof *view);
  view->cohort = rd_cohort_ref (cohort);
  view->of_subjects = options->subjects;
  RD_LOCK_SCOPE (&cohort->lock);
  RD_TRY (find_members (cohort, options, query, &members, &n));
  view->nmembers = cohort->members.n;
  struct rd_selection selection = {
    .cohort = cohort, .members = members, .n = n,
    .of_subjects = options->subjects, .query = query, .error_at = error_at,
  };
  if (query) {
    bindings = rd_calloc (query->nvalues + 1, sizeof *bindings);
    if (!bindings)
      return rd_fail_memory ((query->nvalues + 1) * sizeof *bindings);
    selection.bindings = bindings;
    RD_TRY (rd_selection_bind (&selection));
  }
  RD_TRY (rd_selection_read (&selection));
  for (size_t i = 0; i < n; i++) {
    RD_FREE unsigned char *truths = NULL;
    RD_TRY (rd_member_read_ids (cohort, members[i]));
    if (query)
      RD_TRY (rd_selection_evaluate (&selection, members[i], &truths));
    RD_TRY (add_rows (view, members[i], truths));
  }
  *result = RD_STEAL (view);
  return RADIO_OK;
}

enum radio_status
radio_cohort_select (struct radio_cohort *cohort,
                     const struct radio_select_options *options,
                     struct radio_view **view, size_t *error_at)
{
  static const struct radio_select_options defaults = { 0 };
  size_t ignored;
  size_t *at = error_at ? error_at : &ignored;
  *at = SIZE_MAX;
  RD_NOT_NULL (cohort);
  RD_NOT_NULL (view);
  if (!options)
    options = &defaults;
  RD_TRY (RD_CHECK_RESERVED (radio_select_options, options));
  RD_SCOPE ("select", RD_IN_OPERATION);
  enum radio_status status = select_rows (cohort, options, view, at);
  if (status == RADIO_ERROR_MEMORY)
    *at = SIZE_MAX;
  return rd_scope_end_with (status);
}

enum radio_status
radio_query_check (const char *where, size_t *error_at)
{
  RD_CLEANUP (rd_cleanup_query) struct rd_query *query = NULL;
  size_t ignored;
  size_t *at = error_at ? error_at : &ignored;
  *at = SIZE_MAX;
  RD_NOT_NULL (where);
  enum radio_status status = rd_query_parse (where, &query, at);
  if (status == RADIO_ERROR_MEMORY)
    *at = SIZE_MAX;
  return status;
}

enum radio_status
radio_sample_key (uint64_t seed, const char *id, uint64_t *key)
{
  RD_NOT_NULL (id);
  RD_NOT_NULL (key);
  unsigned char digest[EVP_MAX_MD_SIZE];
  char number[RD_NUMBER_NBYTES];
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  const EVP_MD *sha256 = rd_digest_sha256 ();
  int n = snprintf (number, sizeof number, "%" PRIu64 ":", seed);
  RD_TRY (rd_buffer_append (&text, number, (size_t) n));
  RD_TRY (rd_buffer_append (&text, id, strlen (id)));
  if (!sha256 || EVP_Digest (text.data, text.nbytes, digest, NULL, sha256, NULL)
                 != 1)
    return rd_fail_memory (0);
  *key = 0;
  for (int i = 0; i < 8; i++)
    *key = *key << 8 | digest[i];
  return RADIO_OK;
}

enum radio_status
radio_pseudonym (const void *key, size_t key_nbytes, const char *id,
                 char pseudonym[RADIO_PSEUDONYM_NBYTES])
{
  unsigned char digest[EVP_MAX_MD_SIZE];
  RD_NOT_NULL (key);
  RD_NOT_NULL (id);
  RD_NOT_NULL (pseudonym);
  if (key_nbytes < MIN_KEY_NBYTES)
    return rd_fail (RADIO_ERROR_ARGUMENT, "a key of %zu bytes; use one of at "
                    "least %d", key_nbytes, MIN_KEY_NBYTES);
  if (!rd_hmac_sha256 (key, key_nbytes, id, strlen (id), digest))
    return rd_fail_memory (0);
  rd_hex_text (digest, RADIO_PSEUDONYM_NBYTES / 2, pseudonym);
  return RADIO_OK;
}
