/* SPDX-License-Identifier: MIT */
/* The inside of an array's handle, and functions for volumes beyond the public
 * API: opening from a parsed document, and writing chunks while the next ones
 * are being read. */
#ifndef RD_ARRAY_H
#define RD_ARRAY_H

#include <radio/array.h>

#include "src/array/cache/reads.h"
#include "src/array/context.h"
#include "src/array/layout.h"
#include "src/array/linear-source.h"
#include "src/array/pool.h"
#include "src/array/tile-lengths.h"
#include "src/zarr/document.h"

struct rd_derived;
struct rd_sampled;

struct radio_array {
  struct radio_store *store;          /* a reference */
  char *path;
  struct rd_array_doc *doc;
  struct rd_layout layout;            /* derived from doc */
  struct rd_index_cache *indexes;     /* of shards, decoded and checked */
  uint64_t number;                    /* unique in the context */
  struct rd_tile_lengths lengths;     /* instead of indexes, if known */
  struct rd_read_history history;
  atomic_bool is_written;             /* by this handle: tiles are not cached */
  /* Every chunk has an object, also one of fill value only, as in all arrays
   * that radio ingests: a missing one was lost. */
  bool is_complete;
  struct rd_linear *linear;           /* it has no tiles; NULL: it has */
  struct rd_derived *derived;         /* it is read from another array; NULL:
                                         from its store */
  void (*free_derived) (struct rd_derived *derived);
  struct rd_sampled *sampled;         /* it is interpolated from another array;
                                         NULL: it is not */
  void (*free_sampled) (struct rd_sampled *sampled);
  char *codecs_text;                  /* for info */
  char *codecs_json;
  char *attributes_json;
};

RD_DEFINE_CLEANUP (array, struct radio_array, radio_array_close);

/* RADIO_ERROR_ARGUMENT, which says that it cannot `be done', of derived arrays:
 * they have no tiles of their own. */
enum radio_status rd_array_check_stored (const struct radio_array *array,
                                         const char *be_done)
  RADIO_USE_RESULT;

/* Makes a handle from a parsed document (which is taken, also on failure). */
enum radio_status rd_array_open_doc (struct radio_store *store,
                                     const char *path,
                                     struct rd_array_doc *doc,
                                     struct radio_array **array)
  RADIO_USE_RESULT;

/* Makes the key of a chunk. */
void rd_array_chunk_key (const struct radio_array *array,
                         const uint64_t *chunk, char key[RD_KEY_NBYTES]);

/* Returns what notes and messages name an array by: its path; the URI of a
 * store that is an array itself. */
const char *rd_array_name (const struct radio_array *array);

/* Puts the array's URI and path in front of the thread's message; returns
 * status. */
enum radio_status rd_array_fail_in (const struct radio_array *array,
                                    enum radio_status status);

/* RADIO_ERROR_ARGUMENT unless a box is of the array's rank and within it. */
enum radio_status rd_array_check_box (const struct radio_array *array,
                                      const struct radio_box *box)
  RADIO_USE_RESULT;

/* Slope and intercept of a volume's values. */
struct rd_scaling {
  double slope, inter;
};

struct rd_read_stop;

/* Reads elements as they are, within a read that stop (or NULL) ends. */
enum radio_status rd_array_read_within (struct radio_array *array,
                                        const struct radio_request *requests,
                                        size_t n, struct rd_read_stop *stop)
  RADIO_USE_RESULT;

/* Reads as radio_array_read_many, delivering value * slope + inter unless
 * scaling is NULL; of options only what ends the read is used.  For
 * volumes. */
enum radio_status
rd_array_read_scaled (struct radio_array *array,
                      const struct radio_request *requests, size_t n,
                      enum radio_dtype dtype,
                      const struct rd_scaling *scaling,
                      const struct radio_read_options *options)
  RADIO_USE_RESULT;

/* The same by radio_array_read_async.  is_once: without the tile cache. */
enum radio_status
rd_array_read_async (struct radio_array *array,
                     const struct radio_request *requests, size_t n,
                     enum radio_dtype dtype, const struct rd_scaling *scaling,
                     const struct radio_read_options *options, bool is_once,
                     radio_read_done_fn *done, void *user_data,
                     struct radio_read **read) RADIO_USE_RESULT;

/* The same without the tile cache, for reading every tile once.  stop: of the
 * operation that this is a part of, or NULL. */
enum radio_status
rd_array_read_once (struct radio_array *array,
                    const struct radio_request *request,
                    enum radio_dtype dtype, const struct rd_scaling *scaling,
                    struct rd_read_stop *stop) RADIO_USE_RESULT;

/* Reads and parses a node's document.  NOT_FOUND when it has none. */
enum radio_status rd_store_read_document (struct radio_store *store,
                                          const char *path,
                                          struct json_object **document)
  RADIO_USE_RESULT;

/* The same for a node that the caller of the library named: if it is missing
 * since it is of Zarr version 2, this is RADIO_ERROR_UNSUPPORTED.  Over a
 * network that takes two more requests. */
enum radio_status rd_store_read_named (struct radio_store *store,
                                       const char *path,
                                       struct json_object **document)
  RADIO_USE_RESULT;

/* A check of a document besides those of its JSON and of its checksums:
 * RADIO_ERROR_FORMAT for what may have changed on the way. */
struct rd_document_check {
  enum radio_status (*fn) (struct json_object *document, const char *key,
                           const void *user_data);
  const void *user_data;
};

/* Parses the text of a document that was read.  Over a network, one that
 * cannot be right is requested again, which replaces the text.  check may be
 * NULL. */
enum radio_status
rd_store_parse_document (struct radio_store *store, const char *key,
                         const struct rd_document_check *check,
                         struct rd_buffer *text,
                         struct json_object **document) RADIO_USE_RESULT;

/* True when a node has such an object; other failures count as no. */
bool rd_store_has_object (struct radio_store *store, const char *path,
                          const char *name);

/* Finds whether a path has a document, without reading it. */
enum radio_status rd_store_node_exists (struct radio_store *store,
                                        const char *path, bool *exists)
  RADIO_USE_RESULT;

/* Publishes a node's document. */
enum radio_status rd_store_put_document (struct radio_store *store,
                                         const char *path,
                                         struct json_object *document,
                                         enum rd_put how) RADIO_USE_RESULT;

/* Sets *is_radio when a node's attributes (NULL: none) have a member radio;
 * RADIO_ERROR_UNSUPPORTED when this library does not know its version. */
enum radio_status rd_store_check_version (struct json_object *attributes,
                                          const char *where, bool *is_radio)
  RADIO_USE_RESULT;

/* An asynchronous write: the chunks of one box are encoded and published by
 * the pool.  The elements must stay valid until it is finished.  Outside of
 * write.c only tests start and finish them. */
struct rd_write;

/* Starts to write a box of whole chunks, as radio_array_write.  strides are
 * of the box's elements in bytes, NULL for C order. */
enum radio_status rd_write_start (struct radio_array *array,
                                  const struct radio_box *box,
                                  const void *elements,
                                  const int64_t *strides,
                                  struct rd_write **write) RADIO_USE_RESULT;

/* Waits for the end of a write and frees it, also on failure; *stored_nbytes
 * (may be NULL) is increased by the size of the chunks' objects. */
enum radio_status rd_write_finish (struct rd_write *write,
                                   uint64_t *stored_nbytes) RADIO_USE_RESULT;

/* Writes a box of whole chunks of strings, which are in C order and have nbytes
 * in total. */
enum radio_status rd_array_write_refs (struct radio_array *array,
                                       const struct radio_box *box,
                                       const struct rd_string *strings,
                                       uint64_t nbytes) RADIO_USE_RESULT;

/* Returns the most memory that writing such a box takes besides the
 * elements. */
uint64_t rd_write_nbytes (const struct radio_array *array,
                          const struct radio_box *box);

#endif /* RD_ARRAY_H */
