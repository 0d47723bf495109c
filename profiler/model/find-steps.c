/* SPDX-License-Identifier: MIT */
/* Findings about numbered steps, such as the iterations of a training loop:
 * the first against the others, and the slowest against the median. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/model/findings.h"
#include "profiler/model/spread.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

#define MIN_STEPS 8
#define SLOW 2                  /* times the median */
#define MIN_LOST_NS 1000000     /* above it */

/* The part of a scope's excess without a CPU, from which on that is said. */
#define STARVED_SHARE 0.5

/* The part of the steps that the log must have for a median of them; if it has
 * fewer it has the longest, and the tree has the octaves of all. */
#define MIN_LOGGED 0.9

/* Loops with findings of their own, the longest ones. */
#define MAX_LOOPS 4

struct steps {
  size_t node;
  const char *loop;           /* the scope around it, if there are others */
  uint64_t n;
  uint64_t nlogged;           /* of a ring that lost some; else 0 */
  const struct rd_span *first;          /* NULL: the log lost it */
  const struct rd_span *slowest;        /* of the others */
  double median_ns;           /* of all but the first; or more than that */
  bool is_bound;
  uint64_t nslow;
};

/* The end of the octave in which the median is. */
static double
bound_of_median (const struct radio_profile_node *node)
{
  uint64_t below = 0;
  size_t i = 0;
  while (i + 1 < RADIO_HISTOGRAM_BUCKETS
         && 2 * (below + node->histogram[i]) < node->calls)
    below += node->histogram[i++];
  return (double) (UINT64_C (2) << i);
}

static bool
is_slow (const struct steps *steps, uint64_t duration_ns)
{
  double ns = (double) duration_ns;
  return ns >= SLOW * steps->median_ns && ns - steps->median_ns >= MIN_LOST_NS;
}

/* A log keeps the first runs of each node, but a ring the last. */
static const struct rd_span *
find_first (const struct radio_profile *profile, struct steps *steps)
{
  const struct rd_span *first = NULL;
  uint64_t nlogged = 0;
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    if (span->node != steps->node)
      continue;
    nlogged++;
    if (!first || span->begin_ns < first->begin_ns)
      first = span;
  }
  bool is_lost = nlogged < profile->nodes.at[steps->node].calls
                 && rd_profile_find_fact (profile, RD_FACT_RING);
  steps->nlogged = is_lost ? nlogged : 0;
  return is_lost ? NULL : first;
}

static enum radio_status
measure_steps (const struct radio_profile *profile, struct steps *steps)
{
  const struct radio_profile_node *node = &profile->nodes.at[steps->node];
  RD_FREE_PLAIN void *memory = NULL;
  size_t n = 0;
  RD_TRY (rd_new_array (profile->spans.n, sizeof (uint64_t), &memory));
  uint64_t *values = memory;
  steps->first = find_first (profile, steps);
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    if (span->node != steps->node || span == steps->first)
      continue;
    values[n++] = span->duration_ns;
    if (!steps->slowest || span->duration_ns > steps->slowest->duration_ns)
      steps->slowest = span;
  }
  steps->n = node->calls;
  if (n == 0)
    return RADIO_OK;
  /* A ring's are compared with each other. */
  steps->is_bound = steps->nlogged == 0
    && (double) (n + 1) < MIN_LOGGED * (double) node->calls;
  steps->median_ns = steps->is_bound ? bound_of_median (node)
                                     : rd_spread_of (values, n, NULL).median;
  for (size_t i = 0; i < n; i++)
    steps->nslow += is_slow (steps, values[i]);
  return RADIO_OK;
}

/* The node whose self time in a step is most above its mean in all steps, by
 * how much, and for how long it had no CPU.  Work of several threads at once
 * delays the step by less than its sum. */
struct culprit {
  size_t node;
  double excess_ns, starved_ns;
  bool is_shared;             /* by several threads */
};

/* The times of a node in a step. */
struct own {
  double self_ns, wait_ns, starved_ns;
  double delay_ns;            /* of the step at most: not above the time in
                                 which any of them ran */
  uint32_t lane;
  bool is_shared, is_seen;
};

static void
add_span (struct own *own, const struct rd_span *span, uint64_t covered_ns)
{
  own->is_shared |= own->is_seen && own->lane != span->lane;
  own->is_seen = true;
  own->lane = span->lane;
  own->self_ns += (double) rd_subtract (span->duration_ns, covered_ns);
  own->wait_ns += (double) span->wait_ns;
  own->starved_ns += (double) span->starved_ns;
}

/* Returns the node that delays the step most: of all, or of those on other
 * threads; or RADIO_NO_PARENT. */
static size_t
find_most (const struct radio_profile *profile, const struct own *own,
           size_t step, bool is_elsewhere)
{
  size_t most = RADIO_NO_PARENT;
  double ns = 0;
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (own[i].delay_ns > ns
        && (!is_elsewhere || rd_finder_is_elsewhere (profile, i, step))) {
      ns = own[i].delay_ns;
      most = i;
    }
  return most;
}

/* Finds it in a step. */
static enum radio_status
find_culprit (const struct radio_profile *profile, const struct steps *steps,
              const struct rd_span *step, struct culprit *culprit)
{
  size_t n = profile->spans.n;
  const struct rd_span *spans = profile->spans.at;
  RD_FREE_PLAIN void *places = NULL, *covered = NULL, *unions = NULL;
  RD_FREE_PLAIN void *memory = NULL;
  RD_SPAN_IDS_SCOPE struct rd_span_ids ids = { 0 };
  RD_TRY (rd_new_array (n, 1, &places));
  RD_TRY (rd_new_array (n, sizeof (uint64_t), &covered));
  RD_TRY (rd_new_array (profile->nodes.n, sizeof (uint64_t), &unions));
  RD_TRY (rd_new_array (profile->nodes.n, sizeof (struct own), &memory));
  RD_TRY (rd_span_ids_make (profile, &ids));
  const unsigned char *place = places;
  const uint64_t *covered_ns = covered, *union_ns = unions;
  struct own *own = memory;
  size_t top = (size_t) (step - spans);

  rd_span_find_descendants (profile, &ids, top, places);
  RD_TRY (rd_span_sum_covered (profile, &ids, top, place, covered));
  RD_TRY (rd_span_sum_nodes (profile, place, unions));
  for (size_t i = 0; i < n; i++)
    if (place[i] == RD_SPAN_INSIDE)
      add_span (&own[spans[i].node], &spans[i], covered_ns[i]);
  for (size_t i = 0; i < profile->nodes.n; i++) {
    double mean_ns = (double) profile->nodes.at[i].self_ns
                     / (double) steps->n;
    double excess_ns = own[i].self_ns - mean_ns, ran_ns = (double) union_ns[i];
    own[i].delay_ns = excess_ns < ran_ns ? excess_ns : ran_ns;
  }

  size_t at = find_most (profile, own, steps->node, false);
  size_t awaited = find_most (profile, own, steps->node, true);
  if (at == RADIO_NO_PARENT)
    at = steps->node;
  double least = RD_AWAITED_SHARE * own[at].delay_ns;
  if (awaited != RADIO_NO_PARENT && own[at].wait_ns >= least
      && own[awaited].delay_ns >= least)
    at = awaited;
  *culprit = (struct culprit) {
    .node = at, .starved_ns = own[at].starved_ns,
    .is_shared = own[at].is_shared,
    .excess_ns = own[at].self_ns - (double) profile->nodes.at[at].self_ns
                                   / (double) steps->n,
  };
  return RADIO_OK;
}

/* "step 57 took 30 ms, 3 x the median of 10 ms (100 steps); 'read' took
 * 19.8 ms more than on average". */
static enum radio_status
report (struct rd_finder *finder, const struct steps *steps,
        const struct rd_span *step, struct rd_claim claim)
{
  const struct radio_profile *profile = finder->profile;
  struct culprit culprit;
  RD_TRY (find_culprit (profile, steps, step, &culprit));
  claim.node = culprit.node;
  double ratio = (double) step->duration_ns
                 / (steps->median_ns > 1 ? steps->median_ns : 1);
  claim.score = 1 - 1 / ratio;
  char number[32] = "a step", starved[64] = "", others[96] = "", last[64] = "";
  char loop[64] = "";
  if (step->tile != 0)
    snprintf (number, sizeof number, "step %" PRIu64, step->tile - 1);
  if (steps->loop)
    snprintf (loop, sizeof loop, " of '%.40s'", steps->loop);
  if (steps->nlogged > 0)
    snprintf (last, sizeof last, "the last %" PRIu64 " of ", steps->nlogged);
  if (culprit.starved_ns >= STARVED_SHARE * culprit.excess_ns)
    snprintf (starved, sizeof starved, ", and had no CPU for %s",
              rd_format_ns ((uint64_t) culprit.starved_ns).text);
  if (step != steps->first && steps->nslow > 1)
    snprintf (others, sizeof others, "; %.20s more took over %d x the "
              "median, and 1 ms above it",
              rd_format_number ((double) (steps->nslow - 1)).text, SLOW);
  return rd_found (finder, &claim,
                   "%s%s took %s, %s%s x the median of %s (%s%s); '%.60s' took "
                   "%s more than on average%s%s%s",
                   number, loop, rd_format_ns (step->duration_ns).text,
                   steps->is_bound ? "more than " : "",
                   rd_format_number (ratio).text,
                   rd_format_ns ((uint64_t) steps->median_ns).text, last,
                   rd_format_count (steps->n, "step", "steps").text,
                   profile->nodes.at[claim.node].name,
                   rd_format_ns ((uint64_t) culprit.excess_ns).text,
                   culprit.is_shared ? ", on several threads together" : "",
                   starved, others);
}

static enum radio_status
find_in_loop (struct rd_finder *finder, struct steps *steps)
{
  RD_TRY (measure_steps (finder->profile, steps));
  if (!steps->slowest)
    return RADIO_OK;
  struct rd_claim first = {
    "first-step", "The first step was slower", RADIO_FINDING_NOTE, 0, 0
  };
  if (steps->first && is_slow (steps, steps->first->duration_ns))
    RD_TRY (report (finder, steps, steps->first, first));
  struct rd_claim slow = {
    "slow-steps", "Some steps are slow", RADIO_FINDING_HINT, 0, 0
  };
  return steps->nslow > 0 ? report (finder, steps, steps->slowest, slow)
                          : RADIO_OK;
}

/* Keeps the longest loops, sorted; returns how many there are of them.  The
 * last place is for one that is left out. */
static size_t
find_loops (const struct radio_profile *profile, size_t loops[MAX_LOOPS + 1])
{
  const struct radio_profile_node *nodes = profile->nodes.at;
  size_t n = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    if (strcmp (nodes[i].category, RADIO_STEP_CATEGORY) != 0
        || nodes[i].calls < MIN_STEPS)
      continue;
    size_t k = n;
    for (; k > 0 && nodes[loops[k - 1]].total_ns < nodes[i].total_ns; k--)
      loops[k] = loops[k - 1];
    loops[k] = i;
    n += n < MAX_LOOPS;
  }
  return n;
}

enum radio_status
rd_find_steps (struct rd_finder *finder)
{
  const struct radio_profile_node *nodes = finder->profile->nodes.at;
  size_t loops[MAX_LOOPS + 1];
  size_t n = find_loops (finder->profile, loops);
  for (size_t i = 0; i < n; i++) {
    size_t parent = nodes[loops[i]].parent;
    struct steps steps = { .node = loops[i] };
    if (n > 1 && parent != RADIO_NO_PARENT)
      steps.loop = nodes[parent].name;
    RD_TRY (find_in_loop (finder, &steps));
  }
  return RADIO_OK;
}
