/* SPDX-License-Identifier: MIT */
/* The inside of a table's handle. */
#ifndef RD_TABLE_TABLE_H
#define RD_TABLE_TABLE_H

#include "src/table/frame.h"
#include "src/table/heads.h"

struct radio_table {
  char *path;
  struct rd_head head;                /* number 0: a frame that is no table of
                                         radio's */
  struct rd_dataframe *frame;
};

/* Reads a column of the table's frame as it is stored: of one with categories
 * these, and *codes has the number of each row's, -1 where it is missing,
 * allocated; of others the values, and *codes is NULL. */
enum radio_status rd_table_read_stored (struct radio_table *table,
                                        const struct rd_field *field,
                                        struct rd_column **values,
                                        int32_t **codes) RADIO_USE_RESULT;

#endif /* RD_TABLE_TABLE_H */
