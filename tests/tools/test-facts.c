/* SPDX-License-Identifier: MIT */
/* Facts shown of volumes: axes in NIfTI's order, facts of NIfTI headers, and
 * JSON that is valid whatever the names are. */
#include <config.h>

#include <math.h>
#include <unistd.h>

#include "tests/unit.h"

#include "tools/facts.h"
#include "tools/json.h"
#include "tools/names.h"

static void
expect_axes (const char *axes, const char *type, const char *want)
{
  struct radio_volume_info info = { .axes = axes, .nifti_type = type };
  info.array.rank = strlen (axes);
  size_t order[RADIO_MAX_RANK];
  char got[RADIO_MAX_RANK + 1] = "";
  size_t n = rd_display_axes (&info, order);
  for (size_t i = 0; i < n; i++)
    got[i] = axes[order[i]];
  assert_string_equal (got, want);
}

static void
axes_are_listed_in_niftis_order (void **state)
{
  (void) state;
  expect_axes ("zyx", "int16", "xyz");
  expect_axes ("tzyx", "int16", "xyzt");
  expect_axes ("tczyx", "int16", "xyztc");
  expect_axes ("czyx", "", "xyzc");
  expect_axes ("yx", "", "xy");
  expect_axes ("qzyx", "", "xyzq");
}

static void
a_colour_is_no_axis (void **state)
{
  (void) state;
  expect_axes ("czyx", "rgb24", "xyz");
  expect_axes ("tczyx", "rgba32", "xyzt");
  expect_axes ("zyx", "rgb24", "xyz");
}

static void
expect_tiling (const char *stored, const char *want)
{
  struct radio_volume_info info = { .tiling = stored };
  char text[RD_TILING_NBYTES];
  assert_string_equal (rd_volume_tiling (&info, text), want);
}

static void
tilings_are_printed_as_the_option_takes_them (void **state)
{
  (void) state;
  expect_tiling ("balanced", "balanced");
  expect_tiling ("isotropic", "isotropic");
  expect_tiling ("4x8x16", "16,8,4");
  expect_tiling ("1x512x300", "300,512,1");
  expect_tiling ("", "unknown");
  expect_tiling ("8x16", "8x16");
}

static void
sizes_that_overflow_are_the_largest (void **state)
{
  (void) state;
  struct radio_array_info info = { .rank = 3, .shape = { 2, 3, 4 },
                                   .item_nbytes = 2 };
  assert_int_equal (rd_raw_nbytes (&info), 48);
  info.shape[0] = UINT64_MAX / 8;
  assert_true (rd_raw_nbytes (&info) == UINT64_MAX);
}

static void
numbers_are_joined_by_their_axes (void **state)
{
  (void) state;
  static const uint64_t shape[] = { 30, 20, 10 };
  static const double spacing[] = { 1.5, 0.957, NAN };
  static const size_t order[] = { 2, 1, 0 };
  char *text = rd_join_u64 (shape, order, 3, " x ");
  assert_string_equal (text, "10 x 20 x 30");
  free (text);
  text = rd_join_double (spacing, order, 3, "x");
  assert_string_equal (text, "nanx0.957x1.5");
  free (text);
  text = rd_join_u64 (shape, order, 0, "x");
  assert_string_equal (text, "-");
  free (text);
}

static void
facts_of (const unsigned char *header, size_t nbytes,
          struct rd_header_facts *facts)
{
  struct radio_volume_info info = { .header = header,
                                    .header_nbytes = nbytes };
  rd_header_facts (&info, facts);
}

static void
facts_of_a_little_endian_header (void **state)
{
  (void) state;
  unsigned char h[416] = { 0x5c, 0x01 };
  struct rd_header_facts facts;
  memcpy (h + 148, "a head  ", 8);
  memset (h + 328, 'i', 16);
  h[68] = 0xea;
  h[69] = 0x03;
  h[252] = 1;
  h[254] = 0xff;
  h[255] = 0xff;
  facts_of (h, sizeof h, &facts);
  assert_int_equal (facts.version, 1);
  assert_false (facts.big_endian);
  assert_string_equal (facts.descrip, "a head");
  assert_string_equal (facts.intent_name, "iiiiiiiiiiiiiiii");
  assert_int_equal (facts.intent_code, 1002);
  assert_int_equal (facts.qform_code, 1);
  assert_int_equal (facts.sform_code, -1);
  assert_int_equal (facts.extension_nbytes, 64);
}

static void
facts_of_a_big_endian_header (void **state)
{
  (void) state;
  unsigned char h[544] = { 0, 0, 0x02, 0x1c };
  struct rd_header_facts facts;
  memcpy (h + 240, "second", 6);
  h[351] = 4;
  facts_of (h, sizeof h, &facts);
  assert_int_equal (facts.version, 2);
  assert_true (facts.big_endian);
  assert_string_equal (facts.descrip, "second");
  assert_int_equal (facts.sform_code, 4);
  assert_int_equal (facts.extension_nbytes, 0);
}

static void
invalid_headers_give_no_facts (void **state)
{
  (void) state;
  unsigned char h[352] = { 1, 2, 3, 4 };
  struct rd_header_facts facts;
  facts_of (h, sizeof h, &facts);
  assert_int_equal (facts.version, 0);
  facts_of (NULL, 0, &facts);
  assert_int_equal (facts.version, 0);
  /* NIfTI-2's size in too few bytes. */
  h[0] = 0x1c;
  h[1] = 2;
  h[2] = h[3] = 0;
  facts_of (h, sizeof h, &facts);
  assert_int_equal (facts.version, 0);
}

static void
expect_json (struct json_object *value, const char *want)
{
  assert_string_equal (json_object_to_json_string_ext (
                         value, JSON_C_TO_STRING_PLAIN), want);
  json_object_put (value);
}

static void
numbers_without_a_json_form_are_zarrs_strings_or_null (void **state)
{
  (void) state;
  static const double numbers[] = { 1, NAN, -INFINITY, 0.1 };
  expect_json (rd_json_double_list (numbers, 4),
               "[1,null,\"-Infinity\",0.1]");
}

static void
integers_of_64_bits_are_exact (void **state)
{
  (void) state;
  static const uint64_t numbers[] = { UINT64_MAX, 0 };
  expect_json (rd_json_u64_list (numbers, 2), "[18446744073709551615,0]");
}

static void
broken_utf8_is_replaced (void **state)
{
  (void) state;
  expect_json (rd_json_new_text ("a\xff\xc3\xa9\n\"b"),
               "\"a\xef\xbf\xbd\xc3\xa9\\n\\\"b\"");
}

/* A path is split at its topmost folder that is a Zarr node. */
static void
touch_node (const char *folder)
{
  char file[256];
  snprintf (file, sizeof file, "%s/zarr.json", folder);
  FILE *stream = fopen (file, "w");
  assert_non_null (stream);
  fclose (stream);
}

static void
expect_split (const char *operand, const char *root, const char *path)
{
  char *got_root, *got_path;
  assert_true (rd_split_path (operand, &got_root, &got_path));
  assert_string_equal (got_root, root);
  assert_string_equal (got_path, path);
  free (got_root);
  free (got_path);
}

static void
a_path_is_split_at_its_topmost_node (void **state)
{
  (void) state;
  char folder[] = "radio-split-XXXXXX", *root, *path, cwd[4096];
  assert_non_null (getcwd (cwd, sizeof cwd));
  assert_non_null (mkdtemp (folder));
  assert_int_equal (chdir (folder), 0);
  assert_int_equal (system ("mkdir -p d/s.zarr/ct/a d/plain"), 0);
  touch_node ("d/s.zarr");
  touch_node ("d/s.zarr/ct");
  touch_node ("d/s.zarr/ct/a");
  expect_split ("d/s.zarr/ct/a", "d/s.zarr", "ct/a");
  expect_split ("d/s.zarr//ct/a//", "d/s.zarr", "ct/a");
  expect_split ("d/s.zarr", "d/s.zarr", "");
  assert_false (rd_split_path ("d/plain", &root, &path));
  assert_false (rd_split_path ("d/none", &root, &path));
  assert_false (rd_split_path ("", &root, &path));
  assert_false (rd_split_path ("/", &root, &path));
  assert_int_equal (chdir ("d/s.zarr/ct"), 0);
  expect_split ("a", "a", "");
  expect_split ("./a", ".", "a");
  assert_int_equal (chdir (cwd), 0);
  char command[128];
  snprintf (command, sizeof command, "rm -r %s", folder);
  assert_int_equal (system (command), 0);
}

static void
files_are_named_after_collection_and_volume (void **state)
{
  (void) state;
  static const struct {
    const char *path, *name, *stem;
  } cases[] = {
    { "ct/sub-01", "ct/sub-01", "ct_sub-01" },
    { "ct/sub-01", "study.zarr/ct/sub-01", "ct_sub-01" },
    { "a/b/0", "a/b/0", "a_b_0" },
    { "sub-01", "s.zarr/sub-01", "sub-01" },
    { "", "a/b.zarr/", "b" },
    { "", "b", "b" },
    { "", ".zarr", ".zarr" },
    { "", "/", "" },
    { "", "s3://bucket/study/ct/sub-01", "ct_sub-01" },
    { "", "s3://bucket/study.zarr/ct/sub-01/", "ct_sub-01" },
    { "", "s3://bucket/study.zarr/head", "head" },
    { "", "https://host/image.zarr", "image" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct rd_target target = {
      .path = (char *) cases[i].path, .name = (char *) cases[i].name,
    };
    char *stem = rd_target_stem (&target);
    assert_string_equal (stem, cases[i].stem);
    free (stem);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (axes_are_listed_in_niftis_order),
    cmocka_unit_test (a_colour_is_no_axis),
    cmocka_unit_test (tilings_are_printed_as_the_option_takes_them),
    cmocka_unit_test (sizes_that_overflow_are_the_largest),
    cmocka_unit_test (numbers_are_joined_by_their_axes),
    cmocka_unit_test (facts_of_a_little_endian_header),
    cmocka_unit_test (facts_of_a_big_endian_header),
    cmocka_unit_test (invalid_headers_give_no_facts),
    cmocka_unit_test (numbers_without_a_json_form_are_zarrs_strings_or_null),
    cmocka_unit_test (integers_of_64_bits_are_exact),
    cmocka_unit_test (broken_utf8_is_replaced),
    cmocka_unit_test (a_path_is_split_at_its_topmost_node),
    cmocka_unit_test (files_are_named_after_collection_and_volume),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
