/* SPDX-License-Identifier: MIT */
/* A histogram as text bars. */
#include <config.h>

#include <langinfo.h>
#include <string.h>

#include "tools/histogram.h"
#include "tools/text.h"

/* The blocks of 1 to 8 eighths are U+258F down to U+2588. */
static size_t
put_block (char *text, unsigned eighths)
{
  text[0] = (char) 0xe2;
  text[1] = (char) 0x96;
  text[2] = (char) (0x90 - eighths);
  return 3;
}

const char *
rd_histogram_bar (uint64_t part, uint64_t whole, bool utf8,
                  char text[RD_BAR_NBYTES])
{
  unsigned steps = utf8 ? 8 : 1;
  double length = whole ? (double) part / (double) whole * RD_BAR_WIDTH : 0;
  unsigned n = (unsigned) (length * steps + 0.5);
  if (n == 0 && part > 0)
    n = 1;
  size_t used = 0;
  for (; n > 0; n -= n < steps ? n : steps)
    if (utf8)
      used += put_block (text + used, n < 8 ? n : 8);
    else
      text[used++] = '#';
  text[used] = '\0';
  return text;
}

static void
print_line (FILE *file, const struct radio_stats *stats, size_t line,
            const uint64_t *counts, uint64_t most, uint64_t all)
{
  char low[RD_TEXT_NBYTES], bar[RD_BAR_NBYTES];
  bool utf8 = strcmp (nl_langinfo (CODESET), "UTF-8") == 0;
  double edge = stats->bin_low + (stats->bin_high - stats->bin_low)
                                 * (double) line / RD_HISTOGRAM_NLINES;
  rd_histogram_bar (counts[line], most, utf8, bar);
  int padding = RD_BAR_WIDTH - (int) rd_text_columns (bar);
  /* Seven figures of an edge would pretend too much. */
  snprintf (low, sizeof low, "%.5g", edge == 0 ? 0.0 : edge);
  fprintf (file, "%12s  %s%*s %6.2f %%\n", low, bar, padding, "",
           100 * (double) counts[line] / (double) all);
}

void
rd_histogram_print (FILE *file, const struct radio_stats *stats)
{
  const size_t together = RADIO_STATS_NBINS / RD_HISTOGRAM_NLINES;
  uint64_t counts[RD_HISTOGRAM_NLINES] = { 0 }, most = 0, all = 0;
  for (size_t i = 0; i < RADIO_STATS_NBINS; i++)
    counts[i / together] += stats->histogram[i];
  for (size_t i = 0; i < RD_HISTOGRAM_NLINES; i++) {
    all += counts[i];
    if (counts[i] > most)
      most = counts[i];
  }
  if (all == 0)
    return;
  fprintf (file, "%12s\n", "from");
  for (size_t i = 0; i < RD_HISTOGRAM_NLINES; i++)
    print_line (file, stats, i, counts, most, all);
}
