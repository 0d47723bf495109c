/* SPDX-License-Identifier: MIT */
/* The scope in which a tile is decoded: one for the whole chain, named after
 * the codec that takes its time.  A scope of its own for every codec of the
 * chain would cost more than 3 % of the reading of a small box, since tiles
 * are small; checksums and shuffling are within it. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/codec/chain.h"

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

static const struct radio_site *
blosc_site (const char *cname)
{
  size_t n = sizeof blosc_sites / sizeof blosc_sites[0], i = 0;
  while (i + 1 < n && strcmp (blosc_sites[i].cname, cname) != 0)
    i++;
  return &blosc_sites[i].site;
}

const struct radio_site *
rd_chain_decode_site (const struct rd_chain *chain)
{
  for (size_t i = 0; i < chain->n; i++)
    switch (chain->codecs[i].id) {
    case RD_CODEC_SHARDING:
      return &shard_site;
    case RD_CODEC_BLOSC:
      return blosc_site (chain->codecs[i].u.blosc.cname);
    case RD_CODEC_ZSTD:
      return &zstd_site;
    case RD_CODEC_GZIP:
      return &gzip_site;
    default:
      break;
    }
  return &raw_site;
}
