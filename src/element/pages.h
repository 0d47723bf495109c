/* SPDX-License-Identifier: MIT */
/* Advice to use huge pages.  Fresh memory costs a page fault for each page that
 * is first written, which takes as long as decoding for a whole volume. */
#ifndef RD_PAGES_H
#define RD_PAGES_H

#include <radio/array.h>

/* Asks for huge pages where a request's destination is large and everything
 * that it spans is written.  Failures are ignored. */
void rd_pages_advise (const struct radio_request *request,
                      size_t item_nbytes);

#define RD_PAGES_HUGE_NBYTES ((size_t) 2 << 20)

/* Returns the next address where a huge page may begin. */
unsigned char *rd_pages_align (unsigned char *memory);

/* Asks for huge pages for memory of the library's own. */
void rd_pages_advise_memory (unsigned char *memory, uint64_t nbytes);

/* The minimum size for which advice is given. */
#define RD_PAGES_MIN_NBYTES ((uint64_t) 4 << 20)

#endif /* RD_PAGES_H */
