/* SPDX-License-Identifier: MIT */
/* Where credentials for S3 come from, in the order of AWS's other clients:
 *
 *   nobody's, when that is asked for;
 *   the keys that the caller gives;
 *   the environment's keys, unless the caller chose a profile;
 *   a web identity that the environment names (AWS_WEB_IDENTITY_TOKEN_FILE);
 *   the profile: a role to assume, keys, or a process to run;
 *   the container's (AWS_CONTAINER_CREDENTIALS_...);
 *   the instance's, by IMDSv2.
 *
 * What is set and does not work is an error, not passed over.  No message
 * holds a secret. */
#ifndef RD_S3_CREDENTIALS_H
#define RD_S3_CREDENTIALS_H

#include "io/s3/settings.h"
#include "io/s3/sign.h"

struct rd_s3_provider;

/* Look for credentials; may take seconds.  RADIO_ERROR_PERMISSION where
 * there are none. */
enum radio_status
rd_s3_find_credentials (const struct rd_s3_settings *settings, int64_t now_s,
                        struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

struct rd_s3_provider_options {
  const struct rd_s3_settings *settings;      /* copied */

  /* Where they come from; NULL: rd_s3_find_credentials.  One at a time. */
  enum radio_status (*find) (void *data,
                             struct rd_s3_credentials **credentials);
  int64_t (*now_s) (void *data);      /* the time; NULL: the system's */
  void *data;
};

/* Credentials that are kept, and fetched anew before they expire: by a
 * thread for the occasion, while the old ones are handed out on.  Nothing is
 * fetched before the first are wanted.  All functions may be called from any
 * thread, several at once, but for close. */
enum radio_status
rd_s3_provider_open (const struct rd_s3_provider_options *options,
                     struct rd_s3_provider **provider) RADIO_USE_RESULT;

/* Waits for a fetch that is under way.  NULL is legal. */
void rd_s3_provider_close (struct rd_s3_provider *provider);

/* A copy of the present ones.  Waits only where there are none that are
 * still good; all who wait share one fetch and its failure.
 * RADIO_ERROR_FORKED in a child of the process that opened it. */
enum radio_status
rd_s3_provider_get (struct rd_s3_provider *provider,
                    struct rd_s3_credentials **credentials) RADIO_USE_RESULT;

/* The server took these for expired or invalid: unless they were replaced
 * meanwhile, the next to ask fetches others. */
void rd_s3_provider_reject (struct rd_s3_provider *provider,
                            const struct rd_s3_credentials *rejected);

RD_DEFINE_CLEANUP (s3_provider, struct rd_s3_provider,
                   rd_s3_provider_close);

#endif /* RD_S3_CREDENTIALS_H */
