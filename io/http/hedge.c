/* SPDX-License-Identifier: MIT */
/* Hedging: a request that takes one and a half times as long as the 95th
 * percentile is stuck more often than it is slow, and is sent a second time.
 * Responses earn the credit for hedges, so that a server that is slow as a
 * whole does not get more requests. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "io/http/engine.h"

/* The percentile of fewer samples is meaningless. */
#define MIN_WAITS 20

/* Where all responses are fast, a wait is more likely the program's own. */
#define MIN_AFTER_NS (UINT64_C (200) * 1000000)

/* The cost of a hedge, and the limit of saved credit. */
#define COST 100
#define MAX_CREDIT (4 * COST)

static int
compare_waits (const void *a, const void *b)
{
  const uint64_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

void
rd_http_hedges_add_wait (struct rd_http_hedges *hedges, uint64_t wait_ns)
{
  if (hedges->percent == 0)
    return;
  hedges->waits_ns[hedges->next] = wait_ns;
  hedges->next = (hedges->next + 1) % RD_HTTP_HEDGE_NWAITS;
  if (hedges->nwaits < RD_HTTP_HEDGE_NWAITS)
    hedges->nwaits++;
  hedges->credit += hedges->percent;
  if (hedges->credit > MAX_CREDIT)
    hedges->credit = MAX_CREDIT;
  size_t n = hedges->nwaits;
  if (n < MIN_WAITS)
    return;
  uint64_t sorted[RD_HTTP_HEDGE_NWAITS];
  memcpy (sorted, hedges->waits_ns, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, compare_waits);
  uint64_t percentile_95 = sorted[n - 1 - n / 20];
  hedges->after_ns = rd_max_u64 (rd_add_sat (percentile_95,
                                             percentile_95 / 2),
                                 MIN_AFTER_NS);
}

uint64_t
rd_http_hedges_after (const struct rd_http_hedges *hedges)
{
  bool may = hedges->nwaits >= MIN_WAITS && hedges->credit >= COST;
  return may ? hedges->after_ns : UINT64_MAX;
}

void
rd_http_hedges_spend (struct rd_http_hedges *hedges)
{
  hedges->credit -= COST;
}
