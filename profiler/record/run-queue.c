/* SPDX-License-Identifier: MIT */
/* The run queue's account of a thread, from /proc/.../schedstat. */
#include <config.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/record/run-queue.h"

/* Accounts that are open at one time in a process, so that they take no file
 * that the program itself needs. */
#define MAX_OPEN 256

static atomic_uint nopen;

static void
open_account (struct rd_run_queue *queue)
{
  struct stat status;
  queue->state = RD_RUN_QUEUE_NONE;
#ifdef __linux__
  if (atomic_fetch_add (&nopen, 1) < MAX_OPEN)
    queue->fd = open ("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  else
    queue->fd = -1;
  if (queue->fd >= 0 && fstat (queue->fd, &status) == 0) {
    queue->device = status.st_dev;
    queue->file = status.st_ino;
    queue->state = RD_RUN_QUEUE_OPEN;
    return;
  }
  if (queue->fd >= 0)
    close (queue->fd);
  atomic_fetch_sub (&nopen, 1);
#else
  (void) status;
#endif
}

/* The file has three numbers: "ON_CPU WAITED SLICES\n".  (The first of a thread
 * that runs is old.)  False: this is another file. */
static bool
parse (const char *text, size_t nbytes, uint64_t numbers[3])
{
  size_t at = 0;
  for (int i = 0; i < 3; i++, at++) {
    size_t first = at;
    numbers[i] = 0;
    for (; at < nbytes && text[at] >= '0' && text[at] <= '9'; at++)
      numbers[i] = 10 * numbers[i] + (uint64_t) (text[at] - '0');
    if (at == first || at == nbytes || text[at] != (i < 2 ? ' ' : '\n'))
      return false;
  }
  return at == nbytes;
}

/* Voluntary context switches of the calling thread. */
static uint64_t
read_nsleeps (void)
{
#ifdef __linux__
  struct rusage usage;
  if (getrusage (RUSAGE_THREAD, &usage) == 0)
    return (uint64_t) usage.ru_nvcsw;
#endif
  return 0;
}

/* The numbers of a test's clock. */
static uint64_t
read_clock (struct rd_run_queue *queue, const struct rd_clock *clock,
            bool *has_slept)
{
  uint64_t before = queue->ns, nsleeps = queue->nsleeps;
  queue->ns = clock->read_starved_ns
              ? clock->read_starved_ns (clock->user_data) : 0;
  queue->nsleeps = clock->read_nsleeps
                   ? clock->read_nsleeps (clock->user_data) : 0;
  *has_slept = queue->nsleeps != nsleeps
               || queue->state == RD_RUN_QUEUE_CLOSED;
  queue->state = RD_RUN_QUEUE_NONE;
  return queue->ns - before;
}

uint64_t
rd_run_queue_read (struct rd_run_queue *queue, const struct rd_clock *clock,
                   bool *has_slept)
{
  uint64_t numbers[3], before = queue->ns;
  *has_slept = false;
  if (clock->read)
    return read_clock (queue, clock, has_slept);
  bool is_first = queue->state == RD_RUN_QUEUE_CLOSED;
  if (is_first)
    open_account (queue);
  if (queue->state != RD_RUN_QUEUE_OPEN)
    return 0;
  char text[72];
  ssize_t n = pread (queue->fd, text, sizeof text, 0);
  if (n <= 0 || !parse (text, (size_t) n, numbers)
      || (!is_first && numbers[1] < before)) {
    rd_run_queue_close (queue);
    queue->state = RD_RUN_QUEUE_NONE;
    return 0;
  }
  queue->ns = numbers[1];
  if (is_first || numbers[2] != queue->nslices) {
    uint64_t nsleeps = read_nsleeps ();
    *has_slept = is_first || nsleeps != queue->nsleeps;
    queue->nslices = numbers[2];
    queue->nsleeps = nsleeps;
  }
  return is_first ? 0 : numbers[1] - before;
}

void
rd_run_queue_close (struct rd_run_queue *queue)
{
  struct stat status;
  if (queue->state == RD_RUN_QUEUE_OPEN) {
    if (fstat (queue->fd, &status) == 0 && status.st_dev == queue->device
        && status.st_ino == queue->file)
      close (queue->fd);
    atomic_fetch_sub (&nopen, 1);
  }
  *queue = (struct rd_run_queue) { .state = RD_RUN_QUEUE_CLOSED };
}
