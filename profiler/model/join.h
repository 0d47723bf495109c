/* SPDX-License-Identifier: MIT */
/* What joining profiles needs from file to file. */
#ifndef RD_JOIN_H
#define RD_JOIN_H

#include "profiler/model/builder.h"

/* How one source's indexes are called in the joined profile. */
struct rd_join {
  struct radio_profile *joined;
  const struct radio_profile *source;
  enum radio_profile_parts parts;       /* of the joined one */
  uint64_t offset_ns;         /* of the source's beginning */
  uint32_t first_part;        /* the source's first part */
  uint32_t next_id;           /* of spans */
  uint32_t *nodes;            /* [source's] */
  uint32_t *counters;
  uint32_t *lanes;
  uint32_t *gauges;
  size_t nreusable;           /* lanes of earlier runs, that may go on */
  bool *is_reused;            /* [nreusable], while lanes are joined */
};

/* Lanes, spans, their texts, and samples; nodes[] is filled. */
enum radio_status rd_join_log (struct rd_join *join) RADIO_USE_RESULT;

/* Facts and the nodes' texts, of all sources together; nodes[i] are source
 * i's. */
enum radio_status
rd_join_facts (struct radio_profile *joined,
               struct radio_profile *const *sources, size_t n)
  RADIO_USE_RESULT;
enum radio_status
rd_join_node_notes (struct radio_profile *joined,
                    struct radio_profile *const *sources, size_t n,
                    uint32_t *const *nodes) RADIO_USE_RESULT;

#endif /* RD_JOIN_H */
