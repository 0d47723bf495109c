/* SPDX-License-Identifier: MIT */
/* Stores of volumes: listing, finding, removing, cleaning, and others'
 * images among them. */
#include <config.h>

#include <sys/stat.h>
#include <unistd.h>

#include "src/base/text.h"
#include "src/volume/gc/collect.h"
#include "src/volume/list.h"
#include "src/volume/node.h"
#include "src/volume/volume.h"
#include "tests/volume/fixture.h"

static void
ingest_small (struct radio_store *store, const char *path)
{
  struct nifti_spec spec = small_spec ();
  must_ingest (store, path, &spec, NULL);
}

static void
put_text (struct radio_store *store, const char *key, const char *text)
{
  assert_ok (rd_io_put (store->io, key, text, strlen (text),
                        RD_PUT_REPLACE));
}

/* Someone else's image: 4 x 3 x 2 voxels of int8. */
static void
put_image (struct radio_store *store, const char *path, const char *more)
{
  char key[200], text[3000];
  struct radio_array *array;
  struct radio_array_options how = {
    .rank = 3, .shape = { 2, 3, 4 }, .chunk_shape = { 2, 3, 4 },
    .data_type = "int8",
  };
  static const int8_t voxels[24] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
  struct radio_box box = radio_box3 (0, 2, 0, 3, 0, 4);
  snprintf (key, sizeof key, "%s/s0", path);
  assert_ok (radio_array_create (store, key, &how, &array));
  assert_ok (radio_array_write (array, &box, voxels, sizeof voxels));
  radio_array_close (array);
  snprintf (text, sizeof text,
            "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":"
            "{\"ome\":{\"version\":\"0.5\",\"multiscales\":[{\"axes\":["
            "{\"name\":\"z\",\"type\":\"space\"%s},"
            "{\"name\":\"y\",\"type\":\"space\"},"
            "{\"name\":\"x\",\"type\":\"space\"}],\"datasets\":[{\"path\":"
            "\"s0\",\"coordinateTransformations\":[{\"type\":\"scale\","
            "\"scale\":[3,2,1]},{\"type\":\"translation\",\"translation\":"
            "[30,20,10]}]}]}]}}}", more);
  snprintf (key, sizeof key, "%s/zarr.json", path);
  put_text (store, key, text);
}

static void
assert_lists (struct radio_store *store, const char *expected)
{
  char paths[500];
  list_paths (store, paths, sizeof paths);
  assert_string_equal (paths, expected);
}

static void
volumes_are_listed_in_the_order_of_their_documents (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  assert_lists (store, "");
  ingest_small (store, "ct/b");
  ingest_small (store, "ct/a");
  ingest_small (store, "ct-x/z");
  ingest_small (store, "ct/a-1");
  assert_lists (store, "ct-x/z ct/a-1 ct/a ct/b");
  radio_store_close (store);
}

static enum radio_status
stop_at_b (const struct radio_entry *entry, void *user_data)
{
  int *n = user_data;
  ++*n;
  assert_string_equal (entry->collection, "ct");
  return strcmp (entry->name, "b") == 0 ? RADIO_ERROR_CANCELLED : RADIO_OK;
}

static void
a_listing_of_one_collection_can_be_stopped (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  ingest_small (store, "ct/b");
  ingest_small (store, "ct/c");
  int n = 0;
  assert_int_equal (radio_store_list (store, "ct", stop_at_b, &n),
                    RADIO_ERROR_CANCELLED);
  assert_int_equal (n, 2);
  assert_fails (radio_store_list (store, "mr", stop_at_b, &n),
                RADIO_ERROR_NOT_FOUND, "mr");
  radio_store_close (store);
}

static void
volumes_are_found_by_path_or_bare_name (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  ingest_small (store, "ct/both");
  ingest_small (store, "mr/both");
  char *path;
  assert_ok (radio_store_find (store, "a", &path));
  assert_string_equal (path, "ct/a");
  free (path);
  assert_ok (radio_store_find (store, "mr/both", &path));
  assert_string_equal (path, "mr/both");
  free (path);
  assert_fails (radio_store_find (store, "both", &path),
                RADIO_ERROR_ARGUMENT, "ct/both, mr/both");
  assert_fails (radio_store_find (store, "ct", &path),
                RADIO_ERROR_NOT_FOUND, "ct: no such volume in");
  assert_fails (radio_store_find (store, "", &path), RADIO_ERROR_NOT_FOUND,
                "''");
  assert_fails (radio_store_find (store, "ct/", &path),
                RADIO_ERROR_NOT_FOUND, "'ct/'");
  radio_store_close (store);
}

static void
what_is_found_by_its_path_is_listed (void **state)
{
  (void) state;
  static const char group[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
  static const char array[] = "{\"zarr_format\":3,\"node_type\":\"array\"}";
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  put_text (store, "ct/bad/zarr.json", "{");
  put_text (store, "ct/group/zarr.json", group);
  put_text (store, "x/array/zarr.json", array);
  put_text (store, "x/bad/zarr.json", "{");
  put_text (store, "x/group/zarr.json", group);
  assert_lists (store, "ct/a ct/bad ct/group");
  static const char *const paths[] = {
    "ct/a", "ct/bad", "ct/group", "x/array", "x/bad", "x/group", "ct/a/nifti",
    "ct/none", "x/none", "ct",
  };
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    char *path = NULL;
    enum radio_status status = radio_store_find (store, paths[i], &path);
    assert_int_equal (status, i < 3 ? RADIO_OK : RADIO_ERROR_NOT_FOUND);
    if (path)
      assert_string_equal (path, paths[i]);
    free (path);
  }
  /* A collection that has lost its document is not listed, but its volumes
   * open. */
  ingest_small (store, "mr/b");
  assert_ok (rd_io_remove (store->io, "mr/zarr.json"));
  char *path;
  assert_ok (radio_store_find (store, "mr/b", &path));
  free (path);
  radio_store_close (store);
}

static void
near_names_are_suggested_the_nearest_first (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/sub-01");
  ingest_small (store, "ct/sub-02");
  ingest_small (store, "mr/brain");
  char *path;
  assert_fails (radio_store_find (store, "brian", &path),
                RADIO_ERROR_NOT_FOUND, "did you mean mr/brain?");
  assert_fails (radio_store_find (store, "SUB-02", &path),
                RADIO_ERROR_NOT_FOUND, "did you mean ct/sub-02?");
  assert_fails (radio_store_find (store, "sub-03", &path),
                RADIO_ERROR_NOT_FOUND, "mean ct/sub-01 or ct/sub-02?");
  assert_fails (radio_store_find (store, "cd/sub-01", &path),
                RADIO_ERROR_NOT_FOUND, "did you mean ct/sub-01");
  assert_fails (radio_store_find (store, "something", &path),
                RADIO_ERROR_NOT_FOUND, "something: no such volume in");
  assert_null (strstr (radio_error_message (), "did you mean"));
  radio_store_close (store);
}

static void
edit_distances_are_as_by_hand (void **state)
{
  (void) state;
  assert_int_equal (rd_edit_distance ("", ""), 0);
  assert_int_equal (rd_edit_distance ("abc", ""), 6);
  assert_int_equal (rd_edit_distance ("kitten", "sitting"), 6);
  assert_int_equal (rd_edit_distance ("A", "a"), 1);
  assert_int_equal (rd_edit_distance ("abcd", "acbd"), 4);
}

static void
a_removed_volume_is_gone_with_its_data (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  ingest_small (store, "ct/b");
  assert_ok (radio_store_remove (store, "ct/a"));
  assert_lists (store, "ct/b");
  assert_int_equal (count_objects (store, "ct/a"), 0);
  assert_fails (radio_store_remove (store, "ct/a"), RADIO_ERROR_NOT_FOUND,
                "ct/a");
  struct nifti_spec spec = small_spec ();
  assert_volume_is (store, "ct/b", &spec);
  ingest_small (store, "ct/a");
  assert_lists (store, "ct/a ct/b");
  radio_store_close (store);
}

static void
only_volumes_are_removed (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  put_image (store, "ct/other", "");
  size_t n = count_objects (store, "");
  assert_fails (radio_store_remove (store, "ct"), RADIO_ERROR_NOT_FOUND,
                "a group, not a volume");
  assert_fails (radio_store_remove (store, "ct/other/s0"),
                RADIO_ERROR_NOT_FOUND, "an array, not a volume");
  assert_fails (radio_store_remove (store, ""), RADIO_ERROR_ARGUMENT,
                "path");
  assert_int_equal (count_objects (store, ""), n);
  radio_store_close (store);
}

static void
a_volume_with_a_damaged_document_can_be_removed (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  put_text (store, "ct/a/zarr.json", "{ not JSON");
  struct radio_volume *volume;
  assert_fails (radio_volume_open (store, "ct/a", &volume),
                RADIO_ERROR_FORMAT, "ct/a/zarr.json");
  assert_ok (radio_store_remove (store, "ct/a"));
  assert_int_equal (count_objects (store, "ct/a"), 0);
  radio_store_close (store);
}

static void
gc_removes_unnamed_levels_and_replaced_ones (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  const struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  struct nifti_spec spec = small_spec ();
  ingest_small (store, "ct/a");
  must_ingest (store, "ct/a", &spec, &options);
  put_text (store, "ct/a/1-00000000/zarr.json", "{}");
  put_text (store, "ct/dead/0-0123abcd/c/0/0/0", "12345");
  struct radio_gc_result dry, wet;
  assert_ok (radio_store_gc (store, true, &dry));
  assert_int_equal (dry.removed_count, 3);
  assert_ok (radio_store_gc (store, false, &wet));
  assert_int_equal (wet.removed_count, 3);
  assert_int_equal (wet.removed_nbytes, dry.removed_nbytes);
  assert_ok (radio_store_gc (store, false, &wet));
  assert_int_equal (wet.removed_count, 0);
  assert_volume_is (store, "ct/a", &spec);
  assert_int_equal (count_folders (store, "ct/a"), 2);
  assert_int_equal (count_folders (store, "ct"), 1);
  radio_store_close (store);
}

/* As in S3: in memory all objects are young. */
static void
a_young_level_may_have_a_writer_without_shared_locks (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct radio_gc_result result;
  ingest_small (store, "ct/a");
  put_text (store, "ct/a/0-0123abcd/c/0/0/0", "12345");
  put_text (store, "ct/dead/0-0123abcd/c/0/0/0", "12345");
  put_text (store, "ct/dead/nifti/c/0", "12345");
  store->io->grace_s = 10;
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (result.removed_count, 0);
  assert_int_equal (result.busy_count, 2);
  assert_int_equal (count_objects (store, "ct/dead"), 2);
  /* The level that the document named is surely whole, so it goes at once. */
  assert_ok (radio_store_remove (store, "ct/a"));
  assert_int_equal (count_objects (store, "ct/a"), 1);
  assert_int_equal (count_objects (store, "ct/a/0-0123abcd"), 1);
  store->io->grace_s = 0;
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (result.removed_count, 3);
  assert_int_equal (count_objects (store, "ct"), 1);
  radio_store_close (store);
}

/* Missing chunks stand for fill values; those of a level that is gone do
 * not. */
static void
a_volume_that_gc_took_is_not_read_as_zeros (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = small_spec ();
  struct radio_ingest_options replace = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  must_ingest (store, "c/a", &spec, NULL);
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, "c/a", &volume));
  must_ingest (store, "c/a", &spec, &replace);
  assert_volume_is (store, "c/a", &spec);
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  struct radio_box box = { info.array.rank, { 0 }, { 1, 1, 1 } };
  unsigned char voxel[16];
  assert_ok (radio_store_gc (store, false, NULL));
  assert_fails (radio_volume_read (volume, &box, RADIO_STORED, voxel,
                                   sizeof voxel, NULL),
                RADIO_ERROR_NOT_FOUND, "removed or replaced");
  radio_volume_close (volume);
  radio_store_close (store);
}

/* Ingest an image of zeros in two shards, and lose the second. */
static void
ingest_and_lose_a_shard (struct radio_store *store)
{
  struct nifti_spec spec = small_spec ();
  const struct radio_ingest_options options = { .shard_nbytes = 1,
                                                .tiling = "8,8,1" };
  must_ingest (store, "c/a", &spec, &options);
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, "c/a", &volume));
  char key[200];
  snprintf (key, sizeof key, "c/a/%s/c/1/0/0", volume->meta.level_path);
  radio_volume_close (volume);
  assert_ok (store->io->ops->remove (store->io, key));
}

static void
a_lost_shard_is_not_read_as_zeros (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_and_lose_a_shard (store);
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, "c/a", &volume));
  struct radio_box box = radio_box3 (0, 2, 0, 1, 0, 1);
  unsigned char voxels[32];
  assert_fails (radio_volume_read (volume, &box, RADIO_STORED, voxels,
                                   sizeof voxels, NULL),
                RADIO_ERROR_FORMAT, "c/1/0/0: the shard is missing");
  box.size[0] = 1;
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, voxels,
                                sizeof voxels, NULL));
  struct radio_check check;
  assert_fails (radio_volume_validate (volume, &check, NULL, NULL),
                RADIO_ERROR_CHECKSUM, "1 damaged");
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
shards_of_zeros_are_stored (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = small_spec ();
  struct bytes_source source;
  bytes_source_open (&source, &spec);
  memset (source.file.data + source.source.image.prefix.nbytes, 0,
          source.file.nbytes - source.source.image.prefix.nbytes);
  assert_ok (rd_ingest_source (store, &source.source, "c/zeros", NULL, NULL));
  bytes_source_close (&source);
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, "c/zeros", &volume));
  struct radio_check check;
  assert_ok (radio_volume_validate (volume, &check, NULL, NULL));
  assert_true (check.stored_nbytes > 0);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
gc_leaves_data_that_radio_did_not_write (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  put_image (store, "ct/other", "");
  put_text (store, "ct/other/0-01234567/c/0", "theirs");
  put_text (store, "ct/a/labels/zarr.json", "{}");
  put_text (store, "ct/a/0-0123456/x", "not a level's name");
  put_text (store, "ct/notes/readme.txt", "mine");
  put_text (store, "ct/broken/zarr.json", "{");
  put_text (store, "ct/broken/0-01234567/x", "who knows");
  put_text (store, "top/0-01234567/x", "no collection");
  size_t n = count_objects (store, "");
  struct radio_gc_result result;
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (result.removed_count, 0);
  assert_int_equal (count_objects (store, ""), n);
  radio_store_close (store);
}

static void
gc_leaves_others_stores_alone (void **state)
{
  (void) state;
  assert_int_equal (mkdir ("theirs.zarr", 0777), 0);
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  static const char group[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
  must_append (&text, group, strlen (group));
  write_file ("theirs.zarr", "zarr.json", &text);
  struct radio_store *store = must_open_store ("theirs.zarr");
  put_text (store, "c/zarr.json", group);
  put_text (store, "c/v/0-01234567/x", "x");
  struct radio_gc_result result;
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (result.removed_count, 0);
  assert_int_equal (count_objects (store, ""), 3);
  radio_store_close (store);
}

static void
gc_repairs_a_header_array_that_differs (void **state)
{
  (void) state;
  static const char *const damages[][2] = {
    { "ct/a/nifti/c/0", "short" },
    { "ct/a/nifti/zarr.json", "{" },
    { "ct/a/nifti/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}" },
  };
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  for (size_t i = 0; i < 4; i++) {
    if (i < 3)
      put_text (store, damages[i][0], damages[i][1]);
    else
      assert_ok (store->io->ops->remove_tree (store->io, "ct/a/nifti"));
    struct radio_gc_result result;
    struct radio_volume *volume;
    struct radio_check check;
    assert_ok (radio_volume_open (store, "ct/a", &volume));
    assert_fails (radio_volume_validate (volume, &check, NULL, NULL),
                  RADIO_ERROR_CHECKSUM, "ct/a");
    assert_int_equal (check.damaged_count, 1);
    assert_ok (radio_store_gc (store, true, &result));
    assert_int_equal (result.repaired_count, 1);
    assert_ok (radio_store_gc (store, false, &result));
    assert_int_equal (result.repaired_count, 1);
    assert_ok (radio_volume_validate (volume, &check, NULL, NULL));
    radio_volume_close (volume);
  }
  radio_store_close (store);
}

static void
count_damage (const char *message, void *user_data)
{
  (void) message;
  ++*(int *) user_data;
}

static void
a_volume_that_was_replaced_is_not_damaged (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = small_spec ();
  const struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  must_ingest (store, "ct/a", &spec, &options);
  struct radio_volume *volume;
  struct radio_check check;
  int ndamages = 0;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  spec.descrip = "another";
  must_ingest (store, "ct/a", &spec, &options);
  assert_fails (radio_volume_validate (volume, &check, count_damage,
                                       &ndamages),
                RADIO_ERROR_NOT_FOUND, "ct/a: the volume was replaced");
  assert_int_equal (ndamages, 0);
  radio_volume_close (volume);
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  assert_ok (radio_volume_validate (volume, &check, count_damage,
                                    &ndamages));
  radio_volume_close (volume);
  radio_store_close (store);
}

/* As a writer does between the header array and the document. */
static void
a_header_that_is_being_replaced_is_looked_at_again (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  struct radio_volume *volume;
  struct radio_check check;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  assert_ok (store->io->ops->remove (store->io, "ct/a/zarr.json"));
  put_text (store, "ct/a/nifti/c/0", "other");
  assert_fails (radio_volume_validate (volume, &check, NULL, NULL),
                RADIO_ERROR_NOT_FOUND, "ct/a: the volume was removed");
  put_text (store, "ct/a/zarr.json", "{");
  assert_fails (radio_volume_validate (volume, &check, NULL, NULL),
                RADIO_ERROR_CHECKSUM, "1 damaged");
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
others_images_open_with_their_geometry (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  put_image (store, "pictures/one", "");
  struct radio_volume *volume;
  struct radio_volume_info info;
  assert_ok (radio_volume_open (store, "pictures/one", &volume));
  radio_volume_get_info (volume, &info);
  static const double expected[3][4] = {
    { 1, 0, 0, 10 }, { 0, 2, 0, 20 }, { 0, 0, 3, 30 },
  };
  assert_memory_equal (info.affine, expected, sizeof expected);
  assert_string_equal (info.affine_source, "ome");
  assert_string_equal (info.orientation, "");
  assert_int_equal (info.plane_axis[RADIO_AXIAL], 0);
  assert_string_equal (info.nifti_type, "");
  assert_int_equal (info.header_nbytes, 0);
  int8_t plane[6];
  assert_ok (radio_volume_read_plane (volume, RADIO_SAGITTAL, 1,
                                      RADIO_STORED, plane, sizeof plane,
                                      NULL));
  assert_int_equal (plane[0], 2);
  assert_int_equal (plane[1], 6);
  struct radio_check check;
  assert_ok (radio_volume_validate (volume, &check, NULL, NULL));
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
others_orientation_counts_when_all_three_are_given (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  put_image (store, "p/one", "},{\"name\":\"c\"");
  struct radio_volume *volume;
  assert_fails (radio_volume_open (store, "p/one", &volume),
                RADIO_ERROR_FORMAT, "scale");
  put_image (store, "p/two",
             ",\"orientation\":{\"type\":\"anatomical\",\"value\":"
             "\"superior-to-inferior\"}");
  struct radio_volume_info info;
  assert_ok (radio_volume_open (store, "p/two", &volume));
  radio_volume_get_info (volume, &info);
  assert_string_equal (info.orientation, "");
  radio_volume_close (volume);
  radio_store_close (store);
}

/* Replace a part of a volume's document. */
static void
edit (struct radio_store *store, const char *key, const char *from,
      const char *to)
{
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  assert_ok (rd_io_read_all (store->io, key, 1 << 20, &text));
  const char *whole = (const char *) text.data;
  const char *found = strstr (whole, from);
  if (found == NULL)
    fail_msg ("'%s' not in: %s", from, whole);
  must_append (&out, whole, (size_t) (found - whole));
  must_append (&out, to, strlen (to));
  must_append (&out, found + strlen (from),
               strlen (found + strlen (from)));
  assert_ok (rd_io_put (store->io, key, out.data, out.nbytes,
                        RD_PUT_REPLACE));
}

static void
documents_that_contradict_themselves_are_refused (void **state)
{
  (void) state;
  static const struct {
    const char *from, *to, *part;
  } cases[] = {
    { "\"name\": \"z\"", "\"name\": \"y\"", "axes" },
    { "\"int16\"", "\"int32\"", "data_type" },
    { "\"path\": \"0-", "\"path\": \"9-", "datasets[0].path" },
    { "\"multiscales\"", "\"multi\"", "multiscales" },
    { "\"node_type\": \"group\"", "\"node_type\": \"array\"", "array" },
    { "\"consolidated_metadata\": {", "\"consolidated_metadata\": 7, \"x\": {",
      "consolidated_metadata" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct radio_store *store = must_open_store ("memory:");
    ingest_small (store, "ct/a");
    edit (store, "ct/a/zarr.json", cases[i].from, cases[i].to);
    struct radio_volume *volume;
    enum radio_status status = radio_volume_open (store, "ct/a", &volume);
    if (status == RADIO_OK)
      fail_msg ("opens with '%s'", cases[i].to);
    assert_non_null (strstr (radio_error_message (), cases[i].part));
    assert_non_null (strstr (radio_error_message (), "ct/a"));
    radio_store_close (store);
  }
}

static void
a_volume_opens_without_consolidated_metadata (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = small_spec ();
  ingest_small (store, "ct/a");
  edit (store, "ct/a/zarr.json", "\"kind\": \"inline\"",
        "\"kind\": \"elsewhere\"");
  assert_volume_is (store, "ct/a", &spec);
  radio_store_close (store);
}

static void
a_node_that_is_no_volume_is_not_opened (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  ingest_small (store, "ct/a");
  put_image (store, "ct/b", "");
  struct radio_volume *volume;
  assert_fails (radio_volume_open (store, "ct/none", &volume),
                RADIO_ERROR_NOT_FOUND, "ct/none");
  assert_fails (radio_volume_open (store, "ct", &volume),
                RADIO_ERROR_FORMAT, "multiscales");
  assert_fails (radio_volume_open (store, "ct/b/s0", &volume),
                RADIO_ERROR_FORMAT, "array");
  assert_fails (radio_volume_open (NULL, "ct", &volume),
                RADIO_ERROR_ARGUMENT, "NULL");
  radio_store_close (store);
}

static void
level_names_are_distinguished_from_others (void **state)
{
  (void) state;
  char name[RD_LEVEL_NAME_NBYTES];
  assert_ok (rd_level_name (0, name));
  assert_true (rd_is_level_name (name));
  assert_true (rd_is_level_name ("12-0123abcd"));
  assert_false (rd_is_level_name ("0-0123ABCD"));
  assert_false (rd_is_level_name ("0-0123abc"));
  assert_false (rd_is_level_name ("0-0123abcd0"));
  assert_false (rd_is_level_name ("-0123abcd"));
  assert_false (rd_is_level_name ("0"));
  assert_false (rd_is_level_name (""));
  assert_false (rd_is_level_name ("nifti"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (volumes_are_listed_in_the_order_of_their_documents),
    cmocka_unit_test (a_listing_of_one_collection_can_be_stopped),
    cmocka_unit_test (volumes_are_found_by_path_or_bare_name),
    cmocka_unit_test (what_is_found_by_its_path_is_listed),
    cmocka_unit_test (near_names_are_suggested_the_nearest_first),
    cmocka_unit_test (edit_distances_are_as_by_hand),
    cmocka_unit_test (a_removed_volume_is_gone_with_its_data),
    cmocka_unit_test (only_volumes_are_removed),
    cmocka_unit_test (a_volume_with_a_damaged_document_can_be_removed),
    cmocka_unit_test (gc_removes_unnamed_levels_and_replaced_ones),
    cmocka_unit_test (
      a_young_level_may_have_a_writer_without_shared_locks),
    cmocka_unit_test (a_volume_that_gc_took_is_not_read_as_zeros),
    cmocka_unit_test (a_lost_shard_is_not_read_as_zeros),
    cmocka_unit_test (shards_of_zeros_are_stored),
    cmocka_unit_test (gc_leaves_data_that_radio_did_not_write),
    cmocka_unit_test (gc_leaves_others_stores_alone),
    cmocka_unit_test (gc_repairs_a_header_array_that_differs),
    cmocka_unit_test (a_volume_that_was_replaced_is_not_damaged),
    cmocka_unit_test (a_header_that_is_being_replaced_is_looked_at_again),
    cmocka_unit_test (others_images_open_with_their_geometry),
    cmocka_unit_test (others_orientation_counts_when_all_three_are_given),
    cmocka_unit_test (documents_that_contradict_themselves_are_refused),
    cmocka_unit_test (a_volume_opens_without_consolidated_metadata),
    cmocka_unit_test (a_node_that_is_no_volume_is_not_opened),
    cmocka_unit_test (level_names_are_distinguished_from_others),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
