/* SPDX-License-Identifier: MIT */
/* Layouts: the rules by which the paths of a data set's files name volumes.
 * But for BIDS, whose names are parsed, a rule is a pattern. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <radio/layout.h>

#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/base/text.h"
#include "src/volume/ingest/dataset.h"
#include "src/volume/ingest/names.h"
#include "src/volume/ingest/pattern.h"
#include "src/zarr/document.h"

/* The rules of named layouts; the collections are fixed, except those of
 * channels. */
static const struct rule {
  const char *layout, *pattern, *collection;
  bool is_labels;
} rules[] = {
  { "msd", "imagesTr/{subject}", "images", false },
  { "msd", "imagesTs/{subject}", "images", false },
  { "msd", "labelsTr/{subject}", "labels", true },
  { "msd", "labelsTs/{subject}", "labels", true },
  { "nnunet", "imagesTr/{subject}_{channel}", "images", false },
  { "nnunet", "imagesTs/{subject}_{channel}", "images", false },
  { "nnunet", "labelsTr/{subject}", "labels", true },
  { "nnunet", "labelsTs/{subject}", "labels", true },
};

#define NRULES (sizeof rules / sizeof rules[0])
#define MAX_LAYOUT_RULES 4

/* A data set whose dataset.json was read. */
struct data_set {
  struct data_set *next;
  char *folder;
  struct rd_dataset *dataset;
};

static void
free_data_set (struct data_set *set)
{
  if (set == NULL)
    return;
  rd_dataset_free (set->dataset);
  rd_free (set->folder);
  rd_free (set);
}

RD_DEFINE_CLEANUP (data_set, struct data_set, free_data_set);

struct radio_layout {
  size_t nrules;              /* 0: bids */
  const struct rule *rules[MAX_LAYOUT_RULES];   /* NULL: a pattern alone */
  struct rd_pattern *patterns[MAX_LAYOUT_RULES];
  struct data_set *sets;
};

void
radio_layout_close (struct radio_layout *layout)
{
  if (layout == NULL)
    return;
  for (size_t i = 0; i < layout->nrules; i++)
    rd_pattern_free (layout->patterns[i]);
  while (layout->sets) {
    struct data_set *set = layout->sets;
    layout->sets = set->next;
    free_data_set (set);
  }
  rd_free (layout);
}

RD_DEFINE_CLEANUP (layout, struct radio_layout, radio_layout_close);

enum radio_status
radio_layout_open (const char *text, struct radio_layout **result)
{
  RD_NOT_NULL (text);
  RD_NOT_NULL (result);
  struct radio_layout *layout RD_CLEANUP (rd_cleanup_layout)
    = rd_calloc (1, sizeof *layout);
  if (layout == NULL)
    return rd_fail_memory (sizeof *layout);
  for (size_t i = 0; i < NRULES; i++) {
    if (strcmp (text, rules[i].layout) != 0)
      continue;
    RD_TRY (rd_pattern_parse (rules[i].pattern,
                              &layout->patterns[layout->nrules]));
    layout->rules[layout->nrules++] = &rules[i];
  }
  if (layout->nrules == 0 && strcmp (text, "bids") != 0) {
    if (strpbrk (text, "{}") == NULL)
      return rd_fail (RADIO_ERROR_ARGUMENT, "layout '%.300s': use bids, msd, "
                      "nnunet, or a pattern with {subject}", text);
    RD_TRY (rd_pattern_parse (text, &layout->patterns[0]));
    layout->nrules = 1;
  }
  *result = RD_STEAL (layout);
  return RADIO_OK;
}

/* The data set of an image, two folders above its name; read at most once. */
static enum radio_status
find_dataset (struct radio_layout *layout, const char *file,
              const struct rd_dataset **dataset)
{
  const char *end = rd_base_name (file);
  const char *start = end - 1;
  while (start > file && start[-1] != '/')
    start--;
  size_t n = (size_t) (start - file);
  for (struct data_set *set = layout->sets; set; set = set->next)
    if (strlen (set->folder) == n && memcmp (set->folder, file, n) == 0) {
      *dataset = set->dataset;
      return RADIO_OK;
    }
  static const char name[] = "dataset.json";
  struct data_set *set RD_CLEANUP (rd_cleanup_data_set)
    = rd_calloc (1, sizeof *set);
  char *path RD_FREE = rd_malloc (n + sizeof name);
  if (set == NULL || path == NULL)
    return rd_fail_memory (n + sizeof name);
  set->folder = rd_strndup (file, n);
  if (set->folder == NULL)
    return rd_fail_memory (n + 1);
  memcpy (path, file, n);
  memcpy (path + n, name, sizeof name);
  RD_TRY (rd_dataset_read (path, &set->dataset));
  *dataset = set->dataset;
  set->next = layout->sets;
  layout->sets = RD_STEAL (set);
  return RADIO_OK;
}

/* Appends a text, after the separator unless it is the first. */
static enum radio_status
join (struct rd_buffer *joined, const char *separator, const char *text,
      size_t nbytes)
{
  /* So that empty texts are not NULL. */
  RD_TRY (rd_buffer_reserve (joined, 1));
  if (joined->nbytes > 0)
    RD_TRY (rd_buffer_append (joined, separator, strlen (separator)));
  return rd_buffer_append (joined, text, nbytes);
}

/* Adds "_KEY-VALUE"; the value may have its key already. */
static enum radio_status
join_entity (struct rd_buffer *name, const char *key,
             const struct rd_field_text *value)
{
  if (value->start == NULL)
    return RADIO_OK;
  size_t n = strlen (key);
  bool has_key = value->nbytes > n && memcmp (value->start, key, n) == 0;
  RD_TRY (join (name, "_", key, has_key ? 0 : n));
  return join (name, "", value->start, value->nbytes);
}

/* The collection of a pattern's fields. */
static enum radio_status
pattern_collection (const struct rd_field_text fields[RD_NFIELDS],
                    const char *given, struct rd_buffer *collection)
{
  const struct rd_field_text *field = &fields[RD_FIELD_COLLECTION];
  const struct rd_field_text *channel = &fields[RD_FIELD_CHANNEL];
  if (given)
    RD_TRY (join (collection, "", given, strlen (given)));
  else if (field->start)
    RD_TRY (join (collection, "", field->start, field->nbytes));
  if (channel->start)
    return join (collection, "_", channel->start, channel->nbytes);
  return collection->nbytes ? RADIO_OK : join (collection, "", "images", 6);
}

/* The collection of an image of nnU-Net. */
static enum radio_status
channel_collection (const struct rd_dataset *dataset,
                    const struct rd_field_text *channel,
                    const struct rule *rule, const char *given,
                    struct rd_buffer *collection)
{
  char digits[5] = "";
  uint64_t number = 0;
  memcpy (digits, channel->start, 4);
  (void) rd_parse_u64 (digits, &number);
  const char *name = rd_dataset_channel (dataset, number);
  if (given == NULL && name && rd_node_name_check (name) == RADIO_OK
      && strcmp (name, "labels") != 0)
    return join (collection, "", name, strlen (name));
  if (given == NULL)
    given = rule->collection;
  RD_TRY (join (collection, "", given, strlen (given)));
  return join (collection, "_", digits, 4);
}

static bool
is_channel (const struct rd_field_text *channel)
{
  return channel->nbytes == 4
         && strspn (channel->start, "0123456789") >= 4;
}

/* Names a file by the rule that its path matches. */
static enum radio_status
name_by_rule (struct radio_layout *layout, const char *file, size_t i,
              const struct rd_field_text fields[RD_NFIELDS],
              const char *given, struct radio_layout_file *result)
{
  const struct rule *rule = layout->rules[i];
  const struct rd_field_text *subject = &fields[RD_FIELD_SUBJECT];
  const struct rd_field_text *channel = &fields[RD_FIELD_CHANNEL];
  struct rd_buffer collection RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer name RD_BUFFER_SCOPE = { 0 };
  const struct rd_dataset *dataset = NULL;
  if (rule)
    RD_TRY (find_dataset (layout, file, &dataset));
  if (rule == NULL)
    RD_TRY (pattern_collection (fields, given, &collection));
  else if (channel->start)
    RD_TRY (channel_collection (dataset, channel, rule, given, &collection));
  else {
    const char *text = given ? given : rule->collection;
    RD_TRY (join (&collection, "", text, strlen (text)));
  }
  if (rule && rule->is_labels) {
    result->is_labels = true;
    result->labels = rd_dataset_labels (dataset, &result->nlabels);
  }
  RD_TRY (join (&name, "", subject->start, subject->nbytes));
  RD_TRY (join_entity (&name, "ses-", &fields[RD_FIELD_SESSION]));
  RD_TRY (join_entity (&name, "run-", &fields[RD_FIELD_RUN]));
  return rd_name_join (file, (const char *) collection.data,
                       collection.nbytes, (const char *) name.data,
                       name.nbytes, &result->path);
}

static enum radio_status
name_bids (const char *file, const char *collection,
           struct radio_layout_file *result)
{
  const char *stem = rd_base_name (file);
  size_t length = rd_stem_length (stem);
  const char *kind = rd_bids_suffix (stem, length);
  if (kind == NULL)
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: not a BIDS name, as "
                    "sub-01_T1w.nii.gz", file);
  size_t nkind = (size_t) (stem + length - kind);
  result->is_labels = (nkind == 4 && (memcmp (kind, "mask", 4) == 0
                                      || memcmp (kind, "dseg", 4) == 0));
  if (collection)
    return rd_name_join (file, collection, strlen (collection), stem,
                         (size_t) (kind - 1 - stem), &result->path);
  return rd_name_join (file, kind, nkind, stem, (size_t) (kind - 1 - stem),
                       &result->path);
}

/* The path without empty parts and those that are ".". */
static char *
plain_path (const char *file)
{
  char *path = rd_malloc (strlen (file) + 1), *to = path;
  if (path == NULL)
    return NULL;
  for (const char *p = file; *p;) {
    bool is_start = p == file || p[-1] == '/';
    if (is_start && p[0] == '.' && p[1] == '/')
      p += 2;
    else if (p[0] == '/' && p > file && is_start)
      p++;
    else
      *to++ = *p++;
  }
  *to = '\0';
  return path;
}

static enum radio_status
name_file (struct radio_layout *layout, const char *file,
           const char *collection, struct radio_layout_file *result)
{
  if (layout->nrules == 0)
    return name_bids (file, collection, result);
  char *path RD_FREE = plain_path (file);
  if (path == NULL)
    return rd_fail_memory (strlen (file) + 1);
  for (size_t i = 0; i < layout->nrules; i++) {
    struct rd_field_text fields[RD_NFIELDS];
    const struct rd_field_text *channel = &fields[RD_FIELD_CHANNEL];
    enum radio_status status
      = rd_pattern_match (layout->patterns[i], path, fields);
    if (status == RADIO_OK
        && (layout->rules[i] == NULL || channel->start == NULL
            || is_channel (channel)))
      return name_by_rule (layout, path, i, fields, collection, result);
    if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND)
      return status;
    if (layout->rules[i] == NULL)
      return status;
  }
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: not a path of the layout %s, "
                  "as %s.nii.gz", file, layout->rules[0]->layout,
                  layout->rules[0]->pattern);
}

enum radio_status
(radio_layout_name) (struct radio_layout *layout, const char *file,
                     const char *collection,
                     struct radio_layout_file *result, size_t result_nbytes)
{
  RD_NOT_NULL (layout);
  RD_NOT_NULL (file);
  RD_NOT_NULL (result);
  struct radio_layout_file full = { NULL, false, NULL, 0 };
  RD_TRY (name_file (layout, file, collection, &full));
  rd_fill_result (result, result_nbytes, &full, sizeof full);
  return RADIO_OK;
}
