/* SPDX-License-Identifier: MIT */
/* The path of the volume that a file is ingested as, from the file's name.
 * A BIDS name contains the kind of the image (its suffix, as T1w), which is
 * used as the collection. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <radio/ingest.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/zarr/document.h"

/* No suffix is the end of a longer one. */
static const char *const suffixes[] = {
  ".nii.gz", ".hdr.gz", ".img.gz", ".nii", ".hdr", ".img",
};

#define NSUFFIXES (sizeof suffixes / sizeof suffixes[0])

static const char *
base_name (const char *file)
{
  const char *slash = strrchr (file, '/');
  return slash ? slash + 1 : file;
}

/* The image suffix that a name ends in, or NULL. */
static const char *
suffix_of (const char *name)
{
  size_t length = strlen (name);
  for (size_t i = 0; i < NSUFFIXES; i++) {
    size_t n = strlen (suffixes[i]);
    if (length >= n && strcasecmp (name + length - n, suffixes[i]) == 0)
      return suffixes[i];
  }
  return NULL;
}

bool
radio_ingest_is_image (const char *file)
{
  if (file == NULL)
    return false;
  const char *suffix = suffix_of (base_name (file));
  return suffix && strncmp (suffix, ".img", 4) != 0;
}

/* The length of the longest valid BIDS key, value or suffix. */
static size_t
label_length (const char *text, const char *end)
{
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789+";
  size_t n = 0;
  while (text + n < end && strchr (allowed, text[n]))
    n++;
  return n;
}

/* True for "key-value". */
static bool
is_entity (const char *text, const char *end)
{
  size_t key = label_length (text, end);
  const char *dash = text + key;
  if (key == 0 || dash == end || *dash != '-')
    return false;
  size_t value = label_length (dash + 1, end);
  return value > 0 && dash + 1 + value == end;
}

/* The BIDS suffix of a stem ("T1w" of "sub-01_T1w"), or NULL if the stem is
 * not a BIDS name: entities, the first of them a subject or a template, and
 * a suffix. */
static const char *
bids_suffix (const char *stem, size_t length)
{
  const char *end = stem + length;
  if (strncmp (stem, "sub-", 4) != 0 && strncmp (stem, "tpl-", 4) != 0)
    return NULL;
  for (const char *part = stem;;) {
    const char *next = memchr (part, '_', (size_t) (end - part));
    if (next == NULL) {
      size_t n = label_length (part, end);
      bool whole = n > 0 && part + n == end;
      return whole && part > stem ? part : NULL;
    }
    if (!is_entity (part, next))
      return NULL;
    part = next + 1;
  }
}

/* "COLLECTION/NAME", both checked; for the caller's free (). */
static enum radio_status
join_checked (const char *file, const char *collection,
              size_t collection_length, const char *name, size_t name_length,
              char **path)
{
  size_t nbytes = collection_length + name_length + 2;
  char *text RD_FREE_PLAIN = malloc (nbytes);
  if (text == NULL)
    return rd_fail_memory (nbytes);
  memcpy (text, collection, collection_length);
  text[collection_length] = '\0';
  memcpy (text + collection_length + 1, name, name_length);
  text[nbytes - 1] = '\0';

  enum radio_status status = rd_node_name_check (text);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s: collection", file);
  status = rd_node_name_check (text + collection_length + 1);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s: name of the volume", file);
  text[collection_length] = '/';
  *path = RD_STEAL (text);
  return RADIO_OK;
}

enum radio_status
radio_ingest_path (const char *file, const char *collection, char **path)
{
  if (file == NULL || path == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_ingest_path: file or path is NULL");
  const char *stem = base_name (file);
  const char *suffix = suffix_of (stem);
  size_t length = strlen (stem) - (suffix ? strlen (suffix) : 0);

  if (collection)
    return join_checked (file, collection, strlen (collection), stem, length,
                         path);
  const char *kind = bids_suffix (stem, length);
  if (kind == NULL)
    return join_checked (file, "images", strlen ("images"), stem, length,
                         path);
  return join_checked (file, kind, (size_t) (stem + length - kind), stem,
                       (size_t) (kind - 1 - stem), path);
}
