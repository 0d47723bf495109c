/* SPDX-License-Identifier: MIT */
/* Open files and decoded tiles that are kept between the reads of a volume:
 * every read is right, even if objects are replaced or removed meanwhile, and
 * nothing is left when the volume is closed. */
#include <config.h>

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/array/cache/reads.h"
#include "src/volume/volume.h"
#include "tests/element/random.h"
#include "tests/profile-tree.h"
#include "tests/volume/fixture.h"

/* 3 x 3 x 3 tiles, the last of each axis cut by the edge; of some types. */
static struct nifti_spec
tiled_spec (int datatype)
{
  return (struct nifti_spec) {
    .dim = { 3, 70, 66, 20 }, .datatype = datatype, .sform_code = 1,
    .srow = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } },
  };
}

/* A volume, and its expected content. */
struct sample {
  struct radio_store *store;
  struct radio_volume *volume;
  struct rd_buffer expected;
  size_t item_nbytes;
  uint64_t shape[3];
};

static void
sample_open (struct sample *sample, const struct nifti_spec *spec,
             const struct radio_context_options *how,
             const struct radio_ingest_options *ingest)
{
  struct radio_store_options options = { .create = true };
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct radio_volume_info info;
  *sample = (struct sample) { 0 };
  assert_ok (radio_context_open (how, &options.context));
  assert_ok (radio_store_open ("s.zarr", &options, &sample->store));
  radio_context_close (options.context);
  must_ingest (sample->store, "ct/a", spec, ingest);
  assert_ok (radio_volume_open (sample->store, "ct/a", &sample->volume));
  spec_image (spec, &file);
  expected_elements (spec, &file, &sample->expected);
  radio_volume_get_info (sample->volume, &info);
  sample->item_nbytes = info.array.item_nbytes;
  memcpy (sample->shape, info.array.shape, sizeof sample->shape);
}

static void
sample_close (struct sample *sample)
{
  radio_volume_close (sample->volume);
  radio_store_close (sample->store);
  rd_buffer_free (&sample->expected);
}

/* True if rows of a box of the volume are as expected. */
static bool
is_right (const struct sample *sample, const struct radio_box *box,
          const unsigned char *got)
{
  size_t row = (size_t) box->size[2] * sample->item_nbytes;
  for (uint64_t z = 0; z < box->size[0]; z++)
    for (uint64_t y = 0; y < box->size[1]; y++, got += row) {
      uint64_t at = ((box->start[0] + z) * sample->shape[1]
                     + box->start[1] + y) * sample->shape[2] + box->start[2];
      if (memcmp (got, sample->expected.data + at * sample->item_nbytes, row))
        return false;
    }
  return true;
}

static enum radio_status
try_read (const struct sample *sample, const struct radio_box *box,
          bool *right)
{
  size_t nbytes = (size_t) radio_box_count (box) * sample->item_nbytes;
  unsigned char *room = malloc (nbytes + 1);
  memset (room, 0x5a, nbytes + 1);
  enum radio_status status = radio_volume_read (
    sample->volume, box, RADIO_STORED, room, nbytes, NULL);
  *right = status == RADIO_OK && is_right (sample, box, room);
  free (room);
  return status;
}

static void
must_read (const struct sample *sample, struct radio_box box)
{
  bool right;
  assert_ok (try_read (sample, &box, &right));
  assert_true (right);
}

static struct radio_box
axial (const struct sample *sample, uint64_t z)
{
  return radio_box3 (z, 1, 0, sample->shape[1], 0, sample->shape[2]);
}

static void
scroll (const struct sample *sample)
{
  for (uint64_t z = 0; z < sample->shape[0]; z++)
    must_read (sample, axial (sample, z));
  for (uint64_t z = sample->shape[0]; z-- > 0;)
    must_read (sample, axial (sample, z));
  for (uint64_t y = 0; y < sample->shape[1]; y += 1)
    must_read (sample, radio_box3 (0, sample->shape[0], y, 1, 0,
                                   sample->shape[2]));
  for (uint64_t x = 0; x < sample->shape[2]; x += 3)
    must_read (sample, radio_box3 (0, sample->shape[0], 0, sample->shape[1],
                                   x, 1));
}

/* A box anywhere of any size. */
static struct radio_box
random_box (const struct sample *sample, uint64_t *seed)
{
  struct radio_box box = { .rank = 3 };
  for (size_t i = 0; i < 3; i++) {
    box.start[i] = random_next (seed) % sample->shape[i];
    box.size[i] = 1 + random_next (seed) % (sample->shape[i] - box.start[i]);
  }
  return box;
}

static uint64_t
cached_nbytes (const struct sample *sample)
{
  struct rd_tile_cache *tiles = sample->store->context->tiles;
  return tiles ? rd_tile_cache_nbytes (tiles) : 0;
}

static const struct radio_context_options with_cache = {
  .nthreads = 2, .cache_nbytes = 8 << 20,
};

static void
scrolling_is_right_with_every_codec (void **state)
{
  static const char *const codecs[] = {
    "small", "medium", "fast", "none",
    "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},"
    "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]",
    "[{\"name\":\"transpose\",\"configuration\":{\"order\":[2,0,1]}},"
    "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]",
  };
  (void) state;
  for (size_t i = 0; i < 6; i++)
    for (int datatype = 4; datatype <= 16; datatype *= 2) {
      struct sample sample;
      const struct nifti_spec spec = tiled_spec (datatype);
      const struct radio_ingest_options ingest = {
        .codec = codecs[i], .existing = RADIO_EXISTING_REPLACE,
      };
      sample_open (&sample, &spec, &with_cache, &ingest);
      scroll (&sample);
      /* Others than elements in C order are not worth keeping. */
      assert_int_equal (cached_nbytes (&sample) > 0, i < 5);
      sample_close (&sample);
    }
}

static void
any_order_of_reads_is_right_in_any_room (void **state)
{
  static const uint64_t rooms[] = { 100000, 400000, 0, RADIO_NO_CACHE };
  const struct nifti_spec spec = tiled_spec (4);
  (void) state;
  for (size_t i = 0; i < 4; i++) {
    struct radio_context_options how = {
      .nthreads = 1 + i % 2, .cache_nbytes = rooms[i],
    };
    const struct radio_ingest_options ingest = {
      .existing = RADIO_EXISTING_REPLACE,
    };
    struct sample sample;
    uint64_t seed = 7 + i;
    sample_open (&sample, &spec, &how, &ingest);
    for (int n = 0; n < 300; n++) {
      must_read (&sample, random_box (&sample, &seed));
      assert_true (rooms[i] == 0 || cached_nbytes (&sample) <= rooms[i]);
    }
    assert_int_equal (cached_nbytes (&sample) > 0,
                      rooms[i] != RADIO_NO_CACHE);
    sample_close (&sample);
  }
}

static void
planes_of_three_directions_at_once_are_kept (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4);
  unsigned char *rooms[3];
  (void) state;
  sample_open (&sample, &spec, &with_cache, NULL);
  const uint64_t *n = sample.shape;
  for (size_t i = 0; i < 3; i++)
    rooms[i] = malloc (n[1] * n[2] * sample.item_nbytes);
  for (uint64_t k = 0; k < 10; k++) {
    struct radio_request requests[3] = {
      { .box = radio_box3 (k, 1, 0, n[1], 0, n[2]) },
      { .box = radio_box3 (0, n[0], k, 1, 0, n[2]) },
      { .box = radio_box3 (0, n[0], 0, n[1], k, 1) },
    };
    for (size_t i = 0; i < 3; i++) {
      requests[i].buffer = rooms[i];
      requests[i].nbytes = n[1] * n[2] * sample.item_nbytes;
    }
    assert_ok (radio_volume_read_many (sample.volume, requests, 3,
                                       RADIO_STORED, NULL));
    for (size_t i = 0; i < 3; i++)
      assert_true (is_right (&sample, &requests[i].box, rooms[i]));
  }
  assert_true (cached_nbytes (&sample) > 0);
  for (size_t i = 0; i < 3; i++)
    free (rooms[i]);
  sample_close (&sample);
}

/* 9 tiles a plane: none of them is decoded more than twice. */
static void
profiles_count_hits (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4);
  (void) state;
  sample_open (&sample, &spec, &with_cache, NULL);
  struct radio_recorder *recorder = tree_begin ();
  for (uint64_t z = 0; z < 8; z++)
    must_read (&sample, axial (&sample, z));
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_total (profile, "tiles"), 2 * 9);
  assert_true (tree_calls_of (profile, "cache hit") >= 6);
  /* The index as well: it was read once, and found seven times. */
  assert_int_equal (tree_total (profile, "cache hits"), 6 * 9 + 7);
  assert_int_equal (tree_total (profile, "cache misses"), 9 + 1);
  assert_int_equal (tree_total (profile, "bytes delivered"),
                    8 * sample.shape[1] * sample.shape[2] * 2);
  tree_check_sums (profile);
  radio_profile_close (profile);
  sample_close (&sample);
}

static void
reading_here_and_there_keeps_nothing (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4);
  (void) state;
  sample_open (&sample, &spec, &with_cache, NULL);
  must_read (&sample, axial (&sample, 0));
  must_read (&sample, axial (&sample, 9));
  must_read (&sample, axial (&sample, 18));
  assert_int_equal (cached_nbytes (&sample), 0);
  sample_close (&sample);
}

static void
closing_a_volume_frees_its_tiles (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4);
  (void) state;
  sample_open (&sample, &spec, &with_cache, NULL);
  scroll (&sample);
  assert_true (cached_nbytes (&sample) > 0);
  radio_volume_close (sample.volume);
  sample.volume = NULL;
  assert_int_equal (cached_nbytes (&sample), 0);
  sample_close (&sample);
}

/* A read returns the elements that the handle has written. */
static void
a_read_returns_the_elements_that_the_handle_wrote (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4);
  (void) state;
  sample_open (&sample, &spec, &with_cache, NULL);
  scroll (&sample);
  const struct radio_box whole = { 3, { 0 }, { sample.shape[0],
                                               sample.shape[1],
                                               sample.shape[2] } };
  for (size_t i = 0; i < sample.expected.nbytes; i++)
    sample.expected.data[i] ^= 0x55;
  assert_ok (radio_array_write (radio_volume_array (sample.volume), &whole,
                                sample.expected.data,
                                sample.expected.nbytes));
  scroll (&sample);
  sample_close (&sample);
}

/* Descriptors of this process that lead to shards. */
static size_t
count_shards (void)
{
  size_t n = 0;
  DIR *dir = opendir ("/proc/self/fd");
  if (dir == NULL)
    skip ();
  for (const struct dirent *d; (d = readdir (dir)) != NULL;) {
    char target[4096];
    ssize_t length = readlinkat (dirfd (dir), d->d_name, target,
                                 sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    n += strstr (target, "/s.zarr/ct/a/") != NULL;
  }
  closedir (dir);
  return n;
}

/* Shards of 8 planes each. */
static const struct radio_ingest_options small_shards = {
  .shard_nbytes = 8 * 66 * 70 * 2,
};

static void
each_shard_is_opened_once_and_closed_with_the_volume (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4);
  (void) state;
  sample_open (&sample, &spec, &with_cache, &small_shards);
  assert_int_equal (count_shards (), 0);
  must_read (&sample, axial (&sample, 3));
  assert_int_equal (count_shards (), 1);
  scroll (&sample);
  assert_int_equal (count_shards (), 3);
  radio_volume_close (sample.volume);
  sample.volume = NULL;
  assert_int_equal (count_shards (), 0);
  sample_close (&sample);
}

static void
readers_of_a_replaced_volume_continue (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4), other = tiled_spec (8);
  const struct radio_ingest_options replace = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  (void) state;
  struct radio_context_options how = { .cache_nbytes = RADIO_NO_CACHE };
  sample_open (&sample, &spec, &how, &small_shards);
  scroll (&sample);
  must_ingest (sample.store, "ct/a", &other, &replace);
  scroll (&sample);
  struct radio_volume *new;
  assert_ok (radio_volume_open (sample.store, "ct/a", &new));
  radio_volume_close (new);
  assert_volume_is (sample.store, "ct/a", &other);
  sample_close (&sample);
}

/* Its shards' files are given up at once: the disk has their room back. */
static void
gc_of_the_same_process_closes_kept_files (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4), other = tiled_spec (8);
  const struct radio_ingest_options replace = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  struct radio_gc_result result;
  (void) state;
  sample_open (&sample, &spec, &with_cache, &small_shards);
  must_read (&sample, axial (&sample, 3));
  must_ingest (sample.store, "ct/a", &other, &replace);
  assert_ok (radio_store_gc (sample.store, false, &result));
  assert_int_equal (count_shards (), 0);
  bool right;
  struct radio_box box = axial (&sample, 19);
  assert_int_not_equal (try_read (&sample, &box, &right), RADIO_OK);
  sample_close (&sample);
}

static void
validating_looks_at_the_files_themselves (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4);
  struct radio_check check;
  (void) state;
  sample_open (&sample, &spec, &with_cache, &small_shards);
  scroll (&sample);
  char command[200];
  snprintf (command, sizeof command, "f=$(ls -d s.zarr/ct/a/0-*/c/0/0/0) "
            "&& cp $f copy && printf x | dd of=copy conv=notrunc bs=1 "
            "seek=200 2>/dev/null && mv copy $f");
  assert_int_equal (system (command), 0);
  assert_int_equal (radio_volume_validate (sample.volume, &check, NULL, NULL),
                    RADIO_ERROR_CHECKSUM);
  assert_int_equal (check.damaged_count, 1);
  sample_close (&sample);
}

static void
a_forked_child_gets_an_error_and_leaves_the_parent_alone (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4);
  (void) state;
  sample_open (&sample, &spec, &with_cache, &small_shards);
  scroll (&sample);
  pid_t child = fork ();
  if (child == 0) {
    alarm (20);
    bool right;
    struct radio_box box = axial (&sample, 3);
    enum radio_status status = try_read (&sample, &box, &right);
    radio_volume_close (sample.volume);
    radio_store_close (sample.store);
    _exit (status == RADIO_ERROR_FORKED ? 0 : 1);
  }
  int status;
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_int_equal (status, 0);
  scroll (&sample);
  sample_close (&sample);
}

#define NTHREADS 4

struct reader {
  const struct sample *sample;
  uint64_t seed;
  atomic_uint *nwrong;
};

static void *
read_on (void *argument)
{
  struct reader *reader = argument;
  for (uint64_t n = 0; n < 150; n++) {
    struct radio_box box = n % 3 ? axial (reader->sample, n % 20)
                                 : random_box (reader->sample, &reader->seed);
    bool right;
    (void) try_read (reader->sample, &box, &right);
    *reader->nwrong += !right;
  }
  return NULL;
}

static void
threads_share_kept_files (void **state)
{
  struct sample sample;
  const struct nifti_spec spec = tiled_spec (4);
  struct radio_context_options how = {
    .nthreads = 3, .cache_nbytes = 300000,
  };
  (void) state;
  sample_open (&sample, &spec, &how, &small_shards);
  pthread_t threads[NTHREADS];
  struct reader readers[NTHREADS];
  atomic_uint nwrong = 0;
  for (uint64_t i = 0; i < NTHREADS; i++) {
    readers[i] = (struct reader) { &sample, i, &nwrong };
    assert_int_equal (pthread_create (&threads[i], NULL, read_on,
                                      &readers[i]), 0);
  }
  for (size_t i = 0; i < NTHREADS; i++)
    pthread_join (threads[i], NULL);
  assert_int_equal (nwrong, 0);
  assert_true (cached_nbytes (&sample) <= 300000);
  sample_close (&sample);
}

#define CASE(fn) \
  cmocka_unit_test_setup_teardown (fn, enter_folder, leave_folder)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    CASE (scrolling_is_right_with_every_codec),
    CASE (any_order_of_reads_is_right_in_any_room),
    CASE (planes_of_three_directions_at_once_are_kept),
    CASE (profiles_count_hits),
    CASE (reading_here_and_there_keeps_nothing),
    CASE (closing_a_volume_frees_its_tiles),
    CASE (a_read_returns_the_elements_that_the_handle_wrote),
    CASE (each_shard_is_opened_once_and_closed_with_the_volume),
    CASE (readers_of_a_replaced_volume_continue),
    CASE (gc_of_the_same_process_closes_kept_files),
    CASE (validating_looks_at_the_files_themselves),
    CASE (a_forked_child_gets_an_error_and_leaves_the_parent_alone),
    CASE (threads_share_kept_files),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
