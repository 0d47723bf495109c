/* SPDX-License-Identifier: MIT */
/* Which tiles are kept: those of planes that follow planes and those that
 * are read again; none of random reads, or of whole arrays. */
#include <config.h>

#include "src/array/cache/reads.h"
#include "tests/unit.h"

#include <radio/box.h>

static const uint64_t shape[3] = { 100, 200, 300 };

struct history {
  struct rd_read_history history;
  struct rd_admission admission;
  struct radio_box box;
};

static void
begin (struct history *history)
{
  rd_read_history_init (&history->history);
}

static void
end (struct history *history)
{
  rd_read_history_destroy (&history->history);
}

static void
read_box (struct history *history, struct radio_box box)
{
  history->box = box;
  rd_read_history_add (&history->history, &box, &history->admission);
}

static struct radio_box
plane (uint64_t z)
{
  return radio_box3 (z, 1, 0, 200, 0, 300);
}

/* True if the tile of 8 x 32 x 32 at a place would be kept. */
static bool
keeps (const struct history *history, uint64_t z, uint64_t y, uint64_t x)
{
  struct radio_box tile = radio_box3 (z * 8, 8, y * 32, 32, x * 32, 32);
  return rd_admits_tile (&history->admission, &history->box, &tile, shape);
}

static void
the_first_read_keeps_nothing (void **state)
{
  struct history history;
  (void) state;
  begin (&history);
  read_box (&history, plane (3));
  assert_false (keeps (&history, 0, 0, 0));
  end (&history);
}

static void
the_next_plane_keeps_its_tiles (void **state)
{
  struct history history;
  (void) state;
  begin (&history);
  read_box (&history, plane (7));
  read_box (&history, plane (8));       /* of other tiles */
  assert_true (keeps (&history, 1, 0, 0));
  assert_true (keeps (&history, 1, 6, 9));
  read_box (&history, plane (7));       /* and back again */
  assert_true (keeps (&history, 0, 3, 3));
  end (&history);
}

static void
planes_far_apart_keep_nothing (void **state)
{
  struct history history;
  (void) state;
  begin (&history);
  for (uint64_t z = 0; z < 100; z += 17) {
    read_box (&history, plane (z));
    assert_false (keeps (&history, z / 8, 0, 0));
  }
  end (&history);
}

static void
another_plane_of_the_same_tiles_keeps_them (void **state)
{
  struct history history;
  (void) state;
  begin (&history);
  read_box (&history, plane (0));
  read_box (&history, plane (6));
  assert_true (keeps (&history, 0, 0, 0));
  end (&history);
}

static void
a_box_read_again_is_kept (void **state)
{
  struct history history;
  const struct radio_box box = radio_box3 (8, 16, 32, 64, 64, 64);
  (void) state;
  begin (&history);
  read_box (&history, box);
  assert_false (keeps (&history, 1, 1, 2));
  read_box (&history, box);
  assert_true (keeps (&history, 1, 1, 2));
  end (&history);
}

/* Their tiles are all used up. */
static void
slabs_that_end_with_their_tiles_keep_nothing (void **state)
{
  struct history history;
  (void) state;
  begin (&history);
  for (uint64_t z = 0; z < 96; z += 16) {
    read_box (&history, radio_box3 (z, 16, 0, 200, 0, 300));
    assert_false (keeps (&history, z / 8, 0, 0));
    assert_false (keeps (&history, z / 8 + 1, 6, 9));   /* cut by the edge */
  }
  end (&history);
}

static void
slabs_that_share_a_tile_keep_that (void **state)
{
  struct history history;
  (void) state;
  begin (&history);
  read_box (&history, radio_box3 (0, 20, 0, 200, 0, 300));
  read_box (&history, radio_box3 (20, 20, 0, 200, 0, 300));
  assert_true (keeps (&history, 2, 0, 0));      /* read before as well */
  assert_false (keeps (&history, 3, 0, 0));     /* 24 to 32, all used up */
  read_box (&history, radio_box3 (40, 20, 0, 200, 0, 300));
  assert_true (keeps (&history, 7, 0, 0));      /* 56 to 64, reaches beyond */
  end (&history);
}

static void
planes_of_other_directions_are_no_neighbours (void **state)
{
  struct history history;
  (void) state;
  begin (&history);
  read_box (&history, plane (50));
  read_box (&history, radio_box3 (0, 100, 100, 1, 0, 300));
  assert_true (keeps (&history, 6, 3, 0));      /* where they cross */
  assert_false (keeps (&history, 5, 3, 0));
  end (&history);
}

static void
only_the_last_few_reads_count (void **state)
{
  struct history history;
  (void) state;
  begin (&history);
  for (int round = 0; round < 3; round++) {
    read_box (&history, plane (0));
    for (uint64_t i = 1; i < RD_HISTORY_MAX; i++)
      read_box (&history, plane (20 * i));
    read_box (&history, plane (2));
    assert_true (keeps (&history, 0, 0, 0));
    for (uint64_t i = 1; i <= RD_HISTORY_MAX; i++)
      read_box (&history, plane (20 * (i % 4) + 13));
    read_box (&history, plane (0));
    assert_false (keeps (&history, 0, 0, 0));
    for (uint64_t i = 1; i <= RD_HISTORY_MAX; i++)
      read_box (&history, plane (20 * (i % 4) + 13));
  }
  end (&history);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_first_read_keeps_nothing),
    cmocka_unit_test (the_next_plane_keeps_its_tiles),
    cmocka_unit_test (planes_far_apart_keep_nothing),
    cmocka_unit_test (another_plane_of_the_same_tiles_keeps_them),
    cmocka_unit_test (a_box_read_again_is_kept),
    cmocka_unit_test (slabs_that_end_with_their_tiles_keep_nothing),
    cmocka_unit_test (slabs_that_share_a_tile_keep_that),
    cmocka_unit_test (planes_of_other_directions_are_no_neighbours),
    cmocka_unit_test (only_the_last_few_reads_count),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
