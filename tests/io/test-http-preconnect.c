/* SPDX-License-Identifier: MIT */
/* Connections that are opened before a request needs them: the next wave of
 * requests uses them, a failed one makes no request slower, and none stays
 * open at the end. */
#include <config.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/http/engine.h"
#include "tests/io/http-site.h"
#include "tests/io/store-asserts.h"
#include "tests/profile-tree.h"

#define NPRECONNECT 4
#define NWAVE (NPRECONNECT + 1)

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
#define OK_AND_CLOSE "HTTP/1.1 200 OK\r\nConnection: close\r\n" \
                     "Content-Length: 5\r\n\r\nquick"

/* Whatever the machine does meanwhile, they are there for the next wave. */
static const struct rd_http_options preconnect_options = {
  .nattempts = 4, .first_byte_timeout_ms = 60000, .stall_timeout_ms = 60000,
  .backoff_ms = 1, .nconnections = 16, .npreconnect = NPRECONNECT,
  .preconnect_idle_ms = 600000,
};

static int
set_up (void **state)
{
  return http_site_set_up (state, &preconnect_options);
}

/*------------------------------------------------------------------------
 * Tasks
 *----------------------------------------------------------------------*/

static void
submit (struct http_site *site, struct http_job *job)
{
  job->task.into = &job->into;
  job->task.max_nbytes = 100;
  http_job_submit (site, job);
}

static void
await_quick (struct http_job *job)
{
  assert_ok (http_job_await (job));
  assert_int_equal (job->into.nbytes, 5);
  assert_memory_equal (job->into.data, "quick", 5);
  http_job_free (job);
}

/* Reads once, and returns the number of attempts. */
static unsigned
read_once (struct http_site *site)
{
  struct http_job job = HTTP_JOB_INIT;
  submit (site, &job);
  await_quick (&job);
  return job.task.nattempts;
}

static void
nap (void)
{
  nanosleep (&(struct timespec) { .tv_nsec = 1000000 }, NULL);
}

/* Waits until the peer has accepted n, for half a minute at most. */
static void
await_connections (struct http_site *site, unsigned n)
{
  for (unsigned i = 0; i < 30000; i++, nap ())
    if (http_peer_connections (site->peer) == n)
      return;
  fail_msg ("%u connections, not %u", http_peer_connections (site->peer), n);
}

static void
await_open_connections (struct http_site *site, unsigned n)
{
  for (unsigned i = 0; i < 30000; i++, nap ())
    if (http_peer_open_connections (site->peer) == n)
      return;
  fail_msg ("%u open connections, not %u",
            http_peer_open_connections (site->peer), n);
}

/* One request, and the connections that come with it. */
static void
begin (struct http_site *site)
{
  assert_int_equal (read_once (site), 1);
  await_connections (site, 1 + NPRECONNECT);
}

static const struct radio_site get_site = {
  "get", "network", "", "", 1, RADIO_SCOPE_WORK
};

/* So many at one time, each tried once. */
static void
read_wave (struct http_site *site)
{
  static const char *const answers[NWAVE] = {
    HTTP_PEER_HOLD_1 OK "quick", HTTP_PEER_HOLD_1 OK "quick",
    HTTP_PEER_HOLD_1 OK "quick", HTTP_PEER_HOLD_1 OK "quick",
    HTTP_PEER_HOLD_1 OK "quick",
  };
  struct http_job jobs[NWAVE];
  http_peer_release (site->peer, 0);
  http_peer_say (site->peer, answers, NWAVE);
  for (size_t i = 0; i < NWAVE; i++) {
    jobs[i] = (struct http_job) HTTP_JOB_INIT;
    jobs[i].task.request = radio_async_begin (&get_site);
    submit (site, &jobs[i]);
  }
  for (unsigned i = 0; i < 30000 && !http_peer_has_sent_all (site->peer); i++)
    nap ();
  http_peer_release (site->peer, 1);
  for (size_t i = 0; i < NWAVE; i++) {
    await_quick (&jobs[i]);
    assert_int_equal (jobs[i].task.nattempts, 1);
  }
  http_peer_say (site->peer, NULL, 0);
}

/*------------------------------------------------------------------------
 * Use of idle connections
 *----------------------------------------------------------------------*/

static void
the_first_connection_brings_more_and_the_next_wave_takes_them (void **state)
{
  struct http_site *site = *state;
  begin (site);
  read_wave (site);
  read_wave (site);
  assert_int_equal (http_peer_connections (site->peer), 1 + NPRECONNECT);
}

static void
there_are_none_unless_enabled (void **state)
{
  struct http_site *site = *state;
  struct rd_http_options options = preconnect_options;
  options.npreconnect = 0;
  http_site_reopen (site, &options);
  read_once (site);
  read_wave (site);
  assert_int_equal (http_peer_connections (site->peer), NWAVE);
}

static void
they_are_within_the_limit_of_connections (void **state)
{
  struct http_site *site = *state;
  struct rd_http_options options = preconnect_options;
  options.nconnections = 3;
  http_site_reopen (site, &options);
  read_once (site);
  await_connections (site, 3);
  for (unsigned i = 0; i < 10; i++)
    read_once (site);
  assert_int_equal (http_peer_connections (site->peer), 3);
}

/* The proxy is at the peer's own address; the host name is not resolved. */
static void
with_a_proxy_they_lead_to_the_proxy (void **state)
{
  struct http_site *site = *state;
  struct rd_http_options options = preconnect_options;
  static const char *const answers[] = { OK "quick" };
  options.proxy = http_peer_url (site->peer);
  http_site_reopen (site, &options);
  snprintf (site->url, sizeof site->url, "http://nowhere.invalid/key");
  http_peer_say (site->peer, answers, 1);
  begin (site);
  read_wave (site);
  assert_int_equal (http_peer_connections (site->peer), 1 + NPRECONNECT);
}

#ifndef RADIO_NO_PROFILE
static void
profiles_count_preconnected_sockets (void **state)
{
  struct http_site *site = *state;
  begin (site);
  struct radio_recorder *recorder = tree_begin ();
  read_wave (site);
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_total (profile, "connected ahead"), NPRECONNECT);
  assert_int_equal (tree_calls_of (profile, "connect"), NPRECONNECT);
  radio_profile_close (profile);
}
#endif

/*------------------------------------------------------------------------
 * Failures
 *----------------------------------------------------------------------*/

static void
those_that_were_closed_meanwhile_are_not_used (void **state)
{
  struct http_site *site = *state;
  begin (site);
  http_peer_hang_up (site->peer);
  await_open_connections (site, 0);
  read_wave (site);
  assert_int_equal (http_peer_connections (site->peer),
                    1 + NPRECONNECT + NWAVE);
}

/* As with a connection that was kept: at once, and without a cost. */
static void
one_that_closes_under_a_request_is_no_failure (void **state)
{
  struct http_site *site = *state;
  static const char *const answers[] = { OK_AND_CLOSE, NULL, OK "quick" };
  http_peer_say (site->peer, answers, 3);
  begin (site);
  struct http_job job = HTTP_JOB_INIT;
  submit (site, &job);
  await_quick (&job);
  assert_int_equal (job.task.nattempts, 2);
  assert_int_equal (job.task.ntokens, 0);
  assert_int_equal (http_peer_connections (site->peer), 2 + NPRECONNECT);
}

static void
a_request_that_must_not_be_repeated_uses_none (void **state)
{
  struct http_site *site = *state;
  static const char *const answers[] = { OK_AND_CLOSE, OK_AND_CLOSE };
  http_peer_say (site->peer, answers, 2);
  begin (site);
  struct http_job job = HTTP_JOB_INIT;
  job.task.method = RD_HTTP_POST;
  submit (site, &job);
  await_quick (&job);
  assert_int_equal (http_peer_connections (site->peer), 2 + NPRECONNECT);
}

/* Where each request needs a connection, too, there are no more of them for
 * a while. */
static void
a_server_that_keeps_none_gets_no_more_at_once (void **state)
{
  enum { N = 3 * NPRECONNECT };
  struct http_site *site = *state;
  const char *answers[N];
  for (size_t i = 0; i < N; i++)
    answers[i] = OK_AND_CLOSE;
  http_peer_say (site->peer, answers, N);
  begin (site);
  for (unsigned i = 1; i < N; i++)
    assert_int_equal (read_once (site), 1);
  assert_int_equal (http_peer_connections (site->peer), N);
}

static void
unused_ones_are_closed (void **state)
{
  struct http_site *site = *state;
  struct rd_http_options options = preconnect_options;
  options.preconnect_idle_ms = 20;
  http_site_reopen (site, &options);
  begin (site);
  await_open_connections (site, 1);
  read_wave (site);
  assert_int_equal (http_peer_connections (site->peer),
                    1 + NPRECONNECT + NPRECONNECT);
}

static void
unused_ones_are_closed_with_the_engine (void **state)
{
  struct http_site *site = *state;
  begin (site);
  rd_http_close (site->http);
  site->http = NULL;
  await_open_connections (site, 0);
}

/*------------------------------------------------------------------------
 * A server that does one thing at a time
 *----------------------------------------------------------------------*/

struct lone {
  int fd;
  bool keeps;                 /* its first connection, and takes no other */
  pthread_t thread;
};

static bool
answer_one (int fd, const char *answer)
{
  char text[4096];
  for (size_t n = 0; n < sizeof text;) {
    ssize_t got = recv (fd, text + n, sizeof text - n, 0);
    if (got <= 0)
      return false;
    n += (size_t) got;
    if (n >= 4 && memcmp (text + n - 4, "\r\n\r\n", 4) == 0)
      return send (fd, answer, strlen (answer), MSG_NOSIGNAL) > 0;
  }
  return false;
}

static void *
serve_one_by_one (void *data)
{
  struct lone *lone = data;
  for (int fd; (fd = accept (lone->fd, NULL, NULL)) >= 0; close (fd)) {
    if (lone->keeps)
      shutdown (lone->fd, SHUT_RDWR);
    if (lone->keeps)
      while (answer_one (fd, OK "quick"))
        continue;
    else
      (void) answer_one (fd, OK_AND_CLOSE);
  }
  return NULL;
}

/* Returns a socket that has a port. */
static int
bind_socket (struct sockaddr_in *address)
{
  socklen_t n = sizeof *address;
  *address = (struct sockaddr_in) {
    .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
  };
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal (bind (fd, (struct sockaddr *) address, n), 0);
  assert_int_equal (getsockname (fd, (struct sockaddr *) address, &n), 0);
  return fd;
}

static void
begin_lone (struct http_site *site, struct lone *lone)
{
  struct sockaddr_in address;
  lone->fd = bind_socket (&address);
  assert_int_equal (listen (lone->fd, 16), 0);
  snprintf (site->url, sizeof site->url, "http://127.0.0.1:%u/key",
            (unsigned) ntohs (address.sin_port));
  assert_int_equal (pthread_create (&lone->thread, NULL, serve_one_by_one,
                                    lone), 0);
}

static void
read_of_lone (struct http_site *site, struct lone *lone)
{
  begin_lone (site, lone);
  for (unsigned i = 0; i < 3 * NPRECONNECT; i++)
    assert_int_equal (read_once (site), 1);
  rd_http_close (site->http);
  site->http = NULL;
  shutdown (lone->fd, SHUT_RDWR);
  pthread_join (lone->thread, NULL);
  close (lone->fd);
}

static void
a_server_that_takes_one_after_the_other_serves_all (void **state)
{
  struct lone lone = { .keeps = false };
  read_of_lone (*state, &lone);
}

static void
a_server_that_takes_but_one_connection_serves_all (void **state)
{
  struct lone lone = { .keeps = true };
  read_of_lone (*state, &lone);
}

/*------------------------------------------------------------------------
 * By themselves
 *----------------------------------------------------------------------*/

static struct sockaddr_in
address_of (const struct http_site *site)
{
  const char *colon = strrchr (http_peer_url (site->peer), ':');
  return (struct sockaddr_in) {
    .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
    .sin_port = htons ((uint16_t) strtoul (colon + 1, NULL, 10)),
  };
}

static void
no_child_of_the_program_gets_one_and_no_other_address (void **state)
{
  struct http_site *site = *state;
  struct rd_http_preconnect preconnect;
  struct sockaddr_in to = address_of (site), other = to;
  other.sin_addr.s_addr = htonl (INADDR_LOOPBACK + 1);
  rd_http_preconnect_init (&preconnect, 2, 600000);
  rd_http_preconnect_begin (&preconnect, "127.0.0.1", ntohs (to.sin_port));
  await_connections (site, 2);
  assert_int_equal (rd_http_preconnect_take (&preconnect,
                                             (struct sockaddr *) &other), -1);
  int fd = rd_http_preconnect_take (&preconnect, (struct sockaddr *) &to);
  assert_true (fd >= 0);
  assert_true (fcntl (fd, F_GETFD) & FD_CLOEXEC);
  assert_true (fcntl (fd, F_GETFL) & O_NONBLOCK);
  close (fd);
  assert_int_equal (preconnect.n, 1);
  rd_http_preconnect_close (&preconnect);
  assert_true (rd_http_preconnect_left_ns (&preconnect, 0) == UINT64_MAX);
}

/* No other process can listen there, either. */
static void
without_a_listening_server_there_are_none (void **state)
{
  struct rd_http_preconnect preconnect;
  struct sockaddr_in to;
  int fd = bind_socket (&to);
  (void) state;
  rd_http_preconnect_init (&preconnect, 2, 600000);
  rd_http_preconnect_begin (&preconnect, "127.0.0.1", ntohs (to.sin_port));
  for (unsigned i = 0; i < 30000 && preconnect.n > 0; i++, nap ())
    assert_int_equal (rd_http_preconnect_take (&preconnect,
                                               (struct sockaddr *) &to),
                      -1);
  assert_int_equal (preconnect.n, 0);
  rd_http_preconnect_init (&preconnect, 2, 600000);
  rd_http_preconnect_begin (&preconnect, "no address", 80);
  assert_int_equal (preconnect.n, 0);
  close (fd);
}

#define SITE_TEST(fn) cmocka_unit_test_setup_teardown (fn, set_up, \
                                   http_site_tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    SITE_TEST (the_first_connection_brings_more_and_the_next_wave_takes_them),
    SITE_TEST (there_are_none_unless_enabled),
    SITE_TEST (they_are_within_the_limit_of_connections),
    SITE_TEST (with_a_proxy_they_lead_to_the_proxy),
#ifndef RADIO_NO_PROFILE
    SITE_TEST (profiles_count_preconnected_sockets),
#endif
    SITE_TEST (those_that_were_closed_meanwhile_are_not_used),
    SITE_TEST (one_that_closes_under_a_request_is_no_failure),
    SITE_TEST (a_request_that_must_not_be_repeated_uses_none),
    SITE_TEST (a_server_that_keeps_none_gets_no_more_at_once),
    SITE_TEST (unused_ones_are_closed),
    SITE_TEST (unused_ones_are_closed_with_the_engine),
    SITE_TEST (a_server_that_takes_one_after_the_other_serves_all),
    SITE_TEST (a_server_that_takes_but_one_connection_serves_all),
    SITE_TEST (no_child_of_the_program_gets_one_and_no_other_address),
    cmocka_unit_test (without_a_listening_server_there_are_none),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
