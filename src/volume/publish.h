/* SPDX-License-Identifier: MIT */
/* Publishing a new volume, by ingest and copy: checking its path, and
 * writing its document.  Everything that the document refers to is durable
 * before the document is put, in one step, under the volume's lock. */
#ifndef RD_PUBLISH_H
#define RD_PUBLISH_H

#include <radio/ingest.h>

#include "src/volume/node.h"

/* Check that volumes may be written into the store (it is radio's) and that
 * path is "COLLECTION/NAME".  *collection is allocated, *name points into
 * path. */
enum radio_status rd_publish_check_path (struct radio_store *store,
                                         const char *path, char **collection,
                                         const char **name) RADIO_USE_RESULT;

/* Put the collection's document if it is missing.  It comes first: every
 * node has its parent groups at any time. */
enum radio_status rd_publish_collection (struct radio_store *store,
                                         const char *collection)
  RADIO_USE_RESULT;

/* Check whether the caller's choice for existing volumes permits writing
 * the volume at path; *skip is set when there is nothing to do.  Where a
 * volume is, the document of its collection is put if it was lost (NULL:
 * nothing is written). */
enum radio_status rd_publish_check_existing (struct radio_store *store,
                                             const char *path,
                                             const char *collection,
                                             enum radio_existing how,
                                             bool *skip)
  RADIO_USE_RESULT;

/* The same for a volume that is mostly new: *is_new is set if nothing at all
 * is there. */
enum radio_status rd_publish_check_new (struct radio_store *store,
                                        const char *path,
                                        const char *collection,
                                        enum radio_existing how,
                                        bool *is_new, bool *skip)
  RADIO_USE_RESULT;

/* A volume that is complete except for its header array and document.
 * The document has a copy of the array's, which is set when it is published:
 * its chunk has another key than that of the volume that is replaced. */
struct rd_publication {
  struct radio_store *store;
  const char *path;
  enum radio_existing existing;
  bool is_new;                        /* nothing was there at the beginning */
  struct rd_io_stage *stages[2];      /* the level's, or NULL; publishing adds
                                         the header array's */
  const char *level_name;             /* of its finest level */
  const char *sha256;                 /* of its source, or "" */
  const struct rd_buffer *prefix;     /* for the header array; NULL: none */
  struct json_object *document;
  const char *text;                   /* of the document as it was read, for
                                         as long as it stays the same; NULL: a
                                         new one */
  size_t nbytes;

  /* Wait until pending writes are durable; called with the volume's lock
   * held, right before the document is put.  May be NULL. */
  enum radio_status (*finish) (struct rd_publication *publication);
  void *user_data;

  /* Set. */
  enum rd_header_key header_key;      /* that the document names */
  bool header_is_last;                /* the array's document was put after
                                         the volume's */
  bool skipped;                       /* another volume exists */
};

/* Take the volume's lock and publish.  *is_ours is set when the document
 * names the level, or may do so after a failure; it is not set when another
 * writer's volume exists instead. */
enum radio_status rd_publish (struct rd_publication *publication,
                              bool *is_ours) RADIO_USE_RESULT;

/* True if the documents of two volumes differ at most in the header array's
 * document; their copy of that becomes ours. */
bool rd_publish_is_same_document (struct json_object *theirs,
                                  struct json_object *ours);

#endif /* RD_PUBLISH_H */
