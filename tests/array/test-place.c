/* SPDX-License-Identifier: MIT */
/* Tiles on their way to the caller: elements of every size, shuffled or not,
 * go straight into rows of the caller's memory, or by way of a whole tile
 * where the memory does not allow that. */
#include <config.h>

#include "tests/array/model.h"

/* Codecs of tiles of 6 x 16 x 24 in shards of 12 x 32 x 48. */
static const char codecs_format[] =
  "[{\"name\":\"sharding_indexed\",\"configuration\":{"
  "\"chunk_shape\":[6,16,24],\"codecs\":[%s%s,{\"name\":\"blosc\","
  "\"configuration\":{\"cname\":\"%s\",\"clevel\":5,\"shuffle\":\"%s\","
  "\"typesize\":%u,\"blocksize\":%u}},{\"name\":\"crc32c\"}],"
  "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":"
  "\"little\"}},{\"name\":\"crc32c\"}],\"index_location\":\"end\"}}]";

static const struct type {
  const char *name;
  unsigned nbytes;
} types[] = {
  { "uint8", 1 }, { "int16", 2 }, { "r24", 3 }, { "float32", 4 },
  { "uint64", 8 }, { "complex128", 16 },
};

static const char *const shuffles[] = { "noshuffle", "shuffle",
                                        "bitshuffle" };

struct frame {
  const char *cname;
  const char *transpose;      /* or "" */
  const char *endian;
  unsigned typesize;          /* 0: the item's */
  unsigned blocksize;         /* 0: all */
};

static void
open_model (struct model *model, uint64_t seed, const struct type *type,
            const char *shuffle, const struct frame *frame)
{
  char codecs[1024], bytes[80] = "{\"name\":\"bytes\"}";
  struct radio_array_options options = {
    .rank = 3, .shape = { 25, 60, 70 }, .chunk_shape = { 12, 32, 48 },
    .data_type = type->name, .codecs_json = codecs,
  };
  unsigned typesize = frame->typesize ? frame->typesize : type->nbytes;
  if (type->nbytes != 1 && type->nbytes != 3)
    snprintf (bytes, sizeof bytes, "{\"name\":\"bytes\",\"configuration\":"
              "{\"endian\":\"%s\"}}", frame->endian);
  snprintf (codecs, sizeof codecs, codecs_format, frame->transpose, bytes,
            frame->cname, shuffle, typesize, frame->blocksize);
  model_open_as (model, seed, 1, false, &options);
  model_write (model);
}

/* Memory as images have it: C order with gaps between rows and planes. */
static void
check_rows (struct model *model, const struct radio_box *box)
{
  size_t item = model->info.item_nbytes, row_nbytes = box->size[2] * item;
  size_t row = row_nbytes + 5, plane = box->size[1] * row + 11;
  size_t nbytes = plane * box->size[0];
  const int64_t strides[3] = { (int64_t) plane, (int64_t) row,
                               (int64_t) item };
  const struct radio_read_options options = { .strides = strides };
  unsigned char *room = malloc (nbytes), *expected = malloc (nbytes);
  assert_true (room && expected);
  memset (room, 0xe1, nbytes);
  memset (expected, 0xe1, nbytes);
  for (uint64_t z = 0; z < box->size[0]; z++)
    for (uint64_t y = 0; y < box->size[1]; y++) {
      const uint64_t at[3] = { box->start[0] + z, box->start[1] + y,
                               box->start[2] };
      memcpy (expected + z * plane + y * row, model_element (model, at),
              row_nbytes);
    }
  assert_ok (radio_array_read (model->array, box, RADIO_STORED, room, 0,
                               &options));
  assert_memory_equal (room, expected, nbytes);
  free (room);
  free (expected);
}

static void
check_c_order (struct model *model, const struct radio_box *box)
{
  size_t nbytes = radio_box_count (box) * model->info.item_nbytes;
  unsigned char *delivered = malloc (nbytes + 1);
  assert_non_null (delivered);
  assert_ok (radio_array_read (model->array, box, RADIO_STORED, delivered,
                               nbytes, NULL));
  model_compare_c_order (model, box, delivered);
  free (delivered);
}

/* Planes along each axis, lines, points, and random boxes. */
static void
check_boxes (struct model *model)
{
  const struct radio_box whole = { 3, { 0, 0, 0 }, { 25, 60, 70 } };
  for (unsigned thin = 0; thin < 8; thin++) {
    struct radio_box box = whole;
    for (size_t i = 0; i < 3; i++)
      if (thin >> i & 1) {
        box.start[i] = model_below (model, whole.size[i]);
        box.size[i] = 1;
      }
    check_c_order (model, &box);
    check_rows (model, &box);
  }
  for (unsigned i = 0; i < 12; i++) {
    struct radio_box box = model_box (model);
    if (radio_box_count (&box) == 0)
      continue;
    check_c_order (model, &box);
    check_rows (model, &box);
    model_compare (model, &box);
  }
}

static void
check_frames (const struct frame *frame)
{
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    for (size_t s = 0; s < 3; s++) {
      struct model model;
      open_model (&model, 10 * t + s, &types[t], shuffles[s], frame);
      check_boxes (&model);
      model_close (&model);
    }
}

static void
items_of_one_block_come_right (void **state)
{
  (void) state;
  check_frames (&(struct frame) { "lz4", "", "little", 0, 0 });
  check_frames (&(struct frame) { "zstd", "", "little", 0, 0 });
  check_frames (&(struct frame) { "blosclz", "", "little", 0, 0 });
}

static void
items_of_several_blocks_come_right (void **state)
{
  (void) state;
  check_frames (&(struct frame) { "zstd", "", "little", 0, 1024 });
  check_frames (&(struct frame) { "lz4", "", "little", 0, 1024 });
}

static void
items_of_other_sizes_than_shuffled_are_right (void **state)
{
  (void) state;
  check_frames (&(struct frame) { "lz4hc", "", "little", 2, 0 });
  check_frames (&(struct frame) { "lz4", "", "little", 7, 0 });
}

static void
items_in_the_other_byte_order_come_right (void **state)
{
  (void) state;
  check_frames (&(struct frame) { "lz4", "", "big", 0, 0 });
}

static void
items_of_turned_tiles_come_right (void **state)
{
  (void) state;
  check_frames (&(struct frame) {
    "lz4", "{\"name\":\"transpose\",\"configuration\":{\"order\":[2,0,1]}},",
    "little", 0, 0 });
}

/* Values are converted from whole tiles, whatever the filter. */
static void
shuffled_values_are_converted (void **state)
{
  (void) state;
  const struct frame frame = { "lz4", "", "little", 0, 0 };
  for (size_t s = 0; s < 3; s++) {
    struct model model;
    open_model (&model, 90 + s, &types[1], shuffles[s], &frame);
    const struct radio_box box = { 3, { 3, 5, 7 }, { 20, 50, 60 } };
    size_t n = radio_box_count (&box), i = 0;
    double *values = malloc (n * sizeof *values);
    assert_non_null (values);
    assert_ok (radio_array_read (model.array, &box, RADIO_FLOAT64, values,
                                 n * sizeof *values, NULL));
    for (uint64_t z = 3; z < 23; z++)
      for (uint64_t y = 5; y < 55; y++)
        for (uint64_t x = 7; x < 67; x++, i++) {
          int16_t value;
          const uint64_t at[3] = { z, y, x };
          memcpy (&value, model_element (&model, at), sizeof value);
          assert_true (values[i] == value);
        }
    free (values);
    model_close (&model);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (items_of_one_block_come_right),
    cmocka_unit_test (items_of_several_blocks_come_right),
    cmocka_unit_test (items_of_other_sizes_than_shuffled_are_right),
    cmocka_unit_test (items_in_the_other_byte_order_come_right),
    cmocka_unit_test (items_of_turned_tiles_come_right),
    cmocka_unit_test (shuffled_values_are_converted),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
