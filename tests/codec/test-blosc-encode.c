/* SPDX-License-Identifier: MIT */
/* Our writer of blosc frames against libblosc's, byte for byte. */
#include <config.h>

#include <blosc.h>

#include "tests/codec/build.h"

#include "src/codec/blosc.h"

enum { ROOM = 300000, DONT_SPLIT = 0x10 };

/* Smooth, noisy and empty stretches, as elements of some size. */
static void
fill_image (unsigned char *data, size_t nbytes, size_t typesize,
            uint64_t seed)
{
  uint32_t value = 1000;
  for (size_t i = 0; i < nbytes; i++) {
    uint64_t noise = random_next (&seed);
    size_t stretch = i / 700 % 4;
    if (i % typesize == 0)
      value += (uint32_t) (noise % 7) - 3;
    data[i] = stretch == 3 ? (unsigned char) noise
      : stretch == 2 ? 0 : (unsigned char) (value >> 8 * (i % typesize % 4));
  }
}

struct frames {
  struct rd_scratch scratch;
  struct rd_buffer ours;
  unsigned char data[ROOM], theirs[ROOM + BLOSC_MAX_OVERHEAD], back[ROOM];
};

static struct frames *
new_frames (void)
{
  struct frames *frames = calloc (1, sizeof *frames);
  assert_non_null (frames);
  return frames;
}

static void
free_frames (struct frames *frames)
{
  rd_scratch_free (&frames->scratch);
  rd_buffer_free (&frames->ours);
  free (frames);
}

static void
assert_libblosc_reads_it (struct frames *frames, size_t nbytes)
{
  assert_int_equal (blosc_decompress_ctx (frames->ours.data, frames->back,
                                          nbytes, 1), nbytes);
  assert_memory_equal (frames->back, frames->data, nbytes);
}

/* libblosc splits zstd's blocks only on request. */
static void
assert_it_is_libbloscs (struct frames *frames, const struct rd_codec *codec,
                        size_t nbytes)
{
  bool split = !(frames->ours.data[2] & DONT_SPLIT);
  if (strcmp (codec->u.blosc.cname, "zstd") == 0)
    blosc_set_splitmode (split ? BLOSC_ALWAYS_SPLIT : BLOSC_NEVER_SPLIT);
  int n = blosc_compress_ctx (codec->u.blosc.clevel,
                              (int) codec->u.blosc.shuffle,
                              codec->u.blosc.typesize, nbytes, frames->data,
                              frames->theirs, nbytes + BLOSC_MAX_OVERHEAD,
                              codec->u.blosc.cname,
                              codec->u.blosc.blocksize, 1);
  blosc_set_splitmode (BLOSC_FORWARD_COMPAT_SPLIT);
  if ((size_t) n != frames->ours.nbytes
      || memcmp (frames->theirs, frames->ours.data, (size_t) n) != 0)
    fail_msg ("%s %d, shuffle %d, typesize %zu, blocksize %zu: %zu bytes "
              "become %zu, not %d", codec->u.blosc.cname,
              codec->u.blosc.clevel, (int) codec->u.blosc.shuffle,
              codec->u.blosc.typesize, codec->u.blosc.blocksize, nbytes,
              frames->ours.nbytes, n);
}

static void
check (struct frames *frames, const struct rd_codec *codec, size_t nbytes)
{
  const struct rd_bytes in = { frames->data, nbytes };
  assert_ok (rd_blosc_frame_encode (codec, &frames->scratch, in,
                                    &frames->ours));
  assert_true (frames->ours.nbytes <= nbytes + BLOSC_MAX_OVERHEAD);
  assert_libblosc_reads_it (frames, nbytes);
  assert_it_is_libbloscs (frames, codec, nbytes);
}

static struct rd_codec
make_codec (const char *cname, int clevel, enum rd_blosc_shuffle shuffle,
            size_t typesize, size_t blocksize)
{
  struct rd_codec codec = { .id = RD_CODEC_BLOSC };
  snprintf (codec.u.blosc.cname, sizeof codec.u.blosc.cname, "%s", cname);
  codec.u.blosc.clevel = clevel;
  codec.u.blosc.shuffle = shuffle;
  codec.u.blosc.typesize = typesize;
  codec.u.blosc.blocksize = blocksize;
  return codec;
}

static const char *const cnames[] = { "lz4", "lz4hc", "zstd" };

/* Around the edges of blocks, of splits and of vectors. */
static void
check_small (struct frames *frames, struct rd_codec *codec)
{
  size_t typesize = codec->u.blosc.typesize, edge = 128 * typesize;
  const size_t sizes[] = { 1, 127, 128, 129, edge - 1, edge, edge + 1,
                           8 * edge / 7, 2 * edge, 4096 + 8 * typesize };
  static const size_t blocksizes[] = { 0, 1, 1000, 4096 };
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    fill_image (frames->data, sizes[i], typesize, i);
    for (size_t b = 0; b < sizeof blocksizes / sizeof blocksizes[0]; b++) {
      codec->u.blosc.blocksize = blocksizes[b];
      check (frames, codec, sizes[i]);
    }
  }
}

static void
frames_are_those_of_libblosc_for_every_type (void **state)
{
  (void) state;
  struct frames *frames = new_frames ();
  for (size_t c = 0; c < 3; c++)
    for (int shuffle = 0; shuffle <= 2; shuffle++)
      for (size_t typesize = 1; typesize <= 18; typesize++) {
        struct rd_codec codec
          = make_codec (cnames[c], 5, (enum rd_blosc_shuffle) shuffle,
                        typesize < 18 ? typesize : 255, 0);
        check_small (frames, &codec);
      }
  free_frames (frames);
}

/* Several blocks, whose size the level decides. */
static void
frames_are_those_of_libblosc_at_every_level (void **state)
{
  static const size_t sizes[] = { 16384, 32767, 32768, 100000, ROOM };
  (void) state;
  struct frames *frames = new_frames ();
  for (size_t i = 0; i < 5; i++) {
    fill_image (frames->data, sizes[i], 2, i);
    for (size_t c = 0; c < 3; c++)
      for (int clevel = 0; clevel <= 9; clevel++) {
        struct rd_codec codec = make_codec (cnames[c], clevel,
                                            RD_BLOSC_SHUFFLE, 2, 0);
        if ((c == 1 && clevel <= 4) || (c == 2 && clevel == 1)
            || (c == 2 && clevel > 5 && sizes[i] > 40000))
          continue;
        check (frames, &codec, sizes[i]);
      }
  }
  free_frames (frames);
}

/* Lengths of the streams of a frame of one block. */
static void
check_streams (const unsigned char *frame, size_t nstreams,
               size_t stream_nbytes, size_t most_nbytes, size_t *nkept)
{
  size_t at = 16 + 4;
  *nkept = 0;
  for (size_t i = 0; i < nstreams; i++) {
    size_t length = frame[at] | (size_t) frame[at + 1] << 8
      | (size_t) frame[at + 2] << 16;
    if (length == stream_nbytes)
      ++*nkept;
    else
      assert_true (length <= most_nbytes);
    at += 4 + length;
  }
}

/* Elements of two bytes whose lower one has `nbits' bits of noise. */
static void
fill_noise (unsigned char *data, size_t n, unsigned nbits)
{
  uint64_t seed = nbits;
  for (size_t i = 0; i < n; i++) {
    data[2 * i] = (unsigned char) (random_next (&seed) % (1u << nbits));
    data[2 * i + 1] = (unsigned char) (i / 500);
  }
}

static void
streams_that_hardly_shrink_are_kept_where_that_is_faster (void **state)
{
  static const struct {
    const char *cname;
    int clevel;
    enum rd_blosc_shuffle shuffle;
    size_t percent;
  } cases[] = {
    { "zstd", 1, RD_BLOSC_SHUFFLE, 85 },
    { "lz4hc", 4, RD_BLOSC_BITSHUFFLE, 70 },
    { "lz4hc", 3, RD_BLOSC_SHUFFLE, 90 },
  };
  (void) state;
  struct frames *frames = new_frames ();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct rd_codec codec = make_codec (cases[i].cname, cases[i].clevel,
                                        cases[i].shuffle, 2, 0);
    const struct rd_bytes in = { frames->data, 16384 };
    size_t most = 8192 * cases[i].percent / 100, sums[9] = { 0 };
    for (unsigned nbits = 1; nbits <= 8; nbits++) {
      fill_noise (frames->data, 8192, nbits);
      assert_ok (rd_blosc_frame_encode (&codec, &frames->scratch, in,
                                        &frames->ours));
      assert_libblosc_reads_it (frames, 16384);
      check_streams (frames->ours.data, 2, 8192, most, &sums[nbits]);
    }
    /* Noise in the lowest bit shrinks; in all but the highest it does so
     * by less than is requested. */
    assert_int_equal (sums[1], 0);
    assert_int_equal (sums[7], 1);
    assert_int_equal (sums[8], 1);
  }
  free_frames (frames);
}

static void
noise_is_stored_and_zeros_are_not (void **state)
{
  (void) state;
  struct frames *frames = new_frames ();
  uint64_t seed = 1;
  for (size_t c = 0; c < 3; c++) {
    struct rd_codec codec = make_codec (cnames[c], 5, RD_BLOSC_BITSHUFFLE, 2,
                                        0);
    for (size_t i = 0; i < 5000; i++)
      frames->data[i] = (unsigned char) random_next (&seed);
    check (frames, &codec, 5000);
    assert_int_equal (frames->ours.nbytes, 5016);
    memset (frames->data, 0, 5000);
    check (frames, &codec, 5000);
    assert_true (frames->ours.nbytes < 100);
  }
  free_frames (frames);
}

/* The small preset: a code of its own for each byte of the
 * elements, and no matches that cost more than they stand for. */
static void
check_small_preset (struct frames *frames, size_t typesize, size_t nbytes)
{
  struct rd_codec codec = make_codec ("zstd", 1, RD_BLOSC_SHUFFLE, typesize,
                                      0);
  const struct rd_bytes in = { frames->data, nbytes };
  assert_ok (rd_blosc_frame_encode (&codec, &frames->scratch, in,
                                    &frames->ours));
  assert_libblosc_reads_it (frames, nbytes);
  int n = blosc_compress_ctx (1, 1, typesize, nbytes, frames->data,
                              frames->theirs, nbytes + BLOSC_MAX_OVERHEAD,
                              "zstd", 0, 1);
  if (nbytes >= 16384)
    assert_true (frames->ours.nbytes < (size_t) n);
}

static void
the_small_preset_is_smaller_than_libbloscs_zstd (void **state)
{
  (void) state;
  struct frames *frames = new_frames ();
  uint64_t seed = 3;
  for (size_t nbytes = 128; nbytes <= 262144; nbytes *= 2) {
    float value = 40;
    for (size_t i = 0; i < nbytes; i += 4) {
      value += (float) (random_next (&seed) % 2001) / 100 - 10;
      memcpy (frames->data + i, &value, 4);
    }
    check_small_preset (frames, 4, nbytes);
    for (size_t i = 0; i < nbytes; i += 2) {
      value += (float) (random_next (&seed) % 21) - 10;
      int16_t element = (int16_t) value;
      memcpy (frames->data + i, &element, 2);
    }
    check_small_preset (frames, 2, nbytes);
  }
  free_frames (frames);
}

/* Elements of two bytes of a picture 512 wide: the higher byte repeats
 * itself from row to row with a shift, the lower one is noise whose
 * width changes every 32 rows. */
static void
fill_picture (unsigned char *data, size_t n)
{
  uint64_t seed = 5;
  for (size_t i = 0; i < n; i++) {
    size_t row = i / 512;
    unsigned most = 4u << row / 32 % 4;
    data[2 * i] = (unsigned char) (random_next (&seed) % most
                                   + row / 32 * 9);
    uint64_t at = (i % 512 + row) * 0x9e3779b97f4a7c15;
    data[2 * i + 1] = (unsigned char) (at >> 61);
  }
}

static size_t
encode_small (struct frames *frames, size_t nbytes)
{
  struct rd_codec codec = make_codec ("zstd", 1, RD_BLOSC_SHUFFLE, 2, 0);
  const struct rd_bytes in = { frames->data, nbytes };
  assert_ok (rd_blosc_frame_encode (&codec, &frames->scratch, in,
                                    &frames->ours));
  assert_libblosc_reads_it (frames, nbytes);
  return frames->ours.nbytes;
}

/* The same blocks by libblosc, a stream for each byte of the elements. */
static size_t
encode_by_libblosc (struct frames *frames, size_t nbytes)
{
  blosc_set_splitmode (BLOSC_ALWAYS_SPLIT);
  int n = blosc_compress_ctx (1, 1, 2, nbytes, frames->data, frames->theirs,
                              nbytes + BLOSC_MAX_OVERHEAD, "zstd", nbytes,
                              1);
  blosc_set_splitmode (BLOSC_FORWARD_COMPAT_SPLIT);
  assert_true (n > 0);
  return (size_t) n;
}

static void
planes_of_the_small_preset_follow_the_changes_across_them (void **state)
{
  enum { NBYTES = 256 * 512 * 2 };
  (void) state;
  struct frames *frames = new_frames ();
  fill_picture (frames->data, NBYTES / 2);
  size_t ours = encode_small (frames, NBYTES);
  assert_true (ours < encode_by_libblosc (frames, NBYTES) / 10 * 9);
  free_frames (frames);
}

/* One block is unshuffled straight into the caller's memory. */
static void
tiles_of_the_small_preset_are_one_block (void **state)
{
  static const size_t sizes[] = { 4096, 32768, 65536, 131072, 262144 };
  (void) state;
  struct frames *frames = new_frames ();
  fill_picture (frames->data, 262144 / 2);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    struct rd_blosc_frame frame;
    encode_small (frames, sizes[i]);
    const struct rd_bytes in = { frames->ours.data, frames->ours.nbytes };
    assert_ok (rd_blosc_frame_parse (in, &frame));
    assert_true (rd_blosc_frame_is_shuffled (&frame, 2));
  }
  free_frames (frames);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (frames_are_those_of_libblosc_for_every_type),
    cmocka_unit_test (frames_are_those_of_libblosc_at_every_level),
    cmocka_unit_test (
      streams_that_hardly_shrink_are_kept_where_that_is_faster),
    cmocka_unit_test (noise_is_stored_and_zeros_are_not),
    cmocka_unit_test (the_small_preset_is_smaller_than_libbloscs_zstd),
    cmocka_unit_test (
      planes_of_the_small_preset_follow_the_changes_across_them),
    cmocka_unit_test (tiles_of_the_small_preset_are_one_block),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
