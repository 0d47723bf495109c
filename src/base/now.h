/* SPDX-License-Identifier: MIT */
/* The time since an arbitrary start, which never goes back.  The recorder has
 * a faster clock of its own (profiler/record/clock.h). */
#ifndef RD_NOW_H
#define RD_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
rd_now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

#endif /* RD_NOW_H */
