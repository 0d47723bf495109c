/* SPDX-License-Identifier: MIT */
/* Chrome's trace events, as JSON: a timeline for Perfetto and
 * chrome://tracing, which speedscope imports as well.
 *
 * A span is one X event on its thread, or on the row of requests that it was
 * given, so that events of a tid overlap only by nesting.  Work that was
 * handed off has an arrow (s and f) from the span that submitted it.  Events
 * without a time of their own still have "ts", which speedscope demands.
 * Times are in microseconds with three decimals: whole nanoseconds, and more
 * decimals where events of one nanosecond have to be in order.  They count
 * from the recording's start, which "baseTimeNanoseconds" has on the real-time
 * clock, as PyTorch's traces have theirs.
 *
 * PyTorch (Kineto) counts from a moment that all its traces of some three
 * months have in common, so that events of several can be put into one file as
 * they are.  The second form does the same; its times are too large for more
 * decimals than three, but some of its durations have more. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <radio/profile.h>

#include "src/base/alloc.h"
#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "profiler/export/chrome.h"
#include "profiler/export/export.h"
#include "profiler/export/nest.h"
#include "profiler/model/sum.h"

struct state {
  const struct radio_profile *profile;
  struct rd_writer *writer;
  uint64_t *tids;             /* of lanes */
  uint64_t *pids;             /* of parts */
  uint64_t offset_ns;         /* added to all times */
  uint32_t *by_id;            /* indexes of spans, in the order of ids */
  struct rd_shift *shifts;
  bool is_kineto;
  bool arguments;
  bool first_event;
};

/* An arrow to a span; both times lie within the spans that it joins. */
struct flow {
  uint32_t from_lane;
  uint64_t from_ns;
  uint64_t to_ns;
};

/*------------------------------------------------------------------------
 * Numbers of threads and processes
 *----------------------------------------------------------------------*/

/* Linux has no larger numbers; those above are for lanes without one.  They
 * stay below 2^32, where some tools end. */
#define FIRST_MADE_UP ((uint64_t) 1 << 22)

struct id_entry {
  uint64_t id;
  uint32_t index;
};

static int
compare_ids (const void *pa, const void *pb)
{
  const struct id_entry *a = pa, *b = pb;
  if (a->id != b->id)
    return a->id < b->id ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

/* Turns n numbers of the operating system, so that they can be found in other
 * tools, into numbers that are all different, and none 0: another one where
 * two are the same (on two hosts), or none is known. */
static enum radio_status
make_distinct (uint64_t *numbers, size_t n)
{
  RD_FREE struct id_entry *entries = rd_calloc (n + 1, sizeof *entries);
  if (entries == NULL)
    return rd_fail_memory ((n + 1) * sizeof *entries);
  for (size_t i = 0; i < n; i++)
    entries[i] = (struct id_entry) { numbers[i], (uint32_t) i };
  qsort (entries, n, sizeof *entries, compare_ids);
  for (size_t i = 0; i < n; i++) {
    bool usable = entries[i].id > 0 && entries[i].id < FIRST_MADE_UP;
    bool again = i > 0 && entries[i].id == entries[i - 1].id;
    if (!usable || again)
      numbers[entries[i].index] = FIRST_MADE_UP + entries[i].index;
  }
  return RADIO_OK;
}

/* A process is a rank, or the whole. */
static size_t
count_processes (const struct radio_profile *profile)
{
  return profile->info.parts == RADIO_PARTS_RANKS ? profile->parts.n : 1;
}

static enum radio_status
make_numbers (struct state *state)
{
  const struct radio_profile *profile = state->profile;
  size_t nlanes = profile->lanes.n, nprocesses = count_processes (profile);
  state->tids = rd_calloc (nlanes + 1, sizeof *state->tids);
  state->pids = rd_calloc (nprocesses + 1, sizeof *state->pids);
  if (state->tids == NULL || state->pids == NULL)
    return rd_fail_memory ((nlanes + nprocesses) * sizeof *state->tids);
  for (size_t i = 0; i < nlanes; i++)
    state->tids[i] = profile->lanes.at[i].os_tid;
  for (size_t i = 0; i < nprocesses; i++)
    state->pids[i] = profile->parts.at[i].pid;
  RD_TRY (make_distinct (state->tids, nlanes));
  return make_distinct (state->pids, nprocesses);
}

/*------------------------------------------------------------------------
 * Finding the ends of arrows.
 *
 * A reader gives an arrow's end to the innermost span that is open on the
 * thread at its time.  Perfetto takes a span for open until the next one of
 * the thread begins, so an arrow drawn at the true time, after some child of
 * the submitter has ended, would come out of that child.  Therefore an end
 * must be before the next begin on its lane: at the true time if that is, else
 * at the latest time that is.
 *----------------------------------------------------------------------*/

static enum radio_status
sort_by_id (const struct radio_profile *profile, uint32_t **by_id)
{
  size_t n = profile->spans.n;
  RD_FREE struct id_entry *entries = rd_calloc (n + 1, sizeof *entries);
  *by_id = rd_calloc (n + 1, sizeof **by_id);
  if (entries == NULL || *by_id == NULL)
    return rd_fail_memory ((n + 1) * sizeof *entries);
  for (size_t i = 0; i < n; i++)
    entries[i] = (struct id_entry) { profile->spans.at[i].id, (uint32_t) i };
  qsort (entries, n, sizeof *entries, compare_ids);
  for (size_t i = 0; i < n; i++)
    (*by_id)[i] = entries[i].index;
  return RADIO_OK;
}

/* The last moment at which a span is the innermost of its lane for every
 * reader: before its end, and before what begins next.  Its beginning, when the
 * next one begins with it, since there is no such moment then. */
static uint64_t
latest_moment (const struct radio_profile *profile,
               const struct rd_span *span)
{
  uint64_t limit = rd_span_end (span);
  size_t next = (size_t) (span - profile->spans.at) + 1;
  if (next < profile->spans.n
      && profile->spans.at[next].lane == span->lane)
    limit = rd_min_u64 (limit, profile->spans.at[next].begin_ns);
  return limit > span->begin_ns ? limit - 1 : span->begin_ns;
}

static uint64_t
clamp (uint64_t value, uint64_t low, uint64_t high)
{
  return rd_max_u64 (low, rd_min_u64 (value, high));
}

/* An arrow may not go back in time, not even by the little by which the
 * clocks of two processors differ. */
static bool
find_flow (const struct state *state, const struct rd_span *span,
           struct flow *flow)
{
  const struct radio_profile *profile = state->profile;
  const struct rd_span *spans = profile->spans.at;
  enum radio_edge edge = profile->nodes.at[span->node].edge;
  if (span->parent == 0
      || (edge != RADIO_EDGE_HANDOFF && edge != RADIO_EDGE_ASYNC))
    return false;

  size_t low = 0, high = profile->spans.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (spans[state->by_id[middle]].id < span->parent)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == profile->spans.n
      || spans[state->by_id[low]].id != span->parent)
    return false;
  const struct rd_span *parent = &spans[state->by_id[low]];
  if (parent->lane == span->lane && span->begin_ns <= rd_span_end (parent))
    return false;

  flow->from_lane = parent->lane;
  flow->from_ns = clamp (span->submitted_ns, parent->begin_ns,
                         latest_moment (profile, parent));
  flow->to_ns = clamp (flow->from_ns, span->begin_ns,
                       latest_moment (profile, span));
  return flow->from_ns <= flow->to_ns;
}

/*------------------------------------------------------------------------
 * Shifts that order the events of one nanosecond
 *----------------------------------------------------------------------*/

#define STEP_PS 100           /* between two events, if there is room */
#define ROOM_PS 248           /* to either side: less than a quarter */

struct event {
  size_t span;
  bool is_end;
};

/* The events of one nanosecond so far. */
struct group {
  const struct radio_profile *profile;
  struct rd_shift *shifts;
  uint64_t time_ns;
  enum radio_status status;
  struct rd_buffer *events;   /* of struct event */
};

/* Two that begin together need no different times: readers put the longer
 * one first. */
static bool
is_step (const struct event *before, const struct event *after)
{
  return before->is_end || after->is_end;
}

static void
finish_group (struct group *group)
{
  const struct event *events = (const void *) group->events->data;
  size_t n = group->events->nbytes / sizeof *events;

  /* The first event that begins, or else the last that ends, keeps its
   * time. */
  int steps = 0, steps_to_anchor = 0;
  bool is_before_anchor = true;
  for (size_t i = 1; i < n; i++) {
    steps += is_step (&events[i - 1], &events[i]);
    is_before_anchor = is_before_anchor && events[i - 1].is_end;
    if (is_before_anchor)
      steps_to_anchor = steps;
  }

  int step_ps = steps * STEP_PS <= ROOM_PS ? STEP_PS : ROOM_PS / steps;
  int at = -steps_to_anchor;
  for (size_t i = 0; i < n; i++) {
    if (i > 0)
      at += is_step (&events[i - 1], &events[i]);
    struct rd_shift *shift = &group->shifts[events[i].span];
    if (events[i].is_end)
      shift->end_ps = (int16_t) (at * step_ps);
    else
      shift->begin_ps = (int16_t) (at * step_ps);
  }
  group->events->nbytes = 0;
}

static void
add_event (struct group *group, const struct rd_span *span,
           uint64_t time_ns, bool is_end)
{
  struct event event = {
    (size_t) (span - group->profile->spans.at), is_end
  };
  if (group->profile->nodes.at[span->node].edge == RADIO_EDGE_INSTANT)
    return;
  if (time_ns != group->time_ns && group->events->nbytes > 0)
    finish_group (group);
  group->time_ns = time_ns;
  if (group->status == RADIO_OK)
    group->status = rd_buffer_append (group->events, &event, sizeof event);
}

static void
enter (const struct rd_span *span, uint64_t end_ns, void *context)
{
  (void) end_ns;
  add_event (context, span, span->begin_ns, false);
}

static void
leave (const struct rd_span *span, uint64_t end_ns, void *context)
{
  add_event (context, span, end_ns, true);
}

enum radio_status
rd_shifts_make (const struct radio_profile *profile,
                struct rd_shift **shifts)
{
  size_t nspans = profile->spans.n;
  RD_FREE struct rd_shift *made = rd_calloc (nspans + 1, sizeof *made);
  if (made == NULL)
    return rd_fail_memory ((nspans + 1) * sizeof *made);
  RD_BUFFER_SCOPE struct rd_buffer events = { 0 };
  struct group group = {
    .profile = profile, .shifts = made, .events = &events
  };
  for (size_t i = 0, n; i < nspans; i += n) {
    n = rd_nest_lane_length (profile, i);

    const struct rd_nest_visitor visitor = { enter, leave, &group };
    RD_TRY (rd_nest_visit (&group.profile->spans.at[i], n, &visitor));
    RD_TRY (group.status);
    if (events.nbytes > 0)
      finish_group (&group);
  }
  *shifts = RD_STEAL (made);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Events
 *----------------------------------------------------------------------*/

/* Numbers that every reader of JSON keeps exactly. */
#define MAX_EXACT ((uint64_t) 1 << 53)

/* A string with as few escapes as JSON allows: Perfetto shows "\u003c" as
 * it stands.  Texts of a profile are UTF-8 without control characters. */
static void
write_string (struct state *state, const char *text)
{
  rd_write_text (state->writer, "\"");
  for (size_t n; *text != '\0'; text += n) {
    n = strcspn (text, "\"\\");
    rd_write_bytes (state->writer, text, n);
    if (text[n] != '\0')
      rd_write_bytes (state->writer, (char[]) { '\\', text[n++] }, 2);
  }
  rd_write_text (state->writer, "\"");
}

static void
begin_event (struct state *state, char phase, const char *name)
{
  rd_write_text (state->writer, state->first_event ? "\n" : ",\n");
  state->first_event = false;
  rd_write_format (state->writer, "{\"ph\":\"%c\",\"name\":", phase);
  write_string (state, name);
}

static void
write_time (struct state *state, const char *key, uint64_t ns)
{
  rd_write_format (state->writer, ",\"%s\":", key);
  rd_write_us (state->writer, ns);
}

static void
write_moment (struct state *state, uint64_t ns)
{
  write_time (state, "ts", rd_sum (ns, state->offset_ns));
}

/* The same with picoseconds, of which there are mostly none. */
static void
write_fine_time (struct state *state, const char *key, uint64_t ns, int ps)
{
  if (ps < 0 && ns > 0) {
    ns--;
    ps += 1000;
  }
  write_time (state, key, ns);
  if (ps > 0)
    rd_write_format (state->writer, "%03d", ps);
}

/* A time in microseconds, as readers have it after parsing. */
static double
as_read (uint64_t ns)
{
  return (double) (ns / 1000) + (double) (ns % 1000) / 1e3;
}

/* Added to a duration.  Some readers add ts and dur as doubles, which are up to
 * a nanosecond apart at times since Kineto's base: where the sum is not the
 * end, this corrects it, so that equal ends stay equal.  Others round to
 * nanoseconds, and must still find the right one. */
static int
kineto_shift_ps (const struct state *state, uint64_t begin_ns, uint64_t end_ns)
{
  double begin_us = as_read (rd_sum (begin_ns, state->offset_ns));
  double end_us = as_read (rd_sum (end_ns, state->offset_ns));
  uint64_t ns = end_ns - begin_ns;
  if (begin_us + as_read (ns) == end_us)
    return 0;
  double ps = ((end_us - begin_us) * 1e3 - (double) ns) * 1e3;
  return (int) fmax (-497, fmin (ps, 497));
}

static void
write_process (struct state *state, size_t process)
{
  rd_write_text (state->writer, ",\"pid\":");
  rd_write_u64 (state->writer, state->pids[process]);
}

static void
write_place (struct state *state, uint32_t lane)
{
  const struct radio_profile *profile = state->profile;
  bool is_ranks = profile->info.parts == RADIO_PARTS_RANKS;
  write_process (state, is_ranks ? profile->lanes.at[lane].part : 0);
  rd_write_text (state->writer, ",\"tid\":");
  rd_write_u64 (state->writer, state->tids[lane]);
}

static void
write_category (struct state *state, const char *category)
{
  rd_write_text (state->writer, ",\"cat\":");
  write_string (state, category);
}

static void
write_names (struct state *state)
{
  const struct radio_profile *profile = state->profile;
  bool is_ranks = profile->info.parts == RADIO_PARTS_RANKS;
  const char *title = profile->info.title;
  for (unsigned i = 0; i < count_processes (profile); i++) {
    begin_event (state, 'M', "process_name");
    write_moment (state, 0);
    write_process (state, i);
    rd_write_text (state->writer, ",\"args\":{\"name\":");
    write_string (state, is_ranks   ? profile->parts.at[i].name
                         : title[0] ? title : profile->info.program);
    rd_write_text (state->writer, "}}");
    begin_event (state, 'M', "process_sort_index");
    write_moment (state, 0);
    write_process (state, i);
    rd_write_format (state->writer, ",\"args\":{\"sort_index\":%u}}", i + 1);
  }

  for (uint32_t i = 0; i < profile->lanes.n; i++) {
    /* Without the name of its rank in front, which joining puts there. */
    const struct rd_lane *lane = &profile->lanes.at[i];
    const char *part = profile->parts.at[lane->part].name;
    const char *name = lane->name;
    if (is_ranks && strncmp (name, part, strlen (part)) == 0
        && strncmp (name + strlen (part), ": ", 2) == 0)
      name += strlen (part) + 2;
    begin_event (state, 'M', "thread_name");
    write_moment (state, 0);
    write_place (state, i);
    rd_write_text (state->writer, ",\"args\":{\"name\":");
    write_string (state, name);
    rd_write_text (state->writer, "}}");
    begin_event (state, 'M', "thread_sort_index");
    write_moment (state, 0);
    write_place (state, i);
    rd_write_format (state->writer, ",\"args\":{\"sort_index\":%u}}",
                     (unsigned) i);
  }
}

/*------------------------------------------------------------------------
 * Spans
 *----------------------------------------------------------------------*/

static void
write_key (struct state *state, bool *first, const char *key)
{
  rd_write_text (state->writer, *first ? ",\"args\":{" : ",");
  *first = false;
  write_string (state, key);
  rd_write_text (state->writer, ":");
}

static void
write_number_argument (struct state *state, bool *first, const char *key,
                       uint64_t value)
{
  if (value == 0)
    return;
  const char *quote = value > MAX_EXACT ? "\"" : "";
  write_key (state, first, key);
  rd_write_text (state->writer, quote);
  rd_write_u64 (state->writer, value);
  rd_write_text (state->writer, quote);
}

/* True if the span has the number of a step. */
static bool
is_numbered (const struct state *state, const struct rd_span *span)
{
  const char *category = state->profile->nodes.at[span->node].category;
  return span->tile != 0 && strcmp (category, RADIO_STEP_CATEGORY) == 0;
}

/* The texts of a span, then other data that only this run has. */
static void
write_arguments (struct state *state, const struct rd_span *span)
{
  const struct radio_profile *profile = state->profile;
  const struct rd_note *notes = profile->notes.at;
  size_t low = 0, high = profile->notes.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (notes[middle].span < span->id)
      low = middle + 1;
    else
      high = middle;
  }
  bool first = true;
  for (; low < profile->notes.n && notes[low].span == span->id; low++) {
    write_key (state, &first, notes[low].key);
    write_string (state, notes[low].value);
  }
  if (is_numbered (state, span)) {
    write_key (state, &first, RADIO_STEP_CATEGORY);
    rd_write_format (state->writer, "\"%" PRIu64 "\"", span->tile - 1);
  }
  write_number_argument (state, &first, "bytes", span->nbytes);
  write_number_argument (state, &first, "wait_ns", span->wait_ns);
  write_number_argument (state, &first, "no_cpu_ns", span->starved_ns);
  if (span->submitted_ns < span->begin_ns)
    write_number_argument (state, &first, "queued_ns",
                           span->begin_ns - span->submitted_ns);
  write_number_argument (state, &first, "open",
                         (span->flags & RD_SPAN_OPEN) != 0);
  write_number_argument (state, &first, "late",
                         (span->flags & RD_SPAN_LATE) != 0);
  if (!first)
    rd_write_text (state->writer, "}");
}

static void
write_flow_end (struct state *state, char phase, const struct rd_span *span,
                uint32_t lane, uint64_t time_ns)
{
  begin_event (state, phase, "handed on");
  rd_write_format (state->writer, ",\"id\":\"0x%x\"", (unsigned) span->id);
  write_category (state, "flow");
  write_moment (state, time_ns);
  write_place (state, lane);
  rd_write_text (state->writer, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

static void
write_span (const struct rd_span *span, uint64_t end_ns, void *context)
{
  struct state *state = context;
  const struct radio_profile_node *node =
    &state->profile->nodes.at[span->node];
  bool instant = node->edge == RADIO_EDGE_INSTANT;
  char name[40];
  snprintf (name, sizeof name, "ProfilerStep#%" PRIu64, span->tile - 1);
  bool is_named = state->is_kineto && is_numbered (state, span);
  begin_event (state, instant ? 'i' : 'X', is_named ? name : node->name);
  /* The readers of PyTorch's traces know its categories alone, and steps by
   * this name.  The plug-in lists and sums spans of this one only. */
  write_category (state, state->is_kineto ? "cpu_op" : node->category);
  struct rd_shift shift = { 0 };
  if (state->shifts != NULL)
    shift = state->shifts[span - state->profile->spans.at];
  write_fine_time (state, "ts", rd_sum (span->begin_ns, state->offset_ns),
                   shift.begin_ps);
  if (instant)
    rd_write_text (state->writer, ",\"s\":\"t\"");
  else
    write_fine_time (state, "dur", end_ns - span->begin_ns,
                     state->is_kineto
                     ? kineto_shift_ps (state, span->begin_ns, end_ns)
                     : shift.end_ps - shift.begin_ps);
  write_place (state, span->lane);
  if (state->arguments)
    write_arguments (state, span);
  rd_write_text (state->writer, "}");
  struct flow flow;
  if (!instant && find_flow (state, span, &flow)) {
    /* Both ends together: at equal times readers keep the file's order. */
    write_flow_end (state, 's', span, flow.from_lane, flow.from_ns);
    write_flow_end (state, 'f', span, span->lane, flow.to_ns);
  }
}

static void
free_state (struct state *state)
{
  rd_free (state->tids);
  rd_free (state->pids);
  rd_free (state->by_id);
  rd_free (state->shifts);
}

/* Times count from base_ns on the real-time clock, which is not after the
 * start. */
static enum radio_status
write_trace (const struct radio_profile *profile, uint64_t base_ns,
             bool is_kineto,
             const struct radio_profile_write_options *options,
             struct rd_writer *writer)
{
  RD_CLEANUP (free_state) struct state state = {
    .profile = profile,
    .writer = writer,
    .is_kineto = is_kineto,
    .arguments = options != NULL && options->arguments,
    .first_event = true,
    .offset_ns = profile->info.started_unix_ns - base_ns,
  };
  RD_TRY (make_numbers (&state));
  RD_TRY (sort_by_id (profile, &state.by_id));
  if (!is_kineto)
    RD_TRY (rd_shifts_make (profile, &state.shifts));

  rd_write_text (writer, is_kineto ? "{\"schemaVersion\":1,\"traceEvents\":["
                                   : "{\"traceEvents\":[");
  write_names (&state);

  const struct rd_nest_visitor visitor = { write_span, NULL, &state };
  for (size_t i = 0, n; i < profile->spans.n; i += n) {
    n = rd_nest_lane_length (profile, i);
    RD_TRY (rd_nest_visit (&profile->spans.at[i], n, &visitor));
  }

  for (size_t i = 0; i < profile->samples.n; i++) {
    const struct rd_sample *sample = &profile->samples.at[i];
    const struct rd_counter *gauge = &profile->gauges.at[sample->gauge];
    begin_event (&state, 'C', gauge->name);
    write_moment (&state, sample->time_ns);
    write_process (&state, 0);
    rd_write_text (writer, ",\"args\":{");
    write_string (&state, gauge->unit);
    rd_write_text (writer, ":");
    rd_write_i64 (writer, sample->value);
    rd_write_text (writer, "}}");
  }

  const struct radio_profile_info *info = &profile->info;
  rd_write_format (writer, "],\n\"displayTimeUnit\":\"%s\",\n"
                   "\"baseTimeNanoseconds\":", is_kineto ? "ms" : "ns");
  rd_write_u64 (writer, base_ns);
  rd_write_text (writer, ",\n\"otherData\":{\"exporter\":\"radio "
                         PACKAGE_VERSION "\",\"title\":");
  write_string (&state, info->title);
  rd_write_text (writer, ",\"program\":");
  write_string (&state, info->program);
  rd_write_text (writer, ",\"clock\":");
  write_string (&state, info->clock);
  rd_write_text (writer, ",\"started_unix_ns\":\"");
  rd_write_u64 (writer, info->started_unix_ns);
  rd_write_text (writer, "\",\"dropped_spans\":\"");
  rd_write_u64 (writer, info->dropped_count);
  rd_write_text (writer, "\",\"work_ns\":\"");
  rd_write_u64 (writer, info->work_ns);
  rd_write_text (writer, "\",\"no_cpu_ns\":\"");
  rd_write_u64 (writer, info->starved_ns);
  rd_write_text (writer, "\"}}\n");
  return rd_writer_end (writer);
}

enum radio_status
rd_export_chrome (const struct radio_profile *profile,
                  const struct radio_profile_write_options *options,
                  struct rd_writer *writer)
{
  return write_trace (profile, profile->info.started_unix_ns, false, options,
                      writer);
}

/* Kineto's origin of time: multiples of a quarter of a year since 1970. */
#define QUARTER_NS ((uint64_t) 7889238 * 1000000000)

enum radio_status
rd_export_kineto (const struct radio_profile *profile,
                  const struct radio_profile_write_options *options,
                  struct rd_writer *writer)
{
  uint64_t started = profile->info.started_unix_ns;
  return write_trace (profile, started - started % QUARTER_NS, true, options,
                      writer);
}
