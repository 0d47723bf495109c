/* SPDX-License-Identifier: MIT */
/* One thread accepts, one more serves each connection: plain sockets, so
 * that it can do anything at any byte. */
#include <config.h>

#include <arpa/inet.h>
#include <err.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/buffer.h"
#include "src/base/crc32c.h"
#include "tests/io/http-peer.h"

#define MAX_CONNECTIONS 8192
#define MAX_HEARD 64
#define REQUEST_NBYTES 8192
#define MAX_SEEN 8192
#define MAX_BAD 3

/* A received request. */
struct heard {
  char *head;
  struct rd_buffer body;
};

struct connection {
  struct http_peer *peer;
  pthread_t thread;
  int fd;
};

struct http_peer {
  struct rd_io *objects;
  int fd;
  char url[64];
  pthread_t thread;
  pthread_mutex_t mutex;      /* guards all below */
  struct connection connections[MAX_CONNECTIONS];
  size_t nconnections;
  enum http_fault fault;
  unsigned after, times, nrequests;
  unsigned wrong_percent, flipped_percent;
  struct seen {
    uint32_t request;         /* a hash; 0: none */
    unsigned n, nbad;         /* how often, and how many of the last were bad */
    bool was_other;           /* one of these was of another object */
  } seen[MAX_SEEN];
  char path[REQUEST_NBYTES];
  const char *const *answers;
  size_t nanswers, nsaid;
  struct heard heard[MAX_HEARD];
  size_t nheard;
  char writer[64];
  unsigned nreleased;
  pthread_cond_t released;
};

struct request {
  char text[REQUEST_NBYTES];
  struct rd_buffer body;
  bool is_head, is_get, has_range, is_suffix;
  char key[REQUEST_NBYTES];
  unsigned long long first, last;
};

/*------------------------------------------------------------------------
 * Requests
 *----------------------------------------------------------------------*/

/* Reads as many bytes as Content-Length says. */
static bool
read_body (int fd, struct request *request)
{
  static const char name[] = "\r\nContent-Length: ";
  const char *at = strcasestr (request->text, name);
  size_t n = at ? strtoull (at + strlen (name), NULL, 10) : 0;
  struct rd_buffer *body = &request->body;
  body->nbytes = 0;
  if (rd_buffer_reserve (body, n + 1) != RADIO_OK)
    err (99, "http peer");
  while (body->nbytes < n) {
    ssize_t got = recv (fd, body->data + body->nbytes, n - body->nbytes, 0);
    if (got <= 0)
      return false;
    body->nbytes += (size_t) got;
  }
  return true;
}

/* Until the empty line, and the body; false at the end of the connection. */
static bool
read_request (int fd, struct request *request)
{
  size_t n = 0;
  while (n + 1 < sizeof request->text) {
    ssize_t got = recv (fd, request->text + n, 1, 0);
    if (got <= 0)
      return false;
    n += (size_t) got;
    request->text[n] = '\0';
    if (n >= 4 && strcmp (request->text + n - 4, "\r\n\r\n") == 0)
      return read_body (fd, request);
  }
  return false;
}

static unsigned
hex (char c)
{
  return c <= '9' ? (unsigned) (c - '0') : (unsigned) (c - 'A' + 10);
}

/* "/data/KEY" or "/there/KEY"; the escapes are ours, so they are whole. */
static void
parse_path (struct request *request, const char *path, size_t n)
{
  char *to = request->key;
  const char *end = path + n, *p = memchr (path + 1, '/', n - 1);
  for (p = p ? p + 1 : end; p < end; p++)
    if (*p == '%') {
      *to++ = (char) (hex (p[1]) * 16 + hex (p[2]));
      p += 2;
    } else {
      *to++ = *p;
    }
  *to = '\0';
}

static void
parse_range (struct request *request)
{
  const char *at = strcasestr (request->text, "\r\nRange: bytes=");
  char *end;
  request->has_range = at != NULL;
  if (!at)
    return;
  at += strlen ("\r\nRange: bytes=");
  request->is_suffix = *at == '-';
  if (!request->is_suffix) {
    request->first = strtoull (at, &end, 10);
    at = end;
  }
  request->last = strtoull (at + 1, NULL, 10);
}

static void
parse (struct http_peer *peer, struct request *request)
{
  request->is_head = strncmp (request->text, "HEAD ", 5) == 0;
  request->is_get = strncmp (request->text, "GET ", 4) == 0;
  const char *path = strchr (request->text, ' ') + 1;
  size_t n = strcspn (path, " ");
  pthread_mutex_lock (&peer->mutex);
  memcpy (peer->path, path, n);
  peer->path[n] = '\0';
  pthread_mutex_unlock (&peer->mutex);
  parse_path (request, path, strcspn (path, " ?"));
  parse_range (request);
}

/*------------------------------------------------------------------------
 * Answers
 *----------------------------------------------------------------------*/

static bool
send_all (int fd, const void *data, size_t nbytes)
{
  const char *p = data;
  while (nbytes > 0) {
    ssize_t n = send (fd, p, nbytes, MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    p += n;
    nbytes -= (size_t) n;
  }
  return true;
}

__attribute__ ((__format__ (__printf__, 2, 3))) static bool
send_text (int fd, const char *format, ...)
{
  char text[REQUEST_NBYTES];
  va_list args;
  va_start (args, format);
  int n = vsnprintf (text, sizeof text, format, args);
  va_end (args);
  return send_all (fd, text, (size_t) n);
}

/* Until the other side hangs up. */
static bool
wait_for_end (int fd)
{
  char byte;
  while (recv (fd, &byte, 1, 0) > 0)
    continue;
  return false;
}

static bool
send_endless (int fd, const char *begin, const char *line)
{
  bool ok = send_text (fd, "%s", begin);
  while (ok)
    ok = send_text (fd, "%s", line);
  return false;
}

static bool
send_status (int fd, const char *status)
{
  return send_text (fd, "HTTP/1.1 %s\r\nContent-Length: 5\r\n\r\nsorry",
                    status);
}

/* Faults that do not depend on the object; -1 for others. */
static int
send_nothing_of_it (int fd, const struct request *request,
                    enum http_fault fault)
{
  switch (fault) {
  case HTTP_BUSY:
    return send_status (fd, "503 Slow Down");
  case HTTP_BUSY_ENDLESS:
    return send_endless (fd, "HTTP/1.1 503 Slow Down\r\n\r\n", "sorry\n");
  case HTTP_FORBIDDEN:
    return send_status (fd, "403 Forbidden");
  case HTTP_TEAPOT:
    return send_status (fd, "418 I'm a teapot");
  case HTTP_DROP_EARLY:
    return false;
  case HTTP_SILENT:
    return wait_for_end (fd);
  case HTTP_ENDLESS_HEADERS:
    return send_endless (fd, "HTTP/1.1 200 OK\r\n", "X-Header: value\r\n");
  case HTTP_NONSENSE:
    return send_text (fd, "220 this is not what you are looking for\r\n")
           && false;
  case HTTP_REDIRECT:
    return send_text (fd, "HTTP/1.1 302 Found\r\nLocation: /there/%s\r\n"
                      "Content-Length: 0\r\n\r\n", request->key);
  case HTTP_REDIRECT_LOOP:
    return send_text (fd, "HTTP/1.1 302 Found\r\nLocation: /data/%s\r\n"
                      "Content-Length: 0\r\n\r\n", request->key);
  case HTTP_CLAIM:
    return send_text (fd, "HTTP/1.1 200 OK\r\nContent-Length: %" PRIu64
                      "\r\n\r\nabc", UINT64_C (1) << 60) && false;
  default:
    return -1;
  }
}

static bool
send_chunked (int fd, const struct rd_buffer *object)
{
  return send_text (fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                    "\r\n%zx\r\n", object->nbytes)
         && send_all (fd, object->data, object->nbytes)
         && send_text (fd, object->nbytes ? "\r\n0\r\n\r\n" : "\r\n");
}

/* By the object's bytes; with the fault another one. */
static unsigned
etag_of (const struct rd_buffer *object, enum http_fault fault)
{
  return rd_crc32c (fault == HTTP_OTHER_ETAG, object->data, object->nbytes);
}

/* Bytes [first, last] of an object, with a fault; the seed says which bit is
 * changed. */
static bool
send_part (int fd, const struct request *request,
           const struct rd_buffer *object, enum http_fault fault,
           unsigned seed)
{
  unsigned long long first = request->first, last = request->last;
  unsigned long long size = object->nbytes;
  if (request->is_suffix) {
    first = last < size ? size - last : 0;
    last = size ? size - 1 : 0;
  }
  if (first >= size)
    return send_text (fd, "HTTP/1.1 416 Range\r\nContent-Range: bytes */%llu"
                      "\r\nContent-Length: 5\r\n\r\nsorry", size);
  last = last < size ? last : size - 1;
  if (fault == HTTP_SHIFTED)
    first > 0 ? (first--, last--) : (first++, last++);
  if (fault == HTTP_SHORTER && last > first)
    last--;
  if (fault == HTTP_OTHER_TOTAL)
    size++;
  unsigned long long n = last - first + 1 + (fault == HTTP_LONGER);
  bool ok = send_text (fd, "HTTP/1.1 206 Part\r\nContent-Length: %llu\r\n"
                       "ETag: \"%x\"\r\n", n, etag_of (object, fault));
  if (fault == HTTP_UNTOLD_TOTAL)
    ok = ok && send_text (fd, "Content-Range: bytes %llu-%llu/*\r\n", first,
                          last);
  else if (fault != HTTP_UNTOLD_RANGE)
    ok = ok && send_text (fd, "content-range:bytes %llu-%llu/%llu\r\n",
                          first, last, size);
  ok = ok && send_text (fd, fault == HTTP_GZIP_FILE
                        ? "Content-Encoding: x-gzip\r\n\r\n" : "\r\n");
  if (fault == HTTP_DROP_MIDWAY || fault == HTTP_STALL)
    return ok && send_all (fd, object->data + first, n / 2)
           && fault == HTTP_STALL && wait_for_end (fd);
  if (fault == HTTP_FLIPPED) {
    unsigned long long at = (uint64_t) seed * 2654435761U % n;
    unsigned char byte = (unsigned char) (object->data[first + at]
                                          ^ 1U << seed % 8);
    return ok && send_all (fd, object->data + first, at)
           && send_all (fd, &byte, 1)
           && send_all (fd, object->data + first + at + 1, n - at - 1);
  }
  if (fault == HTTP_LONGER)
    return ok && send_all (fd, object->data + first, n - 1)
           && send_text (fd, "x");
  return ok && send_all (fd, object->data + first, n);
}

static bool
send_whole (int fd, const struct request *request,
            const struct rd_buffer *object, enum http_fault fault)
{
  bool ok = send_text (fd, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n"
                       "ETag: \"%x\"\r\n%s\r\n", object->nbytes,
                       etag_of (object, fault),
                       fault == HTTP_ENCODED ? "Content-Encoding: gzip\r\n"
                                             : "");
  if (request->is_head)
    return ok;
  size_t n = object->nbytes;
  if (fault == HTTP_DROP_MIDWAY || fault == HTTP_STALL)
    return ok && send_all (fd, object->data, n / 2)
           && fault == HTTP_STALL && wait_for_end (fd);
  return ok && send_all (fd, object->data, n);
}

static bool
send_object (struct http_peer *peer, int fd, const struct request *request,
             enum http_fault fault, unsigned seed)
{
  RD_BUFFER_SCOPE struct rd_buffer object = { 0 };
  enum radio_status status = rd_io_read_all (peer->objects, request->key,
                                             SIZE_MAX / 2, &object);
  if (status != RADIO_OK)
    return request->is_head
      ? send_text (fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n")
      : send_status (fd, "404 Not Found");
  if (fault == HTTP_WHOLE_UNTOLD)
    return send_chunked (fd, &object);
  if (request->has_range && fault != HTTP_WHOLE && fault != HTTP_ENCODED)
    return send_part (fd, request, &object, fault, seed);
  return send_whole (fd, request, &object, fault);
}

/*------------------------------------------------------------------------
 * Connections
 *----------------------------------------------------------------------*/

/* Marsaglia's xorshift32 of a hash that is not 0. */
static uint32_t
mix (uint32_t hash)
{
  hash ^= hash << 13;
  hash ^= hash >> 17;
  return hash ^ hash << 5;
}

/* Called with the mutex held. */
static enum http_fault
choose_fault (struct http_peer *peer, const struct request *request)
{
  static const enum http_fault wrong[] = {
    HTTP_WHOLE, HTTP_SHIFTED, HTTP_SHORTER, HTTP_LONGER, HTTP_UNTOLD_RANGE,
    HTTP_OTHER_ETAG, HTTP_OTHER_TOTAL, HTTP_ENCODED,
  };
  const unsigned long long range[] = {
    request->is_suffix, request->first, request->last,
  };
  if (!request->has_range)
    return HTTP_OK;
  uint32_t hash = rd_crc32c (0, request->key, strlen (request->key));
  hash = rd_crc32c (hash, range, sizeof range) | 1;
  struct seen *seen = &peer->seen[hash % MAX_SEEN];
  while (seen->request && seen->request != hash)
    seen = seen + 1 < peer->seen + MAX_SEEN ? seen + 1 : peer->seen;
  seen->request = hash;
  hash = mix (mix ((hash ^ 2654435761U * ++seen->n) | 1));
  unsigned odds = hash % 100;
  bool is_bad = odds < peer->wrong_percent + peer->flipped_percent
                && seen->nbad < MAX_BAD;
  seen->nbad = is_bad ? seen->nbad + 1 : 0;
  seen->was_other = seen->was_other && is_bad;
  if (!is_bad)
    return HTTP_OK;
  if (odds >= peer->wrong_percent)
    return HTTP_FLIPPED;
  enum http_fault fault = wrong[hash / 100
                                % (sizeof wrong / sizeof wrong[0])];
  if (fault != HTTP_OTHER_ETAG && fault != HTTP_OTHER_TOTAL)
    return fault;
  /* Two of them in a row would show that the object was replaced. */
  bool is_second = seen->was_other;
  seen->was_other = true;
  return is_second ? HTTP_SHORTER : fault;
}

static enum http_fault
begin_answer (struct http_peer *peer, const struct request *request,
              unsigned *seed)
{
  enum http_fault fault = HTTP_OK;
  pthread_mutex_lock (&peer->mutex);
  *seed = peer->nrequests++;
  if (peer->wrong_percent + peer->flipped_percent > 0)
    fault = choose_fault (peer, request);
  if (peer->after > 0) {
    peer->after--;
  } else if (peer->times > 0) {
    peer->times--;
    fault = peer->fault;
  }
  pthread_mutex_unlock (&peer->mutex);
  return fault;
}

static void
remember_writer (struct http_peer *peer, const struct request *request)
{
  static const char name[] = "\r\nx-amz-meta-radio-writer: ";
  const char *at = strcasestr (request->text, name);
  if (at)
    snprintf (peer->writer, sizeof peer->writer, "%.*s",
              (int) strcspn (at + strlen (name), "\r"), at + strlen (name));
}

static bool
send_writer (struct http_peer *peer, int fd)
{
  char writer[sizeof peer->writer];
  pthread_mutex_lock (&peer->mutex);
  memcpy (writer, peer->writer, sizeof writer);
  pthread_mutex_unlock (&peer->mutex);
  return send_all (fd, writer, strlen (writer));
}

static bool
wait_for_release (struct http_peer *peer, unsigned n)
{
  pthread_mutex_lock (&peer->mutex);
  while (peer->nreleased < n)
    pthread_cond_wait (&peer->released, &peer->mutex);
  pthread_mutex_unlock (&peer->mutex);
  return true;
}

/* Handles a mark between two '@'. */
static bool
send_marked (struct http_peer *peer, int fd, const char *mark)
{
  static const char hold[] = "@HOLD-";
  if (strncmp (mark, HTTP_PEER_WRITER, strlen (HTTP_PEER_WRITER)) == 0)
    return send_writer (peer, fd);
  if (strncmp (mark, hold, strlen (hold)) == 0)
    return wait_for_release (peer, (unsigned) (mark[strlen (hold)] - '0'));
  return false;
}

static bool
send_saying (struct http_peer *peer, int fd, const char *saying)
{
  const char *at = strchr (saying, '@');
  const char *end = at ? strchr (at + 1, '@') : NULL;
  if (!end)
    return send_all (fd, saying, strlen (saying));
  return send_all (fd, saying, (size_t) (at - saying))
         && send_marked (peer, fd, at)
         && send_saying (peer, fd, end + 1);
}

/* Takes the next scripted answer; false when none is left.  The copy is the
 * caller's (NULL: hang up): the test may free its text as soon as the client
 * has all of it, which is before send () returns here. */
static bool
take_saying (struct http_peer *peer, const struct request *request,
             char **saying)
{
  bool found = false;
  pthread_mutex_lock (&peer->mutex);
  remember_writer (peer, request);
  if (peer->nheard < MAX_HEARD) {
    struct heard *heard = &peer->heard[peer->nheard++];
    heard->head = strdup (request->text);
    if (!heard->head
        || rd_buffer_append (&heard->body, request->body.data,
                             request->body.nbytes) != RADIO_OK)
      err (99, "http peer");
  }
  if (peer->nsaid < peer->nanswers) {
    const char *text = peer->answers[peer->nsaid++];
    *saying = text ? strdup (text) : NULL;
    if (text && !*saying)
      err (99, "http peer");
    peer->nrequests++;
    found = true;
  }
  pthread_mutex_unlock (&peer->mutex);
  return found;
}

static bool
answer (struct http_peer *peer, int fd, struct request *request)
{
  char *saying = NULL;
  parse (peer, request);
  if (take_saying (peer, request, &saying)) {
    bool ok = saying && send_saying (peer, fd, saying);
    free (saying);
    return ok;
  }
  if (!request->is_get && !request->is_head)
    return send_status (fd, "405 Method Not Allowed");
  unsigned seed;
  enum http_fault fault = begin_answer (peer, request, &seed);
  if (fault == HTTP_HELD)
    (void) wait_for_release (peer, 1);
  int sent = send_nothing_of_it (fd, request, fault);
  return sent < 0 ? send_object (peer, fd, request, fault, seed)
                  : sent != 0;
}

static void *
serve (void *data)
{
  struct connection *connection = data;
  struct request *request = calloc (1, sizeof *request);
  if (!request)
    err (99, "http peer");
  while (read_request (connection->fd, request)
         && answer (connection->peer, connection->fd, request))
    continue;
  rd_buffer_free (&request->body);
  free (request);
  pthread_mutex_lock (&connection->peer->mutex);
  close (connection->fd);
  connection->fd = -1;
  pthread_mutex_unlock (&connection->peer->mutex);
  return NULL;
}

static void *
accept_all (void *data)
{
  struct http_peer *peer = data;
  for (int fd; (fd = accept (peer->fd, NULL, NULL)) >= 0;) {
    pthread_mutex_lock (&peer->mutex);
    if (peer->nconnections == MAX_CONNECTIONS)
      errx (99, "http peer: more than %d connections", MAX_CONNECTIONS);
    struct connection *connection
      = &peer->connections[peer->nconnections++];
    *connection = (struct connection) { .peer = peer, .fd = fd };
    /* Answers go out in pieces, none of which is to wait for the client. */
    (void) setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 },
                       sizeof (int));
    if (pthread_create (&connection->thread, NULL, serve, connection) != 0)
      errx (99, "http peer: no thread");
    pthread_mutex_unlock (&peer->mutex);
  }
  return NULL;
}

static void
listen_on_loopback (struct http_peer *peer)
{
  struct sockaddr_in address = {
    .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
  };
  socklen_t n = sizeof address;
  peer->fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (peer->fd < 0
      || bind (peer->fd, (struct sockaddr *) &address, n) != 0
      || listen (peer->fd, 128) != 0
      || getsockname (peer->fd, (struct sockaddr *) &address, &n) != 0)
    err (99, "http peer");
  snprintf (peer->url, sizeof peer->url, "http://127.0.0.1:%u/data",
            (unsigned) ntohs (address.sin_port));
}

struct http_peer *
http_peer_start (struct rd_io *objects)
{
  struct http_peer *peer = calloc (1, sizeof *peer);
  if (!peer)
    err (99, "http peer");
  peer->objects = objects;
  pthread_mutex_init (&peer->mutex, NULL);
  pthread_cond_init (&peer->released, NULL);
  listen_on_loopback (peer);
  if (pthread_create (&peer->thread, NULL, accept_all, peer) != 0)
    errx (99, "http peer: no thread");
  return peer;
}

static void
forget_heard (struct http_peer *peer)
{
  for (size_t i = 0; i < peer->nheard; i++) {
    free (peer->heard[i].head);
    rd_buffer_free (&peer->heard[i].body);
    peer->heard[i] = (struct heard) { 0 };
  }
  peer->nheard = 0;
}

void
http_peer_release (struct http_peer *peer, unsigned n)
{
  pthread_mutex_lock (&peer->mutex);
  peer->nreleased = n;
  pthread_cond_broadcast (&peer->released);
  pthread_mutex_unlock (&peer->mutex);
}

void
http_peer_stop (struct http_peer *peer)
{
  http_peer_release (peer, UINT_MAX);
  shutdown (peer->fd, SHUT_RDWR);
  pthread_join (peer->thread, NULL);
  close (peer->fd);
  for (size_t i = 0; i < peer->nconnections; i++) {
    pthread_mutex_lock (&peer->mutex);
    if (peer->connections[i].fd >= 0)
      shutdown (peer->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock (&peer->mutex);
    pthread_join (peer->connections[i].thread, NULL);
  }
  forget_heard (peer);
  pthread_cond_destroy (&peer->released);
  pthread_mutex_destroy (&peer->mutex);
  free (peer);
}

void
http_peer_say (struct http_peer *peer, const char *const *answers, size_t n)
{
  pthread_mutex_lock (&peer->mutex);
  if (peer->answers != answers || n <= peer->nanswers) {
    forget_heard (peer);
    peer->nsaid = 0;
  }
  peer->answers = answers;
  peer->nanswers = n;
  pthread_mutex_unlock (&peer->mutex);
}

bool
http_peer_has_sent_all (struct http_peer *peer)
{
  pthread_mutex_lock (&peer->mutex);
  bool all = peer->nsaid == peer->nanswers;
  pthread_mutex_unlock (&peer->mutex);
  return all;
}

static const struct heard *
heard_at (struct http_peer *peer, size_t i)
{
  pthread_mutex_lock (&peer->mutex);
  const struct heard *heard = i < peer->nheard ? &peer->heard[i] : NULL;
  pthread_mutex_unlock (&peer->mutex);
  return heard;
}

const char *
http_peer_head (struct http_peer *peer, size_t i)
{
  const struct heard *heard = heard_at (peer, i);
  return heard ? heard->head : NULL;
}

const struct rd_buffer *
http_peer_body (struct http_peer *peer, size_t i)
{
  const struct heard *heard = heard_at (peer, i);
  return heard ? &heard->body : NULL;
}

const char *
http_peer_url (const struct http_peer *peer)
{
  return peer->url;
}

void
http_peer_script (struct http_peer *peer, enum http_fault fault,
                  unsigned after, unsigned times)
{
  pthread_mutex_lock (&peer->mutex);
  peer->fault = fault;
  peer->after = after;
  peer->times = times;
  pthread_mutex_unlock (&peer->mutex);
}

void
http_peer_set_odds (struct http_peer *peer, unsigned wrong_percent,
                    unsigned flipped_percent)
{
  pthread_mutex_lock (&peer->mutex);
  peer->wrong_percent = wrong_percent;
  peer->flipped_percent = flipped_percent;
  pthread_mutex_unlock (&peer->mutex);
}

unsigned
http_peer_requests (struct http_peer *peer)
{
  pthread_mutex_lock (&peer->mutex);
  unsigned n = peer->nrequests;
  pthread_mutex_unlock (&peer->mutex);
  return n;
}

unsigned
http_peer_connections (struct http_peer *peer)
{
  pthread_mutex_lock (&peer->mutex);
  unsigned n = (unsigned) peer->nconnections;
  pthread_mutex_unlock (&peer->mutex);
  return n;
}

unsigned
http_peer_open_connections (struct http_peer *peer)
{
  unsigned n = 0;
  pthread_mutex_lock (&peer->mutex);
  for (size_t i = 0; i < peer->nconnections; i++)
    n += peer->connections[i].fd >= 0;
  pthread_mutex_unlock (&peer->mutex);
  return n;
}

void
http_peer_hang_up (struct http_peer *peer)
{
  pthread_mutex_lock (&peer->mutex);
  for (size_t i = 0; i < peer->nconnections; i++)
    if (peer->connections[i].fd >= 0)
      shutdown (peer->connections[i].fd, SHUT_RDWR);
  pthread_mutex_unlock (&peer->mutex);
}

const char *
http_peer_path (struct http_peer *peer)
{
  return peer->path;
}
