/* SPDX-License-Identifier: MIT */
/* The table of frames: nodes sorted by name, file and line, equal ones counted
 * once. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/alloc.h"
#include "profiler/export/frames.h"

struct entry {
  const struct radio_profile_node *node;
  uint32_t index;
};

static int
compare_places (const struct radio_profile_node *a,
                const struct radio_profile_node *b)
{
  int order = strcmp (a->name, b->name);
  if (order == 0)
    order = strcmp (a->file, b->file);
  return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Equal places in the order of their nodes, so that the table does not
 * depend on how qsort goes about it. */
static int
compare_entries (const void *pa, const void *pb)
{
  const struct entry *a = pa, *b = pb;
  int order = compare_places (a->node, b->node);
  return order ? order : (a->index > b->index) - (a->index < b->index);
}

enum radio_status
rd_frames_make (const struct radio_profile *profile,
                struct rd_frames *frames)
{
  size_t n = profile->nodes.n;
  RD_FREE struct entry *entries = rd_calloc (n + 1, sizeof *entries);
  *frames = (struct rd_frames) {
    .of_node = rd_calloc (n + 1, sizeof *frames->of_node),
    .node = rd_calloc (n + 1, sizeof *frames->node),
  };
  if (entries == NULL || frames->of_node == NULL || frames->node == NULL)
    return rd_fail_memory (n * sizeof *entries);
  for (size_t i = 0; i < profile->nodes.n; i++)
    entries[i] = (struct entry) { &profile->nodes.at[i], (uint32_t) i };
  qsort (entries, profile->nodes.n, sizeof *entries, compare_entries);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || compare_places (entries[i - 1].node, entries[i].node) != 0)
      frames->node[frames->n++] = entries[i].index;
    frames->of_node[entries[i].index] = frames->n - 1;
  }
  return RADIO_OK;
}

void
rd_frames_free (struct rd_frames *frames)
{
  rd_free (frames->of_node);
  rd_free (frames->node);
  *frames = (struct rd_frames) { 0 };
}
