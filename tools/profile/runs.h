/* SPDX-License-Identifier: MIT */
/* One operation done again and again, each time timed and recorded. */
#ifndef RD_PROFILE_RUNS_H
#define RD_PROFILE_RUNS_H

#include "tools/profile/samples.h"
#include "tools/tool.h"

/* What is measured.  Each function returns an exit status, after
 * complaining; run counts from 0, warm-ups included. */
struct rd_operation {
  const char *title;          /* of the recordings */
  /* Before a run, neither timed nor recorded; may be NULL. */
  int (*prepare) (void *data, size_t run);
  /* The run itself. */
  int (*perform) (void *data, size_t run);
  /* Attach facts to a run's recording; may be NULL. */
  enum radio_status (*facts) (void *data, struct radio_recorder *recorder);
  /* After a run; may be NULL. */
  int (*settle) (void *data, size_t run);
  void *data;
};

struct rd_runs {
  size_t nwarm;               /* first, and not kept */
  size_t n;                   /* wanted */
  size_t ndone;
  double *seconds;            /* of each run that was done; sorted later */
  struct radio_profile **profiles;
};

/* Do all runs; Ctrl-C ends them early (ndone tells).  Returns an exit
 * status, after complaining. */
int rd_runs_measure (struct rd_runs *runs,
                     const struct rd_operation *operation);

/* Join the recordings into one profile, whose parts are the runs. */
int rd_runs_join (const struct rd_runs *runs,
                  struct radio_profile **profile);

void rd_runs_clear (struct rd_runs *runs);
#define RD_CLEAR_RUNS RD_CLEANUP (rd_runs_clear)

#endif /* RD_PROFILE_RUNS_H */
