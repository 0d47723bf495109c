/* SPDX-License-Identifier: MIT */
/* vlen-utf8: the bytes that the codec's text describes, each way in which a
 * chunk can be wrong, and chains that cannot hold strings. */
#include <config.h>

#include "tests/codec/build.h"

#include "src/base/text.h"

#define STRINGS_NBYTES ((uint64_t) 1 << 20)

static const struct rd_string no_text = { "", 0 };

static struct rd_chunk
chunk_of (uint64_t rows, uint64_t columns)
{
  return (struct rd_chunk) {
    .rank = 2, .shape = { rows, columns },
    .type = { RADIO_STRING, sizeof (struct rd_string), 1 },
    .fill = &no_text, .strings_nbytes = STRINGS_NBYTES,
  };
}

static const struct rd_string words[] = {
  { "a", 1 }, { "", 0 }, { "\xc3\xbc", 2 }, { "x\0y", 3 },
  { "12345678\xe2\x82\xac", 11 }, { "n/a", 3 },
};

/* The same as bytes of a 2 x 3 chunk. */
static const char encoded_words[] =
  "\6\0\0\0" "\1\0\0\0a" "\0\0\0\0" "\2\0\0\0\xc3\xbc" "\3\0\0\0x\0y"
  "\x0b\0\0\0" "12345678\xe2\x82\xac" "\3\0\0\0n/a";

static enum radio_status
decode (const void *bytes, size_t nbytes, const struct rd_chunk *chunk,
        struct rd_scratch *scratch, struct rd_view *view)
{
  struct rd_chain *chain = new_chain ();
  add_codec (chain, RD_CODEC_VLEN_UTF8);
  assert_ok (rd_chain_check (chain, chunk));
  enum radio_status status = rd_chain_decode (chain, chunk, scratch, bytes,
                                              nbytes, view);
  rd_chain_free (chain);
  return status;
}

static void
assert_words (const struct rd_view *view, size_t step)
{
  for (size_t i = 0; i < 6; i++) {
    size_t row = i / 3, column = i % 3;
    struct rd_string string;
    memcpy (&string, view->data + (int64_t) row * view->strides[0]
            + (int64_t) column * view->strides[1], sizeof string);
    const struct rd_string *word = &words[step == 1 ? i : column * 2 + row];
    assert_int_equal (string.nbytes, word->nbytes);
    assert_memory_equal (string.data, word->data, string.nbytes);
  }
}

static void
strings_are_encoded_as_the_codec_says_and_decoded (void **state)
{
  (void) state;
  const struct rd_chunk chunk = chunk_of (2, 3);
  struct rd_chain *chain = new_chain ();
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_view view;
  add_codec (chain, RD_CODEC_VLEN_UTF8);
  assert_ok (rd_chain_encode (chain, &chunk, &scratch, words, &out));
  assert_int_equal (out.nbytes, sizeof encoded_words - 1);
  assert_memory_equal (out.data, encoded_words, out.nbytes);
  assert_ok (decode (encoded_words, sizeof encoded_words - 1, &chunk,
                     &scratch, &view));
  assert_words (&view, 1);
  rd_scratch_free (&scratch);
  rd_chain_free (chain);
}

/* The words are those of a 3 x 2 chunk before it is transposed. */
static void
transposed_strings_are_the_same_strings (void **state)
{
  (void) state;
  const struct rd_chunk chunk = chunk_of (2, 3);
  struct rd_chain *chain = new_chain ();
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct rd_string turned[6];
  struct rd_view view;
  for (size_t i = 0; i < 6; i++)
    turned[i] = words[i % 3 * 2 + i / 3];
  add_transpose (chain, 2, 1);
  add_codec (chain, RD_CODEC_VLEN_UTF8);
  add_zstd (chain, 3, false);
  assert_ok (rd_chain_check (chain, &chunk));
  assert_ok (rd_chain_encode (chain, &chunk, &scratch, turned, &out));
  assert_ok (rd_chain_decode (chain, &chunk, &scratch, out.data, out.nbytes,
                              &view));
  assert_words (&view, 2);
  rd_scratch_free (&scratch);
  rd_chain_free (chain);
}

static void
every_way_to_be_wrong_is_named (void **state)
{
  (void) state;
  static const struct {
    const char *bytes;
    size_t nbytes;
    const char *message;
  } bad[] = {
    { "", 0, "0 bytes cannot hold the count" },
    { "\2\0\0", 3, "3 bytes cannot hold the count" },
    { "\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, "3 strings instead of 2" },
    { "\xff\xff\xff\xff\0\0\0\0\0\0\0\0", 12, "4294967295 strings" },
    { "\2\0\0\0\0\0\0\0", 8, "8 bytes cannot hold 2 strings" },
    { "\2\0\0\0\1\0\0\0a\0\0\0", 12, "within the length of string 1" },
    { "\2\0\0\0\xff\xff\xff\xff\0\0\0\0", 12,
      "string 0 claims 4294967295 bytes at byte 8 of 12" },
    { "\2\0\0\0\0\0\0\0\1\0\0\0", 12, "string 1 claims 1 bytes" },
    { "\2\0\0\0\0\0\0\0\0\0\0\0x", 13, "1 bytes follow" },
    { "\2\0\0\0\2\0\0\0a\xff\0\0\0\0", 14,
      "byte 1 of string 0 (0xff) is not UTF-8" },
    /* A character cut short by the end of its string. */
    { "\2\0\0\0\0\0\0\0\2\0\0\0\xe2\x82", 14, "byte 0 of string 1" },
    { "\2\0\0\0\1\0\0\0\xc3\2\0\0\0\xbc!", 15, "byte 0 of string 0" },
    /* A surrogate, an overlong form, beyond Unicode. */
    { "\2\0\0\0\3\0\0\0\xed\xa0\x80\0\0\0\0", 15, "not UTF-8" },
    { "\2\0\0\0\2\0\0\0\xc0\x80\0\0\0\0", 14, "not UTF-8" },
    { "\2\0\0\0\4\0\0\0\xf4\x90\x80\x80\0\0\0\0", 16, "not UTF-8" },
  };
  const struct rd_chunk chunk = chunk_of (1, 2);
  struct rd_scratch scratch = { 0 };
  struct rd_view view;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    /* A copy, so that a read beyond its end is seen. */
    unsigned char *copy = rd_malloc (bad[i].nbytes + 1);
    memcpy (copy + 1, bad[i].bytes, bad[i].nbytes);
    assert_fails (decode (copy + 1, bad[i].nbytes, &chunk, &scratch, &view),
                  RADIO_ERROR_FORMAT, bad[i].message);
    rd_free (copy);
  }
  rd_scratch_free (&scratch);
}

/* Zeros: as many empty strings as there are; 64 MiB from some kilobytes. */
static void
a_bomb_is_refused_at_the_limit (void **state)
{
  (void) state;
  static const enum rd_codec_id ids[] = { RD_CODEC_ZSTD, RD_CODEC_GZIP };
  const size_t nbytes = (size_t) 64 << 20;
  const struct rd_chunk chunk = chunk_of (1, 2);
  unsigned char *zeros = rd_calloc (1, nbytes);
  assert_non_null (zeros);
  for (size_t i = 0; i < 2; i++) {
    struct rd_chain *chain = new_chain ();
    struct rd_scratch scratch = { 0 };
    RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
    struct rd_view view;
    add_codec (chain, RD_CODEC_VLEN_UTF8);
    struct rd_codec *codec = add_codec (chain, ids[i]);
    if (ids[i] == RD_CODEC_ZSTD)
      codec->u.zstd.level = 1;
    else
      codec->u.gzip.level = 1;
    const struct rd_bytes in = { zeros, nbytes };
    assert_ok (ids[i] == RD_CODEC_ZSTD
               ? rd_zstd_encode (codec, &scratch, in, &out)
               : rd_gzip_encode (codec, &scratch, in, &out));
    rd_scratch_free (&scratch);
    assert_fails (rd_chain_decode (chain, &chunk, &scratch, out.data,
                                   out.nbytes, &view),
                  RADIO_ERROR_LIMIT, "more than 1048576 bytes of text");
    assert_true (rd_scratch_nbytes (&scratch)
                 < 4 * STRINGS_NBYTES);
    rd_scratch_free (&scratch);
    rd_chain_free (chain);
  }
  rd_free (zeros);
}

static void
chains_that_cannot_hold_strings_are_refused (void **state)
{
  (void) state;
  struct rd_chunk chunk = chunk_of (1, 2), numbers = chunk;
  struct rd_chain *chain = new_chain ();
  add_bytes (chain, false);
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                "need vlen-utf8");
  chain->codecs[0].id = RD_CODEC_VLEN_UTF8;
  numbers.type = rd_type_of (RADIO_INT16);
  assert_fails (rd_chain_check (chain, &numbers), RADIO_ERROR_FORMAT,
                "int16 are not strings");
  chunk.shape[0] = (uint64_t) 1 << 31;
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                "4294967296 strings");
  add_codec (chain, RD_CODEC_VLEN_UTF8);
  assert_fails (rd_chain_check (chain, &chunk), RADIO_ERROR_FORMAT,
                "out of order");
  rd_chain_free (chain);
}

/* Every length up to 20 and every place of one character within it. */
static void
valid_text_is_found_up_to_its_first_fault (void **state)
{
  (void) state;
  static const char *const characters[] = {
    "\x7f", "\xc2\x80", "\xe0\xa0\x80", "\xf0\x90\x80\x80", "\0",
  };
  for (size_t n = 0; n <= 20; n++)
    for (size_t at = 0; at < n; at++)
      for (size_t k = 0; k < 5; k++) {
        size_t size = k < 4 ? k + 1 : 1;
        char *text = rd_malloc (n);
        memset (text, 'x', n);
        size_t kept = size < n - at ? size : n - at;
        memcpy (text + at, characters[k], kept);
        assert_int_equal (rd_utf8_valid_nbytes (text, n),
                          kept == size ? n : at);
        text[at] = '\x80';
        assert_int_equal (rd_utf8_valid_nbytes (text, n), at);
        rd_free (text);
      }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (strings_are_encoded_as_the_codec_says_and_decoded),
    cmocka_unit_test (transposed_strings_are_the_same_strings),
    cmocka_unit_test (every_way_to_be_wrong_is_named),
    cmocka_unit_test (a_bomb_is_refused_at_the_limit),
    cmocka_unit_test (chains_that_cannot_hold_strings_are_refused),
    cmocka_unit_test (valid_text_is_found_up_to_its_first_fault),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
