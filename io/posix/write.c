/* SPDX-License-Identifier: MIT */
/* Writes of the POSIX store: temporary files that are renamed when they are
 * complete. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/text.h"
#include "profiler/counters.h"
#include "io/posix/posix.h"

#define TEMP_PREFIX ".radio-tmp-"
#define TEMP_N_DIGITS 16

/* Another process may sweep or remove a folder between two steps. */
#define MAX_TRIES 100

/* Less than this is not flushed before the end. */
#define FLUSH_NBYTES ((uint64_t) 4 << 20)

bool
rd_temp_is_name (const char *name)
{
  size_t nbytes = strlen (TEMP_PREFIX);
  return strncmp (name, TEMP_PREFIX, nbytes) == 0
         && strspn (name + nbytes, "0123456789abcdef") == TEMP_N_DIGITS
         && name[nbytes + TEMP_N_DIGITS] == '\0';
}

void
rd_posix_temp_forget (struct rd_posix_temp *temp)
{
  close (temp->fd);
  rd_free (temp->path);
  *temp = (struct rd_posix_temp) { .fd = -1 };
}

void
rd_posix_temp_discard (const struct rd_posix *posix,
                       struct rd_posix_temp *temp)
{
  if (temp->path == NULL)
    return;
  unlinkat (posix->root_fd, temp->path, 0);
  rd_posix_temp_forget (temp);
}

/* Makes and locks a file of a random name.  RADIO_OK with temp->path NULL:
 * try again. */
static enum radio_status
try_create (const struct rd_posix *posix, const char *folder,
            struct rd_posix_temp *temp)
{
  unsigned char bytes[TEMP_N_DIGITS / 2];
  char name[sizeof TEMP_PREFIX + TEMP_N_DIGITS] = TEMP_PREFIX;
  while (getrandom (bytes, sizeof bytes, 0) != (ssize_t) sizeof bytes)
    if (errno != EINTR)
      return rd_fail_errno (errno, "no random bytes for a file's name");
  rd_hex_text (bytes, sizeof bytes, name + strlen (TEMP_PREFIX));
  temp->path = rd_key_join (folder, name);
  if (temp->path == NULL)
    return RADIO_ERROR_MEMORY;
  temp->fd = rd_posix_openat (posix, temp->path,
                              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (temp->fd >= 0) {
    /* A sweep may have locked or removed it in between.  A file system
     * without locks has no sweeps either. */
    struct stat st;
    if ((flock (temp->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        || fstat (temp->fd, &st) < 0 || st.st_nlink == 0)
      rd_posix_temp_discard (posix, temp);
    return RADIO_OK;
  }
  int errnum = errno;
  rd_free (RD_STEAL (temp->path));
  if (errnum == EEXIST)
    return RADIO_OK;
  if (errnum == ENOENT)
    return rd_posix_make_folders (posix, folder);
  errno = errnum;
  return rd_posix_fail (posix, folder, "make a file in it");
}

/* Makes a temporary file beside the future object, and missing folders.  A
 * name that the file system cannot have is rejected before anything is
 * written. */
enum radio_status
rd_posix_temp_create (const struct rd_posix *posix, const char *key,
                      struct rd_posix_temp *temp)
{
  RD_SCOPE_BLOCKING ("create file", RD_IN_DISK);
  struct stat st;
  const char *slash = strrchr (key, '/');
  *temp = (struct rd_posix_temp) { .fd = -1 };
  if (rd_temp_is_name (slash ? slash + 1 : key))
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s/%s: such names are reserved for temporary files",
                    posix->base.uri, key);
  RD_TRY (rd_posix_stage_create (posix, key, temp));
  if (temp->path)
    return RADIO_OK;
  if (fstatat (posix->root_fd, key, &st, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISDIR (st.st_mode)) {
      errno = EISDIR;
      return rd_posix_fail (posix, key, "write");
    }
  } else if (errno == ENOTDIR) {
    return rd_fail (RADIO_ERROR_IO,
                    "%s/%s: cannot write: a part of the path is a file",
                    posix->base.uri, key);
  } else if (errno != ENOENT) {
    return rd_posix_fail (posix, key, "write");
  }
  RD_FREE char *folder = rd_posix_parent (key);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  for (int i = 0; i < MAX_TRIES; i++) {
    RD_TRY (try_create (posix, folder, temp));
    if (temp->path)
      return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_IO,
                  "%s/%s: another process removed its folder or temporary "
                  "file %d times", posix->base.uri, key, MAX_TRIES);
}

static enum radio_status
write_parts (const struct rd_posix_temp *temp, const struct rd_part *parts,
             size_t n)
{
  struct iovec vec[64];
  size_t i = 0, skip = 0;
  for (;;) {
    while (i < n && parts[i].nbytes == skip) {
      i++;
      skip = 0;
    }
    int n_vec = 0;
    size_t offset = skip;
    for (size_t j = i; j < n && n_vec < 64; j++, offset = 0)
      if (parts[j].nbytes > offset)
        vec[n_vec++] = (struct iovec) {
          (char *) parts[j].data + offset, parts[j].nbytes - offset,
        };
    if (n_vec == 0)
      return RADIO_OK;
    ssize_t written = writev (temp->fd, vec, n_vec);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return rd_fail_errno (errno, "cannot write");
    for (size_t left = (size_t) written; left > 0;) {
      size_t rest = parts[i].nbytes - skip;
      size_t step = left < rest ? left : rest;
      skip += step;
      left -= step;
      if (left > 0) {
        i++;
        skip = 0;
      }
    }
  }
}

/* Begins the writeback of large files early, so that fsync waits less. */
enum radio_status
rd_posix_temp_append (const struct rd_posix *posix,
                      struct rd_posix_temp *temp,
                      const struct rd_part *parts, size_t n)
{
  RD_SCOPE_BLOCKING ("write", RD_IN_DISK);
  uint64_t nbytes = 0;
  for (size_t i = 0; i < n; i++)
    nbytes += parts[i].nbytes;
  RD_COUNT (written, nbytes);
  RD_TRY (write_parts (temp, parts, n));
  temp->nbytes += nbytes;
#ifdef SYNC_FILE_RANGE_WRITE
  if (!posix->base.no_sync
      && temp->nbytes - temp->flushed_nbytes >= FLUSH_NBYTES) {
    (void) sync_file_range (temp->fd, (off_t) temp->flushed_nbytes,
                            (off_t) (temp->nbytes - temp->flushed_nbytes),
                            SYNC_FILE_RANGE_WRITE);
    temp->flushed_nbytes = temp->nbytes;
  }
#endif
  return RADIO_OK;
}

/* Renames, unless the new name exists. */
static int
rename_if_absent (const struct rd_posix *posix, const char *from,
                  const char *to)
{
#ifdef RENAME_NOREPLACE
  int fd = posix->root_fd;
  if (renameat2 (fd, from, fd, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
    return -1;
#endif
  /* The fallback where the file system does not support that. */
  if (linkat (posix->root_fd, from, posix->root_fd, to, 0) < 0)
    return -1;
  unlinkat (posix->root_fd, from, 0);
  return 0;
}

enum radio_status
rd_posix_sync_file (const struct rd_posix *posix, int fd, const char *path)
{
  if (posix->base.no_sync)
    return RADIO_OK;
  RD_SCOPE_BLOCKING ("fsync", RD_IN_DISK);
  int result;
  do
    result = fsync (fd);
  while (result < 0 && errno == EINTR);
  return result < 0 ? rd_posix_fail (posix, path, "write to disk") : RADIO_OK;
}

bool
rd_posix_syncs_all (void)
{
#ifdef SYNC_FILE_RANGE_WRITE
  return true;
#else
  return false;
#endif
}

enum radio_status
rd_posix_sync_all (const struct rd_posix *posix, const char *path)
{
  if (posix->base.no_sync)
    return RADIO_OK;
#ifdef SYNC_FILE_RANGE_WRITE
  RD_SCOPE_BLOCKING ("syncfs", RD_IN_DISK);
  if (syncfs (posix->root_fd) < 0)
    return rd_posix_fail (posix, path, "write to disk");
#endif
  return RADIO_OK;
}

enum radio_status
rd_posix_temp_rename (const struct rd_posix *posix,
                      const struct rd_posix_temp *temp, const char *key,
                      enum rd_put how)
{
  RD_SCOPE_BLOCKING ("rename", RD_IN_DISK);
  int result = how == RD_PUT_IF_ABSENT
    ? rename_if_absent (posix, temp->path, key)
    : renameat (posix->root_fd, temp->path, posix->root_fd, key);
  return result < 0 ? rd_posix_fail (posix, key, "rename the written file")
                    : RADIO_OK;
}

/* Renames it to its key, durably, or leaves it to its stage.  It is gone
 * afterwards, also on failure. */
static enum radio_status
publish_temp (const struct rd_posix *posix, struct rd_posix_temp *temp,
              const char *key, enum rd_put how)
{
  enum radio_status status;
  /* Before the object appears, since little should fail afterwards. */
  RD_FREE char *folder = rd_posix_parent (key);
  if (folder == NULL)
    status = RADIO_ERROR_MEMORY;
  else if (temp->stage)
    status = rd_posix_stage_add (posix, temp);
  else
    status = rd_posix_sync_file (posix, temp->fd, key);
  if (status == RADIO_OK && temp->path == NULL)
    return RADIO_OK;
  if (status == RADIO_OK)
    status = rd_posix_temp_rename (posix, temp, key, how);
  if (status != RADIO_OK) {
    rd_posix_temp_discard (posix, temp);
    return status;
  }
  rd_posix_temp_forget (temp);
  rd_posix_forget ((struct rd_io *) &posix->base, key);
  RD_TRY (rd_posix_sync_folder (posix, folder));
  return rd_posix_sync_above (posix, key);
}

/*------------------------------------------------------------------------
 * Writes, whole and in pieces
 *----------------------------------------------------------------------*/

enum radio_status
rd_posix_put (struct rd_io *io, const char *key,
              const struct rd_part *parts, size_t n, enum rd_put how)
{
  const struct rd_posix *posix = (const struct rd_posix *) io;
  RD_TRY (rd_key_check (io, key));
  struct rd_posix_temp temp;
  RD_TRY (rd_posix_temp_create (posix, key, &temp));
  enum radio_status status = rd_posix_temp_append (posix, &temp, parts,
                                                   n);
  if (status != RADIO_OK) {
    rd_posix_temp_discard (posix, &temp);
    return rd_fail_in (status, "%s/%s", io->uri, key);
  }
  return publish_temp (posix, &temp, key, how);
}

struct file_writer {
  struct rd_io_writer base;
  const struct rd_posix *posix;
  struct rd_posix_temp temp;
  enum radio_status status;   /* of the first append that failed */
  char key[];
};

static enum radio_status
writer_append (struct rd_io_writer *writer, const struct rd_part *parts,
               size_t n)
{
  struct file_writer *w = (struct file_writer *) writer;
  if (w->status == RADIO_OK)
    w->status = rd_posix_temp_append (w->posix, &w->temp, parts, n);
  else
    return rd_fail (w->status, "%s/%s: an earlier write failed",
                    w->posix->base.uri, w->key);
  if (w->status != RADIO_OK)
    return rd_fail_in (w->status, "%s/%s", w->posix->base.uri, w->key);
  return RADIO_OK;
}

static void
writer_abort (struct rd_io_writer *writer)
{
  struct file_writer *w = (struct file_writer *) writer;
  rd_posix_temp_discard (w->posix, &w->temp);
  rd_free (w);
}

static enum radio_status
writer_commit (struct rd_io_writer *writer)
{
  struct file_writer *w = (struct file_writer *) writer;
  enum radio_status status = w->status;
  if (status == RADIO_OK)
    status = publish_temp (w->posix, &w->temp, w->key, RD_PUT_REPLACE);
  else
    rd_fail_uncommitted (&w->posix->base, w->key, status);
  writer_abort (writer);
  return status;
}

static const struct rd_io_writer_ops writer_ops = {
  .append = writer_append,
  .commit = writer_commit,
  .abort = writer_abort,
};

enum radio_status
rd_posix_create (struct rd_io *io, const char *key,
                 struct rd_io_writer **writer)
{
  *writer = NULL;
  RD_TRY (rd_key_check (io, key));
  size_t nbytes = strlen (key) + 1;
  RD_FREE struct file_writer *w = rd_calloc (1, sizeof *w + nbytes);
  if (w == NULL)
    return rd_fail_memory (sizeof *w + nbytes);
  w->base.ops = &writer_ops;
  w->posix = (const struct rd_posix *) io;
  memcpy (w->key, key, nbytes);
  RD_TRY (rd_posix_temp_create (w->posix, key, &w->temp));
  *writer = &RD_STEAL (w)->base;
  return RADIO_OK;
}

enum radio_status
rd_posix_duplicate (struct rd_io *io, const char *from, uint64_t nbytes,
                    const char *key)
{
  const struct rd_posix *posix = (const struct rd_posix *) io;
  (void) nbytes;
  RD_TRY (rd_key_check (io, from));
  RD_TRY (rd_key_check (io, key));
  RD_SCOPE_BLOCKING ("link", RD_IN_DISK);
  RD_FREE char *folder = rd_posix_parent (key);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_posix_make_folders (posix, folder));
  int result = linkat (posix->root_fd, from, posix->root_fd, key, 0);
  if (result < 0 && errno == EEXIST) {
    /* Maybe the link of a call that was interrupted. */
    struct stat a, b;
    if (fstatat (posix->root_fd, from, &a, 0) < 0)
      return rd_posix_fail (posix, from, "link");
    bool is_same = fstatat (posix->root_fd, key, &b, 0) == 0
                   && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
    if (!is_same && unlinkat (posix->root_fd, key, 0) < 0 && errno != ENOENT)
      return rd_posix_fail (posix, key, "replace");
    result = is_same ? 0 : linkat (posix->root_fd, from, posix->root_fd, key,
                                   0);
  }
  if (result < 0) {
    /* Some file systems have no links, or few of one file. */
    if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS
        || errno == EMLINK || errno == EXDEV)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s/%s: no link can be made "
                      "there", io->uri, key);
    return rd_posix_fail (posix, from, "link");
  }
  rd_posix_forget (io, key);
  RD_TRY (rd_posix_sync_folder (posix, folder));
  return rd_posix_sync_above (posix, key);
}
