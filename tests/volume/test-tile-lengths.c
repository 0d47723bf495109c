/* SPDX-License-Identifier: MIT */
/* The lengths of tiles in a volume's document: a first read over a network
 * needs no shard index, and lengths that are damaged, of another image, or of
 * tiles that another program has moved, change nothing but that. */
#include <config.h>

#include <ctype.h>

#include "src/volume/volume.h"
#include "src/codec/scratch.h"
#include "tests/io/deferred.h"
#include "tests/io/fault.h"
#include "tests/volume/fixture.h"

#define MEMBER "\"tile_lengths\": \""

static const struct rd_fault_plan no_faults = { 0 };

/* A store that does not block, as one on a network, in memory.  *io counts its
 * operations; it is the store's. */
static struct radio_store *
open_remote (struct rd_io **io)
{
  const struct radio_context_options context = {
    .nthreads = 2, .cache_nbytes = RADIO_NO_CACHE,
  };
  struct radio_store_options options = { .create = true };
  struct radio_store *store;
  struct rd_io *outer;
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (rd_io_open ("memory:", true, io));
  assert_ok (rd_io_fault_open (*io, &no_faults, io));
  assert_ok (rd_io_deferred_open (*io, 1, &outer));
  assert_ok (rd_store_open_io (outer, &options, &store));
  radio_context_close (options.context);
  return store;
}

/* Several shards of several tiles. */
static void
ingest_shards (struct radio_store *store, const char *path)
{
  const struct nifti_spec spec = {
    .dim = { 3, 40, 40, 30 }, .datatype = 4,
  };
  const struct radio_ingest_options options = { .shard_nbytes = 1 };
  must_ingest (store, path, &spec, &options);
}

/* The document of a volume, and where its lengths begin; NULL: none. */
static char *
get_lengths (struct radio_store *store, const char *path,
             struct rd_buffer *text)
{
  char key[64];
  snprintf (key, sizeof key, "%s/zarr.json", path);
  assert_ok (rd_io_read_all (store->io, key, 1 << 20, text));
  char *found = strstr ((char *) text->data, MEMBER);
  return found ? found + strlen (MEMBER) : NULL;
}

static void
put_document (struct radio_store *store, const char *path,
              const struct rd_buffer *text)
{
  char key[64];
  snprintf (key, sizeof key, "%s/zarr.json", path);
  assert_ok (rd_io_put (store->io, key, text->data, text->nbytes,
                        RD_PUT_REPLACE));
}

static enum radio_status
read_whole (struct radio_store *store, const char *path,
            struct rd_buffer *elements)
{
  struct radio_volume *volume RD_CLEANUP (rd_cleanup_volume) = NULL;
  assert_ok (radio_volume_open (store, path, &volume));
  const struct radio_array_info *info = &volume->info.array;
  struct radio_box box = { .rank = info->rank };
  memcpy (box.size, info->shape, sizeof box.size);
  size_t nbytes = radio_box_count (&box) * info->item_nbytes;
  elements->nbytes = 0;
  assert_ok (rd_buffer_reserve (elements, nbytes));
  elements->nbytes = nbytes;
  return radio_volume_read (volume, &box, RADIO_STORED, elements->data,
                            elements->nbytes, NULL);
}

static void
the_first_read_asks_for_no_index (void **state)
{
  struct rd_io *io;
  struct radio_volume *volume;
  const struct radio_box box = { .rank = 3, .size = { 1, 1, 1 } };
  int16_t value;
  (void) state;
  struct radio_store *store = open_remote (&io);
  ingest_shards (store, "ct/a");
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  uint64_t before = rd_io_fault_count (io, RD_FAULT_GET);
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, &value,
                                sizeof value, NULL));
  assert_int_equal (rd_io_fault_count (io, RD_FAULT_GET) - before, 1);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
lengths_agree_with_the_indexes_of_any_image (void **state)
{
  static const struct nifti_spec specs[] = {
    { .dim = { 3, 40, 40, 30 }, .datatype = 4 },
    { .dim = { 3, 1, 1, 1 }, .datatype = 2 },
    { .dim = { 4, 33, 20, 17, 3 }, .datatype = 16, .big_endian = true },
    { .dim = { 5, 9, 8, 7, 3, 1 }, .datatype = 1792 },
    { .dim = { 2, 300, 100 }, .datatype = 512 },
  };
  static const char *const tilings[] = { "balanced", "axial", "3,2,4" };
  struct radio_store *store = must_open_store ("memory:");
  (void) state;
  for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
    for (size_t k = 0; k < 6; k++) {
      RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
      const struct radio_ingest_options options = {
        .existing = RADIO_EXISTING_REPLACE, .tiling = tilings[k % 3],
        .shard_nbytes = k / 3,
      };
      must_ingest (store, "ct/a", &specs[i], &options);
      assert_non_null (get_lengths (store, "ct/a", &text));
      /* Also compares them. */
      assert_volume_is (store, "ct/a", &specs[i]);
    }
  radio_store_close (store);
}

/* Several layers: the tiles of a layer follow each other, and those of a
 * colour do not. */
static void
a_shard_in_another_order_has_no_lengths (void **state)
{
  struct radio_store *store = must_open_store ("memory:");
  const struct nifti_spec spec = {
    .dim = { 3, 256, 256, 40 }, .datatype = 128,
  };
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  (void) state;
  must_ingest (store, "ct/rgb", &spec, NULL);
  assert_null (get_lengths (store, "ct/rgb", &text));
  assert_volume_is (store, "ct/rgb", &spec);
  radio_store_close (store);
}

static void
each_damaged_character_changes_nothing (void **state)
{
  struct rd_io *io;
  struct radio_store *store = open_remote (&io);
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 }, right = { 0 };
  (void) state;
  ingest_shards (store, "ct/a");
  assert_ok (read_whole (store, "ct/a", &right));
  char *lengths = get_lengths (store, "ct/a", &text);
  assert_non_null (lengths);
  assert_true (isalnum ((unsigned char) lengths[20]));
  for (char *p = lengths; *p != '"'; p++) {
    RD_BUFFER_SCOPE struct rd_buffer got = { 0 };
    char was = *p;
    *p = was == 'A' ? 'B' : was == '=' ? 'Q' : 'A';
    put_document (store, "ct/a", &text);
    assert_ok (read_whole (store, "ct/a", &got));
    assert_int_equal (got.nbytes, right.nbytes);
    assert_memory_equal (got.data, right.data, got.nbytes);
    *p = was;
  }
  radio_store_close (store);
}

/* Sound lengths, but of other tiles: what they find is refused by its
 * checksum, and then the shards' own indexes are read. */
static void
lengths_of_another_image_change_nothing_and_are_reported (void **state)
{
  struct rd_io *io;
  struct radio_store *store = open_remote (&io);
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 }, other = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer right = { 0 }, got = { 0 };
  struct nifti_spec spec = { .dim = { 3, 40, 40, 30 }, .datatype = 4 };
  const struct radio_ingest_options options = {
    .shard_nbytes = 1, .codec = "none",
  };
  struct radio_volume *volume;
  struct radio_check check;
  (void) state;
  ingest_shards (store, "ct/a");
  must_ingest (store, "ct/b", &spec, &options);
  assert_ok (read_whole (store, "ct/a", &right));
  char *mine = get_lengths (store, "ct/a", &text);
  char *theirs = get_lengths (store, "ct/b", &other);
  assert_non_null (mine);
  assert_non_null (theirs);
  RD_BUFFER_SCOPE struct rd_buffer mixed = { 0 };
  must_append (&mixed, text.data, (size_t) (mine - (char *) text.data));
  must_append (&mixed, theirs, strcspn (theirs, "\""));
  mine += strcspn (mine, "\"");
  must_append (&mixed, mine, strlen (mine));
  put_document (store, "ct/a", &mixed);
  assert_ok (read_whole (store, "ct/a", &got));
  assert_memory_equal (got.data, right.data, right.nbytes);
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  assert_int_equal (radio_volume_validate (volume, &check, NULL, NULL),
                    RADIO_ERROR_CHECKSUM);
  assert_true (check.damaged_count > 0);
  radio_volume_close (volume);
  radio_store_close (store);
}

/* Damage of a shard is reported as where its own index is read. */
static void
a_damaged_shard_is_reported_as_by_its_index (void **state)
{
  RD_BUFFER_SCOPE struct rd_buffer shard = { 0 }, got = { 0 };
  struct rd_io *io;
  struct radio_store *store = open_remote (&io);
  struct radio_volume *volume;
  char key[RD_KEY_NBYTES];
  const uint64_t first[RADIO_MAX_RANK] = { 0 };
  (void) state;
  ingest_shards (store, "ct/a");
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  rd_array_chunk_key (volume->array, first, key);
  radio_volume_close (volume);
  assert_ok (rd_io_read_all (store->io, key, 1 << 20, &shard));

  assert_ok (rd_io_put (store->io, key, shard.data, 10, RD_PUT_REPLACE));
  assert_fails (read_whole (store, "ct/a", &got), RADIO_ERROR_FORMAT,
                "less than its index");
  assert_ok (store->io->ops->remove (store->io, key));
  assert_int_not_equal (read_whole (store, "ct/a", &got), RADIO_OK);
  assert_non_null (strstr (radio_error_message (), key));
  shard.data[7] ^= 1;
  assert_ok (rd_io_put (store->io, key, shard.data, shard.nbytes,
                        RD_PUT_REPLACE));
  assert_fails (read_whole (store, "ct/a", &got), RADIO_ERROR_CHECKSUM, key);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_first_read_asks_for_no_index),
    cmocka_unit_test (lengths_agree_with_the_indexes_of_any_image),
    cmocka_unit_test (a_shard_in_another_order_has_no_lengths),
    cmocka_unit_test (each_damaged_character_changes_nothing),
    cmocka_unit_test (
      lengths_of_another_image_change_nothing_and_are_reported),
    cmocka_unit_test (a_damaged_shard_is_reported_as_by_its_index),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
