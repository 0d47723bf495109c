/* SPDX-License-Identifier: MIT */
/* Hostile blosc frames: our reader neither reads nor writes outside, gets to
 * libblosc's verdict and bytes, and to the same ones when it may leave items
 * shuffled. */
#include <config.h>

#include <blosc.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#include "src/codec/blosc.h"

enum { DECODED_MOST = 1 << 18 };

/* Compares with libblosc, which needs the frame's true length.  zlib and
 * libdeflate differ on which broken streams they accept. */
static void
compare (struct rd_bytes in, const struct rd_blosc_frame *frame, bool taken,
         const struct rd_buffer *ours)
{
  if (frame->format == RD_BLOSC_ZLIB || frame->nbytes == 0
      || frame->nbytes > DECODED_MOST)
    return;
  unsigned char *theirs = malloc (frame->nbytes);
  FUZZ_CHECK (theirs != NULL);
  int n = blosc_decompress_ctx (in.data, theirs, frame->nbytes, 1);
  FUZZ_CHECK (taken == (n == (int) frame->nbytes));
  if (taken)
    FUZZ_CHECK (memcmp (ours->data, theirs, frame->nbytes) == 0);
  free (theirs);
}

/* A frame whose items may be left shuffled; ours is its decoded content. */
static void
compare_shuffled (struct rd_bytes in, size_t typesize, bool taken,
                  const struct rd_buffer *ours)
{
  struct rd_scratch scratch = { 0 };
  struct rd_buffer out = { 0 };
  struct rd_decoded_size extent = { DECODED_MOST, false, false };
  struct rd_shuffled block = { 0 };
  bool shuffled = false;
  enum radio_status status = rd_blosc_decode_shuffled (
    &scratch, in, extent, typesize, &out, &shuffled, &block);
  FUZZ_CHECK (taken == (status == RADIO_OK));
  if (taken && shuffled) {
    FUZZ_CHECK (block.n * typesize == ours->nbytes);
    out.nbytes = ours->nbytes;
    FUZZ_CHECK (rd_buffer_reserve (&out, out.nbytes) == RADIO_OK);
    rd_unshuffle (&block, 0, block.n, out.data);
  }
  if (taken)
    FUZZ_CHECK (out.nbytes == ours->nbytes
                && (out.nbytes == 0
                    || memcmp (out.data, ours->data, out.nbytes) == 0));
  rd_buffer_free (&out);
  rd_scratch_free (&scratch);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  struct rd_scratch scratch = { 0 };
  struct rd_buffer out = { 0 };
  struct rd_bytes in = { data, nbytes };
  struct rd_decoded_size extent = { DECODED_MOST, false, false };
  struct rd_blosc_frame frame;
  bool taken = rd_blosc_decode (&scratch, in, extent, &out) == RADIO_OK;
  FUZZ_CHECK (!taken || out.nbytes <= DECODED_MOST);
  FUZZ_CHECK (out.capacity <= DECODED_MOST + RD_BLOSC_SLACK_NBYTES);
  if (rd_blosc_frame_parse (in, &frame) == RADIO_OK) {
    compare (in, &frame, taken, &out);
    compare_shuffled (in, frame.typesize, taken, &out);
  } else
    FUZZ_CHECK (!taken);
  rd_buffer_free (&out);
  rd_scratch_free (&scratch);
  return 0;
}

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  static const char *const cnames[] = { "blosclz", "lz4", "lz4hc", "snappy",
                                        "zlib", "zstd" };
  static const size_t sizes[] = { 100, 1500, 5003 };
  static const size_t typesizes[] = { 2, 1, 5, 8 };
  unsigned char data[5003];
  if (i >= 6 * 3 * 3)
    return 0;
  size_t nbytes = sizes[i / 18];
  size_t typesize = typesizes[i % 4];
  for (size_t k = 0; k < nbytes; k++)
    data[k] = (unsigned char) (k / typesize / 9 * (k % typesize + 1));
  int n = blosc_compress_ctx (5, (int) (i / 6 % 3), typesize, nbytes, data,
                              out, room, cnames[i % 6], i % 2 * 1024, 1);
  return n > 0 ? (size_t) n : 0;
}
