/* SPDX-License-Identifier: MIT */
/* Waiting for the disk while an array is written by layers: neither encoding
 * threads nor the one that gives layers do, as long as there is room.  The
 * store here holds an operation up until another one was seen, which never
 * comes when both are one thread's. */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

#include "io/io.h"
#include "src/array/write-layers.h"

#define SHARD 64
#define NSHARDS 20
#define COUNT (NSHARDS * SHARD)

/* More than any machine needs, less than the test's own limit. */
#define PATIENCE_S 20

/* Operations of the store. */
static struct {
  const struct rd_io_ops *ops;        /* of the store itself */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  unsigned ncreated, nappended, ncommitted;
  unsigned most_open;
  uint64_t expected_nbytes;           /* of all shards */
  bool gave_up;
} seen = {
  .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
};

/* The first commit waits for this many appends and creates, and the first
 * append for this many creates. */
struct holds {
  unsigned commit_for_appends, append_for_creates;
};

static struct holds holds;

struct seen_writer {
  struct rd_io_writer base;
  struct rd_io_writer *inner;
};

static void
count (unsigned *counter)
{
  pthread_mutex_lock (&seen.mutex);
  *counter += 1;
  unsigned nopen = seen.ncreated - seen.ncommitted;
  if (nopen > seen.most_open)
    seen.most_open = nopen;
  pthread_cond_broadcast (&seen.changed);
  pthread_mutex_unlock (&seen.mutex);
}

static void
wait_for (const unsigned *counter, unsigned n)
{
  struct timespec until;
  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_S;
  pthread_mutex_lock (&seen.mutex);
  while (*counter < n && !seen.gave_up)
    seen.gave_up = pthread_cond_timedwait (&seen.changed, &seen.mutex,
                                           &until) != 0;
  pthread_mutex_unlock (&seen.mutex);
}

static enum radio_status
seen_append (struct rd_io_writer *writer, const struct rd_part *parts,
             size_t n)
{
  struct seen_writer *w = (struct seen_writer *) writer;
  wait_for (&seen.ncreated, holds.append_for_creates);
  enum radio_status status = w->inner->ops->append (w->inner, parts, n);
  count (&seen.nappended);
  return status;
}

static enum radio_status
seen_commit (struct rd_io_writer *writer)
{
  struct seen_writer *w = (struct seen_writer *) writer;
  wait_for (&seen.nappended, holds.commit_for_appends);
  enum radio_status status = w->inner->ops->commit (w->inner);
  count (&seen.ncommitted);
  free (w);
  return status;
}

static void
seen_abort (struct rd_io_writer *writer)
{
  struct seen_writer *w = (struct seen_writer *) writer;
  w->inner->ops->abort (w->inner);
  free (w);
}

/* Called once for each shard, as it has one layer. */
static void
seen_expect (struct rd_io_writer *writer, uint64_t nbytes)
{
  (void) writer;
  pthread_mutex_lock (&seen.mutex);
  seen.expected_nbytes += nbytes;
  pthread_mutex_unlock (&seen.mutex);
}

static const struct rd_io_writer_ops seen_writer_ops = {
  .append = seen_append, .commit = seen_commit, .abort = seen_abort,
  .expect = seen_expect,
};

static enum radio_status
seen_create (struct rd_io *io, const char *key, struct rd_io_writer **writer)
{
  struct seen_writer *w = calloc (1, sizeof *w);
  assert_non_null (w);
  w->base.ops = &seen_writer_ops;
  enum radio_status status = seen.ops->create (io, key, &w->inner);
  if (status != RADIO_OK) {
    free (w);
    return status;
  }
  count (&seen.ncreated);
  *writer = &w->base;
  return RADIO_OK;
}

struct setting {
  struct radio_store *store;
  struct radio_array *array;
  struct rd_layers *layers;
};

static void
setting_open (struct setting *setting, const char *uri, unsigned nthreads)
{
  static struct rd_io_ops ops;
  static const struct radio_array_options sharded = {
    .rank = 1, .shape = { COUNT }, .chunk_shape = { SHARD },
    .data_type = "uint8", .codecs_json =
      "[{\"name\":\"sharding_indexed\",\"configuration\":{"
      "\"chunk_shape\":[16],\"codecs\":[{\"name\":\"bytes\"}],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"
      "{\"endian\":\"little\"}},{\"name\":\"crc32c\"}]}}]",
  };
  const struct radio_context_options context = { .nthreads = nthreads };
  const uint64_t shape[1] = { SHARD };
  struct radio_store_options options = { .create = true };
  struct rd_io *io;
  *setting = (struct setting) { 0 };
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (rd_io_open (uri, true, &io));
  ops = *io->ops;
  ops.create = seen_create;
  seen.ops = io->ops;
  seen.ncreated = seen.nappended = seen.ncommitted = seen.most_open = 0;
  seen.expected_nbytes = 0;
  seen.gave_up = false;
  io->ops = &ops;
  assert_ok (rd_store_open_io (io, &options, &setting->store));
  radio_context_close (options.context);
  assert_ok (radio_array_create (setting->store, "x", &sharded,
                                 &setting->array));
  assert_ok (rd_layers_open (setting->array, shape, NULL, &setting->layers));
}

static void
setting_close (struct setting *setting)
{
  rd_layers_close (setting->layers);
  radio_array_close (setting->array);
  radio_store_close (setting->store);
  holds = (struct holds) { 0 };
}

/* A shard in one layer. */
static enum radio_status
give (struct rd_layers *layers, uint64_t number)
{
  const struct radio_box box = { 1, { number * SHARD }, { SHARD } };
  const int64_t stride = 1;
  unsigned char *room;
  RD_TRY (rd_layers_buffer (layers, &room));
  memset (room, (int) number + 1, SHARD);
  return rd_layers_give (layers, &box, &stride, false);
}

static void
write_all (struct setting *setting)
{
  uint64_t stored_nbytes = 0;
  for (uint64_t i = 0; i < NSHARDS; i++)
    assert_ok (give (setting->layers, i));
  assert_ok (rd_layers_finish (setting->layers, &stored_nbytes));
  /* 4 entries and the checksum of each index. */
  assert_int_equal (stored_nbytes, COUNT + NSHARDS * (4 * 16 + 4));
  assert_int_equal (seen.expected_nbytes, COUNT);
}

static void
assert_is_there (const struct setting *setting)
{
  const struct radio_box whole = { 1, { 0 }, { COUNT } };
  unsigned char read[COUNT];
  assert_ok (radio_array_read (setting->array, &whole, RADIO_STORED, read,
                               sizeof read, NULL));
  for (size_t i = 0; i < COUNT; i++)
    assert_int_equal (read[i], i / SHARD + 1);
}

static void
layers_go_on_while_a_shard_is_committed (void **state)
{
  (void) state;
  for (unsigned nthreads = 2; nthreads <= 4; nthreads++) {
    struct setting setting;
    setting_open (&setting, "memory:", nthreads);
    holds.commit_for_appends = 7;
    write_all (&setting);
    assert_false (seen.gave_up);
    assert_is_there (&setting);
    setting_close (&setting);
  }
}

static void
the_file_of_a_shard_is_made_before_it_is_wanted (void **state)
{
  (void) state;
  for (unsigned nthreads = 2; nthreads <= 4; nthreads++) {
    struct setting setting;
    setting_open (&setting, "memory:", nthreads);
    holds.append_for_creates = 3;
    write_all (&setting);
    assert_false (seen.gave_up);
    assert_is_there (&setting);
    setting_close (&setting);
  }
}

static void
few_files_are_open_at_a_time (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++) {
    struct setting setting;
    setting_open (&setting, "memory:", nthreads);
    write_all (&setting);
    assert_int_equal (seen.ncommitted, NSHARDS);
    assert_in_range (seen.most_open, 1, 8);
    setting_close (&setting);
  }
}

/* A writer that gives up before the end: what was complete may be there or not,
 * what was not is not. */
static void
closing_removes_incomplete_shards (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++)
    for (uint64_t n = 0; n < 6; n++) {
      struct setting setting;
      char key[32];
      uint64_t nbytes;
      setting_open (&setting, "memory:", nthreads);
      for (uint64_t i = 0; i < n; i++)
        assert_ok (give (setting.layers, i));
      rd_layers_close (setting.layers);
      setting.layers = NULL;
      snprintf (key, sizeof key, "x/c/%d", n > 0 ? (int) n - 1 : 0);
      assert_int_equal (seen.ops->size (setting.store->io, key, &nbytes),
                        RADIO_ERROR_NOT_FOUND);
      setting_close (&setting);
    }
}

/* In the child: the errors, and that closing returns. */
static int
fail_in_child (struct setting *setting)
{
  uint64_t stored_nbytes = 0;
  alarm (PATIENCE_S);
  if (rd_layers_finish (setting->layers, &stored_nbytes)
      != RADIO_ERROR_FORKED)
    return 1;
  rd_layers_close (setting->layers);
  return 0;
}

static void
a_forked_child_leaves_the_files_to_its_parent (void **state)
{
  struct setting setting;
  int status;
  uint64_t stored_nbytes = 0;
  (void) state;
  setting_open (&setting, "test-shards.zarr", 2);
  for (uint64_t i = 0; i < NSHARDS; i++)
    assert_ok (give (setting.layers, i));
  pid_t child = fork ();
  assert_true (child >= 0);
  if (child == 0)
    _exit (fail_in_child (&setting));
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_true (WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), 0);
  assert_ok (rd_layers_finish (setting.layers, &stored_nbytes));
  assert_is_there (&setting);
  assert_ok (seen.ops->remove_tree (setting.store->io, ""));
  setting_close (&setting);
  assert_int_equal (rmdir ("test-shards.zarr"), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (layers_go_on_while_a_shard_is_committed),
    cmocka_unit_test (the_file_of_a_shard_is_made_before_it_is_wanted),
    cmocka_unit_test (few_files_are_open_at_a_time),
    cmocka_unit_test (closing_removes_incomplete_shards),
    cmocka_unit_test (a_forked_child_leaves_the_files_to_its_parent),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
