/* SPDX-License-Identifier: MIT */
/* Sudden death and races: after the process ended at any of its operations
 * on the store, only whole volumes are to be seen, cleaning leaves nothing
 * over, and the next ingest works. */
#include <config.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <radio/copy.h>
#include <radio/index.h>

#include "tests/io/fault.h"
#include "tests/volume/fixture.h"

#define CRASHED 42
#define STORE "crash.zarr"

/* In a child: a store that ends the process at its n-th operation. */
static const struct radio_index_copies_options replacing = {
  .replace = true
};

static struct radio_store *
open_crashing (uint64_t n)
{
  const struct rd_fault fault = {
    .op = RD_FAULT_ANY, .nth = n, .kind = RD_FAULT_EXIT, .status = CRASHED,
  };
  const struct rd_fault_plan plan = { &fault, 1, 0 };
  struct rd_io *io;
  struct radio_store *store;
  const struct radio_store_options options = { .create = true };
  if (rd_io_open (STORE, true, &io) != RADIO_OK
      || rd_io_fault_open (io, &plan, &io) != RADIO_OK
      || rd_store_open_io (io, &options, &store) != RADIO_OK)
    _exit (1);
  return store;
}

static enum radio_status
ingest_new (struct radio_store *store)
{
  struct nifti_spec spec = other_spec ();
  struct bytes_source source BYTES_SOURCE_SCOPE;
  const struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_REPLACE, .shard_nbytes = 1, .tiling = "4,4,2",
  };
  bytes_source_open (&source, &spec);
  return rd_ingest_source (store, &source.source, "ct/a", &options, NULL);
}

static enum radio_status
remove_and_clean (struct radio_store *store)
{
  RD_TRY (radio_store_remove (store, "ct/a"));
  return radio_store_gc (store, false, NULL);
}

/* Run something in a child that dies at its n-th operation; whether it did.
 */
static bool
crash (enum radio_status (*run) (struct radio_store *), uint64_t n)
{
  int status;
  pid_t child = fork ();
  assert_true (child >= 0);
  if (child == 0)
    _exit (run (open_crashing (n)) == RADIO_OK ? 0 : 1);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_true (WIFEXITED (status));
  assert_true (WEXITSTATUS (status) == 0 || WEXITSTATUS (status) == CRASHED);
  return WEXITSTATUS (status) == CRASHED;
}

/* The volume is one of the two, whole. */
static void
assert_is_either (struct radio_store *store)
{
  struct radio_volume *volume;
  struct radio_volume_info info;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  radio_volume_get_info (volume, &info);
  struct nifti_spec spec
    = strcmp (info.nifti_type, "float32") == 0 ? other_spec () : small_spec ();
  radio_volume_close (volume);
  assert_volume_is (store, "ct/a", &spec);
}

/* gc leaves the right objects, and a second one finds nothing. */
static void
assert_cleaned (struct radio_store *store)
{
  struct radio_gc_result result;
  assert_ok (radio_store_gc (store, false, NULL));
  assert_ok (radio_store_gc (store, true, &result));
  assert_int_equal (result.removed_count, 0);
  assert_int_equal (result.busy_count, 0);
  assert_int_equal (result.repaired_count, 0);
}

static void
a_replacing_writer_may_die_anywhere (void **state)
{
  (void) state;
  const struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  struct nifti_spec old = small_spec ();
  uint64_t n = 1;
  unsigned nstale = 0;
  for (bool crashed = true; crashed; n++) {
    struct radio_store *store = must_open_store (STORE);
    must_ingest (store, "ct/a", &old, &options);
    assert_int_equal (header_state (store, "ct/a"), RD_HEADER_CURRENT);
    radio_store_close (store);
    crashed = crash (ingest_new, n);
    store = must_open_store (STORE);
    char paths[100];
    list_paths (store, paths, sizeof paths);
    assert_string_equal (paths, "ct/a");
    assert_is_either (store);
    assert_int_not_equal (header_state (store, "ct/a"), RD_HEADER_BAD);
    nstale += header_state (store, "ct/a") == RD_HEADER_STALE;
    /* Every other time it is the next write that repairs the array. */
    if (n % 2 == 0) {
      assert_cleaned (store);
      assert_is_either (store);
      assert_int_equal (header_state (store, "ct/a"), RD_HEADER_CURRENT);
      assert_int_equal (count_folders (store, "ct/a"), 2);
    }
    radio_store_close (store);
  }
  assert_true (n > 20);
  assert_true (nstale > 0);
  remove_all (STORE);
}

static void
the_first_writer_may_die_anywhere (void **state)
{
  (void) state;
  uint64_t n = 1;
  for (bool crashed = true; crashed; n++) {
    crashed = crash (ingest_new, n);
    struct radio_store *store = must_open_store (STORE);
    char paths[100];
    list_paths (store, paths, sizeof paths);
    assert_true (strcmp (paths, "") == 0 || strcmp (paths, "ct/a") == 0);
    assert_cleaned (store);
    if (paths[0])
      assert_is_either (store);
    else
      assert_int_equal (count_folders (store, "ct/a"), 0);
    assert_ok (ingest_new (store));
    assert_is_either (store);
    radio_store_close (store);
    remove_all (STORE);
  }
  assert_true (n > 20);
}

static void
a_remover_may_die_anywhere (void **state)
{
  (void) state;
  uint64_t n = 1;
  for (bool crashed = true; crashed; n++) {
    struct radio_store *store = must_open_store (STORE);
    assert_ok (ingest_new (store));
    radio_store_close (store);
    crashed = crash (remove_and_clean, n);
    store = must_open_store (STORE);
    char paths[100];
    list_paths (store, paths, sizeof paths);
    if (paths[0])
      assert_is_either (store);
    assert_cleaned (store);
    if (!paths[0])
      assert_int_equal (count_objects (store, ""), 2);
    radio_store_close (store);
  }
  assert_true (n > 5);
  remove_all (STORE);
}

/* As radio mv does it. */
static enum radio_status
move_volume (struct radio_store *store)
{
  static const char *const old_path = "ct/a", *const new_path = "mr/b";
  const struct radio_copy_options options = {
    .existing = RADIO_EXISTING_REPLACE, .by_store = true,
  };
  RD_TRY (radio_volume_copy (store, old_path, store, new_path, &options,
                             NULL));
  RD_TRY (radio_store_index_copies (store, &old_path, store, &new_path, 1,
                                    &replacing, NULL));
  RD_TRY (radio_store_remove_copied (store, old_path, new_path));
  return radio_store_index_volumes (store, &old_path, 1, NULL);
}

static void
a_move_that_dies_leaves_the_old_volume_or_the_new_one (void **state)
{
  (void) state;
  uint64_t n = 1;
  unsigned nboth = 0;
  for (bool crashed = true; crashed; n += EXHAUSTIVE_STEP) {
    struct radio_store *store = must_open_store (STORE);
    char paths[100];
    assert_ok (ingest_new (store));
    assert_ok (radio_store_index (store, NULL, NULL, NULL));
    radio_store_close (store);
    crashed = crash (move_volume, n);
    store = must_open_store (STORE);
    struct nifti_spec spec = other_spec ();
    list_paths (store, paths, sizeof paths);
    bool has_old = strstr (paths, "ct/a") != NULL;
    bool has_new = strstr (paths, "mr/b") != NULL;
    assert_true (has_old || has_new);
    nboth += has_old && has_new;
    if (has_old)
      assert_volume_is (store, "ct/a", &spec);
    if (has_new)
      assert_volume_is (store, "mr/b", &spec);
    /* The interrupted move is repeated. */
    if (has_old)
      assert_ok (move_volume (store));
    list_paths (store, paths, sizeof paths);
    assert_string_equal (paths, "mr/b");
    assert_volume_is (store, "mr/b", &spec);
    assert_cleaned (store);
    assert_volume_is (store, "mr/b", &spec);
    radio_store_close (store);
    remove_all (STORE);
  }
  assert_true (n > 20);
  assert_true (nboth > 0);
}

/* A writer in a process of its own that stops before its first voxel and
 * says so through a pipe. */
struct writer {
  pid_t pid;
  int ready, go;               /* ends of the pipes that are ours */
};

struct stop {
  int ready, wait;
};

static enum radio_status
stop_once (struct bytes_source *source, void *user_data)
{
  struct stop *stop = user_data;
  char byte = 0;
  source->hook = NULL;
  if (write (stop->ready, &byte, 1) != 1 || read (stop->wait, &byte, 1) != 1)
    _exit (3);
  return RADIO_OK;
}

static void
write_stopping (struct stop *stop)
{
  struct nifti_spec spec = other_spec ();
  struct bytes_source source;
  bytes_source_open (&source, &spec);
  source.hook = stop_once;
  source.user_data = stop;
  struct radio_store *store = must_open_store (STORE);
  enum radio_status status
    = rd_ingest_source (store, &source.source, "ct/a", NULL, NULL);
  radio_store_close (store);
  _exit (status == RADIO_OK ? 0 : 1);
}

static struct writer
start_writer (void)
{
  int ready[2], go[2];
  char byte;
  assert_int_equal (pipe (ready), 0);
  assert_int_equal (pipe (go), 0);
  pid_t pid = fork ();
  assert_true (pid >= 0);
  if (pid == 0) {
    struct stop stop = { ready[1], go[0] };
    close (ready[0]);
    close (go[1]);
    write_stopping (&stop);
  }
  close (ready[1]);
  close (go[0]);
  assert_int_equal (read (ready[0], &byte, 1), 1);
  return (struct writer) { pid, ready[0], go[1] };
}

static int
end_writer (struct writer *writer)
{
  int status;
  assert_int_equal (waitpid (writer->pid, &status, 0), writer->pid);
  close (writer->ready);
  close (writer->go);
  return status;
}

static void
gc_leaves_the_data_of_a_live_writer (void **state)
{
  (void) state;
  struct writer writer = start_writer ();
  struct radio_store *store = must_open_store (STORE);
  struct radio_gc_result result;
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (result.busy_count, 1);
  assert_int_equal (result.removed_count, 0);
  assert_int_equal (write (writer.go, "", 1), 1);
  assert_int_equal (end_writer (&writer), 0);
  assert_is_either (store);
  assert_cleaned (store);
  radio_store_close (store);
  remove_all (STORE);
}

static void
gc_removes_the_data_of_a_killed_writer (void **state)
{
  (void) state;
  struct writer writer = start_writer ();
  struct radio_store *store = must_open_store (STORE);
  struct radio_gc_result result;
  assert_int_equal (kill (writer.pid, SIGKILL), 0);
  assert_true (WIFSIGNALED (end_writer (&writer)));
  assert_ok (radio_store_gc (store, true, &result));
  assert_int_equal (result.removed_count, 1);
  assert_int_equal (count_folders (store, "ct/a"), 1);
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (result.removed_count, 1);
  assert_true (result.removed_nbytes > 0);
  assert_int_equal (count_objects (store, ""), 2);
  assert_int_equal (count_folders (store, "ct"), 0);
  radio_store_close (store);
  remove_all (STORE);
}

static void
a_removed_volume_leaves_a_living_writer_alone (void **state)
{
  (void) state;
  struct writer writer = start_writer ();
  struct radio_store *store = must_open_store (STORE);
  assert_ok (ingest_new (store));
  assert_ok (radio_store_remove (store, "ct/a"));
  assert_int_equal (write (writer.go, "", 1), 1);
  assert_int_equal (end_writer (&writer), 0);
  assert_is_either (store);
  radio_store_close (store);
  remove_all (STORE);
}

/* Another ingest of the same name, whole, while the first one reads. */
struct competitor {
  struct nifti_spec spec;
  enum radio_existing existing;
};

static enum radio_status
let_competitor_win (struct bytes_source *source, void *user_data)
{
  struct competitor *competitor = user_data;
  struct radio_store *store = must_open_store (STORE);
  const struct radio_ingest_options options = {
    .existing = competitor->existing,
  };
  source->hook = NULL;
  must_ingest (store, "ct/a", &competitor->spec, &options);
  radio_store_close (store);
  return RADIO_OK;
}

/* The status of an ingest of the new image that a competitor overtakes. */
static enum radio_status
race (struct competitor *competitor, enum radio_existing existing,
      bool *skipped)
{
  struct nifti_spec spec = other_spec ();
  struct radio_store *store = must_open_store (STORE);
  struct radio_ingest_options options = { .existing = existing };
  struct radio_ingest_result result = { 0 };
  struct bytes_source source BYTES_SOURCE_SCOPE;
  bytes_source_open (&source, &spec);
  source.hook = let_competitor_win;
  source.user_data = competitor;
  enum radio_status status
    = rd_ingest_source (store, &source.source, "ct/a", &options, &result);
  struct rd_error error;
  rd_error_save (&error, status);
  *skipped = result.skipped;
  assert_is_either (store);
  struct radio_gc_result left;
  assert_ok (radio_store_gc (store, true, &left));
  assert_int_equal (left.repaired_count, 0);
  radio_store_close (store);
  return rd_error_raise (&error);
}

static void
the_second_of_two_new_volumes_is_refused (void **state)
{
  (void) state;
  struct competitor competitor = { small_spec (), RADIO_EXISTING_ERROR };
  bool skipped;
  assert_fails (race (&competitor, RADIO_EXISTING_ERROR, &skipped),
                RADIO_ERROR_EXISTS, "ct/a");
  struct radio_store *store = must_open_store (STORE);
  struct nifti_spec old = small_spec ();
  assert_volume_is (store, "ct/a", &old);
  assert_int_equal (count_folders (store, "ct/a"), 2);
  radio_store_close (store);
  remove_all (STORE);
}

static void
the_second_of_two_equal_volumes_is_content (void **state)
{
  (void) state;
  struct competitor competitor = { other_spec (), RADIO_EXISTING_ERROR };
  bool skipped;
  assert_ok (race (&competitor, RADIO_EXISTING_ERROR, &skipped));
  assert_false (skipped);
  remove_all (STORE);
}

static void
skipping_works_for_a_volume_that_appears_late (void **state)
{
  (void) state;
  struct competitor competitor = { small_spec (), RADIO_EXISTING_ERROR };
  bool skipped;
  assert_ok (race (&competitor, RADIO_EXISTING_SKIP, &skipped));
  assert_true (skipped);
  remove_all (STORE);
}

static void
the_last_of_two_that_replace_wins (void **state)
{
  (void) state;
  struct competitor competitor = { small_spec (), RADIO_EXISTING_REPLACE };
  bool skipped;
  assert_ok (race (&competitor, RADIO_EXISTING_REPLACE, &skipped));
  struct radio_store *store = must_open_store (STORE);
  struct nifti_spec new = other_spec ();
  assert_volume_is (store, "ct/a", &new);
  radio_store_close (store);
  remove_all (STORE);
}

/* Two processes, at once, as often as is quick. */
static void
processes_that_replace_each_other_leave_one_whole_volume (void **state)
{
  (void) state;
  pid_t children[3];
  for (size_t i = 0; i < 3; i++) {
    children[i] = fork ();
    if (children[i] != 0)
      continue;
    for (int round = 0; round < 5; round++) {
      struct radio_store *store = must_open_store (STORE);
      if (ingest_new (store) != RADIO_OK)
        _exit (1);
      radio_store_close (store);
    }
    _exit (0);
  }
  for (size_t i = 0; i < 3; i++) {
    int status;
    assert_int_equal (waitpid (children[i], &status, 0), children[i]);
    assert_int_equal (status, 0);
  }
  struct radio_store *store = must_open_store (STORE);
  assert_cleaned (store);
  assert_is_either (store);
  assert_int_equal (count_folders (store, "ct/a"), 2);
  radio_store_close (store);
  remove_all (STORE);
}

/* A store whose put of the volume's document gives it its name and fails
 * then, as when the folder cannot be synced. */
static struct radio_store *
open_failing_late (void)
{
  const struct rd_fault fault = {
    .op = RD_FAULT_PUT, .key = "ct/a/zarr.json", .kind = RD_FAULT_LATE,
    .status = RADIO_ERROR_IO,
  };
  const struct rd_fault_plan plan = { &fault, 1, 0 };
  struct rd_io *io;
  struct radio_store *store;
  assert_ok (rd_io_open (STORE, false, &io));
  assert_ok (rd_io_fault_open (io, &plan, &io));
  assert_ok (rd_store_open_io (io, NULL, &store));
  return store;
}

static void
a_commit_that_fails_late_loses_no_voxels (void **state)
{
  (void) state;
  struct nifti_spec old = small_spec (), new = other_spec ();
  for (int replaces = 0; replaces < 2; replaces++) {
    struct radio_store *store = must_open_store (STORE);
    if (replaces)
      must_ingest (store, "ct/a", &old, NULL);
    radio_store_close (store);
    store = open_failing_late ();
    assert_fails (ingest_new (store), RADIO_ERROR_IO, "ct/a/zarr.json");
    radio_store_close (store);
    store = must_open_store (STORE);
    assert_volume_is (store, "ct/a", &new);
    assert_cleaned (store);
    assert_volume_is (store, "ct/a", &new);
    assert_int_equal (count_folders (store, "ct/a"), 2);
    radio_store_close (store);
    remove_all (STORE);
  }
}

/* Another removal, whole, right before this one takes the lock. */
static enum radio_status
lock_after_removal (struct rd_io *io, const char *prefix, bool wait,
                    struct rd_io_lock **lock)
{
  struct radio_store *other = must_open_store (STORE);
  assert_ok (radio_store_remove (other, "ct/a"));
  const struct rd_io_ops *ops = other->io->ops;
  io->ops = ops;
  radio_store_close (other);
  return ops->lock (io, prefix, wait, lock);
}

static void
the_second_of_two_removals_finds_nothing_and_leaves_nothing (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store (STORE);
  assert_ok (ingest_new (store));
  struct rd_io_ops ops = *store->io->ops;
  ops.lock = lock_after_removal;
  store->io->ops = &ops;
  assert_fails (radio_store_remove (store, "ct/a"), RADIO_ERROR_NOT_FOUND,
                "ct/a: no such volume");
  assert_int_equal (count_folders (store, "ct"), 0);
  radio_store_close (store);
  remove_all (STORE);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_replacing_writer_may_die_anywhere),
    cmocka_unit_test (the_first_writer_may_die_anywhere),
    cmocka_unit_test (a_remover_may_die_anywhere),
    cmocka_unit_test (a_move_that_dies_leaves_the_old_volume_or_the_new_one),
    cmocka_unit_test (gc_leaves_the_data_of_a_live_writer),
    cmocka_unit_test (gc_removes_the_data_of_a_killed_writer),
    cmocka_unit_test (a_removed_volume_leaves_a_living_writer_alone),
    cmocka_unit_test (the_second_of_two_new_volumes_is_refused),
    cmocka_unit_test (the_second_of_two_equal_volumes_is_content),
    cmocka_unit_test (skipping_works_for_a_volume_that_appears_late),
    cmocka_unit_test (the_last_of_two_that_replace_wins),
    cmocka_unit_test (
      processes_that_replace_each_other_leave_one_whole_volume),
    cmocka_unit_test (a_commit_that_fails_late_loses_no_voxels),
    cmocka_unit_test (
      the_second_of_two_removals_finds_nothing_and_leaves_nothing),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
