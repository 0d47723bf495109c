/* SPDX-License-Identifier: MIT */
/* Tasks of the HTTP engine that their caller ends early: a silent server, a
 * wait for a retry and a place in the queue end at once, others go on. */
#include <config.h>

#include "src/base/now.h"
#include "tests/io/http-site.h"
#include "tests/io/store-asserts.h"

/* No timeout of the engine's own ends anything here. */
static const struct rd_http_options patient = {
  .nattempts = 8, .first_byte_timeout_ms = 600000,
  .stall_timeout_ms = 600000, .deadline_ms = 600000, .backoff_ms = 600000,
  .nconnections = 2,
};

#define BUSY_LATER "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n" \
  "Retry-After: 20\r\n\r\n"

static int
set_up (void **state)
{
  return http_site_set_up (state, &patient);
}

static void
a_silent_server_is_left_when_the_caller_cancels (void **state)
{
  struct http_site *site = *state;
  struct rd_io_stop stop = { .deadline_ns = UINT64_MAX };
  HTTP_JOB_SCOPE struct http_job silent = HTTP_JOB_INIT;
  HTTP_JOB_SCOPE struct http_job other = HTTP_JOB_INIT;
  http_peer_script (site->peer, HTTP_SILENT, 0, 1);
  silent.task.stop = &stop;
  http_job_submit (site, &silent);
  while (http_peer_requests (site->peer) == 0)
    sched_yield ();
  assert_ok (http_job_run (site, &other));
  atomic_store (&stop.is_cancelled, true);
  rd_http_wake (site->http);
  assert_fails (http_job_await (&silent), RADIO_ERROR_CANCELLED,
                "/key: cancelled");
  assert_ok (http_job_run (site, &other));
}

static void
a_silent_server_is_left_at_the_callers_deadline (void **state)
{
  struct http_site *site = *state;
  struct rd_io_stop stop = { .deadline_ns = rd_now_ns () + 50000000 };
  HTTP_JOB_SCOPE struct http_job silent = HTTP_JOB_INIT;
  http_peer_script (site->peer, HTTP_SILENT, 0, 1);
  silent.task.stop = &stop;
  assert_fails (http_job_run (site, &silent), RADIO_ERROR_TIMEOUT,
                "/key: not done by the deadline");
  assert_true (rd_now_ns () >= stop.deadline_ns);
}

static void
waiting_for_a_retry_ends_at_the_callers_deadline (void **state)
{
  struct http_site *site = *state;
  struct rd_io_stop stop = { .deadline_ns = rd_now_ns () + 50000000 };
  HTTP_JOB_SCOPE struct http_job busy = HTTP_JOB_INIT;
  site->answers[0] = BUSY_LATER;
  http_peer_say (site->peer, site->answers, 1);
  busy.task.stop = &stop;
  assert_fails (http_job_run (site, &busy), RADIO_ERROR_TIMEOUT, "/key");
  assert_ok (http_job_run (site, &(struct http_job) HTTP_JOB_INIT));
}

/* Both connections are taken by silent requests. */
static void
a_task_in_the_queue_ends_when_it_is_cancelled (void **state)
{
  struct http_site *site = *state;
  struct rd_io_stop stops[2] = {
    { .deadline_ns = UINT64_MAX }, { .deadline_ns = UINT64_MAX },
  };
  struct http_job silent[2] = { HTTP_JOB_INIT, HTTP_JOB_INIT };
  HTTP_JOB_SCOPE struct http_job queued = HTTP_JOB_INIT;
  http_peer_script (site->peer, HTTP_SILENT, 0, 2);
  for (int i = 0; i < 2; i++) {
    silent[i].task.stop = &stops[0];
    http_job_submit (site, &silent[i]);
  }
  while (http_peer_requests (site->peer) < 2)
    sched_yield ();
  queued.task.stop = &stops[1];
  http_job_submit (site, &queued);
  atomic_store (&stops[1].is_cancelled, true);
  rd_http_wake (site->http);
  assert_fails (http_job_await (&queued), RADIO_ERROR_CANCELLED, "cancelled");
  atomic_store (&stops[0].is_cancelled, true);
  rd_http_wake (site->http);
  for (int i = 0; i < 2; i++) {
    assert_fails (http_job_await (&silent[i]), RADIO_ERROR_CANCELLED, "key");
    http_job_free (&silent[i]);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (
      a_silent_server_is_left_when_the_caller_cancels, set_up,
      http_site_tear_down),
    cmocka_unit_test_setup_teardown (
      a_silent_server_is_left_at_the_callers_deadline, set_up,
      http_site_tear_down),
    cmocka_unit_test_setup_teardown (
      waiting_for_a_retry_ends_at_the_callers_deadline, set_up,
      http_site_tear_down),
    cmocka_unit_test_setup_teardown (
      a_task_in_the_queue_ends_when_it_is_cancelled, set_up,
      http_site_tear_down),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
