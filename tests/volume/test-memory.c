/* SPDX-License-Identifier: MIT */
/* Images in the caller's memory as volumes, with any strides, and results that
 * are delivered in place.  tests/interop/test_operation_levels.py compares the
 * bits of all operations with those of files. */
#include <config.h>

#include <math.h>
#include <stdio.h>

#include "tests/alloc-fail.h"
#include "tests/volume/fixture.h"

/* An image of 5 x 4 x 6 voxels, z by y by x. */
#define DEPTH 5
#define HEIGHT 4
#define WIDTH 6
#define COUNT (DEPTH * HEIGHT * WIDTH)

static const struct radio_box whole = {
  .rank = 3, .size = { DEPTH, HEIGHT, WIDTH },
};

static struct radio_create_options
image_of (enum radio_dtype dtype)
{
  return (struct radio_create_options) {
    .rank = 3, .shape = { DEPTH, HEIGHT, WIDTH }, .dtype = dtype,
    .affine = { { -2, 0, 0, 9 }, { 0, 1.5, 0, 8 }, { 0, 0, 3, 7 } },
  };
}

static struct radio_volume *
must_open (enum radio_dtype dtype, const void *elements, size_t nbytes,
           const int64_t *strides)
{
  const struct radio_create_options options = image_of (dtype);
  struct radio_volume *volume;
  assert_ok (radio_volume_open_memory (NULL, &options, elements, nbytes,
                                       strides, &volume));
  return volume;
}

static void
fill (float *voxels)
{
  for (size_t i = 0; i < COUNT; i++)
    voxels[i] = (float) (i * 7 % 31) - 9.25f;
}

static void
the_volume_is_as_it_is_described (void **state)
{
  (void) state;
  float voxels[COUNT];
  struct radio_volume_info info;
  struct radio_create_options options = image_of (RADIO_FLOAT32);
  struct radio_volume *volume, *like;
  uint64_t nbytes;
  fill (voxels);
  options.source_name = "a tensor";
  assert_ok (radio_volume_open_memory (NULL, &options, voxels, sizeof voxels,
                                       NULL, &volume));
  radio_volume_get_info (volume, &info);
  assert_string_equal (info.path, "a tensor");
  assert_string_equal (info.source_name, "a tensor");
  assert_string_equal (info.axes, "zyx");
  assert_string_equal (info.orientation, "LAS");
  assert_string_equal (info.codec, "none");
  assert_int_equal (info.array.shape[2], WIDTH);
  assert_int_equal (info.array.dtype, RADIO_FLOAT32);
  assert_true (info.spacing[0] == 3 && info.affine[0][3] == 9);
  assert_false (info.is_labels);
  assert_ok (radio_volume_stored_nbytes (volume, &nbytes));
  assert_int_equal (nbytes, sizeof voxels);
  /* Another image of that geometry, of labels. */
  uint8_t labels[COUNT] = { 0 };
  options = (struct radio_create_options) {
    .like = volume, .dtype = RADIO_UINT8, .ingest.is_labels = true,
  };
  assert_ok (radio_volume_open_memory (NULL, &options, labels, sizeof labels,
                                       NULL, &like));
  radio_volume_get_info (like, &info);
  assert_string_equal (info.path, "memory");
  assert_string_equal (info.orientation, "LAS");
  assert_true (info.is_labels);
  radio_volume_close (like);
  radio_volume_close (volume);
}

/* It need not be a path within a store. */
static void
any_text_is_a_name_that_messages_have (void **state)
{
  (void) state;
  static const char *const names[] = {
    "/data/sub-01.nii", "a//b", "../x", "...", "a b \303\244", "s3://b/k", "",
  };
  float voxels[COUNT];
  fill (voxels);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *shown = *names[i] ? names[i] : "memory";
    struct radio_create_options options = image_of (RADIO_FLOAT32);
    struct radio_volume *volume;
    struct radio_volume_info info;
    struct radio_stats stats;
    char text[99];
    options.source_name = names[i];
    assert_ok (radio_volume_open_memory (NULL, &options, voxels, sizeof voxels,
                                         NULL, &volume));
    radio_volume_get_info (volume, &info);
    assert_string_equal (info.path, names[i]);
    assert_string_equal (info.source_name, names[i]);
    assert_ok (radio_volume_stats (volume, false, &stats));
    snprintf (text, sizeof text, "%s: the result overlaps", shown);
    assert_fails (radio_volume_read (volume, &whole, RADIO_FLOAT32, voxels + 1,
                                     sizeof voxels, NULL),
                  RADIO_ERROR_ARGUMENT, text);
    assert_true (strncmp (radio_error_message (), text, strlen (text)) == 0);
    snprintf (text, sizeof text, "%s: statistics cannot be kept: it is in "
              "memory; ingest it", names[i]);
    assert_fails (radio_volume_keep_stats (volume, &stats),
                  RADIO_ERROR_UNSUPPORTED, text);
    radio_volume_close (volume);
  }
}

static void
elements_are_read_by_any_strides (void **state)
{
  (void) state;
  static int16_t memory[2 * COUNT];
  for (size_t i = 0; i < 2 * COUNT; i++)
    memory[i] = (int16_t) (i * 31 % 997);
  /* x backward, z next to each other with a gap, y repeated. */
  const int64_t strides[] = { 2 * 2, 0, -2 * 2 * DEPTH };
  const int16_t *first = memory + (WIDTH - 1) * 2 * DEPTH;
  const struct radio_box part = {
    .rank = 3, .start = { 1, 1, 2 }, .size = { 3, 2, 4 },
  };
  struct radio_volume *volume = must_open (RADIO_INT16, first, 0, strides);
  struct radio_volume *flipped = must_apply (volume, "flip x | linear 2,1");
  int16_t got[3 * 2 * 4];
  float computed[COUNT];
  assert_ok (radio_volume_read (volume, &part, RADIO_STORED, got, sizeof got,
                                NULL));
  assert_ok (radio_volume_read (flipped, &whole, RADIO_FLOAT32, computed,
                                sizeof computed, NULL));
  for (size_t z = 0; z < DEPTH; z++)
    for (size_t y = 0; y < HEIGHT; y++)
      for (size_t x = 0; x < WIDTH; x++) {
        int16_t one = first[(int64_t) z * 2 - (int64_t) x * 2 * DEPTH];
        assert_true (computed[(z * HEIGHT + y) * WIDTH + WIDTH - 1 - x]
                     == (float) one * 2 + 1);
        if (z >= 1 && z < 4 && y >= 1 && y < 3 && x >= 2)
          assert_int_equal (got[((z - 1) * 2 + y - 1) * 4 + x - 2], one);
      }
  radio_volume_close (flipped);
  radio_volume_close (volume);
}

/* Boxes that are cut into parts, along other axes than those of the result. */
static void
large_boxes_are_read_by_parts_in_any_order (void **state)
{
  (void) state;
  static const size_t orders[][3] = {
    { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 },
    { 2, 1, 0 },
  };
  enum { depth = 70, height = 150, width = 130, n = depth * height * width };
  const struct radio_create_options options = {
    .rank = 3, .shape = { depth, height, width }, .dtype = RADIO_INT32,
  };
  int32_t *voxels = malloc (n * sizeof *voxels);
  int32_t *got = malloc (n * sizeof *got);
  struct radio_volume *volume;
  assert_non_null (voxels);
  assert_non_null (got);
  for (int32_t i = 0; i < n; i++)
    voxels[i] = i;
  assert_ok (radio_volume_open_memory (NULL, &options, voxels,
                                       n * sizeof *voxels, NULL, &volume));
  for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
    int64_t strides[3], step = sizeof *got;
    for (size_t i = 0; i < 3; i++) {
      strides[orders[k][i]] = step;
      step *= (int64_t) options.shape[orders[k][i]];
    }
    struct radio_request parts[] = {
      { .box = { .rank = 3, .size = { depth, height, 1 } }, .buffer = got },
      { .box = { .rank = 3, .start = { 0, 0, 1 }, .size = { 0, height, 5 } } },
      { .box = { .rank = 3, .start = { 0, 0, 1 },
                 .size = { depth, height, width - 8 } },
        .buffer = (char *) got + strides[2] },
      { .box = { .rank = 3, .start = { 0, 0, width - 7 },
                 .size = { depth, height, 7 } },
        .buffer = (char *) got + (width - 7) * strides[2] },
    };
    for (size_t i = 0; i < 4; i++)
      parts[i].strides = strides;
    memset (got, 0xff, n * sizeof *got);
    assert_ok (radio_volume_read_many (volume, parts, 4, RADIO_STORED, NULL));
    for (int32_t i = 0; i < n; i++)
      assert_int_equal (got[(i / (height * width) * strides[0]
                             + i / width % height * strides[1]
                             + i % width * strides[2])
                            / (int64_t) sizeof *got], i);
  }
  radio_volume_close (volume);
  free (voxels);
  free (got);
}

/* Large enough for several parts and threads; reads into other memory are the
 * ones to compare with. */
static void
results_may_be_delivered_in_place (void **state)
{
  (void) state;
  static const struct {
    enum radio_dtype dtype;
    const char *text;
  } cases[] = {
    { RADIO_FLOAT32, "linear 2,1 | clamp -100,90 | rescale 0,1" },
    { RADIO_FLOAT32, "znorm" },
    { RADIO_FLOAT64, "gamma 0.5 | rescale 0,1 from p1,p99" },
    { RADIO_INT16, "linear 0.5,1 | saturate" },
    { RADIO_INT32, "window lung | linear 100,0" },
    { RADIO_UINT8, "linear 3,-20 | saturate" },
  };
  enum { n = 90 };
  const struct radio_box box = { .rank = 3, .size = { n, n, n } };
  const struct radio_box half = {
    .rank = 3, .start = { n / 2, 0, 3 }, .size = { n / 2, n, n - 3 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t item_nbytes = radio_dtype_nbytes (cases[i].dtype);
    const int64_t size = (int64_t) item_nbytes;
    const size_t nbytes = n * n * n * item_nbytes;
    const int64_t strides[] = { n * n * size, size, n * size };
    const struct radio_create_options options = {
      .rank = 3, .shape = { n, n, n }, .dtype = cases[i].dtype,
    };
    unsigned char *memory = malloc (nbytes), *expected = malloc (nbytes);
    assert_non_null (memory);
    assert_non_null (expected);
    for (size_t k = 0; k < (size_t) n * n * n; k++) {
      const double value = (double) (k * 2654435761u % 251);
      switch (cases[i].dtype) {
      case RADIO_FLOAT32: ((float *) (void *) memory)[k] = (float) value; break;
      case RADIO_FLOAT64: ((double *) (void *) memory)[k] = value; break;
      case RADIO_INT16: ((int16_t *) (void *) memory)[k] = (int16_t) value;
        break;
      case RADIO_INT32: ((int32_t *) (void *) memory)[k] = (int32_t) value;
        break;
      default: memory[k] = (uint8_t) value;
      }
    }
    struct radio_volume *volume;
    assert_ok (radio_volume_open_memory (NULL, &options, memory, nbytes,
                                         strides, &volume));
    struct radio_volume *derived = must_apply (volume, cases[i].text);
    const struct radio_read_options there = { .strides = strides };
    assert_ok (radio_volume_read (derived, &box, cases[i].dtype, expected,
                                  nbytes, &there));
    /* First half of it; the statistics are those of before. */
    unsigned char *start = memory + (n / 2) * strides[0] + 3 * strides[2];
    assert_ok (radio_volume_read (derived, &half, cases[i].dtype, start,
                                  nbytes, &there));
    for (int64_t z = 0; z < n; z++)
      for (int64_t x = 0; x < n; x++)
        assert_int_equal (z < n / 2 || x < 3,
                          memcmp (memory + z * strides[0] + x * strides[2],
                                  expected + z * strides[0] + x * strides[2],
                                  n * item_nbytes) != 0);
    const struct radio_request rest[] = {
      { .box = { .rank = 3, .size = { n / 2, n, n } }, .buffer = memory,
        .strides = strides },
      { .box = { .rank = 3, .start = { n / 2, 0, 0 }, .size = { n / 2, n, 3 } },
        .buffer = memory + (n / 2) * strides[0], .strides = strides },
    };
    assert_ok (radio_volume_read_many (derived, rest, 2, cases[i].dtype, NULL));
    assert_memory_equal (memory, expected, nbytes);
    /* As it is, nothing changes. */
    assert_ok (radio_volume_read (volume, &box, RADIO_STORED, memory, nbytes,
                                  &there));
    assert_memory_equal (memory, expected, nbytes);
    radio_volume_close (derived);
    radio_volume_close (volume);
    free (memory);
    free (expected);
  }
}

static void
other_overlaps_are_refused_before_anything_is_written (void **state)
{
  (void) state;
  static const char *const texts[] = {
    "flip x", "pad 1 | crop :6,1:5,1:6 | linear 2,1", "crop 1:6,:,: | pad 0:1",
    "noise 1 seed 3", "smooth 1", "linear 2,1 | rot90 xy 2", "to 6,4,5 cubic",
  };
  static const char part[] = "overlaps the voxels that are read";
  float voxels[COUNT + 1], expected[COUNT + 1];
  struct radio_volume *volume, *derived;
  fill (voxels);
  voxels[COUNT] = 1;
  memcpy (expected, voxels, sizeof voxels);
  volume = must_open (RADIO_FLOAT32, voxels, COUNT * sizeof *voxels, NULL);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    derived = must_apply (volume, texts[i]);
    assert_fails (radio_volume_read (derived, &whole, RADIO_FLOAT32, voxels,
                                     COUNT * sizeof *voxels, NULL),
                  RADIO_ERROR_ARGUMENT, part);
    radio_volume_close (derived);
  }
  derived = must_apply (volume, "linear 2,1 | saturate");
  assert_fails (radio_volume_read (derived, &whole, RADIO_FLOAT32, voxels + 1,
                                   COUNT * sizeof *voxels, NULL),
                RADIO_ERROR_ARGUMENT, part);
  /* Smaller elements, and values that are only converted. */
  assert_fails (radio_volume_read (derived, &whole, RADIO_INT16, voxels,
                                   COUNT * sizeof *voxels, NULL),
                RADIO_ERROR_ARGUMENT, part);
  assert_fails (radio_volume_read (volume, &whole, RADIO_INT32, voxels,
                                   COUNT * sizeof *voxels, NULL),
                RADIO_ERROR_ARGUMENT, part);
  const int64_t turned[] = { 4, 4 * DEPTH, 4 * DEPTH * HEIGHT };
  const struct radio_read_options there = { .strides = turned };
  assert_fails (radio_volume_read (derived, &whole, RADIO_FLOAT32, voxels,
                                   COUNT * sizeof *voxels, &there),
                RADIO_ERROR_ARGUMENT, part);
  assert_memory_equal (voxels, expected, sizeof voxels);
  /* Axes of one element may have any stride. */
  const struct radio_box row = { .rank = 3, .start = { 2, 1, 0 },
                                 .size = { 1, 1, WIDTH } };
  const int64_t odd[] = { 1, -77, 4 };
  const struct radio_read_options one = { .strides = odd };
  float *start = voxels + (2 * HEIGHT + 1) * WIDTH;
  assert_ok (radio_volume_read (derived, &row, RADIO_FLOAT32, start, 0, &one));
  for (size_t i = 0; i < COUNT; i++)
    assert_true (voxels[i] == (i / WIDTH == 2 * HEIGHT + 1
                               ? expected[i] * 2 + 1 : expected[i]));
  radio_volume_close (derived);
  radio_volume_close (volume);
}

/* Where voxels share memory, a pipeline would be applied to some of them more
 * than once. */
static void
only_voxels_that_share_no_memory_are_delivered_in_place (void **state)
{
  (void) state;
  static const struct {
    int64_t strides[3];
    size_t first;               /* element */
    bool is_legal;
  } cases[] = {
    { { 0, 0, 4 }, 0, false },
    { { 4 * 24, 4 * 5, 4 }, 0, false },
    { { 4 * 24, 4 * 6, 2 }, 0, false },
    { { 4 * 8, -4, 4 * 32 }, 3, false },
    { { 4 * 24, 4 * 6, 4 }, 0, true },
    { { 4 * 48, -4 * 12, 8 }, 18 * 2, true },
    { { 4, 4 * 31, 4 * 5 }, 0, true },
    /* Interlaced: each row begins among the elements of others. */
    { { 4 * 2, 4 * 7, 4 * 36 }, 0, true },
    { { 4 * 36, -4 * 7, 4 * 2 }, 21, true },
    { { 4 * 2, 4 * 4, 4 * 36 }, 0, false },
    { { 4 * 2, 4 * 7 + 2, 4 * 40 }, 0, false },
  };
  enum { n = 2 * COUNT };
  float voxels[n], expected[n];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int64_t *strides = cases[i].strides;
    const struct radio_read_options there = { .strides = strides };
    float *first = voxels + cases[i].first;
    for (size_t k = 0; k < n; k++)
      voxels[k] = expected[k] = 1;
    struct radio_volume *volume = must_open (RADIO_FLOAT32, first, 0, strides);
    struct radio_volume *derived = must_apply (volume, "linear 2,0");
    enum radio_status status = radio_volume_read (
      derived, &whole, RADIO_FLOAT32, first, sizeof voxels, &there);
    if (cases[i].is_legal) {
      assert_ok (status);
      for (int64_t k = 0; k < COUNT; k++)
        expected[(int64_t) cases[i].first
                 + (k / (HEIGHT * WIDTH) * strides[0]
                    + k / WIDTH % HEIGHT * strides[1]
                    + k % WIDTH * strides[2]) / 4] *= 2;
    } else {
      assert_fails (status, RADIO_ERROR_ARGUMENT, "voxels share memory");
    }
    assert_memory_equal (voxels, expected, sizeof voxels);
    radio_volume_close (derived);
    radio_volume_close (volume);
  }
}

static void
no_request_reads_what_another_one_overwrites (void **state)
{
  (void) state;
  static const char part[] = "reads some of the same voxels";
  float voxels[COUNT], expected[COUNT], got[COUNT];
  struct radio_volume *volume, *derived;
  struct radio_request requests[3] = {
    { .box = { .rank = 3, .start = { 3, 0, 0 }, .size = { 2, 4, 6 } },
      .buffer = voxels + 3 * HEIGHT * WIDTH },
    { .box = { .rank = 3, .start = { 0, 0, 0 }, .size = { 2, 4, 6 } },
      .buffer = voxels },
  };
  fill (voxels);
  memcpy (expected, voxels, sizeof voxels);
  volume = must_open (RADIO_FLOAT32, voxels, sizeof voxels, NULL);
  derived = must_apply (volume, "linear 2,0");
  for (size_t i = 0; i < 3; i++)
    requests[i].nbytes = sizeof voxels;
  /* Twice in place; a part of it in place; in part elsewhere, in each order;
   * one voxel. */
  static const struct radio_box boxes[] = {
    { 3, { 3, 0, 0 }, { 2, 4, 6 } }, { 3, { 4, 0, 0 }, { 1, 4, 6 } },
    { 3, { 1, 2, 3 }, { 1, 2, 1 } }, { 3, { 2, 1, 1 }, { 2, 1, 1 } },
    { 3, { 0, 0, 0 }, { 5, 4, 6 } }, { 3, { 4, 3, 5 }, { 1, 1, 1 } },
  };
  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
    for (size_t at = 0; at < 3; at++) {
      struct radio_request three[3];
      for (size_t k = 0; k < 2; k++)
        three[k < at ? k : k + 1] = requests[k];
      three[at] = (struct radio_request) {
        .box = boxes[i], .nbytes = sizeof got,
        .buffer = i < 2 ? voxels + boxes[i].start[0] * 24 : got,
      };
      assert_fails (radio_volume_read_many (derived, three, 3, RADIO_FLOAT32,
                                            NULL), RADIO_ERROR_ARGUMENT, part);
      assert_memory_equal (voxels, expected, sizeof voxels);
    }
  /* The others, and none, elsewhere; the rest in place. */
  requests[2] = (struct radio_request) {
    .box = { .rank = 3, .start = { 2, 0, 0 }, .size = { 1, 4, 6 } },
    .buffer = got, .nbytes = sizeof got,
  };
  assert_ok (radio_volume_read_many (derived, requests, 3, RADIO_FLOAT32,
                                     NULL));
  for (size_t i = 0; i < COUNT; i++) {
    size_t z = i / (HEIGHT * WIDTH);
    assert_true (voxels[i] == expected[i] * (z == 2 ? 1 : 2));
    assert_true (z != 2 || got[i - 48] == expected[i] * 2);
  }
  radio_volume_close (derived);
  /* Padding that repeats a voxel of the other request. */
  memcpy (voxels, expected, sizeof voxels);
  derived = must_apply (volume, "pad 2,0,0 reflect | linear 2,0");
  struct radio_volume_info info;
  radio_volume_get_info (derived, &info);
  assert_int_equal (info.array.shape[2], WIDTH + 4);
  requests[0].box = (struct radio_box) { 3, { 0, 0, 3 }, { 5, 4, 1 } };
  requests[1].box = (struct radio_box) { 3, { 0, 0, 0 }, { 5, 4, 2 } };
  static const int64_t strides[] = { 96, 24, 4 };
  requests[0].buffer = voxels + 1;
  requests[0].strides = strides;
  requests[1].buffer = got;
  assert_fails (radio_volume_read_many (derived, requests, 2, RADIO_FLOAT32,
                                        NULL), RADIO_ERROR_ARGUMENT, part);
  assert_memory_equal (voxels, expected, sizeof voxels);
  requests[1].box.size[2] = 1;
  assert_ok (radio_volume_read_many (derived, requests, 2, RADIO_FLOAT32,
                                     NULL));
  for (size_t i = 0; i < COUNT; i++)
    assert_true (voxels[i] == expected[i] * (i % WIDTH == 1 ? 2 : 1));
  for (size_t i = 0; i < DEPTH * HEIGHT; i++)
    assert_true (got[i] == expected[i * WIDTH + 2] * 2);
  radio_volume_close (derived);
  radio_volume_close (volume);
}

/* A handle has the statistics of its first read, and a later one those of the
 * voxels as they are then. */
static void
statistics_are_of_the_voxels_when_a_pipeline_is_applied (void **state)
{
  (void) state;
  float voxels[COUNT], got[COUNT];
  struct radio_volume *volume;
  fill (voxels);
  volume = must_open (RADIO_FLOAT32, voxels, sizeof voxels, NULL);
  struct radio_volume *first = must_apply (volume, "rescale 0,1");
  assert_ok (radio_volume_read (first, &whole, RADIO_FLOAT32, got, sizeof got,
                                NULL));
  assert_true (got[0] == 0 && voxels[0] == -9.25f);
  for (size_t i = 0; i < COUNT; i++)
    voxels[i] *= 2;
  struct radio_volume *second = must_apply (volume, "rescale 0,1");
  assert_ok (radio_volume_read (second, &whole, RADIO_FLOAT32, voxels,
                                sizeof voxels, NULL));
  assert_memory_equal (voxels, got, sizeof got);
  /* 0 is where the first one has (0 + 9.25) / 30. */
  assert_ok (radio_volume_read (first, &whole, RADIO_FLOAT32, got, sizeof got,
                                NULL));
  assert_true (fabsf (got[0] - 9.25f / 30) < 1e-6f);
  radio_volume_close (second);
  radio_volume_close (first);
  radio_volume_close (volume);
}

static void
memory_is_exported_and_ingested_as_a_file_is (void **state)
{
  (void) state;
  float voxels[COUNT], got[COUNT];
  struct radio_volume *volume, *file, *stored;
  struct radio_volume_info info, other;
  struct radio_check damage;
  fill (voxels);
  volume = must_open (RADIO_FLOAT32, voxels, sizeof voxels, NULL);
  radio_volume_get_info (volume, &info);
  assert_ok (radio_volume_export (volume, NULL, "out.nii", NULL));
  assert_ok (radio_volume_open_file (NULL, "out.nii", NULL, &file));
  radio_volume_get_info (file, &other);
  assert_int_equal (info.header_nbytes, other.header_nbytes);
  assert_memory_equal (info.header, other.header, info.header_nbytes);
  assert_ok (radio_volume_read (file, &whole, RADIO_STORED, got, sizeof got,
                                NULL));
  assert_memory_equal (got, voxels, sizeof got);
  assert_ok (radio_volume_validate (volume, &damage, NULL, NULL));
  struct radio_store *store = must_open_store ("s.zarr");
  struct radio_volume *derived = must_apply (volume, "flip x");
  assert_ok (radio_ingest_volume (store, derived, "ct/a", NULL, NULL));
  assert_ok (radio_volume_open (store, "ct/a", &stored));
  radio_volume_get_info (stored, &other);
  assert_string_equal (other.source_name, "memory");
  assert_string_equal (other.derived_pipeline, "flip x");
  assert_ok (radio_volume_read (stored, &whole, RADIO_STORED, got, sizeof got,
                                NULL));
  for (size_t i = 0; i < COUNT; i++)
    assert_true (got[i] == voxels[i / WIDTH * WIDTH + WIDTH - 1 - i % WIDTH]);
  radio_volume_close (stored);
  radio_volume_close (derived);
  radio_store_close (store);
  radio_volume_close (file);
  radio_volume_close (volume);
}

static void
what_is_no_image_is_refused (void **state)
{
  (void) state;
  float voxels[COUNT];
  struct radio_volume *volume = NULL;
  struct radio_create_options options = image_of (RADIO_FLOAT32);
  fill (voxels);
  assert_fails (radio_volume_open_memory (NULL, &options, voxels,
                                          sizeof voxels - 1, NULL, &volume),
                RADIO_ERROR_ARGUMENT, "has 479 bytes, the image needs 480");
  assert_fails (radio_volume_open_memory (NULL, &options, NULL, sizeof voxels,
                                          NULL, &volume),
                RADIO_ERROR_ARGUMENT, "the memory is NULL");
  assert_fails (radio_volume_open_memory (NULL, NULL, voxels, sizeof voxels,
                                          NULL, &volume),
                RADIO_ERROR_ARGUMENT, "options");
  options.shape[0] = (uint64_t) 1 << 62;
  assert_fails (radio_volume_open_memory (NULL, &options, voxels,
                                          sizeof voxels, NULL, &volume),
                RADIO_ERROR_ARGUMENT, "");
  options = image_of (RADIO_FLOAT16);
  assert_fails (radio_volume_open_memory (NULL, &options, voxels,
                                          sizeof voxels, NULL, &volume),
                RADIO_ERROR_UNSUPPORTED, "float16");
  options = image_of (RADIO_FLOAT32);
  options.affine[1][1] = NAN;
  assert_fails (radio_volume_open_memory (NULL, &options, voxels,
                                          sizeof voxels, NULL, &volume),
                RADIO_ERROR_ARGUMENT, "not finite");
  options = image_of (RADIO_FLOAT32);
  options.reserved[0] = 1;
  assert_fails (radio_volume_open_memory (NULL, &options, voxels,
                                          sizeof voxels, NULL, &volume),
                RADIO_ERROR_ARGUMENT, "reserved");
  assert_null (volume);
}

static enum radio_status
open_and_read (struct radio_context *context, float *voxels,
               const struct radio_pipeline *pipeline)
{
  const struct radio_create_options options = image_of (RADIO_FLOAT32);
  struct radio_request requests[2] = {
    { .box = whole, .buffer = voxels, .nbytes = COUNT * sizeof *voxels },
    { .box = whole, .buffer = voxels, .nbytes = COUNT * sizeof *voxels },
  };
  struct radio_volume *volume, *derived;
  enum radio_status status = radio_volume_open_memory (
    context, &options, voxels, COUNT * sizeof *voxels, NULL, &volume);
  if (status != RADIO_OK)
    return status;
  status = radio_volume_apply (volume, pipeline, &derived);
  if (status == RADIO_OK) {
    requests[0].box.size[0] = 2;
    requests[1].box.start[0] = 2;
    requests[1].box.size[0] = 3;
    requests[1].buffer = voxels + 2 * HEIGHT * WIDTH;
    status = radio_volume_read_many (derived, requests, 2, RADIO_FLOAT32,
                                     NULL);
    radio_volume_close (derived);
  }
  radio_volume_close (volume);
  return status;
}

static void
a_failed_allocation_is_reported (void **state)
{
  (void) state;
  float voxels[COUNT], expected[COUNT];
  struct radio_context *context;
  const struct radio_context_options alone = { .nthreads = 1 };
  struct radio_pipeline *pipeline = must_parse_pipeline ("rescale 0,1");
  assert_ok (radio_context_open (&alone, &context));
  fill (expected);
  assert_ok (open_and_read (context, expected, pipeline));
  for (size_t nth = 1;; nth += EXHAUSTIVE_STEP) {
    fill (voxels);
    alloc_fail_nth (nth);
    enum radio_status status = open_and_read (context, voxels, pipeline);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      assert_memory_equal (voxels, expected, sizeof voxels);
      assert_true (nth > 15);
      break;
    }
    /* Only that the statistic is not kept. */
    if (status != RADIO_OK)
      assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
  radio_pipeline_free (pipeline);
  radio_context_close (context);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_volume_is_as_it_is_described),
    cmocka_unit_test (any_text_is_a_name_that_messages_have),
    cmocka_unit_test (elements_are_read_by_any_strides),
    cmocka_unit_test (large_boxes_are_read_by_parts_in_any_order),
    cmocka_unit_test (results_may_be_delivered_in_place),
    cmocka_unit_test (other_overlaps_are_refused_before_anything_is_written),
    cmocka_unit_test (only_voxels_that_share_no_memory_are_delivered_in_place),
    cmocka_unit_test (no_request_reads_what_another_one_overwrites),
    cmocka_unit_test (statistics_are_of_the_voxels_when_a_pipeline_is_applied),
    cmocka_unit_test_setup_teardown (
      memory_is_exported_and_ingested_as_a_file_is, enter_folder,
      leave_folder),
    cmocka_unit_test (what_is_no_image_is_refused),
    cmocka_unit_test (a_failed_allocation_is_reported),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
