/* SPDX-License-Identifier: MIT */
/* Listing stores of very many volumes: the requests that it takes where each
 * is a round trip, the order, and the memory. */
#include <config.h>

#include <inttypes.h>

#include "src/volume/volume.h"
#include "tests/alloc-peak.h"
#include "tests/io/deferred.h"
#include "tests/io/fault.h"
#include "tests/io/wrap.h"
#include "tests/volume/fixture.h"

#define NVOLUMES 150

/* A store in memory whose operations are counted, seen as over a network. */
struct remote {
  struct rd_io *memory, *counting;
  struct radio_store *store;
};

static struct rd_io *
counting (struct rd_io *inner)
{
  static const struct rd_fault_plan none;
  struct rd_io *io;
  assert_ok (rd_io_fault_open (inner, &none, &io));
  return io;
}

static struct remote
make_remote (const char *const *paths, size_t n)
{
  struct nifti_spec spec = small_spec ();
  struct radio_store_options options = { .create = true };
  struct remote remote;
  struct rd_io *io;
  assert_ok (rd_io_memory_open (&remote.memory));
  remote.counting = counting (remote.memory);
  assert_ok (rd_io_deferred_open (remote.counting, 1, &io));
  assert_ok (rd_store_open_io (io, &options, &remote.store));
  for (size_t i = 0; i < n; i++)
    must_ingest (remote.store, paths[i], &spec, NULL);
  return remote;
}

static void
name_volumes (char names[NVOLUMES][16], const char *paths[NVOLUMES])
{
  for (size_t i = 0; i < NVOLUMES; i++) {
    snprintf (names[i], sizeof names[i], "ct/v%03zu", i);
    paths[i] = names[i];
  }
}

struct seen {
  size_t n, nopened;
  uint64_t stored_nbytes;
  struct radio_store *store;
};

static enum radio_status
see (const struct radio_entry *entry, void *user_data)
{
  struct seen *seen = user_data;
  char path[16];
  snprintf (path, sizeof path, "ct/v%03zu", seen->n++);
  assert_string_equal (entry->path, path);
  assert_string_equal (entry->name, path + 3);
  assert_string_equal (entry->collection, "ct");
  return RADIO_OK;
}

static enum radio_status
see_opened (const struct radio_entry *entry, struct radio_volume *volume,
            uint64_t stored_nbytes, void *user_data)
{
  struct seen *seen = user_data;
  assert_ok (see (entry, user_data));
  assert_non_null (volume);
  assert_string_equal (volume->path, entry->path);
  seen->nopened++;
  seen->stored_nbytes = stored_nbytes;
  return RADIO_OK;
}

static void
names_take_as_many_requests_as_pages (void **state)
{
  (void) state;
  char names[NVOLUMES][16];
  const char *paths[NVOLUMES];
  struct seen seen = { 0 };
  name_volumes (names, paths);
  struct remote remote = make_remote (paths, NVOLUMES);
  struct rd_io *io = remote.counting;
  uint64_t nbefore = rd_io_fault_count (io, RD_FAULT_ANY);
  uint64_t nlists = rd_io_fault_count (io, RD_FAULT_LIST);
  assert_ok (radio_store_list (remote.store, NULL, see, &seen));
  assert_int_equal (seen.n, NVOLUMES);
  /* The root's folders, and all of the collection; the collection's
   * document. */
  assert_int_equal (rd_io_fault_count (io, RD_FAULT_LIST) - nlists, 2);
  assert_int_equal (rd_io_fault_count (io, RD_FAULT_ANY) - nbefore, 3);
  radio_store_close (remote.store);
}

static void
opening_takes_one_request_more_for_each (void **state)
{
  (void) state;
  char names[NVOLUMES][16];
  const char *paths[NVOLUMES];
  struct seen seen = { 0 };
  struct radio_volume *volume;
  uint64_t stored_nbytes;
  name_volumes (names, paths);
  struct remote remote = make_remote (paths, NVOLUMES);
  struct rd_io *io = remote.counting;
  uint64_t nbefore = rd_io_fault_count (io, RD_FAULT_ANY);
  assert_ok (radio_store_list_opened (remote.store, NULL, see_opened,
                                      &seen));
  assert_int_equal (seen.nopened, NVOLUMES);
  assert_int_equal (rd_io_fault_count (io, RD_FAULT_ANY) - nbefore,
                    3 + NVOLUMES);
  assert_ok (radio_volume_open (remote.store, paths[0], &volume));
  assert_ok (radio_volume_stored_nbytes (volume, &stored_nbytes));
  assert_int_equal (seen.stored_nbytes, stored_nbytes);
  radio_volume_close (volume);
  radio_store_close (remote.store);
}

/* Garbage beside a volume's level does not count as its size. */
static void
a_second_level_is_not_counted (void **state)
{
  (void) state;
  static const char *const paths[] = { "ct/v000" };
  struct seen seen = { 0 };
  struct radio_volume *volume;
  uint64_t stored_nbytes;
  struct remote remote = make_remote (paths, 1);
  assert_ok (radio_volume_open (remote.store, paths[0], &volume));
  assert_ok (radio_volume_stored_nbytes (volume, &stored_nbytes));
  radio_volume_close (volume);
  assert_ok (rd_io_put (remote.memory, "ct/v000/0-00000000/c/0/0/0", "1234",
                        4, RD_PUT_REPLACE));
  assert_ok (radio_store_list_opened (remote.store, "ct", see_opened,
                                      &seen));
  assert_int_equal (seen.stored_nbytes, stored_nbytes);
  radio_store_close (remote.store);
}

static void
the_order_is_that_of_object_stores (void **state)
{
  (void) state;
  static const char *const paths[] = {
    "ct-x/z", "ct/a-1", "ct/a.b", "ct/a", "ct/a0"
  };
  char text[100];
  struct remote remote = make_remote (paths, 5);
  list_paths (remote.store, text, sizeof text);
  assert_string_equal (text, "ct-x/z ct/a-1 ct/a.b ct/a ct/a0");
  radio_store_close (remote.store);
}

static enum radio_status
see_bad (const struct radio_entry *entry, struct radio_volume *volume,
         uint64_t stored_nbytes, void *user_data)
{
  size_t *nbad = user_data;
  (void) stored_nbytes;
  assert_true ((volume == NULL) == (strcmp (entry->name, "b") == 0));
  if (volume == NULL) {
    assert_non_null (strstr (radio_error_message (), "ct/b"));
    ++*nbad;
  }
  return RADIO_OK;
}

static void
a_volume_that_cannot_be_opened_is_reported (void **state)
{
  (void) state;
  static const char *const paths[] = { "ct/a", "ct/b", "ct/c" };
  struct remote remote = make_remote (paths, 3);
  assert_ok (rd_io_put (remote.memory, "ct/b/zarr.json", "{", 1,
                        RD_PUT_REPLACE));
  for (int i = 0; i < 2; i++) {
    size_t nbad = 0;
    assert_ok (radio_store_list_opened (remote.store, NULL, see_bad, &nbad));
    assert_int_equal (nbad, 1);
  }
  radio_store_close (remote.store);
}

/*------------------------------------------------------------------------
 * Memory
 *----------------------------------------------------------------------*/

/* A store whose listings of collections never hold their names. */
struct endless {
  struct rd_wrap wrap;
  size_t nvolumes;
};

static enum radio_status
list_endless (struct rd_io *io, const char *prefix, bool recursive,
              rd_io_list_fn *fn, void *user_data)
{
  const struct endless *endless = (const struct endless *) io;
  struct rd_io *inner = endless->wrap.inner;
  if (!recursive)
    return inner->ops->list (inner, prefix, false, fn, user_data);
  for (size_t i = 0; i < endless->nvolumes; i++) {
    static const char *const objects[] = {
      "0-01234567/c/0/0/0", "0-01234567/zarr.json", "zarr.json"
    };
    for (size_t j = 0; j < 3; j++) {
      char name[64];
      snprintf (name, sizeof name, "v%09zu/%s", i, objects[j]);
      const struct rd_io_entry entry = { .name = name, .nbytes = 1 };
      RD_TRY (fn (&entry, user_data));
    }
  }
  return RADIO_OK;
}

static void
close_endless (struct rd_io *io)
{
  rd_wrap_finish ((struct rd_wrap *) io);
  free (io);
}

static enum radio_status
count (const struct radio_entry *entry, void *user_data)
{
  size_t *n = user_data;
  (void) entry;
  ++*n;
  return RADIO_OK;
}

/* The peak of memory while collections of nvolumes each are listed. */
static size_t
peak_of (size_t ncollections, size_t nvolumes)
{
  struct radio_store_options options = { .create = true };
  struct endless *endless = calloc (1, sizeof *endless);
  struct radio_store *store;
  struct rd_io *memory;
  size_t n = 0;
  assert_non_null (endless);
  assert_ok (rd_io_memory_open (&memory));
  for (size_t i = 0; i < ncollections; i++) {
    char key[32];
    snprintf (key, sizeof key, "c%02zu/zarr.json", i);
    assert_ok (rd_io_put (memory, key,
                          "{\"zarr_format\":3,\"node_type\":\"group\"}", 37,
                          RD_PUT_REPLACE));
  }
  assert_ok (rd_wrap_init (&endless->wrap, "endless", memory));
  endless->wrap.ops.close = close_endless;
  endless->wrap.ops.list = list_endless;
  endless->nvolumes = nvolumes;
  assert_ok (rd_store_open_io (&endless->wrap.base, &options, &store));
  /* Only for the listing: reads are done at once all the same. */
  endless->wrap.ops.is_blocking = false;
  alloc_peak_begin ();
  assert_ok (radio_store_list (store, NULL, count, &n));
  assert_int_equal (n, ncollections * nvolumes);
  size_t peak = alloc_peak ();
  radio_store_close (store);
  return peak;
}

static void
memory_does_not_grow_with_the_number_of_volumes (void **state)
{
  (void) state;
  size_t some = peak_of (1, 10), many = peak_of (1, 100000);
  assert_true (many <= some + 4096);
}

/* Those that are listed ahead wait. */
static void
memory_of_many_collections_is_bounded (void **state)
{
  (void) state;
  assert_true (peak_of (20, 10000) <= 16 << 20);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (names_take_as_many_requests_as_pages),
    cmocka_unit_test (opening_takes_one_request_more_for_each),
    cmocka_unit_test (a_second_level_is_not_counted),
    cmocka_unit_test (the_order_is_that_of_object_stores),
    cmocka_unit_test (a_volume_that_cannot_be_opened_is_reported),
    cmocka_unit_test (memory_does_not_grow_with_the_number_of_volumes),
    cmocka_unit_test (memory_of_many_collections_is_bounded),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
