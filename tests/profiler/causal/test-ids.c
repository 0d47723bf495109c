/* SPDX-License-Identifier: MIT */
/* Span ids are unique, and their spans can be looked up, for any sequences. */
#include <config.h>

#include "tests/unit.h"

#include "profiler/record/collect.h"

#define N 20000

/* Sequences base, base + stride, ... of three writers. */
static void
give_and_find (uint64_t base, uint64_t stride)
{
  RD_IDS_SCOPE struct rd_ids ids;
  uint32_t id;
  assert_ok (rd_ids_init (&ids, 3));
  for (uint32_t i = 0; i < 3 * N; i++) {
    assert_ok (rd_ids_give (&ids, i % 3, base + i / 3 * stride, &id));
    assert_int_equal (id, i + 1);
  }
  for (uint32_t i = 0; i < 3 * N; i++) {
    assert_int_equal (rd_ids_find (&ids, i % 3, base + i / 3 * stride),
                      i + 1);
    assert_ok (rd_ids_give (&ids, i % 3, base + i / 3 * stride, &id));
    assert_int_equal (id, i + 1);
  }
  assert_int_equal (rd_ids_find (&ids, 0, base + N * stride), 0);
}

static void
adjacent_sequences_have_different_ids (void **state)
{
  (void) state;
  give_and_find (1, 1);
}

static void
distant_sequences_have_different_ids (void **state)
{
  (void) state;
  for (unsigned shift = 1; shift < 30; shift += 4)
    give_and_find (3, UINT64_C (1) << shift);
}

static void
a_writer_without_spans_has_no_ids (void **state)
{
  (void) state;
  RD_IDS_SCOPE struct rd_ids ids;
  assert_ok (rd_ids_init (&ids, 2));
  assert_int_equal (rd_ids_find (&ids, 1, 1), 0);
}

/* A log whose first spans are all there, and every stride-th of the later ones:
 * the number of slots that each search walks through, in the mean, at most. */
static size_t
mean_walk (uint64_t stride)
{
  RD_IDS_SCOPE struct rd_ids ids;
  uint64_t sum = 0, run = 0;
  uint32_t id;
  assert_ok (rd_ids_init (&ids, 1));
  for (uint64_t i = 1; i <= N; i++)
    assert_ok (rd_ids_give (&ids, 0, i, &id));
  for (uint64_t i = 1; i <= 2 * N; i++)
    assert_ok (rd_ids_give (&ids, 0, N + i * stride, &id));
  const struct rd_id_table *table = &ids.tables[0];
  assert_int_equal (table->n, 3 * N);
  /* A search ends at the free slot after the run that it begins in. */
  for (size_t i = table->nslots; i-- > 0;) {
    run = table->slots[i].id != 0 ? run + 1 : 0;
    sum += run;
  }
  return (size_t) (sum / table->n);
}

static void
a_thinned_log_after_a_dense_one_is_searched_in_few_steps (void **state)
{
  (void) state;
  for (uint64_t stride = 2; stride < 40; stride++)
    assert_in_range (mean_walk (stride), 1, 64);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (adjacent_sequences_have_different_ids),
    cmocka_unit_test (distant_sequences_have_different_ids),
    cmocka_unit_test (a_writer_without_spans_has_no_ids),
    cmocka_unit_test (
      a_thinned_log_after_a_dense_one_is_searched_in_few_steps),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
