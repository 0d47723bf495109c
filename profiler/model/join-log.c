/* SPDX-License-Identifier: MIT */
/* The logs of profiles that are joined: ids are given anew, times moved to
 * where the part stands in the whole. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/model/join.h"
#include "profiler/model/vector.h"

/* Lanes that are looked through for the one to go on in. */
#define MAX_SEARCHED 4096

/* Runs of one process have the same threads: those go on in the same lane.
 * No two lanes of one source do. */
static uint32_t
find_lane (struct rd_join *join, const struct rd_lane *lane)
{
  const struct radio_profile *joined = join->joined;
  for (size_t i = 0; i < join->nreusable; i++) {
    const struct rd_lane *other = &joined->lanes.at[i];
    if (!join->is_reused[i] && other->os_tid == lane->os_tid
        && other->is_async == lane->is_async
        && strcmp (other->name, lane->name) == 0) {
      join->is_reused[i] = true;
      return (uint32_t) i;
    }
  }
  return RD_NO_INDEX;
}

/* Which part of the whole a lane of the source belongs to. */
static uint32_t
part_of (const struct rd_join *join, const struct rd_lane *lane)
{
  bool is_one = join->source->info.parts != join->parts;
  return join->first_part + (is_one ? 0 : lane->part);
}

/* "main", or among ranks "rank 1: main".  A name that has its rank already,
 * from an earlier join, gets the new one. */
static enum radio_status
name_lane (const struct rd_join *join, struct rd_lane *lane, char **name)
{
  if (join->parts != RADIO_PARTS_RANKS)
    return RADIO_OK;
  const char *plain = lane->name;
  if (join->source->info.parts == RADIO_PARTS_RANKS) {
    const char *old = join->source->parts.at[lane->part].name;
    size_t nbytes = strlen (old);
    if (strncmp (plain, old, nbytes) == 0
        && strncmp (plain + nbytes, ": ", 2) == 0)
      plain += nbytes + 2;
  }
  const char *part = join->joined->parts.at[part_of (join, lane)].name;
  size_t nbytes = strlen (part) + strlen (plain) + 3;
  *name = malloc (nbytes);
  if (*name == NULL)
    return rd_fail_memory (nbytes);
  snprintf (*name, nbytes, "%s: %s", part, plain);
  lane->name = *name;
  return RADIO_OK;
}

static enum radio_status
join_lane (struct rd_join *join, size_t i)
{
  struct rd_lane lane = join->source->lanes.at[i];
  RD_FREE_PLAIN char *name = NULL;
  join->lanes[i] = find_lane (join, &lane);
  if (join->lanes[i] != RD_NO_INDEX)
    return RADIO_OK;
  RD_TRY (name_lane (join, &lane, &name));
  lane.part = part_of (join, &lane);
  return rd_profile_add_lane (join->joined, &lane, &join->lanes[i]);
}

/* The new id of span i, and of the span with an old id; 0 for one that the
 * log dropped. */
static uint32_t
new_id (const struct rd_join *join, const struct rd_span_ids *ids,
        uint32_t old)
{
  uint32_t i = rd_span_ids_find (ids, join->source, old);
  return i == RD_NO_INDEX ? 0 : join->next_id + i;
}

static enum radio_status
join_spans (struct rd_join *join, const struct rd_span_ids *ids)
{
  const struct radio_profile *source = join->source;
  if (source->spans.n > RD_NO_INDEX - join->next_id)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "the profiles have more than 2^32 spans together");
  for (size_t i = 0; i < source->spans.n; i++) {
    struct rd_span span = source->spans.at[i];
    span.id = join->next_id + (uint32_t) i;
    span.parent = new_id (join, ids, span.parent);
    span.node = join->nodes[span.node];
    span.lane = join->lanes[span.lane];
    span.begin_ns = rd_sum (span.begin_ns, join->offset_ns);
    span.submitted_ns = rd_sum (span.submitted_ns, join->offset_ns);
    RD_TRY (rd_profile_add_span (join->joined, &span));
  }
  return RADIO_OK;
}

/* The texts of spans that are in the log. */
static enum radio_status
join_notes (struct rd_join *join, const struct rd_span_ids *ids)
{
  const struct radio_profile *source = join->source;
  for (size_t i = 0; i < source->notes.n; i++) {
    struct rd_note note = source->notes.at[i];
    note.span = new_id (join, ids, note.span);
    if (note.span == 0)
      continue;
    if (note.node != RD_NO_INDEX)
      note.node = join->nodes[note.node];
    RD_TRY (rd_profile_add_note (join->joined, &note));
  }
  return RADIO_OK;
}

static enum radio_status
join_samples (struct rd_join *join)
{
  const struct radio_profile *source = join->source;
  for (size_t i = 0; i < source->gauges.n; i++)
    RD_TRY (rd_profile_add_gauge (join->joined, source->gauges.at[i].name,
                                  source->gauges.at[i].unit,
                                  &join->gauges[i]));
  for (size_t i = 0; i < source->samples.n; i++) {
    struct rd_sample sample = source->samples.at[i];
    sample.gauge = join->gauges[sample.gauge];
    sample.time_ns = rd_sum (sample.time_ns, join->offset_ns);
    RD_TRY (rd_profile_add_sample (join->joined, &sample));
  }
  return RADIO_OK;
}

static enum radio_status
join_lanes (struct rd_join *join)
{
  RD_FREE_PLAIN void *is_reused = NULL;
  join->nreusable = join->parts == RADIO_PARTS_RUNS
                    ? rd_min_u64 (join->joined->lanes.n, MAX_SEARCHED) : 0;
  RD_TRY (rd_new_array (join->nreusable, sizeof (bool), &is_reused));
  join->is_reused = is_reused;
  for (size_t i = 0; i < join->source->lanes.n; i++)
    RD_TRY (join_lane (join, i));
  return RADIO_OK;
}

enum radio_status
rd_join_log (struct rd_join *join)
{
  RD_SPAN_IDS_SCOPE struct rd_span_ids ids = { 0 };
  RD_TRY (rd_span_ids_make (join->source, &ids));
  RD_TRY (join_lanes (join));
  RD_TRY (join_spans (join, &ids));
  RD_TRY (join_notes (join, &ids));
  RD_TRY (join_samples (join));
  join->next_id += (uint32_t) join->source->spans.n;
  return RADIO_OK;
}
