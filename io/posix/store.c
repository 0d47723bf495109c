/* SPDX-License-Identifier: MIT */
/* The POSIX store: opening, closing, its table, and locks of folders. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "profiler/counters.h"
#include "io/posix/posix.h"

enum radio_status
rd_posix_fail (const struct rd_posix *posix, const char *path,
               const char *action)
{
  int errnum = errno;
  const char *uri = posix->base.uri;
  bool is_root = *path == '\0' || strcmp (path, ".") == 0;
  return rd_fail_errno (errnum, "%s%s%s: cannot %s", uri,
                        is_root || strcmp (uri, "/") == 0 ? "" : "/",
                        is_root ? "" : path, action);
}

enum radio_status
rd_posix_check_file (const struct rd_posix *posix, const char *key,
                     const struct stat *st)
{
  if (S_ISREG (st->st_mode))
    return RADIO_OK;
  if (S_ISDIR (st->st_mode))
    return rd_fail (RADIO_ERROR_NOT_FOUND,
                    "%s/%s: no such object; it is a folder",
                    posix->base.uri, key);
  return rd_fail (RADIO_ERROR_UNSUPPORTED,
                  "%s/%s: a device, pipe or socket, not a file",
                  posix->base.uri, key);
}

static enum radio_status
store_size (struct rd_io *io, const char *key, uint64_t *nbytes)
{
  const struct rd_posix *posix = (const struct rd_posix *) io;
  RD_TRY (rd_key_check (io, key));
  struct stat st;
  if (fstatat (posix->root_fd, key, &st, 0) < 0)
    return rd_posix_fail (posix, key, "find the size");
  RD_TRY (rd_posix_check_file (posix, key, &st));
  *nbytes = (uint64_t) st.st_size;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Locks: an flock on the folder itself, so that a process that dies leaves
 * no lock.  The holder may remove the folder while others wait: they
 * find that the name denotes another folder now, or none, and start over.
 *----------------------------------------------------------------------*/

struct folder_lock {
  struct rd_io_lock base;
  int fd;
};

static void
unlock_folder (struct rd_io_lock *base)
{
  struct folder_lock *lock = (struct folder_lock *) base;
  /* Explicit, since a forked child may have the descriptor too. */
  flock (lock->fd, LOCK_UN);
  close (lock->fd);
  rd_free (lock);
}

static enum radio_status
store_lock (struct rd_io *io, const char *prefix, bool wait,
            struct rd_io_lock **result)
{
  RD_SCOPE_BLOCKING ("lock", RD_IN_DISK);
  RD_NOTE_NAME ("folder", prefix);
  const struct rd_posix *posix = (const struct rd_posix *) io;
  const char *path = rd_posix_path (prefix);
  *result = NULL;
  RD_TRY (rd_prefix_check (io, prefix));
  RD_FREE struct folder_lock *lock = rd_malloc (sizeof *lock);
  if (lock == NULL)
    return rd_fail_memory (sizeof *lock);
  lock->base.unlock = unlock_folder;
  for (;;) {
    RD_CLOSE_FD int fd = rd_posix_openat (posix, path,
                                          O_RDONLY | O_DIRECTORY);
    if (fd < 0 && errno == ENOENT) {
      RD_TRY (rd_posix_make_unsynced (posix, prefix));
      continue;
    }
    if (fd < 0)
      return rd_posix_fail (posix, prefix, "open the folder");
    int failed;
    do
      failed = flock (fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
    while (failed && errno == EINTR);
    if (failed && errno == EWOULDBLOCK)
      return RADIO_OK;
    /* NFS turns these locks into ones of byte ranges, which folders cannot
     * have, and fails with EBADF; other file systems have no locks at all. */
    if (failed
        && (errno == EBADF || errno == ENOLCK || errno == ENOSYS
            || errno == EINVAL || errno == EOPNOTSUPP))
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s%s%s: cannot lock the "
                      "folder: its file system has no such locks (is it "
                      "NFS?); write to a local disk", posix->base.uri,
                      *prefix ? "/" : "", prefix);
    if (failed)
      return rd_posix_fail (posix, prefix, "lock the folder");
    struct stat held, named;
    if (fstat (fd, &held) == 0
        && fstatat (posix->root_fd, path, &named, 0) == 0
        && held.st_dev == named.st_dev && held.st_ino == named.st_ino) {
      lock->fd = fd;
      fd = -1;
      *result = &RD_STEAL (lock)->base;
      return RADIO_OK;
    }
  }
}

/*------------------------------------------------------------------------
 * Opening and closing
 *----------------------------------------------------------------------*/

static void
store_close (struct rd_io *io)
{
  struct rd_posix *posix = (struct rd_posix *) io;
  rd_posix_files_close (posix->files);
  rd_posix_stages_close (posix->stages);
  close (posix->root_fd);
  rd_free (posix->base.uri);
  rd_free (posix);
}

/* On local disks reading a gap is cheaper than another call, up to about
 * 16 KiB; the bytes of one read should still be in a core's cache when they
 * are decoded. */
#define GAP_NBYTES (16 << 10)
#define CAP_NBYTES (128 << 10)

static const struct rd_io_ops ops = {
  .name = "posix",
  .is_blocking = true,
  .reports_blocking = true,
  .close = store_close,
  .get = rd_posix_get,
  .hold = rd_posix_hold,
  .release = rd_posix_release,
  .map = rd_posix_map,
  .identify = rd_posix_identify,
  .forget = rd_posix_forget,
  .size = store_size,
  .list = rd_posix_list,
  .put = rd_posix_put,
  .create = rd_posix_create,
  .duplicate = rd_posix_duplicate,
  .stage = rd_posix_stage,
  .unstage = rd_posix_unstage,
  .publish = rd_posix_publish,
  .remove = rd_posix_remove,
  .remove_tree = rd_posix_remove_tree,
  .lock = store_lock,
  .sweep = rd_posix_sweep,
};

static int
open_folder (const char *path)
{
  return open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void
close_files (struct rd_posix_files **files)
{
  rd_posix_files_close (*files);
}

static void
close_stages (struct rd_posix_stages **stages)
{
  rd_posix_stages_close (*stages);
}

enum radio_status
rd_io_posix_open (const char *path, bool create, struct rd_io **io)
{
  *io = NULL;
  RD_FREE struct rd_posix *posix = rd_calloc (1, sizeof *posix);
  if (posix == NULL)
    return rd_fail_memory (sizeof *posix);
  /* Without the slashes at its end, but "/" as it is. */
  size_t nbytes = strlen (path);
  while (nbytes > 1 && path[nbytes - 1] == '/')
    nbytes--;
  RD_FREE char *uri = rd_strndup (path, nbytes);
  if (uri == NULL)
    return rd_fail_memory (nbytes + 1);
  RD_CLEANUP (close_files) struct rd_posix_files *files = NULL;
  RD_TRY (rd_posix_files_open (&files));
  RD_CLEANUP (close_stages) struct rd_posix_stages *stages = NULL;
  RD_TRY (rd_posix_stages_open (&stages));
  posix->root_fd = open_folder (uri);
  if (posix->root_fd < 0 && errno == ENOENT && create) {
    /* By a store at "/" or ".", which makes folders durable. */
    char start[] = { uri[0] == '/' ? '/' : '.', '\0' };
    RD_CLOSE_FD int fd = open_folder (start);
    if (fd < 0)
      return rd_fail_errno (errno, "%s: cannot open", start);
    struct rd_posix above = { .base.uri = start, .root_fd = fd };
    RD_TRY (rd_posix_make_folders (&above, uri + strspn (uri, "/")));
    posix->root_fd = open_folder (uri);
  }
  if (posix->root_fd < 0)
    return rd_fail_errno (errno, "%s: cannot open the store", uri);
  posix->base.ops = &ops;
  posix->base.coalesce_gap_nbytes = GAP_NBYTES;
  posix->base.coalesce_cap_nbytes = CAP_NBYTES;
  posix->base.uri = RD_STEAL (uri);
  posix->files = RD_STEAL (files);
  posix->stages = RD_STEAL (stages);
  *io = &RD_STEAL (posix)->base;
  return RADIO_OK;
}
