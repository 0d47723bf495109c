/* SPDX-License-Identifier: MIT */
/* Our reader of blosc frames against libblosc, which made them; and against
 * headers that lie. */
#include <config.h>

#include <blosc.h>

#include "tests/codec/build.h"

#include "src/base/cleanup.h"
#include "src/codec/codec.h"

static const char *const cnames[] = { "blosclz", "lz4", "lz4hc", "snappy",
                                      "zlib", "zstd" };
enum { CNAMES = 6, ROOM = 40000 };

static void
put_u32 (unsigned char *to, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    to[i] = (unsigned char) (value >> 8 * i);
}

/* Steps of a random walk, as elements of some size: like an image. */
static void
fill_walk (unsigned char *data, size_t nbytes, size_t typesize)
{
  uint64_t seed = typesize;
  uint32_t value = 1000;
  for (size_t i = 0; i < nbytes; i++) {
    if (i % typesize == 0)
      value += (uint32_t) (random_next (&seed) % 7) - 3;
    data[i] = (unsigned char) (value >> 8 * (i % typesize % 4));
  }
}

struct frame {
  unsigned char data[ROOM], encoded[ROOM + BLOSC_MAX_OVERHEAD];
  size_t nbytes, cbytes;
};

static void
make_frame (struct frame *frame, const char *cname, int shuffle,
            size_t typesize, size_t blocksize, size_t nbytes)
{
  fill_walk (frame->data, nbytes, typesize);
  int n = blosc_compress_ctx (5, shuffle, typesize, nbytes, frame->data,
                              frame->encoded, nbytes + BLOSC_MAX_OVERHEAD,
                              cname, blocksize, 1);
  assert_true (n > 0);
  frame->nbytes = nbytes;
  frame->cbytes = (size_t) n;
}

static enum radio_status
decode (struct rd_scratch *scratch, const struct frame *frame,
        struct rd_buffer *out)
{
  struct rd_bytes in = { frame->encoded, frame->cbytes };
  struct rd_decoded_size extent = { frame->nbytes, true, false };
  return rd_blosc_decode (scratch, in, extent, out);
}

static void
check_frame (struct rd_scratch *scratch, const struct frame *frame)
{
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  assert_ok (decode (scratch, frame, &out));
  assert_int_equal (out.nbytes, frame->nbytes);
  assert_memory_equal (out.data, frame->data, frame->nbytes);
}

/* Sizes around the edges of blocks, of splits and of vectors. */
static void
check_sizes (const char *cname, int shuffle, size_t typesize,
             struct frame *frame, struct rd_scratch *scratch)
{
  static const size_t blocksizes[] = { 0, 1000, 4096 };
  size_t edge = 128 * typesize;
  const size_t sizes[] = { 1, 127, 128, 129, edge - 1, edge, edge + 1,
                           8 * edge / 7, 2 * edge, 4096 + 8 * typesize };
  for (size_t b = 0; b < sizeof blocksizes / sizeof blocksizes[0]; b++)
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      if (sizes[i] > ROOM)
        continue;
      make_frame (frame, cname, shuffle, typesize, blocksizes[b], sizes[i]);
      check_frame (scratch, frame);
    }
}

static void
check_every_frame (int split_mode)
{
  struct rd_scratch scratch = { 0 };
  RD_FREE_PLAIN struct frame *frame = malloc (sizeof *frame);
  assert_non_null (frame);
  blosc_set_splitmode (split_mode);
  for (size_t c = 0; c < CNAMES; c++)
    for (int shuffle = 0; shuffle <= 2; shuffle++) {
      for (size_t typesize = 1; typesize <= 17; typesize++)
        check_sizes (cnames[c], shuffle, typesize, frame, &scratch);
      check_sizes (cnames[c], shuffle, 255, frame, &scratch);
    }
  blosc_set_splitmode (BLOSC_FORWARD_COMPAT_SPLIT);
  rd_scratch_free (&scratch);
}

static void
frames_of_libblosc_are_read_as_they_were (void **state)
{
  (void) state;
  check_every_frame (BLOSC_FORWARD_COMPAT_SPLIT);
}

static void
frames_without_splits_are_read_too (void **state)
{
  (void) state;
  check_every_frame (BLOSC_NEVER_SPLIT);
}

static void
stored_frames_are_read_too (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  RD_FREE_PLAIN struct frame *frame = malloc (sizeof *frame);
  assert_non_null (frame);
  uint64_t seed = 5;
  for (size_t i = 0; i < 5000; i++)
    frame->data[i] = (unsigned char) random_next (&seed);
  int n = blosc_compress_ctx (0, 2, 2, 5000, frame->data, frame->encoded,
                              5016, "lz4", 0, 1);
  assert_int_equal (n, 5016);
  frame->nbytes = 5000;
  frame->cbytes = 5016;
  check_frame (&scratch, frame);
  rd_scratch_free (&scratch);
}

static void
every_wrong_field_of_a_header_is_named (void **state)
{
  (void) state;
  static const struct {
    size_t at;
    uint32_t value;
    size_t width;
    enum radio_status status;
    const char *part;
  } lies[] = {
    { 0, 1, 1, RADIO_ERROR_UNSUPPORTED, "frame version 1" },
    { 0, 5, 1, RADIO_ERROR_UNSUPPORTED, "frame version 5" },
    { 1, 2, 1, RADIO_ERROR_UNSUPPORTED, "version 2 of the inner" },
    { 2, 0x28, 1, RADIO_ERROR_UNSUPPORTED, "flags 0x28" },
    { 2, 0xa0, 1, RADIO_ERROR_UNSUPPORTED, "flags 0xa0" },
    { 2, 0xe0, 1, RADIO_ERROR_UNSUPPORTED, "flags 0xe0" },
    { 2, 0x22, 1, RADIO_ERROR_FORMAT, "3000 stored bytes" },
    { 3, 0, 1, RADIO_ERROR_FORMAT, "typesize is 0" },
    { 4, 0, 4, RADIO_ERROR_FORMAT, "0 bytes instead of 3000" },
    { 4, 2999, 4, RADIO_ERROR_FORMAT, "blocksize 3000" },
    { 4, 0xffffffff, 4, RADIO_ERROR_FORMAT, "4294967295" },
    { 8, 0, 4, RADIO_ERROR_FORMAT, "blocksize 0" },
    { 8, 3001, 4, RADIO_ERROR_FORMAT, "blocksize 3001" },
    { 8, 0x80000000, 4, RADIO_ERROR_FORMAT, "blocksize 2147483648" },
    { 8, 1, 4, RADIO_ERROR_FORMAT, "3000 blocks" },
    { 12, 16, 4, RADIO_ERROR_FORMAT, "claims 16 bytes" },
    { 12, 0xffffffff, 4, RADIO_ERROR_FORMAT, "claims 4294967295 bytes" },
    { 16, 0xffffffff, 4, RADIO_ERROR_FORMAT, "byte 4294967295" },
  };
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  RD_FREE_PLAIN struct frame *frame = malloc (sizeof *frame);
  assert_non_null (frame);
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    make_frame (frame, "lz4", 1, 2, 0, 3000);
    unsigned char value[4];
    put_u32 (value, lies[i].value);
    memcpy (frame->encoded + lies[i].at, value, lies[i].width);
    assert_fails (decode (&scratch, frame, &out), lies[i].status,
                  lies[i].part);
  }
  rd_scratch_free (&scratch);
}

static void
a_frame_cut_anywhere_is_refused (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  RD_FREE_PLAIN struct frame *frame = malloc (sizeof *frame);
  assert_non_null (frame);
  for (size_t c = 0; c < CNAMES; c++) {
    make_frame (frame, cnames[c], 2, 2, 0, 2000);
    struct rd_decoded_size extent = { 2000, true, false };
    for (size_t cut = 0; cut < frame->cbytes; cut++) {
      RD_FREE_PLAIN unsigned char *part = malloc (cut + 1);
      memcpy (part, frame->encoded, cut);
      if (cut >= 16)
        put_u32 (part + 12, (uint32_t) cut);
      struct rd_bytes in = { part, cut };
      assert_int_equal (rd_blosc_decode (&scratch, in, extent, &out),
                        RADIO_ERROR_FORMAT);
    }
  }
  rd_scratch_free (&scratch);
}

/* Where libblosc takes a damaged frame, so do we, with the same bytes; where
 * we take one, it does.  But zlib, which it uses, refuses a few deflate
 * streams that libdeflate takes; the checksum in the stream then proves that
 * they decode to the right bytes. */
static void
check_verdict (struct rd_scratch *scratch, const struct frame *frame,
               size_t byte)
{
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  unsigned char theirs[600];
  bool ours = decode (scratch, frame, &out) == RADIO_OK;
  if (byte >= 12 && byte < 16) {
    assert_false (ours);      /* libblosc would read past the end */
    return;
  }
  int n = blosc_decompress_ctx (frame->encoded, theirs, sizeof theirs, 1);
  if (n == (int) sizeof theirs) {
    assert_true (ours);
    assert_memory_equal (out.data, theirs, sizeof theirs);
  } else if (ours) {
    assert_int_equal (frame->encoded[2] >> 5, 3);
    assert_memory_equal (out.data, frame->data, sizeof theirs);
  }
}

static void
one_flipped_bit_gets_the_verdict_of_libblosc (void **state)
{
  (void) state;
  struct rd_scratch scratch = { 0 };
  RD_FREE_PLAIN struct frame *frame = malloc (sizeof *frame);
  assert_non_null (frame);
  for (size_t c = 0; c < CNAMES; c++) {
    make_frame (frame, cnames[c], (int) c % 3, 2, 256, 600);
    for (size_t bit = 0; bit < 8 * frame->cbytes; bit++) {
      unsigned char mask = (unsigned char) (1u << bit % 8);
      frame->encoded[bit / 8] ^= mask;
      check_verdict (&scratch, frame, bit / 8);
      frame->encoded[bit / 8] ^= mask;
    }
  }
  rd_scratch_free (&scratch);
}

static void
libblosc_reads_our_frames (void **state)
{
  (void) state;
  struct rd_chain *chain = new_chain ();
  struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  unsigned char data[5000], result[5000];
  fill_walk (data, sizeof data, 4);
  struct rd_bytes in = { data, sizeof data };
  for (size_t c = 0; c < CNAMES; c++)
    add_blosc (chain, cnames[c], (int) c, (enum rd_blosc_shuffle) (c % 3), 4,
               c % 2 * 1024);
  for (size_t c = 0; c < CNAMES; c++) {
    assert_ok (rd_blosc_encode (&chain->codecs[c], &scratch, in, &out));
    size_t nbytes, cbytes, blocksize;
    blosc_cbuffer_sizes (out.data, &nbytes, &cbytes, &blocksize);
    assert_int_equal (cbytes, out.nbytes);
    assert_int_equal (blosc_decompress_ctx (out.data, result, 5000, 1),
                      5000);
    assert_memory_equal (result, data, sizeof data);
  }
  rd_scratch_free (&scratch);
  rd_chain_free (chain);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (frames_of_libblosc_are_read_as_they_were),
    cmocka_unit_test (frames_without_splits_are_read_too),
    cmocka_unit_test (stored_frames_are_read_too),
    cmocka_unit_test (every_wrong_field_of_a_header_is_named),
    cmocka_unit_test (a_frame_cut_anywhere_is_refused),
    cmocka_unit_test (one_flipped_bit_gets_the_verdict_of_libblosc),
    cmocka_unit_test (libblosc_reads_our_frames),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
