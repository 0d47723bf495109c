/* SPDX-License-Identifier: MIT */
/* Statistics that are kept in a volume: which pipelines need no pass then, and
 * when they are not believed.  tests/interop/test_pipelines.py compares with
 * numpy. */
#include <config.h>

#include <math.h>

#include "src/volume/stats/kept-stats.h"
#include "tests/alloc-fail.h"
#include "tests/profile-tree.h"
#include "tests/volume/fixture.h"

static struct radio_volume *
must_open (struct radio_store *store)
{
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  return volume;
}

static struct radio_volume *
derive (struct radio_store *store, const char *text)
{
  return must_derive (must_open (store), text);
}

static size_t
count_passes (struct radio_store *store, const char *text)
{
  struct radio_volume *volume = derive (store, text);
  size_t passes = 99;
  assert_ok (radio_volume_passes (volume, &passes));
  radio_volume_close (volume);
  return passes;
}

/* Reads one voxel and returns the tiles that it took. */
static uint64_t
count_tiles_of_voxel (struct radio_store *store, const char *text)
{
  const struct radio_box box = { .rank = 3, .size = { 1, 1, 1 } };
  struct radio_volume *volume = derive (store, text);
  uint64_t ntiles = count_tiles (volume, &box);
  radio_volume_close (volume);
  return ntiles;
}

static void
keep (struct radio_store *store)
{
  struct radio_volume *volume = must_open (store);
  struct radio_stats stats, want;
  assert_ok (radio_volume_stats (volume, false, &want));
  assert_ok (radio_volume_keep_stats (volume, &stats));
  assert_memory_equal (&stats, &want, sizeof want);
  assert_ok (radio_volume_keep_stats (volume, NULL));
  radio_volume_close (volume);
}

/* The pipelines whose statistics are kept, and others. */
static const char *const kept_ones[] = {
  "znorm", "znorm of nonzero", "rescale 0,1", "rescale -1,1 from p1,p99",
  "rescale 0,1 from p0.5,p99.5", "rescale 0,1 from p0,p100",
  "flip x | rot90 xy | reorient LPS | znorm",
  "clamp -1000,400 | rescale 0,1", "linear -3,0.1 | rescale -1,1 from p0,p100",
  "flip x | znorm | window bone | rescale 5,2 | rescale 0,1",
};
#define NKEPT (sizeof kept_ones / sizeof *kept_ones)
static const char *const others[] = {
  "rescale 0,1 from p1,p98.5", "clamp 0,9 | znorm", "pad 1 edge | znorm",
  "clamp 0,9 | rescale 0,1 from p1,p99", "crop :3,:,: | rescale 0,1",
  "clamp 1,9 | gamma 2 | rescale 0,1",
};
#define NOTHERS (sizeof others / sizeof *others)

static void
pipelines_take_kept_statistics_instead_of_a_pass (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  const struct radio_ingest_options options = { .tiling = "4,3,2" };
  /* int16, scaled down; float32. */
  for (int turn = 0; turn < 3; turn++) {
    struct radio_store *store = must_open_store ("s");
    struct radio_elements elements[NKEPT];
    spec.scl_slope = turn == 1 ? -0.3 : 1;
    spec.scl_inter = turn == 1 ? 7 : 0;
    spec.datatype = turn == 2 ? 16 : 4;
    must_ingest (store, "ct/a", &spec, &options);
    radio_store_close (store);
    for (size_t i = 0; i < NKEPT; i++) {
      /* Its context has nothing of the others'. */
      store = must_open_store ("s");
      struct radio_volume *volume = derive (store, kept_ones[i]);
      size_t passes;
      assert_ok (radio_volume_passes (volume, &passes));
      assert_int_equal (passes, i < NKEPT - 1 ? 1 : 3);
      assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                          &elements[i]));
      assert_ok (radio_volume_passes (volume, &passes));
      assert_int_equal (passes, 0);
      /* A turned image has the statistics of the image, and a monotonic step
       * has its extremes. */
      assert_int_equal (count_passes (store, "rot90 xy | znorm"),
                        !strstr (kept_ones[i], "znorm")
                        || strstr (kept_ones[i], "of nonzero"));
      assert_int_equal (count_passes (store, "clamp 0,1 | rescale 0,1"),
                        strcmp (kept_ones[i], "rescale 0,1") != 0);
      radio_volume_close (volume);
      radio_store_close (store);
    }
    store = must_open_store ("s");
    keep (store);
    radio_store_close (store);

    /* Another context has nothing of that. */
    store = must_open_store ("s");
    for (size_t i = 0; i < NKEPT; i++) {
      struct radio_elements again;
      assert_int_equal (count_passes (store, kept_ones[i]), 0);
      assert_int_equal (count_tiles_of_voxel (store, kept_ones[i]), 1);
      struct radio_volume *volume = derive (store, kept_ones[i]);
      assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                          &again));
      assert_int_equal (again.nbytes, elements[i].nbytes);
      assert_memory_equal (again.data, elements[i].data, again.nbytes);
      radio_free (again.data);
      radio_free (elements[i].data);
      radio_volume_close (volume);
    }
    for (size_t i = 0; i < NOTHERS; i++)
      assert_int_equal (count_passes (store, others[i]), 1);
    assert_int_equal (count_passes (store, "linear 1,0"), 0);
    assert_int_equal (count_passes (store, "znorm | rescale 0,1 from p1,p99"),
                      1);
    radio_store_close (store);
    remove_all ("s");
  }
}

/* Clamping makes them finite. */
static void
infinite_values_may_be_extremes_later (void **state)
{
  (void) state;
  static const char text[] = "clamp -1e9,1e9 | rescale 0,1";
  struct nifti_spec spec = small_spec ();
  struct bytes_source source BYTES_SOURCE_SCOPE;
  struct radio_ingest_result result;
  struct radio_elements elements;
  spec.datatype = 16;
  bytes_source_open (&source, &spec);
  spec_put_float (&spec, &source.file, source.file.nbytes - 4, INFINITY);
  struct radio_store *store = must_open_store ("s");
  assert_ok (rd_ingest_source (store, &source.source, "ct/a", NULL, &result));
  keep (store);
  assert_int_equal (count_passes (store, "rescale 0,1"), 0);
  assert_int_equal (count_passes (store, text), 1);
  struct radio_volume *volume = derive (store, text);
  assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_FLOAT32, NULL,
                                      &elements));
  const float *values = elements.data;
  assert_true (values[elements.nbytes / sizeof *values - 1] == 1);
  radio_free (elements.data);
  radio_volume_close (volume);
  radio_store_close (store);
  remove_all ("s");
}

static char *
key_of (struct radio_store *store, const char *name)
{
  struct radio_volume *volume = must_open (store);
  char *key = rd_key_join (volume->array->path, name);
  radio_volume_close (volume);
  assert_non_null (key);
  return key;
}

static enum radio_status
validate (struct radio_store *store)
{
  struct radio_volume *volume = must_open (store);
  enum radio_status status = radio_volume_validate (volume, NULL, NULL, NULL);
  radio_volume_close (volume);
  return status;
}

/* Opens a store by another context. */
static void
open_again_at (struct radio_store **store, const char *uri)
{
  radio_store_close (*store);
  *store = must_open_store (uri);
}

static void
open_again (struct radio_store **store)
{
  open_again_at (store, "s");
}

static void
damaged_statistics_are_ignored_and_found_by_validation (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct radio_store *store = must_open_store ("s");
  must_ingest (store, "ct/a", &spec, NULL);
  keep (store);
  char *key RD_FREE = key_of (store, "statistics.json");
  assert_ok (rd_io_read_all (store->io, key, 1 << 16, &text));
  assert_ok (validate (store));
  /* Every byte: also those of the checksum and of the level's name. */
  for (size_t i = 0; i + 4 < text.nbytes; i += 7) {
    open_again (&store);
    text.data[i] ^= 1;
    assert_ok (rd_io_put (store->io, key, text.data, text.nbytes,
                          RD_PUT_REPLACE));
    assert_int_equal (count_passes (store, "znorm"), 1);
    if (i % 49 == 0)
      assert_int_equal (validate (store), RADIO_ERROR_CHECKSUM);
    text.data[i] ^= 1;
  }
  static const char *const bad[] = {
    "", "{}", "[]", "null", "{\"level\": 3}", "{\"crc32c\": 0}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    open_again (&store);
    assert_ok (rd_io_put (store->io, key, bad[i], strlen (bad[i]),
                          RD_PUT_REPLACE));
    assert_int_equal (count_passes (store, "znorm"), 1);
  }
  /* An unreadable object, here a folder, counts as not kept. */
  open_again (&store);
  char *inner RD_FREE = rd_key_join (key, "x");
  assert_ok (rd_io_remove (store->io, key));
  assert_ok (rd_io_put (store->io, inner, "x", 1, RD_PUT_REPLACE));
  assert_int_equal (count_passes (store, "znorm"), 1);
  assert_int_equal (count_tiles_of_voxel (store, "znorm"), 1 + 1);
  assert_ok (store->io->ops->remove_tree (store->io, key));
  /* Wrong figures with a right checksum are found by computing them. */
  struct radio_volume *volume = must_open (store);
  struct rd_kept_stats kept, again;
  enum rd_kept_state kept_state;
  struct radio_stats full;
  assert_ok (rd_kept_stats_compute (volume, &kept, &full));
  assert_ok (rd_kept_stats_put (volume, &kept));
  assert_ok (validate (store));
  kept.all.mean += 1e-9;
  assert_ok (rd_kept_stats_put (volume, &kept));
  assert_int_equal (validate (store), RADIO_ERROR_CHECKSUM);
  assert_ok (rd_kept_stats_get (volume, NULL, &again, &kept_state));
  assert_int_equal (kept_state, RD_KEPT_CURRENT);
  assert_true (rd_kept_stats_equal (&kept, &again));
  radio_volume_close (volume);
  radio_store_close (store);
  remove_all ("s");
}

static void
statistics_of_other_data_are_not_believed (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec (), other = other_spec ();
  const struct radio_ingest_options replace = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer shard RD_BUFFER_SCOPE = { 0 };
  struct rd_kept_stats kept;
  struct radio_stats full;
  struct radio_store *store = must_open_store ("s");
  must_ingest (store, "ct/a", &spec, NULL);
  keep (store);
  char *key RD_FREE = key_of (store, "statistics.json");
  char *shard_key RD_FREE = key_of (store, "c/0/0/0");
  assert_ok (rd_io_read_all (store->io, key, 1 << 16, &text));
  assert_ok (rd_io_read_all (store->io, shard_key, 1 << 20, &shard));

  /* A shard that another program wrote. */
  open_again (&store);
  assert_int_equal (count_passes (store, "znorm"), 0);
  open_again (&store);
  shard.data[shard.nbytes - 1] ^= 1;
  assert_ok (rd_io_put (store->io, shard_key, shard.data, shard.nbytes,
                        RD_PUT_REPLACE));
  assert_int_equal (count_passes (store, "znorm"), 1);
  assert_ok (rd_io_remove (store->io, shard_key));
  assert_int_equal (count_passes (store, "znorm"), 1);

  /* A volume that is replaced while its handle is open. */
  shard.data[shard.nbytes - 1] ^= 1;
  assert_ok (rd_io_put (store->io, shard_key, shard.data, shard.nbytes,
                        RD_PUT_REPLACE));
  struct radio_volume *volume = must_open (store);
  assert_ok (rd_kept_stats_compute (volume, &kept, &full));
  must_ingest (store, "ct/a", &other, &replace);
  assert_fails (rd_kept_stats_put (volume, &kept), RADIO_ERROR_NOT_FOUND,
                "the volume was replaced while");
  radio_volume_close (volume);
  assert_int_equal (count_passes (store, "znorm"), 1);
  char *other_key RD_FREE = key_of (store, "statistics.json");
  assert_string_not_equal (key, other_key);
  assert_ok (rd_io_put (store->io, other_key, text.data, text.nbytes,
                        RD_PUT_REPLACE));
  assert_int_equal (count_passes (store, "znorm"), 1);
  assert_ok (validate (store));
  radio_store_close (store);
  remove_all ("s");
}

static void
a_copy_has_what_is_kept_unless_it_is_damaged (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  const struct radio_copy_options by_store = { .by_store = true };
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct radio_store *store = must_open_store ("s");
  struct radio_store *other = must_open_store ("t");
  must_ingest (store, "mr/b", &spec, NULL);
  assert_ok (radio_volume_copy (store, "mr/b", store, "ct/a", NULL, NULL));
  keep (store);
  assert_ok (radio_volume_copy (store, "ct/a", other, NULL, NULL, NULL));
  assert_int_equal (count_passes (other, "znorm"), 0);
  assert_ok (validate (other));
  assert_ok (radio_volume_copy (store, "ct/a", other, "mr/c", NULL, NULL));
  assert_ok (radio_store_remove (other, "ct/a"));
  assert_ok (radio_volume_copy (other, "mr/c", other, "ct/a", &by_store,
                                NULL));
  assert_ok (radio_store_remove_copied (other, "mr/c", "ct/a"));
  open_again_at (&other, "t");
  assert_int_equal (count_passes (other, "znorm"), 0);
  assert_ok (validate (other));
  assert_ok (radio_store_remove (other, "ct/a"));
  char *key RD_FREE = key_of (store, "statistics.json");
  assert_ok (rd_io_read_all (store->io, key, 1 << 16, &text));
  text.data[text.nbytes / 2] ^= 1;
  assert_ok (rd_io_put (store->io, key, text.data, text.nbytes,
                        RD_PUT_REPLACE));
  assert_ok (radio_volume_copy (store, "ct/a", other, NULL, NULL, NULL));
  assert_ok (validate (other));
  radio_store_close (store);
  radio_store_close (other);
  remove_all ("s");
  remove_all ("t");
}

static void
what_cannot_keep_statistics_says_why (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct radio_stats stats;
  struct radio_store *store = must_open_store ("s");
  must_ingest (store, "ct/a", &spec, NULL);
  struct radio_volume *volume = derive (store, "clamp 0,1");
  assert_fails (radio_volume_keep_stats (volume, &stats),
                RADIO_ERROR_UNSUPPORTED, "pipeline");
  radio_volume_close (volume);
  spec_image (&spec, &file);
  write_file (".", "a.nii", &file);
  assert_ok (radio_volume_open_file (store->context, "a.nii", NULL, &volume));
  assert_fails (radio_volume_keep_stats (volume, &stats),
                RADIO_ERROR_UNSUPPORTED, "file");
  radio_volume_close (volume);
  radio_store_close (store);
  remove_all ("s");
}

static void
keeping_and_using_them_without_memory_fails_cleanly (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_stats stats;
  struct radio_store *store = must_open_store ("s");
  must_ingest (store, "ct/a", &spec, NULL);
  struct radio_volume *volume = must_open (store);
  for (size_t nth = 1;; nth += EXHAUSTIVE_STEP) {
    alloc_fail_nth (nth);
    enum radio_status status = radio_volume_keep_stats (volume, &stats);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      assert_true (nth > 20);
      break;
    }
    if (status != RADIO_OK)           /* only that a tile is not cached */
      assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
  radio_volume_close (volume);
  struct radio_volume *derived = derive (store, "znorm");
  for (size_t nth = 1;; nth += EXHAUSTIVE_STEP) {
    size_t passes = 99;
    alloc_fail_nth (nth);
    enum radio_status status = radio_volume_passes (derived, &passes);
    bool failed = alloc_fail_end ();
    if (status == RADIO_OK)
      assert_int_equal (passes, 0);
    else
      assert_int_equal (status, RADIO_ERROR_MEMORY);
    if (!failed || status == RADIO_OK)
      break;
  }
  radio_volume_close (derived);
  radio_store_close (store);
  remove_all ("s");
}

/* A mean and a deviation, and extremes: one pass over the data, and no table of
 * values; percentiles take tables for these alone. */
static void
statistics_take_what_they_need (void **state)
{
  (void) state;
  static const struct { const char *text; uint64_t memory_nbytes; } cases[] = {
    { "linear 1,0.5 | znorm", 1 << 20 },
    { "linear 1,0.5 | clamp 0,900 | znorm of nonzero", 1 << 20 },
    { "gamma 2 | rescale 0,1", 1 << 20 },
    { "linear 1,0.5 | rescale 0,1 from p2,p98", 6 << 20 },
  };
  struct nifti_spec spec = small_spec ();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct radio_context *context;
    struct radio_store *store;
    struct radio_elements got[2];
    for (size_t k = 0; k < 2; k++) {
      const struct radio_context_options options = {
        .memory_limit_nbytes = k == 0 ? 0 : cases[i].memory_nbytes,
        .nthreads = 1,
      };
      assert_ok (radio_context_open (&options, &context));
      const struct radio_store_options creating = {
        .create = true, .context = context,
      };
      assert_ok (radio_store_open ("memory:", &creating, &store));
      must_ingest (store, "ct/a", &spec, NULL);
      struct radio_volume *volume;
      assert_ok (radio_volume_open (store, "ct/a", &volume));
      volume = must_derive (volume, cases[i].text);
      assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                          &got[k]));
      radio_volume_close (volume);
      radio_store_close (store);
      radio_context_close (context);
    }
    assert_memory_equal (got[0].data, got[1].data, got[0].nbytes);
    radio_free (got[0].data);
    radio_free (got[1].data);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (pipelines_take_kept_statistics_instead_of_a_pass),
    cmocka_unit_test (infinite_values_may_be_extremes_later),
    cmocka_unit_test (damaged_statistics_are_ignored_and_found_by_validation),
    cmocka_unit_test (statistics_of_other_data_are_not_believed),
    cmocka_unit_test (a_copy_has_what_is_kept_unless_it_is_damaged),
    cmocka_unit_test (what_cannot_keep_statistics_says_why),
    cmocka_unit_test (keeping_and_using_them_without_memory_fails_cleanly),
    cmocka_unit_test (statistics_take_what_they_need),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
