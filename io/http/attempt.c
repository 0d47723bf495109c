/* SPDX-License-Identifier: MIT */
/* One transfer: an easy handle of libcurl, its request, and its callbacks. */
#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "io/http/engine.h"

#define MAX_HEADERS_NBYTES 65536
#define MAX_IGNORED_NBYTES 65536      /* of a body that is discarded */
#define MAX_UNTRUSTED_NBYTES 1048576  /* reserved for a size that only the
                                         server claims */
#define READ_NBYTES 262144L           /* libcurl's read buffer */
#define MAX_REDIRECTS 5L

/* libcurl's upload buffer: it is refilled when it was sent, which shows the
 * progress on a slow link. */
#define SEND_NBYTES 65536L

#define PHASE(name, fn, about)                                  \
  static const struct radio_site about##_site = {               \
    name, RD_IN_NETWORK, fn, __FILE__, __LINE__,                \
    RADIO_SCOPE_WORK                                            \
  }

PHASE ("connect", "on_socket", connect);
PHASE ("TLS", "on_tls", tls);
PHASE ("send", "on_sent", send);
PHASE ("first byte", "on_sent", first_byte);
PHASE ("transfer", "on_first", transfer);

/*------------------------------------------------------------------------
 * Checking headers
 *----------------------------------------------------------------------*/

static void
reject (struct rd_http_attempt *attempt, enum radio_status status)
{
  attempt->is_accepted = false;
  attempt->is_rejected = true;
  rd_error_save (&attempt->task->error, status);
}

static enum radio_status
accept_headers (struct rd_http_attempt *attempt)
{
  struct rd_http_task *task = attempt->task;
  size_t nbytes = SIZE_MAX;
  if (task->response.is_encoded
      && !(task->is_gzip_file && task->response.is_gzip))
    return rd_fail (RADIO_ERROR_IO, "%s: the response is compressed, which "
                    "was not requested", rd_http_name (task));
  if (task->check)
    RD_TRY (task->check (task, &nbytes));
  else if (!rd_http_is_good (task->response.status))
    return rd_fail (RADIO_ERROR_IO, "%s: the server answers with status %u",
                    rd_http_name (task), task->response.status);
  attempt->expected_nbytes = nbytes;
  attempt->has_no_body = task->method == RD_HTTP_HEAD
                         || task->response.status == 416 || !task->into;
  if (!task->into)
    return RADIO_OK;
  size_t trusted = task->range[0] ? task->max_nbytes : MAX_UNTRUSTED_NBYTES;
  task->into->nbytes = 0;
  return rd_buffer_reserve (task->into, rd_min_u64 (nbytes, trusted));
}

static void
check_headers (struct rd_http_attempt *attempt)
{
  const struct rd_http_task *task = attempt->task;
  attempt->is_checked = true;
  attempt->has_error = task->conclude
                       && !rd_http_is_good (task->response.status);
  if (attempt->has_error || rd_http_is_transient (task->response.status))
    return;
  enum radio_status status = accept_headers (attempt);
  attempt->is_accepted = status == RADIO_OK;
  if (status != RADIO_OK)
    reject (attempt, status);
}

bool
rd_http_attempt_is_complete (struct rd_http_attempt *attempt)
{
  if (!attempt->is_checked)
    check_headers (attempt);
  return attempt->is_accepted
         && (attempt->expected_nbytes == SIZE_MAX || attempt->has_no_body
             || attempt->task->into->nbytes == attempt->expected_nbytes);
}

/*------------------------------------------------------------------------
 * Receiving
 *----------------------------------------------------------------------*/

/* Two attempts until the first byte are one phase. */
static void
report_phase (const struct rd_http_attempt *attempt,
              const struct radio_site *site)
{
  if (!attempt->task->hedge)
    radio_async_phase (attempt->task->request, site);
}

/* Called when bytes came.  False where the other attempt was faster. */
static bool
on_activity (struct rd_http_attempt *attempt)
{
  if (rd_http_lost_race (attempt))
    return false;
  attempt->activity_ns = rd_now_ns ();
  if (!attempt->has_byte) {
    attempt->has_byte = true;
    attempt->waited_ns = attempt->activity_ns - attempt->requested_ns;
    radio_async_phase (attempt->task->request, &transfer_site);
  }
  return true;
}

/* Discards bytes, except the body of an error, within limits.  NULL: they
 * are headers after the body. */
static size_t
ignore (struct rd_http_attempt *attempt, const char *bytes, size_t nbytes)
{
  size_t room = RD_HTTP_MAX_ERROR_NBYTES - attempt->error_body.nbytes;
  if (attempt->has_error && bytes
      && rd_buffer_append (&attempt->error_body, bytes,
                           rd_min_u64 (nbytes, room)) != RADIO_OK)
    return 0;
  attempt->ignored_nbytes += nbytes;
  return attempt->ignored_nbytes <= MAX_IGNORED_NBYTES ? nbytes : 0;
}

static size_t
on_header (char *line, size_t size, size_t n, void *data)
{
  struct rd_http_attempt *attempt = data;
  struct rd_http_task *task = attempt->task;
  const struct rd_http_attempt *other = rd_http_other_attempt (attempt);
  /* When the first line of one of two attempts has a transient status, the
   * other one continues, since a retry would take longer.  When both have one,
   * the second is the response. */
  if (other && !other->has_byte && !other->was_throttled
      && !attempt->has_byte) {
    struct rd_http_response response = { .date_s = -1 };
    rd_http_response_line (&response, line, size * n);
    attempt->was_throttled = rd_http_is_transient (response.status);
    attempt->throttle_status = response.status;
    if (attempt->was_throttled) {
      task->response = response;
      return 0;
    }
  }
  if (!on_activity (attempt))
    return 0;
  /* Trailers are not parsed, but counted. */
  if (attempt->is_checked)
    return ignore (attempt, NULL, size * n);
  rd_http_response_line (&task->response, line, size * n);
  if (task->response.headers_nbytes <= MAX_HEADERS_NBYTES)
    return size * n;
  reject (attempt, rd_fail (RADIO_ERROR_IO, "%s: the response has more than "
                            "%d bytes of headers", rd_http_name (task),
                            MAX_HEADERS_NBYTES));
  return 0;
}

static size_t
on_body (char *bytes, size_t size, size_t n, void *data)
{
  struct rd_http_attempt *attempt = data;
  struct rd_http_task *task = attempt->task;
  size_t nbytes = size * n;
  if (!on_activity (attempt))
    return 0;
  if (!attempt->is_checked)
    check_headers (attempt);
  if (!attempt->is_accepted || attempt->has_no_body)
    return ignore (attempt, bytes, nbytes);
  size_t most = rd_min_u64 (attempt->expected_nbytes, task->max_nbytes);
  enum radio_status status = RADIO_OK;
  if (nbytes > most - task->into->nbytes)
    status = rd_fail (attempt->expected_nbytes == SIZE_MAX
                      ? RADIO_ERROR_LIMIT : RADIO_ERROR_IO,
                      "%s: the response has more than %zu bytes",
                      rd_http_name (task), most);
  else
    status = rd_buffer_append (task->into, bytes, nbytes);
  if (status == RADIO_OK)
    return nbytes;
  reject (attempt, status);
  return 0;
}

/*------------------------------------------------------------------------
 * Connecting
 *----------------------------------------------------------------------*/

/* Where it can be set atomically, no child of another thread inherits it. */
#ifdef SOCK_CLOEXEC
#define CLOEXEC SOCK_CLOEXEC
#else
#define CLOEXEC 0
#endif

/* Returns a preconnected socket, or else a new one. */
static curl_socket_t
on_open (void *data, curlsocktype purpose, struct curl_sockaddr *to)
{
  struct rd_http_attempt *attempt = data;
  int fd = -1;
  if (purpose == CURLSOCKTYPE_IPCXN && attempt->preconnect
      && to->socktype == SOCK_STREAM)
    fd = rd_http_preconnect_take (attempt->preconnect, &to->addr);
  attempt->is_preconnected = fd >= 0;
  attempt->is_new = fd < 0;
  return fd >= 0 ? fd : socket (to->family, to->socktype | CLOEXEC,
                                to->protocol);
}

static int
on_socket (void *data, curl_socket_t fd, curlsocktype purpose)
{
  struct rd_http_attempt *attempt = data;
  (void) fcntl (fd, F_SETFD, FD_CLOEXEC);
  if (purpose == CURLSOCKTYPE_IPCXN)
    report_phase (attempt, &connect_site);
  if (!attempt->is_preconnected)
    return CURL_SOCKOPT_OK;
  radio_async_add (attempt->task->request, &rd_count_preconnect, 1);
  return CURL_SOCKOPT_ALREADY_CONNECTED;
}

static CURLcode
on_tls (CURL *easy, void *context, void *data)
{
  (void) easy, (void) context;
  report_phase (data, &tls_site);
  return CURLE_OK;
}

/* Called when there is a connection, before the request is sent. */
static int
on_sent (void *data, char *to, char *from, int to_port, int from_port)
{
  struct rd_http_attempt *attempt = data;
  struct rd_http_task *task = attempt->task;
  (void) from, (void) from_port;
  if (rd_http_lost_race (attempt))
    return CURL_PREREQFUNC_ABORT;
  if (attempt->is_new && attempt->preconnect)
    rd_http_preconnect_begin (attempt->preconnect, to, to_port);
  /* libcurl sends again on a new connection, after a kept one was closed. */
  task->is_ambiguous |= attempt->is_sent;
  attempt->is_sent = true;
  attempt->activity_ns = rd_now_ns ();
  report_phase (attempt, task->nparts > 0 ? &send_site : &first_byte_site);
  return CURL_PREREQFUNC_OK;
}

/*------------------------------------------------------------------------
 * Sending
 *----------------------------------------------------------------------*/

const char *
rd_http_method_name (enum rd_http_method method)
{
  switch (method) {
  case RD_HTTP_HEAD: return "HEAD";
  case RD_HTTP_PUT: return "PUT";
  case RD_HTTP_POST: return "POST";
  case RD_HTTP_DELETE: return "DELETE";
  default: return "GET";
  }
}

struct rd_http_headers {
  struct curl_slist *list;
};

enum radio_status
rd_http_add_header (struct rd_http_headers *headers, const char *line)
{
  struct curl_slist *list = curl_slist_append (headers->list, line);
  if (list == NULL)
    return rd_fail_memory (strlen (line) + 1);
  headers->list = list;
  return RADIO_OK;
}

static size_t
on_read (char *to, size_t size, size_t n, void *data)
{
  struct rd_http_attempt *attempt = data;
  const struct rd_http_task *task = attempt->task;
  size_t room = size * n, nbytes = 0;
  while (attempt->part < task->nparts) {
    const struct rd_part *part = &task->parts[attempt->part];
    size_t rest = part->nbytes - attempt->part_offset;
    if (rest == 0) {
      attempt->part++;
      attempt->part_offset = 0;
      continue;
    }
    if (nbytes == room)
      break;
    size_t most = rd_min_u64 (room - nbytes, rest);
    memcpy (to + nbytes, (const char *) part->data + attempt->part_offset,
            most);
    nbytes += most;
    attempt->part_offset += most;
  }
  attempt->sent_nbytes += nbytes;
  attempt->activity_ns = rd_now_ns ();
  if (attempt->part == task->nparts)
    radio_async_phase (task->request, &first_byte_site);
  return nbytes;
}

/* libcurl starts over by itself where a kept connection turns out to be
 * closed. */
static int
on_seek (void *data, curl_off_t offset, int origin)
{
  struct rd_http_attempt *attempt = data;
  if (origin != SEEK_SET || offset != 0)
    return CURL_SEEKFUNC_CANTSEEK;
  attempt->part = attempt->part_offset = 0;
  return CURL_SEEKFUNC_OK;
}

/*------------------------------------------------------------------------
 * The handle
 *----------------------------------------------------------------------*/

/* On a kept connection libcurl retries by itself. */
static bool
needs_new_connection (const struct rd_http_task *task)
{
  return task->nattempts > 0
         || (task->method == RD_HTTP_POST && !task->is_repeatable);
}

/* Each option is of a libcurl that configure requires, so that none is
 * unknown; setting one fails only without memory. */
static bool
set_options (struct rd_http_attempt *attempt,
             const struct rd_http_options *options)
{
  const struct rd_http_task *task = attempt->task;
  CURL *easy = attempt->easy;
  CURLcode code = CURLE_OK;
  bool may_follow = !task->prepare && (task->method == RD_HTTP_GET
                                       || task->method == RD_HTTP_HEAD);
  bool is_https = strncasecmp (task->url, "https:", strlen ("https:")) == 0;
#define SET(option, value) \
  code = code == CURLE_OK ? curl_easy_setopt (easy, option, value) : code
  SET (CURLOPT_PRIVATE, attempt);
  SET (CURLOPT_ERRORBUFFER, attempt->message);
  SET (CURLOPT_HEADERFUNCTION, on_header);
  SET (CURLOPT_HEADERDATA, attempt);
  SET (CURLOPT_WRITEFUNCTION, on_body);
  SET (CURLOPT_WRITEDATA, attempt);
  SET (CURLOPT_SOCKOPTFUNCTION, on_socket);
  SET (CURLOPT_SOCKOPTDATA, attempt);
  SET (CURLOPT_OPENSOCKETFUNCTION, on_open);
  SET (CURLOPT_OPENSOCKETDATA, attempt);
  SET (CURLOPT_PREREQFUNCTION, on_sent);
  SET (CURLOPT_PREREQDATA, attempt);

  /* No redirection leads from https to http.  A library does not read the
   * environment. */
  SET (CURLOPT_URL, task->url);
  SET (CURLOPT_PROTOCOLS_STR, "http,https");
  SET (CURLOPT_REDIR_PROTOCOLS_STR, is_https ? "https" : "http,https");
  SET (CURLOPT_FOLLOWLOCATION, (long) may_follow);
  SET (CURLOPT_MAXREDIRS, MAX_REDIRECTS);
  SET (CURLOPT_PATH_AS_IS, 1L);
  SET (CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
  SET (CURLOPT_USERAGENT, "radio/" PACKAGE_VERSION);
  SET (CURLOPT_PROXY, options->proxy ? options->proxy : "");
  SET (CURLOPT_NOPROXY, "");
  SET (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  SET (CURLOPT_FRESH_CONNECT, (long) needs_new_connection (task));
  if (options->ca_file) {
    SET (CURLOPT_CAINFO, options->ca_file);
    /* Else libcurl trusts those of its folder (Debian's: /etc/ssl/certs), too.
     * An error says that it has none. */
    (void) curl_easy_setopt (easy, CURLOPT_CAPATH, NULL);
  }
  SET (CURLOPT_NOSIGNAL, 1L);
  SET (CURLOPT_TCP_KEEPALIVE, 1L);
  SET (CURLOPT_BUFFERSIZE, READ_NBYTES);
  SET (CURLOPT_CONNECTTIMEOUT_MS, (long) options->connect_timeout_ms);

  SET (CURLOPT_HTTPHEADER, attempt->headers);
  SET (CURLOPT_NOBODY, (long) (task->method == RD_HTTP_HEAD));
  if (task->range[0] && task->method == RD_HTTP_GET)
    SET (CURLOPT_RANGE, task->range);
  if (task->method == RD_HTTP_PUT || task->method == RD_HTTP_POST) {
    uint64_t nbytes = 0;
    for (size_t i = 0; i < task->nparts; i++)
      nbytes += task->parts[i].nbytes;
    SET (CURLOPT_UPLOAD, 1L);
    SET (CURLOPT_UPLOAD_BUFFERSIZE, SEND_NBYTES);
    SET (CURLOPT_INFILESIZE_LARGE, (curl_off_t) nbytes);
    SET (CURLOPT_READFUNCTION, on_read);
    SET (CURLOPT_READDATA, attempt);
    SET (CURLOPT_SEEKFUNCTION, on_seek);
    SET (CURLOPT_SEEKDATA, attempt);
  }
  /* A POST is sent as a renamed PUT, so that libcurl adds no Content-Type. */
  if (task->method == RD_HTTP_POST || task->method == RD_HTTP_DELETE)
    SET (CURLOPT_CUSTOMREQUEST, rd_http_method_name (task->method));
#undef SET
  return code == CURLE_OK;
}

enum radio_status
rd_http_attempt_open (const struct rd_http_options *options,
                      struct rd_http_preconnect *preconnect,
                      struct rd_http_task *task,
                      struct rd_http_attempt **result)
{
  struct rd_http_attempt *attempt = rd_calloc (1, sizeof *attempt);
  if (attempt == NULL)
    return rd_fail_memory (sizeof *attempt);
  attempt->task = task;
  attempt->preconnect = needs_new_connection (task) ? NULL : preconnect;
  attempt->easy = curl_easy_init ();
  task->response = (struct rd_http_response) { .date_s = -1 };
  /* "Expect: 100-continue" would cost a round trip, and a second where it is
   * not supported. */
  struct rd_http_headers headers = { NULL };
  enum radio_status status = rd_http_add_header (&headers, "Expect:");
  if (status == RADIO_OK && task->prepare)
    status = task->prepare (task, &headers);
  attempt->headers = headers.list;
  if (status == RADIO_OK
      && !(attempt->easy && set_options (attempt, options)))
    status = rd_fail_memory (sizeof *attempt);
  if (status != RADIO_OK) {
    rd_http_attempt_close (attempt);
    return status;
  }
  /* For profiles; not every TLS library behind libcurl supports it. */
  (void) curl_easy_setopt (attempt->easy, CURLOPT_SSL_CTX_FUNCTION, on_tls);
  (void) curl_easy_setopt (attempt->easy, CURLOPT_SSL_CTX_DATA, attempt);
  *result = attempt;
  return RADIO_OK;
}

void
rd_http_attempt_close (struct rd_http_attempt *attempt)
{
  if (attempt == NULL)
    return;
  curl_easy_cleanup (attempt->easy);
  /* They may hold a signature, or a token. */
  for (struct curl_slist *line = attempt->headers; line; line = line->next)
    OPENSSL_cleanse (line->data, strlen (line->data));
  curl_slist_free_all (attempt->headers);
  rd_buffer_free (&attempt->error_body);
  rd_free (attempt);
}
