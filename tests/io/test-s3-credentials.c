/* SPDX-License-Identifier: MIT */
/* Credentials that are kept: fetched once by many who want them, renewed
 * before they expire while the old ones are handed out, and after the server
 * refused them.  The clock is the test's. */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit.h"

#include "src/base/error.h"
#include "io/s3/credentials.h"

#define CREDENTIALS \
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials
#define NOW_S 1000000

/* A place to fetch from that the test holds. */
struct source {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int64_t now_s, life_s;      /* 0: they do not expire */
  unsigned nfetches, nbegun, nat_once, most_at_once;
  bool is_shut;               /* fetches wait */
  bool fails;
  bool cancels_first;         /* the first fetch is cancelled */
  pthread_t fetcher;          /* of the last fetch */
  bool has_asked;             /* for the time, which follows its end */
  struct rd_s3_provider *provider;
};

static int64_t
get_now (void *data)
{
  struct source *source = data;
  RD_LOCK_SCOPE (&source->mutex);
  if (source->nbegun > 0 && pthread_equal (source->fetcher, pthread_self ())) {
    source->has_asked = true;
    pthread_cond_broadcast (&source->changed);
  }
  return source->now_s;
}

static enum radio_status
find (void *data, struct rd_s3_credentials **credentials)
{
  struct source *source = data;
  char token[32];
  RD_LOCK_SCOPE (&source->mutex);
  source->nbegun++;
  source->fetcher = pthread_self ();
  source->has_asked = false;
  source->nat_once++;
  if (source->nat_once > source->most_at_once)
    source->most_at_once = source->nat_once;
  pthread_cond_broadcast (&source->changed);
  while (source->is_shut)
    pthread_cond_wait (&source->changed, &source->mutex);
  source->nat_once--;
  source->nfetches++;
  pthread_cond_broadcast (&source->changed);
  if (source->cancels_first && source->nfetches == 1)
    return rd_fail (RADIO_ERROR_CANCELLED, "cancelled");
  if (source->fails)
    return rd_fail (RADIO_ERROR_IO, "no answer %u", source->nfetches);
  snprintf (token, sizeof token, "%u", source->nfetches);
  return rd_s3_credentials_new (
    "id", "secret", token,
    source->life_s ? source->now_s + source->life_s : 0, credentials);
}

static int
set_up (void **state)
{
  struct source *source = calloc (1, sizeof *source);
  pthread_mutex_init (&source->mutex, NULL);
  pthread_cond_init (&source->changed, NULL);
  source->now_s = NOW_S;
  source->life_s = 3600;
  const struct rd_s3_provider_options options = {
    .find = find, .now_s = get_now, .data = source,
  };
  assert_ok (rd_s3_provider_open (&options, &source->provider));
  *state = source;
  return 0;
}

static void
set_shut (struct source *source, bool is_shut)
{
  RD_LOCK_SCOPE (&source->mutex);
  source->is_shut = is_shut;
  pthread_cond_broadcast (&source->changed);
}

static int
tear_down (void **state)
{
  struct source *source = *state;
  set_shut (source, false);
  rd_s3_provider_close (source->provider);
  pthread_mutex_destroy (&source->mutex);
  pthread_cond_destroy (&source->changed);
  free (source);
  return 0;
}

static void
set_time (struct source *source, int64_t now_s)
{
  RD_LOCK_SCOPE (&source->mutex);
  source->now_s = now_s;
}

static void
wait_until_begun (struct source *source, unsigned n)
{
  RD_LOCK_SCOPE (&source->mutex);
  while (source->nbegun < n)
    pthread_cond_wait (&source->changed, &source->mutex);
}

/* The n-th fetch has ended, at the present time. */
static void
wait_until_asked (struct source *source, unsigned n)
{
  RD_LOCK_SCOPE (&source->mutex);
  while (source->nbegun < n || !source->has_asked)
    pthread_cond_wait (&source->changed, &source->mutex);
}

static unsigned
count (struct source *source)
{
  RD_LOCK_SCOPE (&source->mutex);
  return source->nbegun;
}

/* Returns the number of the fetch that returned the present credentials. */
static unsigned
get (struct source *source)
{
  CREDENTIALS *credentials = NULL;
  assert_ok (rd_s3_provider_get (source->provider, &credentials));
  return (unsigned) strtoul (credentials->session_token, NULL, 10);
}

/* The same, once those of that fetch are there. */
static void
get_until (struct source *source, unsigned wanted)
{
  while (get (source) != wanted)
    usleep (1000);
}

/*------------------------------------------------------------------------
 * One thread
 *----------------------------------------------------------------------*/

static void
nothing_is_fetched_before_it_is_wanted (void **state)
{
  struct source *source = *state;
  assert_int_equal (count (source), 0);
  assert_int_equal (get (source), 1);
  assert_int_equal (get (source), 1);
  assert_int_equal (count (source), 1);
}

static void
credentials_that_do_not_expire_are_fetched_once (void **state)
{
  struct source *source = *state;
  source->life_s = 0;
  assert_int_equal (get (source), 1);
  set_time (source, INT64_MAX - 1);
  assert_int_equal (get (source), 1);
  assert_int_equal (count (source), 1);
}

/* At the latest 5 minutes before the end, at the earliest 15. */
static void
old_ones_are_handed_out_while_new_ones_are_fetched (void **state)
{
  struct source *source = *state;
  assert_int_equal (get (source), 1);
  set_time (source, NOW_S + 3600 - 901);
  assert_int_equal (get (source), 1);
  assert_int_equal (count (source), 1);
  set_shut (source, true);
  set_time (source, NOW_S + 3600 - 299);
  assert_int_equal (get (source), 1);
  wait_until_begun (source, 2);
  for (int i = 0; i < 10; i++)
    assert_int_equal (get (source), 1);
  assert_int_equal (count (source), 2);
  set_shut (source, false);
  get_until (source, 2);
  assert_int_equal (count (source), 2);
}

static void
a_short_life_is_used_for_its_first_half (void **state)
{
  struct source *source = *state;
  source->life_s = 400;
  assert_int_equal (get (source), 1);
  set_time (source, NOW_S + 199);
  assert_int_equal (get (source), 1);
  assert_int_equal (count (source), 1);
  set_time (source, NOW_S + 200);
  get (source);
  wait_until_begun (source, 2);
}

/* Another thread asks for the time of the failure, and records it a moment
 * later: until then no get begins another fetch. */
static void
a_failed_renewal_is_tried_again_a_minute_later (void **state)
{
  struct source *source = *state;
  assert_int_equal (get (source), 1);
  source->fails = true;
  set_time (source, NOW_S + 3600 - 299);
  assert_int_equal (get (source), 1);
  wait_until_asked (source, 2);
  set_time (source, NOW_S + 3600 - 240);
  for (int i = 0; i < 20; i++) {
    assert_int_equal (get (source), 1);
    usleep (1000);
  }
  assert_int_equal (count (source), 2);
  set_time (source, NOW_S + 3600 - 239);
  while (count (source) == 2) {
    assert_int_equal (get (source), 1);
    usleep (1000);
  }
}

static void
after_their_end_old_ones_are_not_handed_out (void **state)
{
  struct source *source = *state;
  CREDENTIALS *none = NULL;
  assert_int_equal (get (source), 1);
  source->fails = true;
  set_time (source, NOW_S + 3600);
  assert_fails (rd_s3_provider_get (source->provider, &none), RADIO_ERROR_IO,
                "no answer 2");
  assert_null (none);
  source->fails = false;
  assert_int_equal (get (source), 3);
}

/* A clock that is an hour ahead. */
static void
expired_credentials_are_used_for_a_minute (void **state)
{
  struct source *source = *state;
  source->life_s = -3600;
  assert_int_equal (get (source), 1);
  set_time (source, NOW_S + 29);
  assert_int_equal (get (source), 1);
  assert_int_equal (count (source), 1);
  set_time (source, NOW_S + 60);
  assert_int_equal (get (source), 2);
}

static void
rejected_credentials_are_fetched_again_once (void **state)
{
  struct source *source = *state;
  CREDENTIALS *refused = NULL;
  assert_ok (rd_s3_provider_get (source->provider, &refused));
  rd_s3_provider_reject (source->provider, refused);
  assert_int_equal (get (source), 2);
  /* Others that were refused meanwhile were the same. */
  rd_s3_provider_reject (source->provider, refused);
  assert_int_equal (get (source), 2);
  assert_int_equal (count (source), 2);
}

/*------------------------------------------------------------------------
 * Several threads and processes
 *----------------------------------------------------------------------*/

#define NTHREADS 8

struct asker {
  struct source *source;
  enum radio_status status;
  char message[128];
};

static void *
ask (void *data)
{
  struct asker *asker = data;
  CREDENTIALS *credentials = NULL;
  asker->status = rd_s3_provider_get (asker->source->provider, &credentials);
  snprintf (asker->message, sizeof asker->message, "%s",
            asker->status ? radio_error_message ()
                          : credentials->session_token);
  return NULL;
}

/* All of them ask while a fetch is held. */
static void
ask_at_once (struct source *source, struct asker askers[NTHREADS])
{
  pthread_t threads[NTHREADS];
  unsigned nbegun = count (source);
  set_shut (source, true);
  for (int i = 0; i < NTHREADS; i++) {
    askers[i] = (struct asker) { .source = source };
    assert_int_equal (pthread_create (&threads[i], NULL, ask, &askers[i]),
                      0);
  }
  wait_until_begun (source, nbegun + 1);
  usleep (20000);
  set_shut (source, false);
  for (int i = 0; i < NTHREADS; i++)
    assert_int_equal (pthread_join (threads[i], NULL), 0);
}

static void
many_threads_that_want_them_share_one_fetch (void **state)
{
  struct source *source = *state;
  struct asker askers[NTHREADS];
  ask_at_once (source, askers);
  for (int i = 0; i < NTHREADS; i++) {
    assert_int_equal (askers[i].status, RADIO_OK);
    assert_string_equal (askers[i].message, "1");
  }
  assert_int_equal (count (source), 1);
}

/* A thread that comes after the failure may fetch again, alone. */
static void
a_failure_is_returned_to_all_waiting_threads (void **state)
{
  struct source *source = *state;
  struct asker askers[NTHREADS];
  source->fails = true;
  ask_at_once (source, askers);
  for (int i = 0; i < NTHREADS; i++) {
    assert_int_equal (askers[i].status, RADIO_ERROR_IO);
    assert_non_null (strstr (askers[i].message, "no answer "));
  }
  assert_int_equal (source->most_at_once, 1);
}

static void
threads_that_wait_for_one_that_is_cancelled_fetch_again (void **state)
{
  struct source *source = *state;
  struct asker askers[NTHREADS];
  int ncancelled = 0;
  source->cancels_first = true;
  ask_at_once (source, askers);
  for (int i = 0; i < NTHREADS; i++) {
    ncancelled += askers[i].status == RADIO_ERROR_CANCELLED;
    if (askers[i].status == RADIO_OK)
      assert_string_equal (askers[i].message, "2");
    else
      assert_int_equal (askers[i].status, RADIO_ERROR_CANCELLED);
  }
  assert_int_equal (ncancelled, 1);
}

static bool
is_asked (void *asked)
{
  atomic_store ((atomic_bool *) asked, true);
  return true;
}

static void
a_thread_that_waits_for_another_is_cancelled (void **state)
{
  struct source *source = *state;
  struct asker fetching = { .source = source }, waiting = fetching;
  atomic_bool asked = false;
  pthread_t thread;
  set_shut (source, true);
  assert_int_equal (pthread_create (&thread, NULL, ask, &fetching), 0);
  wait_until_begun (source, 1);
  radio_thread_set_cancel (is_asked, &asked);
  ask (&waiting);
  radio_thread_set_cancel (NULL, NULL);
  assert_true (asked);
  assert_int_equal (waiting.status, RADIO_ERROR_CANCELLED);
  set_shut (source, false);
  assert_int_equal (pthread_join (thread, NULL), 0);
  assert_int_equal (fetching.status, RADIO_OK);
}

static void
closing_waits_for_a_renewal (void **state)
{
  struct source *source = *state;
  assert_int_equal (get (source), 1);
  set_time (source, NOW_S + 3500);
  set_shut (source, true);
  get (source);
  wait_until_begun (source, 2);
  set_shut (source, false);
  rd_s3_provider_close (RD_STEAL (source->provider));
  assert_int_equal (source->nfetches, 2);
}

static void
a_forked_child_must_open_its_own (void **state)
{
  struct source *source = *state;
  assert_int_equal (get (source), 1);
  pid_t pid = fork ();
  assert_true (pid >= 0);
  if (pid == 0) {
    struct rd_s3_credentials *none = NULL;
    enum radio_status status = rd_s3_provider_get (source->provider, &none);
    rd_s3_provider_close (source->provider);
    _exit (status == RADIO_ERROR_FORKED && none == NULL ? 0 : 1);
  }
  int status;
  assert_int_equal (waitpid (pid, &status, 0), pid);
  assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, set_up, tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (nothing_is_fetched_before_it_is_wanted),
    TEST (credentials_that_do_not_expire_are_fetched_once),
    TEST (old_ones_are_handed_out_while_new_ones_are_fetched),
    TEST (a_short_life_is_used_for_its_first_half),
    TEST (a_failed_renewal_is_tried_again_a_minute_later),
    TEST (after_their_end_old_ones_are_not_handed_out),
    TEST (expired_credentials_are_used_for_a_minute),
    TEST (rejected_credentials_are_fetched_again_once),
    TEST (many_threads_that_want_them_share_one_fetch),
    TEST (a_failure_is_returned_to_all_waiting_threads),
    TEST (threads_that_wait_for_one_that_is_cancelled_fetch_again),
    TEST (a_thread_that_waits_for_another_is_cancelled),
    TEST (closing_waits_for_a_renewal),
    TEST (a_forked_child_must_open_its_own),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
