/* SPDX-License-Identifier: MIT */
/* Reading back what was written: any array, any box, any strides, any number
 * of threads, through stores that block and stores that do not. */
#include <config.h>

#include "tests/array/model.h"

static void
read_random_boxes (uint64_t first_seed, unsigned n, unsigned nthreads,
                   bool deferred)
{
  for (unsigned i = 0; i < n; i++) {
    struct model model;
    model_open (&model, first_seed + i, nthreads, deferred);
    model_write (&model);
    for (unsigned j = 0; j < 6; j++) {
      struct radio_box box = model_box (&model);
      model_compare (&model, &box);
    }
    model_close (&model);
  }
}

static void
boxes_equal_the_written_data_with_one_thread (void **state)
{
  (void) state;
  read_random_boxes (1000, 200, 1, false);
}

static void
boxes_equal_the_written_data_with_two_threads (void **state)
{
  (void) state;
  read_random_boxes (2000, 100, 2, false);
}

static void
boxes_equal_the_written_data_with_four_threads (void **state)
{
  (void) state;
  read_random_boxes (3000, 100, 4, false);
}

static void
boxes_come_right_from_a_store_that_does_not_block (void **state)
{
  (void) state;
  read_random_boxes (4000, 60, 1, true);
  read_random_boxes (5000, 60, 3, true);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (boxes_equal_the_written_data_with_one_thread),
    cmocka_unit_test (boxes_equal_the_written_data_with_two_threads),
    cmocka_unit_test (boxes_equal_the_written_data_with_four_threads),
    cmocka_unit_test (boxes_come_right_from_a_store_that_does_not_block),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
