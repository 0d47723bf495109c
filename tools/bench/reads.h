/* SPDX-License-Identifier: MIT */
/* What recording costs a read: the same reads recorded and not, in turn. */
#ifndef RD_BENCH_READS_H
#define RD_BENCH_READS_H

#include "tools/bench/paired.h"
#include "tools/profile/subject.h"

struct rd_bench_reads {
  char name[64];              /* "64 x 64 x 64 box" */
  size_t nreads;              /* in each measurement */
  uint64_t nbytes;            /* of one read */
  struct rd_series off, on;   /* seconds of one read; a value a pair */
};

/* Read boxes of so many voxels each way at random places, or with size 0
 * the whole volume; npairs pairs of measurements (0: as many as take some
 * seconds), the order within a pair changing from one to the next.  Returns
 * an exit status, after complaining; to be cleared in any case. */
int rd_bench_reads (const struct rd_subject *subject, uint64_t size,
                    size_t npairs, uint64_t seed,
                    struct rd_bench_reads *bench);
void rd_bench_reads_clear (struct rd_bench_reads *bench);

#endif /* RD_BENCH_READS_H */
