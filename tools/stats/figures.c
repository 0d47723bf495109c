/* SPDX-License-Identifier: MIT */
/* Figures of statistics as text and as JSON. */
#include <config.h>

#include <math.h>

#include "tools/report.h"
#include "tools/stats/figures.h"
#include "tools/text.h"

const double rd_stats_own_percents[RADIO_STATS_NPERCENTILES] = {
  1, 5, 25, 50, 75, 95, 99
};

static void
print_count (const char *label, uint64_t count)
{
  char text[RD_TEXT_NBYTES];
  printf ("%-8s %16s\n", label, rd_number_grouped (count, text));
}

static void
print_number (const char *label, double number)
{
  char text[RD_TEXT_NBYTES];
  printf ("%-8s %16s\n", label, rd_text_number (number, text));
}

/* Prints bins that were asked for, a line each. */
static void
print_bins (const struct rd_figures *figures)
{
  double step = (figures->high - figures->low) / (double) figures->nbins;
  putchar ('\n');
  for (size_t i = 0; i < figures->nbins; i++) {
    char low[RD_TEXT_NBYTES], high[RD_TEXT_NBYTES], count[RD_TEXT_NBYTES];
    double end = i + 1 < figures->nbins
                 ? (double) (i + 1) * step + figures->low : figures->high;
    printf ("%12s  %12s %16s\n",
            rd_text_number ((double) i * step + figures->low, low),
            rd_text_number (end, high),
            rd_number_grouped (figures->bins[i], count));
  }
}

void
rd_figures_print (const struct rd_figures *figures)
{
  const struct radio_stats *stats = figures->stats;
  print_count ("count", stats->count);
  if (stats->nan_count > 0)
    print_count ("nan", stats->nan_count);
  if (stats->inf_count > 0)
    print_count ("infinite", stats->inf_count);
  if (stats->count == stats->nan_count)
    return;
  print_number ("min", stats->min);
  print_number ("max", stats->max);
  if (stats->count == stats->nan_count + stats->inf_count)
    return;
  print_number ("mean", stats->mean);
  print_number ("std", stats->std);
  for (size_t i = 0; i < figures->npercents; i++) {
    char number[RD_NUMBER_NBYTES], label[RD_NUMBER_NBYTES + 8];
    snprintf (label, sizeof label, "%2s %%",
              rd_number_exact (figures->percents[i], number));
    print_number (label, figures->percentiles[i]);
  }
  if (figures->nbins > 0) {
    print_bins (figures);
    return;
  }
  putchar ('\n');
  rd_histogram_print (stdout, stats);
}

/* Sets a figure, or null where there is no value to have it.  One that is not
 * a number, as a sum beyond all doubles, is not null. */
static void
set_figure (struct json_object *object, const char *key, double figure,
            uint64_t nvalues)
{
  rd_json_set (object, key, nvalues == 0 ? NULL
               : isnan (figure) ? json_object_new_string ("NaN")
               : rd_json_double_or_null (figure));
}

void
rd_figures_json (const struct rd_figures *figures, struct json_object *object)
{
  const struct radio_stats *stats = figures->stats;
  struct json_object *percentiles = json_object_new_object ();
  struct json_object *histogram = json_object_new_object ();
  bool own_bins = figures->nbins == 0;
  double edges[2] = { own_bins ? stats->bin_low : figures->low,
                      own_bins ? stats->bin_high : figures->high };
  rd_json_set_u64 (object, "count", stats->count);
  rd_json_set_u64 (object, "nan_count", stats->nan_count);
  rd_json_set_u64 (object, "inf_count", stats->inf_count);
  uint64_t nvalues = stats->count - stats->nan_count;
  uint64_t nfinite = nvalues - stats->inf_count;
  set_figure (object, "min", stats->min, nvalues);
  set_figure (object, "max", stats->max, nvalues);
  set_figure (object, "mean", stats->mean, nfinite);
  set_figure (object, "std", stats->std, nfinite);
  for (size_t i = 0; i < figures->npercents; i++) {
    char key[RD_NUMBER_NBYTES];
    rd_number_exact (figures->percents[i], key);
    set_figure (percentiles, key, figures->percentiles[i], nfinite);
  }
  rd_json_set (object, "percentiles", percentiles);
  rd_json_set (histogram, "range", rd_json_double_list (edges, 2));
  rd_json_set (histogram, "counts",
               own_bins
               ? rd_json_u64_list (stats->histogram, RADIO_STATS_NBINS)
               : rd_json_u64_list (figures->bins, figures->nbins));
  rd_json_set (object, "histogram", histogram);
}
