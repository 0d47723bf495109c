/* SPDX-License-Identifier: MIT */
/* Where the benchmark reads to. */
#include <config.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/bench/destination.h"

#ifdef MADV_HUGEPAGE
/* numpy asks for huge pages from here on (numpy/_core/src/multiarray/alloc.c).
 */
#define NUMPY_HUGE ((size_t) 4 << 20)
#endif

/* glibc keeps smaller blocks on its heap once they were freed, however high
 * its threshold for mapping has grown. */
#define HEAP_MOST ((uint64_t) 32 << 20)

const char *const rd_destination_names[] = {
  [RD_DESTINATION_FRESH] = "fresh",
  [RD_DESTINATION_NUMPY] = "numpy",
  [RD_DESTINATION_REUSED] = "reused",
  NULL
};

bool
rd_destination_choose (struct rd_args *args,
                       struct rd_destination *destination)
{
  int kind = rd_args_choose (args, rd_destination_names);
  if (kind >= 0)
    destination->kind = (enum rd_destination_kind) kind;
  return kind >= 0;
}

void *
rd_destination_take (struct rd_destination *destination, size_t nbytes)
{
  bool reuses = destination->kind == RD_DESTINATION_REUSED;
  if (reuses && nbytes <= destination->nbytes)
    return destination->buffer;
  if (reuses)
    rd_destination_clear (destination);
  void *buffer = malloc (nbytes ? nbytes : 1);
  if (buffer == NULL) {
    rd_error_memory ();
    return NULL;
  }
  if (reuses) {
    memset (buffer, 1, nbytes);
    destination->buffer = buffer;
    destination->nbytes = nbytes;
  }
#ifdef MADV_HUGEPAGE
  if (destination->kind == RD_DESTINATION_NUMPY && nbytes >= NUMPY_HUGE) {
    size_t page = (size_t) sysconf (_SC_PAGESIZE);
    size_t skip = (page - (uintptr_t) buffer % page) % page;
    /* Advice only: without it the read is slower, not wrong. */
    (void) madvise ((char *) buffer + skip, nbytes - skip, MADV_HUGEPAGE);
  }
#endif
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
