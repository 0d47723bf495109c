/* SPDX-License-Identifier: MIT */
/* Opening data frames and reading their columns.  All that a document says is
 * checked here: the lengths, the types, and that each column that is named is
 * there. */
#include <config.h>

#include <inttypes.h>

#include "src/base/checked.h"
#include "src/base/json.h"
#include "src/base/reserve.h"
#include "src/element/box.h"
#include "src/table/frame.h"
#include "profiler/counters.h"

/*------------------------------------------------------------------------
 * Opening
 *----------------------------------------------------------------------*/

static void
close_field (struct rd_field *field)
{
  rd_free (field->name);
  radio_array_close (field->values);
  radio_array_close (field->categories);
  radio_array_close (field->mask);
  json_object_put (field->attributes);
  rd_free (field->attributes_json);
}

void
rd_dataframe_close (struct rd_dataframe *frame)
{
  if (!frame)
    return;
  close_field (&frame->index);
  for (size_t i = 0; i < frame->n; i++)
    close_field (&frame->fields[i]);
  rd_free (frame->fields);
  json_object_put (frame->attributes);
  rd_free (frame->attributes_json);
  rd_free (frame->path);
  radio_store_close (frame->store);
  rd_free (frame);
}

/* Copies the attributes that the format does not define. */
static enum radio_status
copy_attributes (struct json_object *document, struct json_object **copy,
                 char **text)
{
  static const char *const defined[] = {
    "encoding-type", "encoding-version", "_index", "column-order", "ordered",
    "radio"
  };
  struct json_object *attributes = rd_json_member (document, "attributes");
  RD_CLEANUP (rd_cleanup_json) struct json_object *own = NULL;
  if (!attributes || !json_object_is_type (attributes, json_type_object))
    own = json_object_new_object ();
  else if (json_object_deep_copy (attributes, &own, NULL) != 0)
    return rd_fail_memory (0);
  if (!own)
    return rd_fail_memory (0);
  for (size_t i = 0; i < sizeof defined / sizeof *defined; i++)
    json_object_object_del (own, defined[i]);
  RD_TRY (rd_json_copy_text (own, text));
  *copy = RD_STEAL (own);
  return RADIO_OK;
}

struct opening {
  struct rd_dataframe *frame;
  struct json_object *metadata;       /* consolidated; NULL: none */
  const char *where;                  /* the group's document, in messages */
  bool is_complete;
  bool has_nrows;
};

/* Gets the document of a node below the frame.  *owned is to be put. */
static enum radio_status
get_node (const struct opening *opening, const char *name,
          struct json_object **document, struct json_object **owned)
{
  struct rd_dataframe *frame = opening->frame;
  *document = rd_json_member (opening->metadata, name);
  if (*document)
    return RADIO_OK;
  RD_FREE char *path = rd_key_join (frame->path, name);
  if (!path)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = rd_store_read_document (frame->store, path,
                                                     owned);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: the table names '%s', which does "
                    "not exist", opening->where, name);
  *document = *owned;
  return status;
}

/* Opens the array of a document, which must be one, have one dimension, and
 * with is_rows a value for each row: the first one of these says how many there
 * are. */
static enum radio_status
open_array (struct opening *opening, const char *name,
            struct json_object *document, bool is_rows,
            struct radio_array **array)
{
  struct rd_dataframe *frame = opening->frame;
  struct rd_array_doc *doc;
  enum rd_node_type node;
  RD_FREE char *path = rd_key_join (frame->path, name);
  if (!path)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_document_node (document, name, &node));
  if (node != RD_NODE_ARRAY)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: a group, not an array", path);
  RD_TRY (rd_array_doc_parse (document, path, &doc));
  RD_TRY (rd_array_open_doc (frame->store, path, doc, array));
  (*array)->is_complete = opening->is_complete;
  if (doc->rank != 1)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: a column of %zu dimensions; "
                    "only 1-D ones are supported", path, doc->rank);
  uint64_t n = doc->shape[0];
  if (!is_rows)
    return RADIO_OK;
  if (opening->has_nrows && n != frame->nrows)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: has %" PRIu64 " values, and the "
                    "table %zu rows", path, n, frame->nrows);
  if (n > SIZE_MAX / 16)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: %" PRIu64 " rows", path, n);
  frame->nrows = (size_t) n;
  opening->has_nrows = true;
  return RADIO_OK;
}

/* Opens an array that is a member of a column's group. */
static enum radio_status
open_member (struct opening *opening, const char *column, const char *member,
             bool is_rows, struct radio_array **array)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *owned = NULL;
  struct json_object *document;
  RD_FREE char *name = rd_key_join (column, member);
  if (!name)
    return RADIO_ERROR_MEMORY;
  RD_TRY (get_node (opening, name, &document, &owned));
  return open_array (opening, name, document, is_rows, array);
}

/* Opens the categories of a column: an array or, as anndata writes them with
 * pandas 3, a nullable one, of which none is missing. */
static enum radio_status
open_categories (struct opening *opening, const char *column,
                 struct radio_array **array)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *owned = NULL;
  struct json_object *document;
  enum rd_node_type node;
  RD_FREE char *name = rd_key_join (column, "categories");
  if (!name)
    return RADIO_ERROR_MEMORY;
  RD_TRY (get_node (opening, name, &document, &owned));
  RD_TRY (rd_document_node (document, name, &node));
  struct json_object *encoding = rd_json_member (
    rd_json_member (document, "attributes"), "encoding-type");
  bool is_nullable = node == RD_NODE_GROUP
                     && json_object_is_type (encoding, json_type_string)
                     && strncmp (json_object_get_string (encoding),
                                 "nullable-", 9) == 0;
  return is_nullable
         ? open_member (opening, name, "values", false, array)
         : open_array (opening, name, document, false, array);
}

/* Finds the type of a column that an array of numbers or strings holds. */
static enum radio_status
find_type (const struct radio_array *array, enum radio_column_type *type,
           enum radio_dtype *dtype)
{
  *dtype = array->doc->type.dtype;
  if (*dtype == RADIO_STRING) {
    *dtype = RADIO_STORED;
    *type = RADIO_COLUMN_TEXT;
    return RADIO_OK;
  }
  if (rd_column_type_of (*dtype, type))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: a column of the data type %s",
                  array->path, radio_dtype_name (*dtype));
}

static enum radio_status
fail_type (const struct radio_array *array, const char *wanted)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: has the data type %s, not %s",
                  array->path, radio_dtype_name (array->doc->type.dtype),
                  wanted);
}

/* Opens a column that is a group: categorical or nullable. */
static enum radio_status
open_group (struct opening *opening, struct json_object *document,
            struct rd_field *field)
{
  const char *encoding, *name = field->name;
  RD_FREE char *where = rd_key_join (opening->frame->path, name);
  if (!where)
    return RADIO_ERROR_MEMORY;
  struct json_object *attributes = rd_json_member (document, "attributes");
  RD_TRY (rd_json_string (attributes, "encoding-type", where, &encoding));
  if (strcmp (encoding, "categorical") == 0) {
    field->encoding = RD_ENCODING_CATEGORICAL;
    RD_TRY (rd_json_bool (attributes, "ordered", where, &field->is_ordered));
    RD_TRY (open_member (opening, name, "codes", true, &field->values));
    RD_TRY (open_categories (opening, name, &field->categories));
    enum radio_column_type type;
    enum radio_dtype dtype = field->values->doc->type.dtype;
    if (!rd_column_type_of (dtype, &type) || type != RADIO_COLUMN_INTEGER)
      return fail_type (field->values, "integers");
    uint64_t count = field->categories->doc->shape[0];
    if (count > INT32_MAX)
      return rd_fail (RADIO_ERROR_LIMIT, "%s: %" PRIu64 " categories", where,
                      count);
    field->category_count = (size_t) count;
    return find_type (field->categories, &field->type, &field->dtype);
  }
  field->encoding = RD_ENCODING_NULLABLE;
  if (strcmp (encoding, "nullable-integer") != 0
      && strcmp (encoding, "nullable-boolean") != 0
      && strcmp (encoding, "nullable-string-array") != 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: a column of the encoding "
                    "'%s'", where, encoding);
  RD_TRY (open_member (opening, name, "values", true, &field->values));
  RD_TRY (open_member (opening, name, "mask", true, &field->mask));
  RD_TRY (find_type (field->values, &field->type, &field->dtype));
  if (field->mask->doc->type.dtype != RADIO_BOOL)
    return fail_type (field->mask, "bool");
  return RADIO_OK;
}

/* Names of columns are those of nodes in the group, whatever their writer
 * permits in them. */
static enum radio_status
check_name (const struct opening *opening, const char *name)
{
  if (*name != '\0' && strchr (name, '/') == NULL && strcmp (name, ".") != 0
      && strcmp (name, "..") != 0 && strcmp (name, "zarr.json") != 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: '%s' is not the name of a column",
                  opening->where, name);
}

static enum radio_status
open_field (struct opening *opening, const char *name, struct rd_field *field)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *owned = NULL;
  struct json_object *document;
  enum rd_node_type node;
  RD_TRY (check_name (opening, name));
  field->name = rd_strdup (name);
  if (!field->name)
    return rd_fail_memory (strlen (name) + 1);
  RD_TRY (get_node (opening, name, &document, &owned));
  RD_TRY (rd_document_node (document, name, &node));
  RD_TRY (copy_attributes (document, &field->attributes,
                           &field->attributes_json));
  if (node == RD_NODE_GROUP)
    return open_group (opening, document, field);
  RD_TRY (open_array (opening, name, document, true, &field->values));
  return find_type (field->values, &field->type, &field->dtype);
}

static enum radio_status
check_no_repeated (const struct opening *opening, struct json_object *order)
{
  size_t n = json_object_array_length (order);
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  RD_FREE struct rd_slice *names = rd_calloc (n + 1, sizeof *names);
  if (!names)
    return rd_fail_memory ((n + 1) * sizeof *names);
  for (size_t i = 0; i < n; i++) {
    const char *name;
    RD_TRY (rd_json_text (json_object_array_get_idx (order, i),
                          "attributes.column-order", opening->where, &name));
    names[i] = (struct rd_slice) { name, strlen (name) };
  }
  RD_TRY (rd_lookup_make (names, n, &lookup));
  size_t repeated = rd_lookup_repeated (&lookup);
  if (repeated == RD_NOT_THERE)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: attributes.column-order names '%s' "
                  "twice", opening->where, names[repeated].at);
}

static enum radio_status
open_frame (struct opening *opening, const struct rd_group_doc *group,
            struct json_object *document)
{
  struct rd_dataframe *frame = opening->frame;
  struct json_object *attributes = group->attributes, *order;
  const char *encoding, *index;
  RD_TRY (rd_json_string (attributes, "encoding-type", opening->where,
                          &encoding));
  if (strcmp (encoding, "dataframe") != 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: has the encoding '%s', and is not "
                    "a table", opening->where, encoding);
  RD_TRY (rd_json_string (attributes, "_index", opening->where, &index));
  RD_TRY (rd_json_array (attributes, "column-order", opening->where, &order));
  size_t n = json_object_array_length (order);
  if (n > RADIO_TABLE_MAX_COLUMNS)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: %zu columns; at most %d are read",
                    opening->where, n, RADIO_TABLE_MAX_COLUMNS);
  RD_TRY (check_no_repeated (opening, order));
  RD_TRY (copy_attributes (document, &frame->attributes,
                           &frame->attributes_json));
  frame->fields = rd_calloc (n + 1, sizeof *frame->fields);
  if (!frame->fields)
    return rd_fail_memory ((n + 1) * sizeof *frame->fields);
  RD_TRY (open_field (opening, index, &frame->index));
  for (size_t i = 0; i < n; i++) {
    const char *name
      = json_object_get_string (json_object_array_get_idx (order, i));
    frame->n = i + 1;
    RD_TRY (open_field (opening, name, &frame->fields[i]));
  }
  return RADIO_OK;
}

enum radio_status
rd_dataframe_open (struct radio_store *store, const char *path,
               struct json_object *document, bool is_complete,
               struct rd_dataframe **result)
{
  char where[RD_KEY_NBYTES];
  rd_path_key (path, "zarr.json", where);
  RD_CLEANUP (rd_cleanup_group_doc) struct rd_group_doc *group = NULL;
  RD_CLEANUP (rd_cleanup_dataframe) struct rd_dataframe *frame
    = rd_calloc (1, sizeof *frame);
  if (!frame)
    return rd_fail_memory (sizeof *frame);
  frame->store = rd_store_ref (store);
  frame->path = rd_strdup (path);
  if (!frame->path)
    return rd_fail_memory (strlen (path) + 1);
  RD_TRY (rd_group_doc_parse (document, where, &group));
  struct opening opening = { frame, group->consolidated, where, is_complete,
                             false };
  RD_TRY (open_frame (&opening, group, document));
  *result = RD_STEAL (frame);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Reading
 *----------------------------------------------------------------------*/

enum radio_status
rd_dataframe_read_array (struct rd_dataframe *frame, const char *name,
                     struct radio_array *array, struct rd_column **result)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *column = NULL;
  const struct radio_box box = rd_box_whole (1, array->doc->shape);
  enum radio_column_type type;
  enum radio_dtype dtype;
  RD_TRY (find_type (array, &type, &dtype));
  uint64_t item = dtype == RADIO_STORED ? sizeof (int64_t)
                                        : radio_dtype_nbytes (dtype);
  uint64_t nbytes = rd_mul_sat (rd_add_sat (box.size[0], 1), item);
  enum radio_status status = rd_context_allows (frame->store->context, nbytes,
                                                "a column of the table");
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s", array->path);
  size_t n = (size_t) box.size[0];
  RD_TRY (rd_column_new (name, type, dtype, n, &column));
  if (type == RADIO_COLUMN_TEXT)
    RD_TRY (radio_array_read_strings (array, &box, &column->text, NULL));
  else if (n > 0)
    RD_TRY (radio_array_read (array, &box, RADIO_STORED, column->values,
                              (size_t) nbytes, NULL));
  *result = RD_STEAL (column);
  return RADIO_OK;
}

enum radio_status
rd_dataframe_read_codes (struct rd_dataframe *frame,
                         const struct rd_field *field, int32_t *codes)
{
  size_t n = frame->nrows;
  const struct radio_box box = rd_box_whole (1, field->values->doc->shape);
  if (n == 0)
    return RADIO_OK;
  RD_TRY (radio_array_read (field->values, &box, RADIO_INT32, codes,
                            n * sizeof *codes, NULL));
  for (size_t i = 0; i < n; i++)
    if (codes[i] < -1 || codes[i] >= (int64_t) field->category_count)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: row %zu has the code %" PRId32
                      " of %zu categories", field->values->path,
                      i, codes[i], field->category_count);
  return RADIO_OK;
}

/* Reads the categories or values of each column, and the codes or masks of
 * those that have them. */
struct read_job {
  struct rd_job job;                  /* first */
  struct rd_field_read *reads;
  size_t n;
  size_t *seconds;                    /* which have codes or a mask */
  atomic_size_t failed;               /* a read that failed, or n */
};

static enum radio_status
read_values (struct rd_field_read *read)
{
  const struct rd_field *field = read->field;
  return rd_dataframe_read_array (read->frame, field->name, field->categories
                                  ? field->categories : field->values,
                                  &read->column);
}

static enum radio_status
read_codes (struct rd_field_read *read)
{
  struct rd_dataframe *frame = read->frame;
  size_t nbytes = rd_mul_sat (rd_add_sat (frame->nrows, 1),
                              sizeof *read->codes);
  RD_TRY (rd_context_allows (frame->store->context, nbytes,
                             "a column of the table"));
  read->codes = rd_malloc (nbytes);
  return read->codes ? rd_dataframe_read_codes (frame, read->field,
                                                read->codes)
                     : rd_fail_memory (nbytes);
}

static enum radio_status
read_mask (struct rd_field_read *read)
{
  size_t n = read->frame->nrows;
  struct radio_array *mask = read->field->mask;
  const struct radio_box box = rd_box_whole (1, mask->doc->shape);
  read->mask = rd_malloc (n + 1);
  if (!read->mask)
    return rd_fail_memory (n + 1);
  return n > 0 ? radio_array_read (mask, &box, RADIO_BOOL, read->mask, n, NULL)
               : RADIO_OK;
}

/* Reads one array of a column. */
static enum radio_status
do_read (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct read_job *job = (struct read_job *) base;
  bool is_second = task >= job->n;
  size_t i = is_second ? job->seconds[task - job->n] : (size_t) task;
  struct rd_field_read *read = &job->reads[i];
  const struct rd_field *field = read->field;
  (void) scratch;
  RD_SCOPE ("read column", RD_IN_METADATA);
  RD_NOTE_NAME ("column", field->name);
  enum radio_status status = !is_second ? read_values (read)
                             : field->categories ? read_codes (read)
                             : read_mask (read);
  if (status != RADIO_OK)
    atomic_store (&job->failed, i);
  return rd_scope_end_with (status);
}

/* Places the categories in the rows. */
static enum radio_status
expand (struct rd_field_read *read)
{
  size_t n = read->frame->nrows;
  struct rd_column *expanded;
  RD_TRY (rd_context_allows (read->frame->store->context,
                             rd_mul_sat (n, sizeof (size_t)),
                             "a column of the table"));
  RD_FREE size_t *rows = rd_malloc ((n + 1) * sizeof *rows);
  if (!rows)
    return rd_fail_memory ((n + 1) * sizeof *rows);
  RD_FREE bool *had_rows = rd_calloc (read->column->n + 1, sizeof *had_rows);
  if (!had_rows)
    return rd_fail_memory (read->column->n + 1);
  for (size_t i = 0; i < n; i++) {
    rows[i] = read->codes[i] < 0 ? RD_NOT_THERE : (size_t) read->codes[i];
    if (rows[i] != RD_NOT_THERE)
      had_rows[rows[i]] = true;
  }
  RD_TRY (rd_column_take (read->column, rows, n, &expanded));
  expanded->categories = read->column;
  expanded->had_rows = RD_STEAL (had_rows);
  expanded->is_ordered = read->field->is_ordered;
  read->column = expanded;
  rd_free (RD_STEAL (read->codes));
  return RADIO_OK;
}

/* Makes a column of the arrays that were read. */
static enum radio_status
finish_read (struct rd_field_read *read)
{
  if (read->field->categories && read->as_stored)
    return RADIO_OK;
  if (read->field->categories)
    RD_TRY (expand (read));
  if (read->mask) {
    for (size_t i = 0; i < read->column->n; i++)
      read->mask[i] = !read->mask[i];
    read->column->valid = RD_STEAL (read->mask);
  }
  read->column->attributes = json_object_get (read->field->attributes);
  return rd_column_find_missing (read->column);
}

void
rd_field_read_clear (struct rd_field_read *read)
{
  rd_column_free (RD_STEAL (read->column));
  rd_free (RD_STEAL (read->codes));
  rd_free (RD_STEAL (read->mask));
}

enum radio_status
rd_dataframe_read_many (struct rd_field_read *reads, size_t n, size_t *failed)
{
  static const struct radio_site site = {
    "read columns", RD_IN_METADATA, "rd_dataframe_read_many", __FILE__,
    __LINE__, RADIO_SCOPE_WORK
  };
  *failed = n;
  if (n == 0)
    return RADIO_OK;
  RD_FREE size_t *seconds = rd_malloc (rd_mul_sat (n, sizeof *seconds));
  if (!seconds)
    return rd_fail_memory (rd_mul_sat (n, sizeof *seconds));
  struct read_job job = {
    .job = { .run = do_read, .n = n, .site = &site },
    .reads = reads, .n = n, .seconds = seconds,
  };
  atomic_init (&job.failed, n);
  for (size_t i = 0; i < n; i++)
    if (reads[i].field->categories || reads[i].field->mask)
      seconds[job.job.n++ - n] = i;
  enum radio_status status = rd_store_run (reads->frame->store, &job.job);
  *failed = atomic_load (&job.failed);
  for (size_t i = 0; status == RADIO_OK && i < n; i++) {
    status = finish_read (&reads[i]);
    *failed = i;
  }
  for (size_t i = 0; status != RADIO_OK && i < n; i++)
    rd_field_read_clear (&reads[i]);
  return status;
}

enum radio_status
rd_dataframe_read (struct rd_dataframe *frame, const struct rd_field *field,
                   struct rd_column **result)
{
  struct rd_field_read read = { .frame = frame, .field = field };
  size_t failed;
  RD_TRY (rd_dataframe_read_many (&read, 1, &failed));
  *result = read.column;
  return RADIO_OK;
}

enum radio_status
rd_dataframe_take_ids (const struct rd_dataframe *frame,
                       struct rd_column *column, struct radio_strings *ids)
{
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  RD_STRINGS_FREE struct radio_strings text = { 0 };
  RD_TRY (rd_column_take_text (column, &text));
  for (size_t i = 0; i < text.n; i++)
    if (rd_string (&text, i).n == 0)
      return rd_fail (RADIO_ERROR_FORMAT, "%s/%s: row %zu has no id",
                      frame->path, frame->index.name, i);
  RD_TRY (rd_lookup_strings (&text, &lookup));
  size_t repeated = rd_lookup_repeated (&lookup);
  if (repeated != RD_NOT_THERE) {
    struct rd_slice id = rd_string (&text, repeated);
    return rd_fail (RADIO_ERROR_FORMAT, "%s/%s: the id '%.*s' is there twice, "
                    "again in row %zu", frame->path, frame->index.name,
                    (int) rd_min_u64 (id.n, 100), id.at, repeated);
  }
  *ids = text;
  text = (struct radio_strings) { 0 };
  return RADIO_OK;
}

bool
rd_dataframe_is_damaged (enum radio_status status)
{
  return status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_CHECKSUM
         || status == RADIO_ERROR_NOT_FOUND;
}

enum radio_status
rd_dataframe_fail_unreadable (enum radio_status status)
{
  struct rd_error error;
  rd_error_save (&error, status);
  return rd_fail (status, "%s; go on with an older generation, if there is "
                  "one, by 'radio index --recover'", error.message);
}

enum radio_status
rd_dataframe_read_ids (struct rd_dataframe *frame, struct radio_strings *ids)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *column = NULL;
  enum radio_status status = rd_dataframe_read (frame, &frame->index,
                                                &column);
  if (status == RADIO_OK)
    status = rd_dataframe_take_ids (frame, column, ids);
  return rd_dataframe_is_damaged (status)
         ? rd_dataframe_fail_unreadable (status) : status;
}

/*------------------------------------------------------------------------
 * In memory
 *----------------------------------------------------------------------*/

void
rd_data_free (struct rd_data *data)
{
  rd_free (data->index_name);
  radio_strings_free (&data->ids);
  for (size_t i = 0; i < data->n; i++)
    rd_column_free (data->columns[i]);
  rd_free (data->columns);
  json_object_put (data->attributes);
  *data = (struct rd_data) { 0 };
}

size_t
rd_data_find (const struct rd_data *data, const char *name)
{
  for (size_t i = 0; i < data->n; i++)
    if (strcmp (data->columns[i]->name, name) == 0)
      return i;
  return RD_NOT_THERE;
}

enum radio_status
rd_data_add (struct rd_data *data, struct rd_column *column)
{
  enum radio_status status = rd_reserve (&data->columns, &data->capacity,
                                         data->n, sizeof *data->columns);
  if (status == RADIO_OK)
    data->columns[data->n++] = column;
  else
    rd_column_free (column);
  return status;
}

/* Makes a column like a field's in which all values are missing. */
static enum radio_status
new_empty (const struct rd_field *field, size_t n, struct rd_column **result)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *none = NULL;
  RD_TRY (rd_column_new (field->name, field->type, field->dtype, 0, &none));
  none->attributes = json_object_get (field->attributes);
  RD_FREE size_t *rows = rd_malloc ((n + 1) * sizeof *rows);
  if (!rows)
    return rd_fail_memory ((n + 1) * sizeof *rows);
  for (size_t i = 0; i < n; i++)
    rows[i] = RD_NOT_THERE;
  return rd_column_take (none, rows, n, result);
}

/* Takes what was read of a frame: the ids, and then its columns. */
static enum radio_status
take_columns (struct rd_dataframe *frame, struct rd_field_read *reads,
              const bool *are_empty, struct rd_data *data)
{
  size_t nread = 1;
  RD_TRY (rd_dataframe_take_ids (frame, reads[0].column, &data->ids));
  for (size_t i = 0; i < frame->n; i++) {
    const struct rd_field *field = &frame->fields[i];
    struct rd_column *column;
    if (strcmp (field->name, data->index_name) == 0)
      continue;
    if (are_empty[i])
      RD_TRY (new_empty (field, data->ids.n, &column));
    else {
      column = RD_STEAL (reads[nread].column);
      nread++;
    }
    RD_TRY (rd_data_add (data, column));
  }
  return RADIO_OK;
}

enum radio_status
rd_dataframe_load (struct rd_dataframe *frame, const bool *are_empty,
                   struct rd_data *data, const struct rd_field **failed)
{
  size_t n = 0, nth;
  *failed = NULL;
  data->index_name = rd_strdup (frame->index.name);
  if (!data->index_name)
    return rd_fail_memory (strlen (frame->index.name) + 1);
  data->attributes = json_object_get (frame->attributes);
  RD_FREE struct rd_field_read *reads = rd_calloc (frame->n + 1,
                                                   sizeof *reads);
  if (!reads)
    return rd_fail_memory ((frame->n + 1) * sizeof *reads);
  reads[n++].field = &frame->index;
  for (size_t i = 0; i < frame->n; i++)
    if (!are_empty[i]
        && strcmp (frame->fields[i].name, data->index_name) != 0)
      reads[n++].field = &frame->fields[i];
  for (size_t i = 0; i < n; i++)
    reads[i].frame = frame;
  enum radio_status status = rd_dataframe_read_many (reads, n, &nth);
  if (status != RADIO_OK && nth < n)
    *failed = reads[nth].field;
  RD_TRY (status);
  status = take_columns (frame, reads, are_empty, data);
  for (size_t i = 0; i < n; i++)
    rd_field_read_clear (&reads[i]);
  return status;
}
