/* SPDX-License-Identifier: MIT */
/* Tables of aligned columns.  Widths are those on a terminal, so that names
 * in any script stay in line. */
#include <config.h>

#include <string.h>

#include "tools/table.h"
#include "tools/text.h"
#include "tools/tool.h"

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

static void
measure (const struct rd_table *table, size_t width[RD_TABLE_MAX_COLUMNS])
{
  memset (width, 0, RD_TABLE_MAX_COLUMNS * sizeof *width);
  for (size_t i = 0; i < table->ncells; i++) {
    size_t w = rd_text_columns (table->cells[i]);
    if (w > width[i % table->ncolumns])
      width[i % table->ncolumns] = w;
  }
}

static void
put_spaces (FILE *file, size_t n)
{
  fprintf (file, "%*s", (int) n, "");
}

/* The last column is not padded: lines shall not end in spaces. */
static void
print_cell (const struct rd_table *table, size_t i, size_t width, FILE *file)
{
  size_t column = i % table->ncolumns;
  size_t padding = width - rd_text_columns (table->cells[i]);
  bool right = table->alignment[column] == 'r';
  if (column > 0)
    put_spaces (file, 2);
  if (right)
    put_spaces (file, padding);
  rd_text_print (file, table->cells[i]);
  if (!right && column + 1 < table->ncolumns)
    put_spaces (file, padding);
}

void
rd_table_print (const struct rd_table *table, FILE *file)
{
  size_t width[RD_TABLE_MAX_COLUMNS];
  measure (table, width);
  for (size_t i = 0; i < table->ncells; i++) {
    size_t column = i % table->ncolumns;
    if (i == 0)
      fputs (rd_color (file, RD_BOLD), file);
    print_cell (table, i, width[column], file);
    if (i + 1 == table->ncolumns)
      fputs (rd_color (file, RD_PLAIN), file);
    if (column + 1 == table->ncolumns)
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
