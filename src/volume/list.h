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

/* Opens volumes as radio_store_list_opened does, without finding out what is
 * stored for them: all of a collection, or of the store if that is NULL; or
 * those at n paths, COLLECTION/NAME, in this order, without those that do not
 * exist. */
enum radio_status rd_list_open (struct radio_store *store,
                                const char *collection,
                                const char *const *paths, size_t n,
                                radio_opened_fn *callback, void *user_data)
  RADIO_USE_RESULT;

/* Finds whether a folder of a store of radio's has volumes, by their documents
 * alone. */
enum radio_status rd_list_has_volumes (struct radio_store *store,
                                       const char *collection,
                                       bool *has_volumes) RADIO_USE_RESULT;

#endif /* RD_LIST_H */
