/* SPDX-License-Identifier: MIT */
/* How long a thread was runnable without having a CPU: the kernel's own
 * account of it, which is exact, while the difference of a clock and a CPU
 * clock holds sleep, too.  And if it slept at all, which is known by its
 * voluntary context switches.  A reading takes about a microsecond. */
#ifndef RD_RUN_QUEUE_H
#define RD_RUN_QUEUE_H

#include <sys/types.h>

#include "profiler/record/clock.h"

/* The account of one thread. */
struct rd_run_queue {
  enum { RD_RUN_QUEUE_CLOSED, RD_RUN_QUEUE_OPEN, RD_RUN_QUEUE_NONE } state;
  bool has_file;              /* that is to be closed */
  int fd;
  uint64_t os_tid;            /* the thread's number in the system */
  dev_t device;               /* of the file, which is known by these: a */
  ino_t file;                 /* program may close what it did not open */
  uint64_t ns;                /* at the last reading */
  uint64_t nslices;           /* the times that it got a CPU, then */
  uint64_t nsleeps;           /* and gave it up, when that had changed */
};

/* The state of a thread when another one observed it. */
enum rd_run_state {
  RD_RUN_UNKNOWN,             /* it was not observed */
  RD_RUN_ON_CPU,
  RD_RUN_SLEEPS,
  RD_RUN_WAITS,               /* runnable, without a CPU */
};

/* A thread's nanoseconds on a CPU, and without one though it could run, since
 * it began: of one that waits for a CPU the latter are those before it began to
 * wait, since the kernel adds them when it gets one.  If it has not slept since
 * an earlier moment, all that it did not run since then was such a wait. */
struct rd_run_account {
  enum rd_run_state state;
  uint64_t cpu_ns, starved_ns;
  uint64_t nsleeps;           /* as in rd_run_queue; 0 of one on a CPU */
  uint64_t until;             /* see rd_recorder_observe */
};

/* Nanoseconds since the last reading, and a new one; 0 of the first, and where
 * the system does not know.  *has_slept: the thread gave up its CPU since then,
 * or this is the first reading.  Opens the calling thread's account if none is
 * open.  Called by the thread itself. */
uint64_t rd_run_queue_read (struct rd_run_queue *queue,
                            const struct rd_clock *clock, bool *has_slept);

/* Reads the account of another thread, which goes on and may open it meanwhile,
 * but neither ends nor closes it.  False: it has none.  Takes 3 us of a thread
 * that runs, 15 us of another one. */
bool rd_run_queue_observe (const struct rd_run_queue *queue,
                           const struct rd_clock *clock,
                           struct rd_run_account *account);

/* Finds a thread's state and the times that it gave up its CPU in the text of
 * /proc/.../status, lines of "KEY:\tVALUE".  False: this is another text. */
bool rd_run_queue_parse_status (const char *text, char *state,
                                uint64_t *nsleeps);

/* Forgets the thread.  Not called while another one observes it. */
void rd_run_queue_close (struct rd_run_queue *queue);

#endif /* RD_RUN_QUEUE_H */
