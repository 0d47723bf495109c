/* SPDX-License-Identifier: MIT */
/* Files that appear whole: a file without a name, or a temporary one beside the
 * target, which commit links or renames. */
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

#define TEMPORARY_NBYTES sizeof ".radio-0123456789abcdef.tmp"

/* The link of /proc to an open file. */
#define PROC_FORMAT "/proc/self/fd/%d"
#define PROC_NBYTES 32

static enum rd_atomic_failure
fail (struct rd_atomic_file *file, enum rd_atomic_failure failure)
{
  file->errnum = errno;
  rd_atomic_abort (file);
  return failure;
}

/* Ends the temporary name at its folder; the current one is ".". */
static const char *
folder_of (struct rd_atomic_file *file)
{
  file->temporary[file->folder_nbytes] = '\0';
  return file->folder_nbytes > 0 ? file->temporary : ".";
}

/* Links the open file to a name, which must not exist.  By /proc, since to link
 * a descriptor itself is a privilege on older kernels. */
static int
link_nameless (const struct rd_atomic_file *file, const char *name)
{
  char link_name[PROC_NBYTES];
  snprintf (link_name, sizeof link_name, PROC_FORMAT, file->fd);
  return linkat (AT_FDCWD, link_name, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Opens a file that has no name, so that nothing is left of it however the
 * process ends.  fd stays -1 where file systems have no such files, or /proc is
 * missing, by which it gets its name. */
static void
open_nameless (struct rd_atomic_file *file, mode_t mode)
{
#ifdef O_TMPFILE
  char link_name[PROC_NBYTES];
  file->fd = open (folder_of (file), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (file->fd < 0)
    return;
  snprintf (link_name, sizeof link_name, PROC_FORMAT, file->fd);
  if (access (link_name, F_OK) == 0)
    return;
  close (file->fd);
  file->fd = -1;
#else
  (void) file;
  (void) mode;
#endif
}

/* Gives the file a temporary name: it is made, or linked if it is open. */
static int
name_temporary (struct rd_atomic_file *file, mode_t mode)
{
  for (int try = 0; try < NAME_TRIES && !file->is_named; try++) {
    uint64_t number;
    if (getentropy (&number, sizeof number) != 0) {
      struct timespec now;
      clock_gettime (CLOCK_MONOTONIC, &now);
      number = (uint64_t) now.tv_nsec << 32 ^ (uint64_t) now.tv_sec
               ^ (uint64_t) getpid () << 20;
    }
    snprintf (file->temporary + file->folder_nbytes, TEMPORARY_NBYTES,
              ".radio-%016" PRIx64 ".tmp", number);
    if (file->fd >= 0) {
      file->is_named = link_nameless (file, file->temporary) == 0;
    } else {
      file->fd = open (file->temporary,
                       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      file->is_named = file->fd >= 0;
    }
    if (!file->is_named && errno != EEXIST)
      break;
  }
  return file->is_named ? 0 : -1;
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
  file->temporary = malloc (folder + TEMPORARY_NBYTES);
  if (file->temporary == NULL)
    return fail (file, RD_ATOMIC_NAME);
  memcpy (file->temporary, file->target, folder);
  file->folder_nbytes = folder;
  open_nameless (file, mode);
  if (file->fd < 0 && name_temporary (file, mode) != 0)
    return fail (file, RD_ATOMIC_CREATE);
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

/* Puts a file that has no name in its place, or at a temporary name if it is to
 * replace another one: only rename does that at once. */
static int
place_nameless (struct rd_atomic_file *file)
{
  if (link_nameless (file, file->target) == 0)
    return 0;
  if (errno != EEXIST || !file->overwrite
      || name_temporary (file, 0) != 0
      || rename (file->temporary, file->target) != 0)
    return -1;
  file->is_named = false;
  return 0;
}

static int
place_named (struct rd_atomic_file *file)
{
  int failed = file->overwrite
    ? rename (file->temporary, file->target)
    : rename_if_absent (file->temporary, file->target, &file->leftover);
  file->is_named = failed;
  return failed;
}

static int
take_fd (struct rd_atomic_file *file)
{
  int fd = file->fd;
  file->fd = -1;
  return fd;
}

enum rd_atomic_failure
rd_atomic_commit (struct rd_atomic_file *file)
{
  bool failed = fsync (file->fd) != 0;
  /* Some file systems report a full disk only when the file is closed.  One
   * without a name would be gone then. */
  if (!failed && file->is_named)
    failed = close (take_fd (file)) != 0;
  if (failed)
    return fail (file, RD_ATOMIC_WRITE);
  failed = (file->is_named ? place_named (file)
                           : place_nameless (file)) != 0;
  if (failed)
    return fail (file, errno == EEXIST ? RD_ATOMIC_EXISTS
                                       : RD_ATOMIC_RENAME);

  /* Make the new name itself durable.  A folder that may be written but not
   * read cannot be synced, and some file systems do not know how. */
  int fd = open (folder_of (file), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
  if (file->is_named)
    unlink (file->temporary);
  free (file->temporary);
  free (file->target);
  file->fd = -1;
  file->is_named = false;
  file->temporary = file->target = NULL;
}

void
rd_atomic_free_leftover (struct rd_atomic_file *file)
{
  free (file->leftover);
  file->leftover = NULL;
}
