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

/* fd -1: it is not open. */
static enum radio_status
sync_folder (const struct rd_posix *posix, int fd, const char *path)
{
  if (posix->base.no_sync)
    return RADIO_OK;
  RD_SCOPE_BLOCKING ("fsync folder", RD_IN_DISK);
  RD_CLOSE_FD int opened = -1;
  if (fd < 0)
    fd = opened = rd_posix_openat (posix, rd_posix_path (path),
                                   O_RDONLY | O_DIRECTORY);
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

/* Changes during the sync are noted again.  A folder that was made for a lock
 * may be gone. */
enum radio_status
rd_posix_sync_open_folder (const struct rd_posix *posix, int fd,
                           const char *path)
{
  struct rd_error error;
  bool was_noted = rd_posix_drop_unsynced (posix, path);
  enum radio_status status = sync_folder (posix, fd, path);
  if (!was_noted || status == RADIO_OK)
    return status;
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  rd_error_save (&error, status);
  RD_TRY (rd_posix_note_unsynced (posix, path));
  return rd_error_raise (&error);
}

enum radio_status
rd_posix_sync_folder (const struct rd_posix *posix, const char *path)
{
  return rd_posix_sync_open_folder (posix, -1, path);
}

enum radio_status
rd_posix_sync_parent (const struct rd_posix *posix, const char *path)
{
  RD_FREE char *parent = rd_posix_parent (path);
  if (parent == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_posix_sync_folder (posix, parent);
}

/* The kernel waits for the disk or for another change of the folder. */
int
rd_posix_mkdir (const struct rd_posix *posix, const char *path)
{
  int result, errnum;
  {
    RD_SCOPE_BLOCKING ("make folder", RD_IN_DISK);
    result = mkdirat (posix->root_fd, path, 0777);
    errnum = errno;
  }
  errno = errnum;
  return result;
}

static enum radio_status
make_folder (const struct rd_posix *posix, const char *path)
{
  struct stat st;
  if (rd_posix_mkdir (posix, path) == 0)
    return rd_posix_sync_parent (posix, path);
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

/* An existing folder can be removed before its child is made, when another
 * process removes empty ones: then all is done again. */
enum radio_status
rd_posix_make_folders (const struct rd_posix *posix, const char *path)
{
  RD_FREE char *folder = rd_strdup (path);
  if (folder == NULL)
    return rd_fail_memory (strlen (path) + 1);
  enum radio_status status = RADIO_ERROR_NOT_FOUND;
  for (int i = 0; status == RADIO_ERROR_NOT_FOUND && i < 1000; i++) {
    status = RADIO_OK;
    for (char *p = folder; *p && status == RADIO_OK;) {
      p += strcspn (p, "/");
      char end = *p;
      *p = '\0';
      status = make_folder (posix, folder);
      *p = end;
      p += strspn (p, "/");
    }
  }
  return status;
}

enum radio_status
rd_posix_make_unsynced (const struct rd_posix *posix, const char *path)
{
  RD_FREE char *parent = rd_posix_parent (path);
  if (parent == NULL)
    return RADIO_ERROR_MEMORY;
  int result = rd_posix_mkdir (posix, path);
  if (result < 0 && errno == ENOENT && *parent) {
    RD_TRY (rd_posix_make_unsynced (posix, parent));
    result = rd_posix_mkdir (posix, path);
  }
  if (result == 0)
    return rd_posix_note_unsynced (posix, parent);
  /* An object of that name, a dangling link, and a folder that is removed at
   * the same time. */
  return rd_posix_make_folders (posix, path);
}

static void
cleanup_dir (DIR **dir)
{
  if (*dir)
    closedir (*dir);
}

/* The root is held open, and lists as empty once it was removed: that must not
 * be taken for a store without volumes. */
static enum radio_status
check_root (const struct rd_posix *posix)
{
  struct stat st;
  return fstat (posix->root_fd, &st) < 0 || st.st_nlink > 0
    ? RADIO_OK
    : rd_fail (RADIO_ERROR_NOT_FOUND, "%s: the store's folder was removed; "
               "open the store again when it is there", posix->base.uri);
}

enum radio_status
rd_posix_scan (const struct rd_posix *posix, const char *path,
               enum rd_scan what, struct rd_entries *entries)
{
  RD_SCOPE_BLOCKING ("list folder", RD_IN_DISK);
  bool is_all = what == RD_SCAN_ALL;
  RD_CLOSE_FD int fd = rd_posix_openat (posix, rd_posix_path (path),
                                        O_RDONLY | O_DIRECTORY);
  /* An object is no folder. */
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
    return RADIO_OK;
  RD_CLEANUP (cleanup_dir) DIR *dir = fd < 0 ? NULL : fdopendir (fd);
  if (dir == NULL)
    return rd_posix_fail (posix, path, "list");
  fd = -1;
  for (;;) {
    errno = 0;
    const struct dirent *dirent = readdir (dir);
    if (dirent == NULL && errno != 0)
      return rd_posix_fail (posix, path, "list");
    if (dirent == NULL)
      return *path ? RADIO_OK : check_root (posix);
    const char *name = dirent->d_name;
    if (strcmp (name, ".") == 0 || strcmp (name, "..") == 0
        || (!is_all && rd_temp_is_name (name)))
      continue;
    /* Most file systems say so. */
    if (dirent->d_type == DT_DIR) {
      RD_TRY (rd_entries_add (entries, name, strlen (name), true, 0));
      continue;
    }
    struct stat st;
    int result = fstatat (dirfd (dir), name, &st, AT_SYMLINK_NOFOLLOW);
    bool is_link = result == 0 && S_ISLNK (st.st_mode) && !is_all;
    if (is_link)
      result = fstatat (dirfd (dir), name, &st, 0);
    /* A name that vanished meanwhile, or a dangling link, is omitted. */
    if (result < 0 && (errno == ENOENT || (is_link && errno == ELOOP)))
      continue;
    if (result < 0)
      return rd_posix_fail (posix, path, "list");
    bool is_folder = S_ISDIR (st.st_mode);
    if ((is_link && is_folder && what == RD_SCAN_LIST_RECURSIVE)
        || (!is_folder && !S_ISREG (st.st_mode) && !is_all))
      continue;
    RD_TRY (rd_entries_add (entries, name, strlen (name), is_folder,
                            is_folder ? 0 : (uint64_t) st.st_size));
  }
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
