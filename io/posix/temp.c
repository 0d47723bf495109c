/* SPDX-License-Identifier: MIT */
/* Temporary files of the posix store, from their making to the moment they
 * get their name. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/uio.h>

#include "profiler/counters.h"
#include "io/posix/posix.h"

#define TEMP_PREFIX ".radio-tmp-"
#define TEMP_N_DIGITS 16

/* Somebody may sweep or remove a folder between two steps of ours; we begin
 * again, but not for ever. */
#define MAX_TRIES 100

/* Less than this is not begun to be written before the end. */
#define BEGIN_NBYTES ((uint64_t) 4 << 20)

bool
rd_temp_is_name (const char *name)
{
  size_t nbytes = strlen (TEMP_PREFIX);
  return strncmp (name, TEMP_PREFIX, nbytes) == 0
         && strspn (name + nbytes, "0123456789abcdef") == TEMP_N_DIGITS
         && name[nbytes + TEMP_N_DIGITS] == '\0';
}

static enum radio_status
random_path (const char *folder, char **path)
{
  unsigned char bytes[TEMP_N_DIGITS / 2];
  while (getrandom (bytes, sizeof bytes, 0) != (ssize_t) sizeof bytes)
    if (errno != EINTR)
      return rd_fail_errno (errno, "no random bytes for a file's name");
  char name[sizeof TEMP_PREFIX + TEMP_N_DIGITS] = TEMP_PREFIX;
  static const char digits[] = "0123456789abcdef";
  char *p = name + strlen (TEMP_PREFIX);
  for (size_t i = 0; i < sizeof bytes; i++) {
    *p++ = digits[bytes[i] >> 4];
    *p++ = digits[bytes[i] & 15];
  }
  *path = rd_key_join (folder, name);
  return *path ? RADIO_OK : RADIO_ERROR_MEMORY;
}

void
rd_temp_discard (const struct rd_posix *posix, struct rd_temp *temp)
{
  if (temp->path == NULL)
    return;
  unlinkat (posix->root_fd, temp->path, 0);
  close (temp->fd);
  rd_free (temp->path);
  *temp = (struct rd_temp) { .fd = -1 };
}

/* Hold the new file.  False when a sweep came in between and took it for a
 * dead writer's.  A file system without locks has no sweeps either. */
static bool
hold (const struct rd_temp *temp)
{
  if (flock (temp->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
    return false;
  struct stat st;
  return fstat (temp->fd, &st) == 0 && st.st_nlink > 0;
}

/* One attempt.  RADIO_OK with temp->path NULL: try again. */
static enum radio_status
try_create (const struct rd_posix *posix, const char *folder,
            struct rd_temp *temp)
{
  RD_TRY (random_path (folder, &temp->path));
  temp->fd = rd_posix_openat (posix, temp->path,
                              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (temp->fd >= 0) {
    if (!hold (temp))
      rd_temp_discard (posix, temp);
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

/* A name that the file system cannot have is refused before anything is
 * written, rather than at the end. */
static enum radio_status
check_name (const struct rd_posix *posix, const char *key)
{
  const char *slash = strrchr (key, '/');
  if (rd_temp_is_name (slash ? slash + 1 : key))
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s/%s: such names are kept for temporary files",
                    posix->base.uri, key);
  struct stat st;
  if (fstatat (posix->root_fd, key, &st, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISDIR (st.st_mode))
      return RADIO_OK;
    errno = EISDIR;
  } else if (errno == ENOENT) {
    return RADIO_OK;
  } else if (errno == ENOTDIR) {
    return rd_fail (RADIO_ERROR_IO,
                    "%s/%s: cannot write: a part of the path is a file",
                    posix->base.uri, key);
  }
  return rd_posix_fail (posix, key, "write");
}

enum radio_status
rd_temp_create (const struct rd_posix *posix, const char *key,
                struct rd_temp *temp)
{
  RD_SCOPE_BLOCKING ("create file", RD_IN_DISK);
  *temp = (struct rd_temp) { .fd = -1 };
  RD_TRY (check_name (posix, key));
  RD_FREE char *folder = rd_posix_parent (key);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  for (int i = 0; i < MAX_TRIES; i++) {
    RD_TRY (try_create (posix, folder, temp));
    if (temp->path)
      return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_IO,
                  "%s/%s: its folder or temporary file was removed %d times "
                  "by someone else", posix->base.uri, key, MAX_TRIES);
}

/* Fill vec from parts, the first of them from byte `skip' on. */
static int
fill (struct iovec *vec, int max_n, const struct rd_part *parts, size_t n,
      size_t skip)
{
  int used = 0;
  for (size_t i = 0; i < n && used < max_n; i++, skip = 0)
    if (parts[i].nbytes > skip)
      vec[used++] = (struct iovec) {
        (char *) parts[i].data + skip, parts[i].nbytes - skip,
      };
  return used;
}

static uint64_t
sum_parts (const struct rd_part *parts, size_t n)
{
  uint64_t nbytes = 0;
  for (size_t i = 0; i < n; i++)
    nbytes += parts[i].nbytes;
  return nbytes;
}

/* Only a hint: whatever comes of it, fsync waits for all. */
static void
begin_writing (struct rd_temp *temp)
{
#ifdef SYNC_FILE_RANGE_WRITE
  if (temp->nbytes - temp->begun_nbytes < BEGIN_NBYTES)
    return;
  (void) sync_file_range (temp->fd, (off_t) temp->begun_nbytes,
                          (off_t) (temp->nbytes - temp->begun_nbytes),
                          SYNC_FILE_RANGE_WRITE);
  temp->begun_nbytes = temp->nbytes;
#else
  (void) temp;
#endif
}

static enum radio_status
write_parts (const struct rd_posix *posix, const struct rd_temp *temp,
             const struct rd_part *parts, size_t n)
{
  struct iovec vec[64];
  size_t i = 0, skip = 0;
  for (;;) {
    while (i < n && parts[i].nbytes == skip) {
      i++;
      skip = 0;
    }
    int n_vec = fill (vec, 64, parts + i, n - i, skip);
    if (n_vec == 0)
      return RADIO_OK;
    ssize_t written = writev (temp->fd, vec, n_vec);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return rd_posix_fail (posix, temp->path, "write");
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

enum radio_status
rd_temp_append (const struct rd_posix *posix, struct rd_temp *temp,
                const struct rd_part *parts, size_t n)
{
  RD_SCOPE_BLOCKING ("write", RD_IN_DISK);
  uint64_t nbytes = sum_parts (parts, n);
  RD_COUNT (written, nbytes);
  RD_TRY (write_parts (posix, temp, parts, n));
  temp->nbytes += nbytes;
  begin_writing (temp);
  return RADIO_OK;
}

/* Rename, unless the new name is there already. */
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
  /* Not every file system can do that; a second name is its equal. */
  if (linkat (posix->root_fd, from, posix->root_fd, to, 0) < 0)
    return -1;
  unlinkat (posix->root_fd, from, 0);
  return 0;
}

static enum radio_status
sync_file (const struct rd_posix *posix, const struct rd_temp *temp,
           const char *key)
{
  RD_SCOPE_BLOCKING ("fsync", RD_IN_DISK);
  int result;
  do
    result = fsync (temp->fd);
  while (result < 0 && errno == EINTR);
  return result < 0 ? rd_posix_fail (posix, key, "write to disk") : RADIO_OK;
}

static enum radio_status
give_name (const struct rd_posix *posix, const struct rd_temp *temp,
           const char *key, enum rd_put how)
{
  RD_SCOPE_BLOCKING ("rename", RD_IN_DISK);
  int result;
  if (how == RD_PUT_IF_ABSENT)
    result = rename_if_absent (posix, temp->path, key);
  else
    result = renameat (posix->root_fd, temp->path, posix->root_fd, key);
  if (result < 0)
    return rd_posix_fail (posix, key, "give the written file its name");
  return RADIO_OK;
}

static enum radio_status
sync_and_rename (const struct rd_posix *posix, const struct rd_temp *temp,
                 const char *key, enum rd_put how)
{
  RD_TRY (sync_file (posix, temp, key));
  return give_name (posix, temp, key, how);
}

enum radio_status
rd_temp_publish (const struct rd_posix *posix, struct rd_temp *temp,
                 const char *key, enum rd_put how)
{
  /* Before the object appears, since little should fail afterwards. */
  RD_FREE char *folder = rd_posix_parent (key);
  enum radio_status status = folder
    ? sync_and_rename (posix, temp, key, how) : RADIO_ERROR_MEMORY;
  if (status != RADIO_OK) {
    rd_temp_discard (posix, temp);
    return status;
  }
  close (temp->fd);
  rd_free (temp->path);
  *temp = (struct rd_temp) { .fd = -1 };
  rd_posix_forget ((struct rd_io *) &posix->base, key);
  return rd_posix_sync_folder (posix, folder);
}
