/* SPDX-License-Identifier: MIT */
/* Resolves names on the command line: the store, and volumes and arrays in it,
 * on the disk, or at a URL. */
#ifndef RD_TOOLS_NAMES_H
#define RD_TOOLS_NAMES_H

#include "tools/options.h"
#include "tools/select.h"

/* The store's name: --store, else $RADIO_STORE, else ./radio.zarr. */
const char *rd_store_name (const struct rd_args *args);

/* Opens the store; with create it is made when it is missing.  Returns an
 * exit status; prints errors. */
int rd_store_open (const struct rd_args *args, bool create,
                   struct radio_store **store);

/* Opens a context with the options given; prints nothing. */
enum radio_status rd_context_open (const struct rd_args *args,
                                   struct radio_context **context);

/* Prints the library's message about a store that cannot be opened, which names
 * a URL unless it is not to be shown; returns an exit status. */
int rd_store_error (const char *store);

/* Opens the store at a path or URL with the options given; prints nothing.
 * RD_URI_ANY_ROOT also opens one whose root's document is broken or was
 * lost. */
enum rd_uri_how { RD_URI_EXISTING, RD_URI_CREATE, RD_URI_ANY_ROOT };
enum radio_status rd_uri_open (const struct rd_args *args, const char *uri,
                               enum rd_uri_how how,
                               struct radio_store **store);

/* How images in their files are opened. */
struct rd_files {
  struct radio_context *context;
  struct radio_s3_options s3;
};

/* NULL is legal. */
void rd_files_close (struct rd_files *files);

/* A node that an operand names. */
struct rd_target {
  struct radio_store *store;
  char *path;                     /* of the node below the store's root */
  char *name;                     /* to call it by: the path, or the path or
                                     URL by which it was named */
  struct radio_volume *volume;    /* NULL when it is an array */
  struct radio_array *array;      /* a volume's array is its own */
  bool is_group;                  /* the root, or a folder below it */
  struct rd_files *files;         /* not NULL: an image in its file, which is
                                     the name; opened so */
  char *url;                      /* of such an image with a query, which the
                                     name does not show; else NULL */
  bool keep_index;                /* of its points of entry, if it is gzip */
  bool map;                       /* it, if it is not */

  /* Applied to the volume when it is opened; or NULL. */
  const struct radio_pipeline *pipeline;
  struct radio_pipeline *drawn;   /* that, if it is this node's own; or NULL */
  bool is_applied;

  /* With RD_NODES_OPENED, of a listing, which closes the volume itself; NULL
   * if it could not be opened: radio_error_message says why. */
  bool is_listed;
  bool has_stored_nbytes;         /* also without being listed */
  uint64_t stored_nbytes;

  char *level;                    /* with RD_NODES_LEVELS, as the row says by
                                     which it was selected; NULL: it has none */
};

/* Opens the volume that an operand names: the path of its folder, or a name
 * in the store.  With arrays it may also be any Zarr v3 array.  Returns an
 * exit status; prints errors. */
int rd_target_open (const struct rd_args *args, const char *operand,
                    bool arrays, struct rd_target *target);

void rd_target_close (struct rd_target *target);

/* The operand that names a target again.  Not to be shown. */
const char *rd_target_operand (const struct rd_target *target);
#define RD_CLOSE_TARGET RD_CLEANUP (rd_target_close)

/* Kinds of nodes that operands may name besides volumes, and how they are
 * looked for. */
enum {
  RD_NODES_ARRAYS = 1,        /* also any Zarr v3 array */
  RD_NODES_ONE = 2,           /* no collections, stores or patterns */
  RD_NODES_SOME = 4,          /* no collections or stores without volumes */
  RD_NODES_CLOSED = 8,        /* damaged volumes, too: none is opened; of a URL
                                 the store's root is looked for */
  RD_NODES_OPENED = 16,       /* volumes are opened as they are listed, many
                                 at the same time: for rd_nodes_each */
  RD_NODES_STRICT = 32,       /* no whole store, and no name of a collection and
                                 of a volume */
  RD_NODES_UNREAD = 64,       /* also what cannot be read now, unopened */
  RD_NODES_UNCHECKED = 128,   /* with a store on a network, names with a '/'
                                 are taken for volumes without a request */
  RD_NODES_GROUPS = 256,      /* after the volumes of a store or collection, the
                                 groups above them: for rd_nodes_find */
  RD_NODES_LEVELS = 512,      /* with the levels that their rows name */
};

/* The nodes that the operands name: volumes, all of a collection or store, or
 * those that match a pattern.  Their stores are the list's.  A pipeline with
 * random operations is drawn for each, by its place in the list. */
struct rd_nodes {
  struct rd_target *list;
  size_t n, capacity;
  bool names_one;             /* there is one operand, which names the node
                                 itself */
  struct rd_root {
    char *name;               /* NULL: that of --store */
    struct radio_store *store;
  } *roots;                   /* at most one for each operand */
  size_t nroots;
  struct rd_cohorts cohorts;      /* of stores whose rows were selected */
  struct rd_files *files;         /* of all images in files; NULL: there are
                                     none */
};

/* Called with each node, in order; it may be open.  What is set to NULL (or
 * the whole to zero) was taken.  Anything but RD_EXIT_OK ends the search. */
typedef int rd_node_fn (struct rd_target *node, void *user_data);

/* Find what the operands name; without operands, all volumes of the store; and
 * of these what --where and the options beside it select, then no groups, and
 * with --sample no open volumes.  Operands that name nothing do not stop the
 * search.  Return an exit status; print errors.  The first reports nodes as
 * they are listed, the second keeps each once in nodes, which is to be cleared
 * in any case. */
int rd_nodes_each (const struct rd_args *args, unsigned how,
                   struct rd_nodes *nodes, rd_node_fn *take,
                   void *user_data);
int rd_nodes_find (const struct rd_args *args, unsigned how,
                   struct rd_nodes *nodes);
void rd_nodes_clear (struct rd_nodes *nodes);
#define RD_CLEAR_NODES RD_CLEANUP (rd_nodes_clear)

/* The same as rd_nodes_each before --sample and --head. */
int rd_operands_each (const struct rd_args *args, unsigned how,
                      struct rd_nodes *nodes, rd_node_fn *take,
                      void *user_data);

/* True if a store on a network was named. */
bool rd_nodes_are_remote (const struct rd_args *args,
                          const struct rd_nodes *nodes);

/* Opens some of the n nodes from node i on, at the same time, if a store on a
 * network was named and node i is not open: called before each is used, in
 * order.  with_sizes: also finds what is stored for volumes.  Prints nothing: a
 * node that cannot be opened stays closed. */
void rd_nodes_open_ahead (const struct rd_args *args, struct rd_nodes *nodes,
                          size_t i, size_t n, bool with_sizes);

/* Open a node that was found, unless it is open, and close it again.  The
 * first returns an exit status, and prints errors; the second does not print
 * them. */
int rd_node_open (struct rd_target *node);
enum radio_status rd_node_try_open (struct rd_target *node);
void rd_node_close (struct rd_target *node);

/* Closes a node and releases its names. */
void rd_node_clear (struct rd_target *node);

/* True if an operand is looked for on the disk first: a path takes precedence
 * over a name in the store, unless --store was given. */
bool rd_may_be_path (const struct rd_args *args, const char *operand);

/* True if a folder, named by the first n bytes of a path, has a file. */
bool rd_has_file (const char *path, size_t n, const char *name);

/* True if the first n bytes of a path are the name of a store: they end in
 * ".zarr", and the last part is not that alone. */
bool rd_is_store_name (const char *path, size_t n);

/* Report an operand that names no volume (tools/names/missing.c).
 *  foreign  a node of Zarr version 2, or an image; false if it is neither;
 *  no_path  a path to nothing, to a file or to a folder that is no node; false
 *           if it may be a name in the store.  message: what was found there
 *           about that name, or NULL;
 *  no_node  a path, in any case; returns an exit status;
 *  no_store a store of that name, which cannot be opened. */
bool rd_report_foreign (const char *operand);
bool rd_report_no_path (const char *operand, const char *message);
int rd_report_no_node (const char *operand);
int rd_report_no_store (const struct rd_args *args, const char *name);

/* Prints that a path is of the store's tables; false if it is not. */
bool rd_report_tables (struct radio_store *store, const char *path,
                       const char *operand);

/* Reports that a URL, which was taken for a store without a request, has no
 * tables, and is probably that of a collection; false: it may be a store. */
bool rd_report_no_tables (const struct rd_args *args, const char *url);

/* Splits the path of a node's folder into the store's root (the longest way
 * up the path through folders that have a zarr.json) and the node's path
 * below it; both are allocated.  False when it is no node's path: nothing
 * is allocated then.  A URL is taken as the root without a request: to read a
 * volume, its document is enough; see rd_url_split. */
bool rd_split_path (const char *operand, char **root, char **path);

/* A name for files of a node: its path with '_' for '/', "ct_sub-01"; of a
 * store's root the store's name without ".zarr".  Allocated, NULL after an
 * error. */
char *rd_target_stem (const struct rd_target *target);

/* The length of a path without its last part; least when it has only one. */
size_t rd_parent_length (const char *path, size_t n, size_t least);

/* True if an operand begins with http://, https:// or s3://; and how many
 * bytes that takes (0: it does not). */
bool rd_is_url (const char *operand);

/* Returns the bytes of a path without the slashes at its end; "/" stays. */
size_t rd_unslashed_nbytes (const char *path);

/* Returns whether two paths are equal, or of one file or folder. */
bool rd_is_same_file (const char *a, const char *b);

/* True if an operand is the URL of an image's file, by the suffix of its path:
 * .nii, .hdr or .img, or one of them and .gz. */
bool rd_is_image_url (const char *operand);
size_t rd_scheme_nbytes (const char *operand);

/* The URL of a node. */
struct rd_url {
  const char *text;
  char *root, *path;              /* when it was split */
  char *message;                  /* why it was not, or NULL, */
  const char *subject;            /* and what that is about, or NULL */
};

/* Splits URLs like rd_split_path, many at the same time: the documents above
 * each are requested, one after the other, until none is left.  The path is
 * without percent encoding.  Returns an exit status; prints none of the errors
 * of URLs. */
int rd_urls_split (const struct rd_args *args, struct rd_url *urls, size_t n);

/* Takes the parts of a URL that was split.  Returns an exit status; prints the
 * error, also when there is no node. */
int rd_url_take (struct rd_url *url, char **root, char **path);
void rd_url_clear (struct rd_url *url);

/* Fails, after an error, if a store at that URL would lie within another one.
 */
int rd_url_check_apart (const struct rd_args *args, const char *address);

#endif /* RD_TOOLS_NAMES_H */
