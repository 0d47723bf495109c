/* SPDX-License-Identifier: MIT */
/* The cache of shard indexes: found again, bounded, safe while in use, never
 * older than a chunk that was dropped. */
#include <config.h>

#include <pthread.h>

#include "tests/unit.h"
#include "tests/element/random.h"

#include "src/array/cache/reads.h"

#define N 10                          /* entries of an index */

static struct rd_shard_index *
make_index (uint64_t mark)
{
  struct rd_shard_index *index = rd_malloc (
    sizeof *index + N * sizeof index->entries[0]);
  assert_non_null (index);
  index->n = N;
  for (size_t i = 0; i < N; i++)
    index->entries[i] = (struct rd_shard_entry) { mark, mark };
  return index;
}

static struct rd_index_cache *
open_cache (uint64_t max_nbytes)
{
  struct rd_index_cache *cache = NULL;
  assert_ok (rd_index_cache_open (3, max_nbytes, &cache));
  return cache;
}

/* Add an index for chunk (0, mark, 0) and end its use. */
static void
add (struct rd_index_cache *cache, uint64_t mark)
{
  uint64_t chunk[RADIO_MAX_RANK] = { 0, mark, 0 }, generation;
  assert_null (rd_index_cache_find (cache, chunk, &generation));
  struct rd_index_entry *entry;
  assert_ok (rd_index_cache_add (cache, chunk, make_index (mark), 100, 0,
                                 generation, &entry));
  rd_index_cache_release (cache, entry);
}

/* True when the index of (0, mark, 0) is there, and the right one. */
static bool
has (struct rd_index_cache *cache, uint64_t mark)
{
  uint64_t chunk[RADIO_MAX_RANK] = { 0, mark, 0 }, generation;
  struct rd_index_entry *entry = rd_index_cache_find (cache, chunk,
                                                      &generation);
  if (entry)
    assert_int_equal (entry->index->entries[N - 1].offset, mark);
  rd_index_cache_release (cache, entry);
  return entry != NULL;
}

static void
added_indexes_are_found (void **state)
{
  (void) state;
  struct rd_index_cache *cache = open_cache (1 << 30);
  for (uint64_t i = 0; i < 1000; i++)
    add (cache, i * i);
  for (uint64_t i = 0; i < 1000; i++)
    assert_true (has (cache, i * i));
  assert_false (has (cache, 2));
  rd_index_cache_close (cache);
}

static void
no_more_is_kept_than_allowed_and_the_oldest_go (void **state)
{
  (void) state;
  struct rd_index_cache *cache = open_cache (10000);
  for (uint64_t i = 0; i < 1000; i++) {
    add (cache, i);
    assert_true (has (cache, i));
    assert_true (has (cache, 0));     /* used all the time: it stays */
    assert_true (rd_index_cache_nbytes (cache) <= 10000);
  }
  assert_false (has (cache, 1));
  assert_true (has (cache, 998));
  rd_index_cache_close (cache);
}

static void
an_entry_in_use_stays_whatever_comes (void **state)
{
  (void) state;
  struct rd_index_cache *cache = open_cache (1000);
  uint64_t chunk[RADIO_MAX_RANK] = { 7, 7, 7 }, generation;
  assert_null (rd_index_cache_find (cache, chunk, &generation));
  struct rd_index_entry *entry;
  assert_ok (rd_index_cache_add (cache, chunk, make_index (77), 100, 0,
                                 generation, &entry));
  for (uint64_t i = 0; i < 100; i++)
    add (cache, i);
  rd_index_cache_drop (cache, chunk);
  for (size_t i = 0; i < N; i++)
    assert_int_equal (entry->index->entries[i].nbytes, 77);
  rd_index_cache_release (cache, entry);
  assert_null (rd_index_cache_find (cache, chunk, &generation));
  rd_index_cache_close (cache);
}

static void
indexes_read_before_a_drop_are_not_kept (void **state)
{
  (void) state;
  struct rd_index_cache *cache = open_cache (1 << 20);
  uint64_t chunk[RADIO_MAX_RANK] = { 1, 2, 3 }, generation;
  assert_null (rd_index_cache_find (cache, chunk, &generation));
  uint64_t next = rd_index_cache_drop (cache, chunk);
  struct rd_index_entry *entry;
  assert_ok (rd_index_cache_add (cache, chunk, make_index (5), 100, 0,
                                 generation, &entry));
  assert_int_equal (entry->index->entries[0].offset, 5);
  rd_index_cache_release (cache, entry);
  assert_null (rd_index_cache_find (cache, chunk, &generation));
  assert_int_equal (generation, next);
  assert_int_equal (rd_index_cache_nbytes (cache), 0);
  /* One that is read after it is. */
  assert_ok (rd_index_cache_add (cache, chunk, make_index (6), 100, 0, next,
                                 &entry));
  rd_index_cache_release (cache, entry);
  assert_true (rd_index_cache_nbytes (cache) > 0);
  rd_index_cache_close (cache);
}

static void
two_that_read_the_same_index_both_have_one (void **state)
{
  (void) state;
  struct rd_index_cache *cache = open_cache (1 << 20);
  uint64_t chunk[RADIO_MAX_RANK] = { 1, 2, 3 }, generation;
  assert_null (rd_index_cache_find (cache, chunk, &generation));
  struct rd_index_entry *first, *second;
  assert_ok (rd_index_cache_add (cache, chunk, make_index (5), 100, 0,
                                 generation, &first));
  assert_ok (rd_index_cache_add (cache, chunk, make_index (5), 100, 0,
                                 generation, &second));
  assert_ptr_not_equal (first, second);
  rd_index_cache_release (cache, second);
  rd_index_cache_release (cache, first);
  assert_ptr_equal (rd_index_cache_find (cache, chunk, &generation), first);
  rd_index_cache_release (cache, first);
  rd_index_cache_close (cache);
}

struct user {
  struct rd_index_cache *cache;
  pthread_t thread;
  uint64_t seed;
  unsigned nwrong;
};

/* Find, add and drop at random; what is found must be what was added. */
static void *
use_at_random (void *argument)
{
  struct user *user = argument;
  for (unsigned i = 0; i < 3000; i++) {
    uint64_t mark = random_next (&user->seed) % 40, generation;
    uint64_t chunk[RADIO_MAX_RANK] = { mark, mark, 1 };
    struct rd_index_entry *entry = rd_index_cache_find (user->cache, chunk,
                                                        &generation);
    if (!entry)
      user->nwrong += rd_index_cache_add (user->cache, chunk,
                                          make_index (mark), 1, 0, generation,
                                          &entry) != RADIO_OK;
    if (random_next (&user->seed) % 10 == 0)
      rd_index_cache_drop (user->cache, chunk);
    user->nwrong += entry->index->entries[N / 2].offset != mark;
    rd_index_cache_release (user->cache, entry);
  }
  return NULL;
}

static void
threads_may_use_it_at_once (void **state)
{
  (void) state;
  struct rd_index_cache *cache = open_cache (3000);
  struct user users[4];
  for (size_t i = 0; i < 4; i++) {
    users[i] = (struct user) { .cache = cache, .seed = i };
    assert_int_equal (pthread_create (&users[i].thread, NULL, use_at_random,
                                      &users[i]), 0);
  }
  for (size_t i = 0; i < 4; i++) {
    pthread_join (users[i].thread, NULL);
    assert_int_equal (users[i].nwrong, 0);
  }
  assert_true (rd_index_cache_nbytes (cache) <= 3000);
  rd_index_cache_close (cache);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (added_indexes_are_found),
    cmocka_unit_test (no_more_is_kept_than_allowed_and_the_oldest_go),
    cmocka_unit_test (an_entry_in_use_stays_whatever_comes),
    cmocka_unit_test (indexes_read_before_a_drop_are_not_kept),
    cmocka_unit_test (two_that_read_the_same_index_both_have_one),
    cmocka_unit_test (threads_may_use_it_at_once),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
