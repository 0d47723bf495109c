/* SPDX-License-Identifier: MIT */
/* Scopes for other tools: USDT probes for perf and bpftrace, ITT tasks for
 * VTune, NVTX ranges for Nsight, as the library was built; called only by
 * recorders that were started with `taps'.  Scopes of one thread, properly
 * nested, on the thread itself. */
#ifndef RD_TAP_H
#define RD_TAP_H

#include <radio/profile.h>

void rd_tap_begin (const struct radio_site *site);
void rd_tap_end (const struct radio_site *site);
void rd_tap_instant (const struct radio_site *site);

#endif /* RD_TAP_H */
