/* SPDX-License-Identifier: MIT */
/* Amplification: how much more was fetched and decoded than was requested, and
 * which tiling would reduce it.
 *
 * A box of b elements on an axis, at a place that may be any, touches on
 * average (b - 1) / t + 1 tiles of t elements, which hold b + t - 1; never
 * more than the axis rounded up to whole tiles.  So a read decodes the
 * product over the axes of (b + t - 1) / b times what it delivers.  The
 * tilings that radio writes are those of src/volume/tiling.c. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"

/* Twice as much as wanted is worth reporting, from a megabyte on. */
#define MIN_RATIO 2
#define MIN_EXCESS_NBYTES 1000000

/* Another tiling is named if it would read this much less. */
#define MIN_GAIN 1.5

#define MAX_AXES 8
#define MAX_SIZE ((uint64_t) 1 << 40)

/* Wide planes are cut into parts of at most this size (tiling "axial"). */
#define AXIAL_MAX 512

struct shape {
  size_t rank;
  uint64_t sizes[MAX_AXES];
};

/* A read: a box, of an array, in tiles. */
struct geometry {
  size_t node;
  struct shape array, tile, box;
  uint64_t item_nbytes;
};

/* One of the node's shapes ("64,64,64"), if all its calls had the same. */
static bool
find_shape (const struct rd_finder *finder, size_t node, const char *key,
            struct shape *shape)
{
  bool varies = false;
  const char *text = rd_finder_note (finder, node, key, &varies);
  shape->rank = 0;
  while (text != NULL && !varies && shape->rank < MAX_AXES) {
    uint64_t size = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9' && size <= MAX_SIZE; p++)
      size = 10 * size + (uint64_t) (*p - '0');
    if (p == text || size == 0 || size > MAX_SIZE)
      return false;
    shape->sizes[shape->rank++] = size;
    if (*p == '\0')
      return true;
    if (*p != ',')
      return false;
    text = p + 1;
  }
  return false;
}

static double
count_elements (const struct shape *shape)
{
  double count = 1;
  for (size_t i = 0; i < shape->rank; i++)
    count *= (double) shape->sizes[i];
  return count;
}

static uint64_t
below (const struct rd_finder *finder, size_t node,
       const struct radio_counter *counter)
{
  return radio_profile_counter (finder->profile, node, counter->name, true);
}

/* True for an operation that decodes and delivers nothing, as a check does:
 * it needs all that it reads. */
static bool
delivers_nothing (const struct rd_finder *finder, size_t node)
{
  return strcmp (finder->profile->nodes.at[node].category, RD_IN_OPERATION)
           == 0
         && below (finder, node, &rd_count_decoded) > 0
         && below (finder, node, &rd_count_delivered) == 0;
}

/* Bytes that such operations decoded; nested ones count once. */
static uint64_t
count_unwanted (const struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  uint64_t nbytes = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    if (!delivers_nothing (finder, i))
      continue;
    size_t parent = profile->nodes.at[i].parent;
    while (parent != RADIO_NO_PARENT && !delivers_nothing (finder, parent))
      parent = profile->nodes.at[parent].parent;
    if (parent == RADIO_NO_PARENT)
      nbytes = rd_sum (nbytes, below (finder, i, &rd_count_decoded));
  }
  return nbytes;
}

/* Finds the node with the most decoded below it that reports its shapes. */
static bool
find_geometry (const struct rd_finder *finder, struct geometry *best)
{
  uint64_t most = 0;
  for (size_t i = 0; i < finder->profile->nodes.n; i++) {
    struct geometry found = { .node = i };
    uint64_t decoded = below (finder, i, &rd_count_decoded);
    if (decoded <= most || delivers_nothing (finder, i)
        || !find_shape (finder, i, "array shape", &found.array)
        || !find_shape (finder, i, "tile shape", &found.tile)
        || !find_shape (finder, i, "box shape", &found.box)
        || found.array.rank < 3 || found.tile.rank != found.array.rank
        || found.box.rank != found.array.rank)
      continue;
    most = decoded;
    *best = found;
  }
  if (most == 0)
    return false;

  /* The size of an element follows from what a decoded tile held; if it is
   * unknown, it is that of CT. */
  double ntiles = (double) rd_finder_sum (finder, &rd_count_tiles);
  double nbytes = (double) rd_finder_sum (finder, &rd_count_decoded);
  double item = ntiles > 0 ? nbytes / ntiles / count_elements (&best->tile)
                           : 0;
  best->item_nbytes = 2;
  for (uint64_t size = 1; size <= 16; size *= 2)
    if (item > 0.9 * (double) size && item < 1.1 * (double) size)
      best->item_nbytes = size;
  return true;
}

/*------------------------------------------------------------------------
 * Tilings
 *----------------------------------------------------------------------*/

/* z, y, x of the last three axes; others have 1, none more than the array. */
static struct shape
make_tile (const struct shape *array, uint64_t z, uint64_t y, uint64_t x)
{
  const uint64_t sizes[3] = { z, y, x };
  struct shape tile = { .rank = array->rank };
  for (size_t i = 0; i < array->rank; i++) {
    bool is_space = i + 3 >= array->rank;
    uint64_t size = is_space ? sizes[i + 3 - array->rank] : 1;
    tile.sizes[i] = rd_min_u64 (size, array->sizes[i]);
  }
  return tile;
}

static uint64_t
equal_part (uint64_t size)
{
  return rd_div_up (size, rd_div_up (size, AXIAL_MAX));
}

enum { AXIAL, BALANCED, ISOTROPIC, NTILINGS };

static const char *const tiling_names[] = {
  [AXIAL] = "axial", [BALANCED] = "balanced", [ISOTROPIC] = "isotropic",
};

static struct shape
tile_of (const struct geometry *geometry, int tiling)
{
  const struct shape *array = &geometry->array;
  const uint64_t *sizes = array->sizes + array->rank - 3;
  if (tiling == AXIAL)
    return make_tile (array, 1, equal_part (sizes[1]),
                      equal_part (sizes[2]));
  if (tiling == ISOTROPIC)
    return make_tile (array, 32, 32, 32);
  switch (geometry->item_nbytes) {
  case 1: return make_tile (array, 16, 32, 32);
  case 2: case 4: return make_tile (array, 8, 32, 32);
  case 8: return make_tile (array, 4, 32, 32);
  default: return make_tile (array, 4, 16, 32);
  }
}

/* The ratio of the elements decoded for a box to its own, with such tiles. */
static double
amplification (const struct geometry *geometry, const struct shape *tile)
{
  double product = 1;
  for (size_t i = 0; i < tile->rank; i++) {
    uint64_t size = tile->sizes[i], box = geometry->box.sizes[i];
    uint64_t whole = rd_div_up (geometry->array.sizes[i], size) * size;
    product *= (double) rd_min_u64 (box + size - 1, whole) / (double) box;
  }
  return product;
}

/*------------------------------------------------------------------------
 * Report
 *----------------------------------------------------------------------*/

/* From the last axis (x) on: in the order of --tiling and --size. */
static void
print_shape (const struct shape *shape, char *text, size_t nbytes)
{
  size_t n = 0;
  text[0] = '\0';
  for (size_t i = shape->rank; i-- > 0 && n < nbytes;)
    n += (size_t) snprintf (text + n, nbytes - n, "%" PRIu64 "%s",
                            shape->sizes[i], i ? " x " : "");
}

#define NOW \
  "; a box of %s (x first) anywhere in tiles of %s takes %s x, "
#define FORMULA \
  ": tiles that it touches are decoded whole, on average b + t - 1 elements " \
  "along an axis where it has b and tiles have t, so (b + t - 1) / b times " \
  "as many; all axes multiply"

static bool
is_amplified (uint64_t got, uint64_t wanted)
{
  return wanted > 0 && got / MIN_RATIO >= wanted
         && got - wanted >= MIN_EXCESS_NBYTES;
}

/* Weighted by its share of the decoding. */
static enum radio_status
find_decoded (struct rd_finder *finder)
{
  uint64_t decoded = rd_finder_sum (finder, &rd_count_decoded)
                     - count_unwanted (finder);
  uint64_t delivered = rd_finder_sum (finder, &rd_count_delivered);
  struct geometry geometry = { .node = RADIO_NO_PARENT };
  char advice[1024] = "";
  if (find_geometry (finder, &geometry)) {
    /* The bytes delivered, counted in the stored type: elements that became
     * larger on the way (int16 read as float) took no more decoding.  The
     * ratio shows where all boxes together are half, a quarter or an eighth
     * of it. */
    double boxes = count_elements (&geometry.box)
                   * (double) geometry.item_nbytes
                   * (double) finder->profile->nodes.at[geometry.node].calls;
    uint64_t times = 2;
    while (times <= 8 && boxes * (double) times != (double) delivered)
      times *= 2;
    delivered = times <= 8 ? delivered / times : delivered;

    char box[128], tile[128], best_tile[128];
    double now = amplification (&geometry, &geometry.tile), then = 0;
    int best = AXIAL;
    print_shape (&geometry.box, box, sizeof box);
    print_shape (&geometry.tile, tile, sizeof tile);
    for (int i = 0; i < NTILINGS; i++) {
      struct shape shape = tile_of (&geometry, i);
      double ratio = amplification (&geometry, &shape);
      if (then > 0 && ratio >= then)
        continue;
      best = i;
      then = ratio;
      print_shape (&shape, best_tile, sizeof best_tile);
    }
    if (now >= MIN_GAIN * then)
      snprintf (advice, sizeof advice, NOW "with --tiling %s (%s) %s x"
                FORMULA, box, tile, rd_format_number (now).text,
                tiling_names[best], best_tile, rd_format_number (then).text);
    else
      snprintf (advice, sizeof advice, NOW "which none of axial, balanced and "
                "isotropic tiles would cut by a third" FORMULA, box, tile,
                rd_format_number (now).text);
  }
  if (!is_amplified (decoded, delivered))
    return RADIO_OK;
  double ratio = (double) decoded / (double) delivered;
  struct rd_claim claim = {
    "read-amplification", "Decodes much more than it delivers",
    ratio >= 8 ? RADIO_FINDING_PROBLEM : RADIO_FINDING_HINT, 1 - 1 / ratio,
    geometry.node
  };
  return rd_found (finder, &claim, "%s decoded for %s delivered (%s x)%s",
                   rd_format_nbytes (decoded).text,
                   rd_format_nbytes (delivered).text,
                   rd_format_number (ratio).text, advice);
}

enum radio_status
rd_find_amplification (struct rd_finder *finder)
{
  RD_TRY (find_decoded (finder));
  uint64_t fetched = rd_finder_sum (finder, &rd_count_fetched);
  uint64_t requested = rd_finder_sum (finder, &rd_count_asked);
  if (!is_amplified (fetched, requested))
    return RADIO_OK;
  double ratio = (double) fetched / (double) requested;
  struct rd_claim claim = {
    "fetch-amplification", "Fetches much more than it needs",
    RADIO_FINDING_HINT, 1 - 1 / ratio, RADIO_NO_PARENT
  };
  return rd_found (finder, &claim,
                   "%s fetched where %s were requested (%s x): ranges that "
                   "lie close together are fetched as one",
                   rd_format_nbytes (fetched).text,
                   rd_format_nbytes (requested).text,
                   rd_format_number (ratio).text);
}
