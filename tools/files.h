/* SPDX-License-Identifier: MIT */
/* The files of an ingest: found, and named. */
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
  size_t nbad;                /* folders that could not be read, complained */
};

/* Add a file, or all images in and below a folder (in the byte order of
 * their names; hidden ones are left out).  False without memory. */
bool rd_files_add (struct rd_files *files, const char *name);

/* Give every file its volume's path, drop what was given twice (also an
 * .img beside its .hdr), and see that no two files have the same path: false
 * after naming both. */
bool rd_files_settle (struct rd_files *files, const char *collection);

void rd_files_clear (struct rd_files *files);

#endif /* RD_FILES_H */
