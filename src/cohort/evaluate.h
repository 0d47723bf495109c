/* SPDX-License-Identifier: MIT */
/* Queries on tables: names are bound to columns, types are checked, and the
 * conditions evaluated for all rows of a table at once. */
#ifndef RD_COHORT_EVALUATE_H
#define RD_COHORT_EVALUATE_H

#include "src/cohort/cohort.h"
#include "src/cohort/query.h"

/* The input of a query: open members that are selected from, either all volumes
 * or subjects alone. */
struct rd_selection {
  struct radio_cohort *cohort;
  struct rd_member *const *members;
  size_t n;
  bool of_subjects;
  const struct rd_query *query;
  size_t *error_at;

  /* One for each value of the query. */
  struct rd_binding {
    bool of_subject;                  /* a column of the table of subjects */
    enum radio_column_type type;
    struct rd_member *other;          /* the collection of has () */
  } *bindings;
};

/* Binds the name of one column. */
enum radio_status
rd_selection_bind_column (const struct rd_selection *selection,
                          const struct rd_value *value,
                          struct rd_binding *binding) RADIO_USE_RESULT;

/* A column that is placed in the rows of a member. */
struct rd_placed {
  const struct rd_stored *stored;     /* NULL: the member lacks it */
  const size_t *join;                 /* NULL: it is the member's own */
};

/* Reads the column that a name is bound to, and its join with an open
 * member. */
enum radio_status rd_placed_find (struct radio_cohort *cohort,
                                  struct rd_member *member, const char *name,
                                  const struct rd_binding *binding,
                                  struct rd_placed *placed) RADIO_USE_RESULT;

/* Has rd_members_read_wanted read what that needs. */
void rd_placed_want (struct radio_cohort *cohort, struct rd_member *member,
                     const char *name, const struct rd_binding *binding);

/* Returns the value of a row of the member, or RD_NOT_THERE: it is missing. */
static inline size_t
rd_placed_value (const struct rd_placed *placed, size_t row)
{
  if (!placed->stored)
    return RD_NOT_THERE;
  if (placed->join)
    row = placed->join[row];
  return row == RD_NOT_THERE ? row : rd_stored_value (placed->stored, row);
}

/* Binds the names and checks the types of a query. */
enum radio_status rd_selection_bind (struct rd_selection *selection)
  RADIO_USE_RESULT;

/* Reads the ids of the members, and the columns that the query (NULL: none)
 * needs of them and of others. */
enum radio_status rd_selection_read (const struct rd_selection *selection)
  RADIO_USE_RESULT;

/* The result of a condition.  The greater of two is their disjunction, the
 * smaller their conjunction. */
enum rd_truth { RD_FALSE = 0, RD_UNKNOWN, RD_TRUE };

/* Evaluates the query on the rows of one of the members; *truths has an enum
 * rd_truth for each, allocated. */
enum radio_status rd_selection_evaluate (const struct rd_selection *selection,
                                         struct rd_member *member,
                                         unsigned char **truths)
  RADIO_USE_RESULT;

#endif /* RD_COHORT_EVALUATE_H */
