/* SPDX-License-Identifier: MIT */
/* Our own reader of blosc frames.  libblosc makes a context and its buffers
 * anew in every call, trusts the length that the header claims, and so can
 * read past the end of a frame that was cut short; this reader keeps its
 * contexts from tile to tile and checks each number before it is used. */
#include <config.h>

#include <limits.h>
#include <lz4.h>
#include <string.h>

#include "src/base/error.h"
#include "src/codec/blosc-frame.h"
#include "src/codec/contexts.h"

/* The only version of the frame that c-blosc 1.x reads, and that of all its
 * inner formats. */
#define FRAME_VERSION 2
#define FORMAT_VERSION 1

#define FLAG_SHUFFLE 0x01
#define FLAG_STORED 0x02
#define FLAG_BITSHUFFLE 0x04
#define FLAG_RESERVED 0x08
#define FLAG_DONT_SPLIT 0x10
#define FORMAT_SHIFT 5

/* Blocks are split when their elements are at most this large, and there
 * are at least so many of them. */
#define SPLIT_MAX_TYPESIZE 16
#define SPLIT_MIN_COUNT 128

static uint32_t
read_u32 (const unsigned char *p)
{
  return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16
    | (uint32_t) p[3] << 24;
}

static enum radio_status
check_versions (const unsigned char *header)
{
  unsigned flags = header[2];
  if (header[0] != FRAME_VERSION)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: frame version %u; only "
                    "version %u (c-blosc 1) is supported", header[0],
                    FRAME_VERSION);
  if (flags & FLAG_RESERVED || flags >> FORMAT_SHIFT > RD_BLOSC_ZSTD)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: flags 0x%02x are not "
                    "known", flags);
  if (header[1] != FORMAT_VERSION && !(flags & FLAG_STORED))
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: version %u of the inner "
                    "format is not known", header[1]);
  return RADIO_OK;
}

static enum radio_status
check_sizes (const struct rd_blosc_frame *frame, size_t cbytes,
             size_t nbytes)
{
  if (cbytes != nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: the header claims %zu bytes "
                    "but %zu are there", cbytes, nbytes);
  if (frame->nbytes > INT_MAX - RD_BLOSC_HEADER_NBYTES)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: the header claims %zu "
                    "decoded bytes, more than any frame holds",
                    frame->nbytes);
  if (frame->typesize == 0)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: typesize is 0");
  if (frame->nbytes > 0
      && (frame->blocksize == 0 || frame->blocksize > frame->nbytes))
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: blocksize %zu is not within "
                    "1 to %zu", frame->blocksize, frame->nbytes);
  if (frame->stored && nbytes != frame->nbytes + RD_BLOSC_HEADER_NBYTES)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: %zu stored bytes do not fit "
                    "into a frame of %zu", frame->nbytes, nbytes);
  return RADIO_OK;
}

enum radio_status
rd_blosc_frame_parse (struct rd_bytes in, struct rd_blosc_frame *frame)
{
  const unsigned char *header = in.data;
  if (in.nbytes < RD_BLOSC_HEADER_NBYTES)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: %zu bytes are too few for a "
                    "header", in.nbytes);
  RD_TRY (check_versions (header));
  unsigned flags = header[2];
  frame->format = (enum rd_blosc_format) (flags >> FORMAT_SHIFT);
  frame->stored = flags & FLAG_STORED;
  frame->typesize = header[3];
  frame->shuffled = flags & FLAG_SHUFFLE && frame->typesize > 1;
  frame->bitshuffled = flags & FLAG_BITSHUFFLE && !frame->shuffled;
  frame->split = !(flags & FLAG_DONT_SPLIT);
  frame->nbytes = read_u32 (header + 4);
  frame->blocksize = read_u32 (header + 8);
  RD_TRY (check_sizes (frame, read_u32 (header + 12), in.nbytes));

  frame->nblocks = frame->nbytes == 0 ? 0
    : (frame->nbytes - 1) / frame->blocksize + 1;
  size_t room = (in.nbytes - RD_BLOSC_HEADER_NBYTES) / 4;
  if (!frame->stored && frame->nblocks > room)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: no room for the starts of "
                    "%zu blocks in a frame of %zu bytes", frame->nblocks,
                    in.nbytes);
  return RADIO_OK;
}

/* A block that is being decoded. */
struct block {
  const struct rd_blosc_frame *frame;
  struct rd_scratch *scratch;
  struct rd_bytes in;         /* the whole frame */
  size_t index;
  size_t nbytes;              /* decoded */
  unsigned char *end;         /* of what may be written: what comes behind
                                 a stream is decoded after it */
};

static int
room_for_lz4 (const struct block *block, const unsigned char *out)
{
  ptrdiff_t room = block->end - out;
  return room < INT_MAX ? (int) room : INT_MAX;
}

/* Decode one stream of one of the formats to exactly nbytes. */
static bool
decode_stream (const struct block *block, struct rd_bytes in,
               unsigned char *out, size_t nbytes)
{
  struct rd_scratch *scratch = block->scratch;
  switch (block->frame->format) {
  case RD_BLOSC_LZ4:
    return LZ4_decompress_safe ((const char *) in.data, (char *) out,
                                (int) in.nbytes,
                                room_for_lz4 (block, out)) == (int) nbytes;
  case RD_BLOSC_ZSTD:
    return ZSTD_decompressDCtx (rd_contexts_zstd_decoder (scratch), out,
                                nbytes, in.data, in.nbytes) == nbytes;
  default:
    return libdeflate_zlib_decompress (rd_contexts_inflater (scratch),
                                       in.data, in.nbytes, out, nbytes,
                                       NULL) == LIBDEFLATE_SUCCESS;
  }
}

/* Each stream has its length before it; one as long as what it decodes to
 * is not compressed. */
static enum radio_status
take_stream (const struct block *block, size_t *at, unsigned char *out,
             size_t nbytes)
{
  struct rd_bytes in = block->in;
  if (*at > in.nbytes || in.nbytes - *at < 4)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: block %zu begins at byte %zu "
                    "of a frame of %zu", block->index, *at, in.nbytes);
  struct rd_bytes stream = { in.data + *at + 4, read_u32 (in.data + *at) };
  *at += 4;
  if (stream.nbytes > in.nbytes - *at)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: block %zu claims %zu bytes "
                    "at byte %zu of a frame of %zu", block->index,
                    stream.nbytes, *at, in.nbytes);
  *at += stream.nbytes;
  if (stream.nbytes == nbytes)
    memcpy (out, stream.data, nbytes);
  else if (!decode_stream (block, stream, out, nbytes))
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: block %zu is damaged",
                    block->index);
  return RADIO_OK;
}

/* A shorter last block is never split. */
static size_t
count_streams (const struct block *block)
{
  const struct rd_blosc_frame *frame = block->frame;
  bool split = frame->split && block->nbytes == frame->blocksize
    && frame->typesize <= SPLIT_MAX_TYPESIZE
    && block->nbytes / frame->typesize >= SPLIT_MIN_COUNT;
  return split ? frame->typesize : 1;
}

static enum radio_status
take_streams (const struct block *block, unsigned char *out)
{
  size_t nstreams = count_streams (block);
  size_t stream_nbytes = block->nbytes / nstreams;
  size_t at = read_u32 (block->in.data + RD_BLOSC_HEADER_NBYTES
                        + 4 * block->index);
  if (block->nbytes % nstreams != 0)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: blocksize %zu cannot be "
                    "split for elements of %zu bytes", block->nbytes,
                    nstreams);
  for (size_t i = 0; i < nstreams; i++)
    RD_TRY (take_stream (block, &at, out + i * stream_nbytes,
                         stream_nbytes));
  return RADIO_OK;
}

/* Put what is shuffled of a block in order again: its whole elements; with
 * bits only if their number is a multiple of 8.  The rest is as it is. */
static void
unshuffle (const struct block *block, const unsigned char *from,
           unsigned char *to)
{
  const struct rd_blosc_frame *frame = block->frame;
  size_t n = block->nbytes / frame->typesize, done = 0;
  const struct rd_shuffled shuffled = { from, frame->typesize, n,
                                        frame->bitshuffled };
  if (!frame->bitshuffled || n % 8 == 0) {
    rd_unshuffle (&shuffled, 0, n, to);
    done = n * frame->typesize;
  }
  memcpy (to + done, from + done, block->nbytes - done);
}

static enum radio_status
decode_block (const struct block *block, unsigned char *out)
{
  const struct rd_blosc_frame *frame = block->frame;
  unsigned char *room = block->scratch->contexts->blocks.data;
  if (!frame->shuffled && !frame->bitshuffled)
    return take_streams (block, out);
  RD_TRY (take_streams (block, room));
  unshuffle (block, room, out);
  return RADIO_OK;
}

/* Have what the blocks need before the first one. */
static enum radio_status
prepare (const struct rd_blosc_frame *frame, struct rd_scratch *scratch)
{
  struct rd_codec_contexts *contexts = rd_contexts (scratch);
  if (!contexts
      || (frame->format == RD_BLOSC_ZSTD
          && !rd_contexts_zstd_decoder (scratch))
      || (frame->format == RD_BLOSC_ZLIB
          && !rd_contexts_inflater (scratch)))
    return RADIO_ERROR_MEMORY;
  return rd_codec_reserve (&contexts->blocks,
                           (uint64_t) frame->blocksize + RD_BLOSC_SLACK_NBYTES);
}

enum radio_status
rd_blosc_frame_decode (const struct rd_blosc_frame *frame,
                       struct rd_scratch *scratch, struct rd_bytes in,
                       unsigned char *out)
{
  RD_TRY (prepare (frame, scratch));
  struct block block = { .frame = frame, .scratch = scratch, .in = in,
                         .end = out + frame->nbytes };
  if (frame->shuffled || frame->bitshuffled)
    block.end = scratch->contexts->blocks.data + frame->blocksize;
  block.end += RD_BLOSC_SLACK_NBYTES;
  for (; block.index < frame->nblocks; block.index++) {
    size_t at = block.index * frame->blocksize;
    size_t rest = frame->nbytes - at;
    block.nbytes = rest < frame->blocksize ? rest : frame->blocksize;
    RD_TRY (decode_block (&block, out + at));
  }
  return RADIO_OK;
}

bool
rd_blosc_frame_is_shuffled (const struct rd_blosc_frame *frame,
                            size_t item_nbytes)
{
  size_t n = frame->nbytes / frame->typesize;
  bool is_ours = frame->format == RD_BLOSC_LZ4
    || frame->format == RD_BLOSC_ZLIB || frame->format == RD_BLOSC_ZSTD;
  return is_ours && !frame->stored && frame->nblocks == 1
    && frame->typesize == item_nbytes && frame->nbytes % item_nbytes == 0
    && (frame->shuffled || (frame->bitshuffled && n % 8 == 0));
}

enum radio_status
rd_blosc_frame_decode_shuffled (const struct rd_blosc_frame *frame,
                                struct rd_scratch *scratch,
                                struct rd_bytes in,
                                struct rd_shuffled *shuffled)
{
  RD_TRY (prepare (frame, scratch));
  unsigned char *room = scratch->contexts->blocks.data;
  const struct block block = {
    .frame = frame, .scratch = scratch, .in = in, .nbytes = frame->nbytes,
    .end = room + frame->nbytes + RD_BLOSC_SLACK_NBYTES,
  };
  RD_TRY (take_streams (&block, room));
  *shuffled = (struct rd_shuffled) { room, frame->typesize,
                                     frame->nbytes / frame->typesize,
                                     frame->bitshuffled };
  return RADIO_OK;
}
