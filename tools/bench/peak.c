/* SPDX-License-Identifier: MIT */
/* The memory that reads and ingest take. */
#include <config.h>

#include "tools/bench/apart.h"
#include "tools/bench/peak.h"
#include "tools/profile/temp.h"

/* Of what is made of an image or a phantom. */
#define MADE_PATH "bench/1"
#define INGESTED_PATH "bench/2"

/* What a process is to do. */
struct task {
  const struct rd_peaks *peaks;
  size_t row;
  const char *path;           /* of the volume that is made */
  uint64_t nbytes;            /* of the destination */
};

/*------------------------------------------------------------------------
 * In processes of their own
 *----------------------------------------------------------------------*/

static struct rd_args
args_of (const struct rd_peaks *peaks)
{
  struct rd_args args = *peaks->args;
  if (peaks->store)
    args.store = peaks->store;
  return args;
}

/* Make the image or the phantom a volume; its bytes come back. */
static int
make_volume (void *data, uint64_t *number)
{
  const struct task *task = data;
  const struct rd_peaks *peaks = task->peaks;
  struct rd_args args = args_of (peaks);
  RD_CLOSE_STORE struct radio_store *store = NULL;
  int failed = rd_store_open (&args, true, &store);
  if (failed)
    return failed;
  return rd_bench_make_volume (store, peaks->file, &peaks->options,
                               task->path, number);
}

static int
open_subject (const struct rd_peaks *peaks, struct rd_subject *subject)
{
  const struct rd_subject_options options = { 0 };
  struct rd_args args = args_of (peaks);
  return rd_subject_open (&args, peaks->volume ? peaks->volume : MADE_PATH,
                          &options, true, subject);
}

/* How long what a row reads is along x, y and z; false: it does not fit. */
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
look (void *data, uint64_t *number)
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

/* Memory that was written to, so that reading to it takes no more.  Writing
 * what nobody reads is left out by compilers, unless it is volatile. */
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
read_once (const struct task *task, const struct rd_subject *subject,
           uint64_t i, void *buffer)
{
  uint64_t random = rd_row_state (task->row, task->peaks->seed, i);
  uint64_t size[3];
  struct radio_box box;
  find_size (subject, &rd_rows[task->row], size);
  int failed = rd_subject_box (subject, size, NULL, &random, &box);
  if (failed)
    return failed;
  if (radio_volume_read (subject->target.volume, &box, RADIO_STORED, buffer,
                         (size_t) task->nbytes, NULL) == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (subject->target.name);
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
  for (uint64_t i = 0; i < task->peaks->nruns && !failed; i++)
    failed = read_once (task, &subject, i, buffer);
  *number = task->nbytes;
  return failed;
}

/*------------------------------------------------------------------------
 * One row after the other
 *----------------------------------------------------------------------*/

bool
rd_peaks_can (const struct rd_peaks *peaks, const struct rd_row *row)
{
  if (row->kind == RD_ROW_INGEST)
    return peaks->file
           && rd_is_compressed (peaks->file) == (row->which != 0);
  return row->kind == RD_ROW_FULL || row->kind == RD_ROW_PLANE
         || row->kind == RD_ROW_BOX;
}

/* An image is read as the volume that is made of it. */
static int
prepare (struct rd_peaks *peaks)
{
  struct task task = { .peaks = peaks, .path = MADE_PATH };
  struct rd_apart made;
  if (peaks->volume)
    return RD_EXIT_OK;
  int failed = rd_temp_make (peaks->args->store, &peaks->temp);
  if (failed)
    return failed;
  peaks->store = rd_format ("%s/memory.zarr", peaks->temp);
  return peaks->store ? rd_apart_run (make_volume, &task, &made)
                      : RD_EXIT_FAILED;
}

static int
measure_row (struct rd_peaks *peaks, size_t row)
{
  struct task task = { .peaks = peaks, .row = row, .path = INGESTED_PATH };
  bool reads = rd_rows[row].kind != RD_ROW_INGEST;
  struct rd_apart with, without, looked = { 0 };
  int failed = reads ? rd_apart_run (look, &task, &looked) : RD_EXIT_OK;
  if (failed || (reads && looked.number == 0))
    return failed;
  task.nbytes = looked.number;
  failed = rd_apart_run (do_nothing, &task, &without);
  if (!failed)
    failed = rd_apart_run (reads ? read_places : make_volume, &task, &with);
  if (failed)
    return failed;
  peaks->rows[row] = (struct rd_peak) {
    .measured = true,
    .nbytes = with.number,
    .peak_nbytes = with.peak_nbytes,
    .bare_nbytes = without.peak_nbytes,
  };
  return RD_EXIT_OK;
}

int
rd_peaks_measure (struct rd_peaks *peaks)
{
  int failed = prepare (peaks);
  for (size_t i = 0; i < RD_NROWS && !failed && !rd_interrupted (); i++)
    if (peaks->chosen[i])
      failed = measure_row (peaks, i);
  return rd_interrupted () ? RD_EXIT_FAILED : failed;
}

void
rd_peaks_clear (struct rd_peaks *peaks)
{
  free (peaks->store);
  rd_temp_remove (peaks->temp);
}

/* Two processes need not have the same pages of the program resident. */
uint64_t
rd_peak_beside (const struct rd_peak *peak)
{
  return peak->peak_nbytes > peak->bare_nbytes
         ? peak->peak_nbytes - peak->bare_nbytes : 0;
}
