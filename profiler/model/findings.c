/* SPDX-License-Identifier: MIT */
/* The few facts that matter, from the data of a profile: makes a summary,
 * looks for each kind of finding, and puts the most important first.  Each
 * finding names the numbers that it rests on. */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/counters.h"
#include "profiler/model/builder.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

/* More would not be read. */
#define MAX_FINDINGS 8

static void
free_finder (struct rd_finder *finder)
{
  free (finder->found.at);
}

enum radio_status
rd_found (struct rd_finder *finder, const struct rd_claim *claim,
          const char *format, ...)
{
  char evidence[512];
  va_list args;
  va_start (args, format);
  vsnprintf (evidence, sizeof evidence, format, args);
  va_end (args);
  struct rd_scored scored = {
    .finding = {
      .id = rd_profile_string (finder->profile, claim->id),
      .weight = claim->weight,
      .title = rd_profile_string (finder->profile, claim->title),
      .evidence = rd_profile_string (finder->profile, evidence),
      .node = claim->node,
    },
    .score = claim->score,
  };
  if (!scored.finding.id || !scored.finding.title || !scored.finding.evidence)
    return rd_fail_memory (sizeof evidence);
  return rd_vector_append (&finder->found, scored);
}

enum rd_category
rd_category_of (const struct rd_finder *finder, size_t node)
{
  static const char *const names[] = {
    [RD_DECODE] = RD_IN_DECODE, [RD_DISK] = RD_IN_DISK,
    [RD_NETWORK] = RD_IN_NETWORK, [RD_ENCODE] = RD_IN_ENCODE,
    [RD_PLACE] = RD_IN_PLACE, [RD_METADATA] = RD_IN_METADATA,
    [RD_QUEUE] = RD_IN_QUEUE,
  };
  const char *name = finder->profile->nodes.at[node].category;
  int i = 0;
  while (i < RD_OTHER && strcmp (names[i], name) != 0)
    i++;
  return (enum rd_category) i;
}

uint64_t
rd_finder_sum (const struct rd_finder *finder,
               const struct radio_counter *counter)
{
  const struct radio_profile *profile = finder->profile;
  size_t at = 0;
  while (at < profile->counters.n
         && strcmp (profile->counters.at[at].name, counter->name) != 0)
    at++;
  return at < profile->counters.n ? rd_profile_counter_sum (profile, at) : 0;
}

const char *
rd_finder_note (const struct rd_finder *finder, size_t node, const char *key,
                bool *varies)
{
  return rd_profile_node_note (finder->profile, node, key, varies);
}

uint64_t
rd_finder_number (const struct rd_finder *finder, const char *key)
{
  return rd_profile_number (finder->profile, key);
}

bool
rd_finder_is_elsewhere (const struct radio_profile *profile, size_t node,
                        size_t top)
{
  const struct radio_profile_node *nodes = profile->nodes.at;
  while (node != top && nodes[node].edge == RADIO_EDGE_CALL
         && nodes[node].parent != RADIO_NO_PARENT)
    node = nodes[node].parent;
  return node != top && nodes[node].edge != RADIO_EDGE_CALL
         && nodes[node].edge != RADIO_EDGE_INSTANT;
}

uint64_t
rd_profile_cpu_ns (const struct radio_profile *profile)
{
  uint64_t cpu_ns = rd_profile_number (profile, RD_FACT_CPU_NS);
  uint64_t ran_ns = rd_subtract (profile->info.work_ns,
                                 profile->info.starved_ns);
  return cpu_ns ? rd_min_u64 (ran_ns, cpu_ns) : ran_ns;
}

uint64_t
rd_profile_ran_ns (const struct radio_profile *profile)
{
  return profile->info.starved_ns > 0
         ? rd_subtract (profile->info.work_ns, profile->info.starved_ns)
         : rd_profile_cpu_ns (profile);
}

/* The program's CPU time from which on recording is compared with it: a tenth
 * of the wall time up to 0.1 s, 10 ms up to 1 s, then a hundredth. */
#define COMPARED_NS 10000000

static uint64_t
compared_ns (const struct radio_profile *profile)
{
  uint64_t span_ns = rd_profile_span_ns (profile);
  return rd_max_u64 (span_ns / 100, rd_min_u64 (COMPARED_NS, span_ns / 10));
}

uint64_t
rd_profile_recording_ns (const struct radio_profile *profile,
                         uint64_t *cpu_ns)
{
  uint64_t own_ns = rd_profile_number (profile, RD_FACT_OWN_NS);
  uint64_t work_ns = rd_profile_cpu_ns (profile);
  *cpu_ns = work_ns < compared_ns (profile) ? 0 : rd_sum (work_ns, own_ns);
  return rd_sum (rd_min_u64 (profile->info.overhead_ns, work_ns), own_ns);
}

uint64_t
rd_profile_span_ns (const struct radio_profile *profile)
{
  uint64_t sum = 0;
  if (profile->info.parts != RADIO_PARTS_RANKS)
    return profile->info.wall_ns;
  for (size_t i = 0; i < profile->parts.n; i++)
    sum = rd_sum (sum, profile->parts.at[i].wall_ns);
  return sum;
}

struct rd_formatted
rd_finder_threads (const struct rd_finder *finder)
{
  struct rd_formatted threads;
  struct rd_formatted number = rd_format_number (
    finder->span_ns ? (double) finder->ran_ns / (double) finder->span_ns
                    : 0);
  snprintf (threads.text, sizeof threads.text, "%.20s thread%s", number.text,
            strcmp (number.text, "1") == 0 ? "" : "s");
  return threads;
}

static bool
is_request (const struct rd_finder *finder, const struct rd_span *span)
{
  return finder->profile->nodes.at[span->node].edge == RADIO_EDGE_ASYNC
         && rd_category_of (finder, span->node) == RD_NETWORK;
}

/* The union of the intervals in which requests were under way. */
static enum radio_status
sum_requests (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  RD_FREE_PLAIN void *memory = NULL;
  size_t n = 0;
  for (size_t i = 0; i < profile->spans.n; i++)
    n += is_request (finder, &profile->spans.at[i]);
  if (n == 0)
    return RADIO_OK;
  RD_TRY (rd_new_array (n, sizeof (struct rd_stretch), &memory));
  struct rd_stretch *stretches = memory;
  n = 0;
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    if (is_request (finder, span))
      stretches[n++] = (struct rd_stretch) {
        .begin_ns = span->begin_ns,
        .end_ns = span->begin_ns + span->duration_ns,
      };
  }
  rd_sum_unions (stretches, n, &finder->request_ns);
  return RADIO_OK;
}

static int
compare_scored (const void *a, const void *b)
{
  const struct rd_scored *x = a, *y = b;
  if (x->finding.weight != y->finding.weight)
    return x->finding.weight > y->finding.weight ? -1 : 1;
  if (x->score > y->score || x->score < y->score)
    return x->score > y->score ? -1 : 1;
  return strcmp (x->finding.id, y->finding.id);
}

enum radio_status
rd_profile_find_findings (struct radio_profile *profile)
{
  static rd_find_fn *const kinds[] = {
    rd_find_process, rd_find_bound, rd_find_limits, rd_find_amplification,
    rd_find_transfer, rd_find_memory, rd_find_recorder, rd_find_parts,
    rd_find_curve, rd_find_steps,
  };
  RD_CLEANUP (free_finder) struct rd_finder finder = { .profile = profile };
  for (int i = 0; i < RD_NCATEGORIES; i++)
    finder.times[i].most = RADIO_NO_PARENT;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    enum rd_category category = rd_category_of (&finder, i);
    struct rd_category_times *times = &finder.times[category];
    uint64_t ran_ns = rd_subtract (node->work_ns, node->starved_ns);
    uint64_t both = rd_sum (ran_ns, node->wait_ns);
    times->ran_ns = rd_sum (times->ran_ns, ran_ns);
    times->wait_ns = rd_sum (times->wait_ns, node->wait_ns);
    if (both > times->most_ns) {
      times->most_ns = both;
      times->most = i;
    }
    finder.work_ns = rd_sum (finder.work_ns, node->work_ns);
    finder.busy_ns = rd_sum (finder.busy_ns,
                             category == RD_QUEUE ? ran_ns : both);
  }

  /* Count operations that are not within others: parents come first. */
  RD_FREE_PLAIN void *memory = NULL;
  RD_TRY (rd_new_array (profile->nodes.n, sizeof (bool), &memory));
  bool *is_within = memory;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    bool is_one = strcmp (node->category, RD_IN_OPERATION) == 0;
    bool is_inner = node->parent != RADIO_NO_PARENT
                    && is_within[node->parent];
    is_within[i] = is_one || is_inner;
    if (is_one && !is_inner)
      finder.noperations = rd_sum (finder.noperations, node->calls);
  }

  RD_TRY (sum_requests (&finder));
  uint64_t nthreads = 0;
  for (size_t i = 0; i < profile->lanes.n; i++)
    nthreads += !profile->lanes.at[i].is_async;
  if (profile->info.parts == RADIO_PARTS_RANKS)
    nthreads = rd_div_up (nthreads, profile->parts.n);
  finder.nthreads = rd_max_u64 (nthreads, 1);
  finder.ncpus = rd_finder_number (&finder, RD_FACT_NCPUS);
  finder.starved_ns = profile->info.starved_ns;
  finder.ran_ns = rd_profile_ran_ns (profile);
  finder.cpu_ns = rd_profile_cpu_ns (profile);
  finder.span_ns = rd_profile_span_ns (profile);

  /* A log does not have all counters of each run. */
  bool is_of_run = rd_profile_find_fact (profile, RD_FACT_SLOW_TRIGGER);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (!is_of_run || (kinds[i] != rd_find_amplification
                       && kinds[i] != rd_find_transfer))
      RD_TRY (kinds[i] (&finder));

  if (finder.found.n > 0)
    qsort (finder.found.at, finder.found.n, sizeof *finder.found.at,
           compare_scored);
  size_t nbest = rd_min_u64 (finder.found.n, MAX_FINDINGS);
  for (size_t i = 0; i < nbest; i++)
    RD_TRY (rd_vector_append (&profile->findings,
                              finder.found.at[i].finding));
  return RADIO_OK;
}
