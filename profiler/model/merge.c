/* SPDX-License-Identifier: MIT */
/* Merging profiles of runs, which came one after the other, or of ranks,
 * which ran at the same time: one tree, one log, and the share of each part
 * in every node. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/buffer.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

/* The indexes of one source in the joined profile. */
struct merge {
  struct radio_profile *joined;
  const struct radio_profile *source;
  enum radio_profile_parts parts;       /* of the joined one */
  bool is_single;             /* the source is a single part of it, as runs
                                 are a single rank, and ranks a single run */
  uint64_t offset_ns;         /* of the source's beginning */
  uint32_t first_part;        /* the source's first part */
  uint32_t next_id;           /* of spans */
  uint32_t *nodes;            /* [source's] */
  uint32_t *counters;
  uint32_t *lanes;
  uint32_t *gauges;
  size_t nreusable;           /* lanes of earlier runs, that may continue */
  bool *is_reused;            /* [nreusable], while lanes are joined */
};

/*------------------------------------------------------------------------
 * Facts: a few values of those that differ are listed
 *----------------------------------------------------------------------*/

/* The most different values of a fact that are listed. */
#define MAX_VALUES 8

static const struct rd_fact *
find_fact (const struct radio_profile *profile, const char *key)
{
  for (size_t i = 0; i < profile->facts.n; i++)
    if (strcmp (profile->facts.at[i].key, key) == 0)
      return &profile->facts.at[i];
  return NULL;
}

static bool
any_has_fact (struct radio_profile *const *profiles, size_t n, const char *key)
{
  size_t i = 0;
  while (i < n && !find_fact (profiles[i], key))
    i++;
  return i < n;
}

struct host {
  const char *name;
  uint64_t value;
};

/* The largest value of each host first. */
static int
compare_hosts (const void *a, const void *b)
{
  const struct host *x = a, *y = b;
  int by = strcmp (x->name, y->name);
  return by ? by : (x->value < y->value) - (x->value > y->value);
}

/* Sums the largest value of each host.  Parts whose host is unknown count as
 * one host. */
static enum radio_status
add_up_hosts (struct radio_profile *const *sources, size_t n, const char *key,
              uint64_t *sum)
{
  RD_FREE_PLAIN void *memory = NULL;
  RD_TRY (rd_new_array (n, sizeof (struct host), &memory));
  struct host *hosts = memory;
  for (size_t i = 0; i < n; i++) {
    const char *name = rd_profile_find_fact (sources[i], "host");
    hosts[i] = (struct host) {
      name ? name : "", rd_profile_number (sources[i], key)
    };
  }
  qsort (hosts, n, sizeof *hosts, compare_hosts);
  *sum = 0;
  for (size_t i = 0; i < n; i++)
    if (i == 0 || strcmp (hosts[i].name, hosts[i - 1].name) != 0)
      *sum = rd_sum (*sum, hosts[i].value);
  return RADIO_OK;
}

/* "a, b, c", or "a, b, ..." */
static enum radio_status
merge_fact (struct radio_profile *joined,
            struct radio_profile *const *sources, size_t n, const char *key)
{
  const char *values[MAX_VALUES];
  size_t nvalues = 0;
  bool has_more = false, is_name = false;
  bool are_ranks = joined->info.parts == RADIO_PARTS_RANKS;
  /* If it is unknown for some, the sum is a lower bound. */
  bool is_least = strcmp (key, RD_FACT_CPU_LEAST_NS) == 0;
  if (strcmp (key, RD_FACT_CPU_NS) == 0
      && any_has_fact (sources, n, RD_FACT_CPU_UNKNOWN))
    return RADIO_OK;
  enum rd_fact_join join = rd_find_fact_rule (key)->join;
  uint64_t sum = 0, most = 0;
  double all = 0, nparts = 0;
  for (size_t i = 0; i < n; i++) {
    const struct rd_fact *fact = find_fact (sources[i], key);
    if (fact == NULL && is_least)
      fact = find_fact (sources[i], RD_FACT_CPU_NS);
    if (fact == NULL)
      continue;
    sum = rd_sum (sum, rd_parse_digits (fact->value));
    double weight = (double) rd_max_u64 (sources[i]->parts.n, 1);
    all += weight * (double) rd_parse_digits (fact->value);
    nparts += weight;
    most = rd_max_u64 (most, rd_parse_digits (fact->value));
    is_name |= fact->is_name;
    size_t at = 0;
    while (at < nvalues && strcmp (values[at], fact->value) != 0)
      at++;
    if (at == MAX_VALUES)
      has_more = true;
    else if (at == nvalues)
      values[nvalues++] = fact->value;
  }
  if (join == RD_JOIN_MACHINES && are_ranks)
    RD_TRY (add_up_hosts (sources, n, key, &sum));
  if (join != RD_JOIN_LIST) {
    uint64_t value = join == RD_JOIN_MEAN ? (uint64_t) (all / nparts + 0.5)
                     : join == RD_JOIN_PEAK && !are_ranks ? most : sum;
    return rd_profile_add_number (joined, key, value);
  }

  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  for (size_t i = 0; i < nvalues; i++) {
    RD_TRY (rd_buffer_append (&text, ", ", i > 0 ? 2 : 0));
    RD_TRY (rd_buffer_append (&text, values[i], strlen (values[i])));
  }
  RD_TRY (rd_buffer_append (&text, ", ...", has_more ? 5 : 0));
  RD_TRY (rd_buffer_append (&text, "", 1));
  return rd_profile_add_fact (joined, key, (const char *) text.data, is_name);
}

/*------------------------------------------------------------------------
 * Notes of nodes
 *----------------------------------------------------------------------*/

struct entry {
  struct rd_note note;        /* with the joined profile's node */
  size_t order;
};

static int
compare_keys (const struct entry *x, const struct entry *y)
{
  if (x->note.node != y->note.node)
    return x->note.node < y->note.node ? -1 : 1;
  return strcmp (x->note.key, y->note.key);
}

static int
compare_entries (const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  int by = compare_keys (x, y);
  return by ? by : (x->order > y->order) - (x->order < y->order);
}

/* Keeps the first one of the notes with equal node and key. */
static enum radio_status
merge_node_notes (struct radio_profile *joined,
                  struct radio_profile *const *sources, size_t n,
                  uint32_t *const *nodes)
{
  size_t capacity = 0, nentries = 0;
  RD_FREE_PLAIN void *memory = NULL;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < sources[i]->notes.n; j++)
      capacity += sources[i]->notes.at[j].span == 0;
  RD_TRY (rd_new_array (capacity, sizeof (struct entry), &memory));
  struct entry *entries = memory;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < sources[i]->notes.n; j++) {
      struct rd_note note = sources[i]->notes.at[j];
      if (note.span != 0)
        continue;
      note.node = nodes[i][note.node];
      entries[nentries] = (struct entry) { note, nentries };
      nentries++;
    }
  if (nentries > 0)
    qsort (entries, nentries, sizeof *entries, compare_entries);
  for (size_t i = 0, next; i < nentries; i = next) {
    struct rd_note note = entries[i].note;
    for (next = i + 1; next < nentries
         && compare_keys (&entries[i], &entries[next]) == 0; next++) {
      const struct rd_note *other = &entries[next].note;
      note.varies |= other->varies || strcmp (note.value, other->value) != 0;
      note.is_name |= other->is_name;
    }
    RD_TRY (rd_profile_add_note (joined, &note));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The log: spans get new ids, and times relative to the merged profile
 *----------------------------------------------------------------------*/

/* The number of lanes searched for one to continue. */
#define MAX_SEARCHED 4096

static enum radio_status
merge_lane (struct merge *merge, size_t i)
{
  const struct radio_profile *source = merge->source;
  struct radio_profile *joined = merge->joined;
  struct rd_lane lane = source->lanes.at[i];

  /* Runs of one process have the same threads, which continue in the same
   * lane.  No two lanes of one source continue the same lane. */
  for (uint32_t at = 0; at < merge->nreusable; at++) {
    const struct rd_lane *other = &joined->lanes.at[at];
    if (!merge->is_reused[at] && other->os_tid == lane.os_tid
        && other->is_async == lane.is_async
        && strcmp (other->name, lane.name) == 0) {
      merge->is_reused[at] = true;
      merge->lanes[i] = at;
      return RADIO_OK;
    }
  }

  /* "main", or among ranks "rank 1: main".  A name that has its rank already,
   * from an earlier join, gets the new one. */
  RD_FREE_PLAIN char *name = NULL;
  const char *old = source->parts.at[lane.part].name;
  lane.part = merge->first_part + (merge->is_single ? 0 : lane.part);
  if (merge->parts == RADIO_PARTS_RANKS) {
    const char *plain = lane.name;
    if (source->info.parts == RADIO_PARTS_RANKS
        && strncmp (plain, old, strlen (old)) == 0
        && strncmp (plain + strlen (old), ": ", 2) == 0)
      plain += strlen (old) + 2;
    const char *part = joined->parts.at[lane.part].name;
    size_t nbytes = strlen (part) + strlen (plain) + 3;
    name = malloc (nbytes);
    if (name == NULL)
      return rd_fail_memory (nbytes);
    snprintf (name, nbytes, "%s: %s", part, plain);
    lane.name = name;
  }
  return rd_profile_add_lane (joined, &lane, &merge->lanes[i]);
}

/* The new id of span i, and of the span with an old id; 0 for one that the
 * log dropped. */
static uint32_t
new_id (const struct merge *merge, const struct rd_span_ids *ids,
        uint32_t old)
{
  uint32_t i = rd_span_ids_find (ids, merge->source, old);
  return i == RD_NO_INDEX ? 0 : merge->next_id + i;
}

/*------------------------------------------------------------------------
 * Nodes
 *----------------------------------------------------------------------*/

/* Peak memory: by ranks, which ran at the same time, all together;
 * by runs, which came one after the other, by one of them. */
static uint64_t
merge_peaks (enum radio_profile_parts parts, uint64_t a, uint64_t b)
{
  return parts == RADIO_PARTS_RANKS ? rd_sum (a, b) : rd_max_u64 (a, b);
}

/* Memory held in the end: of runs by the last one. */
static uint64_t
merge_live (enum radio_profile_parts parts, uint64_t before, uint64_t last)
{
  return parts == RADIO_PARTS_RANKS ? rd_sum (before, last) : last;
}

/* Adds a node's values to the joined profile's node of the same path, which is
 * made if missing.  Its parent was merged already. */
static enum radio_status
merge_node (struct merge *merge, size_t i)
{
  const struct radio_profile_node *from = &merge->source->nodes.at[i];
  uint32_t parent = from->parent == RADIO_NO_PARENT
                    ? RD_NO_INDEX : merge->nodes[from->parent];
  uint32_t *index = &merge->nodes[i];
  *index = rd_profile_find_node (merge->joined, parent, from->name,
                                 from->category, from->edge);
  if (*index == RD_NO_INDEX) {
    struct radio_profile_node empty = {
      .name = from->name,
      .category = from->category,
      .function = from->function,
      .file = from->file,
      .line = from->line,
      .edge = from->edge,
      .parent = parent == RD_NO_INDEX ? RADIO_NO_PARENT : parent,
    };
    RD_TRY (rd_profile_add_node (merge->joined, &empty, index));
  }

  struct radio_profile_node *to = &merge->joined->nodes.at[*index];
  bool is_first = to->calls == 0;
  if (from->calls > 0)
    to->min_ns = is_first ? from->min_ns
                          : rd_min_u64 (to->min_ns, from->min_ns);
  to->max_ns = rd_max_u64 (to->max_ns, from->max_ns);
  to->calls = rd_sum (to->calls, from->calls);
  to->total_ns = rd_sum (to->total_ns, from->total_ns);
  to->self_ns = rd_sum (to->self_ns, from->self_ns);
  to->work_ns = rd_sum (to->work_ns, from->work_ns);
  to->wait_ns = rd_sum (to->wait_ns, from->wait_ns);
  to->starved_ns = rd_sum (to->starved_ns, from->starved_ns);
  to->queue_ns = rd_sum (to->queue_ns, from->queue_ns);
  to->open_count = rd_sum (to->open_count, from->open_count);
  to->late_count = rd_sum (to->late_count, from->late_count);
  to->dropped_count = rd_sum (to->dropped_count, from->dropped_count);
  to->alloc_count = rd_sum (to->alloc_count, from->alloc_count);
  to->alloc_nbytes = rd_sum (to->alloc_nbytes, from->alloc_nbytes);
  to->alloc_live_nbytes = merge_live (merge->parts, to->alloc_live_nbytes,
                                      from->alloc_live_nbytes);
  to->alloc_peak_nbytes = merge_peaks (merge->parts, to->alloc_peak_nbytes,
                                       from->alloc_peak_nbytes);
  for (size_t k = 0; k < RADIO_HISTOGRAM_BUCKETS; k++)
    to->histogram[k] = rd_sum (to->histogram[k], from->histogram[k]);
  return RADIO_OK;
}

/* The parts, and the share of each in every node. */
static enum radio_status
merge_parts (struct merge *merge)
{
  const struct radio_profile *source = merge->source;
  const struct radio_profile_info *info = &source->info;
  struct radio_profile *joined = merge->joined;
  merge->first_part = (uint32_t) joined->parts.n;
  for (size_t i = 0; i < (merge->is_single ? 1 : source->parts.n); i++) {
    struct rd_profile_part part = {
      .wall_ns = info->wall_ns,
      .work_ns = info->work_ns,
      .started_unix_ns = info->started_unix_ns,
      .pid = source->parts.at[0].pid,
      .process = source->parts.at[0].process,
      .starved_ns = info->starved_ns,
      .usage = rd_profile_usage (source),
    };
    if (!merge->is_single)
      part = source->parts.at[i];

    /* Runs count from 1, ranks from 0. */
    char name[32];
    bool is_runs = merge->parts == RADIO_PARTS_RUNS;
    snprintf (name, sizeof name, "%s %zu", is_runs ? "run" : "rank",
              joined->parts.n + is_runs);
    part.name = name;
    RD_TRY (rd_profile_add_part (joined, &part, NULL));
  }

  for (size_t i = 0; i < source->nodes.n; i++) {
    const struct radio_profile_node *node = &source->nodes.at[i];
    struct rd_part_share all = {
      .share = {
        node->calls, node->total_ns, node->self_ns, node->work_ns,
        node->starved_ns
      },
    };
    const struct rd_part_share *shares = &all;
    size_t n = 1;
    if (!merge->is_single)
      shares = rd_profile_shares (source, i, &n);
    for (size_t j = 0; j < n; j++)
      RD_TRY (rd_profile_add_share (joined, merge->nodes[i],
                                    merge->first_part + shares[j].part,
                                    &shares[j].share));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The merged profile
 *----------------------------------------------------------------------*/

static const char *
if_equal (const char *a, const char *b, const char *otherwise)
{
  return strcmp (a, b) == 0 ? a : otherwise;
}

/* Adds the values of a profile, which begins at offset_ns, that no sum over
 * the nodes gives.  The cost of a scope is the mean over all scopes. */
static void
add_info (struct radio_profile_info *to,
          const struct radio_profile_info *from, uint64_t offset_ns,
          bool is_first)
{
  double scopes = (double) to->scope_count + (double) from->scope_count;
  if (scopes > 0)
    to->scope_cost_ns += (from->scope_cost_ns - to->scope_cost_ns)
                         * ((double) from->scope_count / scopes);
  to->scope_count = rd_sum (to->scope_count, from->scope_count);
  to->dropped_count = rd_sum (to->dropped_count, from->dropped_count);
  to->wall_ns = to->parts == RADIO_PARTS_RUNS
                ? rd_sum (to->wall_ns, from->wall_ns)
                : rd_max_u64 (to->wall_ns,
                              rd_sum (offset_ns, from->wall_ns));

  to->alloc_count = rd_sum (to->alloc_count, from->alloc_count);
  to->alloc_nbytes = rd_sum (to->alloc_nbytes, from->alloc_nbytes);
  to->alloc_live_nbytes = merge_live (to->parts, to->alloc_live_nbytes,
                                      from->alloc_live_nbytes);
  to->alloc_peak_nbytes = merge_peaks (to->parts, to->alloc_peak_nbytes,
                                      from->alloc_peak_nbytes);

  if (is_first) {
    to->title = from->title;
    to->program = from->program;
    to->clock = from->clock;
  } else {
    to->program = if_equal (to->program, from->program, "several programs");
    to->clock = if_equal (to->clock, from->clock, "mixed");
  }
}

static enum radio_status
new_map (size_t n, uint32_t **map)
{
  void *at;
  RD_TRY (rd_new_array (n, sizeof (uint32_t), &at));
  *map = at;
  return RADIO_OK;
}

/* Merges everything of one source.  The caller frees merge->nodes. */
static enum radio_status
merge_source (struct merge *merge)
{
  const struct radio_profile *source = merge->source;
  RD_TRY (new_map (source->nodes.n, &merge->nodes));
  RD_TRY (new_map (source->counters.n, &merge->counters));
  RD_TRY (new_map (source->lanes.n, &merge->lanes));
  RD_TRY (new_map (source->gauges.n, &merge->gauges));

  if (merge->parts == RADIO_PARTS_RUNS) {
    /* Memory that earlier runs left is no longer held, nor in nodes that this
     * run does not have. */
    struct radio_profile *joined = merge->joined;
    for (size_t i = 0; i < joined->nodes.n; i++)
      joined->nodes.at[i].alloc_live_nbytes = 0;
  }
  for (size_t i = 0; i < source->nodes.n; i++)
    RD_TRY (merge_node (merge, i));

  for (size_t i = 0; i < source->counters.n; i++)
    RD_TRY (rd_profile_add_counter (merge->joined, source->counters.at[i].name,
                                    source->counters.at[i].unit,
                                    &merge->counters[i]));
  for (size_t i = 0; i < source->values.n; i++) {
    const struct rd_value *value = &source->values.at[i];
    RD_TRY (rd_profile_add_value (merge->joined, merge->nodes[value->node],
                                  merge->counters[value->counter],
                                  value->value));
  }

  RD_TRY (merge_parts (merge));

  RD_SPAN_IDS_SCOPE struct rd_span_ids ids = { 0 };
  RD_TRY (rd_span_ids_make (source, &ids));

  RD_FREE_PLAIN void *is_reused = NULL;
  merge->nreusable = merge->parts == RADIO_PARTS_RUNS
                    ? rd_min_u64 (merge->joined->lanes.n, MAX_SEARCHED) : 0;
  RD_TRY (rd_new_array (merge->nreusable, sizeof (bool), &is_reused));
  merge->is_reused = is_reused;
  for (size_t i = 0; i < source->lanes.n; i++)
    RD_TRY (merge_lane (merge, i));

  if (source->spans.n > RD_NO_INDEX - merge->next_id)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "the profiles have more than 2^32 spans together");
  for (size_t i = 0; i < source->spans.n; i++) {
    struct rd_span span = source->spans.at[i];
    span.id = merge->next_id + (uint32_t) i;
    span.parent = new_id (merge, &ids, span.parent);
    span.node = merge->nodes[span.node];
    span.lane = merge->lanes[span.lane];
    span.begin_ns = rd_sum (span.begin_ns, merge->offset_ns);
    span.submitted_ns = rd_sum (span.submitted_ns, merge->offset_ns);
    RD_TRY (rd_profile_add_span (merge->joined, &span));
  }

  /* The texts of spans that are in the log. */
  for (size_t i = 0; i < source->notes.n; i++) {
    struct rd_note text = source->notes.at[i];
    text.span = new_id (merge, &ids, text.span);
    if (text.span == 0)
      continue;
    if (text.node != RD_NO_INDEX)
      text.node = merge->nodes[text.node];
    RD_TRY (rd_profile_add_note (merge->joined, &text));
  }

  for (size_t i = 0; i < source->gauges.n; i++)
    RD_TRY (rd_profile_add_gauge (merge->joined, source->gauges.at[i].name,
                                  source->gauges.at[i].unit,
                                  &merge->gauges[i]));
  for (size_t i = 0; i < source->samples.n; i++) {
    struct rd_sample sample = source->samples.at[i];
    sample.gauge = merge->gauges[sample.gauge];
    sample.time_ns = rd_sum (sample.time_ns, merge->offset_ns);
    RD_TRY (rd_profile_add_sample (merge->joined, &sample));
  }

  merge->next_id += (uint32_t) source->spans.n;
  return RADIO_OK;
}

static void
free_maps (struct merge *merge)
{
  free (merge->counters);
  free (merge->lanes);
  free (merge->gauges);
}

/* The nodes of each source, by source. */
struct maps {
  size_t n;
  uint32_t **nodes;
};

static void
free_all_maps (struct maps *maps)
{
  for (size_t i = 0; maps->nodes && i < maps->n; i++)
    free (maps->nodes[i]);
  free (maps->nodes);
}

static enum radio_status
merge_all (struct radio_profile *joined,
           struct radio_profile *const *profiles, size_t n,
           enum radio_profile_parts parts, uint32_t **nodes)
{
  /* When the first of them was started; 0 is unknown. */
  uint64_t first = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t started = profiles[i]->info.started_unix_ns;
    if (started > 0 && (first == 0 || started < first))
      first = started;
  }

  uint32_t next_id = 1;
  uint64_t after = 0;
  joined->info.parts = parts;
  joined->info.started_unix_ns = first;
  for (size_t i = 0; i < n; i++) {
    const struct radio_profile *source = profiles[i];
    uint64_t started = source->info.started_unix_ns;
    RD_CLEANUP (free_maps) struct merge merge = {
      .joined = joined, .source = source, .parts = parts,
      .is_single = source->info.parts != parts, .next_id = next_id,
    };
    merge.offset_ns = parts == RADIO_PARTS_RUNS ? after
                     : started > first ? started - first : 0;
    enum radio_status status = merge_source (&merge);
    nodes[i] = merge.nodes;
    RD_TRY (status);
    next_id = merge.next_id;
    add_info (&joined->info, &source->info, merge.offset_ns, i == 0);

    /* The last of a log may end after the wall time. */
    uint64_t end = source->info.wall_ns;
    for (size_t j = 0; j < source->spans.n; j++)
      end = rd_max_u64 (end, source->spans.at[j].begin_ns
                             + source->spans.at[j].duration_ns);
    after = rd_sum (after, end);
  }
  return RADIO_OK;
}

enum radio_status
radio_profile_join (struct radio_profile *const *profiles, size_t n,
                    enum radio_profile_parts parts,
                    struct radio_profile **joined)
{
  RD_NOT_NULL (profiles);
  RD_NOT_NULL (joined);
  if (n == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_profile_join: no profiles");
  if (parts != RADIO_PARTS_RUNS && parts != RADIO_PARTS_RANKS)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "profiles are joined as runs or as ranks, not as %d",
                    (int) parts);
  for (size_t i = 0; i < n; i++)
    if (profiles[i] == NULL)
      return rd_fail (RADIO_ERROR_ARGUMENT, "radio_profile_join: "
                      "profiles[%zu] is NULL", i);

  RD_PROFILE_SCOPE struct radio_profile *made = NULL;
  RD_CLEANUP (free_all_maps) struct maps maps = { .n = n };
  void *nodes;
  RD_TRY (rd_profile_new (&made));
  RD_TRY (rd_new_array (n, sizeof *maps.nodes, &nodes));
  maps.nodes = nodes;
  RD_TRY (merge_all (made, profiles, n, parts, maps.nodes));

  /* "TITLE", or "TITLE and 3 more" if they differ. */
  const char *title = profiles[0]->info.title;
  RD_BUFFER_SCOPE struct rd_buffer several = { 0 };
  char more[40];
  int nmore = snprintf (more, sizeof more, " and %zu more", n - 1);
  bool is_one_title = true;
  for (size_t i = 1; i < n; i++)
    is_one_title &= strcmp (profiles[i]->info.title, title) == 0;
  RD_TRY (rd_buffer_append (&several, title, strlen (title)));
  RD_TRY (rd_buffer_append (&several, more, (size_t) nmore + 1));
  made->info.title = rd_profile_string (
    made, is_one_title ? title : (const char *) several.data);

  /* The strings that add_info took from the sources, as own ones. */
  made->info.program = rd_profile_string (made, made->info.program);
  made->info.clock = rd_profile_string (made, made->info.clock);
  if (made->info.title == NULL || made->info.program == NULL
      || made->info.clock == NULL)
    return rd_fail_memory (1);

  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < profiles[i]->facts.n; j++) {
      const char *key = profiles[i]->facts.at[j].key;
      if (rd_profile_find_fact (made, key) == NULL)
        RD_TRY (merge_fact (made, profiles, n, key));
    }
  RD_TRY (merge_node_notes (made, profiles, n, maps.nodes));
  RD_TRY (rd_profile_finalize (made));
  *joined = RD_STEAL (made);
  return RADIO_OK;
}
