/* SPDX-License-Identifier: MIT */
/* Huge pages of large destinations.  Fresh memory costs a page fault for each
 * page that is first written, which takes as long as decoding for a whole
 * volume.
 *
 * The kernel clears a huge page toward the place that is first written, so that
 * this is in the caches afterwards: downward from the page's end, if it is the
 * start.  Upward it clears 2.5 times as fast on an EPYC (docs/performance.md).
 * So pages are populated at their end, before they are written. */
#ifndef RD_PAGES_H
#define RD_PAGES_H

#include <stdatomic.h>

#include <radio/array.h>

#define RD_PAGES_HUGE_NBYTES ((size_t) 2 << 20)

/* The minimum size for which advice is given. */
#define RD_PAGES_MIN_NBYTES ((uint64_t) 4 << 20)

/* The huge pages of a destination, by groups of a few if they are many. */
#define RD_PAGES_MAX_GROUPS 1024
struct rd_pages {
  uintptr_t first;            /* where the first page begins */
  uint64_t n;                 /* 0: none */
  uint64_t group;             /* pages of a group */
  _Atomic uint64_t populated[RD_PAGES_MAX_GROUPS / 64];   /* a bit for each
                                                             group */
};

/* Asks for huge pages where a request's destination is large and everything
 * that it spans is written, and lists them; else there are none.  Failures are
 * ignored. */
void rd_pages_advise (const struct radio_request *request,
                      size_t item_nbytes, struct rd_pages *pages);

/* Populates the pages that some memory lies in, which is written next, unless
 * they were populated before.  May be called by several threads at once. */
void rd_pages_populate (struct rd_pages *pages, const void *memory,
                        uint64_t nbytes);

/* Returns the next address where a huge page may begin. */
unsigned char *rd_pages_align (unsigned char *memory);

/* Asks for huge pages for memory of the library's own. */
void rd_pages_advise_memory (unsigned char *memory, uint64_t nbytes);

#endif /* RD_PAGES_H */
