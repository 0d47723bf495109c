/* SPDX-License-Identifier: MIT */
/* Two processes at work on one bucket, one of which begins, stops and resumes
 * at given operations of the other. */
#ifndef RD_TESTS_VOLUME_BESIDE_H
#define RD_TESTS_VOLUME_BESIDE_H

#include "tests/volume/bucket.h"

#define BUCKET_NEVER UINT64_MAX

/* The operation of the other process. */
typedef enum radio_status bucket_other_fn (struct radio_store *store);

/* It begins before the main one's operation `start', stops before its own
 * `stop', and resumes, up to its end, before the main one's `resume', or while
 * that waits for it.  With ages, that much time passes at start. */
struct bucket_plan {
  struct bucket *bucket;
  bucket_other_fn *other;
  uint64_t start, stop, resume, ages_s;
};

/* Run the main one on this thread.  Returns whether the other one came to
 * where it was to stop; *nops: the operations that the main one took. */
bool bucket_beside (const struct bucket_plan *plan,
                    void (*run) (struct radio_store *store, void *user_data),
                    void *user_data, uint64_t *nops);

#endif /* RD_TESTS_VOLUME_BESIDE_H */
