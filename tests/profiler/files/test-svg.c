/* SPDX-License-Identifier: MIT */
/* Flame graphs as pictures: their widths, what is escaped, and their size,
 * which is bounded for any tree. */
#include <config.h>

#include "tests/profiler/build.h"
#include "tests/profiler/files/sink.h"

static char *
draw (struct radio_profile *profile)
{
  build_finish (profile);
  struct sink sink = sink_write (profile, RADIO_PROFILE_SVG, NULL);
  radio_profile_close (profile);
  assert_true (sink.nbytes < 2000000);
  return sink.text;
}

static size_t
count (const char *text, const char *part)
{
  size_t n = 0;
  for (const char *at = text; (at = strstr (at, part)) != NULL; at++)
    n++;
  return n;
}

static void
assert_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    fail_msg ("'%s' not in '%s'", part, text);
}

/* Adds a node with self time alone, which passes on to those above it. */
static uint32_t
add (struct radio_profile *profile, uint32_t parent, const char *name,
     uint64_t self_ns)
{
  uint32_t node = build_node (profile, parent, name, "decode");
  build_times (profile, node, 1, self_ns, self_ns, self_ns, 0);
  return node;
}

/* 1180 pixels are the whole of 100 us. */
static void
widths_are_self_times_with_those_below (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("widths");
  uint32_t a = add (profile, RD_NO_INDEX, "a", 20000);
  add (profile, a, "light", 10000);
  add (profile, a, "heavy", 60000);
  add (profile, RD_NO_INDEX, "b", 10000);
  profile->nodes.at[a].starved_ns = profile->info.starved_ns = 5000;
  char *text = draw (profile);
  assert_has (text, "work (5 us of it without a CPU), 0 ns wait; width: ");
  assert_has (text, "<title>a: 90 us (90 %), self 20 us, 1 call</title>"
              "<rect x=\"10.00\" width=\"1062.00\" y=\"66\"");
  assert_has (text, "<title>heavy: 60 us (60 %), self 60 us, 1 call</title>"
              "<rect x=\"10.00\" width=\"708.00\" y=\"48\"");
  assert_has (text, "<title>light: 10 us (10 %), self 10 us, 1 call</title>"
              "<rect x=\"718.00\" width=\"118.00\" y=\"48\"");
  assert_has (text, "<rect x=\"1072.00\" width=\"118.00\" y=\"66\"");
  assert_has (text, ">heavy</text>");
  free (text);
}

static void
names_are_escaped_and_cut (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("<script>alert (1)</script> &");
  add (profile, RD_NO_INDEX, "a<b>&\"\xef\xbf\xbf", 1000000);
  add (profile, RD_NO_INDEX, "a_name_that_is_much_longer_than_its_frame",
       100000);
  char *text = draw (profile);
  assert_null (strstr (text, "<script"));
  assert_has (text, "&lt;script&gt;alert (1)&lt;/script&gt; &amp;</title>");
  assert_has (text, "<title>a&lt;b&gt;&amp;&quot;\xef\xbf\xbd: ");
  assert_has (text, ">a_name_that_..</text>");
  assert_has (text, "<title>a_name_that_is_much_longer_than_its_frame: ");
  free (text);
}

static void
narrow_callees_are_one_frame (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("narrow");
  uint32_t a = add (profile, RD_NO_INDEX, "a", 10000000);
  for (int i = 0; i < 100; i++) {
    char name[16];
    snprintf (name, sizeof name, "n%d", i);
    add (profile, a, name, 1000);
  }
  add (profile, a, "wide", 1000000);
  char *text = draw (profile);
  assert_int_equal (count (text, "<g>"), 2);
  assert_has (text, "<g class=\"merged\"><title>100 more: 100 us (0.9 %)"
              "</title>");
  free (text);
}

static void
frames_and_rows_are_bounded (void **state)
{
  (void) state;
  /* 600 roots of 1.97 pixels, and 500 of 2.36 with 20 levels each. */
  for (size_t nroots = 500; nroots <= 600; nroots += 100) {
    struct radio_profile *profile = build_new ("many");
    for (size_t i = 0; i < nroots; i++) {
      uint32_t node = RD_NO_INDEX;
      for (size_t level = 0; level < 20; level++) {
        char name[32];
        snprintf (name, sizeof name, "n%zu", level == 0 ? i : level);
        node = add (profile, node, name, level < 19 ? 0 : 1000);
      }
    }
    char *text = draw (profile);
    size_t n = count (text, "<g");
    if (nroots == 600)
      assert_int_equal (n, 1);
    else
      assert_true (n > 3900 && n <= 4000);
    free (text);
  }

  struct radio_profile *profile = build_new ("deep");
  uint32_t node = RD_NO_INDEX;
  for (int i = 0; i < 1000; i++)
    node = add (profile, node, "f", 1);
  char *text = draw (profile);
  assert_int_equal (count (text, "<g>"), 64);
  free (text);
}

static void
an_empty_profile_is_a_picture_too (void **state)
{
  (void) state;
  char *text = draw (build_new (""));
  assert_has (text, "0 ns wall");
  assert_int_equal (count (text, "<g"), 0);
  assert_int_equal (count (text, "</svg>"), 1);
  free (text);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (widths_are_self_times_with_those_below),
    cmocka_unit_test (names_are_escaped_and_cut),
    cmocka_unit_test (narrow_callees_are_one_frame),
    cmocka_unit_test (frames_and_rows_are_bounded),
    cmocka_unit_test (an_empty_profile_is_a_picture_too),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
