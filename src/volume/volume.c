/* SPDX-License-Identifier: MIT */
/* Volumes: opening an image's group with its finest level. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/volume/geometry.h"
#include "src/volume/meta.h"
#include "src/volume/node.h"
#include "src/volume/volume.h"

/* The level's document as its group holds it, or NULL. */
static struct json_object *
consolidated_level (const struct rd_group_doc *group, const char *level_path)
{
  struct json_object *document
    = rd_json_member (group->consolidated, level_path);
  bool good = json_object_is_type (document, json_type_object);
  return good ? document : NULL;
}

/* Open the level from the group's copy of its document: one read less. */
static enum radio_status
open_consolidated (struct radio_store *store, const char *path,
                   struct json_object *document, struct radio_array **array)
{
  struct rd_array_doc *doc;
  RD_TRY (rd_array_doc_parse (document, path, &doc));
  return rd_array_open_doc (store, path, doc, array);
}

static enum radio_status
open_level (struct radio_store *store, const char *where,
            const struct rd_group_doc *group, struct radio_volume *volume)
{
  char *path RD_FREE = rd_key_join (volume->path, volume->meta.level_path);
  if (path == NULL)
    return RADIO_ERROR_MEMORY;
  struct json_object *document
    = consolidated_level (group, volume->meta.level_path);
  if (document)
    return open_consolidated (store, path, document, &volume->array);
  enum radio_status status = radio_array_open (store, path, &volume->array);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: datasets[0].path is \"%s\", which is not there",
                    where, volume->meta.level_path);
  return status;
}

/* The header and the level must tell of the same image. */
static enum radio_status
check_header (const struct radio_volume *volume, const char *where)
{
  const struct rd_nifti *nifti = &volume->meta.nifti;
  const struct rd_array_doc *doc = volume->array->doc;
  if (strcmp (volume->meta.axes, nifti->axes) != 0)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: axes are \"%s\", but \"%s\" by attributes.radio."
                    "nifti", where, volume->meta.axes, nifti->axes);
  for (size_t i = 0; i < nifti->rank; i++)
    if (doc->shape[i] != nifti->shape[i])
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: axis %c of %s has %llu elements, but %llu by "
                      "attributes.radio.nifti", where, nifti->axes[i],
                      volume->meta.level_path,
                      (unsigned long long) doc->shape[i],
                      (unsigned long long) nifti->shape[i]);
  if (doc->type.dtype != nifti->type.dtype)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: data_type of %s is %s, but %s by attributes.radio."
                    "nifti", where, volume->meta.level_path,
                    radio_dtype_name (doc->type.dtype),
                    radio_dtype_name (nifti->type.dtype));
  return RADIO_OK;
}

static enum radio_status
check_level (struct radio_volume *volume, const char *where)
{
  size_t rank = strlen (volume->meta.axes);
  if (volume->array->doc->rank != rank)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: axes has %zu entries, but %s has %zu dimensions",
                    where, rank, volume->meta.level_path,
                    volume->array->doc->rank);
  volume->array->is_complete = volume->meta.has_nifti;
  return volume->meta.has_nifti ? check_header (volume, where) : RADIO_OK;
}

static enum radio_status
load (struct radio_store *store, const struct rd_group_doc *group,
      struct radio_volume *volume)
{
  char *where RD_FREE = rd_document_key (volume->path);
  if (where == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_meta_parse (group->attributes, where, &volume->meta));
  RD_TRY (open_level (store, where, group, volume));
  RD_TRY (check_level (volume, where));
  rd_volume_fill_info (volume);
  return RADIO_OK;
}

enum radio_status
rd_volume_open_group (struct radio_store *store, const char *path,
                      const struct rd_group_doc *group,
                      struct radio_volume **volume)
{
  struct radio_volume *made RD_CLEANUP (rd_cleanup_volume)
    = rd_calloc (1, sizeof *made);
  if (made == NULL)
    return rd_fail_memory (sizeof *made);
  made->path = rd_strdup (path);
  if (made->path == NULL)
    return rd_fail_memory (strlen (path) + 1);
  RD_TRY (load (store, group, made));
  *volume = RD_STEAL (made);
  return RADIO_OK;
}

static enum radio_status
open_volume (struct radio_store *store, const char *path,
             struct radio_volume **volume)
{
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  RD_TRY (rd_group_read (store, path, &group));
  return rd_volume_open_group (store, path, group, volume);
}

enum radio_status
radio_volume_open (struct radio_store *store, const char *path,
                   struct radio_volume **volume)
{
  if (store == NULL || path == NULL || volume == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_volume_open: an argument is NULL");
  RD_SCOPE ("open volume", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", path);
  return rd_scope_end_with (open_volume (store, path, volume));
}

void
radio_volume_close (struct radio_volume *volume)
{
  if (volume == NULL)
    return;
  radio_array_close (volume->array);
  rd_meta_free (&volume->meta);
  rd_free (volume->path);
  rd_free (volume);
}

void
radio_volume_info (const struct radio_volume *volume,
                   struct radio_volume_info *info)
{
  *info = volume->info;
}

struct radio_array *
radio_volume_array (struct radio_volume *volume)
{
  return volume->array;
}
