/* SPDX-License-Identifier: MIT */
/* Output of figures: tables, histograms and JSON. */
#include <config.h>

#include <langinfo.h>
#include <math.h>
#include <string.h>

#include "tools/report.h"
#include "tools/text.h"

/*------------------------------------------------------------------------
 * Tables: widths are those on a terminal, so that names in any script stay
 * aligned
 *----------------------------------------------------------------------*/

bool
rd_table_add (struct rd_table *table, const char *text)
{
  if (table->ncells == table->capacity) {
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    char **cells = reallocarray (table->cells, capacity, sizeof *cells);
    if (cells == NULL) {
      rd_error_memory ();
      return false;
    }
    table->cells = cells;
    table->capacity = capacity;
  }
  char *copy = strdup (text);
  if (copy == NULL) {
    rd_error_memory ();
    return false;
  }
  table->cells[table->ncells++] = copy;
  return true;
}

bool
rd_table_add_row (struct rd_table *table, const char *const *cells)
{
  bool ok = true;
  for (size_t i = 0; i < table->ncolumns && ok; i++)
    ok = rd_table_add (table, cells[i]);
  return ok;
}

void
rd_table_print (const struct rd_table *table, FILE *file)
{
  size_t width[RD_TABLE_MAX_COLUMNS] = { 0 };
  for (size_t i = 0; i < table->ncells; i++) {
    size_t w = rd_text_columns (table->cells[i]);
    if (w > width[i % table->ncolumns])
      width[i % table->ncolumns] = w;
  }
  for (size_t i = 0; i < table->ncells; i++) {
    size_t column = i % table->ncolumns;
    int padding = (int) (width[column] - rd_text_columns (table->cells[i]));
    bool right = table->alignment[column] == 'r';
    bool is_last = column + 1 == table->ncolumns;
    if (i == 0)
      fputs (rd_color (file, RD_BOLD), file);
    /* The last column is not padded: lines do not end in spaces. */
    fprintf (file, "%*s", (column > 0 ? 2 : 0) + (right ? padding : 0), "");
    rd_text_print (file, table->cells[i]);
    if (!right && !is_last)
      fprintf (file, "%*s", padding, "");
    if (i + 1 == table->ncolumns)
      fputs (rd_color (file, RD_PLAIN), file);
    if (is_last)
      fputc ('\n', file);
  }
}

void
rd_table_clear (struct rd_table *table)
{
  for (size_t i = 0; i < table->ncells; i++)
    free (table->cells[i]);
  free (table->cells);
  table->cells = NULL;
  table->ncells = table->capacity = 0;
}

/*------------------------------------------------------------------------
 * Histograms
 *----------------------------------------------------------------------*/

const char *
rd_histogram_bar (uint64_t part, uint64_t whole, bool utf8,
                  char text[RD_BAR_NBYTES])
{
  unsigned steps = utf8 ? 8 : 1;
  double length = whole ? (double) part / (double) whole * RD_BAR_WIDTH : 0;
  unsigned n = (unsigned) (length * steps + 0.5);
  if (n == 0 && part > 0)
    n = 1;
  size_t used = 0;
  for (; n > 0; n -= n < steps ? n : steps)
    if (utf8) {
      /* The blocks of 1 to 8 eighths are U+258F down to U+2588. */
      text[used++] = (char) 0xe2;
      text[used++] = (char) 0x96;
      text[used++] = (char) (0x90 - (n < 8 ? n : 8));
    } else
      text[used++] = '#';
  text[used] = '\0';
  return text;
}

void
rd_histogram_print (FILE *file, const struct radio_stats *stats)
{
  const size_t together = RADIO_STATS_NBINS / RD_HISTOGRAM_NLINES;
  bool utf8 = strcmp (nl_langinfo (CODESET), "UTF-8") == 0;
  uint64_t counts[RD_HISTOGRAM_NLINES] = { 0 }, most = 0, all = 0;
  for (size_t i = 0; i < RADIO_STATS_NBINS; i++)
    counts[i / together] += stats->histogram[i];
  for (size_t i = 0; i < RD_HISTOGRAM_NLINES; i++) {
    all += counts[i];
    if (counts[i] > most)
      most = counts[i];
  }
  if (all == 0)
    return;
  fprintf (file, "%12s\n", "from");
  for (size_t i = 0; i < RD_HISTOGRAM_NLINES; i++) {
    char low[RD_TEXT_NBYTES], bar[RD_BAR_NBYTES];
    double edge = stats->bin_low + (stats->bin_high - stats->bin_low)
                                   * (double) i / RD_HISTOGRAM_NLINES;
    rd_histogram_bar (counts[i], most, utf8, bar);
    int padding = RD_BAR_WIDTH - (int) rd_text_columns (bar);
    /* Seven figures of an edge would suggest too much precision. */
    snprintf (low, sizeof low, "%.5g", edge == 0 ? 0.0 : edge);
    fprintf (file, "%12s  %s%*s %6.2f %%\n", low, bar, padding, "",
             100 * (double) counts[i] / (double) all);
  }
}

/*------------------------------------------------------------------------
 * JSON
 *----------------------------------------------------------------------*/

void
rd_report_put (struct json_object *object, const char *key,
             struct json_object *value)
{
  json_object_object_add (object, key, value);
}

struct json_object *
rd_report_text (const char *text)
{
  /* A broken byte becomes the three of U+FFFD. */
  RD_FREE char *clean = malloc (3 * strlen (text) + 1);
  if (clean == NULL)
    return NULL;
  size_t used = 0;
  while (*text) {
    uint32_t character;
    size_t length = rd_utf8_decode (text, &character);
    if (character == 0xfffd && length == 1) {
      memcpy (clean + used, "\xef\xbf\xbd", 3);
      used += 3;
    } else {
      memcpy (clean + used, text, length);
      used += length;
    }
    text += length;
  }
  clean[used] = '\0';
  return json_object_new_string (clean);
}

struct json_object *
rd_report_double (double number)
{
  char text[RD_TEXT_NBYTES];
  if (!isfinite (number))
    return NULL;
  return json_object_new_double_s (number, rd_number_exact (number, text));
}

void
rd_report_put_text (struct json_object *object, const char *key,
                  const char *text)
{
  rd_report_put (object, key, rd_report_text (text));
}

void
rd_report_put_u64 (struct json_object *object, const char *key,
                 uint64_t number)
{
  rd_report_put (object, key, json_object_new_uint64 (number));
}

void
rd_report_put_double (struct json_object *object, const char *key,
                    double number)
{
  rd_report_put (object, key, rd_report_double (number));
}

void
rd_report_put_bool (struct json_object *object, const char *key, bool value)
{
  rd_report_put (object, key, json_object_new_boolean (value));
}

struct json_object *
rd_report_u64_list (const uint64_t *numbers, size_t n)
{
  struct json_object *list = json_object_new_array ();
  for (size_t i = 0; i < n; i++)
    json_object_array_add (list, json_object_new_uint64 (numbers[i]));
  return list;
}

struct json_object *
rd_report_u64_reversed (const uint64_t *numbers, size_t n)
{
  struct json_object *list = json_object_new_array ();
  while (n-- > 0)
    json_object_array_add (list, json_object_new_uint64 (numbers[n]));
  return list;
}

struct json_object *
rd_report_double_list (const double *numbers, size_t n)
{
  struct json_object *list = json_object_new_array ();
  for (size_t i = 0; i < n; i++)
    json_object_array_add (list, rd_report_double (numbers[i]));
  return list;
}

static const char *
one_line (struct json_object *value)
{
  return json_object_to_json_string_ext (value, JSON_C_TO_STRING_SPACED
                                         | JSON_C_TO_STRING_NOSLASHESCAPE);
}

void
rd_report_print (struct json_object *object)
{
  if (json_object_is_type (object, json_type_array)) {
    size_t n = json_object_array_length (object);
    puts (n > 0 ? "[" : "[]");
    for (size_t i = 0; i < n; i++)
      printf ("  %s%s\n", one_line (json_object_array_get_idx (object, i)),
              i + 1 < n ? "," : "\n]");
  } else {
    const char *before = "{\n";
    json_object_object_foreach (object, key, value) {
      struct json_object *quoted = json_object_new_string (key);
      printf ("%s  %s: ", before, one_line (quoted));
      fputs (one_line (value), stdout);
      json_object_put (quoted);
      before = ",\n";
    }
    puts ("\n}");
  }
  json_object_put (object);
}
