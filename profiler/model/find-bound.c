/* SPDX-License-Identifier: MIT */
/* Where the time went: decoding, the disk, the network, waiting for
 * other threads, or all of it on one thread.
 *
 * Threads' time is compared by category: work, and waiting in system calls and
 * for requests.  A network limits a read if requests are under way for most of
 * it while the threads have little to do. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"

/* Shares of the time from which a category, or requests, are the limit. */
#define BOUND_SHARE 0.5
#define PROBLEM_SHARE 0.75

/* A waiting caller and its worker share their time evenly; above that, more
 * threads wait than run. */
#define QUEUE_SHARE 0.6

/* As much work as time: one thread did it. */
#define ONE_THREAD_FROM 0.7
#define ONE_THREAD_TO 1.3

/* CPUs that all processes used so much of are not unused. */
#define USED_SHARE 0.8

/* A shorter part does not pay for a second thread. */
#define MIN_PARALLEL_NS 10000000

static enum radio_finding_weight
weight_of (double share)
{
  return share >= PROBLEM_SHARE ? RADIO_FINDING_PROBLEM : RADIO_FINDING_HINT;
}

/* " on 8 CPUs", if it is known. */
static struct rd_formatted
cpus (const struct rd_finder *finder)
{
  struct rd_formatted human = { "" };
  if (finder->ncpus > 0)
    snprintf (human.text, sizeof human.text, " on %.20s",
              rd_format_count (finder->ncpus, "CPU", "CPUs").text);
  return human;
}

/*------------------------------------------------------------------------
 * Categories
 *----------------------------------------------------------------------*/

struct kind {
  enum rd_category category;
  const char *id, *title, *what;
  const struct radio_counter *counter;  /* of bytes, or NULL */
};

static const struct kind kinds[] = {
  { RD_DECODE, "bound-by-decode", "Bound by decoding", "decoding",
    &rd_count_decoded },
  { RD_DISK, "bound-by-disk", "Bound by the disk", "files", NULL },
  { RD_NETWORK, "bound-by-network", "Bound by the network", "the network",
    &rd_count_fetched },
  { RD_ENCODE, "bound-by-encode", "Bound by encoding", "encoding",
    &rd_count_encoded },
  { RD_PLACE, "bound-by-place", "Bound by moving elements",
    "moving elements", &rd_count_delivered },
  { RD_METADATA, "bound-by-metadata", "Bound by metadata",
    "documents, plans and indexes", NULL },
};

/* The disk's, where threads did not wait for one. */
static const struct kind files = {
  RD_DISK, "bound-by-files", "Bound by file operations", "files", NULL
};

/* True if a disk can be what files waited for: it was read from, or written
 * to, and threads waited for that rather than copy.  Not all recordings know
 * how much was read. */
static bool
waits_for_disk (const struct rd_finder *finder)
{
  const struct rd_category_times *disk = &finder->times[RD_DISK];
  bool is_known = rd_profile_find_fact (finder->profile,
                                        RD_FACT_BLOCK_INPUT) != NULL;
  return disk->wait_ns >= disk->ran_ns
         && (!is_known || rd_finder_number (finder, RD_FACT_BLOCK_INPUT) > 0
             || rd_finder_sum (finder, &rd_count_written) > 0);
}

/* At most one category has more than the half. */
static enum radio_status
find_category (struct rd_finder *finder)
{
  double busy_ns = (double) finder->busy_ns;
  const struct kind *kind = kinds, *end = kind + sizeof kinds / sizeof *kinds;
  const struct rd_category_times *times = NULL;
  uint64_t ns = 0;
  if (finder->busy_ns == 0 || rd_finder_is_blurred (finder))
    return RADIO_OK;
  for (; kind < end; kind++) {
    times = &finder->times[kind->category];
    ns = rd_sum (times->ran_ns, times->wait_ns);
    if ((double) ns >= BOUND_SHARE * busy_ns)
      break;
  }
  if (kind == end)
    return RADIO_OK;
  if (kind->category == RD_DISK && !waits_for_disk (finder))
    kind = &files;

  /* "; 134 MB at 1.2 GB/s a thread", "; 8 MB were read from disks", or
   * nothing. */
  char rate[100] = "";
  uint64_t count = kind->counter ? rd_finder_sum (finder, kind->counter) : 0;
  if (count > 0 && ns > 0)
    snprintf (rate, sizeof rate, "; %s at %s a thread",
              rd_format_nbytes (count).text, rd_format_rate (count, ns).text);
  if (kind->category == RD_DISK
      && rd_profile_find_fact (finder->profile, RD_FACT_BLOCK_INPUT))
    snprintf (rate, sizeof rate, "; %s were read from disks",
              rd_format_nbytes (rd_finder_number (finder,
                                                  RD_FACT_BLOCK_INPUT)).text);

  double share = (double) ns / busy_ns;
  struct rd_claim claim = {
    kind->id, kind->title, weight_of (share), share, times->most
  };
  return rd_found (
    finder, &claim,
    "%s took %s of the threads' %s%s (%s), %s of it in '%.60s'%s; %s busy "
    "at a time%s",
    kind->what, rd_format_ns (ns).text, rd_format_ns (finder->busy_ns).text,
    finder->starved_ns > 0 ? " on CPUs and waiting" : "",
    rd_format_percent ((double) ns, busy_ns).text,
    rd_format_ns (times->most_ns).text,
    finder->profile->nodes.at[times->most].name, rate,
    rd_finder_threads (finder).text, cpus (finder).text);
}

/*------------------------------------------------------------------------
 * Requests without threads
 *----------------------------------------------------------------------*/

static enum radio_status
report_requests (struct rd_finder *finder)
{
  /* The node of requests with the most time. */
  const struct radio_profile_node *node = NULL, *nodes;
  nodes = finder->profile->nodes.at;
  for (size_t i = 0; i < finder->profile->nodes.n; i++)
    if (nodes[i].edge == RADIO_EDGE_ASYNC
        && nodes[i].total_ns > (node ? node->total_ns : 0)
        && rd_category_of (finder, i) == RD_NETWORK)
      node = &nodes[i];
  if (node == NULL)
    return RADIO_OK;
  uint64_t fetched = rd_finder_sum (finder, &rd_count_fetched);
  double share = (double) finder->request_ns / (double) finder->span_ns;
  struct rd_claim claim = {
    "bound-by-network", "Bound by the network", weight_of (share), share,
    (size_t) (node - nodes)
  };
  return rd_found (
    finder, &claim,
    "requests were in flight in %s of %s, while threads worked %s of it; "
    "%" PRIu64 " '%.60s' of %s each; %s at %s",
    rd_format_ns (finder->request_ns).text,
    rd_format_ns (finder->span_ns).text,
    rd_format_percent ((double) finder->work_ns,
                      (double) finder->span_ns).text,
    node->calls, node->name,
    rd_format_ns (node->total_ns / rd_max_u64 (node->calls, 1)).text,
    rd_format_nbytes (fetched).text,
    rd_format_rate (fetched, finder->request_ns).text);
}

/*------------------------------------------------------------------------
 * Threads
 *----------------------------------------------------------------------*/

static enum radio_status
find_queueing (struct rd_finder *finder)
{
  const struct rd_category_times *queue = &finder->times[RD_QUEUE];
  uint64_t all = rd_sum (finder->busy_ns, queue->wait_ns);
  if (all == 0 || rd_finder_is_blurred (finder)
      || (double) queue->wait_ns < QUEUE_SHARE * (double) all)
    return RADIO_OK;
  double share = (double) queue->wait_ns / (double) all;
  struct rd_claim claim = {
    "bound-by-queueing", "Threads wait for other threads", weight_of (share),
    share, queue->most
  };
  return rd_found (
    finder, &claim,
    "threads waited for others in %s of their %s (%s), %s of it in "
    "'%.60s'; %s of %" PRIu64 " busy at a time%s",
    rd_format_ns (queue->wait_ns).text, rd_format_ns (all).text,
    rd_format_percent ((double) queue->wait_ns, (double) all).text,
    rd_format_ns (queue->most_ns).text,
    finder->profile->nodes.at[queue->most].name,
    rd_finder_threads (finder).text, finder->nthreads, cpus (finder).text);
}

static enum radio_status
find_one_thread (struct rd_finder *finder)
{
  uint64_t nparts = finder->profile->parts.n;
  if (finder->ncpus < 2 || finder->span_ns < MIN_PARALLEL_NS * nparts
      || rd_finder_lacked_cpus (finder))
    return RADIO_OK;
  double span_ns = (double) finder->span_ns;
  double parallel = (double) finder->ran_ns / span_ns;
  if (parallel < ONE_THREAD_FROM || parallel > ONE_THREAD_TO)
    return RADIO_OK;
  /* Several threads had work, and others the CPUs. */
  if ((double) finder->work_ns > ONE_THREAD_TO * span_ns)
    return RADIO_OK;
  double machine = (double) rd_finder_number (finder, RD_FACT_MACHINE_NS);
  if (machine > USED_SHARE * (double) finder->ncpus * span_ns)
    return RADIO_OK;
  double unused = 1 - parallel / (double) finder->ncpus;
  struct rd_claim claim = {
    "bound-by-one-thread", "One thread does the work", RADIO_FINDING_HINT,
    unused, RADIO_NO_PARENT
  };
  return rd_found (
    finder, &claim,
    "%s of work in %s: %s of %" PRIu64 " busy at a time on %" PRIu64
    " CPUs, so %s of them was unused",
    rd_format_ns (finder->ran_ns).text, rd_format_ns (finder->span_ns).text,
    rd_finder_threads (finder).text, finder->nthreads, finder->ncpus,
    rd_format_percent (unused, 1).text);
}

/*------------------------------------------------------------------------
 * Arithmetic
 *----------------------------------------------------------------------*/

/* Facts of programs that measure what the machine can do, for all threads and,
 * with ", 1 thread", for one. */
#define MEMORY_LIMIT "limit memory bytes/s"
#define COMPUTE_LIMIT "limit flop/s"

/* The least share of the threads' time of a scope that is judged. */
#define ARITHMETIC_SHARE 0.1

/* The greatest number of a fact: joined runs have a list, "100, 110". */
static double
greatest (const struct rd_finder *finder, const char *key)
{
  const char *text = rd_profile_find_fact (finder->profile, key);
  double most = 0, number = 0;
  for (; text && *text; text++) {
    bool is_digit = *text >= '0' && *text <= '9';
    number = is_digit ? number * 10 + (*text - '0') : 0;
    most = number > most ? number : most;
  }
  return most;
}

/* Returns the limit of one thread among all; 0: not measured. */
static double
limit_of_thread (const struct rd_finder *finder, const char *all,
                 const char *one)
{
  uint64_t n = finder->nthreads;
  return n <= 1 ? greatest (finder, one) : greatest (finder, all) / (double) n;
}

/* The scope with the most work of those that count arithmetic operations. */
static enum radio_status
find_arithmetic (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  double memory = limit_of_thread (finder, MEMORY_LIMIT,
                                   MEMORY_LIMIT ", 1 thread");
  double compute = limit_of_thread (finder, COMPUTE_LIMIT,
                                    COMPUTE_LIMIT ", 1 thread");
  size_t most = RADIO_NO_PARENT;
  uint64_t ns = 0, flop = 0;
  if (memory <= 0 || compute <= 0 || rd_finder_is_blurred (finder))
    return RADIO_OK;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    uint64_t ran_ns = rd_subtract (node->work_ns, node->starved_ns);
    uint64_t count = ran_ns > ns
      ? rd_unit_sum (profile, i, RD_UNIT_FLOP, false) : 0;
    if (count == 0)
      continue;
    most = i;
    ns = ran_ns;
    flop = count;
  }
  if (ns == 0 || (double) ns < ARITHMETIC_SHARE * (double) finder->busy_ns)
    return RADIO_OK;
  uint64_t nbytes = rd_unit_sum (profile, most, "bytes", false);
  double moved = (double) nbytes * 1e9 / (double) ns;
  double computed = (double) flop * 1e9 / (double) ns;
  bool is_memory = moved / memory >= BOUND_SHARE
                   && moved / memory >= computed / compute;
  static const char *const names[][2] = {
    { "bound-by-compute", "Bound by computing" },
    { "bound-by-memory", "Bound by memory" },
  };
  struct rd_claim claim = {
    names[is_memory][0], names[is_memory][1], RADIO_FINDING_HINT,
    (double) ns / (double) finder->busy_ns, most
  };
  return rd_found (
    finder, &claim,
    "'%.60s' read and wrote %s at %s a thread, %s of %s, and computed %s "
    "GFLOP/s, %s of %s: what a thread was measured to reach, %" PRIu64
    " at a time; %s flop/B", profile->nodes.at[most].name,
    rd_format_nbytes (nbytes).text, rd_format_rate (nbytes, ns).text,
    rd_format_percent (moved, memory).text,
    rd_format_rate ((uint64_t) memory, 1000000000).text,
    rd_format_number (computed / 1e9).text,
    rd_format_percent (computed, compute).text,
    rd_format_number (compute / 1e9).text,
    finder->nthreads,
    rd_format_number (nbytes > 0 ? (double) flop / (double) nbytes : 0).text);
}

enum radio_status
rd_find_bound (struct rd_finder *finder)
{
  double span = (double) finder->span_ns;
  if (finder->span_ns > 0 && !rd_finder_is_blurred (finder)
      && (double) finder->request_ns >= BOUND_SHARE * span
      && (double) finder->work_ns < BOUND_SHARE * span)
    RD_TRY (report_requests (finder));
  else
    RD_TRY (find_category (finder));
  RD_TRY (find_queueing (finder));
  RD_TRY (find_arithmetic (finder));
  return find_one_thread (finder);
}
