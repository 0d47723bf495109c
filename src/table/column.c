/* SPDX-License-Identifier: MIT */
/* Columns in memory: taking rows, setting cells, changing the type. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "src/base/checked.h"
#include "src/base/text.h"
#include "src/element/convert.h"
#include "src/element/type.h"
#include "src/table/column.h"

void
rd_column_free (struct rd_column *column)
{
  if (!column)
    return;
  rd_free (column->name);
  rd_free (column->values);
  radio_strings_free (&column->text);
  rd_free (column->valid);
  rd_column_free (column->categories);
  rd_free (column->had_rows);
  json_object_put (column->attributes);
  rd_free (column);
}

const char *
radio_column_type_name (enum radio_column_type type)
{
  static const char *const names[] = { "bool", "integer", "float", "text" };
  return (unsigned) type < sizeof names / sizeof *names ? names[type]
                                                        : "unknown";
}

bool
rd_column_type_of (enum radio_dtype dtype, enum radio_column_type *type)
{
  if (dtype == RADIO_BOOL)
    *type = RADIO_COLUMN_BOOL;
  else if (rd_dtype_is_integer (dtype))
    *type = RADIO_COLUMN_INTEGER;
  else if (rd_dtype_is_float (dtype))
    *type = RADIO_COLUMN_FLOAT;
  else
    return false;
  return true;
}

enum radio_dtype
rd_column_dtype (enum radio_column_type type)
{
  static const enum radio_dtype dtypes[] = {
    RADIO_BOOL, RADIO_INT64, RADIO_FLOAT64, RADIO_STORED
  };
  return dtypes[type];
}

enum radio_status
rd_column_new (const char *name, enum radio_column_type type,
               enum radio_dtype dtype, size_t n, struct rd_column **result)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *column
    = rd_calloc (1, sizeof *column);
  if (!column)
    return rd_fail_memory (sizeof *column);
  column->name = rd_strdup (name);
  if (!column->name)
    return rd_fail_memory (strlen (name) + 1);
  column->type = type;
  column->dtype = dtype;
  column->n = n;
  if (type != RADIO_COLUMN_TEXT) {
    column->values = rd_calloc (n + 1, radio_dtype_nbytes (dtype));
    if (!column->values)
      return rd_fail_memory (rd_mul_sat (n, radio_dtype_nbytes (dtype)));
  }
  *result = RD_STEAL (column);
  return RADIO_OK;
}

static enum radio_status
add_valid (struct rd_column *column)
{
  if (column->valid)
    return RADIO_OK;
  column->valid = rd_malloc (column->n + 1);
  if (!column->valid)
    return rd_fail_memory (column->n + 1);
  memset (column->valid, true, column->n + 1);
  return RADIO_OK;
}

/* A float of any size. */
static double
float_at (const struct rd_column *column, size_t row)
{
  const unsigned char *at
    = column->values + row * radio_dtype_nbytes (column->dtype);
  uint16_t half;
  float single;
  double value;
  switch (column->dtype) {
  case RADIO_FLOAT16:
    memcpy (&half, at, sizeof half);
    return rd_half_to_float (half);
  case RADIO_FLOAT32:
    memcpy (&single, at, sizeof single);
    return single;
  default:
    memcpy (&value, at, sizeof value);
    return value;
  }
}

static void
set_nan (struct rd_column *column, size_t row)
{
  const double nan = NAN;
  rd_convert_find (RADIO_FLOAT64, column->dtype)
    ((const unsigned char *) &nan,
     column->values + row * radio_dtype_nbytes (column->dtype), 1);
}

enum radio_status
rd_column_find_missing (struct rd_column *column)
{
  bool is_float = column->type == RADIO_COLUMN_FLOAT, any = false;
  for (size_t i = 0; i < column->n; i++) {
    bool is_nan = is_float && isnan (float_at (column, i));
    if (is_nan)
      RD_TRY (add_valid (column));
    if (is_nan)
      column->valid[i] = false;
    if (rd_column_is_valid (column, i))
      continue;
    any = true;
    if (is_float)
      set_nan (column, i);
    else if (column->values) {
      size_t nbytes = radio_dtype_nbytes (column->dtype);
      memset (column->values + i * nbytes, 0, nbytes);
    }
  }
  if (!any) {
    rd_free (column->valid);
    column->valid = NULL;
  }
  return RADIO_OK;
}

/* Text, with that of missing values emptied. */
static enum radio_status
copy_text (struct rd_column *column, const struct radio_strings *text)
{
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  for (size_t i = 0; i < column->n; i++) {
    struct rd_slice at = { "", 0 };
    if (rd_column_is_valid (column, i))
      at = rd_string (text, i);
    RD_TRY (rd_text_list_add (&texts, at));
  }
  return rd_text_list_end (&texts, &column->text);
}

static enum radio_status
check_text (const struct radio_cells *cells, size_t n)
{
  const struct radio_strings *text = cells->text;
  if (text->n != n)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: %zu ids and %" PRIu64
                    " values", cells->column, n, text->n);
  RD_TRY (rd_strings_check (text, cells->column));
  for (size_t i = 0; i < n; i++) {
    if (cells->valid && !cells->valid[i])
      continue;
    struct rd_slice at = rd_string (text, i);
    if (at.n > RD_CELL_MAX_NBYTES)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: a text of %zu bytes; a cell "
                      "holds at most 1 MiB", cells->column, at.n);
    size_t nvalid = rd_utf8_valid_nbytes (at.at, at.n);
    if (nvalid < at.n)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: value %zu is not UTF-8 at its "
                      "byte %zu", cells->column, i, nvalid);
    if (memchr (at.at, '\0', at.n))
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: value %zu has a NUL",
                      cells->column, i);
  }
  return RADIO_OK;
}

/* Sets the categories of a column of text, and that they have an order. */
static enum radio_status
set_categories (struct rd_column *column, const struct radio_cells *cells)
{
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  const struct radio_cells all = {
    .column = cells->column, .text = cells->categories,
  };
  size_t n = cells->categories->n;
  if (column->values)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: categories are given for a "
                    "column of type %s", cells->column,
                    radio_column_type_name (cells->type));
  RD_TRY (check_text (&all, n));
  RD_TRY (rd_lookup_strings (cells->categories, &lookup));
  if (rd_lookup_repeated (&lookup) != RD_NOT_THERE)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: a category is given twice",
                    cells->column);
  RD_TRY (rd_column_new (cells->column, RADIO_COLUMN_TEXT, column->dtype, n,
                         &column->categories));
  column->is_ordered = true;
  return copy_text (column->categories, cells->categories);
}

enum radio_status
rd_column_of_cells (const struct radio_cells *cells, size_t n,
                    struct rd_column **result)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *column = NULL;
  bool is_text = cells->type == RADIO_COLUMN_TEXT;
  bool has_values = cells->values || (is_text && cells->text);
  enum radio_dtype dtype = rd_column_dtype (cells->type);
  enum radio_column_type type;
  if (n > RD_TABLE_MAX_ROWS)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: %zu rows; a table has at most %zu",
                    cells->column, n, RD_TABLE_MAX_ROWS);
  if (cells->values) {
    dtype = cells->dtype;
    if (is_text || !rd_column_type_of (dtype, &type) || type != cells->type)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: a column of type %s cannot "
                      "have values of %s", cells->column,
                      radio_column_type_name (cells->type),
                      radio_dtype_name (dtype));
  }
  if (!is_text && cells->text)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: text is given for a column of "
                    "type %s", cells->column,
                    radio_column_type_name (cells->type));
  RD_TRY (rd_column_new (cells->column, cells->type, dtype, n, &column));
  if (cells->values && n > 0)
    memcpy (column->values, cells->values, n * radio_dtype_nbytes (dtype));
  if (cells->type == RADIO_COLUMN_BOOL)
    for (size_t i = 0; i < n; i++)
      column->values[i] = column->values[i] != 0;
  if (!has_values || cells->valid) {
    RD_TRY (add_valid (column));
    if (!has_values)
      memset (column->valid, false, n);
    else if (n > 0)
      memcpy (column->valid, cells->valid, n * sizeof *column->valid);
  }
  if (is_text) {
    if (has_values)
      RD_TRY (check_text (cells, n));
    RD_TRY (copy_text (column, cells->text));
  }
  if (cells->categories)
    RD_TRY (set_categories (column, cells));
  RD_TRY (rd_column_find_missing (column));
  *result = RD_STEAL (column);
  return RADIO_OK;
}

/* Name, order of categories and attributes, which do not depend on the
 * rows. */
static enum radio_status
copy_rest (const struct rd_column *from, struct rd_column *to)
{
  to->attributes = json_object_get (from->attributes);
  to->is_ordered = from->is_ordered;
  if (!from->categories)
    return RADIO_OK;
  RD_FREE size_t *all = rd_calloc (from->categories->n + 1, sizeof *all);
  if (!all)
    return rd_fail_memory ((from->categories->n + 1) * sizeof *all);
  for (size_t i = 0; i < from->categories->n; i++)
    all[i] = i;
  RD_TRY (rd_column_take (from->categories, all, from->categories->n,
                          &to->categories));
  if (!from->had_rows)
    return RADIO_OK;
  to->had_rows = rd_malloc (from->categories->n + 1);
  if (!to->had_rows)
    return rd_fail_memory (from->categories->n + 1);
  memcpy (to->had_rows, from->had_rows, from->categories->n);
  return RADIO_OK;
}

enum radio_status
rd_column_take (const struct rd_column *column, const size_t *rows, size_t n,
                struct rd_column **result)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *taken = NULL;
  RD_TRY (rd_column_new (column->name, column->type, column->dtype, n,
                         &taken));
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  RD_TRY (add_valid (taken));
  for (size_t i = 0; i < n; i++) {
    bool is_there = rows[i] != RD_NOT_THERE;
    taken->valid[i] = is_there && rd_column_is_valid (column, rows[i]);
    struct rd_slice from = { "", 0 };
    if (is_there)
      from = rd_column_bytes (column, rows[i]);
    if (!column->values)
      RD_TRY (rd_text_list_add (&texts, from));
    else if (is_there)
      memcpy (taken->values + i * from.n, from.at, from.n);
  }
  if (!column->values)
    RD_TRY (rd_text_list_end (&texts, &taken->text));
  RD_TRY (rd_column_find_missing (taken));
  RD_TRY (copy_rest (column, taken));
  *result = RD_STEAL (taken);
  return RADIO_OK;
}

/* Sets *fits if all values of a column can be of a dtype, and then *values to
 * them, allocated. */
static enum radio_status
convert_values (const struct rd_column *column, enum radio_dtype dtype,
                unsigned char **values, bool *fits)
{
  rd_convert_fn *convert = rd_convert_find (column->dtype, dtype);
  size_t nbytes = (column->n + 1) * radio_dtype_nbytes (dtype);
  RD_FREE unsigned char *converted = rd_malloc (nbytes);
  if (!converted)
    return rd_fail_memory (nbytes);
  *fits = convert && !convert (column->values, converted, column->n);
  if (*fits)
    *values = RD_STEAL (converted);
  return RADIO_OK;
}

/* The values of two columns in one dtype: of integers the first of both's, and
 * those of 64 bits, that holds all. */
static enum radio_status
find_common (const struct rd_column *a, const struct rd_column *b,
             enum radio_dtype *dtype, unsigned char **a_values,
             unsigned char **b_values)
{
  enum radio_dtype candidates[] = { a->dtype, b->dtype, RADIO_INT64,
                                    RADIO_UINT64 };
  size_t n = sizeof candidates / sizeof *candidates;
  if (a->type == RADIO_COLUMN_FLOAT) {
    if (b->dtype > a->dtype)
      candidates[0] = b->dtype;
    n = 1;
  }
  for (size_t i = 0; i < n; i++) {
    RD_FREE unsigned char *values = NULL;
    bool fits;
    RD_TRY (convert_values (a, candidates[i], &values, &fits));
    if (!fits)
      continue;
    RD_TRY (convert_values (b, candidates[i], b_values, &fits));
    if (!fits)
      continue;
    *dtype = candidates[i];
    *a_values = RD_STEAL (values);
    return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_RANGE, "%s: no integer of 64 bits holds both its "
                  "negative values and those above 9223372036854775807",
                  a->name);
}

enum radio_status
rd_column_set (const struct rd_column *column, const struct rd_column *cells,
               const size_t *from, struct rd_column **result)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *set = NULL;
  RD_FREE unsigned char *old_values = NULL, *new_values = NULL;
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  enum radio_dtype dtype = RADIO_STORED;
  if (column->values)
    RD_TRY (find_common (column, cells, &dtype, &old_values, &new_values));
  RD_TRY (rd_column_new (column->name, column->type, dtype, column->n, &set));
  RD_TRY (add_valid (set));
  size_t nbytes = radio_dtype_nbytes (dtype);
  for (size_t i = 0; i < column->n; i++) {
    bool is_new = from[i] != RD_NOT_THERE;
    const struct rd_column *source = is_new ? cells : column;
    size_t row = is_new ? from[i] : i;
    set->valid[i] = rd_column_is_valid (source, row);
    if (!column->values)
      RD_TRY (rd_text_list_add (&texts, rd_string (&source->text, row)));
    else
      memcpy (set->values + i * nbytes,
              (is_new ? new_values : old_values) + row * nbytes, nbytes);
  }
  if (!column->values)
    RD_TRY (rd_text_list_end (&texts, &set->text));
  RD_TRY (rd_column_find_missing (set));
  RD_TRY (copy_rest (column, set));
  *result = RD_STEAL (set);
  return RADIO_OK;
}

struct rd_slice
rd_column_print (const struct rd_column *column, size_t row,
                 char buffer[RD_PRINT_NBYTES])
{
  uint64_t positive;
  int64_t integer;
  if (!rd_column_is_valid (column, row))
    return (struct rd_slice) { "", 0 };
  if (!column->values)
    return rd_string (&column->text, row);
  size_t nbytes = radio_dtype_nbytes (column->dtype);
  const unsigned char *at = column->values + row * nbytes;
  if (column->type == RADIO_COLUMN_BOOL)
    snprintf (buffer, RD_PRINT_NBYTES, "%s", *at ? "true" : "false");
  else if (column->type == RADIO_COLUMN_FLOAT) {
    double value = float_at (column, row);
    if (isfinite (value))
      rd_number_exact (value, buffer);
    else
      snprintf (buffer, RD_PRINT_NBYTES, "%s", value > 0 ? "inf" : "-inf");
  } else if (!rd_convert_find (column->dtype, RADIO_INT64)
               (at, (unsigned char *) &integer, 1))
    snprintf (buffer, RD_PRINT_NBYTES, "%" PRId64, integer);
  else {
    memcpy (&positive, at, sizeof positive);
    snprintf (buffer, RD_PRINT_NBYTES, "%" PRIu64, positive);
  }
  return (struct rd_slice) { buffer, strlen (buffer) };
}

static enum radio_status
print_all (const struct rd_column *column, struct radio_strings *text)
{
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  char buffer[RD_PRINT_NBYTES];
  for (size_t i = 0; i < column->n; i++)
    RD_TRY (rd_text_list_add (&texts, rd_column_print (column, i, buffer)));
  return rd_text_list_end (&texts, text);
}

enum radio_status
rd_column_take_text (struct rd_column *column, struct radio_strings *text)
{
  /* That of missing values is empty. */
  if (column->values || column->valid)
    return print_all (column, text);
  *text = column->text;
  column->text = (struct radio_strings) { 0 };
  return RADIO_OK;
}

/* Parses what rd_column_print prints of a float that is no number; NaN is a
 * missing value. */
static bool
parse_not_finite (const char *text, double *value)
{
  *value = strcmp (text, "inf") == 0    ? INFINITY
           : strcmp (text, "-inf") == 0 ? -INFINITY
                                        : NAN;
  return !isnan (*value) || strcmp (text, "nan") == 0;
}

/* Parses text that is a value of a type, as rd_column_print prints it. */
static bool
parse_value (struct rd_slice text, enum radio_column_type type, void *value)
{
  char copy[RD_PRINT_NBYTES];
  RD_CLEANUP (rd_cleanup_json) struct json_object *number = NULL;
  if (text.n == 0 || text.n >= sizeof copy)
    return false;
  memcpy (copy, text.at, text.n);
  copy[text.n] = '\0';
  if (type == RADIO_COLUMN_BOOL) {
    *(unsigned char *) value = strcmp (copy, "true") == 0;
    return strcmp (copy, "true") == 0 || strcmp (copy, "false") == 0;
  }
  double real;
  if (type == RADIO_COLUMN_FLOAT && parse_not_finite (copy, &real)) {
    memcpy (value, &real, sizeof real);
    return true;
  }
  if (copy[strspn (copy, "+-.0123456789eE")] != '\0'
      || rd_json_parse (copy, text.n, "", &number) != RADIO_OK)
    return false;
  bool is_integer = json_object_is_type (number, json_type_int);
  if (type == RADIO_COLUMN_INTEGER) {
    int64_t integer = json_object_get_int64 (number);
    memcpy (value, &integer, sizeof integer);
    return is_integer
           && (integer != INT64_MAX || strcmp (copy, "9223372036854775807")
                                       == 0);
  }
  real = json_object_get_double (number);
  memcpy (value, &real, sizeof real);
  return is_integer || json_object_is_type (number, json_type_double);
}

enum radio_status
rd_column_convert (const struct rd_column *column, enum radio_column_type type,
                   struct rd_column **result)
{
  enum radio_dtype dtype = rd_column_dtype (type);
  RD_CLEANUP (rd_cleanup_column) struct rd_column *converted = NULL;
  RD_TRY (rd_column_new (column->name, type, dtype, column->n, &converted));
  RD_TRY (add_valid (converted));
  converted->attributes = json_object_get (column->attributes);
  for (size_t i = 0; i < column->n; i++) {
    bool is_valid = rd_column_is_valid (column, i);
    unsigned char *to = converted->values
      ? converted->values + i * radio_dtype_nbytes (dtype) : NULL;
    if (is_valid && to && !column->values)
      is_valid = parse_value (rd_string (&column->text, i), type, to);
    else if (is_valid && to) {
      rd_convert_fn *convert = rd_convert_find (column->dtype, dtype);
      struct rd_slice from = rd_column_bytes (column, i);
      is_valid = convert
                 && !convert ((const unsigned char *) from.at, to, 1);
    }
    converted->valid[i] = is_valid;
  }
  if (!converted->values)
    RD_TRY (print_all (column, &converted->text));
  RD_TRY (rd_column_find_missing (converted));
  *result = RD_STEAL (converted);
  return RADIO_OK;
}

bool
rd_column_equals (const struct rd_column *a, const struct rd_column *b)
{
  if (strcmp (a->name, b->name) != 0 || a->type != b->type
      || a->dtype != b->dtype || a->n != b->n)
    return false;
  for (size_t i = 0; i < a->n; i++) {
    bool is_valid = rd_column_is_valid (a, i);
    if (is_valid != rd_column_is_valid (b, i))
      return false;
    if (is_valid && !rd_slice_equal (rd_column_bytes (a, i),
                                     rd_column_bytes (b, i)))
      return false;
  }
  return json_object_equal (a->attributes, b->attributes);
}
