/* SPDX-License-Identifier: MIT */
/* A round trip through radio's JSON keeps everything, to the last bit. */
#include <config.h>

#include <inttypes.h>

#include "tests/profiler/build.h"
#include "tests/profiler/files/sink.h"

#include <json-c/json.h>

#include "profiler/export/json.h"

/* Writes, reads, compares, writes again, and compares the bytes. */
static void
check_round_trip (const struct radio_profile *profile, bool plain)
{
  struct radio_profile_write_options options = { .plain_blocks = plain };
  struct sink first = sink_write (profile, RADIO_PROFILE_JSON, &options);
  struct radio_profile *back = NULL;
  assert_ok (sink_parse (first.text, first.nbytes, &back));
  assert_same_profile (profile, back);
  struct sink second = sink_write (back, RADIO_PROFILE_JSON, &options);
  assert_int_equal (first.nbytes, second.nbytes);
  assert_memory_equal (first.text, second.text, first.nbytes);
  radio_profile_close (back);
  free (first.text);
  free (second.text);
}

static void
a_specimen_of_everything_survives (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  check_round_trip (profile, false);
  check_round_trip (profile, true);
  radio_profile_close (profile);
}

static void
random_profiles_survive (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    struct radio_profile *profile = build_random (seed, 17 * (seed % 31),
                                                  1 + seed % 9);
    check_round_trip (profile, seed % 2);
    radio_profile_close (profile);
  }
}

static void
an_empty_profile_survives (void **state)
{
  (void) state;
  struct radio_profile *profile;
  assert_ok (rd_profile_new (&profile));
  assert_ok (rd_profile_finalize (profile));
  check_round_trip (profile, false);
  radio_profile_close (profile);
}

/* The numbers need all their bits, so that rounding to a double would show. */
static void
numbers_near_2_to_the_63_survive (void **state)
{
  (void) state;
  const uint64_t large = INT64_MAX - 12345;
  struct radio_profile *profile = build_new ("large");
  uint32_t node = build_node (profile, RD_NO_INDEX, "a", "c");
  uint32_t lane = build_lane (profile, "main");
  build_span (profile, lane, node, 0, large - 1000, 999);
  build_last (profile)->submitted_ns = 1;
  build_last (profile)->id = UINT32_MAX;
  build_last (profile)->parent = UINT32_MAX - 1;
  build_last (profile)->nbytes = large;
  build_last (profile)->tile = UINT64_MAX;
  build_last (profile)->stored_nbytes = UINT32_MAX;
  build_count (profile, node, "n", "count", large);
  build_sample (profile, "g", 1, INT64_MIN);
  build_sample (profile, "g", 2, INT64_MAX);
  build_sample (profile, "g", large, -1);
  profile->lanes.at[lane].os_tid = UINT64_MAX;
  profile->nodes.at[node].alloc_nbytes = large;
  profile->nodes.at[node].line = UINT32_MAX;
  profile->info.started_unix_ns = large;
  profile->info.scope_cost_ns = 1.0 / 3;
  assert_ok (rd_profile_finalize (profile));
  check_round_trip (profile, false);
  radio_profile_close (profile);
}

static void
joined_parts_survive (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("runs");
  uint32_t node = build_node (profile, RD_NO_INDEX, "a", "c");
  profile->info.parts = RADIO_PARTS_RANKS;
  for (uint32_t i = 0; i < 3; i++) {
    char name[] = { 'r', (char) ('0' + i), '\0' };
    struct rd_profile_part part = {
      name, 10 * i + 1, 5 * i, 1000 + i, i, 2 * i, { i, i + 1, 512 * i },
      7 * i
    };
    struct radio_profile_share share = { i, 100 * i, 10 * i, 8 * i, 7 * i };
    assert_ok (rd_profile_add_part (profile, &part, NULL));
    assert_ok (rd_profile_add_share (profile, node, i, &share));
    build_part_lane (profile, name, i);
  }
  assert_ok (rd_profile_finalize (profile));
  check_round_trip (profile, false);
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  assert_non_null (strstr (sink.text, "\"parts\": \"ranks\""));
  free (sink.text);
  radio_profile_close (profile);
}

/* A column that older files lack. */
static void
parts_without_process_numbers_are_read (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen (), *back = NULL;
  profile->parts.at[0].pid = 4242;
  profile->parts.at[0].process = (1ull << 53) - 1;
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  assert_ok (sink_parse (sink.text, sink.nbytes, &back));
  assert_int_equal (back->parts.at[0].pid, 4242);
  assert_int_equal (back->parts.at[0].process, (1ull << 53) - 1);
  radio_profile_close (back);
  struct json_object *document = json_tokener_parse (sink.text);
  json_object_object_del (json_object_object_get (document, "parts"), "pid");
  json_object_object_del (json_object_object_get (document, "parts"),
                          "process");
  const char *text = json_object_to_json_string (document);
  assert_ok (sink_parse (text, strlen (text), &back));
  assert_int_equal (back->parts.n, 1);
  assert_int_equal (back->parts.at[0].pid, 0);
  assert_int_equal (back->parts.at[0].process, 0);
  radio_profile_close (back);
  json_object_put (document);
  free (sink.text);
  radio_profile_close (profile);
}

/* Checks the document against docs/profile-format.md with an independent
 * reader. */
static void
json_c_finds_the_documented_members (void **state)
{
  (void) state;
  static const char *const members[] = {
    "format", "version", "generator", "info", "facts", "parts", "findings",
    "counters", "gauges", "nodes", "values", "histograms", "shares",
    "lanes", "notes", "strings", "samples", "spans",
    "tiles", "starved",
  };
  struct radio_profile *profile = build_specimen ();
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  struct json_object *document = json_tokener_parse (sink.text);
  assert_non_null (document);
  assert_int_equal (json_object_object_length (document),
                    sizeof members / sizeof members[0]);
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
    assert_true (json_object_object_get_ex (document, members[i], NULL));
  struct json_object *nodes, *names;
  assert_true (json_object_object_get_ex (document, "nodes", &nodes));
  assert_true (json_object_object_get_ex (nodes, "name", &names));
  assert_int_equal (json_object_array_length (names), profile->nodes.n);
  json_object_put (document);
  free (sink.text);
  radio_profile_close (profile);
}

static void
the_first_bytes_identify_the_format (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  const char *begin = "{\n\"format\": \"radio-profile\",\n\"version\": 1,\n";
  assert_memory_equal (sink.text, begin, strlen (begin));
  assert_int_equal (sink.text[sink.nbytes - 1], '\n');
  free (sink.text);
  radio_profile_close (profile);
}

static void
no_angle_bracket_ends_a_script_early (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  assert_non_null (strstr (sink.text, "\\u003c/script>"));
  assert_null (strchr (sink.text, '<'));
  free (sink.text);
  radio_profile_close (profile);
}

static void
the_profile_of_a_page_is_read_back (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen (), *back = NULL;
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  size_t room = sink.nbytes + 1000;
  char *page = malloc (room);
  assert_non_null (page);
  int n = snprintf (page, room, "<!DOCTYPE html>\n<title>%s</title>\n%s\n%s"
                    "</script><p>more</p>\n", "x", RD_JSON_OPENING,
                    sink.text);
  assert_ok (sink_parse (page, (size_t) n, &back));
  assert_same_profile (profile, back);
  radio_profile_close (back);
  radio_profile_close (profile);
  free (page);
  free (sink.text);
}

static void
strings_are_in_the_file_once (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("many");
  uint32_t parent = RD_NO_INDEX;
  for (int i = 0; i < 2000; i++)
    parent = build_node (profile, parent, i % 2 ? "deep-as" : "a-well",
                         "cat-e-gory");
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  const char *first = strstr (sink.text, "cat-e-gory");
  assert_non_null (first);
  assert_null (strstr (first + 1, "cat-e-gory"));
  check_round_trip (profile, false);
  free (sink.text);
  radio_profile_close (profile);
}

static void
many_different_strings_keep_their_numbers (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("many");
  for (int i = 0; i < 3000; i++) {
    char name[16];
    snprintf (name, sizeof name, "n%d", i * 7919 % 3001);
    build_node (profile, RD_NO_INDEX, name, name);
  }
  assert_ok (rd_profile_finalize (profile));
  check_round_trip (profile, false);
  radio_profile_close (profile);
}

/* Returns how many bytes of the file a span takes. */
static double
span_nbytes (size_t nspans)
{
  struct radio_profile *profile = build_random (7, nspans, 8);
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  const char *data = strstr (sink.text, "\"spans\": {");
  assert_non_null (data);
  double nbytes = (double) (sink.nbytes - (size_t) (data - sink.text))
                  / (double) profile->spans.n;
  free (sink.text);
  radio_profile_close (profile);
  return nbytes;
}

/* Random durations are the worst case. */
static void
a_span_takes_few_bytes (void **state)
{
  (void) state;
  double nbytes = span_nbytes (20000);
  print_message ("# %.1f bytes a span\n", nbytes);
  assert_true (nbytes < 14);
}

/* A log of equal spans deflates so well that the reader would reject its size,
 * so the writer stores it plain. */
static void
a_log_that_deflates_too_well_is_stored_plain (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("alike");
  uint32_t node = build_node (profile, RD_NO_INDEX, "a", "c");
  uint32_t lane = build_lane (profile, "main");
  for (uint64_t i = 0; i < 700000; i++)
    build_span (profile, lane, node, 0, 10 * i, 10);
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  assert_non_null (strstr (strstr (sink.text, "\"spans\""),
                           "\"encoding\": \"none\""));
  struct radio_profile *back = NULL;
  assert_ok (sink_parse (sink.text, sink.nbytes, &back));
  assert_int_equal (back->spans.n, 700000);
  radio_profile_close (back);
  free (sink.text);
  radio_profile_close (profile);
}

/* Returns a profile of 3000 scopes, each with a counter of its own. */
static struct radio_profile *
build_sparse (void)
{
  struct radio_profile *profile = build_new ("sparse");
  for (uint32_t i = 0; i < 3000; i++) {
    char name[20];
    snprintf (name, sizeof name, "%u", i);
    uint32_t node = build_node (profile, RD_NO_INDEX, name, "");
    build_times (profile, node, 1, 1, 1, 1, 0);
    build_count (profile, node, name, "count", i + 1);
  }
  build_finish (profile);
  return profile;
}

static void
joined_profiles_of_many_counters_are_read_back (void **state)
{
  (void) state;
  struct radio_profile *all[] = { build_sparse (), build_sparse () };
  struct radio_profile *joined = NULL, *copy = NULL;
  assert_ok (radio_profile_join (all, 2, RADIO_PARTS_RUNS, &joined));
  struct sink sink = sink_write (joined, RADIO_PROFILE_JSON, NULL);
  assert_ok (sink_parse (sink.text, sink.nbytes, &copy));
  assert_same_profile (joined, copy);
  assert_int_equal (radio_profile_counter (copy, 2999, "2999", true), 6000);
  free (sink.text);
  radio_profile_close (copy);
  radio_profile_close (joined);
  radio_profile_close (all[0]);
  radio_profile_close (all[1]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_specimen_of_everything_survives),
    cmocka_unit_test (random_profiles_survive),
    cmocka_unit_test (an_empty_profile_survives),
    cmocka_unit_test (numbers_near_2_to_the_63_survive),
    cmocka_unit_test (joined_parts_survive),
    cmocka_unit_test (parts_without_process_numbers_are_read),
    cmocka_unit_test (json_c_finds_the_documented_members),
    cmocka_unit_test (the_first_bytes_identify_the_format),
    cmocka_unit_test (no_angle_bracket_ends_a_script_early),
    cmocka_unit_test (the_profile_of_a_page_is_read_back),
    cmocka_unit_test (strings_are_in_the_file_once),
    cmocka_unit_test (many_different_strings_keep_their_numbers),
    cmocka_unit_test (a_span_takes_few_bytes),
    cmocka_unit_test (a_log_that_deflates_too_well_is_stored_plain),
    cmocka_unit_test (joined_profiles_of_many_counters_are_read_back),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
