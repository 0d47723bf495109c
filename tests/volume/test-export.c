/* SPDX-License-Identifier: MIT */
/* Volumes exported to files: the bytes that were ingested, boxes, and the
 * values that nibabel would read, by a naive walk through the file. */
#include <config.h>

#include <math.h>
#include <unistd.h>

#include <libdeflate.h>

#include "tests/volume/fixture.h"

#include "src/base/cleanup.h"
#include "src/element/box.h"
#include "src/volume/ingest/phantom.h"
#include "src/volume/volume.h"

static void
slurp (const char *file, struct rd_buffer *out)
{
  FILE *stream = fopen (file, "rb");
  unsigned char piece[4096];
  size_t n;
  assert_non_null (stream);
  out->nbytes = 0;
  while ((n = fread (piece, 1, sizeof piece, stream)) > 0)
    must_append (out, piece, n);
  fclose (stream);
}

static void
assert_file_is (const char *file, const struct rd_buffer *wanted)
{
  RD_BUFFER_SCOPE struct rd_buffer got = { 0 };
  slurp (file, &got);
  assert_int_equal (got.nbytes, wanted->nbytes);
  assert_memory_equal (got.data, wanted->data, got.nbytes);
}

static const struct radio_export_options again = { .overwrite = true };

static struct radio_volume *
must_open (struct radio_store *store, const char *path)
{
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, path, &volume));
  return volume;
}

/* Ingest an image into memory and open it. */
static struct radio_volume *
volume_of (const struct nifti_spec *spec)
{
  RD_CLEANUP (rd_cleanup_store) struct radio_store *store
    = must_open_store ("memory:");
  must_ingest (store, "ct/a", spec, NULL);
  return must_open (store, "ct/a");
}

#define VOLUME_SCOPE RD_CLEANUP (rd_cleanup_volume)

static void
assert_comes_back (const struct nifti_spec *spec)
{
  VOLUME_SCOPE struct radio_volume *volume = volume_of (spec);
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 };
  spec_image (spec, &image);
  assert_ok (radio_volume_export (volume, NULL, "back.nii", &again));
  assert_file_is ("back.nii", &image);
}

static void
every_type_and_byte_order_comes_back_byte_for_byte (void **state)
{
  (void) state;
  for (int i = 0; i < SPEC_TYPE_COUNT; i++)
    for (int version = 1; version <= 2; version++)
      for (int big = 0; big <= 1; big++) {
        struct nifti_spec spec = small_spec ();
        spec.datatype = spec_types[i].code;
        spec.version = version;
        spec.big_endian = big;
        assert_comes_back (&spec);
      }
}

static void
every_number_of_dimensions_comes_back (void **state)
{
  (void) state;
  static const int64_t dims[][8] = {
    { 2, 9, 7 }, { 3, 9, 7, 5 }, { 4, 5, 4, 3, 6 }, { 5, 5, 4, 3, 2, 3 },
    { 5, 5, 4, 3, 1, 3 }, { 6, 5, 4, 3, 2, 3, 1 }, { 4, 5, 4, 3, 1 },
    { 3, 1, 1, 1 }, { 7, 5, 4, 3, 1, 1, 1, 1 },
  };
  for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
    for (int big = 0; big <= 1; big++) {
      struct nifti_spec spec = small_spec ();
      memcpy (spec.dim, dims[i], sizeof spec.dim);
      spec.big_endian = big;
      assert_comes_back (&spec);
    }
}

static void
series_of_colours_come_back (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  const int64_t dim[8] = { 4, 5, 4, 3, 2 };
  memcpy (spec.dim, dim, sizeof dim);
  for (int code = 128; code <= 2304; code += 2304 - 128) {
    spec.datatype = code;
    assert_comes_back (&spec);
  }
}

static void
extensions_come_back (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  spec.extension = "\x10\0\0\0\6\0\0\0comment";
  spec.extension_nbytes = 16;
  assert_comes_back (&spec);
}

static void
gz_holds_the_same_bytes (void **state)
{
  (void) state;
  const struct nifti_spec spec = small_spec ();
  VOLUME_SCOPE struct radio_volume *volume = volume_of (&spec);
  RD_BUFFER_SCOPE struct rd_buffer image = { 0 }, packed = { 0 };
  spec_image (&spec, &image);
  assert_ok (radio_volume_export (volume, NULL, "back.nii.gz", NULL));
  slurp ("back.nii.gz", &packed);
  RD_FREE_PLAIN unsigned char *plain = malloc (image.nbytes);
  size_t n;
  struct libdeflate_decompressor *inflate = libdeflate_alloc_decompressor ();
  assert_int_equal (libdeflate_gzip_decompress (inflate, packed.data,
                                                packed.nbytes, plain,
                                                image.nbytes, &n),
                    LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor (inflate);
  assert_int_equal (n, image.nbytes);
  assert_memory_equal (plain, image.data, n);
}

/* A pair is exported as one file, which other programs read as the same
 * image. */
static void
assert_pair_becomes_single (const struct nifti_spec *spec)
{
  RD_BUFFER_SCOPE struct rd_buffer header = { 0 }, voxels = { 0 },
    single = { 0 }, got = { 0 };
  spec_header (spec, &header);
  spec_voxels (spec, &voxels);
  write_file (".", "p.hdr", &header);
  write_file (".", "p.img", &voxels);
  RD_CLEANUP (rd_cleanup_store) struct radio_store *store
    = must_open_store ("memory:");
  assert_ok (radio_ingest (store, "p.hdr", "ct/p", NULL, NULL));
  VOLUME_SCOPE struct radio_volume *volume = must_open (store, "ct/p");
  assert_ok (radio_volume_export (volume, NULL, "p.nii", &again));
  struct nifti_spec as_single = *spec;
  as_single.is_pair = false;
  spec_image (&as_single, &single);
  slurp ("p.nii", &got);
  assert_int_equal (got.nbytes, single.nbytes);
  assert_memory_equal (got.data, single.data, got.nbytes);
}

static void
a_pair_becomes_a_single_file (void **state)
{
  (void) state;
  for (int version = 1; version <= 2; version++)
    for (int big = 0; big <= 1; big++) {
      struct nifti_spec spec = small_spec ();
      spec.is_pair = true;
      spec.version = version;
      spec.big_endian = big;
      assert_pair_becomes_single (&spec);
      spec.extension = big ? "\0\0\0\x10\0\0\0\6comment"
                           : "\x10\0\0\0\6\0\0\0comment";
      spec.extension_nbytes = 16;
      assert_pair_becomes_single (&spec);
    }
}

/* Boxes. */

/* The voxels of a box of a 3-D image, in file order. */
static void
cut_voxels (const struct nifti_spec *spec, const struct radio_box *box,
            struct rd_buffer *out)
{
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  size_t nbytes = spec_find_type (spec->datatype)->nbytes;
  spec_voxels (spec, &voxels);
  for (uint64_t z = 0; z < box->size[0]; z++)
    for (uint64_t y = 0; y < box->size[1]; y++) {
      size_t at = ((box->start[0] + z) * (size_t) spec->dim[2]
                   + box->start[1] + y) * (size_t) spec->dim[1]
                  + box->start[2];
      must_append (out, voxels.data + at * nbytes, box->size[2] * nbytes);
    }
}

static void
assert_box (struct nifti_spec spec, const struct radio_box *box)
{
  VOLUME_SCOPE struct radio_volume *volume = volume_of (&spec);
  RD_BUFFER_SCOPE struct rd_buffer got = { 0 }, voxels = { 0 };
  assert_ok (radio_volume_export (volume, box, "box.nii", &again));
  slurp ("box.nii", &got);
  cut_voxels (&spec, box, &voxels);
  struct rd_nifti nifti;
  assert_ok (rd_nifti_parse (got.data, got.nbytes, "box.nii", &nifti));
  assert_int_equal (nifti.vox_offset, 352);
  for (int i = 0; i < 3; i++) {
    assert_int_equal (nifti.dim[1 + i], box->size[2 - i]);
    double origin = spec.srow[i][3];
    for (int j = 0; j < 3; j++)
      origin += spec.srow[i][j] * (double) box->start[2 - j];
    assert_true (fabs (nifti.srow[i][3] - origin) < 1e-4);
  }
  assert_int_equal (got.nbytes, 352 + voxels.nbytes);
  assert_memory_equal (got.data + 352, voxels.data, voxels.nbytes);
}

static void
a_box_has_its_voxels_and_its_place (void **state)
{
  (void) state;
  const struct radio_box boxes[] = {
    radio_box3 (1, 3, 2, 4, 3, 2), radio_box3 (4, 1, 0, 6, 0, 7),
    radio_box3 (0, 5, 5, 1, 6, 1), radio_box3 (0, 5, 0, 6, 0, 7),
  };
  for (size_t i = 0; i < 4; i++)
    for (int big = 0; big <= 1; big++) {
      struct nifti_spec spec = small_spec ();
      spec.big_endian = big;
      assert_box (spec, &boxes[i]);
      spec.datatype = 32;
      assert_box (spec, &boxes[i]);
    }
}

/* .npy */

/* The header's dictionary, and where the elements begin. */
static const unsigned char *
read_npy (const char *file, struct rd_buffer *content, const char *descr,
          const char *shape)
{
  slurp (file, content);
  assert_true (content->nbytes > 128);
  assert_memory_equal (content->data, "\x93NUMPY\x01\0", 8);
  size_t n = content->data[8] + 256u * content->data[9];
  content->data[10 + n - 1] = '\0';
  const char *header = (const char *) content->data + 10;
  assert_non_null (strstr (header, descr));
  assert_non_null (strstr (header, shape));
  assert_non_null (strstr (header, "'fortran_order': True"));
  return content->data + 10 + n;
}

/* Voxels in file order, in the machine's byte order. */
static void
native_voxels (struct nifti_spec spec, struct rd_buffer *out)
{
  spec.big_endian = MACHINE_IS_BIG_ENDIAN;
  spec_voxels (&spec, out);
}

static void
assert_npy (const struct nifti_spec *spec, const char *descr,
            const char *shape)
{
  VOLUME_SCOPE struct radio_volume *volume = volume_of (spec);
  RD_BUFFER_SCOPE struct rd_buffer got = { 0 }, voxels = { 0 };
  assert_ok (radio_volume_export (volume, NULL, "a.npy", &again));
  const unsigned char *elements = read_npy ("a.npy", &got, descr, shape);
  native_voxels (*spec, &voxels);
  assert_int_equal (got.data + got.nbytes - elements, voxels.nbytes);
  assert_memory_equal (elements, voxels.data, voxels.nbytes);
}

static void
npy_holds_the_values_of_nibabel (void **state)
{
  (void) state;
  static const struct {
    int code;
    const char *descr;
  } types[] = {
    { 2, "'|u1'" }, { 4, NPY_NATIVE ("i2") }, { 16, NPY_NATIVE ("f4") },
    { 1792, NPY_NATIVE ("c16") },
    { 128, "[('R', '|u1'), ('G', '|u1'), ('B', '|u1')]" },
    { 2304, "('B', '|u1'), ('A', '|u1')]" },
  };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    for (int big = 0; big <= 1; big++) {
      struct nifti_spec spec = small_spec ();
      spec.datatype = types[i].code;
      spec.big_endian = big;
      assert_npy (&spec, types[i].descr, "'shape': (7, 6, 5)");
    }
}

static void
npy_has_all_dimensions_of_the_header (void **state)
{
  (void) state;
  static const struct {
    int64_t dim[8];
    const char *shape;
  } cases[] = {
    { { 2, 9, 7 }, "(9, 7)" }, { { 4, 5, 4, 3, 6 }, "(5, 4, 3, 6)" },
    { { 4, 5, 4, 3, 1 }, "(5, 4, 3, 1)" },
    { { 5, 5, 4, 3, 2, 3 }, "(5, 4, 3, 2, 3)" },
    { { 5, 5, 4, 3, 1, 3 }, "(5, 4, 3, 1, 3)" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct nifti_spec spec = small_spec ();
    memcpy (spec.dim, cases[i].dim, sizeof spec.dim);
    assert_npy (&spec, NPY_NATIVE ("i2"), cases[i].shape);
  }
}

static void
a_box_in_npy_has_the_boxs_shape (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  spec.big_endian = MACHINE_IS_BIG_ENDIAN;
  const struct radio_box box = radio_box3 (1, 3, 2, 4, 3, 2);
  VOLUME_SCOPE struct radio_volume *volume = volume_of (&spec);
  RD_BUFFER_SCOPE struct rd_buffer got = { 0 }, voxels = { 0 };
  assert_ok (radio_volume_export (volume, &box, "a.npy", &again));
  const unsigned char *elements
    = read_npy ("a.npy", &got, NPY_NATIVE ("i2"), "(2, 4, 3)");
  cut_voxels (&spec, &box, &voxels);
  assert_int_equal (got.data + got.nbytes - elements, voxels.nbytes);
  assert_memory_equal (elements, voxels.data, voxels.nbytes);
}

static void
scaled_values_are_float32 (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  spec.scl_slope = 0.5;
  spec.scl_inter = -1024;
  VOLUME_SCOPE struct radio_volume *volume = volume_of (&spec);
  RD_BUFFER_SCOPE struct rd_buffer got = { 0 }, voxels = { 0 };
  const struct radio_export_options scaled = { .scaled = true };
  assert_ok (radio_volume_export (volume, NULL, "a.npy", &scaled));
  const unsigned char *elements
    = read_npy ("a.npy", &got, NPY_NATIVE ("f4"), "(7, 6, 5)");
  native_voxels (spec, &voxels);
  for (size_t i = 0; i < 7 * 6 * 5; i++) {
    int16_t stored;
    float value;
    memcpy (&stored, voxels.data + 2 * i, sizeof stored);
    memcpy (&value, elements + 4 * i, sizeof value);
    if (value != (float) (stored * 0.5 - 1024))
      fail_msg ("voxel %zu: %g of %d", i, (double) value, stored);
  }
}

static void
an_impossible_export_is_an_error_and_leaves_no_file (void **state)
{
  (void) state;
  const struct nifti_spec spec = small_spec ();
  struct nifti_spec rgb = small_spec ();
  rgb.datatype = 128;
  VOLUME_SCOPE struct radio_volume *volume = volume_of (&spec);
  VOLUME_SCOPE struct radio_volume *colours = volume_of (&rgb);
  const struct radio_export_options scaled = { .scaled = true };
  const struct radio_box outside = radio_box3 (0, 6, 0, 1, 0, 1),
    empty = radio_box3 (0, 0, 0, 1, 0, 1),
    red = { 4, { 0 }, { 1, 5, 6, 7 } };
  assert_fails (radio_volume_export (volume, NULL, "a.tiff", NULL),
                RADIO_ERROR_ARGUMENT, "a.tiff");
  assert_fails (radio_volume_export (volume, NULL, "a.nii", &scaled),
                RADIO_ERROR_ARGUMENT, ".npy only");
  assert_fails (radio_volume_export (volume, &outside, "a.nii", NULL),
                RADIO_ERROR_ARGUMENT, "box");
  assert_fails (radio_volume_export (volume, &empty, "a.nii", NULL),
                RADIO_ERROR_ARGUMENT, "empty");
  assert_fails (radio_volume_export (colours, NULL, "a.npy", &scaled),
                RADIO_ERROR_UNSUPPORTED, "colours");
  assert_fails (radio_volume_export (colours, &red, "a.npy", NULL),
                RADIO_ERROR_ARGUMENT, "channels");
  assert_fails (radio_volume_export (volume, NULL, "no/a.nii", NULL),
                RADIO_ERROR_NOT_FOUND, "no/a.nii");
  assert_fails (radio_volume_export (NULL, NULL, "a.nii", NULL),
                RADIO_ERROR_ARGUMENT, "NULL");
  assert_int_equal (access ("a.nii", F_OK), -1);
  assert_int_equal (access ("a.npy", F_OK), -1);
}

static void
a_header_of_another_image_is_refused (void **state)
{
  (void) state;
  const struct nifti_spec spec = small_spec ();
  VOLUME_SCOPE struct radio_volume *volume = volume_of (&spec);
  volume->meta.nifti.shape[0]++;
  assert_fails (radio_volume_export (volume, NULL, "a.nii", NULL),
                RADIO_ERROR_FORMAT, "shape");
}

/* Images without a NIfTI header. */

static void
put_image (struct radio_store *store, const char *axes_json,
           const char *scale_json)
{
  char text[2048];
  int n = snprintf (
    text, sizeof text,
    "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": "
    "{\"ome\": {\"version\": \"0.5\", \"multiscales\": [{\"axes\": [%s], "
    "\"datasets\": [{\"path\": \"0\", \"coordinateTransformations\": "
    "[{\"type\": \"scale\", \"scale\": [%s]}]}]}]}}}",
    axes_json, scale_json);
  assert_ok (rd_io_put (store->io, "im/zarr.json", text, (size_t) n,
                        RD_PUT_REPLACE));
}

/* An image of others', of 1, 2, ... in C order. */
static struct radio_volume *
foreign_image (const char *type, size_t rank, const uint64_t *shape,
               const char *const *names, const char *axes_json,
               const char *scale_json)
{
  RD_CLEANUP (rd_cleanup_store) struct radio_store *store
    = must_open_store ("memory:");
  struct radio_array_options options = {
    .rank = rank, .data_type = type, .dimension_names = names,
  };
  memcpy (options.shape, shape, rank * sizeof *shape);
  memcpy (options.chunk_shape, shape, rank * sizeof *shape);
  RD_CLEANUP (rd_cleanup_array) struct radio_array *array = NULL;
  assert_ok (radio_array_create (store, "im/0", &options, &array));
  const struct radio_box all = rd_box_whole (rank, shape);
  RD_FREE_PLAIN int16_t *elements
    = calloc (radio_box_count (&all), sizeof *elements);
  assert_non_null (elements);
  for (uint64_t i = 0; i < radio_box_count (&all); i++)
    elements[i] = (int16_t) (i + 1);
  assert_ok (radio_array_write (array, &all, elements,
                                radio_box_count (&all) * sizeof *elements));
  put_image (store, axes_json, scale_json);
  return must_open (store, "im");
}

#define SPACE_AXES                                                      \
  "{\"name\": \"z\", \"type\": \"space\", \"unit\": \"micrometer\"}, "  \
  "{\"name\": \"y\", \"type\": \"space\", \"unit\": \"micrometer\"}, "  \
  "{\"name\": \"x\", \"type\": \"space\", \"unit\": \"micrometer\"}"

#define ORIENTED_AXIS(letter, direction)                                \
  "{\"name\": \"" letter "\", \"type\": \"space\", "                   \
  "\"unit\": \"micrometer\", \"orientation\": "                         \
  "{\"type\": \"anatomical\", \"value\": \"" direction "\"}}"

/* x, y, z rise to the left, posterior and superior. */
#define ORIENTED_AXES                                                   \
  ORIENTED_AXIS ("z", "inferior-to-superior") ", "                      \
  ORIENTED_AXIS ("y", "anterior-to-posterior") ", "                     \
  ORIENTED_AXIS ("x", "right-to-left")

static const char *const zyx_names[] = { "z", "y", "x" };
static const uint64_t zyx_shape[] = { 3, 4, 5 };

static void
an_image_without_a_header_gets_one_in_millimetres (void **state)
{
  (void) state;
  VOLUME_SCOPE struct radio_volume *volume
    = foreign_image ("int16", 3, zyx_shape, zyx_names, ORIENTED_AXES,
                     "2000, 500, 250");
  assert_ok (radio_volume_export (volume, NULL, "a.nii", NULL));
  RD_BUFFER_SCOPE struct rd_buffer got = { 0 };
  slurp ("a.nii", &got);
  struct rd_nifti nifti;
  assert_ok (rd_nifti_parse (got.data, got.nbytes, "a.nii", &nifti));
  assert_int_equal (nifti.ndim, 3);
  assert_int_equal (nifti.dim[1], 5);
  assert_int_equal (nifti.dim[3], 3);
  assert_true (fabs (nifti.pixdim[1] - 0.25) < 1e-6);
  assert_true (fabs (nifti.pixdim[3] - 2) < 1e-6);
  assert_int_equal (nifti.sform_code, 1);
  assert_true (fabs (nifti.srow[0][0] + 0.25) < 1e-6);
  assert_true (fabs (nifti.srow[2][2] - 2) < 1e-6);
  assert_int_equal (got.nbytes, 352 + 60 * 2);
  for (int i = 0; i < 60; i++) {
    int value = got.data[352 + 2 * i] | got.data[353 + 2 * i] << 8;
    assert_int_equal (value, i + 1);
  }
}

static void
a_box_without_a_header_keeps_its_place (void **state)
{
  (void) state;
  VOLUME_SCOPE struct radio_volume *volume
    = foreign_image ("int16", 3, zyx_shape, zyx_names, ORIENTED_AXES,
                     "2000, 500, 250");
  const struct radio_box box = radio_box3 (2, 1, 1, 2, 3, 2);
  assert_ok (radio_volume_export (volume, &box, "a.nii", NULL));
  RD_BUFFER_SCOPE struct rd_buffer got = { 0 };
  slurp ("a.nii", &got);
  struct rd_nifti nifti;
  assert_ok (rd_nifti_parse (got.data, got.nbytes, "a.nii", &nifti));
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  const double start[3] = { 3, 1, 2 };
  for (int i = 0; i < 3; i++) {
    double origin = info.affine[i][3];
    for (int j = 0; j < 3; j++)
      origin += info.affine[i][j] * start[j];
    assert_true (fabs (nifti.srow[i][3] - origin / 1000) < 1e-5);
  }
  assert_int_equal (got.data[352], 2 * 20 + 1 * 5 + 3 + 1);
}

static void
an_image_without_an_orientation_gets_none (void **state)
{
  (void) state;
  VOLUME_SCOPE struct radio_volume *volume
    = foreign_image ("int16", 3, zyx_shape, zyx_names, SPACE_AXES,
                     "2000, 500, 250");
  const struct radio_box box = radio_box3 (2, 1, 1, 2, 3, 2);
  RD_CLEANUP (rd_cleanup_store) struct radio_store *store
    = must_open_store ("memory:");
  for (int i = 0; i < 2; i++) {
    const char *path = i == 0 ? "ct/whole" : "ct/box";
    assert_ok (radio_volume_export (volume, i == 0 ? NULL : &box, "a.nii",
                                    &(struct radio_export_options) {
                                      .overwrite = true,
                                    }));
    assert_ok (radio_ingest (store, "a.nii", path, NULL, NULL));
    VOLUME_SCOPE struct radio_volume *back = must_open (store, path);
    const struct rd_nifti *nifti = &back->meta.nifti;
    assert_int_equal (nifti->sform_code, 0);
    assert_int_equal (nifti->qform_code, 0);
    assert_true (fabs (nifti->pixdim[1] - 0.25) < 1e-6);
    assert_true (fabs (nifti->pixdim[3] - 2) < 1e-6);
    struct radio_volume_info info;
    radio_volume_get_info (back, &info);
    assert_string_equal (info.affine_source, "pixdim");
    /* Nor does its own document. */
    struct rd_buffer document RD_BUFFER_SCOPE = { 0 };
    RD_FREE char *key = rd_document_key (path);
    assert_ok (rd_io_read_all (store->io, key, 1 << 20, &document));
    assert_null (memmem (document.data, document.nbytes, "orientation", 11));
  }
}

static void
channels_without_a_header_become_the_fifth_dimension (void **state)
{
  (void) state;
  static const uint64_t shape[] = { 2, 3, 4, 5 };
  static const char *const names[] = { "c", "z", "y", "x" };
  VOLUME_SCOPE struct radio_volume *volume
    = foreign_image ("int16", 4, shape, names,
                     "{\"name\": \"c\", \"type\": \"channel\"}, "
                     SPACE_AXES, "1, 1, 1, 1");
  RD_BUFFER_SCOPE struct rd_buffer got = { 0 };
  assert_ok (radio_volume_export (volume, NULL, "a.nii", NULL));
  slurp ("a.nii", &got);
  struct rd_nifti nifti;
  assert_ok (rd_nifti_parse (got.data, got.nbytes, "a.nii", &nifti));
  assert_int_equal (nifti.dim[0], 5);
  assert_int_equal (nifti.dim[4], 1);
  assert_int_equal (nifti.dim[5], 2);
  assert_ok (radio_volume_export (volume, NULL, "a.npy", NULL));
  read_npy ("a.npy", &got, NPY_NATIVE ("i2"), "(5, 4, 3, 1, 2)");
}

static void
types_that_nifti_lacks_are_named (void **state)
{
  (void) state;
  VOLUME_SCOPE struct radio_volume *volume
    = foreign_image ("float16", 3, zyx_shape, zyx_names, SPACE_AXES,
                     "1, 1, 1");
  assert_fails (radio_volume_export (volume, NULL, "a.nii", NULL),
                RADIO_ERROR_UNSUPPORTED, "float16");
  assert_int_equal (access ("a.nii", F_OK), -1);
  assert_ok (radio_volume_export (volume, NULL, "a.npy", NULL));
}

/* Phantoms, and statistics of volumes. */

static void
a_phantom_is_the_rows_of_its_generator (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_store) struct radio_store *store
    = must_open_store ("memory:");
  const uint64_t shape[3] = { 20, 45, 51 };
  const struct radio_phantom_options options = {
    .shape = { 20, 45, 51 }, .seed = 3,
  };
  assert_ok (radio_phantom (store, "ct/head", &options));
  VOLUME_SCOPE struct radio_volume *volume = must_open (store, "ct/head");
  RD_CLEANUP (rd_cleanup_phantom) struct rd_phantom *phantom = NULL;
  assert_ok (rd_phantom_open (shape, 3, &phantom));
  int16_t got[51], wanted[51];
  for (uint64_t z = 0; z < 20; z++)
    for (uint64_t y = 0; y < 45; y++) {
      const struct radio_box row = radio_box3 (z, 1, y, 1, 0, 51);
      assert_ok (radio_volume_read (volume, &row, RADIO_INT16, got,
                                    sizeof got, NULL));
      rd_phantom_row (phantom, z, y, wanted);
      assert_memory_equal (got, wanted, sizeof got);
    }
}

static void
a_phantom_has_a_heads_geometry (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_store) struct radio_store *store
    = must_open_store ("memory:");
  const struct radio_phantom_options options = { .shape = { 16, 32, 64 } };
  assert_ok (radio_phantom (store, "ct/head", &options));
  VOLUME_SCOPE struct radio_volume *volume = must_open (store, "ct/head");
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  assert_string_equal (info.orientation, "RAS");
  assert_true (info.spacing[0] == 12 && info.spacing[1] == 8
               && info.spacing[2] == 4);
  assert_true (info.affine[0][3] == -126 && info.affine[2][3] == -90);
  assert_fails (radio_phantom (store, "ct/head", &options),
                RADIO_ERROR_EXISTS, "ct/head");
}

static bool
is_wanted (void *user_data)
{
  return --*(int *) user_data == 0;
}

/* Whenever it is asked. */
static void
a_cancelled_export_leaves_the_old_file (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  VOLUME_SCOPE struct radio_volume *volume = volume_of (&spec);
  RD_BUFFER_SCOPE struct rd_buffer old = { 0 };
  const struct radio_box one = radio_box3 (0, 1, 0, 1, 0, 1);
  const struct radio_export_options replacing = { .overwrite = true };
  assert_ok (radio_volume_export (volume, &one, "a.npy", NULL));
  slurp ("a.npy", &old);
  for (int is_threads = 0; is_threads <= 1; is_threads++) {
    int nasked = 0;
    enum radio_status status;
    assert_ok (radio_volume_export (volume, &one, "a.npy", &replacing));
    do {
      int left = ++nasked;
      struct radio_export_options options = replacing;
      if (is_threads)
        radio_thread_set_cancel (is_wanted, &left);
      else {
        options.cancel = is_wanted;
        options.user_data = &left;
      }
      status = radio_volume_export (volume, NULL, "a.npy", &options);
      radio_thread_set_cancel (NULL, NULL);
      assert_int_equal (status, left > 0 ? RADIO_OK : RADIO_ERROR_CANCELLED);
      if (left <= 0)
        assert_file_is ("a.npy", &old);
    } while (status != RADIO_OK);
    assert_true (nasked > 2);
  }
  assert_int_equal (remove ("a.npy"), 0);
}

static void
statistics_are_scaled_unless_raw (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  spec.scl_slope = -2;
  spec.scl_inter = 10;
  VOLUME_SCOPE struct radio_volume *volume = volume_of (&spec);
  struct radio_stats raw, scaled;
  assert_ok (radio_volume_stats (volume, true, &raw));
  assert_ok (radio_volume_stats (volume, false, &scaled));
  assert_int_equal (raw.count, 7 * 6 * 5);
  assert_true (scaled.min == raw.max * -2 + 10);
  assert_true (scaled.max == raw.min * -2 + 10);
  assert_true (fabs (scaled.mean - (raw.mean * -2 + 10)) < 1e-9);
  assert_true (fabs (scaled.std - raw.std * 2) < 1e-9);
  assert_true (fabs (scaled.percentile[0] - (raw.percentile[6] * -2 + 10))
               < 1e-9);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, enter_folder, leave_folder)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (every_type_and_byte_order_comes_back_byte_for_byte),
    TEST (every_number_of_dimensions_comes_back),
    TEST (series_of_colours_come_back),
    TEST (extensions_come_back),
    TEST (gz_holds_the_same_bytes),
    TEST (a_pair_becomes_a_single_file),
    TEST (a_box_has_its_voxels_and_its_place),
    TEST (npy_holds_the_values_of_nibabel),
    TEST (npy_has_all_dimensions_of_the_header),
    TEST (a_box_in_npy_has_the_boxs_shape),
    TEST (scaled_values_are_float32),
    TEST (an_impossible_export_is_an_error_and_leaves_no_file),
    TEST (a_header_of_another_image_is_refused),
    TEST (an_image_without_a_header_gets_one_in_millimetres),
    TEST (a_box_without_a_header_keeps_its_place),
    TEST (an_image_without_an_orientation_gets_none),
    TEST (channels_without_a_header_become_the_fifth_dimension),
    TEST (types_that_nifti_lacks_are_named),
    TEST (a_phantom_is_the_rows_of_its_generator),
    TEST (a_phantom_has_a_heads_geometry),
    TEST (a_cancelled_export_leaves_the_old_file),
    TEST (statistics_are_scaled_unless_raw),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
