/* SPDX-License-Identifier: MIT */
/* The inside of the handles of a context and a store, both reference-counted,
 * so that volumes outlive the handle they were opened with; and paths of
 * nodes in a store. */
#ifndef RD_CONTEXT_H
#define RD_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include <radio/base.h>
#include <radio/context.h>
#include <radio/store.h>

#include "io/io.h"
#include "src/base/cancel.h"
#include "src/array/kept.h"
#include "src/array/pool.h"
#include "src/zarr/document.h"

/* The format's version, in attributes.radio of the root and of volumes. */
#define RD_FORMAT_MAJOR 1
#define RD_FORMAT_VERSION "1.1"

/* The group of all tables, at the store's root. */
#define RD_TABLES_NAME "tables"

struct rd_run;

struct radio_context {
  atomic_uint nrefs;
  struct rd_pool *pool;
  unsigned nthreads;
  uint64_t memory_limit_nbytes;
  _Atomic uint64_t layers_nbytes;     /* reserved by writers of layers */
  bool no_huge_pages;
  uint64_t work_nbytes;               /* of the limit, besides the cache */
  struct rd_tile_cache *tiles;        /* NULL: none */
  struct rd_points_cache *points;     /* of gzip files */
  _Atomic uint64_t narrays;           /* opened, for their numbers */

  /* Calls of radio_ingest, at most as many at once as there are descriptors
   * for (ingest.c). */
  pthread_mutex_t ingests_mutex;
  pthread_cond_t ingest_ended;
  struct {
    unsigned nactive, nwaiting;
    unsigned most;                    /* 0: no limit is known */
    _Atomic bool lacked_descriptors;  /* a write failed so, once or more */
  } ingests;

  struct rd_kept_list kept;

  /* Asynchronous reads (fetch.c): the bytes that their requests may take, and
   * the reads that wait until others have ended. */
  pthread_mutex_t runs_mutex;
  struct {
    uint64_t nbytes;
    struct rd_run *first, **last;
  } runs;
};

struct radio_store {
  atomic_uint nrefs;
  struct radio_context *context;
  struct rd_io *io;
  pthread_mutex_t mutex;      /* of reading the root */
  atomic_bool is_known;       /* the following were read */
  bool is_array;              /* the root's zarr.json is an array's */
  bool is_radio;              /* the root's attributes.radio is there */
  bool is_assumed;            /* with any_root: its document says neither */
  atomic_bool has_tables;     /* the document of its tables was seen */
  atomic_bool was_misled;     /* a table's hint repeated the document of a
                                 generation that is not there */
  atomic_bool has_warned;     /* of a table's older generation */
  pthread_mutex_t collections_mutex;
  struct {
    char **names;             /* that were found to be collections */
    size_t n, capacity;
  } collections;              /* under its mutex */
  radio_cancel_fn *cancel;    /* may be NULL */
  void *user_data;
  bool any_root;              /* the options */
  uint64_t generation_count;
  bool newest_tables;
  radio_warning_fn *warning;  /* may be NULL */
};

struct radio_context *rd_context_ref (struct radio_context *context);
struct radio_store *rd_store_ref (struct radio_store *store);
RD_DEFINE_CLEANUP (store, struct radio_store, radio_store_close);

/* Reads the store's is_array and is_radio unless they are known: opening a
 * store on a network sends no request.  Fails as radio_store_open does. */
enum radio_status rd_store_read_root (struct radio_store *store)
  RADIO_USE_RESULT;

/* True when the caller cancels the operation, by the store's function or by
 * that of its thread. */
static inline bool
rd_store_is_cancelled (const struct radio_store *store)
{
  return (store->cancel && store->cancel (store->user_data))
         || rd_thread_is_cancelled ();
}

/* Opens a handle of a store's io (which is taken, also on failure).  For tests
 * of wrapped stores. */
enum radio_status rd_store_open_io (struct rd_io *io,
                                    const struct radio_store_options *options,
                                    struct radio_store **store)
  RADIO_USE_RESULT;

/* The same, but no document is read or written: for files that are no nodes. */
enum radio_status
rd_store_open_files (struct rd_io *io,
                     const struct radio_store_options *options,
                     struct radio_store **store) RADIO_USE_RESULT;

/* Opens the folder of a file on a network so; *key is the file's key there,
 * allocated. */
enum radio_status
rd_store_open_remote_file (const char *url,
                           const struct radio_store_options *options,
                           struct radio_store **store, char **key)
  RADIO_USE_RESULT;

/* The number of volumes that are worked on at the same time: one for each
 * thread or, where each step waits for a request, for each connection. */
#define RD_MAX_IN_FLIGHT 64
static inline unsigned
rd_store_max_in_flight (const struct radio_store *store)
{
  return store->io->ops->is_blocking ? store->context->nthreads
                                     : RD_MAX_IN_FLIGHT;
}

/* Runs a job whose tasks mostly wait for requests: over a network on threads of
 * its own, as many as there are connections; else the calling thread does them
 * in order. */
enum radio_status rd_store_run (const struct radio_store *store,
                                struct rd_job *job) RADIO_USE_RESULT;

/* Returns RADIO_ERROR_LIMIT, naming `what', when nbytes exceeds the context's
 * limit. */
enum radio_status rd_context_allows (const struct radio_context *context,
                                     uint64_t nbytes, const char *what)
  RADIO_USE_RESULT;

/* Paths of nodes are names joined by '/'; "" is the store's root.  The maximum
 * is that of S3 for a whole key. */
#define RD_PATH_MAX_NBYTES 1024

/* Any key of a node: its path, '/', and a chunk's key or the name of a
 * document, with the NUL. */
#define RD_KEY_NBYTES (RD_PATH_MAX_NBYTES + 1 + RD_CHUNK_KEY_NBYTES)

/* Checks a node's path.  New nodes must have legal names
 * (rd_node_name_check); existing ones may have any that stay below the root.
 * RADIO_ERROR_ARGUMENT. */
enum radio_status rd_path_check (const char *path, bool is_new)
  RADIO_USE_RESULT;

/* Makes "PATH/NAME", or "NAME" below the root, of a checked path. */
void rd_path_key (const char *path, const char *name,
                  char key[RD_KEY_NBYTES]);

#endif /* RD_CONTEXT_H */
