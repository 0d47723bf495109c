/* SPDX-License-Identifier: MIT */
/* What became of the whole: whether it failed, which of its operations did,
 * and whether its threads had the CPUs while they were in scopes of work. */
#include <config.h>

#include <inttypes.h>

#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/vector.h"

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
                   rd_human_ns (finder->profile->info.wall_ns).text,
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
    "large", rd_human_ns (finder->work_ns).text,
    rd_human_ns (finder->ran_ns).text, rd_human_percent (share, 1).text,
    finder->ncpus ? rd_human_count (finder->ncpus, "CPU", "CPUs").text
                  : "CPUs");
}

enum radio_status
rd_find_process (struct rd_finder *finder)
{
  RD_TRY (find_failure (finder));
  RD_TRY (find_failures (finder));
  return find_idle (finder);
}
