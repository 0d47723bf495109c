/* SPDX-License-Identifier: MIT */
/* Shared by the tests of copying: stores of a kind, and a comparison of two
 * volumes byte for byte. */
#ifndef RD_TESTS_VOLUME_COPYING_H
#define RD_TESTS_VOLUME_COPYING_H

#include "tests/io/fault.h"
#include "tests/volume/fixture.h"

/* Several shards of several tiles. */
extern const struct radio_ingest_options many_shards;

/* A store over another one that goes wrong as planned; plan NULL: never.
 * nthreads 0: as many as there are. */
struct radio_store *open_planned (const char *uri, unsigned nthreads,
                                  const struct rd_fault_plan *plan);

/* The same with one fault. */
struct radio_store *open_faulty (const char *uri, const struct rd_fault *fault);

/* A store in memory with the small image as ct/a. */
struct radio_store *make_source (void);

/* The objects of a volume are the same in both stores, none more. */
void assert_same_objects (struct radio_store *from, const char *path,
                          struct radio_store *to, const char *to_path);

/* The volume does not exist for readers; after gc, no object of it is left. */
void assert_no_volume (struct radio_store *store);
void assert_clean_after_gc (struct radio_store *store, size_t nfolders);

/* The shards of the source's ct/a. */
uint64_t count_shards (struct radio_store *store);

/* The key of the n-th shard, in the order of listing, for free (). */
char *shard_key (struct radio_store *store, size_t n);

/* Flip one bit of an object, or rewrite it. */
void flip_bit (struct radio_store *store, const char *key, size_t bit);

#endif /* RD_TESTS_VOLUME_COPYING_H */
