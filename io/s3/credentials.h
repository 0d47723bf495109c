/* SPDX-License-Identifier: MIT */
/* Credentials for S3, and where they come from, in the order of other AWS
 * clients:
 *
 *   anonymous access, when that is requested;
 *   the keys that the caller gives;
 *   the environment's keys, unless the caller chose a profile;
 *   a web identity of the environment (AWS_WEB_IDENTITY_TOKEN_FILE);
 *   the profile: a role to assume, keys, or a process to run;
 *   the container's (AWS_CONTAINER_CREDENTIALS_...);
 *   the instance's, by IMDSv2.
 *
 * A source that is configured and does not work is an error; it is not
 * skipped.  No message holds a secret. */
#ifndef RD_S3_CREDENTIALS_H
#define RD_S3_CREDENTIALS_H

#include <radio/base.h>

#include "src/base/buffer.h"
#include "src/base/cleanup.h"

/*------------------------------------------------------------------------
 * Secrets in memory, which are zeroized when they are released; small files
 * that hold some; and texts in buffers
 *----------------------------------------------------------------------*/

/* Zeroizes a string and frees it.  NULL is legal. */
void rd_s3_secret_free (char *text);

/* Zeroizes and releases. */
void rd_s3_secret_buffer_free (struct rd_buffer *buffer);

#define RD_S3_SECRET_SCOPE RD_CLEANUP (rd_s3_secret_buffer_free)

/* True for equal texts, and for two that are NULL. */
bool rd_s3_is_same_text (const char *a, const char *b);

/* Appends a text without its NUL. */
enum radio_status rd_s3_append (struct rd_buffer *buffer, const char *text)
  RADIO_USE_RESULT;

/* Appends the NUL byte that ends the text; it is counted. */
enum radio_status rd_s3_append_end (struct rd_buffer *buffer)
  RADIO_USE_RESULT;

/* Joins texts up to a NULL.  Allocated; NULL without memory (the message is
 * set). */
char *rd_s3_join (const char *const *texts);
#define RD_S3_JOIN(...) \
  rd_s3_join ((const char *const []) { __VA_ARGS__, NULL })

/* Reads a file, or pipe, of at most max_nbytes; a NUL byte follows (not
 * counted).  RADIO_ERROR_NOT_FOUND, RADIO_ERROR_LIMIT, ... */
enum radio_status rd_s3_file_read (const char *path, size_t max_nbytes,
                                   struct rd_buffer *into)
  RADIO_USE_RESULT;

/* The same for a token: blanks and line ends at the end are removed. */
enum radio_status rd_s3_file_read_token (const char *path,
                                         struct rd_buffer *into)
  RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * Settings: strings of the environment, by the names of other AWS clients,
 * and the caller's, which take precedence.  The layer that resolves options
 * fills this table once; nothing below it reads the environment
 *----------------------------------------------------------------------*/

enum rd_s3_setting {
  /* The caller's: these take precedence. */
  RD_S3_OWN_ACCESS_KEY,
  RD_S3_OWN_SECRET_KEY,
  RD_S3_OWN_SESSION_TOKEN,
  RD_S3_OWN_PROFILE,
  RD_S3_OWN_REGION,
  RD_S3_OWN_CA_FILE,
  RD_S3_OWN_CONTAINER_URL,    /* instead of "http://169.254.170.2" */

  /* The environment's. */
  RD_S3_ACCESS_KEY,
  RD_S3_SECRET_KEY,
  RD_S3_SESSION_TOKEN,
  RD_S3_PROFILE,
  RD_S3_CONFIG_FILE,
  RD_S3_CREDENTIALS_FILE,
  RD_S3_HOME,
  RD_S3_REGION,
  RD_S3_DEFAULT_REGION,
  RD_S3_ENDPOINT_S3,
  RD_S3_ENDPOINT_STS,
  RD_S3_ENDPOINT,
  RD_S3_IGNORE_ENDPOINTS,
  RD_S3_CA_FILE,
  RD_S3_REQUEST_SUMS,
  RD_S3_TOKEN_FILE,
  RD_S3_ROLE_ARN,
  RD_S3_ROLE_SESSION_NAME,
  RD_S3_CONTAINER_RELATIVE_URI,
  RD_S3_CONTAINER_FULL_URI,
  RD_S3_CONTAINER_TOKEN,
  RD_S3_CONTAINER_TOKEN_FILE,
  RD_S3_METADATA_DISABLED,
  RD_S3_METADATA_ENDPOINT,
  RD_S3_METADATA_TIMEOUT,
  RD_S3_METADATA_ATTEMPTS,
  RD_S3_RADIO,
  RD_S3_NSETTINGS
};

struct rd_s3_settings {
  bool is_anonymous;          /* sign nothing, whatever else is set */
  char *texts[RD_S3_NSETTINGS];       /* owned; NULL: not set */
};

/* The environment variable's name, or NULL. */
const char *rd_s3_setting_name (enum rd_s3_setting which);

/* The text; NULL when it is not set, or empty. */
const char *rd_s3_setting (const struct rd_s3_settings *settings,
                           enum rd_s3_setting which);

/* "true", case-insensitive. */
bool rd_s3_setting_is_true (const struct rd_s3_settings *settings,
                            enum rd_s3_setting which);

/* The certificates to trust: the caller's or the environment's; NULL: the
 * system's. */
const char *rd_s3_ca_file (const struct rd_s3_settings *settings);

/* Replaces a text by a copy of another, which may be NULL. */
enum radio_status rd_s3_settings_set (struct rd_s3_settings *settings,
                                      enum rd_s3_setting which,
                                      const char *text) RADIO_USE_RESULT;

/* Replaces the environment's settings.  For the layer that resolves options.
 * A program that runs with rights that its user lacks ignores the
 * environment. */
enum radio_status
rd_s3_settings_from_environment (struct rd_s3_settings *settings)
  RADIO_USE_RESULT;

enum radio_status rd_s3_settings_copy (const struct rd_s3_settings *from,
                                       struct rd_s3_settings *to)
  RADIO_USE_RESULT;

/* Zeroizes secrets; the struct is empty and usable again. */
void rd_s3_settings_free (struct rd_s3_settings *settings);

#define RD_S3_SETTINGS_SCOPE RD_CLEANUP (rd_s3_settings_free)

/*------------------------------------------------------------------------
 * Credentials
 *----------------------------------------------------------------------*/

/* Without an access key it is anonymous: requests are not signed. */
struct rd_s3_credentials {
  char *access_key, *secret_key;
  char *session_token;        /* or NULL */
  int64_t expires_s;          /* Unix time; 0: never */
};

/* Copies the strings, all of which may be NULL.  RADIO_ERROR_MEMORY. */
enum radio_status
rd_s3_credentials_new (const char *access_key, const char *secret_key,
                       const char *session_token, int64_t expires_s,
                       struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

enum radio_status
rd_s3_credentials_copy (const struct rd_s3_credentials *from,
                        struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* Zeroizes secrets.  NULL is legal. */
void rd_s3_credentials_free (struct rd_s3_credentials *credentials);

RD_DEFINE_CLEANUP (s3_credentials, struct rd_s3_credentials,
                   rd_s3_credentials_free);

/* Searches for credentials; may take seconds.  RADIO_ERROR_PERMISSION where
 * there are none. */
enum radio_status
rd_s3_find_credentials (const struct rd_s3_settings *settings, int64_t now_s,
                        struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* Credentials that are cached, and refreshed before they expire: by a
 * temporary thread, while the old ones stay in use.  Nothing is fetched
 * before the first are needed.  All functions but close may be called from
 * any thread, several at once. */
struct rd_s3_provider;

struct rd_s3_provider_options {
  const struct rd_s3_settings *settings;      /* copied */

  /* Fetches credentials; NULL: rd_s3_find_credentials.  One call at a time.
   */
  enum radio_status (*find) (void *data,
                             struct rd_s3_credentials **credentials);
  int64_t (*now_s) (void *data);      /* the time; NULL: the system's */
  void *data;
};

enum radio_status
rd_s3_provider_open (const struct rd_s3_provider_options *options,
                     struct rd_s3_provider **provider) RADIO_USE_RESULT;

/* Waits for an active fetch.  NULL is legal. */
void rd_s3_provider_close (struct rd_s3_provider *provider);

/* Returns a copy of the current credentials.  Waits only where none are
 * valid; all who wait share one fetch and its failure.  RADIO_ERROR_FORKED
 * in a child of the process that opened the provider. */
enum radio_status
rd_s3_provider_get (struct rd_s3_provider *provider,
                    struct rd_s3_credentials **credentials) RADIO_USE_RESULT;

/* Called when the server rejected these as expired or invalid: unless they
 * were replaced meanwhile, the next get fetches others. */
void rd_s3_provider_reject (struct rd_s3_provider *provider,
                            const struct rd_s3_credentials *rejected);

RD_DEFINE_CLEANUP (s3_provider, struct rd_s3_provider,
                   rd_s3_provider_close);

#endif /* RD_S3_CREDENTIALS_H */
