/* SPDX-License-Identifier: MIT */
/* Advice to the kernel on the caller's memory. */
#include <config.h>

#include <sys/mman.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/element/pages.h"
#include "src/element/box.h"

/* The size on x86 and, with pages of 4 KiB, on Arm.  Where it is larger, the
 * kernel uses as many as fit into the aligned memory. */
#define HUGE_NBYTES ((uintptr_t) RD_PAGES_HUGE_NBYTES)

unsigned char *
rd_pages_align (unsigned char *memory)
{
  return memory + (HUGE_NBYTES - (uintptr_t) memory % HUGE_NBYTES)
    % HUGE_NBYTES;
}

/* Finds the memory that a request spans; false if it is small, or has gaps
 * between elements, which are not ours. */
static bool
find_span (const struct radio_request *request, size_t item_nbytes,
           uintptr_t *start, uint64_t *nbytes)
{
  const struct radio_box *box = &request->box;
  *start = (uintptr_t) request->buffer;
  if (rd_mul_overflows (radio_box_count (box), item_nbytes, nbytes)
      || *nbytes < RD_PAGES_MIN_NBYTES)
    return false;
  return !request->strides
         || rd_strided_span (request->buffer, box->rank, box->size,
                             request->strides, item_nbytes, start) == *nbytes;
}

#ifdef MADV_HUGEPAGE

/* Advises the huge pages within some memory.  Returns their number, and where
 * the first one begins. */
static uint64_t
advise (uintptr_t start, uint64_t nbytes, uintptr_t *first)
{
  *first = (start + HUGE_NBYTES - 1) / HUGE_NBYTES * HUGE_NBYTES;
  uintptr_t end = (start + (uintptr_t) nbytes) / HUGE_NBYTES * HUGE_NBYTES;
  if (*first >= end || madvise ((void *) *first, end - *first, MADV_HUGEPAGE))
    return 0;
  return (end - *first) / HUGE_NBYTES;
}

void
rd_pages_advise_memory (unsigned char *memory, uint64_t nbytes)
{
  uintptr_t first;
  (void) advise ((uintptr_t) memory, nbytes, &first);
}

void
rd_pages_advise (const struct radio_request *request, size_t item_nbytes,
                 struct rd_pages *pages)
{
  uintptr_t start;
  uint64_t nbytes;
  pages->n = 0;
  if (!find_span (request, item_nbytes, &start, &nbytes))
    return;
  pages->n = advise (start, nbytes, &pages->first);
  pages->group = rd_div_up (pages->n, RD_PAGES_MAX_GROUPS);
  for (size_t i = 0; i < RD_PAGES_MAX_GROUPS / 64 && pages->n > 0; i++)
    atomic_init (&pages->populated[i], 0);
}

#else

void
rd_pages_advise_memory (unsigned char *memory, uint64_t nbytes)
{
  (void) memory;
  (void) nbytes;
}

void
rd_pages_advise (const struct radio_request *request, size_t item_nbytes,
                 struct rd_pages *pages)
{
  (void) request;
  (void) item_nbytes;
  (void) find_span;
  pages->n = 0;
}

#endif /* MADV_HUGEPAGE */

#ifdef MADV_POPULATE_WRITE

/* Populates the pages of a group, each by its last bytes.  Those that have
 * memory keep what they hold. */
static void
populate_group (const struct rd_pages *pages, uint64_t group)
{
  uintptr_t page = (uintptr_t) sysconf (_SC_PAGESIZE);
  uint64_t first = group * pages->group;
  uint64_t end = rd_min_u64 (first + pages->group, pages->n);
  for (uint64_t i = first; i < end && page < HUGE_NBYTES; i++)
    (void) madvise ((void *) (pages->first + (i + 1) * HUGE_NBYTES - page),
                    page, MADV_POPULATE_WRITE);
}

void
rd_pages_populate (struct rd_pages *pages, const void *memory,
                   uint64_t nbytes)
{
  uintptr_t start = (uintptr_t) memory, first = pages->first;
  uint64_t end = start + (uintptr_t) nbytes;
  if (pages->n == 0 || nbytes == 0 || end <= first)
    return;
  uint64_t i = start > first ? (start - first) / HUGE_NBYTES : 0;
  uint64_t last = rd_min_u64 ((end - 1 - first) / HUGE_NBYTES, pages->n - 1);
  for (i /= pages->group, last /= pages->group; i <= last; i++) {
    _Atomic uint64_t *bits = &pages->populated[i / 64];
    uint64_t bit = (uint64_t) 1 << i % 64;
    if (!(atomic_load_explicit (bits, memory_order_relaxed) & bit)
        && !(atomic_fetch_or_explicit (bits, bit, memory_order_relaxed) & bit))
      populate_group (pages, i);
  }
}

#else

void
rd_pages_populate (struct rd_pages *pages, const void *memory,
                   uint64_t nbytes)
{
  (void) pages;
  (void) memory;
  (void) nbytes;
}

#endif /* MADV_POPULATE_WRITE */
