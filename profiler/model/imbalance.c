/* SPDX-License-Identifier: MIT */
/* How evenly the parts of a profile share a node's time. */
#include <config.h>

#include <string.h>

#include "profiler/model/builder.h"
#include "profiler/model/vector.h"

static uint64_t
total_of (const struct radio_profile *profile, size_t node, size_t part)
{
  return rd_profile_share (profile, node, part).total_ns;
}

static size_t
count_up_to (const struct radio_profile *profile, size_t node,
             uint64_t bound)
{
  size_t n;
  const struct rd_part_share *shares = rd_profile_shares (profile, node, &n);
  size_t count = profile->parts.n - n;      /* they have nothing of it */
  for (size_t i = 0; i < n; i++)
    count += shares[i].share.total_ns <= bound;
  return count;
}

/* The k-th smallest total, from 1, without memory to sort them in: the
 * smallest number that k of them do not exceed. */
static uint64_t
kth_total (const struct radio_profile *profile, size_t node, size_t k)
{
  uint64_t low = 0, high = RD_MAX_VALUE;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (count_up_to (profile, node, middle) >= k)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static uint64_t
median_total (const struct radio_profile *profile, size_t node)
{
  size_t n = profile->parts.n;
  uint64_t low = kth_total (profile, node, (n + 1) / 2);
  uint64_t high = n % 2 ? low : kth_total (profile, node, n / 2 + 1);
  return low + (high - low) / 2;
}

/* The largest total less the smallest one, of all parts but one. */
static uint64_t
spread_of_others (const struct radio_profile *profile, size_t node,
                  size_t but)
{
  uint64_t min = RD_MAX_VALUE, max = 0;
  for (size_t i = 0; i < profile->parts.n; i++) {
    if (i == but)
      continue;
    min = rd_min_u64 (min, total_of (profile, node, i));
    max = rd_max_u64 (max, total_of (profile, node, i));
  }
  return max > min ? max - min : 0;
}

/* A part that takes so little more than the others keeps nobody waiting:
 * this, and a hundredth of the longest part. */
#define MIN_LAG_NS 1000000
#define MIN_LAG_SHARE 100

static uint64_t
longest_wall (const struct radio_profile *profile)
{
  uint64_t longest = 0;
  for (size_t i = 0; i < profile->parts.n; i++)
    longest = rd_max_u64 (longest, profile->parts.at[i].wall_ns);
  return longest;
}

static bool
is_straggler (const struct radio_profile *profile, size_t node, size_t part)
{
  uint64_t total = total_of (profile, node, part);
  uint64_t median = median_total (profile, node);
  uint64_t lag = total - median;
  return profile->parts.n > 1 && lag > median / 2 && lag >= MIN_LAG_NS
         && lag >= longest_wall (profile) / MIN_LAG_SHARE
         && lag > spread_of_others (profile, node, part);
}

void
radio_profile_imbalance (const struct radio_profile *profile, size_t node,
                         struct radio_imbalance *imbalance)
{
  memset (imbalance, 0, sizeof *imbalance);
  if (node >= profile->nodes.n)
    return;
  double sum = 0;
  size_t n = profile->parts.n;
  imbalance->min_ns = RD_MAX_VALUE;
  for (size_t i = 0; i < n; i++) {
    uint64_t total = total_of (profile, node, i);
    sum += (double) total;
    if (total > imbalance->max_ns)
      imbalance->slowest = i;
    imbalance->max_ns = rd_max_u64 (imbalance->max_ns, total);
    imbalance->min_ns = rd_min_u64 (imbalance->min_ns, total);
  }
  if (!(sum > 0))
    return;
  imbalance->mean_ns = (uint64_t) (sum / (double) n);
  imbalance->imbalance = (double) imbalance->max_ns / (sum / (double) n);
  imbalance->straggler = is_straggler (profile, node, imbalance->slowest);
}
