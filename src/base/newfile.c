/* SPDX-License-Identifier: MIT */
/* Atomic files with the library's errors. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "src/base/atomic-file.h"
#include "src/base/error.h"
#include "src/base/newfile.h"

/* Some systems refuse a single write of 2 GiB or more. */
#define WRITE_MAX_NBYTES ((size_t) 1 << 30)

struct rd_newfile {
  char *file;                 /* as messages name it */
  struct rd_atomic_file atomic;
};

static enum radio_status
report (const struct rd_newfile *newfile, enum rd_atomic_failure failure)
{
  int errnum = newfile->atomic.errnum;
  const char *file = newfile->file;
  switch (failure) {
  case RD_ATOMIC_OK:
    return RADIO_OK;
  case RD_ATOMIC_EXISTS:
    return rd_fail (RADIO_ERROR_EXISTS, "%s: exists already", file);
  case RD_ATOMIC_NOT_REGULAR:
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: is not a regular file, and is not replaced", file);
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
rd_newfile_open (const char *file, bool overwrite, mode_t mode,
                 struct rd_newfile **result)
{
  RD_CLEANUP (rd_cleanup_newfile) struct rd_newfile *newfile
    = rd_calloc (1, sizeof *newfile);
  if (newfile == NULL)
    return rd_fail_memory (sizeof *newfile);
  newfile->atomic.fd = -1;
  newfile->file = rd_strdup (file);
  if (newfile->file == NULL)
    return rd_fail_memory (strlen (file));
  RD_TRY (report (newfile, rd_atomic_open (&newfile->atomic, file, overwrite,
                                           mode)));
  *result = RD_STEAL (newfile);
  return RADIO_OK;
}

enum radio_status
rd_newfile_write (struct rd_newfile *newfile, const void *data, size_t nbytes)
{
  const unsigned char *p = data;
  while (nbytes > 0) {
    size_t n = nbytes < WRITE_MAX_NBYTES ? nbytes : WRITE_MAX_NBYTES;
    ssize_t written = write (newfile->atomic.fd, p, n);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return rd_fail_errno (errno, "%s: cannot write", newfile->file);
    p += written;
    nbytes -= (size_t) written;
  }
  return RADIO_OK;
}

enum radio_status
rd_newfile_commit (struct rd_newfile *newfile)
{
  enum radio_status status
    = report (newfile, rd_atomic_commit (&newfile->atomic));
  rd_newfile_abort (newfile);
  return status;
}

void
rd_newfile_abort (struct rd_newfile *newfile)
{
  if (newfile == NULL)
    return;
  rd_atomic_abort (&newfile->atomic);
  rd_free (newfile->file);
  rd_free (newfile);
}
