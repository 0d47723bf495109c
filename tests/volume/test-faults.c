/* SPDX-License-Identifier: MIT */
/* Failures of memory and of stores at any point: the ingest or export returns
 * an error, existing volumes stay whole, gc finds everything left over, and
 * the next attempt works. */
#include <config.h>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/fault.h"
#include "tests/io/wrap.h"
#include "tests/alloc-fail.h"
#include "tests/volume/fixture.h"

#define MANY 5000

/* Several shards of several tiles. */
static const struct radio_ingest_options replacing = {
  .existing = RADIO_EXISTING_REPLACE, .shard_nbytes = 1, .tiling = "4,4,2",
};

/* nth: the allocation that fails; *failed is set if there was one. */
static enum radio_status
ingest_new (struct radio_store *store, size_t nth, bool *failed)
{
  struct nifti_spec spec = other_spec ();
  struct bytes_source source BYTES_SOURCE_SCOPE;
  bytes_source_open (&source, &spec);
  alloc_fail_nth (nth);
  enum radio_status status
    = rd_ingest_source (store, &source.source, "ct/a", &replacing, NULL);
  *failed = alloc_fail_end ();
  return status;
}

/* The volume is the new one, or else the old one, or it is not there, as it
 * was before. */
static void
assert_volume_is_whole (struct radio_store *store, bool is_new, bool had_old)
{
  struct nifti_spec spec = is_new ? other_spec () : small_spec ();
  char paths[100];
  list_paths (store, paths, sizeof paths);
  assert_string_equal (paths, is_new || had_old ? "ct/a" : "");
  if (is_new || had_old) {
    assert_volume_is (store, "ct/a", &spec);
    assert_int_not_equal (header_state (store, "ct/a"), RD_HEADER_BAD);
  }
}

static void
assert_next_try_works (struct radio_store *store)
{
  bool failed;
  assert_ok (ingest_new (store, 0, &failed));
  assert_volume_is_whole (store, true, true);
}

static void
assert_cleaned (struct radio_store *store, bool had_old)
{
  struct radio_gc_result result;
  assert_ok (radio_store_gc (store, false, NULL));
  assert_ok (radio_store_gc (store, true, &result));
  assert_int_equal (result.removed_count, 0);
  assert_int_equal (result.repaired_count, 0);
  assert_int_equal (count_folders (store, "ct/a"), had_old ? 2 : 0);
}

static struct radio_store *
open_failing (unsigned nthreads, const struct rd_fault_plan *plan)
{
  const struct radio_context_options context = { .nthreads = nthreads };
  struct radio_store_options options = { .create = true };
  struct radio_store *store;
  struct rd_io *io;
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (rd_io_open ("memory:", true, &io));
  assert_ok (rd_io_fault_open (io, plan, &io));
  assert_ok (rd_store_open_io (io, &options, &store));
  radio_context_close (options.context);
  return store;
}

static void
prepare (struct radio_store *store, bool with_old)
{
  struct nifti_spec old = small_spec ();
  if (with_old)
    must_ingest (store, "ct/a", &old, NULL);
}

/* One thread, so that every allocation is the test's own thread's. */
static void
ingest_without_memory (bool with_old)
{
  static const struct rd_fault_plan none;
  bool failed = true;
  size_t nth;
  for (nth = 1; failed && nth < MANY; nth += EXHAUSTIVE_STEP) {
    struct radio_store *store = open_failing (1, &none);
    prepare (store, with_old);
    enum radio_status status = ingest_new (store, nth, &failed);
    bool is_new = was_published (status);
    if (status != RADIO_OK)
      assert_fails (status, RADIO_ERROR_MEMORY, "memory");
    assert_true (failed || status == RADIO_OK);
    assert_volume_is_whole (store, is_new, with_old);
    assert_cleaned (store, with_old || is_new);
    assert_next_try_works (store);
    radio_store_close (store);
  }
  assert_in_range (nth, 50, MANY - 1);
}

static void
an_ingest_without_memory_is_an_error (void **state)
{
  (void) state;
  ingest_without_memory (false);
}

static void
a_replacing_ingest_without_memory_keeps_the_old_one (void **state)
{
  (void) state;
  ingest_without_memory (true);
}

/* The number of operations that making the old volume takes. */
static uint64_t
count_operations (bool with_old)
{
  static const struct rd_fault_plan none;
  struct radio_store *store = open_failing (1, &none);
  prepare (store, with_old);
  uint64_t n = rd_io_fault_count (store->io, RD_FAULT_ANY);
  radio_store_close (store);
  return n;
}

/* Fails the n-th operation of an ingest; false if there are fewer. */
static bool
ingest_with_fault (uint64_t n, bool with_old, unsigned nthreads)
{
  const struct rd_fault fault = {
    .op = RD_FAULT_ANY, .nth = count_operations (with_old) + n,
    .kind = RD_FAULT_FAIL, .status = RADIO_ERROR_PERMISSION,
  };
  const struct rd_fault_plan plan = { &fault, 1, 0 };
  struct radio_store *store = open_failing (nthreads, &plan);
  prepare (store, with_old);
  bool failed;
  enum radio_status status = ingest_new (store, 0, &failed);
  bool is_new = was_published (status);
  failed = rd_io_fault_n_hits (store->io) > 0;
  /* Cleaning on the way, and looking whether it is needed, may fail. */
  if (status != RADIO_OK)
    assert_int_equal (status, RADIO_ERROR_PERMISSION);
  assert_true (failed || status == RADIO_OK);
  if (failed) {
    assert_volume_is_whole (store, is_new, with_old);
    assert_cleaned (store, with_old || is_new);
    assert_next_try_works (store);
  }
  radio_store_close (store);
  return failed;
}

static void
each_operation_of_an_ingest_may_fail (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 3; nthreads++)
    for (int with_old = 0; with_old < 2; with_old++) {
      uint64_t n = 1;
      while (ingest_with_fault (n, with_old, nthreads))
        n++;
      assert_true (n > 20);
    }
}

static void
export_without_memory (const char *file,
                       const struct radio_export_options *options)
{
  static const struct rd_fault_plan none;
  struct radio_store *store = open_failing (1, &none);
  bool failed = true;
  size_t nth;
  prepare (store, true);
  for (nth = 1; failed && nth < MANY; nth += EXHAUSTIVE_STEP) {
    struct radio_volume *volume;
    assert_ok (radio_volume_open (store, "ct/a", &volume));
    alloc_fail_nth (nth);
    enum radio_status status
      = radio_volume_export (volume, NULL, file, options);
    failed = alloc_fail_end ();
    if (status != RADIO_OK)
      assert_fails (status, RADIO_ERROR_MEMORY, "memory");
    assert_true (failed || status == RADIO_OK);
    assert_int_equal (access (file, F_OK) == 0, status == RADIO_OK);
    if (status == RADIO_OK)
      assert_int_equal (unlink (file), 0);
    radio_volume_close (volume);
  }
  assert_in_range (nth, 5, MANY - 1);
  radio_store_close (store);
}

/* The folder that the test leaves must be empty, so a file left over is
 * found, too. */
static void
an_export_without_memory_leaves_no_file (void **state)
{
  static const struct radio_export_options scaled = { .scaled = true };
  (void) state;
  export_without_memory ("a.nii", NULL);
  export_without_memory ("a.nii.gz", NULL);
  export_without_memory ("a.npy", NULL);
  export_without_memory ("a.npy", &scaled);
  assert_int_equal (chdir (".."), 0);
  assert_int_equal (rmdir (*state), 0);
  assert_int_equal (mkdir (*state, 0777), 0);
  assert_int_equal (chdir (*state), 0);
}

/*------------------------------------------------------------------------
 * Somebody who publishes in between
 *----------------------------------------------------------------------*/

#define DOCUMENT "ct/a/zarr.json"

/* A store in which the document of ct/a comes from elsewhere right before
 * ours, as it may where locks do not exclude other processes. */
struct competitor {
  struct rd_wrap wrap;        /* first */
  struct rd_buffer document;
  bool was_there;
};

static void
close_competitor (struct rd_io *io)
{
  struct competitor *competitor = (struct competitor *) io;
  rd_buffer_free (&competitor->document);
  rd_wrap_finish (&competitor->wrap);
  rd_free (competitor);
}

static enum radio_status
put_after_competitor (struct rd_io *io, const char *key,
                  const struct rd_part *parts, size_t n, enum rd_put how)
{
  struct competitor *competitor = (struct competitor *) io;
  struct rd_io *inner = competitor->wrap.inner;
  if (how == RD_PUT_IF_ABSENT && strcmp (key, DOCUMENT) == 0) {
    assert_ok (rd_io_put (inner, key, competitor->document.data,
                          competitor->document.nbytes, how));
    competitor->was_there = true;
  }
  return inner->ops->put (inner, key, parts, n, how);
}

/* The competitor publishes a small image, whose levels exist. */
static struct radio_store *
open_with_competitor (void)
{
  const struct radio_store_options options = { .create = true };
  struct competitor *competitor = rd_calloc (1, sizeof *competitor);
  struct radio_store *store;
  struct rd_io *io;
  store = must_open_store ("s.zarr");
  prepare (store, true);
  radio_store_close (store);
  assert_ok (rd_io_open ("s.zarr", true, &io));
  assert_ok (rd_io_read_all (io, DOCUMENT, MANY * 10, &competitor->document));
  assert_ok (io->ops->remove (io, DOCUMENT));
  assert_ok (rd_wrap_init (&competitor->wrap, "competitor", io));
  competitor->wrap.ops.close = close_competitor;
  competitor->wrap.ops.put = put_after_competitor;
  assert_ok (rd_store_open_io (&competitor->wrap.base, &options, &store));
  return store;
}

static enum radio_status
ingest_after_competitor (const struct nifti_spec *spec,
                     enum radio_existing existing,
                     struct radio_ingest_result *result)
{
  const struct radio_ingest_options options = { .existing = existing };
  struct bytes_source source BYTES_SOURCE_SCOPE;
  struct radio_store *store = open_with_competitor ();
  bytes_source_open (&source, spec);
  enum radio_status status
    = rd_ingest_source (store, &source.source, "ct/a", &options, result);
  assert_true (((struct competitor *) store->io)->was_there);
  if (existing == RADIO_EXISTING_REPLACE)
    assert_volume_is (store, "ct/a", spec);
  radio_store_close (store);
  return status;
}

static void
a_writer_that_was_faster_at_the_end_counts_too (void **state)
{
  (void) state;
  const struct nifti_spec same = small_spec (), other = other_spec ();
  struct radio_ingest_result result;
  assert_ok (ingest_after_competitor (&other, RADIO_EXISTING_SKIP, &result));
  assert_true (result.skipped);
  remove_all ("s.zarr");
  assert_fails (ingest_after_competitor (&other, RADIO_EXISTING_ERROR, &result),
                RADIO_ERROR_EXISTS, "exists already");
  remove_all ("s.zarr");
  assert_ok (ingest_after_competitor (&same, RADIO_EXISTING_ERROR, &result));
  remove_all ("s.zarr");
  assert_ok (ingest_after_competitor (&other, RADIO_EXISTING_REPLACE, &result));
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, enter_folder, leave_folder)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (a_writer_that_was_faster_at_the_end_counts_too),
    TEST (an_ingest_without_memory_is_an_error),
    TEST (a_replacing_ingest_without_memory_keeps_the_old_one),
    TEST (each_operation_of_an_ingest_may_fail),
    TEST (an_export_without_memory_leaves_no_file),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
