/* SPDX-License-Identifier: MIT */
/* Memory: a warm read of one tile allocates nothing, and whichever
 * allocation fails, the call says so and nothing is lost. */
#include <config.h>

#include "tests/alloc-fail.h"
#include "tests/array/model.h"

static const struct radio_array_options options = {
  .rank = 2, .shape = { 40, 64 }, .chunk_shape = { 32, 64 },
  .data_type = "int16",
  .codecs_json = "[{\"name\":\"sharding_indexed\",\"configuration\":{"
    "\"chunk_shape\":[8,8],\"codecs\":[{\"name\":\"bytes\","
    "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"zstd\","
    "\"configuration\":{\"level\":1,\"checksum\":false}},"
    "{\"name\":\"crc32c\"}],\"index_codecs\":[{\"name\":\"bytes\","
    "\"configuration\":{\"endian\":\"little\"}}]}}]",
};

static const struct radio_box whole = { 2, { 0, 0 }, { 40, 64 } };

/* An array of which nothing was read yet. */
static void
open_filled (struct model *model, bool deferred)
{
  model_open_as (model, 21, 1, deferred, &options);
  for (size_t i = 0; i < model->count; i++) {
    int16_t value = (int16_t) (i * i % 1009 + 1);
    memcpy (model->elements + 2 * i, &value, 2);
  }
  assert_ok (radio_array_write (model->array, &whole, model->elements,
                                2 * model->count));
}

static void
a_warm_read_of_one_tile_allocates_nothing (void **state)
{
  struct model model;
  int16_t room[64];
  (void) state;
  open_filled (&model, false);
  for (uint64_t i = 0; i < 10; i++) {
    const struct radio_box tile = { 2, { 8 * (i % 4), 8 * i % 64 },
                                    { 8, 8 } };
    alloc_fail_nth (0);
    enum radio_status status = radio_array_read (
      model.array, &tile, RADIO_STORED, room, sizeof room, NULL);
    alloc_fail_end ();
    assert_ok (status);
    if (i > 0)
      assert_int_equal (alloc_fail_count (), 0);
    model_compare_c_order (&model, &tile, (unsigned char *) room);
  }
  model_close (&model);
}

static void
any_allocation_of_a_read_may_fail (void **state)
{
  (void) state;
  for (int deferred = 0; deferred < 2; deferred++) {
    struct model model;
    open_filled (&model, deferred);
    unsigned char *room = malloc (2 * model.count);
    assert_non_null (room);
    for (size_t nth = 1;; nth++) {
      alloc_fail_nth (nth);
      enum radio_status status = radio_array_read (
        model.array, &whole, RADIO_STORED, room, 2 * model.count, NULL);
      if (!alloc_fail_end ()) {
        assert_ok (status);
        break;
      }
      assert_int_equal (status, RADIO_ERROR_MEMORY);
    }
    assert_memory_equal (room, model.elements, 2 * model.count);
    free (room);
    model_close (&model);
  }
}

static void
any_allocation_of_a_write_may_fail (void **state)
{
  struct model model;
  (void) state;
  open_filled (&model, false);
  model.elements[7]++;
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status = radio_array_write (
      model.array, &whole, model.elements, 2 * model.count);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
  model_compare (&model, &whole);
  model_close (&model);
}

static void
any_allocation_of_a_check_may_fail (void **state)
{
  struct model model;
  struct radio_check check;
  (void) state;
  open_filled (&model, false);
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status = radio_array_check (model.array, &check, NULL,
                                                  NULL);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
  assert_int_equal (check.tile_count, 40);
  model_close (&model);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_warm_read_of_one_tile_allocates_nothing),
    cmocka_unit_test (any_allocation_of_a_read_may_fail),
    cmocka_unit_test (any_allocation_of_a_write_may_fail),
    cmocka_unit_test (any_allocation_of_a_check_may_fail),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
