/* SPDX-License-Identifier: MIT */
/* The blocks of radio's JSON: many numbers in columns, as varints in raw
 * deflate in base64. */
#ifndef RD_JSON_BLOCKS_H
#define RD_JSON_BLOCKS_H

#include "src/base/buffer.h"
#include "profiler/export/export.h"

#define RD_VARINT_MAX_NBYTES 10

enum { RD_SPAN_COLUMNS = 9, RD_SAMPLE_COLUMNS = 3, RD_TILE_COLUMNS = 3 };

/* What deflating saves at most.  More would make a small file claim
 * memory without end; the writer then does not deflate. */
static inline bool
rd_block_is_honest (uint64_t nbytes, uint64_t packed_nbytes)
{
  return nbytes / 32 <= packed_nbytes + (1u << 17);
}

/* Signed numbers as unsigned ones, small where they are near 0. */
static inline uint64_t
rd_zigzag (uint64_t difference)
{
  return difference << 1 ^ -(difference >> 63);
}

static inline uint64_t
rd_unzigzag (uint64_t value)
{
  return value >> 1 ^ -(value & 1);
}

/* Write the value of the member "spans", of "samples", and of "tiles";
 * plain: without deflating. */
void rd_write_spans (struct rd_writer *writer,
                     const struct radio_profile *profile, bool plain);
void rd_write_samples (struct rd_writer *writer,
                       const struct radio_profile *profile, bool plain);
void rd_write_tiles (struct rd_writer *writer,
                     const struct radio_profile *profile, bool plain);

#endif /* RD_JSON_BLOCKS_H */
