/* SPDX-License-Identifier: MIT */
/* Memory estimates, compared with the memory held afterwards. */
#include <config.h>

#include <zstd.h>

#include "tests/codec/build.h"

#include "src/codec/codec.h"
#include "src/codec/scratch.h"

static void
a_zstd_encoder_stays_within_its_stated_memory (void **state)
{
  static const int levels[] = { -1000, 0, 1, 2, 3, 4, 5, 8, 9, 12, 19, 22 };
  static const uint64_t sizes[] = { 1, 100, 1000, 1024, 1025, 30000, 131073 };
  (void) state;
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
      struct rd_scratch scratch = { 0 };
      RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
      struct rd_chunk chunk = cube (RADIO_UINT8, 1, sizes[k]);
      RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 3);
      RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
      add_bytes (chain, false);
      add_zstd (chain, levels[i], true);
      assert_ok (rd_chain_encode (chain, &chunk, &scratch, elements, &out));
      size_t held = ZSTD_sizeof_CCtx (rd_contexts_zstd_encoder (&scratch));
      uint64_t said = rd_zstd_encoder_nbytes (levels[i], sizes[k]);
      if (held > said || said > 16 * (uint64_t) held)
        fail_msg ("level %d, %u bytes: %u held, %u said", levels[i],
                  (unsigned) sizes[k], (unsigned) held, (unsigned) said);
      rd_scratch_free (&scratch);
    }
}

static void
a_zstd_decoder_stays_within_its_stated_memory (void **state)
{
  struct rd_scratch scratch = { 0 };
  struct rd_chunk chunk = cube (RADIO_UINT8, 1, 1);
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  (void) state;
  add_bytes (chain, false);
  add_zstd (chain, 3, false);
  assert_true (ZSTD_sizeof_DCtx (rd_contexts_zstd_decoder (&scratch))
               <= rd_chain_decode_nbytes (chain, &chunk));
  rd_scratch_free (&scratch);
}

/* One of many chains of all kinds of codecs. */
static struct rd_chain *
make_chain (unsigned kind, int depth)
{
  struct rd_chain *chain = new_chain ();
  if (kind & 1)
    add_transpose (chain, 2, 1);
  if (depth > 0)
    add_sharding (chain, 2, (uint64_t) 32 << depth,
                  make_chain (kind, depth - 1), usual_index ());
  else
    add_bytes (chain, kind & 2);
  if (depth > 0 && !(kind & 32))
    return chain;
  if (kind & 4)
    add_zstd (chain, 1, false);
  if (kind & 8)
    add_blosc (chain, "lz4", 5, RD_BLOSC_BITSHUFFLE, 2, 0);
  if (kind & 16)
    add_gzip (chain, 1);
  add_codec (chain, RD_CODEC_CRC32C);
  return chain;
}

/* Encode and decode a chunk, each with a scratch of its own, several times,
 * for buffers change places. */
static void
check_need (const struct rd_chain *chain, const struct rd_chunk *chunk)
{
  RD_FREE_PLAIN unsigned char *elements = make_elements (chunk, 5);
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_scratch to = { 0 }, from = { 0 };
  struct rd_view view;
  assert_ok (rd_chain_check (chain, chunk));
  for (int i = 0; i < 4; i++) {
    assert_ok (rd_chain_encode (chain, chunk, &to, elements, &out));
    assert_ok (rd_chain_decode (chain, chunk, &from, out.data, out.nbytes,
                                &view));
    assert_true (rd_scratch_nbytes (&to) + out.capacity
                 <= rd_chain_encode_nbytes (chain, chunk));
    assert_true (rd_scratch_nbytes (&from)
                 <= rd_chain_decode_nbytes (chain, chunk));
  }
  rd_scratch_free (&to);
  rd_scratch_free (&from);
}

static void
a_scratch_stays_within_its_stated_memory_for_any_chain (void **state)
{
  (void) state;
  for (int depth = 0; depth <= 2; depth++)
    for (unsigned kind = 0; kind < 64; kind++) {
      struct rd_chunk chunk = cube (RADIO_INT16, 2, (uint64_t) 64 << depth);
      RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain
        = make_chain (kind, depth);
      check_need (chain, &chunk);
    }
}

/* Nothing is said to be needed for what is looked at where it lies. */
static void
plain_bytes_need_nothing_to_be_decoded (void **state)
{
  struct rd_chunk chunk = cube (RADIO_INT16, 3, (uint64_t) 1 << 20);
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  (void) state;
  add_transpose (chain, 3, 1);
  add_bytes (chain, true);
  add_codec (chain, RD_CODEC_CRC32C);
  assert_int_equal (rd_chain_decode_nbytes (chain, &chunk), 0);
}

/* A shard of a million tiles of one byte within zstd may be a thousand times
 * larger than its elements before zstd is done with it. */
static void
a_shard_of_tiny_tiles_within_a_codec_needs_its_bound (void **state)
{
  struct rd_chunk chunk = cube (RADIO_UINT8, 2, 1000);
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  struct rd_chain *inner = new_chain ();
  (void) state;
  add_bytes (inner, false);
  add_zstd (inner, 1, false);
  add_sharding (chain, 2, 1, inner, usual_index ());
  add_zstd (chain, 1, false);
  assert_ok (rd_chain_check (chain, &chunk));
  assert_true (rd_chain_decode_nbytes (chain, &chunk) > 1000000000);
}

static void
impossible_sizes_do_not_overflow (void **state)
{
  struct rd_chunk chunk = cube (RADIO_UINT8, 1, (uint64_t) 1 << 62);
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  (void) state;
  add_bytes (chain, false);
  for (int i = 0; i < 10; i++)
    add_zstd (chain, 22, false);
  assert_ok (rd_chain_check (chain, &chunk));
  assert_true (rd_chain_decode_nbytes (chain, &chunk) == UINT64_MAX);
  assert_true (rd_chain_encode_nbytes (chain, &chunk) == UINT64_MAX);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_zstd_encoder_stays_within_its_stated_memory),
    cmocka_unit_test (a_zstd_decoder_stays_within_its_stated_memory),
    cmocka_unit_test (a_scratch_stays_within_its_stated_memory_for_any_chain),
    cmocka_unit_test (plain_bytes_need_nothing_to_be_decoded),
    cmocka_unit_test (
      a_shard_of_tiny_tiles_within_a_codec_needs_its_bound),
    cmocka_unit_test (impossible_sizes_do_not_overflow),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
