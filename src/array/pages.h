/* SPDX-License-Identifier: MIT */
/* Fresh memory costs a fault a page when it is first written, which for a
 * whole volume takes as long as decoding it.  Large destinations are
 * therefore to be backed by huge pages. */
#ifndef RD_PAGES_H
#define RD_PAGES_H

#include <radio/array.h>

/* Ask for huge pages where a request's destination is large and all of what
 * it spans is written.  A hint: nothing is told of its failing. */
void rd_pages_advise (const struct radio_request *request,
                      size_t item_nbytes);

#define RD_PAGES_HUGE_NBYTES ((size_t) 2 << 20)

/* The next place where a huge page may begin. */
unsigned char *rd_pages_align (unsigned char *memory);

/* Ask for huge pages for memory of the library's own. */
void rd_pages_advise_memory (unsigned char *memory, uint64_t nbytes);

/* The least destination that this is done for. */
#define RD_PAGES_MIN_NBYTES ((uint64_t) 4 << 20)

#endif /* RD_PAGES_H */
