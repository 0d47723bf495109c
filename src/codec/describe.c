/* SPDX-License-Identifier: MIT */
/* A chain in words, for users, and the scope of decoding by it, for profiles.
 * The usual byte order is not mentioned. */
#include <config.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/buffer.h"
#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/codec/chain.h"

RADIO_PRINTF (2, 3)
static enum radio_status
append_text (struct rd_buffer *text, const char *format, ...)
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

static enum radio_status
describe_codec (const struct rd_codec *codec, struct rd_buffer *text)
{
  static const char *const shuffles[] = { "noshuffle", "shuffle",
                                          "bitshuffle" };
  const size_t *order = codec->u.transpose.order;
  const uint64_t *shape = codec->u.sharding.chunk_shape;
  size_t rank = 1;
  switch (codec->id) {
  case RD_CODEC_TRANSPOSE:
    /* A codec does not know the rank; unused entries are zero. */
    for (size_t i = 0; i < RADIO_MAX_RANK; i++)
      rank = order[i] >= rank ? order[i] + 1 : rank;
    RD_TRY (append_text (text, "transpose"));
    for (size_t i = 0; i < rank && i < RADIO_MAX_RANK; i++)
      RD_TRY (append_text (text, "%c%zu", i ? '-' : ' ', order[i]));
    return RADIO_OK;
  case RD_CODEC_BYTES:
    return append_text (text, "bytes%s",
                        codec->u.bytes.big_endian ? " big" : "");
  case RD_CODEC_SHARDING:
    RD_TRY (append_text (text, "sharding"));
    for (size_t i = 0; i < RADIO_MAX_RANK && shape[i] > 0; i++)
      RD_TRY (append_text (text, "%c%" PRIu64, i ? 'x' : ' ', shape[i]));
    RD_TRY (append_text (text, " ("));
    RD_TRY (describe_chain (codec->u.sharding.inner, text));
    return append_text (text, ")%s",
                        codec->u.sharding.index_at_start ? " index first"
                                                         : "");
  case RD_CODEC_VLEN_UTF8:
    return append_text (text, "vlen-utf8");
  case RD_CODEC_BLOSC:
    return append_text (text, "blosc %s %d %s", codec->u.blosc.cname,
                        codec->u.blosc.clevel,
                        shuffles[codec->u.blosc.shuffle]);
  case RD_CODEC_ZSTD:
    return append_text (text, "zstd %d%s", codec->u.zstd.level,
                        codec->u.zstd.checksum ? " checksum" : "");
  case RD_CODEC_GZIP:
    return append_text (text, "gzip %d", codec->u.gzip.level);
  default:
    return append_text (text, "crc32c");
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
      RD_TRY (append_text (text, ", "));
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

/* One scope for the whole chain, named after the codec that takes the time.  A
 * scope for every codec of the chain would cost more than 3 % of reading a
 * small box, since tiles are small; checksums and shuffling are within it. */
#define DECODE_SITE(name) \
  { "decode " name, RD_IN_DECODE, "rd_chain_decode", __FILE__, __LINE__, \
    RADIO_SCOPE_WORK }

static const struct radio_site raw_site = DECODE_SITE ("raw");
static const struct radio_site shard_site = DECODE_SITE ("shard");
static const struct radio_site zstd_site = DECODE_SITE ("zstd");
static const struct radio_site gzip_site = DECODE_SITE ("gzip");

static const struct {
  const char *cname;
  struct radio_site site;
} blosc_sites[] = {
  { "lz4", DECODE_SITE ("blosc lz4") },
  { "lz4hc", DECODE_SITE ("blosc lz4") },
  { "zstd", DECODE_SITE ("blosc zstd") },
  { "zlib", DECODE_SITE ("blosc zlib") },
  { "blosclz", DECODE_SITE ("blosc blosclz") },
  { "snappy", DECODE_SITE ("blosc snappy") },
};

const struct radio_site *
rd_chain_decode_site (const struct rd_chain *chain)
{
  size_t n = sizeof blosc_sites / sizeof blosc_sites[0], k = 0;
  for (size_t i = 0; i < chain->n; i++)
    switch (chain->codecs[i].id) {
    case RD_CODEC_SHARDING:
      return &shard_site;
    case RD_CODEC_BLOSC:
      while (k + 1 < n && strcmp (blosc_sites[k].cname,
                                  chain->codecs[i].u.blosc.cname) != 0)
        k++;
      return &blosc_sites[k].site;
    case RD_CODEC_ZSTD:
      return &zstd_site;
    case RD_CODEC_GZIP:
      return &gzip_site;
    default:
      break;
    }
  return &raw_site;
}
