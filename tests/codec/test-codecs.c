/* SPDX-License-Identifier: MIT */
/* The single codecs, fed what other encoders make: zstd as a stream and in
 * several frames, gzip in several members, the checksums of RFC 3720; and
 * damaged, cut and exploding input. */
#include <config.h>

#include <libdeflate.h>
#include <zstd.h>

#include "tests/codec/build.h"

#include "src/base/cleanup.h"
#include "src/codec/codec.h"

enum { N = 3000 };

struct fixture {
  struct rd_scratch scratch;
  struct rd_buffer out;
  unsigned char data[N], encoded[8 * N];
  size_t nbytes;
};

static struct fixture *
new_fixture (void)
{
  struct fixture *f = calloc (1, sizeof *f);
  assert_non_null (f);
  uint64_t seed = 3;
  for (size_t i = 0; i < N; i++)
    f->data[i] = (unsigned char) (random_next (&seed) % 9);
  return f;
}

static void
free_fixture (struct fixture *f)
{
  rd_buffer_free (&f->out);
  rd_scratch_free (&f->scratch);
  free (f);
}

typedef enum radio_status decode_fn (struct rd_scratch *scratch,
                                     struct rd_bytes in,
                                     struct rd_decoded_size extent,
                                     struct rd_buffer *out);

static enum radio_status
decode (struct fixture *f, decode_fn *fn, uint64_t nbytes, bool exact)
{
  struct rd_bytes in = { f->encoded, f->nbytes };
  struct rd_decoded_size extent = { nbytes, exact, false };
  return fn (&f->scratch, in, extent, &f->out);
}

static void
check_decodes (struct fixture *f, decode_fn *fn)
{
  assert_ok (decode (f, fn, N, true));
  assert_int_equal (f->out.nbytes, N);
  assert_memory_equal (f->out.data, f->data, N);
  assert_ok (decode (f, fn, 2 * N, false));
  assert_int_equal (f->out.nbytes, N);
  assert_fails (decode (f, fn, N - 1, true), RADIO_ERROR_FORMAT, "2999");
  assert_fails (decode (f, fn, N + 1, true), RADIO_ERROR_FORMAT, "3001");
  assert_fails (decode (f, fn, N - 1, false), RADIO_ERROR_FORMAT, "2999");
}

/* A stream whose end is not known when it begins, flushed on the way. */
static void
zstd_stream (struct fixture *f, int window_log)
{
  ZSTD_CCtx *encoder = ZSTD_createCCtx ();
  ZSTD_outBuffer out = { f->encoded, sizeof f->encoded, 0 };
  ZSTD_CCtx_setParameter (encoder, ZSTD_c_windowLog, window_log);
  for (size_t at = 0; at < N; at += N / 3) {
    ZSTD_inBuffer in = { f->data + at, N / 3, 0 };
    size_t rest = ZSTD_compressStream2 (
      encoder, &out, &in, at + N / 3 < N ? ZSTD_e_flush : ZSTD_e_end);
    assert_int_equal (rest, 0);
  }
  f->nbytes = out.pos;
  ZSTD_freeCCtx (encoder);
}

static void
zstd_frames_without_a_content_size_are_read (void **state)
{
  (void) state;
  struct fixture *f = new_fixture ();
  zstd_stream (f, 0);
  assert_true (ZSTD_getFrameContentSize (f->encoded, f->nbytes)
               == ZSTD_CONTENTSIZE_UNKNOWN);
  check_decodes (f, rd_zstd_decode);
  /* Its header claims a window of 64 MiB, which is not allocated. */
  zstd_stream (f, 26);
  check_decodes (f, rd_zstd_decode);
  free_fixture (f);
}

static void
several_zstd_frames_are_read_as_one (void **state)
{
  (void) state;
  struct fixture *f = new_fixture ();
  static const size_t ends[] = { 0, 1, 1000, 1000, N };
  for (size_t i = 0; i + 1 < 5; i++)
    f->nbytes += ZSTD_compress (f->encoded + f->nbytes,
                                sizeof f->encoded - f->nbytes,
                                f->data + ends[i], ends[i + 1] - ends[i], 3);
  check_decodes (f, rd_zstd_decode);
  free_fixture (f);
}

static void
our_zstd_frames_say_their_content_size (void **state)
{
  (void) state;
  struct fixture *f = new_fixture ();
  struct rd_chain *chain = new_chain ();
  struct rd_bytes in = { f->data, N };
  static const int levels[] = { -131072, -5, 0, 1, 22 };
  for (size_t i = 0; i < 5; i++) {
    add_zstd (chain, levels[i], i % 2);
    assert_ok (rd_zstd_encode (&chain->codecs[i], &f->scratch, in, &f->out));
    assert_int_equal (ZSTD_getFrameContentSize (f->out.data, f->out.nbytes),
                      N);
    assert_int_equal (f->out.data[4] >> 2 & 1, i % 2);
    assert_int_equal (ZSTD_decompress (f->encoded, sizeof f->encoded,
                                       f->out.data, f->out.nbytes), N);
    assert_memory_equal (f->encoded, f->data, N);
  }
  rd_chain_free (chain);
  free_fixture (f);
}

static void
a_zstd_checksum_that_differs_is_reported_as_such (void **state)
{
  (void) state;
  struct fixture *f = new_fixture ();
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  struct rd_bytes in = { f->data, N };
  struct rd_buffer out = { 0 };
  add_zstd (chain, 3, true);
  assert_ok (rd_zstd_encode (&chain->codecs[0], &f->scratch, in, &out));
  memcpy (f->encoded, out.data, out.nbytes);
  f->nbytes = out.nbytes;
  f->encoded[f->nbytes - 1] ^= 1;
  assert_fails (decode (f, rd_zstd_decode, N, true), RADIO_ERROR_CHECKSUM,
                "checksum");
  rd_buffer_free (&out);
  free_fixture (f);
}

static void
gzip_member (struct fixture *f, size_t from, size_t to, int level)
{
  struct libdeflate_compressor *c = libdeflate_alloc_compressor (level);
  assert_non_null (c);
  size_t n = libdeflate_gzip_compress (c, f->data + from, to - from,
                                       f->encoded + f->nbytes,
                                       sizeof f->encoded - f->nbytes);
  assert_true (n > 0);
  f->nbytes += n;
  libdeflate_free_compressor (c);
}

static void
several_gzip_members_are_read_as_one (void **state)
{
  (void) state;
  struct fixture *f = new_fixture ();
  gzip_member (f, 0, 0, 6);
  gzip_member (f, 0, 1, 1);
  gzip_member (f, 1, 2000, 9);
  gzip_member (f, 2000, N, 6);
  gzip_member (f, 0, 0, 6);
  check_decodes (f, rd_gzip_decode);
  free_fixture (f);
}

/* A member as RFC 1952 allows it, by hand: a name, a comment, an extra
 * field, a header checksum, and one stored block. */
static void
a_gzip_header_with_every_field_is_read (void **state)
{
  (void) state;
  static const unsigned char member[] = {
    0x1f, 0x8b, 8, 0x1c, 0, 0, 0, 0, 0, 255, 3, 0, 'a', 'b', 'c',
    'n', 0, 'c', 'o', 0, 1, 3, 0, 0xfc, 0xff, 'x', 'y', 'z',
    0x36, 0x24, 0x8e, 0xeb, 3, 0, 0, 0,
  };
  struct fixture *f = new_fixture ();
  memcpy (f->encoded, member, sizeof member);
  uint32_t crc = libdeflate_crc32 (0, "xyz", 3);
  for (int i = 0; i < 4; i++)
    f->encoded[sizeof member - 8 + i] = (unsigned char) (crc >> 8 * i);
  f->nbytes = sizeof member;
  assert_ok (decode (f, rd_gzip_decode, 3, true));
  assert_memory_equal (f->out.data, "xyz", 3);
  free_fixture (f);
}

static void
rubbish_after_a_gzip_member_is_named_by_its_place (void **state)
{
  (void) state;
  struct fixture *f = new_fixture ();
  gzip_member (f, 0, N, 6);
  char place[32];
  snprintf (place, sizeof place, "byte %zu", f->nbytes);
  f->encoded[f->nbytes++] = 0;
  assert_fails (decode (f, rd_gzip_decode, N, true), RADIO_ERROR_FORMAT,
                place);
  f->nbytes = 0;
  assert_fails (decode (f, rd_gzip_decode, N, true), RADIO_ERROR_FORMAT,
                "byte 0");
  free_fixture (f);
}

/* RFC 3720, B.4: 32 bytes each. */
static void
checksums_are_those_of_the_rfc (void **state)
{
  (void) state;
  static const uint32_t crcs[] = { 0x8a9136aa, 0x62a8ab43, 0x46dd794e,
                                   0x113fdb5c };
  for (size_t k = 0; k < 4; k++) {
    struct rd_buffer buffer = { 0 };
    for (int i = 0; i < 32; i++) {
      const unsigned char bytes[] = { 0, 255, (unsigned char) i,
                                      (unsigned char) (31 - i) };
      assert_ok (rd_buffer_append (&buffer, &bytes[k], 1));
    }
    assert_ok (rd_crc32c_append (&buffer));
    assert_int_equal (buffer.nbytes, 36);
    for (int i = 0; i < 4; i++)
      assert_int_equal (buffer.data[32 + i], crcs[k] >> 8 * i & 0xff);
    struct rd_bytes in = { buffer.data, 36 };
    assert_ok (rd_crc32c_verify (&in));
    assert_int_equal (in.nbytes, 32);
    rd_buffer_free (&buffer);
  }
}

static void
a_checksum_needs_four_bytes (void **state)
{
  (void) state;
  unsigned char zeros[4] = { 0 };
  for (size_t n = 0; n < 4; n++) {
    struct rd_bytes in = { zeros, n };
    assert_fails (rd_crc32c_verify (&in), RADIO_ERROR_FORMAT, "too few");
  }
  struct rd_bytes in = { zeros, 4 };
  assert_ok (rd_crc32c_verify (&in));    /* the checksum of nothing is 0 */
}

/* 64 MiB of zeros inside zstd inside gzip, for a chunk of 1 KiB: what is
 * allocated is bounded by the chunk. */
static void
a_bomb_in_the_middle_of_a_chain_finds_no_memory (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *bomb = new_chain ();
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_chunk chunk = cube (RADIO_UINT8, 1, 1024);
  struct rd_chunk large = cube (RADIO_UINT8, 1, 64 << 20);
  struct rd_scratch other = { 0 };
  struct rd_view view;
  RD_FREE_PLAIN unsigned char *zeros = calloc (1, 64 << 20);
  assert_non_null (zeros);
  add_bytes (chain, false);
  add_gzip (chain, 1);
  add_zstd (chain, 1, false);
  add_bytes (bomb, false);
  add_zstd (bomb, 1, false);
  assert_ok (rd_chain_encode (bomb, &large, &other, zeros, &out));
  assert_fails (rd_chain_decode (chain, &chunk, &scratch, out.data,
                                 out.nbytes, &view),
                RADIO_ERROR_FORMAT, "zstd: decodes to more than");
  assert_true (scratch.stages[0].capacity + scratch.stages[1].capacity
               < 16384);
  rd_scratch_free (&scratch);
  rd_scratch_free (&other);
}

/* Without a checksum a flip may go unnoticed, but never astray; with one it
 * is always found. */
static void
every_flipped_bit_is_found_or_harmless (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  struct rd_chunk chunk = cube (RADIO_INT16, 3, 6);
  RD_FREE_PLAIN unsigned char *elements = make_elements (&chunk, 5);
  for (int kind = 0; kind < 8; kind++) {
    RD_CLEANUP (rd_cleanup_chain) struct rd_chain *chain = new_chain ();
    RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
    struct rd_view view;
    add_bytes (chain, false);
    if (kind / 2 == 1)
      add_zstd (chain, 3, false);
    if (kind / 2 == 2)
      add_gzip (chain, 6);
    if (kind / 2 == 3)
      add_blosc (chain, "lz4", 5, RD_BLOSC_SHUFFLE, 2, 0);
    if (kind % 2)
      add_codec (chain, RD_CODEC_CRC32C);
    assert_ok (rd_chain_encode (chain, &chunk, &scratch, elements, &out));
    for (size_t bit = 0; bit < 8 * out.nbytes; bit++) {
      out.data[bit / 8] ^= (unsigned char) (1u << bit % 8);
      enum radio_status status = rd_chain_decode (
        chain, &chunk, &scratch, out.data, out.nbytes, &view);
      if (kind % 2)
        assert_int_equal (status, RADIO_ERROR_CHECKSUM);
      else if (status != RADIO_OK)
        assert_true (radio_error_message ()[0] != '\0');
      out.data[bit / 8] ^= (unsigned char) (1u << bit % 8);
    }
  }
  rd_scratch_free (&scratch);
}

static void
input_cut_anywhere_is_refused (void **state)
{
  (void) state;
  struct fixture *f = new_fixture ();
  gzip_member (f, 0, N, 6);
  while (f->nbytes-- > 0)
    assert_int_equal (decode (f, rd_gzip_decode, N, true),
                      RADIO_ERROR_FORMAT);
  zstd_stream (f, 0);
  while (f->nbytes-- > 0)
    assert_int_equal (decode (f, rd_zstd_decode, N, true),
                      RADIO_ERROR_FORMAT);
  free_fixture (f);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (zstd_frames_without_a_content_size_are_read),
    cmocka_unit_test (several_zstd_frames_are_read_as_one),
    cmocka_unit_test (our_zstd_frames_say_their_content_size),
    cmocka_unit_test (a_zstd_checksum_that_differs_is_reported_as_such),
    cmocka_unit_test (several_gzip_members_are_read_as_one),
    cmocka_unit_test (a_gzip_header_with_every_field_is_read),
    cmocka_unit_test (rubbish_after_a_gzip_member_is_named_by_its_place),
    cmocka_unit_test (checksums_are_those_of_the_rfc),
    cmocka_unit_test (a_checksum_needs_four_bytes),
    cmocka_unit_test (a_bomb_in_the_middle_of_a_chain_finds_no_memory),
    cmocka_unit_test (every_flipped_bit_is_found_or_harmless),
    cmocka_unit_test (input_cut_anywhere_is_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
