/* SPDX-License-Identifier: MIT */
/* Points of entry into gzip files: shared in a context, kept beside a file,
 * taken from hostile files, and members that say how long they are. */
#include <config.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/base/crc32c.h"
#include "src/nifti/gzip.h"
#include "src/volume/files/gunzip.h"
#include "src/volume/files/inflate.h"
#include "src/volume/volume.h"
#include "tests/alloc-fail.h"
#include "tests/profile-tree.h"
#include "tests/volume/zipped.h"

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
  /* Each of them where it is wanted. */
  assert_int_equal (n, voxels.nbytes / GAP_NBYTES);
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

/* Into memory of any layout: what a read takes one after the other is inflated
 * there, all else by way of a window. */
static void
boxes_that_overlap_are_read_at_once (void **state)
{
  (void) state;
  enum { NBOXES = 6, NROUNDS = 42 / EXHAUSTIVE_STEP };
  static int16_t out[NBOXES][PLANE_NBYTES / 2 * NPLANES];
  const uint64_t shape[3] = { NPLANES, 200, 300 };
  struct radio_context *context = open_context (0);
  uint32_t seed = 7;
  write_image ();
  struct radio_volume *volume = open_file (context, false);
  for (int round = 0; round < NROUNDS; round++) {
    struct radio_request requests[NBOXES];
    int64_t strides[NBOXES][3];
    for (size_t i = 0; i < NBOXES; i++) {
      struct radio_box *box = &requests[i].box;
      *box = (struct radio_box) { .rank = 3 };
      for (size_t k = 0; k < 3; k++) {
        /* Mostly whole planes. */
        bool is_whole = k > 0 && next_random (&seed) % 4 > 0;
        box->start[k] = is_whole ? 0 : next_random (&seed) % shape[k];
        box->size[k] = is_whole ? shape[k]
          : 1 + next_random (&seed) % (shape[k] - box->start[k]);
      }
      bool is_fortran = next_random (&seed) % 4 == 0;
      int64_t stride = 2;
      for (size_t k = 0; k < 3; k++) {
        size_t axis = is_fortran ? k : 2 - k;
        strides[i][axis] = stride;
        stride *= (int64_t) box->size[axis];
      }
      requests[i].buffer = out[i];
      requests[i].nbytes = sizeof out[i];
      requests[i].strides = strides[i];
    }
    assert_ok (radio_volume_read_many (volume, requests, NBOXES, RADIO_STORED,
                                       NULL));
    for (size_t i = 0; i < NBOXES; i++) {
      const struct radio_box *box = &requests[i].box;
      for (uint64_t z = 0; z < box->size[0]; z++)
        for (uint64_t y = 0; y < box->size[1]; y++)
          for (uint64_t x = 0; x < box->size[2]; x++) {
            int16_t is, want;
            uint64_t from = ((box->start[0] + z) * shape[1] + box->start[1]
                             + y) * shape[2] + box->start[2] + x;
            memcpy (&is, (const char *) out[i] + (int64_t) z * strides[i][0]
                         + (int64_t) y * strides[i][1]
                         + (int64_t) x * strides[i][2], 2);
            memcpy (&want, voxels.data + 2 * from, 2);
            if (is != want)
              assert_int_equal (is, want);
          }
    }
  }
  radio_volume_close (volume);
  radio_context_close (context);
}

/*------------------------------------------------------------------------
 * On the disk
 *----------------------------------------------------------------------*/

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

/* A handle that keeps none on the disk has copies of states, which are of no
 * use there. */
static void
points_that_another_handle_found_are_kept_as_blocks (void **state)
{
  (void) state;
  struct radio_context *context = open_context (0);
  write_image ();
  struct radio_volume *volume = open_file (context, false);
  assert_planes (volume, 30);
  size_t n = count_points (volume);
  radio_volume_close (volume);
  assert_int_equal (count_kept (), 0);
  radio_volume_close (open_file (context, true));
  radio_context_close (context);
  assert_in_range (count_kept (), 10, n);
  assert_int_equal (unlink ("a.nii.gz.points"), 0);
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
keep_warning (const char *message, void *user_data)
{
  assert_non_null (strstr (message, "its points of entry are not kept: "));
  ++*(size_t *) user_data;
}

static void
points_that_cannot_be_kept_are_a_warning (void **state)
{
  (void) state;
  size_t nwarnings = 0;
  const struct radio_file_options options = {
    .keep_index = true, .point_gap_nbytes = GAP_NBYTES,
    .warning = keep_warning, .user_data = &nwarnings,
  };
  struct radio_volume *volume;
  write_image ();
  assert_int_equal (symlink ("other", "a.nii.gz.points"), 0);
  assert_ok (radio_volume_open_file (NULL, "a.nii.gz", &options, &volume));
  assert_planes (volume, 30);
  assert_int_equal (nwarnings, 0);
  radio_volume_close (volume);
  assert_int_equal (nwarnings, 1);
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
    { 88, 0, 8 }, { 96, 0, 8 }, { 96, UINT64_MAX, 8 }, { 104, 0, 2 },
    { 104, UINT16_MAX, 2 }, { 106, 32769, 2 }, { 106, 0, 2 }, { 108, 8, 1 },
    { 109, 1, 1 },
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
  for (size_t nth = 1;; nth += EXHAUSTIVE_STEP) {
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

/*------------------------------------------------------------------------
 * Members that say how long they are
 *----------------------------------------------------------------------*/

/* A frontier beyond the file's start shows that claims were followed. */
static void
members_are_inflated_in_parallel_at_the_first_read (void **state)
{
  (void) state;
  for (size_t i = 0; i < NFORMS; i++) {
    struct radio_context *context = open_context (0);
    write_members (&forms[i], SIZE_MAX, 0);
    struct radio_volume *volume = open_file (context, false);
    assert_whole (volume);
    assert_true (count_points (volume) > 3);
    const struct rd_gunzip *gunzip
      = (const struct rd_gunzip *) volume->array->linear;
    assert_int_equal (gunzip->synced.is_frontier_silent, forms[i].kind[0] == 0
                      && gunzip->synced.frontier.output == 0);
    assert_false (gunzip->synced.distrusts_claims);
    assert_planes (volume, 1);
    radio_volume_close (volume);
    radio_context_close (context);
    /* A plane in the middle first. */
    volume = open_file (NULL, false);
    assert_planes (volume, 40);
    assert_planes (volume, 3);
    assert_ok (radio_volume_validate (volume, NULL, NULL, NULL));
    assert_whole (volume);
    radio_volume_close (volume);
  }
}

static void
an_exported_file_of_members_is_read_so (void **state)
{
  (void) state;
  struct radio_export_options options = {
    .overwrite = true, .member_nbytes = 200000,
  };
  write_image ();
  struct radio_volume *volume = open_file (NULL, false);
  assert_ok (radio_volume_export (volume, NULL, "b.nii.gz", &options));
  assert_fails (radio_volume_export (volume, NULL, "b.nii", &options),
                RADIO_ERROR_ARGUMENT, "only .nii.gz files have members");
  options.member_nbytes = 1000;
  assert_fails (radio_volume_export (volume, NULL, "b.nii.gz", &options),
                RADIO_ERROR_ARGUMENT, "members have from 65536 to");
  radio_volume_close (volume);
  assert_int_equal (rename ("b.nii.gz", "a.nii.gz"), 0);
  volume = open_file (NULL, false);
  assert_whole (volume);
  assert_true (((const struct rd_gunzip *) volume->array->linear)
                 ->synced.frontier.output > 0);
  radio_volume_close (volume);
}

static void
what_members_say_is_not_trusted (void **state)
{
  (void) state;
  /* With several threads on any number of processors: one thread would not use
   * the lengths that members give. */
  struct radio_context *context = open_context (0);
  static const int lies[] = { 1, -1, 30, 5000, -20000, 1 << 22 };
  for (size_t i = 0; i < NFORMS - 1; i++)
    for (size_t k = 0; k < sizeof lies / sizeof lies[0]; k++) {
      write_members (&forms[i], 5, lies[k]);
      struct radio_volume *volume = open_file (context, false);
      assert_planes (volume, 25);
      assert_whole (volume);
      radio_volume_close (volume);
    }
  /* To the next member but one, which leads on. */
  {
    struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
    struct rd_buffer next RD_BUFFER_SCOPE = { 0 };
    for (size_t at = 0; at < image.nbytes; at += 50000) {
      size_t n = rd_min_u64 (50000, image.nbytes - at);
      int lie = 0;
      if (at == 1000000) {
        append_member (&next, image.data + at + 50000, 50000, "IG", false, 0);
        lie = (int) next.nbytes;
      }
      append_member (&out, image.data + at, n, "IG", false, lie);
    }
    write_file (".", "a.nii.gz", &out);
    struct radio_volume *volume = open_file (context, false);
    assert_whole (volume);
    assert_true (((const struct rd_gunzip *) volume->array->linear)
                   ->synced.distrusts_claims);
    assert_planes (volume, 17);
    radio_volume_close (volume);
  }
  /* A wrong length of the output is damage. */
  for (size_t i = 0; i < NFORMS; i++) {
    write_members (&forms[i], 5, 0);
    struct radio_volume *volume = open_file (context, false);
    assert_fails (read_plane (volume, NPLANES - 1), RADIO_ERROR_FORMAT,
                  "checksum or length do not match");
    radio_volume_close (volume);
  }
  radio_context_close (context);
}

/*------------------------------------------------------------------------
 * Pipelines
 *----------------------------------------------------------------------*/

static void
count_repeated (const char *message, void *user_data)
{
  assert_non_null (strstr (message, "a.nii.gz: it is inflated "));
  assert_non_null (strstr (message, "raise --memory to "));
  ++*(size_t *) user_data;
}

/* Opens what a pipeline makes of a file. */
static struct radio_volume *
open_derived (struct radio_context *context, const char *file,
              const char *text, size_t *nwarnings)
{
  const struct radio_file_options options = {
    .point_gap_nbytes = GAP_NBYTES,
    .warning = count_repeated, .user_data = nwarnings,
  };
  struct radio_volume *volume;
  assert_ok (radio_volume_open_file (context, file, &options, &volume));
  return must_derive (volume, text);
}

/* Reads what a pipeline makes of a.nii.gz in some memory; returns how often
 * that was inflated. */
static double
read_derived (const char *text, uint64_t memory_nbytes, size_t *nwarnings)
{
  struct radio_elements is, wanted;
  struct radio_context *context = open_context (memory_nbytes);
  struct radio_volume *volume = open_derived (context, "a.nii", text, NULL);
  assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL,
                                      &wanted));
  radio_volume_close (volume);
  volume = open_derived (context, "a.nii.gz", text, nwarnings);
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL, &is));
  struct radio_profile *profile = tree_end (recorder);
  double nbytes = (double) tree_total (profile, "bytes inflated");
  assert_int_equal (is.nbytes, wanted.nbytes);
  assert_memory_equal (is.data, wanted.data, is.nbytes);
  radio_profile_close (profile);
  radio_free (is.data);
  radio_free (wanted.data);
  radio_volume_close (volume);
  radio_context_close (context);
  return nbytes / (double) image.nbytes;
}

/* With any axis as the slowest of the result, and of the source. */
static void
parts_of_a_pipeline_go_along_the_planes_of_the_file (void **state)
{
  (void) state;
  static const struct {
    const char *text;
    double most;
  } pipelines[] = {
    { "rot90 xz | smooth 0.4", 1.5 }, { "rot90 yz | to 60,100,30", 1.5 },
    { "flip z | to 150,:,40", 1.5 },
    { "rot90 xz | flip x | smooth 0.4 | rot90 xy | to 40,:,:", 1.5 },
    { "affine 1,0,0,0,0,0,1,0,0,-1,0,0 about centre | to 100,20,:", 1.5 },
    /* Halos are wider than what fits into memory; along planes first it was
     * inflated 45 times. */
    { "smooth 4", 6 },
  };
  write_image ();
  write_file (".", "a.nii", &image);
  for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
    size_t nwarnings = 0;
    double times = read_derived (pipelines[i].text, (uint64_t) 24 << 20,
                                 &nwarnings);
    assert_true (times > 0.9 && times < pipelines[i].most);
    assert_int_equal (nwarnings, pipelines[i].most > 3);
  }
}

/* Exports what has the columns of the file as planes; returns how often the
 * library says that it is inflated. */
static double
export_derived (const char *text, uint64_t memory_nbytes, size_t *nwarnings)
{
  static const struct radio_export_options options = { .overwrite = true };
  struct radio_context *context = open_context (memory_nbytes);
  struct radio_volume *volume = open_derived (context, "a.nii.gz", text,
                                              nwarnings);
  uint64_t total;
  double times;
  assert_ok (radio_volume_file_reads (volume, NULL, &total, &times));
  assert_true ((double) total > 0.95 * times * (double) voxels.nbytes
               && (double) total < 1.05 * times * (double) voxels.nbytes);
  assert_int_equal (*nwarnings, 0);
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_export (volume, NULL, "b.nii", &options));
  struct radio_profile *profile = tree_end (recorder);
  double nbytes = (double) tree_total (profile, "bytes inflated");
  radio_profile_close (profile);
  assert_true (nbytes > 0.95 * times * (double) image.nbytes
               && nbytes < 1.2 * times * (double) image.nbytes);
  radio_volume_close (volume);
  radio_context_close (context);
  return times;
}

static void
what_is_inflated_for_each_slab_is_counted (void **state)
{
  (void) state;
  const uint64_t little = (uint64_t) 12 << 20;
  size_t nwarnings = 0;
  write_image ();
  assert_true (export_derived ("clamp 0,9", little, &nwarnings) < 1.01);
  assert_true (export_derived ("rot90 xz", 0, &nwarnings) < 1.01);
  /* The last plane is wanted first. */
  double times = export_derived ("flip z", little, &nwarnings);
  assert_true (times > 1.5 && times < 2);
  assert_int_equal (nwarnings, 0);
  /* Slabs of 1.5 MiB of 7.2 MB. */
  times = export_derived ("rot90 xz", little, &nwarnings);
  assert_true (times > 4 && times < 6);
  assert_int_equal (nwarnings, 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_file_that_is_opened_again_has_its_points),
    cmocka_unit_test (a_file_that_changed_has_none_of_its_old_points),
    cmocka_unit_test (points_of_all_files_take_a_sixteenth_of_the_limit),
    cmocka_unit_test (boxes_that_overlap_are_read_at_once),
    cmocka_unit_test (kept_points_are_found_with_and_without_the_option),
    cmocka_unit_test (points_that_another_handle_found_are_kept_as_blocks),
    cmocka_unit_test (points_go_into_the_folder_that_is_given_otherwise),
    cmocka_unit_test (points_that_cannot_be_kept_are_a_warning),
    cmocka_unit_test (hostile_points_are_ignored),
    cmocka_unit_test (each_failing_allocation_is_an_error_or_costs_points),
    cmocka_unit_test (members_are_inflated_in_parallel_at_the_first_read),
    cmocka_unit_test (an_exported_file_of_members_is_read_so),
    cmocka_unit_test (what_members_say_is_not_trusted),
    cmocka_unit_test (parts_of_a_pipeline_go_along_the_planes_of_the_file),
    cmocka_unit_test (what_is_inflated_for_each_slab_is_counted),
  };
  return cmocka_run_group_tests (tests, set_up_zipped, tear_down_zipped);
}
