/* SPDX-License-Identifier: MIT */
/* Codec chains of Zarr v3: array->array*, one array->bytes, bytes->bytes*
 * (core spec, "Codecs").  This folder knows bytes, not JSON: src/zarr makes
 * the structs from a document. */
#ifndef RD_CHAIN_H
#define RD_CHAIN_H

#include <radio/base.h>

#include "src/codec/scratch.h"
#include "src/codec/unshuffle.h"
#include "src/element/type.h"

/* More codecs in one chain than anyone needs, fewer than hurt. */
#define RD_CHAIN_MAX 16

/* Shards within shards within shards ... */
#define RD_CHAIN_MAX_DEPTH 4

enum rd_codec_id {
  RD_CODEC_TRANSPOSE,         /* array->array */
  RD_CODEC_BYTES,             /* array->bytes */
  RD_CODEC_SHARDING,          /* array->bytes */
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

void rd_chain_free (struct rd_chain *chain);
RD_DEFINE_CLEANUP (chain, struct rd_chain, rd_chain_free);

/* What a chunk is, before it is encoded. */
struct rd_chunk {
  size_t rank;
  uint64_t shape[RADIO_MAX_RANK];
  struct rd_type type;
  const void *fill;           /* one element */
};

/* Whether a chain can be used for such chunks: order, ranks, permutations,
 * inner shapes that divide, index codecs of fixed size, sizes that do not
 * overflow.  Done once, when an array is opened; what follows relies on it.
 * RADIO_ERROR_FORMAT or RADIO_ERROR_UNSUPPORTED, naming the codec. */
enum radio_status rd_chain_check (const struct rd_chain *chain,
                                  const struct rd_chunk *chunk)
  RADIO_USE_RESULT;

/* Bytes of a chunk's elements; the chain was checked, so it fits. */
uint64_t rd_chunk_nbytes (const struct rd_chunk *chunk);

/* Whether every element of a C-order chunk equals the fill value, bit for
 * bit. */
bool rd_chunk_is_fill (const struct rd_chunk *chunk, const void *elements);

/* Fill a C-order chunk with the fill value. */
void rd_chunk_fill (const struct rd_chunk *chunk, void *elements);

/* Decoded elements where they happen to lie. */
struct rd_view {
  const unsigned char *data;
  int64_t strides[RADIO_MAX_RANK];    /* bytes, by axis of the chunk */
  bool swapped;                       /* units not in the machine's order */

  /* They are still shuffled, in a block whose item i would be at byte
   * i * item_nbytes; data is NULL.  Not swapped then. */
  bool shuffled;
  struct rd_shuffled block;
};

/* The scope that decoding by this chain is recorded in: "decode blosc lz4".
 * Static. */
const struct radio_site *rd_chain_decode_site (const struct rd_chain *chain);

/* Decode one chunk from its encoded bytes.  The view points into scratch or
 * into the input and is valid until either is used again.  A result that is
 * not exactly a chunk long, or a checksum that differs, is an error that
 * names the codec and both figures (the caller puts the key before it). */
enum radio_status rd_chain_decode (const struct rd_chain *chain,
                                   const struct rd_chunk *chunk,
                                   struct rd_scratch *scratch,
                                   const void *encoded, size_t nbytes,
                                   struct rd_view *view) RADIO_USE_RESULT;

/* The same, but the view may be of shuffled elements, for whoever can put
 * them in order on their way to where they are wanted. */
enum radio_status rd_chain_decode_shuffled (const struct rd_chain *chain,
                                            const struct rd_chunk *chunk,
                                            struct rd_scratch *scratch,
                                            const void *encoded,
                                            size_t nbytes,
                                            struct rd_view *view)
  RADIO_USE_RESULT;

/* Whether a checksum covers all that the chain makes of a chunk. */
bool rd_chain_has_checksum (const struct rd_chain *chain);

/* Check encoded bytes that are not wanted decoded: by that checksum, or by
 * decoding them where there is none. */
enum radio_status rd_chain_verify (const struct rd_chain *chain,
                                   const struct rd_chunk *chunk,
                                   struct rd_scratch *scratch,
                                   const void *encoded, size_t nbytes)
  RADIO_USE_RESULT;

/* Encode one chunk of C-order elements in the machine's byte order; out is
 * replaced.  elements may lie in scratch->tile, but not in its stages.
 * zstd frames carry their content size. */
enum radio_status rd_chain_encode (const struct rd_chain *chain,
                                   const struct rd_chunk *chunk,
                                   struct rd_scratch *scratch,
                                   const void *elements,
                                   struct rd_buffer *out) RADIO_USE_RESULT;

/* The most bytes that an encoded chunk can have.  UINT64_MAX: unknown. */
uint64_t rd_chain_bound (const struct rd_chain *chain,
                         const struct rd_chunk *chunk);

/* The most that a scratch comes to hold by decoding such a chunk, besides
 * its encoded bytes, and by encoding one, besides its elements but with the
 * result.  UINT64_MAX: more than there can be. */
uint64_t rd_chain_decode_nbytes (const struct rd_chain *chain,
                                 const struct rd_chunk *chunk);
uint64_t rd_chain_encode_nbytes (const struct rd_chain *chain,
                                 const struct rd_chunk *chunk);

/* The chain in words, for people: "blosc lz4 5 bitshuffle, crc32c".
 * Allocated; NULL without memory. */
char *rd_chain_describe (const struct rd_chain *chain);

#endif /* RD_CHAIN_H */
