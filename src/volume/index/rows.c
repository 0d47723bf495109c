/* SPDX-License-Identifier: MIT */
/* Rows of volumes.  A volume gives its values one by one, in the order of the
 * columns below. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <radio/index.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "src/table/column.h"
#include "src/volume/index/rows.h"
#include "src/volume/volume.h"

enum column {
  SUBJECT, SESSION, SHAPE_X, SHAPE_Y, SHAPE_Z, SHAPE_T, SPACING_X, SPACING_Y,
  SPACING_Z, TYPE, ORIENTATION, AFFINE, SOURCE_NAME, SOURCE_SHA256, NBYTES,
  LEVEL,
};

static const struct {
  const char *name;
  enum radio_column_type type;
} columns[RD_ROW_NCOLUMNS] = {
  [SUBJECT] = { "subject", RADIO_COLUMN_TEXT },
  [SESSION] = { "session", RADIO_COLUMN_TEXT },
  [SHAPE_X] = { "shape_x", RADIO_COLUMN_INTEGER },
  [SHAPE_Y] = { "shape_y", RADIO_COLUMN_INTEGER },
  [SHAPE_Z] = { "shape_z", RADIO_COLUMN_INTEGER },
  [SHAPE_T] = { "shape_t", RADIO_COLUMN_INTEGER },
  [SPACING_X] = { "spacing_x", RADIO_COLUMN_FLOAT },
  [SPACING_Y] = { "spacing_y", RADIO_COLUMN_FLOAT },
  [SPACING_Z] = { "spacing_z", RADIO_COLUMN_FLOAT },
  [TYPE] = { "type", RADIO_COLUMN_TEXT },
  [ORIENTATION] = { "orientation", RADIO_COLUMN_TEXT },
  [AFFINE] = { "affine", RADIO_COLUMN_TEXT },
  [SOURCE_NAME] = { "source_name", RADIO_COLUMN_TEXT },
  [SOURCE_SHA256] = { "source_sha256", RADIO_COLUMN_TEXT },
  [NBYTES] = { "nbytes", RADIO_COLUMN_INTEGER },
  [LEVEL] = { "level", RADIO_COLUMN_TEXT },
};

/* Reads the ids and, with them, the levels. */
static enum radio_status
read_levels (struct radio_table *table, struct radio_strings *ids,
             struct radio_strings *levels)
{
  struct radio_column_info info = { 0 };
  size_t number;
  bool has_levels
    = radio_table_find_column (table, columns[LEVEL].name, &number) == RADIO_OK
      && radio_table_get_column (table, number, &info) == RADIO_OK
      && info.type == RADIO_COLUMN_TEXT;
  if (has_levels) {
    RD_TRY (radio_table_read_ahead (table, &number, 1));
    RD_TRY (radio_table_read_text (table, number, levels, NULL));
  }
  return radio_table_read_ids (table, ids);
}

static enum radio_status
read_ids (struct radio_store *store, const char *path,
          struct radio_strings *ids, struct radio_strings *levels,
          uint64_t *head)
{
  struct radio_table_info info;
  RD_CLEANUP (rd_cleanup_table) struct radio_table *table = NULL;
  *head = 0;
  enum radio_status status = radio_table_open (store, path, &table);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  RD_TRY (status);
  radio_table_get_info (table, &info);
  *head = info.head;
  return levels ? read_levels (table, ids, levels)
                : radio_table_read_ids (table, ids);
}

enum radio_status
rd_index_read_ids (struct radio_store *store, const char *path,
                   struct radio_strings *ids, struct radio_strings *levels,
                   uint64_t *head)
{
  enum radio_status status = read_ids (store, path, ids, levels, head);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  /* Its generation is gone: the table is opened without its hint. */
  radio_strings_free (ids);
  radio_strings_free (levels);
  return read_ids (store, path, ids, levels, head);
}

bool
radio_index_is_derived (const char *column)
{
  for (size_t i = 0; column && i < RD_ROW_NCOLUMNS; i++)
    if (strcmp (columns[i].name, column) == 0)
      return true;
  return false;
}

void
rd_rows_free (struct rd_rows *rows)
{
  rd_text_list_free (&rows->ids);
  for (size_t i = 0; i < RD_ROW_NCOLUMNS; i++) {
    rd_text_list_free (&rows->texts[i]);
    rd_buffer_free (&rows->values[i]);
    rd_buffer_free (&rows->valid[i]);
  }
}

/* The last place of an entity in the first n bytes of a name, or n. */
static size_t
find_entity (const char *name, size_t n, const char *entity)
{
  size_t nentity = strlen (entity);
  for (size_t i = n; i-- > 1;)
    if (i + nentity < n && memcmp (name + i, entity, nentity) == 0)
      return i;
  return n;
}

size_t
rd_name_subject (const char *name, const char **session, size_t *nsession)
{
  size_t n = strlen (name);
  *session = NULL;
  *nsession = 0;
  if (strncmp (name, "sub-", 4) == 0 || strncmp (name, "tpl-", 4) == 0) {
    size_t nsubject = strcspn (name, "_");
    for (const char *part = name + nsubject; *part;) {
      part++;
      size_t npart = strcspn (part, "_");
      if (*session == NULL && npart > 4 && memcmp (part, "ses-", 4) == 0) {
        *session = part;
        *nsession = npart;
      }
      part += npart;
    }
    return nsubject;
  }
  size_t run = find_entity (name, n, "_run-");
  size_t ses = find_entity (name, run, "_ses-");
  if (ses < run) {
    *session = name + ses + 1;
    *nsession = run - ses - 1;
  }
  return ses;
}

size_t
radio_name_subject (const char *name)
{
  const char *session;
  size_t nsession;
  return name ? rd_name_subject (name, &session, &nsession) : 0;
}

/*------------------------------------------------------------------------
 * One row
 *----------------------------------------------------------------------*/

static enum radio_status
add_valid (struct rd_rows *rows, enum column column, bool valid)
{
  return rd_buffer_append (&rows->valid[column], &valid, sizeof valid);
}

/* Adds a text; an empty one is missing. */
static enum radio_status
add_text (struct rd_rows *rows, enum column column, const char *text,
          size_t nbytes)
{
  const struct rd_slice value = { text, nbytes };
  RD_TRY (rd_text_list_add (&rows->texts[column], value));
  return add_valid (rows, column, nbytes > 0);
}

static enum radio_status
add_string (struct rd_rows *rows, enum column column, const char *text)
{
  return add_text (rows, column, text ? text : "", text ? strlen (text) : 0);
}

static enum radio_status
add_integer (struct rd_rows *rows, enum column column, uint64_t value,
             bool valid)
{
  int64_t number = valid && value <= INT64_MAX ? (int64_t) value : 0;
  RD_TRY (rd_buffer_append (&rows->values[column], &number, sizeof number));
  return add_valid (rows, column, valid && value <= INT64_MAX);
}

static enum radio_status
add_axes (struct rd_rows *rows, const struct radio_volume_info *info)
{
  static const char letters[] = "xyzt";
  for (size_t i = 0; i < 4; i++) {
    const char *found = strchr (info->axes, letters[i]);
    size_t axis = found ? (size_t) (found - info->axes) : 0;
    enum column shape = (enum column) (SHAPE_X + i);
    enum column spacing = (enum column) (SPACING_X + i);
    RD_TRY (add_integer (rows, shape, info->array.shape[axis],
                         found != NULL));
    if (i == 3)
      break;
    double mm = found ? info->spacing[axis] : NAN;
    RD_TRY (rd_buffer_append (&rows->values[spacing], &mm, sizeof mm));
    RD_TRY (add_valid (rows, spacing, !isnan (mm)));
  }
  return RADIO_OK;
}

/* Adds the affine as JSON, which has no numbers that are not finite. */
static enum radio_status
add_affine (struct rd_rows *rows, const struct radio_volume_info *info)
{
  char text[12 * (RD_NUMBER_NBYTES + 4) + 8], number[RD_NUMBER_NBYTES];
  size_t n = 0;
  for (size_t i = 0; i < 12; i++) {
    double value = info->affine[i / 4][i % 4];
    if (!isfinite (value))
      return add_text (rows, AFFINE, "", 0);
    n += (size_t) snprintf (text + n, sizeof text - n, "%s%s%s",
                            i == 0 ? "[[" : i % 4 == 0 ? "], [" : ", ",
                            rd_number_exact (value, number),
                            i == 11 ? "]]" : "");
  }
  return add_text (rows, AFFINE, text, n);
}

enum radio_status
rd_rows_add (struct rd_rows *rows, const char *path,
             const struct radio_volume *volume)
{
  struct radio_volume_info info;
  const char *name = rd_base_name (path), *session;
  size_t nsession;
  radio_volume_get_info (volume, &info);
  size_t nsubject = rd_name_subject (name, &session, &nsession);
  const struct rd_slice id = { path, strlen (path) };
  RD_TRY (rd_text_list_add (&rows->ids, id));
  RD_TRY (add_text (rows, SUBJECT, name, nsubject));
  RD_TRY (add_text (rows, SESSION, session ? session : "", nsession));
  RD_TRY (add_axes (rows, &info));
  RD_TRY (add_string (rows, TYPE, *info.nifti_type
                                  ? info.nifti_type
                                  : radio_dtype_name (info.array.dtype)));
  RD_TRY (add_string (rows, ORIENTATION, info.orientation));
  RD_TRY (add_affine (rows, &info));
  RD_TRY (add_string (rows, SOURCE_NAME, info.source_name));
  RD_TRY (add_string (rows, SOURCE_SHA256, info.source_sha256));
  RD_TRY (add_integer (rows, NBYTES, info.source_nbytes,
                       info.source_nbytes > 0));
  return add_string (rows, LEVEL, volume->meta.level_path);
}

struct radio_strings
rd_rows_levels (const struct rd_rows *rows)
{
  return rd_list_strings (&rows->texts[LEVEL]);
}

/* The cells of a column; its text is put where they refer to it. */
static struct radio_cells
cells_of (const struct rd_rows *rows, size_t i, struct radio_strings *text)
{
  *text = rd_list_strings (&rows->texts[i]);
  return (struct radio_cells) {
    .column = columns[i].name,
    .type = columns[i].type,
    .values = rows->values[i].data,
    .dtype = columns[i].type == RADIO_COLUMN_FLOAT ? RADIO_FLOAT64
                                                   : RADIO_INT64,
    .text = columns[i].type == RADIO_COLUMN_TEXT ? text : NULL,
    .valid = (const bool *) (const void *) rows->valid[i].data,
    .change_type = true,
  };
}

enum radio_status
rd_rows_set (const struct rd_rows *rows, struct radio_table_edit *edit)
{
  const struct radio_strings ids = rd_list_strings (&rows->ids);
  for (size_t i = 0; i < RD_ROW_NCOLUMNS; i++) {
    struct radio_strings text;
    const struct radio_cells cells = cells_of (rows, i, &text);
    RD_TRY (radio_table_edit_set (edit, &ids, &cells));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Comparing
 *----------------------------------------------------------------------*/

/* Why rows are stale; NULL: one is not. */
struct reasons {
  size_t n;
  char **list;
};

static void
free_reasons (struct reasons *reasons)
{
  for (size_t i = 0; reasons->list && i < reasons->n; i++)
    rd_free (reasons->list[i]);
  rd_free (reasons->list);
}

/* Values of a table's column as text. */
struct texts {
  bool is_there;                      /* of the type that it must have */
  struct radio_strings text;
  bool *valid;
};

static void
free_texts (struct texts *texts)
{
  radio_strings_free (&texts->text);
  rd_free (texts->valid);
}

static enum radio_status
read_texts (struct radio_table *table, size_t i, size_t nrows,
            struct texts *texts)
{
  struct radio_column_info info = { 0 };
  size_t number;
  texts->is_there
    = radio_table_find_column (table, columns[i].name, &number) == RADIO_OK
      && radio_table_get_column (table, number, &info) == RADIO_OK
      && info.type == columns[i].type;
  texts->valid = rd_calloc (nrows + 1, sizeof *texts->valid);
  if (!texts->valid)
    return rd_fail_memory (nrows + 1);
  return texts->is_there ? radio_table_read_text (table, number, &texts->text,
                                                  texts->valid)
                         : RADIO_OK;
}

/* A value as messages show it. */
static const char *
show (struct rd_slice value, bool is_valid, char text[80])
{
  if (!is_valid)
    return "missing";
  snprintf (text, 80, "'%.*s'", (int) rd_min_u64 (value.n, 70), value.at);
  return text;
}

/* Compares a column in all rows that are not known to be stale. */
static enum radio_status
compare_column (const struct rd_rows *rows, size_t i,
                const struct rd_lookup *found, const struct texts *theirs,
                struct reasons *reasons)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *ours = NULL;
  struct radio_strings text;
  const struct radio_strings ids = rd_list_strings (&rows->ids);
  const struct radio_cells cells = cells_of (rows, i, &text);
  RD_TRY (rd_column_of_cells (&cells, ids.n, &ours));
  for (size_t k = 0; k < ids.n; k++) {
    char number[RD_PRINT_NBYTES], is[80], must_be[80], why[240];
    size_t row = rd_lookup_find (found, rd_string (&ids, k));
    if (row == RD_NOT_THERE || reasons->list[k])
      continue;
    bool has = theirs->is_there && theirs->valid[row];
    struct rd_slice a = { "", 0 }, b = rd_column_print (ours, k, number);
    if (has)
      a = rd_string (&theirs->text, row);
    bool is_same = has == rd_column_is_valid (ours, k)
                   && rd_slice_equal (a, b);
    if (theirs->is_there && is_same)
      continue;
    if (!theirs->is_there)
      snprintf (why, sizeof why, "the table has no column %s of type %s",
                columns[i].name, radio_column_type_name (columns[i].type));
    else
      snprintf (why, sizeof why, "%s is %s in its row, and %s in the volume",
                columns[i].name, show (a, has, is),
                show (b, rd_column_is_valid (ours, k), must_be));
    reasons->list[k] = rd_strdup (why);
    if (!reasons->list[k])
      return rd_fail_memory (strlen (why) + 1);
  }
  return RADIO_OK;
}

enum radio_status
rd_rows_find_stale (const struct rd_rows *rows, struct radio_store *store,
                    const char *path, rd_stale_fn *found, void *user_data)
{
  RD_CLEANUP (rd_cleanup_table) struct radio_table *table = NULL;
  RD_STRINGS_FREE struct radio_strings there = { 0 };
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  const struct radio_strings ids = rd_list_strings (&rows->ids);
  RD_CLEANUP (free_reasons) struct reasons reasons
    = { ids.n, rd_calloc (ids.n + 1, sizeof *reasons.list) };
  if (!reasons.list)
    return rd_fail_memory ((ids.n + 1) * sizeof *reasons.list);
  enum radio_status status = radio_table_open (store, path, &table);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  RD_TRY (status);
  RD_TRY (radio_table_read_ahead (table, NULL, 0));
  RD_TRY (radio_table_read_ids (table, &there));
  RD_TRY (rd_lookup_strings (&there, &lookup));
  for (size_t i = 0; i < RD_ROW_NCOLUMNS; i++) {
    RD_CLEANUP (free_texts) struct texts theirs = { 0 };
    RD_TRY (read_texts (table, i, there.n, &theirs));
    RD_TRY (compare_column (rows, i, &lookup, &theirs, &reasons));
  }
  for (size_t k = 0; k < ids.n; k++) {
    if (!reasons.list[k])
      continue;
    const struct rd_slice id = rd_string (&ids, k);
    char *name RD_FREE = rd_strndup (id.at, id.n);
    if (!name)
      return rd_fail_memory (id.n + 1);
    status = rd_fail (RADIO_ERROR_FORMAT, "%s", reasons.list[k]);
    RD_TRY (found (name, user_data));
  }
  return RADIO_OK;
}
