/* SPDX-License-Identifier: MIT */
/* pprof's format, read back by a decoder that knows only its description. */
#include <config.h>

#include "profiler/export/pprof.h"
#include "tests/profiler/trace/capture.h"
#include "tests/profiler/trace/decode-pprof.h"

static struct pprof *
captured (struct radio_profile *profile)
{
  RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
  capture_bytes (profile, RADIO_PROFILE_PPROF, false, &bytes);
  radio_profile_close (profile);
  return pprof_decode (&bytes);
}

/* Returns the value of a type at a path, which must occur once. */
static int64_t
value_at (const struct pprof *pprof, const char *path, const char *type)
{
  int64_t value = INT64_MIN;
  for (size_t i = 0; i < pprof->nsamples; i++) {
    char found[256];
    pprof_path (pprof, &pprof->samples[i], found, sizeof found);
    if (strcmp (found, path) != 0)
      continue;
    assert_int_equal (value, INT64_MIN);
    value = pprof->samples[i].values[pprof_type (pprof, type)];
  }
  if (value == INT64_MIN)
    fail_msg ("no sample of '%s'", path);
  return value;
}

/* read > fetch, decode; with numbers that all differ. */
static struct radio_profile *
build_read (void)
{
  struct radio_profile *profile = build_new ("a read");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t fetch = build_node (profile, read, "fetch", "disk");
  uint32_t decode = build_node (profile, read, "decode", "decode");
  build_times (profile, read, 1, 1000, 100, 90, 10);
  build_times (profile, fetch, 2, 400, 400, 50, 350);
  build_times (profile, decode, 3, 500, 500, 480, 20);
  build_count (profile, fetch, "bytes fetched", "bytes", 4096);
  build_count (profile, fetch, "bytes asked", "bytes", 1000);
  build_count (profile, fetch, "requests", "count", 7);
  build_count (profile, fetch, "retries", "count", 2);
  build_count (profile, decode, "bytes decoded", "bytes", 65536);
  profile->nodes.at[decode].starved_ns = 120;
  profile->info.wall_ns = 1500;
  build_finish (profile);
  return profile;
}

static void
the_sample_types_are_the_documented_ones (void **state)
{
  (void) state;
  static const char *const expected[][2] = {
    { "calls", "count" }, { "wall", "nanoseconds" },
    { "work", "nanoseconds" }, { "wait", "nanoseconds" },
    { "bytes", "bytes" }, { "requests", "count" },
    { "no_cpu", "nanoseconds" },
  };
  struct pprof *pprof = captured (build_read ());
  assert_int_equal (pprof->ntypes, 7);
  for (size_t i = 0; i < 7; i++) {
    assert_string_equal (pprof->types[i], expected[i][0]);
    assert_string_equal (pprof->units[i], expected[i][1]);
  }
  assert_string_equal (pprof->default_type, "wall");
  pprof_free (pprof);
}

static void
each_node_is_a_sample_with_its_own_values (void **state)
{
  (void) state;
  static const struct {
    const char *path;
    int64_t calls, wall, work, wait, bytes, requests, no_cpu;
  } expected[] = {
    { "read", 1, 100, 90, 10, 0, 0, 0 },
    { "read;fetch", 2, 400, 50, 350, 4096, 7, 0 },
    { "read;decode", 3, 500, 480, 20, 65536, 0, 120 },
  };
  struct pprof *pprof = captured (build_read ());
  assert_int_equal (pprof->nsamples, 3);
  for (size_t i = 0; i < 3; i++) {
    const char *path = expected[i].path;
    assert_int_equal (value_at (pprof, path, "calls"), expected[i].calls);
    assert_int_equal (value_at (pprof, path, "wall"), expected[i].wall);
    assert_int_equal (value_at (pprof, path, "work"), expected[i].work);
    assert_int_equal (value_at (pprof, path, "wait"), expected[i].wait);
    assert_int_equal (value_at (pprof, path, "bytes"), expected[i].bytes);
    assert_int_equal (value_at (pprof, path, "requests"),
                      expected[i].requests);
    assert_int_equal (value_at (pprof, path, "no_cpu"), expected[i].no_cpu);
  }
  pprof_free (pprof);
}

static void
the_whole_has_its_time_and_names (void **state)
{
  (void) state;
  struct pprof *pprof = captured (build_read ());
  assert_int_equal (pprof->time_ns, 1700000000000000000);
  assert_int_equal (pprof->duration_ns, 1500);
  assert_string_equal (pprof->comment, "a read");
  assert_string_equal (pprof->mapping_file, "test");
  assert_int_equal (pprof->nmappings, 1);
  pprof_free (pprof);
}

static void
the_leaf_comes_first (void **state)
{
  (void) state;
  struct pprof *pprof = captured (build_read ());
  const struct pprof_sample *sample = &pprof->samples[1];
  assert_int_equal (sample->depth, 2);
  assert_string_equal (
    pprof_function_of (pprof, sample->locations[0])->name, "fetch");
  assert_string_equal (
    pprof_function_of (pprof, sample->locations[1])->name, "read");
  pprof_free (pprof);
}

static void
functions_have_their_source_location (void **state)
{
  (void) state;
  struct pprof *pprof = captured (build_read ());
  assert_int_equal (pprof->nfunctions, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_string_equal (pprof->functions[i].file, "src/file.c");
    assert_string_equal (pprof->functions[i].system_name, "function");
    /* The builder numbers nodes; functions are in the order of names. */
    static const int64_t lines[] = { 3, 2, 1 };
    assert_int_equal (pprof->locations[i].line, lines[i]);
  }
  pprof_free (pprof);
}

static void
samples_are_labelled_with_their_category (void **state)
{
  (void) state;
  struct pprof *pprof = captured (build_read ());
  assert_string_equal (pprof->samples[1].label_key, "category");
  assert_string_equal (pprof->samples[1].label, "disk");
  pprof_free (pprof);
}

static void
a_recursion_is_one_function_at_several_depths (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("recursion");
  struct radio_profile_node node = {
    .name = "walk", .category = "user", .file = "walk.c", .line = 5,
    .parent = RADIO_NO_PARENT, .calls = 1, .self_ns = 1
  };
  for (uint32_t i = 0; i < 5; i++) {
    assert_ok (rd_profile_add_node (profile, &node, NULL));
    node.parent = i;
  }
  build_finish (profile);
  struct pprof *pprof = captured (profile);
  assert_int_equal (pprof->nfunctions, 1);
  assert_int_equal (pprof->nsamples, 5);
  assert_int_equal (value_at (pprof, "walk;walk;walk;walk;walk", "wall"), 1);
  pprof_free (pprof);
}

static void
sums_beyond_signed_numbers_are_cut (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("large");
  uint32_t node = build_node (profile, RD_NO_INDEX, "a", "");
  build_times (profile, node, 1, 1, INT64_MAX, 1, 0);
  build_count (profile, node, "b", "bytes", INT64_MAX);
  build_count (profile, node, "c", "bytes", 5);
  build_finish (profile);
  struct pprof *pprof = captured (profile);
  assert_int_equal (value_at (pprof, "a", "wall"), INT64_MAX);
  assert_int_equal (value_at (pprof, "a", "bytes"), INT64_MAX);
  assert_null (pprof->samples[0].label);
  pprof_free (pprof);
}

/* Counters of the same bytes, in any order: their sum has no meaning. */
static void
bytes_are_those_of_the_most_specific_counter (void **state)
{
  (void) state;
  static const struct {
    const char *counter;
    uint64_t value;
  } counts[] = {
    { "bytes asked", 9000 }, { "bytes fetched", 8000 },
    { "bytes written", 7000 }, { "bytes inflated", 6000 },
    { "bytes decoded", 5000 }, { "bytes encoded", 4000 },
    { "bytes delivered", 3000 },
  };
  enum { NCOUNTS = sizeof counts / sizeof counts[0] };
  for (size_t last = 0; last < NCOUNTS; last++) {
    struct radio_profile *profile = build_new ("moves");
    uint32_t node = build_node (profile, RD_NO_INDEX, "a", "");
    uint32_t below = build_node (profile, node, "b", "");
    build_times (profile, node, 1, 2, 1, 1, 0);
    build_times (profile, below, 1, 1, 1, 1, 0);
    build_count (profile, below, "bytes delivered", "bytes", 77);
    for (size_t i = 0; i <= last; i++)
      build_count (profile, node, counts[i].counter, "bytes",
                   counts[i].value);
    build_finish (profile);
    struct pprof *pprof = captured (profile);
    assert_int_equal (value_at (pprof, "a", "bytes"), counts[last].value);
    assert_int_equal (value_at (pprof, "a;b", "bytes"), 77);
    pprof_free (pprof);
  }
}

static void
bytes_of_unknown_counters_are_those_of_the_largest (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("own counters");
  uint32_t node = build_node (profile, RD_NO_INDEX, "a", "");
  build_times (profile, node, 1, 1, 1, 1, 0);
  build_count (profile, node, "bytes hashed", "bytes", 30);
  build_count (profile, node, "bytes sent", "bytes", 40);
  build_count (profile, node, "bytes seen", "bytes", 20);
  build_count (profile, node, "rows", "count", 1000);
  build_finish (profile);
  struct pprof *pprof = captured (profile);
  assert_int_equal (value_at (pprof, "a", "bytes"), 40);
  pprof_free (pprof);
}

static void
an_empty_profile_is_a_file_too (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("");
  build_finish (profile);
  struct pprof *pprof = captured (profile);
  assert_int_equal (pprof->nsamples, 0);
  assert_int_equal (pprof->ntypes, 7);
  pprof_free (pprof);
}

static void
strings_are_in_the_table_once (void **state)
{
  (void) state;
  struct pprof *pprof = captured (build_specimen ());
  for (size_t i = 0; i < pprof->nstrings; i++)
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal (pprof->strings[i], pprof->strings[j]);
  pprof_free (pprof);
}

static void
the_deepest_tree_is_written (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("deep");
  uint32_t node = RD_NO_INDEX;
  for (unsigned i = 0; i < RD_MAX_NODE_DEPTH; i++)
    node = build_node (profile, node, "f", "");
  build_finish (profile);
  struct pprof *pprof = captured (profile);
  assert_int_equal (pprof->samples[pprof->nsamples - 1].depth,
                    RD_MAX_NODE_DEPTH);
  pprof_free (pprof);
}

/*------------------------------------------------------------------------
 * The wire format
 *----------------------------------------------------------------------*/

static void
assert_bytes (struct rd_wire *wire, const char *bytes, size_t nbytes)
{
  assert_int_equal (wire->status, RADIO_OK);
  assert_int_equal (wire->bytes.nbytes, nbytes);
  assert_memory_equal (wire->bytes.data, bytes, nbytes);
  rd_wire_free (wire);
}

/* The examples are from the documentation of protocol buffers. */
static void
numbers_and_texts_are_encoded_as_documented (void **state)
{
  (void) state;
  struct rd_wire wire = { 0 };
  rd_wire_number (&wire, 1, 150);
  rd_wire_text (&wire, 2, "testing");
  assert_bytes (&wire, "\x08\x96\x01\x12\x07testing", 12);
}

static void
packed_numbers_and_messages_are_encoded_as_documented (void **state)
{
  (void) state;
  struct rd_wire wire = { 0 }, inner = { 0 };
  static const uint64_t values[] = { 3, 270, 86942 };
  rd_wire_packed (&wire, 6, values, 3);
  rd_wire_number (&inner, 1, 150);
  rd_wire_message (&wire, 3, &inner);
  rd_wire_free (&inner);
  assert_bytes (&wire, "\x32\x06\x03\x8e\x02\x9e\xa7\x05"
                       "\x1a\x03\x08\x96\x01", 13);
}

static void
the_largest_number_takes_ten_bytes (void **state)
{
  (void) state;
  struct rd_wire wire = { 0 };
  rd_wire_number (&wire, 16, UINT64_MAX);
  assert_bytes (&wire, "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                12);
}

static void
zero_is_left_out (void **state)
{
  (void) state;
  struct rd_wire wire = { 0 };
  rd_wire_number (&wire, 1, 0);
  rd_wire_text (&wire, 2, "");
  assert_bytes (&wire, "\x12\x00", 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_sample_types_are_the_documented_ones),
    cmocka_unit_test (each_node_is_a_sample_with_its_own_values),
    cmocka_unit_test (the_whole_has_its_time_and_names),
    cmocka_unit_test (the_leaf_comes_first),
    cmocka_unit_test (functions_have_their_source_location),
    cmocka_unit_test (samples_are_labelled_with_their_category),
    cmocka_unit_test (a_recursion_is_one_function_at_several_depths),
    cmocka_unit_test (sums_beyond_signed_numbers_are_cut),
    cmocka_unit_test (bytes_are_those_of_the_most_specific_counter),
    cmocka_unit_test (bytes_of_unknown_counters_are_those_of_the_largest),
    cmocka_unit_test (an_empty_profile_is_a_file_too),
    cmocka_unit_test (strings_are_in_the_table_once),
    cmocka_unit_test (the_deepest_tree_is_written),
    cmocka_unit_test (numbers_and_texts_are_encoded_as_documented),
    cmocka_unit_test (packed_numbers_and_messages_are_encoded_as_documented),
    cmocka_unit_test (the_largest_number_takes_ten_bytes),
    cmocka_unit_test (zero_is_left_out),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
