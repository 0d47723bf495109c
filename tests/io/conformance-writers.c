/* SPDX-License-Identifier: MIT */
/* Objects that are written piece by piece, and the objects left over. */
#include <config.h>

#include "tests/io/conformance-cases.h"

static void
a_writer_publishes_at_its_commit (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_writer *writer;
  assert_ok (io->ops->create (io, "a/shard", &writer));
  const struct rd_part parts[] = { { "ab", 2 }, { "cd", 2 } };
  assert_ok (writer->ops->append (writer, parts, 2));
  assert_fails (read_key (io, "a/shard"), RADIO_ERROR_NOT_FOUND, "a/shard");
  assert_list (io, "a", true, "");
  assert_ok (writer->ops->append (writer, parts, 1));
  assert_ok (writer->ops->append (writer, NULL, 0));
  assert_ok (writer->ops->commit (writer));
  assert_text (io, "a/shard", "abcdab");
}

static void
a_writer_without_a_piece_publishes_an_empty_object (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_writer *writer;
  assert_ok (io->ops->create (io, "a/shard", &writer));
  assert_ok (writer->ops->commit (writer));
  assert_text (io, "a/shard", "");
}

static void
an_aborted_writer_leaves_the_old_object (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "a/k", "old");
  struct rd_io_writer *writer;
  assert_ok (io->ops->create (io, "a/k", &writer));
  assert_ok (writer->ops->append (writer, &(struct rd_part) { "new", 3 },
                                  1));
  rd_io_writer_abort (writer);
  assert_text (io, "a/k", "old");
  assert_list (io, "", true, "a/k 3\n");
}

static void
a_commit_replaces_the_old_object (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "k", "old");
  struct rd_io_writer *writer;
  assert_ok (io->ops->create (io, "k", &writer));
  assert_ok (writer->ops->append (writer, &(struct rd_part) { "n", 1 }, 1));
  assert_text (io, "k", "old");
  assert_ok (writer->ops->commit (writer));
  assert_text (io, "k", "n");
}

static void
two_writers_of_one_key_do_not_mix (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_writer *one, *two;
  assert_ok (io->ops->create (io, "k", &one));
  assert_ok (io->ops->create (io, "k", &two));
  for (int i = 0; i < 3; i++) {
    assert_ok (one->ops->append (one, &(struct rd_part) { "1", 1 }, 1));
    assert_ok (two->ops->append (two, &(struct rd_part) { "2", 1 }, 1));
  }
  assert_ok (two->ops->commit (two));
  assert_text (io, "k", "222");
  assert_ok (one->ops->commit (one));
  assert_text (io, "k", "111");
}

static void
a_living_writer_is_not_swept (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_writer *writer;
  struct rd_io_swept swept;
  assert_ok (io->ops->create (io, "a/b/k", &writer));
  assert_ok (writer->ops->append (writer, &(struct rd_part) { "x", 1 }, 1));
  assert_ok (io->ops->sweep (io, "", false, &swept));
  assert_int_equal (swept.n_files, 0);
  assert_int_equal (swept.nbytes, 0);
  assert_ok (writer->ops->commit (writer));
  assert_text (io, "a/b/k", "x");
}

static void
sweeping_a_missing_prefix_finds_nothing (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_swept swept = { 9, 9 };
  assert_ok (io->ops->sweep (io, "none/such", false, &swept));
  assert_int_equal (swept.n_files, 0);
  assert_int_equal (swept.nbytes, 0);
}

static void
the_store_describes_itself (void **state)
{
  const struct rd_io *io = io_of (state);
  assert_true (strlen (io->ops->name) > 0);
  assert_true (strlen (io->uri) > 0);
  assert_true (io->coalesce_gap_nbytes <= io->coalesce_cap_nbytes);
}

static void
closing_nothing_is_legal (void **state)
{
  (void) state;
  rd_io_close (NULL);
  rd_io_writer_abort (NULL);
  rd_io_unlock (NULL);
}

const struct CMUnitTest *
conformance_writers (size_t *n)
{
  static const struct CMUnitTest cases[] = {
    cmocka_unit_test (a_writer_publishes_at_its_commit),
    cmocka_unit_test (a_writer_without_a_piece_publishes_an_empty_object),
    cmocka_unit_test (an_aborted_writer_leaves_the_old_object),
    cmocka_unit_test (a_commit_replaces_the_old_object),
    cmocka_unit_test (two_writers_of_one_key_do_not_mix),
    cmocka_unit_test (a_living_writer_is_not_swept),
    cmocka_unit_test (sweeping_a_missing_prefix_finds_nothing),
    cmocka_unit_test (the_store_describes_itself),
    cmocka_unit_test (closing_nothing_is_legal),
  };
  *n = sizeof cases / sizeof cases[0];
  return cases;
}
