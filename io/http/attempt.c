/* SPDX-License-Identifier: MIT */
/* One transfer: an easy handle of libcurl, and what its callbacks see. */
#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "io/http/engine.h"

#define MAX_HEADERS_NBYTES 65536
#define MAX_IGNORED_NBYTES 65536      /* of a body that nobody reads */
#define MAX_FIRST_NBYTES 1048576      /* reserved for what was not asked */
#define READ_NBYTES 262144L           /* what libcurl reads at one time */
#define MAX_REDIRECTS 5L

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
 * What an answer is worth
 *----------------------------------------------------------------------*/

static enum radio_status
judge_headers (struct rd_http_attempt *attempt)
{
  struct rd_http_task *task = attempt->task;
  size_t nbytes = SIZE_MAX;
  if (task->answer.is_encoded)
    return rd_fail (RADIO_ERROR_IO, "%s: the answer is compressed, which "
                    "was not asked for", rd_http_name (task));
  if (task->check)
    RD_TRY (task->check (task, &nbytes));
  else if (!rd_http_is_good (task->answer.status))
    return rd_fail (RADIO_ERROR_IO, "%s: the server answers with status %u",
                    rd_http_name (task), task->answer.status);
  attempt->expected_nbytes = nbytes;
  attempt->has_no_body = task->method == RD_HTTP_HEAD
                         || task->answer.status == 416 || !task->into;
  if (!task->into)
    return RADIO_OK;
  size_t trusted = task->range[0] ? task->max_nbytes : MAX_FIRST_NBYTES;
  task->into->nbytes = 0;
  return rd_buffer_reserve (task->into, rd_min_u64 (nbytes, trusted));
}

static void
judge (struct rd_http_attempt *attempt)
{
  const struct rd_http_task *task = attempt->task;
  attempt->is_judged = true;
  attempt->has_problem = task->conclude
                         && !rd_http_is_good (task->answer.status);
  if (attempt->has_problem || rd_http_is_busy (task->answer.status))
    return;
  enum radio_status status = judge_headers (attempt);
  attempt->is_accepted = status == RADIO_OK;
  attempt->is_refused = status != RADIO_OK;
  if (attempt->is_refused)
    rd_error_save (&attempt->task->error, status);
}

static void
refuse (struct rd_http_attempt *attempt, enum radio_status status)
{
  attempt->is_accepted = false;
  attempt->is_refused = true;
  rd_error_save (&attempt->task->error, status);
}

bool
rd_http_attempt_is_whole (struct rd_http_attempt *attempt)
{
  if (!attempt->is_judged)
    judge (attempt);
  return attempt->is_accepted
         && (attempt->expected_nbytes == SIZE_MAX || attempt->has_no_body
             || attempt->task->into->nbytes == attempt->expected_nbytes);
}

/*------------------------------------------------------------------------
 * libcurl's callbacks
 *----------------------------------------------------------------------*/

/* Of two attempts the time until one is answered is told as one phase. */
static void
tell_phase (const struct rd_http_attempt *attempt,
            const struct radio_site *site)
{
  if (!attempt->task->rival)
    radio_async_phase (attempt->task->request, site);
}

static void
hear_first (struct rd_http_attempt *attempt)
{
  attempt->has_byte = true;
  attempt->waited_ns = attempt->heard_ns - attempt->asked_ns;
  radio_async_phase (attempt->task->request, &transfer_site);
}

/* False where nobody listens any more. */
static bool
hear (struct rd_http_attempt *attempt)
{
  if (rd_http_is_beaten (attempt))
    return false;
  attempt->heard_ns = rd_http_now ();
  if (!attempt->has_byte)
    hear_first (attempt);
  return true;
}

/* Words that say why, or that nobody reads (NULL), as far as they are
 * few. */
static size_t
ignore (struct rd_http_attempt *attempt, const char *bytes, size_t nbytes)
{
  size_t room = RD_HTTP_PROBLEM_NBYTES - attempt->problem.nbytes;
  if (attempt->has_problem && bytes
      && rd_buffer_append (&attempt->problem, bytes,
                           rd_min_u64 (nbytes, room)) != RADIO_OK)
    return 0;
  attempt->ignored_nbytes += nbytes;
  return attempt->ignored_nbytes <= MAX_IGNORED_NBYTES ? nbytes : 0;
}

/* Of two requests that either may answer, one that is only told to come again
 * leaves the other going: asking once more would take longer.  When both are
 * told so, the second to hear it has answered. */
static bool
shun (struct rd_http_attempt *attempt, const char *line, size_t nbytes)
{
  const struct rd_http_attempt *rival = rd_http_rival_of (attempt);
  struct rd_http_task *task = attempt->task;
  struct rd_http_answer answer = { .date_s = -1 };
  if (!rival || rival->has_byte || rival->is_shunned || attempt->has_byte)
    return false;
  rd_http_answer_line (&answer, line, nbytes);
  attempt->is_shunned = rd_http_is_busy (answer.status);
  attempt->shunned_status = answer.status;
  if (attempt->is_shunned)
    task->answer = answer;
  return attempt->is_shunned;
}

static size_t
on_header (char *line, size_t size, size_t n, void *data)
{
  struct rd_http_attempt *attempt = data;
  struct rd_http_task *task = attempt->task;
  if (shun (attempt, line, size * n) || !hear (attempt))
    return 0;
  /* What follows the body is not looked at, but counts. */
  if (attempt->is_judged)
    return ignore (attempt, NULL, size * n);
  rd_http_answer_line (&task->answer, line, size * n);
  if (task->answer.headers_nbytes <= MAX_HEADERS_NBYTES)
    return size * n;
  refuse (attempt, rd_fail (RADIO_ERROR_IO, "%s: the answer has more than %d "
                            "bytes of headers", rd_http_name (task),
                            MAX_HEADERS_NBYTES));
  return 0;
}

static size_t
on_body (char *bytes, size_t size, size_t n, void *data)
{
  struct rd_http_attempt *attempt = data;
  struct rd_http_task *task = attempt->task;
  size_t nbytes = size * n;
  if (!hear (attempt))
    return 0;
  if (!attempt->is_judged)
    judge (attempt);
  if (!attempt->is_accepted || attempt->has_no_body)
    return ignore (attempt, bytes, nbytes);
  size_t most = rd_min_u64 (attempt->expected_nbytes, task->max_nbytes);
  enum radio_status status = RADIO_OK;
  if (nbytes > most - task->into->nbytes)
    status = rd_fail (attempt->expected_nbytes == SIZE_MAX
                      ? RADIO_ERROR_LIMIT : RADIO_ERROR_IO,
                      "%s: more than %zu bytes came", rd_http_name (task),
                      most);
  else
    status = rd_buffer_append (task->into, bytes, nbytes);
  if (status == RADIO_OK)
    return nbytes;
  refuse (attempt, status);
  return 0;
}

/* Where it can be said at once, no child of another thread gets it. */
#ifdef SOCK_CLOEXEC
#define CLOEXEC SOCK_CLOEXEC
#else
#define CLOEXEC 0
#endif

/* One that is connected already, or else a new one. */
static curl_socket_t
on_open (void *data, curlsocktype purpose, struct curl_sockaddr *to)
{
  struct rd_http_attempt *attempt = data;
  int fd = -1;
  if (purpose == CURLSOCKTYPE_IPCXN && attempt->ahead
      && to->socktype == SOCK_STREAM)
    fd = rd_http_ahead_take (attempt->ahead, &to->addr);
  attempt->is_ahead = fd >= 0;
  attempt->is_first = fd < 0;
  return fd >= 0 ? fd : socket (to->family, to->socktype | CLOEXEC,
                                to->protocol);
}

static int
on_socket (void *data, curl_socket_t fd, curlsocktype purpose)
{
  struct rd_http_attempt *attempt = data;
  /* Not for children of the program. */
  (void) fcntl (fd, F_SETFD, FD_CLOEXEC);
  if (purpose == CURLSOCKTYPE_IPCXN)
    tell_phase (attempt, &connect_site);
  if (!attempt->is_ahead)
    return CURL_SOCKOPT_OK;
  radio_async_add (attempt->task->request, &rd_count_ahead, 1);
  return CURL_SOCKOPT_ALREADY_CONNECTED;
}

static CURLcode
on_tls (CURL *easy, void *context, void *data)
{
  (void) easy, (void) context;
  tell_phase (data, &tls_site);
  return CURLE_OK;
}

/* There is a connection, and the request goes out next. */
static int
on_sent (void *data, char *to, char *from, int to_port, int from_port)
{
  struct rd_http_attempt *attempt = data;
  struct rd_http_task *task = attempt->task;
  (void) from, (void) from_port;
  if (rd_http_is_beaten (attempt))
    return CURL_PREREQFUNC_ABORT;
  if (attempt->is_first && attempt->ahead)
    rd_http_ahead_begin (attempt->ahead, to, to_port);
  /* Once more on a new connection, after one that said nothing. */
  task->is_ambiguous |= attempt->is_sent;
  attempt->is_sent = true;
  attempt->heard_ns = rd_http_now ();
  tell_phase (attempt, task->nparts > 0 ? &send_site : &first_byte_site);
  return CURL_PREREQFUNC_OK;
}

/*------------------------------------------------------------------------
 * The handle
 *----------------------------------------------------------------------*/

/* Each option is of a libcurl that configure asks for, so that none is
 * unknown; setting one fails only without memory. */
static bool
set_callbacks (CURL *easy, struct rd_http_attempt *attempt)
{
  CURLcode code = CURLE_OK;
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
  return code == CURLE_OK;
}

/* On one that was kept, libcurl sends once more by itself what was not
 * answered. */
static bool
needs_new_connection (const struct rd_http_task *task)
{
  return task->nattempts > 0
         || (task->method == RD_HTTP_POST && !task->is_repeatable);
}

/* From an https URL no redirection leads away from https.  The environment
 * is not for a library to look at. */
static bool
set_transport (CURL *easy, const struct rd_http_options *options,
               const struct rd_http_task *task)
{
  CURLcode code = CURLE_OK;
  bool may_follow = !task->prepare && (task->method == RD_HTTP_GET
                                       || task->method == RD_HTTP_HEAD);
  bool is_https = strncasecmp (task->url, "https:", strlen ("https:")) == 0;
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
  if (options->ca_file)
    SET (CURLOPT_CAINFO, options->ca_file);
  SET (CURLOPT_NOSIGNAL, 1L);
  SET (CURLOPT_TCP_KEEPALIVE, 1L);
  SET (CURLOPT_BUFFERSIZE, READ_NBYTES);
  SET (CURLOPT_CONNECTTIMEOUT_MS, (long) options->connect_timeout_ms);
#undef SET
  return code == CURLE_OK;
}

/* Only for profiles; not every library of TLS behind libcurl has it. */
static void
set_tls_callback (CURL *easy, struct rd_http_attempt *attempt)
{
  (void) curl_easy_setopt (easy, CURLOPT_SSL_CTX_FUNCTION, on_tls);
  (void) curl_easy_setopt (easy, CURLOPT_SSL_CTX_DATA, attempt);
}

enum radio_status
rd_http_attempt_open (const struct rd_http_options *options,
                      struct rd_http_ahead *ahead, struct rd_http_task *task,
                      struct rd_http_attempt **result)
{
  struct rd_http_attempt *attempt = rd_calloc (1, sizeof *attempt);
  if (attempt == NULL)
    return rd_fail_memory (sizeof *attempt);
  attempt->task = task;
  attempt->ahead = needs_new_connection (task) ? NULL : ahead;
  attempt->easy = curl_easy_init ();
  task->answer = (struct rd_http_answer) { .date_s = -1 };
  enum radio_status status = rd_http_send_prepare (attempt);
  if (status == RADIO_OK
      && !(attempt->easy && set_callbacks (attempt->easy, attempt)
           && set_transport (attempt->easy, options, task)
           && rd_http_send_set (attempt)))
    status = rd_fail_memory (sizeof *attempt);
  if (status != RADIO_OK) {
    rd_http_attempt_close (attempt);
    return status;
  }
  set_tls_callback (attempt->easy, attempt);
  *result = attempt;
  return RADIO_OK;
}

void
rd_http_attempt_close (struct rd_http_attempt *attempt)
{
  if (attempt == NULL)
    return;
  curl_easy_cleanup (attempt->easy);
  curl_slist_free_all (attempt->headers);
  rd_buffer_free (&attempt->problem);
  rd_free (attempt);
}
