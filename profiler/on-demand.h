/* SPDX-License-Identifier: MIT */
/* Writing a profile while it is recorded: on signals, where that was asked for,
 * and every so often; by a thread, since a signal handler may do next to
 * nothing. */
#ifndef RD_ON_DEMAND_H
#define RD_ON_DEMAND_H

#include <stdbool.h>

#include <radio/base.h>

#define RD_ON_DEMAND_SIGNALS 3

struct rd_on_demand;

struct rd_on_demand_options {
  int signals[RD_ON_DEMAND_SIGNALS];    /* 0: none */
  unsigned every_s;           /* 0: never */
};

/* Called by the thread.  is_last: a signal is about to end the process.  False:
 * the recording was ended before, by who will call rd_on_demand_free. */
typedef bool rd_on_demand_fn (bool is_last);

bool rd_on_demand_is_wanted (const struct rd_on_demand_options *options);

/* Installs the handlers, and starts the thread; one at a time.  After SIGTERM
 * or SIGINT the signal is sent again, with the action that it had before; where
 * that was to be ignored, the recording goes on.
 * Errors: RADIO_ERROR_MEMORY, those of making a semaphore. */
enum radio_status
rd_on_demand_start (const struct rd_on_demand_options *options,
                    rd_on_demand_fn *write,
                    struct rd_on_demand **on_demand) RADIO_USE_RESULT;

/* Ends the thread.  Signals do nothing yet: they wait for the next function.
 * NULL is legal, as there. */
void rd_on_demand_stop (struct rd_on_demand *on_demand);

/* Once the last profile is written: restores the actions of signals, and sends
 * those again that came meanwhile; but SIGUSR1, if it would end the process, is
 * ignored from then on. */
void rd_on_demand_free (struct rd_on_demand *on_demand);

#endif /* RD_ON_DEMAND_H */
