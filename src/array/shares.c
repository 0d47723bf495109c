/* SPDX-License-Identifier: MIT */
/* Dividing tasks, and taking them by atomic counters. */
#include <config.h>

#include "src/base/checked.h"
#include "src/array/shares.h"

void
rd_shares_make (struct rd_shares *shares, uint64_t ntasks, unsigned n)
{
  uint64_t most = rd_min_u64 (ntasks, RD_SHARES_MAX);
  shares->n = (unsigned) rd_max_u64 (rd_min_u64 (n, most), 1);
  uint64_t each = ntasks / shares->n, nlarger = ntasks % shares->n;
  uint64_t next = 0;
  for (unsigned i = 0; i < shares->n; i++) {
    struct rd_share *share = &shares->shares[i];
    atomic_store_explicit (&share->next, next, memory_order_relaxed);
    next += each + (i < nlarger);
    share->end = next;
  }
}

bool
rd_shares_take (struct rd_shares *shares, struct rd_taker *taker,
                uint64_t *task)
{
  for (; taker->nshares_done < shares->n; taker->nshares_done++) {
    unsigned i = (taker->number + taker->nshares_done) % shares->n;
    struct rd_share *share = &shares->shares[i];
    *task = atomic_fetch_add_explicit (&share->next, 1,
                                       memory_order_relaxed);
    if (*task < share->end)
      return true;
  }
  return false;
}

void
rd_shares_cancel (struct rd_shares *shares)
{
  for (unsigned i = 0; i < shares->n; i++)
    atomic_store (&shares->shares[i].next, shares->shares[i].end);
}
