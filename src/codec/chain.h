/* SPDX-License-Identifier: MIT */
/* Codec chains of Zarr v3: array->array*, one array->bytes, bytes->bytes*
 * (core spec, "Codecs"). */
#ifndef RD_CHAIN_H
#define RD_CHAIN_H

#include "src/codec/codec.h"

void rd_chain_free (struct rd_chain *chain);
RD_DEFINE_CLEANUP (chain, struct rd_chain, rd_chain_free);

/* Checks that a chain can be used for such chunks: order, ranks, permutations,
 * inner shapes that divide, index codecs of fixed size, sizes that do not
 * overflow.  Done once, when an array is opened; the other functions rely on
 * it.  RADIO_ERROR_FORMAT or RADIO_ERROR_UNSUPPORTED, naming the codec. */
enum radio_status rd_chain_check (const struct rd_chain *chain,
                                  const struct rd_chunk *chunk)
  RADIO_USE_RESULT;

/* Returns the scope that decoding by this chain is recorded in, "decode blosc
 * lz4".  Static. */
const struct radio_site *rd_chain_decode_site (const struct rd_chain *chain);

/* Decodes one chunk.  The view points into scratch or into the input and is
 * valid until either is used again.  A result that is not exactly a chunk
 * long, or a checksum that differs, is an error that names the codec and both
 * figures (the caller adds the key). */
enum radio_status rd_chain_decode (const struct rd_chain *chain,
                                   const struct rd_chunk *chunk,
                                   struct rd_scratch *scratch,
                                   const void *encoded, size_t nbytes,
                                   struct rd_view *view) RADIO_USE_RESULT;

/* The same, but the view may be of shuffled elements, for callers that
 * unshuffle them into their destination. */
enum radio_status rd_chain_decode_shuffled (const struct rd_chain *chain,
                                            const struct rd_chunk *chunk,
                                            struct rd_scratch *scratch,
                                            const void *encoded,
                                            size_t nbytes,
                                            struct rd_view *view)
  RADIO_USE_RESULT;

/* True when decoding leaves elements in another byte order than the machine's;
 * the same for all chunks of an array. */
bool rd_chain_is_swapped (const struct rd_chain *chain,
                          const struct rd_type *type);

/* True when a checksum covers all of an encoded chunk. */
bool rd_chain_has_checksum (const struct rd_chain *chain);

/* Verifies encoded bytes by that checksum, or by decoding them if there is
 * none. */
enum radio_status rd_chain_verify (const struct rd_chain *chain,
                                   const struct rd_chunk *chunk,
                                   struct rd_scratch *scratch,
                                   const void *encoded, size_t nbytes)
  RADIO_USE_RESULT;

/* Encodes one chunk of C-order elements in the machine's byte order; out is
 * replaced.  elements may lie in scratch->tile, but not in its stages.
 * zstd frames carry their content size. */
enum radio_status rd_chain_encode (const struct rd_chain *chain,
                                   const struct rd_chunk *chunk,
                                   struct rd_scratch *scratch,
                                   const void *elements,
                                   struct rd_buffer *out) RADIO_USE_RESULT;

/* Returns the most bytes that an encoded chunk can have.  UINT64_MAX:
 * unknown. */
uint64_t rd_chain_bound (const struct rd_chain *chain,
                         const struct rd_chunk *chunk);

/* Memory estimates: the most that a scratch holds after decoding such a chunk,
 * besides its encoded bytes, and after encoding one, besides its elements but
 * with the result.  UINT64_MAX: more than there can be. */
uint64_t rd_chain_decode_nbytes (const struct rd_chain *chain,
                                 const struct rd_chunk *chunk);
uint64_t rd_chain_encode_nbytes (const struct rd_chain *chain,
                                 const struct rd_chunk *chunk);

/* Describes a chain in words: "blosc lz4 5 bitshuffle, crc32c".  Allocated;
 * NULL without memory. */
char *rd_chain_describe (const struct rd_chain *chain);

#endif /* RD_CHAIN_H */
