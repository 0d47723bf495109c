/* SPDX-License-Identifier: MIT */
/* Removing and collecting that are ended early: at whichever question, they
 * leave no tombstone that would hinder others, a volume that is whole or
 * gone, and nothing that gc does not find. */
#include <config.h>

#include "tests/volume/bucket.h"

#define STORE "cancel.zarr"
#define TOMBSTONES "ct/a/.radio-gc"
#define LONG_S (10 * BUCKET_GRACE_S)

static const struct radio_ingest_options replacing = {
  .existing = RADIO_EXISTING_REPLACE,
};

/* Cancels at the n-th call of the callback. */
struct patience {
  unsigned n, nasked;
};

static bool
has_ended (void *user_data)
{
  struct patience *patience = user_data;
  return ++patience->nasked >= patience->n;
}

/* A volume in the place of another one, all of which is old. */
static void
prepare (struct bucket *bucket)
{
  struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
  struct nifti_spec small = small_spec (), other = other_spec ();
  must_ingest (store, "ct/a", &small, &replacing);
  must_ingest (store, "ct/a", &other, &replacing);
  radio_store_close (store);
  bucket_age (bucket, LONG_S);
}

typedef enum radio_status act_fn (struct radio_store *store);

static enum radio_status
act_until (struct bucket *bucket, act_fn *act, unsigned n)
{
  struct patience patience = { n, 0 };
  struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
  store->cancel = has_ended;
  store->user_data = &patience;
  enum radio_status status = act (store);
  assert_int_equal (status, patience.nasked < n ? RADIO_OK
                                                : RADIO_ERROR_CANCELLED);
  assert_int_equal (count_objects (store, TOMBSTONES), 0);
  radio_store_close (store);
  return status;
}

static enum radio_status
remove_volume (struct radio_store *store)
{
  enum radio_status status = radio_store_remove (store, "ct/a");
  char message[300], paths[100];
  snprintf (message, sizeof message, "%s", radio_error_message ());
  list_paths (store, paths, sizeof paths);
  bool is_gone = paths[0] == '\0';
  if (status != RADIO_OK)
    assert_non_null (strstr (message, is_gone
                             ? "ct/a: removed, but not all of its data"
                             : "ct/a: cancelled before anything"));
  if (!is_gone) {
    struct nifti_spec spec = other_spec ();
    assert_int_not_equal (status, RADIO_OK);
    assert_volume_is (store, "ct/a", &spec);
  }
  return status;
}

static enum radio_status
collect (struct radio_store *store)
{
  struct nifti_spec spec = other_spec ();
  struct radio_gc_result result = { .removed_count = 99 };
  enum radio_status status = radio_store_gc (store, false, &result);
  /* A level, and a chunk of its header array. */
  assert_true (result.removed_count <= 2);
  if (status == RADIO_OK)
    assert_int_equal (result.removed_count, 2);
  else
    assert_non_null (strstr (radio_error_message (), "the next gc removes"));
  assert_volume_is (store, "ct/a", &spec);
  return status;
}

/* The documents of the store and of the collection stay. */
static void
assert_all_is_found (struct bucket *bucket)
{
  bucket_age (bucket, LONG_S);
  struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
  char paths[100];
  assert_ok (radio_store_gc (store, false, NULL));
  list_paths (store, paths, sizeof paths);
  if (paths[0] == '\0')
    assert_int_equal (count_objects (store, "ct"), 1);
  else
    assert_clean_after_gc (store, 2);
  radio_store_close (store);
}

/* path: of a store on the disk, or NULL: as in S3. */
static void
cancel_everywhere (act_fn *act, const char *path, unsigned nleast)
{
  unsigned n = 0;
  enum radio_status status;
  struct bucket *bucket = bucket_make (path);
  do {
    prepare (bucket);
    status = act_until (bucket, act, ++n);
    assert_all_is_found (bucket);
  } while (status != RADIO_OK);
  assert_true (n > nleast);
  bucket_free (bucket);
  if (path)
    remove_all (path);
}

static void
a_removal_ends_at_each_question (void **state)
{
  (void) state;
  cancel_everywhere (remove_volume, NULL, 3);
  cancel_everywhere (remove_volume, STORE, 3);
}

static void
a_gc_ends_at_each_question (void **state)
{
  (void) state;
  cancel_everywhere (collect, NULL, 3);
  cancel_everywhere (collect, STORE, 3);
}

static enum radio_status
only_remove (struct radio_store *store)
{
  return radio_store_remove (store, "ct/a");
}

static enum radio_status
only_collect (struct radio_store *store)
{
  return radio_store_gc (store, false, NULL);
}

/* It is asked by what is read, too. */
static void
the_threads_function_is_asked_as_well (void **state)
{
  static act_fn *const acts[] = { only_remove, only_collect };
  (void) state;
  for (size_t i = 0; i < 2; i++) {
    struct bucket *bucket = bucket_make (STORE);
    struct patience patience = { 0, 0 };
    enum radio_status status;
    do {
      prepare (bucket);
      struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
      patience = (struct patience) { patience.n + 1, 0 };
      radio_thread_set_cancel (has_ended, &patience);
      status = acts[i] (store);
      radio_thread_set_cancel (NULL, NULL);
      assert_int_equal (status, patience.nasked < patience.n
                                ? RADIO_OK : RADIO_ERROR_CANCELLED);
      assert_int_equal (count_objects (store, TOMBSTONES), 0);
      radio_store_close (store);
      assert_all_is_found (bucket);
    } while (status != RADIO_OK);
    assert_true (patience.n > 3);
    bucket_free (bucket);
    remove_all (STORE);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_removal_ends_at_each_question),
    cmocka_unit_test (a_gc_ends_at_each_question),
    cmocka_unit_test (the_threads_function_is_asked_as_well),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
