/* SPDX-License-Identifier: MIT */
/* Text tables: reading a file, and splitting its text into cells in place:
 * what separates cells becomes NUL, and quotes vanish. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/base/text.h"
#include "src/table/csv.h"

#define DEFAULT_LIMIT_NBYTES ((uint64_t) 1 << 30)

/* Read at a time from a file whose size is not known. */
#define PIECE_NBYTES ((size_t) 1 << 20)

/* The largest sidecar. */
#define SIDECAR_MAX_NBYTES ((uint64_t) 16 << 20)

/* Splitting. */
struct split {
  struct radio_csv *csv;
  char *text;
  size_t nbytes;
  size_t at;
  uint64_t line;
};

static enum radio_status
fail_line (const struct split *split, uint64_t line, size_t column,
           const char *reason)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: line %" PRIu64 ", column %zu: %s",
                  split->csv->name, line, column + 1, reason);
}

/* Returns the number of the line that a place is in. */
static uint64_t
line_of (const struct split *split, size_t place)
{
  uint64_t line = 1;
  for (size_t i = 0; i < place; i++) {
    bool is_crlf = split->text[i] == '\r' && i + 1 < split->nbytes
                   && split->text[i + 1] == '\n';
    line += split->text[i] == '\n' || (split->text[i] == '\r' && !is_crlf);
  }
  return line;
}

static enum radio_status
check_text (struct split *split)
{
  const char *name = split->csv->name, *text = split->text;
  if (split->nbytes >= 2 && (memcmp (text, "\xff\xfe", 2) == 0
                             || memcmp (text, "\xfe\xff", 2) == 0))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: the text is UTF-16; save it as "
                    "UTF-8", name);
  if (split->nbytes >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0)
    split->at = 3;
  const char *nul = split->nbytes > 0 ? memchr (text, '\0', split->nbytes)
                                      : NULL;
  if (nul)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: line %" PRIu64 ": a NUL "
                    "character (byte %zu)", name,
                    line_of (split, (size_t) (nul - text)),
                    (size_t) (nul - text));
  size_t nvalid = rd_utf8_valid_nbytes (text, split->nbytes);
  if (nvalid < split->nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: line %" PRIu64 ": byte %zu "
                    "(0x%02x) is not UTF-8; save the text as UTF-8", name,
                    line_of (split, nvalid), nvalid,
                    (unsigned) (unsigned char) text[nvalid]);
  return RADIO_OK;
}

static bool
is_newline (char c)
{
  return c == '\n' || c == '\r';
}

/* Steps past the end of a line. */
static void
skip_newline (struct split *split, char c)
{
  split->line++;
  split->at++;
  if (c == '\r' && split->at < split->nbytes
      && split->text[split->at] == '\n')
    split->at++;
}

/* Finds which separator the first line has. */
static char
find_separator (const struct split *split)
{
  static const char separators[] = "\t,;";
  bool found[sizeof separators - 1] = { false }, is_quoted = false;
  for (size_t i = split->at; i < split->nbytes; i++) {
    char c = split->text[i];
    is_quoted ^= c == '"';
    if (is_newline (c) && !is_quoted)
      break;
    const char *which = strchr (separators, c);
    if (which && !is_quoted)
      found[which - separators] = true;
  }
  return found[0] ? '\t' : !found[1] && found[2] ? ';' : ',';
}

/* Unquotes a cell in place; *end is where its NUL goes, and split->at is after
 * the closing quote. */
static enum radio_status
split_quoted (struct split *split, size_t column, size_t *end)
{
  const uint64_t line = split->line;
  size_t to = ++split->at;
  for (;; split->at++) {
    if (split->at >= split->nbytes)
      return fail_line (split, line, column, "the quote that begins here is "
                        "not closed");
    char c = split->text[split->at];
    if (c == '"') {
      if (split->at + 1 >= split->nbytes || split->text[split->at + 1] != '"')
        break;
      split->at++;
    } else if (c == '\n' || (c == '\r'
                             && split->text[split->at + 1] != '\n'))
      split->line++;
    split->text[to++] = c;
  }
  split->at++;
  *end = to;
  return RADIO_OK;
}

/* Splits off the next cell; *ends_row is set at the end of a line or of the
 * text. */
static enum radio_status
split_cell (struct split *split, size_t column, uint32_t *start,
            bool *ends_row)
{
  char *text = split->text, separator = split->csv->separator;
  bool is_quoted = split->at < split->nbytes && text[split->at] == '"';
  size_t end = split->at;
  *start = (uint32_t) (split->at + is_quoted);
  if (is_quoted)
    RD_TRY (split_quoted (split, column, &end));
  else {
    while (split->at < split->nbytes && text[split->at] != separator
           && !is_newline (text[split->at]))
      split->at++;
    end = split->at;
  }
  *ends_row = split->at >= split->nbytes;
  if (!*ends_row) {
    char c = text[split->at];
    *ends_row = is_newline (c);
    if (*ends_row)
      skip_newline (split, c);
    else if (c == separator)
      split->at++;
    else
      return fail_line (split, split->line, column,
                        "text after the closing quote");
  }
  text[end] = '\0';
  return RADIO_OK;
}

enum radio_status
rd_csv_allows (const struct radio_csv *csv, uint64_t nbytes)
{
  uint64_t total = rd_add_sat (nbytes, (uint64_t) csv->text.nbytes
                               + csv->cells.capacity + csv->lines.capacity);
  if (total <= csv->limit_nbytes)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_LIMIT, "%s: the table needs %" PRIu64 " bytes "
                  "of memory, more than the limit of %" PRIu64, csv->name,
                  total, csv->limit_nbytes);
}

/* Appends a number to a list that grows by half within the limit. */
static enum radio_status
append_u32 (const struct radio_csv *csv, struct rd_buffer *list,
            uint32_t number)
{
  if (list->nbytes + sizeof number > list->capacity)
    RD_TRY (rd_csv_allows (csv, list->capacity / 2 + sizeof number));
  return rd_buffer_append (list, &number, sizeof number);
}

/* Splits off a row.  For the first one the number of columns is unknown. */
static enum radio_status
split_row (struct split *split, bool is_first)
{
  struct radio_csv *csv = split->csv;
  const uint64_t line = split->line;
  size_t n = 0;
  bool ends_row = false;
  RD_TRY (append_u32 (csv, &csv->lines, (uint32_t) line));
  for (; !ends_row; n++) {
    uint32_t start;
    RD_TRY (split_cell (split, n, &start, &ends_row));
    if (is_first && n >= RADIO_TABLE_MAX_COLUMNS)
      return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %d columns",
                      csv->name, RADIO_TABLE_MAX_COLUMNS);
    if (is_first || n < csv->ncolumns)
      RD_TRY (append_u32 (csv, &csv->cells, start));
  }
  if (is_first)
    csv->ncolumns = n;
  if (n == csv->ncolumns)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: line %" PRIu64 " has %zu cell%s, "
                  "but there are %zu columns", csv->name, line, n,
                  n == 1 ? "" : "s", csv->ncolumns);
}

static int
compare_names (const void *a, const void *b)
{
  const struct rd_csv_column *x = *(const struct rd_csv_column *const *) a;
  const struct rd_csv_column *y = *(const struct rd_csv_column *const *) b;
  return strcmp (x->name, y->name);
}

static enum radio_status
set_names (struct radio_csv *csv)
{
  size_t n = csv->ncolumns;
  csv->columns = rd_calloc (n, sizeof *csv->columns);
  RD_FREE struct rd_csv_column **sorted = rd_malloc (n * sizeof (void *));
  if (!csv->columns || !sorted)
    return rd_fail_memory (n * sizeof *csv->columns);
  for (size_t i = 0; i < n; i++) {
    csv->columns[i].name = rd_csv_cell (csv, 0, i);
    sorted[i] = &csv->columns[i];
    if (*csv->columns[i].name == '\0')
      return rd_fail (RADIO_ERROR_FORMAT, "%s: column %zu has no name; write "
                      "one into the first line, as 'column_%zu'", csv->name,
                      i + 1, i + 1);
  }
  qsort (sorted, n, sizeof (void *), compare_names);
  for (size_t i = 1; i < n; i++)
    if (compare_names (&sorted[i - 1], &sorted[i]) == 0)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: two columns are called '%s'",
                      csv->name, sorted[i]->name);
  return RADIO_OK;
}

/* Splits the text, which is changed, into cells, and checks the names. */
static enum radio_status
split_text (struct radio_csv *csv)
{
  struct split split = {
    .csv = csv, .text = (char *) csv->text.data, .nbytes = csv->text.nbytes,
    .line = 1,
  };
  bool is_first = true;
  RD_TRY (check_text (&split));
  while (split.at < split.nbytes) {
    char c = split.text[split.at];
    if (is_newline (c)) {
      skip_newline (&split, c);
      continue;
    }
    if (is_first && csv->separator == '\0')
      csv->separator = find_separator (&split);
    RD_TRY (split_row (&split, is_first));
    csv->nrows += !is_first;
    is_first = false;
  }
  if (is_first)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: no line with the names of columns",
                    csv->name);
  return set_names (csv);
}

static enum radio_status
fail_size (const char *file, uint64_t most)
{
  return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %" PRIu64 " bytes, which "
                  "the memory limit allows", file, most);
}

/* Reads all of a file into a buffer, and a NUL after it. */
static enum radio_status
read_fd (int fd, const char *file, uint64_t most, struct rd_buffer *text)
{
  struct stat stat;
  if (fstat (fd, &stat) == 0 && S_ISREG (stat.st_mode)) {
    uint64_t nbytes = (uint64_t) stat.st_size;
    if (nbytes > most)
      return fail_size (file, most);
    RD_TRY (rd_buffer_reserve (text, (size_t) nbytes + PIECE_NBYTES + 1));
  }
  for (;;) {
    if (text->nbytes + PIECE_NBYTES + 1 > text->capacity) {
      uint64_t wanted = rd_max_u64 (text->nbytes + PIECE_NBYTES + 1,
                                    text->capacity / 2 * 3);
      RD_TRY (rd_buffer_reserve (text, (size_t) rd_min_u64 (
        wanted, most + PIECE_NBYTES + 2)));
    }
    ssize_t n = read (fd, text->data + text->nbytes, PIECE_NBYTES);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return rd_fail_errno (errno, "cannot read %s", file);
    text->nbytes += (size_t) n;
    if (text->nbytes > most)
      return fail_size (file, most);
    text->data[text->nbytes] = '\0';
    if (n == 0)
      return RADIO_OK;
  }
}

static enum radio_status
read_file (const char *file, uint64_t most, struct rd_buffer *text)
{
  RD_CLOSE_FD int fd = open (file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return rd_fail_errno (errno, "cannot open %s", file);
  return read_fd (fd, file, most, text);
}

/* Reads the sidecar of a table; *found is false if it is missing and was not
 * named. */
static enum radio_status
read_sidecar (const struct radio_csv_options *options, const char *file,
              struct rd_buffer *text, bool *found)
{
  const char *named = options->sidecar_file;
  *found = named && *named;
  if (*found)
    return read_file (named, SIDECAR_MAX_NBYTES, text);
  if (named || !file)
    return RADIO_OK;
  const char *base = strrchr (file, '/'), *dot = strrchr (file, '.');
  size_t n = dot && (!base || dot > base) ? (size_t) (dot - file)
                                          : strlen (file);
  RD_FREE char *beside = rd_malloc (n + sizeof ".json");
  if (!beside)
    return rd_fail_memory (n);
  memcpy (beside, file, n);
  memcpy (beside + n, ".json", sizeof ".json");
  if (access (beside, F_OK) != 0)
    return RADIO_OK;
  *found = true;
  return read_file (beside, SIDECAR_MAX_NBYTES, text);
}

void
radio_csv_close (struct radio_csv *csv)
{
  if (!csv)
    return;
  for (size_t i = 0; csv->columns && i < csv->ncolumns; i++)
    rd_free (csv->columns[i].attributes);
  rd_free (csv->columns);
  rd_free (csv->values);
  rd_free (csv->valid);
  radio_strings_free (&csv->strings);
  rd_buffer_free (&csv->text);
  rd_buffer_free (&csv->cells);
  rd_buffer_free (&csv->lines);
  rd_free (csv->name);
  rd_free (csv);
}

RD_DEFINE_CLEANUP (csv, struct radio_csv, radio_csv_close);

static enum radio_status
new_csv (const char *name, const struct radio_csv_options *options,
         struct radio_csv **result)
{
  RD_TRY (RD_CHECK_RESERVED (radio_csv_options, options));
  char separator = options->separator;
  if (!rd_csv_may_separate (separator))
    return rd_fail (RADIO_ERROR_ARGUMENT, "separator is 0x%02x; a tab, comma, "
                    "semicolon or another character is possible",
                    (unsigned) (unsigned char) separator);
  RD_CLEANUP (rd_cleanup_csv) struct radio_csv *csv
    = rd_calloc (1, sizeof *csv);
  if (!csv)
    return rd_fail_memory (sizeof *csv);
  csv->separator = separator;
  csv->limit_nbytes = options->memory_limit_nbytes
    ? options->memory_limit_nbytes : DEFAULT_LIMIT_NBYTES;
  csv->name = rd_strdup (name);
  if (!csv->name)
    return rd_fail_memory (strlen (name));
  *result = RD_STEAL (csv);
  return RADIO_OK;
}

/* Makes the table of its text; file is NULL of text in memory. */
static enum radio_status
make_table (struct radio_csv *csv, const struct radio_csv_options *options,
            const char *file)
{
  RD_BUFFER_SCOPE struct rd_buffer sidecar = { 0 };
  const char *json = options->sidecar_json;
  size_t json_nbytes = json ? strlen (json) : 0;
  bool found;
  RD_TRY (split_text (csv));
  if (!json) {
    RD_TRY (read_sidecar (options, file, &sidecar, &found));
    if (found) {
      json = (const char *) sidecar.data;
      json_nbytes = sidecar.nbytes;
    }
  }
  return rd_csv_set_types (csv, options, json, json_nbytes);
}

/* The place of a cell has 32 bits. */
static uint64_t
most_nbytes (const struct radio_csv *csv)
{
  return rd_min_u64 (csv->limit_nbytes, UINT32_MAX - 1);
}

static const struct radio_csv_options no_options;

enum radio_status
radio_csv_open (const char *file, const struct radio_csv_options *options,
                struct radio_csv **result)
{
  RD_NOT_NULL (file);
  RD_NOT_NULL (result);
  if (!options)
    options = &no_options;
  RD_CLEANUP (rd_cleanup_csv) struct radio_csv *csv = NULL;
  bool is_input = strcmp (file, "-") == 0;
  RD_TRY (new_csv (is_input ? "standard input" : file, options, &csv));
  RD_TRY (is_input ? read_fd (STDIN_FILENO, csv->name, most_nbytes (csv),
                              &csv->text)
                   : read_file (file, most_nbytes (csv), &csv->text));
  RD_TRY (make_table (csv, options, is_input ? NULL : file));
  *result = RD_STEAL (csv);
  return RADIO_OK;
}

enum radio_status
radio_csv_parse (const char *text, size_t nbytes, const char *name,
                 const struct radio_csv_options *options,
                 struct radio_csv **result)
{
  RD_NOT_NULL (name);
  RD_NOT_NULL (result);
  if (nbytes > 0)
    RD_NOT_NULL (text);
  if (!options)
    options = &no_options;
  RD_CLEANUP (rd_cleanup_csv) struct radio_csv *csv = NULL;
  RD_TRY (new_csv (name, options, &csv));
  if (nbytes > most_nbytes (csv))
    return fail_size (name, most_nbytes (csv));
  RD_TRY (rd_buffer_reserve (&csv->text, nbytes + 1));
  RD_TRY (rd_buffer_append (&csv->text, nbytes > 0 ? text : "", nbytes));
  csv->text.data[nbytes] = '\0';
  RD_TRY (make_table (csv, options, NULL));
  *result = RD_STEAL (csv);
  return RADIO_OK;
}

void
(radio_csv_get_info) (const struct radio_csv *csv,
                      struct radio_csv_info *info, size_t info_nbytes)
{
  const struct radio_csv_info full = { csv->nrows, csv->ncolumns,
                                       csv->separator };
  rd_fill_result (info, info_nbytes, &full, sizeof full);
}
