/* SPDX-License-Identifier: MIT */
/* Advice to the kernel on the caller's memory. */
#include <config.h>

#include <sys/mman.h>

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

#ifdef MADV_HUGEPAGE

/* Advises the huge pages within some memory. */
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

void
rd_pages_advise (const struct radio_request *request, size_t item_nbytes)
{
  const struct radio_box *box = &request->box;
  uintptr_t start = (uintptr_t) request->buffer;
  uint64_t nbytes, span = item_nbytes;
  if (rd_mul_overflows (radio_box_count (box), item_nbytes, &nbytes)
      || nbytes < RD_PAGES_MIN_NBYTES)
    return;
  /* Memory between elements, if there is any, is not ours. */
  for (size_t i = 0; request->strides && i < box->rank; i++) {
    int64_t stride = request->strides[i];
    uint64_t step = stride < 0 ? -(uint64_t) stride : (uint64_t) stride;
    uint64_t length;
    if (rd_mul_overflows (box->size[i] - 1, step, &length)
        || rd_add_overflows (span, length, &span))
      return;
    if (stride < 0)
      start -= (uintptr_t) length;
  }
  if (!request->strides || span == nbytes)
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
