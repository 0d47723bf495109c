/* SPDX-License-Identifier: MIT */
/* The inside of an array's handle, and what volumes need beyond the public
 * API: opening from a document at hand, and writing chunks while the next
 * ones are being read. */
#ifndef RD_ARRAY_H
#define RD_ARRAY_H

#include <radio/array.h>

#include "src/array/context.h"
#include "src/array/layout.h"
#include "src/array/pool.h"
#include "src/array/recent.h"
#include "src/zarr/document.h"

struct rd_index_cache;

struct radio_array {
  struct radio_store *store;          /* a reference */
  char *path;
  struct rd_array_doc *doc;
  struct rd_layout layout;            /* what follows from doc */
  struct rd_index_cache *indexes;     /* of shards, decoded and checked */
  uint64_t number;                    /* no other of the context has it */
  struct rd_recent recent;            /* reads */
  atomic_bool is_written;             /* by this handle: no tile is kept */
  /* Every chunk has an object, also one of nothing but fill value, as in
   * all that radio ingests: a missing one was lost. */
  bool is_complete;
  char *codecs_text;                  /* for info */
  char *codecs_json;
  char *attributes_json;
};

RD_DEFINE_CLEANUP (array, struct radio_array, radio_array_close);

/* Make a handle from a parsed document (taken, also on failure). */
enum radio_status rd_array_open_doc (struct radio_store *store,
                                     const char *path,
                                     struct rd_array_doc *doc,
                                     struct radio_array **array)
  RADIO_USE_RESULT;

/* Slope and intercept of a volume's values. */
struct rd_scaling {
  double slope, inter;
};

/* As radio_array_read_many, delivering value * slope + inter unless scaling
 * is NULL.  How volumes read. */
enum radio_status
rd_array_read_scaled (struct radio_array *array,
                      const struct radio_request *requests, size_t n,
                      enum radio_dtype dtype,
                      const struct rd_scaling *scaling) RADIO_USE_RESULT;

/* The same for those who read every tile once: tiles that were decoded
 * before are neither used nor kept. */
enum radio_status
rd_array_read_once (struct radio_array *array,
                    const struct radio_request *request,
                    enum radio_dtype dtype,
                    const struct rd_scaling *scaling) RADIO_USE_RESULT;

/* Read and parse a node's document.  NOT_FOUND when it has none. */
enum radio_status rd_store_read_document (struct radio_store *store,
                                          const char *path,
                                          struct json_object **document)
  RADIO_USE_RESULT;

/* Publish a node's document if none is there: RADIO_ERROR_EXISTS. */
enum radio_status rd_store_put_document (struct radio_store *store,
                                         const char *path,
                                         struct json_object *document)
  RADIO_USE_RESULT;

/* Make the documents of the groups above a path that are missing. */
enum radio_status rd_store_make_groups (struct radio_store *store,
                                        const char *path) RADIO_USE_RESULT;

/* Whether a node's attributes (NULL: none) have a member radio, and of a
 * version that this library knows; RADIO_ERROR_UNSUPPORTED else. */
enum radio_status rd_store_check_version (struct json_object *attributes,
                                          const char *where, bool *is_radio)
  RADIO_USE_RESULT;

/* A write that is under way: the chunks of one box are encoded by the pool
 * and published while the caller goes on.  The elements must stay until it
 * was finished. */
struct rd_write;

/* Begin to write a box of whole chunks, as radio_array_write.  strides are
 * of the box's elements in bytes, NULL for C order. */
enum radio_status rd_write_start (struct radio_array *array,
                                  const struct radio_box *box,
                                  const void *elements,
                                  const int64_t *strides,
                                  struct rd_write **write) RADIO_USE_RESULT;

/* Wait for its end; *stored_nbytes (may be NULL) is increased by what the
 * chunks' objects hold.  The write is gone, also on failure. */
enum radio_status rd_write_finish (struct rd_write *write,
                                   uint64_t *stored_nbytes) RADIO_USE_RESULT;

/* The most memory that writing such a box takes besides the elements. */
uint64_t rd_write_nbytes (const struct radio_array *array,
                          const struct radio_box *box);

#endif /* RD_ARRAY_H */
