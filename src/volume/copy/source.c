/* SPDX-License-Identifier: MIT */
/* The source of a copy: its documents name everything that is to be copied,
 * so nothing is listed. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/base/checked.h"
#include "src/volume/copy/copy.h"
#include "src/volume/gc/collect.h"
#include "src/volume/gc/tombstones.h"
#include "src/volume/header.h"
#include "src/volume/node.h"

static enum radio_status
read_document (const struct rd_copy *copy, const char *path,
               const struct rd_document_check *check, struct rd_buffer *text,
               struct json_object **document)
{
  char *key RD_FREE = rd_document_key (path);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_io_read_all (copy->from->io, key, RD_DOCUMENT_MAX_NBYTES, text));
  return rd_store_parse_document (copy->from, key, check, text, document);
}

/* Readers use the group's copy of the level's document. */
static enum radio_status
check_level (struct json_object *document, const char *key, const void *data)
{
  struct json_object *other = (struct json_object *) data;
  if (other == NULL || json_object_equal (other, document))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: differs from its copy in the "
                  "volume's document", key);
}

static enum radio_status
open_level (struct rd_copy *copy, const struct rd_group_doc *group,
            struct rd_copy_level *level)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_array_doc *doc;
  char *path RD_FREE = rd_key_join (copy->path, level->name);
  level->to_path = rd_key_join (copy->to_path, level->name);
  if (path == NULL || level->to_path == NULL)
    return RADIO_ERROR_MEMORY;
  const struct rd_document_check check = {
    check_level, rd_json_member (group->consolidated, level->name),
  };
  enum radio_status status = read_document (copy, path, &check, &level->text,
                                            &document);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_copy_fail_missing (copy, path);
  RD_TRY (status);
  RD_TRY (rd_array_doc_parse (document, path, &doc));
  RD_TRY (rd_array_open_doc (copy->from, path, doc, &level->array));
  level->array->is_complete
    = copy->volume->meta.has_nifti
      && strcmp (level->name, copy->volume->meta.level_path) == 0;
  return RADIO_OK;
}

static enum radio_status
open_levels (struct rd_copy *copy, const struct rd_group_doc *group)
{
  size_t each = sizeof *copy->sizes + sizeof *copy->was_there
                + sizeof *copy->listed;
  copy->levels = rd_calloc (copy->names.n, sizeof *copy->levels);
  if (copy->levels == NULL)
    return rd_fail_memory (copy->names.n * sizeof *copy->levels);
  copy->nlevels = copy->names.n;
  for (size_t i = 0; i < copy->nlevels; i++) {
    struct rd_copy_level *level = &copy->levels[i];
    level->name = copy->names.items[i];
    RD_TRY (open_level (copy, group, level));
    /* The objects of a level: all chunks of its grid. */
    const struct rd_layout *layout = &level->array->layout;
    level->first = copy->nobjects;
    level->n = 1;
    for (size_t axis = 0; axis < layout->rank; axis++)
      level->n = rd_mul_sat (level->n, layout->chunks[axis]);
    copy->nobjects = rd_add_sat (copy->nobjects, level->n);
    RD_TRY (rd_context_allows (copy->to->context,
                               rd_mul_sat (copy->nobjects, each),
                               "the list of shards"));
  }
  copy->sizes = rd_calloc (copy->nobjects + 1, sizeof *copy->sizes);
  copy->was_there = rd_calloc (copy->nobjects + 1, sizeof *copy->was_there);
  copy->listed = rd_calloc (copy->nobjects + 1, sizeof *copy->listed);
  return copy->sizes && copy->was_there && copy->listed ? RADIO_OK
                     : rd_fail_memory (copy->nobjects * sizeof *copy->sizes);
}

/* A copy has no nodes of other programs, such as a label image below the
 * volume: they would be lost with the volume that is removed afterwards. */
static enum radio_status
check_children (const struct rd_copy *copy)
{
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&names, copy->from->io, copy->path));
  for (size_t i = 0; i < names.n; i++)
    if (!rd_is_level_name (names.items[i])
        && strcmp (names.items[i], RD_HEADER_NAME) != 0
        && strcmp (names.items[i], RD_TOMBSTONES_NAME) != 0)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: has '%s', which radio did "
                      "not write and does not copy; move that elsewhere first",
                      copy->path, names.items[i]);
  return RADIO_OK;
}

/* Other programs' volumes are refused: their levels have names that could
 * clash with those of other volumes, and that gc does not recognise. */
enum radio_status
rd_copy_load (struct rd_copy *copy)
{
  RD_SCOPE ("open volume", RD_IN_METADATA);
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  enum rd_node_type node;
  char *where RD_FREE = rd_document_key (copy->path);
  if (where == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = read_document (copy, copy->path, NULL,
                                            &copy->text, &copy->document);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such volume in %s",
                    copy->path, copy->from->io->uri);
  RD_TRY (status);
  RD_TRY (rd_document_node (copy->document, where, &node));
  if (node == RD_NODE_ARRAY)
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: an array, not a volume",
                    copy->path);
  RD_TRY (rd_group_doc_parse (copy->document, where, &group));
  RD_TRY (rd_volume_open_group (copy->from, copy->path, group,
                                &copy->volume));
  RD_TRY (rd_group_levels (group->attributes, &copy->names));
  if (rd_json_member (group->attributes, "radio") == NULL)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s%s%s: another program's image "
                    "(without attributes.radio), and only volumes that radio "
                    "wrote are copied; copy its files, or export and ingest "
                    "it", copy->from->io->uri, *copy->path ? "/" : "",
                    copy->path);
  for (size_t i = 0; i < copy->names.n; i++)
    if (!rd_is_level_name (copy->names.items[i]))
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: its level \"%s\" has no "
                      "name of radio's: it cannot be copied", copy->path,
                      copy->names.items[i]);
  if (copy->options->by_store && copy->from == copy->to)
    RD_TRY (check_children (copy));
  RD_TRY (open_levels (copy, group));
  return copy->options->strip ? rd_copy_strip (copy) : RADIO_OK;
}

enum radio_status
rd_copy_fail_missing (const struct rd_copy *copy, const char *key)
{
  struct rd_buffer now RD_BUFFER_SCOPE = { 0 };
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  enum radio_status status = read_document (copy, copy->path, NULL, &now,
                                            &document);
  bool is_gone = status == RADIO_ERROR_NOT_FOUND;
  if (!is_gone)
    RD_TRY (status);
  if (!is_gone && now.nbytes == copy->text.nbytes
      && memcmp (now.data, copy->text.data, now.nbytes) == 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s/%s: missing; the volume is "
                    "damaged",
                    copy->from->io->uri, key);
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: the volume was %s while it was "
                  "copied", copy->path, is_gone ? "removed" : "replaced");
}

void
rd_copy_locate (const struct rd_copy *copy, uint64_t i,
                struct rd_copy_object *object)
{
  const struct rd_copy_level *level = copy->levels;
  uint64_t chunk[RADIO_MAX_RANK] = { 0 };
  char key[RD_CHUNK_KEY_NBYTES];
  while (i >= level->first + level->n)
    level++;
  const struct rd_layout *layout = &level->array->layout;
  uint64_t rest = i - level->first;
  for (size_t axis = layout->rank; axis-- > 0;) {
    chunk[axis] = rest % layout->chunks[axis];
    rest /= layout->chunks[axis];
  }
  object->i = i;
  object->level = level;
  object->nbytes = copy->sizes[i];
  rd_chunk_key (level->array->doc, chunk, key);
  rd_path_key (level->array->path, key, object->from_key);
  rd_path_key (level->to_path, key, object->to_key);
}
