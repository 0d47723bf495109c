/* SPDX-License-Identifier: MIT */
/* Stores: the root of a tree of Zarr v3 groups and arrays.
 *
 * A store that radio creates has collections (groups), and these have volumes
 * (groups in OME-Zarr's layout).  Any other Zarr v3 hierarchy opens as a store
 * too: its volumes are its OME-Zarr images, and radio_array_open opens its
 * arrays.
 */
#ifndef RADIO_STORE_H
#define RADIO_STORE_H

#include <radio/base.h>
#include <radio/context.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_store;

/* Where a request has the bucket's name. */
enum radio_s3_addressing {
  /* In the path; for AWS in the host name if it can be part of one. */
  RADIO_S3_ADDRESSING_AUTO = 0,

  RADIO_S3_ADDRESSING_PATH,
  RADIO_S3_ADDRESSING_VIRTUAL,
};

/* Options of a store in S3.  Members that are NULL or zero come from the
 * environment (RADIO_S3, and the variables of AWS's clients) and AWS's
 * configuration files (see libradio(3)), else have their defaults.  All strings
 * are copied. */
struct radio_s3_options {
  /* "https://HOST[:PORT]" of an S3-compatible server; only "http://" works
   * without TLS. */
  const char *endpoint;

  /* The bucket's region; a wrong one is corrected by the server's response. */
  const char *region;

  /* The place of the bucket's name in requests. */
  enum radio_s3_addressing addressing;

  /* Credentials: a key pair, a profile, or anonymous.  The token belongs to
   * temporary keys; the profile is a section of AWS's configuration files;
   * anonymous requests are not signed. */
  const char *access_key;
  const char *secret_key;
  const char *session_token;
  const char *profile;
  bool anonymous;

  /* Hedging: at most this percentage of reads is sent a second time if no
   * byte arrived within 1.5 times the 95th percentile (at least 200 ms).  The
   * first response wins that is not throttling.  This shortens the slowest
   * reads, but both requests are billed, and so may be the bytes of the one
   * that lost.  0: no hedging; at most 5. */
  unsigned hedge_percent;

  /* A file of trusted certificates (PEM); NULL: $AWS_CA_BUNDLE, else
   * $SSL_CERT_FILE, else the system's. */
  const char *ca_file;

  /* This process is the only writer.  Required to write if the server ignores
   * conditional writes (If-None-Match). */
  bool single_writer;

  /* Unfinished data of this age in seconds count as left by a dead writer;
   * 0: a day. */
  uint64_t grace_s;

  /* Tiles of one object with at most this gap in bytes between them are read
   * by one request, gap included; 0: 1 MiB.  A smaller gap makes more requests
   * of fewer bytes, which is better if latency is low or bytes are billed. */
  uint64_t gap_nbytes;

  /* The maximum bytes of such a coalesced request; 0: 4 MiB.  A smaller cap
   * spreads a large read over more connections and decodes more of it while
   * the rest arrives, a larger one saves requests.  Limited by the context's
   * memory limit.  Also the maximum of a copy's requests, between 1 and 8 MiB
   * (0: 8 MiB). */
  uint64_t cap_nbytes;

  /* Timeouts after which a request is retried: without a connection (0: 5,000
   * ms), without the first byte of the response (0: 15,000), and without
   * progress in either direction (0: 15,000).  Smaller ones detect a silent
   * server sooner; below a loaded server's response time they only add load. */
  uint64_t connect_timeout_ms;
  uint64_t first_byte_timeout_ms;
  uint64_t stall_timeout_ms;

  /* Time for a request with all its retries before it fails, extended while
   * its bytes make progress; 0: 120,000. */
  uint64_t deadline_ms;

  /* Do not preconnect.  By default up to eight more connections are opened
   * with the first one, so that later requests do not wait for a handshake;
   * those unused for three seconds are closed. */
  bool no_connect_ahead;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[16];
};

/* Sets the fields that are named by settings as in the environment variable
 * RADIO_S3 ("hedge=3,gap=256K,deadline=5s"; radio(1) lists them); NULL and ""
 * name none.  radio_store_open applies the variable itself, to fields that are
 * zero: this is for settings from elsewhere.
 * Errors: RADIO_ERROR_ARGUMENT; then some fields may be set. */
RADIO_API enum radio_status
radio_s3_options_parse (const char *settings, struct radio_s3_options *options)
  RADIO_USE_RESULT;

struct radio_store_options {
  /* The context to use; NULL: the store creates its own. */
  struct radio_context *context;

  /* Create the store if it does not exist.  (An existing one is opened.) */
  bool create;

  /* For "s3://" only. */
  struct radio_s3_options s3;

  /* Called by radio_store_remove and radio_store_gc between their steps; if it
   * returns true they clean up and return RADIO_ERROR_CANCELLED.  May be
   * NULL. */
  radio_cancel_fn *cancel;
  void *user_data;

  /* Open the store also if its root's document is broken, or is missing while
   * there are volumes of radio's: to validate what is there.  If there are any
   * it is taken for a store of radio's, and for one if it cannot be listed;
   * radio_store_validate_group reports the document. */
  bool any_root;

  /* The generations of each table that radio_store_gc keeps: 1, 2, else 3.
   * With 1 nothing is left of rows and values that were removed.  Readers of an
   * older one get an error then, and open the table again; an edit that is
   * committed meanwhile may fail, and is to be repeated. */
  uint64_t generation_count;

  /* In a local folder: do not wait until what is written is on the disk.  It
   * still appears atomically, and a killed process loses nothing; but if the
   * machine crashes, objects of the last minute may be missing or cut.  For
   * arrays that can be made again, as other programs write them; not for
   * volumes. */
  bool no_sync;

  /* Called, at most once for a store, when an older generation of a table is
   * read since the newest one is missing; the message says what can be done.
   * On any thread that opens a table or cohort or selects rows, under locks of
   * these: it must not use the store.  user_data as for cancel.  May be
   * NULL. */
  radio_warning_fn *warning;

  /* Fail where the newest generation of a table is missing, as in a store that
   * was copied in part (RADIO_ERROR_FORMAT), instead of reading an older one.
   * Edits always do. */
  bool newest_tables;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[3];
};

/* Opens a store.
 *
 * uri is the path of a local folder; "memory:" for an empty store in memory,
 * which is freed when it is closed; "s3://BUCKET/PREFIX" (not percent-encoded);
 * or the "http://" or "https://" URL of a folder of files on a web server
 * (percent-encoded, without a user, '?' or '#'), which is read-only and cannot
 * be listed (RADIO_ERROR_UNSUPPORTED).  The folder must have a zarr.json (of a
 * group or an array), unless create is set.
 *
 * Over a network this sends no request, to save a round trip: opening a volume
 * or array by its path reads its document only, and finding or listing reports
 * a missing store.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (no zarr.json there), RADIO_ERROR_FORMAT
 * (its zarr.json is broken), RADIO_ERROR_UNSUPPORTED (made by a newer major
 * version, a Zarr v2 hierarchy, or an unknown URI scheme),
 * RADIO_ERROR_ARGUMENT (an invalid URI or option),
 * RADIO_ERROR_PERMISSION, RADIO_ERROR_IO, RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_store_open (const char *uri, const struct radio_store_options *options,
                  struct radio_store **store) RADIO_USE_RESULT;

/* Closes a store.  Its open volumes and arrays, and reads of them that were
 * started, go on; a store in memory is freed with the last of these. */
RADIO_API void radio_store_close (struct radio_store *store);

/* The kind of a node of the hierarchy. */
enum radio_node {
  RADIO_NODE_GROUP = 0,       /* radio_volume_open may open it */
  RADIO_NODE_ARRAY,           /* radio_array_open does */
};

/* Gets the kind of the node at a path below the store's root; "" is the root.
 * The rest of its document is not checked: opening it may still fail.
 * Errors: RADIO_ERROR_NOT_FOUND, RADIO_ERROR_FORMAT (not a node's document),
 * RADIO_ERROR_UNSUPPORTED (Zarr v2), those of reading. */
RADIO_API enum radio_status
radio_store_node (struct radio_store *store, const char *path,
                  enum radio_node *node) RADIO_USE_RESULT;

/* A volume found by radio_store_list.  The strings are valid during the
 * callback.  Later versions may add members at the end. */
struct radio_entry {
  const char *collection;     /* "" for a volume at the root */
  const char *name;           /* the volume's own name */
  const char *path;           /* "collection/name" */
};

/* Called for each entry; anything but RADIO_OK ends the listing and is
 * returned. */
typedef enum radio_status radio_entry_fn (const struct radio_entry *entry,
                                          void *user_data);

/* Lists the committed volumes: all of them, or those of one collection if that
 * is not NULL.  They are in byte order of the keys of their documents, as they
 * come from an object store: "ct/a-1/zarr.json" is before "ct/a/zarr.json".
 * Reads no volume's metadata.  Where nothing can be listed, over HTTP, these
 * are the volumes of a collection that have a row in its table, which may have
 * been removed since it was indexed.
 * Errors: RADIO_ERROR_NOT_FOUND (no such collection; or the store's folder was
 * removed since it was opened), RADIO_ERROR_UNSUPPORTED (over HTTP, of all
 * collections or of one without a table), those of listing. */
RADIO_API enum radio_status
radio_store_list (struct radio_store *store, const char *collection,
                  radio_entry_fn *callback, void *user_data) RADIO_USE_RESULT;

/* Finds the path of a volume given as "collection/name", or by its bare name
 * if only one collection has it.  A path is found if an image is there, or a
 * damaged volume that is listed; arrays and other groups are no volumes.
 * *path is allocated; the caller frees it with free ().
 * Errors: RADIO_ERROR_NOT_FOUND (the message suggests similar names),
 * RADIO_ERROR_ARGUMENT (the bare name is in several collections: the
 * message lists them), those of reading; of a bare name those of listing. */
RADIO_API enum radio_status
radio_store_find (struct radio_store *store, const char *name, char **path)
  RADIO_USE_RESULT;

/* Removes a volume: first its document, so that it vanishes atomically, then
 * its data.  Readers that have it open may fail from then on.  If a failure
 * leaves data, the message says so, and radio_store_gc removes it.
 * Errors: RADIO_ERROR_NOT_FOUND, RADIO_ERROR_PERMISSION, RADIO_ERROR_IO,
 * RADIO_ERROR_CANCELLED. */
RADIO_API enum radio_status
radio_store_remove (struct radio_store *store, const char *path)
  RADIO_USE_RESULT;

/* The same, but only if the volume names the level that it had when its row
 * was written (the column `level', radio/index.h); NULL: none.  Levels have
 * random names, so a volume that was replaced since is kept.  In S3, where no
 * lock holds between processes, one that is replaced in the moment between this
 * check and the removal is removed.
 * Errors: those of radio_store_remove; RADIO_ERROR_NOT_FOUND (also: it names
 * another level, or its document is damaged; nothing was removed). */
RADIO_API enum radio_status
radio_store_remove_level (struct radio_store *store, const char *path,
                          const char *level) RADIO_USE_RESULT;

/* A result: later versions may add members at its end. */
struct radio_gc_result {
  uint64_t removed_count;     /* levels, chunks of header arrays, generations
                                 of tables, and temporary files removed */
  uint64_t removed_nbytes;
  uint64_t busy_count;        /* kept: their writer is or may be alive (in
                                 S3: they are younger than grace_s) */
  uint64_t repaired_count;    /* header arrays, and documents of collections
                                 that were missing */
};

/* Removes unreferenced data: of dead writers, of replaced volumes, and of
 * tables all but the last generation_count generations.  Data of a live writer
 * are never removed.  Header arrays that are stale or damaged, and documents of
 * collections that are missing, are written again.  With dry_run nothing is
 * changed, only counted.  result may be NULL; it is also filled after a
 * failure.
 * Errors: RADIO_ERROR_NOT_FOUND (the store's folder was removed since it was
 * opened), those of listing, removing and writing, RADIO_ERROR_CANCELLED. */
RADIO_API enum radio_status
radio_store_gc (struct radio_store *store, bool dry_run,
                struct radio_gc_result *result, size_t result_nbytes)
  RADIO_USE_RESULT;
#define radio_store_gc(store, dry_run, result) \
  radio_store_gc (store, dry_run, result, sizeof (struct radio_gc_result))

#ifdef __cplusplus
}
#endif

#endif /* RADIO_STORE_H */
