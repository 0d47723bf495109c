/* SPDX-License-Identifier: MIT */
/* Requests to S3, attempt by attempt, and the errors in their responses.  The
 * server's own messages are shown only for unknown codes, and not if they
 * contain the credentials: some repeat the signed text, or the access key. */
#include <config.h>

#include <string.h>
#include <time.h>

#include "src/base/base64.h"
#include "src/base/checked.h"
#include "src/base/crc32c.h"
#include "src/base/text.h"
#include "io/s3/store.h"
#include "io/s3/xml.h"

/*------------------------------------------------------------------------
 * Errors
 *----------------------------------------------------------------------*/

/* Copies a text of letters, digits, points, dashes and colons, as codes,
 * regions and hosts with ports are; other texts become "". */
static void
copy_plain (char *to, size_t room, const char *text)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:";
  size_t n = strspn (text, plain);
  if (n >= room || text[n] != '\0')
    n = 0;
  memcpy (to, text, n);
  to[n] = '\0';
}

/* Copies the begin of a text, whole characters; messages show no control
 * characters (src/base/error.c). */
static void
copy_begin (char *to, size_t room, const char *text)
{
  size_t n = strnlen (text, room);
  if (n == room)
    n = rd_utf8_cut (text, room - 1);
  memcpy (to, text, n);
  to[n] = '\0';
}

static enum radio_status
read_error_element (const char *path, const char *text, void *user_data)
{
  struct rd_s3_error *error = user_data;
  if (strcmp (path, "Error/Code") == 0) {
    copy_plain (error->code, sizeof error->code, text);
    error->has_code = *text != '\0';
  } else if (strcmp (path, "Error/Message") == 0)
    copy_begin (error->message, sizeof error->message, text);
  if (strcmp (path, "Error/Region") == 0 && !error->region[0])
    copy_plain (error->region, sizeof error->region, text);
  else if (strcmp (path, "Error/Message") == 0
           || strcmp (path, "Error/ArgumentName") == 0)
    error->is_about_checksum |= strstr (text, "checksum")
                                || strstr (text, "Checksum");
  else if (strcmp (path, "Error/ActualObjectSize") == 0)
    error->has_object_nbytes = rd_s3_xml_number (text,
                                                 &error->object_nbytes);
  return RADIO_OK;
}

/* The valid beginning of a malformed body is still used, and of a message also
 * the beginning. */
void
rd_s3_error_parse (struct rd_s3_error *error,
                   const struct rd_http_response *response,
                   const struct rd_buffer *body)
{
  *error = (struct rd_s3_error) { .status = response->status };
  copy_plain (error->region, sizeof error->region, response->region);
  copy_plain (error->redirected_to, sizeof error->redirected_to,
              response->redirected_to);
  if (body->nbytes > 0
      && rd_s3_xml_read_damaged (body, "Error/Message", read_error_element,
                                 error) != RADIO_OK)
    return;
}

/* Returns true if it has one of these codes, which a NULL ends. */
static bool
has_code (const struct rd_s3_error *error, const char *const *codes)
{
  for (; *codes; codes++)
    if (strcmp (error->code, *codes) == 0)
      return true;
  return false;
}

enum rd_http_next
rd_s3_error_next (const struct rd_s3_error *error)
{
  static const char *const throttles[] = {
    "SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded",
    "RequestThrottled", "TooManyRequests", "BandwidthLimitExceeded", NULL
  };
  static const char *const transient[] = {
    "InternalError", "ServiceUnavailable", "RequestTimeout",
    "OperationAborted", "ConditionalRequestConflict",
    "PriorRequestNotComplete", NULL
  };
  unsigned status = error->status;
  if (status == 429 || status == 503 || has_code (error, throttles))
    return RD_HTTP_RETRY_SLOWER;
  if (rd_http_is_transient (status) || has_code (error, transient))
    return RD_HTTP_RETRY_LATER;
  return RD_HTTP_FINISH;
}

struct meaning {
  const char *code;           /* NULL: of the status, for responses without a
                                 known code: those to HEAD have no body.  It
                                 alone means that an object is missing */
  unsigned http_status;
  enum radio_status status;
  const char *message;
};

static const struct meaning meanings[] = {
  { "NoSuchKey", 0, RADIO_ERROR_NOT_FOUND, "no such object" },
  { "NoSuchUpload", 0, RADIO_ERROR_NOT_FOUND, "no such upload: another process "
    "ended it" },
  { "NoSuchBucket", 0, RADIO_ERROR_IO, "no such bucket; check its name and the "
    "endpoint" },
  { "InvalidBucketName", 0, RADIO_ERROR_ARGUMENT, "invalid bucket name" },
  { "AccessDenied", 0, RADIO_ERROR_PERMISSION, "access denied by the "
    "credentials' permissions (or there is no such object, and they do not "
    "allow to list the bucket)" },
  { "AllAccessDisabled", 0, RADIO_ERROR_PERMISSION, "all access to the bucket "
    "is disabled" },
  { "InvalidAccessKeyId", 0, RADIO_ERROR_PERMISSION, "the server does not know "
    "the access key; check the credentials and the endpoint" },
  { "SignatureDoesNotMatch", 0, RADIO_ERROR_PERMISSION, "the signature does "
    "not match: the secret key is wrong, or a proxy changes requests" },
  { "ExpiredToken", 0, RADIO_ERROR_PERMISSION, "the session token has expired; "
    "get new credentials" },
  { "InvalidToken", 0, RADIO_ERROR_PERMISSION, "the session token is invalid; "
    "get new credentials" },
  { "RequestTimeTooSkewed", 0, RADIO_ERROR_PERMISSION, "the local clock and "
    "the server's differ too much; set the clock" },
  { "AuthorizationHeaderMalformed", 0, RADIO_ERROR_PERMISSION, "the server "
    "expects another region; name it" },
  { "PermanentRedirect", 0, RADIO_ERROR_IO, "the bucket is in another region; "
    "name it" },
  { "InvalidObjectState", 0, RADIO_ERROR_IO, "the object is archived; restore "
    "it first" },
  { "EntityTooLarge", 0, RADIO_ERROR_LIMIT, "the object is too large for the "
    "server" },
  { "KeyTooLongError", 0, RADIO_ERROR_LIMIT, "the key is too long for the "
    "server" },
  { "QuotaExceeded", 0, RADIO_ERROR_NO_SPACE, "the quota is used up" },
  { "InsufficientStorage", 0, RADIO_ERROR_NO_SPACE, "the server has no space "
    "left" },
  { "BadDigest", 0, RADIO_ERROR_IO, "the data were corrupted on the way" },
  { "XAmzContentSHA256Mismatch", 0, RADIO_ERROR_IO, "the data were corrupted "
    "on the way" },
  { "PreconditionFailed", 0, RADIO_ERROR_EXISTS, "exists already" },
  { "NotImplemented", 0, RADIO_ERROR_UNSUPPORTED, "the server does not support "
    "this" },
  { "MethodNotAllowed", 0, RADIO_ERROR_UNSUPPORTED, "the server does not allow "
    "this here" },
  { "NoSuchVersion", 0, RADIO_ERROR_NOT_FOUND, "no such object" },
  { "NotFound", 0, RADIO_ERROR_NOT_FOUND, "no such object" },
  { NULL, 404, RADIO_ERROR_NOT_FOUND, "no such object" },
  { NULL, 400, RADIO_ERROR_IO, "the server rejects the request (maybe the "
    "credentials have expired)" },
  { NULL, 401, RADIO_ERROR_PERMISSION, "the server denies access" },
  { NULL, 403, RADIO_ERROR_PERMISSION, "the server denies access" },
  { NULL, 412, RADIO_ERROR_EXISTS, "exists already" },
  { NULL, 405, RADIO_ERROR_UNSUPPORTED, "the server does not support this" },
  { NULL, 501, RADIO_ERROR_UNSUPPORTED, "the server does not support this" },
  { NULL, 301, RADIO_ERROR_IO, "the server redirects the request, which is "
    "signed for this host; check the endpoint" },
  { NULL, 302, RADIO_ERROR_IO, "the server redirects the request, which is "
    "signed for this host; check the endpoint" },
  { NULL, 303, RADIO_ERROR_IO, "the server redirects the request, which is "
    "signed for this host; check the endpoint" },
  { NULL, 307, RADIO_ERROR_IO, "the server redirects the request, which is "
    "signed for this host; check the endpoint" },
  { NULL, 308, RADIO_ERROR_IO, "the server redirects the request, which is "
    "signed for this host; check the endpoint" },
  { NULL, 507, RADIO_ERROR_NO_SPACE, "the server has no space left" },
};

/* True for a 404 to a request whose response has a body, but no code in it.
 * Any web server answers so: it does not say that there is no object. */
static bool
is_unexplained (const struct rd_s3_call *call)
{
  return call->error.status == 404 && !call->error.has_code
         && call->read.task.method != RD_HTTP_HEAD;
}

enum radio_status
rd_s3_call_fail (const struct rd_s3_call *call)
{
  static const struct meaning none = { NULL, 0, RADIO_ERROR_IO,
                                       "the server reports an error" };
  static const struct meaning other_region = {
    NULL, 0, RADIO_ERROR_IO, "the bucket is in another region; name it"
  };
  static const struct meaning nowhere = {
    NULL, 0, RADIO_ERROR_IO, "the server cannot create it there; check the "
    "bucket's name and the endpoint"
  };
  static const struct meaning no_code = {
    NULL, 0, RADIO_ERROR_IO, "the server answers 404 without an S3 code; "
    "check the endpoint"
  };
  const struct rd_s3_error *error = &call->error;
  const struct meaning *meaning = &none;
  bool is_known = false;
  for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
    if (meanings[i].code && strcmp (error->code, meanings[i].code) == 0) {
      meaning = &meanings[i];
      is_known = true;
    } else if (!is_known && meanings[i].http_status == error->status) {
      meaning = &meanings[i];
    }
  if (!is_known && error->region[0]
      && (error->status == 301 || error->status == 307))
    meaning = &other_region;
  if (meaning->status == RADIO_ERROR_NOT_FOUND) {
    /* An unknown code does not say that there is no object: something else
     * may be missing, such as an account.  Nor does that of an upload in the
     * response to another request, nor none in the response to a PUT. */
    if (strcmp (error->code, "NoSuchUpload") == 0) {
      if (call->query == NULL || strstr (call->query, "upload") == NULL)
        meaning = &none;
    } else if (!is_known && error->has_code) {
      meaning = &none;
    } else if (!is_known && call->read.task.method == RD_HTTP_PUT) {
      meaning = &nowhere;
    } else if (is_unexplained (call)) {
      meaning = &no_code;
    }
  }
  if (meaning->status == RADIO_ERROR_NOT_FOUND)
    return rd_fail (meaning->status, "%s: %s", call->name, meaning->message);
  bool is_anonymous = !call->credentials || !call->credentials->access_key;
  bool is_denied = error->status == 403 || error->status == 401;
  bool shows = !is_known && error->has_code && error->message[0];
  return rd_fail (meaning->status, "%s: %s%s (status %u%s%s%s%s%s%s%s%s)",
                  call->name, meaning->message,
                  is_anonymous && is_denied
                  ? "; it was requested without credentials" : "",
                  error->status, error->code[0] ? ", " : "", error->code,
                  error->region[0] ? ", region " : "", error->region,
                  error->redirected_to[0] ? ", to " : "",
                  error->redirected_to,
                  shows ? ": " : "", shows ? error->message : "");
}

/*------------------------------------------------------------------------
 * Sending
 *----------------------------------------------------------------------*/

/* The time by the server's clock. */
static int64_t
server_time (struct rd_s3 *s3)
{
  struct timespec now;
  clock_gettime (CLOCK_REALTIME, &now);
  RD_LOCK_SCOPE (&s3->mutex);
  return (int64_t) now.tv_sec + s3->synced.skew_s;
}

int64_t
rd_s3_response_time (const struct rd_s3_call *call)
{
  int64_t date_s = call->read.task.response.date_s;
  return date_s >= 0 ? date_s : server_time (call->s3);
}

/* Credentials that cannot be found or parsed say nothing about the object. */
static enum radio_status
get_credentials (struct rd_s3_call *call)
{
  rd_s3_credentials_free (RD_STEAL (call->credentials));
  if (!call->s3->provider)
    return rd_s3_credentials_new (NULL, NULL, NULL, 0, &call->credentials);
  enum radio_status status = rd_s3_provider_get (call->s3->provider,
                                                 &call->credentials);
  if (status == RADIO_OK)
    return RADIO_OK;
  bool is_about_them = status == RADIO_ERROR_NOT_FOUND
                       || status == RADIO_ERROR_FORMAT
                       || status == RADIO_ERROR_UNSUPPORTED;
  return rd_fail_in (is_about_them ? RADIO_ERROR_PERMISSION : status,
                     "%s: no credentials", call->s3->base.uri);
}

/* The begin of a secret, in a message that was cut, says too much as well. */
#define SECRET_BEGIN_NBYTES 16

/* Removes a message that contains the credentials. */
static void
redact (struct rd_s3_error *error, const struct rd_s3_credentials *credentials)
{
  const char *const secrets[] = {
    credentials ? credentials->access_key : NULL,
    credentials ? credentials->secret_key : NULL,
    credentials ? credentials->session_token : NULL,
  };
  for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
    char begin[SECRET_BEGIN_NBYTES + 1] = "";
    if (secrets[i])
      strncpy (begin, secrets[i], SECRET_BEGIN_NBYTES);
    if (*begin && strstr (error->message, begin))
      error->message[0] = '\0';
  }
}

/* The region, which is part of AWS's hosts, may have changed.  After a token
 * was rejected the engine's thread waits for another: its other requests
 * would be rejected, too. */
static enum radio_status
prepare (struct rd_http_task *task, struct rd_http_headers *headers)
{
  struct rd_s3_call *call = (struct rd_s3_call *) task;
  struct rd_s3 *s3 = call->s3;
  {
    RD_LOCK_SCOPE (&s3->mutex);
    memcpy (call->region, s3->synced.region, sizeof call->region);
    call->sent_sum = call->sum.name && !call->dropped_sum
                     && (call->keeps_sum || s3->synced.sends_sums);
  }
  if (call->credentials == NULL)
    RD_TRY (get_credentials (call));
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

  struct rd_s3_header list[RD_S3_NHEADERS + 1];
  size_t n = call->nheaders + call->sent_sum;
  memcpy (list, call->headers, call->nheaders * sizeof *list);
  list[call->nheaders] = call->sum;
  const struct rd_s3_signing signing = {
    .credentials = call->credentials, .region = call->region, .service = "s3",
    .now_s = server_time (s3), .cache = &s3->keys,
  };
  const struct rd_s3_request request = {
    .method = rd_http_method_name (task->method), .host = host,
    .path = call->path, .query = call->query, .headers = list,
    .nheaders = n, .payload_sha256 = call->sha256,
  };
  RD_TRY (rd_s3_add_signature (headers, &signing, &request));
  return rd_s3_add_headers (headers, list, n);
}

/*------------------------------------------------------------------------
 * Receiving
 *----------------------------------------------------------------------*/

/* A response to HEAD has no body with the code: then a skew of more than this
 * is taken for the cause. */
#define MAX_SKEW_S 300

/* Corrects the cause of an error, each at most once.  Returns true if the
 * next attempt may succeed at once. */
static bool
correct_cause (struct rd_s3_call *call)
{
  static const char *const region_codes[] = {
    "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect",
    "IllegalLocationConstraintException", NULL
  };
  static const char *const clock_codes[] = { "RequestTimeTooSkewed", NULL };
  static const char *const token_codes[] = {
    "ExpiredToken", "ExpiredTokenException", "InvalidToken",
    "TokenRefreshRequired", NULL
  };
  static const char *const sum_codes[] = {
    "NotImplemented", "InvalidRequest", "InvalidArgument", NULL
  };
  struct rd_s3 *s3 = call->s3;
  const struct rd_s3_error *error = &call->error;
  unsigned status = error->status;
  bool is_head = call->read.task.method == RD_HTTP_HEAD;

  /* The bucket is in another region, which the response names. */
  bool may_be = status == 301 || status == 307 || status == 400
                || has_code (error, region_codes);
  if (may_be && !call->corrected_region && rd_s3_is_region (error->region)
      && strcmp (error->region, call->region) != 0) {
    RD_LOCK_SCOPE (&s3->mutex);
    memcpy (s3->synced.region, error->region, sizeof error->region);
    return call->corrected_region = true;
  }

  int64_t date_s = call->read.task.response.date_s;
  int64_t skew_s = date_s - server_time (s3);
  may_be = has_code (error, clock_codes)
           || (is_head && status == 403
               && (skew_s > MAX_SKEW_S || skew_s < -MAX_SKEW_S));
  if (may_be && date_s >= 0 && !call->corrected_clock) {
    RD_LOCK_SCOPE (&s3->mutex);
    s3->synced.skew_s += skew_s;
    return call->corrected_clock = true;
  }

  /* A response to HEAD shows an expired token by its status alone. */
  may_be = has_code (error, token_codes)
           || (is_head && status == 400 && call->credentials
               && call->credentials->session_token);
  if (may_be && !call->refreshed_token && s3->provider
      && call->credentials) {
    rd_s3_provider_reject (s3->provider, call->credentials);
    return call->refreshed_token = true;
  }

  /* The server supports no checksums, or not something else: the next attempt
   * shows which. */
  may_be = status == 501 || (status == 400 && error->is_about_checksum
                             && has_code (error, sum_codes));
  if (may_be && call->sent_sum)
    return call->dropped_sum = true;
  return false;
}

enum radio_status
rd_s3_classify (struct rd_s3_call *call, enum rd_http_next *next)
{
  if (rd_http_is_good (call->error.status))
    return RADIO_OK;
  *next = rd_s3_error_next (&call->error);
  if (call->read.task.method == RD_HTTP_GET && is_unexplained (call))
    *next = RD_HTTP_RETRY_SOON;
  return rd_s3_call_fail (call);
}

enum radio_status
rd_s3_classify_body (enum radio_status status, enum rd_http_next *next)
{
  struct rd_error error;
  if (status != RADIO_ERROR_FORMAT)
    return status;
  *next = RD_HTTP_RETRY_SOON;
  rd_error_save (&error, status);
  return rd_fail (RADIO_ERROR_IO, "%s", error.message);
}

static enum radio_status
conclude (struct rd_http_task *task, const struct rd_buffer *body,
          enum rd_http_next *next)
{
  struct rd_s3_call *call = (struct rd_s3_call *) task;
  rd_s3_error_parse (&call->error, &task->response, body);
  redact (&call->error, call->credentials);
  if (call->dropped_sum && !call->sent_sum
      && rd_http_is_good (call->error.status)) {
    /* It was the checksum: other requests omit it at once. */
    RD_LOCK_SCOPE (&call->s3->mutex);
    call->s3->synced.sends_sums = false;
  }
  if (correct_cause (call)) {
    enum radio_status status = rd_s3_classify (call, next);
    if (call->refreshed_token)
      rd_s3_credentials_free (RD_STEAL (call->credentials));
    *next = RD_HTTP_RETRY_NOW;
    return status;
  }
  return call->classify ? call->classify (call, next)
                        : rd_s3_classify (call, next);
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
  RD_TRY (get_credentials (call));
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

/* Without TLS the body's digest is signed, and the server verifies it.  TLS
 * protects a body up to where TLS ends: a signed checksum goes further, at a
 * tenth of a digest's cost.  A POST has none: when it completes an upload, the
 * checksum would be taken for the object's. */
enum radio_status
rd_s3_call_body (struct rd_s3_call *call, const struct rd_part *parts,
                 size_t n)
{
  static const char unsigned_payload[] = "UNSIGNED-PAYLOAD";
  call->read.task.parts = parts;
  call->read.task.nparts = n;
  pthread_mutex_lock (&call->s3->mutex);
  bool has_sum = call->read.task.method == RD_HTTP_PUT
                 && call->s3->synced.sends_sums;
  pthread_mutex_unlock (&call->s3->mutex);
  if (has_sum) {
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
    call->sum = (struct rd_s3_header) { "x-amz-checksum-crc32c",
                                        call->crc32c };
  }
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
