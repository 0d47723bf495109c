/* SPDX-License-Identifier: MIT */
/* A list of scratches, the last one given being the next one taken: its
 * buffers are most likely in the caches. */
#include <config.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/array/stock.h"

struct rd_stocked {
  struct rd_scratch scratch;        /* first, so that it is found again */
  struct rd_stocked *following;
};

void
rd_stock_init (struct rd_stock *stock, size_t keep_nbytes)
{
  stock->keep_nbytes = keep_nbytes;
  stock->synced.first = NULL;
  pthread_mutex_init (&stock->mutex, NULL);
}

void
rd_stock_free (struct rd_stock *stock)
{
  struct rd_stocked *stocked = stock->synced.first;
  while (stocked) {
    struct rd_stocked *following = stocked->following;
    rd_scratch_free (&stocked->scratch);
    rd_free (stocked);
    stocked = following;
  }
  pthread_mutex_destroy (&stock->mutex);
}

/* NULL when there is none. */
static struct rd_stocked *
take_first (struct rd_stock *stock)
{
  RD_LOCK_SCOPE (&stock->mutex);
  struct rd_stocked *stocked = stock->synced.first;
  if (stocked)
    stock->synced.first = stocked->following;
  return stocked;
}

struct rd_scratch *
rd_stock_take (struct rd_stock *stock)
{
  struct rd_stocked *stocked = take_first (stock);
  if (!stocked)
    stocked = rd_calloc (1, sizeof *stocked);
  if (!stocked) {
    rd_fail_memory (sizeof *stocked);
    return NULL;
  }
  return &stocked->scratch;
}

void
rd_stock_give (struct rd_stock *stock, struct rd_scratch *scratch)
{
  if (!scratch)
    return;
  rd_scratch_trim (scratch, stock->keep_nbytes);
  struct rd_stocked *stocked = (struct rd_stocked *) scratch;
  RD_LOCK_SCOPE (&stock->mutex);
  stocked->following = stock->synced.first;
  stock->synced.first = stocked;
}
