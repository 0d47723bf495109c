/* SPDX-License-Identifier: MIT */
/* Removal in the POSIX store: objects, trees, and the temporary files of dead
 * writers. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include "profiler/counters.h"
#include "io/posix/posix.h"

enum radio_status
rd_posix_remove (struct rd_io *io, const char *key)
{
  RD_SCOPE_BLOCKING ("remove file", RD_IN_DISK);
  const struct rd_posix *posix = (const struct rd_posix *) io;
  RD_TRY (rd_key_check (io, key));
  struct stat st;
  if (fstatat (posix->root_fd, key, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return rd_posix_fail (posix, key, "remove");
  if (S_ISDIR (st.st_mode))
    return rd_posix_check_file (posix, key, &st);
  if (unlinkat (posix->root_fd, key, 0) < 0)
    return rd_posix_fail (posix, key, "remove");
  rd_posix_forget (io, key);
  return rd_posix_sync_parent (posix, key);
}

/* Succeeds if another process removed it first. */
static enum radio_status
unlink_path (const struct rd_posix *posix, const char *path, int flags)
{
  if (unlinkat (posix->root_fd, path, flags) < 0 && errno != ENOENT)
    return rd_posix_fail (posix, path, "remove");
  return RADIO_OK;
}

static enum radio_status
empty_folder (const struct rd_posix *posix, const char *path)
{
  RD_ENTRIES_SCOPE struct rd_entries names = { 0 };
  RD_TRY (rd_posix_scan (posix, path, RD_SCAN_ALL, &names));
  for (size_t i = 0; i < names.n; i++) {
    RD_FREE char *child = rd_key_join (path, names.items[i].name);
    if (child == NULL)
      return RADIO_ERROR_MEMORY;
    if (names.items[i].is_prefix)
      RD_TRY (empty_folder (posix, child));
    RD_TRY (unlink_path (posix, child,
                         names.items[i].is_prefix ? AT_REMOVEDIR : 0));
  }
  return RADIO_OK;
}

enum radio_status
rd_posix_remove_tree (struct rd_io *io, const char *prefix)
{
  RD_SCOPE_BLOCKING ("remove folder", RD_IN_DISK);
  const struct rd_posix *posix = (const struct rd_posix *) io;
  RD_TRY (rd_prefix_check (io, prefix));
  rd_posix_forget (io, prefix);
  struct stat st;
  if (fstatat (posix->root_fd, rd_posix_path (prefix), &st,
               AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT || errno == ENOTDIR
             ? RADIO_OK : rd_posix_fail (posix, prefix, "remove");
  /* An object of that name is not below the prefix. */
  if (S_ISREG (st.st_mode))
    return RADIO_OK;
  if (S_ISDIR (st.st_mode))
    RD_TRY (empty_folder (posix, prefix));
  if (*prefix == '\0')
    return rd_posix_sync_folder (posix, prefix);
  RD_TRY (unlink_path (posix, prefix,
                       S_ISDIR (st.st_mode) ? AT_REMOVEDIR : 0));
  return rd_posix_sync_parent (posix, prefix);
}

/* Removes one temporary file unless its writer lives.  Its name cannot denote
 * another file between the steps: such names are random. */
static enum radio_status
sweep_file (const struct rd_posix *posix, const char *path, bool dry_run,
            struct rd_io_swept *swept)
{
  RD_CLOSE_FD int fd = rd_posix_openat (posix, path,
                                        O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return errno == ENOENT ? RADIO_OK
                           : rd_posix_fail (posix, path, "open");
  struct stat st;
  if (flock (fd, LOCK_EX | LOCK_NB) < 0 || fstat (fd, &st) < 0
      || !S_ISREG (st.st_mode))
    return RADIO_OK;
  /* Removed or published since it was listed. */
  struct stat named;
  if (fstatat (posix->root_fd, path, &named, AT_SYMLINK_NOFOLLOW) < 0)
    return RADIO_OK;
  if (!dry_run)
    RD_TRY (unlink_path (posix, path, 0));
  swept->n_files++;
  /* A second link keeps its bytes. */
  swept->nbytes += st.st_nlink == 1 ? (uint64_t) st.st_size : 0;
  return RADIO_OK;
}

static enum radio_status
sweep_folder (const struct rd_posix *posix, const char *path, bool dry_run,
              struct rd_io_swept *swept)
{
  RD_ENTRIES_SCOPE struct rd_entries names = { 0 };
  RD_TRY (rd_posix_scan (posix, path, RD_SCAN_ALL, &names));
  for (size_t i = 0; i < names.n; i++) {
    const struct rd_io_entry *entry = &names.items[i];
    RD_FREE char *child = rd_key_join (path, entry->name);
    if (child == NULL)
      return RADIO_ERROR_MEMORY;
    if (entry->is_prefix)
      RD_TRY (sweep_folder (posix, child, dry_run, swept));
    else if (rd_temp_is_name (entry->name))
      RD_TRY (sweep_file (posix, child, dry_run, swept));
  }
  return RADIO_OK;
}

enum radio_status
rd_posix_sweep (struct rd_io *io, const char *prefix, bool dry_run,
                struct rd_io_swept *swept)
{
  *swept = (struct rd_io_swept) { 0 };
  RD_TRY (rd_prefix_check (io, prefix));
  return sweep_folder ((const struct rd_posix *) io, prefix, dry_run,
                       swept);
}
