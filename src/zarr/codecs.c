/* SPDX-License-Identifier: MIT */
/* Parsing lists of codecs and their configurations.  An unknown member may
 * change the meaning of the bytes, so it is refused by name. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/zarr/document.h"
#include "src/zarr/named.h"

/* The input of a codec. */
struct codec_input {
  size_t rank;
  struct rd_type type;
  size_t axis[RADIO_MAX_RANK + 1];    /* the array's, of each axis here */
  uint64_t *tile_shape;               /* of the array; NULL in an index */
  unsigned depth;                     /* of nested shards */
};

static enum radio_status parse_list (struct json_object *list,
                                     struct codec_input place,
                                     const char *where,
                                     struct rd_chain **chain);

typedef enum radio_status config_fn (struct json_object *configuration,
                                     struct codec_input *place,
                                     const char *where,
                                     struct rd_codec *codec);

/* Parses one of a list of words that ends in NULL; *index is its number. */
static enum radio_status
parse_word (struct json_object *configuration, const char *member,
            const char *const *words, const char *where, size_t *index)
{
  const char *word;

  RD_TRY (rd_json_string (configuration, member, where, &word));
  for (size_t i = 0; words[i]; i++)
    if (strcmp (word, words[i]) == 0) {
      *index = i;
      return RADIO_OK;
    }
  return rd_fail (RADIO_ERROR_FORMAT, "%s: unknown %s \"%s\"", where, member,
                  word);
}

static bool
is_there (struct json_object *configuration, const char *member)
{
  return json_object_object_get_ex (configuration, member, NULL);
}

static enum radio_status
parse_bytes (struct json_object *configuration,
             struct codec_input *place, const char *where,
             struct rd_codec *codec)
{
  static const char *const orders[] = { "little", "big", NULL };
  size_t order = 0;

  if (is_there (configuration, "endian"))
    RD_TRY (parse_word (configuration, "endian", orders, where, &order));
  else if (place->type.unit_nbytes > 1)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: endian is missing; a type of"
                    " more than one byte needs it", where);
  codec->u.bytes.big_endian = order == 1;
  return RADIO_OK;
}

/* Encoded axis i is axis order[i] of the input. */
static enum radio_status
parse_transpose (struct json_object *configuration,
                 struct codec_input *place, const char *where,
                 struct rd_codec *codec)
{
  struct json_object *list = rd_json_member (configuration, "order");
  uint64_t order[RADIO_MAX_RANK];
  size_t axis[RADIO_MAX_RANK], n;
  unsigned seen = 0;

  RD_TRY (rd_json_shape (list, "order", where, 0, &n, order));
  if (n != place->rank)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: order has %zu entries for %zu"
                    " axes", where, n, place->rank);
  for (size_t i = 0; i < n; i++) {
    if (order[i] >= n || (seen & 1u << order[i]))
      return rd_fail (RADIO_ERROR_FORMAT, "%s: order[%zu] is %llu: not a"
                      " permutation of the %zu axes", where, i,
                      (unsigned long long) order[i], n);
    seen |= 1u << order[i];
    codec->u.transpose.order[i] = (size_t) order[i];
    axis[i] = place->axis[order[i]];
  }
  memcpy (place->axis, axis, n * sizeof axis[0]);
  return RADIO_OK;
}

static enum radio_status
parse_blosc (struct json_object *configuration,
             struct codec_input *place, const char *where,
             struct rd_codec *codec)
{
  static const char *const cnames[] = { "blosclz", "lz4", "lz4hc", "snappy",
                                        "zlib", "zstd", NULL };
  static const char *const shuffles[] = {
    [RD_BLOSC_NOSHUFFLE] = "noshuffle", [RD_BLOSC_SHUFFLE] = "shuffle",
    [RD_BLOSC_BITSHUFFLE] = "bitshuffle", NULL
  };
  int64_t clevel, typesize = 1, blocksize = 0;
  size_t cname, shuffle;

  (void) place;
  RD_TRY (parse_word (configuration, "cname", cnames, where, &cname));
  RD_TRY (parse_word (configuration, "shuffle", shuffles, where, &shuffle));
  RD_TRY (rd_json_int (configuration, "clevel", where, 0, 9, &clevel));
  if (shuffle != RD_BLOSC_NOSHUFFLE || is_there (configuration, "typesize"))
    RD_TRY (rd_json_int (configuration, "typesize", where, 1, 255,
                         &typesize));
  if (is_there (configuration, "blocksize"))
    RD_TRY (rd_json_int (configuration, "blocksize", where, 0, INT32_MAX,
                         &blocksize));
  snprintf (codec->u.blosc.cname, sizeof codec->u.blosc.cname, "%s",
            cnames[cname]);
  codec->u.blosc.shuffle = (enum rd_blosc_shuffle) shuffle;
  codec->u.blosc.clevel = (int) clevel;
  codec->u.blosc.typesize = (size_t) typesize;
  codec->u.blosc.blocksize = (size_t) blocksize;
  return RADIO_OK;
}

static enum radio_status
parse_zstd (struct json_object *configuration,
            struct codec_input *place, const char *where,
            struct rd_codec *codec)
{
  int64_t level;

  (void) place;
  RD_TRY (rd_json_int (configuration, "level", where, -131072, 22, &level));
  if (is_there (configuration, "checksum"))
    RD_TRY (rd_json_bool (configuration, "checksum", where,
                          &codec->u.zstd.checksum));
  codec->u.zstd.level = (int) level;
  return RADIO_OK;
}

static enum radio_status
parse_gzip (struct json_object *configuration,
            struct codec_input *place, const char *where,
            struct rd_codec *codec)
{
  int64_t level;

  (void) place;
  RD_TRY (rd_json_int (configuration, "level", where, 0, 9, &level));
  codec->u.gzip.level = (int) level;
  return RADIO_OK;
}

static enum radio_status
parse_sharding (struct json_object *configuration,
                struct codec_input *place, const char *where,
                struct rd_codec *codec)
{
  static const char *const locations[] = { "end", "start", NULL };
  struct codec_input inner = *place;
  /* The index is an array of uint64, its last axis of two. */
  struct codec_input index = {
    .rank = place->rank + 1, .type = rd_type_of (RADIO_UINT64),
    .depth = place->depth + 1
  };
  struct json_object *list;
  size_t rank, location = 0;

  if (place->tile_shape == NULL)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: an index cannot be sharded",
                    where);
  RD_TRY (rd_json_array (configuration, "chunk_shape", where, &list));
  RD_TRY (rd_json_shape (list, "chunk_shape", where, 1, &rank,
                         codec->u.sharding.chunk_shape));
  if (rank != place->rank)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: chunk_shape has %zu entries for"
                    " %zu axes", where, rank, place->rank);
  for (size_t i = 0; i < rank; i++)
    place->tile_shape[place->axis[i]] = codec->u.sharding.chunk_shape[i];
  inner.depth++;
  RD_TRY (rd_json_array (configuration, "codecs", where, &list));
  RD_TRY (parse_list (list, inner, where, &codec->u.sharding.inner));

  RD_TRY (rd_json_array (configuration, "index_codecs", where, &list));
  RD_TRY (parse_list (list, index, where, &codec->u.sharding.index));
  if (is_there (configuration, "index_location"))
    RD_TRY (parse_word (configuration, "index_location", locations, where,
                        &location));
  codec->u.sharding.index_at_start = location == 1;
  return RADIO_OK;
}

static const struct {
  const char *name;
  enum rd_codec_id id;
  config_fn *parse;           /* NULL: there is nothing to configure */
  const char *members[6];
} codec_types[] = {
  { "bytes", RD_CODEC_BYTES, parse_bytes, { "endian" } },
  { "transpose", RD_CODEC_TRANSPOSE, parse_transpose, { "order" } },
  { "sharding_indexed", RD_CODEC_SHARDING, parse_sharding,
    { "chunk_shape", "codecs", "index_codecs", "index_location" } },
  { "vlen-utf8", RD_CODEC_VLEN_UTF8, NULL, { NULL } },
  { "blosc", RD_CODEC_BLOSC, parse_blosc,
    { "cname", "clevel", "shuffle", "typesize", "blocksize" } },
  { "zstd", RD_CODEC_ZSTD, parse_zstd, { "level", "checksum" } },
  { "gzip", RD_CODEC_GZIP, parse_gzip, { "level" } },
  { "crc32c", RD_CODEC_CRC32C, NULL, { NULL } },
};

#define N_CODEC_TYPES (sizeof codec_types / sizeof codec_types[0])

/* Parses one entry of a list of codecs.  *ignored is set when it is unknown
 * and may be ignored.  A transpose moves the axes of place. */
static enum radio_status
parse_codec (struct json_object *value, struct codec_input *place,
             const char *where, struct rd_codec *codec, bool *ignored)
{
  struct rd_named named;
  char in[256];

  RD_TRY (rd_named_parse (value, "a codec", where, &named));
  size_t i = 0;
  while (i < N_CODEC_TYPES && strcmp (codec_types[i].name, named.name) != 0)
    i++;
  if (i == N_CODEC_TYPES) {
    *ignored = named.may_be_ignored;
    if (*ignored)
      return RADIO_OK;
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: codec \"%s\" is not supported", where, named.name);
  }
  RD_TRY (rd_named_check (&named, codec_types[i].members, where));
  codec->id = codec_types[i].id;
  snprintf (in, sizeof in, "%.200s: %s", where, named.name);
  return codec_types[i].parse
         ? codec_types[i].parse (named.configuration, place, in, codec)
         : RADIO_OK;
}

/* Parses a list of codecs (of an array, within a shard, of a shard's index),
 * without rd_chain_check. */
static enum radio_status
parse_list (struct json_object *list, struct codec_input place,
            const char *where, struct rd_chain **chain)
{
  if (!json_object_is_type (list, json_type_array))
    return rd_json_not (list, "codecs", "a list", where);
  if (place.depth > RD_CHAIN_MAX_DEPTH)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: shards are nested deeper than %d", where,
                    RD_CHAIN_MAX_DEPTH);
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *made
    = rd_calloc (1, sizeof *made);
  if (made == NULL)
    return rd_fail_memory (sizeof *made);
  for (size_t i = 0; i < json_object_array_length (list); i++) {
    bool ignored = false;
    if (made->n == RD_CHAIN_MAX)
      return rd_fail (RADIO_ERROR_UNSUPPORTED,
                      "%s: codecs has %zu entries; at most %d are supported",
                      where, json_object_array_length (list),
                      RD_CHAIN_MAX);
    /* Counted at once, so that a failure frees it too. */
    struct rd_codec *codec = &made->codecs[made->n++];
    RD_TRY (parse_codec (json_object_array_get_idx (list, i), &place, where,
                         codec, &ignored));
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
  struct codec_input place = {
    .rank = chunk->rank, .type = chunk->type, .tile_shape = tile
  };
  RD_CLEANUP (rd_cleanup_chain) struct rd_chain *made = NULL;

  memcpy (tile, chunk->shape, sizeof tile);
  for (size_t i = 0; i < chunk->rank; i++)
    place.axis[i] = i;
  RD_TRY (parse_list (codecs, place, where, &made));
  enum radio_status status = rd_chain_check (made, chunk);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s", where);
  memcpy (tile_shape, tile, chunk->rank * sizeof tile[0]);
  *chain = RD_STEAL (made);
  return RADIO_OK;
}
