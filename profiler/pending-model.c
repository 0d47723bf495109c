/* SPDX-License-Identifier: MIT */
/* Declared, and not there yet. */
#include <config.h>

#include <radio/radio.h>

#include "profiler/model/profile.h"

enum radio_status
radio_profile_join (struct radio_profile *const *profiles,
                    size_t n,
                    enum radio_profile_parts parts,
                    struct radio_profile **joined)
{
  (void) profiles;
  (void) n;
  (void) parts;
  (void) joined;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}

void
radio_profile_imbalance (const struct radio_profile *profile,
                         size_t node,
                         struct radio_imbalance *imbalance)
{
  (void) profile;
  (void) node;
  (void) imbalance;
}

enum radio_status
radio_profile_compare (const struct radio_profile *before,
                       const struct radio_profile *after,
                       struct radio_comparison **comparison)
{
  (void) before;
  (void) after;
  (void) comparison;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}

size_t
radio_comparison_count (const struct radio_comparison *comparison)
{
  (void) comparison;
  return 0;
}

const struct radio_difference *
radio_comparison_get (const struct radio_comparison *comparison, size_t i)
{
  (void) comparison;
  (void) i;
  return 0;
}

void
radio_comparison_close (struct radio_comparison *comparison)
{
  (void) comparison;
}

enum radio_status
rd_profile_find_facts (struct radio_profile *profile)
{
  (void) profile;
  return RADIO_OK;
}
