/* SPDX-License-Identifier: MIT */
/* Resolves names on the command line: the store, and volumes and arrays in it,
 * on the disk, or at a URL. */
#ifndef RD_TOOLS_NAMES_H
#define RD_TOOLS_NAMES_H

#include "tools/options.h"

/* The store's name: --store, else $RADIO_STORE, else ./radio.zarr. */
const char *rd_store_name (const struct rd_args *args);

/* Opens the store; with create it is made when it is missing.  Returns an
 * exit status; prints errors. */
int rd_store_open (const struct rd_args *args, bool create,
                   struct radio_store **store);

/* Opens the store at a path or URL with the options given; prints nothing. */
enum radio_status rd_uri_open (const struct rd_args *args, const char *uri,
                               bool create, struct radio_store **store);

/* The node that an operand names, opened. */
struct rd_target {
  struct radio_store *store;
  char *path;                     /* of the node below the store's root */
  const char *name;               /* to call it by: the path, or the operand
                                     when that was a path of the disk */
  struct radio_volume *volume;    /* NULL when it is an array */
  struct radio_array *array;      /* a volume's array is its own */
};

/* Opens the volume that an operand names: the path of its folder, or a name
 * in the store.  With arrays it may also be any Zarr v3 array.  Returns an
 * exit status; prints errors. */
int rd_target_open (const struct rd_args *args, const char *operand,
                    bool arrays, struct rd_target *target);

void rd_target_close (struct rd_target *target);
#define RD_CLOSE_TARGET RD_CLEANUP (rd_target_close)

/* True if an operand is looked for on the disk first: a path takes precedence
 * over a name in the store, unless --store was given. */
bool rd_may_be_path (const struct rd_args *args, const char *operand);

/* Splits the path of a node's folder into the store's root (the longest way
 * up the path through folders that have a zarr.json) and the node's path
 * below it; both are allocated.  False when it is no node's path: nothing
 * is allocated then.  A URL is taken as the root without a request: to read a
 * volume, its document is enough; see rd_url_split. */
bool rd_split_path (const char *operand, char **root, char **path);

/* The last part of a node's path without ".zarr", for naming files after
 * it; allocated, NULL after an error. */
char *rd_base_name (const char *path);

/* True if an operand begins with http://, https:// or s3://. */
bool rd_is_url (const char *operand);

/* Splits the URL of a node like rd_split_path: the documents above it are
 * requested, one after the other, until none is left.  The path is without
 * percent encoding.  Returns an exit status; prints errors, also when there is
 * no node. */
int rd_url_split (const struct rd_args *args, const char *operand,
                  char **root, char **path);

/* Fails, after an error, if a store at that URL would lie within another one.
 */
int rd_url_check_apart (const struct rd_args *args, const char *address);

#endif /* RD_TOOLS_NAMES_H */
