/* SPDX-License-Identifier: MIT */
/* Amplification: how much more was fetched and decoded than was requested, and
 * which tiling would reduce it.
 *
 * A box of b elements on an axis, at a place that may be any, touches on
 * average (b - 1) / t + 1 tiles of t elements, which hold b + t - 1; never
 * more than the axis rounded up to whole tiles.  So a read decodes the
 * product over the axes of (b + t - 1) / b times what it delivers. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/tile-shape.h"
#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"

/* Twice as much as wanted is worth reporting, from a megabyte on. */
#define MIN_RATIO 2
#define MIN_EXCESS_NBYTES 1000000

/* Another tiling is named if it would read this much less. */
#define MIN_GAIN 1.5

#define MAX_AXES RADIO_MAX_RANK
#define MAX_SIZE ((uint64_t) 1 << 40)

struct shape {
  size_t rank;
  uint64_t sizes[MAX_AXES];
};

/* A read: a box, of an array, in tiles. */
struct geometry {
  size_t node;
  struct shape array, tile, box;
  uint64_t item_nbytes;
  size_t axial_axis;
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

/* The axis across axial planes: the first of the last three, unless a volume
 * says otherwise. */
static size_t
find_axial_axis (const struct rd_finder *finder, size_t node, size_t rank)
{
  for (; node != RADIO_NO_PARENT;
       node = finder->profile->nodes.at[node].parent) {
    bool varies = false;
    const char *text = rd_finder_note (finder, node, "axial axis", &varies);
    if (text != NULL)
      return varies ? rank - 3 : rd_min_u64 (rd_parse_digits (text), rank);
  }
  return rank - 3;
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
  best->axial_axis = find_axial_axis (finder, best->node, best->array.rank);

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

struct tiling {
  const char *name;           /* NULL: a custom one */
  struct shape tile;
  double ratio;
};

static struct rd_tiled_array
tiled_array (const struct geometry *geometry)
{
  return (struct rd_tiled_array) {
    geometry->array.rank, geometry->array.sizes, geometry->item_nbytes,
    geometry->axial_axis,
  };
}

/* The best of those with a name. */
static struct tiling
find_named (const struct geometry *geometry)
{
  const struct rd_tiled_array array = tiled_array (geometry);
  struct tiling best = { .ratio = 0 };
  for (int i = 0; i < RD_NTILINGS; i++) {
    struct tiling tiling = {
      .name = rd_tiling_names[i], .tile = { .rank = array.rank },
    };
    rd_tile_shape_named (&array, (enum rd_tiling_name) i, tiling.tile.sizes);
    tiling.ratio = amplification (geometry, &tiling.tile);
    if (i == 0 || tiling.ratio < best.ratio)
      best = tiling;
  }
  return best;
}

/* The sizes of tiles that are tried along an axis: powers of two, the box's
 * size, and the whole axis. */
#define MAX_TRIES 16

static size_t
list_tries (const struct geometry *geometry, size_t axis,
            uint64_t tries[MAX_TRIES])
{
  uint64_t whole = geometry->array.sizes[axis];
  size_t n = 0;
  for (uint64_t size = 1; size < whole && n < MAX_TRIES - 2; size *= 2)
    tries[n++] = size;
  tries[n++] = rd_min_u64 (geometry->box.sizes[axis], whole);
  tries[n++] = whole;
  return n;
}

/* The best of any sizes whose tiles are no smaller than balanced ones: tiles
 * of one element would amplify nothing, and be too many to handle.  Among
 * equals the smallest, then the longest along x, as rows are copied at once.
 * The ratio is 0 if no sizes fit. */
static struct tiling
find_custom (const struct geometry *geometry)
{
  const struct rd_tiled_array array = tiled_array (geometry);
  size_t x = array.rank - 1;
  uint64_t z_tries[MAX_TRIES], y_tries[MAX_TRIES], x_tries[MAX_TRIES];
  size_t nz = list_tries (geometry, x - 2, z_tries);
  size_t ny = list_tries (geometry, x - 1, y_tries);
  size_t nx = list_tries (geometry, x, x_tries);
  struct shape balanced = { .rank = array.rank };
  rd_tile_shape_named (&array, RD_TILING_BALANCED, balanced.sizes);
  struct tiling best = { .ratio = 0 };
  for (size_t i = 0; i < nz * ny * nx; i++) {
    const uint64_t zyx[3] = {
      z_tries[i / nx / ny], y_tries[i / nx % ny], x_tries[i % nx],
    };
    struct tiling tiling = { .tile = { .rank = array.rank } };
    rd_tile_shape_sized (&array, zyx, tiling.tile.sizes);
    double count = count_elements (&tiling.tile);
    if (count < count_elements (&balanced))
      continue;
    tiling.ratio = amplification (geometry, &tiling.tile);
    double most = count_elements (&best.tile);
    if (best.ratio <= 0 || tiling.ratio < best.ratio
        || (tiling.ratio <= best.ratio
            && (count < most
                || (count <= most
                    && tiling.tile.sizes[x] > best.tile.sizes[x]))))
      best = tiling;
  }
  return best;
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

/* The bytes delivered, as they are stored: elements that became larger on
 * the way (int16 read as float) took no more decoding.  The page has the same
 * rule (profiler/view/data/tile-map.mjs). */
static uint64_t
count_delivered (const struct rd_finder *finder, bool *converted)
{
  const struct radio_profile *profile = finder->profile;
  uint64_t sum = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    uint64_t stored = radio_profile_counter (
      profile, i, rd_count_converted.name, false);
    *converted = *converted || stored > 0;
    sum = rd_sum (sum, stored > 0 ? stored
                       : radio_profile_counter (
                           profile, i, rd_count_delivered.name, false));
  }
  return sum;
}

/* "; a box of ... takes 16 x, with --tiling balanced (32 x 32 x 8) 2.44 x". */
static void
print_advice (const struct geometry *geometry, char *text, size_t nbytes)
{
  char box[128], tile[128], shape[128], option[64] = "";
  double now = amplification (geometry, &geometry->tile);
  struct tiling best = find_named (geometry);
  const struct tiling custom = find_custom (geometry);
  /* There may be none, in an array that is smaller than a balanced tile. */
  bool is_better = best.ratio >= MIN_GAIN * custom.ratio
                   || (now < MIN_GAIN * best.ratio
                       && now >= MIN_GAIN * custom.ratio);
  if (custom.ratio > 0 && is_better)
    best = custom;
  print_shape (&geometry->box, box, sizeof box);
  print_shape (&geometry->tile, tile, sizeof tile);
  print_shape (&best.tile, shape, sizeof shape);
  const uint64_t *zyx = best.tile.sizes + best.tile.rank - 3;
  if (best.name != NULL)
    snprintf (option, sizeof option, "%s", best.name);
  else
    snprintf (option, sizeof option, "%" PRIu64 ",%" PRIu64 ",%" PRIu64,
              zyx[2], zyx[1], zyx[0]);
  int n = snprintf (text, nbytes, "; a box of %s (x first) anywhere in tiles "
                    "of %s takes %s x, ", box, tile,
                    rd_format_number (now).text);
  if (now >= MIN_GAIN * best.ratio)
    snprintf (text + n, nbytes - (size_t) n, "with --tiling %s (%s) %s x"
              FORMULA, option, shape, rd_format_number (best.ratio).text);
  else
    snprintf (text + n, nbytes - (size_t) n,
              "which no other tiles would cut by a third" FORMULA);
}

/* Weighted by its share of the decoding. */
static enum radio_status
find_decoded (struct rd_finder *finder)
{
  bool converted = false;
  uint64_t decoded = rd_finder_sum (finder, &rd_count_decoded)
                     - count_unwanted (finder);
  uint64_t delivered = count_delivered (finder, &converted);
  struct geometry geometry = { .node = RADIO_NO_PARENT };
  char advice[1024] = "";
  if (find_geometry (finder, &geometry))
    print_advice (&geometry, advice, sizeof advice);
  if (!is_amplified (decoded, delivered))
    return RADIO_OK;
  double ratio = (double) decoded / (double) delivered;
  struct rd_claim claim = {
    "read-amplification", "Decodes much more than it delivers",
    ratio >= 8 ? RADIO_FINDING_PROBLEM : RADIO_FINDING_HINT, 1 - 1 / ratio,
    geometry.node
  };
  return rd_found (finder, &claim, "%s decoded for %s delivered%s (%s x)%s",
                   rd_format_nbytes (decoded).text,
                   rd_format_nbytes (delivered).text,
                   converted ? " as stored" : "",
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
