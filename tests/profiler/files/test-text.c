/* SPDX-License-Identifier: MIT */
/* Profiles as text: numbers, columns, the tree. */
#include <config.h>

#include "tests/profiler/build.h"
#include "tests/profiler/files/sink.h"

#include "profiler/export/text.h"

#define MS 1000000

typedef void print_fn (uint64_t value, char text[RD_NUMBER_NBYTES]);

static void
check_number (print_fn *print, uint64_t value, const char *expected)
{
  char text[RD_NUMBER_NBYTES];
  print (value, text);
  assert_string_equal (text, expected);
}

static void
times_have_three_digits_and_a_unit (void **state)
{
  (void) state;
  check_number (rd_text_ns, 0, "0 ns");
  check_number (rd_text_ns, 999, "999 ns");
  check_number (rd_text_ns, 1000, "1.00 us");
  check_number (rd_text_ns, 9994, "9.99 us");
  check_number (rd_text_ns, 9995, "10.0 us");
  check_number (rd_text_ns, 99949, "99.9 us");
  check_number (rd_text_ns, 99950, "100 us");
  check_number (rd_text_ns, 999499, "999 us");
  check_number (rd_text_ns, 999500, "1.00 ms");
  check_number (rd_text_ns, 1234567890, "1.23 s");
  check_number (rd_text_ns, 3600ull * 1000 * MS, "3600 s");
  check_number (rd_text_ns, UINT64_MAX, "18446744074 s");
}

static void
bytes_have_three_digits_and_a_unit (void **state)
{
  (void) state;
  check_number (rd_text_bytes, 1, "1 B");
  check_number (rd_text_bytes, 65536, "65.5 kB");
  check_number (rd_text_bytes, 33554432, "33.6 MB");
  check_number (rd_text_bytes, 999999999, "1.00 GB");
  check_number (rd_text_bytes, UINT64_MAX, "18446744 TB");
}

static void
print_grouped (uint64_t value, char text[RD_NUMBER_NBYTES])
{
  rd_number_grouped (value, text);
}

static void
counts_are_exact_where_they_fit (void **state)
{
  (void) state;
  check_number (print_grouped, 0, "0");
  check_number (print_grouped, 999, "999");
  check_number (print_grouped, 1000, "1,000");
  check_number (print_grouped, UINT64_MAX, "18,446,744,073,709,551,615");
  check_number (rd_text_short_count, 9999999, "9999999");
  check_number (rd_text_short_count, 12345678, "12.3M");
}

/* Against long double, on numbers of every size. */
static void
three_digits_are_the_nearest_ones (void **state)
{
  (void) state;
  static const struct {
    const char *unit;
    long double size;
  } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
  uint64_t value = 1;
  for (int i = 0; i < 5000; i++) {
    char text[RD_NUMBER_NBYTES], *unit;
    value = value * 6364136223846793005u + 1442695040888963407u;
    uint64_t ns = value >> (i % 60);
    rd_text_ns (ns, text);
    long double shown = strtold (text, &unit);
    size_t k = 0;
    while (strcmp (units[k].unit, unit + 1) != 0)
      k++;
    long double exact = (long double) ns;
    long double off = shown * units[k].size - exact;
    long double step = shown < 9.995L ? 0.01L : shown < 99.95L ? 0.1L : 1;
    assert_true (k == 0 ? off == 0
                 : (off < 0 ? -off : off) <= 0.5001L * step * units[k].size);
  }
}

static void
percentages_and_rates_match_the_numbers (void **state)
{
  (void) state;
  char text[RD_NUMBER_NBYTES];
  rd_text_share (1, 3, text);
  assert_string_equal (text, "33");
  rd_text_share (3, 1000, text);
  assert_string_equal (text, "0.3");
  rd_text_share (1, 100000, text);
  assert_string_equal (text, "<0.1");
  rd_text_share (19, 10, text);
  assert_string_equal (text, "190");
  rd_text_share (0, 0, text);
  assert_string_equal (text, "0");
  rd_text_mb_per_s (1 << 20, 1 * MS, text);
  assert_string_equal (text, "1049");
  rd_text_mb_per_s (9810000, 1000 * MS, text);
  assert_string_equal (text, "9.81");
  rd_text_mb_per_s (0, 5, text);
  assert_string_equal (text, "");
}

static struct sink
print (const struct radio_profile *profile, unsigned columns, bool colour,
       bool utf8)
{
  struct radio_profile_write_options options = {
    .columns = columns, .colour = colour, .utf8 = utf8
  };
  return sink_write (profile, RADIO_PROFILE_TEXT, &options);
}

/* Returns the next line of a text, or NULL at its end. */
static char *
next_line (char **rest)
{
  char *line = *rest;
  char *end = line ? strchr (line, '\n') : NULL;
  if (end == NULL)
    return NULL;
  *end = '\0';
  *rest = end + 1;
  return line;
}

static void
check_widths (const struct radio_profile *profile, unsigned columns,
              bool utf8)
{
  struct sink sink = print (profile, columns, false, utf8);
  char *rest = sink.text, *line;
  while ((line = next_line (&rest)) != NULL) {
    if (rd_utf8_count (line) > columns)
      fail_msg ("%zu wide: %s", rd_utf8_count (line), line);
    assert_false (strlen (line) > 0 && line[strlen (line) - 1] == ' ');
  }
  assert_string_equal (rest, "");
  free (sink.text);
}

static void
no_line_is_wider_than_the_limit (void **state)
{
  (void) state;
  struct radio_profile *profiles[] = {
    build_specimen (), build_random (3, 4000, 5), build_random (4, 50, 1),
  };
  for (size_t i = 0; i < 3; i++) {
    for (unsigned columns = 60; columns < 200; columns += 7)
      check_widths (profiles[i], columns, columns % 2);
    radio_profile_close (profiles[i]);
  }
}

/* Returns the line of a scope in the sink's text.  Its numbers come first. */
static char *
find_line (const char *text, const char *name)
{
  const char *at = strstr (strstr (text, "  scope\n"), name);
  assert_non_null (at);
  while (at[-1] != '\n')
    at--;
  size_t n = strcspn (at, "\n");
  char *line = strndup (at, n);
  assert_non_null (line);
  return line;
}

/* Runs of blanks count as one. */
static void
check_line (const char *text, const char *name, const char *expected)
{
  char *line = find_line (text, name), *to = line;
  for (const char *p = line; *p != '\0'; p++)
    if (*p != ' ' || to == line || to[-1] != ' ')
      *to++ = *p;
  *to = '\0';
  assert_string_equal (line, expected);
  free (line);
}

/* read 100 ms: disk 30 ms of wait, tiles on two threads 120 ms. */
static struct radio_profile *
build_read (void)
{
  struct radio_profile *profile = build_new ("a read");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t disk = build_node (profile, read, "fetch", "disk");
  uint32_t tiles = build_edge_node (profile, read, "tiles", "decode",
                                    RADIO_EDGE_HANDOFF);
  build_times (profile, read, 1, 100 * MS, 10 * MS, 10 * MS, 0);
  build_times (profile, disk, 3, 30 * MS, 30 * MS, 0, 30 * MS);
  build_times (profile, tiles, 2, 120 * MS, 120 * MS, 120 * MS, 0);
  build_count (profile, disk, "bytes fetched", "bytes", 6 * MS);
  build_count (profile, tiles, "bytes decoded", "bytes", 12 * MS);
  build_note (profile, 0, read, "axis", "axial", false);
  profile->info.wall_ns = 100 * MS;
  assert_ok (rd_profile_finalize (profile));
  return profile;
}

/* Two threads with a root each, within 100 ms of wall time. */
static void
percentages_are_of_the_time_of_all_roots (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("two threads");
  uint32_t work = build_node (profile, RD_NO_INDEX, "work", "user");
  uint32_t idle = build_node (profile, RD_NO_INDEX, "unseen", "user");
  uint32_t watch = build_node (profile, idle, "watch", "user");
  build_times (profile, work, 1, 100 * MS, 100 * MS, 100 * MS, 0);
  build_times (profile, watch, 1, 60 * MS, 60 * MS, 60 * MS, 0);
  profile->info.wall_ns = 100 * MS;
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 110, false, false);
  assert_non_null (strstr (sink.text, " of roots "));
  check_line (sink.text, "work",
              "##### 63% 100 ms 100 ms 100 ms 1 100 ms work");
  check_line (sink.text, "watch",
              "### 38% 60.0 ms 60.0 ms 60.0 ms 1 60.0 ms `- watch");
  free (sink.text);
  radio_profile_close (profile);
}

static void
a_line_shows_the_numbers_of_its_scope (void **state)
{
  (void) state;
  struct radio_profile *profile = build_read ();
  struct sink sink = print (profile, 110, false, false);
  check_line (sink.text, "read",
              "######## 100% 100 ms 10.0 ms 130 ms 30.0 ms 1 100 ms 120 read"
              " axis=axial");
  check_line (sink.text, "tiles",
              "######## 120% 120 ms 120 ms 120 ms 2 60.0 ms 100 |- => tiles");
  check_line (sink.text, "fetch",
              "##. 30% 30.0 ms 30.0 ms 30.0 ms 3 10.0 ms 200 `- fetch");
  free (sink.text);
  radio_profile_close (profile);
}

static void
narrow_texts_show_the_largest_values (void **state)
{
  (void) state;
  struct radio_profile *profile = build_read ();
  struct sink sink = print (profile, 60, false, false);
  assert_non_null (strstr (sink.text, "total"));
  assert_non_null (strstr (sink.text, "self"));
  assert_null (strstr (sink.text, " mean "));
  free (sink.text);
  radio_profile_close (profile);
}

static void
columns_without_numbers_are_left_out (void **state)
{
  (void) state;
  struct radio_profile *profile = build_read ();
  struct sink sink = print (profile, 200, false, false);
  assert_non_null (strstr (sink.text, " wait "));
  assert_null (strstr (sink.text, " queue "));
  free (sink.text);
  radio_profile_close (profile);
}

/* By the formulas of docs/profile.md: operations by the time on CPUs, bytes by
 * the clock. */
static void
operations_are_set_against_time_on_cpus_and_bytes (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("operations");
  uint32_t outer = build_node (profile, RD_NO_INDEX, "outer", "user");
  uint32_t inner = build_node (profile, outer, "inner", "user");
  build_times (profile, outer, 1, 10000, 4000, 4000, 0);
  build_times (profile, inner, 2, 6000, 6000, 6000, 0);
  profile->nodes.at[inner].starved_ns = 3000;
  profile->info.wall_ns = 10000;
  build_count (profile, outer, "flop", "flop", 24000);
  build_count (profile, inner, "flop", "flop", 6000);
  build_count (profile, inner, "more", "flop", 6000);
  build_count (profile, inner, "read", "bytes", 8000);
  build_finish (profile);
  struct sink sink = print (profile, 130, false, false);
  assert_non_null (strstr (sink.text,
                           "36000 flop (5.14 GFLOP/s a thread), 4.50 a "
                           "byte"));
  assert_non_null (strstr (sink.text, "GFLOP/s  flop/B"));
  check_line (sink.text, "outer", "######## 100% 10.0 us 4.00 us 10.0 us "
              "3.00 us 1 10.0 us 800 5.14 4.50 outer");
  check_line (sink.text, "inner", "####: 60% 6.00 us 6.00 us 6.00 us "
              "3.00 us 2 3.00 us 1333 4.00 1.50 `- inner");
  free (sink.text);
  radio_profile_close (profile);
}

static void
the_head_has_the_sums (void **state)
{
  (void) state;
  struct radio_profile *profile = build_read ();
  struct sink sink = print (profile, 0, false, false);
  assert_memory_equal (sink.text, "radio profile: a read\n", 22);
  assert_non_null (strstr (sink.text, "\ntime        100 ms wall, 130 ms work "
                           "(1.30 threads busy), 30.0 ms wait\n"));
  assert_non_null (strstr (sink.text, "\nbytes       12.0 MB decoded "
                           "(120 MB/s), 6.00 MB fetched\n"));
  free (sink.text);
  radio_profile_close (profile);
}

/* 130 ms of work and 30 ms of wait: it is 5 % of the work alone. */
static void
the_recorders_overhead_is_relative_to_work (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("a read");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  build_times (profile, read, 1, 160 * MS, 160 * MS, 130 * MS, 30 * MS);
  profile->info.scope_cost_ns = 6.5 * MS;
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 0, false, false);
  assert_non_null (strstr (sink.text, "recording took 5.0 % of work"));
  free (sink.text);
  radio_profile_close (profile);
}

static void
facts_of_times_and_bytes_have_units (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("a read");
  build_node (profile, RD_NO_INDEX, "read", "operation");
  build_fact (profile, "cpu ns", "18059565", false);
  build_fact (profile, "bytes read from disks", "4096000", false);
  build_fact (profile, "page faults", "4096000", false);
  build_fact (profile, "bytes of mine", "many", false);
  build_fact (profile, "last seen ns", "222521, 331504, 18059565", false);
  build_fact (profile, "bytes of both", "1000, 2000, ...", false);
  build_fact (profile, "mine ns", "1000, 2000 or 3000", false);
  build_fact (profile, "its ns", "1000,", false);
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 0, false, false);
  assert_non_null (strstr (sink.text, "\ncpu         18.1 ms\n"));
  assert_non_null (strstr (sink.text, "\nbytes read from disks 4.10 MB\n"));
  assert_non_null (strstr (sink.text, "\npage faults 4096000\n"));
  assert_non_null (strstr (sink.text, "\nbytes of mine many\n"));
  /* With several values, as joined profiles have. */
  assert_non_null (strstr (sink.text,
                           "\nlast seen   223 us, 332 us, 18.1 ms\n"));
  assert_non_null (strstr (sink.text,
                           "\nbytes of both 1.00 kB, 2.00 kB, ...\n"));
  assert_non_null (strstr (sink.text, "\nmine ns     1000, 2000 or 3000\n"));
  assert_non_null (strstr (sink.text, "\nits ns      1000,\n"));
  free (sink.text);
  radio_profile_close (profile);
}

/* Prints a profile of 130 ms of work within 100 ms of wall time. */
static struct sink
print_ran (const char *cpu_ns)
{
  struct radio_profile *profile = build_new ("a read");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  build_times (profile, read, 1, 130 * MS, 130 * MS, 130 * MS, 0);
  build_fact (profile, "cpu ns", cpu_ns, false);
  profile->info.wall_ns = 100 * MS;
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 120, false, false);
  radio_profile_close (profile);
  return sink;
}

/* Its cost is computed from calls: of tiny scopes it is more than they took. */
static void
recording_takes_no_more_than_all_cpu_time (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("many steps");
  uint32_t step = build_node (profile, RD_NO_INDEX, "step", "step");
  build_times (profile, step, 1000000, 10 * MS, 10 * MS, 10 * MS, 0);
  profile->info.wall_ns = 10 * MS;
  profile->info.scope_cost_ns = 20;
  assert_ok (rd_profile_finalize (profile));
  assert_int_equal (profile->info.overhead_ns, 20 * MS);
  struct sink sink = print (profile, 120, false, false);
  assert_non_null (strstr (sink.text, "recording took 100 % of work\n"));
  free (sink.text);
  radio_profile_close (profile);
}

/* A slow run that waits: 40 scopes cost more than it worked. */
static void
recording_is_no_share_of_hardly_any_work (void **state)
{
  (void) state;
  static const struct {
    uint64_t work_ns;
    const char *text;
  } cases[] = {
    { 1000, "recording took 1.00 us\n" },
    { 4999, "recording took 4.00 us\n" },
    { 5000, "recording took 80 % of work\n" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct radio_profile *profile = build_new ("a read");
    uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
    build_times (profile, read, 40, 50000, 50000, cases[i].work_ns,
                 50000 - cases[i].work_ns);
    profile->info.wall_ns = 50000;
    profile->info.scope_cost_ns = 100;
    assert_ok (rd_profile_finalize (profile));
    struct sink sink = print (profile, 120, false, false);
    assert_non_null (strstr (sink.text, cases[i].text));
    free (sink.text);
    radio_profile_close (profile);
  }
}

/* CPU time of other processes is not counted for these threads. */
static void
threads_busy_are_those_that_had_a_cpu (void **state)
{
  (void) state;
  static const char *const cases[][2] = {
    { "130000000", "130 ms work (1.30 threads busy), 0 ns wait\n" },
    { "900000000", "130 ms work (1.30 threads busy), 0 ns wait\n" },
    { "40000000", "130 ms work, 40.0 ms of it on CPUs (0.40 threads busy), "
      "0 ns wait\n" },
  };
  for (size_t i = 0; i < 3; i++) {
    struct sink sink = print_ran (cases[i][0]);
    assert_non_null (strstr (sink.text, cases[i][1]));
    free (sink.text);
  }
}

/* 130 ms of work, of which one of two scopes had no CPU for 90 ms. */
static struct sink
print_starved (const char *cpu_ns)
{
  struct radio_profile *profile = build_new ("a read");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t tile = build_node (profile, read, "tile", "decode");
  build_times (profile, read, 1, 130 * MS, 30 * MS, 30 * MS, 0);
  build_times (profile, tile, 4, 100 * MS, 100 * MS, 100 * MS, 0);
  profile->nodes.at[tile].starved_ns = 90 * MS;
  profile->info.wall_ns = 100 * MS;
  profile->info.scope_cost_ns = MS;
  if (cpu_ns)
    build_fact (profile, "cpu ns", cpu_ns, false);
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 160, false, false);
  radio_profile_close (profile);
  return sink;
}

/* The head has what the tree adds up to, whatever the CPU time of the process:
 * but the recorder's cost is a share of that. */
static void
work_without_a_cpu_is_beside_the_work (void **state)
{
  (void) state;
  static const char *const cases[][2] = {
    { NULL, "13 %" }, { "25000000", "20 %" }, { "900000000", "13 %" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sink sink = print_starved (cases[i][0]);
    char cost[64];
    snprintf (cost, sizeof cost, "recording took %s of CPU time", cases[i][1]);
    assert_non_null (strstr (sink.text, "130 ms work, 40.0 ms of it on CPUs "
                             "(0.40 threads busy), 90.0 ms runnable without "
                             "one, 0 ns wait\n"));
    assert_non_null (strstr (sink.text, " work   no CPU  calls "));
    assert_non_null (strstr (sink.text, cost));
    free (sink.text);
  }
}

static void
a_failure_is_printed_below_the_title (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("a read");
  build_node (profile, RD_NO_INDEX, "read", "operation");
  build_fact (profile, "failed", "ct/a: tile 1,2,3 is damaged, so that the "
              "whole of it cannot be read any more", true);
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 0, false, false);
  static const char head[] =
    "radio profile: a read\n"
    "failed      ct/a: tile 1,2,3 is damaged, so that the whole of it cannot "
    "be read\n"
    "            any more\n";
  assert_memory_equal (sink.text, head, strlen (head));
  free (sink.text);
  radio_profile_close (profile);
}

/* Prints "read" with the given numbers of calls and failures, in the given
 * width. */
static struct sink
print_failures (const char *name, uint64_t ncalls, uint64_t nfailures,
                unsigned columns)
{
  struct radio_profile *profile = build_new ("failures");
  uint32_t read = build_node (profile, RD_NO_INDEX, name, "operation");
  build_times (profile, read, ncalls, 100 * MS, 100 * MS, 100 * MS, 0);
  build_count (profile, read, "failures", "count", nfailures);
  build_note (profile, 0, read, "axis", "axial", false);
  build_note (profile, 0, read, "failed", "checksum mismatch", false);
  profile->notes.at[1].varies = nfailures > 2;
  profile->info.wall_ns = 100 * MS;
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, columns, false, false);
  radio_profile_close (profile);
  return sink;
}

static void
a_failed_scope_is_marked_after_its_name (void **state)
{
  (void) state;
  static const struct {
    uint64_t ncalls, nfailures;
    unsigned columns;
    const char *expected;
  } cases[] = {
    { 1, 1, 120, "read  failed: checksum mismatch  axis=axial\n" },
    { 7, 2, 120, "read  2 failed: checksum mismatch  axis=axial\n" },
    { 7, 3, 120, "read  3 failed: checksum mismatch, ...  axis=axial\n" },
    { 7, 3, 50, "read  failed  axis=axial\n" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sink sink = print_failures ("read", cases[i].ncalls,
                                       cases[i].nfailures, cases[i].columns);
    if (strstr (sink.text, cases[i].expected) == NULL)
      fail_msg ("not '%s' in: %s", cases[i].expected, sink.text);
    free (sink.text);
  }
}

/* Two of three tiny scopes share a line; the failed one has its own. */
static void
failed_scopes_are_shown_however_short (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("tiny");
  static const char *const names[] = { "one", "two", "three" };
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  build_times (profile, read, 1, 100 * MS, 100 * MS, 100 * MS, 0);
  for (size_t i = 0; i < 3; i++)
    build_times (profile, build_node (profile, read, names[i], ""), 1, 1000,
                 1000, 1000, 0);
  build_count (profile, 2, "failures", "count", 1);
  build_note (profile, 0, 2, "failed", "not found", false);
  profile->info.wall_ns = 100 * MS;
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 160, false, false);
  assert_non_null (strstr (sink.text, "two  failed: not found\n"));
  assert_non_null (strstr (sink.text, "(2 more)\n"));
  assert_null (strstr (sink.text, "three"));
  free (sink.text);
  radio_profile_close (profile);
}

static void
a_long_name_leaves_room_for_the_failure (void **state)
{
  (void) state;
  struct sink sink = print_failures (
    "a name that is longer than any line that this could be in, by far, and "
    "then some more", 1, 1, 60);
  assert_non_null (strstr (sink.text, "  failed\n"));
  free (sink.text);
}

static void
keys_of_facts_are_whole (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("a read");
  build_node (profile, RD_NO_INDEX, "read", "operation");
  build_fact (profile, "counter values not kept", "17", false);
  build_fact (profile, "host", "h", false);
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 0, false, false);
  assert_non_null (strstr (sink.text, "\ncounter values not kept 17\n"));
  assert_non_null (strstr (sink.text, "\nhost        h\n"));
  free (sink.text);
  radio_profile_close (profile);
}

/* The legend explains the marks that names have. */
static void
each_kind_of_edge_has_its_mark (void **state)
{
  (void) state;
  assert_string_equal (radio_edge_mark (RADIO_EDGE_CALL), "");
  for (int i = RADIO_EDGE_HANDOFF; i <= RADIO_EDGE_INSTANT; i++) {
    struct radio_profile *profile = build_new ("edges");
    const char *mark = radio_edge_mark ((enum radio_edge) i);
    char expected[64];
    uint32_t root = build_node (profile, RD_NO_INDEX, "root", "");
    build_edge_node (profile, root, "child", "", (enum radio_edge) i);
    assert_ok (rd_profile_finalize (profile));
    struct sink sink = print (profile, 0, false, false);
    snprintf (expected, sizeof expected, "`- %schild", mark);
    assert_non_null (strstr (sink.text, expected));
    snprintf (expected, sizeof expected, "\n\n%s", mark);
    assert_non_null (strstr (sink.text, expected));
    free (sink.text);
    radio_profile_close (profile);
  }
}

static void
siblings_come_heaviest_first (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("order");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "c");
  build_times (profile, root, 1, 90 * MS, 0, 0, 0);
  for (unsigned i = 0; i < 9; i++) {
    char name[] = { 's', (char) ('1' + i), '\0' };
    uint32_t node = build_node (profile, root, name, "c");
    build_times (profile, node, 1, (1 + i * 5 % 9) * MS, MS, MS, 0);
  }
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 80, false, false);
  uint64_t before = UINT64_MAX;
  char *rest = strstr (sink.text, "  root\n"), *line;
  next_line (&rest);
  for (unsigned i = 0; i < 9; i++) {
    line = next_line (&rest);
    const char *name = strrchr (line, 's');
    uint64_t total = 1 + (uint64_t) (name[1] - '1') * 5 % 9;
    assert_true (total < before);
    before = total;
    assert_non_null (strstr (line, i < 8 ? "|- s" : "`- s"));
  }
  free (sink.text);
  radio_profile_close (profile);
}

static void
tiny_scopes_share_a_line (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("tiny");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "c");
  build_times (profile, root, 1, 100 * MS, 99 * MS, MS, 0);
  for (int i = 0; i < 40; i++) {
    char name[24];
    snprintf (name, sizeof name, "tiny-%d", i);
    build_times (profile, build_node (profile, root, name, "c"), 1, 1000,
                 1000, 1000, 0);
  }
  build_edge_node (profile, root, "event", "c", RADIO_EDGE_INSTANT);
  assert_ok (rd_profile_finalize (profile));
  profile->info.wall_ns = 100 * MS;
  struct sink sink = print (profile, 80, false, false);
  assert_null (strstr (sink.text, "tiny-"));
  assert_non_null (strstr (sink.text, "`- (40 more)\n"));
  assert_non_null (strstr (sink.text, "40.0 us"));
  assert_non_null (strstr (sink.text, "|- ! event\n"));
  free (sink.text);
  radio_profile_close (profile);
}

static void
long_names_lose_their_middle (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("long");
  build_times (profile,
               build_node (profile, RD_NO_INDEX,
                           "begins here and goes on and on and on and on and"
                           " on and on until the \xce\xb5\xce\xbd\xce\xb4",
                           "c"), 1, MS, MS, MS, 0);
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 80, false, false);
  char *line = find_line (sink.text, "begins");
  assert_int_equal (rd_utf8_count (line), 80);
  assert_non_null (strstr (line, ".."));
  assert_string_equal (line + strlen (line) - 6,
                       "\xce\xb5\xce\xbd\xce\xb4");
  free (line);
  free (sink.text);
  radio_profile_close (profile);
}

static void
a_tree_of_the_greatest_depth_is_shown (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("deep");
  uint32_t node = RD_NO_INDEX;
  for (int i = 0; i < RD_MAX_NODE_DEPTH; i++) {
    node = build_node (profile, node, i < RD_MAX_NODE_DEPTH - 1 ? "down"
                                                                : "bottom",
                       "c");
    build_times (profile, node, 1, MS, MS, MS, 0);
  }
  assert_ok (rd_profile_finalize (profile));
  check_widths (profile, 80, false);
  struct sink sink = print (profile, 80, false, true);
  assert_non_null (strstr (sink.text, "bottom\n"));
  free (sink.text);
  radio_profile_close (profile);
}

static void
colours_and_drawing_are_used_only_on_request (void **state)
{
  (void) state;
  struct radio_profile *profile = build_read ();
  struct sink plain = print (profile, 80, false, false);
  for (const char *p = plain.text; *p != '\0'; p++)
    assert_true (*p == '\n' || (*p >= ' ' && *p < 0x7f));
  struct sink coloured = print (profile, 80, true, true);
  assert_non_null (strstr (coloured.text, "\033[31m"));
  assert_non_null (strstr (coloured.text, "\xe2\x94\x94\xe2\x94\x80 "));
  /* Without its colours it equals the plain text. */
  struct sink drawn = print (profile, 80, false, true);
  char *to = coloured.text;
  for (const char *p = coloured.text; *p != '\0'; p++)
    if (*p == '\033')
      p += strcspn (p, "m");
    else
      *to++ = *p;
  *to = '\0';
  assert_string_equal (coloured.text, drawn.text);
  free (plain.text);
  free (coloured.text);
  free (drawn.text);
  radio_profile_close (profile);
}

static void
findings_are_at_the_end_and_wrapped (void **state)
{
  (void) state;
  struct radio_profile *profile = build_read ();
  profile->findings.n = 0;
  struct radio_finding findings[] = {
    { "a", RADIO_FINDING_PROBLEM, "Bound by decoding",
      "decode is 71 % of 812 ms of work; the rest of the sentence is there "
      "to need a second line of text", 0 },
    { "b", RADIO_FINDING_NOTE, "Cold", "12 files", RADIO_NO_PARENT },
  };
  struct radio_finding *own = profile->findings.at;
  profile->findings.at = findings;
  profile->findings.n = 2;
  struct sink sink = print (profile, 80, false, false);
  assert_non_null (strstr (
    sink.text, "\nFindings\n! Bound by decoding\n    decode is 71 % of 812 ms "
    "of work; the rest of the sentence is there to need\n    a second line "
    "of text\n- Cold\n    12 files\n"));
  profile->findings.at = own;
  profile->findings.n = 0;
  free (sink.text);
  radio_profile_close (profile);
}

static void
an_empty_profile_is_described (void **state)
{
  (void) state;
  struct radio_profile *profile;
  assert_ok (rd_profile_new (&profile));
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = print (profile, 80, true, true);
  assert_non_null (strstr (sink.text, "Nothing was recorded.\n"));
  free (sink.text);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (times_have_three_digits_and_a_unit),
    cmocka_unit_test (bytes_have_three_digits_and_a_unit),
    cmocka_unit_test (counts_are_exact_where_they_fit),
    cmocka_unit_test (three_digits_are_the_nearest_ones),
    cmocka_unit_test (percentages_and_rates_match_the_numbers),
    cmocka_unit_test (no_line_is_wider_than_the_limit),
    cmocka_unit_test (recording_takes_no_more_than_all_cpu_time),
    cmocka_unit_test (recording_is_no_share_of_hardly_any_work),
    cmocka_unit_test (percentages_are_of_the_time_of_all_roots),
    cmocka_unit_test (a_line_shows_the_numbers_of_its_scope),
    cmocka_unit_test (narrow_texts_show_the_largest_values),
    cmocka_unit_test (columns_without_numbers_are_left_out),
    cmocka_unit_test (operations_are_set_against_time_on_cpus_and_bytes),
    cmocka_unit_test (the_head_has_the_sums),
    cmocka_unit_test (the_recorders_overhead_is_relative_to_work),
    cmocka_unit_test (facts_of_times_and_bytes_have_units),
    cmocka_unit_test (threads_busy_are_those_that_had_a_cpu),
    cmocka_unit_test (work_without_a_cpu_is_beside_the_work),
    cmocka_unit_test (a_failure_is_printed_below_the_title),
    cmocka_unit_test (a_failed_scope_is_marked_after_its_name),
    cmocka_unit_test (a_long_name_leaves_room_for_the_failure),
    cmocka_unit_test (failed_scopes_are_shown_however_short),
    cmocka_unit_test (keys_of_facts_are_whole),
    cmocka_unit_test (each_kind_of_edge_has_its_mark),
    cmocka_unit_test (siblings_come_heaviest_first),
    cmocka_unit_test (tiny_scopes_share_a_line),
    cmocka_unit_test (long_names_lose_their_middle),
    cmocka_unit_test (a_tree_of_the_greatest_depth_is_shown),
    cmocka_unit_test (colours_and_drawing_are_used_only_on_request),
    cmocka_unit_test (findings_are_at_the_end_and_wrapped),
    cmocka_unit_test (an_empty_profile_is_described),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
