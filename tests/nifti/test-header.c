/* SPDX-License-Identifier: MIT */
/* Parsing headers made by a generator with offsets of its own, and headers
 * in which any byte may be anything. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"

#include "src/nifti/image.h"
#include "tests/nifti/folder.h"
#include "tests/nifti/make-nifti.h"

static struct nifti_spec
full_spec (int version, bool big_endian)
{
  return (struct nifti_spec) {
    .version = version, .big_endian = big_endian, .datatype = 512,
    .dim = { 4, 7, 6, 5, 3, 1, 1, 1 },
    .pixdim = { -1, 0.5, 0.25, 1.5, 2, 3, 4, 5 },
    .qform_code = 1, .sform_code = 4, .quatern = { 0.5, -0.25, 0.125 },
    .qoffset = { -90, 126.5, -72 },
    .srow = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, -12 } },
    .scl_slope = 0.5, .scl_inter = -1024, .cal_min = -100, .cal_max = 300,
    .xyzt_units = 10, .intent_code = 1002,
  };
}

static void
assert_same (const double *got, const double *wanted, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (got[i] != wanted[i])
      fail_msg ("%zu: %.17g instead of %.17g", i, got[i], wanted[i]);
}

static void
check_fields (int version, bool big_endian)
{
  struct nifti_spec spec = full_spec (version, big_endian);
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti n;
  spec_header (&spec, &bytes);
  assert_ok (rd_nifti_parse (bytes.data, bytes.nbytes, "a.nii", &n));
  assert_int_equal (n.version, version);
  assert_int_equal (n.datatype, 512);
  assert_string_equal (n.type_name, "uint16");
  assert_int_equal (n.type.dtype, RADIO_UINT16);
  assert_int_equal (n.ndim, 4);
  for (size_t i = 0; i < 8; i++)
    assert_int_equal (n.dim[i], spec.dim[i]);
  assert_same (n.pixdim, spec.pixdim, 8);
  assert_same (n.quatern, spec.quatern, 3);
  assert_same (n.qoffset, spec.qoffset, 3);
  assert_same (n.srow[0], spec.srow[0], 4);
  assert_same (n.srow[1], spec.srow[1], 4);
  assert_same (n.srow[2], spec.srow[2], 4);
  assert_same (&n.scl_slope, &spec.scl_slope, 1);
  assert_same (&n.scl_inter, &spec.scl_inter, 1);
  assert_same (&n.cal_min, &spec.cal_min, 1);
  assert_same (&n.cal_max, &spec.cal_max, 1);
  assert_int_equal (n.qform_code, 1);
  assert_int_equal (n.sform_code, 4);
  assert_int_equal (n.xyzt_units, 10);
  assert_int_equal (n.intent_code, 1002);
  assert_int_equal (n.vox_offset, version == 2 ? 544 : 352);
  assert_int_equal (n.voxel_count, 7 * 6 * 5 * 3);
  assert_int_equal (n.data_nbytes, 2 * 7 * 6 * 5 * 3);
}

static void
every_field_is_read_in_both_versions_and_orders (void **state)
{
  (void) state;
  for (int version = 1; version <= 2; version++)
    for (int big = 0; big < 2; big++)
      check_fields (version, big);
}

static void
every_type_has_its_size (void **state)
{
  (void) state;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  for (size_t i = 0; i < SPEC_TYPE_COUNT; i++) {
    struct nifti_spec spec = { .datatype = spec_types[i].code };
    struct rd_nifti n;
    spec_header (&spec, &bytes);
    assert_ok (rd_nifti_parse (bytes.data, bytes.nbytes, "a.nii", &n));
    assert_int_equal (n.voxel_nbytes, spec_types[i].nbytes);
    assert_int_equal (n.type.unit_nbytes, spec_types[i].unit_nbytes);
    if (n.colour == RD_COLOUR_NONE) {
      assert_int_equal (n.type.item_nbytes, n.voxel_nbytes);
      assert_int_equal (rd_nifti_datatype_of (n.type.dtype), n.datatype);
    } else
      assert_int_equal (n.type.item_nbytes * n.colour, n.voxel_nbytes);
  }
  assert_int_equal (rd_nifti_datatype_of (RADIO_BOOL), 2);
  assert_int_equal (rd_nifti_datatype_of (RADIO_FLOAT16), 0);
  assert_int_equal (rd_nifti_datatype_of (RADIO_RAW), 0);
  assert_int_equal (rd_nifti_datatype_of (RADIO_STORED), 0);
}

/* A parsed header keeps its invariants, for any bytes. */
static void
check_promises (const struct rd_nifti *n)
{
  assert_in_range (n->rank, 3, 5);
  assert_int_equal (strlen (n->axes), n->rank);
  assert_in_range (n->ndim, 2, 7);
  assert_non_null (n->type_name);
  uint64_t product = 1;
  for (size_t i = 0; i < n->rank; i++) {
    assert_true (n->shape[i] > 0);
    product *= n->shape[i];
  }
  assert_int_equal (product * n->type.item_nbytes, n->data_nbytes);
  assert_int_equal (n->voxel_count * n->voxel_nbytes, n->data_nbytes);
  double affine[3][4], slope, inter;
  const char *source;
  char letters[4];
  size_t axis_of[3];
  rd_nifti_affine (n, affine, &source);
  bool is_known = rd_orientation (affine, letters, axis_of);
  assert_int_equal (axis_of[0] + axis_of[1] + axis_of[2], 3);
  assert_int_equal (strspn (letters, "RLAPSI"), is_known ? 3 : 0);
  rd_nifti_scaling (n, &slope, &inter);
  assert_true (isfinite (slope) && slope != 0 && isfinite (inter));
}

static void
mutate_each_byte (int version, bool big_endian)
{
  static const unsigned char values[] = { 0, 1, 2, 0x7f, 0x80, 0xff };
  struct nifti_spec spec = full_spec (version, big_endian);
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  unsigned parsed = 0, refused = 0;
  spec_header (&spec, &bytes);
  for (size_t at = 0; at < bytes.nbytes; at++)
    for (size_t k = 0; k < sizeof values; k++) {
      unsigned char held = bytes.data[at];
      struct rd_nifti n;
      bytes.data[at] = values[k];
      enum radio_status status
        = rd_nifti_parse (bytes.data, bytes.nbytes, "m.nii", &n);
      bytes.data[at] = held;
      if (status == RADIO_OK) {
        check_promises (&n);
        parsed++;
        continue;
      }
      refused++;
      assert_true (status == RADIO_ERROR_FORMAT
                   || status == RADIO_ERROR_UNSUPPORTED);
      assert_memory_equal (radio_error_message (), "m.nii: ", 7);
    }
  assert_true (parsed > 1000 && refused > 50);
}

static void
a_header_with_any_byte_changed_is_refused_or_sound (void **state)
{
  (void) state;
  for (int version = 1; version <= 2; version++)
    for (int big = 0; big < 2; big++)
      mutate_each_byte (version, big);
}

static void
a_header_cut_anywhere_is_refused (void **state)
{
  (void) state;
  for (int version = 1; version <= 2; version++) {
    struct nifti_spec spec = { .version = version };
    struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
    struct rd_nifti n;
    spec_header (&spec, &bytes);
    for (size_t nbytes = 0; nbytes < bytes.nbytes - 4; nbytes++) {
      /* A copy of its own, so that a sanitizer sees a read beyond it. */
      RD_FREE_PLAIN unsigned char *copy = malloc (nbytes + 1);
      assert_non_null (copy);
      memcpy (copy, bytes.data, nbytes);
      assert_fails (rd_nifti_parse (copy, nbytes, "c.nii", &n),
                    RADIO_ERROR_FORMAT, nbytes < 4 ? "not a NIfTI"
                                                   : "cut short");
    }
    assert_ok (rd_nifti_parse (bytes.data, bytes.nbytes - 4, "c", &n));
  }
}

static void
units_have_the_names_of_ome (void **state)
{
  (void) state;
  static const char *const space[] = { "", "meter", "millimeter",
                                       "micrometer", "" };
  static const char *const time[] = { "", "second", "millisecond",
                                      "microsecond", "", "", "", "" };
  for (int s = 0; s < 5; s++)
    for (int t = 0; t < 8; t++) {
      struct rd_nifti n = { .xyzt_units = s | t << 3 };
      assert_string_equal (rd_nifti_space_unit (&n), space[s]);
      assert_string_equal (rd_nifti_time_unit (&n), time[t]);
    }
}

static void
assert_scaling (double in_slope, double in_inter, double slope, double inter)
{
  struct rd_nifti n = { .scl_slope = in_slope, .scl_inter = in_inter };
  double got[2], wanted[2] = { slope, inter };
  rd_nifti_scaling (&n, &got[0], &got[1]);
  assert_same (got, wanted, 2);
}

static void
scaling_applies_when_there_is_a_slope (void **state)
{
  (void) state;
  assert_scaling (2, -3, 2, -3);
  assert_scaling (-2, 0, -2, 0);
  assert_scaling (0, 5, 1, 0);
  assert_scaling (NAN, 5, 1, 0);
  assert_scaling (INFINITY, 5, 1, 0);
  assert_scaling (2, NAN, 2, 0);
}

static void
colours_are_not_scaled (void **state)
{
  (void) state;
  struct rd_nifti n = { .colour = RD_COLOUR_RGB, .scl_slope = 2,
                        .scl_inter = 1 };
  double got[2], wanted[2] = { 1, 0 };
  rd_nifti_scaling (&n, &got[0], &got[1]);
  assert_same (got, wanted, 2);
}

static void
assert_strides (int datatype, int64_t ndim, const int64_t *wanted)
{
  struct nifti_spec spec = { .datatype = datatype,
                             .dim = { ndim, 5, 4, 3, 2, 6, 1, 1 } };
  if (datatype == 128)
    spec.dim[5] = 1;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti n;
  int64_t strides[RADIO_MAX_RANK];
  spec_header (&spec, &bytes);
  assert_ok (rd_nifti_parse (bytes.data, bytes.nbytes, "a.nii", &n));
  rd_nifti_file_strides (&n, n.shape, strides);
  for (size_t i = 0; i < n.rank; i++)
    assert_int_equal (strides[i], wanted[i]);
}

static void
file_strides_swap_t_and_c_and_interleave_colours (void **state)
{
  (void) state;
  assert_strides (4, 3, (int64_t[]) { 40, 10, 2 });
  assert_strides (4, 4, (int64_t[]) { 120, 40, 10, 2 });
  assert_strides (4, 5, (int64_t[]) { 120, 240, 40, 10, 2 });
  assert_strides (128, 3, (int64_t[]) { 1, 60, 15, 3 });
  assert_strides (128, 4, (int64_t[]) { 180, 1, 60, 15, 3 });
}

/* Read in pieces of any size: the voxels of the generator, then the end. */
static void
voxels_are_read_in_pieces_and_then_end (void **state)
{
  (void) state;
  struct nifti_spec spec = full_spec (2, true);
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  RD_CLEANUP (rd_cleanup_image) struct rd_image *image = NULL;
  unsigned char piece[333];
  uint64_t trailing = 99;
  spec_image (&spec, &bytes);
  write_file (".", "a.nii", &bytes);
  assert_ok (rd_image_open ("a.nii", &image));
  assert_int_equal (image->prefix.nbytes, 544);
  assert_memory_equal (image->prefix.data, bytes.data, 544);
  size_t left = image->nifti.data_nbytes, at = 544;
  while (left > 0) {
    size_t n = left < sizeof piece ? left : sizeof piece;
    assert_ok (rd_image_read (image, piece, n));
    assert_memory_equal (piece, bytes.data + at, n);
    at += n;
    left -= n;
  }
  assert_int_equal (image->nread, image->nifti.data_nbytes);
  assert_fails (rd_image_read (image, piece, 1), RADIO_ERROR_FORMAT,
                "cut short");
  assert_ok (rd_image_finish (image, &trailing));
  assert_int_equal (trailing, 0);
}

static void
bytes_after_the_voxels_are_counted (void **state)
{
  (void) state;
  struct nifti_spec spec = { .version = 1 };
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 }, gz RD_BUFFER_SCOPE = { 0 };
  unsigned char voxels[120];
  spec_image (&spec, &bytes);
  must_append (&bytes, "excess", 6);
  make_gzip (bytes.data, bytes.nbytes, 50, &gz);
  write_file (".", "a.nii", &bytes);
  write_file (".", "a.nii.gz", &gz);
  static const char *const names[] = { "a.nii", "a.nii.gz" };
  for (int i = 0; i < 2; i++) {
    RD_CLEANUP (rd_cleanup_image) struct rd_image *image = NULL;
    uint64_t trailing = 0;
    assert_ok (rd_image_open (names[i], &image));
    assert_ok (rd_image_read (image, voxels, sizeof voxels));
    assert_ok (rd_image_finish (image, &trailing));
    assert_int_equal (trailing, 6);
  }
}

static void
a_file_that_shrinks_while_it_is_read_is_cut_short (void **state)
{
  (void) state;
  struct nifti_spec spec = { .dim = { 3, 400, 400, 4, 1, 1, 1, 1 } };
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer voxels RD_BUFFER_SCOPE = { 0 };
  RD_CLEANUP (rd_cleanup_image) struct rd_image *image = NULL;
  spec_image (&spec, &bytes);
  write_file (".", "a.nii", &bytes);
  assert_ok (rd_image_open ("a.nii", &image));
  assert_ok (rd_buffer_reserve (&voxels, image->nifti.data_nbytes));
  assert_int_equal (truncate ("a.nii", 300000), 0);
  assert_fails (rd_image_read (image, voxels.data,
                               image->nifti.data_nbytes),
                RADIO_ERROR_FORMAT, "299648 of 1280000 bytes");
}

static void
closing_no_image_is_legal (void **state)
{
  (void) state;
  rd_image_close (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_field_is_read_in_both_versions_and_orders),
    cmocka_unit_test (every_type_has_its_size),
    cmocka_unit_test (a_header_with_any_byte_changed_is_refused_or_sound),
    cmocka_unit_test (a_header_cut_anywhere_is_refused),
    cmocka_unit_test (units_have_the_names_of_ome),
    cmocka_unit_test (scaling_applies_when_there_is_a_slope),
    cmocka_unit_test (colours_are_not_scaled),
    cmocka_unit_test (file_strides_swap_t_and_c_and_interleave_colours),
    cmocka_unit_test (voxels_are_read_in_pieces_and_then_end),
    cmocka_unit_test (bytes_after_the_voxels_are_counted),
    cmocka_unit_test (a_file_that_shrinks_while_it_is_read_is_cut_short),
    cmocka_unit_test (closing_no_image_is_legal),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
