/* SPDX-License-Identifier: MIT */
/* The cache of decoded tiles: found again bit for bit, bounded, the longest
 * unused going first, safe while in use and between threads. */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>

#include "src/array/cache/reads.h"
#include "tests/alloc-fail.h"
#include "tests/element/random.h"
#include "tests/unit.h"

#define TILE_NBYTES 1000

static struct rd_tile_cache *
open_cache (uint64_t max_nbytes)
{
  struct rd_tile_cache *cache = NULL;
  assert_ok (rd_tile_cache_open (max_nbytes, true, &cache));
  return cache;
}

static struct rd_tile_key
key_of (uint64_t array, uint64_t chunk, uint64_t tile)
{
  return (struct rd_tile_key) { array, { 0, chunk }, tile };
}

/* The content of a tile follows from its key. */
static void
make_tile (const struct rd_tile_key *key, unsigned char *data, size_t n)
{
  for (size_t i = 0; i < n; i++)
    data[i] = (unsigned char) (key->array * 7 + key->chunk[1] * 31
                               + key->tile * 131 + i * i);
}

static void
add_sized (struct rd_tile_cache *cache, const struct rd_tile_key *key,
           size_t nbytes)
{
  unsigned char *data = malloc (nbytes);
  assert_non_null (data);
  make_tile (key, data, nbytes);
  rd_tile_cache_add (cache, key, data, nbytes);
  free (data);
}

static void
add (struct rd_tile_cache *cache, uint64_t array, uint64_t chunk,
     uint64_t tile)
{
  struct rd_tile_key key = key_of (array, chunk, tile);
  add_sized (cache, &key, TILE_NBYTES);
}

/* True when a tile has the right content. */
static bool
is_right (const struct rd_cached_tile *tile)
{
  unsigned char expected[TILE_NBYTES];
  make_tile (&tile->key, expected, TILE_NBYTES);
  return tile->nbytes == TILE_NBYTES
    && memcmp (tile->data, expected, TILE_NBYTES) == 0;
}

static bool
has (struct rd_tile_cache *cache, uint64_t array, uint64_t chunk,
     uint64_t tile)
{
  struct rd_tile_key key = key_of (array, chunk, tile);
  struct rd_cached_tile *found = rd_tile_cache_find (cache, &key);
  if (!found)
    return false;
  assert_memory_equal (&found->key, &key, sizeof key);
  assert_true (is_right (found));
  rd_tile_cache_release (cache, found);
  return true;
}

static void
tiles_are_found_by_all_of_their_key (void **state)
{
  (void) state;
  struct rd_tile_cache *cache = open_cache (1 << 20);
  assert_false (has (cache, 0, 0, 0));
  for (uint64_t i = 0; i < 64; i++)
    add (cache, i / 16, i / 4 % 4, i % 4);
  for (uint64_t i = 0; i < 64; i++)
    assert_true (has (cache, i / 16, i / 4 % 4, i % 4));
  assert_false (has (cache, 4, 0, 0));
  assert_false (has (cache, 0, 4, 0));
  assert_false (has (cache, 0, 0, 4));
  rd_tile_cache_close (cache);
}

static void
a_tile_added_twice_is_kept_once (void **state)
{
  (void) state;
  struct rd_tile_cache *cache = open_cache (1 << 20);
  add (cache, 1, 2, 3);
  uint64_t nbytes = rd_tile_cache_nbytes (cache);
  assert_true (nbytes >= TILE_NBYTES);
  add (cache, 1, 2, 3);
  assert_int_equal (rd_tile_cache_nbytes (cache), nbytes);
  rd_tile_cache_close (cache);
}

/* One part: what one tile takes is known then. */
static uint64_t
find_each (void)
{
  struct rd_tile_cache *cache = open_cache (1 << 20);
  add (cache, 0, 0, 0);
  uint64_t nbytes = rd_tile_cache_nbytes (cache);
  rd_tile_cache_close (cache);
  return nbytes;
}

static void
the_longest_unused_go_first (void **state)
{
  (void) state;
  struct rd_tile_cache *cache = open_cache (10 * find_each ());
  for (uint64_t i = 0; i < 10; i++)
    add (cache, 0, 0, i);
  assert_true (has (cache, 0, 0, 0));   /* used again */
  add (cache, 0, 0, 10);
  add (cache, 0, 0, 11);
  assert_true (has (cache, 0, 0, 0));
  assert_false (has (cache, 0, 0, 1));
  assert_false (has (cache, 0, 0, 2));
  for (uint64_t i = 3; i < 12; i++)
    assert_true (has (cache, 0, 0, i));
  rd_tile_cache_close (cache);
}

static void
the_bound_holds_for_tiles_of_any_size (void **state)
{
  (void) state;
  static const uint64_t bounds[] = { 1, 500, 5000, 1 << 20, 40 << 20 };
  uint64_t seed = 5;
  for (size_t b = 0; b < 5; b++) {
    struct rd_tile_cache *cache = open_cache (bounds[b]);
    for (uint64_t i = 0; i < 3000; i++) {
      struct rd_tile_key key = key_of (0, 0, i);
      add_sized (cache, &key, 1 + random_next (&seed) % 40000);
      assert_true (rd_tile_cache_nbytes (cache) <= bounds[b]);
    }
    assert_true (bounds[b] < 5000 || rd_tile_cache_nbytes (cache) > 0);
    assert_true (rd_tile_cache_share (cache) <= bounds[b]);
    rd_tile_cache_close (cache);
  }
}

static void
a_tile_in_use_is_not_changed (void **state)
{
  (void) state;
  struct rd_tile_cache *cache = open_cache (3 * find_each ());
  add (cache, 0, 0, 0);
  struct rd_tile_key key = key_of (0, 0, 0);
  struct rd_cached_tile *tile = rd_tile_cache_find (cache, &key);
  assert_non_null (tile);
  for (uint64_t i = 1; i < 20; i++)
    add (cache, 0, 0, i);
  assert_true (is_right (tile));
  assert_true (has (cache, 0, 0, 0));
  rd_tile_cache_forget (cache, 0);
  assert_false (has (cache, 0, 0, 0));
  assert_true (is_right (tile));
  rd_tile_cache_release (cache, tile);
  assert_int_equal (rd_tile_cache_nbytes (cache), 0);
  rd_tile_cache_close (cache);
}

static void
tiles_without_room_are_not_kept (void **state)
{
  (void) state;
  struct rd_tile_cache *cache = open_cache (2 * find_each ());
  struct rd_cached_tile *tiles[2];
  for (uint64_t i = 0; i < 2; i++) {
    struct rd_tile_key key = key_of (0, 0, i);
    add (cache, 0, 0, i);
    tiles[i] = rd_tile_cache_find (cache, &key);
    assert_non_null (tiles[i]);
  }
  add (cache, 0, 0, 2);
  assert_false (has (cache, 0, 0, 2));
  rd_tile_cache_release (cache, tiles[1]);
  add (cache, 0, 0, 2);
  assert_true (has (cache, 0, 0, 2));
  assert_false (has (cache, 0, 0, 1));
  rd_tile_cache_release (cache, tiles[0]);
  rd_tile_cache_close (cache);
}

static void
forgetting_spares_other_arrays (void **state)
{
  (void) state;
  struct rd_tile_cache *cache = open_cache (40 << 20);
  for (uint64_t i = 0; i < 200; i++)
    add (cache, i % 2, i / 2, 0);
  uint64_t nbytes = rd_tile_cache_nbytes (cache);
  rd_tile_cache_forget (cache, 1);
  assert_int_equal (rd_tile_cache_nbytes (cache), nbytes / 2);
  for (uint64_t i = 0; i < 200; i++)
    assert_int_equal (has (cache, i % 2, i / 2, 0), i % 2 == 0);
  rd_tile_cache_close (cache);
}

static void
without_memory_nothing_is_kept_and_nothing_fails (void **state)
{
  (void) state;
  for (size_t nth = 1;; nth++) {
    struct rd_tile_cache *cache = open_cache (1 << 20);
    static const unsigned char data[TILE_NBYTES];
    struct rd_tile_key key = key_of (0, 0, 0);
    alloc_fail_nth (nth);
    rd_tile_cache_add (cache, &key, data, sizeof data);
    bool failed = alloc_fail_end ();
    struct rd_cached_tile *tile = rd_tile_cache_find (cache, &key);
    assert_int_equal (tile == NULL, failed);
    assert_int_equal (rd_tile_cache_nbytes (cache) == 0, failed);
    if (tile)
      rd_tile_cache_release (cache, tile);
    rd_tile_cache_close (cache);
    if (!failed)
      return;
  }
}

/* A part that meets a larger tile makes room for it, but not while one that
 * is smaller is in use. */
static void
tiles_of_two_sizes_share_a_part (void **state)
{
  (void) state;
  struct rd_tile_cache *cache = open_cache (1 << 20);
  struct rd_tile_key small = key_of (0, 0, 0), large = key_of (0, 0, 1);
  add (cache, 0, 0, 0);
  struct rd_cached_tile *tile = rd_tile_cache_find (cache, &small);
  assert_non_null (tile);
  add_sized (cache, &large, 3 * TILE_NBYTES);
  assert_null (rd_tile_cache_find (cache, &large));
  assert_true (is_right (tile));
  rd_tile_cache_release (cache, tile);
  add_sized (cache, &large, 3 * TILE_NBYTES);
  add (cache, 0, 0, 2);
  assert_true (has (cache, 0, 0, 2));
  tile = rd_tile_cache_find (cache, &large);
  assert_non_null (tile);
  unsigned char expected[3 * TILE_NBYTES];
  make_tile (&large, expected, sizeof expected);
  assert_int_equal (tile->nbytes, sizeof expected);
  assert_memory_equal (tile->data, expected, sizeof expected);
  rd_tile_cache_release (cache, tile);
  rd_tile_cache_close (cache);
}

#define NTHREADS 4

struct racer {
  struct rd_tile_cache *cache;
  uint64_t number;
  atomic_uint *nwrong;
};

/* Add, find and forget tiles that the others have as well. */
static void *
race (void *argument)
{
  struct racer *racer = argument;
  uint64_t seed = racer->number + 1;
  unsigned char data[TILE_NBYTES];
  for (int i = 0; i < 5000; i++) {
    struct rd_tile_key key = key_of (random_next (&seed) % 2, 0,
                                     random_next (&seed) % 300);
    struct rd_cached_tile *tile = rd_tile_cache_find (racer->cache, &key);
    if (tile) {
      *racer->nwrong += !is_right (tile);
      rd_tile_cache_release (racer->cache, tile);
    } else {
      make_tile (&key, data, sizeof data);
      rd_tile_cache_add (racer->cache, &key, data, sizeof data);
    }
    if (i % 500 == 499 && racer->number == 0)
      rd_tile_cache_forget (racer->cache, 1);
  }
  return NULL;
}

static void
threads_may_race_for_tiles (void **state)
{
  (void) state;
  struct rd_tile_cache *cache = open_cache (200 * find_each ());
  pthread_t threads[NTHREADS];
  struct racer racers[NTHREADS];
  atomic_uint nwrong = 0;
  for (uint64_t i = 0; i < NTHREADS; i++) {
    racers[i] = (struct racer) { cache, i, &nwrong };
    assert_int_equal (pthread_create (&threads[i], NULL, race, &racers[i]),
                      0);
  }
  for (size_t i = 0; i < NTHREADS; i++)
    pthread_join (threads[i], NULL);
  assert_int_equal (nwrong, 0);
  assert_true (rd_tile_cache_nbytes (cache) <= 200 * find_each ());
  rd_tile_cache_forget (cache, 0);
  rd_tile_cache_forget (cache, 1);
  assert_int_equal (rd_tile_cache_nbytes (cache), 0);
  rd_tile_cache_close (cache);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (tiles_are_found_by_all_of_their_key),
    cmocka_unit_test (a_tile_added_twice_is_kept_once),
    cmocka_unit_test (the_longest_unused_go_first),
    cmocka_unit_test (the_bound_holds_for_tiles_of_any_size),
    cmocka_unit_test (a_tile_in_use_is_not_changed),
    cmocka_unit_test (tiles_without_room_are_not_kept),
    cmocka_unit_test (forgetting_spares_other_arrays),
    cmocka_unit_test (tiles_of_two_sizes_share_a_part),
    cmocka_unit_test (without_memory_nothing_is_kept_and_nothing_fails),
    cmocka_unit_test (threads_may_race_for_tiles),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
