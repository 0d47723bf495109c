/* SPDX-License-Identifier: MIT */
/* A context: the worker threads and the memory bound that stores share. */
#ifndef RADIO_CONTEXT_H
#define RADIO_CONTEXT_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_context;

struct radio_context_options {
  /* Threads that work on one operation, the calling one included.
   * 0: one for each processor that this process may use. */
  unsigned nthreads;

  /* Upper bound of what the library holds at one time besides the caller's
   * own buffers: tiles in flight, slabs being written, indexes, metadata
   * documents; what is on its way to S3 (a quarter of it, but at least 8 MiB
   * of each of the shards that are on their way, which are 8 at most).  An
   * operation that cannot be done within it fails with RADIO_ERROR_LIMIT
   * before it allocates.  0: 1 GiB. */
  uint64_t memory_limit_nbytes;

  /* Do not ask the kernel for huge pages where a read's destination is
   * large.  Else whatever whole huge pages (2 MiB) lie within 4 MiB or more
   * that are read at once is advised so, by madvise (MADV_HUGEPAGE), which
   * stays with the memory as long as it is mapped: fresh memory is then
   * filled in about half the time.  Memory beyond the destination is never
   * touched. */
  bool no_huge_pages;

  /* Decoded tiles that are kept for reads that follow, of all stores of the
   * context: planes and boxes that follow their neighbours, as a reader
   * scrolls, or that are read again, and no others, so that those who read
   * at random or whole volumes pay nothing.  Only what radio ingested is
   * kept.  At most an eighth of memory_limit_nbytes, which it is part of;
   * taken when the first tile is kept, in huge pages unless refused.
   * 0: 64 MiB, or none where the limit is below 512 MiB;
   * RADIO_NO_CACHE: none. */
  uint64_t cache_nbytes;
};

#define RADIO_NO_CACHE UINT64_MAX

/* Make a context.  options may be NULL.  The context is released by
 * radio_context_close; stores opened with it keep it alive on their own.
 * Errors: RADIO_ERROR_MEMORY, RADIO_ERROR_IO (no thread could be started).
 */
RADIO_API enum radio_status
radio_context_open (const struct radio_context_options *options,
                    struct radio_context **context) RADIO_USE_RESULT;

/* Release the caller's hold of a context.  The last holder stops the
 * threads.  Not to be called from a progress callback. */
RADIO_API void radio_context_close (struct radio_context *context);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_CONTEXT_H */
