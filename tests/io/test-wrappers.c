/* SPDX-License-Identifier: MIT */
/* The wrappers of a store: planned faults come when and where they
 * are planned, deferred reads come out of order. */
#include <config.h>

#include <pthread.h>

#include "tests/io/deferred.h"
#include "tests/io/fault.h"
#include "tests/io/child.h"
#include "tests/io/store-asserts.h"

/* A store in memory with an object "a/k" that fails as planned. */
static struct rd_io *
open_fault (const struct rd_fault *faults, size_t n)
{
  const struct rd_fault_plan plan = { .faults = faults, .n = n };
  struct rd_io *inner, *io;
  assert_ok (rd_io_open ("memory:", false, &inner));
  put_text (inner, "a/k", "0123456789");
  assert_ok (rd_io_fault_open (inner, &plan, &io));
  return io;
}

/* Does one operation of a kind on "a/k". */
static enum radio_status
do_one (struct rd_io *io, enum rd_fault_op op)
{
  struct listing listing = { 0 };
  struct rd_io_writer *writer;
  struct rd_io_lock *lock = NULL;
  struct rd_io_swept swept;
  uint64_t nbytes;
  enum radio_status status;
  switch (op) {
  case RD_FAULT_GET: return read_key (io, "a/k");
  case RD_FAULT_SIZE: return io->ops->size (io, "a/k", &nbytes);
  case RD_FAULT_LIST:
    return io->ops->list (io, "a", true, note_entry, &listing);
  case RD_FAULT_PUT: return rd_io_put (io, "a/k", "x", 1, RD_PUT_REPLACE);
  case RD_FAULT_CREATE: case RD_FAULT_APPEND: case RD_FAULT_COMMIT:
    RD_TRY (io->ops->create (io, "a/k", &writer));
    status = writer->ops->append (writer, &(struct rd_part) { "y", 1 }, 1);
    if (status == RADIO_OK)
      return writer->ops->commit (writer);
    rd_io_writer_abort (writer);
    return status;
  case RD_FAULT_REMOVE: return io->ops->remove (io, "a/k");
  case RD_FAULT_REMOVE_TREE: return io->ops->remove_tree (io, "a");
  case RD_FAULT_LOCK:
    status = io->ops->lock (io, "a", false, &lock);
    rd_io_unlock (lock);
    return status;
  default: return io->ops->sweep (io, "a", false, &swept);
  }
}

static void
every_kind_of_operation_fails_as_planned (void **state)
{
  (void) state;
  for (int op = RD_FAULT_GET; op <= RD_FAULT_SWEEP; op++) {
    if (op == RD_FAULT_DUPLICATE)
      continue;               /* a store in memory has none: see test-crash */
    const struct rd_fault faults[] = {
      { .op = (enum rd_fault_op) op, .nth = 1, .kind = RD_FAULT_FAIL,
        .status = RADIO_ERROR_IO },
    };
    struct rd_io *io = open_fault (faults, 1);
    assert_fails (do_one (io, (enum rd_fault_op) op), RADIO_ERROR_IO,
                  "planned failure");
    assert_int_equal (rd_io_fault_n_hits (io), 1);
    /* It had no effect, and the next one is well. */
    assert_text (io, "a/k", "0123456789");
    assert_ok (do_one (io, (enum rd_fault_op) op));
    assert_int_equal (rd_io_fault_n_hits (io), 1);
    rd_io_close (io);
  }
}

static void
the_nth_operation_of_a_key_fails (void **state)
{
  (void) state;
  const struct rd_fault faults[] = {
    { .op = RD_FAULT_GET, .key = "a/", .nth = 2, .kind = RD_FAULT_FAIL,
      .status = RADIO_ERROR_PERMISSION },
  };
  struct rd_io *io = open_fault (faults, 1);
  put_text (io, "b", "x");
  assert_text (io, "a/k", "0123456789");
  assert_text (io, "b", "x");
  assert_text (io, "b", "x");
  assert_fails (read_key (io, "a/k"), RADIO_ERROR_PERMISSION, "a/k");
  assert_text (io, "a/k", "0123456789");
  rd_io_close (io);
}

static void
without_a_number_each_operation_fails (void **state)
{
  (void) state;
  const struct rd_fault faults[] = {
    { .kind = RD_FAULT_FAIL, .status = RADIO_ERROR_IO },
  };
  struct rd_io *io = open_fault (faults, 1);
  for (int i = 0; i < 3; i++) {
    assert_fails (do_one (io, RD_FAULT_GET), RADIO_ERROR_IO, "get");
    assert_fails (do_one (io, RD_FAULT_LIST), RADIO_ERROR_IO, "list");
  }
  assert_int_equal (rd_io_fault_n_hits (io), 6);
  rd_io_close (io);
}

static void
operations_are_counted (void **state)
{
  (void) state;
  struct rd_io *io = open_fault (NULL, 0);
  assert_ok (do_one (io, RD_FAULT_GET));
  assert_ok (do_one (io, RD_FAULT_GET));
  assert_ok (do_one (io, RD_FAULT_COMMIT));
  assert_int_equal (rd_io_fault_count (io, RD_FAULT_GET), 2);
  assert_int_equal (rd_io_fault_count (io, RD_FAULT_APPEND), 1);
  assert_int_equal (rd_io_fault_count (io, RD_FAULT_PUT), 0);
  assert_int_equal (rd_io_fault_count (io, RD_FAULT_ANY), 5);
  rd_io_close (io);
}

static void
a_short_read_is_cut (void **state)
{
  (void) state;
  const struct rd_fault faults[] = {
    { .op = RD_FAULT_GET, .nth = 1, .kind = RD_FAULT_SHORT, .offset = 4 },
  };
  struct rd_io *io = open_fault (faults, 1);
  assert_text (io, "a/k", "0123");
  assert_text (io, "a/k", "0123456789");
  rd_io_close (io);
}

/* The first bytes of a range, in an object whose byte 5 has its bit 0
 * flipped: '5' becomes '4'. */
static void
assert_flipped (enum rd_range_kind range, uint64_t offset, size_t nbytes,
                const char *expected)
{
  const struct rd_fault faults[] = {
    { .op = RD_FAULT_GET, .kind = RD_FAULT_FLIP, .offset = 5, .bit = 0 },
  };
  struct rd_io *io = open_fault (faults, 1);
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  struct rd_io_get get = {
    .key = "a/k", .range = range, .offset = offset, .nbytes = nbytes,
    .into = &buffer,
  };
  assert_ok (rd_io_read (io, &get));
  assert_int_equal (buffer.nbytes, strlen (expected));
  assert_memory_equal (buffer.data, expected, buffer.nbytes);
  rd_io_close (io);
}

static void
a_bit_is_flipped_at_its_place_in_the_object (void **state)
{
  (void) state;
  assert_flipped (RD_RANGE_ALL, 0, 10, "0123446789");
  assert_flipped (RD_RANGE_SPAN, 5, 1, "4");
  assert_flipped (RD_RANGE_SPAN, 3, 4, "3446");
  assert_flipped (RD_RANGE_SPAN, 6, 4, "6789");
  assert_flipped (RD_RANGE_SPAN, 0, 5, "01234");
  assert_flipped (RD_RANGE_SUFFIX, 0, 5, "46789");
  assert_flipped (RD_RANGE_SUFFIX, 0, 4, "6789");
}

static void
a_failed_read_spares_those_after_it (void **state)
{
  (void) state;
  const struct rd_fault faults[] = {
    { .op = RD_FAULT_GET, .nth = 2, .kind = RD_FAULT_FAIL,
      .status = RADIO_ERROR_IO },
  };
  struct rd_io *io = open_fault (faults, 1);
  assert_text (io, "a/k", "0123456789");
  assert_fails (read_key (io, "a/k"), RADIO_ERROR_IO, "a/k");
  assert_text (io, "a/k", "0123456789");
  rd_io_close (io);
}

static void
the_disk_is_full_at_its_capacity (void **state)
{
  (void) state;
  const struct rd_fault_plan plan = { .capacity_nbytes = 10 };
  struct rd_io *inner, *io;
  assert_ok (rd_io_open ("memory:", false, &inner));
  assert_ok (rd_io_fault_open (inner, &plan, &io));
  put_text (io, "a", "12345");
  assert_fails (rd_io_put (io, "b", "123456", 6, RD_PUT_REPLACE),
                RADIO_ERROR_NO_SPACE, "/b");
  put_text (io, "b", "12345");
  assert_fails (rd_io_put (io, "c", "1", 1, RD_PUT_REPLACE),
                RADIO_ERROR_NO_SPACE, "/c");
  assert_list (io, "", true, "a 5\nb 5\n");
  rd_io_close (io);
}

static int
exit_at_second_put (void *arg)
{
  (void) arg;
  const struct rd_fault faults[] = {
    { .op = RD_FAULT_PUT, .nth = 2, .kind = RD_FAULT_EXIT, .status = 55 },
  };
  struct rd_io *io = open_fault (faults, 1);
  CHILD_CHECK (rd_io_put (io, "a", "", 0, RD_PUT_REPLACE) == RADIO_OK);
  (void) !rd_io_put (io, "b", "", 0, RD_PUT_REPLACE);
  return 1;
}

static void
the_process_ends_as_planned (void **state)
{
  (void) state;
  assert_int_equal (child_run (exit_at_second_put, NULL), 55);
}

/* --- deferred --- */

enum { N_READS = 50 };

struct order {
  pthread_mutex_t mutex;
  struct rd_io_get gets[N_READS];
  size_t order[N_READS];
  size_t n;
  pthread_t thread;
};

static void
note_order (struct rd_io_get *get)
{
  struct order *order = get->user_data;
  RD_LOCK_SCOPE (&order->mutex);
  order->order[order->n++] = (size_t) (get - order->gets);
  order->thread = pthread_self ();
}

static void
read_deferred (uint64_t seed, struct order *order)
{
  struct rd_buffer buffers[N_READS] = { { 0 } };
  struct rd_io *inner, *io;
  pthread_mutex_init (&order->mutex, NULL);
  order->n = 0;
  assert_ok (rd_io_open ("memory:", false, &inner));
  put_text (inner, "k", "x");
  assert_ok (rd_io_deferred_open (inner, seed, &io));
  assert_false (io->ops->is_blocking);
  for (size_t i = 0; i < N_READS; i++)
    order->gets[i] = (struct rd_io_get) {
      .key = "k", .nbytes = 10, .into = &buffers[i], .done = note_order,
      .user_data = order,
    };
  io->ops->get (io, order->gets, N_READS);
  /* Closing waits for all of them. */
  rd_io_close (io);
  pthread_mutex_destroy (&order->mutex);
  assert_int_equal (order->n, N_READS);
  for (size_t i = 0; i < N_READS; i++) {
    assert_ok (rd_error_raise (&order->gets[i].error));
    rd_buffer_free (&buffers[i]);
  }
}

static void
deferred_reads_end_on_another_thread_out_of_order (void **state)
{
  (void) state;
  static struct order order;
  read_deferred (7, &order);
  assert_false (pthread_equal (order.thread, pthread_self ()));
  size_t n_in_place = 0;
  for (size_t i = 0; i < N_READS; i++)
    n_in_place += order.order[i] == i;
  assert_true (n_in_place < N_READS / 2);
}

static void
the_order_depends_on_the_seed_alone (void **state)
{
  (void) state;
  static struct order one, again, other;
  read_deferred (7, &one);
  read_deferred (7, &again);
  read_deferred (8, &other);
  assert_memory_equal (one.order, again.order, sizeof one.order);
  assert_memory_not_equal (one.order, other.order, sizeof one.order);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_kind_of_operation_fails_as_planned),
    cmocka_unit_test (the_nth_operation_of_a_key_fails),
    cmocka_unit_test (without_a_number_each_operation_fails),
    cmocka_unit_test (operations_are_counted),
    cmocka_unit_test (a_short_read_is_cut),
    cmocka_unit_test (a_bit_is_flipped_at_its_place_in_the_object),
    cmocka_unit_test (a_failed_read_spares_those_after_it),
    cmocka_unit_test (the_disk_is_full_at_its_capacity),
    cmocka_unit_test (the_process_ends_as_planned),
    cmocka_unit_test (deferred_reads_end_on_another_thread_out_of_order),
    cmocka_unit_test (the_order_depends_on_the_seed_alone),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
