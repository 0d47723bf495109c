/* SPDX-License-Identifier: MIT */
/* The parts of applying a pipeline: steps that are applied to a volume, and the
 * statistics that some of them need. */
#ifndef RD_DERIVE_H
#define RD_DERIVE_H

#include "src/array/derived.h"
#include "src/volume/volume.h"

/* Applies the first n steps of a pipeline to a volume without one. */
enum radio_status rd_derive_volume (struct radio_volume *root,
                                    const struct rd_step *steps, size_t n,
                                    struct radio_volume **derived)
  RADIO_USE_RESULT;

/* Steps of a pipeline whose kernels wait for a statistic. */
struct rd_statistics {
  struct radio_volume *root;          /* lives longer, as the steps do */
  const struct rd_step *steps;
  size_t n;
  struct rd_statistic {
    size_t step, kernel;
  } list[];
};

/* Computes the statistics of a derived array, or finds them in the context, and
 * makes the kernels: its rd_derived.complete. */
enum radio_status rd_statistics_complete (struct rd_derived *derived)
  RADIO_USE_RESULT;

#endif /* RD_DERIVE_H */
