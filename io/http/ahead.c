/* SPDX-License-Identifier: MIT */
/* Connections that are opened before a request needs them.  A cold read asks
 * for one document, then for the indexes of a few shards, then for many
 * ranges at one time, and each time waits for a trip until there are
 * connections enough.  So when the first one of them is used, a few more
 * sockets are connected to the very same address, which take their trip
 * while the first answer is awaited; libcurl gets one of them where it would
 * open one of its own.
 *
 * It is only an aid: one that is not connected by then, that was closed
 * since, or on which something came that nobody asked for, is not used; what
 * nobody used after a few seconds is closed, sooner than servers lose their
 * patience. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/http/engine.h"

/* How long they are kept. */
#define IDLE_NS (UINT64_C (3) * 1000000000)

/* A server that keeps no connection gets no more of them before. */
#define AGAIN_NS (UINT64_C (30) * 1000000000)

/* libcurl 7.88 calls connect() also for a socket that it was told is
 * connected.  Linux answers that once with success, others never do. */
static bool
is_possible (void)
{
#ifdef __linux__
  return true;
#else
  unsigned number = curl_version_info (CURLVERSION_NOW)->version_num;
  return number < 0x075800 || number >= 0x080000;
#endif
}

void
rd_http_ahead_init (struct rd_http_ahead *ahead, unsigned most)
{
  *ahead = (struct rd_http_ahead) { 0 };
  if (is_possible ())
    ahead->most = most < RD_HTTP_MAX_AHEAD ? most : RD_HTTP_MAX_AHEAD;
}

/*------------------------------------------------------------------------
 * Addresses
 *----------------------------------------------------------------------*/

/* 0: it is none of the Internet's. */
static socklen_t
parse_address (const char *text, int port, struct sockaddr_storage *to)
{
  struct sockaddr_in *to4 = (struct sockaddr_in *) to;
  struct sockaddr_in6 *to6 = (struct sockaddr_in6 *) to;
  memset (to, 0, sizeof *to);
  if (inet_pton (AF_INET, text, &to4->sin_addr) == 1) {
    to4->sin_family = AF_INET;
    to4->sin_port = htons ((uint16_t) port);
    return sizeof *to4;
  }
  if (inet_pton (AF_INET6, text, &to6->sin6_addr) == 1) {
    to6->sin6_family = AF_INET6;
    to6->sin6_port = htons ((uint16_t) port);
    return sizeof *to6;
  }
  return 0;
}

static bool
is_same_address (const struct sockaddr_storage *one,
                 const struct sockaddr *other)
{
  const struct sockaddr_in *a4 = (const void *) one, *b4 = (const void *) other;
  const struct sockaddr_in6 *a6 = (const void *) one;
  const struct sockaddr_in6 *b6 = (const void *) other;
  if (one->ss_family != other->sa_family)
    return false;
  if (other->sa_family == AF_INET)
    return a4->sin_port == b4->sin_port
           && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
  return a6->sin6_port == b6->sin6_port
         && a6->sin6_scope_id == b6->sin6_scope_id
         && memcmp (&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr) == 0;
}

/*------------------------------------------------------------------------
 * Sockets
 *----------------------------------------------------------------------*/

/* Not for children of the program. */
static int
make_socket (int family)
{
#ifdef SOCK_CLOEXEC
  return socket (family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                 IPPROTO_TCP);
#else
  int fd = socket (family, SOCK_STREAM, IPPROTO_TCP);
  if (fd >= 0) {
    (void) fcntl (fd, F_SETFD, FD_CLOEXEC);
    (void) fcntl (fd, F_SETFL, O_NONBLOCK);
  }
  return fd;
#endif
}

/* -1: it cannot be, or it is connected at once, as only what is on this
 * machine could be: libcurl 7.88 would fail to connect it once more. */
static int
begin_connecting (const struct sockaddr_storage *to, socklen_t nbytes)
{
  int fd = make_socket (to->ss_family);
  if (fd < 0)
    return -1;
  if (connect (fd, (const struct sockaddr *) to, nbytes) < 0
      && errno == EINPROGRESS)
    return fd;
  close (fd);
  return -1;
}

enum readiness { CONNECTING, READY, DEAD };

static enum readiness
look_at (int fd)
{
  char byte;
  int errnum = 0;
  socklen_t nbytes = sizeof errnum;
  struct pollfd polled = { .fd = fd, .events = POLLOUT };
  if (poll (&polled, 1, 0) == 0)
    return CONNECTING;
  if (polled.revents != POLLOUT
      || getsockopt (fd, SOL_SOCKET, SO_ERROR, &errnum, &nbytes) < 0
      || errnum != 0)
    return DEAD;
  ssize_t n = recv (fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? READY : DEAD;
}

/* The others keep their order, in which a server that takes one after the
 * other accepts them. */
static int
remove_at (struct rd_http_ahead *ahead, unsigned i)
{
  int fd = ahead->fds[i];
  ahead->n--;
  memmove (&ahead->fds[i], &ahead->fds[i + 1],
           (ahead->n - i) * sizeof *ahead->fds);
  return fd;
}

/*------------------------------------------------------------------------
 * All of them
 *----------------------------------------------------------------------*/

void
rd_http_ahead_begin (struct rd_http_ahead *ahead, const char *address,
                     int port)
{
  uint64_t now_ns = rd_http_now ();
  if (ahead->n > 0 || ahead->most == 0
      || (ahead->begin_ns > 0 && now_ns - ahead->begin_ns < AGAIN_NS))
    return;
  socklen_t nbytes = parse_address (address, port, &ahead->to);
  ahead->begin_ns = now_ns;
  while (nbytes > 0 && ahead->n < ahead->most) {
    int fd = begin_connecting (&ahead->to, nbytes);
    if (fd < 0)
      return;
    ahead->fds[ahead->n++] = fd;
  }
}

int
rd_http_ahead_take (struct rd_http_ahead *ahead, const struct sockaddr *to)
{
  for (unsigned i = 0; i < ahead->n && is_same_address (&ahead->to, to);)
    switch (look_at (ahead->fds[i])) {
    case READY:
      return remove_at (ahead, i);
    case DEAD:
      close (remove_at (ahead, i));
      break;
    default:
      i++;
    }
  return -1;
}

uint64_t
rd_http_ahead_left_ns (const struct rd_http_ahead *ahead, uint64_t now_ns)
{
  uint64_t idle_ns = now_ns - ahead->begin_ns;
  if (ahead->n == 0)
    return UINT64_MAX;
  return idle_ns < IDLE_NS ? IDLE_NS - idle_ns : 0;
}

void
rd_http_ahead_end (struct rd_http_ahead *ahead)
{
  while (ahead->n > 0)
    close (ahead->fds[--ahead->n]);
}
