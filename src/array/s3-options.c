/* SPDX-License-Identifier: MIT */
/* From what is said about S3 to what its store is opened with. */
#include <config.h>

#include <strings.h>

#include "src/array/s3-options.h"

#define MAX_HEDGE_PERCENT 5

/* With the first that makes nine, which is what a box of 64 slices asks for
 * at one time where its tiles are balanced. */
#define CONNECTIONS_AHEAD 8

static enum radio_status
take_asked (const struct radio_s3_options *asked,
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

static enum rd_s3_addressing
addressing (enum radio_s3_addressing asked)
{
  switch (asked) {
  case RADIO_S3_ADDRESSING_PATH: return RD_S3_ADDRESSING_PATH;
  case RADIO_S3_ADDRESSING_VIRTUAL: return RD_S3_ADDRESSING_VIRTUAL;
  default: return RD_S3_ADDRESSING_AUTO;
  }
}

static const char *
either (const char *one, const char *other)
{
  return one && *one ? one : other;
}

/* Who wants more than the slowest few asked twice has another problem. */
static enum radio_status
check (const struct radio_s3_options *asked)
{
  if (asked->hedge_percent > MAX_HEDGE_PERCENT)
    return rd_fail (RADIO_ERROR_ARGUMENT, "hedge_percent: %u is more than "
                    "%d", asked->hedge_percent, MAX_HEDGE_PERCENT);
  return RADIO_OK;
}

/* Only what demands a checksum gets one: nothing that is asked here does. */
static bool
has_no_sums (const struct rd_s3_settings *settings,
             const struct rd_s3_profiles *profiles)
{
  const char *when = rd_s3_setting (settings, RD_S3_REQUEST_SUMS);
  if (when == NULL)
    when = rd_s3_profile_get (profiles, rd_s3_profile_name (settings),
                              "request_checksum_calculation");
  return when && strcasecmp (when, "when_required") == 0;
}

static void
fill (const struct radio_s3_options *asked, struct rd_s3_resolved *resolved)
{
  const struct rd_s3_settings *settings = &resolved->settings;
  const struct rd_s3_profiles *profiles = &resolved->profiles;
  resolved->options = (struct rd_s3_options) {
    .endpoint = either (asked->endpoint,
                        rd_s3_endpoint (settings, profiles, "s3")),
    .region = rd_s3_region (settings, profiles),
    .addressing = addressing (asked->addressing),
    .provider.settings = settings,
    .single_writer = asked->single_writer,
    .no_sums = has_no_sums (settings, profiles),
    .grace_s = asked->grace_s,
    .gap_nbytes = asked->gap_nbytes,
    .cap_nbytes = asked->cap_nbytes,
    .http.connect_timeout_ms = asked->connect_timeout_ms,
    .http.first_byte_timeout_ms = asked->first_byte_timeout_ms,
    .http.stall_timeout_ms = asked->stall_timeout_ms,
    .http.deadline_ms = asked->deadline_ms,
    .http.ca_file = rd_s3_ca_file (settings),
    .http.hedge_percent = asked->hedge_percent,
    .http.npreconnect = asked->no_connect_ahead ? 0 : CONNECTIONS_AHEAD,
  };
}

/* Whether what follows would be the same with any files of profiles. */
static bool
has_said_where (const struct radio_s3_options *asked,
                const struct rd_s3_settings *settings)
{
  bool has_region = rd_s3_setting (settings, RD_S3_OWN_REGION)
                    || rd_s3_setting (settings, RD_S3_REGION)
                    || rd_s3_setting (settings, RD_S3_DEFAULT_REGION);
  bool has_endpoint = either (asked->endpoint, NULL)
                      || rd_s3_setting (settings, RD_S3_ENDPOINT_S3)
                      || rd_s3_setting (settings, RD_S3_ENDPOINT);
  return has_region && has_endpoint;
}

/* A file that cannot be read is an error only where it could have a say:
 * else what it says of the endpoint would be passed over, and another server
 * be asked.  That keys are to come from a file is another matter: looking for
 * them reads it again, and then tells. */
static enum radio_status
read_profiles (const struct radio_s3_options *asked,
               struct rd_s3_resolved *resolved)
{
  const struct rd_s3_settings *settings = &resolved->settings;
  enum radio_status status = rd_s3_profiles_read (settings,
                                                  &resolved->profiles);
  if (status == RADIO_OK || status == RADIO_ERROR_MEMORY
      || rd_s3_profile_is_chosen (settings)
      || !has_said_where (asked, settings))
    return status;
  rd_s3_profiles_free (&resolved->profiles);
  return RADIO_OK;
}

enum radio_status
rd_s3_resolve (const struct radio_s3_options *asked,
               struct rd_s3_resolved *resolved)
{
  RD_TRY (check (asked));
  RD_TRY (rd_s3_settings_from_environment (&resolved->settings));
  RD_TRY (take_asked (asked, &resolved->settings));
  RD_TRY (read_profiles (asked, resolved));
  fill (asked, resolved);
  return RADIO_OK;
}

void
rd_s3_resolved_free (struct rd_s3_resolved *resolved)
{
  rd_s3_profiles_free (&resolved->profiles);
  rd_s3_settings_free (&resolved->settings);
  *resolved = (struct rd_s3_resolved) { 0 };
}
