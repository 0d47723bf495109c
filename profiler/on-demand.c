/* SPDX-License-Identifier: MIT */
/* A thread that waits for a semaphore, which the handlers of signals post.  Not
 * for a pipe: a program that becomes a daemon closes all descriptors, and what
 * is written to their numbers goes into files that it opens later. */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "src/base/error.h"
#include "src/base/thread.h"
#include "profiler/on-demand.h"

#if defined __GLIBC__ && defined __GLIBC_PREREQ
#if __GLIBC_PREREQ (2, 30)
#define HAS_CLOCKWAIT 1       /* sem_clockwait, which is in POSIX since 2024 */
#endif
#endif

struct rd_on_demand {
  struct rd_on_demand_options options;
  rd_on_demand_fn *write;
  pthread_t thread;
};

/* For handlers: what the thread is to do, as bits by number of the signal; what
 * wakes it; the process that has the thread; and the actions that signals had
 * before, which are set before the handlers are installed.  The semaphore stays
 * when the thread has ended: a handler may still be about to post it. */
static atomic_ulong asked;
static sem_t wake;
static _Atomic pid_t owner;
static struct sigaction before[NSIG];

/* The thread ends when it finds this. */
#define END 0

static void
ask_thread (int number)
{
  atomic_fetch_or (&asked, 1ul << number);
  sem_post (&wake);
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
    ask_thread (number);
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

/* Restores the actions of all signals, or of one, except those that the
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

/* Returns when the semaphore was posted, at this time at the latest, or
 * without a reason.  0: no such time. */
static void
await (uint64_t until_ms)
{
  struct timespec until = {
    .tv_sec = (time_t) (until_ms / 1000),
    .tv_nsec = (long) (until_ms % 1000) * 1000000,
  };
  if (until_ms == 0) {
    sem_wait (&wake);
    return;
  }
#ifdef HAS_CLOCKWAIT
  sem_clockwait (&wake, CLOCK_MONOTONIC, &until);
#else
  /* A second of a clock that may jump. */
  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_sec++;
  sem_timedwait (&wake, &until);
#endif
}

/* A signal that the process ignores does not end it. */
static bool
ends_process (int number)
{
  return number != SIGUSR1 && !has_handler (&before[number], SIG_IGN);
}

/* Writes because of a signal, and then does what it did before; but not while
 * another thread writes the last profile. */
static void
answer_signal (const struct rd_on_demand *on_demand, int number)
{
  bool is_last = ends_process (number);
  bool is_written = on_demand->write (is_last);
  if (!is_last)
    return;
  if (!is_written) {
    atomic_fetch_or (&asked, 1ul << number);
    return;
  }
  restore (on_demand, number);
  kill (getpid (), number);
}

static void *
run_thread (void *arg)
{
  struct rd_on_demand *on_demand = arg;
  const uint64_t every_ms = (uint64_t) on_demand->options.every_s * 1000;
  uint64_t next_ms = every_ms ? now_ms () + every_ms : 0;
  for (;;) {
    await (next_ms);
    unsigned long now_asked = atomic_exchange (&asked, 0);
    if (now_asked & 1ul << END) {
      atomic_fetch_or (&asked, now_asked & ~(1ul << END));
      return NULL;
    }
    for (size_t i = 0; i < RD_ON_DEMAND_SIGNALS; i++) {
      int number = on_demand->options.signals[i];
      if (number != 0 && (now_asked & 1ul << number))
        answer_signal (on_demand, number);
    }
    if (next_ms != 0 && now_ms () >= next_ms) {
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
  struct rd_on_demand *on_demand = calloc (1, sizeof *on_demand);
  *result = NULL;
  if (!on_demand)
    return rd_fail_memory (sizeof *on_demand);
  *on_demand = (struct rd_on_demand) {
    .options = *options, .write = write,
  };
  if (atomic_load (&owner) != getpid () && sem_init (&wake, 0, 0) != 0) {
    free (on_demand);
    return rd_fail_errno (errno, "cannot make a semaphore for signals");
  }
  atomic_store (&asked, 0);
  int failed = rd_start_thread (&on_demand->thread, run_thread, on_demand);
  if (failed) {
    free (on_demand);
    return rd_fail_errno (failed, "cannot start the thread that writes "
                          "profiles");
  }
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
  ask_thread (END);
  pthread_join (on_demand->thread, NULL);
}

void
rd_on_demand_free (struct rd_on_demand *on_demand)
{
  if (!on_demand)
    return;
  restore (on_demand, 0);
  unsigned long now_asked = atomic_exchange (&asked, 0);
  for (size_t i = 0; i < RD_ON_DEMAND_SIGNALS; i++) {
    int number = on_demand->options.signals[i];
    if (number != 0 && (now_asked & 1ul << number) && ends_process (number))
      kill (getpid (), number);
  }
  free (on_demand);
}
