/* SPDX-License-Identifier: MIT */
/* Order statistics of keys that are too many to sort: a first run over them
 * counts them by their upper 16 bits, and each further one counts, within
 * the few buckets that hold a wanted rank, by the bits that still tell keys
 * apart.  Two runs do for keys of 32 bits; those of 64 take four, or fewer
 * when they lie close together.  Memory is bounded by some counters for each
 * wanted rank. */
#ifndef RD_SELECT_H
#define RD_SELECT_H

#include <radio/base.h>

#include "src/base/cleanup.h"

struct rd_select;

/* key_nbits is 32 or 64: what keys are made of; max_nranks the most that
 * will be wanted. */
enum radio_status rd_select_open (unsigned key_nbits, size_t max_nranks,
                                  struct rd_select **select)
  RADIO_USE_RESULT;
void rd_select_close (struct rd_select *select);
RD_DEFINE_CLEANUP (select, struct rd_select, rd_select_close);

/* The memory that this takes at most. */
uint64_t rd_select_nbytes (size_t max_nranks);

/* Take in keys: in each run all of them, in any order and division. */
void rd_select_add (struct rd_select *select, const uint64_t *keys,
                    size_t n);

/* After the first run: what is wanted.  Ranks ascend, 0 is the smallest
 * key's, each less than the number of keys. */
enum radio_status rd_select_want (struct rd_select *select,
                                  const uint64_t *ranks, size_t nranks)
  RADIO_USE_RESULT;

/* Whether all is known, after rd_select_want or rd_select_narrow. */
bool rd_select_done (const struct rd_select *select);

/* After each further run.  RADIO_ERROR_FORMAT when its keys were not those
 * of the run before. */
enum radio_status rd_select_narrow (struct rd_select *select)
  RADIO_USE_RESULT;

/* The key of the i-th wanted rank, when all is known. */
uint64_t rd_select_key (const struct rd_select *select, size_t i);

#endif /* RD_SELECT_H */
