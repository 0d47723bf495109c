/* SPDX-License-Identifier: MIT */
/* Messages begin with what they are about: a function's argument, or the array
 * or volume that a box or buffer does not fit; and each has one cause. */
#include <config.h>

#include "tests/volume/fixture.h"

/* The call fails for this reason alone, whose message begins like this. */
#define assert_says(call, beginning)                                    \
  do {                                                                  \
    assert_int_equal (call, RADIO_ERROR_ARGUMENT);                      \
    if (strncmp (radio_error_message (), beginning,                     \
                 strlen (beginning)) != 0)                              \
      fail_msg ("%s: %s", #call, radio_error_message ());               \
  } while (0)

static void
a_missing_argument_is_named (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct radio_volume *volume;
  char *path;
  uint64_t nbytes;
  assert_says (radio_volume_open (NULL, "a", &volume),
               "radio_volume_open: store is NULL");
  assert_says (radio_volume_open (store, NULL, &volume),
               "radio_volume_open: path is NULL");
  assert_says (radio_volume_open (store, "a", NULL),
               "radio_volume_open: volume is NULL");
  assert_says (radio_store_find (store, NULL, &path),
               "radio_store_find: name is NULL");
  assert_says (radio_store_list (store, NULL, NULL, NULL),
               "radio_store_list: callback is NULL");
  assert_says (radio_store_remove (store, NULL),
               "radio_store_remove: path is NULL");
  assert_says (radio_store_remove (store, ""),
               "radio_store_remove: path is empty");
  assert_says (radio_ingest (store, NULL, "ct/a", NULL, NULL),
               "radio_ingest: file is NULL");
  assert_says (radio_volume_stored_nbytes (NULL, &nbytes),
               "radio_volume_stored_nbytes: volume is NULL");
  radio_store_close (store);
}

static void
a_box_or_buffer_that_does_not_fit_names_its_array (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store = must_open_store ("memory:");
  struct radio_volume *volume;
  struct radio_box box = radio_box3 (0, 1, 0, 1, 0, 1);
  char voxel[16];
  must_ingest (store, "ct/a", &spec, NULL);
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  struct radio_array *array = radio_volume_array (volume);
  struct radio_box flat = { .rank = 2 };
  assert_says (radio_array_read (array, &flat, RADIO_STORED, voxel, 16, NULL),
               "memory:/ct/a/0-");
  assert_says (radio_array_read (array, &box, RADIO_STORED, NULL, 16, NULL),
               "memory:/ct/a/0-");
  assert_says (radio_array_read (array, &box, RADIO_STORED, voxel, 0, NULL),
               "memory:/ct/a/0-");
  assert_says (radio_array_read (array, &box, RADIO_RAW, voxel, 16, NULL),
               "memory:/ct/a/0-");
  assert_says (radio_array_write (array, &flat, voxel, 16),
               "memory:/ct/a/0-");
  assert_says (radio_array_write (array, &box, NULL, 16),
               "memory:/ct/a/0-");
  assert_says (radio_volume_read_plane (volume, RADIO_AXIAL, 1000,
                                        RADIO_STORED, voxel, 16, NULL),
               "ct/a: index 1000");
  assert_says (radio_volume_read_plane (volume, (enum radio_plane) 7, 0,
                                        RADIO_STORED, voxel, 16, NULL),
               "radio_volume_read_plane: 7 is not a plane");
  radio_volume_close (volume);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_missing_argument_is_named),
    cmocka_unit_test (a_box_or_buffer_that_does_not_fit_names_its_array),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
