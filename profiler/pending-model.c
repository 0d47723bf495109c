/* SPDX-License-Identifier: MIT */
/* Declared, and not there yet. */
#include <config.h>

#include <radio/radio.h>

#include "profiler/model/profile.h"

enum radio_status
rd_profile_find_facts (struct radio_profile *profile)
{
  (void) profile;
  return RADIO_OK;
}
