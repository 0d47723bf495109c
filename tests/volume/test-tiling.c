/* SPDX-License-Identifier: MIT */
/* Tilings: those of each preset for images, and the rule that a shard is
 * consecutive in the file, and so are the layers by which it is written. */
#include <config.h>

#include "tests/unit.h"

#include "src/volume/file-slabs.h"
#include "src/volume/tiling.h"

#define MIB ((uint64_t) 1 << 20)

static struct rd_nifti
make_image (const char *axes, size_t item_nbytes, const uint64_t *shape)
{
  struct rd_nifti nifti = { .axes = axes, .rank = strlen (axes) };
  nifti.type.item_nbytes = item_nbytes;
  memcpy (nifti.shape, shape, nifti.rank * sizeof shape[0]);
  return nifti;
}

static struct rd_tiling
choose (const struct rd_nifti *nifti, const char *name)
{
  struct rd_tiling tiling;
  struct rd_tiling_input input = {
    name, nifti, nifti->rank - 3, 0, 1024 * MIB,
  };
  assert_ok (rd_tiling_choose (&input, &tiling));
  return tiling;
}

static void
assert_shape (const uint64_t *shape, size_t rank, const uint64_t *expected)
{
  for (size_t i = 0; i < rank; i++)
    assert_int_equal (shape[i], expected[i]);
}

#define EXPECT(shape, ...)                                              \
  do {                                                                  \
    const uint64_t expected_[] = { __VA_ARGS__ };                       \
    assert_shape (shape, sizeof expected_ / sizeof expected_[0],        \
                  expected_);                                           \
  } while (0)

static void
the_default_is_balanced_by_the_size_of_an_element (void **state)
{
  (void) state;
  const uint64_t shape[] = { 304, 512, 512 };
  struct rd_nifti nifti = make_image ("zyx", 2, shape);
  struct rd_tiling tiling = choose (&nifti, NULL);
  assert_string_equal (tiling.name, "balanced");
  EXPECT (tiling.tile_shape, 8, 32, 32);
  nifti.type.item_nbytes = 1;
  tiling = choose (&nifti, "balanced");
  EXPECT (tiling.tile_shape, 16, 32, 32);
  nifti.type.item_nbytes = 16;
  tiling = choose (&nifti, "balanced");
  EXPECT (tiling.tile_shape, 4, 16, 32);
}

static void
a_large_image_is_cut_into_slabs_of_whole_planes (void **state)
{
  (void) state;
  const uint64_t shape[] = { 304, 512, 500 };
  struct rd_nifti nifti = make_image ("zyx", 2, shape);
  struct rd_tiling tiling = choose (&nifti, "balanced");
  EXPECT (tiling.shard_shape, 64, 512, 512);
}

static void
an_image_of_at_most_64_mib_is_one_shard (void **state)
{
  (void) state;
  const uint64_t shape[] = { 109, 91, 91 };
  struct rd_nifti nifti = make_image ("zyx", 2, shape);
  struct rd_tiling tiling = choose (&nifti, "balanced");
  EXPECT (tiling.shard_shape, 112, 96, 96);

  const uint64_t series[] = { 100, 36, 64, 64 };
  nifti = make_image ("tzyx", 2, series);
  tiling = choose (&nifti, "balanced");
  EXPECT (tiling.tile_shape, 1, 8, 32, 32);
  EXPECT (tiling.shard_shape, 100, 40, 64, 64);
}

static void
a_long_series_is_cut_along_time (void **state)
{
  (void) state;
  const uint64_t shape[] = { 1000, 36, 64, 64 };
  struct rd_nifti nifti = make_image ("tzyx", 2, shape);
  struct rd_tiling tiling = choose (&nifti, "balanced");
  EXPECT (tiling.shard_shape, 102, 40, 64, 64);
}

static void
a_cut_axis_leaves_the_slower_ones_at_one (void **state)
{
  (void) state;
  const uint64_t shape[] = { 7, 5, 300, 512, 512 };
  struct rd_nifti nifti = make_image ("tczyx", 2, shape);
  struct rd_tiling tiling = choose (&nifti, "balanced");
  EXPECT (tiling.shard_shape, 1, 1, 64, 512, 512);
}

static void
five_dimensions_grow_along_t_before_c (void **state)
{
  (void) state;
  const uint64_t shape[] = { 100, 6, 40, 64, 64 };
  struct rd_nifti nifti = make_image ("tczyx", 4, shape);
  struct rd_tiling tiling = choose (&nifti, "balanced");
  EXPECT (tiling.shard_shape, 100, 1, 40, 64, 64);
}

static void
colours_stay_together (void **state)
{
  (void) state;
  const uint64_t shape[] = { 3, 400, 512, 512 };
  struct rd_nifti nifti = make_image ("czyx", 1, shape);
  nifti.colour = RD_COLOUR_RGB;
  struct rd_tiling tiling = choose (&nifti, "balanced");
  EXPECT (tiling.tile_shape, 1, 16, 32, 32);
  EXPECT (tiling.shard_shape, 3, 32, 512, 512);
}

static void
axial_tiles_are_rows_of_a_plane_in_equal_parts (void **state)
{
  (void) state;
  const uint64_t shape[] = { 176, 600, 512 };
  struct rd_nifti nifti = make_image ("zyx", 2, shape);
  struct rd_tiling tiling;
  struct rd_tiling_input input = { "axial", &nifti, 0, 0, 1024 * MIB };
  assert_ok (rd_tiling_choose (&input, &tiling));
  EXPECT (tiling.tile_shape, 1, 120, 512);
  input.axial_axis = 1;
  assert_ok (rd_tiling_choose (&input, &tiling));
  EXPECT (tiling.tile_shape, 88, 1, 512);
  input.axial_axis = 2;
  assert_ok (rd_tiling_choose (&input, &tiling));
  EXPECT (tiling.tile_shape, 88, 300, 1);
  assert_string_equal (tiling.name, "axial");
}

static void
an_axial_plane_of_few_rows_is_one_tile (void **state)
{
  (void) state;
  const uint64_t shape[] = { 5, 30, 128, 512 };
  struct rd_nifti nifti = make_image ("tzyx", 4, shape);
  struct rd_tiling tiling;
  struct rd_tiling_input input = { "axial", &nifti, 1, 0, 1024 * MIB };
  assert_ok (rd_tiling_choose (&input, &tiling));
  EXPECT (tiling.tile_shape, 1, 1, 128, 512);
}

static void
a_size_is_given_as_x_y_z_and_named_as_the_array_has_it (void **state)
{
  (void) state;
  const uint64_t shape[] = { 304, 512, 512 };
  struct rd_nifti nifti = make_image ("zyx", 2, shape);
  struct rd_tiling tiling = choose (&nifti, "64,32,8");
  assert_string_equal (tiling.name, "8x32x64");
  EXPECT (tiling.tile_shape, 8, 32, 64);
}

static void
a_tile_is_not_larger_than_the_image (void **state)
{
  (void) state;
  const uint64_t shape[] = { 5, 7, 9 };
  struct rd_nifti nifti = make_image ("zyx", 2, shape);
  struct rd_tiling tiling = choose (&nifti, "isotropic");
  EXPECT (tiling.tile_shape, 5, 7, 9);
  EXPECT (tiling.shard_shape, 5, 7, 9);
}

static void
an_invalid_tiling_is_refused_by_its_text (void **state)
{
  (void) state;
  static const char *const bad[] = {
    "", "round", "1,2", "1,2,", "1,2,3,4", "0,1,1", "-1,2,3", "1,2,3 ",
    "1x2x3", "99999999999,1,1", " 1,2,3",
  };
  const uint64_t shape[] = { 5, 7, 9 };
  struct rd_nifti nifti = make_image ("zyx", 2, shape);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct rd_tiling tiling;
    struct rd_tiling_input input = { bad[i], &nifti, 0, 0, 1024 * MIB };
    assert_fails (rd_tiling_choose (&input, &tiling), RADIO_ERROR_ARGUMENT,
                  "tiling: '");
  }
}

static void
little_memory_makes_smaller_shards (void **state)
{
  (void) state;
  const uint64_t shape[] = { 304, 512, 512 };
  struct rd_nifti nifti = make_image ("zyx", 2, shape);
  struct rd_tiling tiling;
  struct rd_tiling_input input = { NULL, &nifti, 0, 0, 64 * MIB };
  assert_ok (rd_tiling_choose (&input, &tiling));
  EXPECT (tiling.shard_shape, 32, 512, 512);
  input.shard_nbytes = 1;
  assert_ok (rd_tiling_choose (&input, &tiling));
  EXPECT (tiling.shard_shape, 8, 512, 512);
}

static void
sizes_near_2_to_the_63_do_not_wrap (void **state)
{
  (void) state;
  const uint64_t shape[] = { INT64_MAX, INT64_MAX, INT64_MAX };
  struct rd_nifti nifti = make_image ("zyx", 16, shape);
  struct rd_tiling tiling = choose (&nifti, "balanced");
  EXPECT (tiling.tile_shape, 4, 16, 32);
  assert_int_equal (tiling.shard_shape[0], 4);
  assert_true (tiling.shard_shape[2] >= INT64_MAX);
}

/* True if the elements of a box follow each other in the file: from the
 * fastest axis on, whole axes, then one that is cut, then axes of size 1. */
static bool
is_consecutive (const struct rd_nifti *nifti, const uint64_t *size)
{
  size_t order[RADIO_MAX_RANK];
  rd_file_order (nifti, order);
  bool cut = false;
  for (size_t i = 0; i < nifti->rank; i++) {
    uint64_t n = size[order[i]];
    if (cut && n > 1)
      return false;
    cut = cut || n < nifti->shape[order[i]];
  }
  return true;
}

static void
every_shard_is_consecutive_in_the_file (void **state)
{
  (void) state;
  static const char *const axes[] = { "zyx", "tzyx", "czyx", "tczyx" };
  uint32_t seed = 1;
  for (size_t i = 0; i < 4000; i++) {
    uint64_t shape[5];
    for (size_t k = 0; k < 5; k++) {
      seed = seed * 1664525 + 1013904223;
      shape[k] = 1 + (seed >> 8) % (k < 3 ? 60 : 300);
    }
    struct rd_nifti nifti = make_image (axes[i % 4], 1u << (i / 4 % 5),
                                        shape);
    if (i % 4 == 2)
      nifti.colour = RD_COLOUR_RGB;
    struct rd_tiling tiling;
    struct rd_tiling_input input = {
      NULL, &nifti, 0, 1 + seed % (4 * MIB), 1024 * MIB,
    };
    assert_ok (rd_tiling_choose (&input, &tiling));
    uint64_t size[RADIO_MAX_RANK];
    for (size_t k = 0; k < nifti.rank; k++) {
      assert_int_equal (tiling.shard_shape[k] % tiling.tile_shape[k], 0);
      size[k] = tiling.shard_shape[k] < nifti.shape[k]
                ? tiling.shard_shape[k] : nifti.shape[k];
    }
    assert_true (is_consecutive (&nifti, size));
  }
}

static void
layers_are_as_many_tiles_as_make_the_wanted_size (void **state)
{
  (void) state;
  const uint64_t shape[] = { 304, 512, 500 };
  uint64_t layer[RADIO_MAX_RANK];
  struct rd_nifti nifti = make_image ("zyx", 2, shape);
  struct rd_tiling tiling = choose (&nifti, "balanced");
  rd_file_slabs_layer (&nifti, tiling.shard_shape, tiling.tile_shape, 1,
                       layer);
  EXPECT (layer, 8, 512, 512);
  /* A shard has 8 layers of tiles: 4 fit, and 3 do not divide 8. */
  rd_file_slabs_layer (&nifti, tiling.shard_shape, tiling.tile_shape,
                       31 * 512 * 500 * 2, layer);
  EXPECT (layer, 16, 512, 512);
  rd_file_slabs_layer (&nifti, tiling.shard_shape, tiling.tile_shape,
                       UINT64_MAX, layer);
  EXPECT (layer, 64, 512, 512);
}

static void
layers_of_a_series_take_several_times (void **state)
{
  (void) state;
  const uint64_t shape[] = { 100, 36, 64, 64 };
  uint64_t layer[RADIO_MAX_RANK];
  struct rd_nifti nifti = make_image ("tzyx", 2, shape);
  struct rd_tiling tiling = choose (&nifti, "balanced");
  rd_file_slabs_layer (&nifti, tiling.shard_shape, tiling.tile_shape,
                       4 * MIB, layer);
  EXPECT (layer, 10, 40, 64, 64);
}

/* The parts of some chunk that an image has. */
static void
assert_layers_fit (const struct rd_nifti *nifti,
                   const struct rd_tiling *tiling, uint64_t target_nbytes)
{
  uint64_t layer[RADIO_MAX_RANK], size[RADIO_MAX_RANK];
  rd_file_slabs_layer (nifti, tiling->shard_shape, tiling->tile_shape,
                       target_nbytes, layer);
  for (size_t k = 0; k < nifti->rank; k++) {
    assert_true (layer[k] > 0);
    assert_int_equal (layer[k] % tiling->tile_shape[k], 0);
    assert_int_equal (tiling->shard_shape[k] % layer[k], 0);
    size[k] = layer[k] < nifti->shape[k] ? layer[k] : nifti->shape[k];
  }
  assert_true (is_consecutive (nifti, size));
}

static void
every_layer_is_consecutive_and_divides_its_shard (void **state)
{
  static const char *const axes[] = { "zyx", "tzyx", "tczyx", "czyx" };
  static const char *const names[] = { "balanced", "axial", "isotropic",
                                       "7,11,5" };
  (void) state;
  uint64_t noise = 1;
  for (size_t i = 0; i < 2000; i++) {
    uint64_t shape[RADIO_MAX_RANK];
    for (size_t k = 0; k < RADIO_MAX_RANK; k++) {
      noise = noise * 6364136223846793005u + 1442695040888963407u;
      shape[k] = 1 + (noise >> 33) % 300;
    }
    struct rd_nifti nifti = make_image (axes[i % 4], (size_t) 1 << i % 5,
                                        shape);
    if (i % 8 == 3)
      nifti.colour = RD_COLOUR_RGB;
    struct rd_tiling tiling = choose (&nifti, names[i / 4 % 4]);
    assert_layers_fit (&nifti, &tiling, MIB << i % 6);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_default_is_balanced_by_the_size_of_an_element),
    cmocka_unit_test (a_large_image_is_cut_into_slabs_of_whole_planes),
    cmocka_unit_test (an_image_of_at_most_64_mib_is_one_shard),
    cmocka_unit_test (a_long_series_is_cut_along_time),
    cmocka_unit_test (a_cut_axis_leaves_the_slower_ones_at_one),
    cmocka_unit_test (five_dimensions_grow_along_t_before_c),
    cmocka_unit_test (colours_stay_together),
    cmocka_unit_test (axial_tiles_are_rows_of_a_plane_in_equal_parts),
    cmocka_unit_test (an_axial_plane_of_few_rows_is_one_tile),
    cmocka_unit_test (a_size_is_given_as_x_y_z_and_named_as_the_array_has_it),
    cmocka_unit_test (a_tile_is_not_larger_than_the_image),
    cmocka_unit_test (an_invalid_tiling_is_refused_by_its_text),
    cmocka_unit_test (little_memory_makes_smaller_shards),
    cmocka_unit_test (sizes_near_2_to_the_63_do_not_wrap),
    cmocka_unit_test (every_shard_is_consecutive_in_the_file),
    cmocka_unit_test (layers_are_as_many_tiles_as_make_the_wanted_size),
    cmocka_unit_test (layers_of_a_series_take_several_times),
    cmocka_unit_test (every_layer_is_consecutive_and_divides_its_shard),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
