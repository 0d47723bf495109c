/* SPDX-License-Identifier: MIT */
/* Texts of spans and nodes, and gauges: the limits on what is kept, and the
 * counting of losses. */
#include <config.h>

#include <string.h>

#include "tests/profiler/causal/stage.h"

SITE (read);
SITE (fetch);

static const struct radio_counter held = { "bytes held", "bytes" };
static const struct radio_counter running = { "requests running", "count" };

STAGE_FIXTURE

static int
open_tree_only (void **state)
{
  (void) state;
  struct radio_recorder_options options = { .tree_only = true };
  stage_open (&stage, &options, 0);
  return 0;
}

static void
fetch_with (const char *key, const char *value)
{
  uint64_t token = radio_scope_begin (&fetch_site);
  radio_scope_text (key, value, RADIO_TEXT_PLAIN);
  stage.now += 10;
  radio_scope_end (token);
}

/* Returns the note of a node (span 0) or of a span, or NULL. */
static const struct rd_note *
find_note (const struct radio_profile *profile, uint32_t span,
           const char *key)
{
  const struct rd_note *found = NULL;
  for (size_t i = 0; i < profile->notes.n; i++) {
    const struct rd_note *note = &profile->notes.at[i];
    if (note->span != span || strcmp (note->key, key) != 0)
      continue;
    assert_null (found);
    found = note;
  }
  return found;
}

static void
spans_keep_each_text_and_nodes_the_first (void **state)
{
  (void) state;
  fetch_with ("file", "a");
  fetch_with ("file", "b");
  fetch_with ("file", "c");
  struct radio_profile *profile = stage_close (&stage);
  const struct rd_note *note = find_note (profile, 0, "file");
  assert_string_equal (note->value, "a");
  assert_true (note->varies);
  assert_int_equal (profile->spans.n, 3);
  for (uint32_t i = 0; i < 3; i++) {
    note = find_note (profile, profile->spans.at[i].id, "file");
    assert_int_equal (note->value[0], 'a' + i);
    assert_false (note->varies);
  }
  radio_profile_close (profile);
}

static void
equal_texts_do_not_vary (void **state)
{
  (void) state;
  fetch_with ("codec", "zstd");
  fetch_with ("codec", "zstd");
  struct radio_profile *profile = stage_close (&stage);
  assert_false (find_note (profile, 0, "codec")->varies);
  radio_profile_close (profile);
}

/* Texts at the same address each time, or at another one each time: only
 * their contents count. */
static void
texts_are_compared_by_content_not_address (void **state)
{
  static const char *const values[] = {
    "c/0/1", "c/0/1", "c/0/2", "c/0", "c/0/22", "", "c/0/1", "c/0/1"
  };
  const size_t n = sizeof values / sizeof *values;
  (void) state;
  char key[] = "same";
  for (size_t i = 0; i < n; i++) {
    char value[8];
    strcpy (value, values[i]);
    fetch_with ("file", value);
    strcpy (value, "c/9/9/9");
    fetch_with (i % 2 ? key : "same", "c/0/1");
  }
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->spans.n, 2 * n);
  for (size_t i = 0; i < n; i++) {
    uint32_t id = profile->spans.at[2 * i].id;
    assert_string_equal (find_note (profile, id, "file")->value, values[i]);
    id = profile->spans.at[2 * i + 1].id;
    assert_string_equal (find_note (profile, id, "same")->value, "c/0/1");
  }
  assert_true (find_note (profile, 0, "file")->varies);
  assert_false (find_note (profile, 0, "same")->varies);
  radio_profile_close (profile);
}

/* A node that repeats its first text, and one that gets a text that another
 * node of the same key had before. */
static void
nodes_compare_with_their_own_first_text (void **state)
{
  static const char *const values[] = { "a", "a", "b", "b", "b" };
  (void) state;
  for (size_t i = 0; i < 5; i++) {
    uint64_t token = radio_scope_begin (&read_site);
    radio_scope_text ("file", values[i], RADIO_TEXT_PLAIN);
    if (i >= 2)
      fetch_with ("file", "b");
    radio_scope_end (token);
  }
  struct radio_profile *profile = stage_close (&stage);
  size_t read = stage_index (profile, "read");
  for (size_t i = 0; i < profile->notes.n; i++) {
    const struct rd_note *note = &profile->notes.at[i];
    if (note->span != 0)
      continue;
    assert_string_equal (note->value, note->node == read ? "a" : "b");
    assert_int_equal (note->varies, note->node == read);
  }
  radio_profile_close (profile);
}

/* The thread repeats a text of its scopes in another recorder. */
static void
a_second_recorder_has_texts_of_its_own (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 2; i++) {
    fetch_with ("file", "a");
    fetch_with ("file", "a");
    fetch_with ("codec", i ? "lz4" : "zstd");
    struct radio_profile *profile = stage_close (&stage);
    assert_int_equal (profile->spans.n, 3);
    for (size_t j = 0; j < 2; j++) {
      uint32_t id = profile->spans.at[j].id;
      assert_string_equal (find_note (profile, id, "file")->value, "a");
    }
    assert_false (find_note (profile, 0, "file")->varies);
    assert_string_equal (find_note (profile, 0, "codec")->value,
                         i ? "lz4" : "zstd");
    radio_profile_close (profile);
    if (i == 0)
      open_stage (NULL);
  }
}

static void
a_span_has_the_last_text_of_a_key (void **state)
{
  (void) state;
  uint64_t token = radio_scope_begin (&read_site);
  radio_scope_text ("axis", "x", RADIO_TEXT_PLAIN);
  fetch_with ("axis", "-");
  radio_scope_text ("file", "f", RADIO_TEXT_NAME);
  radio_scope_text ("axis", "z", RADIO_TEXT_PLAIN);
  radio_scope_end (token);
  struct radio_profile *profile = stage_close (&stage);
  uint32_t span = profile->spans.at[0].id;
  assert_string_equal (find_note (profile, span, "axis")->value, "z");
  assert_string_equal (find_note (profile, span, "file")->value, "f");
  assert_true (find_note (profile, span, "file")->is_name);
  assert_false (find_note (profile, span, "axis")->is_name);
  radio_profile_close (profile);
}

static void
notes_of_one_node_on_two_threads_are_joined (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  for (unsigned i = 1; i <= 2; i++) {
    stage_on (&stage, i);
    uint64_t far = radio_scope_receive (&handoff, &fetch_site);
    radio_scope_text ("thread", i == 1 ? "one" : "two", RADIO_TEXT_PLAIN);
    radio_scope_text ("codec", "lz4", RADIO_TEXT_PLAIN);
    radio_scope_end (far);
  }
  stage_on (&stage, 0);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_string_equal (find_note (profile, 0, "thread")->value, "one");
  assert_true (find_note (profile, 0, "thread")->varies);
  assert_false (find_note (profile, 0, "codec")->varies);
  radio_profile_close (profile);
}

static void
a_long_text_is_cut_at_a_whole_character (void **state)
{
  (void) state;
  for (size_t shift = 0; shift < 2; shift++) {
    char value[4001] = "x";
    for (size_t i = shift; i + 2 < sizeof value; i += 2)
      memcpy (value + i, "\xc3\xa9", 2);
    fetch_with (shift ? "odd" : "even", value);
    fetch_with (shift ? "odd" : "even", value);
  }
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (strlen (find_note (profile, 0, "even")->value), 1024);
  assert_int_equal (strlen (find_note (profile, 0, "odd")->value), 1023);
  assert_false (find_note (profile, 0, "odd")->varies);
  radio_profile_close (profile);
}

static void
texts_are_bounded_and_losses_counted (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  for (unsigned i = 0; i < 70000; i++)
    radio_scope_text ("key", i % 2 ? "a" : "b", RADIO_TEXT_PLAIN);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_string_equal (rd_profile_find_fact (profile, "texts not kept"),
                       "4464");
  assert_string_equal (find_note (profile, 0, "key")->value, "b");
  radio_profile_close (profile);
}

static void
a_node_has_sixteen_keys_at_most (void **state)
{
  (void) state;
  static char keys[20][8];
  uint64_t top = radio_scope_begin (&read_site);
  for (unsigned i = 0; i < 20; i++) {
    snprintf (keys[i], sizeof keys[i], "key %u", i);
    radio_scope_text (keys[i], "value", RADIO_TEXT_PLAIN);
  }
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_non_null (find_note (profile, 0, "key 15"));
  assert_null (find_note (profile, 0, "key 16"));
  assert_non_null (find_note (profile, 1, "key 16"));
  assert_string_equal (rd_profile_find_fact (profile, "texts not kept"),
                       "4");
  radio_profile_close (profile);
}

/* More keys than a writer caches values of, all with one value, so that a
 * lookup meets the values of other keys. */
static void
many_keys_of_one_value_are_distinct (void **state)
{
  (void) state;
  static char keys[60][8];
  for (unsigned i = 0; i < 180; i++) {
    snprintf (keys[i % 60], sizeof keys[0], "key %u", i % 60);
    fetch_with (keys[i % 60], "value");
    if (i < 60)
      fetch_with ("other", "value");
  }
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->spans.n, 240);
  for (unsigned i = 0; i < 60; i++) {
    uint32_t id = profile->spans.at[180 + i].id;
    assert_string_equal (find_note (profile, id, keys[i])->value, "value");
  }
  assert_false (find_note (profile, 0, "key 14")->varies);
  assert_null (find_note (profile, 0, "key 15"));
  assert_string_equal (rd_profile_find_fact (profile, "texts not kept"),
                       "135");
  radio_profile_close (profile);
}

static void
without_a_log_nodes_have_texts_and_there_are_no_samples (void **state)
{
  (void) state;
  fetch_with ("file", "a");
  radio_gauge_set (&held, 1);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->notes.n, 1);
  assert_string_equal (find_note (profile, 0, "file")->value, "a");
  assert_int_equal (profile->samples.n, 0);
  assert_null (rd_profile_find_fact (profile, "texts not kept"));
  radio_profile_close (profile);
}

static void
counts_and_texts_outside_all_scopes_are_reported_as_lost (void **state)
{
  (void) state;
  radio_scope_text ("key", "value", RADIO_TEXT_PLAIN);
  RADIO_COUNT ("rows", "count", 7);
  stage_on (&stage, 1);
  RADIO_COUNT ("rows", "count", 7);     /* of a thread without a recorder */
  stage_on (&stage, 0);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->notes.n, 0);
  assert_string_equal (
    rd_profile_find_fact (profile, "counts and texts outside of scopes"),
    "2");
  assert_int_equal (profile->info.nfindings, 1);
  const struct radio_finding *finding = radio_profile_finding (profile, 0);
  assert_string_equal (finding->id, "outside-scopes");
  assert_non_null (strstr (finding->evidence, "2 events were lost, counts or "
                           "texts whose thread was in no scope"));
  radio_profile_close (profile);
  radio_scope_text ("key", "value", RADIO_TEXT_PLAIN);
}

/*------------------------------------------------------------------------
 * Gauges
 *----------------------------------------------------------------------*/

static void
samples_of_all_threads_are_in_order (void **state)
{
  (void) state;
  struct radio_handoff handoff;
  uint64_t top = radio_scope_begin (&read_site);
  radio_handoff_give (&handoff);
  radio_gauge_set (&held, 100);
  stage.now += 10;
  stage_on (&stage, 1);
  uint64_t far = radio_scope_receive (&handoff, &fetch_site);
  radio_gauge_set (&held, -5);
  radio_gauge_set (&running, 2);
  radio_scope_end (far);
  stage.now += 10;
  stage_on (&stage, 0);
  radio_gauge_set (&held, 7);
  radio_scope_end (top);
  radio_handoff_release (&handoff);
  struct radio_profile *profile = stage_close (&stage);
  assert_int_equal (profile->gauges.n, 2);
  assert_int_equal (profile->samples.n, 4);
  static const uint64_t times[] = { 0, 10, 10, 20 };
  static const int64_t values[] = { 100, -5, 2, 7 };
  for (size_t i = 0; i < 4; i++) {
    const struct rd_sample *sample = &profile->samples.at[i];
    assert_int_equal (sample->time_ns, times[i]);
    assert_int_equal (sample->value, values[i]);
    assert_string_equal (profile->gauges.at[sample->gauge].name,
                         i == 2 ? "requests running" : "bytes held");
  }
  radio_profile_close (profile);
}

/* Every gauge keeps its last value, and samples are spread over the time. */
static void
check_thinned_out (const struct radio_profile *profile, uint64_t n)
{
  const struct rd_sample *samples = profile->samples.at;
  size_t nsamples = profile->samples.n;
  assert_true (nsamples > 8192 && nsamples <= 32768);
  int64_t last[2] = { 0, 0 };
  uint64_t largest_step = 0;
  for (size_t i = 0; i < nsamples; i++) {
    last[samples[i].gauge] = samples[i].value;
    if (i > 0 && samples[i].time_ns - samples[i - 1].time_ns > largest_step)
      largest_step = samples[i].time_ns - samples[i - 1].time_ns;
    assert_int_equal (samples[i].value, samples[i].time_ns / 10);
  }
  assert_int_equal (last[0], n - 2);
  assert_int_equal (last[1], n - 1);
  assert_true (largest_step <= 10 * n / 4096);
}

static void
many_samples_are_thinned_out_and_losses_counted (void **state)
{
  (void) state;
  enum { N = 500000 };
  uint64_t top = radio_scope_begin (&read_site);
  for (int64_t i = 0; i < N; i++) {
    radio_gauge_set (i % 2 ? &running : &held, i);
    stage.now += 10;
  }
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  check_thinned_out (profile, N);
  const char *lost = rd_profile_find_fact (profile,
                                           "gauge samples not kept");
  assert_int_equal (strtoul (lost, NULL, 10) + profile->samples.n, N);
  radio_profile_close (profile);
}

static void
the_last_of_simultaneous_samples_is_kept (void **state)
{
  (void) state;
  uint64_t top = radio_scope_begin (&read_site);
  for (int64_t i = 0; i < 40000; i++)
    radio_gauge_set (&held, i);
  radio_scope_end (top);
  struct radio_profile *profile = stage_close (&stage);
  assert_true (profile->samples.n <= 32768);
  int64_t largest = 0;
  for (size_t i = 0; i < profile->samples.n; i++) {
    if (profile->samples.at[i].value > largest)
      largest = profile->samples.at[i].value;
  }
  assert_int_equal (largest, 39999);
  radio_profile_close (profile);
}

#define TEST(name) cmocka_unit_test_setup (name, open_stage)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (spans_keep_each_text_and_nodes_the_first),
    TEST (equal_texts_do_not_vary),
    TEST (texts_are_compared_by_content_not_address),
    TEST (nodes_compare_with_their_own_first_text),
    TEST (a_second_recorder_has_texts_of_its_own),
    TEST (a_span_has_the_last_text_of_a_key),
    TEST (notes_of_one_node_on_two_threads_are_joined),
    TEST (a_long_text_is_cut_at_a_whole_character),
    TEST (texts_are_bounded_and_losses_counted),
    TEST (a_node_has_sixteen_keys_at_most),
    TEST (many_keys_of_one_value_are_distinct),
    cmocka_unit_test_setup (
      without_a_log_nodes_have_texts_and_there_are_no_samples,
      open_tree_only),
    TEST (counts_and_texts_outside_all_scopes_are_reported_as_lost),
    TEST (samples_of_all_threads_are_in_order),
    TEST (many_samples_are_thinned_out_and_losses_counted),
    TEST (the_last_of_simultaneous_samples_is_kept),
  };
  return run_recording_tests (tests);
}
