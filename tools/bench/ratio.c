/* SPDX-License-Identifier: MIT */
/* Layouts beside the first one. */
#include <config.h>

#include <string.h>

#include "tools/bench/ratio.h"

/* The median of each round; the last one may have been cut short. */
static int
take_rounds (const struct rd_sample *sample, struct rd_series *series)
{
  size_t per = sample->nperround ? sample->nperround : 1;
  RD_FREE double *room = calloc (per, sizeof *room);
  if (room == NULL)
    return rd_error_memory ();
  if (!rd_series_open (series, NULL, sample->n / per))
    return RD_EXIT_FAILED;
  for (size_t i = 0; i < series->n; i++) {
    struct rd_summary summary;
    memcpy (room, sample->seconds + i * per, per * sizeof *room);
    rd_summarize (room, per, &summary);
    series->values[i] = summary.median;
  }
  return RD_EXIT_OK;
}

int
rd_bench_ratio (const struct rd_bench *bench, const struct rd_layout *layout,
                size_t row, struct rd_ratio *ratio)
{
  struct rd_series first = { 0 }, this = { 0 };
  memset (ratio, 0, sizeof *ratio);
  if (layout == &bench->layouts[0])
    return RD_EXIT_OK;
  int failed = take_rounds (&bench->layouts[0].samples[row], &first);
  if (!failed)
    failed = take_rounds (&layout->samples[row], &this);
  if (!failed)
    failed = rd_ratio_of (&first, &this, ratio);
  rd_series_clear (&first);
  rd_series_clear (&this);
  return failed;
}

const char *
rd_bench_ratio_text (const struct rd_ratio *ratio, char text[32])
{
  if (!(ratio->median > 0))
    return "-";
  if (ratio->low > 0 && ratio->low <= 1 && ratio->high >= 1)
    return "same";
  snprintf (text, 32, "%.2fx", ratio->median);
  return text;
}
