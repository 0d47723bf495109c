/* SPDX-License-Identifier: MIT */
/* The growable list of strings. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/reserve.h"
#include "src/volume/strings.h"

enum radio_status
rd_strings_add (struct rd_strings *strings, const char *text, size_t nbytes)
{
  RD_TRY (rd_reserve (&strings->items, &strings->capacity, strings->n,
                      sizeof *strings->items));
  char *copy = rd_strndup (text, nbytes);
  if (copy == NULL)
    return rd_fail_memory (nbytes + 1);
  strings->items[strings->n++] = copy;
  return RADIO_OK;
}

static enum radio_status
add_folder (const struct rd_io_entry *entry, void *user_data)
{
  if (!entry->is_prefix)
    return RADIO_OK;
  return rd_strings_add (user_data, entry->name, strlen (entry->name));
}

enum radio_status
rd_strings_add_folders (struct rd_strings *strings, struct rd_io *io,
                        const char *prefix)
{
  return io->ops->list (io, prefix, false, add_folder, strings);
}

void
rd_strings_free (struct rd_strings *strings)
{
  for (size_t i = 0; i < strings->n; i++)
    rd_free (strings->items[i]);
  rd_free (strings->items);
  *strings = (struct rd_strings) { 0 };
}
