/* SPDX-License-Identifier: MIT */
/* The search for credentials, and credentials in JSON. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "io/s3/sources.h"
#include "io/s3/xml.h"

/* Roles that are assumed with the credentials of other roles. */
#define MAX_DEPTH 8

/*------------------------------------------------------------------------
 * JSON documents
 *----------------------------------------------------------------------*/

/* Returns a string member, or NULL where it is missing.  The getters of
 * src/base/json.h would show its value in messages. */
static enum radio_status
get_text (struct json_object *document, const char *name, const char *where,
          const char **text)
{
  struct json_object *value = rd_json_member (document, name);
  *text = NULL;
  if (value == NULL)
    return RADIO_OK;
  if (!json_object_is_type (value, json_type_string)
      || strlen (json_object_get_string (value))
         != (size_t) json_object_get_string_len (value))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: '%s' is not a string", where,
                    name);
  *text = json_object_get_string (value);
  return RADIO_OK;
}

static enum radio_status
require_text (struct json_object *document, const char *name,
              const char *where, const char **text)
{
  RD_TRY (get_text (document, name, where, text));
  if (*text == NULL || **text == '\0')
    return rd_fail (RADIO_ERROR_FORMAT, "%s: '%s' is missing", where, name);
  return RADIO_OK;
}

enum radio_status
rd_s3_credentials_from_json (const struct rd_buffer *text, const char *where,
                             bool is_process,
                             struct rd_s3_credentials **credentials)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  const char *access_key, *secret_key, *token, *expiration, *code = NULL;
  int64_t expires_s = 0;
  RD_TRY (rd_json_parse ((const char *) text->data, text->nbytes, where,
                         &document));
  if (!json_object_is_type (document, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: not a JSON object", where);
  if (is_process) {
    struct json_object *version = rd_json_member (document, "Version");
    if (!json_object_is_type (version, json_type_int)
        || json_object_get_int64 (version) != 1)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: 'Version' is not 1",
                      where);
  } else {
    RD_TRY (get_text (document, "Code", where, &code));
    if (code && strcmp (code, "Success") != 0)
      return rd_fail (RADIO_ERROR_PERMISSION, "%s: the response's 'Code' is "
                      "not Success", where);
  }
  RD_TRY (require_text (document, "AccessKeyId", where, &access_key));
  RD_TRY (require_text (document, "SecretAccessKey", where, &secret_key));
  RD_TRY (get_text (document, is_process ? "SessionToken" : "Token", where,
                    &token));
  RD_TRY (get_text (document, "Expiration", where, &expiration));
  if (expiration && !rd_s3_parse_time (expiration, &expires_s))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: 'Expiration' is not a time",
                    where);
  return rd_s3_credentials_new (access_key, secret_key,
                                token && *token ? token : NULL, expires_s,
                                credentials);
}

/*------------------------------------------------------------------------
 * Profiles
 *----------------------------------------------------------------------*/

static const char *
setting (const struct rd_s3_search *search, enum rd_s3_setting which)
{
  return rd_s3_setting (search->settings, which);
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

/* Resolves a profile that assumes no role. */
static enum radio_status
resolve_plain (const struct rd_s3_search *search, const char *profile,
               struct rd_s3_credentials **credentials)
{
  const char *command = property (search, profile, "credential_process");
  RD_TRY (rd_s3_profile_keys (search->profiles, profile, credentials));
  if (*credentials)
    return RADIO_OK;
  if (command)
    return rd_s3_process_credentials (command, profile,
                                      RD_S3_PROCESS_TIMEOUT_MS, credentials);
  if (property (search, profile, "sso_session")
      || property (search, profile, "sso_start_url"))
    return fail_profile (RADIO_ERROR_UNSUPPORTED, profile, "signs in by SSO, "
                         "which is not supported; use a profile with "
                         "'credential_process = aws configure "
                         "export-credentials --profile NAME'");
  return RADIO_OK;
}

static enum radio_status
resolve_profile (const struct rd_s3_search *search, const char *profile,
                 unsigned depth, struct rd_s3_credentials **credentials)
{
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials *own = NULL;
  struct rd_s3_role role = {
    .arn = property (search, profile, "role_arn"),
    .session_name = property (search, profile, "role_session_name"),
    .external_id = property (search, profile, "external_id"),
    .duration_s = property (search, profile, "duration_seconds"),
    .token_file = property (search, profile, "web_identity_token_file"),
  };
  const char *source = property (search, profile, "source_profile");
  const char *name = property (search, profile, "credential_source");
  if (!rd_s3_profile_exists (search->profiles, profile))
    return fail_profile (RADIO_ERROR_NOT_FOUND, profile, "is in neither of "
                         "the files of profiles");
  if (depth == MAX_DEPTH)
    return fail_profile (RADIO_ERROR_ARGUMENT, profile,
                         "has too long a chain of source_profile");
  if (role.arn == NULL)
    return resolve_plain (search, profile, credentials);
  if (role.token_file)
    return rd_s3_assume_role (search, &role, credentials);
  if (property (search, profile, "mfa_serial"))
    return fail_profile (RADIO_ERROR_UNSUPPORTED, profile, "has an "
                         "mfa_serial, which is not supported");

  /* The credentials that the role is assumed with.  A profile that is its own
   * source provides its keys. */
  if (source && strcmp (source, profile) == 0)
    RD_TRY (resolve_plain (search, profile, &own));
  else if (source)
    RD_TRY (resolve_profile (search, source, depth + 1, &own));
  else if (name && strcmp (name, "Environment") == 0)
    RD_TRY (environment_keys (search, &own));
  else if (name && strcmp (name, "EcsContainer") == 0)
    RD_TRY (rd_s3_container_credentials (search, &own));
  else if (name && strcmp (name, "Ec2InstanceMetadata") == 0)
    RD_TRY (rd_s3_instance_credentials (search, &own));
  else if (name)
    return fail_profile (RADIO_ERROR_UNSUPPORTED, profile,
                         "has an unknown credential_source");
  if (own == NULL)
    return fail_profile (RADIO_ERROR_ARGUMENT, profile, "has a role_arn, but "
                         "no source_profile or credential_source that has "
                         "credentials");
  role.source = own;
  return rd_s3_assume_role (search, &role, credentials);
}

/*------------------------------------------------------------------------
 * The search
 *----------------------------------------------------------------------*/

/* Searches the sources after the caller's and the environment's keys;
 * *credentials stays NULL where none is configured. */
static enum radio_status
search_sources (const struct rd_s3_search *search,
                struct rd_s3_credentials **credentials)
{
  const char *profile = rd_s3_profile_name (search->settings);
  const struct rd_s3_role role = {
    .arn = setting (search, RD_S3_ROLE_ARN),
    .session_name = setting (search, RD_S3_ROLE_SESSION_NAME),
    .token_file = setting (search, RD_S3_TOKEN_FILE),
  };
  if (role.token_file && !setting (search, RD_S3_OWN_PROFILE)) {
    if (role.arn == NULL)
      return rd_fail (RADIO_ERROR_ARGUMENT, "AWS_WEB_IDENTITY_TOKEN_FILE is "
                      "set, but AWS_ROLE_ARN is not");
    return rd_s3_assume_role (search, &role, credentials);
  }
  if (rd_s3_profile_is_chosen (search->settings)
      || rd_s3_profile_exists (search->profiles, profile))
    RD_TRY (resolve_profile (search, profile, 0, credentials));
  if (*credentials == NULL)
    RD_TRY (rd_s3_container_credentials (search, credentials));
  if (*credentials
      || rd_s3_setting_is_true (search->settings, RD_S3_METADATA_DISABLED))
    return RADIO_OK;
  enum radio_status status = rd_s3_instance_credentials (search, credentials);
  return status == RADIO_OK
         ? RADIO_OK
         : rd_fail_in (status, "none in the environment or the profile "
                       "'%.200s', nor of a container or instance",
                       profile);
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
  RD_TRY (rd_s3_keys (setting (&search, RD_S3_OWN_ACCESS_KEY),
                      setting (&search, RD_S3_OWN_SECRET_KEY),
                      setting (&search, RD_S3_OWN_SESSION_TOKEN),
                      "the credentials that were given", &found));
  /* A profile that the caller chose takes precedence over the environment's
   * keys; one that the environment chose does not. */
  if (found == NULL && !setting (&search, RD_S3_OWN_PROFILE))
    RD_TRY (environment_keys (&search, &found));
  /* Files are read only where they are needed: they may be unreadable. */
  if (found == NULL) {
    RD_TRY (rd_s3_profiles_read (settings, &profiles));
    RD_TRY (search_sources (&search, &found));
  }
  if (found == NULL)
    return rd_fail (RADIO_ERROR_PERMISSION, "neither AWS_ACCESS_KEY_ID nor "
                    "the profile '%.200s' has any, and no other source is "
                    "configured; public buckets need none "
                    "(RADIO_S3=anonymous)",
                    rd_s3_profile_name (settings));
  *credentials = RD_STEAL (found);
  return RADIO_OK;
}
