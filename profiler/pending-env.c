/* SPDX-License-Identifier: MIT */
/* Declared, and not there yet. */
#include <config.h>

#include <radio/radio.h>

#include "profiler/base/error.h"

enum radio_status
radio_profile_from_env (void)
{
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}

enum radio_status
radio_profile_finish_env (char **path)
{
  (void) path;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}
