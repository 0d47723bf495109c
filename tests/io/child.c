/* SPDX-License-Identifier: MIT */
/* Child processes of tests. */
#include <config.h>

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit.h"

#include "tests/io/child.h"

pid_t
child_start (int (*fn) (void *arg), void *arg)
{
  fflush (NULL);
  pid_t pid = fork ();
  assert_true (pid >= 0);
  if (pid == 0)
    _exit (fn (arg));
  return pid;
}

int
child_wait (pid_t pid)
{
  int status;
  while (waitpid (pid, &status, 0) < 0)
    assert_int_equal (errno, EINTR);
  return WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
}

int
child_run (int (*fn) (void *arg), void *arg)
{
  int result = child_wait (child_start (fn, arg));
  if (result == CHILD_SKIP)
    skip ();
  return result;
}
