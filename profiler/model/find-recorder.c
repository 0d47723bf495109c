/* SPDX-License-Identifier: MIT */
/* What the profiler did to the profile: its own cost, what the log did not
 * keep, and scopes without an end. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
                   "%s of %s ns are %s, %s of the threads' work; '%.60s' "
                   "has %" PRIu64 " of them",
                   rd_human_count (info->scope_count, "scope",
                                   "scopes").text,
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
  uint64_t count = rd_finder_number (finder, RD_FACT_THROTTLED);
  text[0] = '\0';
  if (count > 0)
    snprintf (text, nbytes, "; %.32s %s too tiny and frequent to go on "
              "logging", rd_human_count (count, "path", "paths").text,
              count == 1 ? "was" : "were");
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
                   "%" PRIu64 " of %s spans were not kept (%s), most of them "
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
                   "%s had not ended when the recording did, the outermost "
                   "in '%.60s': times are up to then",
                   rd_human_count (profile->info.open_count, "scope",
                                   "scopes").text,
                   profile->nodes.at[at].name);
}

/* What the recorder had no room for, in the order of how much it matters. */
static const struct limit {
  const char *fact, *one, *many;
  bool is_of_tree;            /* the call tree lacks it, too */
} limits[] = {
  { RD_FACT_THREADS, "thread was", "threads were", true },
  { RD_FACT_SKIPPED, "scope was", "scopes were", true },
  { RD_FACT_VALUES, "value was", "values were", true },
  { RD_FACT_TEXTS, "text was", "texts were", false },
  { RD_FACT_SAMPLES, "sample was", "samples were", false },
};

static const char *
what_became (const struct limit *limit)
{
  if (strcmp (limit->fact, RD_FACT_SKIPPED) == 0)
    return "counted into what is above, beyond 256 levels or 65536 paths";
  if (strcmp (limit->fact, RD_FACT_THREADS) == 0)
    return "not recorded";
  if (strcmp (limit->fact, RD_FACT_VALUES) == 0)
    return "not kept, of counters beyond the limit";
  return "not kept";
}

/* Append what one limit cost to the text. */
static size_t
tell_limit (const struct limit *limit, uint64_t count, char *text, size_t n,
            size_t nbytes)
{
  int more = snprintf (text + n, nbytes - n, "%s%s %s", n > 0 ? "; " : "",
                       rd_human_count (count, limit->one,
                                       limit->many).text,
                       what_became (limit));
  return more > 0 ? rd_min_u64 (n + (size_t) more, nbytes - 1) : n;
}

static enum radio_status
find_limits (struct rd_finder *finder)
{
  char text[448];
  size_t n = 0;
  struct rd_claim claim = {
    "limits-reached", "The recorder reached its limits",
    RADIO_FINDING_NOTE, 0.5, RADIO_NO_PARENT
  };
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    uint64_t count = rd_finder_number (finder, limits[i].fact);
    if (count == 0)
      continue;
    if (limits[i].is_of_tree)
      claim.weight = RADIO_FINDING_HINT;
    n = tell_limit (&limits[i], count, text, n, sizeof text);
  }
  return n > 0 ? rd_found (finder, &claim, "%s", text) : RADIO_OK;
}

enum radio_status
rd_find_recorder (struct rd_finder *finder)
{
  RD_TRY (find_overhead (finder));
  RD_TRY (find_limits (finder));
  RD_TRY (find_dropped (finder));
  return find_open (finder);
}
