/* SPDX-License-Identifier: MIT */
/* What names on the command line stand for: the store, and volumes and
 * arrays in it or anywhere on the disk. */
#ifndef RD_NAMES_H
#define RD_NAMES_H

#include "tools/options.h"

/* The store's name: --store, else $RADIO_STORE, else ./radio.zarr. */
const char *rd_store_name (const struct rd_args *args);

/* Open the store; with create it is made when it is missing.  Returns an
 * exit status, after complaining. */
int rd_store_open (const struct rd_args *args, bool create,
                   struct radio_store **store);

/* Open the store at a path or URL by what the options say; whoever calls
 * complains. */
enum radio_status rd_uri_open (const struct rd_args *args, const char *uri,
                               bool create, struct radio_store **store);

/* What an operand names, opened. */
struct rd_target {
  struct radio_store *store;
  char *path;                     /* of the node below the store's root */
  const char *name;               /* to call it by: the path, or the operand
                                     when that was a path of the disk */
  struct radio_volume *volume;    /* NULL when it is an array */
  struct radio_array *array;      /* a volume's array is its own */
};

/* Open the volume that an operand names: the path of its folder, or a name
 * in the store.  With arrays it may also be any Zarr v3 array.  Returns an
 * exit status, after complaining. */
int rd_target_open (const struct rd_args *args, const char *operand,
                    bool arrays, struct rd_target *target);

void rd_target_close (struct rd_target *target);
#define RD_CLOSE_TARGET RD_CLEANUP (rd_target_close)

/* Whether an operand is looked for on the disk first: a path of the disk
 * goes before a name of the store, unless a store was named on the command
 * line. */
bool rd_may_be_path (const struct rd_args *args, const char *operand);

/* Split the path of a node's folder into the store's root (the longest way
 * up the path through folders that have a zarr.json) and the node's path
 * below it; both are allocated.  False when it is no node's path: nothing
 * is allocated then.  Of an address (rd_is_url) nothing is asked: all of it
 * is the root; see rd_url_split. */
bool rd_split_path (const char *operand, char **root, char **path);

/* The last part of a node's path without ".zarr", for naming files after
 * it; allocated, NULL after complaining. */
char *rd_base_name (const char *path);

#endif /* RD_NAMES_H */
