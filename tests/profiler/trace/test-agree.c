/* SPDX-License-Identifier: MIT */
/* Compares all formats on random histories: the same paths have the same
 * times, whatever the names are. */
#include <config.h>

#include "tests/profiler/trace/capture.h"
#include "tests/profiler/trace/decode-pprof.h"
#include "tests/profiler/trace/history.h"
#include "tests/profiler/trace/sums.h"

#define NSEEDS 6

/*------------------------------------------------------------------------
 * The tree: self time by path
 *----------------------------------------------------------------------*/

static void
push_node (const struct radio_profile *profile, size_t node,
           struct path *path)
{
  if (node == RADIO_NO_PARENT)
    return;
  push_node (profile, profile->nodes.at[node].parent, path);
  path_push (path, profile->nodes.at[node].name);
}

static void
sum_tree (const struct radio_profile *profile, struct sums *sums)
{
  for (size_t i = 0; i < profile->nodes.n; i++) {
    struct path path = { .nbytes = 0 };
    push_node (profile, i, &path);
    sums_add (sums, path.text, profile->nodes.at[i].self_ns);
  }
}

static void
sum_pprof (const struct radio_profile *profile, struct sums *sums)
{
  RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
  capture_bytes (profile, RADIO_PROFILE_PPROF, false, &bytes);
  struct pprof *pprof = pprof_decode (&bytes);
  size_t wall = pprof_type (pprof, "wall");
  for (size_t i = 0; i < pprof->nsamples; i++) {
    struct path path = { .nbytes = 0 };
    const struct pprof_sample *sample = &pprof->samples[i];
    for (size_t j = sample->depth; j-- > 0;)
      path_push (&path,
                 pprof_function_of (pprof, sample->locations[j])->name);
    sums_add (sums, path.text, (uint64_t) sample->values[wall]);
  }
  pprof_free (pprof);
}

static const char *
frame_name (struct json_object *file, uint64_t frame)
{
  struct json_object *frames = json_at (json_at (file, "shared"), "frames");
  assert_true (frame < json_object_array_length (frames));
  return json_text (json_object_array_get_idx (frames, frame), "name");
}

static void
sum_stacks (const struct radio_profile *profile, struct sums *sums)
{
  struct json_object *file =
    capture_json (profile, RADIO_PROFILE_SPEEDSCOPE, false);
  struct json_object *profiles = json_at (file, "profiles");
  struct json_object *tree = json_object_array_get_idx (
    profiles, json_object_array_length (profiles) - 1);
  struct json_object *samples = json_at (tree, "samples");
  struct json_object *weights = json_at (tree, "weights");
  for (size_t i = 0; i < json_object_array_length (samples); i++) {
    struct path path = { .nbytes = 0 };
    struct json_object *stack = json_object_array_get_idx (samples, i);
    for (size_t j = 0; j < json_object_array_length (stack); j++)
      path_push (&path, frame_name (file, json_object_get_uint64 (
                          json_object_array_get_idx (stack, j))));
    sums_add (sums, path.text, json_object_get_uint64 (
                json_object_array_get_idx (weights, i)));
  }
  json_object_put (file);
}

/* "a;b;c 12": no name has a semicolon in it here. */
static void
sum_folded (const struct radio_profile *profile, struct sums *sums)
{
  RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
  capture_bytes (profile, RADIO_PROFILE_FOLDED, false, &bytes);
  char *line = (char *) bytes.data;
  for (char *next; *line != '\0'; line = next + 1) {
    next = strchr (line, '\n');
    assert_non_null (next);
    *next = '\0';
    char *count = strrchr (line, ' ');
    assert_non_null (count);
    *count = '\0';
    struct path path = { .nbytes = 0 };
    for (char *name = line, *end; name != NULL; name = end) {
      end = strchr (name, ';');
      if (end != NULL)
        *end++ = '\0';
      path_push (&path, name);
    }
    sums_add (sums, path.text, strtoull (count + 1, NULL, 10));
  }
}

typedef void sum_fn (const struct radio_profile *profile,
                     struct sums *sums);

static void
assert_agree (const struct radio_profile *profile, sum_fn *expected,
              sum_fn *found, const char *what)
{
  struct sums a = { 0 }, b = { 0 };
  expected (profile, &a);
  found (profile, &b);
  assert_true (a.n > 5);
  sums_assert_equal (&a, &b, what);
  sums_free (&a);
  sums_free (&b);
}

/*------------------------------------------------------------------------
 * Lanes: time by lane and path within it
 *----------------------------------------------------------------------*/

static bool
is_within (const struct rd_span *inner, const struct rd_span *outer)
{
  return outer->begin_ns <= inner->begin_ns
         && inner->begin_ns + inner->duration_ns
            <= outer->begin_ns + outer->duration_ns;
}

/* Builds the path of a span in its lane from all spans before it, in the
 * profile's order, that contain it.  This is the slow way, which looks at
 * every one. */
static void
lane_path (const struct radio_profile *profile, size_t at,
           struct path *path)
{
  const struct rd_span *spans = profile->spans.at;
  char lane[16];
  snprintf (lane, sizeof lane, "%u", (unsigned) spans[at].lane);
  path_push (path, lane);
  for (size_t i = 0; i <= at; i++)
    if (spans[i].lane == spans[at].lane && is_within (&spans[at], &spans[i])
        && profile->nodes.at[spans[i].node].edge != RADIO_EDGE_INSTANT)
      path_push (path, profile->nodes.at[spans[i].node].name);
}

static void
sum_log (const struct radio_profile *profile, struct sums *sums)
{
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    struct path path = { .nbytes = 0 };
    lane_path (profile, i, &path);
    sums_add (sums, path.text, span->duration_ns);
  }
}

static void
sum_evented (const struct radio_profile *profile, struct sums *sums)
{
  struct json_object *file =
    capture_json (profile, RADIO_PROFILE_SPEEDSCOPE, false);
  struct json_object *profiles = json_at (file, "profiles");
  for (size_t i = 0; i + 1 < json_object_array_length (profiles); i++) {
    struct json_object *events =
      json_at (json_object_array_get_idx (profiles, i), "events");
    struct path path = { .nbytes = 0 };
    uint64_t begin[64];
    char lane[16];
    snprintf (lane, sizeof lane, "%u", (unsigned) i);
    path_push (&path, lane);
    for (size_t j = 0; j < json_object_array_length (events); j++) {
      struct json_object *event = json_object_array_get_idx (events, j);
      uint64_t at = json_u64 (event, "at");
      if (json_text (event, "type")[0] == 'O') {
        begin[path.depth] = at;
        path_push (&path, frame_name (file, json_u64 (event, "frame")));
      } else {
        sums_add (sums, path.text, at - begin[path.depth - 1]);
        path_pop (&path);
      }
    }
  }
  json_object_put (file);
}

/* Spans of a lane are in the profile's order in the file, and so are lanes: a
 * new tid is the next lane. */
static void
sum_chrome (const struct radio_profile *profile, struct sums *sums)
{
  struct json_object *trace =
    capture_json (profile, RADIO_PROFILE_CHROME, false);
  struct json_object *events = chrome_events (trace, "X");
  struct path path = { .nbytes = 0 };
  uint64_t tid = 0, ends[64];
  unsigned lane = 0;
  for (size_t i = 0; i < json_object_array_length (events); i++) {
    struct json_object *event = json_object_array_get_idx (events, i);
    uint64_t begin = json_ns (event, "ts"), dur = json_ns (event, "dur");
    if (json_u64 (event, "tid") != tid) {
      char text[16];
      snprintf (text, sizeof text, "%u", lane++);
      path = (struct path) { .nbytes = 0 };
      path_push (&path, text);
      tid = json_u64 (event, "tid");
    }
    while (path.depth > 1 && begin + dur > ends[path.depth - 1])
      path_pop (&path);
    ends[path.depth] = begin + dur;
    path_push (&path, json_text (event, "name"));
    sums_add (sums, path.text, dur);
  }
  json_object_put (events);
  json_object_put (trace);
}

/*------------------------------------------------------------------------
 * Tests
 *----------------------------------------------------------------------*/

static void
for_each_history (bool odd, sum_fn *expected, sum_fn *found,
                  const char *what)
{
  for (uint64_t seed = 1; seed <= NSEEDS; seed++) {
    struct radio_profile *profile = history_random (seed, odd);
    assert_agree (profile, expected, found, what);
    radio_profile_close (profile);
  }
}

static void
pprof_has_the_self_times_of_the_tree (void **state)
{
  (void) state;
  for_each_history (false, sum_tree, sum_pprof, "pprof");
}

static void
pprof_has_them_under_odd_names (void **state)
{
  (void) state;
  for_each_history (true, sum_tree, sum_pprof, "pprof");
}

static void
speedscopes_stacks_have_the_self_times_of_the_tree (void **state)
{
  (void) state;
  for_each_history (false, sum_tree, sum_stacks, "speedscope");
}

static void
speedscopes_stacks_have_them_under_odd_names (void **state)
{
  (void) state;
  for_each_history (true, sum_tree, sum_stacks, "speedscope");
}

static void
folded_stacks_have_the_self_times_of_the_tree (void **state)
{
  (void) state;
  for_each_history (false, sum_tree, sum_folded, "folded");
}

static void
speedscopes_lanes_have_the_times_of_the_log (void **state)
{
  (void) state;
  for_each_history (false, sum_log, sum_evented, "speedscope");
}

static void
speedscopes_lanes_have_them_under_odd_names (void **state)
{
  (void) state;
  for_each_history (true, sum_log, sum_evented, "speedscope");
}

static void
chromes_events_have_the_times_of_the_log (void **state)
{
  (void) state;
  for_each_history (false, sum_log, sum_chrome, "chrome");
}

static void
chromes_events_have_them_under_odd_names (void **state)
{
  (void) state;
  for_each_history (true, sum_log, sum_chrome, "chrome");
}

/* Perfetto shows numeric escapes verbatim. */
static void
chromes_names_have_no_numeric_escapes (void **state)
{
  (void) state;
  struct radio_profile *profile = history_random (1, true);
  RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
  capture_bytes (profile, RADIO_PROFILE_CHROME, true, &bytes);
  assert_null (strstr ((const char *) bytes.data, "\\u"));
  assert_non_null (strstr ((const char *) bytes.data, "\"</script>"));
  assert_non_null (strstr ((const char *) bytes.data,
                           "\"\\\"quoted\\\" and \\\\ back\""));
  radio_profile_close (profile);
}

/* Characters that a line of a log may not have. */
static void
odd_names_leave_files_plain (void **state)
{
  (void) state;
  static const enum radio_profile_format formats[] = {
    RADIO_PROFILE_CHROME, RADIO_PROFILE_SPEEDSCOPE
  };
  struct radio_profile *profile = history_random (1, true);
  for (size_t i = 0; i < 2; i++) {
    RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
    capture_bytes (profile, formats[i], true, &bytes);
    assert_int_equal (strlen ((const char *) bytes.data), bytes.nbytes);
    for (size_t j = 0; j < bytes.nbytes; j++)
      assert_true (bytes.data[j] >= ' ' || bytes.data[j] == '\n');
  }
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (pprof_has_the_self_times_of_the_tree),
    cmocka_unit_test (pprof_has_them_under_odd_names),
    cmocka_unit_test (speedscopes_stacks_have_the_self_times_of_the_tree),
    cmocka_unit_test (speedscopes_stacks_have_them_under_odd_names),
    cmocka_unit_test (folded_stacks_have_the_self_times_of_the_tree),
    cmocka_unit_test (speedscopes_lanes_have_the_times_of_the_log),
    cmocka_unit_test (speedscopes_lanes_have_them_under_odd_names),
    cmocka_unit_test (chromes_events_have_the_times_of_the_log),
    cmocka_unit_test (chromes_events_have_them_under_odd_names),
    cmocka_unit_test (chromes_names_have_no_numeric_escapes),
    cmocka_unit_test (odd_names_leave_files_plain),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
