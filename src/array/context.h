/* SPDX-License-Identifier: MIT */
/* The inside of a context, and the store's handle, which both only hold
 * things together: reference-counted, so that volumes outlive the handle
 * they were opened with. */
#ifndef RD_CONTEXT_H
#define RD_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include <radio/context.h>
#include <radio/store.h>

#include "io/io.h"
#include "src/array/pool.h"

/* The format's version, in attributes.radio of the root and of volumes. */
#define RD_FORMAT_MAJOR 1
#define RD_FORMAT_VERSION "1.0"

struct radio_context {
  atomic_uint nrefs;
  struct rd_pool *pool;
  unsigned nthreads;
  uint64_t memory_limit_nbytes;
  _Atomic uint64_t layers_nbytes;     /* held by those who write layers */
  bool no_huge_pages;
  uint64_t work_nbytes;               /* of the limit, beside the cache */
  struct rd_tile_cache *tiles;        /* NULL: none */
  _Atomic uint64_t narrays;           /* numbers given to arrays */
};

struct radio_store {
  atomic_uint nrefs;
  struct radio_context *context;
  struct rd_io *io;
  pthread_mutex_t mutex;      /* of looking at the root */
  atomic_bool is_known;       /* what follows, by rd_store_look */
  bool is_array;              /* the root's zarr.json is an array's */
  bool is_radio;              /* the root's attributes.radio is there */
  radio_cancel_fn *cancel;    /* NULL: what is under way goes on */
  void *user_data;
};

struct radio_context *rd_context_ref (struct radio_context *context);
struct radio_store *rd_store_ref (struct radio_store *store);
RD_DEFINE_CLEANUP (store, struct radio_store, radio_store_close);

/* See to it that the store's is_array and is_radio are known: of a store
 * that answers over a network, opening it asks nothing.  The errors of
 * radio_store_open. */
enum radio_status rd_store_look (struct radio_store *store) RADIO_USE_RESULT;

/* Whether the caller wants what is under way to end. */
static inline bool
rd_store_is_cancelled (const struct radio_store *store)
{
  return store->cancel && store->cancel (store->user_data);
}

/* Make a handle over a store that is open already (it is taken, also on
 * failure).  How wrapped stores are tested. */
enum radio_status rd_store_open_io (struct rd_io *io,
                                    const struct radio_store_options *options,
                                    struct radio_store **store)
  RADIO_USE_RESULT;

/* RADIO_ERROR_LIMIT naming `what' when nbytes exceeds the context's limit. */
enum radio_status rd_context_allows (const struct radio_context *context,
                                     uint64_t nbytes, const char *what)
  RADIO_USE_RESULT;

#endif /* RD_CONTEXT_H */
