/* SPDX-License-Identifier: MIT */
/* Lanes as nested intervals: order, cutting, spans without a duration. */
#include <config.h>

#include "src/base/buffer.h"
#include "profiler/export/nest.h"
#include "tests/unit.h"

/* The visits, as "(1 (2 )20 )30": ids and where they end. */
struct visits {
  char text[4096];
  size_t n;
};

static void
append_visit (struct visits *visits, char sign, uint64_t number)
{
  visits->n += (size_t) snprintf (
    visits->text + visits->n, sizeof visits->text - visits->n, "%s%c%llu",
    visits->n ? " " : "", sign, (unsigned long long) number);
}

static void
enter (const struct rd_span *span, uint64_t end_ns, void *context)
{
  assert_true (end_ns >= span->begin_ns);
  append_visit (context, '(', span->id);
}

static void
leave (const struct rd_span *span, uint64_t end_ns, void *context)
{
  (void) span;
  append_visit (context, ')', end_ns);
}

static void
assert_visits (const struct rd_span *spans, size_t n, const char *expected)
{
  struct visits visits = { .n = 0 };
  const struct rd_nest_visitor visitor = { enter, leave, &visits };
  assert_ok (rd_nest_visit (spans, n, &visitor));
  assert_string_equal (visits.text, expected);
}

#define ASSERT_VISITS(expected, ...)                                    \
  do {                                                                  \
    static const struct rd_span spans_[] = { __VA_ARGS__ };             \
    assert_visits (spans_, sizeof spans_ / sizeof spans_[0], expected); \
  } while (0)

/* A span by id, parent, begin and duration. */
#define SPAN(i, p, b, d) \
  { .id = (i), .parent = (p), .begin_ns = (b), .duration_ns = (d) }

static void
a_lane_without_spans_has_no_visits (void **state)
{
  (void) state;
  assert_visits (NULL, 0, "");
}

static void
children_end_before_their_parent (void **state)
{
  (void) state;
  ASSERT_VISITS ("(1 (2 )5 (3 )9 )10",
                SPAN (1, 0, 0, 10), SPAN (2, 1, 1, 4), SPAN (3, 1, 6, 3));
}

static void
neighbours_that_touch_are_not_nested (void **state)
{
  (void) state;
  ASSERT_VISITS ("(1 )10 (2 )20",
                SPAN (1, 0, 0, 10), SPAN (2, 0, 10, 10));
}

static void
a_child_that_sticks_out_ends_with_its_parent (void **state)
{
  (void) state;
  ASSERT_VISITS ("(1 (2 (3 )10 )10 )10",
                SPAN (1, 0, 0, 10), SPAN (2, 1, 5, 6), SPAN (3, 2, 6, 9));
}

static void
an_instant_at_its_parents_end_is_inside_it (void **state)
{
  (void) state;
  ASSERT_VISITS ("(1 (2 )10 )10 (3 )10",
                SPAN (1, 0, 0, 10), SPAN (2, 1, 10, 0), SPAN (3, 9, 10, 0));
}

static void
spans_without_duration_can_be_nested (void **state)
{
  (void) state;
  ASSERT_VISITS ("(1 (2 (3 )5 )5 )5 (4 )6",
                SPAN (1, 0, 5, 0), SPAN (2, 1, 5, 0), SPAN (3, 2, 5, 0),
                SPAN (4, 0, 5, 1));
}

static void
equal_intervals_nest_in_their_order (void **state)
{
  (void) state;
  ASSERT_VISITS ("(7 (6 )9 )9", SPAN (7, 0, 4, 5), SPAN (6, 7, 4, 5));
}

static void
ends_that_overflow_are_cut (void **state)
{
  (void) state;
  ASSERT_VISITS ("(1 (2 )18446744073709551615 )18446744073709551615",
                SPAN (1, 0, 5, UINT64_MAX), SPAN (2, 1, 6, UINT64_MAX));
}

static void
either_function_may_be_missing (void **state)
{
  (void) state;
  static const struct rd_span spans[] = { SPAN (1, 0, 0, 10),
                                          SPAN (2, 1, 1, 4) };
  struct visits visits = { .n = 0 };
  struct rd_nest_visitor visitor = { enter, NULL, &visits };
  assert_ok (rd_nest_visit (spans, 2, &visitor));
  assert_string_equal (visits.text, "(1 (2");
  visitor = (struct rd_nest_visitor) { NULL, leave, &visits };
  assert_ok (rd_nest_visit (spans, 2, &visitor));
  assert_string_equal (visits.text, "(1 (2 )5 )10");
}

static void
count_enter (const struct rd_span *span, uint64_t end_ns, void *context)
{
  (void) span;
  (void) end_ns;
  ++*(size_t *) context;
}

static void
depth_is_not_bounded_by_the_walk (void **state)
{
  (void) state;
  size_t n = 100000, entered = 0;
  struct rd_span *spans = calloc (n, sizeof *spans);
  assert_non_null (spans);
  for (size_t i = 0; i < n; i++)
    spans[i] = (struct rd_span) SPAN ((uint32_t) i + 1, (uint32_t) i, i,
                                      2 * (n - i));
  const struct rd_nest_visitor visitor = { count_enter, NULL, &entered };
  assert_ok (rd_nest_visit (spans, n, &visitor));
  assert_int_equal (entered, n);
  free (spans);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_lane_without_spans_has_no_visits),
    cmocka_unit_test (children_end_before_their_parent),
    cmocka_unit_test (neighbours_that_touch_are_not_nested),
    cmocka_unit_test (a_child_that_sticks_out_ends_with_its_parent),
    cmocka_unit_test (an_instant_at_its_parents_end_is_inside_it),
    cmocka_unit_test (spans_without_duration_can_be_nested),
    cmocka_unit_test (equal_intervals_nest_in_their_order),
    cmocka_unit_test (ends_that_overflow_are_cut),
    cmocka_unit_test (either_function_may_be_missing),
    cmocka_unit_test (depth_is_not_bounded_by_the_walk),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
