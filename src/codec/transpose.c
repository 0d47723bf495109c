/* SPDX-License-Identifier: MIT */
/* The transpose codec: encoded axis i is input axis order[i].  Nothing is
 * moved for it: decoding gives the view other strides, and encoding is part
 * of the one copy that also puts the bytes in order. */
#include <config.h>

#include <string.h>

#include "src/codec/codec.h"

void
rd_transpose_shape (const struct rd_chain *chain,
                    const struct rd_chunk *chunk, struct rd_chunk *encoded)
{
  *encoded = *chunk;
  for (size_t i = 0; i < chain->n_array; i++) {
    uint64_t shape[RADIO_MAX_RANK];
    memcpy (shape, encoded->shape, sizeof shape);
    for (size_t k = 0; k < chunk->rank; k++)
      encoded->shape[k] = shape[chain->codecs[i].u.transpose.order[k]];
  }
}

void
rd_transpose_strides (const struct rd_chain *chain, size_t rank,
                      int64_t *strides)
{
  for (size_t i = chain->n_array; i-- > 0;) {
    int64_t encoded[RADIO_MAX_RANK];
    memcpy (encoded, strides, rank * sizeof encoded[0]);
    for (size_t k = 0; k < rank; k++)
      strides[chain->codecs[i].u.transpose.order[k]] = encoded[k];
  }
}
