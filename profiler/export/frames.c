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

/* The tree as links.  Index 0 stands for the parent of the roots, i + 1 for
 * node i, so 0 is also "none". */
struct links {
  uint32_t first_child;
  uint32_t next_sibling;
};

static uint32_t
link_of (size_t node)
{
  return node == RADIO_NO_PARENT ? 0 : (uint32_t) node + 1;
}

enum radio_status
rd_frames_walk (const struct radio_profile *profile, uint32_t *order)
{
  size_t n = profile->nodes.n;
  RD_FREE struct links *links = rd_calloc (n + 1, sizeof *links);
  if (links == NULL)
    return rd_fail_memory ((n + 1) * sizeof *links);

  /* From the last to the first, so that siblings keep their order. */
  for (size_t i = profile->nodes.n; i-- > 0;) {
    struct links *parent = &links[link_of (profile->nodes.at[i].parent)];
    links[i + 1].next_sibling = parent->first_child;
    parent->first_child = (uint32_t) i + 1;
  }

  uint32_t at = links[0].first_child;
  for (size_t i = 0; at != 0; i++) {
    order[i] = at - 1;
    if (links[at].first_child != 0) {
      at = links[at].first_child;
      continue;
    }
    while (at != 0 && links[at].next_sibling == 0)
      at = link_of (profile->nodes.at[at - 1].parent);
    at = links[at].next_sibling;
  }
  return RADIO_OK;
}
