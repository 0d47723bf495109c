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
#include "src/base/text.h"
#include "src/volume/ingest/names.h"
#include "src/zarr/document.h"

/* No suffix is the end of a longer one. */
static const char *const suffixes[] = {
  ".nii.gz", ".hdr.gz", ".img.gz", ".nii", ".hdr", ".img", ".npy",
};

#define NSUFFIXES (sizeof suffixes / sizeof suffixes[0])

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

size_t
rd_stem_length (const char *name)
{
  const char *suffix = suffix_of (name);
  return strlen (name) - (suffix ? strlen (suffix) : 0);
}

bool
radio_ingest_is_image (const char *file)
{
  if (file == NULL)
    return false;
  const char *suffix = suffix_of (rd_base_name (file));
  return suffix && strncmp (suffix, ".img", 4) != 0
         && strcmp (suffix, ".npy") != 0;
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

const char *
rd_bids_suffix (const char *stem, size_t length)
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
    /* An entity is "key-value". */
    const char *dash = part + label_length (part, next);
    if (dash == part || dash == next || *dash != '-')
      return NULL;
    size_t value = label_length (dash + 1, next);
    if (value == 0 || dash + 1 + value != next)
      return NULL;
    part = next + 1;
  }
}

enum radio_status
rd_name_join (const char *file, const char *collection, size_t ncollection,
              const char *name, size_t nname, char **path)
{
  size_t nbytes = ncollection + nname + 2;
  char *text RD_FREE_PLAIN = malloc (nbytes);
  if (text == NULL)
    return rd_fail_memory (nbytes);
  memcpy (text, collection, ncollection);
  text[ncollection] = '\0';
  memcpy (text + ncollection + 1, name, nname);
  text[nbytes - 1] = '\0';
  enum radio_status status = rd_node_name_check (text);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s: collection", file);
  status = rd_node_name_check (text + ncollection + 1);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s: name of the volume", file);
  text[ncollection] = '/';
  *path = RD_STEAL (text);
  return RADIO_OK;
}

enum radio_status
radio_ingest_path (const char *file, const char *collection, char **path)
{
  RD_NOT_NULL (file);
  RD_NOT_NULL (path);
  const char *stem = rd_base_name (file);
  size_t length = rd_stem_length (stem);
  const char *kind = collection ? NULL : rd_bids_suffix (stem, length);
  if (kind)
    return rd_name_join (file, kind, (size_t) (stem + length - kind), stem,
                         (size_t) (kind - 1 - stem), path);
  if (collection == NULL)
    collection = "images";
  return rd_name_join (file, collection, strlen (collection), stem, length,
                       path);
}
