/* SPDX-License-Identifier: MIT */
/* The retry policy's limit of concurrent requests: halved when the server
 * throttles, then raised slowly. */
#include <config.h>

#include "io/http/engine.h"
#include "tests/unit.h"

#define MOST 8

static struct rd_http_retry_policy
begin (void)
{
  const struct rd_http_options options = { .nconnections = MOST };
  struct rd_http_retry_policy policy;
  rd_http_retry_init (&policy, &options);
  assert_int_equal (policy.limit, MOST);
  return policy;
}

static void
succeed (struct rd_http_retry_policy *policy, unsigned n)
{
  const struct rd_http_task task = { .nattempts = 1 };
  while (n-- > 0)
    rd_http_retry_on_success (policy, &task);
}

static void
throttling_halves_the_limit (void **state)
{
  (void) state;
  static const unsigned limits[] = { 4, 2, 1, 1 };
  struct rd_http_retry_policy policy = begin ();
  for (uint64_t i = 0; i < 4; i++) {
    uint64_t now_ns = 10 * (i + 1);
    rd_http_retry_on_throttle (&policy, i % 2 ? 429 : 503, now_ns - 1,
                               now_ns);
    assert_int_equal (policy.limit, limits[i]);
  }
}

static void
active_requests_halve_the_limit_once (void **state)
{
  (void) state;
  struct rd_http_retry_policy policy = begin ();
  for (uint64_t begin_ns = 1; begin_ns < 10; begin_ns++)
    rd_http_retry_on_throttle (&policy, 503, begin_ns, 10 + begin_ns);
  assert_int_equal (policy.limit, MOST / 2);
}

static void
other_failures_do_not_lower_the_limit (void **state)
{
  (void) state;
  static const unsigned statuses[] = { 200, 404, 408, 500, 502, 504 };
  struct rd_http_retry_policy policy = begin ();
  for (uint64_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
    rd_http_retry_on_throttle (&policy, statuses[i], i, i + 1);
  assert_int_equal (policy.limit, MOST);
}

static void
the_limit_grows_by_one_after_as_many_answers (void **state)
{
  (void) state;
  struct rd_http_retry_policy policy = begin ();
  rd_http_retry_on_throttle (&policy, 503, 1, 2);
  for (unsigned limit = MOST / 2; limit < MOST; limit++) {
    succeed (&policy, limit - 1);
    assert_int_equal (policy.limit, limit);
    succeed (&policy, 1);
    assert_int_equal (policy.limit, limit + 1);
  }
  succeed (&policy, 10 * MOST);
  assert_int_equal (policy.limit, MOST);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (throttling_halves_the_limit),
    cmocka_unit_test (active_requests_halve_the_limit_once),
    cmocka_unit_test (other_failures_do_not_lower_the_limit),
    cmocka_unit_test (the_limit_grows_by_one_after_as_many_answers),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
