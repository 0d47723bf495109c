/* SPDX-License-Identifier: MIT */
/* Running a program, and passing signals on to it.  Signals are held and
 * waited for together with the program's end: no handler, so there is no
 * moment at which one goes to nobody, or to a process that only has the
 * program's number. */
#include <config.h>

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/profile/child.h"

/* Blocked signals that are ignored by default may be dropped, unless there
 * is a handler; this one is never entered. */
static void
do_nothing (int number)
{
  (void) number;
}

void
rd_child_hold (struct rd_child *child)
{
  static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
  struct sigaction action = { .sa_handler = do_nothing };
  sigemptyset (&action.sa_mask);
  sigemptyset (&child->held);
  sigaddset (&child->held, SIGCHLD);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction before;
    /* What nohup made ignored stays so. */
    if (sigaction (signals[i], NULL, &before) == 0
        && before.sa_handler != SIG_IGN)
      sigaddset (&child->held, signals[i]);
  }
  child->number = 0;
  sigaction (SIGCHLD, &action, &child->child_ended);
  sigprocmask (SIG_BLOCK, &child->held, &child->mask);
}

void
rd_child_release (struct rd_child *child)
{
  sigaction (SIGCHLD, &child->child_ended, NULL);
  sigprocmask (SIG_SETMASK, &child->mask, NULL);
}

/* The signals that this command ignores or holds are the program's to
 * decide on. */
static int
start (const struct rd_child *child, char **argv, char **environment,
       pid_t *pid)
{
  posix_spawnattr_t attributes;
  sigset_t defaults;
  sigemptyset (&defaults);
  sigaddset (&defaults, SIGPIPE);
  sigaddset (&defaults, SIGXFSZ);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setsigdefault (&attributes, &defaults);
  posix_spawnattr_setsigmask (&attributes, &child->mask);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGDEF
                            | POSIX_SPAWN_SETSIGMASK);
  int number = posix_spawnp (pid, argv[0], NULL, &attributes, argv,
                             environment);
  posix_spawnattr_destroy (&attributes);
  return number;
}

/* Keys typed at the terminal reach the program as well, so they are not for
 * passing on; and what they mean to it is its decision.  All that others
 * send ends this command, too, once the program has. */
static void
pass_on (struct rd_child *child, pid_t pid, const siginfo_t *info)
{
  bool typed = info->si_code > 0 && info->si_signo != SIGHUP;
  if (typed || info->si_signo == SIGCHLD)
    return;
  kill (pid, info->si_signo);
  if (info->si_signo != SIGQUIT)
    child->number = info->si_signo;
}

/* Wait for the program, which may stop and go on meanwhile. */
static int
wait_for (struct rd_child *child, pid_t pid)
{
  int status;
  pid_t ended;
  while ((ended = waitpid (pid, &status, WNOHANG)) == 0) {
    siginfo_t info;
    if (sigwaitinfo (&child->held, &info) > 0)
      pass_on (child, pid, &info);
  }
  if (ended < 0) {
    rd_error ("cannot wait for the program: %s", strerror (errno));
    return RD_EXIT_OURS;
  }
  return WIFSIGNALED (status) ? 128 + WTERMSIG (status)
                              : WEXITSTATUS (status);
}

bool
rd_child_run (struct rd_child *child, char **argv, char **environment,
              int *status)
{
  pid_t pid;
  int number = start (child, argv, environment, &pid);
  if (number == 0) {
    *status = wait_for (child, pid);
    return true;
  }
  *status = number == ENOENT ? RD_EXIT_NOT_FOUND : RD_EXIT_NOT_EXECUTABLE;
  rd_error ("%s: cannot be run: %s", argv[0], strerror (number));
  return false;
}
