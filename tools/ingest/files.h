/* SPDX-License-Identifier: MIT */
/* The files of an ingest: found in folders and by patterns, and named before
 * anything is written. */
#ifndef RD_TOOLS_INGEST_FILES_H
#define RD_TOOLS_INGEST_FILES_H

#include <sys/types.h>

#include "tools/tool.h"

struct rd_file {
  char *name;                 /* as the user would find it */
  char *path;                 /* the volume's; NULL: has no legal one */
  char *message;              /* why it has none */
  bool is_found;              /* in a folder that was named */
  bool is_labels;
  const struct radio_label *labels;   /* belong to the layout */
  size_t nlabels;
  uint64_t nbytes;            /* on the disk; 0: unknown */
  dev_t device;
  ino_t inode;
};

struct rd_found_files {
  struct rd_file *list;
  size_t n, capacity;
  size_t nbad;                /* folders that could not be read; reported */
};

/* The source of a collection's name. */
enum rd_collection_from { RD_FROM_EITHER, RD_FROM_NAME, RD_FROM_FOLDER };

/* How files are named. */
struct rd_naming {
  const char *collection;     /* NULL: by the name, folder or layout */
  enum rd_collection_from from;
  struct radio_layout *layout;        /* NULL: none */
};

/* Adds a file, or all images in and below a folder (in the byte order of
 * their names, without hidden ones).  False without memory. */
bool rd_files_add (struct rd_found_files *files, const char *name);

/* Names every file's volume, drops duplicates (also an .img beside its .hdr),
 * and files that were found in a folder and are not of the layout, with a
 * warning; and checks that no two files have the same path.  False after an
 * error.
 *
 * Where two files of different folders have one path, as the images and labels
 * of a data set often do, all collections are named after folders, if naming
 * leaves that open. */
bool rd_files_name (struct rd_found_files *files,
                    const struct rd_naming *naming);

/* Releases what describes a file. */
void rd_file_clear (struct rd_file *file);
void rd_found_files_clear (struct rd_found_files *files);

#endif /* RD_TOOLS_INGEST_FILES_H */
