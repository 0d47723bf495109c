/* SPDX-License-Identifier: MIT */
/* radio bench ops: measures the operations of pipelines. */
#include <config.h>

#include <string.h>

#include "tools/bench/ops-report.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/profile/output.h"

struct bench_ops {
  struct rd_ops ops;
  struct rd_limits limits;
  struct rd_conditions conditions;
  struct rd_profile_output output;
  struct radio_profile **profiles;    /* of each round; allocated */
  size_t nprofiles;
  const char *csv;
};

static bool
parse_option (struct bench_ops *bench, int id, struct rd_args *args)
{
  struct rd_ops *ops = &bench->ops;
  switch (id) {
  case RD_OPTION_OPS:
    return rd_ops_choose (args, args->value, ops);
  case RD_OPTION_SIZES:
    return rd_ops_choose_sizes (args, ops);
  case RD_OPTION_TYPES:
    return rd_ops_choose_types (args, ops);
  case RD_OPTION_THREAD_COUNTS:
    return rd_counts_parse (args, &ops->threads);
  case RD_OPTION_DESTINATION:
    return rd_destination_choose (args, &ops->destination);
  case RD_OPTION_ROUNDS:
    return rd_args_number (args, 1, 1000, &ops->nrounds);
  case RD_OPTION_RUNS:
    return rd_args_number (args, 1, 100000, &ops->nruns);
  case RD_OPTION_WARMUP:
    return rd_args_number (args, 1, 1000, &ops->nwarm);
  case RD_OPTION_CSV:
    bench->csv = args->value;
    return true;
  default:
    return rd_profile_output_take (args, id, &bench->output) >= 0;
  }
}

static bool
parse_bench (struct bench_ops *bench, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!parse_option (bench, id, args))
      return false;
  return id == 0 && rd_args_want (args, 0, 0, "");
}

/* Checks the files, and makes the volumes. */
static int
prepare (struct bench_ops *bench, const struct rd_args *args)
{
  struct rd_conditions *c = &bench->conditions;
  bench->ops.args = args;
  rd_interrupt_catch ();
  int failed = rd_profile_output_prepare (&bench->output, args, NULL);
  if (!failed && bench->csv)
    failed = rd_new_file_check (bench->csv, bench->output.overwrite);
  if (!failed)
    failed = rd_ops_open (&bench->ops);
  if (!failed)
    failed = rd_conditions_add (c, "operation", "ops", RADIO_TEXT_PLAIN);
  if (!failed)
    failed = rd_conditions_add (
      c, "destination", rd_destination_names[bench->ops.destination.kind],
      RADIO_TEXT_PLAIN);
  if (failed)
    return failed;
  bench->profiles = calloc ((size_t) bench->ops.nrounds + 1,
                            sizeof *bench->profiles);
  return bench->profiles ? RD_EXIT_OK : rd_error_memory ();
}

/* Writes the files of the recordings. */
static int
write_profile (const struct bench_ops *bench, bool quiet)
{
  RD_CLOSE_PROFILE struct radio_profile *joined = NULL;
  if (bench->output.nfiles == 0)
    return RD_EXIT_OK;
  if (bench->nprofiles == 0)
    return rd_error ("nothing was recorded: %s is not written",
                     bench->output.files[0]);
  if (radio_profile_join (bench->profiles, bench->nprofiles,
                          RADIO_PARTS_RUNS, &joined) != RADIO_OK)
    return rd_error_library (NULL);
  return rd_profile_output_write (&bench->output, joined, quiet);
}

static int
run (struct bench_ops *bench, const struct rd_args *args)
{
  int failed = prepare (bench, args);
  if (!failed)
    failed = rd_ops_measure (&bench->ops, &bench->limits, &bench->conditions,
                             bench->profiles, &bench->nprofiles);
  if (failed || rd_interrupted ())
    return RD_EXIT_FAILED;
  failed = args->json ? rd_ops_print_json (&bench->ops, &bench->limits,
                                           &bench->conditions)
                      : rd_ops_print (&bench->ops, &bench->limits);
  if (!failed && bench->csv)
    failed = rd_ops_write_csv (&bench->ops, &bench->limits, bench->csv,
                               bench->output.overwrite);
  if (!failed && bench->csv && !args->json)
    rd_output_print (bench->csv, "the figures");
  int unwritten = write_profile (bench, args->json);
  return failed ? failed : unwritten;
}

static int
run_ops (struct rd_args *args)
{
  struct bench_ops bench = { .ops = { .nrounds = 5, .nwarm = 2 } };
  int status = parse_bench (&bench, args) ? run (&bench, args)
                                          : args->status;
  for (size_t i = 0; i < bench.nprofiles; i++)
    radio_profile_close (bench.profiles[i]);
  free (bench.profiles);
  rd_ops_close (&bench.ops);
  rd_conditions_clear (&bench.conditions);
  rd_profile_output_clear (&bench.output);
  return status;
}

static const struct rd_option options[] = {
  { RD_OPTION_OPS, "ops", "LIST",
    "operations, as clamp,flip, or a pipeline, as\n"
    "'clamp -200,400 | flip x'; can be given several\n"
    "times (default: all; scale is of planes)" },
  { RD_OPTION_SIZES, "sizes", "N,N,...",
    "sizes of the volumes (default: 32,64,128,256,512)" },
  { RD_OPTION_TYPES, "types", "LIST",
    "their types, as float32,int16 (default: float32)" },
  { RD_OPTION_THREAD_COUNTS, "threads", "LIST",
    "numbers of threads, as 2 or, compared, 1,2,4\n"
    "(default: all processors)" },
  { RD_OPTION_DESTINATION, "destination", "WHICH",
    "the destination: fresh (default; malloc before each\n"
    "run), numpy (the same, huge pages from 4 MiB), reused\n"
    "(memory that was written to)" },
  { RD_OPTION_ROUNDS, "rounds", "N",
    "rounds through all operations (default: 5)" },
  { RD_OPTION_RUNS, "runs", "N",
    "runs of each in a round (default: about 20 ms)" },
  { RD_OPTION_WARMUP, "warmup", "N",
    "runs before the first round (default: 2)" },
  { RD_OPTION_CSV, "csv", "FILE", "also write the figures as CSV" },
  RD_PROFILE_OUTPUT_OPTIONS,
  { RD_OPTION_JSON, "json", NULL,
    "print all figures, and each time, as a JSON object" },
  RD_MEMORY_OPTION,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_bench_ops = {
  .name = "bench ops",
  .operands = "[OPTION]...",
  .summary = "measure the operations of pipelines",
  .description =
    "Measures each operation on generated volumes in memory, and scaling on "
    "planes of 512, 1024 and 2048 pixels squared: allocating the result, "
    "faulting in its pages, planning (the fixed cost of a read and its tiles), "
    "converting (bringing the voxels into it as values, which 'read' does "
    "alone), and operating (what the operation takes beyond that). They add up "
    "to the mean. "
    "MB/s are of the bytes of input; 'of limit' is the share of copying as "
    "much memory by as many threads, and touching it unless it is reused, "
    "measured in the same run. Statistics that an operation needs are known. "
    "The page has the rate by size, with the sizes at which caches are left.",
  .options = options,
  .examples =
    "radio bench ops\n"
    "radio bench ops --ops clamp,flip --sizes 64,256 --threads 1,2\n"
    "radio bench ops --ops 'clamp -200,400 | rescale 0,1' -o ops.html",
  .run = run_ops,
};
