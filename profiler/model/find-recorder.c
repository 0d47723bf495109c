/* SPDX-License-Identifier: MIT */
/* What the profiler did to the profile: its own cost, what the log did not
 * keep, and scopes without an end. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "profiler/model/findings.h"
#include "profiler/model/vector.h"

/* Of the threads' work: small scopes are then shown too large. */
#define OVERHEAD_SHARE 0.03
#define OVERHEAD_PROBLEM_SHARE 0.1

static size_t
most_called (const struct rd_finder *finder)
{
  size_t at = RADIO_NO_PARENT;
  uint64_t most = 0;
  for (size_t i = 0; i < finder->profile->nodes.n; i++) {
    if (finder->profile->nodes.at[i].calls <= most)
      continue;
    most = finder->profile->nodes.at[i].calls;
    at = i;
  }
  return at;
}

static enum radio_status
find_overhead (struct rd_finder *finder)
{
  const struct radio_profile_info *info = &finder->profile->info;
  double share = finder->work_ns
                 ? (double) info->overhead_ns / (double) finder->work_ns : 0;
  size_t at = most_called (finder);
  if (share < OVERHEAD_SHARE || at == RADIO_NO_PARENT)
    return RADIO_OK;
  const struct radio_profile_node *node = &finder->profile->nodes.at[at];
  struct rd_claim claim = {
    "profiler-overhead", "The profiler itself takes time",
    share >= OVERHEAD_PROBLEM_SHARE ? RADIO_FINDING_PROBLEM
                                    : RADIO_FINDING_HINT, share, at
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " scopes of %s ns are %s, %s of the threads' "
                   "work; '%.60s' has %" PRIu64 " of them",
                   info->scope_count,
                   rd_human_number (info->scope_cost_ns).text,
                   rd_human_ns (info->overhead_ns).text,
                   rd_human_percent (share, 1).text, node->name,
                   node->calls);
}

static size_t
most_dropped (const struct rd_finder *finder)
{
  size_t at = RADIO_NO_PARENT;
  uint64_t most = 0;
  for (size_t i = 0; i < finder->profile->nodes.n; i++) {
    if (finder->profile->nodes.at[i].dropped_count <= most)
      continue;
    most = finder->profile->nodes.at[i].dropped_count;
    at = i;
  }
  return at;
}

/* "; 3 paths were too tiny and frequent to be logged", if there were. */
static void
tell_throttled (const struct rd_finder *finder, char *text, size_t nbytes)
{
  const char *number = rd_profile_find_fact (finder->profile,
                                             "paths no longer logged");
  uint64_t count = number ? rd_parse_digits (number) : 0;
  text[0] = '\0';
  if (count > 0)
    snprintf (text, nbytes, "; %" PRIu64 " paths were too tiny and frequent "
              "to go on logging them", count);
}

/* A profile that has no log on purpose is not incomplete. */
static enum radio_status
find_dropped (struct rd_finder *finder)
{
  const struct radio_profile_info *info = &finder->profile->info;
  size_t nspans = finder->profile->spans.n;
  if (info->dropped_count == 0 || nspans == 0)
    return RADIO_OK;
  char tiny[96];
  tell_throttled (finder, tiny, sizeof tiny);
  double all = (double) info->dropped_count + (double) nspans;
  size_t at = most_dropped (finder);
  struct rd_claim claim = {
    "log-incomplete", "The timeline is not complete", RADIO_FINDING_NOTE,
    (double) info->dropped_count / all, at
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " spans of %s were not kept (%s), most of them "
                   "of '%.60s'%s; the call tree has them all",
                   info->dropped_count, rd_human_number (all).text,
                   rd_human_percent ((double) info->dropped_count, all).text,
                   at == RADIO_NO_PARENT
                   ? "" : finder->profile->nodes.at[at].name, tiny);
}

static enum radio_status
find_open (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  size_t at = RADIO_NO_PARENT;
  for (size_t i = profile->nodes.n; i-- > 0;)
    if (profile->nodes.at[i].open_count > 0)
      at = i;
  if (at == RADIO_NO_PARENT)
    return RADIO_OK;
  struct rd_claim claim = {
    "open-scopes", "Scopes were open at the end", RADIO_FINDING_NOTE, 0, at
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " scopes had not ended when the recording "
                   "did, the outermost in '%.60s': their times are up to "
                   "then", profile->info.open_count,
                   profile->nodes.at[at].name);
}

enum radio_status
rd_find_recorder (struct rd_finder *finder)
{
  RD_TRY (find_overhead (finder));
  RD_TRY (find_dropped (finder));
  return find_open (finder);
}
