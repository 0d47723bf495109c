/* SPDX-License-Identifier: MIT */
/* The tasks of a job that nobody took yet, in shares: each thread begins with
 * one of its own, since neighbouring tiles are on the same pages of memory
 * and get into each other's way, and goes on with what the others left. */
#ifndef RD_SHARES_H
#define RD_SHARES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RD_SHARES_MAX 8

/* In a cache line of its own, mostly. */
struct rd_share {
  _Atomic uint64_t next;
  uint64_t end;
  char apart[48];
};

struct rd_shares {
  unsigned n;
  struct rd_share shares[RD_SHARES_MAX];
};

/* Divide ntasks tasks equally into n shares, or as many as there can be. */
void rd_shares_make (struct rd_shares *shares, uint64_t ntasks, unsigned n);

/* Where a thread stands; begin with the number of the thread and 0. */
struct rd_taker {
  unsigned number;
  unsigned nshares_done;
};

/* Take a task; false when none is left. */
bool rd_shares_take (struct rd_shares *shares, struct rd_taker *taker,
                     uint64_t *task);

/* Leave none. */
void rd_shares_cancel (struct rd_shares *shares);

#endif /* RD_SHARES_H */
