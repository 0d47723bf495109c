/* SPDX-License-Identifier: MIT */
/* Where the library's memory comes from. */
#ifndef RADIO_ALLOCATOR_H
#define RADIO_ALLOCATOR_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As malloc, realloc and free of C, each with user_data; called from any
 * thread, several at once.  What they return is aligned for any type.
 * resize gets a block or NULL, and never a size of 0. */
struct radio_allocator {
  void *(*allocate) (size_t nbytes, void *user_data);
  void *(*resize) (void *block, size_t nbytes, void *user_data);
  void (*release) (void *block, void *user_data);
  void *user_data;
};

/* Take all memory of the library itself from here; NULL: from malloc, as it
 * is without this call.  The struct is copied.  Before any other call of
 * the library, and not while another thread is in one.  What a function
 * documents as freed by the caller with free () still comes from malloc, and
 * libraries below (zstd, json-c, OpenSSL, ...) keep their own.
 * Errors: RADIO_ERROR_ARGUMENT (a function is missing),
 * RADIO_ERROR_EXISTS (the library holds memory already). */
RADIO_API enum radio_status
radio_set_allocator (const struct radio_allocator *allocator)
  RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_ALLOCATOR_H */
