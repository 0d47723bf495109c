/* SPDX-License-Identifier: MIT */
/* Credentials, and a cache that refreshes them.  A caller copies them under
 * the mutex; one thread at a time fetches others, without the mutex. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "io/s3/credentials.h"

/* Credentials are refreshed 5 to 15 minutes before they expire, but not in
 * the first half of their lifetime.  The spread keeps processes that were
 * started together from refreshing together. */
#define REFRESH_LEAST_S 300
#define REFRESH_SPREAD_S 600

/* The pause after a failed refresh while the old ones are valid. */
#define REFRESH_AGAIN_S 60

/* New credentials are used this long, whatever their expiration: the local
 * clock may be wrong. */
#define TRUSTED_S 60

/*------------------------------------------------------------------------
 * Values
 *----------------------------------------------------------------------*/

void
rd_s3_credentials_free (struct rd_s3_credentials *credentials)
{
  if (credentials == NULL)
    return;
  rd_s3_secret_free (credentials->access_key);
  rd_s3_secret_free (credentials->secret_key);
  rd_s3_secret_free (credentials->session_token);
  rd_free (credentials);
}

static bool
copy_text (const char *from, char **to)
{
  *to = from ? rd_strdup (from) : NULL;
  return from == NULL || *to != NULL;
}

enum radio_status
rd_s3_credentials_new (const char *access_key, const char *secret_key,
                       const char *session_token, int64_t expires_s,
                       struct rd_s3_credentials **credentials)
{
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *made =
    rd_calloc (1, sizeof *made);
  if (made == NULL || !copy_text (access_key, &made->access_key)
      || !copy_text (secret_key, &made->secret_key)
      || !copy_text (session_token, &made->session_token))
    return rd_fail_memory (sizeof *made);
  made->expires_s = expires_s;
  *credentials = RD_STEAL (made);
  return RADIO_OK;
}

enum radio_status
rd_s3_credentials_copy (const struct rd_s3_credentials *from,
                        struct rd_s3_credentials **credentials)
{
  return rd_s3_credentials_new (from->access_key, from->secret_key,
                                from->session_token, from->expires_s,
                                credentials);
}

/*------------------------------------------------------------------------
 * Fetching
 *----------------------------------------------------------------------*/

struct rd_s3_provider {
  struct rd_s3_provider_options options;
  struct rd_s3_settings settings;
  pid_t pid;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct {
    struct rd_s3_credentials *current;  /* NULL: none */
    int64_t good_until_s, refresh_s;
    bool is_fetching;
    uint64_t nfetches;                  /* that have ended */
    struct rd_error error;              /* of the last one */
    bool has_thread;
    pthread_t thread;
  } synced;
};

static int64_t
now_of (const struct rd_s3_provider *provider)
{
  return provider->options.now_s
         ? provider->options.now_s (provider->options.data)
         : (int64_t) time (NULL);
}

static void
keep_synced (struct rd_s3_provider *provider,
             struct rd_s3_credentials *fetched, int64_t now_s)
{
  int64_t expires_s = fetched->expires_s;
  rd_s3_credentials_free (provider->synced.current);
  provider->synced.current = fetched;
  provider->synced.good_until_s = INT64_MAX;
  provider->synced.refresh_s = INT64_MAX;
  if (expires_s == 0)
    return;
  if (expires_s < now_s + TRUSTED_S)
    expires_s = now_s + TRUSTED_S;
  /* A number that differs between processes and times; not secret. */
  uint64_t x = (uint64_t) now_s ^ (uint64_t) provider->pid << 32
               ^ (uint64_t) (uintptr_t) provider;
  x *= 0x9e3779b97f4a7c15;
  int64_t early_s = REFRESH_LEAST_S + (int64_t) ((x >> 32) % REFRESH_SPREAD_S);
  int64_t half_s = (expires_s - now_s) / 2;
  provider->synced.good_until_s = expires_s;
  provider->synced.refresh_s = expires_s
                               - (early_s < half_s ? early_s : half_s);
}

/* Called and returns with the mutex held; is_fetching is set. */
static void
fetch_unlocked (struct rd_s3_provider *provider)
{
  const struct rd_s3_provider_options *options = &provider->options;
  struct rd_s3_credentials *fetched = NULL;
  struct rd_error error = { .status = RADIO_OK };
  pthread_mutex_unlock (&provider->mutex);
  enum radio_status status
    = options->find ? options->find (options->data, &fetched)
                    : rd_s3_find_credentials (&provider->settings,
                                              now_of (provider), &fetched);
  if (status != RADIO_OK)
    rd_error_save (&error, status);
  int64_t now_s = now_of (provider);
  pthread_mutex_lock (&provider->mutex);
  if (status == RADIO_OK)
    keep_synced (provider, fetched, now_s);
  else
    provider->synced.refresh_s = now_s + REFRESH_AGAIN_S;
  provider->synced.error = error;
  provider->synced.nfetches++;
  provider->synced.is_fetching = false;
  pthread_cond_broadcast (&provider->changed);
}

static void *
run_fetch (void *data)
{
  struct rd_s3_provider *provider = data;
  RD_LOCK_SCOPE (&provider->mutex);
  fetch_unlocked (provider);
  return NULL;
}

/* Called with the mutex held while nothing is being fetched, so that a thread
 * that was started before is about to end. */
static void
fetch_in_background (struct rd_s3_provider *provider, int64_t now_s)
{
  sigset_t all, before;
  if (provider->synced.has_thread)
    pthread_join (provider->synced.thread, NULL);
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  provider->synced.has_thread =
    pthread_create (&provider->synced.thread, NULL, run_fetch, provider) == 0;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  provider->synced.is_fetching = provider->synced.has_thread;
  if (!provider->synced.has_thread)
    provider->synced.refresh_s = now_s + REFRESH_AGAIN_S;
}

/*------------------------------------------------------------------------
 * The provider
 *----------------------------------------------------------------------*/

/* Called with the mutex held: fetches, or waits for the thread that does. */
static enum radio_status
fetch_or_wait (struct rd_s3_provider *provider)
{
  uint64_t nfetches = provider->synced.nfetches;
  if (!provider->synced.is_fetching) {
    provider->synced.is_fetching = true;
    fetch_unlocked (provider);
  }
  while (provider->synced.nfetches == nfetches)
    pthread_cond_wait (&provider->changed, &provider->mutex);
  return rd_error_raise (&provider->synced.error);
}

enum radio_status
rd_s3_provider_get (struct rd_s3_provider *provider,
                    struct rd_s3_credentials **credentials)
{
  if (getpid () != provider->pid)
    return rd_fail (RADIO_ERROR_FORKED, "the credentials of S3 were opened "
                    "in the parent process");
  int64_t now_s = now_of (provider);
  RD_LOCK_SCOPE (&provider->mutex);
  while (!provider->synced.current
         || now_s >= provider->synced.good_until_s) {
    RD_TRY (fetch_or_wait (provider));
    now_s = now_of (provider);
  }
  if (now_s >= provider->synced.refresh_s && !provider->synced.is_fetching)
    fetch_in_background (provider, now_s);
  return rd_s3_credentials_copy (provider->synced.current, credentials);
}

static bool
is_same (const char *a, const char *b)
{
  return a == NULL || b == NULL ? a == b : strcmp (a, b) == 0;
}

void
rd_s3_provider_reject (struct rd_s3_provider *provider,
                       const struct rd_s3_credentials *rejected)
{
  if (getpid () != provider->pid)
    return;
  RD_LOCK_SCOPE (&provider->mutex);
  const struct rd_s3_credentials *current = provider->synced.current;
  if (current && is_same (current->access_key, rejected->access_key)
      && is_same (current->secret_key, rejected->secret_key)
      && is_same (current->session_token, rejected->session_token))
    provider->synced.good_until_s = INT64_MIN;
}

enum radio_status
rd_s3_provider_open (const struct rd_s3_provider_options *options,
                     struct rd_s3_provider **provider)
{
  struct rd_s3_provider *made = rd_calloc (1, sizeof *made);
  if (made == NULL)
    return rd_fail_memory (sizeof *made);
  made->options = *options;
  made->options.settings = NULL;
  made->pid = getpid ();
  pthread_mutex_init (&made->mutex, NULL);
  pthread_cond_init (&made->changed, NULL);
  enum radio_status status = RADIO_OK;
  if (options->settings)
    status = rd_s3_settings_copy (options->settings, &made->settings);
  if (status != RADIO_OK) {
    rd_s3_provider_close (made);
    return status;
  }
  *provider = made;
  return RADIO_OK;
}

void
rd_s3_provider_close (struct rd_s3_provider *provider)
{
  if (provider == NULL)
    return;
  /* A forked child does not have the thread, and the mutex may be locked by
   * one that it does not have either. */
  if (getpid () == provider->pid) {
    if (provider->synced.has_thread)
      pthread_join (provider->synced.thread, NULL);
    pthread_cond_destroy (&provider->changed);
    pthread_mutex_destroy (&provider->mutex);
  }
  rd_s3_credentials_free (provider->synced.current);
  rd_s3_settings_free (&provider->settings);
  rd_free (provider);
}
