/* SPDX-License-Identifier: MIT */
/* Splits: the rows of a table, as the subjects of a store, into parts for
 * training, validation and test, or into folds. */
#ifndef RADIO_SPLIT_H
#define RADIO_SPLIT_H

#include <radio/base.h>
#include <radio/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most parts. */
#define RADIO_SPLIT_MAX_PARTS 1000

/* Zero-filled members are defaults, except the fractions. */
struct radio_split_options {
  /* The share of each part, above 0; together they are 1, to within 1e-6. */
  const double *fractions;
  size_t part_count;

  uint64_t seed;

  /* Make the fractions exact, to whole rows. */
  bool is_exact;

  /* Make them exact among the rows of each value of this column, a stratum;
   * those where it is missing are one.  NULL: no column. */
  const char *stratify;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[5];
};

/* Finds the part of each row, from 0, into row_count numbers in the order of
 * the rows; nbytes is the size of their memory.
 *
 * A row has a number in [0, 1) that depends on nothing but its id and the seed:
 * the first 8 bytes of SHA-256, most significant first, of the seed in decimal,
 * ":split/" and the id, by 2^64.  It is in the first part whose fraction, with
 * those before, is above that number: so a row is in the same part everywhere,
 * and adding rows moves none.
 *
 * If the fractions are exact, rows are ordered by their numbers, and a part
 * gets the next of them: its fraction of the rows, rounded up or down: up where
 * it lacks most by this stratum and those before, which are ordered by bytes
 * (of equal ones the earlier part).  So many small strata give all parts their
 * fractions, too, to less than one row with up to four parts or equal
 * fractions, else seldom to somewhat more.  Adding rows may move others then.
 *
 * Errors: RADIO_ERROR_ARGUMENT (no parts, or too many; a fraction that is not
 * above 0, or a sum that is not 1; memory too small), RADIO_ERROR_NOT_FOUND (no
 * such column), those of radio_table_read_text. */
RADIO_API enum radio_status
radio_table_split (struct radio_table *table,
                   const struct radio_split_options *options,
                   uint32_t *parts, size_t nbytes) RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_SPLIT_H */
