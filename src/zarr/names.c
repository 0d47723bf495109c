/* SPDX-License-Identifier: MIT */
/* Names of nodes, which every file system can hold, and keys of chunks. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "src/zarr/document.h"

#define NAME_MAX_NBYTES 200

enum radio_status
rd_node_name_check (const char *name)
{
  const char *why = name[0] == '\0' ? "it is empty"
    : strlen (name) > NAME_MAX_NBYTES ? "it is longer than 200 bytes"
    : name[strspn (name, ".")] == '\0' ? "it has nothing but dots"
    : strncmp (name, "__", 2) == 0 ? "names that begin with __ are reserved"
    : strcmp (name, "zarr.json") == 0 ? "that is the name of documents"
    : NULL;

  for (size_t i = 0, n; !why && name[i]; i += n) {
    n = rd_utf8_nbytes (name + i);
    if (name[i] == '/')
      why = "it has a '/' in it";
    else if ((unsigned char) name[i] < 0x20 || name[i] == 0x7f)
      why = "it has a control character in it";
    else if (n == 0)
      why = "it is not UTF-8";
  }
  if (why)
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%.*s' is not a legal name: %s",
                    NAME_MAX_NBYTES, name, why);
  return RADIO_OK;
}

/* "default" (c/0/1) and "v2" (0.1) encodings. */
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
    char digits[20];
    size_t ndigits = 0;
    uint64_t number = index[i];
    do
      digits[ndigits++] = (char) ('0' + number % 10);
    while ((number /= 10) > 0);
    while (ndigits > 0)
      key[n++] = digits[--ndigits];
  }
  key[n] = '\0';
}

bool
rd_chunk_key_parse (const struct rd_array_doc *doc, const uint64_t *grid,
                    const char *key, uint64_t *index)
{
  char same[RD_CHUNK_KEY_NBYTES];
  const char *p = key;

  for (size_t i = 0; i < doc->rank; i++) {
    uint64_t number = 0;
    p += strcspn (p, "0123456789");
    if (*p == '\0')
      return false;
    for (; *p >= '0' && *p <= '9'; p++)
      if (rd_mul_overflows (number, 10, &number)
          || rd_add_overflows (number, (uint64_t) (*p - '0'), &number))
        return false;
    if (number >= grid[i])
      return false;
    index[i] = number;
  }
  /* Neither "c/01" nor "x/1" is the key of a chunk. */
  rd_chunk_key (doc, index, same);
  return strcmp (key, same) == 0;
}
