/* SPDX-License-Identifier: MIT */
/* Reports of differences, on profiles with made-up figures, from which the
 * output follows. */
#include <config.h>

#include "tests/tools/capture.h"
#include "tests/tools/made-profiles.h"
#include "tests/unit.h"

#include "tools/json.h"
#include "tools/profile/report.h"

static double
member (struct json_object *list, size_t i, const char *key)
{
  struct json_object *value;
  struct json_object *object = json_object_array_get_idx (list, i);
  assert_non_null (object);
  assert_true (json_object_object_get_ex (object, key, &value));
  return json_object_get_double (value);
}

static void
ranks_as_json_have_the_same_figures (void **state)
{
  (void) state;
  struct radio_profile *profile = make_ranks ();
  struct json_object *ranks = rd_ranks_json (profile);
  struct json_object *uneven = rd_imbalance_json (profile);
  assert_int_equal (json_object_array_length (ranks), 4);
  assert_true (member (ranks, 2, "wall_ns") == 4e6);
  assert_true (member (ranks, 3, "wall_ns") == 2e6);
  assert_int_equal (json_object_array_length (uneven), 2);
  /* Equal time is lost on both; either may come first. */
  assert_true (member (uneven, 0, "max_ns") + member (uneven, 1, "max_ns")
               == 7e6);
  assert_true (member (uneven, 0, "slowest") == 2);
  json_object_put (ranks);
  json_object_put (uneven);
  radio_profile_close (profile);
}

/* Reports the difference of two profiles, and closes them. */
static int
report (struct radio_profile *before, struct radio_profile *after,
        struct rd_diff *diff, struct capture *capture)
{
  struct radio_comparison *comparison = NULL;
  assert_ok (radio_profile_compare (before, after, &comparison));
  diff->comparison = comparison;
  diff->before = before;
  diff->after = after;
  capture_begin (capture);
  int status = rd_diff_report (diff);
  capture_end (capture);
  radio_comparison_close (comparison);
  radio_profile_close (before);
  radio_profile_close (after);
  return status;
}

static struct radio_profile *
runs_of (uint64_t read_us, uint64_t decode_us, uint64_t jitter_us,
         const char *other)
{
  return make_runs (11, RADIO_PARTS_RUNS, read_us, decode_us, jitter_us,
                    other);
}

static void
a_slower_path_is_named_with_its_delta (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = -1 };
  struct capture capture;
  assert_int_equal (report (runs_of (2000, 1000, 20, NULL),
                            runs_of (3000, 2000, 20, NULL), &diff,
                            &capture), RD_EXIT_OK);
  assert_says (&capture, "+1.000");
  assert_says (&capture, "slower");
  assert_says (&capture, "1 slower, 0 faster, 0 new, 0 gone, 1 within");
  /* The change is in decoding, not in the scopes around it. */
  assert_says (&capture, "slower below\n");
}

static void
a_faster_path_is_no_failure (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 0 };
  struct capture capture;
  assert_int_equal (report (runs_of (3000, 2000, 20, NULL),
                            runs_of (2000, 1000, 20, NULL), &diff,
                            &capture), RD_EXIT_OK);
  assert_says (&capture, "-1.000");
  assert_says (&capture, "0 slower, 1 faster");
}

static void
changes_within_the_spread_are_noise (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 0 };
  struct capture capture;
  assert_int_equal (report (runs_of (2000, 1000, 900, NULL),
                            runs_of (2010, 1010, 900, NULL), &diff,
                            &capture), RD_EXIT_OK);
  assert_says (&capture, "noise");
  assert_says (&capture, "0 slower, 0 faster, 0 new, 0 gone, 2 within");
}

static void
new_and_gone_paths_are_named_as_such (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = -1 };
  struct capture capture;
  assert_int_equal (report (runs_of (2000, 1000, 20, "pread"),
                            runs_of (2000, 1000, 20, "mmap"), &diff,
                            &capture), RD_EXIT_OK);
  assert_says (&capture, "1 new, 1 gone");
  assert_says (&capture, "  pread");
  assert_says (&capture, "gone\n");
  assert_says (&capture, "new\n");
  assert_says (&capture, "   0.1000, -  ");
  assert_says (&capture, "   -, 0.1000  ");
}

static void
the_check_fails_beyond_its_percentage_only (void **state)
{
  (void) state;
  struct rd_diff strict = { .fail_percent = 49 };
  struct rd_diff lenient = { .fail_percent = 51 };
  struct capture capture;
  /* 2 ms -> 3 ms: 50 %, less the jitter. */
  assert_int_equal (report (runs_of (2000, 1000, 2, NULL),
                            runs_of (3000, 2000, 2, NULL), &strict,
                            &capture), RD_EXIT_FAILED);
  assert_int_equal (report (runs_of (2000, 1000, 2, NULL),
                            runs_of (3000, 2000, 2, NULL), &lenient,
                            &capture), RD_EXIT_OK);
}

static void
single_runs_are_compared_by_their_figures (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 10 };
  struct capture capture;
  assert_int_equal (report (make_run (2000, 1000, NULL, 0),
                            make_run (2100, 1100, NULL, 0), &diff,
                            &capture), RD_EXIT_OK);
  assert_says (&capture,
               "with a single run, changes cannot be distinguished from noise");
  assert_int_equal (report (make_run (2000, 1000, NULL, 0),
                            make_run (2300, 1300, NULL, 0), &diff,
                            &capture), RD_EXIT_UNCLEAR);
  assert_int_equal (report (make_run (2000, 1000, NULL, 0),
                            make_run (2400, 1400, NULL, 0), &diff,
                            &capture), RD_EXIT_FAILED);
}

static void
tiny_paths_are_shown_only_on_request (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = -1 };
  struct rd_diff all = { .fail_percent = -1, .all = true };
  struct capture capture;
  /* "place" takes 100 us of 20 ms. */
  report (runs_of (20000, 1000, 20, "place"),
          runs_of (20000, 1000, 20, "place"), &diff, &capture);
  assert_says_not (&capture, "place");
  assert_says (&capture, "and 1 path below 1 % (--all shows them)");
  report (runs_of (20000, 1000, 20, "place"),
          runs_of (20000, 1000, 20, "place"), &all, &capture);
  assert_says (&capture, "  place");
}

static void
differences_as_json_are_complete (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = -1, .json = true };
  struct capture capture;
  report (runs_of (2000, 1000, 20, NULL), runs_of (3000, 2000, 20, NULL),
          &diff, &capture);
  struct json_object *object = json_tokener_parse (capture.text), *paths;
  assert_non_null (object);
  assert_true (json_object_object_get_ex (object, "paths", &paths));
  assert_int_equal (json_object_array_length (paths), 2);
  assert_true (member (paths, 0, "total_after_ns")
               - member (paths, 0, "total_before_ns") == 1e6);
  assert_true (member (paths, 0, "delta_low_ns") <= 1e6);
  assert_true (member (paths, 0, "delta_high_ns") >= 1e6);
  assert_true (member (paths, 1, "parent") == 0);
  assert_true (member (paths, 0, "median_before_ns") >= 2e6);
  assert_says (&capture, "\"root_floor\": 0.15,\n");
  json_object_put (object);
  report (runs_of (2000, 1000, 20, NULL), runs_of (2000, 1000, 20, "mmap"),
          &diff, &capture);
  assert_says (&capture, "\"median_before_ns\": null, ");
}

static void
equal_names_on_other_threads_are_distinguished (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = -1 }, json = diff;
  struct capture capture;
  json.json = true;
  report (make_operation ("read", "roi", "8", "1"),
          make_operation ("read", "roi", "8", "2"), &diff, &capture);
  assert_says (&capture, "\n  tiles  ");
  assert_says (&capture, "\n    tiles on its caller's thread  ");
  assert_says (&capture, "\n    => tiles on other threads  ");
  assert_says_not (&capture, "differs");
  report (make_operation ("read", "roi", "8", "1"),
          make_operation ("read", "roi", "8", "2"), &json, &capture);
  assert_says (&capture, "\"edge\": \"handoff\"");
  assert_says (&capture, "\"same_operation\": true");
  struct radio_profile *profile = make_operation ("read", "roi", "8", "1");
  char *path = rd_profile_path (profile, 2);
  assert_string_equal (path, "read / => tiles");
  free (path);
  radio_profile_close (profile);
}

static void
other_conditions_are_reported_first (void **state)
{
  (void) state;
  static const char expected[] =
    "differs: box: 8 x 8 x 8 -> 16 x 16 x 16\n\n";
  struct rd_diff diff = { .fail_percent = -1 }, json = diff;
  struct capture capture;
  json.json = true;
  report (make_operation ("read", "roi", "8 x 8 x 8", "1"),
          make_operation ("read", "roi", "16 x 16 x 16", "2"), &diff,
          &capture);
  assert_true (strncmp (capture.text, expected, strlen (expected)) == 0);
  assert_says_not (&capture, "different operations");
  report (make_operation ("read", "roi", "8 x 8 x 8", "1"),
          make_operation ("read", "roi", "16 x 16 x 16", "2"), &json,
          &capture);
  assert_says (&capture, "\"name\": \"box\"");
  assert_says (&capture, "\"after\": \"16 x 16 x 16\"");
}

static void
other_operations_are_reported_first (void **state)
{
  (void) state;
  static const char expected[] = "The profiles are of different operations.\n";
  struct rd_diff diff = { .fail_percent = -1 };
  struct capture capture;
  report (make_operation ("read", "roi", "8", "1"),
          make_operation ("read", "slice", "8", "2"), &diff, &capture);
  assert_true (strncmp (capture.text, expected, strlen (expected)) == 0);
  assert_says (&capture, "differs: operation: roi -> slice\n");
  report (make_operation ("read", "all", "8", "1"),
          make_operation ("write", "all", "8", "2"), &diff, &capture);
  assert_true (strncmp (capture.text, expected, strlen (expected)) == 0);
}

static void
a_large_slowdown_is_reported_as_a_factor (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = -1 };
  struct capture capture;
  report (runs_of (1000, 900, 2, NULL), runs_of (17000, 900, 2, NULL), &diff,
          &capture);
  assert_says (&capture, "  17.0 x  ");
  assert_says (&capture, "(17.0 x)");
}

static void
sums_of_claimed_times_stay_at_the_largest (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 0, .json = true };
  struct capture capture;
  assert_int_equal (report (make_longest (), make_longest (), &diff,
                            &capture), RD_EXIT_OK);
  assert_int_equal (diff.ns[0], INT64_MAX);
  assert_says (&capture, "\"before_ns\": 9223372036854775807");
  assert_says (&capture, "\"after_ns\": 9223372036854775807");
}

/*------------------------------------------------------------------------
 * Conditions
 *----------------------------------------------------------------------*/

static int
report_loaded (const struct made_conditions *before,
               const struct made_conditions *after, struct rd_diff *diff,
               struct capture *capture)
{
  return report (make_loaded (before), make_loaded (after), diff, capture);
}

static const struct made_conditions quiet = {
  .wall_us = 14900, .cpu_us = 14700
};

/* It was: "14.9 ms -> 140 ms, slower", and exit status 1, of one program beside
 * a busy loop, although the CPU time in both files agreed. */
static void
a_program_without_cpus_is_not_called_slower (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 5 };
  struct capture capture;
  struct made_conditions loaded = {
    .wall_us = 140000, .cpu_us = 15000, .others_us = 200000
  };
  assert_int_equal (report_loaded (&quiet, &loaded, &diff, &capture),
                    RD_EXIT_UNCLEAR);
  assert_says (&capture, "differs: CPU share: 98.7 % -> 10.7 %\n");
  assert_says (&capture, "conditions, or compare four recordings of each "
               "program in turn (radio profile merge --as runs)\n");
  assert_says (&capture, "differs: load: 0.00 CPUs -> 1.43 CPUs\n");
  assert_says (&capture, "not comparable, so CPU time is compared, apart from "
               "waits\n");
  assert_says (&capture, "Differences of less than 30 % may come from the "
               "conditions, and count as noise.\n");
  assert_says (&capture, "\nCPU time 14.69 ms -> 14.99 ms (+2.0 %), median "
               "+2.0 %; paths: 0 slower, 0 faster, 0 new, 0 gone, 2 within "
               "noise\n");
  assert_says_not (&capture, "ms -> 140");
  assert_says_not (&capture, "139.9 ms (");
  assert_says_not (&capture, "slower below");

  /* The other way round, nothing seems to be slower. */
  assert_int_equal (report_loaded (&loaded, &quiet, &diff, &capture),
                    RD_EXIT_OK);
  assert_says (&capture, "0 slower, 0 faster");
}

/* It was: "differs: CPU share: 14.4 % -> 14.4 %", of a profile beside
 * itself. */
static void
equal_cpu_shares_do_not_differ (void **state)
{
  (void) state;
  struct made_conditions loaded = { .wall_us = 140000, .cpu_us = 20160 };
  struct made_conditions others[] = { loaded, loaded, loaded };
  others[1].cpu_us += 6860;
  others[2].cpu_us += 7140;
  for (int i = 0; i < 3; i++) {
    struct rd_diff diff = { .fail_percent = 50 };
    struct capture capture;
    assert_int_equal (report_loaded (&loaded, &others[i], &diff, &capture),
                      RD_EXIT_OK);
    if (i < 2) {
      assert_says_not (&capture, "differs");
      assert_says (&capture, "Differences of less than 10 % may come from "
                   "the conditions, and count as noise.\n");
      assert_says (&capture, "ms: not comparable, since threads had CPUs for "
                   "less than 90 % of their work, so CPU time is compared, "
                   "apart from waits\n");
    } else
      assert_says (&capture, "differs: CPU share: 14.4 % -> 19.5 %\n");
  }
}

/* An older recording does not say which threads had no CPU. */
static void
without_an_account_of_cpus_it_is_unclear (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 5 };
  struct capture capture;
  struct made_conditions before = quiet, loaded = {
    .wall_us = 140000, .cpu_us = 15000, .is_starved_unknown = true
  };
  before.is_starved_unknown = true;
  assert_int_equal (report_loaded (&before, &loaded, &diff, &capture),
                    RD_EXIT_UNCLEAR);
  assert_says (&capture, "differs: CPU time of work: 98.7 % -> 10.7 %\n");
  assert_says (&capture, "which scopes had CPUs\n");
  assert_says (&capture, "\nwhat changed is unclear: ");
  assert_says_not (&capture, "slower\n");
}

/* Twice the CPU time is no matter of caches. */
static void
more_cpu_time_is_found_without_cpus (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 5 };
  struct capture capture;
  struct made_conditions loaded = {
    .wall_us = 140000, .cpu_us = 30000, .others_us = 200000
  };
  assert_int_equal (report_loaded (&quiet, &loaded, &diff, &capture),
                    RD_EXIT_UNCLEAR);
  assert_says (&capture, "paths: 2 slower, 0 faster");
}

/* If both lacked CPUs alike, their CPU time is compared as exactly as that of
 * quiet ones, and their wall time is not. */
static void
two_programs_without_cpus_are_compared_by_cpu_time (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 5 };
  struct capture capture;
  struct made_conditions before = {
    .wall_us = 140000, .cpu_us = 15000, .others_us = 200000
  }, after = before;
  after.wall_us = 160000;
  assert_int_equal (report_loaded (&before, &after, &diff, &capture),
                    RD_EXIT_OK);
  assert_says (&capture, "0 slower, 0 faster");
  after.cpu_us = 19000;
  assert_int_equal (report_loaded (&before, &after, &diff, &capture),
                    RD_EXIT_FAILED);
  assert_says (&capture, "2 slower, 0 faster");
}

/* It was: "14.9 -> 13.9 ms, faster", beside one busy loop in both. */
static void
what_shared_cpus_explain_is_noise (void **state)
{
  (void) state;
  struct capture capture;
  for (int percent = 93; percent <= 125; percent += 32) {
    struct rd_diff diff = { .fail_percent = 5 };
    struct made_conditions before = { .wall_us = 140000, .cpu_us = 15000,
                                      .others_us = 200000 };
    struct made_conditions after = before;
    after.cpu_us = after.cpu_us * (uint64_t) percent / 100;
    assert_int_equal (report_loaded (&before, &after, &diff, &capture),
                      percent > 100 ? RD_EXIT_FAILED : RD_EXIT_OK);
    assert_says_not (&capture, "differs");
    assert_says (&capture, percent > 100 ? "2 slower, 0 faster"
                                         : "0 slower, 0 faster");
  }
}

/* It was: "slower", and exit status 1, of two processes of one program on a
 * quiet machine, 12.6 -> 13.3 ms. */
static void
what_processes_of_one_program_differ_by_is_unclear (void **state)
{
  (void) state;
  static const char noted[] = "'read' changed by less than the 15 % that "
    "processes of one program differ by: compare four recordings of each";
  static const char failed[] = "'read' is slower by 8.0 %, but processes of "
    "one program differ by up to 15 %: it is unclear if the program is slower; "
    "compare four recordings of each program in turn";
  static const struct {
    uint64_t percent;
    int status;
    const char *sentence;     /* the only one of both, or NULL */
  } rows[] = {
    { 104, RD_EXIT_OK, NULL }, { 108, RD_EXIT_UNCLEAR, failed },
    { 92, RD_EXIT_OK, noted }, { 120, RD_EXIT_FAILED, NULL },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct rd_diff diff = { .fail_percent = 3 };
    struct capture capture;
    struct made_conditions after = quiet;
    after.wall_us = after.wall_us * rows[i].percent / 100;
    after.cpu_us = after.cpu_us * rows[i].percent / 100;
    assert_int_equal (report_loaded (&quiet, &after, &diff, &capture),
                      rows[i].status);
    if (rows[i].sentence)
      assert_says (&capture, rows[i].sentence);
    if (rows[i].sentence != noted)
      assert_says_not (&capture, noted);
    if (rows[i].sentence != failed)
      assert_says_not (&capture, failed);
  }
}

/* Reports loaded ranks, 8 % more in the second. */
static int
report_ranks (uint64_t njobs, struct rd_diff *diff, struct capture *capture)
{
  struct radio_profile *joined[2] = { NULL };
  struct made_conditions conditions = quiet;
  conditions.are_ranks = true;
  for (int side = 0; side < 2; side++) {
    struct radio_profile *jobs[4];
    conditions.wall_us += conditions.wall_us * 8 * (uint64_t) side / 100;
    conditions.cpu_us += conditions.cpu_us * 8 * (uint64_t) side / 100;
    for (uint64_t i = 0; i < njobs; i++) {
      conditions.pid = 100 + i;
      jobs[i] = make_loaded (&conditions);
    }
    if (njobs > 1)
      assert_ok (radio_profile_join (jobs, njobs, RADIO_PARTS_RUNS,
                                     &joined[side]));
    for (uint64_t i = 0; i < njobs && njobs > 1; i++)
      radio_profile_close (jobs[i]);
    if (njobs == 1)
      joined[side] = jobs[0];
  }
  return report (joined[0], joined[1], diff, capture);
}

/* It was: to join recordings as runs, which was an error of ranks. */
static void
ranks_are_compared_by_the_advice_for_them (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 3 };
  struct capture capture;
  assert_int_equal (report_ranks (1, &diff, &capture), RD_EXIT_UNCLEAR);
  assert_says (&capture, "it is unclear if the program is slower; "
               "compare four recordings of each job in turn (radio profile "
               "merge --as runs)\n");
  assert_says (&capture, "distinguished from noise: compare four recordings "
               "of each job in turn (radio profile merge --as runs)\n");
  assert_says_not (&capture, "--against");
  assert_int_equal (report_ranks (4, &diff, &capture), RD_EXIT_FAILED);
  assert_says (&capture, "'read' is slower by 8.0 %, more than the 3 %");
}

/* It was: exit status 3, of a single long run in the mean, where conditions
 * differ and the median run is as long as before. */
static void
one_long_run_leaves_nothing_unclear (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 5 };
  struct capture capture;
  struct made_conditions after = quiet;
  after.others_us = 15000;
  after.long_run_us = 200000;
  assert_int_equal (report_loaded (&quiet, &after, &diff, &capture),
                    RD_EXIT_OK);
  assert_says (&capture, "differs: CPU share: ");
}

/* It was: exit status 0, of a store that got slower on a busy machine. */
static void
waits_that_grew_without_cpus_are_unclear (void **state)
{
  (void) state;
  static const struct {
    uint64_t before_us, after_us;
    int status;
    const char *says, *verdict;
  } rows[] = {
    { 20000, 40000, RD_EXIT_UNCLEAR,
      "median 19.99 ms -> 39.98 ms (+100.0 %), a difference of +1",
      "longer" },
    { 20000, 20500, RD_EXIT_OK, "median 19.99 ms -> 20.49 ms (+2.5 %), a ",
      "noise" },
    { 40000, 20000, RD_EXIT_OK, "(-50.0 %), a difference of -", "shorter" },
    /* By as much as processes of one program differ. */
    { 20000, 23000, RD_EXIT_UNCLEAR, "(+15.0 %), a difference of +",
      "unclear" },
    /* A small change of a total of 15 ms. */
    { 200, 600, RD_EXIT_OK, "0.1999 ms -> 0.5997 ms (3.0 x), a difference of ",
      "longer" },
    { 0, 0, RD_EXIT_OK, "so CPU time is compared, apart from waits", NULL },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct rd_diff diff = { .fail_percent = 5 };
    struct capture capture;
    struct made_conditions before = {
      .wall_us = 140000, .cpu_us = 15000, .wait_us = rows[i].before_us
    }, after = before;
    after.wait_us = rows[i].after_us;
    assert_int_equal (report_loaded (&before, &after, &diff, &capture),
                      rows[i].status);
    assert_says (&capture, rows[i].says);
    assert_says (&capture, "0 slower, 0 faster");
    if (!rows[i].verdict) {
      assert_says_not (&capture, "waited for disks");
      continue;
    }
    char end[64];
    snprintf (end, sizeof end, " ms with 95 %% confidence, %s\n",
              rows[i].verdict);
    assert_says (&capture, end);
  }
}

/* 13 % of the work, but 2 % of the time: waits count. */
static void
a_little_lack_of_cpus_does_not_hide_long_waits (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 5 };
  struct capture capture;
  struct made_conditions before = {
    .wall_us = 16900, .cpu_us = 14700, .wait_us = 100000
  }, after = before;
  after.wait_us = 150000;
  assert_int_equal (report_loaded (&before, &after, &diff, &capture),
                    RD_EXIT_FAILED);
  assert_says (&capture, "ms of a run ");
  assert_says (&capture, "1 slower, 0 faster");
}

/* Each of them saw the CPU time of all. */
static void
the_load_of_a_machine_is_that_beside_all_of_its_ranks (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 5 };
  struct capture capture;
  struct made_conditions before = quiet, after;
  before.are_ranks = true;
  after = before;
  after.others_us = 45000;
  (void) report_loaded (&before, &after, &diff, &capture);
  assert_says (&capture, "differs: load: 0.04 CPUs -> 3.05 CPUs\n");
}

static void
each_condition_is_reported_and_leaves_it_unclear (void **state)
{
  (void) state;
  static const struct {
    struct made_conditions after;
    const char *line;
  } rows[] = {
    { { .others_us = 15000 }, "differs: load: 0.00 CPUs -> 0.86 CPUs\n" },
    { { .disk_wait_us = 15000 },
      "differs: disk load: 0.00 CPUs -> 0.86 CPUs\n" },
    { { .steal_us = 20000 }, "differs: steal: 0.0 % -> 53.6 %\n" },
    { { .clock_mhz = 2000 }, "differs: clock: 3000 MHz -> 2000 MHz\n" },
    { { .disk_nbytes = 4 << 20 }, "differs: cold files: 0 B -> 4.19 MB\n" },
    { { .cpu_model = "Xeon" }, "differs: CPU: EPYC -> Xeon\n" },
  };
  struct capture capture;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct rd_diff diff = { .fail_percent = 5 };
    struct made_conditions before = quiet, after = rows[i].after;
    before.clock_mhz = 3000;
    before.cpu_model = "EPYC";
    after.wall_us = 17500;    /* 17 % more than before */
    after.cpu_us = 17300;
    after.clock_mhz = after.clock_mhz ? after.clock_mhz : 3000;
    after.cpu_model = after.cpu_model ? after.cpu_model : "EPYC";
    int status = report_loaded (&before, &after, &diff, &capture);
    assert_says (&capture, rows[i].line);
    assert_int_equal (status, RD_EXIT_UNCLEAR);
    assert_says (&capture, "so CPU time is compared");
    assert_says (&capture, "0 slower, 0 faster");
  }
}

/* Asserts that a slower run is reported with a condition that differs, which
 * leaves it unclear; line NULL: without any. */
static void
assert_condition (const struct made_conditions *before,
                  const struct made_conditions *after, const char *line)
{
  struct rd_diff diff = { .fail_percent = 5 };
  struct capture capture;
  int status = report_loaded (before, after, &diff, &capture);
  assert_int_equal (status, line ? RD_EXIT_UNCLEAR : RD_EXIT_FAILED);
  if (line)
    assert_says (&capture, line);
  else
    assert_says_not (&capture, "differs");
}

/* Ticks miss waits beside busy CPUs, and round the others. */
static void
the_load_of_disks_is_their_pressure_where_both_know_it (void **state)
{
  (void) state;
  static const struct {
    bool is_known;
    uint64_t wait_us, pressure_us;
    const char *line;
  } rows[] = {
    { true, 15000, 0, NULL },
    { true, 0, 1400, NULL },
    { true, 0, 1900, "differs: disk pressure: 0.0 % -> 10.9 %\n" },
    { false, 15000, 0, "differs: disk load: 0.00 CPUs -> 0.86 CPUs\n" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct made_conditions before = quiet, after = {
      .wall_us = 17500, .cpu_us = 17300, .disk_wait_us = rows[i].wait_us,
      .is_pressure_known = true, .disk_pressure_us = rows[i].pressure_us
    };
    before.is_pressure_known = rows[i].is_known;
    assert_condition (&before, &after, rows[i].line);
  }
}

/* It was: "load: 0.00 CPUs -> 16.97 CPUs" of a machine of 2, and a disk
 * pressure of 600 %, by dividing through the time of scopes. */
static void
what_the_machine_did_is_of_the_time_that_was_recorded (void **state)
{
  (void) state;
  static const struct {
    struct made_conditions after;
    const char *line;
  } rows[] = {
    { { .outside_us = 500000 }, NULL },
    { { .outside_us = 500000, .others_us = 400000 },
      "differs: load: 0.00 CPUs -> 0.77 CPUs\n" },
    { { .outside_us = 482500, .disk_pressure_us = 100000 },
      "differs: disk pressure: 0.0 % -> 20.0 %\n" },
    /* Only the runs that used no disk count. */
    { { .ncold = 9, .disk_pressure_us = 3500 },
      "differs: disk pressure: 0.0 % -> 20.0 %\n" },
    { { .ncold = 9, .disk_pressure_us = 1400 }, NULL },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct made_conditions before = quiet, after = rows[i].after;
    after.wall_us = 17500;
    after.cpu_us = 17300;
    before.is_pressure_known = after.is_pressure_known = true;
    assert_condition (&before, &after, rows[i].line);
  }
}

/* It was "no change", and exit status 0, of a program that took a quarter more
 * than beside other work, or a tenth where both lacked CPUs. */
static void
a_change_within_what_conditions_do_is_unclear (void **state)
{
  (void) state;
  static const struct {
    struct made_conditions before, after;
    int status;
    const char *limit;
  } rows[] = {
    { { .wall_us = 140000, .cpu_us = 14700, .others_us = 200000 },
      { .wall_us = 18500, .cpu_us = 18400 }, RD_EXIT_UNCLEAR, "40 %" },
    { { .wall_us = 140000, .cpu_us = 14700, .others_us = 200000 },
      { .wall_us = 140000, .cpu_us = 16050, .others_us = 200000 },
      RD_EXIT_UNCLEAR, "20 %" },
    { { .wall_us = 140000, .cpu_us = 14700, .others_us = 200000 },
      { .wall_us = 140000, .cpu_us = 15100, .others_us = 200000 },
      RD_EXIT_OK, NULL },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct rd_diff diff = { .fail_percent = 5 };
    struct capture capture;
    assert_int_equal (report_loaded (&rows[i].before, &rows[i].after, &diff,
                                     &capture), rows[i].status);
    assert_says_not (&capture, "changed by less than"); /* but the error */
    diff.fail_percent = -1;
    report_loaded (&rows[i].before, &rows[i].after, &diff, &capture);
    if (rows[i].limit) {
      assert_says (&capture, "'read' changed by less than the ");
      assert_says (&capture, rows[i].limit);
      assert_says (&capture, "processes of one program under such conditions");
    } else {
      assert_says_not (&capture, "changed by less");
    }
  }
}

/* A processor that slows down by itself is no change of the program, and no
 * reason to doubt all times either. */
static void
a_difference_that_the_clock_explains_is_noise (void **state)
{
  (void) state;
  struct capture capture;
  for (int is_slower = 0; is_slower < 2; is_slower++) {
    struct rd_diff diff = { .fail_percent = 5 };
    struct made_conditions before = quiet, after = { .wall_us = 16200,
                                                     .cpu_us = 16000 };
    before.clock_mhz = 3690;
    after.clock_mhz = is_slower ? 3420 : 3690;
    int status = report_loaded (&before, &after, &diff, &capture);
    assert_int_equal (status, is_slower ? RD_EXIT_OK : RD_EXIT_UNCLEAR);
    if (is_slower) {
      assert_says (&capture, "differs: clock: 3690 MHz -> 3420 MHz\n");
      assert_says (&capture, "0 slower, 0 faster");
    } else {
      assert_says (&capture, "2 slower, 0 faster");
      assert_says_not (&capture, "differs:");
    }
    assert_says (&capture, "ms of a run ");
    assert_says_not (&capture, "CPU time is compared");
  }
}

/* A renamed operation was not compared with anything. */
static void
profiles_without_a_common_root_are_unclear (void **state)
{
  (void) state;
  for (int is_gate = 0; is_gate < 2; is_gate++) {
    struct rd_diff diff = { .fail_percent = is_gate ? 5 : -1 };
    struct capture capture;
    assert_int_equal (report (make_operation ("read", "roi", "8", "1"),
                              make_operation ("read box", "roi", "8", "2"),
                              &diff, &capture),
                      is_gate ? RD_EXIT_UNCLEAR : RD_EXIT_OK);
  }
}

static void
equal_conditions_are_not_mentioned (void **state)
{
  (void) state;
  struct rd_diff diff = { .fail_percent = 5 };
  struct capture capture;
  struct made_conditions after = { .wall_us = 17500, .cpu_us = 17300 };
  assert_int_equal (report_loaded (&quiet, &after, &diff, &capture),
                    RD_EXIT_FAILED);
  assert_says (&capture, "ms of a run ");
  assert_says (&capture, "\n14.89 ms -> 17.49 ms (+17.4 %), median "
               "+17.4 %; paths: 2 slower");
  assert_says_not (&capture, "differs");
  assert_says_not (&capture, "CPU");
  struct rd_diff json = { .fail_percent = -1, .json = true };
  assert_int_equal (report_loaded (&quiet, &after, &json, &capture),
                    RD_EXIT_OK);
  assert_says (&capture, "\"basis\": \"wall\"");
  assert_says (&capture, "\"unfair\": false");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ranks_as_json_have_the_same_figures),
    cmocka_unit_test (a_slower_path_is_named_with_its_delta),
    cmocka_unit_test (a_faster_path_is_no_failure),
    cmocka_unit_test (changes_within_the_spread_are_noise),
    cmocka_unit_test (new_and_gone_paths_are_named_as_such),
    cmocka_unit_test (the_check_fails_beyond_its_percentage_only),
    cmocka_unit_test (single_runs_are_compared_by_their_figures),
    cmocka_unit_test (tiny_paths_are_shown_only_on_request),
    cmocka_unit_test (differences_as_json_are_complete),
    cmocka_unit_test (equal_names_on_other_threads_are_distinguished),
    cmocka_unit_test (other_conditions_are_reported_first),
    cmocka_unit_test (other_operations_are_reported_first),
    cmocka_unit_test (a_large_slowdown_is_reported_as_a_factor),
    cmocka_unit_test (sums_of_claimed_times_stay_at_the_largest),
    cmocka_unit_test (a_program_without_cpus_is_not_called_slower),
    cmocka_unit_test (equal_cpu_shares_do_not_differ),
    cmocka_unit_test (without_an_account_of_cpus_it_is_unclear),
    cmocka_unit_test (more_cpu_time_is_found_without_cpus),
    cmocka_unit_test (two_programs_without_cpus_are_compared_by_cpu_time),
    cmocka_unit_test (what_shared_cpus_explain_is_noise),
    cmocka_unit_test (what_processes_of_one_program_differ_by_is_unclear),
    cmocka_unit_test (ranks_are_compared_by_the_advice_for_them),
    cmocka_unit_test (one_long_run_leaves_nothing_unclear),
    cmocka_unit_test (waits_that_grew_without_cpus_are_unclear),
    cmocka_unit_test (a_little_lack_of_cpus_does_not_hide_long_waits),
    cmocka_unit_test (the_load_of_a_machine_is_that_beside_all_of_its_ranks),
    cmocka_unit_test (each_condition_is_reported_and_leaves_it_unclear),
    cmocka_unit_test (the_load_of_disks_is_their_pressure_where_both_know_it),
    cmocka_unit_test (what_the_machine_did_is_of_the_time_that_was_recorded),
    cmocka_unit_test (a_difference_that_the_clock_explains_is_noise),
    cmocka_unit_test (a_change_within_what_conditions_do_is_unclear),
    cmocka_unit_test (profiles_without_a_common_root_are_unclear),
    cmocka_unit_test (equal_conditions_are_not_mentioned),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
