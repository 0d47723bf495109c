/* SPDX-License-Identifier: MIT */
/* Recording what a test does, and looking at the tree by paths of names:
 * "read/tiles/decode" stands for all nodes with this path, however they came
 * below their parents (tiles that the caller decodes and those that workers
 * do are two nodes, and one path).  Add $(TREE_SOURCES) to the test. */
#ifndef RD_TESTS_PROFILE_TREE_H
#define RD_TESTS_PROFILE_TREE_H

#include "tests/unit.h"

#include <radio/radio.h>

/* True if the library was built without its profiler; prints a TAP plan that
 * skips all.  main calls it first. */
bool tree_skip_all (void);

/* Record the calling thread from here on, and make the profile. */
struct radio_recorder *tree_begin (void);
struct radio_profile *tree_end (struct radio_recorder *recorder);

/* The number of nodes of a path; their runs; their ns or bytes. */
size_t tree_count (const struct radio_profile *profile, const char *path);
uint64_t tree_calls (const struct radio_profile *profile, const char *path);
uint64_t tree_wait_ns (const struct radio_profile *profile,
                       const char *path);

/* The node of a path with this edge, or NULL. */
const struct radio_profile_node *
tree_node (const struct radio_profile *profile, const char *path,
           enum radio_edge edge);

/* A counter of the nodes of a path and all below them. */
uint64_t tree_counter (const struct radio_profile *profile, const char *path,
                       const char *counter);

/* A counter of the whole profile. */
uint64_t tree_total (const struct radio_profile *profile,
                     const char *counter);

/* Runs of all nodes of a name, anywhere in the tree. */
uint64_t tree_calls_of (const struct radio_profile *profile,
                        const char *name);

/* Asserts the invariants of every profile: the work and wait of all nodes are
 * the profile's, those of a node and its children are its tree's, no self time
 * exceeds the total, nothing was open, late or dropped. */
void tree_check_sums (const struct radio_profile *profile);

/* The text that a node has for a key: the first one's, and whether it is a
 * name that redacting replaces.  A failure ends the test. */
const char *tree_note (const struct radio_profile *profile, const char *key,
                       bool *is_name);

/* The number of texts that contain a piece of a name; each of them must be
 * marked as a name, and no node may contain it. */
size_t tree_count_names (const struct radio_profile *profile,
                         const char *piece);

/* Prints the tree on the standard output, for debugging a test. */
void tree_print (const struct radio_profile *profile);

#endif /* RD_TESTS_PROFILE_TREE_H */
