/* SPDX-License-Identifier: MIT */
/* Interrupted copies: if any operation of either store fails, or the process
 * dies at any operation or moment, no partial volume is visible, the next copy
 * resumes and ends with the same bytes, and gc removes the rest. */
#include <config.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/alloc-fail.h"
#include "tests/volume/copying.h"

#define CRASHED 42
#define FROM "from.zarr"
#define STORE "copy.zarr"
#define MANY 5000

static const struct radio_copy_options replacing = {
  .existing = RADIO_EXISTING_REPLACE,
};

static enum radio_status
copy (struct radio_store *from, struct radio_store *to,
      struct radio_copy_result *result)
{
  return radio_volume_copy (from, "ct/a", to, NULL, &replacing, result);
}

static void
make_folder (void)
{
  struct nifti_spec spec = small_spec ();
  struct radio_store *store = must_open_store (FROM);
  must_ingest (store, "ct/a", &spec, &many_shards);
  radio_store_close (store);
}

/* The volume is the copy, or the old one, or is not there, as it was. */
static void
assert_is_whole (struct radio_store *store, bool with_old, bool is_new)
{
  struct nifti_spec old = other_spec (), new = small_spec ();
  if (!with_old && !is_new)
    assert_no_volume (store);
  else
    assert_volume_is (store, "ct/a", is_new ? &new : &old);
}

static void
put_old (struct radio_store *store)
{
  struct nifti_spec old = other_spec ();
  must_ingest (store, "ct/a", &old, &many_shards);
}

/*------------------------------------------------------------------------
 * Operations that fail
 *----------------------------------------------------------------------*/

/* A source or a destination whose n-th operation from now on fails; 0: none
 * does. */
static struct radio_store *
open_counted (const char *uri, unsigned nthreads, uint64_t n)
{
  static const struct rd_fault_plan none;
  struct radio_store *store = open_planned (uri, 1, &none);
  uint64_t opening = rd_io_fault_count (store->io, RD_FAULT_ANY);
  radio_store_close (store);
  if (n == 0)
    return open_planned (uri, nthreads, &none);
  const struct rd_fault fault = {
    .op = RD_FAULT_ANY, .nth = opening + n, .kind = RD_FAULT_FAIL,
    .status = RADIO_ERROR_PERMISSION,
  };
  const struct rd_fault_plan plan = { &fault, 1, 0 };
  return open_planned (uri, nthreads, &plan);
}

/* Fails the n-th operation of a copy on one of its stores; false if there are
 * fewer operations. */
static bool
copy_with_fault (uint64_t n, bool of_source, bool with_old,
                 unsigned nthreads)
{
  struct radio_store *from = open_counted (FROM, 1, of_source ? n : 0);
  struct radio_store *to = open_planned (STORE, 1, NULL);
  struct radio_copy_result first = { 0 }, second;
  if (with_old)
    put_old (to);
  radio_store_close (to);
  to = open_counted (STORE, nthreads, of_source ? 0 : n);
  enum radio_status status = copy (from, to, &first);
  bool is_new = was_published (status);
  bool failed = rd_io_fault_n_hits ((of_source ? from : to)->io) > 0;
  assert_true (failed || status == RADIO_OK);
  if (status != RADIO_OK)
    assert_int_equal (status, RADIO_ERROR_PERMISSION);
  radio_store_close (from);
  radio_store_close (to);
  from = must_open_store (FROM);
  to = must_open_store (STORE);
  assert_is_whole (to, with_old, is_new);
  if (failed) {
    assert_ok (copy (from, to, &second));
    if (first.sent_count > 0)
      assert_true (second.there_count >= first.sent_count);
    assert_clean_after_gc (to, 2);
    assert_same_objects (from, "ct/a", to, "ct/a");
  }
  radio_store_close (from);
  radio_store_close (to);
  remove_all (STORE);
  return failed;
}

static void
each_operation_of_a_copy_may_fail (void **state)
{
  (void) state;
  make_folder ();
  for (unsigned nthreads = 1; nthreads <= 3; nthreads += 2)
    for (int kind = 0; kind < 4; kind++) {
      uint64_t n = 1;
      while (copy_with_fault (n, kind & 1, kind & 2, nthreads))
        n++;
      assert_true (n > 10);
    }
  remove_all (FROM);
}

static void
a_copy_that_fails_permanently_leaves_nothing (void **state)
{
  (void) state;
  make_folder ();
  const struct rd_fault fault = {
    .op = RD_FAULT_GET, .key = "/c/", .nth = 4, .kind = RD_FAULT_FLIP,
    .offset = 3, .bit = 1,
  };
  struct radio_store *from = open_faulty (FROM, &fault);
  struct radio_store *to = open_planned (STORE, 1, NULL);
  assert_fails (copy (from, to, NULL), RADIO_ERROR_CHECKSUM, "crc32c");
  assert_int_equal (count_folders (to, "ct"), 0);
  radio_store_close (from);
  radio_store_close (to);
  remove_all (FROM);
  remove_all (STORE);
}

/* The bytes sent are right, the bytes read back are not. */
static void
bytes_that_change_on_their_way_are_found (void **state)
{
  (void) state;
  const struct rd_fault fault = {
    .op = RD_FAULT_GET, .key = "/c/0/0/0", .nth = 1, .kind = RD_FAULT_FLIP,
    .offset = 9, .bit = 7,
  };
  const struct radio_copy_options trusting = { .no_read_back = true };
  make_folder ();
  struct radio_store *from = must_open_store (FROM);
  struct radio_store *to = open_faulty (STORE, &fault);
  struct radio_copy_result result;
  assert_fails (copy (from, to, NULL), RADIO_ERROR_IO,
                "reads otherwise after it was written");
  assert_no_volume (to);
  assert_ok (copy (from, to, &result));
  assert_same_objects (from, "ct/a", to, "ct/a");
  radio_store_close (to);
  remove_all (STORE);
  to = open_faulty (STORE, &fault);
  assert_ok (radio_volume_copy (from, "ct/a", to, NULL, &trusting, NULL));
  radio_store_close (from);
  radio_store_close (to);
  remove_all (FROM);
  remove_all (STORE);
}

static void
a_commit_that_fails_late_loses_no_shards (void **state)
{
  (void) state;
  const struct rd_fault fault = {
    .op = RD_FAULT_PUT, .key = "ct/a/zarr.json", .kind = RD_FAULT_LATE,
    .nth = 1, .status = RADIO_ERROR_IO,
  };
  make_folder ();
  struct radio_store *from = must_open_store (FROM);
  struct radio_store *to = open_faulty (STORE, &fault);
  assert_fails (copy (from, to, NULL), RADIO_ERROR_IO, "ct/a/zarr.json");
  assert_same_objects (from, "ct/a", to, "ct/a");
  assert_clean_after_gc (to, 2);
  assert_same_objects (from, "ct/a", to, "ct/a");
  radio_store_close (from);
  radio_store_close (to);
  remove_all (FROM);
  remove_all (STORE);
}

static void
a_copy_without_memory_is_an_error (void **state)
{
  (void) state;
  for (int with_old = 0; with_old < 2; with_old++) {
    struct radio_store *from = make_source ();
    bool failed = true;
    size_t nth;
    for (nth = 1; failed && nth < MANY; nth += EXHAUSTIVE_STEP) {
      struct radio_store *to = open_planned ("memory:", 1, NULL);
      if (with_old)
        put_old (to);
      alloc_fail_nth (nth);
      enum radio_status status = copy (from, to, NULL);
      failed = alloc_fail_end ();
      bool is_new = was_published (status);
      if (status != RADIO_OK)
        assert_fails (status, RADIO_ERROR_MEMORY, "memory");
      assert_true (failed || status == RADIO_OK);
      assert_is_whole (to, with_old, is_new);
      assert_ok (copy (from, to, NULL));
      assert_clean_after_gc (to, 2);
      assert_same_objects (from, "ct/a", to, "ct/a");
      radio_store_close (to);
    }
    assert_in_range (nth, 100, MANY - 1);
    radio_store_close (from);
  }
}

/* Either all is blanked, or there is no copy. */
static void
a_stripped_copy_without_memory_is_an_error (void **state)
{
  (void) state;
  static const struct radio_copy_options stripping = {
    .existing = RADIO_EXISTING_REPLACE, .strip = true,
  };
  struct radio_store *from = make_source ();
  bool failed = true;
  size_t nth;
  for (nth = 1; failed && nth < MANY; nth += EXHAUSTIVE_STEP) {
    struct radio_store *to = open_planned ("memory:", 1, NULL);
    struct radio_volume *volume;
    struct radio_volume_info info;
    alloc_fail_nth (nth);
    enum radio_status status = radio_volume_copy (from, "ct/a", to, "ct/b",
                                                  &stripping, NULL);
    failed = alloc_fail_end ();
    if (status != RADIO_OK)
      assert_fails (status, RADIO_ERROR_MEMORY, "memory");
    assert_true (failed || status == RADIO_OK);
    assert_ok (radio_volume_copy (from, "ct/a", to, "ct/b", &stripping,
                                  NULL));
    assert_ok (radio_volume_open (to, "ct/b", &volume));
    radio_volume_get_info (volume, &info);
    assert_string_equal (info.source_name, "");
    assert_string_equal (info.source_sha256, "");
    radio_volume_close (volume);
    radio_store_close (to);
  }
  assert_in_range (nth, 100, MANY - 1);
  radio_store_close (from);
}

/*------------------------------------------------------------------------
 * Sudden death
 *----------------------------------------------------------------------*/

/* ThreadSanitizer ends a child that begins threads after its parent had some,
 * and forks slowly; these tests do not concern threads. */
static void
skip_where_children_have_no_threads (void)
{
#ifdef __SANITIZE_THREAD__
  skip ();
#endif
}

/* In a child: copy to a store that ends the process at its n-th operation. */
static void
copy_and_crash (uint64_t n)
{
  const struct rd_fault fault = {
    .op = RD_FAULT_ANY, .nth = n, .kind = RD_FAULT_EXIT, .status = CRASHED,
  };
  struct radio_store *from = must_open_store (FROM);
  struct radio_store *to = open_faulty (STORE, &fault);
  _exit (copy (from, to, NULL) == RADIO_OK ? 0 : 1);
}

static bool
crash (uint64_t n)
{
  int status;
  pid_t child = fork ();
  assert_true (child >= 0);
  if (child == 0)
    copy_and_crash (n);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_true (WIFEXITED (status));
  assert_true (WEXITSTATUS (status) == 0 || WEXITSTATUS (status) == CRASHED);
  return WEXITSTATUS (status) == CRASHED;
}

/* True if the copy exists, rather than the old volume or none, which are whole
 * as well. */
static bool
is_copied (struct radio_store *store, bool with_old)
{
  struct radio_volume *volume;
  struct radio_volume_info info;
  char paths[100];
  list_paths (store, paths, sizeof paths);
  if (paths[0] == '\0' && !with_old)
    return false;
  assert_string_equal (paths, "ct/a");
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  radio_volume_get_info (volume, &info);
  bool is_new = strcmp (info.nifti_type, "float32") != 0;
  radio_volume_close (volume);
  return is_new;
}

static void
a_copy_may_die_anywhere (void **state)
{
  (void) state;
  skip_where_children_have_no_threads ();
  make_folder ();
  unsigned nstale = 0;
  for (int kind = 0; kind < 4; kind++) {
    bool with_old = kind & 1, cleans = kind & 2;
    uint64_t n = 1;
    for (bool crashed = true; crashed; n++) {
      struct radio_store *store = must_open_store (STORE);
      if (with_old)
        put_old (store);
      radio_store_close (store);
      /* No thread may exist when the process forks. */
      crashed = crash (n);
      struct radio_store *from = must_open_store (FROM);
      store = must_open_store (STORE);
      bool is_new = is_copied (store, with_old);
      assert_is_whole (store, with_old, is_new);
      if (is_new || with_old) {
        enum rd_header_state header = header_state (store, "ct/a");
        assert_int_not_equal (header, RD_HEADER_BAD);
        nstale += header == RD_HEADER_STALE;
      }
      if (cleans)
        assert_clean_after_gc (store, is_new || with_old ? 2 : 0);
      assert_ok (copy (from, store, NULL));
      assert_clean_after_gc (store, 2);
      assert_same_objects (from, "ct/a", store, "ct/a");
      radio_store_close (store);
      radio_store_close (from);
      remove_all (STORE);
    }
    assert_true (n > 20);
  }
  assert_true (nstale > 0);
  remove_all (FROM);
}

/* A copy reports to its parent that it has begun, and waits. */
struct stop {
  unsigned nthreads;
  unsigned ncalls, at;
  int fd;
};

static enum radio_status
wait_for_the_end (const struct radio_progress *p, void *user_data)
{
  struct stop *stop = user_data;
  (void) p;
  if (++stop->ncalls < stop->at)
    return RADIO_OK;
  (void) !write (stop->fd, "", 1);
  for (;;)
    pause ();
}

static int
copy_until (const struct stop *where)
{
  struct stop stop = *where;
  const struct radio_copy_options options = {
    .progress = wait_for_the_end, .user_data = &stop,
  };
  struct radio_store *from = must_open_store (FROM);
  struct radio_store *to = open_planned (STORE, stop.nthreads, NULL);
  return (int) radio_volume_copy (from, "ct/a", to, NULL, &options, NULL);
}

/* A copy in a process that is killed, while threads other than the one that
 * stopped are at work; whether it had ended before. */
static bool
copy_and_kill (unsigned nthreads, unsigned at)
{
  int status, fds[2];
  char byte;
  assert_int_equal (pipe (fds), 0);
  const struct stop stop = { nthreads, 0, at, fds[1] };
  pid_t child = fork ();
  assert_true (child >= 0);
  if (child == 0)
    _exit (copy_until (&stop));
  close (fds[1]);
  (void) !read (fds[0], &byte, 1);
  close (fds[0]);
  kill (child, SIGKILL);
  assert_int_equal (waitpid (child, &status, 0), child);
  bool ended = WIFEXITED (status);
  if (ended)
    assert_true (WEXITSTATUS (status) == RADIO_OK
                 || WEXITSTATUS (status) == RADIO_ERROR_EXISTS);
  return ended;
}

/* Each time it comes further, so it ends: by several threads maybe before any
 * of them is stopped, so that one alone comes first. */
static void
a_copy_that_is_killed_again_and_again_ends (void **state)
{
  (void) state;
  skip_where_children_have_no_threads ();
  const struct radio_phantom_options phantom = {
    .shape = { 96, 96, 96 },
    .ingest = { .codec = "none", .tiling = "32,32,4", .shard_nbytes = 1 },
  };
  struct radio_store *from = must_open_store (FROM);
  assert_ok (radio_phantom (from, "ct/a", &phantom));
  radio_store_close (from);
  unsigned nkills = 0;
  while (!copy_and_kill (nkills < 3 ? 1 : 4, 1 + 3 * nkills)) {
    struct radio_store *to = must_open_store (STORE);
    from = must_open_store (FROM);
    if (is_copied (to, false))
      assert_same_objects (from, "ct/a", to, "ct/a");
    else
      assert_no_volume (to);
    radio_store_close (from);
    radio_store_close (to);
    nkills++;
  }
  assert_true (nkills > 2);
  from = must_open_store (FROM);
  struct radio_store *to = must_open_store (STORE);
  assert_clean_after_gc (to, 2);
  assert_same_objects (from, "ct/a", to, "ct/a");
  radio_store_close (to);
  radio_store_close (from);
  remove_all (FROM);
  remove_all (STORE);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_operation_of_a_copy_may_fail),
    cmocka_unit_test (a_copy_that_fails_permanently_leaves_nothing),
    cmocka_unit_test (bytes_that_change_on_their_way_are_found),
    cmocka_unit_test (a_commit_that_fails_late_loses_no_shards),
    cmocka_unit_test (a_copy_without_memory_is_an_error),
    cmocka_unit_test (a_stripped_copy_without_memory_is_an_error),
    cmocka_unit_test (a_copy_may_die_anywhere),
    cmocka_unit_test (a_copy_that_is_killed_again_and_again_ends),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
