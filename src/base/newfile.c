/* SPDX-License-Identifier: MIT */
/* Files that appear whole: a temporary file beside the target, which commit
 * renames. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>     /* getentropy of macOS; else in unistd.h */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/error.h"
#include "src/base/newfile.h"

/* Some systems refuse a single write of 2 GiB or more. */
#define WRITE_MAX_NBYTES ((size_t) 1 << 30)

/* Random names that are tried; one is enough unless someone cheats. */
#define NAME_TRIES 16

struct rd_newfile {
  char *file;                 /* as messages name it */
  char *target;               /* the same, links resolved; of malloc */
  char *temporary;            /* NULL when none is to be removed */
  int fd;
  mode_t mode;                /* less the process's umask */
  bool overwrite;
  bool replaces;              /* there is a file, whose mode is kept: */
  mode_t kept_mode;
};

enum radio_status
rd_newfile_write (struct rd_newfile *newfile, const void *data, size_t nbytes)
{
  const unsigned char *p = data;
  while (nbytes > 0) {
    size_t n = nbytes < WRITE_MAX_NBYTES ? nbytes : WRITE_MAX_NBYTES;
    ssize_t written = write (newfile->fd, p, n);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return rd_fail_errno (errno, "%s: cannot write", newfile->file);
    p += written;
    nbytes -= (size_t) written;
  }
  return RADIO_OK;
}

/* Checks an existing file of that name, and resolves links. */
static enum radio_status
resolve_target (struct rd_newfile *newfile)
{
  struct stat st;
  const char *file = newfile->file;
  bool exists = lstat (file, &st) == 0;
  if (!exists && errno != ENOENT)
    return rd_fail_errno (errno, "%s", file);
  if (exists && !newfile->overwrite)
    return rd_fail (RADIO_ERROR_EXISTS, "%s: exists already", file);
  if (exists && stat (file, &st) != 0)
    return rd_fail_errno (errno, "%s", file);
  if (exists && !S_ISREG (st.st_mode))
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: is not a regular file, and is not replaced", file);
  newfile->replaces = exists;
  newfile->kept_mode = exists ? st.st_mode & 0777 : 0;
  newfile->target = exists ? realpath (file, NULL) : strdup (file);
  if (newfile->target == NULL)
    return rd_fail_errno (errno, "%s", file);
  return RADIO_OK;
}

/* The bytes of a path up to and with its last slash. */
static size_t
folder_nbytes (const char *path)
{
  const char *slash = strrchr (path, '/');
  return slash ? (size_t) (slash - path) + 1 : 0;
}

/* Make "FOLDER/.radio-NUMBER.tmp", which does not repeat the target's name
 * since that may be as long as names can be. */
static enum radio_status
open_temporary (struct rd_newfile *newfile)
{
  size_t folder = folder_nbytes (newfile->target);
  size_t room = folder + sizeof ".radio-0123456789abcdef.tmp";
  char *path = rd_malloc (room);
  if (path == NULL)
    return rd_fail_memory (room);
  memcpy (path, newfile->target, folder);
  for (int try = 0; try < NAME_TRIES && newfile->fd < 0; try++) {
    uint64_t number;
    if (getentropy (&number, sizeof number) != 0) {
      struct timespec now;
      clock_gettime (CLOCK_MONOTONIC, &now);
      number = (uint64_t) now.tv_nsec << 32 ^ (uint64_t) now.tv_sec
               ^ (uint64_t) getpid () << 20;
    }
    snprintf (path + folder, room - folder, ".radio-%016" PRIx64 ".tmp",
              number);
    newfile->fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        newfile->mode);
    if (newfile->fd < 0 && errno != EEXIST)
      break;
  }
  if (newfile->fd >= 0) {
    newfile->temporary = path;
    return RADIO_OK;
  }
  int errnum = errno;
  rd_free (path);
  return rd_fail_errno (errnum, "%s: cannot make a file in its folder",
                        newfile->file);
}

enum radio_status
rd_newfile_open (const char *file, bool overwrite, mode_t mode,
                 struct rd_newfile **result)
{
  RD_CLEANUP (rd_cleanup_newfile) struct rd_newfile *newfile
    = rd_calloc (1, sizeof *newfile);
  if (newfile == NULL)
    return rd_fail_memory (sizeof *newfile);
  newfile->fd = -1;
  newfile->overwrite = overwrite;
  newfile->mode = mode;
  newfile->file = rd_strdup (file);
  if (newfile->file == NULL)
    return rd_fail_memory (strlen (file));
  RD_TRY (resolve_target (newfile));
  RD_TRY (open_temporary (newfile));
  /* The file is still empty, so no one can read its content. */
  if (newfile->replaces && fchmod (newfile->fd, newfile->kept_mode) != 0)
    return rd_fail_errno (errno, "%s: cannot keep its permissions", file);
  *result = RD_STEAL (newfile);
  return RADIO_OK;
}

/* rename, but never over an existing file: link fails when there is one. */
static int
rename_if_absent (const char *from, const char *to)
{
  if (link (from, to) == 0) {
    unlink (from);
    return 0;
  }
  if (errno == EEXIST)
    return -1;
  /* File systems without hard links: hold the name by an empty file, which
   * only one of several writers can make, and replace that. */
  int fd = open (to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0)
    return -1;
  close (fd);
  if (rename (from, to) == 0)
    return 0;
  int errnum = errno;
  unlink (to);
  errno = errnum;
  return -1;
}

/* The folder that the target stands in; NULL without memory. */
static char *
target_folder (const struct rd_newfile *newfile)
{
  size_t n = folder_nbytes (newfile->target);
  char *folder = n ? rd_strndup (newfile->target, n) : rd_strdup (".");
  if (folder == NULL)
    rd_fail_memory (n + 1);
  return folder;
}

/* Make the new name itself durable. */
static enum radio_status
sync_folder (const struct rd_newfile *newfile, const char *folder)
{
  RD_CLOSE_FD int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  /* A folder that may be written but not read cannot be synced, and some
   * file systems do not know how. */
  if (fd < 0 || fsync (fd) == 0 || errno == EINVAL || errno == ENOTSUP)
    return RADIO_OK;
  return rd_fail_errno (errno, "%s: cannot sync its folder", newfile->file);
}

/* Allocates before the file appears: when that fails there is no file. */
static enum radio_status
publish (struct rd_newfile *newfile)
{
  RD_FREE char *folder = target_folder (newfile);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  /* Some file systems report a full disk only when the file is closed. */
  int fd = newfile->fd;
  bool failed = fsync (fd) != 0;
  if (!failed) {
    newfile->fd = -1;
    failed = close (fd) != 0;
  }
  if (failed)
    return rd_fail_errno (errno, "%s: cannot write", newfile->file);
  failed = newfile->overwrite
    ? rename (newfile->temporary, newfile->target) != 0
    : rename_if_absent (newfile->temporary, newfile->target) != 0;
  if (failed && errno == EEXIST)
    return rd_fail (RADIO_ERROR_EXISTS, "%s: exists already", newfile->file);
  if (failed)
    return rd_fail_errno (errno, "%s: cannot rename", newfile->file);
  rd_free (RD_STEAL (newfile->temporary));
  return sync_folder (newfile, folder);
}

enum radio_status
rd_newfile_commit (struct rd_newfile *newfile)
{
  enum radio_status status = publish (newfile);
  rd_newfile_abort (newfile);
  return status;
}

void
rd_newfile_abort (struct rd_newfile *newfile)
{
  if (newfile == NULL)
    return;
  if (newfile->fd >= 0)
    close (newfile->fd);
  if (newfile->temporary)
    unlink (newfile->temporary);
  rd_free (newfile->temporary);
  free (newfile->target);
  rd_free (newfile->file);
  rd_free (newfile);
}
