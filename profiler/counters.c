/* SPDX-License-Identifier: MIT */
/* The library's counters, with the names that users read and findings search;
 * and the failure of an operation. */
#include <config.h>

#include "profiler/counters.h"

const struct radio_counter rd_count_asked = { "bytes asked", "bytes" };
const struct radio_counter rd_count_fetched = { "bytes fetched", "bytes" };
const struct radio_counter rd_count_decoded = { "bytes decoded", "bytes" };
const struct radio_counter rd_count_delivered
  = { "bytes delivered", "bytes" };
const struct radio_counter rd_count_converted
  = { "bytes converted", "bytes" };

const struct radio_counter rd_count_operated
  = { "elements operated", "count" };
const struct radio_counter rd_count_sampled = { "bytes sampled", "bytes" };
const struct radio_counter rd_count_computed = { "bytes computed", "bytes" };

const struct radio_counter rd_count_inflated = { "bytes inflated", "bytes" };
const struct radio_counter rd_count_encoded = { "bytes encoded", "bytes" };
const struct radio_counter rd_count_written = { "bytes written", "bytes" };

const struct radio_counter rd_count_requests = { "requests", "count" };
const struct radio_counter rd_count_retries = { "retries", "count" };
const struct radio_counter rd_count_refetches = { "fetched again", "count" };
const struct radio_counter rd_count_hedges = { "hedges", "count" };
const struct radio_counter rd_count_preconnect = { "connected ahead", "count" };
const struct radio_counter rd_count_hits = { "cache hits", "count" };
const struct radio_counter rd_count_misses = { "cache misses", "count" };
const struct radio_counter rd_count_tiles = { "tiles", "count" };
const struct radio_counter rd_count_errors = { "errors", "count" };
const struct radio_counter rd_count_failures = { "failures", "count" };

void
rd_scope_failed (enum radio_status status)
{
  radio_scope_add (&rd_count_failures, 1);
  radio_scope_text (RD_NOTE_FAILED, radio_status_name (status),
                    RADIO_TEXT_PLAIN);
  rd_record_failed_within (status);
}
