/* SPDX-License-Identifier: MIT */
/* Where a new volume may stand, and the act that makes it one: what ingest
 * and copying have in common.  Everything that the volume's document speaks
 * of is durable before the document is published, at once, under the
 * volume's lock. */
#ifndef RD_PUBLISH_H
#define RD_PUBLISH_H

#include <radio/ingest.h>

#include "src/volume/meta.h"
#include "src/volume/node.h"

/* Whether volumes may be written into a store, and into that place of it:
 * stores of radio's, and "COLLECTION/NAME".  *collection is allocated, *name
 * points into path. */
enum radio_status rd_place_check (struct radio_store *store,
                                  const char *path, char **collection,
                                  const char **name) RADIO_USE_RESULT;

/* Make the collection's document when it is missing.  It comes first: every
 * node has its groups above it at any time. */
enum radio_status rd_place_make_collection (struct radio_store *store,
                                            const char *collection)
  RADIO_USE_RESULT;

/* What stands at a volume's path. */
struct rd_existing {
  bool is_there;
  bool is_ours;               /* a volume of radio's, or a damaged document */
  struct rd_volume_meta meta; /* if it could be read */
};

enum radio_status rd_existing_look (struct radio_store *store,
                                    const char *path,
                                    struct rd_existing *existing)
  RADIO_USE_RESULT;
void rd_existing_free (struct rd_existing *existing);
#define RD_EXISTING_SCOPE RD_CLEANUP (rd_existing_free)

/* Whether the volume may be written at all, by what the caller said of
 * existing ones; *skip is set when there is nothing to do. */
enum radio_status rd_existing_check (struct radio_store *store,
                                     const char *path,
                                     enum radio_existing how, bool *skip)
  RADIO_USE_RESULT;

/* A volume that is complete but for its header array and its document. */
struct rd_publication {
  struct radio_store *store;
  const char *path;
  enum radio_existing existing;
  const char *level_name;             /* of its finest level */
  const char *sha256;                 /* of its source, or "" */
  const struct rd_buffer *prefix;     /* for the header array; NULL: none */
  const char *text;                   /* the document */
  size_t nbytes;

  /* Wait until what is being written is durable; called under the volume's
   * lock, right before the document is published.  May be NULL. */
  enum radio_status (*finish) (struct rd_publication *publication);
  void *user_data;

  bool skipped;                       /* set: another volume was there */
};

/* Take the volume's lock and publish.  *is_ours tells whether the level is
 * named by the document now, or may be, also after a failure: another
 * writer's volume may stand instead. */
enum radio_status rd_publish (struct rd_publication *publication,
                              bool *is_ours) RADIO_USE_RESULT;

#endif /* RD_PUBLISH_H */
