/* SPDX-License-Identifier: MIT */
/* Pictures are written whole or not at all, and read back as they were. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <png.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit.h"

#include "tools/slice/picture.h"

static char folder[] = "radio-png-XXXXXX";
static char file[64];

static int
make_folder (void **state)
{
  (void) state;
  if (mkdtemp (folder) == NULL)
    return -1;
  snprintf (file, sizeof file, "%s/a.png", folder);
  return 0;
}

static int
remove_folder (void **state)
{
  (void) state;
  return rmdir (folder);
}

static int
remove_file (void **state)
{
  (void) state;
  unlink (file);
  return 0;
}

static size_t
count_files (void)
{
  size_t n = 0;
  DIR *dir = opendir (folder);
  assert_non_null (dir);
  while (readdir (dir))
    n++;
  closedir (dir);
  return n - 2;
}

/* Write pixels 0, 1, 2, ... and read them back. */
static void
round_trip (size_t nchannels, png_uint_32 format)
{
  uint8_t pixels[7 * 5 * 4], back[7 * 5 * 4];
  size_t nbytes = 7 * 5 * nchannels;
  for (size_t i = 0; i < nbytes; i++)
    pixels[i] = (uint8_t) (200 - i);
  struct rd_picture picture = { 7, 5, nchannels, { 0.5, 0.5 }, "a title",
                                pixels };
  assert_int_equal (rd_png_write (file, &picture, true), RD_EXIT_OK);
  png_image image = { .version = PNG_IMAGE_VERSION };
  assert_true (png_image_begin_read_from_file (&image, file));
  assert_int_equal (image.width, 7);
  assert_int_equal (image.height, 5);
  assert_int_equal (image.format, format);
  assert_true (png_image_finish_read (&image, NULL, back, 0, NULL));
  assert_memory_equal (back, pixels, nbytes);
}

static void
grey_reads_back_as_it_was (void **state)
{
  (void) state;
  round_trip (1, PNG_FORMAT_GRAY);
}

static void
colour_reads_back_as_it_was (void **state)
{
  (void) state;
  round_trip (3, PNG_FORMAT_RGB);
  round_trip (4, PNG_FORMAT_RGBA);
}

static void
a_file_that_is_there_stays (void **state)
{
  (void) state;
  uint8_t pixel = 7;
  struct rd_picture picture = { 1, 1, 1, { 0, 0 }, NULL, &pixel };
  FILE *other = fopen (file, "w");
  assert_non_null (other);
  fputs ("mine", other);
  fclose (other);
  assert_int_equal (rd_png_write (file, &picture, false), RD_EXIT_FAILED);
  char text[8] = "";
  other = fopen (file, "r");
  assert_non_null (other);
  assert_non_null (fgets (text, sizeof text, other));
  fclose (other);
  assert_string_equal (text, "mine");
  assert_int_equal (rd_png_write (file, &picture, true), RD_EXIT_OK);
  assert_int_equal (count_files (), 1);
}

static void
a_link_to_nothing_is_replaced_on_request (void **state)
{
  (void) state;
  uint8_t pixel = 7;
  struct rd_picture picture = { 1, 1, 1, { 0, 0 }, NULL, &pixel };
  struct stat st;
  assert_int_equal (symlink ("nothing", file), 0);
  assert_int_equal (rd_png_write (file, &picture, false), RD_EXIT_FAILED);
  assert_int_equal (rd_png_write (file, &picture, true), RD_EXIT_OK);
  assert_int_equal (lstat (file, &st), 0);
  assert_true (S_ISREG (st.st_mode));
  assert_int_equal (count_files (), 1);
}

/* The standard error output of writing a picture, which fails. */
static const char *
complaint (const char *name, bool overwrite)
{
  static char text[256];
  uint8_t pixel = 7;
  struct rd_picture picture = { 1, 1, 1, { 0, 0 }, NULL, &pixel };
  FILE *errors = tmpfile ();
  assert_non_null (errors);
  int saved = dup (STDERR_FILENO);
  assert_true (saved >= 0);
  assert_true (dup2 (fileno (errors), STDERR_FILENO) >= 0);
  errno = 0;
  int status = rd_png_write (name, &picture, overwrite);
  assert_true (dup2 (saved, STDERR_FILENO) >= 0);
  close (saved);
  rewind (errors);
  text[fread (text, 1, sizeof text - 1, errors)] = '\0';
  fclose (errors);
  assert_int_equal (status, RD_EXIT_FAILED);
  return text;
}

/* Without the check before the work, as for a file that another process made
 * after it. */
static void
existing_files_in_the_way_are_reported (void **state)
{
  (void) state;
  assert_non_null (strstr (complaint (folder, false), "exists already"));
  assert_non_null (strstr (complaint (folder, true), ": a folder"));
  assert_non_null (strstr (complaint ("/dev/null", true),
                           ": not a regular file"));
}

/* One descriptor is left for the file, none for its stream. */
static void
too_many_open_files_are_no_lack_of_memory (void **state)
{
  (void) state;
  struct rlimit limit, low;
  int fds[2] = { dup (0), dup (0) };
  assert_int_equal (getrlimit (RLIMIT_NOFILE, &limit), 0);
  /* complaint () itself takes the lowest two. */
  int last = dup (0);
  assert_true (fds[0] >= 0 && fds[1] > fds[0] && last > fds[1]);
  low = limit;
  low.rlim_cur = (rlim_t) last + 1;
  close (fds[0]);
  close (fds[1]);
  close (last);
  assert_int_equal (setrlimit (RLIMIT_NOFILE, &low), 0);
  const char *text = complaint (file, true);
  assert_int_equal (setrlimit (RLIMIT_NOFILE, &limit), 0);
  assert_non_null (strstr (text, strerror (EMFILE)));
  assert_int_equal (count_files (), 0);
}

static void
a_picture_that_cannot_be_written_leaves_nothing (void **state)
{
  (void) state;
  uint8_t pixel = 7;
  /* libpng refuses a picture without columns. */
  struct rd_picture picture = { 0, 1, 1, { 0, 0 }, NULL, &pixel };
  assert_int_equal (rd_png_write (file, &picture, true), RD_EXIT_FAILED);
  assert_int_equal (count_files (), 0);
  picture.width = 1;
  assert_int_equal (rd_png_write ("no/such/folder/a.png", &picture, false),
                    RD_EXIT_FAILED);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_teardown (grey_reads_back_as_it_was, remove_file),
    cmocka_unit_test_teardown (colour_reads_back_as_it_was, remove_file),
    cmocka_unit_test_teardown (a_file_that_is_there_stays, remove_file),
    cmocka_unit_test_teardown (a_link_to_nothing_is_replaced_on_request,
                               remove_file),
    cmocka_unit_test (existing_files_in_the_way_are_reported),
    cmocka_unit_test (too_many_open_files_are_no_lack_of_memory),
    cmocka_unit_test_teardown (
      a_picture_that_cannot_be_written_leaves_nothing, remove_file),
  };
  return cmocka_run_group_tests (tests, make_folder, remove_folder);
}
