/* SPDX-License-Identifier: MIT */
/* radio profile op: profiles an operation of pipelines, or all, on a generated
 * volume, with the limits of the machine as facts. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/bench/ops.h"
#include "tools/profile/against.h"
#include "tools/text.h"

/* The best of this number of measurements is the machine's limit. */
#define NLIMITS 3

struct profile_op {
  struct rd_ops ops;
  struct rd_limits limits;
  struct rd_measure measure;
  const char *name;           /* "clamp", a pipeline or "all" */
};

static bool
parse_op (struct profile_op *op, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0) {
    int taken = rd_measure_take (args, id, &op->measure);
    bool ok = true;
    switch (id) {
    case RD_OPTION_SIZE:
      op->ops.nsizes = 0;
      ok = rd_ops_choose_sizes (args, &op->ops);
      break;
    case RD_OPTION_TYPES:
      op->ops.ndtypes = 0;
      ok = rd_ops_choose_types (args, &op->ops);
      break;
    case RD_OPTION_DESTINATION:
      ok = rd_destination_choose (args, &op->ops.destination);
      break;
    }
    if (taken < 0 || !ok)
      return false;
  }
  if (id < 0 || !rd_args_want (args, 1, 1, "NAME")
      || !rd_against_check (&op->measure, args))
    return false;
  op->name = args->operands[0];
  return strcmp (op->name, "all") == 0
         || rd_ops_choose (args, op->name, &op->ops);
}

static int
perform (void *data, size_t run)
{
  struct profile_op *op = data;
  (void) run;
  return rd_ops_run_all (&op->ops);
}

/* Adds the conditions that figures depend on. */
static int
describe (struct profile_op *op)
{
  struct rd_conditions *c = &op->measure.conditions;
  const struct rd_op_source *source = op->ops.sources;
  char size[80];
  const char *const list[][2] = {
    { "operation", "ops" },
    { "pipeline", op->name },
    { "volume", rd_op_source_text (source, size) },
    { "destination", rd_destination_names[op->ops.destination.kind] },
    { "cache", "warm" },
  };
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < sizeof list / sizeof *list && !failed; i++)
    failed = rd_conditions_add (c, list[i][0], list[i][1], RADIO_TEXT_PLAIN);
  if (!failed)
    failed = rd_conditions_add_u64 (c, "threads", source->nthreads);
  if (!failed)
    failed = rd_conditions_add_u64 (c, "runs", op->measure.nruns);
  if (!failed)
    failed = rd_conditions_add_u64 (c, "warmup", op->measure.nwarm);
  for (int i = 0; i < NLIMITS && !failed; i++)
    failed = rd_ops_measure_limits (&op->ops, &op->limits, c);
  return failed;
}

static int
measure_op (struct profile_op *op, const struct rd_args *args)
{
  struct rd_measure *measure = &op->measure;
  uint64_t nbytes = 0;
  op->ops.args = args;
  if (args->nthreads > 0) {
    op->ops.threads.at[0] = args->nthreads;
    op->ops.threads.n = 1;
  }
  int failed = rd_measure_begin (measure, args);
  if (!failed && measure->against)
    return rd_against_run (measure, args);
  if (!failed)
    failed = rd_ops_open (&op->ops);
  if (failed)
    return failed;
  for (size_t i = 0; i < op->ops.ncases; i++) {
    const struct rd_op_case *one = &op->ops.cases[i];
    if (one->skipped)
      return rd_error ("%s: %s", one->name, one->skipped);
    nbytes += one->source->nbytes;
  }
  failed = describe (op);
  if (!failed)
    failed = rd_against_describe (measure, args);
  if (failed)
    return failed;
  if (!measure->json)
    printf ("%s of a volume of %s, %s thread%s, into %s memory\n\n", op->name,
            rd_conditions_find (&measure->conditions, "volume"),
            rd_conditions_find (&measure->conditions, "threads"),
            rd_plural (op->ops.sources->nthreads),
            rd_conditions_find (&measure->conditions, "destination"));
  RD_FREE char *title = rd_format ("op: %s", op->name);
  RD_FREE char *row = rd_format ("read and %s", op->name);
  const struct rd_operation operation = {
    .title = title, .perform = perform, .data = op,
  };
  return title && row ? rd_measure_run (measure, &operation, row, nbytes)
             : RD_EXIT_FAILED;
}

static int
run_op (struct rd_args *args)
{
  struct profile_op op = {
    .measure = { .operation = "op", .nruns = 20, .nwarm = SIZE_MAX,
                 .fail_percent = -1 },
    .ops = { .sizes = { 256 }, .nsizes = 1, .only_volumes = true },
  };
  int status = parse_op (&op, args) ? measure_op (&op, args) : args->status;
  rd_ops_close (&op.ops);
  rd_measure_clear (&op.measure);
  return status;
}

static const struct rd_option options[] = {
  { RD_OPTION_SIZE, "size", "N",
    "the volume's voxels along x, y and z (default: 256)" },
  { RD_OPTION_TYPES, "types", "TYPE", "its type (default: float32)" },
  { RD_OPTION_DESTINATION, "destination", "WHICH",
    "the destination: fresh (default), numpy or reused, as\n"
    "in 'radio bench ops'" },
  { RD_OPTION_RUNS, "runs", "N", "measured runs (default: 20)" },
  { RD_OPTION_WARMUP, "warmup", "N",
    "runs before that are not measured (default: 1)" },
  RD_AGAINST_OPTIONS,
  RD_PROFILE_OUTPUT_OPTIONS,
  RD_JSON_FIGURES_OPTION,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_op = {
  .name = "profile op",
  .operands = "NAME|PIPELINE|all [OPTION]...",
  .summary = "profile an operation of pipelines",
  .description =
    "Profiles an operation ('radio bench ops' lists them), a pipeline, or all "
    "operations one after the other, on a generated volume in memory; before "
    "it in each run the volume is read without one. Each run allocates memory, "
    "touches its pages, reads with the operation into it, and releases it. "
    "What the machine can do at most (memory, arithmetic) and its caches are "
    "measured before, and are facts of the recording, so that the page can say "
    "what bounds the operation.",
  .options = options,
  .examples =
    "radio profile op znorm --size 256 --runs 50\n"
    "radio profile op 'clamp -200,400 | rescale 0,1' --threads 1\n"
    "radio profile op all --size 128 -o ops.html",
  .run = run_op,
};
