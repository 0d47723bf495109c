/* SPDX-License-Identifier: MIT */
/* Reading the documents of many nodes.  Several are read at the same time: by
 * the store's own concurrent requests or, where the store blocks, by the
 * pool.  They are handed over in the order in which they were added. */
#ifndef RD_DOCUMENTS_H
#define RD_DOCUMENTS_H

#include "src/array/array.h"
#include "src/array/context.h"
#include "src/base/json.h"

/* At the same time. */
#define RD_DOCUMENTS_MAX RD_MAX_IN_FLIGHT

/* The document of one node.  The caller's struct begins with it. */
struct rd_document {
  char *path;                         /* of the node; owned */
  struct json_object *document;       /* parsed; freed after `take' */
  struct rd_error error;              /* of reading or preparing it */

  /* Private. */
  struct rd_documents *documents;
  struct rd_io_get get;
  struct rd_buffer text;
  bool is_arrived;                    /* under the mutex */
};

struct rd_documents {
  struct radio_store *store;

  /* Called with each document that could be read, on any thread, several at
   * once.  Its failure becomes the document's.  May be NULL. */
  enum radio_status (*prepare) (struct rd_document *item);

  /* Called with each on the thread that adds them, in order.  A failure ends
   * the adding. */
  enum radio_status (*take) (struct rd_document *item, void *user_data);
  void (*free_item) (struct rd_document *item);
  void *user_data;

  /* Private: those that were added and not yet taken, a ring. */
  struct rd_document *items[RD_DOCUMENTS_MAX];
  size_t first, n;
  size_t nread;                       /* of them, where the store blocks */
  pthread_mutex_t mutex;
  pthread_cond_t arrived;
};

/* Initialises what is private. */
void rd_documents_init (struct rd_documents *documents);

/* Waits for the reads that are active, and frees the rest. */
void rd_documents_end (struct rd_documents *documents);
#define RD_DOCUMENTS_SCOPE RD_CLEANUP (rd_documents_end)

/* Starts to read a document.  Owns the item, also on failure, and frees it
 * once it was taken. */
enum radio_status rd_documents_add (struct rd_documents *documents,
                                    struct rd_document *item)
  RADIO_USE_RESULT;

/* Hands over all that were added. */
enum radio_status rd_documents_finish (struct rd_documents *documents)
  RADIO_USE_RESULT;

#endif /* RD_DOCUMENTS_H */
