/* SPDX-License-Identifier: MIT */
/* Profiles: where their files are, and how the two files name them. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "io/s3/file.h"
#include "io/s3/profile.h"

/*------------------------------------------------------------------------
 * The files
 *----------------------------------------------------------------------*/

/* "~/x" is in the home folder, wherever it is written. */
static enum radio_status
append_path (struct rd_buffer *buffer, const char *path, const char *home)
{
  bool is_home = path[0] == '~' && path[1] == '/' && home;
  if (is_home)
    RD_TRY (rd_s3_append (buffer, home));
  RD_TRY (rd_s3_append (buffer, is_home ? path + 1 : path));
  return rd_s3_append_end (buffer);
}

/* Without a home folder, and without the file's name: no file. */
static enum radio_status
read_file (const struct rd_s3_settings *settings, enum rd_s3_setting which,
           const char *usual, struct rd_s3_ini *ini)
{
  RD_BUFFER_SCOPE struct rd_buffer path = { 0 };
  const char *home = rd_s3_setting (settings, RD_S3_HOME);
  const char *file = rd_s3_setting (settings, which);
  if (file == NULL && home == NULL)
    return RADIO_OK;
  RD_TRY (append_path (&path, file ? file : usual, home));
  return rd_s3_ini_read ((const char *) path.data, ini);
}

enum radio_status
rd_s3_profiles_read (const struct rd_s3_settings *settings,
                     struct rd_s3_profiles *profiles)
{
  RD_TRY (read_file (settings, RD_S3_CONFIG_FILE, "~/.aws/config",
                     &profiles->config));
  return read_file (settings, RD_S3_CREDENTIALS_FILE, "~/.aws/credentials",
                    &profiles->credentials);
}

void
rd_s3_profiles_free (struct rd_s3_profiles *profiles)
{
  rd_s3_ini_free (&profiles->config);
  rd_s3_ini_free (&profiles->credentials);
}

/*------------------------------------------------------------------------
 * Profiles
 *----------------------------------------------------------------------*/

const char *
rd_s3_profile_name (const struct rd_s3_settings *settings)
{
  const char *name = rd_s3_setting (settings, RD_S3_OWN_PROFILE);
  if (name == NULL)
    name = rd_s3_setting (settings, RD_S3_PROFILE);
  return name ? name : "default";
}

bool
rd_s3_profile_is_chosen (const struct rd_s3_settings *settings)
{
  return rd_s3_setting (settings, RD_S3_OWN_PROFILE)
         || rd_s3_setting (settings, RD_S3_PROFILE);
}

/* Sections of config are "profile NAME"; that of the default one may be
 * "default" too, and counts less then. */
static const char *
get_config (const struct rd_s3_ini *config, const char *kind,
            const char *name, const char *parent, const char *property)
{
  char section[512];
  size_t n = strlen (kind), nbytes = strlen (name);
  if (n + nbytes + 2 > sizeof section)
    return NULL;
  memcpy (section, kind, n);
  section[n] = ' ';
  memcpy (section + n + 1, name, nbytes + 1);
  if (property == NULL)
    return rd_s3_ini_has_section (config, section) ? name : NULL;
  return rd_s3_ini_get (config, section, parent, property);
}

static bool
is_default (const char *profile)
{
  return strcmp (profile, "default") == 0;
}

/* A property of config, or one within another. */
static const char *
get_profile_config (const struct rd_s3_profiles *profiles,
                    const char *profile, const char *parent,
                    const char *name)
{
  const char *value = get_config (&profiles->config, "profile", profile,
                                  parent, name);
  if (value == NULL && is_default (profile))
    value = rd_s3_ini_get (&profiles->config, profile, parent, name);
  return value;
}

bool
rd_s3_profile_exists (const struct rd_s3_profiles *profiles,
                      const char *profile)
{
  return rd_s3_ini_has_section (&profiles->credentials, profile)
         || get_config (&profiles->config, "profile", profile, NULL, NULL)
         || (is_default (profile)
             && rd_s3_ini_has_section (&profiles->config, profile));
}

/* Properties without a value are none. */
static const char *
or_none (const char *value)
{
  return value && value[0] ? value : NULL;
}

const char *
rd_s3_profile_get (const struct rd_s3_profiles *profiles,
                   const char *profile, const char *name)
{
  const char *value = or_none (
    rd_s3_ini_get (&profiles->credentials, profile, NULL, name));
  return value ? value
               : or_none (get_profile_config (profiles, profile, NULL, name));
}

const char *
rd_s3_profile_endpoint (const struct rd_s3_profiles *profiles,
                        const char *profile, const char *service)
{
  const char *services = rd_s3_profile_get (profiles, profile, "services");
  const char *endpoint = NULL;
  if (services)
    endpoint = or_none (get_config (&profiles->config, "services", services,
                                    service, "endpoint_url"));
  if (endpoint == NULL)
    endpoint = or_none (get_profile_config (profiles, profile, service,
                                            "endpoint_url"));
  return endpoint ? endpoint
                  : rd_s3_profile_get (profiles, profile, "endpoint_url");
}

/*------------------------------------------------------------------------
 * What they say
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_keys (const char *access_key, const char *secret_key,
            const char *session_token, const char *where,
            struct rd_s3_credentials **credentials)
{
  *credentials = NULL;
  if (access_key == NULL && secret_key == NULL)
    return RADIO_OK;
  if (access_key == NULL || secret_key == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the %s is given, but not the "
                    "%s", where, access_key ? "access key" : "secret key",
                    access_key ? "secret key" : "access key");
  return rd_s3_credentials_new (access_key, secret_key, session_token, 0,
                                credentials);
}

/* Both keys come from one file, and the token from the same. */
static enum radio_status
keys_of_file (const struct rd_s3_profiles *profiles, const char *profile,
              bool is_config, struct rd_s3_credentials **credentials)
{
  static const char *const names[] = {
    "aws_access_key_id", "aws_secret_access_key", "aws_session_token",
  };
  const char *values[3];
  char where[256];
  for (size_t i = 0; i < 3; i++)
    values[i] = or_none (
      is_config ? get_profile_config (profiles, profile, NULL, names[i])
                : rd_s3_ini_get (&profiles->credentials, profile, NULL,
                                 names[i]));
  snprintf (where, sizeof where, "the profile '%.200s'", profile);
  return rd_s3_keys (values[0], values[1], values[2], where, credentials);
}

enum radio_status
rd_s3_profile_keys (const struct rd_s3_profiles *profiles,
                    const char *profile,
                    struct rd_s3_credentials **credentials)
{
  RD_TRY (keys_of_file (profiles, profile, false, credentials));
  return *credentials ? RADIO_OK
                      : keys_of_file (profiles, profile, true, credentials);
}

const char *
rd_s3_region (const struct rd_s3_settings *settings,
              const struct rd_s3_profiles *profiles)
{
  static const enum rd_s3_setting order[] = {
    RD_S3_OWN_REGION, RD_S3_REGION, RD_S3_DEFAULT_REGION,
  };
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
    if (rd_s3_setting (settings, order[i]))
      return rd_s3_setting (settings, order[i]);
  return rd_s3_profile_get (profiles, rd_s3_profile_name (settings),
                            "region");
}

static bool
ignores_endpoints (const struct rd_s3_settings *settings,
                   const struct rd_s3_profiles *profiles)
{
  const char *text =
    rd_s3_profile_get (profiles, rd_s3_profile_name (settings),
                       "ignore_configured_endpoint_urls");
  return rd_s3_setting (settings, RD_S3_IGNORE_ENDPOINTS)
         ? rd_s3_setting_is_true (settings, RD_S3_IGNORE_ENDPOINTS)
         : text && strcmp (text, "true") == 0;
}

const char *
rd_s3_endpoint (const struct rd_s3_settings *settings,
                const struct rd_s3_profiles *profiles, const char *service)
{
  enum rd_s3_setting own = strcmp (service, "sts") == 0 ? RD_S3_ENDPOINT_STS
                                                        : RD_S3_ENDPOINT_S3;
  if (ignores_endpoints (settings, profiles))
    return NULL;
  if (rd_s3_setting (settings, own))
    return rd_s3_setting (settings, own);
  if (rd_s3_setting (settings, RD_S3_ENDPOINT))
    return rd_s3_setting (settings, RD_S3_ENDPOINT);
  return rd_s3_profile_endpoint (profiles, rd_s3_profile_name (settings),
                                 service);
}
