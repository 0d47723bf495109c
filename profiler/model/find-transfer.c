/* SPDX-License-Identifier: MIT */
/* What happened to bytes on their way: requests sent again, errors, files
 * that had to come from the disk or were in memory, indexes in the cache. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/vector.h"

/* Of requests: from here on they are more than an accident. */
#define RETRY_SHARE 0.01

/* Of the time in calls that read files: waiting, when they are cold; and
 * hardly any when they are warm. */
#define COLD_SHARE 0.5
#define WARM_SHARE 0.1

/* Reading files that takes less of the threads' time does not matter. */
#define MIN_DISK_SHARE 0.05
#define MIN_DISK_NS 1000000

/* A cache that is right less often does not help much; fewer look-ups say
 * nothing. */
#define MIN_HIT_SHARE 0.5
#define MIN_LOOKUPS 20

/* The node with the most of a counter, of its own. */
static size_t
largest (const struct rd_finder *finder, const struct radio_counter *counter)
{
  size_t at = RADIO_NO_PARENT;
  uint64_t most = 0;
  for (size_t i = 0; i < finder->profile->nodes.n; i++) {
    uint64_t value =
      radio_profile_counter (finder->profile, i, counter->name, false);
    if (value > most) {
      most = value;
      at = i;
    }
  }
  return at;
}

static enum radio_status
find_retries (struct rd_finder *finder)
{
  uint64_t retries = rd_finder_sum (finder, &rd_count_retries);
  uint64_t requests = rd_finder_sum (finder, &rd_count_requests);
  if (retries == 0)
    return RADIO_OK;
  double share = (double) retries / (double) rd_max_u64 (requests, 1);
  struct rd_claim claim = {
    "retries", "Requests were sent again",
    share >= RETRY_SHARE ? RADIO_FINDING_HINT : RADIO_FINDING_NOTE, share,
    largest (finder, &rd_count_retries)
  };
  return rd_found (finder, &claim,
                   "%s of %s (%s)",
                   rd_human_count (retries, "retry", "retries").text,
                   rd_human_count (requests, "request", "requests").text,
                   rd_human_percent ((double) retries,
                                     (double) requests).text);
}

static enum radio_status
find_errors (struct rd_finder *finder)
{
  uint64_t errors = rd_finder_sum (finder, &rd_count_errors);
  if (errors == 0)
    return RADIO_OK;
  size_t at = largest (finder, &rd_count_errors);
  struct rd_claim claim = {
    "errors", "Something failed", RADIO_FINDING_PROBLEM, 1, at
  };
  const char *name =
    at == RADIO_NO_PARENT ? "" : finder->profile->nodes.at[at].name;
  return rd_found (finder, &claim,
                   "%s, most in '%.60s' (%" PRIu64 " of its %" PRIu64
                   " calls)", rd_human_count (errors, "error", "errors").text,
                   name,
                   radio_profile_counter (finder->profile, at,
                                          rd_count_errors.name, false),
                   at == RADIO_NO_PARENT
                   ? 0 : finder->profile->nodes.at[at].calls);
}

/*------------------------------------------------------------------------
 * Cold and warm
 *----------------------------------------------------------------------*/

/* Calls that read files, which counted what they fetched, or those above
 * them did. */
static bool
reads_files (const struct rd_finder *finder, size_t i)
{
  const struct radio_profile *profile = finder->profile;
  if (rd_category_of (finder, i) != RD_DISK)
    return false;
  size_t above = profile->nodes.at[i].parent;
  const char *name = rd_count_fetched.name;
  return radio_profile_counter (profile, i, name, true) > 0
         || (above != RADIO_NO_PARENT
             && radio_profile_counter (profile, above, name, false) > 0);
}

struct disk {
  uint64_t work_ns, wait_ns, most_ns;
  size_t most;
};

static struct disk
sum_disk (const struct rd_finder *finder)
{
  struct disk disk = { .most = RADIO_NO_PARENT };
  for (size_t i = 0; i < finder->profile->nodes.n; i++) {
    const struct radio_profile_node *node = &finder->profile->nodes.at[i];
    uint64_t both = rd_sum (node->work_ns, node->wait_ns);
    if (both == 0 || !reads_files (finder, i))
      continue;
    disk.work_ns = rd_sum (disk.work_ns, node->work_ns);
    disk.wait_ns = rd_sum (disk.wait_ns, node->wait_ns);
    if (both <= disk.most_ns)
      continue;
    disk.most_ns = both;
    disk.most = i;
  }
  return disk;
}

static enum radio_status
find_cold (struct rd_finder *finder)
{
  struct disk disk = sum_disk (finder);
  double both = (double) disk.work_ns + (double) disk.wait_ns;
  if (both < MIN_DISK_NS || both < MIN_DISK_SHARE * (double) finder->busy_ns)
    return RADIO_OK;
  double share = (double) disk.wait_ns / both;
  uint64_t ns = rd_sum (disk.work_ns, disk.wait_ns);
  struct rd_claim cold = {
    "cold-files", "Files were cold", RADIO_FINDING_NOTE,
    share * both / (double) finder->busy_ns, disk.most
  };
  struct rd_claim warm = {
    "warm-files", "Files were warm", RADIO_FINDING_NOTE, 0, disk.most
  };
  if (share >= COLD_SHARE && rd_finder_lacked_cpus (finder))
    return RADIO_OK;          /* it may have been a CPU that was waited for */
  if (share >= COLD_SHARE)
    return rd_found (finder, &cold,
                     "%s of the %s in reading files was waiting (%s): for "
                     "the device, so a second run may be faster",
                     rd_human_ns (disk.wait_ns).text, rd_human_ns (ns).text,
                     rd_human_percent (share, 1).text);
  if (share < WARM_SHARE)
    return rd_found (finder, &warm,
                     "only %s of the %s in reading files was waiting (%s): "
                     "they were in memory, a first read will be slower",
                     rd_human_ns (disk.wait_ns).text, rd_human_ns (ns).text,
                     rd_human_percent (share, 1).text);
  return RADIO_OK;
}

/* A measurement that drops files from memory opens anew for each run: what
 * was kept until then is gone by intention. */
static bool
is_meant_cold (const struct rd_finder *finder)
{
  const char *cache = rd_profile_find_fact (finder->profile, RD_FACT_CACHE);
  return cache && strcmp (cache, "warm") != 0;
}

static enum radio_status
find_misses (struct rd_finder *finder)
{
  uint64_t hits = rd_finder_sum (finder, &rd_count_hits);
  uint64_t misses = rd_finder_sum (finder, &rd_count_misses);
  uint64_t lookups = rd_sum (hits, misses);
  if (lookups < MIN_LOOKUPS || is_meant_cold (finder)
      || (double) hits >= MIN_HIT_SHARE * (double) lookups)
    return RADIO_OK;
  double share = (double) misses / (double) lookups;
  struct rd_claim claim = {
    "cache-misses", "The cache seldom helps", RADIO_FINDING_HINT,
    share / 10, largest (finder, &rd_count_misses)
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " of %" PRIu64 " look-ups were in the cache "
                   "(%s)", hits, lookups,
                   rd_human_percent ((double) hits, (double) lookups).text);
}

enum radio_status
rd_find_transfer (struct rd_finder *finder)
{
  RD_TRY (find_errors (finder));
  RD_TRY (find_retries (finder));
  RD_TRY (find_cold (finder));
  return find_misses (finder);
}
