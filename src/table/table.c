/* SPDX-License-Identifier: MIT */
/* Tables: opening the newest generation and reading its columns; edits. */
#include <config.h>

#include <radio/table.h>

#include "src/base/error.h"

enum radio_status
radio_table_open (struct radio_store *store, const char *path,
                  struct radio_table **table)
{
  (void) store;
  (void) path;
  (void) table;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

void
radio_table_close (struct radio_table *table)
{
  (void) table;
}

void
(radio_table_get_info) (const struct radio_table *table,
                        struct radio_table_info *info, size_t info_nbytes)
{
  (void) table;
  (void) info;
  (void) info_nbytes;
}

const char *
radio_column_type_name (enum radio_column_type type)
{
  (void) type;
  return "";
}

enum radio_status
(radio_table_get_column) (const struct radio_table *table, size_t number,
                          struct radio_column_info *info, size_t info_nbytes)
{
  (void) table;
  (void) number;
  (void) info;
  (void) info_nbytes;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_find_column (const struct radio_table *table, const char *name,
                         size_t *number)
{
  (void) table;
  (void) name;
  (void) number;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_read (struct radio_table *table, size_t number,
                  enum radio_dtype dtype, void *values, size_t nbytes,
                  bool *valid)
{
  (void) table;
  (void) number;
  (void) dtype;
  (void) values;
  (void) nbytes;
  (void) valid;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_read_text (struct radio_table *table, size_t number,
                       struct radio_strings *text, bool *valid)
{
  (void) table;
  (void) number;
  (void) text;
  (void) valid;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_read_ids (struct radio_table *table, struct radio_strings *ids)
{
  (void) table;
  (void) ids;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_read_categories (struct radio_table *table, size_t number,
                             struct radio_strings *categories)
{
  (void) table;
  (void) number;
  (void) categories;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_read_codes (struct radio_table *table, size_t number,
                        int32_t *codes, size_t nbytes)
{
  (void) table;
  (void) number;
  (void) codes;
  (void) nbytes;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_list (struct radio_store *store, radio_table_entry_fn *callback,
                  void *user_data)
{
  (void) store;
  (void) callback;
  (void) user_data;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_edit_new (struct radio_store *store, const char *path,
                      struct radio_table_edit **edit)
{
  (void) store;
  (void) path;
  (void) edit;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

void
radio_table_edit_free (struct radio_table_edit *edit)
{
  (void) edit;
}

enum radio_status
radio_table_edit_add_rows (struct radio_table_edit *edit,
                           const struct radio_strings *ids)
{
  (void) edit;
  (void) ids;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_edit_remove_rows (struct radio_table_edit *edit,
                              const struct radio_strings *ids)
{
  (void) edit;
  (void) ids;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_edit_set (struct radio_table_edit *edit,
                      const struct radio_strings *ids,
                      const struct radio_cells *cells)
{
  (void) edit;
  (void) ids;
  (void) cells;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_edit_drop (struct radio_table_edit *edit, const char *column)
{
  (void) edit;
  (void) column;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_table_edit_rename (struct radio_table_edit *edit, const char *column,
                         const char *new_name)
{
  (void) edit;
  (void) column;
  (void) new_name;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
(radio_table_edit_commit) (struct radio_table_edit *edit,
                           struct radio_table_result *result,
                           size_t result_nbytes)
{
  (void) edit;
  (void) result;
  (void) result_nbytes;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}

enum radio_status
radio_column_name_check (const char *name)
{
  (void) name;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "tables are not implemented");
}
