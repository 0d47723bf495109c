/* SPDX-License-Identifier: MIT */
/* Paths of nodes below a store's root: names joined by '/'; "" is the root
 * itself. */
#ifndef RD_PATH_H
#define RD_PATH_H

#include <radio/base.h>

#include "src/zarr/document.h"

/* The longest path: what S3 allows for a whole key. */
#define RD_PATH_MAX_NBYTES 1024

/* Room for any key of a node: its path, '/', and a chunk's key or the name
 * of a document, with the NUL. */
#define RD_KEY_NBYTES (RD_PATH_MAX_NBYTES + 1 + RD_CHUNK_KEY_NBYTES)

/* Whether a path can be a node's.  What is to be made must have legal names
 * (rd_node_name_check); what others made may have any that stay below the
 * root.  RADIO_ERROR_ARGUMENT. */
enum radio_status rd_path_check (const char *path, bool is_new)
  RADIO_USE_RESULT;

/* "PATH/NAME", or "NAME" below the root.  The path was checked. */
void rd_path_key (const char *path, const char *name,
                  char key[RD_KEY_NBYTES]);

#endif /* RD_PATH_H */
