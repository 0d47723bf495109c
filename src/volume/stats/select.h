/* SPDX-License-Identifier: MIT */
/* Order statistics of keys that are too many to sort: the first pass counts
 * them by their upper 16 bits, and each further one counts, within the few
 * buckets that contain a wanted rank, by the bits that still distinguish
 * keys.  Keys of 32 bits take two passes; those of 64 take four, or fewer
 * if they are close together.  Memory is bounded: some counters per wanted
 * rank. */
#ifndef RD_SELECT_H
#define RD_SELECT_H

#include <radio/base.h>

#include "src/base/cleanup.h"

struct rd_select;

/* key_nbits is 32 or 64; max_nranks is the most ranks that will be
 * wanted. */
enum radio_status rd_select_open (unsigned key_nbits, size_t max_nranks,
                                  struct rd_select **select)
  RADIO_USE_RESULT;
void rd_select_close (struct rd_select *select);
RD_DEFINE_CLEANUP (select, struct rd_select, rd_select_close);

/* The most memory that this takes. */
uint64_t rd_select_nbytes (size_t max_nranks);

/* Add keys: in each pass all of them, in any order and division. */
void rd_select_add (struct rd_select *select, const uint64_t *keys,
                    size_t n);

/* After the first pass: set the wanted ranks.  They ascend, 0 is the
 * smallest key's, each is less than the number of keys. */
enum radio_status rd_select_want (struct rd_select *select,
                                  const uint64_t *ranks, size_t nranks)
  RADIO_USE_RESULT;

/* True if all wanted keys are known, after rd_select_want or
 * rd_select_narrow. */
bool rd_select_done (const struct rd_select *select);

/* After each further pass.  RADIO_ERROR_FORMAT when its keys were not those
 * of the pass before. */
enum radio_status rd_select_narrow (struct rd_select *select)
  RADIO_USE_RESULT;

/* The key of the i-th wanted rank, when all are known. */
uint64_t rd_select_key (const struct rd_select *select, size_t i);

#endif /* RD_SELECT_H */
