/* SPDX-License-Identifier: MIT */
/* Choosing the clock, and measuring its rate.  (It is read, and ticks become
 * nanoseconds, in clock.h.) */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#if defined __x86_64__
#include <cpuid.h>
#endif

#include "src/base/proc.h"
#include "src/base/thread.h"
#include "profiler/model/sum.h"
#include "profiler/record/clock.h"

#define ANCHOR_TRIES 5
#define FIRST_MEASUREMENT_NS 500000     /* 0.01 % by two reads of 25 ns */
#define LONG_ENOUGH_NS 10000000

/* Disks and networks take longer than this, the page cache takes less. */
#define LEAST_WAIT_NS 20000

/* Within this time, a thread is seldom preempted; when it is, that counts as
 * waiting in its next wait, but for no longer than this. */
#define CPU_FRESH_NS 1000000

/* A reading of the run queue is at most 1 % of this; and a thread that lost
 * its CPU seldom has it back sooner. */
#define LEAST_STARVED_NS 100000

/* The kernel leaves the counter as its own clock when it finds that it stops,
 * jumps, or differs between processors. */
#if defined __x86_64__
#define COUNTER_NAME "tsc"
#elif defined __aarch64__
#define COUNTER_NAME "arch_sys_counter"
#endif

bool
rd_clock_has_tsc (void)
{
#if defined __x86_64__
  unsigned a, b, c, d;
  if (!__get_cpuid (0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
    return false;
#endif
#if !defined COUNTER_NAME
  return false;
#elif !defined __linux__
  return true;
#else
  static const char trusted[] = COUNTER_NAME "\n";
  char source[32];
  rd_proc_read ("/sys/devices/system/clocksource/clocksource0/"
                "current_clocksource", source, sizeof source);
  return strcmp (source, trusted) == 0;
#endif
}

void
rd_clock_rest (void)
{
  const struct timespec pause = { 0, 20000 };
  int errnum = errno;
  RD_NO_CANCEL_SCOPE ();
  (void) nanosleep (&pause, NULL);
  errno = errnum;
}

void
rd_clock_choose (struct rd_clock *clock, bool portable)
{
  *clock = (struct rd_clock) {
    .tsc = !portable && rd_clock_has_tsc (),
    .least_wait_ns = LEAST_WAIT_NS, .cpu_fresh_ns = CPU_FRESH_NS,
    .least_starved_ns = LEAST_STARVED_NS,
  };
}

static uint64_t
system_ns (clockid_t id)
{
  struct timespec t;
  if (clock_gettime (id, &t) < 0)
    return 0;
  return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

uint64_t
rd_clock_read (const struct rd_clock *clock)
{
  if (clock->read)
    return clock->read (clock->user_data);
  return system_ns (CLOCK_MONOTONIC);
}

uint64_t
rd_clock_cpu_ns (const struct rd_clock *clock)
{
  if (clock->read_cpu_ns)
    return clock->read_cpu_ns (clock->user_data);
  if (clock->read)
    return 0;
  return system_ns (CLOCK_THREAD_CPUTIME_ID);
}

uint64_t
rd_clock_thread_cpu_ns (uint64_t os_tid)
{
#ifdef __linux__
  /* As pthread_getcpuclockid makes it, which needs the thread's handle. */
  return system_ns ((clockid_t) (~(unsigned) os_tid << 3 | 6));
#else
  (void) os_tid;
  return 0;
#endif
}

uint64_t
rd_clock_process_cpu_ns (const struct rd_clock *clock)
{
  return clock->read ? 0 : system_ns (CLOCK_PROCESS_CPUTIME_ID);
}

static void
rate_of (uint64_t ns, uint64_t ticks, struct rd_rate *rate)
{
  __extension__ typedef unsigned __int128 wide;
  rate->whole = ns / ticks;
  rate->fraction = (uint64_t) (((wide) (ns % ticks) << 64) / ticks);
}

/* The fixed rate of a clock that is not the counter. */
static void
fixed_rate (const struct rd_clock *clock, struct rd_rate *rate)
{
  uint64_t ticks = clock->read ? clock->ticks_per_us : 0;
  rate_of (1000, ticks ? ticks : 1000, rate);
}

void
rd_clock_anchor (const struct rd_clock *clock, struct rd_anchor *anchor)
{
  uint64_t closest = UINT64_MAX;
  anchor->cpu_ns = rd_clock_process_cpu_ns (clock);
  if (!clock->tsc) {
    struct rd_rate rate;
    fixed_rate (clock, &rate);
    anchor->ticks = rd_clock_read (clock);
    anchor->ns = rd_rate_ns (&rate, anchor->ticks);
    return;
  }
  for (int i = 0; i < ANCHOR_TRIES; i++) {
    uint64_t before = rd_counter_read ();
    uint64_t ns = system_ns (CLOCK_MONOTONIC);
    uint64_t gap = rd_counter_read () - before;
    if (gap < closest) {
      closest = gap;
      anchor->ticks = before + gap / 2;
      anchor->ns = ns;
    }
  }
}

/* A counter that did not jump is not farther from its first rate, in parts of
 * the time or in ns: that was measured in half a millisecond. */
#define MAX_ERROR 0.05
#define MAX_ERROR_NS 10000000

static struct rd_anchor first_anchor;
static struct rd_rate first_rate;
static pthread_once_t first_once = PTHREAD_ONCE_INIT;

static void
take_first_anchor (void)
{
  static const struct rd_clock counter = { .tsc = true };
  struct rd_anchor second;
  rd_clock_anchor (&counter, &first_anchor);
  do
    rd_clock_anchor (&counter, &second);
  while (second.ns - first_anchor.ns < FIRST_MEASUREMENT_NS
         || second.ticks <= first_anchor.ticks);
  rate_of (second.ns - first_anchor.ns, second.ticks - first_anchor.ticks,
           &first_rate);
}

/* The rate between two anchors; the first one, and false, if the counter
 * jumped. */
static bool
measure_rate (const struct rd_anchor *start, const struct rd_anchor *stop,
              struct rd_rate *rate)
{
  pthread_once (&first_once, take_first_anchor);
  double ns = (double) rd_subtract (stop->ns, start->ns);
  double ticks = (double) (int64_t) (stop->ticks - start->ticks);
  double error = ticks * rd_rate_ns_per_tick (&first_rate) - ns;
  *rate = first_rate;
  if (error > MAX_ERROR_NS + MAX_ERROR * ns
      || error < -(MAX_ERROR_NS + MAX_ERROR * ns))
    return false;
  if (ticks > 0 && ns >= FIRST_MEASUREMENT_NS)
    rate_of (stop->ns - start->ns, stop->ticks - start->ticks, rate);
  return true;
}

void
rd_clock_rate (const struct rd_clock *clock, struct rd_rate *rate)
{
  if (!clock->tsc) {
    fixed_rate (clock, rate);
    return;
  }
  struct rd_anchor now;
  pthread_once (&first_once, take_first_anchor);
  rd_clock_anchor (clock, &now);
  (void) measure_rate (&first_anchor, &now, rate);
}

bool
rd_clock_rate_between (const struct rd_clock *clock,
                       const struct rd_anchor *start,
                       const struct rd_anchor *stop, struct rd_rate *rate)
{
  if (!clock->tsc) {
    fixed_rate (clock, rate);
    return true;
  }
  if (!measure_rate (start, stop, rate))
    return false;
  if (rd_subtract (stop->ns, start->ns) < LONG_ENOUGH_NS)
    (void) measure_rate (&first_anchor, stop, rate);
  return true;
}

bool
rd_clock_rate_recovered (const struct rd_rate *known,
                         const struct rd_anchor *start,
                         const struct rd_anchor *stop, struct rd_rate *rate)
{
  double ns_per_tick = rd_rate_ns_per_tick (known);
  uint64_t ns = rd_subtract (stop->ns, start->ns);
  uint64_t ticks = rd_subtract (stop->ticks, start->ticks);
  if (!(ns_per_tick > 1e-3 && ns_per_tick < 1e6))
    return false;
  if (!rate)
    return true;
  *rate = *known;
  double error = (double) ticks * ns_per_tick - (double) ns;
  if (ns >= LONG_ENOUGH_NS && ticks > 0 && error < MAX_ERROR * (double) ns
      && error > -MAX_ERROR * (double) ns)
    rate_of (ns, ticks, rate);
  return true;
}

double
rd_rate_ns_per_tick (const struct rd_rate *rate)
{
  return (double) rate->whole + (double) rate->fraction * 0x1p-64;
}

uint64_t
rd_rate_ticks (const struct rd_rate *rate, uint64_t ns)
{
  return (uint64_t) ((double) ns / rd_rate_ns_per_tick (rate) + 0.5);
}
