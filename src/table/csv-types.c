/* SPDX-License-Identifier: MIT */
/* The types of a text table's columns: inferred over all rows, given by a BIDS
 * sidecar or by the caller; and cells as values of them. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/structs.h"
#include "src/table/column.h"
#include "src/table/csv.h"

/* A number of more characters is text. */
#define NUMBER_MAX_NBYTES 400

static bool
is_blank (char c)
{
  return c == ' ' || c == '\t';
}

/* A cell without the blanks around it. */
static struct rd_slice
trim (const char *cell)
{
  while (is_blank (*cell))
    cell++;
  size_t n = strlen (cell);
  while (n > 0 && is_blank (cell[n - 1]))
    n--;
  return (struct rd_slice) { cell, n };
}

/* True if a word is a text in lower case, in any case: by ASCII, whatever the
 * locale is. */
static bool
is_word (struct rd_slice word, const char *text)
{
  if (strlen (text) != word.n)
    return false;
  for (size_t i = 0; i < word.n; i++) {
    bool is_upper = word.at[i] >= 'A' && word.at[i] <= 'Z';
    if ((is_upper ? word.at[i] - 'A' + 'a' : word.at[i]) != text[i])
      return false;
  }
  return true;
}

static bool
is_missing (struct rd_slice word)
{
  return word.n == 0 || (word.n == 3 && memcmp (word.at, "n/a", 3) == 0);
}

static size_t
count_digits (const char *at, const char *end)
{
  size_t n = 0;
  while (at + n < end && at[n] >= '0' && at[n] <= '9')
    n++;
  return n;
}

/* The parts of a decimal number. */
struct decimal {
  bool is_negative;
  const char *whole, *fraction;       /* digits */
  size_t nwhole, nfraction;
  bool has_exponent;
  const char *exponent;               /* with its sign */
  size_t nexponent;
};

/* Splits a decimal number: digits before or after the point, or both. */
static bool
split_number (struct rd_slice word, struct decimal *number)
{
  const char *at = word.at, *end = word.at + word.n;
  *number = (struct decimal) { 0 };
  if (word.n > NUMBER_MAX_NBYTES)
    return false;
  number->is_negative = at < end && *at == '-';
  at += at < end && (*at == '-' || *at == '+');
  number->whole = at;
  number->nwhole = count_digits (at, end);
  at += number->nwhole;
  number->fraction = at;
  if (at < end && *at == '.') {
    number->fraction = ++at;
    number->nfraction = count_digits (at, end);
    at += number->nfraction;
  }
  if (number->nwhole + number->nfraction == 0)
    return false;
  if (at < end && (*at == 'e' || *at == 'E')) {
    number->has_exponent = true;
    number->exponent = ++at;
    at += at < end && (*at == '-' || *at == '+');
    size_t n = count_digits (at, end);
    at += n;
    number->nexponent = (size_t) (at - number->exponent);
    if (n == 0)
      return false;
  }
  return at == end;
}

static bool
is_whole (const struct decimal *number)
{
  return number->fraction == number->whole + number->nwhole
         && !number->has_exponent;
}

/* False: it does not fit. */
static bool
make_integer (const struct decimal *number, int64_t *value)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < number->nwhole; i++)
    if (rd_mul_overflows (sum, 10, &sum)
        || rd_add_overflows (sum, (uint64_t) (number->whole[i] - '0'), &sum))
      return false;
  if (sum > (uint64_t) INT64_MAX + number->is_negative)
    return false;
  *value = number->is_negative ? (int64_t) (0 - sum) : (int64_t) sum;
  return true;
}

/* Makes a double by JSON's parser, which the locale does not change. */
static enum radio_status
make_double (const struct decimal *number, double *value)
{
  char text[NUMBER_MAX_NBYTES + 8];
  RD_CLEANUP (rd_cleanup_json) struct json_object *json = NULL;
  const char *whole = number->whole;
  size_t nwhole = number->nwhole;
  int64_t integer;
  /* Most are short, and exact. */
  if (is_whole (number) && nwhole <= 15 && make_integer (number, &integer)) {
    *value = number->is_negative && integer == 0 ? -0.0 : (double) integer;
    return RADIO_OK;
  }
  while (nwhole > 1 && *whole == '0') {
    whole++;
    nwhole--;
  }
  int n = snprintf (text, sizeof text, "%s%.*s.%.*s%s%.*s",
                    number->is_negative ? "-" : "",
                    nwhole > 0 ? (int) nwhole : 1, nwhole > 0 ? whole : "0",
                    number->nfraction > 0 ? (int) number->nfraction : 1,
                    number->nfraction > 0 ? number->fraction : "0",
                    number->has_exponent ? "e" : "", (int) number->nexponent,
                    number->has_exponent ? number->exponent : "");
  RD_TRY (rd_json_parse (text, (size_t) n, "number", &json));
  *value = json_object_get_double (json);
  return RADIO_OK;
}

/* NaN, inf and infinity, in either case. */
static bool
is_not_finite (struct rd_slice word, double *value)
{
  if (is_word (word, "nan")) {
    *value = NAN;
    return true;
  }
  bool is_negative = word.n > 0 && word.at[0] == '-';
  if (word.n > 0 && (is_negative || word.at[0] == '+')) {
    word.at++;
    word.n--;
  }
  *value = is_negative ? -INFINITY : INFINITY;
  return is_word (word, "inf") || is_word (word, "infinity");
}

/* The type of a column's values. */
enum {
  HAS_BOOL = 1, HAS_INTEGER = 2, HAS_FLOAT = 4, HAS_TEXT = 8,
  /* A whole number that does not fit, or has zeros in front. */
  HAS_EXACT = 16,
};

static unsigned
classify (struct rd_slice word)
{
  struct decimal number;
  int64_t integer;
  double value;
  if (is_word (word, "true") || is_word (word, "false"))
    return HAS_BOOL;
  if (!split_number (word, &number))
    return is_not_finite (word, &value) ? HAS_FLOAT : HAS_TEXT;
  if (!is_whole (&number))
    return HAS_FLOAT;
  bool has_zeros = number.nwhole > 1 && number.whole[0] == '0';
  return has_zeros || !make_integer (&number, &integer) ? HAS_EXACT
                                                        : HAS_INTEGER;
}

static enum radio_column_type
infer_type (const struct radio_csv *csv, size_t column)
{
  unsigned has = 0;
  for (uint64_t row = 1; row <= csv->nrows && !(has & HAS_TEXT); row++) {
    struct rd_slice word = trim (rd_csv_cell (csv, row, column));
    if (!is_missing (word))
      has |= classify (word);
  }
  if (has == HAS_BOOL)
    return RADIO_COLUMN_BOOL;
  if (has == HAS_INTEGER)
    return RADIO_COLUMN_INTEGER;
  bool is_number = (has & HAS_FLOAT) && !(has & (HAS_TEXT | HAS_BOOL));
  return is_number ? RADIO_COLUMN_FLOAT : RADIO_COLUMN_TEXT;
}

/* Makes a cell's value of a type; *is_right is false if it has another. */
static enum radio_status
make_value (struct rd_slice word, enum radio_column_type type, void *value,
            bool *is_right)
{
  struct decimal number;
  bool truth;
  double real;
  int64_t integer = 0;
  *is_right = true;
  switch (type) {
  case RADIO_COLUMN_BOOL:
    truth = is_word (word, "true") || is_word (word, "1");
    *is_right = truth || is_word (word, "false") || is_word (word, "0");
    memcpy (value, &truth, sizeof truth);
    return RADIO_OK;
  case RADIO_COLUMN_INTEGER:
    *is_right = split_number (word, &number) && is_whole (&number)
                && make_integer (&number, &integer);
    memcpy (value, &integer, sizeof integer);
    return RADIO_OK;
  case RADIO_COLUMN_FLOAT:
    if (split_number (word, &number))
      RD_TRY (make_double (&number, &real));
    else
      *is_right = is_not_finite (word, &real);
    memcpy (value, &real, sizeof real);
    return RADIO_OK;
  default:
    return RADIO_OK;
  }
}

static void
count_missing (struct radio_csv *csv, size_t number)
{
  for (uint64_t row = 1; row <= csv->nrows; row++)
    if (is_missing (trim (rd_csv_cell (csv, row, number))))
      csv->columns[number].missing_count++;
}

/* Checks that all values have a type. */
static enum radio_status
check_type (const struct radio_csv *csv, size_t number,
            enum radio_column_type type)
{
  const uint32_t *lines = (const void *) csv->lines.data;
  for (uint64_t row = 1; row <= csv->nrows; row++) {
    const char *cell = rd_csv_cell (csv, row, number);
    struct rd_slice word = trim (cell);
    double value;
    bool is_right = true;
    if (!is_missing (word))
      RD_TRY (make_value (word, type, &value, &is_right));
    if (!is_right)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: line %u, column '%s': '%.80s' "
                      "is not %s %s", csv->name, (unsigned) lines[row],
                      csv->columns[number].name, cell,
                      type == RADIO_COLUMN_INTEGER ? "an" : "a",
                      type == RADIO_COLUMN_BOOL ? "bool"
                      : type == RADIO_COLUMN_FLOAT ? "number" : "integer");
  }
  return RADIO_OK;
}

/* Sets the type that a sidecar's object gives; false: it gives none. */
static bool
take_format (struct json_object *object, enum radio_column_type *type)
{
  static const struct {
    const char *format;
    enum radio_column_type type;
  } formats[] = {
    { "string", RADIO_COLUMN_TEXT }, { "label", RADIO_COLUMN_TEXT },
    { "index", RADIO_COLUMN_TEXT }, { "integer", RADIO_COLUMN_INTEGER },
    { "number", RADIO_COLUMN_FLOAT }, { "boolean", RADIO_COLUMN_BOOL },
    { "bool", RADIO_COLUMN_BOOL },
  };
  struct json_object *format = rd_json_member (object, "Format");
  const char *text = json_object_is_type (format, json_type_string)
    ? json_object_get_string (format) : "";
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    if (strcmp (text, formats[i].format) == 0) {
      *type = formats[i].type;
      return true;
    }
  *type = RADIO_COLUMN_TEXT;
  return json_object_is_type (rd_json_member (object, "Levels"),
                              json_type_object);
}

enum radio_status
rd_csv_set_types (struct radio_csv *csv,
                  const struct radio_csv_options *options,
                  const char *sidecar, size_t sidecar_nbytes)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_FREE bool *is_given = rd_calloc (csv->ncolumns, sizeof *is_given);
  RD_FREE char *where = rd_malloc (strlen (csv->name) + 16);
  if (!is_given || !where)
    return rd_fail_memory (csv->ncolumns);
  snprintf (where, strlen (csv->name) + 16, "%s: sidecar", csv->name);
  if (sidecar) {
    RD_TRY (rd_json_parse (sidecar, sidecar_nbytes, where, &document));
    if (!json_object_is_type (document, json_type_object))
      return rd_json_not (document, "the document", "an object", where);
  }
  for (size_t i = 0; i < csv->ncolumns; i++) {
    struct rd_csv_column *column = &csv->columns[i];
    struct json_object *object
      = document ? rd_json_member (document, column->name) : NULL;
    if (!json_object_is_type (object, json_type_object))
      continue;
    RD_TRY (rd_json_copy_text (object, &column->attributes));
    is_given[i] = take_format (object, &column->type);
  }
  for (size_t i = 0; i < options->type_count; i++) {
    const struct radio_csv_type *given = &options->types[i];
    size_t number;
    RD_NOT_NULL (given->column);
    if ((unsigned) given->type > RADIO_COLUMN_TEXT)
      return rd_fail (RADIO_ERROR_ARGUMENT, "type %d of column '%s' is not "
                      "known", (int) given->type, given->column);
    if (radio_csv_find_column (csv, given->column, &number) != RADIO_OK)
      return rd_fail_in (RADIO_ERROR_ARGUMENT, "a type is given");
    csv->columns[number].type = given->type;
    is_given[number] = true;
  }
  for (size_t i = 0; i < csv->ncolumns; i++) {
    if (is_given[i])
      RD_TRY (check_type (csv, i, csv->columns[i].type));
    else
      csv->columns[i].type = infer_type (csv, i);
    count_missing (csv, i);
  }
  return RADIO_OK;
}

static enum radio_status
check_number (const struct radio_csv *csv, size_t number)
{
  if (number < csv->ncolumns)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s: column %zu of %zu, which are "
                  "counted from 0", csv->name, number, csv->ncolumns);
}

enum radio_status
radio_csv_set_type (struct radio_csv *csv, size_t number,
                    enum radio_column_type type)
{
  RD_NOT_NULL (csv);
  RD_TRY (check_number (csv, number));
  if ((unsigned) type > RADIO_COLUMN_TEXT)
    return rd_fail (RADIO_ERROR_ARGUMENT, "type %d of column '%s' is not "
                    "known", (int) type, csv->columns[number].name);
  RD_TRY (check_type (csv, number, type));
  csv->columns[number].type = type;
  return RADIO_OK;
}

enum radio_status
(radio_csv_get_column) (const struct radio_csv *csv, size_t number,
                        struct radio_csv_column *column, size_t column_nbytes)
{
  RD_NOT_NULL (csv);
  RD_NOT_NULL (column);
  RD_TRY (check_number (csv, number));
  const struct rd_csv_column *found = &csv->columns[number];
  const struct radio_csv_column full = {
    found->name, found->type, found->missing_count,
    found->attributes ? found->attributes : "{}",
  };
  rd_fill_result (column, column_nbytes, &full, sizeof full);
  return RADIO_OK;
}

enum radio_status
radio_csv_find_column (const struct radio_csv *csv, const char *name,
                       size_t *number)
{
  char names[512] = "";
  size_t used = 0, i = 0;
  RD_NOT_NULL (csv);
  RD_NOT_NULL (name);
  RD_NOT_NULL (number);
  for (i = 0; i < csv->ncolumns; i++)
    if (strcmp (csv->columns[i].name, name) == 0) {
      *number = i;
      return RADIO_OK;
    }
  for (i = 0; i < csv->ncolumns; i++) {
    int n = snprintf (names + used, sizeof names - used, "%s%s",
                      i ? ", " : "", csv->columns[i].name);
    if ((size_t) n >= sizeof names - used - sizeof ", ...")
      break;
    used += (size_t) n;
  }
  names[used] = '\0';
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no column '%s'; there are %s%s",
                  csv->name, name, names, i < csv->ncolumns ? ", ..." : "");
}

enum radio_status
radio_csv_read_text (const struct radio_csv *csv, size_t number,
                     struct radio_strings *text)
{
  RD_NOT_NULL (csv);
  RD_NOT_NULL (text);
  RD_TRY (check_number (csv, number));
  size_t n = (size_t) csv->nrows;
  uint64_t sum = 0;
  for (uint64_t row = 1; row <= n; row++)
    sum += strlen (rd_csv_cell (csv, row, number));
  RD_TRY (rd_csv_allows (csv, sum + (n + 1) * sizeof (int64_t)));
  RD_FREE int64_t *offsets = rd_malloc ((n + 1) * sizeof *offsets);
  RD_FREE char *bytes = rd_malloc (sum + 1);
  if (!offsets || !bytes)
    return rd_fail_memory (sum + (n + 1) * sizeof *offsets);
  char *to = bytes;
  for (size_t row = 0; row < n; row++) {
    const char *cell = rd_csv_cell (csv, row + 1, number);
    offsets[row] = to - bytes;
    if (is_missing (trim (cell)))
      continue;
    size_t nbytes = strlen (cell);
    memcpy (to, cell, nbytes);
    to += nbytes;
  }
  offsets[n] = to - bytes;
  *to = '\0';
  *text = (struct radio_strings) { n, RD_STEAL (offsets), RD_STEAL (bytes) };
  return RADIO_OK;
}

/* Fills values of nbytes each, which are zero before. */
static enum radio_status
read_values (struct radio_csv *csv, size_t number, size_t nbytes)
{
  unsigned char *values = csv->values;
  for (uint64_t row = 0; row < csv->nrows; row++) {
    struct rd_slice word = trim (rd_csv_cell (csv, row + 1, number));
    bool is_right;
    csv->valid[row] = !is_missing (word);
    if (csv->valid[row] && values)
      RD_TRY (make_value (word, csv->columns[number].type,
                          values + row * nbytes, &is_right));
  }
  return RADIO_OK;
}

enum radio_status
radio_csv_read (struct radio_csv *csv, size_t number,
                struct radio_cells *cells)
{
  RD_NOT_NULL (csv);
  RD_NOT_NULL (cells);
  RD_TRY (check_number (csv, number));
  const struct rd_csv_column *column = &csv->columns[number];
  size_t n = (size_t) csv->nrows;
  enum radio_dtype dtype = rd_column_dtype (column->type);
  size_t nbytes = radio_dtype_nbytes (dtype);
  rd_free (RD_STEAL (csv->values));
  rd_free (RD_STEAL (csv->valid));
  radio_strings_free (&csv->strings);
  RD_TRY (rd_csv_allows (csv, (uint64_t) n * (nbytes + 1)));
  csv->valid = rd_calloc (n + 1, sizeof *csv->valid);
  if (nbytes > 0)
    csv->values = rd_calloc (n + 1, nbytes);
  else
    RD_TRY (radio_csv_read_text (csv, number, &csv->strings));
  if (!csv->valid || (nbytes > 0 && !csv->values))
    return rd_fail_memory (n * (nbytes + 1));
  RD_TRY (read_values (csv, number, nbytes));
  *cells = (struct radio_cells) {
    .column = column->name, .type = column->type, .values = csv->values,
    .dtype = dtype, .text = nbytes > 0 ? NULL : &csv->strings,
    .valid = csv->valid, .attributes_json = column->attributes,
  };
  return RADIO_OK;
}
