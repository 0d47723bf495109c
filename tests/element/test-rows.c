/* SPDX-License-Identifier: MIT */
/* Moving rows: of every length, with any steps, forward, backward and as
 * columns, and nothing beside them. */
#include <config.h>

#include "tests/unit.h"
#include "tests/element/random.h"

#include "src/element/rows.h"

enum { ROOM = 1 << 14 };

static unsigned char from[ROOM], to[ROOM], expected[ROOM];

/* Rows copied byte by byte, and then by the function. */
static void
check_rows (size_t from_at, int64_t from_step, size_t to_at, int64_t to_step,
            size_t nbytes, size_t nrows)
{
  memset (to, 0x5a, sizeof to);
  memset (expected, 0x5a, sizeof expected);
  for (size_t row = 0; row < nrows; row++)
    for (size_t i = 0; i < nbytes; i++)
      expected[(int64_t) (to_at + i) + (int64_t) row * to_step]
        = from[(int64_t) (from_at + i) + (int64_t) row * from_step];
  rd_rows_copy (from + from_at, from_step, to + to_at, to_step, nbytes,
                nrows);
  assert_memory_equal (to, expected, sizeof to);
}

static int
fill (void **state)
{
  (void) state;
  uint64_t seed = 1;
  for (size_t i = 0; i < ROOM; i++)
    from[i] = (unsigned char) random_next (&seed);
  return 0;
}

static void
rows_of_every_length_are_copied (void **state)
{
  (void) state;
  for (size_t nbytes = 0; nbytes <= 600; nbytes++) {
    int64_t step = (int64_t) nbytes;
    check_rows (3, step + 1, 5, step + 7, nbytes, 5);
    check_rows (0, step, 0, step, nbytes, 9);
  }
}

static void
steps_may_be_nothing_or_go_back (void **state)
{
  (void) state;
  static const size_t lengths[] = { 1, 2, 3, 5, 8, 13, 16, 31, 32, 33, 64,
                                    65, 128, 200, 256, 300 };
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    int64_t step = (int64_t) lengths[i];
    check_rows (7, 0, 100, step + 3, lengths[i], 4);
    check_rows (3000, -2 * step, 4000, -step, lengths[i], 4);
    check_rows (1, 1, 4000, -step - 1, lengths[i], 4);
  }
}

static void
no_rows_are_nothing (void **state)
{
  (void) state;
  check_rows (0, 64, 0, 64, 64, 0);
  check_rows (0, 0, 0, 0, 0, 100);
}

enum { PLACES = 1 << 18 };

static _Alignas (64) unsigned char placed[PLACES], naive[PLACES];

/* Rows placed element by element, and then by the function. */
static void
check_places (size_t item_nbytes, size_t n, size_t nrows, size_t at,
              int64_t to_step, int64_t to_stride, bool streams)
{
  const int64_t from_step = (int64_t) (n * item_nbytes) + 5;
  const struct rd_rows rows = {
    .from = from + 3, .from_step = from_step, .to = placed + at,
    .to_step = to_step, .n = n, .nrows = nrows, .streams = streams,
  };
  memset (placed, 0x5a, sizeof placed);
  memset (naive, 0x5a, sizeof naive);
  for (size_t row = 0; row < nrows; row++)
    for (size_t i = 0; i < n; i++)
      memcpy (naive + at + (int64_t) row * to_step + (int64_t) i * to_stride,
              from + 3 + (int64_t) row * from_step + i * item_nbytes,
              item_nbytes);
  rd_rows_place_prefetch (&rows, item_nbytes, to_stride);
  rd_rows_place (&rows, item_nbytes, to_stride);
  rd_rows_fence ();
  if (memcmp (placed, naive, sizeof placed) != 0)
    fail_msg ("%zu rows of %zu elements of %zu bytes, %d and %d apart%s",
              nrows, n, item_nbytes, (int) to_step, (int) to_stride,
              streams ? ", past the caches" : "");
}

static const size_t sizes[] = { 1, 2, 3, 4, 8, 16 };
#define NSIZES (sizeof sizes / sizeof *sizes)

static void
rows_are_placed_forward_backward_and_as_columns (void **state)
{
  (void) state;
  for (size_t s = 0; s < NSIZES; s++)
    for (size_t n = 0; n <= 40; n += 1 + n / 9)
      for (size_t nrows = 0; nrows <= 20; nrows += 1 + nrows / 9) {
        int64_t size = (int64_t) sizes[s], far = 50 * size + 1;
        if (nrows * (n * sizes[s] + 5) + 3 > ROOM)
          continue;
        check_places (sizes[s], n, nrows, 7, far, size, false);
        check_places (sizes[s], n, nrows, 50000, far, -size, false);
        check_places (sizes[s], n, nrows, 50000, -far, -size, false);
        check_places (sizes[s], n, nrows, 7, size, far, false);
        check_places (sizes[s], n, nrows, 50000, -size, far, false);
        check_places (sizes[s], n, nrows, 50000, size, -far, false);
        check_places (sizes[s], n, nrows, 7, far, 2 * size, false);
      }
}

static void
long_columns_are_placed_in_parts (void **state)
{
  (void) state;
  static const size_t lengths[] = { 63, 64, 65, 130, 257, 400 };
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (size_t s = 0; s < NSIZES; s++) {
      int64_t size = (int64_t) sizes[s];
      if (lengths[i] * (9 * sizes[s] + 5) + 3 > ROOM)
        continue;
      check_places (sizes[s], 9, lengths[i], 0, size, 450 * size, false);
      check_places (sizes[s], 9, lengths[i], 100000, -size, 450 * size, false);
    }
}

static void
whole_lines_may_be_written_past_the_caches (void **state)
{
  (void) state;
  for (size_t s = 0; s < NSIZES; s++) {
    int64_t size = (int64_t) sizes[s];
    size_t n = 64 / sizes[s];
    if (64 % sizes[s] != 0)
      continue;
    for (size_t lines = 1; lines <= 5; lines++)
      for (size_t others = 1; others <= 35; others += 1 + others / 5) {
        if (others * (lines * 64 + 5) + 3 > ROOM)
          break;
        check_places (sizes[s], lines * n, others, 128, 384, size, true);
        check_places (sizes[s], lines * n, others, 6400 - sizes[s], 384,
                      -size, true);
        check_places (sizes[s], others, lines * n, 128, size, 384, true);
        check_places (sizes[s], others, lines * n, 6400 - sizes[s], -size,
                      384, true);
        /* Rows and columns may begin anywhere. */
        check_places (sizes[s], lines * n, others, 129, 384, size, true);
        check_places (sizes[s], others, lines * n, 128 + 16, size, 384, true);
        check_places (sizes[s], others, lines * n, 6400 + 48, -size, 384,
                      true);
        /* Also in whole vectors that are no whole lines. */
        check_places (sizes[s], others, lines * n - n / 4, 128, size, 384,
                      true);
        check_places (sizes[s], others, lines * n - n / 2, 128 + 32, size, 384,
                      true);
        check_places (sizes[s], lines * n - n / 4, others, 128 + 16, 384, size,
                      true);
      }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rows_of_every_length_are_copied),
    cmocka_unit_test (steps_may_be_nothing_or_go_back),
    cmocka_unit_test (no_rows_are_nothing),
    cmocka_unit_test (rows_are_placed_forward_backward_and_as_columns),
    cmocka_unit_test (long_columns_are_placed_in_parts),
    cmocka_unit_test (whole_lines_may_be_written_past_the_caches),
  };
  return cmocka_run_group_tests (tests, fill, NULL);
}
