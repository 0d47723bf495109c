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

/* Parts of the time from which a category, or requests, are the limit. */
#define BOUND_SHARE 0.5
#define PROBLEM_SHARE 0.75

/* A waiting caller and its worker share their time evenly; above that, more
 * threads wait than run. */
#define QUEUE_SHARE 0.6

/* As much work as time: one thread at a time did it. */
#define ONE_THREAD_FROM 0.7
#define ONE_THREAD_TO 1.3

/* CPUs that all processes used so much of are not unused. */
#define USED_SHARE 0.8

/* The lowest rate of a disk that threads wait for: a page at each of 60 random
 * places a second, in bytes a nanosecond.  At lower rates the waits were not
 * for the disk: a page fault of the program is no evidence for the cause of its
 * scopes' waits. */
#define LEAST_DISK_RATE 250e-6

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

/* The disk's, where threads did not wait for one, or it is not known. */
static const struct kind files = {
  RD_DISK, "bound-by-files", "Bound by file operations", "files", NULL
};

/* Profiles of slow runs and of killed processes do not know how much was read
 * from disks. */
static bool
knows_disks (const struct rd_finder *finder)
{
  return rd_profile_find_fact (finder->profile, RD_FACT_BLOCK_INPUT) != NULL;
}

/* True if a disk can be what files waited for: it was read from, as fast as
 * the slowest one is, or written to, and threads waited for that rather than
 * copy. */
static bool
waits_for_disk (const struct rd_finder *finder)
{
  const struct rd_category_times *disk = &finder->times[RD_DISK];
  uint64_t nread = rd_finder_number (finder, RD_FACT_BLOCK_INPUT);
  uint64_t ns = rd_min_u64 (disk->wait_ns, finder->span_ns);
  return disk->wait_ns >= disk->ran_ns && knows_disks (finder)
         && ((nread > 0 && (double) nread >= LEAST_DISK_RATE * (double) ns)
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
  if (kind->category == RD_DISK && !knows_disks (finder))
    snprintf (rate, sizeof rate, "; it is not known if disks were read");
  else if (kind->category == RD_DISK)
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
  /* Several threads had work, and others the CPUs; or they slept and waited
   * beside each other. */
  if ((double) finder->work_ns > ONE_THREAD_TO * span_ns
      || (double) finder->busy_ns > ONE_THREAD_TO * span_ns)
    return RADIO_OK;
  double machine = (double) rd_finder_number (finder, RD_FACT_MACHINE_NS);
  uint64_t ns = rd_max_u64 (rd_finder_number (finder, RD_FACT_RECORDED_NS),
                            finder->span_ns);
  if (machine > USED_SHARE * (double) finder->ncpus * (double) ns)
    return RADIO_OK;
  double unused = 1 - parallel / (double) finder->ncpus;
  struct rd_claim claim = {
    "bound-by-one-thread", "One thread works at a time", RADIO_FINDING_HINT,
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
  return find_one_thread (finder);
}
