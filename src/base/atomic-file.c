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

#include "src/base/atomic-file.h"

/* Random names that are tried; one is enough unless someone cheats. */
#define NAME_TRIES 16

static enum rd_atomic_failure
fail (struct rd_atomic_file *file, enum rd_atomic_failure failure)
{
  file->errnum = errno;
  rd_atomic_abort (file);
  return failure;
}

enum rd_atomic_failure
rd_atomic_open (struct rd_atomic_file *file, const char *name, bool overwrite,
                mode_t mode)
{
  struct stat st;
  *file = (struct rd_atomic_file) { .fd = -1, .overwrite = overwrite };
  bool exists = lstat (name, &st) == 0;
  if (!exists && errno != ENOENT)
    return fail (file, RD_ATOMIC_NAME);
  if (exists && !overwrite)
    return fail (file, RD_ATOMIC_EXISTS);
  if (exists && stat (name, &st) != 0) {
    /* A link to nothing is itself replaced. */
    if (errno != ENOENT)
      return fail (file, RD_ATOMIC_NAME);
    exists = false;
  }
  if (exists && !S_ISREG (st.st_mode))
    return fail (file, RD_ATOMIC_NOT_REGULAR);
  file->target = exists ? realpath (name, NULL) : strdup (name);
  if (file->target == NULL)
    return fail (file, RD_ATOMIC_NAME);

  /* "FOLDER/.radio-NUMBER.tmp" does not repeat the target's name, since that
   * may be as long as names can be. */
  const char *slash = strrchr (file->target, '/');
  size_t folder = slash ? (size_t) (slash - file->target) + 1 : 0;
  size_t room = folder + sizeof ".radio-0123456789abcdef.tmp";
  char *temporary = malloc (room);
  if (temporary == NULL)
    return fail (file, RD_ATOMIC_NAME);
  memcpy (temporary, file->target, folder);
  for (int try = 0; try < NAME_TRIES && file->fd < 0; try++) {
    uint64_t number;
    if (getentropy (&number, sizeof number) != 0) {
      struct timespec now;
      clock_gettime (CLOCK_MONOTONIC, &now);
      number = (uint64_t) now.tv_nsec << 32 ^ (uint64_t) now.tv_sec
               ^ (uint64_t) getpid () << 20;
    }
    snprintf (temporary + folder, room - folder, ".radio-%016" PRIx64 ".tmp",
              number);
    file->fd = open (temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                     mode);
    if (file->fd < 0 && errno != EEXIST)
      break;
  }
  if (file->fd < 0) {
    int errnum = errno;
    free (temporary);
    errno = errnum;
    return fail (file, RD_ATOMIC_CREATE);
  }
  file->temporary = temporary;
  file->folder_nbytes = folder;
  /* The file is still empty, so no one can read its content. */
  if (exists && fchmod (file->fd, st.st_mode & 0777) != 0)
    return fail (file, RD_ATOMIC_KEEP_MODE);
  return RD_ATOMIC_OK;
}

/* rename, but never over an existing file. */
static int
rename_if_absent (const char *from, const char *to, char **leftover)
{
#ifdef RENAME_NOREPLACE
  if (renameat2 (AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
    return -1;
#endif
  /* Where the file system does not support that: link fails when there is
   * one. */
  if (link (from, to) == 0) {
    if (unlink (from) != 0 && errno != ENOENT)
      *leftover = strdup (from);
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

enum rd_atomic_failure
rd_atomic_commit (struct rd_atomic_file *file)
{
  /* Some file systems report a full disk only when the file is closed. */
  int fd = file->fd;
  bool failed = fsync (fd) != 0;
  if (!failed) {
    file->fd = -1;
    failed = close (fd) != 0;
  }
  if (failed)
    return fail (file, RD_ATOMIC_WRITE);
  failed = (file->overwrite
            ? rename (file->temporary, file->target)
            : rename_if_absent (file->temporary, file->target,
                                 &file->leftover)) != 0;
  if (failed)
    return fail (file, errno == EEXIST ? RD_ATOMIC_EXISTS
                                       : RD_ATOMIC_RENAME);

  /* Make the new name itself durable.  A folder that may be written but not
   * read cannot be synced, and some file systems do not know how. */
  file->temporary[file->folder_nbytes] = '\0';
  fd = open (file->folder_nbytes > 0 ? file->temporary : ".",
             O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  free (file->temporary);
  file->temporary = NULL;
  failed = fd >= 0 && fsync (fd) != 0 && errno != EINVAL && errno != ENOTSUP;
  file->errnum = errno;
  if (fd >= 0)
    close (fd);
  rd_atomic_abort (file);
  return failed ? RD_ATOMIC_SYNC_FOLDER : RD_ATOMIC_OK;
}

void
rd_atomic_abort (struct rd_atomic_file *file)
{
  if (file->fd >= 0)
    close (file->fd);
  if (file->temporary)
    unlink (file->temporary);
  free (file->temporary);
  free (file->target);
  file->fd = -1;
  file->temporary = file->target = NULL;
}

void
rd_atomic_free_leftover (struct rd_atomic_file *file)
{
  free (file->leftover);
  file->leftover = NULL;
}
