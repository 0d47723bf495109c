/* SPDX-License-Identifier: MIT */
/* A volume's document: its structure by OME-Zarr 0.5, RFC-4 and Zarr v3, and
 * the results and errors of reading one. */
#include <config.h>

#include "tests/unit.h"

#include "src/volume/codec.h"
#include "src/volume/meta.h"
#include "tests/nifti/make-nifti.h"

/* Make the document of an image and return its text with the blanks taken
 * out, so that pieces of it can be looked for. */
struct made {
  struct json_object *document;
  char *text;
};

static void
close_made (struct made *made)
{
  json_object_put (made->document);
  free (made->text);
}

static void
make_document (const struct nifti_spec *spec, struct made *made)
{
  struct rd_buffer prefix RD_BUFFER_SCOPE = { 0 };
  struct rd_nifti nifti;
  struct rd_tiling tiling;
  const char *codec;
  struct json_object *codecs, *level;
  spec_header (spec, &prefix);
  assert_ok (rd_nifti_parse (prefix.data, prefix.nbytes, "a.nii", &nifti));
  struct rd_tiling_input input = { NULL, &nifti, 0, 0, UINT64_MAX };
  assert_ok (rd_tiling_choose (&input, &tiling));
  assert_ok (rd_codec_choose (NULL, &nifti.type, &codec, &codecs));
  assert_ok (rd_level_document (&nifti, &tiling, codecs, &level));
  const struct rd_meta_input meta = {
    .name = "a", .level_path = "0-00c0ffee", .nifti = &nifti,
    .prefix = &prefix, .source_name = "a.nii", .source_sha256 = "abc",
    .source_nbytes = 1234, .trailing_nbytes = 5, .tiling = tiling.name,
    .codec = codec, .level_document = level,
  };
  assert_ok (rd_meta_write (&meta, &made->document));
  made->text = strdup (json_object_to_json_string_ext (
    made->document, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
  json_object_put (codecs);
  json_object_put (level);
}

#define MADE_SCOPE RD_CLEANUP (close_made)

static void
assert_has (const struct made *made, const char *part)
{
  if (strstr (made->text, part) == NULL)
    fail_msg ("'%s' not in: %s", part, made->text);
}

static void
assert_has_not (const struct made *made, const char *part)
{
  if (strstr (made->text, part) != NULL)
    fail_msg ("'%s' in: %s", part, made->text);
}

static struct nifti_spec
oriented_spec (void)
{
  return (struct nifti_spec) {
    .dim = { 3, 7, 6, 5 }, .pixdim = { 1, 0.5, 0.75, 2 }, .sform_code = 1,
    .srow = { { -0.5, 0, 0, 1 }, { 0, 0, 2, 2 }, { 0, -0.75, 0, 3 } },
    .xyzt_units = 2 | 8,
  };
}

static void
axes_have_type_unit_and_orientation (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = oriented_spec ();
  make_document (&spec, &made);
  assert_has (&made,
              "\"ome\":{\"version\":\"0.5\",\"multiscales\":[{\"name\":\"a\","
              "\"axes\":[{\"name\":\"z\",\"type\":\"space\",\"unit\":"
              "\"millimeter\",\"orientation\":{\"type\":\"anatomical\","
              "\"value\":\"posterior-to-anterior\"}},{\"name\":\"y\"");
  assert_has (&made, "\"value\":\"superior-to-inferior\"}},{\"name\":\"x\"");
  assert_has (&made, "\"value\":\"right-to-left\"}}]");
}

static void
the_dataset_has_one_scale_and_no_translation (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = oriented_spec ();
  make_document (&spec, &made);
  assert_has (&made,
              "\"datasets\":[{\"path\":\"0-00c0ffee\","
              "\"coordinateTransformations\":[{\"type\":\"scale\",\"scale\":"
              "[2.0,0.75,0.5]}]}]");
  assert_has_not (&made, "translation");
}

static void
a_scale_is_positive_for_any_pixdim (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = oriented_spec ();
  spec.pixdim[1] = -0.5;
  spec.pixdim[2] = __builtin_nan ("");
  spec.pixdim[3] = __builtin_inf ();
  make_document (&spec, &made);
  assert_has (&made, "\"scale\":[1.0,1.0,0.5]");
}

static void
an_unknown_orientation_and_unit_are_left_out (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = { .dim = { 3, 7, 6, 5 } };
  make_document (&spec, &made);
  assert_has (&made, "\"axes\":[{\"name\":\"z\",\"type\":\"space\"},"
              "{\"name\":\"y\",\"type\":\"space\"},"
              "{\"name\":\"x\",\"type\":\"space\"}]");
  assert_has_not (&made, "omero");
}

static void
a_singular_affine_has_no_orientation (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = oriented_spec ();
  memset (spec.srow[1], 0, sizeof spec.srow[1]);
  make_document (&spec, &made);
  assert_has_not (&made, "orientation");
}

static void
a_spectral_axis_has_no_unit_of_time (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = {
    .dim = { 4, 7, 6, 5, 2 }, .pixdim = { 1, 1, 1, 1, 2.5 },
    .xyzt_units = 2 | 32,
  };
  make_document (&spec, &made);
  assert_has (&made, "{\"name\":\"t\",\"type\":\"time\"}");
  spec.xyzt_units = 2 | 16;
  close_made (&made);
  make_document (&spec, &made);
  assert_has (&made, "{\"name\":\"t\",\"type\":\"time\",\"unit\":"
              "\"millisecond\"}");
  assert_has (&made, "\"scale\":[2.5,1.0,1.0,1.0]");
}

static void
the_window_is_in_stored_values_and_sorted (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = oriented_spec ();
  spec.cal_min = -100;
  spec.cal_max = 300;
  spec.scl_slope = -2;
  spec.scl_inter = 100;
  make_document (&spec, &made);
  assert_has (&made,
              "\"omero\":{\"channels\":[{\"color\":\"FFFFFF\",\"window\":"
              "{\"min\":-32768.0,\"max\":32767.0,\"start\":-100.0,"
              "\"end\":100.0},\"active\":true}]}");
}

static void
colours_are_channels_of_their_own (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = { .dim = { 3, 7, 6, 5 }, .datatype = 2304 };
  make_document (&spec, &made);
  assert_has (&made, "{\"name\":\"c\",\"type\":\"channel\"}");
  assert_has (&made, "\"scale\":[1.0,1.0,1.0,1.0]");
  assert_has (&made, "\"color\":\"FF0000\"");
  assert_has (&made, "\"label\":\"blue\",\"active\":true");
  assert_has (&made, "\"label\":\"alpha\",\"active\":false");
  assert_has (&made, "\"shape\":[4,5,6,7]");
}

static void
radio_has_header_source_tiling_and_codec (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = oriented_spec ();
  make_document (&spec, &made);
  assert_has (&made,
              "\"radio\":{\"version\":\"1.1\",\"source\":{\"name\":"
              "\"a.nii\",\"nbytes\":1234,\"sha256\":\"abc\","
              "\"trailing_nbytes\":5},\"tiling\":\"balanced\",\"codec\":"
              "\"medium\",\"nifti\":\"XAEAA");
}

static void
the_level_is_consolidated (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct nifti_spec spec = oriented_spec ();
  make_document (&spec, &made);
  assert_has (&made, "\"consolidated_metadata\":{\"kind\":\"inline\","
              "\"must_understand\":false,\"metadata\":{\"0-00c0ffee\":{"
              "\"zarr_format\":3,\"node_type\":\"array\","
              "\"shape\":[5,6,7],\"data_type\":\"int16\"");
  assert_has (&made, "\"dimension_names\":[\"z\",\"y\",\"x\"]");
}

static void
a_document_reads_back_as_it_was_made (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct rd_volume_meta meta RD_META_SCOPE = { 0 };
  struct rd_buffer prefix RD_BUFFER_SCOPE = { 0 };
  struct nifti_spec spec = oriented_spec ();
  spec.cal_max = 7;
  make_document (&spec, &made);
  spec_header (&spec, &prefix);
  const struct rd_group_doc group = {
    .attributes = rd_json_member (made.document, "attributes"),
  };
  assert_ok (rd_meta_parse (&group, "a/zarr.json", &meta));
  assert_string_equal (meta.axes, "zyx");
  assert_string_equal (meta.level_path, "0-00c0ffee");
  assert_string_equal (meta.source_name, "a.nii");
  assert_string_equal (meta.source_sha256, "abc");
  assert_int_equal (meta.source_nbytes, 1234);
  assert_string_equal (meta.tiling, "balanced");
  assert_string_equal (meta.codec, "medium");
  assert_true (meta.has_nifti);
  assert_int_equal (meta.prefix.nbytes, prefix.nbytes);
  assert_memory_equal (meta.prefix.data, prefix.data, prefix.nbytes);
  assert_true (meta.scale[0] == 2 && meta.scale[2] == 0.5);
  assert_true (meta.window_end == 7);
  assert_string_equal (meta.orientation[2], "right-to-left");
  assert_string_equal (meta.space_unit, "millimeter");
}

/* Others' images, as texts of their attributes. */
static enum radio_status
parse_text (const char *text, struct rd_volume_meta *meta)
{
  struct rd_group_doc group = { 0 };
  assert_ok (rd_json_parse (text, strlen (text), "test", &group.attributes));
  enum radio_status status = rd_meta_parse (&group, "b/zarr.json", meta);
  json_object_put (group.attributes);
  return status;
}

#define AXES "\"axes\":[{\"name\":\"z\",\"type\":\"space\"},"           \
             "{\"name\":\"y\",\"type\":\"space\"},"                     \
             "{\"name\":\"x\",\"type\":\"space\",\"unit\":\"micrometer\"}]"
#define SCALE "{\"type\":\"scale\",\"scale\":[3,2,1]}"
#define DATASET(transforms) "\"datasets\":[{\"path\":\"s0\","           \
                            "\"coordinateTransformations\":[" transforms "]}]"
#define WITH_CHANNEL(channel) "{\"ome\":{\"version\":\"0.5\","           \
                              "\"omero\":{\"channels\":[" channel "]},"   \
                              "\"multiscales\":[{" AXES ","               \
                              DATASET (SCALE) "}]}}"
#define TRANSLATION                                                     \
  "{\"type\":\"translation\",\"translation\":[1,2,3]}"
#define IMAGE(content) "{\"ome\":{\"version\":\"0.5\",\"multiscales\":[{" \
                       content "}]}}"

static void
others_transformations_are_combined (void **state)
{
  (void) state;
  struct rd_volume_meta meta RD_META_SCOPE = { 0 };
  assert_ok (parse_text (
    IMAGE (AXES "," DATASET (SCALE ",{\"type\":\"translation\","
                             "\"translation\":[10,20,30]}")
           ",\"coordinateTransformations\":[{\"type\":\"scale\","
           "\"scale\":[2,2,2]}]"), &meta));
  assert_true (meta.scale[0] == 6 && meta.scale[1] == 4
               && meta.scale[2] == 2);
  assert_true (meta.translation[0] == 20 && meta.translation[2] == 60);
  assert_string_equal (meta.space_unit, "micrometer");
  assert_string_equal (meta.level_path, "s0");
  assert_false (meta.has_nifti);
  assert_null (meta.source_name);
}

static void
others_axes_are_identified_by_type_and_place (void **state)
{
  (void) state;
  struct rd_volume_meta meta RD_META_SCOPE = { 0 };
  assert_ok (parse_text (
    IMAGE ("\"axes\":[{\"name\":\"time\",\"type\":\"time\"},"
           "{\"name\":\"stain\",\"type\":\"custom\"},"
           "{\"name\":\"k\",\"type\":\"space\"},"
           "{\"name\":\"j\",\"type\":\"space\"},"
           "{\"name\":\"i\",\"type\":\"space\"}],"
           "\"datasets\":[{\"path\":\"a/b\",\"coordinateTransformations\":"
           "[{\"type\":\"scale\",\"scale\":[1,1,1,1,1]}]}]"), &meta));
  assert_string_equal (meta.axes, "tczyx");
}

static void
two_axes_of_space_are_a_plane (void **state)
{
  (void) state;
  static const char *const axes[] = {
    "{\"name\":\"y\",\"type\":\"space\"},"
    "{\"name\":\"x\",\"type\":\"space\"}",
    "{\"name\":\"angle\"},{\"name\":\"y\",\"type\":\"space\"},"
    "{\"name\":\"x\",\"type\":\"space\"}",
    "{\"name\":\"t\",\"type\":\"time\"},{\"name\":\"row\",\"type\":"
    "\"space\"},{\"name\":\"column\",\"type\":\"space\"}",
  };
  static const char *const letters[] = { "yx", "cyx", "tyx" };
  for (size_t i = 0; i < 3; i++) {
    struct rd_volume_meta meta RD_META_SCOPE = { 0 };
    char text[1000];
    snprintf (text, sizeof text, IMAGE ("\"axes\":[%s],\"datasets\":[{"
              "\"path\":\"0\",\"coordinateTransformations\":[{\"type\":"
              "\"scale\",\"scale\":[%s2,3]}]}]"), axes[i], i ? "1," : "");
    assert_ok (parse_text (text, &meta));
    assert_string_equal (meta.axes, letters[i]);
  }
}

static void
an_image_of_six_dimensions_has_no_ome (void **state)
{
  (void) state;
  struct made made MADE_SCOPE = { 0 };
  struct rd_volume_meta meta RD_META_SCOPE = { 0 };
  struct nifti_spec spec = {
    .dim = { 6, 1, 1, 1, 1, 30, 1000 }, .pixdim = { 1, 1, 1, 1, 1, 1, 4 },
  };
  make_document (&spec, &made);
  assert_has_not (&made, "\"ome\"");
  assert_has (&made, "\"level\":\"0-00c0ffee\"");
  assert_has (&made, "\"shape\":[1000,30,1,1,1,1]");
  /* A tile has as many elements as another image's. */
  assert_has (&made, "\"configuration\":{\"chunk_shape\":[273,30,1,1,1,1]");
  assert_has (&made, "\"dimension_names\":[\"v\",\"c\",\"t\",\"z\",\"y\","
              "\"x\"]");
  const struct rd_group_doc group = {
    .attributes = rd_json_member (made.document, "attributes"),
  };
  assert_true (rd_meta_is_image (group.attributes));
  assert_ok (rd_meta_parse (&group, "a/zarr.json", &meta));
  assert_string_equal (meta.axes, "vctzyx");
  assert_string_equal (meta.level_path, "0-00c0ffee");
  struct rd_volume_meta none RD_META_SCOPE = { 0 };
  assert_fails (parse_text ("{\"radio\":{\"version\":\"1.0\",\"level\":"
                            "\"0-00c0ffee\"}}", &none),
                RADIO_ERROR_FORMAT, "attributes.radio.nifti is missing");
}

static void
an_invalid_image_is_refused_by_member (void **state)
{
  (void) state;
  static const struct {
    const char *text;
    enum radio_status status;
    const char *part;
  } bad[] = {
    { "{}", RADIO_ERROR_FORMAT, "attributes.ome.multiscales" },
    { "{\"ome\":{\"multiscales\":{}}}", RADIO_ERROR_FORMAT, "multiscales" },
    { "{\"ome\":{\"multiscales\":[]}}", RADIO_ERROR_FORMAT,
      "multiscales[0]" },
    { "{\"ome\":{\"version\":\"0.6\",\"multiscales\":[{}]}}",
      RADIO_ERROR_UNSUPPORTED, "0.6" },
    { "{\"ome\":{\"version\":5,\"multiscales\":[{}]}}", RADIO_ERROR_FORMAT,
      "version" },
    { IMAGE (AXES), RADIO_ERROR_FORMAT, "datasets" },
    { IMAGE (DATASET (SCALE)), RADIO_ERROR_FORMAT, "axes" },
    { IMAGE (AXES ",\"datasets\":[]"), RADIO_ERROR_FORMAT, "datasets[0]" },
    { IMAGE (AXES ",\"datasets\":[{\"path\":3}]"), RADIO_ERROR_FORMAT,
      "path" },
    { IMAGE (AXES ",\"datasets\":[{\"path\":\"../x\"}]"),
      RADIO_ERROR_FORMAT, "../x" },
    { IMAGE (AXES ",\"datasets\":[{\"path\":\"/x\"}]"), RADIO_ERROR_FORMAT,
      "/x" },
    { IMAGE (AXES ",\"datasets\":[{\"path\":\"\"}]"), RADIO_ERROR_FORMAT,
      "path" },
    { IMAGE (AXES "," DATASET ("{\"type\":\"scale\",\"scale\":[1,2]}")),
      RADIO_ERROR_FORMAT, "scale has 2 numbers for 3 axes" },
    { IMAGE (AXES "," DATASET ("{\"type\":\"scale\",\"scale\":[1,0,2]}")),
      RADIO_ERROR_FORMAT, "scale of axis 1 is 0" },
    { IMAGE (AXES "," DATASET ("{\"type\":\"scale\",\"scale\":"
                               "[1,\"2\",2]}")),
      RADIO_ERROR_FORMAT, "scale is not a number" },
    { IMAGE (AXES "," DATASET ("{\"type\":\"affine\"}")),
      RADIO_ERROR_UNSUPPORTED, "affine" },
    { IMAGE (AXES "," DATASET ("7")), RADIO_ERROR_FORMAT,
      "coordinateTransformations" },
    { IMAGE ("\"axes\":[{\"name\":\"t\",\"type\":\"time\"},"
             "{\"name\":\"x\",\"type\":\"space\"}]," DATASET (SCALE)),
      RADIO_ERROR_UNSUPPORTED, "axes \"tx\"" },
    { IMAGE (AXES "," DATASET ("")), RADIO_ERROR_FORMAT,
      "coordinateTransformations has 0 scales, not one" },
    { IMAGE (AXES "," DATASET (TRANSLATION)),
      RADIO_ERROR_FORMAT, "has 0 scales" },
    { IMAGE (AXES "," DATASET (TRANSLATION "," SCALE)), RADIO_ERROR_FORMAT,
      "has a translation before its scale" },
    { IMAGE (AXES "," DATASET (SCALE "," TRANSLATION "," TRANSLATION)),
      RADIO_ERROR_FORMAT, "has 2 translations, not one at most" },
    { IMAGE (AXES "," DATASET (SCALE) ",\"coordinateTransformations\":["
             TRANSLATION "," SCALE "]"), RADIO_ERROR_FORMAT,
      "has a translation before its scale" },
    { IMAGE (AXES "," DATASET (SCALE "," SCALE)), RADIO_ERROR_FORMAT,
      "has 2 scales" },
    { IMAGE (AXES "," DATASET (SCALE) ",\"coordinateTransformations\":[]"),
      RADIO_ERROR_FORMAT, "has 0 scales" },
    { WITH_CHANNEL ("{\"color\":255}"), RADIO_ERROR_FORMAT, "color" },
    { WITH_CHANNEL ("{\"color\":\"FF0000\"},{\"color\":[1]}"),
      RADIO_ERROR_FORMAT, "color" },
    { WITH_CHANNEL ("7"), RADIO_ERROR_FORMAT, "omero.channels[0]" },
    { IMAGE ("\"axes\":[{\"name\":\"x\"},{\"name\":\"x\"},"
             "{\"name\":\"z\"}]," DATASET (SCALE)),
      RADIO_ERROR_UNSUPPORTED, "axes \"xxz\"" },
    { IMAGE ("\"axes\":[1,2,3]," DATASET (SCALE)), RADIO_ERROR_FORMAT,
      "axes[0]" },
    { IMAGE ("\"axes\":[{\"type\":\"space\"},2,3]," DATASET (SCALE)),
      RADIO_ERROR_FORMAT, "name" },
    { IMAGE ("\"axes\":[1,2,3,4,5,6]," DATASET (SCALE)), RADIO_ERROR_FORMAT,
      "axes has 6 entries" },
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct rd_volume_meta meta RD_META_SCOPE = { 0 };
    assert_fails (parse_text (bad[i].text, &meta), bad[i].status,
                  bad[i].part);
    assert_non_null (strstr (radio_error_message (), "b/zarr.json"));
  }
}

#define WITH_RADIO(radio) "{\"radio\":" radio ",\"ome\":{\"multiscales\":[{" \
                          AXES "," DATASET (SCALE) "}]}}"

static void
errors_in_attributes_radio_are_named (void **state)
{
  (void) state;
  static const struct {
    const char *text;
    enum radio_status status;
    const char *part;
  } bad[] = {
    { WITH_RADIO ("7"), RADIO_ERROR_FORMAT, "radio" },
    { WITH_RADIO ("{}"), RADIO_ERROR_FORMAT, "version" },
    { WITH_RADIO ("{\"version\":\"new\"}"), RADIO_ERROR_FORMAT, "new" },
    { WITH_RADIO ("{\"version\":\"2.0\"}"), RADIO_ERROR_UNSUPPORTED,
      "newer radio" },
    { WITH_RADIO ("{\"version\":\"1.0\",\"nifti\":1}"), RADIO_ERROR_FORMAT,
      "nifti" },
    { WITH_RADIO ("{\"version\":\"1.0\",\"nifti\":\"XAE\"}"),
      RADIO_ERROR_FORMAT, "attributes.radio.nifti: base64" },
    { WITH_RADIO ("{\"version\":\"1.0\",\"nifti\":\"XAEAAA==\"}"),
      RADIO_ERROR_FORMAT, "b/zarr.json" },
    { WITH_RADIO ("{\"version\":\"1.0\",\"source\":[]}"),
      RADIO_ERROR_FORMAT, "source" },
    { WITH_RADIO ("{\"version\":\"1.0\",\"source\":{\"nbytes\":-1}}"),
      RADIO_ERROR_FORMAT, "source.nbytes" },
    { WITH_RADIO ("{\"version\":\"1.0\",\"tiling\":1}"),
      RADIO_ERROR_FORMAT, "tiling" },
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct rd_volume_meta meta RD_META_SCOPE = { 0 };
    assert_fails (parse_text (bad[i].text, &meta), bad[i].status,
                  bad[i].part);
  }
  struct rd_volume_meta meta RD_META_SCOPE = { 0 };
  assert_ok (parse_text (WITH_RADIO ("{\"version\":\"1.7\",\"new\":[1]}"),
                         &meta));
}

static void
presets_match_the_documentation (void **state)
{
  (void) state;
  static const struct {
    const char *codec;
    enum radio_dtype dtype;
    const char *json;
  } presets[] = {
    { NULL, RADIO_INT16,
      "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
      "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":5,"
      "\"shuffle\":\"bitshuffle\",\"typesize\":2,\"blocksize\":0}},"
      "{\"name\":\"crc32c\"}]" },
    { "small", RADIO_UINT8,
      "[{\"name\":\"bytes\"},"
      "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"zstd\","
      "\"clevel\":1,\"shuffle\":\"noshuffle\",\"typesize\":1,"
      "\"blocksize\":0}},{\"name\":\"crc32c\"}]" },
    { "fast", RADIO_COMPLEX64,
      "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
      "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4hc\","
      "\"clevel\":4,\"shuffle\":\"bitshuffle\",\"typesize\":8,"
      "\"blocksize\":0}},{\"name\":\"crc32c\"}]" },
    { "none", RADIO_INT8, "[{\"name\":\"bytes\"},{\"name\":\"crc32c\"}]" },
    { "[{\"name\":\"bytes\"}]", RADIO_INT8, "[{\"name\":\"bytes\"}]" },
  };
  for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
    struct rd_type type = rd_type_of (presets[i].dtype);
    struct json_object *codecs;
    const char *name;
    assert_ok (rd_codec_choose (presets[i].codec, &type, &name, &codecs));
    assert_string_equal (
      json_object_to_json_string_ext (codecs, JSON_C_TO_STRING_PLAIN),
      presets[i].json);
    json_object_put (codecs);
  }
}

static void
an_invalid_codec_is_refused (void **state)
{
  (void) state;
  static const char *const bad[] = { "", "best", "Small", "[", "[]", "[1" };
  struct rd_type type = rd_type_of (RADIO_INT16);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct json_object *codecs = NULL;
    const char *name;
    assert_fails (rd_codec_choose (bad[i], &type, &name, &codecs),
                  RADIO_ERROR_ARGUMENT, "codec");
    assert_null (codecs);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (axes_have_type_unit_and_orientation),
    cmocka_unit_test (the_dataset_has_one_scale_and_no_translation),
    cmocka_unit_test (a_scale_is_positive_for_any_pixdim),
    cmocka_unit_test (an_unknown_orientation_and_unit_are_left_out),
    cmocka_unit_test (a_singular_affine_has_no_orientation),
    cmocka_unit_test (a_spectral_axis_has_no_unit_of_time),
    cmocka_unit_test (the_window_is_in_stored_values_and_sorted),
    cmocka_unit_test (colours_are_channels_of_their_own),
    cmocka_unit_test (radio_has_header_source_tiling_and_codec),
    cmocka_unit_test (the_level_is_consolidated),
    cmocka_unit_test (a_document_reads_back_as_it_was_made),
    cmocka_unit_test (others_transformations_are_combined),
    cmocka_unit_test (others_axes_are_identified_by_type_and_place),
    cmocka_unit_test (two_axes_of_space_are_a_plane),
    cmocka_unit_test (an_image_of_six_dimensions_has_no_ome),
    cmocka_unit_test (an_invalid_image_is_refused_by_member),
    cmocka_unit_test (errors_in_attributes_radio_are_named),
    cmocka_unit_test (presets_match_the_documentation),
    cmocka_unit_test (an_invalid_codec_is_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
