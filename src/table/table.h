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

#endif /* RD_TABLE_TABLE_H */
