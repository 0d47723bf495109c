/* SPDX-License-Identifier: MIT */
/* radio bench: how fast reading and writing are on this machine. */
#include <config.h>

#include <string.h>

#include "tools/bench/report.h"
#include "tools/commands.h"
#include "tools/profile/commands.h"
#include "tools/profile/measure.h"
#include "tools/profile/temp.h"

static const struct rd_command *const subs[] = {
  &rd_bench_compare,
  &rd_bench_memory,
  &rd_bench_profiler,
  NULL
};

static bool
take_destination (struct rd_bench *bench, struct rd_args *args)
{
  int kind = rd_args_choose (args, "--destination", rd_destination_names);
  if (kind >= 0)
    bench->destination.kind = (enum rd_destination_kind) kind;
  return kind >= 0;
}

static bool
take_phantom (struct rd_bench *bench, struct rd_args *args)
{
  struct rd_subject_options options = { 0 };
  if (rd_subject_take (args, RD_OPTION_PHANTOM, &options) < 0)
    return false;
  memcpy (bench->shape, options.shape, sizeof bench->shape);
  return bench->phantom = true;
}

static bool
take_option (struct rd_bench *bench, int id, struct rd_args *args)
{
  switch (id) {
  case RD_OPTION_ROWS:
    return rd_rows_parse (args, bench->chosen);
  case RD_OPTION_TILING:
    return rd_words_add (args, "--tiling", &bench->tilings);
  case RD_OPTION_CODEC:
    return rd_words_add (args, "--codec", &bench->codecs);
  case RD_OPTION_THREAD_COUNTS:
    return rd_counts_add (args, "--threads", &bench->threads);
  case RD_OPTION_DESTINATION:
    return take_destination (bench, args);
  case RD_OPTION_ROUNDS:
    return rd_take_number (args, "--rounds", 1, 1000, &bench->nrounds);
  case RD_OPTION_RUNS:
    return rd_take_number (args, "--runs", 1, 100000, &bench->nruns);
  case RD_OPTION_WARMUP:
    return rd_take_number (args, "--warmup", 1, 1000, &bench->nwarm);
  case RD_OPTION_SEED:
    return rd_take_number (args, "--seed", 0, UINT64_MAX, &bench->seed);
  case RD_OPTION_JSON:
    return bench->json = true;
  default:
    return id != RD_OPTION_PHANTOM || take_phantom (bench, args);
  }
}

static bool
settle_operands (struct rd_bench *bench, struct rd_args *args)
{
  const char *first = args->noperands ? args->operands[0] : NULL;
  if (first == NULL)
    return bench->phantom = true;
  for (size_t i = 0; i < args->noperands && args->noperands > 1; i++)
    if (rd_is_bench_image (args, args->operands[i])) {
      rd_usage_error (args, "'%s' is an image, which is measured alone: "
                      "only volumes are compared", args->operands[i]);
      return false;
    }
  if (bench->phantom)
    rd_usage_error (args, "--phantom does not go with '%s'", first);
  else if (rd_is_bench_image (args, first))
    bench->file = first;
  else if (bench->tilings.n || bench->codecs.n)
    rd_usage_error (args, "--tiling and --codec are for an image that is "
                    "ingested: '%s' is no such file", first);
  else {
    bench->volumes = args->operands;
    bench->nvolumes = args->noperands;
  }
  return bench->file || bench->nvolumes;
}

static bool
parse (struct rd_bench *bench, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!take_option (bench, id, args))
      return false;
  return id == 0 && settle_operands (bench, args);
}

static int
measure (struct rd_bench *bench)
{
  struct rd_limits limits = { 0 };
  rd_interrupt_catch ();
  int failed = rd_layouts_open (bench);
  if (!failed)
    failed = rd_bench_measure (bench, &limits);
  if (failed || rd_interrupted ())
    return RD_EXIT_FAILED;
  if (!bench->json)
    return rd_bench_print (bench, &limits);
  rd_bench_print_json (bench, &limits);
  return RD_EXIT_OK;
}

static int
run_bench (struct rd_args *args)
{
  const struct rd_command *sub = rd_find_sub_command (subs, args->argc,
                                                      args->argv);
  if (sub)
    return rd_run_sub_command (sub, args);
  struct rd_bench bench = {
    .args = args,
    .nrounds = 7,
    .nwarm = 2,
    .shape = RD_SUBJECT_SHAPE,
  };
  memset (bench.chosen, true, sizeof bench.chosen);
  /* The same places are read again and again: that they are decoded each
   * time is what is measured.  Scrolling alone is with the cache. */
  args->cache_nbytes = RADIO_NO_CACHE;
  int status = parse (&bench, args) ? measure (&bench) : args->status;
  rd_layouts_close (&bench);
  rd_words_clear (&bench.tilings);
  rd_words_clear (&bench.codecs);
  rd_interrupt_die ();
  return status;
}

static const struct rd_option options[] = {
  { 's', "store", "STORE",
    "the store of VOLUME; with an IMAGE: the temporary\n"
    "stores are made beside it" },
  { RD_OPTION_TILING, "tiling", "LIST",
    "tilings to ingest IMAGE with, as balanced,axial" },
  { RD_OPTION_CODEC, "codec", "LIST",
    "codecs to ingest it with, as small,medium,fast" },
  { RD_OPTION_ROWS, "rows", "LIST",
    "what to measure, as full,axial,box64 (default: all)" },
  { RD_OPTION_DESTINATION, "destination", "WHICH",
    "where to read to: fresh (default; malloc before each\n"
    "read), numpy (the same, huge pages from 4 MiB on),\n"
    "reused (memory that was written to)" },
  { RD_OPTION_ROUNDS, "rounds", "N",
    "how often to go through everything (default: 7)" },
  { RD_OPTION_RUNS, "runs", "N",
    "runs of a row in each round (default: some 0.1 s)" },
  { RD_OPTION_WARMUP, "warmup", "N",
    "runs before the first round (default: 2)" },
  { RD_OPTION_SEED, "seed", "N", "other random places (default: 0)" },
  { RD_OPTION_PHANTOM, "phantom", "N|X,Y,Z",
    "without IMAGE: the size of the phantom (default: 256)" },
  { RD_OPTION_JSON, "json", NULL,
    "print everything, also each time, as a JSON object" },
  { RD_OPTION_THREAD_COUNTS, "threads", "LIST",
    "threads to work with, as 2 or, compared, 1,2,4\n"
    "(default: all processors)" },
  RD_MEMORY_OPTION,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_bench = {
  .name = "bench",
  .operands = "[IMAGE|VOLUME...|WHAT] [OPTION]...",
  .summary = "measure how fast reads and writes are",
  .description =
    "Measures reading (whole volumes, planes, boxes at random places, "
    "scrolling, opening), ingest and export on this machine: an image (.nii, "
    ".nii.gz) in one or several layouts, volumes of a store, or without "
    "either a phantom. MB/s are of bytes delivered; 'decoded' is how much "
    "more was decoded; 'of limit' is the share of what the processors and "
    "the memory can do, which is measured beside it, or of ingest-gz the "
    "share of a bare inflate; 'speed-up' is how many times faster than the "
    "first layout, by the same round's times.",
  .options = options,
  .subs = subs,
  .examples =
    "radio bench scan.nii.gz --tiling balanced,axial --codec small,fast\n"
    "radio bench -s study.zarr ct/sub-01 --rows full,ingest-nii --threads 1,2\n"
    "radio bench compare old.json new.json",
  .run = run_bench,
};
