/* SPDX-License-Identifier: MIT */
/* speedscope's own format: a profile of events for each lane of the log, and
 * one of weighted stacks for the whole tree, which crosses threads.  It lists
 * its profiles in a menu, which thousands of rows of requests make unusable:
 * the busiest are shown, and the others are stacks, added up.
 *
 * https://www.speedscope.app/file-format-schema.json.  Times are whole
 * nanoseconds, since the application adds them up. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "src/base/alloc.h"
#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "profiler/export/export.h"
#include "profiler/export/frames.h"
#include "profiler/export/nest.h"
#include "profiler/model/sum.h"

/* Profiles for rows of requests; the last one has all that are over. */
#define MAX_REQUEST_ROWS 32

struct state {
  const struct radio_profile *profile;
  const struct rd_frames *frames;
  struct rd_writer *writer;
  bool first_profile;
  bool first_event;
  uint64_t end_ns;
};

static const char *
comma (bool *first)
{
  const char *text = *first ? "\n" : ",\n";
  *first = false;
  return text;
}

static void
begin_profile (struct state *state, const char *type, const char *name)
{
  rd_write_text (state->writer, comma (&state->first_profile));
  rd_write_format (state->writer, "{\"type\":\"%s\",\"name\":", type);
  rd_write_json_string (state->writer, name);
  rd_write_text (state->writer,
                 ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
  rd_write_u64 (state->writer, state->end_ns);
}

/*------------------------------------------------------------------------
 * Lanes
 *----------------------------------------------------------------------*/

static void
write_event (struct state *state, char type, const struct rd_span *span,
             uint64_t at)
{
  if (state->profile->nodes.at[span->node].edge == RADIO_EDGE_INSTANT)
    return;
  rd_write_text (state->writer, comma (&state->first_event));
  rd_write_format (state->writer, "{\"type\":\"%c\",\"at\":", type);
  rd_write_u64 (state->writer, at);
  rd_write_format (state->writer, ",\"frame\":%u}",
                   (unsigned) state->frames->of_node[span->node]);
}

static void
enter (const struct rd_span *span, uint64_t end_ns, void *context)
{
  (void) end_ns;
  write_event (context, 'O', span, span->begin_ns);
}

static void
leave (const struct rd_span *span, uint64_t end_ns, void *context)
{
  write_event (context, 'C', span, end_ns);
}

/*------------------------------------------------------------------------
 * Weighted stacks
 *----------------------------------------------------------------------*/

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

/* All nodes in preorder: each is followed by those below it.  order has room
 * for as many as there are nodes. */
static enum radio_status
list_in_preorder (const struct radio_profile *profile, uint32_t *order)
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

/* A profile of the tree's paths, each with a weight of its own. */
static enum radio_status
write_stacks (struct state *state, const char *name, const uint64_t *weights)
{
  const struct radio_profile_node *nodes = state->profile->nodes.at;
  size_t n = state->profile->nodes.n;
  RD_FREE uint32_t *order = rd_calloc (n + 1, sizeof *order);
  RD_FREE uint32_t *path = rd_calloc (n + 1, sizeof *path);
  if (order == NULL || path == NULL)
    return rd_fail_memory (n * sizeof *path);
  RD_TRY (list_in_preorder (state->profile, order));

  /* The stacks' axis is as long as the sum of the weights. */
  state->end_ns = 0;
  for (size_t i = 0; i < n; i++)
    if (rd_add_overflows (state->end_ns, weights[i], &state->end_ns))
      state->end_ns = UINT64_MAX;
  begin_profile (state, "sampled", name);

  bool first = true;
  rd_write_text (state->writer, ",\"samples\":[");
  for (size_t i = 0; i < n; i++) {
    if (weights[order[i]] == 0)
      continue;
    rd_write_text (state->writer, comma (&first));

    /* The frames from the root to a node.  The path is found from its end,
     * so it is put into `path' backwards, which has room for the deepest. */
    size_t depth = 0;
    for (size_t at = order[i]; at != RADIO_NO_PARENT; at = nodes[at].parent)
      path[depth++] = state->frames->of_node[at];
    rd_write_text (state->writer, "[");
    while (depth > 0) {
      rd_write_u64 (state->writer, path[--depth]);
      rd_write_text (state->writer, depth > 0 ? "," : "]");
    }
  }

  first = true;
  rd_write_text (state->writer, "],\"weights\":[");
  for (size_t i = 0; i < n; i++)
    if (weights[order[i]] > 0) {
      rd_write_text (state->writer, comma (&first));
      rd_write_u64 (state->writer, weights[order[i]]);
    }
  rd_write_text (state->writer, "]}");
  return RADIO_OK;
}

static enum radio_status
write_tree (struct state *state)
{
  size_t n = state->profile->nodes.n;
  RD_FREE uint64_t *self_ns = rd_calloc (n + 1, sizeof *self_ns);
  if (self_ns == NULL)
    return rd_fail_memory (n * sizeof *self_ns);
  for (size_t i = 0; i < n; i++)
    self_ns[i] = state->profile->nodes.at[i].self_ns;
  return write_stacks (state, "call tree, self time", self_ns);
}

/*------------------------------------------------------------------------
 * Rows of requests that are over
 *----------------------------------------------------------------------*/

struct row {
  uint64_t busy_ns;
  uint32_t lane;
};

/* The busiest first. */
static int
compare_rows (const void *pa, const void *pb)
{
  const struct row *a = pa, *b = pb;
  if (a->busy_ns != b->busy_ns)
    return a->busy_ns < b->busy_ns ? 1 : -1;
  return (a->lane > b->lane) - (a->lane < b->lane);
}

/* Marks the rows of requests that have no profile of their own, and counts
 * them. */
static enum radio_status
choose_added (const struct radio_profile *profile, bool *is_added,
              size_t *nadded)
{
  size_t nlanes = profile->lanes.n, n = 0;
  RD_FREE struct row *rows = rd_calloc (nlanes + 1, sizeof *rows);
  if (rows == NULL)
    return rd_fail_memory ((nlanes + 1) * sizeof *rows);
  for (size_t i = 0, nspans; i < profile->spans.n; i += nspans) {
    const struct rd_span *spans = &profile->spans.at[i];
    nspans = rd_nest_lane_length (profile, i);
    if (!profile->lanes.at[spans[0].lane].is_async)
      continue;
    struct row *row = &rows[n++];
    row->lane = spans[0].lane;
    for (size_t j = 0; j < nspans; j++)
      row->busy_ns = rd_sum (row->busy_ns, spans[j].duration_ns);
  }
  *nadded = n > MAX_REQUEST_ROWS ? n - MAX_REQUEST_ROWS + 1 : 0;
  qsort (rows, n, sizeof *rows, compare_rows);
  for (size_t i = n - *nadded; i < n; i++)
    is_added[rows[i].lane] = true;
  return RADIO_OK;
}

/* Adds the time between two events of a row to the innermost node. */
struct adding {
  const struct radio_profile *profile;
  uint64_t *self_ns;          /* of nodes */
  struct rd_buffer nodes;     /* that are open: uint32_t */
  uint64_t from_ns;
  enum radio_status status;
};

static void
add_until (struct adding *adding, uint64_t now_ns)
{
  size_t n = adding->nodes.nbytes / sizeof (uint32_t);
  const uint32_t *open = (const void *) adding->nodes.data;
  if (n > 0 && now_ns > adding->from_ns)
    adding->self_ns[open[n - 1]] = rd_sum (adding->self_ns[open[n - 1]],
                                           now_ns - adding->from_ns);
  adding->from_ns = now_ns;
}

static void
add_enter (const struct rd_span *span, uint64_t end_ns, void *context)
{
  struct adding *adding = context;
  (void) end_ns;
  add_until (adding, span->begin_ns);
  if (adding->status == RADIO_OK)
    adding->status = rd_buffer_append (&adding->nodes, &span->node,
                                       sizeof span->node);
}

static void
add_leave (const struct rd_span *span, uint64_t end_ns, void *context)
{
  struct adding *adding = context;
  (void) span;
  add_until (adding, end_ns);
  if (adding->nodes.nbytes > 0)
    adding->nodes.nbytes -= sizeof span->node;
}

static enum radio_status
write_added (struct state *state, const bool *is_added, size_t nadded)
{
  const struct radio_profile *profile = state->profile;
  size_t nnodes = profile->nodes.n;
  RD_FREE uint64_t *self_ns = rd_calloc (nnodes + 1, sizeof *self_ns);
  if (self_ns == NULL)
    return rd_fail_memory (nnodes * sizeof *self_ns);
  struct adding adding = { .profile = profile, .self_ns = self_ns };
  const struct rd_nest_visitor visitor = { add_enter, add_leave, &adding };
  enum radio_status status = RADIO_OK;
  for (size_t i = 0, n; i < profile->spans.n && status == RADIO_OK; i += n) {
    n = rd_nest_lane_length (profile, i);
    if (is_added[profile->spans.at[i].lane])
      status = rd_nest_visit (&profile->spans.at[i], n, &visitor);
  }
  rd_buffer_free (&adding.nodes);
  RD_TRY (status);
  RD_TRY (adding.status);
  char name[64];
  snprintf (name, sizeof name, "%zu more rows of requests, added up", nadded);
  uint64_t end_ns = state->end_ns;
  RD_TRY (write_stacks (state, name, self_ns));
  state->end_ns = end_ns;
  return RADIO_OK;
}

static enum radio_status
write_lanes (struct state *state)
{
  const struct radio_profile *profile = state->profile;
  size_t nadded = 0;
  RD_FREE bool *is_added = rd_calloc (profile->lanes.n + 1, sizeof *is_added);
  if (is_added == NULL)
    return rd_fail_memory (profile->lanes.n + 1);
  RD_TRY (choose_added (profile, is_added, &nadded));
  for (size_t i = 0, n; i < profile->spans.n; i += n) {
    n = rd_nest_lane_length (profile, i);
    const struct rd_span *spans = &profile->spans.at[i];
    if (is_added[spans[0].lane])
      continue;

    const struct rd_nest_visitor visitor = { enter, leave, state };
    begin_profile (state, "evented", profile->lanes.at[spans[0].lane].name);
    rd_write_text (state->writer, ",\"events\":[");
    state->first_event = true;
    RD_TRY (rd_nest_visit (spans, n, &visitor));
    rd_write_text (state->writer, "]}");
  }
  return nadded > 0 ? write_added (state, is_added, nadded) : RADIO_OK;
}

enum radio_status
rd_export_speedscope (const struct radio_profile *profile,
                      const struct radio_profile_write_options *options,
                      struct rd_writer *writer)
{
  (void) options;
  RD_FRAMES_SCOPE struct rd_frames frames = { 0 };
  RD_TRY (rd_frames_make (profile, &frames));
  struct state state = {
    .profile = profile,
    .frames = &frames,
    .writer = writer,
    .first_profile = true,
    .end_ns = profile->info.wall_ns,
  };
  for (size_t i = 0; i < profile->spans.n; i++)
    state.end_ns = rd_max_u64 (state.end_ns,
                               rd_span_end (&profile->spans.at[i]));

  rd_write_text (writer, "{\"$schema\":\"https://www.speedscope.app/"
                         "file-format-schema.json\",\n"
                         "\"exporter\":\"radio@" PACKAGE_VERSION "\",\n"
                         "\"name\":");
  rd_write_json_string (writer, profile->info.title);
  rd_write_text (writer, ",\n\"activeProfileIndex\":0,\n"
                         "\"shared\":{\"frames\":[");
  bool first = true;
  for (uint32_t i = 0; i < frames.n; i++) {
    const struct radio_profile_node *node =
      rd_frames_node (profile, &frames, i);
    rd_write_text (writer, comma (&first));
    rd_write_text (writer, "{\"name\":");
    rd_write_json_string (writer, node->name);
    if (node->file[0] != '\0') {
      rd_write_text (writer, ",\"file\":");
      rd_write_json_string (writer, node->file);
      rd_write_format (writer, ",\"line\":%u", node->line);
    }
    rd_write_text (writer, "}");
  }
  rd_write_text (writer, "]},\n\"profiles\":[");
  RD_TRY (write_lanes (&state));
  RD_TRY (write_tree (&state));
  rd_write_text (writer, "]}\n");
  return rd_writer_end (writer);
}
