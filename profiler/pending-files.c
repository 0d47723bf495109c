/* SPDX-License-Identifier: MIT */
/* Declared, and not there yet. */
#include <config.h>

#include <radio/radio.h>

#include "profiler/base/error.h"

enum radio_status
radio_profile_read (const char *path, struct radio_profile **profile)
{
  (void) path;
  (void) profile;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}
