/* SPDX-License-Identifier: MIT */
/* Preconnecting: connections that are opened before a request needs them.  A
 * cold read requests one document, then the indexes of a few shards, then
 * many ranges at one time, and each time waits for a round trip until there
 * are connections enough.  So when the first connection is used, a few more
 * sockets are connected to the same address, whose round trip overlaps with
 * the first response; libcurl gets one of them where it would open one of its
 * own.
 *
 * It is only an optimisation: a socket that is not connected by then, that
 * was closed since, or that received unexpected data, is not used; unused
 * ones are closed after a few seconds, before servers time out. */
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

/* The pause between two rounds, for servers that keep no connection. */
#define AGAIN_NS (UINT64_C (30) * 1000000000)

/* libcurl 7.88 calls connect() also for a socket reported to it as
 * connected.  Linux lets that succeed once, other systems never do. */
void
rd_http_preconnect_init (struct rd_http_preconnect *preconnect, unsigned max,
                         uint64_t idle_ms)
{
  bool is_possible = true;
#ifndef __linux__
  unsigned number = curl_version_info (CURLVERSION_NOW)->version_num;
  is_possible = number < 0x075800 || number >= 0x080000;
#endif
  *preconnect = (struct rd_http_preconnect) {
    .idle_ns = idle_ms * 1000000,
  };
  if (is_possible)
    preconnect->max = max < RD_HTTP_MAX_PRECONNECT ? max
                                                   : RD_HTTP_MAX_PRECONNECT;
}

/*------------------------------------------------------------------------
 * Addresses
 *----------------------------------------------------------------------*/

/* Returns 0 unless it is an IP address. */
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

enum readiness { CONNECTING, READY, DEAD };

static enum readiness
probe (int fd)
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

/* Keeps the order of the others, in which a sequential server accepts them. */
static int
remove_at (struct rd_http_preconnect *preconnect, unsigned i)
{
  int fd = preconnect->fds[i];
  preconnect->n--;
  memmove (&preconnect->fds[i], &preconnect->fds[i + 1],
           (preconnect->n - i) * sizeof *preconnect->fds);
  return fd;
}

/* A socket that is connected at once, as only local ones can be, is not kept:
 * libcurl 7.88 would fail to connect it again.  All are closed on exec. */
void
rd_http_preconnect_begin (struct rd_http_preconnect *preconnect,
                          const char *address, int port)
{
  uint64_t now_ns = rd_now_ns ();
  struct sockaddr_storage *to = &preconnect->to;
  if (preconnect->n > 0 || preconnect->max == 0
      || (preconnect->begin_ns > 0
          && now_ns - preconnect->begin_ns < AGAIN_NS))
    return;
  socklen_t nbytes = parse_address (address, port, to);
  preconnect->begin_ns = now_ns;
  while (nbytes > 0 && preconnect->n < preconnect->max) {
#ifdef SOCK_CLOEXEC
    int fd = socket (to->ss_family,
                     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
#else
    int fd = socket (to->ss_family, SOCK_STREAM, IPPROTO_TCP);
    if (fd >= 0) {
      (void) fcntl (fd, F_SETFD, FD_CLOEXEC);
      (void) fcntl (fd, F_SETFL, O_NONBLOCK);
    }
#endif
    if (fd < 0)
      return;
    if (connect (fd, (const struct sockaddr *) to, nbytes) == 0
        || errno != EINPROGRESS) {
      close (fd);
      return;
    }
    preconnect->fds[preconnect->n++] = fd;
  }
}

int
rd_http_preconnect_take (struct rd_http_preconnect *preconnect,
                         const struct sockaddr *to)
{
  for (unsigned i = 0;
       i < preconnect->n && is_same_address (&preconnect->to, to);)
    switch (probe (preconnect->fds[i])) {
    case READY:
      return remove_at (preconnect, i);
    case DEAD:
      close (remove_at (preconnect, i));
      break;
    default:
      i++;
    }
  return -1;
}

uint64_t
rd_http_preconnect_left_ns (const struct rd_http_preconnect *preconnect,
                            uint64_t now_ns)
{
  uint64_t idle_ns = now_ns - preconnect->begin_ns;
  if (preconnect->n == 0)
    return UINT64_MAX;
  return idle_ns < preconnect->idle_ns ? preconnect->idle_ns - idle_ns : 0;
}

void
rd_http_preconnect_close (struct rd_http_preconnect *preconnect)
{
  while (preconnect->n > 0)
    close (preconnect->fds[--preconnect->n]);
}
