/* SPDX-License-Identifier: MIT */
/* The S3 store: its address, reads, its table, opening and closing. */
#include <config.h>

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/text.h"
#include "io/percent.h"
#include "io/s3/store.h"

#define DEFAULT_REGION "us-east-1"
#define DEFAULT_GRACE_S (24 * 3600)

/* Millions of names in one folder. */
#define MAX_LISTED_NBYTES (UINT64_C (256) << 20)

#define DEFAULT_WRITERS_NBYTES (UINT64_C (256) << 20)

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define MAX_BUCKET_NBYTES 255

/*------------------------------------------------------------------------
 * The address: the URI and the endpoint
 *----------------------------------------------------------------------*/

static void
cleanup_url (CURLU **url)
{
  curl_url_cleanup (*url);
}

static void
cleanup_curl (char **text)
{
  curl_free (*text);
}

static enum radio_status
parse_endpoint (struct rd_s3_place *place, const char *endpoint)
{
  RD_CLEANUP (cleanup_url) CURLU *url = curl_url ();
  RD_CLEANUP (cleanup_curl) char *scheme = NULL;
  RD_CLEANUP (cleanup_curl) char *host = NULL;
  RD_CLEANUP (cleanup_curl) char *port = NULL;
  RD_CLEANUP (cleanup_curl) char *path = NULL;
  if (url == NULL)
    return rd_fail_memory (0);
  RD_TRY (rd_http_check_url ("the endpoint", endpoint));
  if (curl_url_set (url, CURLUPART_URL, endpoint, 0) != CURLUE_OK
      || curl_url_get (url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
    return rd_fail_memory (0);
  place->is_https = strcmp (scheme, "https") == 0;
  if (!place->is_https && strcmp (scheme, "http") != 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the endpoint %s: must begin with "
                    "https:// or http://", endpoint);
  if (curl_url_get (url, CURLUPART_HOST, &host, 0) != CURLUE_OK)
    return rd_fail_memory (0);
  if (curl_url_get (url, CURLUPART_PORT, &port, CURLU_NO_DEFAULT_PORT)
      != CURLUE_OK)
    port = NULL;
  place->host = port ? RD_S3_JOIN (host, ":", port) : RD_S3_JOIN (host);
  if (place->host == NULL)
    return RADIO_ERROR_MEMORY;
  if (curl_url_get (url, CURLUPART_PATH, &path, CURLU_URLDECODE)
      != CURLUE_OK)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the endpoint %s: its path cannot "
                    "be decoded", endpoint);
  size_t n = strlen (path);
  while (n > 0 && path[n - 1] == '/')
    n--;
  /* Encoded as it is sent and signed. */
  place->base = rd_percent_encode (path, n, true);
  return place->base ? RADIO_OK : RADIO_ERROR_MEMORY;
}

enum radio_status
rd_s3_place_parse (struct rd_s3_place *place, const char *uri,
                   const struct rd_s3_options *options)
{
  static const char plain[] = LOWER DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
  const struct rd_io named = { .uri = (char *) "s3" };
  const char *bucket = uri + strlen ("s3://");
  size_t n = strcspn (bucket, "/");
  const char *prefix = bucket + n + (bucket[n] == '/');
  size_t prefix_nbytes = strlen (prefix);
  while (prefix_nbytes > 0 && prefix[prefix_nbytes - 1] == '/')
    prefix_nbytes--;
  place->bucket = rd_strndup (bucket, n);
  place->prefix = rd_strndup (prefix, prefix_nbytes);
  if (!place->bucket || !place->prefix)
    return rd_fail_memory (n + prefix_nbytes + 2);
  bucket = place->bucket;
  /* The text before an '@' may be secret. */
  if (strpbrk (bucket, "@:"))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the store's URI: must not contain "
                    "a user, a password or a port; give s3://BUCKET/PREFIX");
  if (n == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: no bucket; give "
                    "s3://BUCKET/PREFIX", uri);
  if (n > MAX_BUCKET_NBYTES || strspn (bucket, plain) != n
      || bucket[0] == '.')
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: invalid bucket name '%s'", uri,
                    bucket);
  RD_TRY (rd_prefix_check (&named, place->prefix));

  if (options->endpoint) {
    RD_TRY (parse_endpoint (place, options->endpoint));
  } else {
    place->is_https = true;
    place->base = rd_strdup ("");
    if (!place->base)
      return rd_fail_memory (1);
  }
  /* At AWS by its rule for new buckets (others have looser ones), and without
   * a point: the wildcard of a TLS certificate matches one label. */
  bool may_be_host = !place->host && n >= 3 && n <= 63
                     && strspn (bucket, LOWER DIGITS "-") == n
                     && strspn (bucket, LOWER DIGITS) > 0
                     && bucket[n - 1] != '-';
  place->is_virtual = options->addressing == RD_S3_ADDRESSING_VIRTUAL
    || (options->addressing == RD_S3_ADDRESSING_AUTO && may_be_host);
  return RADIO_OK;
}

void
rd_s3_place_free (struct rd_s3_place *place)
{
  rd_free (place->host);
  rd_free (place->base);
  rd_free (place->bucket);
  rd_free (place->prefix);
  *place = (struct rd_s3_place) { 0 };
}

/*------------------------------------------------------------------------
 * Hosts and paths
 *----------------------------------------------------------------------*/

bool
rd_s3_is_region (const char *region)
{
  static const char plain[] = LOWER DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
  size_t n = strlen (region);
  return n > 0 && n < 64 && strspn (region, plain) == n
         && region[0] != '.' && region[0] != '-' && !strstr (region, "..");
}

char *
rd_s3_place_host (const struct rd_s3_place *place, const char *region)
{
  const char *bucket = place->is_virtual ? place->bucket : "";
  const char *point = place->is_virtual ? "." : "";
  if (place->host)
    return RD_S3_JOIN (bucket, point, place->host);
  bool is_china = strncmp (region, "cn-", 3) == 0;
  return RD_S3_JOIN (bucket, point, "s3.", region, ".amazonaws.com",
                     is_china ? ".cn" : "");
}

char *
rd_s3_place_key (const struct rd_s3_place *place, const char *key)
{
  return *key ? rd_key_join (place->prefix, key)
              : RD_S3_JOIN (place->prefix);
}

char *
rd_s3_place_path (const struct rd_s3_place *place, const char *key)
{
  const char *slash = place->is_virtual ? "" : "/";
  const char *bucket = place->is_virtual ? "" : place->bucket;
  if (key == NULL)
    return RD_S3_JOIN (place->base, "/", bucket);
  RD_FREE char *whole = rd_s3_place_key (place, key);
  if (whole == NULL)
    return NULL;
  RD_FREE char *encoded = rd_percent_encode (whole, strlen (whole), true);
  if (encoded == NULL)
    return NULL;
  return RD_S3_JOIN (place->base, slash, bucket, "/", encoded);
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

/* Some servers, such as s3rver, return other bytes than an object's last ones.
 * An endpoint that does so twice before it ever was right is asked for the
 * size by HEAD instead, then for a range. */
static enum radio_status
check_read (struct rd_http_task *task, size_t *nbytes)
{
  struct rd_s3_call *call = (struct rd_s3_call *) task;
  struct rd_s3 *s3 = call->s3;
  enum radio_status status = rd_http_read_check (task, nbytes);
  if (task->range[0] != '-' || task->method != RD_HTTP_GET
      || task->response.status == 416)
    return status;
  RD_LOCK_SCOPE (&s3->mutex);
  if (status == RADIO_OK)
    s3->synced.suffix_ranges = RD_S3_SUPPORTED;
  else if (s3->synced.suffix_ranges != RD_S3_SUPPORTED
           && call->nwrong_suffixes++)
    task->method = RD_HTTP_HEAD;
  return status;
}

/* The size is known, of a suffix that could not be requested as such. */
static enum radio_status
request_span (struct rd_s3_call *call, enum rd_http_next *next)
{
  struct rd_http_read *read = &call->read;
  struct rd_io_get *get = read->get;
  struct rd_byte_range span;
  RD_TRY (rd_range_resolve (read->io, get, read->task.response.nbytes,
                            &span));
  if (span.nbytes == 0)
    return RADIO_OK;
  {
    RD_LOCK_SCOPE (&call->s3->mutex);
    call->s3->synced.suffix_ranges = RD_S3_UNSUPPORTED;
  }
  snprintf (read->task.range, sizeof read->task.range, "%" PRIu64 "-%"
            PRIu64, span.offset, span.offset + span.nbytes - 1);
  read->task.method = RD_HTTP_GET;
  *next = RD_HTTP_RETRY_NOW;
  return rd_fail (RADIO_ERROR_IO, "%s: only its size was received",
                  call->name);
}

static enum radio_status
classify_read (struct rd_s3_call *call, enum rd_http_next *next)
{
  struct rd_io_get *get = call->read.get;
  struct rd_http_task *task = &call->read.task;
  struct rd_byte_range span = { 0, 0 };
  if (rd_http_is_good (call->error.status) && task->method == RD_HTTP_HEAD
      && task->range[0] == '-')
    return request_span (call, next);
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
    return rd_s3_call_fail (call);
  }
  RD_TRY (rd_range_resolve (&call->s3->base, get, total, &span));
  if (span.nbytes > 0)
    return rd_s3_call_fail (call);
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
  call->read.task.is_gzip_file = rd_ends_with (get->key, ".gz");
  call->read.task.check = check_read;
  call->read.task.done = finish_get;
  call->classify = classify_read;
  if (get->range == RD_RANGE_SUFFIX) {
    RD_LOCK_SCOPE (&s3->mutex);
    if (s3->synced.suffix_ranges == RD_S3_UNSUPPORTED)
      call->read.task.method = RD_HTTP_HEAD;
  }
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

static void
s3_wake (struct rd_io *io)
{
  rd_http_wake (((struct rd_s3 *) io)->http);
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
  .wake = s3_wake,
  .hold = rd_http_hold,
  .release = rd_http_release,
  .size = rd_http_size,
  .list = rd_s3_list,
  .list_after = rd_s3_list_after,
  .put = rd_s3_put,
  .create = rd_s3_create,
  .duplicate = rd_s3_duplicate,
  .remove = rd_s3_remove,
  .remove_many = rd_s3_remove_many,
  .remove_tree = rd_s3_remove_tree,
  .lock = s3_lock,
  .sweep = rd_s3_sweep,
};

enum radio_status
rd_io_s3_open (const char *uri, const struct rd_s3_options *options,
               struct rd_io **result)
{
  const char *region = options->region ? options->region : DEFAULT_REGION;
  uint64_t writers_nbytes = options->writers_nbytes
                            ? options->writers_nbytes
                            : DEFAULT_WRITERS_NBYTES;
  RD_FREE struct rd_s3 *memory = rd_calloc (1, sizeof *memory);
  if (memory == NULL)
    return rd_fail_memory (sizeof *memory);
  memory->base.ops = &s3_ops;
  RD_TRY (rd_local_locks_init (&memory->locks));
  pthread_mutex_init (&memory->probe_mutex, NULL);
  pthread_mutex_init (&memory->mutex, NULL);
  rd_s3_key_cache_init (&memory->keys);

  struct rd_s3 *s3 = RD_STEAL (memory);
  RD_CLEANUP (rd_cleanup_io) struct rd_io *io = &s3->base;
  RD_TRY (rd_s3_place_parse (&s3->place, uri, options));
  if (!rd_s3_is_region (region))
    return rd_fail (RADIO_ERROR_ARGUMENT, "region '%s': invalid name",
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
  RD_TRY (rd_http_open (&options->http, &s3->http));
  *result = RD_STEAL (io);
  return RADIO_OK;
}
