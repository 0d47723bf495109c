/* SPDX-License-Identifier: MIT */
/* The library's memory: the caller's allocator or malloc, with a header in
 * front of each block for its size and owner. */
#include <config.h>

#include <inttypes.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <radio/allocator.h>
#include <radio/profile.h>

#include "src/base/alloc.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/hooks.h"

/* Aligned for any type, so that the block after it is, too. */
struct header {
  alignas (max_align_t) size_t nbytes;
  uint64_t owner;             /* the recorder's; or 0 */
};

/* Set before the library is used, by contract; hence without a lock.  With
 * allocate NULL it is malloc. */
static struct radio_allocator allocator;

static atomic_uint_fast64_t live_count;

uint64_t
rd_alloc_live_count (void)
{
  return atomic_load_explicit (&live_count, memory_order_relaxed);
}

enum radio_status
radio_set_allocator (const struct radio_allocator *chosen)
{
  const char *missing = !chosen ? NULL : !chosen->allocate ? "allocate"
    : !chosen->resize ? "resize" : !chosen->release ? "release" : NULL;
  if (missing)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_set_allocator: %s is NULL",
                    missing);
  uint64_t n = rd_alloc_live_count ();
  if (n > 0)
    return rd_fail (RADIO_ERROR_EXISTS, "radio_set_allocator: the library "
                    "holds %" PRIu64 " blocks of memory already: call it "
                    "first, or close everything", n);
  allocator = chosen ? *chosen : (struct radio_allocator) { 0 };
  return RADIO_OK;
}

/* Adds the header's size; true when the sum is too large for any block. */
static bool
total_overflows (size_t nbytes, size_t *total)
{
  return __builtin_add_overflow (nbytes, sizeof (struct header), total)
    || *total > PTRDIFF_MAX;
}

/* Counts a block that was made or resized for its owner. */
static void *
begin_block (struct header *header, size_t nbytes)
{
  header->nbytes = nbytes;
  header->owner = radio_profile_is_on () ? rd_base_hooks.allocated (nbytes)
                                         : 0;
  return header + 1;
}

/* A new block, counted. */
static void *
begin_new (struct header *header, size_t nbytes)
{
  if (!header)
    return NULL;
  atomic_fetch_add_explicit (&live_count, 1, memory_order_relaxed);
  return begin_block (header, nbytes);
}

static void
end_owner (uint64_t owner, size_t nbytes)
{
  if (owner != 0)
    rd_base_hooks.released (owner, nbytes);
}

void *
rd_malloc (size_t nbytes)
{
  size_t total;
  if (total_overflows (nbytes, &total))
    return NULL;
  return begin_new (allocator.allocate
                    ? allocator.allocate (total, allocator.user_data)
                    : malloc (total), nbytes);
}

void *
rd_calloc (size_t n, size_t nbytes)
{
  size_t product, total;
  if (__builtin_mul_overflow (n, nbytes, &product)
      || total_overflows (product, &total))
    return NULL;
  /* calloc knows which pages are zero as they are. */
  struct header *header = allocator.allocate
    ? allocator.allocate (total, allocator.user_data) : calloc (1, total);
  if (header && allocator.allocate)
    memset (header, 0, total);
  return begin_new (header, product);
}

void *
rd_realloc (void *block, size_t nbytes)
{
  if (!block)
    return rd_malloc (nbytes);
  struct header *header = (struct header *) block - 1;
  const struct header before = *header;
  size_t total;
  if (total_overflows (nbytes, &total))
    return NULL;
  header = allocator.resize
    ? allocator.resize (header, total, allocator.user_data)
    : realloc (header, total);
  if (!header)
    return NULL;
  end_owner (before.owner, before.nbytes);
  return begin_block (header, nbytes);
}

void
rd_free (void *block)
{
  if (!block)
    return;
  struct header *header = (struct header *) block - 1;
  end_owner (header->owner, header->nbytes);
  atomic_fetch_sub_explicit (&live_count, 1, memory_order_relaxed);
  if (allocator.release)
    allocator.release (header, allocator.user_data);
  else
    free (header);
}

void
radio_free (void *block)
{
  rd_free (block);
}

char *
rd_strndup (const char *text, size_t max_nbytes)
{
  size_t nbytes = strnlen (text, max_nbytes);
  char *copy = rd_malloc (nbytes + 1);
  if (!copy)
    return NULL;
  memcpy (copy, text, nbytes);
  copy[nbytes] = '\0';
  return copy;
}

char *
rd_strdup (const char *text)
{
  return rd_strndup (text, strlen (text));
}
