/* SPDX-License-Identifier: MIT */
/* Checking pairs.  The volumes of all collections are listed and their grids
 * kept; sorted by subject, session and run, those of one run follow each other,
 * the first collection's first. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <radio/pairs.h>

#include "profiler/counters.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/base/text.h"
#include "src/volume/check/integers.h"
#include "src/volume/grids.h"
#include "src/volume/index/rows.h"
#include "src/volume/list.h"
#include "src/volume/strings.h"
#include "src/volume/volume.h"

#define TOLERANCE 1e-3

/* The parts of a volume's name that identify it. */
struct whose {
  struct rd_slice subject, session, run;
};

/* A volume, by whose name it is paired. */
struct record {
  char *path;
  const char *name;           /* in path */
  size_t collection;          /* its number */
  struct whose whose;
  struct rd_volume_grid grid;
  bool is_damaged;
  bool is_labels;
  bool is_to_be_read;         /* its values may be no integers */
};

struct collection {
  const char *name;
  bool is_masks, is_complete;
};

struct checking {
  struct radio_store *store;
  struct radio_pairs_options options;
  struct radio_pairs_result result;
  double tolerance;
  struct rd_strings names;    /* of the collections, unless they were given */
  struct collection *collections;
  size_t ncollections;
  size_t at;                  /* that of the last volume */
  struct rd_buffer records;
};

static void
clear_checking (struct checking *checking)
{
  struct record *records = (struct record *) (void *) checking->records.data;
  for (uint64_t i = 0; i < checking->result.volume_count; i++)
    rd_free (records[i].path);
  rd_buffer_free (&checking->records);
  rd_strings_free (&checking->names);
  rd_free (checking->collections);
}

const char *
radio_pair_fault_name (enum radio_pair_fault_kind kind)
{
  switch (kind) {
  case RADIO_PAIR_SHAPE: return "shape";
  case RADIO_PAIR_UNIT: return "unit";
  case RADIO_PAIR_AFFINE: return "affine";
  case RADIO_PAIR_NOT_INTEGERS: return "integers";
  case RADIO_PAIR_MISSING: return "missing";
  case RADIO_PAIR_DAMAGED: return "damaged";
  }
  return "unknown";
}

/* Reports the fault that the thread's message describes. */
static enum radio_status
report (struct checking *checking, enum radio_pair_fault_kind kind,
        const char *path, const char *other)
{
  const struct radio_pair_fault fault = {
    kind, path, other, radio_error_message ()
  };
  checking->result.fault_count++;
  return checking->options.report
         ? checking->options.report (&fault, checking->options.user_data)
         : RADIO_OK;
}

/*------------------------------------------------------------------------
 * Volumes
 *----------------------------------------------------------------------*/

/* The value of "_run-" after a volume's subject. */
static struct rd_slice
name_run (const char *name, size_t nsubject)
{
  static const char entity[] = "_run-";
  const char *run = strstr (name + nsubject, entity);
  if (run == NULL)
    return (struct rd_slice) { "", 0 };
  run += sizeof entity - 1;
  return (struct rd_slice) { run, strcspn (run, "_") };
}

static void
split_name (const char *name, struct whose *whose)
{
  const char *session;
  size_t nsession;
  whose->subject.at = name;
  whose->subject.n = rd_name_subject (name, &session, &nsession);
  whose->session = (struct rd_slice) { session ? session : "", nsession };
  whose->run = name_run (name, whose->subject.n);
}

/* True if a mask's values may be no integers, judging by its type. */
static bool
may_have_fractions (const struct radio_volume_info *info)
{
  return !rd_dtype_is_integer (info->array.dtype)
         || info->scl_slope != floor (info->scl_slope)
         || info->scl_inter != floor (info->scl_inter);
}

static enum radio_status
take_volume (const struct radio_entry *entry, struct radio_volume *volume,
             uint64_t stored_nbytes, void *user_data)
{
  struct checking *checking = user_data;
  /* Volumes come by collection, or in any order. */
  while (strcmp (checking->collections[checking->at].name, entry->collection)
         != 0)
    checking->at = (checking->at + 1) % checking->ncollections;
  struct record record = {
    .path = rd_strdup (entry->path), .collection = checking->at,
    .is_damaged = volume == NULL,
  };
  (void) stored_nbytes;
  if (record.path == NULL)
    return rd_fail_memory (strlen (entry->path) + 1);
  record.name = rd_base_name (record.path);
  split_name (record.name, &record.whose);
  if (volume) {
    struct radio_volume_info info;
    radio_volume_get_info (volume, &info);
    rd_volume_grid_get (&info, &record.grid);
    record.is_labels = info.is_labels;
    record.is_to_be_read = may_have_fractions (&info);
    if (info.is_labels)
      checking->collections[checking->at].is_masks = true;
  }
  enum radio_status status = rd_buffer_append (&checking->records, &record,
                                               sizeof record);
  if (status != RADIO_OK) {
    rd_free (record.path);
    return status;
  }
  checking->result.volume_count++;
  return volume ? RADIO_OK
                : report (checking, RADIO_PAIR_DAMAGED, entry->path, NULL);
}

static int
compare_sessions (const struct whose *a, const struct whose *b)
{
  int order = rd_slice_compare (a->subject, b->subject);
  return order ? order : rd_slice_compare (a->session, b->session);
}

static int
compare_runs (const struct whose *a, const struct whose *b)
{
  int order = compare_sessions (a, b);
  return order ? order : rd_slice_compare (a->run, b->run);
}

bool
radio_is_pair (const char *a, const char *b)
{
  struct whose x, y;
  if (a == NULL || b == NULL)
    return false;
  split_name (a, &x);
  split_name (b, &y);
  return compare_runs (&x, &y) == 0;
}

static int
compare_records (const void *p, const void *q)
{
  const struct record *a = p, *b = q;
  int order = compare_runs (&a->whose, &b->whose);
  if (order == 0)
    order = (a->collection > b->collection) - (a->collection < b->collection);
  return order ? order : strcmp (a->path, b->path);
}

/*------------------------------------------------------------------------
 * Faults
 *----------------------------------------------------------------------*/

static enum radio_status
compare (struct checking *checking, const struct record *record,
         const struct record *with)
{
  const struct rd_named_grid a = { record->path, &record->grid };
  const struct rd_named_grid b = { with->path, &with->grid };
  if (record->is_damaged || with->is_damaged)
    return RADIO_OK;
  checking->result.pair_count++;
  if (rd_grids_check_shape (&a, &b) != RADIO_OK)
    RD_TRY (report (checking, RADIO_PAIR_SHAPE, a.name, b.name));
  if (rd_grids_check_unit (&a, &b) != RADIO_OK)
    RD_TRY (report (checking, RADIO_PAIR_UNIT, a.name, b.name));
  if (rd_grids_check_affine (&a, &b, checking->tolerance) != RADIO_OK)
    RD_TRY (report (checking, RADIO_PAIR_AFFINE, a.name, b.name));
  return RADIO_OK;
}

/* Compares the n volumes of a run with those of the first's collection. */
static enum radio_status
check_run (struct checking *checking, const struct record *records, size_t n)
{
  size_t nfirst = 1;
  while (nfirst < n && records[nfirst].collection == records[0].collection)
    nfirst++;
  for (size_t i = nfirst; i < n; i++) {
    const struct record *with = &records[0];
    for (size_t j = 0; j < nfirst; j++)
      if (strcmp (records[i].name, records[j].name) == 0)
        with = &records[j];
    RD_TRY (compare (checking, &records[i], with));
  }
  return RADIO_OK;
}

static enum radio_status
check_values (struct checking *checking, const struct record *record)
{
  struct radio_volume *volume RD_CLEANUP (rd_cleanup_volume) = NULL;
  enum radio_status status
    = radio_volume_open (checking->store, record->path, &volume);
  bool is_integer = true;
  if (status == RADIO_OK)
    status = rd_check_integers (volume, &is_integer);
  checking->result.read_count++;
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;                  /* removed or replaced meanwhile */
  if (status == RADIO_ERROR_CHECKSUM || status == RADIO_ERROR_FORMAT)
    return report (checking, RADIO_PAIR_DAMAGED, record->path, NULL);
  RD_TRY (status);
  return is_integer ? RADIO_OK
                    : report (checking, RADIO_PAIR_NOT_INTEGERS, record->path,
                              NULL);
}

/* The levels at which a collection may be incomplete. */
enum depth { OF_SUBJECT, OF_SESSION, OF_RUN };

/* Reports that a collection lacks what another one has. */
static enum radio_status
report_missing (struct checking *checking, const struct collection *lacks,
                const struct record *has, enum depth depth)
{
  const struct rd_slice *subject = &has->whose.subject, *run = &has->whose.run;
  const struct rd_slice none = { "", 0 };
  const struct rd_slice session = depth == OF_SUBJECT ? none
                                                      : has->whose.session;
  rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no volume of %s%.*s%s%.*s%s%.*s; %s has "
           "%s", lacks->name, depth == OF_SUBJECT ? "subject " : "",
           (int) subject->n, subject->at, session.n == 0 ? "" : " ",
           (int) session.n, session.at,
           depth < OF_RUN ? "" : run->n == 0 ? " without a run" : " run-",
           depth < OF_RUN ? 0 : (int) run->n, run->at,
           checking->collections[has->collection].name, has->path);
  return report (checking, RADIO_PAIR_MISSING, lacks->name, has->path);
}

/* Finds the first of n volumes that is in a collection, or, with SIZE_MAX, in
 * one that is to be complete; NULL: none is. */
static const struct record *
find_in (const struct checking *checking, const struct record *records,
         size_t n, size_t collection)
{
  for (size_t i = 0; i < n; i++)
    if (collection == SIZE_MAX
        ? checking->collections[records[i].collection].is_complete
        : records[i].collection == collection)
      return &records[i];
  return NULL;
}

/* Looks for what collection c lacks among the n volumes of a subject, a session
 * or a run. */
static enum radio_status
check_complete (struct checking *checking, size_t c,
                const struct record *records, size_t n, enum depth depth)
{
  const struct record *has = find_in (checking, records, n, SIZE_MAX);
  if (has == NULL)
    return RADIO_OK;
  if (find_in (checking, records, n, c) == NULL)
    return report_missing (checking, &checking->collections[c], has, depth);
  for (size_t i = 0, j; i < n && depth < OF_RUN; i = j) {
    for (j = i + 1; j < n; j++) {
      const struct whose *a = &records[i].whose, *b = &records[j].whose;
      if (depth == OF_SUBJECT ? compare_sessions (a, b) : compare_runs (a, b))
        break;
    }
    RD_TRY (check_complete (checking, c, records + i, j - i,
                            (enum depth) (depth + 1)));
  }
  return RADIO_OK;
}

static enum radio_status
check_subject (struct checking *checking, const struct record *records,
               size_t n)
{
  for (size_t c = 0; c < checking->ncollections; c++)
    if (checking->collections[c].is_complete)
      RD_TRY (check_complete (checking, c, records, n, OF_SUBJECT));
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n; j++)
      if (compare_runs (&records[i].whose, &records[j].whose) != 0)
        break;
    RD_TRY (check_run (checking, records + i, j - i));
  }
  for (size_t i = 0; i < n; i++)
    if (records[i].is_to_be_read
        && checking->collections[records[i].collection].is_masks)
      RD_TRY (check_values (checking, &records[i]));
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Collections
 *----------------------------------------------------------------------*/

/* Marks those named in a list of options. */
static enum radio_status
mark (struct checking *checking, const char *const *names, size_t n,
      size_t offset)
{
  for (size_t i = 0; i < n; i++) {
    bool is_found = false;
    for (size_t c = 0; names[i] && c < checking->ncollections; c++)
      if (strcmp (checking->collections[c].name, names[i]) == 0) {
        *(bool *) ((char *) &checking->collections[c] + offset) = true;
        is_found = true;
      }
    if (!is_found)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: not among the collections "
                      "that are checked", names[i] ? names[i] : "NULL");
  }
  return RADIO_OK;
}

/* Finds the collections of the volumes that were given: once for each part of
 * the list that is of one. */
static enum radio_status
name_collections (struct checking *checking)
{
  const struct radio_pairs_options *options = &checking->options;
  struct rd_strings *names = &checking->names;
  if (options->collections)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_store_check_pairs: both "
                    "collections and volumes are given");
  for (size_t i = 0; i < options->nvolumes; i++) {
    const char *path = options->volumes[i];
    RD_NOT_NULL (path);
    const char *slash = strchr (path, '/');
    size_t n = slash ? (size_t) (slash - path) : 0;
    if (n == 0)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: no volume of a collection",
                      path);
    const char *last = names->n > 0 ? names->items[names->n - 1] : "";
    if (strlen (last) != n || memcmp (last, path, n) != 0)
      RD_TRY (rd_strings_add (names, path, n));
  }
  return RADIO_OK;
}

static enum radio_status
choose_collections (struct checking *checking)
{
  const struct radio_pairs_options *options = &checking->options;
  bool all = options->collections == NULL || options->volumes != NULL;
  if (options->volumes)
    RD_TRY (name_collections (checking));
  else if (all)
    RD_TRY (rd_list_collections (checking->store, &checking->names, NULL));
  size_t n = all ? checking->names.n : options->ncollections;
  checking->collections = rd_calloc (n + 1, sizeof *checking->collections);
  if (checking->collections == NULL)
    return rd_fail_memory ((n + 1) * sizeof *checking->collections);
  for (size_t i = 0; i < n; i++) {
    const char *name = all ? checking->names.items[i]
                           : options->collections[i];
    bool is_known = false;
    RD_NOT_NULL (name);
    for (size_t j = 0; j < checking->ncollections; j++)
      is_known |= strcmp (checking->collections[j].name, name) == 0;
    if (!is_known)
      checking->collections[checking->ncollections++].name = name;
  }
  checking->result.collection_count = checking->ncollections;
  RD_TRY (mark (checking, options->masks, options->nmasks,
                offsetof (struct collection, is_masks)));
  return mark (checking, options->complete, options->ncomplete,
               offsetof (struct collection, is_complete));
}

/* Lists the volumes and keeps their grids. */
static enum radio_status
read_records (struct checking *checking)
{
  const struct radio_pairs_options *options = &checking->options;
  size_t ncollections = checking->ncollections;
  if (options->volumes)
    return options->nvolumes > 0
           ? rd_list_open_paths (checking->store, options->volumes,
                                 options->nvolumes, take_volume, checking)
           : RADIO_OK;
  const char **names RD_FREE = rd_calloc (ncollections + 1, sizeof *names);
  if (names == NULL)
    return rd_fail_memory ((ncollections + 1) * sizeof *names);
  for (size_t i = 0; i < ncollections; i++)
    names[i] = checking->collections[i].name;
  if (options->collections)
    RD_TRY (rd_list_check (checking->store, names, ncollections));
  return ncollections > 0
         ? rd_list_open (checking->store, names, ncollections, take_volume,
                         checking)
         : RADIO_OK;
}

static enum radio_status
check_pairs (struct checking *checking)
{
  RD_TRY (choose_collections (checking));
  RD_TRY (read_records (checking));
  struct record *records = (struct record *) (void *) checking->records.data;
  size_t n = (size_t) checking->result.volume_count;
  if (n > 0)
    qsort (records, n, sizeof *records, compare_records);
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n; j++)
      if (!rd_slice_equal (records[i].whose.subject,
                           records[j].whose.subject))
        break;
    RD_TRY (check_subject (checking, records + i, j - i));
  }
  return RADIO_OK;
}

enum radio_status
(radio_store_check_pairs) (struct radio_store *store,
                           const struct radio_pairs_options *options,
                           struct radio_pairs_result *result,
                           size_t result_nbytes)
{
  struct checking checking RD_CLEANUP (clear_checking) = { .store = store };
  RD_NOT_NULL (store);
  if (options) {
    RD_TRY (RD_CHECK_RESERVED (radio_pairs_options, options));
    checking.options = *options;
  }
  checking.tolerance = checking.options.tolerance == 0
                       ? TOLERANCE : checking.options.tolerance;
  if (!(checking.tolerance > 0))
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the tolerance is negative, or "
                    "no number", __func__);
  RD_SCOPE ("check pairs", RD_IN_OPERATION);
  enum radio_status status = check_pairs (&checking);
  rd_fill_result (result, result_nbytes, &checking.result,
                  sizeof checking.result);
  return rd_scope_end_with (status);
}
