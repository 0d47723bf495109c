/* SPDX-License-Identifier: MIT */
/* Volumes with a pipeline: results, the tiles that are read for them, and
 * messages of refusals.  tests/interop/test_pipelines.py compares with
 * numpy. */
#include <config.h>

#include <math.h>
#include <pthread.h>

#include "tests/alloc-fail.h"
#include "tests/profile-tree.h"
#include "tests/volume/fixture.h"

static void
assert_refused (struct radio_volume *volume, const char *text,
                enum radio_status status, const char *message)
{
  struct radio_pipeline *pipeline = must_parse_pipeline (text);
  struct radio_volume *derived = NULL;
  assert_fails (radio_volume_apply (volume, pipeline, &derived), status,
                message);
  assert_null (derived);
  radio_pipeline_free (pipeline);
}

/* "flip x | crop 1:7,2:,: | pad 0:2,0,1 by -5 | linear 2,0.5" of an image of
 * 7 x 6 x 5 voxels, by a naive walk. */
static float
expected (const int16_t *voxels, size_t z, size_t y, size_t x)
{
  if (x >= 6 || z < 1 || z > 5)
    return -9.5f;
  return (float) voxels[((z - 1) * 6 + y + 2) * 7 + 6 - (x + 1)] * 2 + 0.5f;
}

static void
a_read_is_the_operations_one_after_the_other (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer elements RD_BUFFER_SCOPE = { 0 };
  struct radio_store *store;
  struct radio_volume_info info;
  spec_image (&spec, &file);
  expected_elements (&spec, &file, &elements);
  for (int big = 0; big < 2; big++) {
    spec.big_endian = big;
    struct radio_volume *volume = must_derive (
      must_open_image (&store, &spec, "4,3,2"),
      "flip x | crop 1:7,2:,: | pad 0:2,0,1 by -5 | linear 2,0.5");
    radio_volume_get_info (volume, &info);
    assert_string_equal (info.pipeline, "flip x | crop 1:7,2:,: "
                         "| pad 0:2,0,1 by -5 | linear 2,0.5");
    assert_int_equal (info.array.dtype, RADIO_FLOAT32);
    assert_int_equal (info.array.shape[0], 7);
    assert_int_equal (info.array.shape[1], 4);
    assert_int_equal (info.array.shape[2], 8);
    /* x is reversed from its sixth voxel on. */
    assert_true (info.affine[0][0] == -0.5);
    assert_true (info.affine[0][3] == -10 + 5 * 0.5);
    assert_true (info.affine[1][3] == -20 + 2 * 0.75);
    assert_true (info.affine[2][3] == -30 - 2);
    float got[7 * 4 * 8];
    struct radio_box box = { .rank = 3, .size = { 7, 4, 8 } };
    assert_ok (radio_volume_read (volume, &box, RADIO_STORED, got, sizeof got,
                                  NULL));
    for (size_t i = 0; i < 7 * 4 * 8; i++)
      assert_true (got[i] == expected ((const int16_t *) elements.data, i / 32,
                                       i / 8 % 4, i % 8));
    radio_volume_close (volume);
    radio_store_close (store);
  }
}

struct listed {
  uint64_t n, last;           /* tiles; the place of the last one */
};

/* The list rises in C order, and has the box's tiles of 4 x 4 x 4. */
static enum radio_status
count_listed (const struct radio_box *tile, uint64_t nbytes, void *user_data)
{
  struct listed *listed = user_data;
  uint64_t place = (tile->start[0] * 1000 + tile->start[1]) * 1000
                   + tile->start[2];
  assert_true (listed->n == 0 || place > listed->last);
  assert_true (nbytes > 0 && radio_box_count (tile) > 0);
  listed->last = place;
  listed->n++;
  return RADIO_OK;
}

static uint64_t
list_tiles (struct radio_volume *volume, const struct radio_box *box)
{
  struct listed listed = { 0, 0 };
  assert_ok (radio_array_list_tiles (radio_volume_array (volume), box,
                                     count_listed, &listed));
  return listed.n;
}

static enum radio_status
stop_listing (const struct radio_box *tile, uint64_t nbytes, void *user_data)
{
  (void) tile;
  (void) nbytes;
  ++*(int *) user_data;
  return RADIO_ERROR_CANCELLED;
}

static void
a_read_decodes_the_tiles_that_are_listed (void **state)
{
  (void) state;
  static const char *const texts[] = {
    "crop 7:50,:,3:", "pad 5 reflect | flip y | rot90 xz", "pad 30 | flip x",
    "to 20,50,9 | crop 3:,:,:", "to 31,17,12 cubic smooth",
    "affine 0.8,0.6,0,1,-0.6,0.8,0,0,0,0,1,0 about centre",
    "affine 0.8,0.6,0,1,-0.6,0.8,0,0,0,0,1,0 cubic | to 20 | pad 2",
    ("affine 0.8,0.6,0,1,-0.6,0.8,0,0,0,0,1,0 | crop 20:35,:,: | pad 0 | "
     "affine 0.8,-0.6,0,1,0.6,0.8,0,0,0,0,1,0 about centre"),
    "to 30 cubic | affine 0.8,0.6,0,1,-0.6,0.8,0,0,0,0,1,0 cubic | to 20 cubic",
    "noise 3 | smooth 0.7 | noise 2 | crop :,5,:", "to 9 majority | linear 2,1",
  };
  struct nifti_spec spec = small_spec ();
  spec.dim[1] = 60;
  spec.dim[2] = 40;
  spec.dim[3] = 20;
  uint64_t random = 5;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (int k = 0; k < 6; k++) {
      struct radio_store *store;
      struct radio_volume_info info;
      struct radio_volume *volume = must_derive (
        must_open_image (&store, &spec, "4,4,4"), texts[i]);
      struct radio_box box = { .rank = 3 };
      radio_volume_get_info (volume, &info);
      for (size_t j = 0; j < 3; j++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        uint64_t n = info.array.shape[j];
        box.start[j] = k == 0 ? 0 : (random >> 33) % n;
        box.size[j] = k == 0 ? n : 1 + (random >> 20) % (n - box.start[j]);
      }
      uint64_t nlisted = list_tiles (volume, &box);
      assert_int_equal (count_tiles (volume, &box), nlisted);
      if (k == 0)
        assert_int_equal (list_tiles (volume, NULL), nlisted);
      radio_volume_close (volume);
      radio_store_close (store);
    }
}

static void
listing_ends_as_its_callback_wants (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_volume *volume = must_open_image (&store, &spec, "4,3,2");
  struct radio_array *array = radio_volume_array (volume);
  const struct radio_box beyond = { 3, { 0, 0, 99 }, { 1, 1, 1 } };
  int n = 0;
  assert_int_equal (radio_array_list_tiles (array, NULL, stop_listing, &n),
                    RADIO_ERROR_CANCELLED);
  assert_int_equal (n, 1);
  assert_int_equal (radio_array_list_tiles (array, &beyond, stop_listing, &n),
                    RADIO_ERROR_ARGUMENT);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
only_the_tiles_that_a_box_needs_are_read (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_volume *volume = must_derive (
    must_open_image (&store, &spec, "4,3,2"), "pad 3 reflect | flip x,y,z");
  /* The image's tiles are of 4 x 3 x 2 voxels; the box holds its voxels 5 and 6
   * along x, 2 to 5 along y, and 1 to 3 along z. */
  struct radio_box corner = {
    .rank = 3, .start = { 0, 0, 2 }, .size = { 3, 6, 3 },
  };
  assert_int_equal (count_tiles (volume, &corner), 1 * 2 * 2);
  struct radio_box padding = { .rank = 3, .size = { 1, 1, 1 } };
  assert_int_equal (count_tiles (volume, &padding), 1);
  volume = must_derive (volume, "pad 10 | linear 1,0");
  assert_int_equal (count_tiles (volume, &padding), 0);
  struct radio_box whole = { .rank = 3, .size = { 31, 32, 33 } };
  assert_int_equal (count_tiles (volume, &whole), 2 * 2 * 3);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
only_the_tiles_that_interpolation_needs_are_read (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  spec.dim[1] = 60;
  spec.dim[2] = 40;
  spec.dim[3] = 20;
  static const struct {
    const char *text;
    struct radio_box box;               /* z, y, x */
    uint64_t ntiles;
  } cases[] = {
    /* Voxels 20 and 21, 10 and 11, 6 and 7. */
    { "to 30,20,10", { 3, { 3, 5, 10 }, { 1, 1, 1 } }, 1 },
    /* 23 and 24 along x. */
    { "to 59,40,20", { 3, { 3, 5, 23 }, { 1, 1, 1 } }, 2 },
    { "to 30,20,10 nearest", { 3, { 0, 0, 0 }, { 2, 2, 2 } }, 1 },
    /* The first, 12 and 13 voxels around: 20 - 13 to 21 + 13. */
    { "to 30,40,20 cubic", { 3, { 3, 5, 10 }, { 1, 1, 1 } }, 8 },
    /* Every 20th voxel along x. */
    { "to 3,40,20 nearest", { 3, { 0, 0, 0 }, { 4, 4, 3 } }, 3 },
    { "flip x | to 3,40,20 | crop 1,:,:", { 3, { 0, 0, 0 }, { 4, 4, 1 } }, 1 },
    { "to 3,20,10 | flip x", { 3, { 0, 0, 0 }, { 2, 2, 3 } }, 3 },
    /* By 2 voxels: 11 and 12 along x. */
    { "affine 1,0,0,1,0,1,0,0,0,0,1,0", { 3, { 5, 5, 9 }, { 1, 1, 2 } }, 2 },
    /* By -0.225, 0.2 and 0.1 voxels. */
    { "affine 1,0.01,0,0.05,0,1,0,0.15,0,0,1,0.2",
      { 3, { 5, 5, 5 }, { 1, 1, 1 } }, 1 },
    { "affine 1,0.01,0,90,0,1,0,0,0,0,1,0", { 3, { 0 }, { 20, 40, 60 } }, 0 },
    /* 3 to 6 along x, 4 to 7 along y and z, 12 around for the prefilter. */
    { "affine 1,0.01,0,0.05,0,1,0,0.15,0,0,1,0.2 cubic",
      { 3, { 5, 5, 5 }, { 1, 1, 1 } }, 5 * 5 * 5 },
    /* One interpolation, at 28; two would need 27 to 29. */
    { "to 59,40,20 centre | to 60,40,20 centre",
      { 3, { 5, 5, 28 }, { 1, 1, 1 } }, 1 },
    /* One interpolation, of 4 and 5; two would need 3. */
    { "affine 1,0.01,0,0,0,1,0,0,0,0,1,0 | affine 1,-0.01,0,0.1,0,1,0,0.15,0,0,"
      "1,0.2", { 3, { 4, 4, 4 }, { 1, 1, 1 } }, 1 },
    /* Voxels outside of a crop are not read, at any distance. */
    { "affine 1,0.01,0,0,0,1,0,0,0,0,1,0 | crop 21:23,13:15,9:11 | affine 9,0,"
      "0,0,0,9,0,0,0,0,9,0 about centre", { 3, { 0 }, { 2, 2, 2 } }, 1 },
    { "smooth 0.5,:,:", { 3, { 5, 5, 21 }, { 1, 1, 1 } }, 3 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct radio_volume *volume = must_derive (
      must_open_image (&store, &spec, "4,4,4"), cases[i].text);
    assert_int_equal (count_tiles (volume, &cases[i].box), cases[i].ntiles);
    radio_volume_close (volume);
    radio_store_close (store);
  }
}

static void
a_large_read_goes_by_blocks_with_the_same_bits (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_elements wide, narrow;
  spec.dim[1] = 90;
  spec.dim[2] = 80;
  spec.dim[3] = 70;
  for (int i = 0; i < 2; i++) {
    const struct radio_context_options options = {
      .nthreads = 3, .memory_limit_nbytes = i ? (uint64_t) 1 << 20 : 0,
    };
    struct radio_context *context;
    struct radio_store *store;
    struct radio_volume *volume;
    assert_ok (radio_context_open (&options, &context));
    const struct radio_store_options in = {
      .create = true, .context = context,
    };
    assert_ok (radio_store_open ("memory:", &in, &store));
    must_ingest (store, "ct/a", &spec, NULL);
    assert_ok (radio_volume_open (store, "ct/a", &volume));
    volume = must_derive (volume, EXHAUSTIVE_STEP == 1
                         ? "to 45,100,60 cubic | flip x"
                         : "to 45,100,60 | flip x");
    assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                        i ? &narrow : &wide));
    radio_volume_close (volume);
    radio_store_close (store);
    radio_context_close (context);
  }
  assert_int_equal (wide.nbytes, 45 * 100 * 60 * sizeof (float));
  assert_memory_equal (wide.data, narrow.data, wide.nbytes);
  radio_free (wide.data);
  radio_free (narrow.data);
}

static void
statistics_are_computed_once_and_kept (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_volume_info info;
  struct radio_volume *volume = must_derive (
    must_open_image (&store, &spec, "4,3,2"),
    "pad 1 edge | rescale 0,1 | znorm of nonzero");
  radio_volume_get_info (volume, &info);
  assert_int_equal (info.statistics_count, 2);
  /* One pass for each. */
  const struct radio_box box = { .rank = 3, .size = { 1, 1, 1 } };
  uint64_t ntiles = count_tiles (volume, &box);
  assert_in_range (ntiles, 2 * 12, 3 * 12 - 1);
  assert_int_equal (count_tiles (volume, &box), 1);
  radio_volume_close (volume);

  /* Another handle, and another pipeline with the same statistic. */
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  volume = must_derive (volume, "pad 1 edge | rescale 5,7 | clamp 5,6");
  assert_int_equal (count_tiles (volume, &box), 1);
  radio_volume_close (volume);
  radio_store_close (store);
}

#define NREADERS 4

struct reader {
  pthread_t thread;
  struct radio_volume *volume;
  float voxels[9 * 8 * 7];
};

static void *
read_all (void *data)
{
  struct reader *reader = data;
  const struct radio_box whole = { .rank = 3, .size = { 7, 8, 9 } };
  return radio_volume_read (reader->volume, &whole, RADIO_STORED,
                            reader->voxels, sizeof reader->voxels, NULL)
         == RADIO_OK ? NULL : data;
}

static void
threads_share_a_derived_volume_and_its_statistics (void **state)
{
  (void) state;
  static struct reader readers[NREADERS];
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_volume *volume = must_derive (
    must_open_image (&store, &spec, "4,3,2"), "pad 1 edge | flip x,z | znorm");
  for (int i = 0; i < NREADERS; i++) {
    readers[i].volume = volume;
    assert_int_equal (pthread_create (&readers[i].thread, NULL, read_all,
                                      &readers[i]), 0);
  }
  for (int i = 0; i < NREADERS; i++) {
    void *failed;
    assert_int_equal (pthread_join (readers[i].thread, &failed), 0);
    assert_null (failed);
    assert_memory_equal (readers[i].voxels, readers[0].voxels,
                         sizeof readers[0].voxels);
  }
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
keep_line (const char *message, void *user_data)
{
  struct rd_buffer *lines = user_data;
  assert_ok (rd_buffer_append (lines, message, strlen (message)));
  assert_ok (rd_buffer_append (lines, "\n", 1));
}

static void
nan_stays_and_is_reported_once (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct rd_buffer lines RD_BUFFER_SCOPE = { 0 };
  struct radio_store *store;
  float voxels[210];
  const struct radio_box whole = { .rank = 3, .size = { 5, 6, 7 } };
  const struct radio_read_options options = {
    .warning = keep_line, .user_data = &lines,
  };
  struct radio_volume *volume = must_derive (
    must_open_image (&store, &spec, "4,3,2"), "linear 1e38,0 | linear 1e38,0");
  assert_ok (radio_volume_read (volume, &whole, RADIO_STORED, voxels,
                                sizeof voxels, &options));
  assert_int_equal (lines.nbytes, 0);
  volume = must_derive (volume, "linear 0,1 | clamp -3,3");
  static const char expected[]
    = ": some results are NaN, of values that are NaN or infinite\n";
  for (size_t i = 0; i < 2; i++) {
    lines.nbytes = 0;
    assert_ok (radio_volume_read (volume, &whole, RADIO_STORED, voxels,
                                  sizeof voxels, &options));
    assert_ok (rd_buffer_append (&lines, "", 1));
    const char *line = (const char *) lines.data;
    assert_non_null (strstr (line, "ct/a"));
    assert_non_null (strstr (line, expected));
    assert_ptr_equal (strchr (line, '\n') + 1, line + lines.nbytes - 1);
  }
  size_t nnan = 0;
  for (size_t i = 0; i < 210; i++) {
    nnan += isnan (voxels[i]);
    assert_true (isnan (voxels[i]) || voxels[i] == 1);
  }
  assert_true (nnan > 0);
  radio_volume_close (volume);
  radio_store_close (store);
}

static bool
ends_at_fifth_call (void *user_data)
{
  unsigned *calls = user_data;
  return ++*calls >= 5;
}

static void
a_read_can_be_ended_while_it_computes_statistics (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  float voxel;
  unsigned calls = 0;
  const struct radio_box one = { .rank = 3, .size = { 1, 1, 1 } };
  const struct radio_read_options options = {
    .cancel = ends_at_fifth_call, .user_data = &calls,
  };
  struct radio_volume *volume = must_derive (
    must_open_image (&store, &spec, "4,3,2"),
    "clamp 0,9 | znorm | rescale 0,1");
  /* One voxel of itself takes fewer calls. */
  assert_fails (radio_volume_read (volume, &one, RADIO_STORED, &voxel,
                                   sizeof voxel, &options),
                RADIO_ERROR_CANCELLED, "the read was cancelled");
  assert_ok (radio_volume_read (volume, &one, RADIO_STORED, &voxel,
                                sizeof voxel, NULL));
  calls = 0;
  assert_ok (radio_volume_read (volume, &one, RADIO_STORED, &voxel,
                                sizeof voxel, &options));
  assert_true (calls < 5);
  radio_volume_close (volume);
  radio_store_close (store);
}

/* Between two voxels, too, where both pick the later one. */
static void
majority_is_nearest_where_voxels_are_not_larger (void **state)
{
  (void) state;
  static const struct { const char *before, *after; } grids[] = {
    { "to 13,11,9", "centre" }, { "to 14", "" }, { "to 7,6,5", "" },
    { "flip x,z | to 13,6,10", "centre" },
  };
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    struct radio_elements got[2];
    static const char *const words[2] = { "nearest", "majority" };
    for (size_t k = 0; k < 2; k++) {
      char text[100];
      snprintf (text, sizeof text, "%s %s %s", grids[i].before, words[k],
                grids[i].after);
      struct radio_volume *volume
        = must_derive (must_open_image (&store, &spec, NULL), text);
      assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                          &got[k]));
      radio_volume_close (volume);
      radio_store_close (store);
    }
    assert_int_equal (got[0].nbytes, got[1].nbytes);
    assert_memory_equal (got[0].data, got[1].data, got[0].nbytes);
    radio_free (got[0].data);
    radio_free (got[1].data);
  }
}

/* 200 voxels on each side of 7 x 6 x 5: parts of a mebibyte, on all threads. */
static void
large_padding_is_written_in_parts (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_elements image, padded;
  struct radio_volume *volume = must_open_image (&store, &spec, "4,3,2");
  assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                      &image));
  volume = must_derive (volume, "pad 100 by -5");
  assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                      &padded));
  const int16_t *from = image.data, *got = padded.data;
  for (size_t z = 0; z < 205; z++)
    for (size_t y = 0; y < 206; y++)
      for (size_t x = 0; x < 207; x++) {
        bool is_within = z - 100 < 5 && y - 100 < 6 && x - 100 < 7;
        int16_t want = is_within
          ? from[((z - 100) * 6 + y - 100) * 7 + x - 100] : -5;
        if (got[(z * 206 + y) * 207 + x] != want)
          fail_msg ("voxel %zu, %zu, %zu", x, y, z);
      }
  radio_free (image.data);
  radio_free (padded.data);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
a_constant_becomes_the_lower_bound_or_zero (void **state)
{
  (void) state;
  static const struct {
    const char *text;
    float value;
  } cases[] = {
    { "linear 0,0.1 | znorm", 0 }, { "linear 0,0 | znorm of nonzero", 0 },
    { "linear 0,0.1 | rescale 3,4", 3 },
    { "linear 0,7 | rescale 2,1 from p10,p90", 2 },
    { "rescale 5,6 from 1,1", 5 },
  };
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_volume *volume = must_open_image (&store, &spec, NULL);
  radio_volume_close (volume);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct radio_elements elements;
    assert_ok (radio_volume_open (store, "ct/a", &volume));
    volume = must_derive (volume, cases[i].text);
    assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                        &elements));
    const float *got = elements.data;
    for (size_t k = 0; k < 7 * 6 * 5; k++)
      assert_true (got[k] == cases[i].value);
    radio_free (elements.data);
    radio_volume_close (volume);
  }
  radio_store_close (store);
}

static void
an_image_is_repeated_a_hundred_thousand_times (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  int16_t voxels[7 * 6 * 5], got[9 * 8 * 7];
  const struct radio_box whole = { .rank = 3, .size = { 5, 6, 7 } };
  const struct radio_box box = {
    .rank = 3, .start = { 199, 273, 12 }, .size = { 7, 8, 9 },
  };
  struct radio_volume *volume = must_open_image (&store, &spec, NULL);
  assert_ok (radio_volume_read (volume, &whole, RADIO_STORED, voxels,
                                sizeof voxels, NULL));
  volume = must_derive (volume, "pad 140 wrap");
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, got, sizeof got,
                                NULL));
  for (size_t i = 0; i < 9 * 8 * 7; i++) {
    size_t z = (199 + i / 72) % 5, y = (273 - 140 + 6 * 30 + i / 9 % 8) % 6;
    assert_int_equal (got[i], voxels[(z * 6 + y) * 7 + (12 + i % 9) % 7]);
  }
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
what_an_image_cannot_have_is_refused (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_volume *volume = must_open_image (&store, &spec, NULL);
  assert_refused (volume, "flip x | crop 3:8,:,:", RADIO_ERROR_ARGUMENT,
                  "ct/a: operation 2 of the pipeline, crop: x: the end 8 is "
                  "out of range (1-7)");
  assert_refused (volume, "crop 7:,:,:", RADIO_ERROR_ARGUMENT,
                  "x: 7 is out of range (0-6)");
  assert_refused (volume, "crop-or-pad 3 at 0,6,0", RADIO_ERROR_ARGUMENT,
                  "y: the result lies outside of the image of 6 voxels");
  assert_refused (volume, "pad 1 by 0.5", RADIO_ERROR_ARGUMENT,
                  "int16 (stored x 1 + 0) cannot hold 0.5");
  assert_refused (volume, "pad 1 by 40000", RADIO_ERROR_ARGUMENT,
                  "cannot hold 40000");
  assert_refused (volume, "pad 3000000", RADIO_ERROR_LIMIT,
                  "the result has 2.16e+20 voxels, more than 2^63 - 1");
  assert_refused (volume, "pad 300000000000000000 edge", RADIO_ERROR_LIMIT,
                  "voxels, more than 2^63 - 1");
  assert_refused (volume, "pad 1000 wrap", RADIO_ERROR_LIMIT,
                  "pieces, more than 1048576; pad less");
  assert_refused (volume, "pad 400000000000000000,0,0 reflect",
                  RADIO_ERROR_LIMIT, "repeated more than 65536 times");
  radio_volume_close (volume);
  radio_store_close (store);

  /* An affine that is singular, and one that is not finite. */
  spec.srow[0][0] = 0;
  volume = must_open_image (&store, &spec, NULL);
  assert_refused (volume, "reorient LPS", RADIO_ERROR_ARGUMENT,
                  "the orientation is unknown");
  volume = must_derive (volume, "rot90 xz");
  radio_volume_close (volume);
  radio_store_close (store);
  spec.srow[0][0] = NAN;
  volume = must_open_image (&store, &spec, NULL);
  assert_refused (volume, "reorient LPS", RADIO_ERROR_ARGUMENT,
                  "the orientation is unknown");
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
a_value_is_refused_only_if_something_is_padded_by_it (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  /* 0 would be stored as 1.5. */
  spec.scl_slope = -2;
  spec.scl_inter = 3;
  struct radio_volume *volume = must_open_image (&store, &spec, NULL);
  assert_refused (volume, "pad 0:0,1:0,0", RADIO_ERROR_ARGUMENT,
                  "int16 (stored x -2 + 3) cannot hold 0");
  assert_refused (volume, "crop-or-pad 3,7,3", RADIO_ERROR_ARGUMENT,
                  "cannot hold 0");
  /* Places outside of the image are padding, along axes and in a turn. */
  assert_refused (volume, "affine 1,0,0,2,0,1,0,0,0,0,1,0 nearest",
                  RADIO_ERROR_ARGUMENT, "affine: int16 (stored x -2 + 3) "
                  "cannot hold 0; use another value");
  assert_refused (volume, "affine 0.9,-0.3,0,0,0.3,0.9,0,0,0,0,1,0 nearest",
                  RADIO_ERROR_ARGUMENT, "cannot hold 0");
  volume = must_derive (volume, "affine 1,0,0,0,0,1,0,0,0,0,1,0 nearest | "
                        "affine 0.9,-0.3,0,0,0.3,0.9,0,0,0,0,1,0 nearest by 3 "
                        "| affine 1,0,0,2,0,1,0,0,0,0,1,0 nearest by 3");
  radio_volume_close (volume);
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  volume = must_derive (volume,
                        "pad 0 | crop-or-pad 5,6,5 at 1,0,0 | pad 0,1,0 "
                               "by 3 | crop-or-pad 5,7,5 at 0,1,0");
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  assert_int_equal (info.array.dtype, RADIO_INT16);
  int16_t got[5 * 7 * 5];
  const struct radio_box box = { .rank = 3, .size = { 5, 7, 5 } };
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, got, sizeof got,
                                NULL));
  /* Padding of 3 is stored as 0. */
  assert_int_equal (got[6 * 5], 0);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
colours_and_complex_numbers_are_moved_but_not_computed (void **state)
{
  (void) state;
  static const int datatypes[] = { 128, 32 };           /* RGB, complex64 */
  for (size_t i = 0; i < 2; i++) {
    struct nifti_spec spec = small_spec ();
    struct radio_store *store;
    spec.datatype = datatypes[i];
    struct radio_volume *volume = must_open_image (&store, &spec, NULL);
    struct radio_elements before, after;
    assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                        &before));
    assert_refused (volume, "clamp 0,1", RADIO_ERROR_ARGUMENT,
                    "only real numbers have operations on values");
    volume = must_derive (volume, "pad 2 | rot90 xy | flip z | rot90 xy 3");
    volume = must_derive (volume, "flip z | crop 2:9,2:8,2:7");
    assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                        &after));
    assert_int_equal (after.nbytes, before.nbytes);
    assert_memory_equal (after.data, before.data, before.nbytes);
    radio_free (before.data);
    radio_free (after.data);
    radio_volume_close (volume);
    radio_store_close (store);
  }
}

static void
a_derived_volume_has_no_tiles_to_validate_or_write (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_check check;
  uint64_t nbytes, root_nbytes;
  struct radio_volume *volume = must_open_image (&store, &spec, NULL);
  assert_ok (radio_volume_stored_nbytes (volume, &root_nbytes));
  volume = must_derive (volume, "flip x");
  struct radio_box box = { .rank = 3, .size = { 5, 6, 7 } };
  assert_fails (radio_volume_validate (volume, &check, NULL, NULL),
                RADIO_ERROR_ARGUMENT, "cannot be validated");
  assert_fails (radio_array_check (radio_volume_array (volume), &check, NULL,
                                   NULL),
                RADIO_ERROR_ARGUMENT, "cannot be checked");
  assert_fails (radio_array_write (radio_volume_array (volume), &box, &box, 0),
                RADIO_ERROR_ARGUMENT, "cannot be written");
  assert_ok (radio_volume_stored_nbytes (volume, &nbytes));
  assert_int_equal (nbytes, root_nbytes);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
ten_thousand_operations_are_done (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  char *text = malloc (10000 * 32);
  assert_non_null (text);
  size_t at = 0;
  for (int i = 0; i < 10000; i += 4)
    at += (size_t) sprintf (text + at, "%sflip x | pad 1 | crop 1:8,1:7,1:6 "
                            "| linear 1,1", i ? " | " : "");
  struct radio_volume *volume = must_open_image (&store, &spec, NULL);
  struct radio_box box = { .rank = 3, .size = { 1, 1, 1 } };
  int16_t before;
  float after;
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, &before,
                                sizeof before, NULL));
  volume = must_derive (volume, text);
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, &after,
                                sizeof after, NULL));
  assert_true (after == (float) before + 2500);
  radio_volume_close (volume);
  radio_store_close (store);
  free (text);
}

static enum radio_status
apply_and_read (struct radio_volume *volume,
                const struct radio_pipeline *pipeline)
{
  struct radio_volume *derived;
  struct radio_elements elements;
  enum radio_status status = radio_volume_apply (volume, pipeline, &derived);
  if (status != RADIO_OK)
    return status;
  status = radio_volume_read_alloc (derived, NULL, RADIO_STORED, NULL,
                                    &elements);
  if (status == RADIO_OK)
    radio_free (elements.data);
  radio_volume_close (derived);
  return status;
}

static void
a_failed_allocation_is_reported (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_pipeline *pipeline = must_parse_pipeline (
    "pad 1 by 3 | linear 2,1 | rot90 xy | pad 2 reflect | znorm of mask seg "
    "| flip z | noise 1 | to 9,:,5 cubic | crop 1:,:,: | like ct/a by 2 "
    "| affine 0.6,0.8,0,1,-0.8,0.6,0,0,0,0,1,0 about centre cubic | smooth 1");
  struct radio_context *context;
  const struct radio_context_options alone = { .nthreads = 1 };
  assert_ok (radio_context_open (&alone, &context));
  const struct radio_store_options options = {
    .create = true, .context = context,
  };
  struct radio_store *store;
  struct radio_volume *volume;
  assert_ok (radio_store_open ("memory:", &options, &store));
  must_ingest (store, "ct/a", &spec, NULL);
  must_ingest (store, "seg/a", &spec, NULL);
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  for (size_t nth = 1;; nth += EXHAUSTIVE_STEP) {
    alloc_fail_nth (nth);
    enum radio_status status = apply_and_read (volume, pipeline);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      assert_true (nth > 15);
      break;
    }
    if (status != RADIO_OK)           /* only that a tile is not cached */
      assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
  radio_pipeline_free (pipeline);
  radio_volume_close (volume);
  radio_store_close (store);
  radio_context_close (context);
}

/* The same with the results written. */
static enum radio_status
apply_and_ingest (struct radio_volume *volume,
                  const struct radio_pipeline *pipeline,
                  struct radio_store *to)
{
  struct radio_volume *derived;
  enum radio_status status = radio_volume_apply (volume, pipeline, &derived);
  if (status != RADIO_OK)
    return status;
  status = radio_ingest_volume (to, derived, "ct/b", NULL, NULL);
  radio_volume_close (derived);
  return status;
}

static void
a_result_is_visible_once_it_is_whole (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_pipeline *pipeline
    = must_parse_pipeline ("pad 1 edge | linear 2,1");
  struct radio_context *context;
  const struct radio_context_options alone = { .nthreads = 1 };
  assert_ok (radio_context_open (&alone, &context));
  const struct radio_store_options options = {
    .create = true, .context = context,
  };
  struct radio_store *store, *to;
  struct radio_volume *volume, *result;
  struct radio_volume_info info;
  assert_ok (radio_store_open ("memory:", &options, &store));
  must_ingest (store, "ct/a", &spec, NULL);
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  for (size_t nth = 1;; nth += EXHAUSTIVE_STEP) {
    assert_ok (radio_store_open ("memory:", &options, &to));
    alloc_fail_nth (nth);
    enum radio_status status = apply_and_ingest (volume, pipeline, to);
    bool failed = alloc_fail_end ();
    enum radio_status opened = radio_volume_open (to, "ct/b", &result);
    if (status != RADIO_OK)
      assert_int_equal (status, RADIO_ERROR_MEMORY);
    if (opened == RADIO_OK) {
      radio_volume_get_info (result, &info);
      assert_string_equal (info.derived_pipeline, "pad 1 edge | linear 2,1");
      assert_int_equal (strlen (info.derived_sha256), 64);
      assert_int_equal (info.array.shape[0], 7);
      radio_volume_close (result);
    } else
      assert_true (status != RADIO_OK);
    radio_store_close (to);
    if (!failed) {
      assert_ok (status);
      assert_true (nth > 50);
      break;
    }
  }
  radio_pipeline_free (pipeline);
  radio_volume_close (volume);
  radio_store_close (store);
  radio_context_close (context);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_read_is_the_operations_one_after_the_other),
    cmocka_unit_test (a_read_decodes_the_tiles_that_are_listed),
    cmocka_unit_test (listing_ends_as_its_callback_wants),
    cmocka_unit_test (only_the_tiles_that_a_box_needs_are_read),
    cmocka_unit_test (only_the_tiles_that_interpolation_needs_are_read),
    cmocka_unit_test (a_large_read_goes_by_blocks_with_the_same_bits),
    cmocka_unit_test (statistics_are_computed_once_and_kept),
    cmocka_unit_test (threads_share_a_derived_volume_and_its_statistics),
    cmocka_unit_test (a_read_can_be_ended_while_it_computes_statistics),
    cmocka_unit_test (majority_is_nearest_where_voxels_are_not_larger),
    cmocka_unit_test (large_padding_is_written_in_parts),
    cmocka_unit_test (nan_stays_and_is_reported_once),
    cmocka_unit_test (a_constant_becomes_the_lower_bound_or_zero),
    cmocka_unit_test (an_image_is_repeated_a_hundred_thousand_times),
    cmocka_unit_test (what_an_image_cannot_have_is_refused),
    cmocka_unit_test (a_value_is_refused_only_if_something_is_padded_by_it),
    cmocka_unit_test (colours_and_complex_numbers_are_moved_but_not_computed),
    cmocka_unit_test (a_derived_volume_has_no_tiles_to_validate_or_write),
    cmocka_unit_test (ten_thousand_operations_are_done),
    cmocka_unit_test (a_failed_allocation_is_reported),
    cmocka_unit_test (a_result_is_visible_once_it_is_whole),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
