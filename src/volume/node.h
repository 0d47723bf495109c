/* SPDX-License-Identifier: MIT */
/* What stands at a path of a store, told from its document. */
#ifndef RD_VOLUME_NODE_H
#define RD_VOLUME_NODE_H

#include "src/array/array.h"

enum rd_kind {
  RD_KIND_NONE = 0,           /* no document: nothing is committed there */
  RD_KIND_ARRAY,
  RD_KIND_GROUP,              /* a collection, or anyone's group */
  RD_KIND_IMAGE,              /* a group that is an OME-Zarr image */
};

enum radio_status rd_node_kind (struct radio_store *store, const char *path,
                                enum rd_kind *kind) RADIO_USE_RESULT;

/* Whether a path has a document, without reading it. */
enum radio_status rd_node_exists (struct radio_store *store,
                                  const char *path, bool *exists)
  RADIO_USE_RESULT;

/* Whether a folder's name is one that an ingest gives to a level: digits, a
 * dash, eight hexadecimal digits. */
bool rd_is_level_name (const char *name);

/* A new name for the level; RADIO_ERROR_IO without random numbers. */
#define RD_LEVEL_NAME_NBYTES 32
enum radio_status rd_level_name (unsigned level,
                                 char name[RD_LEVEL_NAME_NBYTES])
  RADIO_USE_RESULT;

/* Read the attributes and the consolidated documents of a group.  ARRAY
 * documents are RADIO_ERROR_FORMAT. */
enum radio_status rd_group_read (struct radio_store *store, const char *path,
                                 struct rd_group_doc **doc)
  RADIO_USE_RESULT;

/* "PATH/zarr.json"; allocated, NULL without memory (the message is set). */
char *rd_document_key (const char *path);

#endif /* RD_VOLUME_NODE_H */
