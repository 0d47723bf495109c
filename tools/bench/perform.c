/* SPDX-License-Identifier: MIT */
/* One run of a row of the benchmark. */
#include <config.h>

#include <string.h>
#include <unistd.h>

#include "tools/bench/perform.h"
#include "tools/facts.h"
#include "tools/profile/cold.h"
#include "tools/profile/samples.h"
#include "tools/progress.h"

struct run {
  struct rd_bench *bench;
  struct rd_layout *layout;
  const struct rd_row *row;
  uint64_t random;            /* decides its places */
};

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

static int
read_box (const struct run *run, struct radio_volume *volume,
          const struct radio_box *box, uint64_t nbytes)
{
  struct rd_destination *destination = &run->bench->destination;
  void *buffer = rd_destination_take (destination, (size_t) nbytes);
  if (buffer == NULL)
    return RD_EXIT_FAILED;
  enum radio_status status = radio_volume_read (volume, box, RADIO_STORED,
                                                buffer, (size_t) nbytes,
                                                NULL);
  rd_destination_return (destination, buffer);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (run->layout->subject.target.name);
}

static void
whole_box (const struct radio_array_info *info, struct radio_box *box)
{
  memset (box, 0, sizeof *box);
  box->rank = info->rank;
  memcpy (box->size, info->shape, sizeof info->shape);
}

static int
do_full (const struct run *run, struct rd_outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  struct radio_box box;
  whole_box (&subject->info.array, &box);
  double start = rd_clock_s ();
  int failed = read_box (run, subject->target.volume, &box,
                         run->layout->raw_nbytes);
  outcome->seconds = rd_clock_s () - start;
  outcome->nbytes = run->layout->raw_nbytes;
  return failed;
}

static int
do_box (struct run *run, struct rd_outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  uint64_t edge = run->row->which;
  const uint64_t size[3] = { edge, edge, edge };
  struct radio_box box;
  int failed = rd_subject_box (subject, size, NULL, &run->random, &box);
  outcome->nbytes = rd_subject_nbytes (subject, &box);
  double start = rd_clock_s ();
  if (!failed)
    failed = read_box (run, subject->target.volume, &box, outcome->nbytes);
  outcome->seconds = rd_clock_s () - start;
  return failed;
}

/* A plane has its axis, its size in bytes, and how many there are. */
static uint64_t
plane_count (const struct rd_subject *subject, enum radio_plane plane)
{
  return subject->info.array.shape[subject->info.plane_axis[plane]];
}

static uint64_t
plane_nbytes (const struct rd_subject *subject, enum radio_plane plane)
{
  uint64_t shape[2];
  radio_volume_plane_shape (subject->target.volume, plane, shape);
  return shape[0] * shape[1] * subject->info.array.item_nbytes;
}

static int
read_plane (const struct run *run, struct radio_volume *volume,
            uint64_t index, uint64_t nbytes)
{
  struct rd_destination *destination = &run->bench->destination;
  void *buffer = rd_destination_take (destination, (size_t) nbytes);
  if (buffer == NULL)
    return RD_EXIT_FAILED;
  enum radio_status status = radio_volume_read_plane (
    volume, (enum radio_plane) run->row->which, index, RADIO_STORED, buffer,
    (size_t) nbytes, NULL);
  rd_destination_return (destination, buffer);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (run->layout->subject.target.name);
}

/* So many planes from a random one on, one after the other. */
static int
read_planes (struct run *run, struct radio_volume *volume, uint64_t n,
             struct rd_outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  enum radio_plane plane = (enum radio_plane) run->row->which;
  uint64_t count = plane_count (subject, plane);
  uint64_t nbytes = plane_nbytes (subject, plane);
  if (n > count)
    n = count;
  uint64_t first = rd_random_below (&run->random, count - n + 1);
  int failed = RD_EXIT_OK;
  double start = rd_clock_s ();
  for (uint64_t i = 0; i < n && !failed; i++)
    failed = read_plane (run, volume, first + i, nbytes);
  outcome->seconds = (rd_clock_s () - start) / (double) n;
  outcome->nbytes = nbytes;
  return failed;
}

/* Opened anew with the library's own cache, so that what is kept of tiles
 * between two planes counts, and what earlier runs left does not. */
static int
do_scroll (struct run *run, struct rd_outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  struct rd_args args = subject->args;
  struct rd_target target;
  args.cache_nbytes = 0;
  int failed = rd_target_open (&args, subject->target.name, false, &target);
  if (!failed)
    failed = read_planes (run, target.volume, RD_SCROLL_NPLANES, outcome);
  rd_target_close (&target);
  return failed;
}

/* Open one of the collection's volumes and read all of it. */
static int
do_loader (struct run *run, struct rd_outcome *outcome)
{
  const struct rd_layout *layout = run->layout;
  uint64_t i = rd_random_below (&run->random, layout->npaths);
  struct radio_volume *volume = NULL;
  struct radio_volume_info info;
  struct radio_box box;
  double start = rd_clock_s ();
  if (radio_volume_open (layout->subject.target.store, layout->paths[i],
                         &volume) != RADIO_OK)
    return rd_error_library (layout->paths[i]);
  radio_volume_info (volume, &info);
  whole_box (&info.array, &box);
  outcome->nbytes = rd_raw_nbytes (&info.array);
  int failed = read_box (run, volume, &box, outcome->nbytes);
  radio_volume_close (volume);
  outcome->seconds = rd_clock_s () - start;
  return failed;
}

/*------------------------------------------------------------------------
 * Opening
 *----------------------------------------------------------------------*/

static int
do_open (struct run *run, struct rd_outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  struct radio_volume *volume = NULL;
  bool reads = run->row->kind == RD_ROW_FIRST;
  enum radio_plane plane = (enum radio_plane) run->row->which;
  uint64_t nbytes = plane_nbytes (subject, plane);
  uint64_t index = rd_random_below (&run->random,
                                    plane_count (subject, plane));
  int failed = RD_EXIT_OK;
  double start = rd_clock_s ();
  if (radio_volume_open (subject->target.store, subject->target.path,
                         &volume) != RADIO_OK)
    return rd_error_library (subject->target.name);
  if (reads)
    failed = read_plane (run, volume, index, nbytes);
  radio_volume_close (volume);
  outcome->seconds = rd_clock_s () - start;
  outcome->nbytes = reads ? nbytes : 0;
  return failed;
}

static int
make_cold (struct rd_bench *bench, const struct rd_layout *layout)
{
  struct rd_cold cold;
  rd_cold_drop (layout->subject.folder, &cold);
  RD_FREE char *problem = rd_cold_problem (&cold);
  if (problem && !bench->told_cold)
    rd_warn (problem);
  bench->told_cold |= problem != NULL;
  return RD_EXIT_OK;
}

static int
do_open_store (struct run *run, struct rd_outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  bool reads = run->row->kind == RD_ROW_COLD;
  enum radio_plane plane = (enum radio_plane) run->row->which;
  uint64_t nbytes = plane_nbytes (subject, plane);
  uint64_t index = rd_random_below (&run->random,
                                    plane_count (subject, plane));
  struct rd_target target;
  int failed = reads ? make_cold (run->bench, run->layout) : RD_EXIT_OK;
  if (failed)
    return failed;
  double start = rd_clock_s ();
  failed = rd_target_open (&subject->args, subject->target.name, false,
                           &target);
  if (!failed && reads)
    failed = read_plane (run, target.volume, index, nbytes);
  rd_target_close (&target);
  outcome->seconds = rd_clock_s () - start;
  outcome->nbytes = reads ? nbytes : 0;
  return failed;
}

/*------------------------------------------------------------------------
 * Files
 *----------------------------------------------------------------------*/

static int
do_export (struct run *run, struct rd_outcome *outcome)
{
  const struct rd_target *target = &run->layout->subject.target;
  RD_FREE char *file = rd_format ("%s/export.nii", run->bench->temp);
  if (file == NULL)
    return RD_EXIT_FAILED;
  double start = rd_clock_s ();
  enum radio_status status = radio_volume_export (target->volume, NULL, file,
                                                  NULL);
  outcome->seconds = rd_clock_s () - start;
  outcome->nbytes = run->layout->raw_nbytes;
  (void) unlink (file);
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (target->name);
}

/* As the layout is, or as the volume that was there. */
static const char *
either (const char *asked, const char *known)
{
  return asked || *known == '\0' ? asked : known;
}

static int
do_ingest (struct run *run, struct rd_outcome *outcome)
{
  struct rd_layout *layout = run->layout;
  const struct radio_volume_info *info = &layout->subject.info;
  struct radio_ingest_options options = {
    .tiling = either (layout->tiling, info->tiling),
    .codec = either (layout->codec, info->codec),
  };
  struct radio_ingest_result result = { 0 };
  const char *file = rd_bench_source (run->bench, layout, run->row->which);
  if (file == NULL)
    return RD_EXIT_FAILED;
  double start = rd_clock_s ();
  enum radio_status status = radio_ingest (layout->scratch, file, "bench/new",
                                           &options, &result);
  outcome->seconds = rd_clock_s () - start;
  outcome->nbytes = result.source_nbytes;
  if (status == RADIO_OK)
    status = radio_store_remove (layout->scratch, "bench/new");
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (file);
}

int
rd_bench_perform (struct rd_bench *bench, struct rd_layout *layout,
                  size_t row, uint64_t i, struct rd_outcome *outcome)
{
  struct run run = {
    .bench = bench,
    .layout = layout,
    .row = &rd_rows[row],
    .random = rd_row_state (row, bench->seed, i),
  };
  switch (rd_rows[row].kind) {
  case RD_ROW_FULL:
    return do_full (&run, outcome);
  case RD_ROW_PLANE:
    return read_planes (&run, layout->subject.target.volume, 1, outcome);
  case RD_ROW_BOX:
    return do_box (&run, outcome);
  case RD_ROW_SCROLL:
    return do_scroll (&run, outcome);
  case RD_ROW_LOADER:
    return do_loader (&run, outcome);
  case RD_ROW_OPEN:
  case RD_ROW_FIRST:
    return do_open (&run, outcome);
  case RD_ROW_OPEN_STORE:
  case RD_ROW_COLD:
    return do_open_store (&run, outcome);
  case RD_ROW_EXPORT:
    return do_export (&run, outcome);
  case RD_ROW_INGEST:
    return do_ingest (&run, outcome);
  }
  return RD_EXIT_FAILED;
}

const char *
rd_bench_hindrance (const struct rd_layout *layout, size_t row)
{
  const struct rd_subject *subject = &layout->subject;
  const struct radio_array_info *array = &subject->info.array;
  enum rd_row_kind kind = rd_rows[row].kind;
  for (size_t i = 0; i < 3 && kind == RD_ROW_BOX; i++) {
    size_t axis = subject->axis_of[i];
    if ((axis < array->rank ? array->shape[axis] : 1) < rd_rows[row].which)
      return "larger than the volume";
  }
  if ((kind == RD_ROW_EXPORT || kind == RD_ROW_INGEST)
      && subject->info.header_nbytes == 0)
    return "the volume has no NIfTI header";
  return NULL;
}
