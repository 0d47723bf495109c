/* SPDX-License-Identifier: MIT */
/* Layouts: from a file's path to a volume's, and to the names of labels. */
#include <config.h>

#include "tests/unit.h"

#include <sys/stat.h>

#include <radio/layout.h>

#include "src/base/error.h"
#include "src/volume/ingest/dataset.h"
#include "tests/alloc-fail.h"
#include "tests/volume/fixture.h"

/* A file of a layout becomes the volume at a path; NULL: it is not of the
 * layout. */
static void
assert_named (const char *text, const char *file, const char *collection,
              const char *expected)
{
  struct radio_layout *layout;
  struct radio_layout_file to = { .path = NULL };
  assert_ok (radio_layout_open (text, &layout));
  enum radio_status status
    = radio_layout_name (layout, file, collection, &to);
  if (expected == NULL)
    assert_fails (status, RADIO_ERROR_NOT_FOUND, file);
  else {
    assert_ok (status);
    assert_string_equal (to.path, expected);
    free (to.path);
  }
  radio_layout_close (layout);
}

static void
a_pattern_is_compared_with_the_last_parts_of_a_path (void **state)
{
  (void) state;
  assert_named ("imagesTr/{subject}_{channel}.nii.gz",
                "/data/x/imagesTr/BRATS_001_0003.nii.gz", NULL,
                "0003/BRATS_001");
  assert_named ("imagesTr/{subject}.nii", "imagesTr/a.nii", NULL, "images/a");
  assert_named ("./imagesTr/{subject}", "./imagesTr/./a.nii", NULL,
                "images/a");
  assert_named ("imagesTr/{subject}.nii", "a.nii", NULL, NULL);
  assert_named ("imagesTr/{subject}.nii", "myimagesTr/a.nii", NULL, NULL);
  assert_named ("imagesTr/{subject}.nii", "imagesTr/b/a.nii", NULL, NULL);
  assert_named ("/d/{subject}/*.nii", "/d/p/t1.nii", NULL, "images/p");
  assert_named ("/d/{subject}/*.nii", "/e/d/p/t1.nii", NULL, NULL);
}

static void
a_pattern_without_a_suffix_takes_all_suffixes (void **state)
{
  (void) state;
  assert_named ("{subject}", "x/a.nii.gz", NULL, "images/a");
  assert_named ("{subject}", "x/a.HDR", NULL, "images/a");
  assert_named ("{subject}.nii", "x/a.hdr", NULL, NULL);
  assert_named ("{subject}.nii", "x/a.nii.gz", NULL, NULL);
}

static void
fields_make_the_name_and_the_collection (void **state)
{
  (void) state;
  assert_named ("{subject}/{session}/{channel}_{run}", "p7/base/t1_2.nii",
                NULL, "t1/p7_ses-base_run-2");
  assert_named ("{subject}/{session}/{channel}_{run}", "p7/ses-1/t1_run-2.nii",
                NULL, "t1/p7_ses-1_run-2");
  assert_named ("{collection}Tr/{subject}", "imagesTr/a.nii", NULL,
                "images/a");
  assert_named ("{collection}/{channel}/{subject}", "mr/t2/a.nii", NULL,
                "mr_t2/a");
  assert_named ("{collection}/{channel}/{subject}", "mr/t2/a.nii", "x",
                "x_t2/a");
  assert_named ("{subject}", "a.nii", "ct", "ct/a");
  /* The same text where a field is repeated; the first ones take most. */
  assert_named ("{subject}/{subject}_{channel}", "a_b/a_b_c_d.nii", NULL,
                "c_d/a_b");
  assert_named ("{subject}/{subject}_{channel}", "a_b/a_c_d.nii", NULL, NULL);
  assert_named ("{subject}_{channel}", "a_b_c.nii", NULL, "c/a_b");
  assert_named ("*-{subject}", "x-y-z.nii", NULL, "images/z");
}

static void
a_wrong_pattern_names_the_place (void **state)
{
  (void) state;
  static const struct {
    const char *text, *part;
  } wrong[] = {
    { "a/{subject}{run}", "character 12: two fields without a text" },
    { "{subject}*", "character 10: two fields" },
    { "a{sub}", "character 2: unknown field '{sub}'; use {subject}" },
    { "{subject", "character 1: '{' without '}'" },
    { "{sub{ject}}", "character 1: '{' without '}'" },
    { "a}{subject}", "character 2: '}' without '{'" },
    { "{run}.nii", "has no {subject}" },
    { "BIDS", "use bids, msd, nnunet, or a pattern" },
    { "", "use bids, msd, nnunet, or a pattern" },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct radio_layout *layout;
    assert_fails (radio_layout_open (wrong[i].text, &layout),
                  RADIO_ERROR_ARGUMENT, wrong[i].part);
  }
}

static void
a_pattern_that_matches_in_too_many_ways_is_an_error (void **state)
{
  (void) state;
  struct radio_layout *layout;
  struct radio_layout_file to;
  char name[256];
  memset (name, '_', 250);
  memcpy (name + 250, ".nii", 5);
  assert_ok (radio_layout_open ("*_*_*_*_*_*_{subject}x.nii", &layout));
  assert_fails (radio_layout_name (layout, name, NULL, &to),
                RADIO_ERROR_ARGUMENT, "too many ways");
  radio_layout_close (layout);
}

static void
an_illegal_name_is_refused (void **state)
{
  (void) state;
  struct radio_layout *layout;
  struct radio_layout_file to;
  assert_ok (radio_layout_open ("{channel}/{subject}", &layout));
  assert_fails (radio_layout_name (layout, "__x/a.nii", NULL, &to),
                RADIO_ERROR_ARGUMENT, "__x/a.nii: collection");
  assert_fails (radio_layout_name (layout, "x/__a.nii", NULL, &to),
                RADIO_ERROR_ARGUMENT, "name of the volume");
  radio_layout_close (layout);
  assert_ok (radio_layout_open ("msd", &layout));
  assert_fails (radio_layout_name (layout, "imagesTr/a.nii", "", &to),
                RADIO_ERROR_ARGUMENT, "imagesTr/a.nii: collection");
  radio_layout_close (layout);
}

static void
bids_takes_bids_names_alone (void **state)
{
  (void) state;
  assert_named ("bids", "d/sub-01_ses-2_T1w.nii.gz", NULL, "T1w/sub-01_ses-2");
  assert_named ("bids", "sub-01_T1w.nii.gz", "mr", "mr/sub-01");
  assert_named ("bids", "d/sub-01/T1w.nii.gz", NULL, NULL);
  struct radio_layout *layout;
  struct radio_layout_file to;
  assert_ok (radio_layout_open ("bids", &layout));
  assert_ok (radio_layout_name (layout, "sub-1_desc-brain_mask.nii", NULL,
                                &to));
  assert_true (to.is_labels);
  free (to.path);
  assert_ok (radio_layout_name (layout, "sub-1_probseg.nii", NULL, &to));
  assert_false (to.is_labels);
  free (to.path);
  radio_layout_close (layout);
}

/* Makes the data set "set" have this dataset.json; NULL: none. */
static void
write_dataset (const char *text)
{
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  (void) mkdir ("set", 0777);
  (void) remove ("set/dataset.json");
  if (text == NULL)
    return;
  assert_ok (rd_buffer_append (&bytes, text, strlen (text)));
  write_file ("set", "dataset.json", &bytes);
}

static void
assert_in_dataset (const char *layout, const char *text, const char *file,
                   const char *expected)
{
  char path[160];
  write_dataset (text);
  snprintf (path, sizeof path, "set/%s", file);
  assert_named (layout, path, NULL, expected);
}

static void
channels_of_nnunet_are_collections_by_their_names (void **state)
{
  (void) state;
  const char *two = "{\"channel_names\": {\"0\": \"T1\", \"1\": \"T2\"}}";
  const char *file = "imagesTr/BRATS_1_0001.nii.gz";
  assert_in_dataset ("nnunet", two, file, "T2/BRATS_1");
  assert_in_dataset ("nnunet", two, "imagesTs/a_0000.nii.gz", "T1/a");
  assert_in_dataset ("nnunet", two, "imagesTs/a_0002.nii.gz",
                     "images_0002/a");
  assert_in_dataset ("nnunet", two, "labelsTr/BRATS_1.nii.gz",
                     "labels/BRATS_1");
  /* The first version's member, no file, names that are not unique or legal. */
  assert_in_dataset ("nnunet", "{\"modality\": {\"1\": \"CT\"}}", file,
                     "CT/BRATS_1");
  assert_in_dataset ("nnunet", NULL, file, "images_0001/BRATS_1");
  assert_in_dataset ("nnunet", "{\"channel_names\": {\"0\": \"zscore\", "
                     "\"1\": \"zscore\"}}", file, "images_0001/BRATS_1");
  assert_in_dataset ("nnunet", "{\"channel_names\": {\"1\": \"a/b\"}}", file,
                     "images_0001/BRATS_1");
  assert_in_dataset ("nnunet", "{\"channel_names\": {\"1\": \"labels\"}}",
                     file, "images_0001/BRATS_1");
  assert_in_dataset ("nnunet", two, "imagesTr/BRATS.nii.gz", NULL);
  assert_in_dataset ("nnunet", two, "imagesTr/BRATS_12.nii.gz", NULL);
  assert_in_dataset ("nnunet", two, "other/BRATS_0001.nii.gz", NULL);
  assert_in_dataset ("msd", NULL, "imagesTr/la_003.nii.gz", "images/la_003");
  assert_in_dataset ("msd", NULL, "labelsTr/la_003.nii.gz", "labels/la_003");
  assert_in_dataset ("msd", NULL, "x/la_003.nii.gz", NULL);
}

static void
assert_labels (const char *text, const char *expected)
{
  struct rd_dataset *dataset;
  char got[256] = "";
  size_t n;
  assert_ok (rd_dataset_parse (text, strlen (text), "d", &dataset));
  const struct radio_label *labels = rd_dataset_labels (dataset, &n);
  for (size_t i = 0; i < n; i++)
    snprintf (got + strlen (got), sizeof got - strlen (got), "%s%d=%s",
              i ? "; " : "", (int) labels[i].value, labels[i].name);
  assert_string_equal (got, expected);
  rd_dataset_free (dataset);
}

static void
labels_of_both_forms_are_read (void **state)
{
  (void) state;
  assert_labels ("{}", "");
  assert_labels ("{\"labels\": {\"1\": \"liver\", \"0\": \"background\"}}",
                 "0=background; 1=liver");
  assert_labels ("{\"labels\": {\"background\": 0, \"whole\": [1, 2, 3], "
                 "\"core\": [2, 3], \"active\": 3, \"ignore\": 4}}",
                 "0=background; 1=whole; 2=whole, core; "
                 "3=whole, core, active; 4=ignore");
}

static void
a_broken_dataset_is_an_error_that_names_the_member (void **state)
{
  (void) state;
  static const struct {
    const char *text, *part;
  } wrong[] = {
    { "", "d: " },
    { "[]", "d: not a JSON object" },
    { "{\"labels\": []}", "labels" },
    { "{\"labels\": {\"a\": \"b\"}}", "labels has 'a', not a number" },
    { "{\"labels\": {\"a\": 0.5}}", "labels.a is not a whole number" },
    { "{\"labels\": {\"a\": [[1]]}}", "labels.a is not a whole number" },
    { "{\"labels\": {\"a\": null}}", "labels.a is not a whole number" },
    { "{\"modality\": 3}", "modality" },
  };
  struct rd_dataset *dataset;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_fails (rd_dataset_parse (wrong[i].text, strlen (wrong[i].text),
                                    "d", &dataset),
                  RADIO_ERROR_FORMAT, wrong[i].part);
}

static enum radio_status
name_all (const char *file)
{
  struct radio_layout *layout = NULL;
  struct radio_layout_file to = { .path = NULL };
  enum radio_status status = radio_layout_open ("nnunet", &layout);
  if (status == RADIO_OK)
    status = radio_layout_name (layout, file, NULL, &to);
  free (to.path);
  radio_layout_close (layout);
  return status;
}

static void
each_failing_allocation_is_reported (void **state)
{
  (void) state;
  write_dataset ("{\"labels\": {\"a\": [1, 2]}, "
                 "\"channel_names\": {\"0\": \"T1\"}}");
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status = name_all ("set/labelsTr/a.nii");
    if (!alloc_fail_end ()) {
      assert_ok (status);
      assert_true (nth > 5);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_pattern_is_compared_with_the_last_parts_of_a_path),
    cmocka_unit_test (a_pattern_without_a_suffix_takes_all_suffixes),
    cmocka_unit_test (fields_make_the_name_and_the_collection),
    cmocka_unit_test (a_wrong_pattern_names_the_place),
    cmocka_unit_test (a_pattern_that_matches_in_too_many_ways_is_an_error),
    cmocka_unit_test (an_illegal_name_is_refused),
    cmocka_unit_test (bids_takes_bids_names_alone),
    cmocka_unit_test (channels_of_nnunet_are_collections_by_their_names),
    cmocka_unit_test (labels_of_both_forms_are_read),
    cmocka_unit_test (a_broken_dataset_is_an_error_that_names_the_member),
    cmocka_unit_test (each_failing_allocation_is_reported),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
