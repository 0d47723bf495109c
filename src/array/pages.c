/* SPDX-License-Identifier: MIT */
/* Advice to the kernel on the caller's memory. */
#include <config.h>

#include <sys/mman.h>

#include "src/base/checked.h"
#include "src/array/pages.h"
#include "src/element/box.h"

/* Of x86 and, with pages of 4 KiB, of ARM.  Larger ones have room or not
 * within what is aligned to this, as the kernel finds. */
#define HUGE_NBYTES ((uintptr_t) RD_PAGES_HUGE_NBYTES)

unsigned char *
rd_pages_align (unsigned char *memory)
{
  return memory + (HUGE_NBYTES - (uintptr_t) memory % HUGE_NBYTES)
    % HUGE_NBYTES;
}

#ifdef MADV_HUGEPAGE

/* Advise the huge pages that lie within some memory. */
static void
advise (uintptr_t start, uint64_t nbytes)
{
  uintptr_t first = (start + HUGE_NBYTES - 1) / HUGE_NBYTES * HUGE_NBYTES;
  uintptr_t end = (start + (uintptr_t) nbytes) / HUGE_NBYTES * HUGE_NBYTES;
  if (first < end)
    (void) madvise ((void *) first, end - first, MADV_HUGEPAGE);
}

void
rd_pages_advise_memory (unsigned char *memory, uint64_t nbytes)
{
  advise ((uintptr_t) memory, nbytes);
}

static uint64_t
magnitude (int64_t stride)
{
  return stride < 0 ? -(uint64_t) stride : (uint64_t) stride;
}

/* The memory that strides step over, from *start on; UINT64_MAX: too much.
 */
static uint64_t
find_span (const struct radio_request *request, uint64_t item_nbytes,
           uintptr_t *start)
{
  uint64_t nbytes = item_nbytes;
  const struct radio_box *box = &request->box;
  *start = (uintptr_t) request->buffer;
  for (size_t i = 0; i < box->rank; i++) {
    int64_t stride = request->strides[i];
    uint64_t length;
    if (rd_mul_overflows (box->size[i] - 1, magnitude (stride), &length)
        || rd_add_overflows (nbytes, length, &nbytes))
      return UINT64_MAX;
    if (stride < 0)
      *start -= (uintptr_t) length;
  }
  return nbytes;
}

void
rd_pages_advise (const struct radio_request *request, size_t item_nbytes)
{
  uint64_t nbytes;
  if (rd_mul_overflows (radio_box_count (&request->box), item_nbytes,
                        &nbytes)
      || nbytes < RD_PAGES_MIN_NBYTES)
    return;
  /* What is between elements that lie apart is not ours to make larger. */
  uintptr_t start = (uintptr_t) request->buffer;
  if (request->strides
      && find_span (request, item_nbytes, &start) != nbytes)
    return;
  advise (start, nbytes);
}

#else

void
rd_pages_advise_memory (unsigned char *memory, uint64_t nbytes)
{
  (void) memory;
  (void) nbytes;
}

void
rd_pages_advise (const struct radio_request *request, size_t item_nbytes)
{
  (void) request;
  (void) item_nbytes;
}

#endif /* MADV_HUGEPAGE */
