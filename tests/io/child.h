/* SPDX-License-Identifier: MIT */
/* Steps that a process of their own does, since it dies, drops its rights,
 * or sees other file systems. */
#ifndef RD_TESTS_CHILD_H
#define RD_TESTS_CHILD_H

#include <sys/types.h>

/* The exit status of a child for "cannot be tested here". */
#define CHILD_SKIP 77

/* In a child: leave with the line that did not hold. */
#define CHILD_CHECK(condition)                  \
  do {                                          \
    if (!(condition))                           \
      return __LINE__ % 70 + 1;                 \
  } while (0)

/* Starts a child that exits with fn's result (without exit handlers). */
pid_t child_start (int (*fn) (void *arg), void *arg);

/* Wait for it: its exit status, or minus the signal that ended it. */
int child_wait (pid_t pid);

/* Both; the test is skipped when the child says so. */
int child_run (int (*fn) (void *arg), void *arg);

#endif /* RD_TESTS_CHILD_H */
