/* SPDX-License-Identifier: MIT */
/* The allocator that the library uses. */
#ifndef RADIO_ALLOCATOR_H
#define RADIO_ALLOCATOR_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions like C's malloc, realloc and free, each with user_data.  They are
 * called from any thread, several at once, and return memory aligned for any
 * type.  resize is called with a block or NULL, never with a size of 0.
 * Frozen. */
struct radio_allocator {
  void *(*allocate) (size_t nbytes, void *user_data);
  void *(*resize) (void *block, size_t nbytes, void *user_data);
  void (*release) (void *block, void *user_data);
  void *user_data;
};

/* Sets the allocator for the memory of stores, arrays, volumes and images;
 * NULL: malloc, the default.  The struct is copied.  Call it before any other
 * function of the library, while no other thread is in one.  Most memory of
 * profiles and their recording, and memory that a function documents as freed
 * by the caller with free (), still comes from malloc, and other libraries
 * (zstd, json-c, OpenSSL, ...) keep their own allocators.
 * Errors: RADIO_ERROR_ARGUMENT (a function is missing),
 * RADIO_ERROR_EXISTS (the library holds memory already). */
RADIO_API enum radio_status
radio_set_allocator (const struct radio_allocator *allocator)
  RADIO_USE_RESULT;

/* Frees memory that the library allocated for the caller by its allocator, as
 * the functions say that do so.  NULL is legal. */
RADIO_API void radio_free (void *block);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_ALLOCATOR_H */
