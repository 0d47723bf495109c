/* SPDX-License-Identifier: MIT */
/* The rules of codec chains, one broken at a time. */
#include <config.h>

#include "tests/codec/build.h"

#include "src/codec/shard.h"

#define CHAIN RD_CLEANUP (rd_cleanup_chain) struct rd_chain

static void
a_chain_has_exactly_one_array_to_bytes_codec (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 4);
  CHAIN *empty = new_chain ();
  assert_fails (rd_chain_check (empty, &chunk), RADIO_ERROR_FORMAT, "empty");

  CHAIN *none = new_chain ();
  add_transpose (none, 3, 1);
  assert_fails (rd_chain_check (none, &chunk), RADIO_ERROR_FORMAT,
                "no array->bytes");

  CHAIN *late = new_chain ();
  add_zstd (late, 3, false);
  add_bytes (late, false);
  assert_fails (rd_chain_check (late, &chunk), RADIO_ERROR_FORMAT,
                "codecs[0]: out of order");

  CHAIN *twice = new_chain ();
  add_bytes (twice, false);
  add_bytes (twice, false);
  assert_fails (rd_chain_check (twice, &chunk), RADIO_ERROR_FORMAT,
                "codecs[1]: out of order");
}

static void
a_transpose_after_the_bytes_is_out_of_order (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 4);
  CHAIN *chain = new_chain ();
  add_bytes (chain, false);
  add_transpose (chain, 3, 1);
  chain->n_array = 0;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                "codecs[1]: out of order");
}

static void
a_transpose_is_a_permutation (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 4);
  CHAIN *chain = new_chain ();
  add_transpose (chain, 3, 1);
  add_bytes (chain, false);
  assert_ok (rd_chain_check (chain, &chunk));
  chain->codecs[0].u.transpose.order[2] = 1;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                "order[2] is 1");
  chain->codecs[0].u.transpose.order[2] = 3;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                "order[2] is 3");
}

static void
a_chunk_has_a_size_that_can_be (void **state)
{
  (void) state;
  CHAIN *chain = new_chain ();
  add_bytes (chain, false);
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 4);
  chunk.shape[1] = 0;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                "length 0 on axis 1");
  chunk.shape[1] = (uint64_t) 1 << 59;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_UNSUPPORTED,
                "on axis 2");
  chunk.shape[1] = UINT64_MAX;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_UNSUPPORTED,
                "on axis 1");
  chunk.rank = 9;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_UNSUPPORTED,
                "rank 9");
}

static void
options_are_within_their_ranges (void **state)
{
  (void) state;
  static const struct {
    enum rd_codec_id id;
    int level;
    bool legal;
  } rows[] = {
    { RD_CODEC_ZSTD, -131072, true }, { RD_CODEC_ZSTD, 22, true },
    { RD_CODEC_ZSTD, -131073, false }, { RD_CODEC_ZSTD, 23, false },
    { RD_CODEC_GZIP, 0, true }, { RD_CODEC_GZIP, 9, true },
    { RD_CODEC_GZIP, -1, false }, { RD_CODEC_GZIP, 10, false },
  };
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 4);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    CHAIN *chain = new_chain ();
    add_bytes (chain, false);
    if (rows[i].id == RD_CODEC_ZSTD)
      add_zstd (chain, rows[i].level, false);
    else
      add_gzip (chain, rows[i].level);
    if (rows[i].legal)
      assert_ok (rd_chain_check (chain, &chunk));
    else
      assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                    "level");
  }
}

static void
blosc_options_are_within_their_ranges (void **state)
{
  (void) state;
  static const struct {
    const char *cname;
    int clevel;
    int shuffle;
    size_t typesize, blocksize;
    const char *part;         /* NULL: legal */
  } rows[] = {
    { "lz4", 0, 0, 1, 0, NULL }, { "zstd", 9, 2, 255, 1 << 20, NULL },
    { "lz5", 5, 1, 2, 0, "cname 'lz5'" }, { "", 5, 1, 2, 0, "cname ''" },
    { "lz4", -1, 1, 2, 0, "clevel -1" }, { "lz4", 10, 1, 2, 0, "clevel 10" },
    { "lz4", 5, 3, 2, 0, "shuffle 3" }, { "lz4", 5, 1, 0, 0, "typesize 0" },
    { "lz4", 5, 1, 256, 0, "typesize 256" },
    { "lz4", 5, 1, 2, (size_t) 1 << 31, "blocksize 2147483648" },
  };
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 4);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    CHAIN *chain = new_chain ();
    add_bytes (chain, false);
    add_blosc (chain, rows[i].cname, rows[i].clevel,
               (enum rd_blosc_shuffle) rows[i].shuffle, rows[i].typesize,
               rows[i].blocksize);
    if (!rows[i].part)
      assert_ok (rd_chain_check (chain, &chunk));
    else
      assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                    rows[i].part);
  }
}

static void
a_blosc_frame_holds_less_than_2_gib (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_UINT8, 1, ((uint64_t) 1 << 31) - 17);
  CHAIN *chain = new_chain ();
  add_bytes (chain, false);
  add_blosc (chain, "lz4", 5, RD_BLOSC_SHUFFLE, 1, 0);
  assert_ok (rd_chain_check (chain, &chunk));
  chunk.shape[0]++;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_UNSUPPORTED,
                "larger than a frame");
}

/* A sharding chain of a rank-2 shard; the inner chain is plain bytes. */
static struct rd_chain *
new_sharded (uint64_t size, struct rd_chain *index)
{
  struct rd_chain *chain = new_chain (), *inner = new_chain ();
  add_bytes (inner, false);
  add_sharding (chain, 2, size, inner, index);
  return chain;
}

static void
inner_chunks_divide_their_shard (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_INT16, 2, 12);
  static const uint64_t sizes[] = { 1, 4, 12, 0, 5, 24, UINT64_MAX };
  for (size_t i = 0; i < 7; i++) {
    CHAIN *chain = new_sharded (sizes[i], usual_index ());
    if (i < 3)
      assert_ok (rd_chain_check (chain, &chunk));
    else
      assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                    "chunk_shape[0]");
  }
}

/* The shard that the codec sees is the transposed one. */
static void
inner_chunks_divide_the_transposed_shard (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_INT16, 2, 12);
  chunk.shape[0] = 35;
  CHAIN *chain = new_chain ();
  struct rd_chain *inner = new_chain ();
  add_transpose (chain, 2, 1);
  add_bytes (inner, false);
  struct rd_codec *codec = add_sharding (chain, 2, 4, inner,
                                         usual_index ());
  codec->u.sharding.chunk_shape[1] = 7;
  assert_ok (rd_chain_check (chain, &chunk));
  codec->u.sharding.chunk_shape[0] = 7;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                "chunk_shape[0] is 7, which does not divide the shard's 12");
}

static void
an_index_has_a_fixed_size (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_INT16, 2, 12);
  for (int kind = 0; kind < 3; kind++) {
    struct rd_chain *index = new_chain ();
    add_bytes (index, false);
    if (kind == 0)
      add_zstd (index, 3, false);
    if (kind == 1)
      add_gzip (index, 3);
    if (kind == 2)
      add_blosc (index, "lz4", 5, RD_BLOSC_SHUFFLE, 8, 0);
    CHAIN *chain = new_sharded (4, index);
    assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                  "index_codecs[1]");
  }
}

static void
an_index_of_a_rank_8_shard_is_not_transposed (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_INT16, 8, 2);
  CHAIN *chain = new_chain ();
  struct rd_chain *inner = new_chain (), *index = new_chain ();
  add_bytes (inner, false);
  add_transpose (index, 2, 1);
  add_bytes (index, false);
  add_sharding (chain, 8, 1, inner, index);
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_UNSUPPORTED,
                "rank-8");
}

static void
errors_inside_a_shard_are_found (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_INT16, 2, 12);
  CHAIN *chain = new_sharded (4, usual_index ());
  add_zstd (chain->codecs[0].u.sharding.inner, 99, false);
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                "sharding_indexed: codecs: zstd: level 99");
}

static void
shards_nest_only_so_deep (void **state)
{
  (void) state;
  for (int depth = 1; depth <= RD_CHAIN_MAX_DEPTH + 1; depth++) {
    struct rd_chunk chunk = cube (RADIO_INT16, 2, 64);
    struct rd_chain *inner = new_chain ();
    add_bytes (inner, false);
    for (int i = 0; i < depth; i++) {
      struct rd_chain *outer = new_chain ();
      add_sharding (outer, 2, (uint64_t) 1 << i, inner, usual_index ());
      inner = outer;
    }
    CHAIN *chain = inner;
    if (depth <= RD_CHAIN_MAX_DEPTH)
      assert_ok (rd_chain_check (chain, &chunk));
    else
      assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_UNSUPPORTED,
                    "deeper than 4");
  }
}

static void
an_index_that_cannot_be_addressed_is_refused (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_UINT8, 2, (uint64_t) 1 << 31);
  CHAIN *chain = new_sharded (1, usual_index ());
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_UNSUPPORTED,
                "index_codecs: chunk");
}

static void
a_bound_that_overflows_is_unknown (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_UINT8, 1, INT64_MAX);
  CHAIN *chain = new_chain ();
  add_bytes (chain, false);
  assert_true (rd_chain_bound (chain, &chunk) == INT64_MAX);
  for (int i = 0; i < 12; i++)
    add_zstd (chain, 3, false);
  assert_ok (rd_chain_check (chain, &chunk));
  assert_true (rd_chain_bound (chain, &chunk) == UINT64_MAX);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_chain_has_exactly_one_array_to_bytes_codec),
    cmocka_unit_test (a_transpose_after_the_bytes_is_out_of_order),
    cmocka_unit_test (a_transpose_is_a_permutation),
    cmocka_unit_test (a_chunk_has_a_size_that_can_be),
    cmocka_unit_test (options_are_within_their_ranges),
    cmocka_unit_test (blosc_options_are_within_their_ranges),
    cmocka_unit_test (a_blosc_frame_holds_less_than_2_gib),
    cmocka_unit_test (inner_chunks_divide_their_shard),
    cmocka_unit_test (inner_chunks_divide_the_transposed_shard),
    cmocka_unit_test (an_index_has_a_fixed_size),
    cmocka_unit_test (an_index_of_a_rank_8_shard_is_not_transposed),
    cmocka_unit_test (errors_inside_a_shard_are_found),
    cmocka_unit_test (shards_nest_only_so_deep),
    cmocka_unit_test (an_index_that_cannot_be_addressed_is_refused),
    cmocka_unit_test (a_bound_that_overflows_is_unknown),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
