/* SPDX-License-Identifier: MIT */
/* Declared, and not there yet. */
#include <config.h>

#include <radio/radio.h>

#include "profiler/base/error.h"

struct radio_async *
radio_async_begin (const struct radio_site *site)
{
  (void) site;
  return 0;
}

struct radio_async *
radio_async_receive (const struct radio_handoff *handoff,
                     const struct radio_site *site)
{
  (void) handoff;
  (void) site;
  return 0;
}

void
radio_async_phase (struct radio_async *async, const struct radio_site *phase)
{
  (void) async;
  (void) phase;
}

void
radio_async_add (struct radio_async *async,
                 const struct radio_counter *counter,
                 uint64_t value)
{
  (void) async;
  (void) counter;
  (void) value;
}

void
radio_async_text (struct radio_async *async,
                  const char *key,
                  const char *value,
                  enum radio_text_kind kind)
{
  (void) async;
  (void) key;
  (void) value;
  (void) kind;
}

void
radio_async_end (struct radio_async *async)
{
  (void) async;
}
