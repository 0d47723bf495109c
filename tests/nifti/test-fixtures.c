/* SPDX-License-Identifier: MIT */
/* Every fixture of the catalogue has the expected result, and is listed in its
 * README. */
#include <config.h>

#include "tests/unit.h"

#include "src/nifti/image.h"
#include "tests/fixtures/fixtures.h"
#include "tests/nifti/folder.h"
#include "tests/nifti/make-nifti.h"

/* Read a whole image; voxels become the content of out. */
static enum radio_status
read_image (const char *name, struct rd_buffer *out, uint64_t *trailing)
{
  RD_CLEANUP (rd_cleanup_image) struct rd_image *image = NULL;
  RD_TRY (rd_image_open (name, &image));
  RD_TRY (rd_image_check_whole (image));
  size_t nbytes = image->nifti.data_nbytes;
  RD_TRY (rd_buffer_reserve (out, image->prefix.nbytes + nbytes));
  memcpy (out->data, image->prefix.data, image->prefix.nbytes);
  RD_TRY (rd_image_read (image, out->data + image->prefix.nbytes, nbytes));
  out->nbytes = image->prefix.nbytes + nbytes;
  return rd_image_finish (image, trailing);
}

static void
check_fixture (const struct fixture *f)
{
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  uint64_t trailing;
  f->make (".", f->name);
  enum radio_status status = read_image (f->name, &bytes, &trailing);
  if (status != f->status
      || (f->status != RADIO_OK
          && (!strstr (radio_error_message (), f->message)
              || strncmp (radio_error_message (), f->name,
                          strlen (f->name)) != 0)))
    fail_msg ("%s: %s: %s", f->name, radio_status_name (status),
              radio_error_message ());
}

static void
every_good_fixture_is_read_to_its_end (void **state)
{
  (void) state;
  for (const struct fixture *f = good_fixtures; f->name; f++)
    check_fixture (f);
}

static void
every_flaw_gives_its_own_error_naming_the_file (void **state)
{
  (void) state;
  for (const struct fixture *f = bad_fixtures; f->name; f++)
    check_fixture (f);
}

/* Byte order, version, type and dimensions are in the name. */
static void
check_of_matrix (const char *name, void *user_data)
{
  unsigned *count = user_data;
  RD_CLEANUP (rd_cleanup_image) struct rd_image *image = NULL;
  assert_ok (rd_image_open (name, &image));
  const struct rd_nifti *nifti = &image->nifti;
  assert_int_equal (nifti->version, name[10] - '0');
  assert_int_equal (nifti->swapped,
                    (name[12] == 'l') == MACHINE_IS_BIG_ENDIAN);
  assert_ptr_equal (strstr (name, nifti->type_name), name + 15);
  assert_int_equal (nifti->ndim, name[strlen (name) - 6] - '0');
  bool colour = nifti->colour != RD_COLOUR_NONE;
  bool t = nifti->ndim > 3, c = nifti->ndim > 4 || colour;
  const char *axes = t && c ? "tczyx" : t ? "tzyx" : c ? "czyx" : "zyx";
  assert_string_equal (nifti->axes, axes);
  assert_int_equal (nifti->rank, strlen (axes));
  uint64_t product = 1;
  for (size_t i = 0; i < nifti->rank; i++)
    product *= nifti->shape[i];
  assert_int_equal (product * nifti->type.item_nbytes, nifti->data_nbytes);
  assert_int_equal (nifti->shape[nifti->rank - 1], 5);
  assert_int_equal (nifti->shape[nifti->rank - 2], 4);
  assert_int_equal (nifti->shape[nifti->rank - 3], nifti->ndim > 2 ? 3 : 1);
  ++*count;
}

static void
every_type_order_version_and_rank_is_understood (void **state)
{
  (void) state;
  unsigned count = 0;
  make_matrix (".", check_of_matrix, &count);
  assert_int_equal (count, 2 * 2 * 14 * 6);
}

/* gzip or not, one member or many: the same bytes come out. */
static void
compressed_images_are_read_as_plain_ones (void **state)
{
  (void) state;
  static const char *const names[] = { "good-gzip.nii.gz",
    "good-gzip-padded.nii.gz", "good-gzip-without-suffix.nii",
    "good-plain-with-suffix.nii.gz" };
  struct rd_buffer plain RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer got RD_BUFFER_SCOPE = { 0 };
  uint64_t trailing;
  spec_image (&(struct nifti_spec) { .version = 1 }, &plain);
  for (size_t i = 0; i < 4; i++) {
    for (const struct fixture *f = good_fixtures; f->name; f++)
      if (strcmp (f->name, names[i]) == 0)
        f->make (".", f->name);
    assert_ok (read_image (names[i], &got, &trailing));
    assert_int_equal (got.nbytes, plain.nbytes);
    assert_memory_equal (got.data, plain.data, plain.nbytes);
    assert_int_equal (trailing, 0);
  }
}

/* The voxels are read, and damage after them is reported. */
static void
a_bad_end_after_whole_voxels_is_no_error (void **state)
{
  (void) state;
  static const struct {
    const char *name, *problem;
  } ends[] = {
    { "good-gzip.nii.gz", NULL },
    { "good-gzip-padded.nii.gz", NULL },
    { "odd-gzip-trailer-cut.nii.gz", RD_GZIP_CUT_WARNING },
    { "odd-gzip-rubbish.nii.gz", RD_GZIP_GARBAGE_WARNING },
  };
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    RD_CLEANUP (rd_cleanup_image) struct rd_image *image = NULL;
    unsigned char all[120];
    uint64_t trailing;
    assert_ok (rd_image_open (ends[i].name, &image));
    assert_ok (rd_image_read (image, all, sizeof all));
    assert_ok (rd_image_finish (image, &trailing));
    assert_int_equal (trailing, 0);
    if (ends[i].problem)
      assert_string_equal (image->problem, ends[i].problem);
    else
      assert_null (image->problem);
  }
}

static char *
read_catalogue (void)
{
  const char *srcdir = getenv ("RADIO_TESTS_SRCDIR");
  if (!srcdir)
    skip ();
  char path[4096];
  snprintf (path, sizeof path, "%s/tests/fixtures/README", srcdir);
  FILE *file = fopen (path, "rb");
  if (!file)
    fail_msg ("%s is missing", path);
  char *text = calloc (1, 1 << 16);
  assert_non_null (text);
  assert_in_range (fread (text, 1, (1 << 16) - 1, file), 1, (1 << 16) - 2);
  fclose (file);
  return text;
}

static void
the_catalogue_names_every_fixture (void **state)
{
  (void) state;
  char *text = read_catalogue ();
  for (const struct fixture *f = good_fixtures; f->name; f++)
    if (!strstr (text, f->name))
      fail_msg ("README lacks %s", f->name);
  for (const struct fixture *f = bad_fixtures; f->name; f++)
    if (!strstr (text, f->name))
      fail_msg ("README lacks %s", f->name);
  free (text);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_good_fixture_is_read_to_its_end),
    cmocka_unit_test (every_flaw_gives_its_own_error_naming_the_file),
    cmocka_unit_test (every_type_order_version_and_rank_is_understood),
    cmocka_unit_test (compressed_images_are_read_as_plain_ones),
    cmocka_unit_test (a_bad_end_after_whole_voxels_is_no_error),
    cmocka_unit_test (the_catalogue_names_every_fixture),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
