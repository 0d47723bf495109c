/* SPDX-License-Identifier: MIT */
/* The single codecs, as the chain calls them. */
#ifndef RD_CODEC_H
#define RD_CODEC_H

#include "src/codec/chain.h"
#include "src/codec/unshuffle.h"

struct rd_bytes {
  const unsigned char *data;
  size_t nbytes;
};

/* What a codec has to decode to: what was encoded is known to the byte, or
 * only bounded, where another codec of unknown ratio came before. */
struct rd_extent {
  uint64_t nbytes;
  bool exact;
};

/* The most that a codec makes of this much, generous to other encoders than
 * ours.  UINT64_MAX stays what it is. */
uint64_t rd_codec_bound (const struct rd_codec *codec, uint64_t nbytes);

/* The most that a shard can have.  UINT64_MAX: unknown. */
uint64_t rd_shard_bound (const struct rd_codec *sharding,
                         const struct rd_chunk *shard);

/* The most that zstd's encoder holds after an input of this size. */
uint64_t rd_zstd_encoder_nbytes (int level, uint64_t nbytes);

/* bytes->bytes.  Decoders replace out by what they decode, which fits
 * extent; encoders replace out.  `in' does not lie in out. */
enum radio_status rd_zstd_decode (struct rd_scratch *scratch,
                                  struct rd_bytes in,
                                  struct rd_extent extent,
                                  struct rd_buffer *out) RADIO_USE_RESULT;
enum radio_status rd_zstd_encode (const struct rd_codec *codec,
                                  struct rd_scratch *scratch,
                                  struct rd_bytes in, struct rd_buffer *out)
  RADIO_USE_RESULT;
enum radio_status rd_gzip_decode (struct rd_scratch *scratch,
                                  struct rd_bytes in,
                                  struct rd_extent extent,
                                  struct rd_buffer *out) RADIO_USE_RESULT;
enum radio_status rd_gzip_encode (const struct rd_codec *codec,
                                  struct rd_scratch *scratch,
                                  struct rd_bytes in, struct rd_buffer *out)
  RADIO_USE_RESULT;
enum radio_status rd_blosc_decode (struct rd_scratch *scratch,
                                   struct rd_bytes in,
                                   struct rd_extent extent,
                                   struct rd_buffer *out) RADIO_USE_RESULT;

/* The same, but whole items that are shuffled may be left so: then
 * *shuffled is set, block is of extent's bytes and points into scratch, and
 * out is not used. */
enum radio_status rd_blosc_decode_shuffled (struct rd_scratch *scratch,
                                            struct rd_bytes in,
                                            struct rd_extent extent,
                                            size_t item_nbytes,
                                            struct rd_buffer *out,
                                            bool *shuffled,
                                            struct rd_shuffled *block)
  RADIO_USE_RESULT;
enum radio_status rd_blosc_encode (const struct rd_codec *codec,
                                   struct rd_scratch *scratch,
                                   struct rd_bytes in,
                                   struct rd_buffer *out) RADIO_USE_RESULT;

/* Whether a blosc codec's options are legal, and its compressor is there. */
enum radio_status rd_blosc_check (const struct rd_codec *codec,
                                  uint64_t nbytes) RADIO_USE_RESULT;

/* Check the checksum at the end of `in' and take it off. */
enum radio_status rd_crc32c_strip (struct rd_bytes *in) RADIO_USE_RESULT;

/* Append the checksum of what is in a buffer. */
enum radio_status rd_crc32c_append (struct rd_buffer *buffer)
  RADIO_USE_RESULT;

/* The shape that a chunk has after its array->array codecs. */
void rd_transpose_shape (const struct rd_chain *chain,
                         const struct rd_chunk *chunk,
                         struct rd_chunk *encoded);

/* Turn strides of that shape's axes into those of the chunk's. */
void rd_transpose_strides (const struct rd_chain *chain, size_t rank,
                           int64_t *strides);

/* array->bytes by sharding.  The decoder writes all elements of a shard in
 * C order to out; the encoder appends to out, which is empty. */
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

/* Make room for what a codec may decode to; out is empty then. */
enum radio_status rd_codec_reserve (struct rd_buffer *out, uint64_t nbytes)
  RADIO_USE_RESULT;

/* A decoder's last word: nbytes were decoded. */
enum radio_status rd_codec_check_length (const char *codec, size_t nbytes,
                                         struct rd_extent extent)
  RADIO_USE_RESULT;

/* A decoder ran out of its extent. */
enum radio_status rd_codec_fail_longer (const char *codec,
                                        struct rd_extent extent);

#endif /* RD_CODEC_H */
