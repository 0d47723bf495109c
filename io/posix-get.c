/* SPDX-License-Identifier: MIT */
/* Reads of the posix store.  By pread only: a mapped file that shrinks
 * kills the process that reads it. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "io/key.h"
#include "io/posix.h"
#include "io/range.h"

/* Read a span into an empty buffer.  A file that shrank since its size was
 * asked ends early. */
static enum radio_status
read_span (const struct rd_posix *posix, int fd, const char *key,
           const struct rd_span *span, struct rd_buffer *into)
{
  RD_TRY (rd_buffer_reserve (into, span->nbytes));
  while (into->nbytes < span->nbytes) {
    ssize_t n = pread (fd, into->data + into->nbytes,
                       span->nbytes - into->nbytes,
                       (off_t) (span->offset + into->nbytes));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return rd_posix_fail (posix, key, "read");
    if (n == 0)
      break;
    into->nbytes += (size_t) n;
  }
  return RADIO_OK;
}

/* One read, from the file *fd if that is open already. */
static enum radio_status
get_one (const struct rd_posix *posix, int *fd, struct rd_io_get *get)
{
  RD_TRY (rd_key_check (&posix->base, get->key));
  if (*fd < 0)
    /* O_NONBLOCK, since a pipe of that name must not stop us. */
    *fd = openat (posix->root_fd, get->key,
                  O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (*fd < 0)
    return rd_posix_fail (posix, get->key, "open");
  struct stat st;
  if (fstat (*fd, &st) < 0)
    return rd_posix_fail (posix, get->key, "find the size");
  RD_TRY (rd_posix_check_file (posix, get->key, &st));
  struct rd_span span;
  RD_TRY (rd_range_resolve (&posix->base, get, (uint64_t) st.st_size,
                            &span));
  get->into->nbytes = 0;
  return read_span (posix, *fd, get->key, &span, get->into);
}

void
rd_posix_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  int fd = -1;
  for (size_t i = 0; i < n; i++) {
    /* Asked before done, which may release the key. */
    bool is_same = i + 1 < n && strcmp (gets[i].key, gets[i + 1].key) == 0;
    enum radio_status status
      = get_one ((const struct rd_posix *) io, &fd, &gets[i]);
    if (!is_same && fd >= 0) {
      close (fd);
      fd = -1;
    }
    rd_get_finish (&gets[i], status);
  }
}
