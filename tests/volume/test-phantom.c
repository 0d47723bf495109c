/* SPDX-License-Identifier: MIT */
/* The synthetic head: the same everywhere, and looking like one. */
#include <config.h>

#include "tests/unit.h"

#include "src/volume/ingest/phantom.h"

#define NZ 64
#define NY 96
#define NX 96

static struct rd_phantom *
open_phantom (uint64_t nz, uint64_t ny, uint64_t nx, uint64_t seed)
{
  const uint64_t shape[3] = { nz, ny, nx };
  struct rd_phantom *phantom;
  assert_ok (rd_phantom_open (shape, seed, &phantom));
  return phantom;
}

/* The whole of a phantom, in a buffer that the caller frees. */
static int16_t *
make_volume (uint64_t nz, uint64_t ny, uint64_t nx, uint64_t seed)
{
  RD_CLEANUP (rd_cleanup_phantom) struct rd_phantom *phantom
    = open_phantom (nz, ny, nx, seed);
  int16_t *voxels = malloc (nz * ny * nx * sizeof *voxels);
  assert_non_null (voxels);
  for (uint64_t z = 0; z < nz; z++)
    for (uint64_t y = 0; y < ny; y++)
      rd_phantom_row (phantom, z, y, voxels + (z * ny + y) * nx);
  return voxels;
}

static uint64_t
hash_of (const int16_t *voxels, size_t n)
{
  uint64_t hash = UINT64_C (0xcbf29ce484222325);
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ ((uint16_t) voxels[i] & 0xff)) * UINT64_C (0x100000001b3);
    hash = (hash ^ ((uint16_t) voxels[i] >> 8)) * UINT64_C (0x100000001b3);
  }
  return hash;
}

/* The figures are of this test's first run: voxels that change make
 * phantoms of two versions differ, which must not happen by accident. */
static void
voxels_are_the_same_on_every_machine (void **state)
{
  (void) state;
  RD_FREE_PLAIN int16_t *a = make_volume (NZ, NY, NX, 0);
  assert_int_equal (hash_of (a, NZ * NY * NX), UINT64_C (0x9d7936b7d3371d92));
  RD_FREE_PLAIN int16_t *b = make_volume (5, 7, 33, 42);
  assert_int_equal (hash_of (b, 5 * 7 * 33), UINT64_C (0xa25785d9c422fedd));
}

static void
a_row_does_not_depend_on_those_made_before (void **state)
{
  (void) state;
  RD_FREE_PLAIN int16_t *whole = make_volume (NZ, NY, NX, 7);
  RD_CLEANUP (rd_cleanup_phantom) struct rd_phantom *phantom
    = open_phantom (NZ, NY, NX, 7);
  int16_t row[NX];
  for (uint64_t i = NZ * NY; i-- > 0;) {
    rd_phantom_row (phantom, i / NY, i % NY, row);
    assert_memory_equal (row, whole + i * NX, sizeof row);
  }
}

/* Mean and variance of a cube of voxels around a point of the field, which
 * is given in mm from its middle. */
static void
measure (const int16_t *voxels, int x_mm, int y_mm, int z_mm, int half,
         double *mean, double *variance)
{
  int64_t x = (x_mm + 128) * NX / 256, y = (y_mm + 128) * NY / 256,
    z = (z_mm + 96) * NZ / 192;
  double sum = 0, squares = 0;
  int n = 0;
  for (int64_t k = z - half; k <= z + half; k++)
    for (int64_t j = y - half; j <= y + half; j++)
      for (int64_t i = x - half; i <= x + half; i++, n++) {
        double v = voxels[(k * NY + j) * NX + i];
        sum += v;
        squares += v * v;
      }
  *mean = sum / n;
  *variance = squares / n - *mean * *mean;
}

static void
assert_tissue (const int16_t *voxels, int x_mm, int y_mm, int z_mm, int half,
               double low, double high)
{
  double mean, variance;
  measure (voxels, x_mm, y_mm, z_mm, half, &mean, &variance);
  if (mean < low || mean > high)
    fail_msg ("(%d, %d, %d) mm: mean %g is not in %g to %g", x_mm, y_mm,
              z_mm, mean, low, high);
}

static void
tissues_are_where_a_head_has_them (void **state)
{
  (void) state;
  RD_FREE_PLAIN int16_t *voxels = make_volume (NZ, NY, NX, 1);
  assert_tissue (voxels, 120, 120, 90, 1, -1002, -998);   /* air */
  assert_tissue (voxels, 31, 0, 30, 2, 24, 32);           /* white matter */
  assert_tissue (voxels, -31, 0, 30, 2, 24, 32);
  assert_tissue (voxels, 14, -18, 14, 0, -30, 40);        /* ventricle */
  assert_tissue (voxels, 32, 71, -28, 1, 0, 28);          /* eye */
  assert_tissue (voxels, 27, 49, -54, 1, -1000, -950);    /* sinus */
  assert_tissue (voxels, 0, -91, 4, 0, 700, 1700);        /* skull */
  assert_tissue (voxels, 70, 0, 4, 0, 700, 1700);
  assert_tissue (voxels, 0, -25, -90, 0, 500, 1000);      /* vertebra */
}

static void
the_noise_of_soft_tissue_is_that_of_a_scanner (void **state)
{
  (void) state;
  RD_FREE_PLAIN int16_t *voxels = make_volume (NZ, NY, NX, 3);
  double mean, variance;
  measure (voxels, 31, 0, 30, 4, &mean, &variance);
  assert_true (variance > 9 * 9 && variance < 13 * 13);
}

static void
values_stay_within_the_12_bits_of_scanners (void **state)
{
  (void) state;
  RD_FREE_PLAIN int16_t *voxels = make_volume (NZ, NY, NX, 9);
  for (size_t i = 0; i < NZ * NY * NX; i++)
    assert_in_range (voxels[i] + 1024, 0, 4095);
}

static void
another_seed_is_other_noise_on_the_same_head (void **state)
{
  (void) state;
  RD_FREE_PLAIN int16_t *a = make_volume (NZ, NY, NX, 1);
  RD_FREE_PLAIN int16_t *b = make_volume (NZ, NY, NX, 2);
  size_t nequal = 0;
  int64_t difference = 0;
  for (size_t i = 0; i < NZ * NY * NX; i++) {
    nequal += a[i] == b[i];
    difference += a[i] - b[i];
  }
  assert_true (nequal < NZ * NY * NX / 4);
  assert_true (llabs (difference) < (int64_t) NZ * NY * NX / 4);
}

/* Rows are not copies of one another, nor is the noise of a column. */
static void
noise_does_not_repeat (void **state)
{
  (void) state;
  RD_FREE_PLAIN int16_t *voxels = make_volume (4, 8, NX, 5);
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < i; j++)
      assert_memory_not_equal (voxels + i * NX, voxels + j * NX, 2 * NX);
}

static void
a_single_voxel_is_a_phantom_too (void **state)
{
  (void) state;
  RD_FREE_PLAIN int16_t *voxel = make_volume (1, 1, 1, 0);
  assert_in_range (voxel[0] + 100, 0, 300);
}

static void
impossible_shapes_name_the_axis (void **state)
{
  (void) state;
  struct rd_phantom *phantom;
  const uint64_t none[3] = { 4, 0, 4 }, many[3] = { 1, 1, 65536 };
  assert_fails (rd_phantom_open (none, 0, &phantom), RADIO_ERROR_ARGUMENT,
                "along y, not 0");
  assert_fails (rd_phantom_open (many, 0, &phantom), RADIO_ERROR_ARGUMENT,
                "along x, not 65536");
  rd_phantom_close (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (voxels_are_the_same_on_every_machine),
    cmocka_unit_test (a_row_does_not_depend_on_those_made_before),
    cmocka_unit_test (tissues_are_where_a_head_has_them),
    cmocka_unit_test (the_noise_of_soft_tissue_is_that_of_a_scanner),
    cmocka_unit_test (values_stay_within_the_12_bits_of_scanners),
    cmocka_unit_test (another_seed_is_other_noise_on_the_same_head),
    cmocka_unit_test (noise_does_not_repeat),
    cmocka_unit_test (a_single_voxel_is_a_phantom_too),
    cmocka_unit_test (impossible_shapes_name_the_axis),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
