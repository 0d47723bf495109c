/* SPDX-License-Identifier: MIT */
/* Declared, and not there yet. */
#include <config.h>

#include <radio/radio.h>

#include "profiler/base/error.h"

unsigned radio_profile_switch;

uint64_t
radio_scope_begin (const struct radio_site *site)
{
  (void) site;
  return 0;
}

void
radio_scope_end (uint64_t token)
{
  (void) token;
}

void
radio_scope_add (const struct radio_counter *counter, uint64_t value)
{
  (void) counter;
  (void) value;
}

void
radio_scope_instant (const struct radio_site *site)
{
  (void) site;
}

void
radio_thread_name (const char *name)
{
  (void) name;
}

enum radio_status
radio_recorder_start (const struct radio_recorder_options *options,
                      struct radio_recorder **recorder)
{
  (void) options;
  (void) recorder;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}

enum radio_status
radio_recorder_fact (struct radio_recorder *recorder,
                     const char *key,
                     const char *value,
                     enum radio_text_kind kind)
{
  (void) recorder;
  (void) key;
  (void) value;
  (void) kind;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}

enum radio_status
radio_recorder_stop (struct radio_recorder *recorder,
                     struct radio_profile **profile)
{
  (void) recorder;
  (void) profile;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}
