/* SPDX-License-Identifier: MIT */
/* The S3 store: opening, closing, its table, and reads. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "io/s3/store.h"

#define DEFAULT_REGION "us-east-1"
#define DEFAULT_GRACE_S (24 * 3600)

/* Millions of names in one folder. */
#define MAX_LISTED_NBYTES (UINT64_C (256) << 20)

#define DEFAULT_WRITERS_NBYTES (UINT64_C (256) << 20)

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

static enum radio_status
classify_read (struct rd_s3_call *call, enum rd_http_next *next)
{
  struct rd_io_get *get = call->read.get;
  struct rd_http_task *task = &call->read.task;
  struct rd_span span = { 0, 0 };
  if (call->error.status != 416 || get->range == RD_RANGE_ALL)
    return rd_s3_classify (call, next);
  /* A range that begins after the object's end: some servers send its size,
   * which get returns; others are asked by HEAD. */
  bool has_total = task->response.has_total;
  uint64_t total = has_total ? task->response.total
                             : call->error.object_nbytes;
  if (!has_total && !call->error.has_object_nbytes) {
    task->method = RD_HTTP_HEAD;
    *next = RD_HTTP_RETRY_NOW;
    return rd_s3_error_fail (&call->error, call->name, false);
  }
  RD_TRY (rd_range_resolve (&call->s3->base, get, total, &span));
  if (span.nbytes > 0)
    return rd_s3_error_fail (&call->error, call->name, false);
  get->into->nbytes = 0;
  return RADIO_OK;
}

static void
finish_get (struct rd_http_task *task)
{
  struct rd_s3_call *call = (struct rd_s3_call *) task;
  struct rd_io_get *get = call->read.get;
  rd_http_read_end (&call->read);
  rd_s3_call_free (call);
  rd_free (call);
  get->done (get);
}

static enum radio_status
submit_get (struct rd_s3 *s3, struct rd_io_get *get)
{
  RD_TRY (rd_key_check (&s3->base, get->key));
  struct rd_s3_call *call = rd_calloc (1, sizeof *call);
  if (call == NULL)
    return rd_fail_memory (sizeof *call);
  enum radio_status status = rd_s3_call_init (call, s3, RD_HTTP_GET,
                                              get->key, NULL);
  call->read.task.check = rd_http_read_check;
  call->read.task.done = finish_get;
  call->classify = classify_read;
  if (status == RADIO_OK)
    status = rd_http_read_begin (&call->read, s3->http, &s3->base, get);
  if (status != RADIO_OK) {
    rd_s3_call_free (call);
    rd_free (call);
  }
  return status;
}

static void
s3_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    enum radio_status status = submit_get ((struct rd_s3 *) io, &gets[i]);
    if (status != RADIO_OK)
      rd_get_finish (&gets[i], status);
  }
}

/* S3 has no locks: holders of this store's handle exclude each other.
 * Between processes conditional writes decide, and unfinished objects of
 * others are recognised by their age. */
static enum radio_status
s3_lock (struct rd_io *io, const char *prefix, bool wait,
         struct rd_io_lock **lock)
{
  *lock = NULL;
  RD_TRY (rd_prefix_check (io, prefix));
  return rd_local_locks_lock (&((struct rd_s3 *) io)->locks, prefix, wait,
                              lock);
}

/*------------------------------------------------------------------------
 * The store
 *----------------------------------------------------------------------*/

static void
s3_close (struct rd_io *io)
{
  struct rd_s3 *s3 = (struct rd_s3 *) io;
  rd_http_close (s3->http);
  rd_s3_provider_close (s3->provider);
  rd_s3_key_cache_free (&s3->keys);
  rd_s3_place_free (&s3->place);
  rd_local_locks_free (&s3->locks);
  pthread_mutex_destroy (&s3->probe_mutex);
  pthread_mutex_destroy (&s3->mutex);
  rd_free (io->uri);
  rd_free (s3);
}

static const struct rd_io_ops s3_ops = {
  .name = "s3",
  .is_blocking = false,
  .close = s3_close,
  .get = s3_get,
  .hold = rd_http_hold,
  .release = rd_http_release,
  .size = rd_http_size,
  .list = rd_s3_list,
  .put = rd_s3_put,
  .create = rd_s3_create,
  .remove = rd_s3_remove,
  .remove_tree = rd_s3_remove_tree,
  .lock = s3_lock,
  .sweep = rd_s3_sweep,
};

static enum radio_status
initialize (struct rd_s3 *s3, const char *uri,
            const struct rd_s3_options *options)
{
  struct rd_io *io = &s3->base;
  const char *region = options->region ? options->region : DEFAULT_REGION;
  uint64_t writers_nbytes = options->writers_nbytes
                            ? options->writers_nbytes
                            : DEFAULT_WRITERS_NBYTES;
  RD_TRY (rd_s3_place_parse (&s3->place, uri, options));
  if (!rd_s3_is_region (region))
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s': invalid region name",
                    region);
  memcpy (s3->synced.region, region, strlen (region) + 1);
  io->uri = RD_S3_JOIN ("s3://", s3->place.bucket,
                        *s3->place.prefix ? "/" : "", s3->place.prefix);
  if (io->uri == NULL)
    return RADIO_ERROR_MEMORY;
  if (options->provider.settings)
    RD_TRY (rd_s3_provider_open (&options->provider, &s3->provider));
  s3->single_writer = options->single_writer;
  s3->max_listed_nbytes = MAX_LISTED_NBYTES;
  s3->max_lanes = writers_nbytes / RD_S3_PART_NBYTES;
  s3->synced.sends_sums = s3->place.is_https && !options->no_sums;
  io->writer_nbytes = RD_S3_PART_NBYTES;
  io->grace_s = options->grace_s ? options->grace_s : DEFAULT_GRACE_S;
  io->coalesce_gap_nbytes = options->gap_nbytes ? options->gap_nbytes
                                                : RD_HTTP_GAP_NBYTES;
  io->coalesce_cap_nbytes = options->cap_nbytes ? options->cap_nbytes
                                                : RD_HTTP_CAP_NBYTES;
  io->piece_nbytes = options->cap_nbytes ? options->cap_nbytes
                                         : RD_HTTP_PIECE_NBYTES;
  return rd_http_open (&options->http, &s3->http);
}

enum radio_status
rd_io_s3_open (const char *uri, const struct rd_s3_options *options,
               struct rd_io **io)
{
  struct rd_s3 *s3 = rd_calloc (1, sizeof *s3);
  if (s3 == NULL)
    return rd_fail_memory (sizeof *s3);
  s3->base.ops = &s3_ops;
  if (rd_local_locks_init (&s3->locks) != RADIO_OK) {
    rd_free (s3);
    return RADIO_ERROR_MEMORY;
  }
  pthread_mutex_init (&s3->probe_mutex, NULL);
  pthread_mutex_init (&s3->mutex, NULL);
  rd_s3_key_cache_init (&s3->keys);
  enum radio_status status = initialize (s3, uri, options);
  if (status != RADIO_OK) {
    s3_close (&s3->base);
    return status;
  }
  *io = &s3->base;
  return RADIO_OK;
}
