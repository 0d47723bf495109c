/* SPDX-License-Identifier: MIT */
/* The same few small reads again and again, for counting instructions: the
 * cost of one is the difference of two runs of different length, so that
 * neither starting nor opening counts.  Run by tools/bench/count-instructions.
 *
 *    count-reads STORE VOLUME WHAT N
 * */
#include <config.h>

#include <string.h>

#include "tools/parse.h"
#include "tools/tool.h"

/* Places are read in turn, all of them before the first is read again. */
#define NPLACES 16

struct reads {
  struct radio_store *store;
  struct radio_volume *volume;
  struct radio_volume_info info;
  const char *path;
  void *buffer;
  size_t nbytes;
};

/* The first of size elements along an axis, for place i. */
static uint64_t
start_of (const struct reads *reads, size_t axis, uint64_t size, uint64_t i)
{
  uint64_t room = reads->info.array.shape[axis] - size + 1;
  return (i % NPLACES * 7919 + axis * 104729 + 13) % room;
}

struct kind {
  const char *name;
  enum radio_status (*perform) (struct reads *reads, const struct kind *kind,
                                uint64_t i);
  unsigned which;             /* the edge of a box; a plane */
  bool is_recorded;
};

static enum radio_status
do_box (struct reads *reads, const struct kind *kind, uint64_t i)
{
  struct radio_box box = { .rank = 3 };
  for (size_t axis = 0; axis < 3; axis++) {
    box.start[axis] = start_of (reads, axis, kind->which, i);
    box.size[axis] = kind->which;
  }
  return radio_volume_read (reads->volume, &box, RADIO_STORED,
                            reads->buffer, reads->nbytes, NULL);
}

/* One whole tile, as it lies. */
static enum radio_status
do_tile (struct reads *reads, const struct kind *kind, uint64_t i)
{
  (void) kind;
  const uint64_t *tile = reads->info.array.tile_shape;
  struct radio_box box = { .rank = 3 };
  for (size_t axis = 0; axis < 3; axis++) {
    uint64_t start = start_of (reads, axis, tile[axis], i);
    box.start[axis] = start - start % tile[axis];
    box.size[axis] = tile[axis];
  }
  return radio_volume_read (reads->volume, &box, RADIO_STORED,
                            reads->buffer, reads->nbytes, NULL);
}

static enum radio_status
do_plane (struct reads *reads, const struct kind *kind, uint64_t i)
{
  enum radio_plane plane = (enum radio_plane) kind->which;
  size_t axis = reads->info.plane_axis[plane];
  return radio_volume_read_plane (reads->volume, plane,
                                  start_of (reads, axis, 1, i), RADIO_STORED,
                                  reads->buffer, reads->nbytes, NULL);
}

static enum radio_status
do_open (struct reads *reads, const struct kind *kind, uint64_t i)
{
  (void) kind, (void) i;
  radio_volume_close (reads->volume);
  reads->volume = NULL;
  enum radio_status status = radio_volume_open (reads->store, reads->path,
                                                &reads->volume);
  if (status == RADIO_OK)
    radio_volume_get_info (reads->volume, &reads->info);
  return status;
}

static enum radio_status
do_open_plane (struct reads *reads, const struct kind *kind, uint64_t i)
{
  enum radio_status status = do_open (reads, kind, i);
  return status == RADIO_OK ? do_plane (reads, kind, i) : status;
}

static const struct kind kinds[] = {
  { "tile", do_tile, 0, false },
  { "box32", do_box, 32, false },
  { "box64", do_box, 64, false },
  { "axial", do_plane, RADIO_AXIAL, false },
  { "sagittal", do_plane, RADIO_SAGITTAL, false },
  { "open", do_open, 0, false },
  { "open-axial", do_open_plane, RADIO_AXIAL, false },
  { "box64-recorded", do_box, 64, true },
};
static int
open_all (struct reads *reads, const char *store)
{
  struct radio_context_options context_options = {
    .nthreads = 1, .cache_nbytes = RADIO_NO_CACHE
  };
  struct radio_store_options options = { 0 };
  if (radio_context_open (&context_options, &options.context) != RADIO_OK)
    return rd_error_library (store);
  enum radio_status status = radio_store_open (store, &options,
                                               &reads->store);
  radio_context_close (options.context);
  if (status == RADIO_OK)
    status = do_open (reads, kinds, 0);
  if (status != RADIO_OK)
    return rd_error_library (store);
  for (size_t axis = 0; axis < 3; axis++)
    if (reads->info.array.rank != 3 || reads->info.array.shape[axis] < 64)
      return rd_error ("%s: it must have three axes of at least 64",
                       reads->path);
  reads->nbytes = 1 << 24;
  reads->buffer = calloc (1, reads->nbytes);
  return reads->buffer ? RD_EXIT_OK : rd_error_memory ();
}

static int
repeat (struct reads *reads, const char *what, uint64_t n)
{
  const struct kind *kind = kinds, *end = kinds + sizeof kinds / sizeof *kinds;
  struct radio_recorder *recorder = NULL;
  int status = RD_EXIT_OK;
  while (kind < end && strcmp (kind->name, what) != 0)
    kind++;
  if (kind == end)
    return rd_error ("'%s' is nothing that is counted", what);
  if (kind->is_recorded && radio_recorder_start (NULL, &recorder) != RADIO_OK)
    return rd_error_library (NULL);
  for (uint64_t i = 0; i < n && status == RD_EXIT_OK; i++)
    if (kind->perform (reads, kind, i) != RADIO_OK)
      status = rd_error_library (reads->path);
  if (recorder && radio_recorder_stop (recorder, NULL) != RADIO_OK)
    return rd_error_library (NULL);
  return status;
}

int
main (int argc, char **argv)
{
  struct reads reads = { 0 };
  uint64_t n;
  if (argc != 5 || !rd_parse_u64 (argv[4], &n)) {
    rd_error ("usage: count-reads STORE VOLUME WHAT N");
    return RD_EXIT_USAGE;
  }
  reads.path = argv[2];
  int status = open_all (&reads, argv[1]);
  if (status == RD_EXIT_OK)
    status = repeat (&reads, argv[3], n);
  radio_volume_close (reads.volume);
  radio_store_close (reads.store);
  free (reads.buffer);
  return status;
}
