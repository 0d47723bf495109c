/* SPDX-License-Identifier: MIT */
/* Resolving the options of a store in S3. */
#include <config.h>

#include <strings.h>

#include "src/array/s3-options.h"

#define MAX_HEDGE_PERCENT 5

/* With the first one nine, as many requests as a box of 64 slices makes at one
 * time where its tiles are balanced. */
#define PRECONNECT_COUNT 8

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
rd_s3_resolve (const struct radio_s3_options *asked,
               struct rd_s3_resolved *resolved)
{
  /* Duplicating more than the slowest few requests cannot help. */
  if (asked->hedge_percent > MAX_HEDGE_PERCENT)
    return rd_fail (RADIO_ERROR_ARGUMENT, "hedge_percent: %u is more than "
                    "%d", asked->hedge_percent, MAX_HEDGE_PERCENT);
  RD_TRY (rd_s3_settings_from_environment (&resolved->settings));
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
