/* SPDX-License-Identifier: MIT */
/* Copying rows: of every length, with any steps, and nothing beside them. */
#include <config.h>

#include "tests/unit.h"
#include "tests/element/random.h"

#include "src/element/copy.h"

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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rows_of_every_length_are_copied),
    cmocka_unit_test (steps_may_be_nothing_or_go_back),
    cmocka_unit_test (no_rows_are_nothing),
  };
  return cmocka_run_group_tests (tests, fill, NULL);
}
