/* SPDX-License-Identifier: MIT */
/* Kept by a profile while it is built: a hash table of
 * nodes by parent and name; and the steps of making it whole. */
#ifndef RD_BUILDER_H
#define RD_BUILDER_H

#include "profiler/model/profile.h"

struct rd_builder {
  uint32_t *slots;            /* of nodes; RD_NO_INDEX: free */
  size_t nslots;              /* a power of 2, or 0 */
};

/* Steps of rd_profile_finalize, in files of their own. */

/* Check and order the log (spans.c): indexes, ids, parents; by lane and
 * time; cut to nest. */
enum radio_status rd_profile_check_spans (struct radio_profile *profile)
  RADIO_USE_RESULT;
enum radio_status rd_profile_sort_spans (struct radio_profile *profile)
  RADIO_USE_RESULT;

/* Put values and shares in order, and sum trees (tables.c). */
enum radio_status rd_profile_make_tables (struct radio_profile *profile)
  RADIO_USE_RESULT;

/* Which span has an id: a table that the caller frees.  Refuses ids of 0 and
 * duplicate ids. */
struct rd_span_ids {
  uint32_t *slots;            /* of spans; RD_NO_INDEX: free */
  size_t nslots;
  uint64_t seed;
  bool is_direct;             /* slots are by id, not by its hash */
};

enum radio_status rd_span_ids_make (const struct radio_profile *profile,
                                    struct rd_span_ids *ids) RADIO_USE_RESULT;
void rd_span_ids_free (struct rd_span_ids *ids);

/* Index of the span with an id, or RD_NO_INDEX. */
uint32_t rd_span_ids_find (const struct rd_span_ids *ids,
                           const struct radio_profile *profile, uint32_t id);

#define RD_SPAN_IDS_SCOPE RD_CLEANUP (rd_span_ids_free)

/* Sets the places of all spans, which are 0 before: RD_SPAN_INSIDE for the
 * span with the index top and those below it by their parents. */
enum { RD_SPAN_INSIDE = 1, RD_SPAN_OUTSIDE };
void rd_span_find_descendants (const struct radio_profile *profile,
                               const struct rd_span_ids *ids, size_t top,
                               unsigned char *places);

/* Add, for each span inside except `top', the time in which at least one of
 * its children ran, and for each node that in which one of its spans did; of
 * those inside, or (NULL) of all.  The sums are 0 before. */
enum radio_status
rd_span_sum_covered (const struct radio_profile *profile,
                     const struct rd_span_ids *ids, size_t top,
                     const unsigned char *places, uint64_t *covered_ns)
  RADIO_USE_RESULT;
enum radio_status
rd_span_sum_nodes (const struct radio_profile *profile,
                   const unsigned char *places, uint64_t *node_ns)
  RADIO_USE_RESULT;

struct rd_stretch {
  uint32_t key;               /* an index of the sums */
  uint64_t begin_ns, end_ns;
};

/* Sorts the stretches, and adds the union of each key's to its sum. */
void rd_sum_unions (struct rd_stretch *stretches, size_t n, uint64_t *sums);

#endif /* RD_BUILDER_H */
