/* SPDX-License-Identifier: MIT */
/* Settings: a table of strings, and the environment variables that fill it. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "io/s3/secret.h"
#include "io/s3/settings.h"

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

/* A program with rights that its user lacks ignores the environment. */
enum radio_status
rd_s3_settings_from_environment (struct rd_s3_settings *settings)
{
  for (int i = 0; i < RD_S3_NSETTINGS; i++) {
    if (names[i] == NULL)
      continue;
#ifdef HAVE_SECURE_GETENV
    const char *text = secure_getenv (names[i]);
#else
    bool is_trusted = getuid () == geteuid () && getgid () == getegid ();
    const char *text = is_trusted ? getenv (names[i]) : NULL;
#endif
    RD_TRY (rd_s3_settings_set (settings, i, text));
  }
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
