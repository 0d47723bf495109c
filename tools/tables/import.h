/* SPDX-License-Identifier: MIT */
/* Columns of a text table into a table of the store. */
#ifndef RD_TOOLS_TABLES_IMPORT_H
#define RD_TOOLS_TABLES_IMPORT_H

#include "tools/options.h"

static inline void
rd_cleanup_edit (struct radio_table_edit **edit)
{
  radio_table_edit_free (*edit);
}

static inline void
rd_cleanup_csv (struct radio_csv **csv)
{
  radio_csv_close (*csv);
}

#define RD_FREE_EDIT RD_CLEANUP (rd_cleanup_edit)
#define RD_CLOSE_CSV RD_CLEANUP (rd_cleanup_csv)
#define RD_FREE_STRINGS RD_CLEANUP (radio_strings_free)

/* Reads the text of a column by its name, as radio_table_read_text does. */
enum radio_status rd_table_read_text (struct radio_table *table,
                                      const char *column,
                                      struct radio_strings *text);

struct rd_import {
  const char *key;            /* the column of ids; NULL: participant_id or
                                 subject, of volumes id or volume */
  struct radio_csv_type *types;       /* that are given; owned */
  char **names;               /* their columns; owned */
  size_t ntypes;
  bool force;                 /* columns may get another type, and values be
                                 lost */
  bool is_of_many;            /* types are of columns of several files: those
                                 that a file does not have are ignored */
};

/* Parses the value COLUMN=TYPE of the option that was just returned; false
 * after a usage error. */
bool rd_import_take_type (struct rd_args *args, struct rd_import *import);

/* only_existing: a row that the table does not have is an error.  removes: its
 * rows are removed instead.  fills: values that are there stay, and so do the
 * types of their columns, whatever is forced. */
struct rd_import_how {
  const struct rd_import *import;
  bool quiet, only_existing, removes, fills;
};

/* Below, the table of a collection is that of its volumes; NULL: of the
 * subjects. */

/* Adds the columns of a file (.csv, .tsv) to a table.  Rows of subjects are
 * added, where they are missing; lines of volumes that have no row are counted.
 * Returns an exit status; prints errors, and unless quiet what was done. */
int rd_import_file (struct radio_store *store, const char *collection,
                    const char *file, struct rd_import_how how);

/* Adds the columns of a text table that is open, whose ids are in the column
 * key; name is that of the text in messages.  Values take the type of a column
 * that is there, unless another was given or is forced. */
int rd_import_csv (struct radio_store *store, const char *collection,
                   struct radio_csv *csv, size_t key, const char *name,
                   struct rd_import_how how);

/* Prints the error that a table is not there, with names that are similar. */
int rd_table_missing (struct radio_store *store, const char *collection);

/* Writes a cell of a text table, quoted. */
void rd_import_write_cell (FILE *file, const char *text, size_t n);

/* Reads a file for the table of subjects alone, so that its errors are found
 * before other work.  Returns an exit status. */
int rd_import_check (const char *file, const struct rd_import *import);

/* The path of a table.  Allocated; NULL without memory, after an error. */
char *rd_table_path (const char *collection);

void rd_import_clear (struct rd_import *import);

#endif /* RD_TOOLS_TABLES_IMPORT_H */
