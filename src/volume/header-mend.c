/* SPDX-License-Identifier: MIT */
/* The header array again, after somebody else may have removed or replaced
 * it.  Where locks do not tell of other processes, each that has removed or
 * written the array, or has changed the document, looks at both afterwards:
 * whoever is the last to look sees what stays. */
#include <config.h>

#include "src/volume/header.h"
#include "src/volume/publish.h"

/* Each further one means that the document was replaced in between. */
#define MAX_TRIES 10

/* Write the array as the document says, unless it is so. */
static enum radio_status
mend_once (struct radio_store *store, const char *path, bool *was_right)
{
  struct rd_existing now RD_EXISTING_SCOPE = { 0 };
  *was_right = true;
  RD_TRY (rd_existing_look (store, path, &now));
  if (!now.is_ours || !now.meta.has_nifti)
    return RADIO_OK;
  RD_TRY (rd_header_matches (store, path, &now.meta.prefix, was_right));
  return *was_right ? RADIO_OK
                    : rd_header_write (store, path, &now.meta.prefix);
}

enum radio_status
rd_header_mend (struct radio_store *store, const char *path)
{
  bool is_right = false;
  for (int i = 0; i < MAX_TRIES && !is_right; i++) {
    RD_TRY (mend_once (store, path, &is_right));
    if (rd_io_excludes_all (store->io))
      return RADIO_OK;
  }
  return RADIO_OK;
}

enum radio_status
rd_header_mend_own (struct radio_store *store, const char *path,
                    const struct rd_buffer *prefix)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  bool is_right;
  if (rd_io_excludes_all (store->io))
    return RADIO_OK;
  RD_TRY (store->io->ops->lock (store->io, path, true, &lock));
  RD_TRY (rd_header_matches (store, path, prefix, &is_right));
  return is_right ? RADIO_OK : rd_header_mend (store, path);
}
