/* SPDX-License-Identifier: MIT */
/* A listing that is gathered first and told afterwards, in byte order: the
 * one who is told may then use the store, and no lock or open folder is
 * held meanwhile. */
#ifndef RD_ENTRIES_H
#define RD_ENTRIES_H

#include "io/io.h"

struct rd_entries {
  struct rd_io_entry *items;  /* their names are owned */
  size_t n;
  size_t capacity;
};

/* Add an entry, whose name is the first name_nbytes of `name'. */
enum radio_status rd_entries_add (struct rd_entries *entries,
                                  const char *name, size_t name_nbytes,
                                  bool is_prefix, uint64_t nbytes)
  RADIO_USE_RESULT;

/* Sort by name and call fn for each; the first failure ends it. */
enum radio_status rd_entries_tell (struct rd_entries *entries,
                                   rd_io_list_fn *fn, void *user_data)
  RADIO_USE_RESULT;

void rd_entries_free (struct rd_entries *entries);

#define RD_ENTRIES_SCOPE RD_CLEANUP (rd_entries_free)

#endif /* RD_ENTRIES_H */
