/* SPDX-License-Identifier: MIT */
/* zarr.json: the documents of arrays and groups (Zarr v3 core), parsed into
 * structs and written from them. */
#ifndef RD_DOCUMENT_H
#define RD_DOCUMENT_H

#include "src/base/json.h"
#include "src/codec/chain.h"

/* A document larger than this is refused. */
#define RD_DOCUMENT_MAX_NBYTES ((size_t) 64 << 20)

enum rd_node_type { RD_NODE_ARRAY, RD_NODE_GROUP };

struct rd_array_doc {
  size_t rank;
  uint64_t shape[RADIO_MAX_RANK];       /* 0 is legal */
  uint64_t chunk_shape[RADIO_MAX_RANK]; /* of the chunk grid: of a key */
  uint64_t tile_shape[RADIO_MAX_RANK];  /* innermost; chunk_shape unsharded */
  struct rd_type type;
  unsigned char *fill;                  /* one element, machine byte order */
  bool keys_v2;                         /* "v2" chunk keys, else "default" */
  char separator;                       /* '/' or '.' */
  struct rd_chain *chain;
  struct json_object *codecs;           /* as the document has them */
  struct json_object *attributes;       /* NULL: none */
  bool has_dimension_names;
  char *dimension_names[RADIO_MAX_RANK];  /* NULL: null */
};

struct rd_group_doc {
  struct json_object *attributes;       /* NULL: none */
  struct json_object *consolidated;     /* path -> document; NULL: none */
};

/* The kind of node of a document.  RADIO_ERROR_FORMAT when it has none;
 * RADIO_ERROR_UNSUPPORTED for zarr_format 2 or another. */
enum radio_status rd_document_node (struct json_object *document,
                                    const char *where,
                                    enum rd_node_type *node)
  RADIO_USE_RESULT;

/* Parse a document (a JSON object; not kept).  All rules of the spec are
 * checked, with rd_chain_check: unknown members, codecs, data types are
 * refused by name unless must_understand is false where that is legal. */
enum radio_status rd_array_doc_parse (struct json_object *document,
                                      const char *where,
                                      struct rd_array_doc **doc)
  RADIO_USE_RESULT;
enum radio_status rd_group_doc_parse (struct json_object *document,
                                      const char *where,
                                      struct rd_group_doc **doc)
  RADIO_USE_RESULT;

/* Returns the first member in which two arrays differ, besides attributes, or
 * NULL.  How the documents are written does not count. */
const char *rd_array_doc_difference (const struct rd_array_doc *a,
                                     const struct rd_array_doc *b);

/* Finds whether two documents are of the same node: arrays are compared by
 * their members, if this version knows them all, groups by their attributes,
 * without consolidated_metadata. */
enum radio_status rd_documents_compare (struct json_object *a,
                                        struct json_object *b,
                                        const char *where, bool *is_same)
  RADIO_USE_RESULT;

void rd_array_doc_free (struct rd_array_doc *doc);
void rd_group_doc_free (struct rd_group_doc *doc);
RD_DEFINE_CLEANUP (array_doc, struct rd_array_doc, rd_array_doc_free);
RD_DEFINE_CLEANUP (group_doc, struct rd_group_doc, rd_group_doc_free);

/* Make documents as Zarr 3.0 readers take them: codecs as objects, every
 * mandatory member.  The result is new, the caller puts it.  For a group
 * attributes and consolidated (path -> document) may be NULL; references to
 * them are taken. */
enum radio_status rd_array_doc_write (const struct rd_array_doc *doc,
                                      struct json_object **document)
  RADIO_USE_RESULT;
enum radio_status rd_group_doc_write (struct json_object *attributes,
                                      struct json_object *consolidated,
                                      struct json_object **document)
  RADIO_USE_RESULT;

/* The text of a document as it is stored: indented by two blanks, '/' not
 * escaped, doubles that read back exactly.  Valid until the object changes.
 * NULL without memory (the message is set). */
const char *rd_document_text (struct json_object *document, size_t *nbytes);

/* Parse a list of codecs for a chunk grid and type (and check the chain); as
 * rd_array_doc_parse does, for option strings.  `tile_shape' gets the
 * innermost shape. */
enum radio_status rd_chain_parse (struct json_object *codecs,
                                  const struct rd_chunk *chunk,
                                  const char *where, struct rd_chain **chain,
                                  uint64_t *tile_shape) RADIO_USE_RESULT;

/* Parse a fill value of any core type into one element (item_nbytes), and
 * back.  A string's bytes belong to the value. */
enum radio_status rd_fill_parse (struct json_object *value,
                                 const struct rd_type *type,
                                 const char *where, void *element)
  RADIO_USE_RESULT;
enum radio_status rd_fill_write (const struct rd_type *type,
                                 const void *element,
                                 struct json_object **value)
  RADIO_USE_RESULT;

/* The key of a chunk, below the array's prefix: "c/0/1", "0.1". */
#define RD_CHUNK_KEY_NBYTES (RADIO_MAX_RANK * 21 + 2)
void rd_chunk_key (const struct rd_array_doc *doc, const uint64_t *index,
                   char key[RD_CHUNK_KEY_NBYTES]);

/* Parses it; false unless it is the key of a chunk within the grid. */
bool rd_chunk_key_parse (const struct rd_array_doc *doc, const uint64_t *grid,
                         const char *key, uint64_t *index);

/* Checks a name for a node (core spec, "Node names"): not empty,
 * no '/', not all dots, not starting "__", not "zarr.json"; and, so that
 * every file system can hold it, no control characters and at most 200
 * bytes.  RADIO_ERROR_ARGUMENT says why not. */
enum radio_status rd_node_name_check (const char *name) RADIO_USE_RESULT;

#endif /* RD_DOCUMENT_H */
