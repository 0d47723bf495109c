/* SPDX-License-Identifier: MIT */
/* What a comparison of two profiles tells. */
#ifndef RD_PROFILE_DIFF_H
#define RD_PROFILE_DIFF_H

#include "tools/tool.h"

struct rd_diff {
  const struct radio_comparison *comparison;
  const struct radio_profile *before, *after;   /* which it compares */
  bool all, json;
  bool redact;                /* tell that facts differ, not what they are */
  double fail_percent;        /* negative: differences do not fail */

  size_t n;                   /* paths; set by the report */
  int64_t whole_ns;           /* the larger of both roots' sums */
};

/* Print the table and a sentence, or JSON.  Returns an exit status: 1, after
 * complaining, when a root is slower by more than fail_percent. */
int rd_diff_report (struct rd_diff *diff);

#endif /* RD_PROFILE_DIFF_H */
