/* SPDX-License-Identifier: MIT */
/* The loop of measurements.  A recording is started before and stopped after
 * the clock runs, so that what is timed holds only the cost of its scopes,
 * which the profile tells itself. */
#include <config.h>

#include <string.h>

#include "tools/profile/runs.h"
#include "tools/profile/temp.h"
#include "tools/progress.h"

/* Spans of all runs together: a page of a million opens in any browser. */
#define MAX_SPANS 1000000
#define LEAST_SPANS 1000

static size_t
spans_of_one (size_t nruns)
{
  size_t share = MAX_SPANS / (nruns ? nruns : 1);
  return share > LEAST_SPANS ? share : LEAST_SPANS;
}

static int
record_run (const struct rd_operation *operation, size_t run, size_t nruns,
            double *seconds, struct radio_profile **profile)
{
  struct radio_recorder_options options = {
    .max_spans = spans_of_one (nruns),
    .title = operation->title,
  };
  struct radio_recorder *recorder = NULL;
  if (radio_recorder_start (&options, &recorder) != RADIO_OK)
    return rd_error_library (NULL);
  double start = rd_clock_s ();
  int failed = operation->perform (operation->data, run);
  *seconds = rd_clock_s () - start;
  if (!failed && operation->facts
      && operation->facts (operation->data, recorder) != RADIO_OK)
    failed = rd_error_library (NULL);
  if (failed) {
    (void) !radio_recorder_stop (recorder, NULL);
    return failed;
  }
  if (radio_recorder_stop (recorder, profile) != RADIO_OK)
    return rd_error_library (NULL);
  return RD_EXIT_OK;
}

static int
do_run (struct rd_runs *runs, const struct rd_operation *operation,
        size_t run)
{
  int failed = RD_EXIT_OK;
  size_t i = runs->ndone;
  if (operation->prepare)
    failed = operation->prepare (operation->data, run);
  if (failed)
    return failed;
  if (run < runs->nwarm)
    failed = operation->perform (operation->data, run);
  else
    failed = record_run (operation, run, runs->n, &runs->seconds[i],
                         &runs->profiles[i]);
  if (!failed && run >= runs->nwarm)
    runs->ndone++;
  if (!failed && operation->settle)
    failed = operation->settle (operation->data, run);
  return failed;
}

int
rd_runs_measure (struct rd_runs *runs, const struct rd_operation *operation)
{
  struct rd_progress progress;
  size_t n = runs->nwarm + runs->n;
  int failed = RD_EXIT_OK;
  runs->seconds = calloc (runs->n + 1, sizeof *runs->seconds);
  runs->profiles = calloc (runs->n + 1, sizeof *runs->profiles);
  if (runs->seconds == NULL || runs->profiles == NULL)
    return rd_error_memory ();
  rd_progress_start (&progress, NULL);
  for (size_t run = 0; run < n && !failed && !rd_interrupted (); run++) {
    rd_progress_update (&progress, operation->title, run, n);
    failed = do_run (runs, operation, run);
  }
  rd_progress_clear (&progress);
  /* A run that Ctrl-C cut short takes nothing from those before it. */
  return rd_interrupted () ? RD_EXIT_OK : failed;
}

int
rd_runs_join (const struct rd_runs *runs, struct radio_profile **profile)
{
  if (radio_profile_join (runs->profiles, runs->ndone, RADIO_PARTS_RUNS,
                          profile) == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (NULL);
}

void
rd_runs_clear (struct rd_runs *runs)
{
  for (size_t i = 0; i < runs->ndone && runs->profiles; i++)
    radio_profile_close (runs->profiles[i]);
  free (runs->profiles);
  free (runs->seconds);
}
