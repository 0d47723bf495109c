/* SPDX-License-Identifier: MIT */
/* Arguments that are never right: what is not zero in the reserved members of
 * options is refused, by each function that takes options, before it does
 * anything; pointers to nothing and numbers that no enum has do no harm. */
#include <config.h>

#include "tests/volume/fixture.h"

/* The call fails because of the last reserved member of the options; `field'
 * is that of the array. */
#define assert_refuses(field, type, call)                               \
  do {                                                                  \
    size_t last_ = sizeof (field) / sizeof (field)[0] - 1;              \
    (field)[last_] = 1;                                                 \
    assert_fails (call, RADIO_ERROR_ARGUMENT, type ": reserved[");      \
    (field)[last_] = 0;                                                 \
  } while (0)

static void
opening_refuses_members_that_it_does_not_know (void **state)
{
  (void) state;
  struct radio_context_options how = { .nthreads = 1 };
  struct radio_store_options options = { .create = true };
  struct radio_context *context;
  struct radio_store *store;
  assert_refuses (how.reserved, "radio_context_options",
                  radio_context_open (&how, &context));
  assert_refuses (options.reserved, "radio_store_options",
                  radio_store_open ("new", &options, &store));
  assert_refuses (options.s3.reserved, "radio_s3_options",
                  radio_store_open ("new", &options, &store));
  assert_fails (radio_store_open ("new", NULL, &store),
                RADIO_ERROR_NOT_FOUND, "new");
}

static void
reading_and_writing_refuse_members_that_they_do_not_know (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct radio_phantom_options phantom = { .shape = { 8, 8, 8 } };
  struct radio_array_options array_options = {
    .rank = 1, .shape = { 1 }, .chunk_shape = { 1 }, .data_type = "uint8",
  };
  struct radio_volume *volume;
  struct radio_array *created;
  struct radio_box box = radio_box3 (0, 1, 0, 1, 0, 1);
  float value;
  assert_refuses (phantom.reserved, "radio_phantom_options",
                  radio_phantom (store, "ct/a", &phantom));
  assert_refuses (phantom.ingest.reserved, "radio_ingest_options",
                  radio_phantom (store, "ct/a", &phantom));
  assert_ok (radio_phantom (store, "ct/a", &phantom));
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  struct radio_array *array = radio_volume_array (volume);
  const struct radio_request request = { box, &value, sizeof value, NULL };

  struct radio_read_options read = { .scaled = true };
  assert_refuses (read.reserved, "radio_read_options",
                  radio_volume_read (volume, &box, RADIO_FLOAT32, &value,
                                     sizeof value, &read));
  assert_refuses (read.reserved, "radio_read_options",
                  radio_volume_read_many (volume, &request, 1, RADIO_FLOAT32,
                                          &read));
  assert_refuses (read.reserved, "radio_read_options",
                  radio_volume_read_plane (volume, RADIO_AXIAL, 0,
                                           RADIO_FLOAT32, &value,
                                           sizeof value, &read));
  assert_refuses (read.reserved, "radio_read_options",
                  radio_array_read (array, &box, RADIO_FLOAT32, &value,
                                    sizeof value, &read));
  assert_refuses (read.reserved, "radio_read_options",
                  radio_array_read_many (array, &request, 1, RADIO_FLOAT32,
                                         &read));
  assert_ok (radio_volume_read (volume, &box, RADIO_FLOAT32, &value,
                                sizeof value, &read));

  struct radio_export_options export = { .overwrite = true };
  assert_refuses (export.reserved, "radio_export_options",
                  radio_volume_export (volume, NULL, "a.nii", &export));
  assert_refuses (export.reserved, "radio_export_options",
                  radio_array_export (array, NULL, "a.npy", &export));
  assert_ok (radio_volume_export (volume, NULL, "a.nii", &export));
  struct radio_ingest_options ingest = { 0 };
  assert_refuses (ingest.reserved, "radio_ingest_options",
                  radio_ingest (store, "a.nii", "ct/b", &ingest, NULL));
  struct radio_copy_options copy = { 0 };
  assert_refuses (copy.reserved, "radio_copy_options",
                  radio_volume_copy (store, "ct/a", store, "ct/c", &copy,
                                     NULL));
  const char *path = "ct/a";
  struct radio_index_copies_options rows = { 0 };
  assert_refuses (rows.reserved, "radio_index_copies_options",
                  radio_store_index_copies (store, &path, store, &path, 1,
                                            &rows, NULL));
  assert_refuses (array_options.reserved, "radio_array_options",
                  radio_array_create (store, "b", &array_options, &created));
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
profiles_refuse_members_that_they_do_not_know (void **state)
{
  (void) state;
#ifndef RADIO_NO_PROFILE
  struct radio_recorder_options record = { .tree_only = true };
  struct radio_profile_write_options write = { .utf8 = true };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  assert_refuses (record.reserved, "radio_recorder_options",
                  radio_recorder_start (&record, &recorder));
  assert_ok (radio_recorder_start (&record, &recorder));
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_refuses (write.reserved, "radio_profile_write_options",
                  radio_profile_write (profile, "a.json", &write));
  assert_ok (radio_profile_write (profile, "a.json", &write));
  radio_profile_close (profile);
#endif
}

/* A newer program asks for more than this library knows: that is zero. */
static void
what_a_newer_result_has_besides_is_zero (void **state)
{
  (void) state;
  struct {
    struct radio_gc_result result;
    uint64_t newer[3];
  } removed = { .newer = { 1, 2, 3 } };
  struct radio_store *store = must_open_store ("memory:");
  assert_ok ((radio_store_gc) (store, true, &removed.result, sizeof removed));
  for (int i = 0; i < 3; i++)
    assert_int_equal (removed.newer[i], 0);
  radio_store_close (store);
}

static void
nothing_and_unknown_numbers_do_no_harm (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct radio_phantom_options phantom = { .shape = { 8, 8, 8 } };
  struct radio_volume *volume;
  struct radio_volume_info info;
  struct radio_elements elements;
  uint64_t shape[2] = { 1, 1 };
  assert_ok (radio_phantom (store, "ct/a", &phantom));
  assert_ok (radio_volume_open (store, "ct/a", &volume));

  assert_int_equal (radio_box_count (NULL), 0);
  (radio_volume_get_info) (volume, NULL, 8);
  memset (&info, 1, sizeof info);
  radio_volume_get_info (NULL, &info);
  assert_null (info.path);
  radio_volume_plane_shape (volume, (enum radio_plane) 9, shape);
  assert_true (shape[0] == 0 && shape[1] == 0);
  radio_volume_plane_shape (volume, RADIO_AXIAL, NULL);
  radio_volume_plane_shape (NULL, RADIO_AXIAL, shape);
  assert_fails (radio_recorder_start (NULL, NULL), RADIO_ERROR_ARGUMENT,
                "recorder is NULL");
  radio_handoff_give (NULL);
  assert_true (radio_read_is_done (NULL));

  /* A struct that cannot name the elements would leak them. */
  for (size_t nbytes = 0; nbytes < sizeof elements.data; nbytes++) {
    assert_fails ((radio_volume_read_alloc) (volume, NULL, RADIO_STORED, NULL,
                                             &elements, nbytes),
                  RADIO_ERROR_ARGUMENT, "pass its size");
    assert_fails ((radio_volume_read_plane_alloc) (volume, RADIO_AXIAL, 0,
                                                   RADIO_STORED, NULL,
                                                   &elements, nbytes),
                  RADIO_ERROR_ARGUMENT, "pass its size");
  }
  phantom.ingest.existing = (enum radio_existing) 9;
  assert_fails (radio_phantom (store, "ct/b", &phantom), RADIO_ERROR_ARGUMENT,
                "ct/b: existing is 9");
  const struct radio_copy_options copy = {
    .existing = (enum radio_existing) 9,
  };
  assert_fails (radio_volume_copy (store, "ct/a", store, "ct/b", &copy, NULL),
                RADIO_ERROR_ARGUMENT, "ct/b: existing is 9");
  radio_volume_close (volume);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (opening_refuses_members_that_it_does_not_know),
    cmocka_unit_test (
      reading_and_writing_refuse_members_that_they_do_not_know),
    cmocka_unit_test (profiles_refuse_members_that_they_do_not_know),
    cmocka_unit_test (what_a_newer_result_has_besides_is_zero),
    cmocka_unit_test (nothing_and_unknown_numbers_do_no_harm),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
