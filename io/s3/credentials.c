/* SPDX-License-Identifier: MIT */
/* Credentials: secrets in memory, the settings that they come from, and a
 * cache that refreshes them.  A caller of the cache copies them under its
 * mutex; one thread at a time fetches others, without the mutex. */
#include <config.h>

#include <inttypes.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/cancel.h"
#include "src/base/checked.h"
#include "src/base/environment.h"
#include "src/base/error.h"
#include "src/base/thread.h"
#include "src/base/whole-file.h"
#include "io/s3/credentials.h"

/*------------------------------------------------------------------------
 * Secrets: a buffer that grows would leave copies in freed memory, so one
 * that holds some is allocated at its full size
 *----------------------------------------------------------------------*/

#define MAX_TOKEN_NBYTES 65536

void
rd_s3_secret_free (char *text)
{
  if (text)
    OPENSSL_cleanse (text, strlen (text));
  rd_free (text);
}

void
rd_s3_secret_buffer_free (struct rd_buffer *buffer)
{
  if (buffer->data)
    OPENSSL_cleanse (buffer->data, buffer->capacity);
  rd_buffer_free (buffer);
}

bool
rd_s3_is_same_text (const char *a, const char *b)
{
  return a == NULL || b == NULL ? a == b : strcmp (a, b) == 0;
}

enum radio_status
rd_s3_append (struct rd_buffer *buffer, const char *text)
{
  return rd_buffer_append (buffer, text, strlen (text));
}

enum radio_status
rd_s3_append_end (struct rd_buffer *buffer)
{
  return rd_buffer_append (buffer, "", 1);
}

char *
rd_s3_join (const char *const *texts)
{
  size_t nbytes = 1;
  for (size_t i = 0; texts[i]; i++)
    nbytes += strlen (texts[i]);
  char *joined = rd_malloc (nbytes), *to = joined;
  if (joined == NULL) {
    rd_fail_memory (nbytes);
    return NULL;
  }
  for (size_t i = 0; texts[i]; i++) {
    size_t n = strlen (texts[i]);
    memcpy (to, texts[i], n);
    to += n;
  }
  *to = '\0';
  return joined;
}

/* With room for all of it at once: it may hold secrets. */
enum radio_status
rd_s3_file_read (const char *path, size_t max_nbytes, struct rd_buffer *into)
{
  into->nbytes = 0;
  RD_TRY (rd_buffer_reserve (into, max_nbytes + 1));
  return rd_whole_file_read (path, max_nbytes, into);
}

enum radio_status
rd_s3_file_read_token (const char *path, struct rd_buffer *into)
{
  RD_TRY (rd_s3_file_read (path, MAX_TOKEN_NBYTES, into));
  while (into->nbytes > 0
         && strchr (" \t\r\n", into->data[into->nbytes - 1]))
    into->nbytes--;
  into->data[into->nbytes] = '\0';
  if (into->nbytes == 0 || memchr (into->data, '\0', into->nbytes))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: contains no token", path);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Settings
 *----------------------------------------------------------------------*/

static const char *const names[RD_S3_NSETTINGS] = {
  [RD_S3_ACCESS_KEY] = "AWS_ACCESS_KEY_ID",
  [RD_S3_SECRET_KEY] = "AWS_SECRET_ACCESS_KEY",
  [RD_S3_SESSION_TOKEN] = "AWS_SESSION_TOKEN",
  [RD_S3_PROFILE] = "AWS_PROFILE",
  [RD_S3_CONFIG_FILE] = "AWS_CONFIG_FILE",
  [RD_S3_CREDENTIALS_FILE] = "AWS_SHARED_CREDENTIALS_FILE",
  [RD_S3_HOME] = "HOME",
  [RD_S3_REGION] = "AWS_REGION",
  [RD_S3_DEFAULT_REGION] = "AWS_DEFAULT_REGION",
  [RD_S3_ENDPOINT_S3] = "AWS_ENDPOINT_URL_S3",
  [RD_S3_ENDPOINT_STS] = "AWS_ENDPOINT_URL_STS",
  [RD_S3_ENDPOINT] = "AWS_ENDPOINT_URL",
  [RD_S3_IGNORE_ENDPOINTS] = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
  [RD_S3_CA_FILE] = "AWS_CA_BUNDLE",
  [RD_S3_REQUEST_SUMS] = "AWS_REQUEST_CHECKSUM_CALCULATION",
  [RD_S3_TOKEN_FILE] = "AWS_WEB_IDENTITY_TOKEN_FILE",
  [RD_S3_ROLE_ARN] = "AWS_ROLE_ARN",
  [RD_S3_ROLE_SESSION_NAME] = "AWS_ROLE_SESSION_NAME",
  [RD_S3_CONTAINER_RELATIVE_URI] = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  [RD_S3_CONTAINER_FULL_URI] = "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  [RD_S3_CONTAINER_TOKEN] = "AWS_CONTAINER_AUTHORIZATION_TOKEN",
  [RD_S3_CONTAINER_TOKEN_FILE] = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
  [RD_S3_METADATA_DISABLED] = "AWS_EC2_METADATA_DISABLED",
  [RD_S3_METADATA_ENDPOINT] = "AWS_EC2_METADATA_SERVICE_ENDPOINT",
  [RD_S3_METADATA_TIMEOUT] = "AWS_METADATA_SERVICE_TIMEOUT",
  [RD_S3_METADATA_ATTEMPTS] = "AWS_METADATA_SERVICE_NUM_ATTEMPTS",
  [RD_S3_RADIO] = "RADIO_S3",
};

const char *
rd_s3_setting_name (enum rd_s3_setting which)
{
  return names[which];
}

const char *
rd_s3_setting (const struct rd_s3_settings *settings,
               enum rd_s3_setting which)
{
  const char *text = settings->texts[which];
  return text && text[0] ? text : NULL;
}

bool
rd_s3_setting_is_true (const struct rd_s3_settings *settings,
                       enum rd_s3_setting which)
{
  const char *text = rd_s3_setting (settings, which);
  for (const char *p = "true"; text && *p; p++, text++)
    if ((*text | 0x20) != *p)
      return false;
  return text && *text == '\0';
}

const char *
rd_s3_ca_file (const struct rd_s3_settings *settings)
{
  const char *own = rd_s3_setting (settings, RD_S3_OWN_CA_FILE);
  return own ? own : rd_s3_setting (settings, RD_S3_CA_FILE);
}

enum radio_status
rd_s3_settings_set (struct rd_s3_settings *settings,
                    enum rd_s3_setting which, const char *text)
{
  char *copy = text ? rd_strdup (text) : NULL;
  if (text && copy == NULL)
    return rd_fail_memory (strlen (text) + 1);
  rd_s3_secret_free (settings->texts[which]);
  settings->texts[which] = copy;
  return RADIO_OK;
}

enum radio_status
rd_s3_settings_from_environment (struct rd_s3_settings *settings)
{
  for (int i = 0; i < RD_S3_NSETTINGS; i++)
    if (names[i])
      RD_TRY (rd_s3_settings_set (settings, i, rd_get_variable (names[i])));
  return RADIO_OK;
}

enum radio_status
rd_s3_settings_copy (const struct rd_s3_settings *from,
                     struct rd_s3_settings *to)
{
  for (int i = 0; i < RD_S3_NSETTINGS; i++)
    RD_TRY (rd_s3_settings_set (to, i, from->texts[i]));
  to->is_anonymous = from->is_anonymous;
  return RADIO_OK;
}

void
rd_s3_settings_free (struct rd_s3_settings *settings)
{
  for (int i = 0; i < RD_S3_NSETTINGS; i++)
    rd_s3_secret_free (settings->texts[i]);
  *settings = (struct rd_s3_settings) { 0 };
}

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
  if (status == RADIO_OK) {
    rd_s3_credentials_free (provider->synced.current);
    provider->synced.current = fetched;
    provider->synced.good_until_s = INT64_MAX;
    provider->synced.refresh_s = INT64_MAX;
  } else {
    provider->synced.refresh_s = now_s + REFRESH_AGAIN_S;
  }
  if (status == RADIO_OK && fetched->expires_s != 0) {
    int64_t expires_s = fetched->expires_s;
    if (expires_s < now_s + TRUSTED_S)
      expires_s = now_s + TRUSTED_S;
    /* A number that differs between processes and times; not secret. */
    uint64_t x = (uint64_t) now_s ^ (uint64_t) provider->pid << 32
                 ^ (uint64_t) (uintptr_t) provider;
    x *= 0x9e3779b97f4a7c15;
    int64_t early_s = REFRESH_LEAST_S
                      + (int64_t) ((x >> 32) % REFRESH_SPREAD_S);
    int64_t half_s = (expires_s - now_s) / 2;
    provider->synced.good_until_s = expires_s;
    provider->synced.refresh_s = expires_s
                                 - (early_s < half_s ? early_s : half_s);
  }
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

/*------------------------------------------------------------------------
 * The provider
 *----------------------------------------------------------------------*/

/* Called and returns with the mutex held, but calls the thread's cancel
 * function without it.  False: the thread is cancelled. */
static bool
wait_for_fetch (struct rd_s3_provider *provider, uint64_t nfetches)
{
  while (provider->synced.nfetches == nfetches)
    if (rd_cancel_wait (&provider->changed, &provider->mutex,
                        rd_thread_has_cancel ())) {
      pthread_mutex_unlock (&provider->mutex);
      bool is_cancelled = rd_thread_is_cancelled ();
      pthread_mutex_lock (&provider->mutex);
      if (is_cancelled)
        return false;
    }
  return true;
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
    /* Fetches, or waits for the thread that does. */
    uint64_t nfetches = provider->synced.nfetches;
    bool fetches = !provider->synced.is_fetching;
    if (fetches) {
      provider->synced.is_fetching = true;
      fetch_unlocked (provider);
    }
    if (!wait_for_fetch (provider, nfetches))
      return rd_fail (RADIO_ERROR_CANCELLED, "cancelled");
    /* A cancellation of the other thread is not this one's. */
    if (fetches || provider->synced.error.status != RADIO_ERROR_CANCELLED)
      RD_TRY (rd_error_raise (&provider->synced.error));
    now_s = now_of (provider);
  }
  if (now_s >= provider->synced.refresh_s && !provider->synced.is_fetching) {
    /* Nothing is being fetched, so that a thread that was started before is
     * about to end. */
    if (provider->synced.has_thread)
      pthread_join (provider->synced.thread, NULL);
    provider->synced.has_thread
      = rd_start_thread (&provider->synced.thread, run_fetch, provider) == 0;
    provider->synced.is_fetching = provider->synced.has_thread;
    if (!provider->synced.has_thread)
      provider->synced.refresh_s = now_s + REFRESH_AGAIN_S;
  }
  return rd_s3_credentials_copy (provider->synced.current, credentials);
}

void
rd_s3_provider_reject (struct rd_s3_provider *provider,
                       const struct rd_s3_credentials *rejected)
{
  if (getpid () != provider->pid)
    return;
  RD_LOCK_SCOPE (&provider->mutex);
  const struct rd_s3_credentials *current = provider->synced.current;
  if (current
      && rd_s3_is_same_text (current->access_key, rejected->access_key)
      && rd_s3_is_same_text (current->secret_key, rejected->secret_key)
      && rd_s3_is_same_text (current->session_token,
                             rejected->session_token))
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
