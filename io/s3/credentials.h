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

#include "io/s3/secret.h"
#include "io/s3/settings.h"

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
