/* SPDX-License-Identifier: MIT */
/* Declared, and not there yet. */
#include <config.h>

#include <radio/radio.h>

#include "profiler/base/error.h"

enum radio_status
radio_profile_format_of (const char *path, enum radio_profile_format *format)
{
  (void) path;
  (void) format;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}

enum radio_status
radio_profile_write (const struct radio_profile *profile,
                     const char *path,
                     const struct radio_profile_write_options *options)
{
  (void) profile;
  (void) path;
  (void) options;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}

enum radio_status
radio_profile_write_to (const struct radio_profile *profile,
                        const struct radio_profile_write_options *options,
                        radio_profile_sink_fn *sink,
                        void *user_data)
{
  (void) profile;
  (void) options;
  (void) sink;
  (void) user_data;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}

enum radio_status
radio_profile_read (const char *path, struct radio_profile **profile)
{
  (void) path;
  (void) profile;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}
