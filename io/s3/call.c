/* SPDX-License-Identifier: MIT */
/* Requests, attempt by attempt. */
#include <config.h>

#include <string.h>
#include <time.h>

#include "src/base/base64.h"
#include "src/base/checked.h"
#include "src/base/crc32c.h"
#include "io/s3/call.h"
#include "io/s3/headers.h"

/* Without a body that would tell it: what else a refusal may come from. */
#define MAX_SKEW_S 300

/*------------------------------------------------------------------------
 * What is sent
 *----------------------------------------------------------------------*/

int64_t
rd_s3_now (struct rd_s3 *s3)
{
  struct timespec now;
  clock_gettime (CLOCK_REALTIME, &now);
  RD_LOCK_SCOPE (&s3->mutex);
  return (int64_t) now.tv_sec + s3->synced.ahead_s;
}

int64_t
rd_s3_answered_s (const struct rd_s3_call *call)
{
  int64_t date_s = call->read.task.answer.date_s;
  return date_s >= 0 ? date_s : rd_s3_now (call->s3);
}

/* All that goes along but what signing makes. */
static size_t
list_headers (const struct rd_s3_call *call,
              struct rd_s3_header list[RD_S3_NHEADERS + 1])
{
  memcpy (list, call->headers, call->nheaders * sizeof *list);
  list[call->nheaders] = call->sum;
  return call->nheaders + call->sent_sum;
}

static enum radio_status
add_headers (struct rd_s3_call *call, const char *host,
             struct rd_http_headers *headers)
{
  struct rd_s3 *s3 = call->s3;
  struct rd_s3_header list[RD_S3_NHEADERS + 1];
  size_t n = list_headers (call, list);
  const struct rd_s3_signing signing = {
    .credentials = call->credentials, .region = call->region, .service = "s3",
    .now_s = rd_s3_now (s3), .cache = &s3->keys,
  };
  const struct rd_s3_request request = {
    .method = rd_http_method_name (call->read.task.method), .host = host,
    .path = call->path, .query = call->query, .headers = list,
    .nheaders = n, .payload_sha256 = call->sha256,
  };
  RD_TRY (rd_s3_add_signature (headers, &signing, &request));
  return rd_s3_add_headers (headers, list, n);
}

static enum radio_status
take_credentials (struct rd_s3_call *call)
{
  rd_s3_credentials_free (RD_STEAL (call->credentials));
  if (call->s3->provider)
    return rd_s3_provider_get (call->s3->provider, &call->credentials);
  return rd_s3_credentials_new (NULL, NULL, NULL, 0, &call->credentials);
}

/* The region, which is part of AWS's hosts, may be another than before.
 * After a token was refused the engine's thread waits for another: whatever
 * else it has under way would be refused, too. */
static enum radio_status
prepare (struct rd_http_task *task, struct rd_http_headers *headers)
{
  struct rd_s3_call *call = (struct rd_s3_call *) task;
  struct rd_s3 *s3 = call->s3;
  {
    RD_LOCK_SCOPE (&s3->mutex);
    memcpy (call->region, s3->synced.region, sizeof call->region);
    call->sent_sum = call->sum.name && !call->mended_sum
                     && (call->keeps_sum || s3->synced.sends_sums);
  }
  if (call->credentials == NULL)
    RD_TRY (take_credentials (call));
  RD_FREE char *host = rd_s3_place_host (&s3->place, call->region);
  if (host == NULL)
    return RADIO_ERROR_MEMORY;
  char *url = RD_S3_JOIN (s3->place.is_https ? "https://" : "http://", host,
                          call->path, call->query ? "?" : "",
                          call->query ? call->query : "");
  if (url == NULL)
    return RADIO_ERROR_MEMORY;
  rd_free (call->url);
  task->url = call->url = url;
  return add_headers (call, host, headers);
}

/*------------------------------------------------------------------------
 * What comes back
 *----------------------------------------------------------------------*/

/* The bucket is elsewhere, and it is told where. */
static bool
mend_region (struct rd_s3_call *call)
{
  static const char *const codes[] = {
    "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect",
    "IllegalLocationConstraintException", NULL
  };
  const struct rd_s3_problem *problem = &call->problem;
  unsigned status = problem->status;
  bool may_be = status == 301 || status == 307 || status == 400
                || rd_s3_problem_is (problem, codes);
  if (!may_be || call->mended_region || !rd_s3_is_region (problem->region)
      || strcmp (problem->region, call->region) == 0)
    return false;
  RD_LOCK_SCOPE (&call->s3->mutex);
  memcpy (call->s3->synced.region, problem->region, sizeof problem->region);
  return call->mended_region = true;
}

/* An answer to HEAD has no body that tells it. */
static bool
mend_clock (struct rd_s3_call *call)
{
  static const char *const codes[] = { "RequestTimeTooSkewed", NULL };
  int64_t date_s = call->read.task.answer.date_s;
  int64_t ahead_s = date_s - rd_s3_now (call->s3);
  bool is_skewed = rd_s3_problem_is (&call->problem, codes)
    || (call->read.task.method == RD_HTTP_HEAD && call->problem.status == 403
        && (ahead_s > MAX_SKEW_S || ahead_s < -MAX_SKEW_S));
  if (!is_skewed || date_s < 0 || call->mended_clock)
    return false;
  RD_LOCK_SCOPE (&call->s3->mutex);
  call->s3->synced.ahead_s += ahead_s;
  return call->mended_clock = true;
}

/* An answer to HEAD tells of an expired token by its status alone. */
static bool
may_be_token (const struct rd_s3_call *call)
{
  static const char *const codes[] = {
    "ExpiredToken", "ExpiredTokenException", "InvalidToken",
    "TokenRefreshRequired", NULL
  };
  return rd_s3_problem_is (&call->problem, codes)
         || (call->read.task.method == RD_HTTP_HEAD
             && call->problem.status == 400 && call->credentials
             && call->credentials->session_token);
}

/* What is found next may be other credentials. */
static bool
mend_token (struct rd_s3_call *call)
{
  if (!may_be_token (call) || call->mended_token
      || !call->s3->provider || !call->credentials)
    return false;
  rd_s3_provider_reject (call->s3->provider, call->credentials);
  return call->mended_token = true;
}

static bool
refuses_sum (const struct rd_s3_problem *problem)
{
  static const char *const codes[] = {
    "NotImplemented", "InvalidRequest", "InvalidArgument", NULL
  };
  return problem->status == 501
         || (problem->status == 400 && problem->is_about_checksum
             && rd_s3_problem_is (problem, codes));
}

/* The server knows no checksums: or it is something else that it cannot do,
 * which the next attempt shows. */
static bool
mend_sum (struct rd_s3_call *call)
{
  if (!call->sent_sum || !refuses_sum (&call->problem))
    return false;
  return call->mended_sum = true;
}

/* It was the checksum: the others leave it out at once. */
static void
learn_of_sum (struct rd_s3_call *call)
{
  if (!call->mended_sum || call->sent_sum
      || !rd_http_is_good (call->problem.status))
    return;
  RD_LOCK_SCOPE (&call->s3->mutex);
  call->s3->synced.sends_sums = false;
}

enum radio_status
rd_s3_judge (struct rd_s3_call *call, enum rd_http_next *next)
{
  const struct rd_s3_credentials *credentials = call->credentials;
  if (rd_http_is_good (call->problem.status))
    return RADIO_OK;
  *next = rd_s3_problem_next (&call->problem);
  return rd_s3_problem_fail (&call->problem, call->name,
                             !credentials || !credentials->access_key);
}

static enum radio_status
conclude (struct rd_http_task *task, const struct rd_buffer *body,
          enum rd_http_next *next)
{
  struct rd_s3_call *call = (struct rd_s3_call *) task;
  rd_s3_problem_read (&call->problem, &task->answer, body);
  learn_of_sum (call);
  if (mend_region (call) || mend_clock (call) || mend_token (call)
      || mend_sum (call)) {
    enum radio_status status = rd_s3_judge (call, next);
    if (call->mended_token)
      rd_s3_credentials_free (RD_STEAL (call->credentials));
    *next = RD_HTTP_AGAIN;
    return status;
  }
  return call->judge ? call->judge (call, next) : rd_s3_judge (call, next);
}

/*------------------------------------------------------------------------
 * Calls
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_call_init (struct rd_s3_call *call, struct rd_s3 *s3,
                 enum rd_http_method method, const char *key, char *query)
{
  *call = (struct rd_s3_call) { .s3 = s3, .query = query };
  call->name = key ? RD_S3_JOIN (s3->base.uri, "/", key)
                   : RD_S3_JOIN (s3->base.uri);
  call->path = rd_s3_place_path (&s3->place, key);
  /* Until it is prepared. */
  call->url = RD_S3_JOIN ("");
  if (!call->name || !call->path || !call->url)
    return RADIO_ERROR_MEMORY;
  call->read.task = (struct rd_http_task) {
    .url = call->url, .name = call->name, .method = method,
    .is_repeatable = true, .prepare = prepare, .conclude = conclude,
  };
  RD_TRY (take_credentials (call));
  return rd_s3_sha256 (NULL, 0, call->sha256);
}

void
rd_s3_call_free (struct rd_s3_call *call)
{
  rd_free (call->name);
  rd_free (call->path);
  rd_free (call->query);
  rd_free (call->url);
  rd_s3_credentials_free (call->credentials);
  *call = (struct rd_s3_call) { 0 };
}

bool
rd_s3_sends_sums (struct rd_s3 *s3)
{
  RD_LOCK_SCOPE (&s3->mutex);
  return s3->synced.sends_sums;
}

static enum radio_status
add_sum (struct rd_s3_call *call, const struct rd_part *parts, size_t n)
{
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  uint32_t crc = 0;
  for (size_t i = 0; i < n; i++)
    crc = rd_crc32c (crc, parts[i].data, parts[i].nbytes);
  const unsigned char bytes[4] = {
    (unsigned char) (crc >> 24), (unsigned char) (crc >> 16),
    (unsigned char) (crc >> 8), (unsigned char) crc,
  };
  RD_TRY (rd_base64_encode (bytes, sizeof bytes, &text));
  memcpy (call->crc32c, text.data, RD_S3_CRC32C_NBYTES - 1);
  call->sum = (struct rd_s3_header) { "x-amz-checksum-crc32c", call->crc32c };
  return RADIO_OK;
}

/* Without TLS its digest is signed, and the server holds it against what
 * arrived.  TLS keeps a body as it was sent, up to where TLS ends: a checksum
 * that is signed goes further, at a tenth of a digest's cost.  A POST has
 * none: with the one that ends an upload it would be the object's. */
enum radio_status
rd_s3_call_body (struct rd_s3_call *call, const struct rd_part *parts,
                 size_t n)
{
  static const char unsigned_payload[] = "UNSIGNED-PAYLOAD";
  call->read.task.parts = parts;
  call->read.task.nparts = n;
  if (call->read.task.method == RD_HTTP_PUT && rd_s3_sends_sums (call->s3))
    RD_TRY (add_sum (call, parts, n));
  if (!call->s3->place.is_https)
    return rd_s3_sha256 (parts, n, call->sha256);
  memcpy (call->sha256, unsigned_payload, sizeof unsigned_payload);
  return RADIO_OK;
}

void
rd_s3_call_header (struct rd_s3_call *call, const char *name,
                   const char *value)
{
  call->headers[call->nheaders++] = (struct rd_s3_header) { name, value };
}

static void
begin_request (struct rd_s3_call *call, const struct radio_site *site)
{
  struct rd_http_task *task = &call->read.task;
  if (!radio_profile_is_on ())
    return;
  task->request = radio_async_begin (site);
  radio_async_text (task->request, "key", call->name, RADIO_TEXT_NAME);
}

enum radio_status
rd_s3_call_start (struct rd_s3_call *call, const struct radio_site *site,
                  void (*done) (struct rd_http_task *task))
{
  struct rd_http_task *task = &call->read.task;
  task->done = done;
  begin_request (call, site);
  enum radio_status status = rd_http_submit (call->s3->http, task);
  if (status != RADIO_OK)
    radio_async_end (task->request);
  return status;
}

enum radio_status
rd_s3_call_run (struct rd_s3_call *call, const struct radio_site *site)
{
  begin_request (call, site);
  RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
  return rd_http_run (call->s3->http, &call->read.task);
}
