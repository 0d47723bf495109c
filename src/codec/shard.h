/* SPDX-License-Identifier: MIT */
/* The index of a shard (sharding_indexed, core codecs v1.0): for each inner
 * chunk, in C order, its offset from the shard's start and its length, both
 * 2^64-1 for a missing chunk. */
#ifndef RD_SHARD_H
#define RD_SHARD_H

#include "src/codec/codec.h"

#define RD_SHARD_MISSING UINT64_MAX

struct rd_shard_entry {
  uint64_t offset;
  uint64_t nbytes;
};

struct rd_shard_index {
  uint64_t n;
  struct rd_shard_entry entries[];
};

/* Decodes an index and checks every entry against the size of its shard, so
 * that later reads need not: RADIO_ERROR_FORMAT names the entry and its
 * figures.  *index is allocated, freed with rd_free (). */
enum radio_status
rd_shard_index_decode (const struct rd_codec *sharding,
                       const struct rd_chunk *shard,
                       struct rd_scratch *scratch,
                       const void *encoded, size_t nbytes,
                       uint64_t shard_nbytes, struct rd_shard_index **index)
  RADIO_USE_RESULT;

/* Encodes an index; out is replaced. */
enum radio_status
rd_shard_index_encode (const struct rd_codec *sharding,
                       const struct rd_chunk *shard,
                       struct rd_scratch *scratch,
                       const struct rd_shard_index *index,
                       struct rd_buffer *out) RADIO_USE_RESULT;

#endif /* RD_SHARD_H */
