/* SPDX-License-Identifier: MIT */
/* Requests: runs without a frame, written under the recorder's mutex into
 * its writer of requests, by whichever thread is at it. */
#ifndef RD_ASYNC_H
#define RD_ASYNC_H

#include "profiler/record/record.h"

/* End what is open, at this time, as open.  Called when the recorder stops,
 * whether or not a profile is wanted, after the frames were closed; its
 * mutex is held.  The handles stay, and refer to the recorder, until they
 * are ended. */
void rd_async_stop (struct radio_recorder *recorder, uint64_t now);

#endif /* RD_ASYNC_H */
