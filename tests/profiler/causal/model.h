/* SPDX-License-Identifier: MIT */
/* The recorder's results, computed by brute force: all runs of a history are
 * kept, and every figure is computed from all of them at the end.  The union
 * of children's intervals is found by sorting them. */
#ifndef RD_TESTS_MODEL_H
#define RD_TESTS_MODEL_H

#include "tests/unit.h"

#include <radio/profile.h>

#include "profiler/model/profile.h"

#define MODEL_NONE (-1)
#define MODEL_REQUESTS 99       /* the thread of runs without one */

struct model_run {
  const struct radio_site *site;
  enum radio_edge edge;
  int parent;                 /* an index, or MODEL_NONE */
  int below;                  /* the run below it on its thread */
  unsigned thread;
  uint64_t begin, end, submitted;
  bool has_ended, is_open, is_late;
  uint32_t node;              /* in the profile */
};

#define MODEL_RUNS 512

struct model {
  struct model_run runs[MODEL_RUNS];
  int n;
};

/* Begins a run; returns its index. */
int model_begin (struct model *model, const struct model_run *run);

/* Ends it; is_open: recording stops. */
void model_end (struct model *model, int run, uint64_t now, bool is_open);

/* Compares every node and every span of the profile with the runs; times of
 * the profile count from the first begin. */
void model_check (struct model *model, const struct radio_profile *profile);

#endif /* RD_TESTS_MODEL_H */
