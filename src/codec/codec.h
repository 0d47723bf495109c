/* SPDX-License-Identifier: MIT */
/* Codecs, chains and chunks as data, and the single codecs, which chain.c
 * calls.  This room knows bytes, not JSON: src/zarr makes the structs from a
 * document. */
#ifndef RD_CODEC_H
#define RD_CODEC_H

#include <radio/base.h>

#include "src/codec/scratch.h"
#include "src/codec/shuffle.h"
#include "src/element/type.h"

/* The maximum number of codecs in one chain. */
#define RD_CHAIN_MAX 16

/* The maximum depth of shards within shards. */
#define RD_CHAIN_MAX_DEPTH 4

enum rd_codec_id {
  RD_CODEC_TRANSPOSE,         /* array->array */
  RD_CODEC_BYTES,             /* array->bytes */
  RD_CODEC_SHARDING,          /* array->bytes */
  RD_CODEC_VLEN_UTF8,         /* array->bytes */
  RD_CODEC_BLOSC,             /* bytes->bytes, like all that follow */
  RD_CODEC_ZSTD,
  RD_CODEC_GZIP,
  RD_CODEC_CRC32C,
};

enum rd_blosc_shuffle {       /* c-blosc's own numbers */
  RD_BLOSC_NOSHUFFLE = 0,
  RD_BLOSC_SHUFFLE = 1,
  RD_BLOSC_BITSHUFFLE = 2,
};

/* In lists by axis the entries beyond the rank are 0. */
struct rd_codec {
  enum rd_codec_id id;
  union {
    struct {
      size_t order[RADIO_MAX_RANK];   /* encoded axis i = input axis order[i] */
    } transpose;
    struct {
      bool big_endian;
    } bytes;
    struct {
      uint64_t chunk_shape[RADIO_MAX_RANK];
      struct rd_chain *inner;         /* owned */
      struct rd_chain *index;         /* owned */
      bool index_at_start;
    } sharding;
    struct {
      char cname[12];                 /* "lz4", "lz4hc", "blosclz", ... */
      int clevel;                     /* 0-9 */
      enum rd_blosc_shuffle shuffle;
      size_t typesize;                /* 1-255 */
      size_t blocksize;               /* 0: automatic */
    } blosc;
    struct {
      int level;
      bool checksum;
    } zstd;
    struct {
      int level;                      /* 0-9 */
    } gzip;
  } u;
};

struct rd_chain {
  size_t n;
  size_t n_array;             /* array->array codecs; codecs[n_array] is the
                                 array->bytes one */
  struct rd_codec codecs[RD_CHAIN_MAX];
};

/* A chunk before it is encoded. */
struct rd_chunk {
  size_t rank;
  uint64_t shape[RADIO_MAX_RANK];
  struct rd_type type;
  const void *fill;           /* one element */
  uint64_t strings_nbytes;    /* of STRING: encoded by vlen-utf8, at most */
};

/* Returns the bytes of a chunk's elements; the chain was checked, so they do
 * not overflow. */
uint64_t rd_chunk_nbytes (const struct rd_chunk *chunk);

/* True when every element of a C-order chunk equals the fill value, bit for
 * bit. */
bool rd_chunk_is_fill (const struct rd_chunk *chunk, const void *elements);

/* Fills a C-order chunk with the fill value. */
void rd_chunk_fill (const struct rd_chunk *chunk, void *elements);

/* Decoded elements in memory. */
struct rd_view {
  const unsigned char *data;
  int64_t strides[RADIO_MAX_RANK];    /* bytes, by axis of the chunk */
  bool swapped;                       /* units not in the machine's order */

  /* They are still shuffled, in a block whose item i would be at byte
   * i * item_nbytes; data is NULL.  Not swapped then. */
  bool shuffled;
  struct rd_shuffled block;
};

struct rd_bytes {
  const unsigned char *data;
  size_t nbytes;
};

/* The size that a codec must decode to: exact, or only a bound where another
 * codec of unknown ratio came before. */
struct rd_decoded_size {
  uint64_t nbytes;
  bool exact;
  bool grows;                 /* the bound is far above what is usual: memory
                                 is taken as bytes are decoded */
};

/* Returns the most bytes of a chunk after an array->bytes codec. */
uint64_t rd_codec_array_bound (const struct rd_codec *codec,
                               const struct rd_chunk *encoded);

/* Returns the most bytes that any encoder makes of nbytes; UINT64_MAX of
 * UINT64_MAX. */
uint64_t rd_codec_bound (const struct rd_codec *codec, uint64_t nbytes);

/* Returns the most that zstd's encoder holds after an input of this size. */
uint64_t rd_zstd_encoder_nbytes (int level, uint64_t nbytes);

/* bytes->bytes.  Decoders and encoders replace out; decoded bytes fit extent.
 * `in' is not in out. */
enum radio_status rd_zstd_decode (struct rd_scratch *scratch,
                                  struct rd_bytes in,
                                  struct rd_decoded_size extent,
                                  struct rd_buffer *out) RADIO_USE_RESULT;
enum radio_status rd_zstd_encode (const struct rd_codec *codec,
                                  struct rd_scratch *scratch,
                                  struct rd_bytes in, struct rd_buffer *out)
  RADIO_USE_RESULT;
enum radio_status rd_gzip_decode (struct rd_scratch *scratch,
                                  struct rd_bytes in,
                                  struct rd_decoded_size extent,
                                  struct rd_buffer *out) RADIO_USE_RESULT;
enum radio_status rd_gzip_encode (const struct rd_codec *codec,
                                  struct rd_scratch *scratch,
                                  struct rd_bytes in, struct rd_buffer *out)
  RADIO_USE_RESULT;
enum radio_status rd_blosc_decode (struct rd_scratch *scratch,
                                   struct rd_bytes in,
                                   struct rd_decoded_size extent,
                                   struct rd_buffer *out) RADIO_USE_RESULT;

/* The same, but whole elements may be left shuffled: then *shuffled is set,
 * block is of extent's bytes and points into scratch, and out is not used. */
enum radio_status rd_blosc_decode_shuffled (struct rd_scratch *scratch,
                                            struct rd_bytes in,
                                            struct rd_decoded_size extent,
                                            size_t item_nbytes,
                                            struct rd_buffer *out,
                                            bool *shuffled,
                                            struct rd_shuffled *block)
  RADIO_USE_RESULT;
enum radio_status rd_blosc_encode (const struct rd_codec *codec,
                                   struct rd_scratch *scratch,
                                   struct rd_bytes in,
                                   struct rd_buffer *out) RADIO_USE_RESULT;

/* Checks that a blosc codec's options are legal, and its compressor is
 * available. */
enum radio_status rd_blosc_check (const struct rd_codec *codec,
                                  uint64_t nbytes) RADIO_USE_RESULT;

/* array->bytes by vlen-utf8 (zarr-extensions): the number of strings as u32,
 * then of each its length as u32 and its bytes, little-endian.  The decoder
 * checks all of it, and its elements point into `in'; the encoder replaces
 * out. */
enum radio_status rd_vlen_utf8_decode (const struct rd_chunk *chunk,
                                       struct rd_bytes in,
                                       struct rd_buffer *elements)
  RADIO_USE_RESULT;
enum radio_status rd_vlen_utf8_encode (const struct rd_chunk *chunk,
                                       const unsigned char *elements,
                                       const int64_t *strides,
                                       struct rd_buffer *out)
  RADIO_USE_RESULT;

/* Returns the bytes of the count and of n strings of nbytes in total. */
uint64_t rd_vlen_utf8_nbytes (uint64_t n, uint64_t nbytes);

/* Verifies the checksum at the end of `in' and removes it. */
enum radio_status rd_crc32c_verify (struct rd_bytes *in) RADIO_USE_RESULT;

/* Appends the checksum of a buffer to it. */
enum radio_status rd_crc32c_append (struct rd_buffer *buffer)
  RADIO_USE_RESULT;

/* Sets `encoded' to the chunk after its array->array codecs. */
void rd_transpose_shape (const struct rd_chain *chain,
                         const struct rd_chunk *chunk,
                         struct rd_chunk *encoded);

/* The inner chunks of a shard: how many along each axis (grid), and the chunk
 * of each. */
void rd_shard_layout (const struct rd_codec *sharding,
                      const struct rd_chunk *shard,
                      uint64_t *grid, struct rd_chunk *inner);

/* Sets `index' to the shard's index as an array: uint64 of shape grid x 2 (of
 * n x 2 where the rank has no room for another axis). */
void rd_shard_index_chunk (const struct rd_codec *sharding,
                           const struct rd_chunk *shard,
                           struct rd_chunk *index);

/* Returns the bytes of the encoded index. */
uint64_t rd_shard_index_nbytes (const struct rd_codec *sharding,
                                const struct rd_chunk *shard);

/* Returns the most bytes that a shard can have.  UINT64_MAX: unknown. */
uint64_t rd_shard_bound (const struct rd_codec *sharding,
                         const struct rd_chunk *shard);

/* array->bytes by sharding, of shards that are in memory as a whole.  The
 * decoder writes all elements of a shard in C order to out; the encoder
 * appends to out, which is empty. */
enum radio_status rd_sharding_decode (const struct rd_codec *sharding,
                                      const struct rd_chunk *shard,
                                      struct rd_scratch *scratch,
                                      struct rd_bytes in, unsigned char *out)
  RADIO_USE_RESULT;
enum radio_status rd_sharding_encode (const struct rd_codec *sharding,
                                      const struct rd_chunk *shard,
                                      struct rd_scratch *scratch,
                                      const unsigned char *elements,
                                      const int64_t *strides,
                                      struct rd_buffer *out)
  RADIO_USE_RESULT;

/* Empties out, with capacity for nbytes. */
enum radio_status rd_codec_reserve (struct rd_buffer *out, uint64_t nbytes)
  RADIO_USE_RESULT;

/* Checks the number of bytes that were decoded. */
enum radio_status rd_codec_check_length (const char *codec, size_t nbytes,
                                         struct rd_decoded_size extent)
  RADIO_USE_RESULT;

#endif /* RD_CODEC_H */
