/* SPDX-License-Identifier: MIT */
/* Many strings in two blocks of memory, as Arrow's LargeUtf8 has them. */
#ifndef RADIO_STRINGS_H
#define RADIO_STRINGS_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The i-th string has the bytes from offsets[i] to offsets[i + 1], UTF-8
 * without a NUL at its end.  offsets has n + 1 numbers, which do not decrease,
 * and begins with 0; it may be NULL if n is 0, bytes if all strings are empty.
 * Those that the library fills are from its allocator (radio/allocator.h), to
 * be freed by radio_strings_free.  Frozen. */
struct radio_strings {
  uint64_t n;
  int64_t *offsets;
  char *bytes;
};

/* Frees the memory that the library filled, and empties the struct.  NULL is
 * legal. */
RADIO_API void radio_strings_free (struct radio_strings *strings);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_STRINGS_H */
