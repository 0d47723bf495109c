/* SPDX-License-Identifier: MIT */
/* What the files of the posix store share.
 *
 * A key is the path of a file below the store's folder, which is held open:
 * a change of the working directory does not matter.  Objects are written
 * to a temporary file in their own folder, named by rd_temp_create, which
 * is renamed when it is whole and on the disk.  The writer holds an flock
 * on it as long as it lives: by that sweep tells the dead ones' files.
 *
 * Symbolic links are followed by reads and by plain listings; a recursive
 * listing does not descend into linked folders (they may lead back), and
 * removal takes the link, never what it leads to. */
#ifndef RD_POSIX_H
#define RD_POSIX_H

#include <sys/stat.h>

#include "io/entries.h"
#include "io/io.h"

struct rd_posix_files;

struct rd_posix {
  struct rd_io base;
  int root_fd;
  struct rd_posix_files *files;       /* that are held; NULL: none can be */
};

/* The failure errno, naming the path (relative to the root) and what could
 * not be done with it. */
enum radio_status rd_posix_fail (const struct rd_posix *posix,
                                 const char *path, const char *action);

/* The path that the *at functions want: "." for the root. */
const char *rd_posix_path (const char *prefix);

/* The folder that a path stands in, "" for the root; allocated, NULL
 * without memory (the message is set). */
char *rd_posix_parent (const char *path);

/* RADIO_OK when st is of a file; a folder is RADIO_ERROR_NOT_FOUND. */
enum radio_status rd_posix_check_file (const struct rd_posix *posix,
                                       const char *key,
                                       const struct stat *st);

/* openat below the root.  When the process has no descriptor left those of
 * files that are merely kept are given up for it. */
int rd_posix_openat (const struct rd_posix *posix, const char *path,
                     int flags);

/* Open an object for reading, and tell its size. */
enum radio_status rd_posix_open_object (const struct rd_posix *posix,
                                        const char *key, int *fd,
                                        uint64_t *nbytes);

/* The files that are held open, at most this many at one time. */
#define RD_POSIX_MAX_FILES 128

enum radio_status rd_posix_files_open (struct rd_posix_files **files)
  RADIO_USE_RESULT;

/* None may be in use. */
void rd_posix_files_close (struct rd_posix_files *files);

/* Close what nobody uses; false when there is nothing. */
bool rd_posix_files_yield (struct rd_posix_files *files);

/* Make a folder and those above it, durably. */
enum radio_status rd_posix_make_folders (const struct rd_posix *posix,
                                         const char *path);

/* Make a folder's names durable; "" is the root. */
enum radio_status rd_posix_sync_folder (const struct rd_posix *posix,
                                        const char *path);

/* Which names of a folder to read. */
enum rd_scan {
  RD_SCAN_LIST,               /* no temporary files, links followed */
  RD_SCAN_LIST_RECURSIVE,     /* the same, without linked folders */
  RD_SCAN_ALL,                /* every name, links as such: not prefixes */
};

/* Add a folder's names to entries, unsorted.  A missing one has none. */
enum radio_status rd_posix_scan (const struct rd_posix *posix,
                                 const char *path, enum rd_scan what,
                                 struct rd_entries *entries);

/* A temporary file; path is NULL when there is none (any more). */
struct rd_temp {
  int fd;
  char *path;
  uint64_t nbytes;            /* appended */
  uint64_t begun_nbytes;      /* of these, what the system was asked to begin
                                 to write to the disk */
};

/* Make one beside the future object, with the folders that are missing. */
enum radio_status rd_temp_create (const struct rd_posix *posix,
                                  const char *key, struct rd_temp *temp);

/* Of a large file the system begins to write what is there, so that there is
 * little left to wait for in the end. */
enum radio_status rd_temp_append (const struct rd_posix *posix,
                                  struct rd_temp *temp,
                                  const struct rd_part *parts, size_t n);

/* Give it its name, durably.  It is gone afterwards, also on failure. */
enum radio_status rd_temp_publish (const struct rd_posix *posix,
                                   struct rd_temp *temp, const char *key,
                                   enum rd_put how);

void rd_temp_discard (const struct rd_posix *posix, struct rd_temp *temp);

/* Whether a name is one that rd_temp_create makes. */
bool rd_temp_is_name (const char *name);

/* One that is held. */
struct rd_io_file {
  int fd;
  uint64_t nbytes;                    /* when it was opened */

  /* The store's own from here on. */
  uint64_t hash;
  struct {
    unsigned nusers;
    bool is_kept;
    uint64_t last_use;
  } synced;
  char key[];
};

/* The entries of the table that stand in files of their own. */
void rd_posix_get (struct rd_io *io, struct rd_io_get *gets, size_t n);
struct rd_io_file *rd_posix_hold (struct rd_io *io, const char *key,
                                  bool keep);
void rd_posix_release (struct rd_io *io, struct rd_io_file *file);
void rd_posix_forget (struct rd_io *io, const char *prefix);
enum radio_status rd_posix_list (struct rd_io *io, const char *prefix,
                                 bool recursive, rd_io_list_fn *fn,
                                 void *user_data);
enum radio_status rd_posix_put (struct rd_io *io, const char *key,
                                const struct rd_part *parts, size_t n,
                                enum rd_put how);
enum radio_status rd_posix_create (struct rd_io *io, const char *key,
                                   struct rd_io_writer **writer);
enum radio_status rd_posix_remove (struct rd_io *io, const char *key);
enum radio_status rd_posix_remove_tree (struct rd_io *io,
                                        const char *prefix);
enum radio_status rd_posix_lock (struct rd_io *io, const char *prefix,
                                 bool wait, struct rd_io_lock **lock);
enum radio_status rd_posix_sweep (struct rd_io *io, const char *prefix,
                                  bool dry_run, struct rd_io_swept *swept);

#endif /* RD_POSIX_H */
