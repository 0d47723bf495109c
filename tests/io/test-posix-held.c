/* SPDX-License-Identifier: MIT */
/* Files of the posix store that are held open: their content stays the same,
 * few are open at one time, and unused ones are closed when a descriptor is
 * needed. */
#include <config.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/io/fault.h"
#include "io/posix/posix.h"
#include "tests/io/site.h"
#include "tests/io/store-asserts.h"

/* Descriptors of this process. */
static size_t
count_open (void)
{
  DIR *dir = opendir ("/proc/self/fd");
  if (dir == NULL)
    skip ();
  size_t n = 0;
  while (readdir (dir))
    n++;
  closedir (dir);
  return n;
}

static struct rd_io_file *
hold_kept (struct rd_io *io, const char *key)
{
  struct rd_io_file *file = rd_io_hold (io, key, true);
  assert_non_null (file);
  return file;
}

static void
keep (struct rd_io *io, const char *key)
{
  rd_io_release (io, hold_kept (io, key));
}

static const char *
numbered (char key[32], unsigned i)
{
  snprintf (key, 32, "many/%u", i);
  return key;
}

static void
put_many (struct rd_io *io, unsigned n)
{
  char key[32];
  for (unsigned i = 0; i < n; i++)
    put_text (io, numbered (key, i), "x");
}

/* Reads a held file. */
static void
assert_held (struct rd_io *io, struct rd_io_file *file, const char *key,
             const char *text)
{
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  struct rd_io_get get = {
    .key = key, .file = file, .range = RD_RANGE_ALL, .nbytes = 100,
    .into = &buffer,
  };
  assert_ok (rd_io_read (io, &get));
  assert_int_equal (get.object_nbytes, strlen (text));
  assert_int_equal (buffer.nbytes, strlen (text));
  assert_memory_equal (buffer.data, text, strlen (text));
}

static void
every_range_of_a_held_file_is_read (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "a/k", "0123456789");
  struct rd_io_file *file = hold_kept (io, "a/k");
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  struct rd_io_get get = {
    .key = "a/k", .file = file, .range = RD_RANGE_SPAN, .offset = 3,
    .nbytes = 4, .into = &buffer,
  };
  assert_ok (rd_io_read (io, &get));
  assert_memory_equal (buffer.data, "3456", 4);
  get.range = RD_RANGE_SUFFIX;
  get.nbytes = 2;
  assert_ok (rd_io_read (io, &get));
  assert_int_equal (buffer.nbytes, 2);
  assert_memory_equal (buffer.data, "89", 2);
  get.range = RD_RANGE_ALL;
  get.nbytes = 9;
  assert_fails (rd_io_read (io, &get), RADIO_ERROR_LIMIT, "10 bytes");
  rd_io_release (io, file);
}

static void
held_files_stay_the_same (void **state)
{
  struct rd_io *io = io_of (state);
  for (int kept = 0; kept < 2; kept++) {
    put_text (io, "k", "before");
    struct rd_io_file *file = rd_io_hold (io, "k", kept);
    assert_non_null (file);
    put_text (io, "k", "after it");
    assert_held (io, file, "k", "before");
    assert_ok (io->ops->remove (io, "k"));
    assert_held (io, file, "k", "before");
    rd_io_release (io, file);
  }
}

static void
replaced_files_are_not_held_again (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "k", "before");
  keep (io, "k");
  put_text (io, "k", "after it");
  struct rd_io_file *file = hold_kept (io, "k");
  assert_held (io, file, "k", "after it");
  rd_io_release (io, file);
}

static void
removed_files_are_not_held_again (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "a/k", "1");
  put_text (io, "a/b/k", "2");
  keep (io, "a/k");
  keep (io, "a/b/k");
  assert_ok (io->ops->remove (io, "a/k"));
  assert_null (rd_io_hold (io, "a/k", true));
  assert_ok (io->ops->remove_tree (io, "a"));
  assert_null (rd_io_hold (io, "a/b/k", true));
}

static void
only_kept_files_stay_open (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "k", "1");
  size_t before = count_open ();
  rd_io_release (io, rd_io_hold (io, "k", false));
  assert_int_equal (count_open (), before);
  keep (io, "k");
  assert_int_equal (count_open (), before + 1);
  keep (io, "k");
  assert_int_equal (count_open (), before + 1);
}

static void
removing_closes_kept_files (void **state)
{
  struct rd_io *io = io_of (state);
  put_many (io, 3);
  size_t before = count_open ();
  char key[32];
  for (unsigned i = 0; i < 3; i++)
    keep (io, numbered (key, i));
  assert_ok (io->ops->remove (io, "many/0"));
  assert_int_equal (count_open (), before + 2);
  assert_ok (io->ops->remove_tree (io, "many"));
  assert_int_equal (count_open (), before);
}

static void
forgetting_spares_other_names (void **state)
{
  struct rd_io *io = io_of (state);
  static const char *const keys[] = { "a/k", "a/b/k", "ab/k", "b" };
  for (size_t i = 0; i < 4; i++)
    put_text (io, keys[i], "1");
  size_t before = count_open ();
  for (size_t i = 0; i < 4; i++)
    keep (io, keys[i]);
  rd_io_forget (io, "a");
  assert_int_equal (count_open (), before + 2);
  rd_io_forget (io, "b");
  assert_int_equal (count_open (), before + 1);
  rd_io_forget (io, "");
  assert_int_equal (count_open (), before);
}

static void
forgotten_files_in_use_are_closed_by_the_last_user (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "k", "abc");
  size_t before = count_open ();
  struct rd_io_file *one = hold_kept (io, "k"), *two = hold_kept (io, "k");
  assert_ptr_equal (one, two);
  rd_io_forget (io, "k");
  struct rd_io_file *new = hold_kept (io, "k");
  assert_ptr_not_equal (new, one);
  rd_io_release (io, one);
  assert_held (io, two, "k", "abc");
  assert_int_equal (count_open (), before + 2);
  rd_io_release (io, two);
  assert_int_equal (count_open (), before + 1);
  rd_io_release (io, new);
}

static void
no_more_than_the_bound_are_open (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_file *files[RD_POSIX_MAX_FILES];
  char key[32];
  put_many (io, RD_POSIX_MAX_FILES + 1);
  const char *last = numbered (key, RD_POSIX_MAX_FILES);
  size_t before = count_open ();
  for (unsigned i = 0; i < RD_POSIX_MAX_FILES; i++) {
    char name[32];
    files[i] = rd_io_hold (io, numbered (name, i), i % 2);
    assert_non_null (files[i]);
  }
  assert_null (rd_io_hold (io, last, true));
  assert_null (rd_io_hold (io, last, false));
  assert_text (io, last, "x");
  rd_io_release (io, files[0]);         /* was not kept */
  files[0] = hold_kept (io, last);
  rd_io_release (io, files[1]);         /* was, and must give way */
  files[1] = rd_io_hold (io, "many/0", true);
  assert_non_null (files[1]);
  assert_int_equal (count_open (), before + RD_POSIX_MAX_FILES);
  for (unsigned i = 0; i < RD_POSIX_MAX_FILES; i++)
    rd_io_release (io, files[i]);
}

/* True if a file is kept open: only then can it be held after a rename that
 * the store did not see. */
static bool
is_kept (void **state, const char *key)
{
  char path[256], hidden[300];
  snprintf (path, sizeof path, "%s/%s", place_of (state), key);
  snprintf (hidden, sizeof hidden, "%s-hidden", path);
  assert_int_equal (rename (path, hidden), 0);
  struct rd_io_file *file = rd_io_hold (io_of (state), key, true);
  rd_io_release (io_of (state), file);
  assert_int_equal (rename (hidden, path), 0);
  return file != NULL;
}

static void
the_longest_unused_makes_room (void **state)
{
  struct rd_io *io = io_of (state);
  char key[32];
  put_many (io, RD_POSIX_MAX_FILES + 2);
  for (unsigned i = 0; i < RD_POSIX_MAX_FILES; i++)
    keep (io, numbered (key, i));
  keep (io, "many/0");                  /* used again: 1 is the oldest now */
  keep (io, numbered (key, RD_POSIX_MAX_FILES));
  assert_true (is_kept (state, "many/0"));
  assert_true (is_kept (state, "many/2"));
  assert_false (is_kept (state, "many/1"));
}

static void
kept_files_are_closed_when_descriptors_run_out (void **state)
{
  struct rd_io *io = io_of (state);
  struct rlimit limit, low;
  char key[32];
  put_many (io, 8);
  for (unsigned i = 0; i < 8; i++)
    keep (io, numbered (key, i));
  int highest = open ("/", O_RDONLY);
  assert_true (highest >= 0);
  close (highest);
  assert_int_equal (getrlimit (RLIMIT_NOFILE, &limit), 0);
  low = limit;
  low.rlim_cur = (rlim_t) highest;      /* no number is free below it */
  assert_int_equal (setrlimit (RLIMIT_NOFILE, &low), 0);
  enum radio_status put = rd_io_put (io, "new", "text", 4, RD_PUT_REPLACE);
  struct rd_io_file *file = rd_io_hold (io, "new", true);
  enum radio_status read = read_key (io, "many/7");
  assert_int_equal (setrlimit (RLIMIT_NOFILE, &limit), 0);
  assert_ok (put);
  assert_ok (read);
  assert_non_null (file);
  rd_io_release (io, file);
}

static void
only_regular_files_are_held (void **state)
{
  struct rd_io *io = io_of (state);
  char path[256];
  put_text (io, "folder/k", "x");
  snprintf (path, sizeof path, "%s/pipe", place_of (state));
  assert_int_equal (mkfifo (path, 0600), 0);
  size_t before = count_open ();
  for (int kept = 0; kept < 2; kept++) {
    assert_null (rd_io_hold (io, "none", kept));
    assert_null (rd_io_hold (io, "folder", kept));
    assert_null (rd_io_hold (io, "pipe", kept));
    assert_null (rd_io_hold (io, "a/../folder/k", kept));
  }
  assert_int_equal (count_open (), before);
}

static void
wrappers_hand_on_and_still_fail (void **state)
{
  put_text (io_of (state), "k", "abc");
  struct rd_fault fault = { .op = RD_FAULT_GET, .nth = 2,
                            .status = RADIO_ERROR_IO };
  const struct rd_fault_plan plan = { .faults = &fault, .n = 1 };
  struct rd_io *io;
  assert_ok (rd_io_fault_open (place_open (place_of (state)), &plan, &io));
  struct rd_io_file *file = hold_kept (io, "k");
  assert_held (io, file, "k", "abc");
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  struct rd_io_get get = { .key = "k", .file = file, .range = RD_RANGE_ALL,
                           .nbytes = 100, .into = &buffer };
  assert_int_equal (rd_io_read (io, &get), RADIO_ERROR_IO);
  rd_io_release (io, file);
  rd_io_forget (io, "k");
  rd_io_close (io);
}

static void
a_store_in_memory_holds_nothing (void **state)
{
  (void) state;
  struct rd_io *io;
  assert_ok (rd_io_open ("memory:", false, &io));
  put_text (io, "k", "x");
  assert_null (rd_io_hold (io, "k", true));
  rd_io_release (io, NULL);
  rd_io_forget (io, "k");
  rd_io_close (io);
}

#define NTHREADS 4
#define NKEYS (RD_POSIX_MAX_FILES + 16)
#define NROUNDS 400

struct racer {
  struct rd_io *io;
  unsigned number;
  atomic_uint *nfailed;
};

/* Hold, read and release, while others do the same, replace and forget. */
static void *
race (void *argument)
{
  struct racer *racer = argument;
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  char key[32];
  for (unsigned i = 0; i < NROUNDS; i++) {
    numbered (key, (i * (racer->number + 1)) % NKEYS);
    if (racer->number == 0 && i % 16 == 0)
      *racer->nfailed
        += rd_io_put (racer->io, key, "x", 1, RD_PUT_REPLACE) != RADIO_OK;
    if (racer->number == 1 && i % 32 == 0)
      rd_io_forget (racer->io, "many");
    struct rd_io_get get = {
      .key = key, .file = rd_io_hold (racer->io, key, i % 3),
      .range = RD_RANGE_ALL, .nbytes = 9, .into = &buffer,
    };
    bool good = rd_io_read (racer->io, &get) == RADIO_OK
      && buffer.nbytes == 1 && buffer.data[0] == 'x';
    *racer->nfailed += !good;
    rd_io_release (racer->io, get.file);
  }
  return NULL;
}

static void
threads_may_race_for_the_files (void **state)
{
  struct rd_io *io = io_of (state);
  put_many (io, NKEYS);
  size_t before = count_open ();
  pthread_t threads[NTHREADS];
  struct racer racers[NTHREADS];
  atomic_uint nfailed = 0;
  for (unsigned i = 0; i < NTHREADS; i++) {
    racers[i] = (struct racer) { io, i, &nfailed };
    assert_int_equal (pthread_create (&threads[i], NULL, race, &racers[i]),
                      0);
  }
  for (unsigned i = 0; i < NTHREADS; i++)
    pthread_join (threads[i], NULL);
  assert_int_equal (nfailed, 0);
  assert_true (count_open () <= before + RD_POSIX_MAX_FILES);
  rd_io_forget (io, "many");
  assert_int_equal (count_open (), before);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    SITE_CASE (every_range_of_a_held_file_is_read),
    SITE_CASE (held_files_stay_the_same),
    SITE_CASE (replaced_files_are_not_held_again),
    SITE_CASE (removed_files_are_not_held_again),
    SITE_CASE (only_kept_files_stay_open),
    SITE_CASE (removing_closes_kept_files),
    SITE_CASE (forgetting_spares_other_names),
    SITE_CASE (forgotten_files_in_use_are_closed_by_the_last_user),
    SITE_CASE (no_more_than_the_bound_are_open),
    SITE_CASE (the_longest_unused_makes_room),
    SITE_CASE (kept_files_are_closed_when_descriptors_run_out),
    SITE_CASE (only_regular_files_are_held),
    SITE_CASE (wrappers_hand_on_and_still_fail),
    SITE_CASE (a_store_in_memory_holds_nothing),
    SITE_CASE (threads_may_race_for_the_files),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
