/* SPDX-License-Identifier: MIT */
/* Patterns of paths with named fields, as "imagesTr/{subject}_{channel}". */
#ifndef RD_INGEST_PATTERN_H
#define RD_INGEST_PATTERN_H

#include <radio/base.h>

#include "src/base/cleanup.h"

enum rd_field {
  RD_FIELD_SUBJECT,
  RD_FIELD_SESSION,
  RD_FIELD_RUN,
  RD_FIELD_COLLECTION,
  RD_FIELD_CHANNEL,
  RD_NFIELDS
};

/* The bytes of a path that a field matches.  NULL: the pattern does not have
 * the field. */
struct rd_field_text {
  const char *start;
  size_t nbytes;
};

struct rd_pattern;

/* Parses a pattern; include/radio/layout.h says what it is.
 * RADIO_ERROR_ARGUMENT gives the place, from 1. */
enum radio_status rd_pattern_parse (const char *text,
                                    struct rd_pattern **pattern)
  RADIO_USE_RESULT;

/* Finds the fields in a path, which they point into.  RADIO_ERROR_NOT_FOUND if
 * it does not match; RADIO_ERROR_ARGUMENT if finding that out takes too many
 * steps, as with "*_*_*_*_*" in a name of hundreds of '_'. */
enum radio_status rd_pattern_match (const struct rd_pattern *pattern,
                                    const char *path,
                                    struct rd_field_text fields[RD_NFIELDS])
  RADIO_USE_RESULT;

/* NULL is legal. */
void rd_pattern_free (struct rd_pattern *pattern);
RD_DEFINE_CLEANUP (pattern, struct rd_pattern, rd_pattern_free);

#endif /* RD_INGEST_PATTERN_H */
