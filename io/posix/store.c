/* SPDX-License-Identifier: MIT */
/* The store on a local disk: opening, closing, and its table. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "io/key.h"
#include "io/posix/posix.h"
#include "io/stores.h"

enum radio_status
rd_posix_fail (const struct rd_posix *posix, const char *path,
               const char *action)
{
  int errnum = errno;
  bool is_root = *path == '\0' || strcmp (path, ".") == 0;
  return rd_fail_errno (errnum, "%s%s%s: cannot %s", posix->base.uri,
                        is_root ? "" : "/", is_root ? "" : path, action);
}

const char *
rd_posix_path (const char *prefix)
{
  return *prefix ? prefix : ".";
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
posix_size (struct rd_io *io, const char *key, uint64_t *nbytes)
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

static void
posix_close (struct rd_io *io)
{
  struct rd_posix *posix = (struct rd_posix *) io;
  rd_posix_files_close (posix->files);
  close (posix->root_fd);
  rd_free (posix->base.uri);
  rd_free (posix);
}

/* On local disks a gap is cheaper to read than a call is to make, up to
 * about 16 KiB; what is read at once shall still be in a core's cache when it
 * is decoded. */
#define GAP_NBYTES (16 << 10)
#define CAP_NBYTES (128 << 10)

static const struct rd_io_ops posix_ops = {
  .name = "posix",
  .is_blocking = true,
  .tells_blocking = true,
  .close = posix_close,
  .get = rd_posix_get,
  .hold = rd_posix_hold,
  .release = rd_posix_release,
  .forget = rd_posix_forget,
  .size = posix_size,
  .list = rd_posix_list,
  .put = rd_posix_put,
  .create = rd_posix_create,
  .remove = rd_posix_remove,
  .remove_tree = rd_posix_remove_tree,
  .lock = rd_posix_lock,
  .sweep = rd_posix_sweep,
};

/* A path without the slashes at its end, but "/" as it is. */
static char *
copy_path (const char *path)
{
  size_t nbytes = strlen (path);
  while (nbytes > 1 && path[nbytes - 1] == '/')
    nbytes--;
  char *copy = rd_strndup (path, nbytes);
  if (copy == NULL)
    rd_fail_memory (nbytes + 1);
  return copy;
}

static int
open_folder (const char *path)
{
  return open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Make the store's folder by way of a store at "/" or ".": that knows how
 * to make folders durable. */
static enum radio_status
make_root (const char *path)
{
  char start[] = { path[0] == '/' ? '/' : '.', '\0' };
  RD_CLOSE_FD int fd = open_folder (start);
  if (fd < 0)
    return rd_fail_errno (errno, "%s: cannot open", start);
  struct rd_posix above = { .base.uri = start, .root_fd = fd };
  return rd_posix_make_folders (&above, path + strspn (path, "/"));
}

static void
close_files (struct rd_posix_files **files)
{
  rd_posix_files_close (*files);
}

enum radio_status
rd_io_posix_open (const char *path, bool create, struct rd_io **io)
{
  *io = NULL;
  RD_FREE struct rd_posix *posix = rd_calloc (1, sizeof *posix);
  if (posix == NULL)
    return rd_fail_memory (sizeof *posix);
  RD_FREE char *uri = copy_path (path);
  if (uri == NULL)
    return RADIO_ERROR_MEMORY;
  RD_CLEANUP (close_files) struct rd_posix_files *files = NULL;
  RD_TRY (rd_posix_files_open (&files));
  posix->root_fd = open_folder (uri);
  if (posix->root_fd < 0 && errno == ENOENT && create) {
    RD_TRY (make_root (uri));
    posix->root_fd = open_folder (uri);
  }
  if (posix->root_fd < 0)
    return rd_fail_errno (errno, "%s: cannot open the store", uri);
  posix->base.ops = &posix_ops;
  posix->base.coalesce_gap_nbytes = GAP_NBYTES;
  posix->base.coalesce_cap_nbytes = CAP_NBYTES;
  posix->base.uri = RD_STEAL (uri);
  posix->files = RD_STEAL (files);
  *io = &RD_STEAL (posix)->base;
  return RADIO_OK;
}
