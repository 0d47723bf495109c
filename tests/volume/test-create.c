/* SPDX-License-Identifier: MIT */
/* Volumes written from memory: the same objects as an ingest of the file, the
 * header that was asked for, and nothing left of one that is not
 * committed. */
#include <config.h>

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/volume/volume.h"
#include "tests/alloc-fail.h"
#include "tests/io/fault.h"
#include "tests/io/wrap.h"
#include "tests/volume/fixture.h"

/* With one thread every allocation is the test's own thread's. */
static struct radio_store *
open_store (unsigned nthreads)
{
  const struct radio_context_options how = { .nthreads = nthreads };
  struct radio_store_options options = { .create = true };
  struct radio_store *store;
  assert_ok (radio_context_open (&how, &options.context));
  assert_ok (radio_store_open ("memory:", &options, &store));
  radio_context_close (options.context);
  return store;
}

/*------------------------------------------------------------------------
 * Equal to an ingest
 *----------------------------------------------------------------------*/

/* All objects of a store, their keys and bytes in one text, with the level's
 * random name replaced. */
struct objects {
  struct radio_store *store;
  struct rd_buffer text;
};

static enum radio_status
add_object (const struct rd_io_entry *entry, void *user_data)
{
  struct objects *objects = user_data;
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  must_append (&objects->text, entry->name, strlen (entry->name) + 1);
  assert_ok (rd_io_read_all (objects->store->io, entry->name, 1 << 20,
                             &bytes));
  must_append (&objects->text, bytes.data, bytes.nbytes);
  return RADIO_OK;
}

static void
read_objects (struct radio_store *store, struct objects *objects)
{
  struct radio_volume *volume;
  *objects = (struct objects) { .store = store };
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  const char *name = volume->meta.level_path;
  size_t n = strlen (name);
  struct rd_buffer *text = &objects->text;
  assert_ok (store->io->ops->list (store->io, "", true, add_object, objects));
  for (size_t i = 0; i + n <= text->nbytes; i++)
    if (memcmp (text->data + i, name, n) == 0)
      memset (text->data + i, '*', n);
  radio_volume_close (volume);
}

enum order { C_ORDER, FORTRAN_ORDER, BACKWARD, NORDERS };

/* The elements of an array in another order; *origin is the first one. */
static void
reorder (const struct radio_array_info *info, enum order order,
         const unsigned char *from, struct rd_buffer *to, int64_t *strides,
         const unsigned char **origin)
{
  int64_t stride = (int64_t) info->item_nbytes;
  uint64_t at[RADIO_MAX_RANK] = { 0 }, n = 1;
  for (size_t i = 0; i < info->rank; i++) {
    size_t axis = order == FORTRAN_ORDER ? i : info->rank - 1 - i;
    strides[axis] = order == BACKWARD ? -stride : stride;
    stride *= (int64_t) info->shape[axis];
    n *= info->shape[axis];
  }
  assert_ok (rd_buffer_reserve (to, (size_t) stride));
  unsigned char *first = to->data;
  if (order == BACKWARD)
    first += stride - (int64_t) info->item_nbytes;
  *origin = first;
  for (uint64_t i = 0; i < n; i++, from += info->item_nbytes) {
    unsigned char *place = first;
    for (size_t k = 0; k < info->rank; k++)
      place += (int64_t) at[k] * strides[k];
    memcpy (place, from, info->item_nbytes);
    for (size_t k = info->rank; k-- > 0 && ++at[k] == info->shape[k];)
      at[k] = 0;
  }
}

/* Write all elements in slabs of 1, 2, 3, ... along the first of the slow axes
 * that there is, or, if they end with z, of 1 along each of them. */
static void
write_slabs (struct radio_writer *writer, const struct radio_array_info *info,
             const char *axes, const char *slow, const unsigned char *origin,
             const int64_t *strides)
{
  size_t order[RADIO_MAX_RANK], n = 0;
  bool in_planes = slow[strlen (slow) - 1] == 'z';
  for (const char *p = slow; *p; p++)
    if (strchr (axes, *p))
      order[n++] = (size_t) (strchr (axes, *p) - axes);
  struct radio_box box = { .rank = info->rank };
  memcpy (box.size, info->shape, sizeof box.size);
  uint64_t thickness = 1;
  size_t ncut = in_planes ? n : 1;
  for (;;) {
    for (size_t i = 0; i < ncut; i++)
      box.size[order[i]] = 1;
    size_t last = order[ncut - 1];
    uint64_t left = info->shape[last] - box.start[last];
    box.size[last] = in_planes ? 1 : thickness < left ? thickness : left;
    thickness++;
    const unsigned char *data = origin;
    for (size_t i = 0; i < info->rank; i++)
      data += (int64_t) box.start[i] * strides[i];
    assert_ok (radio_volume_write_slab (writer, &box, data, 0, strides));
    size_t i = ncut;
    while (i-- > 0) {
      box.start[order[i]] += box.size[order[i]];
      if (box.start[order[i]] < info->shape[order[i]])
        break;
      if (i == 0)
        return;
      box.start[order[i]] = 0;
    }
  }
}

static void
check_equal (struct nifti_spec spec, unsigned nthreads,
             const struct radio_ingest_options *ingest)
{
  struct rd_buffer elements RD_BUFFER_SCOPE = { 0 };
  struct objects expected;
  struct radio_store *store = open_store (nthreads);
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct radio_volume *like;
  struct radio_volume_info info;
  spec_image (&spec, &file);
  write_file (".", "a.nii", &file);
  assert_ok (radio_ingest (store, "a.nii", "ct/a", ingest, NULL));
  read_objects (store, &expected);
  assert_ok (radio_volume_open (store, "ct/a", &like));
  radio_volume_get_info (like, &info);
  bool is_ome = info.array.rank <= RD_NIFTI_MAX_OME_RANK;
  if (is_ome)
    expected_elements (&spec, &file, &elements);
  else
    must_append (&elements, file.data + info.header_nbytes,
                 spec_data_nbytes (&spec));
  for (int i = 0; i < 2 * NORDERS; i++) {
    struct rd_buffer ordered RD_BUFFER_SCOPE = { 0 };
    int64_t strides[RADIO_MAX_RANK];
    const unsigned char *origin;
    struct objects got;
    struct radio_writer *writer;
    struct radio_create_options options = {
      .like = like, .source_name = "a.nii",
    };
    struct radio_store *other = open_store (nthreads);
    if (ingest)
      options.ingest = *ingest;
    assert_ok (radio_volume_create (other, "ct/a", &options, &writer));
    reorder (&info.array, i % NORDERS, elements.data, &ordered, strides,
             &origin);
    const char *slow = i < NORDERS ? "wvctzyx" : "wvctz";
    if (spec.datatype == 128 || spec.datatype == 2304)
      slow += 3;
    write_slabs (writer, &info.array, info.axes, slow, origin, strides);
    struct radio_ingest_result result;
    assert_ok (radio_volume_commit (writer, &result));
    assert_int_equal (result.source_nbytes, file.nbytes);
    read_objects (other, &got);
    assert_int_equal (got.text.nbytes, expected.text.nbytes);
    assert_memory_equal (got.text.data, expected.text.data, got.text.nbytes);
    rd_buffer_free (&got.text);
    if (is_ome && !options.ingest.strip)
      assert_volume_is (other, "ct/a", &spec);
    radio_store_close (other);
  }
  rd_buffer_free (&expected.text);
  radio_volume_close (like);
  radio_store_close (store);
}

static void
slabs_from_memory_equal_an_ingest_in_every_byte (void **state)
{
  (void) state;
  for (size_t i = 0; i < SPEC_TYPE_COUNT; i++)
    for (int kind = 0; kind < 4; kind++) {
      struct nifti_spec spec = i % 2 ? other_spec () : small_spec ();
      spec.datatype = spec_types[i].code;
      spec.version = 1 + (kind & 1);
      spec.big_endian = kind & 2;
      spec.scl_slope = 2;
      spec.cal_max = 100;
      check_equal (spec, 1 + kind, NULL);
    }
}

static void
so_they_do_in_every_shape_tiling_and_codec (void **state)
{
  (void) state;
  static const int64_t dims[][8] = {
    { 2, 9, 8 }, { 4, 5, 4, 3, 6 }, { 5, 4, 3, 2, 3, 5 },
    { 5, 4, 3, 2, 1, 6 }, { 7, 4, 3, 2, 5, 1, 1, 1 }, { 3, 1, 1, 1 },
    { 7, 3, 2, 2, 2, 2, 2, 3 }, { 3, 40, 33, 50 },
  };
  static const struct radio_ingest_options how[] = {
    { .tiling = "axial", .codec = "none", .shard_nbytes = 1 },
    { .tiling = "3,2,4", .codec = "fast", .strip = true },
  };
  for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
    for (int k = 0; k < 2; k++) {
      struct nifti_spec spec = { .datatype = 512, .big_endian = i % 2 };
      memcpy (spec.dim, dims[i], sizeof spec.dim);
      /* check_equal takes the elements of that many axes as they are. */
      if (spec.dim[0] > 5)
        spec.big_endian = MACHINE_IS_BIG_ENDIAN;
      check_equal (spec, 3, &how[k]);
    }
  struct nifti_spec colours = {
    .dim = { 4, 6, 5, 4, 3 }, .datatype = 128,
  };
  check_equal (colours, 2, &how[0]);
}

/*------------------------------------------------------------------------
 * Headers
 *----------------------------------------------------------------------*/

/* Create, fill with zeros and open ct/new. */
static struct radio_volume *
must_create (struct radio_store *store,
             const struct radio_create_options *options)
{
  static const unsigned char zeros[1 << 20];
  struct radio_writer *writer;
  struct radio_volume *volume;
  struct radio_create_options replacing = *options;
  replacing.ingest.existing = RADIO_EXISTING_REPLACE;
  assert_ok (radio_volume_create (store, "ct/new", &replacing, &writer));
  struct radio_box box = { .rank = options->rank };
  memcpy (box.size, options->shape, sizeof box.size);
  assert_ok (radio_volume_write_slab (writer, &box, zeros, sizeof zeros,
                                      NULL));
  assert_ok (radio_volume_commit (writer, NULL));
  assert_ok (radio_volume_open (store, "ct/new", &volume));
  return volume;
}

static void
a_new_header_has_the_geometry_that_is_given (void **state)
{
  (void) state;
  struct radio_store *store = open_store (1);
  struct radio_volume_info info;
  struct radio_create_options options = {
    .rank = 4, .shape = { 2, 3, 4, 5 }, .dtype = RADIO_BOOL,
    .spacing = { 2.5, 3, 0, 0.5 },
  };
  struct radio_volume *volume = must_create (store, &options);
  radio_volume_get_info (volume, &info);
  assert_string_equal (info.axes, "tzyx");
  assert_string_equal (info.nifti_type, "uint8");
  assert_string_equal (info.affine_source, "pixdim");
  assert_string_equal (info.space_unit, "millimeter");
  assert_string_equal (info.source_name, "memory");
  assert_true (info.spacing[0] == 2.5 && info.spacing[1] == 3);
  assert_true (info.spacing[2] == 1 && info.spacing[3] == 0.5);
  assert_int_equal (info.header_nbytes, 352);
  radio_volume_close (volume);

  static const double affine[3][4] = {
    { 0, -0.5, 0, 10 }, { 0.25, 0, 0, 20 }, { 0, 0, 3, 30 },
  };
  memcpy (options.affine, affine, sizeof affine);
  options.shape[3] = 40000;
  options.shape[2] = 1;
  options.dtype = RADIO_INT16;
  volume = must_create (store, &options);
  radio_volume_get_info (volume, &info);
  assert_string_equal (info.affine_source, "sform");
  assert_memory_equal (info.affine, affine, sizeof affine);
  assert_true (info.spacing[0] == 2.5 && info.spacing[1] == 3);
  assert_true (info.spacing[2] == 0.5 && info.spacing[3] == 0.25);
  assert_int_equal (info.header_nbytes, 544);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
a_volume_like_another_has_its_geometry (void **state)
{
  (void) state;
  struct radio_store *store = open_store (1);
  struct radio_volume *like;
  struct radio_volume_info info, theirs;
  struct nifti_spec spec = other_spec ();
  spec.xyzt_units = 3 | 16;
  spec.scl_slope = 2;
  spec.cal_max = 10;
  spec.sform_code = 4;
  must_ingest (store, "ct/a", &spec, NULL);
  assert_ok (radio_volume_open (store, "ct/a", &like));
  radio_volume_get_info (like, &theirs);

  /* The same shape: all of the header but the type. */
  struct radio_create_options options = {
    .rank = 3, .shape = { 5, 6, 7 }, .dtype = RADIO_UINT8, .like = like,
  };
  struct radio_volume *volume = must_create (store, &options);
  radio_volume_get_info (volume, &info);
  assert_int_equal (info.header_nbytes, theirs.header_nbytes);
  assert_string_equal (info.nifti_type, "uint8");
  assert_true (info.scl_slope == 1 && info.window_high == 0);
  assert_memory_equal (info.affine, theirs.affine, sizeof info.affine);
  assert_true (memmem (info.header, info.header_nbytes, "the new one", 11));
  radio_volume_close (volume);

  /* Another one: no extensions and texts. */
  options.rank = 4;
  memcpy (options.shape, (uint64_t[]) { 2, 9, 6, 7 }, 4 * sizeof (uint64_t));
  options.dtype = RADIO_STORED;
  options.spacing[0] = 7;
  volume = must_create (store, &options);
  radio_volume_get_info (volume, &info);
  assert_int_equal (info.header_nbytes, 352);
  assert_string_equal (info.nifti_type, "float32");
  assert_string_equal (info.space_unit, "micrometer");
  assert_string_equal (info.time_unit, "millisecond");
  assert_string_equal (info.affine_source, "sform");
  assert_int_equal (volume->meta.nifti.sform_code, 4);
  assert_memory_equal (info.affine, theirs.affine, sizeof info.affine);
  assert_true (info.spacing[0] == 7 && info.spacing[1] == 2
               && info.spacing[3] == 0.5);
  radio_volume_close (volume);
  radio_volume_close (like);

  /* One without a form has none. */
  spec.sform_code = 0;
  must_ingest (store, "ct/b", &spec, NULL);
  assert_ok (radio_volume_open (store, "ct/b", &like));
  options.like = like;
  volume = must_create (store, &options);
  radio_volume_get_info (volume, &info);
  assert_string_equal (info.affine_source, "pixdim");
  assert_true (info.spacing[1] == 2 && info.spacing[3] == 0.5);
  radio_volume_close (volume);
  radio_volume_close (like);
  radio_store_close (store);
}

/*------------------------------------------------------------------------
 * Refusals
 *----------------------------------------------------------------------*/

static void
images_that_cannot_be_are_refused (void **state)
{
  (void) state;
  struct radio_store *store = open_store (1);
  struct radio_writer *writer = NULL;
  struct radio_volume *like;
  struct nifti_spec rgb = { .dim = { 3, 4, 3, 2 }, .datatype = 128 };
  must_ingest (store, "ct/rgb", &rgb, NULL);
  assert_ok (radio_volume_open (store, "ct/rgb", &like));
  const struct radio_create_options good = {
    .rank = 3, .shape = { 2, 3, 4 }, .dtype = RADIO_INT16,
  };
#define REFUSE(change, status, text)                                    \
  do {                                                                  \
    struct radio_create_options o = good;                               \
    change;                                                             \
    assert_fails (radio_volume_create (store, "ct/a", &o, &writer),     \
                  status, text);                                        \
  } while (0)
  REFUSE (o.rank = 0, RADIO_ERROR_ARGUMENT, "ct/a: no shape; set rank");
  REFUSE (o.rank = 2, RADIO_ERROR_UNSUPPORTED, "rank is 2, not 3 to 5");
  REFUSE (o.rank = 6, RADIO_ERROR_UNSUPPORTED, "rank is 6, not 3 to 5");
  REFUSE (o.rank = 9, RADIO_ERROR_UNSUPPORTED, "rank is 9, not 3 to 5");
  REFUSE (o.shape[1] = 0, RADIO_ERROR_ARGUMENT, "shape[1] is 0");
  REFUSE (o.shape[1] = UINT64_MAX, RADIO_ERROR_ARGUMENT, "shape[1]");
  REFUSE (o.shape[0] = o.shape[1] = INT64_MAX, RADIO_ERROR_ARGUMENT,
          "exceeds 2^64");
  REFUSE (o.dtype = RADIO_STORED, RADIO_ERROR_ARGUMENT, "no type; set dtype");
  REFUSE (o.dtype = RADIO_FLOAT16, RADIO_ERROR_UNSUPPORTED, "float16");
  REFUSE (o.dtype = (enum radio_dtype) 1234, RADIO_ERROR_ARGUMENT,
          "dtype is 1234, an unknown type");
  REFUSE (o.ingest.existing = (enum radio_existing) 9, RADIO_ERROR_ARGUMENT,
          "existing is 9");
  REFUSE (o.dtype = RADIO_RAW, RADIO_ERROR_UNSUPPORTED, "raw");
  REFUSE (o.affine[1][2] = NAN, RADIO_ERROR_ARGUMENT, "affine[1][2]");
  REFUSE (o.affine[0][0] = 1e300, RADIO_ERROR_ARGUMENT,
          "ct/a: affine[0][0] is 1e+300, which NIfTI-1 cannot hold");
  REFUSE (o.affine[2][3] = -1e39, RADIO_ERROR_ARGUMENT, "affine[2][3]");
  REFUSE (o.affine[1][1] = 1e-60, RADIO_ERROR_ARGUMENT, "spacing[1]");
  REFUSE (o.spacing[0] = 1e-60, RADIO_ERROR_ARGUMENT,
          "spacing[0] is 1e-60, which NIfTI-1 cannot hold");
  REFUSE (o.spacing[1] = 1e39, RADIO_ERROR_ARGUMENT, "spacing[1]");
  REFUSE (o.spacing[2] = -1, RADIO_ERROR_ARGUMENT, "spacing[2]");
  REFUSE ((o.like = like, o.affine[0][0] = 1), RADIO_ERROR_ARGUMENT,
          "exclude");
  REFUSE ((o.like = like, o.dtype = RADIO_STORED), RADIO_ERROR_UNSUPPORTED,
          "like (ct/rgb) is rgb24");
  REFUSE ((o.like = like, o.rank = 0), RADIO_ERROR_UNSUPPORTED, "rgb24");
  REFUSE (o.source_name = "a\xff", RADIO_ERROR_ARGUMENT,
          "source_name: byte 1 (0xff) is not UTF-8");
  REFUSE (o.ingest.tiling = "no", RADIO_ERROR_ARGUMENT, "tiling: 'no'");
  const struct radio_label labels[] = {
    { .value = 2, .name = "two" }, { .value = 1, .name = "one" },
    { .value = 3, .name = NULL },
  };
#define LABELS(first, n) \
  (o.ingest.is_labels = true, o.ingest.labels = (first), o.ingest.nlabels = (n))
  REFUSE (LABELS (labels, 2), RADIO_ERROR_ARGUMENT, "value 1 follows 2");
  REFUSE (LABELS (labels + 1, 2), RADIO_ERROR_ARGUMENT,
          "the name of value 3 is NULL");
  REFUSE (LABELS (NULL, 1), RADIO_ERROR_ARGUMENT,
          "labels is NULL, but nlabels is 1");
#undef LABELS
  REFUSE (o.reserved[7] = 1, RADIO_ERROR_ARGUMENT, "radio_create_options");
  REFUSE (o.ingest.reserved[0] = 1, RADIO_ERROR_ARGUMENT,
          "radio_ingest_options");
  assert_fails (radio_volume_create (store, "no-collection", &good, &writer),
                RADIO_ERROR_ARGUMENT, "no-collection");
  assert_fails (radio_volume_create (store, "ct/a", NULL, &writer),
                RADIO_ERROR_ARGUMENT, "NULL");
  assert_null (writer);
  assert_int_equal (count_objects (store, "ct/a"), 0);
  radio_volume_close (like);
  radio_store_close (store);
}

static const struct radio_create_options small = {
  .rank = 4, .shape = { 2, 3, 4, 5 }, .dtype = RADIO_INT16,
};

static void
slabs_out_of_order_are_refused_and_the_right_one_may_follow (void **state)
{
  (void) state;
  struct radio_store *store = open_store (1);
  struct radio_writer *writer;
  int16_t voxels[2 * 3 * 4 * 5] = { 0 };
  assert_ok (radio_volume_create (store, "ct/a", &small, &writer));
  const struct {
    struct radio_box box;
    const char *text;
  } bad[] = {
    { { 4, { 1, 0, 0, 0 }, { 1, 3, 4, 5 } },
      "begins at 1 on axis t; the next one begins at 0" },
    { { 4, { 0, 1, 0, 0 }, { 1, 1, 4, 5 } }, "at 1 on axis z; the next" },
    { { 4, { 0, 0, 0, 0 }, { 2, 1, 4, 5 } }, "has 2 elements on axis t" },
    { { 4, { 0, 0, 0, 0 }, { 1, 1, 4, 4 } }, "has 4 elements on axis y" },
    { { 3, { 0, 0, 0 }, { 3, 4, 5 } }, "does not lie within" },
    { { 4, { 0, 0, 0, 0 }, { 3, 3, 4, 5 } }, "does not lie within" },
    { { 4, { 0, 0, 0, 0 }, { 1, 0, 4, 5 } }, "empty" },
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_fails (radio_volume_write_slab (writer, &bad[i].box, voxels,
                                           sizeof voxels, NULL),
                  RADIO_ERROR_ARGUMENT, bad[i].text);
  const struct radio_box first = { 4, { 0, 0, 0, 0 }, { 1, 3, 4, 5 } };
  const struct radio_box second = { 4, { 1, 0, 0, 0 }, { 1, 3, 4, 5 } };
  assert_fails (radio_volume_write_slab (writer, &first, voxels, 119, NULL),
                RADIO_ERROR_ARGUMENT, "119 of 120 bytes");
  assert_ok (radio_volume_write_slab (writer, &first, voxels, 120, NULL));
  assert_fails (radio_volume_write_slab (writer, &first, voxels, 120, NULL),
                RADIO_ERROR_ARGUMENT, "at 0 on axis t; the next one begins "
                "at 1");
  assert_ok (radio_volume_write_slab (writer, &second, voxels, 120, NULL));
  assert_fails (radio_volume_write_slab (writer, &second, voxels, 120, NULL),
                RADIO_ERROR_ARGUMENT, "all slabs are written");
  assert_ok (radio_volume_commit (writer, NULL));
  radio_store_close (store);
}

static void
nothing_is_left_of_a_volume_that_is_not_committed (void **state)
{
  (void) state;
  struct radio_store *store = open_store (2);
  struct radio_writer *writer;
  struct radio_volume *volume;
  int16_t voxels[2 * 3 * 4 * 5] = { 0 };
  const struct radio_box first = { 4, { 0, 0, 0, 0 }, { 1, 3, 4, 5 } };
  for (int i = 0; i < 3; i++) {
    assert_ok (radio_volume_create (store, "ct/a", &small, &writer));
    if (i > 0)
      assert_ok (radio_volume_write_slab (writer, &first, voxels,
                                          sizeof voxels, NULL));
    assert_fails (radio_volume_open (store, "ct/a", &volume),
                  RADIO_ERROR_NOT_FOUND, "ct/a");
    if (i < 2)
      radio_volume_abort (writer);
    else
      assert_fails (radio_volume_commit (writer, NULL), RADIO_ERROR_ARGUMENT,
                    "ct/a: 60 of 120 elements were written");
    assert_int_equal (count_objects (store, "ct/a"), 0);
  }
  radio_volume_abort (NULL);
  assert_fails (radio_volume_commit (NULL, NULL), RADIO_ERROR_ARGUMENT,
                "NULL");
  radio_store_close (store);
}

static void
write_all (struct radio_writer *writer, int16_t value)
{
  const struct radio_box all = { 4, { 0, 0, 0, 0 }, { 2, 3, 4, 5 } };
  int16_t voxels[2 * 3 * 4 * 5];
  for (size_t i = 0; i < 120; i++)
    voxels[i] = value;
  assert_ok (radio_volume_write_slab (writer, &all, voxels, sizeof voxels,
                                      NULL));
}

static int16_t
first_value (struct radio_store *store)
{
  const struct radio_box one = { 4, { 0, 0, 0, 0 }, { 1, 1, 1, 1 } };
  struct radio_volume *volume;
  int16_t value;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  assert_ok (radio_volume_read (volume, &one, RADIO_STORED, &value,
                                sizeof value, NULL));
  radio_volume_close (volume);
  return value;
}

static void
of_two_writers_of_a_name_one_has_it (void **state)
{
  (void) state;
  struct radio_store *store = open_store (2);
  struct radio_writer *a, *b, *c;
  struct radio_create_options options = small;
  assert_ok (radio_volume_create (store, "ct/a", &options, &a));
  assert_ok (radio_volume_create (store, "ct/a", &options, &b));
  assert_ok (radio_volume_create (store, "ct/a", &options, &c));
  write_all (a, 1);
  write_all (b, 2);
  write_all (c, 2);
  assert_ok (radio_volume_commit (b, NULL));
  assert_fails (radio_volume_commit (a, NULL), RADIO_ERROR_EXISTS, "ct/a");
  /* The same bytes are no conflict. */
  assert_ok (radio_volume_commit (c, NULL));
  assert_int_equal (first_value (store), 2);
  assert_fails (radio_volume_create (store, "ct/a", &options, &a),
                RADIO_ERROR_EXISTS, "ct/a");
  options.ingest.existing = RADIO_EXISTING_SKIP;
  assert_ok (radio_volume_create (store, "ct/a", &options, &a));
  assert_null (a);

  /* The writer keeps what it needs of the store. */
  options.ingest.existing = RADIO_EXISTING_REPLACE;
  assert_ok (radio_volume_create (store, "ct/a", &options, &a));
  write_all (a, 3);
  assert_int_equal (first_value (store), 2);
  assert_ok (radio_volume_commit (a, NULL));
  assert_int_equal (first_value (store), 3);
  assert_ok (radio_volume_create (store, "ct/b", &options, &a));
  radio_store_close (store);
  write_all (a, 1);
  assert_ok (radio_volume_commit (a, NULL));
}

static enum radio_status
create_one (struct radio_store *store)
{
  const struct radio_box all = { 4, { 0, 0, 0, 0 }, { 2, 3, 4, 5 } };
  static const int16_t voxels[2 * 3 * 4 * 5];
  struct radio_writer *writer;
  RD_TRY (radio_volume_create (store, "ct/a", &small, &writer));
  enum radio_status status
    = radio_volume_write_slab (writer, &all, voxels, sizeof voxels, NULL);
  if (status != RADIO_OK) {
    /* A failure of writing is final. */
    enum radio_status again
      = radio_volume_write_slab (writer, &all, voxels, sizeof voxels, NULL);
    radio_volume_abort (writer);
    return again == status ? status : RADIO_ERROR_IO;
  }
  return radio_volume_commit (writer, NULL);
}

static void
each_failing_allocation_is_an_error_that_leaves_nothing (void **state)
{
  (void) state;
  size_t nth;
  for (nth = 1; nth < 5000; nth += EXHAUSTIVE_STEP) {
    struct radio_store *store = open_store (1);
    alloc_fail_nth (nth);
    enum radio_status status = create_one (store);
    bool failed = alloc_fail_end ();
    char paths[100];
    list_paths (store, paths, sizeof paths);
    if (!was_published (status)) {
      assert_fails (status, RADIO_ERROR_MEMORY, "memory");
      assert_string_equal (paths, "");
      assert_ok (radio_store_gc (store, false, NULL));
      assert_int_equal (count_objects (store, "ct/a"), 0);
    } else
      assert_string_equal (paths, "ct/a");
    radio_store_close (store);
    if (!failed) {
      assert_ok (status);
      break;
    }
  }
  assert_in_range (nth, 50, 4999);
}

/* A store in which the nth operation of a kind finds no space. */
static struct radio_store *
open_failing (enum rd_fault_op op, uint64_t nth)
{
  const struct rd_fault fault = {
    .op = op, .nth = nth, .status = RADIO_ERROR_NO_SPACE,
  };
  const struct rd_fault_plan plan = { .faults = &fault, .n = 1 };
  const struct radio_context_options how = { .nthreads = 1 };
  struct radio_store_options options = { .create = true };
  struct radio_store *store;
  struct rd_io *io;
  assert_ok (radio_context_open (&how, &options.context));
  assert_ok (rd_io_open ("memory:", true, &io));
  assert_ok (rd_io_fault_open (io, &plan, &io));
  if (rd_store_open_io (io, &options, &store) != RADIO_OK)
    store = NULL;
  radio_context_close (options.context);
  return store;
}

static void
each_failing_operation_of_the_store_leaves_the_volume_or_nothing (
  void **state)
{
  (void) state;
  static const enum rd_fault_op ops[] = {
    RD_FAULT_PUT, RD_FAULT_CREATE, RD_FAULT_APPEND, RD_FAULT_COMMIT,
    RD_FAULT_LOCK,
  };
  unsigned nfailed = 0;
  for (uint64_t i = 0; i < 40; i++) {
    struct radio_store *store = open_failing (ops[i % 5], 1 + i / 5);
    if (store == NULL)
      continue;
    enum radio_status status = create_one (store);
    bool is_there = was_published (status);
    nfailed += status != RADIO_OK;
    if (status != RADIO_OK)
      assert_int_equal (status, RADIO_ERROR_NO_SPACE);
    char paths[100];
    list_paths (store, paths, sizeof paths);
    assert_string_equal (paths, is_there ? "ct/a" : "");
    if (!is_there) {
      assert_ok (radio_store_gc (store, false, NULL));
      assert_int_equal (count_objects (store, "ct/a"), 0);
      assert_ok (create_one (store));
    }
    radio_store_close (store);
  }
  assert_in_range (nfailed, 5, 39);
}

/* The child's handle is its parent's, who goes on with it. */
static void
a_forked_child_neither_writes_nor_removes (void **state)
{
  (void) state;
  struct radio_store *store = must_open_store ("fork.zarr");
  const struct radio_box first = { 4, { 0, 0, 0, 0 }, { 1, 3, 4, 5 } };
  const struct radio_box second = { 4, { 1, 0, 0, 0 }, { 1, 3, 4, 5 } };
  static const int16_t voxels[3 * 4 * 5];
  struct radio_writer *writer;
  assert_ok (radio_volume_create (store, "ct/a", &small, &writer));
  assert_ok (radio_volume_write_slab (writer, &first, voxels, sizeof voxels,
                                      NULL));
  pid_t child = fork ();
  if (child == 0) {
    bool is_refused
      = radio_volume_write_slab (writer, &second, voxels, sizeof voxels,
                                 NULL) == RADIO_ERROR_FORKED
        && radio_volume_commit (writer, NULL) == RADIO_ERROR_FORKED;
    radio_volume_abort (writer);
    _exit (is_refused ? 0 : 1);
  }
  int status;
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_int_equal (status, 0);
  assert_ok (radio_volume_write_slab (writer, &second, voxels, sizeof voxels,
                                      NULL));
  assert_ok (radio_volume_commit (writer, NULL));
  assert_int_equal (first_value (store), 0);
  radio_store_close (store);
}

static void
memory_is_that_of_a_layer_whatever_the_size (void **state)
{
  (void) state;
  const struct radio_context_options how = {
    .nthreads = 2, .memory_limit_nbytes = 8 << 20,
  };
  struct radio_store_options options = { .create = true };
  struct radio_store *store;
  struct radio_writer *writer;
  struct radio_create_options large = {
    .rank = 3, .shape = { 100000, 64, 64 }, .dtype = RADIO_UINT8,
  };
  assert_ok (radio_context_open (&how, &options.context));
  assert_ok (radio_store_open ("memory:", &options, &store));
  radio_context_close (options.context);
  alloc_fail_nth (0);
  enum radio_status status
    = radio_volume_create (store, "ct/a", &large, &writer);
  alloc_fail_end ();
  assert_ok (status);
  assert_in_range (alloc_fail_largest (), 1, 8 << 20);
  radio_volume_abort (writer);
  large.shape[1] = large.shape[2] = 4000;
  assert_fails (radio_volume_create (store, "ct/a", &large, &writer),
                RADIO_ERROR_LIMIT, "a slab of the image");
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (slabs_from_memory_equal_an_ingest_in_every_byte),
    cmocka_unit_test (so_they_do_in_every_shape_tiling_and_codec),
    cmocka_unit_test (a_new_header_has_the_geometry_that_is_given),
    cmocka_unit_test (a_volume_like_another_has_its_geometry),
    cmocka_unit_test (images_that_cannot_be_are_refused),
    cmocka_unit_test (
      slabs_out_of_order_are_refused_and_the_right_one_may_follow),
    cmocka_unit_test (nothing_is_left_of_a_volume_that_is_not_committed),
    cmocka_unit_test (of_two_writers_of_a_name_one_has_it),
    cmocka_unit_test (each_failing_allocation_is_an_error_that_leaves_nothing),
    cmocka_unit_test (
      each_failing_operation_of_the_store_leaves_the_volume_or_nothing),
    cmocka_unit_test (a_forked_child_neither_writes_nor_removes),
    cmocka_unit_test (memory_is_that_of_a_layer_whatever_the_size),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
