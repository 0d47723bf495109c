/* SPDX-License-Identifier: MIT */
/* The file of a ring: it replaces rings alone, and the program's folder may
 * change. */
#include <config.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (only_regular_files_are_replaced),
    cmocka_unit_test (the_file_is_removed_from_the_folder_that_it_is_in),
  };
  char folder[] = "test-ring-file.XXXXXX";
  if (mkdtemp (folder) == NULL || chdir (folder) != 0)
    return 99;
  int failed = run_recording_tests (tests);
  return chdir ("..") != 0 || rmdir (folder) != 0 || failed;
}
