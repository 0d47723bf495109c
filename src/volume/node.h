/* SPDX-License-Identifier: MIT */
/* Nodes of a store: their kinds, documents and names. */
#ifndef RD_VOLUME_NODE_H
#define RD_VOLUME_NODE_H

#include "src/volume/meta.h"

enum rd_kind {
  RD_KIND_NONE = 0,           /* no document: nothing is committed there */
  RD_KIND_ARRAY,
  RD_KIND_GROUP,              /* a collection, or any other group */
  RD_KIND_IMAGE,              /* a group that is an OME-Zarr image */
  RD_KIND_TABLES,             /* a group of the store's tables */
};

enum radio_status rd_node_kind (struct radio_store *store, const char *path,
                                enum rd_kind *kind) RADIO_USE_RESULT;

/* The same of a document that was read; never RD_KIND_NONE.  Below a root,
 * attributes.radio without a kind are a volume's, even if the rest of them is
 * missing. */
enum radio_status rd_document_kind (struct json_object *document,
                                    const char *path, enum rd_kind *kind)
  RADIO_USE_RESULT;

/* True if a folder's name is one that ingest gives to a level: digits, a
 * dash, eight hexadecimal digits. */
bool rd_is_level_name (const char *name);

/* A new name for the level; RADIO_ERROR_IO without random numbers. */
#define RD_LEVEL_NAME_NBYTES 32
enum radio_status rd_level_name (unsigned level,
                                 char name[RD_LEVEL_NAME_NBYTES])
  RADIO_USE_RESULT;

/* Read the attributes and the consolidated documents of a group.
 * RADIO_ERROR_FORMAT if it is an array. */
enum radio_status rd_group_read (struct radio_store *store, const char *path,
                                 struct rd_group_doc **doc)
  RADIO_USE_RESULT;

/* The same of a document that was read. */
enum radio_status rd_group_parse (struct json_object *document,
                                  const char *path,
                                  struct rd_group_doc **doc)
  RADIO_USE_RESULT;

/* "PATH/zarr.json"; allocated, NULL without memory (the message is set). */
char *rd_document_key (const char *path);

/* The node at the path of a new volume. */
struct rd_existing {
  bool exists;
  bool is_ours;               /* radio's volume, or a damaged document */
  struct rd_volume_meta meta; /* if it could be parsed */
};

enum radio_status rd_existing_read (struct radio_store *store,
                                    const char *path,
                                    struct rd_existing *existing)
  RADIO_USE_RESULT;

/* The same without looking for a node of Zarr version 2. */
enum radio_status rd_existing_read_v3 (struct radio_store *store,
                                       const char *path,
                                       struct rd_existing *existing)
  RADIO_USE_RESULT;
void rd_existing_free (struct rd_existing *existing);
#define RD_EXISTING_SCOPE RD_CLEANUP (rd_existing_free)

#endif /* RD_VOLUME_NODE_H */
