/* SPDX-License-Identifier: MIT */
/* Ingest: every image reads back unchanged, and a failed ingest leaves no
 * object. */
#include <config.h>

#include <math.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/volume/fixture.h"

static const char *const tilings[] = { NULL, "axial", "isotropic", "3,2,4" };
static const char *const codecs[] = {
  NULL, "small", "fast", "none",
  "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},"
  "{\"name\":\"zstd\",\"configuration\":{\"level\":3}}]",
};

#define NTILINGS (sizeof tilings / sizeof tilings[0])
#define NCODECS (sizeof codecs / sizeof codecs[0])

static void
every_type_comes_back_from_every_tiling_and_codec (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  for (size_t i = 0; i < SPEC_TYPE_COUNT; i++)
    for (size_t k = 0; k < NTILINGS * NCODECS; k++) {
      struct nifti_spec spec = small_spec ();
      spec.datatype = spec_types[i].code;
      options.tiling = tilings[k % NTILINGS];
      options.codec = codecs[k / NTILINGS];
      must_ingest (store, "ct/a", &spec, &options);
      assert_volume_is (store, "ct/a", &spec);
    }
  radio_store_close (store);
}

static void
every_rank_version_and_byte_order_comes_back (void **state)
{
  (void) state;
  static const int64_t dims[][8] = {
    { 2, 9, 8 }, { 3, 9, 8, 7 }, { 4, 5, 4, 3, 6 }, { 5, 4, 3, 2, 3, 5 },
    { 5, 4, 3, 2, 1, 6 }, { 7, 4, 3, 2, 5, 1, 1, 1 }, { 3, 1, 1, 1 },
    { 3, 300, 2, 1 },
  };
  static const int types[] = { 2, 4, 16, 1792 };
  struct radio_store *store = must_open_store ("memory:");
  struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
    for (unsigned k = 0; k < 16; k++) {
      struct nifti_spec spec = {
        .version = 1 + (k & 1), .big_endian = k & 2,
        .datatype = types[k >> 2],
      };
      memcpy (spec.dim, dims[i], sizeof spec.dim);
      must_ingest (store, "ct/a", &spec, &options);
      assert_volume_is (store, "ct/a", &spec);
    }
  radio_store_close (store);
}

static void
colours_of_a_series_come_back (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = {
    .dim = { 4, 6, 5, 4, 3 }, .datatype = 128, .big_endian = true,
  };
  struct radio_ingest_options options = { .shard_nbytes = 1 };
  must_ingest (store, "ct/rgb", &spec, &options);
  assert_volume_is (store, "ct/rgb", &spec);
  radio_store_close (store);
}

/* A store of a context with nthreads. */
static struct radio_store *
open_threaded (unsigned nthreads, uint64_t limit)
{
  struct radio_context *context;
  struct radio_store *store;
  const struct radio_context_options how = {
    .nthreads = nthreads, .memory_limit_nbytes = limit
  };
  assert_ok (radio_context_open (&how, &context));
  const struct radio_store_options options = {
    .context = context, .create = true,
  };
  assert_ok (radio_store_open ("memory:", &options, &store));
  radio_context_close (context);
  return store;
}

static void
many_slabs_are_read_while_others_are_encoded (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++) {
    struct radio_store *store = open_threaded (nthreads, 0);
    struct nifti_spec spec = {
      .dim = { 4, 40, 33, 50, 3 }, .big_endian = true, .datatype = 16,
    };
    struct radio_ingest_options options = { .shard_nbytes = 100000 };
    must_ingest (store, "ct/a", &spec, &options);
    assert_volume_is (store, "ct/a", &spec);
    struct radio_volume *volume;
    struct radio_volume_info info;
    assert_ok (radio_volume_open (store, "ct/a", &volume));
    radio_volume_get_info (volume, &info);
    assert_int_equal (info.array.chunk_shape[0], 1);
    assert_int_equal (info.array.chunk_shape[1], 8);
    radio_volume_close (volume);
    radio_store_close (store);
  }
}

static void
files_plain_gzipped_and_in_pairs_come_back (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("files.zarr");
  struct nifti_spec spec = small_spec ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer zipped RD_BUFFER_SCOPE = { 0 };
  spec_image (&spec, &file);
  write_file (".", "a.nii", &file);
  make_gzip (file.data, file.nbytes, 100, &zipped);
  write_file (".", "b.nii.gz", &zipped);
  assert_ok (radio_ingest (store, "a.nii", "ct/a", NULL, NULL));
  assert_ok (radio_ingest (store, "b.nii.gz", "ct/b", NULL, NULL));
  assert_volume_is (store, "ct/a", &spec);
  assert_volume_is (store, "ct/b", &spec);

  spec.is_pair = true;
  spec_header (&spec, &file);
  write_file (".", "c.hdr", &file);
  file.nbytes = 0;
  spec_voxels (&spec, &file);
  write_file (".", "c.img", &file);
  assert_ok (radio_ingest (store, "c.img", "ct/c", NULL, NULL));
  assert_volume_is (store, "ct/c", &spec);
  char paths[100];
  list_paths (store, paths, sizeof paths);
  assert_string_equal (paths, "ct/a ct/b ct/c");
  radio_store_close (store);
}

static void
info_has_source_and_geometry (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = small_spec ();
  spec.scl_slope = 2;
  spec.scl_inter = -1000;
  spec.cal_min = -100;
  spec.cal_max = 200;
  must_ingest (store, "ct/a", &spec, NULL);
  struct radio_volume *volume;
  struct radio_volume_info info;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  radio_volume_get_info (volume, &info);
  assert_string_equal (info.source_name, "a.nii");
  assert_int_equal (info.source_nbytes, 352 + 7 * 6 * 5 * 2);
  assert_int_equal (strlen (info.source_sha256), 64);
  assert_string_equal (info.axes, "zyx");
  assert_string_equal (info.orientation, "RAS");
  assert_string_equal (info.affine_source, "sform");
  assert_string_equal (info.space_unit, "millimeter");
  assert_string_equal (info.nifti_type, "int16");
  assert_string_equal (info.tiling, "balanced");
  assert_string_equal (info.codec, "medium");
  assert_true (info.spacing[0] == 2 && info.spacing[2] == 0.5);
  assert_true (info.scl_slope == 2 && info.scl_inter == -1000);
  assert_true (info.window_low == -100 && info.window_high == 200);
  assert_int_equal (info.plane_axis[RADIO_AXIAL], 0);
  assert_int_equal (info.plane_axis[RADIO_SAGITTAL], 2);
  uint64_t nbytes;
  assert_ok (radio_volume_stored_nbytes (volume, &nbytes));
  assert_true (nbytes > 352 && nbytes < 20000);
  radio_volume_close (volume);
  radio_store_close (store);
}

#define NWRITERS 16
#define NEACH 4

/* The greatest limit of descriptors for this test, and the ones left for the
 * writers, which are fewer than they take together. */
#define MAX_DESCRIPTORS 256
#define NLEFT 24

struct writer {
  pthread_t thread;
  struct radio_store *store;
  int i;
  unsigned nfailed;
};

static void *
ingest_some (void *data)
{
  struct writer *writer = data;
  for (int k = 0; k < NEACH; k++) {
    char path[20];
    snprintf (path, sizeof path, "ct/%d-%d", writer->i, k);
    writer->nfailed += radio_ingest (writer->store, "a.nii", path, NULL, NULL)
                       != RADIO_OK;
  }
  return NULL;
}

static void
many_at_once_share_the_descriptors_that_there_are (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("few.zarr");
  struct nifti_spec spec = small_spec ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct writer writers[NWRITERS];
  struct rlimit own, few;
  struct radio_gc_result removed = { 0 };
  int taken[MAX_DESCRIPTORS];
  size_t ntaken = 0;
  spec_image (&spec, &file);
  write_file (".", "a.nii", &file);
  assert_int_equal (getrlimit (RLIMIT_NOFILE, &own), 0);
  few = own;
  few.rlim_cur = MAX_DESCRIPTORS;
  assert_int_equal (setrlimit (RLIMIT_NOFILE, &few), 0);
  while (ntaken < MAX_DESCRIPTORS && (taken[ntaken] = dup (2)) >= 0)
    ntaken++;
  assert_true (ntaken > NLEFT);

  /* Without any descriptor. */
  assert_fails (radio_ingest (store, "a.nii", "ct/a", NULL, NULL),
                RADIO_ERROR_IO, "a.nii");

  for (int i = 0; i < NLEFT; i++)
    close (taken[--ntaken]);
  for (int i = 0; i < NWRITERS; i++) {
    writers[i] = (struct writer) { .store = store, .i = i };
    assert_int_equal (pthread_create (&writers[i].thread, NULL, ingest_some,
                                      &writers[i]), 0);
  }
  for (int i = 0; i < NWRITERS; i++) {
    pthread_join (writers[i].thread, NULL);
    assert_int_equal (writers[i].nfailed, 0);
  }
  while (ntaken > 0)
    close (taken[--ntaken]);
  assert_int_equal (setrlimit (RLIMIT_NOFILE, &own), 0);

  for (int i = 0; i < NWRITERS * NEACH; i++) {
    char path[20];
    snprintf (path, sizeof path, "ct/%d-%d", i / NEACH, i % NEACH);
    assert_volume_is (store, path, &spec);
  }
  /* No attempt has left anything. */
  assert_ok (radio_store_gc (store, false, &removed));
  assert_int_equal (removed.removed_count, 0);
  radio_store_close (store);
}

static void
a_name_that_is_not_utf8_is_repaired (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = small_spec ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct radio_volume *volume;
  struct radio_volume_info info;
  spec_image (&spec, &file);
  write_file (".", "bad\xff\xc3.nii", &file);
  assert_ok (radio_ingest (store, "bad\xff\xc3.nii", "ct/a", NULL, NULL));
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  radio_volume_get_info (volume, &info);
  assert_string_equal (info.source_name,
                       "bad\xef\xbf\xbd\xef\xbf\xbd.nii");
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
forms_that_are_not_finite_give_no_orientation (void **state)
{
  (void) state;
  static const struct {
    int sform_code, qform_code;
    double sform, qform;
    const char *source, *orientation;
  } cases[] = {
    { 1, 0, NAN, 0, "pixdim", "" },
    { 0, 2, 0, INFINITY, "pixdim", "" },
    { 1, 2, NAN, NAN, "pixdim", "" },
    { 1, 2, NAN, 0, "qform", "RAS" },
    { 0, 0, NAN, NAN, "pixdim", "RAS" },
  };
  struct radio_store *store = must_open_store ("memory:");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct nifti_spec spec = small_spec ();
    struct radio_volume *volume;
    struct radio_volume_info info;
    char path[20];
    spec.sform_code = cases[i].sform_code;
    spec.qform_code = cases[i].qform_code;
    spec.srow[1][2] = cases[i].sform;
    spec.qoffset[0] = cases[i].qform;
    memset (spec.quatern, 0, sizeof spec.quatern);
    snprintf (path, sizeof path, "ct/%zu", i);
    must_ingest (store, path, &spec, NULL);
    assert_ok (radio_volume_open (store, path, &volume));
    radio_volume_get_info (volume, &info);
    assert_string_equal (info.affine_source, cases[i].source);
    assert_string_equal (info.orientation, cases[i].orientation);
    assert_true (isfinite (info.affine[1][2]));
    radio_volume_close (volume);
  }
  radio_store_close (store);
}

static void
the_recorded_checksum_is_of_the_whole_file (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = small_spec ();
  spec.big_endian = true;
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  spec_image (&spec, &file);
  write_file (".", "sum.nii", &file);
  must_ingest (store, "ct/a", &spec, NULL);
  struct radio_volume *volume;
  struct radio_volume_info info;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  radio_volume_get_info (volume, &info);
  char line[200] = "";
  FILE *pipe = popen ("sha256sum sum.nii 2>/dev/null", "r");
  assert_non_null (pipe);
  bool is_there = fgets (line, sizeof line, pipe) != NULL;
  pclose (pipe);
  if (is_there)
    assert_memory_equal (line, info.source_sha256, 64);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
an_existing_volume_is_an_error_skipped_or_replaced (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec old = small_spec (), new = small_spec ();
  new.datatype = 16;
  must_ingest (store, "ct/a", &old, NULL);

  struct bytes_source source BYTES_SOURCE_SCOPE;
  bytes_source_open (&source, &new);
  size_t start = source.at;
  struct radio_ingest_options options = { 0 };
  struct radio_ingest_result result = { 0 };
  assert_fails (rd_ingest_source (store, &source.source, "ct/a", &options,
                                  &result),
                RADIO_ERROR_EXISTS, "ct/a");
  options.existing = RADIO_EXISTING_SKIP;
  assert_ok (rd_ingest_source (store, &source.source, "ct/a", &options,
                               &result));
  assert_true (result.skipped);
  assert_int_equal (source.at, start);
  assert_volume_is (store, "ct/a", &old);

  options.existing = RADIO_EXISTING_REPLACE;
  assert_ok (rd_ingest_source (store, &source.source, "ct/a", &options,
                               &result));
  assert_false (result.skipped);
  assert_volume_is (store, "ct/a", &new);
  radio_store_close (store);
}

static void
readers_of_a_replaced_volume_continue (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec old = small_spec (), new = small_spec ();
  new.datatype = 16;
  must_ingest (store, "ct/a", &old, NULL);
  struct radio_volume *volume;
  struct radio_check check;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  must_ingest (store, "ct/a", &new, &options);
  assert_ok (radio_array_check (radio_volume_array (volume), &check, NULL,
                                NULL));
  assert_int_equal (check.missing_count, 0);
  radio_volume_close (volume);
  radio_store_close (store);
}

/* A hook that fails once half of the voxels were read. */
static enum radio_status
fail_half_way (struct bytes_source *source, void *user_data)
{
  enum radio_status *status = user_data;
  if (source->at <= source->file.nbytes / 2)
    return RADIO_OK;
  return rd_fail (*status, "half way");
}

static enum radio_status
cancel (const struct radio_progress *progress, void *user_data)
{
  (void) user_data;
  bool is_late = progress->done_nbytes > progress->total_nbytes / 2;
  return is_late ? RADIO_ERROR_IO : RADIO_OK;
}

/* The spec of an image of several pieces and slabs. */
static struct nifti_spec
long_spec (void)
{
  return (struct nifti_spec) { .dim = { 3, 128, 128, 160 } };
}

static void
a_source_that_fails_leaves_nothing (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = long_spec ();
  enum radio_status failure = RADIO_ERROR_FORMAT;
  struct bytes_source source BYTES_SOURCE_SCOPE;
  bytes_source_open (&source, &spec);
  source.hook = fail_half_way;
  source.user_data = &failure;
  struct radio_ingest_options options = { .shard_nbytes = 1 << 20 };
  assert_fails (rd_ingest_source (store, &source.source, "ct/a", &options,
                                  NULL),
                RADIO_ERROR_FORMAT, "half way");
  char paths[100];
  list_paths (store, paths, sizeof paths);
  assert_string_equal (paths, "");
  assert_int_equal (count_objects (store, "ct"), 1);
  radio_store_close (store);
}

static void
a_cancelled_replacement_leaves_the_old_volume (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec old = small_spec (), spec = long_spec ();
  must_ingest (store, "ct/a", &old, NULL);
  size_t n_before = count_objects (store, "");
  struct bytes_source source BYTES_SOURCE_SCOPE;
  bytes_source_open (&source, &spec);
  struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_REPLACE, .progress = cancel,
    .shard_nbytes = 1 << 20,
  };
  assert_fails (rd_ingest_source (store, &source.source, "ct/a", &options,
                                  NULL),
                RADIO_ERROR_CANCELLED, "cancelled");
  assert_volume_is (store, "ct/a", &old);
  assert_int_equal (count_objects (store, ""), n_before);
  radio_store_close (store);
}

struct warnings {
  char text[2000];
};

static void
note (const char *message, void *user_data)
{
  struct warnings *warnings = user_data;
  size_t used = strlen (warnings->text);
  snprintf (warnings->text + used, sizeof warnings->text - used, "%s\n",
            message);
}

static void
bytes_after_the_voxels_are_reported (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = small_spec ();
  struct bytes_source source BYTES_SOURCE_SCOPE;
  struct warnings warnings = { "" };
  struct radio_ingest_options options = {
    .warning = note, .user_data = &warnings,
  };
  bytes_source_open (&source, &spec);
  source.trailing_nbytes = 77;
  assert_ok (rd_ingest_source (store, &source.source, "ct/a", &options,
                               NULL));
  assert_non_null (strstr (warnings.text, "a.nii: 77 bytes after the voxels"));
  assert_volume_is (store, "ct/a", &spec);
  radio_store_close (store);
}

static void
stripping_drops_texts_and_extensions_with_warnings (void **state)
{
  (void) state;
  static const char extension[32] = { 32, 0, 0, 0, 6, 0, 0, 0, 'J', 'o' };
  struct radio_store *store = must_open_store ("memory:");
  struct nifti_spec spec = small_spec ();
  spec.descrip = "John Doe";
  spec.extension = extension;
  spec.extension_nbytes = sizeof extension;
  struct warnings warnings = { "" };
  struct radio_ingest_options options = {
    .warning = note, .user_data = &warnings, .strip = true,
  };
  struct bytes_source source BYTES_SOURCE_SCOPE;
  bytes_source_open (&source, &spec);
  assert_ok (rd_ingest_source (store, &source.source, "ct/a", &options,
                               NULL));
  assert_non_null (strstr (warnings.text, "descrip"));
  assert_non_null (strstr (warnings.text, "extension"));

  struct radio_volume *volume;
  struct radio_volume_info info;
  struct radio_check check;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  radio_volume_get_info (volume, &info);
  assert_int_equal (info.header_nbytes, 352);
  assert_int_equal (info.source_nbytes, 352 + 7 * 6 * 5 * 2);
  assert_null (memmem (info.header, info.header_nbytes, "John", 4));
  assert_ok (radio_volume_validate (volume, &check, NULL, NULL));
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
wrong_options_are_refused_before_anything_is_written (void **state)
{
  (void) state;
  static const struct {
    const char *path, *tiling, *codec, *part;
  } bad[] = {
    { "a", NULL, NULL, "COLLECTION/NAME" },
    { "a/b/c", NULL, NULL, "a/b/c" },
    { "/a", NULL, NULL, "'/a'" },
    { "ct/..", NULL, NULL, "ct/.." },
    { "ct/", NULL, NULL, "ct/" },
    { "__ct/a", NULL, NULL, "__" },
    { "ct/a", "round", NULL, "round" },
    { "ct/a", NULL, "best", "best" },
    { "ct/a", NULL, "[{\"name\":\"lzma\"}]", "lzma" },
    { "ct/a", NULL, "[{\"name\":\"crc32c\"}]", "codec" },
    { "ct/a", NULL, "[7]", "codec" },
  };
  struct radio_store *store = must_open_store ("memory:");
  size_t n = count_objects (store, "");
  struct nifti_spec spec = small_spec ();
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct bytes_source source BYTES_SOURCE_SCOPE;
    bytes_source_open (&source, &spec);
    struct radio_ingest_options options = {
      .tiling = bad[i].tiling, .codec = bad[i].codec,
    };
    assert_fails (rd_ingest_source (store, &source.source, bad[i].path,
                                    &options, NULL),
                  RADIO_ERROR_ARGUMENT, bad[i].part);
    assert_int_equal (count_objects (store, ""), n);
  }
  radio_store_close (store);
}

static void
a_slab_beyond_the_memory_limit_is_refused (void **state)
{
  (void) state;
  struct radio_store *store = open_threaded (2, 100000);
  struct nifti_spec spec = { .dim = { 3, 200, 200, 9 } };
  struct bytes_source source BYTES_SOURCE_SCOPE;
  bytes_source_open (&source, &spec);
  assert_fails (rd_ingest_source (store, &source.source, "ct/a", NULL, NULL),
                RADIO_ERROR_LIMIT, "slab");
  assert_int_equal (count_objects (store, "ct"), 1);
  radio_store_close (store);
}

static void
a_tight_limit_still_lets_slabs_through (void **state)
{
  (void) state;
  struct radio_store *store = open_threaded (2, 4 << 20);
  struct nifti_spec spec = { .dim = { 3, 200, 200, 40 } };
  must_ingest (store, "ct/a", &spec, NULL);
  assert_volume_is (store, "ct/a", &spec);
  radio_store_close (store);
}

static void
others_stores_are_not_written_to (void **state)
{
  (void) state;
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  static const char group[]
    = "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{}}";
  must_append (&text, group, strlen (group));
  assert_int_equal (mkdir ("other.zarr", 0777), 0);
  write_file ("other.zarr", "zarr.json", &text);
  struct radio_store *store = must_open_store ("other.zarr");
  struct nifti_spec spec = small_spec ();
  struct bytes_source source BYTES_SOURCE_SCOPE;
  bytes_source_open (&source, &spec);
  assert_fails (rd_ingest_source (store, &source.source, "ct/a", NULL, NULL),
                RADIO_ERROR_UNSUPPORTED, "not a store of radio's");
  assert_int_equal (count_objects (store, ""), 1);
  radio_store_close (store);
}

static void
arrays_and_images_are_no_collections (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("memory:");
  struct radio_array *array;
  struct radio_array_options how = {
    .rank = 1, .shape = { 4 }, .chunk_shape = { 4 }, .data_type = "int8",
  };
  assert_ok (radio_array_create (store, "plain", &how, &array));
  radio_array_close (array);
  assert_ok (radio_array_create (store, "ct/plain", &how, &array));
  radio_array_close (array);
  struct nifti_spec spec = small_spec ();
  struct bytes_source source BYTES_SOURCE_SCOPE;
  bytes_source_open (&source, &spec);
  assert_fails (rd_ingest_source (store, &source.source, "plain/a", NULL,
                                  NULL),
                RADIO_ERROR_ARGUMENT, "plain: an array, not a");
  struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  assert_fails (rd_ingest_source (store, &source.source, "ct/plain",
                                  &options, NULL),
                RADIO_ERROR_EXISTS, "not a volume of radio's");
  radio_store_close (store);
}

/* Ends at the n-th call, which learns that nothing was delivered yet. */
struct asked {
  unsigned n, ncalls, nbefore;
};

static enum radio_status
ends_at_call (const struct radio_progress *progress, void *user_data)
{
  struct asked *asked = user_data;
  asked->nbefore += progress->done_nbytes == 0;
  return ++asked->ncalls < asked->n ? RADIO_OK : RADIO_ERROR_CANCELLED;
}

/* Several calls for each pass, of which a statistic and the digest of a file
 * take one before the first voxel. */
static void
writing_can_be_ended_in_each_pass (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_volume *volume = must_open_image (&store, &spec, "4,3,2");
  struct asked asked = { 0 };
  enum radio_status status;
  assert_ok (radio_volume_export (volume, NULL, "asked.nii", NULL));
  radio_volume_close (volume);
  do {
    struct radio_store *to;
    struct radio_volume *result;
    const struct radio_store_options creating = { .create = true };
    const struct radio_ingest_options options = {
      .progress = ends_at_call, .user_data = &asked,
    };
    asked = (struct asked) { .n = asked.n + 1 };
    assert_ok (radio_store_open ("memory:", &creating, &to));
    assert_ok (radio_volume_open_file (store->context, "asked.nii", NULL,
                                       &volume));
    volume = must_derive (volume, "clamp 0,9 | znorm");
    status = radio_ingest_volume (to, volume, "ct/b", &options, NULL);
    assert_int_equal (status, asked.ncalls < asked.n ? RADIO_OK
                                                     : RADIO_ERROR_CANCELLED);
    assert_int_equal (radio_volume_open (to, "ct/b", &result),
                      status == RADIO_OK ? RADIO_OK : RADIO_ERROR_NOT_FOUND);
    radio_volume_close (status == RADIO_OK ? result : NULL);
    radio_volume_close (volume);
    radio_store_close (to);
  } while (status != RADIO_OK);
  assert_true (asked.nbefore >= 3);
  assert_int_equal (asked.ncalls - asked.nbefore, 1);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_type_comes_back_from_every_tiling_and_codec),
    cmocka_unit_test (every_rank_version_and_byte_order_comes_back),
    cmocka_unit_test (colours_of_a_series_come_back),
    cmocka_unit_test (many_slabs_are_read_while_others_are_encoded),
    cmocka_unit_test (files_plain_gzipped_and_in_pairs_come_back),
    cmocka_unit_test (info_has_source_and_geometry),
    cmocka_unit_test (many_at_once_share_the_descriptors_that_there_are),
    cmocka_unit_test (a_name_that_is_not_utf8_is_repaired),
    cmocka_unit_test (forms_that_are_not_finite_give_no_orientation),
    cmocka_unit_test (the_recorded_checksum_is_of_the_whole_file),
    cmocka_unit_test (an_existing_volume_is_an_error_skipped_or_replaced),
    cmocka_unit_test (readers_of_a_replaced_volume_continue),
    cmocka_unit_test (a_source_that_fails_leaves_nothing),
    cmocka_unit_test (a_cancelled_replacement_leaves_the_old_volume),
    cmocka_unit_test (bytes_after_the_voxels_are_reported),
    cmocka_unit_test (stripping_drops_texts_and_extensions_with_warnings),
    cmocka_unit_test (
      wrong_options_are_refused_before_anything_is_written),
    cmocka_unit_test (a_slab_beyond_the_memory_limit_is_refused),
    cmocka_unit_test (a_tight_limit_still_lets_slabs_through),
    cmocka_unit_test (others_stores_are_not_written_to),
    cmocka_unit_test (arrays_and_images_are_no_collections),
    cmocka_unit_test (writing_can_be_ended_in_each_pass),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
