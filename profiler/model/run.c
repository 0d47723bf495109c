/* SPDX-License-Identifier: MIT */
/* The profile of one run out of a whole recording: of a slow one, say.  The log
 * has its descendants, on any thread, and the tree is made of these again. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/model/builder.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

struct cut {
  const struct radio_profile *whole;
  struct radio_profile *run;
  const struct rd_span *top;  /* the run's span */
  struct rd_span_ids ids;
  unsigned char *places;      /* of spans: RD_SPAN_INSIDE */
  uint64_t *inner_ns;         /* of spans: in those directly around which
                                 they are, on their thread */
  uint64_t *covered_ns;       /* of spans: by their children, of which some
                                 may run at once */
  uint32_t *new_ids;          /* of spans */
  uint32_t *nodes, *lanes;    /* new indexes, or RD_NO_INDEX */
};

static void
free_cut (struct cut *cut)
{
  rd_span_ids_free (&cut->ids);
  free (cut->places);
  free (cut->inner_ns);
  free (cut->covered_ns);
  free (cut->new_ids);
  free (cut->nodes);
  free (cut->lanes);
}

static bool
is_inside (const struct cut *cut, size_t i)
{
  return cut->places[i] == RD_SPAN_INSIDE;
}

static uint64_t
end_of (const struct rd_span *span)
{
  return span->begin_ns + span->duration_ns;
}

/*------------------------------------------------------------------------
 * Times
 *----------------------------------------------------------------------*/

/* Spans of a lane nest.  Those received from elsewhere take their time from the
 * one around them, too. */
static enum radio_status
sum_inner (struct cut *cut)
{
  const struct rd_span *spans = cut->whole->spans.at;
  RD_FREE_PLAIN void *memory = NULL;
  RD_TRY (rd_new_array (RD_MAX_NODE_DEPTH, sizeof (size_t), &memory));
  size_t *stack = memory, depth = 0;
  for (size_t i = 0; i < cut->whole->spans.n; i++) {
    if (i > 0 && spans[i].lane != spans[i - 1].lane)
      depth = 0;
    while (depth > 0 && end_of (&spans[stack[depth - 1]])
                        <= spans[i].begin_ns)
      depth--;
    if (depth > 0)
      cut->inner_ns[stack[depth - 1]] += spans[i].duration_ns;
    if (depth < RD_MAX_NODE_DEPTH)
      stack[depth++] = i;
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Nodes
 *----------------------------------------------------------------------*/

/* Adds the nodes of the spans, and those between them and the run's.  Parents
 * come before their children. */
static enum radio_status
add_nodes (struct cut *cut)
{
  const struct radio_profile *whole = cut->whole;
  const size_t top = cut->top->node;
  RD_FREE_PLAIN void *memory = NULL;
  RD_TRY (rd_new_array (whole->nodes.n, sizeof (bool), &memory));
  bool *is_wanted = memory;
  for (size_t i = 0; i < whole->spans.n; i++)
    for (size_t k = whole->spans.at[i].node;
         is_inside (cut, i) && k != RADIO_NO_PARENT && !is_wanted[k];
         k = k == top ? RADIO_NO_PARENT : whole->nodes.at[k].parent)
      is_wanted[k] = true;
  for (size_t i = 0; i < whole->nodes.n; i++) {
    const struct radio_profile_node *node = &whole->nodes.at[i];
    cut->nodes[i] = RD_NO_INDEX;
    if (!is_wanted[i])
      continue;
    uint32_t parent = i == top || node->parent == RADIO_NO_PARENT
                      ? RD_NO_INDEX : cut->nodes[node->parent];
    struct radio_profile_node new = {
      .name = node->name, .category = node->category,
      .function = node->function, .file = node->file, .line = node->line,
      .parent = parent == RD_NO_INDEX ? RADIO_NO_PARENT : parent,
      .edge = node->edge,
    };
    cut->nodes[i] = rd_profile_find_node (cut->run, parent, node->name,
                                          node->category, node->edge);
    if (cut->nodes[i] == RD_NO_INDEX)
      RD_TRY (rd_profile_add_node (cut->run, &new, &cut->nodes[i]));
  }
  return RADIO_OK;
}

static size_t
rank_of (const struct rd_counter *counter)
{
  size_t i = 0;
  while (i < RD_NMOVES && strcmp (rd_moves[i].counter, counter->name) != 0)
    i++;
  return i;
}

/* The counter that has a node's most bytes, which is that of its spans; of
 * equal ones the most informative; or NULL. */
static const struct rd_counter *
counter_of (const struct radio_profile *whole, uint32_t node)
{
  const struct rd_counter *found = NULL;
  uint64_t most = 0;
  for (size_t i = 0; i < whole->counters.n; i++) {
    const struct rd_counter *counter = &whole->counters.at[i];
    uint64_t value = rd_profile_value (whole, node, i);
    bool is_more = value > most
                   || (found && value == most
                       && rank_of (counter) < rank_of (found));
    if (!is_more || strcmp (counter->unit, "bytes") != 0)
      continue;
    most = value;
    found = counter;
  }
  return found;
}

static unsigned
bucket_of (uint64_t ns)
{
  unsigned octave = ns > 0 ? 63 - (unsigned) __builtin_clzll (ns) : 0;
  return octave < RADIO_HISTOGRAM_BUCKETS ? octave
                                          : RADIO_HISTOGRAM_BUCKETS - 1;
}

/* Adds a run to its node.  A request has no thread that works or waits. */
static enum radio_status
add_figures (struct cut *cut, size_t i)
{
  const struct rd_span *span = &cut->whole->spans.at[i];
  uint32_t index = cut->nodes[span->node], counter;
  struct radio_profile_node *node = &cut->run->nodes.at[index];
  const uint64_t ns = span->duration_ns;
  node->min_ns = node->calls ? rd_min_u64 (node->min_ns, ns) : ns;
  node->max_ns = rd_max_u64 (node->max_ns, ns);
  node->calls++;
  node->total_ns += ns;
  node->self_ns += rd_subtract (ns, cut->covered_ns[i]);
  node->queue_ns += span->begin_ns - span->submitted_ns;
  node->open_count += (span->flags & RD_SPAN_OPEN) != 0;
  node->late_count += (span->flags & RD_SPAN_LATE) != 0;
  node->histogram[bucket_of (ns)]++;
  if (!cut->whole->lanes.at[span->lane].is_async) {
    uint64_t own_ns = rd_subtract (ns, cut->inner_ns[i]);
    uint64_t wait_ns = rd_min_u64 (span->wait_ns, own_ns);
    node->wait_ns += wait_ns;
    node->work_ns += own_ns - wait_ns;
    node->starved_ns += rd_min_u64 (span->starved_ns, own_ns - wait_ns);
  }
  const struct rd_counter *bytes
    = span->nbytes ? counter_of (cut->whole, span->node) : NULL;
  if (!bytes)
    return RADIO_OK;
  RD_TRY (rd_profile_add_counter (cut->run, bytes->name, bytes->unit,
                                  &counter));
  return rd_profile_add_value (cut->run, index, counter, span->nbytes);
}

/*------------------------------------------------------------------------
 * Spans and their texts
 *----------------------------------------------------------------------*/

/* Rows of requests are made again. */
static enum radio_status
lane_of (struct cut *cut, uint32_t lane, uint32_t *new_lane)
{
  const struct rd_lane *old = &cut->whole->lanes.at[lane];
  *new_lane = cut->lanes[lane];
  if (old->is_async || *new_lane != RD_NO_INDEX)
    return RADIO_OK;
  struct rd_lane copy = { .name = old->name, .os_tid = old->os_tid };
  RD_TRY (rd_profile_add_lane (cut->run, &copy, &cut->lanes[lane]));
  *new_lane = cut->lanes[lane];
  return RADIO_OK;
}

static enum radio_status
add_spans (struct cut *cut)
{
  const struct radio_profile *whole = cut->whole;
  uint32_t n = 0;
  for (size_t i = 0; i < whole->spans.n; i++)
    if (is_inside (cut, i))
      cut->new_ids[i] = ++n;
  for (size_t i = 0; i < whole->lanes.n; i++)
    cut->lanes[i] = RD_NO_INDEX;
  for (size_t i = 0; i < whole->spans.n; i++) {
    struct rd_span span = whole->spans.at[i];
    if (!is_inside (cut, i))
      continue;
    RD_TRY (add_figures (cut, i));
    uint32_t above = &whole->spans.at[i] == cut->top
      ? RD_NO_INDEX : rd_span_ids_find (&cut->ids, whole, span.parent);
    span.id = cut->new_ids[i];
    span.parent = above == RD_NO_INDEX ? 0 : cut->new_ids[above];
    span.node = cut->nodes[span.node];
    span.begin_ns = rd_subtract (span.begin_ns, cut->top->begin_ns);
    span.submitted_ns = rd_subtract (span.submitted_ns, cut->top->begin_ns);
    RD_TRY (lane_of (cut, span.lane, &span.lane));
    RD_TRY (rd_profile_add_span (cut->run, &span));
  }
  return RADIO_OK;
}

/* By node and key, in the order of spans. */
static int
compare_notes (const void *a, const void *b)
{
  const struct rd_note *x = a, *y = b;
  int by = rd_compare_u64 (x->node, y->node);
  by = by ? by : strcmp (x->key, y->key);
  return by ? by : rd_compare_u64 (x->span, y->span);
}

/* The texts of the spans, and of each node the first, as recorders do. */
static enum radio_status
add_notes (struct cut *cut)
{
  const struct radio_profile *whole = cut->whole;
  RD_FREE_PLAIN void *memory = NULL;
  size_t n = 0;
  RD_TRY (rd_new_array (whole->notes.n, sizeof (struct rd_note), &memory));
  struct rd_note *notes = memory;
  for (size_t i = 0; i < whole->notes.n; i++) {
    struct rd_note note = whole->notes.at[i];
    uint32_t at = rd_span_ids_find (&cut->ids, whole, note.span);
    if (at == RD_NO_INDEX || !is_inside (cut, at))
      continue;
    note.span = cut->new_ids[at];
    note.node = cut->nodes[whole->spans.at[at].node];
    RD_TRY (rd_profile_add_note (cut->run, &note));
    notes[n++] = note;
  }
  if (n > 1)
    qsort (notes, n, sizeof *notes, compare_notes);
  for (size_t i = 0; i < n;) {
    struct rd_note first = notes[i];
    first.span = 0;
    for (; i < n && notes[i].node == first.node
           && strcmp (notes[i].key, first.key) == 0; i++) {
      first.varies |= strcmp (notes[i].value, first.value) != 0;
      first.is_name |= notes[i].is_name;
    }
    RD_TRY (rd_profile_add_note (cut->run, &first));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The rest
 *----------------------------------------------------------------------*/

static enum radio_status
add_samples (struct cut *cut)
{
  const uint64_t begin = cut->top->begin_ns, end = end_of (cut->top);
  for (size_t i = 0; i < cut->whole->samples.n; i++) {
    struct rd_sample sample = cut->whole->samples.at[i];
    const struct rd_counter *gauge = &cut->whole->gauges.at[sample.gauge];
    if (sample.time_ns < begin || sample.time_ns > end)
      continue;
    sample.time_ns -= begin;
    RD_TRY (rd_profile_add_gauge (cut->run, gauge->name, gauge->unit,
                                  &sample.gauge));
    RD_TRY (rd_profile_add_sample (cut->run, &sample));
  }
  return RADIO_OK;
}

static enum radio_status
add_facts (struct cut *cut)
{
  for (size_t i = 0; i < cut->whole->facts.n; i++) {
    const struct rd_fact *fact = &cut->whole->facts.at[i];
    if (!rd_find_fact_rule (fact->key)->is_of_whole)
      RD_TRY (rd_profile_add_fact (cut->run, fact->key, fact->value,
                                   fact->is_name));
  }
  /* A ring that turned during the run lost a part of it. */
  uint64_t lost_ns = rd_subtract (
    rd_profile_number (cut->whole, RD_FACT_RING_BEGIN), cut->top->begin_ns);
  return lost_ns ? rd_profile_add_number (cut->run, RD_FACT_RING_BEGIN,
                                          lost_ns)
                 : RADIO_OK;
}

static enum radio_status
set_info (struct cut *cut)
{
  const struct radio_profile_info *from = &cut->whole->info;
  struct radio_profile_info *to = &cut->run->info;
  const char *name = cut->whole->nodes.at[cut->top->node].name;
  size_t room = strlen (from->title) + strlen (name) + sizeof ": ";
  RD_FREE_PLAIN char *title = malloc (room);
  if (!title)
    return rd_fail_memory (room);
  snprintf (title, room, "%s: %s", from->title, name);
  RD_TRY (rd_profile_set_string (cut->run, title, &to->title));
  RD_TRY (rd_profile_set_string (cut->run, from->program, &to->program));
  RD_TRY (rd_profile_set_string (cut->run, from->clock, &to->clock));
  to->started_unix_ns = from->started_unix_ns
                        ? rd_sum (from->started_unix_ns, cut->top->begin_ns)
                        : 0;
  to->scope_cost_ns = from->scope_cost_ns;
  return RADIO_OK;
}

static enum radio_status
fill (struct cut *cut, uint32_t span_id)
{
  const struct radio_profile *whole = cut->whole;
  const size_t n = whole->spans.n;
  void *places, *inner, *covered, *new_ids, *nodes, *lanes;
  RD_TRY (rd_span_ids_make (whole, &cut->ids));
  uint32_t at = rd_span_ids_find (&cut->ids, whole, span_id);
  if (at == RD_NO_INDEX)
    return rd_fail (RADIO_ERROR_ARGUMENT, "no span has the id %u",
                    (unsigned) span_id);
  cut->top = &whole->spans.at[at];
  RD_TRY (rd_new_array (n, sizeof *cut->places, &places));
  cut->places = places;
  RD_TRY (rd_new_array (n, sizeof *cut->inner_ns, &inner));
  cut->inner_ns = inner;
  RD_TRY (rd_new_array (n, sizeof *cut->covered_ns, &covered));
  cut->covered_ns = covered;
  RD_TRY (rd_new_array (n, sizeof *cut->new_ids, &new_ids));
  cut->new_ids = new_ids;
  RD_TRY (rd_new_array (whole->nodes.n, sizeof *cut->nodes, &nodes));
  cut->nodes = nodes;
  RD_TRY (rd_new_array (whole->lanes.n, sizeof *cut->lanes, &lanes));
  cut->lanes = lanes;

  rd_span_find_descendants (whole, &cut->ids, at, cut->places);
  RD_TRY (sum_inner (cut));
  RD_TRY (rd_span_sum_covered (whole, &cut->ids,
                               (size_t) (cut->top - whole->spans.at),
                               cut->places, cut->covered_ns));
  RD_TRY (set_info (cut));
  RD_TRY (add_nodes (cut));
  RD_TRY (add_spans (cut));
  RD_TRY (add_notes (cut));
  RD_TRY (add_samples (cut));
  return add_facts (cut);
}

enum radio_status
rd_profile_of_run (const struct radio_profile *whole, uint32_t span_id,
                   struct radio_profile **run)
{
  RD_PROFILE_SCOPE struct radio_profile *new = NULL;
  RD_CLEANUP (free_cut) struct cut cut = { .whole = whole };
  RD_TRY (rd_profile_new (&new));
  cut.run = new;
  RD_TRY (fill (&cut, span_id));
  *run = RD_STEAL (new);
  return RADIO_OK;
}
