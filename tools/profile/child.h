/* SPDX-License-Identifier: MIT */
/* A program that is run below this command and outlived by it: signals sent
 * to this command go on to the program, so that its profile is collected and
 * the temporary folder removed whatever ends it. */
#ifndef RD_PROFILE_CHILD_H
#define RD_PROFILE_CHILD_H

#include <signal.h>

#include "tools/tool.h"

/* As env and nohup have them. */
enum {
  RD_EXIT_OURS = 125,         /* this command failed before the other ran */
  RD_EXIT_NOT_EXECUTABLE = 126,
  RD_EXIT_NOT_FOUND = 127,
};

struct rd_child {
  sigset_t held;              /* signals that are waited for, not taken */
  sigset_t mask;              /* the mask before */
  struct sigaction child_ended; /* what SIGCHLD did before */
  int number;                 /* the signal to die of at the end, or 0 */
};

/* Hold the signals back, to be called before there is anything to lose, and
 * take them as before.  One that came outside rd_child_run is delivered by
 * the release. */
void rd_child_hold (struct rd_child *child);
void rd_child_release (struct rd_child *child);

/* Run a program to its end between the two.  *status is what to exit with:
 * the program's status, or 128 and the signal that ended it.  Returns false
 * when it was not run, after complaining; the status alone cannot say so,
 * since programs may exit with any. */
bool rd_child_run (struct rd_child *child, char **argv, char **environment,
                   int *status);

#endif /* RD_PROFILE_CHILD_H */
