/* SPDX-License-Identifier: MIT */
/* Files around a measurement: temporary folders are removed, files are made
 * cold. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit.h"

#include "tools/interrupt.h"
#include "tools/profile/cold.h"

static void
write_file (const char *folder, const char *name, size_t nbytes)
{
  char path[512];
  char *zeros = calloc (1, nbytes + 1);
  assert_non_null (zeros);
  assert_true (snprintf (path, sizeof path, "%s/%s", folder, name)
               < (int) sizeof path);
  int file = open (path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  assert_true (file >= 0);
  assert_int_equal (write (file, zeros, nbytes), nbytes);
  close (file);
  free (zeros);
}

static void
make_folder (const char *folder, const char *name)
{
  char path[512];
  snprintf (path, sizeof path, "%s/%s", folder, name);
  assert_int_equal (mkdir (path, 0700), 0);
}

static void
a_temporary_folder_is_removed_with_its_contents (void **state)
{
  (void) state;
  char *path = NULL, copy[512];
  struct stat st;
  assert_int_equal (rd_temp_make (NULL, &path), 0);
  snprintf (copy, sizeof copy, "%s", path);
  make_folder (path, "a");
  make_folder (path, "a/b");
  write_file (path, "a/b/c", 10);
  write_file (path, ".hidden", 10);
  rd_temp_remove (path);
  assert_int_equal (lstat (copy, &st), -1);
  assert_int_equal (errno, ENOENT);
}

static void
targets_of_links_stay (void **state)
{
  (void) state;
  char *kept = NULL, *gone = NULL, link[512], file[512];
  struct stat st;
  assert_int_equal (rd_temp_make (NULL, &kept), 0);
  assert_int_equal (rd_temp_make (NULL, &gone), 0);
  write_file (kept, "precious", 10);
  snprintf (link, sizeof link, "%s/link", gone);
  snprintf (file, sizeof file, "%s/precious", kept);
  assert_int_equal (symlink (kept, link), 0);
  rd_temp_remove (gone);
  assert_int_equal (lstat (file, &st), 0);
  rd_temp_remove (kept);
}

static void
a_temporary_folder_can_be_beside_a_path (void **state)
{
  (void) state;
  char *first = NULL, *beside = NULL, path[512];
  assert_int_equal (rd_temp_make (NULL, &first), 0);
  snprintf (path, sizeof path, "%s/store.zarr//", first);
  assert_int_equal (rd_temp_make (path, &beside), 0);
  assert_int_equal (strncmp (beside, first, strlen (first)), 0);
  assert_int_equal (beside[strlen (first)], '/');
  assert_null (strchr (beside + strlen (first) + 1, '/'));
  rd_temp_remove (beside);
  rd_temp_remove (first);
}

static void
removing_nothing_is_legal (void **state)
{
  (void) state;
  rd_temp_remove (NULL);
}

/* Coldness depends on the file system; the counts do not. */
static void
cold_counts_all_files_and_bytes (void **state)
{
  (void) state;
  char *path = NULL;
  struct rd_cold cold;
  assert_int_equal (rd_temp_make (NULL, &path), 0);
  make_folder (path, "a");
  write_file (path, "a/one", 10000);
  write_file (path, "two", 5000);
  write_file (path, "empty", 0);
  rd_cold_drop (path, &cold);
  assert_int_equal (cold.nfiles, 3);
  assert_int_equal (cold.nbytes, 15000);
  assert_int_equal (cold.refused_count, 0);
  assert_true (cold.resident_nbytes <= cold.nbytes);
  rd_temp_remove (path);
}

/* A page that a process holds in memory cannot be dropped, whatever the
 * file system. */
static void
pages_that_stay_in_memory_are_reported (void **state)
{
  (void) state;
  char *path = NULL, name[512];
  struct rd_cold cold;
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  assert_int_equal (rd_temp_make (NULL, &path), 0);
  write_file (path, "held", 4 * page);
  snprintf (name, sizeof name, "%s/held", path);
  int file = open (name, O_RDONLY);
  assert_true (file >= 0);
  volatile char *map = mmap (NULL, 2 * page, PROT_READ, MAP_SHARED, file, 0);
  assert_true (map != MAP_FAILED);
  (void) map[0];
  (void) map[page];
  rd_cold_drop (name, &cold);
  assert_int_equal (cold.nfiles, 1);
  assert_in_range (cold.resident_nbytes, 2 * page, 4 * page);
  char *problem = rd_cold_problem (&cold);
  assert_non_null (problem);
  assert_non_null (strstr (problem, "stayed in memory"));
  free (problem);
  munmap ((void *) map, 2 * page);
  close (file);
  rd_temp_remove (path);
}

static void
files_that_are_not_there_are_refused (void **state)
{
  (void) state;
  struct rd_cold cold;
  rd_cold_drop ("/nonexistent/file", &cold);
  assert_true (cold.refused_count > 0);
  char *problem = rd_cold_problem (&cold);
  assert_non_null (problem);
  assert_non_null (strstr (problem, "could not be dropped"));
  free (problem);
}

static void
stores_elsewhere_cannot_be_made_cold (void **state)
{
  (void) state;
  struct rd_cold cold;
  rd_cold_drop ("s3://bucket/study.zarr/ct/a", &cold);
  char *problem = rd_cold_problem (&cold);
  assert_non_null (problem);
  assert_non_null (strstr (problem, "not on a local disk"));
  free (problem);
}

static void
all_cold_is_no_problem (void **state)
{
  (void) state;
  const struct rd_cold cold = { .nfiles = 3, .nbytes = 100 };
  assert_null (rd_cold_problem (&cold));
}

static void
the_first_signal_is_only_recorded (void **state)
{
  (void) state;
  assert_int_equal (rd_interrupted (), 0);
  rd_interrupt_catch ();
  raise (SIGTERM);
  assert_int_equal (rd_interrupted (), SIGTERM);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_temporary_folder_is_removed_with_its_contents),
    cmocka_unit_test (targets_of_links_stay),
    cmocka_unit_test (a_temporary_folder_can_be_beside_a_path),
    cmocka_unit_test (removing_nothing_is_legal),
    cmocka_unit_test (cold_counts_all_files_and_bytes),
    cmocka_unit_test (pages_that_stay_in_memory_are_reported),
    cmocka_unit_test (files_that_are_not_there_are_refused),
    cmocka_unit_test (stores_elsewhere_cannot_be_made_cold),
    cmocka_unit_test (all_cold_is_no_problem),
    cmocka_unit_test (the_first_signal_is_only_recorded),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
