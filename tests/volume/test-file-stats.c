/* SPDX-License-Identifier: MIT */
/* Statistics of images in their files: kept in the context for every handle of
 * an unchanged file, and not used once its content, or its header, is another
 * one. */
#include <config.h>

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/profile-tree.h"
#include "tests/volume/fixture.h"

/* Longer than times of files are the same. */
static void
wait_until_stable (void)
{
  const struct timespec time = { .tv_nsec = 60 * 1000 * 1000 };
  assert_int_equal (nanosleep (&time, NULL), 0);
}

static void
write_image (const struct nifti_spec *spec, const char *name)
{
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer zipped RD_BUFFER_SCOPE = { 0 };
  spec_image (spec, &file);
  make_gzip (file.data, file.nbytes, 0, &zipped);
  write_file (".", name, strstr (name, ".gz") ? &zipped : &file);
}

/* Reads the first voxel of a pipeline; returns the passes that that took. */
static size_t
read_first (struct radio_volume *volume, const char *text, float *first)
{
  const struct radio_box box = { .rank = 3, .size = { 1, 1, 1 } };
  struct radio_volume *derived = must_apply (volume, text);
  size_t npasses;
  assert_ok (radio_volume_passes (derived, &npasses));
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_volume_read (derived, &box, RADIO_FLOAT32, first,
                                sizeof *first, NULL));
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_calls_of (profile, "statistics"), npasses);
  radio_profile_close (profile);
  radio_volume_close (derived);
  return npasses;
}

/* The same of a file that is opened. */
static size_t
passes_of (struct radio_context *context, const char *name, const char *text,
           float *first)
{
  struct radio_volume *volume;
  assert_ok (radio_volume_open_file (context, name, NULL, &volume));
  size_t npasses = read_first (volume, text, first);
  radio_volume_close (volume);
  return npasses;
}

static struct radio_context *
must_open_context (void)
{
  struct radio_context *context;
  assert_ok (radio_context_open (NULL, &context));
  return context;
}

static void
they_are_kept_for_every_handle_of_an_unchanged_file (void **state)
{
  (void) state;
  static const char *const names[][2] = {
    { "a.nii", "./a.nii" }, { "a.nii.gz", "././a.nii.gz" },
  };
  struct nifti_spec spec = small_spec ();
  struct radio_context *context = must_open_context ();
  for (size_t i = 0; i < 2; i++) {
    float first, again;
    write_image (&spec, names[i][0]);
    wait_until_stable ();
    assert_true (passes_of (context, names[i][0], "znorm", &first) == 1);
    assert_true (passes_of (context, names[i][1], "znorm", &again) == 0);
    assert_true (first == again);
    assert_true (passes_of (context, names[i][0], "flip x | znorm",
                            &first) == 0);
    assert_true (passes_of (context, names[i][0], "rescale 0,1", &first) == 1);
  }
  radio_context_close (context);
}

/* Replaces a voxel in place, and gives the file the times that it had, as far
 * as programs can. */
static void
write_voxel (const char *name, off_t offset, int16_t voxel)
{
  struct stat st;
  int fd = open (name, O_RDWR);
  assert_true (fd >= 0 && fstat (fd, &st) == 0);
  assert_int_equal (pwrite (fd, &voxel, sizeof voxel, offset), sizeof voxel);
  const struct timespec times[2] = { st.st_atim, st.st_mtim };
  assert_int_equal (futimens (fd, times), 0);
  close (fd);
}

static void
they_are_computed_again_once_the_file_has_changed (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_context *context = must_open_context ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct radio_volume *held;
  float first, changed, of_held;
  spec_image (&spec, &file);
  write_file (".", "a.nii", &file);
  wait_until_stable ();
  assert_ok (radio_volume_open_file (context, "a.nii", NULL, &held));
  assert_int_equal (read_first (held, "rescale 0,1 | linear 1,0", &first), 1);
  write_voxel ("a.nii", (off_t) file.nbytes - 100, 32000);
  /* Also by the handle that was open, whose file is the same one. */
  assert_int_equal (read_first (held, "rescale 0,1", &of_held), 1);
  assert_true (passes_of (context, "a.nii", "rescale 0,1", &changed) == 1);
  assert_true (changed == of_held && changed != first);

  /* A handle keeps the file that it opened. */
  spec.scl_slope = -1;
  write_image (&spec, "b.nii");
  assert_int_equal (rename ("b.nii", "a.nii"), 0);
  (void) read_first (held, "rescale 0,1", &of_held);
  assert_true (changed == of_held);
  assert_true (passes_of (context, "a.nii", "rescale 0,1", &first) == 1);
  assert_true (first != changed);
  radio_volume_close (held);
  radio_context_close (context);
}

static void
a_pair_is_both_of_its_files (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_context *context = must_open_context ();
  struct rd_buffer voxels RD_BUFFER_SCOPE = { 0 };
  float first, other;
  spec.is_pair = true;
  spec_voxels (&spec, &voxels);
  write_file (".", "p.img", &voxels);
  for (int i = 0; i < 2; i++) {
    struct rd_buffer header RD_BUFFER_SCOPE = { 0 };
    spec.scl_slope = i + 1;
    spec_header (&spec, &header);
    write_file (".", "p.hdr", &header);
    wait_until_stable ();
    assert_true (passes_of (context, "p.hdr", "clamp -9000,9000 | znorm",
                            i ? &other : &first) == 1);
  }
  assert_true (first != other);
  radio_context_close (context);
}

/* The mask of a statistic, too. */
static void
a_mask_is_another_one_once_it_has_changed (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_context *context = must_open_context ();
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  float first, again;
  spec_image (&spec, &file);
  write_file (".", "a.nii", &file);
  write_file (".", "m.nii", &file);
  wait_until_stable ();
  assert_true (passes_of (context, "a.nii", "znorm of mask ./m.nii",
                          &first) == 1);
  assert_true (passes_of (context, "a.nii", "znorm of mask ./m.nii",
                          &again) == 0);
  assert_true (first == again);
  for (size_t i = 352; i + 2 <= file.nbytes; i += 6)
    write_voxel ("m.nii", (off_t) i, 0);
  assert_true (passes_of (context, "a.nii", "znorm of mask ./m.nii",
                          &again) == 1);
  assert_true (first != again);
  radio_context_close (context);
}

int
main (void)
{
  if (tree_skip_all ())
    return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (they_are_kept_for_every_handle_of_an_unchanged_file),
    cmocka_unit_test (they_are_computed_again_once_the_file_has_changed),
    cmocka_unit_test (a_pair_is_both_of_its_files),
    cmocka_unit_test (a_mask_is_another_one_once_it_has_changed),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
