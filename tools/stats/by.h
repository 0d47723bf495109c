/* SPDX-License-Identifier: MIT */
/* Volumes grouped by the value of a column of their rows. */
#ifndef RD_STATS_BY_H
#define RD_STATS_BY_H

#include <radio/table.h>

#include "tools/json.h"
#include "tools/names.h"

/* Volumes that have one value. */
struct rd_by_group {
  char *value;                /* as text; NULL: it is missing.  Owned */
  struct rd_target *first;    /* of those of the list */
  size_t n;
};

struct rd_by {
  const char *column;
  enum radio_column_type type;
  struct rd_by_group *groups; /* in the order of values; that of missing ones
                                 last */
  size_t n;
};

/* Sorts the nodes, all of which are volumes of stores, by the value of a column
 * of theirs or of their subjects, and else in their order, and finds the
 * groups.  Volumes without a row have no value; a warning counts them.  Returns
 * an exit status; prints errors.  by is to be cleared in any case. */
int rd_by_group (struct rd_args *args, const char *column,
                 struct rd_nodes *nodes, struct rd_by *by);

void rd_by_clear (struct rd_by *by);

/* Prints a group as a condition of a query: site == "A", site is missing. */
void rd_by_print (const struct rd_by *by, const struct rd_by_group *group);

/* Makes an object of the column and its value, null if it is missing. */
struct json_object *rd_by_json (const struct rd_by *by,
                                const struct rd_by_group *group);

#endif /* RD_STATS_BY_H */
