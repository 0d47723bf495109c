/* SPDX-License-Identifier: MIT */
/* Shuffling of bytes and bits by each instruction set, against loops over
 * elements, and against what undoes it. */
#include <config.h>

#include "tests/codec/build.h"

#include "src/codec/shuffle.h"

enum { MAX = 255 * 260 };

struct blocks {
  unsigned char from[MAX], expected[MAX], to[MAX + 64], room[MAX];
};

static void
fill_noise (unsigned char *data, size_t nbytes, uint64_t seed)
{
  for (size_t i = 0; i < nbytes; i++)
    data[i] = (unsigned char) random_next (&seed);
}

static void
expect_bytes (struct blocks *blocks, size_t typesize, size_t nbytes)
{
  size_t n = nbytes / typesize;
  memcpy (blocks->expected, blocks->from, nbytes);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < typesize; k++)
      blocks->expected[k * n + i] = blocks->from[i * typesize + k];
}

/* Bit b of byte k of element i is bit i of row 8 k + b. */
static void
expect_bits (struct blocks *blocks, size_t typesize, size_t nbytes)
{
  size_t n = nbytes / typesize;
  memcpy (blocks->expected, blocks->from, nbytes);
  if (n % 8 != 0)
    return;
  memset (blocks->expected, 0, n * typesize);
  for (size_t i = 0; i < n; i++)
    for (size_t row = 0; row < 8 * typesize; row++) {
      unsigned bit = blocks->from[i * typesize + row / 8] >> row % 8 & 1;
      blocks->expected[row * (n / 8) + i / 8] |= (unsigned char)
        (bit << i % 8);
    }
}

/* Nothing is written past the block. */
static void
check (const struct rd_shuffler *shuffler, struct blocks *blocks,
       size_t typesize, size_t nbytes, bool bits)
{
  memset (blocks->to, 0xa5, nbytes + 64);
  rd_shuffle_by (shuffler, typesize, blocks->from, blocks->to, nbytes,
                 bits ? blocks->room : NULL);
  if (memcmp (blocks->to, blocks->expected, nbytes) != 0)
    fail_msg ("%s: %zu bytes of %zu",
              rd_simd_name (shuffler ? shuffler->level : RD_SIMD_SCALAR),
              nbytes, typesize);
  for (size_t i = 0; i < 64; i++)
    assert_int_equal (blocks->to[nbytes + i], 0xa5);
}

static void
check_all (struct blocks *blocks, size_t typesize, size_t nbytes, bool bits)
{
  const struct rd_shuffler *const *list = rd_shufflers ();
  fill_noise (blocks->from, nbytes, nbytes * 256 + typesize);
  if (bits)
    expect_bits (blocks, typesize, nbytes);
  else
    expect_bytes (blocks, typesize, nbytes);
  check (NULL, blocks, typesize, nbytes, bits);
  for (; *list; list++)
    if (rd_simd_is_supported ((*list)->level))
      check (*list, blocks, typesize, nbytes, bits);
}

static void
check_every_size (bool bits)
{
  static const size_t typesizes[] = { 1, 2, 3, 4, 5, 8, 12, 16, 17, 255 };
  struct blocks *blocks = malloc (sizeof *blocks);
  assert_non_null (blocks);
  for (size_t t = 0; t < sizeof typesizes / sizeof typesizes[0]; t++) {
    size_t typesize = typesizes[t];
    for (size_t n = 0; n <= 140; n++)
      check_all (blocks, typesize, n * typesize + n % typesize, bits);
    for (size_t n = 248; n <= 258; n++)
      check_all (blocks, typesize, n * typesize, bits);
  }
  free (blocks);
}

static void
bytes_are_grouped_for_every_size (void **state)
{
  (void) state;
  check_every_size (false);
}

static void
bits_are_grouped_for_every_size (void **state)
{
  (void) state;
  check_every_size (true);
}

static void
the_chosen_way_is_one_of_them (void **state)
{
  (void) state;
  struct blocks *blocks = malloc (sizeof *blocks);
  assert_non_null (blocks);
  fill_noise (blocks->from, 4096, 1);
  expect_bytes (blocks, 4, 4096);
  rd_shuffle (4, blocks->from, blocks->to, 4096);
  assert_memory_equal (blocks->to, blocks->expected, 4096);
  expect_bits (blocks, 4, 4096);
  rd_bitshuffle (4, blocks->from, blocks->to, 4096, blocks->room);
  assert_memory_equal (blocks->to, blocks->expected, 4096);
  free (blocks);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (bytes_are_grouped_for_every_size),
    cmocka_unit_test (bits_are_grouped_for_every_size),
    cmocka_unit_test (the_chosen_way_is_one_of_them),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
