/* SPDX-License-Identifier: MIT */
/* Points of entry into gzip files: shared in a context, kept beside a file, and
 * taken from hostile files. */
#include <config.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/crc32c.h"
#include "src/volume/gunzip.h"
#include "src/volume/volume.h"
#include "tests/alloc-fail.h"
#include "tests/volume/fixture.h"

/* Voxels of 2 bytes that compress to about a half; 7 MB, so that members are
 * inflated in several tasks. */
static const struct nifti_spec spec = {
  .dim = { 3, 300, 200, 60 }, .datatype = 4,
};
enum { PLANE_NBYTES = 300 * 200 * 2, NPLANES = 60, GAP_NBYTES = 100000 };

static struct rd_buffer image, voxels, zipped;
static unsigned char plane[PLANE_NBYTES];

static uint32_t
next_random (uint32_t *seed)
{
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

static int
set_up (void **state)
{
  uint32_t seed = 1;
  enter_folder (state);
  spec_image (&spec, &image);
  size_t nbytes = spec_data_nbytes (&spec);
  unsigned char *data = image.data + image.nbytes - nbytes;
  for (size_t i = 0; i < nbytes; i++)
    data[i] = next_random (&seed) & (i % 4096 < 1024 ? 0xff : 3);
  expected_elements (&spec, &image, &voxels);
  make_gzip (image.data, image.nbytes, 0, &zipped);
  return 0;
}

static int
tear_down (void **state)
{
  rd_buffer_free (&image);
  rd_buffer_free (&voxels);
  rd_buffer_free (&zipped);
  return leave_folder (state);
}

static struct radio_context *
open_context (uint64_t memory_nbytes)
{
  const struct radio_context_options options = {
    .nthreads = 3, .memory_limit_nbytes = memory_nbytes,
  };
  struct radio_context *context;
  assert_ok (radio_context_open (&options, &context));
  return context;
}

/* Opens a.nii.gz. */
static struct radio_volume *
open_file (struct radio_context *context, bool keep_index)
{
  const struct radio_file_options options = {
    .point_gap_nbytes = GAP_NBYTES, .keep_index = keep_index,
    .index_folder = "kept/here",
  };
  struct radio_volume *volume;
  assert_ok (radio_volume_open_file (context, "a.nii.gz", &options, &volume));
  return volume;
}

static size_t
count_points (const struct radio_volume *volume)
{
  return rd_gunzip_npoints (volume->array->linear);
}

static enum radio_status
read_plane (struct radio_volume *volume, uint64_t z)
{
  return radio_volume_read_plane (volume, RADIO_AXIAL, z, RADIO_STORED, plane,
                                  sizeof plane, NULL);
}

/* Reads every k-th plane, the last one first, and compares. */
static void
assert_planes (struct radio_volume *volume, uint64_t k)
{
  for (uint64_t z = NPLANES; z-- > 0;)
    if (z % k == k - 1) {
      assert_ok (read_plane (volume, z));
      assert_memory_equal (plane, voxels.data + z * PLANE_NBYTES,
                           PLANE_NBYTES);
    }
}

static void
write_image (void)
{
  write_file (".", "a.nii.gz", &zipped);
}

/*------------------------------------------------------------------------
 * In the context
 *----------------------------------------------------------------------*/

static void
a_file_that_is_opened_again_has_its_points (void **state)
{
  (void) state;
  struct radio_context *context = open_context (0);
  write_image ();
  struct radio_volume *volume = open_file (context, false);
  assert_int_equal (count_points (volume), 0);
  assert_planes (volume, 20);
  size_t n = count_points (volume);
  assert_in_range (n, 10, voxels.nbytes / GAP_NBYTES);
  struct radio_volume *other = open_file (context, false);
  assert_int_equal (count_points (other), n);
  radio_volume_close (volume);
  radio_volume_close (other);
  volume = open_file (context, false);
  assert_int_equal (count_points (volume), n);
  assert_planes (volume, 7);
  radio_volume_close (volume);
  radio_context_close (context);
  assert_int_not_equal (access ("a.nii.gz.points", F_OK), 0);
}

/* The size and the time stay the same, also the number of the file. */
static void
a_file_that_changed_has_none_of_its_old_points (void **state)
{
  (void) state;
  struct radio_context *context = open_context (0);
  struct stat st;
  write_image ();
  for (int i = 0; i < 3; i++) {
    struct radio_volume *volume = open_file (context, false);
    assert_int_equal (count_points (volume), 0);
    assert_planes (volume, 30);
    assert_true (count_points (volume) > 0);
    radio_volume_close (volume);
    assert_int_equal (stat ("a.nii.gz", &st), 0);
    if (i == 0)                       /* the time of the header */
      zipped.data[4] ^= 1;
    write_image ();
    const struct timespec times[2] = {
      st.st_atim,
      { st.st_mtim.tv_sec, st.st_mtim.tv_nsec + (i == 1 ? 1 : 0) },
    };
    if (i < 2)
      assert_int_equal (utimensat (AT_FDCWD, "a.nii.gz", times, 0), 0);
    else
      assert_int_equal (rename ("a.nii.gz", "b.nii.gz"), 0);
    if (i == 2)
      write_image ();
  }
  struct radio_volume *volume = open_file (context, false);
  assert_int_equal (count_points (volume), 0);
  radio_volume_close (volume);
  radio_context_close (context);
}

static void
points_of_all_files_take_a_sixteenth_of_the_limit (void **state)
{
  (void) state;
  const uint64_t limit = 8 << 20;
  struct radio_context *context = open_context (limit);
  struct radio_volume *volumes[4];
  char name[16];
  write_image ();
  for (size_t i = 0; i < 4; i++) {
    snprintf (name, sizeof name, "%zu.nii.gz", i);
    assert_int_equal (link ("a.nii.gz", name), 0);
    assert_int_equal (rename (name, "a.nii.gz"), 0);
    write_image ();
    volumes[i] = open_file (context, false);
    assert_planes (volumes[i], 30);
    assert_int_equal (unlink ("a.nii.gz"), 0);
    write_image ();
    /* A history of this image takes about half of its 32 KiB. */
    assert_in_range (count_points (volumes[i]), 1,
                     limit / 16 / 12000 / (i + 1));
    assert_planes (volumes[i], 11);
  }
  for (size_t i = 0; i < 4; i++)
    radio_volume_close (volumes[i]);
  radio_context_close (context);
}

/*------------------------------------------------------------------------
 * On the disk
 *----------------------------------------------------------------------*/

/* Reads a.nii.gz so that its points are kept. */
static void
keep_points (void)
{
  struct radio_context *context = open_context (0);
  struct radio_volume *volume = open_file (context, true);
  assert_planes (volume, 30);
  radio_volume_close (volume);
  radio_context_close (context);
}

/* The points with which a new process begins. */
static size_t
count_kept (void)
{
  struct radio_context *context = open_context (0);
  struct radio_volume *volume = open_file (context, false);
  size_t n = count_points (volume);
  assert_planes (volume, 19);
  radio_volume_close (volume);
  radio_context_close (context);
  return n;
}

static void
read_back (const char *name, struct rd_buffer *bytes)
{
  FILE *file = fopen (name, "rb");
  assert_non_null (file);
  assert_ok (rd_buffer_reserve (bytes, 4 << 20));
  bytes->nbytes = fread (bytes->data, 1, bytes->capacity, file);
  assert_true (bytes->nbytes > 0 && bytes->nbytes < bytes->capacity);
  fclose (file);
}

static void
kept_points_are_found_with_and_without_the_option (void **state)
{
  (void) state;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  write_image ();
  assert_int_equal (count_kept (), 0);
  keep_points ();
  read_back ("a.nii.gz.points", &bytes);
  size_t n = count_kept ();
  assert_in_range (n, 10, voxels.nbytes / GAP_NBYTES);
  keep_points ();
  assert_int_equal (count_kept (), n);
  /* Another file's, an older one, and a truncated one are replaced. */
  make_gzip (image.data, image.nbytes, 300000, &zipped);
  write_image ();
  assert_int_equal (count_kept (), 0);
  keep_points ();
  assert_true (count_kept () > 0);
  write_file (".", "a.nii.gz.points", &bytes);
  assert_int_equal (count_kept (), 0);
  keep_points ();
  assert_true (count_kept () > 0);
  assert_int_equal (truncate ("a.nii.gz.points", 100), 0);
  assert_int_equal (count_kept (), 0);
  keep_points ();
  assert_true (count_kept () > 0);
  make_gzip (image.data, image.nbytes, 0, &zipped);
  remove_all ("a.nii.gz.points");
}

/* Where there is something else by its name, as where the folder cannot be
 * written. */
static void
points_go_into_the_folder_that_is_given_otherwise (void **state)
{
  (void) state;
  static const struct rd_buffer text = { (unsigned char *) "a text", 6, 6 };
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  write_image ();
  write_file (".", "a.nii.gz.points", &text);
  keep_points ();
  read_back ("a.nii.gz.points", &bytes);
  assert_int_equal (bytes.nbytes, 6);
  assert_true (count_kept () > 10);
  remove_all ("kept");
  assert_int_equal (unlink ("a.nii.gz.points"), 0);
  assert_int_equal (symlink ("other", "a.nii.gz.points"), 0);
  keep_points ();
  assert_int_not_equal (access ("other", F_OK), 0);
  assert_true (count_kept () > 10);
  remove_all ("kept");
  assert_int_equal (count_kept (), 0);
  assert_int_equal (unlink ("a.nii.gz.points"), 0);
}

static void
put (struct rd_buffer *bytes, size_t at, uint64_t number, unsigned nbytes)
{
  for (unsigned i = 0; i < nbytes; i++)
    bytes->data[at + i] = (unsigned char) (number >> 8 * i);
}

static void
hostile_points_are_ignored (void **state)
{
  (void) state;
  struct rd_buffer good RD_BUFFER_SCOPE = { 0 }, bad RD_BUFFER_SCOPE = { 0 };
  write_image ();
  keep_points ();
  read_back ("a.nii.gz.points", &good);
  struct rd_points_key key = {
    .nbytes = zipped.nbytes,
  };
  memcpy (&key.mtime_ns, good.data + 24, 8);
  memcpy (&key.head_crc32c, good.data + 32, 4);
  memcpy (&key.tail_crc32c, good.data + 36, 4);
  struct rd_points_cache *cache;
  struct rd_points *points;
  assert_ok (rd_points_cache_open (1 << 20, &cache));
  assert_ok (rd_points_open (cache, NULL, 1, &points));
  for (size_t i = 0; i < good.nbytes; i += i < 2000 ? 1 : 997) {
    assert_int_equal (rd_index_parse (good.data, i, &key, points),
                      RADIO_ERROR_FORMAT);
    good.data[i] ^= 4;
    assert_int_equal (rd_index_parse (good.data, good.nbytes, &key, points),
                      RADIO_ERROR_FORMAT);
    good.data[i] ^= 4;
  }
  /* With a right checksum; the second point is at 56 + 32. */
  static const struct {
    size_t at;
    uint64_t number;
    unsigned nbytes;
  } claims[] = {
    { 40, UINT64_MAX, 8 }, { 40, (uint64_t) 1 << 59, 8 }, { 40, 1, 8 },
    { 48, UINT64_MAX, 8 }, { 48, 0, 8 }, { 8, 2, 4 },
    { 88, 0, 8 }, { 96, 0, 8 }, { 96, UINT64_MAX, 8 }, { 104, 0, 4 },
    { 104, UINT32_MAX, 4 }, { 108, 32769, 4 }, { 108, 0, 4 }, { 112, 8, 1 },
    { 113, 1, 1 },
  };
  for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
    bad.nbytes = 0;
    assert_ok (rd_buffer_append (&bad, good.data, good.nbytes));
    put (&bad, claims[i].at, claims[i].number, claims[i].nbytes);
    put (&bad, bad.nbytes - 4, rd_crc32c (0, bad.data, bad.nbytes - 4), 4);
    assert_int_equal (rd_index_parse (bad.data, bad.nbytes, &key, points),
                      RADIO_ERROR_FORMAT);
    assert_int_equal (rd_points_count (points, NULL), 0);
    write_file (".", "a.nii.gz.points", &bad);
    assert_int_equal (count_kept (), 0);
  }
  assert_ok (rd_index_parse (good.data, good.nbytes, &key, points));
  assert_true (rd_points_count (points, NULL) > 0);
  rd_points_release (points);
  rd_points_cache_close (cache);

  /* A history that is no deflate stream fails, when it is needed. */
  size_t n = good.data[40];
  memset (good.data + 56 + 32 * n, 0xff, good.nbytes - 60 - 32 * n);
  put (&good, good.nbytes - 4, rd_crc32c (0, good.data, good.nbytes - 4), 4);
  write_file (".", "a.nii.gz.points", &good);
  struct radio_volume *volume = open_file (NULL, false);
  assert_fails (read_plane (volume, NPLANES - 1), RADIO_ERROR_FORMAT,
                "a point of entry is damaged; remove its file");
  radio_volume_close (volume);
  assert_int_equal (unlink ("a.nii.gz.points"), 0);
}

/* With as little memory as all points take, they are the whole file. */
static void
each_failing_allocation_is_an_error_or_costs_points (void **state)
{
  (void) state;
  struct radio_context *context = open_context (0);
  struct radio_volume *volume = NULL;
  const struct radio_file_options options = {
    .point_gap_nbytes = 1000000, .keep_index = true,
  };
  write_image ();
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status
      = radio_volume_open_file (context, "a.nii.gz", &options, &volume);
    if (status == RADIO_OK) {
      status = read_plane (volume, 20);
      radio_volume_close (volume);
    }
    if (!alloc_fail_end ()) {
      assert_ok (status);
      assert_true (nth > 20);
      break;
    }
    if (status != RADIO_OK)
      assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
  radio_context_close (context);
  assert_int_equal (unlink ("a.nii.gz.points"), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_file_that_is_opened_again_has_its_points),
    cmocka_unit_test (a_file_that_changed_has_none_of_its_old_points),
    cmocka_unit_test (points_of_all_files_take_a_sixteenth_of_the_limit),
    cmocka_unit_test (kept_points_are_found_with_and_without_the_option),
    cmocka_unit_test (points_go_into_the_folder_that_is_given_otherwise),
    cmocka_unit_test (hostile_points_are_ignored),
    cmocka_unit_test (each_failing_allocation_is_an_error_or_costs_points),
  };
  return cmocka_run_group_tests (tests, set_up, tear_down);
}
