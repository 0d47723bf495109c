/* SPDX-License-Identifier: MIT */
/* Keys: what is legal, joining, and being below a prefix. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "io/key.h"

static bool
is_legal_name (const char *name, size_t nbytes)
{
  bool is_dots = nbytes <= 2 && memcmp (name, "..", nbytes) == 0;
  return nbytes > 0 && !is_dots;
}

enum radio_status
rd_key_check (const struct rd_io *io, const char *key)
{
  for (const char *name = key;;) {
    size_t nbytes = strcspn (name, "/");
    if (!is_legal_name (name, nbytes))
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "%s: '%s' is not a key: each of its names must be "
                      "other than '', '.' and '..'", io->uri, key);
    if (name[nbytes] == '\0')
      return RADIO_OK;
    name += nbytes + 1;
  }
}

enum radio_status
rd_prefix_check (const struct rd_io *io, const char *prefix)
{
  return *prefix == '\0' ? RADIO_OK : rd_key_check (io, prefix);
}

const char *
rd_key_below (const char *key, const char *prefix)
{
  size_t nbytes = strlen (prefix);
  if (nbytes == 0)
    return key;
  if (strncmp (key, prefix, nbytes) != 0 || key[nbytes] != '/')
    return NULL;
  return key + nbytes + 1;
}

char *
rd_key_join (const char *prefix, const char *name)
{
  size_t prefix_nbytes = strlen (prefix);
  size_t name_nbytes = strlen (name);
  char *key = rd_malloc (prefix_nbytes + 1 + name_nbytes + 1);
  if (key == NULL) {
    rd_fail_memory (prefix_nbytes + name_nbytes + 2);
    return NULL;
  }
  char *p = key;
  if (prefix_nbytes > 0) {
    memcpy (p, prefix, prefix_nbytes);
    p += prefix_nbytes;
    *p++ = '/';
  }
  memcpy (p, name, name_nbytes + 1);
  return key;
}
