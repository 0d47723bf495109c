/* SPDX-License-Identifier: MIT */
/* Arrays as runs of bytes: how they are cut into slabs, delivered, exported
 * and counted.  The test itself puts chunks into the store, without the
 * library's writers. */
#include <config.h>

#include <inttypes.h>
#include <unistd.h>

#include <radio/radio.h>

#include "tests/unit.h"
#include "tests/nifti/folder.h"

#include "src/array/array.h"
#include "src/element/box.h"
#include "src/volume/stream.h"

/* Slabs. */

static struct rd_stream
stream_of (size_t rank, const uint64_t *size, size_t item_nbytes)
{
  struct rd_stream stream = { .item_nbytes = item_nbytes };
  stream.box = rd_box_whole (rank, size);
  for (size_t i = 0; i < rank; i++)
    stream.order[i] = i;
  return stream;
}

static void
assert_slabs (size_t rank, const uint64_t *size, const uint64_t *tile,
              uint64_t target, uint64_t max, size_t cut, uint64_t step)
{
  struct rd_stream stream = stream_of (rank, size, 2);
  struct rd_slabs slabs;
  rd_slabs_choose (&stream, tile, target, max, &slabs);
  assert_int_equal (slabs.cut, cut);
  assert_int_equal (slabs.step, step);
}

static void
slabs_are_layers_of_whole_tiles (void **state)
{
  (void) state;
  const uint64_t ct[] = { 300, 512, 512 }, tile[] = { 8, 64, 64 };
  /* A plane has 512 KiB. */
  assert_slabs (3, ct, tile, 16 << 20, 128 << 20, 0, 32);
  assert_slabs (3, ct, tile, 5 << 20, 128 << 20, 0, 8);
  /* One layer is above the target, but still below the limit. */
  assert_slabs (3, ct, tile, 1 << 20, 128 << 20, 0, 8);
}

static void
a_layer_that_memory_forbids_is_cut (void **state)
{
  (void) state;
  const uint64_t ct[] = { 300, 512, 512 }, tile[] = { 8, 64, 64 };
  /* Eight whole planes do not fit, but four. */
  assert_slabs (3, ct, tile, 1 << 20, 2 << 20, 0, 4);
  /* Not even one; rows of tiles do. */
  assert_slabs (3, ct, tile, 100 << 10, 128 << 10, 1, 64);
  /* Not even a row: a part of one. */
  assert_slabs (3, ct, tile, 100, 100, 2, 50);
  assert_slabs (3, ct, tile, 1, 1, 2, 1);
}

static void
axes_of_thin_tiles_are_cut_for_nothing (void **state)
{
  (void) state;
  const uint64_t fmri[] = { 200, 40, 64, 64 }, tile[] = { 1, 8, 64, 64 };
  assert_slabs (4, fmri, tile, 400 << 10, 128 << 20, 0, 1);
  assert_slabs (4, fmri, tile, 100 << 10, 128 << 20, 1, 8);
}

static void
sizes_that_wrap_do_not_lead_astray (void **state)
{
  (void) state;
  const uint64_t huge[] = { UINT64_C (1) << 40, UINT64_C (1) << 40, 9 };
  const uint64_t tile[] = { UINT64_C (1) << 39, UINT64_C (1) << 39, 9 };
  struct rd_stream stream = stream_of (3, huge, 8);
  struct rd_slabs slabs;
  rd_slabs_choose (&stream, tile, 1 << 20, 2 << 20, &slabs);
  assert_int_equal (slabs.cut, 1);
  assert_int_equal (slabs.step, (2 << 20) / 72);
}

/* All slabs of a box cover it once, in the order of the run of bytes. */
static void
assert_covers (const struct rd_stream *stream, const struct rd_slabs *slabs)
{
  struct radio_box slab;
  uint64_t covered = 0;
  rd_slabs_first (stream, slabs, &slab);
  do {
    assert_true (radio_box_count (&slab) > 0);
    assert_true (slab.size[stream->order[slabs->cut]] <= slabs->step);
    /* The place of the slab's first element in the run. */
    uint64_t place = 0;
    for (size_t i = 0; i < stream->box.rank; i++) {
      size_t axis = stream->order[i];
      assert_true (slab.start[axis] >= stream->box.start[axis]);
      place = place * stream->box.size[axis]
              + slab.start[axis] - stream->box.start[axis];
    }
    assert_int_equal (place, covered);
    covered += radio_box_count (&slab);
  } while (rd_slabs_next (stream, slabs, &slab));
  assert_int_equal (covered, radio_box_count (&stream->box));
}

static void
slabs_cover_a_box_once_and_in_order (void **state)
{
  (void) state;
  struct rd_stream stream = {
    .item_nbytes = 1,
    .box = { 4, { 3, 5, 7, 1 }, { 2, 9, 4, 6 } },
    .order = { 1, 0, 2, 3 },
  };
  for (size_t cut = 0; cut < 4; cut++)
    for (uint64_t step = 1; step < 12; step++)
      assert_covers (&stream, &(struct rd_slabs) { cut, step });
}

/* Arrays. */

/* The i-th element of a test's array: bytes that differ everywhere. */
static void
element_at (uint64_t i, size_t nbytes, unsigned char *to)
{
  uint64_t h = (i + 1) * UINT64_C (0x9e3779b97f4a7c15);
  for (size_t k = 0; k < nbytes; k++)
    to[k] = (unsigned char) (h >> (k % 8 * 8) ^ k / 8);
}

static void
put_chunk (struct radio_store *store, const struct radio_array_info *info,
           const struct radio_box *grid, const uint64_t *at)
{
  struct radio_box cell = rd_grid_cell (info->rank, info->chunk_shape, at);
  size_t nbytes = radio_box_count (&cell) * info->item_nbytes;
  unsigned char *chunk = calloc (1, nbytes), *to = chunk;
  assert_non_null (chunk);
  uint64_t c[RADIO_MAX_RANK];
  memcpy (c, cell.start, sizeof c);
  do {
    uint64_t i = 0;
    bool inside = true;
    for (size_t k = 0; k < info->rank; k++) {
      i = i * info->shape[k] + c[k];
      inside = inside && c[k] < info->shape[k];
    }
    if (inside)
      element_at (i, info->item_nbytes, to);
    to += info->item_nbytes;
  } while (rd_box_next (&cell, c));
  char key[128] = "a/c";
  for (size_t k = 0; k < grid->rank; k++)
    snprintf (key + strlen (key), sizeof key - strlen (key), "/%" PRIu64,
              at[k]);
  assert_ok (rd_io_put (store->io, key, chunk, nbytes, RD_PUT_REPLACE));
  free (chunk);
}

struct fixture {
  struct radio_store *store;
  struct radio_array *array;
  struct radio_array_info info;
};

static void
open_store (struct fixture *f, uint64_t limit_nbytes)
{
  const struct radio_context_options how = {
    .nthreads = 2, .memory_limit_nbytes = limit_nbytes,
  };
  struct radio_context *context;
  assert_ok (radio_context_open (&how, &context));
  const struct radio_store_options options = {
    .context = context, .create = true,
  };
  assert_ok (radio_store_open ("memory:", &options, &f->store));
  radio_context_close (context);
}

static void
make_array (struct fixture *f, const char *type, size_t rank,
            const uint64_t *shape, const uint64_t *chunk)
{
  struct radio_array_options options = {
    .rank = rank, .data_type = type,
    .codecs_json = strcmp (type, "uint8") == 0 || type[0] == 'r'
      || strcmp (type, "bool") == 0
      ? "[{\"name\": \"bytes\"}]"
      : "[{\"name\": \"bytes\", \"configuration\": {\"endian\": "
        "\"" MACHINE_ENDIAN "\"}}]",
  };
  memcpy (options.shape, shape, rank * sizeof *shape);
  memcpy (options.chunk_shape, chunk, rank * sizeof *shape);
  assert_ok (radio_array_create (f->store, "a", &options, &f->array));
  radio_array_get_info (f->array, &f->info);
}

static void
put_all_chunks (struct fixture *f)
{
  struct radio_box all = rd_box_whole (f->info.rank, f->info.shape), grid;
  rd_grid_touched (&all, f->info.chunk_shape, &grid);
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  do
    put_chunk (f->store, &f->info, &grid, at);
  while (rd_box_next (&grid, at));
}

static void
open_fixture (struct fixture *f, const char *type, size_t rank,
              const uint64_t *shape, const uint64_t *chunk, uint64_t limit)
{
  open_store (f, limit);
  make_array (f, type, rank, shape, chunk);
  put_all_chunks (f);
}

static void
close_fixture (struct fixture *f)
{
  radio_array_close (f->array);
  radio_store_close (f->store);
}

#define FIXTURE_SCOPE RD_CLEANUP (close_fixture)

static const uint64_t small_shape[] = { 7, 11, 13 };
static const uint64_t small_chunk[] = { 3, 4, 5 };

/* Compares the bytes with the elements in a stream's order. */
struct comparing {
  const struct rd_stream *stream;
  const uint64_t *shape;
  uint64_t at[RADIO_MAX_RANK];        /* of the next element, by place */
  uint64_t count;
  unsigned fail_at_call;
};

static enum radio_status
compare_elements (void *user_data, void *data, size_t nbytes)
{
  struct comparing *c = user_data;
  const struct rd_stream *stream = c->stream;
  if (c->fail_at_call > 0 && --c->fail_at_call == 0)
    return rd_fail (RADIO_ERROR_NO_SPACE, "taking failed");
  unsigned char wanted[64];
  for (size_t i = 0; i < nbytes; i += stream->item_nbytes) {
    uint64_t index = 0, where[RADIO_MAX_RANK];
    for (size_t k = 0; k < stream->box.rank; k++)
      where[stream->order[k]] = c->at[k];
    for (size_t k = 0; k < stream->box.rank; k++)
      index = index * c->shape[k] + stream->box.start[k] + where[k];
    element_at (index, stream->item_nbytes, wanted);
    assert_memory_equal ((unsigned char *) data + i, wanted,
                         stream->item_nbytes);
    c->count++;
    for (size_t k = stream->box.rank; k-- > 0;) {
      if (++c->at[k] < stream->box.size[stream->order[k]])
        break;
      c->at[k] = 0;
    }
  }
  return RADIO_OK;
}

static void
assert_streams (struct fixture *f, const struct radio_box *box,
                const size_t *order)
{
  struct rd_stream stream = {
    .array = f->array, .box = *box, .dtype = f->info.dtype,
    .item_nbytes = f->info.item_nbytes,
  };
  memcpy (stream.order, order, box->rank * sizeof *order);
  struct comparing comparing = { .stream = &stream, .shape = f->info.shape };
  assert_ok (rd_stream_run (&stream, compare_elements, &comparing));
  assert_int_equal (comparing.count, radio_box_count (box));
}

static void
any_order_of_axes_is_delivered (void **state)
{
  (void) state;
  FIXTURE_SCOPE struct fixture f;
  open_fixture (&f, "int16", 3, small_shape, small_chunk, 0);
  const struct radio_box all = rd_box_whole (3, small_shape),
    part = radio_box3 (2, 4, 3, 8, 1, 9), one = radio_box3 (6, 1, 10, 1, 12, 1);
  static const size_t orders[][3] = {
    { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 }, { 1, 0, 2 },
  };
  for (size_t i = 0; i < 4; i++) {
    assert_streams (&f, &all, orders[i]);
    assert_streams (&f, &part, orders[i]);
    assert_streams (&f, &one, orders[i]);
  }
}

static void
small_memory_only_makes_more_slabs (void **state)
{
  (void) state;
  static const uint64_t shape[] = { 20, 60, 70 }, chunk[] = { 6, 10, 20 };
  static const size_t order[] = { 0, 1, 2 }, other[] = { 2, 0, 1 };
  for (uint64_t limit = 64 << 10; limit <= 1 << 20; limit *= 4) {
    FIXTURE_SCOPE struct fixture f;
    open_fixture (&f, "uint64", 3, shape, chunk, limit);
    const struct radio_box all = rd_box_whole (3, shape);
    assert_streams (&f, &all, order);
    assert_streams (&f, &all, other);
  }
}

static void
a_failure_of_taking_ends_the_stream (void **state)
{
  (void) state;
  static const uint64_t shape[] = { 20, 60, 70 }, chunk[] = { 6, 10, 20 };
  FIXTURE_SCOPE struct fixture f;
  open_fixture (&f, "uint64", 3, shape, chunk, 128 << 10);
  struct rd_stream stream = stream_of (3, shape, 8);
  stream.array = f.array;
  stream.dtype = RADIO_UINT64;
  for (unsigned call = 1; call <= 3; call++) {
    struct comparing comparing = { .stream = &stream, .shape = shape,
                                   .fail_at_call = call };
    assert_fails (rd_stream_run (&stream, compare_elements, &comparing),
                  RADIO_ERROR_NO_SPACE, "taking failed");
    assert_int_equal (comparing.fail_at_call, 0);
  }
}

static void
a_failure_of_reading_ends_the_stream (void **state)
{
  (void) state;
  static const uint64_t shape[] = { 20, 60, 70 }, chunk[] = { 6, 10, 20 };
  FIXTURE_SCOPE struct fixture f;
  open_fixture (&f, "uint64", 3, shape, chunk, 128 << 10);
  assert_ok (rd_io_put (f.store->io, "a/c/2/3/1", "short", 5,
                        RD_PUT_REPLACE));
  struct rd_stream stream = stream_of (3, shape, 8);
  stream.array = f.array;
  stream.dtype = RADIO_UINT64;
  struct comparing comparing = { .stream = &stream, .shape = shape };
  assert_fails (rd_stream_run (&stream, compare_elements, &comparing),
                RADIO_ERROR_FORMAT, "a/c/2/3/1");
}

/* Exporting arrays. */

static void
assert_npy (const struct fixture *f, const struct radio_box *box,
            const char *file, const char *descr)
{
  FILE *stream = fopen (file, "rb");
  assert_non_null (stream);
  char header[128];
  assert_int_equal (fread (header, 1, 128, stream), 128);
  assert_non_null (strstr (header + 10, descr));
  assert_non_null (strstr (header + 10, "'fortran_order': False"));
  uint64_t at[RADIO_MAX_RANK];
  memcpy (at, box->start, sizeof at);
  unsigned char got[64], wanted[64];
  do {
    uint64_t i = 0;
    for (size_t k = 0; k < box->rank; k++)
      i = i * f->info.shape[k] + at[k];
    element_at (i, f->info.item_nbytes, wanted);
    assert_int_equal (fread (got, f->info.item_nbytes, 1, stream), 1);
    assert_memory_equal (got, wanted, f->info.item_nbytes);
  } while (rd_box_next (box, at));
  assert_int_equal (fgetc (stream), EOF);
  fclose (stream);
}

static void
arrays_of_any_type_are_exported_as_stored (void **state)
{
  (void) state;
  static const struct {
    const char *type, *descr;
  } types[] = {
    { "uint8", "'descr': '|u1'" },
    { "int16", "'descr': " NPY_NATIVE ("i2") },
    { "int64", "'descr': " NPY_NATIVE ("i8") },
    { "float16", "'descr': " NPY_NATIVE ("f2") },
    { "float64", "'descr': " NPY_NATIVE ("f8") },
    { "complex64", "'descr': " NPY_NATIVE ("c8") },
    { "complex128", "'descr': " NPY_NATIVE ("c16") },
    { "r24", "'descr': '|V3'" },
  };
  const struct radio_box all = rd_box_whole (3, small_shape),
    part = radio_box3 (2, 4, 3, 8, 1, 9);
  const struct radio_export_options again = { .overwrite = true };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    FIXTURE_SCOPE struct fixture f;
    open_fixture (&f, types[i].type, 3, small_shape, small_chunk, 0);
    assert_ok (radio_array_export (f.array, NULL, "a.npy", &again));
    assert_npy (&f, &all, "a.npy", types[i].descr);
    assert_ok (radio_array_export (f.array, &part, "a.npy", &again));
    assert_npy (&f, &part, "a.npy", types[i].descr);
  }
}

static void
arrays_of_any_rank_are_exported (void **state)
{
  (void) state;
  static const uint64_t shape[] = { 5, 1, 3, 2, 2, 1, 2, 3 };
  static const uint64_t chunk[] = { 2, 1, 2, 2, 1, 1, 2, 2 };
  const struct radio_export_options again = { .overwrite = true };
  for (size_t rank = 1; rank <= RADIO_MAX_RANK; rank++) {
    FIXTURE_SCOPE struct fixture f;
    open_fixture (&f, "uint32", rank, shape, chunk, 0);
    const struct radio_box all = rd_box_whole (rank, shape);
    assert_ok (radio_array_export (f.array, NULL, "a.npy", &again));
    assert_npy (&f, &all, "a.npy", NPY_NATIVE ("u4"));
  }
}

static void
an_impossible_export_leaves_no_file (void **state)
{
  (void) state;
  FIXTURE_SCOPE struct fixture f;
  open_fixture (&f, "int16", 3, small_shape, small_chunk, 0);
  const struct radio_box outside = radio_box3 (5, 3, 0, 1, 0, 1);
  const struct radio_export_options scaled = { .scaled = true };
  assert_fails (radio_array_export (f.array, NULL, "a.txt", NULL),
                RADIO_ERROR_ARGUMENT, "a.txt");
  assert_fails (radio_array_export (f.array, NULL, "a.nii", NULL),
                RADIO_ERROR_ARGUMENT, ".npy");
  assert_fails (radio_array_export (f.array, NULL, "a.npy", &scaled),
                RADIO_ERROR_ARGUMENT, "unscaled");
  assert_fails (radio_array_export (f.array, &outside, "a.npy", NULL),
                RADIO_ERROR_ARGUMENT, "box");
  assert_ok (rd_io_put (f.store->io, "a/c/2/0/0", "x", 1, RD_PUT_REPLACE));
  assert_fails (radio_array_export (f.array, NULL, "a.npy", NULL),
                RADIO_ERROR_FORMAT, "a/c/2/0/0");
  assert_int_equal (access ("a.npy", F_OK), -1);
  assert_fails (radio_array_export (NULL, NULL, "a.npy", NULL),
                RADIO_ERROR_ARGUMENT, "NULL");
}

static void
an_empty_array_is_a_header_alone (void **state)
{
  (void) state;
  static const uint64_t shape[] = { 4, 0, 3 }, chunk[] = { 2, 2, 2 };
  FIXTURE_SCOPE struct fixture f;
  open_store (&f, 0);
  make_array (&f, "int16", 3, shape, chunk);
  assert_ok (radio_array_export (f.array, NULL, "e.npy", NULL));
  FILE *stream = fopen ("e.npy", "rb");
  assert_non_null (stream);
  char header[129];
  assert_int_equal (fread (header, 1, 129, stream), 128);
  fclose (stream);
  assert_non_null (strstr (header + 10, "(4, 0, 3)"));
}

/* Statistics of arrays. */

static void
an_array_is_counted_whole_and_once (void **state)
{
  (void) state;
  static const uint64_t shape[] = { 20, 60, 70 }, chunk[] = { 6, 10, 20 };
  FIXTURE_SCOPE struct fixture f;
  open_fixture (&f, "uint8", 3, shape, chunk, 1 << 20);
  uint64_t sum = 0, histogram[RADIO_STATS_NBINS] = { 0 };
  for (uint64_t i = 0; i < 20 * 60 * 70; i++) {
    unsigned char value;
    element_at (i, 1, &value);
    sum += value;
    histogram[value * 64 / 255 - (value == 255)]++;
  }
  struct radio_stats stats;
  assert_ok (radio_array_stats (f.array, &stats));
  assert_int_equal (stats.count, 20 * 60 * 70);
  assert_true (stats.min == 0 && stats.max == 255);
  double mean = (double) sum / (20 * 60 * 70);
  assert_true (stats.mean - mean < 1e-11 && mean - stats.mean < 1e-11);
  assert_memory_equal (stats.histogram, histogram, sizeof histogram);
}

static void
missing_chunks_count_as_the_fill_value (void **state)
{
  (void) state;
  FIXTURE_SCOPE struct fixture f;
  open_store (&f, 64 << 20);
  make_array (&f, "float32", 3, small_shape, small_chunk);
  struct radio_stats stats;
  assert_ok (radio_array_stats (f.array, &stats));
  assert_int_equal (stats.count, 7 * 11 * 13);
  assert_true (stats.min == 0 && stats.max == 0 && stats.std == 0);
}

static void
statistics_that_cannot_be_are_refused (void **state)
{
  (void) state;
  static const uint64_t huge[] = { UINT64_C (1) << 40, 256 };
  static const uint64_t chunk[] = { 16, 16 };
  struct radio_stats stats;
  FIXTURE_SCOPE struct fixture f;
  open_store (&f, 1 << 20);
  make_array (&f, "uint8", 2, huge, chunk);
  assert_fails (radio_array_stats (f.array, &stats), RADIO_ERROR_LIMIT,
                "281474976710656 elements");
  FIXTURE_SCOPE struct fixture g;
  open_store (&g, 1 << 20);
  make_array (&g, "complex64", 3, small_shape, small_chunk);
  assert_fails (radio_array_stats (g.array, &stats),
                RADIO_ERROR_UNSUPPORTED, "a: the type is complex64");
  FIXTURE_SCOPE struct fixture h;
  open_store (&h, 1 << 20);
  make_array (&h, "int32", 3, small_shape, small_chunk);
  assert_fails (radio_array_stats (h.array, &stats), RADIO_ERROR_LIMIT,
                "a: counting values needs ");
}

#define FOLDER_TEST(f) \
  cmocka_unit_test_setup_teardown (f, enter_folder, leave_folder)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (slabs_are_layers_of_whole_tiles),
    cmocka_unit_test (a_layer_that_memory_forbids_is_cut),
    cmocka_unit_test (axes_of_thin_tiles_are_cut_for_nothing),
    cmocka_unit_test (sizes_that_wrap_do_not_lead_astray),
    cmocka_unit_test (slabs_cover_a_box_once_and_in_order),
    cmocka_unit_test (any_order_of_axes_is_delivered),
    cmocka_unit_test (small_memory_only_makes_more_slabs),
    cmocka_unit_test (a_failure_of_taking_ends_the_stream),
    cmocka_unit_test (a_failure_of_reading_ends_the_stream),
    FOLDER_TEST (arrays_of_any_type_are_exported_as_stored),
    FOLDER_TEST (arrays_of_any_rank_are_exported),
    FOLDER_TEST (an_impossible_export_leaves_no_file),
    FOLDER_TEST (an_empty_array_is_a_header_alone),
    cmocka_unit_test (an_array_is_counted_whole_and_once),
    cmocka_unit_test (missing_chunks_count_as_the_fill_value),
    cmocka_unit_test (statistics_that_cannot_be_are_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
