/* SPDX-License-Identifier: MIT */
/* Starting and stopping recorders, for tests and measurements. */
#ifndef RD_RECORDER_H
#define RD_RECORDER_H

#include "profiler/record/record.h"

struct rd_recorder_setup {
  struct rd_clock clock;      /* used if read is set */
  bool fences;                /* as if there were no membarrier */
  double scope_cost_ns;       /* instead of a measured one, if not 0 */
};

/* radio_recorder_start, with options that only tests have; setup may be
 * NULL. */
enum radio_status
rd_recorder_start (const struct radio_recorder_options *options,
                   const struct rd_recorder_setup *setup,
                   struct radio_recorder **recorder) RADIO_USE_RESULT;

/* The two halves of radio_recorder_stop, between which the tree and the log
 * are complete and nothing writes any more. */
void rd_recorder_freeze (struct radio_recorder *recorder);
void rd_recorder_release (struct radio_recorder *recorder);

/* The first half, and the profile.  Then the ring's file may be kept: *path,
 * which the caller frees; NULL: no file, or it cannot be kept. */
enum radio_status rd_recorder_finish (struct radio_recorder *recorder,
                                      struct radio_profile **profile)
  RADIO_USE_RESULT;
void rd_recorder_give_file (struct radio_recorder *recorder, char **path);

/* The writer whose innermost frame began last; NULL: no frame is open. */
struct rd_writer_state *
rd_recorder_youngest (struct radio_recorder *recorder);

/* A recorder that only the caller knows, for measuring.  NULL without
 * memory. */
struct radio_recorder *rd_recorder_alone (const struct rd_clock *clock,
                                          size_t max_spans);

#endif /* RD_RECORDER_H */
