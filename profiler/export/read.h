/* SPDX-License-Identifier: MIT */
/* The steps of reading a profile back.  No byte is trusted: a count is
 * believed only as far as the bytes that follow allow. */
#ifndef RD_READ_H
#define RD_READ_H

#include "src/base/json.h"
#include "profiler/export/json.h"

/* Bytes that may be a profile: the document itself, or a page with one.
 * `where' names them in messages. */
enum radio_status rd_profile_parse (const char *text, size_t nbytes,
                                    const char *where,
                                    struct radio_profile **profile)
  RADIO_USE_RESULT;

/* Fails: the bytes are no profile of radio's.  The message says what they
 * are if their format is known; document: them as JSON, or NULL. */
enum radio_status rd_read_foreign (const char *text, size_t nbytes,
                                   struct json_object *document,
                                   const char *where);

/* Read the block "samples", and "spans"; nspans: how many each lane has. */
enum radio_status rd_read_samples (struct json_object *document,
                                   const char *where,
                                   struct radio_profile *profile)
  RADIO_USE_RESULT;
enum radio_status rd_read_spans (struct json_object *document,
                                 const struct rd_lane_row *lanes,
                                 size_t nlanes, const char *where,
                                 struct radio_profile *profile)
  RADIO_USE_RESULT;

/* Read the blocks "tiles" and "starved", once the spans were added. */
enum radio_status rd_read_tiles (struct json_object *document,
                                 const char *where,
                                 struct radio_profile *profile)
  RADIO_USE_RESULT;
enum radio_status rd_read_starved (struct json_object *document,
                                   const char *where,
                                   struct radio_profile *profile)
  RADIO_USE_RESULT;

#endif /* RD_READ_H */
