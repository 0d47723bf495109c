/* SPDX-License-Identifier: MIT */
/* Measurements: an operation run again and again, each time timed and
 * recorded.  A recording is started before and stopped after the clock runs,
 * so that the time contains only the cost of scopes, which the profile
 * reports. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/interrupt.h"
#include "tools/profile/measure.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/text.h"

/* Spans of all runs: a page of a million opens in any browser. */
#define MAX_SPANS 1000000
#define LEAST_SPANS 1000

static int
record_run (const struct rd_operation *operation,
            const struct rd_conditions *conditions, size_t run, size_t nruns,
            double *seconds, struct radio_profile **profile)
{
  size_t share = MAX_SPANS / (nruns ? nruns : 1);
  struct radio_recorder_options options = {
    .max_spans = share > LEAST_SPANS ? share : LEAST_SPANS,
    .title = operation->title,
  };
  struct radio_recorder *recorder = NULL;
  if (radio_recorder_start (&options, &recorder) != RADIO_OK)
    return rd_error_library (NULL);
  double start = rd_clock_s ();
  int failed = operation->perform (operation->data, run);
  *seconds = rd_clock_s () - start;
  if (!failed && rd_conditions_record (conditions, recorder) != RADIO_OK)
    failed = rd_error_library (NULL);
  if (failed) {
    (void) !radio_recorder_stop (recorder, NULL);
    return failed;
  }
  if (radio_recorder_stop (recorder, profile) != RADIO_OK)
    return rd_error_library (NULL);
  return RD_EXIT_OK;
}

void
rd_runs_clear (struct rd_runs *runs)
{
  for (size_t i = 0; i < runs->ndone && runs->profiles; i++)
    radio_profile_close (runs->profiles[i]);
  free (runs->profiles);
  free (runs->seconds);
}

/*------------------------------------------------------------------------
 * Options, conditions and reports
 *----------------------------------------------------------------------*/

/* Keeps the option that was just taken, for how a recording is made; that of a
 * file is of the output. */
static void
keep_option (struct rd_measure *measure, const struct rd_args *args)
{
  const struct rd_option *option = args->option;
  RD_FREE char *text = option->argument
    ? rd_format ("--%s=%s", option->name, args->value)
    : rd_format ("--%s", option->name);
  if (!text || option->id == RD_OPTION_CSV)
    return;
  if (!measure->arguments)
    measure->arguments = json_object_new_array ();
  json_object_array_add (measure->arguments, json_object_new_string (text));
}

int
rd_measure_take (struct rd_args *args, int id, struct rd_measure *measure)
{
  uint64_t n = 0;
  bool ok = true;
  int taken;
  switch (id) {
  case RD_OPTION_RUNS:
    ok = rd_args_number (args, 1, 100000, &n);
    measure->nruns = n;
    break;
  case RD_OPTION_WARMUP:
    ok = rd_args_number (args, 0, 100000, &n);
    measure->nwarm = n;
    keep_option (measure, args);
    break;
  case RD_OPTION_SEED:
    ok = rd_args_number (args, 0, UINT64_MAX, &measure->seed);
    args->select.seed = measure->seed;
    keep_option (measure, args);
    break;
  case RD_OPTION_COLD:
    measure->cold = true;
    keep_option (measure, args);
    break;
  case RD_OPTION_AGAINST:
    measure->against = args->value;
    break;
  case RD_OPTION_FAIL_IF_SLOWER:
    ok = rd_args_percentage (args, &measure->fail_percent);
    break;
  default:
    taken = rd_profile_output_take (args, id, &measure->output);
    if (taken == 0)
      keep_option (measure, args);
    return taken;
  }
  return ok ? 1 : -1;
}

int
rd_measure_begin (struct rd_measure *measure, const struct rd_args *args)
{
  measure->json = args->json;
  if (measure->nwarm == SIZE_MAX)
    measure->nwarm = measure->cold ? 0 : 1;
  measure->random = measure->seed;
  rd_interrupt_catch ();
  return rd_profile_output_prepare (&measure->output, args,
                                    measure->operation);
}

int
rd_measure_describe (struct rd_measure *measure,
                     const struct rd_subjects *subjects)
{
  struct rd_conditions *c = &measure->conditions;
  const struct rd_subject *subject = subjects->list;
  const struct radio_volume_info *info = &subject->info;
  char type[32], tiling[RD_TILING_NBYTES];
  RD_FREE char *shape = rd_subject_shape_text (subject, info->array.shape);
  RD_FREE char *tile = rd_subject_shape_text (subject,
                                              info->array.tile_shape);
  if (shape == NULL || tile == NULL)
    return RD_EXIT_FAILED;
  const struct {
    const char *key, *value;
    enum radio_text_kind kind;
  } list[] = {
    { "operation", measure->operation, RADIO_TEXT_PLAIN },
    { "store", subject->temp ? "a phantom's"
               : subject->target.files ? "none"
               : rd_store_name (&subject->args), RADIO_TEXT_NAME },
    { "volume", subject->target.name, RADIO_TEXT_NAME },
    { "shape", shape, RADIO_TEXT_PLAIN },
    { "dtype", rd_volume_type (info, type), RADIO_TEXT_PLAIN },
    { "tiling", rd_volume_tiling (info, tiling), RADIO_TEXT_PLAIN },
    { "tile", tile, RADIO_TEXT_PLAIN },
    { "codec", *info->codec ? info->codec : info->array.codecs,
      RADIO_TEXT_PLAIN },
    { "cache", measure->cold ? "cold" : "warm", RADIO_TEXT_PLAIN },
  };
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < sizeof list / sizeof list[0] && !failed; i++)
    failed = rd_conditions_add (c, list[i].key, list[i].value, list[i].kind);
  if (!failed && *info->pipeline)
    failed = rd_conditions_add (c, "pipeline", info->pipeline,
                                RADIO_TEXT_PLAIN);
  if (!failed && subjects->n > 1)
    failed = rd_conditions_add_u64 (c, "volumes", subjects->n);
  if (!failed)
    failed = rd_conditions_add_u64 (c, "runs", measure->nruns);
  if (!failed)
    failed = rd_conditions_add_u64 (c, "warmup", measure->nwarm);
  return failed;
}

int
rd_measure_describe_places (struct rd_measure *measure, bool are_random)
{
  struct rd_conditions *c = &measure->conditions;
  int failed = rd_conditions_add (c, "places", are_random ? "random"
                                  : "fixed", RADIO_TEXT_PLAIN);
  if (!failed && are_random)
    failed = rd_conditions_add_u64 (c, "seed", measure->seed);
  return failed;
}

/* Prints "slice of ct/a: 256 x 256 x 128 int16,
 * tiles of 32 x 32 x 8 (balanced), codec medium, warm". */
void
rd_measure_print (const struct rd_measure *measure)
{
  const struct rd_conditions *c = &measure->conditions;
  if (measure->json)
    return;
  printf ("%s of ", measure->operation);
  rd_text_print (stdout, measure->output.redact
                 ? "a volume" : rd_conditions_find (c, "volume"));
  const char *n = rd_conditions_find (c, "volumes");
  if (n)
    printf (" and others, %s in all", n);
  printf (": %s %s,\n", rd_conditions_find (c, "shape"),
          rd_conditions_find (c, "dtype"));
  if (strcmp (rd_conditions_find (c, "tiling"), "none") == 0)
    printf ("in its file");
  else
    printf ("tiles of %s (%s)", rd_conditions_find (c, "tile"),
            rd_conditions_find (c, "tiling"));
  printf (", codec %s, %s, places %s\n\n", rd_conditions_find (c, "codec"),
          rd_conditions_find (c, "cache"), rd_conditions_find (c, "places"));
}

void
rd_measure_cool (struct rd_measure *measure, const char *path)
{
  struct rd_cold cold;
  if (!measure->cold)
    return;
  rd_cold_drop (path, &cold);
  const struct rd_cold *worst = &measure->worst;
  if (cold.elsewhere || cold.refused_count > worst->refused_count
      || (cold.refused_count == worst->refused_count
          && cold.resident_nbytes >= worst->resident_nbytes))
    measure->worst = cold;
}

int
rd_measure_record (struct rd_measure *measure, struct rd_runs *runs,
                   const struct rd_operation *operation,
                   struct radio_profile **profile)
{
  struct rd_progress progress;
  size_t n = measure->nwarm + measure->nruns;
  int failed = RD_EXIT_OK;
  runs->nwarm = measure->nwarm;
  runs->n = measure->nruns;
  runs->seconds = calloc (runs->n + 1, sizeof *runs->seconds);
  runs->profiles = calloc (runs->n + 1, sizeof *runs->profiles);
  if (runs->seconds == NULL || runs->profiles == NULL)
    return rd_error_memory ();
  /* Ctrl-C ends it early. */
  rd_progress_start (&progress, NULL);
  for (size_t run = 0; run < n && !failed && !rd_interrupted (); run++) {
    rd_progress_update (&progress, operation->title, run, n);
    if (operation->prepare)
      failed = operation->prepare (operation->data, run);
    if (!failed && run < runs->nwarm)
      failed = operation->perform (operation->data, run);
    else if (!failed) {
      failed = record_run (operation, &measure->conditions, run, runs->n,
                           &runs->seconds[runs->ndone],
                           &runs->profiles[runs->ndone]);
      runs->ndone += !failed;
    }
    if (!failed && operation->finish)
      failed = operation->finish (operation->data, run);
  }
  rd_progress_clear (&progress);
  /* A run that was interrupted does not affect those before it. */
  if (rd_interrupted ())
    failed = RD_EXIT_OK;

  RD_FREE char *problem = measure->cold ? rd_cold_problem (&measure->worst)
                                        : NULL;
  if (!failed && problem) {
    rd_warn (problem);
    failed = rd_conditions_add (&measure->conditions, "cache",
                                "meant to be cold, but was not all",
                                RADIO_TEXT_PLAIN);
  }
  if (failed)
    return failed;
  if (runs->ndone == 0)
    return rd_error ("interrupted before the first run was done");
  if (runs->ndone < runs->n) {
    RD_FREE char *text = rd_format ("interrupted: %zu of %zu runs were done",
                                    runs->ndone, runs->n);
    rd_warn (text ? text : "interrupted");
  }
  if (radio_profile_join (runs->profiles, runs->ndone, RADIO_PARTS_RUNS,
                          profile) != RADIO_OK)
    return rd_error_library (NULL);
  return RD_EXIT_OK;
}

struct json_object *
rd_measure_json (const struct rd_measure *measure,
                 const struct radio_profile *profile)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *files = json_object_new_array ();
  rd_conditions_put (object, &measure->conditions, measure->output.redact);
  for (size_t i = 0; i < measure->output.nfiles; i++)
    json_object_array_add (files, rd_json_new_text (measure->output.files[i]));
  rd_json_set (object, "scopes", rd_profile_paths_json (profile));
  rd_json_set (object, "findings", rd_profile_findings_json (profile));
  rd_json_set (object, "files", files);
  return object;
}

int
rd_measure_run (struct rd_measure *measure,
                const struct rd_operation *operation, const char *name,
                uint64_t nbytes)
{
  RD_CLEAR_RUNS struct rd_runs runs = { 0 };
  RD_CLOSE_PROFILE struct radio_profile *profile = NULL;
  struct rd_timing timing = { .name = name, .nbytes = nbytes };
  int failed = rd_measure_record (measure, &runs, operation, &profile);
  if (failed)
    return failed;
  struct json_object *times = measure->json
    ? rd_json_double_list (runs.seconds, runs.ndone) : NULL;
  rd_summarize (runs.seconds, runs.ndone, &timing.seconds);
  if (measure->json) {
    struct json_object *object = rd_measure_json (measure, profile);
    rd_json_set (object, "time", rd_timing_json (&timing));
    rd_json_set (object, "times_s", times);
    rd_json_print (object);
  } else {
    failed = rd_report_timing (&timing);
    putchar ('\n');
    if (!failed)
      failed = rd_profile_print (profile, &measure->output);
  }
  int unwritten = rd_profile_output_write (&measure->output, profile,
                                           measure->json);
  return failed ? failed : unwritten;
}

void
rd_measure_clear (struct rd_measure *measure)
{
  rd_profile_output_clear (&measure->output);
  rd_conditions_clear (&measure->conditions);
  json_object_put (measure->arguments);
}
