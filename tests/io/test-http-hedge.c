/* SPDX-License-Identifier: MIT */
/* Second requests of GETs that take long: when one is made, that either of
 * the two may answer, and that the other does no harm. */
#include <config.h>

#include <time.h>

#include "io/http/engine.h"
#include "tests/alloc-fail.h"
#include "tests/io/http-site.h"
#include "tests/io/store-asserts.h"
#include "tests/profile-tree.h"

#define MS UINT64_C (1000000)
#define NQUICK 20             /* before which no request is hedged */
#define MAX_SAVED 4           /* second requests that are paid for at most */
#define NBYTES 60000          /* of a long answer */

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
#define OK_AND_CLOSE "HTTP/1.1 200 OK\r\nConnection: close\r\n" \
                     "Content-Length: 5\r\n\r\nquick"

/* NQUICK answers pay for one second request.  Then on a busy machine, where
 * an answer may be late that is not meant to be, it is not requested twice. */
static const struct rd_http_options frugal = {
  .nattempts = 4, .first_byte_timeout_ms = 60000, .stall_timeout_ms = 60000,
  .backoff_ms = 1, .nconnections = 16, .hedge_percent = 5,
};

/* For four. */
static const struct rd_http_options generous = {
  .nattempts = 4, .first_byte_timeout_ms = 60000, .stall_timeout_ms = 60000,
  .backoff_ms = 1, .nconnections = 16, .hedge_percent = 20,
};

/* Requests without a hedge end as well; on a busy machine, perhaps before the
 * peer has seen them. */
static const struct rd_http_options impatient = {
  .nattempts = 4, .first_byte_timeout_ms = 500, .stall_timeout_ms = 60000,
  .backoff_ms = 1, .nconnections = 16, .hedge_percent = 20,
};

static int
set_up (void **state)
{
  return http_site_set_up (state, &frugal);
}

/*------------------------------------------------------------------------
 * Tasks
 *----------------------------------------------------------------------*/

static void
submit (struct http_site *site, struct http_job *job)
{
  job->task.into = &job->into;
  job->task.max_nbytes = NBYTES;
  http_job_submit (site, job);
}

static enum radio_status
run (struct http_site *site, struct http_job *job)
{
  submit (site, job);
  return http_job_await (job);
}

static void
assert_body (const struct http_job *job, const char *text)
{
  assert_int_equal (job->into.nbytes, strlen (text));
  assert_memory_equal (job->into.data, text, strlen (text));
}

static void
read_quick (struct http_site *site, unsigned n)
{
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  for (unsigned i = 0; i < n; i++) {
    assert_ok (run (site, &job));
    assert_body (&job, "quick");
    assert_int_equal (job.task.nhedges, 0);
  }
}

/*------------------------------------------------------------------------
 * The server's responses
 *----------------------------------------------------------------------*/

static void
say (struct http_site *site, const char *const *answers, size_t n)
{
  assert_true (n <= sizeof site->answers / sizeof *site->answers);
  http_peer_say (site->peer, NULL, 0);
  http_peer_release (site->peer, 0);
  for (size_t i = 0; i < n; i++)
    site->answers[i] = answers[i];
  http_peer_say (site->peer, site->answers, n);
}

#define SAY(...)                                                \
  do {                                                          \
    const char *const answers_[] = { __VA_ARGS__ };             \
    say (site, answers_, sizeof answers_ / sizeof *answers_);   \
  } while (0)

static void
nap (void)
{
  nanosleep (&(struct timespec) { .tv_nsec = 1000000 }, NULL);
}

/* Waits for all expected requests, for half a minute at most. */
static void
await_all_sent (struct http_site *site)
{
  for (unsigned i = 0; i < 30000; i++, nap ())
    if (http_peer_has_sent_all (site->peer))
      return;
  fail_msg ("not all responses were requested");
}

/* No more requests were sent, and the engine still works. */
static void
assert_all_is_well (struct http_site *site, unsigned nrequests)
{
  assert_int_equal (http_peer_requests (site->peer), nrequests);
  http_peer_say (site->peer, NULL, 0);
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  assert_ok (run (site, &job));
  assert_body (&job, "quick");
}

/*------------------------------------------------------------------------
 * When it is worth it
 *----------------------------------------------------------------------*/

static void
note (struct rd_http_hedges *hedges, size_t n, uint64_t wait_ms)
{
  for (size_t i = 0; i < n; i++)
    rd_http_hedges_add_wait (hedges, wait_ms * MS);
}

static void
nothing_is_worth_it_before_20_answers_and_without_percent (void **state)
{
  (void) state;
  struct rd_http_hedges hedges = { .percent = 100 }, none = { 0 };
  note (&hedges, 19, 10);
  assert_true (rd_http_hedges_after (&hedges) == UINT64_MAX);
  note (&hedges, 1, 10);
  assert_true (rd_http_hedges_after (&hedges) == 200 * MS);
  note (&none, 1000, 10);
  assert_true (rd_http_hedges_after (&none) == UINT64_MAX);
}

static void
hedges_begin_after_1_5_times_the_95th_percentile (void **state)
{
  (void) state;
  struct rd_http_hedges hedges = { .percent = 100 };
  note (&hedges, 95, 400);
  note (&hedges, 5, 5000);
  assert_true (rd_http_hedges_after (&hedges) == 600 * MS);
  /* One in the place of the oldest: now six of a hundred are slower. */
  note (&hedges, 1, 1000);
  assert_true (rd_http_hedges_after (&hedges) == 1500 * MS);
  note (&hedges, 100, 300);
  assert_true (rd_http_hedges_after (&hedges) == 450 * MS);
  rd_http_hedges_add_wait (&hedges, UINT64_MAX);
  assert_true (rd_http_hedges_after (&hedges) == 450 * MS);
}

static void
answers_pay_for_it_by_percents (void **state)
{
  (void) state;
  struct rd_http_hedges hedges = { .percent = 5 };
  unsigned nhedges = 0;
  for (unsigned i = 0; i < 1000; i++) {
    note (&hedges, 1, 1);
    if (rd_http_hedges_after (&hedges) == UINT64_MAX)
      continue;
    rd_http_hedges_spend (&hedges);
    nhedges++;
  }
  assert_int_equal (nhedges, 50);
}

static void
no_more_than_a_few_are_saved_up (void **state)
{
  (void) state;
  struct rd_http_hedges hedges = { .percent = 5 };
  unsigned nhedges = 0;
  note (&hedges, 10000, 1);
  for (; rd_http_hedges_after (&hedges) != UINT64_MAX; nhedges++)
    rd_http_hedges_spend (&hedges);
  assert_int_equal (nhedges, MAX_SAVED);
}

/*------------------------------------------------------------------------
 * Two requests
 *----------------------------------------------------------------------*/

static void
a_stalled_request_is_answered_by_its_hedge (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  read_quick (site, NQUICK);
  http_peer_script (site->peer, HTTP_SILENT, 0, 1);
  assert_ok (run (site, &job));
  assert_body (&job, "quick");
  assert_int_equal (job.task.nattempts, 1);
  assert_int_equal (job.task.nhedges, 1);
  assert_true (job.task.hedge_won);
  assert_int_equal (http_peer_connections (site->peer), 2);
  assert_all_is_well (site, NQUICK + 2);
}

static void
the_first_may_answer_after_all (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  read_quick (site, NQUICK);
  SAY (HTTP_PEER_HOLD_1 OK "first", HTTP_PEER_HOLD_2 OK "other");
  submit (site, &job);
  await_all_sent (site);
  http_peer_release (site->peer, 1);
  assert_ok (http_job_await (&job));
  assert_body (&job, "first");
  assert_int_equal (job.task.nhedges, 1);
  assert_false (job.task.hedge_won);
  /* Too late. */
  http_peer_release (site->peer, 2);
  assert_all_is_well (site, NQUICK + 2);
}

/* While the body of the one that won is on its way: mostly the second. */
static void
a_late_answer_harms_nothing (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  read_quick (site, NQUICK);
  SAY (HTTP_PEER_HOLD_2 OK "first",
       OK "ot" HTTP_PEER_HOLD_3 "her");
  submit (site, &job);
  await_all_sent (site);
  read_quick (site, 3);
  http_peer_release (site->peer, 2);
  read_quick (site, 3);
  http_peer_release (site->peer, 3);
  assert_ok (http_job_await (&job));
  assert_body (&job, job.task.hedge_won ? "other" : "first");
  assert_int_equal (job.task.nhedges, 1);
  assert_all_is_well (site, NQUICK + 8);
}

/* "HOLD OK LETTER..." */
static char *
make_long (const char *hold, char letter)
{
  char *text = malloc (NBYTES + 128);
  assert_non_null (text);
  int n = snprintf (text, 128, "%sHTTP/1.1 200 OK\r\nContent-Length: %d\r\n"
                    "\r\n", hold, NBYTES);
  memset (text + n, letter, NBYTES);
  text[n + NBYTES] = '\0';
  return text;
}

static void
assert_all_of_one (const struct http_job *job)
{
  unsigned char letter = job->task.hedge_won ? 'b' : 'a';
  assert_int_equal (job->into.nbytes, NBYTES);
  for (size_t i = 0; i < NBYTES; i++)
    if (job->into.data[i] != letter)
      fail_msg ("byte %zu is of the other answer", i);
}

static void
answers_at_one_time_are_not_mixed (void **state)
{
  struct http_site *site = *state;
  site->texts[0] = make_long (HTTP_PEER_HOLD_1, 'a');
  site->texts[1] = make_long (HTTP_PEER_HOLD_1, 'b');
  for (unsigned i = 0; i < 5; i++) {
    HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
    http_site_reopen (site, &frugal);
    read_quick (site, NQUICK);
    SAY (site->texts[0], site->texts[1]);
    submit (site, &job);
    await_all_sent (site);
    http_peer_release (site->peer, 1);
    assert_ok (http_job_await (&job));
    assert_int_equal (job.task.nhedges, 1);
    assert_all_of_one (&job);
    assert_all_is_well (site, (NQUICK + 3) * i + NQUICK + 2);
  }
}

static void
a_second_request_that_fails_leaves_the_first_going (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  read_quick (site, NQUICK);
  SAY (HTTP_PEER_HOLD_1 OK "first", NULL);
  submit (site, &job);
  await_all_sent (site);
  /* By the end of these the engine has seen the other connection's. */
  read_quick (site, 5);
  http_peer_release (site->peer, 1);
  assert_ok (http_job_await (&job));
  assert_body (&job, "first");
  assert_int_equal (job.task.nattempts, 1);
  assert_int_equal (job.task.nhedges, 1);
  assert_false (job.task.hedge_won);
  assert_all_is_well (site, NQUICK + 7);
}

/* The first has a new connection, too: on one that was kept, libcurl would
 * ask once more by itself. */
static void
a_first_request_that_fails_leaves_the_second_going (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  read_quick (site, NQUICK - 1);
  SAY (OK_AND_CLOSE);
  read_quick (site, 1);
  SAY (HTTP_PEER_HOLD_1 HTTP_PEER_HANG_UP, HTTP_PEER_HOLD_2 OK "other");
  submit (site, &job);
  await_all_sent (site);
  http_peer_release (site->peer, 1);
  read_quick (site, 5);
  http_peer_release (site->peer, 2);
  assert_ok (http_job_await (&job));
  assert_body (&job, "other");
  assert_int_equal (job.task.nattempts, 1);
  assert_true (job.task.hedge_won);
  assert_all_is_well (site, NQUICK + 7);
}

#define BUSY "HTTP/1.1 503 Slow Down\r\nContent-Length: 4\r\n\r\nbusy"

static void
a_second_request_that_is_put_off_leaves_the_first_going (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  read_quick (site, NQUICK);
  SAY (HTTP_PEER_HOLD_1 OK "first", BUSY);
  submit (site, &job);
  await_all_sent (site);
  read_quick (site, 5);
  http_peer_release (site->peer, 1);
  assert_ok (http_job_await (&job));
  assert_body (&job, "first");
  assert_int_equal (job.task.response.status, 200);
  assert_int_equal (job.task.nattempts, 1);
  assert_int_equal (job.task.nhedges, 1);
  assert_false (job.task.hedge_won);
  assert_all_is_well (site, NQUICK + 7);
}

static void
a_first_request_that_is_put_off_leaves_the_second_going (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  read_quick (site, NQUICK);
  SAY (HTTP_PEER_HOLD_1 BUSY, HTTP_PEER_HOLD_2 OK "other");
  submit (site, &job);
  await_all_sent (site);
  http_peer_release (site->peer, 1);
  read_quick (site, 5);
  http_peer_release (site->peer, 2);
  assert_ok (http_job_await (&job));
  assert_body (&job, "other");
  assert_int_equal (job.task.nattempts, 1);
  assert_true (job.task.hedge_won);
  assert_all_is_well (site, NQUICK + 7);
}

/* After another wait, as long as answers pay for it. */
static void
a_slow_request_is_hedged_after_its_hedge_was_put_off (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  http_site_reopen (site, &generous);
  read_quick (site, NQUICK);
  SAY (HTTP_PEER_HOLD_1 OK "first", BUSY, OK "third");
  submit (site, &job);
  await_all_sent (site);
  assert_ok (http_job_await (&job));
  assert_body (&job, "third");
  assert_int_equal (job.task.nattempts, 1);
  assert_int_equal (job.task.nhedges, 2);
  assert_true (job.task.hedge_won);
  http_peer_release (site->peer, 1);
  assert_all_is_well (site, NQUICK + 3);
}

/* One after the other, or at one time; or the other says nothing at all. */
static void
two_that_are_put_off_are_one_attempt (void **state)
{
  struct http_site *site = *state;
  static const char *const others[] = {
    HTTP_PEER_HOLD_2 BUSY, HTTP_PEER_HOLD_1 BUSY,
    HTTP_PEER_HOLD_2 HTTP_PEER_HANG_UP, HTTP_PEER_HOLD_1 HTTP_PEER_HANG_UP,
  };
  for (unsigned i = 0; i < 4; i++) {
    HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
    http_site_reopen (site, &frugal);
    read_quick (site, NQUICK);
    SAY (HTTP_PEER_HOLD_1 BUSY, others[i], OK "again");
    submit (site, &job);
    /* The third answer is for the attempt that follows. */
    for (unsigned n = 0; n < 30000 && !http_peer_head (site->peer, 1); n++)
      nap ();
    http_peer_release (site->peer, 1);
    if (i % 2 == 0)
      for (unsigned n = 0; n < 20; n++)
        nap ();
    http_peer_release (site->peer, 2);
    assert_ok (http_job_await (&job));
    assert_body (&job, "again");
    assert_int_equal (job.task.nattempts, 2);
    assert_int_equal (job.task.nhedges, 1);
    assert_all_is_well (site, (NQUICK + 4) * i + NQUICK + 3);
  }
}

/* Both are given up, each in its time, then it is tried again. */
static void
two_that_stay_silent_are_one_attempt (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  http_site_reopen (site, &impatient);
  read_quick (site, NQUICK);
  unsigned before = http_peer_requests (site->peer);
  http_peer_script (site->peer, HTTP_SILENT, 0, 1000);
  assert_fails (run (site, &job), RADIO_ERROR_IO, "no data for ");
  assert_non_null (strstr (radio_error_message (), "(4 attempts in "));
  assert_int_equal (job.task.nattempts, 4);
  assert_in_range (job.task.nhedges, 0, 4);
  assert_in_range (http_peer_requests (site->peer) - before, 1,
                   job.task.nattempts + job.task.nhedges);
}

/*------------------------------------------------------------------------
 * Requests that are not sent twice
 *----------------------------------------------------------------------*/

/* A job that stalls once is tried again in its time. */
static void
assert_not_hedged (struct http_site *site, struct http_job *job)
{
  unsigned before = http_peer_requests (site->peer);
  assert_ok (run (site, job));
  assert_int_equal (job->task.nhedges, 0);
  assert_in_range (job->task.nattempts, 2, 4);
  assert_in_range (http_peer_requests (site->peer) - before, 2,
                   job->task.nattempts);
}

static void
nothing_is_hedged_unless_enabled (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  struct rd_http_options options = impatient;
  options.hedge_percent = 0;
  http_site_reopen (site, &options);
  read_quick (site, 2 * NQUICK);
  http_peer_script (site->peer, HTTP_SILENT, 0, 1);
  assert_not_hedged (site, &job);
}

static void
a_request_that_writes_is_never_hedged (void **state)
{
  struct http_site *site = *state;
  static const enum rd_http_method methods[] = {
    RD_HTTP_PUT, RD_HTTP_POST, RD_HTTP_DELETE, RD_HTTP_HEAD,
  };
  http_site_reopen (site, &impatient);
  read_quick (site, NQUICK);
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
    job.task.method = methods[i];
    job.task.is_repeatable = true;
    SAY (HTTP_PEER_HOLD_1, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_not_hedged (site, &job);
  }
}

static void
the_limit_of_requests_at_one_time_holds_for_second_ones (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  struct rd_http_options options = impatient;
  options.nconnections = 1;
  http_site_reopen (site, &options);
  read_quick (site, NQUICK);
  http_peer_script (site->peer, HTTP_SILENT, 0, 1);
  assert_not_hedged (site, &job);
}

/* Their responses earn no more credit. */
static void
few_are_hedged_where_everything_stalls (void **state)
{
  enum { N = 8 };
  struct http_site *site = *state;
  const char *answers[N + MAX_SAVED];
  struct http_job jobs[N];
  unsigned nhedges = 0;
  http_site_reopen (site, &generous);
  read_quick (site, NQUICK);
  for (size_t i = 0; i < N + MAX_SAVED; i++)
    answers[i] = HTTP_PEER_HOLD_1 "HTTP/1.1 404 Not Found\r\n"
                 "Content-Length: 0\r\n\r\n";
  say (site, answers, N + MAX_SAVED);
  for (size_t i = 0; i < N; i++) {
    jobs[i] = (struct http_job) HTTP_JOB_INIT;
    submit (site, &jobs[i]);
  }
  await_all_sent (site);
  http_peer_release (site->peer, 1);
  for (size_t i = 0; i < N; i++) {
    assert_fails (http_job_await (&jobs[i]), RADIO_ERROR_IO, "404");
    nhedges += jobs[i].task.nhedges;
    http_job_free (&jobs[i]);
  }
  assert_int_equal (nhedges, MAX_SAVED);
  assert_all_is_well (site, NQUICK + N + MAX_SAVED);
}

/*------------------------------------------------------------------------
 * Where it cannot be made
 *----------------------------------------------------------------------*/

/* Sign once, and answer the first when the second is refused. */
static enum radio_status
prepare_once (struct rd_http_task *task, struct rd_http_headers *headers)
{
  struct http_job *job = (struct http_job *) task;
  if (++job->nprepared == 1)
    return rd_http_add_header (headers, "X-Attempt: 1");
  http_peer_release (job->site->peer, 1);
  return rd_fail (RADIO_ERROR_PERMISSION, "no more keys");
}

static void
a_second_request_that_cannot_be_signed_is_not_made (void **state)
{
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  job.task.prepare = prepare_once;
  read_quick (site, NQUICK);
  SAY (HTTP_PEER_HOLD_1 OK "first");
  assert_ok (run (site, &job));
  assert_body (&job, "first");
  assert_int_equal (job.nprepared, 2);
  assert_int_equal (job.task.nhedges, 0);
  assert_all_is_well (site, NQUICK + 1);
}

/* On the engine's thread, whose next allocation is the second request's. */
static enum radio_status
prepare_want (struct rd_http_task *task, struct rd_http_headers *headers)
{
  struct http_job *job = (struct http_job *) task;
  (void) headers;
  job->nprepared++;
  alloc_fail_nth (1);
  return RADIO_OK;
}

/* The body shows whether an allocation failed until then. */
static enum radio_status
conclude_want (struct rd_http_task *task, const struct rd_buffer *problem,
               enum rd_http_next *next)
{
  (void) problem, (void) next;
  *(bool *) task->user_data = alloc_fail_end ();
  return RADIO_OK;
}

/* True if a hedge was tried before the first response. */
static bool
read_without_memory (struct http_site *site, unsigned ms)
{
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  bool did_fail = false;
  job.task.prepare = prepare_want;
  job.task.conclude = conclude_want;
  job.task.user_data = &did_fail;
  assert_ok (rd_buffer_reserve (&job.into, NBYTES));
  SAY (HTTP_PEER_HOLD_1 OK "first");
  submit (site, &job);
  while (ms-- > 0)
    nap ();
  http_peer_release (site->peer, 1);
  assert_ok (http_job_await (&job));
  assert_body (&job, "first");
  assert_int_equal (job.nprepared, 1);
  assert_int_equal (job.task.nhedges, 0);
  return did_fail;
}

/* The attempt cannot be observed, so the response comes after a delay. */
static void
a_second_request_without_memory_is_not_made (void **state)
{
  struct http_site *site = *state;
  unsigned ms = 500, n = 1;
  read_quick (site, NQUICK);
  for (; !read_without_memory (site, ms); ms *= 2, n++)
    assert_true (ms < 30000);
  assert_all_is_well (site, NQUICK + n);
}

/*------------------------------------------------------------------------
 * Profiles
 *----------------------------------------------------------------------*/

#ifndef RADIO_NO_PROFILE
static void
profiles_show_hedges (void **state)
{
  static const struct radio_site get_site = {
    "get", "network", "", "", 1, RADIO_SCOPE_WORK
  };
  struct http_site *site = *state;
  HTTP_JOB_SCOPE struct http_job job = HTTP_JOB_INIT;
  bool is_name;
  read_quick (site, NQUICK);
  http_peer_script (site->peer, HTTP_SILENT, 0, 1);
  struct radio_recorder *recorder = tree_begin ();
  job.task.request = radio_async_begin (&get_site);
  assert_ok (run (site, &job));
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_counter (profile, "get", "hedges"), 1);
  assert_int_equal (tree_counter (profile, "get", "retries"), 0);
  assert_string_equal (tree_note (profile, "hedge", &is_name), "won");
  assert_int_equal (tree_calls (profile, "get/hedge"), 1);
  radio_profile_close (profile);
}
#endif

#define SITE_TEST(fn) cmocka_unit_test_setup_teardown (fn, set_up, \
                                   http_site_tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (
      nothing_is_worth_it_before_20_answers_and_without_percent),
    cmocka_unit_test (hedges_begin_after_1_5_times_the_95th_percentile),
    cmocka_unit_test (answers_pay_for_it_by_percents),
    cmocka_unit_test (no_more_than_a_few_are_saved_up),
    SITE_TEST (a_stalled_request_is_answered_by_its_hedge),
    SITE_TEST (the_first_may_answer_after_all),
    SITE_TEST (a_late_answer_harms_nothing),
    SITE_TEST (answers_at_one_time_are_not_mixed),
    SITE_TEST (a_second_request_that_fails_leaves_the_first_going),
    SITE_TEST (a_first_request_that_fails_leaves_the_second_going),
    SITE_TEST (a_second_request_that_is_put_off_leaves_the_first_going),
    SITE_TEST (a_first_request_that_is_put_off_leaves_the_second_going),
    SITE_TEST (a_slow_request_is_hedged_after_its_hedge_was_put_off),
    SITE_TEST (two_that_are_put_off_are_one_attempt),
    SITE_TEST (two_that_stay_silent_are_one_attempt),
    SITE_TEST (nothing_is_hedged_unless_enabled),
    SITE_TEST (a_request_that_writes_is_never_hedged),
    SITE_TEST (the_limit_of_requests_at_one_time_holds_for_second_ones),
    SITE_TEST (few_are_hedged_where_everything_stalls),
    SITE_TEST (a_second_request_that_cannot_be_signed_is_not_made),
    SITE_TEST (a_second_request_without_memory_is_not_made),
#ifndef RADIO_NO_PROFILE
    SITE_TEST (profiles_show_hedges),
#endif
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
