/* SPDX-License-Identifier: MIT */
/* Running the suite: every case gets a store of its own. */
#include <config.h>

#include "tests/io/conformance.h"
#include "tests/io/conformance-cases.h"

/* One case's store. */
struct subject {
  const struct conformance_store *store;
  struct rd_io *io;
  void *place;
};

struct rd_io *
io_of (void **state)
{
  return ((struct subject *) *state)->io;
}

void
put_text (struct rd_io *io, const char *key, const char *text)
{
  assert_ok (rd_io_put (io, key, text, strlen (text), RD_PUT_REPLACE));
}

void
assert_text (struct rd_io *io, const char *key, const char *text)
{
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  assert_ok (rd_io_read_all (io, key, 1 << 20, &buffer));
  assert_int_equal (buffer.nbytes, strlen (text));
  assert_string_equal ((char *) buffer.data, text);
}

enum radio_status
read_key (struct rd_io *io, const char *key)
{
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  return rd_io_read_all (io, key, 1 << 20, &buffer);
}

unsigned char *
make_bytes (size_t nbytes)
{
  unsigned char *bytes = malloc (nbytes);
  assert_non_null (bytes);
  uint32_t x = 12345;
  for (size_t i = 0; i < nbytes; i++) {
    x = x * 1664525 + 1013904223;
    bytes[i] = (unsigned char) (x >> 24);
  }
  return bytes;
}

enum radio_status
note_entry (const struct rd_io_entry *entry, void *user_data)
{
  struct listing *listing = user_data;
  char *end = listing->text + strlen (listing->text);
  size_t room = sizeof listing->text - (size_t) (end - listing->text);
  if (entry->is_prefix)
    snprintf (end, room, "%s/\n", entry->name);
  else
    snprintf (end, room, "%s %d\n", entry->name, (int) entry->nbytes);
  listing->n++;
  return RADIO_OK;
}

void
assert_list (struct rd_io *io, const char *prefix, bool recursive,
             const char *expected)
{
  struct listing listing = { 0 };
  assert_ok (io->ops->list (io, prefix, recursive, note_entry, &listing));
  assert_string_equal (listing.text, expected);
}

void
fill_tree (struct rd_io *io)
{
  static const char *const keys[] = {
    "a/b/c", "a/b/d", "a/b.x", "a/b-x", "a/z", "a.txt", "b/k", "ab",
    "A",
  };
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    put_text (io, keys[i], "xy");
}

static int
set_up (void **state)
{
  const struct conformance_store *store = *state;
  struct subject *subject = calloc (1, sizeof *subject);
  if (subject == NULL)
    return -1;
  subject->store = store;
  if (store->make (&subject->place, &subject->io) != RADIO_OK) {
    print_error ("%s: %s\n", store->name, radio_error_message ());
    free (subject);
    return -1;
  }
  *state = subject;
  return 0;
}

static int
tear_down (void **state)
{
  struct subject *subject = *state;
  rd_io_close (subject->io);
  if (subject->store->unmake)
    subject->store->unmake (subject->place);
  free (subject);
  return 0;
}

typedef const struct CMUnitTest *cases_fn (size_t *n);

static cases_fn *const all_cases[] = {
  conformance_objects,
  conformance_trees,
  conformance_writers,
  conformance_locks,
};

#define MAX_CASES 100

int
run_conformance (const struct conformance_store *store)
{
  struct CMUnitTest tests[MAX_CASES];
  size_t n_tests = 0;
  for (size_t i = 0; i < sizeof all_cases / sizeof all_cases[0]; i++) {
    size_t n;
    const struct CMUnitTest *cases = all_cases[i] (&n);
    if (n > MAX_CASES - n_tests)
      return -1;
    for (size_t j = 0; j < n; j++, n_tests++) {
      tests[n_tests] = cases[j];
      tests[n_tests].setup_func = set_up;
      tests[n_tests].teardown_func = tear_down;
      tests[n_tests].initial_state = (void *) store;
    }
  }
  return _cmocka_run_group_tests (store->name, tests, n_tests, NULL, NULL);
}
