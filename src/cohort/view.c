/* SPDX-License-Identifier: MIT */
/* Views: rows of a cohort, which are numbers that increase. */
#include <config.h>

#include <string.h>

#include "src/cohort/cohort.h"

void
radio_view_free (struct radio_view *view)
{
  if (!view)
    return;
  rd_free (view->rows);
  radio_cohort_close (view->cohort);
  rd_free (view);
}

RD_DEFINE_CLEANUP (view, struct radio_view, radio_view_free);

uint64_t
radio_view_count (const struct radio_view *view)
{
  return view->n;
}

const char *
radio_view_id (const struct radio_view *view, uint64_t i)
{
  if (i >= view->n)
    return NULL;
  uint64_t row = view->rows[i];
  const struct rd_member *member = view->cohort->members.at[row >> 32];
  return member->ids + member->offsets[(uint32_t) row];
}

uint64_t
radio_view_row (const struct radio_view *view, uint64_t i)
{
  return i < view->n ? (uint32_t) view->rows[i] : UINT64_MAX;
}

/* Returns the place of the first row of a view that is not less than one, or
 * n. */
static size_t
find_row (const struct radio_view *view, uint64_t row)
{
  size_t low = 0, high = view->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (view->rows[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns the number of the member that an id belongs to; without one, the
 * number of members when the view was made. */
static size_t
find_member (const struct radio_view *view, const char *id)
{
  const struct radio_cohort *cohort = view->cohort;
  size_t i = 0;
  for (; i < view->nmembers; i++) {
    const struct rd_member *member = cohort->members.at[i];
    size_t n = member->collection ? strlen (member->collection) : 0;
    if (view->of_subjects ? member == cohort->subjects
        : member->collection && strncmp (member->collection, id, n) == 0
          && id[n] == '/')
      break;
  }
  return i;
}

bool
radio_view_find (const struct radio_view *view, const char *id, uint64_t *i)
{
  size_t number = find_member (view, id);
  size_t at = find_row (view, RD_VIEW_ROW (number, 0));
  /* The lookup of a member without rows in the view may be in the making. */
  if (at == view->n || view->rows[at] >> 32 != number)
    return false;
  const struct rd_slice key = { id, strlen (id) };
  size_t row = rd_lookup_find (&view->cohort->members.at[number]->lookup, key);
  if (row == RD_NOT_THERE)
    return false;
  at = find_row (view, RD_VIEW_ROW (number, row));
  bool is_there = at < view->n && view->rows[at] == RD_VIEW_ROW (number, row);
  if (is_there && i)
    *i = at;
  return is_there;
}

/* Merges the rows of two views: those of both are in the result, and those of
 * b alone if adds_b; or, without those of both, if not. */
static enum radio_status
merge (const struct radio_view *a, const struct radio_view *b, bool adds_b,
       struct radio_view **result)
{
  if (a->cohort != b->cohort || a->of_subjects != b->of_subjects)
    return rd_fail (RADIO_ERROR_ARGUMENT, "views of two cohorts, or of "
                    "subjects and of volumes, have no rows in common");
  size_t nbytes = (a->n + (adds_b ? b->n : 0) + 1) * sizeof *a->rows;
  RD_CLEANUP (rd_cleanup_view) struct radio_view *view
    = rd_calloc (1, sizeof *view);
  if (!view)
    return rd_fail_memory (sizeof *view);
  view->cohort = rd_cohort_ref (a->cohort);
  view->of_subjects = a->of_subjects;
  view->nmembers = a->nmembers > b->nmembers ? a->nmembers : b->nmembers;
  view->rows = rd_malloc (nbytes);
  if (!view->rows)
    return rd_fail_memory (nbytes);
  size_t i = 0, j = 0;
  while (i < a->n || (adds_b && j < b->n)) {
    bool has_a = i < a->n && (j == b->n || a->rows[i] <= b->rows[j]);
    bool has_b = j < b->n && (i == a->n || b->rows[j] <= a->rows[i]);
    uint64_t row = has_a ? a->rows[i] : b->rows[j];
    if (adds_b || !has_b)
      view->rows[view->n++] = row;
    i += has_a;
    j += has_b;
  }
  *result = RD_STEAL (view);
  return RADIO_OK;
}

enum radio_status
radio_view_union (const struct radio_view *a, const struct radio_view *b,
                  struct radio_view **view)
{
  RD_NOT_NULL (a);
  RD_NOT_NULL (b);
  RD_NOT_NULL (view);
  return merge (a, b, true, view);
}

enum radio_status
radio_view_difference (const struct radio_view *a, const struct radio_view *b,
                       struct radio_view **view)
{
  RD_NOT_NULL (a);
  RD_NOT_NULL (b);
  RD_NOT_NULL (view);
  return merge (a, b, false, view);
}
