/* SPDX-License-Identifier: MIT */
/* The files of an ingest: found in folders, and named. */
#ifndef RD_FILES_H
#define RD_FILES_H

#include <sys/types.h>

#include "tools/tool.h"

struct rd_file {
  char *name;                 /* as the user would find it */
  char *path;                 /* the volume's; NULL: has no legal one */
  uint64_t nbytes;            /* on the disk; 0: unknown */
  dev_t device;
  ino_t inode;
};

struct rd_files {
  struct rd_file *list;
  size_t n, capacity;
  size_t nbad;                /* folders that could not be read; reported */
};

/* Adds a file, or all images in and below a folder (in the byte order of
 * their names, without hidden ones).  False without memory. */
bool rd_files_add (struct rd_files *files, const char *name);

/* Names every file's volume, drops duplicates (also an .img beside its .hdr),
 * and checks that no two files have the same path: false after an error. */
bool rd_files_name (struct rd_files *files, const char *collection);

void rd_files_clear (struct rd_files *files);

#endif /* RD_FILES_H */
