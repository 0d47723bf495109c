/* SPDX-License-Identifier: MIT */
/* Geometry, against nibabel: affines of quaternions, orientations of
 * affines, and the polar decomposition that they stand on. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"

#include <radio/volume.h>

#include "src/nifti/nifti.h"
#include "tests/nifti/vectors.h"

#define COUNT(array) (sizeof array / sizeof array[0])

static struct rd_nifti
plain_nifti (void)
{
  struct rd_nifti nifti = { .version = 1, .ndim = 3 };
  for (size_t i = 0; i < 8; i++)
    nifti.pixdim[i] = 1;
  return nifti;
}

static void
assert_close (double got, double wanted, double tolerance)
{
  if (!(fabs (got - wanted) <= tolerance))
    fail_msg ("%.17g instead of %.17g", got, wanted);
}

static void
orientations_are_nibabels (void **state)
{
  (void) state;
  for (size_t k = 0; k < COUNT (orientation_vectors); k++) {
    double affine[3][4] = { { 0 } };
    for (size_t i = 0; i < 9; i++)
      affine[i / 3][i % 3] = orientation_vectors[k].matrix[i];
    char letters[4];
    size_t axis_of[3];
    assert_true (rd_orientation (affine, letters, axis_of));
    if (strcmp (letters, orientation_vectors[k].letters) != 0)
      fail_msg ("%zu: %s instead of %s", k, letters,
                orientation_vectors[k].letters);
  }
}

static void
scaling_and_origin_do_not_change_an_orientation (void **state)
{
  (void) state;
  static const double factors[] = { 1e-300, 1e-6, 1e6, 1e300 };
  for (size_t k = 0; k < 4; k++) {
    double f = factors[k];
    double affine[3][4] = { { 0.1 * f, 0, 1.5 * f, 1e30 },
                            { -f, 0.1 * f, 0, -7 },
                            { 0, -2 * f, 0.2 * f, 0 } };
    char letters[4];
    size_t axis_of[3];
    assert_true (rd_orientation (affine, letters, axis_of));
    assert_string_equal (letters, "PIR");
  }
}

static void
each_plane_has_the_axis_across_it (void **state)
{
  (void) state;
  double affine[3][4] = { { 0, 0, -2, 0 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } };
  char letters[4];
  size_t axis_of[3];
  rd_orientation (affine, letters, axis_of);
  assert_string_equal (letters, "ASL");
  assert_int_equal (axis_of[RADIO_AXIAL], 1);
  assert_int_equal (axis_of[RADIO_CORONAL], 0);
  assert_int_equal (axis_of[RADIO_SAGITTAL], 2);
}

static void
a_degenerate_affine_has_no_orientation (void **state)
{
  (void) state;
  static const double degenerate[][9] = {
    { 0 },
    { 1, 1, 1, 1, 1, 1, 1, 1, 1 },
    { 0, 0, 1, 0, 0, 1, 0, 0, 1 },
    { -1, 0, 0, 0, -1, 0, 0, 0, 0 },
    { -1, 0, 0, 0, NAN, 0, 0, 0, 1 },
    { -1, 0, 0, 0, 1, 0, 0, INFINITY, 1 },
    { -1, -1, 0, 0, 0, 1, 0, 0, 1 },
  };
  for (size_t k = 0; k < COUNT (degenerate); k++) {
    double affine[3][4] = { { 0 } };
    for (size_t i = 0; i < 9; i++)
      affine[i / 3][i % 3] = degenerate[k][i];
    char letters[4];
    size_t axis_of[3];
    assert_false (rd_orientation (affine, letters, axis_of));
    assert_string_equal (letters, "");
    assert_int_equal (axis_of[RADIO_AXIAL], 2);
    assert_int_equal (axis_of[RADIO_CORONAL], 1);
    assert_int_equal (axis_of[RADIO_SAGITTAL], 0);
  }
}

/* R^T R = 1, and R^T M is symmetric and positive: so R is the polar factor. */
static void
a_polar_factor_is_orthogonal_and_leaves_a_stretch (void **state)
{
  (void) state;
  for (size_t k = 0; k < COUNT (orientation_vectors); k++) {
    double m[3][3], r[3][3], stretch[3][3];
    for (size_t i = 0; i < 9; i++)
      m[i / 3][i % 3] = orientation_vectors[k].matrix[i];
    assert_int_equal (rd_polar3 (m, r), 3);
    for (size_t i = 0; i < 3; i++)
      for (size_t j = 0; j < 3; j++) {
        double product = 0;
        stretch[i][j] = 0;
        for (size_t l = 0; l < 3; l++) {
          product += r[l][i] * r[l][j];
          stretch[i][j] += r[l][i] * m[l][j];
        }
        assert_close (product, i == j, 1e-14);
      }
    for (size_t i = 0; i < 3; i++) {
      assert_true (stretch[i][i] > 0);
      for (size_t j = 0; j < 3; j++)
        assert_close (stretch[i][j], stretch[j][i], 1e-13);
    }
  }
}

static void
the_rank_of_a_matrix_is_found (void **state)
{
  (void) state;
  double r[3][3], zero[3][3] = { { 0 } };
  double one[3][3] = { { 1, 2, 3 }, { 2, 4, 6 }, { -1, -2, -3 } };
  double two[3][3] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } };
  assert_int_equal (rd_polar3 (zero, r), 0);
  assert_int_equal (rd_polar3 (one, r), 1);
  assert_int_equal (rd_polar3 (two, r), 2);
}

static void
a_qform_is_nibabels (void **state)
{
  (void) state;
  for (size_t k = 0; k < COUNT (quaternion_vectors); k++) {
    struct rd_nifti nifti = plain_nifti ();
    nifti.qform_code = 1;
    for (size_t i = 0; i < 4; i++)
      nifti.pixdim[i] = quaternion_vectors[k].pixdim[i];
    for (size_t i = 0; i < 3; i++) {
      nifti.quatern[i] = quaternion_vectors[k].quatern[i];
      nifti.qoffset[i] = quaternion_vectors[k].qoffset[i];
    }
    double affine[3][4];
    const char *source;
    rd_nifti_affine (&nifti, affine, &source);
    assert_string_equal (source, "qform");
    for (size_t i = 0; i < 12; i++)
      assert_close (affine[i / 4][i % 4],
                    quaternion_vectors[k].affine[i / 4][i % 4], 1e-5);
  }
}

static void
sform_wins_over_qform_over_pixdim (void **state)
{
  (void) state;
  struct rd_nifti nifti = plain_nifti ();
  double affine[3][4];
  const char *source;
  nifti.pixdim[2] = 2;
  nifti.srow[0][0] = -3;
  nifti.sform_code = 2;
  nifti.qform_code = 1;
  rd_nifti_affine (&nifti, affine, &source);
  assert_string_equal (source, "sform");
  assert_close (affine[0][0], -3, 0);
  assert_close (affine[1][1], 0, 0);
  nifti.sform_code = 0;
  rd_nifti_affine (&nifti, affine, &source);
  assert_string_equal (source, "qform");
  assert_close (affine[1][1], 2, 0);
}

/* Method 1: unlike nibabel, x is not flipped. */
static void
without_forms_the_affine_is_pixdim_without_a_flip (void **state)
{
  (void) state;
  struct rd_nifti nifti = plain_nifti ();
  double affine[3][4];
  const char *source;
  nifti.pixdim[1] = 0.5;
  nifti.pixdim[2] = -2;
  nifti.pixdim[3] = NAN;
  nifti.qoffset[0] = 9;
  rd_nifti_affine (&nifti, affine, &source);
  assert_string_equal (source, "pixdim");
  static const double wanted[] = { 0.5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0 };
  for (size_t i = 0; i < 12; i++)
    assert_close (affine[i / 4][i % 4], wanted[i], 0);
}

static void
forms_that_are_not_finite_do_not_count (void **state)
{
  (void) state;
  struct rd_nifti nifti = plain_nifti ();
  double affine[3][4];
  const char *source;
  nifti.sform_code = nifti.qform_code = 1;
  nifti.srow[2][3] = NAN;
  rd_nifti_affine (&nifti, affine, &source);
  assert_string_equal (source, "qform");
  nifti.quatern[1] = INFINITY;
  rd_nifti_affine (&nifti, affine, &source);
  assert_string_equal (source, "pixdim");
}

/* Whatever the quaternion, the affine is finite. */
static void
quaternions_longer_than_one_are_normalised (void **state)
{
  (void) state;
  struct rd_nifti nifti = plain_nifti ();
  double affine[3][4];
  nifti.qform_code = 1;
  nifti.quatern[2] = 5;
  rd_nifti_qform (&nifti, affine);
  static const double wanted[] = { -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0 };
  for (size_t i = 0; i < 12; i++)
    assert_close (affine[i / 4][i % 4], wanted[i], 1e-15);
  nifti.quatern[0] = nifti.quatern[1] = nifti.quatern[2] = 3e38;
  rd_nifti_qform (&nifti, affine);
  for (size_t i = 0; i < 12; i++)
    assert_true (isfinite (affine[i / 4][i % 4]));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (orientations_are_nibabels),
    cmocka_unit_test (scaling_and_origin_do_not_change_an_orientation),
    cmocka_unit_test (each_plane_has_the_axis_across_it),
    cmocka_unit_test (a_degenerate_affine_has_no_orientation),
    cmocka_unit_test (a_polar_factor_is_orthogonal_and_leaves_a_stretch),
    cmocka_unit_test (the_rank_of_a_matrix_is_found),
    cmocka_unit_test (a_qform_is_nibabels),
    cmocka_unit_test (sform_wins_over_qform_over_pixdim),
    cmocka_unit_test (without_forms_the_affine_is_pixdim_without_a_flip),
    cmocka_unit_test (forms_that_are_not_finite_do_not_count),
    cmocka_unit_test (quaternions_longer_than_one_are_normalised),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
