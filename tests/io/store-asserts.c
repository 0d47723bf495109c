/* SPDX-License-Identifier: MIT */
/* Assertions on stores. */
#include <config.h>

#include "tests/io/store-asserts.h"

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
