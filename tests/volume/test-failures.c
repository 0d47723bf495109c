/* SPDX-License-Identifier: MIT */
/* An operation that returns an error is marked in the profile, with its
 * status: missing stores and volumes, damaged shards, a full disk. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/io/fault.h"
#include "src/base/error.h"
#include "profiler/counters.h"
#include "profiler/model/profile.h"
#include "tests/profile-tree.h"
#include "tests/volume/fixture.h"

#define STORE "s.zarr"

static const struct radio_ingest_options tiles = {
  .shard_nbytes = 1, .tiling = "4,4,2",
};

/* A store on disk that goes wrong as planned. */
static struct radio_store *
open_failing (const struct rd_fault_plan *plan)
{
  struct rd_io *io = NULL;
  struct radio_store *store = NULL;
  const struct radio_store_options options = { .create = true };
  assert_ok (rd_io_open (STORE, true, &io));
  assert_ok (rd_io_fault_open (io, plan, &io));
  assert_ok (rd_store_open_io (io, &options, &store));
  return store;
}

static struct radio_store *
open_with_fault (const struct rd_fault *fault)
{
  const struct rd_fault_plan plan = { fault, 1, 0 };
  return open_failing (&plan);
}

/* A store with the volume ct/a in it. */
static void
make_store (void)
{
  struct nifti_spec spec = small_spec ();
  struct radio_store *store = must_open_store (STORE);
  must_ingest (store, "ct/a", &spec, &tiles);
  radio_store_close (store);
}

/*------------------------------------------------------------------------
 * Failures in profiles
 *----------------------------------------------------------------------*/

static size_t
node_of_name (const struct radio_profile *profile, const char *name)
{
  const struct radio_profile_node *node;
  for (size_t i = 0; (node = radio_profile_get_node (profile, i)); i++)
    if (strcmp (node->name, name) == 0)
      return i;
  tree_print (profile);
  fail_msg ("no node is called '%s'", name);
  return 0;
}

/* The number of failed calls of a scope, and the error in its text. */
static void
assert_failed (const struct radio_profile *profile, const char *name,
               uint64_t nfailures, uint64_t ncalls, enum radio_status status)
{
  size_t i = node_of_name (profile, name);
  bool varies = true;
  const char *why = rd_profile_node_note (profile, i, "failed", &varies);
  assert_int_equal (radio_profile_get_node (profile, i)->calls, ncalls);
  assert_int_equal (radio_profile_counter (profile, i, "failures", false),
                    nfailures);
  assert_non_null (why);
  assert_string_equal (why, radio_status_name (status));
  assert_false (varies);
}

static size_t
count_failed_notes (const struct radio_profile *profile)
{
  size_t n = 0;
  for (size_t i = 0; i < profile->notes.n; i++)
    n += strcmp (profile->notes.at[i].key, "failed") == 0;
  return n;
}

static void
assert_nothing_failed (const struct radio_profile *profile)
{
  assert_int_equal (tree_total (profile, "failures"), 0);
  assert_int_equal (count_failed_notes (profile), 0);
}

/*------------------------------------------------------------------------
 * Operations, each of which can be asked to fail
 *----------------------------------------------------------------------*/

struct subject {
  struct radio_store *store;
  struct radio_volume *volume;
  struct radio_box box;
  uint64_t voxels[1024];
};

static enum radio_status
do_read (struct subject *subject)
{
  return radio_volume_read (subject->volume, &subject->box, RADIO_STORED,
                            subject->voxels, sizeof subject->voxels, NULL);
}

static enum radio_status
do_read_many (struct subject *subject)
{
  const struct radio_request request = {
    subject->box, subject->voxels, sizeof subject->voxels, NULL,
  };
  return radio_volume_read_many (subject->volume, &request, 1, RADIO_STORED,
                                 NULL);
}

static enum radio_status
do_read_plane (struct subject *subject)
{
  return radio_volume_read_plane (subject->volume, RADIO_AXIAL, 0,
                                  RADIO_STORED, subject->voxels,
                                  sizeof subject->voxels, NULL);
}

static enum radio_status
do_validate (struct subject *subject)
{
  return radio_volume_validate (subject->volume, NULL, NULL, NULL);
}

static enum radio_status
do_stats (struct subject *subject)
{
  struct radio_stats stats;
  return radio_volume_stats (subject->volume, true, &stats);
}

static enum radio_status
do_export (struct subject *subject)
{
  const struct radio_export_options options = { .overwrite = true };
  return radio_volume_export (subject->volume, NULL, "out.npy", &options);
}

static enum radio_status
do_ingest (struct subject *subject)
{
  return radio_ingest (subject->store, "none.nii", "ct/b", NULL, NULL);
}

static enum radio_status
do_phantom (struct subject *subject)
{
  return radio_phantom (subject->store, "ct/a", NULL);
}

static enum radio_status
do_open_volume (struct subject *subject)
{
  struct radio_volume *volume;
  return radio_volume_open (subject->store, "ct/none", &volume);
}

static enum radio_status
do_open_array (struct subject *subject)
{
  struct radio_array *array;
  return radio_array_open (subject->store, "ct/none", &array);
}

static enum radio_status
do_open_store (struct subject *subject)
{
  (void) subject;
  struct radio_store *store;
  return radio_store_open ("none.zarr", NULL, &store);
}

static enum radio_status
ignore_entry (const struct radio_entry *entry, void *user_data)
{
  (void) entry;
  (void) user_data;
  return RADIO_OK;
}

static enum radio_status
do_list (struct subject *subject)
{
  return radio_store_list (subject->store, "none", ignore_entry, NULL);
}

static enum radio_status
do_find (struct subject *subject)
{
  char *path;
  return radio_store_find (subject->store, "none", &path);
}

static enum radio_status
do_remove (struct subject *subject)
{
  return radio_store_remove (subject->store, "ct/none");
}

static enum radio_status
do_gc (struct subject *subject)
{
  return radio_store_gc (subject->store, false, NULL);
}

struct operation {
  const char *name;
  enum radio_status (*run) (struct subject *subject);
  enum radio_status status;   /* its status; RADIO_OK: any error */
};

/* Runs all of them on a store with a fault, two times each, and compares the
 * profile with the statuses that they returned. */
static void
run_failing (const struct operation *operations, size_t n,
             const struct rd_fault *fault)
{
  for (size_t i = 0; i < n; i++) {
    struct subject subject = { .store = open_with_fault (fault) };
    struct radio_volume_info info;
    assert_ok (radio_volume_open (subject.store, "ct/a", &subject.volume));
    radio_volume_get_info (subject.volume, &info);
    subject.box.rank = info.array.rank;
    memcpy (subject.box.size, info.array.shape, sizeof subject.box.size);
    struct radio_recorder *recorder = tree_begin ();
    enum radio_status first = operations[i].run (&subject);
    enum radio_status second = operations[i].run (&subject);
    struct radio_profile *profile = tree_end (recorder);
    assert_int_equal (first, second);
    assert_int_not_equal (first, RADIO_OK);
    if (operations[i].status)
      assert_int_equal (first, operations[i].status);
    assert_failed (profile, operations[i].name, 2, 2, first);
    radio_profile_close (profile);
    radio_volume_close (subject.volume);
    radio_store_close (subject.store);
  }
}

#define RUN_FAILING(operations, fault) \
  run_failing (operations, sizeof operations / sizeof operations[0], fault)

static void
a_missing_item_fails_the_operation_that_needs_it (void **state)
{
  (void) state;
  static const struct operation operations[] = {
    { "open store", do_open_store, RADIO_ERROR_NOT_FOUND },
    { "open volume", do_open_volume, RADIO_ERROR_NOT_FOUND },
    { "open array", do_open_array, RADIO_ERROR_NOT_FOUND },
    { "ingest", do_ingest, RADIO_ERROR_NOT_FOUND },
    { "list", do_list, RADIO_ERROR_NOT_FOUND },
    { "find", do_find, RADIO_ERROR_NOT_FOUND },
    { "remove", do_remove, RADIO_ERROR_NOT_FOUND },
    { "phantom", do_phantom, RADIO_ERROR_EXISTS },
  };
  const struct rd_fault none = {
    .op = RD_FAULT_GET, .nth = UINT64_MAX, .status = RADIO_ERROR_IO,
  };
  make_store ();
  RUN_FAILING (operations, &none);
}

static void
damaged_shards_fail_in_every_reader (void **state)
{
  (void) state;
  static const struct operation operations[] = {
    { "read", do_read, RADIO_ERROR_CHECKSUM },
    { "read many", do_read_many, RADIO_ERROR_CHECKSUM },
    { "read plane", do_read_plane, RADIO_ERROR_CHECKSUM },
    { "validate", do_validate, RADIO_ERROR_CHECKSUM },
    { "stats", do_stats, RADIO_ERROR_CHECKSUM },
    { "export", do_export, RADIO_ERROR_CHECKSUM },
  };
  const struct rd_fault flip = {
    .op = RD_FAULT_GET, .key = "/c/0/0/0", .kind = RD_FAULT_FLIP,
    .offset = 20, .bit = 3,
  };
  make_store ();
  RUN_FAILING (operations, &flip);
}

static void
a_disk_failure_is_reported_by_its_status (void **state)
{
  (void) state;
  static const struct operation operations[] = {
    { "list", do_list, RADIO_ERROR_IO },
    { "find", do_find, RADIO_ERROR_IO },
    { "gc", do_gc, RADIO_ERROR_IO },
  };
  const struct rd_fault fault = {
    .op = RD_FAULT_ANY, .nth = 0, .kind = RD_FAULT_FAIL,
    .status = RADIO_ERROR_IO,
  };
  make_store ();
  /* The volume is opened before the disk breaks. */
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    struct rd_io *io = NULL;
    struct subject subject = { .store = must_open_store (STORE) };
    const struct rd_fault_plan plan = { &fault, 1, 0 };
    io = subject.store->io;
    assert_ok (rd_io_fault_open (io, &plan, &subject.store->io));
    struct radio_recorder *recorder = tree_begin ();
    assert_int_equal (operations[i].run (&subject), RADIO_ERROR_IO);
    struct radio_profile *profile = tree_end (recorder);
    assert_failed (profile, operations[i].name, 1, 1, RADIO_ERROR_IO);
    radio_profile_close (profile);
    radio_store_close (subject.store);
  }
}

/* A hint: the bound of the operation may be reported before it. */
static const struct radio_finding *
find_failures (const struct radio_profile *profile)
{
  const struct radio_finding *finding;
  for (size_t i = 0; (finding = radio_profile_finding (profile, i)); i++)
    if (strcmp (finding->id, "failures") == 0)
      return finding;
  return NULL;
}

static void
a_full_disk_fails_the_ingest_and_the_finding_points_to_it (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct nifti_spec spec = small_spec ();
  spec_image (&spec, &image);
  write_file (".", "image.nii", &image);
  const struct rd_fault_plan plan = { NULL, 0, 700 };
  struct radio_store *store = open_failing (&plan);
  struct radio_recorder *recorder = tree_begin ();
  assert_fails (radio_ingest (store, "image.nii", "ct/a", &tiles, NULL),
                RADIO_ERROR_NO_SPACE, "");
  struct radio_profile *profile = tree_end (recorder);
  assert_failed (profile, "ingest", 1, 1, RADIO_ERROR_NO_SPACE);
  const struct radio_finding *finding = find_failures (profile);
  assert_non_null (finding);
  assert_string_equal (finding->evidence,
                       "1 of 1 'ingest' failed: no space left");
  assert_int_equal (finding->node, node_of_name (profile, "ingest"));
  radio_profile_close (profile);
  radio_store_close (store);
}

/* The innermost scope that failed, below the operation and all that is
 * between. */
static const struct radio_profile_node *
innermost_failure (const struct radio_profile *profile)
{
  const struct radio_profile_node *node, *innermost = NULL;
  for (size_t i = 0; (node = radio_profile_get_node (profile, i)); i++)
    if (radio_profile_counter (profile, i, "failures", false) > 0
        && (!innermost || node->depth > innermost->depth))
      innermost = node;
  assert_non_null (innermost);
  return innermost;
}

static void
the_scope_in_which_a_failure_began_is_marked (void **state)
{
  (void) state;
  static const struct {
    struct rd_fault fault;
    const char *category;
    enum radio_status status;
  } rows[] = {
    { { .op = RD_FAULT_GET, .key = "/c/0/0/0", .kind = RD_FAULT_FAIL,
        .status = RADIO_ERROR_IO }, "place", RADIO_ERROR_IO },
    { { .op = RD_FAULT_GET, .key = "/c/0/0/0", .kind = RD_FAULT_FLIP,
        .offset = 20, .bit = 3 }, "decode", RADIO_ERROR_CHECKSUM },
  };
  make_store ();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct subject subject = {
      .store = open_with_fault (&rows[i].fault),
      .box = radio_box3 (0, 1, 0, 1, 0, 1),
    };
    assert_ok (radio_volume_open (subject.store, "ct/a", &subject.volume));
    struct radio_recorder *recorder = tree_begin ();
    assert_int_equal (do_read (&subject), rows[i].status);
    struct radio_profile *profile = tree_end (recorder);
    assert_failed (profile, "read", 1, 1, rows[i].status);
    const struct radio_profile_node *node = innermost_failure (profile);
    assert_string_equal (node->category, rows[i].category);
    assert_failed (profile, node->name, 1, node->calls, rows[i].status);
    radio_profile_close (profile);
    radio_volume_close (subject.volume);
    radio_store_close (subject.store);
  }
}

/* Also where a separate thread writes for the operation, which waits for it
 * and fails with its error. */
static void
the_thread_that_writes_shards_marks_its_failures (void **state)
{
  (void) state;
  static const struct {
    struct rd_fault fault;
    const char *scope;
  } rows[] = {
    { { .op = RD_FAULT_CREATE, .key = "/c/0/0/0", .kind = RD_FAULT_FAIL,
        .status = RADIO_ERROR_NO_SPACE }, "create shard" },
    { { .op = RD_FAULT_COMMIT, .key = "/c/0/0/0", .kind = RD_FAULT_FAIL,
        .status = RADIO_ERROR_NO_SPACE }, "commit shards" },
  };
  make_store ();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct radio_store *store = open_with_fault (&rows[i].fault);
    const struct radio_phantom_options options = { .shape = { 8, 9, 10 } };
    struct radio_recorder *recorder = tree_begin ();
    assert_int_equal (radio_phantom (store, "ct/b", &options),
                      RADIO_ERROR_NO_SPACE);
    struct radio_profile *profile = tree_end (recorder);
    assert_failed (profile, "phantom", 1, 1, RADIO_ERROR_NO_SPACE);
    assert_failed (profile, rows[i].scope, 1, 1, RADIO_ERROR_NO_SPACE);
    radio_profile_close (profile);
    radio_store_close (store);
  }
}

/* An operation that goes around a failure may still fail of another one. */
static enum radio_status
fail_after_another (void)
{
  RD_SCOPE ("whole", RD_IN_OPERATION);
  {
    RD_SCOPE ("lived with", RD_IN_DISK);
    (void) rd_fail (RADIO_ERROR_NOT_FOUND, "not here");
  }
  return rd_scope_end_with (rd_fail (RADIO_ERROR_IO, "nor there"));
}

static void
a_failure_that_was_lived_with_is_not_marked (void **state)
{
  (void) state;
  struct radio_recorder *recorder = tree_begin ();
  assert_int_equal (fail_after_another (), RADIO_ERROR_IO);
  struct radio_profile *profile = tree_end (recorder);
  assert_failed (profile, "whole", 1, 1, RADIO_ERROR_IO);
  assert_int_equal (tree_total (profile, "failures"), 1);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Scopes that are not marked
 *----------------------------------------------------------------------*/

static void
operations_that_succeed_are_not_marked (void **state)
{
  (void) state;
  make_store ();
  struct radio_recorder *recorder = tree_begin ();
  struct subject subject = { .store = must_open_store (STORE) };
  char *path = NULL;
  assert_ok (radio_store_find (subject.store, "a", &path));
  assert_ok (radio_volume_open (subject.store, path, &subject.volume));
  assert_ok (do_read_plane (&subject));
  assert_ok (do_validate (&subject));
  assert_ok (do_stats (&subject));
  assert_ok (do_export (&subject));
  assert_ok (do_gc (&subject));
  struct radio_profile *profile = tree_end (recorder);
  assert_nothing_failed (profile);
  free (path);
  radio_profile_close (profile);
  radio_volume_close (subject.volume);
  radio_store_close (subject.store);
}

/* Only the failed ones of three calls are counted, and each has its span. */
static void
failed_calls_are_distinguished_from_others (void **state)
{
  (void) state;
  make_store ();
  struct radio_store *store = must_open_store (STORE);
  struct radio_recorder *recorder = tree_begin ();
  static const char *const paths[] = { "ct/a", "ct/b", "ct/c" };
  for (size_t i = 0; i < 3; i++) {
    struct radio_volume *volume = NULL;
    enum radio_status status = radio_volume_open (store, paths[i], &volume);
    assert_int_equal (status, i == 0 ? RADIO_OK : RADIO_ERROR_NOT_FOUND);
    radio_volume_close (volume);
  }
  struct radio_profile *profile = tree_end (recorder);
  assert_failed (profile, "open volume", 2, 3, RADIO_ERROR_NOT_FOUND);
  /* Two spans and their node; the same for the scope in which they failed. */
  assert_int_equal (count_failed_notes (profile), 6);
  radio_profile_close (profile);
  radio_store_close (store);
}

static void
no_operation_is_marked_by_an_earlier_failure (void **state)
{
  (void) state;
  make_store ();
  struct radio_store *store = must_open_store (STORE);
  struct radio_volume *volume = NULL;
  assert_int_equal (radio_volume_open (store, "ct/none", &volume),
                    RADIO_ERROR_NOT_FOUND);
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  struct radio_profile *profile = tree_end (recorder);
  assert_nothing_failed (profile);
  radio_profile_close (profile);
  radio_volume_close (volume);
  radio_store_close (store);
}

#define TEST(name) \
  cmocka_unit_test_setup_teardown (name, enter_folder, leave_folder)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (a_missing_item_fails_the_operation_that_needs_it),
    TEST (damaged_shards_fail_in_every_reader),
    TEST (a_disk_failure_is_reported_by_its_status),
    TEST (a_full_disk_fails_the_ingest_and_the_finding_points_to_it),
    TEST (the_scope_in_which_a_failure_began_is_marked),
    TEST (the_thread_that_writes_shards_marks_its_failures),
    TEST (a_failure_that_was_lived_with_is_not_marked),
    TEST (operations_that_succeed_are_not_marked),
    TEST (failed_calls_are_distinguished_from_others),
    TEST (no_operation_is_marked_by_an_earlier_failure),
  };
  if (tree_skip_all ())
    return 0;
  return cmocka_run_group_tests (tests, NULL, NULL);
}
