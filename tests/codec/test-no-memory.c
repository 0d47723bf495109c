/* SPDX-License-Identifier: MIT */
/* Memory: every allocation of the codecs may fail and is reported; the
 * second tile needs none; and no header makes them request more than the
 * chunk's size explains. */
#include <config.h>

#include "tests/alloc-fail.h"
#include "tests/codec/build.h"

#include "src/base/cleanup.h"
#include "src/codec/codec.h"

/* A shard of 3-D tiles with every kind of codec in it. */
static struct rd_chain *
new_full_chain (void)
{
  struct rd_chain *chain = new_chain (), *inner = new_chain ();
  add_transpose (inner, 3, 1);
  add_bytes (inner, true);
  add_blosc (inner, "lz4", 5, RD_BLOSC_BITSHUFFLE, 2, 0);
  add_zstd (inner, 1, false);
  add_codec (inner, RD_CODEC_CRC32C);
  add_sharding (chain, 3, 8, inner, usual_index ());
  add_gzip (chain, 1);
  return chain;
}

static void
an_encoder_without_memory_reports_it (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_full_chain ();
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 16);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 1);
  for (size_t nth = 1;; nth++) {
    struct rd_scratch scratch = { 0 };
    struct rd_buffer out = { 0 };
    alloc_fail_nth (nth);
    enum radio_status status = rd_chain_encode (chain, &chunk, &scratch,
                                                elements, &out);
    bool failed = alloc_fail_end ();
    rd_buffer_free (&out);
    rd_scratch_free (&scratch);
    assert_int_equal (status, failed ? RADIO_ERROR_MEMORY : RADIO_OK);
    if (!failed)
      break;
    assert_true (nth < 1000);
  }
}

static void
a_decoder_without_memory_reports_it (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_full_chain ();
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 16);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 1);
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_scratch encoder = { 0 };
  struct rd_view view;
  assert_ok (rd_chain_encode (chain, &chunk, &encoder, elements, &out));
  rd_scratch_free (&encoder);
  for (size_t nth = 1;; nth++) {
    struct rd_scratch scratch = { 0 };
    alloc_fail_nth (nth);
    enum radio_status status = rd_chain_decode (chain, &chunk, &scratch,
                                                out.data, out.nbytes, &view);
    bool failed = alloc_fail_end ();
    rd_scratch_free (&scratch);
    assert_int_equal (status, failed ? RADIO_ERROR_MEMORY : RADIO_OK);
    if (!failed)
      break;
    assert_true (nth < 1000);
  }
}

static void
a_second_tile_allocates_nothing (void **state)
{
  (void) state;
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 16);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 1);
  for (int kind = 0; kind < 4; kind++) {
    RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
    RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
    struct rd_scratch scratch = { 0 };
    struct rd_view view;
    add_bytes (chain, false);
    if (kind < 2)
      add_blosc (chain, kind ? "zstd" : "lz4", 5, RD_BLOSC_BITSHUFFLE, 2, 0);
    if (kind == 2)
      add_zstd (chain, 3, false);
    if (kind == 3)
      add_gzip (chain, 6);
    add_codec (chain, RD_CODEC_CRC32C);
    size_t count = 1;
    for (int i = 0; i < 3; i++) {
      alloc_fail_nth (0);
      enum radio_status encoded = rd_chain_encode (chain, &chunk, &scratch,
                                                   elements, &out);
      enum radio_status decoded = rd_chain_decode (
        chain, &chunk, &scratch, out.data, out.nbytes, &view);
      count = alloc_fail_count ();
      alloc_fail_end ();
      assert_ok (encoded);
      assert_ok (decoded);
    }
    assert_int_equal (count, 0);
    rd_scratch_free (&scratch);
  }
}

/* Every value of every byte of a header, for a chunk of 4 KiB. */
static void
no_blosc_header_takes_memory_by_its_claims (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  struct rd_chunk chunk = cube (RADIO_INT16, 1, 2048);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 1);
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_scratch encoder = { 0 };
  struct rd_view view;
  add_bytes (chain, false);
  add_blosc (chain, "lz4", 5, RD_BLOSC_BITSHUFFLE, 2, 512);
  assert_ok (rd_chain_encode (chain, &chunk, &encoder, elements, &out));
  rd_scratch_free (&encoder);
  for (size_t at = 0; at < 16 + 4; at++)
    for (unsigned value = 0; value < 256; value++) {
      struct rd_scratch scratch = { 0 };
      unsigned char old = out.data[at];
      out.data[at] = (unsigned char) value;
      alloc_fail_nth (0);
      enum radio_status status = rd_chain_decode (
        chain, &chunk, &scratch, out.data, out.nbytes, &view);
      size_t largest = alloc_fail_largest ();
      alloc_fail_end ();
      out.data[at] = old;
      rd_scratch_free (&scratch);
      /* A block has a header beside the requested bytes. */
      assert_true (largest <= 2 * 4096 + 64);
      assert_true (status == RADIO_OK || status == RADIO_ERROR_FORMAT
                   || status == RADIO_ERROR_UNSUPPORTED);
    }
}

static void
a_description_without_memory_is_null (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_full_chain ();
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    char *text = rd_chain_describe (chain);
    bool failed = alloc_fail_end ();
    assert_true (failed == (text == NULL));
    rd_free (text);
    if (!failed)
      break;
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (an_encoder_without_memory_reports_it),
    cmocka_unit_test (a_decoder_without_memory_reports_it),
    cmocka_unit_test (a_second_tile_allocates_nothing),
    cmocka_unit_test (no_blosc_header_takes_memory_by_its_claims),
    cmocka_unit_test (a_description_without_memory_is_null),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
