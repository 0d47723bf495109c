/* SPDX-License-Identifier: MIT */
/* A flame graph as a picture, for a README or a ticket: no script, no link, no
 * font of its own.
 *
 * The width of a frame is self wall time, summed over all threads, of a path
 * and those below it, as folded stacks have it.  The roots are at the bottom,
 * and the heaviest of several callees is on the left.  Its size is bounded:
 * callees too narrow to be seen are one frame, and after many frames, or on top
 * of many rows, a frame stands for all that it called. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/alloc.h"
#include "src/base/text.h"
#include "profiler/export/export.h"
#include "profiler/model/format.h"
#include "profiler/model/sum.h"

#define WIDTH_PX 1200
#define MARGIN_PX 10
#define ROW_PX 18
#define HEAD_PX 48
#define LEGEND_PX 30
#define MAX_ROWS 64
#define MAX_FRAMES 4000
#define MAX_TITLE 130         /* characters */

/* Lengths along x are in hundredths of a pixel.  Frames less wide than the
 * first are merged, merged ones than the second are left out. */
#define PX 100
#define MIN_FRAME (2 * PX)
#define MIN_MERGED (PX / 4)
#define CHARACTER (7 * PX)      /* at most, of a monospaced font of 11 px */

#define INK "#14181d"

/* As in profiler/view/model/colour.mjs; the last is for all others. */
static const struct {
  const char *category, *colour;
} colours[] = {
  { "operation", "#93a5f5" }, { "metadata", "#c98bb9" },
  { "disk", "#eba531" }, { "network", "#ef7f5a" }, { "decode", "#37b48c" },
  { "encode", "#e3d34a" }, { "place", "#7fd3f2" }, { "queue", "#c3c8d0" },
  { "other", "#b9a5ec" },
};

#define NCOLOURS (sizeof colours / sizeof colours[0])
#define MERGED_COLOUR "#e4e7eb"

/* The children of each node, the heaviest first. */
struct child {
  size_t parent;              /* RADIO_NO_PARENT for roots */
  uint64_t value_ns;
  uint32_t node;
};

/* A frame that is drawn: of a node, or of nmerged callees of one. */
struct frame {
  uint64_t begin_ns, end_ns;  /* along the width */
  size_t nmerged;             /* 0: none, it is of the node */
  uint32_t node;
  uint32_t row;
};

struct picture {
  const struct radio_profile *profile;
  struct rd_writer *writer;
  uint64_t *value_ns;         /* of nodes, with those below */
  struct child *children;     /* by parent */
  size_t *first;              /* of nodes: their first child */
  uint64_t total_ns;
  struct frame *frames;
  size_t nframes;
  uint32_t nrows;
};

/*------------------------------------------------------------------------
 * Text
 *----------------------------------------------------------------------*/

/* At most nbytes of a text, escaped.  XML has no U+FFFE and U+FFFF. */
static void
write_escaped (struct rd_writer *writer, const char *text, size_t nbytes)
{
  for (size_t i = 0, n; i < nbytes && text[i] != '\0'; i += n) {
    uint32_t character;
    n = rd_utf8_decode (text + i, &character);
    if (character == '&')
      rd_write_text (writer, "&amp;");
    else if (character == '<')
      rd_write_text (writer, "&lt;");
    else if (character == '>')
      rd_write_text (writer, "&gt;");
    else if (character == '"')
      rd_write_text (writer, "&quot;");
    else if (character == 0xfffe || character == 0xffff)
      rd_write_text (writer, "\xef\xbf\xbd");
    else
      rd_write_bytes (writer, text + i, n);
  }
}

/* The bytes of the first n characters. */
static size_t
count_bytes (const char *text, size_t n)
{
  size_t nbytes = 0;
  uint32_t character;
  for (; n > 0 && text[nbytes] != '\0'; n--)
    nbytes += rd_utf8_decode (text + nbytes, &character);
  return nbytes;
}

/*------------------------------------------------------------------------
 * Layout
 *----------------------------------------------------------------------*/

static int
compare_children (const void *pa, const void *pb)
{
  const struct child *a = pa, *b = pb;
  if (a->parent != b->parent)
    return a->parent < b->parent ? -1 : 1;
  if (a->value_ns != b->value_ns)
    return a->value_ns > b->value_ns ? -1 : 1;
  return (a->node > b->node) - (a->node < b->node);
}

/* Parents come before their children, so that one pass from the end adds up
 * the subtrees. */
static enum radio_status
make_children (struct picture *picture)
{
  const struct radio_profile_node *nodes = picture->profile->nodes.at;
  size_t n = picture->profile->nodes.n;
  picture->value_ns = rd_calloc (n + 1, sizeof *picture->value_ns);
  picture->children = rd_calloc (n + 1, sizeof *picture->children);
  picture->first = rd_calloc (n + 1, sizeof *picture->first);
  picture->frames = rd_calloc (MAX_FRAMES, sizeof *picture->frames);
  if (picture->value_ns == NULL || picture->children == NULL
      || picture->first == NULL || picture->frames == NULL)
    return rd_fail_memory (n * sizeof *picture->children);
  for (size_t i = n; i-- > 0;) {
    uint64_t *value = &picture->value_ns[i];
    *value = rd_sum (*value, nodes[i].self_ns);
    uint64_t *above = nodes[i].parent == RADIO_NO_PARENT
                        ? &picture->total_ns
                        : &picture->value_ns[nodes[i].parent];
    *above = rd_sum (*above, *value);
    picture->children[i] = (struct child) {
      nodes[i].parent, *value, (uint32_t) i
    };
  }
  qsort (picture->children, n, sizeof *picture->children, compare_children);
  for (size_t i = 0; i < n; i++)
    picture->first[i] = n;
  for (size_t i = n; i-- > 0;)
    if (picture->children[i].parent != RADIO_NO_PARENT)
      picture->first[picture->children[i].parent] = i;
  return RADIO_OK;
}

/* Where a time is, from the left; the whole is the whole width. */
static uint64_t
place (const struct picture *picture, uint64_t ns)
{
  return MARGIN_PX * PX
         + (uint64_t) ((double) ns / (double) picture->total_ns
                       * (WIDTH_PX - 2 * MARGIN_PX) * PX);
}

static uint64_t
width_of (const struct picture *picture, const struct frame *frame)
{
  return place (picture, frame->end_ns) - place (picture, frame->begin_ns);
}

static void
add_frame (struct picture *picture, const struct frame *frame)
{
  picture->frames[picture->nframes++] = *frame;
  picture->nrows = (uint32_t) rd_max_u64 (picture->nrows, frame->row + 1);
}

/* Adds the frames of callees that are in a row of the children, from first on.
 * The last frame is never one of a node, so that there is room for those that
 * do not fit. */
static void
add_callees (struct picture *picture, size_t first, uint64_t begin_ns,
             uint32_t row)
{
  const struct child *children = picture->children;
  size_t n = picture->profile->nodes.n;
  struct frame merged = { .row = row };
  for (size_t i = first;
       i < n && children[i].parent == children[first].parent; i++) {
    struct frame frame = {
      .begin_ns = begin_ns, .end_ns = rd_sum (begin_ns, children[i].value_ns),
      .node = children[i].node, .row = row,
    };
    begin_ns = frame.end_ns;
    if (merged.nmerged == 0 && width_of (picture, &frame) >= MIN_FRAME
        && picture->nframes + 1 < MAX_FRAMES)
      add_frame (picture, &frame);
    else {
      if (merged.nmerged++ == 0)
        merged.begin_ns = frame.begin_ns;
      merged.end_ns = frame.end_ns;
    }
  }
  if (merged.nmerged > 0 && width_of (picture, &merged) >= MIN_MERGED
      && picture->nframes < MAX_FRAMES)
    add_frame (picture, &merged);
}

/* Row by row from the roots on, so that the last ones have no callees if there
 * are too many. */
static enum radio_status
lay_out (struct picture *picture)
{
  RD_TRY (make_children (picture));
  if (picture->total_ns == 0)
    return RADIO_OK;
  size_t n = picture->profile->nodes.n, roots = 0;
  while (roots < n && picture->children[roots].parent != RADIO_NO_PARENT)
    roots++;
  add_callees (picture, roots, 0, 0);
  for (size_t i = 0; i < picture->nframes; i++) {
    const struct frame frame = picture->frames[i];
    if (frame.nmerged == 0 && frame.row + 1 < MAX_ROWS
        && picture->first[frame.node] < n)
      add_callees (picture, picture->first[frame.node], frame.begin_ns,
                   frame.row + 1);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Frames
 *----------------------------------------------------------------------*/

static size_t
colour_of (const char *category)
{
  size_t i = 0;
  while (i + 1 < NCOLOURS && strcmp (colours[i].category, category) != 0)
    i++;
  return i;
}

/* " NAME=\"12.34\"" */
static void
write_length (struct rd_writer *writer, const char *name, uint64_t length)
{
  rd_write_format (writer, " %s=\"%" PRIu64 ".%02u\"", name, length / PX,
                   (unsigned) (length % PX));
}

/* As many characters of a name as there is room for. */
static void
write_label (struct rd_writer *writer, const char *name, uint64_t x,
             uint64_t width, unsigned y)
{
  size_t room = width < 8 * PX ? 0 : (size_t) ((width - 8 * PX) / CHARACTER);
  size_t n = rd_utf8_count (name);
  if (n > room && room < 4)
    return;
  rd_write_text (writer, "<text");
  write_length (writer, "x", x + 4 * PX);
  rd_write_format (writer, " y=\"%u\">", y + 13);
  write_escaped (writer, name, count_bytes (name, n > room ? room - 2 : n));
  rd_write_text (writer, n > room ? "..</text>" : "</text>");
}

static void
write_frame (const struct picture *picture, const struct frame *frame)
{
  struct rd_writer *writer = picture->writer;
  const struct radio_profile_node *node
    = &picture->profile->nodes.at[frame->node];
  bool is_merged = frame->nmerged > 0;
  const char *name = *node->name ? node->name : "(no name)";
  uint64_t value_ns = frame->end_ns - frame->begin_ns;
  unsigned y = HEAD_PX + (picture->nrows - 1 - frame->row) * ROW_PX;
  rd_write_text (writer, is_merged ? "<g class=\"merged\"><title>"
                                   : "<g><title>");
  if (is_merged)
    rd_write_format (writer, "%zu more", frame->nmerged);
  else
    write_escaped (writer, name, SIZE_MAX);
  rd_write_format (writer, ": %s (%s)", rd_format_ns (value_ns).text,
                   rd_format_percent ((double) value_ns,
                                      (double) picture->total_ns).text);
  if (!is_merged)
    rd_write_format (writer, ", self %s, %s",
                     rd_format_ns (node->self_ns).text,
                     rd_format_count (node->calls, "call", "calls").text);
  rd_write_text (writer, "</title><rect");
  write_length (writer, "x", place (picture, frame->begin_ns));
  write_length (writer, "width", width_of (picture, frame));
  rd_write_format (writer, " y=\"%u\" height=\"%d\" fill=\"%s\"/>", y,
                   ROW_PX - 1, is_merged
                     ? MERGED_COLOUR
                     : colours[colour_of (node->category)].colour);
  if (!is_merged)
    write_label (writer, name, place (picture, frame->begin_ns),
                 width_of (picture, frame), y);
  rd_write_text (writer, "</g>\n");
}

/*------------------------------------------------------------------------
 * The picture
 *----------------------------------------------------------------------*/

static void
write_head (const struct picture *picture, unsigned height)
{
  struct rd_writer *writer = picture->writer;
  const struct radio_profile_info *info = &picture->profile->info;
  const char *title = *info->title ? info->title : info->program;
  rd_write_format (writer, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                   "width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
                   "font-family=\"ui-monospace, Menlo, Consolas, "
                   "'DejaVu Sans Mono', monospace\" font-size=\"11\" "
                   "fill=\"" INK "\" role=\"img\">\n<title>",
                   WIDTH_PX, height, WIDTH_PX, height);
  write_escaped (writer, title, SIZE_MAX);
  rd_write_text (writer, "</title>\n<style>g rect { stroke: #ffffff; "
                 "stroke-width: 0.5 }</style>\n");
  rd_write_format (writer, "<rect width=\"%d\" height=\"%u\" "
                   "fill=\"#ffffff\"/>\n<text x=\"%d\" y=\"20\" "
                   "font-size=\"14\" font-weight=\"bold\">",
                   WIDTH_PX, height, MARGIN_PX);
  size_t nbytes = count_bytes (title, MAX_TITLE);
  write_escaped (writer, title, nbytes);
  rd_write_format (writer, "%s</text>\n<text x=\"%d\" y=\"38\">",
                   title[nbytes] ? ".." : "", MARGIN_PX);
  rd_write_format (writer, "%s wall, %s work",
                   rd_format_ns (info->wall_ns).text,
                   rd_format_ns (info->work_ns).text);
  if (info->starved_ns > 0)
    rd_write_format (writer, " (%s of it without a CPU)",
                     rd_format_ns (info->starved_ns).text);
  rd_write_format (writer, ", %s wait; width: ",
                   rd_format_ns (info->wait_ns).text);
  rd_write_format (writer, "self time of each path, of all threads and "
                   "requests together (%s)</text>\n",
                   rd_format_ns (picture->total_ns).text);
}

static void
write_legend (const struct picture *picture, unsigned y)
{
  struct rd_writer *writer = picture->writer;
  bool is_used[NCOLOURS] = { false };
  for (size_t i = 0; i < picture->nframes; i++)
    if (picture->frames[i].nmerged == 0) {
      uint32_t node = picture->frames[i].node;
      is_used[colour_of (picture->profile->nodes.at[node].category)] = true;
    }
  unsigned x = MARGIN_PX;
  for (size_t i = 0; i < NCOLOURS; i++)
    if (is_used[i]) {
      rd_write_format (writer, "<rect class=\"legend\" x=\"%u\" y=\"%u\" "
                       "width=\"12\" height=\"12\" fill=\"%s\"/>"
                       "<text x=\"%u\" y=\"%u\">%s</text>\n", x, y,
                       colours[i].colour, x + 16, y + 10,
                       colours[i].category);
      x += 100;
    }
}

static void
free_picture (struct picture *picture)
{
  rd_free (picture->value_ns);
  rd_free (picture->children);
  rd_free (picture->first);
  rd_free (picture->frames);
}

enum radio_status
rd_export_svg (const struct radio_profile *profile,
               const struct radio_profile_write_options *options,
               struct rd_writer *writer)
{
  (void) options;
  RD_CLEANUP (free_picture) struct picture picture = {
    .profile = profile, .writer = writer,
  };
  RD_TRY (lay_out (&picture));
  unsigned bottom = HEAD_PX + picture.nrows * ROW_PX;
  write_head (&picture, bottom + LEGEND_PX);
  for (size_t i = 0; i < picture.nframes; i++)
    write_frame (&picture, &picture.frames[i]);
  write_legend (&picture, bottom + 10);
  rd_write_text (writer, "</svg>\n");
  return rd_writer_end (writer);
}
