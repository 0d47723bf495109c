/* SPDX-License-Identifier: MIT */
/* Atomic files (src/base/atomic-file.h) with the command's messages. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/new-file.h"

static int
refuse_existing (const char *name)
{
  return rd_error ("%s: exists already (replace it by --overwrite)", name);
}

static int
refuse_kind (const char *name)
{
  struct stat st;
  return rd_error (stat (name, &st) == 0 && S_ISDIR (st.st_mode)
                   ? "%s: is a folder"
                   : "%s: is not a regular file, and is not replaced",
                   name);
}

int
rd_new_file_check (const char *name, bool overwrite)
{
  struct stat st;
  if (!overwrite && lstat (name, &st) == 0)
    return refuse_existing (name);
  if (stat (name, &st) == 0 && !S_ISREG (st.st_mode))
    return refuse_kind (name);
  RD_FREE char *copy = rd_format ("%s", name);
  if (copy == NULL)
    return RD_EXIT_FAILED;
  const char *folder = dirname (copy);
  if (access (folder, W_OK | X_OK) != 0)
    return rd_error ("%s: cannot be written: %s: %s", name, folder,
                     strerror (errno));
  return RD_EXIT_OK;
}

int
rd_new_file_open (struct rd_new_file *file)
{
  switch (rd_atomic_open (&file->atomic, file->name, file->overwrite, 0666)) {
  case RD_ATOMIC_OK:
    break;
  case RD_ATOMIC_EXISTS:
    return refuse_existing (file->name);
  case RD_ATOMIC_NOT_REGULAR:
    return refuse_kind (file->name);
  default:
    return rd_error ("%s: cannot be written: %s", file->name,
                     strerror (file->atomic.errnum));
  }
  /* The stream has a descriptor of its own, to be closed before the file is
   * put in its place. */
  int fd = fcntl (file->atomic.fd, F_DUPFD_CLOEXEC, 0);
  file->stream = fd < 0 ? NULL : fdopen (fd, "wb");
  if (file->stream)
    return RD_EXIT_OK;
  int errnum = errno;
  if (fd >= 0)
    close (fd);
  rd_atomic_abort (&file->atomic);
  return rd_error ("%s: cannot be written: %s", file->name,
                   strerror (errnum));
}

int
rd_new_file_end (struct rd_new_file *file, int errnum)
{
  errno = 0;
  bool written = !ferror (file->stream) && fflush (file->stream) == 0;
  if (errnum == 0 && !written)
    errnum = errno ? errno : EIO;
  if (fclose (file->stream) != 0 && errnum == 0)
    errnum = errno;
  if (errnum) {
    rd_atomic_abort (&file->atomic);
    return rd_error ("%s: %s", file->name, strerror (errnum));
  }
  switch (rd_atomic_commit (&file->atomic)) {
  case RD_ATOMIC_OK:
    return RD_EXIT_OK;
  case RD_ATOMIC_EXISTS:
    return refuse_existing (file->name);
  default:
    return rd_error ("%s: %s", file->name, strerror (file->atomic.errnum));
  }
}
