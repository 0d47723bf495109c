/* SPDX-License-Identifier: MIT */
/* Headers made from headers: stripped, cut to a box, fresh. */
#include <config.h>

#include <math.h>

#include "tests/unit.h"

#include "src/nifti/nifti.h"
#include "tests/nifti/make-nifti.h"

static void
parse (const struct rd_buffer *bytes, struct rd_nifti *nifti)
{
  assert_ok (rd_nifti_parse (bytes->data, bytes->nbytes, "a.nii", nifti));
}

static bool
holds (const struct rd_buffer *bytes, const char *text)
{
  return memmem (bytes->data, bytes->nbytes, text, strlen (text)) != NULL;
}

static void
note (const char *message, void *user_data)
{
  char *notes = user_data;
  size_t n = strlen (notes);
  snprintf (notes + n, 1024 - n, "%s\n", message);
}

static const struct nifti_spec private_spec = {
  .descrip = "Doe 1", .aux_file = "Doe 2", .intent_name = "Doe 3",
  .db_name = "Doe 4", .extension = "\x20\0\0\0\6\0\0\0Doe 5\0\0\0"
                                   "0123456789abcde",
  .extension_nbytes = 32,
};

static void
stripping_leaves_no_text_and_no_extension (void **state)
{
  (void) state;
  for (int version = 1; version <= 2; version++)
    for (int big = 0; big < 2; big++) {
      struct nifti_spec spec = private_spec;
      struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
      struct rd_nifti before, after;
      char notes[1024] = "";
      spec.version = version;
      spec.big_endian = big;
      spec_header (&spec, &bytes);
      parse (&bytes, &before);
      assert_true (holds (&bytes, "Doe"));
      rd_nifti_strip (&before, &bytes, note, notes);
      assert_false (holds (&bytes, "Doe"));
      assert_int_equal (bytes.nbytes, version == 2 ? 544 : 352);
      parse (&bytes, &after);
      assert_int_equal (after.vox_offset, bytes.nbytes);
      assert_int_equal (bytes.data[bytes.nbytes - 4], 0);
      assert_non_null (strstr (notes, "descrip\n"));
      assert_non_null (strstr (notes, "aux_file\n"));
      assert_non_null (strstr (notes, "intent_name\n"));
      assert_int_equal (strstr (notes, "db_name\n") != NULL, version == 1);
      assert_non_null (strstr (notes, "dropped 32 bytes of extensions"));
      assert_null (strstr (notes, "Doe"));
    }
}

static void
text_after_a_nul_is_stripped_too (void **state)
{
  (void) state;
  struct nifti_spec spec = { .version = 1 };
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti nifti;
  char notes[1024] = "";
  spec_header (&spec, &bytes);
  memcpy (bytes.data + 148 + 40, "Doe", 3);
  parse (&bytes, &nifti);
  rd_nifti_strip (&nifti, &bytes, note, notes);
  assert_false (holds (&bytes, "Doe"));
  assert_string_equal (notes, "blanked the header's descrip\n");
}

static void
a_bare_header_is_not_reported_and_not_changed (void **state)
{
  (void) state;
  struct nifti_spec spec = { .version = 2, .sform_code = 1 };
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer copy RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti nifti;
  char notes[1024] = "";
  spec_header (&spec, &bytes);
  must_append (&copy, bytes.data, bytes.nbytes);
  parse (&bytes, &nifti);
  rd_nifti_strip (&nifti, &bytes, note, notes);
  assert_string_equal (notes, "");
  assert_int_equal (bytes.nbytes, copy.nbytes);
  assert_memory_equal (bytes.data, copy.data, copy.nbytes);
  rd_nifti_strip (&nifti, &bytes, NULL, NULL);
}

static void
stripping_a_pair_leaves_where_its_voxels_are (void **state)
{
  (void) state;
  struct nifti_spec spec = private_spec;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti nifti;
  spec.is_pair = true;
  spec.vox_offset = 64;
  spec_header (&spec, &bytes);
  parse (&bytes, &nifti);
  rd_nifti_strip (&nifti, &bytes, NULL, NULL);
  parse (&bytes, &nifti);
  assert_int_equal (nifti.vox_offset, 64);
  assert_int_equal (bytes.nbytes, 352);
  bytes.nbytes = 348;
  rd_nifti_strip (&nifti, &bytes, NULL, NULL);
  assert_int_equal (bytes.nbytes, 348);
}

/* Where a header puts the voxel (x, y, z). */
static void
place (const struct rd_nifti *nifti, const double voxel[3], double point[3])
{
  double affine[3][4];
  const char *source;
  rd_nifti_affine (nifti, affine, &source);
  for (size_t i = 0; i < 3; i++) {
    point[i] = affine[i][3];
    for (size_t j = 0; j < 3; j++)
      point[i] += affine[i][j] * voxel[j];
  }
}

static const struct nifti_spec oblique_spec = {
  .dim = { 4, 30, 20, 10, 6, 1, 1, 1 },
  .pixdim = { -1, 0.5, 0.75, 3, 2, 1, 1, 1 },
  .qform_code = 1, .sform_code = 2, .quatern = { 0.1, -0.2, 0.3 },
  .qoffset = { -90, 126, -72 },
  .srow = { { -0.5, 0.1, 0, 90 }, { 0, 0.75, 0.2, -126 },
            { 0.1, 0, 3, -72 } },
  .descrip = "kept", .extension = "\x10\0\0\0\6\0\0\0dropped",
  .extension_nbytes = 16,
};

static void
check_box (int version, bool big_endian, bool is_pair, bool sform)
{
  struct nifti_spec spec = oblique_spec;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti whole, part;
  struct radio_box box = { 4, { 2, 3, 5, 7 }, { 4, 6, 10, 20 } };
  spec.version = version;
  spec.big_endian = big_endian;
  spec.is_pair = is_pair;
  spec.sform_code = sform ? 2 : 0;
  spec_header (&spec, &bytes);
  parse (&bytes, &whole);
  assert_ok (rd_nifti_box_header (&whole, &bytes, &box, &out));
  parse (&out, &part);
  assert_int_equal (part.version, version);
  assert_int_equal (part.swapped, whole.swapped);
  assert_false (part.is_pair);
  assert_int_equal (part.vox_offset, out.nbytes);
  assert_int_equal (out.nbytes, version == 2 ? 544 : 352);
  assert_memory_equal (out.data + out.nbytes - 4, "\0\0\0\0", 4);
  assert_true (holds (&out, "kept") && !holds (&out, "dropped"));
  for (size_t i = 0; i < 4; i++)
    assert_int_equal (part.shape[i], box.size[i]);
  double inside[3] = { 1, 2, 3 }, outside[3] = { 8, 7, 6 }, a[3], b[3];
  place (&part, inside, a);
  place (&whole, outside, b);
  for (size_t i = 0; i < 3; i++)
    assert_true (fabs (a[i] - b[i]) < 1e-4);
}

static void
a_box_stays_where_it_was (void **state)
{
  (void) state;
  for (int bits = 0; bits < 16; bits++)
    check_box (1 + (bits & 1), bits & 2, bits & 4, bits & 8);
}

/* toffset is at 136 in NIfTI-1: 2 of 2 seconds. */
static void
a_box_begins_when_it_did (void **state)
{
  (void) state;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti nifti;
  struct radio_box box = { 4, { 2, 0, 0, 0 }, { 1, 10, 20, 30 } };
  float toffset;
  spec_header (&oblique_spec, &bytes);
  bytes.data[122] = 1;
  parse (&bytes, &nifti);
  assert_ok (rd_nifti_box_header (&nifti, &bytes, &box, &out));
  uint32_t bits = (uint32_t) out.data[136] | (uint32_t) out.data[137] << 8
                  | (uint32_t) out.data[138] << 16
                  | (uint32_t) out.data[139] << 24;
  memcpy (&toffset, &bits, 4);
  assert_true (toffset == 4);
  assert_int_equal (out.data[122], 1);
  box.size[1] = 9;
  assert_ok (rd_nifti_box_header (&nifti, &bytes, &box, &out));
  assert_int_equal (out.data[122], 0);
}

/* In a header of two dimensions only dim[1] and dim[2] change. */
static void
the_whole_box_changes_nothing_but_extensions (void **state)
{
  (void) state;
  struct nifti_spec spec = { .dim = { 2, 6, 5, 0, 7, 9, 9, 9 },
                             .sform_code = 1 };
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti nifti;
  spec_header (&spec, &bytes);
  parse (&bytes, &nifti);
  assert_int_equal (nifti.rank, 3);
  struct radio_box box = radio_box3 (0, 1, 0, 5, 0, 6);
  assert_ok (rd_nifti_box_header (&nifti, &bytes, &box, &out));
  assert_int_equal (out.nbytes, bytes.nbytes);
  assert_memory_equal (out.data, bytes.data, bytes.nbytes);
}

static void
boxes_of_five_dimensions_swap_t_and_c (void **state)
{
  (void) state;
  struct nifti_spec spec = { .dim = { 5, 6, 5, 4, 3, 7, 1, 1 } };
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti nifti;
  spec_header (&spec, &bytes);
  parse (&bytes, &nifti);
  struct radio_box box = { 5, { 1, 2, 0, 0, 0 }, { 2, 5, 4, 5, 6 } };
  assert_ok (rd_nifti_box_header (&nifti, &bytes, &box, &out));
  parse (&out, &nifti);
  assert_int_equal (nifti.dim[4], 2);
  assert_int_equal (nifti.dim[5], 5);
}

static void
a_box_must_be_inside_and_have_all_colours (void **state)
{
  (void) state;
  struct nifti_spec spec = { .datatype = 128 };
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti nifti;
  spec_header (&spec, &bytes);
  parse (&bytes, &nifti);
  struct radio_box box = { 4, { 0, 0, 1, 2 }, { 3, 3, 2, 2 } };
  assert_ok (rd_nifti_box_header (&nifti, &bytes, &box, &out));
  box.size[0] = 2;
  assert_fails (rd_nifti_box_header (&nifti, &bytes, &box, &out),
                RADIO_ERROR_ARGUMENT, "all 3 channels");
  box = (struct radio_box) { 4, { 0, 0, 3, 2 }, { 3, 3, 2, 2 } };
  assert_fails (rd_nifti_box_header (&nifti, &bytes, &box, &out),
                RADIO_ERROR_ARGUMENT, "within");
  box = (struct radio_box) { 4, { 0, 0, 0, 0 }, { 3, 3, 0, 2 } };
  assert_fails (rd_nifti_box_header (&nifti, &bytes, &box, &out),
                RADIO_ERROR_ARGUMENT, "empty");
  box = (struct radio_box) { 4, { 0, 0, 0, 0 }, { 3, 1, 1, 1 } };
  bytes.nbytes = 100;
  assert_fails (rd_nifti_box_header (&nifti, &bytes, &box, &out),
                RADIO_ERROR_ARGUMENT, "100 of 348");
}

static struct rd_nifti_make
some_make (void)
{
  return (struct rd_nifti_make) {
    .dtype = RADIO_INT16, .rank = 4, .shape = { 2, 30, 40, 50 },
    .spacing = { 2.5, 3, 0.5, 0.25 },
    .xyzt_units = RD_NIFTI_MM | RD_NIFTI_SECONDS, .sform_code = 1,
    .affine = { { -0.25, 0, 0, 10 }, { 0, 0.5, 0, 20 }, { 0, 0, 3, 30 } },
    .descrip = "made",
  };
}

static void
a_made_header_has_the_requested_fields (void **state)
{
  (void) state;
  struct rd_nifti_make make = some_make ();
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti n;
  assert_ok (rd_nifti_make (&make, &out));
  assert_int_equal (out.nbytes, 352);
  parse (&out, &n);
  assert_int_equal (n.version, 1);
  assert_string_equal (n.axes, "tzyx");
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal (n.shape[i], make.shape[i]);
    assert_true (n.pixdim[4 - i] == make.spacing[i]);
  }
  double affine[3][4];
  const char *source;
  rd_nifti_affine (&n, affine, &source);
  assert_string_equal (source, "sform");
  assert_memory_equal (affine, make.affine, sizeof affine);
  assert_string_equal (rd_nifti_space_unit (&n), "millimeter");
  assert_string_equal (rd_nifti_time_unit (&n), "second");
  assert_true (n.scl_slope == 1 && n.scl_inter == 0);
  assert_true (holds (&out, "made"));
}

static void
long_axes_make_nifti_2 (void **state)
{
  (void) state;
  struct rd_nifti_make make = some_make ();
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti n;
  make.shape[3] = 32767;
  assert_ok (rd_nifti_make (&make, &out));
  parse (&out, &n);
  assert_int_equal (n.version, 1);
  make.shape[3] = 32768;
  assert_ok (rd_nifti_make (&make, &out));
  assert_int_equal (out.nbytes, 544);
  parse (&out, &n);
  assert_int_equal (n.version, 2);
  assert_int_equal (n.dim[1], 32768);
}

static void
every_type_that_nifti_has_is_made (void **state)
{
  (void) state;
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  unsigned made = 0;
  for (int dtype = RADIO_STORED; dtype <= RADIO_RAW; dtype++) {
    struct rd_nifti_make make = some_make ();
    struct rd_nifti n;
    make.dtype = (enum radio_dtype) dtype;
    make.rank = 5;
    make.shape[4] = 9;
    make.spacing[4] = 1;
    if (dtype == RADIO_STORED || dtype == RADIO_RAW
        || dtype == RADIO_FLOAT16) {
      assert_fails (rd_nifti_make (&make, &out), RADIO_ERROR_UNSUPPORTED,
                    "no data type");
      continue;
    }
    assert_ok (rd_nifti_make (&make, &out));
    parse (&out, &n);
    assert_int_equal (n.type.dtype,
                      dtype == RADIO_BOOL ? RADIO_UINT8 : dtype);
    assert_string_equal (n.axes, "tczyx");
    assert_memory_equal (n.shape, make.shape, 5 * sizeof n.shape[0]);
    made++;
  }
  assert_int_equal (made, 13);
}

static void
an_image_that_nifti_cannot_hold_is_not_made (void **state)
{
  (void) state;
  struct rd_nifti_make make = some_make ();
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  make.rank = 6;
  assert_fails (rd_nifti_make (&make, &out), RADIO_ERROR_UNSUPPORTED,
                "rank is 6");
  make.rank = 3;
  make.shape[1] = 0;
  assert_fails (rd_nifti_make (&make, &out), RADIO_ERROR_ARGUMENT,
                "shape[1] is 0");
}

/* 80 bytes, the last of them a NUL. */
static void
a_long_description_is_cut (void **state)
{
  (void) state;
  struct rd_nifti_make make = some_make ();
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  char text[200];
  memset (text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  make.descrip = text;
  assert_ok (rd_nifti_make (&make, &out));
  assert_int_equal (strlen ((const char *) out.data + 148), 79);
  make.descrip = NULL;
  assert_ok (rd_nifti_make (&make, &out));
  assert_int_equal (out.data[148], 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (stripping_leaves_no_text_and_no_extension),
    cmocka_unit_test (text_after_a_nul_is_stripped_too),
    cmocka_unit_test (a_bare_header_is_not_reported_and_not_changed),
    cmocka_unit_test (stripping_a_pair_leaves_where_its_voxels_are),
    cmocka_unit_test (a_box_stays_where_it_was),
    cmocka_unit_test (a_box_begins_when_it_did),
    cmocka_unit_test (the_whole_box_changes_nothing_but_extensions),
    cmocka_unit_test (boxes_of_five_dimensions_swap_t_and_c),
    cmocka_unit_test (a_box_must_be_inside_and_have_all_colours),
    cmocka_unit_test (a_made_header_has_the_requested_fields),
    cmocka_unit_test (long_axes_make_nifti_2),
    cmocka_unit_test (every_type_that_nifti_has_is_made),
    cmocka_unit_test (an_image_that_nifti_cannot_hold_is_not_made),
    cmocka_unit_test (a_long_description_is_cut),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
