/* SPDX-License-Identifier: MIT */
/* The folders of collections, each with a summary of its contents, by listing
 * all objects: over a network that is one round trip for a thousand objects.
 * Several collections are listed at the same time. */
#ifndef RD_FOLDERS_H
#define RD_FOLDERS_H

#include "src/array/context.h"
#include "src/volume/codec.h"
#include "src/volume/node.h"
#include "src/volume/strings.h"

struct rd_folder {
  const char *collection, *name;
  uint64_t nbytes;                    /* of all objects */
  bool has_document;
  char level[RD_LEVEL_NAME_NBYTES];   /* the first one; "": none */
  bool has_levels;                    /* more than one: some are garbage */
  enum rd_header_key header_key;      /* the header array's chunk; NONE */
  bool has_others;                    /* objects of other kinds, or more than
                                         one such chunk */
};

typedef enum radio_status rd_folder_fn (const struct rd_folder *folder,
                                        void *user_data);

/* Calls fn for each folder below the n collections, in byte order of each, on
 * the calling thread.  Failures of fn end it. */
enum radio_status rd_folders_list (struct radio_store *store,
                                   char *const *collections, size_t n,
                                   rd_folder_fn *fn, void *user_data)
  RADIO_USE_RESULT;

#endif /* RD_FOLDERS_H */
