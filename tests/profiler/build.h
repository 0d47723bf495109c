/* SPDX-License-Identifier: MIT */
/* Profiles for tests, made in a few lines and without a recorder.
 *
 *   struct radio_profile *profile = build_new ("two reads");
 *   uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
 *   uint32_t decode = build_node (profile, read, "decode", "decode");
 *   uint32_t main_lane = build_lane (profile, "main");
 *   uint32_t id = build_span (profile, main_lane, read, 0, 0, 100);
 *   build_span (profile, main_lane, decode, id, 10, 50);
 *   build_count (profile, decode, "bytes decoded", "bytes", 4096);
 *   build_finish (profile);
 *   ...
 *   radio_profile_close (profile);
 *
 * Each span is also added to its node: calls, total, min, max and histogram
 * at once; self, work and wait in build_finish, which goes through all
 * children without the model's code.  Tests set the members of
 * profile->nodes.at[] that spans do not change (or all of them, if a tree
 * needs no log) directly, before build_finish.  Every function asserts that
 * it succeeds. */
#ifndef RD_TESTS_BUILD_H
#define RD_TESTS_BUILD_H

#include "tests/unit.h"

#include "profiler/model/profile.h"

struct radio_profile *build_new (const char *title);

/* Adds a node below parent (RD_NO_INDEX: a root), called on the same thread;
 * build_edge_node adds one with another kind of edge. */
uint32_t build_node (struct radio_profile *profile, uint32_t parent,
                     const char *name, const char *category);
uint32_t build_edge_node (struct radio_profile *profile, uint32_t parent,
                          const char *name, const char *category,
                          enum radio_edge edge);

/* Sets the times of a node that has no spans. */
void build_times (struct radio_profile *profile, uint32_t node,
                  uint64_t calls, uint64_t total_ns, uint64_t self_ns,
                  uint64_t work_ns, uint64_t wait_ns);

/* Adds a thread of part 0, or of any part. */
uint32_t build_lane (struct radio_profile *profile, const char *name);
uint32_t build_part_lane (struct radio_profile *profile, const char *name,
                          uint32_t part);

/* Adds a run of a node and returns its id, which counts up from 1.  A lane of
 * RD_NO_INDEX is for requests and their phases, which rd_profile_finalize
 * packs. */
uint32_t build_span (struct radio_profile *profile, uint32_t lane,
                     uint32_t node, uint32_t parent, uint64_t begin_ns,
                     uint64_t duration_ns);

/* Returns the span added last, so that a test can set its other members. */
struct rd_span *build_last (struct radio_profile *profile);

/* Adds to a node's counter. */
void build_count (struct radio_profile *profile, uint32_t node,
                  const char *counter, const char *unit, uint64_t value);

/* Adds a text to a node (span 0) or to a span. */
void build_note (struct radio_profile *profile, uint32_t span, uint32_t node,
                 const char *key, const char *value, bool is_name);

/* Adds a sample of a gauge. */
void build_sample (struct radio_profile *profile, const char *gauge,
                   uint64_t time_ns, int64_t value);

void build_fact (struct radio_profile *profile, const char *key,
                 const char *value, bool is_name);

/* Computes self, work and wait from the spans, then calls
 * rd_profile_finalize. */
void build_finish (struct radio_profile *profile);

/* Returns a finished profile with one of everything: a read of a box on two
 * threads with requests that overlap, retries, late and open scopes, a
 * recursion, instants, names of a patient, odd names ("</script>", "a;b 3",
 * quotes, Greek), counters, gauges, memory, dropped spans.  Its wall time is
 * 10 ms. */
struct radio_profile *build_specimen (void);

/* Returns a finished profile of nspans spans on nlanes threads.  The same seed
 * gives the same profile. */
struct radio_profile *build_random (uint64_t seed, size_t nspans,
                                    size_t nlanes);

#endif /* RD_TESTS_BUILD_H */
