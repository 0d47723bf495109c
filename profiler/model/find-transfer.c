/* SPDX-License-Identifier: MIT */
/* Findings about memory, requests, files and caches. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"

/*------------------------------------------------------------------------
 * The library's own memory: allocated over and over, or still held when the
 * recording ended.
 *----------------------------------------------------------------------*/

/* An operation needs some allocations, however little it does; a tile needs
 * none. */
#define MIN_CHURN 1000
#define MIN_CHURN_PER_OPERATION 200
#define CHURN_PER_TILE 1

/* Less may be a handle that stays open. */
#define MIN_HELD_NBYTES 65536

enum what { ALLOCATED, HELD };

/* The node that allocated most often, or holds the most bytes. */
static size_t
most_allocating (const struct rd_finder *finder, enum what what)
{
  size_t at = RADIO_NO_PARENT;
  uint64_t most = 0;
  for (size_t i = 0; i < finder->profile->nodes.n; i++) {
    const struct radio_profile_node *node = &finder->profile->nodes.at[i];
    uint64_t value =
      what == HELD ? node->alloc_live_nbytes : node->alloc_count;
    if (value > most) {
      most = value;
      at = i;
    }
  }
  return at;
}

/* The name of a node, of those without one too. */
static const char *
name_of (const struct rd_finder *finder, size_t node)
{
  return node == RADIO_NO_PARENT ? "no scope"
                                 : finder->profile->nodes.at[node].name;
}

static enum radio_status
find_churn (struct rd_finder *finder)
{
  const struct radio_profile_info *info = &finder->profile->info;
  uint64_t ntiles = rd_finder_sum (finder, &rd_count_tiles);
  double each = (double) info->alloc_count
                / (double) rd_max_u64 (finder->noperations, 1);
  if (finder->noperations == 0 || info->alloc_count < MIN_CHURN
      || each < MIN_CHURN_PER_OPERATION
      || (double) info->alloc_count < CHURN_PER_TILE * (double) ntiles)
    return RADIO_OK;
  size_t at = most_allocating (finder, ALLOCATED);
  struct rd_claim claim = {
    "allocation-churn", "Many allocations", RADIO_FINDING_HINT, 0.1, at
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " allocations of %s in %" PRIu64 " operations "
                   "(%s each) and %" PRIu64 " tiles, where at most %s were "
                   "allocated at a time; most in '%.60s'", info->alloc_count,
                   rd_format_nbytes (info->alloc_nbytes).text,
                   finder->noperations, rd_format_number (each).text, ntiles,
                   rd_format_nbytes (info->alloc_peak_nbytes).text,
                   name_of (finder, at));
}

static enum radio_status
find_held (struct rd_finder *finder)
{
  const struct radio_profile_info *info = &finder->profile->info;
  if (info->alloc_live_nbytes < MIN_HELD_NBYTES)
    return RADIO_OK;
  size_t at = most_allocating (finder, HELD);
  uint64_t there =
    at == RADIO_NO_PARENT
    ? 0 : finder->profile->nodes.at[at].alloc_live_nbytes;
  /* Between runs, the volume stays open, with its caches. */
  bool is_run = info->parts == RADIO_PARTS_RUNS;
  struct rd_claim claim = {
    "memory-held", "Memory was held at the end",
    is_run ? RADIO_FINDING_NOTE : RADIO_FINDING_HINT,
    (double) info->alloc_live_nbytes
    / (double) rd_max_u64 (info->alloc_nbytes, 1), at
  };
  return rd_found (finder, &claim,
                   "%s of %s allocated were not released when the recording "
                   "ended, %s of it from '%.60s': open handles and their "
                   "caches, or a leak",
                   rd_format_nbytes (info->alloc_live_nbytes).text,
                   rd_format_nbytes (info->alloc_nbytes).text,
                   rd_format_nbytes (there).text, name_of (finder, at));
}

enum radio_status
rd_find_memory (struct rd_finder *finder)
{
  RD_TRY (find_churn (finder));
  return find_held (finder);
}

/*------------------------------------------------------------------------
 * Transfers: requests sent again, errors, files that had to come from the disk
 * or were in memory, indexes in the cache.
 *----------------------------------------------------------------------*/

/* The part of requests above which retries are no accident. */
#define RETRY_SHARE 0.01

/* The least part of the bytes of cold files that came from a disk; the largest
 * of warm ones, and the largest part of the time in reading calls spent
 * waiting. */
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
    "retries", "Requests were retried",
    share >= RETRY_SHARE ? RADIO_FINDING_HINT : RADIO_FINDING_NOTE, share,
    largest (finder, &rd_count_retries)
  };
  return rd_found (finder, &claim,
                   "%s of %s (%s)",
                   rd_format_count (retries, "retry", "retries").text,
                   rd_format_count (requests, "request", "requests").text,
                   rd_format_percent ((double) retries,
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
    "errors", "Errors occurred", RADIO_FINDING_PROBLEM, 1, at
  };
  const char *name =
    at == RADIO_NO_PARENT ? "" : finder->profile->nodes.at[at].name;
  return rd_found (finder, &claim,
                   "%s, most in '%.60s' (%" PRIu64 " of its %" PRIu64
                   " calls)", rd_format_count (errors, "error", "errors").text,
                   name,
                   radio_profile_counter (finder->profile, at,
                                          rd_count_errors.name, false),
                   at == RADIO_NO_PARENT
                   ? 0 : finder->profile->nodes.at[at].calls);
}

/*------------------------------------------------------------------------
 * Cold and warm
 *----------------------------------------------------------------------*/

/* Reading of files, by the threads' times in it. */
struct reading {
  struct rd_category_times times;
  uint64_t nbytes;            /* fetched by it */
};

static struct reading
sum_reading (const struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  const char *fetched = rd_count_fetched.name;
  struct reading reading = { .times.most = RADIO_NO_PARENT };
  size_t counted = RADIO_NO_PARENT;     /* the last parent that counted */
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    uint64_t ran_ns = rd_subtract (node->work_ns, node->starved_ns);
    uint64_t both = rd_sum (ran_ns, node->wait_ns);
    if (both == 0 || rd_category_of (finder, i) != RD_DISK)
      continue;
    /* Calls that read files counted what they fetched, or those above them
     * did. */
    uint64_t nbytes = radio_profile_counter (profile, i, fetched, true);
    if (nbytes == 0 && node->parent != RADIO_NO_PARENT
        && (nbytes = radio_profile_counter (profile, node->parent, fetched,
                                            false)) > 0
        && counted != node->parent) {
      reading.nbytes = rd_sum (reading.nbytes, nbytes);
      counted = node->parent;
    }
    if (nbytes == 0)
      continue;
    reading.nbytes = rd_sum (reading.nbytes,
                             radio_profile_counter (profile, i, fetched,
                                                    false));
    reading.times.ran_ns = rd_sum (reading.times.ran_ns, ran_ns);
    reading.times.wait_ns = rd_sum (reading.times.wait_ns, node->wait_ns);
    if (both <= reading.times.most_ns)
      continue;
    reading.times.most_ns = both;
    reading.times.most = i;
  }
  return reading;
}

/* Blocks that came from disks are the evidence, if reading waited at all: the
 * process may have read others.  Without their number the cause of the waits is
 * unknown. */
static enum radio_status
find_cold (struct rd_finder *finder)
{
  struct reading reading = sum_reading (finder);
  const struct rd_category_times *times = &reading.times;
  uint64_t ns = rd_sum (times->ran_ns, times->wait_ns);
  if (ns < MIN_DISK_NS
      || (double) ns < MIN_DISK_SHARE * (double) finder->busy_ns)
    return RADIO_OK;
  double waited = (double) times->wait_ns / (double) ns;
  bool is_known = rd_profile_find_fact (finder->profile,
                                        RD_FACT_BLOCK_INPUT) != NULL;
  uint64_t block_nbytes = rd_finder_number (finder, RD_FACT_BLOCK_INPUT);
  double read = (double) block_nbytes
                / (double) rd_max_u64 (reading.nbytes, 1);
  struct rd_claim cold = {
    "cold-files", "Files were not in the page cache", RADIO_FINDING_NOTE,
    (double) times->wait_ns / (double) finder->busy_ns, times->most
  };
  struct rd_claim warm = {
    "warm-files", "Files were in the page cache", RADIO_FINDING_NOTE, 0,
    times->most
  };
  if (is_known && read >= COLD_SHARE && waited >= WARM_SHARE)
    return rd_found (finder, &cold,
                     "%s were read from disks for %s fetched from files, and "
                     "%s of the %s in reading was waiting (%s): a second run "
                     "may be faster", rd_format_nbytes (block_nbytes).text,
                     rd_format_nbytes (reading.nbytes).text,
                     rd_format_ns (times->wait_ns).text,
                     rd_format_ns (ns).text,
                     rd_format_percent (waited, 1).text);
  if (waited < WARM_SHARE && (!is_known || read < WARM_SHARE))
    return rd_found (finder, &warm,
                     "only %s of the %s in reading files was waiting (%s): "
                     "a first read will be slower",
                     rd_format_ns (times->wait_ns).text,
                     rd_format_ns (ns).text,
                     rd_format_percent (waited, 1).text);
  return RADIO_OK;
}

static enum radio_status
find_misses (struct rd_finder *finder)
{
  uint64_t hits = rd_finder_sum (finder, &rd_count_hits);
  uint64_t misses = rd_finder_sum (finder, &rd_count_misses);
  uint64_t lookups = rd_sum (hits, misses);
  /* A measurement of cold reads opens the volume again for each run, so that
   * its caches are empty on purpose. */
  const char *cache = rd_profile_find_fact (finder->profile, RD_FACT_CACHE);
  bool is_meant_cold = cache && strcmp (cache, "warm") != 0;
  if (lookups < MIN_LOOKUPS || is_meant_cold
      || (double) hits >= MIN_HIT_SHARE * (double) lookups)
    return RADIO_OK;
  double share = (double) misses / (double) lookups;
  struct rd_claim claim = {
    "cache-misses", "Low cache hit rate", RADIO_FINDING_HINT,
    share / 10, largest (finder, &rd_count_misses)
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " of %" PRIu64 " lookups hit the cache (%s)",
                   hits, lookups,
                   rd_format_percent ((double) hits, (double) lookups).text);
}

enum radio_status
rd_find_transfer (struct rd_finder *finder)
{
  RD_TRY (find_errors (finder));
  RD_TRY (find_retries (finder));
  RD_TRY (find_cold (finder));
  return find_misses (finder);
}
