/* SPDX-License-Identifier: MIT */
/* Declared, and not there yet. */
#include <config.h>

#include <radio/radio.h>

#include "profiler/base/error.h"

enum radio_status
radio_set_allocator (const struct radio_allocator *allocator)
{
  (void) allocator;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}
