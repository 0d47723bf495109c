/* SPDX-License-Identifier: MIT */
/* Things measured in turn. */
#include <config.h>

#include <string.h>

#include "tools/bench/paired.h"
#include "tools/json.h"

bool
rd_series_open (struct rd_series *series, const char *name, size_t n)
{
  *series = (struct rd_series) { .name = name, .n = n };
  series->values = calloc (n + 1, sizeof *series->values);
  if (series->values == NULL)
    rd_error_memory ();
  return series->values != NULL;
}

void
rd_series_clear (struct rd_series *series)
{
  free (series->values);
  *series = (struct rd_series) { 0 };
}

static double *
copy_of (const struct rd_series *series)
{
  double *copy = calloc (series->n + 1, sizeof *copy);
  if (copy == NULL)
    rd_error_memory ();
  else if (series->n > 0)
    memcpy (copy, series->values, series->n * sizeof *copy);
  return copy;
}

int
rd_series_summary (const struct rd_series *series,
                   struct rd_summary *summary)
{
  RD_FREE double *copy = copy_of (series);
  if (copy == NULL)
    return RD_EXIT_FAILED;
  rd_summarize (copy, series->n, summary);
  return RD_EXIT_OK;
}

static void
describe (double *values, size_t n, struct rd_ratio *ratio)
{
  struct rd_summary summary;
  memset (ratio, 0, sizeof *ratio);
  rd_summarize (values, n, &summary);
  ratio->median = summary.median;
  if (!rd_median_interval (values, n, &ratio->low, &ratio->high))
    ratio->low = ratio->high = 0;
}

int
rd_ratio_of (const struct rd_series *value, const struct rd_series *base,
             struct rd_ratio *ratio)
{
  RD_FREE double *ratios = copy_of (value);
  size_t n = 0;
  if (ratios == NULL)
    return RD_EXIT_FAILED;
  for (size_t i = 0; i < value->n && i < base->n; i++)
    if (base->values[i] > 0)
      ratios[n++] = value->values[i] / base->values[i];
  describe (ratios, n, ratio);
  return RD_EXIT_OK;
}

int
rd_ratio_alone (const struct rd_series *series, struct rd_ratio *ratio)
{
  RD_FREE double *copy = copy_of (series);
  if (copy == NULL)
    return RD_EXIT_FAILED;
  describe (copy, series->n, ratio);
  return RD_EXIT_OK;
}

/* With too few rounds for an interval nothing is clear. */
enum rd_verdict
rd_classify (const struct rd_ratio *ratio, double bar)
{
  if (ratio->low == 0 && ratio->high == 0)
    return RD_UNCLEAR;
  if (ratio->high <= bar)
    return RD_MET;
  return ratio->low > bar ? RD_MISSED : RD_UNCLEAR;
}

const char *
rd_verdict_name (enum rd_verdict verdict)
{
  static const char *const names[] = {
    [RD_MET] = "met", [RD_UNCLEAR] = "unclear", [RD_MISSED] = "missed"
  };
  return names[verdict];
}

void
rd_ratio_put (struct json_object *object, const struct rd_ratio *ratio,
              double bar)
{
  rd_json_set_double (object, "value", ratio->median);
  rd_json_set_double (object, "low", ratio->low);
  rd_json_set_double (object, "high", ratio->high);
  rd_json_set_double (object, "bar", bar);
  rd_json_set_text (object, "verdict",
                    rd_verdict_name (rd_classify (ratio, bar)));
}
