/* SPDX-License-Identifier: MIT */
/* What scopes and recorders call of causality and the collector, until it
 * is there. */
#include <config.h>

#include <stdlib.h>

#include "profiler/record/async.h"
#include "profiler/record/scope.h"
#include "profiler/record/shared.h"

enum radio_status
rd_collect (const struct radio_recorder *recorder,
            struct radio_profile **profile)
{
  (void) recorder;
  (void) profile;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}
