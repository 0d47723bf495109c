/* SPDX-License-Identifier: MIT */
/* Data frames in AnnData's format (dataframe 0.2.0): a group with an array for
 * each column, or with a group of codes and categories, or of values and a
 * mask.  One is opened from its group's document, and its columns are read
 * when they are needed; it is written at once and never changes. */
#ifndef RD_TABLE_FRAME_H
#define RD_TABLE_FRAME_H

#include "src/array/array.h"
#include "src/table/column.h"

/* Text with at most this many different values is stored as categories, whose
 * codes are int8. */
#define RD_MAX_CATEGORIES 127

enum rd_encoding {
  RD_ENCODING_ARRAY = 0,      /* of numbers or strings */
  RD_ENCODING_CATEGORICAL,
  RD_ENCODING_NULLABLE,
};

/* A column as it is stored. */
struct rd_field {
  char *name;
  enum rd_encoding encoding;
  enum radio_column_type type;        /* of the categories, if it has them */
  enum radio_dtype dtype;             /* RADIO_STORED of text */
  bool is_ordered;
  size_t category_count;
  struct radio_array *values;         /* codes of categories */
  struct radio_array *categories;     /* NULL: none */
  struct radio_array *mask;           /* true: missing; NULL: none */
  struct json_object *attributes;     /* its own */
  char *attributes_json;
};

struct rd_dataframe {
  struct radio_store *store;          /* a reference */
  char *path;
  size_t nrows;
  struct rd_field index;
  struct rd_field *fields;            /* in the order of its columns */
  size_t n;
  struct json_object *attributes;     /* its own; NULL: none */
  char *attributes_json;
};

/* Opens the frame of a group's document, which was read from path.  With
 * is_complete every chunk is stored, and a missing one is an error. */
enum radio_status rd_dataframe_open (struct radio_store *store,
                                     const char *path,
                                     struct json_object *document,
                                     bool is_complete,
                                     struct rd_dataframe **frame)
  RADIO_USE_RESULT;
void rd_dataframe_close (struct rd_dataframe *frame);
RD_DEFINE_CLEANUP (dataframe, struct rd_dataframe, rd_dataframe_close);

/* A column that is read at the same time as others, maybe of other frames.  The
 * caller sets the first part, and the rest to zero. */
struct rd_field_read {
  struct rd_dataframe *frame;
  const struct rd_field *field;
  bool as_stored;                     /* of one with categories these, and not
                                         the values of the rows */

  struct rd_column *column;           /* the result */
  int32_t *codes;                     /* with as_stored, of one with categories
                                         the number of each row's, -1 where it
                                         is missing; else NULL */
  bool *mask;                         /* private */
};

/* Reads n columns of frames of one store; over a network all their arrays at
 * the same time.  After a failure nothing is to be freed, and *failed is the
 * number of one that failed, or n. */
enum radio_status rd_dataframe_read_many (struct rd_field_read *reads,
                                          size_t n, size_t *failed)
  RADIO_USE_RESULT;

/* Frees the columns read. */
void rd_field_read_clear (struct rd_field_read *read);

/* Reads a column; its categories are kept if it has them. */
enum radio_status rd_dataframe_read (struct rd_dataframe *frame,
                                     const struct rd_field *field,
                                     struct rd_column **column)
  RADIO_USE_RESULT;

/* True for errors that say that a generation is damaged or incomplete. */
bool rd_dataframe_is_damaged (enum radio_status status);

/* Adds to the thread's message what can be done about a generation without ids,
 * or whose document cannot be read. */
enum radio_status rd_dataframe_fail_unreadable (enum radio_status status)
  RADIO_USE_RESULT;

/* Reads the ids, and checks that none is missing and no two are equal. */
enum radio_status rd_dataframe_read_ids (struct rd_dataframe *frame,
                                         struct radio_strings *ids)
  RADIO_USE_RESULT;

/* Takes the ids of their column that was read, and checks them. */
enum radio_status rd_dataframe_take_ids (const struct rd_dataframe *frame,
                                         struct rd_column *column,
                                         struct radio_strings *ids)
  RADIO_USE_RESULT;

/* Reads the codes of a categorical column: -1 where the value is missing, else
 * below the number of its categories. */
enum radio_status rd_dataframe_read_codes (struct rd_dataframe *frame,
                                           const struct rd_field *field,
                                           int32_t *codes) RADIO_USE_RESULT;

/* Reads an array of numbers or strings without missing values. */
enum radio_status rd_dataframe_read_array (struct rd_dataframe *frame,
                                           const char *name,
                                           struct radio_array *array,
                                           struct rd_column **column)
  RADIO_USE_RESULT;

/* A frame in memory. */
struct rd_data {
  char *index_name;
  struct radio_strings ids;
  struct rd_column **columns;
  size_t n, capacity;
  struct json_object *attributes;     /* its own; NULL: none */
};

void rd_data_free (struct rd_data *data);
#define RD_DATA_SCOPE RD_CLEANUP (rd_data_free)

/* Reads all of the frame's n columns except those of are_empty, whose values
 * are all missing then.  A column that repeats the index is left out.  After a
 * failure *failed is the field of one that failed, or NULL. */
enum radio_status rd_dataframe_load (struct rd_dataframe *frame,
                                     const bool *are_empty,
                                     struct rd_data *data,
                                     const struct rd_field **failed)
  RADIO_USE_RESULT;

/* Returns a column's number, or RD_NOT_THERE. */
size_t rd_data_find (const struct rd_data *data, const char *name);

/* Appends a column, which is taken, also on failure. */
enum radio_status rd_data_add (struct rd_data *data, struct rd_column *column)
  RADIO_USE_RESULT;

/* Writes a frame below path, where nothing is yet: its group's document first,
 * with those of all nodes in it.  radio: the group's attributes.radio, to which
 * a reference is taken.  *document is the group's, also after some failures:
 * the caller puts it. */
enum radio_status rd_dataframe_write (struct radio_store *store,
                                      const char *path,
                                      const struct rd_data *data,
                                      struct json_object *radio,
                                      struct json_object **document)
  RADIO_USE_RESULT;

#endif /* RD_TABLE_FRAME_H */
