/* SPDX-License-Identifier: MIT */
/* Findings about the process and the recorder. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/vector.h"

/*------------------------------------------------------------------------
 * What became of the whole: whether it failed, which of its operations did,
 * and whether its threads had the CPUs while they were in scopes of work.
 *----------------------------------------------------------------------*/

/* Of the work: below, the threads did not have the CPUs that they could have
 * used; if it is so much at least. */
#define RAN_SHARE 0.8
#define MIN_IDLE_NS 10000000

static uint64_t
failures_of (const struct rd_finder *finder, size_t node)
{
  return radio_profile_counter (finder->profile, node,
                                rd_count_failures.name, false);
}

/* The innermost operation that failed, most often of such: an error goes up
 * through all operations around it. */
static size_t
find_failing_node (const struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  size_t found = RADIO_NO_PARENT;
  uint64_t most = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    uint64_t own = failures_of (finder, i);
    uint64_t all = radio_profile_counter (profile, i, rd_count_failures.name,
                                          true);
    if (own <= most || own != all)
      continue;
    most = own;
    found = i;
  }
  return found;
}

/* Before all others: whatever else the profile shows is of a failure. */
static enum radio_status
find_failure (struct rd_finder *finder)
{
  const char *message = rd_profile_find_fact (finder->profile,
                                              RD_FACT_FAILED);
  if (message == NULL)
    return RADIO_OK;
  struct rd_claim claim = {
    "failed", "It failed", RADIO_FINDING_PROBLEM, 2,
    find_failing_node (finder)
  };
  return rd_found (finder, &claim, "within %s: %.400s",
                   rd_format_ns (finder->profile->info.wall_ns).text,
                   message);
}

/* A program may live with an operation that failed: a hint, where nobody
 * says that the whole did. */
static enum radio_status
find_failures (struct rd_finder *finder)
{
  size_t at = find_failing_node (finder);
  if (at == RADIO_NO_PARENT
      || rd_profile_find_fact (finder->profile, RD_FACT_FAILED))
    return RADIO_OK;
  const struct radio_profile_node *node = &finder->profile->nodes.at[at];
  bool varies = false;
  const char *why = rd_finder_note (finder, at, RD_NOTE_FAILED, &varies);
  uint64_t own = failures_of (finder, at);
  struct rd_claim claim = {
    "failures", "Operations failed", RADIO_FINDING_HINT,
    (double) own / (double) rd_max_u64 (node->calls, 1), at
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " of %" PRIu64 " '%.60s' failed%s%.80s%s", own,
                   node->calls, node->name, why ? ": " : "", why ? why : "",
                   varies ? ", or otherwise" : "");
}

bool
rd_finder_lacked_cpus (const struct rd_finder *finder)
{
  return finder->work_ns - finder->ran_ns >= MIN_IDLE_NS
         && (double) finder->ran_ns < RAN_SHARE * (double) finder->work_ns;
}

/* Work is the time on the clock in which a scope did not say that it waits.
 * The process cannot have worked longer than its threads had CPUs: the rest
 * was sleep, or the CPUs were others'. */
static enum radio_status
find_idle (struct rd_finder *finder)
{
  if (!rd_finder_lacked_cpus (finder))
    return RADIO_OK;
  double share = (double) finder->ran_ns / (double) finder->work_ns;
  struct rd_claim claim = {
    "threads-off-cpu", "Threads did not have a CPU all the time",
    RADIO_FINDING_HINT, 1 - share, RADIO_NO_PARENT
  };
  return rd_found (
    finder, &claim,
    "in %s that count as work the process had CPUs for %s (%s): in the rest "
    "a scope slept, or other processes had the %s; times of work are too "
    "large", rd_format_ns (finder->work_ns).text,
    rd_format_ns (finder->ran_ns).text, rd_format_percent (share, 1).text,
    finder->ncpus ? rd_format_count (finder->ncpus, "CPU", "CPUs").text
                  : "CPUs");
}

enum radio_status
rd_find_process (struct rd_finder *finder)
{
  RD_TRY (find_failure (finder));
  RD_TRY (find_failures (finder));
  return find_idle (finder);
}

/*------------------------------------------------------------------------
 * What the profiler did to the profile: its own cost, what the log did not
 * keep, and scopes without an end.
 *----------------------------------------------------------------------*/

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
                   rd_format_count (info->scope_count, "scope",
                                   "scopes").text,
                   rd_format_number (info->scope_cost_ns).text,
                   rd_format_ns (info->overhead_ns).text,
                   rd_format_percent (share, 1).text, node->name,
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
              "logging", rd_format_count (count, "path", "paths").text,
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
                   info->dropped_count, rd_format_number (all).text,
                   rd_format_percent ((double) info->dropped_count, all).text,
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
                   rd_format_count (profile->info.open_count, "scope",
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
                       rd_format_count (count, limit->one,
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
