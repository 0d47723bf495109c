/* SPDX-License-Identifier: MIT */
/* The search for credentials: one place after the other. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "io/s3/credentials.h"
#include "io/s3/sources.h"

/* Of roles that are assumed with the credentials of other roles. */
#define MAX_DEPTH 8

/* Each of these leaves *credentials NULL where its place is not set up. */
typedef enum radio_status source_fn (const struct rd_s3_search *search,
                                     struct rd_s3_credentials **credentials);

static const char *
setting (const struct rd_s3_search *search, enum rd_s3_setting which)
{
  return rd_s3_setting (search->settings, which);
}

/*------------------------------------------------------------------------
 * Keys
 *----------------------------------------------------------------------*/

static enum radio_status
look_at_own (const struct rd_s3_search *search,
             struct rd_s3_credentials **credentials)
{
  return rd_s3_keys (setting (search, RD_S3_OWN_ACCESS_KEY),
                     setting (search, RD_S3_OWN_SECRET_KEY),
                     setting (search, RD_S3_OWN_SESSION_TOKEN),
                     "the credentials that were given", credentials);
}

static enum radio_status
environment_keys (const struct rd_s3_search *search,
                  struct rd_s3_credentials **credentials)
{
  return rd_s3_keys (setting (search, RD_S3_ACCESS_KEY),
                     setting (search, RD_S3_SECRET_KEY),
                     setting (search, RD_S3_SESSION_TOKEN),
                     "the environment (AWS_ACCESS_KEY_ID, "
                     "AWS_SECRET_ACCESS_KEY)", credentials);
}

/* A profile that the caller chose wins over the environment's keys; one that
 * the environment chose does not. */
static enum radio_status
look_at_environment (const struct rd_s3_search *search,
                     struct rd_s3_credentials **credentials)
{
  return setting (search, RD_S3_OWN_PROFILE)
         ? RADIO_OK : environment_keys (search, credentials);
}

/*------------------------------------------------------------------------
 * Profiles
 *----------------------------------------------------------------------*/

static enum radio_status
fail_profile (enum radio_status status, const char *profile, const char *why)
{
  return rd_fail (status, "the profile '%.200s' %s", profile, why);
}

static const char *
property (const struct rd_s3_search *search, const char *profile,
          const char *name)
{
  return rd_s3_profile_get (search->profiles, profile, name);
}

static enum radio_status
resolve_plain (const struct rd_s3_search *search, const char *profile,
               struct rd_s3_credentials **credentials)
{
  const char *command = property (search, profile, "credential_process");
  RD_TRY (rd_s3_profile_keys (search->profiles, profile, credentials));
  if (*credentials)
    return RADIO_OK;
  if (command)
    return rd_s3_ask_process (command, profile, RD_S3_PROCESS_TIMEOUT_MS,
                              credentials);
  if (property (search, profile, "sso_session")
      || property (search, profile, "sso_start_url"))
    return fail_profile (RADIO_ERROR_UNSUPPORTED, profile, "signs in by SSO, "
                         "which is not supported; a profile with "
                         "'credential_process = aws configure "
                         "export-credentials --profile NAME' does it");
  return RADIO_OK;
}

static enum radio_status
resolve_profile (const struct rd_s3_search *search, const char *profile,
                 unsigned depth, struct rd_s3_credentials **credentials);

/* Whose credentials a role is assumed with, by the name of a place. */
static enum radio_status
resolve_named_source (const struct rd_s3_search *search, const char *profile,
                      const char *name,
                      struct rd_s3_credentials **credentials)
{
  if (strcmp (name, "Environment") == 0)
    return environment_keys (search, credentials);
  if (strcmp (name, "EcsContainer") == 0)
    return rd_s3_look_at_container (search, credentials);
  if (strcmp (name, "Ec2InstanceMetadata") == 0)
    return rd_s3_ask_instance (search, credentials);
  return fail_profile (RADIO_ERROR_UNSUPPORTED, profile,
                       "has a credential_source that is not known");
}

/* A profile that is its own source gives its keys. */
static enum radio_status
resolve_source (const struct rd_s3_search *search, const char *profile,
                unsigned depth, struct rd_s3_credentials **credentials)
{
  const char *source = property (search, profile, "source_profile");
  const char *place = property (search, profile, "credential_source");
  if (source && strcmp (source, profile) == 0)
    RD_TRY (resolve_plain (search, profile, credentials));
  else if (source)
    RD_TRY (resolve_profile (search, source, depth + 1, credentials));
  else if (place)
    RD_TRY (resolve_named_source (search, profile, place, credentials));
  if (*credentials)
    return RADIO_OK;
  return fail_profile (RADIO_ERROR_ARGUMENT, profile, "has a role_arn, but "
                       "no source_profile or credential_source that has "
                       "credentials");
}

static enum radio_status
resolve_role (const struct rd_s3_search *search, const char *profile,
              unsigned depth, struct rd_s3_credentials **credentials)
{
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *source =
    NULL;
  struct rd_s3_role role = {
    .arn = property (search, profile, "role_arn"),
    .session_name = property (search, profile, "role_session_name"),
    .external_id = property (search, profile, "external_id"),
    .duration_s = property (search, profile, "duration_seconds"),
    .token_file = property (search, profile, "web_identity_token_file"),
  };
  if (role.token_file)
    return rd_s3_assume_role (search, &role, credentials);
  if (property (search, profile, "mfa_serial"))
    return fail_profile (RADIO_ERROR_UNSUPPORTED, profile, "has an "
                         "mfa_serial: nobody can be asked for its code");
  RD_TRY (resolve_source (search, profile, depth, &source));
  role.source = source;
  return rd_s3_assume_role (search, &role, credentials);
}

static enum radio_status
resolve_profile (const struct rd_s3_search *search, const char *profile,
                 unsigned depth, struct rd_s3_credentials **credentials)
{
  if (!rd_s3_profile_exists (search->profiles, profile))
    return fail_profile (RADIO_ERROR_NOT_FOUND, profile, "is in neither of "
                         "the files of profiles");
  if (depth == MAX_DEPTH)
    return fail_profile (RADIO_ERROR_ARGUMENT, profile,
                         "has too long a chain of source_profile");
  return property (search, profile, "role_arn")
         ? resolve_role (search, profile, depth, credentials)
         : resolve_plain (search, profile, credentials);
}

static enum radio_status
look_at_profile (const struct rd_s3_search *search,
                 struct rd_s3_credentials **credentials)
{
  const char *profile = rd_s3_profile_name (search->settings);
  if (!rd_s3_profile_is_chosen (search->settings)
      && !rd_s3_profile_exists (search->profiles, profile))
    return RADIO_OK;
  return resolve_profile (search, profile, 0, credentials);
}

/*------------------------------------------------------------------------
 * Services
 *----------------------------------------------------------------------*/

static enum radio_status
look_at_web_identity (const struct rd_s3_search *search,
                      struct rd_s3_credentials **credentials)
{
  const struct rd_s3_role role = {
    .arn = setting (search, RD_S3_ROLE_ARN),
    .session_name = setting (search, RD_S3_ROLE_SESSION_NAME),
    .token_file = setting (search, RD_S3_TOKEN_FILE),
  };
  if (role.token_file == NULL || setting (search, RD_S3_OWN_PROFILE))
    return RADIO_OK;
  if (role.arn == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "AWS_WEB_IDENTITY_TOKEN_FILE is "
                    "set, but AWS_ROLE_ARN is not");
  return rd_s3_assume_role (search, &role, credentials);
}

/* The last place: that it does not answer is no news off an instance. */
static enum radio_status
look_at_instance (const struct rd_s3_search *search,
                  struct rd_s3_credentials **credentials)
{
  if (rd_s3_setting_is_true (search->settings, RD_S3_METADATA_DISABLED))
    return RADIO_OK;
  enum radio_status status = rd_s3_ask_instance (search, credentials);
  return status == RADIO_OK
         ? RADIO_OK
         : rd_fail_in (status, "no credentials for S3 in the environment or "
                       "the profile '%.200s', nor of a container or instance",
                       rd_s3_profile_name (search->settings));
}

/*------------------------------------------------------------------------
 * The search
 *----------------------------------------------------------------------*/

static enum radio_status
search_all (const struct rd_s3_search *search,
            struct rd_s3_credentials **credentials)
{
  static source_fn *const sources[] = {
    look_at_web_identity, look_at_profile, rd_s3_look_at_container,
    look_at_instance,
  };
  for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
    RD_TRY (sources[i] (search, credentials));
    if (*credentials)
      return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_PERMISSION, "no credentials for S3: neither "
                  "AWS_ACCESS_KEY_ID nor the profile '%.200s' has any, and "
                  "nothing else is set up; public buckets are read "
                  "anonymously when that is asked for",
                  rd_s3_profile_name (search->settings));
}

enum radio_status
rd_s3_find_credentials (const struct rd_s3_settings *settings, int64_t now_s,
                        struct rd_s3_credentials **credentials)
{
  RD_S3_PROFILES_SCOPE struct rd_s3_profiles profiles = { 0 };
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *found =
    NULL;
  if (settings->is_anonymous)
    return rd_s3_credentials_new (NULL, NULL, NULL, 0, credentials);
  const struct rd_s3_search search = { settings, &profiles, now_s };
  /* What is given needs no files, which may be unreadable. */
  RD_TRY (look_at_own (&search, &found));
  if (found == NULL)
    RD_TRY (look_at_environment (&search, &found));
  if (found == NULL) {
    RD_TRY (rd_s3_profiles_read (settings, &profiles));
    RD_TRY (search_all (&search, &found));
  }
  *credentials = RD_STEAL (found);
  return RADIO_OK;
}
