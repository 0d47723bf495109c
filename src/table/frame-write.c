/* SPDX-License-Identifier: MIT */
/* Writing data frames.  Each column becomes documents and arrays; all documents
 * are collected for the group's, which is put first, so that every node has
 * its parent at any time.
 *
 * Every chunk is stored, since a missing one would read as fill values where it
 * was lost: the fill value is one that the column does not have. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/json-make.h"
#include "src/base/reserve.h"
#include "src/element/box.h"
#include "src/element/convert.h"
#include "src/table/frame.h"
#include "profiler/counters.h"

/* The most bytes of text in a chunk, unless it has one string: a chunk is
 * decoded as a whole. */
#define CHUNK_TEXT_NBYTES ((int64_t) 2 << 20)

/* An array to be written. */
struct item {
  char *name;                         /* below the frame */
  struct rd_column *column;           /* owned, or NULL */
  const struct rd_column *source;     /* its values; that column or another */
  uint64_t chunk;                     /* elements of one */
};

struct writing {
  struct radio_store *store;
  const char *path;
  struct json_object *metadata;       /* path below the frame -> document */
  struct item *items;
  size_t n, capacity;
};

static void
end_writing (struct writing *writing)
{
  for (size_t i = 0; i < writing->n; i++) {
    rd_free (writing->items[i].name);
    rd_column_free (writing->items[i].column);
  }
  rd_free (writing->items);
  json_object_put (writing->metadata);
}

/*------------------------------------------------------------------------
 * Documents
 *----------------------------------------------------------------------*/

/* Attributes with an encoding, and besides a column's own ones (NULL: none). */
static struct json_object *
new_attributes (struct rd_json_make *make, const char *encoding,
                const char *version, struct json_object *own)
{
  struct json_object *attributes = json_object_new_object ();
  if (own) {
    json_object_object_foreach (own, name, value)
      rd_json_add (make, attributes, name, json_object_get (value));
  }
  rd_json_add_string (make, attributes, "encoding-type", encoding);
  rd_json_add_string (make, attributes, "encoding-version", version);
  return attributes;
}

/* True if a number is one of a column's. */
static bool
has_number (const struct rd_column *column, struct rd_slice number)
{
  for (size_t i = 0; i < column->n; i++)
    if (rd_slice_equal (rd_column_bytes (column, i), number))
      return true;
  return false;
}

/* Finds a fill value that the column does not have: 0, 1, 2, ... or "", "-",
 * "--", ...  Among more candidates than values one is free.  A string's bytes
 * follow the element. */
static enum radio_status
find_fill (const struct rd_column *column, unsigned char **fill)
{
  size_t more_nbytes = column->values ? 0 : column->n + 1;
  unsigned char *element = rd_calloc (1, RD_ITEM_MAX_NBYTES + more_nbytes);
  if (!element)
    return rd_fail_memory (RD_ITEM_MAX_NBYTES + more_nbytes);
  *fill = element;
  if (!column->values) {
    struct rd_string string = { (char *) element + RD_ITEM_MAX_NBYTES, 0 };
    bool is_used = true;
    memset (element + RD_ITEM_MAX_NBYTES, '-', more_nbytes);
    for (; is_used; string.nbytes += is_used) {
      is_used = false;
      for (size_t i = 0; i < column->n && !is_used; i++)
        is_used = rd_slice_equal (
          rd_string (&column->text, i),
          (struct rd_slice) { string.data, (size_t) string.nbytes });
    }
    memcpy (element, &string, sizeof string);
    return RADIO_OK;
  }
  size_t nbytes = radio_dtype_nbytes (column->dtype);
  rd_convert_fn *convert = rd_convert_find (RADIO_INT64, column->dtype);
  /* If all that fit are there, the only chunk has different values. */
  for (int64_t i = 0; i < INT8_MAX + 1; i++) {
    unsigned char next[RD_ITEM_MAX_NBYTES];
    if (convert ((unsigned char *) &i, next, 1))
      break;
    memcpy (element, next, nbytes);
    if (!has_number (column, (struct rd_slice) { (char *) element, nbytes }))
      break;
  }
  return RADIO_OK;
}

/* Level 1: digits of affines and hashes, most of a table of volumes, are packed
 * by their entropy alone, which higher levels do worse (1.48 MB instead of 1.55
 * for 10,000 volumes), and three times slower. */
static enum radio_status
new_document (const struct item *item, struct json_object *own,
              struct json_object **document)
{
  static const char zstd[]
    = "{\"name\": \"zstd\", \"configuration\": {\"level\": 1, "
      "\"checksum\": false}}, {\"name\": \"crc32c\"}]";
  const struct rd_column *column = item->source;
  bool is_text = !column->values;
  bool is_byte = radio_dtype_nbytes (column->dtype) == 1;
  struct rd_json_make make = { false };
  RD_CLEANUP (rd_cleanup_json) struct json_object *codecs = NULL;
  RD_CLEANUP (rd_cleanup_json) struct json_object *attributes = NULL;
  RD_FREE unsigned char *fill = NULL;
  char text[sizeof zstd + 80];
  RD_TRY (find_fill (column, &fill));
  snprintf (text, sizeof text, "[{\"name\": \"%s\"%s}, %s",
            is_text ? "vlen-utf8" : "bytes",
            is_text || is_byte
            ? "" : ", \"configuration\": {\"endian\": \"little\"}", zstd);
  RD_TRY (rd_json_parse (text, strlen (text), "codecs", &codecs));
  RD_TRY (rd_json_make_end (&make, new_attributes (
    &make, is_text ? "string-array" : "array", "0.2.0", own), &attributes));
  const struct rd_array_doc doc = {
    .rank = 1, .shape = { column->n }, .chunk_shape = { item->chunk },
    .type = rd_type_of (is_text ? RADIO_STRING : column->dtype),
    .fill = fill, .separator = '/', .codecs = codecs,
    .attributes = attributes,
  };
  return rd_array_doc_write (&doc, document);
}

/*------------------------------------------------------------------------
 * Columns
 *----------------------------------------------------------------------*/

/* Adds a document; it is taken, also on failure. */
static enum radio_status
add_document (struct writing *writing, const char *name,
              struct json_object *document)
{
  if (json_object_object_add (writing->metadata, name, document) == 0)
    return RADIO_OK;
  json_object_put (document);
  return rd_fail_memory (0);
}

/* The strings of a chunk. */
static uint64_t
find_chunk (const struct rd_column *column)
{
  uint64_t n = column->n > 0 ? column->n : 1;
  if (column->values)
    return n;
  /* As many as fit into every chunk; at least one. */
  const int64_t *offsets = column->text.offsets;
  uint64_t chunk = n;
  for (bool fits = false; !fits && chunk > 1;) {
    fits = true;
    for (uint64_t i = 0; i < column->n && fits; i += chunk) {
      uint64_t end = rd_min_u64 (i + chunk, column->n);
      fits = offsets[end] - offsets[i] <= CHUNK_TEXT_NBYTES;
    }
    if (!fits)
      chunk = rd_div_up (chunk, 2);
  }
  return chunk;
}

/* Adds an array, GROUP/MEMBER or GROUP alone if member is NULL: of a column
 * that is taken, also on failure, or of source, which is that one or outlives
 * the writing. */
static enum radio_status
add_array (struct writing *writing, const char *group, const char *member,
           struct rd_column *taken, const struct rd_column *source,
           struct json_object *own)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *column = taken;
  struct json_object *document;
  RD_TRY (rd_reserve (&writing->items, &writing->capacity, writing->n,
                      sizeof *writing->items));
  RD_FREE char *name = member ? rd_key_join (group, member)
                              : rd_strdup (group);
  if (!name)
    return rd_fail_memory (strlen (group) + 1);
  struct item item = { name, column, source ? source : column, 0 };
  item.chunk = find_chunk (item.source);
  RD_TRY (new_document (&item, own, &document));
  RD_TRY (add_document (writing, name, document));
  name = NULL;
  column = NULL;
  writing->items[writing->n++] = item;
  return RADIO_OK;
}

/* Adds a group; is_ordered is that of categories, else NULL. */
static enum radio_status
add_group (struct writing *writing, const char *name, const char *encoding,
           const char *version, const struct rd_column *column,
           const bool *is_ordered)
{
  struct rd_json_make make = { false };
  struct json_object *document;
  struct json_object *attributes = new_attributes (&make, encoding, version,
                                                   column->attributes);
  if (is_ordered)
    rd_json_add (&make, attributes, "ordered",
                 json_object_new_boolean (*is_ordered));
  RD_TRY (rd_json_make_end (&make, attributes, &attributes));
  enum radio_status status = rd_group_doc_write (attributes, NULL, &document);
  json_object_put (attributes);
  RD_TRY (status);
  return add_document (writing, name, document);
}

/* Prepares a lookup of all values of a column, which must outlive it. */
static enum radio_status
look_up_column (const struct rd_column *column, struct rd_lookup *lookup)
{
  RD_FREE struct rd_slice *values
    = rd_malloc ((column->n + 1) * sizeof *values);
  if (!values)
    return rd_fail_memory ((column->n + 1) * sizeof *values);
  for (size_t i = 0; i < column->n; i++)
    values[i] = rd_column_bytes (column, i);
  return rd_lookup_make (values, column->n, lookup);
}

/* Prepares a lookup of the categories that a column had; *has_all is set if
 * all of its values are among them, and has_rows which of them it has now. */
static enum radio_status
look_up_values (const struct rd_column *column, struct rd_lookup *lookup,
                bool *has_rows, bool *has_all)
{
  RD_TRY (look_up_column (column->categories, lookup));
  *has_all = true;
  for (size_t i = 0; i < column->n && *has_all; i++) {
    if (!rd_column_is_valid (column, i))
      continue;
    size_t at = rd_lookup_find (lookup, rd_column_bytes (column, i));
    *has_all = at != RD_NOT_THERE;
    if (*has_all)
      has_rows[at] = true;
  }
  return RADIO_OK;
}

/* True if a value is one of those that a BIDS sidecar describes. */
static bool
is_described (const struct rd_column *column, struct rd_slice value)
{
  struct json_object *levels = rd_json_member (column->attributes, "Levels");
  if (!json_object_is_type (levels, json_type_object))
    return false;
  json_object_object_foreach (levels, name, description) {
    (void) description;
    if (rd_slice_equal (value, (struct rd_slice) { name, strlen (name) }))
      return true;
  }
  return false;
}

/* Makes the categories that stay, if not all do; NULL: all.  A category whose
 * last row was removed or has another value now is dropped, so that values
 * taken out of a study leave no trace.  What a user declared stays: an order, a
 * value that no row ever had, or one that a sidecar describes. */
static enum radio_status
keep_categories (const struct rd_column *column, const bool *has_rows,
                 struct rd_column **kept)
{
  const struct rd_column *had = column->categories;
  size_t n = 0;
  RD_FREE size_t *rows = rd_malloc ((had->n + 1) * sizeof *rows);
  if (!rows)
    return rd_fail_memory ((had->n + 1) * sizeof *rows);
  for (size_t i = 0; i < had->n; i++)
    if (has_rows[i] || !column->had_rows || !column->had_rows[i]
        || column->is_ordered
        || is_described (column, rd_column_bytes (had, i)))
      rows[n++] = i;
  return n < had->n ? rd_column_take (had, rows, n, kept) : RADIO_OK;
}

/* Makes categories of the different values of text, in the order of their
 * bytes; NULL: there are too many. */
static enum radio_status
make_categories (const struct rd_column *column, struct rd_column **categories)
{
  RD_LOOKUP_SCOPE struct rd_lookup all = { 0 };
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  RD_CLEANUP (rd_cleanup_column) struct rd_column *found = NULL;
  size_t n = 0;
  RD_FREE struct rd_slice *values
    = rd_malloc ((column->n + 1) * sizeof *values);
  if (!values)
    return rd_fail_memory ((column->n + 1) * sizeof *values);
  for (size_t i = 0; i < column->n; i++)
    if (rd_column_is_valid (column, i))
      values[n++] = rd_column_bytes (column, i);
  RD_TRY (rd_lookup_make (values, n, &all));
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && rd_slice_equal (all.keys[i - 1].key, all.keys[i].key))
      continue;
    if (texts.n == RD_MAX_CATEGORIES)
      return RADIO_OK;
    RD_TRY (rd_text_list_add (&texts, all.keys[i].key));
  }
  RD_TRY (rd_column_new (column->name, RADIO_COLUMN_TEXT, RADIO_STORED,
                         texts.n, &found));
  RD_TRY (rd_text_list_end (&texts, &found->text));
  *categories = RD_STEAL (found);
  return RADIO_OK;
}

/* Finds the categories of a column: those that it had, if all values are among
 * them, without those that go, which makes *made; else of text those in *made.
 * NULL: it is not categorical. */
static enum radio_status
find_categories (const struct rd_column *column, struct rd_lookup *lookup,
                 struct rd_column **made, const struct rd_column **categories)
{
  const struct rd_column *had = column->categories;
  *categories = NULL;
  if (had && had->dtype == column->dtype) {
    bool has_all = false;
    RD_FREE bool *has_rows = rd_calloc (had->n + 1, sizeof *has_rows);
    if (!has_rows)
      return rd_fail_memory (had->n + 1);
    RD_TRY (look_up_values (column, lookup, has_rows, &has_all));
    if (has_all) {
      RD_TRY (keep_categories (column, has_rows, made));
      *categories = *made ? *made : had;
      if (*made == NULL)
        return RADIO_OK;
    }
    rd_lookup_free (lookup);
    if (has_all)
      return look_up_column (*made, lookup);
  }
  if (column->values)
    return RADIO_OK;
  RD_TRY (make_categories (column, made));
  *categories = *made;
  return *made ? look_up_column (*made, lookup) : RADIO_OK;
}

/* Adds a column of categories; those that are taken belong to it then. */
static enum radio_status
add_categorical (struct writing *writing, const struct rd_column *column,
                 const struct rd_lookup *lookup, struct rd_column *taken,
                 const struct rd_column *categories)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *made = taken;
  RD_CLEANUP (rd_cleanup_column) struct rd_column *codes = NULL;
  size_t n = categories->n;
  enum radio_dtype dtype = n <= RD_MAX_CATEGORIES ? RADIO_INT8
                           : n <= INT16_MAX       ? RADIO_INT16
                                                  : RADIO_INT32;
  size_t nbytes = radio_dtype_nbytes (dtype);
  /* The order of bytes is not the user's. */
  bool is_ordered = column->is_ordered && categories == column->categories;
  RD_TRY (add_group (writing, column->name, "categorical", "0.2.0", column,
                     &is_ordered));
  RD_TRY (rd_column_new (column->name, RADIO_COLUMN_INTEGER, dtype, column->n,
                         &codes));
  for (size_t i = 0; i < column->n; i++) {
    int32_t code = -1;
    if (rd_column_is_valid (column, i))
      code = (int32_t) rd_lookup_find (lookup, rd_column_bytes (column, i));
    int16_t code16 = (int16_t) code;
    int8_t code8 = (int8_t) code;
    memcpy (codes->values + i * nbytes,
            nbytes == 1 ? (void *) &code8
            : nbytes == 2 ? (void *) &code16 : (void *) &code, nbytes);
  }
  RD_TRY (add_array (writing, column->name, "categories",
                     RD_STEAL (made), categories, NULL));
  return add_array (writing, column->name, "codes", RD_STEAL (codes), NULL,
                    NULL);
}

static enum radio_status
add_column (struct writing *writing, const struct rd_column *column)
{
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  RD_CLEANUP (rd_cleanup_column) struct rd_column *mask = NULL;
  RD_CLEANUP (rd_cleanup_column) struct rd_column *made = NULL;
  const struct rd_column *categories;
  const char *name = column->name;
  RD_TRY (find_categories (column, &lookup, &made, &categories));
  if (categories)
    return add_categorical (writing, column, &lookup, RD_STEAL (made),
                            categories);
  if (!column->valid || column->type == RADIO_COLUMN_FLOAT)
    return add_array (writing, name, NULL, NULL, column, column->attributes);
  const char *encoding = column->type == RADIO_COLUMN_BOOL
    ? "nullable-boolean" : column->type == RADIO_COLUMN_INTEGER
    ? "nullable-integer" : "nullable-string-array";
  RD_TRY (add_group (writing, name, encoding, "0.1.0", column, NULL));
  RD_TRY (add_array (writing, name, "values", NULL, column, NULL));
  RD_TRY (rd_column_new (name, RADIO_COLUMN_BOOL, RADIO_BOOL, column->n,
                         &mask));
  for (size_t i = 0; i < column->n; i++)
    mask->values[i] = !column->valid[i];
  return add_array (writing, name, "mask", RD_STEAL (mask), NULL, NULL);
}

/*------------------------------------------------------------------------
 * The frame
 *----------------------------------------------------------------------*/

static enum radio_status
put_node (const struct writing *writing, const char *name,
          struct json_object *document)
{
  RD_FREE char *path = rd_key_join (writing->path, name);
  if (!path)
    return RADIO_ERROR_MEMORY;
  return rd_store_put_document (writing->store, path, document, RD_PUT_OWN);
}

static enum radio_status
put_frame (const struct writing *writing, const struct rd_data *data,
           struct json_object *radio, struct json_object **document)
{
  struct rd_json_make make = { false };
  RD_CLEANUP (rd_cleanup_json) struct json_object *attributes
    = new_attributes (&make, "dataframe", "0.2.0", data->attributes);
  rd_json_add_string (&make, attributes, "_index", data->index_name);
  struct json_object *order
    = rd_json_add_list (&make, attributes, "column-order");
  for (size_t i = 0; i < data->n; i++)
    rd_json_append (&make, order,
                    json_object_new_string (data->columns[i]->name));
  rd_json_add (&make, attributes, "radio", json_object_get (radio));
  RD_TRY (rd_json_make_end (&make, RD_STEAL (attributes), &attributes));
  RD_TRY (rd_group_doc_write (attributes, writing->metadata, document));
  return rd_store_put_document (writing->store, writing->path, *document,
                                RD_PUT_OWN);
}

static enum radio_status
write_item (const struct writing *writing, const struct item *item)
{
  RD_CLEANUP (rd_cleanup_array) struct radio_array *array = NULL;
  const struct rd_column *column = item->source;
  struct rd_array_doc *doc;
  if (column->n == 0)
    return RADIO_OK;
  RD_FREE char *path = rd_key_join (writing->path, item->name);
  if (!path)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_array_doc_parse (rd_json_member (writing->metadata, item->name),
                              path, &doc));
  RD_TRY (rd_array_open_doc (writing->store, path, doc, &array));
  const struct radio_box box = rd_box_whole (1, array->doc->shape);
  if (!column->values)
    return radio_array_write_strings (array, &box, &column->text);
  return radio_array_write (array, &box, column->values,
                            column->n * radio_dtype_nbytes (column->dtype));
}

/* The objects of a frame besides its group's document, in any order: nothing
 * refers to them yet. */
struct writing_job {
  struct rd_job job;                  /* first */
  const struct writing *writing;
  const char **names;                 /* of the documents, and then an array
                                         for each item */
  struct json_object **documents;
  size_t ndocuments;
};

static enum radio_status
do_object (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  const struct writing_job *job = (const struct writing_job *) base;
  (void) scratch;
  if (task < job->ndocuments)
    return put_node (job->writing, job->names[task], job->documents[task]);
  return write_item (job->writing,
                     &job->writing->items[task - job->ndocuments]);
}

static enum radio_status
write_objects (const struct writing *writing)
{
  static const struct radio_site site = {
    "write columns", RD_IN_OPERATION, "write_objects", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  const struct radio_store *store = writing->store;
  size_t n = (size_t) json_object_object_length (writing->metadata);
  RD_FREE const char **names = rd_malloc ((n + 1) * sizeof *names);
  RD_FREE struct json_object **documents
    = rd_malloc ((n + 1) * sizeof *documents);
  if (!names || !documents)
    return rd_fail_memory ((n + 1) * (sizeof *names + sizeof *documents));
  struct writing_job job = {
    .job = { .run = do_object, .site = &site },
    .writing = writing, .names = names, .documents = documents,
  };
  json_object_object_foreach (writing->metadata, name, document) {
    names[job.ndocuments] = name;
    documents[job.ndocuments++] = document;
  }
  job.job.n = job.ndocuments + writing->n;
  /* On a disk they are durable together, afterwards. */
  return rd_store_run (store, &job.job);
}

enum radio_status
rd_dataframe_write (struct radio_store *store, const char *path,
                const struct rd_data *data, struct json_object *radio,
                struct json_object **document)
{
  /* The ids are an array even if there are few. */
  const struct rd_column index = {
    .name = data->index_name, .type = RADIO_COLUMN_TEXT,
    .dtype = RADIO_STORED, .n = data->ids.n, .text = data->ids,
  };
  RD_CLEANUP (end_writing) struct writing writing = {
    .store = store, .path = path, .metadata = json_object_new_object (),
  };
  if (!writing.metadata)
    return rd_fail_memory (0);
  RD_TRY (add_array (&writing, data->index_name, NULL, NULL, &index, NULL));
  for (size_t i = 0; i < data->n; i++)
    RD_TRY (add_column (&writing, data->columns[i]));
  RD_TRY (put_frame (&writing, data, radio, document));
  return write_objects (&writing);
}
