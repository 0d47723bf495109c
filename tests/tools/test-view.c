/* SPDX-License-Identifier: MIT */
/* Planes as pictures: which way up, how large, how bright. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"

#include "tools/slice/picture.h"

/* A z, y, x volume of 2 x 2 voxels a plane, whose x, y, z rise to the given
 * letters. */
static struct radio_volume_info
oriented (const char *letters)
{
  struct radio_volume_info info = {
    .array = { .rank = 3 }, .axes = "zyx", .spacing = { 3, 2, 1 },
    .nifti_type = "",
  };
  memcpy (info.orientation, letters, 4);
  static const char lines[3][3] = { "SI", "AP", "LR" };
  for (int plane = 0; plane < 3; plane++)
    for (size_t i = 0; i < 3; i++)
      if (strchr (lines[plane], letters[2 - i]))
        info.plane_axis[plane] = i;
  return info;
}

/* Turn the plane 1 2 / 3 4 of an image and compare, row by row. */
static void
expect (const char *letters, enum radio_plane plane, const char *picture)
{
  static const float values[] = { 1, 2, 3, 4 };
  static const uint64_t shape[2] = { 2, 2 };
  struct radio_volume_info info = oriented (letters);
  struct rd_view view;
  struct rd_raster raster;
  char got[5] = "";
  rd_view_of_plane (&info, plane, &view);
  assert_true (rd_view_turn (&view, values, shape, &raster));
  for (int i = 0; i < 4; i++)
    got[i] = (char) ('0' + (int) raster.values[i]);
  free (raster.values);
  if (strcmp (got, picture) != 0)
    fail_msg ("%s plane %d: %s instead of %s", letters, plane, got, picture);
}

static void
the_patients_right_is_at_the_left (void **state)
{
  (void) state;
  /* Rows are y, columns x.  Of RAS, x rises to the right: mirrored; y to
   * the front: upside down. */
  expect ("RAS", RADIO_AXIAL, "4321");
  expect ("LAS", RADIO_AXIAL, "3412");
  expect ("RPS", RADIO_AXIAL, "2143");
  expect ("LPS", RADIO_AXIAL, "1234");
}

static void
superior_is_up_in_coronal_and_sagittal_planes (void **state)
{
  (void) state;
  expect ("RAS", RADIO_CORONAL, "4321");
  expect ("LAI", RADIO_CORONAL, "1234");
  expect ("LAS", RADIO_CORONAL, "3412");
}

static void
anterior_is_at_the_left_of_a_sagittal_plane (void **state)
{
  (void) state;
  expect ("RAS", RADIO_SAGITTAL, "4321");
  expect ("RPI", RADIO_SAGITTAL, "1234");
  expect ("LPS", RADIO_SAGITTAL, "3412");
}

static void
an_image_with_swapped_axes_is_turned_around (void **state)
{
  (void) state;
  /* x rises to the back, y to the left: an axial plane's rows (y) are
   * columns of the picture. */
  expect ("PLS", RADIO_AXIAL, "1324");
  expect ("ARS", RADIO_AXIAL, "4231");
  /* z rises to the left: the axial plane lies across y. */
  expect ("PIL", RADIO_AXIAL, "1324");
}

static void
spacing_follows_the_turn (void **state)
{
  (void) state;
  struct radio_volume_info info = oriented ("RAS");
  struct rd_view view;
  rd_view_of_plane (&info, RADIO_AXIAL, &view);
  assert_true (view.pixel_mm[0] == 1 && view.pixel_mm[1] == 2);
  rd_view_of_plane (&info, RADIO_SAGITTAL, &view);
  assert_true (view.pixel_mm[0] == 2 && view.pixel_mm[1] == 3);
  info = oriented ("PLS");
  rd_view_of_plane (&info, RADIO_AXIAL, &view);
  assert_true (view.pixel_mm[0] == 2 && view.pixel_mm[1] == 1);
}

static void
a_plane_that_is_not_square_keeps_its_rows (void **state)
{
  (void) state;
  static const float values[] = { 1, 2, 3, 4, 5, 6 };
  static const uint64_t shape[2] = { 2, 3 };
  struct rd_view view = { .transpose = true };
  struct rd_raster raster;
  assert_true (rd_view_turn (&view, values, shape, &raster));
  assert_int_equal (raster.width, 2);
  assert_int_equal (raster.height, 3);
  static const float want[] = { 1, 4, 2, 5, 3, 6 };
  assert_memory_equal (raster.values, want, sizeof want);
  free (raster.values);
}

static void
pixels_become_square_by_growing (void **state)
{
  (void) state;
  size_t size[2];
  assert_true (rd_square_size (100, 50, (double[]) { 1, 3 }, 16384, size));
  assert_int_equal (size[0], 100);
  assert_int_equal (size[1], 150);
  assert_true (rd_square_size (100, 50, (double[]) { .5, .5 }, 16384, size));
  assert_int_equal (size[0], 100);
  assert_int_equal (size[1], 50);
}

static void
unknown_or_extreme_spacing_leaves_pixels_as_they_are (void **state)
{
  (void) state;
  size_t size[2];
  assert_false (rd_square_size (9, 9, (double[]) { 0, 1 }, 16384, size));
  assert_false (rd_square_size (9, 9, (double[]) { NAN, 1 }, 16384, size));
  assert_false (rd_square_size (9, 9, (double[]) { 1e-9, 1 }, 16384, size));
}

static void
resizing_interpolates_between_pixel_centres (void **state)
{
  (void) state;
  struct rd_raster raster = { 2, 1, calloc (2, sizeof (float)) };
  raster.values[1] = 4;
  assert_true (rd_raster_resize (&raster, 4, 2, RD_LINEAR));
  static const float want[] = { 0, 1, 3, 4, 0, 1, 3, 4 };
  assert_memory_equal (raster.values, want, sizeof want);
  free (raster.values);
}

static void
the_nearest_pixel_makes_no_new_values (void **state)
{
  (void) state;
  struct rd_raster raster = { 3, 1, calloc (3, sizeof (float)) };
  raster.values[1] = 4;
  raster.values[2] = NAN;
  assert_true (rd_raster_resize (&raster, 7, 2, RD_NEAREST));
  static const float want[] = { 0, 0, 4, 4, 4 };
  assert_memory_equal (raster.values, want, sizeof want);
  assert_memory_equal (raster.values + 7, want, sizeof want);
  assert_true (isnan (raster.values[5]) && isnan (raster.values[6]));
  free (raster.values);
}

/* Returns the interpolation for a plane of 0, 1, ... n - 1, each of them
 * twice. */
static enum rd_interpolation
chosen_for (size_t n, enum radio_dtype dtype)
{
  struct radio_volume_info info = oriented ("RAS");
  struct rd_raster raster = { n, 2, calloc (2 * n, sizeof (float)) };
  for (size_t i = 0; i < 2 * n; i++)
    raster.values[i] = (float) (i * 7 % n);
  info.array.dtype = dtype;
  enum rd_interpolation how = rd_raster_interpolation (&raster, &info);
  free (raster.values);
  return how;
}

static void
few_different_integers_are_taken_for_labels (void **state)
{
  (void) state;
  assert_int_equal (chosen_for (2, RADIO_BOOL), RD_NEAREST);
  assert_int_equal (chosen_for (64, RADIO_UINT8), RD_NEAREST);
  assert_int_equal (chosen_for (64, RADIO_UINT64), RD_NEAREST);
  assert_int_equal (chosen_for (65, RADIO_UINT8), RD_LINEAR);
  assert_int_equal (chosen_for (300, RADIO_INT16), RD_LINEAR);
  assert_int_equal (chosen_for (2, RADIO_FLOAT32), RD_LINEAR);
  assert_int_equal (chosen_for (2, RADIO_FLOAT16), RD_LINEAR);
}

static void
labels_that_the_volume_says_it_has_are_trusted (void **state)
{
  (void) state;
  struct radio_volume_info info = oriented ("RAS");
  float value = 0.5f;
  struct rd_raster raster = { 1, 1, &value };
  info.array.dtype = RADIO_FLOAT32;
  assert_int_equal (rd_raster_interpolation (&raster, &info), RD_LINEAR);
  info.is_labels = true;
  assert_int_equal (rd_raster_interpolation (&raster, &info), RD_NEAREST);
}

static void
colours_are_not_labels (void **state)
{
  (void) state;
  struct radio_volume_info info = oriented ("RAS");
  float value = 7;
  struct rd_raster raster = { 1, 1, &value };
  info.axes = "czyx";
  info.array.rank = 4;
  info.array.dtype = RADIO_UINT8;
  info.nifti_type = "rgb24";
  assert_int_equal (rd_raster_interpolation (&raster, &info), RD_LINEAR);
}

static void
resizing_to_the_same_size_changes_nothing (void **state)
{
  (void) state;
  struct rd_raster raster = { 2, 1, calloc (2, sizeof (float)) };
  raster.values[0] = NAN;
  raster.values[1] = INFINITY;
  float *before = raster.values;
  assert_true (rd_raster_resize (&raster, 2, 1, RD_LINEAR));
  assert_ptr_equal (raster.values, before);
  free (raster.values);
}

static void
a_robust_window_leaves_out_a_percent_on_each_side (void **state)
{
  (void) state;
  float values[1001];
  double low, high;
  for (int i = 0; i <= 1000; i++)
    values[(i * 8) % 1001] = (float) i;
  assert_true (rd_robust_window (values, 1001, &low, &high));
  assert_true (low == 10 && high == 990);
}

static void
a_window_is_never_empty (void **state)
{
  (void) state;
  float few[200] = { 0 }, same[3] = { 5, 5, 5 };
  float none[2] = { NAN, INFINITY };
  double low, high;
  few[7] = 9;
  assert_true (rd_robust_window (few, 200, &low, &high));
  assert_true (low == 0 && high == 9);
  assert_true (rd_robust_window (same, 3, &low, &high));
  assert_true (low == 5 && high == 6);
  assert_true (rd_robust_window (none, 2, &low, &high));
  assert_true (low < high);
  assert_true (rd_robust_window (none, 0, &low, &high));
  assert_true (low < high);
}

static void
grey_is_clamped_and_nan_is_black (void **state)
{
  (void) state;
  float values[] = { -1, 0, 0.5f, 1, 2, NAN, INFINITY, -INFINITY };
  static const uint8_t want[] = { 0, 0, 128, 255, 255, 0, 255, 0 };
  uint8_t grey[16];
  struct rd_raster raster = { 8, 1, values };
  rd_raster_to_grey (&raster, 0, 1, grey, 1);
  assert_memory_equal (grey, want, sizeof want);
  rd_raster_to_grey (&raster, 0, 1, grey, 2);
  for (int i = 0; i < 8; i++)
    assert_int_equal (grey[2 * i], want[i]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_patients_right_is_at_the_left),
    cmocka_unit_test (superior_is_up_in_coronal_and_sagittal_planes),
    cmocka_unit_test (anterior_is_at_the_left_of_a_sagittal_plane),
    cmocka_unit_test (an_image_with_swapped_axes_is_turned_around),
    cmocka_unit_test (spacing_follows_the_turn),
    cmocka_unit_test (a_plane_that_is_not_square_keeps_its_rows),
    cmocka_unit_test (pixels_become_square_by_growing),
    cmocka_unit_test (unknown_or_extreme_spacing_leaves_pixels_as_they_are),
    cmocka_unit_test (resizing_interpolates_between_pixel_centres),
    cmocka_unit_test (the_nearest_pixel_makes_no_new_values),
    cmocka_unit_test (few_different_integers_are_taken_for_labels),
    cmocka_unit_test (labels_that_the_volume_says_it_has_are_trusted),
    cmocka_unit_test (colours_are_not_labels),
    cmocka_unit_test (resizing_to_the_same_size_changes_nothing),
    cmocka_unit_test (a_robust_window_leaves_out_a_percent_on_each_side),
    cmocka_unit_test (a_window_is_never_empty),
    cmocka_unit_test (grey_is_clamped_and_nan_is_black),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
