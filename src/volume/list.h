/* SPDX-License-Identifier: MIT */
/* Listing the collections of a store, and comparing names. */
#ifndef RD_LIST_H
#define RD_LIST_H

#include <radio/volume.h>

#include "src/array/context.h"
#include "src/volume/strings.h"

/* Append the names of the root's collections, in byte order, and to others (if
 * not NULL) those of folders without a document.  Those with a broken one are
 * left out, but in a store of radio's. */
enum radio_status rd_list_collections (struct radio_store *store,
                                       struct rd_strings *names,
                                       struct rd_strings *others)
  RADIO_USE_RESULT;

/* Fails if one of n names is no collection; all are checked at the same
 * time. */
enum radio_status rd_list_check (struct radio_store *store,
                                 const char *const *collections, size_t n)
  RADIO_USE_RESULT;

/* Open volumes as radio_store_list_opened does, without finding out what is
 * stored for them: all of n collections, one after the other, which over a
 * network are listed at the same time, or of the store if n is 0; or those at n
 * paths, COLLECTION/NAME, in this order, without those that do not exist. */
enum radio_status rd_list_open (struct radio_store *store,
                                const char *const *collections, size_t n,
                                radio_opened_fn *callback, void *user_data)
  RADIO_USE_RESULT;
enum radio_status rd_list_open_paths (struct radio_store *store,
                                      const char *const *paths, size_t n,
                                      radio_opened_fn *callback,
                                      void *user_data) RADIO_USE_RESULT;

/* Finds whether a folder of a store of radio's has volumes, by their documents
 * alone. */
enum radio_status rd_list_has_volumes (struct radio_store *store,
                                       const char *collection,
                                       bool *has_volumes) RADIO_USE_RESULT;

#endif /* RD_LIST_H */
