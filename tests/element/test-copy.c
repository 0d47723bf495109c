/* SPDX-License-Identifier: MIT */
/* Placing boxes: each layout against a loop over coordinates. */
#include <config.h>

#include "tests/unit.h"
#include "tests/element/random.h"

#include "src/element/box.h"
#include "src/element/copy.h"

enum { ROOM = 1 << 15 };

struct boxes {
  unsigned char from[ROOM], to[ROOM], expected[ROOM];
};

static void
fill_random (uint64_t *seed, unsigned char *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    p[i] = (unsigned char) random_next (seed);
}

/* Strides of an array whose axes lie in memory in a random order, with
 * random gaps and directions; *start is where its first element is. */
static void
random_strides (uint64_t *seed, const struct rd_box_copy *copy,
                size_t item_nbytes, int64_t *strides, size_t *start)
{
  size_t order[RADIO_MAX_RANK];
  for (size_t i = 0; i < copy->rank; i++)
    order[i] = i;
  for (size_t i = copy->rank; i > 1 && random_next (seed) % 2; i--) {
    size_t j = random_next (seed) % i, swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
  }
  int64_t step = (int64_t) item_nbytes;
  *start = 0;
  for (size_t i = copy->rank; i-- > 0;) {
    size_t axis = order[i];
    step += random_next (seed) % 4 ? 0 : (int64_t) item_nbytes;
    strides[axis] = step;
    step *= (int64_t) copy->shape[axis];
    if (random_next (seed) % 4 == 0) {
      *start += (size_t) strides[axis] * (copy->shape[axis] - 1);
      strides[axis] = -strides[axis];
    }
  }
}

/* Element by element, by coordinates; reverses units when swapped. */
static void
copy_by_definition (const struct rd_box_copy *copy, unsigned char *to)
{
  uint64_t n = 1;
  for (size_t i = 0; i < copy->rank; i++)
    n *= copy->shape[i];
  size_t item = copy->from_type.item_nbytes;
  size_t unit = copy->from_type.unit_nbytes;
  for (uint64_t e = 0; e < n; e++) {
    int64_t from = 0, at = 0;
    uint64_t rest = e;
    for (size_t i = copy->rank; i-- > 0; rest /= copy->shape[i]) {
      from += (int64_t) (rest % copy->shape[i]) * copy->from_strides[i];
      at += (int64_t) (rest % copy->shape[i]) * copy->to_strides[i];
    }
    for (size_t b = 0; b < item; b++) {
      size_t inside = b % unit;
      size_t source = copy->from_swapped ? b - inside + unit - 1 - inside
                                         : b;
      to[at + (int64_t) b] = copy->from[from + (int64_t) source];
    }
  }
}

/* Copies to a place in `to', and by definition to the same one in `expected',
 * which have nbytes: then they must be equal, also beside it. */
static void
copy_both_ways (struct rd_box_copy *copy, unsigned char *to,
                unsigned char *expected, size_t nbytes, size_t start)
{
  copy->to = to + start;
  memset (to, 0xee, nbytes);
  memset (expected, 0xee, nbytes);
  copy_by_definition (copy, expected + start);
  assert_ok (rd_box_copy_run (copy));
}

static void
check_random_box (uint64_t *seed, struct boxes *boxes,
                  const struct rd_type *type)
{
  struct rd_box_copy copy = { .rank = 1 + random_next (seed) % 8,
                              .from_type = *type, .to_dtype = type->dtype };
  uint64_t room = 200;
  for (size_t i = 0; i < copy.rank; i++) {
    copy.shape[i] = 1 + random_next (seed) % (room < 40 ? room : 40);
    room /= copy.shape[i];
  }
  size_t from_start, to_start;
  random_strides (seed, &copy, type->item_nbytes, copy.from_strides,
                  &from_start);
  random_strides (seed, &copy, type->item_nbytes, copy.to_strides,
                  &to_start);
  copy.from_swapped = random_next (seed) % 2;
  if (from_start >= ROOM / 2 || to_start >= ROOM / 2)
    return;
  copy.from = boxes->from + from_start;
  fill_random (seed, boxes->from, ROOM);
  copy_both_ways (&copy, boxes->to, boxes->expected, ROOM, to_start);
  assert_memory_equal (boxes->to, boxes->expected, ROOM);
}

static void
every_layout_of_every_size_is_copied_element_by_element (void **state)
{
  (void) state;
  static const char *const names[] = {
    "int8", "uint16", "float32", "int64", "complex64", "complex128", "r24",
    "r40",
  };
  struct boxes *boxes = malloc (sizeof *boxes);
  assert_non_null (boxes);
  uint64_t seed = 1;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct rd_type type;
    assert_ok (rd_type_parse (names[i], &type));
    for (int round = 0; round < 60; round++)
      check_random_box (&seed, boxes, &type);
  }
  free (boxes);
}

static void
a_stride_of_zero_repeats_an_element (void **state)
{
  (void) state;
  const uint16_t fill = 0x1234;
  uint16_t to[6 * 7];
  struct rd_box_copy copy = {
    .rank = 2, .shape = { 6, 7 }, .from = (const unsigned char *) &fill,
    .from_type = rd_type_of (RADIO_UINT16), .to = (unsigned char *) to,
    .to_strides = { 14, 2 }, .to_dtype = RADIO_UINT16,
  };
  assert_ok (rd_box_copy_run (&copy));
  for (size_t i = 0; i < 6 * 7; i++)
    assert_int_equal (to[i], 0x1234);
}

/* One element, as fill values are, in boxes of rows of all lengths: beside
 * them nothing is written, and units that are swapped are put right. */
static void
check_repeated (uint64_t *seed, struct boxes *boxes,
                const struct rd_type *type, size_t n)
{
  int64_t item = (int64_t) type->item_nbytes;
  int64_t gap = item * (int64_t) (random_next (seed) % 3);
  struct rd_box_copy copy = {
    .rank = 3, .shape = { 2, 3, n }, .from = boxes->from,
    .from_type = *type, .from_swapped = random_next (seed) % 2,
    .to_dtype = type->dtype,
    .to_strides = { 3 * (item * (int64_t) n + gap),
                    item * (int64_t) n + gap, item },
  };
  fill_random (seed, boxes->from, type->item_nbytes);
  copy_both_ways (&copy, boxes->to, boxes->expected, ROOM, 5);
  assert_memory_equal (boxes->to, boxes->expected, ROOM);
}

static void
one_element_fills_rows_of_every_length (void **state)
{
  (void) state;
  static const char *const names[] = {
    "uint8", "int16", "float32", "float64", "complex64", "complex128", "r24",
    "r8200",
  };
  struct boxes *boxes = malloc (sizeof *boxes);
  assert_non_null (boxes);
  uint64_t seed = 2;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct rd_type type;
    assert_ok (rd_type_parse (names[i], &type));
    size_t most = (ROOM - 16) / 6 / type.item_nbytes - 2;
    for (size_t n = 1; n <= most; n += n < 70 ? 1 : 61)
      check_repeated (&seed, boxes, &type, n);
  }
  free (boxes);
}

static void
an_element_for_each_row_fills_that_row (void **state)
{
  (void) state;
  const uint16_t fills[3] = { 0x1234, 0x5678, 0x9abc };
  uint16_t to[3][40];
  struct rd_box_copy copy = {
    .rank = 2, .shape = { 3, 40 }, .from = (const unsigned char *) fills,
    .from_strides = { 2, 0 }, .from_type = rd_type_of (RADIO_UINT16),
    .to = (unsigned char *) to, .to_strides = { sizeof to[0], 2 },
    .to_dtype = RADIO_UINT16,
  };
  assert_ok (rd_box_copy_run (&copy));
  for (size_t i = 0; i < 3 * 40; i++)
    assert_int_equal (to[i / 40][i % 40], fills[i / 40]);
}

static void
an_empty_box_touches_nothing (void **state)
{
  (void) state;
  struct rd_box_copy copy = {
    .rank = 3, .shape = { 1u << 30, 0, 5 },
    .from_type = rd_type_of (RADIO_INT16), .to_dtype = RADIO_INT16,
  };
  assert_ok (rd_box_copy_run (&copy));
}

static void
a_single_element_needs_no_sensible_strides (void **state)
{
  (void) state;
  int32_t from = 7, to = 0;
  struct rd_box_copy copy = {
    .rank = 2, .shape = { 1, 1 }, .from = (unsigned char *) &from,
    .from_strides = { INT64_MAX, INT64_MIN },
    .from_type = rd_type_of (RADIO_INT32), .to = (unsigned char *) &to,
    .to_strides = { INT64_MIN, 3 }, .to_dtype = RADIO_INT32,
  };
  assert_ok (rd_box_copy_run (&copy));
  assert_int_equal (to, 7);
}

static void
a_stored_bool_is_delivered_as_0_or_1 (void **state)
{
  (void) state;
  unsigned char from[300], to[300];
  for (size_t i = 0; i < 300; i++)
    from[i] = (unsigned char) i;
  struct rd_box_copy copy = {
    .rank = 1, .shape = { 300 }, .from = from, .from_strides = { 1 },
    .from_type = rd_type_of (RADIO_BOOL), .to = to, .to_strides = { 1 },
    .to_dtype = RADIO_BOOL,
  };
  assert_ok (rd_box_copy_run (&copy));
  for (size_t i = 0; i < 300; i++)
    assert_int_equal (to[i], i % 256 != 0);
}

/* Sets the strides of an array without gaps whose axes are in this order in
 * memory, the last one the fastest, those of `reversed' backward; returns where
 * its first element is. */
static size_t
order_strides (struct rd_box_copy *copy, const size_t order[3],
               unsigned reversed)
{
  size_t start = 0;
  int64_t step = (int64_t) copy->from_type.item_nbytes;
  for (size_t i = 3; i-- > 0;) {
    size_t axis = order[i];
    copy->to_strides[axis] = step;
    if (reversed >> axis & 1) {
      copy->to_strides[axis] = -step;
      start += (size_t) step * (copy->shape[axis] - 1);
    }
    step *= (int64_t) copy->shape[axis];
  }
  return start;
}

enum { LARGE_NBYTES = 1 << 17 };

/* At every alignment of the destination. */
static void
what_is_written_past_the_caches_is_the_same (void **state)
{
  (void) state;
  static _Alignas (64) unsigned char from[LARGE_NBYTES], to[LARGE_NBYTES],
    expected[LARGE_NBYTES];
  static const enum radio_dtype dtypes[] = {
    RADIO_UINT8, RADIO_UINT16, RADIO_FLOAT32, RADIO_FLOAT64
  };
  static const size_t orders[][3] = {
    { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 },
    { 2, 1, 0 }
  };
  static const uint64_t shapes[][3] = { { 3, 10, 128 }, { 2, 80, 20 } };
  static const size_t places[] = { 0, 16, 20, 1 };
  uint64_t seed = 3;
  fill_random (&seed, from, sizeof from);
  for (size_t i = 0; i < 4 * 4 * 8 * 2 * 6; i++) {
    const uint64_t *shape = shapes[i / 128 % 2];
    struct rd_box_copy copy = {
      .rank = 3, .shape = { shape[0], shape[1], shape[2] },
      .from_type = rd_type_of (dtypes[i % 4]), .to_dtype = dtypes[i % 4],
      .from = from, .is_large = true,
    };
    assert_true (rd_c_strides (3, copy.shape, copy.from_type.item_nbytes,
                               copy.from_strides));
    size_t start = places[i / 4 % 4]
                   + order_strides (&copy, orders[i / 256], i / 16 % 8);
    copy_both_ways (&copy, to, expected, sizeof to, start);
    if (memcmp (to, expected, sizeof to) != 0)
      fail_msg ("case %zu differs", i);
  }
}

/* Rows that are a multiple of 2048 bytes apart, in large copies and others. */
static void
columns_of_rows_that_share_places_of_the_caches_are_the_same (void **state)
{
  (void) state;
  enum { NROWS = 300, FAR = 4096, NEAR = 2048, LONGEST = 150, END = 64 };
  static unsigned char from[NROWS * FAR];
  static _Alignas (64) unsigned char to[NROWS * 2 * LONGEST * 8 + END],
    expected[sizeof to];
  static const enum radio_dtype dtypes[] = {
    RADIO_UINT8, RADIO_UINT16, RADIO_FLOAT32, RADIO_FLOAT64
  };
  static const size_t orders[][3] = { { 2, 1, 0 }, { 1, 2, 0 } };
  static const size_t places[] = { 0, 16, 24 };
  uint64_t seed = 4;
  fill_random (&seed, from, sizeof from);
  for (size_t i = 0; i < 2 * 4 * 3 * 2 * 2 * 2 * 2; i++) {
    const enum radio_dtype dtype = dtypes[i % 4];
    struct rd_box_copy copy = {
      .rank = 3, .from_type = rd_type_of (dtype), .to_dtype = dtype,
      .shape = { i / 4 % 2 ? NROWS : 70, 2, i / 8 % 2 ? LONGEST : 33 },
      .from = from, .is_large = i < 192,
    };
    copy.from_strides[0] = FAR;
    copy.from_strides[1] = NEAR;
    copy.from_strides[2] = (int64_t) copy.from_type.item_nbytes;
    size_t start = places[i / 64 % 3]
                   + order_strides (&copy, orders[i / 16 % 2], i / 32 % 2);
    copy_both_ways (&copy, to, expected, sizeof to, start);
    if (memcmp (to, expected, sizeof to) != 0)
      fail_msg ("case %zu differs", i);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (
      every_layout_of_every_size_is_copied_element_by_element),
    cmocka_unit_test (a_stride_of_zero_repeats_an_element),
    cmocka_unit_test (one_element_fills_rows_of_every_length),
    cmocka_unit_test (an_element_for_each_row_fills_that_row),
    cmocka_unit_test (an_empty_box_touches_nothing),
    cmocka_unit_test (a_single_element_needs_no_sensible_strides),
    cmocka_unit_test (a_stored_bool_is_delivered_as_0_or_1),
    cmocka_unit_test (what_is_written_past_the_caches_is_the_same),
    cmocka_unit_test (
      columns_of_rows_that_share_places_of_the_caches_are_the_same),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
