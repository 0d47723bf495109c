/* SPDX-License-Identifier: MIT */
/* Making random arrays, and the naive way of reading them. */
#include <config.h>

#include "tests/array/model.h"
#include "tests/element/random.h"

#include "tests/io/deferred.h"
#include "src/array/context.h"

uint64_t
model_below (struct model *model, uint64_t n)
{
  return random_next (&model->seed) % n;
}

static const struct {
  const char *name;
  size_t nbytes, unit;
} types[] = {
  { "bool", 1, 1 }, { "int8", 1, 1 }, { "uint8", 1, 1 },
  { "int16", 2, 2 }, { "uint16", 2, 2 }, { "float16", 2, 2 },
  { "int32", 4, 4 }, { "uint32", 4, 4 }, { "float32", 4, 4 },
  { "int64", 8, 8 }, { "uint64", 8, 8 }, { "float64", 8, 8 },
  { "complex64", 8, 4 }, { "complex128", 16, 8 }, { "r24", 3, 1 },
};
#define NTYPES (sizeof types / sizeof types[0])

static size_t
find_type (const char *name)
{
  size_t i = 0;
  while (i < NTYPES && strcmp (types[i].name, name) != 0)
    i++;
  assert_true (i < NTYPES);
  return i;
}

/* Text that grows in model->codecs. */
static void
put (struct model *model, const char *text)
{
  size_t used = strlen (model->codecs), nbytes = strlen (text);
  assert_true (used + nbytes < sizeof model->codecs);
  memcpy (model->codecs + used, text, nbytes + 1);
}

static void
put_list (struct model *model, const uint64_t *numbers, size_t n)
{
  char text[24];
  put (model, "[");
  for (size_t i = 0; i < n; i++) {
    snprintf (text, sizeof text, "%s%u", i ? "," : "",
              (unsigned) numbers[i]);
    put (model, text);
  }
  put (model, "]");
}

/* From here on the shape is seen with its axes in the new order. */
static void
put_transpose (struct model *model, size_t rank, uint64_t *shape)
{
  uint64_t order[RADIO_MAX_RANK] = { 0 }, old[RADIO_MAX_RANK];
  for (size_t i = 0; i < rank; i++) {
    size_t j = model_below (model, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  put (model, "{\"name\":\"transpose\",\"configuration\":{\"order\":");
  put_list (model, order, rank);
  put (model, "}},");
  memcpy (old, shape, rank * sizeof *old);
  for (size_t i = 0; i < rank; i++)
    shape[i] = old[order[i]];
}

static void
put_bytes (struct model *model, size_t unit)
{
  static const char *const endian[] = { "little", "big" };
  if (unit == 1) {
    put (model, "{\"name\":\"bytes\"}");
    return;
  }
  put (model, "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"");
  put (model, endian[model_below (model, 2)]);
  put (model, "\"}}");
}

static void
put_compressors (struct model *model)
{
  static const char *const some[] = {
    "",
    ",{\"name\":\"crc32c\"}",
    ",{\"name\":\"zstd\",\"configuration\":{\"level\":1,"
    "\"checksum\":false}}",
    ",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}",
    ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\","
    "\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":2,"
    "\"blocksize\":0}},{\"name\":\"crc32c\"}",
    ",{\"name\":\"zstd\",\"configuration\":{\"level\":3,"
    "\"checksum\":true}},{\"name\":\"crc32c\"}",
  };
  put (model, some[model_below (model, sizeof some / sizeof some[0])]);
}

/* A list of codecs for chunks of this shape; inner shapes divide it. */
static void
put_codecs (struct model *model, size_t rank, const uint64_t *outer,
            size_t unit, unsigned depth)
{
  uint64_t inner[RADIO_MAX_RANK], shape[RADIO_MAX_RANK];
  memcpy (shape, outer, rank * sizeof *shape);
  put (model, "[");
  bool sharded = depth > 0 && model_below (model, 4) > 0;
  if (model_below (model, 5) == 0)
    put_transpose (model, rank, shape);
  if (!sharded) {
    put_bytes (model, unit);
    put_compressors (model);
    put (model, "]");
    return;
  }
  for (size_t i = 0; i < rank; i++) {
    inner[i] = 1 + model_below (model, shape[i]);
    while (shape[i] % inner[i])
      inner[i]--;
  }
  put (model, "{\"name\":\"sharding_indexed\",\"configuration\":"
       "{\"chunk_shape\":");
  put_list (model, inner, rank);
  put (model, ",\"codecs\":");
  put_codecs (model, rank, inner, unit, depth - 1);
  put (model, ",\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"
       "{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],"
       "\"index_location\":");
  put (model, model_below (model, 3) ? "\"end\"}}" : "\"start\"}}");
  if (model_below (model, 8) == 0)
    put_compressors (model);
  put (model, "]");
}

/* Small on each axis, the more of them the smaller. */
static void
choose_shape (struct model *model)
{
  static const uint64_t most[] = { 0, 3000, 60, 20, 9, 7, 5, 4, 3 };
  struct radio_array_options *options = &model->options;
  options->rank = 1 + model_below (model, RADIO_MAX_RANK);
  for (size_t i = 0; i < options->rank; i++) {
    options->shape[i] = 1 + model_below (model, most[options->rank]);
    options->chunk_shape[i]
      = 1 + model_below (model, 3 * most[options->rank] / 2);
  }
}

static void
choose_options (struct model *model)
{
  struct radio_array_options *options = &model->options;
  choose_shape (model);
  size_t type = model_below (model, NTYPES);
  options->data_type = types[type].name;
  options->chunk_key_encoding = model_below (model, 3) ? "default" : "v2";
  options->separator = model_below (model, 2) ? '/' : '.';
  put_codecs (model, options->rank, options->chunk_shape, types[type].unit,
              2);
  options->codecs_json = model->codecs;
  /* For these types 7 is easily had as bytes, too. */
  if (strcmp (options->data_type, "uint8") == 0
      || strcmp (options->data_type, "int16") == 0
      || strcmp (options->data_type, "uint32") == 0) {
    static const union { uint32_t number; unsigned char bytes[4]; } seven
      = { 7 };
    options->fill_value_json = "7";
    memcpy (model->fill, seven.bytes, sizeof seven.bytes);
    if (types[type].nbytes == 2) {
      int16_t number = 7;
      memcpy (model->fill, &number, sizeof number);
    } else if (types[type].nbytes == 1)
      model->fill[0] = 7;
  }
}

static struct radio_store *
open_store (struct model *model, unsigned nthreads, bool deferred)
{
  const struct radio_context_options threads = { .nthreads = nthreads };
  assert_ok (radio_context_open (&threads, &model->context));
  const struct radio_store_options options = { .context = model->context,
                                               .create = true };
  struct rd_io *io;
  assert_ok (rd_io_open ("memory:", true, &io));
  if (deferred)
    assert_ok (rd_io_deferred_open (io, model->seed, &io));
  struct radio_store *store;
  assert_ok (rd_store_open_io (io, &options, &store));
  return store;
}

static void
make_elements (struct model *model)
{
  model->count = 1;
  for (size_t i = 0; i < model->info.rank; i++)
    model->count *= model->info.shape[i];
  size_t item = model->info.item_nbytes;
  model->elements = malloc (model->count * item + 1);
  assert_non_null (model->elements);
  for (size_t i = 0; i < model->count; i++)
    memcpy (model->elements + i * item, model->fill, item);
}

void
model_open_as (struct model *model, uint64_t seed, unsigned nthreads,
               bool deferred, const struct radio_array_options *options)
{
  memset (model, 0, sizeof *model);
  model->seed = seed;
  if (options)
    model->options = *options;
  else
    choose_options (model);
  model->store = open_store (model, nthreads, deferred);
  assert_ok (radio_array_create (model->store, "some/array",
                                 &model->options, &model->array));
  radio_array_get_info (model->array, &model->info);
  assert_int_equal (model->info.item_nbytes,
                    types[find_type (model->options.data_type)].nbytes);
  make_elements (model);
}

void
model_open (struct model *model, uint64_t seed, unsigned nthreads,
            bool deferred)
{
  model_open_as (model, seed, nthreads, deferred, NULL);
}

void
model_close (struct model *model)
{
  radio_array_close (model->array);
  radio_store_close (model->store);
  radio_context_close (model->context);
  free (model->elements);
}

static size_t
offset_of (const struct model *model, const uint64_t *at)
{
  size_t offset = 0;
  for (size_t i = 0; i < model->info.rank; i++)
    offset = offset * model->info.shape[i] + at[i];
  return offset * model->info.item_nbytes;
}

const unsigned char *
model_element (const struct model *model, const uint64_t *at)
{
  return model->elements + offset_of (model, at);
}

/* Step through a box; false after its last point. */
static bool
step (const struct radio_box *box, uint64_t *at)
{
  for (size_t i = box->rank; i-- > 0;) {
    if (++at[i] < box->start[i] + box->size[i])
      return true;
    at[i] = box->start[i];
  }
  return false;
}

static bool
is_empty (const struct radio_box *box)
{
  for (size_t i = 0; i < box->rank; i++)
    if (box->size[i] == 0)
      return true;
  return false;
}

/* New elements in a box: noise, runs of one value, or the fill value. */
static void
change_elements (struct model *model, const struct radio_box *box)
{
  uint64_t at[RADIO_MAX_RANK], kind = model_below (model, 4), value = 0;
  size_t item = model->info.item_nbytes;
  memcpy (at, box->start, sizeof at);
  do {
    unsigned char *element = model->elements + offset_of (model, at);
    if (kind == 0)
      memcpy (element, model->fill, item);
    else {
      if (kind == 1 || model_below (model, 8) == 0)
        value = random_next (&model->seed);
      for (size_t i = 0; i < item; i++)
        element[i] = (unsigned char) (value >> 8 * (i % 8));
      if (model->info.dtype == RADIO_BOOL)
        element[0] &= 1;
    }
  } while (step (box, at));
}

static void
write_box (struct model *model, const struct radio_box *box)
{
  if (is_empty (box))
    return;
  size_t item = model->info.item_nbytes;
  unsigned char *packed = malloc (radio_box_count (box) * item);
  unsigned char *to = packed;
  uint64_t at[RADIO_MAX_RANK];
  assert_non_null (packed);
  memcpy (at, box->start, sizeof at);
  do {
    memcpy (to, model_element (model, at), item);
    to += item;
  } while (step (box, at));
  assert_ok (radio_array_write (model->array, box, packed,
                                radio_box_count (box) * item));
  free (packed);
}

void
model_write (struct model *model)
{
  const struct radio_array_info *info = &model->info;
  struct radio_box box = { .rank = info->rank };
  memcpy (box.size, info->shape, sizeof box.size);
  bool by_rows = model_below (model, 2) == 0;
  if (!by_rows) {
    change_elements (model, &box);
    write_box (model, &box);
    return;
  }
  for (uint64_t z = 0; z < info->shape[0]; z += info->chunk_shape[0]) {
    uint64_t left = info->shape[0] - z;
    box.start[0] = z;
    box.size[0] = left < info->chunk_shape[0] ? left : info->chunk_shape[0];
    if (model_below (model, 5) == 0)
      continue;                       /* never written: fill value */
    change_elements (model, &box);
    write_box (model, &box);
  }
}

struct radio_box
model_box (struct model *model)
{
  struct radio_box box = { .rank = model->info.rank };
  for (size_t i = 0; i < box.rank; i++) {
    uint64_t shape = model->info.shape[i];
    box.start[i] = model_below (model, shape);
    box.size[i] = 1 + model_below (model, shape - box.start[i]);
    if (model_below (model, 60) == 0)
      box.size[i] = 0;
    if (model_below (model, 3) == 0) {
      box.start[i] = 0;
      box.size[i] = shape;
    }
  }
  return box;
}

/* Memory for a box whose axes lie in some order, some of them backwards,
 * with gaps; bytes between the elements must stay. */
struct memory {
  unsigned char *data;
  size_t nbytes;
  size_t start;                       /* where the box's start lies */
  int64_t strides[RADIO_MAX_RANK];
};

static void
memory_open (struct memory *memory, struct model *model,
             const struct radio_box *box)
{
  size_t order[RADIO_MAX_RANK];
  size_t length = model->info.item_nbytes + model_below (model, 3);
  memory->start = 0;
  for (size_t i = 0; i < box->rank; i++) {
    size_t j = model_below (model, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  for (size_t i = 0; i < box->rank; i++) {
    size_t axis = order[i];
    memory->strides[axis] = (int64_t) length;
    if (model_below (model, 3) == 0 && box->size[axis] > 0) {
      memory->start += length * (box->size[axis] - 1);
      memory->strides[axis] = -(int64_t) length;
    }
    length = length * (box->size[axis] + model_below (model, 2)) + 1;
  }
  memory->nbytes = length + model->info.item_nbytes;
  memory->data = malloc (memory->nbytes);
  assert_non_null (memory->data);
  memset (memory->data, 0xc7, memory->nbytes);
}

void
model_compare (struct model *model, const struct radio_box *box)
{
  struct memory memory;
  memory_open (&memory, model, box);
  unsigned char *expected = malloc (memory.nbytes);
  assert_non_null (expected);
  memcpy (expected, memory.data, memory.nbytes);
  const struct radio_read_options options = { .strides = memory.strides };
  assert_ok (radio_array_read (model->array, box, RADIO_STORED,
                               memory.data + memory.start, 0, &options));
  uint64_t at[RADIO_MAX_RANK];
  memcpy (at, box->start, sizeof at);
  if (!is_empty (box))
    do {
      int64_t to = (int64_t) memory.start;
      for (size_t i = 0; i < box->rank; i++)
        to += (int64_t) (at[i] - box->start[i]) * memory.strides[i];
      memcpy (expected + to, model_element (model, at),
              model->info.item_nbytes);
    } while (step (box, at));
  assert_memory_equal (memory.data, expected, memory.nbytes);
  free (expected);
  free (memory.data);
}

void
model_compare_c_order (const struct model *model,
                       const struct radio_box *box,
                       const unsigned char *delivered)
{
  uint64_t at[RADIO_MAX_RANK];
  size_t item = model->info.item_nbytes;
  memcpy (at, box->start, sizeof at);
  if (is_empty (box))
    return;
  do {
    assert_memory_equal (delivered, model_element (model, at), item);
    delivered += item;
  } while (step (box, at));
}
