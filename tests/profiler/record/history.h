/* SPDX-License-Identifier: MIT */
/* Histories that are exact to the tick: a recorder with a clock that only the
 * test advances, and access to its tree and log once it is frozen. */
#ifndef RD_TESTS_RECORD_HISTORY_H
#define RD_TESTS_RECORD_HISTORY_H

#include <radio/profile.h>

#include "profiler/record/log.h"
#include "profiler/record/record.h"

#include "tests/unit.h"

/* The clock, in ticks of a nanosecond, the threads' time with a CPU, and
 * without one though they could run, and how often they slept. */
struct history {
  _Atomic uint64_t now;
  _Atomic uint64_t cpu_ns;
  _Atomic uint64_t starved_ns;
  _Atomic uint64_t nsleeps;
  _Atomic uint64_t nstarved_reads;      /* of starved_ns */
  _Atomic uint64_t ncpu_reads;          /* readings of cpu_ns */
  _Atomic uint64_t lost;      /* ticks without a CPU after the next reading */
  _Atomic uint64_t lost_next; /* the same after the next reading of the clock */
  atomic_bool is_runnable;    /* the thread that another one observes waits for
                                 a CPU */
  struct radio_recorder *recorder;
};

/* Starts a recorder of the calling thread; options may be NULL.  The cost of
 * a scope is set to 1 ns. */
void history_start (struct history *history,
                    const struct radio_recorder_options *options);

/* The same with another clock. */
void history_start_at (struct history *history,
                       const struct radio_recorder_options *options,
                       uint64_t ticks_per_us);

/* The same with a clock of nanoseconds that does not read the CPU time of
 * shorter calls than least_wait_ns, nor again within cpu_fresh_ns. */
void history_start_saving (struct history *history,
                           const struct radio_recorder_options *options,
                           uint64_t least_wait_ns, uint64_t cpu_fresh_ns);

/* The same, and the run queue is read where a scope's own time, or the time
 * between two events, is at least least_starved_ns. */
void history_start_starving (struct history *history,
                             const struct radio_recorder_options *options,
                             uint64_t least_starved_ns);

/* Advances the clock; starve: while the thread is runnable without a CPU;
 * sleep: while it is not runnable. */
void history_pass (struct history *history, uint64_t ticks);
void history_starve (struct history *history, uint64_t ticks);
void history_sleep (struct history *history, uint64_t ticks);

/* The thread runs for some ticks, then has no CPU for some. */
void history_work (struct history *history, uint64_t ran, uint64_t starved);

/* Returns when a real thread, or the first one of a process, sleeps. */
void history_await_sleep (uint64_t os_tid);

/* Records a scope of this duration. */
void history_leaf (struct history *history, const struct radio_site *site,
                   uint64_t ticks);

/* Stops recording, and keeps tree and log for inspection; then releases
 * them. */
void history_freeze (struct history *history);
void history_release (struct history *history);

/* Return the node of a path of names ("read/fetch"): find returns NULL if a
 * writer does not have it; node asserts that the first one has it. */
struct rd_node *history_find (struct history *history, size_t writer,
                              const char *path);
struct rd_node *history_node (struct history *history, const char *path);

/* Span i of the first writer's log; NULL beyond the last. */
const struct rd_log_span *history_span (struct history *history, size_t i);
size_t history_nspans (struct history *history);

/* The spans one after the other, from a place that is zero at first; NULL after
 * the last.  history_span goes through the log each time. */
struct history_place {
  const struct rd_log_chunk *chunk;
  size_t slot;
};
const struct rd_log_span *history_next_span (struct history *history,
                                             struct history_place *place);

/* The name of a span's node. */
const char *history_span_name (struct history *history,
                               const struct rd_log_span *span);

/* total, self, work and wait of a node. */
#define assert_times(node, total_, self_, work_, wait_)         \
  do {                                                          \
    const struct rd_node *node_ = (node);                       \
    assert_int_equal (node_->total, (total_));                  \
    assert_int_equal (node_->self, (self_));                    \
    assert_int_equal (node_->work, (work_));                    \
    assert_int_equal (node_->wait, (wait_));                    \
  } while (0)

/* A site named like its variable. */
#define SITE(variable, kind)                                    \
  static const struct radio_site variable = {                   \
    #variable, "test", "", "", 0, kind                          \
  }

#endif /* RD_TESTS_RECORD_HISTORY_H */
