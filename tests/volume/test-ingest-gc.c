/* SPDX-License-Identifier: MIT */
/* Ingests that replace a volume while other processes remove or replace it,
 * in a store whose locks do not exclude them: at any operation where one
 * begins, stops or resumes, the volume is gone or whole with its header
 * array. */
#include <config.h>

#include "tests/volume/beside.h"

#define LONG_S (10 * BUCKET_GRACE_S)

static enum radio_status
remove_volume (struct radio_store *store)
{
  enum radio_status status = radio_store_remove (store, "ct/a");
  return status == RADIO_ERROR_NOT_FOUND ? RADIO_OK : status;
}

static enum radio_status
collect (struct radio_store *store)
{
  return radio_store_gc (store, false, NULL);
}

static struct nifti_spec
third_spec (void)
{
  struct nifti_spec spec = small_spec ();
  spec.datatype = 2;
  spec.descrip = "of somebody else";
  return spec;
}

static const struct radio_ingest_options replacing = {
  .existing = RADIO_EXISTING_REPLACE,
};

static enum radio_status
ingest_third (struct radio_store *store)
{
  struct nifti_spec spec = third_spec ();
  must_ingest (store, "ct/a", &spec, &replacing);
  return RADIO_OK;
}

static void
ingest_other (struct radio_store *store, void *user_data)
{
  struct nifti_spec spec = other_spec ();
  (void) user_data;
  must_ingest (store, "ct/a", &spec, &replacing);
}

/* A volume that all of is old. */
static void
put_old_volume (struct bucket *bucket)
{
  struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
  struct nifti_spec spec = small_spec ();
  must_ingest (store, "ct/a", &spec, &replacing);
  radio_store_close (store);
  bucket_age (bucket, LONG_S);
}

/* Leaves the header array, as a removal that was killed does. */
static void
leave_header (struct bucket *bucket)
{
  put_old_volume (bucket);
  struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
  assert_ok (store->io->ops->remove (store->io, "ct/a/zarr.json"));
  radio_store_close (store);
}

static void
assert_header_is_right (struct radio_store *store)
{
  struct radio_gc_result result;
  assert_ok (radio_store_gc (store, true, &result));
  assert_int_equal (result.repaired_count, 0);
}

static bool
is_there (struct radio_store *store)
{
  char paths[100];
  list_paths (store, paths, sizeof paths);
  return paths[0] != '\0';
}

/* Either of two that replace a volume may be the last. */
static void
assert_volume_is_one_of (struct radio_store *store,
                         const struct nifti_spec *one,
                         const struct nifti_spec *other)
{
  struct radio_volume *volume;
  struct radio_volume_info info;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  radio_volume_get_info (volume, &info);
  bool is_one = strstr ((const char *) info.header + 148, one->descrip);
  radio_volume_close (volume);
  assert_volume_is (store, "ct/a", is_one ? one : other);
}

/* Now, and when all that was begun has become old.  Returns whether the
 * volume is there. */
static bool
assert_whole_or_gone (struct bucket *bucket)
{
  struct nifti_spec other = other_spec (), third = third_spec ();
  struct radio_store *store = bucket_open (bucket, true, NULL, NULL);
  bool is_whole = is_there (store);
  assert_header_is_right (store);
  if (is_whole)
    assert_volume_is_one_of (store, &other, &third);
  bucket_age (bucket, LONG_S);
  if (is_whole) {
    assert_clean_after_gc (store, 2);
    assert_volume_is_one_of (store, &other, &third);
  }
  radio_store_close (store);
  return is_whole;
}

/* How often the volume was whole, and gone. */
struct outcomes {
  unsigned nwhole, ngone;
};

/* The other one, begun at one operation of the ingest, is stopped at each of
 * its own in turn, and resumes soon or after the ingest.  Returns the number
 * of operations that this takes. */
static uint64_t
stop_everywhere (struct bucket_plan plan, bool goes_on_late,
                 void (*prepare) (struct bucket *bucket),
                 struct outcomes *outcomes)
{
  uint64_t nops;
  bool was_stopped = true;
  plan.bucket = bucket_make (NULL);
  for (plan.stop = 1; was_stopped; plan.stop++) {
    plan.resume = goes_on_late ? BUCKET_NEVER
                               : plan.start + plan.stop % 5 * 2;
    prepare (plan.bucket);
    was_stopped = bucket_beside (&plan, ingest_other, NULL, &nops);
    bool is_whole = assert_whole_or_gone (plan.bucket);
    outcomes->nwhole += is_whole;
    outcomes->ngone += !is_whole;
  }
  bucket_free (plan.bucket);
  return nops;
}

static struct outcomes
beside_everywhere (bucket_other_fn *other,
                   void (*prepare) (struct bucket *bucket))
{
  struct outcomes outcomes = { 0 };
  struct bucket_plan plan = { .other = other, .start = 1 };
  uint64_t nops = 1;
  for (; plan.start <= nops; plan.start++)
    nops = stop_everywhere (plan, plan.start % 3 == 1, prepare, &outcomes);
  assert_true (outcomes.nwhole + outcomes.ngone > 200);
  return outcomes;
}

static void
an_ingest_beside_rm_is_whole_or_gone (void **state)
{
  (void) state;
  struct outcomes outcomes = beside_everywhere (remove_volume,
                                                put_old_volume);
  assert_true (outcomes.nwhole > 10 && outcomes.ngone > 10);
}

static void
an_ingest_outlives_a_gc_at_each_step (void **state)
{
  (void) state;
  assert_int_equal (beside_everywhere (collect, leave_header).ngone, 0);
  assert_int_equal (beside_everywhere (collect, put_old_volume).ngone, 0);
}

static void
of_two_ingests_one_is_whole (void **state)
{
  (void) state;
  assert_int_equal (beside_everywhere (ingest_third, put_old_volume).ngone,
                    0);
}

/* Other programs read a header at any time. */
static void
assert_header_decodes (struct radio_store *store, void *user_data)
{
  unsigned *nstale = user_data;
  struct radio_volume *volume;
  struct radio_check check;
  enum radio_status status = RADIO_ERROR_NOT_FOUND;
  for (int i = 0; i < 2 && status == RADIO_ERROR_NOT_FOUND; i++) {
    assert_ok (radio_volume_open (store, "ct/a", &volume));
    status = radio_volume_validate (volume, &check, NULL, NULL);
    radio_volume_close (volume);      /* or replaced meanwhile */
  }
  assert_ok (status);
  enum rd_header_state state = header_state (store, "ct/a");
  assert_int_not_equal (state, RD_HEADER_BAD);
  *nstale += state == RD_HEADER_STALE;
}

static void
ingest_and_read (struct radio_store *store, void *user_data)
{
  ingest_other (store, NULL);
  assert_header_decodes (store, user_data);
}

/* One that is stopped, and not resumed before the end, is as good as dead.
 * Returns the number of operations that the main one takes. */
static uint64_t
die_everywhere (uint64_t start,
                void (*run) (struct radio_store *store, void *user_data),
                unsigned *nstale)
{
  struct bucket_plan plan = {
    .other = ingest_third, .start = start, .resume = BUCKET_NEVER,
  };
  uint64_t nops = 0;
  bool was_stopped = true;
  for (plan.stop = 1; was_stopped; plan.stop++) {
    plan.bucket = bucket_make (NULL);
    put_old_volume (plan.bucket);
    was_stopped = bucket_beside (&plan, run, nstale, &nops);
    bucket_free (plan.bucket);
  }
  return nops;
}

static void
a_header_decodes_after_each_death_of_an_ingest (void **state)
{
  (void) state;
  unsigned nstale = 0;
  die_everywhere (1, assert_header_decodes, &nstale);
  assert_true (nstale > 0);
  /* Beside another, which chooses a key as well. */
  uint64_t nops = 1;
  for (uint64_t start = 1; start <= nops; start += 2)
    nops = die_everywhere (start, ingest_and_read, &nstale);
}

/* Which keys were used, in order. */
struct keys {
  size_t n;
  char keys[32][64];
};

static void
add_key (uint64_t n, const char *key, void *user_data)
{
  struct keys *keys = user_data;
  (void) n;
  assert_true (keys->n < 32);
  snprintf (keys->keys[keys->n++], sizeof keys->keys[0], "%s", key);
}

/* A listing shows that nothing is there; five objects are put; the volume is
 * locked three times and its level once, which takes no request; and the
 * header array is read again.  The collection is not asked for again. */
static void
a_new_volume_takes_few_requests (void **state)
{
  (void) state;
  struct keys keys = { 0 };
  struct nifti_spec spec = small_spec ();
  struct bucket *bucket = bucket_make (NULL);
  struct radio_store *store = bucket_open (bucket, true, add_key, &keys);
  must_ingest (store, "ct/a", &spec, NULL);
  keys.n = 0;
  must_ingest (store, "ct/b", &spec, NULL);
  if (keys.n > 12)
    for (size_t i = 0; i < keys.n; i++)
      print_message ("# %s\n", keys.keys[i]);
  assert_in_range (keys.n, 1, 12);
  for (size_t i = 0; i < keys.n; i++)
    assert_int_equal (strncmp (keys.keys[i], "ct/b", 4), 0);
  radio_store_close (store);
  bucket_free (bucket);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_new_volume_takes_few_requests),
    cmocka_unit_test (an_ingest_beside_rm_is_whole_or_gone),
    cmocka_unit_test (an_ingest_outlives_a_gc_at_each_step),
    cmocka_unit_test (of_two_ingests_one_is_whole),
    cmocka_unit_test (a_header_decodes_after_each_death_of_an_ingest),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
