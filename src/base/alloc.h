/* SPDX-License-Identifier: MIT */
/* The library's memory, from an allocator that the caller can replace and
 * the recorder can count.  A block carries its size and the node of the call
 * tree that requested it in front of itself.
 *
 * Three kinds of memory come from malloc instead: memory documented as freed
 * by the caller with free (); the recorder's and the model's of profiles
 * (profiler/ except profiler/export), so that the recorder does not count
 * itself; and the names of atomic files, which the command writes too. */
#ifndef RD_ALLOC_H
#define RD_ALLOC_H

#include <stddef.h>
#include <stdint.h>

void rd_free (void *block);

/* GCC then warns of blocks that are given to free (), and the other way. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 11
#define RD_ALLOCATES __attribute__ ((__malloc__, __malloc__ (rd_free, 1)))
#else
#define RD_ALLOCATES __attribute__ ((__malloc__))
#endif

/* Like the functions of C; a size of 0 returns a block, too. */
void *rd_malloc (size_t nbytes) RD_ALLOCATES;
void *rd_calloc (size_t n, size_t nbytes) RD_ALLOCATES;
void *rd_realloc (void *block, size_t nbytes);
char *rd_strdup (const char *text) RD_ALLOCATES;
char *rd_strndup (const char *text, size_t max_nbytes) RD_ALLOCATES;

/* The number of blocks that the library holds, which must be 0 when everything
 * was closed. */
uint64_t rd_alloc_live_count (void);

#endif /* RD_ALLOC_H */
