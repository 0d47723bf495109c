/* SPDX-License-Identifier: MIT */
/* The store on disk among other things that can be on a disk: links, pipes,
 * long names, huge sparse files, folders where objects should be. */
#include <config.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/alloc-fail.h"
#include "tests/io/site.h"
#include "tests/io/store-asserts.h"

/* The path of a key, for the calls of the operating system. */
static const char *
path_of (void **state, const char *key, char path[256])
{
  snprintf (path, 256, "%s/%s", place_of (state), key);
  return path;
}

static void
a_link_to_a_file_is_read_and_listed (void **state)
{
  struct rd_io *io = io_of (state);
  char path[256];
  put_text (io, "target", "xyz");
  assert_int_equal (symlink ("target", path_of (state, "link", path)), 0);
  assert_text (io, "link", "xyz");
  assert_list (io, "", false, "link 3\ntarget 3\n");
}

static void
a_link_to_nothing_is_not_there (void **state)
{
  struct rd_io *io = io_of (state);
  char path[256];
  assert_int_equal (symlink ("none", path_of (state, "link", path)), 0);
  assert_int_equal (symlink ("self", path_of (state, "self", path)), 0);
  assert_fails (read_key (io, "link"), RADIO_ERROR_NOT_FOUND, "link");
  assert_list (io, "", false, "");
}

static void
a_link_to_nothing_cannot_be_locked_or_written_below (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_lock *lock;
  char path[512];
  assert_int_equal (symlink ("none", path_of (state, "link", path)), 0);
  assert_fails (io->ops->lock (io, "link", true, &lock),
                RADIO_ERROR_NOT_FOUND, "/link: cannot follow the link");
  assert_fails (io->ops->lock (io, "link/a", false, &lock),
                RADIO_ERROR_NOT_FOUND, "/link: cannot follow the link");
  assert_fails (rd_io_put (io, "link/k", "1", 1, RD_PUT_REPLACE),
                RADIO_ERROR_NOT_FOUND, "/link: cannot follow the link");
}

static void
a_link_that_leads_back_ends_no_listing (void **state)
{
  struct rd_io *io = io_of (state);
  char path[256];
  put_text (io, "a/k", "x");
  assert_int_equal (symlink ("..", path_of (state, "a/up", path)), 0);
  assert_list (io, "a", false, "k 1\nup/\n");
  assert_list (io, "", true, "a/k 1\n");
}

static void
removing_a_tree_spares_the_targets_of_links (void **state)
{
  struct rd_io *io = io_of (state);
  char path[256];
  put_text (io, "kept/k", "x");
  put_text (io, "a/k", "y");
  assert_int_equal (symlink ("../kept", path_of (state, "a/to", path)), 0);
  assert_ok (io->ops->remove_tree (io, "a"));
  assert_list (io, "", true, "kept/k 1\n");
  assert_int_equal (symlink ("kept", path_of (state, "to", path)), 0);
  assert_ok (io->ops->remove_tree (io, "to"));
  assert_list (io, "", false, "kept/\n");
  assert_text (io, "kept/k", "x");
}

static void
a_put_through_a_link_replaces_the_link (void **state)
{
  struct rd_io *io = io_of (state);
  char path[256];
  put_text (io, "target", "old");
  assert_int_equal (symlink ("target", path_of (state, "link", path)), 0);
  put_text (io, "link", "new");
  assert_text (io, "target", "old");
  assert_text (io, "link", "new");
}

static void
a_pipe_is_refused_without_waiting (void **state)
{
  struct rd_io *io = io_of (state);
  char path[256];
  uint64_t nbytes;
  assert_int_equal (mkfifo (path_of (state, "pipe", path), 0600), 0);
  assert_fails (read_key (io, "pipe"), RADIO_ERROR_UNSUPPORTED, "pipe");
  assert_fails (io->ops->size (io, "pipe", &nbytes),
                RADIO_ERROR_UNSUPPORTED, "pipe");
  assert_list (io, "", false, "");
  assert_ok (io->ops->remove_tree (io, ""));
  assert_int_equal (access (path, F_OK), -1);
}

static void
a_name_too_long_is_refused_and_leaves_nothing (void **state)
{
  struct rd_io *io = io_of (state);
  char key[300] = "a/";
  memset (key + 2, 'n', sizeof key - 3);
  key[sizeof key - 1] = '\0';
  assert_fails (rd_io_put (io, key, "x", 1, RD_PUT_REPLACE),
                RADIO_ERROR_ARGUMENT, "a/nnn");
  struct rd_io_writer *writer;
  assert_fails (io->ops->create (io, key, &writer), RADIO_ERROR_ARGUMENT,
                "too long");
  assert_null (writer);
  struct rd_io_swept swept;
  assert_ok (io->ops->sweep (io, "", true, &swept));
  assert_int_equal (swept.n_files, 0);
}

static void
the_longest_name_is_written (void **state)
{
  struct rd_io *io = io_of (state);
  char key[256];
  memset (key, 'n', 255);
  key[255] = '\0';
  put_text (io, key, "x");
  assert_text (io, key, "x");
}

static void
an_object_is_no_folder_for_others (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_lock *lock;
  put_text (io, "a", "object");
  assert_fails (rd_io_put (io, "a/b", "x", 1, RD_PUT_REPLACE),
                RADIO_ERROR_IO, "a/b");
  assert_fails (rd_io_put (io, "a/b/c", "x", 1, RD_PUT_IF_ABSENT),
                RADIO_ERROR_IO, "a part of the path is a file");
  assert_fails (read_key (io, "a/b"), RADIO_ERROR_NOT_FOUND, "a/b");
  assert_int_not_equal (io->ops->lock (io, "a", false, &lock), RADIO_OK);
  assert_null (lock);
  assert_text (io, "a", "object");
}

static void
a_folder_is_not_replaced_by_an_object (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "a/k", "x");
  assert_int_not_equal (rd_io_put (io, "a", "y", 1, RD_PUT_REPLACE),
                        RADIO_OK);
  assert_non_null (strstr (radio_error_message (), "/a: cannot write"));
  assert_text (io, "a/k", "x");
  assert_int_equal (place_count (place_of (state)), 1);
}

static void
names_of_temporary_files_cannot_be_keys (void **state)
{
  struct rd_io *io = io_of (state);
  assert_fails (rd_io_put (io, "a/.radio-tmp-0123456789abcdef", "x", 1,
                           RD_PUT_REPLACE),
                RADIO_ERROR_ARGUMENT, "reserved for temporary files");
  put_text (io, ".radio-tmp-0123456789abcdeX", "x");
  put_text (io, ".radio-tmp-0123456789abcdef0", "x");
  put_text (io, ".radio-tmp-0", "x");
  struct rd_io_swept swept;
  assert_ok (io->ops->sweep (io, "", false, &swept));
  assert_int_equal (swept.n_files, 0);
  assert_list (io, "", false, ".radio-tmp-0 1\n"
               ".radio-tmp-0123456789abcdeX 1\n"
               ".radio-tmp-0123456789abcdef0 1\n");
}

static void
a_huge_file_takes_memory_only_for_the_bytes_read (void **state)
{
  const off_t huge = (off_t) 1 << 40;
  struct rd_io *io = io_of (state);
  char path[256];
  int fd = open (path_of (state, "huge", path), O_CREAT | O_WRONLY, 0600);
  assert_true (fd >= 0);
  assert_int_equal (ftruncate (fd, huge), 0);
  close (fd);
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  alloc_fail_above (1 << 16);
  enum radio_status whole = rd_io_read_all (io, "huge", 1 << 20, &buffer);
  bool was_tried = alloc_fail_end ();
  assert_fails (whole, RADIO_ERROR_LIMIT, "1099511627776 bytes");
  assert_false (was_tried);
  struct rd_io_get get = {
    .key = "huge", .range = RD_RANGE_SPAN, .offset = (uint64_t) huge - 10,
    .nbytes = SIZE_MAX, .into = &buffer,
  };
  assert_ok (rd_io_read (io, &get));
  assert_int_equal (buffer.nbytes, 10);
  assert_true (buffer.capacity < 1000);
  assert_int_equal (get.object_nbytes, huge);
}

static void
the_working_directory_may_change (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "a/k", "x");
  int here = open (".", O_RDONLY | O_DIRECTORY);
  assert_true (here >= 0);
  assert_int_equal (chdir ("/"), 0);
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  enum radio_status status = rd_io_read_all (io, "a/k", 10, &buffer);
  assert_int_equal (fchdir (here), 0);
  close (here);
  assert_ok (status);
}

static void
all_folders_of_a_new_store_are_made (void **state)
{
  char path[256];
  struct rd_io *io;
  path_of (state, "x//y/z/", path);
  assert_fails (rd_io_open (path, false, &io), RADIO_ERROR_NOT_FOUND,
                "x//y/z");
  assert_null (io);
  assert_ok (rd_io_open (path, true, &io));
  put_text (io, "k", "x");
  rd_io_close (io);
  assert_text (io_of (state), "x/y/z/k", "x");
}

static void
a_file_is_no_store (void **state)
{
  char path[256];
  struct rd_io *io;
  put_text (io_of (state), "file", "x");
  path_of (state, "file", path);
  assert_int_not_equal (rd_io_open (path, true, &io), RADIO_OK);
  assert_non_null (strstr (radio_error_message (), "/file: "));
  assert_null (io);
}

static void
a_store_whose_folder_was_removed_reports_it (void **state)
{
  char path[256];
  struct rd_io *io;
  assert_ok (rd_io_open (path_of (state, "gone", path), true, &io));
  assert_int_equal (rmdir (path), 0);
  assert_fails (read_key (io, "k"), RADIO_ERROR_NOT_FOUND, "gone/k");
  assert_int_not_equal (rd_io_put (io, "k", "x", 1, RD_PUT_REPLACE),
                        RADIO_OK);
  assert_non_null (strstr (radio_error_message (), "gone/k"));
  /* It is not an empty one. */
  struct rd_io_swept swept;
  assert_fails (io->ops->list (io, "", false, NULL, NULL),
                RADIO_ERROR_NOT_FOUND, "gone: the store's folder was removed");
  assert_fails (io->ops->list (io, "", true, NULL, NULL),
                RADIO_ERROR_NOT_FOUND, "gone: the store's folder was removed");
  assert_fails (io->ops->sweep (io, "", false, &swept),
                RADIO_ERROR_NOT_FOUND, "gone: the store's folder was removed");
  rd_io_close (io);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    SITE_CASE (a_link_to_a_file_is_read_and_listed),
    SITE_CASE (a_link_to_nothing_is_not_there),
    SITE_CASE (a_link_to_nothing_cannot_be_locked_or_written_below),
    SITE_CASE (a_link_that_leads_back_ends_no_listing),
    SITE_CASE (removing_a_tree_spares_the_targets_of_links),
    SITE_CASE (a_put_through_a_link_replaces_the_link),
    SITE_CASE (a_pipe_is_refused_without_waiting),
    SITE_CASE (a_name_too_long_is_refused_and_leaves_nothing),
    SITE_CASE (the_longest_name_is_written),
    SITE_CASE (an_object_is_no_folder_for_others),
    SITE_CASE (a_folder_is_not_replaced_by_an_object),
    SITE_CASE (names_of_temporary_files_cannot_be_keys),
    SITE_CASE (a_huge_file_takes_memory_only_for_the_bytes_read),
    SITE_CASE (the_working_directory_may_change),
    SITE_CASE (all_folders_of_a_new_store_are_made),
    SITE_CASE (a_file_is_no_store),
    SITE_CASE (a_store_whose_folder_was_removed_reports_it),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
