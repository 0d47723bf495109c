/* SPDX-License-Identifier: MIT */
/* Statistics: compared with numpy's of the same numbers, and with sorting
 * them. */
#include <config.h>

#include <float.h>
#include <math.h>

#include "tests/unit.h"

#include "src/base/cleanup.h"
#include "src/volume/stats/histogram.h"
#include "src/volume/stats/moments.h"
#include "src/volume/stats/percentiles.h"
#include "src/volume/stats/select.h"
#include "src/volume/stats/stats.h"
#include "src/volume/stats/values.h"

#define COUNT 5003

enum kind { SPREAD, CLOSE };

struct stats_case {
  const char *name;
  enum radio_dtype dtype;
  enum kind kind;
  double slope, inter;
  double min, max, mean, std;
  double percentile[RADIO_STATS_NPERCENTILES];
  uint64_t histogram[RADIO_STATS_NBINS];
  double bin_low, bin_high;
};

#include "tests/volume/stats-table.h"

#define NCASES (sizeof stats_cases / sizeof stats_cases[0])

/* A source over elements in memory, which it hands out in uneven blocks. */
struct memory {
  const unsigned char *elements;
  size_t n, item_nbytes;
  unsigned nscans;
  unsigned fail_at;           /* this scan fails; 0: none */
};

static enum radio_status
scan_memory (void *source, rd_take_fn *take, void *sink)
{
  struct memory *memory = source;
  if (++memory->nscans == memory->fail_at)
    return RADIO_ERROR_IO;
  size_t at = 0, size = 1;
  while (at < memory->n) {
    size_t n = memory->n - at < size ? memory->n - at : size;
    take (sink, memory->elements + at * memory->item_nbytes, n);
    at += n;
    size = size * 3 % 1777 + 1;
  }
  return RADIO_OK;
}

static struct memory
memory_of (const void *elements, size_t n, enum radio_dtype dtype)
{
  return (struct memory) { elements, n, radio_dtype_nbytes (dtype), 0, 0 };
}

/* The numbers that stats-table.py makes too. */
static uint64_t
next_word (uint64_t *state)
{
  *state = *state * UINT64_C (6364136223846793005)
           + UINT64_C (1442695040888963407);
  return *state;
}

static void
store_bits (enum radio_dtype dtype, uint64_t bits, unsigned char *to)
{
  uint8_t u8 = (uint8_t) bits;
  uint16_t u16 = (uint16_t) bits;
  uint32_t u32 = (uint32_t) bits;
  switch (radio_dtype_nbytes (dtype)) {
  case 1: memcpy (to, &u8, 1); break;
  case 2: memcpy (to, &u16, 2); break;
  case 4: memcpy (to, &u32, 4); break;
  default: memcpy (to, &bits, 8); break;
  }
}

/* Replaces the bits of a float that is not finite by 0, and those of a large
 * double by 1. */
static uint64_t
tame_float (enum radio_dtype dtype, uint64_t bits)
{
  double value;
  memcpy (&value, &bits, sizeof value);
  if (dtype == RADIO_FLOAT16)
    return (bits & 0x7c00) == 0x7c00 ? 0 : bits;
  if (dtype == RADIO_FLOAT32)
    return (bits & 0x7f800000) == 0x7f800000 ? 0 : bits;
  if (dtype != RADIO_FLOAT64)
    return bits;
  if (!isfinite (value))
    return 0;
  return fabs (value) < 1e150 ? bits : UINT64_C (0x3ff0000000000000);
}

static void
store_number (enum radio_dtype dtype, double value, unsigned char *to)
{
  float f = (float) value;
  uint32_t f_bits;
  uint64_t bits;
  memcpy (&f_bits, &f, sizeof f_bits);
  memcpy (&bits, &value, sizeof bits);
  if (dtype == RADIO_FLOAT16)
    bits = rd_float_to_half (f);
  else if (dtype == RADIO_FLOAT32)
    bits = f_bits;
  else if (dtype != RADIO_FLOAT64)
    bits = (uint64_t) (int64_t) value;
  store_bits (dtype, bits, to);
}

static unsigned char *
make_numbers (enum radio_dtype dtype, enum kind kind)
{
  size_t item = radio_dtype_nbytes (dtype);
  unsigned char *elements = malloc (COUNT * item);
  assert_non_null (elements);
  uint64_t state = kind == CLOSE ? 77 : item;
  for (size_t i = 0; i < COUNT; i++) {
    uint64_t word = next_word (&state);
    if (kind == CLOSE)
      store_number (dtype, 900 + (double) ((word >> 33) % 500),
                    elements + i * item);
    else
      store_bits (dtype, tame_float (dtype, word >> (64 - 8 * item)),
                  elements + i * item);
  }
  return elements;
}

/* Sums may differ in their last bits, by the order of adding. */
static void
assert_close (const char *name, const char *what, double got, double wanted,
              double scale)
{
  if (!(fabs (got - wanted) <= 1e-13 * scale))
    fail_msg ("%s: %s is %.17g, numpy says %.17g", name, what, got, wanted);
}

static void
assert_same (const char *name, const char *what, double got, double wanted)
{
  if (got != wanted)
    fail_msg ("%s: %s is %.17g instead of %.17g", name, what, got, wanted);
}

static void
assert_stats_of_case (const struct stats_case *c,
                      const struct radio_stats *stats)
{
  double scale = fmax (fabs (c->min), fabs (c->max));
  assert_int_equal (stats->count, COUNT);
  assert_int_equal (stats->nan_count + stats->inf_count, 0);
  assert_same (c->name, "min", stats->min, c->min);
  assert_same (c->name, "max", stats->max, c->max);
  assert_close (c->name, "mean", stats->mean, c->mean, scale);
  assert_close (c->name, "std", stats->std, c->std, scale);
  for (int i = 0; i < RADIO_STATS_NPERCENTILES; i++)
    assert_same (c->name, "percentile", stats->percentile[i],
                 c->percentile[i]);
  for (int i = 0; i < RADIO_STATS_NBINS; i++)
    if (stats->histogram[i] != c->histogram[i])
      fail_msg ("%s: bin %d has %d, numpy says %d", c->name, i,
                (int) stats->histogram[i], (int) c->histogram[i]);
  assert_same (c->name, "bin_low", stats->bin_low, c->bin_low);
  assert_same (c->name, "bin_high", stats->bin_high, c->bin_high);
}

static void
all_types_agree_with_numpy (void **state)
{
  (void) state;
  for (size_t i = 0; i < NCASES; i++) {
    const struct stats_case *c = &stats_cases[i];
    RD_FREE_PLAIN unsigned char *elements = make_numbers (c->dtype, c->kind);
    struct memory memory = memory_of (elements, COUNT, c->dtype);
    struct radio_stats stats;
    assert_ok (rd_stats_compute (c->dtype, c->slope, c->inter, scan_memory,
                                 &memory, NULL, &stats));
    assert_stats_of_case (c, &stats);
  }
}

/* The same, but all at once. */
static enum radio_status
scan_at_once (void *source, rd_take_fn *take, void *sink)
{
  struct memory *memory = source;
  take (sink, memory->elements, memory->n);
  return RADIO_OK;
}

static void
the_bits_do_not_depend_on_the_blocks_of_the_source (void **state)
{
  (void) state;
  for (size_t i = 0; i < NCASES; i++) {
    const struct stats_case *c = &stats_cases[i];
    RD_FREE_PLAIN unsigned char *elements = make_numbers (c->dtype, c->kind);
    struct memory memory = memory_of (elements, COUNT, c->dtype);
    struct radio_stats blocks, whole;
    assert_ok (rd_stats_compute (c->dtype, c->slope, c->inter, scan_memory,
                                 &memory, NULL, &blocks));
    assert_ok (rd_stats_compute (c->dtype, c->slope, c->inter, scan_at_once,
                                 &memory, NULL, &whole));
    assert_memory_equal (&blocks, &whole, sizeof whole);
  }
}

static void
zeros_can_be_left_out (void **state)
{
  (void) state;
  static const float values[] = { 0, 3, -0.0f, 1, 0, NAN, 8, INFINITY };
  static const float others[] = { 3, 1, NAN, 8, INFINITY };
  static const int16_t narrow[] = { 0, 3, 0, 1, 8 };
  struct memory memory = memory_of ((const unsigned char *) values, 8,
                                    RADIO_FLOAT32);
  struct rd_stats_more more = { .nonzero = true, .npercents = 2,
                                .percents = { 0, 75 } };
  struct radio_stats stats, want;
  assert_ok (rd_stats_compute (RADIO_FLOAT32, 1, 0, scan_memory, &memory,
                               &more, &stats));
  memory = memory_of ((const unsigned char *) others, 5, RADIO_FLOAT32);
  assert_ok (rd_stats_compute (RADIO_FLOAT32, 1, 0, scan_memory, &memory, NULL,
                               &want));
  assert_memory_equal (&stats, &want, sizeof want);
  assert_true (more.low == 1 && more.high == 8);
  assert_true (more.percentiles[0] == 1 && more.percentiles[1] == 5.5);
  memory = memory_of ((const unsigned char *) narrow, 5, RADIO_INT16);
  assert_ok (rd_stats_compute (RADIO_INT16, -1, 0, scan_memory, &memory,
                               &more, &stats));
  assert_int_equal (stats.count, 3);
  assert_true (stats.mean == -4 && more.low == -8 && more.high == -1);
  assert_true (more.percentiles[0] == -8 && more.percentiles[1] == -2);
}

static unsigned
count_scans (enum radio_dtype dtype, enum kind kind)
{
  RD_FREE_PLAIN unsigned char *elements = make_numbers (dtype, kind);
  struct memory memory = memory_of (elements, COUNT, dtype);
  struct radio_stats stats;
  assert_ok (rd_stats_compute (dtype, 1, 0, scan_memory, &memory, NULL,
                               &stats));
  return memory.nscans;
}

static void
narrow_types_are_read_once_and_wide_ones_no_more_than_needed (void **state)
{
  (void) state;
  assert_int_equal (count_scans (RADIO_INT8, SPREAD), 1);
  assert_int_equal (count_scans (RADIO_UINT16, SPREAD), 1);
  assert_int_equal (count_scans (RADIO_FLOAT16, CLOSE), 1);
  assert_int_equal (count_scans (RADIO_INT32, SPREAD), 2);
  assert_int_equal (count_scans (RADIO_FLOAT32, SPREAD), 2);
  assert_int_equal (count_scans (RADIO_INT64, CLOSE), 2);
  assert_true (count_scans (RADIO_UINT64, SPREAD) <= 4);
  assert_true (count_scans (RADIO_FLOAT64, SPREAD) <= 4);
}

static void
bools_count_as_numbers (void **state)
{
  (void) state;
  const uint8_t elements[] = { 0, 1, 1, 1 };
  struct memory memory = memory_of (elements, 4, RADIO_BOOL);
  struct radio_stats stats;
  assert_ok (rd_stats_compute (RADIO_BOOL, 1, 0, scan_memory, &memory, NULL,
                               &stats));
  assert_true (stats.mean == 0.75 && stats.min == 0 && stats.max == 1);
  assert_int_equal (stats.histogram[0], 1);
  assert_int_equal (stats.histogram[63], 3);
}

/* The distance of these values is rounded, so that interpolating from the
 * lower one (share < 0.5) and from the upper one differ: numpy.percentile
 * gives just these. */
static void
percentiles_are_interpolated_from_the_nearer_end (void **state)
{
  (void) state;
  const double elements[] = { 1, 1e16 };
  struct memory memory = memory_of (elements, 2, RADIO_FLOAT64);
  struct radio_stats stats;
  assert_ok (rd_stats_compute (RADIO_FLOAT64, 1, 0, scan_memory, &memory, NULL,
                               &stats));
  assert_true (stats.percentile[2] == 2500000000000001);
  assert_true (stats.percentile[3] == 5000000000000000);
  assert_true (stats.percentile[4] == 7500000000000000);
}

/* 1 to 5 among values that are not finite: the same in every float type. */
static void
assert_finite_part (enum radio_dtype dtype, double slope)
{
  static const double numbers[] = {
    NAN, 3, INFINITY, 1, NAN, 5, -INFINITY, 2, 4, -NAN,
  };
  RD_FREE_PLAIN unsigned char *elements = malloc (sizeof numbers);
  assert_non_null (elements);
  size_t item = radio_dtype_nbytes (dtype);
  for (int i = 0; i < 10; i++)
    store_number (dtype, numbers[i], elements + i * item);
  struct memory memory = memory_of (elements, 10, dtype);
  struct radio_stats stats;
  assert_ok (rd_stats_compute (dtype, slope, 0, scan_memory, &memory, NULL,
                               &stats));
  assert_int_equal (stats.count, 10);
  assert_int_equal (stats.nan_count, 3);
  assert_int_equal (stats.inf_count, 2);
  assert_true (stats.min == -INFINITY && stats.max == INFINITY);
  assert_true (stats.mean == 3 * slope);
  assert_true (fabs (stats.std - sqrt (2)) < 1e-15);
  assert_true (stats.percentile[3] == 3 * slope);
  assert_true (stats.percentile[2] == 3 * slope - 1);
  assert_true (stats.bin_low == 3 * slope - 2);
  assert_true (stats.bin_high == 3 * slope + 2);
}

static void
values_that_are_not_finite_are_counted_and_left_out (void **state)
{
  (void) state;
  for (int sign = -1; sign <= 1; sign += 2) {
    assert_finite_part (RADIO_FLOAT16, sign);
    assert_finite_part (RADIO_FLOAT32, sign);
    assert_finite_part (RADIO_FLOAT64, sign);
  }
}

static void
assert_nothing_known (enum radio_dtype dtype, const void *elements, size_t n)
{
  struct memory memory = memory_of (elements, n, dtype);
  struct radio_stats stats;
  assert_ok (rd_stats_compute (dtype, 1, 0, scan_memory, &memory, NULL,
                               &stats));
  assert_int_equal (stats.count, n);
  assert_int_equal (stats.nan_count, n);
  assert_true (isnan (stats.min) && isnan (stats.max) && isnan (stats.mean));
  assert_true (isnan (stats.std) && isnan (stats.percentile[6]));
  for (int i = 0; i < RADIO_STATS_NBINS; i++)
    assert_int_equal (stats.histogram[i], 0);
  assert_true (stats.bin_low == 0 && stats.bin_high == 1);
}

static void
no_value_at_all_gives_nan_and_empty_bins (void **state)
{
  (void) state;
  const float nan32[2] = { NAN, NAN };
  const uint16_t nan16[2] = { 0x7e00, 0xfe01 };
  assert_nothing_known (RADIO_FLOAT32, nan32, 2);
  assert_nothing_known (RADIO_FLOAT16, nan16, 2);
  assert_nothing_known (RADIO_INT16, NULL, 0);
  assert_nothing_known (RADIO_FLOAT64, NULL, 0);
}

static void
assert_constant (enum radio_dtype dtype, double value, size_t n)
{
  RD_FREE_PLAIN unsigned char *elements = malloc (n * 8);
  assert_non_null (elements);
  size_t item = radio_dtype_nbytes (dtype);
  for (size_t i = 0; i < n; i++)
    store_number (dtype, value, elements + i * item);
  struct memory memory = memory_of (elements, n, dtype);
  struct radio_stats stats;
  assert_ok (rd_stats_compute (dtype, 1, 0, scan_memory, &memory, NULL,
                               &stats));
  assert_true (stats.min == value && stats.max == value);
  assert_true (stats.mean == value && stats.std == 0);
  for (int i = 0; i < RADIO_STATS_NPERCENTILES; i++)
    assert_true (stats.percentile[i] == value);
  assert_true (stats.bin_low == value - 0.5 && stats.bin_high == value + 0.5);
  assert_int_equal (stats.histogram[32], n);
}

static void
a_constant_has_no_spread_and_sits_in_the_middle_bin (void **state)
{
  (void) state;
  assert_constant (RADIO_INT16, -1024, 3000);
  assert_constant (RADIO_UINT8, 0, 1);
  assert_constant (RADIO_INT32, -7, 3000);
  assert_constant (RADIO_FLOAT32, 0.25, 1);
  assert_constant (RADIO_FLOAT64, 1e9, 2);
  assert_constant (RADIO_UINT64, 4096, 5);
}

static void
the_limits_of_64_bits_are_found (void **state)
{
  (void) state;
  const int64_t low[] = { INT64_MIN, INT64_MAX, -1, 0 };
  const uint64_t high[] = { UINT64_MAX, 0, 1 };
  struct radio_stats stats;
  struct memory memory = memory_of (low, 4, RADIO_INT64);
  assert_ok (rd_stats_compute (RADIO_INT64, 1, 0, scan_memory, &memory, NULL,
                               &stats));
  assert_true (stats.min == -0x1p63 && stats.max == 0x1p63);
  assert_true (stats.percentile[3] == -0.5);
  memory = memory_of (high, 3, RADIO_UINT64);
  assert_ok (rd_stats_compute (RADIO_UINT64, 1, 0, scan_memory, &memory, NULL,
                               &stats));
  assert_true (stats.max == 0x1p64 && stats.percentile[3] == 1);
}

static void
the_widest_doubles_have_bins (void **state)
{
  (void) state;
  const double elements[] = { -DBL_MAX, 0, DBL_MAX, DBL_MAX };
  struct memory memory = memory_of (elements, 4, RADIO_FLOAT64);
  struct radio_stats stats;
  assert_ok (rd_stats_compute (RADIO_FLOAT64, 1, 0, scan_memory, &memory, NULL,
                               &stats));
  assert_int_equal (stats.histogram[0], 1);
  assert_int_equal (stats.histogram[32], 1);
  assert_int_equal (stats.histogram[63], 2);
}

static void
complex_and_raw_are_refused_by_name (void **state)
{
  (void) state;
  struct radio_stats stats;
  assert_fails (rd_stats_compute (RADIO_COMPLEX64, 1, 0, scan_memory, NULL,
                                  NULL, &stats),
                RADIO_ERROR_UNSUPPORTED, "complex64");
  assert_fails (rd_stats_compute (RADIO_RAW, 1, 0, scan_memory, NULL,
                                  NULL, &stats),
                RADIO_ERROR_UNSUPPORTED, "raw");
}

static void
a_failed_scan_fails_the_whole_and_leaves_the_result (void **state)
{
  (void) state;
  const int32_t elements[] = { 1, 2, 3 };
  struct radio_stats stats = { .count = 77 };
  for (unsigned at = 1; at <= 2; at++) {
    struct memory memory = memory_of (elements, 3, RADIO_INT32);
    memory.fail_at = at;
    assert_int_equal (rd_stats_compute (RADIO_INT32, 1, 0, scan_memory,
                                        &memory, NULL, &stats),
                      RADIO_ERROR_IO);
  }
  assert_int_equal (stats.count, 77);
}

/* Selection. */

static int
compare_keys (const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
  return (x > y) - (x < y);
}

/* Select some ranks of keys, and compare with sorting them. */
static void
assert_selects (uint64_t *keys, size_t n, unsigned nbits)
{
  const uint64_t ranks[] = { 0, 0, n / 100, n / 4, n / 2, n / 2,
                             n - 1 - n / 3, n - 1, n - 1 };
  const size_t nranks = sizeof ranks / sizeof ranks[0];
  RD_CLEANUP (rd_cleanup_select) struct rd_select *select = NULL;
  assert_ok (rd_select_open (nbits, nranks, &select));
  rd_select_add (select, keys, n);
  assert_ok (rd_select_want (select, ranks, nranks));
  for (int run = 2; !rd_select_done (select); run++) {
    assert_true (run <= (int) nbits / 16);
    rd_select_add (select, keys, n / 3);
    rd_select_add (select, keys + n / 3, n - n / 3);
    assert_ok (rd_select_narrow (select));
  }
  qsort (keys, n, sizeof *keys, compare_keys);
  for (size_t i = 0; i < nranks; i++)
    assert_int_equal (rd_select_key (select, i), keys[ranks[i]]);
}

static void
selected_keys_are_those_of_sorting (void **state)
{
  (void) state;
  RD_FREE_PLAIN uint64_t *keys = malloc (4000 * sizeof *keys);
  assert_non_null (keys);
  static const uint64_t masks[] = {
    UINT64_MAX, UINT32_MAX, 0xffff, 0x3, UINT64_C (0xff00000000000001),
    UINT64_C (0x0000ffff00000000), UINT64_C (0x8000000000000000),
  };
  uint64_t random = 5;
  for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++)
    for (size_t n = 1; n <= 4000; n = n * 7 + 1) {
      for (size_t i = 0; i < n; i++)
        keys[i] = (next_word (&random) ^ random >> 29) & masks[m];
      assert_selects (keys, n, 64);
      for (size_t i = 0; i < n; i++)
        keys[i] &= UINT32_MAX;
      assert_selects (keys, n, 32);
    }
}

static void
keys_that_change_between_runs_are_noticed (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_select) struct rd_select *select = NULL;
  assert_ok (rd_select_open (32, 2, &select));
  const uint64_t before[] = { 10, 20, 30 }, ranks[] = { 1, 2 };
  const uint64_t after[] = { 10, 0, 90 };
  rd_select_add (select, before, 3);
  assert_ok (rd_select_want (select, ranks, 2));
  rd_select_add (select, after, 3);
  assert_fails (rd_select_narrow (select), RADIO_ERROR_FORMAT, "changed");
}

/* Bins. */

static void
every_edge_opens_its_bin_and_the_last_closes_it (void **state)
{
  (void) state;
  static const double ranges[][2] = {
    { 0, 64 }, { -1024, 3071 }, { 0.1, 0.7 }, { -1e-300, 1e300 },
    { 1, 1 + 64 * DBL_EPSILON }, { 5e-324, 1e-322 }, { -3.3, -1.1 },
  };
  for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
    struct rd_bins bins;
    rd_bins_set (&bins, ranges[r][0], ranges[r][1]);
    for (size_t i = 0; i < RADIO_STATS_NBINS; i++) {
      if (bins.edges[i] == bins.edges[i + 1])
        continue;
      assert_int_equal (rd_bins_index (&bins, bins.edges[i]), i);
      double last = nextafter (bins.edges[i + 1], -INFINITY);
      assert_int_equal (rd_bins_index (&bins, last), i);
    }
    assert_int_equal (rd_bins_index (&bins, ranges[r][1]), 63);
  }
}

/* Moments. */

static void
a_small_deviation_survives_a_large_mean (void **state)
{
  (void) state;
  enum { N = 100000 };
  RD_FREE_PLAIN double *values = malloc (N * sizeof *values);
  assert_non_null (values);
  for (int i = 0; i < N; i++)
    values[i] = 1e9 + i % 2;
  struct rd_moments moments = { 0 };
  for (int i = 0; i < N; i += 777)
    rd_moments_add (&moments, values + i, i + 777 <= N ? 777 : N - i);
  assert_int_equal (moments.count, N);
  assert_true (fabs (moments.mean - (1e9 + 0.5)) < 1e-6);
  assert_true (fabs (rd_moments_std (&moments) - 0.5) < 1e-9);
}

static void
joining_nothing_changes_nothing (void **state)
{
  (void) state;
  struct rd_moments none = { 0 }, some = { 0 };
  const double values[] = { 1, 2, 6 };
  rd_moments_add (&some, values, 3);
  struct rd_moments joined = some;
  rd_moments_join (&joined, &none);
  assert_memory_equal (&joined, &some, sizeof some);
  rd_moments_join (&none, &some);
  assert_memory_equal (&none, &some, sizeof some);
  assert_true (isnan (rd_moments_std (&(struct rd_moments) { 0 })));
}

/* Keys. */

static void
keys_are_ordered_as_their_values (void **state)
{
  (void) state;
  static const enum radio_dtype wide[] = {
    RADIO_INT32, RADIO_INT64, RADIO_UINT32, RADIO_UINT64, RADIO_FLOAT32,
    RADIO_FLOAT64,
  };
  for (size_t t = 0; t < sizeof wide / sizeof wide[0]; t++) {
    RD_FREE_PLAIN unsigned char *elements = make_numbers (wide[t], SPREAD);
    RD_FREE_PLAIN double *values = malloc (COUNT * sizeof *values);
    RD_FREE_PLAIN uint64_t *keys = malloc (COUNT * sizeof *keys);
    assert_true (values && keys);
    rd_values_load (wide[t], elements, COUNT, values, keys);
    for (size_t i = 0; i + 1 < COUNT; i++) {
      assert_true (rd_values_of_key (wide[t], keys[i]) == values[i]);
      if (values[i] < values[i + 1])
        assert_true (keys[i] < keys[i + 1]);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (all_types_agree_with_numpy),
    cmocka_unit_test (
      narrow_types_are_read_once_and_wide_ones_no_more_than_needed),
    cmocka_unit_test (bools_count_as_numbers),
    cmocka_unit_test (percentiles_are_interpolated_from_the_nearer_end),
    cmocka_unit_test (values_that_are_not_finite_are_counted_and_left_out),
    cmocka_unit_test (no_value_at_all_gives_nan_and_empty_bins),
    cmocka_unit_test (a_constant_has_no_spread_and_sits_in_the_middle_bin),
    cmocka_unit_test (the_limits_of_64_bits_are_found),
    cmocka_unit_test (the_widest_doubles_have_bins),
    cmocka_unit_test (complex_and_raw_are_refused_by_name),
    cmocka_unit_test (a_failed_scan_fails_the_whole_and_leaves_the_result),
    cmocka_unit_test (selected_keys_are_those_of_sorting),
    cmocka_unit_test (keys_that_change_between_runs_are_noticed),
    cmocka_unit_test (every_edge_opens_its_bin_and_the_last_closes_it),
    cmocka_unit_test (the_bits_do_not_depend_on_the_blocks_of_the_source),
    cmocka_unit_test (zeros_can_be_left_out),
    cmocka_unit_test (a_small_deviation_survives_a_large_mean),
    cmocka_unit_test (joining_nothing_changes_nothing),
    cmocka_unit_test (keys_are_ordered_as_their_values),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
