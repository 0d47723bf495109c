/* SPDX-License-Identifier: MIT */
/* Writing blosc frames.  libblosc allocates its buffers, and a context of the
 * compressor, for every tile; this keeps them.  The frames are those that
 * libblosc writes when it splits blocks: always, where it can, for LZ4, and as
 * can be configured for zstd.  The lowest levels of zstd and lz4hc differ, see
 * set_zstd_level, write_stream and choose_blocksize.  With zstd, a stream
 * for each byte of the elements has a code of its own: 2 % less on CT in 16
 * bits, 7 % less in 32 bits, than one for all of them. */
#include <config.h>

#include <blosc.h>
#include <lz4.h>
#include <lz4hc.h>
#include <string.h>
#include <zstd.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/little.h"
#include "src/codec/blosc.h"

/* libblosc's numbers. */
#define MIN_NBYTES 128                  /* that are compressed at all */
#define L1_NBYTES ((size_t) 32 << 10)
#define LARGE_STREAM_NBYTES ((size_t) 256 << 10)

/* Up to here the stream of a block is coded by one code. */
#define SHORT_STREAM_NBYTES ((size_t) 16 << 10)
#define SHORT_STREAM_LOG 14

/* Up to this level lz4hc is for decoding fast rather than for size. */
#define LZ4HC_FAST_LEVEL 4

/* A frame being written. */
struct writing {
  const struct rd_codec *codec;
  enum rd_blosc_method method;
  void *encoder;              /* the method's context */
  struct rd_bytes in;
  size_t blocksize, nblocks;
  bool split;
  bool searches;              /* zstd: thoroughly for matches */
  unsigned char *blocks;      /* two buffers */
  unsigned char *out;
  size_t capacity;            /* of out */
  size_t at;                  /* where in it the next stream begins */
};

enum rd_blosc_method
rd_blosc_method (const char *cname)
{
  if (strcmp (cname, "lz4") == 0)
    return RD_BLOSC_BY_LZ4;
  if (strcmp (cname, "lz4hc") == 0)
    return RD_BLOSC_BY_LZ4HC;
  if (strcmp (cname, "zstd") == 0)
    return RD_BLOSC_BY_ZSTD;
  return RD_BLOSC_BY_OTHERS;
}

static bool
splits (const struct rd_codec *codec, size_t blocksize)
{
  return codec->u.blosc.typesize <= RD_BLOSC_SPLIT_MAX_TYPESIZE
    && blocksize / codec->u.blosc.typesize >= RD_BLOSC_SPLIT_MIN_COUNT;
}

static size_t
choose_blocksize (const struct rd_codec *codec, enum rd_blosc_method method,
                  size_t nbytes)
{
  /* By level, in eighths of the level-1 cache. */
  static const unsigned char eighths[10] = { 2, 4, 8, 16, 32, 32, 64, 64, 64,
                                             64 };
  int clevel = codec->u.blosc.clevel;
  size_t typesize = codec->u.blosc.typesize;
  size_t blocksize = nbytes;
  if (nbytes < typesize)
    return 1;
  if (codec->u.blosc.blocksize > 0)
    blocksize = rd_min_u64 (rd_max_u64 (codec->u.blosc.blocksize,
                                        MIN_NBYTES), BLOSC_MAX_BLOCKSIZE);
  else if (nbytes >= L1_NBYTES) {
    /* As libblosc for a large buffer: the better the level, the larger, and
     * larger still for the other methods.  At the fastest level of zstd, that
     * of the preset small, a tile of up to 1 MiB is one block, so that its
     * elements can be unshuffled straight into the caller's memory. */
    blocksize = L1_NBYTES / 8 * eighths[clevel];
    if (method == RD_BLOSC_BY_ZSTD && clevel == 1)
      blocksize = LARGE_STREAM_NBYTES;
    else if (method != RD_BLOSC_BY_LZ4)
      blocksize *= clevel == 9 ? 4 : 2;
  }
  if (clevel > 0 && splits (codec, blocksize)) {
    blocksize = rd_min_u64 (blocksize, LARGE_STREAM_NBYTES) * typesize;
    blocksize = rd_max_u64 (blocksize, (size_t) 64 << 10);
    blocksize = rd_min_u64 (blocksize, (size_t) 1 << 20);
  }
  blocksize = rd_min_u64 (blocksize, nbytes);
  return blocksize > typesize ? blocksize / typesize * typesize : blocksize;
}

/* True at the fastest level of zstd with split blocks: the preset small. */
static bool
is_fast_zstd (const struct writing *writing)
{
  return writing->method == RD_BLOSC_BY_ZSTD && writing->split
    && writing->codec->u.blosc.clevel == 1;
}

static bool
has_short_streams (const struct writing *writing)
{
  return writing->blocksize / writing->codec->u.blosc.typesize
    <= SHORT_STREAM_NBYTES;
}

static void
set_zstd_level (const struct writing *writing)
{
  ZSTD_CCtx *encoder = writing->encoder;
  int clevel = writing->codec->u.blosc.clevel;
  ZSTD_CCtx_reset (encoder, ZSTD_reset_session_and_parameters);
  if (writing->searches) {
    /* The highest bytes are no noise: a thorough search for matches in several
     * rows of a picture makes them a sixth smaller, and decoding faster. */
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_compressionLevel, 5);
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_strategy, ZSTD_lazy2);
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_windowLog, 16);
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_hashLog, 12);
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_searchLog, 2);
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_minMatch, 6);
  } else if (is_fast_zstd (writing)) {
    /* This level looks for matches of 5 bytes in a table that is larger than a
     * core's first cache.  In single bytes of elements such matches are noise,
     * and cost more than the bytes that they replace: demanding 7 bytes makes
     * frames of CT in 32 bits 4 % smaller, and all of them faster to write and
     * to read.  A long stream gets a new code now and then, as the content
     * changes across a picture. */
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_minMatch, 7);
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_hashLog, 10);
    if (!has_short_streams (writing))
      ZSTD_CCtx_setParameter (encoder, ZSTD_c_windowLog, SHORT_STREAM_LOG);
  } else
    ZSTD_CCtx_setParameter (encoder, ZSTD_c_compressionLevel,
                            clevel < 9 ? 2 * clevel - 1 : ZSTD_maxCLevel ());
}

/* Writes a stream with its length before it, stored if that is not longer;
 * false when it does not fit. */
static bool
write_stream (struct writing *writing, const unsigned char *from,
              size_t nbytes)
{
  if (writing->capacity - writing->at <= 4)
    return false;
  int clevel = writing->codec->u.blosc.clevel;
  unsigned char *to = writing->out + writing->at + 4;
  size_t left = writing->capacity - writing->at - 4;

  /* How long a compressed stream may be; else it is stored.  At the levels of
   * the presets small and fast, decoding streams that hardly shrink costs more
   * time than the bytes saved (docs/presets.md).  Rows of bits are noise or
   * next to nothing, so they must shrink more. */
  size_t most = nbytes;
  if (is_fast_zstd (writing) && has_short_streams (writing))
    most = nbytes / 20 * 17;
  else if (writing->method == RD_BLOSC_BY_LZ4HC && clevel <= LZ4HC_FAST_LEVEL)
    most = nbytes / 10
           * (writing->codec->u.blosc.shuffle == RD_BLOSC_BITSHUFFLE ? 7 : 9);
  most = rd_min_u64 (most, left);

  size_t n = 0;               /* stays 0 when the result does not fit */
  if (writing->method == RD_BLOSC_BY_ZSTD) {
    n = ZSTD_compress2 (writing->encoder, to, most, from, nbytes);
    n = ZSTD_isError (n) ? 0 : n;
  } else {
    int made = writing->method == RD_BLOSC_BY_LZ4
      ? LZ4_compress_fast_extState (writing->encoder, (const char *) from,
                                    (char *) to, (int) nbytes, (int) most,
                                    10 - clevel)
      : LZ4_compress_HC_extStateHC (writing->encoder, (const char *) from,
                                    (char *) to, (int) nbytes, (int) most,
                                    clevel);
    n = made < 0 ? 0 : (size_t) made;
  }
  if (n == 0 || n == nbytes) {
    if (nbytes > left)
      return false;
    memcpy (to, from, nbytes);
    n = nbytes;
  }
  rd_put_little (to - 4, n, 4);
  writing->at += 4 + n;
  return true;
}

/* Returns false when the frame is not shorter than storing it. */
static bool
write_blocks (struct writing *writing)
{
  size_t typesize = writing->codec->u.blosc.typesize;
  enum rd_blosc_shuffle shuffle = writing->codec->u.blosc.shuffle;
  unsigned char *shuffled = writing->blocks;
  if (writing->codec->u.blosc.clevel == 0
      || writing->in.nbytes < MIN_NBYTES)
    return false;
  writing->at = RD_BLOSC_HEADER_NBYTES + 4 * writing->nblocks;
  if (writing->at > writing->capacity)
    return false;
  for (size_t k = 0; k < writing->nblocks; k++) {
    size_t start = k * writing->blocksize;
    size_t nbytes = rd_min_u64 (writing->in.nbytes - start,
                                writing->blocksize);
    const unsigned char *block = writing->in.data + start;
    if (shuffle == RD_BLOSC_SHUFFLE && typesize > 1) {
      rd_shuffle (typesize, block, shuffled, nbytes);
      block = shuffled;
    } else if (shuffle == RD_BLOSC_BITSHUFFLE && nbytes >= typesize) {
      rd_bitshuffle (typesize, block, shuffled, nbytes,
                     shuffled + writing->blocksize);
      block = shuffled;
    }
    /* A shorter last block is never split. */
    bool split = writing->split && nbytes == writing->blocksize;
    size_t nstreams = split ? typesize : 1;
    rd_put_little (writing->out + RD_BLOSC_HEADER_NBYTES + 4 * k, writing->at,
                   4);
    for (size_t i = 0; i < nstreams; i++) {
      bool searches = is_fast_zstd (writing) && !has_short_streams (writing)
        && i + 1 == nstreams;
      if (searches != writing->searches) {
        writing->searches = searches;
        set_zstd_level (writing);
      }
      if (!write_stream (writing, block + nbytes / nstreams * i,
                         nbytes / nstreams))
        return false;
    }
  }
  return true;
}

static void
write_header (const struct writing *writing, bool stored)
{
  static const unsigned formats[] = { RD_BLOSC_LZ4, RD_BLOSC_LZ4,
                                      RD_BLOSC_ZSTD };
  static const unsigned shuffles[] = { 0, RD_BLOSC_FLAG_SHUFFLE,
                                       RD_BLOSC_FLAG_BITSHUFFLE };
  unsigned char *header = writing->out;
  unsigned flags = shuffles[writing->codec->u.blosc.shuffle]
    | formats[writing->method] << RD_BLOSC_FORMAT_SHIFT;
  flags |= writing->split ? 0 : RD_BLOSC_FLAG_DONT_SPLIT;
  flags |= stored ? RD_BLOSC_FLAG_STORED : 0;
  header[0] = RD_BLOSC_FRAME_VERSION;
  header[1] = RD_BLOSC_FORMAT_VERSION;
  header[2] = (unsigned char) flags;
  header[3] = (unsigned char) writing->codec->u.blosc.typesize;
  rd_put_little (header + 4, writing->in.nbytes, 4);
  rd_put_little (header + 8, writing->blocksize, 4);
  rd_put_little (header + 12, writing->at, 4);
}

enum radio_status
rd_blosc_frame_encode (const struct rd_codec *codec,
                       struct rd_scratch *scratch, struct rd_bytes in,
                       struct rd_buffer *out)
{
  struct writing writing = {
    .codec = codec, .method = rd_blosc_method (codec->u.blosc.cname),
    .in = in, .capacity = in.nbytes + RD_BLOSC_HEADER_NBYTES,
  };
  writing.blocksize = choose_blocksize (codec, writing.method, in.nbytes);
  writing.nblocks = rd_div_up (in.nbytes, writing.blocksize);
  writing.split = splits (codec, writing.blocksize);

  struct rd_codec_contexts *contexts = rd_contexts (scratch);
  if (!contexts)
    return RADIO_ERROR_MEMORY;
  writing.encoder = writing.method == RD_BLOSC_BY_ZSTD
    ? (void *) rd_contexts_zstd_encoder (scratch)
    : rd_contexts_lz4_encoder (scratch, writing.method == RD_BLOSC_BY_LZ4HC);
  if (!writing.encoder)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_codec_reserve (&contexts->blocks,
                            2 * (uint64_t) writing.blocksize));
  writing.blocks = contexts->blocks.data;
  if (writing.method == RD_BLOSC_BY_ZSTD)
    set_zstd_level (&writing);

  RD_TRY (rd_codec_reserve (out, writing.capacity));
  writing.out = out->data;
  bool stored = !write_blocks (&writing);
  if (stored) {
    memcpy (out->data + RD_BLOSC_HEADER_NBYTES, in.data, in.nbytes);
    writing.at = writing.capacity;
  }
  write_header (&writing, stored);
  out->nbytes = writing.at;
  return RADIO_OK;
}
