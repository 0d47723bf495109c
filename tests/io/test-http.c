/* SPDX-License-Identifier: MIT */
/* Reads over HTTP, of a server with the faults that servers have: each ends
 * soon, in the right bytes or in a clear error. */
#include <config.h>

#include <sys/wait.h>
#include <unistd.h>

#include "io/store.h"
#include "io/http/http.h"
#include "tests/io/http-peer.h"
#include "tests/io/store-asserts.h"

#define KEY "ct/a/zarr.json"
#define NBYTES 100000

/* A server and its store. */
struct site {
  struct rd_io *objects, *io;
  struct http_peer *peer;
  unsigned char *bytes;
  struct rd_buffer into;
};

/* Waits between attempts are short: tests are not to sleep. */
static const struct rd_http_options hasty = {
  .nattempts = 4, .first_byte_timeout_ms = 60000, .stall_timeout_ms = 60000,
  .backoff_ms = 1, .nconnections = 4,
};

/* For who does not answer.  On a busy machine who does may be late, too. */
static const struct rd_http_options impatient = {
  .nattempts = 4, .first_byte_timeout_ms = 250, .stall_timeout_ms = 250,
  .backoff_ms = 1, .nconnections = 4,
};

static int
set_up (void **state)
{
  struct site *site = calloc (1, sizeof *site);
  assert_non_null (site);
  assert_ok (rd_io_open ("memory:", false, &site->objects));
  site->bytes = make_bytes (NBYTES);
  assert_ok (rd_io_put (site->objects, KEY, site->bytes, NBYTES,
                        RD_PUT_REPLACE));
  site->peer = http_peer_start (site->objects);
  assert_ok (rd_io_http_open (http_peer_url (site->peer), &hasty,
                              &site->io));
  *state = site;
  return 0;
}

static int
tear_down (void **state)
{
  struct site *site = *state;
  rd_io_close (site->io);
  http_peer_stop (site->peer);
  rd_io_close (site->objects);
  rd_buffer_free (&site->into);
  free (site->bytes);
  free (site);
  return 0;
}

static enum radio_status
read_span (struct site *site, uint64_t offset, size_t nbytes)
{
  struct rd_io_get get = {
    .key = KEY, .range = RD_RANGE_SPAN, .offset = offset, .nbytes = nbytes,
    .into = &site->into,
  };
  return rd_io_read (site->io, &get);
}

static enum radio_status
read_suffix (struct site *site, size_t nbytes)
{
  struct rd_io_get get = {
    .key = KEY, .range = RD_RANGE_SUFFIX, .nbytes = nbytes,
    .into = &site->into,
  };
  return rd_io_read (site->io, &get);
}

static enum radio_status
read_whole (struct site *site, size_t most)
{
  struct rd_io_get get = {
    .key = KEY, .range = RD_RANGE_ALL, .nbytes = most, .into = &site->into,
  };
  return rd_io_read (site->io, &get);
}

static void
assert_bytes (const struct site *site, size_t offset, size_t nbytes)
{
  assert_int_equal (site->into.nbytes, nbytes);
  assert_memory_equal (site->into.data, site->bytes + offset, nbytes);
}

/*------------------------------------------------------------------------
 * Success
 *----------------------------------------------------------------------*/

static void
parts_are_requested_and_no_more (void **state)
{
  struct site *site = *state;
  assert_ok (read_span (site, 12345, 678));
  assert_bytes (site, 12345, 678);
  assert_ok (read_suffix (site, 99));
  assert_bytes (site, NBYTES - 99, 99);
  assert_ok (read_whole (site, NBYTES));
  assert_bytes (site, 0, NBYTES);
  assert_int_equal (http_peer_requests (site->peer), 3);
}

static void
one_connection_serves_one_after_the_other (void **state)
{
  struct site *site = *state;
  for (size_t i = 0; i < 50; i++)
    assert_ok (read_span (site, i, 10));
  assert_int_equal (http_peer_requests (site->peer), 50);
  assert_int_equal (http_peer_connections (site->peer), 1);
}

struct batch {
  pthread_mutex_t mutex;
  pthread_cond_t ended;
  size_t n;
};

static void
count_end (struct rd_io_get *get)
{
  struct batch *batch = get->user_data;
  pthread_mutex_lock (&batch->mutex);
  batch->n++;
  pthread_cond_signal (&batch->ended);
  pthread_mutex_unlock (&batch->mutex);
}

static void
many_reads_are_under_way_at_one_time_but_not_too_many (void **state)
{
  enum { N = 200 };
  struct site *site = *state;
  struct rd_io_get *gets = calloc (N, sizeof *gets);
  struct rd_buffer *buffers = calloc (N, sizeof *buffers);
  struct batch batch = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0
  };
  assert_true (gets && buffers);
  for (size_t i = 0; i < N; i++)
    gets[i] = (struct rd_io_get) {
      .key = KEY, .range = RD_RANGE_SPAN, .offset = 400 * i, .nbytes = 500,
      .into = &buffers[i], .done = count_end, .user_data = &batch,
    };
  site->io->ops->get (site->io, gets, N);
  pthread_mutex_lock (&batch.mutex);
  while (batch.n < N)
    pthread_cond_wait (&batch.ended, &batch.mutex);
  pthread_mutex_unlock (&batch.mutex);
  for (size_t i = 0; i < N; i++) {
    assert_ok (gets[i].error.status);
    assert_int_equal (buffers[i].nbytes, 500);
    assert_memory_equal (buffers[i].data, site->bytes + 400 * i, 500);
    rd_buffer_free (&buffers[i]);
  }
  free (gets);
  free (buffers);
  assert_in_range (http_peer_connections (site->peer), 1,
                   hasty.nconnections);
}

static void
names_are_sent_as_they_are (void **state)
{
  struct site *site = *state;
  static const char *const rows[][2] = {
    { "a b+c=d&e.~!'()*@$,;:x",
      "/data/a%20b%2Bc%3Dd%26e.~%21%27%28%29%2A%40%24%2C%3B%3Ax" },
    { "sch\xc3\xa4" "del/\xff", "/data/sch%C3%A4del/%FF" },
    { "100%25/q?x#y", "/data/100%2525/q%3Fx%23y" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    put_text (site->objects, rows[i][0], rows[i][0]);
    assert_text (site->io, rows[i][0], rows[i][0]);
    assert_string_equal (http_peer_path (site->peer), rows[i][1]);
  }
}

static void
redirections_are_followed_up_to_a_limit (void **state)
{
  struct site *site = *state;
  http_peer_script (site->peer, HTTP_REDIRECT, 0, 1);
  assert_ok (read_span (site, 10, 20));
  assert_bytes (site, 10, 20);
  assert_string_equal (http_peer_path (site->peer), "/there/" KEY);
  http_peer_script (site->peer, HTTP_REDIRECT_LOOP, 0, 1000);
  assert_fails (read_span (site, 10, 20), RADIO_ERROR_IO, "redirects");
  assert_in_range (http_peer_requests (site->peer), 3, 10);
}

static void
a_missing_object_is_not_found_at_once (void **state)
{
  struct site *site = *state;
  uint64_t nbytes;
  assert_fails (read_key (site->io, "none"), RADIO_ERROR_NOT_FOUND,
                "/data/none: no such object");
  assert_fails (site->io->ops->size (site->io, "none", &nbytes),
                RADIO_ERROR_NOT_FOUND, "/data/none");
  assert_int_equal (http_peer_requests (site->peer), 2);
  http_peer_script (site->peer, HTTP_FORBIDDEN, 0, 1);
  assert_fails (read_key (site->io, KEY), RADIO_ERROR_PERMISSION, "403");
  http_peer_script (site->peer, HTTP_TEAPOT, 0, 1);
  assert_fails (read_key (site->io, KEY), RADIO_ERROR_IO, "418");
  assert_int_equal (http_peer_requests (site->peer), 4);
}

/* Servers without range requests. */
static void
a_whole_object_is_accepted_where_it_is_the_range (void **state)
{
  struct site *site = *state;
  http_peer_script (site->peer, HTTP_WHOLE, 0, 1000);
  assert_ok (read_span (site, 0, NBYTES));
  assert_bytes (site, 0, NBYTES);
  assert_ok (read_suffix (site, NBYTES + 5));
  assert_bytes (site, 0, NBYTES);
  assert_fails (read_span (site, 0, NBYTES - 1), RADIO_ERROR_UNSUPPORTED,
                "range requests");
  assert_fails (read_span (site, 1, NBYTES), RADIO_ERROR_UNSUPPORTED,
                "range requests");
  http_peer_script (site->peer, HTTP_WHOLE_UNTOLD, 0, 1000);
  assert_ok (read_whole (site, NBYTES));
  assert_bytes (site, 0, NBYTES);
  assert_fails (read_whole (site, NBYTES - 1), RADIO_ERROR_LIMIT,
                "more than 99999 bytes");
  assert_fails (read_span (site, 0, NBYTES), RADIO_ERROR_UNSUPPORTED,
                "does not send");
}

static void
more_than_is_accepted_is_not_fetched (void **state)
{
  struct site *site = *state;
  assert_fails (read_whole (site, NBYTES - 1), RADIO_ERROR_LIMIT,
                "100000 bytes");
  http_peer_script (site->peer, HTTP_CLAIM, 0, 1);
  assert_fails (read_whole (site, NBYTES), RADIO_ERROR_LIMIT,
                "1152921504606846976 bytes");
}

/*------------------------------------------------------------------------
 * Retries
 *----------------------------------------------------------------------*/

static const enum http_fault passing[] = {
  HTTP_BUSY, HTTP_BUSY_ENDLESS, HTTP_DROP_EARLY, HTTP_DROP_MIDWAY,
  HTTP_SILENT, HTTP_STALL,
};

/* Read on with the patience that a fault needs. */
static void
prepare_for (struct site *site, enum http_fault fault)
{
  bool is_mute = fault == HTTP_SILENT || fault == HTTP_STALL;
  rd_io_close (site->io);
  assert_ok (rd_io_http_open (http_peer_url (site->peer),
                              is_mute ? &impatient : &hasty, &site->io));
}

static void
transient_errors_are_retried (void **state)
{
  struct site *site = *state;
  for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
    prepare_for (site, passing[i]);
    unsigned before = http_peer_requests (site->peer);
    /* After one that was good: there is a connection to be reused. */
    http_peer_script (site->peer, passing[i], 1, 2);
    assert_ok (read_span (site, 1000, 2000));
    assert_ok (read_span (site, 5000, 4000));
    assert_bytes (site, 5000, 4000);
    assert_in_range (http_peer_requests (site->peer), before + 4,
                     before + 8);
  }
}

static void
errors_name_the_number_of_attempts (void **state)
{
  struct site *site = *state;
  static const char *const words[] = {
    "status 503 (4 attempts in ", "status 503 (4 attempts in ",
    "(4 attempts in ", "(4 attempts in ", "no data for ",
    "no data for ",
  };
  for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
    prepare_for (site, passing[i]);
    assert_ok (read_span (site, 0, 1));
    http_peer_script (site->peer, passing[i], 0, 1000);
    assert_fails (read_whole (site, NBYTES), RADIO_ERROR_IO, words[i]);
    assert_int_equal (site->into.nbytes, 0);
    http_peer_script (site->peer, HTTP_OK, 0, 0);
  }
}

static void
an_outage_is_not_made_worse_by_endless_retries (void **state)
{
  struct site *site = *state;
  assert_ok (read_span (site, 0, 1));
  unsigned before = http_peer_requests (site->peer);
  http_peer_script (site->peer, HTTP_DROP_EARLY, 0, 100000);
  for (size_t i = 0; i < 200; i++)
    assert_fails (read_span (site, 0, 1), RADIO_ERROR_IO, "");
  /* 200 first attempts and a budget of 100 more. */
  assert_in_range (http_peer_requests (site->peer) - before, 300, 310);
}

static void
a_server_that_never_answered_is_not_retried_long (void **state)
{
  (void) state;
  struct rd_io *io;
  RD_BUFFER_SCOPE struct rd_buffer into = { 0 };
  assert_ok (rd_io_http_open ("http://127.0.0.1:1/x", &hasty, &io));
  assert_fails (rd_io_read_all (io, KEY, 10, &into), RADIO_ERROR_IO,
                "http://127.0.0.1:1/x/" KEY ": ");
  assert_non_null (strstr (radio_error_message (), "(2 attempts in "));
  rd_io_close (io);
}

/*------------------------------------------------------------------------
 * Invalid responses
 *----------------------------------------------------------------------*/

static void
wrong_responses_are_retried_before_they_are_an_error (void **state)
{
  struct site *site = *state;
  static const struct {
    enum http_fault fault;
    const char *part;
  } rows[] = {
    { HTTP_WHOLE, "does not support range requests" },
    { HTTP_SHIFTED, "is bytes 499-598 of 100000, which were not" },
    { HTTP_SHORTER, "is bytes 500-598 of 100000, which were not" },
    { HTTP_LONGER, "is bytes 500-599 of 100000, which were not" },
    { HTTP_UNTOLD_RANGE, "does not say which range" },
    { HTTP_UNTOLD_TOTAL, "does not say which range" },
    { HTTP_ENCODED, "the response is compressed" },
    { HTTP_ENDLESS_HEADERS, "bytes of headers" },
    { HTTP_CLAIM, "does not support range requests" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    http_peer_script (site->peer, rows[i].fault, 0, 3);
    unsigned before = http_peer_requests (site->peer);
    assert_ok (read_span (site, 500, 100));
    assert_bytes (site, 500, 100);
    assert_int_equal (http_peer_requests (site->peer), before + 4);
    http_peer_script (site->peer, rows[i].fault, 0, 1000);
    enum radio_status status = read_span (site, 500, 100);
    assert_true (status == RADIO_ERROR_IO
                 || status == RADIO_ERROR_UNSUPPORTED);
    assert_non_null (strstr (radio_error_message (), rows[i].part));
    assert_non_null (strstr (radio_error_message (), " (4 attempts in "));
    assert_int_equal (http_peer_requests (site->peer), before + 8);
    assert_int_equal (site->into.nbytes, 0);
  }
  http_peer_script (site->peer, HTTP_NONSENSE, 0, 1000);
  assert_fails (read_span (site, 500, 100), RADIO_ERROR_IO, KEY ": ");
}

/* Servers that do not send sizes do so each time. */
static void
a_response_without_a_size_is_not_retried (void **state)
{
  struct site *site = *state;
  static const char *const answers[] = {
    "HTTP/1.0 200 OK\r\n\r\nabc" HTTP_PEER_HANG_UP,
  };
  http_peer_say (site->peer, answers, 1);
  assert_fails (read_whole (site, NBYTES), RADIO_ERROR_UNSUPPORTED,
                KEY ": the server does not send the object's size");
  assert_int_equal (http_peer_requests (site->peer), 1);
}

/* A response of another object is believed when the next one agrees. */
static void
an_object_replaced_during_a_read_is_an_error (void **state)
{
  struct site *site = *state;
  struct rd_io_file *file = rd_io_hold (site->io, KEY, true);
  struct rd_io_get get = {
    .key = KEY, .file = file, .range = RD_RANGE_SPAN, .nbytes = 10,
    .into = &site->into,
  };
  assert_ok (rd_io_read (site->io, &get));
  assert_ok (rd_io_read (site->io, &get));
  http_peer_script (site->peer, HTTP_OTHER_ETAG, 0, 1);
  assert_ok (rd_io_read (site->io, &get));
  http_peer_script (site->peer, HTTP_OTHER_ETAG, 0, 1000);
  unsigned before = http_peer_requests (site->peer);
  assert_fails (rd_io_read (site->io, &get), RADIO_ERROR_IO,
                "replaced while it was read");
  assert_int_equal (http_peer_requests (site->peer), before + 2);
  rd_io_release (site->io, file);
  http_peer_script (site->peer, HTTP_OTHER_ETAG, 0, 1);
  assert_ok (read_span (site, 0, 10));
}

/* As reads of tiles do, by what the index was read from. */
static void
the_expected_version_and_size_are_checked (void **state)
{
  struct site *site = *state;
  struct rd_io_get get = {
    .key = KEY, .range = RD_RANGE_SPAN, .nbytes = 10, .into = &site->into,
  };
  assert_ok (rd_io_read (site->io, &get));
  assert_int_equal (get.object_nbytes, NBYTES);
  assert_true (get.version != 0);
  static const enum http_fault faults[] = {
    HTTP_OTHER_ETAG, HTTP_OTHER_TOTAL,
  };
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    struct rd_io_get next = get;
    http_peer_script (site->peer, faults[i], 0, 1);
    assert_ok (rd_io_read (site->io, &next));
    http_peer_script (site->peer, faults[i], 0, 2);
    assert_fails (rd_io_read (site->io, &next), RADIO_ERROR_IO,
                  "replaced while it was read");
    assert_true (next.version != get.version
                 || next.object_nbytes != get.object_nbytes);
  }
}

/*------------------------------------------------------------------------
 * URLs, and unsupported operations
 *----------------------------------------------------------------------*/

static void
urls_that_hold_secrets_or_more_than_a_path_are_refused (void **state)
{
  (void) state;
  static const char *const rows[][2] = {
    { "http://me:secret@host/x", "must not contain a user" },
    { "https://me@host/x", "must not contain a user" },
    { "http://host/x?token=secret", "without '?'" },
    { "http://host/x#part", "without '?'" },
    { "http://", "URL" },
    { "http://host:99999/", "URL" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct rd_io *io = NULL;
    for (int create = 0; create < 2; create++) {
      assert_fails (rd_io_open (rows[i][0], create, &io),
                    RADIO_ERROR_ARGUMENT, rows[i][1]);
      assert_null (strstr (radio_error_message (), "secret"));
      assert_null (io);
    }
  }
}

static void
nothing_is_written_or_listed (void **state)
{
  struct site *site = *state;
  struct rd_io *io = site->io;
  const struct rd_io_ops *ops = io->ops;
  struct rd_io_writer *writer = NULL;
  struct rd_io_lock *lock = NULL;
  struct rd_io_swept swept;
  assert_fails (rd_io_put (io, "x", "y", 1, RD_PUT_REPLACE),
                RADIO_ERROR_UNSUPPORTED, "read-only");
  assert_fails (ops->create (io, "x", &writer), RADIO_ERROR_UNSUPPORTED,
                "read-only");
  assert_fails (ops->remove (io, KEY), RADIO_ERROR_UNSUPPORTED, "read-only");
  assert_fails (ops->remove_tree (io, "ct"), RADIO_ERROR_UNSUPPORTED,
                "read-only");
  assert_fails (ops->lock (io, "ct", true, &lock), RADIO_ERROR_UNSUPPORTED,
                "read-only");
  assert_fails (ops->sweep (io, "", true, &swept), RADIO_ERROR_UNSUPPORTED,
                "read-only");
  assert_fails (ops->list (io, "", false, note_entry, NULL),
                RADIO_ERROR_UNSUPPORTED, "cannot be listed");
  assert_int_equal (http_peer_requests (site->peer), 0);
  struct rd_io *other;
  assert_fails (rd_io_open (http_peer_url (site->peer), true, &other),
                RADIO_ERROR_UNSUPPORTED, "read-only");
}

static void
a_forked_child_must_reopen (void **state)
{
  struct site *site = *state;
  int status = 0;
  assert_ok (read_span (site, 0, 1));
  pid_t pid = fork ();
  if (pid == 0)
    _exit (read_span (site, 0, 1) == RADIO_ERROR_FORKED ? 0 : 1);
  assert_true (pid > 0 && waitpid (pid, &status, 0) == pid);
  assert_int_equal (status, 0);
  assert_ok (read_span (site, 0, 1));
}

#define SITE_TEST(fn) cmocka_unit_test_setup_teardown (fn, set_up, tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    SITE_TEST (parts_are_requested_and_no_more),
    SITE_TEST (one_connection_serves_one_after_the_other),
    SITE_TEST (many_reads_are_under_way_at_one_time_but_not_too_many),
    SITE_TEST (names_are_sent_as_they_are),
    SITE_TEST (redirections_are_followed_up_to_a_limit),
    SITE_TEST (a_missing_object_is_not_found_at_once),
    SITE_TEST (a_whole_object_is_accepted_where_it_is_the_range),
    SITE_TEST (more_than_is_accepted_is_not_fetched),
    SITE_TEST (transient_errors_are_retried),
    SITE_TEST (errors_name_the_number_of_attempts),
    SITE_TEST (an_outage_is_not_made_worse_by_endless_retries),
    cmocka_unit_test (a_server_that_never_answered_is_not_retried_long),
    SITE_TEST (wrong_responses_are_retried_before_they_are_an_error),
    SITE_TEST (a_response_without_a_size_is_not_retried),
    SITE_TEST (an_object_replaced_during_a_read_is_an_error),
    SITE_TEST (the_expected_version_and_size_are_checked),
    cmocka_unit_test (urls_that_hold_secrets_or_more_than_a_path_are_refused),
    SITE_TEST (nothing_is_written_or_listed),
    SITE_TEST (a_forked_child_must_reopen),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
