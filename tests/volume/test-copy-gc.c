/* SPDX-License-Identifier: MIT */
/* Copies that resume an earlier one, while another process removes data that
 * no document names: at any operation where one begins, stops or resumes, the
 * copy that succeeds is whole, and stays so. */
#include <config.h>

#include "tests/volume/beside.h"

#define STORE "copy.zarr"
#define DOCUMENT "ct/a/zarr.json"
#define TOMBSTONES "ct/a/.radio-gc"

static enum radio_status
collect (struct radio_store *store)
{
  return radio_store_gc (store, false, NULL);
}

static enum radio_status
remove_volume (struct radio_store *store)
{
  enum radio_status status = radio_store_remove (store, "ct/a");
  return status == RADIO_ERROR_NOT_FOUND ? RADIO_OK : status;
}

static enum radio_status
copy_by (struct radio_store *from, struct radio_store *to)
{
  const struct radio_copy_options options = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  struct radio_copy_result result;
  RD_TRY (radio_volume_copy (from, "ct/a", to, NULL, &options, &result));
  assert_int_equal (result.sent_count + result.there_count,
                    count_shards (from));
  return RADIO_OK;
}

static void
must_copy (struct radio_store *to, void *from)
{
  assert_ok (copy_by (from, to));
}

/* A death right before the document leaves it so. */
static void
leave_without_document (struct bucket *bucket, struct radio_store *from)
{
  struct radio_store *to = bucket_open (bucket, true, NULL, NULL);
  assert_ok (copy_by (from, to));
  assert_ok (to->io->ops->remove (to->io, DOCUMENT));
  radio_store_close (to);
  bucket_age (bucket, 10 * BUCKET_GRACE_S);
}

static bool
has_volume (struct radio_store *store)
{
  char paths[100];
  list_paths (store, paths, sizeof paths);
  return paths[0] != '\0';
}

/* Now, and when all that was begun has become old. */
static void
assert_whole_for_good (struct bucket *bucket, struct radio_store *from)
{
  struct radio_store *to = bucket_open (bucket, true, NULL, NULL);
  assert_same_objects (from, "ct/a", to, "ct/a");
  bucket_age (bucket, 10 * BUCKET_GRACE_S);
  assert_clean_after_gc (to, 2);
  assert_same_objects (from, "ct/a", to, "ct/a");
  radio_store_close (to);
}

/* The remover is stopped at each of its operations in turn. */
static void
stop_everywhere (struct bucket *bucket, struct radio_store *from,
                 const struct bucket_plan *plan, uint64_t *nops)
{
  struct bucket_plan now = *plan;
  bool was_stopped = true;
  for (now.stop = 1; was_stopped; now.stop++) {
    leave_without_document (bucket, from);
    was_stopped = bucket_beside (&now, must_copy, from, nops);
    assert_whole_for_good (bucket, from);
  }
  assert_true (now.stop > 5);
}

/* It checked before the copy began, and resumes at any moment. */
static void
a_copy_outlives_a_gc_that_was_under_way (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct bucket *bucket = bucket_make (NULL);
  struct bucket_plan plan = { bucket, collect, 1, 0, 2, 0 };
  uint64_t nops = 2;
  for (; plan.resume <= nops; plan.resume++)
    stop_everywhere (bucket, from, &plan, &nops);
  plan.resume = BUCKET_NEVER;
  stop_everywhere (bucket, from, &plan, &nops);
  assert_true (nops > 20);
  bucket_free (bucket);
  radio_store_close (from);
}

/* For a copy that takes so long nothing is young any more. */
static void
a_copy_outlives_a_gc_after_the_grace_time (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct bucket *bucket = bucket_make (NULL);
  struct bucket_plan plan = {
    bucket, collect, 1, BUCKET_NEVER, BUCKET_NEVER, 10 * BUCKET_GRACE_S
  };
  uint64_t nops = 1;
  for (; plan.start <= nops; plan.start++) {
    leave_without_document (bucket, from);
    bucket_beside (&plan, must_copy, from, &nops);
    assert_whole_for_good (bucket, from);
    plan.resume = plan.start + 4;
    if (plan.start % 5 == 0)
      stop_everywhere (bucket, from, &plan, &nops);
    plan.resume = BUCKET_NEVER;
  }
  assert_true (nops > 20);
  bucket_free (bucket);
  radio_store_close (from);
}

/* Copies a volume that the store has already: it is whole, or gone. */
static void
a_copy_beside_rm_is_whole_or_gone (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct bucket *bucket = bucket_make (NULL);
  struct radio_store *to = bucket_open (bucket, true, NULL, NULL);
  struct bucket_plan plan = { bucket, remove_volume, 1, 0, 0, 0 };
  unsigned nwhole = 0, ngone = 0;
  uint64_t nops = 1;
  for (; plan.start <= nops; plan.start += 3) {
    bool was_stopped = true;
    for (plan.stop = 1; was_stopped; plan.stop++) {
      assert_ok (copy_by (from, to));
      bucket_age (bucket, 10 * BUCKET_GRACE_S);
      plan.resume = plan.start + plan.stop % 7 * 4;
      was_stopped = bucket_beside (&plan, must_copy, from, &nops);
      bool is_there = has_volume (to);
      if (is_there)
        assert_whole_for_good (bucket, from);
      nwhole += is_there;
      ngone += !is_there;
    }
  }
  assert_true (nwhole > 10 && ngone > 10);
  radio_store_close (to);
  bucket_free (bucket);
  radio_store_close (from);
}

/* On a disk the locks keep it off. */
static void
a_copy_on_a_disk_outlives_a_gc_at_each_step (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct bucket *bucket = bucket_make (STORE);
  struct bucket_plan plan = {
    bucket, collect, 1, BUCKET_NEVER, BUCKET_NEVER, 0
  };
  uint64_t nops = 1;
  for (; plan.start <= nops; plan.start++) {
    leave_without_document (bucket, from);
    bucket_beside (&plan, must_copy, from, &nops);
    assert_whole_for_good (bucket, from);
  }
  assert_true (nops > 20);
  bucket_free (bucket);
  radio_store_close (from);
  remove_all (STORE);
}

static void
put_tombstone (struct bucket *bucket, size_t nbytes)
{
  struct radio_store *to = bucket_open (bucket, true, NULL, NULL);
  assert_ok (rd_io_put (to->io, TOMBSTONES "/0-01234567", "x", nbytes,
                        RD_PUT_REPLACE));
  radio_store_close (to);
}

/* A process that may write but not remove leaves one; any that may remove does
 * so. */
static void
an_empty_tombstone_does_not_count (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct bucket *bucket = bucket_make (NULL);
  struct radio_store *to = bucket_open (bucket, true, NULL, NULL);
  put_tombstone (bucket, 0);
  assert_ok (copy_by (from, to));
  assert_int_equal (count_objects (to, TOMBSTONES), 0);
  radio_store_close (to);
  assert_whole_for_good (bucket, from);
  bucket_free (bucket);
  radio_store_close (from);
}

/* The copy names the tombstone that it waited for; whether it was published
 * before or not, everything that can be repaired is repaired. */
static void
a_copy_that_waited_in_vain_names_the_tombstone (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct bucket *bucket = bucket_make (NULL);
  struct radio_store *to = bucket_open (bucket, true, NULL, NULL);
  put_tombstone (bucket, 1);
  assert_fails (copy_by (from, to), RADIO_ERROR_IO,
                "data of this volume (ct/a/.radio-gc/0-01234567)");
  bucket_age (bucket, 3600);
  assert_ok (copy_by (from, to));
  radio_store_close (to);
  assert_whole_for_good (bucket, from);
  bucket_free (bucket);
  radio_store_close (from);
}

static void
an_abandoned_tombstone_is_swept (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct bucket *bucket = bucket_make (NULL);
  struct radio_gc_result result;
  struct radio_store *to = bucket_open (bucket, true, NULL, NULL);
  assert_ok (copy_by (from, to));
  put_tombstone (bucket, 1);
  assert_ok (radio_store_gc (to, false, &result));
  assert_int_equal (result.removed_count, 0);
  bucket_age (bucket, 3599);
  assert_ok (radio_store_gc (to, false, &result));
  assert_int_equal (result.removed_count, 0);
  assert_int_equal (count_objects (to, TOMBSTONES), 1);
  bucket_age (bucket, 1);
  for (int is_dry = 1; is_dry >= 0; is_dry--) {
    assert_ok (radio_store_gc (to, is_dry, &result));
    assert_int_equal (result.removed_count, 1);
    assert_int_equal (count_objects (to, TOMBSTONES), is_dry);
  }
  radio_store_close (to);
  assert_whole_for_good (bucket, from);
  bucket_free (bucket);
  radio_store_close (from);
}

static void
count_look (uint64_t n, const char *key, void *user_data)
{
  unsigned *nlooks = user_data;
  (void) n;
  *nlooks += strcmp (key, TOMBSTONES) == 0;
}

static enum radio_status
end_after_looks (const struct radio_progress *progress, void *user_data)
{
  const unsigned *nlooks = user_data;
  (void) progress;
  return *nlooks >= 3 ? RADIO_ERROR_CANCELLED : RADIO_OK;
}

/* The objects that it has copied stay. */
static void
a_copy_that_waits_for_a_tombstone_can_be_cancelled (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct bucket *bucket = bucket_make (NULL);
  unsigned nlooks = 0;
  const struct radio_copy_options options = {
    .progress = end_after_looks, .user_data = &nlooks,
  };
  struct radio_copy_result result;
  put_tombstone (bucket, 1);
  struct radio_store *to = bucket_open (bucket, true, count_look, &nlooks);
  assert_fails (radio_volume_copy (from, "ct/a", to, NULL, &options, NULL),
                RADIO_ERROR_CANCELLED, "cancelled");
  assert_no_volume (to);
  assert_ok (to->io->ops->remove_tree (to->io, TOMBSTONES));
  nlooks = 0;
  assert_ok (radio_volume_copy (from, "ct/a", to, NULL, NULL, &result));
  assert_int_equal (result.sent_count, 0);
  radio_store_close (to);
  assert_whole_for_good (bucket, from);
  bucket_free (bucket);
  radio_store_close (from);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_copy_outlives_a_gc_that_was_under_way),
    cmocka_unit_test (a_copy_outlives_a_gc_after_the_grace_time),
    cmocka_unit_test (a_copy_beside_rm_is_whole_or_gone),
    cmocka_unit_test (a_copy_on_a_disk_outlives_a_gc_at_each_step),
    cmocka_unit_test (an_abandoned_tombstone_is_swept),
    cmocka_unit_test (an_empty_tombstone_does_not_count),
    cmocka_unit_test (a_copy_that_waited_in_vain_names_the_tombstone),
    cmocka_unit_test (a_copy_that_waits_for_a_tombstone_can_be_cancelled),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
