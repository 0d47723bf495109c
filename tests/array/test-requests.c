/* SPDX-License-Identifier: MIT */
/* Options of a read: several boxes, other types, scaling; and what
 * is refused: boxes and buffers that do not fit, too little memory. */
#include <config.h>

#include "tests/array/model.h"
#include "tests/element/random.h"

#include "src/array/array.h"

#define NREQUESTS 40

static void
read_many (struct model *model)
{
  struct radio_request requests[NREQUESTS];
  for (size_t i = 0; i < NREQUESTS; i++) {
    requests[i] = (struct radio_request) { .box = model_box (model) };
    requests[i].nbytes = radio_box_count (&requests[i].box)
      * model->info.item_nbytes;
    requests[i].buffer = malloc (requests[i].nbytes + 1);
    assert_non_null (requests[i].buffer);
  }
  assert_ok (radio_array_read_many (model->array, requests, NREQUESTS,
                                    RADIO_STORED, NULL));
  for (size_t i = 0; i < NREQUESTS; i++) {
    model_compare_c_order (model, &requests[i].box, requests[i].buffer);
    free (requests[i].buffer);
  }
}

static void
boxes_read_together_are_as_if_read_alone (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct model model;
    model_open (&model, 7000 + seed, 1 + seed % 3, seed % 2);
    model_write (&model);
    read_many (&model);
    model_close (&model);
  }
}

/* More than one batch holds, each a point. */
static void
thousands_of_points_are_read_at_once (void **state)
{
  (void) state;
  const struct radio_array_options options = {
    .rank = 2, .shape = { 60, 60 }, .chunk_shape = { 2, 2 },
    .data_type = "uint8",
  };
  struct model model;
  model_open_as (&model, 5, 2, false, &options);
  model_write (&model);
  struct radio_request *requests = calloc (3600, sizeof *requests);
  unsigned char *bytes = malloc (3600);
  assert_true (requests && bytes);
  for (size_t i = 0; i < 3600; i++)
    requests[i] = (struct radio_request) {
      .box = { 2, { i / 60, i % 60 }, { 1, 1 } },
      .buffer = bytes + i, .nbytes = 1,
    };
  assert_ok (radio_array_read_many (model.array, requests, 3600,
                                    RADIO_STORED, NULL));
  assert_memory_equal (bytes, model.elements, 3600);
  free (bytes);
  free (requests);
  model_close (&model);
}

/* int16 values 0, 3, 6, ... in a small sharded array. */
static void
open_numbers (struct model *model, bool deferred)
{
  static const struct radio_array_options options = {
    .rank = 2, .shape = { 10, 10 }, .chunk_shape = { 4, 4 },
    .data_type = "int16",
  };
  struct radio_box box = { 2, { 0, 0 }, { 10, 10 } };
  model_open_as (model, 9, 2, deferred, &options);
  for (size_t i = 0; i < 100; i++) {
    int16_t value = (int16_t) (3 * i);
    memcpy (model->elements + 2 * i, &value, 2);
  }
  assert_ok (radio_array_write (model->array, &box, model->elements, 200));
}

static void
values_are_converted (void **state)
{
  struct model model;
  const struct radio_box box = { 2, { 3, 2 }, { 5, 7 } };
  double doubles[35];
  (void) state;
  open_numbers (&model, false);
  assert_ok (radio_array_read (model.array, &box, RADIO_FLOAT64, doubles,
                               sizeof doubles, NULL));
  for (size_t i = 0; i < 35; i++)
    assert_true (doubles[i] == 3. * (double) (10 * (3 + i / 7) + 2 + i % 7));
  model_close (&model);
}

static void
values_are_scaled (void **state)
{
  struct model model;
  float floats[100];
  const struct radio_request request = {
    .box = { 2, { 0, 0 }, { 10, 10 } }, .buffer = floats,
    .nbytes = sizeof floats,
  };
  const struct rd_scaling scaling = { .slope = 0.5, .inter = -7 };
  (void) state;
  open_numbers (&model, false);
  assert_ok (rd_array_read_scaled (model.array, &request, 1, RADIO_FLOAT32,
                                   &scaling, NULL));
  for (size_t i = 0; i < 100; i++)
    assert_true (floats[i] == 1.5f * (float) i - 7);
  assert_fails (rd_array_read_scaled (model.array, &request, 1, RADIO_INT32,
                                      &scaling, NULL), RADIO_ERROR_ARGUMENT,
                "scaled");
  model_close (&model);
}

static void
a_value_that_does_not_fit_is_named_with_its_place (void **state)
{
  (void) state;
  for (int deferred = 0; deferred < 2; deferred++) {
    struct model model;
    struct radio_box box = { 2, { 8, 0 }, { 1, 10 } };
    uint8_t bytes[10];
    open_numbers (&model, deferred);
    assert_fails (radio_array_read (model.array, &box, RADIO_UINT8, bytes,
                                    sizeof bytes, NULL),
                  RADIO_ERROR_RANGE, "memory:/some/array/c/2/");
    assert_non_null (strstr (radio_error_message (), "value 2"));
    box.size[1] = 6;
    assert_ok (radio_array_read (model.array, &box, RADIO_UINT8, bytes,
                                 sizeof bytes, NULL));
    assert_int_equal (bytes[5], 255);
    model_close (&model);
  }
}

static void
impossible_conversions_are_refused (void **state)
{
  struct model model;
  const struct radio_box box = { 2, { 0, 0 }, { 1, 1 } };
  unsigned char room[16];
  (void) state;
  open_numbers (&model, false);
  assert_fails (radio_array_read (model.array, &box, RADIO_COMPLEX64, room,
                                  16, NULL), RADIO_ERROR_ARGUMENT,
                "complex64");
  assert_fails (radio_array_read (model.array, &box, RADIO_RAW, room, 16,
                                  NULL), RADIO_ERROR_ARGUMENT, "int16");
  assert_fails (radio_array_read (model.array, &box,
                                  (enum radio_dtype) 99, room, 16, NULL),
                RADIO_ERROR_ARGUMENT, "int16");
  model_close (&model);
}

static void
boxes_outside_are_refused (void **state)
{
  static const struct radio_box outside[] = {
    { 2, { 0, 0 }, { 11, 1 } }, { 2, { 11, 0 }, { 0, 0 } },
    { 2, { 5, 5 }, { 1, 6 } }, { 2, { UINT64_MAX, 0 }, { 2, 1 } },
    { 2, { 1, 1 }, { UINT64_MAX, 1 } }, { 1, { 0 }, { 1 } },
    { 3, { 0 }, { 1, 1, 1 } }, { 0, { 0 }, { 0 } },
    { SIZE_MAX, { 0 }, { 0 } },
  };
  struct model model;
  unsigned char room[400];
  (void) state;
  open_numbers (&model, false);
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
    assert_fails (radio_array_read (model.array, &outside[i], RADIO_STORED,
                                    room, sizeof room, NULL),
                  RADIO_ERROR_ARGUMENT, "some/array");
  model_close (&model);
}

static void
a_buffer_that_is_too_small_is_refused (void **state)
{
  struct model model;
  struct radio_box box = { 2, { 0, 0 }, { 10, 10 } };
  unsigned char room[400];
  (void) state;
  open_numbers (&model, false);
  assert_fails (radio_array_read (model.array, &box, RADIO_STORED, room, 199,
                                  NULL), RADIO_ERROR_ARGUMENT, "199 bytes");
  assert_fails (radio_array_read (model.array, &box, RADIO_INT32, room, 399,
                                  NULL), RADIO_ERROR_ARGUMENT, "399 bytes");
  assert_ok (radio_array_read (model.array, &box, RADIO_INT32, room, 400,
                               NULL));
  assert_fails (radio_array_read (model.array, &box, RADIO_STORED, NULL, 200,
                                  NULL), RADIO_ERROR_ARGUMENT, "NULL");
  const struct radio_request requests[2] = {
    { .box = { 2, { 0, 0 }, { 1, 1 } }, .buffer = room, .nbytes = 2 },
    { .box = { 2, { 0, 0 }, { 1, 1 } }, .buffer = room, .nbytes = 1 },
  };
  assert_fails (radio_array_read_many (model.array, requests, 2,
                                       RADIO_STORED, NULL),
                RADIO_ERROR_ARGUMENT, "request 1: ");
  model_close (&model);
}

static void
empty_boxes_need_no_buffer (void **state)
{
  struct model model;
  const struct radio_box box = { 2, { 10, 0 }, { 0, 10 } };
  (void) state;
  open_numbers (&model, false);
  assert_ok (radio_array_read (model.array, &box, RADIO_STORED, NULL, 0,
                               NULL));
  assert_ok (radio_array_read_many (model.array, NULL, 0, RADIO_STORED,
                                    NULL));
  model_close (&model);
}

/* A store in memory whose context has a limit. */
static void
open_limited (uint64_t limit_nbytes, bool deferred,
              const struct radio_array_options *options, struct model *model)
{
  const struct radio_context_options context_options = {
    .nthreads = 2, .memory_limit_nbytes = limit_nbytes,
  };
  model_open_as (model, 1, 2, deferred, options);
  radio_array_close (model->array);
  struct radio_context *old = model->store->context;
  assert_ok (radio_context_open (&context_options, &model->store->context));
  radio_context_close (old);
  assert_ok (radio_array_open (model->store, "some/array", &model->array));
}

static void
a_chunk_larger_than_the_limit_is_refused_and_names_it (void **state)
{
  static const struct radio_array_options options = {
    .rank = 1, .shape = { 100000 }, .chunk_shape = { 100000 },
    .data_type = "uint8",
  };
  (void) state;
  for (int deferred = 0; deferred < 2; deferred++) {
    struct model model;
    unsigned char byte = 1;
    const struct radio_box box = { 1, { 5 }, { 1 } };
    open_limited (65536, deferred, &options, &model);
    assert_ok (radio_array_read (model.array, &box, RADIO_STORED, &byte, 1,
                                 NULL));
    assert_int_equal (byte, 0);       /* what is not there needs nothing */
    assert_ok (rd_io_put (model.store->io, "some/array/c/0", "x", 1,
                          RD_PUT_REPLACE));
    assert_fails (radio_array_read (model.array, &box, RADIO_STORED, &byte,
                                    1, NULL),
                  RADIO_ERROR_LIMIT, "the limit of 65536");
    assert_non_null (strstr (radio_error_message (), "some/array/c/0"));
    assert_non_null (strstr (radio_error_message (), "memory_limit_nbytes"));
    model_close (&model);
  }
}

static void
an_index_larger_than_the_limit_is_refused (void **state)
{
  static const struct radio_array_options options = {
    .rank = 1, .shape = { 1000000000000 },
    .chunk_shape = { 100000000000 }, .data_type = "uint8",
    .codecs_json = "[{\"name\":\"sharding_indexed\",\"configuration\":"
      "{\"chunk_shape\":[1],\"codecs\":[{\"name\":\"bytes\"}],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"
      "{\"endian\":\"little\"}}]}}]",
  };
  const struct radio_context_options context = { .nthreads = 1 };
  struct radio_store_options store_options = { .create = true };
  struct radio_store *store;
  struct radio_array *array;
  unsigned char byte;
  const struct radio_box box = { 1, { 5 }, { 1 } };
  (void) state;
  assert_ok (radio_context_open (&context, &store_options.context));
  assert_ok (radio_store_open ("memory:", &store_options, &store));
  assert_ok (radio_array_create (store, "x", &options, &array));
  assert_fails (radio_array_read (array, &box, RADIO_STORED, &byte, 1, NULL),
                RADIO_ERROR_LIMIT, "a shard's index needs");
  radio_array_close (array);
  radio_store_close (store);
  radio_context_close (store_options.context);
}

static void
giant_arrays_of_nothing_are_read_at_once (void **state)
{
  static const struct radio_array_options options = {
    .rank = 3,
    .shape = { UINT64_C (1) << 40, UINT64_C (1) << 20, 1000 },
    .chunk_shape = { UINT64_C (1) << 30, 1 << 10, 1 },
    .data_type = "int16", .fill_value_json = "-3",
  };
  struct radio_store *store;
  struct radio_array *array;
  const struct radio_box box = {
    3, { (UINT64_C (1) << 40) - 2, 1023, 998 }, { 2, 2, 2 },
  };
  int16_t values[8] = { 0 };
  struct radio_check check;
  (void) state;
  assert_ok (radio_store_open ("memory:", NULL, &store));
  assert_ok (radio_array_create (store, "x", &options, &array));
  assert_ok (radio_array_read (array, &box, RADIO_STORED, values,
                               sizeof values, NULL));
  for (size_t i = 0; i < 8; i++)
    assert_int_equal (values[i], -3);
  assert_ok (radio_array_check (array, &check, NULL, NULL));
  assert_int_equal (check.missing_count, 1024 * 1024 * UINT64_C (1000));
  radio_array_close (array);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (boxes_read_together_are_as_if_read_alone),
    cmocka_unit_test (thousands_of_points_are_read_at_once),
    cmocka_unit_test (values_are_converted),
    cmocka_unit_test (values_are_scaled),
    cmocka_unit_test (a_value_that_does_not_fit_is_named_with_its_place),
    cmocka_unit_test (impossible_conversions_are_refused),
    cmocka_unit_test (boxes_outside_are_refused),
    cmocka_unit_test (a_buffer_that_is_too_small_is_refused),
    cmocka_unit_test (empty_boxes_need_no_buffer),
    cmocka_unit_test (a_chunk_larger_than_the_limit_is_refused_and_names_it),
    cmocka_unit_test (an_index_larger_than_the_limit_is_refused),
    cmocka_unit_test (giant_arrays_of_nothing_are_read_at_once),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
