/* SPDX-License-Identifier: MIT */
/* Listings of the posix store.  All names are gathered before the first is
 * told, so that the order is that of their bytes, with recursion too
 * ("a.b" comes before "a/b"). */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "io/key.h"
#include "io/posix/posix.h"

/* Gather the objects below a folder; `below' is its path as of the listed
 * prefix. */
static enum radio_status
gather (const struct rd_posix *posix, const char *path, const char *below,
        struct rd_entries *entries)
{
  RD_ENTRIES_SCOPE struct rd_entries names = { 0 };
  RD_TRY (rd_posix_scan (posix, path, RD_SCAN_LIST_RECURSIVE, &names));
  for (size_t i = 0; i < names.n; i++) {
    const struct rd_io_entry *entry = &names.items[i];
    RD_FREE char *name = rd_key_join (below, entry->name);
    if (name == NULL)
      return RADIO_ERROR_MEMORY;
    if (!entry->is_prefix) {
      RD_TRY (rd_entries_add (entries, name, strlen (name), false,
                              entry->nbytes));
      continue;
    }
    RD_FREE char *child = rd_key_join (path, entry->name);
    if (child == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (gather (posix, child, name, entries));
  }
  return RADIO_OK;
}

enum radio_status
rd_posix_list (struct rd_io *io, const char *prefix, bool recursive,
               rd_io_list_fn *fn, void *user_data)
{
  const struct rd_posix *posix = (const struct rd_posix *) io;
  RD_TRY (rd_prefix_check (io, prefix));
  RD_ENTRIES_SCOPE struct rd_entries entries = { 0 };
  if (recursive)
    RD_TRY (gather (posix, prefix, "", &entries));
  else
    RD_TRY (rd_posix_scan (posix, prefix, RD_SCAN_LIST, &entries));
  return rd_entries_tell (&entries, fn, user_data);
}
