/* SPDX-License-Identifier: MIT */
/* Writes constructed profiles as radio's JSON into a folder, for the tests
 * that show them to other programs:
 *
 *   make-histories FOLDER
 *
 *   plain-N.json, odd-N.json   random histories
 *   ranks.json                 four of them at the same time
 *   runs.json                  three of them one after the other
 *   specimen.json              one of everything
 */
#include <config.h>

#include "tests/profiler/trace/history.h"

/* Writes and closes a profile. */
static void
put (struct radio_profile *profile, const char *folder, const char *name)
{
  char path[4096];
  int n = snprintf (path, sizeof path, "%s/%s.json", folder, name);
  assert_in_range (n, 1, sizeof path - 1);
  assert_ok (radio_profile_write (profile, path, NULL));
  radio_profile_close (profile);
}

static void
put_joined (const char *folder, const char *name, size_t n,
            enum radio_profile_parts parts)
{
  struct radio_profile *profiles[4] = { NULL }, *joined;
  for (size_t i = 0; i < n; i++)
    profiles[i] = history_random (10 + i, false);
  assert_ok (radio_profile_join (profiles, n, parts, &joined));
  for (size_t i = 0; i < n; i++)
    radio_profile_close (profiles[i]);
  put (joined, folder, name);
}

static void
put_all (void **state)
{
  const char *folder = *state;
  put (history_random (1, false), folder, "plain-1");
  put (history_random (2, false), folder, "plain-2");
  put (history_random (3, true), folder, "odd-1");
  put_joined (folder, "ranks", 4, RADIO_PARTS_RANKS);
  put_joined (folder, "runs", 3, RADIO_PARTS_RUNS);
  put (build_specimen (), folder, "specimen");
}

int
main (int argc, char **argv)
{
  if (argc != 2) {
    fprintf (stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_prestate (put_all, argv[1]),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
