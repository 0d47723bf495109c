/* SPDX-License-Identifier: MIT */
/* Chrome's trace events, as JSON: what Perfetto and chrome://tracing show as
 * a timeline, and speedscope imports.
 *
 * A span is one X event on its thread, or on the row of requests that it was
 * laid into, so that nothing overlaps on a tid but by nesting.  Work that was
 * handed on has an arrow (s and f) from the span that submitted it.  Events
 * without a time of their own still have "ts", which speedscope demands.
 * Times are in microseconds with three decimals: whole nanoseconds, and with
 * some more where it matters what of one nanosecond comes first. */
#include <config.h>

#include <string.h>

#include "profiler/export/chrome-flow.h"
#include "profiler/export/chrome-times.h"
#include "profiler/export/export.h"
#include "profiler/export/lanes.h"
#include "profiler/export/nest.h"

/* Numbers that every reader of JSON keeps exactly. */
#define MAX_EXACT ((uint64_t) 1 << 53)

struct state {
  const struct radio_profile *profile;
  struct rd_writer *writer;
  const struct rd_lane_ids *ids;
  const struct rd_flows *flows;
  const struct rd_shift *shifts;
  bool arguments;
  bool first_event;
};

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

static void
write_place (struct state *state, uint32_t lane)
{
  rd_write_format (state->writer, ",\"pid\":%u,\"tid\":",
                   rd_lane_pid (state->profile, lane));
  rd_write_u64 (state->writer, state->ids->tid[lane]);
}

static void
write_category (struct state *state, const char *category)
{
  rd_write_text (state->writer, ",\"cat\":");
  write_string (state, category);
}

/*------------------------------------------------------------------------
 * Names of processes and threads
 *----------------------------------------------------------------------*/

/* A process is a rank, or the whole. */
static void
write_process (struct state *state, unsigned pid, const char *name)
{
  begin_event (state, 'M', "process_name");
  rd_write_format (state->writer,
                   ",\"ts\":0,\"pid\":%u,\"args\":{\"name\":", pid);
  write_string (state, name);
  rd_write_text (state->writer, "}}");
  begin_event (state, 'M', "process_sort_index");
  rd_write_format (state->writer, ",\"ts\":0,\"pid\":%u,"
                   "\"args\":{\"sort_index\":%u}}", pid, pid);
}

static void
write_processes (struct state *state)
{
  const struct radio_profile *profile = state->profile;
  if (profile->info.parts != RADIO_PARTS_RANKS) {
    const char *title = profile->info.title;
    write_process (state, 1, title[0] ? title : profile->info.program);
    return;
  }
  for (size_t i = 0; i < profile->parts.n; i++)
    write_process (state, (unsigned) i + 1, profile->parts.at[i].name);
}

static void
write_thread (struct state *state, uint32_t lane)
{
  begin_event (state, 'M', "thread_name");
  rd_write_text (state->writer, ",\"ts\":0");
  write_place (state, lane);
  rd_write_text (state->writer, ",\"args\":{\"name\":");
  write_string (state, rd_lane_short_name (state->profile, lane));
  rd_write_text (state->writer, "}}");
  begin_event (state, 'M', "thread_sort_index");
  rd_write_text (state->writer, ",\"ts\":0");
  write_place (state, lane);
  rd_write_format (state->writer, ",\"args\":{\"sort_index\":%u}}",
                   (unsigned) lane);
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

/* The texts of a span, then what else is known of this run only. */
static void
write_arguments (struct state *state, const struct rd_span *span)
{
  const struct radio_profile *profile = state->profile;
  bool first = true;
  for (size_t i = rd_lanes_first_note (profile, span->id);
       i < profile->notes.n && profile->notes.at[i].span == span->id; i++) {
    write_key (state, &first, profile->notes.at[i].key);
    write_string (state, profile->notes.at[i].value);
  }
  write_number_argument (state, &first, "bytes", span->nbytes);
  write_number_argument (state, &first, "wait_ns", span->wait_ns);
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
  write_time (state, "ts", time_ns);
  write_place (state, lane);
  rd_write_text (state->writer, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* Both ends at once: at equal times readers go by the order of the file. */
static void
write_flow (struct state *state, const struct rd_span *span)
{
  struct rd_flow flow;
  if (!rd_flows_find (state->flows, span, &flow))
    return;
  write_flow_end (state, 's', span, flow.from_lane, flow.from_ns);
  write_flow_end (state, 'f', span, span->lane, flow.to_ns);
}

static void
write_span (const struct rd_span *span, uint64_t end_ns, void *context)
{
  struct state *state = context;
  const struct radio_profile_node *node =
    &state->profile->nodes.at[span->node];
  bool instant = node->edge == RADIO_EDGE_INSTANT;
  begin_event (state, instant ? 'i' : 'X', node->name);
  write_category (state, node->category);
  const struct rd_shift *shift =
    &state->shifts[span - state->profile->spans.at];
  write_fine_time (state, "ts", span->begin_ns, shift->begin_ps);
  if (instant)
    rd_write_text (state->writer, ",\"s\":\"t\"");
  else
    write_fine_time (state, "dur", end_ns - span->begin_ns,
                     shift->end_ps - shift->begin_ps);
  write_place (state, span->lane);
  if (state->arguments)
    write_arguments (state, span);
  rd_write_text (state->writer, "}");
  if (!instant)
    write_flow (state, span);
}

static enum radio_status
write_spans (struct state *state)
{
  const struct radio_profile *profile = state->profile;
  const struct rd_nest_visitor visitor = { write_span, NULL, state };
  for (size_t i = 0, n; i < profile->spans.n; i += n) {
    n = rd_nest_lane_length (profile, i);
    RD_TRY (rd_nest_visit (&profile->spans.at[i], n, &visitor));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Gauges, and the rest of the file
 *----------------------------------------------------------------------*/

static void
write_samples (struct state *state)
{
  const struct radio_profile *profile = state->profile;
  for (size_t i = 0; i < profile->samples.n; i++) {
    const struct rd_sample *sample = &profile->samples.at[i];
    const struct rd_counter *gauge = &profile->gauges.at[sample->gauge];
    begin_event (state, 'C', gauge->name);
    write_time (state, "ts", sample->time_ns);
    rd_write_text (state->writer, ",\"pid\":1,\"args\":{");
    write_string (state, gauge->unit);
    rd_write_text (state->writer, ":");
    rd_write_i64 (state->writer, sample->value);
    rd_write_text (state->writer, "}}");
  }
}

static void
write_tail (struct state *state)
{
  const struct radio_profile_info *info = &state->profile->info;
  struct rd_writer *writer = state->writer;
  rd_write_text (writer, "],\n\"displayTimeUnit\":\"ns\",\n"
                         "\"otherData\":{\"exporter\":\"radio "
                         PACKAGE_VERSION "\",\"title\":");
  write_string (state, info->title);
  rd_write_text (writer, ",\"program\":");
  write_string (state, info->program);
  rd_write_text (writer, ",\"clock\":");
  write_string (state, info->clock);
  rd_write_text (writer, ",\"started_unix_ns\":\"");
  rd_write_u64 (writer, info->started_unix_ns);
  rd_write_text (writer, "\",\"dropped_spans\":\"");
  rd_write_u64 (writer, info->dropped_count);
  rd_write_text (writer, "\"}}\n");
}

static enum radio_status
write_events (struct state *state)
{
  rd_write_text (state->writer, "{\"traceEvents\":[");
  write_processes (state);
  for (uint32_t i = 0; i < state->profile->lanes.n; i++)
    write_thread (state, i);
  RD_TRY (write_spans (state));
  write_samples (state);
  write_tail (state);
  return rd_writer_end (state->writer);
}

enum radio_status
rd_export_chrome (const struct radio_profile *profile,
                  const struct radio_profile_write_options *options,
                  struct rd_writer *writer)
{
  RD_LANE_IDS_SCOPE struct rd_lane_ids ids = { 0 };
  RD_FLOWS_SCOPE struct rd_flows flows = { 0 };
  RD_TRY (rd_lane_ids_make (profile, &ids));
  RD_FREE struct rd_shift *shifts = NULL;
  RD_TRY (rd_flows_make (profile, &flows));
  RD_TRY (rd_shifts_make (profile, &shifts));
  struct state state = {
    .profile = profile,
    .writer = writer,
    .ids = &ids,
    .flows = &flows,
    .shifts = shifts,
    .arguments = options != NULL && options->arguments,
    .first_event = true,
  };
  return write_events (&state);
}
