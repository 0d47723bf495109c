/* SPDX-License-Identifier: MIT */
/* Read amplification: when it is reported, and the arithmetic of tilings,
 * checked by counting tiles one by one. */
#include <config.h>

#include "tests/profiler/model/found.h"

#include "profiler/model/format.h"

static struct radio_profile *
build_read (uint64_t decoded, uint64_t delivered)
{
  struct radio_profile *profile = build_new ("a read");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t tile = build_node (profile, read, "tile", "decode");
  build_count (profile, tile, "bytes decoded", "bytes", decoded);
  build_count (profile, read, "bytes delivered", "bytes", delivered);
  return profile;
}

/* Returns the same with the shapes of array, tile and box, and with elements
 * of 2 bytes. */
static struct radio_profile *
build_shapes (const char *array, const char *tile, const char *box)
{
  struct radio_profile *profile = build_read (64000000, 1000000);
  build_note (profile, 0, 0, "array shape", array, false);
  build_note (profile, 0, 0, "tile shape", tile, false);
  build_note (profile, 0, 0, "box shape", box, false);
  return profile;
}

static void
decoding_twice_the_delivered_bytes_is_reported (void **state)
{
  (void) state;
  assert_found (build_read (2000000, 1000000), "read-amplification",
                RADIO_FINDING_HINT, "2 MB decoded for 1 MB delivered (2 x)");
  assert_not_found (build_read (1999998, 1000000), "read-amplification");
}

static void
eight_times_as_much_is_a_problem (void **state)
{
  (void) state;
  assert_found (build_read (8000000, 1000000), "read-amplification",
                RADIO_FINDING_PROBLEM, "(8 x)");
  assert_found (build_read (7900000, 1000000), "read-amplification",
                RADIO_FINDING_HINT, "(7.9 x)");
}

static void
less_than_a_megabyte_does_not_matter (void **state)
{
  (void) state;
  assert_found (build_read (1001000, 1000), "read-amplification",
                RADIO_FINDING_PROBLEM, "(1001 x)");
  assert_not_found (build_read (1000999, 1000), "read-amplification");
}

/* Validating does this: a check of all tiles, on the calling thread and on a
 * worker, then a read of them all. */
static void
tiles_decoded_by_a_check_are_not_amplification (void **state)
{
  (void) state;
  for (uint64_t extra = 0; extra <= 1000000; extra += 1000000) {
    struct radio_profile *profile = build_read (1000000 + extra, 1000000);
    uint32_t whole = build_node (profile, RD_NO_INDEX, "validate",
                                 "operation");
    uint32_t check = build_node (profile, whole, "check", "operation");
    build_note (profile, 0, check, "array shape", "256,256,256", false);
    build_note (profile, 0, check, "tile shape", "1,256,256", false);
    build_note (profile, 0, check, "box shape", "64,64,64", false);
    uint32_t tiles[2] = {
      build_node (profile, check, "tiles", "operation"),
      build_edge_node (profile, check, "tiles", "operation",
                       RADIO_EDGE_HANDOFF),
    };
    for (size_t i = 0; i < 2; i++) {
      uint32_t tile = build_node (profile, tiles[i], "tile", "decode");
      build_count (profile, tile, "bytes decoded", "bytes", 32000000);
    }
    uint32_t read = build_node (profile, whole, "read", "operation");
    build_count (profile, read, "bytes decoded", "bytes", 1000000);
    build_count (profile, read, "bytes delivered", "bytes", 1000000);
    if (extra == 0)
      assert_not_found (profile, "read-amplification");
    else {
      build_count (profile, read, "bytes decoded", "bytes", 1000000);
      assert_found (profile, "read-amplification", RADIO_FINDING_HINT,
                    "4 MB decoded for 2 MB delivered (2 x)");
    }
  }
}

static void
fetching_twice_the_requested_bytes_is_reported (void **state)
{
  (void) state;
  for (uint64_t less = 0; less <= 2; less += 2) {
    struct radio_profile *profile = build_new ("fetch");
    uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
    build_count (profile, read, "bytes fetched", "bytes", 4000000 - less);
    build_count (profile, read, "bytes asked", "bytes", 2000000);
    if (less == 0)
      assert_found (profile, "fetch-amplification", RADIO_FINDING_HINT,
                    "4 MB fetched where 2 MB were requested (2 x)");
    else
      assert_not_found (profile, "fetch-amplification");
  }
}

/* z: 64 / 64; y and x: 64 + 255 is more than the axis, so 256 / 64.  With
 * balanced: 71 / 64 * (95 / 64)^2; with isotropic: (95 / 64)^3. */
static void
planes_are_wrong_for_boxes (void **state)
{
  (void) state;
  assert_found (build_shapes ("256,256,256", "1,256,256", "64,64,64"),
                "read-amplification", RADIO_FINDING_PROBLEM,
                "a box of 64 x 64 x 64 (x first) anywhere in tiles of "
                "256 x 256 x 1 takes 16 x, with --tiling balanced "
                "(32 x 32 x 8) 2.44 x: tiles that it touches are decoded "
                "whole, on average b + t - 1 elements along an axis where it "
                "has b and tiles have t, so (b + t - 1) / b times as many; "
                "all axes multiply");
}

static void
boxes_are_wrong_for_planes (void **state)
{
  (void) state;
  assert_found (build_shapes ("256,512,512", "32,32,32", "1,512,512"),
                "read-amplification", RADIO_FINDING_PROBLEM,
                "x, with --tiling axial (512 x 128 x 1) 1 x: tiles that");
}

static void
wide_planes_are_cut_as_axial_cuts_them (void **state)
{
  (void) state;
  assert_found (build_shapes ("100,1000,600", "8,32,32", "1,1000,600"),
                "read-amplification", RADIO_FINDING_PROBLEM,
                "--tiling axial (300 x 125 x 1) 1 x");
}

static void
a_time_axis_has_tiles_of_one (void **state)
{
  (void) state;
  assert_found (build_shapes ("10,64,64,64", "1,1,64,64", "1,16,16,16"),
                "read-amplification", RADIO_FINDING_PROBLEM,
                "a box of 16 x 16 x 16 x 1 (x first) anywhere in tiles of "
                "64 x 64 x 1 x 1 takes "
                "16 x");
}

static void
no_tiling_is_advised_where_none_is_better (void **state)
{
  (void) state;
  assert_found (build_shapes ("256,256,256", "8,32,32", "4,4,4"),
                "read-amplification", RADIO_FINDING_PROBLEM,
                "which no other tiles would cut by a third");
}

/* balanced is 16,32,32 for elements of 1 byte and 4,32,32 for 8 bytes.  The
 * element size follows from the bytes that a tile held. */
static void
the_element_size_follows_from_the_tiles_bytes (void **state)
{
  (void) state;
  static const struct {
    uint64_t nbytes;
    const char *tile;
  } rows[] = {
    { 1, "(32 x 32 x 16)" }, { 2, "(32 x 32 x 8)" }, { 4, "(32 x 32 x 8)" },
    { 8, "(32 x 32 x 4)" }, { 16, "(32 x 16 x 4)" },
  };
  for (size_t i = 0; i < 5; i++) {
    struct radio_profile *profile =
      build_shapes ("256,256,256", "1,256,256", "64,64,64");
    uint64_t ntiles = 64000000 / (65536 * rows[i].nbytes);
    build_count (profile, 1, "tiles", "count", ntiles);
    assert_found (profile, "read-amplification", RADIO_FINDING_PROBLEM,
                  rows[i].tile);
  }
}

/* A plane of 512 x 512 elements of 2 bytes, in tiles of 8 planes: the
 * amplification is 8, whatever type it is read as. */
static void
converting_elements_does_not_hide_amplification (void **state)
{
  (void) state;
  for (uint64_t times = 1; times <= 8; times *= 2) {
    struct radio_profile *profile = build_new ("a plane as float");
    build_node (profile, RD_NO_INDEX, "read", "operation");
    build_times (profile, 0, 3, 0, 0, 0, 0);
    build_count (profile, 0, "bytes decoded", "bytes", 3 * (8 << 19));
    build_count (profile, 0, "tiles", "count", 3 * 256);
    build_count (profile, 0, "bytes delivered", "bytes", 3 * times << 19);
    if (times > 1)
      build_count (profile, 0, "bytes converted", "bytes", 3 << 19);
    build_note (profile, 0, 0, "array shape", "304,512,512", false);
    build_note (profile, 0, 0, "tile shape", "8,32,32", false);
    build_note (profile, 0, 0, "box shape", "1,512,512", false);
    char expected[160];
    snprintf (expected, sizeof expected, "12.6 MB decoded for 1.57 MB "
              "delivered%s (8 x); a box of 512 x 512 x 1 (x first) anywhere "
              "in tiles of 32 x 32 x 8 takes 8 x",
              times > 1 ? " as stored" : "");
    assert_found (profile, "read-amplification", RADIO_FINDING_PROBLEM,
                  expected);
  }
}

/* Reads that differ, of which a part is converted: both parts count as they
 * are stored. */
static void
a_part_that_is_converted_counts_as_stored (void **state)
{
  (void) state;
  struct radio_profile *profile = build_read (33200000, 1000000);
  uint32_t convert = build_node (profile, 0, "convert", "place");
  build_count (profile, convert, "bytes delivered", "bytes", 2000000);
  build_count (profile, convert, "bytes converted", "bytes", 1000000);
  assert_found (profile, "read-amplification", RADIO_FINDING_PROBLEM,
                "33.2 MB decoded for 2 MB delivered as stored (16.6 x)");
}

/* Most of an axial plane; tiles of 512 x 512 would give the same but are not
 * what --tiling axial makes. */
static void
axial_tiles_are_those_that_ingest_makes (void **state)
{
  (void) state;
  assert_found (build_shapes ("304,512,512", "8,32,32", "1,400,512"),
                "read-amplification", RADIO_FINDING_PROBLEM,
                "takes 8.62 x, with --tiling axial (512 x 128 x 1) 1.28 x");
}

/* Every tile is smaller than a balanced one: none is tried. */
static void
a_small_array_has_no_custom_tiles (void **state)
{
  (void) state;
  assert_found (build_shapes ("4,4,4", "4,4,4", "1,1,1"),
                "read-amplification", RADIO_FINDING_PROBLEM,
                "takes 64 x, with --tiling axial (4 x 4 x 1) 16 x:");
}

/* The tiles of a custom size are no smaller than balanced ones (16 KiB). */
static void
custom_tiles_are_proposed_where_they_win (void **state)
{
  (void) state;
  /* A sagittal plane, for which no preset is made. */
  assert_found (build_shapes ("304,512,512", "8,32,32", "304,512,1"),
                "read-amplification", RADIO_FINDING_PROBLEM,
                "takes 32 x, with --tiling 1,");
  /* A rod along z. */
  assert_found (build_shapes ("304,512,512", "1,512,512", "304,4,4"),
                "read-amplification", RADIO_FINDING_PROBLEM,
                "takes 16384 x, with --tiling 8,4,304 (8 x 4 x 304) 4.81 x");
}

static void
the_axial_axis_is_the_volumes (void **state)
{
  (void) state;
  struct radio_profile *profile
    = build_shapes ("512,304,512", "32,8,32", "512,1,512");
  build_note (profile, 0, 0, "axial axis", "1", false);
  assert_found (profile, "read-amplification", RADIO_FINDING_PROBLEM,
                "takes 8 x, with --tiling axial (512 x 1 x 128) 1 x");
}

/* Returns the number of elements in the tiles that a run of box elements
 * touches, averaged over all its offsets from the tiles. */
static double
count_touched (uint64_t box, uint64_t tile)
{
  uint64_t sum = 0;
  for (uint64_t start = 0; start < tile; start++)
    for (uint64_t at = 0; at <= start + box - 1; at += tile)
      sum += at + tile > start ? tile : 0;
  return (double) sum / (double) tile;
}

static void
the_product_equals_counting_tiles (void **state)
{
  (void) state;
  static const uint64_t sizes[][2] = {
    { 7, 16 }, { 16, 16 }, { 17, 16 }, { 40, 9 }, { 3, 50 },
  };
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    uint64_t box = sizes[i][0], tile = sizes[i][1];
    char tiles[64], boxes[64], expected[64];
    double one = count_touched (box, tile) / (double) box;
    snprintf (tiles, sizeof tiles, "%u,%u,%u", (unsigned) tile,
              (unsigned) tile, (unsigned) tile);
    snprintf (boxes, sizeof boxes, "%u,%u,%u", (unsigned) box,
              (unsigned) box, (unsigned) box);
    snprintf (expected, sizeof expected, "takes %s x",
              rd_format_number (one * one * one).text);
    assert_found (build_shapes ("10000,10000,10000", tiles, boxes),
                  "read-amplification", RADIO_FINDING_PROBLEM, expected);
  }
}

/* Asserts that the finding is there, without advice. */
static void
assert_no_advice (struct radio_profile *profile)
{
  build_finish (profile);
  const struct radio_finding *finding =
    find_finding (profile, "read-amplification");
  assert_non_null (finding);
  assert_null (strstr (finding->evidence, "box"));
  assert_int_equal (finding->node, RADIO_NO_PARENT);
  radio_profile_close (profile);
}

static void
without_shapes_there_is_no_advice (void **state)
{
  (void) state;
  static const char *const bad[] = {
    "", "64", "64,64", "64,64,", ",64,64", "0,64,64", "a,b,c", "64 64 64",
    "-1,64,64", "99999999999999999999,1,1", "64,64,64x",
    "1,1,1,1,1,1,64,64,64",
  };
  assert_no_advice (build_read (64000000, 1000000));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_no_advice (build_shapes (bad[i], bad[i], bad[i]));
  assert_no_advice (build_shapes ("64,64,64", "8,8,8", "1,64,64,64"));
}

static void
boxes_that_differ_give_no_advice (void **state)
{
  (void) state;
  struct radio_profile *profile =
    build_shapes ("256,256,256", "1,256,256", "64,64,64");
  for (size_t i = 0; i < profile->notes.n; i++)
    profile->notes.at[i].varies = true;
  assert_no_advice (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (decoding_twice_the_delivered_bytes_is_reported),
    cmocka_unit_test (eight_times_as_much_is_a_problem),
    cmocka_unit_test (less_than_a_megabyte_does_not_matter),
    cmocka_unit_test (tiles_decoded_by_a_check_are_not_amplification),
    cmocka_unit_test (fetching_twice_the_requested_bytes_is_reported),
    cmocka_unit_test (planes_are_wrong_for_boxes),
    cmocka_unit_test (boxes_are_wrong_for_planes),
    cmocka_unit_test (wide_planes_are_cut_as_axial_cuts_them),
    cmocka_unit_test (a_time_axis_has_tiles_of_one),
    cmocka_unit_test (no_tiling_is_advised_where_none_is_better),
    cmocka_unit_test (the_element_size_follows_from_the_tiles_bytes),
    cmocka_unit_test (converting_elements_does_not_hide_amplification),
    cmocka_unit_test (a_part_that_is_converted_counts_as_stored),
    cmocka_unit_test (axial_tiles_are_those_that_ingest_makes),
    cmocka_unit_test (a_small_array_has_no_custom_tiles),
    cmocka_unit_test (custom_tiles_are_proposed_where_they_win),
    cmocka_unit_test (the_axial_axis_is_the_volumes),
    cmocka_unit_test (the_product_equals_counting_tiles),
    cmocka_unit_test (without_shapes_there_is_no_advice),
    cmocka_unit_test (boxes_that_differ_give_no_advice),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
