/* SPDX-License-Identifier: MIT */
/* A chain in words.  `bytes' with its usual order goes without saying. */
#include <config.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/buffer.h"
#include "src/base/error.h"
#include "src/codec/chain.h"

RADIO_PRINTF (2, 3)
static enum radio_status
say (struct rd_buffer *text, const char *format, ...)
{
  char piece[64];
  va_list args;
  va_start (args, format);
  int n = vsnprintf (piece, sizeof piece, format, args);
  va_end (args);
  if (n < 0 || (size_t) n >= sizeof piece)
    return rd_fail (RADIO_ERROR_ARGUMENT, "codec description too long");
  return rd_buffer_append (text, piece, (size_t) n);
}

static enum radio_status describe_chain (const struct rd_chain *chain,
                                         struct rd_buffer *text);

/* A codec does not know the rank; unused entries are zero. */
static enum radio_status
describe_transpose (const struct rd_codec *codec, struct rd_buffer *text)
{
  size_t rank = 1;
  for (size_t i = 0; i < RADIO_MAX_RANK; i++)
    if (codec->u.transpose.order[i] >= rank)
      rank = codec->u.transpose.order[i] + 1;
  RD_TRY (say (text, "transpose"));
  for (size_t i = 0; i < rank && i < RADIO_MAX_RANK; i++)
    RD_TRY (say (text, "%c%zu", i ? '-' : ' ', codec->u.transpose.order[i]));
  return RADIO_OK;
}

static enum radio_status
describe_sharding (const struct rd_codec *codec, struct rd_buffer *text)
{
  const uint64_t *shape = codec->u.sharding.chunk_shape;
  RD_TRY (say (text, "sharding"));
  for (size_t i = 0; i < RADIO_MAX_RANK && shape[i] > 0; i++)
    RD_TRY (say (text, "%c%" PRIu64, i ? 'x' : ' ', shape[i]));
  RD_TRY (say (text, " ("));
  RD_TRY (describe_chain (codec->u.sharding.inner, text));
  return say (text, ")%s",
              codec->u.sharding.index_at_start ? " index first" : "");
}

static enum radio_status
describe_blosc (const struct rd_codec *codec, struct rd_buffer *text)
{
  static const char *const shuffles[] = { "noshuffle", "shuffle",
                                          "bitshuffle" };
  return say (text, "blosc %s %d %s", codec->u.blosc.cname,
              codec->u.blosc.clevel, shuffles[codec->u.blosc.shuffle]);
}

static enum radio_status
describe_codec (const struct rd_codec *codec, struct rd_buffer *text)
{
  switch (codec->id) {
  case RD_CODEC_TRANSPOSE:
    return describe_transpose (codec, text);
  case RD_CODEC_BYTES:
    return say (text, "bytes%s", codec->u.bytes.big_endian ? " big" : "");
  case RD_CODEC_SHARDING:
    return describe_sharding (codec, text);
  case RD_CODEC_BLOSC:
    return describe_blosc (codec, text);
  case RD_CODEC_ZSTD:
    return say (text, "zstd %d%s", codec->u.zstd.level,
                codec->u.zstd.checksum ? " checksum" : "");
  case RD_CODEC_GZIP:
    return say (text, "gzip %d", codec->u.gzip.level);
  default:
    return say (text, "crc32c");
  }
}

static enum radio_status
describe_chain (const struct rd_chain *chain, struct rd_buffer *text)
{
  bool first = true;
  for (size_t i = 0; i < chain->n; i++) {
    const struct rd_codec *codec = &chain->codecs[i];
    if (codec->id == RD_CODEC_BYTES && !codec->u.bytes.big_endian
        && chain->n > 1)
      continue;
    if (!first)
      RD_TRY (say (text, ", "));
    first = false;
    RD_TRY (describe_codec (codec, text));
  }
  return RADIO_OK;
}

char *
rd_chain_describe (const struct rd_chain *chain)
{
  struct rd_buffer text = { 0 };
  if (describe_chain (chain, &text) == RADIO_OK
      && rd_buffer_append (&text, "", 1) == RADIO_OK)
    return (char *) text.data;
  rd_buffer_free (&text);
  return NULL;
}
