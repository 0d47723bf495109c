/* SPDX-License-Identifier: MIT */
/* Folded stacks, for flamegraph.pl and compatible readers: a line
 * "root;child;leaf NS" for each node that has wall time of its own. */
#include <config.h>

#include <string.h>

#include "profiler/export/export.h"

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

  /* ';' would be two frames, and a blank before a number at the end would
   * make it a sample count. */
  const char *name = profile->nodes.at[node].name;
  const char *count = name + strlen (name);
  while (count > name && count[-1] >= '0' && count[-1] <= '9')
    count--;
  bool ends_in_count = *count != '\0' && count > name && count[-1] == ' ';
  if (*name == '\0')
    rd_write_text (writer, "(no name)");
  for (const char *p = name; *p != '\0'; p++) {
    char c = *p == ';' ? ',' : *p;
    if (ends_in_count && p == count - 1)
      c = '_';
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
