/* SPDX-License-Identifier: MIT */
/* Writing by layers: what is read back, the bytes of the shards, failures of
 * the store at any time, and writers that give up. */
#include <config.h>

#include <unistd.h>

#include "tests/alloc-peak.h"
#include "tests/unit.h"

#include "tests/io/fault.h"
#include "src/array/write-layers.h"
#include "src/element/box.h"

#define MIB ((size_t) 1 << 20)

/* Three axes, the last shard and the last tiles being cut. */
#define NZ 21
#define NY 10
#define NX 12
#define COUNT (NZ * NY * NX)

#define CODECS(location)                                                \
  "[{\"name\":\"sharding_indexed\",\"configuration\":{"                 \
  "\"chunk_shape\":[2,4,4],\"codecs\":[{\"name\":\"bytes\","            \
  "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],"  \
  "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"            \
  "{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],"                    \
  "\"index_location\":\"" location "\"}}]"

static const struct radio_array_options sharded = {
  .rank = 3, .shape = { NZ, NY, NX }, .chunk_shape = { 8, 12, 12 },
  .data_type = "uint16", .codecs_json = CODECS ("end"),
};

static const struct radio_box whole = { 3, { 0 }, { NZ, NY, NX } };

struct setting {
  struct radio_store *store;
  struct radio_array *array;
  const struct rd_layers_observer *observer;
  uint16_t elements[COUNT];
};

static void
setting_open (struct setting *setting, unsigned nthreads,
              const struct rd_fault_plan *plan)
{
  static const struct rd_fault_plan none;
  const struct radio_context_options context = { .nthreads = nthreads };
  struct radio_store_options options = { .create = true };
  struct rd_io *io;
  setting->observer = NULL;
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (rd_io_open ("memory:", true, &io));
  assert_ok (rd_io_fault_open (io, plan ? plan : &none, &io));
  assert_ok (rd_store_open_io (io, &options, &setting->store));
  radio_context_close (options.context);
  assert_ok (radio_array_create (setting->store, "x", &sharded,
                                 &setting->array));
  for (size_t i = 0; i < COUNT; i++)
    setting->elements[i] = (uint16_t) (i * 40503u + 1);
}

static void
setting_close (struct setting *setting)
{
  radio_array_close (setting->array);
  radio_store_close (setting->store);
}

/* The next layer of `step' planes that lies within one shard. */
static enum radio_status
give_planes (struct rd_layers *layers, const uint16_t *elements,
             uint64_t first, uint64_t n, bool swapped)
{
  const struct radio_box box = { 3, { first, 0, 0 }, { n, NY, NX } };
  const int64_t strides[3] = { NY * NX * 2, NX * 2, 2 };
  unsigned char *room;
  RD_TRY (rd_layers_buffer (layers, &room));
  for (size_t i = 0; i < n * NY * NX; i++) {
    uint16_t value = elements[first * NY * NX + i];
    if (swapped)
      value = __builtin_bswap16 (value);
    memcpy (room + 2 * i, &value, 2);
  }
  return rd_layers_give (layers, &box, strides, swapped);
}

/* All layers, or as many as `nlayers', then the end. */
static enum radio_status
write_planes (struct setting *setting, uint64_t step, uint64_t nlayers,
              bool swapped, uint64_t *stored_nbytes)
{
  struct rd_layers *layers RD_CLEANUP (rd_cleanup_layers) = NULL;
  const uint64_t shape[3] = { step, NY, NX };
  RD_TRY (rd_layers_open (setting->array, shape, setting->observer,
                          &layers));
  for (uint64_t z = 0; z < NZ && nlayers > 0; z += step, nlayers--) {
    uint64_t n = z + step <= NZ ? step : NZ - z;
    RD_TRY (give_planes (layers, setting->elements, z, n, swapped));
  }
  return nlayers > 0 ? rd_layers_finish (layers, stored_nbytes) : RADIO_OK;
}

static void
assert_is_there (struct setting *setting)
{
  uint16_t read[COUNT];
  assert_ok (radio_array_read (setting->array, &whole, RADIO_STORED, read,
                               sizeof read, NULL));
  assert_memory_equal (read, setting->elements, sizeof read);
}

static void
read_object (struct radio_store *store, const char *key,
             struct rd_buffer *object)
{
  object->nbytes = 0;
  assert_ok (rd_io_read_all (store->io, key, MIB, object));
}

/* The result of radio_array_write with the same elements. */
static void
assert_shards_are_the_usual_ones (struct setting *setting)
{
  static const char *const keys[] = { "x/c/0/0/0", "x/c/1/0/0",
                                      "x/c/2/0/0" };
  struct rd_buffer one RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer other RD_BUFFER_SCOPE = { 0 };
  struct setting usual;
  setting_open (&usual, 1, NULL);
  memcpy (usual.elements, setting->elements, sizeof usual.elements);
  assert_ok (radio_array_write (usual.array, &whole, usual.elements,
                                sizeof usual.elements));
  for (size_t i = 0; i < 3; i++) {
    read_object (setting->store, keys[i], &one);
    read_object (usual.store, keys[i], &other);
    assert_int_equal (one.nbytes, other.nbytes);
    assert_memory_equal (one.data, other.data, one.nbytes);
  }
  setting_close (&usual);
}

static void
layers_of_any_height_make_the_usual_shards (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++)
    for (uint64_t step = 2; step <= 8; step *= 2) {
      struct setting setting;
      uint64_t stored_nbytes = 5;
      struct radio_check check;
      setting_open (&setting, nthreads, NULL);
      assert_ok (write_planes (&setting, step, NZ, false, &stored_nbytes));
      assert_is_there (&setting);
      assert_shards_are_the_usual_ones (&setting);
      assert_ok (radio_array_check (setting.array, &check, NULL, NULL));
      assert_int_equal (check.stored_nbytes + 5, stored_nbytes);
      setting_close (&setting);
    }
}

static void
layers_may_be_in_the_other_byte_order (void **state)
{
  struct setting setting;
  uint64_t stored_nbytes = 0;
  (void) state;
  setting_open (&setting, 2, NULL);
  assert_ok (write_planes (&setting, 4, NZ, true, &stored_nbytes));
  assert_is_there (&setting);
  setting_close (&setting);
}

/* As files with colours have them: along the array's last axis. */
static void
layers_across_another_axis_come_back (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 3; nthreads++) {
    struct setting setting;
    const uint64_t shape[3] = { 8, NY, 4 };
    struct rd_layers *layers;
    uint64_t stored_nbytes = 0;
    setting_open (&setting, nthreads, NULL);
    assert_ok (rd_layers_open (setting.array, shape, NULL, &layers));
    for (uint64_t z = 0; z < NZ; z += 8)
      for (uint64_t x = 0; x < NX; x += 4) {
        uint64_t n = z + 8 <= NZ ? 8 : NZ - z;
        const struct radio_box box = { 3, { z, 0, x }, { n, NY, 4 } };
        const int64_t strides[3] = { NY * 8, 8, 2 };
        unsigned char *room;
        assert_ok (rd_layers_buffer (layers, &room));
        for (size_t row = 0; row < n * NY; row++)
          memcpy (room + 8 * row,
                  setting.elements + (z * NY + row) * NX + x, 8);
        assert_ok (rd_layers_give (layers, &box, strides, false));
      }
    assert_ok (rd_layers_finish (layers, &stored_nbytes));
    rd_layers_close (layers);
    assert_is_there (&setting);
    setting_close (&setting);
  }
}

static void
a_shard_of_nothing_but_fill_value_is_kept (void **state)
{
  struct setting setting;
  uint64_t stored_nbytes = 0, nbytes;
  (void) state;
  setting_open (&setting, 2, NULL);
  memset (setting.elements + 8 * NY * NX, 0, 8 * NY * NX * 2);
  assert_ok (write_planes (&setting, 2, NZ, false, &stored_nbytes));
  assert_is_there (&setting);
  /* 4 x 3 x 3 entries of 16 bytes, and the checksum. */
  assert_ok (setting.store->io->ops->size (setting.store->io, "x/c/1/0/0",
                                           &nbytes));
  assert_int_equal (nbytes, 36 * 16 + 4);
  setting_close (&setting);
}

static void
an_index_at_the_start_is_refused (void **state)
{
  struct setting setting;
  struct radio_array_options options = sharded;
  struct radio_array *array;
  struct rd_layers *layers = NULL;
  const uint64_t shape[3] = { 2, NY, NX };
  (void) state;
  setting_open (&setting, 1, NULL);
  options.codecs_json = CODECS ("start");
  assert_ok (radio_array_create (setting.store, "y", &options, &array));
  assert_fails (rd_layers_open (array, shape, NULL, &layers),
                RADIO_ERROR_UNSUPPORTED, "index at the end");
  radio_array_close (array);
  setting_close (&setting);
}

static bool
is_there (struct radio_store *store, const char *key)
{
  uint64_t nbytes;
  return store->io->ops->size (store->io, key, &nbytes) == RADIO_OK;
}

static void
who_gives_up_leaves_no_shard_that_is_not_complete (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 3; nthreads++) {
    struct setting setting;
    setting_open (&setting, nthreads, NULL);
    assert_ok (write_planes (&setting, 2, 3, false, NULL));
    assert_false (is_there (setting.store, "x/c/0/0/0"));
    setting_close (&setting);
  }
}

/* Layers that an observer saw. */
struct seen {
  struct rd_layers_observer observer; /* it */
  struct rd_io *io;                   /* the store written to */
  atomic_bool busy;
  unsigned nlayers, failing;
  uint64_t nappends_awaited;          /* the first layer takes so long */
  size_t nbytes;
  unsigned char bytes[COUNT * 2];
};

static const struct radio_site see_site = {
  "see layers", NULL, "see_layer", __FILE__, __LINE__, RADIO_SCOPE_WORK
};

static bool
wait_for_appends (const struct seen *seen)
{
  for (int i = 0; i < 200000; i++) {
    if (rd_io_fault_count (seen->io, RD_FAULT_APPEND)
        >= seen->nappends_awaited)
      return true;
    usleep (100);
  }
  return false;
}

static enum radio_status
see_layer (void *user_data, const void *elements, size_t nbytes)
{
  struct seen *seen = user_data;
  if (atomic_exchange (&seen->busy, true))
    return rd_fail (RADIO_ERROR_FORMAT, "two layers at a time");
  if (++seen->nlayers == seen->failing)
    return rd_fail (RADIO_ERROR_PERMISSION, "layer %u is not to be seen",
                    seen->failing);
  if (!wait_for_appends (seen))
    return rd_fail (RADIO_ERROR_FORMAT, "nothing is written meanwhile");
  memcpy (seen->bytes + seen->nbytes, elements, nbytes);
  seen->nbytes += nbytes;
  atomic_store (&seen->busy, false);
  return RADIO_OK;
}

/* A setting whose layers are seen. */
static void
setting_open_seen (struct setting *setting, unsigned nthreads,
                   struct seen *seen)
{
  setting_open (setting, nthreads, NULL);
  seen->observer = (struct rd_layers_observer) {
    see_layer, seen, &see_site
  };
  seen->io = setting->store->io;
  setting->observer = &seen->observer;
}

static void
layers_are_observed_once_and_in_their_order (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++)
    for (int i = 0; i < 20; i++) {
      struct setting setting;
      struct seen seen = { .nlayers = 0 };
      uint64_t stored_nbytes = 0;
      setting_open_seen (&setting, nthreads, &seen);
      assert_ok (write_planes (&setting, 2, NZ, false, &stored_nbytes));
      assert_int_equal (seen.nlayers, (NZ + 1) / 2);
      assert_int_equal (seen.nbytes, sizeof setting.elements);
      assert_memory_equal (seen.bytes, setting.elements, seen.nbytes);
      assert_is_there (&setting);
      setting_close (&setting);
    }
}

static void
a_failing_observer_ends_the_write (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++)
    for (unsigned failing = 1; failing <= (NZ + 1) / 2; failing++) {
      struct setting setting;
      struct seen seen = { .failing = failing };
      uint64_t stored_nbytes = 0;
      setting_open_seen (&setting, nthreads, &seen);
      assert_fails (write_planes (&setting, 2, NZ, false, &stored_nbytes),
                    RADIO_ERROR_PERMISSION, "is not to be seen");
      assert_int_equal (seen.nlayers, failing);
      setting_close (&setting);
    }
}

/* An observer that does not end before other layers were written. */
static void
layers_are_written_while_one_is_observed (void **state)
{
  (void) state;
  for (unsigned nthreads = 2; nthreads <= 4; nthreads++) {
    struct setting setting;
    struct seen seen = { .nappends_awaited = 3 };
    uint64_t stored_nbytes = 0;
    setting_open_seen (&setting, nthreads, &seen);
    assert_ok (write_planes (&setting, 2, NZ, false, &stored_nbytes));
    assert_memory_equal (seen.bytes, setting.elements,
                         sizeof setting.elements);
    assert_is_there (&setting);
    setting_close (&setting);
  }
}

/* Each operation on each shard fails in turn: the writer gets the error,
 * nothing waits for ever, and that shard does not appear. */
static void
fail_in_turn (enum rd_fault_op op, const char *key, unsigned nthreads)
{
  for (uint64_t step = 2; step <= 8; step *= 2) {
    const struct rd_fault fault = {
      .op = op, .key = key, .nth = 1, .kind = RD_FAULT_FAIL,
      .status = RADIO_ERROR_PERMISSION,
    };
    const struct rd_fault_plan plan = { .faults = &fault, .n = 1 };
    struct setting setting;
    uint64_t stored_nbytes = 0;
    setting_open (&setting, nthreads, &plan);
    assert_fails (write_planes (&setting, step, NZ, false, &stored_nbytes),
                  RADIO_ERROR_PERMISSION, key);
    assert_int_equal (rd_io_fault_n_hits (setting.store->io), 1);
    assert_false (is_there (setting.store, key));
    assert_ok (write_planes (&setting, step, NZ, false, &stored_nbytes));
    assert_is_there (&setting);
    setting_close (&setting);
  }
}

static void
failures_of_the_store_end_the_write (void **state)
{
  static const char *const keys[] = { "x/c/0/0/0", "x/c/1/0/0",
                                      "x/c/2/0/0" };
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++)
    for (size_t i = 0; i < 3; i++) {
      fail_in_turn (RD_FAULT_CREATE, keys[i], nthreads);
      fail_in_turn (RD_FAULT_APPEND, keys[i], nthreads);
      fail_in_turn (RD_FAULT_COMMIT, keys[i], nthreads);
    }
}

/* An array of 16 MiB in tiles of 64 KiB, shards of 4 MiB. */
static void
large_open (struct setting *setting, unsigned nthreads,
            uint64_t limit_nbytes)
{
  const struct radio_array_options large = {
    .rank = 2, .shape = { 4096, 4096 }, .chunk_shape = { 1024, 4096 },
    .data_type = "uint8", .codecs_json =
      "[{\"name\":\"sharding_indexed\",\"configuration\":{"
      "\"chunk_shape\":[64,1024],\"codecs\":[{\"name\":\"bytes\"},"
      "{\"name\":\"crc32c\"}],\"index_codecs\":[{\"name\":\"bytes\","
      "\"configuration\":{\"endian\":\"little\"}}]}}]",
  };
  const struct radio_context_options context = {
    .nthreads = nthreads, .memory_limit_nbytes = limit_nbytes,
  };
  struct radio_store_options options = { .create = true };
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (radio_store_open ("test-layers.zarr", &options,
                               &setting->store));
  radio_context_close (options.context);
  assert_ok (radio_array_create (setting->store, "x", &large,
                                 &setting->array));
}

static enum radio_status
write_large (struct radio_array *array)
{
  struct rd_layers *layers RD_CLEANUP (rd_cleanup_layers) = NULL;
  const uint64_t shape[2] = { 64, 4096 };
  const int64_t strides[2] = { 4096, 1 };
  uint64_t stored_nbytes = 0;
  RD_TRY (rd_layers_open (array, shape, NULL, &layers));
  for (uint64_t y = 0; y < 4096; y += 64) {
    const struct radio_box box = { 2, { y, 0 }, { 64, 4096 } };
    unsigned char *room;
    RD_TRY (rd_layers_buffer (layers, &room));
    memset (room, (int) (y / 64 + 1), 64 * 4096);
    RD_TRY (rd_layers_give (layers, &box, strides, false));
  }
  return rd_layers_finish (layers, &stored_nbytes);
}

static void
memory_stays_within_the_limit (void **state)
{
  (void) state;
  for (size_t limit = MIB / 2; limit <= 8 * MIB; limit *= 2) {
    struct setting setting;
    large_open (&setting, 3, limit);
    alloc_peak_begin ();
    enum radio_status status = write_large (setting.array);
    if (alloc_peak () > limit)
      fail_msg ("limit %zu: %zu held", limit, alloc_peak ());
    if (limit == MIB / 2)
      assert_int_equal (status, RADIO_ERROR_LIMIT);
    else
      assert_ok (status);
    assert_ok (setting.store->io->ops->remove_tree (setting.store->io, ""));
    setting_close (&setting);
  }
  assert_int_equal (rmdir ("test-layers.zarr"), 0);
}

/* Those who come later get by with less. */
static void
writers_share_the_limit (void **state)
{
  struct setting setting;
  const uint64_t shape[2] = { 64, 4096 };
  struct rd_layers *layers[3];
  (void) state;
  large_open (&setting, 2, 8 * MIB);
  alloc_peak_begin ();
  for (size_t i = 0; i < 3; i++)
    assert_ok (rd_layers_open (setting.array, shape, NULL, &layers[i]));
  assert_int_equal (rd_layers_count (layers[0]), 4);
  assert_true (rd_layers_count (layers[1]) < 4);
  assert_int_equal (rd_layers_count (layers[2]), 1);
  assert_true (alloc_peak () <= 4 * MIB + MIB);
  for (size_t i = 0; i < 3; i++)
    rd_layers_close (layers[i]);
  assert_ok (rd_layers_open (setting.array, shape, NULL, &layers[0]));
  assert_int_equal (rd_layers_count (layers[0]), 4);
  rd_layers_close (layers[0]);
  assert_ok (setting.store->io->ops->remove_tree (setting.store->io, ""));
  setting_close (&setting);
  assert_int_equal (rmdir ("test-layers.zarr"), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (layers_of_any_height_make_the_usual_shards),
    cmocka_unit_test (layers_may_be_in_the_other_byte_order),
    cmocka_unit_test (layers_across_another_axis_come_back),
    cmocka_unit_test (a_shard_of_nothing_but_fill_value_is_kept),
    cmocka_unit_test (an_index_at_the_start_is_refused),
    cmocka_unit_test (who_gives_up_leaves_no_shard_that_is_not_complete),
    cmocka_unit_test (layers_are_observed_once_and_in_their_order),
    cmocka_unit_test (a_failing_observer_ends_the_write),
    cmocka_unit_test (layers_are_written_while_one_is_observed),
    cmocka_unit_test (failures_of_the_store_end_the_write),
    cmocka_unit_test (memory_stays_within_the_limit),
    cmocka_unit_test (writers_share_the_limit),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
