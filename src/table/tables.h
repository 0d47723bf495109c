/* SPDX-License-Identifier: MIT */
/* The tables of a store: listing and checking them, and removing old
 * generations. */
#ifndef RD_TABLE_TABLES_H
#define RD_TABLE_TABLES_H

#include <radio/table.h>

#include "src/array/context.h"

/* Finds, in one round trip, whether a store has tables, and the names of the
 * folders that may be tables of volumes, each with a NUL; none without, and
 * where nothing can be listed. */
enum radio_status rd_tables_find (struct radio_store *store, bool *has_tables,
                                  struct radio_strings *names)
  RADIO_USE_RESULT;

/* Makes a generation of each table that was lost, of its newest one that is
 * there, or else an empty one.  *nwritten is the number of these tables. */
enum radio_status rd_tables_recover (struct radio_store *store,
                                     uint64_t *nwritten) RADIO_USE_RESULT;

/* Removes generations that none of the last heads names, unless their writer
 * is or may be alive; with dry_run only counts them.  result's counts grow. */
enum radio_status rd_tables_collect (struct radio_store *store, bool dry_run,
                                     struct radio_gc_result *result)
  RADIO_USE_RESULT;

/* Called for each fault, which the thread's message describes; anything but
 * RADIO_OK ends the check and is returned. */
typedef enum radio_status rd_table_fault_fn (void *user_data);

/* Checks a table: that the generations of its last heads are there, and by
 * reading every column of the newest one.  *is_sound: there was no fault. */
enum radio_status rd_table_check (struct radio_store *store, const char *path,
                                  rd_table_fault_fn *fault, void *user_data,
                                  bool *is_sound) RADIO_USE_RESULT;

#endif /* RD_TABLE_TABLES_H */
