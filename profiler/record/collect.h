/* SPDX-License-Identifier: MIT */
/* From what the writers of a recorder wrote to one profile: the steps, in
 * their order.  Nothing writes any more. */
#ifndef RD_COLLECT_H
#define RD_COLLECT_H

#include "profiler/model/profile.h"
#include "profiler/record/record.h"

/* The ids of spans, by writer and sequence; see collect-ids.c. */
struct rd_ids {
  struct rd_id_table *tables; /* of each writer */
  size_t nwriters;
  uint32_t n;                 /* ids that were given */
};

struct rd_collection {
  const struct radio_recorder *recorder;
  struct radio_profile *profile;
  uint64_t origin;            /* ticks: the profile's beginning */
  struct rd_ids ids;
  uint32_t *lanes;            /* of all sessions, writer after writer */
  uint64_t nfolded;           /* scopes deeper than a profile may be */
  uint64_t nvalues_lost;      /* of more counters than it may have */
  uint64_t nsamples_lost;     /* of more gauges */
};

/* A point in time. */
uint64_t rd_collect_time (const struct rd_collection *collection,
                          uint64_t ticks);

/* The tree (collect-tree.c): every rd_node gets its index in the profile.
 * Those that are too deep get that of the node above, with what adds up:
 * self time, work, wait, counters and memory.  Their runs are no runs of
 * that node, so neither they nor their spans are in the profile. */
enum radio_status rd_collect_tree (struct rd_collection *collection)
  RADIO_USE_RESULT;

/* Threads (collect-lanes.c): fills lanes. */
enum radio_status rd_collect_lanes (struct rd_collection *collection)
  RADIO_USE_RESULT;

/* The log (collect-log.c); needs the tree and the lanes. */
enum radio_status rd_collect_log (struct rd_collection *collection)
  RADIO_USE_RESULT;

/* Texts and samples (collect-notes.c); need the log. */
enum radio_status rd_collect_notes (struct rd_collection *collection)
  RADIO_USE_RESULT;
enum radio_status rd_collect_samples (struct rd_collection *collection)
  RADIO_USE_RESULT;

/* Room for spans of so many writers.  RADIO_ERROR_MEMORY. */
enum radio_status rd_ids_init (struct rd_ids *ids, size_t nwriters)
  RADIO_USE_RESULT;
void rd_ids_free (struct rd_ids *ids);

#define RD_IDS_SCOPE RD_CLEANUP (rd_ids_free)

/* The id of a span, new or as it was given before, in *id.
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_ids_give (struct rd_ids *ids, uint32_t writer,
                               uint64_t sequence, uint32_t *id)
  RADIO_USE_RESULT;

/* The same of a span that may have none: then 0. */
uint32_t rd_ids_find (const struct rd_ids *ids, uint32_t writer,
                      uint64_t sequence);

#endif /* RD_COLLECT_H */
