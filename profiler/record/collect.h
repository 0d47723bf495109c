/* SPDX-License-Identifier: MIT */
/* The profile of a recorder that was stopped, from the data of its writers:
 * the steps, in their order. */
#ifndef RD_RECORD_COLLECT_H
#define RD_RECORD_COLLECT_H

#include "profiler/model/profile.h"
#include "profiler/record/image.h"
#include "profiler/record/record.h"
#include "profiler/record/slow.h"

/* A hash table with linear probing. */
struct rd_id_slot {
  uint64_t sequence;
  uint32_t id;                /* 0: free */
};

struct rd_id_table {
  struct rd_id_slot *slots;
  size_t nslots, n;           /* nslots: a power of 2, or 0 */
};

/* Unique ids for spans, by writer and sequence.  Parents get theirs when a
 * child refers to them, even if the log has dropped them. */
struct rd_ids {
  struct rd_id_table *tables; /* of each writer */
  size_t nwriters;
  uint32_t n;                 /* ids in use */
};

struct rd_collection {
  const struct radio_recorder *recorder;
  struct radio_profile *profile;
  const struct rd_origin *origin;       /* the process that recorded */
  uint64_t begin;             /* ticks: the profile's */
  uint64_t spans_from;        /* ticks: spans that began before are left out */
  struct rd_ids ids;
  uint32_t *lanes;            /* of all sessions, writer after writer */
  uint64_t nfolded;           /* scopes deeper than a profile may be */
  uint64_t nvalues_lost;      /* of more counters than it may have */
  uint64_t nsamples_lost;     /* of more gauges */
};

/* The profile's time, in ns, of a reading of the clock. */
uint64_t rd_collect_time (const struct rd_collection *collection,
                          uint64_t ticks);

/* Adds the trees: every rd_node gets its index in the profile.  Nodes that
 * are too deep are folded into the node above, with the figures that add up:
 * self time, work, wait, counters and memory.  Their runs are no runs of that
 * node, so neither they nor their spans are in the profile. */
enum radio_status rd_collect_tree (struct rd_collection *collection)
  RADIO_USE_RESULT;

/* Adds spans, their texts and those of nodes, and samples; needs the tree and
 * the lanes. */
enum radio_status rd_collect_log (struct rd_collection *collection)
  RADIO_USE_RESULT;

/* Makes the profile.  Called once, by radio_recorder_stop, when nothing writes
 * any more and all frames are closed. */
enum radio_status
rd_collect (const struct radio_recorder *recorder,
            struct radio_profile **profile) RADIO_USE_RESULT;

/* The same of a copy (rd_snapshot_recover), any number of times, without the
 * spans that began before a run did: all that the run caused are among the
 * others.  Sets *id to the run's span; 0: it is not in the log.  run may be
 * NULL: no spans are left out. */
enum radio_status
rd_collect_run (const struct radio_recorder *recorder,
                const struct rd_slow_run *run,
                struct radio_profile **profile,
                uint32_t *id) RADIO_USE_RESULT;

/* Ids for spans of nwriters writers.  RADIO_ERROR_MEMORY. */
enum radio_status rd_ids_init (struct rd_ids *ids, size_t nwriters)
  RADIO_USE_RESULT;
void rd_ids_free (struct rd_ids *ids);

#define RD_IDS_SCOPE RD_CLEANUP (rd_ids_free)

/* Sets *id to the id of a span, a new one if it has none.
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_ids_give (struct rd_ids *ids, uint32_t writer,
                               uint64_t sequence, uint32_t *id)
  RADIO_USE_RESULT;

/* The id of a span; 0 if it has none. */
uint32_t rd_ids_find (const struct rd_ids *ids, uint32_t writer,
                      uint64_t sequence);

#endif /* RD_RECORD_COLLECT_H */
