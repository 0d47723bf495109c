/* SPDX-License-Identifier: MIT */
/* Shards, laid out by hand as other writers do: gaps, any order, shared and
 * missing chunks, the index at both ends and in other codecs; and indexes
 * that lie. */
#include <config.h>

#include "tests/codec/build.h"

#include "src/base/cleanup.h"
#include "src/codec/shard.h"

/* A 4 x 4 shard of int16 in four 2 x 2 chunks; element i of chunk c is
 * 10 * c + i. */
enum { CHUNK_NBYTES = 8, INDEX_NBYTES = 64 };

struct fixture {
  struct rd_chain *chain;
  struct rd_codec *codec;
  struct rd_chunk chunk;
  struct rd_scratch scratch;
  unsigned char shard[256];
  size_t nbytes;
};

static const int16_t fill = -1;

static struct fixture *
new_fixture (bool index_at_start, bool big_index)
{
  struct fixture *f = calloc (1, sizeof *f);
  assert_non_null (f);
  struct rd_chain *inner = new_chain (), *index = new_chain ();
  add_bytes (inner, false);
  add_bytes (index, big_index);
  f->chain = new_chain ();
  f->codec = add_sharding (f->chain, 2, 2, inner, index);
  f->codec->u.sharding.index_at_start = index_at_start;
  f->chunk = cube (RADIO_INT16, 2, 4);
  f->chunk.fill = &fill;
  assert_ok (rd_chain_check (f->chain, &f->chunk));
  return f;
}

static void
free_fixture (struct fixture *f)
{
  rd_chain_free (f->chain);
  rd_scratch_free (&f->scratch);
  free (f);
}

static void
put_chunk (struct fixture *f, size_t at, int c)
{
  for (int i = 0; i < 4; i++) {
    f->shard[at + 2 * (size_t) i] = (unsigned char) (10 * c + i);
    f->shard[at + 2 * (size_t) i + 1] = 0;
  }
}

static void
put_entry (struct fixture *f, size_t i, uint64_t offset, uint64_t nbytes)
{
  bool start = f->codec->u.sharding.index_at_start;
  bool big = f->codec->u.sharding.index->codecs[0].u.bytes.big_endian;
  unsigned char *p = f->shard + (start ? 0 : f->nbytes - INDEX_NBYTES)
    + 16 * i;
  for (int k = 0; k < 8; k++) {
    int at = big ? 7 - k : k;
    p[at] = (unsigned char) (offset >> 8 * k);
    p[8 + at] = (unsigned char) (nbytes >> 8 * k);
  }
}

static enum radio_status
decode (struct fixture *f, struct rd_view *view)
{
  return rd_chain_decode (f->chain, &f->chunk, &f->scratch, f->shard,
                          f->nbytes, view);
}

/* The four chunks' values; -1 for one that is missing. */
static void
check_values (struct fixture *f, const int *chunks)
{
  struct rd_view view;
  assert_ok (decode (f, &view));
  assert_false (view.swapped);
  for (size_t y = 0; y < 4; y++)
    for (size_t x = 0; x < 4; x++) {
      int16_t value;
      memcpy (&value, view.data + (int64_t) y * view.strides[0]
              + (int64_t) x * view.strides[1], sizeof value);
      int c = chunks[y / 2 * 2 + x / 2];
      assert_int_equal (value, c < 0 ? -1
                        : 10 * c + (int) (y % 2 * 2 + x % 2));
    }
}

static void
chunks_may_be_in_any_order_with_gaps (void **state)
{
  (void) state;
  static const int chunks[] = { 0, 1, 2, 3 };
  static const size_t places[] = { 40, 3, 28, 15 };
  for (int kind = 0; kind < 4; kind++) {
    struct fixture *f = new_fixture (kind & 1, kind & 2);
    size_t base = kind & 1 ? INDEX_NBYTES : 0;
    memset (f->shard, 0xee, sizeof f->shard);
    f->nbytes = 60 + INDEX_NBYTES;
    for (size_t c = 0; c < 4; c++) {
      put_chunk (f, base + places[c], (int) c);
      put_entry (f, c, base + places[c], CHUNK_NBYTES);
    }
    check_values (f, chunks);
    free_fixture (f);
  }
}

static void
chunks_may_be_missing_or_shared (void **state)
{
  (void) state;
  static const int chunks[] = { -1, 1, 1, -1 };
  struct fixture *f = new_fixture (false, false);
  f->nbytes = CHUNK_NBYTES + INDEX_NBYTES;
  put_chunk (f, 0, 1);
  put_entry (f, 0, RD_SHARD_MISSING, RD_SHARD_MISSING);
  put_entry (f, 1, 0, CHUNK_NBYTES);
  put_entry (f, 2, 0, CHUNK_NBYTES);
  put_entry (f, 3, RD_SHARD_MISSING, RD_SHARD_MISSING);
  check_values (f, chunks);
  free_fixture (f);
}

static void
a_wrong_entry_is_named (void **state)
{
  (void) state;
  static const struct { uint64_t offset, nbytes; const char *part; } lies[] = {
    { 0, 73, "73 bytes at 0 do not lie within the shard's 72" },
    { 65, 8, "8 bytes at 65" },
    { 73, 0, "0 bytes at 73" },
    { UINT64_MAX - 7, 8, "8 bytes at 18446744073709551608" },
    { 8, UINT64_MAX - 7, "18446744073709551608 bytes at 8" },
    { RD_SHARD_MISSING, 8, "8 bytes at 18446744073709551615" },
    { 0, RD_SHARD_MISSING, "18446744073709551615 bytes at 0" },
    { (uint64_t) 1 << 63, (uint64_t) 1 << 63, "at 9223372036854775808" },
  };
  struct rd_view view;
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    struct fixture *f = new_fixture (false, false);
    f->nbytes = CHUNK_NBYTES + INDEX_NBYTES;
    for (size_t c = 0; c < 4; c++)
      put_entry (f, c, 0, CHUNK_NBYTES);
    put_entry (f, 2, lies[i].offset, lies[i].nbytes);
    assert_fails (decode (f, &view), RADIO_ERROR_FORMAT, lies[i].part);
    assert_fails (decode (f, &view), RADIO_ERROR_FORMAT, "entry 2");
    free_fixture (f);
  }
}

static void
a_chunk_of_the_wrong_length_is_named_by_its_place (void **state)
{
  (void) state;
  struct rd_view view;
  struct fixture *f = new_fixture (false, false);
  f->nbytes = CHUNK_NBYTES + INDEX_NBYTES;
  for (size_t c = 0; c < 4; c++)
    put_entry (f, c, 0, c == 2 ? 7 : CHUNK_NBYTES);
  assert_fails (decode (f, &view), RADIO_ERROR_FORMAT,
                "inner chunk 1,0: bytes: decodes to 7 bytes instead of 8");
  free_fixture (f);
}

static void
a_shard_too_short_for_its_index_is_refused (void **state)
{
  (void) state;
  struct rd_view view;
  for (int start = 0; start < 2; start++) {
    struct fixture *f = new_fixture (start, false);
    for (f->nbytes = 0; f->nbytes < INDEX_NBYTES; f->nbytes++)
      assert_fails (decode (f, &view), RADIO_ERROR_FORMAT, "of 64");
    free_fixture (f);
  }
}

static void
an_index_of_another_length_is_refused (void **state)
{
  (void) state;
  struct fixture *f = new_fixture (false, false);
  struct rd_shard_index *index = NULL;
  assert_int_equal (rd_shard_index_nbytes (f->codec, &f->chunk),
                    INDEX_NBYTES);
  assert_fails (rd_shard_index_decode (f->codec, &f->chunk, &f->scratch,
                                       f->shard, INDEX_NBYTES - 1, 100,
                                       &index),
                RADIO_ERROR_FORMAT, "63 bytes instead of 64");
  assert_null (index);
  free_fixture (f);
}

static void
a_damaged_index_fails_its_checksum (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  struct rd_chain *inner = new_chain ();
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_chunk chunk = cube (RADIO_UINT8, 3, 4);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 3);
  struct rd_view view;
  add_bytes (inner, false);
  add_codec (inner, RD_CODEC_CRC32C);
  add_sharding (chain, 3, 2, inner, usual_index ());
  assert_ok (rd_chain_encode (chain, &chunk, &scratch, elements, &out));
  for (size_t bit = 0; bit < 8 * out.nbytes; bit++) {
    out.data[bit / 8] ^= (unsigned char) (1u << bit % 8);
    assert_fails (rd_chain_decode (chain, &chunk, &scratch, out.data,
                                   out.nbytes, &view),
                  RADIO_ERROR_CHECKSUM, "crc32c");
    out.data[bit / 8] ^= (unsigned char) (1u << bit % 8);
  }
  rd_scratch_free (&scratch);
}

/* Elements are 0 except in chunk 1, as the encoder of a CT's air has it. */
static void
fill_chunks_are_left_out_of_a_shard (void **state)
{
  (void) state;
  static const int16_t zero;
  for (int start = 0; start < 2; start++) {
    struct fixture *f = new_fixture (start, false);
    RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
    struct rd_shard_index *index = NULL;
    int16_t elements[16] = { 0 };
    elements[2 * 4 + 1] = 5;
    f->chunk.fill = &zero;
    assert_ok (rd_chain_encode (f->chain, &f->chunk, &f->scratch, elements,
                                &out));
    assert_int_equal (out.nbytes, CHUNK_NBYTES + INDEX_NBYTES);
    assert_ok (rd_shard_index_decode (
      f->codec, &f->chunk, &f->scratch,
      out.data + (start ? 0 : CHUNK_NBYTES), INDEX_NBYTES, out.nbytes,
      &index));
    for (size_t i = 0; i < 4; i++) {
      bool kept = i == 2;
      assert_true (index->entries[i].offset
                   == (kept ? start * (uint64_t) INDEX_NBYTES
                            : RD_SHARD_MISSING));
      assert_true (index->entries[i].nbytes
                   == (kept ? CHUNK_NBYTES : RD_SHARD_MISSING));
    }
    rd_free (index);
    free_fixture (f);
  }
}

static void
chunks_are_written_in_c_order_without_gaps (void **state)
{
  (void) state;
  struct fixture *f = new_fixture (true, true);
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_shard_index *index = NULL;
  RD_FREE_PLAIN unsigned char *elements = make_elements (&f->chunk, 2);
  assert_ok (rd_chain_encode (f->chain, &f->chunk, &f->scratch, elements,
                              &out));
  assert_ok (rd_shard_index_decode (f->codec, &f->chunk, &f->scratch,
                                    out.data, INDEX_NBYTES, out.nbytes,
                                    &index));
  for (size_t i = 0; i < 4; i++)
    assert_int_equal (index->entries[i].offset,
                      INDEX_NBYTES + i * CHUNK_NBYTES);
  rd_free (index);
  free_fixture (f);
}

static void
an_index_survives_at_rank_8 (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  struct rd_chain *inner = new_chain ();
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_chunk chunk = cube (RADIO_UINT8, 8, 2);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 3);
  struct rd_view view;
  add_bytes (inner, false);
  add_sharding (chain, 8, 1, inner, usual_index ());
  assert_ok (rd_chain_check (chain, &chunk));
  assert_ok (rd_chain_encode (chain, &chunk, &scratch, elements, &out));
  assert_ok (rd_chain_decode (chain, &chunk, &scratch, out.data, out.nbytes,
                              &view));
  assert_memory_equal (view.data, elements, 256);
  rd_scratch_free (&scratch);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (chunks_may_be_in_any_order_with_gaps),
    cmocka_unit_test (chunks_may_be_missing_or_shared),
    cmocka_unit_test (a_wrong_entry_is_named),
    cmocka_unit_test (a_chunk_of_the_wrong_length_is_named_by_its_place),
    cmocka_unit_test (a_shard_too_short_for_its_index_is_refused),
    cmocka_unit_test (an_index_of_another_length_is_refused),
    cmocka_unit_test (a_damaged_index_fails_its_checksum),
    cmocka_unit_test (fill_chunks_are_left_out_of_a_shard),
    cmocka_unit_test (chunks_are_written_in_c_order_without_gaps),
    cmocka_unit_test (an_index_survives_at_rank_8),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
