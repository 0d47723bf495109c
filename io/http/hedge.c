/* SPDX-License-Identifier: MIT */
/* When a second request is worth its price.  What takes one and a half times
 * as long as 19 of 20 do is stuck more often than it is slow; and since
 * answers pay for what is asked twice, a server that is slow as a whole is
 * not asked for more. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "io/http/engine.h"

/* Of too few, the slowest tells nothing. */
#define MIN_WAITS 20

/* Where all answers are quick, a wait is more likely the program's own. */
#define MIN_AFTER_NS (UINT64_C (200) * 1000000)

/* What a second request costs, and how much is saved up at most. */
#define COST 100
#define MAX_CREDIT (4 * COST)

static int
compare_waits (const void *a, const void *b)
{
  const uint64_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

/* What 19 of 20 do not exceed. */
static uint64_t
usual_ns (const struct rd_http_hedges *hedges)
{
  uint64_t sorted[RD_HTTP_HEDGE_NWAITS];
  size_t n = hedges->nwaits;
  memcpy (sorted, hedges->waits_ns, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, compare_waits);
  return sorted[n - 1 - n / 20];
}

void
rd_http_hedges_note (struct rd_http_hedges *hedges, uint64_t wait_ns)
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
  if (hedges->nwaits < MIN_WAITS)
    return;
  uint64_t usual = usual_ns (hedges);
  hedges->after_ns = rd_max_u64 (rd_add_sat (usual, usual / 2),
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
