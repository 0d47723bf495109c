/* SPDX-License-Identifier: MIT */
/* What gauges were set to on one thread, in bounded memory: when it is full,
 * the time that samples of one gauge must be apart doubles, and of those
 * closer the last one stays. */
#ifndef RD_GAUGE_H
#define RD_GAUGE_H

#include <stddef.h>
#include <stdint.h>

#include <radio/profile.h>

struct rd_log_sample {
  uint64_t time;
  int64_t value;
  const struct radio_counter *gauge;
};

struct rd_samples {
  struct rd_log_sample *at;
  size_t n, capacity;
  uint64_t spacing;           /* ticks; 0: every sample is kept */
  uint64_t dropped_count;
};

void rd_samples_add (struct rd_samples *samples,
                     const struct rd_log_sample *sample);

void rd_samples_free (struct rd_samples *samples);

#endif /* RD_GAUGE_H */
