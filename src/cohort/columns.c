/* SPDX-License-Identifier: MIT */
/* Columns of the rows of a view, of whichever tables these are. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/base/structs.h"
#include "src/cohort/evaluate.h"
#include "src/element/convert.h"

/* Rows of a view that are of one member, and the column in it. */
struct run {
  struct rd_member *member;
  size_t first, n;                    /* in the view */
  struct rd_placed placed;
};

/* A column of a view: it has a run for each member that has rows there. */
struct view_column {
  const struct radio_view *view;
  const char *name;                   /* without the table's */
  struct rd_binding binding;
  struct run *runs;                   /* owned */
  size_t nruns;
  enum radio_column_type type;
  enum radio_dtype dtype;             /* of all runs */
};

static void
clear_column (struct view_column *column)
{
  rd_free (column->runs);
}

#define COLUMN_SCOPE RD_CLEANUP (clear_column)

static enum radio_status
find_runs (struct view_column *column)
{
  const struct radio_view *view = column->view;
  struct radio_cohort *cohort = view->cohort;
  column->runs = rd_calloc (view->nmembers + 1, sizeof *column->runs);
  if (!column->runs)
    return rd_fail_memory ((view->nmembers + 1) * sizeof *column->runs);
  for (size_t i = 0; i < view->n; i++) {
    struct rd_member *member = cohort->members.at[view->rows[i] >> 32];
    if (column->nruns == 0
        || column->runs[column->nruns - 1].member != member)
      column->runs[column->nruns++] = (struct run) { .member = member,
                                                     .first = i };
    column->runs[column->nruns - 1].n++;
  }
  return RADIO_OK;
}

/* Finds the type of values of two dtypes together.  Numbers compare, so also an
 * integer and a float may be in one column. */
static enum radio_dtype
common_dtype (enum radio_dtype a, enum radio_dtype b)
{
  enum radio_column_type type;
  if (a == b)
    return a;
  for (int i = 0; i < 2; i++)
    if (rd_column_type_of (i ? a : b, &type) && type == RADIO_COLUMN_FLOAT)
      return RADIO_FLOAT64;
  return RADIO_INT64;
}

static enum radio_status
read_runs (struct view_column *column)
{
  struct radio_cohort *cohort = column->view->cohort;
  bool has_any = false;
  column->type = column->binding.type;
  column->dtype = rd_column_dtype (column->type);
  for (size_t i = 0; i < column->nruns; i++)
    rd_placed_want (cohort, column->runs[i].member, column->name,
                    &column->binding);
  RD_TRY (rd_members_read_wanted (cohort));
  for (size_t i = 0; i < column->nruns; i++) {
    struct run *run = &column->runs[i];
    RD_TRY (rd_placed_find (cohort, run->member, column->name,
                            &column->binding, &run->placed));
    if (!run->placed.stored)
      continue;
    enum radio_dtype dtype = run->placed.stored->values->dtype;
    column->dtype = has_any ? common_dtype (column->dtype, dtype) : dtype;
    has_any = true;
  }
  if (column->type != RADIO_COLUMN_TEXT)
    (void) rd_column_type_of (column->dtype, &column->type);
  return RADIO_OK;
}

/* Finds a column, and reads it.  Called with the cohort's lock held, as the
 * parts of its members are filled. */
static enum radio_status
open_column (const struct radio_view *view, const char *name,
             struct view_column *column)
{
  static const char *const prefixes[] = { "volume.", "subject." };
  static const enum rd_name_scope scopes[] = { RD_NAME_VOLUME,
                                               RD_NAME_SUBJECT };
  struct radio_cohort *cohort = view->cohort;
  struct rd_value value = { .kind = RD_VALUE_COLUMN, .at = SIZE_MAX };
  size_t error_at;
  *column = (struct view_column) { .view = view, .name = name };
  for (size_t i = 0; i < 2; i++) {
    size_t n = strlen (prefixes[i]);
    if (strncmp (name, prefixes[i], n) != 0)
      continue;
    value.scope = scopes[i];
    column->name = name + n;
    break;
  }
  RD_FREE char *text = rd_strdup (column->name);
  if (!text)
    return rd_fail_memory (strlen (name) + 1);
  value.text = text;
  value.nbytes = strlen (text);
  RD_TRY (find_runs (column));
  RD_FREE struct rd_member **members
    = rd_calloc (column->nruns + 1, sizeof *members);
  if (!members)
    return rd_fail_memory ((column->nruns + 1) * sizeof *members);
  for (size_t i = 0; i < column->nruns; i++)
    members[i] = column->runs[i].member;
  /* A view of subjects without rows has their columns, too. */
  bool has_none = view->of_subjects && column->nruns == 0;
  if (has_none)
    members[0] = cohort->subjects;
  const struct rd_selection selection = {
    .cohort = cohort, .members = members,
    .n = has_none ? 1 : column->nruns, .of_subjects = view->of_subjects,
    .error_at = &error_at,
  };
  RD_TRY (rd_selection_bind_column (&selection, &value, &column->binding));
  return read_runs (column);
}

/* Returns the value of row i of a run, or RD_NOT_THERE. */
static size_t
value_at (const struct view_column *column, const struct run *run, size_t i)
{
  return rd_placed_value (&run->placed,
                          (uint32_t) column->view->rows[run->first + i]);
}

/*------------------------------------------------------------------------
 * Numbers
 *----------------------------------------------------------------------*/

/* Converts the values of a run into to.  Those that are missing are 0. */
static enum radio_status
read_run (const struct view_column *column, const struct run *run,
          enum radio_dtype dtype, unsigned char *to, bool *valid)
{
  const struct rd_column *values
    = run->placed.stored ? run->placed.stored->values : NULL;
  size_t item = values ? radio_dtype_nbytes (values->dtype) : 1;
  RD_FREE unsigned char *stored = rd_calloc (run->n, item);
  if (!stored)
    return rd_fail_memory (rd_mul_sat (run->n, item));
  for (size_t i = 0; i < run->n; i++) {
    size_t value = value_at (column, run, i);
    valid[i] = value != RD_NOT_THERE;
    if (valid[i])
      memcpy (stored + i * item, values->values + value * item, item);
  }
  rd_convert_fn *convert = values ? rd_convert_find (values->dtype, dtype)
                                  : NULL;
  if (!values)
    memset (to, 0, run->n * radio_dtype_nbytes (dtype));
  else if (convert (stored, to, run->n))
    return rd_fail (RADIO_ERROR_RANGE, "%s: a value of the column '%s' (%s) "
                    "does not fit into %s", run->member->path, column->name,
                    radio_dtype_name (values->dtype),
                    radio_dtype_name (dtype));
  return RADIO_OK;
}

/* Sets missing values of floats to NaN; others must be able to say that they
 * are missing. */
static enum radio_status
mark_missing (const struct view_column *column, enum radio_dtype dtype,
              unsigned char *values, const bool *valid, bool may_be_missing)
{
  enum radio_column_type type = RADIO_COLUMN_INTEGER;
  const double nan = NAN;
  size_t item = radio_dtype_nbytes (dtype);
  bool is_float = rd_column_type_of (dtype, &type)
                  && type == RADIO_COLUMN_FLOAT;
  for (size_t i = 0; i < column->view->n; i++) {
    if (valid[i])
      continue;
    if (is_float)
      rd_convert_find (RADIO_FLOAT64, dtype) ((const unsigned char *) &nan,
                                              values + i * item, 1);
    else if (!may_be_missing)
      return rd_fail (RADIO_ERROR_RANGE, "the column '%s' has no value for "
                      "%s; pass valid to read it", column->name,
                      radio_view_id (column->view, i));
  }
  return RADIO_OK;
}

static enum radio_status
read_values (const struct radio_view *view, const char *name,
             enum radio_dtype dtype, void *values, size_t nbytes, bool *valid)
{
  struct view_column column COLUMN_SCOPE = { 0 };
  enum radio_column_type type;
  RD_LOCK_SCOPE (&view->cohort->lock);
  RD_TRY (open_column (view, name, &column));
  if (column.type == RADIO_COLUMN_TEXT)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the column '%s' is text; read it by "
                    "radio_view_read_text", column.name);
  if (dtype == RADIO_STORED)
    dtype = column.dtype;
  if (!rd_column_type_of (dtype, &type)
      || !rd_convert_find (column.dtype, dtype))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the column '%s' is %s, which is "
                    "never %s", column.name, radio_dtype_name (column.dtype),
                    radio_dtype_name (dtype));
  size_t item = radio_dtype_nbytes (dtype), n = view->n;
  if (n > 0 && (!values || nbytes / item < n))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the buffer has %zu bytes, and %zu "
                    "rows need %zu each", values ? nbytes : 0, n, item);
  RD_TRY (rd_context_allows (view->cohort->store->context,
                             rd_mul_sat (n, 1 + 8), "a column of the view"));
  RD_FREE bool *own = valid ? NULL : rd_calloc (n + 1, sizeof *own);
  bool *is_there = valid ? valid : own;
  if (!is_there)
    return rd_fail_memory (n + 1);
  unsigned char *to = values;
  for (size_t i = 0; i < column.nruns; i++) {
    const struct run *run = &column.runs[i];
    RD_TRY (read_run (&column, run, dtype, to + run->first * item,
                      is_there + run->first));
  }
  return mark_missing (&column, dtype, to, is_there, valid != NULL);
}

enum radio_status
radio_view_read (const struct radio_view *view, const char *column,
                 enum radio_dtype dtype, void *values, size_t nbytes,
                 bool *valid)
{
  RD_NOT_NULL (view);
  RD_NOT_NULL (column);
  RD_SCOPE ("read column of view", RD_IN_OPERATION);
  return rd_scope_end_with (read_values (view, column, dtype, values, nbytes,
                                         valid));
}

/*------------------------------------------------------------------------
 * Text
 *----------------------------------------------------------------------*/

static enum radio_status
read_text (const struct radio_view *view, const char *name,
           struct radio_strings *text, bool *valid)
{
  struct view_column column COLUMN_SCOPE = { 0 };
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  RD_LOCK_SCOPE (&view->cohort->lock);
  RD_TRY (open_column (view, name, &column));
  for (size_t r = 0; r < column.nruns; r++) {
    const struct run *run = &column.runs[r];
    for (size_t i = 0; i < run->n; i++) {
      char buffer[RD_PRINT_NBYTES];
      struct rd_slice slice = { "", 0 };
      size_t value = value_at (&column, run, i);
      if (value != RD_NOT_THERE)
        slice = rd_column_print (run->placed.stored->values, value, buffer);
      if (valid)
        valid[run->first + i] = value != RD_NOT_THERE;
      RD_TRY (rd_text_list_add (&texts, slice));
    }
  }
  return rd_text_list_end (&texts, text);
}

enum radio_status
radio_view_read_text (const struct radio_view *view, const char *column,
                      struct radio_strings *text, bool *valid)
{
  RD_NOT_NULL (view);
  RD_NOT_NULL (column);
  RD_NOT_NULL (text);
  RD_SCOPE ("read column of view", RD_IN_OPERATION);
  return rd_scope_end_with (read_text (view, column, text, valid));
}

/*------------------------------------------------------------------------
 * Types
 *----------------------------------------------------------------------*/

static enum radio_status
get_column (const struct radio_view *view, const char *name,
            struct radio_view_column *found)
{
  struct view_column column COLUMN_SCOPE = { 0 };
  RD_LOCK_SCOPE (&view->cohort->lock);
  RD_TRY (open_column (view, name, &column));
  *found = (struct radio_view_column) {
    .type = column.type, .dtype = column.dtype,
    .of_subjects = view->of_subjects || column.binding.of_subject,
  };
  return RADIO_OK;
}

enum radio_status
(radio_view_get_column) (const struct radio_view *view, const char *column,
                         struct radio_view_column *info, size_t info_nbytes)
{
  struct radio_view_column found;
  RD_NOT_NULL (view);
  RD_NOT_NULL (column);
  RD_NOT_NULL (info);
  RD_TRY (get_column (view, column, &found));
  rd_fill_result (info, info_nbytes, &found, sizeof found);
  return RADIO_OK;
}
