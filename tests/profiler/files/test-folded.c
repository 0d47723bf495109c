/* SPDX-License-Identifier: MIT */
/* Folded stacks, parsed as flamegraph.pl and similar tools do: the stack up to
 * the last blank, then its count (a number before the count would be that of
 * another profile), with frames separated by ';'. */
#include <config.h>

#include "tests/profiler/build.h"
#include "tests/profiler/files/sink.h"

/* Returns the next stack and its count; false at the end.  Modifies the
 * text. */
static bool
next_stack (char **rest, char **stack, uint64_t *count)
{
  char *line = *rest, *end = strchr (line, '\n'), *number;
  if (*line == '\0')
    return false;
  assert_non_null (end);
  *end = '\0';
  *rest = end + 1;
  char *blank = strrchr (line, ' ');
  assert_non_null (blank);
  *count = strtoull (blank + 1, &number, 10);
  assert_true (number > blank + 1 && *number == '\0');
  *blank = '\0';
  *stack = line;
  /* No second count. */
  char *other = strrchr (line, ' ');
  if (other) {
    strtoull (other + 1, &number, 10);
    assert_true (number == other + 1 || *number != '\0');
  }
  return true;
}

static uint64_t
sum_self (const struct radio_profile *profile)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < profile->nodes.n; i++)
    sum += profile->nodes.at[i].self_ns;
  return sum;
}

static void
the_counts_are_the_self_times (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed < 20; seed++) {
    struct radio_profile *profile = build_random (seed, 300, 3);
    struct sink sink = sink_write (profile, RADIO_PROFILE_FOLDED, NULL);
    char *rest = sink.text, *stack;
    uint64_t count, sum = 0;
    while (next_stack (&rest, &stack, &count))
      sum += count;
    assert_true (sum == sum_self (profile));
    free (sink.text);
    radio_profile_close (profile);
  }
}

/* Follows the frames down the tree by their names, which are harmless in
 * random profiles. */
static uint32_t
find_path (const struct radio_profile *profile, char *stack)
{
  uint32_t node = RD_NO_INDEX;
  while (stack) {
    char *end = strchr (stack, ';');
    if (end)
      *end = '\0';
    node = rd_profile_find_node (profile, node, stack, "user",
                                 RADIO_EDGE_CALL);
    assert_true (node != RD_NO_INDEX);
    stack = end ? end + 1 : NULL;
  }
  return node;
}

static void
each_stack_is_the_path_of_its_node (void **state)
{
  (void) state;
  struct radio_profile *profile = build_random (5, 2000, 4);
  struct sink sink = sink_write (profile, RADIO_PROFILE_FOLDED, NULL);
  char *rest = sink.text, *stack;
  uint64_t count;
  size_t n = 0;
  while (next_stack (&rest, &stack, &count)) {
    assert_true (profile->nodes.at[find_path (profile, stack)].self_ns
                 == count);
    n++;
  }
  for (size_t i = 0; i < profile->nodes.n; i++)
    n -= profile->nodes.at[i].self_ns > 0;
  assert_int_equal (n, 0);
  free (sink.text);
  radio_profile_close (profile);
}

static void
names_do_not_break_a_line (void **state)
{
  (void) state;
  static const struct {
    const char *name, *expected;
  } cases[] = {
    { "a;b 3", "a,b_3" }, { "", "(no name)" }, { "tile 12", "tile_12" },
    { "two  words", "two  words" }, { "17", "17" }, { ";;", ",," },
    { "x 1 2", "x 1_2" }, { " 5", "_5" }, { "v2", "v2" },
  };
  struct radio_profile *profile = build_new ("names");
  size_t ncases = sizeof cases / sizeof cases[0];
  for (size_t i = 0; i < ncases; i++)
    build_times (profile, build_node (profile, RD_NO_INDEX, cases[i].name,
                                      "c"), 1, i + 1, i + 1, i + 1, 0);
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = sink_write (profile, RADIO_PROFILE_FOLDED, NULL);
  char *rest = sink.text, *stack;
  uint64_t count;
  for (size_t i = 0; i < ncases; i++) {
    assert_true (next_stack (&rest, &stack, &count));
    assert_string_equal (stack, cases[i].expected);
    assert_int_equal (count, i + 1);
  }
  assert_string_equal (rest, "");
  free (sink.text);
  radio_profile_close (profile);
}

static void
scopes_without_time_of_their_own_have_no_line (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("zero");
  uint32_t above = build_node (profile, RD_NO_INDEX, "above", "c");
  uint32_t below = build_node (profile, above, "below", "c");
  build_times (profile, above, 1, 10, 0, 0, 0);
  build_times (profile, below, 1, 10, 10, 10, 0);
  assert_ok (rd_profile_finalize (profile));
  struct sink sink = sink_write (profile, RADIO_PROFILE_FOLDED, NULL);
  assert_string_equal (sink.text, "above;below 10\n");
  free (sink.text);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_counts_are_the_self_times),
    cmocka_unit_test (each_stack_is_the_path_of_its_node),
    cmocka_unit_test (names_do_not_break_a_line),
    cmocka_unit_test (scopes_without_time_of_their_own_have_no_line),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
