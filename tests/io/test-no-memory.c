/* SPDX-License-Identifier: MIT */
/* Every allocation of every operation of the stores fails once: the
 * operation says so, leaves the store as it was, and loses nothing (which
 * the address sanitizer sees). */
#include <config.h>

#include "tests/io/deferred.h"
#include "tests/io/fault.h"
#include "tests/alloc-fail.h"
#include "tests/io/place.h"
#include "tests/io/store-asserts.h"

typedef enum radio_status operation (struct rd_io *io);

static enum radio_status
do_put (struct rd_io *io)
{
  return rd_io_put (io, "new/er/k", "new", 3, RD_PUT_IF_ABSENT);
}

static enum radio_status
do_read (struct rd_io *io)
{
  return read_key (io, "a/k");
}

static enum radio_status
do_write (struct rd_io *io)
{
  struct rd_io_writer *writer;
  RD_TRY (io->ops->create (io, "new/w", &writer));
  enum radio_status status
    = writer->ops->append (writer, &(struct rd_part) { "new", 3 }, 1);
  if (status == RADIO_OK)
    return writer->ops->commit (writer);
  rd_io_writer_abort (writer);
  return status;
}

/* Commits, whether or not a piece was refused. */
static enum radio_status
do_write_regardless (struct rd_io *io)
{
  struct rd_io_writer *writer;
  RD_TRY (io->ops->create (io, "new/w", &writer));
  (void) writer->ops->append (writer, &(struct rd_part) { "new", 3 }, 1);
  return writer->ops->commit (writer);
}

static enum radio_status
do_list (struct rd_io *io)
{
  struct listing listing = { 0 };
  RD_TRY (io->ops->list (io, "", true, note_entry, &listing));
  return io->ops->list (io, "", false, note_entry, &listing);
}

static enum radio_status
do_lock (struct rd_io *io)
{
  struct rd_io_lock *lock;
  RD_TRY (io->ops->lock (io, "a", false, &lock));
  rd_io_unlock (lock);
  return RADIO_OK;
}

static enum radio_status
do_sweep (struct rd_io *io)
{
  struct rd_io_swept swept;
  return io->ops->sweep (io, "", false, &swept);
}

/* Let one allocation after the other fail, until none is left. */
static void
try_all (struct rd_io *io, operation *op, const char *before)
{
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status = op (io);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      return;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
    assert_list (io, "", true, before);
    assert_true (nth < 1000);
  }
}

static operation *const operations[] = {
  do_put, do_read, do_write, do_write_regardless, do_list, do_lock,
  do_sweep,
};

static void
try_operations (struct rd_io *io)
{
  static const char before[] = "a/b/c 1\na/k 3\nz 1\n";
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    put_text (io, "a/k", "old");
    put_text (io, "a/b/c", "c");
    put_text (io, "z", "z");
    try_all (io, operations[i], before);
    assert_text (io, "a/k", "old");
    assert_ok (io->ops->remove_tree (io, "new"));
  }
}

static void
the_store_in_memory_survives (void **state)
{
  (void) state;
  struct rd_io *io;
  assert_ok (rd_io_open ("memory:", false, &io));
  try_operations (io);
  rd_io_close (io);
}

static void
the_store_on_disk_survives (void **state)
{
  (void) state;
  char *place = place_new ();
  struct rd_io *io = place_open (place);
  try_operations (io);
  rd_io_close (io);
  place_remove (place);
}

static void
the_fault_wrapper_survives (void **state)
{
  (void) state;
  const struct rd_fault_plan plan = { 0 };
  struct rd_io *inner, *io;
  assert_ok (rd_io_open ("memory:", false, &inner));
  assert_ok (rd_io_fault_open (inner, &plan, &io));
  try_operations (io);
  rd_io_close (io);
}

static void
the_deferred_wrapper_survives (void **state)
{
  (void) state;
  struct rd_io *inner, *io;
  assert_ok (rd_io_open ("memory:", false, &inner));
  assert_ok (rd_io_deferred_open (inner, 1, &io));
  try_operations (io);
  rd_io_close (io);
}

/* Removal needs memory on disk alone, and may have done a part. */
static void
a_tree_is_removed_when_memory_is_back (void **state)
{
  (void) state;
  char *place = place_new ();
  struct rd_io *io = place_open (place);
  put_text (io, "a/b/c", "x");
  put_text (io, "a/b/d/e", "x");
  enum radio_status status;
  bool failed;
  size_t nth = 1;
  do {
    alloc_fail_nth (nth++);
    status = io->ops->remove_tree (io, "a");
    failed = alloc_fail_end ();
    assert_int_equal (status, failed ? RADIO_ERROR_MEMORY : RADIO_OK);
  } while (failed);
  assert_int_equal (place_count (place), 0);
  rd_io_close (io);
  place_remove (place);
}

static enum radio_status
open_all (const char *place)
{
  const struct rd_fault_plan plan = { 0 };
  struct rd_io *posix, *deferred, *fault;
  RD_TRY (rd_io_open (place, true, &posix));
  RD_TRY (rd_io_deferred_open (posix, 1, &deferred));
  RD_TRY (rd_io_fault_open (deferred, &plan, &fault));
  rd_io_close (fault);
  RD_TRY (rd_io_open ("memory:", true, &fault));
  rd_io_close (fault);
  return RADIO_OK;
}

static void
opening_stores_loses_nothing (void **state)
{
  (void) state;
  char *place = place_new ();
  char uri[100];
  snprintf (uri, sizeof uri, "%s/x/y", place);
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status = open_all (uri);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      break;
    }
    assert_fails (status, RADIO_ERROR_MEMORY, "out of memory");
  }
  place_remove (place);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_store_in_memory_survives),
    cmocka_unit_test (the_store_on_disk_survives),
    cmocka_unit_test (the_fault_wrapper_survives),
    cmocka_unit_test (the_deferred_wrapper_survives),
    cmocka_unit_test (a_tree_is_removed_when_memory_is_back),
    cmocka_unit_test (opening_stores_loses_nothing),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
