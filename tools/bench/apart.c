/* SPDX-License-Identifier: MIT */
/* A forked process whose memory is measured. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/bench/apart.h"
#include "tools/interrupt.h"

/* Linux counts in KiB, macOS in bytes. */
#ifdef __APPLE__
#define MAXRSS_NBYTES 1
#else
#define MAXRSS_NBYTES 1024
#endif

static int
wait_for (pid_t pid)
{
  int status;
  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return rd_error ("cannot wait for a process: %s", strerror (errno));
  if (WIFEXITED (status))
    return WEXITSTATUS (status);
  if (rd_interrupted ())
    return RD_EXIT_FAILED;
  return rd_error ("a process that was measured died of signal %d",
                   WTERMSIG (status));
}

int
rd_apart_run (rd_apart_fn *fn, void *data, struct rd_apart *result)
{
  int ends[2];
  fflush (NULL);
  if (pipe (ends) != 0)
    return rd_error ("cannot make a pipe: %s", strerror (errno));
  pid_t pid = fork ();
  if (pid == 0) {
    /* A forked process begins with its own memory, not with the peak of its
     * parent.  The result is shorter than the capacity of a pipe. */
    struct rd_apart done = { 0 };
    struct rusage usage = { 0 };
    int child_failed = fn (data, &done.number);
    if (getrusage (RUSAGE_SELF, &usage) == 0)
      done.peak_nbytes = (uint64_t) usage.ru_maxrss * MAXRSS_NBYTES;
    if (!child_failed
        && write (ends[1], &done, sizeof done) != (ssize_t) sizeof done)
      child_failed = rd_error ("cannot report what was measured: %s",
                               strerror (errno));
    /* Buffered output belongs to the parent. */
    _exit (child_failed);
  }
  int number = errno;
  close (ends[1]);
  int failed = pid < 0 ? rd_error ("cannot start a process: %s",
                                   strerror (number)) : wait_for (pid);
  if (!failed
      && read (ends[0], result, sizeof *result) != (ssize_t) sizeof *result)
    failed = rd_error ("a process that was measured reported nothing");
  close (ends[0]);
  return failed;
}
