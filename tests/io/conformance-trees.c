/* SPDX-License-Identifier: MIT */
/* Listings, and the removal of objects and trees. */
#include <config.h>

#include "tests/io/conformance-cases.h"

/* --- listings --- */

static void
a_listing_shows_objects_and_folders_in_order (void **state)
{
  struct rd_io *io = io_of (state);
  fill_tree (io);
  assert_list (io, "", false, "A 2\na/\na.txt 2\nab 2\nb/\n");
  assert_list (io, "a", false, "b/\nb-x 2\nb.x 2\nz 2\n");
  assert_list (io, "a/b", false, "c 2\nd 2\n");
}

static void
a_recursive_listing_shows_objects_in_order (void **state)
{
  struct rd_io *io = io_of (state);
  fill_tree (io);
  assert_list (io, "", true, "A 2\na.txt 2\na/b-x 2\na/b.x 2\na/b/c 2\n"
               "a/b/d 2\na/z 2\nab 2\nb/k 2\n");
  assert_list (io, "a", true, "b-x 2\nb.x 2\nb/c 2\nb/d 2\nz 2\n");
  /* From an object on, or from the place where one would be. */
  static const char *const after[] = { "b/c", "b/cc" };
  for (size_t i = 0; i < 2 && io->ops->list_after; i++) {
    struct listing listing = { 0 };
    assert_ok (io->ops->list_after (io, "a", after[i], note_entry, &listing));
    assert_string_equal (listing.text, "b/d 2\nz 2\n");
  }
}

static void
a_missing_prefix_is_empty (void **state)
{
  struct rd_io *io = io_of (state);
  assert_list (io, "", false, "");
  assert_list (io, "", true, "");
  put_text (io, "a", "x");
  assert_list (io, "none", false, "");
  assert_list (io, "none/at/all", true, "");
  /* An object has no children. */
  assert_list (io, "a", false, "");
  assert_list (io, "a/b", true, "");
}

static enum radio_status
stop_at_second (const struct rd_io_entry *entry, void *user_data)
{
  (void) entry;
  size_t *n = user_data;
  return ++*n == 2 ? rd_fail (RADIO_ERROR_CANCELLED, "enough") : RADIO_OK;
}

/* Characters that are special in XML, URLs and listings. */
static void
names_of_any_characters_are_listed_and_removed (void **state)
{
  static const char *const names[] = {
    "\n", " ", "!'()*@$,;:", "\"<&>", "%", "%2F", "+", "=&?#", "[]{}",
    "\\^`|", "~", "\xc3\xa9", "\xf0\x9f\xa9\xbb",
  };
  enum { N = sizeof names / sizeof names[0] };
  struct rd_io *io = io_of (state);
  struct listing listing = { 0 }, folders = { 0 };
  char key[64], text[512] = "";
  for (size_t i = 0; i < N; i++) {
    snprintf (key, sizeof key, "odd/%s/k", names[i]);
    put_text (io, key, names[i]);
    snprintf (key, sizeof key, "%s/k %zu\n", names[i], strlen (names[i]));
    strncat (text, key, sizeof text - strlen (text) - 1);
  }
  assert_list (io, "odd", true, text);
  assert_ok (io->ops->list (io, "odd", false, note_entry, &folders));
  assert_int_equal (folders.n, N);
  for (size_t i = 0; i < N; i++) {
    snprintf (key, sizeof key, "odd/%s/k", names[i]);
    assert_text (io, key, names[i]);
    snprintf (key, sizeof key, "odd/%s", names[i]);
    snprintf (text, sizeof text, "k %zu\n", strlen (names[i]));
    assert_list (io, key, false, text);
  }
  assert_ok (io->ops->remove_tree (io, "odd"));
  assert_ok (io->ops->list (io, "odd", true, note_entry, &listing));
  assert_int_equal (listing.n, 0);
}

static void
a_failure_of_the_listener_ends_the_listing (void **state)
{
  struct rd_io *io = io_of (state);
  fill_tree (io);
  size_t n = 0;
  assert_fails (io->ops->list (io, "", true, stop_at_second, &n),
                RADIO_ERROR_CANCELLED, "enough");
  assert_int_equal (n, 2);
}

static enum radio_status
remove_entry (const struct rd_io_entry *entry, void *user_data)
{
  struct rd_io *io = user_data;
  return io->ops->remove (io, entry->name);
}

static void
the_listener_may_change_the_store (void **state)
{
  struct rd_io *io = io_of (state);
  fill_tree (io);
  assert_ok (io->ops->list (io, "", true, remove_entry, io));
  assert_list (io, "", true, "");
}

static void
many_children_are_listed_once_each (void **state)
{
  enum { N = 300 };
  struct rd_io *io = io_of (state);
  for (int i = 0; i < N; i++) {
    char key[32];
    snprintf (key, sizeof key, "many/%03d", (i * 7) % N);
    put_text (io, key, "");
  }
  struct listing listing = { 0 };
  assert_ok (io->ops->list (io, "many", false, note_entry, &listing));
  assert_int_equal (listing.n, N);
  char *p = listing.text;
  for (int i = 0; i < N; i++, p = strchr (p, '\n') + 1)
    assert_int_equal (strtol (p, NULL, 10), i);
}

/* --- removal --- */

static void
a_removed_object_is_gone_and_its_neighbours_stay (void **state)
{
  struct rd_io *io = io_of (state);
  fill_tree (io);
  assert_ok (io->ops->remove (io, "a/b/c"));
  assert_fails (read_key (io, "a/b/c"), RADIO_ERROR_NOT_FOUND, "a/b/c");
  assert_list (io, "a/b", true, "d 2\n");
  assert_fails (io->ops->remove (io, "a/b/c"), RADIO_ERROR_NOT_FOUND,
                "a/b/c");
}

static void
many_objects_are_removed_and_missing_ones_ignored (void **state)
{
  struct rd_io *io = io_of (state);
  char *const keys[] = { (char *) "a/z", (char *) "no/such", (char *) "ab",
                         (char *) "a/b/d" };
  fill_tree (io);
  assert_ok (rd_io_remove_many (io, keys, 4));
  assert_list (io, "", true, "A 2\na.txt 2\na/b-x 2\na/b.x 2\na/b/c 2\n"
               "b/k 2\n");
  assert_ok (rd_io_remove_many (io, keys, 4));
  assert_ok (rd_io_remove_many (io, keys, 0));
  assert_ok (rd_io_remove (io, "a/z"));
  assert_ok (rd_io_remove (io, "a.txt"));
  assert_list (io, "a", true, "b-x 2\nb.x 2\nb/c 2\n");
}

static void
a_removed_tree_takes_nothing_beside_it (void **state)
{
  struct rd_io *io = io_of (state);
  fill_tree (io);
  assert_ok (io->ops->remove_tree (io, "a/b"));
  assert_list (io, "", true, "A 2\na.txt 2\na/b-x 2\na/b.x 2\na/z 2\n"
               "ab 2\nb/k 2\n");
  assert_list (io, "a", false, "b-x 2\nb.x 2\nz 2\n");
  assert_ok (io->ops->remove_tree (io, "a"));
  assert_list (io, "", true, "A 2\na.txt 2\nab 2\nb/k 2\n");
}

static void
removing_a_missing_tree_is_no_error (void **state)
{
  struct rd_io *io = io_of (state);
  fill_tree (io);
  assert_ok (io->ops->remove_tree (io, "none/such"));
  /* An object is not below itself. */
  assert_ok (io->ops->remove_tree (io, "ab"));
  assert_text (io, "ab", "xy");
}

static void
removing_the_root_empties_the_store (void **state)
{
  struct rd_io *io = io_of (state);
  fill_tree (io);
  assert_ok (io->ops->remove_tree (io, ""));
  assert_list (io, "", false, "");
  put_text (io, "again/k", "x");
  assert_text (io, "again/k", "x");
}

const struct CMUnitTest *
conformance_trees (size_t *n)
{
  static const struct CMUnitTest cases[] = {
    cmocka_unit_test (a_listing_shows_objects_and_folders_in_order),
    cmocka_unit_test (a_recursive_listing_shows_objects_in_order),
    cmocka_unit_test (a_missing_prefix_is_empty),
    cmocka_unit_test (names_of_any_characters_are_listed_and_removed),
    cmocka_unit_test (a_failure_of_the_listener_ends_the_listing),
    cmocka_unit_test (the_listener_may_change_the_store),
    cmocka_unit_test (many_children_are_listed_once_each),
    cmocka_unit_test (a_removed_object_is_gone_and_its_neighbours_stay),
    cmocka_unit_test (many_objects_are_removed_and_missing_ones_ignored),
    cmocka_unit_test (a_removed_tree_takes_nothing_beside_it),
    cmocka_unit_test (removing_a_missing_tree_is_no_error),
    cmocka_unit_test (removing_the_root_empties_the_store),
  };
  *n = sizeof cases / sizeof cases[0];
  return cases;
}
