/* SPDX-License-Identifier: MIT */
/* The tree as text: numbers at the left in columns of fixed width, the
 * scopes at the right as a tree, each level heaviest first.  How many
 * columns there are depends on the room; a column that would be empty is
 * left out. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/alloc.h"
#include "profiler/counters.h"
#include "profiler/export/text.h"
#include "profiler/model/sum.h"

/* Limits of the tree's own column, which is as wide as its deepest scope
 * needs. */
#define SCOPE_MIN_WIDTH 28
#define SCOPE_MAX_WIDTH 36

/* The part of that for a name, after its branches. */
#define NAME_MIN_WIDTH 12

/* The part of that for the word that it failed; the name is cut for it. */
#define FAILURE_MIN_WIDTH 6
#define FAILURE_NBYTES 128

#define BAR_WIDTH 8
#define LEVEL_WIDTH 3

/* A scope that takes less than this part of the whole is shown only in the sum
 * of such scopes. */
#define TINY_PART 2000

/* Work of which more than this part was without a CPU is no time to rely
 * on. */
#define STARVED_PART 10

/*------------------------------------------------------------------------
 * Columns
 *----------------------------------------------------------------------*/

/* In the order in which they stand. */
enum {
  SHARE, TOTAL, SELF, WORK, STARVED, WAIT, QUEUE, CALLS, MEAN, RATE, FLOPS,
  INTENSITY, NCOLUMNS
};

static const char *const titles[NCOLUMNS] = {
  "of roots", "total", "self", "work", "no CPU", "wait", "queue", "calls",
  "mean", "MB/s", "GFLOP/s", "flop/B",
};

static const struct radio_profile_node *
node_at (const struct rd_text *text, size_t node)
{
  return &text->profile->nodes.at[node];
}

/* Times are of this node and all below it, but self and queue. */
static void
print_cell (const struct rd_text *text, size_t node, size_t column,
            char cell[RD_NUMBER_NBYTES])
{
  const struct radio_profile_node *at = node_at (text, node);
  uint64_t ns = 0;
  *cell = '\0';
  switch (column) {
  case SHARE:
    if (at->total_ns > 0) {
      rd_text_share (at->total_ns, text->roots_ns, cell);
      strncat (cell, "%", 2);
    }
    return;
  case CALLS:
    rd_text_short_count (at->calls, cell);
    return;
  case RATE:
    rd_text_mb_per_s (rd_moved (text->profile, node, true), at->total_ns,
                      cell);
    return;
  case FLOPS: {
    /* Operations a nanosecond are GFLOP/s. */
    uint64_t flop = rd_flop (text->profile, node);
    ns = rd_subtract (at->tree_work_ns, at->tree_starved_ns);
    if (flop > 0 && ns > 0)
      rd_text_multiple (flop, ns, cell);
    return;
  }
  case INTENSITY: {
    uint64_t flop = rd_flop (text->profile, node);
    uint64_t nbytes = rd_moved (text->profile, node, true);
    if (flop > 0 && nbytes > 0)
      rd_text_multiple (flop, nbytes, cell);
    return;
  }
  case TOTAL: ns = at->total_ns; break;
  case SELF: ns = at->self_ns; break;
  case WORK: ns = at->tree_work_ns; break;
  case STARVED: ns = at->tree_starved_ns; break;
  case WAIT: ns = at->tree_wait_ns; break;
  case QUEUE: ns = at->queue_ns; break;
  case MEAN: ns = at->calls ? at->total_ns / at->calls : 0; break;
  }
  if (ns > 0)
    rd_text_ns (ns, cell);
}

struct tree {
  const struct rd_text *text;
  bool shown[NCOLUMNS];
  size_t widths[NCOLUMNS];
  size_t scope_width;         /* the rest, for the tree */
  uint32_t *children;         /* nodes, by parent, heaviest first */
  uint32_t *first;            /* of each node, in children; at nnodes: of
                                 the roots */
  uint32_t *number;           /* how many */
};

static void
free_tree (struct tree *tree)
{
  rd_free (tree->children);
  rd_free (tree->first);
  rd_free (tree->number);
}

/* Shows the most important columns, as far as the width allows. */
static void
choose_columns (struct tree *tree)
{
  static const unsigned char by_work[] = {
    TOTAL, SELF, CALLS, WORK, RATE, FLOPS, INTENSITY, WAIT, STARVED, SHARE,
    MEAN, QUEUE,
  };
  static const unsigned char by_wait[] = {
    TOTAL, SELF, CALLS, WAIT, RATE, FLOPS, INTENSITY, WORK, STARVED, SHARE,
    MEAN, QUEUE,
  };
  static const unsigned char by_starved[] = {
    TOTAL, SELF, CALLS, STARVED, WORK, WAIT, RATE, FLOPS, INTENSITY, SHARE,
    MEAN, QUEUE,
  };
  const struct rd_text *text = tree->text;
  const struct radio_profile_info *info = &text->profile->info;
  const unsigned char *order = info->wait_ns > info->work_ns ? by_wait
                                                             : by_work;
  if (info->starved_ns > info->work_ns / STARVED_PART)
    order = by_starved;
  size_t nnodes = text->profile->nodes.n, least = SCOPE_MIN_WIDTH;
  for (size_t i = 0; i < nnodes; i++) {
    const struct radio_profile_node *node = node_at (text, i);
    size_t width = (size_t) node->depth * LEVEL_WIDTH
                   + rd_utf8_count (node->name);
    if (width > least)
      least = width < SCOPE_MAX_WIDTH ? width : SCOPE_MAX_WIDTH;
  }

  size_t used = BAR_WIDTH + 2;
  for (size_t i = 0; i < NCOLUMNS; i++) {
    size_t column = order[i], width = 0;
    for (size_t node = 0; node < nnodes; node++) {
      char cell[RD_NUMBER_NBYTES];
      print_cell (text, node, column, cell);
      if (rd_utf8_count (cell) > width)
        width = rd_utf8_count (cell);
    }
    if (width > 0 && width < strlen (titles[column]))
      width = strlen (titles[column]);
    tree->widths[column] = width;
    bool fits = used + width + 2 + least <= text->columns;
    tree->shown[column] = width > 0 && (fits || column == TOTAL);
    used += tree->shown[column] ? width + 2 : 0;
  }
  tree->scope_width = text->columns > used + SCOPE_MIN_WIDTH
                        ? text->columns - used : SCOPE_MIN_WIDTH;
}

/*------------------------------------------------------------------------
 * Children, heaviest first
 *----------------------------------------------------------------------*/

struct heavy {
  size_t parent;              /* nnodes: none, so that roots come last */
  uint64_t total_ns;
  uint32_t node;
};

static int
compare_heavy (const void *a, const void *b)
{
  const struct heavy *x = a, *y = b;
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  if (x->total_ns != y->total_ns)
    return x->total_ns > y->total_ns ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

static enum radio_status
sort_children (struct tree *tree)
{
  const struct radio_profile *profile = tree->text->profile;
  size_t n = profile->nodes.n;
  RD_FREE struct heavy *heavy = rd_calloc (n + 1, sizeof *heavy);
  tree->children = rd_calloc (n + 1, sizeof *tree->children);
  tree->first = rd_calloc (n + 1, sizeof *tree->first);
  tree->number = rd_calloc (n + 1, sizeof *tree->number);
  if (!heavy || !tree->children || !tree->first || !tree->number)
    return rd_fail_memory (n * sizeof *heavy);
  for (size_t i = 0; i < n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    heavy[i] = (struct heavy) {
      node->parent == RADIO_NO_PARENT ? n : node->parent, node->total_ns,
      (uint32_t) i
    };
  }
  qsort (heavy, n, sizeof *heavy, compare_heavy);
  for (size_t i = n; i-- > 0;) {
    tree->children[i] = heavy[i].node;
    tree->first[heavy[i].parent] = (uint32_t) i;
    tree->number[heavy[i].parent]++;
  }
  return RADIO_OK;
}

/* True if a node's time is too small to show it.  Nodes without time
 * (instants) are shown for their calls, and failed ones for their failure. */
static bool
is_tiny (const struct tree *tree, uint32_t node)
{
  uint64_t total = node_at (tree->text, node)->total_ns;
  return total > 0 && total < tree->text->roots_ns / TINY_PART
         && radio_profile_counter (tree->text->profile, node,
                                   rd_count_failures.name, true) == 0;
}

/*------------------------------------------------------------------------
 * Lines
 *----------------------------------------------------------------------*/

/* A branch of the tree at each level: whether more follows there. */
struct branches {
  const struct branches *above;
  bool is_last;
};

static void
write_levels (const struct rd_text *text, const struct branches *at,
              size_t nlevels)
{
  if (at == NULL || nlevels == 0)
    return;
  write_levels (text, at->above, nlevels - 1);
  if (at->is_last)
    rd_write_blanks (text->writer, LEVEL_WIDTH);
  else
    rd_write_text (text->writer, text->utf8 ? "\xe2\x94\x82  " : "|  ");
}

/* Returns the characters written.  For a deep node only the nearest levels are
 * drawn, after dots. */
static size_t
write_branches (const struct tree *tree, const struct branches *at,
                unsigned depth)
{
  const struct rd_text *text = tree->text;
  size_t most = (tree->scope_width - NAME_MIN_WIDTH) / LEVEL_WIDTH;
  if (depth == 0)
    return 0;
  bool is_cut = depth > most;
  size_t nlevels = is_cut ? most - 1 : depth - 1;
  if (is_cut)
    rd_write_text (text->writer, ".. ");
  write_levels (text, at->above, is_cut ? nlevels - 1 : nlevels);
  if (text->utf8)
    rd_write_text (text->writer, at->is_last ? "\xe2\x94\x94\xe2\x94\x80 "
                                             : "\xe2\x94\x9c\xe2\x94\x80 ");
  else
    rd_write_text (text->writer, at->is_last ? "`- " : "|- ");
  return (nlevels + 1) * LEVEL_WIDTH;
}

/* The name, why it failed and other notes, as long as there is room. */
static void
write_scope (const struct tree *tree, uint32_t node,
             const struct branches *branches)
{
  const struct rd_text *text = tree->text;
  const struct radio_profile_node *at = node_at (text, node);
  const char *mark = radio_edge_mark (at->edge);
  rd_write_blanks (text->writer, 2);
  rd_text_colour (text, RD_DIM);
  size_t used = write_branches (tree, branches, at->depth);
  rd_write_text (text->writer, mark);
  used += strlen (mark);
  rd_text_colour (text, RD_PLAIN);

  /* "failed: not found", or of several calls "2 failed: not found, ...". */
  char failure[FAILURE_NBYTES] = "", number[RD_NUMBER_NBYTES] = "";
  bool varies;
  const char *why = rd_profile_node_note (text->profile, node,
                                          RD_NOTE_FAILED, &varies);
  uint64_t nfailures = radio_profile_counter (text->profile, node,
                                              rd_count_failures.name, false);
  if (why != NULL && nfailures > 0 && at->calls > 1)
    rd_text_short_count (nfailures, number);
  if (why != NULL)
    snprintf (failure, sizeof failure, "%s%sfailed: %.40s%s", number,
              *number ? " " : "", why, varies ? ", ..." : "");

  size_t room = tree->scope_width - used;
  size_t kept = *failure && room >= NAME_MIN_WIDTH + 2 + FAILURE_MIN_WIDTH
                ? 2 + FAILURE_MIN_WIDTH : 0;
  room -= rd_write_cut (text->writer, *at->name ? at->name : "(no name)",
                        room - kept);
  if (*failure && room >= 2 + FAILURE_MIN_WIDTH) {
    bool fits = 2 + rd_utf8_count (failure) <= room;
    rd_write_text (text->writer, "  ");
    rd_text_colour (text, RD_RED);
    room -= 2 + rd_write_cut (text->writer, fits ? failure : "failed",
                              room - 2);
    rd_text_colour (text, RD_PLAIN);
  }

  rd_text_colour (text, RD_DIM);
  for (size_t i = rd_profile_first_note (text->profile, node, "");
       i < text->profile->notes.n; i++) {
    const struct rd_note *note = &text->profile->notes.at[i];
    if (note->span != 0 || note->node != node)
      break;
    size_t least = 2 + rd_utf8_count (note->key) + 1 + 8;
    if (room < least || strcmp (note->key, RD_NOTE_FAILED) == 0)
      continue;
    rd_write_format (text->writer, "  %s=", note->key);
    room -= least - 8;
    room -= rd_write_cut (text->writer, note->value, room);
  }
  rd_text_colour (text, RD_PLAIN);
  rd_write_text (text->writer, "\n");
}

static void
write_line (const struct tree *tree, uint32_t node,
            const struct branches *branches)
{
  static const char *const eighths[] = {
    "", "\xe2\x96\x8f", "\xe2\x96\x8e", "\xe2\x96\x8d", "\xe2\x96\x8c",
    "\xe2\x96\x8b", "\xe2\x96\x8a", "\xe2\x96\x89",
  };
  const struct rd_text *text = tree->text;
  const struct radio_profile_node *at = node_at (text, node);
  double share = text->roots_ns
                   ? (double) at->total_ns / (double) text->roots_ns : 0;

  /* A bar in eighths of a cell, which ASCII rounds. */
  rd_text_colour (text, share >= 0.6    ? RD_RED
                        : share >= 0.2  ? RD_YELLOW
                        : share >= 0.05 ? RD_GREEN : RD_DIM);
  unsigned n = share >= 1 ? 8 * BAR_WIDTH
                          : (unsigned) (share * 8 * BAR_WIDTH + 0.5);
  for (unsigned i = 0; i < n / 8; i++)
    rd_write_text (text->writer, text->utf8 ? "\xe2\x96\x88" : "#");
  if (n % 8 && text->utf8)
    rd_write_text (text->writer, eighths[n % 8]);
  else if (n % 8)
    rd_write_text (text->writer, n % 8 < 4 ? "." : ":");
  rd_write_blanks (text->writer, BAR_WIDTH - (n + 7) / 8);
  rd_text_colour (text, RD_PLAIN);

  /* A self time is highlighted from a tenth of all on. */
  bool is_hot = at->self_ns > 0 && at->self_ns >= text->roots_ns / 10;
  for (size_t i = 0; i < NCOLUMNS; i++) {
    char cell[RD_NUMBER_NBYTES];
    if (!tree->shown[i])
      continue;
    print_cell (text, node, i, cell);
    if (i == SELF && is_hot)
      rd_text_colour (text, RD_BOLD);
    rd_write_right (text->writer, cell, tree->widths[i] + 2);
    if (i == SELF && is_hot)
      rd_text_colour (text, RD_PLAIN);
  }
  write_scope (tree, node, branches);
}

/* One line for the tiny ones among children. */
static void
write_rest (const struct tree *tree, const uint32_t *children, uint32_t n,
            const struct branches *branches, unsigned depth)
{
  const struct rd_text *text = tree->text;
  char total[RD_NUMBER_NBYTES], words[48];
  uint64_t sum = 0;
  uint32_t tiny = 0;
  for (uint32_t i = 0; i < n; i++)
    if (is_tiny (tree, children[i])) {
      sum += node_at (text, children[i])->total_ns;
      tiny++;
    }
  rd_text_ns (sum, total);
  rd_write_blanks (text->writer, BAR_WIDTH);
  for (size_t i = 0; i < NCOLUMNS; i++)
    if (tree->shown[i])
      rd_write_right (text->writer, i == TOTAL ? total : "",
                      tree->widths[i] + 2);
  rd_write_blanks (text->writer, 2);
  rd_text_colour (text, RD_DIM);
  size_t used = write_branches (tree, branches, depth);
  snprintf (words, sizeof words, "(%u more)", (unsigned) tiny);
  rd_write_cut (text->writer, words, tree->scope_width - used);
  rd_text_colour (text, RD_PLAIN);
  rd_write_text (text->writer, "\n");
}

/* All below a node, or with nnodes all roots.  As deep as the tree, which
 * the model bounds. */
static void
write_below (const struct tree *tree, size_t parent,
             const struct branches *above, unsigned depth)
{
  const uint32_t *children = tree->children + tree->first[parent];
  uint32_t n = tree->number[parent], ntiny = 0, seen = 0;
  for (uint32_t i = 0; i < n; i++)
    ntiny += is_tiny (tree, children[i]);

  /* A single tiny one gets its own line: a summary would be no shorter. */
  uint32_t shown = ntiny > 1 ? n - ntiny : n;
  for (uint32_t i = 0; i < n; i++) {
    if (shown < n && is_tiny (tree, children[i]))
      continue;
    struct branches at = { above, ++seen == shown && shown == n };
    write_line (tree, children[i], &at);
    write_below (tree, children[i], &at, depth + 1);
  }
  if (shown < n) {
    struct branches at = { above, true };
    write_rest (tree, children, n, &at, depth);
  }
}

enum radio_status
rd_text_tree (const struct rd_text *text)
{
  static const char *const meanings[] = {
    [RADIO_EDGE_HANDOFF] = "on another thread", [RADIO_EDGE_ASYNC] = "request",
    [RADIO_EDGE_PHASE] = "its phase", [RADIO_EDGE_INSTANT] = "event",
  };
  RD_CLEANUP (free_tree) struct tree tree = { .text = text };
  size_t nnodes = text->profile->nodes.n;
  if (nnodes == 0) {
    rd_write_text (text->writer, "\nNothing was recorded.\n");
    return RADIO_OK;
  }
  RD_TRY (sort_children (&tree));
  choose_columns (&tree);

  rd_write_text (text->writer, "\n");
  rd_text_colour (text, RD_BOLD);
  rd_write_right (text->writer, "", BAR_WIDTH);
  for (size_t i = 0; i < NCOLUMNS; i++)
    if (tree.shown[i])
      rd_write_right (text->writer, titles[i], tree.widths[i] + 2);
  rd_write_text (text->writer, "  scope");
  rd_text_colour (text, RD_PLAIN);
  rd_write_text (text->writer, "\n");

  write_below (&tree, nnodes, NULL, 0);

  /* The meanings of the marks that were used. */
  bool there[sizeof meanings / sizeof meanings[0]] = { false };
  bool is_first = true;
  for (size_t i = 0; i < nnodes; i++)
    there[text->profile->nodes.at[i].edge] = true;
  rd_text_colour (text, RD_DIM);
  for (size_t i = RADIO_EDGE_HANDOFF; i <= RADIO_EDGE_INSTANT; i++)
    if (there[i]) {
      rd_write_format (text->writer, "%s%s%s", is_first ? "\n" : "   ",
                       radio_edge_mark ((enum radio_edge) i), meanings[i]);
      is_first = false;
    }
  rd_text_colour (text, RD_PLAIN);
  if (!is_first)
    rd_write_text (text->writer, "\n");
  return RADIO_OK;
}
