/* SPDX-License-Identifier: MIT */
/* A file that appears whole or not at all: written without a name, so that none
 * is left however the process ends, synced, linked.  Where file systems have no
 * such files it has a temporary name in the same folder, and is renamed.  A
 * symbolic link is followed, so that it stays a link to the new content, unless
 * it leads to nothing: that is replaced; an existing file that is not regular
 * (a device, a folder) is refused rather than replaced; a regular one's
 * permissions are kept.  Callers phrase their own messages. */
#ifndef RD_ATOMIC_FILE_H
#define RD_ATOMIC_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* The step that failed; RD_ATOMIC_OK is 0. */
enum rd_atomic_failure {
  RD_ATOMIC_OK,
  RD_ATOMIC_NAME,             /* looking for an existing file, or memory */
  RD_ATOMIC_EXISTS,           /* there is a file, not to be overwritten */
  RD_ATOMIC_NOT_REGULAR,      /* it is no regular file */
  RD_ATOMIC_CREATE,           /* making the temporary file */
  RD_ATOMIC_KEEP_MODE,        /* giving it the old file's permissions */
  RD_ATOMIC_WRITE,            /* syncing and closing it */
  RD_ATOMIC_RENAME,
  RD_ATOMIC_SYNC_FOLDER,      /* the file is in its place all the same */
};

struct rd_atomic_file {
  int fd;                     /* to be written to; -1: closed */
  int errnum;                 /* of the failed call; not set with EXISTS
                               * and NOT_REGULAR */
  bool overwrite;
  char *target;               /* the name, links resolved */
  char *temporary;            /* the name it has or may get until commit */
  bool is_named;              /* there is a file of that name */
  char *leftover;             /* after commit: the temporary file, if it could
                                 not be removed; else NULL */
  size_t folder_nbytes;       /* of both, up to the last slash */
};

/* The file and what it left. */
#define RD_LEFTOVER_FORMAT "%s: is complete, but its temporary file could " \
                           "not be removed (%s); remove that"

/* Begins a file.  mode: of a new file, less the umask.  After a failure there
 * is nothing to commit or abort. */
enum rd_atomic_failure rd_atomic_open (struct rd_atomic_file *file,
                                       const char *name, bool overwrite,
                                       mode_t mode);

/* Makes it appear, or removes it; then there is no file any more. */
enum rd_atomic_failure rd_atomic_commit (struct rd_atomic_file *file);
void rd_atomic_free_leftover (struct rd_atomic_file *file);
void rd_atomic_abort (struct rd_atomic_file *file);

#endif /* RD_ATOMIC_FILE_H */
