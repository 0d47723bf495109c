/* SPDX-License-Identifier: MIT */
/* The tree as text: numbers at the left in columns of fixed width, the
 * scopes at the right as a tree, each level heaviest first.  How many
 * columns there are depends on the room; a column that would be empty is
 * left out. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/counters.h"
#include "profiler/export/text.h"

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

/*------------------------------------------------------------------------
 * Columns
 *----------------------------------------------------------------------*/

typedef void column_fn (const struct rd_text *text, size_t node,
                        char cell[RD_NUMBER_NBYTES]);

static void
time_cell (uint64_t ns, char cell[RD_NUMBER_NBYTES])
{
  *cell = '\0';
  if (ns > 0)
    rd_text_ns (ns, cell);
}

static const struct radio_profile_node *
node_at (const struct rd_text *text, size_t node)
{
  return &text->profile->nodes.at[node];
}

static void
share_cell (const struct rd_text *text, size_t node,
            char cell[RD_NUMBER_NBYTES])
{
  uint64_t total = node_at (text, node)->total_ns;
  *cell = '\0';
  if (total == 0)
    return;
  rd_text_share (total, text->whole_ns, cell);
  strncat (cell, "%", 2);
}

static void
total_cell (const struct rd_text *text, size_t node,
            char cell[RD_NUMBER_NBYTES])
{
  time_cell (node_at (text, node)->total_ns, cell);
}

static void
self_cell (const struct rd_text *text, size_t node,
           char cell[RD_NUMBER_NBYTES])
{
  time_cell (node_at (text, node)->self_ns, cell);
}

static void
work_cell (const struct rd_text *text, size_t node,
           char cell[RD_NUMBER_NBYTES])
{
  time_cell (node_at (text, node)->tree_work_ns, cell);
}

static void
wait_cell (const struct rd_text *text, size_t node,
           char cell[RD_NUMBER_NBYTES])
{
  time_cell (node_at (text, node)->tree_wait_ns, cell);
}

static void
queue_cell (const struct rd_text *text, size_t node,
            char cell[RD_NUMBER_NBYTES])
{
  time_cell (node_at (text, node)->queue_ns, cell);
}

static void
calls_cell (const struct rd_text *text, size_t node,
            char cell[RD_NUMBER_NBYTES])
{
  rd_text_short_count (node_at (text, node)->calls, cell);
}

static void
mean_cell (const struct rd_text *text, size_t node,
           char cell[RD_NUMBER_NBYTES])
{
  const struct radio_profile_node *at = node_at (text, node);
  time_cell (at->calls ? at->total_ns / at->calls : 0, cell);
}

static void
rate_cell (const struct rd_text *text, size_t node,
           char cell[RD_NUMBER_NBYTES])
{
  rd_text_mb_per_s (rd_moved (text->profile, node, true),
                    node_at (text, node)->total_ns, cell);
}

enum { SHARE, TOTAL, SELF, WORK, WAIT, QUEUE, CALLS, MEAN, RATE, NCOLUMNS };

/* In the order in which they stand.  Times of this node and all below it,
 * but self and queue. */
static const struct {
  const char *title;
  column_fn *print;
} columns[NCOLUMNS] = {
  [SHARE] = { "share", share_cell },
  [TOTAL] = { "total", total_cell },
  [SELF] = { "self", self_cell },
  [WORK] = { "work", work_cell },
  [WAIT] = { "wait", wait_cell },
  [QUEUE] = { "queue", queue_cell },
  [CALLS] = { "calls", calls_cell },
  [MEAN] = { "mean", mean_cell },
  [RATE] = { "MB/s", rate_cell },
};

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
  free (tree->children);
  free (tree->first);
  free (tree->number);
}

static void
measure_column (struct tree *tree, size_t column)
{
  const struct rd_text *text = tree->text;
  char cell[RD_NUMBER_NBYTES];
  size_t width = 0;
  for (size_t i = 0; i < text->profile->nodes.n; i++) {
    columns[column].print (text, i, cell);
    if (rd_utf8_count (cell) > width)
      width = rd_utf8_count (cell);
  }
  if (width > 0 && width < strlen (columns[column].title))
    width = strlen (columns[column].title);
  tree->widths[column] = width;
}

static size_t
measure_scopes (const struct rd_text *text)
{
  size_t most = SCOPE_MIN_WIDTH;
  for (size_t i = 0; i < text->profile->nodes.n; i++) {
    const struct radio_profile_node *node = node_at (text, i);
    size_t width = (size_t) node->depth * LEVEL_WIDTH
                   + rd_utf8_count (node->name);
    if (width > most)
      most = width;
  }
  return most < SCOPE_MAX_WIDTH ? most : SCOPE_MAX_WIDTH;
}

/* Shows the most important columns, as far as the width allows. */
static void
choose_columns (struct tree *tree)
{
  static const unsigned char by_work[] = {
    TOTAL, SELF, CALLS, WORK, RATE, WAIT, SHARE, MEAN, QUEUE,
  };
  static const unsigned char by_wait[] = {
    TOTAL, SELF, CALLS, WAIT, RATE, WORK, SHARE, MEAN, QUEUE,
  };
  const struct radio_profile_info *info = &tree->text->profile->info;
  const unsigned char *order = info->wait_ns > info->work_ns ? by_wait
                                                             : by_work;
  size_t used = BAR_WIDTH + 2, least = measure_scopes (tree->text);
  for (size_t i = 0; i < NCOLUMNS; i++) {
    size_t column = order[i];
    measure_column (tree, column);
    size_t needed = tree->widths[column] + 2;
    bool fits = used + needed + least <= tree->text->columns;
    tree->shown[column] = tree->widths[column] > 0
                          && (fits || column == TOTAL);
    used += tree->shown[column] ? needed : 0;
  }
  tree->scope_width = tree->text->columns > used + SCOPE_MIN_WIDTH
                        ? tree->text->columns - used : SCOPE_MIN_WIDTH;
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
  RD_FREE_PLAIN struct heavy *heavy = calloc (n + 1, sizeof *heavy);
  tree->children = calloc (n + 1, sizeof *tree->children);
  tree->first = calloc (n + 1, sizeof *tree->first);
  tree->number = calloc (n + 1, sizeof *tree->number);
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
  return total > 0 && total < tree->text->whole_ns / TINY_PART
         && radio_profile_counter (tree->text->profile, node,
                                   rd_count_failures.name, true) == 0;
}

/* The number of a node's children that get lines of their own: a single tiny
 * one does, since a summary line would be no shorter. */
static uint32_t
count_shown (const struct tree *tree, const uint32_t *children, uint32_t n)
{
  uint32_t tiny = 0;
  for (uint32_t i = 0; i < n; i++)
    tiny += is_tiny (tree, children[i]);
  return tiny > 1 ? n - tiny : n;
}

/*------------------------------------------------------------------------
 * Lines
 *----------------------------------------------------------------------*/

/* Eighths of a cell, and how ASCII rounds them. */
static void
write_bar (const struct rd_text *text, uint64_t total)
{
  static const char *const eighths[] = {
    "", "\xe2\x96\x8f", "\xe2\x96\x8e", "\xe2\x96\x8d", "\xe2\x96\x8c",
    "\xe2\x96\x8b", "\xe2\x96\x8a", "\xe2\x96\x89",
  };
  double share = text->whole_ns
                   ? (double) total / (double) text->whole_ns : 0;
  unsigned n = share >= 1 ? 8 * BAR_WIDTH
                          : (unsigned) (share * 8 * BAR_WIDTH + 0.5);
  unsigned width = n / 8;
  for (unsigned i = 0; i < n / 8; i++)
    rd_write_text (text->writer, text->utf8 ? "\xe2\x96\x88" : "#");
  if (n % 8 && text->utf8)
    rd_write_text (text->writer, eighths[n % 8]);
  else if (n % 8)
    rd_write_text (text->writer, n % 8 < 4 ? "." : ":");
  width += n % 8 != 0;
  rd_write_blanks (text->writer, BAR_WIDTH - width);
}

static enum rd_colour
colour_of_share (const struct rd_text *text, uint64_t total)
{
  double share = text->whole_ns
                   ? (double) total / (double) text->whole_ns : 0;
  if (share >= 0.6)
    return RD_RED;
  if (share >= 0.2)
    return RD_YELLOW;
  return share >= 0.05 ? RD_GREEN : RD_DIM;
}

/* The self time of a scope is highlighted from a tenth of all on. */
static bool
is_hot (const struct rd_text *text, uint64_t self)
{
  return self > 0 && self >= text->whole_ns / 10;
}

static void
write_cells (const struct tree *tree, uint32_t node)
{
  const struct rd_text *text = tree->text;
  for (size_t i = 0; i < NCOLUMNS; i++) {
    char cell[RD_NUMBER_NBYTES];
    bool is_bold = i == SELF && is_hot (text, node_at (text, node)->self_ns);
    if (!tree->shown[i])
      continue;
    columns[i].print (text, node, cell);
    if (is_bold)
      rd_text_colour (text, RD_BOLD);
    rd_write_right (text->writer, cell, tree->widths[i] + 2);
    if (is_bold)
      rd_text_colour (text, RD_PLAIN);
  }
}

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

/* Returns the characters written.  Of a deep node, only the nearest levels
 * are drawn, after dots. */
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

/* "failed: not found", or of several calls "2 failed: not found, ..."; ""
 * where none did. */
static void
print_failure (const struct rd_text *text, uint32_t node,
               char words[FAILURE_NBYTES])
{
  bool varies;
  char number[RD_NUMBER_NBYTES] = "";
  const char *why = rd_profile_node_note (text->profile, node,
                                          RD_NOTE_FAILED, &varies);
  uint64_t n = radio_profile_counter (text->profile, node,
                                      rd_count_failures.name, false);
  *words = '\0';
  if (why == NULL)
    return;
  if (n > 0 && node_at (text, node)->calls > 1)
    rd_text_short_count (n, number);
  snprintf (words, FAILURE_NBYTES, "%s%sfailed: %.40s%s", number,
            *number ? " " : "", why, varies ? ", ..." : "");
}

/* Returns the characters written: all of it, or where there is no room for
 * that the one word. */
static size_t
write_failure (const struct rd_text *text, const char *words, size_t room)
{
  if (*words == '\0' || room < 2 + FAILURE_MIN_WIDTH)
    return 0;
  bool fits = 2 + rd_utf8_count (words) <= room;
  rd_write_text (text->writer, "  ");
  rd_text_colour (text, RD_RED);
  size_t used = rd_write_cut (text->writer, fits ? words : "failed",
                              room - 2);
  rd_text_colour (text, RD_PLAIN);
  return 2 + used;
}

/* Other texts of the node, as long as there is room. */
static void
write_notes (const struct tree *tree, uint32_t node, size_t room)
{
  const struct rd_text *text = tree->text;
  size_t i = rd_profile_first_note (text->profile, node, "");
  rd_text_colour (text, RD_DIM);
  for (; i < text->profile->notes.n; i++) {
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
}

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
  char failure[FAILURE_NBYTES];
  print_failure (text, node, failure);
  size_t room = tree->scope_width - used;
  size_t kept = *failure && room >= NAME_MIN_WIDTH + 2 + FAILURE_MIN_WIDTH
                ? 2 + FAILURE_MIN_WIDTH : 0;
  used += rd_write_cut (text->writer, *at->name ? at->name : "(no name)",
                        room - kept);
  used += write_failure (text, failure, tree->scope_width - used);
  write_notes (tree, node, tree->scope_width - used);
  rd_write_text (text->writer, "\n");
}

static void
write_line (const struct tree *tree, uint32_t node,
            const struct branches *branches)
{
  const struct rd_text *text = tree->text;
  uint64_t total = node_at (text, node)->total_ns;
  rd_text_colour (text, colour_of_share (text, total));
  write_bar (text, total);
  rd_text_colour (text, RD_PLAIN);
  write_cells (tree, node);
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
  uint32_t n = tree->number[parent];
  uint32_t shown = count_shown (tree, children, n), seen = 0;
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

static void
write_titles (const struct tree *tree)
{
  const struct rd_text *text = tree->text;
  rd_write_text (text->writer, "\n");
  rd_text_colour (text, RD_BOLD);
  rd_write_right (text->writer, "", BAR_WIDTH);
  for (size_t i = 0; i < NCOLUMNS; i++)
    if (tree->shown[i])
      rd_write_right (text->writer, columns[i].title, tree->widths[i] + 2);
  rd_write_text (text->writer, "  scope");
  rd_text_colour (text, RD_PLAIN);
  rd_write_text (text->writer, "\n");
}

/* Writes the meanings of the marks that were used. */
static void
write_legend (const struct rd_text *text)
{
  static const char *const meanings[] = {
    [RADIO_EDGE_HANDOFF] = "on another thread", [RADIO_EDGE_ASYNC] = "request",
    [RADIO_EDGE_PHASE] = "its phase", [RADIO_EDGE_INSTANT] = "event",
  };
  bool there[sizeof meanings / sizeof meanings[0]] = { false };
  bool is_first = true;
  for (size_t i = 0; i < text->profile->nodes.n; i++)
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
}

enum radio_status
rd_text_tree (const struct rd_text *text)
{
  RD_CLEANUP (free_tree) struct tree tree = { .text = text };
  size_t nnodes = text->profile->nodes.n;
  if (nnodes == 0) {
    rd_write_text (text->writer, "\nNothing was recorded.\n");
    return RADIO_OK;
  }
  RD_TRY (sort_children (&tree));
  choose_columns (&tree);
  write_titles (&tree);
  write_below (&tree, nnodes, NULL, 0);
  write_legend (text);
  return RADIO_OK;
}
