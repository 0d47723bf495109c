/* SPDX-License-Identifier: MIT */
/* Documents: bytes that parse as one are written and must parse again. */
#include <config.h>

#include <string.h>

#include "src/zarr/document.h"
#include "tests/fuzz/fuzz.h"

#define JSON RD_CLEANUP (rd_cleanup_json)

static struct json_object *
read_back (struct json_object *document)
{
  struct json_object *again = NULL;
  size_t nbytes;
  const char *text = rd_document_text (document, &nbytes);

  FUZZ_CHECK (text != NULL);
  FUZZ_CHECK (rd_json_parse (text, nbytes, "again", &again) == RADIO_OK);
  return again;
}

static void
try_array (struct json_object *document)
{
  RD_CLEANUP (rd_cleanup_array_doc) struct rd_array_doc *doc = NULL;
  RD_CLEANUP (rd_cleanup_array_doc) struct rd_array_doc *other = NULL;
  JSON struct json_object *written = NULL, *again = NULL;

  if (rd_array_doc_parse (document, "array", &doc) != RADIO_OK)
    return;
  FUZZ_CHECK (rd_array_doc_write (doc, &written) == RADIO_OK);
  again = read_back (written);
  FUZZ_CHECK (rd_array_doc_parse (again, "again", &other) == RADIO_OK);
  FUZZ_CHECK (memcmp (doc->fill, other->fill, doc->type.item_nbytes) == 0);
  FUZZ_CHECK (memcmp (doc->tile_shape, other->tile_shape,
                      doc->rank * sizeof doc->tile_shape[0]) == 0);
  FUZZ_CHECK (doc->chain->n == other->chain->n);
}

static void
try_group (struct json_object *document)
{
  RD_CLEANUP (rd_cleanup_group_doc) struct rd_group_doc *doc = NULL;
  RD_CLEANUP (rd_cleanup_group_doc) struct rd_group_doc *other = NULL;
  JSON struct json_object *written = NULL, *again = NULL;

  if (rd_group_doc_parse (document, "group", &doc) != RADIO_OK)
    return;
  FUZZ_CHECK (rd_group_doc_write (doc->attributes, doc->consolidated,
                                  &written) == RADIO_OK);
  again = read_back (written);
  FUZZ_CHECK (rd_group_doc_parse (again, "again", &other) == RADIO_OK);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  JSON struct json_object *document = NULL;

  if (rd_json_parse ((const char *) data, nbytes, "input", &document)
      != RADIO_OK)
    return 0;
  try_array (document);
  try_group (document);
  return 0;
}

#define GRID "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":" \
             "{\"chunk_shape\":[8,16]}},\"chunk_key_encoding\":"       \
             "{\"name\":\"v2\",\"configuration\":{\"separator\":\"/\"}}"
#define HEAD "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[9,20],"
#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}"

static const char *const seeds[] = {
  HEAD GRID ",\"data_type\":\"float32\",\"fill_value\":\"0x7fc00001\","
  "\"codecs\":[" BYTES ",{\"name\":\"blosc\",\"configuration\":{\"cname\":"
  "\"lz4\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":4,"
  "\"blocksize\":0}},\"crc32c\"],\"dimension_names\":[\"y\",null],"
  "\"attributes\":{\"a\":[1e300,-0,99999999999999999999,NaN]}}",
  HEAD GRID ",\"data_type\":\"complex64\",\"fill_value\":[1.5,\"NaN\"],"
  "\"codecs\":[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
  "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[4,4],"
  "\"codecs\":[" BYTES ",{\"name\":\"zstd\",\"configuration\":{\"level\":3,"
  "\"checksum\":true}}],\"index_codecs\":[" BYTES ",\"crc32c\"],"
  "\"index_location\":\"start\"}},{\"name\":\"x\",\"must_understand\":"
  "false}],\"storage_transformers\":[],\"x\":{\"must_understand\":false}}",
  HEAD GRID ",\"data_type\":\"r16\",\"fill_value\":[0,255],\"codecs\":["
  "\"bytes\",{\"name\":\"gzip\",\"configuration\":{\"level\":9}}]}",
  HEAD GRID ",\"data_type\":\"uint64\",\"fill_value\":18446744073709551615,"
  "\"codecs\":[" BYTES "]}",
  ("{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"\\u0000\""
   ":\"\\ud800\"},\"consolidated_metadata\":{\"kind\":\"inline\","
   "\"must_understand\":false,\"metadata\":{\"a\":{}}}}"),
  "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"a/b\":"
  "\"\xc3\xa9\\n\"},\"consolidated_metadata\":null}",
};

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  return fuzz_text_seed (seeds, sizeof seeds / sizeof seeds[0], i, out, room);
}
