/* SPDX-License-Identifier: MIT */
/* Reading into memory that the library allocates: the same elements as into the
 * caller's, with their shape, by the caller's allocator. */
#include <config.h>

#include <stdatomic.h>

#include "tests/volume/fixture.h"

static atomic_int nblocks;

static void *
allocate (size_t nbytes, void *user_data)
{
  (void) user_data;
  nblocks++;
  return malloc (nbytes);
}

static void *
resize (void *block, size_t nbytes, void *user_data)
{
  (void) user_data;
  nblocks += block == NULL;
  return realloc (block, nbytes);
}

static void
release (void *block, void *user_data)
{
  (void) user_data;
  nblocks--;
  free (block);
}

struct images {
  struct radio_store *store;
  struct radio_volume *volume;
  struct radio_volume_info info;
};

static void
open_image (struct images *images)
{
  struct nifti_spec spec = small_spec ();
  images->store = must_open_store ("memory:");
  must_ingest (images->store, "ct/a", &spec, NULL);
  assert_ok (radio_volume_open (images->store, "ct/a", &images->volume));
  radio_volume_get_info (images->volume, &images->info);
}

static void
close_image (struct images *images)
{
  radio_volume_close (images->volume);
  radio_store_close (images->store);
}

static void
a_box_and_the_whole_are_as_read_into_the_callers_memory (void **state)
{
  (void) state;
  struct images images;
  struct radio_elements elements;
  open_image (&images);
  const struct radio_array_info *array = &images.info.array;
  struct radio_box whole = { .rank = array->rank };
  memcpy (whole.size, array->shape, sizeof whole.size);
  struct radio_box part = whole;
  for (size_t i = 0; i < part.rank; i++) {
    part.start[i] = part.size[i] / 3;
    part.size[i] -= part.start[i];
  }
  const struct radio_box *boxes[] = { &part, NULL };
  const struct radio_read_options scaled = { .scaled = true };
  for (int i = 0; i < 4; i++) {
    const struct radio_box *box = boxes[i % 2];
    const struct radio_read_options *options = i < 2 ? NULL : &scaled;
    enum radio_dtype dtype = options ? RADIO_FLOAT64 : RADIO_STORED;
    assert_ok (radio_volume_read_alloc (images.volume, box, dtype, options,
                                        &elements));
    const struct radio_box *read = box ? box : &whole;
    assert_int_equal (elements.dtype, options ? RADIO_FLOAT64
                                              : array->dtype);
    assert_int_equal (elements.item_nbytes, options ? 8 : array->item_nbytes);
    assert_int_equal (elements.rank, read->rank);
    for (size_t j = 0; j < read->rank; j++)
      assert_int_equal (elements.shape[j], read->size[j]);
    assert_int_equal (elements.nbytes,
                      radio_box_count (read) * elements.item_nbytes);
    void *expected = malloc (elements.nbytes);
    assert_ok (radio_volume_read (images.volume, read, dtype, expected,
                                  elements.nbytes, options));
    assert_memory_equal (elements.data, expected, elements.nbytes);
    free (expected);
    radio_free (elements.data);
  }
  radio_free (NULL);
  close_image (&images);
  assert_int_equal (nblocks, 0);
}

static void
a_plane_has_its_two_axes (void **state)
{
  (void) state;
  struct images images;
  struct radio_elements elements;
  open_image (&images);
  for (int plane = RADIO_AXIAL; plane <= RADIO_SAGITTAL; plane++) {
    uint64_t shape[2];
    radio_volume_plane_shape (images.volume, plane, shape);
    assert_ok (radio_volume_read_plane_alloc (images.volume, plane, 1,
                                              RADIO_FLOAT32, NULL,
                                              &elements));
    assert_int_equal (elements.rank, 2);
    assert_int_equal (elements.shape[0], shape[0]);
    assert_int_equal (elements.shape[1], shape[1]);
    assert_int_equal (elements.nbytes, shape[0] * shape[1] * sizeof (float));
    float *expected = malloc (elements.nbytes);
    assert_ok (radio_volume_read_plane (images.volume, plane, 1,
                                        RADIO_FLOAT32, expected,
                                        elements.nbytes, NULL));
    assert_memory_equal (elements.data, expected, elements.nbytes);
    free (expected);
    radio_free (elements.data);
  }
  close_image (&images);
  assert_int_equal (nblocks, 0);
}

static void
a_failure_leaves_no_memory_and_no_result (void **state)
{
  (void) state;
  struct images images;
  struct radio_elements elements = { .nbytes = 7 };
  const int64_t strides[RADIO_MAX_RANK] = { 1 };
  const struct radio_read_options options = { .strides = strides };
  struct radio_box box = { .rank = 3, .size = { UINT64_MAX, 1, 1 } };
  open_image (&images);
  assert_fails (radio_volume_read_alloc (images.volume, &box, RADIO_STORED,
                                         NULL, &elements),
                RADIO_ERROR_ARGUMENT, "on axis 0");
  assert_fails (radio_volume_read_alloc (images.volume, NULL, RADIO_STORED,
                                         &options, &elements),
                RADIO_ERROR_ARGUMENT, "ct/a: strides");
  assert_fails (radio_volume_read_alloc (images.volume, NULL, RADIO_RAW,
                                         NULL, &elements),
                RADIO_ERROR_ARGUMENT, "raw");
  assert_fails (radio_volume_read_plane_alloc (images.volume, RADIO_AXIAL,
                                               1000, RADIO_STORED, NULL,
                                               &elements),
                RADIO_ERROR_ARGUMENT, "1000");
  assert_int_equal (elements.nbytes, 7);
  close_image (&images);
  assert_int_equal (nblocks, 0);
}

static void
opening_by_a_bare_name_names_the_function_that_finds_it (void **state)
{
  (void) state;
  struct images images;
  struct radio_volume *volume;
  open_image (&images);
  assert_fails (radio_volume_open (images.store, "a", &volume),
                RADIO_ERROR_NOT_FOUND, "radio_store_find");
  assert_fails (radio_volume_open (images.store, "ct/b", &volume),
                RADIO_ERROR_NOT_FOUND, "ct/b: there is no zarr.json");
  assert_null (strstr (radio_error_message (), "radio_store_find"));
  close_image (&images);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_box_and_the_whole_are_as_read_into_the_callers_memory),
    cmocka_unit_test (a_plane_has_its_two_axes),
    cmocka_unit_test (a_failure_leaves_no_memory_and_no_result),
    cmocka_unit_test (opening_by_a_bare_name_names_the_function_that_finds_it),
  };
  const struct radio_allocator counted = { allocate, resize, release, NULL };
  if (radio_set_allocator (&counted) != RADIO_OK)
    return EXIT_FAILURE;
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
