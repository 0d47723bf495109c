/* SPDX-License-Identifier: MIT */
/* How fast a layout's tiles are decoded, by one processor and by all: whole
 * ones, and such that hardly any element of is wanted, so that what each
 * element costs to be put in order is known beside what a tile costs. */
#include <config.h>

#include <string.h>

#include "tools/bench/limits.h"
#include "tools/profile/samples.h"

/* A box touches tiles of about so many bytes: large enough that the call
 * costs nothing beside them, small enough for a processor's cache. */
#define BOX_NBYTES ((uint64_t) 256 << 10)
#define NPLACES 64

/* The best of so many is kept: it is a limit. */
#define NREPEATS 8

struct reader {
  struct rd_target target;
  void *buffer;
  struct radio_box places[NPLACES];   /* of whole tiles */
  size_t thin;                /* the axis along which one element is asked
                                 for where little is wanted */
  bool whole;                 /* else little is */
  uint64_t decoded_nbytes;    /* of all places: tiles, whole */
  uint64_t buffer_nbytes;
};

/* Whole tiles along an axis; one that sticks out where there is no other. */
static uint64_t
tiles_along (const struct radio_array_info *info, size_t axis)
{
  uint64_t n = info->shape[axis] / info->tile_shape[axis];
  return n ? n : 1;
}

static uint64_t
tile_nbytes (const struct radio_array_info *info)
{
  uint64_t n = info->item_nbytes;
  for (size_t i = 0; i < info->rank; i++)
    n *= info->tile_shape[i];
  return n;
}

/* How many tiles the boxes have along each axis: doubled in turn, from the
 * fastest axis on, but along the thin one.  Returns the bytes of the
 * tiles. */
static uint64_t
choose_counts (const struct radio_array_info *info, size_t thin,
               uint64_t *counts)
{
  uint64_t nbytes = tile_nbytes (info);
  bool grown = true;
  for (size_t i = 0; i < info->rank; i++)
    counts[i] = 1;
  while (grown) {
    grown = false;
    for (size_t i = info->rank; i-- > 0 && nbytes < BOX_NBYTES;)
      if (i != thin && 2 * counts[i] <= tiles_along (info, i)) {
        counts[i] *= 2;
        nbytes *= 2;
        grown = true;
      }
  }
  return nbytes;
}

/* All of a tile is decoded, and little put in order and moved, where only
 * one element is asked for along this axis: the slowest one along which
 * tiles are thick. */
static size_t
thin_axis (const struct radio_array_info *info)
{
  size_t axis = 0;
  while (axis + 1 < info->rank && info->tile_shape[axis] == 1)
    axis++;
  return axis;
}

static void
choose_places (const struct radio_array_info *info, uint64_t state,
               struct reader *reader)
{
  uint64_t counts[RADIO_MAX_RANK];
  reader->thin = thin_axis (info);
  reader->buffer_nbytes = choose_counts (info, reader->thin, counts);
  reader->decoded_nbytes = NPLACES * reader->buffer_nbytes;
  for (size_t k = 0; k < NPLACES; k++) {
    struct radio_box *box = &reader->places[k];
    box->rank = info->rank;
    for (size_t i = 0; i < info->rank; i++) {
      uint64_t tile = info->tile_shape[i];
      uint64_t n = tiles_along (info, i) - counts[i] + 1;
      box->start[i] = tile * rd_random_below (&state, n);
      box->size[i] = tile * counts[i];
      if (box->size[i] > info->shape[i])
        box->size[i] = info->shape[i];
    }
  }
}

static int
read_places (struct reader *reader)
{
  for (size_t i = 0; i < NPLACES; i++) {
    struct radio_box box = reader->places[i];
    if (!reader->whole)
      box.size[reader->thin] = 1;
    if (radio_array_read (reader->target.array, &box, RADIO_STORED,
                          reader->buffer, (size_t) reader->buffer_nbytes,
                          NULL) != RADIO_OK)
      return rd_error_library (reader->target.name);
  }
  return RD_EXIT_OK;
}

/* With a context of its own that has no other thread; every place is read
 * once, so that it is in memory. */
static int
open_reader (const struct rd_layout *layout, uint64_t state,
             struct reader *reader)
{
  const struct rd_subject *subject = &layout->subject;
  struct rd_args args = subject->args;
  args.nthreads = 1;
  int failed = rd_target_open (&args, subject->target.name, false,
                               &reader->target);
  if (failed)
    return failed;
  choose_places (&subject->info.array, state, reader);
  reader->buffer = malloc ((size_t) reader->buffer_nbytes);
  if (reader->buffer == NULL)
    return rd_error_memory ();
  return read_places (reader);
}

static void
close_readers (struct reader *readers, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    rd_target_close (&readers[i].target);
    free (readers[i].buffer);
  }
}

static int
read_part (void *data, unsigned i)
{
  struct reader *readers = data;
  return read_places (&readers[i]);
}

/* Keep the most bytes a second of n threads. */
static int
measure (struct reader *readers, unsigned n, double *most)
{
  int failed = RD_EXIT_OK;
  for (int i = 0; i < NREPEATS && !failed; i++) {
    double seconds = 0;
    failed = rd_gang_run (n, read_part, readers, &seconds);
    double rate = n * (double) readers[0].decoded_nbytes / seconds;
    if (!failed && rate > *most)
      *most = rate;
  }
  return failed;
}

static int
measure_both (struct reader *readers, unsigned n,
              struct rd_decode_rates *rates)
{
  for (unsigned i = 0; i < n; i++)
    readers[i].whole = true;
  int failed = measure (readers, n, &rates->whole);
  for (unsigned i = 0; i < n; i++)
    readers[i].whole = false;
  return failed ? failed : measure (readers, n, &rates->thin);
}

double
rd_limits_decode_s (const struct rd_layout *layout,
                    const struct rd_decode_rates *rates,
                    double decoded_nbytes, double delivered_nbytes)
{
  const struct radio_array_info *info = &layout->subject.info.array;
  uint64_t thick = info->tile_shape[thin_axis (info)];
  double share = thick > 1 ? 1.0 / (double) thick : 0;
  double whole = 1 / rates->whole, thin = 1 / rates->thin;
  double order = whole > thin ? (whole - thin) / (1 - share) : 0;
  return decoded_nbytes * (whole - order) + delivered_nbytes * order;
}

int
rd_limits_decode (uint64_t seed, struct rd_layout *layout)
{
  unsigned n = layout->nthreads;
  RD_FREE struct reader *readers = calloc (n, sizeof *readers);
  int failed = RD_EXIT_OK;
  if (readers == NULL)
    return rd_error_memory ();
  for (unsigned i = 0; i < n && !failed; i++)
    failed = open_reader (layout, seed + i, &readers[i]);
  if (!failed)
    failed = measure_both (readers, 1, &layout->decode_one);
  if (!failed)
    failed = measure_both (readers, n, &layout->decode_all);
  close_readers (readers, n);
  return failed;
}
