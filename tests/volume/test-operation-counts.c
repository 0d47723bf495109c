/* SPDX-License-Identifier: MIT */
/* Counters of operations in profiles: elements, bytes and arithmetic, by scopes
 * of their names. */
#include <config.h>

#include "tests/profile-tree.h"
#include "tests/volume/fixture.h"

static void
operations_are_counted_by_their_formulas (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_elements elements;
  struct radio_volume *volume = must_derive (
    must_open_image (&store, &spec, "4,3,2"),
    "clamp 0,9 | window 4,8 | linear 2,1 | linear 3,1 | rescale 0,1 from 0,3");
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_INT16, NULL,
                                      &elements));
  radio_free (elements.data);
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_total (profile, "flop of clamp"), 210 * 2);
  assert_int_equal (tree_total (profile, "flop of window"), 210 * 5);
  assert_int_equal (tree_total (profile, "flop of linear"), 210 * 4);
  assert_int_equal (tree_total (profile, "flop of rescale"), 210 * 3);
  assert_int_equal (tree_total (profile, "elements operated"), 210 * 6);
  assert_int_equal (tree_total (profile, "bytes delivered"), 210 * 2);
  radio_profile_close (profile);
  volume = must_derive (volume, "noise 2");
  recorder = tree_begin ();
  assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                      &elements));
  radio_free (elements.data);
  profile = tree_end (recorder);
  assert_int_equal (tree_total (profile, "flop of noise"), 210 * 38);
  radio_profile_close (profile);
  radio_volume_close (volume);
  radio_store_close (store);
}

/* Returns the profile of reading what a pipeline makes of an image. */
static struct radio_profile *
record_pipeline (const struct nifti_spec *spec, const char *text)
{
  struct radio_store *store;
  struct radio_elements elements;
  struct radio_volume *volume = must_derive (
    must_open_image (&store, spec, "4,3,2"), text);
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                      &elements));
  radio_free (elements.data);
  radio_volume_close (volume);
  radio_store_close (store);
  return tree_end (recorder);
}

/* The sum of k weighted elements has 2 k - 1. */
static void
interpolations_are_counted_by_their_formulas (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  spec.dim[1] = 8;
  spec.dim[2] = 6;
  spec.dim[3] = 4;
  /* For each of two planes: 6 rows of 8 of planes, 3 rows of 8, and 3 of 4
   * along. */
  struct radio_profile *profile = record_pipeline (&spec, "to 4,3,2");
  assert_true (tree_calls_of (profile, "to") > 0);
  assert_int_equal (tree_total (profile, "flop of to"),
                    2 * 3 * (6 * 8 + 3 * 8 + 3 * 4));
  assert_int_equal (tree_total (profile, "bytes computed"), 4 * 3 * 2 * 4);
  assert_int_equal (tree_total (profile, "bytes sampled"), 8 * 6 * 4 * 4);
  assert_int_equal (tree_total (profile, "elements operated"), 4 * 3 * 2);
  radio_profile_close (profile);

  /* All voxels are inside, since fields of view reach half a voxel farther. */
  profile = record_pipeline (&spec, "affine 1,0.01,0,0,-0.01,1,0,0,0,0,1,0 "
                             "about centre");
  assert_int_equal (tree_total (profile, "flop of affine"), 192 * 46);
  radio_profile_close (profile);
  /* All is outside. */
  profile = record_pipeline (&spec,
                             "affine 1,0.01,0,-100,-0.01,1,0,0,0,0,1,0");
  assert_int_equal (tree_total (profile, "flop of affine"), 0);
  assert_int_equal (tree_total (profile, "bytes sampled"), 0);
  radio_profile_close (profile);
  profile = record_pipeline (&spec, "affine 1,0.01,0,0,-0.01,1,0,0,0,0,1,0 "
                             "cubic about centre");
  assert_int_equal (tree_total (profile, "flop of affine"), 192 * 216);
  assert_true (tree_total (profile, "flop of prefilter") > 0);
  assert_int_equal (tree_counter (profile, "read/interpolate/prefilter",
                                  "bytes computed"), 11 * 9 * 7 * 4);
  radio_profile_close (profile);

  /* Picking voxels computes nothing; one operation with values has a scope of
   * its name, several have one in common. */
  profile = record_pipeline (&spec, "to 4,3,2 nearest");
  assert_int_equal (tree_total (profile, "flop of to"), 0);
  radio_profile_close (profile);
  profile = record_pipeline (&spec, "window 4,8 | flip x");
  assert_true (tree_calls_of (profile, "window") > 0);
  assert_int_equal (tree_calls_of (profile, "operate"), 0);
  radio_profile_close (profile);
  profile = record_pipeline (&spec, "clamp 0,9 | linear 2,1");
  assert_true (tree_calls_of (profile, "operate") > 0);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (operations_are_counted_by_their_formulas),
    cmocka_unit_test (interpolations_are_counted_by_their_formulas),
  };
  if (tree_skip_all ())
    return 0;
  return cmocka_run_group_tests (tests, NULL, NULL);
}
