/* SPDX-License-Identifier: MIT */
/* Removing data that no volume names.  The order of locks protects live
 * writers: a writer creates its level's folder and takes that level's lock
 * while it holds the volume's, and publishes the volume's document while it
 * holds both.  So the holder of the volume's lock sees every writer's level
 * either locked or named.  Where locks do not hold between processes (S3), a
 * level that is not named and has an object younger than the store's grace
 * time counts as locked; and since a copy may resume with older objects,
 * removals are announced by tombstones (tombstones.h). */
#ifndef RD_COLLECT_H
#define RD_COLLECT_H

#include "src/base/json.h"
#include "src/array/context.h"
#include "src/volume/strings.h"

/* Remove the garbage in a volume's folder and keep the folder, which the
 * caller is about to fill and whose lock it holds: remove unnamed levels
 * whose lock is free, repair the header array, and remove its unnamed chunks.
 * Folders whose document is damaged or not radio's are left unchanged.
 * *result (its counts grow) may not be NULL. */
enum radio_status rd_collect_contents (struct radio_store *store,
                                       const char *path, bool dry_run,
                                       struct radio_gc_result *result)
  RADIO_USE_RESULT;

/* Take the lock, remove the garbage, and the folder if it is empty then.
 * Failures are ignored: gc removes what remains. */
void rd_collect_quietly (struct radio_store *store, const char *path);

/* Remove the data of a level that the caller has locked: its document
 * first, so that no reader takes the missing chunks for zeros. */
enum radio_status rd_level_remove (struct radio_store *store,
                                   const char *path) RADIO_USE_RESULT;

/* True if a level is among those that a document names. */
bool rd_levels_have (const struct rd_strings *levels, const char *name);

/* Append the paths of every level of every image that a group's attributes
 * name. */
enum radio_status rd_group_levels (struct json_object *attributes,
                                   struct rd_strings *levels)
  RADIO_USE_RESULT;

/* The bytes of all objects below a prefix. */
enum radio_status rd_prefix_nbytes (struct radio_store *store,
                                    const char *prefix, uint64_t *nbytes)
  RADIO_USE_RESULT;

#endif /* RD_COLLECT_H */
