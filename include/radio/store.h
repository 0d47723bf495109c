/* SPDX-License-Identifier: MIT */
/* Stores: the root of a tree of Zarr v3 groups and arrays.
 *
 * A store that radio makes holds collections (groups), and these hold
 * volumes (groups too, in OME-Zarr's layout).  Any other Zarr v3 hierarchy
 * opens as a store as well: its volumes are its OME-Zarr images, and its
 * arrays are reached by radio_array_open.
 */
#ifndef RADIO_STORE_H
#define RADIO_STORE_H

#include <radio/base.h>
#include <radio/context.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_store;

/* How the bucket's name goes into a request. */
enum radio_s3_addressing {
  /* In the path; at AWS in the host, where the name allows it. */
  RADIO_S3_ADDRESSING_AUTO = 0,

  RADIO_S3_ADDRESSING_PATH,
  RADIO_S3_ADDRESSING_VIRTUAL,
};

/* A store in S3: what is NULL or zero is as the environment and the files
 * of profiles say, as with AWS's other clients (see libradio(3)), and then
 * as AWS has it.  All strings are copied. */
struct radio_s3_options {
  /* "https://HOST[:PORT]" of what speaks S3's protocol; only what begins
   * with "http://" is asked without TLS. */
  const char *endpoint;

  /* Where the bucket is; a wrong one is corrected by the server's answer. */
  const char *region;
  enum radio_s3_addressing addressing;

  /* Who asks: both keys, a profile, or with anonymous nobody. */
  const char *access_key;
  const char *secret_key;
  const char *session_token;
  const char *profile;
  bool anonymous;

  /* Of a hundred reads that are answered so many may be asked a second time
   * (hedging), where nothing came for half as long again as 19 of 20 take
   * (200 ms at least); the first answer is taken that does not only ask to
   * come again.  The slowest reads end sooner, but both requests are paid
   * for, and so may be what the server sent in vain.  0: none; 5 at most. */
  unsigned hedge_percent;

  /* Certificates to trust, in PEM, instead of the system's. */
  const char *ca_file;

  /* Nobody else writes into the store.  Needed to write where the server
   * ignores conditions of writes (If-None-Match). */
  bool single_writer;

  /* What nobody finished for so many seconds counts as left behind by a
   * writer that died; 0: a day. */
  uint64_t grace_s;

  /* Tiles of one object that lie at most so many bytes apart are asked for
   * in one request, with what lies between; 0: 1 MiB.  A smaller gap makes
   * more requests of fewer bytes, which is faster where trips are short, or
   * bytes are paid for. */
  uint64_t gap_nbytes;

  /* The most bytes of a request that is joined so; 0: 4 MiB.  A smaller cap
   * spreads a large read over more connections and has more of it decoded
   * while the rest comes, a larger one spares requests.  Within the memory
   * that the context may use.  Of copies it is the most that a request
   * asks for as well, between 1 and 8 MiB (0: 8 MiB). */
  uint64_t cap_nbytes;

  /* After how many milliseconds a request is given up and made again: as
   * long as no connection came about (0: 5,000), no byte of the answer came
   * (0: 15,000), and nothing came or went any more (0: 15,000).  Smaller
   * ones find a server sooner that went silent; below what a loaded server
   * takes to answer they only add to its load. */
  uint64_t connect_timeout_ms;
  uint64_t first_byte_timeout_ms;
  uint64_t stall_timeout_ms;

  /* How long a request with all its attempts may take before it fails, and
   * longer as long as its bytes keep coming or going; 0: 120,000. */
  uint64_t deadline_ms;

  /* With the first connection no others are opened at once, which later
   * requests find there: without them each wave of requests that needs more
   * of them waits for one trip more.  Up to eight that no request needs
   * within three seconds are closed. */
  bool no_connect_ahead;
};

/* Asked, on the thread that called, whether what is under way is to end. */
typedef bool radio_cancel_fn (void *user_data);

struct radio_store_options {
  /* The context to work in; NULL: the store makes one of its own. */
  struct radio_context *context;

  /* Make the store when nothing is there yet.  (An existing store is
   * opened all the same.) */
  bool create;

  /* For "s3://" alone. */
  struct radio_s3_options s3;

  /* Asked by radio_store_remove and radio_store_gc between their steps: who
   * says yes has them end in good order, with RADIO_ERROR_CANCELLED.  May be
   * NULL. */
  radio_cancel_fn *cancel;
  void *user_data;
};

/* Open a store.
 *
 * uri is a path of a local folder, "memory:" for an empty store that lives
 * in memory and is gone when it is closed, "s3://BUCKET/PREFIX" for what a
 * bucket holds below a prefix (as it is, not percent-encoded), or the
 * "http://" or "https://" URL of a folder that a web server hands out as
 * files: percent-encoded, without a user, '?' or '#'.  Behind such a URL
 * nothing is written or listed (RADIO_ERROR_UNSUPPORTED).  The folder must
 * hold a zarr.json (of a group or of an array), unless create is set and it
 * holds none.
 *
 * Over a network nothing is asked before something is opened, found or
 * listed, since each question is a trip: what opens a volume or an array by
 * its path asks for its document alone, and what finds or lists tells that
 * there is no store.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (no zarr.json there), RADIO_ERROR_FORMAT
 * (its zarr.json is broken), RADIO_ERROR_UNSUPPORTED (made by a newer major
 * version, a Zarr v2 hierarchy, or an unknown URI scheme),
 * RADIO_ERROR_ARGUMENT (a URI or an option that cannot be),
 * RADIO_ERROR_PERMISSION, RADIO_ERROR_IO, RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_store_open (const char *uri, const struct radio_store_options *options,
                  struct radio_store **store) RADIO_USE_RESULT;

/* Close a store.  Its volumes and arrays that are still open stay usable. */
RADIO_API void radio_store_close (struct radio_store *store);

/* What a node of the tree is. */
enum radio_node {
  RADIO_NODE_GROUP = 0,       /* radio_volume_open may open it */
  RADIO_NODE_ARRAY,           /* radio_array_open does */
};

/* Tell what stands at a path below the store's root; "" is the root itself.
 * Only its kind is looked at: it may turn out to be broken when it is
 * opened.
 * Errors: RADIO_ERROR_NOT_FOUND, RADIO_ERROR_FORMAT (the document is none
 * of a node), RADIO_ERROR_UNSUPPORTED (Zarr v2), those of reading. */
RADIO_API enum radio_status
radio_store_node (struct radio_store *store, const char *path,
                  enum radio_node *node) RADIO_USE_RESULT;

/* One node found by radio_store_list.  The strings live until the callback
 * returns. */
struct radio_entry {
  const char *collection;     /* "" for a volume that stands at the root */
  const char *name;           /* the volume's own name */
  const char *path;           /* "collection/name", as others take it */
};

/* Called for each entry; anything but RADIO_OK ends the listing and becomes
 * its result. */
typedef enum radio_status radio_entry_fn (const struct radio_entry *entry,
                                          void *user_data);

/* List the committed volumes, in the byte order of their paths; all of them
 * or, when collection is not NULL, those of one collection.  No metadata of
 * a volume is read.
 * Errors: RADIO_ERROR_NOT_FOUND (no such collection), those of reading. */
RADIO_API enum radio_status
radio_store_list (struct radio_store *store, const char *collection,
                  radio_entry_fn *callback, void *user_data) RADIO_USE_RESULT;

/* Find the path of a volume that is given as "collection/name", or by its
 * bare name where only one collection has it.  *path is allocated, the
 * caller frees it with free ().
 * Errors: RADIO_ERROR_NOT_FOUND (the message suggests near names),
 * RADIO_ERROR_ARGUMENT (the bare name is in several collections: the
 * message lists them). */
RADIO_API enum radio_status
radio_store_find (struct radio_store *store, const char *name, char **path)
  RADIO_USE_RESULT;

/* Remove a volume: first its document, so that it is gone at once, then its
 * data.  Readers that have it open may fail from then on.  Of what a failure
 * has left behind its message tells: radio_store_gc removes it.
 * Errors: RADIO_ERROR_NOT_FOUND, RADIO_ERROR_PERMISSION, RADIO_ERROR_IO,
 * RADIO_ERROR_CANCELLED. */
RADIO_API enum radio_status
radio_store_remove (struct radio_store *store, const char *path)
  RADIO_USE_RESULT;

struct radio_gc_result {
  uint64_t removed_count;     /* levels and temporary files removed */
  uint64_t removed_nbytes;
  uint64_t busy_count;        /* left alone: their writer is alive, or may
                                 be (in S3: they are younger than grace_s) */
  uint64_t repaired_count;    /* header arrays made whole again */
};

/* Remove what no volume names: data of writers that died or of volumes that
 * were replaced.  What a living writer is writing is never taken.  With
 * dry_run nothing is changed, only counted.  result may be NULL; after a
 * failure it tells what was done before.
 * Errors: those of listing and removing, RADIO_ERROR_CANCELLED. */
RADIO_API enum radio_status
radio_store_gc (struct radio_store *store, bool dry_run,
                struct radio_gc_result *result) RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_STORE_H */
