/* SPDX-License-Identifier: MIT */
/* Profiles of all operations on a volume on disk: every operation by its
 * name, its steps below it, bytes as the file system counts them, and names
 * of people only where redacting finds them. */
#include <config.h>

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "profiler/model/profile.h"
#include "tests/profile-tree.h"
#include "tests/volume/fixture.h"

#define NX 40
#define NY 36
#define NZ 24
#define VOXELS_NBYTES ((uint64_t) NX * NY * NZ * 2)

static struct nifti_spec
image_spec (void)
{
  struct nifti_spec spec = small_spec ();
  const int64_t dim[8] = { 3, NX, NY, NZ };
  memcpy (spec.dim, dim, sizeof dim);
  return spec;
}

/* A store on disk, and an image in a file whose name is a person's. */
static struct radio_store *
begin (struct rd_buffer *image)
{
  RD_BUFFER_SCOPE struct rd_buffer zipped = { 0 };
  const struct nifti_spec spec = image_spec ();
  spec_image (&spec, image);
  make_gzip (image->data, image->nbytes, 0, &zipped);
  write_file (".", "jane-doe.nii.gz", &zipped);
  return must_open_store ("s.zarr");
}

static const struct radio_ingest_options tiles = {
  .tiling = "16,16,8", .shard_nbytes = NX * NY * 8 * 2,
};

static struct radio_profile *
record_ingest (struct radio_store *store)
{
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_ingest (store, "jane-doe.nii.gz", "ct/jane-doe", &tiles,
                           NULL));
  return tree_end (recorder);
}

/* nftw has no argument of ours. */
static uint64_t walked_nbytes;

static int
add_size (const char *path, const struct stat *st, int type,
          struct FTW *where)
{
  (void) path;
  (void) where;
  if (type == FTW_F)
    walked_nbytes += (uint64_t) st->st_size;
  return 0;
}

static uint64_t
count_bytes_below (const char *folder)
{
  walked_nbytes = 0;
  assert_int_equal (nftw (folder, add_size, 8, FTW_PHYS), 0);
  return walked_nbytes;
}

static void
assert_paths (const struct radio_profile *profile, const char *const *paths)
{
  for (size_t i = 0; paths[i]; i++)
    if (tree_calls (profile, paths[i]) == 0) {
      tree_print (profile);
      fail_msg ("%s is missing", paths[i]);
    }
}

static void
an_ingest_names_its_steps (void **state)
{
  (void) state;
  static const char *const paths[] = {
    "ingest/open image", "ingest/begin level/lock",
    "ingest/begin level/lock/make folder", "ingest/list folder",
    "ingest/open image/read file", "ingest/read slab/inflate",
    "ingest/hash voxels/sha256",
    "ingest/encode tiles/encode/gather",
    "ingest/encode tiles/encode/blosc lz4",
    "ingest/encode tiles/encode/crc32c",
    "ingest/encode tiles/write shard/write",
    "ingest/commit/publish/fsync", "ingest/commit/publish/fsync folder",
    "ingest/commit/publish/rename", "ingest/commit/lock",
    "ingest/commit/write", NULL
  };
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  struct radio_profile *profile = record_ingest (store);
  assert_paths (profile, paths);
  tree_check_sums (profile);
  assert_int_equal (tree_calls (profile,
                                "ingest/encode tiles/write shard"), 3);
  /* Below ingest or, where the file was wanted before, below that. */
  assert_int_equal (tree_calls_of (profile, "create shard"), 3);
  assert_int_equal (tree_calls_of (profile, "commit shards"), 3);
  radio_profile_close (profile);
  radio_store_close (store);
}

static void
an_ingest_shows_its_bytes (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  uint64_t before = count_bytes_below ("s.zarr");
  struct radio_profile *profile = record_ingest (store);
  struct stat st;
  assert_int_equal (stat ("jane-doe.nii.gz", &st), 0);
  assert_int_equal (tree_counter (profile, "ingest", "bytes inflated"),
                    image.nbytes);
  /* 3 x 3 x 3 tiles of 16 x 16 x 8 voxels. */
  assert_int_equal (tree_counter (profile, "ingest", "bytes encoded"),
                    27 * 16 * 16 * 8 * 2);
  assert_int_equal (tree_counter (profile, "ingest", "tiles"), 27);
  assert_int_equal (tree_counter (profile, "ingest", "bytes written"),
                    count_bytes_below ("s.zarr") - before);
  assert_int_equal (
    tree_counter (profile, "ingest/read slab/inflate", "bytes fetched")
    + tree_counter (profile, "ingest/open image", "bytes fetched"),
    st.st_size);
  radio_profile_close (profile);
  radio_store_close (store);
}

static void
a_copy_names_its_steps_and_shows_its_bytes (void **state)
{
  (void) state;
  static const char *const paths[] = {
    "copy/open volume/fetch", "copy/begin level/lock",
    "copy/shards/copy shard/shard index/fetch",
    "copy/shards/copy shard/read/fetch", "copy/shards/copy shard/check",
    "copy/shards/copy shard/write/write",
    "copy/shards/copy shard/write/fsync",
    "copy/shards/copy shard/read back/read/fetch",
    "copy/commit/lock", "copy/commit/rename", NULL
  };
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  radio_profile_close (record_ingest (store));
  struct radio_store *to = must_open_store ("to.zarr");
  uint64_t before = count_bytes_below ("to.zarr");
  struct radio_copy_result result;
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_copy (store, "ct/jane-doe", to, NULL, NULL,
                                &result));
  struct radio_profile *profile = tree_end (recorder);
  assert_paths (profile, paths);
  tree_check_sums (profile);
  assert_int_equal (tree_calls_of (profile, "copy shard"), 3);
  assert_int_equal (tree_counter (profile, "copy", "tiles"), 27);
  assert_int_equal (tree_counter (profile, "copy", "bytes written"),
                    count_bytes_below ("to.zarr") - before);
  assert_int_equal (
    tree_counter (profile, "copy/shards/copy shard/read", "bytes fetched"),
    result.sent_nbytes);
  assert_int_equal (
    tree_counter (profile, "copy/shards/copy shard/read back",
                  "bytes fetched"), result.sent_nbytes);
  radio_profile_close (profile);
  radio_store_close (to);
  radio_store_close (store);
}

static struct radio_volume *
must_open_volume (struct radio_store *store)
{
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, "ct/jane-doe", &volume));
  return volume;
}

static void
opening_shows_its_documents (void **state)
{
  (void) state;
  static const char *const paths[] = {
    "open store/metadata/fetch", "open store/metadata/parse",
    "open volume/metadata/fetch", "open volume/metadata/parse",
    "open volume/parse volume", "open volume/parse array", NULL
  };
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  radio_profile_close (record_ingest (store));
  radio_store_close (store);
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_store_open ("s.zarr", NULL, &store));
  struct radio_volume *volume = must_open_volume (store);
  struct radio_profile *profile = tree_end (recorder);
  assert_paths (profile, paths);
  struct stat st;
  assert_int_equal (stat ("s.zarr/ct/jane-doe/zarr.json", &st), 0);
  assert_int_equal (tree_counter (profile, "open volume", "bytes fetched"),
                    st.st_size);
  assert_int_equal (tree_counter (profile, "open volume", "requests"), 1);
  radio_profile_close (profile);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
planes_show_how_much_is_decoded_for_them (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  radio_profile_close (record_ingest (store));
  struct radio_volume *volume = must_open_volume (store);
  int16_t plane[NX * NY];
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_read_plane (volume, RADIO_AXIAL, 9, RADIO_STORED,
                                      plane, sizeof plane, NULL));
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_calls_of (profile, "decode blosc lz4"), 9);
  assert_int_equal (tree_counter (profile, "read plane", "bytes decoded"),
                    9 * 16 * 16 * 8 * 2);
  assert_int_equal (tree_counter (profile, "read plane", "bytes delivered"),
                    sizeof plane);
  tree_check_sums (profile);
  radio_profile_close (profile);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
a_read_annotates_its_volume_and_box (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  radio_profile_close (record_ingest (store));
  struct radio_volume *volume = must_open_volume (store);
  int16_t room[4 * 5 * 6];
  const struct radio_box box = radio_box3 (1, 4, 2, 5, 3, 6);
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, room,
                                sizeof room, NULL));
  struct radio_profile *profile = tree_end (recorder);
  bool is_name;
  assert_string_equal (tree_note (profile, "box shape", &is_name), "4,5,6");
  assert_false (is_name);
  assert_string_equal (tree_note (profile, "tile shape", &is_name),
                       "8,16,16");
  assert_string_equal (tree_note (profile, "array shape", &is_name),
                       "24,36,40");
  assert_string_equal (tree_note (profile, "volume", &is_name),
                       "ct/jane-doe");
  assert_true (is_name);
  radio_profile_close (profile);
  radio_volume_close (volume);
  radio_store_close (store);
}

/* The numbers of the tiles that spans of a name are about, as bits: there
 * are 27, in shards of 9.  No other span is about any. */
static uint64_t
tiles_of (const struct radio_profile *profile, const char *name,
          size_t *nspans, uint64_t *stored_nbytes)
{
  uint64_t bits = 0;
  *nspans = 0;
  *stored_nbytes = 0;
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    if (strcmp (profile->nodes.at[span->node].name, name) != 0) {
      assert_int_equal (span->tile, 0);
      continue;
    }
    assert_in_range (span->tile, 1, 64);
    bits |= (uint64_t) 1 << (span->tile - 1);
    *stored_nbytes += span->stored_nbytes;
    ++*nspans;
  }
  return bits;
}

/* Shards of 8 planes have 3 x 3 tiles; the box lies in y 16..31 and x 0..39
 * of planes 7 to 8: the middle rows of two shards. */
static void
spans_say_which_tiles_they_decoded (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  radio_profile_close (record_ingest (store));
  struct radio_volume *volume = must_open_volume (store);
  int16_t room[40 * 10 * 2];
  const struct radio_box box = radio_box3 (7, 2, 18, 10, 0, 40);
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, room,
                                sizeof room, NULL));
  struct radio_profile *profile = tree_end (recorder);
  size_t nspans;
  uint64_t stored;
  assert_int_equal (tiles_of (profile, "decode blosc lz4", &nspans, &stored),
                    (uint64_t) 7 << 3 | (uint64_t) 7 << 12);
  assert_int_equal (nspans, 6);
  /* And the indexes of the two shards, with a checksum each. */
  assert_int_equal (stored + 2 * (9 * 16 + 4),
                    tree_counter (profile, "read", "bytes asked"));
  bool is_name;
  assert_string_equal (tree_note (profile, "box start", &is_name), "7,18,0");
  assert_false (is_name);
  assert_string_equal (tree_note (profile, "shard shape", &is_name),
                       "8,48,48");
  radio_profile_close (profile);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
spans_say_which_tiles_they_encoded (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  struct radio_profile *profile = record_ingest (store);
  size_t nspans;
  uint64_t stored;
  assert_int_equal (tiles_of (profile, "encode", &nspans, &stored),
                    ((uint64_t) 1 << 27) - 1);
  assert_int_equal (nspans, 27);
  assert_in_range (stored, 27, tree_counter (profile, "ingest",
                                             "bytes written"));
  radio_profile_close (profile);
  radio_store_close (store);
}

static void
reads_of_many_boxes_list_them (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  radio_profile_close (record_ingest (store));
  struct radio_volume *volume = must_open_volume (store);
  int16_t room[80];
  struct radio_request requests[80];
  for (uint64_t i = 0; i < 80; i++)
    requests[i] = (struct radio_request) {
      .box = radio_box3 (i % 24, 1, 35, 1, 39 - i % 40, 1),
      .buffer = &room[i], .nbytes = sizeof room[i],
    };
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_read_many (volume, requests, 3, RADIO_STORED,
                                     NULL));
  struct radio_profile *profile = tree_end (recorder);
  bool is_name;
  assert_string_equal (tree_note (profile, "boxes", &is_name),
                       "0,35,39+1,1,1 1,35,38+1,1,1 2,35,37+1,1,1");
  radio_profile_close (profile);
  recorder = tree_begin ();
  assert_ok (radio_volume_read_many (volume, requests, 80, RADIO_STORED,
                                     NULL));
  profile = tree_end (recorder);
  const char *list = tree_note (profile, "boxes", &is_name);
  assert_in_range (strlen (list), 900, 1023);
  assert_string_equal (list + strlen (list) - 4, " ...");
  radio_profile_close (profile);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
exports_stats_and_validation_name_their_steps (void **state)
{
  (void) state;
  static const char *const paths[] = {
    "export/read slab/tiles/decode blosc lz4", "export/write elements",
    "export/deflate", "export/write file", "export/commit file",
    "stats/count values",
    "validate/check/list", "validate/check/tiles/decode blosc lz4",
    "validate/check header/open array/metadata",
    "validate/check sha256/read/tiles/decode blosc lz4",
    "validate/check sha256/sha256", "find/read documents/metadata", "list",
    "gc/collect/lock", "remove/lock", "remove/remove file",
    "remove/remove folder", NULL
  };
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  radio_profile_close (record_ingest (store));
  struct radio_volume *volume = must_open_volume (store);
  struct radio_stats stats;
  struct radio_check check;
  char text[200];
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_export (volume, NULL, "jane-doe-back.nii.gz",
                                  NULL));
  assert_ok (radio_volume_stats (volume, false, &stats));
  assert_ok (radio_volume_validate (volume, &check, NULL, NULL));
  radio_volume_close (volume);
  char *path;
  assert_ok (radio_store_find (store, "jane-doe", &path));
  free (path);
  list_paths (store, text, sizeof text);
  assert_ok (radio_store_gc (store, false, NULL));
  assert_ok (radio_store_remove (store, "ct/jane-doe"));
  struct radio_profile *profile = tree_end (recorder);
  assert_paths (profile, paths);
  tree_check_sums (profile);
  assert_int_equal (tree_counter (profile, "export", "bytes encoded"),
                    image.nbytes);
  assert_int_equal (tree_counter (profile, "stats", "bytes delivered"),
                    VOXELS_NBYTES);
  radio_profile_close (profile);
  radio_store_close (store);
}

/* Every text with the person's name is marked as a name: each note of an
 * ingest, a read and the other operations that contains it. */
static void
names_of_people_are_marked_as_names (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_recorder *recorder = tree_begin ();
  struct radio_store *store = begin (&image);
  assert_ok (radio_ingest (store, "jane-doe.nii.gz", "ct/jane-doe", NULL,
                           NULL));
  struct radio_volume *volume = must_open_volume (store);
  int16_t voxel;
  struct radio_check check;
  const struct radio_box box = radio_box3 (1, 1, 2, 1, 3, 1);
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, &voxel,
                                sizeof voxel, NULL));
  assert_ok (radio_volume_export (volume, NULL, "jane-doe.npy", NULL));
  assert_ok (radio_volume_validate (volume, &check, NULL, NULL));
  radio_volume_close (volume);
  assert_ok (radio_store_remove (store, "ct/jane-doe"));
  radio_store_close (store);
  struct radio_profile *profile = tree_end (recorder);
  assert_true (tree_count_names (profile, "jane") > 10);
  radio_profile_close (profile);
}

static void
nothing_is_held_when_all_is_closed (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  struct radio_store *store = begin (&image);
  radio_profile_close (record_ingest (store));
  struct radio_volume *volume = must_open_volume (store);
  struct radio_stats stats;
  assert_ok (radio_volume_stats (volume, true, &stats));
  radio_volume_close (volume);
  radio_store_close (store);
  rd_buffer_free (&image);
  assert_int_equal (rd_alloc_live_count (), 0);
}

#define TEST(test) \
  cmocka_unit_test_setup_teardown (test, enter_folder, leave_folder)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (an_ingest_names_its_steps),
    TEST (an_ingest_shows_its_bytes),
    TEST (a_copy_names_its_steps_and_shows_its_bytes),
    TEST (opening_shows_its_documents),
    TEST (planes_show_how_much_is_decoded_for_them),
    TEST (a_read_annotates_its_volume_and_box),
    TEST (spans_say_which_tiles_they_decoded),
    TEST (spans_say_which_tiles_they_encoded),
    TEST (reads_of_many_boxes_list_them),
    TEST (exports_stats_and_validation_name_their_steps),
    TEST (names_of_people_are_marked_as_names),
    TEST (nothing_is_held_when_all_is_closed),
  };
  if (tree_skip_all ())
    return 0;
  return cmocka_run_group_tests (tests, NULL, NULL);
}
