/* SPDX-License-Identifier: MIT */
/* Changes to a table in memory: an edit's operations, applied to the newest
 * generation, and again if another writer was faster. */
#ifndef RD_TABLE_EDIT_H
#define RD_TABLE_EDIT_H

#include <radio/table.h>

#include "src/table/frame.h"

enum rd_change_kind {
  RD_CHANGE_ADD_ROWS,
  RD_CHANGE_REMOVE_ROWS,
  RD_CHANGE_SET,
  RD_CHANGE_DROP,
  RD_CHANGE_RENAME,
};

/* Ids of rows, which changes that have the same ones share: a table is mostly
 * set column by column. */
struct rd_ids {
  size_t nrefs;
  struct radio_strings strings;
};

void rd_ids_release (struct rd_ids *ids);
RD_DEFINE_CLEANUP (ids, struct rd_ids, rd_ids_release);

struct rd_change {
  enum rd_change_kind kind;
  struct rd_ids *ids;                 /* a reference; NULL: of no rows */
  struct rd_column *cells;            /* SET: in the order of ids */
  struct json_object *attributes;     /* SET: members to replace; NULL: none */
  bool change_type, keep_existing, refuse_loss;       /* SET */
  char *column, *new_name;            /* DROP, RENAME */
};

void rd_change_free (struct rd_change *change);

/* The effect of applying changes. */
struct rd_applied {
  bool is_changed;
  uint64_t nadded, nremoved;          /* rows */
  uint64_t nlost;                     /* values that are missing now */
};

/* Applies changes to a frame in memory.  is_merge: they were applied before, to
 * an earlier generation: a column to be dropped may be gone.  On failure the
 * data may be anything. */
enum radio_status rd_changes_apply (const struct rd_change *changes, size_t n,
                                    bool is_merge, const char *where,
                                    struct rd_data *data,
                                    struct rd_applied *applied)
  RADIO_USE_RESULT;

/* The edit is right only for the generation of one head (0: of a table that has
 * none): if another is the newest, its commit fails with RADIO_ERROR_EXISTS,
 * writes nothing, and sets *is_overtaken, which it else clears. */
void rd_edit_expect (struct radio_table_edit *edit, uint64_t head,
                     bool *is_overtaken);

/* The edit is made also of a table that was lost: of its newest generation that
 * is there, or else of none.  It makes a generation even without changes. */
void rd_edit_recover (struct radio_table_edit *edit);

#endif /* RD_TABLE_EDIT_H */
