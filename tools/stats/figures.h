/* SPDX-License-Identifier: MIT */
/* Figures of statistics as text and as JSON. */
#ifndef RD_STATS_FIGURES_H
#define RD_STATS_FIGURES_H

#include "tools/json.h"
#include "tools/tool.h"

struct rd_figures {
  const struct radio_stats *stats;
  size_t npercents;
  const double *percents, *percentiles;
  size_t nbins;               /* of a histogram that was asked for; 0: none */
  double low, high;
  const uint64_t *bins;
};

/* The percentages of struct radio_stats. */
extern const double rd_stats_own_percents[RADIO_STATS_NPERCENTILES];

/* Prints lines after the title. */
void rd_figures_print (const struct rd_figures *figures);

/* Adds the members to an object. */
void rd_figures_json (const struct rd_figures *figures,
                      struct json_object *object);

#endif /* RD_STATS_FIGURES_H */
