/* SPDX-License-Identifier: MIT */
/* The keys of chunks: "default" (c/0/1) and "v2" (0.1) encodings. */
#include <config.h>

#include "src/zarr/document.h"

static size_t
put_number (uint64_t number, char *to)
{
  char digits[20];
  size_t n = 0;

  do
    digits[n++] = (char) ('0' + number % 10);
  while ((number /= 10) > 0);
  for (size_t i = 0; i < n; i++)
    to[i] = digits[n - 1 - i];
  return n;
}

void
rd_chunk_key (const struct rd_array_doc *doc, const uint64_t *index,
              char key[RD_CHUNK_KEY_NBYTES])
{
  size_t n = 0;

  if (!doc->keys_v2)
    key[n++] = 'c';
  for (size_t i = 0; i < doc->rank; i++) {
    if (n > 0)
      key[n++] = doc->separator;
    n += put_number (index[i], key + n);
  }
  key[n] = '\0';
}
