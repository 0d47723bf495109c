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
  /* Threads per operation, including the calling one.
   * 0: one for each processor available to the process, or, if that is less,
   * as many as its cgroup's quota of CPU time has (rounded up). */
  unsigned nthreads;

  /* Upper bound of the library's memory at any time, besides the caller's
   * buffers: tiles in flight, slabs being written, indexes, metadata
   * documents, uploads to S3 (a quarter of it, but at least 8 MiB for each of
   * at most 8 shards being uploaded).  An operation that needs more fails with
   * RADIO_ERROR_LIMIT before it allocates.  0: 1 GiB. */
  uint64_t memory_limit_nbytes;

  /* Do not request huge pages for large destinations.  By default the whole
   * huge pages (2 MiB) inside a destination of 4 MiB or more are advised by
   * madvise (MADV_HUGEPAGE), which lasts as long as the memory is mapped:
   * fresh memory is then filled in about half the time.  Memory outside the
   * destination is never touched. */
  bool no_huge_pages;

  /* The cache of decoded tiles, for all stores of the context.  It holds
   * planes and boxes that follow their neighbours, as when scrolling, or that
   * are read again; random and whole reads neither use it nor pay for it.
   * Only tiles that radio ingested are cached.  It is part of
   * memory_limit_nbytes, at most an eighth of it, and allocated with the first
   * tile, in huge pages unless no_huge_pages is set.
   * 0: 64 MiB, or none if the limit is below 512 MiB;
   * RADIO_NO_CACHE: none. */
  uint64_t cache_nbytes;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[8];
};

#define RADIO_NO_CACHE UINT64_MAX

/* Creates a context.  options may be NULL.  Release it by
 * radio_context_close; stores opened with it hold their own reference.
 * Errors: RADIO_ERROR_MEMORY, RADIO_ERROR_IO (no thread could be started).
 */
RADIO_API enum radio_status
radio_context_open (const struct radio_context_options *options,
                    struct radio_context **context) RADIO_USE_RESULT;

/* Releases the caller's reference.  The last one stops the threads.  Must not
 * be called from a progress callback. */
RADIO_API void radio_context_close (struct radio_context *context);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_CONTEXT_H */
