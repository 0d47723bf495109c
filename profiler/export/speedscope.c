/* SPDX-License-Identifier: MIT */
/* speedscope's own format: a profile of events for each lane of the log, and
 * one of weighted stacks for the whole tree, which crosses threads.
 *
 * https://www.speedscope.app/file-format-schema.json.  Times are whole
 * nanoseconds, since the application adds them up. */
#include <config.h>

#include "src/base/alloc.h"
#include "src/base/checked.h"
#include "profiler/export/export.h"
#include "profiler/export/frames.h"
#include "profiler/export/nest.h"

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

static enum radio_status
write_lanes (struct state *state)
{
  const struct radio_profile *profile = state->profile;
  for (size_t i = 0, n; i < profile->spans.n; i += n) {
    n = rd_nest_lane_length (profile, i);

    const struct rd_span *spans = &profile->spans.at[i];
    const struct rd_nest_visitor visitor = { enter, leave, state };
    begin_profile (state, "evented",
                   state->profile->lanes.at[spans[0].lane].name);
    rd_write_text (state->writer, ",\"events\":[");
    state->first_event = true;
    RD_TRY (rd_nest_visit (spans, n, &visitor));
    rd_write_text (state->writer, "]}");
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The tree
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

static enum radio_status
write_tree (struct state *state)
{
  const struct radio_profile_node *nodes = state->profile->nodes.at;
  size_t n = state->profile->nodes.n;
  RD_FREE uint32_t *order = rd_calloc (n + 1, sizeof *order);
  RD_FREE uint32_t *path = rd_calloc (n + 1, sizeof *path);
  if (order == NULL || path == NULL)
    return rd_fail_memory (n * sizeof *path);
  RD_TRY (list_in_preorder (state->profile, order));

  /* The stacks' axis is as long as the sum of self times. */
  state->end_ns = 0;
  for (size_t i = 0; i < n; i++)
    if (rd_add_overflows (state->end_ns, nodes[i].self_ns, &state->end_ns))
      state->end_ns = UINT64_MAX;
  begin_profile (state, "sampled", "call tree, self time");

  bool first = true;
  rd_write_text (state->writer, ",\"samples\":[");
  for (size_t i = 0; i < n; i++) {
    if (nodes[order[i]].self_ns == 0)
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
    if (nodes[order[i]].self_ns > 0) {
      rd_write_text (state->writer, comma (&first));
      rd_write_u64 (state->writer, nodes[order[i]].self_ns);
    }
  rd_write_text (state->writer, "]}");
  return RADIO_OK;
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
