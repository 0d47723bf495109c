/* SPDX-License-Identifier: MIT */
/* A thread that waits at a pipe; the handlers of signals write to it. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "src/base/error.h"
#include "src/base/thread.h"
#include "profiler/on-demand.h"

struct rd_on_demand {
  struct rd_on_demand_options options;
  rd_on_demand_fn *write;
  int read_fd;
  pthread_t thread;
};

/* For handlers: the pipe, the process that has the thread, and the actions that
 * signals had before, which are set before the handlers are installed. */
static atomic_int write_fd = -1;
static _Atomic pid_t owner;
static struct sigaction before[NSIG];

/* The thread ends when it reads this. */
#define END 0

static void
send_to_thread (unsigned char number)
{
  int fd = atomic_load (&write_fd);
  while (fd >= 0 && write (fd, &number, 1) < 0 && errno == EINTR)
    ;
}

/* Does what the signal did before. */
static void
act_as_before (int number, siginfo_t *info, void *context)
{
  const struct sigaction *action = &before[number];
  if (action->sa_flags & SA_SIGINFO)
    action->sa_sigaction (number, info, context);
  else if (action->sa_handler == SIG_DFL) {
    signal (number, SIG_DFL);
    raise (number);
  } else if (action->sa_handler != SIG_IGN)
    action->sa_handler (number);
}

/* A child of fork has no thread: the signal is not for its profile. */
static void
on_signal (int number, siginfo_t *info, void *context)
{
  int saved = errno;
  if (atomic_load (&owner) == getpid ())
    send_to_thread ((unsigned char) number);
  else
    act_as_before (number, info, context);
  errno = saved;
}

static bool
is_ours (const struct sigaction *action)
{
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

static bool
has_handler (const struct sigaction *action, void (*handler) (int))
{
  return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == handler;
}

/* Restores the actions of all signals, or of one; but for those that the
 * program has replaced since.  USR1, which asks for a profile, is ignored
 * rather than end the process in its last moments. */
static void
restore (const struct rd_on_demand *on_demand, int only)
{
  for (size_t i = 0; i < RD_ON_DEMAND_SIGNALS; i++) {
    int number = on_demand->options.signals[i];
    struct sigaction now, earlier = before[number];
    if (number == SIGUSR1 && has_handler (&earlier, SIG_DFL))
      earlier.sa_handler = SIG_IGN;
    if (number != 0 && (only == 0 || only == number)
        && sigaction (number, NULL, &now) == 0 && is_ours (&now))
      sigaction (number, &earlier, NULL);
  }
}

static uint64_t
now_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

static void *
run_thread (void *arg)
{
  struct rd_on_demand *on_demand = arg;
  const uint64_t every_ms = (uint64_t) on_demand->options.every_s * 1000;
  uint64_t next_ms = now_ms () + every_ms;
  for (;;) {
    struct pollfd fd = { .fd = on_demand->read_fd, .events = POLLIN };
    unsigned char number;
    uint64_t now = now_ms (), left = next_ms > now ? next_ms - now : 0;
    int wait_ms = left < 1000000 ? (int) left : 1000000;
    int n = poll (&fd, 1, every_ms ? wait_ms : -1);
    if (n > 0 && read (on_demand->read_fd, &number, 1) == 1) {
      if (number == END)
        return NULL;
      /* What the process ignores does not end it. */
      bool is_last = number != SIGUSR1
                     && !has_handler (&before[number], SIG_IGN);
      on_demand->write (is_last);
      if (!is_last)
        continue;
      restore (on_demand, number);
      kill (getpid (), number);
    } else if (n == 0 && now_ms () >= next_ms) {
      on_demand->write (false);
      next_ms = now_ms () + every_ms;
    }
  }
}

bool
rd_on_demand_is_wanted (const struct rd_on_demand_options *options)
{
  bool is_wanted = options->every_s > 0;
  for (size_t i = 0; i < RD_ON_DEMAND_SIGNALS; i++)
    is_wanted |= options->signals[i] != 0;
  return is_wanted;
}

enum radio_status
rd_on_demand_start (const struct rd_on_demand_options *options,
                    rd_on_demand_fn *write, struct rd_on_demand **result)
{
  int fds[2];
  struct rd_on_demand *on_demand = calloc (1, sizeof *on_demand);
  *result = NULL;
  if (!on_demand)
    return rd_fail_memory (sizeof *on_demand);
  if (pipe (fds) != 0) {
    free (on_demand);
    return rd_fail_errno (errno, "a pipe for signals");
  }
  /* A full pipe does not stop a handler: then enough was asked for. */
  fcntl (fds[0], F_SETFD, FD_CLOEXEC);
  fcntl (fds[1], F_SETFD, FD_CLOEXEC);
  fcntl (fds[1], F_SETFL, O_NONBLOCK);
  *on_demand = (struct rd_on_demand) {
    .options = *options, .write = write, .read_fd = fds[0],
  };
  int failed = rd_start_thread (&on_demand->thread, run_thread, on_demand);
  if (failed) {
    close (fds[0]);
    close (fds[1]);
    free (on_demand);
    return rd_fail_errno (failed, "a thread for writing profiles");
  }
  atomic_store (&write_fd, fds[1]);
  atomic_store (&owner, getpid ());
  struct sigaction action = { .sa_sigaction = on_signal,
                              .sa_flags = SA_RESTART | SA_SIGINFO };
  sigemptyset (&action.sa_mask);
  for (size_t i = 0; i < RD_ON_DEMAND_SIGNALS; i++) {
    int number = options->signals[i];
    struct sigaction now;
    if (number == 0 || sigaction (number, NULL, &now) != 0)
      continue;
    /* In a child of fork it may be the parent's, which has the one before. */
    if (!is_ours (&now))
      before[number] = now;
    sigaction (number, &action, NULL);
  }
  *result = on_demand;
  return RADIO_OK;
}

void
rd_on_demand_stop (struct rd_on_demand *on_demand)
{
  if (!on_demand)
    return;
  restore (on_demand, 0);
  send_to_thread (END);
  pthread_join (on_demand->thread, NULL);
  close (atomic_exchange (&write_fd, -1));
  close (on_demand->read_fd);
  free (on_demand);
}
