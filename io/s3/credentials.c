/* SPDX-License-Identifier: MIT */
/* Credentials that are kept and renewed.  Those who need some take a copy
 * under the lock; one at a time fetches others, without the lock. */
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

/* New ones are fetched 5 to 15 minutes before the old expire, but not in the
 * first half of their life.  The spread keeps many processes that began
 * together from asking together. */
#define REFRESH_LEAST_S 300
#define REFRESH_SPREAD_S 600

/* After a fetch that failed while the old were good. */
#define REFRESH_AGAIN_S 60

/* What was just fetched is used for so long, whatever it says of its end:
 * this machine's clock may be wrong, and the server knows best. */
#define TRUSTED_S 60

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
    uint64_t nfetches;                  /* that came to an end */
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

/*------------------------------------------------------------------------
 * Fetching
 *----------------------------------------------------------------------*/

static enum radio_status
fetch (struct rd_s3_provider *provider,
       struct rd_s3_credentials **credentials)
{
  if (provider->options.find)
    return provider->options.find (provider->options.data, credentials);
  return rd_s3_find_credentials (&provider->settings, now_of (provider),
                                 credentials);
}

/* A number of this process and moment; not for secrets. */
static int64_t
spread_s (const struct rd_s3_provider *provider, int64_t now_s)
{
  uint64_t x = (uint64_t) now_s ^ (uint64_t) provider->pid << 32
               ^ (uint64_t) (uintptr_t) provider;
  x *= 0x9e3779b97f4a7c15;
  return (int64_t) ((x >> 32) % REFRESH_SPREAD_S);
}

static void
keep (struct rd_s3_provider *provider, struct rd_s3_credentials *fetched,
      int64_t now_s)
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
  int64_t early_s = REFRESH_LEAST_S + spread_s (provider, now_s);
  int64_t half_s = (expires_s - now_s) / 2;
  provider->synced.good_until_s = expires_s;
  provider->synced.refresh_s = expires_s
                               - (early_s < half_s ? early_s : half_s);
}

/* Called and returns with the lock; is_fetching is set. */
static void
fetch_unlocked (struct rd_s3_provider *provider)
{
  struct rd_s3_credentials *fetched = NULL;
  struct rd_error error = { .status = RADIO_OK };
  pthread_mutex_unlock (&provider->mutex);
  enum radio_status status = fetch (provider, &fetched);
  if (status != RADIO_OK)
    rd_error_save (&error, status);
  int64_t now_s = now_of (provider);
  pthread_mutex_lock (&provider->mutex);
  if (status == RADIO_OK)
    keep (provider, fetched, now_s);
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

/* The lock is held; nothing is being fetched, so that a thread that was
 * begun before has no more than its end to reach. */
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

static bool
has_good (const struct rd_s3_provider *provider, int64_t now_s)
{
  return provider->synced.current && now_s < provider->synced.good_until_s;
}

/* The lock is held: fetch, or wait for whoever does. */
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
  while (!has_good (provider, now_s)) {
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
  /* In a child of the process there is no such thread, and the lock may be
   * that of a thread which is not there. */
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
