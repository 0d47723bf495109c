/* SPDX-License-Identifier: MIT */
/* Names of nodes: what the spec allows, and every file system holds. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/zarr/document.h"

#define NAME_MAX_NBYTES 200

/* The bytes of the UTF-8 character at p; 0 when it is none. */
static size_t
utf8_nbytes (const unsigned char *p)
{
  if (p[0] < 0x80)
    return 1;
  size_t n = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3
             : p[0] < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < n; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  bool is_overlong = (p[0] == 0xe0 && p[1] < 0xa0)
                     || (p[0] == 0xf0 && p[1] < 0x90);
  bool is_no_scalar = (p[0] == 0xed && p[1] >= 0xa0)
                      || (p[0] == 0xf4 && p[1] >= 0x90);
  return is_overlong || is_no_scalar ? 0 : n;
}

/* What is wrong with the characters, or NULL. */
static const char *
wrong_character (const char *name)
{
  const unsigned char *p = (const unsigned char *) name;

  for (size_t n; *p; p += n) {
    if (*p == '/')
      return "it has a '/' in it";
    if (*p < 0x20 || *p == 0x7f)
      return "it has a control character in it";
    n = utf8_nbytes (p);
    if (n == 0)
      return "it is not UTF-8";
  }
  return NULL;
}

static const char *
wrong_name (const char *name)
{
  if (name[0] == '\0')
    return "it is empty";
  if (strlen (name) > NAME_MAX_NBYTES)
    return "it is longer than 200 bytes";
  if (name[strspn (name, ".")] == '\0')
    return "it has nothing but dots";
  if (strncmp (name, "__", 2) == 0)
    return "names that begin with __ are reserved";
  if (strcmp (name, "zarr.json") == 0)
    return "that is the name of documents";
  return wrong_character (name);
}

enum radio_status
rd_node_name_check (const char *name)
{
  const char *why = wrong_name (name);

  if (why)
    return rd_fail (RADIO_ERROR_ARGUMENT, "\"%.*s\" cannot be a node's name:"
                    " %s", NAME_MAX_NBYTES, name, why);
  return RADIO_OK;
}
