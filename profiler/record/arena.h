/* SPDX-License-Identifier: MIT */
/* Memory of a recorder that can be read from outside: after the death of the
 * process, from a file, or while it records, from a copy.  It is one mapping,
 * of a header, the ring of spans, and blocks of any size, and what
 * is in it points into it: a reader subtracts the address at which it was
 * mapped, which the header has, and checks the rest (recover/recover.c).
 *
 * Other recorders have no arena: NULL is the heap. */
#ifndef RD_RECORD_ARENA_H
#define RD_RECORD_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <radio/base.h>

#include "src/base/reserve.h"

struct rd_arena;

/* Makes an arena with a ring of this size (a multiple of 4 KiB).  path: a file
 * that has all of it, and all of the disk's blocks that it takes; its old
 * content is kept as PATH.old; NULL: memory that is nowhere else.  A child of
 * fork does not have it.  Errors: RADIO_ERROR_MEMORY, those of writing;
 * RADIO_ERROR_ARGUMENT: PATH or PATH.old exists and is not a regular file;
 * RADIO_ERROR_EXISTS: another process has locked PATH. */
enum radio_status rd_arena_new (size_t ring_nbytes, const char *path,
                                struct rd_arena **arena) RADIO_USE_RESULT;

/* Fails since another recorder uses the ring of that name. */
enum radio_status rd_arena_fail_used (const char *path);

/* Locks the file again, of which the program may have closed a descriptor, or
 * which it may have closed with all that it had. */
void rd_arena_hold (struct rd_arena *arena);

/* Keeps the file as it is at this moment, where that is possible: what is
 * changed later in the memory is changed there alone, so that the recording can
 * be recovered until it is in a profile.  Called when no other thread changes
 * the arena.  NULL is legal. */
void rd_arena_detach (struct rd_arena *arena);

/* Gives the file to the caller: *path is freed by it; NULL: the arena was not
 * detached.  NULL is legal. */
void rd_arena_give_file (struct rd_arena *arena, char **path);

/* Removes the file, unless it was given away: the recording ends regularly, and
 * is in a profile.  The memory of the ring is returned, all other stays.  NULL
 * is legal. */
void rd_arena_end (struct rd_arena *arena);

/* NULL is legal. */
void rd_arena_free (struct rd_arena *arena);

/* False in a child of the process that made it, where it may not be touched.
 * True without an arena. */
bool rd_arena_is_here (const struct rd_arena *arena);

/* The header, which is zeroed. */
#define RD_ARENA_HEADER_NBYTES 16384
void *rd_arena_header (struct rd_arena *arena);
void *rd_arena_ring (struct rd_arena *arena);

/* rd_arena_put_copy writes a copy of nbytes into the file, after the largest
 * end of the arena, in place of an earlier copy, and returns its offset; 0: no
 * file, or no room.  rd_arena_drop_copy removes it.  Thread-safe. */
uint64_t rd_arena_put_copy (struct rd_arena *arena, const void *copy,
                            size_t nbytes);
void rd_arena_drop_copy (struct rd_arena *arena);

/* Keeps the number of bytes in use, from the header on, in *nbytes, too. */
void rd_arena_report (struct rd_arena *arena, uint64_t *nbytes);

/* A block, uninitialised, with an alignment of 64 at most.  NULL without
 * memory.  Thread-safe. */
void *rd_arena_alloc (struct rd_arena *arena, size_t alignment,
                      size_t nbytes);

/* Returns a block of nbytes; NULL is legal.  Its content stays until another
 * one is allocated there. */
void rd_arena_release (struct rd_arena *arena, void *block, size_t nbytes);

/* A copy of a text.  NULL without memory. */
char *rd_arena_strndup (struct rd_arena *arena, const char *text, size_t n);

/*------------------------------------------------------------------------
 * Arrays that grow up to a limit
 *----------------------------------------------------------------------*/

/* Makes room for one more of n elements, up to limit in all.  False: there
 * are that many, or no memory.  Sets no message, since that would call the
 * recorder's hook while a writer is entered. */
bool rd_array_grow_slow (struct rd_arena *arena, void *array_at,
                         size_t *capacity, size_t n, size_t limit,
                         size_t element_nbytes);

static inline bool
rd_array_grow (struct rd_arena *arena, void *array_at, size_t *capacity,
               size_t n, size_t limit, size_t element_nbytes)
{
  return n < *capacity
         || rd_array_grow_slow (arena, array_at, capacity, n, limit,
                                element_nbytes);
}

/* Between stores, of which a reader of a killed process's memory must not see
 * the later one alone: the stores of a process that ends are complete up to
 * the one at which it ended, so only the compiler may not move them. */
static inline void
rd_commit (void)
{
  atomic_signal_fence (memory_order_seq_cst);
}

/* An RD_VECTOR's next element, not initialised, or NULL. */
#define rd_vector_add(arena, vector, limit)                             \
  (rd_array_grow ((arena), &(vector)->at, &(vector)->capacity,          \
                  (vector)->n, (limit), sizeof *(vector)->at)           \
   ? &(vector)->at[(vector)->n++] : NULL)

/* Frees the array of an RD_VECTOR. */
#define rd_vector_free(arena, vector)                                   \
  (rd_arena_release ((arena), (vector)->at,                             \
                     (vector)->capacity * sizeof *(vector)->at),        \
   (vector)->at = NULL, (vector)->n = (vector)->capacity = 0)

#endif /* RD_RECORD_ARENA_H */
