/* SPDX-License-Identifier: MIT */
/* Boxes and grids, against plain counting and at the edges of 64 bits. */
#include <config.h>

#include "tests/unit.h"

#include "src/element/box.h"

static void
assert_box (const struct radio_box *box, size_t rank, const uint64_t *start,
            const uint64_t *size)
{
  assert_int_equal (box->rank, rank);
  for (size_t i = 0; i < rank; i++) {
    assert_int_equal (box->start[i], start[i]);
    assert_int_equal (box->size[i], size[i]);
  }
}

static void
a_count_is_the_product_of_the_sizes (void **state)
{
  (void) state;
  struct radio_box box = radio_box3 (9, 2, 9, 3, 9, 5);
  assert_int_equal (radio_box_count (&box), 30);
}

static void
a_count_that_overflows_is_the_largest_number (void **state)
{
  (void) state;
  struct radio_box box = radio_box3 (0, UINT64_C (1) << 32, 0,
                                     UINT64_C (1) << 32, 0, 1);
  assert_true (radio_box_count (&box) == UINT64_MAX);
}

static void
an_empty_axis_empties_even_an_enormous_box (void **state)
{
  (void) state;
  struct radio_box box = radio_box3 (0, UINT64_MAX, 0, UINT64_MAX, 0, 0);
  assert_int_equal (radio_box_count (&box), 0);
}

static void
the_whole_of_an_array_starts_at_zero (void **state)
{
  (void) state;
  uint64_t shape[] = { 4, 0, 6 }, zero[3] = { 0 };
  struct radio_box box = rd_box_whole (3, shape);
  assert_box (&box, 3, zero, shape);
  assert_true (rd_box_fits (&box, 3, shape));
}

static void
a_box_fits_up_to_the_last_element_and_no_further (void **state)
{
  (void) state;
  uint64_t shape[] = { 4, 5, 6 };
  struct radio_box inside = radio_box3 (3, 1, 0, 5, 6, 0);
  struct radio_box outside = radio_box3 (3, 2, 0, 5, 0, 6);
  struct radio_box beyond = radio_box3 (5, 0, 0, 5, 0, 6);
  assert_true (rd_box_fits (&inside, 3, shape));
  assert_false (rd_box_fits (&outside, 3, shape));
  assert_false (rd_box_fits (&beyond, 3, shape));
}

static void
a_box_whose_end_wraps_does_not_fit (void **state)
{
  (void) state;
  uint64_t shape[] = { 4, 5, 6 };
  struct radio_box box = radio_box3 (2, UINT64_MAX, 0, 1, 0, 1);
  assert_false (rd_box_fits (&box, 3, shape));
}

static void
a_box_of_another_rank_does_not_fit (void **state)
{
  (void) state;
  uint64_t shape[RADIO_MAX_RANK] = { 4, 5, 6 };
  struct radio_box box = radio_box3 (0, 1, 0, 1, 0, 1);
  assert_false (rd_box_fits (&box, 2, shape));
  box.rank = 0;
  assert_false (rd_box_fits (&box, 0, shape));
  box.rank = RADIO_MAX_RANK + 1;
  assert_false (rd_box_fits (&box, RADIO_MAX_RANK + 1, shape));
}

static void
the_intersection_of_boxes_is_in_both (void **state)
{
  (void) state;
  struct radio_box a = radio_box3 (0, 4, 2, 8, 5, 1);
  struct radio_box b = radio_box3 (3, 9, 0, 4, 0, 9);
  struct radio_box shared;
  assert_true (rd_box_intersect (&a, &b, &shared));
  assert_box (&shared, 3, (uint64_t[]) { 3, 2, 5 },
              (uint64_t[]) { 1, 2, 1 });
}

static void
boxes_that_only_touch_share_nothing (void **state)
{
  (void) state;
  struct radio_box a = radio_box3 (0, 4, 0, 4, 0, 4);
  struct radio_box b = radio_box3 (0, 4, 0, 4, 4, 4);
  struct radio_box empty = radio_box3 (1, 1, 1, 0, 1, 1);
  struct radio_box shared;
  assert_false (rd_box_intersect (&a, &b, &shared));
  assert_false (rd_box_intersect (&a, &empty, &shared));
}

static void
an_intersection_may_replace_one_of_its_boxes (void **state)
{
  (void) state;
  struct radio_box a = radio_box3 (0, 4, 0, 4, 0, 4);
  struct radio_box b = radio_box3 (2, 4, 2, 4, 2, 4);
  assert_true (rd_box_intersect (&a, &b, &a));
  assert_box (&a, 3, (uint64_t[]) { 2, 2, 2 }, (uint64_t[]) { 2, 2, 2 });
}

static void
a_cell_at_the_far_edge_is_clipped_without_wrapping (void **state)
{
  (void) state;
  uint64_t shape[] = { INT64_MAX };
  uint64_t cell_shape[] = { UINT64_C (1) << 62 };
  struct radio_box whole = rd_box_whole (1, shape), cells, shared;
  rd_grid_touched (&whole, cell_shape, &cells);
  assert_int_equal (cells.size[0], 2);
  struct radio_box cell = rd_grid_cell (1, cell_shape, (uint64_t[]) { 1 });
  assert_true (rd_box_intersect (&cell, &whole, &shared));
  assert_true (shared.size[0] == (UINT64_C (1) << 62) - 1);
  cell = rd_grid_cell (1, cell_shape, (uint64_t[]) { UINT64_MAX });
  assert_false (rd_box_intersect (&cell, &whole, &shared));
}

static void
a_cell_starts_at_its_index_times_the_cell_shape (void **state)
{
  (void) state;
  uint64_t cell_shape[] = { 8, 16 };
  struct radio_box cell = rd_grid_cell (2, cell_shape,
                                        (uint64_t[]) { 3, 2 });
  assert_box (&cell, 2, (uint64_t[]) { 24, 32 }, cell_shape);
}

/* Every box of a line of 12 against counting the cells of its elements. */
static void
touched_cells_are_those_of_the_elements (void **state)
{
  (void) state;
  for (uint64_t cell = 1; cell <= 5; cell++)
    for (uint64_t start = 0; start < 12; start++)
      for (uint64_t size = 1; start + size <= 12; size++) {
        struct radio_box box = { 1, { start }, { size } }, cells;
        uint64_t low = UINT64_MAX, high = 0;
        for (uint64_t i = start; i < start + size; i++) {
          low = i / cell < low ? i / cell : low;
          high = i / cell > high ? i / cell : high;
        }
        rd_grid_touched (&box, &cell, &cells);
        assert_int_equal (cells.start[0], low);
        assert_int_equal (cells.size[0], high - low + 1);
      }
}

static void
unravelling_and_stepping_go_through_a_box_in_c_order (void **state)
{
  (void) state;
  struct radio_box box = radio_box3 (1, 2, 5, 3, 7, 4);
  uint64_t at[3], stepped[3] = { 1, 5, 7 };
  uint64_t n = 0;
  for (uint64_t z = 1; z < 3; z++)
    for (uint64_t y = 5; y < 8; y++)
      for (uint64_t x = 7; x < 11; x++) {
        rd_box_unravel (&box, n, at);
        assert_memory_equal (at, ((uint64_t[]) { z, y, x }), sizeof at);
        assert_memory_equal (at, stepped, sizeof at);
        assert_int_equal (rd_box_next (&box, stepped), ++n < 24);
      }
  assert_memory_equal (stepped, box.start, sizeof stepped);
}

static void
strides_of_c_order_grow_to_the_front (void **state)
{
  (void) state;
  int64_t strides[3];
  assert_true (rd_c_strides (3, (uint64_t[]) { 7, 3, 5 }, 4, strides));
  assert_int_equal (strides[0], 60);
  assert_int_equal (strides[1], 20);
  assert_int_equal (strides[2], 4);
}

static void
strides_of_more_bytes_than_can_be_addressed_are_refused (void **state)
{
  (void) state;
  int64_t strides[3];
  uint64_t edge = UINT64_C (1) << 30;
  assert_true (rd_c_strides (3, (uint64_t[]) { edge, edge, 7 }, 1, strides));
  assert_false (rd_c_strides (3, (uint64_t[]) { edge, edge, 8 }, 1,
                              strides));
  assert_false (rd_c_strides (2, (uint64_t[]) { UINT64_MAX, UINT64_MAX }, 2,
                              strides));
}

static void
an_empty_array_has_strides_whatever_its_other_axes (void **state)
{
  (void) state;
  int64_t strides[3];
  uint64_t shape[] = { 0, UINT64_MAX, UINT64_MAX };
  assert_true (rd_c_strides (3, shape, 8, strides));
}

static void
a_shape_as_text_has_its_numbers_and_commas (void **state)
{
  static const uint64_t shape[RADIO_MAX_RANK] = {
    0, 9, 10, 512, UINT64_MAX, 100, 99, 1000000007
  };
  static const char *const texts[] = {
    "", "0", "0,9", "0,9,10", "0,9,10,512",
    "0,9,10,512,18446744073709551615",
  };
  static const uint64_t largest[RADIO_MAX_RANK] = {
    UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
    UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX
  };
  char text[RD_SHAPE_NBYTES];
  (void) state;
  for (size_t rank = 0; rank < sizeof texts / sizeof texts[0]; rank++)
    assert_string_equal (rd_shape_text (rank, shape, text), texts[rank]);
  assert_string_equal (rd_shape_text (RADIO_MAX_RANK, shape, text),
                       "0,9,10,512,18446744073709551615,100,99,1000000007");
  rd_shape_text (RADIO_MAX_RANK, largest, text);
  assert_int_equal (strlen (text), RADIO_MAX_RANK * 21 - 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_count_is_the_product_of_the_sizes),
    cmocka_unit_test (a_count_that_overflows_is_the_largest_number),
    cmocka_unit_test (an_empty_axis_empties_even_an_enormous_box),
    cmocka_unit_test (the_whole_of_an_array_starts_at_zero),
    cmocka_unit_test (a_box_fits_up_to_the_last_element_and_no_further),
    cmocka_unit_test (a_box_whose_end_wraps_does_not_fit),
    cmocka_unit_test (a_box_of_another_rank_does_not_fit),
    cmocka_unit_test (the_intersection_of_boxes_is_in_both),
    cmocka_unit_test (boxes_that_only_touch_share_nothing),
    cmocka_unit_test (an_intersection_may_replace_one_of_its_boxes),
    cmocka_unit_test (a_cell_at_the_far_edge_is_clipped_without_wrapping),
    cmocka_unit_test (a_cell_starts_at_its_index_times_the_cell_shape),
    cmocka_unit_test (touched_cells_are_those_of_the_elements),
    cmocka_unit_test (unravelling_and_stepping_go_through_a_box_in_c_order),
    cmocka_unit_test (strides_of_c_order_grow_to_the_front),
    cmocka_unit_test (
      strides_of_more_bytes_than_can_be_addressed_are_refused),
    cmocka_unit_test (an_empty_array_has_strides_whatever_its_other_axes),
    cmocka_unit_test (a_shape_as_text_has_its_numbers_and_commas),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
