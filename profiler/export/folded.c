/* SPDX-License-Identifier: MIT */
/* Folded stacks, for flamegraph.pl and compatible readers: a line
 * "root;child;leaf NS" for each node that has wall time of its own. */
#include <config.h>

#include <string.h>

#include "profiler/export/export.h"

/* Where a number at the end of a name begins, with the blank before it: a
 * reader would take it for a sample count.  NULL without such a number. */
static const char *
find_count (const char *name)
{
  size_t n = strlen (name), digits = 0;
  while (digits < n && name[n - 1 - digits] >= '0'
         && name[n - 1 - digits] <= '9')
    digits++;
  if (digits == 0 || digits == n || name[n - 1 - digits] != ' ')
    return NULL;
  return name + n - 1 - digits;
}

/* The deepest is RD_MAX_NODE_DEPTH: recursion ends. */
static void
write_path (struct rd_writer *writer, const struct radio_profile *profile,
            size_t node)
{
  size_t parent = profile->nodes.at[node].parent;
  if (parent != RADIO_NO_PARENT) {
    write_path (writer, profile, parent);
    rd_write_bytes (writer, ";", 1);
  }

  /* A frame's name; ';' would be two frames. */
  const char *name = profile->nodes.at[node].name;
  const char *count = find_count (name);
  if (*name == '\0')
    rd_write_text (writer, "(no name)");
  for (const char *p = name; *p != '\0'; p++) {
    char c = *p == ';' ? ',' : p == count ? '_' : *p;
    /* The model has no line ends in names; a stack is one line all the
     * same. */
    rd_write_bytes (writer, c == '\n' || c == '\r' ? "_" : &c, 1);
  }
}

enum radio_status
rd_export_folded (const struct radio_profile *profile,
                  const struct radio_profile_write_options *options,
                  struct rd_writer *writer)
{
  (void) options;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    if (profile->nodes.at[i].self_ns == 0)
      continue;
    write_path (writer, profile, i);
    rd_write_bytes (writer, " ", 1);
    rd_write_u64 (writer, profile->nodes.at[i].self_ns);
    rd_write_bytes (writer, "\n", 1);
  }
  return writer->status;
}
