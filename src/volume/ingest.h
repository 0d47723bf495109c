/* SPDX-License-Identifier: MIT */
/* One ingest while it runs: what its steps hand to each other.  A writer's
 * level has a folder of its own, locked until the volume's document names
 * it; collect.h says how the locks keep others away. */
#ifndef RD_INGEST_H
#define RD_INGEST_H

#include "src/array/write-layers.h"
#include "src/volume/node.h"
#include "src/volume/file-slabs.h"
#include "src/volume/source.h"
#include "src/volume/tiling.h"

struct rd_ingest {
  struct radio_store *store;
  struct rd_source *source;
  const char *path;                   /* of the volume */
  char *collection;
  const char *name;                   /* the volume's own, within path */
  const struct radio_ingest_options *options;

  /* The header as it is kept: the source's, or a stripped copy. */
  struct rd_nifti nifti;
  struct rd_buffer prefix;

  struct rd_tiling tiling;
  const char *codec;                  /* the preset's name, or "" */
  struct json_object *level_document;
  struct json_object *header_document;

  char level_name[RD_LEVEL_NAME_NBYTES];
  char *level_path;
  struct rd_io_lock *level_lock;
  struct radio_array *array;
  struct rd_layers *layers;           /* of the array */

  EVP_MD_CTX *sha;
  char sha256[RD_SHA256_TEXT_NBYTES];
  uint64_t trailing_nbytes;
  struct radio_ingest_result result;
};

/* Read all voxels and write the level's shards, which are not durable yet
 * when it returns. */
enum radio_status rd_ingest_voxels (struct rd_ingest *ingest)
  RADIO_USE_RESULT;

/* Make the level's folder, locked, with its document in it. */
enum radio_status rd_ingest_begin_level (struct rd_ingest *ingest)
  RADIO_USE_RESULT;

/* Remove the level again, after a failure or when it is not wanted.  The
 * thread's message is kept. */
void rd_ingest_abandon_level (struct rd_ingest *ingest);

/* Wait until the level's shards are durable and publish the volume's
 * document.  *is_ours tells whether the level is named by it now, or may be,
 * also after a failure: another writer's volume may stand instead. */
enum radio_status rd_ingest_commit (struct rd_ingest *ingest, bool *is_ours)
  RADIO_USE_RESULT;

/* Tell the caller of something, "NAME: ..." with the source's name. */
void rd_ingest_warn (const struct rd_ingest *ingest, const char *format, ...)
  RADIO_PRINTF (2, 3);

#endif /* RD_INGEST_H */
