/* SPDX-License-Identifier: MIT */
/* Output of figures: tables, histograms, and written volumes. */
#include <config.h>

#include <langinfo.h>
#include <math.h>
#include <string.h>

#include "tools/report.h"
#include "tools/text.h"

/*------------------------------------------------------------------------
 * Tables: widths are those on a terminal, so that names in any script stay
 * aligned
 *----------------------------------------------------------------------*/

bool
rd_table_add (struct rd_table *table, const char *text)
{
  if (table->ncells == table->capacity) {
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    char **cells = reallocarray (table->cells, capacity, sizeof *cells);
    if (cells == NULL) {
      rd_error_memory ();
      return false;
    }
    table->cells = cells;
    table->capacity = capacity;
  }
  if (table->widths == NULL)
    table->widths = calloc (table->ncolumns, sizeof *table->widths);
  char *copy = strdup (text);
  if (table->widths == NULL || copy == NULL) {
    free (copy);
    rd_error_memory ();
    return false;
  }
  size_t *width = &table->widths[table->ncells % table->ncolumns];
  size_t columns = rd_text_columns (text);
  *width = columns > *width ? columns : *width;
  table->cells[table->ncells++] = copy;
  return true;
}

bool
rd_table_add_row (struct rd_table *table, const char *const *cells)
{
  bool ok = true;
  for (size_t i = 0; i < table->ncolumns && ok; i++)
    ok = rd_table_add (table, cells[i]);
  return ok;
}

void
rd_table_print (const struct rd_table *table, FILE *file)
{
  for (size_t i = 0; i < table->ncells; i++) {
    size_t column = i % table->ncolumns;
    int padding = (int) (table->widths[column]
                         - rd_text_columns (table->cells[i]));
    bool right = table->alignment[column] == 'r';
    bool is_last = column + 1 == table->ncolumns;
    if (i == 0)
      fputs (rd_color (file, RD_BOLD), file);
    /* The last column is not padded: lines do not end in spaces. */
    fprintf (file, "%*s", (column > 0 ? 2 : 0) + (right ? padding : 0), "");
    rd_text_print (file, table->cells[i]);
    if (!right && !is_last)
      fprintf (file, "%*s", padding, "");
    if (i + 1 == table->ncolumns)
      fputs (rd_color (file, RD_PLAIN), file);
    if (is_last)
      fputc ('\n', file);
  }
}

void
rd_table_clear (struct rd_table *table)
{
  for (size_t i = 0; i < table->ncells; i++)
    free (table->cells[i]);
  free (table->cells);
  free (table->widths);
  table->cells = NULL;
  table->widths = NULL;
  table->ncells = table->capacity = 0;
}

/*------------------------------------------------------------------------
 * Histograms
 *----------------------------------------------------------------------*/

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
    if (utf8) {
      /* The blocks of 1 to 8 eighths are U+258F down to U+2588. */
      text[used++] = (char) 0xe2;
      text[used++] = (char) 0x96;
      text[used++] = (char) (0x90 - (n < 8 ? n : 8));
    } else
      text[used++] = '#';
  text[used] = '\0';
  return text;
}

void
rd_histogram_print (FILE *file, const struct radio_stats *stats)
{
  const size_t together = RADIO_STATS_NBINS / RD_HISTOGRAM_NLINES;
  bool utf8 = strcmp (nl_langinfo (CODESET), "UTF-8") == 0;
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
  for (size_t i = 0; i < RD_HISTOGRAM_NLINES; i++) {
    char low[RD_TEXT_NBYTES], bar[RD_BAR_NBYTES];
    double edge = stats->bin_low + (stats->bin_high - stats->bin_low)
                                   * (double) i / RD_HISTOGRAM_NLINES;
    rd_histogram_bar (counts[i], most, utf8, bar);
    int padding = RD_BAR_WIDTH - (int) rd_text_columns (bar);
    /* Seven figures of an edge would suggest too much precision. */
    snprintf (low, sizeof low, "%.5g", edge == 0 ? 0.0 : edge);
    fprintf (file, "%12s  %s%*s %6.2f %%\n", low, bar, padding, "",
             100 * (double) counts[i] / (double) all);
  }
}

/*------------------------------------------------------------------------
 * Written volumes
 *----------------------------------------------------------------------*/

void
rd_written_add (struct rd_written *written,
                const struct radio_ingest_result *result)
{
  written->nskipped += result->skipped;
  written->nwritten += !result->skipped;
  written->source_nbytes += result->source_nbytes;
  written->stored_nbytes += result->stored_nbytes;
}

void
rd_written_print (const char *path, size_t path_width,
                  const struct radio_ingest_result *result)
{
  char raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], ratio[RD_TEXT_NBYTES];
  rd_text_print (stdout, path);
  printf ("%*s", (int) (path_width - rd_text_columns (path)), "");
  if (result->skipped)
    puts ("  skipped: exists already");
  else
    printf ("  %8s -> %8s  %8s\n",
            rd_text_size (result->source_nbytes, raw),
            rd_text_size (result->stored_nbytes, stored),
            rd_text_ratio (result->source_nbytes, result->stored_nbytes,
                           ratio));
}

void
rd_written_print_sum (const struct rd_written *written, double seconds,
                      uint64_t nbytes, const char *did)
{
  char a[RD_TEXT_NBYTES], b[RD_TEXT_NBYTES], c[RD_TEXT_NBYTES];
  char d[RD_TEXT_NBYTES], e[RD_TEXT_NBYTES];
  double per_s = (double) nbytes / (seconds + 1e-9);
  printf ("%zu volume%s", written->nwritten,
          rd_plural (written->nwritten));
  if (written->nwritten > 0)
    printf (", %s -> %s (%s) in %s, %s/s%s",
            rd_text_size (written->source_nbytes, a),
            rd_text_size (written->stored_nbytes, b),
            rd_text_ratio (written->source_nbytes, written->stored_nbytes, c),
            rd_text_time (seconds, d), rd_text_size ((uint64_t) per_s, e),
            did);
  if (written->nskipped > 0)
    printf ("; %zu skipped", written->nskipped);
  if (written->nfailed > 0)
    printf ("; %zu failed", written->nfailed);
  putchar ('\n');
}
