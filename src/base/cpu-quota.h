/* SPDX-License-Identifier: MIT */
/* The CPU time that control groups (cgroups, version 1 or 2) leave the process,
 * as containers have it: a number of CPUs on average, not of those that it may
 * run on.  Where it is used up, no thread has a CPU until the next period. */
#ifndef RD_BASE_CPU_QUOTA_H
#define RD_BASE_CPU_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct rd_cpu_quota {
  double cpus;                /* CPU time in a time: above 0 */
  uint64_t throttled_ns;      /* of the group that has this quota, of all its
                                 processes and CPUs together, since it was made:
                                 threads had to wait */
};

/* Finds the least quota of the calling process's group and those around it that
 * it can see, in the files of Linux below a folder ("": the system's; else a
 * test's).  False: it has none, or the system does not say.  Takes some
 * 20 us, or 100 where they are mounted elsewhere than usual. */
bool rd_cpu_quota_read (const char *root, struct rd_cpu_quota *quota);

/* Returns the number of processors that this process may use, at least 1: by
 * its affinity, or, if that is less, its quota of CPU time, rounded up. */
unsigned rd_count_cpus (void);

#endif /* RD_BASE_CPU_QUOTA_H */
