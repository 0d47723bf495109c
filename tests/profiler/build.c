/* SPDX-License-Identifier: MIT */
/* Builds profiles for tests.  Self time is computed naively, by uniting the
 * intervals of each span's children. */
#include <config.h>

#include "tests/profiler/build.h"

struct radio_profile *
build_new (const char *title)
{
  struct radio_profile *profile = NULL;
  assert_ok (rd_profile_new (&profile));
  profile->info.title = rd_profile_string (profile, title);
  profile->info.program = rd_profile_string (profile, "test");
  profile->info.clock = rd_profile_string (profile, "tsc");
  profile->info.started_unix_ns = 1700000000000000000;
  assert_non_null (profile->info.title);
  return profile;
}

uint32_t
build_edge_node (struct radio_profile *profile, uint32_t parent,
                 const char *name, const char *category,
                 enum radio_edge edge)
{
  struct radio_profile_node node = {
    .name = name,
    .category = category,
    .function = "function",
    .file = "src/file.c",
    .line = 1 + (unsigned) profile->nodes.n,
    .parent = parent == RD_NO_INDEX ? RADIO_NO_PARENT : parent,
    .edge = edge,
  };
  uint32_t index;
  assert_ok (rd_profile_add_node (profile, &node, &index));
  return index;
}

uint32_t
build_node (struct radio_profile *profile, uint32_t parent, const char *name,
            const char *category)
{
  return build_edge_node (profile, parent, name, category, RADIO_EDGE_CALL);
}

/* Returns the histogram bucket of a duration. */
static unsigned
bucket_of (uint64_t ns)
{
  unsigned bucket = 0;
  while (ns > 1 && bucket + 1 < RADIO_HISTOGRAM_BUCKETS) {
    ns /= 2;
    bucket++;
  }
  return bucket;
}

void
build_times (struct radio_profile *profile, uint32_t i, uint64_t calls,
             uint64_t total_ns, uint64_t self_ns, uint64_t work_ns,
             uint64_t wait_ns)
{
  struct radio_profile_node *node = &profile->nodes.at[i];
  uint64_t mean = calls ? total_ns / calls : 0;
  node->calls = calls;
  node->total_ns = total_ns;
  node->self_ns = self_ns;
  node->work_ns = work_ns;
  node->wait_ns = wait_ns;
  node->min_ns = mean;
  node->max_ns = mean;
  node->histogram[bucket_of (mean)] = calls;
}

uint32_t
build_part_lane (struct radio_profile *profile, const char *name,
                 uint32_t part)
{
  struct rd_lane lane = {
    .name = name,
    .os_tid = 1000 + profile->lanes.n,
    .part = part,
  };
  uint32_t index;
  assert_ok (rd_profile_add_lane (profile, &lane, &index));
  return index;
}

uint32_t
build_lane (struct radio_profile *profile, const char *name)
{
  return build_part_lane (profile, name, 0);
}

static void
add_to_node (struct radio_profile_node *node, uint64_t duration_ns)
{
  bool is_first = node->calls == 0;
  node->calls++;
  node->total_ns += duration_ns;
  if (is_first || duration_ns < node->min_ns)
    node->min_ns = duration_ns;
  if (duration_ns > node->max_ns)
    node->max_ns = duration_ns;
  node->histogram[bucket_of (duration_ns)]++;
}

uint32_t
build_span (struct radio_profile *profile, uint32_t lane, uint32_t node,
            uint32_t parent, uint64_t begin_ns, uint64_t duration_ns)
{
  struct rd_span span = {
    .begin_ns = begin_ns,
    .duration_ns = duration_ns,
    .submitted_ns = begin_ns,
    .id = 1 + (uint32_t) profile->spans.n,
    .parent = parent,
    .node = node,
    .lane = lane,
  };
  assert_true (node < profile->nodes.n);
  assert_ok (rd_profile_add_span (profile, &span));
  add_to_node (&profile->nodes.at[node], duration_ns);
  return span.id;
}

struct rd_span *
build_last (struct radio_profile *profile)
{
  return &profile->spans.at[profile->spans.n - 1];
}

void
build_count (struct radio_profile *profile, uint32_t node,
             const char *counter, const char *unit, uint64_t value)
{
  uint32_t index;
  assert_ok (rd_profile_add_counter (profile, counter, unit, &index));
  assert_ok (rd_profile_add_value (profile, node, index, value));
}

void
build_note (struct radio_profile *profile, uint32_t span, uint32_t node,
            const char *key, const char *value, bool is_name)
{
  struct rd_note note = {
    .span = span,
    .node = node,
    .key = key,
    .value = value,
    .is_name = is_name,
  };
  assert_ok (rd_profile_add_note (profile, &note));
}

void
build_sample (struct radio_profile *profile, const char *gauge,
              uint64_t time_ns, int64_t value)
{
  struct rd_sample sample = { .time_ns = time_ns, .value = value };
  assert_ok (rd_profile_add_gauge (profile, gauge, "count", &sample.gauge));
  assert_ok (rd_profile_add_sample (profile, &sample));
}

void
build_fact (struct radio_profile *profile, const char *key,
            const char *value, bool is_name)
{
  assert_ok (rd_profile_add_fact (profile, key, value, is_name));
}

/*------------------------------------------------------------------------
 * Self, work and wait
 *----------------------------------------------------------------------*/

/* A child's interval, clipped to its parent's. */
struct interval {
  uint32_t parent;            /* an id */
  bool is_same_lane;
  uint64_t begin_ns, end_ns;
};

static int
compare_intervals (const void *a, const void *b)
{
  const struct interval *x = a, *y = b;
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  if (x->begin_ns != y->begin_ns)
    return x->begin_ns < y->begin_ns ? -1 : 1;
  return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Ids count up from 1, so the span with id N is at index N - 1. */
static size_t
list_children (const struct radio_profile *profile,
               struct interval *intervals)
{
  size_t n = 0;
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    if (span->parent == 0)
      continue;
    const struct rd_span *above = &profile->spans.at[span->parent - 1];
    uint64_t end = span->begin_ns + span->duration_ns;
    uint64_t above_end = above->begin_ns + above->duration_ns;
    if (span->begin_ns >= above_end)
      continue;
    intervals[n++] = (struct interval) {
      .parent = span->parent,
      .is_same_lane = span->lane == above->lane,
      .begin_ns = span->begin_ns,
      .end_ns = end < above_end ? end : above_end,
    };
  }
  qsort (intervals, n, sizeof *intervals, compare_intervals);
  return n;
}

/* Returns how much time the first intervals, those of one parent, cover
 * together; with `same_lane', only those on the parent's own lane. */
static uint64_t
covered (const struct interval *intervals, size_t n, bool same_lane)
{
  uint64_t sum = 0, until = 0;
  for (size_t i = 0; i < n && intervals[i].parent == intervals[0].parent;
       i++) {
    const struct interval *at = &intervals[i];
    uint64_t begin = at->begin_ns > until ? at->begin_ns : until;
    if ((same_lane && !at->is_same_lane) || at->end_ns <= begin)
      continue;
    sum += at->end_ns - begin;
    until = at->end_ns;
  }
  return sum;
}

static void
add_span_times (struct radio_profile *profile, const struct rd_span *span,
                const struct interval *children, size_t n)
{
  struct radio_profile_node *node = &profile->nodes.at[span->node];
  node->self_ns += span->duration_ns - covered (children, n, false);
  node->queue_ns += span->begin_ns - span->submitted_ns;
  node->open_count += (span->flags & RD_SPAN_OPEN) != 0;
  node->late_count += (span->flags & RD_SPAN_LATE) != 0;
  if (span->lane == RD_NO_INDEX || profile->lanes.at[span->lane].is_async)
    return;
  node->wait_ns += span->wait_ns;
  node->work_ns += span->duration_ns - covered (children, n, true)
                   - span->wait_ns;
}

void
build_finish (struct radio_profile *profile)
{
  struct interval *intervals =
    malloc ((profile->spans.n + 1) * sizeof *intervals);
  assert_non_null (intervals);
  size_t n = list_children (profile, intervals);
  size_t at = 0;
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    while (at < n && intervals[at].parent < span->id)
      at++;
    bool has = at < n && intervals[at].parent == span->id;
    add_span_times (profile, span, intervals + at, has ? n - at : 0);
  }
  free (intervals);
  assert_ok (rd_profile_finalize (profile));
}

/*------------------------------------------------------------------------
 * Whole profiles
 *----------------------------------------------------------------------*/

#define US 1000

/* Two requests that overlap, each with its phases, one of them retried. */
static void
add_requests (struct radio_profile *profile, uint32_t read, uint32_t span)
{
  uint32_t get = build_edge_node (profile, read, "GET", "network",
                                  RADIO_EDGE_ASYNC);
  uint32_t connect = build_edge_node (profile, get, "connect", "network",
                                      RADIO_EDGE_PHASE);
  uint32_t body = build_edge_node (profile, get, "body", "network",
                                   RADIO_EDGE_PHASE);
  uint32_t first = build_span (profile, RD_NO_INDEX, get, span, 500 * US,
                               3000 * US);
  build_last (profile)->nbytes = 1 << 20;
  build_last (profile)->submitted_ns = 400 * US;
  build_note (profile, first, get, "object", "ct/Doe^Jane.zarr/c/0/0/0",
              true);
  build_span (profile, RD_NO_INDEX, connect, first, 500 * US, 1000 * US);
  build_span (profile, RD_NO_INDEX, body, first, 1500 * US, 2000 * US);
  uint32_t second = build_span (profile, RD_NO_INDEX, get, span, 800 * US,
                                3200 * US);
  build_last (profile)->nbytes = 1 << 19;
  build_span (profile, RD_NO_INDEX, body, second, 900 * US, 3100 * US);
  build_count (profile, get, "requests", "count", 2);
  build_count (profile, get, "retries", "count", 1);
  build_count (profile, get, "bytes fetched", "bytes", 3 << 19);
  build_note (profile, 0, get, "object", "ct/Doe^Jane.zarr/c/0/0/0", true);
  build_sample (profile, "requests in flight", 500 * US, 1);
  build_sample (profile, "requests in flight", 800 * US, 2);
  build_sample (profile, "requests in flight", 3500 * US, 1);
  build_sample (profile, "requests in flight", 4000 * US, 0);
}

/* Tiles decoded on a worker, one of which ends after the read. */
static void
add_tiles (struct radio_profile *profile, uint32_t read, uint32_t span)
{
  uint32_t worker = build_lane (profile, "worker 1");
  uint32_t tile = build_edge_node (profile, read, "tile", "decode",
                                   RADIO_EDGE_HANDOFF);
  uint32_t decode = build_node (profile, tile, "blosc", "decode");
  for (uint64_t i = 0; i < 4; i++) {
    uint64_t begin = (4000 + 1000 * i) * US;
    uint64_t duration = (i < 3 ? 900 : 2500) * US;
    uint32_t id = build_span (profile, worker, tile, span, begin, duration);
    build_last (profile)->submitted_ns = 3900 * US;
    build_last (profile)->flags = i < 3 ? 0 : RD_SPAN_LATE;
    build_span (profile, worker, decode, id, begin + 100 * US, 700 * US);
    build_last (profile)->nbytes = 1 << 19;
    build_last (profile)->tile = 1 + i * i % 3;
    build_last (profile)->stored_nbytes = 1000 * i;
  }
  build_count (profile, decode, "bytes decoded", "bytes", 4 << 19);
  build_count (profile, tile, "tiles", "count", 4);
}

/* A function that calls itself, and names that exporters must escape. */
static void
add_odd_names (struct radio_profile *profile, uint32_t lane, uint32_t parent,
               uint32_t span)
{
  static const char *const names[] = {
    "</script>", "a;b 3", "\"quoted\\\"", "\xce\xb1\xce\xb2", "recursion",
    "recursion",
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    parent = build_node (profile, parent, names[i], "user");
    span = build_span (profile, lane, parent, span, (8600 + 10 * i) * US,
                       (300 - 20 * i) * US);
  }
}

static void
add_facts (struct radio_profile *profile)
{
  build_fact (profile, "operation", "slice", false);
  build_fact (profile, "command", "radio slice Doe^Jane.nii.gz", true);
  build_fact (profile, "host", "scanner-7", true);
  build_fact (profile, "ncpus", "2", false);
  profile->info.wall_ns = 10000 * US;
  profile->info.scope_count = 5;
  profile->info.scope_cost_ns = 17.5;
  profile->info.alloc_count = 12;
  profile->info.alloc_nbytes = 1 << 20;
  profile->info.alloc_peak_nbytes = 1 << 19;
}

struct radio_profile *
build_specimen (void)
{
  struct radio_profile *profile = build_new ("a specimen");
  uint32_t lane = build_lane (profile, "main");
  uint32_t root = build_node (profile, RD_NO_INDEX, "radio", "operation");
  uint32_t read = build_node (profile, root, "read", "operation");
  uint32_t disk = build_node (profile, read, "pread", "disk");
  uint32_t hit = build_edge_node (profile, read, "cache hit", "metadata",
                                  RADIO_EDGE_INSTANT);
  uint32_t root_span = build_span (profile, lane, root, 0, 0, 10000 * US);
  build_last (profile)->flags = RD_SPAN_OPEN;
  uint32_t span = build_span (profile, lane, read, root_span, 200 * US,
                              8000 * US);
  build_span (profile, lane, disk, span, 300 * US, 150 * US);
  build_last (profile)->wait_ns = 100 * US;
  build_last (profile)->starved_ns = 40 * US;
  build_last (profile)->nbytes = 65536;
  build_span (profile, lane, hit, span, 460 * US, 0);
  build_count (profile, read, "bytes asked", "bytes", 1 << 19);
  build_count (profile, read, "bytes delivered", "bytes", 1 << 19);
  build_count (profile, disk, "bytes fetched", "bytes", 65536);
  build_note (profile, 0, read, "file", "/data/Doe^Jane.nii.gz", true);
  build_note (profile, span, read, "file", "/data/Doe^Jane.nii.gz", true);
  build_note (profile, 0, read, "box shape", "64,64,64", false);
  profile->nodes.at[disk].dropped_count = 3;
  profile->nodes.at[read].alloc_count = 10;
  profile->nodes.at[read].alloc_nbytes = 4096;
  profile->nodes.at[read].alloc_live_nbytes = 128;
  add_requests (profile, read, span);
  add_tiles (profile, read, span);
  add_odd_names (profile, lane, root, root_span);
  add_facts (profile);
  build_finish (profile);
  return profile;
}

/* xorshift64*, seeded. */
static uint64_t
next_random (uint64_t *state)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1d;
}

#define RANDOM_NODES 64

/* Adds one thread's spans: a random walk up and down a stack of at most 8
 * frames, in which time advances at each step.  A span's length is set when it
 * ends. */
static void
add_walk (struct radio_profile *profile, uint64_t *state, size_t nspans,
          uint32_t lane)
{
  uint32_t stack[8];          /* of ids */
  size_t depth = 0;
  uint64_t now = 0;
  for (size_t left = nspans; left > 0 || depth > 0;) {
    uint64_t random = next_random (state);
    now += 1 + random % 1000;
    if (left > 0 && (depth == 0 || (depth < 8 && (random >> 32) % 2))) {
      uint32_t parent = depth ? stack[depth - 1] : 0;
      uint32_t above =
        parent ? profile->spans.at[parent - 1].node : RD_NO_INDEX;
      char name[16];
      snprintf (name, sizeof name, "f%u", (unsigned) (random >> 40) % 4);
      uint32_t node = rd_profile_find_node (profile, above, name, "user",
                                            RADIO_EDGE_CALL);
      if (node == RD_NO_INDEX && profile->nodes.n < RANDOM_NODES)
        node = build_node (profile, above, name, "user");
      if (node == RD_NO_INDEX)
        continue;
      stack[depth++] = build_span (profile, lane, node, parent, now, 0);
      build_last (profile)->tile = random >> 50 & random >> 60;
      build_last (profile)->stored_nbytes
        = build_last (profile)->tile ? random & UINT32_MAX : 0;
      build_last (profile)->starved_ns = random >> 40 & random >> 52;
      left--;
    } else {
      struct rd_span *span = &profile->spans.at[stack[--depth] - 1];
      span->duration_ns = now - span->begin_ns;
    }
  }
}

/* Recounts the figures that build_span counted with unknown lengths. */
static void
count_again (struct radio_profile *profile)
{
  for (size_t i = 0; i < profile->nodes.n; i++) {
    struct radio_profile_node *node = &profile->nodes.at[i];
    node->calls = node->total_ns = node->min_ns = node->max_ns = 0;
    memset (node->histogram, 0, sizeof node->histogram);
  }
  for (size_t i = 0; i < profile->spans.n; i++)
    add_to_node (&profile->nodes.at[profile->spans.at[i].node],
                 profile->spans.at[i].duration_ns);
}

struct radio_profile *
build_random (uint64_t seed, size_t nspans, size_t nlanes)
{
  struct radio_profile *profile = build_new ("random");
  uint64_t state = seed * 2 + 1;
  for (size_t i = 0; i < nlanes; i++) {
    char name[32];
    snprintf (name, sizeof name, "thread %zu", i);
    uint32_t lane = build_lane (profile, name);
    size_t n = nspans * (i + 1) / nlanes - nspans * i / nlanes;
    add_walk (profile, &state, n, lane);
  }
  count_again (profile);
  build_finish (profile);
  return profile;
}
