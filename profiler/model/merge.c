/* SPDX-License-Identifier: MIT */
/* Merging profiles of runs, which came one after the other, or of ranks,
 * which ran at the same time: one tree, one log, and the share of each part
 * in every node. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/model/findings.h"
#include "profiler/model/vector.h"

/* The indexes of one source in the joined profile. */
struct merge {
  struct radio_profile *joined;
  const struct radio_profile *source;
  enum radio_profile_parts parts;       /* of the joined one */
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

/* So many different values of a fact are listed. */
#define MAX_VALUES 8

struct listing {
  const struct rd_fact *values[MAX_VALUES];
  size_t n;
  bool has_more;
  bool is_name;
};

static void
list_value (struct listing *listing, const struct rd_fact *fact)
{
  listing->is_name |= fact->is_name;
  for (size_t i = 0; i < listing->n; i++)
    if (strcmp (listing->values[i]->value, fact->value) == 0)
      return;
  if (listing->n < MAX_VALUES)
    listing->values[listing->n++] = fact;
  else
    listing->has_more = true;
}

static const struct rd_fact *
find_fact (const struct radio_profile *profile, const char *key)
{
  for (size_t i = 0; i < profile->facts.n; i++)
    if (strcmp (profile->facts.at[i].key, key) == 0)
      return &profile->facts.at[i];
  return NULL;
}

/* Append to a text that has room for it. */
static char *
append (char *to, const char *text)
{
  size_t nbytes = strlen (text);
  memcpy (to, text, nbytes + 1);
  return to + nbytes;
}

/* Numbers that are of each part alone, and add up. */
static bool
is_sum (const char *key)
{
  static const char *const keys[] = {
    RD_FACT_CPU_NS, RD_FACT_SKIPPED, RD_FACT_THROTTLED, RD_FACT_TEXTS,
    RD_FACT_VALUES, RD_FACT_SAMPLES, RD_FACT_THREADS,
  };
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (strcmp (keys[i], key) == 0)
      return true;
  return false;
}

static enum radio_status
merge_fact (struct radio_profile *joined,
            struct radio_profile *const *sources, size_t n, const char *key)
{
  struct listing listing = { 0 };
  if (is_sum (key)) {
    uint64_t sum = 0;
    char text[24];
    for (size_t i = 0; i < n; i++) {
      const struct rd_fact *fact = find_fact (sources[i], key);
      sum = rd_sum (sum, fact ? rd_parse_digits (fact->value) : 0);
    }
    snprintf (text, sizeof text, "%" PRIu64, sum);
    return rd_profile_add_fact (joined, key, text, false);
  }
  for (size_t i = 0; i < n; i++) {
    const struct rd_fact *fact = find_fact (sources[i], key);
    if (fact)
      list_value (&listing, fact);
  }

  /* "a, b, c", or "a, b, ..." */
  size_t nbytes = sizeof ", ...";
  for (size_t i = 0; i < listing.n; i++)
    nbytes += strlen (listing.values[i]->value) + 2;
  RD_FREE_PLAIN char *text = malloc (nbytes);
  if (text == NULL)
    return rd_fail_memory (nbytes);
  char *end = text;
  *end = '\0';
  for (size_t i = 0; i < listing.n; i++) {
    end = append (end, i > 0 ? ", " : "");
    end = append (end, listing.values[i]->value);
  }
  if (listing.has_more)
    append (end, ", ...");
  return rd_profile_add_fact (joined, key, text, listing.is_name);
}

static enum radio_status
merge_facts (struct radio_profile *joined,
             struct radio_profile *const *sources, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < sources[i]->facts.n; j++) {
      const char *key = sources[i]->facts.at[j].key;
      if (rd_profile_find_fact (joined, key) == NULL)
        RD_TRY (merge_fact (joined, sources, n, key));
    }
  }
  return RADIO_OK;
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

/* Runs of one process have the same threads, which continue in the same lane.
 * No two lanes of one source continue the same lane. */
static uint32_t
find_lane (struct merge *merge, const struct rd_lane *lane)
{
  const struct radio_profile *joined = merge->joined;
  for (size_t i = 0; i < merge->nreusable; i++) {
    const struct rd_lane *other = &joined->lanes.at[i];
    if (!merge->is_reused[i] && other->os_tid == lane->os_tid
        && other->is_async == lane->is_async
        && strcmp (other->name, lane->name) == 0) {
      merge->is_reused[i] = true;
      return (uint32_t) i;
    }
  }
  return RD_NO_INDEX;
}

/* Which part of the whole a lane of the source belongs to. */
static uint32_t
part_of (const struct merge *merge, const struct rd_lane *lane)
{
  bool is_one = merge->source->info.parts != merge->parts;
  return merge->first_part + (is_one ? 0 : lane->part);
}

/* "main", or among ranks "rank 1: main".  A name that has its rank already,
 * from an earlier join, gets the new one. */
static enum radio_status
name_lane (const struct merge *merge, struct rd_lane *lane, char **name)
{
  if (merge->parts != RADIO_PARTS_RANKS)
    return RADIO_OK;
  const char *plain = lane->name;
  if (merge->source->info.parts == RADIO_PARTS_RANKS) {
    const char *old = merge->source->parts.at[lane->part].name;
    size_t nbytes = strlen (old);
    if (strncmp (plain, old, nbytes) == 0
        && strncmp (plain + nbytes, ": ", 2) == 0)
      plain += nbytes + 2;
  }
  const char *part = merge->joined->parts.at[part_of (merge, lane)].name;
  size_t nbytes = strlen (part) + strlen (plain) + 3;
  *name = malloc (nbytes);
  if (*name == NULL)
    return rd_fail_memory (nbytes);
  snprintf (*name, nbytes, "%s: %s", part, plain);
  lane->name = *name;
  return RADIO_OK;
}

static enum radio_status
merge_lane (struct merge *merge, size_t i)
{
  struct rd_lane lane = merge->source->lanes.at[i];
  RD_FREE_PLAIN char *name = NULL;
  merge->lanes[i] = find_lane (merge, &lane);
  if (merge->lanes[i] != RD_NO_INDEX)
    return RADIO_OK;
  RD_TRY (name_lane (merge, &lane, &name));
  lane.part = part_of (merge, &lane);
  return rd_profile_add_lane (merge->joined, &lane, &merge->lanes[i]);
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
 * Checks
 *----------------------------------------------------------------------*/

/* Returns whether a source stays a single part: runs as one rank do. */
static bool
is_single_part (const struct radio_profile *source,
             enum radio_profile_parts parts)
{
  return source->info.parts != parts;
}

static enum radio_status
check_kinds (struct radio_profile *const *profiles, size_t n,
             enum radio_profile_parts parts)
{
  if (n == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "no profiles to join");
  if (parts != RADIO_PARTS_RUNS && parts != RADIO_PARTS_RANKS)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "profiles are joined as runs or as ranks, not as %d",
                    (int) parts);
  for (size_t i = 0; parts == RADIO_PARTS_RUNS && i < n; i++)
    if (profiles[i]->info.parts == RADIO_PARTS_RANKS)
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "profile %zu of %zu, '%s', is one of ranks, and cannot "
                      "be a run", i + 1, n, profiles[i]->info.title);
  return RADIO_OK;
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

/* Adds the values of both; `to' may have none yet. */
static void
add_node (struct radio_profile_node *to,
          const struct radio_profile_node *from,
          enum radio_profile_parts parts)
{
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
  to->queue_ns = rd_sum (to->queue_ns, from->queue_ns);
  to->open_count = rd_sum (to->open_count, from->open_count);
  to->late_count = rd_sum (to->late_count, from->late_count);
  to->dropped_count = rd_sum (to->dropped_count, from->dropped_count);
  to->alloc_count = rd_sum (to->alloc_count, from->alloc_count);
  to->alloc_nbytes = rd_sum (to->alloc_nbytes, from->alloc_nbytes);
  to->alloc_live_nbytes = merge_live (parts, to->alloc_live_nbytes,
                                      from->alloc_live_nbytes);
  to->alloc_peak_nbytes = merge_peaks (parts, to->alloc_peak_nbytes,
                                      from->alloc_peak_nbytes);
  for (size_t i = 0; i < RADIO_HISTOGRAM_BUCKETS; i++)
    to->histogram[i] = rd_sum (to->histogram[i], from->histogram[i]);
}

/* The joined profile's node for one of the source, whose parent has one
 * already. */
static enum radio_status
find_or_add_node (struct merge *merge, const struct radio_profile_node *node,
                  uint32_t *index)
{
  uint32_t parent = node->parent == RADIO_NO_PARENT
                    ? RD_NO_INDEX : merge->nodes[node->parent];
  *index = rd_profile_find_node (merge->joined, parent, node->name,
                                 node->category, node->edge);
  if (*index != RD_NO_INDEX)
    return RADIO_OK;
  struct radio_profile_node empty = {
    .name = node->name,
    .category = node->category,
    .function = node->function,
    .file = node->file,
    .line = node->line,
    .edge = node->edge,
    .parent = parent == RD_NO_INDEX ? RADIO_NO_PARENT : parent,
  };
  return rd_profile_add_node (merge->joined, &empty, index);
}

/*------------------------------------------------------------------------
 * Parts
 *----------------------------------------------------------------------*/

/* Runs count from 1, ranks from 0. */
static enum radio_status
add_part (struct merge *merge, uint64_t wall_ns, uint64_t work_ns,
          uint64_t started_unix_ns)
{
  char name[32];
  size_t n = merge->joined->parts.n;
  if (merge->parts == RADIO_PARTS_RUNS)
    snprintf (name, sizeof name, "run %zu", n + 1);
  else
    snprintf (name, sizeof name, "rank %zu", n);
  struct rd_profile_part part = { name, wall_ns, work_ns, started_unix_ns };
  return rd_profile_add_part (merge->joined, &part, NULL);
}

static enum radio_status
add_parts (struct merge *merge)
{
  const struct radio_profile *source = merge->source;
  const struct radio_profile_info *info = &source->info;
  if (is_single_part (source, merge->parts))
    return add_part (merge, info->wall_ns, info->work_ns,
                     info->started_unix_ns);
  for (size_t i = 0; i < source->parts.n; i++) {
    const struct rd_profile_part *part = &source->parts.at[i];
    RD_TRY (add_part (merge, part->wall_ns, part->work_ns,
                      part->started_unix_ns));
  }
  return RADIO_OK;
}

static enum radio_status
share_node (struct merge *merge, size_t i)
{
  const struct radio_profile *source = merge->source;
  const struct radio_profile_node *node = &source->nodes.at[i];
  if (is_single_part (source, merge->parts)) {
    struct radio_profile_share all = {
      node->calls, node->total_ns, node->self_ns
    };
    return rd_profile_add_share (merge->joined, merge->nodes[i],
                                 merge->first_part, &all);
  }
  size_t n;
  const struct rd_part_share *shares = rd_profile_shares (source, i, &n);
  for (size_t j = 0; j < n; j++)
    RD_TRY (rd_profile_add_share (merge->joined, merge->nodes[i],
                                  merge->first_part + shares[j].part,
                                  &shares[j].share));
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The merged profile
 *----------------------------------------------------------------------*/

/* When the last of its log ends, which may be after its wall time. */
static uint64_t
end_of (const struct radio_profile *profile)
{
  uint64_t end = profile->info.wall_ns;
  for (size_t i = 0; i < profile->spans.n; i++)
    end = rd_max_u64 (end, profile->spans.at[i].begin_ns
                           + profile->spans.at[i].duration_ns);
  return end;
}

/* When the first of them was started; 0 is unknown. */
static uint64_t
earliest (struct radio_profile *const *profiles, size_t n)
{
  uint64_t first = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t started = profiles[i]->info.started_unix_ns;
    if (started > 0 && (first == 0 || started < first))
      first = started;
  }
  return first;
}

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

/* "TITLE", or "TITLE and 3 more" if they differ. */
static enum radio_status
set_title (struct radio_profile *joined,
           struct radio_profile *const *profiles, size_t n)
{
  const char *first = profiles[0]->info.title;
  bool all_equal = true;
  for (size_t i = 1; i < n; i++)
    all_equal &= strcmp (profiles[i]->info.title, first) == 0;
  char more[40];
  snprintf (more, sizeof more, " and %zu more", n - 1);
  size_t nbytes = strlen (first) + sizeof more;
  RD_FREE_PLAIN char *title = malloc (nbytes);
  if (title == NULL)
    return rd_fail_memory (nbytes);
  snprintf (title, nbytes, "%s%s", first, all_equal ? "" : more);
  joined->info.title = rd_profile_string (joined, title);
  return joined->info.title ? RADIO_OK : rd_fail_memory (nbytes);
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
  for (size_t i = 0; i < source->nodes.n; i++) {
    const struct radio_profile_node *node = &source->nodes.at[i];
    RD_TRY (find_or_add_node (merge, node, &merge->nodes[i]));
    add_node (&merge->joined->nodes.at[merge->nodes[i]], node, merge->parts);
  }

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

  merge->first_part = (uint32_t) merge->joined->parts.n;
  RD_TRY (add_parts (merge));
  for (size_t i = 0; i < merge->source->nodes.n; i++)
    RD_TRY (share_node (merge, i));

  RD_SPAN_IDS_SCOPE struct rd_span_ids ids = { 0 };
  RD_TRY (rd_span_ids_make (merge->source, &ids));

  RD_FREE_PLAIN void *is_reused = NULL;
  merge->nreusable = merge->parts == RADIO_PARTS_RUNS
                    ? rd_min_u64 (merge->joined->lanes.n, MAX_SEARCHED) : 0;
  RD_TRY (rd_new_array (merge->nreusable, sizeof (bool), &is_reused));
  merge->is_reused = is_reused;
  for (size_t i = 0; i < merge->source->lanes.n; i++)
    RD_TRY (merge_lane (merge, i));

  const struct radio_profile *from = merge->source;
  if (from->spans.n > RD_NO_INDEX - merge->next_id)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "the profiles have more than 2^32 spans together");
  for (size_t i = 0; i < from->spans.n; i++) {
    struct rd_span span = from->spans.at[i];
    span.id = merge->next_id + (uint32_t) i;
    span.parent = new_id (merge, &ids, span.parent);
    span.node = merge->nodes[span.node];
    span.lane = merge->lanes[span.lane];
    span.begin_ns = rd_sum (span.begin_ns, merge->offset_ns);
    span.submitted_ns = rd_sum (span.submitted_ns, merge->offset_ns);
    RD_TRY (rd_profile_add_span (merge->joined, &span));
  }

  /* The texts of spans that are in the log. */
  const struct radio_profile *of = merge->source;
  for (size_t i = 0; i < of->notes.n; i++) {
    struct rd_note text = of->notes.at[i];
    text.span = new_id (merge, &ids, text.span);
    if (text.span == 0)
      continue;
    if (text.node != RD_NO_INDEX)
      text.node = merge->nodes[text.node];
    RD_TRY (rd_profile_add_note (merge->joined, &text));
  }

  const struct radio_profile *input = merge->source;
  for (size_t i = 0; i < input->gauges.n; i++)
    RD_TRY (rd_profile_add_gauge (merge->joined, input->gauges.at[i].name,
                                  input->gauges.at[i].unit,
                                  &merge->gauges[i]));
  for (size_t i = 0; i < input->samples.n; i++) {
    struct rd_sample sample = input->samples.at[i];
    sample.gauge = merge->gauges[sample.gauge];
    sample.time_ns = rd_sum (sample.time_ns, merge->offset_ns);
    RD_TRY (rd_profile_add_sample (merge->joined, &sample));
  }

  merge->next_id += (uint32_t) merge->source->spans.n;
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
  uint32_t next_id = 1;
  uint64_t after = 0;
  uint64_t first = earliest (profiles, n);
  joined->info.parts = parts;
  joined->info.started_unix_ns = first;
  for (size_t i = 0; i < n; i++) {
    uint64_t started = profiles[i]->info.started_unix_ns;
    RD_CLEANUP (free_maps) struct merge merge = {
      .joined = joined, .source = profiles[i], .parts = parts,
      .next_id = next_id,
    };
    merge.offset_ns = parts == RADIO_PARTS_RUNS ? after
                     : started > first ? started - first : 0;
    enum radio_status status = merge_source (&merge);
    nodes[i] = merge.nodes;
    RD_TRY (status);
    next_id = merge.next_id;
    after = rd_sum (after, end_of (profiles[i]));
    add_info (&joined->info, &profiles[i]->info, merge.offset_ns, i == 0);
  }
  return RADIO_OK;
}

enum radio_status
radio_profile_join (struct radio_profile *const *profiles, size_t n,
                    enum radio_profile_parts parts,
                    struct radio_profile **result)
{
  RD_TRY (check_kinds (profiles, n, parts));
  RD_PROFILE_SCOPE struct radio_profile *joined = NULL;
  RD_CLEANUP (free_all_maps) struct maps maps = { .n = n };
  void *nodes;
  RD_TRY (rd_profile_new (&joined));
  RD_TRY (rd_new_array (n, sizeof *maps.nodes, &nodes));
  maps.nodes = nodes;
  RD_TRY (merge_all (joined, profiles, n, parts, maps.nodes));
  RD_TRY (set_title (joined, profiles, n));

  /* The strings that add_info took from the sources, as own ones. */
  joined->info.program = rd_profile_string (joined, joined->info.program);
  joined->info.clock = rd_profile_string (joined, joined->info.clock);
  if (joined->info.program == NULL || joined->info.clock == NULL)
    return rd_fail_memory (1);

  RD_TRY (merge_facts (joined, profiles, n));
  RD_TRY (merge_node_notes (joined, profiles, n, maps.nodes));
  RD_TRY (rd_profile_finalize (joined));
  *result = RD_STEAL (joined);
  return RADIO_OK;
}
