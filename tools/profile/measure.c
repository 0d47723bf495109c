/* SPDX-License-Identifier: MIT */
/* What all measurements have in common. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/profile/measure.h"
#include "tools/profile/temp.h"
#include "tools/text.h"

bool
rd_take_number (struct rd_args *args, const char *option, uint64_t least,
                uint64_t most, uint64_t *number)
{
  uint64_t value;
  if (rd_parse_u64 (args->value, &value) && value >= least && value <= most) {
    *number = value;
    return true;
  }
  rd_usage_error (args, "%s: '%s' is not a number from %" PRIu64 " to %"
                  PRIu64, option, args->value, least, most);
  return false;
}

int
rd_measure_take (struct rd_args *args, int id, struct rd_measure *measure)
{
  uint64_t n = 0;
  bool ok = true;
  switch (id) {
  case RD_OPTION_RUNS:
    ok = rd_take_number (args, "--runs", 1, 100000, &n);
    measure->nruns = n;
    break;
  case RD_OPTION_WARMUP:
    ok = rd_take_number (args, "--warmup", 0, 100000, &n);
    measure->nwarm = n;
    break;
  case RD_OPTION_SEED:
    ok = rd_take_number (args, "--seed", 0, UINT64_MAX, &measure->seed);
    break;
  case RD_OPTION_COLD:
    measure->cold = true;
    break;
  case RD_OPTION_JSON:
    measure->json = true;
    break;
  default:
    return rd_profile_output_take (args, id, &measure->output);
  }
  return ok ? 1 : -1;
}

int
rd_measure_begin (struct rd_measure *measure)
{
  if (measure->nwarm == SIZE_MAX)
    measure->nwarm = measure->cold ? 0 : 1;
  measure->random = measure->seed;
  rd_interrupt_catch ();
  return rd_profile_output_settle (&measure->output, measure->operation);
}

static int
describe_volume (struct rd_conditions *c, const struct rd_subject *subject)
{
  const struct radio_volume_info *info = &subject->info;
  char type[32], tiling[RD_TILING_NBYTES];
  RD_FREE char *shape = rd_subject_shape_text (subject, info->array.shape);
  RD_FREE char *tile = rd_subject_shape_text (subject,
                                              info->array.tile_shape);
  if (shape == NULL || tile == NULL)
    return RD_EXIT_FAILED;
  const char *path = subject->target.name;
  int failed = rd_conditions_add (c, "volume", path, RADIO_TEXT_NAME);
  if (!failed)
    failed = rd_conditions_add (c, "shape", shape, RADIO_TEXT_PLAIN);
  if (!failed)
    failed = rd_conditions_add (c, "dtype", rd_volume_type (info, type),
                                RADIO_TEXT_PLAIN);
  if (!failed)
    failed = rd_conditions_add (c, "tiling", rd_volume_tiling (info, tiling),
                                RADIO_TEXT_PLAIN);
  if (!failed)
    failed = rd_conditions_add (c, "tile", tile, RADIO_TEXT_PLAIN);
  if (!failed)
    failed = rd_conditions_add (c, "codec", *info->codec ? info->codec
                                : info->array.codecs, RADIO_TEXT_PLAIN);
  return failed;
}

int
rd_measure_describe (struct rd_measure *measure,
                     const struct rd_subject *subject)
{
  struct rd_conditions *c = &measure->conditions;
  int failed = rd_conditions_add (c, "operation", measure->operation,
                                  RADIO_TEXT_PLAIN);
  if (!failed && subject)
    failed = rd_conditions_add (c, "store", subject->temp ? "a phantom's"
                                : rd_store_name (&subject->args),
                                RADIO_TEXT_NAME);
  if (!failed && subject)
    failed = describe_volume (c, subject);
  if (!failed)
    failed = rd_conditions_add (c, "cache", measure->cold ? "cold" : "warm",
                                RADIO_TEXT_PLAIN);
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

/* "slice of ct/a: 256 x 256 x 128 int16, tiles of 32 x 32 x 8 (balanced),
 * codec medium, warm". */
void
rd_measure_tell (const struct rd_measure *measure)
{
  const struct rd_conditions *c = &measure->conditions;
  if (measure->json)
    return;
  printf ("%s of ", measure->operation);
  rd_text_print (stdout, measure->output.redact
                 ? "a volume" : rd_conditions_find (c, "volume"));
  printf (": %s %s,\ntiles of %s (%s), codec %s, %s, places %s\n\n",
          rd_conditions_find (c, "shape"), rd_conditions_find (c, "dtype"),
          rd_conditions_find (c, "tile"), rd_conditions_find (c, "tiling"),
          rd_conditions_find (c, "codec"), rd_conditions_find (c, "cache"),
          rd_conditions_find (c, "places"));
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

/* The page shall say what was cold when it was not. */
static int
judge_cold (struct rd_measure *measure)
{
  if (!measure->cold)
    return RD_EXIT_OK;
  RD_FREE char *problem = rd_cold_problem (&measure->worst);
  if (problem == NULL)
    return RD_EXIT_OK;
  rd_warn (problem);
  return rd_conditions_add (&measure->conditions, "cache",
                            "meant to be cold, but was not all",
                            RADIO_TEXT_PLAIN);
}

int
rd_measure_record (struct rd_measure *measure, struct rd_runs *runs,
                   const struct rd_operation *operation,
                   struct radio_profile **profile)
{
  runs->nwarm = measure->nwarm;
  runs->n = measure->nruns;
  int failed = rd_runs_measure (runs, operation);
  if (!failed)
    failed = judge_cold (measure);
  if (failed)
    return failed;
  if (runs->ndone == 0)
    return rd_error ("interrupted before the first run was done");
  if (runs->ndone < runs->n) {
    RD_FREE char *text = rd_format ("interrupted: %zu of %zu runs were done",
                                    runs->ndone, runs->n);
    rd_warn (text ? text : "interrupted");
  }
  return rd_runs_join (runs, profile);
}

struct json_object *
rd_measure_json (const struct rd_measure *measure,
                 const struct radio_profile *profile)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *files = json_object_new_array ();
  rd_conditions_put (object, &measure->conditions, measure->output.redact);
  for (size_t i = 0; i < measure->output.nfiles; i++)
    json_object_array_add (files, rd_report_text (measure->output.files[i]));
  rd_report_put (object, "scopes", rd_profile_paths_json (profile));
  rd_report_put (object, "findings", rd_profile_findings_json (profile));
  rd_report_put (object, "files", files);
  return object;
}

static struct json_object *
times_json (const struct rd_runs *runs)
{
  return rd_report_double_list (runs->seconds, runs->ndone);
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
  struct json_object *times = measure->json ? times_json (&runs) : NULL;
  rd_summarize (runs.seconds, runs.ndone, &timing.seconds);
  if (measure->json) {
    struct json_object *object = rd_measure_json (measure, profile);
    rd_report_put (object, "time", rd_timing_json (&timing));
    rd_report_put (object, "times_s", times);
    rd_report_print (object);
  } else {
    failed = rd_report_timings (&timing, 1);
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
}
