/* SPDX-License-Identifier: MIT */
/* A progress bar on the terminal; nothing elsewhere. */
#ifndef RD_PROGRESS_H
#define RD_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_progress {
  bool enabled;               /* stderr is a terminal */
  bool shown;                 /* a bar stands on the screen */
  const char *did;            /* "read": with the bytes of the rate; NULL:
                                 things are counted, there is no rate */
  double start_s, drawn_s;
};

/* Seconds of a monotonic clock. */
double rd_clock_s (void);

void rd_progress_start (struct rd_progress *progress, const char *did);

/* Redraws the bar, at most ten times a second. */
void rd_progress_update (struct rd_progress *progress, const char *label,
                         uint64_t done, uint64_t total);

/* The progress of n parts, whose sizes become known when they have begun; and
 * the progress of one of them.  Zeroed before, except n. */
struct rd_progress_sum {
  size_t n, nmeasured;
  uint64_t done, total;       /* of those that are measured */
};
struct rd_progress_part {
  bool is_measured;
  uint64_t done, total;
};

/* Redraws the bar when a part has come so far.  Parts that are not measured yet
 * are taken to have the mean size. */
void rd_progress_update_part (struct rd_progress *progress,
                              struct rd_progress_sum *sum,
                              struct rd_progress_part *part,
                              const char *label, uint64_t done,
                              uint64_t total);

/* Clears the bar, before something else is printed. */
void rd_progress_clear (struct rd_progress *progress);

/* Formats the line for a terminal of ncolumns, which it never exceeds.
 * Returns text, which has room for 512 bytes. */
#define RD_PROGRESS_NBYTES 512
const char *rd_progress_line (const char *label, uint64_t done,
                              uint64_t total, double elapsed_s, const char *did,
                              size_t ncolumns,
                              char text[RD_PROGRESS_NBYTES]);

#endif /* RD_PROGRESS_H */
