/* SPDX-License-Identifier: MIT */
/* The frame of c-blosc 1 (its README_CHUNK_FORMAT), format version 2. */
#ifndef RD_BLOSC_FRAME_H
#define RD_BLOSC_FRAME_H

#include "src/codec/codec.h"
#include "src/codec/unshuffle.h"

#define RD_BLOSC_HEADER_NBYTES 16

/* The formats of what is in a block. */
enum rd_blosc_format {
  RD_BLOSC_BLOSCLZ = 0,
  RD_BLOSC_LZ4 = 1,           /* lz4hc too */
  RD_BLOSC_SNAPPY = 2,
  RD_BLOSC_ZLIB = 3,
  RD_BLOSC_ZSTD = 4,
};

/* A header that was found right. */
struct rd_blosc_frame {
  enum rd_blosc_format format;
  bool stored;                /* not compressed at all */
  bool shuffled;              /* at most one of the two is set */
  bool bitshuffled;
  bool split;                 /* a block is a stream for each byte of its
                                 elements, where the sizes allow */
  size_t typesize;            /* 1-255 */
  size_t nbytes;              /* decoded */
  size_t blocksize;           /* 1 to nbytes */
  size_t nblocks;
};

/* Read the header of a frame and check it against itself and the frame's
 * size.  RADIO_ERROR_FORMAT or RADIO_ERROR_UNSUPPORTED name the field. */
enum radio_status rd_blosc_frame_parse (struct rd_bytes in,
                                        struct rd_blosc_frame *frame)
  RADIO_USE_RESULT;

/* LZ4 is faster at the end of a stream where it may write behind it. */
#define RD_BLOSC_SLACK_NBYTES 64

/* Decode a frame that is not stored and whose format is LZ4, ZLIB or ZSTD
 * to frame->nbytes bytes.  `out' has the slack behind them. */
enum radio_status rd_blosc_frame_decode (const struct rd_blosc_frame *frame,
                                         struct rd_scratch *scratch,
                                         struct rd_bytes in,
                                         unsigned char *out)
  RADIO_USE_RESULT;

/* Whether a frame is one block of whole elements of this size, shuffled by
 * bytes or bits, that the following can decode. */
bool rd_blosc_frame_is_shuffled (const struct rd_blosc_frame *frame,
                                 size_t item_nbytes);

/* Decode such a frame but for unshuffling.  The block points into scratch
 * and is valid until that is used again. */
enum radio_status
rd_blosc_frame_decode_shuffled (const struct rd_blosc_frame *frame,
                                struct rd_scratch *scratch,
                                struct rd_bytes in,
                                struct rd_shuffled *block) RADIO_USE_RESULT;

/* How blocks are compressed. */
enum rd_blosc_method {
  RD_BLOSC_BY_LZ4,
  RD_BLOSC_BY_LZ4HC,
  RD_BLOSC_BY_ZSTD,
  RD_BLOSC_BY_OTHERS,         /* libblosc's own */
};

enum rd_blosc_method rd_blosc_method (const char *cname);

/* Encode a frame by one of the methods that are ours; out is replaced.  At
 * most 16 bytes longer than the input. */
enum radio_status rd_blosc_frame_encode (const struct rd_codec *codec,
                                         struct rd_scratch *scratch,
                                         struct rd_bytes in,
                                         struct rd_buffer *out)
  RADIO_USE_RESULT;

#endif /* RD_BLOSC_FRAME_H */
