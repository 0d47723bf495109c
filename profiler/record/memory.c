/* SPDX-License-Identifier: MIT */
/* The allocator's hooks: memory on the nodes of the tree. */
#include <config.h>

#include "profiler/base/alloc.h"
#include "profiler/record/memory.h"

uint64_t
rd_record_allocated (size_t nbytes)
{
  (void) nbytes;
  return 0;
}

void
rd_record_released (uint64_t owner, size_t nbytes)
{
  (void) owner;
  (void) nbytes;
}
