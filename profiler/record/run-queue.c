/* SPDX-License-Identifier: MIT */
/* The run queue's account of a thread, from /proc/.../schedstat. */
#include <config.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "src/base/checked.h"
#include "src/base/proc.h"
#include "src/base/text.h"
#include "src/base/thread.h"
#include "profiler/record/run-queue.h"

/* Accounts that are open at one time in a process. */
static atomic_uint nopen;

/* At most a fourth of the descriptors that the process may have, so that they
 * take none that the program itself needs. */
static rlim_t
most_open (void)
{
  struct rlimit limit;
  return getrlimit (RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / 4 : 256;
}

/* Another thread that observes the account knows by the state that the rest is
 * there. */
static void
set_state (struct rd_run_queue *queue, int state)
{
  __atomic_store_n (&queue->state, state, __ATOMIC_RELEASE);
}

static int
queue_state (const struct rd_run_queue *queue)
{
  return __atomic_load_n (&queue->state, __ATOMIC_ACQUIRE);
}

static void
open_account (struct rd_run_queue *queue)
{
  struct stat status;
  set_state (queue, RD_RUN_QUEUE_NONE);
#ifdef __linux__
  if (atomic_fetch_add (&nopen, 1) < most_open ())
    queue->fd = open ("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  else
    queue->fd = -1;
  if (queue->fd >= 0 && fstat (queue->fd, &status) == 0) {
    queue->has_file = true;
    queue->device = status.st_dev;
    queue->file = status.st_ino;
    queue->os_tid = (uint64_t) syscall (SYS_gettid);
    set_state (queue, RD_RUN_QUEUE_OPEN);
    return;
  }
  if (queue->fd >= 0)
    close (queue->fd);
  atomic_fetch_sub (&nopen, 1);
#else
  (void) status;
#endif
}

static void
close_account (struct rd_run_queue *queue)
{
  struct stat status;
  if (!queue->has_file)
    return;
  if (fstat (queue->fd, &status) == 0 && status.st_dev == queue->device
      && status.st_ino == queue->file)
    close (queue->fd);
  atomic_fetch_sub (&nopen, 1);
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

static bool
read_numbers (int fd, uint64_t numbers[3])
{
  char text[72];
  ssize_t n = pread (fd, text, sizeof text, 0);
  return n > 0 && parse (text, (size_t) n, numbers);
}

/* The value of a line, "\nKEY:\t"; NULL without such a line. */
static const char *
find_value (const char *text, const char *key)
{
  const char *at = strstr (text, key);
  return at ? at + strlen (key) : NULL;
}

bool
rd_run_queue_parse_status (const char *text, char *state, uint64_t *nsleeps)
{
  const char *letter = find_value (text, "\nState:\t");
  const char *number = find_value (text, "\nvoluntary_ctxt_switches:\t");
  if (!letter || *letter < 'A' || !number || !rd_read_digits (&number, nsleeps)
      || *number != '\n')
    return false;
  *state = *letter;
  return true;
}

/* Finds what a thread that does not run waits for.  False: it has ended, or the
 * system does not report it. */
static bool
read_status (uint64_t os_tid, struct rd_run_account *account)
{
  char path[64], text[4096], state;
  snprintf (path, sizeof path, "/proc/self/task/%llu/status",
            (unsigned long long) os_tid);
  rd_proc_read (path, text, sizeof text);
  if (!rd_run_queue_parse_status (text, &state, &account->nsleeps))
    return false;
  account->state = state == 'R' ? RD_RUN_WAITS : RD_RUN_SLEEPS;
  return true;
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
  set_state (queue, RD_RUN_QUEUE_NONE);
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
  RD_NO_CANCEL_SCOPE ();
  bool is_first = queue->state == RD_RUN_QUEUE_CLOSED;
  if (is_first)
    open_account (queue);
  if (queue->state != RD_RUN_QUEUE_OPEN)
    return 0;
  if (!read_numbers (queue->fd, numbers)
      || (!is_first && numbers[1] < before)) {
    set_state (queue, RD_RUN_QUEUE_NONE);
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

static bool
observe_clock (const struct rd_run_queue *queue, const struct rd_clock *clock,
               struct rd_run_account *account)
{
  if (queue_state (queue) == RD_RUN_QUEUE_CLOSED || !clock->read_starved_ns)
    return false;
  account->state = clock->is_runnable && clock->is_runnable (clock->user_data)
                   ? RD_RUN_WAITS : RD_RUN_SLEEPS;
  account->nsleeps = clock->read_nsleeps
                     ? clock->read_nsleeps (clock->user_data) : 0;
  account->starved_ns = clock->read_starved_ns (clock->user_data);
  account->cpu_ns = rd_clock_cpu_ns (clock);
  return true;
}

/* A thread whose CPU clock advances has a CPU. */
static bool
is_running (uint64_t os_tid)
{
  return rd_clock_thread_cpu_ns (os_tid) != rd_clock_thread_cpu_ns (os_tid);
}

bool
rd_run_queue_observe (const struct rd_run_queue *queue,
                      const struct rd_clock *clock,
                      struct rd_run_account *account)
{
  uint64_t numbers[3];
  *account = (struct rd_run_account) { .state = RD_RUN_ON_CPU };
  if (clock->read)
    return observe_clock (queue, clock, account);
  if (queue_state (queue) != RD_RUN_QUEUE_OPEN)
    return false;
  /* First this, so that the account has all until then. */
  if (!is_running (queue->os_tid) && !read_status (queue->os_tid, account))
    return false;
  if (!read_numbers (queue->fd, numbers))
    return false;
  account->starved_ns = numbers[1];
  account->cpu_ns = rd_clock_thread_cpu_ns (queue->os_tid);
  return true;
}

void
rd_run_queue_close (struct rd_run_queue *queue)
{
  close_account (queue);
  *queue = (struct rd_run_queue) { .state = RD_RUN_QUEUE_CLOSED };
}
