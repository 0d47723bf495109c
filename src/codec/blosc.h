/* SPDX-License-Identifier: MIT */
/* The frame of c-blosc 1 (its README_CHUNK_FORMAT), format version 2. */
#ifndef RD_BLOSC_H
#define RD_BLOSC_H

#include "src/codec/codec.h"

#define RD_BLOSC_HEADER_NBYTES 16

/* The only version of the frame that c-blosc 1.x reads, and that of all its
 * inner formats. */
#define RD_BLOSC_FRAME_VERSION 2
#define RD_BLOSC_FORMAT_VERSION 1

#define RD_BLOSC_FLAG_SHUFFLE 0x01
#define RD_BLOSC_FLAG_STORED 0x02
#define RD_BLOSC_FLAG_BITSHUFFLE 0x04
#define RD_BLOSC_FLAG_RESERVED 0x08
#define RD_BLOSC_FLAG_DONT_SPLIT 0x10
#define RD_BLOSC_FORMAT_SHIFT 5

/* Blocks are split when their elements are at most this large, and there are
 * at least this many of them. */
#define RD_BLOSC_SPLIT_MAX_TYPESIZE 16
#define RD_BLOSC_SPLIT_MIN_COUNT 128

/* The formats of blocks. */
enum rd_blosc_format {
  RD_BLOSC_BLOSCLZ = 0,
  RD_BLOSC_LZ4 = 1,           /* lz4hc too */
  RD_BLOSC_SNAPPY = 2,
  RD_BLOSC_ZLIB = 3,
  RD_BLOSC_ZSTD = 4,
};

/* A checked header. */
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

/* Parses the header of a frame and checks it against itself and the frame's
 * size.  RADIO_ERROR_FORMAT or RADIO_ERROR_UNSUPPORTED name the field. */
enum radio_status rd_blosc_frame_parse (struct rd_bytes in,
                                        struct rd_blosc_frame *frame)
  RADIO_USE_RESULT;

/* LZ4 is faster at the end of a stream where it may write past it. */
#define RD_BLOSC_SLACK_NBYTES 64

/* True when a frame is one block of whole elements of this size, shuffled by
 * bytes or bits, that rd_blosc_decode_shuffled leaves shuffled. */
bool rd_blosc_frame_is_shuffled (const struct rd_blosc_frame *frame,
                                 size_t item_nbytes);

/* The compressor of blocks. */
enum rd_blosc_method {
  RD_BLOSC_BY_LZ4,
  RD_BLOSC_BY_LZ4HC,
  RD_BLOSC_BY_ZSTD,
  RD_BLOSC_BY_OTHERS,         /* left to libblosc */
};

enum rd_blosc_method rd_blosc_method (const char *cname);

/* Encodes a frame by another method than BY_OTHERS; out is replaced.  It is at
 * most 16 bytes longer than the input. */
enum radio_status rd_blosc_frame_encode (const struct rd_codec *codec,
                                         struct rd_scratch *scratch,
                                         struct rd_bytes in,
                                         struct rd_buffer *out)
  RADIO_USE_RESULT;

#endif /* RD_BLOSC_H */
