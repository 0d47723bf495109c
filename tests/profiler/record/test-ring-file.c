/* SPDX-License-Identifier: MIT */
/* The file of a ring: it replaces regular files alone, the program's folder may
 * change, it stays locked, and any names can be recovered. */
#include <config.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/model/profile.h"
#include "profiler/record/image.h"
#include "tests/profiler/record/history.h"

SITE (a, RADIO_SCOPE_WORK);

static const struct radio_recorder_options ring = {
  .ring_nbytes = 65536, .ring_file = "ring"
};

static void
write_text (const char *path)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  assert_true (fd >= 0);
  assert_int_equal (write (fd, "text", 4), 4);
  assert_int_equal (close (fd), 0);
}

static bool
is_text (const char *path)
{
  struct stat status;
  return stat (path, &status) == 0 && status.st_size == 4;
}

static void
only_regular_files_are_replaced (void **state)
{
  struct radio_recorder *recorder;
  struct stat status;
  (void) state;
  assert_int_equal (mkdir ("ring", 0700), 0);
  write_text ("ring/kept");
  assert_fails (radio_recorder_start (&ring, &recorder), RADIO_ERROR_ARGUMENT,
                "ring: not a regular file");
  assert_true (is_text ("ring/kept"));
  assert_int_equal (unlink ("ring/kept"), 0);
  assert_int_equal (rmdir ("ring"), 0);

  assert_int_equal (mkfifo ("ring", 0600), 0);
  assert_fails (radio_recorder_start (&ring, &recorder), RADIO_ERROR_ARGUMENT,
                "ring: not a regular file");
  assert_int_equal (lstat ("ring", &status), 0);
  assert_true (S_ISFIFO (status.st_mode));
  assert_int_not_equal (access ("ring.old", F_OK), 0);

  /* Nor is what has the name of the old file. */
  assert_int_equal (rename ("ring", "ring.old"), 0);
  write_text ("ring");
  assert_fails (radio_recorder_start (&ring, &recorder), RADIO_ERROR_ARGUMENT,
                "ring.old: not a regular file");
  assert_true (is_text ("ring"));
  assert_int_equal (unlink ("ring.old"), 0);

  assert_ok (radio_recorder_start (&ring, &recorder));
  assert_true (is_text ("ring.old"));
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_int_not_equal (access ("ring", F_OK), 0);
  assert_int_equal (unlink ("ring.old"), 0);
}

static void
the_file_is_removed_from_the_folder_that_it_is_in (void **state)
{
  struct radio_recorder *recorder;
  (void) state;
  assert_int_equal (mkdir ("other", 0700), 0);
  write_text ("other/ring");
  assert_ok (radio_recorder_start (&ring, &recorder));
  assert_int_equal (chdir ("other"), 0);
  radio_scope_end (radio_scope_begin (&a));
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_true (is_text ("ring"));
  assert_int_equal (chdir (".."), 0);
  assert_int_not_equal (access ("ring", F_OK), 0);

  /* Nor is another file that has got its name since. */
  assert_ok (radio_recorder_start (&ring, &recorder));
  assert_int_equal (rename ("other/ring", "ring"), 0);
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_true (is_text ("ring"));
  assert_int_equal (unlink ("ring"), 0);
  assert_int_equal (rmdir ("other"), 0);
}

/* Closing any descriptor of the file is enough to lose its lock, by which other
 * containers know that the process runs. */
static void
a_lock_that_was_lost_is_taken_again (void **state)
{
  struct radio_recorder *recorder;
  int status;
  (void) state;
  assert_ok (radio_recorder_start (&ring, &recorder));
  assert_int_equal (close (open ("ring", O_RDONLY)), 0);
  pid_t child = fork ();
  if (child == 0) {
    int fd = open ("ring", O_RDONLY);
    alarm (60);
    while (!rd_image_is_locked (fd))
      usleep (1000);
    _exit (0);
  }
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_int_equal (status, 0);
  assert_ok (radio_recorder_stop (recorder, NULL));
}

static const struct radio_profile_node *
find_calls (const struct radio_profile *profile, size_t calls)
{
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (profile->nodes.at[i].calls == calls)
      return &profile->nodes.at[i];
  fail_msg ("no scope with %zu calls", calls);
  return NULL;
}

/* The first 4,096 bytes end within a character. */
static void
names_of_any_bytes_do_no_harm (void **state)
{
  static char longest[5000];
  static const struct radio_site sites[] = {
    { longest, "user", "f", "x.c", 1, RADIO_SCOPE_WORK },
    { "\xff|\xc3", "user", "f", "x.c", 2, RADIO_SCOPE_WORK },
  };
  static const struct radio_counter counter = { "n\xed\xa0\x80", "u\xff" };
  struct radio_recorder *recorder;
  struct radio_profile *profiles[2];
  (void) state;
  memset (longest, 'q', sizeof longest - 1);
  memcpy (longest + 4095, "\xc3\xa9", 2);
  assert_ok (radio_recorder_start (&ring, &recorder));
  for (size_t i = 0; i < 2; i++)
    for (size_t j = 0; j < i + 1; j++) {
      uint64_t token = radio_scope_begin (&sites[i]);
      radio_scope_add (&counter, 7);
      radio_scope_end (token);
    }
  assert_ok (radio_recorder_snapshot (recorder, &profiles[0]));
  assert_ok (radio_recorder_stop (recorder, &profiles[1]));
  for (size_t i = 0; i < 2; i++) {
    const char *name = find_calls (profiles[i], 1)->name;
    assert_int_equal (strlen (name), 4095);
    assert_int_equal (strspn (name, "q"), 4095);
    assert_string_equal (find_calls (profiles[i], 2)->name,
                         "\xef\xbf\xbd|\xef\xbf\xbd");
    assert_int_equal (profiles[i]->counters.n, 1);
    assert_string_equal (profiles[i]->counters.at[0].unit,
                         "u\xef\xbf\xbd");
    radio_profile_close (profiles[i]);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (only_regular_files_are_replaced),
    cmocka_unit_test (a_lock_that_was_lost_is_taken_again),
    cmocka_unit_test (names_of_any_bytes_do_no_harm),
    cmocka_unit_test (the_file_is_removed_from_the_folder_that_it_is_in),
  };
  char folder[] = "test-ring-file.XXXXXX";
  if (mkdtemp (folder) == NULL || chdir (folder) != 0)
    return 99;
  int failed = run_recording_tests (tests);
  return chdir ("..") != 0 || rmdir (folder) != 0 || failed;
}
