/* SPDX-License-Identifier: MIT */
/* What scopes and recorders call of causality and the collector, until it
 * is there. */
#include <config.h>

#include <stdlib.h>

#include "profiler/record/async.h"
#include "profiler/record/scope.h"
#include "profiler/record/shared.h"

uint64_t
rd_shared_enter (struct rd_writer_state *writer, struct rd_shared *shared,
                 struct rd_frame *frame)
{
  (void) shared;
  (void) frame;
  return rd_clock_now (&writer->clock);
}

void
rd_shared_finish (struct rd_writer_state *writer, struct rd_frame *frame,
                  struct rd_ending *ending)
{
  (void) writer;
  (void) frame;
  (void) ending;
}

void
rd_received_end (struct rd_writer_state *writer, struct rd_frame *frame,
                 uint64_t duration)
{
  (void) writer;
  (void) frame;
  (void) duration;
}

void
rd_async_stop (struct radio_recorder *recorder, uint64_t now)
{
  (void) recorder;
  (void) now;
}

enum radio_status
rd_collect (const struct radio_recorder *recorder,
            struct radio_profile **profile)
{
  (void) recorder;
  (void) profile;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}
