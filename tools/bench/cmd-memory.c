/* SPDX-License-Identifier: MIT */
/* radio bench memory: how much memory reads take beside their destination,
 * and ingest in all. */
#include <config.h>

#include "tools/bench/peak.h"
#include "tools/json.h"
#include "tools/profile/commands.h"
#include "tools/profile/measure.h"
#include "tools/profile/temp.h"
#include "tools/table.h"
#include "tools/text.h"

static const char *
name_of (const struct rd_peaks *peaks)
{
  if (peaks->file)
    return peaks->file;
  return peaks->volume ? peaks->volume : "a phantom";
}

static struct json_object *
row_json (size_t i, const struct rd_peak *peak)
{
  struct json_object *object = json_object_new_object ();
  rd_report_put_text (object, "row", rd_rows[i].name);
  rd_report_put_u64 (object, "nbytes", peak->nbytes);
  rd_report_put_u64 (object, "beside_nbytes", rd_peak_beside (peak));
  rd_report_put_u64 (object, "peak_nbytes", peak->peak_nbytes);
  rd_report_put_u64 (object, "bare_nbytes", peak->bare_nbytes);
  return object;
}

static void
print_json (const struct rd_peaks *peaks)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *rows = json_object_new_array ();
  rd_report_put_text (object, "subject", name_of (peaks));
  rd_report_put_u64 (object, "threads", peaks->args->nthreads
                     ? peaks->args->nthreads : rd_default_nthreads ());
  rd_report_put_u64 (object, "runs", peaks->nruns);
  rd_report_put_u64 (object, "seed", peaks->seed);
  for (size_t i = 0; i < RD_NROWS; i++)
    if (peaks->rows[i].measured)
      json_object_array_add (rows, row_json (i, &peaks->rows[i]));
  rd_report_put (object, "rows", rows);
  rd_report_print (object);
}

static bool
add_row (struct rd_table *table, size_t i, const struct rd_peak *peak)
{
  char text[3][RD_TEXT_NBYTES];
  return rd_table_add (table, rd_rows[i].name)
         && rd_table_add (table, rd_text_size (peak->nbytes, text[0]))
         && rd_table_add (table, rd_text_size (rd_peak_beside (peak),
                                               text[1]))
         && rd_table_add (table, rd_text_size (peak->peak_nbytes, text[2]));
}

static int
print_table (const struct rd_peaks *peaks)
{
  struct rd_table table = { .ncolumns = 4, .alignment = "lrrr" };
  bool ok = rd_table_add (&table, "") && rd_table_add (&table, "bytes")
            && rd_table_add (&table, "memory beside them")
            && rd_table_add (&table, "whole process");
  for (size_t i = 0; i < RD_NROWS && ok; i++)
    if (peaks->rows[i].measured)
      ok = add_row (&table, i, &peaks->rows[i]);
  rd_text_print (stdout, name_of (peaks));
  printf (", the most memory at one time:\n\n");
  if (ok)
    rd_table_print (&table, stdout);
  rd_table_clear (&table);
  for (size_t i = 0; i < RD_NROWS; i++)
    if (peaks->chosen[i] && !peaks->rows[i].measured)
      printf ("%s: not measured: larger than the volume\n", rd_rows[i].name);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

/* The command line. */
struct memory {
  struct rd_peaks peaks;
  bool named;                 /* rows were, by --rows */
  bool json;
};

static bool
take_option (struct memory *memory, int id, struct rd_args *args)
{
  struct rd_peaks *peaks = &memory->peaks;
  switch (id) {
  case RD_OPTION_ROWS:
    memory->named = true;
    return rd_rows_parse (args, peaks->chosen);
  case RD_OPTION_RUNS:
    return rd_take_number (args, "--runs", 1, 100000, &peaks->nruns);
  case RD_OPTION_SEED:
    return rd_take_number (args, "--seed", 0, UINT64_MAX, &peaks->seed);
  case RD_OPTION_JSON:
    return memory->json = true;
  default:
    return rd_subject_take (args, id, &peaks->options) >= 0;
  }
}

static bool
settle_operand (struct rd_peaks *peaks, struct rd_args *args)
{
  const char *operand = args->noperands ? args->operands[0] : NULL;
  if (operand && rd_is_bench_image (args, operand))
    peaks->file = operand;
  else
    peaks->volume = operand;
  if (operand && peaks->options.phantom)
    rd_usage_error (args, "--phantom does not go with '%s'", operand);
  else if (peaks->volume && (peaks->options.tiling || peaks->options.codec))
    rd_usage_error (args, "--tiling and --codec are for an image that is "
                    "ingested: '%s' is no such file", operand);
  else
    return true;
  return false;
}

/* By default all that can be measured. */
static bool
settle_rows (struct memory *memory, struct rd_args *args)
{
  struct rd_peaks *peaks = &memory->peaks;
  for (size_t i = 0; i < RD_NROWS; i++) {
    bool can = rd_peaks_can (peaks, &rd_rows[i]);
    if (memory->named && peaks->chosen[i] && !can) {
      rd_usage_error (args, "--rows: the memory of '%s' is not measured of "
                      "%s", rd_rows[i].name, name_of (peaks));
      return false;
    }
    if (!memory->named)
      peaks->chosen[i] = can;
  }
  return true;
}

static bool
parse (struct memory *memory, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!take_option (memory, id, args))
      return false;
  return id == 0 && rd_args_want (args, 0, 1, "IMAGE")
         && settle_operand (&memory->peaks, args)
         && settle_rows (memory, args);
}

static int
measure (struct memory *memory)
{
  rd_interrupt_catch ();
  int failed = rd_peaks_measure (&memory->peaks);
  if (failed)
    return failed;
  if (!memory->json)
    return print_table (&memory->peaks);
  print_json (&memory->peaks);
  return RD_EXIT_OK;
}

static int
run_memory (struct rd_args *args)
{
  struct memory memory = {
    .peaks = { .args = args, .options.shape = RD_SUBJECT_SHAPE, .nruns = 8 },
  };
  args->cache_nbytes = RADIO_NO_CACHE;
  int status = parse (&memory, args) ? measure (&memory) : args->status;
  rd_peaks_clear (&memory.peaks);
  rd_interrupt_die ();
  return status;
}

static const struct rd_option options[] = {
  { 's', "store", "STORE",
    "the store of VOLUME; with an IMAGE: the temporary\n"
    "store is made beside it" },
  { RD_OPTION_TILING, "tiling", "TILING", "to ingest IMAGE with" },
  { RD_OPTION_CODEC, "codec", "CODEC", "to ingest it with" },
  { RD_OPTION_ROWS, "rows", "LIST",
    "what to measure, as full,box64 (default: the whole,\n"
    "planes, boxes, and ingest of IMAGE)" },
  { RD_OPTION_RUNS, "runs", "N", "reads of a row (default: 8)" },
  { RD_OPTION_SEED, "seed", "N", "other random places (default: 0)" },
  { RD_OPTION_PHANTOM, "phantom", "N|X,Y,Z",
    "without IMAGE: the size of the phantom (default: 256)" },
  { RD_OPTION_JSON, "json", NULL, "print a JSON object" },
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_bench_memory = {
  .name = "bench memory",
  .operands = "[IMAGE|VOLUME] [OPTION]...",
  .summary = "how much memory reads and ingest take",
  .description =
    "Measures the most memory that is resident while parts of a volume are "
    "read, beside the destination and without a cache of decoded tiles, and "
    "while IMAGE is ingested. Each is done in a process of its own, which "
    "opens the store and reads into memory that was written to before; what "
    "a process needs that only has this memory is taken off.",
  .options = options,
  .examples =
    "radio bench memory scan.nii.gz --codec small\n"
    "radio bench memory -s study.zarr ct/sub-01 --rows full,box64",
  .run = run_memory,
};
