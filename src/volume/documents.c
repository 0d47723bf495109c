/* SPDX-License-Identifier: MIT */
/* A ring of documents that are being read.  In a store that does not block
 * each read is started when its document is added.  In one that does, they
 * are collected, and read together by a job of the pool. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/volume/documents.h"

void
rd_documents_init (struct rd_documents *documents)
{
  pthread_mutex_init (&documents->mutex, NULL);
  pthread_cond_init (&documents->arrived, NULL);
}

static void
free_item (struct rd_documents *documents, struct rd_document *item)
{
  rd_free ((char *) RD_STEAL (item->get.key));
  json_object_put (RD_STEAL (item->document));
  rd_buffer_free (&item->text);
  rd_free (RD_STEAL (item->path));
  documents->free_item (item);
}

static void
on_arrival (struct rd_io_get *get)
{
  struct rd_document *item = get->user_data;
  struct rd_documents *documents = item->documents;
  RD_LOCK_SCOPE (&documents->mutex);
  item->is_arrived = true;
  pthread_cond_broadcast (&documents->arrived);
}

/* Reads the document if that was not started, parses and prepares it.  One
 * that is larger than its share of the memory limit is read by itself. */
static void
prepare_item (struct rd_documents *documents, struct rd_document *item)
{
  enum radio_status status;
  bool is_read = item->get.key != NULL;
  if (is_read && item->get.error.status == RADIO_OK)
    status = rd_store_parse_document (documents->store, item->get.key, NULL,
                                      &item->text, &item->document);
  else if (is_read && item->get.error.status != RADIO_ERROR_LIMIT)
    status = rd_error_raise (&item->get.error);
  else
    status = rd_store_read_document (documents->store, item->path,
                                     &item->document);
  rd_buffer_free (&item->text);
  if (status == RADIO_OK && documents->prepare)
    status = documents->prepare (item);
  item->error.status = RADIO_OK;
  if (status != RADIO_OK)
    rd_error_save (&item->error, status);
}

struct prepare_job {
  struct rd_job job;                  /* first */
  struct rd_documents *documents;
};

static enum radio_status
prepare_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct rd_documents *documents = ((struct prepare_job *) job)->documents;
  size_t i = (documents->first + documents->nread + task) % RD_DOCUMENTS_MAX;
  (void) scratch;
  prepare_item (documents, documents->items[i]);
  return RADIO_OK;
}

static const struct radio_site read_site = {
  "read documents", RD_IN_METADATA, "prepare_task", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Makes the first document ready to be taken. */
static enum radio_status
prepare_first (struct rd_documents *documents)
{
  struct rd_document *item = documents->items[documents->first];
  if (item->get.key) {
    {
      RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
      RD_LOCK_SCOPE (&documents->mutex);
      while (!item->is_arrived)
        pthread_cond_wait (&documents->arrived, &documents->mutex);
    }
    prepare_item (documents, item);
    return RADIO_OK;
  }
  if (documents->nread > 0)
    return RADIO_OK;
  struct prepare_job job = {
    .job = { .run = prepare_task, .n = documents->n, .site = &read_site },
    .documents = documents,
  };
  RD_TRY (rd_pool_run (documents->store->context->pool, &job.job));
  documents->nread = documents->n;
  return RADIO_OK;
}

static enum radio_status
take_first (struct rd_documents *documents)
{
  RD_TRY (prepare_first (documents));
  struct rd_document *item = documents->items[documents->first];
  documents->first = (documents->first + 1) % RD_DOCUMENTS_MAX;
  documents->n--;
  documents->nread -= documents->nread > 0;
  enum radio_status status = documents->take (item, documents->user_data);
  free_item (documents, item);
  return status;
}

/* Starts to read a document in a store that does not block. */
static enum radio_status
start_read (struct rd_documents *documents, struct rd_document *item)
{
  struct radio_store *store = documents->store;
  char key[RD_KEY_NBYTES];
  RD_TRY (rd_path_check (item->path, false));
  rd_path_key (item->path, "zarr.json", key);
  uint64_t most = rd_min_u64 (RD_DOCUMENT_MAX_NBYTES,
                              store->context->memory_limit_nbytes
                              / RD_DOCUMENTS_MAX);
  item->get = (struct rd_io_get) {
    .key = rd_strdup (key), .range = RD_RANGE_ALL, .nbytes = (size_t) most,
    .into = &item->text, .done = on_arrival, .user_data = item,
  };
  if (item->get.key == NULL)
    return rd_fail_memory (strlen (key) + 1);
  store->io->ops->get (store->io, &item->get, 1);
  return RADIO_OK;
}

enum radio_status
rd_documents_add (struct rd_documents *documents, struct rd_document *item)
{
  struct radio_store *store = documents->store;
  enum radio_status status = rd_pool_check (store->context->pool);
  item->documents = documents;
  /* Those of a job are all taken before others are collected. */
  while (status == RADIO_OK
         && (documents->nread > 0 || documents->n == RD_DOCUMENTS_MAX))
    status = take_first (documents);
  if (status == RADIO_OK && !store->io->ops->is_blocking)
    status = start_read (documents, item);
  if (status != RADIO_OK) {
    free_item (documents, item);
    return status;
  }
  size_t last = (documents->first + documents->n++) % RD_DOCUMENTS_MAX;
  documents->items[last] = item;
  return RADIO_OK;
}

enum radio_status
rd_documents_finish (struct rd_documents *documents)
{
  while (documents->n > 0)
    RD_TRY (take_first (documents));
  return RADIO_OK;
}

void
rd_documents_end (struct rd_documents *documents)
{
  for (; documents->n > 0; documents->n--) {
    struct rd_document *item = documents->items[documents->first];
    documents->first = (documents->first + 1) % RD_DOCUMENTS_MAX;
    pthread_mutex_lock (&documents->mutex);
    while (item->get.key && !item->is_arrived)
      pthread_cond_wait (&documents->arrived, &documents->mutex);
    pthread_mutex_unlock (&documents->mutex);
    free_item (documents, item);
  }
  pthread_cond_destroy (&documents->arrived);
  pthread_mutex_destroy (&documents->mutex);
}
