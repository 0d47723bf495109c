/* SPDX-License-Identifier: MIT */
/* Listing the collections of a store, and comparing names. */
#ifndef RD_LIST_H
#define RD_LIST_H

#include "src/array/context.h"
#include "src/volume/strings.h"

/* Append the names of the root's collections, in byte order.  Folders whose
 * document is missing or damaged are left out. */
enum radio_status rd_list_collections (struct radio_store *store,
                                       struct rd_strings *names)
  RADIO_USE_RESULT;

/* The Levenshtein distance of two texts, in half steps: 2 for an insertion,
 * removal or replacement of a byte, 1 for a change of case.  Texts are
 * compared up to 255 bytes. */
unsigned rd_edit_distance (const char *a, const char *b);

#endif /* RD_LIST_H */
