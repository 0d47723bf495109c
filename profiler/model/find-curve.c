/* SPDX-License-Identifier: MIT */
/* How time grows with size, where sizes were swept. */
#include <config.h>

#include <stdio.h>

#include "src/base/checked.h"
#include "profiler/model/curve.h"
#include "profiler/model/findings.h"

/* So many points are told in a sentence; the page shows all. */
#define MAX_TOLD 6

/* "box 64 (524 kB) 1.2 ms, 437 MB/s" */
static size_t
tell_point (const struct rd_finder *finder, const struct rd_curve_point *point,
            char *text, size_t nbytes)
{
  int n = snprintf (text, nbytes, "%.20s (%s) %s, %s; ",
                    finder->profile->nodes.at[point->node].name,
                    rd_human_nbytes (point->nbytes).text,
                    rd_human_ns (point->median_ns).text,
                    rd_human_rate (point->nbytes, point->median_ns).text);
  return n > 0 && (size_t) n < nbytes ? (size_t) n : 0;
}

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
  size_t ntold = rd_min_u64 (curve.n, MAX_TOLD);
  for (size_t i = 0; i < ntold; i++)
    at += tell_point (finder, &curve.at[i * (curve.n - 1) / (ntold - 1)],
                      points + at, sizeof points - at);
  struct rd_claim claim = {
    "time-by-size", "How the time grows with the size", RADIO_FINDING_NOTE,
    1, RADIO_NO_PARENT
  };
  return rd_found (finder, &claim,
                   "%s%s x the bytes take %s x the time (medians)", points,
                   rd_human_number ((double) last->nbytes
                                    / (double) first->nbytes).text,
                   rd_human_number ((double) last->median_ns
                                    / (double) rd_max_u64 (first->median_ns,
                                                           1)).text);
}
