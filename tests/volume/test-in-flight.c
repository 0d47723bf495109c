/* SPDX-License-Identifier: MIT */
/* Operations on all volumes of a store, or all chunks of an array, where each
 * step is a round trip: how many are in flight, and the requests that they
 * take. */
#include <config.h>

#include <time.h>

#include "src/base/cleanup.h"
#include "tests/io/fault.h"
#include "tests/io/wrap.h"
#include "tests/volume/fixture.h"

#define NVOLUMES 16
#define NCOLLECTIONS 8
#define GRACE_S 1000
#define PATIENCE_S 20

/* A store that looks like one on a network, whose objects are old.  A read,
 * a listing or a write of a key that contains a text can wait until as many are
 * in progress. */
struct remote {
  struct rd_wrap wrap;        /* first */
  struct rd_io *counting;
  const char *gets_meet, *lists_meet, *puts_meet; /* NULL: they do not */
  unsigned nmeeting;
  bool met;                   /* none waited in vain */
  pthread_mutex_t mutex;
  pthread_cond_t arrived;
  unsigned n;                 /* that arrived */
};

static void
meet (struct rd_io *io, const char *meets, const char *key)
{
  struct remote *remote = (struct remote *) io;
  struct timespec end;
  int error = 0;
  if (!meets || !strstr (key, meets))
    return;
  clock_gettime (CLOCK_REALTIME, &end);
  end.tv_sec += PATIENCE_S;
  RD_LOCK_SCOPE (&remote->mutex);
  remote->n++;
  pthread_cond_broadcast (&remote->arrived);
  while (remote->met && error == 0 && remote->n < remote->nmeeting)
    error = pthread_cond_timedwait (&remote->arrived, &remote->mutex, &end);
  remote->met = remote->met && error == 0;
}

static void
meet_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct rd_io *inner = ((struct rd_wrap *) io)->inner;
  meet (io, ((struct remote *) io)->gets_meet, gets[0].key);
  inner->ops->get (inner, gets, n);
}

static enum radio_status
meet_put (struct rd_io *io, const char *key, const struct rd_part *parts,
          size_t n, enum rd_put how)
{
  struct rd_io *inner = ((struct rd_wrap *) io)->inner;
  meet (io, ((struct remote *) io)->puts_meet, key);
  return inner->ops->put (inner, key, parts, n, how);
}

struct aging {
  rd_io_list_fn *fn;
  void *user_data;
};

static enum radio_status
report_old (const struct rd_io_entry *entry, void *user_data)
{
  const struct aging *aging = user_data;
  struct rd_io_entry old = *entry;
  old.age_s = 2 * GRACE_S;
  return aging->fn (&old, aging->user_data);
}

static enum radio_status
meet_list (struct rd_io *io, const char *prefix, bool recursive,
           rd_io_list_fn *fn, void *user_data)
{
  struct rd_io *inner = ((struct rd_wrap *) io)->inner;
  struct aging aging = { fn, user_data };
  meet (io, ((struct remote *) io)->lists_meet, prefix);
  return inner->ops->list (inner, prefix, recursive, report_old, &aging);
}

static void
close_remote (struct rd_io *io)
{
  struct remote *remote = (struct remote *) io;
  rd_wrap_finish (&remote->wrap);
  pthread_cond_destroy (&remote->arrived);
  pthread_mutex_destroy (&remote->mutex);
  free (remote);
}

/* With volumes "ct/v00" and so on, or with each in a collection of its own. */
static struct radio_store *
make_remote (size_t n, bool has_collections, struct remote **result)
{
  static const struct rd_fault_plan none;
  struct nifti_spec spec = small_spec ();
  struct radio_store_options options = { .create = true };
  struct remote *remote = calloc (1, sizeof *remote);
  struct radio_store *store;
  struct rd_io *memory;
  assert_non_null (remote);
  assert_ok (rd_io_memory_open (&memory));
  assert_ok (rd_io_fault_open (memory, &none, &remote->counting));
  assert_ok (rd_wrap_init (&remote->wrap, "remote", remote->counting));
  pthread_mutex_init (&remote->mutex, NULL);
  pthread_cond_init (&remote->arrived, NULL);
  remote->wrap.ops.close = close_remote;
  remote->wrap.ops.get = meet_get;
  remote->wrap.ops.list = meet_list;
  remote->wrap.ops.put = meet_put;
  assert_ok (rd_store_open_io (&remote->wrap.base, &options, &store));
  for (size_t i = 0; i < n; i++) {
    char path[32];
    snprintf (path, sizeof path, has_collections ? "c%02zu/v" : "ct/v%02zu",
              i);
    must_ingest (store, path, &spec, NULL);
  }
  /* Reads are done at once all the same. */
  remote->wrap.ops.is_blocking = false;
  remote->wrap.base.grace_s = GRACE_S;
  remote->met = true;
  *result = remote;
  return store;
}

static uint64_t
requests (const struct remote *remote, enum rd_fault_op op)
{
  return rd_io_fault_count (remote->counting, op);
}

/*------------------------------------------------------------------------
 * Garbage collection
 *----------------------------------------------------------------------*/

static void
gc_keeps_volumes_in_flight (void **state)
{
  (void) state;
  struct radio_gc_result result;
  struct remote *remote;
  struct radio_store *store = make_remote (NVOLUMES, false, &remote);
  remote->gets_meet = "ct/v";
  remote->nmeeting = NVOLUMES;
  assert_ok (radio_store_gc (store, false, &result));
  assert_true (remote->met);
  assert_int_equal (result.removed_count, 0);
  radio_store_close (store);
}

/* Three reads a volume: its document and the header array's two objects; and
 * the collection's document and that of tables, which are not there. */
static void
gc_lists_a_collection_once (void **state)
{
  (void) state;
  struct radio_gc_result result;
  struct remote *remote;
  struct radio_store *store = make_remote (NVOLUMES, false, &remote);
  uint64_t ngets = requests (remote, RD_FAULT_GET);
  uint64_t nlists = requests (remote, RD_FAULT_LIST);
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (requests (remote, RD_FAULT_GET) - ngets,
                    3 * NVOLUMES + 2);
  /* The folders of the collection, and the root's. */
  assert_int_equal (requests (remote, RD_FAULT_LIST) - nlists, 2);
  radio_store_close (store);
}

/* Unusual contents are collected as before: a second level, a chunk that no
 * document names, a folder without a document, and a stale header array. */
static void
gc_finds_all_garbage (void **state)
{
  (void) state;
  static const char *const garbage[] = {
    "ct/v01/0-00000000/c/0/0/0", "ct/v02/nifti/0", "ct/new/0-00000001/c/0/0/0",
    "ct/v03/nifti/c/0"
  };
  struct nifti_spec spec = small_spec ();
  struct radio_gc_result result;
  struct remote *remote;
  struct radio_store *store = make_remote (NVOLUMES, false, &remote);
  for (size_t i = 0; i < 4; i++)
    assert_ok (rd_io_put (remote->counting, garbage[i], "1234", 4,
                          RD_PUT_REPLACE));
  assert_ok (radio_store_gc (store, true, &result));
  assert_int_equal (result.removed_count, 3);
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (result.removed_count, 3);
  assert_int_equal (result.removed_nbytes, 12);
  assert_int_equal (result.repaired_count, 1);
  assert_int_equal (count_objects (store, "ct/new"), 0);
  for (size_t i = 0; i < NVOLUMES; i++) {
    char path[16];
    snprintf (path, sizeof path, "ct/v%02zu", i);
    assert_volume_is (store, path, &spec);
  }
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (result.removed_count + result.repaired_count, 0);
  radio_store_close (store);
}

/*------------------------------------------------------------------------
 * Listing
 *----------------------------------------------------------------------*/

static enum radio_status
see (const struct radio_entry *entry, void *user_data)
{
  size_t *n = user_data;
  char path[16];
  snprintf (path, sizeof path, "c%02zu/v", (*n)++);
  assert_string_equal (entry->path, path);
  return RADIO_OK;
}

static enum radio_status
stop_at_third (const struct radio_entry *entry, void *user_data)
{
  assert_ok (see (entry, user_data));
  return *(size_t *) user_data == 3 ? RADIO_ERROR_CANCELLED : RADIO_OK;
}

static void
collections_are_listed_at_the_same_time (void **state)
{
  (void) state;
  struct remote *remote;
  size_t n = 0;
  struct radio_store *store = make_remote (NCOLLECTIONS, true, &remote);
  uint64_t nlists = requests (remote, RD_FAULT_LIST);
  remote->lists_meet = "c0";
  remote->nmeeting = NCOLLECTIONS;
  assert_ok (radio_store_list (store, NULL, see, &n));
  assert_true (remote->met);
  assert_int_equal (n, NCOLLECTIONS);
  assert_int_equal (requests (remote, RD_FAULT_LIST) - nlists,
                    NCOLLECTIONS + 1);
  radio_store_close (store);
}

static void
a_listing_ends_when_its_caller_stops (void **state)
{
  (void) state;
  struct remote *remote;
  size_t n = 0;
  struct radio_store *store = make_remote (NCOLLECTIONS, true, &remote);
  assert_int_equal (radio_store_list (store, NULL, stop_at_third, &n),
                    RADIO_ERROR_CANCELLED);
  assert_int_equal (n, 3);
  radio_store_close (store);
}

/*------------------------------------------------------------------------
 * Arrays
 *----------------------------------------------------------------------*/

static void
chunks_are_written_at_the_same_time (void **state)
{
  (void) state;
  const struct radio_array_options options = {
    .rank = 1, .shape = { NVOLUMES }, .chunk_shape = { 1 },
    .data_type = "uint8",
  };
  const struct radio_box whole = { 1, { 0 }, { NVOLUMES } };
  unsigned char bytes[NVOLUMES];
  struct remote *remote;
  struct radio_array *array;
  struct radio_store *store = make_remote (0, false, &remote);
  memset (bytes, 1, sizeof bytes);
  assert_ok (radio_array_create (store, "x", &options, &array));
  remote->puts_meet = "x/c/";
  remote->nmeeting = NVOLUMES;
  assert_ok (radio_array_write (array, &whole, bytes, sizeof bytes));
  assert_true (remote->met);
  assert_int_equal (remote->n, NVOLUMES);
  radio_array_close (array);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (gc_keeps_volumes_in_flight),
    cmocka_unit_test (gc_lists_a_collection_once),
    cmocka_unit_test (gc_finds_all_garbage),
    cmocka_unit_test (collections_are_listed_at_the_same_time),
    cmocka_unit_test (a_listing_ends_when_its_caller_stops),
    cmocka_unit_test (chunks_are_written_at_the_same_time),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
