/* SPDX-License-Identifier: MIT */
/* Random histories. */
#include <config.h>

#include "tests/profiler/trace/history.h"

const char *const odd_names[] = {
  "</script><script>alert(1)</script>",
  "\"quoted\" and \\ back",
  ("\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\xae" "gnp.exe"),
  "line\nfeed\ttab\rreturn",
  "a;b;c 12",
  "trailing 34",
  "bad \xff\xfe utf-8 \xc3",
  "overlong \xc0\xaf",
  "surrogate \xed\xa0\x80",
  "\xe2\x80\xa8 line \xe2\x80\xa9 paragraph",
  "\xf0\x9f\xa9\xbb emoji",
  "%s%n%d {0} ${x} `x`",
  "<!--",
  "]]>",
  "",
  " ",
  "\x01\x02\x1f\x7f",
  "\xc2\x80\xc2\x9f",
  "null", "true", "NaN", "__proto__", "constructor",
};
const size_t odd_names_count = sizeof odd_names / sizeof odd_names[0];

struct walk {
  struct radio_profile *profile;
  uint64_t random;
  bool odd;
};

/* xorshift64*, seeded. */
static uint64_t
below (struct walk *walk, uint64_t n)
{
  walk->random ^= walk->random >> 12;
  walk->random ^= walk->random << 25;
  walk->random ^= walk->random >> 27;
  return (walk->random * 0x2545f4914f6cdd1d >> 16) % n;
}

static uint32_t
child_node (struct walk *walk, uint32_t parent, enum radio_edge edge)
{
  char plain[8];
  const char *name = plain;
  if (walk->odd)
    name = odd_names[below (walk, odd_names_count)];
  else
    snprintf (plain, sizeof plain, "f%u", (unsigned) below (walk, 5));
  uint32_t node = rd_profile_find_node (walk->profile, parent, name, "user",
                                        edge);
  if (node != RD_NO_INDEX)
    return node;
  return build_edge_node (walk->profile, parent, name, "user", edge);
}

/* Adds children of a span that has been added, within it, on its lane. */
static void
add_children (struct walk *walk, uint32_t lane, uint32_t id, unsigned depth)
{
  struct rd_span span = walk->profile->spans.at[id - 1];
  uint64_t at = span.begin_ns, end = span.begin_ns + span.duration_ns;
  while (depth < 6 && at < end && below (walk, 3) > 0) {
    at += below (walk, (end - at) / 2 + 1);
    uint64_t duration = below (walk, end - at + 1);
    bool instant = below (walk, 8) == 0;
    uint32_t node = child_node (walk, span.node, instant
                                ? RADIO_EDGE_INSTANT : RADIO_EDGE_CALL);
    uint32_t child = build_span (walk->profile, lane, node, id, at,
                                 instant ? 0 : duration);
    if (instant)
      continue;
    build_last (walk->profile)->nbytes = below (walk, 1 << 20);
    add_children (walk, lane, child, depth + 1);
    at += duration;
  }
}

/* Returns a random span that can hand on work. */
static uint32_t
some_parent (struct walk *walk)
{
  for (;;) {
    uint32_t id = 1 + (uint32_t) below (walk, walk->profile->spans.n);
    uint32_t node = walk->profile->spans.at[id - 1].node;
    enum radio_edge edge = walk->profile->nodes.at[node].edge;
    if (edge == RADIO_EDGE_CALL || edge == RADIO_EDGE_HANDOFF)
      return id;
  }
}

/* Adds work for other spans, in sequence on a lane of its own. */
static void
add_worker (struct walk *walk, uint32_t lane)
{
  uint64_t at = 0;
  for (unsigned i = 0; i < 12; i++) {
    uint32_t parent = some_parent (walk);
    struct rd_span from = walk->profile->spans.at[parent - 1];
    uint64_t submitted = from.begin_ns + from.duration_ns / 2;
    at = at > submitted ? at : submitted + below (walk, 500);
    uint64_t duration = below (walk, 3000);
    uint32_t node = child_node (walk, from.node, RADIO_EDGE_HANDOFF);
    uint32_t id = build_span (walk->profile, lane, node, parent, at,
                              duration);
    struct rd_span *span = build_last (walk->profile);
    span->submitted_ns = submitted;
    if (at + duration > from.begin_ns + from.duration_ns)
      span->flags = RD_SPAN_LATE;
    add_children (walk, lane, id, 0);
    at += duration;
  }
}

static void
add_request (struct walk *walk)
{
  uint32_t parent = some_parent (walk);
  struct rd_span from = walk->profile->spans.at[parent - 1];
  uint64_t begin = from.begin_ns + below (walk, from.duration_ns + 1);
  uint64_t duration = 1 + below (walk, 5000);
  uint32_t node = child_node (walk, from.node, RADIO_EDGE_ASYNC);
  uint32_t id = build_span (walk->profile, RD_NO_INDEX, node, parent, begin,
                            duration);
  uint32_t phase = child_node (walk, node, RADIO_EDGE_PHASE);
  build_span (walk->profile, RD_NO_INDEX, phase, id, begin, duration / 2);
}

struct radio_profile *
history_random (uint64_t seed, bool odd)
{
  struct walk walk = { build_new ("history"), 2 * seed + 1, odd };
  uint32_t lane = build_lane (walk.profile, "main");
  for (uint64_t i = 0, at = 0; i < 4; i++, at += 20000) {
    uint32_t node = child_node (&walk, RD_NO_INDEX, RADIO_EDGE_CALL);
    uint32_t id = build_span (walk.profile, lane, node, 0, at, 15000);
    add_children (&walk, lane, id, 0);
  }
  for (unsigned i = 0; i < 3; i++)
    add_worker (&walk, build_lane (walk.profile, "worker"));
  for (unsigned i = 0; i < 10; i++)
    add_request (&walk);
  for (size_t i = 0; i < walk.profile->nodes.n; i++)
    build_count (walk.profile, (uint32_t) i, "bytes fetched", "bytes",
                 below (&walk, 1 << 30));
  build_finish (walk.profile);
  return walk.profile;
}
