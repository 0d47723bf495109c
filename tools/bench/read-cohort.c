/* SPDX-License-Identifier: MIT */
/* Times what a program does with a cohort: opening the store and its tables,
 * a query, and one of the volumes; and reading a text table.  Prints
 * milliseconds, the median and the quartiles, a line each. */
#include <config.h>

#include <inttypes.h>

#include "tools/profile/samples.h"
#include "tools/progress.h"
#include "tools/tool.h"

#define NTIMED 2

static int
select_and_open (const char *uri, const char *where, uint64_t *count)
{
  const struct radio_select_options options = { .where = where };
  struct radio_store *store = NULL;
  struct radio_cohort *cohort = NULL;
  struct radio_view *view = NULL;
  struct radio_volume *volume = NULL;
  enum radio_status status = radio_store_open (uri, NULL, &store);
  if (status == RADIO_OK)
    status = radio_cohort_open (store, &cohort);
  if (status == RADIO_OK)
    status = radio_cohort_select (cohort, &options, &view, NULL);
  if (status == RADIO_OK && radio_view_count (view) > 0)
    status = radio_volume_open (store, radio_view_id (view, 0), &volume);
  if (status == RADIO_OK)
    *count = radio_view_count (view);
  radio_volume_close (volume);
  radio_view_free (view);
  radio_cohort_close (cohort);
  radio_store_close (store);
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (uri);
}

static int
read_text (const char *file)
{
  struct radio_csv *csv = NULL;
  struct radio_csv_info info;
  struct radio_cells cells;
  enum radio_status status = radio_csv_open (file, NULL, &csv);
  if (status == RADIO_OK)
    radio_csv_get_info (csv, &info);
  for (size_t i = 0; status == RADIO_OK && i < info.column_count; i++)
    status = radio_csv_read (csv, i, &cells);
  radio_csv_close (csv);
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (file);
}

int
main (int argc, char **argv)
{
  rd_set_program ("read-cohort");
  size_t nrounds = argc == 5 ? strtoul (argv[1], NULL, 10) : 0;
  if (nrounds < 1) {
    rd_error ("usage: read-cohort NROUNDS STORE QUERY FILE.tsv");
    return RD_EXIT_USAGE;
  }
  RD_FREE double *values = calloc (NTIMED * nrounds, sizeof *values);
  uint64_t count = 0;
  int failed = values ? RD_EXIT_OK : rd_error_memory ();
  for (size_t i = 0; i < nrounds && !failed; i++) {
    double start = rd_clock_s ();
    failed = select_and_open (argv[2], argv[3], &count);
    double middle = rd_clock_s ();
    if (!failed)
      failed = read_text (argv[4]);
    values[i] = (middle - start) * 1e3;
    values[nrounds + i] = (rd_clock_s () - middle) * 1e3;
  }
  for (size_t i = 0; i < NTIMED && !failed; i++) {
    struct rd_summary summary;
    rd_summarize (values + i * nrounds, nrounds, &summary);
    printf ("%s %.3f %.3f %.3f\n", i == 0 ? "select" : "text",
            summary.median, summary.low, summary.high);
  }
  if (!failed)
    printf ("count %" PRIu64 "\n", count);
  return rd_close_stdout (failed);
}
