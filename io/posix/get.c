/* SPDX-License-Identifier: MIT */
/* Reads of the posix store.  By pread and its like only: a mapped file that
 * shrinks kills the process that reads it. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>

#include "profiler/counters.h"
#include "io/key.h"
#include "io/posix/posix.h"
#include "io/range.h"

/* Copying so much from the page cache may take so long that profiles would
 * have to ask whether it was waited for. */
#define LONG_NBYTES ((size_t) 32 << 10)

/* As pread, for profiles: first what need not be waited for, so that a read
 * which then waits can say so.  What is wrong otherwise pread tells, and
 * where the file ends: some kernels (5.9, 5.10) say 0 for "not now" too. */
static ssize_t
read_and_tell (int fd, unsigned char *to, size_t nbytes, uint64_t offset)
{
#ifdef RWF_NOWAIT
  const struct iovec part = { to, nbytes };
  ssize_t n = preadv2 (fd, &part, 1, (off_t) offset, RWF_NOWAIT);
  if (n > 0) {
    rd_scope_ran ();
    return n;
  }
#endif
  rd_scope_blocks ();
  return pread (fd, to, nbytes, (off_t) offset);
}

static ssize_t
read_at (int fd, unsigned char *to, size_t nbytes, uint64_t offset)
{
  if (nbytes >= LONG_NBYTES && radio_profile_is_on ())
    return read_and_tell (fd, to, nbytes, offset);
  return pread (fd, to, nbytes, (off_t) offset);
}

/* Read a span into an empty buffer.  A file that shrank since its size was
 * asked ends early. */
static enum radio_status
read_span (const struct rd_posix *posix, int fd, const char *key,
           const struct rd_span *span, struct rd_buffer *into)
{
  RD_TRY (rd_buffer_reserve (into, span->nbytes));
  while (into->nbytes < span->nbytes) {
    ssize_t n = read_at (fd, into->data + into->nbytes,
                         span->nbytes - into->nbytes,
                         span->offset + into->nbytes);
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

int
rd_posix_openat (const struct rd_posix *posix, const char *path, int flags)
{
  int fd;
  do
    fd = openat (posix->root_fd, path, flags | O_CLOEXEC, 0666);
  while (fd < 0 && (errno == EMFILE || errno == ENFILE)
         && rd_posix_files_yield (posix->files));
  return fd;
}

/* The size of an open object. */
static enum radio_status
find_size (const struct rd_posix *posix, const char *key, int fd,
           uint64_t *nbytes)
{
  struct stat st;
  if (fstat (fd, &st) < 0)
    return rd_posix_fail (posix, key, "find the size");
  RD_TRY (rd_posix_check_file (posix, key, &st));
  *nbytes = (uint64_t) st.st_size;
  return RADIO_OK;
}

enum radio_status
rd_posix_open_object (const struct rd_posix *posix, const char *key,
                      int *result, uint64_t *nbytes)
{
  RD_TRY (rd_key_check (&posix->base, key));
  /* O_NONBLOCK, since a pipe of that name must not stop us. */
  RD_CLOSE_FD int fd = rd_posix_openat (posix, key, O_RDONLY | O_NOCTTY
                                                    | O_NONBLOCK);
  if (fd < 0)
    return rd_posix_fail (posix, key, "open");
  RD_TRY (find_size (posix, key, fd, nbytes));
  *result = fd;
  fd = -1;
  return RADIO_OK;
}

/* A file that several reads in turn may be of. */
struct open_file {
  int fd;                     /* -1: none is open */
  uint64_t nbytes;
};

/* One read: of what is held, or of the file that the read before was of and
 * that this one leaves open. */
static enum radio_status
get_one (const struct rd_posix *posix, struct open_file *file,
         struct rd_io_get *get)
{
  const struct rd_io_file *held = get->file;
  if (!held && file->fd < 0) {
    rd_scope_blocks ();
    RD_TRY (rd_posix_open_object (posix, get->key, &file->fd,
                                  &file->nbytes));
  }
  struct rd_span span;
  RD_TRY (rd_range_resolve (&posix->base, get,
                            held ? held->nbytes : file->nbytes, &span));
  get->into->nbytes = 0;
  return read_span (posix, held ? held->fd : file->fd, get->key, &span,
                    get->into);
}

void
rd_posix_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct open_file file = { .fd = -1 };
  for (size_t i = 0; i < n; i++) {
    /* Asked before done, which may release the key. */
    bool is_same = i + 1 < n && strcmp (gets[i].key, gets[i + 1].key) == 0;
    enum radio_status status
      = get_one ((const struct rd_posix *) io, &file, &gets[i]);
    if (!is_same && file.fd >= 0) {
      close (file.fd);
      file.fd = -1;
    }
    rd_get_finish (&gets[i], status);
  }
}
