/* SPDX-License-Identifier: MIT */
/* Locks of the posix store: an flock on the folder itself, so that nothing
 * is left behind by whoever dies.  A folder may be removed by the one who
 * holds it while others wait: they find that the name means another folder
 * now, or none, and begin again. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include "profiler/counters.h"
#include "io/key.h"
#include "io/posix/posix.h"

struct posix_lock {
  struct rd_io_lock base;
  int fd;
};

static void
posix_unlock (struct rd_io_lock *lock)
{
  struct posix_lock *held = (struct posix_lock *) lock;
  /* Said outright, since a forked child may have the descriptor too. */
  flock (held->fd, LOCK_UN);
  close (held->fd);
  rd_free (held);
}

static bool
is_still_named (const struct rd_posix *posix, const char *path, int fd)
{
  struct stat held, named;
  return fstat (fd, &held) == 0
         && fstatat (posix->root_fd, path, &named, 0) == 0
         && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/* Flock a folder.  False when another holds it, or with errno. */
static bool
flock_folder (int fd, bool wait)
{
  int result;
  do
    result = flock (fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
  while (result < 0 && errno == EINTR);
  return result == 0;
}

/* NFS turns these locks into ones of byte ranges, which folders cannot have,
 * and says EBADF; others know no locks at all. */
static enum radio_status
fail_lock (const struct rd_posix *posix, const char *prefix)
{
  if (errno != EBADF && errno != ENOLCK && errno != ENOSYS
      && errno != EINVAL && errno != EOPNOTSUPP)
    return rd_posix_fail (posix, prefix, "lock the folder");
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s%s%s: cannot lock the folder: "
                  "its file system has no such locks (is it NFS?); write to "
                  "a local disk", posix->base.uri, *prefix ? "/" : "",
                  prefix);
}

/* What one attempt came to. */
enum attempt { HELD, BUSY, AGAIN };

static enum radio_status
try_lock (const struct rd_posix *posix, const char *prefix, bool wait,
          int *held_fd, enum attempt *attempt)
{
  const char *path = rd_posix_path (prefix);
  *attempt = AGAIN;
  RD_CLOSE_FD int fd = rd_posix_openat (posix, path,
                                        O_RDONLY | O_DIRECTORY);
  if (fd < 0 && errno == ENOENT)
    return rd_posix_make_folders (posix, prefix);
  if (fd < 0)
    return rd_posix_fail (posix, prefix, "open the folder");
  if (!flock_folder (fd, wait)) {
    if (errno != EWOULDBLOCK)
      return fail_lock (posix, prefix);
    *attempt = BUSY;
    return RADIO_OK;
  }
  if (is_still_named (posix, path, fd)) {
    *held_fd = fd;
    fd = -1;
    *attempt = HELD;
  }
  return RADIO_OK;
}

enum radio_status
rd_posix_lock (struct rd_io *io, const char *prefix, bool wait,
               struct rd_io_lock **lock)
{
  RD_SCOPE_BLOCKING ("lock", RD_IN_DISK);
  RD_NOTE_NAME ("folder", prefix);
  *lock = NULL;
  RD_TRY (rd_prefix_check (io, prefix));
  RD_FREE struct posix_lock *held = rd_malloc (sizeof *held);
  if (held == NULL)
    return rd_fail_memory (sizeof *held);
  held->base.unlock = posix_unlock;
  for (enum attempt attempt = AGAIN; attempt != HELD;) {
    RD_TRY (try_lock ((const struct rd_posix *) io, prefix, wait, &held->fd,
                      &attempt));
    if (attempt == BUSY)
      return RADIO_OK;
  }
  *lock = &RD_STEAL (held)->base;
  return RADIO_OK;
}
