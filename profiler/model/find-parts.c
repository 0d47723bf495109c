/* SPDX-License-Identifier: MIT */
/* Findings about runs, ranks and sizes. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/checked.h"
#include "profiler/model/curve.h"
#include "profiler/model/findings.h"
#include "profiler/model/spread.h"
#include "profiler/model/vector.h"

/*------------------------------------------------------------------------
 * Time by size
 *----------------------------------------------------------------------*/

/* Points in the sentence at most; the page shows all. */
#define MAX_POINTS 6

enum radio_status
rd_find_curve (struct rd_finder *finder)
{
  struct rd_curve curve;
  char points[400] = "";
  size_t at = 0;
  RD_TRY (rd_profile_curve (finder->profile, &curve));
  if (curve.n < 2)
    return RADIO_OK;
  const struct rd_curve_point *first = &curve.at[0];
  const struct rd_curve_point *last = &curve.at[curve.n - 1];
  size_t npoints = rd_min_u64 (curve.n, MAX_POINTS);
  for (size_t i = 0; i < npoints; i++) {
    /* "box 64 (524 kB) 1.2 ms, 437 MB/s" */
    const struct rd_curve_point *point
      = &curve.at[i * (curve.n - 1) / (npoints - 1)];
    int n = snprintf (points + at, sizeof points - at, "%.20s (%s) %s, %s; ",
                      finder->profile->nodes.at[point->node].name,
                      rd_format_nbytes (point->nbytes).text,
                      rd_format_ns (point->median_ns).text,
                      rd_format_rate (point->nbytes, point->median_ns).text);
    if (n > 0 && (size_t) n < sizeof points - at)
      at += (size_t) n;
  }
  struct rd_claim claim = {
    "time-by-size", "Time by size", RADIO_FINDING_NOTE,
    1, RADIO_NO_PARENT
  };
  return rd_found (finder, &claim,
                   "%s%s x the bytes take %s x the time (medians)", points,
                   rd_format_number ((double) last->nbytes
                                    / (double) first->nbytes).text,
                   rd_format_number ((double) last->median_ns
                                    / (double) rd_max_u64 (first->median_ns,
                                                           1)).text);
}

/* The slowest rank over the mean: time that the others wait. */
#define IMBALANCE 1.2

/* The part of its excess in which the slowest rank had no CPU beyond what all
 * lacked, from which on the load is not what differs. */
#define STARVED_SHARE 0.5

/* Smaller losses are ignored: of the mean over the others' waiting, and of
 * a run relative to the others. */
#define MIN_LOST_NS 1000000
#define MIN_LOST_SHARE 0.01
#define MIN_RANGE_NS 100000

/* A first run that took so much more than the others was a warm-up. */
#define WARM_UP 1.5

/* The others' range over their median. */
#define SCATTER 0.2

/*------------------------------------------------------------------------
 * Ranks
 *----------------------------------------------------------------------*/

/* Work of one rank alone, such as writing the result, is no imbalance. */
static bool
is_in_all_parts (const struct radio_profile *profile, size_t node)
{
  size_t n;
  rd_profile_shares (profile, node, &n);
  return n == profile->parts.n;
}

/* True if what a rank lacked CPUs for longer than all did on average explains
 * why it took so much longer. */
static bool
lacked_cpus_alone (const struct radio_profile *profile,
                   const struct rd_profile_part *part, uint64_t excess_ns)
{
  double mean = 0;
  for (size_t i = 0; i < profile->parts.n; i++)
    mean += (double) profile->parts.at[i].starved_ns
            / (double) profile->parts.n;
  return (double) part->starved_ns - mean >= STARVED_SHARE * (double) excess_ns;
}

static enum radio_status
find_imbalance (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  size_t root = RADIO_NO_PARENT;
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (profile->nodes.at[i].parent == RADIO_NO_PARENT
        && is_in_all_parts (profile, i)
        && (root == RADIO_NO_PARENT
            || profile->nodes.at[i].total_ns
               > profile->nodes.at[root].total_ns))
      root = i;
  if (root == RADIO_NO_PARENT)
    return RADIO_OK;
  struct radio_imbalance is;
  radio_profile_imbalance (profile, root, &is);
  if (is.imbalance < IMBALANCE || is.max_ns - is.mean_ns < MIN_LOST_NS
      || (double) (is.max_ns - is.mean_ns)
         < MIN_LOST_SHARE * (double) profile->info.wall_ns)
    return RADIO_OK;

  /* Find the node that explains most of why the slowest part is slow: the
   * one with most self time above the mean of all parts. */
  double most = 0;
  size_t culprit = root;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    size_t n;
    if (!is_in_all_parts (profile, i))
      continue;
    const struct rd_part_share *shares = rd_profile_shares (profile, i, &n);
    double sum = 0, own = 0;
    for (size_t j = 0; j < n; j++) {
      sum += (double) shares[j].share.self_ns;
      if (shares[j].part == is.slowest)
        own = (double) shares[j].share.self_ns;
    }
    double excess = own - sum / (double) profile->parts.n;
    if (excess > most) {
      most = excess;
      culprit = i;
    }
  }
  /* The slowest may have done the same work, with less of the CPUs. */
  const struct rd_profile_part *slowest = &profile->parts.at[is.slowest];
  char starved[128] = "";
  bool lacked_cpus = lacked_cpus_alone (profile, slowest,
                                        is.max_ns - is.mean_ns);
  if (lacked_cpus)
    snprintf (starved, sizeof starved,
              "; its threads had no CPU for %s of their %s of work",
              rd_format_ns (slowest->starved_ns).text,
              rd_format_ns (slowest->work_ns).text);
  struct rd_claim claim = {
    is.straggler ? "straggler" : "imbalance",
    lacked_cpus    ? "One rank lacked CPUs more than the others"
    : is.straggler ? "One rank is far slower than the others"
                   : "Load imbalance between ranks",
    lacked_cpus         ? RADIO_FINDING_NOTE
    : is.imbalance >= 2 ? RADIO_FINDING_PROBLEM : RADIO_FINDING_HINT,
    1 - 1 / is.imbalance, culprit
  };
  return rd_found (
    finder, &claim,
    "'%.60s' took %s in %.40s, %s on average over %zu (%s x), %s in the "
    "fastest; %s of the excess in '%.60s'%s",
    profile->nodes.at[root].name, rd_format_ns (is.max_ns).text,
    profile->parts.at[is.slowest].name, rd_format_ns (is.mean_ns).text,
    profile->parts.n, rd_format_number (is.imbalance).text,
    rd_format_ns (is.min_ns).text, rd_format_ns ((uint64_t) most).text,
    profile->nodes.at[culprit].name, starved);
}

/*------------------------------------------------------------------------
 * Runs
 *----------------------------------------------------------------------*/

enum radio_status
rd_find_parts (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  if (profile->info.parts == RADIO_PARTS_RANKS && profile->parts.n > 1
      && profile->nodes.n > 0)
    return find_imbalance (finder);
  if (profile->info.parts != RADIO_PARTS_RUNS || profile->parts.n < 3)
    return RADIO_OK;

  /* The runs after the first. */
  RD_FREE_PLAIN void *memory = NULL;
  size_t n = profile->parts.n - 1;
  RD_TRY (rd_new_array (n, sizeof (uint64_t), &memory));
  uint64_t *values = memory;
  for (size_t i = 0; i < n; i++)
    values[i] = profile->parts.at[i + 1].wall_ns;
  double median = rd_spread_of (values, n, NULL).median;
  uint64_t min_ns = values[0], max_ns = values[n - 1];
  if (!(median > 0))
    return RADIO_OK;

  uint64_t first = profile->parts.at[0].wall_ns;
  double ratio = (double) first / median;
  struct rd_claim warm_up = {
    "warm-up", "The first run was slower", RADIO_FINDING_NOTE,
    1 - 1 / ratio, RADIO_NO_PARENT
  };
  /* Threads without a CPU warm nothing up. */
  bool is_starved = (double) profile->parts.at[0].starved_ns
                    >= STARVED_SHARE * ((double) first - median);
  if ((double) first >= WARM_UP * median && first > max_ns
      && first - max_ns >= MIN_RANGE_NS && !is_starved)
    RD_TRY (rd_found (finder, &warm_up,
                      "%s in run 1, a median of %s in the %zu others (%s x): "
                      "files, caches and threads warm up",
                      rd_format_ns (first).text,
                      rd_format_ns ((uint64_t) median).text, n,
                      rd_format_number (ratio).text));

  double range = (double) (max_ns - min_ns), share = range / median;
  if (share < SCATTER || range < MIN_RANGE_NS)
    return RADIO_OK;
  struct rd_claim scatter = {
    "runs-scatter", "Run times vary", RADIO_FINDING_HINT,
    share < 1 ? share / 2 : 0.5, RADIO_NO_PARENT
  };
  return rd_found (finder, &scatter,
                   "%s to %s over %zu runs after the first, a range of "
                   "%s%s their median of %s: smaller differences are noise",
                   rd_format_ns (min_ns).text, rd_format_ns (max_ns).text, n,
                   rd_format_percent (share, 1).text, share < 2 ? " of" : "",
                   rd_format_ns ((uint64_t) median).text);
}
