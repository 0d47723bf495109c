/* SPDX-License-Identifier: MIT */
/* Where the benchmark reads to. */
#include <config.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/bench/destination.h"

/* numpy asks for huge pages from here on (numpy/_core/src/multiarray/alloc.c).
 */
#define NUMPY_HUGE ((size_t) 4 << 20)

/* glibc keeps smaller blocks on its heap once they were freed, however high
 * its threshold for mapping has grown. */
#define HEAP_MOST ((uint64_t) 32 << 20)

const char *const rd_destination_names[] = {
  [RD_DESTINATION_FRESH] = "fresh",
  [RD_DESTINATION_NUMPY] = "numpy",
  [RD_DESTINATION_REUSED] = "reused",
  NULL
};

static void
ask_for_huge_pages (void *buffer, size_t nbytes)
{
#ifdef MADV_HUGEPAGE
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  size_t skip = (page - (uintptr_t) buffer % page) % page;
  /* Advice only: without it the read is slower, not wrong. */
  (void) madvise ((char *) buffer + skip, nbytes - skip, MADV_HUGEPAGE);
#else
  (void) buffer;
  (void) nbytes;
#endif
}

/* The buffer that is reused, made larger when it is too small. */
static void *
reuse (struct rd_destination *destination, size_t nbytes)
{
  if (nbytes <= destination->nbytes)
    return destination->buffer;
  free (destination->buffer);
  destination->buffer = malloc (nbytes);
  destination->nbytes = destination->buffer ? nbytes : 0;
  if (destination->buffer == NULL)
    rd_error_memory ();
  else
    memset (destination->buffer, 1, nbytes);
  return destination->buffer;
}

void *
rd_destination_take (struct rd_destination *destination, size_t nbytes)
{
  if (destination->kind == RD_DESTINATION_REUSED)
    return reuse (destination, nbytes);
  void *buffer = malloc (nbytes ? nbytes : 1);
  if (buffer == NULL)
    rd_error_memory ();
  else if (destination->kind == RD_DESTINATION_NUMPY && nbytes >= NUMPY_HUGE)
    ask_for_huge_pages (buffer, nbytes);
  return buffer;
}

void
rd_destination_return (struct rd_destination *destination, void *buffer)
{
  if (destination->kind != RD_DESTINATION_REUSED)
    free (buffer);
}

bool
rd_destination_faults (const struct rd_destination *destination,
                       uint64_t nbytes)
{
  return destination->kind != RD_DESTINATION_REUSED && nbytes > HEAP_MOST;
}

void
rd_destination_clear (struct rd_destination *destination)
{
  free (destination->buffer);
  destination->buffer = NULL;
  destination->nbytes = 0;
}
