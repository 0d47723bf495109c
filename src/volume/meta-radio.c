/* SPDX-License-Identifier: MIT */
/* Reading attributes.radio: the image's header in base64, where it came
 * from, and how it was tiled. */
#include <config.h>

#include <string.h>

#include "src/base/base64.h"
#include "src/base/error.h"
#include "src/base/json.h"
#include "profiler/counters.h"
#include "src/array/array.h"
#include "src/volume/meta.h"

/* A copy of a string member, "" where it is missing. */
static enum radio_status
take_string (struct json_object *in, const char *member, const char *where,
             char **copy)
{
  const char *text = "";
  if (rd_json_member (in, member))
    RD_TRY (rd_json_string (in, member, where, &text));
  *copy = rd_strdup (text);
  return *copy ? RADIO_OK : rd_fail_memory (strlen (text) + 1);
}

static enum radio_status
parse_source (struct json_object *radio, const char *where,
              struct rd_volume_meta *meta)
{
  struct json_object *source = NULL;
  if (rd_json_member (radio, "source"))
    RD_TRY (rd_json_object (radio, "source", where, &source));
  RD_TRY (take_string (source, "name", where, &meta->source_name));
  RD_TRY (take_string (source, "sha256", where, &meta->source_sha256));
  struct json_object *nbytes = rd_json_member (source, "nbytes");
  if (nbytes == NULL)
    return RADIO_OK;
  return rd_json_u64 (nbytes, "source.nbytes", where, &meta->source_nbytes);
}

static enum radio_status
parse_header (struct json_object *radio, const char *where,
              struct rd_volume_meta *meta)
{
  const char *text;
  if (rd_json_member (radio, "nifti") == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_string (radio, "nifti", where, &text));
  enum radio_status status
    = rd_base64_decode (text, strlen (text), &meta->prefix);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s: attributes.radio.nifti", where);
  RD_TRY (rd_nifti_parse (meta->prefix.data, meta->prefix.nbytes, where,
                          &meta->nifti));
  meta->has_nifti = true;
  return RADIO_OK;
}

enum radio_status
rd_meta_parse_radio (struct json_object *radio, const char *where,
                     struct rd_volume_meta *meta)
{
  RD_TRY (parse_header (radio, where, meta));
  RD_TRY (parse_source (radio, where, meta));
  RD_TRY (take_string (radio, "tiling", where, &meta->tiling));
  return take_string (radio, "codec", where, &meta->codec);
}

enum radio_status
rd_meta_parse (struct json_object *attributes, const char *where,
               struct rd_volume_meta *meta)
{
  RD_SCOPE ("parse volume", RD_IN_METADATA);
  struct json_object *ome, *radio;
  bool is_radio = false;
  if (!rd_meta_is_image (attributes))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: not an OME-Zarr image: it has "
                    "no list attributes.ome.multiscales", where);
  RD_TRY (rd_json_object (attributes, "ome", where, &ome));
  RD_TRY (rd_store_check_version (attributes, where, &is_radio));
  if (is_radio) {
    RD_TRY (rd_json_object (attributes, "radio", where, &radio));
    RD_TRY (rd_meta_parse_radio (radio, where, meta));
  }
  return rd_meta_parse_ome (ome, where, meta);
}

void
rd_meta_free (struct rd_volume_meta *meta)
{
  rd_free (meta->level_path);
  rd_free (meta->space_unit);
  rd_free (meta->time_unit);
  for (size_t i = 0; i < RADIO_MAX_RANK; i++)
    rd_free (meta->orientation[i]);
  rd_buffer_free (&meta->prefix);
  rd_free (meta->source_name);
  rd_free (meta->source_sha256);
  rd_free (meta->tiling);
  rd_free (meta->codec);
  *meta = (struct rd_volume_meta) { 0 };
}
