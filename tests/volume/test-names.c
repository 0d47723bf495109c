/* SPDX-License-Identifier: MIT */
/* Names: from a file's to a volume's. */
#include <config.h>

#include "tests/unit.h"

#include <radio/ingest.h>

static void
assert_path (const char *file, const char *collection, const char *expected)
{
  char *path;
  assert_ok (radio_ingest_path (file, collection, &path));
  assert_string_equal (path, expected);
  free (path);
}

static void
a_bids_name_gives_its_suffix_as_the_collection (void **state)
{
  (void) state;
  assert_path ("sub-01_ses-2_T1w.nii.gz", NULL, "T1w/sub-01_ses-2");
  assert_path ("/data/sub-01/anat/sub-01_T1w.nii", NULL, "T1w/sub-01");
  assert_path ("sub-01_task-rest_run-1_bold.nii.gz", NULL,
               "bold/sub-01_task-rest_run-1");
  assert_path ("tpl-MNI152_res-01_brain.nii.gz", NULL,
               "brain/tpl-MNI152_res-01");
  assert_path ("sub-01_acq-a+b_dwi.nii", NULL, "dwi/sub-01_acq-a+b");
}

static void
any_other_name_goes_to_images (void **state)
{
  (void) state;
  assert_path ("ch2.nii.gz", NULL, "images/ch2");
  assert_path ("sub-01.nii.gz", NULL, "images/sub-01");
  assert_path ("sub-01_.nii", NULL, "images/sub-01_");
  assert_path ("sub-_T1w.nii", NULL, "images/sub-_T1w");
  assert_path ("sub-01_T1w_extra-.nii", NULL, "images/sub-01_T1w_extra-");
  assert_path ("sub-01_ses_T1w.nii", NULL, "images/sub-01_ses_T1w");
  assert_path ("run-1_T1w.nii", NULL, "images/run-1_T1w");
  assert_path ("sub-01__T1w.nii", NULL, "images/sub-01__T1w");
}

static void
a_given_collection_takes_the_whole_stem (void **state)
{
  (void) state;
  assert_path ("x/sub-01_T1w.nii.gz", "ct", "ct/sub-01_T1w");
  assert_path ("a.b.nii.gz", "ct", "ct/a.b");
}

static void
all_suffixes_are_cut_in_any_case (void **state)
{
  (void) state;
  assert_path ("a.nii", NULL, "images/a");
  assert_path ("a.NII.GZ", NULL, "images/a");
  assert_path ("a.hdr", NULL, "images/a");
  assert_path ("a.hdr.gz", NULL, "images/a");
  assert_path ("a.img.gz", NULL, "images/a");
  assert_path ("a.gz", NULL, "images/a.gz");
  assert_path ("a", NULL, "images/a");
}

static void
a_name_that_no_node_can_have_is_refused (void **state)
{
  (void) state;
  char *path;
  assert_fails (radio_ingest_path (".nii.gz", NULL, &path),
                RADIO_ERROR_ARGUMENT, ".nii.gz: name of the volume");
  assert_fails (radio_ingest_path ("__a.nii", NULL, &path),
                RADIO_ERROR_ARGUMENT, "__a.nii");
  assert_fails (radio_ingest_path ("...nii", NULL, &path),
                RADIO_ERROR_ARGUMENT, "...nii");
  assert_fails (radio_ingest_path ("a.nii", "", &path),
                RADIO_ERROR_ARGUMENT, "collection");
  assert_fails (radio_ingest_path ("a.nii", "c/d", &path),
                RADIO_ERROR_ARGUMENT, "collection");
  assert_fails (radio_ingest_path ("dir/", NULL, &path),
                RADIO_ERROR_ARGUMENT, "dir/");
  assert_fails (radio_ingest_path (NULL, NULL, &path),
                RADIO_ERROR_ARGUMENT, "NULL");
}

static void
images_are_recognised_by_their_suffix (void **state)
{
  (void) state;
  assert_true (radio_ingest_is_image ("a.nii"));
  assert_true (radio_ingest_is_image ("/x/a.nii.gz"));
  assert_true (radio_ingest_is_image ("a.hdr"));
  assert_true (radio_ingest_is_image ("a.hdr.gz"));
  assert_false (radio_ingest_is_image ("a.img"));
  assert_false (radio_ingest_is_image ("a.img.gz"));
  assert_false (radio_ingest_is_image ("a.nii/readme"));
  assert_false (radio_ingest_is_image ("nii"));
  assert_false (radio_ingest_is_image ("a.nii.gz.part"));
  assert_false (radio_ingest_is_image (NULL));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_bids_name_gives_its_suffix_as_the_collection),
    cmocka_unit_test (any_other_name_goes_to_images),
    cmocka_unit_test (a_given_collection_takes_the_whole_stem),
    cmocka_unit_test (all_suffixes_are_cut_in_any_case),
    cmocka_unit_test (a_name_that_no_node_can_have_is_refused),
    cmocka_unit_test (images_are_recognised_by_their_suffix),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
