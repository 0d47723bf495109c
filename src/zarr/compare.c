/* SPDX-License-Identifier: MIT */
/* Comparing two documents of one node by what they mean: the order of members
 * and the forms of extension points do not count. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/zarr/document.h"

static bool are_chains_alike (const struct rd_chain *a,
                              const struct rd_chain *b);

static bool
are_codecs_alike (const struct rd_codec *a, const struct rd_codec *b)
{
  if (a->id != b->id)
    return false;
  switch (a->id) {
  case RD_CODEC_TRANSPOSE:
    return memcmp (a->u.transpose.order, b->u.transpose.order,
                   sizeof a->u.transpose.order) == 0;
  case RD_CODEC_BYTES:
    return a->u.bytes.big_endian == b->u.bytes.big_endian;
  case RD_CODEC_SHARDING:
    return memcmp (a->u.sharding.chunk_shape, b->u.sharding.chunk_shape,
                   sizeof a->u.sharding.chunk_shape) == 0
           && a->u.sharding.index_at_start == b->u.sharding.index_at_start
           && are_chains_alike (a->u.sharding.index, b->u.sharding.index)
           && are_chains_alike (a->u.sharding.inner, b->u.sharding.inner);
  case RD_CODEC_BLOSC:
    return strcmp (a->u.blosc.cname, b->u.blosc.cname) == 0
           && a->u.blosc.clevel == b->u.blosc.clevel
           && a->u.blosc.shuffle == b->u.blosc.shuffle
           && a->u.blosc.typesize == b->u.blosc.typesize
           && a->u.blosc.blocksize == b->u.blosc.blocksize;
  case RD_CODEC_ZSTD:
    return a->u.zstd.level == b->u.zstd.level
           && a->u.zstd.checksum == b->u.zstd.checksum;
  case RD_CODEC_GZIP:
    return a->u.gzip.level == b->u.gzip.level;
  default:
    return true;
  }
}

static bool
are_chains_alike (const struct rd_chain *a, const struct rd_chain *b)
{
  bool is_same = a->n == b->n;
  for (size_t i = 0; is_same && i < a->n; i++)
    is_same = are_codecs_alike (&a->codecs[i], &b->codecs[i]);
  return is_same;
}

static bool
are_names_alike (const struct rd_array_doc *a, const struct rd_array_doc *b)
{
  bool is_same = a->has_dimension_names == b->has_dimension_names;
  for (size_t i = 0; is_same && i < a->rank; i++) {
    const char *x = a->dimension_names[i], *y = b->dimension_names[i];
    is_same = x && y ? strcmp (x, y) == 0 : x == y;
  }
  return is_same;
}

/* The type of both is the same. */
static bool
are_fills_alike (const struct rd_array_doc *a, const struct rd_array_doc *b)
{
  return a->type.dtype == RADIO_STRING
         ? rd_string_equal (a->fill, b->fill)
         : memcmp (a->fill, b->fill, a->type.item_nbytes) == 0;
}

const char *
rd_array_doc_difference (const struct rd_array_doc *a,
                         const struct rd_array_doc *b)
{
  const size_t nbytes = a->rank * sizeof a->shape[0];
  if (a->rank != b->rank || memcmp (a->shape, b->shape, nbytes) != 0)
    return "shape";
  if (a->type.dtype != b->type.dtype
      || a->type.item_nbytes != b->type.item_nbytes)
    return "data_type";
  if (memcmp (a->chunk_shape, b->chunk_shape, nbytes) != 0)
    return "chunk_grid";
  if (a->keys_v2 != b->keys_v2 || a->separator != b->separator)
    return "chunk_key_encoding";
  if (!are_fills_alike (a, b))
    return "fill_value";
  if (!are_chains_alike (a->chain, b->chain))
    return "codecs";
  return are_names_alike (a, b) ? NULL : "dimension_names";
}

/* NaN is no number that equals itself, but it is the same text. */
static enum radio_status
compare_values (struct json_object *a, struct json_object *b, bool *is_same)
{
  size_t nbytes;
  *is_same = json_object_equal (a, b) != 0;
  if (*is_same || a == NULL || b == NULL)
    return RADIO_OK;
  const char *x = rd_document_text (a, &nbytes);
  const char *y = x ? rd_document_text (b, &nbytes) : NULL;
  if (y == NULL)
    return RADIO_ERROR_MEMORY;
  *is_same = strcmp (x, y) == 0;
  return RADIO_OK;
}

/* Empty attributes count as missing. */
static struct json_object *
attributes_of (struct json_object *document)
{
  struct json_object *attributes = rd_json_member (document, "attributes");
  bool is_empty = json_object_is_type (attributes, json_type_object)
                  && json_object_object_length (attributes) == 0;
  return is_empty ? NULL : attributes;
}

enum radio_status
rd_documents_compare (struct json_object *a, struct json_object *b,
                      const char *where, bool *is_same)
{
  struct rd_array_doc *x RD_CLEANUP (rd_cleanup_array_doc) = NULL;
  struct rd_array_doc *y RD_CLEANUP (rd_cleanup_array_doc) = NULL;
  enum rd_node_type of_a, of_b;
  *is_same = false;
  if (rd_document_node (a, where, &of_a) != RADIO_OK
      || rd_document_node (b, where, &of_b) != RADIO_OK || of_a != of_b)
    return RADIO_OK;
  RD_TRY (compare_values (attributes_of (a), attributes_of (b), is_same));
  if (!*is_same || of_a == RD_NODE_GROUP)
    return RADIO_OK;
  enum radio_status status = rd_array_doc_parse (a, where, &x);
  if (status == RADIO_OK)
    status = rd_array_doc_parse (b, where, &y);
  if (status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED)
    return compare_values (a, b, is_same);
  RD_TRY (status);
  *is_same = rd_array_doc_difference (x, y) == NULL;
  return RADIO_OK;
}
