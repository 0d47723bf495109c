/* SPDX-License-Identifier: MIT */
/* dataset.json.
 *
 * The Decathlon and nnU-Net 1 have "labels": {"1": "liver"} and "modality":
 * {"0": "CT"}; nnU-Net 2 has "labels": {"liver": 1, "all": [1, 2]}, where a
 * list is a region of several values, and "channel_names": {"0": "CT"}. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/reserve.h"
#include "src/base/text.h"
#include "src/base/whole-file.h"
#include "src/volume/ingest/dataset.h"

/* Lists of 10^5 images are some MB. */
#define MAX_NBYTES ((size_t) 64 << 20)

struct name {
  int64_t value;
  const char *text;           /* belongs to the document */
  size_t place;               /* in it */
};

struct names {
  struct name *list;
  size_t n, capacity;
};

struct rd_dataset {
  struct json_object *document;
  struct names names, channels;
  struct radio_label *labels;
  size_t nlabels;
  char *texts;                /* of the labels */
};

void
rd_dataset_free (struct rd_dataset *dataset)
{
  if (dataset == NULL)
    return;
  json_object_put (dataset->document);
  rd_free (dataset->names.list);
  rd_free (dataset->channels.list);
  rd_free (dataset->labels);
  rd_free (dataset->texts);
  rd_free (dataset);
}

static enum radio_status
add_name (struct names *names, int64_t value, const char *text)
{
  RD_TRY (rd_reserve (&names->list, &names->capacity, names->n,
                      sizeof *names->list));
  names->list[names->n] = (struct name) { value, text, names->n };
  names->n++;
  return RADIO_OK;
}

static int
by_value (const void *a, const void *b)
{
  const struct name *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

/* Adds "NAME": VALUE. */
static enum radio_status
add_value (struct names *names, const char *member, const char *name,
           struct json_object *value, const char *where)
{
  if (json_object_is_type (value, json_type_int))
    return add_name (names, json_object_get_int64 (value), name);
  return rd_fail (RADIO_ERROR_FORMAT, "%s: %s.%s is not a whole number",
                  where, member, name);
}

/* Adds a member of labels or of channels, in the forms above. */
static enum radio_status
add_member (struct names *names, const char *member, const char *name,
            struct json_object *value, const char *where)
{
  const char *text;
  uint64_t number;
  if (json_object_is_type (value, json_type_string)) {
    RD_TRY (rd_json_text (value, member, where, &text));
    if (!rd_parse_u64 (name, &number) || number > INT64_MAX)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: %s has '%s', not a number",
                      where, member, name);
    return add_name (names, (int64_t) number, text);
  }
  if (!json_object_is_type (value, json_type_array))
    return add_value (names, member, name, value, where);
  for (size_t i = 0; i < json_object_array_length (value); i++)
    RD_TRY (add_value (names, member, name,
                       json_object_array_get_idx (value, i), where));
  return RADIO_OK;
}

/* Adds the names that a member has, which may be missing. */
static enum radio_status
add_names (struct names *names, struct json_object *document,
           const char *member, const char *where)
{
  struct json_object *object;
  if (rd_json_member (document, member) == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (document, member, where, &object));
  json_object_object_foreach (object, name, value)
    RD_TRY (add_member (names, member, name, value, where));
  if (names->n > 0)
    qsort (names->list, names->n, sizeof *names->list, by_value);
  return RADIO_OK;
}

/* Makes one label of each value. */
static enum radio_status
make_labels (struct rd_dataset *dataset)
{
  const struct names *names = &dataset->names;
  size_t nbytes = 1;
  for (size_t i = 0; i < names->n; i++)
    nbytes += strlen (names->list[i].text) + 2;
  dataset->texts = rd_malloc (nbytes);
  dataset->labels = rd_calloc (names->n + 1, sizeof *dataset->labels);
  if (dataset->texts == NULL || dataset->labels == NULL)
    return rd_fail_memory (nbytes);
  char *to = dataset->texts;
  for (size_t i = 0; i < names->n; i++) {
    const struct name *name = &names->list[i];
    size_t n = strlen (name->text);
    if (i > 0 && name->value == name[-1].value) {
      to[-1] = ',';
      *to++ = ' ';
    } else
      dataset->labels[dataset->nlabels++]
        = (struct radio_label) { name->value, to };
    memcpy (to, name->text, n + 1);
    to += n + 1;
  }
  return RADIO_OK;
}

enum radio_status
rd_dataset_parse (const void *text, size_t nbytes, const char *where,
                  struct rd_dataset **result)
{
  struct rd_dataset *dataset RD_CLEANUP (rd_cleanup_dataset)
    = rd_calloc (1, sizeof *dataset);
  if (dataset == NULL)
    return rd_fail_memory (sizeof *dataset);
  RD_TRY (rd_json_parse (text, nbytes, where, &dataset->document));
  if (!json_object_is_type (dataset->document, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: not a JSON object", where);
  bool is_second = rd_json_member (dataset->document, "channel_names") != NULL;
  RD_TRY (add_names (&dataset->names, dataset->document, "labels", where));
  RD_TRY (add_names (&dataset->channels, dataset->document,
                     is_second ? "channel_names" : "modality", where));
  RD_TRY (make_labels (dataset));
  *result = RD_STEAL (dataset);
  return RADIO_OK;
}

enum radio_status
rd_dataset_read (const char *file, struct rd_dataset **dataset)
{
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  enum radio_status status = rd_whole_file_read (file, MAX_NBYTES, &text);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_dataset_parse ("{}", 2, file, dataset);
  RD_TRY (status);
  return rd_dataset_parse (text.data, text.nbytes, file, dataset);
}

const struct radio_label *
rd_dataset_labels (const struct rd_dataset *dataset, size_t *nlabels)
{
  *nlabels = dataset->nlabels;
  return dataset->labels;
}

const char *
rd_dataset_channel (const struct rd_dataset *dataset, uint64_t channel)
{
  const struct names *channels = &dataset->channels;
  const char *text = NULL;
  for (size_t i = 0; i < channels->n; i++)
    if (channels->list[i].value >= 0
        && (uint64_t) channels->list[i].value == channel)
      text = channels->list[i].text;
  for (size_t i = 0; text && i < channels->n; i++)
    if ((uint64_t) channels->list[i].value != channel
        && strcmp (channels->list[i].text, text) == 0)
      return NULL;
  return text;
}
