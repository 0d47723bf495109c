/* SPDX-License-Identifier: MIT */
/* The gathered listing. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "io/entries.h"

static enum radio_status
make_room (struct rd_entries *entries)
{
  if (entries->n < entries->capacity)
    return RADIO_OK;
  size_t capacity = entries->capacity / 2 * 3 + 16;
  size_t nbytes = capacity * sizeof *entries->items;
  struct rd_io_entry *items = rd_realloc (entries->items, nbytes);
  if (items == NULL)
    return rd_fail_memory (nbytes);
  entries->items = items;
  entries->capacity = capacity;
  return RADIO_OK;
}

enum radio_status
rd_entries_add (struct rd_entries *entries, const char *name,
                size_t name_nbytes, bool is_prefix, uint64_t nbytes)
{
  RD_TRY (make_room (entries));
  char *copy = rd_malloc (name_nbytes + 1);
  if (copy == NULL)
    return rd_fail_memory (name_nbytes + 1);
  memcpy (copy, name, name_nbytes);
  copy[name_nbytes] = '\0';
  entries->items[entries->n++] = (struct rd_io_entry) {
    .name = copy, .is_prefix = is_prefix, .nbytes = nbytes,
  };
  return RADIO_OK;
}

static int
compare_names (const void *a, const void *b)
{
  const struct rd_io_entry *x = a, *y = b;
  return strcmp (x->name, y->name);
}

enum radio_status
rd_entries_tell (struct rd_entries *entries, rd_io_list_fn *fn,
                 void *user_data)
{
  if (entries->n > 1)
    qsort (entries->items, entries->n, sizeof *entries->items,
           compare_names);
  for (size_t i = 0; i < entries->n; i++)
    RD_TRY (fn (&entries->items[i], user_data));
  return RADIO_OK;
}

void
rd_entries_free (struct rd_entries *entries)
{
  for (size_t i = 0; i < entries->n; i++)
    rd_free ((char *) entries->items[i].name);
  rd_free (entries->items);
  *entries = (struct rd_entries) { 0 };
}
