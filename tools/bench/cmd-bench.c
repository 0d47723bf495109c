/* SPDX-License-Identifier: MIT */
/* radio bench: measures how fast reads and writes are on this machine. */
#include <config.h>

#include <string.h>

#include "tools/bench/report.h"
#include "tools/bench/run.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/profile/measure.h"

static const struct rd_command *const subs[] = {
  &rd_bench_compare,
  &rd_bench_ops,
  NULL
};

static bool
parse_bench_option (struct rd_bench *bench, int id, struct rd_args *args)
{
  struct rd_subject_options options = { 0 };
  switch (id) {
  case RD_OPTION_ROWS:
    return rd_rows_parse (args, bench->chosen);
  case RD_OPTION_TILING:
    return rd_list_add (args, &bench->tilings);
  case RD_OPTION_CODEC:
    return rd_list_add (args, &bench->codecs);
  case RD_OPTION_THREAD_COUNTS:
    return rd_counts_parse (args, &bench->threads);
  case RD_OPTION_DESTINATION:
    return rd_destination_choose (args, &bench->destination);
  case RD_OPTION_ROUNDS:
    return rd_args_number (args, 1, 1000, &bench->nrounds);
  case RD_OPTION_RUNS:
    return rd_args_number (args, 1, 100000, &bench->nruns);
  case RD_OPTION_WARMUP:
    return rd_args_number (args, 1, 1000, &bench->nwarm);
  case RD_OPTION_SEED:
    return rd_args_number (args, 0, UINT64_MAX, &bench->seed);
  case RD_OPTION_PHANTOM:
    if (rd_subject_take (args, id, &options) < 0)
      return false;
    memcpy (bench->shape, options.shape, sizeof bench->shape);
    return bench->phantom = true;
  default:
    return true;
  }
}

static bool
parse_operands (struct rd_bench *bench, struct rd_args *args)
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

static int
run_bench (struct rd_args *args)
{
  if (rd_run_sub_command (args, true))
    return args->status;
  struct rd_bench bench = {
    .args = args,
    .nrounds = 7,
    .nwarm = 2,
    .shape = RD_SUBJECT_SHAPE,
  };
  struct rd_limits limits = { 0 };
  int id, status = RD_EXIT_OK;
  memset (bench.chosen, true, sizeof bench.chosen);
  /* The same places are read repeatedly, and must be decoded each time.  Only
   * scrolling uses the cache. */
  args->cache_nbytes = RADIO_NO_CACHE;
  while ((id = rd_args_next (args)) > 0)
    if (!parse_bench_option (&bench, id, args))
      break;
  if (id != 0 || !parse_operands (&bench, args))
    status = args->status;
  else {
    rd_interrupt_catch ();
    status = rd_layouts_open (&bench);
    if (!status)
      status = rd_bench_measure (&bench, &limits);
    if (status || rd_interrupted ())
      status = RD_EXIT_FAILED;
    else if (args->json)
      rd_bench_print_json (&bench, &limits);
    else
      status = rd_bench_print (&bench, &limits);
  }
  rd_layouts_close (&bench);
  rd_list_clear (&bench.tilings);
  rd_list_clear (&bench.codecs);
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
    "the destination of reads: fresh (default; malloc\n"
    "before each read), numpy (the same, huge pages from\n"
    "4 MiB), reused (memory that was written to)" },
  { RD_OPTION_ROUNDS, "rounds", "N",
    "rounds through all rows (default: 7)" },
  { RD_OPTION_RUNS, "runs", "N",
    "runs of a row in each round (default: about 0.1 s)" },
  { RD_OPTION_WARMUP, "warmup", "N",
    "runs before the first round (default: 2)" },
  { RD_OPTION_SEED, "seed", "N", "seed of the random places (default: 0)" },
  { RD_OPTION_PHANTOM, "phantom", "N|X,Y,Z",
    "without IMAGE: the size of the phantom (default: 256)" },
  RD_APPLY_OPTION,
  { RD_OPTION_JSON, "json", NULL,
    "print all figures, and each time, as a JSON object" },
  { RD_OPTION_THREAD_COUNTS, "threads", "LIST",
    "numbers of threads, as 2 or, compared, 1,2,4\n"
    "(default: all processors)" },
  RD_MEMORY_OPTION,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_bench = {
  .name = "bench",
  .operands = "[IMAGE|VOLUME...] [OPTION]...  or  compare OLD NEW",
  .summary = "measure how fast reads and writes are",
  .description =
    "Measures reading (whole volumes, planes, boxes at random places, "
    "scrolling, opening), ingest and export on this machine: an image (.nii, "
    ".nii.gz) in one or several layouts, volumes of a store, or without "
    "either a phantom. MB/s are of bytes delivered; 'decoded' is the ratio of "
    "bytes decoded to bytes delivered; 'of limit' is the share of the limit "
    "of processors and memory, which is measured in the same run, or for "
    "ingest-gz the share of a bare inflate; 'speed-up' is relative to the "
    "first layout, by the times of the same round.",
  .options = options,
  .subs = subs,
  .examples =
    "radio bench scan.nii.gz --tiling balanced,axial --codec small,fast\n"
    "radio bench -s study.zarr ct/sub-01 --rows full,ingest-nii --threads 1,2\n"
    "radio bench compare old.json new.json",
  .run = run_bench,
};
