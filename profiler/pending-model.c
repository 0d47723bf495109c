/* SPDX-License-Identifier: MIT */
/* Declared, and not there yet. */
#include <config.h>

#include <radio/radio.h>

#include "profiler/base/error.h"

void
radio_profile_close (struct radio_profile *profile)
{
  (void) profile;
}

void
radio_profile_info (const struct radio_profile *profile,
                    struct radio_profile_info *info)
{
  (void) profile;
  (void) info;
}

const struct radio_profile_node *
radio_profile_node (const struct radio_profile *profile, size_t i)
{
  (void) profile;
  (void) i;
  return 0;
}

uint64_t
radio_profile_counter (const struct radio_profile *profile,
                       size_t node,
                       const char *counter,
                       bool inclusive)
{
  (void) profile;
  (void) node;
  (void) counter;
  (void) inclusive;
  return 0;
}

const char *
radio_profile_counter_name (const struct radio_profile *profile,
                            size_t i,
                            const char **unit)
{
  (void) profile;
  (void) i;
  (void) unit;
  return 0;
}

void
radio_profile_node_part (const struct radio_profile *profile,
                         size_t node,
                         size_t part,
                         struct radio_profile_share *share)
{
  (void) profile;
  (void) node;
  (void) part;
  (void) share;
}

const char *
radio_profile_part (const struct radio_profile *profile,
                    size_t i,
                    uint64_t *wall_ns,
                    uint64_t *work_ns)
{
  (void) profile;
  (void) i;
  (void) wall_ns;
  (void) work_ns;
  return 0;
}

const char *
radio_profile_fact (const struct radio_profile *profile,
                    size_t i,
                    const char **key)
{
  (void) profile;
  (void) i;
  (void) key;
  return 0;
}

const struct radio_finding *
radio_profile_finding (const struct radio_profile *profile, size_t i)
{
  (void) profile;
  (void) i;
  return 0;
}

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
