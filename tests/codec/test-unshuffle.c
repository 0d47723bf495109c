/* SPDX-License-Identifier: MIT */
/* Every way of unshuffling that this machine has, against the definition of
 * the filters: all elements, some of them, and rows of them, written exactly
 * where they belong. */
#include <config.h>

#include "tests/unit.h"
#include "tests/element/random.h"

#include "src/codec/shuffle.h"

enum { MOST_NBYTES = 40000, GUARD = 64 };

struct site {
  unsigned char elements[MOST_NBYTES], shuffled[MOST_NBYTES];
  unsigned char expected[2 * MOST_NBYTES + 2 * GUARD];
  unsigned char result[2 * MOST_NBYTES + 2 * GUARD];
  struct rd_shuffled block;
  const struct rd_unshuffler *const *by;
};

static const size_t typesizes[] = { 1, 2, 3, 4, 5, 8, 12, 16, 17, 255 };
#define NTYPESIZES (sizeof typesizes / sizeof typesizes[0])

/* For each bit of an element a row, of one bit an element, the first in the
 * lowest bit. */
static void
shuffle_bits (const unsigned char *from, unsigned char *to, size_t typesize,
              size_t n)
{
  memset (to, 0, n * typesize);
  for (size_t i = 0; i < n; i++)
    for (size_t bit = 0; bit < 8 * typesize; bit++)
      if (from[i * typesize + bit / 8] >> bit % 8 & 1)
        to[bit * (n / 8) + i / 8] |= (unsigned char) (1u << i % 8);
}

static void
shuffle_bytes (const unsigned char *from, unsigned char *to,
               size_t typesize, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < typesize; k++)
      to[k * n + i] = from[i * typesize + k];
}

static void
make_block (struct site *site, size_t typesize, size_t n, bool bits)
{
  uint64_t seed = n + typesize;
  assert_true (n * typesize <= MOST_NBYTES);
  for (size_t i = 0; i < n * typesize; i++)
    site->elements[i] = (unsigned char) random_next (&seed);
  (bits ? shuffle_bits : shuffle_bytes) (site->elements, site->shuffled,
                                         typesize, n);
  site->block = (struct rd_shuffled) { site->shuffled, typesize, n, bits };
}

/* Rows by definition, and then by one of the ways: nothing else changes. */
static void
check_rows (struct site *site, struct rd_shuffled_rows rows)
{
  size_t typesize = site->block.typesize;
  memset (site->expected, 0xa5, sizeof site->expected);
  memset (site->result, 0xa5, sizeof site->result);
  size_t start = GUARD;
  if (rows.to_step < 0)
    start += (rows.nrows - 1) * (size_t) -rows.to_step;
  for (size_t i = 0; i < rows.nrows; i++)
    memcpy (site->expected + start + (int64_t) i * rows.to_step,
            site->elements + (rows.first + i * rows.step) * typesize,
            rows.n * typesize);
  rows.to = site->result + start;
  rd_unshuffle_rows_by (site->by, &site->block, &rows);
  assert_memory_equal (site->result, site->expected, sizeof site->result);
}

static void
check_part (struct site *site, size_t first, size_t count)
{
  const struct rd_shuffled_rows row = { first, count, 1, 0, NULL, 0 };
  check_rows (site, row);
}

/* The same test for each way that runs here, and each filter. */
static void
check_all (void (*check) (struct site *site, bool bits))
{
  struct site *site = malloc (sizeof *site);
  unsigned nways = 0;
  assert_non_null (site);
  for (site->by = rd_unshufflers; *site->by; site->by++)
    if (rd_simd_is_supported ((*site->by)->level)) {
      check (site, false);
      check (site, true);
      nways++;
    }
  free (site);
  assert_true (nways > 0);
}

static void
check_whole_blocks (struct site *site, bool bits)
{
  for (size_t t = 0; t < NTYPESIZES; t++)
    for (size_t n = bits ? 8 : 1; n <= 1200; n += bits ? 8 : n / 16 + 1) {
      if (n * typesizes[t] > MOST_NBYTES)
        break;
      make_block (site, typesizes[t], n, bits);
      check_part (site, 0, n);
    }
}

static void
blocks_of_every_size_come_back (void **state)
{
  (void) state;
  check_all (check_whole_blocks);
}

static void
check_parts (struct site *site, bool bits)
{
  uint64_t seed = 3;
  for (size_t t = 0; t < NTYPESIZES; t++) {
    size_t n = MOST_NBYTES / typesizes[t] / 8 * 8;
    n = n < 4096 ? n : 4096;
    make_block (site, typesizes[t], n, bits);
    for (unsigned i = 0; i < 60; i++) {
      size_t first = random_next (&seed) % n;
      size_t most = i % 2 ? n - first : 70;
      most = most < n - first ? most : n - first;
      check_part (site, first, random_next (&seed) % (most + 1));
    }
  }
}

static void
elements_can_be_wanted_in_part (void **state)
{
  (void) state;
  check_all (check_parts);
}

/* The boxes that are wanted of a tile of 8 x 32 x 32, plane by plane. */
static void
check_boxes (struct site *site, bool bits)
{
  uint64_t seed = 4;
  enum { X = 32, Y = 32 };
  for (size_t t = 0; typesizes[t] < 16; t++) {
    size_t typesize = typesizes[t];
    make_block (site, typesize, 2 * X * Y, bits);
    for (unsigned i = 0; i < 120; i++) {
      struct rd_shuffled_rows rows = { .step = X };
      size_t x = random_next (&seed) % X, y = random_next (&seed) % Y;
      rows.n = i % 3 == 0 ? X - x : 1 + random_next (&seed) % (X - x);
      rows.nrows = i % 4 == 0 ? Y - y : 1 + random_next (&seed) % (Y - y);
      rows.first = (i % 2 * Y + y) * X + x;
      rows.to_step = (int64_t) ((rows.n + i % 5) * typesize);
      if (i % 7 == 0)
        rows.to_step = -rows.to_step;
      check_rows (site, rows);
    }
  }
}

static void
rows_go_where_they_belong (void **state)
{
  (void) state;
  check_all (check_boxes);
}

/* Rows of a tile's whole width, any number of them. */
static void
check_whole_rows (struct site *site, bool bits)
{
  enum { X = 32, Y = 40 };
  for (size_t t = 0; typesizes[t] < 16; t++) {
    int64_t row_nbytes = (int64_t) (X * typesizes[t]);
    make_block (site, typesizes[t], X * Y, bits);
    for (size_t nrows = 1; nrows <= Y; nrows++) {
      struct rd_shuffled_rows rows = {
        .first = (nrows % 3 < Y - nrows ? nrows % 3 : 0) * X,
        .n = X, .nrows = nrows, .step = X, .to_step = row_nbytes + 7,
      };
      check_rows (site, rows);
      rows.to_step = -row_nbytes;
      check_rows (site, rows);
      rows.to_step = row_nbytes;
      check_rows (site, rows);
    }
  }
}

static void
whole_rows_of_a_tile_go_where_they_belong (void **state)
{
  (void) state;
  check_all (check_whole_rows);
}

/* Rows longer than what is made at a time, that begin and end anywhere. */
static void
check_long_rows (struct site *site, bool bits)
{
  for (size_t t = 0; t < NTYPESIZES; t++) {
    size_t n = MOST_NBYTES / typesizes[t] / 8 * 8;
    make_block (site, typesizes[t], n, bits);
    for (size_t cut = 0; cut < 9; cut++) {
      const struct rd_shuffled_rows rows = {
        .first = cut, .n = n / 2 - 2 * cut, .nrows = 2, .step = n / 2 + cut,
        .to_step = (int64_t) (n / 2 * typesizes[t]) + 3,
      };
      check_rows (site, rows);
    }
  }
}

static void
rows_can_be_long (void **state)
{
  (void) state;
  check_all (check_long_rows);
}

static void
nothing_is_wanted_of_a_block (struct site *site, bool bits)
{
  make_block (site, 2, 64, bits);
  check_part (site, 64, 0);
  const struct rd_shuffled_rows none = { 5, 8, 0, 32, NULL, 64 };
  check_rows (site, none);
}

static void
nothing_wanted_is_nothing_written (void **state)
{
  (void) state;
  check_all (nothing_is_wanted_of_a_block);
}

static void
plain_c_runs_everywhere_and_comes_last (void **state)
{
  (void) state;
  size_t n = 0;
  while (rd_unshufflers[n])
    n++;
  assert_true (n > 0);
  assert_int_equal (rd_unshufflers[n - 1]->level, RD_SIMD_SCALAR);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (blocks_of_every_size_come_back),
    cmocka_unit_test (elements_can_be_wanted_in_part),
    cmocka_unit_test (rows_go_where_they_belong),
    cmocka_unit_test (whole_rows_of_a_tile_go_where_they_belong),
    cmocka_unit_test (rows_can_be_long),
    cmocka_unit_test (nothing_wanted_is_nothing_written),
    cmocka_unit_test (plain_c_runs_everywhere_and_comes_last),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
