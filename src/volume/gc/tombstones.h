/* SPDX-License-Identifier: MIT */
/* Tombstones: objects that announce a removal of a volume's data, in stores
 * whose locks do not exclude other processes (S3).
 *
 * That no object of a level is young only means that no one has written to
 * it for a while: a copy may resume at any moment and rely on what exists.
 * So both sides announce what they do before they check for the other:
 *
 *   the remover                      the copy
 *   1. puts a tombstone              a. publishes the volume's document
 *   2. reads the document: proceeds  b. waits until there is no tombstone
 *      only if it does not name the  c. checks all objects again, and
 *      level, and nothing is young      copies the removed ones again
 *   3. removes
 *   4. removes its tombstone
 *
 * If 2 came after a, nothing is removed.  If it came before, then so did 1,
 * and b finds the tombstone, or 4 came first: then c sees all that 3 did.
 * Either way, the volume is complete after c, and no one removes any more of
 * it.  This needs no clock, except for the tombstones of dead processes: one
 * that is older than an hour counts as abandoned.  So a tombstone is
 * refreshed before each level that is removed, which takes far less.  The
 * grace time does not apply: gc with a short one must not remove others'
 * tombstones.
 *
 * A process that may write but not remove leaves tombstones empty, which
 * does not count. */
#ifndef RD_TOMBSTONES_H
#define RD_TOMBSTONES_H

#include "src/array/array.h"

/* The folder of a volume that contains them. */
#define RD_TOMBSTONES_NAME ".radio-gc"

/* A tombstone that was put, or none. */
struct rd_tombstone {
  struct rd_io *io;
  char *key;
};

/* Put or refresh a tombstone for the volume at path; does nothing where
 * locks exclude other processes. */
enum radio_status rd_tombstone_put (struct radio_store *store,
                                    const char *path,
                                    struct rd_tombstone *tombstone)
  RADIO_USE_RESULT;

/* Remove it.  status is the result of the removal that it announced, and is
 * returned with its message unless it is RADIO_OK. */
enum radio_status rd_tombstone_end (struct rd_tombstone *tombstone,
                                    enum radio_status status)
  RADIO_USE_RESULT;

/* The key of a tombstone whose process may be alive, allocated; or
 * NULL. */
enum radio_status rd_tombstones_find (struct radio_store *store,
                                      const char *path, char **key)
  RADIO_USE_RESULT;

/* Remove abandoned tombstones, or only count them; adds to *n. */
enum radio_status rd_tombstones_sweep (struct radio_store *store,
                                       const char *path, bool dry_run,
                                       uint64_t *n) RADIO_USE_RESULT;

#endif /* RD_TOMBSTONES_H */
