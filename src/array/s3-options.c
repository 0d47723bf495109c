/* SPDX-License-Identifier: MIT */
/* Resolving the options of a store in S3. */
#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/array/s3-options.h"
#include "src/base/text.h"

#define MAX_HEDGE_PERCENT 5

/* With the first one nine, as many requests as a box of 64 slices makes at one
 * time where its tiles are balanced. */
#define PRECONNECT_COUNT 8

/*------------------------------------------------------------------------
 * Settings
 *----------------------------------------------------------------------*/

/* The fields that settings can name. */
enum setting_kind {
  SETTING_FLAG,               /* no value; bool */
  SETTING_NUMBER,             /* a number above 0; unsigned */
  SETTING_SIZE,               /* bytes, as 16M, above 0; uint64_t */
  SETTING_TIME,               /* milliseconds, as 5s, above 0; uint64_t */
  SETTING_ADDRESSING,         /* path, virtual; enum radio_s3_addressing */
};

struct setting {
  const char *name;
  enum setting_kind kind;
  size_t offset;              /* in struct radio_s3_options */
};

#define S3(field) offsetof (struct radio_s3_options, field)

static const struct setting all_settings[] = {
  { "anonymous", SETTING_FLAG, S3 (anonymous) },
  { "addressing", SETTING_ADDRESSING, S3 (addressing) },
  { "hedge", SETTING_NUMBER, S3 (hedge_percent) },
  { "gap", SETTING_SIZE, S3 (gap_nbytes) },
  { "cap", SETTING_SIZE, S3 (cap_nbytes) },
  { "connect-timeout", SETTING_TIME, S3 (connect_timeout_ms) },
  { "first-byte-timeout", SETTING_TIME, S3 (first_byte_timeout_ms) },
  { "stall-timeout", SETTING_TIME, S3 (stall_timeout_ms) },
  { "deadline", SETTING_TIME, S3 (deadline_ms) },
  { "no-connect-ahead", SETTING_FLAG, S3 (no_connect_ahead) },
  { "single-writer", SETTING_FLAG, S3 (single_writer) },
};

/* Descriptions of the values of each kind, for errors. */
static const char *const value_syntax[] = {
  [SETTING_NUMBER] = "a number above 0",
  [SETTING_SIZE] = "a size above 0, such as 512K or 16M",
  [SETTING_TIME] = "a time above 0, such as 500ms, 5s or 2min",
  [SETTING_ADDRESSING] = "'path' or 'virtual'",
};

#define NSETTINGS (sizeof all_settings / sizeof all_settings[0])

static enum radio_status
fail_unknown (const char *name)
{
  char list[512] = "";
  for (size_t i = 0, used = 0; i < NSETTINGS; i++, used = strlen (list))
    snprintf (list + used, sizeof list - used, "%s%s", used ? ", " : "",
              all_settings[i].name);
  return rd_fail (RADIO_ERROR_ARGUMENT, "unknown setting '%s'; use one of %s",
                  name, list);
}

/* One setting; value is NULL where there is no '='. */
static enum radio_status
parse_setting (const char *name, const char *value,
               struct radio_s3_options *options)
{
  const struct setting *setting = all_settings;
  while (setting < all_settings + NSETTINGS
         && strcmp (setting->name, name) != 0)
    setting++;
  if (setting == all_settings + NSETTINGS)
    return fail_unknown (name);
  void *field = (char *) options + setting->offset;
  uint64_t n = 0;
  bool is_path, is_valid = false;
  if (setting->kind == SETTING_FLAG) {
    *(bool *) field = value == NULL;
    return value == NULL ? RADIO_OK
                         : rd_fail (RADIO_ERROR_ARGUMENT, "'%s' takes no "
                                    "value", name);
  }
  if (value == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s' needs a value: %s", name,
                    value_syntax[setting->kind]);
  switch (setting->kind) {
  case SETTING_NUMBER:
    is_valid = rd_parse_u64 (value, &n) && n > 0 && n <= UINT_MAX;
    *(unsigned *) field = is_valid ? (unsigned) n : 0;
    break;
  case SETTING_SIZE:
    is_valid = rd_parse_size (value, field) && *(uint64_t *) field > 0;
    break;
  case SETTING_TIME:
    is_valid = rd_parse_ms (value, field) && *(uint64_t *) field > 0;
    break;
  default:
    is_path = strcmp (value, "path") == 0;
    is_valid = is_path || strcmp (value, "virtual") == 0;
    *(enum radio_s3_addressing *) field
      = is_path ? RADIO_S3_ADDRESSING_PATH : RADIO_S3_ADDRESSING_VIRTUAL;
  }
  return is_valid ? RADIO_OK
                  : rd_fail (RADIO_ERROR_ARGUMENT, "%s: '%s' is not %s", name,
                             value, value_syntax[setting->kind]);
}

enum radio_status
radio_s3_options_parse (const char *settings,
                        struct radio_s3_options *options)
{
  RD_NOT_NULL (options);
  if (!settings || !*settings)
    return RADIO_OK;
  RD_FREE char *copy = rd_strdup (settings);
  if (copy == NULL)
    return rd_fail_memory (strlen (settings) + 1);
  for (char *name = copy, *next; name; name = next) {
    next = strchr (name, ',');
    if (next)
      *next++ = '\0';
    char *value = strchr (name, '=');
    if (value)
      *value++ = '\0';
    RD_TRY (parse_setting (name, value, options));
  }
  return RADIO_OK;
}

/* Sets fields that are zero from RADIO_S3.  If the caller chose credentials,
 * "anonymous" is not his. */
static enum radio_status
add_environment (const struct rd_s3_settings *settings,
                 struct radio_s3_options *options)
{
  static const size_t nbytes[] = {
    [SETTING_FLAG] = sizeof (bool), [SETTING_NUMBER] = sizeof (unsigned),
    [SETTING_SIZE] = sizeof (uint64_t), [SETTING_TIME] = sizeof (uint64_t),
    [SETTING_ADDRESSING] = sizeof (enum radio_s3_addressing),
  };
  static const char zero[sizeof (uint64_t)];
  struct radio_s3_options more = { 0 };
  enum radio_status status = radio_s3_options_parse (
    rd_s3_setting (settings, RD_S3_RADIO), &more);
  if (status != RADIO_OK)
    return rd_fail_in (status, "RADIO_S3");
  more.anonymous &= !options->access_key && !options->profile;
  for (size_t i = 0; i < NSETTINGS; i++) {
    const struct setting *setting = &all_settings[i];
    char *field = (char *) options + setting->offset;
    if (memcmp (field, zero, nbytes[setting->kind]) == 0)
      memcpy (field, (const char *) &more + setting->offset,
              nbytes[setting->kind]);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Resolving
 *----------------------------------------------------------------------*/

static enum radio_status
set_explicit (const struct radio_s3_options *asked,
              struct rd_s3_settings *settings)
{
  settings->is_anonymous = asked->anonymous;
  RD_TRY (rd_s3_settings_set (settings, RD_S3_OWN_ACCESS_KEY,
                              asked->access_key));
  RD_TRY (rd_s3_settings_set (settings, RD_S3_OWN_SECRET_KEY,
                              asked->secret_key));
  RD_TRY (rd_s3_settings_set (settings, RD_S3_OWN_SESSION_TOKEN,
                              asked->session_token));
  RD_TRY (rd_s3_settings_set (settings, RD_S3_OWN_PROFILE, asked->profile));
  RD_TRY (rd_s3_settings_set (settings, RD_S3_OWN_CA_FILE, asked->ca_file));
  return rd_s3_settings_set (settings, RD_S3_OWN_REGION, asked->region);
}

static const char *
either (const char *one, const char *other)
{
  return one && *one ? one : other;
}

static void
set_options (const struct radio_s3_options *asked,
             struct rd_s3_resolved *resolved)
{
  const struct rd_s3_settings *settings = &resolved->settings;
  const struct rd_s3_profiles *profiles = &resolved->profiles;
  /* Only requests that require a checksum get one: none of ours do. */
  const char *when = rd_s3_setting (settings, RD_S3_REQUEST_SUMS);
  if (when == NULL)
    when = rd_s3_profile_get (profiles, rd_s3_profile_name (settings),
                              "request_checksum_calculation");
  resolved->options = (struct rd_s3_options) {
    .endpoint = either (asked->endpoint,
                        rd_s3_endpoint (settings, profiles, "s3")),
    .region = rd_s3_region (settings, profiles),
    .addressing = asked->addressing == RADIO_S3_ADDRESSING_PATH
      ? RD_S3_ADDRESSING_PATH
      : asked->addressing == RADIO_S3_ADDRESSING_VIRTUAL
      ? RD_S3_ADDRESSING_VIRTUAL : RD_S3_ADDRESSING_AUTO,
    .provider.settings = settings,
    .single_writer = asked->single_writer,
    .no_sums = when && strcasecmp (when, "when_required") == 0,
    .grace_s = asked->grace_s,
    .gap_nbytes = asked->gap_nbytes,
    .cap_nbytes = asked->cap_nbytes,
    .http.connect_timeout_ms = asked->connect_timeout_ms,
    .http.first_byte_timeout_ms = asked->first_byte_timeout_ms,
    .http.stall_timeout_ms = asked->stall_timeout_ms,
    .http.deadline_ms = asked->deadline_ms,
    .http.ca_file = rd_s3_ca_file (settings),
    .http.hedge_percent = asked->hedge_percent,
    .http.npreconnect = asked->no_connect_ahead ? 0 : PRECONNECT_COUNT,
  };
}

/* A file that cannot be read is an error only if it could set the endpoint or
 * region: ignoring it might then send requests to another server.  Keys are
 * looked up later, which reads the file again, and then fails. */
static enum radio_status
read_profiles (const struct radio_s3_options *asked,
               struct rd_s3_resolved *resolved)
{
  const struct rd_s3_settings *settings = &resolved->settings;
  bool has_region = rd_s3_setting (settings, RD_S3_OWN_REGION)
                    || rd_s3_setting (settings, RD_S3_REGION)
                    || rd_s3_setting (settings, RD_S3_DEFAULT_REGION);
  bool has_endpoint = either (asked->endpoint, NULL)
                      || rd_s3_setting (settings, RD_S3_ENDPOINT_S3)
                      || rd_s3_setting (settings, RD_S3_ENDPOINT);
  enum radio_status status = rd_s3_profiles_read (settings,
                                                  &resolved->profiles);
  if (status == RADIO_OK || status == RADIO_ERROR_MEMORY
      || rd_s3_profile_is_chosen (settings) || !has_region || !has_endpoint)
    return status;
  rd_s3_profiles_free (&resolved->profiles);
  return RADIO_OK;
}

enum radio_status
rd_s3_resolve (const struct radio_s3_options *given,
               struct rd_s3_resolved *resolved)
{
  struct radio_s3_options merged = *given;
  const struct radio_s3_options *asked = &merged;
  RD_TRY (rd_s3_settings_from_environment (&resolved->settings));
  RD_TRY (add_environment (&resolved->settings, &merged));
  /* Duplicating more than the slowest few requests cannot help. */
  if (asked->hedge_percent > MAX_HEDGE_PERCENT)
    return rd_fail (RADIO_ERROR_ARGUMENT, "hedge_percent is %u, more than "
                    "%d", asked->hedge_percent, MAX_HEDGE_PERCENT);
  if ((unsigned) asked->addressing > RADIO_S3_ADDRESSING_VIRTUAL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "addressing is %u; use an enum "
                    "radio_s3_addressing", (unsigned) asked->addressing);
  RD_TRY (set_explicit (asked, &resolved->settings));
  RD_TRY (read_profiles (asked, resolved));
  set_options (asked, resolved);
  return RADIO_OK;
}

void
rd_s3_resolved_free (struct rd_s3_resolved *resolved)
{
  rd_s3_profiles_free (&resolved->profiles);
  rd_s3_settings_free (&resolved->settings);
  *resolved = (struct rd_s3_resolved) { 0 };
}
