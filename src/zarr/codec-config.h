/* SPDX-License-Identifier: MIT */
/* One codec of a list, from its name and configuration. */
#ifndef RD_CODEC_CONFIG_H
#define RD_CODEC_CONFIG_H

#include "src/base/json.h"
#include "src/codec/chain.h"

/* What comes into a codec. */
struct rd_codec_place {
  size_t rank;
  struct rd_type type;
  size_t axis[RADIO_MAX_RANK + 1];    /* the array's, of each axis here */
  uint64_t *tile_shape;               /* of the array; NULL in an index */
  unsigned depth;                     /* shards that are around */
};

/* Parse one entry of a list of codecs.  *ignored is set when it is unknown
 * and need not be understood.  Axes are moved by a transpose. */
enum radio_status rd_codec_parse (struct json_object *value,
                                  struct rd_codec_place *place,
                                  const char *where, struct rd_codec *codec,
                                  bool *ignored) RADIO_USE_RESULT;

/* Parse a list of codecs, without rd_chain_check. */
enum radio_status rd_codecs_parse (struct json_object *codecs,
                                   struct rd_codec_place place,
                                   const char *where,
                                   struct rd_chain **chain)
  RADIO_USE_RESULT;

#endif /* RD_CODEC_CONFIG_H */
