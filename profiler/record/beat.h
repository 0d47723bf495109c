/* SPDX-License-Identifier: MIT */
/* The thread of a recorder whose ring is in a file: ten times a second it
 * notes in the header that the process runs, so that scopes which were open
 * when it ended have about their time.  It also copies the image of one moment
 * for a reader of the file that asks for it: the reader's own reads would be of
 * many moments. */
#ifndef RD_BEAT_H
#define RD_BEAT_H

#include "profiler/record/record.h"

/* Starts the thread, once the header is complete.  Errors: those of creating a
 * thread. */
enum radio_status rd_beat_start (struct radio_recorder *recorder)
  RADIO_USE_RESULT;

/* Ends it, if there is one.  Not in a child of fork, which has none. */
void rd_beat_end (struct radio_recorder *recorder);

#endif /* RD_BEAT_H */
