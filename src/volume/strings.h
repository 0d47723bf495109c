/* SPDX-License-Identifier: MIT */
/* A growable list of strings: the names of a folder's children, kept so that
 * a callback runs with no listing under way. */
#ifndef RD_STRINGS_H
#define RD_STRINGS_H

#include "src/base/cleanup.h"
#include "io/io.h"

struct rd_strings {
  char **items;
  size_t n;
  size_t capacity;
};

/* Append a copy of the first nbytes of text.  RADIO_ERROR_MEMORY. */
enum radio_status rd_strings_add (struct rd_strings *strings,
                                  const char *text, size_t nbytes)
  RADIO_USE_RESULT;

/* Append the names of the folders that a prefix holds, in byte order. */
enum radio_status rd_strings_add_folders (struct rd_strings *strings,
                                          struct rd_io *io,
                                          const char *prefix)
  RADIO_USE_RESULT;

void rd_strings_free (struct rd_strings *strings);

#define RD_STRINGS_SCOPE RD_CLEANUP (rd_strings_free)

#endif /* RD_STRINGS_H */
