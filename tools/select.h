/* SPDX-License-Identifier: MIT */
/* Volumes that a command's operands name, narrowed by --where, --subject,
 * --sample and --head. */
#ifndef RD_TOOLS_SELECT_H
#define RD_TOOLS_SELECT_H

#include <pthread.h>

#include "tools/options.h"

static inline void
rd_cleanup_view (struct radio_view **view)
{
  radio_view_free (*view);
}

#define RD_FREE_VIEW RD_CLEANUP (rd_cleanup_view)

/* Returns a text as a query has it, in quotes, allocated; NULL after an
 * error. */
char *rd_select_quote (const char *text);

/* Checks --where without any table.  Returns an exit status; prints errors. */
int rd_select_check (const struct rd_args *args);

/* Selects rows by --where and --subject: volumes of a collection (NULL: of all)
 * or subjects.  A query that is wrong is printed with a mark below the place.
 * Returns an exit status; prints errors. */
int rd_select_view (const struct rd_args *args, struct radio_cohort *cohort,
                    const char *collection, bool subjects,
                    struct radio_view **view);

/* Sets which of n ids --sample and --head leave: those with the smallest keys
 * (radio_sample_key), and of these the first.  Returns an exit status; prints
 * errors. */
int rd_select_choose (const struct rd_select *select, const char *const *ids,
                      size_t n, bool *chosen);

/* The cohorts of some stores. */
struct rd_cohorts {
  struct rd_cohort {
    const struct radio_store *store;
    struct radio_cohort *cohort;
  } *at;
  size_t n;
};

/* Finds the cohort of a store, or opens it.  Prints no error. */
enum radio_status rd_cohorts_find (struct rd_cohorts *cohorts,
                                   struct radio_store *store,
                                   struct radio_cohort **cohort);

void rd_cohorts_clear (struct rd_cohorts *cohorts);

/* The end of a message that nothing is selected: that none of the cohorts has
 * the subject, and one with a similar id; or "".  Allocated; NULL after an
 * error. */
char *rd_select_why_none (const struct rd_args *args,
                          const struct rd_cohorts *cohorts);

/* The rows of the collections that were met so far. */
struct rd_filter {
  struct rd_cohorts *cohorts;
  struct rd_filter_part {
    const struct radio_cohort *cohort;
    char *collection;         /* NULL: all of the store */
    struct radio_view *all, *selected;
    uint64_t nfound;          /* of those selected */
    struct radio_strings levels;      /* of those selected, once needed */
    bool *have_level;         /* of each of them; NULL: not read yet */
  } *parts;
  size_t nparts;
  struct rd_filter_reading {
    bool is_running;
    pthread_t thread;
    struct radio_cohort *cohort;
    char *where;
    const char *collection;   /* NULL: all of the store */
    bool with_levels;
  } reading;
  uint64_t nunindexed;        /* volumes without a row */
  uint64_t nmissing;          /* rows without a volume */
  bool has_bad_query;         /* an error of usage was printed */
};

/* Begins to read, on another thread, what the selection needs of the tables of
 * a store on a network, so that the volumes of a collection (NULL: of all) are
 * listed at the same time.  with_levels: rd_filter_level will be called.
 * Prints nothing.  Returns errors with which listing would fail, too; others
 * are found, and printed, when the rows are needed. */
enum radio_status rd_filter_begin (struct rd_filter *filter,
                                   const struct rd_args *args,
                                   struct radio_store *store,
                                   const char *collection, bool with_levels);

/* Returns whether the selection needs tables, and a store has none. */
bool rd_filter_lacks_tables (const struct rd_filter *filter,
                             const struct rd_args *args,
                             struct radio_store *store);

/* Finds whether a volume is selected.  whole: the whole store is listed, not
 * its collection alone.  Returns an exit status; prints errors. */
int rd_filter_check (struct rd_filter *filter, const struct rd_args *args,
                     struct radio_store *store, const char *path, bool whole,
                     bool *is_selected);

/* Allocates the level that the row of a volume names, which is selected; NULL:
 * it names none.  Returns an exit status; prints errors. */
int rd_filter_level (struct rd_filter *filter, const struct radio_store *store,
                     const char *path, bool whole, char **level);

/* Counts selected rows without a volume, after all volumes of a collection, or
 * of the store ("") were checked; where there was none, checks the query.
 * Returns an exit status; prints errors. */
int rd_filter_count (struct rd_filter *filter, const struct rd_args *args,
                     struct radio_store *store, const char *collection);

/* Prints a warning with the counts. */
void rd_filter_report (const struct rd_filter *filter);

void rd_filter_clear (struct rd_filter *filter);

#endif /* RD_TOOLS_SELECT_H */
