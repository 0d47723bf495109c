/* SPDX-License-Identifier: MIT */
/* Selecting volumes by the rows of their tables. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include <radio/profile.h>

#include "src/base/text.h"
#include "tools/parse.h"
#include "tools/select.h"
#include "tools/text.h"

/* A query longer than this is shown around the place. */
#define SHOWN_NBYTES 72

/* Prints a query's line, and a mark below a place of it. */
static void
print_place (const char *where, size_t at)
{
  size_t start = at, end = at;
  while (start > 0 && where[start - 1] != '\n')
    start--;
  while (where[end] != '\0' && where[end] != '\n')
    end++;
  if (at - start > SHOWN_NBYTES / 2) {
    start = at - SHOWN_NBYTES / 2;
    while (((unsigned char) where[start] & 0xc0) == 0x80)
      start++;
  }
  if (end - start > SHOWN_NBYTES) {
    end = start + SHOWN_NBYTES;
    while (((unsigned char) where[end] & 0xc0) == 0x80)
      end--;
  }
  RD_FREE char *line = strndup (where + start, end - start);
  RD_FREE char *before = strndup (where + start, at - start);
  if (line == NULL || before == NULL)
    return;
  fputs ("  ", stderr);
  rd_text_print (stderr, line);
  fprintf (stderr, "\n  %*s^\n", (int) rd_text_columns (before), "");
}

char *
rd_select_quote (const char *text)
{
  RD_FREE char *escaped = calloc (2, strlen (text) + 1);
  if (escaped == NULL)
    return rd_error_memory (), NULL;
  char *to = escaped;
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      *to++ = '\\';
    *to++ = *text;
  }
  return rd_format ("\"%s\"", escaped);
}

/* The query that selects one subject's; NULL, after an error. */
static char *
subject_query (const char *subject)
{
  RD_FREE char *quoted = rd_select_quote (subject);
  return quoted ? rd_format ("subject == %s", quoted) : NULL;
}

/* Prints the library's error; one about a place of a query (NULL: it was not
 * typed) is one of usage. */
static int
fail_query (const char *where, size_t at)
{
  rd_error_library (NULL);
  if (where == NULL || at > strlen (where))
    return RD_EXIT_FAILED;
  print_place (where, at);
  return RD_EXIT_USAGE;
}

static int
select_by (struct radio_cohort *cohort, const char *where,
           const char *collection, bool subjects, bool is_typed,
           struct radio_view **view)
{
  const struct radio_select_options options = {
    .where = where, .collection = collection, .subjects = subjects,
  };
  size_t at;
  if (radio_cohort_select (cohort, &options, view, &at) == RADIO_OK)
    return RD_EXIT_OK;
  return fail_query (is_typed ? where : NULL, at);
}

int
rd_select_check (const struct rd_args *args)
{
  const char *where = args->select.where;
  size_t at;
  return where == NULL || radio_query_check (where, &at) == RADIO_OK
         ? RD_EXIT_OK : fail_query (where, at);
}

int
rd_select_view (const struct rd_args *args, struct radio_cohort *cohort,
                const char *collection, bool subjects,
                struct radio_view **view)
{
  RD_FREE_VIEW struct radio_view *first = NULL, *of_subject = NULL;
  RD_FREE_VIEW struct radio_view *rest = NULL;
  const struct rd_select *select = &args->select;
  int failed = select_by (cohort, select->where, collection, subjects, true,
                          &first);
  if (!failed && select->subject) {
    RD_FREE char *query = subject_query (select->subject);
    failed = query ? select_by (cohort, query, collection, subjects, false,
                                &of_subject) : RD_EXIT_FAILED;
    /* Rows that are in both. */
    if (!failed
        && (radio_view_difference (first, of_subject, &rest) != RADIO_OK
            || radio_view_difference (first, rest, view) != RADIO_OK))
      failed = rd_error_library (NULL);
  } else if (!failed) {
    *view = first;
    first = NULL;
  }
  return failed;
}

struct sample_key {
  uint64_t key;
  size_t i;
};

static int
compare_keys (const void *a, const void *b)
{
  const struct sample_key *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                          : (x->i > y->i) - (x->i < y->i);
}

int
rd_select_choose (const struct rd_select *select, const char *const *ids,
                  size_t n, bool *chosen)
{
  RD_FREE struct sample_key *keys = calloc (n + 1, sizeof *keys);
  if (keys == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < n; i++) {
    keys[i].i = i;
    if (select->sample > 0
        && radio_sample_key (select->seed, ids[i], &keys[i].key) != RADIO_OK)
      return rd_error_library (NULL);
  }
  qsort (keys, n, sizeof *keys, compare_keys);
  uint64_t nleft = select->sample > 0 && select->sample < n ? select->sample
                                                            : n;
  for (size_t i = 0; i < n; i++)
    chosen[keys[i].i] = i < nleft;
  uint64_t nfirst = 0;
  for (size_t i = 0; i < n; i++) {
    if (chosen[i] && select->head > 0 && nfirst == select->head)
      chosen[i] = false;
    nfirst += chosen[i];
  }
  return RD_EXIT_OK;
}

/* An id, of which sub- may be left out, is similar if fewer of its characters
 * than this differ. */
#define LEAST_DISTANCE 3

/* Looks for a subject, and for one that is similar. */
static bool
find_subject (struct radio_cohort *cohort, const char *subject, size_t *least,
              char **near)
{
  RD_FREE_VIEW struct radio_view *view = NULL;
  const struct radio_select_options all = { .subjects = true };
  if (radio_cohort_select (cohort, &all, &view, NULL) != RADIO_OK)
    return false;
  for (uint64_t i = 0; i < radio_view_count (view); i++) {
    const char *id = radio_view_id (view, i);
    const char *label = strncmp (id, "sub-", 4) == 0 ? id + 4 : id;
    size_t distance = rd_text_distance (subject, id);
    size_t of_label = rd_text_distance (subject, label);
    if (of_label < distance)
      distance = of_label;
    if (strcmp (id, subject) == 0)
      return true;
    if (distance < *least) {
      *least = distance;
      free (*near);
      *near = strdup (id);
    }
  }
  return false;
}

char *
rd_select_why_none (const struct rd_args *args,
                    const struct rd_cohorts *cohorts)
{
  const char *subject = args->select.subject;
  RD_FREE char *near = NULL;
  size_t least = LEAST_DISTANCE;
  bool is_there = subject == NULL || cohorts->n == 0;
  for (size_t i = 0; i < cohorts->n && !is_there; i++)
    is_there = find_subject (cohorts->at[i].cohort, subject, &least, &near);
  return is_there ? rd_format ("%s", "")
                  : rd_format ("; no subject '%s'%s%s%s", subject,
                               near ? "; did you mean " : "", near ? near : "",
                               near ? "?" : "");
}

/*------------------------------------------------------------------------
 * Volumes that are found
 *----------------------------------------------------------------------*/

/* Returns the cohort of a store, or NULL if it was not opened yet. */
static struct radio_cohort *
opened_cohort (const struct rd_cohorts *cohorts,
               const struct radio_store *store)
{
  for (size_t i = 0; i < cohorts->n; i++)
    if (cohorts->at[i].store == store)
      return cohorts->at[i].cohort;
  return NULL;
}

enum radio_status
rd_cohorts_find (struct rd_cohorts *cohorts, struct radio_store *store,
                 struct radio_cohort **cohort)
{
  *cohort = opened_cohort (cohorts, store);
  if (*cohort)
    return RADIO_OK;
  struct rd_cohort *more = reallocarray (cohorts->at, cohorts->n + 1,
                                         sizeof *more);
  if (more == NULL)
    return RADIO_ERROR_MEMORY;
  cohorts->at = more;
  enum radio_status status = radio_cohort_open (store, cohort);
  if (status == RADIO_OK)
    more[cohorts->n++] = (struct rd_cohort) { store, *cohort };
  return status;
}

void
rd_cohorts_clear (struct rd_cohorts *cohorts)
{
  for (size_t i = 0; i < cohorts->n; i++)
    radio_cohort_close (cohorts->at[i].cohort);
  free (cohorts->at);
  *cohorts = (struct rd_cohorts) { 0 };
}

static int
need_cohort (struct rd_filter *filter, struct radio_store *store,
             struct radio_cohort **cohort)
{
  enum radio_status status = rd_cohorts_find (filter->cohorts, store, cohort);
  return status == RADIO_OK ? RD_EXIT_OK
         : status == RADIO_ERROR_MEMORY ? rd_error_memory ()
                                        : rd_error_library (NULL);
}

static struct rd_filter_part *
find_part (const struct rd_filter *filter, const struct radio_store *store,
           const char *collection, size_t n)
{
  const struct radio_cohort *cohort = opened_cohort (filter->cohorts, store);
  for (size_t i = 0; i < filter->nparts; i++) {
    struct rd_filter_part *part = &filter->parts[i];
    bool is_same = part->collection
      ? collection && strlen (part->collection) == n
        && memcmp (part->collection, collection, n) == 0
      : collection == NULL;
    if (part->cohort == cohort && is_same)
      return part;
  }
  return NULL;
}

static int
add_part (struct rd_filter *filter, const struct rd_args *args,
          struct radio_store *store, const char *collection, size_t n,
          struct rd_filter_part **result)
{
  struct radio_cohort *cohort;
  int failed = need_cohort (filter, store, &cohort);
  struct rd_filter_part *parts = failed ? NULL
    : reallocarray (filter->parts, filter->nparts + 1, sizeof *parts);
  if (parts == NULL)
    return failed ? failed : rd_error_memory ();
  filter->parts = parts;
  struct rd_filter_part *part = *result = &parts[filter->nparts++];
  *part = (struct rd_filter_part) {
    .cohort = cohort, .collection = collection ? strndup (collection, n) : NULL
  };
  if (collection && part->collection == NULL)
    return rd_error_memory ();
  failed = rd_select_view (args, cohort, part->collection, false,
                           &part->selected);
  return failed ? failed : select_by (cohort, NULL, part->collection, false,
                                      false, &part->all);
}

/*------------------------------------------------------------------------
 * Reading while volumes are listed
 *----------------------------------------------------------------------*/

/* The cohort keeps what is read. */
static void *
read_tables (void *argument)
{
  const struct rd_filter_reading *reading = argument;
  RD_FREE_VIEW struct radio_view *view = NULL;
  struct radio_view_column info;
  const struct radio_select_options options = {
    .where = reading->where, .collection = reading->collection,
  };
  if (radio_cohort_select (reading->cohort, &options, &view, NULL) == RADIO_OK
      && reading->with_levels)
    (void) !radio_view_get_column (view, "volume.level", &info);
  return NULL;
}

static void
end_reading (struct rd_filter *filter)
{
  struct rd_filter_reading *reading = &filter->reading;
  if (reading->is_running) {
    RADIO_SCOPE_FULL ("wait for tables", "queue", RADIO_SCOPE_WAIT);
    pthread_join (reading->thread, NULL);
  }
  free (reading->where);
  *reading = (struct rd_filter_reading) { 0 };
}

/* The query whose rows --where and --subject leave, allocated; NULL without
 * memory. */
static char *
joined_query (const struct rd_select *select)
{
  RD_FREE char *of_subject = select->subject
                             ? subject_query (select->subject) : NULL;
  if (select->where && select->subject)
    return of_subject ? rd_format ("(%s) and %s", select->where, of_subject)
                      : NULL;
  return select->subject ? of_subject ? strdup (of_subject) : NULL
                         : strdup (select->where);
}

enum radio_status
rd_filter_begin (struct rd_filter *filter, const struct rd_args *args,
                 struct radio_store *store, const char *collection,
                 bool with_levels)
{
  struct rd_filter_reading *reading = &filter->reading;
  const struct rd_select *select = &args->select;
  end_reading (filter);
  if ((select->where == NULL && select->subject == NULL)
      || find_part (filter, store, collection,
                    collection ? strlen (collection) : 0))
    return RADIO_OK;
  enum radio_status status = rd_cohorts_find (filter->cohorts, store,
                                              &reading->cohort);
  /* The listing reports better what is missing, or not a store. */
  if (status == RADIO_ERROR_NOT_FOUND || status == RADIO_ERROR_EXISTS
      || status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED)
    return RADIO_OK;
  if (status != RADIO_OK)
    return status;
  reading->where = joined_query (select);
  reading->collection = collection;
  reading->with_levels = with_levels;
  reading->is_running
    = reading->where
      && pthread_create (&reading->thread, NULL, read_tables, reading) == 0;
  return RADIO_OK;
}

bool
rd_filter_lacks_tables (const struct rd_filter *filter,
                        const struct rd_args *args, struct radio_store *store)
{
  struct radio_cohort *cohort;
  return (args->select.where || args->select.subject)
         && rd_cohorts_find (filter->cohorts, store, &cohort) == RADIO_OK
         && !radio_cohort_has_tables (cohort);
}

/* Finds the part of a volume, by its collection, or of all volumes. */
static struct rd_filter_part *
find_part_of (const struct rd_filter *filter, const struct radio_store *store,
              const char *path, bool whole, size_t *ncollection)
{
  const char *slash = strrchr (path, '/');
  *ncollection = slash ? (size_t) (slash - path) : 0;
  return find_part (filter, store, whole ? NULL : path, *ncollection);
}

int
rd_filter_check (struct rd_filter *filter, const struct rd_args *args,
                 struct radio_store *store, const char *path, bool whole,
                 bool *is_selected)
{
  size_t n;
  end_reading (filter);
  struct rd_filter_part *part = find_part_of (filter, store, path, whole, &n);
  int failed = part ? RD_EXIT_OK : add_part (filter, args, store,
                                             whole ? NULL : path, n, &part);
  filter->has_bad_query |= failed == RD_EXIT_USAGE;
  if (failed)
    return failed;
  *is_selected = radio_view_find (part->selected, path, NULL);
  part->nfound += *is_selected;
  filter->nunindexed += !*is_selected
                        && !radio_view_find (part->all, path, NULL);
  return RD_EXIT_OK;
}

int
rd_filter_level (struct rd_filter *filter, const struct radio_store *store,
                 const char *path, bool whole, char **level)
{
  size_t ncollection;
  struct rd_filter_part *part = find_part_of (filter, store, path, whole,
                                              &ncollection);
  const struct radio_view *view = part->selected;
  uint64_t i;
  *level = NULL;
  if (part->have_level == NULL) {
    part->have_level = calloc (radio_view_count (view) + 1,
                               sizeof *part->have_level);
    if (part->have_level == NULL)
      return rd_error_memory ();
    enum radio_status status
      = radio_view_read_text (view, "volume.level", &part->levels,
                              part->have_level);
    /* Tables that were never indexed have no such column. */
    if (status != RADIO_OK && status != RADIO_ERROR_ARGUMENT)
      return rd_error_library (NULL);
  }
  if (!radio_view_find (view, path, &i) || !part->have_level[i])
    return RD_EXIT_OK;
  *level = rd_string_copy (&part->levels, i);
  return *level ? RD_EXIT_OK : RD_EXIT_FAILED;
}

/* Checks the names in a query where no volume needed it.  What else fails, as
 * that there is no table, is no fault of the query. */
static int
check_unused (struct rd_filter *filter, const struct rd_args *args,
              struct radio_store *store, const char *collection)
{
  RD_FREE_VIEW struct radio_view *view = NULL;
  struct radio_cohort *cohort;
  size_t at;
  const struct radio_select_options options = {
    .where = args->select.where, .collection = collection,
  };
  int failed = need_cohort (filter, store, &cohort);
  if (failed)
    return failed;
  enum radio_status status = radio_cohort_select (cohort, &options, &view,
                                                  &at);
  if (status != RADIO_ERROR_ARGUMENT || at > strlen (args->select.where))
    return RD_EXIT_OK;
  filter->has_bad_query = true;
  return fail_query (args->select.where, at);
}

int
rd_filter_count (struct rd_filter *filter, const struct rd_args *args,
                 struct radio_store *store, const char *collection)
{
  const struct rd_filter_part *part
    = find_part (filter, store, *collection ? collection : NULL,
                 strlen (collection));
  end_reading (filter);
  if (part == NULL && args->select.where)
    return check_unused (filter, args, store,
                         *collection ? collection : NULL);
  uint64_t n = part ? radio_view_count (part->selected) : 0;
  /* An operand may be given twice. */
  if (part && n > part->nfound)
    filter->nmissing += n - part->nfound;
  return RD_EXIT_OK;
}

void
rd_filter_report (const struct rd_filter *filter)
{
  RD_FREE char *unindexed = rd_format (
    "%" PRIu64 " volume%s without a row %s not selected; 'radio index' adds "
    "the row%s", filter->nunindexed, rd_plural (filter->nunindexed),
    filter->nunindexed == 1 ? "is" : "are",
    rd_plural (filter->nunindexed));
  RD_FREE char *missing = rd_format (
    "%" PRIu64 " selected row%s no volume; 'radio index' removes %s",
    filter->nmissing, filter->nmissing == 1 ? " has" : "s have",
    filter->nmissing == 1 ? "it" : "them");
  if (unindexed && filter->nunindexed > 0)
    rd_warn (unindexed);
  if (missing && filter->nmissing > 0)
    rd_warn (missing);
}

void
rd_filter_clear (struct rd_filter *filter)
{
  end_reading (filter);
  for (size_t i = 0; i < filter->nparts; i++) {
    radio_view_free (filter->parts[i].all);
    radio_view_free (filter->parts[i].selected);
    radio_strings_free (&filter->parts[i].levels);
    free (filter->parts[i].have_level);
    free (filter->parts[i].collection);
  }
  free (filter->parts);
  *filter = (struct rd_filter) { 0 };
}
