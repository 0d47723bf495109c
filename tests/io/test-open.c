/* SPDX-License-Identifier: MIT */
/* The stores that URIs name, and the joining of keys. */
#include <config.h>

#include <unistd.h>

#include "io/store.h"
#include "tests/io/place.h"
#include "tests/io/store-asserts.h"

static void
memory_is_a_new_store_each_time (void **state)
{
  (void) state;
  struct rd_io *one, *two;
  assert_ok (rd_io_open ("memory:", false, &one));
  assert_ok (rd_io_open ("memory:", true, &two));
  assert_string_equal (one->ops->name, "memory");
  put_text (one, "k", "x");
  assert_fails (read_key (two, "k"), RADIO_ERROR_NOT_FOUND, "memory:/k");
  rd_io_close (one);
  rd_io_close (two);
}

static void
other_schemes_are_refused_by_name (void **state)
{
  static const char *const uris[][2] = {
    { "http://host/x", "http://" },
    { "https://host/x", "https://" }, { "gs://b", "gs://" },
    { "a+b-c.9://x", "a+b-c.9://" },
  };
  (void) state;
  for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
    struct rd_io *io;
    assert_fails (rd_io_open (uris[i][0], true, &io),
                  RADIO_ERROR_UNSUPPORTED, uris[i][1]);
    assert_null (io);
  }
}

static void
an_empty_name_is_rejected (void **state)
{
  (void) state;
  struct rd_io *io;
  assert_fails (rd_io_open ("", true, &io), RADIO_ERROR_ARGUMENT, "empty");
  assert_null (io);
}

static void
a_path_with_a_colon_is_a_path (void **state)
{
  static const char *const names[] = { "a:b", "s3:x", ":", "1://x" };
  const char *place = *state;
  struct rd_io *io;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_int_equal (chdir (place), 0);
    enum radio_status status = rd_io_open (names[i], true, &io);
    assert_int_equal (chdir (".."), 0);
    assert_ok (status);
    assert_string_equal (io->ops->name, "posix");
    rd_io_close (io);
  }
}

static void
a_file_uri_is_a_path (void **state)
{
  char folder[4096], uri[4200];
  const char *place = *state;
  struct rd_io *io;
  assert_non_null (getcwd (folder, sizeof folder));
  snprintf (uri, sizeof uri, "file://%s/%s/a%%20b%%c3%%A9", folder, place);
  assert_ok (rd_io_open (uri, true, &io));
  put_text (io, "k", "x");
  rd_io_close (io);
  snprintf (uri, sizeof uri, "%s/a b\xc3\xa9/k", place);
  assert_int_equal (access (uri, R_OK), 0);
  snprintf (uri, sizeof uri, "file://localhost%s/%s/a%%20b%%c3%%A9", folder,
            place);
  assert_ok (rd_io_open (uri, false, &io));
  assert_text (io, "k", "x");
  rd_io_close (io);
}

static void
a_broken_file_uri_is_rejected (void **state)
{
  static const char *const uris[] = {
    "file://", "file://host/x", "file://x", "file:///a%", "file:///a%2",
    "file:///a%zz", "file:///a%00b", "file:///%0",
  };
  (void) state;
  for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
    struct rd_io *io;
    assert_fails (rd_io_open (uris[i], true, &io), RADIO_ERROR_ARGUMENT,
                  uris[i]);
    assert_null (io);
  }
}

static void
a_trailing_slash_changes_nothing (void **state)
{
  char path[64];
  struct rd_io *io;
  snprintf (path, sizeof path, "%s///", (const char *) *state);
  assert_ok (rd_io_open (path, false, &io));
  assert_string_equal (io->uri, (const char *) *state);
  rd_io_close (io);
}

static void
a_missing_folder_is_created_only_on_request (void **state)
{
  char path[64];
  struct rd_io *io;
  snprintf (path, sizeof path, "%s/new/er", (const char *) *state);
  assert_fails (rd_io_open (path, false, &io), RADIO_ERROR_NOT_FOUND, path);
  assert_int_equal (access (path, F_OK), -1);
  assert_ok (rd_io_open (path, true, &io));
  assert_int_equal (access (path, F_OK), 0);
  rd_io_close (io);
}

static void
keys_are_joined_with_one_slash (void **state)
{
  (void) state;
  char *key = rd_key_join ("ct/sub-01", "zarr.json");
  assert_string_equal (key, "ct/sub-01/zarr.json");
  rd_free (key);
  key = rd_key_join ("", "zarr.json");
  assert_string_equal (key, "zarr.json");
  rd_free (key);
}

static void
a_key_is_below_its_folders_only (void **state)
{
  (void) state;
  assert_string_equal (rd_key_below ("a/b/c", "a"), "b/c");
  assert_string_equal (rd_key_below ("a/b/c", "a/b"), "c");
  assert_string_equal (rd_key_below ("a/b/c", ""), "a/b/c");
  assert_null (rd_key_below ("a/b/c", "a/b/c"));
  assert_null (rd_key_below ("ab/c", "a"));
  assert_null (rd_key_below ("a", "a/b"));
}

static int
set_up (void **state)
{
  *state = place_new ();
  return 0;
}

static int
tear_down (void **state)
{
  place_remove (*state);
  return 0;
}

#define CASE(fn) cmocka_unit_test_setup_teardown (fn, set_up, tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (memory_is_a_new_store_each_time),
    cmocka_unit_test (other_schemes_are_refused_by_name),
    cmocka_unit_test (an_empty_name_is_rejected),
    CASE (a_path_with_a_colon_is_a_path),
    CASE (a_file_uri_is_a_path),
    cmocka_unit_test (a_broken_file_uri_is_rejected),
    CASE (a_trailing_slash_changes_nothing),
    CASE (a_missing_folder_is_created_only_on_request),
    cmocka_unit_test (keys_are_joined_with_one_slash),
    cmocka_unit_test (a_key_is_below_its_folders_only),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
