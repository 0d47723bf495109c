/* SPDX-License-Identifier: MIT */
/* What kind of node stands at a path. */
#include <config.h>

#include "src/array/array.h"
#include "src/array/path.h"

enum radio_status
radio_store_node (struct radio_store *store, const char *path,
                  enum radio_node *node)
{
  if (!store || !path || !node)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_store_node: %s is NULL",
                    !store ? "store" : !path ? "path" : "node");
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_TRY (rd_store_read_document (store, path, &document));
  char key[RD_KEY_NBYTES];
  rd_path_key (path, "zarr.json", key);
  enum rd_node kind;
  RD_TRY (rd_document_node (document, key, &kind));
  *node = kind == RD_NODE_ARRAY ? RADIO_NODE_ARRAY : RADIO_NODE_GROUP;
  return RADIO_OK;
}
