/* SPDX-License-Identifier: MIT */
/* Damaged and truncated gzip files: wrong voxels are errors, and what is whole
 * is read. */
#include <config.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdeflate.h>

#include "src/base/checked.h"
#include "tests/volume/zipped.h"

/* Writes a.nii.gz with other bytes, but the same time and number. */
static void
write_as_before (const struct rd_buffer *bytes)
{
  struct stat st;
  assert_int_equal (stat ("a.nii.gz", &st), 0);
  write_file (".", "a.nii.gz", bytes);
  const struct timespec times[2] = { st.st_atim, st.st_mtim };
  assert_int_equal (utimensat (AT_FDCWD, "a.nii.gz", times, 0), 0);
}

/* Flips a bit in the middle by which values change, but nothing else. */
static void
flip_a_value (struct rd_buffer *bytes)
{
  struct libdeflate_decompressor *d = libdeflate_alloc_decompressor ();
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  bool is_found = false;
  assert_non_null (d);
  assert_ok (rd_buffer_reserve (&out, image.nbytes));
  for (size_t bit = bytes->nbytes / 2 * 8; !is_found; bit++) {
    size_t got;
    bytes->data[bit / 8] ^= (unsigned char) (1 << bit % 8);
    is_found = libdeflate_deflate_decompress (
                 d, bytes->data + 10, bytes->nbytes - 18, out.data,
                 image.nbytes, &got) == LIBDEFLATE_SUCCESS
               && got == image.nbytes;
    if (!is_found)
      bytes->data[bit / 8] ^= (unsigned char) (1 << bit % 8);
  }
  libdeflate_free_decompressor (d);
}

/* No thread inflates all of it, by points of this process or from the disk. */
static void
wrong_values_between_points_are_found_by_several_threads (void **state)
{
  (void) state;
  enum { NSLABS = 6 };
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  static unsigned char all[PLANE_NBYTES * NPLANES];
  for (int on_disk = 0; on_disk < 2; on_disk++) {
    struct radio_context *context = open_context (0);
    write_image ();
    if (on_disk)
      keep_points ();
    struct radio_volume *volume = open_file (context, false);
    if (!on_disk)
      assert_whole (volume);
    assert_true (count_points (volume) > 10);
    bytes.nbytes = 0;
    assert_ok (rd_buffer_append (&bytes, zipped.data, zipped.nbytes));
    flip_a_value (&bytes);
    write_as_before (&bytes);
    for (uint64_t nslabs = 1; nslabs <= NSLABS; nslabs += NSLABS - 1) {
      enum radio_status status = RADIO_OK;
      for (uint64_t i = 0; i < nslabs && status == RADIO_OK; i++) {
        const struct radio_box box = {
          .rank = 3, .start = { NPLANES / nslabs * i },
          .size = { NPLANES / nslabs, 200, 300 },
        };
        status = radio_volume_read (volume, &box, RADIO_STORED, all,
                                    sizeof all, NULL);
      }
      assert_fails (status, RADIO_ERROR_FORMAT,
                    "the checksum is not that of a point of entry");
    }
    write_as_before (&zipped);
    assert_whole (volume);
    radio_volume_close (volume);
    radio_context_close (context);
  }
  assert_int_equal (unlink ("a.nii.gz.points"), 0);
}

/* Nothing of the second member is in the task that reads the first one. */
static void
a_wrong_trailer_between_tasks_is_found (void **state)
{
  (void) state;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer second RD_BUFFER_SCOPE = { 0 };
  size_t half = image.nbytes - voxels.nbytes + 20 * PLANE_NBYTES;
  const struct radio_file_options options = { .point_gap_nbytes = half };
  make_gzip (image.data, half, 0, &bytes);
  size_t trailer = bytes.nbytes - 8;
  make_gzip (image.data + half, image.nbytes - half, 0, &second);
  assert_ok (rd_buffer_append (&bytes, second.data, second.nbytes));
  write_file (".", "a.nii.gz", &bytes);
  struct radio_context *context = open_context (0);
  struct radio_volume *volume;
  assert_ok (radio_volume_open_file (context, "a.nii.gz", &options, &volume));
  assert_whole (volume);
  assert_whole (volume);
  bytes.data[trailer] ^= 1;
  write_as_before (&bytes);
  struct radio_elements all;
  assert_fails (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                         &all),
                RADIO_ERROR_FORMAT, "checksum or length do not match");
  radio_volume_close (volume);
  radio_context_close (context);
}

static void
a_truncated_file_of_members_gives_the_planes_that_are_whole (void **state)
{
  (void) state;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  for (size_t i = 0; i < NFORMS; i++) {
    write_members (&forms[i], SIZE_MAX, 0);
    read_back ("a.nii.gz", &bytes);
    assert_int_equal (truncate ("a.nii.gz", (off_t) (bytes.nbytes * 3 / 4)),
                      0);
    struct radio_volume *volume = open_file (NULL, false);
    assert_int_equal (read_plane (volume, NPLANES - 1), RADIO_ERROR_FORMAT);
    for (uint64_t z = 40; z > 30; z--) {
      assert_ok (read_plane (volume, z));
      assert_memory_equal (plane, voxels.data + z * PLANE_NBYTES,
                           PLANE_NBYTES);
    }
    radio_volume_close (volume);
  }
}

static void
count_warning (const char *message, void *user_data)
{
  assert_non_null (strstr (message, "a.nii.gz: "));
  ++*(size_t *) user_data;
}

/* A missing checksum is a warning for reads, and an error for validate. */
static void
voxels_are_read_whatever_follows_them (void **state)
{
  (void) state;
  static const struct {
    size_t ncut, nzeros;
    const char *text;
    bool is_valid;
  } ends[] = {
    { 8, 0, "", false }, { 3, 0, "", false }, { 0, 0, "garbage", true },
    { 0, 512, "garbage", true }, { 0, 512, "\x1f\x8b", true },
  };
  for (size_t i = 0; i < 2 * sizeof ends / sizeof ends[0]; i++) {
    struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
    size_t k = i / 2, nwarnings = 0;
    static const unsigned char zeros[512];
    const struct radio_file_options options = {
      .point_gap_nbytes = GAP_NBYTES, .warning = count_warning,
      .user_data = &nwarnings,
    };
    struct radio_volume *volume;
    assert_ok (rd_buffer_append (&bytes, zipped.data,
                                 zipped.nbytes - ends[k].ncut));
    assert_ok (rd_buffer_append (&bytes, zeros, ends[k].nzeros));
    assert_ok (rd_buffer_append (&bytes, ends[k].text, strlen (ends[k].text)));
    write_file (".", "a.nii.gz", &bytes);
    assert_ok (radio_volume_open_file (NULL, "a.nii.gz", &options, &volume));
    if (i % 2 > 0)
      assert_whole (volume);
    assert_ok (read_plane (volume, NPLANES - 1));
    assert_memory_equal (plane, voxels.data + (NPLANES - 1) * PLANE_NBYTES,
                         PLANE_NBYTES);
    assert_int_equal (nwarnings, 1);
    assert_int_equal (radio_volume_validate (volume, NULL, NULL, NULL),
                      ends[k].is_valid ? RADIO_OK
                                        : RADIO_ERROR_CHECKSUM);
    radio_volume_close (volume);
  }
}

enum damage { FLIPPED, CUT, LENGTHENED, NDAMAGES };

/* Writes a.nii.gz with a bit flipped in the byte at a place, without what is
 * from there on, or with one more byte there. */
static void
write_damaged (const struct rd_buffer *bytes, enum damage damage, size_t at)
{
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  assert_ok (rd_buffer_append (&out, bytes->data, at));
  if (damage == LENGTHENED)
    assert_ok (rd_buffer_append (&out, bytes->data + at, 1));
  if (damage != CUT)
    assert_ok (rd_buffer_append (&out, bytes->data + at, bytes->nbytes - at));
  if (damage == FLIPPED)
    out.data[at] ^= 0x10;
  write_file (".", "a.nii.gz", &out);
}

/* Wrong voxels are never all read without an error, also from points; a part
 * is, if the member's checksum comes after it: with short members in one of
 * them only where the damage hides all later ones.  Some bytes of headers do
 * not matter.  The image is small as a file,
 * and large enough for all threads. */
static void
damage_at_each_1000th_byte_is_found_when_all_voxels_are_read (void **state)
{
  (void) state;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  static unsigned char all[PLANE_NBYTES * NPLANES];
  const struct radio_box box = { .rank = 3, .size = { NPLANES, 200, 300 } };
  size_t nread = 0, nfailed = 0, nplanes_failed = 0, nwrongs = 0;
  make_image (20, 0);
  for (size_t i = 0; i < 3; i++) {
    if (i == 0)
      write_image ();
    else
      write_members (&forms[i], SIZE_MAX, 0);
    read_back ("a.nii.gz", &bytes);
    assert_true (bytes.nbytes > 30000);
    for (size_t k = NDAMAGES; k < bytes.nbytes / 1000 * NDAMAGES;
         k += EXHAUSTIVE_STEP) {
      const struct radio_file_options options = {
        .point_gap_nbytes = GAP_NBYTES, .keep_index = k % 2,
      };
      struct radio_volume *volume;
      write_damaged (&bytes, k % NDAMAGES, k / NDAMAGES * 1000);
      if (radio_volume_open_file (NULL, "a.nii.gz", &options, &volume)
          != RADIO_OK) {
        /* Too short for its voxels. */
        assert_int_equal (k % NDAMAGES, CUT);
        continue;
      }
      for (int again = 0; again < 2; again++) {
        size_t nwrong = 0;
        enum radio_status status = radio_volume_read (
          volume, &box, RADIO_STORED, all, sizeof all, NULL);
        nread++;
        nfailed += status != RADIO_OK;
        if (status == RADIO_OK)
          assert_memory_equal (all, voxels.data, sizeof all);
        else
          assert_int_equal (status, RADIO_ERROR_FORMAT);
        for (uint64_t z = 0; z < NPLANES; z += 12) {
          status = read_plane (volume, z);
          nwrong += status == RADIO_OK
                    && memcmp (plane, voxels.data + z * PLANE_NBYTES,
                               PLANE_NBYTES) != 0;
          nplanes_failed += status != RADIO_OK;
        }
        nwrongs += i == 1 && nwrong > 1;
      }
      radio_volume_close (volume);
    }
  }
  assert_true (nfailed > nread * 9 / 10);
  assert_true (nplanes_failed > nread);
  assert_true (nwrongs < nread / 50);
  remove_all ("a.nii.gz.points");
  make_image (1024, 3);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (
      wrong_values_between_points_are_found_by_several_threads),
    cmocka_unit_test (a_wrong_trailer_between_tasks_is_found),
    cmocka_unit_test (voxels_are_read_whatever_follows_them),
    cmocka_unit_test (
      damage_at_each_1000th_byte_is_found_when_all_voxels_are_read),
    cmocka_unit_test (
      a_truncated_file_of_members_gives_the_planes_that_are_whole),
  };
  return cmocka_run_group_tests (tests, set_up_zipped, tear_down_zipped);
}
