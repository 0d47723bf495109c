/* SPDX-License-Identifier: MIT */
/* The tables of a cohort: opened, and their ids and columns read, when they are
 * needed first, and kept then. */
#ifndef RD_COHORT_COHORT_H
#define RD_COHORT_COHORT_H

#include <pthread.h>
#include <stdatomic.h>

#include <radio/cohort.h>

#include "src/array/context.h"
#include "src/base/reserve.h"
#include "src/table/table.h"

/* The most rows of a table in a view. */
#define RD_COHORT_MAX_ROWS ((uint64_t) UINT32_MAX)

/* A column as it is stored: row i has the value codes[i], none if that is -1;
 * without codes value i. */
struct rd_stored {
  struct rd_column *values;           /* NULL: not read */
  int32_t *codes;                     /* NULL: the column has no categories */
  bool is_wanted;                     /* rd_members_read_wanted reads it */
};

/* One of the tables.  Its parts are filled under the cohort's lock, and do not
 * change then. */
struct rd_member {
  char *path;
  const char *collection;             /* within path; NULL: of subjects */
  bool is_open;
  struct radio_table *table;          /* NULL though it is open: no table, or
                                         no row was written yet */
  size_t nrows;

  char *ids;                          /* each ends in a NUL; NULL: not read */
  size_t *offsets;                    /* of each in ids */
  struct rd_lookup lookup;

  struct rd_stored *columns;          /* of each field, then of the index */

  size_t *join;                       /* of each row of volumes its subject's,
                                         or RD_NOT_THERE; NULL: not made */
};

struct radio_cohort {
  atomic_uint nrefs;
  struct radio_store *store;          /* a reference */
  pthread_mutex_t lock;
  RD_VECTOR (struct rd_member *) members;       /* in the order of their
                                                   paths */
  struct rd_member *subjects;         /* one of them, or NULL */
  bool is_unlisted;                   /* nothing can be listed: members are
                                         added when they are named, in room that
                                         does not move under views */
};

/* The collections of a store that cannot be listed that may be named. */
#define RD_COHORT_MAX_NAMED 1000

/* A row in a view: its member's number, and its own. */
#define RD_VIEW_ROW(member, row) ((uint64_t) (member) << 32 | (row))

struct radio_view {
  struct radio_cohort *cohort;        /* a reference */
  bool of_subjects;
  size_t nmembers;                    /* of the cohort, when it was made */
  uint64_t *rows;                     /* increasing */
  size_t n, capacity;
};

/* Each is called with the cohort's lock held. */

/* Adds the table of a collection to a cohort whose store cannot be listed,
 * unless it has it; whether it is there is found out when it is opened. */
enum radio_status rd_cohort_name (struct radio_cohort *cohort,
                                  const char *collection) RADIO_USE_RESULT;

/* Opens those of n members, each given once, that are not open, over a network
 * at the same time. */
enum radio_status rd_members_open_all (struct radio_cohort *cohort,
                                   struct rd_member *const *members, size_t n)
  RADIO_USE_RESULT;

/* Has rd_members_read_wanted read a column of an open member. */
void rd_member_want (struct rd_member *member, const struct rd_field *field);

/* Reads what is wanted and was not read before, over a network at the same
 * time. */
enum radio_status rd_members_read_wanted (struct radio_cohort *cohort)
  RADIO_USE_RESULT;

/* Reads the ids, and checks that no two are equal. */
enum radio_status rd_member_read_ids (struct radio_cohort *cohort,
                                      struct rd_member *member)
  RADIO_USE_RESULT;

/* Returns the field of a column, also of the ids by their name; NULL if it is
 * missing.  The member is open. */
const struct rd_field *rd_member_find (const struct rd_member *member,
                                       const char *name);

/* Reads a column of an open member. */
enum radio_status rd_member_read (struct radio_cohort *cohort,
                                  struct rd_member *member,
                                  const struct rd_field *field,
                                  const struct rd_stored **stored)
  RADIO_USE_RESULT;

/* Makes the join of the volumes of an open member with the subjects. */
enum radio_status rd_member_join (struct radio_cohort *cohort,
                                  struct rd_member *member) RADIO_USE_RESULT;

/* Returns the value of a row, or RD_NOT_THERE: it is missing. */
static inline size_t
rd_stored_value (const struct rd_stored *stored, size_t row)
{
  size_t value = row;
  if (stored->codes && stored->codes[row] < 0)
    return RD_NOT_THERE;
  if (stored->codes)
    value = (size_t) stored->codes[row];
  return rd_column_is_valid (stored->values, value) ? value : RD_NOT_THERE;
}

struct radio_cohort *rd_cohort_ref (struct radio_cohort *cohort);

#endif /* RD_COHORT_COHORT_H */
