/* SPDX-License-Identifier: MIT */
/* Locks, and several threads at one store. */
#include <config.h>

#include <pthread.h>
#include <time.h>

#include "tests/io/conformance-cases.h"

/* --- locks --- */

static void
a_held_prefix_is_not_given_twice (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_lock *one, *two;
  assert_ok (io->ops->lock (io, "a/b", false, &one));
  assert_non_null (one);
  assert_ok (io->ops->lock (io, "a/b", false, &two));
  assert_null (two);
  rd_io_unlock (one);
  assert_ok (io->ops->lock (io, "a/b", false, &two));
  assert_non_null (two);
  rd_io_unlock (two);
}

static void
locks_of_other_prefixes_do_not_meet (void **state)
{
  static const char *const prefixes[] = { "", "a", "a/b", "a/c" };
  struct rd_io *io = io_of (state);
  struct rd_io_lock *locks[4];
  for (size_t i = 0; i < 4; i++) {
    assert_ok (io->ops->lock (io, prefixes[i], false, &locks[i]));
    assert_non_null (locks[i]);
  }
  for (size_t i = 0; i < 4; i++)
    rd_io_unlock (locks[i]);
}

static void
a_lock_hinders_no_reader_or_writer (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_lock *lock;
  assert_ok (io->ops->lock (io, "a", true, &lock));
  put_text (io, "a/k", "x");
  assert_text (io, "a/k", "x");
  rd_io_unlock (lock);
}

static void
a_locked_tree_can_be_removed_by_its_holder (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_lock *lock, *next;
  put_text (io, "a/k", "x");
  assert_ok (io->ops->lock (io, "a", false, &lock));
  assert_ok (io->ops->remove_tree (io, "a"));
  rd_io_unlock (lock);
  assert_ok (io->ops->lock (io, "a", false, &next));
  assert_non_null (next);
  rd_io_unlock (next);
}

/* Threads that count under a lock of the store. */
struct counters {
  struct rd_io *io;
  int value;                  /* guarded by the store's lock */
  int result;
};

static void *
count_under_lock (void *arg)
{
  struct counters *counters = arg;
  struct rd_io *io = counters->io;
  for (int i = 0; i < 25; i++) {
    struct rd_io_lock *lock;
    if (io->ops->lock (io, "l/m", true, &lock) != RADIO_OK || lock == NULL)
      return arg;
    int value = __atomic_load_n (&counters->value, __ATOMIC_RELAXED);
    nanosleep (&(struct timespec) { 0, 20000 }, NULL);
    __atomic_store_n (&counters->value, value + 1, __ATOMIC_RELAXED);
    rd_io_unlock (lock);
  }
  return NULL;
}

static void
waiting_threads_hold_a_lock_one_by_one (void **state)
{
  struct counters counters = { .io = io_of (state) };
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal (pthread_create (&threads[i], NULL, count_under_lock,
                                      &counters), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join (threads[i], &failed);
    assert_null (failed);
  }
  assert_int_equal (counters.value, 4 * 25);
}

/* --- threads --- */

struct race {
  struct rd_io *io;
  char letter;
  int n_won;
  bool failed;
};

static void *
put_all (void *arg)
{
  struct race *race = arg;
  char text[4000];
  memset (text, race->letter, sizeof text);
  for (int i = 0; i < 20; i++) {
    char key[24];
    snprintf (key, sizeof key, "race/%d", i);
    enum radio_status status = rd_io_put (race->io, key, text, sizeof text,
                                          RD_PUT_IF_ABSENT);
    race->n_won += status == RADIO_OK;
    race->failed |= status != RADIO_OK && status != RADIO_ERROR_EXISTS;
    race->failed |= rd_io_put (race->io, "race/same", text, sizeof text,
                               RD_PUT_REPLACE) != RADIO_OK;
  }
  return NULL;
}

static void *
read_all (void *arg)
{
  struct race *race = arg;
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  for (int i = 0; i < 100; i++) {
    enum radio_status status = rd_io_read_all (race->io, "race/same", 4000,
                                               &buffer);
    if (status == RADIO_ERROR_NOT_FOUND)
      continue;
    race->failed |= status != RADIO_OK || buffer.nbytes != 4000;
    for (size_t j = 1; j < buffer.nbytes; j++)
      race->failed |= buffer.data[j] != buffer.data[0];
  }
  return NULL;
}

static void
of_racing_writers_exactly_one_wins_each_key (void **state)
{
  struct race races[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    races[i] = (struct race) { io_of (state), (char) ('a' + i), 0, false };
    assert_int_equal (pthread_create (&threads[i], NULL,
                                      i < 3 ? put_all : read_all,
                                      &races[i]), 0);
  }
  int n_won = 0;
  for (int i = 0; i < 4; i++) {
    pthread_join (threads[i], NULL);
    assert_false (races[i].failed);
    n_won += races[i].n_won;
  }
  assert_int_equal (n_won, 20);
}

const struct CMUnitTest *
conformance_locks (size_t *n)
{
  static const struct CMUnitTest cases[] = {
    cmocka_unit_test (a_held_prefix_is_not_given_twice),
    cmocka_unit_test (locks_of_other_prefixes_do_not_meet),
    cmocka_unit_test (a_lock_hinders_no_reader_or_writer),
    cmocka_unit_test (a_locked_tree_can_be_removed_by_its_holder),
    cmocka_unit_test (waiting_threads_hold_a_lock_one_by_one),
    cmocka_unit_test (of_racing_writers_exactly_one_wins_each_key),
  };
  *n = sizeof cases / sizeof cases[0];
  return cases;
}
