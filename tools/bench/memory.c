/* SPDX-License-Identifier: MIT */
/* What the machine's memory can do: copying, and touching for the first
 * time, which is where pages are made. */
#include <config.h>

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/bench/limits.h"
#include "tools/progress.h"

/* Copied by one thread: more than a processor's own caches hold. */
#define COPY_NBYTES ((size_t) 24 << 20)

/* At least and at most so much memory is touched. */
#define TOUCH_LEAST ((uint64_t) 16 << 20)
#define TOUCH_MOST ((uint64_t) 512 << 20)

#define PAGE_NBYTES 4096

/* The best of so many is kept. */
#define NREPEATS 2

unsigned
rd_default_nthreads (void)
{
#ifdef CPU_COUNT
  cpu_set_t set;
  if (sched_getaffinity (0, sizeof set, &set) == 0)
    return (unsigned) CPU_COUNT (&set);
#endif
  long n = sysconf (_SC_NPROCESSORS_ONLN);
  return n > 0 ? (unsigned) n : 1;
}

static void
keep_most (double *most, double value)
{
  if (value > *most)
    *most = value;
}

struct copies {
  char *from, *to;            /* COPY_NBYTES for each thread */
};

static int
copy_part (void *data, unsigned i)
{
  const struct copies *copies = data;
  memcpy (copies->to + i * COPY_NBYTES, copies->from + i * COPY_NBYTES,
          COPY_NBYTES);
  return RD_EXIT_OK;
}

static int
measure_copy (struct rd_limits *limits)
{
  size_t nbytes = limits->nthreads * COPY_NBYTES;
  RD_FREE char *from = malloc (nbytes);
  RD_FREE char *to = malloc (nbytes);
  double seconds;
  if (from == NULL || to == NULL)
    return rd_error_memory ();
  memset (from, 1, nbytes);
  memset (to, 2, nbytes);
  struct copies copies = { from, to };
  int failed = rd_gang_run (1, copy_part, &copies, &seconds);
  if (!failed)
    keep_most (&limits->copy_one, (double) COPY_NBYTES / seconds);
  if (!failed)
    failed = rd_gang_run (limits->nthreads, copy_part, &copies, &seconds);
  if (!failed)
    keep_most (&limits->copy_all, (double) nbytes / seconds);
  return failed;
}

struct touch {
  char *memory;
  size_t nbytes;              /* of one thread's part */
};

static int
touch_part (void *data, unsigned i)
{
  const struct touch *touch = data;
  volatile char *part = touch->memory + i * touch->nbytes;
  for (size_t k = 0; k < touch->nbytes; k += PAGE_NBYTES)
    part[k] = 1;
  return RD_EXIT_OK;
}

/* Seconds of mapping memory, touching it on n threads and unmapping it. */
static int
time_touch (uint64_t nbytes, unsigned n, bool huge, double *seconds)
{
  size_t all = (size_t) nbytes;
  double touching;
  double start = rd_clock_s ();
  char *memory = mmap (NULL, all, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return rd_error_memory ();
#ifdef MADV_HUGEPAGE
  if (huge)
    (void) madvise (memory, all, MADV_HUGEPAGE);
#endif
  double mapped = rd_clock_s ();
  struct touch touch = { memory, all / n };
  int failed = rd_gang_run (n, touch_part, &touch, &touching);
  double touched = rd_clock_s ();
  munmap (memory, all);
  *seconds = mapped - start + touching + rd_clock_s () - touched;
  return failed;
}

static int
measure_touch (uint64_t nbytes, unsigned n, bool huge, double *most)
{
  int failed = RD_EXIT_OK;
  for (int i = 0; i < NREPEATS && !failed; i++) {
    double seconds = 0;
    failed = time_touch (nbytes, n, huge, &seconds);
    if (!failed)
      keep_most (most, (double) nbytes / seconds);
  }
  return failed;
}

int
rd_limits_memory (struct rd_limits *limits, uint64_t nbytes)
{
  unsigned n = limits->nthreads;
  if (nbytes < TOUCH_LEAST)
    nbytes = TOUCH_LEAST;
  if (nbytes > TOUCH_MOST)
    nbytes = TOUCH_MOST;
  int failed = measure_copy (limits);
  if (!failed)
    failed = measure_touch (nbytes, 1, false, &limits->touch_one);
  if (!failed)
    failed = measure_touch (nbytes, n, false, &limits->touch_all);
  if (!failed)
    failed = measure_touch (nbytes, 1, true, &limits->huge_one);
  if (!failed)
    failed = measure_touch (nbytes, n, true, &limits->huge_all);
  return failed;
}
