/* SPDX-License-Identifier: MIT */
/* Files that appear whole: the folder's content before, while and after one is
 * written.  libdeflate, another library than the one that deflated, inflates
 * the gzip files. */
#include <config.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include <libdeflate.h>

#include "tests/unit.h"

#include "src/nifti/output.h"
#include "tests/nifti/folder.h"

static unsigned
count_files (void)
{
  unsigned n = 0;
  DIR *dir = opendir (".");
  assert_non_null (dir);
  struct dirent *entry;
  while ((entry = readdir (dir)) != NULL)
    n += strcmp (entry->d_name, ".") && strcmp (entry->d_name, "..");
  closedir (dir);
  return n;
}

static size_t
slurp (const char *file, unsigned char *data, size_t room)
{
  FILE *stream = fopen (file, "rb");
  assert_non_null (stream);
  size_t n = fread (data, 1, room, stream);
  fclose (stream);
  return n;
}

static void
assert_content (const char *file, const char *content)
{
  unsigned char data[256];
  size_t n = slurp (file, data, sizeof data);
  assert_int_equal (n, strlen (content));
  assert_memory_equal (data, content, n);
}

static void
write_text (const char *file, bool overwrite, const char *text)
{
  struct rd_output *output;
  assert_ok (rd_output_open (file, overwrite, 0, NULL, &output));
  assert_ok (rd_output_write (output, text, strlen (text)));
  assert_ok (rd_output_commit (output, NULL, NULL));
}

static void
a_file_appears_with_commit_and_leaves_nothing_else (void **state)
{
  (void) state;
  struct rd_output *output;
  assert_ok (rd_output_open ("a.npy", false, 0, NULL, &output));
  assert_ok (rd_output_write (output, "one ", 4));
  assert_int_equal (access ("a.npy", F_OK), -1);
  assert_ok (rd_output_write (output, "two", 3));
  assert_ok (rd_output_commit (output, NULL, NULL));
  assert_content ("a.npy", "one two");
  assert_int_equal (count_files (), 1);
}

static void
abort_leaves_nothing (void **state)
{
  (void) state;
  struct rd_output *output;
  assert_ok (rd_output_open ("a.nii.gz", false, 0, NULL, &output));
  assert_ok (rd_output_write (output, "one", 3));
  rd_output_abort (output);
  assert_int_equal (count_files (), 0);
  rd_output_abort (NULL);
}

static void
an_existing_file_is_kept_unless_overwriting (void **state)
{
  (void) state;
  write_text ("a.nii", false, "old");
  struct rd_output *output;
  assert_fails (rd_output_open ("a.nii", false, 0, NULL, &output),
                RADIO_ERROR_EXISTS, "a.nii");
  assert_content ("a.nii", "old");
  write_text ("a.nii", true, "new");
  assert_content ("a.nii", "new");
  assert_int_equal (count_files (), 1);
}

static void
a_file_that_came_meanwhile_is_kept (void **state)
{
  (void) state;
  struct rd_output *output;
  assert_ok (rd_output_open ("a.nii", false, 0, NULL, &output));
  assert_ok (rd_output_write (output, "mine", 4));
  write_text ("a.nii", false, "theirs");
  assert_fails (rd_output_commit (output, NULL, NULL), RADIO_ERROR_EXISTS,
                "a.nii");
  assert_content ("a.nii", "theirs");
  assert_int_equal (count_files (), 1);
}

static void
an_old_file_stays_when_overwriting_is_aborted (void **state)
{
  (void) state;
  write_text ("a.nii", false, "old");
  struct rd_output *output;
  assert_ok (rd_output_open ("a.nii", true, 0, NULL, &output));
  assert_ok (rd_output_write (output, "new", 3));
  rd_output_abort (output);
  assert_content ("a.nii", "old");
}

static void
permissions_are_those_that_the_umask_leaves (void **state)
{
  (void) state;
  mode_t old = umask (027);
  write_text ("a.nii", false, "x");
  umask (old);
  struct stat st;
  assert_int_equal (stat ("a.nii", &st), 0);
  assert_int_equal (st.st_mode & 0777, 0640);
}

static void
a_file_that_is_replaced_keeps_its_permissions (void **state)
{
  (void) state;
  static const mode_t modes[] = { 0600, 0640, 0666, 0400 };
  mode_t old = umask (022);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    struct stat st;
    write_text ("a.nii", true, "old");
    assert_int_equal (chmod ("a.nii", modes[i]), 0);
    write_text ("a.nii", true, "new");
    assert_int_equal (stat ("a.nii", &st), 0);
    assert_int_equal (st.st_mode & 0777, modes[i]);
    assert_content ("a.nii", "new");
  }
  umask (old);
}

static void
a_link_stays_a_link_to_the_new_content (void **state)
{
  (void) state;
  write_text ("real.nii", false, "old");
  assert_int_equal (symlink ("real.nii", "link.nii"), 0);
  write_text ("link.nii", true, "new");
  struct stat st;
  assert_int_equal (lstat ("link.nii", &st), 0);
  assert_true (S_ISLNK (st.st_mode));
  assert_content ("real.nii", "new");
}

static void
a_link_to_nothing_is_replaced (void **state)
{
  (void) state;
  struct rd_output *output;
  assert_int_equal (symlink ("nothing.nii", "loose.nii"), 0);
  assert_fails (rd_output_open ("loose.nii", false, 0, NULL, &output),
                RADIO_ERROR_EXISTS, "loose.nii: exists already");
  write_text ("loose.nii", true, "new");
  struct stat st;
  assert_int_equal (lstat ("loose.nii", &st), 0);
  assert_true (S_ISREG (st.st_mode));
  assert_content ("loose.nii", "new");
}

static void
a_file_that_is_not_regular_is_not_replaced (void **state)
{
  (void) state;
  struct rd_output *output;
  assert_int_equal (mkfifo ("pipe.nii", 0600), 0);
  assert_int_equal (mkdir ("folder.nii", 0700), 0);
  assert_fails (rd_output_open ("pipe.nii", true, 0, NULL, &output),
                RADIO_ERROR_ARGUMENT, "pipe.nii: not a regular file");
  assert_fails (rd_output_open ("folder.nii", true, 0, NULL, &output),
                RADIO_ERROR_ARGUMENT, "folder.nii");
}

static void
a_missing_folder_is_named (void **state)
{
  (void) state;
  struct rd_output *output;
  assert_fails (rd_output_open ("no/such/a.nii", false, 0, NULL, &output),
                RADIO_ERROR_NOT_FOUND, "no/such/a.nii");
}

static void
the_longest_legal_name_works (void **state)
{
  (void) state;
  char name[256];
  memset (name, 'n', 255);
  name[255] = '\0';
  write_text (name, false, "x");
  assert_content (name, "x");
}

/* A file-size limit makes write fail as a full disk does (EFBIG). */
static void
a_failed_write_names_the_file_and_leaves_nothing (void **state)
{
  (void) state;
  struct rlimit old, small = { 4096, 4096 };
  assert_int_equal (getrlimit (RLIMIT_FSIZE, &old), 0);
  small.rlim_max = old.rlim_max;
  void (*handler) (int) = signal (SIGXFSZ, SIG_IGN);
  struct rd_output *output;
  static const char zeros[8192];
  assert_ok (rd_output_open ("a.nii", false, 0, NULL, &output));
  assert_int_equal (setrlimit (RLIMIT_FSIZE, &small), 0);
  enum radio_status status = rd_output_write (output, zeros, sizeof zeros);
  assert_int_equal (setrlimit (RLIMIT_FSIZE, &old), 0);
  signal (SIGXFSZ, handler);
  assert_fails (status, RADIO_ERROR_NO_SPACE, "a.nii: cannot write");
  rd_output_abort (output);
  assert_int_equal (count_files (), 0);
}

/* Bytes that deflate neither to nothing nor at all. */
static void
fill_mixed (unsigned char *data, size_t nbytes)
{
  uint32_t state = 1;
  for (size_t i = 0; i < nbytes; i++) {
    state = state * 1664525 + 1013904223;
    data[i] = i / 5000 % 2 ? state >> 24 : state >> 31;
  }
}

/* Writes nbytes in pieces, and compares the file as inflated by libdeflate. */
static void
assert_gzip_round_trip (size_t nbytes, size_t piece_nbytes)
{
  size_t room = nbytes + nbytes / 8 + 4096;
  unsigned char *data = malloc (nbytes + 1), *packed = malloc (room),
    *back = malloc (nbytes + 1);
  assert_true (data && packed && back);
  fill_mixed (data, nbytes);
  struct rd_output *output;
  assert_ok (rd_output_open ("a.nii.gz", true, 0, NULL, &output));
  for (size_t at = 0; at < nbytes; at += piece_nbytes) {
    size_t n = nbytes - at < piece_nbytes ? nbytes - at : piece_nbytes;
    assert_ok (rd_output_write (output, data + at, n));
  }
  assert_ok (rd_output_commit (output, NULL, NULL));

  size_t npacked = slurp ("a.nii.gz", packed, room), nin, nout;
  struct libdeflate_decompressor *inflate = libdeflate_alloc_decompressor ();
  assert_int_equal (libdeflate_gzip_decompress_ex (inflate, packed, npacked,
                                                   back, nbytes + 1, &nin,
                                                   &nout),
                    LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor (inflate);
  assert_int_equal (nin, npacked);
  assert_int_equal (nout, nbytes);
  assert_memory_equal (back, data, nbytes);
  free (data);
  free (packed);
  free (back);
}

static void
gz_is_one_member_that_another_library_inflates (void **state)
{
  (void) state;
  assert_gzip_round_trip (0, 1);
  assert_gzip_round_trip (1, 1);
  assert_gzip_round_trip (1000, 7);
  assert_gzip_round_trip (3000000, 3000000);
  assert_gzip_round_trip (3000001, 65537);
}

static void
gz_is_recognized_by_the_name_in_any_case (void **state)
{
  (void) state;
  write_text ("A.NII.GZ", false, "text");
  unsigned char data[64];
  assert_true (slurp ("A.NII.GZ", data, sizeof data) > 18);
  assert_memory_equal (data, "\x1f\x8b\x08", 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, enter_folder, leave_folder)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (a_file_appears_with_commit_and_leaves_nothing_else),
    TEST (abort_leaves_nothing),
    TEST (an_existing_file_is_kept_unless_overwriting),
    TEST (a_file_that_came_meanwhile_is_kept),
    TEST (an_old_file_stays_when_overwriting_is_aborted),
    TEST (permissions_are_those_that_the_umask_leaves),
    TEST (a_file_that_is_replaced_keeps_its_permissions),
    TEST (a_link_stays_a_link_to_the_new_content),
    TEST (a_link_to_nothing_is_replaced),
    TEST (a_file_that_is_not_regular_is_not_replaced),
    TEST (a_missing_folder_is_named),
    TEST (the_longest_legal_name_works),
    TEST (a_failed_write_names_the_file_and_leaves_nothing),
    TEST (gz_is_one_member_that_another_library_inflates),
    TEST (gz_is_recognized_by_the_name_in_any_case),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
