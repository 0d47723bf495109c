/* SPDX-License-Identifier: MIT */
/* The inside of a table's handle. */
#ifndef RD_TABLE_TABLE_H
#define RD_TABLE_TABLE_H

#include <pthread.h>

#include <radio/table.h>

#include "src/table/frame.h"
#include "src/table/heads.h"

struct radio_table {
  atomic_uint nrefs;
  char *path;
  struct rd_head head;                /* number 0: a frame that is no table of
                                         radio's */
  bool is_repeated;                   /* opened by what the hint repeats */
  struct rd_dataframe *frame;
  pthread_mutex_t mutex;
  struct rd_column **kept;            /* read ahead: the columns by their
                                         numbers, and then the ids; NULL: none;
                                         under the mutex */
};

RD_DEFINE_CLEANUP (table, struct radio_table, radio_table_close);

/* Returns another reference, to be closed. */
struct radio_table *rd_table_ref (struct radio_table *table);

/* Opens a table of radio's as radio_table_open does.  *table is NULL if it does
 * not exist, or nothing was committed to it yet: its first writer is not done,
 * or was killed. */
enum radio_status rd_table_open_written (struct radio_store *store,
                                         const char *path,
                                         struct radio_table **table)
  RADIO_USE_RESULT;

/* Reads columns of the frames of n open tables of one store, each as it is
 * stored, as rd_dataframe_read_many does. */
enum radio_status rd_table_read_stored (struct radio_table *const *tables,
                                        struct rd_field_read *reads, size_t n)
  RADIO_USE_RESULT;

#endif /* RD_TABLE_TABLE_H */
