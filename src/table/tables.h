/* SPDX-License-Identifier: MIT */
/* The tables of a store: listing them, and removing old generations. */
#ifndef RD_TABLE_TABLES_H
#define RD_TABLE_TABLES_H

#include <radio/table.h>

#include "src/array/context.h"

/* The group of all tables, at the store's root. */
#define RD_TABLES_NAME "tables"

/* Removes generations that none of the last heads names, unless their writer
 * is or may be alive; with dry_run only counts them.  result's counts grow. */
enum radio_status rd_tables_collect (struct radio_store *store, bool dry_run,
                                     struct radio_gc_result *result)
  RADIO_USE_RESULT;

#endif /* RD_TABLE_TABLES_H */
