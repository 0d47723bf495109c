/* SPDX-License-Identifier: MIT */
/* Whole files, and atomic ones, with the library's errors. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/atomic-file.h"
#include "src/base/error.h"
#include "src/base/whole-file.h"

/* Some systems refuse a single write of 2 GiB or more. */
#define WRITE_MAX_NBYTES ((size_t) 1 << 30)

/* The first bytes of a file that room is made for. */
#define READ_NBYTES ((size_t) 16 << 10)

enum radio_status
rd_whole_file_read (const char *file, size_t max_nbytes,
                    struct rd_buffer *into)
{
  RD_CLOSE_FD int fd = open (file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return rd_fail_errno (errno, "%s", file);
  into->nbytes = 0;
  /* One byte more than is accepted, to detect a larger file. */
  while (into->nbytes <= max_nbytes) {
    size_t most = into->nbytes < READ_NBYTES ? READ_NBYTES : 2 * into->nbytes;
    if (into->nbytes + 1 >= into->capacity)
      RD_TRY (rd_buffer_reserve (into, most < max_nbytes + 1
                                       ? most : max_nbytes + 1));
    ssize_t n = read (fd, into->data + into->nbytes,
                      into->capacity - into->nbytes);
    if (n == 0)
      break;
    if (n < 0 && errno != EINTR)
      return rd_fail_errno (errno, "%s", file);
    into->nbytes += n < 0 ? 0 : (size_t) n;
  }
  if (into->nbytes > max_nbytes)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %zu bytes", file,
                    max_nbytes);
  into->data[into->nbytes] = '\0';
  return RADIO_OK;
}

struct rd_whole_file {
  char *file;                 /* as messages name it */
  struct rd_atomic_file atomic;
};

static enum radio_status
report (const struct rd_whole_file *whole, enum rd_atomic_failure failure)
{
  int errnum = whole->atomic.errnum;
  const char *file = whole->file;
  switch (failure) {
  case RD_ATOMIC_OK:
    return RADIO_OK;
  case RD_ATOMIC_EXISTS:
    return rd_fail (RADIO_ERROR_EXISTS, "%s: exists already", file);
  case RD_ATOMIC_NOT_REGULAR:
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: not a regular file, so not replaced", file);
  case RD_ATOMIC_CREATE:
    return rd_fail_errno (errnum, "%s: cannot make a file in its folder",
                          file);
  case RD_ATOMIC_KEEP_MODE:
    return rd_fail_errno (errnum, "%s: cannot keep its permissions", file);
  case RD_ATOMIC_WRITE:
    return rd_fail_errno (errnum, "%s: cannot write", file);
  case RD_ATOMIC_RENAME:
    return rd_fail_errno (errnum, "%s: cannot rename", file);
  case RD_ATOMIC_SYNC_FOLDER:
    return rd_fail_errno (errnum, "%s: cannot sync its folder", file);
  default:
    return rd_fail_errno (errnum, "%s", file);
  }
}

enum radio_status
rd_whole_file_open (const char *file, bool overwrite, mode_t mode,
                    struct rd_whole_file **result)
{
  RD_CLEANUP (rd_cleanup_whole_file) struct rd_whole_file *whole
    = rd_calloc (1, sizeof *whole);
  if (whole == NULL)
    return rd_fail_memory (sizeof *whole);
  whole->atomic.fd = -1;
  whole->file = rd_strdup (file);
  if (whole->file == NULL)
    return rd_fail_memory (strlen (file));
  RD_TRY (report (whole, rd_atomic_open (&whole->atomic, file, overwrite,
                                         mode)));
  *result = RD_STEAL (whole);
  return RADIO_OK;
}

enum radio_status
rd_whole_file_write (struct rd_whole_file *whole, const void *data,
                     size_t nbytes)
{
  const unsigned char *p = data;
  while (nbytes > 0) {
    size_t n = nbytes < WRITE_MAX_NBYTES ? nbytes : WRITE_MAX_NBYTES;
    ssize_t written = write (whole->atomic.fd, p, n);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return rd_fail_errno (errno, "%s: cannot write", whole->file);
    p += written;
    nbytes -= (size_t) written;
  }
  return RADIO_OK;
}

enum radio_status
rd_whole_file_commit (struct rd_whole_file *whole, radio_warning_fn *warning,
                      void *user_data)
{
  char line[RD_ERROR_NBYTES];
  enum radio_status status
    = report (whole, rd_atomic_commit (&whole->atomic));
  if (whole->atomic.leftover && warning) {
    snprintf (line, sizeof line, RD_LEFTOVER_FORMAT, whole->file,
              whole->atomic.leftover);
    warning (line, user_data);
  }
  rd_atomic_free_leftover (&whole->atomic);
  rd_whole_file_abort (whole);
  return status;
}

void
rd_whole_file_abort (struct rd_whole_file *whole)
{
  if (whole == NULL)
    return;
  rd_atomic_abort (&whole->atomic);
  rd_free (whole->file);
  rd_free (whole);
}
