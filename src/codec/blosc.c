/* SPDX-License-Identifier: MIT */
/* The blosc codec: frames of c-blosc 1.  They are read here and written by
 * blosc-encode.c, except for the inner formats that images are not written in:
 * libblosc decodes blosclz and snappy, once the header was checked, and
 * encodes those and zlib.
 *
 * libblosc allocates a context and its buffers in every call, trusts the
 * length that the header claims, and so can read past the end of a truncated
 * frame; this reader keeps its contexts from tile to tile and checks each
 * number before it is used. */
#include <config.h>

#include <blosc.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <limits.h>
#include <lz4.h>
#include <string.h>
#include <zstd.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/codec/blosc.h"

static uint32_t
read_u32 (const unsigned char *p)
{
  return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16
    | (uint32_t) p[3] << 24;
}

enum radio_status
rd_blosc_frame_parse (struct rd_bytes in, struct rd_blosc_frame *frame)
{
  const unsigned char *header = in.data;
  if (in.nbytes < RD_BLOSC_HEADER_NBYTES)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: %zu bytes are too few for a "
                    "header", in.nbytes);
  unsigned flags = header[2];
  if (header[0] != RD_BLOSC_FRAME_VERSION)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: frame version %u; only "
                    "version %u (c-blosc 1) is supported", header[0],
                    RD_BLOSC_FRAME_VERSION);
  if (flags & RD_BLOSC_FLAG_RESERVED
      || flags >> RD_BLOSC_FORMAT_SHIFT > RD_BLOSC_ZSTD)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: flags 0x%02x are not "
                    "known", flags);
  if (header[1] != RD_BLOSC_FORMAT_VERSION
      && !(flags & RD_BLOSC_FLAG_STORED))
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: version %u of the inner "
                    "format is not known", header[1]);
  frame->format = (enum rd_blosc_format) (flags >> RD_BLOSC_FORMAT_SHIFT);
  frame->stored = flags & RD_BLOSC_FLAG_STORED;
  frame->typesize = header[3];
  frame->shuffled = flags & RD_BLOSC_FLAG_SHUFFLE && frame->typesize > 1;
  frame->bitshuffled = flags & RD_BLOSC_FLAG_BITSHUFFLE && !frame->shuffled;
  frame->split = !(flags & RD_BLOSC_FLAG_DONT_SPLIT);
  frame->nbytes = read_u32 (header + 4);
  frame->blocksize = read_u32 (header + 8);
  size_t cbytes = read_u32 (header + 12);
  if (cbytes != in.nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: the header claims %zu bytes "
                    "but %zu are there", cbytes, in.nbytes);
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
  if (frame->stored && in.nbytes != frame->nbytes + RD_BLOSC_HEADER_NBYTES)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: %zu stored bytes do not fit "
                    "into a frame of %zu", frame->nbytes, in.nbytes);

  frame->nblocks = frame->nbytes == 0 ? 0
    : (frame->nbytes - 1) / frame->blocksize + 1;
  size_t max_nblocks = (in.nbytes - RD_BLOSC_HEADER_NBYTES) / 4;
  if (!frame->stored && frame->nblocks > max_nblocks)
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
  unsigned char *end;         /* of the output buffer: a stream may write
                                 past its end, where the next one comes */
};

/* Decodes one stream to exactly nbytes.  Each has its length before it; one as
 * long as its result is not compressed. */
static enum radio_status
read_stream (const struct block *block, size_t *at, unsigned char *out,
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
  if (stream.nbytes == nbytes) {
    memcpy (out, stream.data, nbytes);
    return RADIO_OK;
  }

  struct rd_scratch *scratch = block->scratch;
  ptrdiff_t capacity = block->end - out;
  bool is_good;
  switch (block->frame->format) {
  case RD_BLOSC_LZ4:
    if (capacity > INT_MAX)
      capacity = INT_MAX;
    is_good = LZ4_decompress_safe ((const char *) stream.data, (char *) out,
                                   (int) stream.nbytes, (int) capacity)
              == (int) nbytes;
    break;
  case RD_BLOSC_ZSTD:
    is_good = ZSTD_decompressDCtx (rd_contexts_zstd_decoder (scratch), out,
                                   nbytes, stream.data, stream.nbytes)
              == nbytes;
    break;
  default:
    is_good = libdeflate_zlib_decompress (rd_contexts_inflater (scratch),
                                          stream.data, stream.nbytes, out,
                                          nbytes, NULL)
              == LIBDEFLATE_SUCCESS;
  }
  return is_good ? RADIO_OK
    : rd_fail (RADIO_ERROR_FORMAT, "blosc: block %zu is damaged",
               block->index);
}

static enum radio_status
read_streams (const struct block *block, unsigned char *out)
{
  /* A shorter last block is never split. */
  const struct rd_blosc_frame *frame = block->frame;
  bool split = frame->split && block->nbytes == frame->blocksize
    && frame->typesize <= RD_BLOSC_SPLIT_MAX_TYPESIZE
    && block->nbytes / frame->typesize >= RD_BLOSC_SPLIT_MIN_COUNT;
  size_t nstreams = split ? frame->typesize : 1;
  size_t stream_nbytes = block->nbytes / nstreams;
  size_t at = read_u32 (block->in.data + RD_BLOSC_HEADER_NBYTES
                        + 4 * block->index);
  if (block->nbytes % nstreams != 0)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: blocksize %zu cannot be "
                    "split for elements of %zu bytes", block->nbytes,
                    nstreams);
  for (size_t i = 0; i < nstreams; i++)
    RD_TRY (read_stream (block, &at, out + i * stream_nbytes,
                         stream_nbytes));
  return RADIO_OK;
}

/* Allocates the memory for decoding blocks. */
static enum radio_status
prepare_decoding (const struct rd_blosc_frame *frame,
                  struct rd_scratch *scratch)
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
rd_blosc_check (const struct rd_codec *codec, uint64_t nbytes)
{
  static const char *const cnames[] = { "blosclz", "lz4", "lz4hc", "snappy",
                                        "zlib", "zstd" };
  const char *cname = codec->u.blosc.cname;
  bool known = false;
  for (size_t i = 0; i < sizeof cnames / sizeof cnames[0]; i++)
    known = known || strcmp (cname, cnames[i]) == 0;
  if (!known)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: cname '%.11s' is not known",
                    cname);
  if (blosc_compname_to_compcode (cname) < 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: cname '%s' is not in "
                    "this system's libblosc", cname);
  if (codec->u.blosc.clevel < 0 || codec->u.blosc.clevel > 9)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: clevel %d is not within 0 to "
                    "9", codec->u.blosc.clevel);
  if (codec->u.blosc.typesize < 1 || codec->u.blosc.typesize > 255)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: typesize %zu is not within 1 "
                    "to 255", codec->u.blosc.typesize);
  if (codec->u.blosc.shuffle > RD_BLOSC_BITSHUFFLE)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: shuffle %d is not known",
                    (int) codec->u.blosc.shuffle);
  if (codec->u.blosc.blocksize > BLOSC_MAX_BUFFERSIZE)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: blocksize %zu is too large",
                    codec->u.blosc.blocksize);
  if (nbytes > BLOSC_MAX_BUFFERSIZE)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: a chunk of %" PRIu64
                    " bytes is larger than a frame can be (%d)", nbytes,
                    BLOSC_MAX_BUFFERSIZE);
  return RADIO_OK;
}

#define BLOSC_SITE(name) \
  { name, RD_IN_ENCODE, "blosc", __FILE__, __LINE__, RADIO_SCOPE_WORK }

/* Returns the scope of encoding, by the inner format of the frames. */
static const struct radio_site *
encode_site (const char *cname)
{
  static const struct {
    const char *cname;
    struct radio_site site;
  } sites[] = {
    { "blosclz", BLOSC_SITE ("blosc blosclz") },
    { "lz4", BLOSC_SITE ("blosc lz4") },
    { "lz4hc", BLOSC_SITE ("blosc lz4") },
    { "snappy", BLOSC_SITE ("blosc snappy") },
    { "zlib", BLOSC_SITE ("blosc zlib") },
    { "zstd", BLOSC_SITE ("blosc zstd") },
    { "", BLOSC_SITE ("blosc") },
  };
  size_t n = sizeof sites / sizeof sites[0], i = 0;
  while (i + 1 < n && strcmp (cname, sites[i].cname) != 0)
    i++;
  return &sites[i].site;
}

static enum radio_status
parse_frame (struct rd_bytes in, struct rd_decoded_size extent,
             struct rd_blosc_frame *frame)
{
  RD_TRY (rd_blosc_frame_parse (in, frame));
  return rd_codec_check_length ("blosc", frame->nbytes, extent);
}

static enum radio_status
decode_frame (const struct rd_blosc_frame *frame, struct rd_scratch *scratch,
              struct rd_bytes in, struct rd_buffer *out)
{
  RD_TRY (rd_codec_reserve (out, (uint64_t) frame->nbytes
                            + RD_BLOSC_SLACK_NBYTES));
  out->nbytes = frame->nbytes;
  if (frame->nbytes == 0)
    return RADIO_OK;
  if (frame->stored) {
    memcpy (out->data, in.data + RD_BLOSC_HEADER_NBYTES, frame->nbytes);
    return RADIO_OK;
  }
  if (frame->format == RD_BLOSC_BLOSCLZ || frame->format == RD_BLOSC_SNAPPY) {
    int n = blosc_decompress_ctx (in.data, out->data, frame->nbytes, 1);
    if (n < 0 || (size_t) n != frame->nbytes)
      return rd_fail (RADIO_ERROR_FORMAT, "blosc: the frame is damaged (%d)",
                      n);
    return RADIO_OK;
  }

  RD_TRY (prepare_decoding (frame, scratch));
  unsigned char *from = scratch->contexts->blocks.data;
  bool is_shuffled = frame->shuffled || frame->bitshuffled;
  struct block block = { .frame = frame, .scratch = scratch, .in = in };
  block.end = (is_shuffled ? from + frame->blocksize
                           : out->data + frame->nbytes)
              + RD_BLOSC_SLACK_NBYTES;
  for (; block.index < frame->nblocks; block.index++) {
    unsigned char *to = out->data + block.index * frame->blocksize;
    size_t rest = frame->nbytes - block.index * frame->blocksize;
    block.nbytes = rest < frame->blocksize ? rest : frame->blocksize;
    RD_TRY (read_streams (&block, is_shuffled ? from : to));
    if (!is_shuffled)
      continue;
    /* Whole elements are shuffled; by bits only if their number is a multiple
     * of 8. */
    size_t n = block.nbytes / frame->typesize, done = 0;
    const struct rd_shuffled shuffled = { from, frame->typesize, n,
                                          frame->bitshuffled };
    if (!frame->bitshuffled || n % 8 == 0) {
      rd_unshuffle (&shuffled, 0, n, to);
      done = n * frame->typesize;
    }
    memcpy (to + done, from + done, block.nbytes - done);
  }
  return RADIO_OK;
}

enum radio_status
rd_blosc_decode (struct rd_scratch *scratch, struct rd_bytes in,
                 struct rd_decoded_size extent, struct rd_buffer *out)
{
  struct rd_blosc_frame frame;
  RD_TRY (parse_frame (in, extent, &frame));
  return decode_frame (&frame, scratch, in, out);
}

enum radio_status
rd_blosc_decode_shuffled (struct rd_scratch *scratch, struct rd_bytes in,
                          struct rd_decoded_size extent, size_t item_nbytes,
                          struct rd_buffer *out, bool *shuffled,
                          struct rd_shuffled *result)
{
  struct rd_blosc_frame frame;
  RD_TRY (parse_frame (in, extent, &frame));
  *shuffled = rd_blosc_frame_is_shuffled (&frame, item_nbytes);
  if (!*shuffled)
    return decode_frame (&frame, scratch, in, out);
  RD_TRY (prepare_decoding (&frame, scratch));
  unsigned char *data = scratch->contexts->blocks.data;
  const struct block block = {
    .frame = &frame, .scratch = scratch, .in = in, .nbytes = frame.nbytes,
    .end = data + frame.nbytes + RD_BLOSC_SLACK_NBYTES,
  };
  RD_TRY (read_streams (&block, data));
  *result = (struct rd_shuffled) { data, frame.typesize,
                                   frame.nbytes / frame.typesize,
                                   frame.bitshuffled };
  return RADIO_OK;
}

enum radio_status
rd_blosc_encode (const struct rd_codec *codec, struct rd_scratch *scratch,
                 struct rd_bytes in, struct rd_buffer *out)
{
  RD_SCOPE_OF (encode_site (codec->u.blosc.cname));
  if (in.nbytes > BLOSC_MAX_BUFFERSIZE)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: %zu bytes are more than "
                    "a frame can hold (%d)", in.nbytes,
                    BLOSC_MAX_BUFFERSIZE);
  if (rd_blosc_method (codec->u.blosc.cname) != RD_BLOSC_BY_OTHERS)
    return rd_blosc_frame_encode (codec, scratch, in, out);
  size_t capacity = in.nbytes + BLOSC_MAX_OVERHEAD;
  RD_TRY (rd_codec_reserve (out, capacity));
  int n = blosc_compress_ctx (codec->u.blosc.clevel,
                              (int) codec->u.blosc.shuffle,
                              codec->u.blosc.typesize, in.nbytes, in.data,
                              out->data, capacity, codec->u.blosc.cname,
                              codec->u.blosc.blocksize, 1);
  if (n <= 0)
    return rd_fail (RADIO_ERROR_MEMORY, "blosc: cannot encode %zu bytes by "
                    "%s (%d)", in.nbytes, codec->u.blosc.cname, n);
  out->nbytes = (size_t) n;
  return RADIO_OK;
}
