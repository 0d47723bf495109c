/* SPDX-License-Identifier: MIT */
/* Images in their files as volumes: reads equal the file, from .nii and from
 * .nii.gz, from every point of entry, by any number of threads. */
#include <config.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/volume/files/gunzip.h"
#include "src/volume/volume.h"
#include "tests/alloc-fail.h"
#include "tests/volume/fixture.h"

static const int64_t dims[][8] = {
  { 2, 9, 8 }, { 3, 9, 8, 7 }, { 4, 5, 4, 3, 6 }, { 5, 4, 3, 2, 3, 5 },
  { 7, 4, 3, 2, 5, 1, 1, 1 }, { 3, 1, 1, 1 }, { 3, 300, 2, 1 },
};
#define NDIMS (sizeof dims / sizeof dims[0])

static struct radio_volume *
must_open (const char *file)
{
  struct radio_volume *volume;
  assert_ok (radio_volume_open_file (NULL, file, NULL, &volume));
  return volume;
}

static void
write_gzip (const char *name, const struct rd_buffer *plain,
            size_t member_nbytes)
{
  struct rd_buffer zipped RD_BUFFER_SCOPE = { 0 };
  make_gzip (plain->data, plain->nbytes, member_nbytes, &zipped);
  write_file (".", name, &zipped);
}

static void
assert_file_is (const char *name, const struct nifti_spec *spec)
{
  struct radio_volume *volume = must_open (name);
  assert_open_volume_is (volume, spec);
  radio_volume_close (volume);
}

static void
every_type_rank_version_and_byte_order_is_read (void **state)
{
  (void) state;
  for (size_t i = 0; i < NDIMS * SPEC_TYPE_COUNT; i++)
    for (unsigned k = 0; k < 4; k++) {
      const struct spec_type *type = &spec_types[i / NDIMS];
      if (strncmp (type->name, "rgb", 3) == 0 && dims[i % NDIMS][0] > 4)
        continue;                     /* colours are the fifth dimension */
      struct nifti_spec spec = {
        .version = 1 + (k & 1), .big_endian = k & 2,
        .datatype = type->code,
      };
      struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
      memcpy (spec.dim, dims[i % NDIMS], sizeof spec.dim);
      spec_image (&spec, &file);
      write_file (".", "a.nii", &file);
      assert_file_is ("a.nii", &spec);
      write_gzip ("a.nii.gz", &file, 0);
      assert_file_is ("a.nii.gz", &spec);
      write_gzip ("a.nii.gz", &file, 60);
      assert_file_is ("a.nii.gz", &spec);
    }
}

static void
pairs_are_read_by_either_name (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct rd_buffer header RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer voxels RD_BUFFER_SCOPE = { 0 };
  spec.is_pair = true;
  spec_header (&spec, &header);
  spec_voxels (&spec, &voxels);
  write_file (".", "a.hdr", &header);
  write_file (".", "a.img", &voxels);
  assert_file_is ("a.hdr", &spec);
  assert_file_is ("a.img", &spec);
  assert_int_equal (unlink ("a.img"), 0);
  write_gzip ("a.img.gz", &voxels, 0);
  assert_file_is ("./a.hdr", &spec);
  assert_file_is ("a.img.gz", &spec);
}

/* A larger image: voxels of 2 bytes that compress to about a half. */
static const struct nifti_spec large = {
  .dim = { 3, 150, 110, 40 }, .datatype = 4,
};

/* Long runs are read beside the place where their values belong, by the
 * distance of that from a cache line. */
static void
values_are_computed_at_every_alignment (void **state)
{
  (void) state;
  enum { GUARD = 64, N = 128 * 128 * 10 };
  const struct nifti_spec spec = {
    .dim = { 3, 128, 128, 10 }, .datatype = 16,
    .big_endian = MACHINE_IS_BIG_ENDIAN,
  };
  const struct radio_box box = radio_box3 (0, 10, 0, 128, 0, 128);
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct radio_pipeline *pipeline;
  struct radio_volume *derived;
  float *expected = calloc (N, sizeof *expected);
  unsigned char *room = malloc (N * sizeof *expected + 3 * GUARD);
  assert_true (expected != NULL && room != NULL);
  spec_image (&spec, &file);
  unsigned char *voxels = file.data + file.nbytes - N * sizeof *expected;
  for (size_t i = 0; i < N; i++) {
    float v = (float) (i * 7919 % 100003) / 8 - 900;
    memcpy (voxels + i * sizeof v, &v, sizeof v);
    expected[i] = v * 2 + 5;
  }
  write_file (".", "values.nii", &file);
  struct radio_volume *volume = must_open ("values.nii");
  assert_ok (radio_pipeline_parse ("linear 2,5", &pipeline));
  assert_ok (radio_volume_apply (volume, pipeline, &derived));
  for (size_t offset = 0; offset <= GUARD; offset += offset < 8 ? 1 : 4) {
    unsigned char *to = room + GUARD + offset;
    memset (room, 0xa5, N * sizeof *expected + 3 * GUARD);
    assert_ok (radio_volume_read (derived, &box, RADIO_FLOAT32, to,
                                  N * sizeof *expected, NULL));
    assert_memory_equal (to, expected, N * sizeof *expected);
    for (size_t i = 0; i < GUARD; i++)
      assert_true (to[-1 - (ptrdiff_t) i] == 0xa5
                   && to[N * sizeof *expected + i] == 0xa5);
  }
  radio_volume_close (derived);
  radio_pipeline_free (pipeline);
  radio_volume_close (volume);
  free (room);
  free (expected);
}

static uint32_t
next_random (uint32_t *seed)
{
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

static void
make_large (struct rd_buffer *file)
{
  uint32_t seed = 1;
  spec_image (&large, file);
  unsigned char *voxels = file->data + file->nbytes
                          - spec_data_nbytes (&large);
  for (size_t i = 0; i < spec_data_nbytes (&large); i++)
    voxels[i] = i % 4096 < 1024 ? next_random (&seed) & 0xff
                                : next_random (&seed) & 3;
}

/* Reads n random boxes at once, and compares. */
static void
read_boxes (struct radio_volume *volume, const struct rd_buffer *expected,
            size_t n, uint32_t *seed)
{
  struct radio_volume_info info;
  struct radio_request *requests = calloc (n, sizeof *requests);
  assert_non_null (requests);
  radio_volume_get_info (volume, &info);
  const uint64_t *shape = info.array.shape;
  for (size_t i = 0; i < n; i++) {
    struct radio_box *box = &requests[i].box;
    box->rank = 3;
    for (size_t k = 0; k < 3; k++) {
      box->start[k] = next_random (seed) % shape[k];
      box->size[k] = 1 + next_random (seed)
                         % (shape[k] - box->start[k] > 33
                            ? 33 : shape[k] - box->start[k]);
    }
    requests[i].nbytes = radio_box_count (box) * 2;
    requests[i].buffer = malloc (requests[i].nbytes);
  }
  assert_ok (radio_volume_read_many (volume, requests, n, RADIO_STORED, NULL));
  for (size_t i = 0; i < n; i++) {
    const struct radio_box *box = &requests[i].box;
    const unsigned char *got = requests[i].buffer;
    for (uint64_t z = 0; z < box->size[0]; z++)
      for (uint64_t y = 0; y < box->size[1]; y++) {
        uint64_t at = (((box->start[0] + z) * shape[1] + box->start[1] + y)
                       * shape[2] + box->start[2]) * 2;
        assert_memory_equal (got, expected->data + at, box->size[2] * 2);
        got += box->size[2] * 2;
      }
    free (requests[i].buffer);
  }
  free (requests);
}

static struct radio_volume *
open_threaded (const char *file, unsigned nthreads, uint64_t gap_nbytes)
{
  const struct radio_context_options how = { .nthreads = nthreads };
  const struct radio_file_options options = { .point_gap_nbytes = gap_nbytes };
  struct radio_context *context;
  struct radio_volume *volume;
  assert_ok (radio_context_open (&how, &context));
  assert_ok (radio_volume_open_file (context, file, &options, &volume));
  radio_context_close (context);
  return volume;
}

static void
boxes_are_read_from_every_point_of_entry (void **state)
{
  (void) state;
  static const size_t members[] = { 0, 100000, 9973 };
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer expected RD_BUFFER_SCOPE = { 0 };
  make_large (&file);
  expected_elements (&large, &file, &expected);
  write_file (".", "a.nii", &file);
  for (size_t i = 0; i < 12; i++) {
    uint32_t seed = (uint32_t) i;
    unsigned nthreads = 1 + (unsigned) i % 4;
    write_gzip ("a.nii.gz", &file, members[i % 3]);
    struct radio_volume *volume = open_threaded ("a.nii.gz", nthreads, 10000);
    for (size_t k = 0; k < 20; k++)
      read_boxes (volume, &expected, 1 + k % 7, &seed);
    assert_ok (radio_volume_validate (volume, NULL, NULL, NULL));
    /* A block of deflate may hold several 100,000 bytes. */
    assert_in_range (rd_gunzip_npoints (volume->array->linear),
                     members[i % 3] > 0 ? 10 : 1, expected.nbytes / 10000);
    read_boxes (volume, &expected, 10, &seed);
    radio_volume_close (volume);
    volume = open_threaded ("a.nii", nthreads, 0);
    read_boxes (volume, &expected, 30, &seed);
    radio_volume_close (volume);
  }
}

static void
points_take_a_sixteenth_of_the_memory_limit_at_most (void **state)
{
  (void) state;
  const uint64_t limit = 1 << 20;
  const struct radio_context_options how = { .memory_limit_nbytes = limit };
  const struct radio_file_options options = { .point_gap_nbytes = 1 };
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer expected RD_BUFFER_SCOPE = { 0 };
  struct radio_context *context;
  struct radio_volume *volume;
  uint32_t seed = 1;
  make_large (&file);
  expected_elements (&large, &file, &expected);
  write_gzip ("a.nii.gz", &file, 20000);
  assert_ok (radio_context_open (&how, &context));
  assert_ok (radio_volume_open_file (context, "a.nii.gz", &options, &volume));
  radio_context_close (context);
  read_boxes (volume, &expected, 3, &seed);
  assert_ok (radio_volume_validate (volume, NULL, NULL, NULL));
  /* A point has a header of at least 40 bytes. */
  assert_in_range (rd_gunzip_npoints (volume->array->linear), 1,
                   limit / 16 / 40);
  read_boxes (volume, &expected, 20, &seed);
  radio_volume_close (volume);
}

struct reader {
  struct radio_volume *volume;
  const struct rd_buffer *expected;
  uint32_t seed;
};

static void *
read_many_times (void *data)
{
  struct reader *reader = data;
  for (size_t k = 0; k < 10; k++)
    read_boxes (reader->volume, reader->expected, 3, &reader->seed);
  return NULL;
}

static void
threads_read_one_file_at_once (void **state)
{
  (void) state;
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer expected RD_BUFFER_SCOPE = { 0 };
  make_large (&file);
  expected_elements (&large, &file, &expected);
  write_gzip ("a.nii.gz", &file, 0);
  struct radio_volume *volume = open_threaded ("a.nii.gz", 2, 20000);
  pthread_t threads[4];
  struct reader readers[4];
  for (uint32_t i = 0; i < 4; i++) {
    readers[i] = (struct reader) { volume, &expected, i };
    assert_int_equal (pthread_create (&threads[i], NULL, read_many_times,
                                      &readers[i]), 0);
  }
  for (size_t i = 0; i < 4; i++)
    pthread_join (threads[i], NULL);
  radio_volume_close (volume);
}

static enum radio_status
read_plane (struct radio_volume *volume, uint64_t z, void *to, size_t nbytes)
{
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  const struct radio_box box = {
    .rank = 3, .start = { z },
    .size = { 1, info.array.shape[1], info.array.shape[2] },
  };
  return radio_volume_read (volume, &box, RADIO_STORED, to, nbytes, NULL);
}

static void
a_truncated_file_gives_the_planes_that_are_whole (void **state)
{
  (void) state;
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer expected RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer zipped RD_BUFFER_SCOPE = { 0 };
  static unsigned char plane[150 * 110 * 2];
  make_large (&file);
  expected_elements (&large, &file, &expected);
  make_gzip (file.data, file.nbytes, 0, &zipped);
  zipped.nbytes /= 2;
  write_file (".", "a.nii.gz", &zipped);
  struct radio_volume *volume = must_open ("a.nii.gz");
  for (unsigned again = 0; again < 2; again++) {
    assert_ok (read_plane (volume, 10, plane, sizeof plane));
    assert_memory_equal (plane, expected.data + 10 * sizeof plane,
                         sizeof plane);
    assert_fails (read_plane (volume, 39, plane, sizeof plane),
                  RADIO_ERROR_FORMAT, "it is cut short");
  }
  struct radio_check check;
  assert_fails (radio_volume_validate (volume, &check, NULL, NULL),
                RADIO_ERROR_CHECKSUM, "a.nii.gz");
  assert_int_equal (check.damaged_count, 1);
  radio_volume_close (volume);
}

/* Cut at every byte near the bounds of planes, by each name of a pair, too. */
static void
a_plain_file_cut_anywhere_gives_the_planes_that_are_whole (void **state)
{
  (void) state;
  static const char *const names[] = { "a.nii", "a.hdr", "a.img" };
  struct nifti_spec spec = {
    .dim = { 4, 7, 6, 5, 2 }, .datatype = 4,
    .big_endian = MACHINE_IS_BIG_ENDIAN,
  };
  const size_t plane_nbytes = 7 * 6 * 2, nplanes = 10;
  unsigned char got[7 * 6 * 2];
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer header RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer voxels RD_BUFFER_SCOPE = { 0 };
  spec_image (&spec, &file);
  spec_voxels (&spec, &voxels);
  assert_int_equal (voxels.nbytes, nplanes * plane_nbytes);
  spec.is_pair = true;
  spec_header (&spec, &header);
  write_file (".", "a.hdr", &header);
  struct radio_store *store = must_open_store ("memory:");
  for (size_t i = 0; i < 3 * nplanes * plane_nbytes; i++) {
    const char *name = names[i % 3];
    struct rd_buffer cut = i % 3 == 0 ? file : voxels;
    size_t present = i / 3;
    cut.nbytes -= voxels.nbytes - present;
    write_file (".", i % 3 == 0 ? "a.nii" : "a.img", &cut);
    assert_fails (radio_ingest (store, name, "ct/a", NULL, NULL),
                  RADIO_ERROR_FORMAT, "of 840 bytes of voxels");
    struct radio_volume *volume;
    if (present < plane_nbytes) {
      assert_fails (radio_volume_open_file (NULL, name, NULL, &volume),
                    RADIO_ERROR_FORMAT, "cut short, or its header is wrong");
      continue;
    }
    volume = must_open (name);
    struct radio_volume_info info;
    radio_volume_get_info (volume, &info);
    assert_int_equal (info.missing_nbytes, voxels.nbytes - present);
    for (size_t p = 0; p < nplanes; p++) {
      const struct radio_box box = {
        .rank = 4, .start = { p / 5, p % 5 }, .size = { 1, 1, 6, 7 },
      };
      char text[100];
      snprintf (text, sizeof text, "it has %zu of 840 bytes of voxels, and "
                "this needs those up to %zu", present, (p + 1) * plane_nbytes);
      enum radio_status status = radio_volume_read (
        volume, &box, RADIO_STORED, got, sizeof got, NULL);
      if ((p + 1) * plane_nbytes > present)
        assert_fails (status, RADIO_ERROR_FORMAT, text);
      else {
        assert_ok (status);
        assert_memory_equal (got, voxels.data + p * plane_nbytes, sizeof got);
      }
    }
    assert_fails (radio_volume_validate (volume, NULL, NULL, NULL),
                  RADIO_ERROR_CHECKSUM, "cut short");
    assert_fails (radio_volume_export (volume, NULL, "b.nii", NULL),
                  RADIO_ERROR_FORMAT, "cut short");
    assert_int_not_equal (access ("b.nii", F_OK), 0);
    radio_volume_close (volume);
  }
  radio_store_close (store);
}

static void
a_checksum_is_verified_also_if_a_file_is_read_in_parts (void **state)
{
  (void) state;
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer zipped RD_BUFFER_SCOPE = { 0 };
  static unsigned char plane[150 * 110 * 2];
  make_large (&file);
  make_gzip (file.data, file.nbytes, 0, &zipped);
  zipped.data[zipped.nbytes - 8] ^= 1;
  write_file (".", "a.nii.gz", &zipped);
  struct radio_volume *volume = open_threaded ("a.nii.gz", 2, 10000);
  for (uint64_t z = 0; z < 39; z++)
    assert_ok (read_plane (volume, z, plane, sizeof plane));
  assert_fails (read_plane (volume, 39, plane, sizeof plane),
                RADIO_ERROR_FORMAT, "checksum or length do not match");
  assert_fails (radio_volume_validate (volume, NULL, NULL, NULL),
                RADIO_ERROR_CHECKSUM, "damaged");
  radio_volume_close (volume);
  volume = must_open ("a.nii.gz");
  assert_fails (radio_volume_export (volume, NULL, "b.nii", NULL),
                RADIO_ERROR_FORMAT, "checksum or length do not match");
  assert_int_not_equal (access ("b.nii", F_OK), 0);
  radio_volume_close (volume);
}

static void
count_warning (const char *message, void *user_data)
{
  (void) message;
  ++*(size_t *) user_data;
}

/* By a bit that hides the checksum all can be read, with a warning. */
static void
damage_is_never_read_as_whole (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer expected RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer zipped RD_BUFFER_SCOPE = { 0 };
  unsigned char got[7 * 6 * 5 * 2];
  size_t nbad = 0, nwarned = 0;
  spec_image (&spec, &file);
  expected_elements (&spec, &file, &expected);
  assert_int_equal (expected.nbytes, sizeof got);
  for (size_t member = 0; member < 400; member += 300) {
    make_gzip (file.data, file.nbytes, member, &zipped);
    for (size_t at = 0; at < 8 * zipped.nbytes;
         at += EXHAUSTIVE_STEP) {
      struct radio_volume *volume;
      size_t nwarnings = 0;
      const struct radio_file_options options = {
        .warning = count_warning, .user_data = &nwarnings,
      };
      zipped.data[at / 8] ^= (unsigned char) (1 << at % 8);
      write_file (".", "a.nii.gz", &zipped);
      zipped.data[at / 8] ^= (unsigned char) (1 << at % 8);
      if (radio_volume_open_file (NULL, "a.nii.gz", &options, &volume)
          != RADIO_OK) {
        nbad++;
        continue;
      }
      struct radio_volume_info info;
      struct radio_box box = { .rank = 3 };
      radio_volume_get_info (volume, &info);
      memcpy (box.size, info.array.shape, sizeof box.size);
      enum radio_status status = RADIO_ERROR_FORMAT;
      if (radio_box_count (&box) * info.array.item_nbytes == sizeof got)
        status = radio_volume_read (volume, &box, RADIO_STORED, got,
                                    sizeof got, NULL);
      if (status == RADIO_OK && nwarnings == 0)
        assert_memory_equal (got, expected.data, sizeof got);
      else
        nbad++;
      nwarned += nwarnings;
      radio_volume_close (volume);
    }
  }
  assert_true (nwarned < 40);
  assert_true (nbad > 5000 / EXHAUSTIVE_STEP);
}

/* Only a read that reaches the last voxel knows the checksum of all before it;
 * what lies before the damage is right whatever follows. */
static void
a_file_damaged_at_each_thousandth_byte_is_found_by_reading_it_all (
  void **state)
{
  (void) state;
  static unsigned char plane[150 * 110 * 2];
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer expected RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer zipped RD_BUFFER_SCOPE = { 0 };
  make_large (&file);
  expected_elements (&large, &file, &expected);
  make_gzip (file.data, file.nbytes, 0, &zipped);
  assert_true (zipped.nbytes > 300000);
  for (size_t at = 500; at < zipped.nbytes;
       at += 1000 * EXHAUSTIVE_STEP) {
    static const uint64_t planes[] = { 0, 39, 20, 0, 39 };
    const bool is_longer
      = at + 1000 * EXHAUSTIVE_STEP >= zipped.nbytes;
    if (is_longer)
      must_append (&zipped, "excess", 6);
    else
      zipped.data[at] ^= 0x55;
    write_file (".", "a.nii.gz", &zipped);
    struct radio_volume *volume = open_threaded ("a.nii.gz", 2, 100000);
    for (size_t i = 0; i < sizeof planes / sizeof planes[0]; i++) {
      enum radio_status status = read_plane (volume, planes[i], plane,
                                             sizeof plane);
      if (is_longer)
        assert_ok (status);
      else if (planes[i] == 39 || status != RADIO_OK)
        assert_int_equal (status, RADIO_ERROR_FORMAT);
      if (planes[i] == 0 && at > zipped.nbytes / 10) {
        assert_ok (status);
        assert_memory_equal (plane, expected.data, sizeof plane);
      }
    }
    if (is_longer)
      assert_ok (radio_volume_validate (volume, NULL, NULL, NULL));
    else
      assert_fails (radio_volume_validate (volume, NULL, NULL, NULL),
                    RADIO_ERROR_CHECKSUM, "damaged");
    radio_volume_close (volume);
    if (!is_longer)
      zipped.data[at] ^= 0x55;
  }
}

struct writing_reader {
  struct radio_volume *volume;
  atomic_bool *is_over;
  atomic_size_t nread;
};

static void *
read_what_is_written (void *data)
{
  struct writing_reader *reader = data;
  static _Thread_local unsigned char plane[150 * 110 * 2];
  for (uint64_t z = 0; !atomic_load (reader->is_over); z++) {
    enum radio_status status = read_plane (reader->volume, z * 7 % 40, plane,
                                           sizeof plane);
    atomic_fetch_add (&reader->nread, 1);
    if (status != RADIO_OK)
      assert_int_equal (status, RADIO_ERROR_FORMAT);
  }
  return NULL;
}

/* In place, so that the open file is the one that changes. */
static void
a_file_that_changes_and_shrinks_under_readers_gives_values_or_errors (
  void **state)
{
  (void) state;
  static const char *const names[] = { "a.nii", "a.nii.gz" };
  struct rd_buffer forms[2] = { { 0 }, { 0 } };
  make_large (&forms[0]);
  make_gzip (forms[0].data, forms[0].nbytes, 0, &forms[1]);
  for (size_t i = 0; i < 2; i++) {
    struct rd_buffer *bytes = &forms[i];
    atomic_bool is_over = false;
    pthread_t threads[2];
    struct writing_reader readers[2];
    uint32_t seed = 5;
    write_file (".", names[i], bytes);
    struct radio_volume *volume = open_threaded (names[i], 2, 50000);
    for (size_t k = 0; k < 2; k++) {
      readers[k].volume = volume;
      readers[k].is_over = &is_over;
      atomic_init (&readers[k].nread, 0);
      assert_int_equal (pthread_create (&threads[k], NULL,
                                        read_what_is_written, &readers[k]), 0);
    }
    int fd = open (names[i], O_WRONLY);
    assert_true (fd >= 0);
    for (size_t k = 0; k < 300 || atomic_load (&readers[k % 2].nread) < 30;
         k++) {
      size_t at = next_random (&seed) % bytes->nbytes;
      size_t n = rd_min_u64 (bytes->nbytes - at, 3000);
      if (k % 3 == 0)
        assert_int_equal (ftruncate (fd, (off_t) at), 0);
      else
        assert_int_equal (pwrite (fd, bytes->data + (k % 3 == 1 ? 0 : at), n,
                                  (off_t) at), n);
    }
    assert_int_equal (ftruncate (fd, 400), 0);
    assert_int_equal (unlink (names[i]), 0);
    atomic_store (&is_over, true);
    for (size_t k = 0; k < 2; k++)
      pthread_join (threads[k], NULL);
    close (fd);
    radio_volume_close (volume);
    rd_buffer_free (bytes);
  }
}

static void
a_replaced_file_is_read_as_it_was_and_a_shrunk_one_fails (void **state)
{
  (void) state;
  static const char *const names[] = { "a.nii", "a.nii.gz", "mapped.nii" };
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer expected RD_BUFFER_SCOPE = { 0 };
  static unsigned char plane[150 * 110 * 2];
  make_large (&file);
  expected_elements (&large, &file, &expected);
  for (size_t i = 0; i < 3; i++) {
    if (i == 1)
      write_gzip (names[i], &file, 0);
    else
      write_file (".", names[i], &file);
    const struct radio_file_options options = { .map = i == 2 };
    struct radio_volume *volume;
    assert_ok (radio_volume_open_file (NULL, names[i], &options, &volume));
    assert_int_equal (rename (names[i], "old"), 0);
    write_file (".", names[i], &expected);
    assert_ok (read_plane (volume, 39, plane, sizeof plane));
    assert_memory_equal (plane, expected.data + 39 * sizeof plane,
                         sizeof plane);
    assert_int_equal (truncate ("old", 3000), 0);
    assert_fails (read_plane (volume, 39, plane, sizeof plane),
                  RADIO_ERROR_FORMAT, "cut short");
    radio_volume_close (volume);
  }
}

static bool
cancel (void *user_data)
{
  size_t *calls = user_data;
  return ++*calls > 2;
}

static void
a_read_is_cancelled_while_it_inflates_what_it_skips (void **state)
{
  (void) state;
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  uint16_t voxel;
  size_t calls = 0;
  make_large (&file);
  write_gzip ("a.nii.gz", &file, 1000);
  struct radio_volume *volume = must_open ("a.nii.gz");
  const struct radio_read_options options = {
    .cancel = cancel, .user_data = &calls,
  };
  const struct radio_box last = {
    .rank = 3, .start = { 39, 109, 149 }, .size = { 1, 1, 1 },
  };
  assert_fails (radio_volume_read (volume, &last, RADIO_STORED, &voxel,
                                   sizeof voxel, &options),
                RADIO_ERROR_CANCELLED, "");
  assert_ok (radio_volume_read (volume, &last, RADIO_STORED, &voxel,
                                sizeof voxel, NULL));
  radio_volume_close (volume);
}

static void
what_is_no_image_is_an_error (void **state)
{
  (void) state;
  struct radio_volume *volume;
  const struct rd_buffer text = { (unsigned char *) "text", 4, 4 };
  write_file (".", "text", &text);
  assert_fails (radio_volume_open_file (NULL, "none.nii", NULL, &volume),
                RADIO_ERROR_NOT_FOUND, "none.nii");
  assert_fails (radio_volume_open_file (NULL, "text", NULL, &volume),
                RADIO_ERROR_FORMAT, "text: not a NIfTI image");
  assert_fails (radio_volume_open_file (NULL, ".", NULL, &volume),
                RADIO_ERROR_ARGUMENT, ".: a folder");
  assert_fails (radio_volume_open_file (NULL, NULL, NULL, &volume),
                RADIO_ERROR_ARGUMENT, "file is NULL");
}

static void
it_is_exported_scaled_and_summarized_as_from_a_store (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  float scaled[2][7 * 6 * 5];
  spec.scl_slope = 2;
  spec.scl_inter = -7;
  spec_image (&spec, &file);
  write_gzip ("a.nii.gz", &file, 0);
  struct radio_store *store = must_open_store ("memory:");
  struct radio_volume *volumes[2] = { must_open ("a.nii.gz") };
  struct radio_stats stats[2];
  assert_ok (radio_ingest (store, "a.nii.gz", "ct/a", NULL, NULL));
  assert_ok (radio_volume_open (store, "ct/a", &volumes[1]));
  const struct radio_read_options options = { .scaled = true };
  const struct radio_box box = { .rank = 3, .size = { 5, 6, 7 } };
  for (size_t i = 0; i < 2; i++) {
    assert_ok (radio_volume_read (volumes[i], &box, RADIO_FLOAT32, scaled[i],
                                  sizeof scaled[i], &options));
    assert_ok (radio_volume_stats (volumes[i], false, &stats[i]));
  }
  assert_memory_equal (scaled[0], scaled[1], sizeof scaled[0]);
  assert_memory_equal (&stats[0], &stats[1], sizeof stats[0]);
  assert_ok (radio_volume_export (volumes[0], NULL, "b.nii", NULL));
  assert_file_is ("b.nii", &spec);
  radio_volume_close (volumes[0]);
  radio_volume_close (volumes[1]);
  radio_store_close (store);
}

static enum radio_status
open_and_read (const char *file, void *to, size_t nbytes)
{
  struct radio_volume *volume;
  RD_TRY (radio_volume_open_file (NULL, file, NULL, &volume));
  enum radio_status status = read_plane (volume, 3, to, nbytes);
  radio_volume_close (volume);
  return status;
}

static void
each_failing_allocation_is_an_error (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  unsigned char plane[7 * 6 * 2];
  spec_image (&spec, &file);
  write_file (".", "a.nii", &file);
  write_gzip ("a.nii.gz", &file, 0);
  for (size_t i = 0; i < 2; i++)
    for (size_t nth = 1;; nth += EXHAUSTIVE_STEP) {
      alloc_fail_nth (nth);
      enum radio_status status = open_and_read (i ? "a.nii.gz" : "a.nii",
                                                plane, sizeof plane);
      if (!alloc_fail_end ()) {
        assert_ok (status);
        assert_true (nth > 10);
        break;
      }
      if (status != RADIO_OK)         /* only that a point is not kept */
        assert_int_equal (status, RADIO_ERROR_MEMORY);
    }
}

/* The written part of each run then begins with a line of that memory. */
static void
permuted_files_are_read_into_memory_at_any_place (void **state)
{
  (void) state;
  enum { X = 250, Y = 90, Z = 70, N = X * Y * Z };
  static _Alignas (64) int32_t plain[N], permuted[N + 32];
  static const char *const texts[] = { "reorient SAR", "reorient IAR" };
  struct nifti_spec spec = { .dim = { 3, X, Y, Z }, .datatype = 8 };
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  const struct radio_box box = { .rank = 3, .size = { X, Y, Z } };
  const struct radio_box whole = { .rank = 3, .size = { Z, Y, X } };
  spec.sform_code = 1;
  for (int i = 0; i < 3; i++)
    spec.srow[i][i] = 1;
  spec_image (&spec, &file);
  write_file (".", "a.nii", &file);
  struct radio_volume *volume = must_open ("a.nii");
  assert_ok (radio_volume_read (volume, &whole, RADIO_INT32, plain,
                                sizeof plain, NULL));
  radio_volume_close (volume);
  for (size_t place = 0; place < 32; place += place < 4 ? 1 : 7)
    for (int k = 0; k < (place % 4 == 0 ? 4 : 2); k++) {
      const struct radio_file_options options = { .map = k >= 2 };
      const bool is_reversed = k % 2 == 1;
      int32_t *to = permuted + place;
      assert_ok (radio_volume_open_file (NULL, "a.nii", &options, &volume));
      volume = must_derive (volume, texts[is_reversed]);
      memset (permuted, 0x5a, sizeof permuted);
      assert_ok (radio_volume_read (volume, &box, RADIO_INT32, to,
                                    sizeof plain, NULL));
      radio_volume_close (volume);
      for (size_t i = 0; i < N; i++) {
        size_t x = i / Z / Y, y = i / Z % Y, z = i % Z;
        if (to[i] != plain[((is_reversed ? Z - 1 - z : z) * Y + y) * X + x])
          fail_msg ("%s: element %zu at place %zu", texts[is_reversed], i,
                    place);
      }
      for (size_t i = 0; i < 32; i++)
        assert_int_equal (permuted[i < place ? i : N + i], 0x5a5a5a5a);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_type_rank_version_and_byte_order_is_read),
    cmocka_unit_test (pairs_are_read_by_either_name),
    cmocka_unit_test (permuted_files_are_read_into_memory_at_any_place),
    cmocka_unit_test (values_are_computed_at_every_alignment),
    cmocka_unit_test (boxes_are_read_from_every_point_of_entry),
    cmocka_unit_test (points_take_a_sixteenth_of_the_memory_limit_at_most),
    cmocka_unit_test (threads_read_one_file_at_once),
    cmocka_unit_test (a_truncated_file_gives_the_planes_that_are_whole),
    cmocka_unit_test (
      a_plain_file_cut_anywhere_gives_the_planes_that_are_whole),
    cmocka_unit_test (a_checksum_is_verified_also_if_a_file_is_read_in_parts),
    cmocka_unit_test (damage_is_never_read_as_whole),
    cmocka_unit_test (
      a_file_damaged_at_each_thousandth_byte_is_found_by_reading_it_all),
    cmocka_unit_test (
      a_file_that_changes_and_shrinks_under_readers_gives_values_or_errors),
    cmocka_unit_test (
      a_replaced_file_is_read_as_it_was_and_a_shrunk_one_fails),
    cmocka_unit_test (a_read_is_cancelled_while_it_inflates_what_it_skips),
    cmocka_unit_test (what_is_no_image_is_an_error),
    cmocka_unit_test (it_is_exported_scaled_and_summarized_as_from_a_store),
    cmocka_unit_test (each_failing_allocation_is_an_error),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
