/* SPDX-License-Identifier: MIT */
/* Exporters that are not there yet. */
#include <config.h>

#include "profiler/export/export.h"

enum radio_status
rd_profile_redact (const struct radio_profile *profile, const void *key,
                   size_t key_nbytes, struct radio_profile **redacted)
{
  (void) profile;
  (void) key;
  (void) key_nbytes;
  (void) redacted;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");
}
