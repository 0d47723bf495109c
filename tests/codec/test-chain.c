/* SPDX-License-Identifier: MIT */
/* Chains as a whole: what goes in comes out, for every kind of chain, type
 * and rank; sizes, bounds and words. */
#include <config.h>

#include "tests/codec/build.h"

#include "src/base/cleanup.h"
#include "src/element/box.h"
#include "src/codec/blosc.h"
#include "src/codec/codec.h"
#include "src/element/copy.h"


/* Copy a view into C order, as readers do. */
static void
take_view (const struct rd_chunk *chunk, const struct rd_view *view,
           unsigned char *to)
{
  struct rd_box_copy copy = {
    .rank = chunk->rank, .from = view->data, .from_type = chunk->type,
    .from_swapped = view->swapped, .to = to,
  };
  memcpy (copy.shape, chunk->shape, sizeof copy.shape);
  memcpy (copy.from_strides, view->strides, sizeof copy.from_strides);
  assert_true (rd_c_strides (chunk->rank, chunk->shape,
                             chunk->type.item_nbytes, copy.to_strides));
  assert_ok (rd_box_copy_run (&copy));
}

/* The same of a view that may be of shuffled elements. */
static void
take_shuffled (const struct rd_chunk *chunk, const struct rd_view *view,
               unsigned char *to)
{
  int64_t item_nbytes = (int64_t) chunk->type.item_nbytes;
  if (!view->shuffled) {
    take_view (chunk, view, to);
    return;
  }
  assert_false (view->swapped);
  for (size_t i = 0; i < rd_chunk_nbytes (chunk); i += (size_t) item_nbytes) {
    /* Element by element, as transposed views are in any order. */
    int64_t place = 0;
    size_t rest = i / (size_t) item_nbytes;
    for (size_t k = chunk->rank; k-- > 0; rest /= (size_t) chunk->shape[k])
      place += (int64_t) (rest % chunk->shape[k]) * view->strides[k];
    rd_unshuffle (&view->block, (size_t) (place / item_nbytes), 1, to + i);
  }
}

/* Encode and decode, both ways, and compare.  The chain is freed. */
static void
check_round_trip (struct rd_chain *chain, const struct rd_chunk *chunk,
                  struct rd_scratch *scratch)
{
  size_t nbytes = (size_t) rd_chunk_nbytes (chunk);
  RD_FREE_PLAIN unsigned char *elements = make_elements (chunk, 7);
  RD_FREE_PLAIN unsigned char *result = malloc (nbytes);
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_view view;
  assert_non_null (result);
  assert_ok (rd_chain_check (chain, chunk));
  assert_ok (rd_chain_encode (chain, chunk, scratch, elements, &out));
  assert_true (out.nbytes <= rd_chain_bound (chain, chunk));
  assert_ok (rd_chain_decode (chain, chunk, scratch, out.data, out.nbytes,
                              &view));
  take_view (chunk, &view, result);
  assert_memory_equal (result, elements, nbytes);
  memset (result, 0x77, nbytes);
  assert_ok (rd_chain_decode_shuffled (chain, chunk, scratch, out.data,
                                       out.nbytes, &view));
  take_shuffled (chunk, &view, result);
  assert_memory_equal (result, elements, nbytes);
  rd_chain_free (chain);
}

enum { KINDS = 16 };

/* One of the ways to go on after the elements are bytes. */
static void
add_tail (struct rd_chain *chain, int kind, size_t typesize)
{
  switch (kind % 8) {
  case 0: break;
  case 1: add_codec (chain, RD_CODEC_CRC32C); break;
  case 2: add_zstd (chain, 3, true); break;
  case 3: add_gzip (chain, 6); break;
  case 4:
    add_blosc (chain, "lz4", 5, RD_BLOSC_BITSHUFFLE, typesize, 0);
    add_codec (chain, RD_CODEC_CRC32C);
    break;
  case 5:
    add_zstd (chain, 1, false);
    add_codec (chain, RD_CODEC_CRC32C);
    add_gzip (chain, 1);
    break;
  case 6:
    add_codec (chain, RD_CODEC_CRC32C);
    add_blosc (chain, "zstd", 3, RD_BLOSC_SHUFFLE, typesize, 0);
    add_zstd (chain, 0, false);
    add_codec (chain, RD_CODEC_CRC32C);
    break;
  default:
    add_gzip (chain, 0);
    add_blosc (chain, "blosclz", 9, RD_BLOSC_NOSHUFFLE, 1, 0);
    break;
  }
}

static struct rd_chain *
make_chain (int kind, const struct rd_chunk *chunk)
{
  struct rd_chain *chain = new_chain ();
  if (kind & 4)
    add_transpose (chain, chunk->rank, chunk->rank - 1);
  if (kind & 2) {
    add_transpose (chain, chunk->rank, 1);
    add_transpose (chain, chunk->rank, 2 % chunk->rank);
  }
  add_bytes (chain, kind >= KINDS / 2);
  add_tail (chain, kind, chunk->type.item_nbytes);
  return chain;
}

static void
encoding_round_trips_for_every_type_and_rank (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  for (int dtype = RADIO_BOOL; dtype < RADIO_RAW; dtype++)
    for (size_t rank = 1; rank <= RADIO_MAX_RANK; rank++)
      for (int kind = 0; kind < KINDS; kind++) {
        struct rd_chunk chunk = cube ((enum radio_dtype) dtype, rank, 2);
        chunk.shape[0] = 5;
        chunk.shape[rank - 1] = 7;
        check_round_trip (make_chain (kind, &chunk), &chunk, &scratch);
      }
  rd_scratch_free (&scratch);
}

static void
raw_elements_of_odd_sizes_survive (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  unsigned char fill[300] = { 0 };
  for (size_t nbytes = 1; nbytes < 300; nbytes += 37)
    for (int kind = 0; kind < KINDS; kind++) {
      struct rd_chunk chunk = cube (RADIO_UINT8, 3, 4);
      chunk.type.dtype = RADIO_RAW;
      chunk.type.item_nbytes = nbytes;
      chunk.fill = fill;
      struct rd_chain *chain = make_chain (kind, &chunk);
      for (size_t i = 0; i < chain->n; i++)
        if (chain->codecs[i].id == RD_CODEC_BLOSC
            && chain->codecs[i].u.blosc.typesize > 255)
          chain->codecs[i].u.blosc.typesize = 255;
      check_round_trip (chain, &chunk, &scratch);
    }
  rd_scratch_free (&scratch);
}

/* Shards of every depth, with and without fill values. */
static struct rd_chain *
make_shards (int depth, int kind, size_t rank)
{
  struct rd_chain *chain = new_chain ();
  struct rd_chain *index = new_chain ();
  if (depth == 0) {
    add_bytes (chain, kind & 1);
    add_tail (chain, kind, 2);
    rd_free (index);
    return chain;
  }
  if (kind & 1)
    add_transpose (chain, rank, rank - 1);
  if (kind & 2)
    add_transpose (index, rank + 1, 1);
  add_bytes (index, kind & 4);
  if (kind & 1)
    add_codec (index, RD_CODEC_CRC32C);
  struct rd_codec *codec = add_sharding (
    chain, rank, (uint64_t) 1 << depth, make_shards (depth - 1, kind, rank),
    index);
  codec->u.sharding.index_at_start = kind & 4;
  if (kind & 2)
    add_tail (chain, kind, 2);
  return chain;
}

static void
shards_within_shards_survive (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  for (int depth = 1; depth <= RD_CHAIN_MAX_DEPTH; depth++)
    for (int kind = 0; kind < 8; kind++)
      for (size_t rank = 1; rank <= 2; rank++) {
        struct rd_chunk chunk = cube (RADIO_INT16, rank, 32);
        check_round_trip (make_shards (depth, kind, rank), &chunk, &scratch);
      }
  rd_scratch_free (&scratch);
}

/* Capacities after the first tile say whether the second one allocates. */
static void
a_second_tile_needs_no_larger_buffers (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 16);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 1);
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  struct rd_view view;
  add_bytes (chain, true);
  add_blosc (chain, "lz4", 5, RD_BLOSC_BITSHUFFLE, 2, 0);
  add_codec (chain, RD_CODEC_CRC32C);
  size_t total[3];
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 4; k++) {
      assert_ok (rd_chain_encode (chain, &chunk, &scratch, elements, &out));
      assert_ok (rd_chain_decode (chain, &chunk, &scratch, out.data,
                                  out.nbytes, &view));
    }
    total[i] = out.capacity + scratch.stages[0].capacity
      + scratch.stages[1].capacity;
  }
  assert_int_equal (total[1], total[0]);
  assert_int_equal (total[2], total[0]);
  rd_scratch_free (&scratch);
}

/* Returns what a scratch holds after shards of some depth went through it and
 * it was trimmed. */
static size_t
trimmed (int depth, size_t keep_nbytes, size_t *before)
{
  struct rd_scratch scratch = { 0 };
  struct rd_chunk chunk = cube (RADIO_INT16, 2, 256);
  check_round_trip (make_shards (depth, 0, 2), &chunk, &scratch);
  *before = rd_scratch_nbytes (&scratch);
  rd_scratch_trim (&scratch, keep_nbytes);
  size_t after = rd_scratch_nbytes (&scratch);
  /* It works on with what was left of it. */
  check_round_trip (make_shards (depth, 0, 2), &chunk, &scratch);
  rd_scratch_free (&scratch);
  assert_int_equal (rd_scratch_nbytes (&scratch), 0);
  return after;
}

static void
a_trimmed_scratch_holds_no_more_than_allowed_at_any_depth (void **state)
{
  (void) state;
  for (int depth = 1; depth <= RD_CHAIN_MAX_DEPTH; depth++) {
    size_t before, after = trimmed (depth, 0, &before);
    assert_true (before > (size_t) depth * 2 * 256);
    assert_int_equal (after, 0);
    for (size_t keep = 1000; keep < before; keep *= 4)
      assert_true (trimmed (depth, keep, &before) <= keep);
    after = trimmed (depth, before, &before);
    assert_int_equal (after, before);
  }
}

static void
a_trimmed_scratch_drops_an_encoder_that_has_grown (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_chunk chunk = cube (RADIO_UINT8, 2, 512);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 1);
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  add_bytes (chain, false);
  add_zstd (chain, 19, false);
  assert_ok (rd_chain_encode (chain, &chunk, &scratch, elements, &out));
  assert_true (rd_scratch_nbytes (&scratch) > (size_t) 1 << 20);
  rd_scratch_trim (&scratch, (size_t) 1 << 20);
  assert_true (rd_scratch_nbytes (&scratch) <= (size_t) 1 << 20);
  assert_ok (rd_chain_encode (chain, &chunk, &scratch, elements, &out));
  rd_scratch_free (&scratch);
}

static void
plain_bytes_are_viewed_in_place (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  struct rd_chunk chunk = cube (RADIO_INT16, 2, 3);
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  unsigned char encoded[18 + 4] = { 0 };
  struct rd_view view;
  add_transpose (chain, 2, 1);
  add_bytes (chain, !MACHINE_IS_BIG_ENDIAN);
  assert_ok (rd_chain_decode (chain, &chunk, &scratch, encoded, 18, &view));
  assert_ptr_equal (view.data, encoded);
  assert_true (view.swapped);
  assert_int_equal (view.strides[0], 2);
  assert_int_equal (view.strides[1], 6);
  rd_scratch_free (&scratch);
}

static void
a_chunk_of_another_length_is_refused_with_both_figures (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  struct rd_chunk chunk = cube (RADIO_INT16, 2, 3);
  struct rd_chunk longer = cube (RADIO_INT16, 2, 4);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&longer, 1);
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_view view;
  static const char *const parts[] = {
    "32 bytes instead of 18", "32 bytes instead of 18",
    "more than the 18", "more than the 18", "32 bytes instead of 18",
    "more than the 18", "36 bytes instead of 22", "more than the 18",
  };
  for (int kind = 0; kind < 8; kind++) {
    RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
    add_bytes (chain, false);
    add_tail (chain, kind, 2);
    assert_ok (rd_chain_encode (chain, &longer, &scratch, elements, &out));
    assert_fails (rd_chain_decode (chain, &chunk, &scratch, out.data,
                                   out.nbytes, &view),
                  RADIO_ERROR_FORMAT, parts[kind]);
  }
  rd_scratch_free (&scratch);
}

static void
a_fill_chunk_is_known_by_every_bit (void **state)
{
  (void) state;
  const uint16_t fill = 0x8000;
  uint16_t elements[27];
  struct rd_chunk chunk = cube (RADIO_FLOAT16, 3, 3);
  chunk.fill = &fill;
  rd_chunk_fill (&chunk, elements);
  for (size_t i = 0; i < 27; i++)
    assert_int_equal (elements[i], 0x8000);
  assert_true (rd_chunk_is_fill (&chunk, elements));
  for (size_t i = 0; i < 27; i++) {
    elements[i] = 0;          /* equal to -0.0 as a number only */
    assert_false (rd_chunk_is_fill (&chunk, elements));
    elements[i] = 0x8000;
  }
}

static void
a_chain_is_described_in_words (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  struct rd_chain *inner = new_chain ();
  add_transpose (inner, 3, 1);
  add_bytes (inner, false);
  add_blosc (inner, "lz4", 5, RD_BLOSC_BITSHUFFLE, 2, 0);
  add_codec (inner, RD_CODEC_CRC32C);
  struct rd_codec *codec = add_sharding (chain, 3, 8, inner, usual_index ());
  codec->u.sharding.chunk_shape[2] = 64;
  add_zstd (chain, -3, true);
  RD_FREE char *text = rd_chain_describe (chain);
  assert_string_equal (text, "sharding 8x8x64 (transpose 1-2-0, blosc lz4 5 "
                       "bitshuffle, crc32c), zstd -3 checksum");
  codec->u.sharding.index_at_start = true;
  RD_FREE char *text2 = rd_chain_describe (chain);
  assert_non_null (strstr (text2, ") index first, zstd"));
}

static void
the_bytes_codec_is_described_only_if_not_the_default (void **state)
{
  (void) state;
  static const char *const words[] = { "bytes", "bytes big", "gzip 6",
                                       "bytes big, gzip 6" };
  for (int i = 0; i < 4; i++) {
    RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
    add_bytes (chain, i % 2);
    if (i >= 2)
      add_gzip (chain, 6);
    RD_FREE char *text = rd_chain_describe (chain);
    assert_string_equal (text, words[i]);
  }
}

/* True when a chain of int16 leaves them shuffled; it is freed. */
static bool
leaves_shuffled (struct rd_chain *chain)
{
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  const int16_t fill = 0;
  int16_t elements[2048], result[2048];
  struct rd_view view;
  const struct rd_chunk chunk = {
    .rank = 2, .shape = { 32, 64 }, .type = rd_type_of (RADIO_INT16),
    .fill = &fill,
  };
  for (int i = 0; i < 2048; i++)
    elements[i] = (int16_t) (i / 40);
  assert_ok (rd_chain_encode (chain, &chunk, &scratch, elements, &out));
  assert_ok (rd_chain_decode_shuffled (chain, &chunk, &scratch, out.data,
                                       out.nbytes, &view));
  bool shuffled = view.shuffled;
  take_shuffled (&chunk, &view, (unsigned char *) result);
  assert_memory_equal (result, elements, sizeof elements);
  rd_scratch_free (&scratch);
  rd_chain_free (chain);
  return shuffled;
}

static bool
blosc_leaves_shuffled (const char *cname, enum rd_blosc_shuffle shuffle,
                       size_t typesize, size_t blocksize, bool big_endian)
{
  struct rd_chain *chain = new_chain ();
  add_bytes (chain, big_endian);
  add_blosc (chain, cname, 5, shuffle, typesize, blocksize);
  add_codec (chain, RD_CODEC_CRC32C);
  return leaves_shuffled (chain);
}

static void
only_whole_items_in_one_block_are_left_shuffled (void **state)
{
  (void) state;
  const enum rd_blosc_shuffle bytes = RD_BLOSC_SHUFFLE;
  const enum rd_blosc_shuffle bits = RD_BLOSC_BITSHUFFLE;
  const bool big_endian = MACHINE_IS_BIG_ENDIAN;
  assert_true (blosc_leaves_shuffled ("lz4", bytes, 2, 0, big_endian));
  assert_true (blosc_leaves_shuffled ("lz4", bits, 2, 0, big_endian));
  assert_true (blosc_leaves_shuffled ("zstd", bits, 2, 0, big_endian));
  assert_true (blosc_leaves_shuffled ("zlib", bytes, 2, 0, big_endian));
  assert_false (blosc_leaves_shuffled ("lz4", RD_BLOSC_NOSHUFFLE, 2, 0,
                                       big_endian));
  assert_false (blosc_leaves_shuffled ("blosclz", bytes, 2, 0, big_endian));
  assert_false (blosc_leaves_shuffled ("lz4", bytes, 4, 0, big_endian));
  assert_false (blosc_leaves_shuffled ("lz4", bytes, 2, 0, !big_endian));
}

/* Encoders make one block of so few bytes, whatever is asked of them. */
static void
several_blocks_are_not_left_shuffled (void **state)
{
  (void) state;
  struct rd_blosc_frame frame = {
    .format = RD_BLOSC_ZSTD, .shuffled = true, .typesize = 2,
    .nbytes = 4096, .blocksize = 4096, .nblocks = 1,
  };
  assert_true (rd_blosc_frame_is_shuffled (&frame, 2));
  frame.blocksize = 1024;
  frame.nblocks = 4;
  assert_false (rd_blosc_frame_is_shuffled (&frame, 2));
}

static void
codecs_after_blosc_are_decoded_before_it (void **state)
{
  (void) state;
  struct rd_chain *chain = new_chain ();
  add_bytes (chain, MACHINE_IS_BIG_ENDIAN);
  add_blosc (chain, "lz4", 5, RD_BLOSC_BITSHUFFLE, 2, 0);
  add_gzip (chain, 1);
  add_zstd (chain, 1, false);
  assert_true (leaves_shuffled (chain));
  chain = new_chain ();
  add_bytes (chain, MACHINE_IS_BIG_ENDIAN);
  add_gzip (chain, 1);
  add_blosc (chain, "lz4", 5, RD_BLOSC_SHUFFLE, 2, 0);
  assert_false (leaves_shuffled (chain));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (encoding_round_trips_for_every_type_and_rank),
    cmocka_unit_test (raw_elements_of_odd_sizes_survive),
    cmocka_unit_test (shards_within_shards_survive),
    cmocka_unit_test (a_second_tile_needs_no_larger_buffers),
    cmocka_unit_test (
      a_trimmed_scratch_holds_no_more_than_allowed_at_any_depth),
    cmocka_unit_test (a_trimmed_scratch_drops_an_encoder_that_has_grown),
    cmocka_unit_test (plain_bytes_are_viewed_in_place),
    cmocka_unit_test (a_chunk_of_another_length_is_refused_with_both_figures),
    cmocka_unit_test (a_fill_chunk_is_known_by_every_bit),
    cmocka_unit_test (a_chain_is_described_in_words),
    cmocka_unit_test (the_bytes_codec_is_described_only_if_not_the_default),
    cmocka_unit_test (only_whole_items_in_one_block_are_left_shuffled),
    cmocka_unit_test (several_blocks_are_not_left_shuffled),
    cmocka_unit_test (codecs_after_blosc_are_decoded_before_it),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
