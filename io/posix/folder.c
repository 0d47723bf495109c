/* SPDX-License-Identifier: MIT */
/* Folders of the POSIX store: making them, syncing them, and listing them. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cleanup.h"
#include "profiler/counters.h"
#include "io/posix/posix.h"

char *
rd_posix_parent (const char *path)
{
  const char *slash = strrchr (path, '/');
  size_t nbytes = slash ? (size_t) (slash - path) : 0;
  char *parent = rd_strndup (path, nbytes);
  if (parent == NULL)
    rd_fail_memory (nbytes + 1);
  return parent;
}

/* Opens a folder for reading. */
static int
open_folder (const struct rd_posix *posix, const char *path)
{
  return rd_posix_openat (posix, rd_posix_path (path),
                          O_RDONLY | O_DIRECTORY);
}

enum radio_status
rd_posix_sync_folder (const struct rd_posix *posix, const char *path)
{
  RD_SCOPE_BLOCKING ("fsync folder", RD_IN_DISK);
  RD_CLOSE_FD int fd = open_folder (posix, path);
  if (fd < 0)
    return rd_posix_fail (posix, path, "open the folder");
  int result;
  do
    result = fsync (fd);
  while (result < 0 && errno == EINTR);
  /* Some file systems cannot sync folders, and fail with EINVAL. */
  if (result < 0 && errno != EINVAL && errno != ENOTSUP)
    return rd_posix_fail (posix, path, "write to disk");
  return RADIO_OK;
}

static enum radio_status
make_folder (const struct rd_posix *posix, const char *path)
{
  struct stat st;
  if (mkdirat (posix->root_fd, path, 0777) == 0) {
    RD_FREE char *parent = rd_posix_parent (path);
    if (parent == NULL)
      return RADIO_ERROR_MEMORY;
    return rd_posix_sync_folder (posix, parent);
  }
  if (errno != EEXIST)
    return rd_posix_fail (posix, path, "make the folder");
  /* A dangling link is an error, since a caller that makes folders and
   * retries would do so for ever. */
  if (fstatat (posix->root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0
      && S_ISLNK (st.st_mode)
      && fstatat (posix->root_fd, path, &st, 0) < 0)
    return rd_posix_fail (posix, path, "follow the link");
  return RADIO_OK;
}

static enum radio_status
make_each_folder (const struct rd_posix *posix, const char *path)
{
  RD_FREE char *folder = rd_strdup (path);
  if (folder == NULL)
    return rd_fail_memory (strlen (path) + 1);
  for (char *p = folder; *p;) {
    p += strcspn (p, "/");
    char end = *p;
    *p = '\0';
    RD_TRY (make_folder (posix, folder));
    *p = end;
    p += strspn (p, "/");
  }
  return RADIO_OK;
}

/* An existing folder can be removed before its child is made, when another
 * process removes empty ones: then all is done again. */
enum radio_status
rd_posix_make_folders (const struct rd_posix *posix, const char *path)
{
  enum radio_status status = RADIO_ERROR_NOT_FOUND;
  for (int i = 0; status == RADIO_ERROR_NOT_FOUND && i < 1000; i++)
    status = make_each_folder (posix, path);
  return status;
}

/* Adds one name of an open folder, if it is wanted.  A name that vanished
 * meanwhile, or a dangling link, is omitted. */
static enum radio_status
scan_name (int fd, const char *name, enum rd_scan what, bool *failed,
           struct rd_entries *entries)
{
  struct stat st;
  bool is_all = what == RD_SCAN_ALL;
  int result = fstatat (fd, name, &st, AT_SYMLINK_NOFOLLOW);
  bool is_link = result == 0 && S_ISLNK (st.st_mode) && !is_all;
  if (is_link)
    result = fstatat (fd, name, &st, 0);
  if (result < 0) {
    *failed = errno != ENOENT && !(is_link && errno == ELOOP);
    return RADIO_OK;
  }
  bool is_folder = S_ISDIR (st.st_mode);
  if (is_link && is_folder && what == RD_SCAN_LIST_RECURSIVE)
    return RADIO_OK;
  if (!is_folder && !S_ISREG (st.st_mode) && !is_all)
    return RADIO_OK;
  return rd_entries_add (entries, name, strlen (name), is_folder,
                         is_folder ? 0 : (uint64_t) st.st_size);
}

static void
cleanup_dir (DIR **dir)
{
  if (*dir)
    closedir (*dir);
}

/* NULL with errno ENOENT when there is no such folder. */
static DIR *
open_dir (const struct rd_posix *posix, const char *path)
{
  int fd = open_folder (posix, path);
  if (fd < 0) {
    /* An object is no folder. */
    if (errno == ENOTDIR)
      errno = ENOENT;
    return NULL;
  }
  DIR *dir = fdopendir (fd);
  if (dir == NULL) {
    int errnum = errno;
    close (fd);
    errno = errnum;
  }
  return dir;
}

enum radio_status
rd_posix_scan (const struct rd_posix *posix, const char *path,
               enum rd_scan what, struct rd_entries *entries)
{
  RD_CLEANUP (cleanup_dir) DIR *dir = open_dir (posix, path);
  if (dir == NULL)
    return errno == ENOENT ? RADIO_OK
                           : rd_posix_fail (posix, path, "list");
  for (;;) {
    errno = 0;
    const struct dirent *dirent = readdir (dir);
    if (dirent == NULL)
      break;
    const char *name = dirent->d_name;
    if (strcmp (name, ".") == 0 || strcmp (name, "..") == 0
        || (what != RD_SCAN_ALL && rd_temp_is_name (name)))
      continue;
    bool failed = false;
    RD_TRY (scan_name (dirfd (dir), name, what, &failed, entries));
    if (failed)
      return rd_posix_fail (posix, path, "list");
  }
  return errno == 0 ? RADIO_OK : rd_posix_fail (posix, path, "list");
}

/*------------------------------------------------------------------------
 * Listings: all names are collected before the first is reported, so that
 * they are in byte order, with recursion too ("a.b" comes before "a/b")
 *----------------------------------------------------------------------*/

/* Collects the objects below a folder; `below' is its path relative to the
 * listed prefix. */
static enum radio_status
collect (const struct rd_posix *posix, const char *path, const char *below,
        struct rd_entries *entries)
{
  RD_ENTRIES_SCOPE struct rd_entries names = { 0 };
  RD_TRY (rd_posix_scan (posix, path, RD_SCAN_LIST_RECURSIVE, &names));
  for (size_t i = 0; i < names.n; i++) {
    const struct rd_io_entry *entry = &names.items[i];
    RD_FREE char *name = rd_key_join (below, entry->name);
    if (name == NULL)
      return RADIO_ERROR_MEMORY;
    if (!entry->is_prefix) {
      RD_TRY (rd_entries_add (entries, name, strlen (name), false,
                              entry->nbytes));
      continue;
    }
    RD_FREE char *child = rd_key_join (path, entry->name);
    if (child == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (collect (posix, child, name, entries));
  }
  return RADIO_OK;
}

enum radio_status
rd_posix_list (struct rd_io *io, const char *prefix, bool recursive,
               rd_io_list_fn *fn, void *user_data)
{
  const struct rd_posix *posix = (const struct rd_posix *) io;
  RD_TRY (rd_prefix_check (io, prefix));
  RD_ENTRIES_SCOPE struct rd_entries entries = { 0 };
  if (recursive)
    RD_TRY (collect (posix, prefix, "", &entries));
  else
    RD_TRY (rd_posix_scan (posix, prefix, RD_SCAN_LIST, &entries));
  return rd_entries_report (&entries, fn, user_data);
}
