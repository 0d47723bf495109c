/* SPDX-License-Identifier: MIT */
/* Names of nodes: what the spec allows, and every file system holds. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/zarr/document.h"

#define NAME_MAX_NBYTES 200

/* What is wrong with the characters, or NULL. */
static const char *
wrong_character (const char *name)
{
  for (size_t n; *name; name += n) {
    if (*name == '/')
      return "it has a '/' in it";
    if ((unsigned char) *name < 0x20 || *name == 0x7f)
      return "it has a control character in it";
    n = rd_utf8_nbytes (name);
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
