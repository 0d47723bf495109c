/* SPDX-License-Identifier: MIT */
/* The numbers of tiles in profiles: each tile of an array has one of its
 * own, and of a read those are recorded that its box overlaps, whatever the
 * array's shape, shards and store. */
#include <config.h>

#include <string.h>

#include "profiler/model/profile.h"
#include "src/array/array.h"
#include "tests/array/model.h"
#include "tests/profile-tree.h"

#define MAX_TILES 4096

static uint64_t
count_tiles (const struct rd_layout *layout)
{
  uint64_t n = layout->ntiles;
  for (size_t i = 0; i < layout->rank; i++)
    n *= layout->chunks[i];
  return n;
}

/* A tile's box the other way round, from its number. */
static struct radio_box
box_of (const struct rd_layout *layout, uint64_t number)
{
  uint64_t chunk[RADIO_MAX_RANK], n = number / layout->ntiles;
  for (size_t i = layout->rank; i-- > 0; n /= layout->chunks[i])
    chunk[i] = n % layout->chunks[i];
  return rd_layout_tile (layout, chunk, number % layout->ntiles);
}

static void
every_tile_has_a_number_of_its_own (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    struct model model;
    model_open (&model, seed, 1, false);
    const struct rd_layout *layout = &model.array->layout;
    uint64_t n = count_tiles (layout);
    for (uint64_t tile = 0; tile < n; tile++) {
      struct radio_box box = box_of (layout, tile);
      assert_int_equal (rd_layout_tile_at (layout, box.start), tile);
      for (size_t i = 0; i < box.rank; i++)
        assert_int_equal (box.start[i] % layout->tile.shape[i], 0);
    }
    model_close (&model);
  }
}

static bool
meets (const struct radio_box *a, const struct radio_box *b)
{
  for (size_t i = 0; i < a->rank; i++)
    if (a->size[i] == 0 || b->size[i] == 0
        || a->start[i] + a->size[i] <= b->start[i]
        || b->start[i] + b->size[i] <= a->start[i])
      return false;
  return true;
}

/* True when all of a tile within the array is fill value. */
static bool
is_fill (const struct model *model, const struct radio_box *tile)
{
  size_t nbytes = model->info.item_nbytes;
  uint64_t at[RADIO_MAX_RANK];
  memcpy (at, tile->start, sizeof at);
  for (;;) {
    bool inside = true;
    for (size_t i = 0; i < tile->rank; i++)
      inside &= at[i] < model->info.shape[i];
    if (inside && memcmp (model_element (model, at), model->fill, nbytes))
      return false;
    size_t axis = tile->rank;
    while (axis > 0 && ++at[axis - 1] == tile->start[axis - 1]
                                         + tile->size[axis - 1]) {
      axis--;
      at[axis] = tile->start[axis];
    }
    if (axis == 0)
      return true;
  }
}

/* How often each tile was decoded. */
static void
count_decodes (const struct radio_profile *profile, unsigned *counts)
{
  memset (counts, 0, MAX_TILES * sizeof *counts);
  for (size_t i = 0; i < profile->spans.n; i++)
    if (profile->spans.at[i].tile > 0) {
      assert_in_range (profile->spans.at[i].tile, 1, MAX_TILES);
      counts[profile->spans.at[i].tile - 1]++;
    }
}

static void
check_box (struct model *model, const struct radio_box *box)
{
  static unsigned counts[MAX_TILES];
  const struct rd_layout *layout = &model->array->layout;
  struct radio_recorder *recorder = tree_begin ();
  model_compare (model, box);
  struct radio_profile *profile = tree_end (recorder);
  count_decodes (profile, counts);
  uint64_t sum = 0;
  for (uint64_t tile = 0; tile < count_tiles (layout); tile++) {
    struct radio_box found = box_of (layout, tile);
    bool touched = meets (&found, box);
    assert_in_range (counts[tile], 0, touched);
    if (touched && !is_fill (model, &found))
      assert_int_equal (counts[tile], 1);
    sum += counts[tile];
  }
  assert_int_equal (sum, tree_total (profile, "tiles"));
  radio_profile_close (profile);
}

static void
a_read_records_the_tiles_that_its_box_overlaps (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    struct model model;
    model_open (&model, seed, 1 + seed % 3, seed % 2);
    if (count_tiles (&model.array->layout) <= MAX_TILES) {
      model_write (&model);
      for (int i = 0; i < 3; i++) {
        struct radio_box box = model_box (&model);
        check_box (&model, &box);
      }
    }
    model_close (&model);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_tile_has_a_number_of_its_own),
    cmocka_unit_test (a_read_records_the_tiles_that_its_box_overlaps),
  };
  if (tree_skip_all ())
    return 0;
  return cmocka_run_group_tests (tests, NULL, NULL);
}
