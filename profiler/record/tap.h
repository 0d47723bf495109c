/* SPDX-License-Identifier: MIT */
/* Scopes for other tools: USDT probes for perf and bpftrace, ITT tasks for
 * VTune, NVTX ranges for Nsight, as the library was built; called only by
 * recorders that were started with `taps'.  Scopes of one thread, properly
 * nested, on the thread itself.
 *
 * What is called is someone else's code: it may take its time, record scopes
 * of its own, or stop the recorder.  So it is called when the writer was
 * left and nothing is locked, and the writer is not looked at after it.  What
 * a tap records is recorded (within the scope that begins, or beside the one
 * that ended), but not told to taps again. */
#ifndef RD_TAP_H
#define RD_TAP_H

#include "profiler/record/record.h"

/* Frames that ended, the innermost first, to be told of afterwards. */
struct rd_tap_ends {
  size_t n;
  const struct radio_site *sites[RD_MAX_DEPTH];
};

/* Whether the calling thread is within a tap. */
bool rd_tap_is_inside (void);

void rd_tap_begin (const struct radio_site *site);
void rd_tap_end (const struct rd_tap_ends *ends);
void rd_tap_instant (const struct radio_site *site);

#endif /* RD_TAP_H */
