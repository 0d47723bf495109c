/* SPDX-License-Identifier: MIT */
/* Structs of the public API that later versions extend, so that a program runs
 * with a library that is newer than the headers it was compiled with: options
 * have reserved members, results are filled up to the size that the caller
 * knows. */
#ifndef RD_STRUCTS_H
#define RD_STRUCTS_H

#include <string.h>

#include "src/base/error.h"

/* Fails unless the reserved members of options (a pointer) are zero: they may
 * be members of a newer header, with which this library can do nothing. */
#define RD_CHECK_RESERVED(type, options)                                \
  rd_check_reserved (#type, (options)->reserved,                        \
                     sizeof (options)->reserved / sizeof (uint64_t))

RADIO_USE_RESULT static inline enum radio_status
rd_check_reserved (const char *type, const uint64_t *reserved, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (reserved[i] != 0)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: reserved[%zu] is not zero; "
                      "zero the whole struct, or use the newer library that "
                      "the program was built for", type, i);
  return RADIO_OK;
}

/* Fails if an array of the options, as labels with the number nlabels, is NULL
 * though it has elements. */
#define RD_CHECK_ARRAY(options, array)                                  \
  rd_check_array (#array, (options)->array, (options)->n##array)

RADIO_USE_RESULT static inline enum radio_status
rd_check_array (const char *name, const void *array, size_t n)
{
  if (n > 0 && array == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s is NULL, but n%s is %zu", name,
                    name, n);
  return RADIO_OK;
}

/* Fills a caller's struct of nbytes, if there is one.  Members of a newer
 * header are zero. */
static inline void
rd_fill_result (void *result, size_t nbytes, const void *full,
                size_t full_nbytes)
{
  size_t n = nbytes < full_nbytes ? nbytes : full_nbytes;
  if (result == NULL)
    return;
  memcpy (result, full, n);
  memset ((char *) result + n, 0, nbytes - n);
}

#endif /* RD_STRUCTS_H */
