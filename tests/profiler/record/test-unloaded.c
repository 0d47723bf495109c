/* SPDX-License-Identifier: MIT */
/* A library that is unloaded while a recorder runs that saw its sites: here a
 * page with them, which is unmapped, and mapped again for another library. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <radio/profile.h>

#include "tests/unit.h"

#include "profiler/model/profile.h"

/* The constants of a library. */
struct library {
  struct radio_site site;
  struct radio_counter counter, gauge;
  char name[32], category[32], function[32], file[32], rows[32], depth[32];
  char count[32], key[32];
};

static struct library *
load (void *address, const char *name, unsigned line)
{
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED : 0);
  struct library *library = mmap (address, sizeof *library,
                                  PROT_READ | PROT_WRITE, flags, -1, 0);
  assert_ptr_not_equal (library, MAP_FAILED);
  snprintf (library->name, sizeof library->name, "%s", name);
  strcpy (library->category, "plug-in");
  strcpy (library->function, "run");
  strcpy (library->file, "plug-in.c");
  snprintf (library->rows, sizeof library->rows, "%s rows", name);
  snprintf (library->depth, sizeof library->depth, "%s depth", name);
  strcpy (library->count, "count");
  snprintf (library->key, sizeof library->key, "%s key", name);
  library->site = (struct radio_site) {
    library->name, library->category, library->function, library->file, line,
    RADIO_SCOPE_WORK
  };
  library->counter = (struct radio_counter) { library->rows, library->count };
  library->gauge = (struct radio_counter) { library->depth, library->count };
  return library;
}

static void
run (const struct library *library)
{
  uint64_t token = radio_scope_begin (&library->site);
  radio_scope_add (&library->counter, 7);
  radio_scope_text (library->key, "value", RADIO_TEXT_PLAIN);
  radio_gauge_set (&library->gauge, 1);
  radio_scope_end (token);
}

static void
assert_recorded (const struct radio_profile *profile, size_t i,
                 const char *name, unsigned line)
{
  char text[64];
  const struct radio_profile_node *node = radio_profile_get_node (profile, i);
  assert_string_equal (node->name, name);
  assert_string_equal (node->category, "plug-in");
  assert_string_equal (node->function, "run");
  assert_string_equal (node->file, "plug-in.c");
  assert_int_equal (node->line, line);
  assert_int_equal (node->calls, 2);
  snprintf (text, sizeof text, "%s rows", name);
  assert_int_equal (radio_profile_counter (profile, i, text, false), 14);
  snprintf (text, sizeof text, "%s depth", name);
  assert_string_equal (profile->gauges.at[i].name, text);
  snprintf (text, sizeof text, "%s key", name);
  size_t nfound = 0;
  for (size_t k = 0; k < profile->notes.n; k++)
    nfound += strcmp (profile->notes.at[k].key, text) == 0;
  assert_int_equal (nfound, 3);         /* of two spans and their node */
}

static void
names_outlive_their_library (void **state)
{
  (void) state;
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  struct library *library = load (NULL, "decode", 7);
  assert_ok (radio_recorder_start (NULL, &recorder));
  run (library);
  run (library);
  munmap (library, sizeof *library);
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (profile->nodes.n, 1);
  assert_recorded (profile, 0, "decode", 7);
  radio_profile_close (profile);
}

/* Another scope between them, since the same site again is not looked at. */
static void
a_library_in_the_place_of_another_has_its_own_names (void **state)
{
  (void) state;
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  struct library *library = load (NULL, "decode", 7);
  assert_ok (radio_recorder_start (NULL, &recorder));
  run (library);
  run (library);
  load (library, "encode", 9);
  for (int i = 0; i < 2; i++) {
    RADIO_SCOPE ("first");
  }
  for (int i = 0; i < 3; i++) {
    RADIO_SCOPE ("second");
  }
  run (library);
  run (library);
  munmap (library, sizeof *library);
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (profile->nodes.n, 4);
  assert_recorded (profile, 0, "decode", 7);
  assert_string_equal (profile->nodes.at[3].name, "encode");
  assert_int_equal (profile->nodes.at[3].calls, 2);
  assert_int_equal (radio_profile_counter (profile, 3, "encode rows", false),
                    14);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (names_outlive_their_library),
    cmocka_unit_test (a_library_in_the_place_of_another_has_its_own_names),
  };
  return run_recording_tests (tests);
}
