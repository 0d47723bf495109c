/* SPDX-License-Identifier: MIT */
/* The POSIX store.
 *
 * A key is the path of a file below the store's folder, which is held open:
 * a change of the working directory does not matter.  Objects are written to
 * a temporary file in their own folder, which is renamed when it is complete
 * and synced.  The writer holds an flock on it as long as it lives: sweep
 * removes only files without one.
 *
 * Symbolic links are followed by reads and by plain listings; a recursive
 * listing does not descend into linked folders (they may form a cycle), and
 * removal removes the link, never its target. */
#ifndef RD_POSIX_H
#define RD_POSIX_H

#include <sys/stat.h>

#include "io/store.h"

struct rd_posix_files;
struct rd_posix_stages;

struct rd_posix {
  struct rd_io base;
  int root_fd;
  struct rd_posix_files *files;       /* the cache of open files; or NULL */
  struct rd_posix_stages *stages;     /* or NULL */
};

/*------------------------------------------------------------------------
 * Paths and errors
 *----------------------------------------------------------------------*/

/* The failure errno, naming the path (relative to the root) and the action
 * that failed. */
enum radio_status rd_posix_fail (const struct rd_posix *posix,
                                 const char *path, const char *action);

/* The path that the *at functions expect: "." for the root. */
static inline const char *
rd_posix_path (const char *prefix)
{
  return *prefix ? prefix : ".";
}

/* The folder of a path, "" for the root; allocated, NULL without memory (the
 * message is set). */
char *rd_posix_parent (const char *path);

/* RADIO_OK when st is of a file; a folder is RADIO_ERROR_NOT_FOUND. */
enum radio_status rd_posix_check_file (const struct rd_posix *posix,
                                       const char *key,
                                       const struct stat *st);

/* openat below the root.  When the process has no descriptor left, cached
 * files are closed until it succeeds. */
int rd_posix_openat (const struct rd_posix *posix, const char *path,
                     int flags);

/*------------------------------------------------------------------------
 * Folders
 *----------------------------------------------------------------------*/

/* mkdirat, as a scope that blocks. */
int rd_posix_mkdir (const struct rd_posix *posix, const char *path);

/* Makes a folder and those above it, durably. */
enum radio_status rd_posix_make_folders (const struct rd_posix *posix,
                                         const char *path);

/* The same without making them durable, which the first object below them
 * does. */
enum radio_status rd_posix_make_unsynced (const struct rd_posix *posix,
                                          const char *path);

/* Makes the entries of a folder durable; "" is the root. */
enum radio_status rd_posix_sync_folder (const struct rd_posix *posix,
                                        const char *path);

/* The same for a folder that is open. */
enum radio_status rd_posix_sync_open_folder (const struct rd_posix *posix,
                                             int fd, const char *path);

/* The same for the folder that a path is in. */
enum radio_status rd_posix_sync_parent (const struct rd_posix *posix,
                                        const char *path);

/* The entries of a folder to read. */
enum rd_scan {
  RD_SCAN_LIST,               /* no temporary files, links followed */
  RD_SCAN_LIST_RECURSIVE,     /* the same, without linked folders */
  RD_SCAN_ALL,                /* every name; links are not prefixes */
};

/* Adds a folder's names to entries, unsorted.  A missing one has none, but a
 * root that was removed is RADIO_ERROR_NOT_FOUND. */
enum radio_status rd_posix_scan (const struct rd_posix *posix,
                                 const char *path, enum rd_scan what,
                                 struct rd_entries *entries);

/* True for the names of temporary files. */
bool rd_temp_is_name (const char *name);

/*------------------------------------------------------------------------
 * Files that are being written, and stages of them
 *----------------------------------------------------------------------*/

/* A temporary file, or an object of a stage, which has its name at once; path
 * is NULL before it exists and after it is gone. */
struct rd_posix_temp {
  int fd;
  char *path;
  uint64_t nbytes;            /* appended */
  uint64_t flushed_nbytes;    /* of these, those whose writeback was begun */
  struct rd_io_stage *stage;  /* NULL: a temporary file */
};

/* Makes a file for an object, and missing folders. */
enum radio_status rd_posix_temp_create (const struct rd_posix *posix,
                                        const char *key,
                                        struct rd_posix_temp *temp);
/* The message of a failure has no name: callers know the object's. */
enum radio_status rd_posix_temp_append (const struct rd_posix *posix,
                                        struct rd_posix_temp *temp,
                                        const struct rd_part *parts,
                                        size_t n);
enum radio_status rd_posix_temp_rename (const struct rd_posix *posix,
                                        const struct rd_posix_temp *temp,
                                        const char *key, enum rd_put how);

/* Removes it; closes it, since it has been renamed. */
void rd_posix_temp_discard (const struct rd_posix *posix,
                            struct rd_posix_temp *temp);
void rd_posix_temp_forget (struct rd_posix_temp *temp);

enum radio_status rd_posix_sync_file (const struct rd_posix *posix, int fd,
                                      const char *path);

/* Makes all of the file system durable, if there is a call for that. */
bool rd_posix_syncs_all (void);
enum radio_status rd_posix_sync_all (const struct rd_posix *posix,
                                     const char *path);

enum radio_status rd_posix_stages_open (struct rd_posix_stages **stages);
void rd_posix_stages_close (struct rd_posix_stages *stages);

/* Makes the file of an object if its key is in a stage, and does not exist;
 * else temp stays as it is. */
enum radio_status rd_posix_stage_create (const struct rd_posix *posix,
                                         const char *key,
                                         struct rd_posix_temp *temp);

/* Leaves a complete file to its stage. */
enum radio_status rd_posix_stage_add (const struct rd_posix *posix,
                                      struct rd_posix_temp *temp);

/* Notes that the entries of a folder have changed, drops that note (false if
 * there was no note), and syncs the noted folders above a key. */
enum radio_status rd_posix_note_unsynced (const struct rd_posix *posix,
                                          const char *folder);
bool rd_posix_drop_unsynced (const struct rd_posix *posix,
                             const char *folder);
enum radio_status rd_posix_sync_above (const struct rd_posix *posix,
                                       const char *key);

/*------------------------------------------------------------------------
 * The cache of open files
 *----------------------------------------------------------------------*/

/* Most that are open at one time. */
#define RD_POSIX_MAX_FILES 128

enum radio_status rd_posix_files_open (struct rd_posix_files **files)
  RADIO_USE_RESULT;

/* Called when none is in use. */
void rd_posix_files_close (struct rd_posix_files *files);

/* An open file. */
struct rd_io_file {
  int fd;
  uint64_t nbytes;                    /* when it was opened */
  unsigned char *map;                 /* of all of them; or NULL */

  /* Private to the cache. */
  uint64_t hash;
  struct {
    unsigned nusers;
    bool is_kept;
    uint64_t last_use;
  } synced;
  char key[];
};

/*------------------------------------------------------------------------
 * Entries of the table
 *----------------------------------------------------------------------*/

void rd_posix_get (struct rd_io *io, struct rd_io_get *gets, size_t n);
struct rd_io_file *rd_posix_hold (struct rd_io *io, const char *key,
                                  bool keep);
void rd_posix_release (struct rd_io *io, struct rd_io_file *file);
const unsigned char *rd_posix_map (struct rd_io_file *file,
                                   uint64_t *nbytes);
bool rd_posix_identify (struct rd_io_file *file,
                        struct rd_file_identity *identity, bool *is_stable);
void rd_posix_forget (struct rd_io *io, const char *prefix);
enum radio_status rd_posix_list (struct rd_io *io, const char *prefix,
                                 bool recursive, rd_io_list_fn *fn,
                                 void *user_data);
enum radio_status rd_posix_put (struct rd_io *io, const char *key,
                                const struct rd_part *parts, size_t n,
                                enum rd_put how);
enum radio_status rd_posix_create (struct rd_io *io, const char *key,
                                   struct rd_io_writer **writer);
enum radio_status rd_posix_duplicate (struct rd_io *io, const char *from,
                                      uint64_t nbytes, const char *key)
  RADIO_USE_RESULT;
enum radio_status rd_posix_stage (struct rd_io *io, const char *prefix,
                                  struct rd_io_stage **stage);
void rd_posix_unstage (struct rd_io *io, struct rd_io_stage *stage);
enum radio_status rd_posix_publish (struct rd_io *io,
                                    struct rd_io_stage *const *stages,
                                    size_t n, const char *key,
                                    const struct rd_part *part,
                                    enum rd_put how);
enum radio_status rd_posix_remove (struct rd_io *io, const char *key);
enum radio_status rd_posix_remove_tree (struct rd_io *io,
                                        const char *prefix);
enum radio_status rd_posix_sweep (struct rd_io *io, const char *prefix,
                                  bool dry_run, struct rd_io_swept *swept);

#endif /* RD_POSIX_H */
