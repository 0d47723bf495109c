/* SPDX-License-Identifier: MIT */
/* Settings of S3: strings of the environment, by the names of other AWS
 * clients, and the caller's, which take precedence.  The layer that resolves
 * options fills this table once; nothing below it reads the environment. */
#ifndef RD_S3_SETTINGS_H
#define RD_S3_SETTINGS_H

#include <radio/base.h>

#include "src/base/cleanup.h"

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

#endif /* RD_S3_SETTINGS_H */
