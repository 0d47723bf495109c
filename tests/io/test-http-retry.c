/* SPDX-License-Identifier: MIT */
/* How much is asked for at one time: less by half where the other side says
 * that it is too much, then slowly more. */
#include <config.h>

#include "io/http/engine.h"
#include "tests/unit.h"

#define MOST 8

static struct rd_http_retry_policy
begin (void)
{
  const struct rd_http_options options = { .nconnections = MOST };
  struct rd_http_retry_policy manners;
  rd_http_retry_init (&manners, &options);
  assert_int_equal (manners.limit, MOST);
  return manners;
}

static void
praise (struct rd_http_retry_policy *manners, unsigned n)
{
  const struct rd_http_task task = { .nattempts = 1 };
  while (n-- > 0)
    rd_http_retry_on_success (manners, &task);
}

static void
who_says_that_it_is_too_much_is_asked_for_half (void **state)
{
  (void) state;
  static const unsigned limits[] = { 4, 2, 1, 1 };
  struct rd_http_retry_policy manners = begin ();
  for (uint64_t i = 0; i < 4; i++) {
    uint64_t now_ns = 10 * (i + 1);
    rd_http_retry_on_throttle (&manners, i % 2 ? 429 : 503, now_ns - 1, now_ns);
    assert_int_equal (manners.limit, limits[i]);
  }
}

static void
all_that_were_under_way_are_heeded_once (void **state)
{
  (void) state;
  struct rd_http_retry_policy manners = begin ();
  for (uint64_t begin_ns = 1; begin_ns < 10; begin_ns++)
    rd_http_retry_on_throttle (&manners, 503, begin_ns, 10 + begin_ns);
  assert_int_equal (manners.limit, MOST / 2);
}

static void
other_failures_do_not_say_that_it_is_too_much (void **state)
{
  (void) state;
  static const unsigned statuses[] = { 200, 404, 408, 500, 502, 504 };
  struct rd_http_retry_policy manners = begin ();
  for (uint64_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
    rd_http_retry_on_throttle (&manners, statuses[i], i, i + 1);
  assert_int_equal (manners.limit, MOST);
}

static void
one_more_is_asked_for_after_as_many_answers (void **state)
{
  (void) state;
  struct rd_http_retry_policy manners = begin ();
  rd_http_retry_on_throttle (&manners, 503, 1, 2);
  for (unsigned limit = MOST / 2; limit < MOST; limit++) {
    praise (&manners, limit - 1);
    assert_int_equal (manners.limit, limit);
    praise (&manners, 1);
    assert_int_equal (manners.limit, limit + 1);
  }
  praise (&manners, 10 * MOST);
  assert_int_equal (manners.limit, MOST);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (who_says_that_it_is_too_much_is_asked_for_half),
    cmocka_unit_test (all_that_were_under_way_are_heeded_once),
    cmocka_unit_test (other_failures_do_not_say_that_it_is_too_much),
    cmocka_unit_test (one_more_is_asked_for_after_as_many_answers),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
