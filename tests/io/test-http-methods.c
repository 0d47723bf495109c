/* SPDX-License-Identifier: MIT */
/* Tasks of the HTTP engine that do more than read: the requests of each
 * attempt, and the results of the answers. */
#include <config.h>

#include "tests/io/http-site.h"
#include "tests/io/store-asserts.h"

#define OK_EMPTY "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define BUSY "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n"
#define BROKEN "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"
#define DENIED "HTTP/1.1 403 No\r\nContent-Length: 4\r\n\r\nwhy!"

/* A task, and the behaviour of its callbacks. */
struct job {
  struct http_job base;               /* first */
  unsigned nconcluded;
  enum rd_http_next next;             /* of a problem */
  char problem[64];
  size_t problem_nbytes;
};

static const struct rd_http_options hasty = {
  .nattempts = 4, .first_byte_timeout_ms = 60000, .stall_timeout_ms = 60000,
  .backoff_ms = 1, .nconnections = 4,
};

static int
set_up (void **state)
{
  return http_site_set_up (state, &hasty);
}

static enum radio_status
prepare (struct rd_http_task *task, struct rd_http_headers *headers)
{
  struct job *job = (struct job *) task;
  char line[32];
  snprintf (line, sizeof line, "X-Attempt: %u", ++job->base.nprepared);
  return rd_http_add_header (headers, line);
}

static enum radio_status
conclude (struct rd_http_task *task, const struct rd_buffer *problem,
          enum rd_http_next *next)
{
  struct job *job = (struct job *) task;
  job->nconcluded++;
  if (task->response.status == 200)
    return RADIO_OK;
  job->problem_nbytes = problem->nbytes;
  snprintf (job->problem, sizeof job->problem, "%.*s", (int) problem->nbytes,
            problem->data ? (const char *) problem->data : "");
  *next = job->next;
  return rd_fail (RADIO_ERROR_PERMISSION, "refused: %s", job->problem);
}

#define JOB_INIT { .base = HTTP_JOB_INIT }

static enum radio_status
run (struct http_site *site, struct job *job)
{
  return http_job_run (site, &job->base);
}

#define SAY(...) \
  const char *const answers_[] = { __VA_ARGS__ }; \
  http_peer_say (site->peer, NULL, 0); \
  http_peer_say (site->peer, answers_, sizeof answers_ / sizeof answers_[0])

static void
assert_heard (struct http_site *site, size_t i, const char *part)
{
  const char *head = http_peer_head (site->peer, i);
  assert_non_null (head);
  if (!strstr (head, part))
    fail_msg ("'%s' is not in\n%s", part, head);
}

static void
assert_unheard (struct http_site *site, size_t i, const char *part)
{
  const char *head = http_peer_head (site->peer, i);
  assert_non_null (head);
  assert_null (strcasestr (head, part));
}

/*------------------------------------------------------------------------
 * Requests
 *----------------------------------------------------------------------*/

static void
each_method_is_sent_by_its_name (void **state)
{
  struct http_site *site = *state;
  static const struct {
    enum rd_http_method method;
    const char *line;
  } rows[] = {
    { RD_HTTP_GET, "GET /data/key HTTP/1.1\r\n" },
    { RD_HTTP_HEAD, "HEAD /data/key HTTP/1.1\r\n" },
    { RD_HTTP_PUT, "PUT /data/key HTTP/1.1\r\n" },
    { RD_HTTP_POST, "POST /data/key HTTP/1.1\r\n" },
    { RD_HTTP_DELETE, "DELETE /data/key HTTP/1.1\r\n" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct job job = JOB_INIT;
    SAY (OK_EMPTY);
    job.base.task.method = rows[i].method;
    assert_ok (run (site, &job));
    assert_heard (site, 0, rows[i].line);
    assert_unheard (site, 0, "Expect");
    assert_unheard (site, 0, "Transfer-Encoding");
  }
}

static void
a_body_of_many_parts_is_sent_whole_with_its_length (void **state)
{
  enum { N = 500, NBYTES = 3001 };
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  unsigned char *bytes = make_bytes (N * NBYTES);
  struct rd_part *parts = calloc (2 * N, sizeof *parts);
  const struct rd_buffer *body;
  assert_non_null (parts);
  for (size_t i = 0; i < N; i++)      /* and as many empty ones */
    parts[2 * i] = (struct rd_part) { bytes + i * NBYTES, NBYTES };
  for (int method = RD_HTTP_PUT; method <= RD_HTTP_POST; method++) {
    SAY (OK_EMPTY);
    job.base.task.method = (enum rd_http_method) method;
    job.base.task.parts = parts;
    job.base.task.nparts = 2 * N;
    assert_ok (run (site, &job));
    body = http_peer_body (site->peer, 0);
    assert_heard (site, 0, "\r\nContent-Length: 1500500\r\n");
    assert_unheard (site, 0, "Expect");
    assert_unheard (site, 0, "Content-Type");
    assert_int_equal (body->nbytes, N * NBYTES);
    assert_memory_equal (body->data, bytes, N * NBYTES);
  }
  free (parts);
  free (bytes);
}

static void
an_empty_body_has_the_length_zero (void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  SAY (OK_EMPTY, OK_EMPTY);
  job.base.task.method = RD_HTTP_PUT;
  assert_ok (run (site, &job));
  job.base.task.method = RD_HTTP_POST;
  assert_ok (run (site, &job));
  for (size_t i = 0; i < 2; i++)
    assert_heard (site, i, "\r\nContent-Length: 0\r\n");
}

static void
every_attempt_has_headers_of_its_own_and_the_body_from_its_begin (
  void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  const struct rd_part parts[] = { { "one ", 4 }, { "two", 3 } };
  SAY (BUSY, NULL, OK_EMPTY);
  job.base.task.method = RD_HTTP_PUT;
  job.base.task.parts = parts;
  job.base.task.nparts = 2;
  job.base.task.prepare = prepare;
  assert_ok (run (site, &job));
  assert_int_equal (job.base.task.nattempts, 3);
  for (size_t i = 0; i < 3; i++) {
    const struct rd_buffer *body = http_peer_body (site->peer, i);
    char line[32];
    snprintf (line, sizeof line, "\r\nX-Attempt: %zu\r\n", i + 1);
    assert_heard (site, i, line);
    assert_int_equal (body->nbytes, 7);
    assert_memory_equal (body->data, "one two", 7);
  }
}

/* The server says good-bye to a connection that is kept. */
static void
a_connection_that_was_closed_meanwhile_costs_nothing_but_is_ambiguous (
  void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  SAY (OK_EMPTY, NULL, OK_EMPTY);
  job.base.task.method = RD_HTTP_PUT;
  job.base.task.parts = &(struct rd_part) { "body", 4 };
  job.base.task.nparts = 1;
  assert_ok (run (site, &job));
  assert_false (job.base.task.is_ambiguous);
  assert_ok (run (site, &job));
  assert_true (job.base.task.is_ambiguous);
  assert_true (http_peer_has_sent_all (site->peer));
  assert_int_equal (http_peer_body (site->peer, 2)->nbytes, 4);
}

static void
a_path_with_dots_goes_out_as_it_is (void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  char url[128];
  SAY (OK_EMPTY);
  snprintf (url, sizeof url, "%s/a/../b/./c//d", http_peer_url (site->peer));
  job.base.task.url = url;
  job.base.task.method = RD_HTTP_DELETE;
  assert_ok (run (site, &job));
  assert_heard (site, 0, "DELETE /data/a/../b/./c//d HTTP/1.1\r\n");
}

/*------------------------------------------------------------------------
 * Responses
 *----------------------------------------------------------------------*/

static void
the_words_of_a_refusal_are_kept (void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  SAY (DENIED);
  job.base.task.method = RD_HTTP_PUT;
  job.base.task.conclude = conclude;
  assert_fails (run (site, &job), RADIO_ERROR_PERMISSION, "refused: why!");
  assert_string_equal (job.problem, "why!");
  assert_int_equal (job.base.task.nattempts, 1);
}

static void
a_refusal_of_endless_words_is_kept_in_part (void **state)
{
  enum { N = 300000 };
  struct http_site *site = *state;
  char *answer = site->texts[0] = malloc (N + 1);
  assert_non_null (answer);
  int n = snprintf (answer, N, "HTTP/1.1 403 No\r\n\r\n");
  memset (answer + n, 'x', (size_t) (N - n));
  answer[N] = '\0';
  struct job job = JOB_INIT;
  SAY (answer);
  job.base.task.conclude = conclude;
  assert_fails (run (site, &job), RADIO_ERROR_PERMISSION, "refused: xxx");
  assert_int_equal (job.problem_nbytes, RD_HTTP_MAX_ERROR_NBYTES);
  assert_int_equal (job.base.task.nattempts, 1);
}

static void
a_task_decides_which_failures_are_retried (void **state)
{
  struct http_site *site = *state;
  static const enum rd_http_next rows[] = {
    RD_HTTP_RETRY_NOW, RD_HTTP_RETRY_LATER, RD_HTTP_RETRY_SLOWER,
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct job job = JOB_INIT;
    SAY (DENIED, OK_EMPTY);
    job.next = rows[i];
    job.base.task.prepare = prepare;
    job.base.task.conclude = conclude;
    assert_ok (run (site, &job));
    assert_int_equal (job.base.nprepared, 2);
    assert_int_equal (job.nconcluded, 2);
  }
}

static void
the_attempts_of_a_task_come_to_an_end (void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  SAY (DENIED, DENIED, DENIED, DENIED, DENIED);
  job.next = RD_HTTP_RETRY_NOW;
  job.base.task.conclude = conclude;
  assert_fails (run (site, &job), RADIO_ERROR_PERMISSION,
                "refused: why! (4 attempts in ");
  assert_int_equal (job.nconcluded, 4);
}

static void
a_request_that_is_not_repeatable_is_not_retried (void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  job.base.task.method = RD_HTTP_POST;
  {
    SAY (NULL, OK_EMPTY);
    assert_fails (run (site, &job), RADIO_ERROR_IO, "data/key: ");
    assert_true (job.base.task.is_ambiguous);
    assert_false (http_peer_has_sent_all (site->peer));
  }
  {
    SAY (BROKEN, OK_EMPTY);
    assert_fails (run (site, &job), RADIO_ERROR_IO, "status 500");
    assert_false (http_peer_has_sent_all (site->peer));
  }
  SAY (NULL, BROKEN, OK_EMPTY);
  job.base.task.is_repeatable = true;
  assert_ok (run (site, &job));
  assert_true (http_peer_has_sent_all (site->peer));
}

static void
headers_of_ones_own_do_not_follow_a_redirection (void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  SAY ("HTTP/1.1 307 Go\r\nLocation: /there/key\r\nContent-Length: 0\r\n\r\n",
       OK_EMPTY);
  job.base.task.prepare = prepare;
  assert_fails (run (site, &job), RADIO_ERROR_IO, "status 307");
  assert_false (http_peer_has_sent_all (site->peer));
}

static void
the_date_and_the_region_of_an_answer_are_read (void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  SAY ("HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
       "X-Amz-Bucket-Region: eu-central-1\r\nContent-Length: 0\r\n\r\n",
       "HTTP/1.1 200 OK\r\nDate: tomorrow?\r\nContent-Length: 0\r\n\r\n");
  assert_ok (run (site, &job));
  assert_int_equal (job.base.task.response.date_s, 784111777);
  assert_string_equal (job.base.task.response.region, "eu-central-1");
  assert_ok (run (site, &job));
  assert_true (job.base.task.response.date_s == -1);
  assert_string_equal (job.base.task.response.region, "");
}

static void
the_body_of_an_answer_is_read_as_far_as_it_is_wanted (void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  RD_BUFFER_SCOPE struct rd_buffer into = { 0 };
  SAY ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  job.base.task.method = RD_HTTP_POST;
  job.base.task.into = &into;
  job.base.task.max_nbytes = 5;
  assert_ok (run (site, &job));
  assert_int_equal (into.nbytes, 5);
  assert_memory_equal (into.data, "hello", 5);
  job.base.task.max_nbytes = 4;
  assert_fails (run (site, &job), RADIO_ERROR_LIMIT, "more than 4 bytes");
}

/* It is looked at, for how long it takes, while nothing more comes. */
static void
an_unwanted_body_that_stalls_is_requested_again (void **state)
{
  struct http_site *site = *state;
  struct job job = JOB_INIT;
  const struct rd_http_options impatient = {
    .nattempts = 4, .stall_timeout_ms = 250, .backoff_ms = 1,
  };
  SAY ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", OK_EMPTY);
  rd_http_close (site->http);
  assert_ok (rd_http_open (&impatient, &site->http));
  job.base.task.method = RD_HTTP_PUT;
  assert_ok (run (site, &job));
  assert_int_equal (job.base.task.nattempts, 2);
}

#define SITE_TEST(fn) cmocka_unit_test_setup_teardown (fn, set_up, \
                                   http_site_tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    SITE_TEST (each_method_is_sent_by_its_name),
    SITE_TEST (a_body_of_many_parts_is_sent_whole_with_its_length),
    SITE_TEST (an_empty_body_has_the_length_zero),
    SITE_TEST (
      every_attempt_has_headers_of_its_own_and_the_body_from_its_begin),
    SITE_TEST (
      a_connection_that_was_closed_meanwhile_costs_nothing_but_is_ambiguous),
    SITE_TEST (a_path_with_dots_goes_out_as_it_is),
    SITE_TEST (the_words_of_a_refusal_are_kept),
    SITE_TEST (a_refusal_of_endless_words_is_kept_in_part),
    SITE_TEST (a_task_decides_which_failures_are_retried),
    SITE_TEST (the_attempts_of_a_task_come_to_an_end),
    SITE_TEST (a_request_that_is_not_repeatable_is_not_retried),
    SITE_TEST (headers_of_ones_own_do_not_follow_a_redirection),
    SITE_TEST (the_date_and_the_region_of_an_answer_are_read),
    SITE_TEST (an_unwanted_body_that_stalls_is_requested_again),
    SITE_TEST (the_body_of_an_answer_is_read_as_far_as_it_is_wanted),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
