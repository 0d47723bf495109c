/* SPDX-License-Identifier: MIT */
/* Waiting without sleeping, for what will be there within microseconds. */
#ifndef RD_SPIN_H
#define RD_SPIN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Tell the processor that this thread only waits. */
static inline void
rd_relax (void)
{
#ifdef __x86_64__
  __builtin_ia32_pause ();
#elif defined __aarch64__
  __asm__ volatile ("yield");
#endif
}

struct rd_spin {
  uint64_t end_ns;
};

static inline uint64_t
rd_spin_now (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

static inline void
rd_spin_begin (struct rd_spin *spin, uint64_t ns)
{
  spin->end_ns = ns > 0 ? rd_spin_now () + ns : 0;
}

/* Pass a moment; false when the time is up. */
static inline bool
rd_spin_again (const struct rd_spin *spin)
{
  if (rd_spin_now () >= spin->end_ns)
    return false;
  for (int i = 0; i < 8; i++)
    rd_relax ();
  return true;
}

#endif /* RD_SPIN_H */
