/* SPDX-License-Identifier: MIT */
/* bench-memory: how much memory reads take beside their destination, and
 * ingest in all.  Each is done in a process of its own; the memory of a
 * process that has only the same destination is subtracted. */
#include <config.h>

#include "src/base/cpu-quota.h"
#include "tools/bench/apart.h"
#include "tools/bench/layout.h"
#include "tools/interrupt.h"
#include "tools/json.h"
#include "tools/profile/measure.h"
#include "tools/report.h"
#include "tools/text.h"

/* The figures of one row. */
struct peak {
  bool measured;              /* false: its box is larger than the volume */
  uint64_t nbytes;            /* of the destination, or of the image */
  uint64_t peak_nbytes;       /* resident in the process that did it */
  uint64_t bare_nbytes;       /* in the one that did nothing */
};

struct peaks {
  const struct rd_args *args;
  struct rd_subject_options options;  /* of the volumes made */
  bool chosen[RD_NROWS];
  uint64_t nruns, seed;
  const char *file;           /* the user's image; NULL: none */
  const char *volume;         /* the user's volume; NULL: one is made */

  char *temp, *store;         /* of the volumes made; allocated */
  struct peak rows[RD_NROWS];
};

/* Paths of the volumes made of an image or a phantom. */
#define MADE_PATH "bench/1"
#define INGESTED_PATH "bench/2"

/* The work of a process. */
struct task {
  const struct peaks *peaks;
  size_t row;
  const char *path;           /* of the volume that is made */
  uint64_t nbytes;            /* of the destination */
};

/*------------------------------------------------------------------------
 * In processes of their own
 *----------------------------------------------------------------------*/

static struct rd_args
args_of (const struct peaks *peaks)
{
  struct rd_args args = *peaks->args;
  if (peaks->store)
    args.store = peaks->store;
  return args;
}

/* Makes a volume of the image or the phantom; *number is its bytes. */
static int
make_volume (void *data, uint64_t *number)
{
  const struct task *task = data;
  const struct peaks *peaks = task->peaks;
  struct rd_args args = args_of (peaks);
  RD_CLOSE_STORE struct radio_store *store = NULL;
  int failed = rd_store_open (&args, true, &store);
  if (failed)
    return failed;
  return rd_bench_make_volume (store, peaks->file, &peaks->options,
                               task->path, number);
}

static int
open_subject (const struct peaks *peaks, struct rd_subject *subject)
{
  const struct rd_subject_options options = { 0 };
  struct rd_args args = args_of (peaks);
  return rd_subject_open (&args, peaks->volume ? peaks->volume : MADE_PATH,
                          &options, true, subject);
}

/* The shape that a row reads along x, y and z; false: it does not fit. */
static bool
find_size (const struct rd_subject *subject, const struct rd_row *row,
           uint64_t size[3])
{
  const struct radio_array_info *array = &subject->info.array;
  for (size_t i = 0; i < 3; i++) {
    size_t axis = subject->axis_of[i];
    uint64_t length = axis < array->rank ? array->shape[axis] : 1;
    size[i] = row->kind == RD_ROW_BOX ? row->which : length;
    if (row->kind == RD_ROW_PLANE
        && axis == subject->info.plane_axis[row->which])
      size[i] = 1;
    if (size[i] > length)
      return false;
  }
  return true;
}

/* The size of a row's destination; 0: it does not fit. */
static int
find_nbytes (void *data, uint64_t *number)
{
  const struct task *task = data;
  RD_CLOSE_SUBJECT struct rd_subject subject;
  uint64_t size[3], random = 0;
  struct radio_box box;
  int failed = open_subject (task->peaks, &subject);
  if (failed || !find_size (&subject, &rd_rows[task->row], size))
    return failed;
  failed = rd_subject_box (&subject, size, NULL, &random, &box);
  if (!failed)
    *number = rd_subject_nbytes (&subject, &box);
  return failed;
}

/* No system has smaller pages. */
#define PAGE_NBYTES 4096

/* Returns memory that was written to, so that reading into it takes no more.
 * Compilers drop writes that are not read, unless they are volatile. */
static void *
take_destination (const struct task *task)
{
  size_t nbytes = (size_t) task->nbytes + 1;
  volatile char *buffer = malloc (nbytes);
  if (buffer == NULL)
    rd_error_memory ();
  for (size_t i = 0; i < nbytes && buffer; i += PAGE_NBYTES)
    buffer[i] = 1;
  if (buffer)
    buffer[nbytes - 1] = 1;
  return (void *) buffer;
}

static int
do_nothing (void *data, uint64_t *number)
{
  RD_FREE void *buffer = take_destination (data);
  (void) number;
  return buffer ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static int
read_places (void *data, uint64_t *number)
{
  const struct task *task = data;
  RD_FREE void *buffer = take_destination (task);
  RD_CLOSE_SUBJECT struct rd_subject subject;
  int failed = open_subject (task->peaks, &subject);
  if (failed || buffer == NULL)
    return RD_EXIT_FAILED;
  for (uint64_t i = 0; i < task->peaks->nruns && !failed; i++) {
    uint64_t random = rd_row_state (task->row, task->peaks->seed, i);
    uint64_t size[3];
    struct radio_box box;
    find_size (&subject, &rd_rows[task->row], size);
    failed = rd_subject_box (&subject, size, NULL, &random, &box);
    if (!failed
        && radio_volume_read (subject.target.volume, &box, RADIO_STORED,
                              buffer, (size_t) task->nbytes, NULL)
           != RADIO_OK)
      failed = rd_error_library (subject.target.name);
  }
  *number = task->nbytes;
  return failed;
}

/*------------------------------------------------------------------------
 * One row after the other
 *----------------------------------------------------------------------*/

static int
measure_row (struct peaks *peaks, size_t row)
{
  struct task task = { .peaks = peaks, .row = row, .path = INGESTED_PATH };
  bool reads = rd_rows[row].kind != RD_ROW_INGEST;
  struct rd_apart with, without, looked = { 0 };
  int failed = reads ? rd_apart_run (find_nbytes, &task, &looked) : RD_EXIT_OK;
  if (failed || (reads && looked.number == 0))
    return failed;
  task.nbytes = looked.number;
  failed = rd_apart_run (do_nothing, &task, &without);
  if (!failed)
    failed = rd_apart_run (reads ? read_places : make_volume, &task, &with);
  if (failed)
    return failed;
  peaks->rows[row] = (struct peak) {
    .measured = true,
    .nbytes = with.number,
    .peak_nbytes = with.peak_nbytes,
    .bare_nbytes = without.peak_nbytes,
  };
  return RD_EXIT_OK;
}

/* Memory resident beside the destination.  Two processes need not have the
 * same pages of the program resident. */
static uint64_t
beside_nbytes (const struct peak *peak)
{
  return peak->peak_nbytes > peak->bare_nbytes
         ? peak->peak_nbytes - peak->bare_nbytes : 0;
}

/*------------------------------------------------------------------------
 * The program
 *----------------------------------------------------------------------*/

static const char *
name_of (const struct peaks *peaks)
{
  if (peaks->file)
    return peaks->file;
  return peaks->volume ? peaks->volume : "a phantom";
}

static void
print_json (const struct peaks *peaks)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *rows = json_object_new_array ();
  rd_json_set_text (object, "subject", name_of (peaks));
  rd_json_set_u64 (object, "threads", peaks->args->nthreads
                   ? peaks->args->nthreads : rd_count_cpus ());
  rd_json_set_u64 (object, "runs", peaks->nruns);
  rd_json_set_u64 (object, "seed", peaks->seed);
  for (size_t i = 0; i < RD_NROWS; i++)
    if (peaks->rows[i].measured) {
      const struct peak *peak = &peaks->rows[i];
      struct json_object *row = json_object_new_object ();
      rd_json_set_text (row, "row", rd_rows[i].name);
      rd_json_set_u64 (row, "nbytes", peak->nbytes);
      rd_json_set_u64 (row, "beside_nbytes", beside_nbytes (peak));
      rd_json_set_u64 (row, "peak_nbytes", peak->peak_nbytes);
      rd_json_set_u64 (row, "bare_nbytes", peak->bare_nbytes);
      json_object_array_add (rows, row);
    }
  rd_json_set (object, "rows", rows);
  rd_json_print (object);
}

static int
print_table (const struct peaks *peaks)
{
  struct rd_table table = { .ncolumns = 4, .alignment = "lrrr" };
  bool ok = rd_table_add (&table, "") && rd_table_add (&table, "bytes")
            && rd_table_add (&table, "memory beside them")
            && rd_table_add (&table, "whole process");
  for (size_t i = 0; i < RD_NROWS && ok; i++)
    if (peaks->rows[i].measured) {
      const struct peak *peak = &peaks->rows[i];
      char text[3][RD_TEXT_NBYTES];
      const char *cells[] = {
        rd_rows[i].name, rd_text_size (peak->nbytes, text[0]),
        rd_text_size (beside_nbytes (peak), text[1]),
        rd_text_size (peak->peak_nbytes, text[2])
      };
      ok = rd_table_add_row (&table, cells);
    }
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

static bool
parse_memory (struct peaks *peaks, struct rd_args *args)
{
  bool has_rows = false;
  int id;
  while ((id = rd_args_next (args)) > 0) {
    bool ok;
    switch (id) {
    case RD_OPTION_ROWS:
      has_rows = true;
      ok = rd_rows_parse (args, peaks->chosen);
      break;
    case RD_OPTION_RUNS:
      ok = rd_args_number (args, 1, 100000, &peaks->nruns);
      break;
    case RD_OPTION_SEED:
      ok = rd_args_number (args, 0, UINT64_MAX, &peaks->seed);
      break;
    default:
      ok = rd_subject_take (args, id, &peaks->options) >= 0;
    }
    if (!ok)
      return false;
  }
  if (id < 0 || !rd_args_want (args, 0, 1, "IMAGE"))
    return false;
  const char *operand = args->noperands ? args->operands[0] : NULL;
  if (operand && rd_is_bench_image (args, operand))
    peaks->file = operand;
  else
    peaks->volume = operand;
  if (operand && peaks->options.phantom) {
    rd_usage_error (args, "--phantom does not go with '%s'", operand);
    return false;
  }
  if (peaks->volume && (peaks->options.tiling || peaks->options.codec)) {
    rd_usage_error (args, "--tiling and --codec are for an image that is "
                    "ingested: '%s' is no such file", operand);
    return false;
  }
  /* By default all rows that can be measured. */
  for (size_t i = 0; i < RD_NROWS; i++) {
    enum rd_row_kind kind = rd_rows[i].kind;
    bool can = kind == RD_ROW_FULL || kind == RD_ROW_PLANE
               || kind == RD_ROW_BOX
               || (kind == RD_ROW_INGEST && peaks->file
                   && rd_is_compressed (peaks->file)
                      == (rd_rows[i].which != 0));
    if (has_rows && peaks->chosen[i] && !can) {
      rd_usage_error (args, "--rows: the memory of '%s' is not measured of "
                      "%s", rd_rows[i].name, name_of (peaks));
      return false;
    }
    if (!has_rows)
      peaks->chosen[i] = can;
  }
  return true;
}

static int
measure_memory (struct peaks *peaks)
{
  int failed = RD_EXIT_OK;
  rd_interrupt_catch ();
  /* An image is read as the volume made from it. */
  if (peaks->volume == NULL) {
    struct task task = { .peaks = peaks, .path = MADE_PATH };
    struct rd_apart made;
    failed = rd_temp_make (peaks->args->store, &peaks->temp);
    if (failed)
      return failed;
    peaks->store = rd_format ("%s/memory.zarr", peaks->temp);
    failed = peaks->store ? rd_apart_run (make_volume, &task, &made)
                          : RD_EXIT_FAILED;
  }
  for (size_t i = 0; i < RD_NROWS && !failed && !rd_interrupted (); i++)
    if (peaks->chosen[i])
      failed = measure_row (peaks, i);
  if (failed || rd_interrupted ())
    return RD_EXIT_FAILED;
  if (!peaks->args->json)
    return print_table (peaks);
  print_json (peaks);
  return RD_EXIT_OK;
}

static int
run_memory (struct rd_args *args)
{
  struct peaks peaks = {
    .args = args, .options.shape = RD_SUBJECT_SHAPE, .nruns = 8,
  };
  args->cache_nbytes = RADIO_NO_CACHE;
  int status = parse_memory (&peaks, args) ? measure_memory (&peaks)
                                           : args->status;
  free (peaks.store);
  rd_temp_remove (peaks.temp);
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
  { RD_OPTION_SEED, "seed", "N", "seed of the random places (default: 0)" },
  { RD_OPTION_PHANTOM, "phantom", "N|X,Y,Z",
    "without IMAGE: the size of the phantom (default: 256)" },
  RD_JSON_OPTION,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

static const struct rd_command bench_memory = {
  .name = "bench-memory",
  .is_program = true,
  .operands = "[IMAGE|VOLUME] [OPTION]...",
  .description =
    "Measures the peak of resident memory while parts of a volume are read, "
    "without the destination and without a cache of decoded tiles, and while "
    "IMAGE is ingested. Each is done in a process of its own, which opens the "
    "store and reads into memory that was written to before; the memory of a "
    "process that has only the destination is subtracted.",
  .options = options,
  .examples =
    "bench-memory scan.nii.gz --codec small\n"
    "bench-memory -s study.zarr ct/sub-01 --rows full,box64",
  .run = run_memory,
};

int
main (int argc, char **argv)
{
  return rd_program_main (&bench_memory, argc, argv);
}
