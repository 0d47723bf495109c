/* SPDX-License-Identifier: MIT */
/* Scratches that nobody uses at the moment.  Each thread takes one for a job
 * and gives it back, so that there are no more than threads that ever worked
 * at one time. */
#ifndef RD_STOCK_H
#define RD_STOCK_H

#include <pthread.h>

#include "src/codec/scratch.h"

struct rd_stocked;

struct rd_stock {
  size_t keep_nbytes;               /* by each scratch in the stock */
  pthread_mutex_t mutex;
  struct {
    struct rd_stocked *first;
  } synced;
};

void rd_stock_init (struct rd_stock *stock, size_t keep_nbytes);
void rd_stock_free (struct rd_stock *stock);

/* NULL without memory (the message is set). */
struct rd_scratch *rd_stock_take (struct rd_stock *stock);

/* NULL is legal. */
void rd_stock_give (struct rd_stock *stock, struct rd_scratch *scratch);

#endif /* RD_STOCK_H */
