/* SPDX-License-Identifier: MIT */
/* The kind of node at a path. */
#include <config.h>

#include "tests/unit.h"

#include <radio/array.h>
#include <radio/store.h>

static struct radio_store *store;

static int
make_store (void **state)
{
  (void) state;
  static const struct radio_store_options options = { .create = true };
  static const struct radio_array_options array_options = {
    .rank = 1, .shape = { 4 }, .chunk_shape = { 2 }, .data_type = "uint8"
  };
  struct radio_array *array;
  if (radio_store_open ("memory:", &options, &store) != RADIO_OK
      || radio_array_create (store, "a/b", &array_options, &array)
         != RADIO_OK)
    return -1;
  radio_array_close (array);
  return 0;
}

static int
close_store (void **state)
{
  (void) state;
  radio_store_close (store);
  return 0;
}

static void
groups_and_arrays_are_distinguished (void **state)
{
  (void) state;
  enum radio_node node = RADIO_NODE_ARRAY;
  assert_ok (radio_store_node (store, "", &node));
  assert_int_equal (node, RADIO_NODE_GROUP);
  assert_ok (radio_store_node (store, "a", &node));
  assert_int_equal (node, RADIO_NODE_GROUP);
  assert_ok (radio_store_node (store, "a/b", &node));
  assert_int_equal (node, RADIO_NODE_ARRAY);
}

static void
missing_nodes_are_not_found (void **state)
{
  (void) state;
  enum radio_node node = RADIO_NODE_ARRAY;
  assert_fails (radio_store_node (store, "a/c", &node),
                RADIO_ERROR_NOT_FOUND, "a/c");
  assert_int_equal (node, RADIO_NODE_ARRAY);
}

static void
null_and_paths_outside_are_refused (void **state)
{
  (void) state;
  enum radio_node node;
  assert_fails (radio_store_node (NULL, "", &node), RADIO_ERROR_ARGUMENT,
                "store is NULL");
  assert_fails (radio_store_node (store, NULL, &node), RADIO_ERROR_ARGUMENT,
                "path is NULL");
  assert_fails (radio_store_node (store, "", NULL), RADIO_ERROR_ARGUMENT,
                "node is NULL");
  assert_fails (radio_store_node (store, "../a", &node),
                RADIO_ERROR_ARGUMENT, "../a");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (groups_and_arrays_are_distinguished),
    cmocka_unit_test (missing_nodes_are_not_found),
    cmocka_unit_test (null_and_paths_outside_are_refused),
  };
  return cmocka_run_group_tests (tests, make_store, close_store);
}
