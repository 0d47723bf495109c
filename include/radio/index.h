/* SPDX-License-Identifier: MIT */
/* The index: a row for each volume in the table of its collection
 * (radio/table.h), made from the volume's document, and one for each subject.
 *
 * The documents are authoritative.  A row's id is the volume's path.
 * These columns are derived, and made again whenever a row is written;
 * all others are the user's, and stay:
 *
 *  subject, session   text, from the name: of a BIDS name "sub-01_ses-2_..."
 *                     its first entity and that of ses-; of others the name
 *                     without "_ses-SESSION" and "_run-RUN" at its end, and
 *                     "ses-SESSION"
 *  shape_x, shape_y, shape_z, shape_t   integers: the length of an axis
 *  spacing_x, spacing_y, spacing_z      floats, in the volume's unit
 *  type               text: NIfTI's name of the type, else Zarr's
 *  orientation        text: the directions of x, y, z, as RAS
 *  affine             text: a JSON list of three rows of four numbers
 *  source_name, source_sha256           text, as in the document
 *  nbytes             integer: of the source, uncompressed
 *  level              text: the name of the level
 *
 * Values that a volume does not have are missing. */
#ifndef RADIO_INDEX_H
#define RADIO_INDEX_H

#include <radio/base.h>
#include <radio/store.h>
#include <radio/table.h>

#ifdef __cplusplus
extern "C" {
#endif

enum radio_index_fault {
  RADIO_INDEX_NO_ROW = 0,     /* a volume without a row */
  RADIO_INDEX_NO_VOLUME,      /* a row without a volume */
  RADIO_INDEX_DAMAGED,        /* a volume that could not be opened, whose row
                                 stays as it is: radio_error_message says
                                 why */
  RADIO_INDEX_STALE,          /* a row with a derived value that is not the
                                 volume's: radio_error_message says which */
};

/* Called for each volume, by its path; anything but RADIO_OK ends the operation
 * and is returned. */
typedef enum radio_status
radio_index_fn (enum radio_index_fault fault, const char *path,
                void *user_data);

/* Zero-filled members are defaults. */
struct radio_index_options {
  /* Write nothing: compare names and ids only, and read no volume. */
  bool check;
  radio_index_fn *report;             /* may be NULL */
  void *user_data;

  /* With check: compare the derived values, too, which reads the document of
   * each volume, as writing does. */
  bool check_values;

  /* First make a new generation of each table whose last heads or generations
   * are missing, from the newest one that exists, or else an empty one.
   * Without it such a table is an error, since it may be an incomplete copy of
   * the store. */
  bool recover;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[4];
};

/* A result: later versions may add members at its end. */
struct radio_index_result {
  uint64_t volume_count;              /* found */
  uint64_t no_row_count;              /* of each fault, before it was repaired
                                         */
  uint64_t no_volume_count;
  uint64_t damaged_count;
  uint64_t written_count;             /* tables that got a new generation */
  uint64_t subject_count;             /* rows added to the table of subjects */
  uint64_t stale_count;               /* with check_values */
};

/* Makes the tables agree with the volumes of a collection, or of the whole
 * store if that is NULL: adds rows that are missing, makes the derived columns
 * of all again, and removes rows without a volume.  Rows of subjects are added,
 * and never removed.  Tables that are right are not written.  options and
 * result may be NULL; result is also filled after a failure.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (no such collection), RADIO_ERROR_FORMAT (the
 * generations of a table are missing), those of listing, of radio_table_open
 * and of radio_table_edit_commit. */
RADIO_API enum radio_status
radio_store_index (struct radio_store *store, const char *collection,
                   const struct radio_index_options *options,
                   struct radio_index_result *result, size_t result_nbytes)
  RADIO_USE_RESULT;
#define radio_store_index(store, collection, options, result) \
  radio_store_index (store, collection, options, result, \
                     sizeof (struct radio_index_result))

/* The same of n volumes, by their paths, after they were written or removed:
 * rows of those that exist are written, those of others removed.  Their
 * collections' other rows stay as they are.
 * Errors: as radio_store_index; RADIO_ERROR_ARGUMENT (not a path of a
 * collection's volume). */
RADIO_API enum radio_status
radio_store_index_volumes (struct radio_store *store,
                           const char *const *paths, size_t n,
                           struct radio_index_result *result,
                           size_t result_nbytes) RADIO_USE_RESULT;
#define radio_store_index_volumes(store, paths, n, result) \
  radio_store_index_volumes (store, paths, n, result, \
                             sizeof (struct radio_index_result))

/* Zero-filled members are defaults. */
struct radio_index_copies_options {
  /* Values replace those that the other store has, and in rows of volumes
   * missing ones do, too; if both stores are one, so does what the volume has
   * no table, column or row of.  False: a missing value changes nothing. */
  bool replace;

  /* A copy is of its volume's subject although its name has another one, a
   * pseudonym, as by radio_pseudonym (radio/cohort.h), which is one subject's
   * alone.  False: that subject gets the row's values only if it is new. */
  bool renames_subjects;

  /* The user's columns that are copied, of both tables; names that a table has
   * not are ignored.  NULL: all. */
  const char *const *columns;
  size_t ncolumns;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[6];
};

/* The same of n volumes that were copied from from_paths in `from', which may
 * be the same store, to to_paths in `to'; and the user's columns go with them,
 * of the volumes' rows and of their subjects', with the attributes.  options
 * may be NULL.
 * Errors: as radio_store_index_volumes; RADIO_ERROR_EXISTS (`to' has a column
 * with another type, which the message names: it is left out, and all others
 * were copied). */
RADIO_API enum radio_status
radio_store_index_copies (struct radio_store *from,
                          const char *const *from_paths,
                          struct radio_store *to, const char *const *to_paths,
                          size_t n,
                          const struct radio_index_copies_options *options,
                          struct radio_index_result *result,
                          size_t result_nbytes) RADIO_USE_RESULT;
#define radio_store_index_copies(from, from_paths, to, to_paths, n, options, \
                                 result) \
  radio_store_index_copies (from, from_paths, to, to_paths, n, options, \
                            result, sizeof (struct radio_index_result))

/* Returns the length of the subject that a volume's name, without its
 * collection, begins with. */
RADIO_API size_t radio_name_subject (const char *name);

/* Ends the move of n volumes of a store from from_paths to to_paths, whose rows
 * were copied by radio_store_index_copies, and which were removed: their rows
 * are removed, or written if there is a volume again.  before are the tables of
 * their collections, opened before the rows were copied: cells of the user's
 * columns that others edited since go to the new rows first, so that no edit is
 * lost.
 * Errors: as radio_store_index_copies; a column with another type keeps the old
 * rows. */
RADIO_API enum radio_status
radio_store_index_moved (struct radio_store *store,
                         struct radio_table *const *before, size_t nbefore,
                         const char *const *from_paths,
                         const char *const *to_paths, size_t n)
  RADIO_USE_RESULT;

/* Returns whether a column of this name is derived. */
RADIO_API bool radio_index_is_derived (const char *column);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_INDEX_H */
