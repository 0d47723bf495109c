/* SPDX-License-Identifier: MIT */
/* The recorder's clock.  Where the processor's time stamp counter can be
 * trusted it is read without fences: two reads are most of a scope's cost.
 * Elsewhere, or on demand, it is CLOCK_MONOTONIC.  Tests use clocks of their
 * own, so that histories are exact to the tick. */
#ifndef RD_CLOCK_H
#define RD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#if defined __x86_64__
#include <x86intrin.h>
#endif

struct rd_clock {
  bool tsc;                   /* the counter, read without fences */
  /* A test's clocks; NULL: the real ones.  The first returns ticks, the next
   * nanoseconds for which the calling thread had a CPU, and for which it was
   * runnable without one, then how often it slept, and if a thread that another
   * one observes is runnable without a CPU. */
  uint64_t (*read) (void *user_data);
  uint64_t (*read_cpu_ns) (void *user_data);
  uint64_t (*read_starved_ns) (void *user_data);
  uint64_t (*read_nsleeps) (void *user_data);
  bool (*is_runnable) (void *user_data);
  void *user_data;
  uint64_t ticks_per_us;      /* of a test's clock; 0: 1000 */
  /* The CPU clock is read by a system call of half a microsecond, which is
   * too much beside many a read from the page cache.  So BLOCKING scopes
   * shorter than least_wait_ns are assumed to have run; and a reading not
   * older than cpu_fresh_ns is used again, as if the thread had run since.
   * Both are 0 in tests' clocks: always read. */
  uint64_t least_wait_ns;
  uint64_t cpu_fresh_ns;
  /* How long a thread was runnable without a CPU is read (in a microsecond)
   * where a scope's own time, or the time from one event to the next, is at
   * least this; 0 in tests' clocks: always. */
  uint64_t least_starved_ns;
};

/* One moment on both clocks. */
struct rd_anchor {
  uint64_t ticks;
  uint64_t ns;                /* CLOCK_MONOTONIC */
  uint64_t cpu_ns;            /* of the whole process; 0 of tests' clocks */
};

/* The CPU time of the whole process at a moment. */
struct rd_cpu_mark {
  uint64_t ticks;             /* 0: none */
  uint64_t cpu_ns;            /* 0 of tests' clocks */
};

/* Nanoseconds per tick: whole + fraction / 2^64. */
struct rd_rate {
  uint64_t whole;
  uint64_t fraction;
};

/* True if the counter can serve as a clock: it runs at one rate in every
 * state of the processor, and the kernel uses it as its clock. */
bool rd_clock_has_tsc (void);

/* Leaves the CPU to others for some 20 us.  A thread that yields instead has it
 * back after the time slices of all that want it.  Callable by signal
 * handlers. */
void rd_clock_rest (void);

/* The clock of this machine. */
void rd_clock_choose (struct rd_clock *clock, bool portable);

/* Reads any clock but the counter. */
uint64_t rd_clock_read (const struct rd_clock *clock);

/* CPU time of the calling thread, in nanoseconds; 0 where the system does not
 * know it. */
uint64_t rd_clock_cpu_ns (const struct rd_clock *clock);

/* The same of any thread of the process, by its number in the system.  (It is
 * exact for one that runs, whose part of /proc is old.) */
uint64_t rd_clock_thread_cpu_ns (uint64_t os_tid);

/* The same of the whole process. */
uint64_t rd_clock_process_cpu_ns (const struct rd_clock *clock);

static inline uint64_t
rd_counter_read (void)
{
#if defined __x86_64__
  return __rdtsc ();
#elif defined __aarch64__
  uint64_t ticks;
  __asm__ volatile ("mrs %0, cntvct_el0" : "=r" (ticks));
  return ticks;
#else
  return 0;
#endif
}

static inline uint64_t
rd_clock_now (const struct rd_clock *clock)
{
  if (__builtin_expect (clock->tsc, 1))
    return rd_counter_read ();
  return rd_clock_read (clock);
}

/* Both clocks at one moment: the closest pair of readings of a few. */
void rd_clock_anchor (const struct rd_clock *clock,
                      struct rd_anchor *anchor);

/* The rate as known now: measured since the first anchor of this process.
 * The first call takes half a millisecond. */
void rd_clock_rate (const struct rd_clock *clock, struct rd_rate *rate);

/* The rate between two anchors of one recording if they are far enough apart,
 * otherwise that since the process's first anchor.  False: the counter jumped
 * between them, and the rate is the one that was measured first. */
bool rd_clock_rate_between (const struct rd_clock *clock,
                            const struct rd_anchor *start,
                            const struct rd_anchor *stop,
                            struct rd_rate *rate);

/* The same between anchors of another process, whose approximate rate is known;
 * rate may be NULL.  False: they give no rate, or are not of one clock. */
bool rd_clock_rate_recovered (const struct rd_rate *known,
                              const struct rd_anchor *start,
                              const struct rd_anchor *stop,
                              struct rd_rate *rate);

/* Ticks as nanoseconds, rounded down; never wraps below 2^63 ns. */
static inline uint64_t
rd_rate_ns (const struct rd_rate *rate, uint64_t ticks)
{
  __extension__ typedef unsigned __int128 wide;
  return ticks * rate->whole
         + (uint64_t) (((wide) ticks * rate->fraction) >> 64);
}

double rd_rate_ns_per_tick (const struct rd_rate *rate);

/* Nanoseconds as ticks, rounded. */
uint64_t rd_rate_ticks (const struct rd_rate *rate, uint64_t ns);

#endif /* RD_CLOCK_H */
