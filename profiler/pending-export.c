/* SPDX-License-Identifier: MIT */
/* Exporters that are not there yet. */
#include <config.h>

#include "profiler/export/export.h"

#define PENDING(name)                                                       \
  enum radio_status                                                         \
  name (const struct radio_profile *profile,                                \
        const struct radio_profile_write_options *options,                  \
        struct rd_writer *writer)                                           \
  {                                                                         \
    (void) profile;                                                         \
    (void) options;                                                         \
    (void) writer;                                                          \
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "not there yet");              \
  }

PENDING (rd_export_folded)
PENDING (rd_export_text)

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
