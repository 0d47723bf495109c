/* SPDX-License-Identifier: MIT */
/* From what is said about S3 to what its store is opened with. */
#include <config.h>

#include <string.h>

#include "src/array/s3-options.h"

#define MAX_HEDGE_PERCENT 5

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
    .grace_s = asked->grace_s,
    .gap_nbytes = asked->gap_nbytes,
    .cap_nbytes = asked->cap_nbytes,
    .http.connect_timeout_ms = asked->connect_timeout_ms,
    .http.first_byte_timeout_ms = asked->first_byte_timeout_ms,
    .http.stall_timeout_ms = asked->stall_timeout_ms,
    .http.deadline_ms = asked->deadline_ms,
    .http.ca_file = either (asked->ca_file,
                            rd_s3_setting (settings, RD_S3_CA_FILE)),
    .http.hedge_percent = asked->hedge_percent,
  };
}

enum radio_status
rd_s3_resolve (const struct radio_s3_options *asked,
               struct rd_s3_resolved *resolved)
{
  RD_TRY (check (asked));
  RD_TRY (rd_s3_settings_from_environment (&resolved->settings));
  RD_TRY (take_asked (asked, &resolved->settings));
  RD_TRY (rd_s3_profiles_read (&resolved->settings, &resolved->profiles));
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
