/* SPDX-License-Identifier: MIT */
/* The memory limit: what reads and writes hold at one time, counted. */
#include <config.h>

#include <unistd.h>

#include "tests/alloc-peak.h"
#include "tests/unit.h"

#include <radio/array.h>

#include "src/base/checked.h"
#include "tests/io/deferred.h"
#include "src/array/array.h"

#define MIB ((size_t) 1 << 20)
#define SIDE 1024

#define BYTES "{\"name\":\"bytes\"}"
#define ZSTD(level)                                                     \
  "{\"name\":\"zstd\",\"configuration\":{\"level\":" level ","          \
  "\"checksum\":false}}"
#define GZIP "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}"
#define BLOSC                                                           \
  "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\","           \
  "\"clevel\":1,\"shuffle\":\"bitshuffle\",\"typesize\":1,"             \
  "\"blocksize\":0}}"
#define TRANSPOSE "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}"
#define CRC "{\"name\":\"crc32c\"}"
#define SHARDS(tile, codecs)                                            \
  "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":"  \
  tile ",\"codecs\":[" codecs "],\"index_codecs\":[{\"name\":\"bytes\"," \
  "\"configuration\":{\"endian\":\"little\"}}," CRC "]}}"

/* Chunks of 256 KiB to 1 MiB, 16 at least. */
static const struct {
  const char *codecs;
  uint64_t chunk;                     /* rows; columns are all */
} kinds[] = {
  { "[" BYTES "]", 64 },
  { "[" BYTES "," CRC "]", 64 },
  { "[" BYTES "," ZSTD ("1") "," CRC "]", 64 },
  { "[" BYTES "," GZIP "]", 64 },
  { "[" BYTES "," BLOSC "," CRC "]", 64 },
  { "[" TRANSPOSE "," BYTES "," BLOSC "," ZSTD ("1") "]", 64 },
  { "[" SHARDS ("[16,1024]", BYTES "," CRC) "]", 64 },
  { "[" SHARDS ("[16,256]", BYTES "," ZSTD ("1")) "]", 128 },
  { "[" SHARDS ("[16,1024]", SHARDS ("[16,64]", BYTES "," BLOSC)) "]", 64 },
  { "[" TRANSPOSE "," SHARDS ("[64,16]", BYTES "," GZIP) "]", 64 },
  { "[" SHARDS ("[16,64]", BYTES "," CRC) "," ZSTD ("1") "]", 64 },
  { "[" SHARDS ("[1,32]", BYTES) "]", 256 },
};
#define NKINDS (sizeof kinds / sizeof kinds[0])

static const struct radio_box whole = { 2, { 0, 0 }, { SIDE, SIDE } };

/* An array on a disk, so that what is stored holds no memory. */
struct disk {
  char folder[32];
  struct radio_store *store;
  struct radio_array *array;
  unsigned char *elements, *room;
};

/* Open the store with some limit. */
static void
disk_reopen (struct disk *disk, unsigned nthreads, uint64_t limit_nbytes,
             bool deferred)
{
  const struct radio_context_options context = {
    .nthreads = nthreads, .memory_limit_nbytes = limit_nbytes,
  };
  struct radio_store_options options = { .create = true };
  struct rd_io *io;
  radio_array_close (disk->array);
  radio_store_close (disk->store);
  disk->array = NULL;
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (rd_io_open (disk->folder, true, &io));
  if (deferred)
    assert_ok (rd_io_deferred_open (io, 1, &io));
  assert_ok (rd_store_open_io (io, &options, &disk->store));
  radio_context_close (options.context);
}

static void
disk_open (struct disk *disk, size_t kind)
{
  const struct radio_array_options options = {
    .rank = 2, .shape = { SIDE, SIDE },
    .chunk_shape = { kinds[kind].chunk, SIDE }, .data_type = "uint8",
    .codecs_json = kinds[kind].codecs,
  };
  uint32_t noise = 1;
  memset (disk, 0, sizeof *disk);
  snprintf (disk->folder, sizeof disk->folder, "test-limit-XXXXXX");
  assert_non_null (mkdtemp (disk->folder));
  disk_reopen (disk, 1, 0, false);
  assert_ok (radio_array_create (disk->store, "x", &options, &disk->array));
  disk->elements = malloc (SIDE * SIDE);
  disk->room = malloc (SIDE * SIDE);
  assert_true (disk->elements && disk->room);
  for (size_t i = 0; i < SIDE * SIDE; i++) {
    noise = noise * 1664525 + 1013904223;
    disk->elements[i] = (unsigned char) (1 + (noise >> 24) % 32);
  }
}

static void
disk_close (struct disk *disk)
{
  struct rd_io *io = disk->store->io;
  assert_ok (io->ops->remove_tree (io, ""));
  radio_array_close (disk->array);
  radio_store_close (disk->store);
  assert_int_equal (rmdir (disk->folder), 0);
  free (disk->elements);
  free (disk->room);
}

/* The size of the lists of a plan and of the handles. */
#define SMALL_NBYTES (MIB / 2)

/* Read all within a limit, or fail for the limit; whether it was read. */
static bool
read_within (struct disk *disk, size_t limit_nbytes, bool deferred)
{
  disk_reopen (disk, 4, limit_nbytes, deferred);
  assert_ok (radio_array_open (disk->store, "x", &disk->array));
  memset (disk->room, 0, SIDE * SIDE);
  alloc_peak_begin ();
  enum radio_status status = radio_array_read (
    disk->array, &whole, RADIO_STORED, disk->room, SIDE * SIDE, NULL);
  size_t peak = alloc_peak (), held = alloc_peak_held ();
  if (peak > limit_nbytes + SMALL_NBYTES
      || held > limit_nbytes / 4 + SMALL_NBYTES)
    fail_msg ("limit %zu: %zu held at one time, %zu at the end",
              limit_nbytes, peak, held);
  if (status == RADIO_OK)
    assert_memory_equal (disk->room, disk->elements, SIDE * SIDE);
  else
    assert_int_equal (status, RADIO_ERROR_LIMIT);
  return status == RADIO_OK;
}

static void
reads_hold_no_more_than_the_limit (void **state)
{
  (void) state;
  for (size_t kind = 0; kind < NKINDS; kind++) {
    struct disk disk;
    disk_open (&disk, kind);
    assert_ok (radio_array_write (disk.array, &whole, disk.elements,
                                  SIDE * SIDE));
    for (int deferred = 0; deferred < 2; deferred++) {
      assert_false (read_within (&disk, 4096, deferred));
      for (size_t limit = MIB / 16; limit < 8 * MIB; limit *= 2)
        (void) read_within (&disk, limit, deferred);
      assert_true (read_within (&disk, 8 * MIB, deferred));
    }
    disk_close (&disk);
  }
}

static void
writes_stay_within_the_memory_limit (void **state)
{
  (void) state;
  for (size_t kind = 0; kind < NKINDS; kind++) {
    struct disk disk;
    disk_open (&disk, kind);
    for (size_t limit = MIB / 4; limit <= 64 * MIB; limit *= 16) {
      disk_reopen (&disk, 3, limit, false);
      assert_ok (radio_array_open (disk.store, "x", &disk.array));
      uint64_t said = rd_write_nbytes (disk.array, &whole);
      alloc_peak_begin ();
      enum radio_status status = radio_array_write (
        disk.array, &whole, disk.elements, SIDE * SIDE);
      if (said > limit)
        assert_int_equal (status, RADIO_ERROR_LIMIT);
      else
        assert_ok (status);
      if (alloc_peak () > rd_min_u64 (said, limit) + SMALL_NBYTES)
        fail_msg ("%s: %zu held, %zu said", kinds[kind].codecs,
                  alloc_peak (), (size_t) said);
    }
    disk_close (&disk);
  }
}

/* A file can be far larger than its chunk can be: that takes no more than
 * each reader's share. */
static void
objects_that_are_too_large_take_no_memory_by_their_size (void **state)
{
  struct disk disk;
  (void) state;
  disk_open (&disk, 2);
  unsigned char *rubbish = calloc (1, 4 * MIB);
  assert_non_null (rubbish);
  for (unsigned i = 0; i < SIDE / 64; i++) {
    char key[32];
    snprintf (key, sizeof key, "x/c/%u/0", i);
    assert_ok (rd_io_put (disk.store->io, key, rubbish, 4 * MIB,
                          RD_PUT_REPLACE));
  }
  free (rubbish);
  for (int deferred = 0; deferred < 2; deferred++)
    assert_false (read_within (&disk, 5 * MIB, deferred));
  disk_close (&disk);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (reads_hold_no_more_than_the_limit),
    cmocka_unit_test (writes_stay_within_the_memory_limit),
    cmocka_unit_test (
      objects_that_are_too_large_take_no_memory_by_their_size),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
