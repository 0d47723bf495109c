/* SPDX-License-Identifier: MIT */
/* Listing the collections of a store, and comparing names. */
#ifndef RD_LIST_H
#define RD_LIST_H

#include "src/array/context.h"
#include "src/volume/strings.h"

/* Append the names of the root's collections, in byte order, and to others (if
 * not NULL) those of folders without a document.  Those with a broken one are
 * left out, but in a store of radio's. */
enum radio_status rd_list_collections (struct radio_store *store,
                                       struct rd_strings *names,
                                       struct rd_strings *others)
  RADIO_USE_RESULT;

/* Finds whether a folder of a store of radio's has volumes, by their documents
 * alone. */
enum radio_status rd_list_has_volumes (struct radio_store *store,
                                       const char *collection,
                                       bool *has_volumes) RADIO_USE_RESULT;

/* The Levenshtein distance of two texts, in half steps: 2 for an insertion,
 * removal or replacement of a byte, 1 for a change of case.  Texts are
 * compared up to 255 bytes. */
unsigned rd_edit_distance (const char *a, const char *b);

#endif /* RD_LIST_H */
