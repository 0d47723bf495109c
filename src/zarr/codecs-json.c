/* SPDX-License-Identifier: MIT */
/* Lists of codecs: of an array, within a shard, of a shard's index. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/zarr/codec-config.h"
#include "src/zarr/document.h"

enum radio_status
rd_codecs_parse (struct json_object *codecs, struct rd_codec_place place,
                 const char *where, struct rd_chain **chain)
{
  if (!json_object_is_type (codecs, json_type_array))
    return rd_json_not (codecs, "codecs", "a list", where);
  if (place.depth > RD_CHAIN_MAX_DEPTH)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: shards are nested deeper than %d", where,
                    RD_CHAIN_MAX_DEPTH);
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *made
    = rd_calloc (1, sizeof *made);
  if (made == NULL)
    return rd_fail_memory (sizeof *made);
  for (size_t i = 0; i < json_object_array_length (codecs); i++) {
    bool ignored = false;
    if (made->n == RD_CHAIN_MAX)
      return rd_fail (RADIO_ERROR_UNSUPPORTED,
                      "%s: codecs has %zu entries, at most %d are supported",
                      where, json_object_array_length (codecs),
                      RD_CHAIN_MAX);
    /* Counted at once, so that what a failure leaves in it is freed. */
    struct rd_codec *codec = &made->codecs[made->n++];
    RD_TRY (rd_codec_parse (json_object_array_get_idx (codecs, i), &place,
                            where, codec, &ignored));
    made->n -= ignored;
  }
  while (made->n_array < made->n
         && made->codecs[made->n_array].id == RD_CODEC_TRANSPOSE)
    made->n_array++;
  *chain = RD_STEAL (made);
  return RADIO_OK;
}

enum radio_status
rd_chain_parse (struct json_object *codecs, const struct rd_chunk *chunk,
                const char *where, struct rd_chain **chain,
                uint64_t *tile_shape)
{
  uint64_t tile[RADIO_MAX_RANK];
  struct rd_codec_place place = {
    .rank = chunk->rank, .type = chunk->type, .tile_shape = tile
  };
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *made = NULL;

  memcpy (tile, chunk->shape, sizeof tile);
  for (size_t i = 0; i < chunk->rank; i++)
    place.axis[i] = i;
  RD_TRY (rd_codecs_parse (codecs, place, where, &made));
  enum radio_status status = rd_chain_check (made, chunk);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s", where);
  memcpy (tile_shape, tile, chunk->rank * sizeof tile[0]);
  *chain = RD_STEAL (made);
  return RADIO_OK;
}
