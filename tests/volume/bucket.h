/* SPDX-License-Identifier: MIT */
/* A store in memory that behaves like S3: its handles are those of several
 * processes, whose locks do not exclude each other, objects have an age by a
 * clock that the test sets, and a tree is removed object by object.  A hook
 * can act before each operation of a handle. */
#ifndef RD_TESTS_VOLUME_BUCKET_H
#define RD_TESTS_VOLUME_BUCKET_H

#include "tests/volume/copying.h"

#define BUCKET_GRACE_S 10

struct bucket;

/* Called before the n-th operation of a handle (from 1 on), on a key or a
 * prefix. */
typedef void bucket_hook_fn (uint64_t n, const char *key, void *user_data);

/* Over an empty store in memory or, with a path, over a folder of the disk:
 * then without a grace time, and locks exclude all. */
struct bucket *bucket_make (const char *path);
void bucket_free (struct bucket *bucket);

void bucket_age (struct bucket *bucket, uint64_t seconds);

/* A handle; hook may be NULL.  One that does not wait fails where it would
 * wait for a lock. */
struct radio_store *bucket_open (struct bucket *bucket, bool waits,
                                 bucket_hook_fn *hook, void *user_data);

/* Operations of a handle so far. */
uint64_t bucket_count (struct radio_store *store);

#endif /* RD_TESTS_VOLUME_BUCKET_H */
